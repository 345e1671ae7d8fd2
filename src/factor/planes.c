// SPDX-License-Identifier: MIT
#include "factor/planes.h"

#include "codelet/lengths.h"
#include "factor/lanes.h"
#include "factor/radix.h"
#include "math/number.h"

// Percents: a tile whose lanes are so many of these for each hundred that lines fill
// loses to copies.
enum { ANY = 100, NEVER = INT16_MAX };

// Lines that fill registers by themselves are worked where they are, in planes as well;
// others in tiles, whose lanes few lines leave idle, while a line alone has registers of
// numbers. Reals are halves of such lines with a mirrored step.
static bool fill_registers(int64_t points, int64_t lanes, bool is_f64)
{
    enum { F32 = 8, F64 = 4, LARGEST = 13 };
    return points % kal_min(is_f64 ? F64 : F32, lanes) == 0 &&
           kal_radix_divides_kernel(points, LARGEST);
}

// Such lines are worked in registers of 32 bytes: where there are wider ones a few lose
// to copies, and longer ones of floats whatever their number.
static int least_lanes_filling(const struct kal_problem *p, int64_t lanes)
{
    enum { FEW = 3, SOME = 7, MORE = 8, LANES = 16, LANES_F64 = 8 };
    enum { NEAR = 60, LONG = 200, LONGEST = 512, SHORT_F64 = 32, LONGEST_F64 = 128 };
    const bool is_f64 = p->precision == KALLIMA_F64;
    const int64_t n = p->n[0], lines = p->batch;
    const bool is_power = (n & (n - 1)) == 0;

    if (lines == 1 || n > (is_f64 ? LONGEST_F64 : LONGEST))
        return NEVER;
    if (is_f64)
        return lanes >= LANES_F64 && lines <= (is_power && n >= SHORT_F64 ? MORE : FEW)
                   ? ANY
                   : NEVER;
    if (n <= NEAR)
        return lines <= SOME ? ANY : NEVER;
    return lanes >= LANES && (lines <= MORE || n >= LONG) ? ANY : NEVER;
}

// From how many percents of the lanes that lines fill on their tile loses.
static int least_lanes_complex(const struct kal_problem *p, int64_t lanes)
{
    enum { FEW = 3, FEW_F32 = 4, FEW_F64 = 4, SHORT = 34, QUAD = 4 };
    enum { LONG = 1024, LONG_F32 = 3200 };
    enum { SOME_F32 = 48, MANY_F32 = 96, LEAST = 130, SHORT_LEAST = 150 };
    const bool is_f64 = p->precision == KALLIMA_F64;
    const int64_t n = p->n[0], lines = p->batch;

    if (fill_registers(n, lanes, is_f64))
        return least_lanes_filling(p, lanes);
    if (is_f64)
        return n > LONG ? NEVER : lines <= FEW_F64 ? ANY : LEAST;
    if (n > LONG)
        return n <= LONG_F32 ? ANY : NEVER;
    if (lines == 1 && n < SHORT && n % QUAD == 0)
        return NEVER;
    if (lines < lanes && lines <= (n >= SHORT ? FEW_F32 : FEW))
        return ANY;
    return n >= MANY_F32 ? LEAST : n >= SOME_F32 ? SHORT_LEAST : NEVER;
}

// Those that have a codelet where they are packed are copied some at a time.
static bool have_codelets_packed(const struct kal_problem *p, bool are_wide)
{
    enum { FEWEST = 8, MOST_F32 = 16 };
    return kal_real_row_is_compiled(p->n[0]) && p->batch >= FEWEST &&
           (p->precision == KALLIMA_F64 || !are_wide || p->batch <= MOST_F32);
}

static int least_lanes_real(const struct kal_problem *p, int64_t lanes)
{
    enum { FEW = 4, SOME = 9, LONG = 2048, LONG_F32 = 3200, LONG_F64 = 1100 };
    enum { SHORT = 100, NEAR = 128, ALL = 320, LANES = 8, LANES_F64 = 4 };
    enum { LEAST = 130, SHORT_LEAST = 150, WIDE_LEAST = 190 };
    const bool is_f64 = p->precision == KALLIMA_F64;
    const bool are_wide = lanes > (is_f64 ? LANES_F64 : LANES);
    const int64_t n = p->n[0], lines = p->batch;
    const bool fill = fill_registers(n / 2, lanes, is_f64);

    if (fill && n > (is_f64 ? LONG_F64 : LONG_F32))
        return NEVER;
    if (lines <= FEW || (fill && n >= (lines <= SOME ? NEAR : ALL)) ||
        (!fill && n > LONG) || have_codelets_packed(p, are_wide))
        return ANY;
    if (n >= SHORT || (is_f64 && !are_wide))
        return LEAST;
    return is_f64 || !are_wide ? SHORT_LEAST : WIDE_LEAST;
}

// Measured on a Zen 4 processor in November 2026, 4200 problems of 18 to 12000 points, up
// to 100 lines: these take 0.2 to 1.2 of the time by way of copies. Of 648 more on a Xeon
// with AVX-512 103 of the 125 that changed are faster, 1.23 times as a mean, held to AVX2
// 132 of 138, 1.40 times.
bool kal_planes_are_copied(const struct kal_problem *p, const struct kal_caps *caps)
{
    enum { SHORTEST = 18, SHORTEST_REAL = 33, FEWEST_LANES = 4 };
    enum { MOST_LINES = 3, LONGEST = 500 };
    const bool is_real = p->kind != KALLIMA_C2C, is_f64 = p->precision == KALLIMA_F64;
    const int64_t lanes = kal_caps_lanes_of(caps, is_f64);
    const int64_t tile = p->batch <= lanes / 2 ? lanes / 2 : lanes;

    if ((!p->in.is_planar && !p->out.is_planar) ||
        p->n[0] < (is_real ? SHORTEST_REAL : SHORTEST))
        return false;
    if (lanes < FEWEST_LANES)
        return is_real && p->batch <= MOST_LINES && p->n[0] <= LONGEST;
    return kal_tiles_are_left_empty(
        p->batch, tile, (is_real ? least_lanes_real : least_lanes_complex)(p, lanes));
}
