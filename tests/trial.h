// SPDX-License-Identifier: MIT
// One problem, planned, executed and judged: the row of most tests.
#ifndef TESTS_TRIAL_H_
#define TESTS_TRIAL_H_

#include <kallima/plan.h>
#include <stdbool.h>
#include <stddef.h>

#include "rig.h"

struct trial {
    kallima_desc desc;
    uint64_t seed;
    enum way way;
    const char *recipe; // NULL: the planner's
};

/**
 * Plan and execute the trial on `device`; fail the row unless the error is under its bound
 * and nothing was written that must not be. Small problems are executed several times, so
 * that the error is a mean over enough numbers, and over more of them near the bound. On a
 * device that computes in f32 alone, what is in f64 is taken in f32, here and below.
 */
void trial_check(const struct trial *trial, kallima_device *device);

/**
 * Execute the trial once and return a hash of the output; fail the row and return 0 if that
 * is not possible.
 */
uint64_t trial_hash(const struct trial *trial, kallima_device *device);

/** The same on a rig of the trial's problem, as it was before it was first executed. */
uint64_t trial_hash_on(const struct trial *trial, struct rig *rig,
                       kallima_device *device);

/** When a signal ends the program, print the trial that was running. */
void trial_report_crashes(void);

/** Write the plan's recipe; empty if there is none. */
void trial_recipe(const kallima_plan *plan, char *text, size_t capacity);

#endif
