// SPDX-License-Identifier: MIT
// One library at work on one problem: planned, checked, and ready to have its time taken.
#ifndef KALLIMA_BENCH_JOB_H_
#define KALLIMA_BENCH_JOB_H_

#include "bench_run.h"

/** What time is taken of. */
enum bench_step {
    BENCH_RUN,   // the transform alone, by the device's clock where it has one
    BENCH_COPY,  // a copy of what the transform reads and writes
    BENCH_WRITE, // the input from host memory to the device, by the host's clock
    BENCH_READ,  // the output from the device to host memory, likewise
    BENCH_TOTAL, // write, transform, read, likewise
    BENCH_STEP_COUNT
};

extern const char *const bench_step_names[];

/** A copy within the device's memory. All zero is not chosen yet. */
struct bench_copy {
    const struct bench *bench;
    uint64_t bytes;
    double share;   // of what the transform moves
    bool by_kernel; // else by the API
};

/** All zero but `bench`, `data` and `outcome` is Kallima that has not begun. */
struct bench_job {
    const struct bench *bench;
    const struct data *data; // the problem with its input
    struct outcome *outcome;
    int number;                    // of the library in the record
    const struct bench_peer *peer; // NULL: Kallima
    kallima_plan *plan;
    struct peer_plan *peer_plan;
    struct peer_arrays arrays; // in host memory; the same for the CPU's in place
    void *fresh;               // the same: an input that is overwritten, to copy; or NULL
    double squares;            // of the errors, on a device
    struct bench_copy copy;    // on a device
};

/** How jobs are done: in host memory, or in a device's. */
struct bench_way {
    bool has[BENCH_STEP_COUNT]; // which steps there are
    // Plan twice if the bench says so, execute on poisoned output, and compare; a failure
    // is in the outcome.
    bool (*prepare)(struct bench_job *job);
    // Do a step `executions` times; return ns of one, negative if it failed.
    double (*take)(struct bench_job *job, enum bench_step step, int64_t executions);
    void (*clear)(struct bench_job *job);
};

extern const struct bench_way bench_way_host, bench_way_device;

#endif
