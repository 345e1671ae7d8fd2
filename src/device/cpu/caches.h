// SPDX-License-Identifier: MIT
// What a pass asks of the caches: what is asked for ahead, and what goes past them.
#ifndef KAL_DEVICE_CPU_CACHES_H_
#define KAL_DEVICE_CPU_CACHES_H_

#include "device/cpu/cpu.h"

/**
 * Return the bytes that all lines of a pass take, or those of one round of its first
 * `loops` loops.
 */
double kal_cpu_pass_bytes(const struct cpu_program *program, const struct kal_pass *pass,
                          int loops);

/** Return whether a pass writes so much, parts together, that it leaves the caches. */
bool kal_cpu_leaves_caches(const struct cpu_program *program,
                           const struct kal_pass *pass);

/** Return whether a pass writes arrays of a batch that do so as a whole. */
bool kal_cpu_arrays_leave_caches(const struct cpu_program *program,
                                 const struct kal_pass *pass);

/** Return whether that is stored past the caches: not where they hold what was there before. */
bool kal_cpu_is_streamed(const struct cpu_program *program, const struct kal_pass *pass);

/** The same of parts in arrays of their own. */
bool kal_cpu_streams_planes(const struct cpu_program *program,
                            const struct kal_pass *pass);

/**
 * Find `is_streamed`, `is_far`, `ends_inside` and `has_lead` of a pass whose kernels and
 * lanes are set.
 */
void kal_cpu_caches_find(struct cpu_program *program, const struct kal_phase *phase,
                         struct cpu_pass *pass);

/**
 * Return whether short lines of such a pass go past the caches by way of a copy where
 * their place does not allow it else.
 */
bool kal_cpu_is_staged(const struct cpu_program *program, const struct cpu_pass *pass);

/**
 * Return how many neighbouring tiles of it go there together, by way of a copy; 0: each
 * goes by itself.
 */
int kal_cpu_joined_count(const struct cpu_program *program, const struct cpu_pass *pass);

#endif
