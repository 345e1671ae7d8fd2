// SPDX-License-Identifier: MIT
// What the result must be: random input, and its transform by the CPU engine in f64 on dense
// complex arrays, whatever kind, precision and layout are asked for.
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
    double
        *want; // of every output element its real part and, if complex, its imaginary one
    double power; // sum of the squares of all that
};

/** Return the bytes that kal_reference_init() takes at most: what it keeps, and at work. */
uint64_t kal_reference_bytes(const struct kal_problem *problem);

/**
 * Write random input into an image: uniform with variance 1, all bits of the mantissa in
 * use, the spectrum of a real array for C2R.
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
