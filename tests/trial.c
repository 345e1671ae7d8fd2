// SPDX-License-Identifier: MIT
#include "trial.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "problems.h"
#include "rows.h"

enum { ENOUGH_NUMBERS = 200, MANY_NUMBERS = 20000, TEXT_BYTES = 600 };

// A device that writes where it must not may end the program: what runs is written down.
static char running[2 * TEXT_BYTES];

static void note(const struct trial *trial)
{
    char problem[TEXT_BYTES];
    problem_print(&trial->desc, problem, sizeof problem);
    snprintf(running, sizeof running, "  crash: problem %s\n         recipe  %s\n",
             problem, trial->recipe ? trial->recipe : "the planner's");
}

static void report_crash(int number)
{
    (void)!write(STDERR_FILENO, running, strlen(running));
    signal(number, SIG_DFL);
    raise(number);
}

void trial_report_crashes(void)
{
    static const int numbers[] = { SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV };
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        signal(numbers[i], report_crash);
}

void trial_recipe(const kallima_plan *plan, char *text, size_t capacity)
{
    text[0] = '\0';
    (void)kallima_plan_get_recipe(plan, text, capacity, NULL);
}

static void report(const struct trial *trial, const kallima_plan *plan, const char *why,
                   double got, double limit)
{
    char problem[TEXT_BYTES], recipe[TEXT_BYTES] = "";
    problem_print(&trial->desc, problem, sizeof problem);
    if (plan)
        trial_recipe(plan, recipe, sizeof recipe);
    row_fail("%s: %.4g, limit %.4g\n       problem %s\n       recipe  %s\n"
             "       seed %llu way %d",
             why, got, limit, problem, recipe, (unsigned long long)trial->seed,
             (int)trial->way);
}

// `trial` or, on a device that computes in f32 alone, the same in f32.
static struct trial trial_on(const struct trial *trial, const kallima_device *device)
{
    struct trial t = *trial;
    kallima_device_info info;
    if (kallima_device_get_info(device, &info) == KALLIMA_OK && !info.has_f64)
        t.desc.precision = KALLIMA_F32;
    return t;
}

static kallima_plan *make_plan(const struct trial *trial, kallima_device *device)
{
    const kallima_plan_options options = { .recipe = trial->recipe };
    kallima_plan *plan = NULL;
    note(trial);
    const kallima_status status =
        kallima_plan_create(&plan, device, &trial->desc, &options);
    if (status != KALLIMA_OK)
        report(trial, NULL, kallima_last_error(), status, KALLIMA_OK);
    return plan;
}

static bool execute(const struct trial *trial, struct rig *rig, const kallima_plan *plan,
                    kallima_device *device)
{
    const char *why = NULL;
    const kallima_status status = rig_execute(rig, plan, device, trial->way);
    if (status != KALLIMA_OK)
        report(trial, plan, kallima_last_error(), status, KALLIMA_OK);
    else if (!rig_is_intact(rig, &why))
        report(trial, plan, why, 1, 0);
    return status == KALLIMA_OK && !why;
}

// A recipe that was written by hand may turn a smooth length into convolutions: each costs
// two transforms of more points where the bound allows for one.
static double allowance(const char *recipe)
{
    static const char *const convolutions[] = { "rader", "bluestein" };
    double factor = 1.0;
    for (int i = 0; i < 2 && recipe; i++) {
        for (const char *at = recipe; (at = strstr(at, convolutions[i])); at++)
            factor *= 2.0;
    }
    return factor;
}

struct tally {
    int64_t numbers;
    long double error, power;
};

static double relative_error(const struct tally *tally)
{
    return (double)sqrtl(tally->error / tally->power);
}

// A mean over few numbers scatters: near the bound, more of them decide.
static bool is_decided(const struct tally *tally, double bound)
{
    const double error = relative_error(tally);
    if (tally->numbers < ENOUGH_NUMBERS)
        return false;
    return !(error > 0.9 * bound && error < 2.0 * bound) ||
           tally->numbers >= MANY_NUMBERS;
}

void trial_check(const struct trial *wanted, kallima_device *device)
{
    const struct trial t = trial_on(wanted, device), *trial = &t;
    const double bound = oracle_bound(&trial->desc) * allowance(trial->recipe);
    struct tally tally = { 0 };
    struct rig rig;

    row_ran();
    kallima_plan *plan = make_plan(trial, device);
    if (!plan)
        return;
    rig_init(&rig, &trial->desc, trial->seed);
    bool ok = true;
    while (ok && !is_decided(&tally, bound)) {
        if (tally.numbers > 0)
            rig_refill(&rig, trial->seed + (uint64_t)tally.numbers * 977);
        ok = execute(trial, &rig, plan, device);
        rig_add_error(&rig, &tally.error, &tally.power);
        tally.numbers += rig.out.view.count;
    }
    if (ok && !(relative_error(&tally) <= bound))
        report(trial, plan, "the error is over its bound", relative_error(&tally), bound);
    rig_clear(&rig);
    kallima_plan_destroy(&plan);
}

uint64_t trial_hash_on(const struct trial *wanted, struct rig *rig,
                       kallima_device *device)
{
    const struct trial t = trial_on(wanted, device), *trial = &t;
    uint64_t hash = 0;

    kallima_plan *plan = make_plan(trial, device);
    if (!plan)
        return 0;
    rig_restore(rig);
    if (execute(trial, rig, plan, device))
        hash = rig_output_hash(rig);
    kallima_plan_destroy(&plan);
    return hash;
}

uint64_t trial_hash(const struct trial *trial, kallima_device *device)
{
    const struct trial t = trial_on(trial, device);
    struct rig rig;

    rig_init(&rig, &t.desc, t.seed);
    const uint64_t hash = trial_hash_on(&t, &rig, device);
    rig_clear(&rig);
    return hash;
}
