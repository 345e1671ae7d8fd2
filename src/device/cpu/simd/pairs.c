// SPDX-License-Identifier: MIT
// Steps of one line of interleaved numbers, each of which is a register.
#include "device/cpu/kernels.h"

#include "device/cpu/simd/simd.h"

#if LANES > 1

// A number in a register, P, whose upper half means nothing where it would hold four reals; and in
// memory, N.
#if defined KAL_SIMD_NEON && defined KAL_SIMD_F32
#define PAIR_BYTES 8
#else
#define PAIR_BYTES 16
#endif
typedef R P __attribute__((vector_size(PAIR_BYTES)));
#define NUMBERS_BYTES PAIR_BYTES

#undef LOAD
#undef STORE
#undef FMA
#undef FMS
#undef FNMA
#undef BROADCAST
#define V                 P
#define BROADCAST(scalar) ((scalar) - (P){ 0 })

typedef R N __attribute__((vector_size(2 * sizeof(R)), aligned(sizeof(R)), may_alias));
#if PAIR_BYTES == 16 && defined KAL_SIMD_F32
#define LOAD(pointer) \
    __builtin_shufflevector(*(const N *)(pointer), *(const N *)(pointer), 0, 1, -1, -1)
#define STORE(pointer, value) \
    (*(N *)(pointer) = __builtin_shufflevector(value, value, 0, 1))
#define EXCHANGED(a) __builtin_shufflevector(a, a, 1, 0, 2, 3)
#else
#define LOAD(pointer)         (*(const N *)(pointer))
#define STORE(pointer, value) (*(N *)(pointer) = (value))
#define EXCHANGED(a)          __builtin_shufflevector(a, a, 1, 0)
#endif

#if (defined KAL_SIMD_AVX2 || defined KAL_SIMD_AVX512) && defined KAL_SIMD_F32
#define FMA(a, b, c)  ((P)_mm_fmadd_ps((a), (b), (c)))
#define FMS(a, b, c)  ((P)_mm_fmsub_ps((a), (b), (c)))
#define FNMA(a, b, c) ((P)_mm_fnmadd_ps((a), (b), (c)))
#elif defined KAL_SIMD_AVX2 || defined KAL_SIMD_AVX512
#define FMA(a, b, c)  ((P)_mm_fmadd_pd((a), (b), (c)))
#define FMS(a, b, c)  ((P)_mm_fmsub_pd((a), (b), (c)))
#define FNMA(a, b, c) ((P)_mm_fnmadd_pd((a), (b), (c)))
#elif defined KAL_SIMD_NEON && defined KAL_SIMD_F32
#define FMA(a, b, c)  ((P)vfma_f32((c), (a), (b)))
#define FMS(a, b, c)  (-(P)vfms_f32((c), (a), (b)))
#define FNMA(a, b, c) ((P)vfms_f32((c), (a), (b)))
#elif defined KAL_SIMD_NEON
#define FMA(a, b, c)  ((P)vfmaq_f64((c), (a), (b)))
#define FMS(a, b, c)  (-(P)vfmsq_f64((c), (a), (b)))
#define FNMA(a, b, c) ((P)vfmsq_f64((c), (a), (b)))
#else
#define FMA(a, b, c)  ((a) * (b) + (c))
#define FMS(a, b, c)  ((a) * (b) - (c))
#define FNMA(a, b, c) ((c) - (a) * (b))
#endif

#include "device/cpu/simd/numbers.h"

#define STORE_NUMBER(pointer, value, k) STORE(pointer, value)
#define CODELET_R2C(n)                  plain_##n
#include R2C_CODELETS
#undef CODELET_R2C
#define CODELET_R2C(n) whole_##n
#include R2C_CODELETS
#undef CODELET_R2C
#undef STORE_NUMBER

#define STORE_NUMBER(pointer, value, k) STORE(pointer, TIMES_SHARED_FACTOR(value, k))
#define CODELET_R2C(n)                  twiddled_##n
#include R2C_CODELETS

#define STEP(r)                                                                     \
    static void step_##r(const struct cpu_vectors *x, const struct cpu_vectors *y,  \
                         int64_t m, int64_t s, const void *roots)                   \
    {                                                                               \
        const bool is_exchanged = x->im < x->re;                                    \
        const R *w = roots, *from = is_exchanged ? x->im : x->re;                   \
        R *to = is_exchanged ? y->im : y->re;                                       \
        const ptrdiff_t xs = x->stride, ys = y->stride;                             \
        const R *parts = part_signs.reals + is_exchanged;                           \
        for (int64_t q = 0; q < s; q++)                                             \
            plain_##r(from + q * xs, NULL, 2 * s * m * xs, to + q * ys, (R *)parts, \
                      s * ys);                                                      \
        for (int64_t p = 1; p < m; p++, w += 2 * ((r)-1)) {                         \
            for (int64_t q = 0; q < s; q++)                                         \
                twiddled_##r(from + (q + s * p) * xs, w, 2 * s * m * xs,            \
                             to + (q + s * (r)*p) * ys, (R *)parts, s * ys);        \
        }                                                                           \
    }

RADICES_FROM_2(STEP)

#define WHOLE(r)                                                                       \
    static void all_##r(const struct cpu_vectors *x, const struct cpu_vectors *y,      \
                        int64_t m, int64_t s, const void *roots)                       \
    {                                                                                  \
        const bool is_exchanged = x->im < x->re;                                       \
        const R *parts = part_signs.reals + is_exchanged;                              \
        (void)m;                                                                       \
        (void)s;                                                                       \
        (void)roots;                                                                   \
        whole_##r(is_exchanged ? x->im : x->re, NULL, 4, is_exchanged ? y->im : y->re, \
                  (R *)parts, 2);                                                      \
    }

RADICES_FROM_2(WHOLE)

#define STEP_ENTRY(r)  [r] = step_##r,
#define WHOLE_ENTRY(r) [r] = all_##r,

extern const struct cpu_pair_kernels JOIN(kal_cpu_pairs_, KAL_SIMD_SUFFIX);

const struct cpu_pair_kernels JOIN(kal_cpu_pairs_, KAL_SIMD_SUFFIX) = {
    .step = { RADICES_FROM_2(STEP_ENTRY) },
    .whole = { RADICES_FROM_2(WHOLE_ENTRY) },
};

#endif
