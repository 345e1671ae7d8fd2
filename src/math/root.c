// SPDX-License-Identifier: MIT
#include "math/root.h"

#include <math.h>

#ifdef __FAST_MATH__
#error "roots of unity rely on IEEE arithmetic: compile without -ffast-math"
#endif

// cos and sin of 2*pi * k / n, 0 <= k / n <= 1/8
static struct kal_root first_octant(int64_t n, int64_t k)
{
    static const long double tau = 6.283185307179586476925286766559005768394L;
    if (n == 8 * k)
        return (struct kal_root){ sqrtl(0.5L), sqrtl(0.5L) };
    if (n == 12 * k)
        return (struct kal_root){ sqrtl(0.75L), 0.5L };
    const long double angle = tau * (long double)k / (long double)n;
    return (struct kal_root){ cosl(angle), sinl(angle) };
}

struct kal_root kal_root(int64_t n, int64_t k)
{
    k %= n;
    if (k < 0)
        k += n;

    // exp(-2 pi i k / n): quadrants first, then the octant within one.
    // Lengths stay below 2^61, so that 8 * k does not overflow.
    const int quadrant = (int)(4 * k / n);
    const int64_t rest = 4 * k - quadrant * n; // of n: the quadrant has length n
    struct kal_root r;
    if (2 * rest <= n) {
        r = first_octant(4 * n, rest);
    } else {
        const struct kal_root mirrored = first_octant(4 * n, n - rest);
        r = (struct kal_root){ mirrored.im, mirrored.re };
    }

    switch (quadrant) {
    case 0: return (struct kal_root){ r.re, -r.im };
    case 1: return (struct kal_root){ -r.im, -r.re };
    case 2: return (struct kal_root){ -r.re, r.im };
    default: return (struct kal_root){ r.im, r.re };
    }
}
