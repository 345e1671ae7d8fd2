// SPDX-License-Identifier: MIT
// A plan: problem, recipe, passes, and the device's program, immutable once made.
#ifndef KAL_EXEC_PLAN_H_
#define KAL_EXEC_PLAN_H_

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
    // The one thing that changes: workspaces that no execution uses at the moment.
    pthread_mutex_t lock;
    struct kal_workspace *idle;
};

/**
 * Run a plan: take a workspace if arguments->workspace is NULL and one is needed.
 *
 * Thread: several threads may run one plan at once.
 * Error:  E_MEMORY  no workspace was given and memory is exhausted
 *         E_DEVICE  the device failed
 */
kallima_status kal_plan_run(const kallima_plan *plan,
                            const struct kal_arguments *arguments);

/** Free the workspaces that the plan keeps. No execution may be under way. */
void kal_plan_drop_workspaces(kallima_plan *plan);

#endif
