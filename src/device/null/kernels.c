// SPDX-License-Identifier: MIT
// Devices that take kernels and run none: what is planned for a GPU, where there is none.
#include "device/null/null.h"

#include <stdio.h>

// The limits of an NVIDIA H200 through CUDA, and of NVIDIA's OpenCL on it; of a small GPU
// through OpenGL and through Direct3D 11; and the least that OpenGL ES 3.1 allows.
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

static bool cuda_find(int index, kallima_device_info *info)
{
    return find("nullcuda", "an H200", &cuda_caps, index, info);
}

static bool opencl_find(int index, kallima_device_info *info)
{
    return find("nullopencl", "an H200", &opencl_caps, index, info);
}

static bool opengl_find(int index, kallima_device_info *info)
{
    return find("nullopengl", "a small GPU", &opengl_caps, index, info);
}

static bool opengles_find(int index, kallima_device_info *info)
{
    return find("nullopengles", "OpenGL ES 3.1", &opengles_caps, index, info);
}

static bool d3d11_find(int index, kallima_device_info *info)
{
    return find("nulld3d11", "a small GPU", &d3d11_caps, index, info);
}

static kallima_status cuda_open(kallima_device **out, int index,
                                const struct kal_host *host,
                                const kallima_device_options *options)
{
    (void)index;
    (void)options;
    return open_any(out, host, &kal_null_cuda_device_ops, &cuda_caps);
}

static kallima_status opencl_open(kallima_device **out, int index,
                                  const struct kal_host *host,
                                  const kallima_device_options *options)
{
    (void)index;
    (void)options;
    return open_any(out, host, &kal_null_opencl_device_ops, &opencl_caps);
}

static kallima_status opengl_open(kallima_device **out, int index,
                                  const struct kal_host *host,
                                  const kallima_device_options *options)
{
    (void)index;
    (void)options;
    return open_any(out, host, &kal_null_opengl_device_ops, &opengl_caps);
}

static kallima_status opengles_open(kallima_device **out, int index,
                                    const struct kal_host *host,
                                    const kallima_device_options *options)
{
    (void)index;
    (void)options;
    return open_any(out, host, &kal_null_opengles_device_ops, &opengles_caps);
}

static kallima_status d3d11_open(kallima_device **out, int index,
                                 const struct kal_host *host,
                                 const kallima_device_options *options)
{
    (void)index;
    (void)options;
    return open_any(out, host, &kal_null_d3d11_device_ops, &d3d11_caps);
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
#define KERNEL_DEVICE(title, find_entry, open_entry)  \
    {                                                 \
        .name = title,                                \
        .is_software = true,                          \
        .is_pretended = true,                         \
        .compiles_aside = true,                       \
        .find = find_entry,                           \
        .open = open_entry,                           \
        .close = close_any,                           \
        .describe = describe,                         \
        .buffer_create = kal_host_buffer_create,      \
        .buffer_destroy = kal_host_buffer_destroy,    \
        .buffer_write = kal_host_buffer_write,        \
        .buffer_read = kal_host_buffer_read,          \
        .buffer_copy = kal_host_buffer_copy,          \
        .finish = finish,                             \
        .timer_create = kal_host_timer_create,        \
        .timer_destroy = kal_host_timer_destroy,      \
        .timer_start = kal_host_timer_start,          \
        .timer_stop = kal_host_timer_stop,            \
        .timer_read = kal_host_timer_read,            \
        .kernel_create = kernel_create,               \
        .kernel_destroy = kernel_destroy,             \
        .kernel_describe = kal_kernel_describe_nothing, \
        .kernel_key = kernel_key,                     \
        .enqueue = enqueue,                           \
    }
// clang-format on

const struct kal_device_ops kal_null_cuda_device_ops =
    KERNEL_DEVICE("nullcuda", cuda_find, cuda_open);
const struct kal_device_ops kal_null_opencl_device_ops =
    KERNEL_DEVICE("nullopencl", opencl_find, opencl_open);
const struct kal_device_ops kal_null_opengl_device_ops =
    KERNEL_DEVICE("nullopengl", opengl_find, opengl_open);
const struct kal_device_ops kal_null_opengles_device_ops =
    KERNEL_DEVICE("nullopengles", opengles_find, opengles_open);
const struct kal_device_ops kal_null_d3d11_device_ops =
    KERNEL_DEVICE("nulld3d11", d3d11_find, d3d11_open);
