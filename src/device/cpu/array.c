// SPDX-License-Identifier: MIT
#include "device/cpu/array.h"

#include "device/cpu/line.h"
#include "device/cpu/nested.h"
#include "device/cpu/short.h"

#include <math.h>

enum { PAIR = 2 };  // reals of a number
enum { LOOPS = 3 }; // of the lines of a pass, at most

// One side of a pass: reals between elements, and from line to line on its loops, the
// innermost first; and in all.
struct side {
    int64_t stride, step[LOOPS], reals;
};

// The lines of a pass: neighbours, groups of these, and such groups again.
struct lines {
    int64_t count[LOOPS];
    struct side in, out;
};

// Parts of scratch that lie in planes are put together here: how many times as far apart
// numbers are.
static int64_t stride_scale(const struct kal_side *side)
{
    return side->is_real || side->imag == 1 ? 1 : PAIR;
}

static void put_together(struct kal_side *side)
{
    side->stride *= stride_scale(side);
    side->imag = 1;
}

// Tiles begin with their first number, so that nothing may go down.
static bool set_side(struct side *out, const struct kal_side *side, int64_t n,
                     const struct lines *lines)
{
    bool goes_up = side->stride >= 0;

    out->stride = stride_scale(side) * side->stride;
    out->reals = (kal_min(n, side->count) - 1) * out->stride + (side->is_real ? 1 : PAIR);
    for (int i = 0; i < LOOPS; i++) {
        goes_up = goes_up && out->step[i] >= 0;
        out->step[i] *= stride_scale(side);
        out->reals += (lines->count[i] - 1) * out->step[i];
    }
    return goes_up;
}

// Does a pass have few loops, none of the stage, and no twiddle?
static bool find_lines(struct lines *lines, const struct cpu_pass *pass)
{
    const struct kal_pass *p = pass->pass;
    const struct cpu_loops *loops = &pass->inner_loops;

    *lines = (struct lines){ .count = { 1, 1, 1 } };
    if (pass->stage_loops.count > 0 || loops->count > LOOPS || p->out.twiddle_n)
        return false;
    for (int i = 0; i < loops->count; i++) {
        const struct cpu_loop *loop = &loops->loop[loops->count - 1 - i];
        lines->count[i] = loop->count;
        lines->in.step[i] = loop->in;
        lines->out.step[i] = loop->out;
    }
    return set_side(&lines->in, &p->in, p->n, lines) &&
           set_side(&lines->out, &p->out, p->n, lines);
}

// The loops over groups of lines, in bytes.
static void set_groups(struct cpu_axis *axis, const struct side *in,
                       const struct side *out, const struct lines *lines,
                       int64_t real_bytes)
{
    axis->groups = lines->count[1];
    axis->in_group = in->step[1] * real_bytes;
    axis->out_group = out->step[1] * real_bytes;
    axis->times = lines->count[2];
    axis->in_time = in->step[2] * real_bytes;
    axis->out_time = out->step[2] * real_bytes;
}

// The kernels for `count` lines that are neighbours whose registers cost least; NULL:
// none has so few.
static const struct cpu_kernels *find_kernels(const struct cpu_program *program,
                                              int64_t count, int radix)
{
    const struct cpu_device *device = kal_cpu_device_of(program);
    const struct cpu_kernels *best = NULL;
    double least = INFINITY;

    for (int i = 0; i < device->level_count; i++) {
        const struct cpu_kernels *k = device->kernels[program->is_f64][i];
        if (!k->groups || !k->groups->beside[radix] || count < k->groups->numbers)
            continue;
        const double cost = kal_cpu_group_cost(program, k, count);
        if (cost <= least) {
            least = cost;
            best = k;
        }
    }
    return best;
}

static bool are_numbers(const struct kal_pass *p)
{
    return kal_cpu_steps_are_plain(p) && kal_cpu_side_is_plain(&p->in, p->n) &&
           kal_cpu_side_is_plain(&p->out, p->n) && p->in.is_swapped == p->out.is_swapped;
}

// A step of lines beside each other.
static bool add_beside(struct cpu_array *array, const struct cpu_program *program,
                       const struct cpu_pass *pass, const struct lines *lines, int step)
{
    const struct kal_step *s = &pass->pass->step[step];
    const struct cpu_kernels *k = find_kernels(program, lines->count[0], s->radix);
    const struct side *in = step == 0 ? &lines->in : &lines->out, *out = &lines->out;

    if (!k || lines->in.step[0] != PAIR || lines->out.step[0] != PAIR)
        return false;
    struct cpu_axis *axis = &array->axis[array->axis_count++];
    *axis = (struct cpu_axis){
        .beside = k->groups->beside[s->radix],
        .table = pass->step[step].table,
        .m = s->m,
        .s = s->s,
        .lines = lines->count[0],
        .numbers = k->groups->numbers,
        .in_stride = in->stride,
        .out_stride = out->stride,
        .is_swapped = pass->pass->in.is_swapped,
    };
    set_groups(axis, in, out, lines, program->real_bytes);
    return true;
}

// Rows one behind the other. What scales is done at the end.
static bool add_rows(struct cpu_array *array, const struct cpu_program *program,
                     const struct cpu_pass *pass, const struct lines *lines)
{
    struct cpu_axis *axis = &array->axis[array->axis_count];
    struct kal_pass rows = *pass->pass;

    rows.scale = 1.0;
    put_together(&rows.in);
    put_together(&rows.out);

    *axis = (struct cpu_axis){
        .in_stride = lines->in.step[0],
        .out_stride = lines->out.step[0],
        .is_swapped = pass->pass->in.is_swapped,
    };
    if (!kal_cpu_rows_are_found(&axis->rows, program, &rows, lines->count[0],
                                axis->in_stride, axis->out_stride))
        return false;
    set_groups(axis, &lines->in, &lines->out, lines, program->real_bytes);
    array->axis_count++;
    return true;
}

// Does a pass work the rows of an array, where both sides have them without gaps? Odd
// reals take numbers by an index.
static bool are_rows(const struct kal_problem *p, const struct kal_pass *pass,
                     const struct lines *lines)
{
    const int64_t n = p->n[p->rank - 1];
    const bool is_real = p->kind != KALLIMA_C2C;
    return p->rank > 1 && lines->in.stride == PAIR && lines->out.stride == PAIR &&
           (is_real ? n % 2 == 0 && pass->n == n / 2 + 1
                    : pass->n == n && are_numbers(pass));
}

// Complex arrays that the nearest cache holds, but not with two tiles and the input.
// Measured in November 2026 on a Xeon with 48 KiB of it: 42 batches and arrays of 8 to 50
// KB take 0.78 to 1.03 of the time in place, 0.89 as a mean, 14 of less 0.96 to 1.07, 44
// of 64 to 512 KB 0.86 to 1.13. AMD's processors were not measured.
static bool fits_nearest(const struct cpu_program *program)
{
    enum { LEAST_BYTES = 8 << 10, MOST_BYTES = 50 << 10 };
    const struct cpu_device *device = kal_cpu_device_of(program);
    const struct kal_problem *p = program->program->problem;
    const double bytes =
        kal_problem_points(p) / (double)p->batch * 2 * program->real_bytes; // of one

    return !device->is_zen && p->kind == KALLIMA_C2C && bytes >= LEAST_BYTES &&
           bytes <= MOST_BYTES;
}

static kallima_status add_single_rows(struct cpu_array *array,
                                      struct cpu_program *program,
                                      const struct cpu_pass *pass,
                                      const struct lines *lines, bool *is_added)
{
    const struct kal_problem *p = program->program->problem;

    *is_added = false;
    if (array->row || !are_rows(p, pass->pass, lines) || !program->program->rows_in_turn)
        return KALLIMA_OK;
    KAL_TRY(kal_cpu_nested_line(
        &array->row, program, p->rank - 1,
        fits_nearest(program) ? KALLIMA_IN_PLACE : KALLIMA_OUT_OF_PLACE, 1.0));
    if (!array->row)
        return KALLIMA_OK;
    struct cpu_axis *axis = &array->axis[array->axis_count++];
    *axis = (struct cpu_axis){
        .row = array->row,
        .lines = lines->count[0],
        .in_stride = lines->in.step[0],
        .out_stride = lines->out.step[0],
    };
    set_groups(axis, &lines->in, &lines->out, lines, program->real_bytes);
    *is_added = true;
    return KALLIMA_OK;
}

// Columns that lie between each other's elements.
static bool are_columns(const struct kal_problem *p, const struct kal_pass *pass,
                        const struct lines *lines)
{
    const int64_t apart = PAIR * lines->count[0];
    const int64_t count = p->kind == KALLIMA_C2C ? p->n[1] : p->n[1] / 2 + 1;
    return pass->n == p->n[0] && lines->count[0] == count && are_numbers(pass) &&
           lines->in.step[0] == PAIR && lines->out.step[0] == PAIR &&
           lines->in.stride == apart && lines->out.stride == apart;
}

// A few columns, by way of copies.
static kallima_status add_single_columns(struct cpu_array *array,
                                         struct cpu_program *program,
                                         const struct cpu_pass *pass,
                                         const struct lines *lines, bool *is_added)
{
    *is_added = false;
    if (array->column || !program->program->columns_in_turn ||
        !are_columns(program->program->problem, pass->pass, lines))
        return KALLIMA_OK;
    KAL_TRY(kal_cpu_nested_line(&array->column, program, 0, KALLIMA_IN_PLACE, 1.0));
    if (!array->column)
        return KALLIMA_OK;
    const struct cpu_copy_kernels *copies = pass->widest->copies;
    struct cpu_axis *axis = &array->axis[array->axis_count++];
    *axis = (struct cpu_axis){
        .row = array->column,
        .part = copies->part[PAIR][lines->count[0]],
        .join = copies->join[PAIR][lines->count[0]],
        .m = pass->pass->n,
        .lines = lines->count[0],
        .in_stride = PAIR,
        .out_stride = PAIR,
    };
    set_groups(axis, &lines->in, &lines->out, lines, program->real_bytes);
    *is_added = true;
    return KALLIMA_OK;
}

// Reals of the output of a pass, without gaps.
static int64_t packed_reals(const struct kal_pass *p, const struct lines *lines)
{
    return kal_min(p->n, p->out.count) * lines->count[0] * lines->count[1] *
           lines->count[2] * (p->out.is_real ? 1 : PAIR);
}

// Is the output nearly without gaps, as tiles are like it, or quite, if it is scaled as a whole?
static bool is_dense(const struct kal_pass *p, const struct lines *lines)
{
    const int64_t packed = packed_reals(p, lines);
    return p->scale == 1.0 ? lines->out.reals <= 2 * packed : lines->out.reals == packed;
}

static bool are_beside(struct cpu_array *array, const struct cpu_program *program,
                       const struct cpu_pass *pass, const struct lines *lines)
{
    const int axis_count = array->axis_count;
    bool are_found = are_numbers(pass->pass);

    for (int i = 0; i < pass->pass->step_count && are_found; i++)
        are_found = add_beside(array, program, pass, lines, i);
    if (!are_found)
        array->axis_count = axis_count;
    return are_found;
}

static kallima_status add_pass(struct cpu_array *array, struct cpu_program *program,
                               const struct cpu_pass *pass, int64_t *most_reals,
                               bool *is_added)
{
    struct lines lines;

    *is_added = false;
    if (!find_lines(&lines, pass) ||
        array->axis_count + pass->pass->step_count > CPU_MAX_AXES ||
        !is_dense(pass->pass, &lines))
        return KALLIMA_OK;
    *most_reals = kal_max(*most_reals, lines.out.reals);
    array->out_reals = lines.out.reals;
    KAL_TRY(add_single_columns(array, program, pass, &lines, is_added));
    if (*is_added)
        return KALLIMA_OK;
    *is_added = add_rows(array, program, pass, &lines) ||
                are_beside(array, program, pass, &lines);
    return *is_added ? KALLIMA_OK
                     : add_single_rows(array, program, pass, &lines, is_added);
}

// Is one array alone too small for several threads?
static bool is_small(const struct cpu_program *program)
{
    enum { SHARED_BYTES = 256 << 10 }; // that all passes read
    double bytes = 0.0;
    for (int i = 0; i < program->program->pass_count; i++)
        bytes += program->pass[i].bytes;
    return bytes < SHARED_BYTES * (double)program->program->phase[0].lines;
}

// Do the last two of several axes have so few points that tiles of them take longer than
// all else? In tiles 120 arrays of that kind take 1.1 to 3.9 times as long on one thread of
// a Xeon, 0.6 to 4 on two and four, and 0.6 to 6 on sixteen.
static bool has_tiny_planes(const struct kal_problem *p)
{
    enum { OF_VOLUMES = 32, OF_MORE = 150 };
    return p->rank > 2 &&
           p->n[p->rank - 2] * p->n[p->rank - 1] <= (p->rank == 3 ? OF_VOLUMES : OF_MORE);
}

// Small ones of which the first of several axes has several steps: all other axes are
// lines of these that are beside each other. Measured in December 2026 on Xeons, 37 arrays
// of 5760 to 46656 points: of up to so many these take 0.34 to 0.91 of the time of tiles on
// one thread, 0.35 to 0.82 on two, 0.56 to 1.35 on four and 0.40 to 1.1 on 16; others
// 0.66 to 1.2 on one, and up to 3.1 on 16.
static bool has_columns_in_steps(const struct cpu_program *program)
{
    enum { MOST_F32 = 13000, MOST_F64 = 10000 };
    const struct kal_problem *p = program->program->problem;
    const double points = kal_problem_points(p) / (double)p->batch;
    const int64_t apart = PAIR * p->out.stride[0];

    if (p->rank < 3 || points > (program->is_f64 ? MOST_F64 : MOST_F32))
        return false;
    for (int i = 0; i < program->program->pass_count; i++) {
        const struct kal_pass *pass = program->pass[i].pass;
        if (pass->out.stride == apart && pass->step_count > 1)
            return true;
    }
    return false;
}

// Complex arrays are faster in tiles of parts past the caches, where rows fill registers
// and columns are not short, and with long columns of a power of two that fill registers,
// whose numbers fall on few sets of a cache: 128x32 floats x 320 take 0.9 of the time,
// 1024x16 0.81, but 32x32 doubles x 640 1.5; on a Xeon 32x32x32 x 32 0.7, of doubles
// 0.65. Not where rows are worked one by one, which tiles would turn: 32x64 floats x 500
// take 0.61 of the time so on that, 8x32x64 x 64 0.67; nor in 4 to 6 MB, on others than
// AMD's processors, unless columns are long: there 32x32 floats take 0.82. So are a few
// large ones with axes of several steps and more than a few rows on several threads,
// which share out tiles of lines better than halves of all: 128x16x16 floats take 0.53 of
// the time on two. Measured on a Zen 4 processor in November 2026.
static bool is_faster_in_tiles(const struct cpu_program *program, bool are_small)
{
    enum { MANY_BYTES = 4000000, MORE_BYTES = 6000000 };
    enum { SEVERAL_F32 = 32, SEVERAL_F64 = 128 };
    enum { LONG = 512, PERIOD = 256, FEW_LINES = 16, SHARE = 4 };
    const struct cpu_device *device = kal_cpu_device_of(program);
    const double bytes =
        program->pass[0].bytes / (double)program->program->phase[0].lines; // of an array
    const int lanes = program->pass[0].widest->lanes;
    const bool are_few = !are_small && program->program->phase[0].lines < FEW_LINES &&
                         !program->program->rows_in_turn &&
                         !has_columns_in_steps(program);
    bool is_faster = false, is_complex = true, are_even = false;
    int64_t longest = 0; // column

    if (has_tiny_planes(program->program->problem))
        return false;
    for (int i = 0; i < program->program->pass_count; i++) {
        const struct cpu_pass *pass = &program->pass[i];
        const struct kal_pass *p = pass->pass;
        const bool are_rows = p->out.stride == PAIR;
        is_complex = is_complex && are_numbers(p);
        is_faster = is_faster || (are_few && p->step_count > 1) ||
                    (p->n >= LONG && p->n % PERIOD == 0 && !are_rows &&
                     p->out.stride % (PAIR * lanes) == 0);
        are_even = are_even ||
                   (are_rows && !program->program->rows_in_turn && p->n % lanes == 0);
        longest = are_rows ? longest : kal_max(longest, p->n);
    }
    const bool needs_long =
        program->is_f64 &&
        (device->is_zen || bytes <= (double)device->base.caps.near_bytes / SHARE);
    const int several = needs_long ? SEVERAL_F64 : SEVERAL_F32;
    const double many =
        device->is_zen || longest >= SEVERAL_F64 ? MANY_BYTES : MORE_BYTES;
    are_even = are_even && program->pass[0].bytes >= many;
    return is_complex && (is_faster || (are_even && longest >= several));
}

// Do the passes leave all that is scaled to the last one, and the registers to the engine?
static bool are_free(const struct kal_program *source)
{
    for (int i = 0; i < source->pass_count; i++) {
        const struct kal_pass *p = source->pass[i];
        if ((p->scale != 1.0 && i + 1 < source->pass_count) ||
            kal_pass_get_parameter(p, KAL_PARAMETER_LANES, 0))
            return false;
    }
    return true;
}

static bool is_array(const struct cpu_program *program)
{
    const struct kal_program *source = program->program;
    const struct kal_phase *phase = &source->phase[0];
    const struct kal_pass *first = source->pass[0],
                          *last = source->pass[source->pass_count - 1];

    return source->pass_count > 1 && source->phase_count == 1 && phase->chunk == 1 &&
           !phase->lanes_are_lines && program->pass[0].line_loops.count <= 1 &&
           first->in.buffer == KAL_BUFFER_IN && last->out.buffer == KAL_BUFFER_OUT &&
           stride_scale(&first->in) == 1 && stride_scale(&last->out) == 1 &&
           are_free(source);
}

static int64_t count_calls(const struct cpu_axis *axis)
{
    return axis->times * axis->groups * (axis->beside ? 1 : axis->rows.part_count);
}

// One group of an axis, whose lines begin `in` and `out` bytes from where those of the axis do.
static void add_group(struct cpu_array *array, const struct cpu_axis *axis,
                      struct cpu_array_call call, int64_t in, int64_t out)
{
    for (int i = 0; i < (axis->beside ? 1 : axis->rows.part_count); i++) {
        const struct cpu_part *part = &axis->rows.part[i];
        call.in = in + (axis->beside ? 0 : part->in);
        call.out = out + (axis->beside ? 0 : part->out);
        call.rows = axis->beside ? NULL : part->run;
        call.lines = axis->beside ? axis->lines : part->count;
        array->call[array->call_count++] = call;
    }
}

// Where a step's output is.
static enum cpu_array_place place_of(const struct cpu_array *array, int step)
{
    if (array->is_in_place || step + 1 == array->axis_count)
        return CPU_ARRAY_OUT;
    return step % 2 == 0 ? CPU_ARRAY_TILE : CPU_ARRAY_OTHER_TILE;
}

static void add_axis_calls(struct cpu_array *array, int number)
{
    const struct cpu_axis *axis = &array->axis[number];
    const struct cpu_array_call call = {
        .beside = axis->beside,
        .table = axis->table,
        .m = axis->m,
        .s = axis->s,
        .from = number == 0 ? CPU_ARRAY_IN : place_of(array, number - 1),
        .to = place_of(array, number),
        .in_stride = axis->in_stride,
        .out_stride = axis->out_stride,
    };
    for (int64_t t = 0; t < axis->times; t++) {
        for (int64_t g = 0; g < axis->groups; g++)
            add_group(array, axis, call, t * axis->in_time + g * axis->in_group,
                      t * axis->out_time + g * axis->out_group);
    }
}

// Of a few points the loops over axes, groups and parts take as long as what is called in
// them: 2x4 floats take 28 ns with these, 24 without.
static kallima_status add_calls(struct cpu_array *array, struct cpu_program *program)
{
    enum { MOST_CALLS = 24 };
    const int64_t part_bytes = program->real_bytes;
    const bool is_swapped = array->axis[0].is_swapped;
    int64_t count = 0;
    void *memory;

    for (int i = 0; i < array->axis_count; i++) {
        if (array->axis[i].row || array->axis[i].joins_next ||
            array->axis[i].is_swapped != is_swapped)
            return KALLIMA_OK;
        count += count_calls(&array->axis[i]);
    }
    if (count > MOST_CALLS)
        return KALLIMA_OK;
    KAL_TRY(
        kal_arena_take(&program->arena, &memory, (uint64_t)count, sizeof *array->call));
    array->call = memory;
    array->re = is_swapped ? part_bytes : 0;
    array->im = is_swapped ? 0 : part_bytes;
    for (int i = 0; i < array->axis_count; i++)
        add_axis_calls(array, i);
    return KALLIMA_OK;
}

// Do the elements of a group lie before the next group?
static bool are_groups_apart(const struct cpu_axis *axis, int64_t real_bytes)
{
    return axis->in_stride * real_bytes < axis->in_group &&
           axis->out_stride * real_bytes < axis->out_group;
}

// A step of one of `count` parts of an array, each of whole groups or rows, and the bytes
// from a part to the next one on both sides. Returns false if it has no such parts.
static bool find_block(struct cpu_axis *block, int64_t step[2],
                       const struct cpu_axis *axis, int64_t count, int64_t real_bytes)
{
    *block = *axis;
    if (axis->row || axis->times > 1)
        return false;
    if (axis->groups > 1 || axis->beside) {
        block->groups = axis->groups / count;
        step[0] = block->groups * axis->in_group;
        step[1] = block->groups * axis->out_group;
        return axis->groups % count == 0 && are_groups_apart(axis, real_bytes);
    }
    const struct cpu_part *rows = axis->rows.part;
    if (axis->rows.part_count > 1 || rows->lines % (count * rows->at_once) != 0)
        return false;
    const struct cpu_part next =
        kal_cpu_part_share(&axis->rows, 0, real_bytes, 1, 2, count);
    block->rows.part[0] = kal_cpu_part_share(&axis->rows, 0, real_bytes, 0, 1, count);
    step[0] = next.in - rows->in;
    step[1] = next.out - rows->out;
    return true;
}

// Steps from this one on that can be done part by part, as what one of them writes of a
// part is what the next one reads. Returns how many there are.
static int count_blocked(struct cpu_array_blocks *blocks, const struct cpu_array *array,
                         int first, int64_t count, int64_t real_bytes)
{
    int i = first;

    for (; i < array->axis_count; i++) {
        int64_t step[2];
        if (!find_block(&blocks->axis[i - first], step, &array->axis[i], count,
                        real_bytes) ||
            (i > first && step[0] != blocks->out_step))
            break;
        if (i == first)
            blocks->in_step = step[0];
        blocks->out_step = step[1];
    }
    return i - first;
}

static bool has_rows(const struct cpu_array *array, int first, int steps)
{
    for (int i = first; i < first + steps; i++) {
        if (array->axis[i].rows.part_count > 0)
            return true;
    }
    return false;
}

// Planes of an array, by rows and the steps before them, at its end, or by its first two:
// what is between these stays in the nearest cache, and both caches have to hold less.
// Measured in November 2026 on two Xeons with 1.25 and 2 MiB of L2: 32x32x32 doubles take
// 0.75 and 0.86 of the time, floats 0.9, real ones 0.85 to 0.97, batches of 8 MB 0.84 to
// 1.01; of 128 KB and less 0.92 to 1.06, and steps of one axis by themselves up to 1.07.
static kallima_status find_blocks(struct cpu_array *array, struct cpu_program *program)
{
    enum { LEAST_BYTES = 128 << 10, BLOCK_BYTES = 32 << 10 };
    const int64_t real_bytes = program->real_bytes;
    void *memory;

    if (array->tile_bytes <= LEAST_BYTES || array->column)
        return KALLIMA_OK;
    KAL_TRY(kal_arena_take(&program->arena, &memory, CPU_MAX_AXES,
                           sizeof *array->blocks.axis));
    struct cpu_array_blocks blocks = { .axis = memory };
    for (int first = 0; first + 1 < array->axis_count; first++) {
        const int64_t least = (array->tile_bytes + BLOCK_BYTES - 1) / BLOCK_BYTES;
        for (int64_t count = least; count <= 4 * least; count++) {
            const int steps = count_blocked(&blocks, array, first, count, real_bytes);
            const bool are_last = first + steps == array->axis_count;
            if (steps < 2 || (steps > 2 && !are_last) || !has_rows(array, first, steps))
                continue;
            blocks.count = count;
            blocks.first = first;
            blocks.end = first + steps;
            array->blocks = blocks;
            return KALLIMA_OK;
        }
    }
    return KALLIMA_OK;
}

// Does a step read what it writes before it does, and nothing of that twice?
static bool can_be_in_place(const struct cpu_axis *axis)
{
    if (axis->part)
        return false;
    return !axis->beside || axis->joins_next ||
           (axis->m == 1 && axis->lines % axis->numbers == 0);
}

static bool are_sides_equal(const struct cpu_axis *axis)
{
    return axis->in_stride == axis->out_stride && axis->in_group == axis->out_group &&
           axis->in_time == axis->out_time;
}

static bool is_in_place(const struct cpu_array *array, const struct cpu_program *program)
{
    if (!fits_nearest(program))
        return false;
    for (int i = 0; i < array->axis_count; i++) {
        if (!can_be_in_place(&array->axis[i]) ||
            (i > 0 && !are_sides_equal(&array->axis[i])))
            return false;
    }
    return true;
}

// Two steps of an axis whose lines fill registers, where what is between them would not
// stay in the nearest cache.
static void join_steps(struct cpu_array *array)
{
    enum { LEAST_BYTES = 8 << 10 };

    for (int i = 0; i + 1 < array->axis_count; i++) {
        struct cpu_axis *axis = &array->axis[i];
        const struct cpu_axis *next = axis + 1;
        const bool are_blocked = i + 1 >= array->blocks.first && i < array->blocks.end;
        axis->joins_next = array->tile_bytes >= LEAST_BYTES && !are_blocked &&
                           axis->beside && axis->m > 1 && axis->s == 1 && next->beside &&
                           next->m == 1 && axis->numbers == next->numbers &&
                           axis->lines % axis->numbers == 0;
    }
}

static void find_places(struct cpu_array *array, const struct cpu_program *program)
{
    join_steps(array);
    array->is_in_place = is_in_place(array, program);
    for (int i = 0; i < array->axis_count; i++)
        array->axis[i].is_in_place = array->is_in_place;
}

// Several threads would write the same lines of the caches. Those that compete for them
// begin on others.
static void make_room_for_columns(struct cpu_array *array,
                                  const struct cpu_program *program)
{
    const struct kal_problem *p = program->program->problem;
    const int64_t columns = p->kind == KALLIMA_C2C ? p->n[1] : p->n[1] / 2 + 1;
    const int64_t bytes = p->n[0] * PAIR * program->real_bytes;

    array->column_at = kal_round_up(array->tile_bytes, CPU_LINE_BYTES);
    array->column_bytes = kal_round_up(bytes, 2 * CPU_LINE_BYTES) + CPU_LINE_BYTES;
    array->tile_bytes = array->column_at + columns * array->column_bytes;
    array->is_small = true;
}

// A function for all of a plane, by the widest registers that have one; NULL: none has.
static cpu_beside *find_plane(const struct cpu_program *program,
                              const struct kal_problem *p)
{
    const struct cpu_device *device = kal_cpu_device_of(program);

    for (int i = device->level_count - 1; i >= 0; i--) {
        const struct cpu_kernels *k = device->kernels[program->is_f64][i];
        if (!k->planes)
            continue;
        const struct cpu_plane *const of_kind[] = {
            [KALLIMA_C2C] = k->planes->c2c,
            [KALLIMA_R2C] = k->planes->r2c,
            [KALLIMA_C2R] = k->planes->c2r,
        };
        for (const struct cpu_plane *plane = of_kind[p->kind]; plane->rows; plane++) {
            if (plane->rows == p->n[0] && plane->columns == p->n[1])
                return plane->run;
        }
    }
    return NULL;
}

// Do the rows of one side of a plane follow on each other, those of reals with gaps or without?
static bool has_plain_rows(const struct kal_array *array)
{
    enum { PLANE = 2 };
    return kal_array_is_contiguous(array, PLANE) &&
           (array->is_real ? array->stride[0] >= array->n[1]
                           : kal_array_follows_itself(array, PLANE));
}

// Both axes of planes as one step, where each is one codelet.
static void join_axes(struct cpu_array *array, const struct cpu_program *program)
{
    const struct kal_problem *p = program->program->problem;
    const int64_t real_bytes = program->real_bytes;

    if (p->rank != 2 || array->axis_count != 2 || !has_plain_rows(&p->in) ||
        !has_plain_rows(&p->out))
        return;
    cpu_beside *run = find_plane(program, p);
    if (!run)
        return;
    array->axis_count = 1;
    array->axis[0] = (struct cpu_axis){
        .beside = run,
        .lines = 1,
        .groups = p->batch / program->program->phase[0].lines,
        .in_group = p->in.batch_stride * kal_array_reals(&p->in) * real_bytes,
        .out_group = p->out.batch_stride * kal_array_reals(&p->out) * real_bytes,
        .times = 1,
        .in_stride = p->in.stride[0],
        .out_stride = p->out.stride[0],
        .is_swapped = p->kind == KALLIMA_C2C && array->axis[0].is_swapped,
    };
}

kallima_status kal_cpu_array_find(struct cpu_program *program)
{
    struct cpu_array *array = &program->array;
    int64_t reals = 0;
    void *memory;

    *array = (struct cpu_array){ .is_small = is_small(program) };
    if (!is_array(program) || is_faster_in_tiles(program, array->is_small))
        return KALLIMA_OK;
    KAL_TRY(kal_arena_take(&program->arena, &memory, CPU_MAX_AXES, sizeof *array->axis));
    array->axis = memory;
    for (int i = 0; i < program->program->pass_count; i++) {
        bool is_added;
        KAL_TRY(add_pass(array, program, &program->pass[i], &reals, &is_added));
        if (!is_added) {
            array->axis_count = 0;
            return KALLIMA_OK;
        }
    }
    array->tile_bytes = reals * program->real_bytes;
    join_axes(array, program);
    if (array->column)
        make_room_for_columns(array, program);
    KAL_TRY(find_blocks(array, program));
    find_places(array, program);
    return add_calls(array, program);
}

// Columns of the last step that are rows of whole lines of the caches, and so many that a
// copy of some is less than half an array. Measured in November 2026 on Xeons with 1.25
// and 2 MiB of L2, one thread: arrays of 22 to 256 KB in 8 to 33 MB take 0.74 to 0.95 and
// 0.82 to 1.01 of the time of a copy of all, 32x32x32 floats 0.74 to 0.89 and 0.82; of
// less, 16 bytes behind a line, 1.0 to 1.6; twice as large ones 1.07 to 1.17. An AMD
// processor was not measured.
void kal_cpu_array_leaving_find(struct cpu_program *program)
{
    enum { LEAST_BYTES = 20 << 10, FEWEST_LINES = 80 };
    const struct cpu_device *device = kal_cpu_device_of(program);
    struct cpu_array *array = &program->array;
    const struct cpu_axis *axis = &array->axis[array->axis_count - 1];
    const int64_t row_bytes = axis->out_stride * program->real_bytes;
    const int64_t rows = program->pass[program->program->pass_count - 1].pass->n;

    if (device->is_zen || !axis->beside || axis->groups * axis->times > 1 ||
        axis->lines < FEWEST_LINES || axis->out_stride != PAIR * axis->lines ||
        row_bytes % CPU_LINE_BYTES != 0 || rows * row_bytes < LEAST_BYTES ||
        array->blocks.end == array->axis_count)
        return;
    array->leaving_rows = rows;
}
