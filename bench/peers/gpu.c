// SPDX-License-Identifier: MIT
// Devices that Kallima has for itself, and the way to those that it shares.
#include "gpu.h"

#include <stdio.h>
#include <stdlib.h>

#include "module.h"

struct gpu {
    kallima_device *device; // borrowed
};

static struct gpu *alone_open(const char *selector, const kallima_device_options *options,
                              kallima_device **device, char *why, size_t capacity)
{
    struct gpu *gpu = malloc(sizeof *gpu);
    if (!gpu)
        snprintf(why, capacity, "no memory left");
    else if (kallima_device_open(device, selector, options) == KALLIMA_OK) {
        gpu->device = *device;
        return gpu;
    } else
        snprintf(why, capacity, "%s", kallima_last_error());
    free(gpu);
    return NULL;
}

static void alone_close(struct gpu *gpu)
{
    free(gpu);
}

static const struct peer_native *alone_get_native(const struct gpu *gpu)
{
    (void)gpu;
    return NULL;
}

static bool alone_memory_create(struct gpu *gpu, struct gpu_memory *memory,
                                uint64_t bytes, char *why, size_t capacity)
{
    *memory = (struct gpu_memory){ .bytes = bytes };
    if (kallima_buffer_create(&memory->buffer, gpu->device, bytes) == KALLIMA_OK)
        return true;
    snprintf(why, capacity, "%s", kallima_last_error());
    *memory = (struct gpu_memory){ 0 };
    return false;
}

static void alone_memory_destroy(struct gpu *gpu, struct gpu_memory *memory)
{
    (void)gpu;
    kallima_buffer_destroy(&memory->buffer);
    *memory = (struct gpu_memory){ 0 };
}

const struct gpu_module gpu_alone = {
    .open = alone_open,
    .close = alone_close,
    .get_native = alone_get_native,
    .memory_create = alone_memory_create,
    .memory_destroy = alone_memory_destroy,
};

const struct gpu_module *gpu_find(const char *api, char *why, size_t capacity)
{
    return module_load(api, "kallima_bench_gpu", why, capacity);
}
