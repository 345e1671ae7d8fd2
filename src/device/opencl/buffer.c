// SPDX-License-Identifier: MIT
// Buffers: an object of OpenCL, and where in it ours begins.
#include "device/opencl/driver.h"

// Have the driver find the memory now: some would put it off until a command uses it, and
// fail there.
static cl_int settle(struct ocl_device *device, cl_mem memory)
{
    return device->cl->EnqueueMigrateMemObjects(device->queue, 1, &memory,
                                                CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED,
                                                0, NULL, NULL);
}

static cl_int create_memory(struct ocl_device *device, uint64_t bytes, cl_mem *memory)
{
    cl_int code;
    *memory = device->cl->CreateBuffer(device->context, CL_MEM_READ_WRITE, (size_t)bytes,
                                       NULL, &code);
    if (code != CL_SUCCESS)
        return code;
    code = settle(device, *memory);
    if (code != CL_SUCCESS)
        device->cl->ReleaseMemObject(*memory);
    return code;
}

kallima_status kal_ocl_buffer_create(kallima_buffer **out, kallima_device *base,
                                     uint64_t bytes)
{
    struct ocl_device *device = (struct ocl_device *)base;
    cl_mem memory;
    void *object;

    if (bytes > device->buffer_bytes)
        return kal_fail(&base->host, KALLIMA_E_MEMORY,
                        "opencl: a buffer of %llu bytes; this device gives at most %llu "
                        "at once",
                        (unsigned long long)bytes,
                        (unsigned long long)device->buffer_bytes);
    KAL_TRY(kal_alloc_object(&base->host, &object, sizeof(kallima_buffer)));
    const cl_int code = create_memory(device, bytes, &memory);
    if (code != CL_SUCCESS) {
        kal_free(&base->host, object);
        return kal_fail(&base->host, KALLIMA_E_MEMORY,
                        "opencl: a buffer of %llu bytes: %s (%d)",
                        (unsigned long long)bytes, kal_ocl_error_name(code), code);
    }
    *out = object;
    **out = (kallima_buffer){ .device = base, .bytes = bytes, .memory.object = memory };
    return KALLIMA_OK;
}

void kal_ocl_buffer_destroy(kallima_buffer *buffer)
{
    struct ocl_device *device = (struct ocl_device *)buffer->device;
    atomic_fetch_add(&device->releases, 1);
    device->cl->ReleaseMemObject(buffer->memory.object);
    kal_free(&device->base.host, buffer);
}

// Wait outside the lock: other threads go on enqueueing.
static kallima_status end_and_wait(struct ocl_device *device, kallima_status status,
                                   cl_event event)
{
    status = kal_ocl_end(device, status);
    if (!event)
        return status;
    const cl_int code = device->cl->WaitForEvents(1, &event);
    device->cl->ReleaseEvent(event);
    return status ? status : kal_ocl_check(device, code, "clWaitForEvents");
}

kallima_status kal_ocl_buffer_write(kallima_buffer *buffer, uint64_t offset,
                                    const void *source, uint64_t bytes)
{
    struct ocl_device *device = (struct ocl_device *)buffer->device;
    cl_event event = NULL;

    KAL_TRY(kal_ocl_begin(device));
    const cl_int code = device->cl->EnqueueWriteBuffer(
        device->queue, buffer->memory.object, CL_FALSE,
        (size_t)(buffer->memory.offset + offset), (size_t)bytes, source, 0, NULL, &event);
    return end_and_wait(device, kal_ocl_check(device, code, "clEnqueueWriteBuffer"),
                        event);
}

kallima_status kal_ocl_buffer_read(const kallima_buffer *buffer, uint64_t offset,
                                   void *target, uint64_t bytes)
{
    struct ocl_device *device = (struct ocl_device *)buffer->device;
    cl_event event = NULL;

    KAL_TRY(kal_ocl_begin(device));
    const cl_int code = device->cl->EnqueueReadBuffer(
        device->queue, buffer->memory.object, CL_FALSE,
        (size_t)(buffer->memory.offset + offset), (size_t)bytes, target, 0, NULL, &event);
    return end_and_wait(device, kal_ocl_check(device, code, "clEnqueueReadBuffer"),
                        event);
}

kallima_status kal_ocl_buffer_copy(kallima_buffer *target, uint64_t target_offset,
                                   const kallima_buffer *source, uint64_t source_offset,
                                   uint64_t bytes)
{
    struct ocl_device *device = (struct ocl_device *)target->device;

    KAL_TRY(kal_ocl_begin(device));
    const cl_int code = device->cl->EnqueueCopyBuffer(
        device->queue, source->memory.object, target->memory.object,
        (size_t)(source->memory.offset + source_offset),
        (size_t)(target->memory.offset + target_offset), (size_t)bytes, 0, NULL, NULL);
    return kal_ocl_end(device, kal_ocl_check(device, code, "clEnqueueCopyBuffer"));
}
