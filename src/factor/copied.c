// SPDX-License-Identifier: MIT
#include "factor/copied.h"

#include <stdlib.h>

#include "codelet/lengths.h"
#include "factor/convolved.h"
#include "factor/lanes.h"
#include "factor/planes.h"
#include "factor/radix.h"
#include "factor/recipe.h"
#include "factor/together.h"
#include "math/number.h"

// Bytes between neighbours of a line, on the side where these are most.
static int64_t bytes_apart(const struct kal_problem *p)
{
    const int64_t bytes = p->precision == KALLIMA_F64 ? 8 : 4;
    return bytes * kal_max(llabs(p->in.stride[0]) * (p->in.is_real ? 1 : 2),
                           llabs(p->out.stride[0]) * (p->out.is_real ? 1 : 2));
}

// Are lines nearer to each other than their elements?
static bool are_columns(const struct kal_problem *p, const struct kal_array *side)
{
    return p->batch > 1 && llabs(side->batch_stride) < llabs(side->stride[0]);
}

static bool are_rows(const struct kal_problem *p)
{
    return !are_columns(p, &p->in) && !are_columns(p, &p->out);
}

static int64_t lanes_of(const struct kal_problem *p, const struct kal_caps *caps)
{
    return kal_caps_lanes_of(caps, p->precision == KALLIMA_F64);
}

// From so many bytes on each number has a line or two of the caches by itself.
static bool are_far_apart(const struct kal_problem *p)
{
    enum { FAR_BYTES = 128 };
    return bytes_apart(p) >= FAR_BYTES;
}

// Percents of the lanes that lines apart fill, from which on they are faster by way of
// copies than in tiles that leave the rest of them empty. Those of powers of two compete
// for lines of the nearest cache in tiles. Measured as what follows.
static int most_lanes_apart(const struct kal_problem *p)
{
    enum { ALWAYS = 100, FAR_LEAST = 125, LEAST = 130, SHORT_LEAST = 150 };
    enum { NEAR_BYTES = 4 << 20 };
    enum { LONG = 512, LONG_FAR = 64, LONG_REAL = 64, LONG_REAL_F64 = 256, FEW_F32 = 8 };
    const bool is_real = p->kind != KALLIMA_C2C, is_f64 = p->precision == KALLIMA_F64;
    const int64_t n = p->n[0], points = is_real ? n / 2 : n;
    const bool is_far = are_far_apart(p), is_power = (n & (n - 1)) == 0;
    const bool is_long = is_far    ? points >= LONG_FAR
                         : is_real ? is_f64 && n >= LONG_REAL_F64
                                   : n >= LONG;

    if (is_power && is_long && (is_f64 || p->batch > FEW_F32) &&
        n * bytes_apart(p) <= NEAR_BYTES / p->batch)
        return ALWAYS;
    if (is_far)
        return FAR_LEAST;
    return n >= LONG_REAL ? LEAST : SHORT_LEAST;
}

// Lengths of lines of which one alone is faster than its lane of a tile by more than its
// copies take, by lanes: those of elements that lie two apart, and others.
struct alone {
    bool is_real;
    int64_t lanes, least_second, most_second, least, most;
};

// Measured there, too, 5300 batches of 36 to 8000 points, strides of 2, 3, 4 and 8: these
// take 0.45 to 1.2 of the time so, 0.8 as means of those that changed; others 0.9 to 1.6.
static const struct alone alone[] = {
    { false, 4, 48, 256, 48, 256 },    { false, 8, 80, 320, 64, 320 },
    { false, 16, 48, 4096, 48, 1000 }, { true, 8, 128, 1000, 160, 512 },
    { true, 16, 96, 8192, 160, 8192 },
};

// Such as leave the nearer cache as tiles are, too.
static bool are_faster_alone(const struct kal_problem *p, int64_t lanes)
{
    enum { LONG = 4096, SECOND = 2, MOST_REALS_APART = 4 };
    const bool is_real = p->kind != KALLIMA_C2C;
    const int64_t n = p->n[0];
    const int64_t apart = kal_max(llabs(p->in.stride[0]), llabs(p->out.stride[0]));

    if ((is_real ? n / 2 : n) > LONG)
        return true;
    if (is_real ? n % 2 != 0 || apart > MOST_REALS_APART : are_far_apart(p))
        return false;
    for (size_t i = 0; i < KAL_COUNT(alone); i++) {
        const struct alone *a = &alone[i];
        if (a->is_real == is_real && a->lanes == lanes)
            return apart <= SECOND ? n >= a->least_second && n <= a->most_second
                                   : n >= a->least && n <= a->most;
    }
    return false;
}

// Fewer lines leave registers of a number of each empty.
enum { FEWEST_TOGETHER = 8 };

// Have lines that lie packed a codelet that those whose elements lie near each other, but
// apart, lack? Some of these at a time are copied then. Measured on a Xeon with AVX-512
// and held to AVX2, 3000 batches of 18 to 130 points, strides of 2, 3 and 4: these take
// 0.5 to 1.2 of the time so, 0.8 as a mean, others up to 2.5.
static bool have_codelets_packed(const struct kal_problem *p, int64_t lanes)
{
    enum { SECOND = 2, MOST_APART = 4, LANES_OF_SECOND = 8, FEWEST_LANES = 4 };
    const bool is_real = p->kind != KALLIMA_C2C;
    const int64_t n = p->n[0];
    const int64_t apart = kal_max(llabs(p->in.stride[0]), llabs(p->out.stride[0]));

    if (p->batch < FEWEST_TOGETHER || lanes < FEWEST_LANES || !are_rows(p) ||
        p->in.is_planar || p->out.is_planar ||
        apart > (!is_real && lanes == LANES_OF_SECOND ? SECOND : MOST_APART))
        return false;
    return is_real ? p->precision == KALLIMA_F32 && n > KAL_REAL_MAX &&
                         kal_real_row_is_compiled(n)
                   : n < KAL_NUMBERS_MAX && kal_length_is_of_numbers(n);
}

// Measured on a Zen 4 processor in November 2026, 1176 problems of 36 to 16384 points,
// strides of 2 and 16 and columns, one to eight lines: up to a few take 0.4 to 0.9 of the
// time by way of copies. Of 980 more, of 5 to 64 lines, 5 and 9 take 0.4 to 0.95, 6 and
// 12 some, powers of two from 512 on all, 0.5 to 0.95.
//
// Rows that fill no more than two tiles of the widest registers leave most of several
// threads idle, or registers nearly empty: 16 and 32 of 100 to 2000 points, strides of 16
// to 1024, take 0.14 to 1.0 of the time by way of copies on 16 threads of a Xeon, 100
// floats 1024 apart 2.3; on one thread, 400 problems of 60 to 4096 points, strides of 2
// to 1024, 0.6 to 1.35, 0.99 as a mean; 64 and more 1.05 to 1.2.
static bool are_few_apart(const struct kal_problem *p, const struct kal_caps *caps)
{
    enum {
        TILES = 2,
        MOST_F32 = 4,
        MOST_F64 = 3,
        MOST_COLUMNS_F32 = 6,
        MOST_COLUMNS_F64 = 5
    };
    const bool is_f64 = p->precision == KALLIMA_F64;
    const int64_t lanes = lanes_of(p, caps);
    const int64_t tile = p->batch <= lanes / 2 ? lanes / 2 : lanes;

    if (p->batch <= (is_f64 ? MOST_F64 : MOST_F32) ||
        (are_rows(p) && p->batch <= (int64_t)TILES * caps->lanes_f32))
        return true;
    if (are_columns(p, &p->in) && are_columns(p, &p->out))
        return p->kind == KALLIMA_C2C &&
               p->batch <= (is_f64 ? MOST_COLUMNS_F64 : MOST_COLUMNS_F32);
    if (have_codelets_packed(p, lanes) || (are_rows(p) && are_faster_alone(p, lanes)))
        return true;
    return caps->lanes_f32 > 1 &&
           kal_tiles_are_left_empty(p->batch, tile, most_lanes_apart(p));
}

// Is a line short enough for its copy to stay near?
static bool is_near(const struct kal_problem *p)
{
    enum { BYTES = 128 << 10 };
    return p->n[0] < BYTES / (p->precision == KALLIMA_F64 ? 16 : 8);
}

static bool are_neighbours(const struct kal_array *side)
{
    return side->batch_stride == 1 && !side->is_planar;
}

// Lines of which each number's neighbours in memory are other lines', of lengths that one
// line alone is fast at.
static bool are_neat_columns(const struct kal_problem *p)
{
    const bool is_real = p->kind != KALLIMA_C2C;
    return are_columns(p, &p->in) && are_columns(p, &p->out) && are_neighbours(&p->in) &&
           are_neighbours(&p->out) && !(is_real && p->n[0] % 2) &&
           kal_radix_divides(is_real ? p->n[0] / 2 : p->n[0]);
}

bool kal_columns_are_long(const struct kal_problem *p)
{
    return p->n[0] / (p->kind == KALLIMA_C2C ? 1 : 2) > KAL_MAX_LOCAL;
}

// Percents of the lanes that columns fill, from which on they are faster by way of copies.
static int most_lanes_of_columns(const struct kal_problem *p, int64_t tile, int64_t tiles)
{
    enum { ONE_TILE = 114, FEW_EMPTY = 133, TWO_TILES = 145, NEVER = 1000 };
    enum { MANY_LANES = 16, SHORT_REAL = 64, LONG_REAL = 256, LONG = 128 };
    const bool is_real = p->kind != KALLIMA_C2C;
    const int64_t n = p->n[0];

    if (tiles == 1)
        return tile < MANY_LANES ? ONE_TILE : FEW_EMPTY;
    if (is_real)
        return tiles <= 3 && (n <= SHORT_REAL || n >= LONG_REAL) ? FEW_EMPTY : NEVER;
    if (tiles > 2 || n % 2 || (tile == MANY_LANES && n < LONG))
        return NEVER;
    return tile < MANY_LANES ? FEW_EMPTY : TWO_TILES;
}

// Measured in November 2026 on a Xeon with AVX-512 and held to AVX2, 820 batches of 2 to
// 64 columns of 36 to 65536 points: up to 7 take 0.15 to 0.9 of the time so, others by
// the lanes that they leave empty 0.5 to 1.0, and longer ones, whose tiles have several
// visits, 0.25 to 0.9. Two complex ones of 16500 to 160000 points, which are copied at
// once, take 0.62 to 1.02 on one thread in December 2026, 16500 doubles 1.19.
static bool are_columns_copied(const struct kal_problem *p, const struct kal_caps *caps)
{
    enum { SHORTEST = 33, FEW = 4 };
    const int64_t lanes = lanes_of(p, caps);
    const int64_t tile = p->batch <= lanes / 2 ? lanes / 2 : lanes;
    const int64_t tiles = (p->batch + lanes - 1) / lanes;

    if (p->n[0] < SHORTEST)
        return false;
    if (kal_columns_are_long(p))
        return true;
    if (p->batch < FEW || (p->batch == FEW && lanes > FEW))
        return true;
    return kal_tiles_are_left_empty(p->batch, tile,
                                    most_lanes_of_columns(p, tile, tiles));
}

// Short convolutions, of which several lines on the lanes of tiles cost as much as one.
// Measured in November 2026 on a Xeon, lengths with a prime of 37 to 1009 that is no
// radix, 2 to 24 lines: up to so many points copies take 0.8 to 6 times as long, longer
// ones mostly less.
static bool are_convolved_together(const struct kal_problem *p)
{
    enum { LONG = 160, LONG_REAL = 128 };
    const bool is_real = p->kind != KALLIMA_C2C;
    const int64_t points = is_real ? p->n[0] / 2 : p->n[0];
    return p->batch > 1 && points < (is_real ? LONG_REAL : LONG) &&
           !kal_radix_divides(points);
}

static bool are_lines_copied(const struct kal_problem *p, const struct kal_caps *caps)
{
    enum { SHORTEST = 33, FEWEST_LANES = 4 };
    if (lanes_of(p, caps) >= FEWEST_LANES && are_neat_columns(p))
        return are_columns_copied(p, caps);
    if (!is_near(p))
        return false;
    if (p->in.stride[0] == 1 && p->out.stride[0] == 1)
        return kal_planes_are_copied(p, caps);
    if (p->n[0] < SHORTEST)
        return have_codelets_packed(p, lanes_of(p, caps));
    return !are_convolved_together(p) && are_few_apart(p, caps);
}

// Do arrays lie between each other's elements?
static bool are_beside(const struct kal_problem *p)
{
    const int last = p->rank - 1;
    return p->batch > 1 && (llabs(p->in.batch_stride) < llabs(p->in.stride[last]) ||
                            llabs(p->out.batch_stride) < llabs(p->out.stride[last]));
}

// Arrays of longer rows lose by copies more often than they gain: planes of complex
// numbers, of which each part is copied by itself, reals, and arrays between each other's
// elements.
static int64_t longest_copied_row(const struct kal_problem *p)
{
    enum { SHORT = 32, SHORT_PLANAR = 6 };
    if (p->kind != KALLIMA_C2C)
        return SHORT;
    if (p->in.is_planar || p->out.is_planar)
        return SHORT_PLANAR;
    return are_beside(p) ? SHORT : INT64_MAX;
}

// Of one array. Larger ones than 64 KiB with strides, 82 of 2 and 3, alone and up to 16 of
// them, take 0.71, 0.69, 0.70 and 0.79 of the time on one, two, four and 16 threads of a
// Xeon in December 2026, as means: 0.3 to 1.02 on one, but up to 2.7 on 16 where one
// thread works what is packed, such as 20x25x30 doubles; 11 of more than 256 KiB 0.6 to
// 1.8. Those in planes and between each other's elements were not timed.
static int64_t most_bytes(const struct kal_problem *p)
{
    enum { APART = 256 << 10, OTHERS = 64 << 10 };
    return p->in.is_planar || p->out.is_planar || are_beside(p) ? OTHERS : APART;
}

// Small arrays as if they were lines, for they follow on themselves, each in turn.
// Measured there, too, 234 arrays alone of 48 to 65536 points and 288 in batches, with
// strides of 2 and 3, in planes and between each other's elements, take 0.25 to 4.4 of
// the time without these limits; with them 254, most of them among those, 0.17 to 1.12.
static bool are_arrays_copied(const struct kal_problem *p, const struct kal_caps *caps)
{
    const int last = p->rank - 1, bytes = p->precision == KALLIMA_F64 ? 16 : 8;
    return !(kal_array_is_contiguous(&p->in, p->rank) &&
             kal_array_is_contiguous(&p->out, p->rank)) &&
           kal_array_follows_itself(&p->in, p->rank) &&
           kal_array_follows_itself(&p->out, p->rank) &&
           kal_problem_together(p, caps).tile == p->rank &&
           kal_points_from(p, 0) * bytes <= most_bytes(p) &&
           p->n[last] <= longest_copied_row(p);
}

// Lines of an odd number of reals that have no codelet.
static bool are_odd_reals(const struct kal_problem *p)
{
    return p->rank == 1 && p->kind != KALLIMA_C2C && p->n[0] % 2 == 1 &&
           kal_radix_divides(p->n[0]) && !kal_real_length_is_compiled(p->n[0]);
}

// A few of these, or such as do not fit tiles. Measured on a Zen 4 processor in November
// 2026: single ones of 21 to 525 points take 0.35 to 0.98 of the time so, longer ones 0.7
// to 1.07, so many of these 0.3 to 0.97, but f64 21 1.1, and those of more than 1024
// points in batches of any size 0.5 to 0.9.
static bool are_odd_reals_copied(const struct kal_problem *p, const struct kal_caps *caps)
{
    enum { MOST_F32 = 5, MOST_F64 = 3, LONG = 1024 };
    const bool is_f64 = p->precision == KALLIMA_F64;
    return are_odd_reals(p) && caps->lanes_f32 > 1 && is_near(p) &&
           (p->batch <= (is_f64 ? MOST_F64 : MOST_F32) || p->n[0] > LONG);
}

// Primes of reals that are convolved by themselves, forward: the first step reads them.
static bool are_convolved_where_they_lie(const struct kal_problem *p,
                                         const struct kal_caps *caps)
{
    const int64_t n = p->n[0];
    const struct kal_caps limited = kal_caps_limit(caps, p->precision == KALLIMA_F64);
    const struct kal_axis axis = { .n = n, .lines = p->batch, .is_odd_real = true };
    return p->kind == KALLIMA_R2C && !p->out.is_planar && p->in.stride[0] == 1 &&
           p->out.stride[0] == 1 && !kal_radix_exists(n) &&
           kal_axis_is_convolved_alone(&axis, kal_convolution_length_alone(2 * n - 1),
                                       &limited) &&
           kal_is_prime(n);
}

static bool are_some_lines_copied(const struct kal_problem *p,
                                  const struct kal_caps *caps)
{
    return (are_lines_copied(p, caps) || are_odd_reals_copied(p, caps)) &&
           !are_convolved_where_they_lie(p, caps);
}

bool kal_is_copied(const struct kal_problem *p, const struct kal_caps *caps)
{
    return !caps->language &&
           (p->rank == 1 ? are_some_lines_copied(p, caps) : are_arrays_copied(p, caps));
}

static void widen(struct kal_array *array, int64_t n)
{
    array->is_real = false;
    array->n[0] = array->batch_stride = array->elements = n;
}

// Longer ones, and a few, are as fast one by one where they are packed, too. Copies of so
// many shorter ones stay in the nearest cache beside the lines themselves.
static int64_t lines_at_once(const struct kal_problem *p)
{
    enum { NEAR_BYTES = 4 << 10 };
    const double points =
        kal_points_from(p, 0); // complex ones of one array; of reals half as many
    const double bytes = points * (p->precision == KALLIMA_F64 ? 16 : 8);
    if (points >= KAL_NUMBERS_MAX || p->batch < FEWEST_TOGETHER)
        return 1;
    return kal_min(p->batch, (int64_t)(NEAR_BYTES / bytes));
}

struct kal_problem kal_problem_copied(const struct kal_problem *p)
{
    struct kal_problem copied = kal_problem_packed(p);

    if (!are_odd_reals(p)) {
        copied.batch = lines_at_once(p);
    } else {
        copied.kind = KALLIMA_C2C;
        copied.is_inverse = false;
        widen(&copied.in, p->n[0]);
        widen(&copied.out, p->n[0]);
    }
    return copied;
}
