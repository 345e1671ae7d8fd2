// SPDX-License-Identifier: MIT
// A few lines whose elements lie apart, or are an odd number of reals: each is copied, transformed where it is contiguous
// and complex, and copied back.
#ifndef KAL_DEVICE_CPU_COPIED_H_
#define KAL_DEVICE_CPU_COPIED_H_

#include "device/cpu/cpu.h"

/**
 * Make a program of such lines, if its problem has them: then program->copied.line is what transforms one of them.
 *
 * Error: E_MEMORY       exhausted
 *        E_UNSUPPORTED  as kal_cpu_nested_create()
 */
kallima_status kal_cpu_copied_find(struct cpu_program *program);

/** Return the bytes of scratch that kal_cpu_copied_run() needs. */
uint64_t kal_cpu_copied_bytes(const struct cpu_program *program);

/** Run the line that begins at x and y. */
void kal_cpu_copied_run(const struct cpu_program *program, const struct cpu_vectors *x,
                        const struct cpu_vectors *y, char *scratch);

#endif
