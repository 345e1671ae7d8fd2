// SPDX-License-Identifier: MIT
// Short lines of contiguous numbers, a codelet each: LANES of them are turned in registers on
// their way to it and back, without a tile between.
#include "device/cpu/kernels.h"

#include "device/cpu/simd/interleaved.h"

#if LANES > 1
#include CODELETS
#include "device/cpu/simd/turn.h"

// Lines as long as a register at least.
// clang-format off
#if LANES <= 4
#define RADICES_FROM_2(X) X(2) X(3)
#else
#define RADICES_FROM_2(X)
#endif
#if LANES <= 8
#define RADICES_FROM_4(X) X(4) X(5) X(6) X(7)
#else
#define RADICES_FROM_4(X)
#endif
#define RADICES(X) \
    RADICES_FROM_2(X) RADICES_FROM_4(X) \
    X(8) X(9) X(10) X(11) X(12) X(13) X(14) X(15) X(16) X(17) X(19) X(20) X(23) X(24) \
    X(25) X(27) X(29) X(31) X(32)
// clang-format on

#define WORK(r, flip)                                                             \
    static inline void work_##r##_##flip(const struct lines *l, bool is_streamed) \
    {                                                                             \
        enum { REALS = 2 * (r) };                                                 \
        _Alignas(REGISTER_BYTES) R t[REALS * LANES], u[REALS * LANES];            \
        turn_in(t, l, REALS, flip);                                               \
        dft_##r(t, t + LANES, PAIR, u, u + LANES, PAIR);                          \
        leave(u, t, l, REALS, flip, is_streamed);                                 \
    }

#define SHORT(r)                                                                     \
    WORK(r, 0)                                                                       \
    WORK(r, 1)                                                                       \
    static void short_##r(const struct cpu_vectors *x, const struct cpu_vectors *y,  \
                          int64_t groups, bool is_streamed)                          \
    {                                                                                \
        enum { GROUP_BYTES = (r)*PAIR * (int)sizeof(R) };                            \
        const int64_t ahead = (AHEAD_BYTES + GROUP_BYTES - 1) / GROUP_BYTES;         \
        const R *xr = x->re, *xi = x->im;                                            \
        R *yr = y->re, *yi = y->im;                                                  \
        const bool is_exchanged = xi < xr;                                           \
        struct lines l = { LEADING(xr, xi), LEADING(yr, yi), x->stride, y->stride }; \
        for (int64_t i = 0; i < groups; i++) {                                       \
            if (i + ahead < groups)                                                  \
                ask_for(&l, ahead, 2 * (r), 2 * (r), is_streamed);                   \
            if (is_exchanged)                                                        \
                work_##r##_1(&l, is_streamed);                                       \
            else                                                                     \
                work_##r##_0(&l, is_streamed);                                       \
            l.from += LANES * l.from_step;                                           \
            l.to += LANES * l.to_step;                                               \
        }                                                                            \
    }

RADICES(SHORT)

#define ENTRY(r) [r] = short_##r,

extern cpu_short *const JOIN(kal_cpu_short_, KAL_SIMD_SUFFIX)[CPU_MAX_RADIX + 1];

cpu_short *const JOIN(kal_cpu_short_,
                      KAL_SIMD_SUFFIX)[CPU_MAX_RADIX + 1] = { RADICES(ENTRY) };

#endif
