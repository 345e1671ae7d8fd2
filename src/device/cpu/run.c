// SPDX-License-Identifier: MIT
// Running a program: stages, phases and chunks in order, tiles shared out over threads.
#include "device/cpu/deal.h"
#include "device/cpu/facing.h"
#include "device/cpu/packed.h"
#include "device/cpu/piece.h"
#include "device/cpu/single.h"
#include "device/cpu/threads.h"

#include <omp.h>
#include <stdatomic.h>

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
    const struct cpu_pass *first = &program->pass[phase->first_pass],
                          *last = first + phase->pass_count - 1;
    for (int64_t i = begin; i < end; i++) {
        const struct cpu_chunk chunk = kal_cpu_chunk_make(phase, stage_index, i);
        char *to = last->piece ? kal_cpu_piece_begin(worker, last, &chunk) : NULL;
        for (const struct cpu_pass *pass = first; pass <= last;
             pass += kal_cpu_passes_of(pass)) {
            if (pass->line && pass->line->packed) {
                kal_cpu_packed_run(worker, pass->line, &chunk);
                break;
            }
            run_units(worker, pass, &chunk, 0, kal_cpu_unit_count(pass, &chunk));
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
    const struct cpu_pass *first = &program->pass[phase->first_pass];
    const int64_t chunks = phase->chunks;

    worker->base[KAL_BUFFER_CHUNK] = worker->common_chunk;
    for (int64_t i = 0; i < chunks; i++) {
        const struct cpu_chunk chunk = kal_cpu_chunk_make(phase, stage_index, i);
        for (const struct cpu_pass *pass = first; pass < first + phase->pass_count;
             pass += kal_cpu_passes_of(pass)) {
            kal_cpu_begin(worker);
            share_units(worker, pass, &chunk);
            settle(program);
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
        const bool are_own = program->scratches > 1 && !stage->has_outer_scratch;
        const int64_t each = are_own ? stage->repeats / worker->parts : 0;
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
        .real_bytes = program->real_bytes,
        .tile = { own, own + program->tile_bytes / 2 },
        .common_tile = common,
        .joined = kal_cpu_joined_of(program, own),
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

static void run_alone(const struct cpu_program *program,
                      const struct kal_arguments *arguments, char *workspace)
{
    if (program->single) {
        kal_cpu_single_run(program, arguments, workspace);
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

void kal_cpu_part_run(const struct kal_device_program *base,
                      const struct kal_arguments *arguments, struct cpu_meeting *meeting,
                      int part, int parts)
{
    const struct cpu_program *program = (const struct cpu_program *)base;
    struct cpu_worker worker =
        make_worker(program, arguments, align_workspace(arguments), meeting, part, parts);
    if (program->single)
        kal_cpu_single_part_run(program, arguments, &worker);
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
            kal_cpu_part_run(base, arguments, &meeting, part, parts);
    }
    return KALLIMA_OK;
}
