// SPDX-License-Identifier: MIT
// Tiles whose lanes face each other: lane j holds line k of a four-step and lane
// LANES-1-j line n1 - k, of which mirrored steps pair element e of the one with n-1-e of
// the other.
#include "device/cpu/kernels.h"

#include "device/cpu/simd/interleaved.h"
#include "device/cpu/simd/mirrored.h"

#if LANES > 1
// The first number, or the last one, of a register, before all but the last of another.
#define BEHIND_FIRST(h, j) ((j) < 2 ? (j) : LANES + (j)-2)
#define BEHIND_LAST(h, j)  ((j) < 2 ? LANES - 2 + (j) : LANES + (j)-2)

INLINE struct pair broadcast(const R *number)
{
    return (struct pair){ BROADCAST(number[0]), BROADCAST(number[1]) };
}

// A number for the lower half of the lanes, and its conjugate for the upper half.
INLINE struct pair broadcast_facing(const R *number)
{
    V sign = CONSTANT(1);
    for (int i = LANES / 2; i < LANES; i++)
        sign[i] = (R)-1;
    return (struct pair){ BROADCAST(number[0]), MUL(sign, BROADCAST(number[1])) };
}

// Numbers begin .. end-1 of a register.
static void store_some(R *to, V numbers, int begin, int end)
{
    R reals[LANES];
    STORE(reals, numbers);
    for (int i = 2 * begin; i < 2 * end; i++)
        to[i] = reals[i];
}

enum way { PARTLY, WHOLLY, PAST_CACHES };

INLINE void put_register(R *to, V numbers, const int *range, enum way way)
{
    if (way == PARTLY)
        store_some(to, numbers, range[0], range[1]);
    else if (way == PAST_CACHES)
        STREAM(to, numbers);
    else
        STORE(to, numbers);
}

// An element's numbers of `tiles` tiles, those of the lower halves behind the one that
// was carried there. That is read with others of elements that the loop has not come to,
// or what was stored just now would hold it up.
INLINE void put(const struct cpu_facing_output *y, int64_t e, const struct pair *x,
                int tiles, bool is_upward, enum way way)
{
    R *carried = (R *)y->carried + 2 * e;
    R *low = (R *)y->low + e * y->stride, *high = (R *)y->high + e * y->stride;
    V kept = LOAD(is_upward ? carried : carried - (LANES - 2));

    for (int k = 0; k < tiles; k++, low += LANES, high -= LANES) {
        const V numbers = SHUFFLE(x[k].re, x[k].im, LOW, 0);
        put_register(low,
                     is_upward && k == 0 ? SHUFFLE(kept, numbers, BEHIND_FIRST, 0)
                                         : SHUFFLE(kept, numbers, BEHIND_LAST, 0),
                     y->low_range, way);
        put_register(high, SHUFFLE(x[k].re, x[k].im, HIGH, 0), y->high_range, way);
        kept = numbers;
    }
    carried[0] = kept[LANES - 2];
    carried[1] = kept[LANES - 1];
}

INLINE void split_by(const struct cpu_facing_pairs *x,
                     const struct cpu_facing_roots *roots,
                     const struct cpu_facing_output *y, int tiles, enum way way)
{
    const V half = BROADCAST((R)(0.5 * roots->scale));
    struct pair of_lanes[CPU_MOST_FACING], low[CPU_MOST_FACING], high[CPU_MOST_FACING];
    int64_t e = x->first, f = x->last;

    for (int k = 0; k < tiles; k++)
        of_lanes[k] = load_element(roots->lanes, k);
    for (int64_t i = 0; i < x->pairs; i++, e += x->step, f -= x->step) {
        const struct pair of_element = broadcast((const R *)roots->elements + 2 * e);
        for (int k = 0; k < tiles; k++) {
            split_pairs(load_element(x->low[k], i),
                        reverse(load_element(x->high[k], x->n - 1 - i)),
                        times(of_lanes[k], of_element), half, &low[k], &high[k]);
            high[k] = reverse(high[k]);
        }
        put(y, e, low, tiles, true, way);
        if (e != f)
            put(y, f, high, tiles, false, way);
    }
}

INLINE void twiddle_by(const void *const *tile, int64_t n,
                       const struct cpu_facing_twiddles *w,
                       const struct cpu_facing_output *y, int tiles, enum way way)
{
    struct pair of_first[CPU_MOST_FACING], x[CPU_MOST_FACING];

    for (int k = 0; k < tiles; k++)
        of_first[k] = times(load_element(w->lanes, w->first),
                            broadcast_facing((const R *)w->tile[k] + 2 * w->first));
    for (int64_t i = 0; i < n; i++) {
        for (int k = 0; k < tiles; k++)
            x[k] = times(load_element(tile[k], i),
                         times(of_first[k], load_element(w->roots[k], i)));
        put(y, w->first + i * w->step, x, tiles, true, way);
    }
}

static bool is_whole(const int *range)
{
    return range[0] == 0 && range[1] == LANES / 2;
}

// Both of these, of as many tiles and in the way that the output says.
#define BY_TILES(run, y, tiles, way, ...)    \
    do {                                     \
        if ((tiles) == 2)                    \
            run(__VA_ARGS__, (y), 2, (way)); \
        else                                 \
            run(__VA_ARGS__, (y), 1, (way)); \
    } while (0)
#define BY_OUTPUT(run, y, tiles, ...)                                \
    do {                                                             \
        if (!is_whole((y)->low_range) || !is_whole((y)->high_range)) \
            run(__VA_ARGS__, (y), 1, PARTLY);                        \
        else if ((y)->is_streamed)                                   \
            BY_TILES(run, y, tiles, PAST_CACHES, __VA_ARGS__);       \
        else                                                         \
            BY_TILES(run, y, tiles, WHOLLY, __VA_ARGS__);            \
    } while (0)

static void split(const struct cpu_facing_pairs *x, const struct cpu_facing_roots *roots,
                  const struct cpu_facing_output *y)
{
    BY_OUTPUT(split_by, y, x->tiles, x, roots);
}

static void twiddle(const void *const *tile, int tiles, int64_t n,
                    const struct cpu_facing_twiddles *w,
                    const struct cpu_facing_output *y)
{
    BY_OUTPUT(twiddle_by, y, tiles, tile, n, w);
}

static void roots(void *to, const void *lanes, const void *tile, int64_t step, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        store_element(to, i,
                      times(load_element(lanes, i * step),
                            broadcast_facing((const R *)tile + 2 * i * step)));
}

// An element of a tile from where its halves are.
INLINE struct pair load_facing(const R *low, const R *high)
{
    const V a = LOAD(low), b = LOAD(high);
    return (struct pair){ SHUFFLE(a, b, EVEN, 0), SHUFFLE(a, b, ODD, 0) };
}

// The same of all tiles; what is as far behind the lower halves and before the upper ones
// is asked for.
INLINE void load_all(struct pair *to, const struct cpu_facing_input *x, int64_t e,
                     int tiles)
{
    const R *low = (const R *)x->low + e * x->stride,
            *high = (const R *)x->high + e * x->stride;
    for (int k = 0; k < tiles; k++, low += LANES, high -= LANES) {
        to[k] = load_facing(low, high);
        if (x->ahead) {
            ASK(low + x->ahead);
            ASK(high - x->ahead);
        }
    }
}

INLINE void merge_by(void *const *to, int64_t n, const struct cpu_facing_input *x,
                     const struct cpu_facing_roots *roots, int tiles)
{
    struct pair of_lanes[CPU_MOST_FACING], a[CPU_MOST_FACING], b[CPU_MOST_FACING];

    for (int k = 0; k < tiles; k++)
        of_lanes[k] = load_element(roots->lanes, k);
    for (int64_t e = 0, f = n - 1; e <= f; e++, f--) {
        const struct pair of_element = broadcast((const R *)roots->elements + 2 * e);
        load_all(a, x, e, tiles);
        load_all(b, x, f, tiles);
        for (int k = 0; k < tiles; k++) {
            struct pair low, high;
            merge_pairs(a[k], reverse(b[k]), times(of_lanes[k], of_element), &low, &high);
            store_element(to[k], e, low);
            store_element(to[k], f, reverse(high));
        }
    }
}

static void merge(void *const *to, int tiles, int64_t n, const struct cpu_facing_input *x,
                  const struct cpu_facing_roots *roots)
{
    if (tiles == 2)
        merge_by(to, n, x, roots, 2);
    else
        merge_by(to, n, x, roots, 1);
}

extern const struct cpu_facing_kernels JOIN(kal_cpu_facing_, KAL_SIMD_SUFFIX);

const struct cpu_facing_kernels JOIN(kal_cpu_facing_, KAL_SIMD_SUFFIX) = {
    .split = split,
    .merge = merge,
    .roots = roots,
    .twiddle = twiddle,
};
#endif
