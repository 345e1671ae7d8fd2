// SPDX-License-Identifier: MIT
// Short lines of contiguous reals: LANES of them are turned in registers, to a row of
// LANES for each real and back.
#ifndef KAL_DEVICE_CPU_SIMD_TURN_H_
#define KAL_DEVICE_CPU_SIMD_TURN_H_

#include "device/cpu/simd/transpose.h"

enum {
    PAIR = 2 * LANES,   // reals of one element of a tile
    AHEAD_BYTES = 4096, // how far ahead of its use memory is asked for
    LINE_BYTES = 64,
    LINE = LINE_BYTES / (int)sizeof(R), // reals of one
};

struct lines {
    const R *from;
    R *to;
    ptrdiff_t from_step, to_step; // from line to line
    R scale;
};

// Lines that are scaled are a file of their own, the same with IS_SCALED: others would take a
// tenth longer for it.
#if defined IS_SCALED
#define SCALED(a, l) MUL(BROADCAST((l)->scale), a)
#else
#define SCALED(a, l) (a)
#endif

// A line is moved in blocks of `block` reals, the last one overlapping the one before: where
// the block behind `at` begins, or -1.
static inline int next_block(int at, int reals, int block)
{
    const int last = reals - block;
    if (at == last)
        return -1;
    return at + block < last ? at + block : last;
}

// All places in t are constants once this is unrolled, so that much of it stays in registers.
INLINE void turn_in(R *t, const struct lines *l, int reals)
{
    V v[QUAD];

#pragma GCC unroll 32
    for (int at = 0; at >= 0; at = next_block(at, reals, QUAD)) {
        for (int i = 0; i < QUAD; i++)
            v[i] = gather_quads(l->from + i * l->from_step + at, QUAD * l->from_step);
        transpose_quads(v);
        for (int j = 0; j < QUAD; j++)
            STORE(t + LANES * (at + j), v[j]);
    }
}

INLINE void turn_out(const R *t, const struct lines *l, R *to, ptrdiff_t step, int reals)
{
    (void)l;
    V v[LANES];

#pragma GCC unroll 8
    for (int at = 0; at >= 0; at = next_block(at, reals, LANES)) {
        for (int j = 0; j < LANES; j++)
            v[j] = SCALED(LOAD(t + LANES * (at + j)), l);
        transpose(v);
        for (int i = 0; i < LANES; i++)
            STORE(to + i * step + at, v[i]);
    }
}

// Contiguous lines past the caches, so that no line of these is written in parts with
// others between: a processor keeps few of them apart, and on a Xeon with AVX-512 that
// made 16 points up to 14 times as slow.
INLINE void stream_out(const R *t, const struct lines *l, int reals)
{
    R *to = l->to;
    const int width = reals < (int)LINE ? reals : (int)LINE;
    V v[LINE / LANES][LANES];

#pragma GCC unroll 8
    for (int at = 0; at < reals; at += width) {
#pragma GCC unroll 8
        for (int b = 0; b < width / LANES; b++) {
            for (int j = 0; j < LANES; j++)
                v[b][j] = SCALED(LOAD(t + LANES * (at + b * LANES + j)), l);
            transpose(v[b]);
        }
        for (int i = 0; i < LANES; i++) {
#pragma GCC unroll 8
            for (int b = 0; b < width / LANES; b++)
                STREAM(to + i * reals + at + b * LANES, v[b][i]);
        }
    }
}

// Memory of the groups to come. Output that is in the caches takes up to a third longer
// if it is asked for.
INLINE void ask_for_input(const R *from, int reals)
{
    for (int i = 0; i < reals; i += LINE)
        ASK_NEAR(from + i);
}

INLINE void ask_for_output(const R *to, int reals)
{
    for (int i = 0; i < reals; i += LINE)
        __builtin_prefetch(to + i, 1, 3);
}

// Those that may not go straight past the caches do so by way of a copy, from one end to the other:
// LANES of them are whole registers.
INLINE void leave(const R *t, R *copy, const struct lines *l, int reals, bool is_streamed)
{
    if (!is_streamed) {
        turn_out(t, l, l->to, l->to_step, reals);
    } else if (kal_cpu_goes_straight(reals, LANES, sizeof(R))) {
        stream_out(t, l, reals);
    } else {
        turn_out(t, l, copy, reals, reals);
        for (int i = 0; i < reals; i++)
            STREAM(l->to + i * LANES, LOAD(copy + i * LANES));
    }
}

#endif
