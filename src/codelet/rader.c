// SPDX-License-Identifier: MIT
// With a primitive root v of n = 2h+1 and x[v^j], y[v^-q] in the order of j and q, the
// transform without x[0] is a cyclic convolution of length 2h with exp(-2*pi*i v^-m / n).
// The cosines repeat after h, the sines do so with the opposite sign, hence two real
// convolutions of length h: a cyclic one of x[v^j] + x[-v^j] and a negacyclic one of
// x[v^j] - x[-v^j]. Both multiply spectra: of the even frequencies of length 2h for the
// first, of the odd ones for the second. The way back is the transpose of the way there.
#include "codelet/rader.h"

#include "codelet/network.h"
#include "math/number.h"
#include "math/root.h"

enum { HALF_MAX = KAL_CODELET_MAX / 2 };

// One of the two convolutions, for real numbers.
struct convolution {
    int n, h;
    bool odd;                         // negacyclic
    int power[KAL_CODELET_MAX];       // v^m mod n, 0 <= m < 2h
    struct kal_root kernel[HALF_MAX]; // its spectrum over h; conjugates only once
    struct kal_network way;           // from h real numbers to their spectrum
};

// Frequencies are 2k of 2h for the cyclic convolution, 2k+1 for the other.
static int frequency(const struct convolution *c, int k)
{
    return 2 * k + c->odd;
}

// A frequency that is its own conjugate has only a real part.
static bool is_real(const struct convolution *c, int k)
{
    return frequency(c, k) % c->h == 0;
}

static int frequencies(const struct convolution *c)
{
    return c->odd ? (c->h + 1) / 2 : c->h / 2 + 1;
}

// Weights: 1/h for the way back, 2 for a frequency that stands for its conjugate as well.
static void set_kernel(struct convolution *c)
{
    for (int k = 0; k < frequencies(c); k++) {
        const long double weight = (is_real(c, k) ? 1.0L : 2.0L) / (long double)c->h;
        struct kal_root sum = { 0.0L, 0.0L };
        for (int m = 0; m < c->h; m++) {
            const struct kal_root w = kal_root(2 * c->h, (int64_t)frequency(c, k) * m);
            const struct kal_root at =
                kal_root(c->n, c->power[(2 * c->h - m) % (2 * c->h)]);
            const long double value = weight * (c->odd ? -at.im : at.re);
            sum.re += value * w.re;
            sum.im += value * w.im;
        }
        if (is_real(c, k))
            sum.im = 0.0L;
        c->kernel[k] = sum;
    }
}

// The spectrum of real numbers, from the complex transform: the simplifier finds what is
// zero and what is conjugate. For odd frequencies of 2h, (a, -a) / 2 has the spectrum of
// a.
static void set_way(struct convolution *c, const struct kal_forms *forms)
{
    struct kal_network *net = &c->way;
    struct kal_dag *g = &net->dag;
    struct kal_cx x[KAL_CODELET_MAX], y[KAL_CODELET_MAX];

    for (int j = 0; j < c->h; j++) {
        const kal_node a = kal_input(g, j), half = kal_scale(g, 0.5L, a);
        x[j] = (struct kal_cx){ c->odd ? half : a, kal_zero() };
        x[j + c->h] = (struct kal_cx){ kal_neg(g, half), kal_zero() };
    }
    kal_dag_dft(g, forms, c->odd ? 2 * c->h : c->h, x, y);
    for (int k = 0; k < frequencies(c); k++) {
        const struct kal_cx at = y[c->odd ? frequency(c, k) : k];
        net->output[net->outputs++] = at.re;
        if (!is_real(c, k))
            net->output[net->outputs++] = at.im;
    }
}

static void convolution_init(struct convolution *c, const struct kal_dag *g,
                             const struct kal_forms *forms, int n, bool odd)
{
    *c = (struct convolution){ .n = n, .h = (n - 1) / 2, .odd = odd };
    const int v = (int)kal_primitive_root(n);
    c->power[0] = 1;
    for (int m = 1; m < n - 1; m++)
        c->power[m] = c->power[m - 1] * v % n;
    kal_network_init(&c->way, g->host, c->h);
    set_kernel(c);
    set_way(c, forms);
}

// out = kernel convolved with a, plus `rest` at each place; *sum, if wanted, is the sum
// of a. Only the cyclic convolution has a frequency 0 to take them from and to.
static void convolve(struct kal_dag *g, const struct convolution *c, const kal_node *a,
                     kal_node rest, kal_node *sum, kal_node *out)
{
    kal_node spectrum[KAL_NETWORK_MAX];

    kal_network_copy(g, &c->way, a, spectrum);
    if (sum)
        *sum = spectrum[0];
    int part = 0;
    for (int k = 0; k < frequencies(c); k++) {
        const struct kal_root w = c->kernel[k];
        kal_node *at = &spectrum[part];
        part += is_real(c, k) ? 1 : 2;
        if (is_real(c, k)) {
            at[0] = kal_scale(g, w.re, at[0]);
            continue;
        }
        const struct kal_cx s = { at[0], at[1] };
        at[0] = kal_sub(g, kal_scale(g, w.re, s.re), kal_scale(g, w.im, s.im));
        at[1] = kal_add(g, kal_scale(g, w.im, s.re), kal_scale(g, w.re, s.im));
    }
    if (sum)
        spectrum[0] = kal_add(g, rest, spectrum[0]);
    kal_network_transpose(g, &c->way, spectrum, out);
}

// Both convolutions of the real or of the imaginary parts.
struct real_rader {
    kal_node sum, even[HALF_MAX], odd[HALF_MAX];
};

static void transform_parts(struct kal_dag *g, const struct convolution *even,
                            const struct convolution *odd, const kal_node *x,
                            struct real_rader *r)
{
    const int n = even->n, h = even->h;
    kal_node a[HALF_MAX], b[HALF_MAX];

    for (int j = 0; j < h; j++) {
        const int at = even->power[j];
        a[j] = kal_add(g, x[at], x[n - at]);
        b[j] = kal_sub(g, x[at], x[n - at]);
    }
    convolve(g, even, a, x[0], &r->sum, r->even);
    convolve(g, odd, b, kal_zero(), NULL, r->odd);
}

// y[v^-q] and y[-v^-q] differ in the sign of the sines.
static void combine(struct kal_dag *g, const struct convolution *c,
                    const struct real_rader *re, const struct real_rader *im,
                    struct kal_cx *y)
{
    for (int q = 0; q < c->h; q++) {
        const int at = c->power[(2 * c->h - q) % (2 * c->h)];
        y[at].re = kal_add(g, re->even[q], im->odd[q]);
        y[at].im = kal_sub(g, im->even[q], re->odd[q]);
        y[c->n - at].re = kal_sub(g, re->even[q], im->odd[q]);
        y[c->n - at].im = kal_add(g, im->even[q], re->odd[q]);
    }
}

void kal_dag_rader(struct kal_dag *g, const struct kal_forms *forms, int n,
                   const struct kal_cx *x, struct kal_cx *y)
{
    struct convolution even, odd;
    struct real_rader re, im;
    kal_node part[KAL_CODELET_MAX] = { { 0 } };

    convolution_init(&even, g, forms, n, false);
    convolution_init(&odd, g, forms, n, true);
    for (int j = 0; j < n; j++)
        part[j] = x[j].re;
    transform_parts(g, &even, &odd, part, &re);
    for (int j = 0; j < n; j++)
        part[j] = x[j].im;
    transform_parts(g, &even, &odd, part, &im);

    y[0].re = kal_add(g, x[0].re, re.sum);
    y[0].im = kal_add(g, x[0].im, im.sum);
    combine(g, &even, &re, &im, y);
    kal_network_clear(&even.way);
    kal_network_clear(&odd.way);
}
