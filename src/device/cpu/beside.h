// SPDX-License-Identifier: MIT
// Lines beside each other: of interleaved numbers that are neighbours on both sides, a
// codelet each. Registers hold them as they lie in memory, real and imaginary parts in
// turn, so that nothing is taken apart on the way to the codelet or put together behind
// it, and it has half as many values as in tiles of parts.
#ifndef KAL_DEVICE_CPU_BESIDE_H_
#define KAL_DEVICE_CPU_BESIDE_H_

#include "device/cpu/cpu.h"
#include "device/cpu/tile.h"

/** Find in *out how lines of a pass are worked so by its kernels; it is all 0 if they are not. */
void kal_cpu_beside_find(struct cpu_beside_lines *out, const struct cpu_pass *pass,
                         bool is_f64);

/** Run lines from those at x and y on, as many as fill tiles of the pass's lanes. */
void kal_cpu_beside_run(const struct cpu_worker *worker, const struct cpu_pass *pass,
                        const struct cpu_vectors *x, const struct cpu_vectors *y,
                        int64_t lines);

/** Run fewer lines than that, wherever they are, as they would be worked among others. */
void kal_cpu_beside_run_few(const struct cpu_worker *worker, const struct cpu_pass *pass,
                            const struct cpu_memory *x, const struct cpu_memory *y);

/** Move n reals or numbers of 4, 8 or 16 bytes, each so many bytes behind the one before. */
void kal_cpu_move(char *to, int64_t to_step, const char *from, int64_t from_step,
                  int64_t n, int64_t bytes);

#endif
