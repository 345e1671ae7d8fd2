// SPDX-License-Identifier: MIT
// n prime: a cyclic convolution of length n - 1, through a generator of the group modulo n.
// Source: C. M. Rader, Proc. IEEE 56 (1968) 1107-1108.
#include "factor/convolved.h"
#include "factor/radix.h"
#include "math/number.h"

static bool applies(const struct kal_axis *axis, const struct kal_caps *caps)
{
    if (axis->n <= 2 || !kal_is_prime(axis->n))
        return false;
    if (!caps->language)
        return kal_radix_divides(axis->n - 1);
    return axis->n - 1 <= caps->local_points &&
           kal_radix_divides_kernel(axis->n - 1, kal_caps_largest_prime(caps));
}

// Longest prime that a text may ask for: trial division up to its root stays instant.
static const int64_t PRIME_LIMIT = (int64_t)1 << 42;

static void choose(const struct kal_axis *axis, const struct kal_caps *caps,
                   struct kal_recipe *node, int64_t n[KAL_MOST_DIVIDED])
{
    (void)caps;
    (void)node;
    n[0] = axis->n - 1;
}

static void divide(const struct kal_axis *axis, const struct kal_caps *caps,
                   const int64_t n[KAL_MOST_DIVIDED],
                   struct kal_axis child[KAL_MOST_DIVIDED])
{
    child[0] = kal_convolution_axis(axis, n[0], caps);
    child[0].is_of_rader = child[0].is_convolved;
}

static bool complete(struct kal_recipe *node)
{
    node->n = node->child[0]->n + 1; // below 2^61: every node that was read is
    return node->n > 2 && node->n <= PRIME_LIMIT && kal_is_prime(node->n);
}

const struct kal_rule kal_rule_rader = {
    "rader", 1, 1, applies, choose, divide, complete
};
