// SPDX-License-Identifier: MIT
#include "device/cpu/tile.h"

#include "device/cpu/beside.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

struct cpu_rows kal_cpu_rows_find(const struct cpu_pass *pass, int64_t lines,
                                  bool lanes_are_lines)
{
    struct cpu_rows rows;

    if (pass->rows_restart)
        rows.length = pass->pass->loops[pass->fast_loop].count;
    else
        rows.length = lanes_are_lines ? lines : pass->inner;
    rows.count = lines * pass->inner / rows.length;
    rows.tile = pass->tile;
    rows.tiles = (rows.length + rows.tile - 1) / rows.tile;
    return rows;
}

// The last chunk of a phase may be shorter than the others.
static struct cpu_rows chunk_rows(const struct cpu_pass *pass,
                                  const struct cpu_chunk *chunk)
{
    return chunk->lines == pass->chunk_lines
               ? pass->chunk_rows
               : kal_cpu_rows_find(pass, chunk->lines, chunk->lanes_are_lines);
}

int64_t kal_cpu_tile_count(const struct cpu_pass *pass, const struct cpu_chunk *chunk)
{
    const struct cpu_rows rows = chunk_rows(pass, chunk);
    return rows.count * rows.tiles * pass->blocks;
}

// The lines of one tile.
struct tile {
    int lanes;
    bool is_affine; // offsets grow by the run's steps from lane to lane
    int64_t fast;   // index of the first lane on the fast loop
    int64_t in[CPU_MAX_LANES], out[CPU_MAX_LANES];
    int64_t twiddle[CPU_MAX_LANES]; // index on the twiddle's loop
};

// What all tiles of one call share.
struct run {
    const struct cpu_worker *worker;
    const struct cpu_pass *pass;
    const struct cpu_chunk *chunk;
    struct cpu_rows rows;
    int64_t round;             // lines on the fast loop
    struct cpu_memory in, out; // of the tile's lanes
    int64_t in_unit, out_unit; // reals from a line to an adjacent one: 2 if interleaved
    struct cpu_place step;     // from lane to lane on the fast loop
    int64_t staged[CPU_MAX_LANES]; // lanes of a copy of the output, before it is streamed
    bool is_streamed;              // a tile's output is one piece
    int joined;                    // tiles whose output is in the copy of neighbours,
    char *joined_to;               // and where the first of these belongs
    bool is_joining;               // the present one goes there
    struct tile tile;              // the one that is being worked
};

// Spread a number over loops, the last fastest.
static void spread(struct cpu_place *c, const struct cpu_pass *pass, int fast_loop,
                   const struct cpu_loops *loops, int64_t number)
{
    for (int i = loops->count - 1; i >= 0; i--) {
        const struct cpu_loop *loop = &loops->loop[i];
        int64_t index = number;
        if (i > 0) {
            index = number % loop->count;
            number /= loop->count;
        }
        c->in += loop->in * index;
        c->out += loop->out * index;
        if (loop->number == fast_loop)
            c->fast = index;
        if (loop->number == pass->pass->out.twiddle_loop)
            c->twiddle = index;
    }
}

struct cpu_place kal_cpu_place_find(const struct cpu_pass *pass,
                                    const struct cpu_chunk *chunk, int64_t number,
                                    int fast_loop)
{
    const struct kal_pass *p = pass->pass;
    int64_t line = 0, inner = 0;

    if (pass->inner == 1) {
        line = number;
    } else if (chunk->lines == 1) {
        inner = number;
    } else if (chunk->lanes_are_lines) {
        line = number % chunk->lines;
        inner = number / chunk->lines;
    } else {
        line = number / pass->inner;
        inner = number % pass->inner;
    }
    struct cpu_place c = { .in = p->in.offset + line * p->in.line_stride,
                           .out = p->out.offset + line * p->out.line_stride };
    spread(&c, pass, fast_loop, &pass->stage_loops, chunk->stage_index);
    spread(&c, pass, fast_loop, &pass->line_loops, chunk->first_line + line);
    spread(&c, pass, fast_loop, &pass->inner_loops, inner);
    return c;
}

struct cpu_place kal_cpu_step_find(const struct cpu_pass *pass, int loop)
{
    const struct kal_pass *p = pass->pass;
    if (loop < 0)
        return (struct cpu_place){ 0 };
    const bool is_line_loop = loop < p->stage_loops + p->line_loops;
    const struct kal_loop *l = &p->loops[loop];
    return (struct cpu_place){
        .in =
            is_line_loop && p->in.buffer == KAL_BUFFER_CHUNK ? p->in.line_stride : l->in,
        .out = is_line_loop && p->out.buffer == KAL_BUFFER_CHUNK ? p->out.line_stride
                                                                 : l->out,
        .fast = 1,
        .twiddle = p->out.twiddle_loop == loop,
    };
}

static void find_affine_lanes(struct run *run, const struct cpu_place *c)
{
    struct tile *t = &run->tile;

    t->is_affine = true;
    for (int i = 0; i < t->lanes; i++) {
        t->in[i] = c->in + i * run->step.in;
        t->out[i] = c->out + i * run->step.out;
    }
    for (int i = 0; run->pass->pass->out.twiddle_n && i < t->lanes; i++)
        t->twiddle[i] = c->twiddle + i * run->step.twiddle;
}

static void find_lanes(struct run *run, int64_t row, int64_t first)
{
    struct tile *t = &run->tile;
    const struct cpu_pass *pass = run->pass;
    const int64_t number = row * run->rows.length + first;

    t->lanes = (int)kal_min(run->rows.tile, run->rows.length - first);
    run->in.lanes = run->out.lanes = t->lanes;
    struct cpu_place c = kal_cpu_place_find(pass, run->chunk, number, pass->fast_loop);
    t->fast = c.fast;
    if (c.fast + t->lanes <= run->round) {
        find_affine_lanes(run, &c);
        return;
    }
    t->is_affine = false;
    for (int i = 0; i < t->lanes; i++) {
        c = kal_cpu_place_find(pass, run->chunk, number + i, pass->fast_loop);
        t->in[i] = c.in;
        t->out[i] = c.out;
        t->twiddle[i] = c.twiddle;
    }
}

void kal_cpu_memory_find(struct cpu_memory *memory, const struct cpu_worker *worker,
                         const struct kal_side *side)
{
    char *base = worker->base[side->buffer];
    char *other = side->is_real     ? NULL
                  : side->imag == 0 ? worker->second[side->buffer]
                                    : base + side->imag * worker->real_bytes;
    memory->re = side->is_swapped ? other : base;
    memory->im = side->is_swapped ? base : other;
    memory->stride = side->stride;
    memory->ahead = 0;
    memory->index = side->index;
}

static bool is_interleaved(const struct cpu_worker *worker,
                           const struct cpu_memory *memory)
{
    const char *re = memory->re, *im = memory->im;
    if (!re || !im)
        return false;
    return im == re + worker->real_bytes || re == im + worker->real_bytes;
}

// Field by field: a structure that is returned is copied before its stores have settled.
static void init_run(struct run *run, const struct cpu_worker *worker,
                     const struct cpu_pass *pass, const struct cpu_chunk *chunk)
{
    const struct kal_pass *p = pass->pass;

    run->worker = worker;
    run->pass = pass;
    run->chunk = chunk;
    run->rows = chunk_rows(pass, chunk);
    run->round = pass->fast_loop < 0 ? 1 : p->loops[pass->fast_loop].count;
    kal_cpu_memory_find(&run->in, worker, &p->in);
    kal_cpu_memory_find(&run->out, worker, &p->out);
    run->in.lane_offset = run->tile.in;
    run->out.lane_offset = run->tile.out;
    run->in_unit = is_interleaved(worker, &run->in) ? 2 : 1;
    run->out_unit = is_interleaved(worker, &run->out) ? 2 : 1;
    run->step = kal_cpu_step_find(pass, pass->fast_loop);
    run->is_streamed = pass->is_streamed && !pass->is_blocked && p->out.count >= p->n &&
                       run->out_unit == 2 && run->step.out == p->n * run->out_unit;
    for (int i = 0; i < pass->kernels->lanes; i++)
        run->staged[i] = i * run->step.out;
    run->joined = 0;
    run->joined_to = NULL;
    run->is_joining = false;
}

// A copy of the interleaved output, parts in the same order.
static struct cpu_memory copy_memory(const struct run *run, char *at, int64_t stride,
                                     const int64_t *lane_offset)
{
    const struct cpu_memory *to = &run->out;
    const bool is_swapped = to->re > to->im;
    return (struct cpu_memory){
        .re = is_swapped ? at + run->worker->real_bytes : at,
        .im = is_swapped ? at : at + run->worker->real_bytes,
        .stride = stride,
        .lane_offset = lane_offset,
        .lanes = to->lanes,
    };
}

// Rows one behind the other, to a copy of them and from there past the caches.
static void stream_rows(const struct run *run, const char *tile, char *spare, int64_t n)
{
    const struct cpu_memory *to = &run->out;
    const int64_t skip = run->tile.out[0] * run->worker->real_bytes;
    const bool is_swapped = to->re > to->im;
    const struct cpu_memory copy = copy_memory(run, spare, to->stride, run->staged);
    run->pass->kernels->store_rows(tile, &copy, 0, n);
    run->pass->kernels->stream((char *)(is_swapped ? to->im : to->re) + skip, spare,
                               to->lanes * n * run->out_unit);
}

enum access {
    ACCESS_LINE,
    ACCESS_LANES,
    ACCESS_LANES_APART,
    ACCESS_ROWS,
    ACCESS_MAPPED_ROWS,
    ACCESS_ANY
};

// Elements farther apart are moved one by one. Measured on a Zen 5 processor in November 2026: collected
// in registers, lines take 0.35 to 0.9 of the time with strides of 16 to 64 bytes, 0.6 to 1.1 up to this
// one, 0.9 to 1.3 from 2 KiB on.
enum { FAR_APART = 1024 };

// The best way to move n elements of a tile: of one lane along its line, as vectors, as rows,
// whose elements may lie apart, or one by one. Rows under an index map, of `reach` elements, go
// by way of another tile.
static enum access choose_access(const struct run *run, const struct cpu_memory *memory,
                                 int64_t unit, int64_t step, int64_t reach, int64_t n)
{
    const int lanes = run->pass->kernels->lanes;
    const int64_t row = memory->index ? reach : n;
    const int64_t bytes = llabs(memory->stride) * run->worker->real_bytes;

    if (lanes == 1 && memory->stride == unit && !memory->index)
        return ACCESS_LINE;
    if (run->tile.is_affine && step == unit)
        return ACCESS_LANES;
    if (run->tile.is_affine && run->tile.lanes == lanes && lanes > 1 && step != 0 &&
        llabs(step) < llabs(memory->stride) &&
        llabs(step) * run->worker->real_bytes <= FAR_APART)
        return ACCESS_LANES_APART;
    if (lanes == 1 || row * unit < lanes || (memory->stride != unit && bytes > FAR_APART))
        return ACCESS_ANY;
    if (!memory->index)
        return ACCESS_ROWS;
    return reach <= n && n == run->pass->pass->n ? ACCESS_MAPPED_ROWS : ACCESS_ANY;
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

// A part of one line from element `first` on; NULL: there is none.
static char *line_part(const struct run *run, const struct cpu_memory *memory, char *part,
                       int64_t first)
{
    const int64_t at = memory->lane_offset[0] + first * memory->stride;
    return part ? part + at * run->worker->real_bytes : NULL;
}

// Elements times those of a table; a tile of one lane is as wide as it is long.
static void multiply(const struct run *run, char *tile, const void *table, int64_t n,
                     bool exchange)
{
    const struct cpu_pass *pass = run->pass;
    (pass->kernels->lanes == 1 ? pass->widest->rows->multiply
                               : pass->kernels->multiply)(tile, table, n, exchange);
}

// Elements first .. first+n-1 of the lines to a tile, chirped.
static void load_tile(const struct run *run, char *tile, char *spare, int64_t first,
                      int64_t n)
{
    const struct cpu_worker *worker = run->worker;
    const struct cpu_pass *pass = run->pass;
    const struct cpu_kernels *k = pass->kernels;
    const struct cpu_memory *memory = &run->in;
    const int64_t present = kal_max(0, kal_min(n, pass->pass->in.count - first));

    switch (
        choose_access(run, memory, run->in_unit, run->step.in, pass->in_reach, present)) {
    case ACCESS_LINE:
        pass->widest->rows->load(tile, line_part(run, memory, memory->re, first),
                                 line_part(run, memory, memory->im, first), present);
        break;
    case ACCESS_LANES: k->load_lanes(tile, memory, first, present); break;
    case ACCESS_LANES_APART: k->load_lanes_apart(tile, memory, first, present); break;
    case ACCESS_ROWS: k->load_rows(tile, memory, first, present); break;
    case ACCESS_MAPPED_ROWS:
        k->load_rows(spare, memory, 0, pass->in_reach);
        k->gather(tile, spare, memory->index, present);
        break;
    case ACCESS_ANY: k->load_any(tile, memory, first, present); break;
    }
    zero_fill(worker, pass, tile, present, n);
    if (pass->chirp_in)
        multiply(run, tile, (const char *)pass->chirp_in + 2 * first * worker->real_bytes,
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

// The whole tile of twiddles for the lanes of this one.
static const char *twiddle_row(const struct run *run)
{
    const struct cpu_pass *pass = run->pass;
    const int64_t row = run->tile.twiddle[0] / pass->kernels->lanes;
    return (const char *)pass->twiddle_tiles +
           row * pass->pass->n * pair_bytes(run->worker, pass);
}

// The roots that the vectors of this tile's twiddles are multiplied by.
static const char *twiddle_scalars(const struct run *run)
{
    const struct cpu_pass *pass = run->pass;
    const int64_t row = run->tile.twiddle[0] / pass->kernels->lanes;
    return (const char *)pass->twiddle_rows +
           2 * row * pass->pass->n * run->worker->real_bytes;
}

static void twiddle_tile(const struct run *run, char *tile, char *spare, int64_t first,
                         int64_t n)
{
    const struct cpu_worker *worker = run->worker;
    const struct cpu_pass *pass = run->pass;
    const struct cpu_kernels *k = pass->kernels;
    const int64_t skip = first * pair_bytes(worker, pass);

    if (pass->twiddle_tiles) {
        k->multiply_tile(tile, twiddle_row(run) + skip, n);
    } else if (pass->twiddle_lanes) {
        k->twiddle(tile, (const char *)pass->twiddle_lanes + skip,
                   twiddle_scalars(run) + 2 * first * worker->real_bytes, n);
    } else {
        fill_roots(worker, pass, &run->tile, spare, first, n);
        k->multiply_tile(tile, spare, n);
    }
}

// Where the first number of a tile begins: with the part that leads if it is interleaved.
static char *find_first(const struct run *run, const struct cpu_memory *side)
{
    char *re = side->re, *im = side->im;
    return (im && (!re || im < re) ? im : re) +
           side->lane_offset[0] * run->worker->real_bytes;
}

// Do vectors of a tile's output go past the caches, each to a line's place?
static bool can_stream_lanes(const struct run *run)
{
    const struct cpu_kernels *k = run->pass->kernels;
    return run->pass->is_streamed && !run->is_joining && k->stream_lanes &&
           run->tile.is_affine && run->step.out == run->out_unit &&
           run->tile.lanes == k->lanes && run->out_unit == 2 && !run->out.index &&
           (uintptr_t)find_first(run, &run->out) % CPU_LINE_BYTES == 0 &&
           run->out.stride * run->worker->real_bytes % CPU_LINE_BYTES == 0;
}

// A tile to elements first .. first+n-1 of the lines: factors, scale, store.
static void store_tile(const struct run *run, char *tile, char *spare, int64_t first,
                       int64_t n)
{
    const struct cpu_worker *worker = run->worker;
    const struct cpu_pass *pass = run->pass;
    const struct cpu_kernels *k = pass->kernels;
    const struct cpu_memory *memory = &run->out;
    const int64_t present = kal_max(0, kal_min(n, pass->pass->out.count - first));

    if (pass->chirp_out)
        multiply(run, tile,
                 (const char *)pass->chirp_out + 2 * first * worker->real_bytes,
                 chirped(&pass->pass->out, first, present), false);
    if (pass->pass->out.twiddle_n)
        twiddle_tile(run, tile, spare, first, present);
    if (pass->scale != 1.0)
        k->scale(tile, pass->scale, present);
    switch (choose_access(run, memory, run->out_unit, run->step.out,
                          pass->out_permutes ? pass->pass->n : 0, present)) {
    case ACCESS_LINE:
        pass->widest->rows->store(tile, line_part(run, memory, memory->re, first),
                                  line_part(run, memory, memory->im, first), present);
        break;
    case ACCESS_LANES:
        (can_stream_lanes(run) ? k->stream_lanes : k->store_lanes)(tile, memory, first,
                                                                   present);
        break;
    case ACCESS_LANES_APART: k->store_lanes_apart(tile, memory, first, present); break;
    case ACCESS_ROWS:
        if (run->is_streamed && run->tile.is_affine && memory->stride == run->out_unit)
            stream_rows(run, tile, spare, present);
        else
            k->store_rows(tile, memory, first, present);
        break;
    case ACCESS_MAPPED_ROWS:
        k->scatter(spare, tile, memory->index, present);
        k->store_rows(spare, memory, 0, present);
        break;
    case ACCESS_ANY: k->store_any(tile, memory, first, present); break;
    }
}

static struct cpu_vectors tile_vectors(const struct cpu_worker *worker,
                                       const struct cpu_pass *pass, char *tile,
                                       int64_t element, int64_t step)
{
    char *at = tile + element * pair_bytes(worker, pass);
    return (struct cpu_vectors){ at, at + pair_bytes(worker, pass) / 2,
                                 step * 2 * pass->kernels->lanes, 0 };
}

// How a step can reach memory: not at all, as vectors, or as interleaved adjacent lines, and
// these past the caches.
enum reach { REACH_NONE, REACH_VECTORS, REACH_INTERLEAVED, REACH_STREAMED };

static enum reach find_reach(const struct run *run, const struct cpu_memory *side,
                             int64_t unit, int64_t step)
{
    const int lanes = run->pass->kernels->lanes;

    if (side->index || !side->re || !side->im)
        return REACH_NONE;
    if (lanes == 1)
        return REACH_VECTORS;
    if (!run->tile.is_affine || run->tile.lanes != lanes || step != unit)
        return REACH_NONE;
    return unit == 1 ? REACH_VECTORS : REACH_INTERLEAVED;
}

static struct cpu_vectors memory_vectors(const struct run *run,
                                         const struct cpu_memory *side)
{
    const int64_t bytes = side->lane_offset[0] * run->worker->real_bytes;
    return (struct cpu_vectors){ (char *)side->re + bytes, (char *)side->im + bytes,
                                 side->stride, side->ahead };
}

static void run_dft(const struct cpu_step *step, cpu_dft *dft, struct cpu_vectors x,
                    struct cpu_vectors y, int64_t real_bytes)
{
    const struct kal_step *s = step->step;
    const int64_t block = s->radix * s->m * s->s;
    for (int64_t o = 0; o < s->outer; o++) {
        kal_cpu_step_run(step, dft, &x, &y, real_bytes);
        x.re = (char *)x.re + block * x.stride * real_bytes;
        x.im = (char *)x.im + block * x.stride * real_bytes;
        y.re = (char *)y.re + block * y.stride * real_bytes;
        y.im = (char *)y.im + block * y.stride * real_bytes;
    }
}

// The function of a step that reaches memory so on either side, or NULL.
static cpu_dft *find_dft(const struct cpu_pass *pass, const struct cpu_step *step,
                         enum reach in, enum reach out)
{
    const struct cpu_fused *fused = pass->kernels->fused;
    const int radix = step->step->radix;

    if (out == REACH_STREAMED)
        return in == REACH_INTERLEAVED ? NULL : fused->streamed[radix];
    if (in != REACH_INTERLEAVED && out != REACH_INTERLEAVED)
        return step->dft;
    if (in != REACH_INTERLEAVED)
        return fused->out[radix];
    return out == REACH_INTERLEAVED ? fused->in_out[radix] : fused->in[radix];
}

// A mirrored step from one tile to the other.
struct mirror {
    const struct cpu_worker *worker;
    const struct cpu_pass *pass;
    const struct cpu_step *step;
    char *from, *to;
};

// Pairs k to k + count - 1: those elements of both tiles, `low` upwards and `high` downwards.
static void mirror_pairs(const struct mirror *m, int64_t low, int64_t high,
                         int64_t out_low, int64_t out_high, int64_t k, int64_t count)
{
    const struct cpu_kernels *kernels = m->pass->kernels;
    const struct cpu_vectors x = tile_vectors(m->worker, m->pass, m->from, low, 1),
                             x_high = tile_vectors(m->worker, m->pass, m->from, high, -1),
                             y = tile_vectors(m->worker, m->pass, m->to, out_low, 1),
                             y_high =
                                 tile_vectors(m->worker, m->pass, m->to, out_high, -1);
    (m->step->step->op == KAL_STEP_SPLIT ? kernels->split : kernels->merge)(
        &x, &x_high, &y, &y_high,
        (const char *)m->step->table + 2 * k * m->worker->real_bytes, count);
}

// The row of opposite frequencies, in planes of m rows.
static int64_t opposite_row(const struct kal_step *step, int64_t row)
{
    if (step->outer == 1)
        return 0;
    const int64_t planes = step->outer / step->m, plane = row / step->m;
    return (planes - plane) % planes * step->m + (step->m - row % step->m) % step->m;
}

// Coefficients 0 and n/2 of real data are real, whatever the caller's array says.
static void clear_imaginary(const struct cpu_worker *worker, const struct cpu_pass *pass,
                            char *tile, int64_t element)
{
    const int64_t bytes = pair_bytes(worker, pass);
    memset(tile + element * bytes + bytes / 2, 0, (size_t)bytes / 2);
}

// Element k of a row with n/2 - k of the opposite one, which may be itself. The packed side has no element n/2:
// SPLIT takes 0 for it, and what MERGE makes of it goes behind all rows.
static void mirror_row(const struct mirror *mirror, int64_t row)
{
    const struct kal_step *step = mirror->step->step;
    const bool is_split = step->op == KAL_STEP_SPLIT;
    const int64_t m = step->n / 2, other = opposite_row(step, row);
    const int64_t from_pitch = is_split ? m : m + 1, to_pitch = is_split ? m + 1 : m;
    const int64_t from = row * from_pitch, from_other = other * from_pitch;
    const int64_t to = row * to_pitch, to_other = other * to_pitch;

    if (!is_split && row == other) {
        clear_imaginary(mirror->worker, mirror->pass, mirror->from, from);
        clear_imaginary(mirror->worker, mirror->pass, mirror->from, from + m);
    }
    mirror_pairs(mirror, from, is_split ? from_other : from_other + m, to,
                 is_split ? to_other + m : mirror->pass->pass->n, 0, 1);
    if (row <= other)
        mirror_pairs(mirror, from + 1, from_other + m - 1, to + 1, to_other + m - 1, 1,
                     row == other ? m / 2 : m - 1);
}

static void run_mirror(const struct mirror *mirror)
{
    for (int64_t row = 0; row < mirror->step->step->outer; row++)
        mirror_row(mirror, row);
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
    case KAL_STEP_SPLIT:
    case KAL_STEP_MERGE:
        run_mirror(&(struct mirror){ worker, pass, step, from, to });
        return !current;
    case KAL_STEP_DFT: break;
    }
    return current;
}

// Columns of a four-step with one codelet: memory to memory, twiddles in passing.
static bool run_columns(const struct run *run, enum reach in, enum reach out)
{
    const struct cpu_pass *pass = run->pass;
    const struct cpu_fused *fused = pass->kernels->fused;

    if (!pass->twiddle_tiles || pass->pass->step_count != 1 || !fused ||
        pass->pass->scale != 1.0 || out != REACH_VECTORS || in == REACH_NONE)
        return false;
    const int radix = pass->pass->step[0].radix;
    cpu_dft *dft = in == REACH_VECTORS ? fused->lanes[radix] : fused->in_lanes[radix];
    if (!dft)
        return false;
    const struct cpu_vectors x = memory_vectors(run, &run->in);
    const struct cpu_vectors y = memory_vectors(run, &run->out);
    dft(&x, &y, 1, 1, twiddle_row(run));
    return true;
}

// May the first step read, or the last one write, memory as far as the pass goes?
static bool reads_plainly(const struct kal_pass *p)
{
    return p->step_count > 0 && p->step[0].op == KAL_STEP_DFT && p->step[0].outer == 1 &&
           p->in.count >= p->n && p->in.chirp_n == 0;
}

static bool writes_plainly(const struct kal_pass *p)
{
    if (p->step_count == 0)
        return false;
    const struct kal_step *last = &p->step[p->step_count - 1];
    return last->op == KAL_STEP_DFT && last->outer == 1 && p->out.count >= p->n &&
           p->out.chirp_n == 0;
}

static void move(struct cpu_vectors *lines, int64_t bytes)
{
    lines->re = (char *)lines->re + bytes;
    if (lines->im)
        lines->im = (char *)lines->im + bytes;
}

// Are outputs multiplied on their way to memory that the last step could reach?
static bool has_factors(const struct cpu_pass *pass)
{
    return pass->pass->out.twiddle_n || pass->scale != 1.0;
}

// If so, can those of each codelet be, when it has ended?
static bool can_multiply_outputs(const struct cpu_pass *pass)
{
    return pass->kernels->lanes > 1 &&
           (!pass->pass->out.twiddle_n || pass->twiddle_tiles || pass->twiddle_lanes);
}

// What elements 0, step, ... of this tile are multiplied by, n of them. Twiddles that are not kept whole
// are products, of those of these elements, which are put to `roots`, and that of the element which
// one begins with.
static struct cpu_factors find_factors(const struct run *run, char *roots, int64_t step,
                                       int64_t n)
{
    const struct cpu_pass *pass = run->pass;
    struct cpu_factors f = { .scale = pass->scale };

    if (pass->twiddle_tiles) {
        f.roots = twiddle_row(run);
        f.step = step;
    } else if (pass->twiddle_lanes) {
        f.lanes = pass->twiddle_lanes;
        f.row = twiddle_scalars(run);
        pass->kernels->roots(roots, f.lanes, f.row, step, n);
        if (pass->scale != 1.0)
            pass->kernels->scale(roots, pass->scale, n);
        f.roots = roots;
        f.step = 1;
    }
    return f;
}

// What those behind them are.
static void advance_factors(const struct run *run, struct cpu_factors *f)
{
    const int64_t bytes = pair_bytes(run->worker, run->pass);
    if (f->lanes) {
        f->lanes = (const char *)f->lanes + bytes;
        f->row = (const char *)f->row + 2 * run->worker->real_bytes;
    } else if (f->roots) {
        f->roots = (const char *)f->roots + bytes;
    }
}

// The last step codelet by codelet: outputs are multiplied and stored while they are near the core.
static void run_last(const struct run *run, const struct cpu_step *step, cpu_dft *dft,
                     struct cpu_vectors x, char *tile, enum reach out)
{
    static const enum cpu_layout layout[] = { [REACH_VECTORS] = CPU_PLANAR,
                                              [REACH_INTERLEAVED] = CPU_INTERLEAVED,
                                              [REACH_STREAMED] = CPU_STREAMED };
    const struct cpu_kernels *k = run->pass->kernels;
    cpu_output *store =
        (run->pass->pass->out.twiddle_n ? k->twiddled : k->scaled)[layout[out]];
    const int64_t radix = step->step->radix, count = step->step->s;
    _Alignas(64) char outputs[CPU_MAX_RADIX * CPU_PAIR_BYTES];
    const struct cpu_vectors spare = tile_vectors(run->worker, run->pass, outputs, 0, 1);
    struct cpu_factors factors = find_factors(run, tile, count, radix);
    struct cpu_vectors y = memory_vectors(run, &run->out);
    const int64_t x_bytes = x.stride * run->worker->real_bytes,
                  y_bytes = y.stride * run->worker->real_bytes;

    x.stride *= count;
    y.stride *= count;
    for (int64_t q = 0; q < count; q++) {
        dft(&x, &spare, 1, 1, NULL);
        store(outputs, &factors, &y, radix);
        advance_factors(run, &factors);
        move(&x, x_bytes);
        move(&y, y_bytes);
    }
}

static void run_steps(const struct run *run, enum reach in, enum reach out)
{
    const struct cpu_worker *worker = run->worker;
    const struct cpu_pass *pass = run->pass;
    const int end = pass->pass->step_count - 1;
    int current = 0;

    if (in == REACH_NONE)
        load_tile(run, worker->tile[0], worker->tile[1], 0, pass->pass->n);
    for (int i = 0; i <= end; i++) {
        const struct cpu_step *step = &pass->step[i];
        if (step->step->op != KAL_STEP_DFT) {
            current = run_other(worker, pass, step, current);
            continue;
        }
        const bool by_codelets = i == end && out && has_factors(pass);
        const enum reach from = i == 0 ? in : REACH_NONE,
                         to = i == end && !by_codelets ? out : REACH_NONE;
        const struct cpu_vectors x =
            from ? memory_vectors(run, &run->in)
                 : tile_vectors(worker, pass, worker->tile[current], 0, 1);
        if (by_codelets) {
            run_last(run, step, find_dft(pass, step, from, to), x, worker->tile[!current],
                     out);
            return;
        }
        const struct cpu_vectors y =
            to ? memory_vectors(run, &run->out)
               : tile_vectors(worker, pass, worker->tile[!current], 0, 1);
        run_dft(step, find_dft(pass, step, from, to), x, y, worker->real_bytes);
        current = !current;
    }
    if (out == REACH_NONE)
        store_tile(run, worker->tile[current], worker->tile[!current], 0, pass->pass->n);
}

// Lines or groups of them, as the pass counts what it works in registers. What takes several lines at once does not
// scale: that is done behind it, while they are near.
static void run_turned(const struct run *run, struct cpu_vectors x, struct cpu_vectors y,
                       int64_t count, bool is_streamed)
{
    enum { NEAR_BYTES = 16 << 10 };
    const struct cpu_pass *pass = run->pass;
    const double scale = pass->pass->scale;
    const int64_t real_bytes = run->worker->real_bytes, reals = pass->turned.reals;
    const int64_t most = kal_max(1, NEAR_BYTES / (reals * real_bytes));

    if (scale == 1.0 || pass->turned.count == 1) {
        pass->turned.run(&x, &y, count, scale, is_streamed);
        return;
    }
    for (int64_t n; count > 0; count -= n) {
        n = kal_min(most, count);
        pass->turned.run(&x, &y, n, scale, is_streamed);
        for (int64_t i = 0; i < n; i++)
            pass->widest->rows->scale(kal_cpu_leading(&y) + i * y.stride * real_bytes,
                                      scale, reals);
        move(&x, n * x.stride * real_bytes);
        move(&y, n * y.stride * real_bytes);
    }
}

// Tiles that do not begin on a line of the caches: to a copy, and from there past these by whole
// lines. What is left of the last one is moved to where the next tiles follow it.
static void stage_short(const struct run *run, struct cpu_vectors x,
                        const struct cpu_vectors *y, int64_t tiles)
{
    const struct cpu_pass *pass = run->pass;
    const int64_t lanes = pass->kernels->lanes, real_bytes = run->worker->real_bytes;
    const int64_t bytes = lanes * pass->turned.reals * real_bytes;
    const int64_t most = kal_max(1, CPU_STAGED_BYTES / bytes);
    char *to = find_first(run, &run->out), *spare = run->worker->tile[0];
    int64_t left = 0;

    for (int64_t done = 0, count; done < tiles; done += count) {
        struct cpu_vectors copy = *y;
        copy.ahead = 0;
        count = kal_min(most, tiles - done);
        move(&copy, spare + left - find_first(run, &run->out));
        run_turned(run, x, copy, count * pass->turned.count, false);
        const int64_t all = left + count * bytes;
        const int64_t past = -(intptr_t)to & (CPU_LINE_BYTES - 1);
        left = done + count < tiles ? (all - past) % CPU_LINE_BYTES : 0;
        pass->kernels->stream(to, spare, (all - left) / real_bytes);
        memcpy(spare, spare + all - left, (size_t)left);
        to += all - left;
        move(&x, count * lanes * run->step.in * real_bytes);
    }
}

static struct cpu_vectors line_vectors(const struct run *run,
                                       const struct cpu_memory *side, int64_t step)
{
    struct cpu_vectors lines = { find_first(run, side), NULL, step, 0 };

    if (!run->pass->turned.is_real) {
        lines = memory_vectors(run, side);
        lines.stride = step;
    }
    return lines;
}

// Short lines from the present tile on, `most` tiles at most: returns how many these are.
static int64_t run_short(const struct run *run, int64_t first, int64_t most)
{
    const struct cpu_pass *pass = run->pass;
    const int64_t lines = kal_min(run->rows.length - first, run->round - run->tile.fast);
    const int64_t tiles = kal_min(lines / pass->kernels->lanes, most);
    struct cpu_vectors x = line_vectors(run, &run->in, run->step.in);
    struct cpu_vectors y = line_vectors(run, &run->out, run->step.out);

    if (tiles <= 0)
        return tiles;
    const bool is_far = pass->is_streamed && run->step.out == run->pass->turned.reals;
    const bool is_aligned = (uintptr_t)find_first(run, &run->out) % CPU_LINE_BYTES == 0;
    y.ahead = is_far && !is_aligned;
    x.ahead = pass->is_far;
    if (is_far && (pass->turned.count > 1 || (!is_aligned && pass->is_staged)))
        stage_short(run, x, &y, tiles);
    else
        run_turned(run, x, y, tiles * pass->turned.count, is_far && is_aligned);
    return tiles;
}

// Reals from one element to the next in the copy of neighbouring tiles.
static int64_t joined_pitch(const struct run *run)
{
    return kal_cpu_joined_pitch(run->pass->joined) / run->worker->real_bytes;
}

// Lines beside each other past the caches: tiles of them to a copy, and from there by whole lines of the caches.
static void stream_beside(const struct run *run, struct cpu_vectors x, int64_t tiles)
{
    const struct cpu_pass *pass = run->pass;
    const int64_t lanes = pass->kernels->lanes, bytes = pair_bytes(run->worker, pass);
    const int64_t pitch = joined_pitch(run);
    const struct cpu_memory copy = copy_memory(run, run->worker->joined, pitch, NULL);
    const struct cpu_vectors y = { copy.re, copy.im, pitch, 0 };
    char *to = find_first(run, &run->out);

    for (int64_t done = 0, count; done < tiles; done += count) {
        count = kal_min(pass->joined, tiles - done);
        kal_cpu_beside_run(run->worker, pass, &x, &y, count * lanes);
        pass->kernels->stream_pieces(to, run->out.stride, run->worker->joined, pitch,
                                     count * lanes * run->out_unit, pass->pass->n);
        move(&x, count * bytes);
        to += count * bytes;
    }
}

// Such lines from the present tile on, `most` tiles at most: returns how many these are.
static int64_t run_beside(const struct run *run, int64_t first, int64_t most)
{
    const struct cpu_pass *pass = run->pass;
    const int64_t lines = kal_min(run->rows.length - first, run->round - run->tile.fast);
    const int64_t tiles = kal_min(lines / pass->kernels->lanes, most);
    const struct cpu_vectors x = memory_vectors(run, &run->in);
    const struct cpu_vectors y = memory_vectors(run, &run->out);

    if (tiles <= 0)
        return tiles;
    if (pass->joined && can_stream_lanes(run))
        stream_beside(run, x, tiles);
    else
        kal_cpu_beside_run(run->worker, pass, &x, &y, tiles * pass->kernels->lanes);
    return tiles;
}

// Lines from the present tile on that are worked without tiles of parts: returns how many tiles of
// them; 0: none.
static int64_t run_ahead(const struct run *run, int64_t first, int64_t most)
{
    if (run->pass->turned.run)
        return run_short(run, first, most);
    return run->pass->beside.run ? run_beside(run, first, most) : 0;
}

// Several lines that do not fill a tile, each as it would be worked among others.
static void run_one_by_one(const struct run *run)
{
    const int64_t real_bytes = run->worker->real_bytes;

    for (int i = 0; i < run->tile.lanes; i++) {
        struct cpu_vectors x = line_vectors(run, &run->in, 0);
        struct cpu_vectors y = line_vectors(run, &run->out, 0);
        move(&x, (run->tile.in[i] - run->tile.in[0]) * real_bytes);
        move(&y, (run->tile.out[i] - run->tile.out[0]) * real_bytes);
        run_turned(run, x, y, 1, false);
    }
}

// A tile that lines do not fill, or of lines from two rounds.
static bool run_few(const struct run *run)
{
    const struct cpu_pass *pass = run->pass;

    if (pass->turned.count > 1)
        run_one_by_one(run);
    else if (pass->beside.run)
        kal_cpu_beside_run_few(run->worker, pass, &run->in, &run->out);
    else
        return false;
    return true;
}

static void run_tile(const struct run *run)
{
    const struct cpu_pass *pass = run->pass;
    const struct kal_pass *p = pass->pass;
    enum reach in = reads_plainly(p)
                        ? find_reach(run, &run->in, run->in_unit, run->step.in)
                        : REACH_NONE;
    enum reach out = writes_plainly(p)
                         ? find_reach(run, &run->out, run->out_unit, run->step.out)
                         : REACH_NONE;

    if (run_columns(run, in, out))
        return;
    const bool by_codelets = has_factors(pass);
    if (by_codelets && out && !can_multiply_outputs(pass))
        out = REACH_NONE;
    if (out == REACH_INTERLEAVED && can_stream_lanes(run))
        out = REACH_STREAMED;
    const enum reach fused = by_codelets ? REACH_NONE : out;
    // Long radices have no fused form; the input goes through a tile, then the output.
    if (in &&
        !find_dft(pass, &pass->step[0], in, p->step_count == 1 ? fused : REACH_NONE))
        in = REACH_NONE;
    if (fused && !find_dft(pass, &pass->step[p->step_count - 1],
                           p->step_count == 1 ? in : REACH_NONE, fused))
        out = REACH_NONE;
    run_steps(run, in, out);
}

// What is in that copy goes to its place.
static void leave_joined(struct run *run)
{
    const struct cpu_pass *pass = run->pass;

    if (run->joined > 0)
        pass->kernels->stream_pieces(run->joined_to, run->out.stride, run->worker->joined,
                                     joined_pitch(run),
                                     (int64_t)run->joined * 2 * pass->kernels->lanes,
                                     kal_min(pass->pass->n, pass->pass->out.count));
    run->joined = 0;
}

// A tile to that copy, beside those in it if it is their neighbour.
static void join_tile(struct run *run)
{
    const struct cpu_memory out = run->out;
    const int64_t bytes = pair_bytes(run->worker, run->pass);
    char *to = find_first(run, &out);

    if (run->joined == run->pass->joined || to != run->joined_to + run->joined * bytes)
        leave_joined(run);
    if (run->joined == 0)
        run->joined_to = to;
    run->out = copy_memory(run, run->worker->joined + run->joined * bytes,
                           joined_pitch(run), run->staged);
    run->is_joining = true;
    run_tile(run);
    run->is_joining = false;
    run->out = out;
    run->joined++;
}

// Elements of a side one behind the other, parts in their order: what row kernels take.
static bool is_row(const struct run *run, const struct cpu_memory *side, int64_t unit)
{
    const char *re = side->re, *im = side->im;
    return re && im && side->stride == unit && !side->index &&
           (unit == 1 || im == re + run->worker->real_bytes);
}

// A mirrored step along a line, pairs begin .. end-1.
static bool run_mirrored_row(const struct run *run, int64_t begin, int64_t end)
{
    const struct cpu_pass *pass = run->pass;
    const struct cpu_step *step = &pass->step[0];
    const struct cpu_row_kernels *rows = pass->widest->rows;

    if (pass->kernels->lanes > 1 || !is_row(run, &run->in, run->in_unit) ||
        !is_row(run, &run->out, run->out_unit))
        return false;
    const struct cpu_vectors x = memory_vectors(run, &run->in);
    const struct cpu_vectors y = memory_vectors(run, &run->out);
    const struct cpu_row row = {
        .in_re = x.re,
        .in_im = x.im,
        .roots = step->table,
        .out_re = y.re,
        .out_im = y.im,
        .m = step->step->n / 2,
        .scale = pass->scale,
    };
    (step->step->op == KAL_STEP_SPLIT ? rows->split : rows->merge)(&row, begin, end);
    return true;
}

// A block of a long mirrored step: elements k and m - k for k = begin .. end-1.
static void run_mirrored_block(const struct run *run, int64_t begin, int64_t end)
{
    const struct cpu_worker *worker = run->worker;
    const struct cpu_pass *pass = run->pass;
    const struct cpu_step *step = &pass->step[0];
    const struct cpu_kernels *k = pass->kernels;
    const int64_t m = step->step->n / 2, count = end - begin;
    const bool is_split = step->step->op == KAL_STEP_SPLIT;
    const struct cpu_memory in = run->in, out = run->out;
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

    if (pass->scale != 1.0) {
        k->scale(low, pass->scale, count);
        k->scale(high, pass->scale, count);
    }
    const int64_t stored = is_split ? 0 : skip; // MERGE: element m is none
    k->store_any(low, &out, begin, count);
    k->store_any(high + stored * pair_bytes(worker, pass), &out_high, begin + stored,
                 count - stored);
}

// A block of a long pointwise pass: elements begin .. end-1.
static void run_pointwise_block(const struct run *run, int64_t begin, int64_t end)
{
    const struct cpu_worker *worker = run->worker;
    const struct cpu_pass *pass = run->pass;
    const struct kal_pass *p = pass->pass;
    const struct cpu_step *step = p->step_count ? &pass->step[0] : NULL;
    const bool is_rader = step && step->step->op == KAL_STEP_RADER;
    // Element n - 1 of Rader's, x[0], goes with block 0.
    const int64_t n = kal_min(end, is_rader ? p->n - 1 : p->n) - begin;
    char *tile = worker->tile[0], *spare = worker->tile[1];

    load_tile(run, tile, spare, begin, n);
    if (step) {
        const char *table = (const char *)step->table + 2 * begin * worker->real_bytes;
        if (is_rader && begin == 0) {
            load_tile(run, spare, spare + pair_bytes(worker, pass), p->n - 1, 1);
            pass->kernels->rader(tile, spare, spare, table, n);
            store_tile(run, spare, spare + pair_bytes(worker, pass), p->n - 1, 1);
        } else {
            multiply(run, tile, table, n, true);
        }
    }
    store_tile(run, tile, spare, begin, n);
}

static void run_block(const struct run *run, int64_t number)
{
    const struct cpu_pass *pass = run->pass;
    const int64_t begin = number * CPU_BLOCK,
                  end = kal_min(begin + CPU_BLOCK, pass->units);

    if (pass->is_mirrored && run_mirrored_row(run, begin, end))
        return;
    (pass->is_mirrored ? run_mirrored_block : run_pointwise_block)(run, begin, end);
}

enum { AHEAD_BYTES = 16384 };

static void ask_for(const char *from, int64_t bytes, bool is_write)
{
    for (int64_t i = 0; i < bytes; i += CPU_LINE_BYTES) {
        if (is_write)
            __builtin_prefetch(from + i, 1, 2);
        else
            __builtin_prefetch(from + i, 0, 2);
    }
}

// One side of the tile that lies `ahead` reals behind this one, at once.
static void ask_for_side(const struct run *run, const struct cpu_memory *memory,
                         int64_t unit, int64_t step, int64_t ahead, bool is_write)
{
    const int64_t real_bytes = run->worker->real_bytes, lanes = run->tile.lanes;
    const bool is_columns = step == unit;
    const int64_t n = run->pass->pass->n;
    const int64_t pieces = is_columns ? n : lanes;
    const int64_t skip = is_columns ? memory->stride : step;
    const int64_t piece = (is_columns ? lanes : n) * unit;
    char *const part[] = { memory->re, unit == 1 ? memory->im : NULL };

    if (memory->index || (!is_columns && memory->stride != unit))
        return;
    for (int k = 0; k < 2 && part[k]; k++) {
        const char *at = part[k] + (memory->lane_offset[0] + ahead) * real_bytes;
        for (int64_t i = 0; i < pieces; i++)
            ask_for(at + i * skip * real_bytes, piece * real_bytes, is_write);
    }
}

// How many tiles behind this one the one is whose memory is asked for; 0: there is none. Lines one
// behind the other go on behind their row, and behind the last one no harm is done.
static int64_t tiles_ahead(const struct run *run, int64_t first, int64_t tiles)
{
    const struct cpu_pass *pass = run->pass;
    const int64_t bytes = pass->pass->n * pair_bytes(run->worker, pass);
    const int64_t enough = kal_max(1, AHEAD_BYTES / bytes);
    const int64_t whole = kal_min((run->rows.length - first) / run->rows.tile, tiles);

    if (run->step.in == pass->pass->n * run->in_unit)
        return enough;
    const int64_t ahead = kal_min(enough, kal_max(1, run->rows.tiles / 2));
    return ahead < whole ? ahead : 0;
}

// Which memory is asked for while this tile is worked: that of one to come, among the `tiles`
// that are this thread's. `first` is the line of its row that the present one begins with. The
// processor's own prefetchers follow neither rows in turn nor long strides. Input that is
// interleaved, or contiguous, is asked for on the way to the tile, which hides most of it.
static void look_ahead(struct run *run, int64_t first, int64_t tiles)
{
    const struct cpu_pass *pass = run->pass;
    const struct kal_pass *p = pass->pass;
    const int64_t ahead =
        run->tile.is_affine ? tiles_ahead(run, first, tiles) * run->rows.tile : 0;

    run->in.ahead = ahead * run->step.in;
    if (ahead == 0)
        return;
    if (run->in_unit == 1 && run->step.in == 1) {
        if (p->in.buffer != KAL_BUFFER_CHUNK)
            ask_for_side(run, &run->in, 1, 1, run->in.ahead, false);
        run->in.ahead = 0;
    }
    if (!pass->is_streamed && p->out.buffer != KAL_BUFFER_CHUNK &&
        run->out.re != run->in.re)
        ask_for_side(run, &run->out, run->out_unit, run->step.out, ahead * run->step.out,
                     true);
}

void kal_cpu_tiles_run(struct cpu_worker *worker, const struct cpu_pass *pass,
                       const struct cpu_chunk *chunk, int64_t begin, int64_t end)
{
    struct run run;
    init_run(&run, worker, pass, chunk);
    const int64_t blocks = pass->blocks;

    for (int64_t i = begin, tiles; i < end; i += tiles) {
        const int64_t number = blocks == 1 ? i : i / blocks;
        const int64_t row = run.rows.count == 1 ? 0 : number / run.rows.tiles;
        const int64_t first = (number - row * run.rows.tiles) * run.rows.tile;
        find_lanes(&run, row, first);
        tiles = run_ahead(&run, first, end - i);
        if (tiles > 0)
            continue;
        tiles = 1;
        if (run_few(&run))
            continue;
        if (pass->is_far && blocks == 1)
            look_ahead(&run, first, end - i);
        if (pass->is_blocked)
            run_block(&run, i % blocks);
        else if (pass->joined && can_stream_lanes(&run))
            join_tile(&run);
        else
            run_tile(&run);
    }
    leave_joined(&run);
    if (pass->is_streamed)
        atomic_thread_fence(memory_order_seq_cst);
}
