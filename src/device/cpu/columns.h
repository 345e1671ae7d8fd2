// SPDX-License-Identifier: MIT
// Lines that are neighbours, element by element, to copies of each and back: several at
// once, so that each line of the caches is read and written once, and by all threads,
// where these are more than groups of lines.
#ifndef KAL_DEVICE_CPU_COLUMNS_H_
#define KAL_DEVICE_CPU_COLUMNS_H_

#include "device/cpu/cpu.h"

/** Find what copies such lines of a side, if they are faster several at once. */
void kal_cpu_columns_find(const struct cpu_program *program, struct cpu_copied_side *side,
                          bool is_input);

/**
 * Decide how many lines are copied together, whether they are there and back in one
 * place, and how threads share them.
 */
void kal_cpu_columns_share_out(struct cpu_program *program);

/** May they go past the caches where they are written? Whole lines of these have to. */
bool kal_cpu_columns_are_streamed(const struct cpu_program *program);

/** Return how many groups of elements a line has that are copied together. */
int64_t kal_cpu_columns_count(const struct cpu_copied_side *side);

/** Copy groups begin .. end-1 of the elements of `lines` lines, the first one at v. */
void kal_cpu_columns_run(const struct cpu_program *program,
                         const struct cpu_copied_side *side, const struct cpu_vectors *v,
                         char *copies, int64_t lines, int64_t begin, int64_t end);

/** Copy all of them, by as many threads as work each line. */
void kal_cpu_columns_copy(const struct cpu_program *program,
                          const struct cpu_copied_side *side, const struct cpu_vectors *v,
                          char *copies, int64_t lines);

#endif
