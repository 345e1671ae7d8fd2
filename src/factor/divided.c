// SPDX-License-Identifier: MIT
#include "factor/divided.h"

#include "factor/copied.h"
#include "factor/radix.h"

// The numbers that the lines of the first axis are of, without gaps, which would be
// lines, too; and the small arrays of the other side with or without such, as reals in
// place have them.
static bool are_in_order(const struct kal_problem *p)
{
    const bool is_backward = p->kind == KALLIMA_C2R;
    const struct kal_array *lines = is_backward ? &p->in : &p->out,
                           *others = is_backward ? &p->out : &p->in;
    const int last = p->rank - 1;
    bool are_apart = lines->stride[last] == 1 && others->stride[last] == 1;

    for (int i = last; i > 0; i--)
        are_apart =
            are_apart && others->stride[i - 1] >= others->stride[i] * others->n[i];
    return are_apart && kal_array_follows_itself(lines, p->rank);
}

// Points of a small array: axis by axis each visit of one costs as much as the codelets
// of some lines, and lanes of tiles are filled as its lines fill them, where a batch of
// them is worked as others are. Measured in November 2026 on one, two, four and sixteen
// threads of Xeons, 213 arrays of 0.12 to 20 MB: complex ones of three axes up to this
// take 1.0 to 5.2 times as long axis by axis on one thread, 0.9 to 3.3 times on sixteen,
// those of more points 0.7 to 1.4 and 0.8 to 1.2; real ones 1.0 to 4.2 and 0.8 to 2.1, of
// more 0.9 to 1.6 and 0.6 to 1.2; those of four axes 0.8 to 4.0 and 0.8 to 6.5, of more
// 0.8 to 2.0 and 0.2 to 1.6.
static double most_points(const struct kal_problem *p)
{
    enum { THREE_AXES = 200, THREE_REAL = 512, MORE_AXES = 4096 };
    if (p->rank > 3)
        return MORE_AXES;
    return p->kind == KALLIMA_C2C ? THREE_AXES : THREE_REAL;
}

// Smaller arrays are as fast one axis after the other.
static bool has_small_arrays(const struct kal_problem *p)
{
    enum { LEAST_BYTES = 120000 };
    double points = 1.0;
    for (int i = 1; i < p->rank; i++)
        points *= (double)p->n[i];
    return p->rank > 2 && points <= most_points(p) &&
           points * (double)p->n[0] *
                   (double)((p->precision == KALLIMA_F64 ? 8 : 4) *
                            (p->kind == KALLIMA_C2C ? 2 : 1)) >=
               LEAST_BYTES;
}

// Points of few columns that are copied all at once, four at most, which are faster so
// unless one program of the nearest cache has them. Measured on Xeons with AVX-512 in
// December 2026, on one, two and 16 threads: two and three columns of up to 65536 points
// take 0.32 to 1.06 of the time, 16500x2 doubles 1.18, 16384x2 1.25 on 16 threads, longer
// ones 0.64 to 1.26; four of 1250 to 3000 floats 0.45 to 0.75, 2048 1.09 on 16 threads, of
// 2048 to 16384 doubles 0.88 to 1.06; batches of doubles 0.45 to 1.01, but of two columns
// of up to 3000 points, two of which fill registers, 1.07 to 1.42; without registers of
// several numbers 1.0 to 1.1.
static bool are_few_copied(const struct kal_problem *p, int64_t columns)
{
    enum { FOUR = 1100, LEAST = 2048, LEAST_F64 = 1024, LEAST_PAIRS = 4096 };
    enum { LONGEST = 131072, FEWEST = 2, MOST = 4 };
    const bool is_f64 = p->precision == KALLIMA_F64;
    if (columns < FEWEST || columns > MOST)
        return false;
    if (columns == MOST)
        return !is_f64 && p->n[0] >= FOUR;
    const int64_t least = !is_f64                             ? LEAST
                          : columns == FEWEST && p->batch > 1 ? LEAST_PAIRS
                                                              : LEAST_F64;
    return p->n[0] >= least && p->n[0] <= LONGEST;
}

// Columns that are faster by way of copies, which lines of the first axis are, too.
// Measured there, 465 arrays of two axes on one thread: of columns that are too long for
// tiles, complex ones take 0.31 to 1.1 of the time, 0.68 as a mean, real ones 0.5 to 1.3,
// 0.77; with others of 4096 points and more 0.5 to 1.1, and of fewer up to 1.9.
static bool has_copied_columns(const struct kal_problem *p, const struct kal_caps *caps)
{
    enum { LEAST = 4096, FEWEST = 4 };
    if (p->rank < 2 || !kal_radix_divides(p->n[0]))
        return false;
    const struct kal_problem columns = kal_problem_columns(p);
    return !columns.in.is_planar &&
           ((columns.batch >= FEWEST && p->n[0] >= LEAST) ||
            (caps->lanes_f32 > 1 && are_few_copied(p, columns.batch))) &&
           (p->rank == 2 || kal_columns_are_long(&columns)) &&
           kal_is_copied(&columns, caps);
}

bool kal_is_divided(const struct kal_problem *p, const struct kal_caps *caps)
{
    return !caps->language && are_in_order(p) &&
           (has_small_arrays(p) || has_copied_columns(p, caps));
}

static void take_inner(struct kal_array *array, int rank)
{
    array->batch_stride = array->stride[0];
    array->offset = 0;
    array->elements = array->n[0] * array->stride[0];
    for (int i = 0; i + 1 < rank; i++) {
        array->n[i] = array->n[i + 1];
        array->stride[i] = array->stride[i + 1];
    }
}

struct kal_problem kal_problem_inner(const struct kal_problem *p)
{
    struct kal_problem inner = *p;

    take_inner(&inner.in, p->rank);
    take_inner(&inner.out, p->rank);
    for (int i = 0; i + 1 < p->rank; i++)
        inner.n[i] = p->n[i + 1];
    inner.rank = p->rank - 1;
    inner.batch = p->n[0];
    if (p->kind == KALLIMA_C2R) { // from scratch
        inner.is_in_place = false;
        inner.may_destroy_input = true;
    } else {
        inner.scale = 1.0;
    }
    return inner;
}

struct kal_problem kal_problem_columns(const struct kal_problem *p)
{
    const bool is_backward = p->kind == KALLIMA_C2R;
    struct kal_array lines = is_backward ? p->in : p->out;

    lines.batch_stride = 1;
    lines.offset = 0;
    lines.elements = lines.n[0] * lines.stride[0];
    return (struct kal_problem){
        .kind = KALLIMA_C2C,
        .precision = p->precision,
        .is_inverse = p->is_inverse,
        .is_in_place = !is_backward,
        .rank = 1,
        .n = { p->n[0] },
        .batch = lines.stride[0],
        .scale = is_backward ? 1.0 : p->scale,
        .in = lines,
        .out = lines,
    };
}

struct kal_problem kal_problem_divided(const struct kal_problem *p, int *axis)
{
    if (*axis == 0)
        return kal_problem_columns(p);
    (*axis)--;
    return kal_problem_inner(p);
}
