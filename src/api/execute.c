// SPDX-License-Identifier: MIT
// Checks of what one execution is given, then inward.
#include <kallima/kallima.h>

#include "exec/plan.h"

static uint64_t real_bytes(const struct kal_problem *p)
{
    return p->precision == KALLIMA_F64 ? 8 : 4;
}

// Bytes behind each pointer of one side.
static uint64_t array_bytes(const struct kal_problem *p, const struct kal_array *array)
{
    return (uint64_t)(array->elements * kal_array_reals(array)) * real_bytes(p);
}

static int array_parts(const struct kal_array *array)
{
    return array->is_planar ? 2 : 1;
}

static kallima_status check_pointers(const kallima_plan *plan,
                                     const struct kal_array *array,
                                     void *const pointer[2], const char *side)
{
    const struct kal_host *host = &plan->device->host;
    const uint64_t unit = real_bytes(&plan->problem);

    for (int i = 0; i < array_parts(array); i++) {
        if (!pointer[i])
            return kal_fail(host, KALLIMA_E_ARGUMENT, "execute: %s[%d] = NULL", side, i);
        if ((uintptr_t)pointer[i] % unit != 0)
            return kal_fail(host, KALLIMA_E_ARGUMENT,
                            "execute: %s[%d] = %p; must be aligned to %llu bytes", side,
                            i, pointer[i], (unsigned long long)unit);
    }
    return KALLIMA_OK;
}

static kallima_status check_placement(const kallima_plan *plan, void *const in[2],
                                      void *const out[2])
{
    const struct kal_problem *p = &plan->problem;
    const struct kal_host *host = &plan->device->host;
    const int parts = array_parts(&p->in);

    for (int i = 0; p->is_in_place && i < parts; i++) {
        if (in[i] != out[i])
            return kal_fail(
                host, KALLIMA_E_ARGUMENT,
                "execute: in[%d] = %p and out[%d] = %p; an in-place plan needs "
                "one array",
                i, in[i], i, out[i]);
    }
    if (!p->is_in_place && in[0] == out[0] && p->in.offset == p->out.offset)
        return kal_fail(
            host, KALLIMA_E_ARGUMENT,
            "execute: in[0] = out[0] = %p; an out-of-place plan needs two arrays", in[0]);
    return KALLIMA_OK;
}

static kallima_status check_and_run(const kallima_plan *plan,
                                    const struct kal_arguments *arguments)
{
    KAL_TRY(check_pointers(plan, &plan->problem.in, arguments->in, "in"));
    KAL_TRY(check_pointers(plan, &plan->problem.out, arguments->out, "out"));
    KAL_TRY(check_placement(plan, arguments->in, arguments->out));
    return kal_plan_run(plan, arguments);
}

static kallima_status check_workspace(const kallima_plan *plan, const void *workspace,
                                      uint64_t bytes)
{
    const uint64_t needed = plan->built->workspace_bytes;
    if (workspace && bytes < needed)
        return kal_fail(&plan->device->host, KALLIMA_E_ARGUMENT,
                        "execute: workspace_bytes = %llu; the plan needs %llu",
                        (unsigned long long)bytes, (unsigned long long)needed);
    return KALLIMA_OK;
}

kallima_status kallima_plan_execute_host(const kallima_plan *plan,
                                         const kallima_host_arrays *arrays)
{
    KAL_REQUIRE(NULL, plan);
    KAL_REQUIRE(&plan->device->host, arrays);
    KAL_TRY(check_workspace(plan, arrays->workspace, arrays->workspace_bytes));

    // Inputs are written only in place or where the plan may destroy them.
    const struct kal_arguments arguments = {
        .in = { (void *)arrays->in[0], (void *)arrays->in[1] },
        .out = { arrays->out[0], arrays->out[1] },
        .workspace = arrays->workspace,
    };
    return check_and_run(plan, &arguments);
}

kallima_status kallima_plan_run(const kallima_plan *plan, const void *in, void *out)
{
    KAL_REQUIRE(NULL, plan);
    if (plan->problem.in.is_planar || plan->problem.out.is_planar)
        return kal_fail(&plan->device->host, KALLIMA_E_ARGUMENT,
                        "execute: a planar side needs two pointers; use "
                        "kallima_plan_execute_host()");
    const struct kal_arguments arguments = { .in = { (void *)in }, .out = { out } };
    return check_and_run(plan, &arguments);
}

static kallima_status check_buffers(const kallima_plan *plan,
                                    const struct kal_array *array,
                                    kallima_buffer *const buffer[2], const char *side,
                                    void *address[2])
{
    const struct kal_host *host = &plan->device->host;
    const uint64_t needed = array_bytes(&plan->problem, array);

    for (int i = 0; i < array_parts(array); i++) {
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
        address[i] = buffer[i]->address;
    }
    return KALLIMA_OK;
}

kallima_status kallima_plan_execute(const kallima_plan *plan,
                                    const kallima_device_arrays *arrays)
{
    struct kal_arguments arguments = { 0 };

    KAL_REQUIRE(NULL, plan);
    KAL_REQUIRE(&plan->device->host, arrays);
    KAL_TRY(check_buffers(plan, &plan->problem.in, arrays->in, "in", arguments.in));
    KAL_TRY(check_buffers(plan, &plan->problem.out, arrays->out, "out", arguments.out));
    if (arrays->workspace) {
        if (arrays->workspace->device != plan->device)
            return kal_fail(&plan->device->host, KALLIMA_E_ARGUMENT,
                            "execute: workspace is a buffer of another device");
        KAL_TRY(
            check_workspace(plan, arrays->workspace->address, arrays->workspace->bytes));
        arguments.workspace = arrays->workspace->address;
    }
    return check_and_run(plan, &arguments);
}
