// SPDX-License-Identifier: MIT
// Measuring all cases with all contestants, their repeats in turn.
#ifndef KALLIMA_COMPARE_CONDUCT_H_
#define KALLIMA_COMPARE_CONDUCT_H_

#include "bench_sample.h"
#include "cases.h"
#include "contestant.h"

/** How to measure. */
struct conducting {
    struct contest *contest;
    const struct cases *cases; // in the order in which they are measured
    struct results *results;   // open; what is in there is not measured again
    struct sampling sampling;  // of transforms and copies on the device
    struct sampling transfers; // of what the host's clock measures
    double budget_s;           // after which no case begins; 0: no end
};

enum conduct_end {
    CONDUCT_DONE,
    CONDUCT_INTERRUPTED, // by the user
    CONDUCT_OVER,        // the budget is used up
    CONDUCT_FAILED,      // why is told
};

/**
 * Measure what is not there yet. Each case's rows are in the file before the next one begins.
 * *left is how many cases are not measured at the end.
 */
enum conduct_end conduct(struct conducting *conducting, int *left);

#endif
