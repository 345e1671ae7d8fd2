// SPDX-License-Identifier: MIT
#include "bench_data.h"

#include <math.h>
#include <stdlib.h>

enum { SAMPLES = 16 };

const char *const error_method_names[] = {
    [ERROR_REFERENCE] = "reference",
    [ERROR_SAMPLE] = "sample",
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
static int expect_real(const struct data *data, struct quad_complex *x,
                       struct quad_complex *want)
{
    const kallima_desc *desc = data->desc;
    const int64_t points = desc_points(desc);
    quad *real = malloc((size_t)points * sizeof *real);
    int status = -1;

    if (real && desc->kind == KALLIMA_R2C) {
        for (int64_t i = 0; i < points; i++)
            real[i] = x[i].re;
        status = reference_r2c(desc->rank, desc->n, real, want);
    } else if (real) {
        status = reference_c2r(desc->rank, desc->n, x, real);
        for (int64_t i = 0; i < points; i++)
            want[i] = (struct quad_complex){ real[i], 0 };
    }
    free(real);
    return status;
}

// Every output, by the reference transform.
static int expect_all(const struct data *data, int64_t batch, struct quad_complex *want)
{
    const kallima_desc *desc = data->desc;
    struct quad_complex *x = malloc((size_t)data->in.count * sizeof *x);
    int status = -1;

    if (x) {
        for (int64_t i = 0; i < data->in.count; i++)
            x[i] = data_input(data, batch, i);
        status = desc->kind == KALLIMA_C2C
                     ? reference_dft(desc->rank, desc->n, sign_of(desc), x, want)
                     : expect_real(data, x, want);
    }
    free(x);
    return status;
}

static double compare(const struct data *data, int64_t batch, void *const array[2],
                      int64_t count, const int64_t *index, struct quad_complex *want)
{
    const quad scale = data->desc->scale != 0 ? data->desc->scale : 1;
    struct quad_complex *got = malloc((size_t)count * sizeof *got);
    double error = NAN;

    if (got) {
        for (int64_t i = 0; i < count; i++) {
            const int64_t at = side_locate(&data->out, batch, index ? index[i] : i);
            got[i] = side_load(&data->out, array, at);
            want[i] = (struct quad_complex){ want[i].re * scale, want[i].im * scale };
        }
        error = reference_error(count, want, got);
    }
    free(got);
    return error;
}

double data_error(const struct data *data, int64_t batch, void *const array[2],
                  enum error_method method)
{
    if (method == ERROR_SAMPLE) {
        int64_t index[SAMPLES];
        struct quad_complex want[SAMPLES];
        for (int i = 0; i < SAMPLES; i++)
            index[i] =
                (int64_t)(mix(data->seed ^ (uint64_t)i) % (uint64_t)data->out.count);
        if (data_sample(data, batch, SAMPLES, index, want))
            return NAN;
        return compare(data, batch, array, SAMPLES, index, want);
    }

    struct quad_complex *want = malloc((size_t)data->out.count * sizeof *want);
    double error = NAN;
    if (want && !expect_all(data, batch, want))
        error = compare(data, batch, array, data->out.count, NULL, want);
    free(want);
    return error;
}
