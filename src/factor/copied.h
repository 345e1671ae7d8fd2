// SPDX-License-Identifier: MIT
// Lines and arrays that a CPU copies to where they are packed, as that is faster than
// tiles of them.
#ifndef KAL_FACTOR_COPIED_H_
#define KAL_FACTOR_COPIED_H_

#include "base/caps.h"
#include "problem/problem.h"

/**
 * Return whether a CPU copies what a problem transforms to where it is packed, and back:
 * lines longer than a codelet whose elements lie apart or in planes, or of an odd number
 * of reals, and small arrays.
 */
bool kal_is_copied(const struct kal_problem *problem, const struct kal_caps *caps);

/** Return whether lines are too long for tiles of several. */
bool kal_columns_are_long(const struct kal_problem *problem);

/**
 * Return what it transforms there: as many lines or arrays of the problem as are copied
 * at once, packed. A line of an odd number of reals is a complex one, forward, of numbers
 * without imaginary part, or of the conjugate spectrum.
 */
struct kal_problem kal_problem_copied(const struct kal_problem *problem);

#endif
