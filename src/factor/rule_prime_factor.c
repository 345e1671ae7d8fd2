// SPDX-License-Identifier: MIT
// n = n1 * n2, coprime: a two-dimensional transform without twiddles, through the index
// maps j = n2 j1 + n1 j2 (mod n) and k = k1 mod n1, k2 mod n2.
// Source: I. J. Good, J. R. Statist. Soc. B 20 (1958) 361-372.
#include "factor/radix.h"
#include "factor/rule.h"
#include "math/number.h"

// The index maps cost nothing where each line's element is loaded as a vector of lines.
enum { LENGTH_LIMIT = 1024 };

// The coprime split into two codelets with the fewest instructions; 0: none.
static int64_t best_split(int64_t n)
{
    int64_t best = 0;
    double best_cost = 0.0;

    for (int64_t a = 2; a * a < n; a++) {
        const int64_t b = n / a;
        if (n % a != 0 || kal_gcd(a, b) != 1 || !kal_radix_exists(a) ||
            !kal_radix_exists(b))
            continue;
        const double cost = kal_radix_cost((int)a) + kal_radix_cost((int)b);
        if (best == 0 || cost < best_cost) {
            best = a;
            best_cost = cost;
        }
    }
    return best;
}

static bool applies(const struct kal_axis *axis, const struct kal_caps *caps)
{
    return !caps->language && axis->lines_are_adjacent && !axis->fills_lanes &&
           axis->lines >= 4 && axis->n <= LENGTH_LIMIT && !kal_radix_exists(axis->n) &&
           best_split(axis->n) != 0;
}

static void choose(const struct kal_axis *axis, const struct kal_caps *caps,
                   struct kal_recipe *node, int64_t n[KAL_MOST_DIVIDED])
{
    (void)caps;
    (void)node;
    n[0] = best_split(axis->n);
    n[1] = axis->n / n[0];
}

static void divide(const struct kal_axis *axis, const struct kal_caps *caps,
                   const int64_t n[KAL_MOST_DIVIDED],
                   struct kal_axis child[KAL_MOST_DIVIDED])
{
    (void)caps;
    for (int i = 0; i < 2; i++)
        child[i] = (struct kal_axis){ .n = n[i],
                                      .lines = axis->lines * n[1 - i],
                                      .lines_are_adjacent = true };
}

static bool complete(struct kal_recipe *node)
{
    const struct kal_recipe *a = node->child[0], *b = node->child[1];
    if (a->rule != KAL_RULE_LOCAL || b->rule != KAL_RULE_LOCAL ||
        a->n > KAL_MAX_LOCAL / b->n || kal_gcd(a->n, b->n) != 1)
        return false;
    node->n = a->n * b->n;
    return true;
}

const struct kal_rule kal_rule_prime_factor = { "prime-factor", 2,      2,       applies,
                                                choose,         divide, complete };
