// SPDX-License-Identifier: MIT
// Real transforms. Even n: pairs of reals are complex numbers; a transform of half the
// length and one mirrored step. Odd n: a complex transform whose other half is not stored.
// A long line is divided by a four-step into real columns and half as many complex rows.
// Source: H. V. Sorensen et al., IEEE Trans. ASSP 35 (1987) 849-863.
#include "factor/radix.h"
#include "factor/rule.h"

bool kal_real_is_divided(const struct kal_axis *axis, const struct kal_caps *caps)
{
    const int64_t points = axis->n % 2 ? axis->n : axis->n / 2;
    return axis->is_real && caps->language && points > caps->local_points &&
           kal_radix_divides_kernel(axis->n, kal_caps_largest_prime(caps));
}

static bool even_applies(const struct kal_axis *axis, const struct kal_caps *caps)
{
    return axis->is_real && axis->n % 2 == 0 && !kal_real_is_divided(axis, caps);
}

static bool odd_applies(const struct kal_axis *axis, const struct kal_caps *caps)
{
    return axis->is_real && axis->n % 2 == 1 && !kal_real_is_divided(axis, caps);
}

static kallima_status plan_complex(const struct kal_planner *planner,
                                   const struct kal_axis *axis, int64_t n,
                                   struct kal_recipe *node)
{
    struct kal_axis child = *axis;
    child.n = n;
    child.is_real = false;
    child.mirrors_first = axis->n % 2 == 0 && axis->is_backward;
    child.mirrors_last = axis->n % 2 == 0 && !axis->is_backward;
    node->child_count = 1;
    return kal_plan_axis(&node->child[0], planner, &child);
}

static kallima_status even_plan(const struct kal_planner *planner,
                                const struct kal_axis *axis, struct kal_recipe *node)
{
    return plan_complex(planner, axis, axis->n / 2, node);
}

static kallima_status odd_plan(const struct kal_planner *planner,
                               const struct kal_axis *axis, struct kal_recipe *node)
{
    return plan_complex(planner, axis, axis->n, node);
}

static bool even_complete(struct kal_recipe *node)
{
    return !__builtin_mul_overflow(node->child[0]->n, 2, &node->n);
}

static bool odd_complete(struct kal_recipe *node)
{
    node->n = node->child[0]->n;
    return node->n % 2 == 1;
}

const struct kal_rule kal_rule_real_even = { "real-even",  1,         1,
                                             even_applies, even_plan, even_complete };
const struct kal_rule kal_rule_real_odd = { "real-odd",  1,        1,
                                            odd_applies, odd_plan, odd_complete };
