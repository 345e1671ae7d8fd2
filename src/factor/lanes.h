// SPDX-License-Identifier: MIT
// Lanes: those of a group that share a line, of which each works codelets of all steps, and
// those of tiles that lines leave empty.
#ifndef KAL_FACTOR_LANES_H_
#define KAL_FACTOR_LANES_H_

#include <stdbool.h>
#include <stdint.h>

/** Return as many lanes as codelets of the largest radix occupy with `lane_points` points each. */
int64_t kal_lanes_of_largest(int64_t points, int largest, int lane_points);

/** Return whether whole tiles of `lines` have `percent` lanes or more for each hundred of these. */
bool kal_tiles_are_left_empty(int64_t lines, int64_t lanes, int percent);

/**
 * Return somewhat more lanes than `lanes`, those that the codelets of one step need, if fewer of
 * them idle for it: with `count` steps of `radix` on a line of `points`.
 */
int64_t kal_lanes_at_work(int64_t points, const int *radix, int count, int64_t lanes);

#endif
