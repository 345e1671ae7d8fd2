// SPDX-License-Identifier: MIT
// The cost model: terms that can be counted by hand, and fits to times that are known.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../random.h"
#include "../rows.h"
#include "device/device.h"
#include "tune/model.h"

static struct kal_caps caps_of(const char *selector)
{
    kallima_device *device = NULL;
    const kallima_device_options options = { .threads = 1 };
    assert_int_equal(kallima_device_open(&device, selector, &options), KALLIMA_OK);
    const struct kal_caps caps = device->caps;
    kallima_device_close(&device);
    return caps;
}

static struct kal_terms terms_of(const char *selector, const kallima_desc *desc,
                                 const char *text)
{
    const struct kal_caps caps = caps_of(selector);
    struct kal_problem problem;
    struct kal_recipe *recipe;
    struct kal_terms terms;
    struct kal_arena arena;

    kal_arena_init(&arena, NULL);
    assert_int_equal(kal_problem_init(&problem, NULL, desc), KALLIMA_OK);
    assert_int_equal(kal_recipe_parse(&recipe, &arena, &problem, text), KALLIMA_OK);
    assert_int_equal(kal_terms_count(&terms, &arena, &problem, recipe, &caps),
                     KALLIMA_OK);
    kal_arena_clear(&arena);
    return terms;
}

static void terms_are_what_can_be_counted_by_hand(void **state)
{
    enum { N = 4096, LINES = 1000, BYTES = 2 * N * LINES * 8 };
    const kallima_desc rows = { .rank = 1, .n = { N }, .batch = LINES };
    const kallima_desc columns = { .rank = 1,
                                   .n = { N },
                                   .batch = LINES,
                                   .in = { .stride = { LINES }, .batch_stride = 1 } };
    const kallima_desc doubles = {
        .rank = 1, .n = { N }, .batch = LINES, .precision = KALLIMA_F64
    };
    const struct kal_terms one = terms_of("nullcuda", &rows, "local(16.16.16)");
    const struct kal_terms four = terms_of("nullcuda", &rows, "local(8.8.8.8)");
    const struct kal_terms two =
        terms_of("nullcuda", &rows, "four-step(local(8.8), local(8.8))");
    const struct kal_terms gaps =
        terms_of("nullcuda", &columns, "local(16.16.16, lines=1)");
    const struct kal_terms f64 = terms_of("nullcuda", &doubles, "local(16.16.16)");
    const struct kal_terms cpu =
        terms_of("cpu", &rows, "four-step(local(8.8), local(8.8))");

    (void)state;
    assert_true(one.amount[KAL_TERM_LAUNCH] == 1.0);
    assert_true(one.amount[KAL_TERM_MEMORY] == BYTES);
    // Two exchanges, three, each written and read, or more often where banks are busy.
    assert_true(one.amount[KAL_TERM_EXCHANGE] == 2.0 * BYTES);
    assert_true(four.amount[KAL_TERM_EXCHANGE] >= 3.0 * BYTES);
    // The planner's own radices, other ones, another algorithm.
    assert_true(one.amount[KAL_TERM_DEPART] == 0.0);
    assert_true(four.amount[KAL_TERM_DEPART] == BYTES);
    assert_true(two.amount[KAL_TERM_DEPART] >= BYTES);
    assert_true(four.amount[KAL_TERM_COMPUTE] > one.amount[KAL_TERM_COMPUTE]);
    // Two passes that meet in one launch: memory as of one, the cache between them.
    assert_true(two.amount[KAL_TERM_LAUNCH] == 1.0);
    assert_true(two.amount[KAL_TERM_MEMORY] == BYTES);
    assert_true(two.amount[KAL_TERM_CACHE] + two.amount[KAL_TERM_EXCHANGE] >=
                2.0 * BYTES);
    // Numbers of 8 bytes that lie apart take a sector of 32 each.
    assert_true(gaps.amount[KAL_TERM_MEMORY] == (4.0 + 1.0) / 2.0 * BYTES);
    assert_true(f64.amount[KAL_TERM_MEMORY] == 2.0 * BYTES);
    assert_true(f64.amount[KAL_TERM_COMPUTE] == 2.0 * one.amount[KAL_TERM_COMPUTE]);
    assert_true(cpu.amount[KAL_TERM_MEMORY] >= BYTES);
    assert_true(cpu.amount[KAL_TERM_WAIT] >= 64.0 * LINES);
}

static void every_recipe_costs_something(void **state)
{
    static const char *const selectors[] = { "cpu",        "nullcuda",   "nullopencl",
                                             "nullvulkan", "nullopengl", "nullopengles",
                                             "nulld3d11" };
    static const struct {
        kallima_desc desc;
        const char *text;
    } rows[] = {
        { { .rank = 1, .n = { 1 } }, "local(1)" },
        { { .rank = 1, .n = { 101 }, .batch = 50 }, "rader(local(10.10))" },
        { { .rank = 1, .n = { 100003 } },
          "bluestein(n=100003, four-step(local(25.16), local(32.16)))" },
        { { .rank = 1, .n = { 30 }, .kind = KALLIMA_R2C }, "real-even(local(15))" },
        { { .rank = 2, .n = { 64, 64 } }, "rank(local(8.8), local(8.8))" },
    };
    (void)state;
    for (size_t i = 0; i < KAL_COUNT(selectors); i++) {
        const struct kal_caps caps = caps_of(selectors[i]);
        const struct kal_model model = kal_model_guess(&caps, NULL);
        for (size_t j = 0; j < KAL_COUNT(rows); j++) {
            const struct kal_terms terms =
                terms_of(selectors[i], &rows[j].desc, rows[j].text);
            const double seconds = kal_model_predict(&model, &terms);
            row_ran();
            if (!(seconds > 0.0) || isinf(seconds))
                row_fail("%s: %s: %g s", selectors[i], rows[j].text, seconds);
            for (int k = 0; k < KAL_TERM_COUNT; k++) {
                if (!(terms.amount[k] >= 0.0) || isinf(terms.amount[k]))
                    row_fail("%s: %s: %s = %g", selectors[i], rows[j].text,
                             kal_term_names[k], terms.amount[k]);
            }
        }
    }
    ROWS_FINISH();
}

static struct kal_sample random_sample(struct random *r, const struct kal_model *truth)
{
    struct kal_sample sample;
    for (int i = 0; i < KAL_TERM_COUNT; i++)
        sample.terms.amount[i] =
            (double)random_between(r, 0, 1000) / 1000.0 / truth->cost[i];
    sample.seconds = kal_model_predict(truth, &sample.terms);
    return sample;
}

// A fit whose prior counts as much as `samples` samples do, for each cost.
static struct kal_model fit(const struct kal_sample *sample, int count,
                            const struct kal_model *prior, double samples)
{
    struct kal_model model = *prior;
    double trust[KAL_TERM_COUNT];
    for (int i = 0; i < KAL_TERM_COUNT; i++)
        trust[i] = samples / (prior->cost[i] * prior->cost[i]);
    kal_model_fit(&model, trust, sample, count);
    return model;
}

static void a_fit_finds_the_costs(void **state)
{
    enum { MANY = 200 };
    const struct kal_caps caps = caps_of("nullcuda");
    const struct kal_model prior = kal_model_guess(&caps, NULL);
    struct kal_model truth = prior;
    struct kal_sample sample[MANY];
    struct random r = { 1 };

    (void)state;
    for (int i = 0; i < KAL_TERM_COUNT; i++)
        truth.cost[i] *= i % 2 ? 3.0 : 0.25;
    for (int i = 0; i < MANY; i++)
        sample[i] = random_sample(&r, &truth);
    const struct kal_model found = fit(sample, MANY, &prior, 1e-6);
    const struct kal_model cautious = fit(sample, MANY, &prior, 1e9);
    const struct kal_model untaught = fit(sample, 0, &prior, 1.0);
    for (int i = 0; i < KAL_TERM_COUNT; i++) {
        assert_true(fabs(found.cost[i] / truth.cost[i] - 1.0) < 1e-3);
        assert_true(fabs(cautious.cost[i] / prior.cost[i] - 1.0) < 1e-3);
        assert_true(fabs(untaught.cost[i] / prior.cost[i] - 1.0) < 1e-12);
    }
}

// Times that no costs explain still give costs, and none below zero.
static void a_fit_never_costs_less_than_nothing(void **state)
{
    enum { MANY = 50 };
    const struct kal_caps caps = caps_of("nullcuda");
    const struct kal_model prior = kal_model_guess(&caps, NULL);
    struct kal_sample sample[MANY];
    struct random r = { 2 };

    (void)state;
    for (int i = 0; i < MANY; i++) {
        sample[i] = random_sample(&r, &prior);
        sample[i].seconds =
            0.1 + fmax(0.0, 1.0 - prior.cost[KAL_TERM_MEMORY] *
                                      sample[i].terms.amount[KAL_TERM_MEMORY]);
    }
    const struct kal_model found = fit(sample, MANY, &prior, 0.01);
    for (int i = 0; i < KAL_TERM_COUNT; i++)
        assert_true(found.cost[i] >= 0.0 && !isinf(found.cost[i]));
    assert_true(found.cost[KAL_TERM_MEMORY] == 0.0);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(terms_are_what_can_be_counted_by_hand),
        cmocka_unit_test(every_recipe_costs_something),
        cmocka_unit_test(a_fit_finds_the_costs),
        cmocka_unit_test(a_fit_never_costs_less_than_nothing),
    };
    return cmocka_run_group_tests_name("tune-model", tests, NULL, NULL);
}
