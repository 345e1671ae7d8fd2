// SPDX-License-Identifier: MIT
// What a search teaches, from candidates whose times are made up.
#include <math.h>
#include <stdlib.h>

#include "../rows.h"
#include "device/device.h"
#include "tune/lesson.h"

static struct kal_search make_search(struct kal_candidate *candidate, int count)
{
    return (struct kal_search){ .candidate = candidate, .count = count };
}

static void correlation_is_spearmans(void **state)
{
    static const struct {
        int count;
        struct kal_candidate candidate[6];
        double correlation, first_choice;
    } rows[] = {
        { 0, { { .text = "" } }, 0.0, 0.0 },
        { 2,
          { { .predicted = 1, .measured = 2 }, { .predicted = 2, .measured = 3 } },
          0.0,
          1.0 },
        { 4,
          { { .predicted = 1, .measured = 10 },
            { .predicted = 2, .measured = 20 },
            { .predicted = 3, .measured = 1000 },
            { .predicted = 9, .measured = 1001 } },
          1.0,
          1.0 },
        { 3,
          { { .predicted = 3, .measured = 1 },
            { .predicted = 2, .measured = 2 },
            { .predicted = 1, .measured = 3 } },
          -1.0,
          3.0 },
        // 1 - 6 sum(d^2) / (n (n^2 - 1)), d = 1, 1, 0, 0
        { 4,
          { { .predicted = 1, .measured = 2 },
            { .predicted = 2, .measured = 1 },
            { .predicted = 3, .measured = 3 },
            { .predicted = 4, .measured = 4 } },
          0.8,
          2.0 },
        // Ties have the mean of their ranks: 1.5, 1.5, 3 and 1, 2, 3.
        { 3,
          { { .predicted = 1, .measured = 1 },
            { .predicted = 1, .measured = 2 },
            { .predicted = 2, .measured = 3 } },
          0.86602540378443865,
          1.0 },
        // What was not measured, or could not be predicted, does not count.
        { 6,
          { { .predicted = 0.1 },
            { .predicted = 1, .measured = 10 },
            { .predicted = INFINITY, .measured = 1 },
            { .predicted = 2, .measured = 20 },
            { .predicted = 3, .measured = 30 },
            { .predicted = 100 } },
          1.0,
          1.0 },
        { 3,
          { { .predicted = 1, .measured = 5 },
            { .predicted = 1, .measured = 6 },
            { .predicted = 1, .measured = 7 } },
          0.0,
          1.0 },
    };
    (void)state;
    for (size_t i = 0; i < KAL_COUNT(rows); i++) {
        struct kal_candidate candidate[6];
        for (int k = 0; k < rows[i].count; k++)
            candidate[k] = rows[i].candidate[k];
        const struct kal_search s = make_search(candidate, rows[i].count);
        row_ran();
        if (!(fabs(kal_search_correlation(&s) - rows[i].correlation) < 1e-12))
            row_fail("row %zu: correlation %g", i, kal_search_correlation(&s));
        if (!(fabs(kal_search_first_choice(&s) - rows[i].first_choice) < 1e-12))
            row_fail("row %zu: first choice %g", i, kal_search_first_choice(&s));
    }
    ROWS_FINISH();
}

static void shares_of_parameters_are_those_on_the_way(void **state)
{
    struct kal_candidate way[] = {
        { .measured = 10 },
        { .of = 0, .decision = KAL_DECISION_PARAMETER, .gain = 1.25, .measured = 8 },
        { .of = 0, .decision = KAL_DECISION_PARAMETER, .gain = 2.0 }, // led nowhere
        { .of = 1, .decision = KAL_DECISION_RADICES, .gain = 2.0, .measured = 4 },
        { .of = 3, .decision = KAL_DECISION_PARAMETER, .gain = 2.0, .measured = 2 },
    };
    struct kal_search s = make_search(way, (int)KAL_COUNT(way));

    (void)state;
    assert_true(kal_search_parameter_share(&s, 0) == 0.0);
    s.best = 4;
    assert_true(fabs(kal_search_parameter_share(&s, 0) - log(2.5) / log(5.0)) < 1e-12);
    assert_true(kal_search_parameter_share(&s, 1) == 0.5);
    assert_true(kal_search_parameter_share(&s, 3) == 1.0);
    assert_true(kal_search_parameter_share(&s, 4) == 0.0);
    s.best = 3;
    assert_true(fabs(kal_search_parameter_share(&s, 0) - log(1.25) / log(2.5)) < 1e-12);
}

// Times from another model: the knowledge moves towards it, the more the less it rests on.
static void knowledge_grows_with_what_is_measured(void **state)
{
    static const char *const texts[] = { "local(16.16.16)", "local(8.8.8.8)",
                                         "local(4.4.4.8.8)", "local(32.16.8)" };
    const kallima_desc desc = { .rank = 1, .n = { 4096 }, .batch = 1000 };
    struct kal_candidate candidate[KAL_COUNT(texts)] = { { .text = NULL } };
    struct kal_problem problem;
    kallima_device *device = NULL;

    (void)state;
    assert_int_equal(kallima_device_open(&device, "nullcuda", NULL), KALLIMA_OK);
    assert_int_equal(kal_problem_init(&problem, NULL, &desc), KALLIMA_OK);
    const struct kal_model guess = kal_model_guess(&device->caps, NULL);
    for (size_t i = 0; i < KAL_COUNT(texts); i++) {
        struct kal_recipe *recipe;
        struct kal_terms terms;
        struct kal_arena arena;
        kal_arena_init(&arena, NULL);
        assert_int_equal(kal_recipe_parse(&recipe, &arena, &problem, texts[i]),
                         KALLIMA_OK);
        assert_int_equal(kal_terms_count(&terms, &arena, &problem, recipe, &device->caps),
                         KALLIMA_OK);
        candidate[i].text = texts[i];
        candidate[i].predicted = kal_model_predict(&guess, &terms);
        candidate[i].measured = 2.0 * candidate[i].predicted;
        kal_arena_clear(&arena);
    }
    struct kal_search s = make_search(candidate, (int)KAL_COUNT(texts));
    s.problem = &problem;
    struct kal_knowledge fresh = kal_knowledge_guess(&guess), old = fresh;
    old.samples = 100000;
    for (int i = 0; i < KAL_TERM_COUNT; i++)
        old.trust[i] *= 1e5;
    assert_int_equal(kal_knowledge_extend(&fresh, NULL, &s, &device->caps), KALLIMA_OK);
    assert_int_equal(kal_knowledge_extend(&old, NULL, &s, &device->caps), KALLIMA_OK);
    assert_int_equal(fresh.samples, 4);
    assert_int_equal(old.samples, 100004);
    // No plan keeps registers in memory, so nothing is known of what that costs.
    assert_true(fabs(fresh.model.cost[KAL_TERM_SPILL] / guess.cost[KAL_TERM_SPILL] -
                     1.0) < 1e-12);
    // All is twice as dear: most of that is seen in what takes most of the time.
    assert_true(fresh.model.cost[KAL_TERM_MEMORY] > 1.1 * guess.cost[KAL_TERM_MEMORY]);
    for (int i = 0; i < KAL_TERM_COUNT; i++) {
        assert_true(fresh.model.cost[i] >= guess.cost[i] * (1.0 - 1e-9));
        assert_true(fabs(old.model.cost[i] / guess.cost[i] - 1.0) < 1e-3);
        assert_true(fresh.trust[i] * guess.cost[i] * guess.cost[i] >= 1.0 - 1e-12);
    }
    kallima_device_close(&device);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(correlation_is_spearmans),
        cmocka_unit_test(shares_of_parameters_are_those_on_the_way),
        cmocka_unit_test(knowledge_grows_with_what_is_measured),
    };
    return cmocka_run_group_tests_name("tune-lesson", tests, NULL, NULL);
}
