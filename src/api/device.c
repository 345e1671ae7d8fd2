// SPDX-License-Identifier: MIT
#include <kallima/kallima.h>

#include "api/host.h"
#include "device/device.h"
#include "exec/kernel_cache.h"
#include "exec/rounding.h"
#include "wisdom/wisdom.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

const char *kallima_version(void)
{
    return KALLIMA_VERSION;
}

kallima_status kallima_device_list(kallima_device_info *infos, int32_t capacity,
                                   int32_t *count)
{
    KAL_REQUIRE(NULL, count);
    KAL_REQUIRE(NULL, capacity >= 0);
    KAL_REQUIRE(NULL, infos || capacity == 0);

    *count = 0;
    for (int i = 0; i < kal_device_count; i++) {
        kallima_device_info info;
        for (int k = 0; kal_devices[i]->find(k, &info); k++) {
            if (*count < capacity)
                infos[*count] = info;
            (*count)++;
        }
    }
    return KALLIMA_OK;
}

// A device by the table of its API and its number there.
struct found {
    const struct kal_device_ops *ops;
    int index;
};

// Does `selector` name this API? "name" is "name:0".
static bool selects(const char *selector, const char *name, int *index)
{
    const size_t length = strlen(name);
    if (strncmp(selector, name, length) != 0)
        return false;
    *index = 0;
    if (selector[length] == '\0')
        return true;
    const long number =
        selector[length] == ':' ? strtol(selector + length + 1, NULL, 10) : -1;
    *index = number <= INT_MAX ? (int)number : INT_MAX;
    return number >= 0;
}

static struct found find_named(const char *selector)
{
    kallima_device_info info;
    int index;
    for (int i = 0; i < kal_device_count; i++) {
        if (selects(selector, kal_devices[i]->name, &index) &&
            kal_devices[i]->find(index, &info))
            return (struct found){ kal_devices[i], index };
    }
    return (struct found){ NULL, 0 };
}

// The first that is not an imitation and has a compiler.
static struct found find_best(void)
{
    kallima_device_info info;
    for (int i = 0; i < kal_device_count; i++) {
        const struct kal_device_ops *ops = kal_devices[i];
        if (ops->is_complete && !ops->is_complete())
            continue;
        for (int k = 0; ops->find(k, &info); k++) {
            if (!info.is_software)
                return (struct found){ ops, k };
        }
    }
    return (struct found){ NULL, 0 };
}

// Letters and digits, then perhaps a colon and a number.
static bool is_well_formed(const char *selector)
{
    const size_t name = strspn(selector, "abcdefghijklmnopqrstuvwxyz0123456789");
    const char *rest = selector + name;
    if (selector[0] == '\0')
        return true;
    if (name == 0)
        return false;
    if (rest[0] == '\0')
        return true;
    const size_t digits = strspn(rest + 1, "0123456789");
    return rest[0] == ':' && digits > 0 && rest[1 + digits] == '\0';
}

kallima_status kal_host_init(struct kal_host *host, const kallima_device_options *options)
{
    *host = (struct kal_host){ options->log, options->log_user, options->allocator };
    if (!host->allocator.allocate != !host->allocator.release)
        return kal_fail(host, KALLIMA_E_ARGUMENT,
                        "device: allocator.%s = NULL; give both functions or neither",
                        host->allocator.allocate ? "release" : "allocate");
    KAL_REQUIRE(host, options->limits.group_lanes >= 0);
    KAL_REQUIRE(host, options->limits.row_groups >= 0);
    KAL_REQUIRE(host, options->limits.cluster_groups >= 0);
    return KALLIMA_OK;
}

// What is wrong with a file is logged, and keeps no device from opening. What a device that
// computes nothing teaches is nobody's, unless a file is named for it.
static kallima_status read_wisdom(kallima_device *device,
                                  const kallima_device_options *options)
{
    KAL_TRY(kal_wisdom_create(&device->wisdom, &device->host));
    if (device->ops->is_pretended && !kal_wisdom_is_named(options->wisdom))
        return KALLIMA_OK;
    KAL_TRY(kal_wisdom_set_places(device->wisdom, options->wisdom,
                                  options->wisdom_read_only != 0, NULL));
    const kallima_status status = kal_wisdom_load(device->wisdom, NULL, NULL, NULL);
    return status == KALLIMA_E_WISDOM ? KALLIMA_OK : status;
}

kallima_status kal_device_hand_over(kallima_device **device,
                                    const kallima_device_options *options)
{
    static const kallima_device_options defaults;
    kallima_device *opened = *device;

    atomic_init(&opened->references, 1);
    if (!options)
        options = &defaults;
    kallima_status status = kal_device_lower(opened, &options->limits);
    if (!status)
        status = read_wisdom(opened, options);
    if (!status && opened->ops->kernel_create)
        status = kal_kernel_cache_folder(&opened->host, options->kernel_cache,
                                         &opened->kernel_cache);
    if (status)
        kallima_device_close(device);
    return status;
}

kallima_status kallima_device_open(kallima_device **out, const char *selector,
                                   const kallima_device_options *options)
{
    static const kallima_device_options defaults;
    struct kal_host host;

    KAL_REQUIRE(NULL, out);
    *out = NULL;
    if (!options)
        options = &defaults;
    KAL_TRY(kal_host_init(&host, options));
    if (!selector || selector[0] == '\0')
        selector = getenv("KALLIMA_DEVICE");
    if (!selector)
        selector = "";
    if (!is_well_formed(selector))
        return kal_fail(
            &host, KALLIMA_E_ARGUMENT,
            "device: selector = \"%.80s\"; must be a name such as cpu, with a "
            "number such as cpu:0 if need be",
            selector);
    const struct found found = selector[0] ? find_named(selector) : find_best();
    if (!found.ops)
        return kal_fail(&host, KALLIMA_E_ABSENT, "device: no device \"%.80s\" is present",
                        selector);
    KAL_TRY(found.ops->open(out, found.index, &host, options));
    return kal_device_hand_over(out, options);
}

void kallima_device_close(kallima_device **device)
{
    if (*device)
        kal_device_release(*device);
    *device = NULL;
}

kallima_status kallima_device_get_info(const kallima_device *device,
                                       kallima_device_info *info)
{
    KAL_REQUIRE(NULL, device);
    KAL_REQUIRE(&device->host, info);
    device->ops->describe(device, info);
    return KALLIMA_OK;
}

kallima_status kallima_device_find_rounding(kallima_device *device, int32_t precision,
                                            int32_t *fma_roundings)
{
    int roundings = 1;

    KAL_REQUIRE(NULL, device);
    KAL_REQUIRE(&device->host, fma_roundings);
    KAL_REQUIRE(&device->host, precision >= 0 && precision < KALLIMA_PRECISION_COUNT);
    if (precision == KALLIMA_F64 && !device->caps.has_f64)
        return kal_fail(&device->host, KALLIMA_E_UNSUPPORTED,
                        "device: precision = f64; this device computes in f32 only");
    if (device->ops->kernel_create && !device->ops->is_pretended)
        KAL_TRY(kal_rounding_find(device, precision == KALLIMA_F64, &roundings));
    *fma_roundings = roundings;
    return KALLIMA_OK;
}

kallima_status kallima_device_finish(kallima_device *device)
{
    KAL_REQUIRE(NULL, device);
    return device->ops->finish(device);
}

kallima_status kallima_buffer_create(kallima_buffer **out, kallima_device *device,
                                     uint64_t bytes)
{
    KAL_REQUIRE(device ? &device->host : NULL, out);
    *out = NULL;
    KAL_REQUIRE(NULL, device);
    KAL_REQUIRE(&device->host, bytes > 0);
    KAL_TRY(device->ops->buffer_create(out, device, bytes));
    kal_device_retain(device);
    return KALLIMA_OK;
}

void kallima_buffer_destroy(kallima_buffer **buffer)
{
    if (*buffer) {
        kallima_device *device = (*buffer)->device;
        device->ops->buffer_destroy(*buffer);
        kal_device_release(device);
    }
    *buffer = NULL;
}

static kallima_status check_range(const kallima_buffer *buffer, const void *host,
                                  uint64_t offset, uint64_t bytes)
{
    const struct kal_host *log = &buffer->device->host;
    if (!host && bytes > 0)
        return kal_fail(log, KALLIMA_E_ARGUMENT, "buffer: host pointer = NULL");
    if (offset > buffer->bytes || bytes > buffer->bytes - offset)
        return kal_fail(log, KALLIMA_E_ARGUMENT,
                        "buffer: bytes %llu to %llu; the buffer holds %llu",
                        (unsigned long long)offset, (unsigned long long)(offset + bytes),
                        (unsigned long long)buffer->bytes);
    return KALLIMA_OK;
}

kallima_status kallima_buffer_write(kallima_buffer *buffer, uint64_t offset,
                                    const void *source, uint64_t bytes)
{
    KAL_REQUIRE(NULL, buffer);
    KAL_TRY(check_range(buffer, source, offset, bytes));
    return bytes ? buffer->device->ops->buffer_write(buffer, offset, source, bytes)
                 : KALLIMA_OK;
}

kallima_status kallima_buffer_read(const kallima_buffer *buffer, uint64_t offset,
                                   void *target, uint64_t bytes)
{
    KAL_REQUIRE(NULL, buffer);
    KAL_TRY(check_range(buffer, target, offset, bytes));
    return bytes ? buffer->device->ops->buffer_read(buffer, offset, target, bytes)
                 : KALLIMA_OK;
}

kallima_status kallima_buffer_copy(kallima_buffer *target, uint64_t target_offset,
                                   const kallima_buffer *source, uint64_t source_offset,
                                   uint64_t bytes)
{
    KAL_REQUIRE(NULL, target);
    const struct kal_host *host = &target->device->host;
    KAL_REQUIRE(host, source);
    KAL_TRY(check_range(target, host, target_offset, bytes));
    KAL_TRY(check_range(source, host, source_offset, bytes));
    if (source->device != target->device)
        return kal_fail(host, KALLIMA_E_ARGUMENT,
                        "buffer: a copy between two devices; read it and write it");
    if (source == target && source_offset < target_offset + bytes &&
        target_offset < source_offset + bytes)
        return kal_fail(host, KALLIMA_E_ARGUMENT,
                        "buffer: bytes %llu and %llu on, %llu of each; a copy's ranges "
                        "may not overlap",
                        (unsigned long long)source_offset,
                        (unsigned long long)target_offset, (unsigned long long)bytes);
    return bytes ? target->device->ops->buffer_copy(target, target_offset, source,
                                                    source_offset, bytes)
                 : KALLIMA_OK;
}

kallima_status kallima_timer_create(kallima_timer **out, kallima_device *device)
{
    KAL_REQUIRE(device ? &device->host : NULL, out);
    *out = NULL;
    KAL_REQUIRE(NULL, device);
    KAL_TRY(device->ops->timer_create(out, device));
    kal_device_retain(device);
    return KALLIMA_OK;
}

void kallima_timer_destroy(kallima_timer **timer)
{
    if (*timer) {
        kallima_device *device = (*timer)->device;
        device->ops->timer_destroy(*timer);
        kal_device_release(device);
    }
    *timer = NULL;
}

kallima_status kallima_timer_start(kallima_timer *timer)
{
    KAL_REQUIRE(NULL, timer);
    return timer->device->ops->timer_start(timer);
}

kallima_status kallima_timer_stop(kallima_timer *timer)
{
    KAL_REQUIRE(NULL, timer);
    return timer->device->ops->timer_stop(timer);
}

kallima_status kallima_timer_read(const kallima_timer *timer, double *seconds)
{
    KAL_REQUIRE(NULL, timer);
    KAL_REQUIRE(&timer->device->host, seconds);
    return timer->device->ops->timer_read(timer, seconds);
}
