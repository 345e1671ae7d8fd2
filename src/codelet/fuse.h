// SPDX-License-Identifier: MIT
// The FMA form of a network.
#ifndef KAL_CODELET_FUSE_H_
#define KAL_CODELET_FUSE_H_

#include "codelet/network.h"

/**
 * Write the network `net` of sums and products by constants into the empty network `out`,
 * so that as many multiplications as possible are part of an addition.
 *
 * Every value is held as a constant times a node. The sum c*x + d*y is c*(x + (d/c)*y):
 * one fused operation, and c goes on to where the value is used. Only outputs have to
 * have the constant 1. So there are about as many operations as there were additions.
 *
 * Unit:   |d/c| is at most 1 unless c is 1, so that rounding errors do not grow.
 * Error:  sticky, in the graph of `out`
 * Source: own
 */
void kal_network_fuse(struct kal_network *out, const struct kal_network *net);

#endif
