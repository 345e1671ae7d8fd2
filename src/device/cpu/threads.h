// SPDX-License-Identifier: MIT
// How many threads a program takes, and how they share its work out.
#ifndef KAL_DEVICE_CPU_THREADS_H_
#define KAL_DEVICE_CPU_THREADS_H_

#include "device/cpu/worker.h"

/** Return chunk `number` of a phase. */
struct cpu_chunk kal_cpu_chunk_make(const struct kal_phase *phase, int64_t stage_index,
                                    int64_t number);

/** Return what threads share out of a pass, or of two that are one: how many tiles, or lines. */
int64_t kal_cpu_unit_count(const struct cpu_pass *pass, const struct cpu_chunk *chunk);

/** Return whether `parts` threads work the chunks of a phase together, one after the other. */
bool kal_cpu_are_shared(const struct cpu_program *program, const struct kal_phase *phase,
                        int parts);

/**
 * Return how many bytes of memory a pass touches for each that it reads or writes, where
 * neither elements nor lines are neighbours and each takes a line of the caches; 0: they
 * are.
 */
double kal_cpu_spread_find(const struct cpu_pass *pass, int64_t real_bytes);

/** Return how many threads can have some of a program that is single, whose `lines` are known. */
int kal_cpu_single_units(const struct cpu_program *program);

/**
 * Return with how many threads, of those of its device, a program whose passes are ready
 * takes least time. How far these are from each other is measured, if they have what
 * others write.
 */
int kal_cpu_threads_find(struct cpu_program *program);

/**
 * Return how many times a program has the scratch that all threads see: once, or for each
 * of `program->threads`.
 */
int kal_cpu_scratches_find(const struct cpu_program *program);

/**
 * Find in how many pieces threads have their parts of what they share, so that who is
 * done can take some of another's.
 */
void kal_cpu_pieces_find(struct cpu_program *program);

/**
 * Give each thread of `program->threads` some of the lines of a phase that lie apart and
 * are few, though they do not fill its lanes: memory takes longer than the codelets. What
 * a lane computes does not depend on others.
 */
void kal_cpu_lines_spread(struct cpu_program *program, const struct kal_phase *phase);

#endif
