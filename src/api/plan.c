// SPDX-License-Identifier: MIT
#include <kallima/kallima.h>

#include "exec/plan.h"
#include "exec/program.h"
#include "factor/rule.h"
#include "math/number.h"
#include "wisdom/wisdom.h"

#include <math.h>
#include <stdio.h>

int64_t kallima_fast_length(int64_t n)
{
    return kal_smooth_length(n, 7);
}

// The passes and the program of a plan whose recipe is there.
static kallima_status build_passes(kallima_plan *plan,
                                   const kallima_plan_options *options)
{
    KAL_TRY(kal_program_lower(&plan->program, &plan->arena, &plan->problem, plan->recipe,
                              &plan->device->caps));
    return kal_plan_build(plan, !options->without_workspace);
}

static kallima_status follow_recipe(kallima_plan *plan, const char *recipe,
                                    const kallima_plan_options *options)
{
    KAL_TRY(kal_recipe_parse(&plan->recipe, &plan->arena, &plan->problem, recipe));
    return build_passes(plan, options);
}

static kallima_status estimate(kallima_plan *plan, const kallima_plan_options *options)
{
    const struct kal_caps caps =
        kal_caps_limit(&plan->device->caps, plan->problem.precision == KALLIMA_F64);
    const struct kal_planner planner = { &plan->arena, &caps };
    KAL_TRY(kal_plan_problem(&plan->recipe, &planner, &plan->problem));
    return build_passes(plan, options);
}

// What wisdom has for just this problem; entry->kind is 0 if that is nothing.
static kallima_status find_wisdom(const kallima_plan *plan, struct kal_arena *arena,
                                  kallima_wisdom_entry *entry)
{
    kallima_wisdom_owner owner;
    KAL_TRY(kallima_device_get_owner(plan->device, &owner));
    return kal_wisdom_find_plan(plan->device->wisdom, &owner, &plan->problem, arena,
                                entry);
}

// As if nothing had been tried.
static void start_again(kallima_plan *plan)
{
    kal_plan_clear(plan);
    kal_arena_clear(&plan->arena);
    plan->recipe = NULL;
    plan->program = (struct kal_program){ 0 };
}

// Follow an entry. Why one is refused is said in one sentence, and the plan is as before.
static kallima_status follow_entry(kallima_plan *plan, const kallima_wisdom_entry *entry,
                                   const kallima_plan_options *options)
{
    const struct kal_host *host = &plan->device->host;
    struct kal_host quiet = *host;
    char why[300];

    quiet.log = NULL;
    plan->arena.host = &quiet;
    const kallima_status status = follow_recipe(plan, entry->value, options);
    plan->arena.host = host;
    if (status == KALLIMA_OK)
        return KALLIMA_OK;
    snprintf(why, sizeof why, "%s", kallima_last_error());
    if (status == KALLIMA_E_MEMORY)
        return kal_fail(host, status, "%s", why);
    start_again(plan);
    return kal_fail(host, KALLIMA_E_WISDOM, "plan: wisdom of %.200s is not followed: %s",
                    entry->key, why);
}

static void note_wisdom(kallima_plan *plan, const kallima_wisdom_entry *entry)
{
    plan->origin = KALLIMA_ORIGIN_WISDOM;
    plan->effort = entry->effort;
    plan->time_ns = entry->time_ns;
    plan->spread = entry->spread;
}

static kallima_status plan_by_wisdom(kallima_plan *plan,
                                     const kallima_plan_options *options)
{
    const struct kal_host *host = &plan->device->host;
    kallima_wisdom_entry entry = { .kind = KALLIMA_WISDOM_ANY };
    struct kal_arena arena;

    kal_arena_init(&arena, host);
    kallima_status status = find_wisdom(plan, &arena, &entry);
    const bool is_known = entry.kind == KALLIMA_WISDOM_PLAN;
    if (!status && is_known)
        status = follow_entry(plan, &entry, options);
    kal_arena_clear(&arena);
    if (status && status != KALLIMA_E_WISDOM)
        return status;
    if (!status && is_known) {
        note_wisdom(plan, &entry);
        return KALLIMA_OK;
    }
    plan->origin = is_known ? KALLIMA_ORIGIN_REFUSED : KALLIMA_ORIGIN_UNKNOWN;
    if (options->planning != KALLIMA_PLANNING_WISDOM_ONLY)
        return estimate(plan, options);
    return is_known ? status
                    : kal_fail(host, KALLIMA_E_WISDOM,
                               "plan: planning = wisdom only, and there is no wisdom of "
                               "this problem");
}

// Tune the problem unless wisdom has a recipe that was looked for as hard, and keep what is
// learnt. If it cannot be kept, the log says so and this process has it all the same.
static kallima_status learn(const kallima_plan *plan, int32_t effort)
{
    const kallima_desc desc = kal_problem_describe(&plan->problem);
    const kallima_tune_options options = { .effort = effort };
    kallima_wisdom_entry entry = { .kind = KALLIMA_WISDOM_ANY };

    KAL_TRY(find_wisdom(plan, NULL, &entry));
    if (entry.kind == KALLIMA_WISDOM_PLAN && entry.effort >= effort)
        return KALLIMA_OK;
    KAL_TRY(kallima_tune(plan->device, &desc, &options, NULL));
    if (kal_wisdom_is_kept(plan->device->wisdom))
        kal_wisdom_save(plan->device->wisdom, NULL);
    return KALLIMA_OK;
}

static kallima_status build(kallima_plan *plan, const kallima_plan_options *options)
{
    if (options->recipe)
        return follow_recipe(plan, options->recipe, options);
    plan->origin = KALLIMA_ORIGIN_FIXED;
    if (options->planning == KALLIMA_PLANNING_FIXED)
        return estimate(plan, options);
    if (options->planning == KALLIMA_PLANNING_DEFAULT && options->effort)
        KAL_TRY(learn(plan, options->effort));
    return plan_by_wisdom(plan, options);
}

static kallima_status check_choice(const struct kal_host *host, const char *field,
                                   int32_t value, int count)
{
    if (value >= 0 && value < count)
        return KALLIMA_OK;
    return kal_fail(host, KALLIMA_E_ARGUMENT, "plan: %s = %d; must be 0 to %d", field,
                    (int)value, count - 1);
}

kallima_status kallima_plan_create(kallima_plan **out, kallima_device *device,
                                   const kallima_desc *desc,
                                   const kallima_plan_options *options)
{
    static const kallima_plan_options defaults;
    struct kal_problem problem;
    void *object;

    KAL_REQUIRE(device ? &device->host : NULL, out);
    *out = NULL;
    KAL_REQUIRE(NULL, device);
    KAL_REQUIRE(&device->host, desc);
    if (!options)
        options = &defaults;
    KAL_TRY(check_choice(&device->host, "planning", options->planning,
                         KALLIMA_PLANNING_COUNT));
    KAL_TRY(check_choice(&device->host, "effort", options->effort, KALLIMA_EFFORT_COUNT));
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
