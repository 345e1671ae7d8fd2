// SPDX-License-Identifier: MIT
// Why a plan is as it is: where it comes from, and what there was to choose from.
#include <kallima/kallima.h>
#include <stdio.h>
#include <string.h>

#include "../counting.h"
#include "../pretend.h"
#include "../rows.h"
#include "problem/problem.h"

enum { MOST_SHOWN = 2000 };

static const char *const selectors[] = { "cpu",        "nullcuda",   "nullopencl",
                                         "nullvulkan", "nullopengl", "nullopengles",
                                         "nulld3d11",  "null" };
static const kallima_desc desc = { .rank = 1, .n = { 240 } };

/** A recipe of the problem that is no device's default. */
#define OTHER "local(3.5.2.2.2.2)"

static struct counting counting;

/** What is shown of a plan. */
static struct {
    kallima_plan_explanation said;
    struct {
        char recipe[200], difference[60], fault[60];
        double predicted, foreseen, measured, spread;
        bool is_chosen;
    } row[MOST_SHOWN];
    int count, most;
} shown;

static int32_t show(void *user, const kallima_plan_candidate *c)
{
    ROW_CHECK(user == &shown && shown.count < MOST_SHOWN && c->reserved == 0);
    const int i = shown.count++;
    snprintf(shown.row[i].recipe, sizeof shown.row[i].recipe, "%s", c->recipe);
    snprintf(shown.row[i].difference, sizeof shown.row[i].difference, "%s",
             c->difference);
    snprintf(shown.row[i].fault, sizeof shown.row[i].fault, "%s", c->fault);
    shown.row[i].predicted = c->predicted_ns;
    shown.row[i].foreseen = c->foreseen_ns;
    shown.row[i].measured = c->measured_ns;
    shown.row[i].spread = c->spread;
    shown.row[i].is_chosen = c->is_chosen;
    return shown.count == shown.most;
}

static kallima_device *open_device(const char *selector)
{
    const kallima_device_options options = { .allocator = counting_allocator(&counting),
                                             .threads = 1,
                                             .wisdom = "" };
    kallima_device *device = NULL;
    ROW_CHECK(kallima_device_open(&device, selector, &options) == KALLIMA_OK);
    return device;
}

static void explain(kallima_device *device, const char *recipe, int planning)
{
    const kallima_plan_options options = { .recipe = recipe, .planning = planning };
    kallima_plan *plan = NULL;

    shown.count = 0;
    ROW_CHECK(kallima_plan_create(&plan, device, &desc, &options) == KALLIMA_OK);
    ROW_CHECK(kallima_plan_explain(plan, show, &shown, &shown.said) == KALLIMA_OK);
    kallima_plan_destroy(&plan);
}

// What the device's wisdom says of a recipe of the problem.
static void know(kallima_device *device, int kind, const char *recipe, double time_ns)
{
    struct kal_problem problem;
    kallima_wisdom_owner owner;
    struct kal_text key;

    ROW_CHECK(kal_problem_init(&problem, NULL, &desc) == KALLIMA_OK);
    ROW_CHECK(kallima_device_get_owner(device, &owner) == KALLIMA_OK);
    kal_text_init(&key, NULL);
    kal_problem_print(&key, &problem);
    kallima_wisdom_entry entry = pretend_plan(key.data, recipe, time_ns);
    entry.kind = kind;
    entry.device = owner.device;
    entry.driver = owner.driver;
    entry.version = owner.version;
    entry.spread = 0.25;
    entry.predicted_ns = 3.0 * time_ns;
    entry.reason = "an error of 1";
    pretend_add(kallima_device_get_wisdom(device), entry);
    kal_text_clear(&key);
}

static int find(const char *recipe)
{
    for (int i = 0; i < shown.count; i++) {
        if (strcmp(shown.row[i].recipe, recipe) == 0)
            return i;
    }
    return -1;
}

// Every recipe once; one is the plan's own, one the default; the best is first.
static void check_shown(void)
{
    int chosen = 0, standard = 0;

    ROW_CHECK(shown.count == shown.said.candidates);
    for (int i = 0; i < shown.count; i++) {
        chosen += shown.row[i].is_chosen;
        standard += shown.row[i].difference[0] == '\0';
        row_ran();
        if (find(shown.row[i].recipe) != i)
            row_fail("%s is shown twice", shown.row[i].recipe);
        if (!(shown.row[i].predicted > 0.0))
            row_fail("%s has no prediction", shown.row[i].recipe);
        if (i == 0 || shown.row[i].fault[0] || shown.row[i].measured > 0.0)
            continue;
        if (shown.row[i - 1].measured == 0.0 &&
            shown.row[i - 1].predicted > shown.row[i].predicted)
            row_fail("%s comes too late", shown.row[i].recipe);
    }
    ROW_CHECK(chosen == 1 && standard == 1);
}

static int count_memory(void **state)
{
    (void)state;
    memset(&counting, 0, sizeof counting);
    memset(&shown, 0, sizeof shown);
    return 0;
}

static int check_memory(void **state)
{
    (void)state;
    return counting.live == 0 && counting.damaged == 0 ? 0 : -1;
}

static void nothing_need_be_known(void **state)
{
    (void)state;
    for (size_t i = 0; i < KAL_COUNT(selectors); i++) {
        kallima_device *device = open_device(selectors[i]);
        explain(device, NULL, 0);
        check_shown();
        ROW_CHECK(shown.said.origin == KALLIMA_ORIGIN_OFF && shown.said.effort == 0);
        ROW_CHECK(shown.said.samples == 0 && shown.said.time_ns == 0.0);
        ROW_CHECK(shown.count > 10);
        for (int k = 0; k < shown.count; k++)
            ROW_CHECK(shown.row[k].measured == 0.0 && !shown.row[k].fault[0] &&
                      shown.row[k].is_chosen == !shown.row[k].difference[0]);
        kallima_device_close(&device);
    }
    ROWS_FINISH();
}

static void the_origin_is_what_the_plan_followed(void **state)
{
    (void)state;
    for (size_t i = 0; i < KAL_COUNT(selectors); i++) {
        kallima_device *device = open_device(selectors[i]);
        explain(device, OTHER, 0);
        ROW_CHECK(shown.said.origin == KALLIMA_ORIGIN_RECIPE);
        ROW_CHECK(shown.row[find(OTHER)].is_chosen);
        explain(device, NULL, KALLIMA_PLANNING_FIXED);
        ROW_CHECK(shown.said.origin == KALLIMA_ORIGIN_FIXED);
        know(device, KALLIMA_WISDOM_TRIAL, OTHER, 100.0);
        explain(device, NULL, 0);
        ROW_CHECK(shown.said.origin == KALLIMA_ORIGIN_UNKNOWN);
        know(device, KALLIMA_WISDOM_PLAN, "local(7)", 100.0);
        explain(device, NULL, 0);
        ROW_CHECK(shown.said.origin == KALLIMA_ORIGIN_REFUSED);
        know(device, KALLIMA_WISDOM_PLAN, OTHER, 90.0);
        explain(device, NULL, 0);
        ROW_CHECK(shown.said.origin == KALLIMA_ORIGIN_WISDOM);
        ROW_CHECK(shown.said.effort == KALLIMA_EFFORT_MEASURE &&
                  shown.said.time_ns == 90.0 && shown.said.spread == 0.25);
        know(device, KALLIMA_WISDOM_BAD, OTHER, 0.0);
        know(device, KALLIMA_WISDOM_BAD, "local(7)", 0.0);
        explain(device, NULL, 0);
        ROW_CHECK(shown.said.origin == KALLIMA_ORIGIN_BAD);
        check_shown();
        kallima_device_close(&device);
    }
    ROWS_FINISH();
}

static void times_of_wisdom_are_shown(void **state)
{
    (void)state;
    for (size_t i = 0; i < KAL_COUNT(selectors); i++) {
        kallima_device *device = open_device(selectors[i]);
        know(device, KALLIMA_WISDOM_TRIAL, "local(3.16.5)", 50.0);
        know(device, KALLIMA_WISDOM_TRIAL, OTHER, 70.0);
        know(device, KALLIMA_WISDOM_TRIAL, "local(240)", 1.0); // none of the problem
        know(device, KALLIMA_WISDOM_TRIAL, "local(3.5.16)", 20.0);
        know(device, KALLIMA_WISDOM_BAD, "local(3.5.16)", 0.0);
        know(device, KALLIMA_WISDOM_PLAN, "local(3.16.5)", 55.0); // of an earlier tuning
        know(device, KALLIMA_WISDOM_PLAN, "local(5.3.16)", 60.0);
        explain(device, NULL, 0);
        check_shown();
        ROW_CHECK(find("local(3.16.5)") == 0 && shown.row[0].measured == 50.0);
        ROW_CHECK(shown.row[0].is_chosen && shown.row[0].foreseen == 150.0);
        ROW_CHECK(strcmp(shown.row[0].difference, "radices") == 0 ||
                  strcmp(shown.row[0].difference, "algorithm") == 0);
        ROW_CHECK(find("local(5.3.16)") == 1 && shown.row[1].measured == 60.0);
        ROW_CHECK(shown.row[1].foreseen == 0.0 && shown.row[1].spread == 0.25);
        ROW_CHECK(find(OTHER) == 2 && shown.row[3].measured == 0.0);
        ROW_CHECK(find("local(240)") < 0);
        ROW_CHECK(find("local(3.5.16)") == shown.count - 1);
        ROW_CHECK(strcmp(shown.row[shown.count - 1].fault, "an error of 1") == 0);
        kallima_device_close(&device);
    }
    ROWS_FINISH();
}

static void a_report_may_end_it(void **state)
{
    kallima_device *device = open_device("cpu");
    kallima_plan *plan = NULL;

    (void)state;
    shown.most = 3;
    ROW_CHECK(kallima_plan_create(&plan, device, &desc, NULL) == KALLIMA_OK);
    ROW_CHECK(kallima_plan_explain(plan, show, &shown, &shown.said) == KALLIMA_OK);
    ROW_CHECK(shown.count == 3 && shown.said.candidates > 3);
    ROW_CHECK(kallima_plan_explain(plan, NULL, NULL, &shown.said) == KALLIMA_OK);
    ROW_CHECK(kallima_plan_explain(NULL, show, &shown, &shown.said) ==
              KALLIMA_E_ARGUMENT);
    ROW_CHECK(kallima_plan_explain(plan, show, &shown, NULL) == KALLIMA_E_ARGUMENT);
    ROW_CHECK(shown.count == 3);
    kallima_plan_destroy(&plan);
    kallima_device_close(&device);
    ROWS_FINISH();
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, count_memory, check_memory)

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST(nothing_need_be_known),
        TEST(the_origin_is_what_the_plan_followed),
        TEST(times_of_wisdom_are_shown),
        TEST(a_report_may_end_it),
    };
    return cmocka_run_group_tests_name("explain", tests, NULL, NULL);
}
