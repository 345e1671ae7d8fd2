// SPDX-License-Identifier: MIT
// Short lines that lie anywhere, in one codelet with nothing to look up: elements apart, planes,
// columns, reals of which each lies by itself.
#ifndef KAL_DEVICE_CPU_APART_H_
#define KAL_DEVICE_CPU_APART_H_

#include "device/cpu/cpu.h"

/**
 * Find how a program of one pass is worked in that way: program->apart.part_count is 0 if it is not. The
 * widest registers take the first lines, narrower ones the rest.
 */
void kal_cpu_apart_find(struct cpu_program *program);

/** Run the share of one of `parts` workers of all lines, which begin at x and y. */
void kal_cpu_apart_run(const struct cpu_program *program, const struct cpu_vectors *x,
                       const struct cpu_vectors *y, int part, int parts);

#endif
