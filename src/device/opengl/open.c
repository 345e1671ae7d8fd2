// SPDX-License-Identifier: MIT
// The device itself: a context, which is bound to one thread, while plans are used from many. Each
// call has it in turn and gives it back; what is only enqueued is left to the worker.
#include "device/opengl/driver.h"

// Imitations are told without being started.
static bool gl_is_complete(void)
{
    struct gl_display displays[GL_MAX_DEVICES];
    return kal_gl_displays(kal_gl_api(), displays) > 0 && !displays[0].is_software;
}

static bool gl_find(int index, kallima_device_info *info)
{
    struct gl_display display;
    return kal_gl_find(index, info, &display);
}

static void gl_describe(const kallima_device *base, kallima_device_info *info)
{
    *info = ((const struct gl_device *)base)->info;
}

kallima_status kal_gl_make_current(const struct gl_device *device,
                                   struct gl_caller *caller)
{
    if (kal_gl_enter(device->gl, &device->display, device->context, caller))
        return KALLIMA_OK;
    const unsigned code = (unsigned)device->gl->egl.GetError();
    kal_gl_leave(device->gl, &device->display, caller);
    return kal_fail(&device->base.host, KALLIMA_E_DEVICE,
                    "opengl: eglMakeCurrent: error 0x%04x", code);
}

static kallima_status find_current(const struct gl_device *device)
{
    if (device->gl->egl.GetCurrentContext() != device->context)
        return kal_fail(&device->base.host, KALLIMA_E_DEVICE,
                        "opengl: the adopted context is not current on this thread");
    (void)kal_gl_check(device, "an error of before this call");
    return KALLIMA_OK;
}

void kal_gl_turn_take(struct gl_device *device)
{
    const uint64_t turn = device->turns_asked++;
    while (device->turns_passed != turn)
        pthread_cond_wait(&device->turn_passed, &device->lock);
}

void kal_gl_turn_pass(struct gl_device *device)
{
    device->turns_passed++;
    if (device->turns_passed != device->turns_asked)
        pthread_cond_broadcast(&device->turn_passed);
}

// From here on nothing is given to the worker, which has nothing left to do.
static void take_turn(struct gl_device *device)
{
    kal_gl_turn_take(device);
    if (device->worker)
        kal_gl_worker_pause(device);
}

static void pass_turn(struct gl_device *device)
{
    pthread_mutex_lock(&device->lock);
    kal_gl_turn_pass(device);
    pthread_mutex_unlock(&device->lock);
}

static kallima_status use_context(struct gl_device *device)
{
    const kallima_status status = device->is_adopted
                                      ? find_current(device)
                                      : kal_gl_make_current(device, &device->caller);
    if (status)
        pass_turn(device);
    return status;
}

kallima_status kal_gl_begin(struct gl_device *device)
{
    pthread_mutex_lock(&device->lock);
    take_turn(device);
    const struct gl_failure earlier = kal_gl_worker_failure(device);
    if (earlier.status)
        kal_gl_turn_pass(device);
    pthread_mutex_unlock(&device->lock);
    return earlier.status ? kal_gl_tell(device, &earlier) : use_context(device);
}

kallima_status kal_gl_begin_destroying(struct gl_device *device)
{
    pthread_mutex_lock(&device->lock);
    take_turn(device);
    pthread_mutex_unlock(&device->lock);
    return use_context(device);
}

kallima_status kal_gl_end(struct gl_device *device, kallima_status status)
{
    if (!device->is_adopted)
        kal_gl_leave(device->gl, &device->display, &device->caller);
    pass_turn(device);
    return status;
}

// What is still enqueued runs to its end: the driver keeps what it needs.
static void release(const struct gl_device *device)
{
    kal_vk_exporter_close(device->exporter);
    if (!device->is_adopted)
        device->gl->egl.DestroyContext(device->display.handle, device->context);
}

static void gl_close(kallima_device *base)
{
    struct gl_device *device = (struct gl_device *)base;
    const struct kal_host host = base->host;
    kal_gl_worker_stop(device);
    release(device);
    pthread_cond_destroy(&device->turn_passed);
    pthread_mutex_destroy(&device->lock);
    kal_free(&host, device);
}

static kallima_status read_limits(struct gl_device *device)
{
    KAL_TRY(kal_gl_begin(device));
    kal_gl_fill_caps(device);
    return kal_gl_end(device, kal_gl_check(device, "glGet"));
}

kallima_status kal_gl_device_take(kallima_device **out, const struct gl_device *parts)
{
    void *object;
    kallima_status status =
        kal_alloc_object(&parts->base.host, &object, sizeof(struct gl_device));
    if (status) {
        release(parts);
        return status;
    }
    struct gl_device *device = object;
    *device = *parts;
    device->base.ops = &kal_opengl_device_ops;
    pthread_mutex_init(&device->lock, NULL);
    pthread_cond_init(&device->turn_passed, NULL);
    status = read_limits(device);
    if (!status && !device->is_adopted)
        status = kal_gl_worker_start(device);
    if (status) {
        gl_close(&device->base);
        return status;
    }
    *out = &device->base;
    return KALLIMA_OK;
}

static kallima_status gl_open(kallima_device **out, int index,
                              const struct kal_host *host,
                              const kallima_device_options *options)
{
    struct gl_device parts = { .base.host = *host, .gl = kal_gl_api() };

    (void)options;
    if (!kal_gl_find(index, &parts.info, &parts.display))
        return kal_fail(host, KALLIMA_E_ABSENT, "opengl: no device %d is present", index);
    parts.context = kal_gl_context_create(parts.gl, &parts.display);
    if (!parts.context)
        return kal_fail(host, KALLIMA_E_DEVICE,
                        "opengl: no context of %s can be made of device %s",
                        kal_gl_is_es(&parts.info) ? "OpenGL ES 3.1" : "version 4.3",
                        parts.info.selector);
    return kal_gl_device_take(out, &parts);
}

static kallima_status gl_finish(kallima_device *base)
{
    struct gl_device *device = (struct gl_device *)base;
    KAL_TRY(kal_gl_begin(device));
    device->gl->Finish();
    return kal_gl_end(device, kal_gl_check(device, "glFinish"));
}

const struct kal_device_ops kal_opengl_device_ops = {
    .name = "opengl",
    .find = gl_find,
    .is_complete = gl_is_complete,
    .open = gl_open,
    .close = gl_close,
    .describe = gl_describe,
    .buffer_create = kal_gl_buffer_create,
    .buffer_destroy = kal_gl_buffer_destroy,
    .buffer_write = kal_gl_buffer_write,
    .buffer_read = kal_gl_buffer_read,
    .buffer_copy = kal_gl_buffer_copy,
    .finish = gl_finish,
    .timer_create = kal_gl_timer_create,
    .timer_destroy = kal_gl_timer_destroy,
    .timer_start = kal_gl_timer_start,
    .timer_stop = kal_gl_timer_stop,
    .timer_read = kal_gl_timer_read,
    .kernel_create = kal_gl_kernel_create,
    .kernel_destroy = kal_gl_kernel_destroy,
    .kernel_describe = kal_kernel_describe_nothing,
    .kernel_key = kal_gl_key,
    .enqueue = kal_gl_enqueue,
};
