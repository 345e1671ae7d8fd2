// SPDX-License-Identifier: MIT
// The discrete Fourier transform in quadruple precision, against which everything else is
// judged: simple code, no SIMD, no threads, nothing shared with the library.
#ifndef KALLIMA_REFERENCE_H_
#define KALLIMA_REFERENCE_H_

#include <stdint.h>

// 113 bits of mantissa on x86-64 and AArch64; what long double has elsewhere.
#if defined __x86_64__ || defined __i386__
__extension__ typedef __float128 quad;
#else
typedef long double quad;
#endif

struct quad_complex {
    quad re, im;
};

enum { REFERENCE_MAX_RANK = 8 };

/**
 * Return exp(2*pi*i * k / n), n >= 1, any k: the angle is reduced to an eighth of the
 * circle in integers, so that symmetric roots are equal to the last bit.
 */
struct quad_complex reference_root(int64_t n, int64_t k);

/**
 * Compute y[k] = sum over j of x[j] * exp(sign * 2*pi*i * (j[0]*k[0]/n[0] + ...)), unscaled.
 *
 * Shape:  n[0] x ... x n[rank-1] complex numbers, packed, the last axis fastest; `in` and
 *         `out` may be the same array.
 * Error:  returns 0, or -1 if memory is exhausted.
 */
int reference_dft(int rank, const int64_t *n, int sign, const struct quad_complex *in,
                  struct quad_complex *out);

/** As reference_dft(), of `batch` such arrays one behind the other, in place. */
int reference_dft_many(int64_t batch, int rank, const int64_t *n, int sign,
                       struct quad_complex *x);

/**
 * Compute the forward transform of real input: the coefficients 0 .. n[rank-1]/2 of the
 * last axis.
 *
 * Shape:  `in` is n[0] x ... x n[rank-1] real numbers, `out` the same with n[rank-1]/2+1
 *         complex numbers on the last axis; both packed, not overlapping.
 * Error:  returns 0, or -1 if memory is exhausted.
 */
int reference_r2c(int rank, const int64_t *n, const quad *in, struct quad_complex *out);

/**
 * Compute the inverse transform to real output: complex transforms along all axes but the
 * last, then along the last axis of the Hermitian continuation. The imaginary parts of
 * coefficients 0 and n/2 of the last axis are then without effect.
 *
 * Shape:  as reference_r2c(), with `in` and `out` exchanged; `in` is kept.
 * Error:  returns 0, or -1 if memory is exhausted.
 */
int reference_c2r(int rank, const int64_t *n, const struct quad_complex *in, quad *out);

/**
 * Return ||got - want|| / ||want|| in the 2-norm over `count` numbers, not finite if one of
 * them is not; ||got|| if `want` is zero throughout.
 */
double reference_error(int64_t count, const struct quad_complex *want,
                       const struct quad_complex *got);

/**
 * Return the relative error in the 2-norm that a transform of random data may have:
 * c * epsilon * sqrt(max(1, log2 N)), N the number of points, c = 0.75 if no prime factor
 * of a length is above 13, else 1.5. `epsilon` is 2^-24 for f32 and 2^-53 for f64.
 */
double reference_bound(int rank, const int64_t *n, double epsilon);

/**
 * Return such a bound of results that are multiplied by `scale`, 0 standing for 1: in
 * quadrature with half an epsilon, for the rounding of each product, and with the relative
 * error of the scale itself in that precision. A power of two rounds nothing.
 */
double reference_scaled_bound(double bound, double scale, double epsilon);

/**
 * Return what reference_bound() is to be multiplied by on a device whose fma() rounds so often
 * (kallima_device_find_rounding()): of a complex product with random data the roundings of a part
 * add variances of 1/2 for the sum and 1/4 for one product, or for both where neither is fused,
 * which is sqrt(4/3).
 */
static inline double reference_widening(int fma_roundings)
{
    return fma_roundings > 1 ? 1.1547005383792515 : 1.0;
}

#endif
