// SPDX-License-Identifier: MIT
// A timer is two queries of the device's clock in the queue.
#include "device/opengl/driver.h"

struct gl_timer {
    struct kallima_timer base;
    unsigned query[2]; // start and stop
    bool is_marked[2];
};

kallima_status kal_gl_timer_create(kallima_timer **out, kallima_device *base)
{
    struct gl_device *device = (struct gl_device *)base;
    void *object;
    if (!device->has_clock)
        return kal_fail(&base->host, KALLIMA_E_UNSUPPORTED,
                        "opengl: the device keeps no times");
    KAL_TRY(kal_alloc_object(&base->host, &object, sizeof(struct gl_timer)));
    struct gl_timer *timer = object;
    timer->base.device = base;
    kallima_status status = kal_gl_begin(device);
    if (!status) {
        device->gl->GenQueries(2, timer->query);
        status = kal_gl_check(device, "glGenQueries");
        if (status)
            device->gl->DeleteQueries(2, timer->query);
        status = kal_gl_end(device, status);
    }
    if (status) {
        kal_free(&base->host, timer);
        return status;
    }
    *out = &timer->base;
    return KALLIMA_OK;
}

void kal_gl_timer_destroy(kallima_timer *base)
{
    struct gl_timer *timer = (struct gl_timer *)base;
    struct gl_device *device = (struct gl_device *)base->device;
    if (kal_gl_begin_destroying(device) == KALLIMA_OK) {
        device->gl->DeleteQueries(2, timer->query);
        kal_gl_end(device, KALLIMA_OK);
    }
    kal_free(&device->base.host, timer);
}

void kal_gl_mark(const struct gl_device *device, unsigned query)
{
    if (device->display.is_es)
        device->gl->QueryCounterEXT(query, GL_TIMESTAMP);
    else
        device->gl->QueryCounter(query, GL_TIMESTAMP);
}

static kallima_status mark_here(struct gl_device *device, unsigned query)
{
    KAL_TRY(kal_gl_begin(device));
    kal_gl_mark(device, query);
    return kal_gl_end(device, kal_gl_check(device, "glQueryCounter"));
}

static kallima_status set_mark(struct gl_timer *timer, int which)
{
    struct gl_device *device = (struct gl_device *)timer->base.device;
    const kallima_status status =
        (device->worker ? kal_gl_post_mark : mark_here)(device, timer->query[which]);
    timer->is_marked[which] = status == KALLIMA_OK;
    return status;
}

kallima_status kal_gl_timer_start(kallima_timer *base)
{
    struct gl_timer *timer = (struct gl_timer *)base;
    timer->is_marked[1] = false;
    return set_mark(timer, 0);
}

kallima_status kal_gl_timer_stop(kallima_timer *base)
{
    return set_mark((struct gl_timer *)base, 1);
}

// OpenGL ES tells, once, of times that do not follow each other: the clock was set, say.
static kallima_status read_times(const struct gl_timer *timer, uint64_t time[2])
{
    const struct gl_device *device = (const struct gl_device *)timer->base.device;
    const bool is_es = device->display.is_es;
    int is_disjoint = 0;

    for (int i = 0; i < 2; i++) {
        if (is_es)
            device->gl->GetQueryObjectui64vEXT(timer->query[i], GL_QUERY_RESULT,
                                               &time[i]);
        else
            device->gl->GetQueryObjectui64v(timer->query[i], GL_QUERY_RESULT, &time[i]);
    }
    if (is_es)
        device->gl->GetIntegerv(GL_GPU_DISJOINT_EXT, &is_disjoint);
    if (is_disjoint)
        return kal_gl_fail(device, "glGetQueryObjectui64vEXT",
                           "the device's clock was disturbed");
    return kal_gl_check(device, "glGetQueryObjectui64v");
}

kallima_status kal_gl_timer_read(const kallima_timer *base, double *seconds)
{
    const struct gl_timer *timer = (const struct gl_timer *)base;
    struct gl_device *device = (struct gl_device *)base->device;
    uint64_t time[2] = { 0, 0 };

    if (!timer->is_marked[0] || !timer->is_marked[1])
        return kal_fail(&base->device->host, KALLIMA_E_DEVICE,
                        "timer: start and stop were not both called");
    KAL_TRY(kal_gl_begin(device));
    KAL_TRY(kal_gl_end(device, read_times(timer, time)));
    *seconds = time[1] > time[0] ? 1e-9 * (double)(time[1] - time[0]) : 0.0;
    return KALLIMA_OK;
}
