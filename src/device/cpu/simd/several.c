// SPDX-License-Identifier: MIT
// Short lines of interleaved numbers, a codelet each: a register holds one number of each of
// several lines.
#include "device/cpu/kernels.h"

#include "device/cpu/simd/simd.h"

#if LANES > 1 && REGISTER_BYTES <= 32

enum { NUMBERS = LANES / 2 }; // of a register, each of another line

struct several {
    const R *from[NUMBERS];
    R *to[NUMBERS];
};

// Number `at` of each line.
#if defined KAL_SIMD_F32
typedef double NUMBER __attribute__((aligned(sizeof(R)), may_alias)); // moved as it is
typedef double W __attribute__((vector_size(REGISTER_BYTES)));

INLINE V gather(const struct several *l, ptrdiff_t at)
{
    W v;
    for (int i = 0; i < NUMBERS; i++)
        v[i] = *(const NUMBER *)(l->from[i] + at);
    return (V)v;
}

INLINE void scatter(const struct several *l, ptrdiff_t at, V value)
{
    for (int i = 0; i < NUMBERS; i++)
        *(NUMBER *)(l->to[i] + at) = ((W)value)[i];
}
#elif REGISTER_BYTES == 16
INLINE V gather(const struct several *l, ptrdiff_t at)
{
    return LOAD(l->from[0] + at);
}

INLINE void scatter(const struct several *l, ptrdiff_t at, V value)
{
    STORE(l->to[0] + at, value);
}
#else
typedef R NUMBER __attribute__((vector_size(16), aligned(sizeof(R)), may_alias));

INLINE V gather(const struct several *l, ptrdiff_t at)
{
    return __builtin_shufflevector(*(const NUMBER *)(l->from[0] + at),
                                   *(const NUMBER *)(l->from[1] + at), 0, 1, 2, 3);
}

INLINE void scatter(const struct several *l, ptrdiff_t at, V value)
{
    *(NUMBER *)(l->to[0] + at) = __builtin_shufflevector(value, value, 0, 1);
    *(NUMBER *)(l->to[1] + at) = __builtin_shufflevector(value, value, 2, 3);
}
#endif

#define NUMBERS_BYTES REGISTER_BYTES
#define OTHER(h, j)   ((j) ^ 1)
#define EXCHANGED(a)  SHUFFLE(a, a, OTHER, 0)
#include "device/cpu/simd/numbers.h"

// What the codelets call xi is the lines here, of which the first ones begin at xr and yr.
#undef LOAD
#define LINES_OF(xi)                    ((const struct several *)(const void *)(xi))
#define LOAD(pointer)                   gather(LINES_OF(xi), (pointer)-xr)
#define STORE_NUMBER(pointer, value, k) scatter(LINES_OF(xi), (pointer)-yr, value)
#define CODELET_R2C(n)                  several_##n
#include R2C_CODELETS
#if REGISTER_BYTES == 32
#include "codelets_fma_numbers.h"
#endif

// Those from `from` and `to` on. Where there are fewer, the last one stands in for the others: all
// loads of a codelet come before its stores, so that a line may be its own output.
INLINE void set_lines(struct several *l, const R *from, R *to, ptrdiff_t from_step,
                      ptrdiff_t to_step, int64_t count)
{
    for (int i = 0; i < NUMBERS; i++) {
        l->from[i] = from;
        l->to[i] = to;
        from += i + 1 < count ? from_step : 0;
        to += i + 1 < count ? to_step : 0;
    }
}

// Of numbers that lie apart on their lines.
INLINE void run_strided(codelet_function *dft, const void *xr, const void *xi, void *yr,
                        void *yi, int64_t count, const struct cpu_apart_lines *lines)
{
    const struct cpu_apart_side *x = &lines->x, *y = &lines->y;
    const bool is_exchanged = xi < xr;
    const R *from = is_exchanged ? xi : xr;
    R *to = is_exchanged ? yi : yr;
    const R *parts = part_signs.reals + is_exchanged;

    for (; count > 0; count -= NUMBERS) {
        struct several l;
        if (x->is_far)
            ask_behind(from, NUMBERS * x->line);
        if (y->is_far)
            ask_behind(to, NUMBERS * y->line);
        set_lines(&l, from, to, x->line, y->line, count);
        dft(l.from[0], (const R *)(const void *)&l, 2 * x->stride, l.to[0], (R *)parts,
            y->stride);
        from += NUMBERS * x->line;
        to += NUMBERS * y->line;
    }
}

#define STRIDED(r)                                                              \
    static void strided_##r(const void *xr, const void *xi, void *yr, void *yi, \
                            int64_t count, const struct cpu_apart_lines *lines) \
    {                                                                           \
        run_strided(several_##r, xr, xi, yr, yi, count, lines);                 \
    }

RADICES_FROM_2(STRIDED)

#define STRIDED_ENTRY(r) [r] = strided_##r,

extern cpu_apart_run *const JOIN(kal_cpu_strided_, KAL_SIMD_SUFFIX)[CPU_MAX_RADIX + 1];

cpu_apart_run *const JOIN(kal_cpu_strided_, KAL_SIMD_SUFFIX)[CPU_MAX_RADIX + 1] = {
    RADICES_FROM_2(STRIDED_ENTRY)
};

#if !defined KAL_SIMD_FUSED // lines one behind the other have wider registers
// Of lines one behind the other, as many reals as the present ones have.
static inline void ask_for(const R *from, int reals)
{
    enum { LINE_REALS = 64 / sizeof(R), AHEAD_REALS = 4096 / sizeof(R) };
    for (int i = 0; i < reals; i += LINE_REALS)
        ASK(from + AHEAD_REALS + i);
}

#define SEVERAL(r)                                                                      \
    static void lines_##r(const struct cpu_vectors *x, const struct cpu_vectors *y,     \
                          int64_t count, double scale, bool is_streamed)                \
    {                                                                                   \
        const bool is_exchanged = x->im < x->re;                                        \
        const R *from = is_exchanged ? x->im : x->re;                                   \
        R *to = is_exchanged ? y->im : y->re;                                           \
        const R *parts = part_signs.reals + is_exchanged;                               \
        (void)scale;                                                                    \
        (void)is_streamed;                                                              \
        for (; count > 0; count -= NUMBERS) {                                           \
            struct several l;                                                           \
            if (x->ahead)                                                               \
                ask_for(from, NUMBERS * 2 * (r));                                       \
            set_lines(&l, from, to, x->stride, y->stride, count);                       \
            several_##r(l.from[0], (const R *)(const void *)&l, 4, l.to[0], (R *)parts, \
                        2);                                                             \
            from += NUMBERS * x->stride;                                                \
            to += NUMBERS * y->stride;                                                  \
        }                                                                               \
    }

#if REGISTER_BYTES == 32
#define LENGTHS(X) RADICES_FROM_2(X) PRODUCTS(X) X(64)
#else
#define LENGTHS(X) RADICES_FROM_2(X) X(64)
#endif

LENGTHS(SEVERAL)

#define ENTRY(r) [r] = lines_##r,

extern cpu_short *const JOIN(kal_cpu_several_, KAL_SIMD_SUFFIX)[CPU_LONGEST + 1];

cpu_short *const JOIN(kal_cpu_several_,
                      KAL_SIMD_SUFFIX)[CPU_LONGEST + 1] = { LENGTHS(ENTRY) };
#endif

#endif
