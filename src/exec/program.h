// SPDX-License-Identifier: MIT
// Programs of devices that take kernels as text: passes become kernels, which are compiled
// once and enqueued for every execution.
#ifndef KAL_EXEC_PROGRAM_H_
#define KAL_EXEC_PROGRAM_H_

#include "device/device.h"
#include "pass/pass.h"

enum { KAL_MAX_LAUNCHES = 64 }; // of one execution

/**
 * Make kernels of all passes, compile them or take them from the cache, and put their
 * tables into the device's memory.
 *
 * Owner: the caller frees *out with kal_kernel_program_destroy(); `arena` and `program`
 *        outlive it.
 * Error: E_MEMORY   memory is exhausted
 *        E_COMPILE  the device's compiler refused a kernel
 *        E_DEVICE   the device failed
 */
kallima_status kal_kernel_program_create(struct kal_device_program **out,
                                         kallima_device *device, struct kal_arena *arena,
                                         const struct kal_program *program,
                                         const struct kal_problem *problem);

void kal_kernel_program_destroy(struct kal_device_program *program);

/** Enqueue one execution. Error: E_DEVICE  the device failed */
kallima_status kal_kernel_program_run(const struct kal_device_program *program,
                                      const struct kal_arguments *arguments,
                                      const struct kal_sync *sync);

/** How many launches one execution is. */
int kal_kernel_program_launches(const struct kal_device_program *program);

/**
 * Enqueue one launch of an execution alone, as its time is wanted: what it computes means
 * something only behind the launches before it. Error: E_DEVICE  the device failed
 */
kallima_status kal_kernel_program_run_launch(const struct kal_device_program *program,
                                             const struct kal_arguments *arguments,
                                             int launch);

/** A number for what a launch runs: equal kernels with as many groups, equal numbers. */
uint64_t kal_kernel_program_launch_key(const struct kal_device_program *program,
                                       int launch);

/** Groups of all launches of one execution: what the text of a kernel does not always say. */
int64_t kal_kernel_program_groups(const struct kal_device_program *program);

/** Append the text of all kernels. */
void kal_kernel_program_print(const struct kal_device_program *program,
                              struct kal_text *text);

#endif
