// SPDX-License-Identifier: MIT
// All n-th roots of unity in extended precision, from two tables of about sqrt(n) entries.
#ifndef KAL_MATH_ROOT_TABLE_H_
#define KAL_MATH_ROOT_TABLE_H_

#include "base/base.h"
#include "math/root.h"

/**
 * A root as sums of two doubles, which hold a long double of 64 bits exactly: an x86
 * processor loads both and adds them in half the time that it takes to load one of ten
 * bytes.
 */
struct kal_root_sum {
    double re, re_rest, im, im_rest;
};

struct kal_root_table {
    const struct kal_host *host;
    int64_t n;
    int shift;                   // bits of an exponent that `fine` covers
    struct kal_root_sum *fine;   // exp(-2*pi*i * j / n), j < 2^shift
    struct kal_root_sum *coarse; // exp(-2*pi*i * j * 2^shift / n)
};

/**
 * Prepare the table of the n-th roots of unity, n >= 1.
 *
 * Owner:  the caller frees it with kal_root_table_clear().
 * Error:  E_MEMORY  exhausted; nothing is kept
 */
kallima_status kal_root_table_init(struct kal_root_table *table,
                                   const struct kal_host *host, int64_t n);

/** Free what the table holds. */
void kal_root_table_clear(struct kal_root_table *table);

/** The first ones of its doubles are the root rounded. Thread: any. */
static inline struct kal_root_sum kal_sum_of_root(struct kal_root root)
{
    const double re = (double)root.re, im = (double)root.im;
    return (struct kal_root_sum){ re, (double)(root.re - re), im,
                                  (double)(root.im - im) };
}

/** The reverse. Thread: any. */
static inline struct kal_root kal_root_of_sum(struct kal_root_sum s)
{
    return (struct kal_root){ (long double)s.re + s.re_rest,
                              (long double)s.im + s.im_rest };
}

/** Return exp(-2*pi*i * k / n), 0 <= k < n, to about 2 ulp of long double. Thread: any. */
static inline struct kal_root kal_root_table_get(const struct kal_root_table *table,
                                                 int64_t k)
{
    const int64_t low = k & (((int64_t)1 << table->shift) - 1);
    const struct kal_root a = kal_root_of_sum(table->coarse[k >> table->shift]);
    if (low == 0)
        return a;
    const struct kal_root b = kal_root_of_sum(table->fine[low]);
    return (struct kal_root){ a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re };
}

#endif
