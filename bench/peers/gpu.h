// SPDX-License-Identifier: MIT
// Devices whose queue and memory Kallima shares with its peers. A module owns the objects
// of the compute API and hands them to both; everything else (copies, time) is asked of
// Kallima's public interface.
#ifndef KALLIMA_BENCH_GPU_H_
#define KALLIMA_BENCH_GPU_H_

#include "peer.h"

struct gpu;

enum { GPU_MEMORY_STEP = 4096 }; // sizes of allocations are multiples of it

/** One allocation, as the peers and as Kallima know it. All zero is none. */
struct gpu_memory {
    void *native; // an address, or a cl_mem
    kallima_buffer *buffer;
    uint64_t bytes;
};

struct gpu_module {
    // Open the device `selector`, such as "cuda:0", and Kallima on the same queue; on
    // failure return NULL and write one sentence to `why`.
    struct gpu *(*open)(const char *selector, const kallima_device_options *options,
                        kallima_device **device, char *why, size_t capacity);
    // After all its memory and Kallima's device.
    void (*close)(struct gpu *gpu);
    // What the peers share; NULL: nothing, Kallima is alone.
    const struct peer_native *(*get_native)(const struct gpu *gpu);

    // On failure leave `memory` all zero and write one sentence to `why`.
    bool (*memory_create)(struct gpu *gpu, struct gpu_memory *memory, uint64_t bytes,
                          char *why, size_t capacity);
    void (*memory_destroy)(struct gpu *gpu, struct gpu_memory *memory);

    // Enqueue a copy by a kernel, for APIs whose own copy may be slow; NULL: it is not.
    // It may copy up to the next multiple of GPU_MEMORY_STEP.
    bool (*copy)(struct gpu *gpu, const struct gpu_memory *target,
                 const struct gpu_memory *source, uint64_t bytes);
};

/** Kallima's own devices: for every API, but without peers. */
extern const struct gpu_module gpu_alone;

/**
 * Return the module that shares devices of the API `api`.
 *
 * Error: returns NULL and writes one sentence to `why`.
 */
const struct gpu_module *gpu_find(const char *api, char *why, size_t capacity);

#endif
