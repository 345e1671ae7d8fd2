// SPDX-License-Identifier: MIT
// Running a program: stages, phases and chunks in order, tiles shared out over threads.
#include "device/cpu/apart.h"
#include "device/cpu/array.h"
#include "device/cpu/copied.h"
#include "device/cpu/deal.h"
#include "device/cpu/divided.h"
#include "device/cpu/facing.h"
#include "device/cpu/packed.h"
#include "device/cpu/piece.h"
#include "device/cpu/short.h"
#include "device/cpu/stage.h"
#include "device/cpu/threads.h"

#include <omp.h>
#include <stdatomic.h>
#include <string.h>

static void run_units(struct cpu_worker *worker, const struct cpu_pass *pass,
                      const struct cpu_chunk *chunk, int64_t begin, int64_t end)
{
    if (pass->facing)
        kal_cpu_facing_run(worker, pass->facing, chunk, begin, end);
    else if (pass->line)
        kal_cpu_lines_run(worker, pass->line, chunk, begin, end);
    else
        kal_cpu_tiles_run(worker, pass, chunk, begin, end);
}

// Chunks begin .. end-1 of a phase that is one pass from line to line: as one chunk.
static void run_all_lines(const struct cpu_program *program,
                          const struct kal_phase *phase, int64_t stage_index,
                          struct cpu_worker *worker, int64_t begin, int64_t end)
{
    const struct cpu_line *line = program->pass[phase->first_pass].line;
    const struct cpu_chunk chunk = {
        .stage_index = stage_index,
        .first_line = begin * phase->chunk,
        .lines = kal_min(end * phase->chunk, phase->lines) - begin * phase->chunk,
    };
    kal_cpu_lines_run(worker, line, &chunk, 0, kal_cpu_line_count(line, &chunk));
}

static void run_some_chunks(const struct cpu_program *program,
                            const struct kal_phase *phase, int64_t stage_index,
                            struct cpu_worker *worker, int64_t begin, int64_t end)
{
    if (program->pass[phase->first_pass].line && phase->pass_count == 2) {
        run_all_lines(program, phase, stage_index, worker, begin, end);
        return;
    }
    const struct cpu_pass *last =
        &program->pass[phase->first_pass + phase->pass_count - 1];
    for (int64_t i = begin; i < end; i++) {
        const struct cpu_chunk chunk = kal_cpu_chunk_make(phase, stage_index, i);
        char *to = last->piece ? kal_cpu_piece_begin(worker, last, &chunk) : NULL;
        for (int j = 0; j < phase->pass_count; j++) {
            const struct cpu_pass *pass = &program->pass[phase->first_pass + j];
            if (pass->line && pass->line->packed) {
                kal_cpu_packed_run(worker, pass->line, &chunk);
                break;
            }
            run_units(worker, pass, &chunk, 0, kal_cpu_unit_count(pass, &chunk));
            j += pass->line != NULL;
        }
        if (to)
            kal_cpu_piece_end(worker, last, to);
    }
}

// Chunks are independent: each thread works its own, pass after pass, in its own scratch.
static void run_chunks(const struct cpu_program *program, const struct kal_phase *phase,
                       int64_t stage_index, struct cpu_worker *worker)
{
    const struct cpu_pass *first = &program->pass[phase->first_pass];
    struct cpu_deal deal =
        kal_cpu_deal(worker, phase->chunks, first->together, first->pieces);
    struct cpu_taken some;

    while (kal_cpu_take(worker, &deal, &some))
        run_some_chunks(program, phase, stage_index, worker, some.begin, some.end);
}

static void share_facing(struct cpu_worker *worker, struct cpu_facing *facing,
                         const struct cpu_chunk *chunk, int64_t units)
{
    int64_t begin, end;

    kal_cpu_share(units, worker->part, worker->parts, &begin, &end);
    kal_cpu_facing_run(worker, facing, chunk, begin, end);
    kal_cpu_meet(worker);
    kal_cpu_facing_join(worker, facing, chunk, begin, end);
}

// A worker's share of a pass, or of two: of lines, if they are too few, of each.
static void share_units(struct cpu_worker *worker, const struct cpu_pass *pass,
                        const struct cpu_chunk *chunk)
{
    const int64_t units = kal_cpu_unit_count(pass, chunk);

    if (units < worker->parts && pass->line && kal_cpu_line_is_shared(pass->line)) {
        kal_cpu_lines_share(worker, pass->line, chunk);
        return;
    }
    if (pass->facing) {
        share_facing(worker, pass->facing, chunk, units);
        return;
    }
    struct cpu_deal deal = kal_cpu_deal(worker, units, pass->together, pass->pieces);
    struct cpu_taken some;
    while (kal_cpu_take(worker, &deal, &some)) {
        if (pass->line)
            kal_cpu_lines_run(worker, pass->line, chunk, some.begin, some.end);
        else
            kal_cpu_tiles_share(worker, pass, chunk, some.begin, some.end, some.part_end);
    }
}

// What has gone past the caches is in memory before others are told of it. Once for all
// chunks: without a fence for each row, inverse real planes of 768x768 and 1024x1024 take
// 0.93 to 0.98 of the time on a Zen 4 processor.
static void settle(const struct cpu_program *program)
{
    if (program->streams)
        atomic_thread_fence(memory_order_seq_cst);
}

// Few chunks: all threads work the tiles of one pass, then of the next.
static void run_tiles(const struct cpu_program *program, const struct kal_phase *phase,
                      int64_t stage_index, struct cpu_worker *worker)
{
    const int64_t chunks = phase->chunks;

    worker->base[KAL_BUFFER_CHUNK] = worker->common_chunk;
    for (int64_t i = 0; i < chunks; i++) {
        const struct cpu_chunk chunk = kal_cpu_chunk_make(phase, stage_index, i);
        for (int j = 0; j < phase->pass_count; j++) {
            const struct cpu_pass *pass = &program->pass[phase->first_pass + j];
            kal_cpu_begin(worker);
            share_units(worker, pass, &chunk);
            settle(program);
            j += pass->line != NULL;
        }
    }
    worker->base[KAL_BUFFER_CHUNK] = worker->own_chunk;
}

static void run_phase(const struct cpu_program *program, const struct kal_phase *phase,
                      int64_t stage_index, struct cpu_worker *worker)
{
    if (program->pass[phase->first_pass].is_done)
        return;
    if (kal_cpu_are_shared(program, phase, worker->parts)) {
        run_tiles(program, phase, stage_index, worker);
        return;
    }
    kal_cpu_begin(worker);
    run_chunks(program, phase, stage_index, worker);
    settle(program);
}

static void run_repeats(const struct cpu_program *program, const struct kal_stage *stage,
                        struct cpu_worker *worker, int64_t begin, int64_t end)
{
    for (int64_t r = begin; r < end; r++) {
        for (int j = 0; j < stage->phase_count; j++)
            run_phase(program, &program->program->phase[stage->first_phase + j], r,
                      worker);
    }
}

// Repeats that a worker works by itself, as if there were no others.
static void run_own_repeats(const struct cpu_program *program,
                            const struct kal_stage *stage, struct cpu_worker *worker,
                            int64_t count)
{
    struct cpu_worker alone = *worker;
    struct cpu_taken some;

    alone.part = 0;
    alone.parts = 1;
    alone.common_tile = alone.tile[0];
    alone.joined_before = NULL;
    alone.base[KAL_BUFFER_SHARED] += (uint64_t)worker->part * program->shared_bytes;
    struct cpu_deal deal = kal_cpu_deal(worker, count, 1, count / worker->parts);
    while (kal_cpu_take(worker, &deal, &some))
        run_repeats(program, stage, &alone, some.begin, some.end);
}

// What is left of a stage whose workers have the same number of repeats each, they work together.
static void run_worker(const struct cpu_program *program, struct cpu_worker *worker)
{
    for (int i = 0; i < program->program->stage_count; i++) {
        const struct kal_stage *stage = &program->program->stage[i];
        const int64_t each = program->scratches > 1 ? stage->repeats / worker->parts : 0;
        if (each) {
            kal_cpu_begin(worker);
            run_own_repeats(program, stage, worker, each * worker->parts);
        }
        run_repeats(program, stage, worker, each * worker->parts, stage->repeats);
    }
}

static char *align_workspace(const struct kal_arguments *arguments)
{
    return (char *)(((uintptr_t)kal_memory_address(arguments->workspace) + 63) / 64 * 64);
}

// A thread's copy of what goes past the caches, at the end of all that it has.
static inline char *joined_of(const struct cpu_program *program, char *own)
{
    return own + program->thread_bytes - program->joined_bytes;
}

static struct cpu_worker make_worker(const struct cpu_program *program,
                                     const struct kal_arguments *arguments,
                                     char *workspace, struct cpu_meeting *meeting,
                                     int part, int parts)
{
    char *common = workspace + (uint64_t)program->scratches * program->shared_bytes;
    char *own = common + (uint64_t)part * program->thread_bytes;
    struct cpu_worker worker = {
        .part = part,
        .parts = parts,
        .meeting = meeting,
        .real_bytes = program->is_f64 ? 8 : 4,
        .tile = { own, own + program->tile_bytes / 2 },
        .common_tile = common,
        .joined = joined_of(program, own),
        .joined_before = part > 0 ? own - program->joined_bytes : NULL,
        .own_chunk = own + program->tile_bytes,
        .common_chunk = common + program->tile_bytes,
        .base = { [KAL_BUFFER_IN] = kal_memory_address(arguments->in[0]),
                  [KAL_BUFFER_OUT] = kal_memory_address(arguments->out[0]),
                  [KAL_BUFFER_SHARED] = workspace,
                  [KAL_BUFFER_CHUNK] = own + program->tile_bytes },
        .output = kal_memory_address(arguments->out[0]),
        .second = { [KAL_BUFFER_IN] = kal_memory_address(arguments->in[1]),
                    [KAL_BUFFER_OUT] = kal_memory_address(arguments->out[1]) },
    };
    return worker;
}

// Set field by field, as it is used at once.
static inline void place(struct cpu_vectors *vectors, const struct cpu_user_side *side,
                         const char *re, const char *im)
{
    vectors->re = (char *)re + (side->is_swapped ? side->im : side->re);
    vectors->im = (char *)im + (side->is_swapped ? side->re : side->im);
    vectors->stride = side->stride;
    vectors->ahead = 0;
}

// The second array is a planar side's.
static inline void place_planes(struct cpu_vectors *vectors,
                                const struct cpu_user_side *side,
                                const void *const array[2])
{
    const void *first = array[0], *second = side->is_planar ? array[1] : first;
    place(vectors, side, side->is_swapped ? second : first,
          side->is_swapped ? first : second);
}

static void find_user_vectors(struct cpu_vectors *vectors,
                              const struct cpu_user_side *side,
                              const struct kal_memory array[2])
{
    const void *const address[2] = { kal_memory_address(array[0]),
                                     kal_memory_address(array[1]) };
    place_planes(vectors, side, address);
}

// Numbers of a tile of one lane.
static inline void set_line_tile(struct cpu_vectors *v, char *tile,
                                 const struct cpu_program *program)
{
    const int64_t real_bytes = program->is_f64 ? 8 : 4;
    v->re = tile + (program->tile_is_swapped ? real_bytes : 0);
    v->im = tile + (program->tile_is_swapped ? 0 : real_bytes);
    v->stride = 2;
    v->ahead = 0;
}

// Where a line is between its steps, by turns: in a tile, and in another one, or where
// the output will be, which is all that one core has to keep near then.
static inline char *tile_at(const struct cpu_program *program,
                            const struct cpu_vectors *y, char *workspace, bool is_other)
{
    if (!is_other)
        return workspace;
    return program->output_is_tile ? kal_cpu_leading(y)
                                   : workspace + program->tile_bytes / 2;
}

// All calls from x to `to`, by way of tiles, the first one that which is said. The output is y.
static inline void run_calls(const struct cpu_program *program,
                             const struct cpu_vectors *x, const struct cpu_vectors *to,
                             const struct cpu_vectors *y, char *workspace,
                             bool first_is_other)
{
    const struct cpu_call *call = program->call, *last = call + program->call_count - 1;
    const struct cpu_vectors *from = x;
    struct cpu_vectors tile[2];

    for (bool which = first_is_other; call < last; call++, which = !which) {
        set_line_tile(&tile[which], tile_at(program, y, workspace, which), program);
        kal_cpu_call(call, from, &tile[which]);
        from = &tile[which];
    }
    kal_cpu_call(call, from, to);
}

// The step before the last one ends in the first tile, as the output cannot be read where
// it is written.
static inline bool is_call_to_other(const struct cpu_program *program)
{
    return program->call_count % 2 != 0;
}

static inline void run_steps(const struct cpu_program *program,
                             const struct cpu_vectors *x, const struct cpu_vectors *y,
                             char *workspace)
{
    run_calls(program, x, y, y, workspace, is_call_to_other(program));
}

static inline struct cpu_row mirrored_row(const struct cpu_step *step,
                                          const struct cpu_vectors *x,
                                          const struct cpu_vectors *y)
{
    return (struct cpu_row){
        .in_re = x->re,
        .in_im = x->im,
        .roots = step->table,
        .out_re = y->re,
        .out_im = y->im,
        .m = step->step->n / 2,
        .scale = 1.0,
    };
}

// Of what begins there, real parts first.
static inline void run_mirror(const struct cpu_step *step, const void *from, void *to)
{
    step->mirror(from, to, step->step->n / 2, step->group_table);
}

static inline void run_split(const struct cpu_program *program,
                             const struct cpu_vectors *x, const struct cpu_vectors *y,
                             char *workspace)
{
    const struct cpu_pass *pass = &program->pass[0];
    const int last = pass->pass->step_count - 1;
    struct cpu_vectors packed;

    set_line_tile(&packed, workspace, program);
    run_calls(program, x, &packed, y, workspace, !is_call_to_other(program));
    if (pass->step[last].mirror) {
        run_mirror(&pass->step[last], packed.re, y->re);
        return;
    }
    const struct cpu_row row = mirrored_row(&pass->step[last], &packed, y);
    pass->widest->rows->split(&row, 0, row.m / 2 + 1);
}

static inline void run_merge(const struct cpu_program *program,
                             const struct cpu_vectors *x, const struct cpu_vectors *y,
                             char *workspace)
{
    const struct cpu_pass *pass = &program->pass[0];
    const bool first_is_other = is_call_to_other(program);
    struct cpu_vectors packed;

    set_line_tile(&packed, tile_at(program, y, workspace, !first_is_other), program);
    if (pass->step[0].mirror) {
        run_mirror(&pass->step[0], x->re, packed.im);
    } else {
        const struct cpu_row row = mirrored_row(&pass->step[0], x, &packed);
        pass->widest->rows->merge(&row, 0, row.m / 2 + 1);
    }
    run_calls(program, &packed, y, y, workspace, first_is_other);
}

static inline void run_real(const struct cpu_program *program,
                            const struct cpu_vectors *x, const struct cpu_vectors *y,
                            char *workspace)
{
    const struct cpu_pass *pass = &program->pass[0];
    (void)workspace;
    pass->turned.run(x, y, 1, pass->pass->scale, false);
}

static inline void run_line(const struct cpu_program *program,
                            const struct cpu_vectors *x, const struct cpu_vectors *y,
                            char *workspace)
{
    const struct cpu_line *line = program->pass[0].line;
    char *const tile[2] = { workspace, workspace + program->tile_bytes / 2 };
    kal_cpu_line_run(line, tile, x, y, line->end, NULL, NULL);
}

// Lines that begin `bytes` behind those of `side`.
static inline struct cpu_vectors lines_from(const struct cpu_vectors *side, int64_t bytes,
                                            int64_t step)
{
    return (struct cpu_vectors){ (char *)side->re + bytes, (char *)side->im + bytes, step,
                                 0 };
}

static void scale_part(const struct cpu_program *program, const struct cpu_part *part,
                       const struct cpu_vectors *y)
{
    char *first = kal_cpu_leading(y);
    const int64_t step_bytes = y->stride * (program->is_f64 ? 8 : 4);

    for (int64_t i = 0; i < part->lines; i++)
        program->pass[0].widest->rows->scale(first + i * step_bytes, part->scale_rest,
                                             program->row_reals);
}

static inline void run_part(const struct cpu_program *program,
                            const struct cpu_part *part, const struct cpu_vectors *x,
                            const struct cpu_vectors *y)
{
    const struct cpu_vectors from = lines_from(x, part->in, program->batch.in_step),
                             to = lines_from(y, part->out, program->batch.out_step);

    part->run(&from, &to, part->count, program->pass[0].pass->scale, false);
    if (part->scale_rest != 1.0)
        scale_part(program, part, &to);
}

static inline void run_short(const struct cpu_program *program,
                             const struct cpu_vectors *x, const struct cpu_vectors *y,
                             char *workspace)
{
    (void)workspace;
    for (int i = 0; i < program->batch.part_count; i++)
        run_part(program, &program->batch.part[i], x, y);
}

// Lines of a batch that threads share: those of the parts `first` to `last` - 1 of `parts`.
static void share_short(const struct cpu_program *program, const struct cpu_vectors *x,
                        const struct cpu_vectors *y, int64_t first, int64_t last,
                        int64_t parts)
{
    const int64_t real_bytes = program->is_f64 ? 8 : 4;
    for (int i = 0; i < program->batch.part_count; i++) {
        const struct cpu_part share =
            kal_cpu_part_share(&program->batch, i, real_bytes, first, last, parts);
        if (share.lines > 0)
            run_part(program, &share, x, y);
    }
}

// What is left to do when a line has been worked.
static inline void finish_line(const struct cpu_program *program,
                               const struct cpu_vectors *y)
{
    if (program->row_scale != 1.0)
        program->pass[0].widest->rows->scale(kal_cpu_leading(y), program->row_scale,
                                             program->row_reals);
}

typedef void run_one(const struct cpu_program *, const struct cpu_vectors *,
                     const struct cpu_vectors *, char *);

static inline void run_lines(const struct cpu_program *program, run_one *run,
                             struct cpu_vectors *x, struct cpu_vectors *y, int64_t lines,
                             char *workspace)
{
    run(program, x, y, workspace);
    finish_line(program, y);
    for (int64_t i = 1; i < lines; i++) {
        kal_cpu_advance(x, program->in.line);
        kal_cpu_advance(y, program->out.line);
        run(program, x, y, workspace);
        finish_line(program, y);
    }
}

// Have bytes on their way to the nearer cache, or to the nearest.
CPU_INLINE void ask_for(const struct cpu_program *program, const char *from,
                        int64_t bytes)
{
    for (int64_t i = 0; i < bytes; i += CPU_LINE_BYTES)
        kal_cpu_ask(from + i, program->asks_nearest);
}

// The same while lines to come are asked for.
static void run_lines_ahead(const struct cpu_program *program, run_one *run,
                            struct cpu_vectors *x, struct cpu_vectors y, int64_t lines,
                            char *workspace)
{
    enum { AHEAD_BYTES = 8192 };
    for (int64_t i = 0; i < lines; i++) {
        if (program->array.ask_bytes == 0)
            ask_for(program, kal_cpu_leading(x) + AHEAD_BYTES, program->in.line);
        run(program, x, &y, workspace);
        finish_line(program, &y);
        kal_cpu_advance(x, program->in.line);
        kal_cpu_advance(&y, program->out.line);
    }
}

// The same to a copy, some lines at a time, and from there past the caches by whole lines
// of these. What is left of the last one is moved to where the next lines follow it.
static void stream_lines(const struct cpu_program *program, run_one *run,
                         struct cpu_vectors *x, const struct cpu_vectors *y,
                         int64_t lines, char *workspace)
{
    const int64_t bytes = program->out.line, real_bytes = program->is_f64 ? 8 : 4;
    const int64_t most = kal_max(1, CPU_STREAMED_BYTES / bytes);
    char *const to = kal_cpu_leading(y);
    struct cpu_stage stage = { program->pass[0].widest, real_bytes,
                               joined_of(program, workspace) + CPU_LINE_BYTES, to, 0 };
    struct cpu_vectors place = *y;

    kal_cpu_advance(&place, stage.place - to);
    for (int64_t done = 0, count; done < lines; done += count) {
        count = kal_min(most, lines - done);
        run_lines_ahead(program, run, x, place, count, workspace);
        kal_cpu_stage_leave(&stage, count * bytes, done + count == lines);
    }
    atomic_thread_fence(memory_order_seq_cst);
}

// Arrays past the caches, each while it is made.
static void run_arrays_past(const struct cpu_program *program, struct cpu_vectors *x,
                            struct cpu_vectors *y, int64_t arrays, char *workspace)
{
    for (int64_t i = 0; i < arrays; i++) {
        kal_cpu_array_run_past(program, x, y, workspace, joined_of(program, workspace));
        kal_cpu_advance(x, program->in.line);
        kal_cpu_advance(y, program->out.line);
    }
    atomic_thread_fence(memory_order_seq_cst);
}

// Some lines, one after the other.
static void run_some_lines(const struct cpu_program *program, const struct cpu_vectors *x,
                           const struct cpu_vectors *y, char *workspace, int64_t begin,
                           int64_t end)
{
    static run_one *const run[CPU_SINGLE_COUNT] = {
        [CPU_SINGLE_STEPS] = run_steps, [CPU_SINGLE_SPLIT] = run_split,
        [CPU_SINGLE_MERGE] = run_merge, [CPU_SINGLE_REAL] = run_real,
        [CPU_SINGLE_LINE] = run_line,   [CPU_SINGLE_ARRAY] = kal_cpu_array_run,
    };
    struct cpu_vectors from = *x, to = *y;

    kal_cpu_advance(&from, begin * program->in.line);
    kal_cpu_advance(&to, begin * program->out.line);
    if (program->array.leaving_rows > 0)
        run_arrays_past(program, &from, &to, end - begin, workspace);
    else if (program->streams_lines)
        stream_lines(program, run[program->single], &from, &to, end - begin, workspace);
    else
        run_lines(program, run[program->single], &from, &to, end - begin, workspace);
}

// Some of the things that threads share out: arrays, groups of lines, lines, or, where
// these lie in several parts, shares of each.
static void run_things(const struct cpu_program *program, const struct cpu_vectors *x,
                       const struct cpu_vectors *y, char *workspace, int64_t begin,
                       int64_t end)
{
    if (program->single == CPU_SINGLE_APART)
        kal_cpu_apart_share(program, x, y, begin, end, program->things);
    else if (program->single == CPU_SINGLE_DIVIDED)
        kal_cpu_arrays_run(program, x, y, workspace, begin, end);
    else if (program->single == CPU_SINGLE_COPIED)
        kal_cpu_groups_run(program, x, y, workspace, begin, end);
    else if (program->single == CPU_SINGLE_SHORT)
        share_short(program, x, y, begin, end, program->things);
    else
        run_some_lines(program, x, y, workspace, begin, end);
}

static void run_single(const struct cpu_program *program,
                       const struct kal_arguments *arguments, char *workspace)
{
    struct cpu_vectors x, y;

    find_user_vectors(&x, &program->in, arguments->in);
    find_user_vectors(&y, &program->out, arguments->out);
    run_things(program, &x, &y, workspace, 0, program->things);
}

static void share_single(const struct cpu_program *program,
                         const struct kal_arguments *arguments, struct cpu_worker *worker)
{
    struct cpu_deal deal = kal_cpu_deal(worker, program->things, 1, program->pieces);
    struct cpu_vectors x, y;
    struct cpu_taken some;

    find_user_vectors(&x, &program->in, arguments->in);
    find_user_vectors(&y, &program->out, arguments->out);
    while (kal_cpu_take(worker, &deal, &some))
        run_things(program, &x, &y, worker->tile[0], some.begin, some.end);
}

static inline void run_apart(const struct cpu_program *program,
                             const struct cpu_vectors *x, const struct cpu_vectors *y,
                             char *workspace)
{
    (void)workspace;
    kal_cpu_apart_run(program, x, y);
}

// What has no tiles, of one line or of a batch.
static inline void run_bare(const struct cpu_program *program, run_one *run,
                            struct cpu_vectors *x, struct cpu_vectors *y)
{
    run(program, x, y, NULL);
}

// What has them, with the workspace on the stack, of one line or several.
static inline void run_small(const struct cpu_program *program, run_one *run,
                             struct cpu_vectors *x, struct cpu_vectors *y)
{
    _Alignas(64) char workspace[CPU_SMALL_BYTES];
    run_lines(program, run, x, y, program->lines, workspace);
}

// Either between two arrays, and where a side is planar.
#define RUN(name, run, how)                                                        \
    static void name##_pair(const struct kal_device_program *base, const void *in, \
                            void *out)                                             \
    {                                                                              \
        const struct cpu_program *program = (const struct cpu_program *)base;      \
        struct cpu_vectors x, y;                                                   \
        place(&x, &program->in, in, in);                                           \
        place(&y, &program->out, out, out);                                        \
        how(program, run, &x, &y);                                                 \
    }                                                                              \
    static void name##_planes(const struct kal_device_program *base,               \
                              const void *const in[2], void *const out[2])         \
    {                                                                              \
        const struct cpu_program *program = (const struct cpu_program *)base;      \
        struct cpu_vectors x, y;                                                   \
        place_planes(&x, &program->in, in);                                        \
        place_planes(&y, &program->out, (const void *const *)out);                 \
        how(program, run, &x, &y);                                                 \
    }

static inline void run_once(const struct cpu_program *program,
                            const struct cpu_vectors *x, const struct cpu_vectors *y,
                            char *workspace)
{
    (void)workspace;
    kal_cpu_call(program->call, x, y);
    finish_line(program, y);
}

RUN(run_once, run_once, run_bare)
RUN(run_short, run_short, run_bare)
RUN(run_apart, run_apart, run_bare)
RUN(run_real_once, run_real, run_bare)
RUN(run_steps, run_steps, run_small)
RUN(run_split, run_split, run_small)
RUN(run_merge, run_merge, run_small)
RUN(run_real, run_real, run_small)
RUN(run_line, run_line, run_small)
RUN(run_array, kal_cpu_array_run, run_small)
RUN(run_copied, kal_cpu_copied_run, run_small)

struct runner {
    void (*pair)(const struct kal_device_program *, const void *, void *);
    void (*planes)(const struct kal_device_program *, const void *const[2],
                   void *const[2]);
};

#define RUNNER(name)                \
    {                               \
        name##_pair, name##_planes, \
    }

static struct runner find_runner(const struct cpu_program *program)
{
    static const struct runner once = RUNNER(run_once), real = RUNNER(run_real_once);
    static const struct runner runners[CPU_SINGLE_COUNT] = {
        [CPU_SINGLE_STEPS] = RUNNER(run_steps),   [CPU_SINGLE_SPLIT] = RUNNER(run_split),
        [CPU_SINGLE_MERGE] = RUNNER(run_merge),   [CPU_SINGLE_REAL] = RUNNER(run_real),
        [CPU_SINGLE_SHORT] = RUNNER(run_short),   [CPU_SINGLE_LINE] = RUNNER(run_line),
        [CPU_SINGLE_ARRAY] = RUNNER(run_array),   [CPU_SINGLE_APART] = RUNNER(run_apart),
        [CPU_SINGLE_COPIED] = RUNNER(run_copied),
    };
    if (program->lines == 1 && program->single == CPU_SINGLE_STEPS &&
        program->call_count == 1)
        return once;
    if (program->lines == 1 && program->single == CPU_SINGLE_REAL)
        return real;
    return program->is_small && !program->streams_lines ? runners[program->single]
                                                        : (struct runner){ 0 };
}

void kal_cpu_runners_find(struct cpu_program *program)
{
    const struct runner runner = find_runner(program);
    const bool is_planar = program->in.is_planar || program->out.is_planar;
    program->base.run_pair = is_planar ? NULL : runner.pair;
    program->base.run_planes = runner.planes;
}

static void run_alone(const struct cpu_program *program,
                      const struct kal_arguments *arguments, char *workspace)
{
    if (program->single) {
        run_single(program, arguments, workspace);
        return;
    }
    struct cpu_worker worker = make_worker(program, arguments, workspace, NULL, 0, 1);
    run_worker(program, &worker);
}

static void run_on_stack(const struct cpu_program *program,
                         const struct kal_arguments *arguments)
{
    _Alignas(64) char workspace[CPU_SMALL_BYTES];
    run_alone(program, arguments, workspace);
}

// A worker's share of all arrays, one after the other.
static void share_arrays(const struct cpu_program *program,
                         const struct kal_arguments *arguments, struct cpu_worker *worker)
{
    struct cpu_vectors x, y;
    find_user_vectors(&x, &program->in, arguments->in);
    find_user_vectors(&y, &program->out, arguments->out);
    for (int64_t i = 0; i < program->lines; i++) {
        kal_cpu_array_share(program, &x, &y, worker);
        if (program->row_scale != 1.0) {
            kal_cpu_meet(worker);
            if (worker->part == 0)
                finish_line(program, &y);
        }
        kal_cpu_advance(&x, program->in.line);
        kal_cpu_advance(&y, program->out.line);
    }
}

static void share_copied(const struct cpu_program *program,
                         const struct kal_arguments *arguments, struct cpu_worker *worker)
{
    struct cpu_vectors x, y;
    find_user_vectors(&x, &program->in, arguments->in);
    find_user_vectors(&y, &program->out, arguments->out);
    kal_cpu_copied_meet(program, &x, &y, worker);
}

static void run_part_of(const struct cpu_program *program,
                        const struct kal_arguments *arguments,
                        struct cpu_meeting *meeting, int part, int parts)
{
    struct cpu_worker worker =
        make_worker(program, arguments, align_workspace(arguments), meeting, part, parts);
    if (program->single == CPU_SINGLE_ARRAY && program->lines < parts)
        share_arrays(program, arguments, &worker);
    else if (kal_cpu_copies_meet(program))
        share_copied(program, arguments, &worker);
    else if (program->single)
        share_single(program, arguments, &worker);
    else
        run_worker(program, &worker);
}

kallima_status kal_cpu_program_run(const struct kal_device_program *base,
                                   const struct kal_arguments *arguments)
{
    const struct cpu_program *program = (const struct cpu_program *)base;

    if (program->is_small) {
        run_on_stack(program, arguments);
        return KALLIMA_OK;
    }
    if (program->threads == 1) {
        run_alone(program, arguments, align_workspace(arguments));
        return KALLIMA_OK;
    }
    // All that the device has, also where some are idle: GCC's OpenMP ends threads that a
    // region leaves out, and a larger one starts them again, in 0.1 to 0.9 ms. It may
    // grant fewer than asked for: inside a parallel region, one.
    struct cpu_meeting meeting;
    kal_cpu_meeting_init(&meeting, program->threads);
#pragma omp parallel num_threads(base->device->caps.threads)
    {
        const int part = omp_get_thread_num();
        const int parts = (int)kal_min(program->threads, omp_get_num_threads());
        if (part < parts)
            run_part_of(program, arguments, &meeting, part, parts);
    }
    return KALLIMA_OK;
}
