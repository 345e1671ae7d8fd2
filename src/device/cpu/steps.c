// SPDX-License-Identifier: MIT
// The steps of a tile: to and fro between two of them, where the first one does not read
// memory or the last one write it.
#include "device/cpu/tile_run.h"

#include <string.h>

static enum cpu_reach find_reach(const struct cpu_run *run, const struct cpu_memory *side,
                                 int64_t unit, int64_t step)
{
    const int lanes = run->pass->kernels->lanes;

    if (side->index || !side->re || !side->im)
        return CPU_REACH_NONE;
    if (lanes == 1)
        return CPU_REACH_VECTORS;
    if (!run->tile.is_affine || run->tile.lanes != lanes || step != unit)
        return CPU_REACH_NONE;
    return unit == 1 ? CPU_REACH_VECTORS : CPU_REACH_INTERLEAVED;
}

static void run_dft(const struct cpu_step *step, cpu_dft *dft, struct cpu_vectors *x,
                    struct cpu_vectors *y, int64_t real_bytes)
{
    const struct kal_step *s = step->step;
    const int64_t block = s->radix * s->m * s->s * real_bytes;

    kal_cpu_step_run(step, dft, x, y, real_bytes);
    for (int64_t o = 1; o < s->outer; o++) {
        kal_cpu_advance(x, block * x->stride);
        kal_cpu_advance(y, block * y->stride);
        kal_cpu_step_run(step, dft, x, y, real_bytes);
    }
}

// The function of a step that reaches memory so on either side, or NULL.
static cpu_dft *find_dft(const struct cpu_pass *pass, const struct cpu_step *step,
                         enum cpu_reach in, enum cpu_reach out)
{
    const struct cpu_fused *fused = pass->kernels->fused;
    const int radix = step->step->radix;

    if (out == CPU_REACH_STREAMED)
        return in == CPU_REACH_INTERLEAVED ? NULL : fused->streamed[radix];
    if (in != CPU_REACH_INTERLEAVED && out != CPU_REACH_INTERLEAVED)
        return step->dft;
    if (in != CPU_REACH_INTERLEAVED)
        return fused->out[radix];
    if (out == CPU_REACH_INTERLEAVED)
        return fused->in_out[radix];
    return step->step->s == 1 ? fused->in[radix] : NULL; // of a line, not of several axes
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
    const struct cpu_vectors x = kal_cpu_tile_vectors(m->worker, m->pass, m->from, low,
                                                      1),
                             x_high = kal_cpu_tile_vectors(m->worker, m->pass, m->from,
                                                           high, -1),
                             y = kal_cpu_tile_vectors(m->worker, m->pass, m->to, out_low,
                                                      1),
                             y_high = kal_cpu_tile_vectors(m->worker, m->pass, m->to,
                                                           out_high, -1);
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

void kal_cpu_imaginary_clear(const struct cpu_worker *worker, const struct cpu_pass *pass,
                             char *tile, int64_t element)
{
    const int64_t bytes = kal_cpu_pair_bytes(worker, pass);
    memset(tile + element * bytes + bytes / 2, 0, (size_t)bytes / 2);
}

// Element k of a row with n/2 - k of the opposite one, which may be itself. The packed
// side has no element n/2: SPLIT takes 0 for it, and what MERGE makes of it goes behind
// all rows.
static void mirror_row(const struct mirror *mirror, int64_t row)
{
    const struct kal_step *step = mirror->step->step;
    const bool is_split = step->op == KAL_STEP_SPLIT;
    const int64_t m = step->n / 2, other = opposite_row(step, row);
    const int64_t from_pitch = is_split ? m : m + 1, to_pitch = is_split ? m + 1 : m;
    const int64_t from = row * from_pitch, from_other = other * from_pitch;
    const int64_t to = row * to_pitch, to_other = other * to_pitch;

    if (!is_split && row == other) {
        kal_cpu_imaginary_clear(mirror->worker, mirror->pass, mirror->from, from);
        kal_cpu_imaginary_clear(mirror->worker, mirror->pass, mirror->from, from + m);
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
    const int64_t n = step->step->n - 1, bytes = kal_cpu_pair_bytes(worker, pass);
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

// The codelet of lines that have one, from memory to memory, those of whole tiles;
// columns of a four-step have their twiddles in passing. NULL: there is none, or more to
// do.
static cpu_dft *find_codelet(const struct cpu_run *run)
{
    const struct cpu_pass *pass = run->pass;
    const struct kal_pass *p = pass->pass;
    const struct cpu_fused *fused = pass->kernels->fused;

    // Codelets with twiddles do not multiply output 0, whose twiddle is a scale if there is one.
    if (p->step_count != 1 || !fused || !reads_plainly(p) || !writes_plainly(p) ||
        (p->out.twiddle_n ? p->scale : pass->scale) != 1.0)
        return NULL;
    const enum cpu_reach in = find_reach(run, &run->in, run->in_unit, run->step.in),
                         out = find_reach(run, &run->out, run->out_unit, run->step.out);
    if (!in || !out || (out == CPU_REACH_INTERLEAVED && pass->is_streamed))
        return NULL;
    if (!p->out.twiddle_n)
        return find_dft(pass, &pass->step[0], in, out);
    const int radix = p->step[0].radix;
    if (!pass->twiddle_tiles || out != CPU_REACH_VECTORS)
        return NULL;
    return in == CPU_REACH_VECTORS ? fused->lanes[radix] : fused->in_lanes[radix];
}

// The present tile by such a codelet, and those behind it.
static void run_codelet(const struct cpu_run *run, cpu_dft *dft, int64_t tiles)
{
    const struct cpu_pass *pass = run->pass;
    const int64_t bytes = pass->kernels->lanes * run->worker->real_bytes;
    const int64_t in_bytes = bytes * run->step.in, out_bytes = bytes * run->step.out;
    const bool has_twiddles = pass->pass->out.twiddle_n > 0;
    const char *twiddles = has_twiddles ? kal_cpu_twiddle_row(run) : NULL;
    struct cpu_vectors x = kal_cpu_memory_vectors(run, &run->in);
    struct cpu_vectors y = kal_cpu_memory_vectors(run, &run->out);

    for (int64_t i = 0; i < tiles; i++) {
        dft(&x, &y, 1, 1, twiddles);
        kal_cpu_advance(&x, in_bytes);
        kal_cpu_advance(&y, out_bytes);
        if (has_twiddles)
            twiddles += 2 * bytes * pass->pass->n;
    }
}

int64_t kal_cpu_codelets_run(const struct cpu_run *run, int64_t first, int64_t most)
{
    const int64_t lines = kal_min(run->rows.length - first, run->round - run->tile.fast);
    const int64_t tiles = kal_min(lines / run->pass->kernels->lanes, most);
    cpu_dft *dft = tiles > 0 && !run->pass->is_far ? find_codelet(run) : NULL;

    if (!dft)
        return 0;
    run_codelet(run, dft, tiles);
    return tiles;
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

// What elements 0, step, ... of this tile are multiplied by, n of them. Twiddles that are
// not kept whole are products, of those of these elements, which are put to `roots`, and
// that of the element which one begins with.
static struct cpu_factors find_factors(const struct cpu_run *run, char *roots,
                                       int64_t step, int64_t n)
{
    const struct cpu_pass *pass = run->pass;
    struct cpu_factors f = { .scale = pass->scale };

    if (pass->twiddle_tiles) {
        f.roots = kal_cpu_twiddle_row(run);
        f.step = step;
    } else if (pass->twiddle_lanes) {
        f.lanes = pass->twiddle_lanes;
        f.row = kal_cpu_twiddle_scalars(run);
        pass->kernels->roots(roots, f.lanes, f.row, step, n);
        if (pass->scale != 1.0)
            pass->kernels->scale(roots, pass->scale, n);
        f.roots = roots;
        f.step = 1;
    }
    return f;
}

// What those behind them are.
static void advance_factors(const struct cpu_run *run, struct cpu_factors *f)
{
    const int64_t bytes = kal_cpu_pair_bytes(run->worker, run->pass);
    if (f->lanes) {
        f->lanes = (const char *)f->lanes + bytes;
        f->row = (const char *)f->row + 2 * run->worker->real_bytes;
    } else if (f->roots) {
        f->roots = (const char *)f->roots + bytes;
    }
}

// The last step codelet by codelet: outputs are multiplied and stored while they are near the core.
static void run_last(const struct cpu_run *run, const struct cpu_step *step, cpu_dft *dft,
                     struct cpu_vectors x, char *tile, enum cpu_reach out)
{
    static const enum cpu_layout layout[] = { [CPU_REACH_VECTORS] = CPU_PLANAR,
                                              [CPU_REACH_INTERLEAVED] = CPU_INTERLEAVED,
                                              [CPU_REACH_STREAMED] = CPU_STREAMED };
    const struct cpu_kernels *k = run->pass->kernels;
    cpu_output *store =
        (run->pass->pass->out.twiddle_n ? k->twiddled : k->scaled)[layout[out]];
    const int64_t radix = step->step->radix, count = step->step->s;
    _Alignas(64) char outputs[CPU_MAX_RADIX * CPU_PAIR_BYTES];
    const struct cpu_vectors spare =
        kal_cpu_tile_vectors(run->worker, run->pass, outputs, 0, 1);
    struct cpu_factors factors = find_factors(run, tile, count, radix);
    struct cpu_vectors y = kal_cpu_memory_vectors(run, &run->out);
    const int64_t x_bytes = x.stride * run->worker->real_bytes,
                  y_bytes = y.stride * run->worker->real_bytes;

    x.stride *= count;
    y.stride *= count;
    for (int64_t q = 0; q < count; q++) {
        dft(&x, &spare, 1, 1, NULL);
        store(outputs, &factors, &y, radix);
        advance_factors(run, &factors);
        kal_cpu_vectors_move(&x, x_bytes);
        kal_cpu_vectors_move(&y, y_bytes);
    }
}

static void run_steps(const struct cpu_run *run, const struct cpu_way *way)
{
    const struct cpu_worker *worker = run->worker;
    const struct cpu_pass *pass = run->pass;
    const int end = pass->pass->step_count - 1;
    int current = 0;

    if (way->in == CPU_REACH_NONE)
        kal_cpu_tile_load(run, worker->tile[0], worker->tile[1], 0, pass->pass->n);
    for (int i = 0; i <= end; i++) {
        const struct cpu_step *step = &pass->step[i];
        if (step->step->op != KAL_STEP_DFT) {
            current = run_other(worker, pass, step, current);
            continue;
        }
        cpu_dft *dft = i == end ? way->last : i == 0 ? way->first : step->dft;
        struct cpu_vectors x =
            i == 0 && way->in
                ? kal_cpu_memory_vectors(run, &run->in)
                : kal_cpu_tile_vectors(worker, pass, worker->tile[current], 0, 1);
        if (i == end && way->out && has_factors(pass)) {
            run_last(run, step, dft, x, worker->tile[!current], way->out);
            return;
        }
        struct cpu_vectors y =
            i == end && way->out
                ? kal_cpu_memory_vectors(run, &run->out)
                : kal_cpu_tile_vectors(worker, pass, worker->tile[!current], 0, 1);
        run_dft(step, dft, &x, &y, worker->real_bytes);
        current = !current;
    }
    if (way->out == CPU_REACH_NONE)
        kal_cpu_tile_store(run, worker->tile[current], worker->tile[!current], 0,
                           pass->pass->n);
}

// Long radices have no fused form; the input goes through a tile, then the output.
static void find_way(const struct cpu_run *run, struct cpu_way *way)
{
    const struct cpu_pass *pass = run->pass;
    const struct kal_pass *p = pass->pass;
    const int end = p->step_count - 1;
    enum cpu_reach in = reads_plainly(p)
                            ? find_reach(run, &run->in, run->in_unit, run->step.in)
                            : CPU_REACH_NONE;
    enum cpu_reach out = writes_plainly(p)
                             ? find_reach(run, &run->out, run->out_unit, run->step.out)
                             : CPU_REACH_NONE;
    const bool by_codelets = has_factors(pass);

    if (by_codelets && out && !can_multiply_outputs(pass))
        out = CPU_REACH_NONE;
    if (out == CPU_REACH_INTERLEAVED && kal_cpu_can_stream_lanes(run))
        out = CPU_REACH_STREAMED;
    enum cpu_reach fused = by_codelets ? CPU_REACH_NONE : out;
    if (in && !find_dft(pass, &pass->step[0], in, end == 0 ? fused : CPU_REACH_NONE))
        in = CPU_REACH_NONE;
    if (fused && !find_dft(pass, &pass->step[end], end == 0 ? in : CPU_REACH_NONE, fused))
        out = fused = CPU_REACH_NONE;
    *way = (struct cpu_way){ .in = in, .out = out };
    if (end < 0)
        return;
    way->first = find_dft(pass, &pass->step[0], in, CPU_REACH_NONE);
    way->last = find_dft(pass, &pass->step[end], end == 0 ? in : CPU_REACH_NONE, fused);
}

void kal_cpu_tile_run(struct cpu_run *run)
{
    const struct cpu_pass *pass = run->pass;
    const bool is_whole = run->tile.is_affine && run->tile.lanes == pass->kernels->lanes;
    struct cpu_way own;

    cpu_dft *codelet = find_codelet(run);
    if (codelet) {
        run_codelet(run, codelet, 1);
        return;
    }
    // Past the caches go those that begin on a line of these.
    if (!is_whole || pass->is_streamed) {
        find_way(run, &own);
        run_steps(run, &own);
        return;
    }
    if (!run->has_way)
        find_way(run, &run->way);
    run->has_way = true;
    run_steps(run, &run->way);
}
