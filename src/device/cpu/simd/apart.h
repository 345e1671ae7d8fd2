// SPDX-License-Identifier: MIT
// Registers of elements that lie apart in memory: of reals, or of pairs of them that are
// neighbours.
#ifndef KAL_DEVICE_CPU_SIMD_APART_H_
#define KAL_DEVICE_CPU_SIMD_APART_H_

#include "device/cpu/simd/simd.h"

#define OF_1(e)  e(0)
#define OF_2(e)  OF_1(e), e(1)
#define OF_4(e)  OF_2(e), e(2), e(3)
#define OF_8(e)  OF_4(e), e(4), e(5), e(6), e(7)
#define OF_16(e) OF_8(e), e(8), e(9), e(10), e(11), e(12), e(13), e(14), e(15)
#if LANES == 2
#define OF_LANES OF_2
#define OF_HALF  OF_1
#elif LANES == 4
#define OF_LANES OF_4
#define OF_HALF  OF_2
#elif LANES == 8
#define OF_LANES OF_8
#define OF_HALF  OF_4
#elif LANES == 16
#define OF_LANES OF_16
#define OF_HALF  OF_8
#endif

INLINE V collect_reals(const R *from, int64_t stride)
{
#define REAL(k) from[(k)*stride]
    return (V){ OF_LANES(REAL) };
#undef REAL
}

INLINE void spread_reals(R *to, int64_t stride, V v)
{
    for (int k = 0; k < LANES; k++)
        to[k * stride] = v[k];
}

#if defined KAL_SIMD_F32 // a pair is moved as one number
typedef int64_t V_PAIRS __attribute__((vector_size(REGISTER_BYTES)));
typedef int64_t IN_MEMORY __attribute__((may_alias, aligned(sizeof(R))));

INLINE V collect_pairs(const R *from, int64_t stride)
{
#define NUMBER(k) *(const IN_MEMORY *)(from + (k)*stride)
    return (V)(V_PAIRS){ OF_HALF(NUMBER) };
#undef NUMBER
}

INLINE void spread_pairs(R *to, int64_t stride, V v)
{
    const V_PAIRS pairs = (V_PAIRS)v;
    for (int k = 0; k < LANES / 2; k++)
        *(IN_MEMORY *)(to + k * stride) = pairs[k];
}
#else // a pair fills 16 bytes
typedef R V_PAIR __attribute__((vector_size(16)));
typedef R PAIR_IN_MEMORY __attribute__((vector_size(16), aligned(sizeof(R))));

INLINE V collect_pairs(const R *from, int64_t stride)
{
#define NUMBER(k)   (*(const PAIR_IN_MEMORY *)(from + (k)*stride))
#define JOIN_TWO(k) __builtin_shufflevector(NUMBER(k), NUMBER((k) + 1), 0, 1, 2, 3)
#if LANES == 2
    return (V)NUMBER(0);
#elif LANES == 4
    return (V)JOIN_TWO(0);
#else
    return (V)__builtin_shufflevector(JOIN_TWO(0), JOIN_TWO(2), 0, 1, 2, 3, 4, 5, 6, 7);
#endif
#undef JOIN_TWO
#undef NUMBER
}

INLINE void spread_pairs(R *to, int64_t stride, V v)
{
    for (int k = 0; k < LANES / 2; k++)
        *(PAIR_IN_MEMORY *)(to + k * stride) = (V_PAIR){ v[2 * k], v[2 * k + 1] };
}
#endif

INLINE V collect_neighbours(const R *from, int64_t stride)
{
    (void)stride;
    return LOAD(from);
}

INLINE void spread_neighbours(R *to, int64_t stride, V v)
{
    (void)stride;
    STORE(to, v);
}

#endif
