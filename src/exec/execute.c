// SPDX-License-Identifier: MIT
// Running a plan: on host arrays, on buffers.
#include "exec/plan.h"
#include "exec/program.h"

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

// With a workspace of the plan's own.
static kallima_status run_in_pool(const kallima_plan *plan,
                                  const struct kal_arguments *arguments)
{
    // The pool of workspaces is not part of what a plan promises to keep as it is.
    kallima_plan *pool = (kallima_plan *)plan;
    struct kal_arguments complete = *arguments;

    KAL_TRY(take_workspace(pool, &complete.workspace.object));
    const kallima_status status = plan->device->ops->program_run(plan->built, &complete);
    give_workspace(pool, complete.workspace.object);
    return status;
}

// On a device that computes in host memory.
static kallima_status run_here(const kallima_plan *plan,
                               const struct kal_arguments *arguments)
{
    if (arguments->workspace.object || plan->built->workspace_bytes == 0)
        return plan->device->ops->program_run(plan->built, arguments);
    return run_in_pool(plan, arguments);
}

kallima_status kal_plan_build(kallima_plan *plan, bool has_workspace)
{
    kallima_device *device = plan->device;

    if (kal_device_is_host(device))
        return device->ops->program_create(&plan->built, device, &plan->program,
                                           plan->problem.precision == KALLIMA_F64);
    KAL_TRY(kal_kernel_program_create(&plan->built, device, &plan->arena, &plan->program,
                                      &plan->problem));
    if (!has_workspace || plan->built->workspace_bytes == 0)
        return KALLIMA_OK;
    return kallima_buffer_create(&plan->workspace, device, plan->built->workspace_bytes);
}

void kal_plan_clear(kallima_plan *plan)
{
    while (plan->idle) {
        struct kal_workspace *next = plan->idle->next;
        kal_free(&plan->device->host, plan->idle);
        plan->idle = next;
    }
    kallima_buffer_destroy(&plan->workspace);
    if (!plan->built)
        return;
    if (kal_device_is_host(plan->device))
        plan->device->ops->program_destroy(plan->built);
    else
        kal_kernel_program_destroy(plan->built);
    plan->built = NULL;
}

static bool is_same(struct kal_memory a, struct kal_memory b)
{
    return a.object == b.object && a.offset == b.offset;
}

kallima_status kal_plan_check_placement(const kallima_plan *plan,
                                        const struct kal_arguments *arguments)
{
    const struct kal_problem *p = &plan->problem;
    const struct kal_host *host = &plan->device->host;
    const struct kal_memory *in = arguments->in, *out = arguments->out;

    for (int i = 0; p->is_in_place && i < kal_array_parts(&p->in); i++) {
        if (!is_same(in[i], out[i]))
            return kal_fail(host, KALLIMA_E_ARGUMENT,
                            "execute: in[%d] = %p and out[%d] = %p; an in-place plan "
                            "needs one array",
                            i, in[i].object, i, out[i].object);
    }
    if (!p->is_in_place && is_same(in[0], out[0]) && p->in.offset == p->out.offset)
        return kal_fail(
            host, KALLIMA_E_ARGUMENT,
            "execute: in[0] = out[0] = %p; an out-of-place plan needs two arrays",
            in[0].object);
    return KALLIMA_OK;
}

kallima_status kal_plan_check_workspace(const kallima_plan *plan, bool is_given,
                                        uint64_t bytes)
{
    const uint64_t needed = plan->built->workspace_bytes;
    if (is_given && bytes < needed)
        return kal_fail(&plan->device->host, KALLIMA_E_ARGUMENT,
                        "execute: workspace_bytes = %llu; the plan needs %llu",
                        (unsigned long long)bytes, (unsigned long long)needed);
    return KALLIMA_OK;
}

// Bytes behind each pointer of one side.
static uint64_t array_bytes(const struct kal_problem *p, const struct kal_array *array)
{
    return (uint64_t)(array->elements * kal_array_reals(array)) *
           (p->precision == KALLIMA_F64 ? 8 : 4);
}

static kallima_status check_buffers(const kallima_plan *plan,
                                    const struct kal_array *array,
                                    kallima_buffer *const buffer[2], const char *side,
                                    struct kal_memory memory[2])
{
    const struct kal_host *host = &plan->device->host;
    const uint64_t needed = array_bytes(&plan->problem, array);

    for (int i = 0; i < kal_array_parts(array); i++) {
        if (!buffer[i])
            return kal_fail(host, KALLIMA_E_ARGUMENT, "execute: %s[%d] = NULL", side, i);
        if (buffer[i]->device != plan->device)
            return kal_fail(host, KALLIMA_E_ARGUMENT,
                            "execute: %s[%d] is a buffer of another device", side, i);
        if (buffer[i]->bytes < needed)
            return kal_fail(host, KALLIMA_E_ARGUMENT,
                            "execute: %s[%d] holds %llu bytes; the plan needs %llu", side,
                            i, (unsigned long long)buffer[i]->bytes,
                            (unsigned long long)needed);
        memory[i] = buffer[i]->memory;
    }
    return KALLIMA_OK;
}

static kallima_status check_workspace_buffer(const kallima_plan *plan,
                                             const kallima_buffer *workspace,
                                             struct kal_memory *memory)
{
    if (!workspace)
        return KALLIMA_OK;
    if (workspace->device != plan->device)
        return kal_fail(&plan->device->host, KALLIMA_E_ARGUMENT,
                        "execute: workspace is a buffer of another device");
    KAL_TRY(kal_plan_check_workspace(plan, true, workspace->bytes));
    *memory = workspace->memory;
    return KALLIMA_OK;
}

// Memory for kernels, with the plan's own workspace if none is given.
static kallima_status complete_workspace(const kallima_plan *plan,
                                         struct kal_arguments *arguments)
{
    if (arguments->workspace.object || plan->built->workspace_bytes == 0)
        return KALLIMA_OK;
    if (!plan->workspace)
        return kal_fail(&plan->device->host, KALLIMA_E_ARGUMENT,
                        "execute: workspace = NULL; this plan was made without one");
    arguments->workspace = plan->workspace->memory;
    return KALLIMA_OK;
}

static kallima_status check_arrays(const kallima_plan *plan,
                                   const kallima_device_arrays *arrays,
                                   struct kal_arguments *arguments)
{
    const struct kal_problem *p = &plan->problem;

    *arguments = (struct kal_arguments){ 0 };
    KAL_TRY(check_buffers(plan, &p->in, arrays->in, "in", arguments->in));
    KAL_TRY(check_buffers(plan, &p->out, arrays->out, "out", arguments->out));
    KAL_TRY(check_workspace_buffer(plan, arrays->workspace, &arguments->workspace));
    KAL_TRY(kal_plan_check_placement(plan, arguments));
    return kal_device_is_host(plan->device) ? KALLIMA_OK
                                            : complete_workspace(plan, arguments);
}

kallima_status kal_plan_execute(const kallima_plan *plan,
                                const kallima_device_arrays *arrays,
                                const struct kal_sync *sync)
{
    struct kal_arguments arguments;

    KAL_TRY(check_arrays(plan, arrays, &arguments));
    return kal_device_is_host(plan->device)
               ? run_here(plan, &arguments)
               : kal_kernel_program_run(plan->built, &arguments, sync);
}

kallima_status kal_plan_execute_launch(const kallima_plan *plan,
                                       const kallima_device_arrays *arrays, int launch)
{
    struct kal_arguments arguments;

    KAL_TRY(check_arrays(plan, arrays, &arguments));
    return kal_kernel_program_run_launch(plan->built, &arguments, launch);
}

// Buffers for host arrays, while one execution lasts.
struct staging {
    kallima_buffer *in[2], *out[2], *workspace;
};

static void unstage(struct staging *s, bool is_in_place)
{
    for (int i = 0; i < 2; i++) {
        kallima_buffer_destroy(&s->in[i]);
        if (!is_in_place)
            kallima_buffer_destroy(&s->out[i]);
    }
    kallima_buffer_destroy(&s->workspace);
}

// In place both sides lie in the same memory, and one may reach further.
static uint64_t storage_bytes(const struct kal_problem *p, const struct kal_array *array)
{
    const uint64_t in = array_bytes(p, &p->in), out = array_bytes(p, &p->out);
    const uint64_t most = in > out ? in : out;
    return p->is_in_place ? most : array_bytes(p, array);
}

static kallima_status stage_array(const kallima_plan *plan, const struct kal_array *array,
                                  const struct kal_memory memory[2],
                                  kallima_buffer *buffer[2])
{
    const uint64_t bytes = storage_bytes(&plan->problem, array);
    for (int i = 0; i < kal_array_parts(array); i++) {
        KAL_TRY(kallima_buffer_create(&buffer[i], plan->device, bytes));
        KAL_TRY(kallima_buffer_write(buffer[i], 0, memory[i].object, bytes));
    }
    return KALLIMA_OK;
}

// What lies between the elements of the output must come back as it was, so it travels too.
static kallima_status run_staged(const kallima_plan *plan,
                                 const struct kal_arguments *arguments, struct staging *s)
{
    const struct kal_problem *p = &plan->problem;
    const uint64_t bytes = storage_bytes(p, &p->out);
    const uint64_t workspace = plan->workspace ? 0 : plan->built->workspace_bytes;

    KAL_TRY(stage_array(plan, &p->in, arguments->in, s->in));
    for (int i = 0; i < 2 && p->is_in_place; i++)
        s->out[i] = s->in[i];
    if (!p->is_in_place)
        KAL_TRY(stage_array(plan, &p->out, arguments->out, s->out));
    if (workspace)
        KAL_TRY(kallima_buffer_create(&s->workspace, plan->device, workspace));

    const kallima_device_arrays arrays = { { s->in[0], s->in[1] },
                                           { s->out[0], s->out[1] },
                                           s->workspace };
    KAL_TRY(kal_plan_execute(plan, &arrays, NULL));
    for (int i = 0; i < kal_array_parts(&p->out); i++)
        KAL_TRY(kallima_buffer_read(s->out[i], 0, arguments->out[i].object, bytes));
    return kallima_device_finish(plan->device);
}

kallima_status kal_plan_run_host(const kallima_plan *plan,
                                 const struct kal_arguments *arguments)
{
    if (kal_device_is_host(plan->device))
        return run_here(plan, arguments);
    struct staging s = { 0 };
    const kallima_status status = run_staged(plan, arguments, &s);
    unstage(&s, plan->problem.is_in_place);
    return status;
}
