// SPDX-License-Identifier: MIT
// Who is faster, from times alone: medians, spreads, and the rule that decides. Numbers in,
// a ruling out; no device and no clock.
#ifndef KAL_TUNE_RACE_H_
#define KAL_TUNE_RACE_H_

#include "base/base.h"

enum {
    KAL_RACE_LEAST_ROUNDS = 9, // a challenger wins after no fewer
    KAL_RACE_MOST_ROUNDS = 99, // then the race is over
};

/** A challenger that gains less than this share of the incumbent's time is not faster. */
extern const double kal_race_margin;

/** What the times of one plan come to. */
struct kal_times {
    double median; // seconds of one execution
    double spread; // median distance from the median, as a share of the median
    int count;     // of samples
};

/**
 * Summarise samples of one plan, in any order.
 *
 * Shape: `count` samples, 1 or more; `scratch` has room for as many.
 * Unit:  seconds in, seconds out.
 */
struct kal_times kal_times_summarise(const double *sample, int count, double *scratch);

enum kal_ruling {
    KAL_RULING_OPEN,       // more rounds are needed
    KAL_RULING_FASTER,     // the challenger is, by the margin at least and beyond noise
    KAL_RULING_NOT_FASTER, // nor will more rounds make it so
};

/**
 * Rule on a race after some rounds. In each round both plans are timed once, one right after
 * the other and in either order, so that drift and the state of the clock fall on both: what
 * counts is the ratio of the two times of a round, and of the ratios the median, with the
 * limits that order statistics give it whatever the distribution is.
 *
 * - Faster: the median is below 1 - kal_race_margin, and its upper limit is below 1.
 * - Not faster: the lower limit is above 1 - kal_race_margin, or the first few rounds were
 *   all much slower.
 * - Open otherwise; whoever has no more rounds to give keeps the incumbent.
 *
 * A ruling may be asked for after each round: the limits are set for that.
 *
 * Shape:  `rounds` times of each, none negative.
 * Unit:   any, the same for both.
 * Source: distribution-free limits of a median: W. R. Thompson, Ann. Math. Statist. 7 (1936)
 *         122-128, doi:10.1214/aoms/1177732502.
 */
enum kal_ruling kal_race_rule(const double *incumbent, const double *challenger,
                              int rounds);

#endif
