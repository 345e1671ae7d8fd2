// SPDX-License-Identifier: MIT
#include "math/dft.h"

#include "math/number.h"
#include "math/root_table.h"

#include <string.h>

static struct kal_root multiply(struct kal_root a, struct kal_root b)
{
    return (struct kal_root){ a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re };
}

// One Stockham step of radix r: x[q + s (p + m j)] to y[q + s (r p + k)].
static void step(const struct kal_root_table *roots, int64_t r, int64_t m, int64_t s,
                 const struct kal_root *x, struct kal_root *y)
{
    const int64_t n = roots->n;
    for (int64_t p = 0; p < m; p++) {
        for (int64_t k = 0; k < r; k++) {
            const struct kal_root twiddle = kal_root_table_get(roots, p * k * s % n);
            for (int64_t q = 0; q < s; q++) {
                struct kal_root sum = x[q + s * p];
                for (int64_t j = 1; j < r; j++) {
                    const struct kal_root w =
                        kal_root_table_get(roots, j * k % r * (n / r));
                    const struct kal_root t = multiply(x[q + s * (p + m * j)], w);
                    sum.re += t.re;
                    sum.im += t.im;
                }
                y[q + s * (r * p + k)] = multiply(sum, twiddle);
            }
        }
    }
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
        step(&roots, r, m, s, from, to);
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
