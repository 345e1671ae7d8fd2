// SPDX-License-Identifier: MIT
// CUDA: the primary context, so that libraries on the runtime API meet it, one stream and
// plain allocations, adopted by Kallima. The stream is ordered with the default stream:
// VkFFT writes its kernels' constants by way of that one between two launches, and on a
// stream that does not wait for it the first launch would read the second one's.
#include <cuda.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <kallima/interop/cuda.h>

#include "../peers/gpu.h"

struct gpu {
    CUdevice device;
    CUcontext context;
    CUstream stream;
    kallima_device *kallima; // borrowed
    struct peer_native native;
};

static bool is_ok(CUresult result, const char *what, char *why, size_t capacity)
{
    const char *text = NULL;
    if (result == CUDA_SUCCESS)
        return true;
    cuGetErrorString(result, &text);
    snprintf(why, capacity, "cuda: %s: %s", what, text ? text : "unknown error");
    return false;
}

static bool open_stream(struct gpu *gpu, int index, char *why, size_t capacity)
{
    return is_ok(cuInit(0), "cuInit", why, capacity) &&
           is_ok(cuDeviceGet(&gpu->device, index), "cuDeviceGet", why, capacity) &&
           is_ok(cuDevicePrimaryCtxRetain(&gpu->context, gpu->device),
                 "cuDevicePrimaryCtxRetain", why, capacity) &&
           is_ok(cuCtxSetCurrent(gpu->context), "cuCtxSetCurrent", why, capacity) &&
           is_ok(cuStreamCreate(&gpu->stream, CU_STREAM_DEFAULT), "cuStreamCreate", why,
                 capacity);
}

static void cuda_close(struct gpu *gpu)
{
    if (gpu->stream)
        cuStreamDestroy(gpu->stream);
    if (gpu->context)
        cuDevicePrimaryCtxRelease(gpu->device);
    free(gpu);
}

static struct gpu *cuda_open(const char *selector, const kallima_device_options *options,
                             kallima_device **device, char *why, size_t capacity)
{
    struct gpu *gpu = calloc(1, sizeof *gpu);
    const char *colon = strchr(selector, ':');
    if (!gpu) {
        snprintf(why, capacity, "no memory left");
        return NULL;
    }
    if (open_stream(gpu, colon ? atoi(colon + 1) : 0, why, capacity)) {
        if (kallima_cuda_adopt(device, gpu->context, gpu->stream, options) ==
            KALLIMA_OK) {
            gpu->kallima = *device;
            gpu->native =
                (struct peer_native){ gpu->context, (void *)(intptr_t)gpu->device,
                                      gpu->stream };
            return gpu;
        }
        snprintf(why, capacity, "%s", kallima_last_error());
    }
    cuda_close(gpu);
    return NULL;
}

static const struct peer_native *cuda_get_native(const struct gpu *gpu)
{
    return &gpu->native;
}

static void cuda_memory_destroy(struct gpu *gpu, struct gpu_memory *memory)
{
    kallima_buffer_destroy(&memory->buffer);
    cuStreamSynchronize(gpu->stream);
    if (memory->native)
        cuMemFree((CUdeviceptr)(uintptr_t)memory->native);
    *memory = (struct gpu_memory){ 0 };
}

static bool cuda_memory_create(struct gpu *gpu, struct gpu_memory *memory, uint64_t bytes,
                               char *why, size_t capacity)
{
    CUdeviceptr address = 0;
    *memory = (struct gpu_memory){ .bytes = bytes };
    if (!is_ok(cuMemAlloc(&address, bytes), "cuMemAlloc", why, capacity)) {
        *memory = (struct gpu_memory){ 0 };
        return false;
    }
    memory->native = (void *)(uintptr_t)address;
    if (kallima_cuda_wrap(&memory->buffer, gpu->kallima, address, bytes) == KALLIMA_OK)
        return true;
    snprintf(why, capacity, "%s", kallima_last_error());
    cuda_memory_destroy(gpu, memory);
    return false;
}

extern const struct gpu_module kallima_bench_gpu;
__attribute__((visibility("default"))) const struct gpu_module kallima_bench_gpu = {
    .open = cuda_open,
    .close = cuda_close,
    .get_native = cuda_get_native,
    .memory_create = cuda_memory_create,
    .memory_destroy = cuda_memory_destroy,
};
