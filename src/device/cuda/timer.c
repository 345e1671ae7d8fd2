// SPDX-License-Identifier: MIT
// Time between two events of the stream.
#include "device/cuda/driver.h"

enum { START, STOP, MARKS };

struct cuda_timer {
    kallima_timer base;
    CUevent events[MARKS];
    bool is_marked[MARKS];
};

static kallima_status create_events(struct cuda_timer *timer)
{
    const struct cuda_device *device = kal_cuda_device(timer->base.device);
    kallima_status status = KALLIMA_OK;

    KAL_TRY(kal_cuda_enter(device));
    for (int i = 0; i < MARKS && status == KALLIMA_OK; i++)
        status = kal_cuda_check(
            device, device->driver->EventCreate(&timer->events[i], CU_EVENT_DEFAULT),
            "create an event");
    kal_cuda_leave(device);
    return status;
}

kallima_status kal_cuda_timer_create(kallima_timer **out, kallima_device *device)
{
    void *object;
    KAL_TRY(kal_alloc_object(&device->host, &object, sizeof(struct cuda_timer)));
    struct cuda_timer *timer = object;
    timer->base.device = device;
    const kallima_status status = create_events(timer);
    if (status) {
        kal_cuda_timer_destroy(&timer->base);
        return status;
    }
    *out = &timer->base;
    return KALLIMA_OK;
}

void kal_cuda_timer_destroy(kallima_timer *base)
{
    struct cuda_timer *timer = (struct cuda_timer *)base;
    const struct cuda_device *device = kal_cuda_device(base->device);

    if (device->driver->CtxPushCurrent(device->context) == CUDA_SUCCESS) {
        for (int i = 0; i < MARKS; i++) {
            if (timer->events[i])
                device->driver->EventDestroy(timer->events[i]);
        }
        kal_cuda_leave(device);
    }
    kal_free(&device->base.host, timer);
}

static kallima_status mark(struct cuda_timer *timer, int which)
{
    const struct cuda_device *device = kal_cuda_device(timer->base.device);
    KAL_TRY(kal_cuda_enter(device));
    const kallima_status status = kal_cuda_check(
        device, device->driver->EventRecord(timer->events[which], device->stream),
        "record an event");
    kal_cuda_leave(device);
    timer->is_marked[which] = status == KALLIMA_OK;
    return status;
}

kallima_status kal_cuda_timer_start(kallima_timer *timer)
{
    ((struct cuda_timer *)timer)->is_marked[STOP] = false;
    return mark((struct cuda_timer *)timer, START);
}

kallima_status kal_cuda_timer_stop(kallima_timer *timer)
{
    return mark((struct cuda_timer *)timer, STOP);
}

static kallima_status read_events(const struct cuda_device *device,
                                  const struct cuda_timer *timer, double *seconds)
{
    float milliseconds = 0.0f;
    KAL_TRY(kal_cuda_check(device, device->driver->EventSynchronize(timer->events[STOP]),
                           "wait for an event"));
    KAL_TRY(kal_cuda_check(device,
                           device->driver->EventElapsedTime(
                               &milliseconds, timer->events[START], timer->events[STOP]),
                           "read the time between two events"));
    *seconds = 1e-3 * (double)milliseconds;
    return KALLIMA_OK;
}

kallima_status kal_cuda_timer_read(const kallima_timer *base, double *seconds)
{
    const struct cuda_timer *timer = (const struct cuda_timer *)base;
    const struct cuda_device *device = kal_cuda_device(base->device);

    if (!timer->is_marked[START] || !timer->is_marked[STOP])
        return kal_fail(&device->base.host, KALLIMA_E_DEVICE,
                        "timer: start and stop were not both called");
    KAL_TRY(kal_cuda_enter(device));
    const kallima_status status = read_events(device, timer, seconds);
    kal_cuda_leave(device);
    return status;
}
