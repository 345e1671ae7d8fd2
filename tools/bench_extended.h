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

/** Gives element `index` of an input. */
typedef struct quad_complex extended_input(const void *context, int64_t index);

/**
 * Compute those outputs of a complex transform whose index on the first axis is `first`
 * more than a multiple of `step`: the sums that are common to them leave a transform that
 * is `step` times shorter.
 *
 * Shape:  `step` divides n[0]; `out` is n[0] / step x n[1] x ... complex numbers, packed.
 * Error:  returns 0, or -1 if memory is exhausted.
 */
int extended_part(int rank, const int64_t *n, int sign, int64_t step, int64_t first,
                  extended_input *input, const void *context, struct quad_complex *out);

#endif
