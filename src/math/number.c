// SPDX-License-Identifier: MIT
#include "math/number.h"

#include <stddef.h>

int64_t kal_least_prime(int64_t n)
{
    if (n % 2 == 0)
        return 2;
    for (int64_t d = 3; d <= n / d; d += 2) {
        if (n % d == 0)
            return d;
    }
    return n;
}

int64_t kal_greatest_prime(int64_t n)
{
    int64_t greatest = 1;
    while (n > 1) {
        greatest = kal_least_prime(n);
        while (n % greatest == 0)
            n /= greatest;
    }
    return greatest;
}

bool kal_is_prime(int64_t n)
{
    return n >= 2 && kal_least_prime(n) == n;
}

int64_t kal_gcd(int64_t a, int64_t b)
{
    while (b != 0) {
        const int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a < 0 ? -a : a;
}

int64_t kal_mul_mod(int64_t a, int64_t b, int64_t n)
{
    return (int64_t)((unsigned __int128)a * (unsigned __int128)b % (unsigned __int128)n);
}

int64_t kal_pow_mod(int64_t base, int64_t exponent, int64_t n)
{
    int64_t result = 1 % n;
    for (base %= n; exponent > 0; exponent /= 2) {
        if (exponent % 2 == 1)
            result = kal_mul_mod(result, base, n);
        base = kal_mul_mod(base, base, n);
    }
    return result;
}

int64_t kal_inverse_mod(int64_t a, int64_t n)
{
    // Invariant: r0 = x0 * a and r1 = x1 * a, modulo n.
    int64_t r0 = n, r1 = a % n, x0 = 0, x1 = 1;
    while (r1 != 0) {
        const int64_t q = r0 / r1;
        const int64_t r2 = r0 - q * r1, x2 = x0 - q * x1;
        r0 = r1;
        r1 = r2;
        x0 = x1;
        x1 = x2;
    }
    return x0 < 0 ? x0 + n : x0;
}

static bool generates(int64_t g, int64_t p)
{
    int64_t rest = p - 1;
    while (rest > 1) {
        const int64_t q = kal_least_prime(rest);
        if (kal_pow_mod(g, (p - 1) / q, p) == 1)
            return false;
        while (rest % q == 0)
            rest /= q;
    }
    return true;
}

int64_t kal_primitive_root(int64_t p)
{
    int64_t g = 2;
    while (!generates(g, p))
        g++;
    return g;
}

// The smallest of m * 2^a 3^b ... >= n that is below `best`, over the primes from `prime` on.
static int64_t smooth_search(int64_t n, int64_t m, size_t prime, size_t count,
                             int64_t best)
{
    static const int64_t primes[] = { 13, 11, 7, 5, 3, 2 };
    const size_t total = sizeof primes / sizeof primes[0];
    const size_t i = total - count + prime;

    if (m >= n)
        return m < best ? m : best;
    if (i == total - 1) { // only 2 is left: double as often as needed
        while (m < n)
            m *= 2;
        return m < best ? m : best;
    }
    for (; m < best; m *= primes[i]) {
        best = smooth_search(n, m, prime + 1, count, best);
        if (m >= n)
            break;
    }
    return best;
}

int64_t kal_smooth_length(int64_t n, int64_t greatest)
{
    const int64_t limit = (int64_t)1 << 62;
    static const int64_t least[] = { 2, 3, 5, 7, 11, 13 };
    size_t count = 0;

    if (n < 1 || n > limit)
        return 0;
    while (count < sizeof least / sizeof least[0] && least[count] <= greatest)
        count++;

    int64_t power = 1;
    while (power < n)
        power *= 2;
    // The search never multiplies a number of at least n / 2 above 2^58 by 13.
    if (n > limit / 16)
        return power;
    return smooth_search(n, 1, 0, count, power);
}
