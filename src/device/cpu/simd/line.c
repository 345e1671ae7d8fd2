// SPDX-License-Identifier: MIT
// The last step of a line that fills the lanes by itself: lane b of element k is number b of
// transform k, so the lanes are transposed on the way to the codelet.
#include "device/cpu/kernels.h"

#include "device/cpu/simd/interleaved.h"
#include "device/cpu/simd/mirrored.h"

#if LANES > 1
#include "device/cpu/simd/transpose.h"

#define REGISTERS(n) (((n) + LANES - 1) / LANES)

enum {
    PAIR = 2 * LANES, // reals of one element of a tile
    // From a number to its neighbour.
    planar_unit = 1,
    streamed_planes_unit = 1,
    interleaved_unit = 2,
    streamed_unit = 2,
    twins_unit = 2,
    streamed_twins_unit = 2,
};

// clang-format off
#if LANES == 16
#define RADICES(X, way) X(16, way) X(32, way)
#elif LANES == 8
#define RADICES(X, way) X(8, way) X(16, way) X(32, way)
#elif LANES == 4
#define RADICES(X, way) X(4, way) X(8, way) X(16, way) X(32, way)
#else
#define RADICES(X, way) X(2, way) X(4, way) X(8, way) X(16, way) X(32, way)
#endif
// clang-format on

static inline void turn_vectors(V *v, int count)
{
#if REGISTER_BYTES == 64
    if (count < LANES) {
        transpose_halves(v);
        return;
    }
#endif
    (void)count;
    transpose(v);
}

// `count` elements of a tile, LANES or half of that, `step` reals apart, times those of a
// tile of roots if there is one, transposed.
INLINE void turn(R *to, const R *t, int64_t step, const R *w, int count)
{
    V v[LANES];
    for (int i = 0; i < count; i++) {
        const R *re = t + i * step, *im = re + LANES;
        const R *w_re = w + i * PAIR, *w_im = w_re + LANES;
        v[i] = w ? FNMA(LOAD(im), LOAD(w_im), MUL(LOAD(re), LOAD(w_re))) : LOAD(re);
    }
    turn_vectors(v, count);
    for (int i = 0; i < count; i++)
        STORE(to + i * PAIR, v[i]);

    for (int i = 0; i < count; i++) {
        const R *re = t + i * step, *im = re + LANES;
        const R *w_re = w + i * PAIR, *w_im = w_re + LANES;
        v[i] = w ? FMA(LOAD(im), LOAD(w_re), MUL(LOAD(re), LOAD(w_im))) : LOAD(im);
    }
    turn_vectors(v, count);
    for (int i = 0; i < count; i++)
        STORE(to + i * PAIR + LANES, v[i]);
}

// As turn() of LANES elements, whose roots are products of one element of a tile and of
// each of `fine`.
INLINE void turn_products(R *to, const R *t, int64_t step, const R *coarse, const R *fine)
{
    const V re = LOAD(coarse), im = LOAD(coarse + LANES);
    V turned_re[LANES], turned_im[LANES];
    for (int i = 0; i < LANES; i++) {
        const V t_re = LOAD(t + i * step), t_im = LOAD(t + i * step + LANES);
        const V f_re = LOAD(fine + i * PAIR), f_im = LOAD(fine + i * PAIR + LANES);
        const V w_re = FNMA(f_im, im, MUL(f_re, re)), w_im = FMA(f_im, re, MUL(f_re, im));
        turned_re[i] = FNMA(t_im, w_im, MUL(t_re, w_re));
        turned_im[i] = FMA(t_im, w_re, MUL(t_re, w_im));
    }
    turn_vectors(turned_re, LANES);
    for (int i = 0; i < LANES; i++)
        STORE(to + i * PAIR, turned_re[i]);
    turn_vectors(turned_im, LANES);
    for (int i = 0; i < LANES; i++)
        STORE(to + i * PAIR + LANES, turned_im[i]);
}

// Have n reals on their way to the nearer cache, or to the nearest.
INLINE void ask_for(const R *from, int64_t n, bool asks_nearest)
{
    enum { LINE = 64 / (int)sizeof(R) };
    for (int64_t i = 0; i < n; i += LINE)
        kal_cpu_ask(from + i, asks_nearest);
}

// Elements k .. k+LANES-1 of tiles of m each, times their roots, so that r vectors of
// LANES numbers are of as many transforms.
INLINE void turn_group(R *turned, int r, bool is_folded, const R *t, const R *w,
                       const R *f, int64_t m, int64_t k)
{
    const int64_t step = is_folded ? 2 * m : PAIR;
    for (int g = 0; g < r / LANES; g++) {
        const int64_t at = (g * m + k) * PAIR;
        const R *from = t + g * m * PAIR + k * (is_folded ? 2 : PAIR);
        R *const to = turned + g * LANES * PAIR;
        if (r >= CPU_PRODUCTS_FROM && f)
            turn_products(to, from, step, w + (g * REGISTERS(m) + REGISTERS(k)) * PAIR,
                          f + g * LANES * PAIR);
        else
            turn(to, from, step, w ? w + at : NULL, LANES);
    }
}

// Those of cpu_line_end.
#define PARAMETERS                                                                 \
    const void *tile, const struct cpu_vectors *y, int64_t m, int64_t count,       \
        const void *roots, const void *fine, const void *ahead, bool asks_nearest, \
        struct cpu_edge *edge

// Tiles of m elements each to m transforms of r; the last ones overlap those before.
#define LINE_OF(r, way, name, is_folded)                                               \
    static void line_##r##_##name(PARAMETERS)                                          \
    {                                                                                  \
        const R *t = tile, *w = roots, *f = fine;                                      \
        R *yr = y->re, *yi = y->im;                                                    \
        enum { UNIT = way##_unit };                                                    \
        _Alignas(REGISTER_BYTES) R turned[(r)*PAIR];                                   \
        (void)edge;                                                                    \
        for (int64_t k = 0;; k = k + 2 * LANES <= count ? k + LANES : count - LANES) { \
            if (ahead)                                                                 \
                ask_for((const R *)ahead + 2 * (r)*k, 2 * (r)*LANES, asks_nearest);    \
            turn_group(turned, r, is_folded, t, w, f, m, k);                           \
            way##_##r(turned, turned + LANES, PAIR, yr + k * UNIT, yi + k * UNIT,      \
                      y->stride);                                                      \
            if (k + LANES == count)                                                    \
                break;                                                                 \
        }                                                                              \
    }

#define LINE(r, way)   LINE_OF(r, way, way, false)
#define FOLDED(r, way) LINE_OF(r, way, folded, true)

#if REGISTER_BYTES == 64
enum { HALF_LANES = LANES / 2 };

// Two lines: transforms of half as many points as there are lanes.
#define TWINS(r, way)                                                                  \
    static void line_##way(PARAMETERS)                                                 \
    {                                                                                  \
        const R *t = tile, *w = roots;                                                 \
        R *yr = y->re, *yi = y->im;                                                    \
        enum { UNIT = way##_unit };                                                    \
        _Alignas(REGISTER_BYTES) R turned[HALF_LANES * PAIR];                          \
        (void)m;                                                                       \
        (void)fine;                                                                    \
        (void)edge;                                                                    \
        for (int64_t k = 0;;                                                           \
             k = k + LANES <= count ? k + HALF_LANES : count - HALF_LANES) {           \
            if (ahead)                                                                 \
                ask_for((const R *)ahead + PAIR * k, HALF_LANES * PAIR, asks_nearest); \
            turn(turned, t + k * PAIR, PAIR, w ? w + k * PAIR : NULL, HALF_LANES);     \
            way##_##r(turned, turned + LANES, PAIR, yr + k * UNIT, yi + k * UNIT,      \
                      y->stride);                                                      \
            if (k + HALF_LANES == count)                                               \
                break;                                                                 \
        }                                                                              \
    }
#endif

#define ROOT_RE(w, k)      BROADCAST((w)[2 * (k)-2])
#define ROOT_IM(w, k)      BROADCAST((w)[2 * (k)-1])
#define CODELET_TWIDDLE(n) twiddle_unused_##n
#define LOAD_PAIR          LOAD_VECTORS

#define STORE_PAIR STORE_VECTORS
#define CODELET(n) planar_##n
#include CODELETS
RADICES(LINE, planar)

INLINE void put_pair(R *y, struct pair x)
{
    STORE(y, SHUFFLE(x.re, x.im, LOW, 0));
    STORE(y + LANES, SHUFFLE(x.re, x.im, HIGH, 0));
}

// A register of each of r rows, `low`, to y and on, and those that they meet: all but the
// first numbers of `now`, and these of `before`. What was `waiting` gets its first
// numbers now, and goes to `end` and before it, from the last row to the first.
INLINE void split_rows(R *y, R *end, int64_t row, int r, bool is_first, const R *low,
                       const R *now, const R *before, R *waiting, const R *w, V half)
{
    for (int k = 0; k < r; k++, y += row, end -= row) {
        const int other = r - 1 - k;
        struct pair a, b;
        split_pairs(load_element(low, k),
                    fall(load_element(now, other), load_element(before, other)),
                    load_element(w, k), half, &a, &b);
        put_pair(y, a);
        if (!is_first)
            put_pair(end, fall(load_element(waiting, other), b));
        store_element(waiting, other, b);
    }
}

// The first numbers of registers in the middle meet each other.
INLINE void split_middle(R *y, int64_t row, int r, const R *now, const R *waiting,
                         const R *w, V half)
{
    for (int k = 0; k < r; k++, y += row) {
        struct pair a, b;
        split_pairs(load_element(now, k), load_element(now, r - 1 - k),
                    load_element(w, k), half, &a, &b);
        put_pair(y, fall(load_element(waiting, k), a));
    }
}

// Those of cpu_line_split.
#define SPLIT_PARAMETERS                                                        \
    const void *tile, void *to, int64_t m, const void *roots, const void *fine, \
        const struct cpu_line_mirror *mirror

// Room for what goes to codelets and comes from them, r elements each: of the lines'
// beginning, twice of their end, and what waits for its first numbers.
struct split_room {
    R *turned, *low, *high, *waiting;
};

INLINE void split_line(const struct split_room *room, int r, bool is_folded,
                       codelet_function *codelet, SPLIT_PARAMETERS)
{
    R *const turned = room->turned, *const low = room->low,
             *const waiting = room->waiting;
    const V half = BROADCAST((R)(0.5 * mirror->scale));
    const int64_t blocks = m / LANES;
    const R *w = mirror->roots;
    R *y = to, *now, *before = room->high + r * PAIR;

    for (int64_t j = 0; 2 * j < blocks; j++, w += r * PAIR, before = now) {
        turn_group(turned, r, is_folded, tile, roots, fine, m, j * LANES);
        codelet(turned, turned + LANES, PAIR, low, low + LANES, PAIR);
        for (int k = 0; j == 0 && k < r; k++) // what comes behind is row k + 1
            store_element(before, k, load_element(low, (k + 1) % r));
        now = 2 * j + 1 < blocks ? room->high + j % 2 * (r * PAIR) : low;
        if (now != low) {
            turn_group(turned, r, is_folded, tile, roots, fine, m, m - (j + 1) * LANES);
            codelet(turned, turned + LANES, PAIR, now, now + LANES, PAIR);
        }
        R *const end = y + 2 * (r * m - j * LANES);
        if (j > 0) {
            split_rows(y + j * PAIR, end, 2 * m, r, false, low, now, before, waiting, w,
                       half);
            continue;
        }
        split_rows(y, end, 2 * m, r, true, low, now, before, waiting, w, half);
        end[0] = waiting[(r - 1) * PAIR];
        end[1] = waiting[(r - 1) * PAIR + LANES];
    }
    if (blocks % 2 == 0)
        split_middle(y + m, 2 * m, r, before, waiting, w, half);
}

#define SPLIT_OF(r, name, is_folded)                                                    \
    static void split_##r##_##name(SPLIT_PARAMETERS)                                    \
    {                                                                                   \
        _Alignas(REGISTER_BYTES) R turned[(r)*PAIR], low[(r)*PAIR], high[2 * (r)*PAIR], \
            waiting[(r)*PAIR];                                                          \
        const struct split_room room = { turned, low, high, waiting };                  \
        split_line(&room, r, is_folded, planar_##r, tile, to, m, roots, fine, mirror);  \
    }

#define SPLIT(r, name)        SPLIT_OF(r, name, false)
#define SPLIT_FOLDED(r, name) SPLIT_OF(r, name, true)
RADICES(SPLIT, apart)
RADICES(SPLIT_FOLDED, folded)

#undef STORE_PAIR
#undef CODELET
#undef CODELET_TWIDDLE
#define STORE_PAIR         STORE_INTERLEAVED
#define CODELET(n)         interleaved_##n
#define CODELET_TWIDDLE(n) twiddle_unused_too_##n
#include CODELETS
RADICES(LINE, interleaved)
RADICES(FOLDED, interleaved)

#undef STORE_PAIR
#undef CODELET
#undef CODELET_TWIDDLE
#define STORE_PAIR         STREAM_INTERLEAVED
#define CODELET(n)         streamed_##n
#define CODELET_TWIDDLE(n) twiddle_unused_as_well_##n
#include CODELETS
RADICES(LINE, streamed)

#if REGISTER_BYTES == 64
// Rows of numbers, one behind the other, that begin between lines of the caches. A
// register is such a line: it is put together of what was left before and of what comes
// behind that, a row's next numbers or, in the end, the first ones of the next row.
struct shifted_rows {
    V first[CPU_MAX_RADIX], left[CPU_MAX_RADIX]; // of each row
    M behind;                                    // lanes of two registers that make one
    R *to; // where the next numbers of row 0 are, from the first such line in them on
    ptrdiff_t row; // reals from row to row
    int past;      // reals of a row before its first such line, one at least
    bool is_begun;
};

INLINE void begin_rows(struct shifted_rows *rows, R *y, ptrdiff_t row)
{
    M lane;
    for (int i = 0; i < LANES; i++)
        lane[i] = i;
    rows->past = LANES - (int)((uintptr_t)y % REGISTER_BYTES / sizeof(R));
    rows->behind = lane + rows->past;
    rows->to = y + rows->past;
    rows->row = row;
    rows->is_begun = false;
}

INLINE void go_on_with_rows(struct shifted_rows *rows, int reals)
{
    rows->to += reals;
    rows->is_begun = true;
}

// A register of row i.
INLINE void stream_shifted(struct shifted_rows *rows, ptrdiff_t i, V a)
{
    if (rows->is_begun)
        STREAM(rows->to + i * rows->row - LANES, PICK(rows->left[i], a, rows->behind));
    else
        rows->first[i] = a;
    rows->left[i] = a;
}

INLINE void stream_shifted_pair(struct shifted_rows *rows, ptrdiff_t i, V a, V b)
{
    stream_shifted(rows, i, a);
    STREAM(rows->to + i * rows->row, PICK(a, b, rows->behind));
    rows->left[i] = b;
}

// yr and yi, which are exchanged where parts are, begin with the rows, and `at` is the
// number of one.
#define ROWS(yr, yi) ((struct shifted_rows *)(void *)LEADING(yr, yi))
#define STREAM_SHIFTED(yr, yi, at, re, im)                            \
    do {                                                              \
        const M low_ = low_lanes ^ (LANES * WHERE_EXCHANGED(yr, yi)); \
        const V a_ = (re), b_ = (im);                                 \
        stream_shifted_pair(ROWS(yr, yi), (at), PICK(a_, b_, low_),   \
                            PICK(a_, b_, low_ + LANES / 2));          \
    } while (0)

// The second line's rows are behind those of the first.
#define STREAM_SHIFTED_TWINS(yr, yi, at, re, im)                                         \
    do {                                                                                 \
        const M low_ = low_lanes ^ (LANES * WHERE_EXCHANGED(yr, yi));                    \
        const V a_ = (re), b_ = (im);                                                    \
        stream_shifted(ROWS(yr, yi), (at), PICK(a_, b_, low_));                          \
        stream_shifted(ROWS(yr, yi), (at) + HALF_LANES, PICK(a_, b_, low_ + LANES / 2)); \
    } while (0)

// What is before the first line of the caches, with what is left of others, and between rows.
INLINE void end_rows(const struct shifted_rows *rows, int count, R *y,
                     struct cpu_edge *edge)
{
    R *const first = y + rows->past - LANES;

    if (edge->is_left)
        STREAM(first, PICK(LOAD(edge->last), rows->first[0], rows->behind));
    else
        STORE_PART(y, rows->first[0], rows->past);
    for (int i = 1; i < count; i++)
        STREAM(first + i * rows->row,
               PICK(rows->left[i - 1], rows->first[i], rows->behind));
    STORE((R *)edge->last, rows->left[count - 1]);
    edge->is_left = rows->past < LANES;
}

// As way interleaved, all m transforms, past the caches. Twins are two lines, of which a
// register holds half as many transforms each.
INLINE void work_shifted(R *turned, int r, codelet_function *codelet, PARAMETERS)
{
    const bool are_twins = r < LANES;
    const int width = are_twins ? r : LANES, reals = 2 * (are_twins ? LANES : r);
    const bool is_swapped = (R *)y->im < (R *)y->re;
    const R *t = tile, *w = roots;
    R *const to = is_swapped ? y->im : y->re;
    struct shifted_rows rows;
    R *const at = (void *)&rows;
    int64_t k = 0;

    begin_rows(&rows, to, y->stride);
    do {
        if (ahead)
            ask_for((const R *)ahead + reals * k, reals * width, asks_nearest);
        if (are_twins)
            turn(turned, t + k * PAIR, PAIR, w ? w + k * PAIR : NULL, r);
        else
            turn_group(turned, r, false, t, w, fine, m, k);
        codelet(turned, turned + LANES, PAIR, at + is_swapped, at + !is_swapped, 1);
        go_on_with_rows(&rows, 2 * width);
        k += width;
    } while (k < count);
    end_rows(&rows, are_twins ? 2 * r : r, to, edge);
}

#define WORK_SHIFTED(r, way, name)                                                \
    static void line_##name(PARAMETERS)                                           \
    {                                                                             \
        _Alignas(REGISTER_BYTES) R turned[(r)*PAIR];                              \
        work_shifted(turned, r, way##_##r, tile, y, m, count, roots, fine, ahead, \
                     asks_nearest, edge);                                         \
    }
#define LINE_SHIFTED(r, way)  WORK_SHIFTED(r, way, r##_##way)
#define TWINS_SHIFTED(r, way) WORK_SHIFTED(r, way, way)

#undef STORE_PAIR
#undef CODELET
#undef CODELET_TWIDDLE
#define STORE_PAIR         STREAM_SHIFTED
#define CODELET(n)         shifted_##n
#define CODELET_TWIDDLE(n) twiddle_unused_for_shifted_##n
#include CODELETS
RADICES(LINE_SHIFTED, shifted)

#endif

// A register of each part is a line of the caches, or stores past these would fill parts of many.
#if REGISTER_BYTES == 64
#undef STORE_PAIR
#undef CODELET
#undef CODELET_TWIDDLE
#define STORE_PAIR         STREAM_VECTORS
#define CODELET(n)         streamed_planes_##n
#define CODELET_TWIDDLE(n) twiddle_unused_for_planes_##n
#include CODELETS
RADICES(LINE, streamed_planes)

#undef STORE_PAIR
#undef CODELET
#undef CODELET_TWIDDLE
#define STORE_PAIR         STORE_TWINS
#define CODELET(n)         twins_##n
#define CODELET_TWIDDLE(n) twiddle_unused_once_more_##n
#include CODELETS

#undef STORE_PAIR
#undef CODELET
#undef CODELET_TWIDDLE
#define STORE_PAIR         STREAM_TWINS
#define CODELET(n)         streamed_twins_##n
#define CODELET_TWIDDLE(n) twiddle_unused_at_last_##n
#include CODELETS

#undef STORE_PAIR
#undef CODELET
#undef CODELET_TWIDDLE
#define STORE_PAIR         STREAM_SHIFTED_TWINS
#define CODELET(n)         shifted_twins_##n
#define CODELET_TWIDDLE(n) twiddle_unused_for_shifted_twins_##n
#include CODELETS

#if LANES == 16
TWINS(8, twins)
TWINS(8, streamed_twins)
TWINS_SHIFTED(8, shifted_twins)
#else
TWINS(4, twins)
TWINS(4, streamed_twins)
TWINS_SHIFTED(4, shifted_twins)
#endif
#endif

#define ENTRY(r, way)        [r] = line_##r##_##way,
#define SPLIT_ENTRY(r, name) [r] = split_##r##_##name,

extern const struct cpu_line_kernels JOIN(kal_cpu_line_, KAL_SIMD_SUFFIX);

const struct cpu_line_kernels JOIN(kal_cpu_line_, KAL_SIMD_SUFFIX) = {
    .end[CPU_PLANAR] = { RADICES(ENTRY, planar) },
    .end[CPU_INTERLEAVED] = { RADICES(ENTRY, interleaved) },
    .end[CPU_STREAMED] = { RADICES(ENTRY, streamed) },
    .folded = { RADICES(ENTRY, folded) },
    .split = { RADICES(SPLIT_ENTRY, apart) },
    .split_folded = { RADICES(SPLIT_ENTRY, folded) },
#if REGISTER_BYTES == 64
    .end[CPU_STREAMED_PLANES] = { RADICES(ENTRY, streamed_planes) },
    .end[CPU_SHIFTED] = { RADICES(ENTRY, shifted) },
    .twins[CPU_INTERLEAVED] = line_twins,
    .twins[CPU_STREAMED] = line_streamed_twins,
    .twins[CPU_SHIFTED] = line_shifted_twins,
#endif
};

#endif
