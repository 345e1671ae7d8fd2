// SPDX-License-Identifier: MIT
// What holds for every Fourier transform, checked without an oracle and so at any length.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../../tools/reference.h"
#include "suite.h"

static const kallima_desc problems[] = {
    { .rank = 1, .n = { 1 } },         { .rank = 1, .n = { 2 } },
    { .rank = 1, .n = { 15 } },        { .rank = 1, .n = { 60 }, .batch = 5 },
    { .rank = 1, .n = { 59 } },        { .rank = 1, .n = { 101 }, .batch = 4 },
    { .rank = 1, .n = { 503 } },       { .rank = 1, .n = { 1024 } },
    { .rank = 1, .n = { 2310 } },      { .rank = 1, .n = { 65536 } },
    { .rank = 1, .n = { 10007 } },     { .rank = 1, .n = { 30030 } },
    { .rank = 2, .n = { 24, 50 } },    { .rank = 2, .n = { 31, 47 }, .batch = 2 },
    { .rank = 3, .n = { 9, 10, 11 } }, { .rank = 4, .n = { 4, 1, 6, 5 } },
};

enum { PROBLEMS = sizeof problems / sizeof problems[0] };

// Dense data of one side in double; the plan's precision is applied on the way.
struct signal {
    int64_t reals;
    double *data;
};

static int64_t side_reals(const kallima_desc *d, bool output)
{
    struct view view;
    if (!view_build(&view, d, output))
        fail_msg("a property of a problem that is too large");
    return view.count * (view.complex_side ? 2 : 1);
}

static struct signal signal_new(const kallima_desc *d, bool output)
{
    struct signal s = { side_reals(d, output), NULL };
    s.data = (double *)calloc((size_t)s.reals, sizeof *s.data);
    assert_non_null(s.data);
    return s;
}

static void signal_fill(struct signal *s, const kallima_desc *d, uint64_t seed)
{
    struct random r = { seed };
    for (int64_t i = 0; i < s->reals; i++) {
        s->data[i] = random_real(&r);
        if (d->precision == KALLIMA_F32)
            s->data[i] = (double)(float)s->data[i];
    }
}

static void apply(const kallima_desc *d, const struct signal *x, struct signal *y)
{
    const size_t bytes = d->precision == KALLIMA_F32 ? sizeof(float) : sizeof(double);
    void *in = malloc((size_t)x->reals * bytes), *out = malloc((size_t)y->reals * bytes);
    kallima_plan *plan = suite_plan(suite.device, d);

    for (int64_t i = 0; i < x->reals; i++) {
        if (d->precision == KALLIMA_F32)
            ((float *)in)[i] = (float)x->data[i];
        else
            ((double *)in)[i] = x->data[i];
    }
    memset(out, 0xff, (size_t)y->reals * bytes);
    if (kallima_plan_run(plan, in, out) != KALLIMA_OK)
        fail_msg("%s", kallima_last_error());
    for (int64_t i = 0; i < y->reals; i++)
        y->data[i] = d->precision == KALLIMA_F32 ? ((float *)out)[i] : ((double *)out)[i];
    kallima_plan_destroy(&plan);
    free(in);
    free(out);
}

static void judge(const kallima_desc *d, const char *what, long double error,
                  long double power, double factor)
{
    char text[400];
    const double relative = (double)sqrtl(error / power);
    const double bound = factor * oracle_bound(d);

    row_ran();
    if (!(relative <= bound)) {
        problem_print(d, text, sizeof text);
        row_fail("%s: %.4g, limit %.4g\n       problem %s", what, relative, bound, text);
    }
}

static void compare(const kallima_desc *d, const char *what, const struct signal *got,
                    const struct signal *want, double factor)
{
    long double error = 0.0L, power = 0.0L;
    for (int64_t i = 0; i < got->reals; i++) {
        const long double e = (long double)got->data[i] - want->data[i];
        error += e * e;
        power += (long double)want->data[i] * want->data[i];
    }
    judge(d, what, error, power, factor);
}

// Run `check` for every problem, kind of forward transform, and precision.
static void for_each(void (*check)(const kallima_desc *d))
{
    for (int i = 0; i < PROBLEMS; i++) {
        if (suite.is_brief && desc_points(&problems[i]) > 3000)
            continue;
        for (int variant = 0; variant < (suite.has_f64 ? 4 : 2); variant++) {
            kallima_desc d = problems[i];
            d.kind = variant & 1 ? KALLIMA_R2C : KALLIMA_C2C;
            d.precision = variant >> 1;
            const uint64_t row = (uint64_t)(i * 4 + variant);
            if (suite_takes(row, 3) && suite_is_mine(row))
                check(&d);
        }
    }
}

static void check_linearity(const kallima_desc *d)
{
    struct signal x = signal_new(d, false), y = signal_new(d, false);
    struct signal fx = signal_new(d, true), fy = signal_new(d, true);
    struct signal sum = signal_new(d, true);

    signal_fill(&x, d, 11);
    signal_fill(&y, d, 12);
    apply(d, &x, &fx);
    apply(d, &y, &fy);
    for (int64_t i = 0; i < x.reals; i++)
        x.data[i] = 0.5 * x.data[i] - 2.0 * y.data[i];
    apply(d, &x, &sum);
    for (int64_t i = 0; i < sum.reals; i++)
        fx.data[i] = 0.5 * fx.data[i] - 2.0 * fy.data[i];
    compare(d, "F(x/2 - 2y) against F(x)/2 - 2F(y)", &sum, &fx, 3.0);
    struct signal *all[] = { &x, &y, &fx, &fy, &sum };
    for (int i = 0; i < 5; i++)
        free(all[i]->data);
}

void transforms_are_linear(void **state)
{
    (void)state;
    for_each(check_linearity);
    ROWS_FINISH();
}

// exp(-2 pi i (j . k / n)) for the output element counted row by row.
static oracle_complex phase(const kallima_desc *d, const int64_t *j, int64_t output)
{
    oracle_complex product = 1.0L;
    for (int i = d->rank - 1; i >= 0; i--) {
        const bool half = d->kind == KALLIMA_R2C && i == d->rank - 1;
        const int64_t stored = half ? d->n[i] / 2 + 1 : d->n[i], k = output % stored;
        const struct quad_complex w = reference_root(d->n[i], -(j[i] * k % d->n[i]));
        product *= (long double)w.re + (long double)w.im * (oracle_complex)I;
        output /= stored;
    }
    return product;
}

// A point in the array, the same in each transform of the batch.
static int64_t choose_point(const kallima_desc *d, int64_t *j)
{
    struct random r = { (uint64_t)desc_points(d) };
    int64_t index = 0;
    for (int i = 0; i < d->rank; i++) {
        j[i] = random_between(&r, 0, d->n[i] - 1);
        index = index * d->n[i] + j[i];
    }
    return index;
}

static void check_impulse(const kallima_desc *d)
{
    struct signal x = signal_new(d, false), y = signal_new(d, true);
    struct signal want = signal_new(d, true);
    int64_t j[KALLIMA_MAX_RANK];
    const int64_t index = choose_point(d, j), batch = desc_batch(d);
    const int64_t step = d->kind == KALLIMA_R2C ? 1 : 2;

    for (int64_t b = 0; b < batch; b++)
        x.data[(b * desc_points(d) + index) * step] = 1.0 + (double)b;
    apply(d, &x, &y);
    for (int64_t i = 0; i < want.reals / 2; i++) {
        const int64_t line = want.reals / 2 / batch;
        const oracle_complex w = phase(d, j, i % line) * (1.0L + i / line);
        want.data[2 * i] = (double)creall(w);
        want.data[2 * i + 1] = (double)cimagl(w);
    }
    compare(d, "an impulse against roots of unity", &y, &want, 2.0);
    free(x.data);
    free(y.data);
    free(want.data);
}

void impulses_give_roots_of_unity(void **state)
{
    (void)state;
    for_each(check_impulse);
    ROWS_FINISH();
}

// The index of element i of one transform, moved on by j on each axis, cyclically.
static int64_t moved(const kallima_desc *d, int64_t i, const int64_t *j)
{
    int64_t result = 0, weight = 1;
    for (int axis = d->rank - 1; axis >= 0; axis--) {
        result += (i % d->n[axis] + j[axis]) % d->n[axis] * weight;
        weight *= d->n[axis];
        i /= d->n[axis];
    }
    return result;
}

static void shift_input(const kallima_desc *d, const int64_t *j, const struct signal *x,
                        struct signal *out)
{
    const int64_t points = desc_points(d), step = d->kind == KALLIMA_R2C ? 1 : 2;
    for (int64_t i = 0; i < points * desc_batch(d); i++) {
        const int64_t to = i / points * points + moved(d, i % points, j);
        for (int64_t part = 0; part < step; part++)
            out->data[to * step + part] = x->data[i * step + part];
    }
}

static void check_shift(const kallima_desc *d)
{
    struct signal x = signal_new(d, false), shifted = signal_new(d, false);
    struct signal y = signal_new(d, true), z = signal_new(d, true);
    int64_t j[KALLIMA_MAX_RANK];

    (void)choose_point(d, j);
    signal_fill(&x, d, 21);
    shift_input(d, j, &x, &shifted);
    apply(d, &x, &y);
    apply(d, &shifted, &z);
    const int64_t line = y.reals / 2 / desc_batch(d);
    for (int64_t i = 0; i < y.reals / 2; i++) {
        const oracle_complex v = (y.data[2 * i] + y.data[2 * i + 1] * (oracle_complex)I) *
                                 phase(d, j, i % line);
        y.data[2 * i] = (double)creall(v);
        y.data[2 * i + 1] = (double)cimagl(v);
    }
    compare(d, "a shifted input against a turned output", &z, &y, 2.5);
    free(x.data);
    free(shifted.data);
    free(y.data);
    free(z.data);
}

void shifts_give_phases(void **state)
{
    (void)state;
    for_each(check_shift);
    ROWS_FINISH();
}

static long double energy(const struct signal *s)
{
    long double sum = 0.0L;
    for (int64_t i = 0; i < s->reals; i++)
        sum += (long double)s->data[i] * s->data[i];
    return sum;
}

// Coefficients of a half spectrum count twice, unless they are their own mirror images.
static long double spectrum_energy(const kallima_desc *d, const struct signal *y)
{
    const int64_t n = d->n[d->rank - 1], line = n / 2 + 1;
    long double sum = 0.0L;
    if (d->kind == KALLIMA_C2C)
        return energy(y);
    for (int64_t i = 0; i < y->reals / 2; i++) {
        const int64_t k = i % line;
        const long double re = y->data[2 * i], im = y->data[2 * i + 1];
        sum += (k == 0 || 2 * k == n ? 1 : 2) * (re * re + im * im);
    }
    return sum;
}

static void check_energy(const kallima_desc *d)
{
    struct signal x = signal_new(d, false), y = signal_new(d, true);

    signal_fill(&x, d, 31);
    apply(d, &x, &y);
    const long double want = energy(&x) * (long double)desc_points(d);
    const long double difference = spectrum_energy(d, &y) - want;
    // The energy's relative error is at most twice the output's.
    judge(d, "Parseval", difference * difference, want * want, 2.5);
    free(x.data);
    free(y.data);
}

void energy_is_kept(void **state)
{
    (void)state;
    for_each(check_energy);
    ROWS_FINISH();
}

static void check_round_trip(const kallima_desc *d)
{
    kallima_desc back = *d;
    struct signal x = signal_new(d, false), y = signal_new(d, true);
    struct signal z = signal_new(d, false);

    back.kind = d->kind == KALLIMA_R2C ? KALLIMA_C2R : KALLIMA_C2C;
    back.direction = KALLIMA_INVERSE;
    signal_fill(&x, d, 41);
    apply(d, &x, &y);
    apply(&back, &y, &z);
    for (int64_t i = 0; i < z.reals; i++)
        z.data[i] /= (double)desc_points(d);
    compare(d, "forward and back", &z, &x, 2.5);
    free(x.data);
    free(y.data);
    free(z.data);
}

void round_trips_return_the_input(void **state)
{
    (void)state;
    for_each(check_round_trip);
    ROWS_FINISH();
}
