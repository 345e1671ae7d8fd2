// SPDX-License-Identifier: MIT
#include "factor/alone.h"

#include "codelet/lengths.h"
#include "factor/radix.h"
#include "factor/rule.h"

// All of a batch: as many points as one thread works.
enum { ALL = 32767 };

// The most lines, of complex points `least` and more, multiples of `multiple`; the first row counts
// that fits. Measured on a Zen 4 processor in November 2026, by timing 136 lengths and kinds in batches
// of 2 to 256 both ways: the lines of a batch of two take down to a quarter of the time.
static const struct row {
    bool is_real, is_f64;
    int least, multiple, most_lines;
} rows[] = {
    { false, false, 256, 32, ALL }, { false, false, 512, 8, 1 },
    { false, false, 64, 8, 3 },     { false, false, 48, 1, 8 },
    { false, false, 1, 1, 7 },      { false, true, 64, 32, ALL },
    { false, true, 64, 24, ALL },   { false, true, 170, 1, 7 },
    { false, true, 64, 1, 5 },      { false, true, 1, 1, 7 },
    { true, false, 256, 8, ALL },   { true, false, 64, 1, 8 },
    { true, false, 24, 1, 6 },      { true, false, 16, 1, 3 },
    { true, false, 1, 1, 7 },       { true, true, 240, 8, ALL },
    { true, true, 64, 1, 8 },       { true, true, 24, 1, 4 },
    { true, true, 16, 1, 3 },       { true, true, 1, 1, 7 },
};

static int most_lines(bool is_real, bool is_f64, int64_t points)
{
    int i = 0;
    while (rows[i].is_real != is_real || rows[i].is_f64 != is_f64 ||
           points < rows[i].least || points % rows[i].multiple != 0)
        i++;
    return rows[i].most_lines;
}

// Do the elements of a line stand one behind the other, parts together?
static bool is_contiguous(const struct kal_array *array)
{
    return array->stride[0] == 1 && !array->is_planar;
}

// Most reals in lines of one codelet: of more, what is looked up besides is a small part.
enum { MOST_REALS = 512 };

// Lines of one codelet, of points or of reals.
static bool are_short(const struct kal_problem *p)
{
    return p->kind == KALLIMA_C2C ? kal_radix_exists(p->n[0])
                                  : kal_real_length_is_compiled(p->n[0]);
}

// Long lines that no register divides, of which a single one is worked in one visit: of more than some
// bytes, others are stored past the caches. Measured there, 124 batches of up to 6 MB:
// they take 0.75 of the time as a mean; complex doubles of multiples of four points as much as before.
static bool are_uneven(const struct kal_problem *p, const struct kal_caps *caps,
                       int64_t points)
{
    enum { MOST_BYTES = 8 << 20, FEWEST_DOUBLES = 4 };
    const bool is_f64 = p->precision == KALLIMA_F64;
    const struct kal_caps limited = kal_caps_limit(caps, is_f64);
    const struct kal_axis line = { .n = points, .lines = 1 };

    return (p->kind != KALLIMA_C2C || !is_f64 || points % FEWEST_DOUBLES != 0) &&
           kal_line_is_visited_once(&line, &limited) &&
           p->batch <= MOST_BYTES / (is_f64 ? 16 : 8) / points;
}

bool kal_lines_are_alone(const struct kal_problem *p, const struct kal_caps *caps)
{
    enum { LONGEST = 1024 };
    const bool is_real = p->kind != KALLIMA_C2C;
    const int64_t points = is_real ? p->n[0] / 2 : p->n[0];

    if (caps->language || caps->lanes_f32 == 1 || p->rank != 1 || p->batch == 1 ||
        !is_contiguous(&p->in) || !is_contiguous(&p->out))
        return false;
    if (are_short(p))
        return p->batch <= (is_real ? MOST_REALS : ALL) / p->n[0];
    if (points < 1 || (is_real && p->n[0] % 2) || !kal_radix_divides(points))
        return false;
    if (points > LONGEST)
        return are_uneven(p, caps, points);
    return p->batch <= most_lines(is_real, p->precision == KALLIMA_F64, points) &&
           p->batch <= ALL / points;
}
