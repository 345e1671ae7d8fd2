// SPDX-License-Identifier: MIT
// Several axes: one after another. kal_plan_problem() builds the node; no axis chooses it.
#include "factor/rule.h"

static bool applies(const struct kal_axis *axis, const struct kal_caps *caps)
{
    (void)axis;
    (void)caps;
    return false;
}

static kallima_status plan(const struct kal_planner *planner, const struct kal_axis *axis,
                           struct kal_recipe *node)
{
    (void)planner;
    (void)axis;
    (void)node;
    return KALLIMA_OK;
}

static bool complete(struct kal_recipe *node)
{
    node->n = 1;
    for (int i = 0; i < node->child_count; i++) {
        if (__builtin_mul_overflow(node->n, node->child[i]->n, &node->n))
            return false;
    }
    return true;
}

const struct kal_rule kal_rule_rank = { "rank",  2,    KALLIMA_MAX_RANK,
                                        applies, plan, complete };
