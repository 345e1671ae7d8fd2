// SPDX-License-Identifier: MIT
// Checks of what one execution is given, then inward.
#include <kallima/kallima.h>

#include "exec/plan.h"

static uint64_t real_bytes(const struct kal_problem *p)
{
    return p->precision == KALLIMA_F64 ? 8 : 4;
}

static kallima_status check_pointers(const kallima_plan *plan,
                                     const struct kal_array *array,
                                     const struct kal_memory pointer[2], const char *side)
{
    const struct kal_host *host = &plan->device->host;
    const uint64_t unit = real_bytes(&plan->problem);

    for (int i = 0; i < kal_array_parts(array); i++) {
        const void *at = pointer[i].object;
        if (!at)
            return kal_fail(host, KALLIMA_E_ARGUMENT, "execute: %s[%d] = NULL", side, i);
        if ((uintptr_t)at & (unit - 1))
            return kal_fail(host, KALLIMA_E_ARGUMENT,
                            "execute: %s[%d] = %p; must be aligned to %llu bytes", side,
                            i, at, (unsigned long long)unit);
    }
    return KALLIMA_OK;
}

static kallima_status check_and_run(const kallima_plan *plan,
                                    const struct kal_arguments *arguments)
{
    KAL_TRY(check_pointers(plan, &plan->problem.in, arguments->in, "in"));
    KAL_TRY(check_pointers(plan, &plan->problem.out, arguments->out, "out"));
    KAL_TRY(kal_plan_check_placement(plan, arguments));
    return kal_plan_run_host(plan, arguments);
}

// What check_and_run() asks of the first and the last array of each side, without its words.
static inline bool are_fine(const kallima_plan *plan, const void *in, const void *in_last,
                            const void *out, const void *out_last)
{
    const struct kal_problem *p = &plan->problem;
    const uintptr_t places =
        (uintptr_t)in | (uintptr_t)in_last | (uintptr_t)out | (uintptr_t)out_last;
    const bool is_same = in == out && p->in.offset == p->out.offset;
    return in && in_last && out && out_last && (places & (real_bytes(p) - 1)) == 0 &&
           (p->is_in_place ? in == out && in_last == out_last : !is_same);
}

kallima_status kallima_plan_execute_host(const kallima_plan *plan,
                                         const kallima_host_arrays *arrays)
{
    KAL_REQUIRE(NULL, plan);
    KAL_REQUIRE(&plan->device->host, arrays);
    if (plan->built->run_planes && !arrays->workspace &&
        are_fine(plan, arrays->in[0], arrays->in[plan->problem.in.is_planar],
                 arrays->out[0], arrays->out[plan->problem.out.is_planar])) {
        plan->built->run_planes(plan->built, arrays->in, arrays->out);
        return KALLIMA_OK;
    }
    KAL_TRY(kal_plan_check_workspace(plan, arrays->workspace != NULL,
                                     arrays->workspace_bytes));

    // Inputs are written only in place or where the plan may destroy them.
    const struct kal_arguments arguments = {
        .in = { { (void *)arrays->in[0], 0 }, { (void *)arrays->in[1], 0 } },
        .out = { { arrays->out[0], 0 }, { arrays->out[1], 0 } },
        .workspace = { arrays->workspace, 0 },
    };
    return check_and_run(plan, &arguments);
}

kallima_status kallima_plan_run(const kallima_plan *plan, const void *in, void *out)
{
    KAL_REQUIRE(NULL, plan);
    if (plan->built->run_pair && are_fine(plan, in, in, out, out)) {
        plan->built->run_pair(plan->built, in, out);
        return KALLIMA_OK;
    }
    if (plan->problem.in.is_planar || plan->problem.out.is_planar)
        return kal_fail(&plan->device->host, KALLIMA_E_ARGUMENT,
                        "execute: a planar side needs two pointers; use "
                        "kallima_plan_execute_host()");
    const struct kal_arguments arguments = { .in = { { (void *)in, 0 } },
                                             .out = { { out, 0 } } };
    return check_and_run(plan, &arguments);
}

kallima_status kallima_plan_execute(const kallima_plan *plan,
                                    const kallima_device_arrays *arrays)
{
    KAL_REQUIRE(NULL, plan);
    KAL_REQUIRE(&plan->device->host, arrays);
    return kal_plan_execute(plan, arrays, NULL);
}
