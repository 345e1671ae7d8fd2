// SPDX-License-Identifier: MIT
// Short lines of contiguous numbers, a codelet each: LANES of them are turned in registers on
// their way to it and back, without a tile between.
#include "device/cpu/kernels.h"

#include "device/cpu/simd/interleaved.h"

#if LANES > 1
#include CODELETS
#include "device/cpu/simd/turn.h"

// Lines as long as a register at least.
#if defined IS_SCALED && REGISTER_BYTES == 64
#define RADICES(X) // those of 32 bytes are as fast, and longer ones few
#elif defined IS_SCALED && defined KAL_SIMD_SSE2
#define RADICES(X) X(2) X(3) X(4) X(5) X(6)
#elif LANES <= 4
#define RADICES RADICES_FROM_2
#elif LANES <= 8
#define RADICES RADICES_FROM_4
#else
#define RADICES RADICES_FROM_8
#endif

#define WORK(r, flip)                                                             \
    static inline void work_##r##_##flip(const struct lines *l, bool is_streamed) \
    {                                                                             \
        enum { REALS = 2 * (r) };                                                 \
        _Alignas(REGISTER_BYTES) R t[REALS * LANES], u[REALS * LANES];            \
        turn_in(t, l, REALS, flip);                                               \
        dft_##r(t, t + LANES, PAIR, u, u + LANES, PAIR);                          \
        leave(u, t, l, REALS, flip, is_streamed);                                 \
    }

#define SHORT(r)                                                                    \
    WORK(r, 0)                                                                      \
    WORK(r, 1)                                                                      \
    static void short_##r(const struct cpu_vectors *x, const struct cpu_vectors *y, \
                          int64_t groups, double scale, bool is_streamed)           \
    {                                                                               \
        enum { GROUP_BYTES = (r)*PAIR * (int)sizeof(R) };                           \
        const int64_t ahead = (AHEAD_BYTES + GROUP_BYTES - 1) / GROUP_BYTES;        \
        const bool is_input_far = x->ahead;                                         \
        const bool is_output_far = y->ahead;                                        \
        const R *xr = x->re, *xi = x->im;                                           \
        R *yr = y->re, *yi = y->im;                                                 \
        const bool is_exchanged = xi < xr;                                          \
        struct lines l = { LEADING(xr, xi), LEADING(yr, yi), x->stride, y->stride,  \
                           (R)scale };                                              \
        for (int64_t i = 0; i < groups; i++) {                                      \
            if (is_input_far)                                                       \
                ask_for(&l, ahead, 2 * (r), 2 * (r), is_output_far);                \
            if (is_exchanged)                                                       \
                work_##r##_1(&l, is_streamed);                                      \
            else                                                                    \
                work_##r##_0(&l, is_streamed);                                      \
            l.from += LANES * l.from_step;                                          \
            l.to += LANES * l.to_step;                                              \
        }                                                                           \
    }

RADICES(SHORT)

#define ENTRY(r) [r] = short_##r,

#if defined IS_SCALED
#define TABLE JOIN(kal_cpu_short_scaled_, KAL_SIMD_SUFFIX)
#else
#define TABLE JOIN(kal_cpu_short_, KAL_SIMD_SUFFIX)
#endif

extern cpu_short *const TABLE[CPU_MAX_RADIX + 1];

cpu_short *const TABLE[CPU_MAX_RADIX + 1] = { RADICES(ENTRY) };

#endif
