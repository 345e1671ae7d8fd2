// SPDX-License-Identifier: MIT
// Tuning as a whole, on the CPU: what wins is right and is kept, what is wrong is named and
// remembered. No claim on times but their order.
#include <kallima/kallima.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../counting.h"
#include "../pretend.h"
#include "../rows.h"
#include "device/device.h"
#include "pass/pass.h"

// A CPU that spoils what programs of some first radix leave in the output, or is slow with it.
enum { ALL_RADICES = -1, MOST_PROGRAMS = 4096 };

static struct {
    const struct kal_device_ops *below;
    struct kal_device_ops ops;
    int radix;     // 0: none
    bool slows;    // instead: they are right, and take a millisecond more
    bool is_lucky; // but in memory that was made later, where all others do
    bool is_later;
    long build_ms; // that making a program takes
    const struct kal_device_program *spoilt[MOST_PROGRAMS];
    int count;
} miscompiler;

static void wait_ms(long ms)
{
    const struct timespec pause = { ms / 1000, ms % 1000 * 1000000 };
    nanosleep(&pause, NULL);
}

static kallima_status create_program(struct kal_device_program **out,
                                     kallima_device *device,
                                     const struct kal_program *program, bool is_f64)
{
    const kallima_status status =
        miscompiler.below->program_create(out, device, program, is_f64);
    const int radix = program->pass[0]->step[0].radix;
    if (!status && miscompiler.radix && !is_f64 &&
        (miscompiler.radix == ALL_RADICES || miscompiler.radix == radix))
        miscompiler.spoilt[miscompiler.count++ % MOST_PROGRAMS] = *out;
    wait_ms(miscompiler.build_ms);
    return status;
}

static void destroy_program(struct kal_device_program *program)
{
    for (int i = 0; i < miscompiler.count && i < MOST_PROGRAMS; i++) {
        if (miscompiler.spoilt[i] == program)
            miscompiler.spoilt[i] = NULL;
    }
    miscompiler.below->program_destroy(program);
}

static kallima_status create_buffer(kallima_buffer **out, kallima_device *device,
                                    uint64_t bytes)
{
    miscompiler.is_later = true;
    return miscompiler.below->buffer_create(out, device, bytes);
}

static bool is_spoilt(const struct kal_device_program *program)
{
    bool is = false;
    for (int i = 0; i < miscompiler.count && i < MOST_PROGRAMS; i++)
        is = is || miscompiler.spoilt[i] == program;
    return is;
}

static kallima_status run_program(const struct kal_device_program *program,
                                  const struct kal_arguments *arguments)
{
    const kallima_status status = miscompiler.below->program_run(program, arguments);
    const bool turns = miscompiler.is_lucky && miscompiler.is_later;
    float *out = kal_memory_address(arguments->out[0]);
    if (is_spoilt(program) == turns)
        return status;
    if (miscompiler.slows)
        wait_ms(1);
    else
        out[0] += 1.0f;
    return status;
}

static struct counting counting;
static char said[1024]; // by the device's log

static void hear(void *user, kallima_status status, const char *sentence)
{
    (void)user;
    (void)status;
    snprintf(said, sizeof said, "%s", sentence);
}

// A CPU that spoils programs whose first radix is `radix`.
static kallima_device *open_device(int radix)
{
    const kallima_device_options options = { .log = hear,
                                             .allocator = counting_allocator(&counting),
                                             .threads = 1,
                                             .wisdom = "" };
    kallima_device *device = NULL;

    said[0] = '\0';
    assert_int_equal(kallima_device_open(&device, "cpu", &options), KALLIMA_OK);
    memset(&miscompiler, 0, sizeof miscompiler);
    miscompiler.below = device->ops;
    miscompiler.ops = *device->ops;
    miscompiler.radix = radix;
    miscompiler.ops.buffer_create = create_buffer;
    miscompiler.ops.program_create = create_program;
    miscompiler.ops.program_destroy = destroy_program;
    miscompiler.ops.program_run = run_program;
    device->ops = &miscompiler.ops;
    return device;
}

static void close_device(kallima_device *device)
{
    kallima_device_close(&device);
    assert_int_equal(counting.live, 0);
    assert_int_equal(counting.damaged, 0);
}

static const kallima_desc problem = { .rank = 1, .n = { 240 }, .batch = 20 };
static const kallima_tune_options shortly = { .seconds = 0.05 };

static int64_t count_entries(kallima_device *device, int32_t kind)
{
    const kallima_wisdom_filter filter = { .kind = kind };
    const kallima_wisdom *wisdom = kallima_device_get_wisdom(device);
    int64_t count = 0;
    for (int64_t i = 0; (i = kallima_wisdom_find(wisdom, &filter, i)) >= 0; i++)
        count++;
    return count;
}

// The recipe that plans follow, as text of at most 200 characters.
static void get_recipe(kallima_device *device, int planning, char text[200])
{
    const kallima_plan_options options = { .planning = planning };
    kallima_plan *plan = NULL;
    assert_int_equal(kallima_plan_create(&plan, device, &problem, &options), KALLIMA_OK);
    assert_int_equal(kallima_plan_get_recipe(plan, text, 200, NULL), KALLIMA_OK);
    kallima_plan_destroy(&plan);
}

// A device that spoils the first radix of the recipe that the planner chooses, which goes
// to `fixed`.
static kallima_device *open_against_default(char fixed[200])
{
    kallima_device *device = open_device(0);
    get_recipe(device, KALLIMA_PLANNING_FIXED, fixed);
    close_device(device);
    return open_device(atoi(strpbrk(fixed, "0123456789")));
}

// What a report heard.
struct heard {
    int count, ends_at;
    char best[200]; // the last that was faster
    bool has_wrong;
    int known;
};

static int32_t listen(void *user, const kallima_tune_candidate *c)
{
    struct heard *heard = user;
    assert_true(c->predicted_ns > 0 && c->measured_ns >= 0);
    assert_true(strlen(c->decision) > 0);
    heard->has_wrong = heard->has_wrong || strcmp(c->fate, "wrong") == 0;
    heard->known += strcmp(c->fate, "known") == 0;
    if (strcmp(c->fate, "faster") == 0)
        snprintf(heard->best, sizeof heard->best, "%s", c->recipe);
    return ++heard->count == heard->ends_at;
}

static void what_wins_is_kept_and_followed(void **state)
{
    struct heard heard = { 0 };
    kallima_tune_options options = shortly;
    kallima_tune_result result;
    char tuned[200], fixed[200];
    kallima_device *device = open_device(0);

    (void)state;
    options.report = listen;
    options.user = &heard;
    get_recipe(device, KALLIMA_PLANNING_FIXED, fixed);
    assert_int_equal(kallima_tune(device, &problem, &options, &result), KALLIMA_OK);
    assert_int_equal(count_entries(device, KALLIMA_WISDOM_PLAN), 1);
    assert_int_equal(count_entries(device, KALLIMA_WISDOM_BAD), 0);
    get_recipe(device, KALLIMA_PLANNING_WISDOM_ONLY, tuned);
    // The winner of the search, unless the default was as fast in the end.
    assert_true(strcmp(tuned, heard.best) == 0 || strcmp(tuned, fixed) == 0);
    assert_true(result.tuned_ns > 0 && result.tuned_ns <= result.default_ns);
    assert_true(result.tried >= 1 && result.considered >= result.tried);
    assert_true(heard.count >= result.tried);
    assert_int_equal(result.wrong, 0);
    assert_int_equal(result.batch, problem.batch);
    close_device(device);
}

static void what_is_wrong_never_wins_and_is_remembered(void **state)
{
    struct heard heard = { 0 }, again = { 0 };
    kallima_tune_options options = shortly;
    kallima_tune_result result, second;
    char tuned[200], start[100];
    kallima_device *device = open_against_default(tuned);

    (void)state;
    snprintf(start, sizeof start, "(%d.", miscompiler.radix);
    options.seconds = 2.0; // all neighbours of something right
    options.report = listen;
    options.user = &heard;
    assert_int_equal(kallima_tune(device, &problem, &options, &result), KALLIMA_OK);
    assert_true(result.wrong > 0 && heard.has_wrong);
    assert_int_equal(count_entries(device, KALLIMA_WISDOM_BAD), result.wrong);
    assert_non_null(strstr(said, "wrong"));
    get_recipe(device, KALLIMA_PLANNING_DEFAULT, tuned);
    assert_null(strstr(tuned, start));

    options.user = &again;
    assert_int_equal(kallima_tune(device, &problem, &options, &second), KALLIMA_OK);
    assert_true(again.has_wrong);
    // None of them ran again: what was wrong now is new.
    assert_int_equal(count_entries(device, KALLIMA_WISDOM_BAD),
                     result.wrong + second.wrong);
    close_device(device);
}

static void a_device_that_is_always_wrong_is_named(void **state)
{
    kallima_tune_result result;
    kallima_device *device = open_device(ALL_RADICES);

    (void)state;
    assert_int_equal(kallima_tune(device, &problem, &shortly, &result), KALLIMA_E_DEVICE);
    assert_non_null(strstr(kallima_last_error(), "none computes the problem"));
    assert_non_null(strstr(kallima_last_error(), ", 0 refused"));
    assert_int_equal(count_entries(device, KALLIMA_WISDOM_PLAN), 0);
    assert_true(count_entries(device, KALLIMA_WISDOM_BAD) > 0);
    assert_true(result.tuned_ns == 0);
    close_device(device);
}

// It computes nothing, but its plans are built ahead on several threads.
static void a_device_that_computes_nothing_is_named(void **state)
{
    static const char *const selectors[] = { "nullcuda", "nullopencl", "null" };
    const kallima_device_options options = { .allocator = counting_allocator(&counting),
                                             .kernel_cache = "",
                                             .wisdom = "" };
    const kallima_tune_options until = { .seconds = 0.2 };

    (void)state;
    for (size_t i = 0; i < KAL_COUNT(selectors); i++) {
        kallima_device *device = NULL;
        row_ran();
        assert_int_equal(kallima_device_open(&device, selectors[i], &options),
                         KALLIMA_OK);
        if (kallima_tune(device, &problem, &until, NULL) != KALLIMA_E_DEVICE)
            row_fail("%s: %s", selectors[i], kallima_last_error());
        if (count_entries(device, KALLIMA_WISDOM_PLAN) != 0)
            row_fail("%s: a plan is kept", selectors[i]);
        close_device(device);
    }
    ROWS_FINISH();
}

static void kernels_are_tuned(void **state)
{
    const kallima_device_options options = { .allocator = counting_allocator(&counting),
                                             .wisdom = "" };
    const kallima_desc short_lines = { .rank = 1, .n = { 16 }, .batch = 100 };
    struct heard heard = { .ends_at = 24 };
    const kallima_tune_options few = { .effort = KALLIMA_EFFORT_EXHAUSTIVE,
                                       .report = listen,
                                       .user = &heard };
    kallima_tune_result result;
    kallima_device *device = NULL;

    (void)state;
    if (kallima_device_open(&device, "opencl:0", &options) != KALLIMA_OK)
        skip();
    assert_int_equal(kallima_tune(device, &short_lines, &few, &result), KALLIMA_OK);
    assert_true(result.tried > 1 && result.wrong == 0);
    assert_true(result.tuned_ns > 0 && result.tuned_ns <= result.default_ns);
    assert_int_equal(count_entries(device, KALLIMA_WISDOM_PLAN), 1);
    close_device(device);
}

// What passes take is known of earlier tuning, here pretended to be a thousand times as long
// for all but the default's: their plans are not tried again.
static void passes_are_measured_once(void **state)
{
    const kallima_device_options options = { .allocator = counting_allocator(&counting),
                                             .wisdom = "" };
    const kallima_desc short_lines = { .rank = 1, .n = { 16 }, .batch = 100 };
    struct heard heard[2] = { { .ends_at = 1 }, { .ends_at = 24 } };
    struct heard again = { .ends_at = 24 };
    kallima_tune_options few = { .effort = KALLIMA_EFFORT_EXHAUSTIVE, .report = listen };
    kallima_tune_result result;
    kallima_device *device[3] = { NULL, NULL, NULL };
    const kallima_wisdom_filter passes = { .kind = KALLIMA_WISDOM_PASS };
    kallima_wisdom_entry entry, first;

    (void)state;
    for (int i = 0; i < 3; i++) {
        if (kallima_device_open(&device[i], "opencl:0", &options) != KALLIMA_OK)
            skip();
    }
    for (int i = 0; i < 2; i++) {
        few.user = &heard[i];
        assert_int_equal(kallima_tune(device[i], &short_lines, &few, NULL), KALLIMA_OK);
    }
    assert_int_equal(count_entries(device[0], KALLIMA_WISDOM_PASS), 1);
    const kallima_wisdom *least = kallima_device_get_wisdom(device[0]);
    const kallima_wisdom *more = kallima_device_get_wisdom(device[1]);
    assert_int_equal(
        kallima_wisdom_get_entry(least, kallima_wisdom_find(least, &passes, 0), &first),
        KALLIMA_OK);
    for (int64_t i = 0; (i = kallima_wisdom_find(more, &passes, i)) >= 0; i++) {
        assert_int_equal(kallima_wisdom_get_entry(more, i, &entry), KALLIMA_OK);
        entry.time_ns *= strcmp(entry.key, first.key) == 0 ? 1.0 : 1000.0;
        pretend_add(kallima_device_get_wisdom(device[2]), entry);
    }
    few.user = &again;
    assert_int_equal(kallima_tune(device[2], &short_lines, &few, &result), KALLIMA_OK);
    assert_true(again.known > 0);
    for (int i = 0; i < 3; i++)
        kallima_device_close(&device[i]);
}

static void a_report_ends_the_search(void **state)
{
    struct heard heard = { .ends_at = 3 };
    const kallima_tune_options options = { .effort = KALLIMA_EFFORT_EXHAUSTIVE,
                                           .report = listen,
                                           .user = &heard };
    kallima_tune_result result;
    kallima_device *device = open_device(0);

    (void)state;
    assert_int_equal(kallima_tune(device, &problem, &options, &result), KALLIMA_OK);
    assert_int_equal(heard.count, 3);
    assert_int_equal(count_entries(device, KALLIMA_WISDOM_PLAN), 1);
    close_device(device);
}

// Takes all the time there is when something was faster.
static int32_t waste_time(void *user, const kallima_tune_candidate *c)
{
    int *faster = user;
    if (strcmp(c->fate, "faster") != 0 || ++*faster < 2)
        return 0;
    wait_ms(1500);
    return 1;
}

// Without time to confirm the winner, the default stays, with the time that it took.
static void what_is_not_confirmed_is_not_kept(void **state)
{
    int faster = 0;
    const kallima_tune_options options = { .effort = KALLIMA_EFFORT_PATIENT,
                                           .seconds = 1.5,
                                           .report = waste_time,
                                           .user = &faster };
    kallima_tune_result result;
    char tuned[200], fixed[200];
    kallima_device *device = open_against_default(fixed);

    (void)state;
    miscompiler.slows = true;
    assert_int_equal(kallima_tune(device, &problem, &options, &result), KALLIMA_OK);
    assert_int_equal(faster, 2);
    assert_true(result.default_ns > 0 && result.tuned_ns == result.default_ns);
    get_recipe(device, KALLIMA_PLANNING_WISDOM_ONLY, tuned);
    assert_string_equal(tuned, fixed);
    close_device(device);
}

static int32_t stay_where_it_is(void *user, const kallima_tune_candidate *c)
{
    int *faster = user;
    *faster += strcmp(c->fate, "faster") == 0;
    miscompiler.is_later = false;
    return *faster == 2;
}

// What is faster in some pages and slower in others is not faster.
static void what_was_lucky_is_not_kept(void **state)
{
    int faster = 0;
    const kallima_tune_options options = { .effort = KALLIMA_EFFORT_PATIENT,
                                           .report = stay_where_it_is,
                                           .user = &faster };
    kallima_tune_result result;
    char tuned[200], fixed[200];
    kallima_device *device = open_against_default(fixed);

    (void)state;
    miscompiler.slows = miscompiler.is_lucky = true;
    assert_int_equal(kallima_tune(device, &problem, &options, &result), KALLIMA_OK);
    assert_int_equal(faster, 2);
    assert_true(miscompiler.is_later);
    assert_true(result.default_ns > 0 && result.tuned_ns == result.default_ns);
    get_recipe(device, KALLIMA_PLANNING_WISDOM_ONLY, tuned);
    assert_string_equal(tuned, fixed);
    close_device(device);
}

// A compiler may take longer than the budget: the default is measured all the same.
static void the_first_plan_has_its_time(void **state)
{
    kallima_tune_result result;
    kallima_device *device = open_device(0);

    (void)state;
    miscompiler.build_ms = 200;
    assert_int_equal(kallima_tune(device, &problem, &shortly, &result), KALLIMA_OK);
    assert_true(result.default_ns > 0);
    assert_int_equal(count_entries(device, KALLIMA_WISDOM_PLAN), 1);
    close_device(device);
}

static void memory_is_kept_to(void **state)
{
    const kallima_desc many = { .rank = 1, .n = { 240 }, .batch = 100000 };
    kallima_tune_options options = shortly;
    kallima_tune_result result;
    kallima_wisdom_entry entry;
    kallima_device *device = open_device(0);

    (void)state;
    options.bytes = 1 << 20;
    assert_int_equal(kallima_tune(device, &many, &options, &result), KALLIMA_OK);
    assert_true(result.batch >= 1 && result.batch < many.batch / 10);
    // What was learnt is learnt for the whole problem, and its time is.
    assert_int_equal(
        kallima_wisdom_get_entry(kallima_device_get_wisdom(device), 0, &entry),
        KALLIMA_OK);
    const double whole_ns = result.tuned_ns * (double)many.batch / (double)result.batch;
    assert_true(fabs(entry.time_ns - whole_ns) <= 1e-3);
    const kallima_plan_options known = { .planning = KALLIMA_PLANNING_WISDOM_ONLY,
                                         .without_workspace = 1 };
    kallima_plan *plan = NULL;
    assert_int_equal(kallima_plan_create(&plan, device, &many, &known), KALLIMA_OK);
    kallima_plan_destroy(&plan);
    options.bytes = 100;
    assert_int_equal(kallima_tune(device, &many, &options, &result), KALLIMA_E_MEMORY);
    close_device(device);
}

static void a_plan_with_an_effort_is_tuned_once(void **state)
{
    const kallima_plan_options patient = { .effort = KALLIMA_EFFORT_PATIENT };
    const kallima_plan_options measured = { .effort = KALLIMA_EFFORT_MEASURE };
    const kallima_plan_options known = { .planning = KALLIMA_PLANNING_WISDOM_ONLY,
                                         .effort = KALLIMA_EFFORT_PATIENT };
    const kallima_plan_options lazy = { .effort = KALLIMA_EFFORT_COUNT };
    kallima_device *device = open_device(0);
    kallima_plan *plan = NULL;
    kallima_wisdom_entry first, second;

    (void)state;
    assert_int_equal(kallima_plan_create(&plan, device, &problem, &known),
                     KALLIMA_E_WISDOM);
    assert_int_equal(count_entries(device, KALLIMA_WISDOM_PLAN), 0);
    assert_int_equal(kallima_plan_create(&plan, device, &problem, &measured), KALLIMA_OK);
    kallima_plan_destroy(&plan);
    const kallima_wisdom *wisdom = kallima_device_get_wisdom(device);
    assert_int_equal(count_entries(device, KALLIMA_WISDOM_PLAN), 1);
    assert_int_equal(count_entries(device, KALLIMA_WISDOM_FACT), 5);
    assert_int_equal(kallima_wisdom_get_entry(wisdom, 0, &first), KALLIMA_OK);
    assert_int_equal(first.effort, KALLIMA_EFFORT_MEASURE);
    const double time_ns = first.time_ns;

    // The same again is not measured again, less neither.
    assert_int_equal(kallima_plan_create(&plan, device, &problem, &measured), KALLIMA_OK);
    kallima_plan_destroy(&plan);
    assert_int_equal(kallima_wisdom_get_entry(wisdom, 0, &second), KALLIMA_OK);
    assert_true(second.time_ns == time_ns);
    assert_int_equal(kallima_plan_create(&plan, device, &problem, &lazy),
                     KALLIMA_E_ARGUMENT);
    assert_null(plan);
    assert_int_equal(kallima_plan_create(&plan, device, &problem, &patient), KALLIMA_OK);
    kallima_plan_destroy(&plan);
    bool has_patient = false;
    for (int64_t i = 0; i < kallima_wisdom_get_count(wisdom); i++) {
        assert_int_equal(kallima_wisdom_get_entry(wisdom, i, &second), KALLIMA_OK);
        has_patient = has_patient || second.effort == KALLIMA_EFFORT_PATIENT;
    }
    assert_true(has_patient);
    close_device(device);
}

static void bad_arguments_are_refused(void **state)
{
    static const struct {
        kallima_tune_options options;
        const char *word; // of the sentence
    } rows[] = {
        { { .effort = -1 }, "effort = -1" },
        { { .effort = KALLIMA_EFFORT_COUNT }, "effort = 4" },
        { { .seconds = -1.0 }, "seconds = -1" },
        { { .seconds = NAN }, "seconds = " },
        { { .seconds = INFINITY }, "seconds = inf" },
    };
    const kallima_desc nonsense = { .rank = 0 };
    kallima_device *device = open_device(0);

    (void)state;
    for (size_t i = 0; i < KAL_COUNT(rows); i++) {
        row_ran();
        if (kallima_tune(device, &problem, &rows[i].options, NULL) !=
                KALLIMA_E_ARGUMENT ||
            !strstr(kallima_last_error(), rows[i].word))
            row_fail("%s: %s", rows[i].word, kallima_last_error());
    }
    assert_int_equal(kallima_tune(NULL, &problem, NULL, NULL), KALLIMA_E_ARGUMENT);
    assert_int_equal(kallima_tune(device, NULL, NULL, NULL), KALLIMA_E_ARGUMENT);
    assert_int_equal(kallima_tune(device, &nonsense, NULL, NULL), KALLIMA_E_ARGUMENT);
    assert_int_equal(kallima_tune(device, &problem, &shortly, NULL), KALLIMA_OK);
    close_device(device);
    ROWS_FINISH();
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_wins_is_kept_and_followed),
        cmocka_unit_test(what_is_wrong_never_wins_and_is_remembered),
        cmocka_unit_test(a_device_that_is_always_wrong_is_named),
        cmocka_unit_test(a_device_that_computes_nothing_is_named),
        cmocka_unit_test(kernels_are_tuned),
        cmocka_unit_test(passes_are_measured_once),
        cmocka_unit_test(a_report_ends_the_search),
        cmocka_unit_test(what_is_not_confirmed_is_not_kept),
        cmocka_unit_test(what_was_lucky_is_not_kept),
        cmocka_unit_test(the_first_plan_has_its_time),
        cmocka_unit_test(memory_is_kept_to),
        cmocka_unit_test(a_plan_with_an_effort_is_tuned_once),
        cmocka_unit_test(bad_arguments_are_refused),
    };
    return cmocka_run_group_tests_name("tune-tuner", tests, NULL, NULL);
}
