// SPDX-License-Identifier: MIT
// How the plans that were measured stand to each other when a tuning is over.
#ifndef KAL_TUNE_STANDING_H_
#define KAL_TUNE_STANDING_H_

#include "tune/tuner.h"

enum { KAL_MOST_STANDINGS = 16 }; // of one problem that are kept

struct kal_standing {
    const struct kal_candidate *candidate;
    double seconds, spread;
};

/**
 * List the first plan that was right, the fastest, then others that were measured, from the
 * fastest on. Returns how many there are.
 *
 * Unit: the clock and other load were not the same in all races, so the times that they
 *       measured cannot be compared; their ratios can. A plan's `seconds` are the fastest's by
 *       the ratios of the races from one to the other, but those of the first and the fastest
 *       are measured.
 */
int kal_tuning_rank(const struct kal_tuning *tuning,
                    struct kal_standing standing[KAL_MOST_STANDINGS]);

#endif
