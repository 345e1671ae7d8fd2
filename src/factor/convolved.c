// SPDX-License-Identifier: MIT
#include "factor/convolved.h"

#include "factor/whole.h"
#include "math/number.h"

// Near a core: both arrays of a convolution, its tables, the line.
static bool stays_near(int64_t points, int64_t lines, const struct kal_caps *caps)
{
    enum { ARRAYS = 4, MANY_LINES = 16, MOST_TIMES_NEAR = 16 };
    const int64_t near = (int64_t)caps->near_bytes,
                  bytes = ARRAYS * points * (kal_caps_is_f64(caps) ? 16 : 8);
    return bytes <= near || (lines >= MANY_LINES && bytes <= MOST_TIMES_NEAR * near);
}

// What one line takes by itself, of the time of a tile with all its lanes: by precision
// and length. Measured on a Xeon in December 2026 with AVX-512 and held to AVX2, 37 to
// 2017 points and their doubles, as reals as well, in batches of 2 to 1000.
enum { SHORT, MIDDLE, LONG, LENGTHS };

static const double share_wide[2][LENGTHS] = { { 0.18, 0.088, 0.053 },
                                               { 0.24, 0.145, 0.1 } };
static const double share_narrow[2][LENGTHS] = { { 0.2, 0.2, 0.145 },
                                                 { 0.34, 0.34, 0.29 } };

// Tiles store half of the spectrum of an odd number of reals; halves of even ones take a
// mirrored step, which lines alone do faster.
static const double of_odd_reals[LENGTHS] = { 1.0, 1.15, 1.5 };
static const double of_even_reals[LENGTHS] = { 0.78, 0.8, 1.1 };

static double share_of_tile(const struct kal_axis *axis, const struct kal_caps *caps)
{
    enum { SHORT_POINTS = 75, LONG_POINTS = 240 };
    const int length = axis->n < SHORT_POINTS  ? SHORT
                       : axis->n < LONG_POINTS ? MIDDLE
                                               : LONG;
    const bool is_wide = kal_caps_has_64_bytes(caps);
    const double share =
        (is_wide ? share_wide : share_narrow)[kal_caps_is_f64(caps)][length];
    return axis->mirrors_first || axis->mirrors_last ? share * of_even_reals[length]
           : axis->is_odd_real                       ? share * of_odd_reals[length]
                                                     : share;
}

bool kal_axis_is_convolved_alone(const struct kal_axis *axis, int64_t points,
                                 const struct kal_caps *caps)
{
    if (caps->language || axis->array_bytes > 0.0 || axis->is_first_step ||
        axis->is_second_step || !stays_near(points, axis->lines, caps))
        return false;
    return !kal_convolution_fills_lanes(points, axis->lines, caps) ||
           share_of_tile(axis, caps) * (double)axis->lines <=
               kal_convolution_tiles(axis->lines, caps);
}

struct kal_axis kal_convolution_axis(const struct kal_axis *axis, int64_t points,
                                     const struct kal_caps *caps)
{
    const bool on_lanes = kal_convolution_fills_lanes(points, axis->lines, caps);
    if (kal_axis_is_convolved_alone(axis, points, caps))
        return (struct kal_axis){ .n = points, .lines = 1, .is_only = true };
    return (struct kal_axis){
        .n = points,
        .lines = on_lanes ? kal_max(axis->lines, KAL_TILE_LINES) : 1,
        .lines_are_adjacent = on_lanes && !caps->language,
        .shares_tile = true,
        .is_convolved = true,
    };
}

// An eighth apart, with as many factors of two as there can be.
int64_t kal_convolution_length_alone(int64_t least)
{
    enum { LAST = 128 };
    static const int lengths[] = { 64, 72, 80, 96, 112, 120, LAST };
    int64_t unit = 1;
    size_t i = 0;

    while (LAST * unit < least)
        unit *= 2;
    while (lengths[i] * unit < least)
        i++;
    return lengths[i] * unit;
}

// 61 primes of 37 to 3001, measured there, too: Rader's takes 0.46 to 1.0 of the time, but
// 1.0 to 2.0 where rows of its lines do not fill registers.
bool kal_padding_is_faster_alone(const struct kal_axis *axis, const struct kal_caps *caps)
{
    enum { QUAD = 4, MOST_F32 = 200, MOST_F64 = 140, LARGEST_PRIME = 11 };
    const int64_t points = axis->n - 1;
    const bool is_f64 = kal_caps_is_f64(caps);
    return points % QUAD != 0 && points < (is_f64 ? MOST_F64 : MOST_F32) &&
           !(is_f64 && kal_greatest_prime(points) <= LARGEST_PRIME);
}

const struct kal_recipe *kal_recipe_find_convolved(const struct kal_recipe *recipe,
                                                   const struct kal_problem *p,
                                                   const struct kal_caps *caps)
{
    const struct kal_caps limited = kal_caps_limit(caps, p->precision == KALLIMA_F64);
    struct kal_axis axis = { .lines = p->batch };

    if (recipe->rule == KAL_RULE_REAL_EVEN || recipe->rule == KAL_RULE_REAL_ODD) {
        axis.mirrors_last = recipe->rule == KAL_RULE_REAL_EVEN;
        axis.is_odd_real = !axis.mirrors_last;
        recipe = recipe->child[0];
    }
    axis.n = recipe->n;
    return p->rank == 1 &&
                   (recipe->rule == KAL_RULE_BLUESTEIN ||
                    recipe->rule == KAL_RULE_RADER) &&
                   kal_axis_is_convolved_alone(&axis, recipe->child[0]->n, &limited)
               ? recipe
               : NULL;
}
