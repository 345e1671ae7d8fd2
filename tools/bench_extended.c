// SPDX-License-Identifier: MIT
// The source of the reference, compiled a second time with long double for quad.
#include "bench_extended.h"

#include <stdlib.h>
#include <string.h>

#include "bench_data.h"

typedef quad exact;
typedef struct quad_complex exact_complex;

struct wide_complex {
    long double re, im;
};

#define quad                   long double
#define quad_complex           wide_complex
#define reference_root         wide_root
#define reference_dft          wide_dft
#define reference_dft_many     wide_dft_many
#define reference_r2c          wide_r2c
#define reference_c2r          wide_c2r
#define reference_error        wide_error
#define reference_bound        wide_bound
#define reference_scaled_bound wide_scaled_bound

#define WIDE __attribute__((unused)) static
WIDE struct wide_complex wide_root(int64_t n, int64_t k);
WIDE int wide_dft(int rank, const int64_t *n, int sign, const struct wide_complex *in,
                  struct wide_complex *out);
WIDE int wide_dft_many(int64_t batch, int rank, const int64_t *n, int sign,
                       struct wide_complex *x);
WIDE int wide_r2c(int rank, const int64_t *n, const long double *in,
                  struct wide_complex *out);
WIDE int wide_c2r(int rank, const int64_t *n, const struct wide_complex *in,
                  long double *out);
WIDE double wide_error(int64_t count, const struct wide_complex *want,
                       const struct wide_complex *got);
WIDE double wide_bound(int rank, const int64_t *n, double epsilon);
WIDE double wide_scaled_bound(double bound, double scale, double epsilon);

#include "reference.c"

// The number of real and of complex elements of a transform.
static int64_t count_reals(int rank, const int64_t *n)
{
    return product(rank, n);
}

static int64_t count_halves(int rank, const int64_t *n)
{
    return product(rank - 1, n) * (n[rank - 1] / 2 + 1);
}

static long double *narrow(const exact *in, int64_t count)
{
    long double *out = malloc((size_t)count * sizeof *out);
    for (int64_t i = 0; out && i < count; i++)
        out[i] = (long double)in[i];
    return out;
}

static void widen(const long double *in, int64_t count, exact *out)
{
    for (int64_t i = 0; i < count; i++)
        out[i] = in[i];
}

int extended_dft(int rank, const int64_t *n, int sign, const exact_complex *in,
                 exact_complex *out)
{
    const int64_t reals = 2 * count_reals(rank, n);
    long double *x = narrow(&in->re, reals);
    struct wide_complex *y = (struct wide_complex *)x;
    const int status = x ? wide_dft(rank, n, sign, y, y) : -1;
    if (!status)
        widen(x, reals, &out->re);
    free(x);
    return status;
}

int extended_r2c(int rank, const int64_t *n, const exact *in, exact_complex *out)
{
    const int64_t halves = count_halves(rank, n);
    long double *x = narrow(in, count_reals(rank, n));
    struct wide_complex *y = malloc((size_t)halves * sizeof *y);
    const int status = x && y ? wide_r2c(rank, n, x, y) : -1;
    if (!status)
        widen(&y->re, 2 * halves, &out->re);
    free(x);
    free(y);
    return status;
}

int extended_c2r(int rank, const int64_t *n, const exact_complex *in, exact *out)
{
    const int64_t reals = count_reals(rank, n);
    long double *x = narrow(&in->re, 2 * count_halves(rank, n));
    long double *y = malloc((size_t)reals * sizeof *y);
    const int status = x && y ? wide_c2r(rank, n, (const struct wide_complex *)x, y) : -1;
    if (!status)
        widen(y, reals, out);
    free(x);
    free(y);
    return status;
}

// Element (j, r) of the shorter transform's input: its `step` elements on the first axis,
// each times exp(sign * 2*pi*i * position * first / n[0]).
struct folding {
    int64_t length, rest, step,
        first; // n[0]; elements behind one index of the first axis
    int sign;
    const struct wide_complex *root; // of order `step`: roots of sign * s * first
    extended_input *input;
    const void *context;
};

static struct wide_complex fold(const struct folding *folding, int64_t index)
{
    const int64_t j = index / folding->rest, stride = folding->length / folding->step;
    struct wide_complex sum = { 0, 0 };
    for (int64_t s = 0; s < folding->step; s++) {
        const int64_t position = index + s * stride * folding->rest;
        const exact_complex x = folding->input(folding->context, position);
        const struct wide_complex term =
            mul((struct wide_complex){ (long double)x.re, (long double)x.im },
                folding->root[s]);
        sum = (struct wide_complex){ sum.re + term.re, sum.im + term.im };
    }
    return mul(sum, wide_root(folding->length, folding->sign * j * folding->first));
}

int extended_part(int rank, const int64_t *n, int sign, int64_t step, int64_t first,
                  extended_input *input, const void *context, exact_complex *out)
{
    int64_t shorter[REFERENCE_MAX_RANK];
    memcpy(shorter, n, (size_t)rank * sizeof *n);
    shorter[0] = n[0] / step;
    const int64_t count = product(rank, shorter);
    struct wide_complex *x = malloc((size_t)count * sizeof *x);
    struct wide_complex *root = malloc((size_t)step * sizeof *root);
    int status = -1;

    if (x && root) {
        const struct folding folding = {
            n[0], count / shorter[0], step, first, sign, root, input, context
        };
        for (int64_t s = 0; s < step; s++)
            root[s] = wide_root(step, sign * s * first);
        PARALLEL_FOR(count)
        for (int64_t i = 0; i < count; i++)
            x[i] = fold(&folding, i);
        status = wide_dft(rank, shorter, sign, x, x);
    }
    if (!status)
        widen(&x->re, 2 * count, &out->re);
    free(x);
    free(root);
    return status;
}
