// SPDX-License-Identifier: MIT
// The source of the reference, compiled a second time with long double for quad.
#include "bench_extended.h"

#include <stdlib.h>

typedef quad exact;
typedef struct quad_complex exact_complex;

struct wide_complex {
    long double re, im;
};

#define quad            long double
#define quad_complex    wide_complex
#define reference_root  wide_root
#define reference_dft   wide_dft
#define reference_r2c   wide_r2c
#define reference_c2r   wide_c2r
#define reference_error wide_error
#define reference_bound wide_bound

#define WIDE __attribute__((unused)) static
WIDE struct wide_complex wide_root(int64_t n, int64_t k);
WIDE int wide_dft(int rank, const int64_t *n, int sign, const struct wide_complex *in,
                  struct wide_complex *out);
WIDE int wide_r2c(int rank, const int64_t *n, const long double *in,
                  struct wide_complex *out);
WIDE int wide_c2r(int rank, const int64_t *n, const struct wide_complex *in,
                  long double *out);
WIDE double wide_error(int64_t count, const struct wide_complex *want,
                       const struct wide_complex *got);
WIDE double wide_bound(int rank, const int64_t *n, double epsilon);

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
