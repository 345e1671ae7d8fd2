// SPDX-License-Identifier: MIT
// Usage: fuzz_recipe [COUNT [SEED]]. Mutated recipe texts: refused with E_RECIPE, or, where
// they need a device of kernels and have none, with E_UNSUPPORTED; or followed to the right
// result.
#include <kallima/kallima.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../counting.h"
#include "../problems.h"
#include "../rows.h"
#include "../trial.h"

enum { DEFAULT_COUNT = 8000, TEXT_BYTES = 1024 };

// Texts to start from, and pieces to splice in.
enum problem {
    LINE_240,
    LINES_241,
    REAL_240,
    INVERSE_240,
    REAL_15,
    PLANE,
    REAL_PLANE,
    IN_PLACE
};

static const struct {
    const char *text;
    enum problem problem;
} seeds[] = {
    { "local(16.15)", LINE_240 },
    { "local(2.2.2.2.3.5)", LINE_240 },
    { "prime-factor(local(16), local(15))", LINE_240 },
    { "four-step(local(16), local(15))", LINE_240 },
    { "four-step(local(4), four-step(local(4), local(15)))", LINE_240 },
    { "four-step(rader(local(4)), local(16.3))", LINE_240 },
    { "bluestein(n=240, local(32.16))", LINE_240 },
    { "four-step(bluestein(n=5, local(9)), local(16.3))", LINE_240 },
    { "rader(local(16.15))", LINES_241 },
    { "bluestein(n=241, local(32.16))", LINES_241 },
    { "real-even(local(10.12))", REAL_240 },
    { "real-even(four-step(local(8), local(15)))", INVERSE_240 },
    { "real-even(bluestein(n=120, local(16.15)))", INVERSE_240 },
    { "real-odd(local(15))", REAL_15 },
    { "rank(local(16), local(15))", PLANE },
    { "rank(local(16), real-odd(local(15)))", REAL_PLANE },
    { "rank(rader(local(16)), bluestein(n=15, local(32)))", IN_PLACE },
    { "local(16.15, points=8, lines=3)", LINE_240 },
    { "four-step(local(16, cluster=2, lag=2), local(15, lanes=64, run=0))", LINE_240 },
};

static const char *const pieces[] = {
    "local(",
    "four-step(",
    "prime-factor(",
    "rader(",
    "bluestein(n=",
    "real-even(",
    "real-odd(",
    "rank(",
    ")",
    ", ",
    ".",
    "1",
    "2",
    "3",
    "16",
    "15",
    "240",
    "0",
    "-1",
    "999999999999999999",
    "n=",
    " ",
    "(",
    "local(1)",
    "local(2)",
    "local(16)",
    ", lanes=",
    ", lines=4",
    ", points=2",
    ", resident=3",
    ", powers=2",
    ", hints=0",
    "cluster=",
    "\n",
    "%s",
};

static const kallima_desc problems[] = {
    // indexed by enum problem
    { .rank = 1, .n = { 240 } },
    { .rank = 1, .n = { 241 }, .batch = 3 },
    { .rank = 1, .n = { 240 }, .kind = KALLIMA_R2C },
    { .rank = 1, .n = { 240 }, .kind = KALLIMA_C2R },
    { .rank = 1, .n = { 15 }, .kind = KALLIMA_R2C },
    { .rank = 2, .n = { 16, 15 } },
    { .rank = 2, .n = { 16, 15 }, .kind = KALLIMA_C2R },
    { .rank = 2, .n = { 17, 15 }, .placement = KALLIMA_IN_PLACE },
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static size_t any(struct random *r, size_t count)
{
    return (size_t)random_between(r, 0, (int64_t)count - 1);
}

// Replace `cut` characters at `at` by `piece`, if the result fits.
static void splice(char *text, size_t at, size_t cut, const char *piece)
{
    char tail[TEXT_BYTES];
    const size_t length = strlen(text), added = strlen(piece);
    if (cut > length - at)
        cut = length - at;
    if (length - cut + added + 1 > TEXT_BYTES)
        return;
    memcpy(tail, text + at + cut, length - at - cut + 1);
    memcpy(text + at, piece, added);
    memcpy(text + at + added, tail, length - at - cut + 1);
}

static void mutate(char *text, struct random *r)
{
    const size_t length = strlen(text), at = any(r, length + 1);
    const int64_t choice = random_between(r, 0, 5);
    char other[2] = { (char)random_between(r, 1, 255), '\0' };

    if (choice == 0)
        splice(text, at, 1, "");
    else if (choice == 1)
        splice(text, at, 0, pieces[any(r, COUNT(pieces))]);
    else if (choice == 2)
        splice(text, at, any(r, 8), pieces[any(r, COUNT(pieces))]);
    else if (choice == 3)
        splice(text, at, 1, other);
    else if (choice == 4)
        text[at] = '\0';
    else
        splice(text, at, any(r, 4), seeds[any(r, COUNT(seeds))].text);
}

struct tally {
    long long accepted, refused;
};

static void check_one(uint64_t seed, kallima_device *device, bool computes,
                      struct counting *counting, struct tally *tally)
{
    struct random r = { seed };
    char text[TEXT_BYTES] = "";
    struct trial t = { .seed = seed, .recipe = text };
    const kallima_plan_options options = { .recipe = text };
    const long long live = counting->live;

    const size_t start = any(&r, COUNT(seeds));
    splice(text, 0, 0, seeds[start].text);
    for (int64_t left = random_between(&r, 0, 3); left > 0; left--)
        mutate(text, &r);
    t.desc = problems[any(&r, 6) == 0 ? any(&r, COUNT(problems)) : seeds[start].problem];
    t.way = (enum way)any(&r, WAY_COUNT);

    kallima_plan *plan = NULL;
    const kallima_status status = kallima_plan_create(&plan, device, &t.desc, &options);
    kallima_plan_destroy(&plan);
    row_ran();
    if (status == KALLIMA_OK) {
        if (computes)
            trial_check(&t, device);
        tally->accepted++;
    } else if (status != KALLIMA_E_RECIPE &&
               !(computes && status == KALLIMA_E_UNSUPPORTED)) {
        row_fail("seed %llu: \"%s\": %s", (unsigned long long)seed, text,
                 kallima_status_name(status));
    } else {
        tally->refused++;
    }
    if (counting->live != live || counting->damaged != 0)
        row_fail("seed %llu: memory is left allocated or damaged",
                 (unsigned long long)seed);
}

static long long count = DEFAULT_COUNT;
static uint64_t first_seed = 1;

static void check_device(const char *selector, bool computes, long long texts)
{
    struct counting counting = { 0 };
    const kallima_device_options options = { .threads = 1,
                                             .allocator = counting_allocator(&counting) };
    kallima_device *device = NULL;
    struct tally tally = { 0 };

    assert_int_equal(kallima_device_open(&device, selector, &options), KALLIMA_OK);
    for (long long i = 0; i < texts; i++)
        check_one(first_seed + (uint64_t)i, device, computes, &counting, &tally);
    kallima_device_close(&device);
    fprintf(stderr, "  %s: %lld accepted, %lld refused\n", selector, tally.accepted,
            tally.refused);
    // Both must occur, or nothing was tested.
    ROW_CHECK(tally.accepted * 10 > texts && tally.refused * 3 > texts);
    ROW_CHECK(counting.live == 0);
}

static void texts_are_refused_or_followed(void **state)
{
    (void)state;
    check_device("cpu", true, count);
    ROWS_FINISH();
}

static void kernels_are_made_or_refused(void **state)
{
    (void)state;
    check_device("nullopencl", false, count / 4);
    check_device("nullcuda", false, count / 4);
    ROWS_FINISH();
}

int main(int argc, char **argv)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_are_refused_or_followed),
        cmocka_unit_test(kernels_are_made_or_refused),
    };
    if (argc > 1)
        count = atoll(argv[1]);
    if (argc > 2)
        first_seed = strtoull(argv[2], NULL, 10);
    return cmocka_run_group_tests_name("fuzz-recipe", tests, NULL, NULL);
}
