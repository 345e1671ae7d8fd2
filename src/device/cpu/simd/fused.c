// SPDX-License-Identifier: MIT
// Steps that read or write the user's interleaved arrays, or apply the twiddles between two
// passes, while their values are in registers. The codelets are included once for each way.
#include "device/cpu/kernels.h"

#include "device/cpu/simd/interleaved.h"

#if LANES > 1

// clang-format off
#define RADICES(X) \
    X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12) X(13) X(14) X(15) X(16) \
    X(20) X(24) X(25) X(27) X(32)
// clang-format on

#define PARAMETERS                                                                  \
    const struct cpu_vectors *x, const struct cpu_vectors *y, int64_t m, int64_t s, \
        const void *roots

// Interleaved input: the first step of several, or the only one.
#define LOAD_PAIR          LOAD_INTERLEAVED
#define STORE_PAIR         STORE_VECTORS
#define ROOT_RE(w, k)      BROADCAST((w)[2 * (k)-2])
#define ROOT_IM(w, k)      BROADCAST((w)[2 * (k)-1])
#define CODELET(n)         in_##n
#define CODELET_TWIDDLE(n) in_##n##_twiddle
#include CODELETS

// The r inputs of a codelet, as they will be asked for.
INLINE void ask_for(const struct cpu_vectors *x, ptrdiff_t at, ptrdiff_t step, int r)
{
    const R *re = x->re, *im = x->im;
    const R *to_come = LEADING(re, im) + at + x->ahead;
    for (int j = 0; x->ahead && j < r; j++)
        ASK_PAIR(to_come + j * step);
}

// Codelets p = begin .. end-1 of m.
INLINE void first_steps(int r, codelet_function *codelet, twiddle_function *twiddled,
                        const struct cpu_vectors *x, const struct cpu_vectors *y,
                        int64_t m, int64_t begin, int64_t end, const R *roots)
{
    const R *w = roots + 2 * (r - 1) * (begin > 0 ? begin - 1 : 0);
    const R *xr = x->re, *xi = x->im;
    R *yr = y->re, *yi = y->im;
    const ptrdiff_t xs = x->stride, ys = y->stride;
    int64_t p = begin;

    if (p == 0) {
        ask_for(x, 0, m * xs, r);
        codelet(xr, xi, m * xs, yr, yi, ys);
        p++;
    }
    for (; p < end; p++, w += 2 * (r - 1)) {
        ask_for(x, p * xs, m * xs, r);
        twiddled(xr + p * xs, xi + p * xs, m * xs, yr + r * p * ys, yi + r * p * ys, ys,
                 w);
    }
}

#define STEP_FIRST(name, r)                                                              \
    static void part_##name##_##r(const struct cpu_vectors *x,                           \
                                  const struct cpu_vectors *y, int64_t m, int64_t begin, \
                                  int64_t end, const void *roots)                        \
    {                                                                                    \
        first_steps(r, name##_##r, name##_##r##_twiddle, x, y, m, begin, end, roots);    \
    }                                                                                    \
    static void step_##name##_##r(PARAMETERS)                                            \
    {                                                                                    \
        (void)s;                                                                         \
        part_##name##_##r(x, y, m, 0, m, roots);                                         \
    }
#define STEP_IN(r) STEP_FIRST(in, r)
RADICES(STEP_IN)

// The first step of a line that is folded.
#define STEP_FOLDED(r)                                                                   \
    static void step_folded_##r(PARAMETERS)                                              \
    {                                                                                    \
        const R *w = roots;                                                              \
        const R *xr = x->re, *xi = x->im;                                                \
        R *yr = y->re, *yi = y->im;                                                      \
        const ptrdiff_t xs = x->stride, ys = y->stride;                                  \
        (void)s;                                                                         \
        in_##r(xr, xi, m *xs, yr, yi, m *ys);                                            \
        for (int64_t p = 1; p < m; p++, w += 2 * ((r)-1))                                \
            in_##r##_twiddle(xr + p * xs, xi + p * xs, m * xs, yr + p * ys, yi + p * ys, \
                             m * ys, w);                                                 \
    }
#if LANES == 16
#define FOLDED_RADIX(X) X(16)
#elif LANES == 8
#define FOLDED_RADIX(X) X(8)
#elif LANES == 4
#define FOLDED_RADIX(X) X(4)
#else
#define FOLDED_RADIX(X) X(2)
#endif
FOLDED_RADIX(STEP_FOLDED)

#if REGISTER_BYTES == 64 && LANES == 8
// A radix of two registers: output i + LANES j goes to place j of row i.
struct folded_rows {
    R *to;
    ptrdiff_t row;
};
#define ROWS(yr) ((const struct folded_rows *)(const void *)(yr))
#define STORE_FOLDED(yr, yi, at, re, im)                                              \
    do {                                                                              \
        R *const to_ =                                                                \
            ROWS(yr)->to + (at) % LANES * ROWS(yr)->row + (at) / LANES * (2 * LANES); \
        (void)(yi);                                                                   \
        STORE(to_, re);                                                               \
        STORE(to_ + LANES, im);                                                       \
    } while (0)
#undef STORE_PAIR
#undef CODELET
#undef CODELET_TWIDDLE
#define STORE_PAIR         STORE_FOLDED
#define CODELET(n)         folded_##n
#define CODELET_TWIDDLE(n) folded_##n##_twiddle
#include CODELETS
#undef STORE_PAIR
#define STORE_PAIR STORE_VECTORS

#define STEP_FOLDED_WIDE(r)                                                       \
    static void step_folded_##r(PARAMETERS)                                       \
    {                                                                             \
        enum { WIDTH = (r) / LANES };                                             \
        const R *w = roots;                                                       \
        const R *xr = x->re, *xi = x->im;                                         \
        const ptrdiff_t xs = x->stride, ys = y->stride;                           \
        struct folded_rows rows = { y->re, WIDTH * m * ys };                      \
        R *const to = (void *)&rows;                                              \
        (void)s;                                                                  \
        folded_##r(xr, xi, m *xs, to, to, 1);                                     \
        for (int64_t p = 1; p < m; p++, w += 2 * ((r)-1)) {                       \
            rows.to += WIDTH * ys;                                                \
            folded_##r##_twiddle(xr + p * xs, xi + p * xs, m * xs, to, to, 1, w); \
        }                                                                         \
    }
#define FOLDED_WIDE(X) X(16)
FOLDED_WIDE(STEP_FOLDED_WIDE)
#else
#define FOLDED_WIDE(X)
#endif

#if REGISTER_BYTES == 64
// The same of two lines.
#undef LOAD_PAIR
#undef CODELET
#undef CODELET_TWIDDLE
#define LOAD_PAIR          LOAD_TWINS
#define CODELET(n)         twins_##n
#define CODELET_TWIDDLE(n) twins_##n##_twiddle
#include CODELETS
#define STEP_TWINS(r) STEP_FIRST(twins, r)
RADICES(STEP_TWINS)
#endif

// Interleaved input, output times a tile of roots.
#undef LOAD_PAIR
#undef ROOT_RE
#undef ROOT_IM
#undef CODELET
#undef CODELET_TWIDDLE
#define LOAD_PAIR          LOAD_INTERLEAVED
#define ROOT_RE(w, k)      LOAD((w) + 2 * LANES * (k))
#define ROOT_IM(w, k)      LOAD((w) + 2 * LANES * (k) + LANES)
#define CODELET(n)         in_lanes_unused_##n
#define CODELET_TWIDDLE(n) in_lanes_##n
#include CODELETS

#if REGISTER_BYTES == 64
#undef LOAD_PAIR
#undef CODELET
#undef CODELET_TWIDDLE
#define LOAD_PAIR          LOAD_TWINS
#define CODELET(n)         twins_lanes_unused_##n
#define CODELET_TWIDDLE(n) twins_lanes_##n
#include CODELETS
#endif

// Vectors in, output times a tile of roots.
#undef LOAD_PAIR
#undef CODELET
#undef CODELET_TWIDDLE
#define LOAD_PAIR          LOAD_VECTORS
#define CODELET(n)         lanes_unused_##n
#define CODELET_TWIDDLE(n) lanes_##n
#include CODELETS

#define STEP_LANES(name, r)                                                  \
    static void step_##name##_##r(PARAMETERS)                                \
    {                                                                        \
        (void)m;                                                             \
        (void)s;                                                             \
        ask_for(x, 0, x->stride, r);                                         \
        name##_##r(x->re, x->im, x->stride, y->re, y->im, y->stride, roots); \
    }
#define STEP_BOTH_LANES(r) STEP_LANES(lanes, r) STEP_LANES(in_lanes, r)
RADICES(STEP_BOTH_LANES)
#if REGISTER_BYTES == 64
#define STEP_TWINS_LANES(r) STEP_LANES(twins_lanes, r)
RADICES(STEP_TWINS_LANES)
#endif

// Vectors in, interleaved output: the last step of several.
#undef STORE_PAIR
#undef CODELET
#undef CODELET_TWIDDLE
#define STORE_PAIR         STORE_INTERLEAVED
#define CODELET(n)         out_##n
#define CODELET_TWIDDLE(n) out_unused_##n
#include CODELETS

// The same past the caches.
#undef STORE_PAIR
#undef CODELET
#undef CODELET_TWIDDLE
#define STORE_PAIR         STREAM_INTERLEAVED
#define CODELET(n)         streamed_##n
#define CODELET_TWIDDLE(n) streamed_unused_##n
#include CODELETS

#undef LOAD_PAIR
#undef STORE_PAIR
#undef CODELET
#undef CODELET_TWIDDLE
#define LOAD_PAIR          LOAD_INTERLEAVED
#define STORE_PAIR         STORE_INTERLEAVED
#define CODELET(n)         in_out_##n
#define CODELET_TWIDDLE(n) in_out_unused_##n
#include CODELETS

#define STEP_OUT(name, r)                                                          \
    static void step_##name##_##r(PARAMETERS)                                      \
    {                                                                              \
        const R *xr = x->re, *xi = x->im;                                          \
        R *yr = y->re, *yi = y->im;                                                \
        const ptrdiff_t xs = x->stride, ys = y->stride;                            \
        (void)m;                                                                   \
        (void)roots;                                                               \
        for (int64_t q = 0; q < s; q++) {                                          \
            ask_for(x, q *xs, s *xs, r);                                           \
            name##_##r(xr + q * xs, xi + q * xs, s * xs, yr + q * ys, yi + q * ys, \
                       s * ys);                                                    \
        }                                                                          \
    }
#define STEPS_OUT(r) STEP_OUT(out, r) STEP_OUT(streamed, r) STEP_OUT(in_out, r)
RADICES(STEPS_OUT)

#define FOLDED_ENTRY(r)      [r] = step_folded_##r,
#define IN_ENTRY(r)          [r] = step_in_##r,
#define PART_ENTRY(r)        [r] = part_in_##r,
#define OUT_ENTRY(r)         [r] = step_out_##r,
#define STREAMED_ENTRY(r)    [r] = step_streamed_##r,
#define IN_OUT_ENTRY(r)      [r] = step_in_out_##r,
#define LANES_ENTRY(r)       [r] = step_lanes_##r,
#define IN_LANES_ENTRY(r)    [r] = step_in_lanes_##r,
#define TWINS_ENTRY(r)       [r] = step_twins_##r,
#define TWINS_LANES_ENTRY(r) [r] = step_twins_lanes_##r,

extern const struct cpu_fused JOIN(kal_cpu_fused_, KAL_SIMD_SUFFIX);

const struct cpu_fused JOIN(kal_cpu_fused_, KAL_SIMD_SUFFIX) = {
    .folded = { FOLDED_RADIX(FOLDED_ENTRY) FOLDED_WIDE(FOLDED_ENTRY) },
    .in = { RADICES(IN_ENTRY) },
    .part = { RADICES(PART_ENTRY) },
    .out = { RADICES(OUT_ENTRY) },
    .streamed = { RADICES(STREAMED_ENTRY) },
    .in_out = { RADICES(IN_OUT_ENTRY) },
    .lanes = { RADICES(LANES_ENTRY) },
    .in_lanes = { RADICES(IN_LANES_ENTRY) },
#if REGISTER_BYTES == 64
    .twins = { RADICES(TWINS_ENTRY) },
    .twins_lanes = { RADICES(TWINS_LANES_ENTRY) },
#endif
};

#endif
