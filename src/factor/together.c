// SPDX-License-Identifier: MIT
#include "factor/together.h"

#include "codelet/lengths.h"
#include "factor/alone.h"
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

double kal_points_from(const struct kal_problem *p, int first)
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
           kal_points_from(p, first) * 2 > (double)p->n[last];
}

// Points of a tile: more of complex planes of floats whose axes take several steps each,
// where these gain by being exchanged in halves.
static double most_points(const struct kal_problem *p, int first,
                          const struct kal_caps *caps)
{
    enum { LEAST_ROWS = 64 };
    const int last = p->rank - 1;
    const bool can_halve = p->kind == KALLIMA_C2C && first == last - 1 &&
                           p->n[first] >= LEAST_ROWS && p->n[last] >= LEAST_ROWS;
    return (double)(can_halve && kal_caps_gain_by_halves(caps) && !kal_caps_is_f64(caps)
                        ? caps->halved_points
                        : caps->local_points);
}

static bool fits_tile(const struct kal_problem *p, int first, const struct kal_caps *caps)
{
    enum { FEW = 16, LARGE = 4096 };
    const double points = kal_points_from(p, first);

    // One tile is one group's: of a few arrays, many groups work several passes sooner.
    if (arrays_from(p, first) < FEW && points > LARGE)
        return false;
    return points <= most_points(p, first, caps) &&
           (p->kind == KALLIMA_C2C || suits_mirror(p, first)) &&
           are_even(&p->in, p->rank, first) && are_even(&p->out, p->rank, first);
}

// Are passes that find in the cache what others left there faster than passes over all?
// Measured on an NVIDIA H200 in November 2026: complex ones are; of reals those where a
// tile is one of the passes (64x64x64 1.1 times), and many small planes (200x200 and
// 256x256 1.0 to 1.3 times), but not others (720x1280 back 0.78, the planes of
// 200x200x200 0.83).
static bool gains_by_launch(const struct kal_problem *p, int first, bool has_tile)
{
    enum { SEVERAL = 16, MANY = 128, SMALL = 1 << 15 };
    const double arrays = arrays_from(p, first);
    if (has_tile)
        return arrays >= SEVERAL;
    return p->kind == KALLIMA_C2C ||
           (first == 0 && p->n[p->rank - 1] % 2 == 0 && arrays >= MANY &&
            kal_points_from(p, first) <= SMALL);
}

static bool fits_launch(const struct kal_problem *p, int first, int tile,
                        const struct kal_caps *caps)
{
    enum { MOST_PASSES = 3 };
    const bool has_tile = tile < p->rank;
    const double bytes = kal_points_from(p, first) * (kal_caps_is_f64(caps) ? 16 : 8);
    const int passes = (has_tile ? tile + 1 : p->rank) - first;
    for (int i = first; i < p->rank; i++) {
        if (p->n[i] == 1 || !kal_caps_suit_tickets(caps, p->n[i]))
            return false;
    }
    return passes >= 2 && passes <= MOST_PASSES && gains_by_launch(p, first, has_tile) &&
           kal_caps_cache_lines(caps, arrays_from(p, first), bytes);
}

// Most points of arrays on the lanes of a CPU's registers, an array on each: of those
// whose rows fill registers evenly, so that axis after axis is fast, too, and of others,
// in planes and in more axes. An array by itself leaves lanes idle and is looked up axis
// by axis. Measured on a Zen 4 processor, in November 2026, by timing 36 shapes of 4 to
// 8000 points in batches of 0.25, 1 and 12 MB both ways; real ones, of half as many
// points, on a Xeon by 52 shapes of up to 4000 points in 1 and 12 MB.
static const struct lane_limits {
    int lanes; // of floats
    bool is_f64;
    int even_plane, even_volume, plane, volume, r2c, c2r;
} lane_limits[] = {
    { 16, false, 256, 2560, 1024, 8192, 4096, 4096 },
    { 16, true, 256, 4096, 600, 8192, 4096, 4096 },
    { 8, false, 256, 2560, 1024, 8192, 4096, 4096 },
    { 8, true, 64, 128, 128, 1024, 512, 4096 },
};

static int most_lane_points(const struct kal_problem *p, int lanes, bool is_even)
{
    const bool is_f64 = p->precision == KALLIMA_F64, is_plane = p->rank == 2;
    for (size_t i = 0; i < KAL_COUNT(lane_limits); i++) {
        const struct lane_limits *l = &lane_limits[i];
        if (l->lanes != lanes || l->is_f64 != is_f64)
            continue;
        if (p->kind != KALLIMA_C2C)
            return p->kind == KALLIMA_R2C ? l->r2c : l->c2r;
        return is_even ? (is_plane ? l->even_plane : l->even_volume)
                       : (is_plane ? l->plane : l->volume);
    }
    return 0;
}

// Are arrays enough for that? Of small ones half a tile is, of larger ones as many as
// give several threads work: how many there are may not be asked, since bits shall not
// depend on it.
static bool fill_lanes(int64_t arrays, double points, int lanes, bool is_even)
{
    enum { SMALL = 512, LARGE = 2048, SEVERAL_TILES = 2 };
    const int64_t tiles = (arrays + lanes - 1) / lanes;
    if (points > SMALL)
        return arrays >= lanes * (points > LARGE ? SEVERAL_TILES : 1);
    return is_even ? 4 * arrays >= 3 * tiles * lanes : 2 * arrays >= tiles * lanes;
}

// Points of arrays that are faster axis by axis, each by itself; rows of reals have a
// codelet. From so many on in batches that fit the nearer caches, in larger ones, and
// beyond these. Measured on a Zen 4 processor in November 2026, 12000 batches of 0.1 KB
// to 4 MB both ways: what is worked so takes 0.7 to 0.8 of the time as means, a tenth of
// it more than before; 206 of 6 to 12 MB: 0.76, the complex ones 0.84 on one thread and
// on two. On Xeons of 1.25 and 2 MiB of L2, one thread, 14 batches of 8 to 28 MB of
// volumes of 216 to 3375 floats take 0.93 and 0.81, 12x12x12 0.77 and 0.75 to 0.88, on
// sixteen of the latter 343 to 1728 points 0.70 to 0.90, but 216 1.18.
static const struct axes_limits {
    bool is_volume, is_real, is_f64;
    int least_small, least_near, least_far;
    int least_dear; // in place of the last, where steps on the lanes of a line are dear
} axes_limits[] = {
    { false, false, false, 0, 128, 0, 0 },       { false, false, true, 0, 0, 0, 0 },
    { false, true, false, 0, 0, 0, 0 },          { false, true, true, 0, 0, 0, 0 },
    { true, false, false, 384, 384, 5000, 300 }, { true, false, true, 32, 64, 0, 0 },
    { true, true, false, 16, 192, 0, 0 },        { true, true, true, 0, 0, 0, 0 },
};

// Planes that are one function each, which the table above was measured without. Of complex ones
// 12 batches of 2x2 to 10x10 floats of 0.15 to 2 MB take 0.47 to 1.05 of the time of lanes
// on a Xeon, 0.75 as a mean, 0.49 to 0.89 with AVX2.
static bool are_of_one_function(const struct kal_problem *p)
{
    return p->rank == 2 && kal_array_is_contiguous(&p->in, p->rank) &&
           kal_array_is_contiguous(&p->out, p->rank) &&
           kal_plane_is_compiled(p->n[0], p->n[1], p->kind != KALLIMA_C2C);
}

// Rows of reals that are faster alone than in tiles of rows are so than in tiles of
// arrays, too, 235 shapes of such rows and up to 4096 points in batches of 64 KB to 12
// MB: 0.79 of the time as a mean on a Xeon, 0.39 to 1.38, the less where arrays leave
// lanes idle.
static bool are_of_fast_rows(const struct kal_problem *p, const struct kal_caps *caps)
{
    return p->kind != KALLIMA_C2C && caps->steps_are_dear &&
           kal_rows_are_fast_reals(p, caps);
}

static bool are_faster_by_axes(const struct kal_problem *p, const struct kal_caps *caps)
{
    enum { SMALL_BYTES = 128 << 10, NEAR_BYTES = 4 << 20, ROW = 8 };
    const bool is_f64 = p->precision == KALLIMA_F64, is_real = p->kind != KALLIMA_C2C;
    const int64_t row = p->n[p->rank - 1];
    const double points = kal_points_from(p, 0),
                 bytes = points * (double)p->batch * (is_f64 ? 16 : 8);

    if (is_real && !kal_real_length_is_compiled(row) && !kal_rows_are_long_reals(p, caps))
        return false;
    for (size_t i = 0; i < KAL_COUNT(axes_limits); i++) {
        const struct axes_limits *l = &axes_limits[i];
        const int far = caps->steps_are_dear ? l->least_dear : l->least_far;
        if (l->is_volume == (p->rank > 2) && l->is_real == is_real && l->is_f64 == is_f64)
            return bytes <= SMALL_BYTES  ? points >= l->least_small
                   : bytes <= NEAR_BYTES ? points >= l->least_near
                                         : points >= far || row % ROW == 0;
    }
    return false;
}

static bool fit_lanes(const struct kal_problem *p, const struct kal_caps *caps)
{
    const int lanes = kal_caps_lanes_of(caps, p->precision == KALLIMA_F64);
    const double points = kal_points_from(p, 0);

    if ((p->kind != KALLIMA_C2C && !suits_mirror(p, 0)) || lanes < 2)
        return false;
    const bool is_even = p->kind == KALLIMA_C2C && p->n[p->rank - 1] % lanes == 0;
    return !are_of_one_function(p) && !are_faster_by_axes(p, caps) &&
           !are_of_fast_rows(p, caps) &&
           points <= most_lane_points(p, caps->lanes_f32, is_even) &&
           fill_lanes(p->batch, points, lanes, is_even) &&
           kal_array_follows_itself(&p->in, p->rank) &&
           kal_array_follows_itself(&p->out, p->rank);
}

struct kal_together kal_problem_together(const struct kal_problem *p,
                                         const struct kal_caps *caps)
{
    struct kal_together together = { p->rank, p->rank };

    if (p->rank < 2)
        return together;
    if (!caps->language) {
        together.tile = fit_lanes(p, caps) ? 0 : p->rank;
        return together;
    }
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
