// SPDX-License-Identifier: MIT
// The caller's own objects: a queue as a device, a memory object as a buffer.
#include "device/opencl/driver.h"

static kallima_status find_parts(struct ocl_device *parts)
{
    cl_context context = NULL;
    OCL_TRY(parts, GetCommandQueueInfo, parts->queue, CL_QUEUE_CONTEXT, sizeof context,
            &context, NULL);
    OCL_TRY(parts, GetCommandQueueInfo, parts->queue, CL_QUEUE_DEVICE, sizeof parts->id,
            &parts->id, NULL);
    if (context != parts->context)
        return kal_fail(&parts->base.host, KALLIMA_E_ARGUMENT,
                        "opencl: the queue belongs to another context");
    if (!kal_ocl_is_usable(parts->cl, parts->id))
        return kal_fail(&parts->base.host, KALLIMA_E_UNSUPPORTED,
                        "opencl: the queue's device is of a version below 1.2, or has "
                        "no compiler");
    return KALLIMA_OK;
}

kallima_status kal_opencl_adopt(kallima_device **out, cl_context context,
                                cl_command_queue queue, const struct kal_host *host)
{
    struct ocl_device parts = {
        .base.host = *host, .cl = kal_ocl_api(), .context = context, .queue = queue
    };
    if (!parts.cl)
        return kal_fail(host, KALLIMA_E_ABSENT,
                        "opencl: libOpenCL.so.1 cannot be loaded, or is below 1.2");
    KAL_TRY(find_parts(&parts));
    OCL_TRY(&parts, RetainContext, context);
    const kallima_status status = kal_ocl_check(
        &parts, parts.cl->RetainCommandQueue(queue), "clRetainCommandQueue");
    if (status) {
        parts.cl->ReleaseContext(context);
        return status;
    }
    return kal_ocl_device_take(out, host, &parts);
}

static kallima_status check_memory(const struct ocl_device *device, cl_mem memory,
                                   uint64_t offset_bytes, uint64_t bytes)
{
    cl_mem_object_type type = 0;
    cl_context context = NULL;
    size_t size = 0;
    OCL_TRY(device, GetMemObjectInfo, memory, CL_MEM_TYPE, sizeof type, &type, NULL);
    OCL_TRY(device, GetMemObjectInfo, memory, CL_MEM_CONTEXT, sizeof context, &context,
            NULL);
    OCL_TRY(device, GetMemObjectInfo, memory, CL_MEM_SIZE, sizeof size, &size, NULL);
    if (type != CL_MEM_OBJECT_BUFFER)
        return kal_fail(&device->base.host, KALLIMA_E_ARGUMENT,
                        "opencl: the memory object is an image, not a buffer");
    if (context != device->context)
        return kal_fail(&device->base.host, KALLIMA_E_ARGUMENT,
                        "opencl: the memory object belongs to another context");
    return kal_range_check(&device->base, "memory object", size, offset_bytes, bytes);
}

kallima_status kal_opencl_wrap(kallima_buffer **out, kallima_device *base, cl_mem memory,
                               uint64_t offset_bytes, uint64_t bytes)
{
    const struct ocl_device *device = (const struct ocl_device *)base;
    void *object;

    KAL_TRY(check_memory(device, memory, offset_bytes, bytes));
    KAL_TRY(kal_alloc_object(&base->host, &object, sizeof(kallima_buffer)));
    const kallima_status status =
        kal_ocl_check(device, device->cl->RetainMemObject(memory), "clRetainMemObject");
    if (status) {
        kal_free(&base->host, object);
        return status;
    }
    *out = object;
    **out = (kallima_buffer){ .device = base,
                              .bytes = bytes,
                              .memory = { memory, offset_bytes } };
    return KALLIMA_OK;
}
