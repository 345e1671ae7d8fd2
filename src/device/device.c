// SPDX-License-Identifier: MIT
#include "device/device.h"

#include <kallima/wisdom.h>
#include <string.h>

#include "base/clock.h"

void kal_device_retain(kallima_device *device)
{
    atomic_fetch_add(&device->references, 1);
}

void kal_device_release(kallima_device *device)
{
    if (atomic_fetch_sub(&device->references, 1) != 1)
        return;
    const struct kal_host host = device->host;
    char *kernel_cache = device->kernel_cache;
    kallima_wisdom *wisdom = device->wisdom;
    device->ops->close(device);
    kal_free(&host, kernel_cache);
    kallima_wisdom_destroy(&wisdom);
}

void kal_kernel_describe_nothing(const struct kal_device_kernel *kernel,
                                 struct kal_kernel_facts *facts)
{
    (void)kernel;
    *facts = (struct kal_kernel_facts){ -1, -1, -1, -1 };
}

kallima_status kal_host_buffer_create(kallima_buffer **out, kallima_device *device,
                                      uint64_t bytes)
{
    void *object;
    KAL_TRY(kal_alloc_object(&device->host, &object, sizeof(kallima_buffer)));
    kallima_buffer *buffer = object;
    const kallima_status status =
        kal_alloc(&device->host, &buffer->memory.object, bytes, 1);
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
    kal_free(&host, buffer->memory.object);
    kal_free(&host, buffer);
}

kallima_status kal_host_buffer_write(kallima_buffer *buffer, uint64_t offset,
                                     const void *source, uint64_t bytes)
{
    memcpy((char *)kal_memory_address(buffer->memory) + offset, source, (size_t)bytes);
    return KALLIMA_OK;
}

kallima_status kal_host_buffer_read(const kallima_buffer *buffer, uint64_t offset,
                                    void *target, uint64_t bytes)
{
    memcpy(target, (const char *)kal_memory_address(buffer->memory) + offset,
           (size_t)bytes);
    return KALLIMA_OK;
}

kallima_status kal_host_buffer_copy(kallima_buffer *target, uint64_t target_offset,
                                    const kallima_buffer *source, uint64_t source_offset,
                                    uint64_t bytes)
{
    memcpy((char *)kal_memory_address(target->memory) + target_offset,
           (const char *)kal_memory_address(source->memory) + source_offset,
           (size_t)bytes);
    return KALLIMA_OK;
}

struct host_timer {
    kallima_timer base;
    double start, stop; // seconds; 0: not marked
};

kallima_status kal_host_timer_create(kallima_timer **out, kallima_device *device)
{
    void *object;
    KAL_TRY(kal_alloc_object(&device->host, &object, sizeof(struct host_timer)));
    *out = object;
    (*out)->device = device;
    return KALLIMA_OK;
}

void kal_host_timer_destroy(kallima_timer *timer)
{
    kal_free(&timer->device->host, timer);
}

kallima_status kal_host_timer_start(kallima_timer *timer)
{
    ((struct host_timer *)timer)->start = kal_clock_now();
    return KALLIMA_OK;
}

kallima_status kal_host_timer_stop(kallima_timer *timer)
{
    ((struct host_timer *)timer)->stop = kal_clock_now();
    return KALLIMA_OK;
}

kallima_status kal_host_timer_read(const kallima_timer *timer, double *seconds)
{
    const struct host_timer *t = (const struct host_timer *)timer;
    if (t->start == 0.0 || t->stop < t->start)
        return kal_fail(&timer->device->host, KALLIMA_E_DEVICE,
                        "timer: start and stop were not both called");
    *seconds = t->stop - t->start;
    return KALLIMA_OK;
}
