// SPDX-License-Identifier: MIT
// Tuning one problem on one device: the search asks, the model predicts, plans are built,
// checked and raced.
#ifndef KAL_TUNE_TUNER_H_
#define KAL_TUNE_TUNER_H_

#include <kallima/wisdom.h>

#include "tune/lesson.h"
#include "tune/timing.h"

/** Told of each candidate when its fate is known; false ends the search. */
typedef bool kal_tuning_report(void *user, const struct kal_candidate *candidate);

struct kal_tuning_options {
    int effort;                            // kallima_effort
    struct kal_budget budget;              // seconds 0: those of the effort
    const struct kal_knowledge *knowledge; // that ranks the candidates
    const kallima_wisdom_owner *owner; // for what is known of wrong recipes, and learnt
    const char *key;                   // the problem, there
    kal_tuning_report *report;         // NULL: nobody
    void *user;
};

/** What came of it. */
struct kal_tuning {
    struct kal_search search;     // every candidate; texts live in the arena
    const char *recipe;           // the fastest
    struct kal_times first, best; // of the first that is right, the planner's if that is,
                                  // and of the fastest
    int first_number;             // of the first that is right
    int64_t batch;                // transforms that were timed, if memory was short
    int tried, wrong; // plans that were built, and those that computed wrongly
    struct kal_knowledge knowledge;   // with what was measured
    double correlation, first_choice; // of the predictions: lesson.h
    double parameter_share;           // of the gain: likewise
};

/**
 * Find a fast recipe for `problem`. The planner's is tried first, and if it is right it stays
 * unless another is faster beyond doubt: once when that is found, and once more at the end.
 *
 * Owner:  texts of the result live in `arena`.
 * Thread: nothing else should use the device.
 * Error:  E_MEMORY  exhausted, or not even one transform fits the budget
 *         E_DEVICE  the device failed, or computes no recipe rightly
 */
kallima_status kal_tune(struct kal_tuning *out, struct kal_arena *arena,
                        kallima_device *device, const struct kal_problem *problem,
                        const struct kal_tuning_options *options);

#endif
