// SPDX-License-Identifier: MIT
// The memory of a device in which all libraries work on one problem after another: kept
// from case to case, as filling it takes longer than measuring.
#ifndef KALLIMA_BENCH_MEMORY_H_
#define KALLIMA_BENCH_MEMORY_H_

#include "../bench/peers/gpu.h"
#include "bench_data.h"

/** Random input as it lies in a device's memory. All zero is none. */
struct bench_input {
    struct gpu_memory memory;
    uint64_t bytes, seed; // how much of it is filled, with which numbers
};

struct bench_memory {
    const struct gpu_module *module;
    struct gpu *gpu;
    kallima_timer *timer;
    struct bench_input input[KALLIMA_KIND_COUNT][KALLIMA_PRECISION_COUNT];
    struct gpu_memory result, overwritten, poison;

    // Of the problem that is loaded:
    const struct gpu_memory *source;   // its input, never written
    const struct gpu_memory *in, *out; // for the libraries; the same in place
    uint64_t in_bytes, out_bytes;
    double at_work_ns; // when the device was, by the host; -INFINITY: nobody knows
};

/**
 * Open the device `selector` and Kallima on it. `module` is where its memory comes from.
 *
 * Error: returns false and writes one sentence to `why`.
 */
bool bench_memory_open(struct bench_memory *memory, const struct gpu_module *module,
                       const char *selector, const kallima_device_options *options,
                       kallima_device **device, char *why, size_t capacity);

/** Free everything and close the device. */
void bench_memory_close(struct bench_memory *memory, kallima_device **device);

/**
 * Put the input of `data` there, and make room for the output.
 *
 * Error: returns false and writes one sentence to `why`.
 */
bool bench_memory_load(struct bench_memory *memory, const struct data *data, char *why,
                       size_t capacity);

/** Enqueue what makes the input whole again where transforms overwrite it. */
bool bench_memory_restore(const struct bench_memory *memory);

/** Enqueue NaNs for the output, then the input as bench_memory_restore() does. */
bool bench_memory_poison(const struct bench_memory *memory);

/**
 * Enqueue a little work, so that what is enqueued next does not wait for the host: the
 * restoring of the input, or a copy of no consequence.
 */
bool bench_memory_occupy(const struct bench_memory *memory);

#endif
