// SPDX-License-Identifier: MIT
#include <kallima/kallima.h>

#include "device/device.h"

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
        if (!kal_devices[i]->find(&info))
            continue;
        if (*count < capacity)
            infos[*count] = info;
        (*count)++;
    }
    return KALLIMA_OK;
}

// Does `selector` name this API? "name" or "name:0".
static bool selects(const char *selector, const char *name)
{
    const size_t length = strlen(name);
    return strncmp(selector, name, length) == 0 &&
           (selector[length] == '\0' || strcmp(selector + length, ":0") == 0);
}

static const struct kal_device_ops *find_ops(const char *selector)
{
    kallima_device_info info;
    for (int i = 0; i < kal_device_count; i++) {
        const struct kal_device_ops *ops = kal_devices[i];
        const bool wanted =
            selector[0] ? selects(selector, ops->name) : !ops->is_software;
        if (wanted && ops->find(&info))
            return ops;
    }
    return NULL;
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

kallima_status kallima_device_open(kallima_device **out, const char *selector,
                                   const kallima_device_options *options)
{
    static const kallima_device_options defaults;

    KAL_REQUIRE(NULL, out);
    *out = NULL;
    if (!options)
        options = &defaults;
    const struct kal_host host = { options->log, options->log_user, options->allocator };
    if (!host.allocator.allocate != !host.allocator.release)
        return kal_fail(&host, KALLIMA_E_ARGUMENT,
                        "device: allocator.%s = NULL; give both functions or neither",
                        host.allocator.allocate ? "release" : "allocate");

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
    const struct kal_device_ops *ops = find_ops(selector);
    if (!ops)
        return kal_fail(&host, KALLIMA_E_ABSENT, "device: no device \"%.80s\" is present",
                        selector);
    KAL_TRY(ops->open(out, &host, options));
    atomic_init(&(*out)->references, 1);
    return KALLIMA_OK;
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
    KAL_REQUIRE(NULL, buffer);
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
    KAL_TRY(check_range(buffer, source, offset, bytes));
    return bytes ? buffer->device->ops->buffer_write(buffer, offset, source, bytes)
                 : KALLIMA_OK;
}

kallima_status kallima_buffer_read(const kallima_buffer *buffer, uint64_t offset,
                                   void *target, uint64_t bytes)
{
    KAL_TRY(check_range(buffer, target, offset, bytes));
    return bytes ? buffer->device->ops->buffer_read(buffer, offset, target, bytes)
                 : KALLIMA_OK;
}
