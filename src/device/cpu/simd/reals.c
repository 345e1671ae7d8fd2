// SPDX-License-Identifier: MIT
// Short lines of contiguous reals and their coefficients, contiguous too, a codelet each: turned in
// registers on their way to it and back, as those of complex numbers, or one by one.
#include "device/cpu/kernels.h"

#include <string.h>

#include "device/cpu/simd/real_codelets.h"

#if LANES > 1
#include "device/cpu/simd/turn.h"
#endif

// Lines as long as a register at least.
// clang-format off
#if defined IS_SCALED && defined KAL_SIMD_SSE2 && defined KAL_SIMD_F32
#define LENGTHS(X) X(4) X(5) X(6) X(7)
#elif defined IS_SCALED && LANES > 1 && (defined KAL_SIMD_SSE2 || REGISTER_BYTES == 64)
#define LENGTHS(X)
#else
#if LANES <= 2
#define LENGTHS_FROM_2(X) X(2) X(3)
#else
#define LENGTHS_FROM_2(X)
#endif
#if LANES <= 4
#define LENGTHS_FROM_4(X) X(4) X(5) X(6) X(7)
#else
#define LENGTHS_FROM_4(X)
#endif
#if LANES <= 8
#define LENGTHS_FROM_8(X) X(8) X(9) X(10) X(11) X(12) X(13) X(14) X(15)
#else
#define LENGTHS_FROM_8(X)
#endif
#define LENGTHS(X) \
    LENGTHS_FROM_2(X) LENGTHS_FROM_4(X) LENGTHS_FROM_8(X) \
    X(16) X(17) X(18) X(19) X(20) X(22) X(23) X(24) X(25) X(26) X(27) X(28) X(29) X(30) \
    X(31) X(32)
#endif
// Longer ones, for registers of which one holds several lines, and alone where they are left over.
#if LANES == 1 || (defined IS_SCALED ? REGISTER_BYTES == 32 : REGISTER_BYTES >= 32)
#define LONG_LENGTHS(X) X(36) X(40) X(48) X(50) X(60) X(64)
#else
#define LONG_LENGTHS(X)
#endif
// clang-format on

// Reals of the coefficients 0 .. n/2, and rows of a tile of either side, where they are in pairs.
#define COEFFICIENTS(n) (2 * ((n) / 2 + 1))

#define PARAMETERS                                                            \
    const struct cpu_vectors *x, const struct cpu_vectors *y, int64_t groups, \
        double scale, bool is_streamed

#if LANES == 1
// Each of the longer lines by itself: of 10 floats gcc takes several at once, and three
// times as long.
enum { ALONE_FROM = 8 };
#define IN_TURN(n)                             \
    do {                                       \
        if ((n) >= ALONE_FROM)                 \
            __asm__ volatile("" ::: "memory"); \
    } while (0)

#if defined IS_SCALED
enum { BLOCK = 64 };
#define IS_BLOCK(i, groups) (((i) + 1) % BLOCK == 0 || (i) + 1 == (groups))

// A block of lines that ends at `to`, when all of it has been worked: its stores have settled.
static void scale_lines(R *to, int64_t step, int64_t i, int reals, double scale)
{
    const int64_t lines = i % BLOCK + 1;
    const bool are_packed = step == reals;
    const int64_t parts = are_packed ? 1 : lines, n = are_packed ? lines * reals : reals;

    to -= lines * step;
    for (int64_t k = 0; k < parts; k++) {
        for (int64_t j = 0; j < n; j++)
            to[k * step + j] *= (R)scale;
    }
}
#else
#define IS_BLOCK(i, groups)                    false
#define scale_lines(to, step, i, reals, scale) ((void)(scale))
#endif

INLINE void work_alone(int n, codelet_function *codelet, int written,
                       const struct cpu_vectors *x, const struct cpu_vectors *y,
                       int64_t groups, double scale)
{
    const R *from = x->re;
    R *to = y->re;

    (void)written;
    (void)scale;
    for (int64_t i = 0; i < groups; i++) {
        codelet(from, from + 1, 2, to, to + 1, 2);
        IN_TURN(n);
        from += x->stride;
        to += y->stride;
        if (IS_BLOCK(i, groups))
            scale_lines(to, y->stride, i, written, scale);
    }
}

#define WORK(name, n, read, written)                                    \
    static void lines_##name##_##n(PARAMETERS)                          \
    {                                                                   \
        (void)is_streamed;                                              \
        work_alone(n, real_##name##_##n, written, x, y, groups, scale); \
    }
#else
typedef void work_function(const struct lines *l, bool is_streamed);

// A group of LANES lines, by way of the rows t and u.
INLINE void work_group(R *t, R *u, codelet_function *codelet, const struct lines *l,
                       int read, int written, bool is_streamed)
{
    turn_in(t, l, read);
    codelet(t, t + LANES, PAIR, u, u + LANES, PAIR);
    leave(u, t, l, written, is_streamed);
}

// Groups of lines of which so many reals are read and written.
INLINE void work_lines(work_function *work, int read, int written, PARAMETERS)
{
    const int rows = read > written ? read : written;
    const int group_bytes = rows * LANES * (int)sizeof(R);
    const int in = read * LANES, out = written * LANES; // of a group
    const int64_t ahead = (AHEAD_BYTES + group_bytes - 1) / group_bytes;
    struct lines l = { x->re, y->re, x->stride, y->stride, (R)scale };
    const bool is_input_far = x->ahead && x->stride == read;
    const bool is_output_far = x->ahead && y->ahead && y->stride == written;

    for (int64_t i = 0; i < groups; i++) {
        if (is_input_far)
            ask_for_input(l.from + ahead * in, in);
        if (is_output_far)
            ask_for_output(l.to + ahead * out, out);
        work(&l, is_streamed);
        l.from += LANES * l.from_step;
        l.to += LANES * l.to_step;
    }
}

#define WORK(name, n, read, written)                                                    \
    APART void work_##name##_##n(const struct lines *l, bool is_streamed)               \
    {                                                                                   \
        enum { ROWS = COEFFICIENTS(n) };                                                \
        _Alignas(REGISTER_BYTES) R t[ROWS * LANES], u[ROWS * LANES];                    \
        work_group(t, u, real_##name##_##n, l, read, written, is_streamed);             \
    }                                                                                   \
    static void lines_##name##_##n(PARAMETERS)                                          \
    {                                                                                   \
        work_lines(work_##name##_##n, read, written, x, y, groups, scale, is_streamed); \
    }
#endif

// Lines, not groups of them, by way of copies: fewer than a register holds.
#if LANES == 1 || REGISTER_BYTES == 16 // the latter has no lines so long
#define WORK_REST(name, n, read, written)
#define REST_ENTRY(n, function)
#else
// By way of `from` and `to`, which have room for a group.
INLINE void work_rest(R *from, R *to, work_function *work, int read, int written,
                      const struct cpu_vectors *x, const struct cpu_vectors *y,
                      int64_t count, double scale)
{
    const struct lines l = { from, to, read, written, (R)scale };
    const R *in = x->re;
    R *out = y->re;

    for (int64_t done = 0; done < count; done += LANES) {
        const int64_t lines = count - done < LANES ? count - done : LANES;
        for (int64_t i = 0; i < LANES; i++)
            memcpy(from + i * read, in + (i < lines ? i : 0) * x->stride,
                   (size_t)read * sizeof(R));
        work(&l, false);
        for (int64_t i = 0; i < lines; i++)
            memcpy(out + i * y->stride, to + i * written, (size_t)written * sizeof(R));
        in += LANES * x->stride;
        out += LANES * y->stride;
    }
}

#define WORK_REST(name, n, read, written)                                           \
    static void rest_##name##_##n(PARAMETERS)                                       \
    {                                                                               \
        R from[(read)*LANES], to[(written)*LANES];                                  \
        (void)is_streamed;                                                          \
        work_rest(from, to, work_##name##_##n, read, written, x, y, groups, scale); \
    }
#define REST_ENTRY(n, function) [n] = function,
#endif

#define BOTH(n)                      \
    WORK(r2c, n, n, COEFFICIENTS(n)) \
    WORK(c2r, n, COEFFICIENTS(n), n)
#define BOTH_LONG(n)                      \
    BOTH(n)                               \
    WORK_REST(r2c, n, n, COEFFICIENTS(n)) \
    WORK_REST(c2r, n, COEFFICIENTS(n), n)

LENGTHS(BOTH)
LONG_LENGTHS(BOTH_LONG)

#define R2C_ENTRY(n) [n] = lines_r2c_##n,
#define C2R_ENTRY(n) [n] = lines_c2r_##n,
#define R2C_REST(n)  REST_ENTRY(n, rest_r2c_##n)
#define C2R_REST(n)  REST_ENTRY(n, rest_c2r_##n)

#if defined IS_SCALED
#define TABLE JOIN(kal_cpu_reals_scaled_, KAL_SIMD_SUFFIX)
#else
#define TABLE JOIN(kal_cpu_reals_, KAL_SIMD_SUFFIX)
#endif

extern const struct cpu_real_kernels TABLE;

const struct cpu_real_kernels TABLE = {
    .r2c = { LENGTHS(R2C_ENTRY) LONG_LENGTHS(R2C_ENTRY) },
    .c2r = { LENGTHS(C2R_ENTRY) LONG_LENGTHS(C2R_ENTRY) },
    .rest_r2c = { LONG_LENGTHS(R2C_REST) },
    .rest_c2r = { LONG_LENGTHS(C2R_REST) },
};
