// SPDX-License-Identifier: MIT
// Small arrays of several axes with nothing to look up: the steps of each axis on numbers
// as they lie in memory, from the input through two tiles to the output.
#ifndef KAL_DEVICE_CPU_ARRAY_H_
#define KAL_DEVICE_CPU_ARRAY_H_

#include "device/cpu/cpu.h"
#include "device/cpu/tile.h"

/**
 * Find how a program of such arrays, interleaved and contiguous, is worked, in
 * program->array; its axis_count is 0 if it is something else.
 *
 * Error: E_MEMORY  exhausted
 */
kallima_status kal_cpu_array_find(struct cpu_program *program);

/**
 * Have each of a batch, of so many bytes one behind the other, ask for the next one while
 * it is worked.
 */
void kal_cpu_array_ask(struct cpu_array *array, int64_t bytes);

/**
 * Find whether arrays of a batch that ask for the next one go past the caches some lines
 * of their last step at a time, by way of a copy of these: program->array.leaving_rows is
 * 0 if they do not.
 */
void kal_cpu_array_leaving_find(struct cpu_program *program);

/** Return the bytes of such a copy, which begins on a line of the caches. */
int64_t kal_cpu_array_copy_bytes(const struct cpu_program *program);

/**
 * Run one array from x to y, but for its scale; two tiles of the program's are in the
 * workspace.
 */
void kal_cpu_array_run(const struct cpu_program *program, const struct cpu_vectors *x,
                       const struct cpu_vectors *y, char *workspace);

/** Run one array so from x to y past the caches, and scale it. */
void kal_cpu_array_run_past(const struct cpu_program *program,
                            const struct cpu_vectors *x, const struct cpu_vectors *y,
                            char *workspace, char *copy);

/**
 * Run a worker's share of one array. All that have a part call it, and wait for each
 * other before each axis but the first of the execution.
 */
void kal_cpu_array_share(const struct cpu_program *program, const struct cpu_vectors *x,
                         const struct cpu_vectors *y, struct cpu_worker *worker);

#endif
