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

/** Whether a convolution of one of these lengths is faster than Rader's of a prime's own. */
bool kal_convolution_beats_rader(const struct kal_axis *axis,
                                 const struct kal_caps *caps);

#endif
