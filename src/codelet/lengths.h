// SPDX-License-Identifier: MIT
// The lengths of codelets, those compiled into the CPU engine and those printed into kernels,
// and what they cost.
#ifndef KAL_CODELET_LENGTHS_H_
#define KAL_CODELET_LENGTHS_H_

#include "codelet/codelet.h"

enum { KAL_TWIDDLED_MAX = 32 }; // longer compiled codelets have no twiddled form
enum { KAL_REAL_MAX = 32 };     // the longest compiled codelet of real transforms
enum { KAL_REAL_ROW_MAX = 64 }; // and of rows one behind the other
enum { KAL_NUMBERS_MAX = 64 };  // the longest that whole numbers go through

/**
 * One codelet. A twiddled one needs 6*(n-1) more operations, fused 4*(n-1).
 */
struct kal_length {
    int32_t n;
    int32_t total[KAL_FLAVOUR_COUNT]; // additions, multiplications and fused operations
    uint32_t accurate;                // bit 1 << flavour: compiled in the accurate form
};

/** Return the table of compiled codelets, shortest first, and how many there are. */
const struct kal_length *kal_lengths_get(int *count);

/** The same with those, behind them, that kernels have and the CPU engine has not. */
const struct kal_length *kal_lengths_get_printed(int *count);

/**
 * Return what is compiled for length n, a length of the table. Most are the forms of
 * fewest operations. Those that would add up to more than 0.75 * u * sqrt(log2 n), the
 * relative 2-norm error allowed to transforms of length n with unit roundoff u, have the
 * accurate form.
 */
struct kal_codelet_spec kal_length_spec(int n, enum kal_flavour flavour, bool twiddled);

/** Return whether there is a compiled codelet of length n. */
bool kal_length_is_compiled(int64_t n, bool twiddled);

/** Return whether there are compiled codelets of real transforms of length n. */
bool kal_real_length_is_compiled(int64_t n);

/**
 * The same, or longer ones that rows one behind the other have codelets of: up to
 * KAL_REAL_ROW_MAX.
 */
bool kal_real_row_is_compiled(int64_t n);

/** Return what is compiled for them: forms as of kal_length_spec(). */
struct kal_codelet_spec kal_real_length_spec(int n, enum kal_flavour flavour,
                                             enum kal_codelet_kind kind);

/**
 * Return whether whole numbers have a codelet of length n besides those that are compiled
 * for parts: products of primes up to 13, for rows of which a register of 32 bytes holds
 * a number each, and KAL_NUMBERS_MAX.
 */
bool kal_length_is_of_numbers(int64_t n);

/** Return whether planes of so many numbers or reals, small ones, have a function for both axes. */
bool kal_plane_is_compiled(int64_t rows, int64_t columns, bool is_real);

/** Return the instructions of the codelet of length n; 0 if there is none. */
int32_t kal_length_cost(int64_t n, enum kal_flavour flavour, bool twiddled);

#endif
