// SPDX-License-Identifier: MIT
// Memory of the GPU. Copies with the host go over the device's stream, then wait for it.
#include "device/cuda/driver.h"

static const struct cuda_device *owner(const kallima_buffer *buffer)
{
    return kal_cuda_device(buffer->device);
}

static CUdeviceptr address(const kallima_buffer *buffer, uint64_t offset)
{
    return kal_cuda_address(buffer->memory) + offset;
}

static kallima_status create(struct cuda_buffer **out, kallima_device *device,
                             uint64_t bytes)
{
    void *object;
    KAL_TRY(kal_alloc_object(&device->host, &object, sizeof(struct cuda_buffer)));
    *out = object;
    (*out)->base.device = device;
    (*out)->base.bytes = bytes;
    return KALLIMA_OK;
}

static kallima_status allocate(struct cuda_buffer *buffer)
{
    const struct cuda_device *device = owner(&buffer->base);
    CUdeviceptr place = 0;

    KAL_TRY(kal_cuda_enter(device));
    const kallima_status status =
        kal_cuda_check(device, device->driver->MemAlloc(&place, buffer->base.bytes),
                       "allocate %llu bytes", (unsigned long long)buffer->base.bytes);
    kal_cuda_leave(device);
    buffer->base.memory.object = (void *)(uintptr_t)place;
    return status;
}

kallima_status kal_cuda_buffer_create(kallima_buffer **out, kallima_device *device,
                                      uint64_t bytes)
{
    struct cuda_buffer *buffer;
    KAL_TRY(create(&buffer, device, bytes));
    const kallima_status status = allocate(buffer);
    if (status) {
        kal_free(&device->host, buffer);
        return status;
    }
    *out = &buffer->base;
    return KALLIMA_OK;
}

kallima_status kal_cuda_wrap(kallima_buffer **out, kallima_device *device, uint64_t place,
                             uint64_t bytes)
{
    struct cuda_buffer *buffer;
    KAL_TRY(create(&buffer, device, bytes));
    buffer->base.memory.object = (void *)(uintptr_t)place;
    buffer->is_borrowed = true;
    *out = &buffer->base;
    return KALLIMA_OK;
}

void kal_cuda_buffer_destroy(kallima_buffer *base)
{
    struct cuda_buffer *buffer = (struct cuda_buffer *)base;
    const struct cuda_device *device = owner(base);

    if (!buffer->is_borrowed &&
        device->driver->CtxPushCurrent(device->context) == CUDA_SUCCESS) {
        device->driver->MemFree(address(base, 0));
        kal_cuda_leave(device);
    }
    kal_free(&device->base.host, buffer);
}

// Wait for a copy that was enqueued, so that the host's memory is its own again.
static kallima_status settle(const struct cuda_device *device, CUresult enqueued,
                             const char *verb, uint64_t bytes)
{
    KAL_TRY(kal_cuda_check(device, enqueued, "%s %llu bytes", verb,
                           (unsigned long long)bytes));
    return kal_cuda_check(device, device->driver->StreamSynchronize(device->stream),
                          "wait to %s %llu bytes", verb, (unsigned long long)bytes);
}

kallima_status kal_cuda_buffer_write(kallima_buffer *buffer, uint64_t offset,
                                     const void *source, uint64_t bytes)
{
    const struct cuda_device *device = owner(buffer);
    KAL_TRY(kal_cuda_enter(device));
    const CUresult enqueued = device->driver->MemcpyHtoDAsync(
        address(buffer, offset), source, bytes, device->stream);
    const kallima_status status = settle(device, enqueued, "write", bytes);
    kal_cuda_leave(device);
    return status;
}

kallima_status kal_cuda_buffer_read(const kallima_buffer *buffer, uint64_t offset,
                                    void *target, uint64_t bytes)
{
    const struct cuda_device *device = owner(buffer);
    KAL_TRY(kal_cuda_enter(device));
    const CUresult enqueued = device->driver->MemcpyDtoHAsync(
        target, address(buffer, offset), bytes, device->stream);
    const kallima_status status = settle(device, enqueued, "read", bytes);
    kal_cuda_leave(device);
    return status;
}

kallima_status kal_cuda_buffer_copy(kallima_buffer *target, uint64_t target_offset,
                                    const kallima_buffer *source, uint64_t source_offset,
                                    uint64_t bytes)
{
    const struct cuda_device *device = owner(target);
    KAL_TRY(kal_cuda_enter(device));
    const kallima_status status =
        kal_cuda_check(device,
                       device->driver->MemcpyDtoDAsync(address(target, target_offset),
                                                       address(source, source_offset),
                                                       bytes, device->stream),
                       "copy %llu bytes", (unsigned long long)bytes);
    kal_cuda_leave(device);
    return status;
}
