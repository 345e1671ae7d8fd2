// SPDX-License-Identifier: MIT
// Programs of one line or array with nothing to look up when they run: what kind each is,
// and how its steps are called.
#ifndef KAL_DEVICE_CPU_SINGLE_H_
#define KAL_DEVICE_CPU_SINGLE_H_

#include "device/cpu/cpu.h"

/**
 * Find what kind of a single one a program is, if it is one, where its lines are, and
 * whether these go past the caches.
 */
void kal_cpu_single_find(struct cpu_program *program);

/**
 * Let it have one thread, or several where there is something to share, once `threads` is
 * chosen.
 */
void kal_cpu_single_share(struct cpu_program *program);

/**
 * Find how the steps of a single line are called, which depends on what each is between.
 * Error: E_MEMORY  exhausted
 */
kallima_status kal_cpu_single_calls_find(struct cpu_program *program);

#endif
