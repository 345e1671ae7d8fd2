// SPDX-License-Identifier: MIT
// A driver of CUDA without a GPU, over host memory: it counts what lives, notes what is
// launched, and fails when told to.
#ifndef TESTS_FAKE_LIBCUDA_H_
#define TESTS_FAKE_LIBCUDA_H_

#include <cuda.h>
#include <stdbool.h>
#include <stdint.h>

enum { FAKE_NOTES = 4096, FAKE_PARAMETERS = 10, FAKE_DEVICES = 2 };

/** One launch or fill, as the driver saw it. */
struct fake_note {
    CUfunction function; // NULL: a fill
    CUstream stream;
    unsigned groups, lanes, group_bytes, cluster;
    CUdeviceptr parameters[FAKE_PARAMETERS];
    int fill_width; // bytes of a filled element
};

struct fake_cuda {
    // What it does.
    int devices;       // that are present
    int major;         // compute capability
    int clusters;      // that fit at once
    int blocks;        // that fit a processor at once
    int parameters;    // that a launched kernel takes
    int most_lanes;    // of a group of a kernel
    int refused_bytes; // group memory from which on a kernel may not have it; 0: no limit
    long fail_at;      // the call that fails, counted from 1; 0: none
    CUresult fail_with;
    bool is_capturing; // whatever waits or allocates fails

    // What was asked of it.
    long calls;
    const char *failed; // the call that failed because of `fail_at`
    int buffers, events, streams, modules, retained; // that live
    int dynamic_bytes, carveout, large_clusters;     // attributes that were set
    int notes;
    struct fake_note note[FAKE_NOTES];
};

extern struct fake_cuda fake_cuda;

/** Forget all but what lives; two devices of capability 9.0. */
void fake_cuda_reset(void);

/** Let all contexts die with what lives in them. */
void fake_cuda_bury(void);

/** How many contexts are current for this thread, one under the other. */
int fake_cuda_depth(void);

/** A context of a caller's own, and a stream in it or, for 1, of another context. */
CUcontext fake_cuda_context(void);
CUstream fake_cuda_stream(int which);

#endif
