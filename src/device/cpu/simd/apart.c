// SPDX-License-Identifier: MIT
// Short lines wherever they are: LANES of them to a tile, through a codelet, and back.
// One lane needs no tile: codelets read and write elements where they are.
#include "device/cpu/kernels.h"

#include "device/cpu/simd/simd.h"

#if LANES == 1 || REGISTER_BYTES <= 32
#include "device/cpu/simd/real_codelets.h"

enum {
    PAIR = 2 * LANES, // reals of one element of a tile
    TILE = PAIR * CPU_MAX_RADIX,
};

// Whole transforms, from a tile to another one, or by one lane from memory: reals in pairs.
#if LANES == 1
#define IN_STRIDE  x->stride
#define OUT_STRIDE y->stride
#else
#define IN_STRIDE  PAIR
#define OUT_STRIDE PAIR
#endif
#define WHOLE(name, n)                                                               \
    static void name##_##n(const struct cpu_vectors *x, const struct cpu_vectors *y, \
                           int64_t m, int64_t s, const void *w)                      \
    {                                                                                \
        (void)m;                                                                     \
        (void)s;                                                                     \
        (void)w;                                                                     \
        real_##name##_##n(x->re, x->im, IN_STRIDE, y->re, y->im, OUT_STRIDE);        \
    }
#define BOTH(n) WHOLE(r2c, n) WHOLE(c2r, n)
// clang-format off
#define LENGTHS(X) \
    X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12) X(13) X(14) X(15) X(16) X(17) \
    X(18) X(19) X(20) X(22) X(23) X(24) X(25) X(26) X(27) X(28) X(29) X(30) X(31) X(32)
// clang-format on

LENGTHS(BOTH)

#if LANES == 1
// Where a codelet finds the parts of its elements: reals in pairs are elements twice as far apart.
INLINE struct cpu_vectors line_vectors(const void *re, const void *im,
                                       const struct cpu_apart_side *side, bool is_real)
{
    return is_real ? (struct cpu_vectors){ (R *)re, (R *)re + side->stride,
                                           2 * side->stride, 0 }
                   : (struct cpu_vectors){ (R *)re, (R *)im, side->stride, 0 };
}

static void scale_lines(R *re, R *im, const struct cpu_apart_lines *lines, int64_t count)
{
    const R scale = (R)lines->scale;
    for (int64_t i = 0; i < count; i++) {
        for (int64_t e = 0; e < lines->out; e++) {
            const int64_t at = i * lines->y.line + e * lines->y.stride;
            re[at] *= scale;
            if (!lines->y.is_real)
                im[at] *= scale;
        }
    }
}

// By `run`, which comes here for lines that are scaled: so many at a time, while they are near.
APART void run_scaled(cpu_apart_run *run, const void *xr, const void *xi, void *yr,
                      void *yi, int64_t count, const struct cpu_apart_lines *lines)
{
    enum { AT_ONCE = 16 };
    struct cpu_apart_lines plain = *lines;
    plain.scale = 1.0;
    for (int64_t i = 0; i < count; i += AT_ONCE) {
        const int64_t some = count - i < AT_ONCE ? count - i : AT_ONCE;
        const ptrdiff_t in = i * lines->x.line, out = i * lines->y.line;
        run((const R *)xr + in, (const R *)xi + in, (R *)yr + out, (R *)yi + out, some,
            &plain);
        scale_lines((R *)yr + out, (R *)yi + out, lines, some);
    }
}

static void run(const void *xr, const void *xi, void *yr, void *yi, int64_t count,
                const struct cpu_apart_lines *lines)
{
    if (lines->scale != 1.0) {
        run_scaled(run, xr, xi, yr, yi, count, lines);
        return;
    }
    struct cpu_vectors from = line_vectors(xr, xi, &lines->x, lines->x.is_real);
    struct cpu_vectors to = line_vectors(yr, yi, &lines->y, lines->y.is_real);

    for (int64_t i = 0; i < count; i++) {
        lines->dft(&from, &to, 1, 1, NULL);
        kal_cpu_advance(&from, lines->x.line * (int64_t)sizeof(R));
        kal_cpu_advance(&to, lines->y.line * (int64_t)sizeof(R));
    }
}

// Lines so short that a call for each would take as long as it: codelets within the loop.
#include CODELETS

INLINE void run_alone(codelet_function *dft, bool is_r2c, bool is_c2r, const void *xr,
                      const void *xi, void *yr, void *yi, int64_t count,
                      const struct cpu_apart_lines *lines)
{
    const struct cpu_vectors from = line_vectors(xr, xi, &lines->x, is_r2c),
                             to = line_vectors(yr, yi, &lines->y, is_c2r);
    ptrdiff_t in = 0, out = 0;

    for (int64_t i = 0; i < count; i++) {
        dft((const R *)from.re + in, (const R *)from.im + in, from.stride,
            (R *)to.re + out, (R *)to.im + out, to.stride);
        in += lines->x.line;
        out += lines->y.line;
    }
}

#define ALONE(name, dft, is_r2c, is_c2r)                                                \
    static void name(const void *xr, const void *xi, void *yr, void *yi, int64_t count, \
                     const struct cpu_apart_lines *lines)                               \
    {                                                                                   \
        if (lines->scale != 1.0)                                                        \
            run_scaled(name, xr, xi, yr, yi, count, lines);                             \
        else                                                                            \
            run_alone(dft, is_r2c, is_c2r, xr, xi, yr, yi, count, lines);               \
    }
#define ALONE_LENGTHS(X) \
    X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12) X(13) X(14) X(15) X(16)
#define ALL_ALONE(n)                                \
    ALONE(c2c_alone_##n, dft_##n, false, false)     \
    ALONE(r2c_alone_##n, real_r2c_##n, true, false) \
    ALONE(c2r_alone_##n, real_c2r_##n, false, true)

ALONE_LENGTHS(ALL_ALONE)

#define C2C_ALONE(n) [n] = c2c_alone_##n,
#define R2C_ALONE(n) [n] = r2c_alone_##n,
#define C2R_ALONE(n) [n] = c2r_alone_##n,
#else
#include "device/cpu/simd/apart.h"
#include "device/cpu/simd/interleaved.h"
#include "device/cpu/simd/transpose.h"

#include <string.h>

// Where elements begin on their lines, and where their parts do in a tile: exchanged where
// imaginary parts lead.
struct side {
    R *re, *im;
    ptrdiff_t stride, line, tile_re, tile_im;
    V scale;
};

typedef void move_lines(R *tile, const struct side *side, int n);

// One element to or from LANES lanes: of reals, which lie at `re`; of both parts; and of
// numbers, which begin there.
INLINE void load_reals_at(R *t, const struct side *side, const R *re, const R *im)
{
    (void)im;
    STORE(t, collect_reals(re, side->line));
}

INLINE void store_reals_at(const R *t, const struct side *side, R *re, R *im)
{
    (void)im;
    spread_reals(re, side->line, MUL(side->scale, LOAD(t)));
}

INLINE void load_near_reals_at(R *t, const struct side *side, const R *re, const R *im)
{
    (void)side;
    (void)im;
    STORE(t, LOAD(re));
}

INLINE void store_near_reals_at(const R *t, const struct side *side, R *re, R *im)
{
    (void)im;
    STORE(re, MUL(side->scale, LOAD(t)));
}

INLINE void load_planes_at(R *t, const struct side *side, const R *re, const R *im)
{
    STORE(t, collect_reals(re, side->line));
    STORE(t + LANES, collect_reals(im, side->line));
}

INLINE void store_planes_at(const R *t, const struct side *side, R *re, R *im)
{
    spread_reals(re, side->line, MUL(side->scale, LOAD(t)));
    spread_reals(im, side->line, MUL(side->scale, LOAD(t + LANES)));
}

INLINE void load_near_planes_at(R *t, const struct side *side, const R *re, const R *im)
{
    (void)side;
    STORE(t, LOAD(re));
    STORE(t + LANES, LOAD(im));
}

INLINE void store_near_planes_at(const R *t, const struct side *side, R *re, R *im)
{
    STORE(re, MUL(side->scale, LOAD(t)));
    STORE(im, MUL(side->scale, LOAD(t + LANES)));
}

// Numbers of LANES lines fill two registers, whose quads are parted: number k of the
// first one is of this line, so that parts come to be in the order of lines.
#define LINE_OF(k) ((k) / (QUAD / 2) * QUAD + (k) % (QUAD / 2))
#define EVENS_OF_QUADS(h, j) \
    ((j) / QUAD * QUAD + 2 * ((j) % QUAD) % QUAD + (j) % QUAD / (QUAD / 2) * LANES)
#define ODDS_OF_QUADS(h, j) (EVENS_OF_QUADS(h, j) + 1)

INLINE V collect_numbers(const R *from, ptrdiff_t line)
{
#if defined KAL_SIMD_F32
#define NUMBER(k) *(const IN_MEMORY *)(from + LINE_OF(k) * line)
    return (V)(V_PAIRS){ OF_HALF(NUMBER) };
#else
#define NUMBER(k) (*(const PAIR_IN_MEMORY *)(from + LINE_OF(k) * line))
#if LANES == 2
    return (V)NUMBER(0);
#else
    return (V)__builtin_shufflevector(NUMBER(0), NUMBER(1), 0, 1, 2, 3);
#endif
#endif
#undef NUMBER
}

INLINE void spread_numbers(R *to, ptrdiff_t line, V v)
{
    for (int k = 0; k < LANES / 2; k++) {
#if defined KAL_SIMD_F32
        *(IN_MEMORY *)(to + LINE_OF(k) * line) = ((V_PAIRS)v)[k];
#else
        *(PAIR_IN_MEMORY *)(to + LINE_OF(k) * line) = (V_PAIR){ v[2 * k], v[2 * k + 1] };
#endif
    }
}

INLINE void load_numbers_at(R *t, const struct side *side, const R *first, const R *im)
{
    const V a = collect_numbers(first, side->line),
            b = collect_numbers(first + QUAD / 2 * side->line, side->line);
    (void)im;
    STORE(t + side->tile_re, SHUFFLE(a, b, EVENS_OF_QUADS, 0));
    STORE(t + side->tile_im, SHUFFLE(a, b, ODDS_OF_QUADS, 0));
}

INLINE void store_numbers_at(const R *t, const struct side *side, R *first, R *im)
{
    const V a = MUL(side->scale, LOAD(t + side->tile_re)),
            b = MUL(side->scale, LOAD(t + side->tile_im));
    (void)im;
    spread_numbers(first, side->line, SHUFFLE(a, b, LOW_ONES, 0));
    spread_numbers(first + QUAD / 2 * side->line, side->line,
                   SHUFFLE(a, b, HIGH_ONES, 0));
}

INLINE void load_near_numbers_at(R *t, const struct side *side, const R *first,
                                 const R *im)
{
    V a, b;
    (void)im;
    LOAD_INTERLEAVED(a, b, first, first + 1, 0);
    STORE(t + side->tile_re, a);
    STORE(t + side->tile_im, b);
}

INLINE void store_near_numbers_at(const R *t, const struct side *side, R *first, R *im)
{
    (void)im;
    STORE_INTERLEAVED(first, first + 1, 0, MUL(side->scale, LOAD(t + side->tile_re)),
                      MUL(side->scale, LOAD(t + side->tile_im)));
}

#define MOVE(name, tile_step)                              \
    static void name(R *t, const struct side *side, int n) \
    {                                                      \
        R *re = side->re, *im = side->im;                  \
        for (int e = 0; e < n; e++, t += tile_step) {      \
            name##_at(t, side, re, im);                    \
            re += side->stride;                            \
            im += side->stride;                            \
        }                                                  \
    }
#define MOVES(what, tile_step) MOVE(load_##what, tile_step) MOVE(store_##what, tile_step)

MOVES(reals, LANES)
MOVES(near_reals, LANES)
MOVES(planes, PAIR)
MOVES(near_planes, PAIR)
MOVES(numbers, PAIR)
MOVES(near_numbers, PAIR)

// Elements that are neighbours: quads of LANES lines to registers of a tile, and back.
// The last ones overlap.
typedef R QUAD_IN_MEMORY __attribute__((vector_size(16), aligned(sizeof(R))));

INLINE V collect_quads(const R *from, ptrdiff_t line)
{
#define QUAD_OF(i)             (*(const QUAD_IN_MEMORY *)(from + (i)*QUAD * line))
#if REGISTER_BYTES == 16
    (void)line;
    return (V)QUAD_OF(0);
#elif LANES == 4
    return __builtin_shufflevector(QUAD_OF(0), QUAD_OF(1), 0, 1, 2, 3);
#else
    return __builtin_shufflevector(QUAD_OF(0), QUAD_OF(1), 0, 1, 2, 3, 4, 5, 6, 7);
#endif
#undef QUAD_OF
}

INLINE void spread_quads(R *to, ptrdiff_t line, V v)
{
    for (int q = 0; q < QUADS; q++)
        memcpy(to + q * QUAD * line, (const R *)&v + q * QUAD, QUAD * sizeof(R));
}

INLINE void load_quads(R *t, int step, const R *from, ptrdiff_t line)
{
    V v[QUAD];
    for (int i = 0; i < QUAD; i++)
        v[i] = collect_quads(from + i * line, line);
    transpose_quads(v);
    for (int i = 0; i < QUAD; i++)
        STORE(t + i * step, v[i]);
}

INLINE void store_quads(const R *t, int step, R *to, ptrdiff_t line, V scale)
{
    V v[QUAD];
    for (int i = 0; i < QUAD; i++)
        v[i] = MUL(scale, LOAD(t + i * step));
    transpose_quads(v);
    for (int i = 0; i < QUAD; i++)
        spread_quads(to + i * line, line, v[i]);
}

// The element behind the quad at `e` that the next one begins with.
INLINE int next_quad(int e, int n)
{
    return e + QUAD < n && e + 2 * QUAD > n ? n - QUAD : e + QUAD;
}

static void load_real_rows(R *t, const struct side *side, int n)
{
    for (int e = 0; e < n; e = next_quad(e, n))
        load_quads(t + e * LANES, LANES, side->re + e, side->line);
}

static void store_real_rows(R *t, const struct side *side, int n)
{
    for (int e = 0; e < n; e = next_quad(e, n))
        store_quads(t + e * LANES, LANES, side->re + e, side->line, side->scale);
}

static void load_rows(R *t, const struct side *side, int n)
{
    for (int e = 0; e < n; e = next_quad(e, n)) {
        load_quads(t + e * PAIR, PAIR, side->re + e, side->line);
        load_quads(t + e * PAIR + LANES, PAIR, side->im + e, side->line);
    }
}

static void store_rows(R *t, const struct side *side, int n)
{
    for (int e = 0; e < n; e = next_quad(e, n)) {
        store_quads(t + e * PAIR, PAIR, side->re + e, side->line, side->scale);
        store_quads(t + e * PAIR + LANES, PAIR, side->im + e, side->line, side->scale);
    }
}

static inline struct cpu_vectors tile_vectors(R *tile)
{
    return (struct cpu_vectors){ tile, tile + LANES, PAIR, 0 };
}

enum kind { REALS, PLANES, NUMBERS };

static enum kind kind_of(const R *re, const R *im, const struct cpu_apart_side *side)
{
    return side->is_real ? REALS : im == re + 1 || re == im + 1 ? NUMBERS : PLANES;
}

// By kind, and what the next element is: anywhere, in the next line, or a neighbour.
enum way { ANYWHERE, BESIDE, IN_ROWS, WAYS };

static move_lines *const loads[][WAYS] = {
    [REALS] = { load_reals, load_near_reals, load_real_rows },
    [PLANES] = { load_planes, load_near_planes, load_rows },
    [NUMBERS] = { load_numbers, load_near_numbers, load_numbers },
};
static move_lines *const stores[][WAYS] = {
    [REALS] = { store_reals, store_near_reals, store_real_rows },
    [PLANES] = { store_planes, store_near_planes, store_rows },
    [NUMBERS] = { store_numbers, store_near_numbers, store_numbers },
};

static move_lines *choose(move_lines *const moves[][WAYS], enum kind kind,
                          const struct cpu_apart_side *side, int n)
{
    const bool is_beside = side->line == (kind == NUMBERS ? 2 : 1);
    return moves[kind][is_beside                        ? BESIDE
                       : side->stride == 1 && n >= QUAD ? IN_ROWS
                                                        : ANYWHERE];
}

static struct side find_side(R *re, R *im, enum kind kind,
                             const struct cpu_apart_side *side, double scale)
{
    const bool is_exchanged = kind == NUMBERS && im < re;
    return (struct side){
        .re = is_exchanged ? im : re,
        .im = kind == REALS ? re : im,
        .stride = side->stride,
        .line = side->line,
        .tile_re = is_exchanged ? LANES : 0,
        .tile_im = is_exchanged ? 0 : LANES,
        .scale = BROADCAST((R)scale),
    };
}

static void run(const void *xr, const void *xi, void *yr, void *yi, int64_t count,
                const struct cpu_apart_lines *lines)
{
    _Alignas(REGISTER_BYTES) R tile[2][TILE];
    const struct cpu_apart_side *x = &lines->x, *y = &lines->y;
    const enum kind from_kind = kind_of(xr, xi, x), to_kind = kind_of(yr, yi, y);
    move_lines *const load = choose(loads, from_kind, x, lines->in);
    move_lines *const store = choose(stores, to_kind, y, lines->out);
    struct side in = find_side((R *)xr, (R *)xi, from_kind, x, 1.0),
                out = find_side(yr, yi, to_kind, y, lines->scale);
    const struct cpu_vectors from = tile_vectors(tile[0]), to = tile_vectors(tile[1]);

    for (int64_t i = 0; i < count; i++) {
        if (x->is_far)
            ask_behind(in.re, LANES * in.line);
        if (y->is_far)
            ask_behind(out.re, LANES * out.line);
        load(tile[0], &in, lines->in);
        lines->dft(&from, &to, 1, 1, NULL);
        store(tile[1], &out, lines->out);
        in.re += LANES * in.line;
        in.im += LANES * in.line;
        out.re += LANES * out.line;
        out.im += LANES * out.line;
    }
}
#endif

#define R2C_ENTRY(n) [n] = r2c_##n,
#define C2R_ENTRY(n) [n] = c2r_##n,

extern const struct cpu_apart_kernels JOIN(kal_cpu_apart_, KAL_SIMD_SUFFIX);

const struct cpu_apart_kernels JOIN(kal_cpu_apart_, KAL_SIMD_SUFFIX) = {
    .run = run,
    .r2c = { LENGTHS(R2C_ENTRY) },
    .c2r = { LENGTHS(C2R_ENTRY) },
#if LANES == 1
    .c2c_alone = { ALONE_LENGTHS(C2C_ALONE) },
    .r2c_alone = { ALONE_LENGTHS(R2C_ALONE) },
    .c2r_alone = { ALONE_LENGTHS(C2R_ALONE) },
#endif
};

#endif
