// SPDX-License-Identifier: MIT
#include "factor/together.h"

#include "factor/rule.h"

// Are rows of the axes from `first` on equally far apart, in the order of the axes, with none or
// some elements between them? Of reals two are an element.
static bool are_even(const struct kal_array *array, int rank, int first)
{
    const int last = rank - 1;
    const int64_t *stride = array->stride;
    const int64_t element = stride[last] * (array->is_real ? 2 : 1);

    for (int i = last - 1; i > first; i--) {
        if (stride[i - 1] != stride[i] * array->n[i])
            return false;
    }
    return element != 0 && stride[last - 1] % element == 0 &&
           stride[last - 1] / stride[last] >= array->n[last];
}

// Complex points of the axes from `first` on, as they lie on a tile: reals are half as many.
static double points_from(const struct kal_problem *p, int first)
{
    double points = p->kind == KALLIMA_C2C ? 1 : 0.5;
    for (int i = first; i < p->rank; i++)
        points *= (double)p->n[i];
    return points;
}

// Arrays of the axes from `first` on.
static double arrays_from(const struct kal_problem *p, int first)
{
    double arrays = (double)p->batch;
    for (int i = 0; i < first; i++)
        arrays *= (double)p->n[i];
    return arrays;
}

// Rows of reals in pairs, two at least, of two axes or three.
static bool suits_mirror(const struct kal_problem *p, int first)
{
    const int last = p->rank - 1;
    return p->rank - first <= 3 && p->n[last] % 2 == 0 &&
           points_from(p, first) * 2 > (double)p->n[last];
}

static bool fits_tile(const struct kal_problem *p, int first, const struct kal_caps *caps)
{
    enum { FEW = 16, LARGE = 4096 };
    const double points = points_from(p, first);

    // One tile is one group's: of a few arrays, many groups work several passes sooner.
    if (arrays_from(p, first) < FEW && points > LARGE)
        return false;
    return points <= (double)caps->local_points &&
           (p->kind == KALLIMA_C2C || suits_mirror(p, first)) &&
           are_even(&p->in, p->rank, first) && are_even(&p->out, p->rank, first);
}

// Do passes over the axes from `first` on, the tile's as one, find in the cache what they left there?
// Measured on an NVIDIA H200 in November 2026: of reals that is faster where a tile is one of the
// passes (64x64x64 1.1 times), without one slower as a mean (720x1280 back 0.78).
static bool fits_launch(const struct kal_problem *p, int first, int tile,
                        const struct kal_caps *caps)
{
    enum { MOST_PASSES = 3, FEW = 16 };
    const bool has_tile = tile < p->rank;
    const double bytes = points_from(p, first) * (kal_caps_is_f64(caps) ? 16 : 8);
    const int passes = (has_tile ? tile + 1 : p->rank) - first;
    for (int i = first; i < p->rank; i++) {
        if (p->n[i] == 1)
            return false;
    }
    return (has_tile ? arrays_from(p, first) >= FEW : p->kind == KALLIMA_C2C) &&
           passes >= 2 && passes <= MOST_PASSES &&
           kal_caps_cache_lines(caps, arrays_from(p, first), bytes);
}

struct kal_together kal_problem_together(const struct kal_problem *p,
                                         const struct kal_caps *caps)
{
    struct kal_together together = { p->rank, p->rank };

    if (!caps->language || p->rank < 2)
        return together;
    for (int i = p->rank - 2; i >= 0; i--) {
        if (fits_tile(p, i, caps))
            together.tile = i;
    }
    for (int i = p->rank - 2; i >= 0; i--) {
        if (fits_launch(p, i, together.tile, caps))
            together.launch = i;
    }
    return together;
}
