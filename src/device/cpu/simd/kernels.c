// SPDX-License-Identifier: MIT
// Everything that touches vectors, for the level and precision that the build asks for.
#include "device/cpu/kernels.h"

#include "device/cpu/simd/interleaved.h"

#include CODELETS
#if LANES > 1
#include "device/cpu/simd/apart.h"
#include "device/cpu/simd/transpose.h"
#endif

enum { PAIR = 2 * LANES }; // reals of one element of a tile

#define STEP(r)                                                                     \
    static void step_##r(const struct cpu_vectors *x, const struct cpu_vectors *y,  \
                         int64_t m, int64_t s, const void *roots)                   \
    {                                                                               \
        const R *w = roots;                                                         \
        const R *xr = x->re, *xi = x->im;                                           \
        R *yr = y->re, *yi = y->im;                                                 \
        const ptrdiff_t xs = x->stride, ys = y->stride;                             \
        for (int64_t q = 0; q < s; q++)                                             \
            dft_##r(xr + q * xs, xi + q * xs, s * m * xs, yr + q * ys, yi + q * ys, \
                    s * ys);                                                        \
        for (int64_t p = 1; p < m; p++, w += 2 * ((r)-1)) {                         \
            for (int64_t q = 0; q < s; q++)                                         \
                dft_##r##_twiddle(xr + (q + s * p) * xs, xi + (q + s * p) * xs,     \
                                  s * m * xs, yr + (q + s * (r)*p) * ys,            \
                                  yi + (q + s * (r)*p) * ys, s * ys, w);            \
        }                                                                           \
    }

RADICES_FROM_2(STEP)

#if LANES > 1
// Transforms one behind the other, or m of each row between each other: strides of the
// former are constants.
#define ROWS(r)                                                                          \
    static void rows_##r(const struct cpu_vectors *x, const struct cpu_vectors *y,       \
                         int64_t m, int64_t s, const void *roots)                        \
    {                                                                                    \
        enum { ROW = (r)*PAIR };                                                         \
        const R *xr = x->re, *xi = x->im;                                                \
        R *yr = y->re, *yi = y->im;                                                      \
        (void)roots;                                                                     \
        for (int64_t q = 0; q < s && m == 1; q++)                                        \
            dft_##r(xr + q * ROW, xi + q * ROW, PAIR, yr + q * ROW, yi + q * ROW, PAIR); \
        for (int64_t at = 0; at < s * m * ROW && m > 1; at += m * ROW) {                 \
            for (int64_t j = at; j < at + m * PAIR; j += PAIR)                           \
                dft_##r(xr + j, xi + j, m * PAIR, yr + j, yi + j, m * PAIR);             \
        }                                                                                \
    }

RADICES_FROM_2(ROWS)
#endif

// A complex element in memory: where it is, and whether it is absent or conjugate.
struct element {
    int64_t at;
    bool is_none, is_conjugate;
};

static inline struct element find_element(const struct cpu_memory *memory, int64_t e)
{
    if (!memory->index)
        return (struct element){ e * memory->stride, false, false };
    const int64_t index = memory->index[e];
    if (index >= 0)
        return (struct element){ index * memory->stride, false, false };
    return (struct element){ (-2 - index) * memory->stride, index == -1, true };
}

static void load_any(void *tile, const struct cpu_memory *from, int64_t first, int64_t n)
{
    const R *re = from->re, *im = from->im;
    R *t = tile;

    for (int64_t e = 0; e < n; e++, t += PAIR) {
        const struct element at = find_element(from, first + e);
        for (int lane = 0; lane < LANES; lane++) {
            const int source = lane < from->lanes ? lane : 0;
            const int64_t offset = from->lane_offset[source] + at.at;
            const R imaginary = at.is_none || !im ? (R)0 : im[offset];
            t[lane] = at.is_none ? (R)0 : re[offset];
            t[lane + LANES] = at.is_conjugate ? -imaginary : imaginary;
        }
    }
}

static void store_any(const void *tile, const struct cpu_memory *to, int64_t first,
                      int64_t n)
{
    R *re = to->re, *im = to->im;
    const R *t = tile;

    for (int64_t e = 0; e < n; e++, t += PAIR) {
        const struct element at = find_element(to, first + e);
        if (at.is_none)
            continue;
        for (int lane = 0; lane < to->lanes; lane++) {
            const int64_t offset = to->lane_offset[lane] + at.at;
            if (re)
                re[offset] = t[lane];
            if (im)
                im[offset] = t[lane + LANES];
        }
    }
}

#if LANES > 1

// Where lanes are: neighbours in memory, or all there, each `step` reals behind the one before.
struct lane_way {
    bool are_apart;
    int64_t step;
    int lanes;
};

INLINE struct lane_way lane_way(const struct cpu_memory *memory, bool are_apart)
{
    return (struct lane_way){ are_apart,
                              memory->lane_offset[are_apart] - memory->lane_offset[0],
                              memory->lanes };
}

INLINE V get_reals(const R *from, struct lane_way way)
{
    return way.are_apart ? collect_reals(from, way.step) : LOAD_PART(from, way.lanes);
}

INLINE void put_reals(R *to, struct lane_way way, V value)
{
    if (way.are_apart)
        spread_reals(to, way.step, value);
    else
        STORE_PART(to, value, way.lanes);
}

// Pairs of the first half of the lanes, or of the other one.
INLINE V get_pairs(const R *from, struct lane_way way, int half)
{
    return way.are_apart ? collect_pairs(from + half * (LANES / 2) * way.step, way.step)
                         : LOAD_PART(from + half * LANES, 2 * way.lanes - half * LANES);
}

INLINE void put_pairs(R *to, struct lane_way way, int half, V value)
{
    if (way.are_apart)
        spread_pairs(to + half * (LANES / 2) * way.step, way.step, value);
    else
        STORE_PART(to + half * LANES, value, 2 * way.lanes - half * LANES);
}

// Vectors load as they are, or in pairs to be parted.
INLINE void load_vectors(R *t, const struct cpu_memory *from, int64_t first, int64_t n,
                         struct lane_way way)
{
    const R *re = (const R *)from->re + from->lane_offset[0];
    const R *im = from->im ? (const R *)from->im + from->lane_offset[0] : NULL;
    const bool is_interleaved = im && (im == re + 1 || re == im + 1);
    const R *base = re < im ? re : im;
    R *even = im == re + 1 ? t : t + LANES, *odd = im == re + 1 ? t + LANES : t;

    for (int64_t e = 0; e < n; e++) {
        const struct element at = find_element(from, first + e);
        const int64_t k = e * PAIR;
        if (!way.are_apart && from->ahead && is_interleaved)
            ASK_PAIR(base + at.at + from->ahead);
        if (at.is_none) {
            STORE(t + k, CONSTANT(0));
            STORE(t + k + LANES, CONSTANT(0));
        } else if (is_interleaved) {
            const V a = get_pairs(base + at.at, way, 0);
            const V b = get_pairs(base + at.at, way, 1);
            STORE(even + k, SHUFFLE(a, b, EVEN, 0));
            STORE(odd + k, SHUFFLE(a, b, ODD, 0));
        } else {
            STORE(t + k, get_reals(re + at.at, way));
            STORE(t + k + LANES, im ? get_reals(im + at.at, way) : CONSTANT(0));
        }
        if (at.is_conjugate)
            STORE(t + k + LANES, NEG(LOAD(t + k + LANES)));
    }
}

INLINE void store_vectors(const R *t, const struct cpu_memory *to, int64_t first,
                          int64_t n, struct lane_way way)
{
    R *re = to->re ? (R *)to->re + to->lane_offset[0] : NULL;
    R *im = to->im ? (R *)to->im + to->lane_offset[0] : NULL;
    const bool is_interleaved = re && im && (im == re + 1 || re == im + 1);
    R *base = re < im ? re : im;
    const R *even = im == re + 1 ? t : t + LANES, *odd = im == re + 1 ? t + LANES : t;

    for (int64_t e = 0; e < n; e++) {
        const struct element at = find_element(to, first + e);
        const int64_t k = e * PAIR;
        if (at.is_none)
            continue;
        if (is_interleaved) {
            const V a = LOAD(even + k), b = LOAD(odd + k);
            put_pairs(base + at.at, way, 0, SHUFFLE(a, b, LOW, 0));
            put_pairs(base + at.at, way, 1, SHUFFLE(a, b, HIGH, 0));
        } else {
            if (re)
                put_reals(re + at.at, way, LOAD(t + k));
            if (im)
                put_reals(im + at.at, way, LOAD(t + k + LANES));
        }
    }
}

static void load_lanes(void *tile, const struct cpu_memory *from, int64_t first,
                       int64_t n)
{
    load_vectors(tile, from, first, n, lane_way(from, false));
}

static void store_lanes(const void *tile, const struct cpu_memory *to, int64_t first,
                        int64_t n)
{
    store_vectors(tile, to, first, n, lane_way(to, false));
}

static void load_lanes_apart(void *tile, const struct cpu_memory *from, int64_t first,
                             int64_t n)
{
    load_vectors(tile, from, first, n, lane_way(from, true));
}

static void store_lanes_apart(const void *tile, const struct cpu_memory *to,
                              int64_t first, int64_t n)
{
    store_vectors(tile, to, first, n, lane_way(to, true));
}

static void stream_lanes(const void *tile, const struct cpu_memory *to, int64_t first,
                         int64_t n)
{
    R *re = (R *)to->re + to->lane_offset[0] + first * to->stride;
    R *im = (R *)to->im + to->lane_offset[0] + first * to->stride;
    const R *t = tile;

    for (int64_t e = 0; e < n; e++, t += PAIR, re += to->stride, im += to->stride)
        STREAM_INTERLEAVED(re, im, 0, LOAD(t), LOAD(t + LANES));
}

// How a row's next LANES reals are read and written, whose elements lie `stride` reals apart.
typedef V collect(const R *from, int64_t stride);
typedef void spread(R *to, int64_t stride, V v);

// Rows of reals or pairs from `place` on.
struct block {
    int64_t place, stride;
    int64_t asked; // the rows' memory from here on is asked for, if it is not 0
};

// LANES reals of every row to tile rows: t[step * j], swapped pairwise by flip.
INLINE void load_block(R *t, int64_t step, int flip, const R *base, const int64_t *offset,
                       struct block b, collect *get)
{
    V v[LANES];
    for (int i = 0; i < LANES; i++) {
        if (b.asked)
            ASK_NEAR(base + offset[i] + b.asked);
        v[i] = get(base + offset[i] + b.place, b.stride);
    }
    transpose(v);
    for (int j = 0; j < LANES; j++)
        STORE(t + step * (j ^ flip), v[j]);
}

INLINE void store_block(const R *t, int64_t step, int flip, R *base,
                        const int64_t *offset, int lanes, struct block b, spread *put)
{
    V v[LANES];
    for (int j = 0; j < LANES; j++)
        v[j] = LOAD(t + step * (j ^ flip));
    transpose(v);
    if (lanes == LANES) { // unrolled, so that v stays in registers
        for (int i = 0; i < LANES; i++)
            put(base + offset[i] + b.place, b.stride, v[i]);
    } else {
        for (int i = 0; i < LANES; i++) {
            if (i < lanes)
                put(base + offset[i] + b.place, b.stride, v[i]);
        }
    }
}

// The same of rows of fewer reals than LANES.
INLINE void load_few(R *t, int64_t step, int flip, const R *base, const int64_t *offset,
                     int count)
{
    V v[LANES];
    for (int i = 0; i < LANES; i++)
        v[i] = LOAD_PART(base + offset[i], count);
    transpose(v);
    for (int j = 0; j < LANES; j++) {
        if (j < count)
            STORE(t + step * (j ^ flip), v[j]);
    }
}

INLINE void store_few(const R *t, int64_t step, int flip, R *base, const int64_t *offset,
                      int lanes, int count)
{
    V v[LANES];
    for (int j = 0; j < LANES; j++)
        v[j] = j < count ? LOAD(t + step * (j ^ flip)) : CONSTANT(0);
    transpose(v);
    for (int i = 0; i < LANES; i++) {
        if (i < lanes)
            STORE_PART(base + offset[i], v[i], count);
    }
}

static void load_short_rows(R *t, const struct cpu_memory *from, const int64_t *offset,
                            int n)
{
    const R *re = from->re, *im = from->im;

    if (im && (im == re + 1 || re == im + 1)) {
        const int flip = re > im;
        load_few(t, LANES, flip, flip ? im : re, offset, 2 * n);
        return;
    }
    load_few(t, PAIR, 0, re, offset, n);
    if (im)
        load_few(t + LANES, PAIR, 0, im, offset, n);
    for (int e = 0; !im && e < n; e++)
        STORE(t + e * PAIR + LANES, CONSTANT(0));
}

static void store_short_rows(const R *t, const struct cpu_memory *to,
                             const int64_t *offset, int n)
{
    R *re = to->re, *im = to->im;

    if (re && im && (im == re + 1 || re == im + 1)) {
        const int flip = re > im;
        store_few(t, LANES, flip, flip ? im : re, offset, to->lanes, 2 * n);
        return;
    }
    if (re)
        store_few(t, PAIR, 0, re, offset, to->lanes, n);
    if (im)
        store_few(t + LANES, PAIR, 0, im, offset, to->lanes, n);
}

// A row of `count` reals is moved in blocks of LANES, the last one overlapping the one
// before: where the block behind `at` begins, or -1.
static inline int64_t next_block(int64_t at, int64_t count)
{
    const int64_t last = count - LANES;
    if (at == last)
        return -1;
    return at + LANES < last ? at + LANES : last;
}

// What is asked for when rows of `count` reals are read at `at`: what is soon to come of them, or
// of the rows `ahead` behind them; 0: nothing is. Rows are read in turn, a line of the caches
// of each, which a processor's own prefetchers follow late. Twice as near, or four times as far, is
// up to 3 % slower on a Zen 5 processor; a tile ahead, as far as other memory is asked for, 5 %.
static inline int64_t asked_for(int64_t at, int64_t count, int64_t ahead)
{
    enum { SOON = 512 / (int)sizeof(R) };
    if (!ahead)
        return 0;
    return at + SOON < count ? at + SOON : ahead + at + SOON - count;
}

static void row_offsets(int64_t *offset, const struct cpu_memory *memory, int64_t first)
{
    for (int lane = 0; lane < LANES; lane++)
        offset[lane] =
            memory->lane_offset[lane < memory->lanes ? lane : 0] + first * memory->stride;
}

// Rows of reals, transposed to vectors. Of elements that are neighbours in memory, or not.
INLINE void load_transposed(R *t, const struct cpu_memory *from, int64_t first, int64_t n,
                            bool are_apart)
{
    const R *re = from->re, *im = from->im;
    const int64_t stride = from->stride;
    int64_t offset[LANES];

    row_offsets(offset, from, first);
    if (im && (im == re + 1 || re == im + 1)) {
        const int flip = re > im;
        const R *base = flip ? im : re;
        for (int64_t at = 0; at >= 0; at = next_block(at, 2 * n)) {
            const int64_t asked = asked_for(at, 2 * n, from->ahead);
            const struct block apart = { at / 2 * stride, stride, 0 };
            const struct block near = { at, stride, asked };
            load_block(t + at * LANES, LANES, flip, base, offset,
                       are_apart ? apart : near,
                       are_apart ? collect_pairs : collect_neighbours);
        }
        return;
    }
    for (int64_t at = 0; at >= 0; at = next_block(at, n)) {
        const int64_t asked = asked_for(at, n, from->ahead);
        const struct block apart = { at * stride, stride, 0 };
        const struct block near = { at, stride, asked };
        collect *get = are_apart ? collect_reals : collect_neighbours;
        load_block(t + at * PAIR, PAIR, 0, re, offset, are_apart ? apart : near, get);
        if (im)
            load_block(t + at * PAIR + LANES, PAIR, 0, im, offset,
                       are_apart ? apart : near, get);
    }
    for (int64_t e = 0; !im && e < n; e++)
        STORE(t + e * PAIR + LANES, CONSTANT(0));
}

INLINE void store_transposed(const R *t, const struct cpu_memory *to, int64_t first,
                             int64_t n, bool are_apart)
{
    R *re = to->re, *im = to->im;
    const int64_t stride = to->stride;
    int64_t offset[LANES];

    row_offsets(offset, to, first);
    if (re && im && (im == re + 1 || re == im + 1)) {
        const int flip = re > im;
        R *base = flip ? im : re;
        for (int64_t at = 0; at >= 0; at = next_block(at, 2 * n)) {
            const struct block b = { are_apart ? at / 2 * stride : at, stride, 0 };
            store_block(t + at * LANES, LANES, flip, base, offset, to->lanes, b,
                        are_apart ? spread_pairs : spread_neighbours);
        }
        return;
    }
    for (int64_t at = 0; at >= 0; at = next_block(at, n)) {
        const struct block b = { are_apart ? at * stride : at, stride, 0 };
        spread *put = are_apart ? spread_reals : spread_neighbours;
        if (re)
            store_block(t + at * PAIR, PAIR, 0, re, offset, to->lanes, b, put);
        if (im)
            store_block(t + at * PAIR + LANES, PAIR, 0, im, offset, to->lanes, b, put);
    }
}

static bool elements_are_apart(const struct cpu_memory *memory)
{
    const R *re = memory->re, *im = memory->im;
    const bool is_interleaved = re && im && (im == re + 1 || re == im + 1);
    return memory->stride != (is_interleaved ? 2 : 1);
}

// Has a row fewer reals than LANES?
static bool are_short(const struct cpu_memory *memory, int64_t n)
{
    const R *re = memory->re, *im = memory->im;
    const bool is_interleaved = re && im && (im == re + 1 || re == im + 1);
    return (is_interleaved ? 2 * n : n) < LANES;
}

static void load_rows(void *tile, const struct cpu_memory *from, int64_t first, int64_t n)
{
    int64_t offset[LANES];

    if (are_short(from, n)) {
        row_offsets(offset, from, first);
        load_short_rows(tile, from, offset, (int)n);
    } else if (elements_are_apart(from))
        load_transposed(tile, from, first, n, true);
    else
        load_transposed(tile, from, first, n, false);
}

static void store_rows(const void *tile, const struct cpu_memory *to, int64_t first,
                       int64_t n)
{
    int64_t offset[LANES];

    if (are_short(to, n)) {
        row_offsets(offset, to, first);
        store_short_rows(tile, to, offset, (int)n);
    } else if (elements_are_apart(to))
        store_transposed(tile, to, first, n, true);
    else
        store_transposed(tile, to, first, n, false);
}

#endif

static void stream(void *to, const void *from, int64_t n)
{
    enum { LINE_BYTES = 64, LINE = LINE_BYTES / (int)sizeof(R) };
    const R *f = from;
    R *t = to;
    int64_t i = 0;

    for (; i < n && (uintptr_t)(t + i) % LINE_BYTES != 0; i++)
        t[i] = f[i];
    for (; i + LINE <= n; i += LINE) {
        for (int k = 0; k < LINE; k += LANES)
            STREAM(t + i + k, LOAD(f + i + k));
    }
    for (; i < n; i++)
        t[i] = f[i];
}

static void stream_pieces(void *to, int64_t to_step, const void *from, int64_t from_step,
                          int64_t n, int64_t count)
{
    const R *f = from;
    R *t = to;

    for (int64_t e = 0; e < count; e++, t += to_step, f += from_step) {
        for (int64_t i = 0; i < n; i += LANES)
            STREAM(t + i, LOAD(f + i));
    }
}

static void copy_pieces(void *to, int64_t to_step, const void *from, int64_t from_step,
                        int64_t n, int64_t count, bool asks_ahead)
{
    const R *f = from;
    R *t = to;

    for (int64_t e = 0; e < count; e++, t += to_step, f += from_step) {
        for (int64_t i = 0; asks_ahead && i < n; i += LANES)
            ASK(f + n + i);
        for (int64_t i = 0; i < n; i += LANES)
            STORE(t + i, LOAD(f + i));
    }
}

static void gather(void *to, const void *from, const int64_t *index, int64_t n)
{
    const struct cpu_memory map = { .stride = PAIR, .index = index };
    const R *f = from;
    R *t = to;

    for (int64_t e = 0; e < n; e++, t += PAIR) {
        const struct element at = find_element(&map, e);
        const V re = at.is_none ? CONSTANT(0) : LOAD(f + at.at);
        const V im = at.is_none ? CONSTANT(0) : LOAD(f + at.at + LANES);
        STORE(t, re);
        STORE(t + LANES, at.is_conjugate ? NEG(im) : im);
    }
}

static void scatter(void *to, const void *from, const int64_t *index, int64_t n)
{
    const R *f = from;
    R *t = to;
    for (int64_t e = 0; e < n; e++, f += PAIR) {
        STORE(t + index[e] * PAIR, LOAD(f));
        STORE(t + index[e] * PAIR + LANES, LOAD(f + LANES));
    }
}

static void multiply(void *tile, const void *table, int64_t n, bool exchange)
{
    R *t = tile;
    const R *w = table;
    const int64_t re = exchange ? LANES : 0, im = exchange ? 0 : LANES;

    for (int64_t e = 0; e < n; e++, t += PAIR, w += 2) {
        const V a = LOAD(t), b = LOAD(t + LANES);
        const V c = BROADCAST(w[0]), d = BROADCAST(w[1]);
        STORE(t + re, FNMA(b, d, MUL(a, c)));
        STORE(t + im, FMA(b, c, MUL(a, d)));
    }
}

// y[e] = spectrum[e] x[e] with parts exchanged; element 0 carries x0 through the transform
// back to every output, and *sum is output 0.
static void rader(void *tile, const void *x0, void *sum, const void *table, int64_t n)
{
    R *t = tile;
    R *s = sum;
    const V re = LOAD((const R *)x0), im = LOAD((const R *)x0 + LANES);
    const V sum_re = ADD(re, LOAD(t)), sum_im = ADD(im, LOAD(t + LANES));

    multiply(tile, table, n, true);
    STORE(t, ADD(LOAD(t), im));
    STORE(t + LANES, ADD(LOAD(t + LANES), re));
    STORE(s, sum_im);
    STORE(s + LANES, sum_re);
}

#define MULTIPLY_COMPLEX(re, im, ar, ai, br, bi) \
    do {                                         \
        const V r_ = FNMA(ai, bi, MUL(ar, br));  \
        im = FMA(ai, br, MUL(ar, bi));           \
        re = r_;                                 \
    } while (0)

static void twiddle(void *tile, const void *lanes, const void *rows, int64_t n)
{
    R *t = tile;
    const R *l = lanes, *r = rows;

    for (int64_t e = 0; e < n; e++, t += PAIR, l += PAIR, r += 2) {
        V wr, wi, re, im;
        MULTIPLY_COMPLEX(wr, wi, LOAD(l), LOAD(l + LANES), BROADCAST(r[0]),
                         BROADCAST(r[1]));
        MULTIPLY_COMPLEX(re, im, LOAD(t), LOAD(t + LANES), wr, wi);
        STORE(t, re);
        STORE(t + LANES, im);
    }
}

static void multiply_tile(void *tile, const void *roots, int64_t n)
{
    R *t = tile;
    const R *w = roots;

    for (int64_t e = 0; e < n; e++, t += PAIR, w += PAIR) {
        V re, im;
        MULTIPLY_COMPLEX(re, im, LOAD(t), LOAD(t + LANES), LOAD(w), LOAD(w + LANES));
        STORE(t, re);
        STORE(t + LANES, im);
    }
}

static void roots(void *tile, const void *lanes, const void *rows, int64_t step,
                  int64_t n)
{
    R *t = tile;
    const R *l = lanes, *r = rows;

    for (int64_t e = 0; e < n; e++, t += PAIR, l += step * PAIR, r += step * 2) {
        V re, im;
        MULTIPLY_COMPLEX(re, im, LOAD(l), LOAD(l + LANES), BROADCAST(r[0]),
                         BROADCAST(r[1]));
        STORE(t, re);
        STORE(t + LANES, im);
    }
}

#if LANES > 1
// Numbers to where both of their parts are stored, `at` reals from yr and yi.
typedef void put_function(R *yr, R *yi, ptrdiff_t at, V re, V im);

INLINE void put_twiddled(put_function *put, const R *t, const struct cpu_factors *f,
                         const struct cpu_vectors *y, int64_t n)
{
    const R *roots = f->roots, *l = f->lanes, *r = f->row;
    const ptrdiff_t step = f->step * PAIR, ys = y->stride;
    R *yr = y->re, *yi = y->im;
    V all_re = CONSTANT(1), all_im = CONSTANT(0);

    if (l)
        MULTIPLY_COMPLEX(all_re, all_im, LOAD(l), LOAD(l + LANES), BROADCAST(r[0]),
                         BROADCAST(r[1]));
    for (int64_t e = 0; e < n; e++, t += PAIR, roots += step) {
        V wr = LOAD(roots), wi = LOAD(roots + LANES), re, im;
        if (l)
            MULTIPLY_COMPLEX(wr, wi, wr, wi, all_re, all_im);
        MULTIPLY_COMPLEX(re, im, LOAD(t), LOAD(t + LANES), wr, wi);
        put(yr, yi, e * ys, re, im);
    }
}

INLINE void put_scaled(put_function *put, const R *t, double scale,
                       const struct cpu_vectors *y, int64_t n)
{
    const V factor = BROADCAST((R)scale);
    const ptrdiff_t ys = y->stride;
    R *yr = y->re, *yi = y->im;

    for (int64_t e = 0; e < n; e++, t += PAIR)
        put(yr, yi, e * ys, MUL(LOAD(t), factor), MUL(LOAD(t + LANES), factor));
}

#define OUTPUT(name, STORE_PAIR)                                               \
    INLINE void put_##name(R *yr, R *yi, ptrdiff_t at, V re, V im)             \
    {                                                                          \
        STORE_PAIR(yr, yi, at, re, im);                                        \
    }                                                                          \
    static void twiddled_##name(const void *tile, const struct cpu_factors *f, \
                                const struct cpu_vectors *y, int64_t n)        \
    {                                                                          \
        put_twiddled(put_##name, tile, f, y, n);                               \
    }                                                                          \
    static void scaled_##name(const void *tile, const struct cpu_factors *f,   \
                              const struct cpu_vectors *y, int64_t n)          \
    {                                                                          \
        put_scaled(put_##name, tile, f->scale, y, n);                          \
    }
OUTPUT(planar, STORE_VECTORS)
OUTPUT(interleaved, STORE_INTERLEAVED)
OUTPUT(streamed, STREAM_INTERLEAVED)
#define OUTPUTS(what)                                                         \
    {                                                                         \
        [CPU_PLANAR] = what##_planar, [CPU_INTERLEAVED] = what##_interleaved, \
        [CPU_STREAMED] = what##_streamed,                                     \
    }
#endif

static void scale(void *tile, double factor, int64_t n)
{
    R *t = tile;
    const V f = BROADCAST((R)factor);
    for (int64_t i = 0; i < 2 * n; i++, t += LANES)
        STORE(t, MUL(LOAD(t), f));
}

// X[k] = E + w O, X[m-k] = conj(E - w O); E and O are the transforms of the even and the
// odd reals: Z[k] = E + i O.
static void split(const struct cpu_vectors *low, const struct cpu_vectors *high,
                  const struct cpu_vectors *out_low, const struct cpu_vectors *out_high,
                  const void *roots, int64_t n)
{
    const R *w = roots;
    const V half = CONSTANT(0.5);
    for (int64_t e = 0; e < n; e++, w += 2) {
        const int64_t l = e * low->stride, h = e * high->stride;
        const V ar = LOAD((R *)low->re + l), ai = LOAD((R *)low->im + l);
        const V br = LOAD((R *)high->re + h), bi = LOAD((R *)high->im + h);
        const V wr = BROADCAST(w[0]), wi = BROADCAST(w[1]);
        const V er = MUL(half, ADD(ar, br)), ei = MUL(half, SUB(ai, bi));
        const V or = MUL(half, ADD(ai, bi)), oi = MUL(half, SUB(br, ar));
        const V tr = FNMA(oi, wi, MUL(or, wr)), ti = FMA(oi, wr, MUL(or, wi));
        const int64_t ol = e * out_low->stride, oh = e * out_high->stride;
        STORE((R *)out_low->re + ol, ADD(er, tr));
        STORE((R *)out_low->im + ol, ADD(ei, ti));
        STORE((R *)out_high->re + oh, SUB(er, tr));
        STORE((R *)out_high->im + oh, SUB(ti, ei));
    }
}

// Z[k] = E + i O, Z[m-k] = conj(E) + i conj(O) with E = X[k] + conj X[m-k] and
// O = conj(w) (X[k] - conj X[m-k]); real and imaginary parts are stored exchanged.
static void merge(const struct cpu_vectors *low, const struct cpu_vectors *high,
                  const struct cpu_vectors *out_low, const struct cpu_vectors *out_high,
                  const void *roots, int64_t n)
{
    const R *w = roots;
    for (int64_t e = 0; e < n; e++, w += 2) {
        const int64_t l = e * low->stride, h = e * high->stride;
        const V ar = LOAD((R *)low->re + l), ai = LOAD((R *)low->im + l);
        const V br = LOAD((R *)high->re + h), bi = LOAD((R *)high->im + h);
        const V wr = BROADCAST(w[0]), wi = BROADCAST(w[1]);
        const V er = ADD(ar, br), ei = SUB(ai, bi);
        const V dr = SUB(ar, br), di = ADD(ai, bi);
        const V or = FMA(di, wi, MUL(dr, wr)), oi = FNMA(dr, wi, MUL(di, wr));
        const int64_t ol = e * out_low->stride, oh = e * out_high->stride;
        STORE((R *)out_low->im + ol, SUB(er, oi));
        STORE((R *)out_low->re + ol, ADD(ei, or));
        STORE((R *)out_high->im + oh, ADD(er, oi));
        STORE((R *)out_high->re + oh, SUB(or, ei));
    }
}

#define STEP_ENTRY(r) [r] = step_##r,
#define ROWS_ENTRY(r) [r] = rows_##r,

#if LANES > 1
extern const struct cpu_fused JOIN(kal_cpu_fused_, KAL_SIMD_SUFFIX);
extern const struct cpu_line_kernels JOIN(kal_cpu_line_, KAL_SIMD_SUFFIX);
extern cpu_short *const JOIN(kal_cpu_short_, KAL_SIMD_SUFFIX)[CPU_LONGEST + 1];
extern cpu_short *const JOIN(kal_cpu_short_scaled_, KAL_SIMD_SUFFIX)[CPU_LONGEST + 1];
extern const struct cpu_pair_kernels JOIN(kal_cpu_pairs_, KAL_SIMD_SUFFIX);
extern const struct cpu_facing_kernels JOIN(kal_cpu_facing_, KAL_SIMD_SUFFIX);
#endif
#if LANES > 1 && REGISTER_BYTES <= 32
extern cpu_short *const JOIN(kal_cpu_several_, KAL_SIMD_SUFFIX)[CPU_LONGEST + 1];
extern cpu_apart_run *const JOIN(kal_cpu_strided_, KAL_SIMD_SUFFIX)[CPU_MAX_RADIX + 1];
#endif
#if LANES > 2
extern const struct cpu_group_kernels JOIN(kal_cpu_groups_, KAL_SIMD_SUFFIX);
extern const struct cpu_plane_kernels JOIN(kal_cpu_planes_, KAL_SIMD_SUFFIX);
#endif
extern const struct cpu_real_kernels JOIN(kal_cpu_reals_, KAL_SIMD_SUFFIX);
extern const struct cpu_real_kernels JOIN(kal_cpu_reals_scaled_, KAL_SIMD_SUFFIX);
extern const struct cpu_row_kernels JOIN(kal_cpu_rows_, KAL_SIMD_SUFFIX);
extern const struct cpu_copy_kernels JOIN(kal_cpu_copies_, KAL_SIMD_SUFFIX);
#if LANES == 1 || REGISTER_BYTES <= 32
extern const struct cpu_apart_kernels JOIN(kal_cpu_apart_, KAL_SIMD_SUFFIX);
#endif
#if defined KAL_SIMD_AVX2 || defined KAL_SIMD_AVX512
#if defined KAL_SIMD_F32
#define NARROW(name) kal_cpu_##name##_f32
#else
#define NARROW(name) kal_cpu_##name##_f64
#endif
extern const struct cpu_apart_kernels NARROW(apart_alone);
extern cpu_apart_run *const NARROW(strided_narrow)[CPU_MAX_RADIX + 1];

static const struct cpu_narrow_kernels narrow = {
    .alone = &NARROW(apart_alone),
    .strided = NARROW(strided_narrow),
};
#endif
extern const struct cpu_kernels JOIN(kal_cpu_kernels_, KAL_SIMD_SUFFIX);

const struct cpu_kernels JOIN(kal_cpu_kernels_, KAL_SIMD_SUFFIX) = {
    .level = TEXT(KAL_SIMD_SUFFIX),
    .lanes = LANES,
    .has_fma = HAS_FMA,
    .dft = { RADICES_FROM_2(STEP_ENTRY) },
#if LANES > 1
    .dft_rows = { RADICES_FROM_2(ROWS_ENTRY) },
    .fused = &JOIN(kal_cpu_fused_, KAL_SIMD_SUFFIX),
    .line = &JOIN(kal_cpu_line_, KAL_SIMD_SUFFIX),
    .shorts = JOIN(kal_cpu_short_, KAL_SIMD_SUFFIX),
    .scaled_shorts = JOIN(kal_cpu_short_scaled_, KAL_SIMD_SUFFIX),
    .pairs = &JOIN(kal_cpu_pairs_, KAL_SIMD_SUFFIX),
    .facing = &JOIN(kal_cpu_facing_, KAL_SIMD_SUFFIX),
#endif
#if LANES > 1 && REGISTER_BYTES <= 32
    .several = JOIN(kal_cpu_several_, KAL_SIMD_SUFFIX),
    .strided = JOIN(kal_cpu_strided_, KAL_SIMD_SUFFIX),
#endif
#if LANES > 2
    .groups = &JOIN(kal_cpu_groups_, KAL_SIMD_SUFFIX),
    .planes = &JOIN(kal_cpu_planes_, KAL_SIMD_SUFFIX),
#endif
    .reals = &JOIN(kal_cpu_reals_, KAL_SIMD_SUFFIX),
    .scaled_reals = &JOIN(kal_cpu_reals_scaled_, KAL_SIMD_SUFFIX),
    .rows = &JOIN(kal_cpu_rows_, KAL_SIMD_SUFFIX),
    .copies = &JOIN(kal_cpu_copies_, KAL_SIMD_SUFFIX),
#if LANES == 1 || REGISTER_BYTES <= 32
    .apart = &JOIN(kal_cpu_apart_, KAL_SIMD_SUFFIX),
#endif
#if defined NARROW
    .narrow = &narrow,
#endif
#if LANES > 1
    .load_lanes = load_lanes,
    .store_lanes = store_lanes,
    .load_lanes_apart = load_lanes_apart,
    .store_lanes_apart = store_lanes_apart,
    .load_rows = load_rows,
    .store_rows = store_rows,
#else // every access is as good as any other
    .load_lanes = load_any,
    .store_lanes = store_any,
    .load_lanes_apart = load_any,
    .store_lanes_apart = store_any,
    .load_rows = load_any,
    .store_rows = store_any,
#endif
    .load_any = load_any,
    .store_any = store_any,
#if LANES > 1
    .stream_lanes = stream_lanes,
    .twiddled = OUTPUTS(twiddled),
    .scaled = OUTPUTS(scaled),
#endif
    .stream = stream,
    .stream_pieces = stream_pieces,
    .copy_pieces = copy_pieces,
    .gather = gather,
    .scatter = scatter,
    .multiply = multiply,
    .rader = rader,
    .twiddle = twiddle,
    .multiply_tile = multiply_tile,
    .roots = roots,
    .scale = scale,
    .split = split,
    .merge = merge,
};
