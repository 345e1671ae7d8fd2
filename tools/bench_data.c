// SPDX-License-Identifier: MIT
#include "bench_data.h"

#include <math.h>
#include <stdlib.h>

#include "bench_extended.h"

// The transforms of each method.
static const struct {
    int (*dft)(int rank, const int64_t *n, int sign, const struct quad_complex *in,
               struct quad_complex *out);
    int (*r2c)(int rank, const int64_t *n, const quad *in, struct quad_complex *out);
    int (*c2r)(int rank, const int64_t *n, const struct quad_complex *in, quad *out);
} methods[] = {
    [ERROR_REFERENCE] = { reference_dft, reference_r2c, reference_c2r },
    [ERROR_EXTENDED] = { extended_dft, extended_r2c, extended_c2r },
};

const char *const error_method_names[] = {
    [ERROR_REFERENCE] = "reference",
    [ERROR_EXTENDED] = "extended",
    [ERROR_SAMPLED] = "sampled",
};

// Source: G. L. Steele, D. Lea, C. H. Flood, OOPSLA 2014, 453-472 (splitmix64).
static uint64_t mix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

// Uniform with variance 1, rounded to the precision. Without the irrational factor all
// values would be multiples of one small number, and their first sums exact.
static double uniform(const struct data *data, uint64_t index)
{
    const double root3 = 1.7320508075688772;
    const uint64_t bits = mix(data->seed + index);
    const double value = root3 * ((double)(bits >> 11) * 0x1p-52 - 1);
    return data->in.is_f64 ? value : (double)(float)value;
}

void data_init(struct data *data, const kallima_desc *desc, uint64_t seed)
{
    *data = (struct data){ .desc = desc, .seed = mix(seed) };
    side_init(&data->in, desc, true);
    side_init(&data->out, desc, false);
}

// The element that must be the conjugate of `index` for the output to be real; -1: none.
static int64_t mirror(const struct data *data, int64_t index)
{
    const struct side *in = &data->in;
    const int last = in->rank - 1;
    const int64_t length = data->desc->n[last], k = index % in->n[last];
    if (k != 0 && 2 * k != length)
        return -1;

    int64_t rest = index / in->n[last], stride = in->n[last], mirrored = k;
    for (int i = last - 1; i >= 0; i--) {
        mirrored += (in->n[i] - rest % in->n[i]) % in->n[i] * stride;
        rest /= in->n[i];
        stride *= in->n[i];
    }
    return mirrored;
}

struct quad_complex data_input(const struct data *data, int64_t batch, int64_t index)
{
    const uint64_t first = 2 * (uint64_t)batch * (uint64_t)data->in.count;
    double sign = data->in.is_real ? 0 : 1;

    if (data->desc->kind == KALLIMA_C2R) {
        const int64_t mirrored = mirror(data, index);
        if (mirrored == index)
            sign = 0;
        else if (mirrored >= 0 && mirrored < index) {
            index = mirrored;
            sign = -1;
        }
    }
    return (struct quad_complex){
        uniform(data, first + 2 * (uint64_t)index),
        sign * uniform(data, first + 2 * (uint64_t)index + 1),
    };
}

void data_fill(const struct data *data, void *const array[2])
{
    const struct side *in = &data->in;
    PARALLEL_FOR(in->batch * in->count)
    for (int64_t i = 0; i < in->batch * in->count; i++) {
        const int64_t batch = i / in->count, index = i % in->count;
        const struct quad_complex x = data_input(data, batch, index);
        side_store(in, array, side_locate(in, batch, index), (double)x.re, (double)x.im);
    }
}

static int sign_of(const kallima_desc *desc)
{
    return desc->kind == KALLIMA_C2R || desc->direction == KALLIMA_INVERSE ? 1 : -1;
}

// The transform of a real side, as complex numbers with zero imaginary parts.
static int expect_real(const struct data *data, enum error_method method,
                       const struct quad_complex *x, struct quad_complex *want)
{
    const kallima_desc *desc = data->desc;
    const int64_t points = desc_points(desc);
    quad *real = malloc((size_t)points * sizeof *real);
    int status = -1;

    if (real && desc->kind == KALLIMA_R2C) {
        for (int64_t i = 0; i < points; i++)
            real[i] = x[i].re;
        status = methods[method].r2c(desc->rank, desc->n, real, want);
    } else if (real) {
        status = methods[method].c2r(desc->rank, desc->n, x, real);
        for (int64_t i = 0; i < points; i++)
            want[i] = (struct quad_complex){ real[i], 0 };
    }
    free(real);
    return status;
}

int data_expect(const struct data *data, int64_t batch, enum error_method method,
                struct quad_complex *want)
{
    const kallima_desc *desc = data->desc;
    struct quad_complex *x = malloc((size_t)data->in.count * sizeof *x);
    int status = -1;

    if (x) {
        for (int64_t i = 0; i < data->in.count; i++)
            x[i] = data_input(data, batch, i);
        status = desc->kind == KALLIMA_C2C
                     ? methods[method].dft(desc->rank, desc->n, sign_of(desc), x, want)
                     : expect_real(data, method, x, want);
    }
    free(x);
    return status;
}

double data_error(const struct data *data, int64_t batch, void *const array[2],
                  enum error_method method)
{
    const struct side *out = &data->out;
    const quad scale = data->desc->scale != 0 ? data->desc->scale : 1;
    struct quad_complex *want = malloc((size_t)out->count * sizeof *want);
    struct quad_complex *got = malloc((size_t)out->count * sizeof *got);
    double error = NAN;

    if (want && got && !data_expect(data, batch, method, want)) {
        for (int64_t i = 0; i < out->count; i++) {
            got[i] = side_load(out, array, side_locate(out, batch, i));
            want[i] = (struct quad_complex){ want[i].re * scale, want[i].im * scale };
        }
        error = reference_error(out->count, want, got);
    }
    free(want);
    free(got);
    return error;
}
