// SPDX-License-Identifier: MIT
// A program within another one: of one contiguous line, by the recipe that the other one follows.
#ifndef KAL_DEVICE_CPU_NESTED_H_
#define KAL_DEVICE_CPU_NESTED_H_

#include "device/cpu/cpu.h"

/**
 * Make the program of `desc`, which is of one line, by a recipe, of which nothing counts that was tuned for the lines
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
                                     const kallima_desc *desc);

#endif
