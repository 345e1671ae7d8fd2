// SPDX-License-Identifier: MIT
// Lines that are convolved one by one, with a chirp or, by Rader's algorithm, with roots: both
// transforms are the program of a packed line, which works on its own lanes.
#ifndef KAL_DEVICE_CPU_CONVOLVED_H_
#define KAL_DEVICE_CPU_CONVOLVED_H_

#include "device/cpu/worker.h"

/**
 * Make a program of such lines, if its problem has them: then program->convolved.line is
 * what transforms one.
 *
 * Error: E_MEMORY       exhausted
 *        E_UNSUPPORTED  as kal_cpu_nested_create()
 */
kallima_status kal_cpu_convolved_find(struct cpu_program *program);

/** Return the bytes of scratch that a worker needs. */
uint64_t kal_cpu_convolved_bytes(const struct cpu_program *program);

/** Run one line, which begins at x and y. */
void kal_cpu_convolved_run(const struct cpu_program *program, const struct cpu_vectors *x,
                           const struct cpu_vectors *y, char *workspace);

#endif
