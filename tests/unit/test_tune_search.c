// SPDX-License-Identifier: MIT
// The search, with a judge that knows the time of every recipe: no device, no clock.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../rows.h"
#include "base/hash.h"
#include "device/device.h"
#include "tune/search.h"

// Times of an imagined device: each decision that it likes is worth a factor.
struct imagined {
    double best; // of those that ran; 0: none has
    int challenges, most_challenges;
    const char *prepared[64]; // each once
    int prepared_count;
    bool predicts_well, takes_last;
    const char *known;   // a recipe that was fast before
    const char *wrong;   // recipes with this in their text compute wrongly
    const char *refused; // or do not run
    int fails_at; // number of the challenge that the device does not survive; 0: none
};

static double number_of(const char *text)
{
    uint8_t digest[KAL_HASH_BYTES];
    struct kal_hash hash;
    kal_hash_init(&hash);
    kal_hash_add(&hash, text, strlen(text));
    kal_hash_finish(&hash, digest);
    return digest[0] / 256.0;
}

static double time_of(const char *text)
{
    double seconds = 1.0;
    seconds *= strstr(text, "lanes=64") ? 0.9 : 1.0;
    seconds *= strstr(text, "points=8") ? 0.9 : 1.0;
    seconds *= strstr(text, "local(8.") ? 0.8 : 1.0;
    seconds *= strstr(text, "four-step") ? 3.0 : 1.0;
    return seconds * (1.0 + 0.01 * number_of(text));
}

static double predict(void *context, const struct kal_recipe *recipe)
{
    const struct imagined *i = context;
    struct kal_text text;
    kal_text_init(&text, NULL);
    kal_recipe_print(&text, recipe);
    const double seconds = i->predicts_well ? time_of(text.data) : 1.0;
    kal_text_clear(&text);
    return seconds;
}

static int prepare(void *context, const char *const *text, int count)
{
    struct imagined *i = context;
    for (int k = 0; k < count; k++) {
        int known = 0;
        while (known < i->prepared_count && i->prepared[known] != text[k])
            known++;
        if (known == i->prepared_count && known < (int)KAL_COUNT(i->prepared))
            i->prepared[i->prepared_count++] = text[k];
    }
    return i->takes_last ? count - 1 : 0; // the one that is built first is taken
}

static kallima_status challenge(void *context, struct kal_candidate *c)
{
    struct imagined *i = context;

    if (++i->challenges == i->fails_at)
        return KALLIMA_E_DEVICE;
    c->fate = KAL_FATE_SLOWER;
    if (i->wrong && strstr(c->text, i->wrong))
        c->fate = KAL_FATE_WRONG;
    else if (i->refused && strstr(c->text, i->refused))
        c->fate = KAL_FATE_REFUSED;
    else
        c->measured = time_of(c->text);
    if (c->measured > 0 && (i->best == 0 || c->measured < i->best)) {
        i->best = c->measured;
        c->fate = KAL_FATE_FASTER;
    }
    return KALLIMA_OK;
}

static bool has_time(void *context)
{
    const struct imagined *i = context;
    return i->challenges < i->most_challenges;
}

static const struct kal_reach far = { INFINITY, 1 << 20 };

// Search for the fastest recipe of 4096 points; the search lives in the arena.
static kallima_status search(struct kal_search *s, struct kal_arena *arena,
                             struct imagined *imagined, struct kal_reach reach)
{
    static const kallima_desc desc = { .rank = 1, .n = { 4096 }, .batch = 1000 };
    static struct kal_problem problem;
    static struct kal_caps caps;
    const struct kal_judge judge = { imagined, predict, prepare, challenge, has_time };
    kallima_device *device = NULL;
    struct kal_recipe *first, *known = NULL;

    assert_int_equal(kallima_device_open(&device, "nullcuda", NULL), KALLIMA_OK);
    caps = kal_caps_limit(&device->caps, false);
    kallima_device_close(&device);
    assert_int_equal(kal_problem_init(&problem, NULL, &desc), KALLIMA_OK);
    const struct kal_planner planner = { arena, &caps };
    assert_int_equal(kal_recipe_parse(&first, arena, &problem, "local(16.16.16)"),
                     KALLIMA_OK);
    if (imagined->known)
        assert_int_equal(kal_recipe_parse(&known, arena, &problem, imagined->known),
                         KALLIMA_OK);
    if (!imagined->most_challenges)
        imagined->most_challenges = 1 << 20;
    return kal_search_run(s, &planner, &problem, first, known, &judge, reach);
}

static int count_fates(const struct kal_search *s, enum kal_fate fate)
{
    int count = 0;
    for (int i = 0; i < s->count; i++)
        count += s->candidate[i].fate == fate;
    return count;
}

static void all_that_is_worth_it_is_found(void **state)
{
    (void)state;
    for (int way = 0; way < 4; way++) {
        struct imagined imagined = { .predicts_well = way % 2, .takes_last = way / 2 };
        struct kal_arena arena;
        struct kal_search s;
        kal_arena_init(&arena, NULL);
        assert_int_equal(search(&s, &arena, &imagined, far), KALLIMA_OK);
        const char *best = s.candidate[s.best].text;
        if (!strstr(best, "local(8.") || !strstr(best, "lanes=64") ||
            !strstr(best, "points=8"))
            row_fail("found %s", best);
        assert_true(s.candidate[s.best].measured == imagined.best);
        assert_int_equal(count_fates(&s, KAL_FATE_WAITING), 0);
        assert_true(imagined.prepared_count > 0);
        for (int i = 1; i < s.count; i++) // nothing was tried twice
            assert_true(strcmp(s.candidate[i].text, s.candidate[0].text) != 0);
        for (int i = 0; i < s.count; i++) // nothing faster was passed by
            assert_true(s.candidate[i].measured == 0 ||
                        s.candidate[i].measured >= imagined.best);
        row_ran();
        kal_arena_clear(&arena);
    }
    ROWS_FINISH();
}

static void what_was_found_before_is_tried_second(void **state)
{
    static const struct {
        const char *known;
        enum kal_decision decision;
    } rows[] = {
        { "local(8.8.8.8, lanes=64)", KAL_DECISION_RADICES },
        { "local(16.16.16, lanes=64)", KAL_DECISION_PARAMETER },
        { "four-step(local(8.8), local(8.8))", KAL_DECISION_ALGORITHM },
    };
    struct kal_arena arena;
    struct kal_search s;

    (void)state;
    for (size_t i = 0; i < KAL_COUNT(rows); i++) {
        struct imagined imagined = { .known = rows[i].known, .most_challenges = 2 };
        row_ran();
        kal_arena_init(&arena, NULL);
        assert_int_equal(search(&s, &arena, &imagined, far), KALLIMA_OK);
        if (strcmp(s.candidate[1].text, rows[i].known) != 0 ||
            s.candidate[1].decision != rows[i].decision || s.candidate[1].measured == 0)
            row_fail("%s: %s %s", rows[i].known, s.candidate[1].text,
                     kal_decision_names[s.candidate[1].decision]);
        kal_arena_clear(&arena);
    }
    // The planner's own is no second one.
    struct imagined same = { .known = "local(16.16.16)", .most_challenges = 2 };
    kal_arena_init(&arena, NULL);
    assert_int_equal(search(&s, &arena, &same, far), KALLIMA_OK);
    assert_true(strcmp(s.candidate[1].text, same.known) != 0);
    kal_arena_clear(&arena);
    ROWS_FINISH();
}

static void a_good_model_needs_few_trials(void **state)
{
    struct imagined good = { .predicts_well = true };
    const struct kal_reach near = { 1.0, 1 };
    struct kal_arena arena;
    struct kal_search s;

    (void)state;
    kal_arena_init(&arena, NULL);
    assert_int_equal(search(&s, &arena, &good, near), KALLIMA_OK);
    assert_true(s.candidate[s.best].measured < 0.7);
    assert_true(good.challenges < 10);
    assert_true(count_fates(&s, KAL_FATE_PRUNED) > 0);
    kal_arena_clear(&arena);
}

static void what_is_wrong_or_refused_never_wins(void **state)
{
    struct imagined imagined = { .wrong = "lanes=64", .refused = "points=8" };
    struct kal_arena arena;
    struct kal_search s;

    (void)state;
    kal_arena_init(&arena, NULL);
    assert_int_equal(search(&s, &arena, &imagined, far), KALLIMA_OK);
    assert_null(strstr(s.candidate[s.best].text, "lanes=64"));
    assert_null(strstr(s.candidate[s.best].text, "points=8"));
    assert_true(count_fates(&s, KAL_FATE_WRONG) > 0);
    assert_true(count_fates(&s, KAL_FATE_REFUSED) > 0);
    kal_arena_clear(&arena);
}

static void limits_are_kept(void **state)
{
    struct kal_arena arena;
    struct kal_search s;

    (void)state;
    for (int most = 1; most < 20; most++) {
        struct imagined imagined = { .most_challenges = most };
        kal_arena_init(&arena, NULL);
        assert_int_equal(search(&s, &arena, &imagined, far), KALLIMA_OK);
        assert_int_equal(imagined.challenges, most);
        assert_true(s.candidate[s.best].measured == imagined.best);
        kal_arena_clear(&arena);
    }
    struct imagined imagined = { 0 };
    const struct kal_reach patience = { INFINITY, 5 };
    kal_arena_init(&arena, NULL);
    assert_int_equal(search(&s, &arena, &imagined, patience), KALLIMA_OK);
    int failures = 0; // the last ones
    for (int i = 0; i < s.count; i++)
        failures += s.candidate[i].of == s.best && s.candidate[i].measured > 0 && i > 0;
    assert_int_equal(failures, 5);
    kal_arena_clear(&arena);
}

// Compilers take seconds: what will not be tried is not built.
static void nothing_is_prepared_in_vain(void **state)
{
    static const struct {
        int most_challenges, most_failures, tried, prepared;
    } rows[] = {
        { 0, 16, 16, 16 },
        { 0, 5, 5, 5 },
        { 0, 19, 19, 19 },
        { 9, 1 << 20, 8, 8 + 15 }, // time ends unforeseen
    };
    struct kal_arena arena;
    struct kal_search s;

    (void)state;
    for (size_t i = 0; i < KAL_COUNT(rows); i++) {
        struct imagined imagined = { .best = 1e-9, // nothing is as fast
                                     .most_challenges = rows[i].most_challenges };
        const struct kal_reach reach = { INFINITY, rows[i].most_failures };
        row_ran();
        kal_arena_init(&arena, NULL);
        assert_int_equal(search(&s, &arena, &imagined, reach), KALLIMA_OK);
        if (imagined.prepared_count != rows[i].prepared ||
            imagined.challenges != rows[i].tried + 1)
            row_fail("row %zu: %d prepared, %d tried", i, imagined.prepared_count,
                     imagined.challenges);
        kal_arena_clear(&arena);
    }
    ROWS_FINISH();
}

static void a_device_that_fails_ends_the_search(void **state)
{
    struct imagined imagined = { .fails_at = 7 };
    struct kal_arena arena;
    struct kal_search s;

    (void)state;
    kal_arena_init(&arena, NULL);
    assert_int_equal(search(&s, &arena, &imagined, far), KALLIMA_E_DEVICE);
    assert_int_equal(imagined.challenges, 7);
    assert_true(s.candidate[s.best].measured == imagined.best);
    kal_arena_clear(&arena);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_that_is_worth_it_is_found),
        cmocka_unit_test(what_was_found_before_is_tried_second),
        cmocka_unit_test(a_good_model_needs_few_trials),
        cmocka_unit_test(what_is_wrong_or_refused_never_wins),
        cmocka_unit_test(limits_are_kept),
        cmocka_unit_test(nothing_is_prepared_in_vain),
        cmocka_unit_test(a_device_that_fails_ends_the_search),
    };
    return cmocka_run_group_tests_name("tune-search", tests, NULL, NULL);
}
