// SPDX-License-Identifier: MIT
// Recipes and descriptions as text.
#include <string.h>

#include "suite.h"

enum { TEXT_BYTES = 4096 };

static const kallima_desc problems[] = {
    { .rank = 1, .n = { 1 } },
    { .rank = 1, .n = { 16 }, .batch = 32 },
    { .rank = 1,
      .n = { 144 },
      .batch = 32,
      .in.batch_stride = 1,
      .in.stride = { 32 },
      .out.batch_stride = 1,
      .out.stride = { 32 } },
    { .rank = 1, .n = { 101 } },
    { .rank = 1, .n = { 47 }, .batch = 8 },
    { .rank = 1, .n = { 1021 }, .kind = KALLIMA_R2C, .precision = KALLIMA_F64 },
    { .rank = 1, .n = { 3600 }, .kind = KALLIMA_R2C },
    { .rank = 1, .n = { 3601 }, .kind = KALLIMA_C2R },
    { .rank = 1, .n = { 65536 }, .direction = KALLIMA_INVERSE },
    { .rank = 1, .n = { 10007 }, .precision = KALLIMA_F64 },
    { .rank = 2, .n = { 60, 64 }, .kind = KALLIMA_C2R, .placement = KALLIMA_IN_PLACE },
    { .rank = 2, .n = { 240, 101 }, .scale = 0.5, .in.format = KALLIMA_PLANAR },
    { .rank = 3, .n = { 12, 1, 35 }, .batch = 2 },
    { .rank = 8, .n = { 2, 3, 1, 2, 5, 1, 2, 4 } },
};

static void describe(const kallima_plan *plan, char *text)
{
    text[0] = '\0';
    assert_int_equal(kallima_plan_describe(plan, text, TEXT_BYTES, NULL), KALLIMA_OK);
}

void recipes_read_back_to_the_same_plan(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof problems / sizeof problems[0]; i++) {
        char recipe[TEXT_BYTES], again[TEXT_BYTES], first[TEXT_BYTES], second[TEXT_BYTES];
        const kallima_plan_options options = { .recipe = recipe };
        kallima_plan *plan = NULL, *replay = NULL;

        if (!suite_takes(i, 1))
            continue;
        plan = suite_plan(suite.device, suite_problem(&problems[i]));
        trial_recipe(plan, recipe, sizeof recipe);
        describe(plan, first);
        const kallima_status status = kallima_plan_create(
            &replay, suite.device, suite_problem(&problems[i]), &options);
        row_ran();
        if (status != KALLIMA_OK) {
            row_fail("\"%s\" is refused: %s", recipe, kallima_last_error());
            kallima_plan_destroy(&plan);
            continue;
        }
        trial_recipe(replay, again, sizeof again);
        describe(replay, second);
        if (strcmp(recipe, again) != 0 || strcmp(first, second) != 0)
            row_fail("\"%s\" reads back to \"%s\", or its description differs", recipe,
                     again);
        const struct trial own = { .desc = *suite_problem(&problems[i]),
                                   .seed = i,
                                   .way = WAY_OWNED };
        struct trial read = own;
        read.recipe = recipe;
        const uint64_t want = trial_hash(&own, suite.device);
        ROW_CHECK(strlen(recipe) > 0 && want != 0);
        ROW_CHECK(trial_hash(&read, suite.device) == want);
        kallima_plan_destroy(&plan);
        kallima_plan_destroy(&replay);
    }
    ROWS_FINISH();
}

// Trees that the planner would not choose, so that every rule meets every other.
enum { FOR_ALL, FOR_KERNELS, FOR_PASSES };

static const struct {
    int64_t n;
    int kind;
    const char *recipe;
    int devices; // others refuse it
} written[] = {
    { 64, KALLIMA_C2C, "local(2.2.2.2.2.2)", FOR_ALL },
    { 60, KALLIMA_C2C, "local(3.4.5)", FOR_ALL },
    { 60, KALLIMA_C2C, "local(5.3.2.2)", FOR_ALL },
    { 60, KALLIMA_C2C, "prime-factor(local(4), local(15))", FOR_ALL },
    { 60, KALLIMA_C2C, "prime-factor(local(3.5), local(2.2))", FOR_ALL },
    { 63, KALLIMA_C2C, "prime-factor(local(9), local(7))", FOR_ALL },
    { 77, KALLIMA_C2C, "prime-factor(local(7), local(11))", FOR_ALL },
    { 1024, KALLIMA_C2C, "local(16.16.4)", FOR_ALL },
    { 2048, KALLIMA_C2C, "local(2.4.8.32)", FOR_ALL },
    { 12, KALLIMA_C2C, "four-step(local(3), local(4))", FOR_ALL },
    { 12, KALLIMA_C2C, "four-step(local(2), four-step(local(2), local(3)))", FOR_ALL },
    { 12, KALLIMA_C2C, "four-step(four-step(local(2), local(2)), local(3))", FOR_ALL },
    { 51, KALLIMA_C2C, "four-step(rader(local(16)), local(3))", FOR_ALL },
    { 51, KALLIMA_C2C, "four-step(local(3), rader(local(16)))", FOR_ALL },
    { 28, KALLIMA_C2C, "four-step(local(4), bluestein(n=7, local(16)))", FOR_ALL },
    { 28, KALLIMA_C2C, "four-step(bluestein(n=7, local(16)), local(4))", FOR_ALL },
    { 120, KALLIMA_C2C, "four-step(local(8), prime-factor(local(3), local(5)))",
      FOR_ALL },
    { 17, KALLIMA_C2C, "rader(four-step(local(4), local(4)))", FOR_ALL },
    { 17, KALLIMA_C2C, "rader(bluestein(n=16, local(32)))", FOR_ALL },
    { 5, KALLIMA_C2C, "rader(local(4))", FOR_ALL },
    { 3, KALLIMA_C2C, "rader(local(2))", FOR_ALL },
    { 103, KALLIMA_C2C, "rader(four-step(local(6), rader(local(16))))", FOR_ALL },
    { 16, KALLIMA_C2C, "bluestein(n=16, local(32))", FOR_ALL },
    { 5, KALLIMA_C2C, "bluestein(n=5, four-step(local(4), local(4)))", FOR_ALL },
    { 9, KALLIMA_C2C, "bluestein(n=9, bluestein(n=17, local(8.8)))", FOR_ALL },
    { 1, KALLIMA_C2C, "bluestein(n=1, local(1))", FOR_ALL },
    { 2, KALLIMA_C2C, "bluestein(n=2, local(3))", FOR_ALL },
    { 1, KALLIMA_C2C, "local(1)", FOR_ALL },
    { 30, KALLIMA_R2C, "real-even(local(15))", FOR_ALL },
    { 30, KALLIMA_C2R, "real-even(local(5.3))", FOR_ALL },
    { 34, KALLIMA_R2C, "real-even(rader(local(16)))", FOR_ALL },
    { 34, KALLIMA_C2R, "real-even(bluestein(n=17, local(6.6)))", FOR_ALL },
    { 15, KALLIMA_R2C, "real-odd(four-step(local(3), local(5)))", FOR_ALL },
    { 15, KALLIMA_C2R, "real-odd(prime-factor(local(3), local(5)))", FOR_ALL },
    { 2, KALLIMA_R2C, "real-even(local(1))", FOR_ALL },
    { 1, KALLIMA_C2R, "real-odd(local(1))", FOR_ALL },
    { 101, KALLIMA_C2C, "bluestein(n=101, four-step(local(16), local(8.2)))", FOR_ALL },
    { 53, KALLIMA_C2C,
      "bluestein(n=53, four-step(local(4), four-step(local(5), local(6))))", FOR_ALL },
    { 1024, KALLIMA_C2C, "local(16.16.4, split=1)", FOR_KERNELS },
    { 60, KALLIMA_R2C, "real-even(local(6.5, split=1))", FOR_KERNELS },
    { 60, KALLIMA_C2R, "real-even(local(6.5, split=1))", FOR_KERNELS },
    { 41, KALLIMA_C2C, "rader(local(8.5, split=1))", FOR_KERNELS },
    { 509, KALLIMA_C2C, "bluestein(n=509, local(16.16.4, split=1))", FOR_KERNELS },
    { 3600, KALLIMA_C2C, "four-step(local(10.6, split=1), local(12.5))", FOR_KERNELS },
    { 3600, KALLIMA_C2C, "four-step(local(10.6), local(12.5, split=1))", FOR_KERNELS },
    { 3600, KALLIMA_C2C, "four-step(local(10.6, split=1), local(12.5, split=1))",
      FOR_KERNELS },
    { 1024, KALLIMA_C2C, "local(16.16.4, split=2)", FOR_KERNELS },
    { 2048, KALLIMA_C2C, "local(32.8.8, points=32, split=2)", FOR_KERNELS },
    { 2401, KALLIMA_C2C, "local(7.7.7.7, split=2)", FOR_KERNELS },
    { 3375, KALLIMA_C2C, "local(15.25.9, split=2)", FOR_KERNELS },
    { 60, KALLIMA_C2C, "local(10.6, split=2)", FOR_KERNELS },
    { 60, KALLIMA_R2C, "real-even(local(6.5, split=2))", FOR_KERNELS },
    { 1024, KALLIMA_R2C, "real-even(local(8.8.8, split=2))", FOR_KERNELS },
    { 1024, KALLIMA_C2R, "real-even(local(8.8.8, split=2))", FOR_KERNELS },
    { 1200, KALLIMA_R2C, "real-even(local(5.20.6, split=2))", FOR_KERNELS },
    { 1200, KALLIMA_C2R, "real-even(local(6.20.5, split=2))", FOR_KERNELS },
    { 4096, KALLIMA_R2C, "four-step(real-even(local(8.8, split=2)), local(8.4, split=2))",
      FOR_KERNELS },
    { 4096, KALLIMA_C2R, "four-step(real-even(local(8.8, split=2)), local(8.4, split=2))",
      FOR_KERNELS },
    { 509, KALLIMA_C2C, "bluestein(n=509, local(16.16.4, split=2))", FOR_KERNELS },
    { 1500, KALLIMA_C2C, "bluestein(n=1500, local(25.12.10, split=2))", FOR_KERNELS },
    { 101, KALLIMA_C2C,
      "bluestein(n=101, four-step(local(16, split=2), local(4.4, split=2)))",
      FOR_KERNELS },
    { 3600, KALLIMA_C2C, "four-step(local(10.6, split=2), local(12.5))", FOR_KERNELS },
    { 3600, KALLIMA_C2C, "four-step(local(10.6), local(12.5, split=2))", FOR_KERNELS },
    { 3600, KALLIMA_C2C, "four-step(local(10.6, split=2), local(5.12, split=2))",
      FOR_KERNELS },
    { 37, KALLIMA_C2C, "local(37)", FOR_KERNELS },
    { 106, KALLIMA_C2C, "local(53.2)", FOR_KERNELS },
    { 32, KALLIMA_R2C, "four-step(real-even(local(4)), local(4))", FOR_KERNELS },
    { 32, KALLIMA_C2R, "four-step(real-even(local(4)), local(4))", FOR_KERNELS },
    { 45, KALLIMA_R2C, "four-step(real-odd(local(9)), local(5))", FOR_KERNELS },
    { 45, KALLIMA_C2R, "four-step(real-odd(local(9)), local(5))", FOR_KERNELS },
    { 480, KALLIMA_R2C, "four-step(real-even(local(4)), four-step(local(5), local(12)))",
      FOR_KERNELS },
    { 480, KALLIMA_C2R, "four-step(real-even(local(4)), four-step(local(5), local(12)))",
      FOR_KERNELS },
    { 1024, KALLIMA_C2C, "four-step(local(16.4, line=0), local(16))", FOR_PASSES },
    { 1024, KALLIMA_C2C, "four-step(local(16.4, lines=3), local(16))", FOR_ALL },
    { 1024, KALLIMA_C2C, "four-step(local(16.4, across=1), local(16))", FOR_PASSES },
    { 1024, KALLIMA_C2C, "four-step(local(16.4, lines=5, across=1), local(16))",
      FOR_PASSES },
    { 1024, KALLIMA_C2C, "four-step(local(16.4, lanes=1), local(16, lanes=1))", FOR_ALL },
    { 1024, KALLIMA_C2C, "four-step(local(16.4, hints=1), local(16, fetch=1))",
      FOR_PASSES },
    { 900, KALLIMA_C2C, "four-step(local(6.5), local(6.5, lines=2, hints=1))", FOR_ALL },
    { 32768, KALLIMA_C2C, "four-step(local(8.16, hints=1, fetch=1), local(16.16))",
      FOR_PASSES },
    { 32768, KALLIMA_C2C, "four-step(local(8.16), local(16.16, fetch=1))", FOR_PASSES },
    { 20480, KALLIMA_C2C, "four-step(local(32, fetch=0), local(32.20))", FOR_PASSES },
    { 36000, KALLIMA_C2R,
      "real-even(four-step(local(10.12, hints=1), local(15.10, fetch=1)))", FOR_PASSES },
    { 32768, KALLIMA_R2C,
      "real-even(four-step(local(8.16, hints=1, fetch=1), local(8.16)))", FOR_PASSES },
    { 64, KALLIMA_C2C, "local(8.8, lanes=1, hints=1, threads=1, fetch=1)", FOR_PASSES },
    { 101, KALLIMA_C2C, "rader(four-step(local(10, lines=4), local(10)))", FOR_ALL },
    { 101, KALLIMA_C2C, "rader(four-step(local(10, lines=4, across=0), local(10)))",
      FOR_PASSES },
    { 53, KALLIMA_C2C,
      "bluestein(n=53, four-step(local(10, lines=3, fetch=1), local(11)))", FOR_PASSES },
    { 1800, KALLIMA_R2C, "real-even(four-step(local(6.5, lines=3), local(6.5)))",
      FOR_ALL },
    { 1800, KALLIMA_C2R, "real-even(four-step(local(6.5, across=1), local(6.5)))",
      FOR_PASSES },
};

static bool is_refused(size_t i)
{
    return written[i].devices == (suite.takes_kernels ? FOR_PASSES : FOR_KERNELS);
}

// A line may be too long for a group where a recipe was not made for the device.
static bool is_too_long(const kallima_desc *d, const char *recipe)
{
    const kallima_plan_options options = { .recipe = recipe };
    kallima_plan *plan = NULL;
    const kallima_status status = kallima_plan_create(&plan, suite.device, d, &options);
    kallima_plan_destroy(&plan);
    return suite.takes_kernels && status == KALLIMA_E_UNSUPPORTED;
}

// The array of `desc` in one of many ways.
static void check_variant(const kallima_desc *desc, const char *recipe, size_t i,
                          int variant)
{
    struct random r = { i * 64 + (size_t)variant };
    struct trial t = { .seed = r.state, .recipe = recipe };

    t.desc = *desc;
    t.desc.precision = variant & 1;
    t.desc.direction = desc->kind == KALLIMA_C2C && (variant >> 1 & 1);
    t.desc.placement = variant >> 2 & 1;
    t.desc.batch = (variant >> 3) % 3 * 9 + 1;
    t.desc.scale = variant % 3 == 1 ? 0.375 : 0.0;
    t.desc = *suite_problem(&t.desc);
    problem_lay_out(&t.desc, (enum style)(variant % STYLE_COUNT), &r);
    if (!is_too_long(&t.desc, t.recipe))
        suite_check(&t, suite.device);
}

static void check_written(size_t i, int variant)
{
    const kallima_desc desc = problem_line(written[i].kind, 0, 0, written[i].n);
    check_variant(&desc, written[i].recipe, i, variant);
}

static void check_refused(const kallima_desc *desc, const char *recipe)
{
    const kallima_plan_options options = { .recipe = recipe };
    kallima_plan *plan = NULL;

    row_ran();
    ROW_CHECK(kallima_plan_create(&plan, suite.device, desc, &options) ==
              KALLIMA_E_UNSUPPORTED);
    kallima_plan_destroy(&plan);
}

void written_recipes_are_followed(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof written / sizeof written[0]; i++) {
        const kallima_desc d = problem_line(written[i].kind, 0, 0, written[i].n);
        if (is_refused(i)) {
            check_refused(&d, written[i].recipe);
            continue;
        }
        if (!suite_takes(i, 1))
            continue;
        const kallima_plan_options options = { .recipe = written[i].recipe };
        kallima_plan *plan = NULL;
        char text[TEXT_BYTES] = "";

        if (kallima_plan_create(&plan, suite.device, &d, &options) == KALLIMA_OK)
            trial_recipe(plan, text, sizeof text);
        row_ran();
        if (strcmp(text, written[i].recipe) != 0)
            row_fail("\"%s\" gives \"%s\": %s", written[i].recipe, text,
                     kallima_last_error());
        kallima_plan_destroy(&plan);
        for (int variant = 0; variant < 24; variant++) {
            if (suite_takes(i * 24 + (uint64_t)variant, 8))
                check_written(i, variant);
        }
    }
    ROWS_FINISH();
}

// Axes whose steps are worked on one tile where that has room, halves of parts of them in turn.
void written_planes_are_followed(void **state)
{
    static const struct {
        int64_t n[3];
        int rank;
        const char *recipe;
    } rows[] = {
        { { 64, 64 }, 2, "rank(local(8.8, split=2), local(8.8, split=2))" },
        { { 60, 50 }, 2, "rank(local(10.6, split=2), local(5.10, split=2))" },
        { { 90, 48 }, 2, "rank(local(3.6.5, split=2), local(16.3, split=2))" },
        { { 75, 75 }, 2, "rank(local(15.5, split=2), local(25.3, split=2))" },
        { { 8, 64 }, 2, "rank(local(8, split=2), local(8.8, split=2))" },
        { { 16, 12, 20 },
          3,
          "rank(local(4.4, split=2), local(12, split=2), local(5.4, split=2))" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        kallima_desc desc = { .rank = rows[i].rank };
        memcpy(desc.n, rows[i].n, sizeof rows[i].n);
        if (!suite.takes_kernels)
            check_refused(&desc, rows[i].recipe);
        for (int variant = 0; variant < 24 && suite.takes_kernels; variant++) {
            if (suite_takes(i * 24 + (uint64_t)variant, 8))
                check_variant(&desc, rows[i].recipe, i, variant);
        }
    }
    ROWS_FINISH();
}

// Of the CPU: what its engine or the other parameters leave no room for.
void parameters_beyond_the_engine_are_refused(void **state)
{
    static const struct {
        const char *recipe, *sentence;
    } rows[] = {
        { "four-step(local(16.4, lanes=3), local(16))", "lanes=3; no SIMD level" },
        { "four-step(local(16.4), local(16, lanes=32))", "lanes=32; no SIMD level" },
        { "four-step(local(16.4, threads=4096), local(16))",
          "threads=4096; this device" },
        { "four-step(local(16.4), local(4.4, line=1))", "line=1; " },
        { "four-step(local(16.4, across=1, line=1), local(16))", "line=1; " },
        { "local(16.16.4, lines=4)", "chunks of lines" },
        { "local(16.16.4, across=0)", "chunks of lines" },
    };
    const kallima_desc d = problem_line(KALLIMA_C2C, 0, 0, 1024);

    (void)state;
    if (strcmp(suite.selector, "cpu") != 0)
        skip();
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const kallima_plan_options options = { .recipe = rows[i].recipe };
        kallima_plan *plan = (kallima_plan *)(void *)&suite;
        const kallima_status status =
            kallima_plan_create(&plan, suite.device, &d, &options);
        row_ran();
        if (status != KALLIMA_E_UNSUPPORTED || plan ||
            !strstr(kallima_last_error(), rows[i].sentence))
            row_fail("\"%s\": %s: %s", rows[i].recipe, kallima_status_name(status),
                     kallima_last_error());
        if (status == KALLIMA_OK)
            kallima_plan_destroy(&plan);
    }
    ROWS_FINISH();
}

static const struct {
    int64_t n;
    int kind;
    const char *recipe;
} damaged[] = {
    { 16, KALLIMA_C2C, "" },
    { 16, KALLIMA_C2C, " " },
    { 16, KALLIMA_C2C, "local" },
    { 16, KALLIMA_C2C, "local(" },
    { 16, KALLIMA_C2C, "local(16" },
    { 16, KALLIMA_C2C, "local()" },
    { 16, KALLIMA_C2C, "local(0)" },
    { 16, KALLIMA_C2C, "local(-16)" },
    { 16, KALLIMA_C2C, "local(16))" },
    { 16, KALLIMA_C2C, "local(16) local(16)" },
    { 16, KALLIMA_C2C, "local(4.4.)" },
    { 16, KALLIMA_C2C, "local(4.5)" },
    { 16, KALLIMA_C2C, "local(8)" },
    { 16, KALLIMA_C2C, "local(99999999999999999999)" },
    { 16, KALLIMA_C2C, "Local(16)" },
    { 16, KALLIMA_C2C, "nearby(16)" },
    { 16, KALLIMA_C2C, "prime-factor(local(4), local(4))" },
    { 16, KALLIMA_C2C, "four-step(local(16))" },
    { 16, KALLIMA_C2C, "four-step(local(16), local(1))" },
    { 16, KALLIMA_C2C, "four-step(local(2), local(2), local(4))" },
    { 16, KALLIMA_C2C, "rader(local(15))" },
    { 16, KALLIMA_C2C, "rank(local(16))" },
    { 16, KALLIMA_C2C, "rank(local(4), local(4))" },
    { 16, KALLIMA_C2C, "real-even(local(8))" },
    { 16, KALLIMA_R2C, "local(16)" },
    { 16, KALLIMA_R2C, "real-odd(local(16))" },
    { 15, KALLIMA_R2C, "real-even(local(15))" },
    { 16, KALLIMA_C2C, "bluestein(local(32))" },
    { 16, KALLIMA_C2C, "bluestein(n=16, local(30))" },
    { 16, KALLIMA_C2C, "bluestein(n=15, local(32))" },
    { 16, KALLIMA_C2C, "bluestein(n=0, local(32))" },
    { 69, KALLIMA_C2C, "local(69)" },
    { 16, KALLIMA_C2C,
      "four-step(local(32.32.16), four-step(local(32.32.16), four-step(local(32.32.16), "
      "four-step(local(32.32.16), four-step(local(32.32.16), local(32.32.16))))))" },
};

void damaged_recipes_are_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof damaged / sizeof damaged[0]; i++) {
        const kallima_desc d = problem_line(damaged[i].kind, 0, 0, damaged[i].n);
        const kallima_plan_options options = { .recipe = damaged[i].recipe };
        kallima_plan *plan = (kallima_plan *)(void *)&suite;
        const kallima_status status =
            kallima_plan_create(&plan, suite.device, &d, &options);
        row_ran();
        if (status != KALLIMA_E_RECIPE || plan || !strstr(kallima_last_error(), "recipe"))
            row_fail("\"%s\" for n=%lld: %s: %s", damaged[i].recipe,
                     (long long)damaged[i].n, kallima_status_name(status),
                     kallima_last_error());
        if (status == KALLIMA_OK)
            kallima_plan_destroy(&plan);
    }
    ROWS_FINISH();
}

void descriptions_name_the_recipe(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof problems / sizeof problems[0]; i++) {
        char recipe[TEXT_BYTES], text[TEXT_BYTES];
        kallima_plan *plan = suite_plan(suite.device, suite_problem(&problems[i]));
        trial_recipe(plan, recipe, sizeof recipe);
        describe(plan, text);
        ROW_CHECK(strchr(recipe, '\n') == NULL);
        ROW_CHECK(strstr(text, recipe) != NULL);
        ROW_CHECK(strlen(text) > 0 && text[strlen(text) - 1] == '\n');
        kallima_plan_destroy(&plan);
    }
    ROWS_FINISH();
}

typedef kallima_status (*writer)(const kallima_plan *plan, char *text, size_t capacity,
                                 size_t *length);

static void check_writer(writer write, const kallima_plan *plan)
{
    char whole[TEXT_BYTES], part[TEXT_BYTES];
    size_t length = 0, again = 0;

    ROW_CHECK(write(plan, NULL, 0, &length) == KALLIMA_OK && length > 0);
    ROW_CHECK(write(plan, whole, sizeof whole, NULL) == KALLIMA_OK);
    ROW_CHECK(strlen(whole) == length);
    for (size_t capacity = 1; capacity <= length + 2; capacity++) {
        const size_t kept = capacity > length ? length : capacity - 1;
        memset(part, '#', sizeof part);
        ROW_CHECK(write(plan, part, capacity, &again) == KALLIMA_OK && again == length);
        ROW_CHECK(memcmp(part, whole, kept) == 0 && part[kept] == '\0');
        ROW_CHECK(part[capacity] == '#');
    }
    ROW_CHECK(write(plan, NULL, 8, NULL) == KALLIMA_E_ARGUMENT);
    ROW_CHECK(write(NULL, whole, sizeof whole, NULL) == KALLIMA_E_ARGUMENT);
}

void texts_are_cut_at_the_capacity(void **state)
{
    (void)state;
    kallima_plan *plan = suite_plan(suite.device, suite_problem(&problems[2]));
    check_writer(kallima_plan_get_recipe, plan);
    check_writer(kallima_plan_describe, plan);
    kallima_plan_destroy(&plan);
    ROWS_FINISH();
}

void costs_are_counted(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof problems / sizeof problems[0]; i++) {
        kallima_plan *plan = suite_plan(suite.device, suite_problem(&problems[i]));
        kallima_plan_cost cost;
        memset(&cost, 0xff, sizeof cost);
        ROW_CHECK(kallima_plan_get_cost(plan, &cost) == KALLIMA_OK);
        ROW_CHECK(cost.workspace_bytes == kallima_plan_get_workspace(plan));
        ROW_CHECK(cost.passes >= 1 && cost.passes < 1000);
        ROW_CHECK(cost.bytes > 0 && cost.operations >= 0.0);
        ROW_CHECK(cost.nominal_operations >= 0.0 && cost.nominal_operations < 1e12);
        kallima_plan_destroy(&plan);
    }
    ROWS_FINISH();
}
