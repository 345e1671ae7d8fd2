// SPDX-License-Identifier: MIT
// Lines of packed reals that fill the lanes by themselves: the mirrored step is done on
// what the last step has in registers, before that is stored, where a line is one
// worker's. The results are those of both steps one after the other, to the bit. 26 lines
// and batches of 4096 to 131072 reals take 0.89 of the time so on a Xeon, measured in
// November 2026. On AMD's processors it was not measured, and is not done.
#ifndef KAL_DEVICE_CPU_PACKED_H_
#define KAL_DEVICE_CPU_PACKED_H_

#include "device/cpu/line.h"

struct cpu_packed {
    const struct cpu_pass *mirror;
    cpu_line_split *split;
    bool are_folded; // its tiles
    struct cpu_line_mirror with;
};

/**
 * Let a line's passes and the one behind them, `mirror`, be worked as one, if they can
 * be: line->packed.
 *
 * Error: E_MEMORY  exhausted
 */
kallima_status kal_cpu_packed_find(struct cpu_program *program, struct cpu_line *line,
                                   const struct cpu_pass *mirror);

/** Run all lines of a chunk, the mirrored step with them. */
void kal_cpu_packed_run(const struct cpu_worker *worker, const struct cpu_line *line,
                        const struct cpu_chunk *chunk);

#endif
