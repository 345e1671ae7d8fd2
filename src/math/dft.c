// SPDX-License-Identifier: MIT
#include "math/dft.h"

#include "math/number.h"
#include "math/root_table.h"

#include <string.h>

static struct kal_root multiply(struct kal_root a, struct kal_root b)
{
    return (struct kal_root){ a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re };
}

static struct kal_root add(struct kal_root a, struct kal_root b)
{
    return (struct kal_root){ a.re + b.re, a.im + b.im };
}

static struct kal_root subtract(struct kal_root a, struct kal_root b)
{
    return (struct kal_root){ a.re - b.re, a.im - b.im };
}

// One Stockham step: of radix r, what lies at q + s (p + m j) goes to q + s (r p + k).
struct step {
    const struct kal_root_table *roots;
    int64_t r, m, s;
};

// Line k of the s transforms at p, some of its terms at a time.
static void run_line(const struct step *step, int64_t p, int64_t k,
                     const struct kal_root *x, struct kal_root *y)
{
    enum { TERMS = 8 };
    const int64_t n = step->roots->n, r = step->r, s = step->s;
    const struct kal_root twiddle = kal_root_table_get(step->roots, p * k * s % n);
    struct kal_root w[TERMS];

    for (int64_t first = 0; first < r; first += TERMS) {
        const int64_t count = kal_min(TERMS, r - first);
        for (int64_t j = 0; j < count; j++)
            w[j] = multiply(
                twiddle, kal_root_table_get(step->roots, (first + j) * k % r * (n / r)));
        for (int64_t q = 0; q < s; q++) {
            const struct kal_root *from = x + q + s * step->m * first;
            struct kal_root sum = first > 0 ? y[q] : (struct kal_root){ 0.0L, 0.0L };
            for (int64_t j = 0; j < count; j++)
                sum = add(sum, multiply(from[s * step->m * j], w[j]));
            y[q] = sum;
        }
    }
}

static void run_any(const struct step *step, const struct kal_root *x, struct kal_root *y)
{
    const int64_t r = step->r, s = step->s;
    for (int64_t p = 0; p < step->m; p++) {
        for (int64_t k = 0; k < r; k++)
            run_line(step, p, k, x + s * p, y + s * (r * p + k));
    }
}

enum { MOST_FOLDED = 127 }; // the largest radix of whose steps the terms are folded

// One transform of odd length r. With a(j) = x(j) + x(r - j) and b(j) = x(j) - x(r - j),
// outputs k and r - k are x(0) + sum a(j) cos(2 pi j k / r) -+ i sum b(j) sin(2 pi j k / r):
// a quarter of the multiplications of the definition. w[j] = exp(-2 pi i j / r).
static void fold(int64_t r, const struct kal_root *w, const struct kal_root *x,
                 int64_t stride, struct kal_root *y)
{
    struct kal_root a[MOST_FOLDED / 2 + 1], b[MOST_FOLDED / 2 + 1];
    const int64_t half = r / 2;

    y[0] = x[0];
    for (int64_t j = 1; j <= half; j++) {
        a[j] = add(x[stride * j], x[stride * (r - j)]);
        b[j] = subtract(x[stride * j], x[stride * (r - j)]);
        y[0] = add(y[0], a[j]);
    }
    for (int64_t k = 1; k <= half; k++) {
        struct kal_root even = x[0], odd = { 0.0L, 0.0L };
        for (int64_t j = 1, turn = k; j <= half; j++) {
            even.re += a[j].re * w[turn].re;
            even.im += a[j].im * w[turn].re;
            odd.re -= b[j].im * w[turn].im;
            odd.im += b[j].re * w[turn].im;
            turn = turn + k < r ? turn + k : turn + k - r;
        }
        y[k] = add(even, odd);
        y[r - k] = subtract(even, odd);
    }
}

static void run_odd(const struct step *step, const struct kal_root *x, struct kal_root *y)
{
    const int64_t n = step->roots->n, r = step->r, m = step->m, s = step->s;
    struct kal_root w[MOST_FOLDED], twiddle[MOST_FOLDED], line[MOST_FOLDED];

    for (int64_t j = 0; j < r; j++)
        w[j] = kal_root_table_get(step->roots, j * (n / r));
    for (int64_t p = 0; p < m; p++) {
        for (int64_t k = 0; k < r; k++)
            twiddle[k] = kal_root_table_get(step->roots, p * k * s % n);
        for (int64_t q = 0; q < s; q++) {
            fold(r, w, x + q + s * p, s * m, line);
            for (int64_t k = 0; k < r; k++)
                y[q + s * (r * p + k)] = multiply(line[k], twiddle[k]);
        }
    }
}

// Most steps are of radix 4, whose roots are no work.
static void run_four(const struct step *step, const struct kal_root *x,
                     struct kal_root *y)
{
    const int64_t n = step->roots->n, m = step->m, s = step->s;
    for (int64_t p = 0; p < m; p++) {
        const struct kal_root w1 = kal_root_table_get(step->roots, p * s);
        const struct kal_root w2 = kal_root_table_get(step->roots, 2 * p * s % n);
        const struct kal_root w3 = kal_root_table_get(step->roots, 3 * p * s % n);
        const struct kal_root *from = x + s * p;
        struct kal_root *to = y + s * 4 * p;
        for (int64_t q = 0; q < s; q++) {
            const struct kal_root a = from[q], b = from[q + s * m];
            const struct kal_root c = from[q + 2 * s * m], d = from[q + 3 * s * m];
            const struct kal_root even = add(a, c), odd = add(b, d);
            const struct kal_root u = subtract(a, c), v = subtract(b, d);
            const struct kal_root turned = { v.im, -v.re }; // -i v
            to[q] = add(even, odd);
            to[q + s] = multiply(add(u, turned), w1);
            to[q + 2 * s] = multiply(subtract(even, odd), w2);
            to[q + 3 * s] = multiply(subtract(u, turned), w3);
        }
    }
}

static void run_step(const struct step *step, const struct kal_root *x,
                     struct kal_root *y)
{
    if (step->r == 4)
        run_four(step, x, y);
    else if (step->r % 2 == 1 && step->r <= MOST_FOLDED)
        run_odd(step, x, y);
    else
        run_any(step, x, y);
}

kallima_status kal_dft(const struct kal_host *host, struct kal_root *x, int64_t n)
{
    struct kal_root_table roots;
    void *memory;

    KAL_TRY(kal_alloc(host, &memory, (uint64_t)n, sizeof *x));
    const kallima_status status = kal_root_table_init(&roots, host, n);
    if (status) {
        kal_free(host, memory);
        return status;
    }

    struct kal_root *from = x, *to = memory;
    int64_t m = n, s = 1;
    while (m > 1) {
        const int64_t r = m % 4 == 0 ? 4 : kal_least_prime(m);
        m /= r;
        const struct step step = { &roots, r, m, s };
        run_step(&step, from, to);
        s *= r;
        struct kal_root *swap = from;
        from = to;
        to = swap;
    }
    if (from != x)
        memcpy(x, from, (size_t)n * sizeof *x);
    kal_root_table_clear(&roots);
    kal_free(host, memory);
    return KALLIMA_OK;
}
