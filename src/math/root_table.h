// SPDX-License-Identifier: MIT
// All n-th roots of unity in extended precision, from two tables of about sqrt(n) entries.
#ifndef KAL_MATH_ROOT_TABLE_H_
#define KAL_MATH_ROOT_TABLE_H_

#include "base/base.h"
#include "math/root.h"

struct kal_root_table {
    const struct kal_host *host;
    int64_t n;
    int shift;               // bits of an exponent that `fine` covers
    struct kal_root *fine;   // exp(-2*pi*i * j / n), j < 2^shift
    struct kal_root *coarse; // exp(-2*pi*i * j * 2^shift / n)
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

/** Return exp(-2*pi*i * k / n), 0 <= k < n, to about 2 ulp of long double. Thread: any. */
static inline struct kal_root kal_root_table_get(const struct kal_root_table *table,
                                                 int64_t k)
{
    const int64_t low = k & (((int64_t)1 << table->shift) - 1);
    const struct kal_root a = table->coarse[k >> table->shift], b = table->fine[low];
    if (low == 0)
        return a;
    return (struct kal_root){ a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re };
}

#endif
