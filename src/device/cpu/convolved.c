// SPDX-License-Identifier: MIT
#include "device/cpu/convolved.h"

#include "device/cpu/nested.h"
#include "math/number.h"

#include <stdlib.h>
#include <string.h>

// Parts one behind the other, or interleaved: as products take them.
static bool are_neighbours(const struct kal_array *array)
{
    return array->stride[0] == 1;
}

static enum cpu_convolved_kind find_kind(const struct kal_problem *p)
{
    const bool is_forward = p->kind == KALLIMA_R2C;
    if (p->kind == KALLIMA_C2C)
        return CPU_CONVOLVED_NUMBERS;
    if (p->n[0] % 2)
        return is_forward ? CPU_CONVOLVED_REALS : CPU_CONVOLVED_HALF;
    return is_forward ? CPU_CONVOLVED_SPLIT : CPU_CONVOLVED_MERGED;
}

static void exchange(struct cpu_user_side *side)
{
    const struct cpu_user_side old = *side;
    side->re_array = old.im_array;
    side->im_array = old.re_array;
    side->re = old.im;
    side->im = old.re;
    side->is_swapped = !old.is_swapped;
}

// Reals as half as many numbers.
static void pack(struct cpu_user_side *side, int64_t real_bytes)
{
    side->im = side->re + real_bytes;
    side->stride = 2;
}

// The transform back is that of exchanged parts, but Rader's, which has other indices.
static void find_sides(struct cpu_program *program, bool is_rader)
{
    const enum cpu_convolved_kind kind = program->convolved.kind;
    const struct kal_problem *p = program->program->problem;
    program->in = kal_cpu_user_side_find(&p->in, 1, program->is_f64);
    program->out = kal_cpu_user_side_find(&p->out, 1, program->is_f64);
    const bool is_back = kind == CPU_CONVOLVED_NUMBERS && p->is_inverse && !is_rader;
    if (kind == CPU_CONVOLVED_SPLIT)
        pack(&program->in, program->real_bytes);
    if (kind == CPU_CONVOLVED_MERGED)
        pack(&program->out, program->real_bytes);
    if (is_back || kind == CPU_CONVOLVED_MERGED)
        exchange(&program->out);
    if (is_back)
        exchange(&program->in);
}

kallima_status kal_cpu_convolved_find(struct cpu_program *program)
{
    const struct kal_problem *p = program->program->problem;
    const struct kal_recipe *recipe = program->program->convolved;
    struct cpu_convolved *c = &program->convolved;

    if (!recipe || !are_neighbours(&p->in) || !are_neighbours(&p->out))
        return KALLIMA_OK;
    const kallima_desc desc = {
        .precision = p->precision,
        .rank = 1,
        .n = { recipe->child[0]->n },
    };
    c->kind = find_kind(p);
    c->n = recipe->n;
    c->points = recipe->child[0]->n;
    c->scale = p->scale;
    c->other =
        kal_round_up(kal_max(c->n, c->points) * 2 * program->real_bytes, CPU_LINE_BYTES) +
        3 * CPU_LINE_BYTES;
    c->widest = kal_cpu_widest_kernels(program);
    find_sides(program, recipe->rule == KAL_RULE_RADER);
    program->lines = p->batch;
    KAL_TRY(kal_cpu_convolved_tables_build(program, recipe));
    return kal_cpu_nested_create(&c->line, program, &program->arena, recipe->child[0],
                                 &desc, 1);
}

uint64_t kal_cpu_convolved_bytes(const struct cpu_program *program)
{
    const struct cpu_convolved *c = &program->convolved;
    return 2 * (uint64_t)c->other + c->line->workspace_bytes;
}

// Where numbers begin that are neighbours: interleaved in either order, or in planes, one
// of which may be NULL.
struct numbers {
    char *re, *im;
};

// A line's numbers: where it is, or in scratch.
typedef struct numbers find_numbers(const struct cpu_convolved *,
                                    const struct cpu_vectors *, struct numbers scratch);

static struct numbers find_where_it_is(const struct cpu_convolved *c,
                                       const struct cpu_vectors *x,
                                       struct numbers scratch)
{
    (void)c;
    (void)scratch;
    return (struct numbers){ x->re, x->im };
}

static struct numbers find_reals(const struct cpu_convolved *c,
                                 const struct cpu_vectors *x, struct numbers scratch)
{
    (void)c;
    (void)scratch;
    return (struct numbers){ x->re, NULL };
}

static struct numbers find_half(const struct cpu_convolved *c,
                                const struct cpu_vectors *x, struct numbers scratch)
{
    c->widest->copies->extend(x, scratch.re, c->n / 2 + 1);
    return scratch;
}

// The mirrored step of a line.
static struct cpu_row mirrored_row(const struct cpu_convolved *c, struct numbers x,
                                   struct numbers y)
{
    return (struct cpu_row){
        .in_re = x.re,
        .in_im = x.im,
        .roots = c->roots,
        .out_re = y.re,
        .out_im = y.im,
        .m = c->n,
        .scale = 1.0,
    };
}

static struct numbers find_merged(const struct cpu_convolved *c,
                                  const struct cpu_vectors *x, struct numbers scratch)
{
    const struct cpu_row row = mirrored_row(c, (struct numbers){ x->re, x->im }, scratch);
    c->widest->rows->merge(&row, 0, c->n / 2 + 1);
    return scratch;
}

static find_numbers *const find_input[CPU_CONVOLVED_COUNT] = {
    [CPU_CONVOLVED_NUMBERS] = find_where_it_is, [CPU_CONVOLVED_REALS] = find_reals,
    [CPU_CONVOLVED_HALF] = find_half,           [CPU_CONVOLVED_SPLIT] = find_where_it_is,
    [CPU_CONVOLVED_MERGED] = find_merged,
};

static void split(const struct cpu_convolved *c, struct numbers x,
                  const struct cpu_vectors *y)
{
    const struct cpu_row row = mirrored_row(c, x, (struct numbers){ y->re, y->im });
    c->widest->rows->split(&row, 0, c->n / 2 + 1);
}

// Both arrays between the steps, of which each step reads one and writes the other, and what a
// transform needs besides.
struct scratch {
    struct numbers first, second;
    char *workspace;
};

static void transform(const struct cpu_convolved *c, const struct scratch *scratch)
{
    kal_cpu_nested_run(c->line, scratch->first.re, scratch->second.re,
                       scratch->workspace);
}

// The transform back is one of exchanged parts, as which the product is stored.
static void convolve_with_chirp(const struct cpu_convolved *c, struct numbers x,
                                struct numbers y, int64_t out_count,
                                const struct scratch *scratch)
{
    const struct cpu_row_kernels *k = c->widest->rows;
    const struct numbers first = scratch->first, second = scratch->second;
    const int64_t bytes = 2 * (first.im - first.re);

    k->product(first.re, first.im, x.re, x.im, c->chirp, c->n);
    memset(first.re + c->n * bytes, 0, (size_t)((c->points - c->n) * bytes));
    transform(c, scratch);
    k->product(first.im, first.re, second.re, second.im, c->spectrum, c->points);
    transform(c, scratch);
    k->product(y.re, y.im, second.im, second.re, c->chirp_out, out_count);
}

static double part_of(const char *reals, bool is_f64)
{
    return !reals ? 0.0 : is_f64 ? *(const double *)reals : (double)*(const float *)reals;
}

static void put_part(char *reals, double value, bool is_f64)
{
    if (reals && is_f64)
        *(double *)reals = value;
    else if (reals)
        *(float *)reals = (float)value;
}

// A number, and the sum of two, the second one times a scale.
struct number {
    double re, im;
};

static struct number number_at(struct numbers x, bool is_f64)
{
    return (struct number){ part_of(x.re, is_f64), part_of(x.im, is_f64) };
}

static void put_sum(struct numbers to, struct number a, struct number b, double scale,
                    bool is_f64)
{
    put_part(to.re, a.re + b.re * scale, is_f64);
    put_part(to.im, a.im + b.im * scale, is_f64);
}

// All numbers but the first.
static struct numbers behind_first(struct numbers y, int64_t real_bytes)
{
    const bool are_interleaved = y.re && y.im && llabs(y.im - y.re) == real_bytes;
    const int64_t bytes = are_interleaved ? 2 * real_bytes : real_bytes;
    return (struct numbers){ y.re ? y.re + bytes : NULL, y.im ? y.im + bytes : NULL };
}

// The line's first number goes past the convolution: to all that comes of it by way of its
// spectrum's first one, and their sum is the output's.
static void convolve_with_roots(const struct cpu_convolved *c, struct numbers x,
                                struct numbers y, int64_t out_count,
                                const struct scratch *scratch)
{
    static const struct number zero = { 0.0, 0.0 };
    const struct cpu_row_kernels *k = c->widest->rows;
    const struct numbers first = scratch->first, second = scratch->second;
    const int64_t real_bytes = first.im - first.re;
    const bool is_f64 = real_bytes == sizeof(double);
    struct number x0 = number_at(x, is_f64), sum = x0;

    k->collect(first.re, first.im, x.re, x.im, c->in, c->points);
    transform(c, scratch);
    const struct number others = number_at(second, is_f64);
    sum.re += others.re;
    sum.im += others.im;
    k->product(first.re, first.im, second.re, second.im, c->spectrum, c->points);
    put_sum(first, number_at(first, is_f64), x0, c->scale, is_f64);
    transform(c, scratch);
    put_sum(y, zero, sum, c->scale, is_f64);
    const struct numbers rest = behind_first(y, real_bytes);
    k->collect(rest.re, rest.im, second.re, second.im, c->out, out_count - 1);
}

// Where what comes of a convolution goes.
static struct numbers find_output(const struct cpu_convolved *c,
                                  const struct cpu_vectors *y, struct numbers scratch)
{
    return c->kind == CPU_CONVOLVED_SPLIT  ? scratch
           : c->kind == CPU_CONVOLVED_HALF ? (struct numbers){ y->re, NULL }
                                           : (struct numbers){ y->re, y->im };
}

void kal_cpu_convolved_run(const struct cpu_program *program, const struct cpu_vectors *x,
                           const struct cpu_vectors *y, char *workspace)
{
    const struct cpu_convolved *c = &program->convolved;
    const struct numbers first = { workspace, workspace + program->real_bytes },
                         second = { first.re + c->other, first.im + c->other };
    const struct scratch scratch = { first, second, workspace + 2 * c->other };
    const struct numbers from = find_input[c->kind](c, x, second),
                         to = find_output(c, y, first);
    const int64_t count = c->kind == CPU_CONVOLVED_REALS ? c->n / 2 + 1 : c->n;

    (c->in ? convolve_with_roots : convolve_with_chirp)(c, from, to, count, &scratch);
    if (c->kind == CPU_CONVOLVED_SPLIT)
        split(c, first, y);
}
