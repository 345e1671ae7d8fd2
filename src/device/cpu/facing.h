// SPDX-License-Identifier: MIT
// Long real lines: the mirrored step is done where the numbers that it pairs are near the
// core, on the rows of a four-step before they are stored, or, of the reverse, on its
// columns as they are read. Of `count` lines of n numbers element e of line k meets
// element n-1-e of line count - k, so that a tile has lines of both ends: the lower half
// of its lanes lines 1, 2, ..., the upper half those that they meet. Line 0, which meets
// itself, goes by itself.
#ifndef KAL_DEVICE_CPU_FACING_H_
#define KAL_DEVICE_CPU_FACING_H_

#include "device/cpu/worker.h"

struct cpu_facing {
    struct cpu_pass *lines;
    const struct cpu_pass *mirror; // rows, or columns, and the mirrored step's pass
    bool is_split;                 // rows, and the step behind them
    int64_t count, n;              // lines, and elements of each
    int64_t tiles;
    int at_once; // tiles whose output goes to memory together
    bool is_streamed;
    double scale;
    const char *lane_roots;    // of a tile's lines, as one element of it, for each tile
    const void *element_roots; // of elements e: exp(-2 pi i count e / 2m)
    // Of columns: of elements e and the lanes of tile 0, and of e and each tile.
    const char *twiddle_lanes, *twiddle_tiles;
    cpu_dft *step[KAL_MAX_PASS_STEPS]; // of line 0
};

/**
 * Make passes of neighbouring phases one, that of the lines, if one is the mirrored step
 * of the lines of the other. Tables are not built yet.
 *
 * Error: E_MEMORY  exhausted
 */
kallima_status kal_cpu_facing_find(struct cpu_program *program, struct cpu_pass *first,
                                   struct cpu_pass *second);

/** Return the bytes that a thread needs as struct cpu_worker's `joined`. */
uint64_t kal_cpu_facing_bytes(const struct cpu_facing *facing);

/**
 * Run tiles begin .. end-1 of a stage's line, with line 0 if the first is among them. The
 * line before those of tile `begin` is not stored, if that is none of these.
 */
void kal_cpu_facing_run(struct cpu_worker *worker, const struct cpu_facing *facing,
                        const struct cpu_chunk *chunk, int64_t begin, int64_t end);

/**
 * Store it, when the worker before has run its tiles. So nobody writes to a line of the
 * caches that others write to.
 */
void kal_cpu_facing_join(const struct cpu_worker *worker, const struct cpu_facing *facing,
                         const struct cpu_chunk *chunk, int64_t begin, int64_t end);

#endif
