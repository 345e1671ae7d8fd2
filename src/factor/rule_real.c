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
    return axis->is_real && caps->language && points > caps->split_points &&
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

static void choose_half(const struct kal_axis *axis, const struct kal_caps *caps,
                        struct kal_recipe *node, int64_t n[KAL_MOST_DIVIDED])
{
    (void)caps;
    (void)node;
    n[0] = axis->n / 2;
}

static void choose_whole(const struct kal_axis *axis, const struct kal_caps *caps,
                         struct kal_recipe *node, int64_t n[KAL_MOST_DIVIDED])
{
    (void)caps;
    (void)node;
    n[0] = axis->n;
}

static void divide(const struct kal_axis *axis, const struct kal_caps *caps,
                   const int64_t n[KAL_MOST_DIVIDED],
                   struct kal_axis child[KAL_MOST_DIVIDED])
{
    const bool is_half = axis->n % 2 == 0;
    (void)caps;
    child[0] = *axis;
    child[0].n = n[0];
    child[0].is_real = false;
    child[0].is_odd_real = !is_half && !axis->is_only; // a copy is complex
    // On the tile of a plane the mirrored step is none of one line's.
    child[0].mirrors_first = is_half && axis->is_backward && !axis->shares_tile;
    child[0].mirrors_last = is_half && !axis->is_backward && !axis->shares_tile;
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

const struct kal_rule kal_rule_real_even = { "real-even",  1,           1,
                                             even_applies, choose_half, divide,
                                             even_complete };
const struct kal_rule kal_rule_real_odd = {
    "real-odd", 1, 1, odd_applies, choose_whole, divide, odd_complete
};
