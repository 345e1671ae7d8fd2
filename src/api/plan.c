// SPDX-License-Identifier: MIT
#include <kallima/kallima.h>

#include "exec/plan.h"
#include "exec/program.h"
#include "factor/rule.h"
#include "math/number.h"

#include <math.h>

int64_t kallima_fast_length(int64_t n)
{
    return kal_smooth_length(n, 7);
}

static kallima_status choose_recipe(kallima_plan *plan,
                                    const kallima_plan_options *options)
{
    const struct kal_caps caps =
        kal_caps_limit(&plan->device->caps, plan->problem.precision == KALLIMA_F64);
    const struct kal_planner planner = { &plan->arena, &caps };
    if (options && options->recipe)
        return kal_recipe_parse(&plan->recipe, &plan->arena, &plan->problem,
                                options->recipe);
    return kal_plan_problem(&plan->recipe, &planner, &plan->problem);
}

static kallima_status build(kallima_plan *plan, const kallima_plan_options *options)
{
    KAL_TRY(choose_recipe(plan, options));
    KAL_TRY(kal_program_lower(&plan->program, &plan->arena, &plan->problem, plan->recipe,
                              &plan->device->caps));
    return kal_plan_build(plan, !(options && options->without_workspace));
}

kallima_status kallima_plan_create(kallima_plan **out, kallima_device *device,
                                   const kallima_desc *desc,
                                   const kallima_plan_options *options)
{
    struct kal_problem problem;
    void *object;

    KAL_REQUIRE(device ? &device->host : NULL, out);
    *out = NULL;
    KAL_REQUIRE(NULL, device);
    KAL_REQUIRE(&device->host, desc);
    KAL_TRY(kal_problem_init(&problem, &device->host, desc));
    if (problem.precision == KALLIMA_F64 && !device->caps.has_f64)
        return kal_fail(&device->host, KALLIMA_E_UNSUPPORTED,
                        "plan: precision = f64; this device computes in f32 only");

    KAL_TRY(kal_alloc_object(&device->host, &object, sizeof(kallima_plan)));
    kallima_plan *plan = object;
    kal_device_retain(device);
    plan->device = device;
    plan->problem = problem;
    kal_arena_init(&plan->arena, &device->host);
    pthread_mutex_init(&plan->lock, NULL);

    const kallima_status status = build(plan, options);
    if (status)
        kallima_plan_destroy(&plan);
    *out = plan;
    return status;
}

void kallima_plan_destroy(kallima_plan **out)
{
    kallima_plan *plan = *out;

    *out = NULL;
    if (!plan)
        return;
    kallima_device *device = plan->device;
    kal_plan_clear(plan);
    pthread_mutex_destroy(&plan->lock);
    kal_arena_clear(&plan->arena);
    kal_free(&device->host, plan);
    kal_device_release(device);
}

uint64_t kallima_plan_get_workspace(const kallima_plan *plan)
{
    return plan ? plan->built->workspace_bytes : 0;
}

kallima_status kallima_plan_get_cost(const kallima_plan *plan, kallima_plan_cost *cost)
{
    KAL_REQUIRE(NULL, plan);
    KAL_REQUIRE(&plan->device->host, cost);

    const struct kal_problem *p = &plan->problem;
    const struct kal_cost counted = kal_program_count(&plan->program, p);
    const double points = kal_problem_points(p);
    const double complex_nominal = 5.0 * points * log2(points / (double)p->batch);
    *cost = (kallima_plan_cost){
        .passes = plan->program.pass_count,
        .bytes = (uint64_t)counted.bytes,
        .operations = counted.operations,
        .nominal_operations =
            p->kind == KALLIMA_C2C ? complex_nominal : complex_nominal / 2.0,
        .workspace_bytes = plan->built->workspace_bytes,
    };
    return KALLIMA_OK;
}

kallima_status kallima_plan_get_recipe(const kallima_plan *plan, char *out,
                                       size_t capacity, size_t *length)
{
    struct kal_text text;

    KAL_REQUIRE(NULL, plan);
    kal_text_init(&text, &plan->device->host);
    kal_recipe_print(&text, plan->recipe);
    const kallima_status status = kal_text_export(&text, out, capacity, length);
    kal_text_clear(&text);
    return status;
}

kallima_status kallima_plan_describe(const kallima_plan *plan, char *out, size_t capacity,
                                     size_t *length)
{
    struct kal_text text;

    KAL_REQUIRE(NULL, plan);
    kal_text_init(&text, &plan->device->host);
    kal_text_add(&text, "problem  ");
    kal_problem_print(&text, &plan->problem);
    kal_text_add(&text, "\nrecipe   ");
    kal_recipe_print(&text, plan->recipe);
    kal_text_add(&text, "\n");
    kal_program_print(&text, &plan->program);
    const kallima_status status = kal_text_export(&text, out, capacity, length);
    kal_text_clear(&text);
    return status;
}

kallima_status kallima_plan_get_source(const kallima_plan *plan, char *out,
                                       size_t capacity, size_t *length)
{
    struct kal_text text;

    KAL_REQUIRE(NULL, plan);
    if (kal_device_is_host(plan->device))
        return kal_fail(&plan->device->host, KALLIMA_E_UNSUPPORTED,
                        "plan: the device %s runs no kernels that have a source",
                        plan->device->ops->name);
    kal_text_init(&text, &plan->device->host);
    kal_kernel_program_print(plan->built, &text);
    const kallima_status status = kal_text_export(&text, out, capacity, length);
    kal_text_clear(&text);
    return status;
}
