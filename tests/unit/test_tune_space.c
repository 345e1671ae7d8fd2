// SPDX-License-Identifier: MIT
// The space of recipes: every neighbour is another recipe of the same problem, and those
// that must be there are.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../rows.h"
#include "device/device.h"
#include "pass/pass.h"
#include "tune/space.h"

enum { MOST_TEXTS = 20000 };

// One problem on one device, and the texts of the recipes that were visited.
struct visited {
    struct kal_problem problem;
    struct kal_caps caps, limits;
    struct kal_arena arena;
    const char *selector, *own; // the recipe whose neighbours are visited
    char *text[MOST_TEXTS];
    enum kal_decision decision[MOST_TEXTS];
    int count, per_decision[KAL_DECISION_COUNT];
};

static struct visited v;

static char *copy_text(const struct kal_recipe *recipe)
{
    struct kal_text text;
    kal_text_init(&text, NULL);
    kal_recipe_print(&text, recipe);
    char *copy = strdup(text.data);
    kal_text_clear(&text);
    return copy;
}

static kallima_status note(void *context, const struct kal_recipe *recipe,
                           enum kal_decision decision)
{
    ROW_CHECK(context == &v && v.count < MOST_TEXTS);
    v.decision[v.count] = decision;
    v.text[v.count++] = copy_text(recipe);
    v.per_decision[decision]++;
    return KALLIMA_OK;
}

static kallima_status refuse(void *context, const struct kal_recipe *recipe,
                             enum kal_decision decision)
{
    (void)recipe;
    (void)decision;
    return ++*(int *)context == 3 ? KALLIMA_E_DEVICE : KALLIMA_OK;
}

static void begin(const char *selector, const kallima_desc *desc)
{
    kallima_device *device = NULL;

    memset(&v, 0, sizeof v);
    v.selector = selector;
    assert_int_equal(kallima_device_open(&device, selector, NULL), KALLIMA_OK);
    assert_int_equal(kal_problem_init(&v.problem, NULL, desc), KALLIMA_OK);
    v.caps = device->caps;
    v.limits = kal_caps_limit(&v.caps, desc->precision == KALLIMA_F64);
    kallima_device_close(&device);
    kal_arena_init(&v.arena, NULL);
}

static void end(void)
{
    for (int i = 0; i < v.count; i++)
        free(v.text[i]);
    kal_arena_clear(&v.arena);
}

// Visit the neighbours of the recipe with this text; NULL: of the planner's.
static void visit(const char *text)
{
    const struct kal_planner planner = { &v.arena, &v.limits };
    struct kal_recipe *recipe;

    if (text)
        assert_int_equal(kal_recipe_parse(&recipe, &v.arena, &v.problem, text),
                         KALLIMA_OK);
    else
        assert_int_equal(kal_plan_problem(&recipe, &planner, &v.problem), KALLIMA_OK);
    char *before = copy_text(recipe);
    assert_int_equal(kal_space_neighbours(&planner, &v.problem, recipe, note, &v),
                     KALLIMA_OK);
    char *after = copy_text(recipe);
    row_ran();
    if (strcmp(before, after) != 0)
        row_fail("%s: %s became %s", v.selector, before, after);
    for (int i = 0; i < v.count; i++) {
        if (strcmp(v.text[i], before) == 0)
            row_fail("%s: %s is its own neighbour", v.selector, before);
    }
    free(before);
    free(after);
}

static int compare(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool is_visited(const char *text)
{
    for (int i = 0; i < v.count; i++) {
        if (strcmp(v.text[i], text) == 0)
            return true;
    }
    return false;
}

// Each is a recipe of the problem that the device's passes can be made of, and no two are
// the same.
static void check_visited(void)
{
    const struct kal_planner planner = { &v.arena, &v.limits };
    struct kal_recipe *planned;

    assert_int_equal(kal_plan_problem(&planned, &planner, &v.problem), KALLIMA_OK);
    for (int i = 0; i < v.count; i++) {
        struct kal_arena arena;
        struct kal_recipe *recipe;
        struct kal_program program;
        row_ran();
        kal_arena_init(&arena, NULL);
        if (kal_recipe_parse(&recipe, &arena, &v.problem, v.text[i]) != KALLIMA_OK ||
            kal_program_lower(&program, &arena, &v.problem, recipe, &v.caps) !=
                KALLIMA_OK)
            row_fail("%s: %s: %s", v.selector, v.text[i], kallima_last_error());
        else if (!(kal_space_differences(planned, recipe) & 1u << v.decision[i]))
            row_fail("%s: %s: does not differ in %s", v.selector, v.text[i],
                     kal_decision_names[v.decision[i]]);
        kal_arena_clear(&arena);
    }
    qsort(v.text, (size_t)v.count, sizeof *v.text, compare);
    for (int i = 1; i < v.count; i++) {
        if (strcmp(v.text[i - 1], v.text[i]) == 0)
            row_fail("%s: %s is visited twice", v.selector, v.text[i]);
    }
}

static const char *const selectors[] = { "cpu",        "nullcuda",   "nullopencl",
                                         "nullvulkan", "nullopengl", "nullopengles",
                                         "nulld3d11" };

static void neighbours_are_other_recipes_of_the_problem(void **state)
{
    static const kallima_desc descs[] = {
        { .rank = 1, .n = { 1 } },
        { .rank = 1, .n = { 2 } },
        { .rank = 1, .n = { 30 }, .batch = 100 },
        { .rank = 1, .n = { 101 }, .batch = 100 },
        { .rank = 1, .n = { 360 }, .batch = 100, .precision = KALLIMA_F64 },
        { .rank = 1, .n = { 4096 }, .batch = 100 },
        { .rank = 1, .n = { 4099 }, .batch = 10 },
        { .rank = 1, .n = { 10007 } },
        { .rank = 1, .n = { 65536 }, .batch = 10 },
        { .rank = 1, .n = { 1000003 } },
        { .rank = 1, .n = { 1 << 25 } },
        { .rank = 1, .n = { 1024 }, .batch = 10, .kind = KALLIMA_R2C },
        { .rank = 1, .n = { 1 << 20 }, .batch = 10, .kind = KALLIMA_C2R },
        { .rank = 1, .n = { 177147 }, .batch = 10, .kind = KALLIMA_R2C },
        { .rank = 2, .n = { 64, 48 }, .batch = 10 },
        { .rank = 2, .n = { 512, 101 }, .batch = 3, .precision = KALLIMA_F64 },
        { .rank = 3, .n = { 60, 60, 60 }, .kind = KALLIMA_R2C },
    };
    (void)state;
    for (size_t i = 0; i < KAL_COUNT(selectors); i++) {
        for (size_t j = 0; j < KAL_COUNT(descs); j++) {
            begin(selectors[i], &descs[j]);
            visit(NULL);
            check_visited();
            end();
        }
    }
    ROWS_FINISH();
}

static void decisions_that_must_be_there_are(void **state)
{
    static const struct {
        const char *selector;
        kallima_desc desc;
        const char *from, *to;
    } rows[] = {
        { "nullcuda", { .rank = 1, .n = { 4096 } }, "local(16.16.16)", "local(8.16.32)" },
        { "nullcuda",
          { .rank = 1, .n = { 4096 } },
          "local(16.16.16)",
          "local(16.16.16, lanes=64)" },
        { "nullcuda",
          { .rank = 1, .n = { 4096 } },
          "local(16.16.16, lanes=64)",
          "local(16.16.16)" },
        { "nullcuda",
          { .rank = 1, .n = { 4096 } },
          "local(16.16.16)",
          "four-step(local(8.8), local(8.8))" },
        { "nullcuda",
          { .rank = 1, .n = { 1 << 16 }, .batch = 100 },
          "four-step(local(16.16), local(16.16))",
          "four-step(local(16.16, cluster=8), local(16.16))" },
        { "nullcuda",
          { .rank = 1, .n = { 53 }, .batch = 100 },
          "local(53)",
          "rader(local(13.4))" },
        { "nullcuda",
          { .rank = 1, .n = { 53 }, .batch = 100 },
          "rader(local(13.4))",
          "local(53)" },
        { "nullcuda",
          { .rank = 2, .n = { 64, 48 } },
          "rank(local(8.8), local(8.6))",
          "rank(local(8.8), local(6.8))" },
        { "cpu",
          { .rank = 1, .n = { 4096 } },
          "four-step(local(8.8), local(8.8))",
          "four-step(local(8.8), local(4.16))" },
        { "cpu",
          { .rank = 1, .n = { 4096 } },
          "four-step(local(8.8), local(8.8))",
          "four-step(local(8.8, lines=4), local(8.8))" },
        { "cpu",
          { .rank = 2, .n = { 64, 48 } },
          "rank(local(8.8), local(8.6))",
          "rank(local(8.8), local(8.6, lanes=1))" },
        { "cpu",
          { .rank = 1, .n = { 101 } },
          "rader(local(10.10))",
          "rader(local(4.25))" },
    };
    (void)state;
    for (size_t i = 0; i < KAL_COUNT(rows); i++) {
        begin(rows[i].selector, &rows[i].desc);
        visit(rows[i].from);
        row_ran();
        if (!is_visited(rows[i].to))
            row_fail("%s: %s is no neighbour of %s", rows[i].selector, rows[i].to,
                     rows[i].from);
        end();
    }
    ROWS_FINISH();
}

// Is there a visited recipe with this in its text?
static bool is_offered(const char *part)
{
    for (int i = 0; i < v.count; i++) {
        if (strstr(v.text[i], part))
            return true;
    }
    return false;
}

static void each_device_has_its_own_parameters(void **state)
{
    static const char *const for_kernels[] = { "points=",   "run=", "powers=",
                                               "resident=", "lag=", "split=" };
    static const char *const for_passes[] = { "threads=", "across=", "line=0", "fetch=" };
    const kallima_desc desc = { .rank = 1, .n = { 4096 } };

    (void)state;
    for (int kernels = 0; kernels < 2; kernels++) {
        begin(kernels ? "nullopencl" : "cpu", &desc);
        visit("four-step(local(8.8), local(8.8))");
        assert_true(v.per_decision[KAL_DECISION_SPLIT] > 0);
        assert_true(is_offered("lines=") && is_offered("lanes=") && is_offered("hints="));
        for (size_t i = 0; i < KAL_COUNT(for_kernels); i++)
            assert_int_equal(is_offered(for_kernels[i]), kernels);
        for (size_t i = 0; i < KAL_COUNT(for_passes); i++)
            assert_int_equal(is_offered(for_passes[i]), !kernels);
        assert_false(is_offered("cluster"));
        end();
    }
}

// Of a processor that is not here: with registers of 1, 8 and 16 numbers, and 64 threads.
static void the_cpus_space_follows_from_its_limits(void **state)
{
    static const struct {
        int precision, threads;
        unsigned lane_counts;
        const char *recipe, *there, *not_there;
    } rows[] = {
        { KALLIMA_F32, 64, 1 | 8 | 16, "local(8.8)", "threads=64", "threads=128" },
        { KALLIMA_F32, 6, 1 | 8 | 16, "local(8.8)", "threads=4", "threads=8" },
        { KALLIMA_F32, 1, 1 | 8 | 16, "local(8.8)", "lanes=16", "lanes=4" },
        { KALLIMA_F64, 1, 1 | 8 | 16, "local(8.8)", "lanes=4", "lanes=16" },
        { KALLIMA_F32, 1, 1 | 4, "local(8.8)", "lanes=4", "lanes=8" },
        { KALLIMA_F64, 1, 1, "local(8.8)", "lanes=1", "lanes=2" },
        { KALLIMA_F32, 1, 1, "local(8.8)", "fetch=1", "lines=" },
        { KALLIMA_F32, 1, 1, "local(8.8)", "hints=1", "across=" },
        { KALLIMA_F32, 1, 1, "four-step(local(8), local(8))", "local(8, lines=4), ",
          "), local(8, lines=4)" },
        { KALLIMA_F32, 1, 1, "four-step(local(8), local(8))", "local(8, threads=1), ",
          "), local(8, threads=1)" },
        { KALLIMA_F32, 1, 1, "four-step(local(8), local(8))", "), local(8, fetch=1)",
          "points" },
    };
    (void)state;
    for (size_t i = 0; i < KAL_COUNT(rows); i++) {
        const kallima_desc desc = {
            .rank = 1, .n = { 64 }, .batch = 100, .precision = rows[i].precision
        };
        begin("cpu", &desc);
        v.caps.threads = v.limits.threads = rows[i].threads;
        v.caps.lane_counts = v.limits.lane_counts = rows[i].lane_counts;
        visit(rows[i].recipe);
        row_ran();
        if (!is_offered(rows[i].there) || is_offered(rows[i].not_there))
            row_fail("%s: %s is not there, or %s is", rows[i].recipe, rows[i].there,
                     rows[i].not_there);
        end();
    }
    ROWS_FINISH();
}

static void a_status_ends_the_visits(void **state)
{
    const kallima_desc desc = { .rank = 1, .n = { 4096 } };
    struct kal_recipe *recipe;
    int calls = 0;

    (void)state;
    begin("nullcuda", &desc);
    const struct kal_planner planner = { &v.arena, &v.limits };
    assert_int_equal(kal_plan_problem(&recipe, &planner, &v.problem), KALLIMA_OK);
    char *before = copy_text(recipe);
    assert_int_equal(kal_space_neighbours(&planner, &v.problem, recipe, refuse, &calls),
                     KALLIMA_E_DEVICE);
    assert_int_equal(calls, 3);
    char *after = copy_text(recipe);
    assert_string_equal(before, after);
    free(before);
    free(after);
    end();
}

// The decisions in which two recipes of the problem differ, as words.
static const char *differences(const char *a, const char *b)
{
    static char words[100];
    struct kal_recipe *one, *other;

    words[0] = '\0';
    assert_int_equal(kal_recipe_parse(&one, &v.arena, &v.problem, a), KALLIMA_OK);
    assert_int_equal(kal_recipe_parse(&other, &v.arena, &v.problem, b), KALLIMA_OK);
    const unsigned set = kal_space_differences(one, other);
    ROW_CHECK(set == kal_space_differences(other, one));
    for (int i = 0; i < KAL_DECISION_COUNT; i++) {
        if (set & 1u << i)
            snprintf(words + strlen(words), sizeof words - strlen(words), "%s ",
                     kal_decision_names[i]);
    }
    return words;
}

static void differences_are_named(void **state)
{
    static const struct {
        int64_t n;
        const char *a, *b, *words;
    } rows[] = {
        { 240, "local(16.15)", "local(16.15)", "" },
        { 240, "local(16.15)", "local(15.16)", "radices " },
        { 240, "local(16.15)", "local(16.5.3)", "radices " },
        { 240, "local(16.15)", "four-step(local(16), local(15))", "algorithm " },
        { 240, "four-step(local(15), local(16))", "four-step(local(16), local(15))",
          "split " },
        { 240, "local(16.15, lanes=64)", "local(16.15)", "parameter " },
        { 240, "local(16.15, lanes=64)", "local(16.15, lanes=32)", "parameter " },
        { 240, "local(16.15, lanes=64)", "local(15.16)", "radices parameter " },
        { 65536, "four-step(local(16.16), local(16.16))",
          "four-step(four-step(local(16), local(16)), local(4.8.8))",
          "algorithm radices " },
        { 101, "bluestein(n=101, local(14.15))", "bluestein(n=101, local(16.16))",
          "padding " },
        { 101, "bluestein(n=101, local(14.15))", "rader(local(10.10))", "algorithm " },
    };
    (void)state;
    for (size_t i = 0; i < KAL_COUNT(rows); i++) {
        const kallima_desc desc = { .rank = 1, .n = { rows[i].n } };
        begin("nullcuda", &desc);
        const char *words = differences(rows[i].a, rows[i].b);
        row_ran();
        if (strcmp(words, rows[i].words) != 0)
            row_fail("%s and %s: %s", rows[i].a, rows[i].b, words);
        end();
    }
    ROWS_FINISH();
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(neighbours_are_other_recipes_of_the_problem),
        cmocka_unit_test(decisions_that_must_be_there_are),
        cmocka_unit_test(each_device_has_its_own_parameters),
        cmocka_unit_test(the_cpus_space_follows_from_its_limits),
        cmocka_unit_test(a_status_ends_the_visits),
        cmocka_unit_test(differences_are_named),
    };
    return cmocka_run_group_tests_name("tune-space", tests, NULL, NULL);
}
