// SPDX-License-Identifier: MIT
// What the result must be: random input, and its transform by the CPU engine in f64 on dense
// complex arrays, whatever kind, precision and layout are asked for.
//
// Only the first transforms of a batch are random; the others repeat them, with a period that
// is a prime. So the result of every transform is known, at the cost of a few. What stays
// unseen is that two transforms a multiple of the period apart have changed places, both right
// otherwise. Devices err by powers of two, as in bits of an index, and by the limits of a grid,
// of which 65535 = 3 * 5 * 17 * 257 is one: no period divides any of these.
//
// The engine is not trusted for that. Before its results are used, a probe (probe.h) compares
// them with the definition in extended precision. So it does not matter where the device that
// is tuned is the CPU as well; there, in f64, the reference takes scalar codelets without
// fused operations, so that its rounding errors are others too.
#ifndef KAL_TUNE_REFERENCE_H_
#define KAL_TUNE_REFERENCE_H_

#include "problem/problem.h"
#include "tune/image.h"
#include "tune/probe.h"

struct kal_reference {
    int64_t period;
    double *want; // one period's output, dense, arranged as kal_lines_squares() says
    double power; // sum of the squares of all the batch's output
};

/**
 * Return how many transforms of the batch differ: a small prime, so many that they are worth
 * the statistics, or all, where that is fewer, or where inputs share memory.
 */
int64_t kal_reference_period(const struct kal_problem *problem);

/** Return the bytes that kal_reference_init() takes at most: what it keeps, and at work. */
uint64_t kal_reference_bytes(const struct kal_problem *problem);

/**
 * Write random input into an image: uniform with variance 1, all bits of the mantissa in
 * use, the spectrum of a real array for C2R. Transforms repeat with the period.
 */
void kal_reference_fill(struct kal_image *input, const struct kal_problem *problem,
                        uint64_t seed);

/**
 * Transform the input of an image, which is read as it is rounded there.
 *
 * Owner: the caller frees it with kal_reference_clear() on the same host.
 * Error: E_MEMORY  exhausted
 *        E_DEVICE  the CPU engine's result is not the transform of its input
 */
kallima_status kal_reference_init(struct kal_reference *reference,
                                  const struct kal_host *host,
                                  const struct kal_problem *problem,
                                  const struct kal_image *input, bool is_scalar);

/** Free what the reference holds; all zero is fine. */
void kal_reference_clear(struct kal_reference *reference, const struct kal_host *host);

/**
 * Return the relative error in the 2-norm that a transform of the problem's lengths may have
 * (docs/numerics.md), without its scale.
 */
double kal_reference_bound(const struct kal_problem *problem, bool is_f64);

/**
 * Check `count` dense transforms against the definition: whether each probe of `outputs` is
 * that of `inputs`, but for rounding errors in f64.
 *
 * Shape: probes of the inputs as kal_probe_inputs() gave them; unscaled outputs, dense.
 */
bool kal_reference_agrees(const struct kal_probe *probe, const struct kal_root *inputs,
                          const double *outputs, int64_t count, double bound);

#endif
