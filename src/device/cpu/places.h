// SPDX-License-Identifier: MIT
// Where lines are: the rows that they come in, their offsets, and the memory that these count from.
#ifndef KAL_DEVICE_CPU_PLACES_H_
#define KAL_DEVICE_CPU_PLACES_H_

#include "device/cpu/tile.h"

/** Reals to the next line, at most, where that is the next number. */
enum { CPU_NEIGHBOUR = 2 };

/** Where a line is: its offset on both sides, its index on a fast loop and the twiddle's. */
struct cpu_place {
    int64_t in, out, fast, twiddle;
};

/** Return where line `number` of a chunk is, inner lines counted. */
struct cpu_place kal_cpu_place_find(const struct cpu_pass *pass,
                                    const struct cpu_chunk *chunk, int64_t number,
                                    int fast_loop);

/** Return how far it is from a line to the next one on a loop; -1: to itself. */
struct cpu_place kal_cpu_step_find(const struct cpu_pass *pass, int loop);

/** One side's memory: real and imaginary part of element 0, exchanged if the side is. */
void kal_cpu_memory_find(struct cpu_memory *memory, const struct cpu_worker *worker,
                         const struct kal_side *side);

/** Return the rows of a chunk of `lines` lines. */
struct cpu_rows kal_cpu_rows_find(const struct cpu_pass *pass, int64_t lines,
                                  bool lanes_are_lines);

/**
 * Return how many lines of each row come before the first one that begins on a line of
 * the caches, if tiles of a pass may begin there and rows have several; else 0. Output
 * begins at `to`.
 */
int64_t kal_cpu_lead_find(const struct cpu_pass *pass, const struct cpu_rows *rows,
                          const char *to, int64_t real_bytes);

/** Return how many tiles, or blocks of long pointwise lines, a chunk has. */
int64_t kal_cpu_tile_count(const struct cpu_pass *pass, const struct cpu_chunk *chunk);

#endif
