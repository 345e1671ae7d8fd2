// SPDX-License-Identifier: MIT
// Registers of numbers as they lie in memory, and blocks of these that are turned in
// registers: each row of a block is a register.
#ifndef KAL_DEVICE_CPU_SIMD_BLOCKS_H_
#define KAL_DEVICE_CPU_SIMD_BLOCKS_H_

#include "device/cpu/simd/transpose.h"

enum {
    NUMBERS = LANES / 2, // of a register
};

#define NUMBERS_BYTES REGISTER_BYTES
#define OTHER(h, j)   ((j) ^ 1)
#define EXCHANGED(a)  SHUFFLE(a, a, OTHER, 0)
#include "device/cpu/simd/numbers.h"

// Of n registers as lines of n numbers: those from `at` on, to so many lines `step` reals apart.
INLINE void turn_block(const R *t, R *to, int at, int64_t step)
{
    V v[NUMBERS];

    for (int i = 0; i < NUMBERS; i++)
        v[i] = LOAD(t + (at + i) * LANES);
    transpose_numbers(v);
    for (int i = 0; i < NUMBERS; i++)
        STORE(to + i * step, v[i]);
}

// Where the last block is not whole it overlaps the one before.
#define BEGIN_BLOCK(k, n) ((k) + NUMBERS < (n) ? (k) : (n)-NUMBERS)

// All n registers, as lines one behind the other.
INLINE void turn_numbers(const R *t, R *to, int n)
{
#pragma GCC unroll 16
    for (int k = 0; k < n; k += NUMBERS)
        turn_block(t, to + 2 * BEGIN_BLOCK(k, n), BEGIN_BLOCK(k, n), 2 * n);
}

// The same, block after block `pitch` reals apart, each of whole registers: none waits
// for two that it overlaps.
INLINE void turn_blocks(const R *t, R *to, int n, int64_t pitch)
{
#pragma GCC unroll 16
    for (int k = 0; k < n; k += NUMBERS)
        turn_block(t, to + k / NUMBERS * pitch, BEGIN_BLOCK(k, n), LANES);
}

// The last group overlaps the one before.
static inline int64_t next_group(int64_t at, int64_t count)
{
    return at + 2 * NUMBERS < count ? at + NUMBERS : count - NUMBERS;
}

#endif
