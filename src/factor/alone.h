// SPDX-License-Identifier: MIT
// Batches whose lines the CPU engine works one by one, each as if it were alone.
#ifndef KAL_FACTOR_ALONE_H_
#define KAL_FACTOR_ALONE_H_

#include "base/caps.h"
#include "problem/problem.h"

/**
 * Whether that is faster than a line on each lane of a register, or lanes of one line: where lines are
 * few, or a line of its own fills registers as well.
 */
bool kal_lines_are_alone(const struct kal_problem *problem, const struct kal_caps *caps);

/**
 * Whether the rows of an array are so few, where they lie without gaps in memory, and long, that each is planned as if it
 * were alone.
 */
bool kal_rows_are_alone(const struct kal_problem *problem, const struct kal_caps *caps);

/**
 * Whether lines along the last axis are rows that are fastest as whole numbers, several in a register, by one
 * codelet (kal_length_is_of_numbers()), and enough to fill one.
 */
bool kal_rows_are_of_numbers(const struct kal_problem *problem,
                             const struct kal_caps *caps);

/**
 * Return whether a CPU copies what a problem transforms to where it is packed, and back: a few lines whose elements lie
 * apart, or of an odd number of reals, longer than a codelet, and small arrays.
 */
bool kal_is_copied(const struct kal_problem *problem, const struct kal_caps *caps);

/**
 * Return what it transforms there: one line or array of the problem, packed. A line of an odd number of reals is a complex
 * one, forward, of numbers without imaginary part, or of the conjugate spectrum.
 */
struct kal_problem kal_problem_copied(const struct kal_problem *problem);

#endif
