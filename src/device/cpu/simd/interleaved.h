// SPDX-License-Identifier: MIT
// How codelets load and store vectors of complex numbers: LOAD_PAIR and STORE_PAIR may be
// LOAD_VECTORS, LOAD_INTERLEAVED and so on.
#ifndef KAL_DEVICE_CPU_SIMD_INTERLEAVED_H_
#define KAL_DEVICE_CPU_SIMD_INTERLEAVED_H_

#include "device/cpu/simd/simd.h"

#if LANES > 1

#define LOAD_VECTORS(re, im, xr, xi, at) \
    do {                                 \
        re = LOAD((xr) + (at));          \
        im = LOAD((xi) + (at));          \
    } while (0)

#define STORE_VECTORS(yr, yi, at, re, im) \
    do {                                  \
        STORE((yr) + (at), re);           \
        STORE((yi) + (at), im);           \
    } while (0)
#define STREAM_VECTORS(yr, yi, at, re, im) \
    do {                                   \
        STREAM((yr) + (at), re);           \
        STREAM((yi) + (at), im);           \
    } while (0)

// Lanes 2 j and 2 j + 1 of two vectors, and the reverse.
#define EVEN(h, j) (2 * (j))
#define ODD(h, j)  (2 * (j) + 1)
#define LOW(h, j)  (((j) / 2) + ((j) % 2) * LANES)
#define HIGH(h, j) (((j) / 2) + ((j) % 2) * LANES + LANES / 2)

#if defined KAL_SIMD_F32
typedef int32_t M __attribute__((vector_size(REGISTER_BYTES)));
#else
typedef int64_t M __attribute__((vector_size(REGISTER_BYTES)));
#endif

// Real parts lead unless xi is below xr: then the side's parts are exchanged.
#define LEADING(xr, xi)       ((xi) < (xr) ? (xi) : (xr))
#define TRAILING(xr, xi)      ((xi) < (xr) ? (xr) : (xi))
#define WHERE_EXCHANGED(x, y) ((M){ 0 } + ((y) < (x)))

#if defined KAL_SIMD_AVX512
// Lanes are picked by an index, of which another is as cheap as an exchange is not.
#if defined KAL_SIMD_F32
#define PICK(a, b, index) ((V)_mm512_permutex2var_ps((a), (__m512i)(index), (b)))
static const M even_lanes = { 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30 };
static const M low_lanes = { 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23 };
#else
#define PICK(a, b, index) ((V)_mm512_permutex2var_pd((a), (__m512i)(index), (b)))
static const M even_lanes = { 0, 2, 4, 6, 8, 10, 12, 14 };
static const M low_lanes = { 0, 8, 1, 9, 2, 10, 3, 11 };
#endif

#define LOAD_HALVES(re, im, xr, xi, first, second)             \
    do {                                                       \
        const M other_ = even_lanes ^ WHERE_EXCHANGED(xr, xi); \
        const V a_ = LOAD(first), b_ = LOAD(second);           \
        re = PICK(a_, b_, other_);                             \
        im = PICK(a_, b_, other_ ^ 1);                         \
    } while (0)

#define STORE_HALVES(store, yr, yi, first, second, re, im)            \
    do {                                                              \
        const M low_ = low_lanes ^ (LANES * WHERE_EXCHANGED(yr, yi)); \
        const V a_ = (re), b_ = (im);                                 \
        store((first), PICK(a_, b_, low_));                           \
        store((second), PICK(a_, b_, low_ + LANES / 2));              \
    } while (0)

#define LOAD_INTERLEAVED(re, im, xr, xi, at) \
    LOAD_HALVES(re, im, xr, xi, LEADING(xr, xi) + (at), LEADING(xr, xi) + (at) + LANES)

#define STORE_BY(store, yr, yi, at, re, im)                                             \
    STORE_HALVES(store, yr, yi, LEADING(yr, yi) + (at), LEADING(yr, yi) + (at) + LANES, \
                 re, im)

// Numbers of two lines: the lower half of the lanes from where the one is, the upper half from
// where the other is. xr is the first one's and xi the second one's, which lies behind it;
// parts are exchanged where it is the other way round.
#define LOAD_TWINS(re, im, xr, xi, at) \
    LOAD_HALVES(re, im, xr, xi, LEADING(xr, xi) + (at), TRAILING(xr, xi) + (at))
#define STORE_TWINS_BY(store, yr, yi, at, re, im) \
    STORE_HALVES(store, yr, yi, LEADING(yr, yi) + (at), TRAILING(yr, yi) + (at), re, im)
#define STORE_TWINS(yr, yi, at, re, im)  STORE_TWINS_BY(STORE, yr, yi, at, re, im)
#define STREAM_TWINS(yr, yi, at, re, im) STORE_TWINS_BY(STREAM, yr, yi, at, re, im)

#else
// a and b change places where the mask is set: in all lanes or in none.
#define EXCHANGE(a, b, mask)                        \
    do {                                            \
        const M difference_ = ((M)a ^ (M)b) & mask; \
        a = (V)((M)a ^ difference_);                \
        b = (V)((M)b ^ difference_);                \
    } while (0)

#if defined KAL_SIMD_AVX2
// By halves, then within them: two steps are cheaper than what crosses the halves at once.
#define HALF        (LANES / 2)
#define LOWER(h, j) ((j) < HALF ? (j) : LANES + (j)-HALF)
#define UPPER(h, j) (LOWER(h, j) + HALF)
#define EVENS(h, j) \
    ((j) / HALF * HALF + 2 * ((j) % HALF) % HALF + (j) % HALF / (HALF / 2) * LANES)
#define ODDS(h, j)  (EVENS(h, j) + 1)
#define LOWS(h, j)  ((j) / HALF * HALF + (j) % HALF / 2 + (j) % 2 * LANES)
#define HIGHS(h, j) (LOWS(h, j) + HALF / 2)
#define PART(a, b, re, im)                                                  \
    do {                                                                    \
        const V l_ = SHUFFLE(a, b, LOWER, 0), u_ = SHUFFLE(a, b, UPPER, 0); \
        re = SHUFFLE(l_, u_, EVENS, 0);                                     \
        im = SHUFFLE(l_, u_, ODDS, 0);                                      \
    } while (0)
#define JOIN_PARTS(re, im, a, b)                                               \
    do {                                                                       \
        const V l_ = SHUFFLE(re, im, LOWS, 0), u_ = SHUFFLE(re, im, HIGHS, 0); \
        a = SHUFFLE(l_, u_, LOWER, 0);                                         \
        b = SHUFFLE(l_, u_, UPPER, 0);                                         \
    } while (0)
#else
#define PART(a, b, re, im)           \
    do {                             \
        re = SHUFFLE(a, b, EVEN, 0); \
        im = SHUFFLE(a, b, ODD, 0);  \
    } while (0)
#define JOIN_PARTS(re, im, a, b)      \
    do {                              \
        a = SHUFFLE(re, im, LOW, 0);  \
        b = SHUFFLE(re, im, HIGH, 0); \
    } while (0)
#endif

#define LOAD_INTERLEAVED(re, im, xr, xi, at)                \
    do {                                                    \
        const M mask_ = -WHERE_EXCHANGED(xr, xi);           \
        const R *base_ = LEADING(xr, xi) + (at);            \
        const V a_ = LOAD(base_), b_ = LOAD(base_ + LANES); \
        PART(a_, b_, re, im);                               \
        EXCHANGE(re, im, mask_);                            \
    } while (0)

#define STORE_BY(store, yr, yi, at, re, im)       \
    do {                                          \
        const M mask_ = -WHERE_EXCHANGED(yr, yi); \
        R *base_ = LEADING(yr, yi) + (at);        \
        V r_ = (re), i_ = (im), a_, b_;           \
        EXCHANGE(r_, i_, mask_);                  \
        JOIN_PARTS(r_, i_, a_, b_);               \
        store(base_, a_);                         \
        store(base_ + LANES, b_);                 \
    } while (0)
#endif

#define STORE_INTERLEAVED(yr, yi, at, re, im) STORE_BY(STORE, yr, yi, at, re, im)
// Past the caches: addresses are multiples of a register's bytes.
#define STREAM_INTERLEAVED(yr, yi, at, re, im) STORE_BY(STREAM, yr, yi, at, re, im)

#endif
#endif
