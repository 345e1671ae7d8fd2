// SPDX-License-Identifier: MIT
#include "device/device.h"

#include <string.h>

void kal_device_retain(kallima_device *device)
{
    atomic_fetch_add(&device->references, 1);
}

void kal_device_release(kallima_device *device)
{
    if (atomic_fetch_sub(&device->references, 1) == 1)
        device->ops->close(device);
}

kallima_status kal_host_buffer_create(kallima_buffer **out, kallima_device *device,
                                      uint64_t bytes)
{
    void *object;
    KAL_TRY(kal_alloc_object(&device->host, &object, sizeof(kallima_buffer)));
    kallima_buffer *buffer = object;
    const kallima_status status = kal_alloc(&device->host, &buffer->address, bytes, 1);
    if (status) {
        kal_free(&device->host, buffer);
        return status;
    }
    buffer->device = device;
    buffer->bytes = bytes;
    *out = buffer;
    return KALLIMA_OK;
}

void kal_host_buffer_destroy(kallima_buffer *buffer)
{
    const struct kal_host host = buffer->device->host;
    kal_free(&host, buffer->address);
    kal_free(&host, buffer);
}

kallima_status kal_host_buffer_write(kallima_buffer *buffer, uint64_t offset,
                                     const void *source, uint64_t bytes)
{
    memcpy((char *)buffer->address + offset, source, (size_t)bytes);
    return KALLIMA_OK;
}

kallima_status kal_host_buffer_read(const kallima_buffer *buffer, uint64_t offset,
                                    void *target, uint64_t bytes)
{
    memcpy(target, (const char *)buffer->address + offset, (size_t)bytes);
    return KALLIMA_OK;
}
