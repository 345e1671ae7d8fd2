// SPDX-License-Identifier: MIT
// What a transform must give, by two independent ways: the definition in quad precision,
// and FFTW in long double.
#ifndef TESTS_ORACLE_H_
#define TESTS_ORACLE_H_

#include <complex.h>
#include <kallima/plan.h>
#include <stdbool.h>

typedef long double complex oracle_complex;

/**
 * Compute the result of `desc`, scale included, from `in` to `out`: dense arrays of the
 * batch and the lengths, row by row, n/2+1 elements on the last axis of a half spectrum.
 * By definition if one transform has few points, else by FFTW.
 */
void oracle_transform(const kallima_desc *desc, const oracle_complex *in,
                      oracle_complex *out);

/** As oracle_transform(), by the one way or by the other. */
void oracle_by_definition(const kallima_desc *desc, const oracle_complex *in,
                          oracle_complex *out);
void oracle_by_fftw(const kallima_desc *desc, const oracle_complex *in,
                    oracle_complex *out);

/** Make a dense half spectrum one of real data: set what follows by symmetry. */
void oracle_make_hermitian(const kallima_desc *desc, oracle_complex *half);

/** Return the relative error, in the 2-norm, that `desc` may have. */
double oracle_bound(const kallima_desc *desc);

/**
 * Widen oracle_bound() for a device whose fma() rounds twice, by sqrt(4/3): of a complex product
 * with random data the roundings of a part add variances of 1/2 for the sum and 1/4 for one
 * product, or for both where neither is fused.
 */
void oracle_set_twice_rounded(void);

#endif
