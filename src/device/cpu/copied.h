// SPDX-License-Identifier: MIT
// Lines and small arrays whose elements lie apart, or in planes, or are an odd number of
// reals: some at a time are copied, transformed where they are packed, and copied back.
#ifndef KAL_DEVICE_CPU_COPIED_H_
#define KAL_DEVICE_CPU_COPIED_H_

#include "device/cpu/worker.h"

/**
 * Make a program of such lines, if its problem has them: then program->copied.lines is
 * what transforms some of them.
 *
 * Error: E_MEMORY       exhausted
 *        E_UNSUPPORTED  as kal_cpu_nested_create()
 */
kallima_status kal_cpu_copied_find(struct cpu_program *program);

/**
 * Return the bytes of the copies of as many lines as are transformed at once, and of what
 * that needs.
 */
uint64_t kal_cpu_copied_line_bytes(const struct cpu_program *program);

/** Do threads meet between the copies of lines and these? */
static inline bool kal_cpu_copies_meet(const struct cpu_program *program)
{
    return program->single == CPU_SINGLE_COPIED && program->copied.has_meeting;
}

/**
 * Decide whether so many threads as the program has meet, and the bytes that all of them
 * see then.
 */
void kal_cpu_copied_meeting_find(struct cpu_program *program);

/** Return the bytes of scratch that a worker needs. */
uint64_t kal_cpu_copied_bytes(const struct cpu_program *program);

/** Run groups begin .. end-1 of all lines, which begin at x and y. */
void kal_cpu_groups_run(const struct cpu_program *program, const struct cpu_vectors *x,
                        const struct cpu_vectors *y, char *scratch, int64_t begin,
                        int64_t end);

/**
 * Run all of them where workers meet: each copies its part of all lines, and transforms
 * some of these.
 */
void kal_cpu_copied_meet(const struct cpu_program *program, const struct cpu_vectors *x,
                         const struct cpu_vectors *y, struct cpu_worker *worker);

/** Run all lines, which begin at x and y. */
void kal_cpu_copied_run(const struct cpu_program *program, const struct cpu_vectors *x,
                        const struct cpu_vectors *y, char *scratch);

#endif
