// SPDX-License-Identifier: MIT
// Interleaved numbers in registers V, through codelets of reals: both parts of a number take the
// same way. By its linearity that gives the sums C and S of complex x times cosines and minus
// sines, so that y[k] = C + i S and y[n-k] = C - i S. V has NUMBERS_BYTES, EXCHANGED(a) are the numbers
// of a with their parts exchanged.
#ifndef KAL_DEVICE_CPU_SIMD_NUMBERS_H_
#define KAL_DEVICE_CPU_SIMD_NUMBERS_H_

#if defined KAL_SIMD_F32
#define SIGN_BIT INT32_MIN
typedef int32_t INTEGER;
#else
#define SIGN_BIT INT64_MIN
typedef int64_t INTEGER;
#endif
// Of what is in memory: gcc 12 for Windows fails at variables of this type.
typedef INTEGER VI
    __attribute__((vector_size(NUMBERS_BYTES), aligned(sizeof(R)), may_alias));

#define TIMES_I(a, signs) ((V)((VI)EXCHANGED(a) ^ (signs)))

#define SIGNS_OF_ONE  SIGN_BIT, 0
#define SIGNS_OF_TWO  SIGNS_OF_ONE, SIGNS_OF_ONE
#define SIGNS_OF_FOUR SIGNS_OF_TWO, SIGNS_OF_TWO

// The parts that lead, and from the second one on those that do not.
static const union {
    INTEGER bits[CPU_MAX_LANES + 2];
    R reals[CPU_MAX_LANES + 2];
} part_signs = { { SIGNS_OF_FOUR, SIGNS_OF_FOUR, SIGNS_OF_ONE } };

// What the codelets call yi is the signs of i z, what they call xi the twiddle factors. Pairs of
// reals are neighbours on their line.
#define LOAD_PAIR(re, im, xr, xi, at)    \
    do {                                 \
        (void)(xi);                      \
        re = LOAD((xr) + (at));          \
        im = LOAD((xr) + xs / 2 + (at)); \
    } while (0)

#define STORE_COEFFICIENT(yr, yi, ys, k, n, re, im)                           \
    do {                                                                      \
        const V turned_ = TIMES_I(im, *(const VI *)(yi));                     \
        STORE_NUMBER((yr) + (k) * (ys), ADD(re, turned_), k);                 \
        STORE_NUMBER((yr) + ((n) - (k)) * (ys), SUB(re, turned_), (n) - (k)); \
    } while (0)
#define STORE_REAL(yr, yi, ys, k, re) ((void)(yi), STORE_NUMBER((yr) + (k) * (ys), re, k))

INLINE V twiddle(V a, V wr, V wi, const R *signs)
{
    const V other = MUL(EXCHANGED(a), wi);
    return FMA(a, wr, (V)((VI)other ^ *(const VI *)signs));
}

// Number k times its factor, which number 0 has none of: one of all numbers in a register; and
// registers of factors, each part twice.
#define PART_OF_FACTOR(k, part) ((k) ? 2 * (k)-2 + (part) : 0)
#define TIMES_SHARED_FACTOR(a, k)                           \
    ((k) ? twiddle(a, BROADCAST(xi[PART_OF_FACTOR(k, 0)]),  \
                   BROADCAST(xi[PART_OF_FACTOR(k, 1)]), yi) \
         : (a))
#define TIMES_OWN_FACTORS(a, k)                                 \
    ((k) ? twiddle(a, LOAD(xi + PART_OF_FACTOR(k, 0) * LANES),  \
                   LOAD(xi + PART_OF_FACTOR(k, 1) * LANES), yi) \
         : (a))

#endif
