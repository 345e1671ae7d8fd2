// SPDX-License-Identifier: MIT
// What a transform must give, by two independent ways: the definition in quad precision,
// and FFTW in long double. Where there is no such FFTW the one way must do.
#ifndef TESTS_ORACLE_H_
#define TESTS_ORACLE_H_

#include <complex.h>
#include <kallima/device.h>
#include <kallima/plan.h>
#include <stdbool.h>

typedef long double complex oracle_complex;

/**
 * Compute the result of `desc`, scale included, from `in` to `out`: dense arrays of the
 * batch and the lengths, row by row, n/2+1 elements on the last axis of a half spectrum.
 * By definition if one transform has few points, and all are not too many, else by FFTW
 * where it is there.
 */
void oracle_transform(const kallima_desc *desc, const oracle_complex *in,
                      oracle_complex *out);

/** As oracle_transform(), by the one way or by the other. */
void oracle_by_definition(const kallima_desc *desc, const oracle_complex *in,
                          oracle_complex *out);
void oracle_by_fftw(const kallima_desc *desc, const oracle_complex *in,
                    oracle_complex *out);

/** Whether there is the other way, oracle_fftw.c instead of oracle_alone.c. */
extern const bool oracle_has_fftw;

/** Transform whole complex arrays of `desc` in place, by FFTW; oracle_has_fftw. */
void oracle_dft_by_fftw(const kallima_desc *desc, oracle_complex *x);

/** Make a dense half spectrum one of real data: set what follows by symmetry. */
void oracle_make_hermitian(const kallima_desc *desc, oracle_complex *half);

/** Return the relative error, in the 2-norm, that `desc` may have. */
double oracle_bound(const kallima_desc *desc);

/**
 * Let oracle_bound() be that of `device`, which is wider where its fma() rounds twice. Return
 * whether the device could tell.
 */
bool oracle_set_device(kallima_device *device);

#endif
