// SPDX-License-Identifier: MIT
#include "exec/plan.h"

// Workspaces are kept for the next execution: as many as ever ran at once.
static kallima_status take_workspace(kallima_plan *plan, void **workspace)
{
    pthread_mutex_lock(&plan->lock);
    struct kal_workspace *idle = plan->idle;
    if (idle)
        plan->idle = idle->next;
    pthread_mutex_unlock(&plan->lock);

    *workspace = idle;
    return idle ? KALLIMA_OK
                : kal_alloc(&plan->device->host, workspace, plan->built->workspace_bytes,
                            1);
}

static void give_workspace(kallima_plan *plan, void *workspace)
{
    struct kal_workspace *idle = workspace;
    pthread_mutex_lock(&plan->lock);
    idle->next = plan->idle;
    plan->idle = idle;
    pthread_mutex_unlock(&plan->lock);
}

kallima_status kal_plan_run(const kallima_plan *plan,
                            const struct kal_arguments *arguments)
{
    const struct kal_device_ops *ops = plan->device->ops;
    // The pool of workspaces is not part of what a plan promises to keep as it is.
    kallima_plan *pool = (kallima_plan *)plan;
    struct kal_arguments complete = *arguments;

    if (arguments->workspace || plan->built->workspace_bytes == 0)
        return ops->program_run(plan->built, arguments);
    KAL_TRY(take_workspace(pool, &complete.workspace));
    const kallima_status status = ops->program_run(plan->built, &complete);
    give_workspace(pool, complete.workspace);
    return status;
}

void kal_plan_drop_workspaces(kallima_plan *plan)
{
    while (plan->idle) {
        struct kal_workspace *next = plan->idle->next;
        kal_free(&plan->device->host, plan->idle);
        plan->idle = next;
    }
}
