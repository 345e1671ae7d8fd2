// SPDX-License-Identifier: MIT
#include <stdlib.h>

#include "factor/alone.h"
#include "factor/convolution.h"
#include "factor/copied.h"
#include "factor/divided.h"
#include "factor/together.h"
#include "factor/whole.h"

const struct kal_rule *const kal_rules[KAL_RULE_COUNT] = {
    [KAL_RULE_LOCAL] = &kal_rule_local,
    [KAL_RULE_PRIME_FACTOR] = &kal_rule_prime_factor,
    [KAL_RULE_FOUR_STEP] = &kal_rule_four_step,
    [KAL_RULE_RADER] = &kal_rule_rader,
    [KAL_RULE_BLUESTEIN] = &kal_rule_bluestein,
    [KAL_RULE_REAL_EVEN] = &kal_rule_real_even,
    [KAL_RULE_REAL_ODD] = &kal_rule_real_odd,
    [KAL_RULE_RANK] = &kal_rule_rank,
};

// In order of preference. A rank is never one axis's rule, and the index maps of a prime
// factor cost more than the twiddles that they save: tuning alone tries it.
static const enum kal_rule_id order[] = {
    KAL_RULE_REAL_EVEN, KAL_RULE_REAL_ODD, KAL_RULE_LOCAL,
    KAL_RULE_FOUR_STEP, KAL_RULE_RADER,    KAL_RULE_BLUESTEIN,
};

struct kal_caps kal_caps_limit(const struct kal_caps *caps, bool is_f64)
{
    struct kal_caps limited = *caps;
    enum { TRANSACTION = 128, LANE_POINTS = 16 };
    const int64_t largest_tile = (is_f64 ? 160 : 128) << 10;
    const int bytes = is_f64 ? 16 : 8;
    const int64_t points = (int64_t)caps->group_bytes / bytes;
    // Pads between the points take an eighth of them at most. A tile that leaves no room
    // for a second group of a processor is worth it up to a point.
    limited.local_points = kal_min(largest_tile / bytes, points * 8 / 9);
    limited.split_points = kal_min(largest_tile / bytes, 2 * points * 8 / 9);
    limited.halved_points = kal_max(
        limited.split_points, kal_min(kal_min(largest_tile / bytes, 4 * points * 8 / 9),
                                      (int64_t)LANE_POINTS * caps->group_lanes));
    limited.transaction_lines = TRANSACTION / bytes;
    return limited;
}

bool kal_caps_cache_lines(const struct kal_caps *caps, double lines, double bytes)
{
    enum { MANY_LINES = 4, MOST_SHARE = 6 };
    return caps->language && caps->has_forward_progress && lines >= MANY_LINES &&
           bytes * MOST_SHARE <= (double)caps->shared_bytes;
}

// Where memory near a processor is short, longer ones leave it one group, and of shorter
// ones a launch of their own takes little more than a copy. Measured through OpenGL on an
// NVIDIA H200 in November 2026: of 24 problems whose passes have 100 to 512 points 20
// gain, up to a sixth of the time; of six of 625 to 1024 points five lose, 60x60x60,
// 64x64x64, 8192x8192 and 4096x4096, in steps of 60 and 64, take 1.13 to 1.36 of the
// time, 15625 and 1594323, in steps of 125 and 81, 1.09 and 1.28, 59049, of 243, 0.94.
bool kal_caps_suit_tickets(const struct kal_caps *caps, int64_t points)
{
    enum { LEAST_POINTS = 100, LEAST_ODD = 200, MOST_POINTS = 512 };
    return !kal_caps_is_short_of_memory(caps) ||
           (points >= (points % 2 ? LEAST_ODD : LEAST_POINTS) && points <= MOST_POINTS);
}

bool kal_caps_is_f64(const struct kal_caps *caps)
{
    enum { F64_LINES = 8 };
    return caps->transaction_lines <= F64_LINES;
}

int kal_caps_lanes(const struct kal_caps *caps)
{
    return kal_caps_lanes_of(caps, kal_caps_is_f64(caps));
}

bool kal_caps_has_registers(const struct kal_caps *caps)
{
    enum { MANY = 255 };
    return caps->lane_registers >= MANY;
}

int kal_caps_largest_prime(const struct kal_caps *caps)
{
    // The values of a codelet are 2 registers each, or 4, of the 255 of a lane.
    enum { LARGEST_F32 = 61, LARGEST = 31 };
    return kal_caps_has_registers(caps) && !kal_caps_is_f64(caps) ? LARGEST_F32 : LARGEST;
}

kallima_status kal_plan_axis_by(struct kal_recipe **out,
                                const struct kal_planner *planner,
                                const struct kal_axis *axis, enum kal_rule_id id,
                                const int64_t *n)
{
    const struct kal_rule *rule = kal_rules[id];
    struct kal_axis child[KAL_MOST_DIVIDED];
    int64_t chosen[KAL_MOST_DIVIDED] = { 0 };
    void *memory;

    *out = NULL;
    KAL_TRY(kal_arena_take(planner->arena, &memory, 1, sizeof **out));
    struct kal_recipe *node = memory;
    node->rule = id;
    node->n = axis->n;
    if (!n)
        rule->choose(axis, planner->caps, node, chosen);
    if (rule->divide)
        rule->divide(axis, planner->caps, n ? n : chosen, child);
    node->child_count = rule->min_children;
    for (int i = 0; i < node->child_count; i++)
        KAL_TRY(kal_plan_axis(&node->child[i], planner, &child[i]));
    *out = node;
    return KALLIMA_OK;
}

static bool is_preferred(enum kal_rule_id id, const struct kal_axis *axis,
                         const struct kal_caps *caps)
{
    return kal_rules[id]->applies(axis, caps) &&
           !(id == KAL_RULE_RADER && (kal_convolution_beats_rader(axis, caps) ||
                                      kal_padding_beats_rader(axis, caps))) &&
           !(id == KAL_RULE_FOUR_STEP && (kal_convolution_beats_division(axis, caps) ||
                                          kal_whole_beats_division(axis, caps)));
}

kallima_status kal_plan_axis(struct kal_recipe **out, const struct kal_planner *planner,
                             const struct kal_axis *axis)
{
    size_t i = 0;
    while (i + 1 < KAL_COUNT(order) && !is_preferred(order[i], axis, planner->caps))
        i++;
    return kal_plan_axis_by(out, planner, axis, order[i], NULL);
}

// Are neighbouring lines along `axis` adjacent? Some other axis has unit stride then.
static bool is_adjacent(const struct kal_problem *p, const struct kal_array *array,
                        int axis)
{
    for (int i = 0; i < p->rank; i++) {
        if (i != axis && array->stride[i] == 1 && array->n[i] >= 8)
            return true;
    }
    return array->batch_stride == 1 && p->batch >= 8;
}

// From element to element along the only axis, of complex interleaved lines; else 0.
static int64_t row_bytes(const struct kal_problem *p, const struct kal_array *array,
                         int point_bytes)
{
    const bool are_rows = p->rank == 1 && p->kind == KALLIMA_C2C && !array->is_planar;
    return are_rows ? llabs(array->stride[0]) * point_bytes : 0;
}

struct kal_axis kal_problem_axis(const struct kal_problem *p, int i,
                                 const struct kal_caps *caps)
{
    enum { MOST_CLUSTERED = 512 << 10 }; // bytes
    if (kal_is_copied(p, caps)) {
        const struct kal_problem copied = kal_problem_copied(p);
        struct kal_axis axis = kal_problem_axis(&copied, i, caps);
        axis.is_real = p->kind != KALLIMA_C2C && i == p->rank - 1;
        return axis;
    }
    if (kal_is_divided(p, caps)) {
        const struct kal_problem part = kal_problem_divided(p, &i);
        return kal_problem_axis(&part, i, caps);
    }
    const int point_bytes = kal_caps_is_f64(caps) ? 16 : 8;
    const struct kal_together together = kal_problem_together(p, caps);
    const bool last = i == p->rank - 1, shares_tile = i >= together.tile;
    const bool shares_launch = i >= together.launch && together.tile == p->rank;
    const double array_bytes = p->rank > 1 ? kal_points_from(p, 0) * point_bytes : 0.0;
    double array_lines = 1.0;
    for (int k = 0; k < p->rank; k++)
        array_lines *= k == i ? 1.0 : (double)p->out.n[k];
    const bool is_alone =
        last ? kal_rows_are_alone(p, caps) : kal_columns_are_alone(p, caps);
    const double lines =
        is_alone ? 1.0
                 : array_lines * (kal_lines_are_alone(p, caps) ? 1.0 : (double)p->batch);
    const bool is_near = p->rank > 1 && 2.0 * array_bytes <= (double)caps->near_bytes;
    const bool is_beside = is_adjacent(p, &p->in, i) && is_adjacent(p, &p->out, i);
    return (struct kal_axis){
        .n = p->n[i],
        .lines = lines < 9e18 ? (int64_t)lines : INT64_MAX,
        .array_bytes = is_alone ? 0.0 : array_bytes,
        .array_lines = is_near ? (int64_t)array_lines : 0,
        .in_row_bytes = is_beside ? row_bytes(p, &p->in, point_bytes) : 0,
        .out_row_bytes = is_beside ? row_bytes(p, &p->out, point_bytes) : 0,
        .is_real = last && p->kind != KALLIMA_C2C,
        .is_of_real_array = p->rank > 1 && p->kind != KALLIMA_C2C,
        .is_of_numbers = last && kal_rows_are_of_numbers(p, caps),
        .is_planar = p->in.is_planar || p->out.is_planar,
        .is_only = p->rank == 1 && p->batch == 1 && p->kind == KALLIMA_C2C,
        .is_backward = p->kind == KALLIMA_C2R,
        .lines_are_adjacent = is_beside,
        .elements_are_apart =
            !is_beside && !is_alone && (p->in.stride[i] != 1 || p->out.stride[i] != 1),
        .shares_tile = shares_tile,
        .is_of_real_plane = shares_tile && p->kind != KALLIMA_C2C,
        .shares_cache = p->rank > 1 && !shares_tile,
        .shares_launch = shares_launch,
        .is_launched_tile = shares_tile && together.launch < p->rank,
        .is_clustered =
            shares_launch && caps->cluster_groups > 1 && p->kind == KALLIMA_C2C &&
            together.launch == p->rank - 2 &&
            kal_points_from(p, together.launch) * point_bytes <= MOST_CLUSTERED,
    };
}

kallima_status kal_plan_problem(struct kal_recipe **out,
                                const struct kal_planner *planner,
                                const struct kal_problem *p)
{
    void *memory;

    *out = NULL;
    if (p->rank == 1) {
        const struct kal_axis axis = kal_problem_axis(p, 0, planner->caps);
        return kal_plan_axis(out, planner, &axis);
    }

    KAL_TRY(kal_arena_take(planner->arena, &memory, 1, sizeof **out));
    struct kal_recipe *node = memory;
    node->rule = KAL_RULE_RANK;
    node->child_count = p->rank;
    node->n = 1;
    for (int i = 0; i < p->rank; i++) {
        const struct kal_axis axis = kal_problem_axis(p, i, planner->caps);
        KAL_TRY(kal_plan_axis(&node->child[i], planner, &axis));
        node->n *= p->n[i];
    }
    *out = node;
    return KALLIMA_OK;
}
