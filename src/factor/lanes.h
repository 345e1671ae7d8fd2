// SPDX-License-Identifier: MIT
// The lanes of a group that share a line, of which each works codelets of all steps.
#ifndef KAL_FACTOR_LANES_H_
#define KAL_FACTOR_LANES_H_

#include <stdint.h>

/** Return as many lanes as codelets of the largest radix occupy with `lane_points` points each. */
int64_t kal_lanes_of_largest(int64_t points, int largest, int lane_points);

/**
 * Return somewhat more lanes than `lanes`, those that the codelets of one step need, if fewer of
 * them idle for it: with `count` steps of `radix` on a line of `points`.
 */
int64_t kal_lanes_at_work(int64_t points, const int *radix, int count, int64_t lanes);

#endif
