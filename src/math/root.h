// SPDX-License-Identifier: MIT
// Roots of unity in extended precision, to be rounded once by whoever stores them.
#ifndef KAL_MATH_ROOT_H_
#define KAL_MATH_ROOT_H_

#include <stdint.h>

struct kal_root {
    long double re, im;
};

/**
 * Return exp(-2*pi*i * k / n) for n >= 1 and any k.
 *
 * Exact where the value is 0, 1/2 or 1 in magnitude, rounded correctly where it is the
 * root of 1/2 or 3/4, else within 2 ulp of long double: the angle is reduced to an
 * eighth of the circle in integers before a function of libm sees it. For one n, values
 * that are equal in mathematics, but for the sign, are equal.
 *
 * Thread: any.
 * Source: own
 */
struct kal_root kal_root(int64_t n, int64_t k);

#endif
