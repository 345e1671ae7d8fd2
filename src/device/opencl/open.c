// SPDX-License-Identifier: MIT
// The device itself: a context, and a queue whose commands run in order.
#include "device/opencl/driver.h"

static bool ocl_find(int index, kallima_device_info *info)
{
    const struct ocl_api *cl = kal_ocl_api();
    cl_device_id ids[OCL_MAX_DEVICES];
    if (index < 0 || index >= kal_ocl_list(cl, ids))
        return false;
    kal_ocl_describe(cl, ids[index], index, info);
    return true;
}

static void ocl_describe(const kallima_device *base, kallima_device_info *info)
{
    const struct ocl_device *device = (const struct ocl_device *)base;
    cl_device_id ids[OCL_MAX_DEVICES];
    int index = kal_ocl_list(device->cl, ids) - 1;
    while (index >= 0 && ids[index] != device->id)
        index--;
    kal_ocl_describe(device->cl, device->id, index, info);
}

static void release(const struct ocl_device *device)
{
    if (device->queue)
        device->cl->ReleaseCommandQueue(device->queue);
    if (device->context)
        device->cl->ReleaseContext(device->context);
}

kallima_status kal_ocl_device_take(kallima_device **out, const struct kal_host *host,
                                   const struct ocl_device *parts)
{
    cl_command_queue_properties properties = 0;
    void *object;
    kallima_status status = kal_alloc_object(host, &object, sizeof(struct ocl_device));
    if (status) {
        release(parts);
        return status;
    }
    struct ocl_device *device = object;
    *device = *parts;
    device->base.ops = &kal_opencl_device_ops;
    device->base.host = *host;
    device->base.caps = kal_ocl_caps(parts->cl, parts->id);
    device->nvidia_sm = kal_ocl_nvidia_sm(parts->cl, parts->id);
    device->buffer_bytes =
        kal_ocl_number(parts->cl, parts->id, CL_DEVICE_MAX_MEM_ALLOC_SIZE);
    pthread_mutex_init(&device->lock, NULL);
    status = kal_ocl_check(
        device,
        parts->cl->GetCommandQueueInfo(parts->queue, CL_QUEUE_PROPERTIES,
                                       sizeof properties, &properties, NULL),
        "clGetCommandQueueInfo");
    if (status) {
        device->base.ops->close(&device->base);
        return status;
    }
    device->is_ordered = !(properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    device->has_profiling = properties & CL_QUEUE_PROFILING_ENABLE;
    kal_ocl_widen(device);
    *out = &device->base;
    return KALLIMA_OK;
}

static kallima_status ocl_open(kallima_device **out, int index,
                               const struct kal_host *host,
                               const kallima_device_options *options)
{
    cl_device_id ids[OCL_MAX_DEVICES];
    struct ocl_device parts = { .base.host = *host, .cl = kal_ocl_api() };
    cl_int code;

    (void)options;
    if (index < 0 || index >= kal_ocl_list(parts.cl, ids))
        return kal_fail(host, KALLIMA_E_ABSENT, "opencl: no device %d is present", index);
    parts.id = ids[index];
    parts.context = parts.cl->CreateContext(NULL, 1, &parts.id, NULL, NULL, &code);
    KAL_TRY(kal_ocl_check(&parts, code, "clCreateContext"));
    parts.queue = parts.cl->CreateCommandQueue(parts.context, parts.id,
                                               CL_QUEUE_PROFILING_ENABLE, &code);
    const kallima_status status = kal_ocl_check(&parts, code, "clCreateCommandQueue");
    if (status) {
        release(&parts);
        return status;
    }
    return kal_ocl_device_take(out, host, &parts);
}

// What is still enqueued runs to its end: the driver keeps what it needs.
static void ocl_close(kallima_device *base)
{
    struct ocl_device *device = (struct ocl_device *)base;
    const struct kal_host host = base->host;
    release(device);
    pthread_mutex_destroy(&device->lock);
    kal_free(&host, device);
}

static kallima_status ocl_finish(kallima_device *base)
{
    const struct ocl_device *device = (const struct ocl_device *)base;
    OCL_TRY(device, Finish, device->queue);
    return KALLIMA_OK;
}

kallima_status kal_ocl_order(const struct ocl_device *device)
{
    if (!device->is_ordered)
        OCL_TRY(device, EnqueueBarrierWithWaitList, device->queue, 0, NULL, NULL);
    return KALLIMA_OK;
}

kallima_status kal_ocl_begin(struct ocl_device *device)
{
    pthread_mutex_lock(&device->lock);
    const kallima_status status = kal_ocl_order(device);
    if (status)
        pthread_mutex_unlock(&device->lock);
    return status;
}

kallima_status kal_ocl_end(struct ocl_device *device, kallima_status status)
{
    if (status == KALLIMA_OK)
        status = kal_ocl_check(device, device->cl->Flush(device->queue), "clFlush");
    device->waiting_lanes = 0;
    pthread_mutex_unlock(&device->lock);
    return status;
}

const struct kal_device_ops kal_opencl_device_ops = {
    .name = "opencl",
    .find = ocl_find,
    .open = ocl_open,
    .close = ocl_close,
    .describe = ocl_describe,
    .buffer_create = kal_ocl_buffer_create,
    .buffer_destroy = kal_ocl_buffer_destroy,
    .buffer_write = kal_ocl_buffer_write,
    .buffer_read = kal_ocl_buffer_read,
    .buffer_copy = kal_ocl_buffer_copy,
    .finish = ocl_finish,
    .timer_create = kal_ocl_timer_create,
    .timer_destroy = kal_ocl_timer_destroy,
    .timer_start = kal_ocl_timer_start,
    .timer_stop = kal_ocl_timer_stop,
    .timer_read = kal_ocl_timer_read,
    .kernel_create = kal_ocl_kernel_create,
    .kernel_destroy = kal_ocl_kernel_destroy,
    .kernel_describe = kal_ocl_kernel_describe,
    .kernel_key = kal_ocl_key,
    .enqueue = kal_ocl_enqueue,
};
