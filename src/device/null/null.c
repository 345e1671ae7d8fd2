// SPDX-License-Identifier: MIT
#include "device/null/null.h"

#include <stdio.h>

static void fill_info(kallima_device_info *info)
{
    *info = (kallima_device_info){ .is_software = 1, .has_f64 = 1 };
    snprintf(info->selector, sizeof info->selector, "null");
    snprintf(info->name, sizeof info->name, "Null device");
    snprintf(info->driver, sizeof info->driver, "computes nothing");
}

static bool null_find(int index, kallima_device_info *info)
{
    if (index > 0)
        return false;
    fill_info(info);
    return true;
}

static void null_describe(const kallima_device *device, kallima_device_info *info)
{
    (void)device;
    fill_info(info);
}

static kallima_status null_open(kallima_device **out, int index,
                                const struct kal_host *host,
                                const kallima_device_options *options)
{
    (void)index;
    (void)options;
    void *object;
    KAL_TRY(kal_alloc_object(host, &object, sizeof(kallima_device)));
    kallima_device *device = object;
    device->ops = &kal_null_device_ops;
    device->host = *host;
    device->caps = (struct kal_caps){
        .has_f64 = true, .threads = 1, .lanes_f32 = 16, .near_bytes = 1 << 20
    };
    *out = device;
    return KALLIMA_OK;
}

static void null_close(kallima_device *device)
{
    const struct kal_host host = device->host;
    kal_free(&host, device);
}

static kallima_status null_finish(kallima_device *device)
{
    (void)device;
    return KALLIMA_OK;
}

static kallima_status null_program_create(struct kal_device_program **out,
                                          kallima_device *device,
                                          const struct kal_program *program, bool is_f64)
{
    (void)program;
    (void)is_f64;
    void *object;
    KAL_TRY(kal_alloc_object(&device->host, &object, sizeof **out));
    *out = object;
    (*out)->device = device;
    return KALLIMA_OK;
}

static void null_program_destroy(struct kal_device_program *program)
{
    kal_free(&program->device->host, program);
}

static kallima_status null_program_run(const struct kal_device_program *program,
                                       const struct kal_arguments *arguments)
{
    (void)program;
    (void)arguments;
    return KALLIMA_OK;
}

const struct kal_device_ops kal_null_device_ops = {
    .name = "null",
    .is_software = true,
    .is_pretended = true,
    .find = null_find,
    .open = null_open,
    .close = null_close,
    .describe = null_describe,
    .buffer_create = kal_host_buffer_create,
    .buffer_destroy = kal_host_buffer_destroy,
    .buffer_write = kal_host_buffer_write,
    .buffer_read = kal_host_buffer_read,
    .buffer_copy = kal_host_buffer_copy,
    .finish = null_finish,
    .timer_create = kal_host_timer_create,
    .timer_destroy = kal_host_timer_destroy,
    .timer_start = kal_host_timer_start,
    .timer_stop = kal_host_timer_stop,
    .timer_read = kal_host_timer_read,
    .program_create = null_program_create,
    .program_destroy = null_program_destroy,
    .program_run = null_program_run,
};
