// SPDX-License-Identifier: MIT
// Measure one problem: Kallima, and a peer in alternation with it.
#ifndef KALLIMA_BENCH_RUN_H_
#define KALLIMA_BENCH_RUN_H_

#include <stdbool.h>

#include <kallima/kallima.h>

#include "../bench/peers/peer.h"
#include "bench_data.h"
#include "stats.h"

/** What is measured, and for how long. */
struct bench {
    kallima_device *device;
    kallima_device_info info;
    const struct peer *peer; // NULL: Kallima alone
    struct peer_session *session;
    double min_time_s; // of samples of each library for a problem
    double max_time_s; // for a problem in all: then few samples must do
};

/** What one library did with a problem. */
struct outcome {
    char why[256];     // why it failed; empty: it did not
    double plan_ns;    // time of planning
    struct stats time; // ns of one execution
    int samples;
    double error; // root mean square over the first and the last transform of the batch
    enum error_method method;
    char recipe[1024];
};

struct result {
    const kallima_desc *desc;
    double bound; // of the error
    bool has_peer;
    struct outcome ours, theirs;
    struct peer_info peer_info;
};

/** Measure one problem. A failure is in the outcome. */
void bench_run(const struct bench *bench, const kallima_desc *desc,
               struct result *result);

/** Return whether both libraries were measured, so that there is a ratio. */
bool result_has_ratio(const struct result *result);

/** Return the peer's time over Kallima's: above 1, Kallima is faster. */
double result_ratio(const struct result *result);

/** Return whether Kallima computed the problem within the bound of the error. */
bool result_is_good(const struct result *result);

/** Return nominal operations in a nanosecond, 5 N log2 N each, half of it if real. */
double result_gflops(const struct result *result, const struct outcome *outcome);

#endif
