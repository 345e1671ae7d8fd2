// SPDX-License-Identifier: MIT
// Usage: test_threads [THREADS [SELECTOR]]. Four threads execute one plan at once, with
// workspaces of their own and with the plan's, and make plans on one device. For
// ThreadSanitizer the transforms themselves use one thread, since libgomp is not
// instrumented.
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "suite.h"

enum { SKIPPED = 77, WORKERS = 4, RUNS = 6 };

static int threads_of_transform = 1;
static const char *selector = "cpu";
static kallima_device *device;

static const kallima_desc problems[] = {
    { .rank = 1, .n = { 64 }, .batch = 40 },
    { .rank = 1, .n = { 1009 }, .precision = KALLIMA_F64 },
    { .rank = 1, .n = { 47 }, .batch = 20 },
    { .rank = 1, .n = { 16384 } },
    { .rank = 1, .n = { 5003 }, .placement = KALLIMA_IN_PLACE },
    { .rank = 2, .n = { 60, 62 }, .kind = KALLIMA_R2C },
    { .rank = 2, .n = { 50, 51 }, .kind = KALLIMA_C2R, .precision = KALLIMA_F64 },
};

struct worker {
    pthread_t thread;
    const kallima_plan *plan; // NULL: make one's own
    struct rig rig;
    enum way way;
    bool ok;
};

static void *work(void *argument)
{
    struct worker *w = (struct worker *)argument;
    const char *why;

    w->ok = true;
    for (int run = 0; run < RUNS && w->ok; run++) {
        kallima_plan *own = NULL;
        rig_restore(&w->rig);
        if (!w->plan &&
            kallima_plan_create(&own, device, &w->rig.desc, NULL) != KALLIMA_OK) {
            w->ok = false;
            break;
        }
        w->ok =
            rig_execute(&w->rig, w->plan ? w->plan : own, device, w->way) == KALLIMA_OK &&
            rig_is_intact(&w->rig, &why);
        kallima_plan_destroy(&own);
    }
    return NULL;
}

static void check_worker(struct worker *w, size_t problem)
{
    long double error = 0.0L, power = 0.0L;
    rig_add_error(&w->rig, &error, &power);
    row_ran();
    if (!w->ok || !(error <= power * 4.0L * oracle_bound(&w->rig.desc) *
                                 oracle_bound(&w->rig.desc)))
        row_fail("problem %zu, way %d: a thread failed or got other numbers", problem,
                 (int)w->way);
    rig_clear(&w->rig);
}

static void run_workers(size_t problem, const kallima_plan *plan, enum way way)
{
    struct worker workers[WORKERS];

    memset(workers, 0, sizeof workers);
    for (int i = 0; i < WORKERS; i++) {
        workers[i].plan = plan;
        workers[i].way = way;
        rig_init(&workers[i].rig, &problems[problem], (uint64_t)i * 17 + problem);
    }
    for (int i = 0; i < WORKERS; i++)
        assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    for (int i = 0; i < WORKERS; i++)
        assert_int_equal(pthread_join(workers[i].thread, NULL), 0);
    for (int i = 0; i < WORKERS; i++)
        check_worker(&workers[i], problem);
}

static void run_all(enum way way, bool shared_plan)
{
    const kallima_device_options options = { .threads = threads_of_transform };
    assert_int_equal(kallima_device_open(&device, selector, &options), KALLIMA_OK);
    for (size_t i = 0; i < sizeof problems / sizeof problems[0]; i++) {
        kallima_plan *plan = NULL;
        if (shared_plan)
            assert_int_equal(kallima_plan_create(&plan, device, &problems[i], NULL),
                             KALLIMA_OK);
        run_workers(i, plan, way);
        kallima_plan_destroy(&plan);
    }
    kallima_device_close(&device);
}

static void one_plan_serves_threads_with_workspaces(void **state)
{
    (void)state;
    run_all(WAY_GIVEN, true);
    ROWS_FINISH();
}

static void one_plan_serves_threads_without_workspaces(void **state)
{
    (void)state;
    run_all(WAY_OWNED, true);
    run_all(WAY_BUFFERS, true);
    ROWS_FINISH();
}

static void threads_plan_on_one_device(void **state)
{
    (void)state;
    run_all(WAY_RUN, false);
    ROWS_FINISH();
}

// Each thread has its own last error.
static void *fail_otherwise(void *argument)
{
    kallima_device *none = NULL;
    (void)kallima_device_open(&none, "cpu", &(kallima_device_options){ .threads = -7 });
    *(bool *)argument = strstr(kallima_last_error(), "-7") != NULL;
    return NULL;
}

static void last_errors_belong_to_threads(void **state)
{
    pthread_t thread;
    kallima_device *none = NULL;
    bool found = false;

    (void)state;
    (void)kallima_device_open(&none, "cpu", &(kallima_device_options){ .threads = -5 });
    ROW_CHECK(strstr(kallima_last_error(), "-5") != NULL);
    assert_int_equal(pthread_create(&thread, NULL, fail_otherwise, &found), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    ROW_CHECK(found);
    ROW_CHECK(strstr(kallima_last_error(), "-5") != NULL);
    ROWS_FINISH();
}

int main(int argc, char **argv)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_plan_serves_threads_with_workspaces),
        cmocka_unit_test(one_plan_serves_threads_without_workspaces),
        cmocka_unit_test(threads_plan_on_one_device),
        cmocka_unit_test(last_errors_belong_to_threads),
    };
    if (argc > 1)
        threads_of_transform = atoi(argv[1]);
    if (argc > 2)
        selector = argv[2];
    kallima_device *present = NULL;
    if (kallima_device_open(&present, selector, NULL) == KALLIMA_E_ABSENT)
        return SKIPPED;
    kallima_device_close(&present);
    return cmocka_run_group_tests_name("threads", tests, NULL, NULL);
}
