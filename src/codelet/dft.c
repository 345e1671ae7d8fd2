// SPDX-License-Identifier: MIT
#include "codelet/dft.h"

#include "codelet/rader.h"
#include "math/number.h"
#include "math/root.h"

struct dft {
    struct kal_dag *g;
    const struct kal_forms *forms;
    int n, radix;
    const struct kal_cx *x;
    struct kal_cx *y;
};

static void sub_dft(const struct dft *d, int n, const struct kal_cx *x, struct kal_cx *y)
{
    kal_dag_dft(d->g, d->forms, n, x, y);
}

// x[start], x[start + step], ..., `count` of them, indices modulo n
static void gather(const struct dft *d, int start, int step, int count,
                   struct kal_cx *out)
{
    for (int j = 0; j < count; j++)
        out[j] = d->x[(start + j * step) % d->n];
}

static bool is_real(const struct dft *d)
{
    for (int j = 0; j < d->n; j++) {
        if (d->x[j].im.id != kal_zero().id)
            return false;
    }
    return true;
}

static struct kal_cx conjugate(struct kal_dag *g, struct kal_cx a)
{
    return (struct kal_cx){ a.re, kal_neg(g, a.im) };
}

static void tiny(const struct dft *d)
{
    if (d->n == 1) {
        d->y[0] = d->x[0];
        return;
    }
    d->y[0] = kal_cx_add(d->g, d->x[0], d->x[1]);
    d->y[1] = kal_cx_sub(d->g, d->x[0], d->x[1]);
}

// With a[j] = x[j] + x[n-j] and b[j] = x[j] - x[n-j], for 0 < j, k < n/2:
// y[k], y[n-k] = x[0] + sum a[j] cos(2*pi*j*k/n) -+ i * sum b[j] sin(2*pi*j*k/n).
static void direct(const struct dft *d)
{
    struct kal_dag *g = d->g;
    const int n = d->n, half = n / 2;
    struct kal_cx a[KAL_CODELET_MAX / 2 + 1], b[KAL_CODELET_MAX / 2 + 1]; // from 1 on

    d->y[0] = d->x[0];
    for (int j = 1; j <= half; j++) {
        a[j] = kal_cx_add(g, d->x[j], d->x[n - j]);
        b[j] = kal_cx_sub(g, d->x[j], d->x[n - j]);
        d->y[0] = kal_cx_add(g, d->y[0], a[j]);
    }
    for (int k = 1; k <= half; k++) {
        struct kal_cx c = d->x[0], s = { kal_zero(), kal_zero() };
        for (int j = 1; j <= half; j++) {
            const struct kal_root w = kal_root(n, j * k);
            c.re = kal_add(g, c.re, kal_scale(g, w.re, a[j].re));
            c.im = kal_add(g, c.im, kal_scale(g, w.re, a[j].im));
            s.re = kal_add(g, s.re, kal_scale(g, -w.im, b[j].re));
            s.im = kal_add(g, s.im, kal_scale(g, -w.im, b[j].im));
        }
        d->y[k] = (struct kal_cx){ kal_add(g, c.re, s.im), kal_sub(g, c.im, s.re) };
        d->y[n - k] = (struct kal_cx){ kal_sub(g, c.re, s.im), kal_add(g, c.im, s.re) };
    }
}

// n = 4 * m, w = exp(-2*pi*i / n); e, p, q of x[2j], x[4j+1], x[4j-1]:
// y[k]   = e[k]   +    (w^k p[k] + w^-k q[k]),  y[k+2m] the same with -
// y[k+m] = e[k+m] - i  (w^k p[k] - w^-k q[k]),  y[k+3m] the same with +
static void split_radix(const struct dft *d)
{
    struct kal_dag *g = d->g;
    const int n = d->n, m = n / 4;
    struct kal_cx part[KAL_CODELET_MAX], e[KAL_CODELET_MAX], p[KAL_CODELET_MAX / 4],
        q[KAL_CODELET_MAX / 4];

    gather(d, 0, 2, 2 * m, part);
    sub_dft(d, 2 * m, part, e);
    gather(d, 1, 4, m, part);
    sub_dft(d, m, part, p);
    gather(d, n - 1, 4, m, part);
    sub_dft(d, m, part, q);

    for (int k = 0; k < m; k++) {
        const struct kal_cx u = kal_cx_rotate(g, p[k], n, k);
        const struct kal_cx v = kal_cx_rotate(g, q[k], n, -k);
        const struct kal_cx s = kal_cx_add(g, u, v), t = kal_cx_sub(g, u, v);
        const struct kal_cx f = e[k + m];
        d->y[k] = kal_cx_add(g, e[k], s);
        d->y[k + 2 * m] = kal_cx_sub(g, e[k], s);
        d->y[k + m] = (struct kal_cx){ kal_add(g, f.re, t.im), kal_sub(g, f.im, t.re) };
        d->y[k + 3 * m] =
            (struct kal_cx){ kal_sub(g, f.re, t.im), kal_add(g, f.im, t.re) };
    }
}

// n = r * m coprime: x[(m*i + r*j) mod n] gives y[k] at k = k1 mod r, k = k2 mod m.
static void prime_factor(const struct dft *d)
{
    const int n = d->n, r = d->radix, m = n / r;
    struct kal_cx in[KAL_CODELET_MAX], out[KAL_CODELET_MAX], middle[KAL_CODELET_MAX];

    for (int j = 0; j < m; j++) {
        gather(d, r * j, m, r, in);
        sub_dft(d, r, in, out);
        for (int i = 0; i < r; i++)
            middle[i * m + j] = out[i];
    }
    for (int i = 0; i < r; i++)
        sub_dft(d, m, middle + i * m, out + i * m);
    for (int k = 0; k < n; k++)
        d->y[k] = out[k % r * m + k % m];
}

// n = r * m. The residues of j modulo r are taken around 0, so that twiddle factors come
// as conjugate pairs: they share their constants. Of real numbers, half of the columns
// are conjugates of others.
static void cooley_tukey(const struct dft *d)
{
    const int n = d->n, r = d->radix, m = n / r;
    struct kal_cx in[KAL_CODELET_MAX], out[KAL_CODELET_MAX], middle[KAL_CODELET_MAX];

    for (int i = 0; i < r; i++) {
        const int residue = 2 * i <= r ? i : i - r;
        gather(d, n + residue, r, m, in);
        sub_dft(d, m, in, out);
        for (int k = 0; k < m; k++)
            middle[k * r + i] = kal_cx_rotate(d->g, out[k], n, (int64_t)residue * k);
    }
    const int columns = is_real(d) ? m / 2 + 1 : m;
    for (int k = 0; k < columns; k++) {
        sub_dft(d, r, middle + k * r, out);
        for (int i = 0; i < r; i++)
            d->y[i * m + k] = out[i];
    }
    for (int k = columns; k < m; k++) {
        for (int i = 0; i < r; i++)
            d->y[i * m + k] = conjugate(d->g, d->y[n - i * m - k]);
    }
}

static void rader(const struct dft *d)
{
    kal_dag_rader(d->g, d->forms, d->n, d->x, d->y);
}

void kal_dag_dft(struct kal_dag *g, const struct kal_forms *forms, int n,
                 const struct kal_cx *x, struct kal_cx *y)
{
    static void (*const write[KAL_FORM_COUNT])(const struct dft *) = {
        [KAL_FORM_TINY] = tiny,
        [KAL_FORM_DIRECT] = direct,
        [KAL_FORM_SPLIT_RADIX] = split_radix,
        [KAL_FORM_PRIME_FACTOR] = prime_factor,
        [KAL_FORM_COOLEY_TUKEY] = cooley_tukey,
        [KAL_FORM_RADER] = rader,
    };
    const struct kal_form form = forms->at[n];
    const struct dft d = { g, forms, n, form.radix, x, y };
    write[form.kind](&d);
}

bool kal_form_applies(struct kal_form form, int n)
{
    const int r = form.radix;
    const bool divides = r > 1 && r < n && n % r == 0;
    switch (form.kind) {
    case KAL_FORM_TINY: return r == 0 && n <= 2;
    case KAL_FORM_DIRECT: return r == 0 && n > 2 && kal_is_prime(n);
    case KAL_FORM_SPLIT_RADIX: return r == 0 && n % 4 == 0;
    case KAL_FORM_PRIME_FACTOR: return divides && kal_gcd(r, n / r) == 1;
    case KAL_FORM_COOLEY_TUKEY: return divides && kal_gcd(r, n / r) != 1;
    case KAL_FORM_RADER: return r == 0 && n > 2 && kal_is_prime(n);
    default: return false;
    }
}

int kal_form_children(struct kal_form form, int n, int child[2])
{
    switch (form.kind) {
    case KAL_FORM_SPLIT_RADIX:
        child[0] = n / 2;
        child[1] = n / 4;
        return 2;
    case KAL_FORM_PRIME_FACTOR:
    case KAL_FORM_COOLEY_TUKEY:
        child[0] = form.radix;
        child[1] = n / form.radix;
        return 2;
    case KAL_FORM_RADER:
        child[0] = (n - 1) / 2;
        child[1] = n - 1;
        return 2;
    default: return 0;
    }
}
