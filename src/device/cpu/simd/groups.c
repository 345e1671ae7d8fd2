// SPDX-License-Identifier: MIT
// Steps of one line of interleaved numbers, neighbours of which fill a register.
#include "device/cpu/kernels.h"

#include "device/cpu/simd/simd.h"

#if LANES > 2
#include "device/cpu/simd/blocks.h"

#define STORE_NUMBER(pointer, value, k) STORE(pointer, value)
#define CODELET_R2C(n)                  plain_##n
#include R2C_CODELETS
#undef CODELET_R2C
#undef STORE_NUMBER

#define STORE_NUMBER(pointer, value, k) STORE(pointer, TIMES_SHARED_FACTOR(value, k))
#define CODELET_R2C(n)                  shared_##n
#include R2C_CODELETS
#undef CODELET_R2C
#undef STORE_NUMBER

#define STORE_NUMBER(pointer, value, k) STORE(pointer, TIMES_OWN_FACTORS(value, k))
#define CODELET_R2C(n)                  own_##n
#include R2C_CODELETS

#define FIRST(r)                                                                  \
    FLAT void first_##r(const struct cpu_vectors *x, const struct cpu_vectors *y, \
                        int64_t m, int64_t s, const void *roots)                  \
    {                                                                             \
        _Alignas(REGISTER_BYTES) R t[(r)*LANES];                                  \
        const bool is_exchanged = x->im < x->re;                                  \
        const R *w = roots, *from = is_exchanged ? x->im : x->re;                 \
        R *to = is_exchanged ? y->im : y->re;                                     \
        const R *parts = part_signs.reals + is_exchanged;                         \
        (void)s;                                                                  \
        for (int64_t p = 0;; p = next_group(p, m), w += 2 * ((r)-1) * LANES) {    \
            own_##r(from + 2 * p, w, 4 * m, t, (R *)parts, LANES);                \
            turn_numbers(t, to + 2 * (r)*p, r);                                   \
            if (p == m - NUMBERS)                                                 \
                break;                                                            \
        }                                                                         \
    }

// Steps p = 0, without factors, and p > 0 with those of w.
#define BESIDE_STEP(name, r, w)                                                   \
    for (int64_t q = 0; q < s; q++) {                                             \
        const R *const begin = from + (q + s * p) * xs;                           \
        R *const end = to + (q + s * (r)*p) * ys;                                 \
        for (int64_t i = 0;; i = next_group(i, lines)) {                          \
            name##_##r(begin + 2 * i, w, 2 * s * m * xs, end + 2 * i, (R *)parts, \
                       s * ys);                                                   \
            if (i == lines - NUMBERS)                                             \
                break;                                                            \
        }                                                                         \
    }

#define BESIDE(r)                                                                    \
    static void beside_##r(const struct cpu_vectors *x, const struct cpu_vectors *y, \
                           int64_t m, int64_t s, int64_t lines, const void *roots)   \
    {                                                                                \
        const bool is_exchanged = x->im < x->re;                                     \
        const R *w = roots, *from = is_exchanged ? x->im : x->re;                    \
        R *to = is_exchanged ? y->im : y->re;                                        \
        const R *parts = part_signs.reals + is_exchanged;                            \
        const ptrdiff_t xs = x->stride, ys = y->stride;                              \
        int64_t p = 0;                                                               \
        BESIDE_STEP(plain, r, NULL)                                                  \
        for (p = 1; p < m; p++, w += 2 * ((r)-1))                                    \
            BESIDE_STEP(shared, r, w)                                                \
    }

// Whole lines: m and s are 1.
#define WHOLE_LINES(r)                                                               \
    static void beside_##r(const struct cpu_vectors *x, const struct cpu_vectors *y, \
                           int64_t m, int64_t s, int64_t lines, const void *roots)   \
    {                                                                                \
        const bool is_exchanged = x->im < x->re;                                     \
        const R *from = is_exchanged ? x->im : x->re;                                \
        R *to = is_exchanged ? y->im : y->re;                                        \
        const R *parts = part_signs.reals + is_exchanged;                            \
        const ptrdiff_t xs = x->stride, ys = y->stride;                              \
        const int64_t p = 0;                                                         \
        (void)roots;                                                                 \
        BESIDE_STEP(plain, r, NULL)                                                  \
    }

// Numbers of one line as s lines.
#define LATER(r)                                                                    \
    static void later_##r(const struct cpu_vectors *x, const struct cpu_vectors *y, \
                          int64_t m, int64_t s, const void *roots)                  \
    {                                                                               \
        const struct cpu_vectors from = { x->re, x->im, 2 * s, 0 },                 \
                                 to = { y->re, y->im, 2 * s, 0 };                   \
        beside_##r(&from, &to, m, 1, s, roots);                                     \
    }

#if LANES <= 4
#define FIRST_RADICES RADICES_FROM_2
#elif LANES <= 8
#define FIRST_RADICES RADICES_FROM_4
#else
#define FIRST_RADICES RADICES_FROM_8
#endif

#if LANES <= 8
#define BOTH_STEPS(X) KAL_TWO_STEPS_FROM_4(X) KAL_TWO_STEPS_FROM_8(X)
#else
#define BOTH_STEPS(X) KAL_TWO_STEPS_FROM_8(X)
#endif

FIRST_RADICES(FIRST)
RADICES_FROM_2(BESIDE)
RADICES_FROM_2(LATER)
#if REGISTER_BYTES <= 32
WHOLE_LINES(64)
#endif

// Both steps of a line of a times b numbers, whose lengths are constants here.
#define BOTH(a, b)                                                                       \
    static void both_##a##_##b(const struct cpu_vectors *x, const struct cpu_vectors *y, \
                               int64_t m, int64_t s, const void *roots)                  \
    {                                                                                    \
        enum { BLOCKS = ((a) + NUMBERS - 1) / NUMBERS };                                 \
        _Alignas(REGISTER_BYTES) R t[(a)*LANES], turned[BLOCKS][(b)*LANES];              \
        const bool is_exchanged = x->im < x->re;                                         \
        const R *w = roots, *from = is_exchanged ? x->im : x->re;                        \
        R *to = is_exchanged ? y->im : y->re;                                            \
        const R *parts = part_signs.reals + is_exchanged;                                \
        (void)m;                                                                         \
        (void)s;                                                                         \
        for (int64_t p = 0;; p = next_group(p, b), w += 2 * ((a)-1) * LANES) {           \
            own_##a(from + 2 * p, w, 4 * (b), t, (R *)parts, LANES);                     \
            turn_blocks(t, turned[0] + p * LANES, a, (b)*LANES);                         \
            if (p == (b)-NUMBERS)                                                        \
                break;                                                                   \
        }                                                                                \
        for (int k = 0; k < BLOCKS; k++)                                                 \
            plain_##b(turned[k], NULL, 2 * LANES, to + 2 * BEGIN_BLOCK(k * NUMBERS, a),  \
                      (R *)parts, 2 * (a));                                              \
    }

BOTH_STEPS(BOTH)

#define CONJUGATE(a)          ((V)((VI)(a) ^ *(const VI *)(part_signs.reals + 1)))
#define REVERSE_NUMBERS(h, j) (LANES - 2 - (j) / 2 * 2 + (j) % 2)

INLINE V reversed(V a)
{
    return SHUFFLE(a, a, REVERSE_NUMBERS, 0);
}

// y[k] = half s + u d and y[m-k] = conj(half s - u d), of s = x[k] + conj(x[m-k]) and
// d = x[k] - conj(x[m-k]), for k = 1 .. m-1.
INLINE void mirror(const R *x, R *y, int64_t m, const R *w, R half)
{
    for (int64_t k = 1; k <= m / 2; k += NUMBERS, w += 2 * LANES) {
        const int64_t low = 2 * (k + NUMBERS <= m ? k : m - NUMBERS);
        const int64_t high = 2 * (m - NUMBERS + 1) - low;
        const V a = LOAD(x + low), b = CONJUGATE(reversed(LOAD(x + high)));
        const V s = ADD(a, b), d = SUB(a, b), h = BROADCAST(half);
        const V turned = FMA(d, LOAD(w), MUL(EXCHANGED(d), LOAD(w + LANES)));
        STORE(y + low, FMA(s, h, turned));
        STORE(y + high, reversed(CONJUGATE(FMS(s, h, turned))));
    }
}

// The same of whole registers: of numbers k .. k+NUMBERS-1, and of m-k, which is the
// first one of a register, and those before it. 72 batches of 16 and 100 lines of 64 to
// 2048 reals take 0.97 of the time so on a Xeon, with AVX2 0.98; on other processors this
// was not measured.
#define MIRRORED(h, j) ((j) < 2 ? LANES + (j) : LANES - (j) / 2 * 2 + (j) % 2)

struct mirrored {
    V low, high; // the latter as it is paired, in falling order
};

INLINE struct mirrored mirror_registers(V a, V b, const R *w, R half)
{
    const V s = ADD(a, b), d = SUB(a, b), h = BROADCAST(half);
    const V turned = FMA(d, LOAD(w), MUL(EXCHANGED(d), LOAD(w + LANES)));
    return (struct mirrored){ FMA(s, h, turned), CONJUGATE(FMS(s, h, turned)) };
}

INLINE void mirror_blocks(V a, V behind, const R *x, R *y, int64_t m, const R *w, R half)
{
    V block = LOAD(x + 2 * (m - NUMBERS));
    struct mirrored of =
        mirror_registers(a, CONJUGATE(SHUFFLE(block, behind, MIRRORED, 0)), w, half);
    STORE(y, of.low);
    for (int64_t k = NUMBERS; k < m / 2; k += NUMBERS) {
        const V before = of.high, next = LOAD(x + 2 * (m - k - NUMBERS));
        w += 2 * LANES;
        of = mirror_registers(LOAD(x + 2 * k),
                              CONJUGATE(SHUFFLE(next, block, MIRRORED, 0)), w, half);
        block = next;
        STORE(y + 2 * k, of.low);
        STORE(y + 2 * (m - k), SHUFFLE(before, of.high, MIRRORED, 0));
    }
    const V middle = MUL(BROADCAST(2 * half), CONJUGATE(block));
    STORE(y + m, SHUFFLE(of.high, middle, MIRRORED, 0));
}

static void split(const void *from, void *to, int64_t m, const void *w)
{
    const R *x = from, re = x[0], im = x[1];
    R *y = to;

    if (kal_cpu_mirrors_registers(m, NUMBERS))
        mirror_blocks(LOAD(x), LOAD(x), x, y, m, w, (R)0.5);
    else
        mirror(x, y, m, w, (R)0.5);
    y[0] = re + im;
    y[2 * m] = re - im;
    y[1] = y[2 * m + 1] = 0;
}

static void merge(const void *from, void *to, int64_t m, const void *w)
{
    const R *x = from, first = x[0], last = x[2 * m];
    R *y = to;

    if (kal_cpu_mirrors_registers(m, NUMBERS)) {
        V a = LOAD(x), behind = CONSTANT(0);
        a[1] = 0;
        behind[0] = last;
        mirror_blocks(a, behind, x, y, m, w, (R)1.0);
        return;
    }
    mirror(x, y, m, w, (R)1.0);
    y[0] = first + last;
    y[1] = first - last;
}

#define FIRST_ENTRY(r)   [r] = first_##r,
#define LATER_ENTRY(r)   [r] = later_##r,
#define BESIDE_ENTRY(r)  [r] = beside_##r,
#define BOTH_ENTRY(a, b) { a, b, both_##a##_##b },

extern const struct cpu_group_kernels JOIN(kal_cpu_groups_, KAL_SIMD_SUFFIX);

const struct cpu_group_kernels JOIN(kal_cpu_groups_, KAL_SIMD_SUFFIX) = {
    .numbers = NUMBERS,
    .first = { FIRST_RADICES(FIRST_ENTRY) },
    .later = { RADICES_FROM_2(LATER_ENTRY) },
    .beside = { RADICES_FROM_2(BESIDE_ENTRY)
#if REGISTER_BYTES <= 32
                    BESIDE_ENTRY(64)
#endif
    },
    .both = { BOTH_STEPS(BOTH_ENTRY) },
    .split = split,
    .merge = merge,
};

#endif
