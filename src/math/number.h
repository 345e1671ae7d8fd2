// SPDX-License-Identifier: MIT
// Integers: primes, factors, modular arithmetic.
#ifndef KAL_MATH_NUMBER_H_
#define KAL_MATH_NUMBER_H_

#include <stdbool.h>
#include <stdint.h>

/** Return the least prime factor of n >= 2, by trial division. */
int64_t kal_least_prime(int64_t n);

/** Return the greatest prime factor of n >= 1; 1 for 1. */
int64_t kal_greatest_prime(int64_t n);

/** Return whether n is prime. */
bool kal_is_prime(int64_t n);

/** Return the greatest common divisor of two integers, not negative. */
int64_t kal_gcd(int64_t a, int64_t b);

/** Return a * b mod n, for 0 <= a, b < n. */
int64_t kal_mul_mod(int64_t a, int64_t b, int64_t n);

/** Return (j + 1)^2 mod n from `square`, which is j^2 mod n, for 0 <= 2 j < n. */
static inline int64_t kal_next_square(int64_t square, int64_t j, int64_t n)
{
    const int64_t next = square + 2 * j + 1; // below 2 n, or n + n
    return next < n ? next : next - n;
}

/** Return base^exponent mod n, for exponent >= 0. */
int64_t kal_pow_mod(int64_t base, int64_t exponent, int64_t n);

/** Return the inverse of a modulo n; gcd(a, n) must be 1. */
int64_t kal_inverse_mod(int64_t a, int64_t n);

/** Return the least generator of the multiplicative group modulo the odd prime p. */
int64_t kal_primitive_root(int64_t p);

/**
 * Return the smallest m >= n whose prime factors are all at most `greatest` (2 .. 13); 0 if
 * n is below 1 or m would pass 2^62.
 */
int64_t kal_smooth_length(int64_t n, int64_t greatest);

#endif
