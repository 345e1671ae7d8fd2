// SPDX-License-Identifier: MIT
// Other FFT libraries to measure against. A peer is one file, here or in bench/modules, and
// one row in peer.c; its library is loaded at run time, so that the program neither needs
// nor contains it.
#ifndef KALLIMA_BENCH_PEER_H_
#define KALLIMA_BENCH_PEER_H_

#include <stdbool.h>
#include <stddef.h>

#include <kallima/kallima.h>

/** The objects of a compute API that libraries share: all enqueue to one queue, in order. */
struct peer_native {
    void *context; // CUcontext, cl_context
    void *device;  // CUdevice as a number, cl_device_id
    void *queue;   // CUstream, cl_command_queue
};

/** How a peer is to be used. */
struct peer_options {
    // Folders of installations; NULL: where the loader looks.
    const char *fftw_directory, *mkl_directory, *baseline_directory;
    const char *simd;    // the level that a baseline is held to; NULL: the best
    const char *effort;  // how long it may plan, in the peer's words; NULL: its default
    double plan_seconds; // after which a planner that can shall end; 0: no limit
    int threads;         // threads a transform may use
    const struct peer_native *native; // of the device; NULL on the CPU
};

/** What is known of a peer once it has planned; strings live as long as the session. */
struct peer_info {
    const char *version; // what the library says of itself
    const char *flags;   // how it was told to plan
};

/** A problem's arrays: addresses, or cl_mem for OpenCL. [1]: the imaginary parts, if planar. */
struct peer_arrays {
    void *in[2], *out[2];
};

struct peer_session;
struct peer_plan;

struct peer {
    const char *name;
    const char *summary;
    bool
        either_placement; // out of place it may be slower than in place: the better counts
    bool ends_planning;   // after plan_seconds, with what it has found by then
    bool any_layout; // it takes strides and planar arrays; else it is asked for packed,
                     // interleaved ones only
    bool only_if_named; // not one of all

    // Load the library; on failure return NULL and write one sentence to `why`.
    struct peer_session *(*open)(const struct peer_options *options, char *why,
                                 size_t capacity);
    void (*close)(struct peer_session *session);

    // What the library is that computes in `precision`.
    struct peer_info (*get_info)(const struct peer_session *session, int precision);

    // Plan a problem without offsets for these arrays, whose content is lost; on failure
    // return NULL and write one sentence to `why`.
    struct peer_plan *(*plan)(struct peer_session *session, const kallima_desc *desc,
                              const struct peer_arrays *arrays, char *why,
                              size_t capacity);
    // Compute, or enqueue to the shared queue; false: refused.
    bool (*execute)(const struct peer_plan *plan);
    void (*plan_destroy)(struct peer_plan *plan);
};

/** Return the name of the index-th of all peers of an API, or NULL: there are no more. */
const char *peer_list(const char *api, int index);

/** Return whether peer_find() knows such a peer; nothing is loaded for that. */
bool peer_is_known(const char *name, const char *api);

/**
 * Return the peer called `name` for devices of the API `api`: "cpu", "cuda" or "opencl". One
 * that is not listed is looked for as a module, kallima-bench-API-NAME.so beside the program.
 *
 * Error: returns NULL and writes one sentence to `why`; *is_known says whether there is
 *        such a peer at all, only not in this build or on this machine.
 */
const struct peer *peer_find(const char *name, const char *api, bool *is_known, char *why,
                             size_t capacity);

#endif
