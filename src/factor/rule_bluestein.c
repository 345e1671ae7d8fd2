// SPDX-License-Identifier: MIT
// Any n: j k = (j^2 + k^2 - (k - j)^2) / 2 turns the transform into a convolution with a
// chirp, computed with a padded length m >= 2 n - 1 that factors well.
// Source: L. I. Bluestein, IEEE Trans. Audio Electroacoust. 18 (1970) 451-455.
#include "factor/convolution.h"
#include "factor/convolved.h"
#include "math/number.h"

enum { GRAIN = 16, GREATEST_PRIME_OF_KERNELS = 5, GREATEST_PRIME = 7 };

static bool applies(const struct kal_axis *axis, const struct kal_caps *caps)
{
    (void)axis;
    (void)caps;
    return true;
}

static void choose(const struct kal_axis *axis, const struct kal_caps *caps,
                   struct kal_recipe *node, int64_t n[KAL_MOST_DIVIDED])
{
    const int64_t least = 2 * axis->n - 1;
    const int greatest = caps->language ? GREATEST_PRIME_OF_KERNELS : GREATEST_PRIME;
    const int64_t alone = kal_convolution_length_alone(least);
    (void)node;
    n[0] = kal_axis_is_convolved_alone(axis, alone, caps)
               ? alone
               : kal_convolution_length(least, caps);
    if (n[0] > 0 || (caps->language && kal_convolution_columns(least, caps, n) > 0))
        return;
    n[0] = least <= 64 ? kal_smooth_length(least, greatest)
                       : GRAIN * kal_smooth_length((least - 1) / GRAIN + 1, greatest);
}

static void divide(const struct kal_axis *axis, const struct kal_caps *caps,
                   const int64_t n[KAL_MOST_DIVIDED],
                   struct kal_axis child[KAL_MOST_DIVIDED])
{
    child[0] = kal_convolution_axis(axis, n[0], caps);
}

static bool complete(struct kal_recipe *node)
{
    return node->n >= 1 && node->n <= node->child[0]->n / 2 + 1 &&
           node->child[0]->n >= 2 * node->n - 1;
}

const struct kal_rule kal_rule_bluestein = { "bluestein", 1,      1,       applies,
                                             choose,      divide, complete };
