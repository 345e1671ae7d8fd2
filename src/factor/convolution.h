// SPDX-License-Identifier: MIT
// Lengths of the convolutions that kernels work fastest, found by measuring.
#ifndef KAL_FACTOR_CONVOLUTION_H_
#define KAL_FACTOR_CONVOLUTION_H_

#include "factor/rule.h"

/**
 * Return the length of a convolution of at least `least` points that the kernels of one pass
 * work fastest; 0 where none is known: long ones, very short ones, and those in f64.
 */
int64_t kal_convolution_length(int64_t least, const struct kal_caps *caps);

/** Write the radices of such a length in their order; return their number, 0 for others. */
int kal_convolution_radices(int64_t n, const struct kal_caps *caps, int radix[]);

/**
 * Return the columns, and write the length, of a convolution of at least `least` points that the
 * kernels of two passes work fastest; 0 where none is known: shorter and very long ones, and those
 * that the device has no room for.
 */
int64_t kal_convolution_columns(int64_t least, const struct kal_caps *caps,
                                int64_t *length);

/** Write the radices of columns or rows of such a length; return their number, 0 for others. */
int kal_convolution_step_radices(int64_t n, int radix[]);

/** Whether a convolution of one of these lengths is faster than Rader's of a prime's own. */
bool kal_convolution_beats_rader(const struct kal_axis *axis,
                                 const struct kal_caps *caps);

/**
 * Whether a convolution of all is faster than to divide a length with a prime that is no radix: one
 * of one pass, or one of two where the prime would be convolved like that itself.
 */
bool kal_convolution_beats_division(const struct kal_axis *axis,
                                    const struct kal_caps *caps);

#endif
