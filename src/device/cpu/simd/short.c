// SPDX-License-Identifier: MIT
// Short lines of contiguous numbers, a codelet each: a register holds one number of each
// of NUMBERS lines, which are turned in registers on their way to it and back, without a
// tile between.
#include "device/cpu/kernels.h"

#include "device/cpu/simd/simd.h"

#if LANES > 1
#include "device/cpu/simd/turn.h"

enum { NUMBERS = LANES / 2 }; // of a register, each of another line

#define NUMBERS_BYTES REGISTER_BYTES
#define OTHER(h, j)   ((j) ^ 1)
#define EXCHANGED(a)  SHUFFLE(a, a, OTHER, 0)
#include "device/cpu/simd/numbers.h"

#define STORE_NUMBER(pointer, value, k) STORE(pointer, value)
#define CODELET_R2C(n)                  plain_##n
#include R2C_CODELETS

#if HAS_FMA && LANES >= 8 && !defined IS_SCALED
#include "codelets_fma_numbers.h"
#define LONGER PRODUCTS
#else
#define LONGER(X)
#endif

// Lines as long as a register at least.
#if defined IS_SCALED && defined KAL_SIMD_SSE2
#define LENGTHS(X) X(2) X(3) X(4) X(5) X(6)
#elif LANES <= 4
#define LENGTHS RADICES_FROM_2
#elif LANES <= 8
#define LENGTHS(X) RADICES_FROM_4(X) LONGER(X)
#else
#define LENGTHS(X) RADICES_FROM_8(X) LONGER(X)
#endif

// n numbers of each of NUMBERS lines to a register for each. As many of those that come
// are asked for on the way: at once they would have to wait for each other.
INLINE void turn_numbers_in(R *t, const R *from, ptrdiff_t step, int n, const R *ahead)
{
    enum { AT_ONCE = QUAD / 2 }; // numbers of a line
#pragma GCC unroll 32
    for (int k = 0; k >= 0; k = next_block(k, n, AT_ONCE)) {
        V v[AT_ONCE];
        for (int i = 0; i < AT_ONCE * LANES && ahead; i += LINE)
            ASK_NEAR(ahead + k * LANES + i);
        for (int i = 0; i < AT_ONCE; i++)
            v[i] = gather_quads(from + i * step + 2 * k, AT_ONCE * step);
#if defined KAL_SIMD_F32
        MEET_LANES(v[0], v[1], LOW_TWOS, HIGH_TWOS);
#endif
        for (int i = 0; i < AT_ONCE; i++)
            STORE(t + (k + i) * LANES, v[i]);
    }
}

// Numbers from `at` on of each of these lines.
INLINE void turn_numbers(V *v, const R *t, const struct lines *l, int at)
{
    (void)l;
    for (int i = 0; i < NUMBERS; i++)
        v[i] = SCALED(LOAD(t + (at + i) * LANES), l);
    transpose_numbers(v);
}

INLINE void turn_numbers_out(const R *t, const struct lines *l, R *to, ptrdiff_t step,
                             int n)
{
    V v[NUMBERS];

#pragma GCC unroll 32
    for (int k = 0; k >= 0; k = next_block(k, n, NUMBERS)) {
        turn_numbers(v, t, l, k);
        for (int i = 0; i < NUMBERS; i++)
            STORE(to + i * step + 2 * k, v[i]);
    }
}

// Lines of whole registers past the caches, one after the other: of lines of these that
// are written in parts, with others between, a processor keeps few apart, and on a Xeon
// with AVX-512 that made 16 points up to 14 times as slow.
INLINE void stream_numbers(const R *t, const struct lines *l, R *to, int n)
{
    V v[CPU_LONGEST / NUMBERS][NUMBERS];

#pragma GCC unroll 32
    for (int k = 0; k < n / NUMBERS; k++)
        turn_numbers(v[k], t, l, k * NUMBERS);
    for (int i = 0; i < NUMBERS; i++) {
#pragma GCC unroll 32
        for (int k = 0; k < n / NUMBERS; k++)
            STREAM(to + (i * (n / NUMBERS) + k) * LANES, v[k][i]);
    }
}

// How lines leave: as they are, by way of a copy, from one end to the other, or past the
// caches, straight or so.
enum way { TURNED, COPIED, STREAMED };

INLINE void leave_numbers(const R *t, R *copy, const struct lines *l, R *to, int n,
                          enum way way)
{
    if (way == TURNED) {
        turn_numbers_out(t, l, to, l->to_step, n);
        return;
    }
    if (way == STREAMED && kal_cpu_goes_straight(2 * n, LANES, sizeof(R))) {
        stream_numbers(t, l, to, n);
        return;
    }
    turn_numbers_out(t, l, copy, 2 * n, n);
    for (int i = 0; i < n; i++) { // NUMBERS lines are whole registers
        if (way == STREAMED)
            STREAM(to + i * LANES, LOAD(copy + i * LANES));
        else
            STORE(to + i * LANES, LOAD(copy + i * LANES));
    }
}

// Long lines in several groups are asked for wherever they are, as a processor does not
// see where several at once go on; and those that are no whole registers are copied, or
// nearly every store would be of two lines of the caches: on a Xeon 42 to 63 points of
// 0.5 to 3 MB take 0.67 to 0.89 of the time so, measured in November 2026, but a group
// alone 1.1 to 1.3.
enum { LONG = 39, SEVERAL_GROUPS = 3 };

static inline enum way find_way(const struct cpu_vectors *y, int64_t n, bool are_long,
                                bool is_streamed)
{
    if (is_streamed)
        return STREAMED;
    return are_long && n % NUMBERS != 0 && y->stride == 2 * n ? COPIED : TURNED;
}

// A group of LANES lines, NUMBERS at a time, by way of the rows t and u.
INLINE void work_group(R *t, R *u, int r, codelet_function *codelet,
                       const struct lines *l, const R *parts, const R *ahead,
                       enum way way)
{
    for (int i = 0; i < LANES; i += NUMBERS) {
        turn_numbers_in(t, l->from + i * l->from_step, l->from_step, r,
                        ahead ? ahead + 2 * r * i : NULL);
        codelet(t, NULL, 2 * LANES, u, (R *)parts, LANES);
        leave_numbers(u, t, l, l->to + i * l->to_step, r, way);
    }
}

typedef void work_function(const struct lines *l, const R *parts, const R *ahead,
                           enum way way);

INLINE void work_lines(int r, work_function *work, const struct cpu_vectors *x,
                       const struct cpu_vectors *y, int64_t groups, double scale,
                       bool is_streamed)
{
    const int reals = 2 * r * LANES, group_bytes = reals * (int)sizeof(R);
    const int64_t ahead = (AHEAD_BYTES + group_bytes - 1) / group_bytes * reals;
    const bool are_long = r >= LONG && groups >= SEVERAL_GROUPS;
    const bool is_asked = (x->ahead || are_long) && x->stride == 2 * r;
    const bool is_output_far = x->ahead && y->ahead && y->stride == 2 * r;
    const bool is_exchanged = x->im < x->re;
    const R *parts = part_signs.reals + is_exchanged;
    const enum way way = find_way(y, r, are_long, is_streamed);
    struct lines l = { is_exchanged ? x->im : x->re, is_exchanged ? y->im : y->re,
                       x->stride, y->stride, (R)scale };

    for (int64_t i = 0; i < groups; i++) {
        if (is_output_far)
            ask_for_output(l.to + ahead, reals);
        work(&l, parts, is_asked ? l.from + ahead : NULL, way);
        l.from += LANES * l.from_step;
        l.to += LANES * l.to_step;
    }
}

#define SHORT(r)                                                                       \
    static inline void work_##r(const struct lines *l, const R *parts, const R *ahead, \
                                enum way way)                                          \
    {                                                                                  \
        _Alignas(REGISTER_BYTES) R t[(r)*LANES], u[(r)*LANES];                         \
        work_group(t, u, r, plain_##r, l, parts, ahead, way);                          \
    }                                                                                  \
    static void short_##r(const struct cpu_vectors *x, const struct cpu_vectors *y,    \
                          int64_t groups, double scale, bool is_streamed)              \
    {                                                                                  \
        work_lines(r, work_##r, x, y, groups, scale, is_streamed);                     \
    }

LENGTHS(SHORT)

#define ENTRY(r) [r] = short_##r,

#if defined IS_SCALED
#define TABLE JOIN(kal_cpu_short_scaled_, KAL_SIMD_SUFFIX)
#else
#define TABLE JOIN(kal_cpu_short_, KAL_SIMD_SUFFIX)
#endif

extern cpu_short *const TABLE[CPU_LONGEST + 1];

cpu_short *const TABLE[CPU_LONGEST + 1] = { LENGTHS(ENTRY) };

#endif
