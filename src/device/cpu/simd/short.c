// SPDX-License-Identifier: MIT
// Short lines of contiguous numbers, a codelet each: LANES of them are turned in registers on
// their way to it and back, without a tile between.
#include "device/cpu/kernels.h"

#include "device/cpu/simd/interleaved.h"

#if LANES > 1
#include CODELETS
#include "device/cpu/simd/transpose.h"

// Lines as long as a register at least.
// clang-format off
#if LANES <= 4
#define RADICES_FROM_2(X) X(2) X(3)
#else
#define RADICES_FROM_2(X)
#endif
#if LANES <= 8
#define RADICES_FROM_4(X) X(4) X(5) X(6) X(7)
#else
#define RADICES_FROM_4(X)
#endif
#define RADICES(X) \
    RADICES_FROM_2(X) RADICES_FROM_4(X) \
    X(8) X(9) X(10) X(11) X(12) X(13) X(14) X(15) X(16) X(17) X(19) X(20) X(23) X(24) \
    X(25) X(27) X(29) X(31) X(32)
// clang-format on

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
};

// A line is moved in blocks of LANES reals, the last one overlapping the one before: where
// the block behind `at` begins, or -1.
static inline int next_block(int at, int reals)
{
    const int last = reals - LANES;
    if (at == last)
        return -1;
    return at + LANES < last ? at + LANES : last;
}

// All places in t are constants once this is unrolled, so that much of it stays in registers.
// `flip` is 1 where imaginary parts lead.
INLINE void turn_in(R *t, const struct lines *l, int reals, int flip)
{
    V v[LANES];

#pragma GCC unroll 8
    for (int at = 0; at >= 0; at = next_block(at, reals)) {
        for (int i = 0; i < LANES; i++)
            v[i] = LOAD(l->from + i * l->from_step + at);
        transpose(v);
        for (int j = 0; j < LANES; j++)
            STORE(t + LANES * ((at + j) ^ flip), v[j]);
    }
}

INLINE void turn_out(const R *t, R *to, ptrdiff_t step, int reals, int flip)
{
    V v[LANES];

#pragma GCC unroll 8
    for (int at = 0; at >= 0; at = next_block(at, reals)) {
        for (int j = 0; j < LANES; j++)
            v[j] = LOAD(t + LANES * ((at + j) ^ flip));
        transpose(v);
        for (int i = 0; i < LANES; i++)
            STORE(to + i * step + at, v[i]);
    }
}

// Contiguous lines past the caches, so that no line of these is written in parts with others
// between: a processor keeps few of them apart, and on a Xeon with AVX-512 that made 16 points up to
// 14 times as slow.
INLINE void stream_out(const R *t, R *to, int reals, int flip)
{
    const int width = reals < (int)LINE ? reals : (int)LINE;
    V v[LINE / LANES][LANES];

#pragma GCC unroll 8
    for (int at = 0; at < reals; at += width) {
#pragma GCC unroll 8
        for (int b = 0; b < width / LANES; b++) {
            for (int j = 0; j < LANES; j++)
                v[b][j] = LOAD(t + LANES * ((at + b * LANES + j) ^ flip));
            transpose(v[b]);
        }
        for (int i = 0; i < LANES; i++) {
#pragma GCC unroll 8
            for (int b = 0; b < width / LANES; b++)
                STREAM(to + i * reals + at + b * LANES, v[b][i]);
        }
    }
}

// May lines go there straight from registers? Pieces of whole lines of the caches must fit these.
static inline bool is_straight(int reals)
{
    enum { REGISTERS = 8 };
    return reals == (int)LANES || (reals % LINE == 0 && (REGISTER_BYTES == LINE_BYTES ||
                                                         (int)LINE <= REGISTERS));
}

// Memory of the groups to come, if lines are one behind the other.
static inline void ask_for(const struct lines *l, int64_t groups, int reals,
                           bool is_streamed)
{
    const int bytes = LANES * reals * (int)sizeof(R);
    const char *from = (const char *)l->from + groups * bytes;
    const char *to = (const char *)l->to + groups * bytes;

    for (int b = 0; b < bytes && l->from_step == reals; b += LINE_BYTES)
        __builtin_prefetch(from + b, 0, 3);
    for (int b = 0; b < bytes && l->to_step == reals && !is_streamed; b += LINE_BYTES)
        __builtin_prefetch(to + b, 1, 3);
}

// LANES lines. Those that may not go straight past the caches do so by way of a copy, from one end
// to the other: LANES of them are whole registers.
#define WORK(r, flip)                                                             \
    static inline void work_##r##_##flip(const struct lines *l, bool is_streamed) \
    {                                                                             \
        enum { REALS = 2 * (r) };                                                 \
        _Alignas(REGISTER_BYTES) R t[REALS * LANES], u[REALS * LANES];            \
        turn_in(t, l, REALS, flip);                                               \
        dft_##r(t, t + LANES, PAIR, u, u + LANES, PAIR);                          \
        if (!is_streamed) {                                                       \
            turn_out(u, l->to, l->to_step, REALS, flip);                          \
        } else if (is_straight(REALS)) {                                          \
            stream_out(u, l->to, REALS, flip);                                    \
        } else {                                                                  \
            turn_out(u, t, REALS, REALS, flip);                                   \
            for (int i = 0; i < REALS; i++)                                       \
                STREAM(l->to + i * LANES, LOAD(t + i * LANES));                   \
        }                                                                         \
    }

#define SHORT(r)                                                                     \
    WORK(r, 0)                                                                       \
    WORK(r, 1)                                                                       \
    static void short_##r(const struct cpu_vectors *x, const struct cpu_vectors *y,  \
                          int64_t groups, bool is_streamed)                          \
    {                                                                                \
        enum { GROUP_BYTES = (r)*PAIR * (int)sizeof(R) };                            \
        const int64_t ahead = (AHEAD_BYTES + GROUP_BYTES - 1) / GROUP_BYTES;         \
        const R *xr = x->re, *xi = x->im;                                            \
        R *yr = y->re, *yi = y->im;                                                  \
        const bool is_exchanged = xi < xr;                                           \
        struct lines l = { LEADING(xr, xi), LEADING(yr, yi), x->stride, y->stride }; \
        for (int64_t i = 0; i < groups; i++) {                                       \
            if (i + ahead < groups)                                                  \
                ask_for(&l, ahead, 2 * (r), is_streamed);                            \
            if (is_exchanged)                                                        \
                work_##r##_1(&l, is_streamed);                                       \
            else                                                                     \
                work_##r##_0(&l, is_streamed);                                       \
            l.from += LANES * l.from_step;                                           \
            l.to += LANES * l.to_step;                                               \
        }                                                                            \
    }

RADICES(SHORT)

#define ENTRY(r) [r] = short_##r,

extern cpu_short *const JOIN(kal_cpu_short_, KAL_SIMD_SUFFIX)[CPU_MAX_RADIX + 1];

cpu_short *const JOIN(kal_cpu_short_,
                      KAL_SIMD_SUFFIX)[CPU_MAX_RADIX + 1] = { RADICES(ENTRY) };

#endif
