// SPDX-License-Identifier: MIT
// Chunks whose output is one piece of memory, such as the arrays of a batch: where it is
// too much for the caches, and rows begin on no lines of these, it is put together near
// the core, and goes past them as a whole.
#ifndef KAL_DEVICE_CPU_PIECE_H_
#define KAL_DEVICE_CPU_PIECE_H_

#include "device/cpu/worker.h"

/**
 * Find how many reals the output of a phase's chunk is, if it is to go that way: the
 * `piece` of its last pass; else 0.
 */
void kal_cpu_piece_find(struct cpu_program *program, const struct kal_phase *phase);

/** Return the bytes that a thread needs as struct cpu_worker's `joined`. */
int64_t kal_cpu_piece_bytes(const struct cpu_program *program,
                            const struct cpu_pass *last);

/**
 * Let what a worker writes to the output of a chunk go to its copy, and return where that
 * belongs; NULL: it need not, as registers go past the caches by themselves.
 */
char *kal_cpu_piece_begin(struct cpu_worker *worker, const struct cpu_pass *last,
                          const struct cpu_chunk *chunk);

/** Store the copy at `to`, past the caches, and let the worker write to the output again. */
void kal_cpu_piece_end(struct cpu_worker *worker, const struct cpu_pass *last, char *to);

#endif
