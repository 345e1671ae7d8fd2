// SPDX-License-Identifier: MIT
// A timer is two markers in the queue; the device's clock says when it passed them.
#include "device/opencl/driver.h"

struct ocl_timer {
    struct kallima_timer base;
    cl_event mark[2]; // start and stop; NULL: not called yet
};

kallima_status kal_ocl_timer_create(kallima_timer **out, kallima_device *base)
{
    const struct ocl_device *device = (const struct ocl_device *)base;
    void *object;
    if (!device->has_profiling)
        return kal_fail(&base->host, KALLIMA_E_UNSUPPORTED,
                        "opencl: the adopted queue keeps no times; a timer needs one "
                        "made with CL_QUEUE_PROFILING_ENABLE");
    KAL_TRY(kal_alloc_object(&base->host, &object, sizeof(struct ocl_timer)));
    *out = object;
    (*out)->device = base;
    return KALLIMA_OK;
}

static void forget(struct ocl_timer *timer, int which)
{
    const struct ocl_device *device = (const struct ocl_device *)timer->base.device;
    if (timer->mark[which])
        device->cl->ReleaseEvent(timer->mark[which]);
    timer->mark[which] = NULL;
}

void kal_ocl_timer_destroy(kallima_timer *base)
{
    struct ocl_timer *timer = (struct ocl_timer *)base;
    forget(timer, 0);
    forget(timer, 1);
    kal_free(&base->device->host, timer);
}

static kallima_status set_mark(struct ocl_timer *timer, int which)
{
    struct ocl_device *device = (struct ocl_device *)timer->base.device;
    forget(timer, which);
    KAL_TRY(kal_ocl_begin(device));
    const cl_int code = device->cl->EnqueueMarkerWithWaitList(device->queue, 0, NULL,
                                                              &timer->mark[which]);
    return kal_ocl_end(device,
                       kal_ocl_check(device, code, "clEnqueueMarkerWithWaitList"));
}

kallima_status kal_ocl_timer_start(kallima_timer *base)
{
    struct ocl_timer *timer = (struct ocl_timer *)base;
    forget(timer, 1);
    return set_mark(timer, 0);
}

kallima_status kal_ocl_timer_stop(kallima_timer *base)
{
    return set_mark((struct ocl_timer *)base, 1);
}

static kallima_status end_of(const struct ocl_device *device, cl_event event,
                             cl_ulong *nanoseconds)
{
    OCL_TRY(device, GetEventProfilingInfo, event, CL_PROFILING_COMMAND_END,
            sizeof *nanoseconds, nanoseconds, NULL);
    return KALLIMA_OK;
}

kallima_status kal_ocl_timer_read(const kallima_timer *base, double *seconds)
{
    const struct ocl_timer *timer = (const struct ocl_timer *)base;
    const struct ocl_device *device = (const struct ocl_device *)base->device;
    cl_ulong start, stop;

    if (!timer->mark[0] || !timer->mark[1])
        return kal_fail(&base->device->host, KALLIMA_E_DEVICE,
                        "timer: start and stop were not both called");
    OCL_TRY(device, WaitForEvents, 2, timer->mark);
    KAL_TRY(end_of(device, timer->mark[0], &start));
    KAL_TRY(end_of(device, timer->mark[1], &stop));
    *seconds = stop > start ? 1e-9 * (double)(stop - start) : 0.0;
    return KALLIMA_OK;
}
