// SPDX-License-Identifier: MIT
// Why a plan is as it is: what there was to choose from, and what is known of it.
#include <kallima/kallima.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/knowledge.h"
#include "exec/plan.h"
#include "tune/space.h"

// A recipe, as the caller is shown it.
struct choice {
    kallima_plan_candidate shown; // its strings live in the arena
    int number;                   // in which it came up
};

struct explainer {
    const kallima_plan *plan;
    struct kal_host quiet;  // recipes of wisdom that do not fit are no news
    struct kal_arena arena; // of all that is listed
    const char *key;
    kallima_wisdom_owner owner;
    struct kal_knowledge knowledge;
    struct kal_recipe *standard; // the default
    struct choice *choice;
    int count, capacity;
    bool has_plans; // wisdom has some, good or bad
};

// --- the list ----------------------------------------------------------------------------

static kallima_status grow(struct explainer *e)
{
    enum { FIRST_CAPACITY = 64 };
    const int capacity = e->capacity ? 2 * e->capacity : FIRST_CAPACITY;
    void *memory;

    KAL_TRY(kal_arena_take(&e->arena, &memory, (uint64_t)capacity, sizeof *e->choice));
    if (e->count)
        memcpy(memory, e->choice, (size_t)e->count * sizeof *e->choice);
    e->choice = memory;
    e->capacity = capacity;
    return KALLIMA_OK;
}

static kallima_status copy_text(struct explainer *e, const char *text, const char **out)
{
    void *memory;
    KAL_TRY(kal_arena_take(&e->arena, &memory, strlen(text) + 1, 1));
    *out = strcpy(memory, text);
    return KALLIMA_OK;
}

// Zero where the device cannot.
static kallima_status predict(struct explainer *e, const struct kal_recipe *recipe,
                              double *time_ns)
{
    struct kal_terms terms;
    struct kal_arena arena;

    kal_arena_init(&arena, &e->quiet);
    const kallima_status status = kal_terms_count(&terms, &arena, &e->plan->problem,
                                                  recipe, &e->plan->device->caps);
    kal_arena_clear(&arena);
    *time_ns = status ? 0.0 : 1e9 * kal_model_predict(&e->knowledge.model, &terms);
    return status == KALLIMA_E_MEMORY ? status : KALLIMA_OK;
}

static kallima_status describe_difference(struct explainer *e,
                                          const struct kal_recipe *recipe,
                                          const char **out)
{
    char text[KAL_DECISION_COUNT * 16] = "";
    const unsigned set = kal_space_differences(e->standard, recipe);

    for (int i = 0; i < KAL_DECISION_COUNT; i++) {
        const size_t length = strlen(text);
        if (set & 1u << i)
            snprintf(text + length, sizeof text - length, "%s%s", length ? ", " : "",
                     kal_decision_names[i]);
    }
    return copy_text(e, text, out);
}

static kallima_status append(struct explainer *e, const struct kal_recipe *recipe,
                             const char *text)
{
    if (e->count == e->capacity)
        KAL_TRY(grow(e));
    struct choice *choice = &e->choice[e->count];
    *choice = (struct choice){ .shown = { .fault = "" }, .number = e->count };
    KAL_TRY(copy_text(e, text, &choice->shown.recipe));
    KAL_TRY(describe_difference(e, recipe, &choice->shown.difference));
    KAL_TRY(predict(e, recipe, &choice->shown.predicted_ns));
    e->count++;
    return KALLIMA_OK;
}

static struct choice *find_choice(struct explainer *e, const char *text)
{
    for (int i = 0; i < e->count; i++) {
        if (strcmp(e->choice[i].shown.recipe, text) == 0)
            return &e->choice[i];
    }
    return NULL;
}

// The place of a recipe in the list, to which it is added if need be.
static kallima_status list(struct explainer *e, const struct kal_recipe *recipe,
                           struct choice **out)
{
    struct kal_text text;

    kal_text_init(&text, &e->quiet);
    kal_recipe_print(&text, recipe);
    kallima_status status = text.status;
    *out = status ? NULL : find_choice(e, text.data);
    if (!status && !*out) {
        status = append(e, recipe, text.data);
        *out = status ? NULL : &e->choice[e->count - 1];
    }
    kal_text_clear(&text);
    return status;
}

static kallima_status list_neighbour(void *context, const struct kal_recipe *recipe,
                                     enum kal_decision decision)
{
    struct explainer *e = context;
    struct choice *choice;

    (void)decision;
    const int count = e->count;
    KAL_TRY(list(e, recipe, &choice));
    if (choice->shown.predicted_ns == 0.0)
        e->count = count; // the device cannot: none to choose
    return KALLIMA_OK;
}

// --- what wisdom knows -------------------------------------------------------------------

// The place of an entry's recipe; NULL if it is none of the problem.
static kallima_status list_entry(struct explainer *e, const kallima_wisdom_entry *entry,
                                 struct choice **out)
{
    struct kal_recipe *recipe;

    *out = NULL;
    const kallima_status status =
        kal_recipe_parse(&recipe, &e->arena, &e->plan->problem, entry->value);
    if (status == KALLIMA_OK)
        return list(e, recipe, out);
    return status == KALLIMA_E_MEMORY ? status : KALLIMA_OK;
}

static kallima_status list_trial(void *context, const kallima_wisdom_entry *entry)
{
    struct choice *choice;

    KAL_TRY(list_entry(context, entry, &choice));
    if (!choice)
        return KALLIMA_OK;
    choice->shown.foreseen_ns = entry->predicted_ns;
    choice->shown.measured_ns = entry->time_ns;
    choice->shown.spread = entry->spread;
    return KALLIMA_OK;
}

static kallima_status list_plan(void *context, const kallima_wisdom_entry *entry)
{
    struct explainer *e = context;
    struct choice *choice;

    e->has_plans = true;
    KAL_TRY(list_entry(e, entry, &choice));
    if (!choice || choice->shown.measured_ns > 0.0)
        return KALLIMA_OK;
    choice->shown.measured_ns = entry->time_ns;
    choice->shown.spread = entry->spread;
    return KALLIMA_OK;
}

static kallima_status list_bad(void *context, const kallima_wisdom_entry *entry)
{
    struct explainer *e = context;
    struct choice *choice;

    KAL_TRY(list_entry(e, entry, &choice));
    return choice ? copy_text(e, entry->reason[0] ? entry->reason : "wrong",
                              &choice->shown.fault)
                  : KALLIMA_OK;
}

static kallima_status list_wisdom(struct explainer *e)
{
    static const struct {
        kallima_wisdom_kind kind;
        kal_wisdom_visit *visit;
    } visits[] = {
        { KALLIMA_WISDOM_TRIAL, list_trial },
        { KALLIMA_WISDOM_PLAN, list_plan },
        { KALLIMA_WISDOM_BAD, list_bad },
    };
    for (size_t i = 0; i < KAL_COUNT(visits); i++)
        KAL_TRY(kal_wisdom_visit_key(e->plan->device->wisdom, visits[i].kind, &e->owner,
                                     e->key, visits[i].visit, e));
    return KALLIMA_OK;
}

static kallima_status list_all(struct explainer *e)
{
    const kallima_plan *plan = e->plan;
    const struct kal_caps caps =
        kal_caps_limit(&plan->device->caps, plan->problem.precision == KALLIMA_F64);
    const struct kal_planner planner = { &e->arena, &caps };
    struct kal_recipe *walked; // which is changed on the way
    struct choice *choice;

    KAL_TRY(kal_plan_problem(&e->standard, &planner, &plan->problem));
    KAL_TRY(kal_plan_problem(&walked, &planner, &plan->problem));
    KAL_TRY(list(e, e->standard, &choice));
    KAL_TRY(list(e, plan->recipe, &choice));
    choice->shown.is_chosen = 1;
    KAL_TRY(list_wisdom(e));
    return kal_space_neighbours(&planner, &plan->problem, walked, list_neighbour, e);
}

// --- the order in which they are shown ---------------------------------------------------

// First what was measured, then what was not, then what is wrong.
static int class_of(const kallima_plan_candidate *c)
{
    enum { MEASURED, PREDICTED, WRONG };
    if (c->fault[0])
        return WRONG;
    return c->measured_ns > 0.0 ? MEASURED : PREDICTED;
}

static double time_of(const kallima_plan_candidate *c)
{
    if (c->measured_ns > 0.0)
        return c->measured_ns;
    return c->predicted_ns > 0.0 ? c->predicted_ns : INFINITY;
}

static int compare(const void *left, const void *right)
{
    const struct choice *a = left, *b = right;
    const int order = class_of(&a->shown) - class_of(&b->shown);
    const double x = time_of(&a->shown), y = time_of(&b->shown);

    if (order || x != y)
        return order ? order : (x > y) - (x < y);
    return a->number - b->number;
}

static void show(const struct explainer *e, kallima_plan_report report, void *user)
{
    int32_t end = 0;

    qsort(e->choice, (size_t)e->count, sizeof *e->choice, compare);
    for (int i = 0; i < e->count && report && !end; i++)
        end = report(user, &e->choice[i].shown);
}

// --- where it comes from -----------------------------------------------------------------

static kallima_plan_origin find_origin(const struct explainer *e)
{
    const kallima_wisdom *wisdom = e->plan->device->wisdom;
    kallima_wisdom_entry good;

    if (e->plan->origin != KALLIMA_ORIGIN_UNKNOWN)
        return e->plan->origin;
    if (!wisdom->place && !wisdom->system_place && kallima_wisdom_get_count(wisdom) == 0)
        return KALLIMA_ORIGIN_OFF;
    kal_wisdom_find(wisdom, KALLIMA_WISDOM_PLAN, &e->owner, e->key, NULL, &good);
    return e->has_plans && !good.kind ? KALLIMA_ORIGIN_BAD : KALLIMA_ORIGIN_UNKNOWN;
}

static kallima_status explain(struct explainer *e, kallima_plan_report report, void *user,
                              kallima_plan_explanation *explanation)
{
    kallima_device *device = e->plan->device;

    KAL_TRY(kallima_device_get_owner(device, &e->owner));
    KAL_TRY(kal_knowledge_find(device, &e->owner, &e->knowledge));
    KAL_TRY(list_all(e));
    *explanation = (kallima_plan_explanation){
        .origin = find_origin(e),
        .effort = e->plan->effort,
        .time_ns = e->plan->time_ns,
        .spread = e->plan->spread,
        .samples = e->knowledge.samples,
        .candidates = e->count,
    };
    show(e, report, user);
    return KALLIMA_OK;
}

kallima_status kallima_plan_explain(const kallima_plan *plan, kallima_plan_report report,
                                    void *user, kallima_plan_explanation *explanation)
{
    struct explainer e = { .plan = plan };
    struct kal_text key;

    KAL_REQUIRE(NULL, plan);
    const struct kal_host *host = &plan->device->host;
    KAL_REQUIRE(host, explanation);
    *explanation = (kallima_plan_explanation){ 0 };
    e.quiet = *host;
    e.quiet.log = NULL;
    kal_arena_init(&e.arena, &e.quiet);
    kal_text_init(&key, &e.quiet);
    kal_problem_print(&key, &plan->problem);
    e.key = key.data;
    const kallima_status status =
        key.status ? key.status : explain(&e, report, user, explanation);
    kal_text_clear(&key);
    kal_arena_clear(&e.arena);
    return status == KALLIMA_E_MEMORY
               ? kal_fail(host, status, "plan: no memory is left to explain it")
               : status;
}
