// SPDX-License-Identifier: MIT
// Batches whose lines the CPU engine works one by one, each as if it were alone.
#ifndef KAL_FACTOR_ALONE_H_
#define KAL_FACTOR_ALONE_H_

#include "base/caps.h"
#include "problem/problem.h"

/**
 * Whether that is faster than a line on each lane of a register, or lanes of one line:
 * where lines are few, or a line of its own fills registers as well.
 */
bool kal_lines_are_alone(const struct kal_problem *problem, const struct kal_caps *caps);

/**
 * Whether the rows of an array are so long, where they lie without gaps in memory, that
 * each is planned as if it were alone.
 */
bool kal_rows_are_alone(const struct kal_problem *problem, const struct kal_caps *caps);

/** Whether the columns of a plane are so few and long that each is planned as if it were alone. */
bool kal_columns_are_alone(const struct kal_problem *problem,
                           const struct kal_caps *caps);

/**
 * Whether rows of an array that fill no registers with their neighbours are worked one by
 * one: those, and a few of any length.
 */
bool kal_rows_are_worked_in_turn(const struct kal_problem *problem,
                                 const struct kal_caps *caps);

/** Whether rows of reals fill registers well with their neighbours, and are not too many. */
bool kal_rows_are_fast_reals(const struct kal_problem *problem,
                             const struct kal_caps *caps);

/** Whether those of other arrays are, too, whose columns are worked in tiles. */
bool kal_rows_are_worked_alone(const struct kal_problem *problem,
                               const struct kal_caps *caps);

/**
 * Whether rows of reals, or lines of a batch, have a codelet that those anywhere have not
 * (kal_real_row_is_compiled()), and are enough for it.
 */
bool kal_rows_are_long_reals(const struct kal_problem *problem,
                             const struct kal_caps *caps);

/**
 * Whether lines along the last axis are rows that are fastest as whole numbers, several
 * in a register, by one codelet (kal_length_is_of_numbers()), and enough to fill one.
 */
bool kal_rows_are_of_numbers(const struct kal_problem *problem,
                             const struct kal_caps *caps);

#endif
