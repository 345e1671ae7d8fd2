// SPDX-License-Identifier: MIT
#include "device/cpu/packed.h"

#include "device/cpu/places.h"

// Is that the mirrored step of what the rows store, one line of it for each of theirs?
static bool is_behind(const struct cpu_line *line, const struct cpu_pass *mirror)
{
    const struct kal_pass *p = mirror->pass, *rows = line->rows->pass;

    return mirror->is_mirrored && p->step[0].op == KAL_STEP_SPLIT &&
           p->step[0].outer == 1 && p->step[0].n == 2 * line->m * line->radix &&
           mirror->inner == 1 && line->columns->inner == line->radix &&
           p->in.buffer == rows->out.buffer && p->in.offset == rows->out.offset &&
           p->in.imag == rows->out.imag && line->m * p->in.stride == rows->out.stride &&
           !p->in.is_swapped && !rows->out.is_swapped && !p->in.index;
}

kallima_status kal_cpu_packed_find(struct cpu_program *program, struct cpu_line *line,
                                   const struct cpu_pass *mirror)
{
    const struct cpu_device *device = kal_cpu_device_of(program);
    const struct cpu_line_kernels *kernels = line->kernels->line;
    const bool are_folded = kal_cpu_line_can_be_folded(line);
    cpu_line_split *split =
        (are_folded ? kernels->split_folded : kernels->split)[line->radix];
    void *memory;

    if (device->is_zen || line->width > 1 || !split || line->m % line->kernels->lanes ||
        !is_behind(line, mirror) || !kal_cpu_side_is_interleaved(&mirror->pass->out) ||
        mirror->pass->out.is_swapped)
        return KALLIMA_OK;
    KAL_TRY(kal_arena_take(&program->arena, &memory, 1, sizeof(struct cpu_packed)));
    struct cpu_packed *packed = memory;
    packed->mirror = mirror;
    packed->split = split;
    packed->are_folded = are_folded;
    packed->with.scale = mirror->scale;
    KAL_TRY(kal_cpu_packed_roots_build(program, line, &packed->with.roots));
    line->packed = packed;
    return KALLIMA_OK;
}

static struct cpu_vectors vectors_at(const struct cpu_worker *worker,
                                     const struct cpu_memory *memory, int64_t at)
{
    const int64_t bytes = at * worker->real_bytes;
    return (struct cpu_vectors){ memory->re + bytes, memory->im + bytes, memory->stride,
                                 0 };
}

void kal_cpu_packed_run(const struct cpu_worker *worker, const struct cpu_line *line,
                        const struct cpu_chunk *chunk)
{
    const struct cpu_packed *packed = line->packed;
    const void *roots = line->has_roots ? NULL : line->roots;
    struct cpu_memory in, out;

    kal_cpu_memory_find(&in, worker, &line->columns->pass->in);
    kal_cpu_memory_find(&out, worker, &packed->mirror->pass->out);
    for (int64_t i = 0; i < chunk->lines; i++) {
        const int64_t from =
            kal_cpu_place_find(line->columns, chunk, i * line->radix, line->loop).in;
        const int64_t to = kal_cpu_place_find(packed->mirror, chunk, i, -1).out;
        const struct cpu_vectors x = vectors_at(worker, &in, from);
        const struct cpu_vectors y = vectors_at(worker, &out, to);
        const char *tiles =
            kal_cpu_line_columns_run(line, packed->are_folded, worker->tile, &x, &y);
        packed->split(tiles, y.re, line->m, roots, line->fine, &packed->with);
    }
}
