// SPDX-License-Identifier: MIT
// Programs of one line or array with nothing to look up when they run: what kind each is,
// and how its steps are called.
#ifndef KAL_DEVICE_CPU_SINGLE_H_
#define KAL_DEVICE_CPU_SINGLE_H_

#include "device/cpu/worker.h"

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

/** Set `run_pair` and `run_planes` of a program's base. */
void kal_cpu_runners_find(struct cpu_program *program);

/** Run all of it by one thread. */
void kal_cpu_single_run(const struct cpu_program *program,
                        const struct kal_arguments *arguments, char *workspace);

/** Run a worker's part of it. All workers call it. */
void kal_cpu_single_part_run(const struct cpu_program *program,
                             const struct kal_arguments *arguments,
                             struct cpu_worker *worker);

/** A thread's copy of what goes past the caches, at the end of all that is its `own`. */
static inline char *kal_cpu_joined_of(const struct cpu_program *program, char *own)
{
    return own + program->thread_bytes - program->joined_bytes;
}

#endif
