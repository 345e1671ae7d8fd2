// SPDX-License-Identifier: MIT
// Which radices have codelets, what they cost, and the best sequence of them for a length.
#ifndef KAL_FACTOR_RADIX_H_
#define KAL_FACTOR_RADIX_H_

#include <stdbool.h>
#include <stdint.h>

/** Largest radices of which one lane of a kernel works two codelets at once. */
enum { KAL_PAIRED_F32 = 16, KAL_PAIRED_F64 = 8 };

/** Return whether codelets of this radix are compiled into the CPU engine. */
bool kal_radix_exists(int64_t radix);

/** Return whether n is a product of radices that exist. */
bool kal_radix_divides(int64_t n);

/** The same for kernels, of whose radices some are primes of up to `largest`. */
bool kal_radix_is_printed(int64_t radix);
bool kal_radix_divides_kernel(int64_t n, int largest);

/** Return instructions for each point of a step of this radix, with twiddles, FMA form. */
double kal_radix_cost(int radix);

/** Return real additions and multiplications of a codelet, twiddles not counted. */
int kal_radix_operations(int radix);

/**
 * Find the cheapest sequence of radices whose product is n, largest first.
 *
 * Shape:  `radix` has room for KAL_MAX_STEPS; may be NULL if only the cost is wanted.
 * Returns the number of radices, 0 for n = 1; -1 if there is none. *cost (may be NULL) is
 * the cost for each point.
 */
int kal_radix_sequence(int64_t n, int *radix, double *cost);

/**
 * Find the two radices by which the CPU engine works a line of n points at once
 * (KAL_TWO_STEPS_FROM_4()), with registers as of kal_radix_sequence_single().
 *
 * Returns 2, or 0 if it does not.
 */
int kal_radix_find_both(int64_t n, int numbers, int widest, int *radix);

/**
 * Find the sequence of radices whose product is n that the CPU engine is fastest with on
 * one line alone, `numbers` of whose points fill a register, and `widest` the widest one,
 * in the order of its steps.
 *
 * Shape:  `radix` has room for KAL_MAX_STEPS; n is small.
 * Returns the number of radices, 0 for n = 1; -1 if there is none.
 */
int kal_radix_sequence_single(int64_t n, int numbers, int widest, int *radix);

/**
 * Find the sequence of radices whose product is n that the CPU engine is fastest with on
 * the columns of a line that fills the lanes, in the order of its steps; of few where
 * these are dear. Lines are worked in their output where the first radix lets them, if
 * `lanes` is not 0.
 *
 * Shape:  `radix` has room for KAL_MAX_STEPS; n is small.
 * Returns the number of radices, 0 for n = 1; -1 if there is none.
 */
int kal_radix_sequence_lanes(int64_t n, bool are_steps_dear, int lanes, int *radix);

/**
 * Return whether columns of n points of a line have two steps by which it is worked in
 * its output.
 */
bool kal_radix_folds_in_two(int64_t n, int lanes);

/** Where neighbouring columns are: bytes from row to row, on the way in and out. */
struct kal_column_place {
    int64_t in_row_bytes, out_row_bytes;
    bool are_far; // beyond what a core keeps
};

/**
 * The same for neighbouring columns in the caller's memory.
 *
 * Shape:  `radix` has room for KAL_MAX_STEPS; n is small.
 * Returns the number of radices, 0 for n = 1; -1 if there is none.
 */
int kal_radix_sequence_columns(int64_t n, const struct kal_column_place *place,
                               int *radix);

/**
 * Find a sequence of radices up to `most` whose product is n, for the steps of a kernel:
 * the shortest, and of several the one whose largest radix is smallest; or, if not
 * `is_short`, the cheapest by operations, exchanges and registers. Largest first.
 *
 * Shape:  `radix` has room for KAL_MAX_STEPS.
 * Returns the number of radices, 0 for n = 1; -1 if there is none.
 */
int kal_radix_sequence_kernel(int64_t n, int most, bool is_short, int *radix);

#endif
