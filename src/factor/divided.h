// SPDX-License-Identifier: MIT
// Arrays of several axes that a CPU works as two problems: the small arrays of all axes
// but the first, and lines of that.
#ifndef KAL_FACTOR_DIVIDED_H_
#define KAL_FACTOR_DIVIDED_H_

#include "base/caps.h"
#include "problem/problem.h"

/** Return whether that is faster than an axis at a time, small array by small array. */
bool kal_is_divided(const struct kal_problem *problem, const struct kal_caps *caps);

/** Return the problem of the small arrays of one array. */
struct kal_problem kal_problem_inner(const struct kal_problem *problem);

/**
 * Return that of the lines of one array, complex and beside each other: in place, or of
 * C2R out of it.
 */
struct kal_problem kal_problem_columns(const struct kal_problem *problem);

/** Return the problem of an axis by itself, and which axis of that it is. */
struct kal_problem kal_problem_divided(const struct kal_problem *problem, int *axis);

#endif
