// SPDX-License-Identifier: MIT
// rank: the axes one after another, on one small array at a time or on everything at once.
#include <stdlib.h>
#include <string.h>

#include "factor/together.h"
#include "math/number.h"
#include "pass/tile.h"

// An array of the problem, or scratch in the shape of its complex half spectrum.
struct volume {
    struct kal_side side; // stride unset
    int64_t stride[KALLIMA_MAX_RANK];
    int64_t row; // its elements, pairs of reals where it has these,
    int64_t gap; // and how many there are behind it
    int64_t channel_stride, group_stride; // from array to array, of those loops
    int64_t loop_stride[KAL_MAX_LOOPS];   // of the loops of the batch
};

static struct volume user_volume(const struct kal_lowering *lo,
                                 const struct kal_array *array,
                                 const struct kal_side *side,
                                 const struct kal_lines *lines, bool is_in)
{
    const int64_t unit = kal_array_reals(array);
    const int64_t *stride = array->stride, pair = array->is_real ? 2 : 1;
    const int last = lo->problem->rank - 1;
    struct volume v = { .side = *side, .row = array->n[last] / pair };
    for (int i = 0; i <= last; i++)
        v.stride[i] = stride[i] * unit;
    v.channel_stride = v.group_stride = array->batch_stride * unit;
    if (last > 0 && stride[last] != 0)
        v.gap = stride[last - 1] / (stride[last] * pair) - v.row;
    for (int i = 0; i < KAL_MAX_LOOPS; i++)
        v.loop_stride[i] = is_in ? lines->loops[i].in : lines->loops[i].out;
    return v;
}

// The complex lengths of the array that all axes but a real one work on.
static int64_t other_length(const struct kal_problem *p, int axis)
{
    return p->kind == KALLIMA_R2C ? p->out.n[axis] : p->in.n[axis];
}

// Scratch in the shape of the complex array, of the axes from `first` on. Parts that the
// array's sides exchange are exchanged there, too, where a CPU has both in one piece:
// then no pass has to.
static kallima_status scratch_volume(struct kal_lowering *lo,
                                     const struct kal_lines *lines, int first,
                                     bool are_pairs, struct volume *v)
{
    const struct kal_problem *p = lo->problem;
    int64_t pitch[KALLIMA_MAX_RANK], elements = lo->channels;

    for (int i = p->rank - 1; i >= first; i--) {
        pitch[i] = elements;
        elements = kal_scratch_pitch(lo, elements * other_length(p, i), are_pairs);
    }
    KAL_TRY((are_pairs ? kal_scratch_take_pairs : kal_scratch_take)(
        lo, lines, elements * lo->grouped, &v->side, v->loop_stride));
    v->side.is_swapped = !lo->caps->language && p->kind == KALLIMA_C2C &&
                         lines->in.is_swapped && lines->out.is_swapped;
    for (int i = p->rank - 1; i >= first; i--)
        v->stride[i] = pitch[i] * v->side.stride;
    v->channel_stride = v->side.stride;
    v->group_stride = elements * v->side.stride;
    v->row = other_length(p, p->rank - 1);
    v->gap = 0;
    return KALLIMA_OK;
}

// Add loops over the axes begin .. end-1 but `axis`: largest output stride outermost.
static kallima_status loop_over(struct kal_lines *lines, const struct kal_problem *p,
                                const struct volume *in, const struct volume *out,
                                int begin, int end, int axis)
{
    bool done[KALLIMA_MAX_RANK] = { false };
    const int count = end - begin - (axis >= begin && axis < end);

    for (int step = 0; step < count; step++) {
        int widest = -1;
        for (int i = begin; i < end; i++) {
            if (i != axis && !done[i] &&
                (widest < 0 || llabs(out->stride[i]) > llabs(out->stride[widest])))
                widest = i;
        }
        done[widest] = true;
        KAL_TRY(kal_lines_add_loop(lines, other_length(p, widest), in->stride[widest],
                                   out->stride[widest]));
    }
    return KALLIMA_OK;
}

// Neighbouring loops from `first` on whose lines lie as those of one loop become one:
// more of them fill tiles.
static void join_loops(struct kal_lines *lines, int first)
{
    for (int i = kal_lines_loop_count(lines) - 2; i >= first; i--) {
        struct kal_loop *outer = &lines->loops[i], *inner = outer + 1;
        if (outer->in != inner->count * inner->in ||
            outer->out != inner->count * inner->out)
            continue;
        inner->count *= outer->count;
        lines->inner_loops--;
        memmove(outer, inner, (size_t)(kal_lines_loop_count(lines) - i) * sizeof *outer);
    }
}

// Lines of arrays that lie between each other's elements are neighbours, and fill tiles with
// those of the last axis, or by themselves: what lies together is read and written once. On
// a short last axis rows of one array do, if there are few arrays. Measured in November
// 2026 on a Xeon, 2 to 8 arrays of 28 shapes from 12x10 to 1080x1920, 8 of them volumes: the
// former takes 0.30 to 0.88 of the time for three colours of 480x640 and more, 0.23 to 0.84
// for eight planes of 33x35 to 256x256, and where it is not taken 0.59 to 1.44. AMD's
// processors were not measured.
static bool are_rows_of_one(const struct kal_lowering *lo, int axis)
{
    enum { LONG = 64, FEW = 4, FEW_VOLUMES_F32 = 8 };
    const struct kal_problem *p = lo->problem;
    const bool are_f32_volumes = p->rank > 2 && p->precision == KALLIMA_F32;

    return axis == p->rank - 1 && p->n[axis] < LONG &&
           lo->channels < (are_f32_volumes ? FEW_VOLUMES_F32 : FEW);
}

static kallima_status loop_over_arrays(struct kal_lines *lines, int64_t count, int64_t in,
                                       int64_t out)
{
    return count > 1 ? kal_lines_add_loop(lines, count, in, out) : KALLIMA_OK;
}

// Transform `axis`, for all of the others from `first` on.
static kallima_status lower_axis(struct kal_lowering *lo, const struct kal_recipe *child,
                                 const struct kal_lines *batch, const struct volume *in,
                                 const struct volume *out, int axis, int first)
{
    const struct kal_problem *p = lo->problem;
    const int64_t outer = are_rows_of_one(lo, axis) ? lo->channels : 1;
    struct kal_lines lines = *batch;

    kal_lines_set_in(&lines, &in->side, in->loop_stride);
    kal_lines_set_out(&lines, &out->side, out->loop_stride);
    lines.in.stride = in->stride[axis];
    lines.out.stride = out->stride[axis];
    if (p->kind == KALLIMA_C2R && axis != p->rank - 1)
        lines.in.is_swapped = lines.out.is_swapped = true;
    KAL_TRY(loop_over_arrays(&lines, lo->grouped, in->group_stride, out->group_stride));
    KAL_TRY(loop_over_arrays(&lines, outer, in->channel_stride, out->channel_stride));
    KAL_TRY(loop_over(&lines, p, in, out, first, p->rank, axis));
    KAL_TRY(loop_over_arrays(&lines, lo->channels / outer, in->channel_stride,
                             out->channel_stride));
    if (!lo->caps->language)
        join_loops(&lines, kal_lines_loop_count(batch));
    return kal_lower(lo, child, &lines);
}

// One pass over the tile's axes, for all of the others from `first` on.
static kallima_status lower_tile(struct kal_lowering *lo, const struct kal_tile *t,
                                 const struct kal_lines *batch, const struct volume *in,
                                 const struct volume *out, int first)
{
    const struct kal_problem *p = lo->problem;
    const int last = p->rank - 1;
    struct kal_step steps[KAL_MAX_PASS_STEPS];
    struct kal_lines lines = *batch;

    kal_lines_set_in(&lines, &in->side, in->loop_stride);
    kal_lines_set_out(&lines, &out->side, out->loop_stride);
    lines.in.stride = in->stride[last];
    lines.out.stride = out->stride[last];
    lines.in.row = in->row;
    lines.in.gap = in->gap;
    lines.out.row = out->row;
    lines.out.gap = out->gap;
    KAL_TRY(loop_over(&lines, p, in, out, first, t->first, p->rank));
    const int count = kal_tile_steps(t, p, steps);
    if (p->kind == KALLIMA_C2C)
        return kal_pass_add(lo, &lines, t->points, steps, count);
    kal_view_as_complex(&lines, p->kind == KALLIMA_R2C)->count = t->points;
    return kal_pass_add(lo, &lines, t->points + t->points / t->axis[last]->n, steps,
                        count);
}

// The tile's axes, or the last one.
static kallima_status lower_last(struct kal_lowering *lo, const struct kal_recipe *node,
                                 const struct kal_tile *t, const struct kal_lines *lines,
                                 const struct volume *in, const struct volume *out,
                                 int first)
{
    const int last = t->rank - 1;
    return t->first < t->rank
               ? lower_tile(lo, t, lines, in, out, first)
               : lower_axis(lo, node->child[last], lines, in, out, last, first);
}

// Axes begin .. end-1 but the last one, within the output.
static kallima_status lower_within(struct kal_lowering *lo, const struct kal_recipe *node,
                                   const struct kal_lines *lines, int begin, int end,
                                   int first)
{
    const struct kal_problem *p = lo->problem;
    const struct volume out = user_volume(lo, &p->out, &lines->out, lines, false);

    for (int i = kal_min(end, p->rank - 1) - 1; i >= begin; i--) {
        if (p->n[i] > 1)
            KAL_TRY(lower_axis(lo, node->child[i], lines, &out, &out, i, first));
    }
    return KALLIMA_OK;
}

// Everything but C2R, axes from `first` on: the tile's, or the last one, from input to output, the
// others within the output.
static kallima_status lower_forward(struct kal_lowering *lo,
                                    const struct kal_recipe *node,
                                    const struct kal_tile *t,
                                    const struct kal_lines *lines, int first)
{
    const struct kal_problem *p = lo->problem;
    const struct volume in = user_volume(lo, &p->in, &lines->in, lines, true);
    const struct volume out = user_volume(lo, &p->out, &lines->out, lines, false);

    KAL_TRY(lower_last(lo, node, t, lines, &in, &out, first));
    return lower_within(lo, node, lines, first, t->first, first);
}

// The axes before `end`, the first one from `in` to `middle`, the others there.
static kallima_status lower_to_middle(struct kal_lowering *lo,
                                      const struct kal_recipe *node,
                                      const struct kal_lines *lines,
                                      const struct volume *in,
                                      const struct volume *middle, int end)
{
    for (int i = 0; i < end; i++)
        KAL_TRY(
            lower_axis(lo, node->child[i], lines, i == 0 ? in : middle, middle, i, 0));
    return KALLIMA_OK;
}

// C2R: the axes before `end` from the input to *middle, the input if that may be destroyed, else
// scratch. Without such axes it is the input.
static kallima_status lower_before(struct kal_lowering *lo, const struct kal_recipe *node,
                                   const struct kal_lines *lines, const struct volume *in,
                                   int end, struct volume *middle)
{
    const struct kal_problem *p = lo->problem;

    *middle = *in;
    if (end > 0 && !p->is_in_place && !p->may_destroy_input)
        KAL_TRY(scratch_volume(lo, lines, 0, lo->program->rows_alone, middle));
    return lower_to_middle(lo, node, lines, in, middle, end);
}

// C2R: the tile's axes, or the last one, behind the others.
static kallima_status lower_backward(struct kal_lowering *lo,
                                     const struct kal_recipe *node,
                                     const struct kal_tile *t,
                                     const struct kal_lines *lines)
{
    const struct kal_problem *p = lo->problem;
    const struct volume in = user_volume(lo, &p->in, &lines->in, lines, true);
    const struct volume out = user_volume(lo, &p->out, &lines->out, lines, false);
    struct volume middle;

    KAL_TRY(lower_before(lo, node, lines, &in, kal_min(t->first, p->rank - 1), &middle));
    return lower_last(lo, node, t, lines, &middle, &out, 0);
}

// Such an axis is a pass that only copies where scratch is on one side of it.
static bool has_axis_of_one(const struct kal_problem *p)
{
    for (int i = 0; i < p->rank; i++) {
        if (p->n[i] == 1)
            return true;
    }
    return false;
}

// Points of an array, or of all channels.
static int64_t count_points(const struct kal_lowering *lo, const struct kal_recipe *node)
{
    return node->n * lo->channels;
}

static double all_bytes(const struct kal_lowering *lo, const struct kal_recipe *node,
                        const struct kal_lines *lines)
{
    return (double)kal_line_count(lines) *
           (double)kal_line_bytes(lo, count_points(lo, node));
}

// A large cache that all cores share keeps what those near them lose: on sixteen threads
// of a Xeon with 300 MiB of it arrays take 1.0 to 1.3 times as long by their columns
// first as by their rows first, though on one thread 0.72 to 1.3. Of two axes whose
// columns fall into one set, those of 18 MB and more take 0.72 to 0.86 of the time on one
// thread, 0.86 to 0.95 on four, and 1.0 to 1.05 on sixteen.
static bool is_kept(const struct kal_lowering *lo, int64_t n, bool is_one_set)
{
    const double LARGE = 64e6, SHARE = 0.5, OF_ONE_SET = 17e6;
    const double bytes = (double)lo->caps->shared_bytes;
    const double most = is_one_set && lo->problem->rank == 2 ? OF_ONE_SET : SHARE * bytes;
    return bytes > LARGE && (double)kal_line_bytes(lo, n) < most;
}

// Do the rows of complex arrays of n elements fall into so few sets of the caches near a
// core of a CPU that columns, written where they were read, push each other out?
static bool meets_in_sets(const struct kal_lowering *lo, int64_t n)
{
    enum { LINE_BYTES = 64, SETS = 64, MOST = 1024 };
    const struct kal_problem *p = lo->problem;
    const int64_t unit = kal_array_reals(&p->out) * (p->precision == KALLIMA_F64 ? 8 : 4);
    const int last = p->rank - 1;

    if (lo->caps->language || p->kind != KALLIMA_C2C || p->in.stride[last] != 1 ||
        p->out.stride[last] != 1 || has_axis_of_one(p))
        return false;
    for (int i = 0; i < last; i++) {
        const int64_t bytes = llabs(p->out.stride[i]) * unit;
        const int64_t shared = kal_gcd(bytes, LINE_BYTES * SETS) / LINE_BYTES;
        if (bytes % LINE_BYTES == 0 && p->n[i] * shared > MOST)
            return !is_kept(lo, n, shared == SETS);
    }
    return false;
}

// Small arrays so many that they come from memory are read faster row by row, whatever
// becomes of their columns. `far_bytes` would depend on the number of threads: the order
// of the axes, and with it the bits of a result, shall not.
static bool begins_with_columns(const struct kal_lowering *lo,
                                const struct kal_recipe *node,
                                const struct kal_lines *lines)
{
    const double MANY_BYTES = 8e6;
    return meets_in_sets(lo, node->n) &&
           (!lo->phase_open || all_bytes(lo, node, lines) < MANY_BYTES);
}

static bool stays_near(const struct kal_lowering *lo, int64_t n)
{
    return n <= (int64_t)lo->caps->near_bytes &&
           2 * kal_line_bytes(lo, n) <= (int64_t)lo->caps->near_bytes;
}

// The first of the last axes that stay near a core together, two at least; 0: none do.
static int first_near(const struct kal_lowering *lo, const struct kal_recipe *node)
{
    int first = node->child_count;
    int64_t n = lo->channels;

    while (first > 0 && stays_near(lo, n * node->child[first - 1]->n))
        n *= node->child[--first]->n;
    return first <= node->child_count - 2 ? first : 0;
}

// Lines whose elements are arrays of the axes from `first` on.
static kallima_status divide(struct kal_lines *parts, const struct kal_problem *p,
                             const struct kal_lines *lines, const struct volume *in,
                             const struct volume *out, int first)
{
    *parts = *lines;
    kal_lines_set_in(parts, &in->side, in->loop_stride);
    kal_lines_set_out(parts, &out->side, out->loop_stride);
    return loop_over(parts, p, in, out, 0, first, first);
}

// The axes from `first` on in the cache near a core, part by part of the array; then the
// others on all of it.
static kallima_status lower_parts(struct kal_lowering *lo, const struct kal_recipe *node,
                                  const struct kal_tile *t, const struct kal_lines *lines,
                                  int first)
{
    const struct kal_problem *p = lo->problem;
    const struct volume in = user_volume(lo, &p->in, &lines->in, lines, true);
    const struct volume out = user_volume(lo, &p->out, &lines->out, lines, false);
    struct kal_lines parts, inside;

    KAL_TRY(divide(&parts, p, lines, &in, &out, first));
    KAL_TRY(kal_phase_begin(lo, &parts, 1, false, &inside));
    const kallima_status status = lower_forward(lo, node, t, &inside, first);
    kal_phase_end(lo);
    return status ? status : lower_within(lo, node, lines, 0, first, 0);
}

// The same array, of the loops that lines have now.
static struct volume inside_volume(const struct volume *v, const struct kal_lines *lines,
                                   bool is_in)
{
    struct volume inside = *v;
    for (int i = 0; i < KAL_MAX_LOOPS; i++)
        inside.loop_stride[i] = is_in ? lines->loops[i].in : lines->loops[i].out;
    return inside;
}

// Does a CPU work an axis from `first` on as whole numbers, by one codelet: lines beside
// each other where its registers have 32 bytes, rows of doubles or of more than one step
// in any case? The result's bits are those of numbers, then, and shall be the same
// without scratch, which threads may do.
static bool has_codelet(const struct kal_lowering *lo, const struct kal_recipe *node,
                        int first)
{
    const int last = node->child_count - 1;
    const struct kal_recipe *row = node->child[last];
    const bool is_f64 = lo->problem->precision == KALLIMA_F64;
    const bool are_narrow = kal_caps_holds_numbers(lo->caps);
    bool has = kal_recipe_is_of_numbers(row);

    if (!kal_caps_has_32_bytes(lo->caps))
        return false;
    if (!are_narrow)
        return has || (is_f64 && kal_recipe_is_codelet(row));
    for (int i = first; i <= last; i++)
        has = has || kal_recipe_is_codelet(node->child[i]);
    return has;
}

// Are the lines of the last axis, of a CPU, read or written as pairs on the other side,
// too? Those that fill half of the lanes are worked by twos then, and those of one
// codelet without a tile. So are rows that are worked alone on the way back, here and
// below: 225 such planes, of which some have none, take 0.93 of the time on a Xeon,
// measured in November 2026.
static bool takes_pairs(const struct kal_lowering *lo, const struct kal_recipe *node,
                        int first, bool is_backward)
{
    const struct kal_recipe *last = node->child[node->child_count - 1];
    bool are_long = true;

    if (has_codelet(lo, node, first) || (lo->program->rows_alone && is_backward))
        return true;
    if (lo->problem->precision != KALLIMA_F32)
        return false;
    // Columns of one codelet go from pairs past the caches by way of a tile, which others
    // take anyhow.
    for (int i = first; i < node->child_count - 1; i++)
        are_long = are_long && node->child[i]->radix_count != 1;
    if (last->rule == KAL_RULE_FOUR_STEP)
        last = last->child[1];
    return (is_backward || are_long) && last->radix_count == 1 &&
           (last->n < KAL_LANES || node->child[node->child_count - 1] == last);
}

// The axes from `first` on, from the input through scratch to the output: those of the tile, or the
// last one, first, or last if `is_backward`.
static kallima_status lower_through_cache(
    struct kal_lowering *lo, const struct kal_recipe *node, const struct kal_tile *t,
    const struct kal_lines *lines, const struct volume *user_in,
    const struct volume *user_out, int first, bool is_backward)
{
    const struct volume in = inside_volume(user_in, lines, true);
    const struct volume out = inside_volume(user_out, lines, false);
    const int others = kal_min(t->first, t->rank - 1) - first;
    struct volume middle = { 0 };

    KAL_TRY(scratch_volume(lo, lines, first, takes_pairs(lo, node, first, is_backward),
                           &middle));
    for (int i = 0; i <= others; i++) {
        const struct volume *from = i == 0 ? &in : &middle;
        const struct volume *to = i == others ? &out : &middle;
        const int axis = is_backward ? first + i : first + others - i;
        KAL_TRY(i == (is_backward ? others : 0)
                    ? lower_last(lo, node, t, lines, from, to, first)
                    : lower_axis(lo, node->child[axis], lines, from, to, axis, first));
    }
    return KALLIMA_OK;
}

// The axes from `first` on in one launch, through the cache.
static kallima_status lower_launch(struct kal_lowering *lo, const struct kal_recipe *node,
                                   const struct kal_tile *t,
                                   const struct kal_lines *lines, const struct volume *in,
                                   const struct volume *out, int first, bool is_backward)
{
    struct kal_lines parts, inside;

    KAL_TRY(divide(&parts, lo->problem, lines, in, out, first));
    KAL_TRY(kal_phase_begin(lo, &parts, 1, false, &inside));
    const kallima_status status =
        lower_through_cache(lo, node, t, &inside, in, out, first, is_backward);
    kal_phase_end(lo);
    return status;
}

// The other way round, through scratch for all of the array: the axes before `first` from
// the input to there; from there the others, in the cache near a core, to the output.
// What is then written in columns is scratch, whose rows are apart, and the output is
// written row by row.
static kallima_status lower_columns_first(struct kal_lowering *lo,
                                          const struct kal_recipe *node,
                                          const struct kal_tile *t,
                                          const struct kal_lines *lines, int first)
{
    const struct kal_problem *p = lo->problem;
    const struct volume in = user_volume(lo, &p->in, &lines->in, lines, true);
    const struct volume out = user_volume(lo, &p->out, &lines->out, lines, false);
    struct volume middle;

    if (first == 0)
        return lower_through_cache(lo, node, t, lines, &in, &out, 0, true);
    KAL_TRY(scratch_volume(lo, lines, 0, false, &middle));
    KAL_TRY(lower_to_middle(lo, node, lines, &in, &middle, first));
    return lower_launch(lo, node, t, lines, &middle, &out, first, true);
}

// All axes of arrays that do not stay near one core, or do and a phase is open.
static kallima_status lower_axes(struct kal_lowering *lo, const struct kal_recipe *node,
                                 const struct kal_tile *t, const struct kal_lines *lines)
{
    if (lo->problem->kind == KALLIMA_C2R)
        return lower_backward(lo, node, t, lines);
    const int first = lo->phase_open ? 0 : first_near(lo, node);
    if (begins_with_columns(lo, node, lines))
        return lower_columns_first(lo, node, t, lines, first);
    return first > 0 ? lower_parts(lo, node, t, lines, first)
                     : lower_forward(lo, node, t, lines, 0);
}

// The axes from `first` on in one launch, the others on all of the array: before it if C2R.
static kallima_status lower_launched(struct kal_lowering *lo,
                                     const struct kal_recipe *node,
                                     const struct kal_tile *t,
                                     const struct kal_lines *lines, int first)
{
    const struct kal_problem *p = lo->problem;
    const struct volume in = user_volume(lo, &p->in, &lines->in, lines, true);
    const struct volume out = user_volume(lo, &p->out, &lines->out, lines, false);
    struct volume middle;

    if (p->kind == KALLIMA_C2R) {
        KAL_TRY(lower_before(lo, node, lines, &in, first, &middle));
        return lower_launch(lo, node, t, lines, &middle, &out, first, true);
    }
    KAL_TRY(lower_launch(lo, node, t, lines, &in, &out, first, false));
    return lower_within(lo, node, lines, 0, first, 0);
}

// Do rows of the output begin on lines of the caches? Those of large arrays that do not
// are slower past these: f64 150x150 takes 1.2 times as long on a Xeon and on a Zen 3. Of
// small ones that was so on the Zen 3 alone.
static bool rows_are_aligned(const struct kal_problem *p)
{
    enum { LINE_BYTES = 64 };
    const int64_t unit = kal_array_reals(&p->out) * (p->precision == KALLIMA_F64 ? 8 : 4);
    for (int i = 0; i < p->rank - 1; i++) {
        if (p->out.stride[i] * unit % LINE_BYTES != 0)
            return false;
    }
    return true;
}

// Output from which on a device stores it past the caches, where it is only written. It
// depends on the number of threads: where rows are worked without a tile, or would be
// without scratch, bits would do so with it.
static double least_far(const struct kal_lowering *lo, const struct kal_recipe *node)
{
    const double MANY_BYTES = 6e6;
    const struct kal_recipe *row = node->child[node->child_count - 1];
    return kal_recipe_is_codelet(row) || kal_recipe_is_of_numbers(row) ||
                   lo->program->rows_in_turn || lo->program->rows_alone
               ? MANY_BYTES
               : (double)lo->caps->far_bytes;
}

// Is the output so much that the axes should go through scratch? With fewer than eight of
// the first axis they take 1 to 2.2 times as long so, 32 shapes of 7 to 24 MB measured on
// a Zen 4 processor in November 2026.
static bool goes_far(const struct kal_lowering *lo, const struct kal_recipe *node,
                     const struct kal_lines *lines)
{
    enum { SMALL_BYTES = 256 << 10, FEWEST = 8 };
    const struct kal_problem *p = lo->problem;
    return lo->caps->far_bytes > 0 && p->kind == KALLIMA_C2C && !p->is_in_place &&
           !p->out.is_planar && !has_axis_of_one(p) && p->n[0] >= FEWEST &&
           (rows_are_aligned(p) ||
            kal_line_bytes(lo, count_points(lo, node)) <= SMALL_BYTES) &&
           all_bytes(lo, node, lines) >= least_far(lo, node);
}

// Arrays that stay near one core.
static kallima_status lower_near(struct kal_lowering *lo, const struct kal_recipe *node,
                                 const struct kal_tile *t, const struct kal_lines *lines)
{
    const struct kal_problem *p = lo->problem;
    const struct volume in = user_volume(lo, &p->in, &lines->in, lines, true);
    const struct volume out = user_volume(lo, &p->out, &lines->out, lines, false);
    return goes_far(lo, node, lines) && !begins_with_columns(lo, node, lines)
               ? lower_through_cache(lo, node, t, lines, &in, &out, 0, false)
               : lower_axes(lo, node, t, lines);
}

// Do arrays fit near one core, or complex ones of a batch nearly? With all threads on one
// of these after the other, 14 batches of 0.6 to 1 MB take 1.5 times as long on one
// thread of a Xeon and 1.7 times on sixteen, 1.1 times on a Zen 3, whose cores have 512
// KB; measured in November 2026.
static bool arrays_stay_near(const struct kal_lowering *lo, const struct kal_recipe *node,
                             const struct kal_lines *lines)
{
    return stays_near(lo, count_points(lo, node)) ||
           (lo->problem->kind == KALLIMA_C2C && kal_line_count(lines) > 1 &&
            kal_line_bytes(lo, node->n) <= (int64_t)lo->caps->near_bytes);
}

// All threads on one array at a time: where the cache that they share keeps it from axis to
// axis, or where the half spectrum's scratch is for one.
static bool is_worked_alone(const struct kal_lowering *lo, const struct kal_recipe *node,
                            const struct kal_lines *lines)
{
    enum { MOST_TIMES_NEAR = 8 };
    const struct kal_problem *p = lo->problem;
    if (p->kind == KALLIMA_C2R)
        return !p->is_in_place && !p->may_destroy_input;
    return p->kind == KALLIMA_C2C && kal_line_count(lines) > 1 &&
           kal_line_bytes(lo, node->n) <= MOST_TIMES_NEAR * (int64_t)lo->caps->near_bytes;
}

// Do the arrays of a batch lie between each other's elements, of a CPU, as the colours of
// an image do?
static bool are_channels(const struct kal_lowering *lo, const struct kal_tile *tile)
{
    const struct kal_problem *p = lo->problem;
    const int last = p->rank - 1;
    return !lo->caps->language && p->batch > 1 && tile->first > 0 && !lo->phase_open &&
           !lo->stage_open && llabs(p->in.batch_stride) < llabs(p->in.stride[last]) &&
           llabs(p->out.batch_stride) < llabs(p->out.stride[last]);
}

// All of their lines are innermost loops, not the batch that arrays are worked one after
// the other in.
static struct kal_lines take_channels(struct kal_lowering *lo,
                                      const struct kal_lines *lines)
{
    struct kal_lines all = *lines;
    lo->channels = lo->problem->batch;
    all.loops[0] = (struct kal_loop){ .count = 1 };
    return all;
}

// Is a batch one array behind the other, without gaps?
static bool is_packed(const struct kal_array *array)
{
    return array->stride[0] > 0 && array->batch_stride == array->n[0] * array->stride[0];
}

// How many small arrays of a batch are worked at once, axis by axis: to begin an axis
// takes as long as the codelets of a few lines. 0: one.
static int64_t count_grouped(const struct kal_lowering *lo, const struct kal_recipe *node)
{
    enum { BYTES = 4096, MOST_AXES = 3 };
    const struct kal_problem *p = lo->problem;
    const int64_t wanted = BYTES / kal_line_bytes(lo, node->n);

    if (lo->caps->language || lo->phase_open || lo->stage_open || p->rank > MOST_AXES ||
        p->in.is_planar || p->out.is_planar || wanted < 2 || !is_packed(&p->in) ||
        !is_packed(&p->out))
        return 0;
    const int64_t count = kal_near_divisor(p->batch, wanted, 2 * wanted);
    return count > 1 ? count : 0;
}

// A batch of groups, not of arrays.
static struct kal_lines take_groups(struct kal_lowering *lo,
                                    const struct kal_lines *lines, int64_t count)
{
    struct kal_lines groups = *lines;
    lo->grouped = count;
    groups.loops[0].count /= count;
    groups.loops[0].in *= count;
    groups.loops[0].out *= count;
    return groups;
}

static kallima_status lower_arrays(struct kal_lowering *lo, const struct kal_recipe *node,
                                   const struct kal_tile *tile,
                                   const struct kal_lines *lines)
{
    struct kal_lines inside;
    kallima_status status;

    // Each on one thread, one after the other.
    if (arrays_stay_near(lo, node, lines)) {
        KAL_TRY(kal_phase_begin_near(lo, node, lines, false, &inside));
        status = lower_near(lo, node, tile, &inside);
        kal_phase_end(lo);
        return status;
    }
    if (lo->stage_open || !is_worked_alone(lo, node, lines))
        return lower_axes(lo, node, tile, lines);
    KAL_TRY(kal_stage_begin(lo, lines, 1, &inside));
    status = lower_axes(lo, node, tile, &inside);
    kal_stage_end(lo);
    return status;
}

kallima_status kal_lower_rank(struct kal_lowering *lo, const struct kal_recipe *node,
                              const struct kal_lines *lines)
{
    const struct kal_together together = kal_problem_together(lo->problem, lo->caps);
    const struct kal_tile tile = kal_tile_choose(node, together.tile, lo->problem);

    if (tile.first > 0 && tile.first == together.tile && together.launch < tile.rank &&
        kal_tile_of(node, together.launch).is_local)
        return lower_launched(lo, node, &tile, lines, together.launch);

    if (!lo->caps->language && tile.first == 0)
        return lower_axes(lo, node, &tile, lines); // an array on each lane
    const int64_t grouped = count_grouped(lo, node);
    const struct kal_lines all = are_channels(lo, &tile) ? take_channels(lo, lines)
                                 : grouped               ? take_groups(lo, lines, grouped)
                                                         : *lines;
    return lower_arrays(lo, node, &tile, &all);
}
