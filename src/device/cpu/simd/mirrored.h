// SPDX-License-Identifier: MIT
// Numbers in registers, and mirrored steps: packed reals' coefficients from pairs of
// them, and back.
#ifndef KAL_DEVICE_CPU_SIMD_MIRRORED_H_
#define KAL_DEVICE_CPU_SIMD_MIRRORED_H_

#include "device/cpu/simd/simd.h"

// Real and imaginary parts of LANES numbers.
struct pair {
    V re, im;
};

#if LANES > 1
// Element e of a tile.
INLINE struct pair load_element(const R *t, int64_t e)
{
    return (struct pair){ LOAD(t + e * 2 * LANES), LOAD(t + e * 2 * LANES + LANES) };
}

INLINE void store_element(R *t, int64_t e, struct pair x)
{
    STORE(t + e * 2 * LANES, x.re);
    STORE(t + e * 2 * LANES + LANES, x.im);
}

#define REVERSE(h, j) (LANES - 1 - (j))

INLINE struct pair reverse(struct pair x)
{
    return (struct pair){ SHUFFLE(x.re, x.re, REVERSE, 0),
                          SHUFFLE(x.im, x.im, REVERSE, 0) };
}

// What is paired with registers in rising order, or has been, is in falling order: a
// register's first number, and then the others of the register before it.
#define FALLING(h, j) ((j) == 0 ? LANES : LANES - (j))

INLINE struct pair fall(struct pair x, struct pair behind)
{
    return (struct pair){ SHUFFLE(x.re, behind.re, FALLING, 0),
                          SHUFFLE(x.im, behind.im, FALLING, 0) };
}
#else
INLINE struct pair reverse(struct pair x)
{
    return x;
}
#endif

INLINE struct pair times(struct pair a, struct pair b)
{
    return (struct pair){ FNMA(a.im, b.im, MUL(a.re, b.re)),
                          FMA(a.im, b.re, MUL(a.re, b.im)) };
}

// X[k] = E + w O and X[m-k] = conj(E - w O) from a = Z[k], b = Z[m-k], times 2 half.
INLINE void split_pairs(struct pair a, struct pair b, struct pair w, V half,
                        struct pair *low, struct pair *high)
{
    const V er = MUL(half, ADD(a.re, b.re)), ei = MUL(half, SUB(a.im, b.im));
    const V or = MUL(half, ADD(a.im, b.im)), oi = MUL(half, SUB(b.re, a.re));
    const V tr = FNMA(oi, w.im, MUL(or, w.re)), ti = FMA(oi, w.re, MUL(or, w.im));
    *low = (struct pair){ ADD(er, tr), ADD(ei, ti) };
    *high = (struct pair){ SUB(er, tr), SUB(ti, ei) };
}

// Z[k] = E + i O and Z[m-k] = conj(E) + i conj(O) from X[k], X[m-k]; parts exchanged.
INLINE void merge_pairs(struct pair a, struct pair b, struct pair w, struct pair *low,
                        struct pair *high)
{
    const V er = ADD(a.re, b.re), ei = SUB(a.im, b.im);
    const V dr = SUB(a.re, b.re), di = ADD(a.im, b.im);
    const V or = FMA(di, w.im, MUL(dr, w.re)), oi = FNMA(dr, w.im, MUL(di, w.re));
    *low = (struct pair){ ADD(ei, or), SUB(er, oi) };
    *high = (struct pair){ SUB(or, ei), ADD(er, oi) };
}

#endif
