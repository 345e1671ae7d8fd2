// SPDX-License-Identifier: MIT
// Devices that take kernels and run none: what is planned for a GPU, where there is none.
#include "device/null/null.h"

#include <stdio.h>

// The limits of an NVIDIA H200 through CUDA, OpenCL and Vulkan; of a small GPU through OpenGL and
// through Direct3D 11; and the least that OpenGL ES 3.1 allows.
static const struct kal_caps cuda_caps = {
    .has_f64 = true,
    .threads = 1,
    .lanes_f32 = 32,
    .shared_bytes = 60u << 20,
    .language = KAL_LANGUAGE_CUDA,
    .processors = 132,
    .group_lanes = 1024,
    .group_bytes = 232448,
    .processor_lanes = 2048,
    .processor_bytes = 233472,
    .lane_registers = 255,
    .cluster_groups = 16,
    .has_forward_progress = true,
    .has_nvidia_ptx = true,
};
static const struct kal_caps opencl_caps = {
    .has_f64 = true,
    .threads = 1,
    .lanes_f32 = 32,
    .shared_bytes = 60u << 20,
    .language = KAL_LANGUAGE_OPENCL,
    .processors = 132,
    .group_lanes = 1024,
    .group_bytes = 49152,
    .processor_lanes = 2048,
    .processor_bytes = 233472,
    .lane_registers = 255,
    .has_forward_progress = true,
    .has_nvidia_ptx = true,
};
static const struct kal_caps vulkan_caps = {
    .has_f64 = true,
    .threads = 1,
    .lanes_f32 = 32,
    .shared_bytes = 32u << 20,
    .language = KAL_LANGUAGE_GLSL_ADDRESSES,
    .processors = 132,
    .group_lanes = 1024,
    .group_bytes = 49152,
    .buffer_bytes = UINT32_MAX,
    .processor_lanes = 2048,
    .processor_bytes = 128u << 10,
    .lane_registers = 255,
    .has_forward_progress = true,
};
static const struct kal_caps opengl_caps = {
    .has_f64 = true,
    .threads = 1,
    .lanes_f32 = 32,
    .language = KAL_LANGUAGE_GLSL,
    .processors = 16,
    .group_lanes = 1024,
    .group_bytes = 32768,
    .buffer_bytes = INT32_MAX,
};
static const struct kal_caps opengles_caps = {
    .threads = 1,
    .lanes_f32 = 32,
    .language = KAL_LANGUAGE_ESSL,
    .processors = 16,
    .group_lanes = 128,
    .group_bytes = 16384,
    .buffer_bytes = 1 << 27,
};
static const struct kal_caps d3d11_caps = {
    .has_f64 = true,
    .threads = 1,
    .lanes_f32 = 32,
    .language = KAL_LANGUAGE_HLSL,
    .processors = 16,
    .group_lanes = 1024,
    .group_bytes = 32768,
    .buffer_bytes = INT32_MAX,
};

static bool find(const char *name, const char *limits, const struct kal_caps *caps,
                 int index, kallima_device_info *info)
{
    *info = (kallima_device_info){ .is_software = 1,
                                   .has_f64 = caps->has_f64,
                                   .lanes_f32 = caps->lanes_f32 };
    snprintf(info->selector, sizeof info->selector, "%s", name);
    snprintf(info->name, sizeof info->name, "Null device with the limits of %s", limits);
    snprintf(info->driver, sizeof info->driver, "computes nothing");
    return index == 0;
}

static kallima_status open_any(kallima_device **out, const struct kal_host *host,
                               const struct kal_device_ops *ops,
                               const struct kal_caps *caps)
{
    void *object;
    KAL_TRY(kal_alloc_object(host, &object, sizeof(kallima_device)));
    kallima_device *device = object;
    device->ops = ops;
    device->host = *host;
    device->caps = *caps;
    *out = device;
    return KALLIMA_OK;
}

static void describe(const kallima_device *device, kallima_device_info *info)
{
    device->ops->find(0, info);
}

static void close_any(kallima_device *device)
{
    const struct kal_host host = device->host;
    kal_free(&host, device);
}

static kallima_status finish(kallima_device *device)
{
    (void)device;
    return KALLIMA_OK;
}

static kallima_status kernel_create(struct kal_device_kernel **out,
                                    kallima_device *device,
                                    const struct kal_kernel_text *text,
                                    const struct kal_binary *binary,
                                    struct kal_binary *made)
{
    void *object;
    (void)text;
    (void)binary;
    (void)made;
    KAL_TRY(kal_alloc_object(&device->host, &object, sizeof **out));
    *out = object;
    (*out)->device = device;
    return KALLIMA_OK;
}

static void kernel_destroy(struct kal_device_kernel *kernel)
{
    const struct kal_host host = kernel->device->host;
    kal_free(&host, kernel);
}

static void kernel_key(const kallima_device *device, char *key, size_t capacity)
{
    (void)device;
    snprintf(key, capacity, "null");
}

static kallima_status enqueue(kallima_device *device, const struct kal_work *work,
                              int count, const struct kal_sync *sync)
{
    (void)device;
    (void)work;
    (void)count;
    (void)sync;
    return KALLIMA_OK;
}

// clang-format off
// A device called after an API, with its limits: what they are of.
#define KERNEL_DEVICE(api, limits)                                                    \
    static bool api##_find(int index, kallima_device_info *info)                      \
    {                                                                                 \
        return find("null" #api, limits, &api##_caps, index, info);                   \
    }                                                                                 \
    static kallima_status api##_open(kallima_device **out, int index,                 \
                                     const struct kal_host *host,                     \
                                     const kallima_device_options *options)           \
    {                                                                                 \
        (void)index;                                                                  \
        (void)options;                                                                \
        return open_any(out, host, &kal_null_##api##_device_ops, &api##_caps);        \
    }                                                                                 \
    const struct kal_device_ops kal_null_##api##_device_ops =                         \
    {                                                                                 \
        .name = "null" #api,                                                          \
        .is_software = true,                                                          \
        .is_pretended = true,                                                         \
        .compiles_aside = true,                                                       \
        .find = api##_find,                                                           \
        .open = api##_open,                                                           \
        .close = close_any,                                                           \
        .describe = describe,                                                         \
        .buffer_create = kal_host_buffer_create,                                      \
        .buffer_destroy = kal_host_buffer_destroy,                                    \
        .buffer_write = kal_host_buffer_write,                                        \
        .buffer_read = kal_host_buffer_read,                                          \
        .buffer_copy = kal_host_buffer_copy,                                          \
        .finish = finish,                                                             \
        .timer_create = kal_host_timer_create,                                        \
        .timer_destroy = kal_host_timer_destroy,                                      \
        .timer_start = kal_host_timer_start,                                          \
        .timer_stop = kal_host_timer_stop,                                            \
        .timer_read = kal_host_timer_read,                                            \
        .kernel_create = kernel_create,                                               \
        .kernel_destroy = kernel_destroy,                                             \
        .kernel_describe = kal_kernel_describe_nothing,                               \
        .kernel_key = kernel_key,                                                     \
        .enqueue = enqueue,                                                           \
    }
// clang-format on

KERNEL_DEVICE(cuda, "an H200");
KERNEL_DEVICE(opencl, "an H200");
KERNEL_DEVICE(vulkan, "an H200");
KERNEL_DEVICE(opengl, "a small GPU");
KERNEL_DEVICE(opengles, "OpenGL ES 3.1");
KERNEL_DEVICE(d3d11, "a small GPU");
