// SPDX-License-Identifier: MIT
// OpenCL: one context, an in-order queue that takes times, and buffers, adopted by Kallima.
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <kallima/interop/opencl.h>

#include "../peers/gpu.h"

enum { MAX_PLATFORMS = 16, MAX_DEVICES = 64, COPY_LANES = 256, COPY_BYTES = 16 };

struct gpu {
    cl_device_id device;
    cl_context context;
    cl_command_queue queue;
    cl_program program;
    cl_kernel copy;
    kallima_device *kallima; // borrowed
    struct peer_native native;
};

static const char copy_text[] =
    "kernel void copy(global uint4 *to, global const uint4 *from)"
    "{ to[get_global_id(0)] = from[get_global_id(0)]; }";

static bool is_ok(cl_int result, const char *what, char *why, size_t capacity)
{
    if (result == CL_SUCCESS)
        return true;
    snprintf(why, capacity, "opencl: %s: error %d", what, (int)result);
    return false;
}

static bool open_queue(struct gpu *gpu, char *why, size_t capacity)
{
    cl_int result;
    gpu->context = clCreateContext(NULL, 1, &gpu->device, NULL, NULL, &result);
    if (!is_ok(result, "clCreateContext", why, capacity))
        return false;
    gpu->queue = clCreateCommandQueue(gpu->context, gpu->device,
                                      CL_QUEUE_PROFILING_ENABLE, &result);
    return is_ok(result, "clCreateCommandQueue", why, capacity);
}

static bool build_copy(struct gpu *gpu, char *why, size_t capacity)
{
    const char *text = copy_text;
    cl_int result;
    gpu->program = clCreateProgramWithSource(gpu->context, 1, &text, NULL, &result);
    if (result == CL_SUCCESS)
        result = clBuildProgram(gpu->program, 1, &gpu->device, "", NULL, NULL);
    if (result == CL_SUCCESS)
        gpu->copy = clCreateKernel(gpu->program, "copy", &result);
    return is_ok(result, "the kernel that copies", why, capacity);
}

static void release(struct gpu *gpu)
{
    if (gpu->copy)
        clReleaseKernel(gpu->copy);
    if (gpu->program)
        clReleaseProgram(gpu->program);
    if (gpu->queue)
        clReleaseCommandQueue(gpu->queue);
    if (gpu->context)
        clReleaseContext(gpu->context);
    *gpu = (struct gpu){ 0 };
}

static void opencl_close(struct gpu *gpu)
{
    release(gpu);
    free(gpu);
}

static cl_uint list_devices(cl_device_id device[MAX_DEVICES])
{
    cl_platform_id platform[MAX_PLATFORMS];
    cl_uint platforms = 0, count = 0;
    if (clGetPlatformIDs(MAX_PLATFORMS, platform, &platforms) != CL_SUCCESS)
        return 0;
    for (cl_uint i = 0; i < platforms && i < MAX_PLATFORMS; i++) {
        const cl_uint room = MAX_DEVICES - count;
        cl_uint found = 0;
        if (room > 0 && clGetDeviceIDs(platform[i], CL_DEVICE_TYPE_ALL, room,
                                       device + count, &found) == CL_SUCCESS)
            count += found < room ? found : room;
    }
    return count;
}

// Open one device; it may turn out to be another than the one that is looked for.
static bool try_device(struct gpu *gpu, cl_device_id id, const char *selector,
                       const kallima_device_options *options, char *why, size_t capacity)
{
    kallima_device_info info;
    gpu->device = id;
    if (!open_queue(gpu, why, capacity))
        return false;
    if (kallima_opencl_adopt(&gpu->kallima, gpu->context, gpu->queue, options) !=
        KALLIMA_OK) {
        snprintf(why, capacity, "%s", kallima_last_error());
        return false;
    }
    kallima_device_get_info(gpu->kallima, &info);
    if (strcmp(info.selector, selector) == 0 && build_copy(gpu, why, capacity))
        return true;
    kallima_device_close(&gpu->kallima);
    return false;
}

// Kallima says which device has which number.
static struct gpu *opencl_open(const char *selector,
                               const kallima_device_options *options,
                               kallima_device **device, char *why, size_t capacity)
{
    struct gpu *gpu = calloc(1, sizeof *gpu);
    cl_device_id id[MAX_DEVICES];
    const cl_uint count = gpu ? list_devices(id) : 0;

    snprintf(why, capacity, "%s: no such device", selector);
    for (cl_uint i = 0; i < count; i++) {
        if (try_device(gpu, id[i], selector, options, why, capacity)) {
            gpu->native = (struct peer_native){ gpu->context, gpu->device, gpu->queue };
            *device = gpu->kallima;
            return gpu;
        }
        release(gpu);
    }
    free(gpu);
    return NULL;
}

static const struct peer_native *opencl_get_native(const struct gpu *gpu)
{
    return &gpu->native;
}

static void opencl_memory_destroy(struct gpu *gpu, struct gpu_memory *memory)
{
    kallima_buffer_destroy(&memory->buffer);
    clFinish(gpu->queue);
    if (memory->native)
        clReleaseMemObject(memory->native);
    *memory = (struct gpu_memory){ 0 };
}

static bool opencl_memory_create(struct gpu *gpu, struct gpu_memory *memory,
                                 uint64_t bytes, char *why, size_t capacity)
{
    cl_int result;
    *memory = (struct gpu_memory){ .bytes = bytes };
    memory->native =
        clCreateBuffer(gpu->context, CL_MEM_READ_WRITE, bytes, NULL, &result);
    if (!is_ok(result, "clCreateBuffer", why, capacity)) {
        *memory = (struct gpu_memory){ 0 };
        return false;
    }
    if (kallima_opencl_wrap(&memory->buffer, gpu->kallima, memory->native, 0, bytes) ==
        KALLIMA_OK)
        return true;
    snprintf(why, capacity, "%s", kallima_last_error());
    opencl_memory_destroy(gpu, memory);
    return false;
}

// Whole work-groups: the memory is a multiple of what they copy.
static bool opencl_copy(struct gpu *gpu, const struct gpu_memory *target,
                        const struct gpu_memory *source, uint64_t bytes)
{
    const size_t group_bytes = COPY_LANES * COPY_BYTES;
    const size_t lanes = (bytes + group_bytes - 1) / group_bytes * COPY_LANES;
    const size_t group = COPY_LANES;
    return clSetKernelArg(gpu->copy, 0, sizeof(cl_mem), &target->native) == CL_SUCCESS &&
           clSetKernelArg(gpu->copy, 1, sizeof(cl_mem), &source->native) == CL_SUCCESS &&
           clEnqueueNDRangeKernel(gpu->queue, gpu->copy, 1, NULL, &lanes, &group, 0, NULL,
                                  NULL) == CL_SUCCESS;
}

extern const struct gpu_module kallima_bench_gpu;
__attribute__((visibility("default"))) const struct gpu_module kallima_bench_gpu = {
    .open = opencl_open,
    .close = opencl_close,
    .get_native = opencl_get_native,
    .memory_create = opencl_memory_create,
    .memory_destroy = opencl_memory_destroy,
    .copy = opencl_copy,
};
