// SPDX-License-Identifier: MIT
// One number that depends on every output of a transform, and that the definition gives from
// the inputs alone: whoever computes both has checked all outputs, in linear time.
//
// With c(k) = exp(-2*pi*i * k * (2*m + 1) / (2*n)) on each axis, for some m,
//
//   sum over k of c(k) * X(k) = sum over j of x(j) * D(2*m + 1 + 2*s*j)
//   D(t) = sum over k of exp(-2*pi*i * k * t / (2*n)) = 1 - i * cot(pi * t / (2*n)),  t odd
//
// where s is +1 forward and -1 inverse. |c(k)| = 1: an error of one output changes the sum by
// as much, and rounding errors of all of them by about their 2-norm.
#ifndef KAL_TUNE_PROBE_H_
#define KAL_TUNE_PROBE_H_

#include "base/base.h"
#include "math/root_table.h"

#include <kallima/plan.h>

struct kal_probe_axis {
    struct kal_root_table roots; // of order 4 n
    int64_t n, first;            // first = 2 m + 1
};

struct kal_probe {
    int rank;
    bool is_inverse;
    struct kal_probe_axis axis[KALLIMA_MAX_RANK];
    // A row along the last axis is walked in blocks: the root of an index in it is that of the
    // block's first times one of these. By them alone a point costs a few products.
    int64_t block;
    struct kal_root *input, *output;
};

/**
 * Prepare the sums for transforms of `rank` axes; `seed` decides m.
 *
 * Owner:  the caller frees it with kal_probe_clear(), on failure too.
 * Error:  E_MEMORY  exhausted
 * Source: checking a linear map by one product with a random vector: R. Freivalds, Proc. IFIP
 *         Congress 77, 839-842. That the vector is such that its transform is known: own.
 */
kallima_status kal_probe_init(struct kal_probe *probe, const struct kal_host *host,
                              int rank, const int64_t *n, bool is_inverse, uint64_t seed);

/** Free what the probe holds. */
void kal_probe_clear(struct kal_probe *probe);

/** Return the points of one transform. */
int64_t kal_probe_points(const struct kal_probe *probe);

/**
 * Return the sum as the inputs have it, or as the unscaled outputs have it; of these, *power
 * becomes the sum of the squares.
 *
 * Shape:  one transform, dense complex numbers, the last axis fastest.
 * Thread: any.
 */
struct kal_root kal_probe_inputs(const struct kal_probe *probe, const double *x);
struct kal_root kal_probe_outputs(const struct kal_probe *probe, const double *x,
                                  double *power);

#endif
