// SPDX-License-Identifier: MIT
#include "device/cpu/facing.h"

#include "device/cpu/caches.h"
#include "device/cpu/line.h"
#include "device/cpu/places.h"
#include "device/cpu/tile_run.h"

#include <string.h>

// Is that the mirrored step of one contiguous line, or of one in each round of a stage,
// in or from the order of reals?
static bool is_mirror(const struct cpu_pass *pass, enum kal_step_op op)
{
    const struct kal_pass *p = pass->pass;
    return pass->is_mirrored && p->step[0].op == op && p->step[0].outer == 1 &&
           pass->fast_loop < 0 && pass->inner == 1 &&
           kal_cpu_side_is_interleaved(&p->in) && kal_cpu_side_is_interleaved(&p->out);
}

// Lines that are all of a phase, through codelets, between plain sides of interleaved numbers.
static bool are_plain_lines(const struct cpu_pass *pass)
{
    const struct kal_pass *p = pass->pass;
    return pass->kernels->facing && pass->fast_loop >= 0 && p->inner_loops == 0 &&
           pass->chunk_rows.count == 1 &&
           pass->chunk_rows.length > pass->kernels->lanes && kal_cpu_steps_are_plain(p) &&
           kal_cpu_side_is_plain(&p->in, p->n) && kal_cpu_side_is_plain(&p->out, p->n) &&
           p->in.imag == 1 && p->out.imag == 1;
}

// Does the one side, whose elements are as far apart as lines are many, hold what is mirrored?
static bool is_same(const struct kal_side *side, int64_t line_step, int64_t count,
                    const struct kal_side *mirrored)
{
    return side->buffer == mirrored->buffer && side->offset == mirrored->offset &&
           side->is_swapped == mirrored->is_swapped && side->stride == 2 * count &&
           line_step == 2;
}

// Rows of contiguous numbers, the results of which are mirrored.
static bool can_split(const struct cpu_pass *rows, const struct cpu_pass *mirror)
{
    const struct kal_pass *p = rows->pass, *m = mirror->pass;
    if (!is_mirror(mirror, KAL_STEP_SPLIT) || !are_plain_lines(rows) ||
        m->out.is_swapped || !kal_cpu_side_is_interleaved(&p->in) || p->in.is_swapped ||
        p->out.twiddle_n)
        return false;
    const int64_t count = rows->chunk_rows.length;
    return m->step[0].n == 2 * count * p->n &&
           is_same(&p->out, kal_cpu_step_find(rows, rows->fast_loop).out, count, &m->in);
}

// Columns, which are neighbours on both sides, of what has been mirrored; their twiddles
// are by column.
static bool can_merge(const struct cpu_pass *columns, const struct cpu_pass *mirror)
{
    const struct kal_pass *p = columns->pass, *m = mirror->pass;
    if (!is_mirror(mirror, KAL_STEP_MERGE) || !are_plain_lines(columns) ||
        m->in.is_swapped || p->out.is_swapped || p->out.twiddle_is_conjugate ||
        p->out.twiddle_loop != columns->fast_loop)
        return false;
    const int64_t count = columns->chunk_rows.length;
    const struct cpu_place step = kal_cpu_step_find(columns, columns->fast_loop);
    return p->out.twiddle_n == count * p->n && step.out == 2 &&
           m->step[0].n == 2 * count * p->n && is_same(&p->in, step.in, count, &m->out);
}

// How line 0 is worked, a number or neighbours in each register.
static void find_steps(struct cpu_facing *f)
{
    const struct cpu_kernels *k = f->lines->widest;

    for (int i = 0; i < f->lines->pass->step_count; i++) {
        const struct kal_step *step = &f->lines->pass->step[i];
        const bool has_groups = k->groups && step->s >= k->groups->numbers;
        f->step[i] = has_groups ? k->groups->later[step->radix] : NULL;
        if (!f->step[i])
            f->step[i] = k->pairs->step[step->radix];
    }
}

// Is a line of what leaves the nearer caches, so that a pass more takes its time? Columns
// read pieces of a line of the caches or two, which is slow from memory, and write such
// as they read: past the caches, so that these have to fill lines of them. So is writing
// rows where registers are shorter. Measured on a Zen 4 processor and on a Xeon.
static bool is_worth_it(const struct cpu_program *program, const struct cpu_pass *lines,
                        bool is_split)
{
    enum { NEAR_TIMES = 4, NEAR_TIMES_ZEN = 2, SHARE = 4 };
    const struct cpu_device *device = kal_cpu_device_of(program);
    const struct kal_caps *caps = &device->base.caps;
    const int64_t number = 2 * program->real_bytes, count = lines->chunk_rows.length;
    const uint64_t bytes = (uint64_t)(count * lines->pass->n * number);
    const bool is_wide = lines->kernels->lanes * number == 2 * CPU_LINE_BYTES;
    const uint64_t most = caps->shared_bytes / SHARE;

    if (bytes < (device->is_zen ? NEAR_TIMES_ZEN : NEAR_TIMES) * caps->near_bytes)
        return false;
    if (is_split)
        return is_wide || bytes <= most;
    return bytes <= (is_wide ? most : most / 2) &&
           (!lines->is_streamed || count * number % CPU_LINE_BYTES == 0);
}

static int64_t tile_bytes(const struct cpu_facing *f, int real_bytes)
{
    return f->n * f->lines->kernels->lanes * 2 * real_bytes;
}

kallima_status kal_cpu_facing_find(struct cpu_program *program, struct cpu_pass *first,
                                   struct cpu_pass *second)
{
    const bool is_split = can_split(first, second);
    struct cpu_pass *lines = is_split ? first : second,
                    *mirror = is_split ? second : first;
    void *memory;

    if ((!is_split && !can_merge(lines, mirror)) ||
        !is_worth_it(program, lines, is_split))
        return KALLIMA_OK;
    KAL_TRY(kal_arena_take(&program->arena, &memory, 1, sizeof(struct cpu_facing)));
    struct cpu_facing *f = memory;
    const int64_t half = lines->kernels->lanes / 2;
    f->lines = lines;
    f->mirror = mirror;
    f->is_split = is_split;
    f->count = lines->chunk_rows.length;
    f->n = lines->pass->n;
    f->tiles = (f->count / 2 + half - 1) / half;
    f->is_streamed =
        is_split ? kal_cpu_leaves_caches(program, mirror->pass) : lines->is_streamed;
    f->scale = lines->pass->scale * mirror->pass->scale;
    f->at_once = (CPU_MOST_FACING + 1) * tile_bytes(f, program->real_bytes) <=
                         (int64_t)program->base.device->caps.near_bytes
                     ? CPU_MOST_FACING
                     : 1;
    find_steps(f);
    lines->facing = f;
    mirror->is_done = true;
    return KALLIMA_OK;
}

// What is carried from tile to tile, and the last number of line 0, has room for a
// register on either side. Behind it are tiles, of which a worker has two by itself.
enum { ROOM_BYTES = 128, NUMBER_BYTES = 16 };

static int64_t carried_bytes(const struct cpu_facing *f)
{
    return (2 * ROOM_BYTES + (f->n + 1) * NUMBER_BYTES + CPU_LINE_BYTES - 1) /
           CPU_LINE_BYTES * CPU_LINE_BYTES;
}

uint64_t kal_cpu_facing_bytes(const struct cpu_facing *f)
{
    return (uint64_t)(carried_bytes(f) + (f->at_once - 1) * f->n * CPU_PAIR_BYTES);
}

// One line of reals while it is worked: where its lines begin, on the side that is
// mirrored and on the other, and where what is carried does.
struct run {
    const struct cpu_worker *worker;
    const struct cpu_facing *f;
    int64_t number; // bytes
    char *in, *out, *carried;
    int64_t in_step; // reals from line to line,
    int64_t out_row; // and from element to element of the output
};

static void find_run(struct run *run, const struct cpu_worker *worker,
                     const struct cpu_facing *f, const struct cpu_chunk *chunk)
{
    const struct cpu_chunk whole = { .stage_index = chunk->stage_index, .lines = 1 };
    const struct cpu_place line =
        kal_cpu_place_find(f->lines, chunk, 0, f->lines->fast_loop);
    const struct cpu_place mirrored = kal_cpu_place_find(f->mirror, &whole, 0, -1);
    const struct cpu_pass *in = f->is_split ? f->lines : f->mirror,
                          *out = f->is_split ? f->mirror : f->lines;

    run->worker = worker;
    run->f = f;
    run->number = 2 * worker->real_bytes;
    run->in = worker->base[in->pass->in.buffer] +
              (f->is_split ? line : mirrored).in * worker->real_bytes;
    run->out = worker->base[out->pass->out.buffer] +
               (f->is_split ? mirrored : line).out * worker->real_bytes;
    run->carried = worker->joined + ROOM_BYTES;
    run->in_step = kal_cpu_step_find(f->lines, f->lines->fast_loop).in;
    run->out_row = f->lines->pass->out.stride;
}

static struct cpu_vectors neighbours(const struct run *run, char *at)
{
    return (struct cpu_vectors){ at, at + run->number / 2, 2, 0 };
}

// The steps of line 0 from `from` to one of the worker's tiles, not that first, or if
// `to` is not NULL, there.
static char *run_first_line(const struct run *run, char *from, char *to)
{
    const struct cpu_pass *lines = run->f->lines;
    const int last = lines->pass->step_count - 1;

    for (int i = 0; i <= last; i++) {
        const struct kal_step *step = &lines->pass->step[i];
        char *at = to && i == last ? to : run->worker->tile[(i + 1) % 2];
        const struct cpu_vectors x = neighbours(run, from), y = neighbours(run, at);
        run->f->step[i](&x, &y, step->m, step->s, lines->step[i].table);
        from = at;
    }
    return from;
}

static struct cpu_row first_row(const struct run *run, char *from, char *to)
{
    const struct cpu_vectors x = neighbours(run, from), y = neighbours(run, to);
    return (struct cpu_row){
        .in_re = x.re,
        .in_im = x.im,
        .roots = run->f->element_roots,
        .out_re = y.re,
        .out_im = y.im,
        .m = run->f->n,
        .scale = run->f->scale,
    };
}

// Row 0 to what is carried; the last number of all, which comes of it, to its place.
static void split_first_line(const struct run *run)
{
    const struct cpu_facing *f = run->f;
    const struct cpu_row row =
        first_row(run, run_first_line(run, run->in, NULL), run->carried);

    f->lines->widest->rows->split(&row, 0, f->n / 2 + 1);
    memcpy(run->out + f->count * f->n * run->number, run->carried + f->n * run->number,
           (size_t)run->number);
}

// Column 0, with the last number of all, to what is carried.
static void merge_first_line(const struct run *run)
{
    const struct cpu_facing *f = run->f;
    const struct cpu_row_kernels *rows = f->lines->widest->rows;
    char *packed = run->worker->tile[0], *column = run->worker->tile[1];

    for (int64_t e = 0; e <= f->n; e++)
        memcpy(column + e * run->number, run->in + e * f->count * run->number,
               (size_t)run->number);
    const struct cpu_row row = first_row(run, column, packed);
    rows->merge(&row, 0, f->n / 2 + 1);
    run_first_line(run, packed, run->carried);
    if (f->scale != 1.0)
        rows->scale(run->carried, f->scale, 2 * f->n);
}

// Tiles that come from memory and go there together; where they are before their last step.
struct tiles {
    int count;
    int64_t first;
    char *tile[CPU_MOST_FACING], *spare;
};

static void load_row_tile(const struct run *run, int64_t tile, char *to)
{
    const struct cpu_pass *rows = run->f->lines;
    const int lanes = rows->kernels->lanes, half = lanes / 2;
    int64_t offset[CPU_MAX_LANES];

    for (int i = 0; i < half; i++) {
        const int64_t row = 1 + tile * half + i;
        offset[i] = row * run->in_step;
        offset[lanes - 1 - i] = (run->f->count - row) * run->in_step;
    }
    const struct cpu_memory from = {
        .re = run->in,
        .im = run->in + run->number / 2,
        .stride = 2,
        .ahead = rows->is_far ? half * run->in_step : 0,
        .lane_offset = offset,
        .lanes = lanes,
    };
    rows->kernels->load_rows(to, &from, 0, run->f->n);
}

static void load_rows(const struct run *run, struct tiles *t)
{
    for (int k = 0; k < t->count; k++)
        load_row_tile(run, t->first + k, t->tile[k]);
}

static struct cpu_facing_roots find_roots(const struct run *run, const struct tiles *t)
{
    const struct cpu_facing *f = run->f;
    const int64_t bytes = f->lines->kernels->lanes * run->number;
    return (struct cpu_facing_roots){ f->lane_roots + t->first * bytes, f->element_roots,
                                      f->scale };
}

static void load_columns(const struct run *run, struct tiles *t)
{
    const struct cpu_facing *f = run->f;
    const int64_t half = f->lines->kernels->lanes / 2, first = t->first * half;
    const struct cpu_facing_roots roots = find_roots(run, t);
    const struct cpu_facing_input from = {
        .low = run->in + (1 + first) * run->number,
        .high = run->in + (f->count - first - half) * run->number,
        .stride = 2 * f->count,
        .ahead = f->lines->is_far ? t->count * 2 * half : 0,
    };
    f->lines->kernels->facing->merge((void *const *)t->tile, t->count, f->n, &from,
                                     &roots);
}

// A step of a tile, which exchanges it with the spare one.
static void run_step(const struct run *run, int number, char **tile, char **spare)
{
    const struct cpu_pass *lines = run->f->lines;
    const struct cpu_step *step = &lines->step[number];
    char *const from = *tile, *const to = *spare;
    const struct cpu_vectors x = kal_cpu_tile_vectors(run->worker, lines, from, 0, 1),
                             y = kal_cpu_tile_vectors(run->worker, lines, to, 0, 1);

    step->dft(&x, &y, step->step->m, step->step->s, step->table);
    *tile = to;
    *spare = from;
}

// One codelet of the last step of a tile.
static void run_codelet(const struct run *run, char *tile, int64_t q, char *outputs)
{
    const struct cpu_pass *lines = run->f->lines;
    const struct cpu_step *step = &lines->step[lines->pass->step_count - 1];
    const struct cpu_vectors x = kal_cpu_tile_vectors(run->worker, lines, tile, q,
                                                      step->step->s),
                             y = kal_cpu_tile_vectors(run->worker, lines, outputs, 0, 1);
    step->dft(&x, &y, 1, 1, NULL);
}

enum { OUTPUT_BYTES = CPU_MAX_RADIX * CPU_PAIR_BYTES };

// The last step codelet by codelet: the outputs of two, which meet, are near the core.
static void split_by_codelets(const struct run *run, const struct tiles *t,
                              const struct cpu_facing_roots *roots,
                              const struct cpu_facing_output *out)
{
    const struct cpu_pass *rows = run->f->lines;
    const struct kal_step *step = &rows->pass->step[rows->pass->step_count - 1];
    _Alignas(64) char outputs[CPU_MOST_FACING][2][OUTPUT_BYTES];

    for (int64_t q = 0; 2 * q < step->s; q++) {
        const int64_t other = step->s - 1 - q;
        struct cpu_facing_pairs pairs = {
            .tiles = t->count,
            .n = step->radix,
            .pairs = q != other ? step->radix : (step->radix + 1) / 2,
            .first = q,
            .last = run->f->n - 1 - q,
            .step = step->s,
        };
        for (int k = 0; k < t->count; k++) {
            run_codelet(run, t->tile[k], q, outputs[k][0]);
            if (q != other)
                run_codelet(run, t->tile[k], other, outputs[k][1]);
            pairs.low[k] = outputs[k][0];
            pairs.high[k] = outputs[k][q != other];
        }
        rows->kernels->facing->split(&pairs, roots, out);
    }
}

// The last step of rows, and what is mirrored behind it: short codelets take less time all at once.
static void split_last(const struct run *run, struct tiles *t,
                       const struct cpu_facing_output *out)
{
    enum { SHORTEST = 10 };
    const struct cpu_facing *f = run->f;
    const int last = f->lines->pass->step_count - 1;
    const struct cpu_facing_roots roots = find_roots(run, t);
    struct cpu_facing_pairs pairs = {
        .tiles = t->count, .n = f->n, .pairs = (f->n + 1) / 2, .last = f->n - 1, .step = 1
    };

    if (f->lines->pass->step[last].radix >= SHORTEST) {
        split_by_codelets(run, t, &roots, out);
        return;
    }
    for (int k = 0; k < t->count; k++) {
        run_step(run, last, &t->tile[k], &t->spare);
        pairs.low[k] = pairs.high[k] = t->tile[k];
    }
    f->lines->kernels->facing->split(&pairs, &roots, out);
}

// The same of columns: outputs have their twiddles before they are stored.
static void twiddle_last(const struct run *run, struct tiles *t,
                         const struct cpu_facing_output *out)
{
    const struct cpu_facing *f = run->f;
    const struct cpu_facing_kernels *kernels = f->lines->kernels->facing;
    const struct kal_step *step = &f->lines->pass->step[f->lines->pass->step_count - 1];
    _Alignas(64) char outputs[CPU_MOST_FACING][OUTPUT_BYTES],
        roots[CPU_MOST_FACING][OUTPUT_BYTES];
    const void *from[CPU_MOST_FACING];
    struct cpu_facing_twiddles w = { .lanes = f->twiddle_lanes, .step = step->s };

    for (int k = 0; k < t->count; k++) {
        w.tile[k] = f->twiddle_tiles + (t->first + k) * f->n * run->number;
        w.roots[k] = roots[k];
        from[k] = outputs[k];
        kernels->roots(roots[k], f->twiddle_lanes, w.tile[k], step->s, step->radix);
        if (f->scale != 1.0)
            f->lines->kernels->scale(roots[k], f->scale, step->radix);
    }
    for (w.first = 0; w.first < step->s; w.first++) {
        for (int k = 0; k < t->count; k++)
            run_codelet(run, t->tile[k], w.first, outputs[k]);
        kernels->twiddle(from, t->count, step->radix, &w, out);
    }
}

// The lower half of a tile's lanes goes behind the line that was carried to it; where it
// ends with the middle one, so does what is stored of it. The upper half has the middle
// one where both have it.
static void find_output(struct cpu_facing_output *out, const struct run *run,
                        int64_t tile)
{
    const struct cpu_facing *f = run->f;
    const int half = f->lines->kernels->lanes / 2;
    const int64_t first = tile * half;
    const int lines = (int)kal_min(half, f->count / 2 - first);

    out->low = run->out + first * run->number;
    out->high = run->out + (f->count - first - half) * run->number;
    out->carried = run->carried;
    out->stride = run->out_row;
    out->low_range[0] = 0;
    out->low_range[1] = (int)kal_min(half, lines + 1);
    out->high_range[0] = half - lines;
    out->high_range[1] = half;
    out->is_streamed = f->is_streamed && half * run->number == CPU_LINE_BYTES &&
                       (uintptr_t)out->low % CPU_LINE_BYTES == 0 &&
                       (uintptr_t)out->high % CPU_LINE_BYTES == 0 &&
                       run->out_row * run->worker->real_bytes % CPU_LINE_BYTES == 0;
}

// Tiles from `first` on, as many as go together: returns how many these were. What is
// completed later stays in the caches.
static int run_tiles(const struct run *run, int64_t first, int64_t end, bool is_complete)
{
    const struct cpu_facing *f = run->f;
    const int64_t whole = f->count / f->lines->kernels->lanes; // tiles of different lines
    struct tiles t = { .first = first, .spare = run->worker->tile[1] };
    struct cpu_facing_output out;

    t.count = (int)kal_max(1, kal_min(f->at_once, kal_min(whole, end) - first));
    for (int k = 0; k < t.count; k++)
        t.tile[k] = k == 0 ? run->worker->tile[0]
                           : run->worker->joined + carried_bytes(f) +
                                 (k - 1) * f->n * CPU_PAIR_BYTES;
    (f->is_split ? load_rows : load_columns)(run, &t);
    for (int k = 0; k < t.count; k++) {
        for (int i = 0; i < f->lines->pass->step_count - 1; i++)
            run_step(run, i, &t.tile[k], &t.spare);
    }
    find_output(&out, run, first);
    out.is_streamed = out.is_streamed && is_complete;
    (f->is_split ? split_last : twiddle_last)(run, &t, &out);
    return t.count;
}

// What was carried, to the line that comes before those of a tile: elements lie far
// apart, so that they are asked for.
static void put_carried(const struct run *run, const char *carried, int64_t tile)
{
    enum { AHEAD = 32 };
    const int64_t half = run->f->lines->kernels->lanes / 2;
    const int64_t row_bytes = run->out_row * run->worker->real_bytes;
    char *to = run->out + tile * half * run->number;

    for (int64_t e = 0; e < run->f->n; e++) {
        __builtin_prefetch(to + kal_min(e + AHEAD, run->f->n - 1) * row_bytes, 1);
        memcpy(to + e * row_bytes, carried + e * run->number, (size_t)run->number);
    }
}

void kal_cpu_facing_run(struct cpu_worker *worker, const struct cpu_facing *f,
                        const struct cpu_chunk *chunk, int64_t begin, int64_t end)
{
    const int64_t last = end * (f->lines->kernels->lanes / 2);
    struct run run;

    if (begin == end)
        return;
    find_run(&run, worker, f, chunk);
    if (begin == 0)
        (f->is_split ? split_first_line : merge_first_line)(&run);
    for (int64_t t = begin; t < end;)
        t += run_tiles(&run, t, end, t == 0 || t > begin);
    if (end == f->tiles && last < f->count - last)
        put_carried(&run, run.carried, end);
}

void kal_cpu_facing_join(const struct cpu_worker *worker, const struct cpu_facing *f,
                         const struct cpu_chunk *chunk, int64_t begin, int64_t end)
{
    struct run run;

    if (begin == 0 || begin == end)
        return;
    find_run(&run, worker, f, chunk);
    put_carried(&run, worker->joined_before + ROOM_BYTES, begin);
}
