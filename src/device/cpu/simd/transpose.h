// SPDX-License-Identifier: MIT
// Row i, lane j becomes row j, lane i: first within the 128 bits that all processors shuffle
// fast, then those as wholes.
#ifndef KAL_DEVICE_CPU_SIMD_TRANSPOSE_H_
#define KAL_DEVICE_CPU_SIMD_TRANSPOSE_H_

#include "device/cpu/simd/simd.h"

enum {
    QUAD = 16 / (int)sizeof(R), // lanes of 128 bits
    QUADS = LANES / QUAD,
};

// Lanes of a and b in turn, from the lower or upper half of each quad; in twos; and quads
// 0, 2, ... or 1, 3, ... of a, then those of b.
#define LOW_ONES(h, j)  ((j) / QUAD * QUAD + (j) % QUAD / 2 + (j) % 2 * LANES)
#define HIGH_ONES(h, j) (LOW_ONES(h, j) + QUAD / 2)
#define LOW_TWOS(h, j)  ((j) / QUAD * QUAD + (j) % 2 + (j) % QUAD / 2 * LANES)
#define HIGH_TWOS(h, j) (LOW_TWOS(h, j) + 2)
#define EVEN_QUADS(h, j) \
    ((j) / QUAD * 2 * QUAD % LANES + (j) % QUAD + (j) / (LANES / 2) * LANES)
#define ODD_QUADS(h, j) (EVEN_QUADS(h, j) + QUAD)

#define MEET_LANES(a, b, low, high)     \
    do {                                \
        const V a_ = (a), b_ = (b);     \
        (a) = SHUFFLE(a_, b_, low, 0);  \
        (b) = SHUFFLE(a_, b_, high, 0); \
    } while (0)

// Quad i from `from` + i `step`. To put quads into a register from memory takes less than
// to move them within registers: a processor from Intel has two ports for the former, and
// one for the latter.
INLINE V gather_quads(const R *from, ptrdiff_t step)
{
#if REGISTER_BYTES == 64 && defined KAL_SIMD_F32
    V v = (V)_mm512_castps128_ps512(_mm_loadu_ps(from));
    v = (V)_mm512_insertf32x4((__m512)v, _mm_loadu_ps(from + step), 1);
    v = (V)_mm512_insertf32x4((__m512)v, _mm_loadu_ps(from + 2 * step), 2);
    return (V)_mm512_insertf32x4((__m512)v, _mm_loadu_ps(from + 3 * step), 3);
#elif REGISTER_BYTES == 64
    V v = (V)_mm512_castpd128_pd512(_mm_loadu_pd(from));
    v = (V)_mm512_insertf64x2((__m512d)v, _mm_loadu_pd(from + step), 1);
    v = (V)_mm512_insertf64x2((__m512d)v, _mm_loadu_pd(from + 2 * step), 2);
    return (V)_mm512_insertf64x2((__m512d)v, _mm_loadu_pd(from + 3 * step), 3);
#elif REGISTER_BYTES == 32 && defined KAL_SIMD_F32
    return (V)_mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(from)),
                                   _mm_loadu_ps(from + step), 1);
#elif REGISTER_BYTES == 32
    return (V)_mm256_insertf128_pd(_mm256_castpd128_pd256(_mm_loadu_pd(from)),
                                   _mm_loadu_pd(from + step), 1);
#else
    (void)step;
    return LOAD(from);
#endif
}

static inline void exchange_vectors(V *a, V *b)
{
    const V c = *a;
    *a = *b;
    *b = c;
}

// QUAD rows, each quad by itself.
INLINE void transpose_quads(V *v)
{
    for (int i = 0; i < QUAD; i += 2)
        MEET_LANES(v[i], v[i + 1], LOW_ONES, HIGH_ONES);
#if defined KAL_SIMD_F32
    MEET_LANES(v[0], v[2], LOW_TWOS, HIGH_TWOS);
    MEET_LANES(v[1], v[3], LOW_TWOS, HIGH_TWOS);
    exchange_vectors(&v[1], &v[2]);
#endif
}

// Row i, quad j becomes row j, quad i, of each `step` rows of all.
INLINE void transpose_wholes(V *v, int step)
{
    for (int i = 0; i < step; i++) {
#if REGISTER_BYTES == 64
        V *const a = v + i, *const b = a + step, *const c = b + step, *const d = c + step;
        MEET_LANES(*a, *b, EVEN_QUADS, ODD_QUADS);
        MEET_LANES(*c, *d, EVEN_QUADS, ODD_QUADS);
        MEET_LANES(*a, *c, EVEN_QUADS, ODD_QUADS);
        MEET_LANES(*b, *d, EVEN_QUADS, ODD_QUADS);
        // a: quad 0, c: quad 2, b: quad 1, d: quad 3
#elif REGISTER_BYTES == 32
        MEET_LANES(v[i], v[i + step], EVEN_QUADS, ODD_QUADS);
#else
        (void)v;
#endif
    }
}

INLINE void transpose(V *v)
{
    for (int i = 0; i < LANES; i += QUAD)
        transpose_quads(v + i);
    transpose_wholes(v, QUAD);
}

// LANES / 2 rows of numbers: row i, number j becomes row j, number i.
INLINE void transpose_numbers(V *v)
{
#if defined KAL_SIMD_F32
    for (int i = 0; i < LANES / 2; i += 2)
        MEET_LANES(v[i], v[i + 1], LOW_TWOS, HIGH_TWOS);
#endif
    transpose_wholes(v, QUAD / 2);
}

#if REGISTER_BYTES == 64
// Quads 0 and 2, or 1 and 3, of a, each followed by that of b.
#define EVEN_PAIRS(h, j) \
    ((j) / (2 * QUAD) * 2 * QUAD + (j) % QUAD + (j) / QUAD % 2 * LANES)
#define ODD_PAIRS(h, j) (EVEN_PAIRS(h, j) + QUAD)

// LANES / 2 rows: the lower half of their lanes by itself, and so the upper half.
INLINE void transpose_halves(V *v)
{
    for (int i = 0; i < LANES / 2; i += QUAD)
        transpose_quads(v + i);
    for (int i = 0; i < QUAD; i++)
        MEET_LANES(v[i], v[i + QUAD], EVEN_PAIRS, ODD_PAIRS);
}
#endif

#endif
