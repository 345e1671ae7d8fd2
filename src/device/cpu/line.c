// SPDX-License-Identifier: MIT
#include "device/cpu/line.h"

#include <stdatomic.h>

static int loop_count(const struct kal_pass *p)
{
    return p->stage_loops + p->line_loops + p->inner_loops;
}

// Reals from a number to its neighbour, where parts are neighbours or planes.
static int64_t unit_of(const struct kal_side *side)
{
    return side->imag == 1 ? 2 : 1;
}

static bool has_plain_steps(const struct kal_pass *p)
{
    for (int i = 0; i < p->step_count; i++) {
        if (p->step[i].op != KAL_STEP_DFT || p->step[i].outer != 1)
            return false;
    }
    return p->step_count > 0;
}

static bool is_plain(const struct kal_side *side, int64_t n)
{
    return !side->is_real && !side->index && side->count >= n && side->chirp_n == 0;
}

// Do the loops but the innermost of both passes count the same lines?
static bool same_lines(const struct kal_pass *a, const struct kal_pass *b)
{
    if (a->stage_loops != b->stage_loops || a->line_loops != b->line_loops ||
        a->inner_loops != b->inner_loops)
        return false;
    for (int i = 0; i < loop_count(a) - 1; i++) {
        if (a->loops[i].count != b->loops[i].count)
            return false;
    }
    return true;
}

// Columns of one contiguous line, to rows of another: a is the first pass, b the second.
static bool are_one_line(const struct kal_pass *a, const struct kal_pass *b)
{
    const int64_t in = unit_of(&a->in), out = unit_of(&b->out);
    if (!has_plain_steps(a) || !has_plain_steps(b) || b->step_count != 1 ||
        a->inner_loops == 0 || !same_lines(a, b) || !is_plain(&a->in, a->n) ||
        !is_plain(&b->out, b->n) || b->out.twiddle_n || a->scale != 1.0)
        return false;
    const struct kal_loop *column = &a->loops[loop_count(a) - 1],
                          *row = &b->loops[loop_count(b) - 1];
    return a->out.twiddle_n == a->n * b->n && a->out.twiddle_loop == loop_count(a) - 1 &&
           !a->out.twiddle_is_conjugate && a->out.buffer == KAL_BUFFER_CHUNK &&
           b->in.buffer == KAL_BUFFER_CHUNK && a->out.offset == b->in.offset &&
           column->count == b->n && row->count == a->n && column->in == in &&
           a->in.stride == b->n * in && row->out == out && b->out.stride == a->n * out;
}

static cpu_dft *first_step(const struct cpu_fused *fused, const struct cpu_kernels *k,
                           enum cpu_layout in, int radix, bool has_roots)
{
    if (in == CPU_PLANAR)
        return has_roots ? fused->lanes[radix] : k->dft[radix];
    return has_roots ? fused->in_lanes[radix] : fused->in[radix];
}

// The kernels of one level for all steps; false: it has none for some.
static bool fits_level(struct cpu_line *line, const struct cpu_kernels *k,
                       int64_t real_bytes)
{
    const struct cpu_pass *columns = line->columns;
    const int steps = columns->pass->step_count;
    if (kal_pass_get_parameter(columns->pass, KAL_PARAMETER_LANES, k->lanes) != k->lanes)
        return false;
    if (k->lanes == 1 || line->radix % k->lanes != 0 || line->m < k->lanes ||
        !k->line->end[line->out][line->radix])
        return false;
    line->kernels = k;
    line->plane_bytes = k->lanes * real_bytes;
    line->has_roots = steps == 1 && line->rows->pass->scale == 1.0;
    for (int i = 0; i < steps; i++) {
        const int radix = columns->pass->step[i].radix;
        line->step[i] = i > 0 ? k->dft[radix]
                              : first_step(k->fused, k, line->in, radix, line->has_roots);
        if (!line->step[i])
            return false;
    }
    return true;
}

// The innermost loop over lines that is longer than one.
static int find_loop(const struct kal_pass *p)
{
    for (int i = loop_count(p) - 2; i >= p->stage_loops; i--) {
        if (p->loops[i].count > 1)
            return i;
    }
    return -1;
}

kallima_status kal_cpu_line_find(struct cpu_line **out, struct cpu_program *program,
                                 const struct kal_phase *phase, struct cpu_pass *columns)
{
    const struct cpu_device *device = (const struct cpu_device *)program->base.device;
    struct cpu_pass *rows = columns + 1;
    void *memory;

    *out = NULL;
    if (!kal_pass_get_parameter(columns->pass, KAL_PARAMETER_LINE, 1) ||
        phase->lanes_are_lines || !are_one_line(columns->pass, rows->pass))
        return KALLIMA_OK;
    KAL_TRY(kal_arena_take(&program->arena, &memory, 1, sizeof **out));
    struct cpu_line *line = memory;
    const int loop = find_loop(columns->pass);
    *line = (struct cpu_line){
        .columns = columns,
        .rows = rows,
        .radix = rows->pass->step[0].radix,
        .m = columns->pass->n,
        .in = unit_of(&columns->pass->in) == 2 ? CPU_INTERLEAVED : CPU_PLANAR,
        .out = unit_of(&rows->pass->out) == 2 ? CPU_INTERLEAVED : CPU_PLANAR,
        .loop = loop,
        .round = loop < 0 ? 1 : columns->pass->loops[loop].count,
        .in_step = kal_cpu_step_find(columns, loop).in,
        .out_step = kal_cpu_step_find(rows, loop).out,
        .is_streamed = kal_cpu_is_streamed(program, rows->pass),
    };
    for (int i = device->level_count - 1; i >= 0; i--) {
        if (fits_level(line, kal_cpu_kernels_find(device->level[i], program->is_f64),
                       program->is_f64 ? 8 : 4)) {
            *out = line;
            return kal_cpu_line_tables_build(program, line);
        }
    }
    return KALLIMA_OK;
}

static int64_t lines_of_chunk_line(const struct cpu_line *line)
{
    return line->columns->inner / line->radix;
}

int64_t kal_cpu_line_count(const struct cpu_line *line, const struct cpu_chunk *chunk)
{
    return chunk->lines * lines_of_chunk_line(line);
}

static struct cpu_vectors at_offset(const struct cpu_memory *memory, int64_t offset,
                                    int64_t real_bytes)
{
    return (struct cpu_vectors){ (char *)memory->re + offset * real_bytes,
                                 (char *)memory->im + offset * real_bytes,
                                 memory->stride };
}

// The columns of one tile: from memory, to and fro so that the last step ends in its place.
static void run_columns(const struct cpu_line *line, char *const tile[2],
                        struct cpu_vectors from, int64_t skip)
{
    const struct kal_pass *p = line->columns->pass;
    char *const place[2] = { tile[0] + skip, tile[1] };

    for (int i = 0; i < p->step_count; i++) {
        char *to = place[(p->step_count - 1 - i) % 2];
        const struct cpu_vectors y = { to, to + line->plane_bytes,
                                       2 * line->kernels->lanes };
        const void *roots = line->has_roots ? (const char *)line->roots + skip
                                            : line->columns->step[i].table;
        line->step[i](&from, &y, p->step[i].m, p->step[i].s, roots);
        from = y;
    }
}

void kal_cpu_line_run(const struct cpu_line *line, char *const tile[2],
                      struct cpu_vectors x, const struct cpu_vectors *y,
                      cpu_line_end *end)
{
    const int64_t tile_bytes = line->m * 2 * line->plane_bytes;
    const int64_t next =
        line->in == CPU_PLANAR ? line->plane_bytes : 2 * line->plane_bytes;
    const int tiles = line->radix / line->kernels->lanes;

    for (int i = 0; i < tiles; i++) {
        run_columns(line, tile, x, i * tile_bytes);
        x.re = (char *)x.re + next;
        x.im = (char *)x.im + next;
    }
    end(tile[0], y, line->m, line->has_roots ? NULL : line->roots);
}

// Does each line of the output begin on a multiple of a register, and so its codelets?
static bool is_aligned(const struct cpu_worker *worker, const struct cpu_line *line)
{
    const struct kal_pass *p = line->rows->pass;
    const int64_t bytes = line->plane_bytes;
    int64_t all = p->out.offset | p->out.stride;

    for (int i = 0; i < loop_count(p) - 1; i++)
        all |= p->loops[i].count > 1 ? p->loops[i].out : 0;
    return (all * worker->real_bytes) % bytes == 0 &&
           (uintptr_t)worker->base[KAL_BUFFER_OUT] % (uintptr_t)bytes == 0;
}

void kal_cpu_lines_run(struct cpu_worker *worker, const struct cpu_line *line,
                       const struct cpu_chunk *chunk, int64_t begin, int64_t end)
{
    const bool is_streamed = line->is_streamed && is_aligned(worker, line);
    cpu_line_end *last =
        line->kernels->line->end[is_streamed ? CPU_STREAMED : line->out][line->radix];
    struct cpu_memory in, out;

    kal_cpu_memory_find(&in, worker, &line->columns->pass->in);
    kal_cpu_memory_find(&out, worker, &line->rows->pass->out);
    while (begin < end) {
        const struct cpu_place from =
            kal_cpu_place_find(line->columns, chunk, begin * line->radix, line->loop);
        const struct cpu_place to =
            kal_cpu_place_find(line->rows, chunk, begin * line->m, line->loop);
        const int64_t count = kal_min(end - begin, line->round - from.fast);
        for (int64_t i = 0; i < count; i++) {
            const struct cpu_vectors y =
                at_offset(&out, to.out + i * line->out_step, worker->real_bytes);
            kal_cpu_line_run(
                line, worker->tile,
                at_offset(&in, from.in + i * line->in_step, worker->real_bytes), &y,
                last);
        }
        begin += count;
    }
    if (is_streamed)
        atomic_thread_fence(memory_order_seq_cst);
}
