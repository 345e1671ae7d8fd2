// SPDX-License-Identifier: MIT
// Vectors for one SIMD level and one precision: this folder is compiled once for each pair.
// R is the real type, V a vector of LANES of them.
#ifndef KAL_DEVICE_CPU_SIMD_SIMD_H_
#define KAL_DEVICE_CPU_SIMD_SIMD_H_

#include "device/cpu/kernels.h"

#include <stddef.h>
#include <stdint.h>

#if defined KAL_SIMD_SSE2 || defined KAL_SIMD_AVX2 || defined KAL_SIMD_AVX512
#include <immintrin.h>
#elif defined KAL_SIMD_NEON
#include <arm_neon.h>
#endif

#if defined KAL_SIMD_F32
typedef float R;
#else
typedef double R;
#endif

#if defined KAL_SIMD_AVX512
#define REGISTER_BYTES 64
#elif defined KAL_SIMD_AVX2
#define REGISTER_BYTES 32
#elif defined KAL_SIMD_SSE2 || defined KAL_SIMD_NEON
#define REGISTER_BYTES 16
#endif

#if defined KAL_SIMD_SCALAR
#define LANES 1
typedef R V;
typedef R V_UNALIGNED;
#elif defined KAL_SIMD_F32
#define LANES (REGISTER_BYTES / 4)
#else
#define LANES (REGISTER_BYTES / 8)
#endif

#if !defined KAL_SIMD_SCALAR
typedef R V __attribute__((vector_size(REGISTER_BYTES)));
typedef R V_UNALIGNED __attribute__((vector_size(REGISTER_BYTES), aligned(sizeof(R))));
#endif

#define INLINE CPU_INLINE

// A codelet, and one that multiplies by twiddle factors, as parameters of loops that are
// inlined where they are constants.
typedef void codelet_function(const R *xr, const R *xi, ptrdiff_t xs, R *yr, R *yi,
                              ptrdiff_t ys);
typedef void twiddle_function(const R *xr, const R *xi, ptrdiff_t xs, R *yr, R *yi,
                              ptrdiff_t ys, const R *w);

// Of what keeps its values in registers if no loop is around it.
#define APART static __attribute__((noinline))

// GCC calls codelets that two functions have; first steps take up to a tenth longer so.
#define FLAT static __attribute__((flatten))

#define LOAD(pointer)         (*(const V_UNALIGNED *)(pointer))
#define STORE(pointer, value) (*(V_UNALIGNED *)(pointer) = (value))
#define ADD(a, b)             ((a) + (b))
#define SUB(a, b)             ((a) - (b))
#define MUL(a, b)             ((a) * (b))
#define NEG(a)                (-(a))
#define CONSTANT(literal)     BROADCAST((R)(literal))

#if defined KAL_SIMD_SCALAR
#define BROADCAST(scalar) (scalar)
#else
// x - 0 is x, and no instruction; 0 + x is one, as -0 becomes 0.
#define BROADCAST(scalar) ((scalar) - (V){ 0 })
#endif

// STREAM stores past the caches, at multiples of a register's bytes.
#if defined KAL_SIMD_AVX512 && defined KAL_SIMD_F32
#define STREAM(pointer, value) _mm512_stream_ps((pointer), (value))
#elif defined KAL_SIMD_AVX512
#define STREAM(pointer, value) _mm512_stream_pd((pointer), (value))
#elif defined KAL_SIMD_AVX2 && defined KAL_SIMD_F32
#define STREAM(pointer, value) _mm256_stream_ps((pointer), (value))
#elif defined KAL_SIMD_AVX2
#define STREAM(pointer, value) _mm256_stream_pd((pointer), (value))
#elif defined KAL_SIMD_SSE2 && defined KAL_SIMD_F32
#define STREAM(pointer, value) _mm_stream_ps((pointer), (value))
#elif defined KAL_SIMD_SSE2
#define STREAM(pointer, value) _mm_stream_pd((pointer), (value))
#else
#define STREAM(pointer, value) STORE(pointer, value)
#endif

// FMA(a, b, c) = a b + c, FMS = a b - c, FNMA = c - a b. Scalar code and SSE2 have no fused
// operations: libm's would be slow, and the compiler's would change results by processor. Those
// of processors with AVX2 have them: KAL_SIMD_FUSED.
#if defined KAL_SIMD_AVX512 && defined KAL_SIMD_F32
#define FMA(a, b, c)  ((V)_mm512_fmadd_ps((a), (b), (c)))
#define FMS(a, b, c)  ((V)_mm512_fmsub_ps((a), (b), (c)))
#define FNMA(a, b, c) ((V)_mm512_fnmadd_ps((a), (b), (c)))
#elif defined KAL_SIMD_AVX512
#define FMA(a, b, c)  ((V)_mm512_fmadd_pd((a), (b), (c)))
#define FMS(a, b, c)  ((V)_mm512_fmsub_pd((a), (b), (c)))
#define FNMA(a, b, c) ((V)_mm512_fnmadd_pd((a), (b), (c)))
#elif defined KAL_SIMD_AVX2 && defined KAL_SIMD_F32
#define FMA(a, b, c)  ((V)_mm256_fmadd_ps((a), (b), (c)))
#define FMS(a, b, c)  ((V)_mm256_fmsub_ps((a), (b), (c)))
#define FNMA(a, b, c) ((V)_mm256_fnmadd_ps((a), (b), (c)))
#elif defined KAL_SIMD_AVX2
#define FMA(a, b, c)  ((V)_mm256_fmadd_pd((a), (b), (c)))
#define FMS(a, b, c)  ((V)_mm256_fmsub_pd((a), (b), (c)))
#define FNMA(a, b, c) ((V)_mm256_fnmadd_pd((a), (b), (c)))
#elif defined KAL_SIMD_SSE2 && defined KAL_SIMD_FUSED && defined KAL_SIMD_F32
#define FMA(a, b, c)  ((V)_mm_fmadd_ps((a), (b), (c)))
#define FMS(a, b, c)  ((V)_mm_fmsub_ps((a), (b), (c)))
#define FNMA(a, b, c) ((V)_mm_fnmadd_ps((a), (b), (c)))
#elif defined KAL_SIMD_SSE2 && defined KAL_SIMD_FUSED
#define FMA(a, b, c)  ((V)_mm_fmadd_pd((a), (b), (c)))
#define FMS(a, b, c)  ((V)_mm_fmsub_pd((a), (b), (c)))
#define FNMA(a, b, c) ((V)_mm_fnmadd_pd((a), (b), (c)))
#elif defined KAL_SIMD_NEON && defined KAL_SIMD_F32
#define FMA(a, b, c)  ((V)vfmaq_f32((c), (a), (b)))
#define FMS(a, b, c)  (-(V)vfmsq_f32((c), (a), (b)))
#define FNMA(a, b, c) ((V)vfmsq_f32((c), (a), (b)))
#elif defined KAL_SIMD_NEON
#define FMA(a, b, c)  ((V)vfmaq_f64((c), (a), (b)))
#define FMS(a, b, c)  (-(V)vfmsq_f64((c), (a), (b)))
#define FNMA(a, b, c) ((V)vfmsq_f64((c), (a), (b)))
#elif defined KAL_SIMD_FUSED && defined KAL_SIMD_F32
#define FMA(a, b, c)  __builtin_fmaf((a), (b), (c))
#define FMS(a, b, c)  __builtin_fmaf((a), (b), -(c))
#define FNMA(a, b, c) __builtin_fmaf(-(a), (b), (c))
#elif defined KAL_SIMD_FUSED
#define FMA(a, b, c)  __builtin_fma((a), (b), (c))
#define FMS(a, b, c)  __builtin_fma((a), (b), -(c))
#define FNMA(a, b, c) __builtin_fma(-(a), (b), (c))
#else
#define FMA(a, b, c)  ((a) * (b) + (c))
#define FMS(a, b, c)  ((a) * (b) - (c))
#define FNMA(a, b, c) ((c) - (a) * (b))
#endif

// The first `count` lanes alone are touched in memory; others load as zero. A count may be
// negative, or above LANES.
#if defined KAL_SIMD_AVX512
static inline unsigned part_mask(int count)
{
    return count >= LANES ? (1u << LANES) - 1 : count <= 0 ? 0 : (1u << count) - 1;
}
#if defined KAL_SIMD_F32
#define LOAD_PART(pointer, count) \
    ((V)_mm512_maskz_loadu_ps((__mmask16)part_mask(count), (pointer)))
#define STORE_PART(pointer, value, count) \
    _mm512_mask_storeu_ps((pointer), (__mmask16)part_mask(count), (value))
#else
#define LOAD_PART(pointer, count) \
    ((V)_mm512_maskz_loadu_pd((__mmask8)part_mask(count), (pointer)))
#define STORE_PART(pointer, value, count) \
    _mm512_mask_storeu_pd((pointer), (__mmask8)part_mask(count), (value))
#endif
#elif defined KAL_SIMD_AVX2
static inline __m256i part_mask(int count)
{
    static const int32_t word[16] = { -1, -1, -1, -1, -1, -1, -1, -1 };
    const int words = (count <= 0 ? 0 : count >= LANES ? LANES : count) * (8 / LANES);
    return _mm256_loadu_si256((const __m256i *)(word + 8 - words));
}
#if defined KAL_SIMD_F32
#define LOAD_PART(pointer, count) ((V)_mm256_maskload_ps((pointer), part_mask(count)))
#define STORE_PART(pointer, value, count) \
    _mm256_maskstore_ps((pointer), part_mask(count), (value))
#else
#define LOAD_PART(pointer, count) ((V)_mm256_maskload_pd((pointer), part_mask(count)))
#define STORE_PART(pointer, value, count) \
    _mm256_maskstore_pd((pointer), part_mask(count), (value))
#endif
#else
static inline V load_part(const R *pointer, int count)
{
    if (count >= LANES)
        return LOAD(pointer);
    R part[LANES] = { 0 };
    for (int i = 0; i < count; i++)
        part[i] = pointer[i];
    return LOAD(part);
}
static inline void store_part(R *pointer, V value, int count)
{
    if (count >= LANES) {
        STORE(pointer, value);
        return;
    }
    R part[LANES];
    STORE(part, value);
    for (int i = 0; i < count; i++)
        pointer[i] = part[i];
}
#define LOAD_PART(pointer, count)         load_part((pointer), (count))
#define STORE_PART(pointer, value, count) store_part((pointer), (value), (count))
#endif

// SHUFFLE(a, b, F, h): lane j is F(h, j) of the lanes of a followed by those of b.
#if LANES == 2
#define SHUFFLE(a, b, F, h) __builtin_shufflevector(a, b, F(h, 0), F(h, 1))
#elif LANES == 4
#define SHUFFLE(a, b, F, h) \
    __builtin_shufflevector(a, b, F(h, 0), F(h, 1), F(h, 2), F(h, 3))
#elif LANES == 8
#define SHUFFLE(a, b, F, h)                                                             \
    __builtin_shufflevector(a, b, F(h, 0), F(h, 1), F(h, 2), F(h, 3), F(h, 4), F(h, 5), \
                            F(h, 6), F(h, 7))
#elif LANES == 16
#define SHUFFLE(a, b, F, h)                                                             \
    __builtin_shufflevector(a, b, F(h, 0), F(h, 1), F(h, 2), F(h, 3), F(h, 4), F(h, 5), \
                            F(h, 6), F(h, 7), F(h, 8), F(h, 9), F(h, 10), F(h, 11),     \
                            F(h, 12), F(h, 13), F(h, 14), F(h, 15))
#endif

// The codelets of complex numbers, from lengths 8, 4 and 2 on.
// clang-format off
#define RADICES_FROM_8(X) \
    X(8) X(9) X(10) X(11) X(12) X(13) X(14) X(15) X(16) X(17) X(19) X(20) X(23) X(24) \
    X(25) X(27) X(29) X(31) X(32)
#define RADICES_FROM_4(X) X(4) X(5) X(6) X(7) RADICES_FROM_8(X)
#define RADICES_FROM_2(X) X(2) X(3) RADICES_FROM_4(X)
// Products of two of them, whose codelets are for numbers alone, with fused operations.
#define PRODUCTS(X) \
    X(18) X(21) X(22) X(26) X(28) X(30) X(33) X(35) X(36) X(39) X(40) X(42) X(44) X(45) \
    X(48) X(49) X(50) X(52) X(54) X(55) X(56) X(60) X(63)
// clang-format on

// Ask for a line of memory to come, or for two that hold a vector of complex numbers.
#define ASK(pointer) __builtin_prefetch((pointer), 0, 2)
// The same for what comes next, into the nearest cache.
#define ASK_NEAR(pointer) __builtin_prefetch((pointer), 0, 3)
#define ASK_PAIR(pointer)           \
    do {                            \
        ASK(pointer);               \
        if (REGISTER_BYTES == 64)   \
            ASK((pointer) + LANES); \
    } while (0)

// Ask for so many reals of memory, some way behind those that begin there.
INLINE void ask_behind(const void *pointer, int64_t reals)
{
    enum { LINE_BYTES_ASKED = 64, AHEAD_BYTES_ASKED = 2048 };
    const char *from = (const char *)pointer + AHEAD_BYTES_ASKED;
    for (int64_t i = 0; i < reals * (int64_t)sizeof(R); i += LINE_BYTES_ASKED)
        ASK_NEAR(from + i);
}

#define JOIN_(a, b) a##b
#define JOIN(a, b)  JOIN_(a, b)
#define TEXT_(a)    #a
#define TEXT(a)     TEXT_(a)

// SSE2 is what every x86-64 processor has; those with fused operations have wider registers, too.
#if (defined KAL_SIMD_SCALAR || defined KAL_SIMD_SSE2) && !defined KAL_SIMD_FUSED
#define HAS_FMA      0
#define CODELETS     "codelets_plain.h"
#define R2C_CODELETS "codelets_plain_r2c.h"
#define C2R_CODELETS "codelets_plain_c2r.h"
#else
#define HAS_FMA      1
#define CODELETS     "codelets_fma.h"
#define R2C_CODELETS "codelets_fma_r2c.h"
#define C2R_CODELETS "codelets_fma_c2r.h"
#endif

#endif
