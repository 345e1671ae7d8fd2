// SPDX-License-Identifier: MIT
// Candidates are compared with a reference that is itself compared with the definition: right
// ones pass, and whatever a miscompiling device may do to a result is found, on the CPU and
// on OpenCL, and in the candidate that it does it to.
#include <kallima/kallima.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../counting.h"
#include "../faulty.h"
#include "../oracle.h"
#include "../problems.h"
#include "../rows.h"
#include "../view.h"
#include "math/number.h"
#include "tune/probe.h"

static const kallima_desc problems[] = {
    { .rank = 1, .n = { 1 } },
    { .rank = 1, .n = { 16 }, .batch = 20 },
    { .rank = 1, .n = { 100 }, .precision = KALLIMA_F64, .batch = 3 },
    { .rank = 1, .n = { 31 }, .in.format = KALLIMA_PLANAR, .out.format = KALLIMA_PLANAR },
    { .rank = 1,
      .n = { 60 },
      .batch = 4,
      .scale = 1.0 / 3,
      .in.stride = { 3 },
      .in.batch_stride = 200,
      .out.stride = { 2 },
      .out.batch_stride = 130,
      .out.offset = 7 },
    { .rank = 1, .n = { 64 }, .placement = KALLIMA_IN_PLACE, .batch = 5 },
    { .rank = 1, .n = { 2027 }, .direction = KALLIMA_INVERSE },
    { .rank = 1, .n = { 96 }, .kind = KALLIMA_R2C, .batch = 7 },
    { .rank = 1, .n = { 45 }, .kind = KALLIMA_C2R, .precision = KALLIMA_F64 },
    { .rank = 1, .n = { 128 }, .kind = KALLIMA_C2R, .destroy_input = 1, .batch = 3 },
    { .rank = 2, .n = { 12, 10 }, .precision = KALLIMA_F64, .destroy_input = 1 },
    { .rank = 2, .n = { 30, 14 }, .kind = KALLIMA_R2C, .out.format = KALLIMA_PLANAR },
    { .rank = 2, .n = { 16, 18 }, .kind = KALLIMA_C2R, .placement = KALLIMA_IN_PLACE },
    { .rank = 2,
      .n = { 8, 20 },
      .kind = KALLIMA_R2C,
      .placement = KALLIMA_IN_PLACE,
      .batch = 3 },
    { .rank = 3, .n = { 4, 5, 6 }, .kind = KALLIMA_C2R, .batch = 2 },
};

enum { PROBLEMS = sizeof problems / sizeof problems[0], SENTENCE = 1100 };

static const struct kal_budget no_limit;

// The last sentence that a device logged.
struct journal {
    char sentence[SENTENCE];
    int count;
};

static void note(void *user, kallima_status status, const char *sentence)
{
    struct journal *journal = (struct journal *)user;
    (void)status;
    snprintf(journal->sentence, sizeof journal->sentence, "%s", sentence);
    journal->count++;
}

// NULL where there is no such device.
static kallima_device *open_faulty(const char *selector, struct journal *journal,
                                   const char *kernels)
{
    const kallima_device_options options = {
        .log = note, .log_user = journal, .threads = 2, .kernel_cache = kernels
    };
    const bool is_cpu = strncmp(selector, "cpu", 3) == 0;
    kallima_device *device = NULL;

    *journal = (struct journal){ .count = 0 };
    if (kallima_device_open(&device, selector, &options) != KALLIMA_OK) {
        if (is_cpu)
            row_fail("%s: %s", selector, kallima_last_error());
        return NULL;
    }
    faulty_wrap(device);
    return device;
}

static struct kal_problem make_problem(const kallima_desc *desc)
{
    struct kal_problem problem;
    if (kal_problem_init(&problem, NULL, desc) != KALLIMA_OK)
        fail_msg("%s", kallima_last_error());
    return problem;
}

// A trial and two plans for its problem.
struct bench {
    struct kal_trial *trial;
    kallima_plan *plan, *other;
};

static bool bench_init(struct bench *bench, kallima_device *device,
                       const kallima_desc *desc)
{
    const struct kal_problem problem = make_problem(desc);
    *bench = (struct bench){ .trial = NULL };
    row_ran();
    if (kal_trial_create(&bench->trial, device, &problem, &no_limit) == KALLIMA_OK &&
        kallima_plan_create(&bench->plan, device, desc, NULL) == KALLIMA_OK &&
        kallima_plan_create(&bench->other, device, desc, NULL) == KALLIMA_OK)
        return true;
    row_fail("%s", kallima_last_error());
    return false;
}

static void bench_clear(struct bench *bench)
{
    faulty_set(NULL, NULL, FAULT_NONE);
    kallima_plan_destroy(&bench->plan);
    kallima_plan_destroy(&bench->other);
    kal_trial_destroy(&bench->trial);
}

// A word of the reason for each fault.
static const char *const reasons[FAULT_COUNT] = {
    [FAULT_ELEMENT] = "error",    [FAULT_SLIGHT] = "error",
    [FAULT_NAN] = "finite",       [FAULT_INFINITY] = "finite",
    [FAULT_SWAP] = "error",       [FAULT_EXCHANGE] = "error",
    [FAULT_UNWRITTEN] = "finite", [FAULT_BEHIND] = "output",
    [FAULT_BEFORE] = "output",    [FAULT_GAP] = "output",
    [FAULT_INPUT] = "the input",  [FAULT_BESIDE] = "the input",
};

static void expect(struct kal_trial *trial, const kallima_plan *plan, enum fault fault,
                   const char *what)
{
    const bool is_right = fault == FAULT_NONE;
    struct kal_verdict verdict;
    char problem[600];
    struct kal_text text;

    row_ran();
    kal_text_init(&text, NULL);
    kal_problem_print(&text, &trial->problem);
    snprintf(problem, sizeof problem, "%s", text.data);
    kal_text_clear(&text);
    if (kal_trial_check(trial, plan, &verdict) != KALLIMA_OK)
        row_fail("%s: %s: %s", what, kallima_last_error(), problem);
    else if (verdict.is_right != is_right || (verdict.reason[0] == '\0') != is_right ||
             (!is_right && !strstr(verdict.reason, reasons[fault])))
        row_fail("%s: is %s, error %.3g, bound %.3g: \"%s\": %s", what,
                 verdict.is_right ? "right" : "wrong", verdict.error, verdict.bound,
                 verdict.reason, problem);
}

// --- right and wrong candidates ----------------------------------------------------------

static void check_faults(struct bench *bench)
{
    for (int fault = FAULT_NONE; fault < FAULT_COUNT; fault++) {
        if (!faulty_applies(&bench->trial->problem, (enum fault)fault))
            continue;
        faulty_set(bench->trial, bench->plan, (enum fault)fault);
        expect(bench->trial, bench->plan, (enum fault)fault, fault_names[fault]);
        ROW_CHECK(faulty_count() == (fault != FAULT_NONE));
        expect(bench->trial, bench->other, FAULT_NONE, "the other plan");
    }
}

static void check_device(const char *selector)
{
    struct journal journal;
    kallima_device *device = open_faulty(selector, &journal, NULL);
    if (!device)
        return;
    for (int i = 0; i < PROBLEMS; i++) {
        struct bench bench;
        if (bench_init(&bench, device, &problems[i]))
            check_faults(&bench);
        bench_clear(&bench);
    }
    kallima_device_close(&device);
}

static void faults_on_the_cpu_are_found(void **state)
{
    (void)state;
    check_device("cpu");
    ROWS_FINISH();
}

// Batches of more transforms than differ: dense ones, and layouts with gaps, columns, a
// direction of their own, and inputs that share memory.
static const kallima_desc long_batches[] = {
    { .rank = 1, .n = { 20000 }, .batch = 17 },
    { .rank = 1, .n = { 16 }, .batch = 10000, .precision = KALLIMA_F64 },
    { .rank = 1, .n = { 2 }, .batch = 70001, .out.batch_stride = 3 },
    { .rank = 1, .n = { 1000 }, .placement = KALLIMA_IN_PLACE, .batch = 300 },
    { .rank = 1,
      .n = { 20000 },
      .batch = 15,
      .scale = 0.1,
      .in.format = KALLIMA_PLANAR,
      .out.format = KALLIMA_PLANAR },
    { .rank = 1, .n = { 20001 }, .kind = KALLIMA_R2C, .batch = 16 },
    { .rank = 1, .n = { 4096 }, .kind = KALLIMA_C2R, .destroy_input = 1, .batch = 70 },
    { .rank = 1,
      .n = { 17000 },
      .batch = 15,
      .in.stride = { 2 },
      .in.batch_stride = 40000,
      .out.stride = { 3 },
      .out.batch_stride = 51001,
      .out.offset = 7 },
    { .rank = 1,
      .n = { 4096 },
      .batch = 64,
      .in.stride = { 64 },
      .in.batch_stride = 1,
      .in.format = KALLIMA_PLANAR,
      .out.stride = { 70 },
      .out.batch_stride = 1 },
    { .rank = 1,
      .n = { 20000 },
      .batch = 15,
      .in = { .stride = { -1 }, .batch_stride = -20000, .offset = 299999 },
      .out = { .stride = { -1 }, .batch_stride = -20000, .offset = 299999 } },
    { .rank = 2,
      .n = { 64, 96 },
      .kind = KALLIMA_R2C,
      .placement = KALLIMA_IN_PLACE,
      .batch = 40 },
    { .rank = 2,
      .n = { 96, 64 },
      .kind = KALLIMA_C2R,
      .placement = KALLIMA_IN_PLACE,
      .batch = 33 },
    { .rank = 3,
      .n = { 5, 50, 60 },
      .batch = 20,
      .out.stride = { 3510, 70, 1 },
      .out.batch_stride = 17570 },
    { .rank = 1, .n = { 20000 }, .in.batch_stride = 5000, .batch = 16 },
};

enum { BATCHES = sizeof long_batches / sizeof long_batches[0] };

// Every fault, in the first transform that repeats another, and in the last one.
static void check_behind_period(struct bench *bench)
{
    const struct kal_problem *p = &bench->trial->problem;
    const int64_t places[] = { kal_min(bench->trial->reference.period, p->batch - 1),
                               -1 };

    expect(bench->trial, bench->plan, FAULT_NONE, "long batch");
    for (int i = 0; i < 2; i++) {
        faulty_aim(places[i], 1);
        for (int fault = FAULT_ELEMENT; fault < FAULT_COUNT; fault++) {
            if (!faulty_applies(p, (enum fault)fault))
                continue;
            faulty_set(bench->trial, bench->plan, (enum fault)fault);
            expect(bench->trial, bench->plan, (enum fault)fault, fault_names[fault]);
            ROW_CHECK(faulty_count() == 1);
        }
    }
    faulty_set(NULL, NULL, FAULT_NONE);
    expect(bench->trial, bench->plan, FAULT_NONE, "long batch, after faults");
}

static void faults_behind_the_period_are_found(void **state)
{
    struct journal journal;
    kallima_device *device = open_faulty("cpu", &journal, NULL);

    (void)state;
    for (int i = 0; i < BATCHES && device; i++) {
        struct bench bench;
        if (bench_init(&bench, device, &long_batches[i])) {
            const bool repeats = kal_array_is_distinct(
                &bench.trial->problem.in, long_batches[i].rank, long_batches[i].batch);
            ROW_CHECK((bench.trial->reference.period < long_batches[i].batch) == repeats);
            check_behind_period(&bench);
        }
        bench_clear(&bench);
    }
    kallima_device_close(&device);
    ROWS_FINISH();
}

// Transforms that changed places are found at any distance but multiples of the period.
static void transforms_that_changed_places_are_found(void **state)
{
    static const kallima_desc batch = { .rank = 1, .n = { 500 }, .batch = 700 };
    struct journal journal;
    kallima_device *device = open_faulty("cpu", &journal, NULL);
    struct bench bench;

    (void)state;
    ROW_CHECK(bench_init(&bench, device, &batch));
    const int64_t period = bench.trial->reference.period;
    ROW_CHECK(period > 200 && 2 * period < 700);
    for (int64_t distance = 1; distance < 700; distance += distance < 20 ? 1 : 17) {
        const bool is_seen = distance % period != 0;
        faulty_aim(-1, distance);
        faulty_set(bench.trial, bench.plan, FAULT_EXCHANGE);
        expect(bench.trial, bench.plan, is_seen ? FAULT_EXCHANGE : FAULT_NONE,
               "exchange");
    }
    for (int64_t distance = period; distance < 700; distance += period) {
        faulty_aim(-1, distance);
        faulty_set(bench.trial, bench.plan, FAULT_EXCHANGE);
        expect(bench.trial, bench.plan, FAULT_NONE, "exchange of equal transforms");
    }
    bench_clear(&bench);
    kallima_device_close(&device);
    ROWS_FINISH();
}

// Devices err by powers of two, and by the limits of grids: no multiple of a period is either.
static void periods_divide_no_power_of_two(void **state)
{
    (void)state;
    for (int64_t n = 1; n < 1 << 24; n = 3 * n / 2 + 1) {
        const kallima_desc many = { .rank = 1, .n = { n }, .batch = 1 << 20 };
        const struct kal_problem problem = make_problem(&many);
        const int64_t period = kal_reference_period(&problem);
        ROW_CHECK(period >= 7 && kal_least_prime(period) == period &&
                  65535 % period != 0);
        ROW_CHECK(period * n >= 100000 && (period == 7 || period * n < 220000));
    }
    ROWS_FINISH();
}

static void faults_on_opencl_are_found(void **state)
{
    (void)state;
    check_device("opencl:0");
    row_ran(); // there may be no such device
    ROWS_FINISH();
}

static void plans_of_random_problems_are_right(void **state)
{
    enum { TIMES = 150, POINTS = 3000 };
    static const enum fault some[] = { FAULT_ELEMENT, FAULT_SWAP, FAULT_GAP, FAULT_INPUT,
                                       FAULT_BEHIND };
    struct random r = { 20 };
    struct journal journal;
    kallima_device *device = open_faulty("cpu", &journal, NULL);

    (void)state;
    for (int i = 0; i < TIMES && device; i++) {
        const kallima_desc desc = problem_random(&r, POINTS);
        const enum fault fault = some[random_between(&r, 0, 4)];
        struct bench bench;
        if (bench_init(&bench, device, &desc)) {
            expect(bench.trial, bench.plan, FAULT_NONE, "random");
            faulty_set(bench.trial, bench.plan, fault);
            if (faulty_applies(&bench.trial->problem, fault))
                expect(bench.trial, bench.plan, fault, fault_names[fault]);
        }
        bench_clear(&bench);
    }
    kallima_device_close(&device);
    ROWS_FINISH();
}

// In f64 on the scalar CPU the candidate may be the reference's own plan: the definition has
// proved that.
static void one_number_among_millions_is_found(void **state)
{
    static const kallima_desc large[] = {
        { .rank = 1, .n = { 1 << 20 } },
        { .rank = 1, .n = { 1 << 10 }, .batch = 1 << 11 },
        { .rank = 1, .n = { 1 << 18 }, .precision = KALLIMA_F64 },
    };
    struct journal journal;

    (void)state;
    for (size_t i = 0; i < sizeof large / sizeof large[0]; i++) {
        kallima_device *device = open_faulty("cpu", &journal, NULL);
        struct bench bench;
        if (bench_init(&bench, device, &large[i])) {
            expect(bench.trial, bench.plan, FAULT_NONE, "large");
            for (int fault = FAULT_ELEMENT; fault <= FAULT_GAP; fault++) {
                if (fault == FAULT_SLIGHT ||
                    !faulty_applies(&bench.trial->problem, (enum fault)fault))
                    continue;
                faulty_set(bench.trial, bench.plan, (enum fault)fault);
                expect(bench.trial, bench.plan, (enum fault)fault, fault_names[fault]);
            }
        }
        bench_clear(&bench);
        kallima_device_close(&device);
    }
    ROWS_FINISH();
}

// A glance at large dense arrays is at a sample: what is wrong there is checked whole. A single
// number elsewhere it does not see, whatever is small or has gaps it sees all of.
static void a_glance_sees_a_sample(void **state)
{
    enum { N = 1024, LARGE = 5000, SMALL = 3000, ALL = -1 };
    static const struct {
        kallima_desc desc;
        enum fault fault;
        int64_t transform; // ALL: the last, which is always in the sample
        bool is_right, is_whole;
    } rows[] = {
        { { .rank = 1, .n = { N }, .batch = LARGE }, FAULT_NONE, ALL, true, false },
        { { .rank = 1, .n = { N }, .batch = LARGE }, FAULT_SLIGHT, ALL, false, true },
        { { .rank = 1, .n = { N }, .batch = LARGE }, FAULT_ELEMENT, ALL, false, true },
        { { .rank = 1, .n = { N }, .batch = LARGE }, FAULT_ELEMENT, 1, false, true },
        { { .rank = 1, .n = { N }, .batch = LARGE }, FAULT_INPUT, ALL, true, false },
        { { .rank = 1, .n = { N }, .batch = SMALL }, FAULT_NONE, ALL, true, true },
        { { .rank = 1, .n = { N }, .batch = SMALL }, FAULT_INPUT, ALL, false, true },
        { { .rank = 1, .n = { N }, .batch = 2 * LARGE, .out.format = KALLIMA_PLANAR },
          FAULT_NONE,
          ALL,
          true,
          false },
        { { .rank = 1, .n = { N }, .batch = LARGE, .placement = KALLIMA_IN_PLACE },
          FAULT_NAN,
          ALL,
          false,
          true },
        { { .rank = 1, .n = { N }, .batch = 2 * LARGE, .kind = KALLIMA_R2C },
          FAULT_NONE,
          ALL,
          true,
          false },
        { { .rank = 1, .n = { N }, .batch = LARGE, .out.stride = { 2 } },
          FAULT_NONE,
          ALL,
          true,
          true },
    };
    struct journal journal;
    kallima_device *device = open_faulty("cpu", &journal, NULL);

    (void)state;
    for (size_t i = 0; device && i < KAL_COUNT(rows); i++) {
        struct kal_verdict verdict;
        struct bench bench;
        if (bench_init(&bench, device, &rows[i].desc)) {
            faulty_aim(rows[i].transform, 1);
            faulty_set(bench.trial, bench.plan, rows[i].fault);
            if (kal_trial_glance(bench.trial, bench.plan, &verdict) != KALLIMA_OK)
                row_fail("row %zu: %s", i, kallima_last_error());
            else if (verdict.is_right != rows[i].is_right ||
                     verdict.is_whole != rows[i].is_whole)
                row_fail("row %zu: right %d, whole %d, error %g of %g", i,
                         verdict.is_right, verdict.is_whole, verdict.error,
                         verdict.bound);
            // Whatever the glance did not see, the check does; once more it is on fresh input,
            // in place of one that was written to before.
            const bool is_fine =
                rows[i].fault == FAULT_NONE || rows[i].fault == FAULT_INPUT;
            if (is_fine)
                faulty_set(bench.trial, bench.plan, FAULT_NONE);
            verdict.is_right = false;
            for (int k = 0; k < 2 && !verdict.is_right; k++)
                ROW_CHECK(kal_trial_check(bench.trial, bench.plan, &verdict) ==
                          KALLIMA_OK);
            if (verdict.is_right != is_fine)
                row_fail("row %zu: checked whole: right %d", i, verdict.is_right);
        }
        faulty_aim(ALL, 1);
        bench_clear(&bench);
    }
    kallima_device_close(&device);
    ROWS_FINISH();
}

static void wrong_candidates_are_named_in_the_log(void **state)
{
    const kallima_desc desc = { .rank = 1, .n = { 64 } };
    const kallima_plan_options options = { .recipe = "local(4.16)" };
    struct kal_verdict verdict;
    struct journal journal;
    kallima_device *device = open_faulty("cpu", &journal, NULL);
    kallima_plan *plan = NULL;
    struct bench bench;

    (void)state;
    ROW_CHECK(bench_init(&bench, device, &desc));
    ROW_CHECK(kallima_plan_create(&plan, device, &desc, &options) == KALLIMA_OK);
    ROW_CHECK(kal_trial_check(bench.trial, plan, &verdict) == KALLIMA_OK);
    ROW_CHECK(verdict.is_right && journal.count == 0);
    ROW_CHECK(verdict.error > 0.0 && verdict.error < verdict.bound);
    ROW_CHECK(verdict.bound > oracle_bound(&desc) &&
              verdict.bound < 1.5 * oracle_bound(&desc));

    faulty_set(bench.trial, plan, FAULT_SWAP);
    ROW_CHECK(kal_trial_check(bench.trial, plan, &verdict) == KALLIMA_OK);
    ROW_CHECK(!verdict.is_right && verdict.error > verdict.bound && journal.count == 1);
    ROW_CHECK(strstr(journal.sentence, "local(4.16), for c2c f32 n=64") != NULL);
    ROW_CHECK(strstr(journal.sentence, verdict.reason) != NULL);
    kallima_plan_destroy(&plan);
    bench_clear(&bench);
    kallima_device_close(&device);
    ROWS_FINISH();
}

// What a compiler might do to one operation, one constant, one operand of a kernel.
static void miscompiled_kernels_are_found(void **state)
{
    static const char *const edits[][2] = {
        { "t18 = xr0 + xr4", "t18 = xr0 - xr4" },
        { "0.70710678", "0.70711678" },
        { "FMA(a.x, b.y, a.y * b.x)", "FMA(a.x, b.y, a.x * b.x)" },
    };
    const kallima_desc desc = { .rank = 1, .n = { 48 }, .batch = 9 };
    struct journal journal;
    kallima_device *device = open_faulty("opencl:0", &journal, "");
    struct bench bench;

    (void)state;
    row_ran(); // there may be no such device
    for (size_t i = 0; device && i < sizeof edits / sizeof edits[0]; i++) {
        kallima_plan *bad = NULL;
        ROW_CHECK(bench_init(&bench, device, &desc));
        faulty_miscompile(edits[i][0], edits[i][1]);
        ROW_CHECK(kallima_plan_create(&bad, device, &desc, NULL) == KALLIMA_OK);
        ROW_CHECK(faulty_count() > 0);
        expect(bench.trial, bad, FAULT_ELEMENT, edits[i][1]);
        expect(bench.trial, bench.other, FAULT_NONE, "the other plan");
        faulty_miscompile(NULL, NULL);
        kallima_plan_destroy(&bad);
        bench_clear(&bench);
    }
    kallima_device_close(&device);
    ROWS_FINISH();
}

static void check_input(const struct kal_trial *t)
{
    for (int i = 0; i < t->input.parts; i++) {
        const void *now = kal_memory_address(t->in[i].whole->memory);
        ROW_CHECK(memcmp(now, t->input.array[i], t->input.bytes) == 0);
    }
}

static void run_often(struct bench *bench)
{
    for (int k = 0; k < 3; k++)
        ROW_CHECK(kal_trial_run(bench->trial, bench->plan) == KALLIMA_OK);
}

static void check_restoring(struct bench *bench)
{
    struct kal_trial *t = bench->trial;
    expect(t, bench->plan, FAULT_NONE, "right");
    check_input(t);
    faulty_set(t, bench->plan, FAULT_INPUT);
    if (faulty_applies(&t->problem, FAULT_INPUT))
        expect(t, bench->plan, FAULT_INPUT, "input");
    check_input(t);
    faulty_set(NULL, NULL, FAULT_NONE);
    run_often(bench);
    ROW_CHECK(kal_trial_restore(t) == KALLIMA_OK);
    check_input(t);
    run_often(bench);
    expect(t, bench->plan, FAULT_NONE, "right after executions");
}

// What a wrong candidate did to the copy that is kept does not last.
static void check_kept(struct bench *bench)
{
    struct kal_trial *t = bench->trial;
    if (!t->kept[0])
        return;
    ROW_CHECK(kallima_buffer_write(t->kept[0], KAL_GUARD_BYTES, &(char){ 1 }, 1) ==
              KALLIMA_OK);
    faulty_set(t, bench->plan, FAULT_ELEMENT);
    expect(t, bench->plan, FAULT_ELEMENT, "element");
    faulty_set(NULL, NULL, FAULT_NONE);
    run_often(bench);
    expect(t, bench->plan, FAULT_NONE, "right after a wrong one");
    check_input(t);
}

// After a check, whatever it finds, and after executions that overwrite it.
static void the_input_is_restored(void **state)
{
    struct journal journal;
    kallima_device *device = open_faulty("cpu", &journal, NULL);

    (void)state;
    for (int i = 0; i < PROBLEMS && device; i++) {
        struct bench bench;
        if (bench_init(&bench, device, &problems[i]))
            check_restoring(&bench);
        if (bench.other)
            check_kept(&bench);
        bench_clear(&bench);
    }
    kallima_device_close(&device);
    ROWS_FINISH();
}

static void plans_for_other_problems_are_refused(void **state)
{
    const kallima_desc desc = { .rank = 2, .n = { 4, 8 } };
    const kallima_desc others[] = {
        { .rank = 2, .n = { 8, 4 } },
        { .rank = 2, .n = { 4, 8 }, .batch = 2 },
        { .rank = 2, .n = { 4, 8 }, .direction = KALLIMA_INVERSE },
        { .rank = 2, .n = { 4, 8 }, .precision = KALLIMA_F64 },
        { .rank = 2, .n = { 4, 8 }, .placement = KALLIMA_IN_PLACE },
    };
    struct journal journal;
    struct kal_verdict verdict;
    kallima_device *device = open_faulty("cpu", &journal, NULL);
    struct bench bench;

    (void)state;
    ROW_CHECK(bench_init(&bench, device, &desc));
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        kallima_plan *plan = NULL;
        ROW_CHECK(kallima_plan_create(&plan, device, &others[i], NULL) == KALLIMA_OK);
        ROW_CHECK(kal_trial_check(bench.trial, plan, &verdict) == KALLIMA_E_ARGUMENT);
        kallima_plan_destroy(&plan);
    }
    bench_clear(&bench);
    kallima_device_close(&device);
    ROWS_FINISH();
}

// Numbers stay in range for as many executions as a trial says.
static void numbers_stay_in_range(void **state)
{
    static const kallima_desc in_place[] = {
        { .rank = 1, .n = { 256 }, .placement = KALLIMA_IN_PLACE },
        { .rank = 1, .n = { 256 }, .placement = KALLIMA_IN_PLACE, .scale = 0x1p-8 },
        { .rank = 1, .n = { 256 }, .placement = KALLIMA_IN_PLACE, .scale = 0x1p-4 },
        { .rank = 1, .n = { 256 } },
    };
    struct journal journal;
    kallima_device *device = open_faulty("cpu", &journal, NULL);

    (void)state;
    for (int i = 0; i < 4; i++) {
        struct bench bench;
        ROW_CHECK(bench_init(&bench, device, &in_place[i]));
        const int64_t most = kal_trial_most_runs(bench.trial);
        ROW_CHECK(i < 2 ? most > 5 && most < 40 : most == INT64_MAX);
        for (int64_t k = 0; k < most && i < 2; k++)
            ROW_CHECK(kal_trial_run(bench.trial, bench.plan) == KALLIMA_OK);
        float last;
        memcpy(&last, (char *)kal_memory_address(bench.trial->in[0].inside.memory),
               sizeof last);
        ROW_CHECK(isnormal(last));
        bench_clear(&bench);
    }
    kallima_device_close(&device);
    ROWS_FINISH();
}

// --- budgets -----------------------------------------------------------------------------

static kallima_device *open_counted(struct counting *counting)
{
    const kallima_device_options options = { .allocator = counting_allocator(counting) };
    kallima_device *device = NULL;
    if (kallima_device_open(&device, "cpu", &options) != KALLIMA_OK)
        fail_msg("%s", kallima_last_error());
    return device;
}

static void check_budget(const kallima_desc *desc, uint64_t bytes)
{
    const struct kal_problem problem = make_problem(desc);
    const struct kal_budget budget = { .bytes = bytes };
    struct counting counting = { 0 };
    struct kal_trial *trial = NULL;
    kallima_device *device = open_counted(&counting);
    const long long before = counting.bytes;
    const kallima_status status = kal_trial_create(&trial, device, &problem, &budget);

    row_ran();
    if (status == KALLIMA_OK) {
        kallima_desc fewer = *desc;
        kallima_plan *plan = NULL;
        ROW_CHECK(trial->problem.batch + trial->left_out == problem.batch);
        ROW_CHECK(trial->bytes <= bytes);
        ROW_CHECK((uint64_t)(counting.bytes - before) <= bytes + sizeof *trial + 2048);
        fewer.batch = trial->problem.batch;
        const struct kal_problem want = make_problem(&fewer);
        ROW_CHECK(want.in.elements == trial->problem.in.elements &&
                  want.out.elements == trial->problem.out.elements);
        ROW_CHECK(kallima_plan_create(&plan, device, &fewer, NULL) == KALLIMA_OK);
        expect(trial, plan, FAULT_NONE, "fewer");
        kallima_plan_destroy(&plan);
    } else {
        ROW_CHECK(status == KALLIMA_E_MEMORY && !trial);
        ROW_CHECK(strstr(kallima_last_error(), "budget") != NULL);
    }
    kal_trial_destroy(&trial);
    kallima_device_close(&device);
    ROW_CHECK(counting.live == 0 && counting.damaged == 0);
}

static void budgets_of_bytes_are_kept(void **state)
{
    static const kallima_desc batches[] = {
        { .rank = 1, .n = { 64 }, .batch = 10000 },
        { .rank = 2, .n = { 20, 30 }, .kind = KALLIMA_R2C, .batch = 500 },
        { .rank = 1,
          .n = { 10 },
          .batch = 3000,
          .placement = KALLIMA_IN_PLACE,
          .in = { .stride = { -2 }, .batch_stride = 25, .offset = 20 },
          .out = { .stride = { -2 }, .batch_stride = 25, .offset = 20 } },
    };
    (void)state;
    for (int i = 0; i < 3; i++) {
        for (uint64_t bytes = 1 << 8; bytes <= 1 << 26; bytes *= 4)
            check_budget(&batches[i], bytes);
    }
    ROWS_FINISH();
}

static void as_much_of_a_batch_as_fits_is_tried(void **state)
{
    const kallima_desc desc = { .rank = 1, .n = { 64 }, .batch = 40000 };
    const struct kal_problem problem = make_problem(&desc);
    struct counting counting = { 0 };
    struct kal_trial *all = NULL, *fewer = NULL;
    kallima_device *device = open_counted(&counting);

    (void)state;
    ROW_CHECK(kal_trial_create(&all, device, &problem, &no_limit) == KALLIMA_OK);
    ROW_CHECK(all->left_out == 0 && all->problem.batch == 40000);
    const struct kal_budget half = { .bytes = all->bytes / 2 };
    ROW_CHECK(kal_trial_create(&fewer, device, &problem, &half) == KALLIMA_OK);
    ROW_CHECK(fewer->left_out > 19000 && fewer->left_out < 23000);
    kal_trial_destroy(&fewer);
    struct kal_problem destroying = problem;
    destroying.may_destroy_input = true; // a copy of the input is kept
    ROW_CHECK(kal_trial_create(&fewer, device, &destroying, &no_limit) == KALLIMA_OK);
    ROW_CHECK(fewer->bytes == all->bytes + all->input.bytes);
    kal_trial_destroy(&all);
    kal_trial_destroy(&fewer);
    kallima_device_close(&device);
    ROWS_FINISH();
}

static void running_out_of_memory_is_survived(void **state)
{
    enum { MOST = 400 };
    (void)state;
    for (int i = 4; i < PROBLEMS; i += 4) {
        const struct kal_problem problem = make_problem(&problems[i]);
        struct counting counting = { 0 };
        kallima_device *device = open_counted(&counting);
        const long long live = counting.live;
        kallima_status status = KALLIMA_E_MEMORY;
        for (long long k = 1; status != KALLIMA_OK && k < MOST; k++) {
            struct kal_trial *trial = (struct kal_trial *)(void *)&counting;
            counting.fail_at = counting.calls + k;
            status = kal_trial_create(&trial, device, &problem, &no_limit);
            counting.fail_at = 0;
            ROW_CHECK(status == KALLIMA_OK || (status == KALLIMA_E_MEMORY && !trial));
            kal_trial_destroy(&trial);
            ROW_CHECK(counting.live == live);
        }
        ROW_CHECK(status == KALLIMA_OK);
        kallima_device_close(&device);
    }
    ROWS_FINISH();
}

// --- the reference -----------------------------------------------------------------------

// Random input of dense transforms and their result as the oracle has it.
static void answer(const kallima_desc *desc, double *x, double *y)
{
    const int64_t count = desc_points(desc) * desc_batch(desc);
    oracle_complex *in = (oracle_complex *)malloc((size_t)count * 2 * sizeof *in);
    struct random r = { 5 };

    for (int64_t i = 0; i < count; i++) {
        x[2 * i] = random_real(&r);
        x[2 * i + 1] = random_real(&r);
        in[i] = x[2 * i] + x[2 * i + 1] * (oracle_complex)I;
    }
    oracle_transform(desc, in, in + count);
    for (int64_t i = 0; i < count; i++) {
        y[2 * i] = (double)creall(in[count + i]);
        y[2 * i + 1] = (double)cimagl(in[count + i]);
    }
    free(in);
}

// A probe agrees with the oracle's result, and with no other.
static void check_probe(const kallima_desc *desc, uint64_t seed)
{
    const int64_t points = desc_points(desc);
    const double bound = 1.5 * 0x1p-53 * sqrt(log2((double)points + 1.0));
    double *x = (double *)malloc((size_t)points * 4 * sizeof *x), *y = x + 2 * points;
    struct kal_probe probe;

    answer(desc, x, y);
    ROW_CHECK(kal_probe_init(&probe, NULL, desc->rank, desc->n, desc->direction, seed) ==
              KALLIMA_OK);
    const struct kal_root sum = kal_probe_inputs(&probe, x);
    ROW_CHECK(kal_reference_agrees(&probe, &sum, y, 1, bound));

    const int64_t at = 2 * (points / 2);
    const double kept = y[at];
    y[at] = kept + 1e-9 * sqrt((double)points);
    ROW_CHECK(!kal_reference_agrees(&probe, &sum, y, 1, bound));
    y[at] = NAN;
    ROW_CHECK(!kal_reference_agrees(&probe, &sum, y, 1, bound));
    y[at] = points > 1 ? y[at - 2] : 0.0;
    if (points > 1)
        y[at - 2] = kept;
    ROW_CHECK(!kal_reference_agrees(&probe, &sum, y, 1, bound));
    kal_probe_clear(&probe);
    free(x);
}

static void probes_follow_from_the_definition(void **state)
{
    static const kallima_desc plain[] = {
        { .rank = 1, .n = { 1 } },           { .rank = 1, .n = { 2 } },
        { .rank = 1, .n = { 3 } },           { .rank = 1, .n = { 64 } },
        { .rank = 1, .n = { 1009 } },        { .rank = 1, .n = { 1 << 21 } },
        { .rank = 2, .n = { 7, 12 } },       { .rank = 3, .n = { 1, 30, 8 } },
        { .rank = 4, .n = { 5, 2, 9, 11 } },
    };
    (void)state;
    for (size_t i = 0; i < sizeof plain / sizeof plain[0]; i++) {
        const bool is_long = desc_points(&plain[i]) > 1 << 16;
        for (uint64_t seed = 0; seed < (is_long ? 1 : 40); seed += 13) {
            for (int direction = 0; direction < 2 - is_long; direction++) {
                kallima_desc desc = plain[i];
                desc.direction = direction;
                check_probe(&desc, seed);
            }
        }
    }
    ROWS_FINISH();
}

// What C2R is given is the spectrum of a real array.
static void spectra_are_those_of_real_arrays(void **state)
{
    static const int64_t lengths[][2] = { { 1, 8 }, { 5, 6 }, { 4, 7 }, { 8, 2 } };

    (void)state;
    for (int i = 0; i < 4; i++) {
        const int64_t rows = lengths[i][0], n = lengths[i][1], line = n / 2 + 1;
        const kallima_desc desc = { .kind = KALLIMA_C2R, .rank = 2, .n = { rows, n } };
        const struct kal_problem p = make_problem(&desc);
        struct kal_image image;
        ROW_CHECK(kal_image_init(&image, NULL, false, 1,
                                 kal_array_guarded_bytes(&p.in, false)) == KALLIMA_OK);
        kal_reference_fill(&image, &p, 1);
        for (int64_t row = 0; row < rows; row++) {
            for (int64_t k = 0; k < line; k++) {
                const int64_t at = row * line + k, other = (rows - row) % rows * line + k;
                const double re = kal_image_get(&image, &p.in, at, 0);
                const double im = kal_image_get(&image, &p.in, at, 1);
                if (k != 0 && 2 * k != n)
                    continue;
                ROW_CHECK(re != 0.0 && re == kal_image_get(&image, &p.in, other, 0));
                ROW_CHECK(im == -kal_image_get(&image, &p.in, other, 1));
                ROW_CHECK((im == 0.0) == (at == other));
            }
        }
        kal_image_clear(&image, NULL);
    }
    ROWS_FINISH();
}

// The linker takes the library's own call of kallima_plan_run() here (CMakeLists.txt).
kallima_status __real_kallima_plan_run(const kallima_plan *plan, const void *in,
                                       void *out);
kallima_status __wrap_kallima_plan_run(const kallima_plan *plan, const void *in,
                                       void *out);

static bool reference_is_spoiled;

kallima_status __wrap_kallima_plan_run(const kallima_plan *plan, const void *in,
                                       void *out)
{
    const kallima_status status = __real_kallima_plan_run(plan, in, out);
    if (reference_is_spoiled)
        ((double *)out)[5] += 1e-6;
    return status;
}

static void a_wrong_reference_is_refused(void **state)
{
    const kallima_desc desc = { .rank = 1, .n = { 300 }, .batch = 4 };
    const struct kal_problem problem = make_problem(&desc);
    struct counting counting = { 0 };
    kallima_device *device = open_counted(&counting);
    const long long live = counting.live;
    struct kal_trial *trial = (struct kal_trial *)(void *)&counting;

    (void)state;
    reference_is_spoiled = true;
    ROW_CHECK(kal_trial_create(&trial, device, &problem, &no_limit) == KALLIMA_E_DEVICE);
    ROW_CHECK(!trial && counting.live == live);
    ROW_CHECK(strstr(kallima_last_error(), "reference") != NULL);
    reference_is_spoiled = false;
    ROW_CHECK(kal_trial_create(&trial, device, &problem, &no_limit) == KALLIMA_OK);
    kal_trial_destroy(&trial);
    kallima_device_close(&device);
    ROWS_FINISH();
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(probes_follow_from_the_definition),
        cmocka_unit_test(spectra_are_those_of_real_arrays),
        cmocka_unit_test(a_wrong_reference_is_refused),
        cmocka_unit_test(faults_on_the_cpu_are_found),
        cmocka_unit_test(faults_behind_the_period_are_found),
        cmocka_unit_test(transforms_that_changed_places_are_found),
        cmocka_unit_test(periods_divide_no_power_of_two),
        cmocka_unit_test(plans_of_random_problems_are_right),
        cmocka_unit_test(one_number_among_millions_is_found),
        cmocka_unit_test(a_glance_sees_a_sample),
        cmocka_unit_test(wrong_candidates_are_named_in_the_log),
        cmocka_unit_test(the_input_is_restored),
        cmocka_unit_test(plans_for_other_problems_are_refused),
        cmocka_unit_test(numbers_stay_in_range),
        cmocka_unit_test(budgets_of_bytes_are_kept),
        cmocka_unit_test(as_much_of_a_batch_as_fits_is_tried),
        cmocka_unit_test(running_out_of_memory_is_survived),
        cmocka_unit_test(faults_on_opencl_are_found),
        cmocka_unit_test(miscompiled_kernels_are_found),
    };
    return cmocka_run_group_tests_name("tune_trial", tests, NULL, NULL);
}
