// SPDX-License-Identifier: MIT
// Usage: fuzz_wisdom [COUNT [SEED]]. Damaged texts of wisdom: each line is taken or refused
// with a reason, what is taken reads back to the same, and plans are made whatever it says.
#include <kallima/kallima.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../counting.h"
#include "../random.h"
#include "../rows.h"
#include "problem/problem.h"

enum { DEFAULT_COUNT = 8000, TEXT_BYTES = 8192 };

static const kallima_desc problem = { .rank = 1, .n = { 240 }, .batch = 3 };

static const char *const recipes[] = {
    "local(16.15)",
    "prime-factor(local(16), local(15))",
    "four-step(local(16), local(15))",
    "bluestein(n=240, local(32.16))",
    "local(2.2.2.2.3.5)",
};

static const char *const pieces[] = {
    "kallima-wisdom 1\n",
    "kallima-wisdom 2\n",
    "plan ",
    "pass ",
    "bad ",
    "fact ",
    "trial ",
    "\"",
    "\\",
    "\\\"",
    " ",
    "\n",
    "measure",
    "patient",
    "exhaustive",
    " 1 0\n",
    "0",
    "1e9",
    "-1",
    ".",
    "999999999999999999999",
    "%s",
    "\x01",
    "\xff",
    "local(",
    ")",
    "240",
    "\r\n",
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

struct tally {
    long long taken, refused, followed, estimated;
};

static size_t any(struct random *r, size_t count)
{
    return (size_t)random_between(r, 0, (int64_t)count - 1);
}

// Replace `cut` characters at `at` by `piece`, if the result fits.
static void splice(char *text, size_t at, size_t cut, const char *piece)
{
    const size_t length = strlen(text), added = strlen(piece);
    if (cut > length - at)
        cut = length - at;
    if (length - cut + added + 1 > TEXT_BYTES)
        return;
    memmove(text + at + added, text + at + cut, length - at - cut + 1);
    memcpy(text + at, piece, added);
}

static void mutate(char *text, struct random *r)
{
    const size_t at = any(r, strlen(text) + 1);
    const char other[2] = { (char)random_between(r, 1, 255), '\0' };

    switch (random_between(r, 0, 4)) {
    case 0: splice(text, at, any(r, 4), ""); break;
    case 1: splice(text, at, 0, pieces[any(r, COUNT(pieces))]); break;
    case 2: splice(text, at, any(r, 8), pieces[any(r, COUNT(pieces))]); break;
    case 3: splice(text, at, 1, other); break;
    default:
        if (any(r, 4) == 0)
            text[at] = '\0';
    }
}

// A sound text: a plan for the problem on the device, and entries of each kind.
static void print_seed(char *text, const kallima_wisdom_owner *owner, struct random *r)
{
    struct kal_problem canonical;
    struct kal_text key;
    char head[700];

    ROW_CHECK(kal_problem_init(&canonical, NULL, &problem) == KALLIMA_OK);
    kal_text_init(&key, NULL);
    kal_problem_print(&key, &canonical);
    snprintf(head, sizeof head, "\"%s\" \"%s\" \"%s\"", owner->device, owner->driver,
             owner->version);
    snprintf(text, TEXT_BYTES,
             "kallima-wisdom 1\nplan %s \"%s\" \"%s\" measure 812.5 0.0123\n"
             "bad %s \"k\" \"local(3)\" \"a \\\"reason\\\"\"\n"
             "pass %s \"3f2a\" 12 0\nfact %s \"bytes\" \"1e9 2.5\" 0.5\n"
             "plan \"cuda\" \"12\" \"0.0.1\" \"k\" \"local(8)\" patient 1 1\n"
             "trial %s \"%s\" \"%s\" 1500.5 812.5 0.0123\n",
             head, key.data, recipes[any(r, COUNT(recipes))], head, head, head, head,
             key.data, recipes[any(r, COUNT(recipes))]);
    kal_text_clear(&key);
}

/** What is said about lines. */
struct heard {
    long long count;
    int64_t line;
    bool is_sound;
};

static void hear(void *user, const char *place, int64_t line, const char *reason)
{
    struct heard *heard = user;
    heard->is_sound = heard->is_sound && line > heard->line && reason[0] != '\0' &&
                      strcmp(place, "text") == 0;
    for (; *reason; reason++)
        heard->is_sound = heard->is_sound && *reason >= ' ' && *reason <= '~';
    heard->line = line;
    heard->count++;
}

static long long count_lines(const char *text)
{
    long long lines = 0;
    for (; *text; text++)
        lines += *text == '\n' || text[1] == '\0';
    return lines;
}

// What was taken reads back to the same.
static bool reads_back(const kallima_wisdom *wisdom)
{
    static char first[4 * TEXT_BYTES], second[4 * TEXT_BYTES];
    kallima_wisdom *copy = NULL;
    size_t length = 0;

    bool good =
        kallima_wisdom_create(&copy, NULL) == KALLIMA_OK &&
        kallima_wisdom_export(wisdom, first, sizeof first, &length) == KALLIMA_OK &&
        length < sizeof first &&
        kallima_wisdom_import(copy, first, NULL, NULL) == KALLIMA_OK &&
        kallima_wisdom_export(copy, second, sizeof second, NULL) == KALLIMA_OK &&
        strcmp(first, second) == 0;
    kallima_wisdom_destroy(&copy);
    return good;
}

/** What is shown of a plan's candidates. */
struct shown {
    int count, chosen, standard;
};

static int32_t count_candidate(void *user, const kallima_plan_candidate *candidate)
{
    struct shown *shown = user;
    shown->count++;
    shown->chosen += candidate->is_chosen;
    shown->standard += candidate->difference[0] == '\0';
    return 0;
}

// Whatever wisdom says, a plan is explained: one candidate is its own, and one the default.
static bool explains(const kallima_plan *plan)
{
    kallima_plan_explanation explanation;
    struct shown shown = { 0 };

    return kallima_plan_explain(plan, count_candidate, &shown, &explanation) ==
               KALLIMA_OK &&
           shown.count == explanation.candidates && shown.chosen == 1 &&
           shown.standard == 1;
}

// Plans are made, and do what wisdom says if it can be done.
static bool plans(kallima_device *device, bool is_sound, struct tally *tally)
{
    const kallima_plan_options options = { .planning = KALLIMA_PLANNING_WISDOM_ONLY };
    kallima_plan *plan = NULL;

    const bool is_asked = (tally->followed + tally->estimated) % 16 == 0; // takes long
    const bool good = kallima_plan_create(&plan, device, &problem, NULL) == KALLIMA_OK &&
                      (!is_asked || explains(plan));
    kallima_plan_destroy(&plan);
    const kallima_status status = kallima_plan_create(&plan, device, &problem, &options);
    kallima_plan_destroy(&plan);
    tally->followed += status == KALLIMA_OK;
    tally->estimated += status == KALLIMA_E_WISDOM;
    return good && (status == KALLIMA_OK || (status == KALLIMA_E_WISDOM && !is_sound));
}

static void check_one(uint64_t seed, kallima_device *device, struct tally *tally)
{
    static char text[TEXT_BYTES];
    const kallima_wisdom_filter all = { 0 };
    kallima_wisdom *wisdom = kallima_device_get_wisdom(device);
    struct random r = { seed };
    struct heard heard = { .line = 0, .is_sound = true };
    kallima_wisdom_owner owner;

    ROW_CHECK(kallima_device_get_owner(device, &owner) == KALLIMA_OK);
    print_seed(text, &owner, &r);
    int64_t mutations = random_between(&r, 0, 3);
    const bool is_sound = mutations == 0;
    while (mutations-- > 0)
        mutate(text, &r);
    const kallima_status status = kallima_wisdom_import(wisdom, text, hear, &heard);
    const int64_t taken = kallima_wisdom_get_count(wisdom);
    row_ran();
    if ((status != KALLIMA_OK && status != KALLIMA_E_WISDOM) ||
        (status == KALLIMA_OK) != (heard.count == 0) || !heard.is_sound ||
        taken + heard.count > count_lines(text) ||
        (is_sound && (status != KALLIMA_OK || taken != 6)))
        row_fail("seed %llu: %s: %lld taken, %lld refused", (unsigned long long)seed,
                 kallima_status_name(status), (long long)taken, heard.count);
    if (!reads_back(wisdom) || !plans(device, is_sound, tally))
        row_fail("seed %llu: %s", (unsigned long long)seed, kallima_last_error());
    tally->taken += status == KALLIMA_OK;
    tally->refused += status == KALLIMA_E_WISDOM;
    ROW_CHECK(kallima_wisdom_forget(wisdom, &all, NULL) == KALLIMA_OK);
}

static long long count = DEFAULT_COUNT;
static uint64_t first_seed = 1;

static void damaged_texts_are_refused_line_by_line(void **state)
{
    struct counting counting = { 0 };
    const kallima_device_options options = { .threads = 1,
                                             .allocator = counting_allocator(&counting),
                                             .wisdom = "" };
    kallima_device *device = NULL;
    struct tally tally = { 0 };

    (void)state;
    for (long long i = 0; i < count; i++) {
        if (i % 100 == 0) { // what is forgotten is remembered for a file
            kallima_device_close(&device);
            ROW_CHECK(counting.live == 0 && counting.damaged == 0);
            ROW_CHECK(kallima_device_open(&device, i % 1000 ? "cpu" : "nullcuda",
                                          &options) == KALLIMA_OK);
        }
        check_one(first_seed + (uint64_t)i, device, &tally);
    }
    kallima_device_close(&device);
    fprintf(stderr, "  %lld taken, %lld refused; %lld followed, %lld estimated\n",
            tally.taken, tally.refused, tally.followed, tally.estimated);
    // All must occur, or nothing was tested.
    ROW_CHECK(tally.taken * 4 > count && tally.refused * 4 > count);
    ROW_CHECK(tally.followed * 4 > count && tally.estimated * 20 > count);
    ROW_CHECK(counting.live == 0 && counting.damaged == 0);
    ROWS_FINISH();
}

int main(int argc, char **argv)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(damaged_texts_are_refused_line_by_line),
    };
    if (argc > 1)
        count = atoll(argv[1]);
    if (argc > 2)
        first_seed = strtoull(argv[2], NULL, 10);
    return cmocka_run_group_tests_name("fuzz-wisdom", tests, NULL, NULL);
}
