// SPDX-License-Identifier: MIT
// The k-th allocation fails, for every k, once alone and once with all that follow: the
// status is E_MEMORY, *out is NULL, nothing leaks, and with enough memory it works again.
#include <kallima/kallima.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../counting.h"
#include "../problems.h"
#include "../rig.h"
#include "../rows.h"

// One problem for each algorithm, and the ways that arrays lie.
static const kallima_desc problems[] = {
    { .rank = 1, .n = { 1 } },
    { .rank = 1, .n = { 16 }, .batch = 20 },
    { .rank = 1, .n = { 64 }, .batch = 5, .in.stride = { 3 }, .in.batch_stride = 200 },
    { .rank = 1,
      .n = { 60 },
      .batch = 32,
      .in.stride = { 32 },
      .in.batch_stride = 1,
      .out.stride = { 32 },
      .out.batch_stride = 1 },
    { .rank = 1, .n = { 4096 } },
    { .rank = 1, .n = { 127 } },
    { .rank = 1, .n = { 257 }, .batch = 6 },
    { .rank = 1, .n = { 47 }, .batch = 20, .precision = KALLIMA_F64 },
    { .rank = 1, .n = { 2027 }, .placement = KALLIMA_IN_PLACE },
    { .rank = 1, .n = { 1000 }, .kind = KALLIMA_R2C },
    { .rank = 1, .n = { 1001 }, .kind = KALLIMA_C2R },
    { .rank = 2, .n = { 30, 47 }, .kind = KALLIMA_C2R },
    { .rank = 2, .n = { 64, 96 }, .kind = KALLIMA_R2C, .placement = KALLIMA_IN_PLACE },
    { .rank = 3, .n = { 8, 9, 10 }, .in.format = KALLIMA_PLANAR },
};

enum { PROBLEMS = sizeof problems / sizeof problems[0], MOST_CALLS = 100000 };

// From which call on not all of them fail in turn, but one in two, three and so on.
static int sampled_from = 32;

// Memory runs out at call `k`, counted from where the caller is.
static void set_failure(struct counting *c, long long k, bool after)
{
    c->fail_at = k > 0 ? c->calls + k : 0;
    c->fail_after = after;
}

static kallima_device *open_device(struct counting *c, const char *selector, int threads)
{
    const kallima_device_options options = { .allocator = counting_allocator(c),
                                             .threads = threads };
    kallima_device *device = (kallima_device *)(void *)c;
    const kallima_status status = kallima_device_open(&device, selector, &options);
    if (status != KALLIMA_OK)
        ROW_CHECK(status == KALLIMA_E_MEMORY && !device && c->live == 0);
    return device;
}

static kallima_device *open_counted(struct counting *c, int threads)
{
    return open_device(c, "cpu", threads);
}

static void opening_survives(void **state)
{
    (void)state;
    for (int after = 0; after < 2; after++) {
        struct counting c = { 0 };
        kallima_device *device = NULL;
        for (long long k = 1; !device && k < MOST_CALLS; k++) {
            set_failure(&c, k, after);
            device = open_counted(&c, 1);
        }
        ROW_CHECK(device != NULL);
        kallima_device_close(&device);
        ROW_CHECK(c.live == 0 && c.damaged == 0);
    }
    ROWS_FINISH();
}

// Plan until it succeeds; return the call that did not fail. Kernels take hundreds of calls,
// of which the later ones are a sample.
static long long plan_under_failure(struct counting *c, kallima_device *device,
                                    const kallima_desc *d,
                                    const kallima_plan_options *options, bool after)
{
    kallima_plan *plan = NULL;
    long long k = 0;

    while (!plan && k < MOST_CALLS) {
        k += 1 + k / sampled_from;
        const long long live = c->live;
        plan = (kallima_plan *)(void *)c;
        set_failure(c, k, after);
        const kallima_status status = kallima_plan_create(&plan, device, d, options);
        set_failure(c, 0, false);
        if (status == KALLIMA_OK)
            break;
        row_ran();
        if (status != KALLIMA_E_MEMORY || plan || c->live != live) {
            row_fail("allocation %lld: %s: %s; %lld blocks left", k,
                     kallima_status_name(status), kallima_last_error(), c->live - live);
            plan = NULL;
        }
    }
    ROW_CHECK(plan != NULL);
    kallima_plan_destroy(&plan);
    return k;
}

static void check_planning(const char *selector)
{
    for (int i = 0; i < PROBLEMS; i++) {
        for (int after = 0; after < 2; after++) {
            struct counting c = { 0 };
            kallima_device *device = open_device(&c, selector, 2);
            ROW_CHECK(plan_under_failure(&c, device, &problems[i], NULL, after) > 1);
            kallima_device_close(&device);
            ROW_CHECK(c.live == 0 && c.damaged == 0);
        }
    }
}

static void planning_survives(void **state)
{
    (void)state;
    check_planning("cpu");
    ROWS_FINISH();
}

static void making_kernels_survives(void **state)
{
    (void)state;
    check_planning("nullopencl");
    check_planning("nullcuda");
    ROWS_FINISH();
}

// Arrays are staged, which may fail at any of their buffers.
static void staging_survives(void **state)
{
    (void)state;
    for (int i = 0; i < PROBLEMS; i++) {
        struct counting c = { 0 };
        kallima_device *device = open_device(&c, "nullopencl", 1);
        kallima_status status = KALLIMA_E_MEMORY;
        kallima_plan *plan = NULL;
        struct rig rig;

        rig_init(&rig, &problems[i], 3);
        ROW_CHECK(kallima_plan_create(&plan, device, &problems[i], NULL) == KALLIMA_OK);
        for (long long k = 1; status != KALLIMA_OK && k < MOST_CALLS; k++) {
            const long long live = c.live;
            set_failure(&c, k, k % 2);
            status = rig_execute(&rig, plan, device, WAY_OWNED);
            set_failure(&c, 0, false);
            ROW_CHECK(status == KALLIMA_OK || status == KALLIMA_E_MEMORY);
            ROW_CHECK(c.live == live);
        }
        rig_clear(&rig);
        kallima_plan_destroy(&plan);
        kallima_device_close(&device);
        ROW_CHECK(c.live == 0 && c.damaged == 0);
    }
    ROWS_FINISH();
}

static void reading_recipes_survives(void **state)
{
    (void)state;
    for (int i = 0; i < PROBLEMS; i++) {
        struct counting c = { 0 };
        char recipe[2000] = "";
        kallima_device *device = open_counted(&c, 1);
        const kallima_plan_options options = { .recipe = recipe };
        kallima_plan *plan = NULL;

        ROW_CHECK(kallima_plan_create(&plan, device, &problems[i], NULL) == KALLIMA_OK);
        ROW_CHECK(kallima_plan_get_recipe(plan, recipe, sizeof recipe, NULL) ==
                  KALLIMA_OK);
        kallima_plan_destroy(&plan);
        ROW_CHECK(plan_under_failure(&c, device, &problems[i], &options, false) > 1);
        kallima_device_close(&device);
        ROW_CHECK(c.live == 0 && c.damaged == 0);
    }
    ROWS_FINISH();
}

// An entry that is followed, and one that is refused before the estimate is made.
static void following_wisdom_survives(void **state)
{
    static const char *const recipes[] = { "local(2.2.2.2)", "local(3.5)" };
    static const kallima_desc d = { .rank = 1, .n = { 16 }, .batch = 20 };
    static const char key[] = "c2c f32 n=16 batch=20 forward out-of-place "
                              "in=interleaved@0:16,1 out=interleaved@0:16,1";

    (void)state;
    for (int i = 0; i < 4; i++) {
        struct counting c = { 0 };
        kallima_device *device = open_device(&c, i % 2 ? "cpu" : "nullcuda", 1);
        kallima_wisdom_owner owner;
        char text[1000];

        ROW_CHECK(kallima_device_get_owner(device, &owner) == KALLIMA_OK);
        snprintf(
            text, sizeof text,
            "kallima-wisdom 1\nplan \"%s\" \"%s\" \"%s\" \"%s\" \"%s\" measure 1 0\n",
            owner.device, owner.driver, owner.version, key, recipes[i / 2]);
        ROW_CHECK(kallima_wisdom_import(kallima_device_get_wisdom(device), text, NULL,
                                        NULL) == KALLIMA_OK);
        // Wisdom alone: the key above is that of the problem.
        const kallima_plan_options options = {
            .planning = i / 2 ? KALLIMA_PLANNING_DEFAULT : KALLIMA_PLANNING_WISDOM_ONLY
        };
        ROW_CHECK(plan_under_failure(&c, device, &d, &options, i % 2) > 1);
        kallima_device_close(&device);
        ROW_CHECK(c.live == 0 && c.damaged == 0);
    }
    ROWS_FINISH();
}

static int32_t count_candidates(void *user, const kallima_plan_candidate *candidate)
{
    *(int *)user += candidate->recipe[0] != '\0';
    return 0;
}

// Explain until it succeeds.
static void explain_under_failure(struct counting *c, const kallima_plan *plan,
                                  bool after)
{
    kallima_status status = KALLIMA_E_MEMORY;
    kallima_plan_explanation explanation;
    const long long live = c->live;
    int shown = 0;

    for (long long k = 1; status != KALLIMA_OK && k < MOST_CALLS; k += 1 + k / 8) {
        set_failure(c, k, after);
        shown = 0;
        status = kallima_plan_explain(plan, count_candidates, &shown, &explanation);
        set_failure(c, 0, false);
        row_ran();
        if ((status != KALLIMA_OK && (status != KALLIMA_E_MEMORY || shown)) ||
            c->live != live)
            row_fail("allocation %lld: %s: %s", k, kallima_status_name(status),
                     kallima_last_error());
    }
    ROW_CHECK(status == KALLIMA_OK && shown == explanation.candidates && shown > 3);
}

// With a time, a recipe that was wrong, and one that fits nothing.
static void explaining_survives(void **state)
{
    static const kallima_desc d = { .rank = 1, .n = { 16 }, .batch = 20 };
    static const char key[] = "c2c f32 n=16 batch=20 forward out-of-place "
                              "in=interleaved@0:16,1 out=interleaved@0:16,1";

    (void)state;
    for (int i = 0; i < 4; i++) {
        struct counting c = { 0 };
        kallima_device *device = open_device(&c, i % 2 ? "cpu" : "nullcuda", 1);
        kallima_wisdom_owner owner;
        kallima_plan *plan = NULL;
        char head[700], text[3000];

        ROW_CHECK(kallima_device_get_owner(device, &owner) == KALLIMA_OK);
        snprintf(head, sizeof head, "\"%s\" \"%s\" \"%s\" \"%s\"", owner.device,
                 owner.driver, owner.version, key);
        snprintf(text, sizeof text,
                 "kallima-wisdom 1\ntrial %s \"local(4.4)\" 2 1 0\n"
                 "bad %s \"local(2.2.2.2)\" \"wrong\"\ntrial %s \"local(3)\" 2 1 0\n",
                 head, head, head);
        ROW_CHECK(kallima_wisdom_import(kallima_device_get_wisdom(device), text, NULL,
                                        NULL) == KALLIMA_OK);
        ROW_CHECK(kallima_plan_create(&plan, device, &d, NULL) == KALLIMA_OK);
        explain_under_failure(&c, plan, i / 2);
        kallima_plan_destroy(&plan);
        kallima_device_close(&device);
        ROW_CHECK(c.live == 0 && c.damaged == 0);
    }
    ROWS_FINISH();
}

// Execute until it succeeds: each failure leaves the plan as good as it was.
static void execute_under_failure(struct counting *c, kallima_device *device,
                                  const kallima_desc *d, enum way way, bool after)
{
    kallima_status status = KALLIMA_E_MEMORY;
    kallima_plan *plan = NULL;
    struct rig rig;

    rig_init(&rig, d, 9);
    ROW_CHECK(kallima_plan_create(&plan, device, d, NULL) == KALLIMA_OK);
    for (long long k = 1; status != KALLIMA_OK && k < MOST_CALLS; k++) {
        rig_restore(&rig);
        set_failure(c, k, after);
        status = rig_execute(&rig, plan, device, way);
        set_failure(c, 0, false);
        ROW_CHECK(status == KALLIMA_OK || status == KALLIMA_E_MEMORY);
    }
    long double error = 0.0L, power = 0.0L;
    rig_add_error(&rig, &error, &power);
    ROW_CHECK(error <= power * 4.0L * oracle_bound(d) * oracle_bound(d));
    rig_clear(&rig);
    kallima_plan_destroy(&plan);
}

static void execution_survives(void **state)
{
    (void)state;
    for (int i = 0; i < PROBLEMS; i++) {
        for (int way = 0; way < WAY_COUNT; way++) {
            struct counting c = { 0 };
            kallima_device *device = open_counted(&c, 2);
            execute_under_failure(&c, device, &problems[i], (enum way)way, way % 2);
            kallima_device_close(&device);
            ROW_CHECK(c.live == 0 && c.damaged == 0);
        }
    }
    ROWS_FINISH();
}

typedef kallima_status (*writer)(const kallima_plan *plan, char *text, size_t capacity,
                                 size_t *length);

static void check_writer(struct counting *c, const kallima_plan *plan, writer write)
{
    char text[4000];
    kallima_status status = KALLIMA_E_MEMORY;
    const long long live = c->live;

    for (long long k = 1; status != KALLIMA_OK && k < MOST_CALLS; k++) {
        set_failure(c, k, true);
        status = write(plan, text, sizeof text, NULL);
        set_failure(c, 0, false);
        ROW_CHECK(status == KALLIMA_OK || status == KALLIMA_E_MEMORY);
        ROW_CHECK(c->live == live);
    }
    ROW_CHECK(status == KALLIMA_OK);
}

static void writing_texts_survives(void **state)
{
    struct counting c = { 0 };
    kallima_plan *plan = NULL;

    (void)state;
    kallima_device *device = open_counted(&c, 1);
    ROW_CHECK(kallima_plan_create(&plan, device, &problems[11], NULL) == KALLIMA_OK);
    check_writer(&c, plan, kallima_plan_get_recipe);
    check_writer(&c, plan, kallima_plan_describe);
    kallima_plan_destroy(&plan);
    kallima_device_close(&device);
    ROW_CHECK(c.live == 0 && c.damaged == 0);

    device = open_device(&c, "nullcuda", 1);
    ROW_CHECK(kallima_plan_create(&plan, device, &problems[5], NULL) == KALLIMA_OK);
    check_writer(&c, plan, kallima_plan_get_source);
    kallima_plan_destroy(&plan);
    kallima_device_close(&device);
    ROW_CHECK(c.live == 0 && c.damaged == 0);
    ROWS_FINISH();
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "--brief") == 0)
        sampled_from = 8;
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(opening_survives),
        cmocka_unit_test(planning_survives),
        cmocka_unit_test(reading_recipes_survives),
        cmocka_unit_test(following_wisdom_survives),
        cmocka_unit_test(explaining_survives),
        cmocka_unit_test(execution_survives),
        cmocka_unit_test(writing_texts_survives),
        cmocka_unit_test(making_kernels_survives),
        cmocka_unit_test(staging_survives),
    };
    return cmocka_run_group_tests_name("oom", tests, NULL, NULL);
}
