// SPDX-License-Identifier: MIT
// Several axes: one after another. kal_plan_problem() builds the node; no axis chooses it.
#include "factor/rule.h"

static bool applies(const struct kal_axis *axis, const struct kal_caps *caps)
{
    (void)axis;
    (void)caps;
    return false;
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

const struct kal_rule kal_rule_rank = { "rank", 2,    KALLIMA_MAX_RANK, applies,
                                        NULL,   NULL, complete };
