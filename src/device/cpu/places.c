// SPDX-License-Identifier: MIT
#include "device/cpu/places.h"

#include "device/cpu/tile_run.h"

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

int64_t kal_cpu_lead_find(const struct cpu_pass *pass, const struct cpu_rows *rows,
                          const char *to, int64_t real_bytes)
{
    enum { FEWEST = 8 };
    return pass->has_lead && rows->tiles >= FEWEST
               ? kal_cpu_count_before_line(to, 2 * real_bytes)
               : 0;
}

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

static void find_affine_lanes(struct cpu_run *run, const struct cpu_place *c)
{
    struct cpu_tile *t = &run->tile;

    t->is_affine = true;
    for (int i = 0; i < t->lanes; i++) {
        t->in[i] = c->in + i * run->step.in;
        t->out[i] = c->out + i * run->step.out;
    }
    for (int i = 0; run->pass->pass->out.twiddle_n && i < t->lanes; i++)
        t->twiddle[i] = c->twiddle + i * run->step.twiddle;
}

// The tile behind another one of its row has all lanes as far on, unless a round of the
// fast loop ends.
static bool move_lanes(struct cpu_run *run, int64_t number)
{
    struct cpu_tile *t = &run->tile;
    const int lanes = run->rows.tile;

    if (!t->is_affine || t->lanes != lanes || number != t->number + lanes ||
        t->fast + 2 * lanes > run->round)
        return false;
    for (int i = 0; i < lanes; i++) {
        t->in[i] += lanes * run->step.in;
        t->out[i] += lanes * run->step.out;
    }
    for (int i = 0; run->pass->pass->out.twiddle_n && i < lanes; i++)
        t->twiddle[i] += lanes * run->step.twiddle;
    t->number = number;
    t->fast += lanes;
    return true;
}

void kal_cpu_lanes_find(struct cpu_run *run, int64_t row, int64_t first)
{
    struct cpu_tile *t = &run->tile;
    const struct cpu_pass *pass = run->pass;
    const int64_t number = row * run->rows.length + first;

    if (first > 0 && first + run->rows.tile <= run->rows.length &&
        move_lanes(run, number))
        return;
    t->number = number;
    t->lanes = (int)kal_min(run->rows.tile,
                            (first < run->lead ? run->lead : run->rows.length) - first);
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
void kal_cpu_run_init(struct cpu_run *run, const struct cpu_worker *worker,
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
    run->lead = 0;
    run->joined = 0;
    run->joined_to = NULL;
    run->is_joining = false;
    run->has_way = false;
    run->tile.is_affine = false;
}
