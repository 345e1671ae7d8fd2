// SPDX-License-Identifier: MIT
// The reference transform at the speed of the processor's widest arithmetic: for lengths at
// which quad precision in software takes too long.
#ifndef KALLIMA_BENCH_EXTENDED_H_
#define KALLIMA_BENCH_EXTENDED_H_

#include <stdint.h>

#include "reference.h"

/**
 * As reference_dft(), reference_r2c() and reference_c2r(), computed in long double: 64 bits
 * of mantissa on x86, so that the error is below a thousandth of one in f64.
 */
int extended_dft(int rank, const int64_t *n, int sign, const struct quad_complex *in,
                 struct quad_complex *out);
int extended_r2c(int rank, const int64_t *n, const quad *in, struct quad_complex *out);
int extended_c2r(int rank, const int64_t *n, const struct quad_complex *in, quad *out);

#endif
