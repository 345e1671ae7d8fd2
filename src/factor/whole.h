// SPDX-License-Identifier: MIT
// Whether lines of convolutions share tiles, and which convolution a CPU works a length
// with a large prime by.
#ifndef KAL_FACTOR_WHOLE_H_
#define KAL_FACTOR_WHOLE_H_

#include "factor/rule.h"

enum {
    KAL_TILE_LINES = 4
}; // what is planned as tiles of lines has so many; fewer convolutions in one count as these

/**
 * Whether `lines` convolutions of `points` points, padded, are worked on a lane each;
 * else one by one.
 */
bool kal_convolution_fills_lanes(int64_t points, int64_t lines,
                                 const struct kal_caps *caps);

/** Return how many whole tiles of lines `lines` of them are worth. */
double kal_convolution_tiles(int64_t lines, const struct kal_caps *caps);

/**
 * Whether a convolution of the whole line is faster on a CPU than to divide it: the rows
 * of a division are as many as the prime has cofactors, and lanes without one idle.
 */
bool kal_whole_beats_division(const struct kal_axis *axis, const struct kal_caps *caps);

/**
 * Whether a padded convolution of a prime is faster on a CPU than Rader's, which is
 * shorter: one by one, lines fill registers from within, if their length has a factor for
 * that.
 */
bool kal_padding_beats_rader(const struct kal_axis *axis, const struct kal_caps *caps);

#endif
