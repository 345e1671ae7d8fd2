// SPDX-License-Identifier: MIT
// Small planes, both axes in one function: rows and columns are whole codelets, and what is
// between them stays near the registers. All of a plane has been read before any of it is
// written.
#include "device/cpu/kernels.h"

#include "codelet/planes.h"
#include "device/cpu/simd/simd.h"

#if LANES > 2
#include "device/cpu/simd/blocks.h"

#define STORE_NUMBER(pointer, value, k) STORE(pointer, value)
#define CODELET_R2C(n)                  plain_##n
#include R2C_CODELETS
#undef CODELET_R2C
#undef LOAD_PAIR // those of reals have their own
#undef STORE_COEFFICIENT
#undef STORE_REAL

#include "device/cpu/simd/real_codelets.h"
#include "device/cpu/simd/turn.h"

#define PARAMETERS                                                                  \
    const struct cpu_vectors *x, const struct cpu_vectors *y, int64_t m, int64_t s, \
        int64_t lines, const void *roots
#define ONLY_PLACES() ((void)m, (void)s, (void)lines, (void)roots)

#if LANES > 8
#define PLANES(X) KAL_PLANES_OF_8(X) KAL_LONG_PLANES(X)
#elif REGISTER_BYTES > 32
#define PLANES(X) KAL_PLANES_OF_4(X) KAL_PLANES_OF_8(X) KAL_LONG_PLANES(X)
#elif LANES > 4
#define PLANES(X) KAL_PLANES_OF_4(X) KAL_PLANES_OF_8(X) KAL_PLANES_FROM_4(X)
#else
#define PLANES(X)      \
    KAL_PLANES_OF_4(X) \
    KAL_PLANES_OF_8(X) KAL_PLANES_FROM_4(X) KAL_PLANES_FROM_2(X)
#endif

// A plane of a rows of b numbers: its columns, turned to where its rows are columns, and
// these, turned back.
#define PLANE(a, b)                                                                      \
    FLAT void plane_##a##_##b(PARAMETERS)                                                \
    {                                                                                    \
        enum { BLOCKS = ((a) + NUMBERS - 1) / NUMBERS, LONGER = (a) > (b) ? (a) : (b) }; \
        _Alignas(REGISTER_BYTES) R t[LONGER * LANES], turned[BLOCKS][(b)*LANES];         \
        const bool is_exchanged = x->im < x->re;                                         \
        const R *from = is_exchanged ? x->im : x->re;                                    \
        R *to = is_exchanged ? y->im : y->re;                                            \
        const R *parts = part_signs.reals + is_exchanged;                                \
        ONLY_PLACES();                                                                   \
        for (int64_t p = 0;; p = next_group(p, b)) {                                     \
            plain_##a(from + 2 * p, NULL, 4 * (b), t, (R *)parts, LANES);                \
            turn_blocks(t, turned[0] + p * LANES, a, (b)*LANES);                         \
            if (p == (b)-NUMBERS)                                                        \
                break;                                                                   \
        }                                                                                \
        for (int k = 0; k < BLOCKS; k++) {                                               \
            plain_##b(turned[k], NULL, 2 * LANES, t, (R *)parts, LANES);                 \
            turn_numbers(t, to + 2 * (b)*BEGIN_BLOCK(k * NUMBERS, a), b);                \
        }                                                                                \
    }

PLANES(PLANE)

#if LANES > 8
#define REAL_PLANES(X) KAL_REAL_PLANES_FROM_16(X)
#elif LANES > 4
#define REAL_PLANES(X) KAL_REAL_PLANES_FROM_8(X) KAL_REAL_PLANES_FROM_16(X)
#else
#define REAL_PLANES(X) \
    KAL_REAL_PLANES_FROM_4(X) KAL_REAL_PLANES_FROM_8(X) KAL_REAL_PLANES_FROM_16(X)
#endif

// Reals of the coefficients of n reals.
#define COEFFICIENTS(n) (2 * ((n) / 2 + 1))
#define FULL(n)         (((n) + LANES - 1) / LANES) // registers of n reals

// Of `count` registers LANES at once: register i, lane j becomes register j, lane i. Those of
// one turn are one behind the other, and `pitch` reals before those of the next.
INLINE void turn_registers(const R *t, R *to, int count, int64_t pitch)
{
    V v[LANES];

#pragma GCC unroll 16
    for (int at = 0; at >= 0; at = next_block(at, count, LANES), to += pitch) {
        for (int i = 0; i < LANES; i++)
            v[i] = LOAD(t + LANES * (at + i));
        transpose(v);
        for (int j = 0; j < LANES; j++)
            STORE(to + j * LANES, v[j]);
    }
}

// Rows of reals, LANES at once, turned to where a row of a block is a register; and the
// columns of their coefficients.
#define R2C_PLANE(a, b)                                                           \
    FLAT void plane_r2c_##a##_##b(PARAMETERS)                                     \
    {                                                                             \
        enum { REALS = COEFFICIENTS(b) };                                         \
        _Alignas(REGISTER_BYTES) R t[REALS * LANES], u[REALS * LANES],            \
            turned[FULL(REALS)][(a)*LANES];                                       \
        struct lines rows = { .from_step = x->stride };                           \
        R *to = y->re;                                                            \
        ONLY_PLACES();                                                            \
        for (int i = 0; i >= 0; i = next_block(i, a, LANES)) {                    \
            rows.from = (const R *)x->re + i * x->stride;                         \
            turn_in(t, &rows, b);                                                 \
            real_r2c_##b(t, t + LANES, PAIR, u, u + LANES, PAIR);                 \
            turn_registers(u, turned[0] + i * LANES, REALS, (a)*LANES);           \
        }                                                                         \
        for (int k = 0, at = 0; at >= 0; k++, at = next_block(at, REALS, LANES))  \
            plain_##a(turned[k], NULL, 2 * LANES, to + at, (R *)part_signs.reals, \
                      REALS);                                                     \
    }

// The columns of coefficients, and their rows, LANES at once.
#define C2R_PLANE(a, b)                                                                 \
    FLAT void plane_c2r_##a##_##b(PARAMETERS)                                           \
    {                                                                                   \
        enum { REALS = COEFFICIENTS(b) };                                               \
        _Alignas(REGISTER_BYTES) R t[((a) > (b) ? (a) : (b)) * LANES],                  \
            turned[FULL(a)][REALS * LANES];                                             \
        const R *from = x->re;                                                          \
        struct lines rows = { .to_step = y->stride };                                   \
        ONLY_PLACES();                                                                  \
        for (int at = 0; at >= 0; at = next_block(at, REALS, LANES)) {                  \
            plain_##a(from + at, NULL, 2 * REALS, t, (R *)part_signs.reals + 1, LANES); \
            turn_registers(t, turned[0] + at * LANES, a, REALS * LANES);                \
        }                                                                               \
        for (int k = 0, i = 0; i >= 0; k++, i = next_block(i, a, LANES)) {              \
            real_c2r_##b(turned[k], turned[k] + LANES, PAIR, t, t + LANES, PAIR);       \
            turn_out(t, &rows, (R *)y->re + i * y->stride, rows.to_step, b);            \
        }                                                                               \
    }

REAL_PLANES(R2C_PLANE)
REAL_PLANES(C2R_PLANE)

#define C2C_ENTRY(a, b) { a, b, plane_##a##_##b },
#define R2C_ENTRY(a, b) { a, b, plane_r2c_##a##_##b },
#define C2R_ENTRY(a, b) { a, b, plane_c2r_##a##_##b },

static const struct cpu_plane c2c_planes[] = { PLANES(C2C_ENTRY){ 0 } };
static const struct cpu_plane r2c_planes[] = { REAL_PLANES(R2C_ENTRY){ 0 } };
static const struct cpu_plane c2r_planes[] = { REAL_PLANES(C2R_ENTRY){ 0 } };

extern const struct cpu_plane_kernels JOIN(kal_cpu_planes_, KAL_SIMD_SUFFIX);

const struct cpu_plane_kernels JOIN(kal_cpu_planes_, KAL_SIMD_SUFFIX) = {
    .c2c = c2c_planes,
    .r2c = r2c_planes,
    .c2r = c2r_planes,
};

#endif
