// SPDX-License-Identifier: MIT
// rank: the axes one after another, on one small array at a time or on everything at once.
#include "pass/lower.h"

// An array of the problem, or scratch in the shape of its complex half spectrum.
struct volume {
    struct kal_side side; // stride unset
    int64_t stride[KALLIMA_MAX_RANK];
    int64_t loop_stride[KAL_MAX_LOOPS]; // of the loops of the batch
};

static struct volume user_volume(const struct kal_lowering *lo,
                                 const struct kal_array *array,
                                 const struct kal_side *side,
                                 const struct kal_lines *lines, bool is_in)
{
    const int64_t unit = kal_array_reals(array);
    struct volume v = { .side = *side };
    for (int i = 0; i < lo->problem->rank; i++)
        v.stride[i] = array->stride[i] * unit;
    for (int i = 0; i < KAL_MAX_LOOPS; i++)
        v.loop_stride[i] = is_in ? lines->loops[i].in : lines->loops[i].out;
    return v;
}

// The complex lengths of the array that all axes but a real one work on.
static int64_t other_length(const struct kal_problem *p, int axis)
{
    return p->kind == KALLIMA_R2C ? p->out.n[axis] : p->in.n[axis];
}

// Packed scratch in the shape of the complex array.
static kallima_status scratch_volume(struct kal_lowering *lo,
                                     const struct kal_lines *lines, struct volume *v)
{
    const struct kal_problem *p = lo->problem;
    int64_t elements = 1;
    for (int i = 0; i < p->rank; i++)
        elements *= other_length(p, i);
    KAL_TRY(kal_scratch_take(lo, lines, elements, &v->side, v->loop_stride));
    int64_t stride = v->side.stride;
    for (int i = p->rank - 1; i >= 0; i--) {
        v->stride[i] = stride;
        stride *= other_length(p, i);
    }
    return KALLIMA_OK;
}

static int64_t magnitude(int64_t a)
{
    return a < 0 ? -a : a;
}

// Transform `axis`, looping over all others from `first` on: largest output stride outermost.
static kallima_status lower_axis(struct kal_lowering *lo, const struct kal_recipe *child,
                                 const struct kal_lines *batch, const struct volume *in,
                                 const struct volume *out, int axis, int first)
{
    const struct kal_problem *p = lo->problem;
    struct kal_lines lines = *batch;
    bool done[KALLIMA_MAX_RANK] = { false };

    kal_lines_set_in(&lines, &in->side, in->loop_stride);
    kal_lines_set_out(&lines, &out->side, out->loop_stride);
    lines.in.stride = in->stride[axis];
    lines.out.stride = out->stride[axis];
    if (p->kind == KALLIMA_C2R && axis != p->rank - 1)
        lines.in.is_swapped = lines.out.is_swapped = true;

    done[axis] = true;
    for (int step = first + 1; step < p->rank; step++) {
        int widest = -1;
        for (int i = first; i < p->rank; i++) {
            if (!done[i] && (widest < 0 ||
                             magnitude(out->stride[i]) > magnitude(out->stride[widest])))
                widest = i;
        }
        done[widest] = true;
        KAL_TRY(kal_lines_add_loop(&lines, other_length(p, widest), in->stride[widest],
                                   out->stride[widest]));
    }
    return kal_lower(lo, child, &lines);
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

// Everything but C2R, axes from `first` on: the last one from input to output, the others
// within the output.
static kallima_status lower_forward(struct kal_lowering *lo,
                                    const struct kal_recipe *node,
                                    const struct kal_lines *lines, int first)
{
    const struct kal_problem *p = lo->problem;
    const struct volume in = user_volume(lo, &p->in, &lines->in, lines, true);
    const struct volume out = user_volume(lo, &p->out, &lines->out, lines, false);

    KAL_TRY(
        lower_axis(lo, node->child[p->rank - 1], lines, &in, &out, p->rank - 1, first));
    return lower_within(lo, node, lines, first, p->rank, first);
}

// The axes from `first` on in the cache near a core, part by part of the array; then the
// others on all of it.
static kallima_status lower_parts(struct kal_lowering *lo, const struct kal_recipe *node,
                                  const struct kal_lines *lines, int first)
{
    const struct kal_problem *p = lo->problem;
    struct kal_lines parts = *lines, inside;

    for (int i = 0; i < first; i++)
        KAL_TRY(kal_lines_add_loop(&parts, other_length(p, i),
                                   p->in.stride[i] * kal_array_reals(&p->in),
                                   p->out.stride[i] * kal_array_reals(&p->out)));
    KAL_TRY(kal_phase_begin(lo, &parts, 1, false, &inside));
    const kallima_status status = lower_forward(lo, node, &inside, first);
    kal_phase_end(lo);
    return status ? status : lower_within(lo, node, lines, 0, first, 0);
}

// C2R: the other axes first, in the input if that may be destroyed, else in scratch.
static kallima_status lower_backward(struct kal_lowering *lo,
                                     const struct kal_recipe *node,
                                     const struct kal_lines *lines)
{
    const struct kal_problem *p = lo->problem;
    const struct volume in = user_volume(lo, &p->in, &lines->in, lines, true);
    const struct volume out = user_volume(lo, &p->out, &lines->out, lines, false);
    struct volume middle = in;
    const struct volume *from = &in;

    if (!p->is_in_place && !p->may_destroy_input)
        KAL_TRY(scratch_volume(lo, lines, &middle));
    for (int i = 0; i < p->rank - 1; i++) {
        KAL_TRY(lower_axis(lo, node->child[i], lines, from, &middle, i, 0));
        from = &middle;
    }
    return lower_axis(lo, node->child[p->rank - 1], lines, &middle, &out, p->rank - 1, 0);
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
    int64_t n = 1;

    while (first > 0 && stays_near(lo, n * node->child[first - 1]->n))
        n *= node->child[--first]->n;
    return first <= node->child_count - 2 ? first : 0;
}

// All axes of arrays that do not stay near one core, or do and a phase is open.
static kallima_status lower_axes(struct kal_lowering *lo, const struct kal_recipe *node,
                                 const struct kal_lines *lines)
{
    if (lo->problem->kind == KALLIMA_C2R)
        return lower_backward(lo, node, lines);
    const int first = lo->phase_open ? 0 : first_near(lo, node);
    return first > 0 ? lower_parts(lo, node, lines, first)
                     : lower_forward(lo, node, lines, 0);
}

// Rows of an array, of `n` elements of a line and `gap` more that are not the line's.
struct rows {
    int64_t n, gap;
    bool are_even; // equally far apart, in the order of the axes
};

// A real side's elements are two reals.
static struct rows rows_of(const struct kal_problem *p, const struct kal_array *array)
{
    const int last = p->rank - 1;
    const int64_t *stride = array->stride, unit = array->is_real ? 2 : 1;
    struct rows rows = { .n = array->n[last] / unit, .are_even = stride[last] != 0 };

    if (last == 0)
        return rows;
    for (int i = last - 1; i > 0; i--)
        rows.are_even = rows.are_even && stride[i - 1] == stride[i] * array->n[i];
    if (!rows.are_even || stride[last - 1] % (stride[last] * unit) != 0)
        return (struct rows){ .are_even = false };
    rows.gap = stride[last - 1] / (stride[last] * unit) - rows.n;
    rows.are_even = rows.gap >= 0;
    return rows;
}

// An array worked on one tile, all axes of it: those of real lines are half as long there.
struct tile {
    int rank;
    const struct kal_recipe *axis[KALLIMA_MAX_RANK];
    int64_t points;
    int steps;
    bool is_local; // every axis is steps on a tile
    struct rows in, out;
};

static struct tile tile_of(const struct kal_problem *p, const struct kal_recipe *node)
{
    struct tile t = { .rank = node->child_count, .points = 1, .is_local = true };
    for (int i = 0; i < t.rank; i++) {
        t.axis[i] = node->child[i]->rule == KAL_RULE_REAL_EVEN ? node->child[i]->child[0]
                                                               : node->child[i];
        t.is_local = t.is_local && t.axis[i]->rule == KAL_RULE_LOCAL;
        t.points *= t.axis[i]->n;
        t.steps += t.axis[i]->radix_count;
    }
    t.in = rows_of(p, &p->in);
    t.out = rows_of(p, &p->out);
    return t;
}

// Does an array of all axes fit where one line would? Real ones have two axes, or three.
static bool fits_one_pass(const struct kal_lowering *lo, const struct tile *t)
{
    enum { FEW = 16, LARGE = 4096 };
    const struct kal_problem *p = lo->problem;
    const bool is_real = p->kind != KALLIMA_C2C;

    // One tile is one group's: of a single array, many groups work several passes sooner.
    if (p->batch < FEW && t->points > LARGE)
        return false;
    const int64_t rows = t->points / t->axis[p->rank - 1]->n;
    return t->is_local && (!is_real || (p->rank <= 3 && rows > 1)) &&
           t->points <= lo->caps->local_points && t->steps > 0 &&
           t->steps + is_real <= KAL_MAX_PASS_STEPS && t->in.are_even && t->out.are_even;
}

// Steps of axis `i` of a tile.
static int steps_of_axis(const struct tile *t, int i, struct kal_step *steps)
{
    int64_t inner = 1;
    for (int k = i + 1; k < t->rank; k++)
        inner *= t->axis[k]->n;
    return kal_local_steps(t->axis[i], inner, t->points / inner / t->axis[i]->n, steps);
}

// The slowest axis of several steps: its first step reads whole rows and its last one writes
// them. -1: there is none.
static int axis_around(const struct tile *t)
{
    for (int i = 0; i < t->rank - 1; i++) {
        if (t->axis[i]->radix_count > 1)
            return i;
    }
    return -1;
}

// Complex numbers: the first step of one axis, those of all others, the rest of it.
static int complex_steps(const struct tile *t, struct kal_step *steps)
{
    const int around = axis_around(t);
    struct kal_step outer_steps[KAL_MAX_STEPS];
    const int outer_count = around < 0 ? 0 : steps_of_axis(t, around, outer_steps);
    int count = 0;

    if (outer_count)
        steps[count++] = outer_steps[0];
    for (int i = t->rank - 1; i >= 0; i--) {
        if (i != around)
            count += steps_of_axis(t, i, steps + count);
    }
    for (int i = 1; i < outer_count; i++)
        steps[count++] = outer_steps[i];
    return count;
}

// Reals: columns, whose steps read or write whole rows, are at the other end than the mirrored
// step.
static int real_steps(const struct tile *t, const struct kal_problem *p,
                      struct kal_step *steps)
{
    const bool is_forward = p->kind == KALLIMA_R2C;
    const int last = t->rank - 1;
    const struct kal_step mirror = { .op = is_forward ? KAL_STEP_SPLIT : KAL_STEP_MERGE,
                                     .outer = t->points / t->axis[last]->n,
                                     .m = p->n[last - 1],
                                     .n = p->n[last] };
    int count = 0;

    if (!is_forward)
        steps[count++] = mirror;
    for (int i = 0; i <= last; i++)
        count += steps_of_axis(t, is_forward ? i : last - i, steps + count);
    if (is_forward)
        steps[count++] = mirror;
    return count;
}

// All axes on one tile.
static kallima_status lower_one_pass(struct kal_lowering *lo, const struct tile *t,
                                     const struct kal_lines *lines)
{
    const struct kal_problem *p = lo->problem;
    const int last = p->rank - 1;
    struct kal_step steps[KAL_MAX_PASS_STEPS];
    struct kal_lines packed = *lines;

    packed.in.stride = p->in.stride[last] * kal_array_reals(&p->in);
    packed.out.stride = p->out.stride[last] * kal_array_reals(&p->out);
    packed.in.row = t->in.n;
    packed.in.gap = t->in.gap;
    packed.out.row = t->out.n;
    packed.out.gap = t->out.gap;
    if (p->kind == KALLIMA_C2C)
        return kal_pass_add(lo, &packed, t->points, steps, complex_steps(t, steps));
    kal_view_as_complex(&packed, p->kind == KALLIMA_R2C)->count = t->points;
    return kal_pass_add(lo, &packed, t->points + t->points / t->axis[last]->n, steps,
                        real_steps(t, p, steps));
}

// The first axis from the input to scratch, the last one to the output, those between in place.
static kallima_status lower_through_cache(struct kal_lowering *lo,
                                          const struct kal_recipe *node,
                                          const struct kal_lines *lines)
{
    const struct kal_problem *p = lo->problem;
    const struct volume in = user_volume(lo, &p->in, &lines->in, lines, true);
    const struct volume out = user_volume(lo, &p->out, &lines->out, lines, false);
    struct volume middle = { 0 };

    KAL_TRY(scratch_volume(lo, lines, &middle));
    for (int i = p->rank - 1; i >= 0; i--)
        KAL_TRY(lower_axis(lo, node->child[i], lines, i == p->rank - 1 ? &in : &middle,
                           i == 0 ? &out : &middle, i, 0));
    return KALLIMA_OK;
}

// Is the output so much that a device stores it past the caches, where it is only written?
static bool goes_far(const struct kal_lowering *lo, const struct kal_recipe *node,
                     const struct kal_lines *lines)
{
    const struct kal_problem *p = lo->problem;
    const double bytes =
        (double)kal_line_count(lines) * (double)kal_line_bytes(lo, node->n);
    for (int i = 0; i < p->rank; i++) {
        if (p->n[i] == 1)
            return false;
    }
    return lo->caps->far_bytes > 0 && p->kind == KALLIMA_C2C && !p->is_in_place &&
           !p->out.is_planar && bytes >= (double)lo->caps->far_bytes;
}

// Arrays that stay near one core.
static kallima_status lower_near(struct kal_lowering *lo, const struct kal_recipe *node,
                                 const struct kal_lines *lines)
{
    return goes_far(lo, node, lines) ? lower_through_cache(lo, node, lines)
                                     : lower_axes(lo, node, lines);
}

// Two or three axes that are one pass each, of arrays that the cache holds several of.
static bool fits_cache(const struct kal_lowering *lo, const struct kal_recipe *node,
                       const struct kal_lines *lines)
{
    enum { MOST_AXES = 3 };
    const struct kal_problem *p = lo->problem;
    for (int i = 0; i < p->rank; i++) {
        if (node->child[i]->rule != KAL_RULE_LOCAL || p->n[i] == 1)
            return false;
    }
    return p->kind == KALLIMA_C2C && p->rank <= MOST_AXES &&
           kal_lines_fit_cache(lo, lines, kal_line_bytes(lo, node->n));
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

kallima_status kal_lower_rank(struct kal_lowering *lo, const struct kal_recipe *node,
                              const struct kal_lines *lines)
{
    const struct tile tile = tile_of(lo->problem, node);
    struct kal_lines inside;
    kallima_status status;

    if (lo->caps->language && fits_one_pass(lo, &tile))
        return lower_one_pass(lo, &tile, lines);
    if (fits_cache(lo, node, lines)) {
        KAL_TRY(kal_phase_begin(lo, lines, 1, false, &inside));
        status = lower_through_cache(lo, node, &inside);
        kal_phase_end(lo);
        return status;
    }

    // Arrays that fit near one core are worked one by one, each on one thread.
    if (stays_near(lo, node->n)) {
        KAL_TRY(kal_phase_begin_near(lo, node, lines, false, &inside));
        status = lower_near(lo, node, &inside);
        kal_phase_end(lo);
        return status;
    }
    if (lo->stage_open || !is_worked_alone(lo, node, lines))
        return lower_axes(lo, node, lines);
    KAL_TRY(kal_stage_begin(lo, lines, 1, &inside));
    status = lower_axes(lo, node, &inside);
    kal_stage_end(lo);
    return status;
}
