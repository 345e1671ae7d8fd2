// SPDX-License-Identifier: MIT
#include "device/cpu/tile.h"

#include <string.h>

// Lines come in rows that tiles do not cross: a round of the fast loop, or all lines.
struct rows {
    int64_t count, length, tiles; // rows, lines of a row, tiles of a row
};

static struct rows find_rows(const struct cpu_pass *pass, const struct cpu_chunk *chunk)
{
    const struct kal_pass *p = pass->pass;
    struct rows rows;

    if (pass->rows_restart)
        rows.length = p->loops[pass->fast_loop].count;
    else
        rows.length = chunk->lanes_are_lines ? chunk->lines : pass->inner;
    rows.count = chunk->lines * pass->inner / rows.length;
    rows.tiles = (rows.length + pass->kernels->lanes - 1) / pass->kernels->lanes;
    return rows;
}

// Blocks of a line: pairs of elements in mirrored steps.
static int64_t block_count(const struct cpu_pass *pass)
{
    const struct kal_pass *p = pass->pass;
    if (!pass->is_blocked)
        return 1;
    const bool is_mirrored = p->step_count == 1 && (p->step[0].op == KAL_STEP_SPLIT ||
                                                    p->step[0].op == KAL_STEP_MERGE);
    const int64_t units = is_mirrored ? p->step[0].n / 4 + 1 : p->n;
    return (units + CPU_BLOCK - 1) / CPU_BLOCK;
}

int64_t cpu_tile_count(const struct cpu_pass *pass, const struct cpu_chunk *chunk)
{
    const struct rows rows = find_rows(pass, chunk);
    return rows.count * rows.tiles * block_count(pass);
}

// Where a line is: its index on every loop, and its offset on both sides.
struct cursor {
    int64_t index[KAL_MAX_LOOPS];
    int64_t line; // in the chunk
    int64_t in, out;
};

static int64_t loop_offset(const struct kal_side *side, bool is_line_loop, int64_t stride,
                           int64_t index)
{
    return is_line_loop && side->buffer == KAL_BUFFER_CHUNK ? 0 : stride * index;
}

// Spread a number over loops begin .. end-1, the last fastest.
static void spread(struct cursor *c, const struct kal_pass *p, int begin, int end,
                   int64_t number)
{
    const int first_inner = p->stage_loops + p->line_loops;
    for (int i = end - 1; i >= begin; i--) {
        const struct kal_loop *loop = &p->loops[i];
        const bool is_line_loop = i < first_inner;
        c->index[i] = 0;
        if (loop->count == 1)
            continue;
        c->index[i] = i > begin ? number % loop->count : number;
        number = i > begin ? number / loop->count : 0;
        c->in += loop_offset(&p->in, is_line_loop, loop->in, c->index[i]);
        c->out += loop_offset(&p->out, is_line_loop, loop->out, c->index[i]);
    }
}

static void find_line(struct cursor *c, const struct cpu_pass *pass,
                      const struct cpu_chunk *chunk, int64_t line, int64_t inner)
{
    const struct kal_pass *p = pass->pass;
    const int first_line = p->stage_loops, first_inner = first_line + p->line_loops;

    c->line = line;
    c->in = p->in.offset;
    c->out = p->out.offset;
    if (p->in.buffer == KAL_BUFFER_CHUNK)
        c->in += line * p->in.line_stride;
    if (p->out.buffer == KAL_BUFFER_CHUNK)
        c->out += line * p->out.line_stride;
    spread(c, p, 0, first_line, chunk->stage_index);
    spread(c, p, first_line, first_inner, chunk->first_line + line);
    spread(c, p, first_inner, first_inner + p->inner_loops, inner);
}

// The lines of one tile.
struct tile {
    int lanes;
    bool is_affine; // offsets grow by in_step and out_step from lane to lane
    int64_t in_step, out_step;
    int64_t in[CPU_MAX_LANES], out[CPU_MAX_LANES];
    int64_t twiddle[CPU_MAX_LANES]; // index on the twiddle's loop
};

static int64_t lane_step(const struct cpu_pass *pass, const struct kal_side *side,
                         int64_t stride)
{
    const struct kal_pass *p = pass->pass;
    const bool is_line_loop = pass->fast_loop < p->stage_loops + p->line_loops;
    return is_line_loop && side->buffer == KAL_BUFFER_CHUNK ? side->line_stride : stride;
}

static void find_affine_lanes(struct tile *t, const struct cpu_pass *pass,
                              const struct cursor *c)
{
    const struct kal_pass *p = pass->pass;
    const struct kal_loop *fast = pass->fast_loop < 0 ? NULL : &p->loops[pass->fast_loop];
    const int64_t first = p->out.twiddle_n ? c->index[p->out.twiddle_loop] : 0;
    const int64_t twiddle_step = p->out.twiddle_loop == pass->fast_loop;

    t->is_affine = true;
    t->in_step = fast ? lane_step(pass, &p->in, fast->in) : 0;
    t->out_step = fast ? lane_step(pass, &p->out, fast->out) : 0;
    for (int i = 0; i < t->lanes; i++) {
        t->in[i] = c->in + i * t->in_step;
        t->out[i] = c->out + i * t->out_step;
        t->twiddle[i] = first + i * twiddle_step;
    }
}

static void find_lanes(struct tile *t, const struct cpu_pass *pass,
                       const struct cpu_chunk *chunk, const struct rows *rows,
                       int64_t row, int64_t first)
{
    const struct kal_pass *p = pass->pass;
    const int64_t number = row * rows->length + first;
    struct cursor c;

    t->lanes = (int)kal_min(pass->kernels->lanes, rows->length - first);
    for (int i = 0; i < t->lanes; i++) {
        const int64_t u = number + i;
        const int64_t line = chunk->lanes_are_lines ? u % chunk->lines : u / pass->inner;
        const int64_t inner = chunk->lanes_are_lines ? u / chunk->lines : u % pass->inner;
        find_line(&c, pass, chunk, line, inner);
        const int64_t left = pass->fast_loop < 0 ? 1
                                                 : p->loops[pass->fast_loop].count -
                                                       c.index[pass->fast_loop];
        if (i == 0 && t->lanes <= left) {
            find_affine_lanes(t, pass, &c);
            return;
        }
        t->in[i] = c.in;
        t->out[i] = c.out;
        t->twiddle[i] = p->out.twiddle_n ? c.index[p->out.twiddle_loop] : 0;
    }
    t->is_affine = false;
}

// Real and imaginary part of element 0, exchanged if the side is.
static void find_parts(const struct cpu_worker *worker, const struct kal_side *side,
                       void **re, void **im)
{
    char *base = worker->base[side->buffer];
    char *other = side->is_real     ? NULL
                  : side->imag == 0 ? worker->second[side->buffer]
                                    : base + side->imag * worker->real_bytes;
    *re = side->is_swapped ? other : base;
    *im = side->is_swapped ? base : other;
}

static bool is_interleaved(const struct cpu_worker *worker,
                           const struct cpu_memory *memory)
{
    const char *re = memory->re, *im = memory->im;
    if (!re || !im)
        return false;
    return im == re + worker->real_bytes || re == im + worker->real_bytes;
}

enum access { ACCESS_LANES, ACCESS_ROWS, ACCESS_ANY };

// The best way to move n elements of a tile: as vectors, as rows, or one by one.
static enum access choose_access(const struct cpu_worker *worker,
                                 const struct cpu_pass *pass,
                                 const struct cpu_memory *memory, const struct tile *t,
                                 int64_t lane_step, int64_t n)
{
    const int lanes = pass->kernels->lanes;
    const int64_t unit = is_interleaved(worker, memory) ? 2 : 1;

    if (t->lanes < lanes)
        return ACCESS_ANY;
    if (t->is_affine && lane_step == unit)
        return ACCESS_LANES;
    if (memory->stride == unit && !memory->index && n * unit >= lanes)
        return ACCESS_ROWS;
    return ACCESS_ANY;
}

static struct cpu_memory in_memory(const struct cpu_worker *worker,
                                   const struct cpu_pass *pass, const struct tile *t)
{
    const struct kal_side *side = &pass->pass->in;
    struct cpu_memory memory = { .stride = side->stride,
                                 .lane_offset = t->in,
                                 .lanes = t->lanes,
                                 .index = side->index };
    find_parts(worker, side, &memory.re, &memory.im);
    return memory;
}

static struct cpu_memory out_memory(const struct cpu_worker *worker,
                                    const struct cpu_pass *pass, const struct tile *t)
{
    const struct kal_side *side = &pass->pass->out;
    struct cpu_memory memory = { .stride = side->stride,
                                 .lane_offset = t->out,
                                 .lanes = t->lanes,
                                 .index = side->index };
    find_parts(worker, side, &memory.re, &memory.im);
    return memory;
}

// Bytes from one tile element to the next.
static int64_t pair_bytes(const struct cpu_worker *worker, const struct cpu_pass *pass)
{
    return 2 * pass->kernels->lanes * worker->real_bytes;
}

static void zero_fill(const struct cpu_worker *worker, const struct cpu_pass *pass,
                      char *tile, int64_t from, int64_t to)
{
    const int64_t bytes = pair_bytes(worker, pass);
    if (from < to)
        memset(tile + from * bytes, 0, (size_t)((to - from) * bytes));
}

// How many of n elements from `first` on the chirp reaches.
static int64_t chirped(const struct kal_side *side, int64_t first, int64_t n)
{
    return kal_max(0, kal_min(n, side->chirp_n - first));
}

// Elements first .. first+n-1 of the lines to a tile, chirped.
static void load_tile(const struct cpu_worker *worker, const struct cpu_pass *pass,
                      const struct tile *t, char *tile, int64_t first, int64_t n)
{
    const struct cpu_kernels *k = pass->kernels;
    const struct cpu_memory memory = in_memory(worker, pass, t);
    const int64_t present = kal_max(0, kal_min(n, pass->pass->in.count - first));

    switch (choose_access(worker, pass, &memory, t, t->in_step, present)) {
    case ACCESS_LANES: k->load_lanes(tile, &memory, first, present); break;
    case ACCESS_ROWS: k->load_rows(tile, &memory, first, present); break;
    case ACCESS_ANY: k->load_any(tile, &memory, first, present); break;
    }
    zero_fill(worker, pass, tile, present, n);
    if (pass->chirp_in)
        k->multiply(tile, (const char *)pass->chirp_in + 2 * first * worker->real_bytes,
                    chirped(&pass->pass->in, first, present), false);
}

// exp(-2 pi i k / n) from the two tables of `roots`.
static void find_root(const struct cpu_roots *roots, int64_t k, double *re, double *im)
{
    const double *a = roots->coarse + 2 * (k >> roots->shift);
    const double *b = roots->fine + 2 * (k & (((int64_t)1 << roots->shift) - 1));
    *re = a[0] * b[0] - a[1] * b[1];
    *im = a[0] * b[1] + a[1] * b[0];
}

// Roots for any lanes: lane by lane into a tile.
static void fill_roots(const struct cpu_worker *worker, const struct cpu_pass *pass,
                       const struct tile *t, char *tile, int64_t first, int64_t n)
{
    const struct kal_side *side = &pass->pass->out;
    const int lanes = pass->kernels->lanes;
    const double sign = side->twiddle_is_conjugate ? -1.0 : 1.0;

    for (int64_t e = 0; e < n; e++) {
        const int64_t k = side->index ? side->index[first + e] : first + e;
        for (int lane = 0; lane < lanes; lane++) {
            double re, im;
            find_root(&pass->roots, k * t->twiddle[lane < t->lanes ? lane : 0], &re, &im);
            im *= sign;
            const int64_t at = 2 * e * lanes + lane;
            if (worker->real_bytes == 8) {
                ((double *)tile)[at] = re;
                ((double *)tile)[at + lanes] = im;
            } else {
                ((float *)tile)[at] = (float)re;
                ((float *)tile)[at + lanes] = (float)im;
            }
        }
    }
}

static void twiddle_tile(const struct cpu_worker *worker, const struct cpu_pass *pass,
                         const struct tile *t, char *tile, char *spare, int64_t first,
                         int64_t n)
{
    const struct cpu_kernels *k = pass->kernels;

    if (!pass->twiddle_lanes) {
        fill_roots(worker, pass, t, spare, first, n);
        k->multiply_tile(tile, spare, n);
        return;
    }
    const int64_t row = t->twiddle[0] / k->lanes;
    const char *lanes = pass->twiddle_lanes, *rows = pass->twiddle_rows;
    k->twiddle(tile, lanes + first * pair_bytes(worker, pass),
               rows + 2 * (row * pass->pass->n + first) * worker->real_bytes, n);
}

// A tile to elements first .. first+n-1 of the lines: factors, scale, store.
static void store_tile(const struct cpu_worker *worker, const struct cpu_pass *pass,
                       const struct tile *t, char *tile, char *spare, int64_t first,
                       int64_t n)
{
    const struct cpu_kernels *k = pass->kernels;
    const struct cpu_memory memory = out_memory(worker, pass, t);
    const int64_t present = kal_max(0, kal_min(n, pass->pass->out.count - first));

    if (pass->chirp_out)
        k->multiply(tile, (const char *)pass->chirp_out + 2 * first * worker->real_bytes,
                    chirped(&pass->pass->out, first, present), false);
    if (pass->pass->out.twiddle_n)
        twiddle_tile(worker, pass, t, tile, spare, first, present);
    if (pass->pass->scale != 1.0)
        k->scale(tile, pass->pass->scale, present);
    switch (choose_access(worker, pass, &memory, t, t->out_step, present)) {
    case ACCESS_LANES: k->store_lanes(tile, &memory, first, present); break;
    case ACCESS_ROWS: k->store_rows(tile, &memory, first, present); break;
    case ACCESS_ANY: k->store_any(tile, &memory, first, present); break;
    }
}

static struct cpu_vectors tile_vectors(const struct cpu_worker *worker,
                                       const struct cpu_pass *pass, char *tile,
                                       int64_t element, int64_t step)
{
    char *at = tile + element * pair_bytes(worker, pass);
    return (struct cpu_vectors){ at, at + pair_bytes(worker, pass) / 2,
                                 step * 2 * pass->kernels->lanes };
}

// Memory in which each element of all lanes is a vector, as it is in a tile.
static bool find_vectors(const struct cpu_worker *worker, const struct cpu_pass *pass,
                         const struct tile *t, const struct cpu_memory *memory,
                         int64_t lane_step, struct cpu_vectors *vectors)
{
    const bool is_direct =
        pass->kernels->lanes == 1 || (t->is_affine && t->lanes == pass->kernels->lanes &&
                                      lane_step == 1 && !is_interleaved(worker, memory));
    if (!is_direct || memory->index || !memory->re || !memory->im)
        return false;
    const int64_t offset = memory->lane_offset[0] * worker->real_bytes;
    *vectors = (struct cpu_vectors){ (char *)memory->re + offset,
                                     (char *)memory->im + offset, memory->stride };
    return true;
}

static void run_dft(const struct cpu_step *step, struct cpu_vectors x,
                    struct cpu_vectors y, int64_t real_bytes)
{
    const struct kal_step *s = step->step;
    const int64_t block = s->radix * s->m * s->s;
    for (int64_t o = 0; o < s->outer; o++) {
        step->dft(&x, &y, s->m, s->s, step->table);
        x.re = (char *)x.re + block * x.stride * real_bytes;
        x.im = (char *)x.im + block * x.stride * real_bytes;
        y.re = (char *)y.re + block * y.stride * real_bytes;
        y.im = (char *)y.im + block * y.stride * real_bytes;
    }
}

// Whole lines: pairs k and n/2 - k for k = 0 .. n/4, from one tile to the other.
static void run_split(const struct cpu_worker *worker, const struct cpu_pass *pass,
                      const struct cpu_step *step, char *from, char *to)
{
    const struct cpu_kernels *k = pass->kernels;
    const int64_t m = step->step->n / 2;
    struct cpu_vectors low = tile_vectors(worker, pass, from, 0, 1);
    struct cpu_vectors out_low = tile_vectors(worker, pass, to, 0, 1);
    struct cpu_vectors out_high = tile_vectors(worker, pass, to, m, -1);
    k->split(&low, &low, &out_low, &out_high, step->table, 1);

    low = tile_vectors(worker, pass, from, 1, 1);
    out_low = tile_vectors(worker, pass, to, 1, 1);
    out_high = tile_vectors(worker, pass, to, m - 1, -1);
    const struct cpu_vectors high = tile_vectors(worker, pass, from, m - 1, -1);
    k->split(&low, &high, &out_low, &out_high,
             (const char *)step->table + 2 * worker->real_bytes, m / 2);
}

// Coefficients 0 and n/2 of real data are real, whatever the caller's array says.
static void clear_imaginary(const struct cpu_worker *worker, const struct cpu_pass *pass,
                            char *tile, int64_t element)
{
    const int64_t bytes = pair_bytes(worker, pass);
    memset(tile + element * bytes + bytes / 2, 0, (size_t)bytes / 2);
}

static void run_merge(const struct cpu_worker *worker, const struct cpu_pass *pass,
                      const struct cpu_step *step, char *from, char *to)
{
    const int64_t m = step->step->n / 2;
    clear_imaginary(worker, pass, from, 0);
    clear_imaginary(worker, pass, from, m);
    const struct cpu_vectors low = tile_vectors(worker, pass, from, 0, 1);
    const struct cpu_vectors high = tile_vectors(worker, pass, from, m, -1);
    const struct cpu_vectors out_low = tile_vectors(worker, pass, to, 0, 1);
    const struct cpu_vectors out_high = tile_vectors(worker, pass, to, m, -1);
    pass->kernels->merge(&low, &high, &out_low, &out_high, step->table, m / 2 + 1);
}

static void run_rader(const struct cpu_worker *worker, const struct cpu_pass *pass,
                      const struct cpu_step *step, int current)
{
    const int64_t n = step->step->n - 1, bytes = pair_bytes(worker, pass);
    char *kept = worker->tile[0] + n * bytes; // where the load put x[0]
    pass->kernels->rader(worker->tile[current], kept, kept, step->table, n);
    memcpy(worker->tile[1] + n * bytes, kept, (size_t)bytes);
}

// Everything but a DFT step; returns the tile that holds the result.
static int run_other(const struct cpu_worker *worker, const struct cpu_pass *pass,
                     const struct cpu_step *step, int current)
{
    char *from = worker->tile[current], *to = worker->tile[!current];

    switch (step->step->op) {
    case KAL_STEP_RADER: run_rader(worker, pass, step, current); return current;
    case KAL_STEP_PRODUCT:
        pass->kernels->multiply(from, step->table, step->step->size, true);
        return current;
    case KAL_STEP_SPLIT: run_split(worker, pass, step, from, to); return !current;
    case KAL_STEP_MERGE: run_merge(worker, pass, step, from, to); return !current;
    case KAL_STEP_DFT: break;
    }
    return current;
}

// May the last step write straight to memory?
static bool stores_plainly(const struct kal_pass *p)
{
    return p->out.count >= p->n && p->out.chirp_n == 0 && p->out.twiddle_n == 0 &&
           p->scale == 1.0;
}

static void run_tile(const struct cpu_worker *worker, const struct cpu_pass *pass,
                     const struct tile *t)
{
    const struct kal_pass *p = pass->pass;
    const struct cpu_memory in = in_memory(worker, pass, t);
    const struct cpu_memory out = out_memory(worker, pass, t);
    struct cpu_vectors first, last;
    const bool is_transform = p->step_count > 0 && p->step[0].op == KAL_STEP_DFT;
    const bool loads_directly = is_transform && !pass->chirp_in && p->in.count >= p->n &&
                                find_vectors(worker, pass, t, &in, t->in_step, &first);
    const bool stores_directly =
        p->step_count > 0 && p->step[p->step_count - 1].op == KAL_STEP_DFT &&
        stores_plainly(p) && find_vectors(worker, pass, t, &out, t->out_step, &last);
    int current = 0;

    if (!loads_directly)
        load_tile(worker, pass, t, worker->tile[0], 0, p->n);
    for (int i = 0; i < p->step_count; i++) {
        const struct cpu_step *step = &pass->step[i];
        if (step->step->op != KAL_STEP_DFT) {
            current = run_other(worker, pass, step, current);
            continue;
        }
        const struct cpu_vectors x =
            i == 0 && loads_directly
                ? first
                : tile_vectors(worker, pass, worker->tile[current], 0, 1);
        const struct cpu_vectors y =
            i == p->step_count - 1 && stores_directly
                ? last
                : tile_vectors(worker, pass, worker->tile[!current], 0, 1);
        run_dft(step, x, y, worker->real_bytes);
        current = !current;
    }
    if (!stores_directly)
        store_tile(worker, pass, t, worker->tile[current], worker->tile[!current], 0,
                   p->n);
}

// A block of a long mirrored step: elements k and m - k for k = begin .. end-1.
static void run_mirrored_block(const struct cpu_worker *worker,
                               const struct cpu_pass *pass, const struct tile *t,
                               int64_t begin, int64_t end)
{
    const struct cpu_step *step = &pass->step[0];
    const struct cpu_kernels *k = pass->kernels;
    const int64_t m = step->step->n / 2, count = end - begin;
    const bool is_split = step->step->op == KAL_STEP_SPLIT;
    const struct cpu_memory in = in_memory(worker, pass, t),
                            out = out_memory(worker, pass, t);
    struct cpu_memory in_high = in, out_high = out;
    const int64_t skip = begin == 0;
    char *low = worker->tile[0], *high = worker->tile[1];

    in_high.re = (char *)in.re + m * in.stride * worker->real_bytes;
    in_high.im = (char *)in.im + m * in.stride * worker->real_bytes;
    in_high.stride = -in.stride;
    out_high.re = (char *)out.re + m * out.stride * worker->real_bytes;
    out_high.im = (char *)out.im + m * out.stride * worker->real_bytes;
    out_high.stride = -out.stride;

    k->load_any(low, &in, begin, count);
    // Element m of a packed transform is element 0.
    if (is_split && skip)
        k->load_any(high, &in, 0, 1);
    const int64_t first = is_split ? skip : 0;
    k->load_any(high + first * pair_bytes(worker, pass), &in_high, begin + first,
                count - first);
    if (!is_split && skip) {
        clear_imaginary(worker, pass, low, 0);
        clear_imaginary(worker, pass, high, 0);
    }

    const struct cpu_vectors l = tile_vectors(worker, pass, low, 0, 1);
    const struct cpu_vectors h = tile_vectors(worker, pass, high, 0, 1);
    const char *w = (const char *)step->table + 2 * begin * worker->real_bytes;
    (is_split ? k->split : k->merge)(&l, &h, &l, &h, w, count);

    if (pass->pass->scale != 1.0) {
        k->scale(low, pass->pass->scale, count);
        k->scale(high, pass->pass->scale, count);
    }
    const int64_t stored = is_split ? 0 : skip; // MERGE: element m is none
    k->store_any(low, &out, begin, count);
    k->store_any(high + stored * pair_bytes(worker, pass), &out_high, begin + stored,
                 count - stored);
}

// A block of a long pointwise pass: elements begin .. end-1.
static void run_pointwise_block(const struct cpu_worker *worker,
                                const struct cpu_pass *pass, const struct tile *t,
                                int64_t begin, int64_t end)
{
    const struct kal_pass *p = pass->pass;
    const struct cpu_step *step = p->step_count ? &pass->step[0] : NULL;
    const bool is_rader = step && step->step->op == KAL_STEP_RADER;
    // Element n - 1 of Rader's, x[0], goes with block 0.
    const int64_t n = kal_min(end, is_rader ? p->n - 1 : p->n) - begin;
    char *tile = worker->tile[0], *spare = worker->tile[1];

    load_tile(worker, pass, t, tile, begin, n);
    if (step) {
        const char *table = (const char *)step->table + 2 * begin * worker->real_bytes;
        if (is_rader && begin == 0) {
            load_tile(worker, pass, t, spare, p->n - 1, 1);
            pass->kernels->rader(tile, spare, spare, table, n);
            store_tile(worker, pass, t, spare, spare + pair_bytes(worker, pass), p->n - 1,
                       1);
        } else {
            pass->kernels->multiply(tile, table, n, true);
        }
    }
    store_tile(worker, pass, t, tile, spare, begin, n);
}

static void run_block(const struct cpu_worker *worker, const struct cpu_pass *pass,
                      const struct tile *t, int64_t number)
{
    const struct kal_pass *p = pass->pass;
    const bool is_mirrored = p->step_count == 1 && (p->step[0].op == KAL_STEP_SPLIT ||
                                                    p->step[0].op == KAL_STEP_MERGE);
    const int64_t units = is_mirrored ? p->step[0].n / 4 + 1 : p->n;
    const int64_t begin = number * CPU_BLOCK, end = kal_min(begin + CPU_BLOCK, units);

    (is_mirrored ? run_mirrored_block : run_pointwise_block)(worker, pass, t, begin, end);
}

void cpu_tiles_run(struct cpu_worker *worker, const struct cpu_pass *pass,
                   const struct cpu_chunk *chunk, int64_t begin, int64_t end)
{
    const struct rows rows = find_rows(pass, chunk);
    const int64_t blocks = block_count(pass);

    for (int64_t i = begin; i < end; i++) {
        const int64_t number = i / blocks;
        struct tile t;
        find_lanes(&t, pass, chunk, &rows, number / rows.tiles,
                   number % rows.tiles * pass->kernels->lanes);
        if (pass->is_blocked)
            run_block(worker, pass, &t, i % blocks);
        else
            run_tile(worker, pass, &t);
    }
}
