// SPDX-License-Identifier: MIT
#include "pass/tile.h"

struct kal_tile kal_tile_of(const struct kal_recipe *node, int first)
{
    struct kal_tile t = {
        .first = first, .rank = node->child_count, .points = 1, .is_local = true
    };
    for (int i = first; i < t.rank; i++) {
        t.axis[i] = node->child[i]->rule == KAL_RULE_REAL_EVEN ? node->child[i]->child[0]
                                                               : node->child[i];
        t.is_local = t.is_local && t.axis[i]->rule == KAL_RULE_LOCAL;
        t.points *= t.axis[i]->n;
        t.steps += t.axis[i]->radix_count;
    }
    return t;
}

// Steps of axis `i` of a tile.
static int steps_of_axis(const struct kal_tile *t, int i, struct kal_step *steps)
{
    int64_t inner = 1;
    for (int k = i + 1; k < t->rank; k++)
        inner *= t->axis[k]->n;
    return kal_local_steps(t->axis[i], inner, t->points / inner / t->axis[i]->n, steps);
}

// The slowest axis of several steps: its first step reads whole rows and its last one writes
// them. -1: there is none.
static int axis_around(const struct kal_tile *t)
{
    for (int i = t->first; i < t->rank - 1; i++) {
        if (t->axis[i]->radix_count > 1)
            return i;
    }
    return -1;
}

// Complex numbers: the first step of one axis, those of all others, the rest of it.
static int complex_steps(const struct kal_tile *t, struct kal_step *steps)
{
    const int around = axis_around(t);
    struct kal_step outer_steps[KAL_MAX_STEPS];
    const int outer_count = around < 0 ? 0 : steps_of_axis(t, around, outer_steps);
    int count = 0;

    if (outer_count)
        steps[count++] = outer_steps[0];
    for (int i = t->rank - 1; i >= t->first; i--) {
        if (i != around)
            count += steps_of_axis(t, i, steps + count);
    }
    for (int i = 1; i < outer_count; i++)
        steps[count++] = outer_steps[i];
    return count;
}

// Reals: columns, whose steps read or write whole rows, are at the other end than the mirrored
// step.
static int real_steps(const struct kal_tile *t, const struct kal_problem *p,
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
    for (int i = t->first; i <= last; i++)
        count += steps_of_axis(t, is_forward ? i : last + t->first - i, steps + count);
    if (is_forward)
        steps[count++] = mirror;
    return count;
}

int kal_tile_steps(const struct kal_tile *t, const struct kal_problem *p,
                   struct kal_step *steps)
{
    return p->kind == KALLIMA_C2C ? complex_steps(t, steps) : real_steps(t, p, steps);
}

struct kal_tile kal_tile_choose(const struct kal_recipe *node, int first,
                                const struct kal_problem *p)
{
    const struct kal_tile t = kal_tile_of(node, first);
    const int steps = t.steps + (p->kind != KALLIMA_C2C); // one is mirrored
    return t.is_local && t.steps > 0 && steps <= KAL_MAX_PASS_STEPS
               ? t
               : kal_tile_of(node, node->child_count);
}
