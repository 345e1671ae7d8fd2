// SPDX-License-Identifier: MIT
// Arrays of several axes that are worked as two problems: the small arrays of all axes
// but the first, and lines of that.
#ifndef KAL_DEVICE_CPU_DIVIDED_H_
#define KAL_DEVICE_CPU_DIVIDED_H_

#include "device/cpu/cpu.h"

/**
 * Make the two programs of such an array, if the program's problem is one:
 * program->divided.inner is NULL else.
 *
 * Error: E_MEMORY       exhausted
 *        E_UNSUPPORTED  as kal_cpu_nested_create()
 */
kallima_status kal_cpu_divided_find(struct cpu_program *program);

/** Return the bytes of scratch that a worker needs. */
uint64_t kal_cpu_divided_bytes(const struct cpu_program *program);

/**
 * Run both for arrays begin .. end-1 of all, which begin at x and y. Where there is one
 * worker the two programs have threads of their own.
 */
void kal_cpu_arrays_run(const struct cpu_program *program, const struct cpu_vectors *x,
                        const struct cpu_vectors *y, char *scratch, int64_t begin,
                        int64_t end);

#endif
