// SPDX-License-Identifier: MIT
// Work along one line, where no lines are left to fill the lanes with: vectors of neighbouring
// elements k, and in mirrored steps of m - k in descending order.
#include "device/cpu/kernels.h"

#include "device/cpu/simd/interleaved.h"
#include "device/cpu/simd/mirrored.h"

#if LANES > 1
static inline struct pair load_pairs(const R *re, const R *im, int64_t k)
{
    if (im != re + 1)
        return (struct pair){ LOAD(re + k), LOAD(im + k) };
    const V a = LOAD(re + 2 * k), b = LOAD(re + 2 * k + LANES);
    return (struct pair){ SHUFFLE(a, b, EVEN, 0), SHUFFLE(a, b, ODD, 0) };
}

static inline void store_pairs(R *re, R *im, int64_t k, struct pair x)
{
    if (im != re + 1) {
        STORE(re + k, x.re);
        STORE(im + k, x.im);
        return;
    }
    STORE(re + 2 * k, SHUFFLE(x.re, x.im, LOW, 0));
    STORE(re + 2 * k + LANES, SHUFFLE(x.re, x.im, HIGH, 0));
}
#else
static inline struct pair load_pairs(const R *re, const R *im, int64_t k)
{
    const int64_t at = im == re + 1 ? 2 * k : k;
    return (struct pair){ re[at], im[at] };
}

static inline void store_pairs(R *re, R *im, int64_t k, struct pair x)
{
    const int64_t at = im == re + 1 ? 2 * k : k;
    re[at] = x.re;
    im[at] = x.im;
}
#endif

static inline bool is_interleaved(const R *re, const R *im)
{
    return im == re + 1 || re == im + 1;
}

// The same where either part may lead.
static inline void store_either(R *re, R *im, int64_t k, struct pair x)
{
    if (re == im + 1)
        store_pairs(im, re, k, (struct pair){ x.im, x.re });
    else
        store_pairs(re, im, k, x);
}

// One pair of elements, in scalars broadcast to vectors: the ends that fill no vector.
static struct pair load_one(const R *re, const R *im, int64_t k)
{
    const int64_t at = im == re + 1 ? 2 * k : k;
    return (struct pair){ BROADCAST(re[at]), BROADCAST(im[at]) };
}

static void store_one(R *re, R *im, int64_t k, struct pair x)
{
    const int64_t at = is_interleaved(re, im) ? 2 * k : k;
    R lane[LANES];
    STORE(lane, x.re);
    re[at] = lane[0];
    STORE(lane, x.im);
    im[at] = lane[0];
}

static void split_one(const struct cpu_row *row, int64_t k)
{
    const R *w = row->roots;
    const struct pair a = load_one(row->in_re, row->in_im, k);
    const struct pair b = load_one(row->in_re, row->in_im, k == 0 ? 0 : row->m - k);
    const struct pair root = { BROADCAST(w[2 * k]), BROADCAST(w[2 * k + 1]) };
    struct pair low, high;
    split_pairs(a, b, root, BROADCAST((R)(0.5 * row->scale)), &low, &high);
    store_one(row->out_re, row->out_im, k, low);
    store_one(row->out_re, row->out_im, row->m - k, high);
}

static void merge_one(const struct cpu_row *row, int64_t k)
{
    const R *w = row->roots;
    struct pair a = load_one(row->in_re, row->in_im, k);
    struct pair b = load_one(row->in_re, row->in_im, row->m - k);
    const struct pair root = { BROADCAST(w[2 * k]), BROADCAST(w[2 * k + 1]) };
    struct pair low, high;
    if (k == 0)
        a.im = b.im = CONSTANT(0); // coefficients 0 and m of real data are real
    merge_pairs(a, b, root, &low, &high);
    store_one(row->out_re, row->out_im, k, low);
    if (k > 0)
        store_one(row->out_re, row->out_im, row->m - k, high);
}

#if LANES > 1
INLINE void mirror_pairs(bool is_split, struct pair a, struct pair b, struct pair w,
                         V half, struct pair *low, struct pair *high)
{
    if (is_split)
        split_pairs(a, b, w, half, low, high);
    else
        merge_pairs(a, b, w, low, high);
}

// Elements 1 .. LANES-1 of a register in falling order, before element k.
static void store_others(const struct cpu_row *row, int64_t k, struct pair x)
{
    for (int i = 1; i < LANES; i++) {
        x.re[0] = x.re[i];
        x.im[0] = x.im[i];
        store_one(row->out_re, row->out_im, k - i, x);
    }
}

// Pairs k .. end-1 by whole registers of both ends, of as many as are such, and that in
// the middle; m and k are multiples of LANES. The first element of each register of the
// upper end is paired with others than the rest of it. Return the pair to go on with. So
// c2r of 4096 to 131072 reals takes 0.94 of the time on a Xeon; AMD's processors were not
// measured.
INLINE int64_t mirror_registers(const struct cpu_row *row, int64_t k, int64_t end,
                                bool is_split)
{
    const V half = BROADCAST((R)(0.5 * row->scale));
    const R *w = row->roots;
    const int64_t m = row->m, begin = k;
    struct pair before = load_one(row->in_re, row->in_im, is_split && k == 0 ? 0 : m - k);
    struct pair waiting = before, low, high;

    if (!is_split && k == 0)
        before.im = CONSTANT(0); // coefficients 0 and m of real data are real
    for (; k + LANES <= end && 2 * (k + LANES) <= m; k += LANES) {
        const struct pair now = load_pairs(row->in_re, row->in_im, m - k - LANES);
        struct pair a = load_pairs(row->in_re, row->in_im, k);
        if (!is_split && k == 0)
            a.im[0] = 0;
        mirror_pairs(is_split, a, fall(now, before), load_pairs(w, w + 1, k), half, &low,
                     &high);
        store_either(row->out_re, row->out_im, k, low);
        if (k > begin)
            store_either(row->out_re, row->out_im, m - k, fall(waiting, high));
        else if (is_split || k > 0)
            store_one(row->out_re, row->out_im, m - k, high);
        waiting = high;
        before = now;
    }
    if (k > begin && 2 * k == m && k < end) {
        mirror_pairs(is_split, before, before, load_one(w, w + 1, k), half, &low, &high);
        store_either(row->out_re, row->out_im, k, fall(waiting, low));
        return k + 1;
    }
    if (k > begin)
        store_others(row, m - k + LANES, waiting);
    return k;
}

INLINE int64_t begin_by_registers(const struct cpu_row *row, int64_t begin, int64_t end,
                                  bool is_split)
{
    return row->m % LANES == 0 && begin % LANES == 0
               ? mirror_registers(row, begin, end, is_split)
               : begin;
}
#else
static int64_t begin_by_registers(const struct cpu_row *row, int64_t begin, int64_t end,
                                  bool is_split)
{
    (void)row;
    (void)end;
    (void)is_split;
    return begin;
}
#endif

static void split_row(const struct cpu_row *row, int64_t begin, int64_t end)
{
    const V half = BROADCAST((R)(0.5 * row->scale));
    const R *w = row->roots;
    int64_t k = begin_by_registers(row, begin, end, true);

    if (k == 0 && k < end)
        split_one(row, k++);
    for (; k + LANES <= end; k += LANES) {
        const int64_t mirrored = row->m - k - (LANES - 1);
        const struct pair a = load_pairs(row->in_re, row->in_im, k);
        const struct pair b = reverse(load_pairs(row->in_re, row->in_im, mirrored));
        struct pair low, high;
        split_pairs(a, b, load_pairs(w, w + 1, k), half, &low, &high);
        store_pairs(row->out_re, row->out_im, k, low);
        store_pairs(row->out_re, row->out_im, mirrored, reverse(high));
    }
    for (; k < end; k++)
        split_one(row, k);
}

static void merge_row(const struct cpu_row *row, int64_t begin, int64_t end)
{
    const R *w = row->roots;
    int64_t k = begin_by_registers(row, begin, end, false);

    if (k == 0 && k < end)
        merge_one(row, k++);
    for (; k + LANES <= end; k += LANES) {
        const int64_t mirrored = row->m - k - (LANES - 1);
        const struct pair a = load_pairs(row->in_re, row->in_im, k);
        const struct pair b = reverse(load_pairs(row->in_re, row->in_im, mirrored));
        struct pair low, high;
        merge_pairs(a, b, load_pairs(w, w + 1, k), &low, &high);
        store_either(row->out_re, row->out_im, k, low);
        store_either(row->out_re, row->out_im, mirrored, reverse(high));
    }
    for (; k < end; k++)
        merge_one(row, k);
}

static struct pair exchange_if(bool is_exchanged, struct pair x)
{
    return is_exchanged ? (struct pair){ x.im, x.re } : x;
}

// Numbers of a row whose parts may be exchanged, or of which one may be absent.
static inline struct pair load_any_pairs(const R *re, const R *im, int64_t k)
{
    if (!re || !im)
        return (struct pair){ re ? LOAD(re + k) : CONSTANT(0),
                              im ? LOAD(im + k) : CONSTANT(0) };
    const bool is_exchanged = re == im + 1;
    return exchange_if(is_exchanged,
                       is_exchanged ? load_pairs(im, re, k) : load_pairs(re, im, k));
}

static inline void store_any_pairs(R *re, R *im, int64_t k, struct pair x)
{
    const bool is_exchanged = re == im + 1;
    if (re && im) {
        x = exchange_if(is_exchanged, x);
        store_pairs(is_exchanged ? im : re, is_exchanged ? re : im, k, x);
        return;
    }
    if (re)
        STORE(re + k, x.re);
    if (im)
        STORE(im + k, x.im);
}

// From one part to the next one of the same kind.
static int64_t unit_of(const R *re, const R *im)
{
    return re && im && is_interleaved(re, im) ? 2 : 1;
}

static void load_row(void *tile, const void *re, const void *im, int64_t n)
{
    const R *r = re, *i = im;
    const int64_t unit = unit_of(r, i);
    R *t = tile;
    int64_t k = 0;

    for (; k + LANES <= n; k += LANES)
        store_pairs(t, t + 1, k, load_any_pairs(r, i, k));
    for (; k < n; k++) {
        t[2 * k] = r ? r[unit * k] : (R)0;
        t[2 * k + 1] = i ? i[unit * k] : (R)0;
    }
}

static void store_row(const void *tile, void *re, void *im, int64_t n)
{
    R *r = re, *i = im;
    const int64_t unit = unit_of(r, i);
    const R *t = tile;
    int64_t k = 0;

    for (; k + LANES <= n; k += LANES)
        store_any_pairs(r, i, k, load_pairs(t, t + 1, k));
    for (; k < n; k++) {
        if (r)
            r[unit * k] = t[2 * k];
        if (i)
            i[unit * k] = t[2 * k + 1];
    }
}

// Numbers k .. k+LANES-1, whose parts are where they may be.
INLINE void multiply_pairs(R *out_re, R *out_im, const R *re, const R *im, const R *w,
                           int64_t k)
{
    store_any_pairs(out_re, out_im, k,
                    times(load_any_pairs(re, im, k), load_pairs(w, w + 1, k)));
}

INLINE void multiply_one(R *out_re, R *out_im, const R *re, const R *im, const R *w,
                         int64_t k)
{
    const int64_t from = unit_of(re, im) * k, to = unit_of(out_re, out_im) * k;
    const R x = re ? re[from] : (R)0, y = im ? im[from] : (R)0;
    const R u = w[2 * k], v = w[2 * k + 1];
    if (out_re)
        out_re[to] = x * u - y * v;
    if (out_im)
        out_im[to] = x * v + y * u;
}

// The last register overlaps the one before, but in place.
static void product_row(void *out_re, void *out_im, const void *re, const void *im,
                        const void *table, int64_t n)
{
    const bool is_in_place = out_re == re || out_re == im;
    int64_t k = 0;

    for (; k + LANES <= n; k += LANES)
        multiply_pairs(out_re, out_im, re, im, table, k);
    if (k > 0 && k < n && !is_in_place) {
        multiply_pairs(out_re, out_im, re, im, table, n - LANES);
        return;
    }
    for (; k < n; k++)
        multiply_one(out_re, out_im, re, im, table, k);
}

struct number {
    R parts[2];
} __attribute__((may_alias));

// Numbers as they are, each one move.
static void collect_numbers(R *to, const R *from, const int64_t *index, int64_t n)
{
    struct number *t = (struct number *)to;
    const struct number *f = (const struct number *)from;
    for (int64_t k = 0; k < n; k++)
        t[k] = f[index[k]];
}

static void collect_reals(R *to, const R *from, const int64_t *index, int64_t n)
{
    struct number *t = (struct number *)to;
    for (int64_t k = 0; k < n; k++)
        t[k] = (struct number){ { from[index[k]], 0 } };
}

static void collect_part(R *to, int64_t to_unit, const R *from, int64_t from_unit,
                         const int64_t *index, int64_t n)
{
    for (int64_t k = 0; to && k < n; k++)
        to[to_unit * k] = from ? from[from_unit * index[k]] : (R)0;
}

static void collect_row(void *out_re, void *out_im, const void *re, const void *im,
                        const int64_t *index, int64_t n)
{
    R *const u = out_re, *const v = out_im;
    const R *const x = re, *const y = im;

    const bool are_numbers = u && v == u + 1;

    if (are_numbers && x && (!y || y == x + 1)) {
        (y ? collect_numbers : collect_reals)(u, x, index, n);
        return;
    }
    collect_part(u, unit_of(u, v), x, unit_of(x, y), index, n);
    collect_part(v, unit_of(u, v), y, unit_of(x, y), index, n);
}

static void scale_row(void *reals, double factor, int64_t n)
{
    const R f = (R)factor;
    R *x = reals;
    int64_t k = 0;

    for (; k + LANES <= n; k += LANES)
        STORE(x + k, MUL(BROADCAST(f), LOAD(x + k)));
    for (; k < n; k++)
        x[k] *= f;
}

extern const struct cpu_row_kernels JOIN(kal_cpu_rows_, KAL_SIMD_SUFFIX);

const struct cpu_row_kernels JOIN(kal_cpu_rows_, KAL_SIMD_SUFFIX) = {
    .split = split_row,
    .merge = merge_row,
    .load = load_row,
    .store = store_row,
    .product = product_row,
    .collect = collect_row,
    .scale = scale_row,
};
