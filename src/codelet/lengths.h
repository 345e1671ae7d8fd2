// SPDX-License-Identifier: MIT
// The lengths that the CPU engine has compiled codelets for, and what they cost.
#ifndef KAL_CODELET_LENGTHS_H_
#define KAL_CODELET_LENGTHS_H_

#include "codelet/choose.h"

enum { KAL_TWIDDLED_MAX = 32 }; // longer compiled codelets have no twiddled form

/**
 * One compiled codelet. A twiddled one needs 6*(n-1) more operations, fused 4*(n-1).
 */
struct kal_length {
    int32_t n;
    int32_t total[KAL_FLAVOUR_COUNT]; // additions, multiplications and fused operations
};

/** Return the table of compiled codelets, shortest first, and how many there are. */
const struct kal_length *kal_lengths_get(int *count);

/** Return whether there is a compiled codelet of length n. */
bool kal_length_is_compiled(int64_t n, bool twiddled);

/** Return the instructions of the compiled codelet of length n; 0 if there is none. */
int32_t kal_length_cost(int64_t n, enum kal_flavour flavour, bool twiddled);

#endif
