// SPDX-License-Identifier: MIT
// Roots of unity that are kept while a program is made, as several of its tables are of the same.
#ifndef KAL_DEVICE_CPU_ROOTS_H_
#define KAL_DEVICE_CPU_ROOTS_H_

#include "device/cpu/cpu.h"
#include "math/root_table.h"

/** Find the roots of order n >= 1. Owner: the program. Error: E_MEMORY  exhausted */
kallima_status kal_cpu_roots_find(struct cpu_program *program, int64_t n,
                                  const struct kal_root_table **out);

/** The same of the chirp exp(-pi i j^2 / n) for j = 0 .. n-1. */
kallima_status kal_cpu_chirp_find(struct cpu_program *program, int64_t n,
                                  const struct kal_root_sum **out);

/** Free what these found. */
void kal_cpu_roots_clear(struct cpu_program *program);

#endif
