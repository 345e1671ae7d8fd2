// SPDX-License-Identifier: MIT
// Decimation in time over the small prime factors; what is left of the length when they are
// gone is one transform by Bluestein's algorithm, a convolution of power-of-two length.
#include "reference.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LARGEST_BUTTERFLY = 61, TAYLOR_TERMS = 30 };

// One transform along one axis, with its tables.
struct line {
    int64_t n;
    struct quad_complex *root; // exp(sign * 2*pi*i * k / n), k = 0 .. n-1

    int64_t rest; // factor of n without small prime factors; 1: there is none
    struct quad_complex *chirp; // exp(sign * pi*i * k^2 / rest)
    struct quad_complex *filter, *work;
    struct line *convolution; // forward transform of length >= 2 * rest - 1
};

static struct quad_complex add(struct quad_complex a, struct quad_complex b)
{
    return (struct quad_complex){ a.re + b.re, a.im + b.im };
}

static struct quad_complex sub(struct quad_complex a, struct quad_complex b)
{
    return (struct quad_complex){ a.re - b.re, a.im - b.im };
}

static struct quad_complex mul(struct quad_complex a, struct quad_complex b)
{
    return (struct quad_complex){ a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re };
}

static struct quad_complex conjugate(struct quad_complex a)
{
    return (struct quad_complex){ a.re, -a.im };
}

// --- roots of unity -----------------------------------------------------------------

// cos and sin of 2*pi * k / n, 0 <= k / n <= 1/8, by their Taylor series: the angle is
// below 0.79, so that the term of degree 30 is below 2^-118.
static struct quad_complex first_octant(int64_t n, int64_t k)
{
    const quad pi = (quad)3.141592653589793116e+00 + (quad)1.224646799147353207e-16 +
                    (quad)-2.994769809718339666e-33;
    const quad angle = 2 * pi * (quad)k / (quad)n;
    quad term[TAYLOR_TERMS + 2] = { 1 };

    for (int i = 1; i < TAYLOR_TERMS + 2; i++)
        term[i] = term[i - 1] * angle / i;

    struct quad_complex sum = { 0, 0 }; // smallest terms first
    for (int i = TAYLOR_TERMS; i >= 0; i -= 2) {
        const int sign = i % 4 == 0 ? 1 : -1;
        sum.re += sign * term[i];
        sum.im += sign * term[i + 1];
    }
    return sum;
}

struct quad_complex reference_root(int64_t n, int64_t k)
{
    k %= n;
    if (k < 0)
        k += n;

    const int quadrant = (int)(4 * k / n);
    const int64_t rest = 4 * k - quadrant * n; // the angle within it is rest / (4 * n)
    struct quad_complex r;
    if (2 * rest <= n) {
        r = first_octant(4 * n, rest);
    } else {
        const struct quad_complex mirrored = first_octant(4 * n, n - rest);
        r = (struct quad_complex){ mirrored.im, mirrored.re };
    }
    for (int i = 0; i < quadrant; i++)
        r = (struct quad_complex){ -r.im, r.re };
    return r;
}

// The n roots, each the product of one of sqrt(n) coarse and one of sqrt(n) fine ones.
static int fill_roots(struct quad_complex *root, int64_t n, int sign)
{
    const int64_t block = (int64_t)ceil(sqrt((double)n));
    struct quad_complex *fine = malloc((size_t)block * sizeof *fine);
    if (!fine)
        return -1;
    for (int64_t k = 0; k < block; k++)
        fine[k] = reference_root(n, sign * k);
    for (int64_t k = 0; k < n; k += block) {
        const struct quad_complex coarse = reference_root(n, sign * k);
        for (int64_t i = 0; i < block && k + i < n; i++)
            root[k + i] = mul(coarse, fine[i]);
    }
    free(fine);
    return 0;
}

// --- decimation in time -----------------------------------------------------------------

// The factor to split off next: 4 before 2, else the least prime; n itself if that is too
// large for a butterfly.
static int64_t next_factor(int64_t n)
{
    if (n % 4 == 0)
        return 4;
    for (int64_t p = 2; p <= LARGEST_BUTTERFLY && p <= n; p++) {
        if (n % p == 0)
            return p;
    }
    return n;
}

static void butterfly4(const struct line *line, struct quad_complex *x)
{
    const struct quad_complex a = add(x[0], x[2]), b = sub(x[0], x[2]);
    const struct quad_complex c = add(x[1], x[3]);
    const struct quad_complex d = mul(sub(x[1], x[3]), line->root[line->n / 4]);
    x[0] = add(a, c);
    x[1] = add(b, d);
    x[2] = sub(a, c);
    x[3] = sub(b, d);
}

// The transform of odd length p by definition, the inputs j and p-j taken together:
// x[j] w + x[p-j] conj(w) = (x[j] + x[p-j]) re(w) + i (x[j] - x[p-j]) im(w).
static void butterfly_odd(const struct line *line, int64_t p, struct quad_complex *x)
{
    struct quad_complex sum[LARGEST_BUTTERFLY], difference[LARGEST_BUTTERFLY];
    const struct quad_complex first = x[0];

    for (int64_t j = 1; j <= p / 2; j++) {
        sum[j] = add(x[j], x[p - j]);
        difference[j] = sub(x[j], x[p - j]);
        x[0] = add(x[0], sum[j]);
    }
    for (int64_t k = 1; k <= p / 2; k++) {
        struct quad_complex even = first, odd = { 0, 0 };
        for (int64_t j = 1; j <= p / 2; j++) {
            const struct quad_complex w = line->root[j * k % p * (line->n / p)];
            even.re += sum[j].re * w.re;
            even.im += sum[j].im * w.re;
            odd.re -= difference[j].im * w.im;
            odd.im += difference[j].re * w.im;
        }
        x[k] = add(even, odd);
        x[p - k] = sub(even, odd);
    }
}

static void butterfly(const struct line *line, int64_t p, struct quad_complex *x)
{
    if (p == 4) {
        butterfly4(line, x);
    } else if (p == 2) {
        const struct quad_complex a = x[0], b = x[1];
        x[0] = add(a, b);
        x[1] = sub(a, b);
    } else {
        butterfly_odd(line, p, x);
    }
}

static void bluestein(const struct line *line, const struct quad_complex *in,
                      int64_t stride, struct quad_complex *out);

// out[0 .. n-1] = the transform of in[0], in[stride], ...; n divides line->n.
static void transform(const struct line *line, int64_t n, const struct quad_complex *in,
                      int64_t stride, struct quad_complex *out)
{
    struct quad_complex column[LARGEST_BUTTERFLY];

    if (n == 1) {
        out[0] = in[0];
        return;
    }
    const int64_t p = next_factor(n), m = n / p, step = line->n / n;
    if (p > LARGEST_BUTTERFLY) {
        bluestein(line, in, stride, out);
        return;
    }
    for (int64_t j = 0; j < p; j++)
        transform(line, m, in + j * stride, p * stride, out + j * m);
    for (int64_t k = 0; k < m; k++) {
        column[0] = out[k];
        for (int64_t j = 1; j < p; j++)
            column[j] = mul(out[j * m + k], line->root[j * k * step]);
        butterfly(line, p, column);
        for (int64_t j = 0; j < p; j++)
            out[j * m + k] = column[j];
    }
}

// --- Bluestein ----------------------------------------------------------------------

// j*k = (j^2 + k^2 - (k-j)^2) / 2 turns the transform into a convolution with a chirp.
// Source: L. I. Bluestein, IEEE Trans. Audio Electroacoust. 18 (1970) 451-455.
static void bluestein(const struct line *line, const struct quad_complex *in,
                      int64_t stride, struct quad_complex *out)
{
    const struct line *conv = line->convolution;
    struct quad_complex *a = line->work, *b = line->work + conv->n;

    memset(a, 0, (size_t)conv->n * sizeof *a);
    for (int64_t j = 0; j < line->rest; j++)
        a[j] = mul(in[j * stride], line->chirp[j]);
    transform(conv, conv->n, a, 1, b);
    for (int64_t k = 0; k < conv->n; k++)
        b[k] = conjugate(mul(b[k], line->filter[k]));
    transform(conv, conv->n, b, 1, a); // the inverse is the conjugate of a forward one
    for (int64_t k = 0; k < line->rest; k++) {
        const struct quad_complex y = mul(conjugate(a[k]), line->chirp[k]);
        out[k] = (struct quad_complex){ y.re / (quad)conv->n, y.im / (quad)conv->n };
    }
}

static void line_destroy(struct line *line)
{
    if (!line)
        return;
    line_destroy(line->convolution);
    free(line->root);
    free(line->chirp);
    free(line->filter);
    free(line->work);
    free(line);
}

static struct line *line_create(int64_t n, int sign);

static int prepare_bluestein(struct line *line, int sign)
{
    const int64_t n = line->rest;
    int64_t m = 1;
    while (m < 2 * n)
        m *= 2;

    const size_t size = sizeof(struct quad_complex);
    line->convolution = line_create(m, -1);
    line->chirp = malloc((size_t)n * size);
    line->filter = malloc((size_t)m * size);
    line->work = calloc((size_t)m, 2 * size);
    if (!line->convolution || !line->chirp || !line->filter || !line->work)
        return -1;
    struct quad_complex *root = line->filter; // borrowed for the roots of order 2n <= m
    if (fill_roots(root, 2 * n, sign))
        return -1;

    int64_t square = 0; // k^2 modulo 2n
    for (int64_t k = 0; k < n; k++) {
        line->chirp[k] = root[square];
        line->work[k] = conjugate(line->chirp[k]);
        line->work[(m - k) % m] = line->work[k];
        square = (square + 2 * k + 1) % (2 * n);
    }
    transform(line->convolution, m, line->work, 1, line->filter);
    return 0;
}

static struct line *line_create(int64_t n, int sign)
{
    struct line *line = calloc(1, sizeof *line);
    if (!line)
        return NULL;
    line->n = n;
    line->rest = n;
    for (int64_t p = next_factor(n); p <= LARGEST_BUTTERFLY && line->rest > 1;
         p = next_factor(line->rest))
        line->rest /= p;

    line->root = malloc((size_t)n * sizeof *line->root);
    if (!line->root || fill_roots(line->root, n, sign) ||
        (line->rest > 1 && prepare_bluestein(line, sign))) {
        line_destroy(line);
        return NULL;
    }
    return line;
}

// --- several dimensions ------------------------------------------------------------

// Transforms along an axis of length n; the elements of a line are `stride` apart.
static int transform_axis(int64_t total, int64_t n, int64_t stride, int sign,
                          struct quad_complex *x)
{
    if (n == 1)
        return 0;
    struct line *line = line_create(n, sign);
    struct quad_complex *result = malloc((size_t)n * sizeof *result);
    const int ok = line && result;
    for (int64_t i = 0; ok && i < total / n; i++) {
        struct quad_complex *first = x + i / stride * stride * n + i % stride;
        transform(line, n, first, stride, result);
        for (int64_t k = 0; k < n; k++)
            first[k * stride] = result[k];
    }
    free(result);
    line_destroy(line);
    return ok ? 0 : -1;
}

static int64_t product(int rank, const int64_t *n)
{
    int64_t total = 1;
    for (int i = 0; i < rank; i++)
        total *= n[i];
    return total;
}

// All axes of `batch` arrays, with `inner` elements behind them.
static int transform_axes(int64_t batch, int rank, const int64_t *n, int64_t inner,
                          int sign, struct quad_complex *x)
{
    const int64_t total = batch * product(rank, n) * inner;
    int64_t stride = inner;
    for (int i = rank - 1; i >= 0; i--) {
        if (transform_axis(total, n[i], stride, sign, x))
            return -1;
        stride *= n[i];
    }
    return 0;
}

int reference_dft(int rank, const int64_t *n, int sign, const struct quad_complex *in,
                  struct quad_complex *out)
{
    if (in != out)
        memcpy(out, in, (size_t)product(rank, n) * sizeof *out);
    return reference_dft_many(1, rank, n, sign, out);
}

int reference_dft_many(int64_t batch, int rank, const int64_t *n, int sign,
                       struct quad_complex *x)
{
    return transform_axes(batch, rank, n, 1, sign, x);
}

int reference_r2c(int rank, const int64_t *n, const quad *in, struct quad_complex *out)
{
    const int64_t length = n[rank - 1], half = length / 2 + 1;
    const int64_t lines = product(rank - 1, n);
    struct quad_complex *full = malloc((size_t)(lines * length) * sizeof *full);
    if (!full)
        return -1;
    for (int64_t i = 0; i < lines * length; i++)
        full[i] = (struct quad_complex){ in[i], 0 };
    const int status = transform_axes(1, rank, n, 1, -1, full);
    for (int64_t i = 0; i < lines; i++)
        memcpy(out + i * half, full + i * length, (size_t)half * sizeof *out);
    free(full);
    return status;
}

// The Hermitian continuation of coefficients 0 .. n/2.
static void continue_line(int64_t n, const struct quad_complex *half,
                          struct quad_complex *full)
{
    for (int64_t k = 0; k <= n / 2; k++) {
        full[k] = half[k];
        full[(n - k) % n] = conjugate(half[k]);
    }
    full[0].im = 0;
    if (n % 2 == 0)
        full[n / 2].im = 0;
}

int reference_c2r(int rank, const int64_t *n, const struct quad_complex *in, quad *out)
{
    const int64_t length = n[rank - 1], half = length / 2 + 1;
    const int64_t lines = product(rank - 1, n);
    struct quad_complex *x = malloc((size_t)(lines * half) * sizeof *x);
    struct quad_complex *full = malloc((size_t)(lines * length) * sizeof *full);
    int status = -1;

    if (x && full) {
        memcpy(x, in, (size_t)(lines * half) * sizeof *x);
        status = transform_axes(1, rank - 1, n, half, 1, x);
        for (int64_t i = 0; i < lines; i++)
            continue_line(length, x + i * half, full + i * length);
        if (!status)
            status = transform_axis(lines * length, length, 1, 1, full);
        for (int64_t i = 0; i < lines * length; i++)
            out[i] = full[i].re;
    }
    free(x);
    free(full);
    return status;
}

// --- errors -------------------------------------------------------------------------

double reference_error(int64_t count, const struct quad_complex *want,
                       const struct quad_complex *got)
{
    // Sums, not maxima: a maximum would hide a NaN.
    long double error = 0, power = 0;
    for (int64_t i = 0; i < count; i++) {
        const struct quad_complex e = sub(got[i], want[i]);
        error += (long double)(e.re * e.re + e.im * e.im);
        power += (long double)(want[i].re * want[i].re + want[i].im * want[i].im);
    }
    return (double)sqrtl(power > 0 ? error / power : error);
}

static int64_t largest_prime_factor(int64_t n)
{
    int64_t largest = 1;
    for (int64_t p = 2; p * p <= n; p++) {
        for (; n % p == 0; n /= p)
            largest = p;
    }
    return n > 1 ? n : largest;
}

double reference_bound(int rank, const int64_t *n, double epsilon)
{
    int64_t largest = 1;
    for (int i = 0; i < rank; i++) {
        const int64_t p = largest_prime_factor(n[i]);
        largest = p > largest ? p : largest;
    }
    const double c = largest <= 13 ? 0.75 : 1.5;
    return c * epsilon * sqrt(fmax(1.0, log2((double)product(rank, n))));
}

double reference_scaled_bound(double bound, double scale, double epsilon)
{
    int exponent;

    if (scale == 0.0 || fabs(frexp(scale, &exponent)) == 0.5)
        return bound;
    const double rounded = epsilon == 0x1p-24 ? (double)(float)scale : scale;
    return hypot(bound, hypot(epsilon / 2.0, rounded / scale - 1.0));
}
