// SPDX-License-Identifier: MIT
// The accurate form of a network of sums and products.
#ifndef KAL_CODELET_SHARPEN_H_
#define KAL_CODELET_SHARPEN_H_

#include "codelet/network.h"

/**
 * Write the network `net` once more into the empty network `out`, with x - (1-c)*x for
 * c*x wherever c is from 3/4 to 1 and its rounding error, in single or in double, is near
 * the largest possible.
 *
 * The error of a constant is the same in all outputs and in all steps of a long
 * transform: it does not average out as those of operations do. That of 1-c is at most a
 * quarter. sqrt(3)/2 is the worst one: 0.52 of 2^-53.
 *
 * Error:  sticky, in the graph of `out`
 * Source: own
 */
void kal_network_sharpen(struct kal_network *out, const struct kal_network *net);

#endif
