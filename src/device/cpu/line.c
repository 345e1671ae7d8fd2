// SPDX-License-Identifier: MIT
#include "device/cpu/line.h"

#include "device/cpu/caches.h"
#include "device/cpu/places.h"
#include "device/cpu/stage.h"

// Reals from a number to its neighbour, where parts are neighbours or planes.
static int64_t unit_of(const struct kal_side *side)
{
    return side->imag == 1 ? 2 : 1;
}

bool kal_cpu_steps_are_plain(const struct kal_pass *p)
{
    for (int i = 0; i < p->step_count; i++) {
        if (p->step[i].op != KAL_STEP_DFT || p->step[i].outer != 1)
            return false;
    }
    return p->step_count > 0;
}

bool kal_cpu_side_is_interleaved(const struct kal_side *side)
{
    return side->imag == 1 && side->stride == 2 && !side->is_real && !side->index;
}

bool kal_cpu_side_is_plain(const struct kal_side *side, int64_t n)
{
    return !side->is_real && !side->index && side->count >= n && side->chirp_n == 0;
}

// Do the loops but the innermost of both passes count the same lines?
static bool same_lines(const struct kal_pass *a, const struct kal_pass *b)
{
    if (a->stage_loops != b->stage_loops || a->line_loops != b->line_loops ||
        a->inner_loops != b->inner_loops)
        return false;
    for (int i = 0; i < kal_pass_loop_count(a) - 1; i++) {
        if (a->loops[i].count != b->loops[i].count)
            return false;
    }
    return true;
}

// Columns of one contiguous line, to rows of another: a is the first pass, b the second.
static bool are_one_line(const struct kal_pass *a, const struct kal_pass *b)
{
    const int64_t in = unit_of(&a->in), out = unit_of(&b->out);
    if (!kal_cpu_steps_are_plain(a) || !kal_cpu_steps_are_plain(b) ||
        b->step_count != 1 || a->inner_loops == 0 || !same_lines(a, b) ||
        !kal_cpu_side_is_plain(&a->in, a->n) || !kal_cpu_side_is_plain(&b->out, b->n) ||
        b->out.twiddle_n)
        return false;
    const struct kal_loop *column = &a->loops[kal_pass_loop_count(a) - 1],
                          *row = &b->loops[kal_pass_loop_count(b) - 1];
    return a->out.twiddle_n == a->n * b->n &&
           a->out.twiddle_loop == kal_pass_loop_count(a) - 1 &&
           !a->out.twiddle_is_conjugate && a->out.buffer == KAL_BUFFER_CHUNK &&
           b->in.buffer == KAL_BUFFER_CHUNK && a->out.offset == b->in.offset &&
           column->count == b->n && row->count == a->n && column->in == in &&
           a->in.stride == b->n * in && row->out == out && b->out.stride == a->n * out;
}

static cpu_dft *first_step(const struct cpu_line *line, const struct cpu_kernels *k)
{
    const struct cpu_fused *fused = k->fused;
    const int radix = line->columns->pass->step[0].radix;

    if (line->width == 2)
        return line->has_roots ? fused->twins_lanes[radix] : fused->twins[radix];
    if (line->in == CPU_PLANAR)
        return line->has_roots ? fused->lanes[radix] : k->dft[radix];
    return line->has_roots ? fused->in_lanes[radix] : fused->in[radix];
}

cpu_line_end *kal_cpu_line_last_step(const struct cpu_line *line,
                                     const struct cpu_kernels *k, enum cpu_layout out)
{
    return line->width == 2 ? k->line->twins[out] : k->line->end[out][line->radix];
}

// Has the first step such a kernel, do others follow, and has a tile room for what is between them?
bool kal_cpu_line_can_be_folded(const struct cpu_line *line)
{
    const struct kal_pass *p = line->columns->pass;
    return line->folds && line->width == 1 && line->in == CPU_INTERLEAVED &&
           p->step_count > 1 && p->step_count - 2 <= line->radix &&
           line->kernels->fused->folded[p->step[0].radix];
}

// The kernels of one level for all steps; false: it has none for some.
static bool fits_level(struct cpu_line *line, const struct cpu_kernels *k,
                       int64_t real_bytes)
{
    const struct cpu_pass *columns = line->columns;
    const int steps = columns->pass->step_count;
    const int lanes = k->lanes / line->width; // of one line

    if (kal_pass_get_parameter(columns->pass, KAL_PARAMETER_LANES, k->lanes) != k->lanes)
        return false;
    if (k->lanes == 1 || line->radix % lanes != 0 || line->m < lanes ||
        (line->width == 2 && line->radix != lanes) ||
        !kal_cpu_line_last_step(line, k, line->out))
        return false;
    line->kernels = k;
    line->plane_bytes = k->lanes * real_bytes;
    line->tiles = line->radix / lanes;
    line->has_roots = steps == 1 && line->scale == 1.0; // else output 0 has a factor, too
    line->is_folded = line->out == CPU_INTERLEAVED && kal_cpu_line_can_be_folded(line);
    line->end = line->is_folded ? k->line->folded[line->radix]
                                : kal_cpu_line_last_step(line, k, line->out);
    for (int i = 0; i < steps; i++) {
        line->step[i] =
            i > 0 ? k->dft[columns->pass->step[i].radix] : first_step(line, k);
        if (!line->step[i])
            return false;
    }
    return true;
}

// The innermost loop over lines that is longer than one.
static int find_loop(const struct kal_pass *p)
{
    for (int i = kal_pass_loop_count(p) - 2; i >= p->stage_loops; i--) {
        if (p->loops[i].count > 1)
            return i;
    }
    return -1;
}

// Stores past the caches are slow where they are a multiple of 512 bytes apart, as those
// of one codelet mostly are, and fill one line of the caches each: by way of a copy, in
// order, batches of 1024 and 2048 floats take 0.6 to 0.9 of the time on a Zen 3
// processor. Shorter lines are no faster by a copy, and longer ones do not fit near the
// core together with it. Measured in November 2026.
static bool is_spread(const struct cpu_line *line, int64_t real_bytes)
{
    enum { FAR_APART = 512, LEAST_BYTES = 8192, MOST_BYTES = 256 << 10 };
    return line->kernels->lanes * real_bytes < CPU_LINE_BYTES &&
           line->m * 2 * real_bytes % FAR_APART == 0 && line->line_bytes >= LEAST_BYTES &&
           line->line_bytes <= MOST_BYTES;
}

// How many lines are staged at a time: as many as pairs of short ones hold, or one, or
// two that are worked at once. They are behind what steps put into the second tile and
// what is left from before, unless steps put nothing, or what is staged has gone by then:
// what is left then has its place at the end of the first tile.
static void find_stage(struct cpu_line *line)
{
    enum { SHORT_BYTES = 1024 };
    const int64_t bytes = line->width * line->line_bytes;

    line->staged_lines = line->line_bytes > SHORT_BYTES
                             ? line->width
                             : CPU_STAGED_BYTES / bytes * line->width;
    const bool has_room =
        line->columns->pass->step_count == 1 || line->staged_lines == line->width;
    line->staged_at = has_room ? 0 : bytes + CPU_LINE_BYTES;
}

// `base` at the highest level that has all for so many lines at once; NULL if none has.
static kallima_status find_width(struct cpu_line **out, struct cpu_program *program,
                                 const struct cpu_line *base, int width)
{
    const struct cpu_device *device = kal_cpu_device_of(program);
    void *memory;

    *out = NULL;
    KAL_TRY(kal_arena_take(&program->arena, &memory, 1, sizeof **out));
    struct cpu_line *line = memory;
    *line = *base;
    line->width = width;
    line->alone = line;
    for (int i = device->level_count - 1; i >= 0; i--) {
        if (fits_level(line, device->kernels[program->is_f64][i], program->real_bytes)) {
            *out = line;
            line->is_spread = is_spread(line, program->real_bytes);
            find_stage(line);
            return kal_cpu_line_tables_build(program, line);
        }
    }
    return KALLIMA_OK;
}

// Has each line a neighbour that lies behind it on both sides?
static bool has_twins(const struct cpu_line *line)
{
    return line->in == CPU_INTERLEAVED && line->out == CPU_INTERLEAVED &&
           line->loop >= 0 && line->in_step > 0 && line->out_step > 0;
}

kallima_status kal_cpu_line_find(struct cpu_line **out, struct cpu_program *program,
                                 const struct kal_phase *phase, struct cpu_pass *columns)
{
    const struct cpu_device *device = kal_cpu_device_of(program);
    struct cpu_pass *rows = columns + 1;
    struct cpu_line *twins;

    *out = NULL;
    if (!kal_pass_get_parameter(columns->pass, KAL_PARAMETER_LINE, 1) ||
        phase->lanes_are_lines || !are_one_line(columns->pass, rows->pass))
        return KALLIMA_OK;
    const int radix = rows->pass->step[0].radix, loop = find_loop(columns->pass);
    const struct cpu_line base = {
        .columns = columns,
        .rows = rows,
        .scale = columns->pass->scale * rows->pass->scale,
        .radix = radix,
        .m = columns->pass->n,
        .in = unit_of(&columns->pass->in) == 2 ? CPU_INTERLEAVED : CPU_PLANAR,
        .out = unit_of(&rows->pass->out) == 2 ? CPU_INTERLEAVED : CPU_PLANAR,
        .line_bytes = columns->pass->n * radix * 2 * program->real_bytes,
        .loop = loop,
        .round = loop < 0 ? 1 : columns->pass->loops[loop].count,
        .in_step = kal_cpu_step_find(columns, loop).in,
        .out_step = kal_cpu_step_find(rows, loop).out,
        .leaves_caches =
            rows->pass->out.imag == 1 && kal_cpu_leaves_caches(program, rows->pass),
        .is_streamed =
            rows->pass->out.imag == 1 && kal_cpu_is_streamed(program, rows->pass),
        .streams_planes = kal_cpu_streams_planes(program, rows->pass),
        .ends_inside = device->is_zen,
        .folds = !device->is_zen,
        .asks_nearest = program->asks_nearest,
    };
    KAL_TRY(find_width(out, program, &base, 1));
    program->streams = program->streams || (*out && base.streams_planes);
    if (!*out || !has_twins(&base))
        return KALLIMA_OK;
    KAL_TRY(find_width(&twins, program, &base, 2));
    if (twins) {
        twins->alone = *out;
        *out = twins;
    }
    return KALLIMA_OK;
}

uint64_t kal_cpu_line_tile_bytes(const struct cpu_line *line)
{
    const int64_t bytes = line->width * line->line_bytes;
    const int64_t staged = line->staged_at + line->staged_lines * line->line_bytes;
    return (uint64_t)(line->is_streamed ? kal_max(bytes, staged) + CPU_LINE_BYTES
                                        : bytes);
}

static int64_t lines_of_chunk_line(const struct cpu_line *line)
{
    return line->columns->inner / line->radix;
}

int64_t kal_cpu_line_count(const struct cpu_line *line, const struct cpu_chunk *chunk)
{
    return chunk->lines * lines_of_chunk_line(line);
}

bool kal_cpu_line_is_divided(const struct cpu_line *lines)
{
    const struct cpu_line *line = lines->alone;
    return line->in == CPU_INTERLEAVED && line->columns->pass->step_count > 1;
}

bool kal_cpu_line_is_shared(const struct cpu_line *line)
{
    return (line->alone->tiles > 1 || kal_cpu_line_is_divided(line)) &&
           line->columns->pass->in.buffer != KAL_BUFFER_CHUNK;
}
