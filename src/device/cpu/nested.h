// SPDX-License-Identifier: MIT
// A program within another one: of one contiguous line, by the recipe that the other one follows.
#ifndef KAL_DEVICE_CPU_NESTED_H_
#define KAL_DEVICE_CPU_NESTED_H_

#include "device/cpu/cpu.h"

/**
 * Make the program of `desc`, which is of one line, by a recipe, of which nothing counts that was tuned for the lines
 * that it came with.
 *
 * Owner: what the program refers to lives in the arena; the caller frees it with kal_cpu_program_destroy().
 * Error: E_MEMORY       exhausted
 *        E_UNSUPPORTED  the recipe nests deeper than passes can express
 */
kallima_status kal_cpu_nested_create(struct kal_device_program **out,
                                     kallima_device *device, struct kal_arena *arena,
                                     const struct kal_recipe *recipe,
                                     const kallima_desc *desc);

#endif
