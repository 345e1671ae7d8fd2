// SPDX-License-Identifier: MIT
// Take times of several libraries in turn, so that whatever else the machine does, and its
// clock and its temperature, fall on all alike.
#ifndef KALLIMA_BENCH_SAMPLE_H_
#define KALLIMA_BENCH_SAMPLE_H_

#include <stdbool.h>
#include <stdint.h>

#include "stats.h"

/** How long to measure one problem. */
struct sampling {
    double sample_ns;  // least time of one sample
    double min_time_s; // of samples of each contender
    double max_time_s; // of all samples together: then few samples must do
    int min_samples;
};

/** What one contender's samples say. */
struct timing {
    struct stats stats; // ns of one execution
    int samples;
    int64_t executions; // in a sample: alike for all, but for far slower ones
};

/** One of those that are measured in turn. */
struct contender {
    // Execute `executions` times; return ns of one. A failure is a negative number: the
    // contender takes no further part.
    double (*take)(void *self, int64_t executions);
    void *self;
    struct timing *timing; // samples = 0: it failed
    // Return whether there is no time left for it: what it has stands. NULL: there always is.
    bool (*is_over)(void *self);
};

enum { SAMPLE_MAX_CONTENDERS = 64 };

/**
 * Warm up, choose how many executions a sample has, and measure round by round, beginning
 * each round with another contender.
 */
void sample_all(const struct sampling *sampling, const struct contender *contender,
                int count);

/** Return the time of the machine's steady clock. */
double sample_now_ns(void);

#endif
