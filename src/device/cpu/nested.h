// SPDX-License-Identifier: MIT
// A program within another one, by the recipe that the other one follows: of contiguous
// lines that it copies, or of a part of its axes.
#ifndef KAL_DEVICE_CPU_NESTED_H_
#define KAL_DEVICE_CPU_NESTED_H_

#include "device/cpu/cpu.h"

/**
 * Make the program of `desc` by a recipe, of which nothing counts that was tuned for the lines
 * that it came with. It is a part of `parent`, as of kal_cpu_program_make().
 *
 * Owner: what the program refers to lives in the arena and in `parent`; the caller frees it with
 *        kal_cpu_program_destroy(), before these.
 * Error: E_MEMORY       exhausted
 *        E_UNSUPPORTED  the recipe nests deeper than passes can express
 */
kallima_status kal_cpu_nested_create(struct kal_device_program **out,
                                     struct cpu_program *parent, struct kal_arena *arena,
                                     const struct kal_recipe *recipe,
                                     const kallima_desc *desc, int most_threads);

/**
 * The same of one line of an axis of the parent's problem, times a scale, without gaps on
 * both sides: *out has a function `run_pair`, and needs no workspace; NULL: it would.
 */
kallima_status kal_cpu_nested_line(struct kal_device_program **out,
                                   struct cpu_program *parent, int axis,
                                   kallima_placement placement, double scale);

/** Run one, of interleaved numbers or reals; its workspace, if it needs any, is there. */
static inline void kal_cpu_nested_run(const struct kal_device_program *nested,
                                      const char *from, char *to, char *workspace)
{
    if (nested->run_pair) {
        nested->run_pair(nested, from, to);
        return;
    }
    const struct kal_arguments arguments = { .in[0].object = (char *)from,
                                             .out[0].object = to,
                                             .workspace.object = workspace };
    kal_cpu_program_run(nested, &arguments); // which cannot fail
}

/**
 * Return where the lines of a user's array begin, of which those of the last axis follow
 * on each other as a batch does.
 */
struct cpu_user_side kal_cpu_user_side_find(const struct kal_array *array, int rank,
                                            bool is_f64);

#endif
