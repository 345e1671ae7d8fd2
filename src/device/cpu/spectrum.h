// SPDX-License-Identifier: MIT
// What a convolution multiplies by: the spectrum of Rader's roots, or of Bluestein's chirp.
#ifndef KAL_DEVICE_CPU_SPECTRUM_H_
#define KAL_DEVICE_CPU_SPECTRUM_H_

#include "device/cpu/cpu.h"

/** Return the length of the convolution that a step RADER or PRODUCT is of. */
int64_t kal_cpu_spectrum_length(const struct kal_step *step);

/**
 * Put what `step` of the program multiplies by to spectrum[]: the transform of what it convolves
 * with, over the length. Short ones are computed in extended precision;
 * else in doubles, on the calling thread, by a program of the convolution's own recipe, so as fast
 * as a run of the plan.
 *
 * Shape: spectrum[] has kal_cpu_spectrum_length() numbers, the parts of each side by side.
 * Error: E_MEMORY  exhausted
 */
kallima_status kal_cpu_spectrum_make(struct cpu_program *program,
                                     const struct kal_step *step, double *spectrum);

#endif
