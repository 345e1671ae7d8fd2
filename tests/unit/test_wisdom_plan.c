// SPDX-License-Identifier: MIT
// Plans that follow wisdom, or do not: on the CPU, and on a GPU that need not be there.
#include <errno.h>
#include <kallima/kallima.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../counting.h"
#include "../pretend.h"
#include "../rows.h"
#include "problem/problem.h"

static struct counting counting;
static char file[] = "/tmp/kallima-wisdom-XXXXXX";

/** What a device says. */
static struct {
    int count;
    kallima_status status;
    char sentence[1024];
} log_;

static void hear(void *user, kallima_status status, const char *sentence)
{
    (void)user;
    log_.count++;
    log_.status = status;
    snprintf(log_.sentence, sizeof log_.sentence, "%s", sentence);
}

static void write_file(const char *text)
{
    FILE *stream = fopen(file, "w");
    ROW_CHECK(stream && fputs(text, stream) >= 0 && fclose(stream) == 0);
}

static int make_file(void **state)
{
    (void)state;
    memset(&counting, 0, sizeof counting);
    memset(&log_, 0, sizeof log_);
    setenv("KALLIMA_WISDOM", "", 1);
    unsetenv("KALLIMA_WISDOM_READ_ONLY");
    strcpy(file + strlen(file) - 6, "XXXXXX");
    const int descriptor = mkstemp(file);
    return descriptor < 0 ? -1 : close(descriptor);
}

static int remove_file(void **state)
{
    static const char *const suffixes[] = { "", ".lock", ".damaged" };
    char path[100];

    (void)state;
    for (size_t i = 0; i < KAL_COUNT(suffixes); i++) {
        snprintf(path, sizeof path, "%s%s", file, suffixes[i]);
        unlink(path);
    }
    return counting.live == 0 && counting.damaged == 0 ? 0 : -1;
}

static kallima_device *open_threads(const char *selector, int threads)
{
    const kallima_device_options options = {
        .log = hear,
        .allocator = counting_allocator(&counting),
        .threads = threads,
        .simd = NULL,
        .wisdom = file,
    };
    kallima_device *device = NULL;
    ROW_CHECK(kallima_device_open(&device, selector, &options) == KALLIMA_OK && device);
    return device;
}

static kallima_device *open_device(const char *selector)
{
    return open_threads(selector, 1);
}

/** A problem, and a recipe for it that no estimate is. */
static const struct sample {
    kallima_desc desc;
    const char *recipe;
} samples[] = {
    { { .rank = 1, .n = { 240 } }, "local(3.5.2.2.2.2)" },
    { { .rank = 1, .n = { 240 }, .batch = 9, .direction = KALLIMA_INVERSE },
      "prime-factor(local(15), local(2.8))" },
    { { .rank = 2, .n = { 16, 30 }, .kind = KALLIMA_R2C, .scale = 0.25 },
      "rank(local(2.2.2.2), real-even(local(3.5)))" },
};

static const char *const devices[] = { "cpu",        "nullcuda",   "nullopencl",
                                       "nullvulkan", "nullopengl", "nullopengles",
                                       "nulld3d11",  "null" };

// A plan of `device` for a problem as an entry of its wisdom.
static void learn(kallima_device *device, const kallima_desc *desc, const char *recipe,
                  double time_ns)
{
    struct kal_problem problem;
    kallima_wisdom_owner owner;
    struct kal_text key;

    ROW_CHECK(kal_problem_init(&problem, NULL, desc) == KALLIMA_OK);
    ROW_CHECK(kallima_device_get_owner(device, &owner) == KALLIMA_OK);
    kal_text_init(&key, NULL);
    kal_problem_print(&key, &problem);
    kallima_wisdom_entry entry = pretend_plan(key.data, recipe, time_ns);
    if (time_ns < 0.0)
        entry = pretend_bad(key.data, recipe);
    entry.device = owner.device;
    entry.driver = owner.driver;
    entry.version = owner.version;
    pretend_add(kallima_device_get_wisdom(device), entry);
    kal_text_clear(&key);
}

// The recipe of a plan, or the status that refuses it.
static const char *planned(kallima_device *device, const kallima_desc *desc, int planning,
                           const char *recipe)
{
    static char text[4][500];
    static int next;
    char *out = text[next++ % 4];
    const kallima_plan_options options = { .recipe = recipe, .planning = planning };
    kallima_plan *plan = (kallima_plan *)(void *)text;

    const kallima_status status = kallima_plan_create(&plan, device, desc, &options);
    if (status)
        ROW_CHECK(!plan);
    if (status)
        return kallima_status_name(status);
    ROW_CHECK(kallima_plan_get_recipe(plan, out, sizeof text[0], NULL) == KALLIMA_OK);
    kallima_plan_destroy(&plan);
    return out;
}

static void check_sample(const char *selector, const struct sample *sample)
{
    const kallima_desc *desc = &sample->desc;
    kallima_device *device = open_device(selector);
    char fixed[500];

    snprintf(fixed, sizeof fixed, "%s",
             planned(device, desc, KALLIMA_PLANNING_FIXED, NULL));
    ROW_CHECK(strcmp(fixed, sample->recipe) != 0);
    ROW_CHECK(strcmp(planned(device, desc, 0, NULL), fixed) == 0);
    ROW_CHECK(strcmp(planned(device, desc, KALLIMA_PLANNING_WISDOM_ONLY, NULL),
                     "E_WISDOM") == 0);
    ROW_CHECK(strstr(kallima_last_error(), "no wisdom of this problem"));
    learn(device, desc, sample->recipe, 10.0);
    ROW_CHECK(strcmp(planned(device, desc, 0, NULL), sample->recipe) == 0);
    ROW_CHECK(strcmp(planned(device, desc, KALLIMA_PLANNING_WISDOM_ONLY, NULL),
                     sample->recipe) == 0);
    ROW_CHECK(strcmp(planned(device, desc, KALLIMA_PLANNING_FIXED, NULL), fixed) == 0);
    ROW_CHECK(strcmp(planned(device, desc, 0, fixed), fixed) == 0); // what is asked for
    ROW_CHECK(strcmp(planned(device, desc, KALLIMA_PLANNING_WISDOM_ONLY, fixed), fixed) ==
              0);
    kallima_desc other = *desc; // another problem
    other.batch += 100;
    ROW_CHECK(strcmp(planned(device, &other, KALLIMA_PLANNING_WISDOM_ONLY, NULL),
                     "E_WISDOM") == 0);
    learn(device, desc, sample->recipe, -1.0); // it computes wrongly
    ROW_CHECK(strcmp(planned(device, desc, 0, NULL), fixed) == 0);
    ROW_CHECK(strcmp(planned(device, desc, KALLIMA_PLANNING_WISDOM_ONLY, NULL),
                     "E_WISDOM") == 0);
    kallima_device_close(&device);
}

static void plans_follow_wisdom(void **state)
{
    (void)state;
    for (size_t d = 0; d < KAL_COUNT(devices); d++) {
        for (size_t i = 0; i < KAL_COUNT(samples); i++)
            check_sample(devices[d], &samples[i]);
    }
    ROWS_FINISH();
}

static void planning_is_checked(void **state)
{
    kallima_device *device = open_device("cpu");

    (void)state;
    ROW_CHECK(strcmp(planned(device, &samples[0].desc, -1, NULL), "E_ARGUMENT") == 0);
    ROW_CHECK(strcmp(planned(device, &samples[0].desc, KALLIMA_PLANNING_COUNT, NULL),
                     "E_ARGUMENT") == 0);
    ROW_CHECK(strstr(kallima_last_error(), "planning = 3; must be 0 to 2"));
    kallima_device_close(&device);
    ROWS_FINISH();
}

// A recipe of wisdom that is refused: one sentence, and the estimate.
static void what_cannot_be_followed_is_said(void **state)
{
    static const char *const recipes[] = {
        "nonsense",
        "local(3.5)",
        "local(240)",
        "local(16.15",
        "rank(local(240))",
        "real-even(local(120))",
        "local(99999999999999999999)",
        "local(16.15) %s%n",
        "bluestein(n=240, local(2))",
    };
    const kallima_desc *desc = &samples[0].desc;

    (void)state;
    for (size_t d = 0; d < 2; d++) {
        for (size_t i = 0; i < KAL_COUNT(recipes); i++) {
            kallima_device *device = open_device(devices[d]);
            const char *fixed = planned(device, desc, KALLIMA_PLANNING_FIXED, NULL);
            learn(device, desc, recipes[i], 1.0);
            log_.count = 0;
            row_ran();
            if (strcmp(planned(device, desc, 0, NULL), fixed) != 0 || log_.count != 1 ||
                log_.status != KALLIMA_E_WISDOM ||
                !strstr(log_.sentence, "is not followed: recipe: "))
                row_fail("%s: %s: %d sentences: %s", devices[d], recipes[i], log_.count,
                         log_.sentence);
            ROW_CHECK(strcmp(planned(device, desc, KALLIMA_PLANNING_WISDOM_ONLY, NULL),
                             "E_WISDOM") == 0);
            ROW_CHECK(strstr(kallima_last_error(), "is not followed: recipe: "));
            kallima_device_close(&device);
            ROW_CHECK(counting.live == 0);
        }
    }
    ROWS_FINISH();
}

// Wisdom of two threads is not that of one, nor that of another device.
static void wisdom_of_others_is_not_followed(void **state)
{
    const kallima_desc *desc = &samples[0].desc;
    kallima_device *one = open_threads("cpu", 1), *two = open_threads("cpu", 2),
                   *null = open_device("nullcuda");

    (void)state;
    learn(one, desc, samples[0].recipe, 1.0);
    ROW_CHECK(kallima_wisdom_save(kallima_device_get_wisdom(one), NULL) == KALLIMA_OK);
    ROW_CHECK(kallima_wisdom_load(kallima_device_get_wisdom(two), file, NULL, NULL) ==
              KALLIMA_OK);
    ROW_CHECK(kallima_wisdom_load(kallima_device_get_wisdom(null), file, NULL, NULL) ==
              KALLIMA_OK);
    ROW_CHECK(kallima_wisdom_get_count(kallima_device_get_wisdom(null)) == 1);
    ROW_CHECK(strcmp(planned(one, desc, 2, NULL), samples[0].recipe) == 0);
    ROW_CHECK(strcmp(planned(two, desc, 2, NULL), "E_WISDOM") == 0);
    ROW_CHECK(strcmp(planned(null, desc, 2, NULL), "E_WISDOM") == 0);
    kallima_device_close(&one);
    kallima_device_close(&two);
    kallima_device_close(&null);
    ROWS_FINISH();
}

static int learn_and_save(void)
{
    for (size_t d = 0; d < KAL_COUNT(devices); d++) {
        kallima_device *device = open_device(devices[d]);
        learn(device, &samples[0].desc, samples[0].recipe, 1.0);
        if (kallima_wisdom_save(kallima_device_get_wisdom(device), NULL) != KALLIMA_OK)
            return 1;
        kallima_device_close(&device);
    }
    return 0;
}

static void a_second_process_starts_with_what_was_learnt(void **state)
{
    int status = -1;

    (void)state;
    const pid_t child = fork();
    if (child == 0)
        _exit(learn_and_save());
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    ROW_CHECK(status == 0);
    setenv("KALLIMA_WISDOM", file, 1);
    for (size_t d = 0; d < KAL_COUNT(devices); d++) {
        const kallima_device_options options = { .threads = 1 };
        kallima_device *device = NULL;
        ROW_CHECK(kallima_device_open(&device, devices[d], &options) == KALLIMA_OK);
        ROW_CHECK(strcmp(planned(device, &samples[0].desc, 2, NULL), samples[0].recipe) ==
                  0);
        kallima_device_close(&device);
    }
    ROWS_FINISH();
}

// Files that a device opens with, and how many entries of them it takes.
static void no_file_keeps_a_device_from_opening(void **state)
{
    static const struct {
        const char *text;
        int entries, sentences;
    } files[] = {
        { "", 0, 0 },
        { "kallima-wisdom 1\n", 0, 0 },
        { "kallima-wisdom 9\n", 0, 1 },
        { "\x7f"
          "ELF",
          0, 1 },
        { "kallima-wisdom 1\n\n\nfact \"a\" \"b\" \"c\" \"d\" \"1\" 0\nfact", 1, 1 },
    };
    (void)state;
    for (size_t i = 0; i < KAL_COUNT(files); i++) {
        write_file(files[i].text);
        log_.count = 0;
        kallima_device *device = open_device("cpu");
        ROW_CHECK(log_.count == files[i].sentences);
        if (log_.count)
            ROW_CHECK(log_.status == KALLIMA_E_WISDOM && strstr(log_.sentence, file));
        ROW_CHECK(kallima_wisdom_get_count(kallima_device_get_wisdom(device)) ==
                  files[i].entries);
        kallima_device_close(&device);
    }
    ROW_CHECK(unlink(file) == 0);
    log_.count = 0;
    kallima_device *device = open_device("cpu"); // it may still come to be
    ROW_CHECK(log_.count == 0);
    kallima_device_close(&device);
    ROW_CHECK(mkdir(file, 0700) == 0);
    device = open_device("cpu");
    ROW_CHECK(log_.count == 1 && strstr(log_.sentence, "no plain file"));
    kallima_device_close(&device);
    ROW_CHECK(rmdir(file) == 0);
    ROWS_FINISH();
}

// What a plan that follows wisdom computes is what any plan computes.
static void the_numbers_are_right(void **state)
{
    enum { N = 240 };
    static float in[N][2], wise[N][2], fixed[N][2];
    kallima_device *device = open_device("cpu");
    const kallima_plan_options options = { .planning = KALLIMA_PLANNING_FIXED };
    kallima_plan *plan = NULL;

    (void)state;
    for (int i = 0; i < N; i++) {
        in[i][0] = sinf((float)(i * i));
        in[i][1] = cosf((float)(3 * i));
    }
    learn(device, &samples[0].desc, samples[0].recipe, 1.0);
    ROW_CHECK(kallima_plan_create(&plan, device, &samples[0].desc, NULL) == KALLIMA_OK);
    ROW_CHECK(kallima_plan_run(plan, in, wise) == KALLIMA_OK);
    kallima_plan_destroy(&plan);
    ROW_CHECK(kallima_plan_create(&plan, device, &samples[0].desc, &options) ==
              KALLIMA_OK);
    ROW_CHECK(kallima_plan_run(plan, in, fixed) == KALLIMA_OK);
    kallima_plan_destroy(&plan);
    for (int i = 0; i < N; i++)
        ROW_CHECK(fabsf(wise[i][0] - fixed[i][0]) + fabsf(wise[i][1] - fixed[i][1]) <
                  1e-4f);
    ROW_CHECK(fabsf(fixed[7][0]) > 1e-3f);
    kallima_device_close(&device);
    ROWS_FINISH();
}

// A plan keeps its device, and that its wisdom.
static void plans_outlive_the_handle_of_their_device(void **state)
{
    kallima_device *device = open_device("cpu");
    kallima_plan *plan = NULL;

    (void)state;
    learn(device, &samples[0].desc, samples[0].recipe, 1.0);
    kallima_wisdom *wisdom = kallima_device_get_wisdom(device);
    ROW_CHECK(kallima_plan_create(&plan, device, &samples[0].desc, NULL) == KALLIMA_OK);
    kallima_device_close(&device);
    ROW_CHECK(kallima_wisdom_get_count(wisdom) == 1);
    kallima_plan_destroy(&plan);
    ROWS_FINISH();
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_file, remove_file)

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST(plans_follow_wisdom),
        TEST(planning_is_checked),
        TEST(what_cannot_be_followed_is_said),
        TEST(wisdom_of_others_is_not_followed),
        TEST(a_second_process_starts_with_what_was_learnt),
        TEST(no_file_keeps_a_device_from_opening),
        TEST(the_numbers_are_right),
        TEST(plans_outlive_the_handle_of_their_device),
    };
    return cmocka_run_group_tests_name("wisdom-plan", tests, NULL, NULL);
}
