// SPDX-License-Identifier: MIT
// Measure one problem: Kallima, and peers in alternation with it.
#ifndef KALLIMA_BENCH_RUN_H_
#define KALLIMA_BENCH_RUN_H_

#include <stdbool.h>

#include <kallima/kallima.h>

#include "../bench/peers/peer.h"
#include "bench_data.h"
#include "bench_sample.h"

enum { BENCH_MAX_PEERS = 4 };

struct bench_memory;
struct bench_record;

/** One peer that is opened. */
struct bench_peer {
    const struct peer *peer;
    struct peer_session *session;
};

/** What is measured, and for how long. */
struct bench {
    kallima_device *device;
    kallima_device_info info;
    struct bench_memory *memory; // of the device; NULL: problems lie in host memory
    struct bench_peer peer[BENCH_MAX_PEERS];
    int peers;
    struct sampling sampling;
    int64_t behind_bytes; // of host memory: arrays begin so far behind lines of caches
    const char *recipe;   // that Kallima is to follow; NULL: its planner chooses
    bool plans_twice;     // take the time of a second plan for the same problem, too
    struct bench_record *record; // of what was measured, also by other processes
};

/** What one library did with a problem. */
struct outcome {
    char why[256];        // why it failed; empty: it did not
    bool is_unsupported;  // it failed as the library has no plan for such a problem
    double plan_ns;       // time of planning
    double replan_ns;     // of planning once more; 0: not done
    double first_ns;      // of the first execution after planning, by the host's clock
    struct timing timing; // of one execution
    double error; // root mean square over those transforms of the batch that are checked
    enum error_method method;
    char recipe[1024];
    struct peer_info info; // of a peer
};

struct result {
    const kallima_desc *desc;
    double bound; // of the error
    int peers;
    struct outcome ours, theirs[BENCH_MAX_PEERS];
    struct timing copy;      // of as many bytes as the transform must move, on a device
    const char *copied_with; // what copied them; NULL: nothing did
};

/** Prepare a result: the problem, what is known of the peers, the bound of the error. */
void bench_begin(const struct bench *bench, const kallima_desc *desc,
                 struct result *result);

/**
 * Measure one problem. A failure is in the outcome; if the record says that the device is
 * lost, the result is of no use.
 */
void bench_run(const struct bench *bench, const kallima_desc *desc,
               struct result *result);

// The two ways of it.
void bench_run_host(const struct bench *bench, struct result *result);
void bench_run_device(const struct bench *bench, struct result *result);

/** Write why to the outcome; return false. */
bool outcome_fail(struct outcome *outcome, const char *sentence);

/** Plan on Kallima's device, and take the time of it. */
bool outcome_plan_ours(struct outcome *outcome, const struct bench *bench,
                       const kallima_desc *desc, kallima_plan **plan);

/** Plan for a peer's arrays, if it takes their layout, and take the time of it. */
bool outcome_plan_peer(struct outcome *outcome, const struct bench *bench,
                       const struct bench_peer *peer, const kallima_desc *desc,
                       const struct peer_arrays *arrays, struct peer_plan **plan);

/** Return whether the library was measured, and its result is not wrong. */
bool outcome_counts(const struct result *result, const struct outcome *outcome);

/** Return whether the result is further off than any rounding: beyond several bounds. */
bool outcome_is_wrong(const struct result *result, const struct outcome *outcome);

/** Return the index of the fastest peer that counts, or -1. */
int result_best_peer(const struct result *result);

/** Return a peer's time over Kallima's: above 1, Kallima is faster; 0: there is none. */
double result_ratio(const struct result *result, int peer);

/** Return the copy's time over the library's; 0: there is none. */
double result_copy_share(const struct result *result, const struct outcome *outcome);

/** Return whether Kallima computed the problem within the bound of the error. */
bool result_is_good(const struct result *result);

/** Return nominal operations in a nanosecond, 5 N log2 N each, half of it if real. */
double desc_gflops(const kallima_desc *desc, double ns);
double result_gflops(const struct result *result, const struct outcome *outcome);

#endif
