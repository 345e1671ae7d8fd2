// SPDX-License-Identifier: MIT
// Halves of real lines whose radices were timed in many orders, where the rules' were slower.
#ifndef KAL_FACTOR_HALF_H_
#define KAL_FACTOR_HALF_H_

#include <stdbool.h>
#include <stdint.h>

/**
 * Write the radices of a kernel in f32 for n points that are 2 n reals, forward or back from their
 * spectrum, in one pass; return how many, or 0 if there is nothing measured to say.
 */
int kal_half_radices(int64_t n, bool is_backward, int *radix);

#endif
