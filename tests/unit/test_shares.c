// SPDX-License-Identifier: MIT
// How many threads of a CPU work a plan.
#include <kallima/kallima.h>
#include <stdlib.h>
#include <string.h>

#include "../random.h"
#include "../rows.h"
#include "base/text.h"
#include "device/cpu/distance.h"
#include "device/device.h"
#include "exec/plan.h"

enum { THREADS = 2 };

// What the device says of the plan: `threads N` is the first line. What needs no
// workspace is one thread's, whatever is said.
static int threads_of(const kallima_plan *plan)
{
    static const char WORD[] = "threads ";
    if (plan->built->workspace_bytes == 0)
        return 1;
    struct kal_text text;

    kal_text_init(&text, &plan->device->host);
    plan->device->ops->program_describe(plan->built, &text);
    const char *found = text.data ? strstr(text.data, WORD) : NULL;
    const int threads = found ? atoi(found + sizeof WORD - 1) : -1;
    kal_text_clear(&text);
    return threads;
}

static void check_threads(kallima_device *device, const kallima_desc *desc, int wanted)
{
    kallima_plan *plan = NULL;

    row_ran();
    if (kallima_plan_create(&plan, device, desc, NULL) != KALLIMA_OK)
        row_fail("%d points: %s", (int)desc->n[0], kallima_last_error());
    else if (threads_of(plan) != wanted)
        row_fail("%d points x %d, kind %d: %d threads, not %d", (int)desc->n[0],
                 (int)desc->batch, (int)desc->kind, threads_of(plan), wanted);
    kallima_plan_destroy(&plan);
}

// Lines of one codelet, of both steps at once, of two steps and of three, and by other
// ways: alone they are one thread's, and some megabytes of them all threads'.
static void batches_are_shared_and_short_lines_are_not(void **state)
{
    static const int lengths[] = { 4,   16,  32,  45,  64,  100, 176,
                                   225, 250, 330, 495, 512, 1000 };
    const kallima_device_options options = { .threads = THREADS, .wisdom = "" };
    kallima_device *device = NULL;

    (void)state;
    ROW_CHECK(kallima_device_open(&device, "cpu", &options) == KALLIMA_OK);
    for (size_t i = 0; i < KAL_COUNT(lengths); i++) {
        for (int kind = KALLIMA_C2C; kind <= KALLIMA_C2R; kind++) {
            kallima_desc desc = { .rank = 1,
                                  .n = { lengths[i] },
                                  .kind = (kallima_kind)kind,
                                  .direction = kind == KALLIMA_C2R ? KALLIMA_INVERSE
                                                                   : KALLIMA_FORWARD };
            check_threads(device, &desc, 1);
            desc.batch = (1 << 20) / lengths[i];
            check_threads(device, &desc, THREADS);
        }
    }
    kallima_device_close(&device);
    ROWS_FINISH();
}

// Also of one thread, and of more threads than there are processors.
static void distance_is_found_whatever_threads_there_are(void **state)
{
    enum { MANY = 64 };
    static const int threads[] = { 1, THREADS, MANY };

    (void)state;
    for (size_t i = 0; i < KAL_COUNT(threads); i++) {
        const double ns = kal_cpu_distance_find(threads[i]);
        ROW_CHECK(ns > 0.0 && ns < 1e6);
    }
    ROWS_FINISH();
}

// One problem on a device of so many threads. Returns a copy of the output, or NULL.
static double *run_on(int threads, const kallima_desc *desc, const double *in,
                      size_t reals)
{
    const kallima_device_options options = { .threads = threads, .wisdom = "" };
    double *out = malloc(reals * sizeof *out);
    kallima_device *device = NULL;
    kallima_plan *plan = NULL;

    if (kallima_device_open(&device, "cpu", &options) != KALLIMA_OK ||
        kallima_plan_create(&plan, device, desc, NULL) != KALLIMA_OK ||
        kallima_plan_run(plan, in, out) != KALLIMA_OK) {
        free(out);
        out = NULL;
    }
    kallima_plan_destroy(&plan);
    kallima_device_close(&device);
    return out;
}

// OpenMP may grant fewer threads than a plan is made for, as it does where
// OMP_THREAD_LIMIT says so: then those work together what each of more would have worked
// by itself.
static void fewer_threads_than_planned_do_it_all(void **state)
{
    enum { PLANNED = 16 };
    static const kallima_desc problems[] = {
        { .rank = 2, .n = { 200, 200 }, .batch = PLANNED, .precision = KALLIMA_F64 },
        { .rank = 1, .n = { 10007 }, .batch = PLANNED, .precision = KALLIMA_F64 },
        { .rank = 1, .n = { 1000 }, .batch = 2000, .precision = KALLIMA_F64 },
    };

    (void)state;
    for (size_t i = 0; i < KAL_COUNT(problems); i++) {
        const kallima_desc *d = &problems[i];
        const size_t points = (size_t)(d->n[0] * (d->rank > 1 ? d->n[1] : 1) * d->batch),
                     reals = 2 * points;
        double *in = malloc(reals * sizeof *in);
        struct random random = { i };
        for (size_t k = 0; k < reals; k++)
            in[k] = random_real(&random);
        double *want = run_on(1, d, in, reals), *got = run_on(PLANNED, d, in, reals);
        row_ran();
        if (!want || !got || memcmp(want, got, reals * sizeof *got) != 0)
            row_fail("problem %d: other bits, or none", (int)i);
        free(in);
        free(want);
        free(got);
    }
    ROWS_FINISH();
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(batches_are_shared_and_short_lines_are_not),
        cmocka_unit_test(distance_is_found_whatever_threads_there_are),
        cmocka_unit_test(fewer_threads_than_planned_do_it_all),
    };
    return cmocka_run_group_tests_name("shares", tests, NULL, NULL);
}
