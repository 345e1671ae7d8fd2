// SPDX-License-Identifier: MIT
// Limits of devices of kernels: lowered on demand, and held against what is to be run.
#include <stdlib.h>

#include "device/device.h"

// 0 for what is not all of it a number.
static uint64_t number_of(const char *text)
{
    char *end;
    if (!text || *text < '0' || *text > '9')
        return 0;
    const uint64_t number = strtoull(text, &end, 10);
    return *end == '\0' ? number : 0;
}

static uint64_t lower(uint64_t limit, uint64_t option, const char *variable)
{
    const uint64_t wanted = number_of(getenv(variable));
    if (option > 0 && option < limit)
        limit = option;
    return wanted > 0 && wanted < limit ? wanted : limit;
}

static int lower_int(int limit, int32_t option, const char *variable)
{
    return (int)lower((uint64_t)limit, (uint64_t)option, variable);
}

kallima_status kal_device_lower(kallima_device *device, const kallima_limits *limits)
{
    enum { LEAST_GROUP_BYTES = 1024 }; // less than any device has
    struct kal_caps *caps = &device->caps;
    const uint64_t reach = caps->buffer_bytes ? caps->buffer_bytes : UINT64_MAX;
    const uint64_t buffer_bytes =
        lower(reach, limits->buffer_bytes, "KALLIMA_BUFFER_BYTES");

    if (caps->language == KAL_LANGUAGE_NONE)
        return KALLIMA_OK;
    if (buffer_bytes < reach)
        caps->buffer_bytes = buffer_bytes;
    caps->group_bytes =
        lower(caps->group_bytes, limits->group_bytes, "KALLIMA_GROUP_BYTES");
    if (caps->near_bytes > caps->group_bytes)
        caps->near_bytes = caps->group_bytes;
    caps->group_lanes =
        lower_int(caps->group_lanes, limits->group_lanes, "KALLIMA_GROUP_LANES");
    caps->row_groups =
        lower_int(caps->row_groups, limits->row_groups, "KALLIMA_ROW_GROUPS");
    caps->cluster_groups =
        lower_int(caps->cluster_groups, limits->cluster_groups, "KALLIMA_CLUSTER_GROUPS");
    if (caps->group_bytes < LEAST_GROUP_BYTES)
        return kal_fail(
            &device->host, KALLIMA_E_ARGUMENT,
            "%s: limits.group_bytes or KALLIMA_GROUP_BYTES = %llu; must be at "
            "least %d",
            device->ops->name, (unsigned long long)caps->group_bytes, LEAST_GROUP_BYTES);
    return KALLIMA_OK;
}

kallima_status kal_kernel_check(const kallima_device *device,
                                const struct kal_kernel_text *text)
{
    const struct kal_caps *caps = &device->caps;
    const uint64_t slots =
        caps->kernel_slots ? (uint64_t)caps->kernel_slots : KAL_MAX_SLOTS;
    const struct {
        const char *what;
        uint64_t wanted, most;
    } rows[] = {
        { "groups of a cluster", (uint64_t)text->cluster,
          (uint64_t)kal_max(caps->cluster_groups, 1) },
        { "lanes of a group", (uint64_t)text->lanes, (uint64_t)caps->group_lanes },
        { "bytes of group memory", text->group_bytes, caps->group_bytes },
        { "arrays", (uint64_t)text->slots,
          slots < KAL_MAX_SLOTS ? slots : KAL_MAX_SLOTS },
    };
    for (size_t i = 0; i < KAL_COUNT(rows); i++) {
        if (rows[i].wanted > rows[i].most)
            return kal_fail(&device->host, KALLIMA_E_UNSUPPORTED,
                            "%s: kernel %s: %llu %s; here it can have %llu",
                            device->ops->name, text->name,
                            (unsigned long long)rows[i].wanted, rows[i].what,
                            (unsigned long long)rows[i].most);
    }
    return KALLIMA_OK;
}

kallima_status kal_range_check(const kallima_device *device, const char *what,
                               uint64_t size, uint64_t offset_bytes, uint64_t bytes)
{
    enum { ALIGNMENT = 16 };
    if (offset_bytes % ALIGNMENT != 0)
        return kal_fail(&device->host, KALLIMA_E_ARGUMENT,
                        "%s: offset_bytes = %llu; must be a multiple of %d",
                        device->ops->name, (unsigned long long)offset_bytes, ALIGNMENT);
    if (bytes == 0 || offset_bytes > size || bytes > size - offset_bytes)
        return kal_fail(&device->host, KALLIMA_E_ARGUMENT,
                        "%s: %llu bytes from %llu on; the %s has %llu", device->ops->name,
                        (unsigned long long)bytes, (unsigned long long)offset_bytes, what,
                        (unsigned long long)size);
    return KALLIMA_OK;
}

kallima_status kal_reach_check(const kallima_device *device, uint64_t step,
                               uint64_t offset_bytes, uint64_t bytes)
{
    const uint64_t most = device->caps.buffer_bytes;
    if (bytes <= most && offset_bytes % step > most - bytes)
        return kal_fail(&device->host, KALLIMA_E_UNSUPPORTED,
                        "%s: %llu bytes from %llu on; kernels of this device reach "
                        "%llu from a multiple of %llu on",
                        device->ops->name, (unsigned long long)bytes,
                        (unsigned long long)offset_bytes, (unsigned long long)most,
                        (unsigned long long)step);
    return KALLIMA_OK;
}

kallima_status kal_work_check(const kallima_device *device, const struct kal_work *work,
                              int count, uint64_t most_groups)
{
    for (int i = 0; i < count; i++) {
        if (work[i].kernel && work[i].groups > most_groups)
            return kal_fail(&device->host, KALLIMA_E_UNSUPPORTED,
                            "%s: a launch of %llu groups; this device launches at most "
                            "%llu",
                            device->ops->name, (unsigned long long)work[i].groups,
                            (unsigned long long)most_groups);
    }
    return KALLIMA_OK;
}

int64_t kal_work_lanes(const struct kal_work *work, int count)
{
    int64_t lanes = 0;
    for (int i = 0; i < count; i++)
        lanes += work[i].kernel ? (int64_t)work[i].groups * work[i].kernel->lanes : 0;
    return lanes;
}

uint64_t kal_most_groups(uint64_t width, uint64_t rows)
{
    return width * rows < UINT32_MAX ? width * rows : UINT32_MAX;
}

int kal_split_groups(struct kal_groups parts[2], uint64_t groups, int width)
{
    const uint32_t row = (uint32_t)width, all = (uint32_t)groups, rest = all % row;
    int count = 0;
    if (all >= row)
        parts[count++] = (struct kal_groups){ 0, row, all / row };
    if (rest > 0)
        parts[count++] = (struct kal_groups){ all - rest, rest, 1 };
    return count;
}

kallima_status kal_events_refuse(const kallima_device *device,
                                 const struct kal_sync *sync)
{
    if (!sync || (sync->wait_count == 0 && !sync->event))
        return KALLIMA_OK;
    return kal_fail(&device->host, KALLIMA_E_UNSUPPORTED,
                    "%s: events with an execution; the order of the queue has their part",
                    device->ops->name);
}
