// SPDX-License-Identifier: MIT
// Interleaved numbers in registers V, through codelets of reals: both parts of a number
// take the same way. By its linearity that gives the sums C and S of complex x times
// cosines and minus sines, so that y[k] = C + i S and y[n-k] = C - i S. V has
// NUMBERS_BYTES, EXCHANGED(a) are the numbers of a with their parts exchanged.
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

typedef R VO __attribute__((vector_size(NUMBERS_BYTES), aligned(sizeof(R)), may_alias));

#define SIGNS_OF_ONE  SIGN_BIT, 0
#define SIGNS_OF_TWO  SIGNS_OF_ONE, SIGNS_OF_ONE
#define SIGNS_OF_FOUR SIGNS_OF_TWO, SIGNS_OF_TWO
#define ONES_OF_TWO   -1, 1, -1, 1
#define ONES_OF_FOUR  ONES_OF_TWO, ONES_OF_TWO

// The parts that lead, and from the second one on those that do not: their signs, and as numbers.
static const struct {
    union {
        INTEGER bits[CPU_MAX_LANES + 2];
        R reals[CPU_MAX_LANES + 2];
    };
    R ones[CPU_MAX_LANES + 2];
} part_signs = { { { SIGNS_OF_FOUR, SIGNS_OF_FOUR, SIGNS_OF_ONE } },
                 { ONES_OF_FOUR, ONES_OF_FOUR, -1, 1 } };

#define SIGNED(a, signs) ((V)((VI)(a) ^ *(const VI *)(signs)))

// a + i b and a - i b: a product by 1 or -1 is exact, so that both ways give the same.
#if HAS_FMA
#define ONES(signs)                (*(const VO *)((signs) + CPU_MAX_LANES + 2))
#define PLUS_I_TIMES(a, b, signs)  FMA(EXCHANGED(b), ONES(signs), a)
#define MINUS_I_TIMES(a, b, signs) FNMA(EXCHANGED(b), ONES(signs), a)
#else
#define PLUS_I_TIMES(a, b, signs)  ADD(a, SIGNED(EXCHANGED(b), signs))
#define MINUS_I_TIMES(a, b, signs) SUB(a, SIGNED(EXCHANGED(b), signs))
#endif

// What the codelets call yi is the signs of i z, what they call xi the twiddle factors. Pairs of
// reals are neighbours on their line.
#define LOAD_PAIR(re, im, xr, xi, at)    \
    do {                                 \
        (void)(xi);                      \
        re = LOAD((xr) + (at));          \
        im = LOAD((xr) + xs / 2 + (at)); \
    } while (0)

#define STORE_COEFFICIENT(yr, yi, ys, k, n, re, im)                                      \
    do {                                                                                 \
        const V re_ = (re), im_ = (im);                                                  \
        STORE_NUMBER((yr) + (k) * (ys), PLUS_I_TIMES(re_, im_, yi), k);                  \
        STORE_NUMBER((yr) + ((n) - (k)) * (ys), MINUS_I_TIMES(re_, im_, yi), (n) - (k)); \
    } while (0)
#define STORE_REAL(yr, yi, ys, k, re) ((void)(yi), STORE_NUMBER((yr) + (k) * (ys), re, k))

INLINE V twiddle(V a, V wr, V wi, const R *signs)
{
    return FMA(a, wr, MUL(EXCHANGED(a), SIGNED(wi, signs)));
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
