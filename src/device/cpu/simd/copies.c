// SPDX-License-Identifier: MIT
// Elements of one real or two that lie two, three or four elements apart, to where they
// are neighbours, and back: in registers. And lines that are neighbours, element by
// element, to where each is by itself. And real lines that are worked as complex ones.
#include "device/cpu/simd/simd.h"

#if LANES > 1
#include "device/cpu/simd/transpose.h"

// Elements of two reals that fill a register are moved as they are.
#define HAS_PAIRS (LANES > 2)

// Of what a shuffle is: elements of so many reals, 1 or 2, and of these which ones.
#define OF(u, which) (4 * (which) + (u))
#define REALS(of)    ((of) % 4)
#define WHICH(of)    ((of) / 4)

// Lane j of a register of every so many elements, the first of them or others: from two
// registers; from the first two of three, and from those and the third.
#define EVERY_AT(of, every, j) \
    (((j) / REALS(of) * (every) + WHICH(of)) * REALS(of) + (j) % REALS(of))
#define SECOND(of, j)    EVERY_AT(of, 2, j)
#define FIRST_TWO(of, j) (EVERY_AT(of, 3, j) < 2 * LANES ? EVERY_AT(of, 3, j) : -1)
#define AND_THIRD(of, j) \
    (EVERY_AT(of, 3, j) < 2 * LANES ? (j) : EVERY_AT(of, 3, j) - LANES)

#define EVEN(u, a, b) SHUFFLE(a, b, SECOND, OF(u, 0))
#define ODD(u, a, b)  SHUFFLE(a, b, SECOND, OF(u, 1))
#define THIRD(u, which, a, b, c) \
    SHUFFLE(SHUFFLE(a, b, FIRST_TWO, OF(u, which)), c, AND_THIRD, OF(u, which))

// One by one.
INLINE void copy_each(R *to, int64_t to_step, const R *from, int64_t from_step, int u,
                      int64_t n)
{
    for (; n > 0; n--, to += to_step, from += from_step) {
        to[0] = from[0];
        if (u == 2)
            to[1] = from[1];
    }
}

// Registers from `from` on, of which `left` reals are there.
struct source {
    const R *from;
    int64_t left;
};

INLINE V load(const struct source *s, int which, bool is_whole)
{
    const R *at = s->from + which * LANES;
    return is_whole ? LOAD(at) : LOAD_PART(at, (int)(s->left - which * LANES));
}

#define COLLECT(u)                                                              \
    INLINE V collect_##u##_2(const struct source *s, int first, bool is_whole)  \
    {                                                                           \
        const V a = load(s, first, is_whole), b = load(s, first + 1, is_whole); \
        return EVEN(u, a, b);                                                   \
    }                                                                           \
    INLINE V collect_##u##_3(const struct source *s, int first, bool is_whole)  \
    {                                                                           \
        const V a = load(s, first, is_whole), b = load(s, first + 1, is_whole), \
                c = load(s, first + 2, is_whole);                               \
        return THIRD(u, 0, a, b, c);                                            \
    }                                                                           \
    INLINE V collect_##u##_4(const struct source *s, int first, bool is_whole)  \
    {                                                                           \
        const V a = collect_##u##_2(s, first, is_whole),                        \
                b = collect_##u##_2(s, first + 2, is_whole);                    \
        return EVEN(u, a, b);                                                   \
    }

COLLECT(1)
#if HAS_PAIRS
COLLECT(2)
#endif
#undef COLLECT

// What lies behind the last element may be nobody's. A copy has room for registers: what
// a part of one was stored from is not there yet when it is loaded, on Intel's
// processors.
#if defined KAL_SIMD_AVX512
#define COLLECT_REST(u, every) STORE(t, collect_##u##_##every(&s, 0, false))
#else
#define COLLECT_REST(u, every) copy_each(t, u, s.from, (every) * (u), u, n)
#endif

#define COLLECT_ALL(u, every)                                                    \
    static void collect_all_##u##_##every(void *to, const void *from, int64_t n) \
    {                                                                            \
        struct source s = { from, ((n - 1) * (every) + 1) * (u) };               \
        R *t = to;                                                               \
        for (; s.left >= (every)*LANES; t += LANES, n -= LANES / (u)) {          \
            STORE(t, collect_##u##_##every(&s, 0, true));                        \
            s.from += (every)*LANES;                                             \
            s.left -= (every)*LANES;                                             \
        }                                                                        \
        if (n > 0)                                                               \
            COLLECT_REST(u, every);                                              \
    }
#define COLLECT_EVERY(u) COLLECT_ALL(u, 2) COLLECT_ALL(u, 3) COLLECT_ALL(u, 4)

COLLECT_EVERY(1)
#if HAS_PAIRS
COLLECT_EVERY(2)
#endif
#undef COLLECT_EVERY
#undef COLLECT_ALL
#undef COLLECT_REST

// The reverse, element by element.
#define SPREAD_EACH(u, every)                                               \
    static void spread_##u##_##every(void *to, const void *from, int64_t n) \
    {                                                                       \
        copy_each(to, (every) * (u), from, u, u, n);                        \
    }

// By masks, which pays where a register that is stored holds more than two elements, or
// two of two reals.
#if defined KAL_SIMD_AVX512
#if defined KAL_SIMD_F32
#define STORE_MASKED(to, mask, v) _mm512_mask_storeu_ps((to), (__mmask16)(mask), (v))
#else
#define STORE_MASKED(to, mask, v) _mm512_mask_storeu_pd((to), (__mmask8)(mask), (v))
#endif

// Lane j of the register of this number, of elements that lie `every` elements apart: is
// it one of theirs, and which of neighbours?
#define PLACE(u, number, j)           ((number) * (LANES / (u)) + (j) / (u))
#define IS_THERE(u, every, number, j) (PLACE(u, number, j) % (every) == 0)
#define NEAR_AT(u, every, number, j) \
    (IS_THERE(u, every, number, j) ? PLACE(u, number, j) / (every) * (u) + (j) % (u) : -1)

INLINE unsigned mask_of(int u, int every, int number)
{
    unsigned mask = 0;
    for (int j = 0; j < LANES; j++)
        mask |= (unsigned)IS_THERE(u, every, number, j) << j;
    return mask;
}

#define OF_2_0(u, j) NEAR_AT(u, 2, 0, j)
#define OF_2_1(u, j) NEAR_AT(u, 2, 1, j)
#define OF_3_0(u, j) NEAR_AT(u, 3, 0, j)
#define OF_3_1(u, j) NEAR_AT(u, 3, 1, j)
#define OF_3_2(u, j) NEAR_AT(u, 3, 2, j)
#define OF_4_0(u, j) NEAR_AT(u, 4, 0, j)
#define OF_4_1(u, j) NEAR_AT(u, 4, 1, j)
#define OF_4_2(u, j) NEAR_AT(u, 4, 2, j)
#define OF_4_3(u, j) NEAR_AT(u, 4, 3, j)

#define PUT(u, every, number)                                                         \
    STORE_MASKED(t + (number)*LANES,                                                  \
                 mask_of(u, every, number) & part_mask((int)(left - (number)*LANES)), \
                 SHUFFLE(v, v, OF_##every##_##number, u))
#define PUT_2(u) PUT(u, 2, 0), PUT(u, 2, 1)
#define PUT_3(u) PUT(u, 3, 0), PUT(u, 3, 1), PUT(u, 3, 2)
#define PUT_4(u) PUT(u, 4, 0), PUT(u, 4, 1), PUT(u, 4, 2), PUT(u, 4, 3)

#define SPREAD(u, every)                                                          \
    static void spread_##u##_##every(void *to, const void *from, int64_t n)       \
    {                                                                             \
        const R *f = from;                                                        \
        R *t = to;                                                                \
        int64_t left = every * LANES;                                             \
        for (; n * (u) >= LANES + (u); n -= LANES / (u), f += LANES, t += left) { \
            const V v = LOAD(f);                                                  \
            PUT_##every(u);                                                       \
        }                                                                         \
        left = ((n - 1) * (every) + 1) * (u);                                     \
        const V v = LOAD_PART(f, (int)n * (u));                                   \
        PUT_##every(u);                                                           \
    }

SPREAD(1, 2)
SPREAD(1, 3)
SPREAD(2, 2)
#if defined KAL_SIMD_F32
SPREAD(1, 4)
SPREAD(2, 3)
#else
SPREAD_EACH(1, 4)
SPREAD_EACH(2, 3)
#endif
SPREAD_EACH(2, 4)
#else
SPREAD_EACH(1, 2)
SPREAD_EACH(1, 3)
SPREAD_EACH(1, 4)
#if HAS_PAIRS
SPREAD_EACH(2, 2)
SPREAD_EACH(2, 3)
SPREAD_EACH(2, 4)
#endif
#endif

INLINE void turn(V *v, int u)
{
    if (u == 1)
        transpose(v);
    else
        transpose_numbers(v);
}

// As many elements of all lines as a register holds.
INLINE void collect_some(R *to, int64_t pitch, const R *from, int64_t stride, int u,
                         int elements, int lines, bool is_far)
{
    V v[LANES];

    (void)is_far;
    for (int i = 0; i < LANES / u; i++)
        v[i] = i >= elements        ? CONSTANT(0)
               : lines * u == LANES ? LOAD(from + i * stride)
                                    : LOAD_PART(from + i * stride, lines * u);
    turn(v, u);
    for (int j = 0; j < LANES / u; j++) {
        if (j < lines && elements * u == LANES)
            STORE(to + j * pitch, v[j]);
        else if (j < lines)
            STORE_PART(to + j * pitch, v[j], elements * u);
    }
}

INLINE void spread_some(R *to, int64_t stride, const R *from, int64_t pitch, int u,
                        int elements, int lines, bool is_far)
{
    V v[LANES];

    for (int j = 0; j < LANES / u; j++)
        v[j] = j >= lines              ? CONSTANT(0)
               : elements * u == LANES ? LOAD(from + j * pitch)
                                       : LOAD_PART(from + j * pitch, elements * u);
    turn(v, u);
    for (int i = 0; i < LANES / u; i++) {
        if (i < elements && lines * u == LANES && is_far)
            STREAM(to + i * stride, v[i]);
        else if (i < elements && lines * u == LANES)
            STORE(to + i * stride, v[i]);
        else if (i < elements)
            STORE_PART(to + i * stride, v[i], lines * u);
    }
}

// `to_all` and `from_all`: reals to the next so many elements.
#define COLUMNS(name, u, to_all, from_all)                                               \
    static void name##_columns_##u(void *to, int64_t to_step, const void *from,          \
                                   int64_t from_step, int64_t n, int lines, bool is_far) \
    {                                                                                    \
        enum { ALL = LANES / (u) };                                                      \
        const R *f = from;                                                               \
        R *t = to;                                                                       \
        for (; n >= ALL; n -= ALL, t += (to_all), f += (from_all)) {                     \
            if (lines == ALL)                                                            \
                name##_some(t, to_step, f, from_step, u, ALL, ALL, is_far);              \
            else                                                                         \
                name##_some(t, to_step, f, from_step, u, ALL, lines, false);             \
        }                                                                                \
        if (n > 0)                                                                       \
            name##_some(t, to_step, f, from_step, u, (int)n, lines, false);              \
    }

COLUMNS(collect, 1, LANES, ALL *from_step)
COLUMNS(spread, 1, ALL *to_step, LANES)
#if HAS_PAIRS
COLUMNS(collect, 2, LANES, ALL *from_step)
COLUMNS(spread, 2, ALL *to_step, LANES)
#endif

// Lane j of a register of elements that are by turns those of two and of three others:
// from the first two of three, and from those and the third.
#define PLACE_IN(of, j)       (WHICH(of) * (LANES / REALS(of)) + (j) / REALS(of))
#define TURN(of, every, j)    (PLACE_IN(of, j) % (every))
#define LANE_OF(of, every, j) (PLACE_IN(of, j) / (every)*REALS(of) + (j) % REALS(of))
#define BY_TURNS(of, j)       (TURN(of, 2, j) * LANES + LANE_OF(of, 2, j))
#define TWO_BY_TURNS(of, j) \
    (TURN(of, 3, j) < 2 ? TURN(of, 3, j) * LANES + LANE_OF(of, 3, j) : -1)
#define THIRD_BY_TURNS(of, j) (TURN(of, 3, j) < 2 ? (j) : LANES + LANE_OF(of, 3, j))

#define LOWER(u, a, b) SHUFFLE(a, b, BY_TURNS, OF(u, 0))
#define UPPER(u, a, b) SHUFFLE(a, b, BY_TURNS, OF(u, 1))
#define THREE(u, which, a, b, c) \
    SHUFFLE(SHUFFLE(a, b, TWO_BY_TURNS, OF(u, which)), c, THIRD_BY_TURNS, OF(u, which))

// Registers of columns that have nothing between them, to one of each, and back.
#define PART_2(u, x) EVEN(u, x[0], x[1]), ODD(u, x[0], x[1])
#define PART_3(u, x)                                              \
    THIRD(u, 0, x[0], x[1], x[2]), THIRD(u, 1, x[0], x[1], x[2]), \
        THIRD(u, 2, x[0], x[1], x[2])
#define PART_4(u, x)                                      \
    EVEN(u, EVEN(u, x[0], x[1]), EVEN(u, x[2], x[3])),    \
        EVEN(u, ODD(u, x[0], x[1]), ODD(u, x[2], x[3])),  \
        ODD(u, EVEN(u, x[0], x[1]), EVEN(u, x[2], x[3])), \
        ODD(u, ODD(u, x[0], x[1]), ODD(u, x[2], x[3]))
#define JOIN_2(u, x) LOWER(u, x[0], x[1]), UPPER(u, x[0], x[1])
#define JOIN_3(u, x)                                              \
    THREE(u, 0, x[0], x[1], x[2]), THREE(u, 1, x[0], x[1], x[2]), \
        THREE(u, 2, x[0], x[1], x[2])
#define JOIN_4(u, x)                                          \
    LOWER(u, LOWER(u, x[0], x[2]), LOWER(u, x[1], x[3])),     \
        UPPER(u, LOWER(u, x[0], x[2]), LOWER(u, x[1], x[3])), \
        LOWER(u, UPPER(u, x[0], x[2]), UPPER(u, x[1], x[3])), \
        UPPER(u, UPPER(u, x[0], x[2]), UPPER(u, x[1], x[3]))

#define DENSE(u, every)                                                                  \
    static void part_##u##_##every(void *to, const void *from, int64_t pitch, int64_t n) \
    {                                                                                    \
        const R *f = from;                                                               \
        R *t = to;                                                                       \
        for (; n >= LANES / (u); n -= LANES / (u), f += (every)*LANES, t += LANES) {     \
            V x[every];                                                                  \
            for (int i = 0; i < (every); i++)                                            \
                x[i] = LOAD(f + i * LANES);                                              \
            const V y[] = { PART_##every(u, x) };                                        \
            for (int i = 0; i < (every); i++)                                            \
                STORE(t + i * pitch, y[i]);                                              \
        }                                                                                \
        for (int i = 0; i < (every); i++)                                                \
            copy_each(t + i * pitch, u, f + i * (u), (every) * (u), u, n);               \
    }                                                                                    \
    static void join_##u##_##every(void *to, const void *from, int64_t pitch, int64_t n) \
    {                                                                                    \
        const R *f = from;                                                               \
        R *t = to;                                                                       \
        for (; n >= LANES / (u); n -= LANES / (u), f += LANES, t += (every)*LANES) {     \
            V x[every];                                                                  \
            for (int i = 0; i < (every); i++)                                            \
                x[i] = LOAD(f + i * pitch);                                              \
            const V y[] = { JOIN_##every(u, x) };                                        \
            for (int i = 0; i < (every); i++)                                            \
                STORE(t + i * LANES, y[i]);                                              \
        }                                                                                \
        for (int i = 0; i < (every); i++)                                                \
            copy_each(t + i * (u), (every) * (u), f + i * pitch, u, u, n);               \
    }

DENSE(1, 2)
DENSE(1, 3)
DENSE(1, 4)
#if HAS_PAIRS
DENSE(2, 2)
DENSE(2, 3)
DENSE(2, 4)
#endif

#define EVERY(name, u) \
    [u] = { [2] = name##_##u##_2, [3] = name##_##u##_3, [4] = name##_##u##_4 }
#else
#define HAS_PAIRS 0
#endif

// Strides that are known where these are called let compilers fill registers.
INLINE void widen_by(const R *from, int64_t stride, R *to, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        to[2 * i] = from[i * stride];
        to[2 * i + 1] = 0;
    }
}

static void widen(const struct cpu_vectors *v, void *line, int64_t n)
{
    if (v->stride == 1)
        widen_by(v->re, 1, line, n);
    else
        widen_by(v->re, v->stride, line, n);
}

INLINE void narrow_by(const R *from, R *to, int64_t stride, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        to[i * stride] = from[2 * i];
}

static void narrow(const struct cpu_vectors *v, void *line, int64_t n)
{
    if (v->stride == 1)
        narrow_by(line, v->re, 1, n);
    else
        narrow_by(line, v->re, v->stride, n);
}

INLINE void extend_by(const R *re, const R *im, int64_t stride, R *to, int64_t n)
{
    R *back = to + 2 * (2 * n - 1);

    for (int64_t k = 0; k < n; k++) {
        to[2 * k] = re[k * stride];
        to[2 * k + 1] = -im[k * stride];
    }
    for (int64_t k = 1; k < n; k++) {
        back[-2 * k] = re[k * stride];
        back[-2 * k + 1] = im[k * stride];
    }
}

static void extend(const struct cpu_vectors *v, void *line, int64_t n)
{
    if (v->stride == 2)
        extend_by(v->re, v->im, 2, line, n);
    else
        extend_by(v->re, v->im, v->stride, line, n);
}

extern const struct cpu_copy_kernels JOIN(kal_cpu_copies_, KAL_SIMD_SUFFIX);

const struct cpu_copy_kernels JOIN(kal_cpu_copies_, KAL_SIMD_SUFFIX) = {
#if HAS_PAIRS
    .collect = { EVERY(collect_all, 1), EVERY(collect_all, 2) },
    .spread = { EVERY(spread, 1), EVERY(spread, 2) },
    .part = { EVERY(part, 1), EVERY(part, 2) },
    .join = { EVERY(join, 1), EVERY(join, 2) },
    .collect_columns = { [1] = collect_columns_1, [2] = collect_columns_2 },
    .spread_columns = { [1] = spread_columns_1, [2] = spread_columns_2 },
#elif LANES > 1
    .collect = { EVERY(collect_all, 1) },
    .spread = { EVERY(spread, 1) },
    .part = { EVERY(part, 1) },
    .join = { EVERY(join, 1) },
    .collect_columns = { [1] = collect_columns_1 },
    .spread_columns = { [1] = spread_columns_1 },
#endif
    .widen = widen,
    .narrow = narrow,
    .extend = extend,
};
