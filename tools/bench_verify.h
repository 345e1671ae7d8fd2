// SPDX-License-Identifier: MIT
// Check one transform: the error of its output, and that nothing else was written.
#ifndef KALLIMA_BENCH_VERIFY_H_
#define KALLIMA_BENCH_VERIFY_H_

#include <stdbool.h>
#include <stddef.h>

#include <kallima/kallima.h>

/**
 * Plan and execute `desc` on random input, outputs poisoned and arrays between guard zones.
 * Store the relative error in the 2-norm, the root of the mean square over the batch; tiny
 * transforms are drawn several times, as a few roundings are no statistic.
 *
 * Error: returns false and writes one sentence to `why` if the problem is refused or fails,
 *        if memory that is not output was written, or if input was that must be kept.
 */
bool verify_problem(kallima_device *device, const kallima_desc *desc, double *error,
                    char *why, size_t capacity);

#endif
