// SPDX-License-Identifier: MIT
// A plan: problem, recipe, passes, and the device's program, immutable once made.
#ifndef KAL_EXEC_PLAN_H_
#define KAL_EXEC_PLAN_H_

#include <kallima/tune.h>
#include <pthread.h>

#include "device/device.h"
#include "pass/pass.h"

/** A workspace of the plan's own, while no execution uses it. */
struct kal_workspace {
    struct kal_workspace *next;
};

struct kallima_plan {
    kallima_device *device;
    struct kal_problem problem;
    struct kal_arena arena; // recipe and program
    struct kal_recipe *recipe;
    struct kal_program program;
    struct kal_device_program *built;
    kallima_plan_origin origin;
    int32_t effort; // this and the next: of the wisdom that it follows
    double time_ns, spread;
    // Host devices: the one thing that changes, workspaces that no execution uses.
    pthread_mutex_t lock;
    struct kal_workspace *idle;
    // Other devices: one for all executions, which follow each other in the queue.
    kallima_buffer *workspace;
};

/**
 * Make the plan's program ready on its device, with a workspace of its own if the device
 * has a queue and `has_workspace`.
 *
 * Owner: kal_plan_clear() frees it, on failure too.
 * Error: E_MEMORY   memory is exhausted
 *        E_COMPILE  the device's compiler refused a kernel
 *        E_DEVICE   the device failed
 */
kallima_status kal_plan_build(kallima_plan *plan, bool has_workspace);

/** Free what kal_plan_build() made. No execution may be under way. */
void kal_plan_clear(kallima_plan *plan);

/** Check that in place is in place and out of place is not. */
kallima_status kal_plan_check_placement(const kallima_plan *plan,
                                        const struct kal_arguments *arguments);

/** Check that a workspace, if one is given, is large enough. */
kallima_status kal_plan_check_workspace(const kallima_plan *plan, bool is_given,
                                        uint64_t bytes);

/**
 * Run a plan on host arrays and return when the result is there.
 *
 * Thread: several threads may run one plan at once.
 * Error:  E_MEMORY  memory is exhausted
 *         E_DEVICE  the device failed
 */
kallima_status kal_plan_run_host(const kallima_plan *plan,
                                 const struct kal_arguments *arguments);

/**
 * Check device arrays, then enqueue one execution. `sync` may be NULL.
 *
 * Thread: several threads may run one plan at once.
 * Error:  as kallima_plan_execute()
 */
kallima_status kal_plan_execute(const kallima_plan *plan,
                                const kallima_device_arrays *arrays,
                                const struct kal_sync *sync);

/**
 * The same with one launch of it alone, on a device that takes kernels: for its time.
 *
 * Thread, Error: as kal_plan_execute()
 */
kallima_status kal_plan_execute_launch(const kallima_plan *plan,
                                       const kallima_device_arrays *arrays, int launch);

#endif
