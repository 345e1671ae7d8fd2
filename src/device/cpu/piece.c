// SPDX-License-Identifier: MIT
#include "device/cpu/piece.h"

#include "device/cpu/caches.h"
#include "device/cpu/places.h"

// Numbers, or reals, of one side that are each behind the one before it, which loops are
// to go through.
struct run {
    int64_t count, stride;
};

// How many reals a side's elements and inner loops are, if they leave no gaps; else 0.
static int64_t dense_reals(const struct kal_pass *p, const struct kal_side *side,
                           bool is_out)
{
    struct run run[KAL_MAX_LOOPS + 1];
    int64_t reals = side->is_real ? 1 : 2;
    int count = 0;

    run[count++] = (struct run){ kal_min(p->n, side->count), side->stride };
    for (int i = p->stage_loops + p->line_loops; i < kal_pass_loop_count(p); i++)
        run[count++] =
            (struct run){ p->loops[i].count, is_out ? p->loops[i].out : p->loops[i].in };
    for (int left = count; left > 0;) {
        int i = 0;
        while (i < count && (run[i].count == 0 || run[i].stride != reals) &&
               run[i].count != 1)
            i++;
        if (i == count)
            return 0;
        reals *= run[i].count;
        run[i].count = 0;
        left--;
    }
    return reals;
}

// Is that side of a pass elsewhere, or the same piece of each chunk?
static bool is_elsewhere_or(const struct kal_pass *p, const struct kal_side *side,
                            bool is_out, int64_t reals, int64_t offset)
{
    return side->buffer != KAL_BUFFER_OUT ||
           (dense_reals(p, side, is_out) == reals && side->offset == offset &&
            (side->is_real || side->imag == 1) && !side->index && side->mirror_n == 0);
}

// Does each pass of a phase write and read of the output what is the chunk's, and read
// none that the phase did not write?
static bool is_one_piece(const struct cpu_program *program, const struct kal_phase *phase,
                         int64_t reals)
{
    const struct kal_pass *last =
        program->pass[phase->first_pass + phase->pass_count - 1].pass;
    bool is_written = false;

    for (int i = 0; i < phase->pass_count; i++) {
        const struct kal_pass *p = program->pass[phase->first_pass + i].pass;
        for (int j = p->stage_loops; j < p->stage_loops + p->line_loops; j++) {
            const int64_t step = last->loops[j].out;
            if ((p->out.buffer == KAL_BUFFER_OUT && p->loops[j].out != step) ||
                (p->in.buffer == KAL_BUFFER_OUT && p->loops[j].in != step))
                return false;
        }
        if ((p->in.buffer == KAL_BUFFER_OUT && !is_written) ||
            !is_elsewhere_or(p, &p->in, false, reals, last->out.offset) ||
            !is_elsewhere_or(p, &p->out, true, reals, last->out.offset))
            return false;
        is_written = is_written || p->out.buffer == KAL_BUFFER_OUT;
    }
    return true;
}

void kal_cpu_piece_find(struct cpu_program *program, const struct kal_phase *phase)
{
    struct cpu_pass *last = &program->pass[phase->first_pass + phase->pass_count - 1];
    const struct kal_pass *p = last->pass;
    const int64_t reals = dense_reals(p, &p->out, true);
    const int64_t bytes = reals * program->real_bytes;

    if (phase->chunk != 1 || phase->chunks == 1 || phase->pass_count == 1 || reals == 0 ||
        last[-1].line || last->is_done || p->out.buffer != KAL_BUFFER_OUT ||
        p->out.is_swapped || 2 * bytes > (int64_t)program->base.device->caps.near_bytes ||
        !kal_cpu_arrays_leave_caches(program, p) || !is_one_piece(program, phase, reals))
        return;
    last->piece = reals;
    program->streams = true;
}

int64_t kal_cpu_piece_bytes(const struct cpu_program *program,
                            const struct cpu_pass *last)
{
    const int64_t bytes = last->piece * program->real_bytes;
    return (int64_t)kal_cpu_aligned((uint64_t)bytes + CPU_LINE_BYTES);
}

// Does the last pass go past the caches by itself, to there? Measured on a Zen 5
// processor: rows of 16 tiles, of which a lead makes 17, take 0.75 to 0.9 of the time of
// a copy, those of four and eight 1.1 to 1.5.
static bool goes_straight(const struct cpu_worker *worker, const struct cpu_pass *last,
                          const char *to)
{
    enum { FEWEST = 16 };
    const uintptr_t all =
        (uintptr_t)to |
        (uintptr_t)((last->pass->out.stride | last->piece) * worker->real_bytes);

    return last->is_streamed &&
           (all % CPU_LINE_BYTES == 0 ||
            (last->chunk_rows.tiles >= FEWEST &&
             kal_cpu_lead_find(last, &last->chunk_rows, to, worker->real_bytes) > 0));
}

char *kal_cpu_piece_begin(struct cpu_worker *worker, const struct cpu_pass *last,
                          const struct cpu_chunk *chunk)
{
    const struct cpu_place place = kal_cpu_place_find(last, chunk, 0, -1);
    char *to = worker->base[KAL_BUFFER_OUT] + place.out * worker->real_bytes;

    if (goes_straight(worker, last, to))
        return NULL;
    // As far behind the beginning of a line of the caches as there.
    worker->base[KAL_BUFFER_OUT] =
        worker->joined + (uintptr_t)to % CPU_LINE_BYTES - place.out * worker->real_bytes;
    return to;
}

void kal_cpu_piece_end(struct cpu_worker *worker, const struct cpu_pass *last, char *to)
{
    const char *copy = worker->joined + (uintptr_t)to % CPU_LINE_BYTES;
    last->widest->stream(to, copy, last->piece);
    worker->base[KAL_BUFFER_OUT] = worker->output;
}
