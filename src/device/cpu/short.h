// SPDX-License-Identifier: MIT
// Which passes are short lines that are turned in registers, and what lines cost.
#ifndef KAL_DEVICE_CPU_SHORT_H_
#define KAL_DEVICE_CPU_SHORT_H_

#include "device/cpu/cpu.h"

/** Find how lines of a pass are turned in registers by these kernels; `out` is all 0 if not. */
void kal_cpu_short_find(struct cpu_short_lines *out, const struct kal_pass *pass,
                        const struct cpu_kernels *kernels);

/** The same where lines are few or left over: a long line of reals may be worked by itself, too. */
void kal_cpu_short_find_any(struct cpu_short_lines *out, const struct kal_pass *pass,
                            const struct cpu_kernels *kernels);

/** Are they longer than the real codelets of lines anywhere? */
static inline bool kal_cpu_is_long_real(const struct cpu_short_lines *lines)
{
    return lines->is_real && lines->n > CPU_MAX_REAL;
}

/**
 * Return whether a pass is a real transform of even length of one contiguous line, by codelets of
 * half its length and a mirrored step behind them, or before them.
 */
bool kal_cpu_is_mirrored_line(const struct kal_pass *pass, bool *is_forward);

/**
 * Return whether the lines of a pass are best worked, by these kernels, as numbers of
 * several lines in each register. Of the pass only the source, its bytes and its widest
 * kernels are read.
 */
bool kal_cpu_prefers_several(const struct cpu_program *program,
                             const struct cpu_pass *pass,
                             const struct cpu_kernels *kernels);

/**
 * Return whether lines of numbers are best turned in registers of 64 bytes, where there
 * are such kernels.
 */
bool kal_cpu_turns(const struct cpu_program *program, const struct kal_pass *pass);

/** Return the lines of a pass as those that are worked so. */
struct cpu_short_lines kal_cpu_several_lines(const struct cpu_pass *pass);

/**
 * Return what `lines` lines of a pass cost with these kernels, relative to others. Of the pass
 * only the source, its bytes, its widest kernels and its fast loop are read.
 */
double kal_cpu_lines_cost(const struct cpu_program *program, const struct cpu_pass *pass,
                          const struct cpu_kernels *kernels, int64_t lines);

/**
 * Return the points of the one codelet that does all of a pass: of its only step, or the
 * longest one, whose lines other kernels take in two steps; 0: there is none.
 */
int64_t kal_cpu_codelet_find(const struct kal_pass *pass);

/**
 * Return what works several lines of a pass, a number of each in a register; NULL:
 * nothing does.
 */
cpu_short *kal_cpu_several_find(const struct kal_pass *pass,
                                const struct cpu_kernels *kernels);

/**
 * Find in *batch how so many lines of a pass, steps of reals apart, are worked without
 * looking anything up; false: they are not lines of one codelet, contiguous.
 */
bool kal_cpu_rows_are_found(struct cpu_batch *batch, const struct cpu_program *program,
                            const struct kal_pass *pass, int64_t lines, int64_t in_step,
                            int64_t out_step);

/**
 * Find how a program of several short lines in one pass is worked without looking anything up, in
 * program->batch; false: it is something else.
 */
bool kal_cpu_batch_find(struct cpu_program *program);

/**
 * Return the length of a pass that is a real transform of contiguous lines, in one
 * codelet but for the mirrored step; 0: it is none.
 */
int64_t kal_cpu_real_length(const struct kal_pass *p, bool *is_forward);

/**
 * Return shares `first` to `last` - 1 of `parts` of a part of a batch, registers full of
 * lines: there may be none.
 */
struct cpu_part kal_cpu_part_share(const struct cpu_batch *batch, int number,
                                   int64_t real_bytes, int64_t first, int64_t last,
                                   int64_t parts);

#endif
