// SPDX-License-Identifier: MIT
// Who is faster, on machines that are noisy, drift, stall and change their clocks: simulated
// ones, so that a test asks no clock. Then the taking of times, on a device whose time is a
// number, and the budget that it keeps.
#include <kallima/kallima.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../random.h"
#include "../rows.h"
#include "tune/timing.h"

// --- a noisy machine ---------------------------------------------------------------------

// What disturbs times: a normal spread, samples that stall (up to three times as long), a
// clock with two speeds that may change before any sample, a drift with every sample.
struct machine {
    const char *name;
    double noise, stalls, changes, drift;
};

static const struct machine machines[] = {
    { "still", 0.001, 0, 0, 0 },          { "quiet", 0.01, 0, 0, 0 },
    { "noisy", 0.02, 0, 0, 0 },           { "loud", 0.03, 0, 0, 0 },
    { "stalling", 0.01, 0.1, 0, 0 },      { "noisy and stalling", 0.02, 0.1, 0, 0 },
    { "of two clocks", 0.01, 0, 0.1, 0 }, { "of two hasty clocks", 0.01, 0, 0.5, 0 },
    { "warming up", 0.02, 0, 0, 0.01 },   { "everything at once", 0.02, 0.1, 0.1, 0.005 },
};

enum { MACHINES = sizeof machines / sizeof machines[0] };

struct state {
    const struct machine *machine;
    struct random random;
    bool is_slow;
    int samples;
};

static double chance(struct random *r)
{
    return 0.5 + 0.5 * random_real(r);
}

static double normal(struct random *r)
{
    double sum = -6.0;
    for (int i = 0; i < 12; i++)
        sum += chance(r);
    return sum;
}

static double disturb(struct state *s, double seconds)
{
    const struct machine *m = s->machine;
    double factor = 1.0 + m->noise * normal(&s->random);
    if (chance(&s->random) < m->stalls)
        factor *= 1.0 + 2.0 * chance(&s->random);
    if (chance(&s->random) < m->changes)
        s->is_slow = !s->is_slow;
    if (s->is_slow)
        factor *= 1.3;
    return seconds * factor * (1.0 + m->drift * s->samples++);
}

struct result {
    bool is_faster;
    int rounds;
};

// Race until the rule decides, each round in a random order.
static struct result race(struct state *s, double incumbent, double challenger)
{
    double a[KAL_RACE_MOST_ROUNDS], b[KAL_RACE_MOST_ROUNDS];
    enum kal_ruling ruling = KAL_RULING_OPEN;
    int rounds = 0;

    while (ruling == KAL_RULING_OPEN && rounds < KAL_RACE_MOST_ROUNDS) {
        const bool turned = chance(&s->random) < 0.5;
        if (turned)
            b[rounds] = disturb(s, challenger);
        a[rounds] = disturb(s, incumbent);
        if (!turned)
            b[rounds] = disturb(s, challenger);
        rounds++;
        ruling = kal_race_rule(a, b, rounds);
    }
    return (struct result){ ruling == KAL_RULING_FASTER, rounds };
}

static struct state start(const struct machine *machine, uint64_t seed)
{
    struct state s = { .machine = machine, .random = { seed } };
    s.is_slow = machine->changes > 0 && chance(&s.random) < 0.5;
    return s;
}

// The share of races that the challenger wins, and the mean number of rounds.
static double share_of_wins(const struct machine *machine, double challenger,
                            double *rounds)
{
    enum { RACES = 1000 };
    int wins = 0, sum = 0;
    for (int i = 0; i < RACES; i++) {
        struct state s = start(machine, (uint64_t)i);
        const struct result result = race(&s, 1.0, challenger);
        wins += result.is_faster;
        sum += result.rounds;
    }
    *rounds = (double)sum / RACES;
    return (double)wins / RACES;
}

static void expect_wins(double challenger, double least, double most, double most_rounds)
{
    for (int i = 0; i < MACHINES; i++) {
        double rounds;
        const double share = share_of_wins(&machines[i], challenger, &rounds);
        row_ran();
        if (share < least || share > most || rounds > most_rounds)
            row_fail(
                "a machine %s: %.3g of the time wins %.3f of the races in %.1f rounds",
                machines[i].name, challenger, share, rounds);
    }
}

static void equal_candidates_keep_the_incumbent(void **state)
{
    (void)state;
    expect_wins(1.0, 0.0, 0.05, 60);
    ROWS_FINISH();
}

static void three_percent_are_found(void **state)
{
    (void)state;
    expect_wins(0.97, 0.95, 1.0, 50);
    ROWS_FINISH();
}

static void slower_candidates_never_win(void **state)
{
    (void)state;
    expect_wins(1.03, 0.0, 0.002, 20);
    expect_wins(1.5, 0.0, 0.0, 5);
    ROWS_FINISH();
}

static void clear_answers_come_early(void **state)
{
    (void)state;
    expect_wins(0.5, 1.0, 1.0, 14);
    expect_wins(2.5, 0.0, 0.0, 4);
    ROWS_FINISH();
}

static void less_than_the_margin_is_no_gain(void **state)
{
    double a[KAL_RACE_MOST_ROUNDS], b[KAL_RACE_MOST_ROUNDS];

    (void)state;
    for (int i = 0; i < KAL_RACE_MOST_ROUNDS; i++) {
        a[i] = 1.0;
        b[i] = 1.0 - 0.9 * kal_race_margin;
        ROW_CHECK(kal_race_rule(a, b, i + 1) != KAL_RULING_FASTER);
    }
    for (int i = 0; i < KAL_RACE_MOST_ROUNDS; i++) {
        b[i] = 1.0 - 1.1 * kal_race_margin;
        ROW_CHECK((kal_race_rule(a, b, i + 1) == KAL_RULING_FASTER) ==
                  (i + 1 >= KAL_RACE_LEAST_ROUNDS));
    }
    ROWS_FINISH();
}

// Of 16 rounds one may have gone the other way, not two: P(Binomial(16, 1/2) <= 2) is 0.0021,
// and a limit may err in 0.002 of the cases.
static void limits_are_those_of_order_statistics(void **state)
{
    double a[16], b[16];

    (void)state;
    for (int i = 0; i < 16; i++) {
        a[i] = 1.0;
        b[i] = 0.9;
    }
    b[3] = 1.1;
    ROW_CHECK(kal_race_rule(a, b, 16) == KAL_RULING_FASTER);
    b[12] = 1.1;
    ROW_CHECK(kal_race_rule(a, b, 16) == KAL_RULING_OPEN);
    ROWS_FINISH();
}

// Times too short for the clock say nothing, and nothing is divided by them.
static void times_of_nothing_decide_nothing(void **state)
{
    double a[KAL_RACE_MOST_ROUNDS] = { 0 }, b[KAL_RACE_MOST_ROUNDS] = { 0 };

    (void)state;
    for (int i = 0; i < KAL_RACE_MOST_ROUNDS; i++) {
        a[i] = i % 2 ? 0.0 : 1.0;
        ROW_CHECK(kal_race_rule(a, b, i + 1) != KAL_RULING_FASTER);
    }
    ROWS_FINISH();
}

// Any order of candidates, three times: what wins is each time as fast within 3 %.
static double tune(const double *candidate, int count, struct state *s)
{
    int order[16], best;
    for (int i = 0; i < count; i++) {
        const int at = (int)random_between(&s->random, 0, i);
        order[i] = order[at];
        order[at] = i;
    }
    best = order[0];
    for (int i = 1; i < count; i++) {
        s->samples = 0; // the drift of one race; the next finds the machine warm
        if (race(s, candidate[best], candidate[order[i]]).is_faster)
            best = order[i];
    }
    return candidate[best];
}

static void three_tunings_agree(void **state)
{
    static const double candidates[] = { 1.0,  1.004, 1.01, 1.02, 1.035, 1.05,
                                         1.08, 1.2,   1.3,  1.5,  2.0,   3.0 };
    enum { TRIPLES = 200 };

    (void)state;
    for (int i = 0; i < MACHINES; i++) {
        int apart = 0;
        for (int k = 0; k < TRIPLES; k++) {
            double low = 9.0, high = 0.0;
            for (int turn = 0; turn < 3; turn++) {
                struct state s = start(&machines[i], (uint64_t)(k * 3 + turn));
                const double got = tune(candidates, 12, &s);
                low = fmin(low, got);
                high = fmax(high, got);
            }
            apart += high > 1.03 * low;
        }
        row_ran();
        if (apart > TRIPLES / 20)
            row_fail("a machine %s: %d of %d triples differ by more than 3 %%",
                     machines[i].name, apart, TRIPLES);
    }
    ROWS_FINISH();
}

static void times_are_summarised(void **state)
{
    const double odd[] = { 5, 1, 100 }, even[] = { 4, 1, 2, 9 }, one[] = { 7 };
    double scratch[4];

    (void)state;
    struct kal_times t = kal_times_summarise(odd, 3, scratch);
    ROW_CHECK(t.median == 5 && t.spread == 4.0 / 5 && t.count == 3);
    t = kal_times_summarise(even, 4, scratch);
    ROW_CHECK(t.median == 3 && t.spread == 1.5 / 3 && t.count == 4);
    t = kal_times_summarise(one, 1, scratch);
    ROW_CHECK(t.median == 7 && t.spread == 0 && t.count == 1);
    ROW_CHECK(odd[0] == 5 && odd[2] == 100); // as they were
    ROWS_FINISH();
}

// --- a device whose time is a number -----------------------------------------------------

enum { MOST_EVENTS = 1 << 16, PLANS = 2, SLOWER = 3 };

// What happened, one letter each: '0' and '1' plans, '(' and ')' marks, 'c' copies, 'f' waits.
static struct {
    const struct kal_device_ops *below;
    struct kal_device_ops ops;
    const struct kal_device_program *program[PLANS];
    double seconds[PLANS]; // of one execution
    double first;          // more for the first execution of all
    double slow_until; // on the clock; until then executions take SLOWER times as long
    double clock, mark[2], shortest;
    char events[MOST_EVENTS + 1];
    int count, fail_at;
    bool is_first;
    kallima_timer timer;
} fake;

static void happen(char event)
{
    if (fake.count < MOST_EVENTS)
        fake.events[fake.count] = event;
    fake.count++;
}

static double fake_now(void)
{
    return fake.clock;
}

static kallima_status fake_run(const struct kal_device_program *program,
                               const struct kal_arguments *arguments)
{
    (void)arguments;
    const int which = program == fake.program[1];
    happen((char)('0' + which));
    fake.clock += fake.seconds[which] * (fake.clock < fake.slow_until ? SLOWER : 1) +
                  (fake.is_first ? fake.first : 0.0);
    fake.is_first = false;
    return fake.fail_at && fake.count >= fake.fail_at ? KALLIMA_E_DEVICE : KALLIMA_OK;
}

static kallima_status fake_copy(kallima_buffer *target, uint64_t target_offset,
                                const kallima_buffer *source, uint64_t source_offset,
                                uint64_t bytes)
{
    happen('c');
    fake.clock += 1e-6;
    return fake.below->buffer_copy(target, target_offset, source, source_offset, bytes);
}

static kallima_status fake_finish(kallima_device *device)
{
    (void)device;
    happen('f');
    fake.clock += 1e-2;
    return KALLIMA_OK;
}

static kallima_status fake_timer_create(kallima_timer **out, kallima_device *device)
{
    fake.timer.device = device;
    *out = &fake.timer;
    return KALLIMA_OK;
}

static void fake_timer_destroy(kallima_timer *timer)
{
    (void)timer;
}

static kallima_status fake_timer_start(kallima_timer *timer)
{
    (void)timer;
    happen('(');
    fake.clock += 1e-6;
    fake.mark[0] = fake.clock;
    return KALLIMA_OK;
}

static kallima_status fake_timer_stop(kallima_timer *timer)
{
    (void)timer;
    happen(')');
    fake.mark[1] = fake.clock;
    fake.clock += 1e-6;
    return KALLIMA_OK;
}

static kallima_status fake_timer_read(const kallima_timer *timer, double *seconds)
{
    (void)timer;
    *seconds = fake.mark[1] - fake.mark[0];
    return KALLIMA_OK;
}

// A trial on the null device, and two plans.
struct rink {
    kallima_device *device;
    struct kal_trial *trial;
    kallima_plan *plan[PLANS];
    struct kal_timing timing;
};

static void rink_init(struct rink *rink, const kallima_desc *desc, double seconds)
{
    static const struct kal_budget no_limit;
    struct kal_problem problem;

    *rink = (struct rink){ .device = NULL };
    memset(&fake, 0, sizeof fake);
    if (kallima_device_open(&rink->device, "null", NULL) != KALLIMA_OK ||
        kal_problem_init(&problem, NULL, desc) != KALLIMA_OK ||
        kal_trial_create(&rink->trial, rink->device, &problem, &no_limit) != KALLIMA_OK)
        fail_msg("%s", kallima_last_error());
    for (int i = 0; i < PLANS; i++) {
        if (kallima_plan_create(&rink->plan[i], rink->device, desc, NULL) != KALLIMA_OK)
            fail_msg("%s", kallima_last_error());
        fake.program[i] = rink->plan[i]->built;
    }
    fake.below = rink->device->ops;
    fake.ops = *fake.below;
    fake.ops.program_run = fake_run;
    fake.ops.buffer_copy = fake_copy;
    fake.ops.finish = fake_finish;
    fake.ops.timer_create = fake_timer_create;
    fake.ops.timer_destroy = fake_timer_destroy;
    fake.ops.timer_start = fake_timer_start;
    fake.ops.timer_stop = fake_timer_stop;
    fake.ops.timer_read = fake_timer_read;
    rink->device->ops = &fake.ops;
    fake.is_first = true;
    fake.clock = 1000.0;
    ROW_CHECK(kal_timing_init(&rink->timing, rink->trial, seconds, fake_now) ==
              KALLIMA_OK);
}

static void rink_clear(struct rink *rink)
{
    kal_timing_clear(&rink->timing);
    rink->device->ops = fake.below;
    for (int i = 0; i < PLANS; i++)
        kallima_plan_destroy(&rink->plan[i]);
    kal_trial_destroy(&rink->trial);
    kallima_device_close(&rink->device);
}

static void set_times(double incumbent, double challenger)
{
    fake.seconds[0] = incumbent;
    fake.seconds[1] = challenger;
}

static const kallima_desc plain = { .rank = 1, .n = { 64 }, .batch = 2 };

static void races_are_run_and_won(void **state)
{
    static const struct {
        double incumbent, challenger;
        enum kal_ruling ruling;
        int rounds;
    } rows[] = {
        { 1e-6, 0.9e-6, KAL_RULING_FASTER, KAL_RACE_LEAST_ROUNDS },
        { 1e-6, 1e-6, KAL_RULING_NOT_FASTER, KAL_RACE_LEAST_ROUNDS },
        { 1e-6, 1.1e-6, KAL_RULING_NOT_FASTER, KAL_RACE_LEAST_ROUNDS },
        { 1e-6, 1.3e-6, KAL_RULING_NOT_FASTER, 3 },
        { 1e-3, 1e-7, KAL_RULING_FASTER, KAL_RACE_LEAST_ROUNDS },
        { 1e-7, 1e-1, KAL_RULING_NOT_FASTER, 3 },
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct rink rink;
        struct kal_outcome outcome;
        rink_init(&rink, &plain, 0.0);
        set_times(rows[i].incumbent, rows[i].challenger);
        ROW_CHECK(kal_timing_race(&rink.timing, rink.plan[0], rink.plan[1], &outcome) ==
                  KALLIMA_OK);
        ROW_CHECK(outcome.ruling == rows[i].ruling && outcome.rounds == rows[i].rounds);
        ROW_CHECK(!outcome.is_out_of_time);
        ROW_CHECK(outcome.incumbent.count == outcome.rounds);
        ROW_CHECK(fabs(outcome.incumbent.median / rows[i].incumbent - 1.0) < 1e-6);
        ROW_CHECK(fabs(outcome.challenger.median / rows[i].challenger - 1.0) < 1e-6);
        ROW_CHECK(fabs(outcome.ratio * rows[i].incumbent / rows[i].challenger - 1.0) <
                  1e-6);
        ROW_CHECK(outcome.incumbent.spread < 1e-6);
        rink_clear(&rink);
    }
    ROWS_FINISH();
}

static int count_waits(void)
{
    int count = 0;
    for (int i = 0; i < fake.count && i < MOST_EVENTS; i++)
        count += fake.events[i] == 'f';
    return count;
}

// Before the first sample, and after a rest of a second; not between samples.
static void devices_that_were_idle_are_woken(void **state)
{
    enum { WAITS = 76 }; // of 11 ms, in four parts of 0.2 s
    struct rink rink;
    struct kal_times times;

    (void)state;
    rink_init(&rink, &plain, 0.0);
    set_times(1e-3, 1e-3);
    ROW_CHECK(kal_timing_measure(&rink.timing, rink.plan[0], 3, &times) == KALLIMA_OK);
    ROW_CHECK(count_waits() == 0); // most are not slow to wake
    rink.device->caps.is_slow_to_wake = true;
    rink.timing.at_work = -INFINITY;
    fake.count = 0;
    ROW_CHECK(kal_timing_measure(&rink.timing, rink.plan[0], 3, &times) == KALLIMA_OK);
    ROW_CHECK(abs(count_waits() - WAITS) <= 2 && fake.events[0] == '0');
    fake.count = 0;
    ROW_CHECK(kal_timing_measure(&rink.timing, rink.plan[1], 3, &times) == KALLIMA_OK);
    ROW_CHECK(count_waits() == 0);
    fake.clock += 1.1;
    fake.count = 0;
    ROW_CHECK(kal_timing_wake(&rink.timing, rink.plan[1]) == KALLIMA_OK);
    ROW_CHECK(abs(count_waits() - WAITS) <= 2);
    fake.count = 0;
    ROW_CHECK(kal_timing_measure(&rink.timing, rink.plan[1], 3, &times) == KALLIMA_OK);
    ROW_CHECK(count_waits() == 0);
    rink_clear(&rink);
    ROWS_FINISH();
}

// Whenever in the first parts the clock rises, no slow execution is counted.
static void devices_are_woken_until_they_are_awake(void **state)
{
    static const double rises[] = { 0.05, 0.1, 0.2, 0.3, 0.5, 0.7 };
    struct rink rink;
    struct kal_times times;

    (void)state;
    for (size_t i = 0; i < sizeof rises / sizeof rises[0]; i++) {
        rink_init(&rink, &plain, 0.0);
        set_times(1e-2, 1e-2);
        rink.device->caps.is_slow_to_wake = true;
        fake.slow_until = fake.clock + rises[i];
        ROW_CHECK(kal_timing_measure(&rink.timing, rink.plan[0], 3, &times) ==
                  KALLIMA_OK);
        ROW_CHECK(fabs(times.median / 1e-2 - 1.0) < 1e-6);
        rink_clear(&rink);
    }
    ROWS_FINISH();
}

// One sample of the events: its plan, its executions. Returns where the next one begins.
static const char *read_sample(const char *at, char *plan, int *executions)
{
    *executions = 0;
    at = strchr(at, '(');
    if (!at)
        return NULL;
    for (at++; *at == '0' || *at == '1'; at++) {
        *plan = *at;
        (*executions)++;
    }
    ROW_CHECK(*at == ')');
    return at;
}

// Long enough, but not much longer; both plans in each round, and not always the same first.
static void samples_are_long_and_interleaved(void **state)
{
    struct rink rink;
    struct kal_outcome outcome;
    char first, second, plan;
    int executions, turned = 0, rounds = 0, warm_ups = 0;

    (void)state;
    rink_init(&rink, &plain, 0.0);
    set_times(3e-6, 2.9e-6);
    fake.first = 1e-3; // not a time to go by
    ROW_CHECK(kal_timing_race(&rink.timing, rink.plan[0], rink.plan[1], &outcome) ==
              KALLIMA_OK);
    ROW_CHECK(fake.count < MOST_EVENTS);
    const char *at = fake.events;
    // One, then 1, 2, 4, ... executions of the one plan, then of the other.
    for (int turn = 0; turn < 2; turn++) {
        at = read_sample(at, &plan, &executions);
        ROW_CHECK(plan == '0' + turn && executions == 1);
        do {
            at = read_sample(at, &plan, &executions);
            warm_ups++;
        } while (executions * 3e-6 < 200e-6 && warm_ups < 100);
        ROW_CHECK(plan == '0' + turn);
        ROW_CHECK(executions * 2.9e-6 >= 185e-6 && executions * 2.9e-6 < 400e-6);
    }
    while ((at = read_sample(at, &first, &executions)) != NULL) {
        ROW_CHECK(executions * 3e-6 >= 185e-6);
        at = read_sample(at, &second, &executions);
        ROW_CHECK(at && first != second);
        turned += first == '1';
        rounds++;
    }
    ROW_CHECK(rounds == outcome.rounds && rounds >= KAL_RACE_LEAST_ROUNDS);
    ROW_CHECK(turned > 0 && turned < rounds);
    rink_clear(&rink);
    ROWS_FINISH();
}

// Of few executions a sample is preceded by one of the same plan, not by the other's.
static void samples_follow_their_own_plan(void **state)
{
    struct rink rink;
    struct kal_outcome outcome;
    int samples = 0;

    (void)state;
    rink_init(&rink, &plain, 0.0);
    set_times(3e-4, 3e-4);
    ROW_CHECK(kal_timing_race(&rink.timing, rink.plan[0], rink.plan[1], &outcome) ==
              KALLIMA_OK);
    ROW_CHECK(outcome.rounds >= KAL_RACE_LEAST_ROUNDS && fake.count < MOST_EVENTS);
    for (const char *at = fake.events + 1; *at; at++) {
        if (*at == '(' && at[-1] == at[1])
            samples++;
        if (*at == '(')
            ROW_CHECK(samples == 0 || at[-1] == at[1]);
    }
    ROW_CHECK(samples == 2 * outcome.rounds);
    rink_clear(&rink);
    ROWS_FINISH();
}

// Where executions overwrite their input it is copied before each run, outside the marks, and
// no run is longer than the numbers stand.
static void overwritten_input_is_fresh(void **state)
{
    const kallima_desc in_place = { .rank = 1,
                                    .n = { 64 },
                                    .placement = KALLIMA_IN_PLACE };
    struct rink rink;
    struct kal_outcome outcome;
    int inside = 0, runs = 0;
    char last = ' ';

    (void)state;
    rink_init(&rink, &in_place, 0.0);
    const int64_t most = kal_trial_most_runs(rink.trial);
    set_times(1e-6, 1e-6);
    ROW_CHECK(kal_timing_race(&rink.timing, rink.plan[0], rink.plan[1], &outcome) ==
              KALLIMA_OK);
    ROW_CHECK(most > 5 && most < 100 && fake.count < MOST_EVENTS);
    for (const char *at = fake.events; *at; last = *at++) {
        if (*at == '(') {
            ROW_CHECK(last == 'c');
            inside = 0;
            runs++;
        } else if (*at != ')' && *at != 'c') {
            inside++;
        }
        if (*at == ')')
            ROW_CHECK(inside >= 1 && inside <= most);
    }
    ROW_CHECK(runs > 2 * outcome.rounds);
    ROW_CHECK(fabs(outcome.incumbent.median / 1e-6 - 1.0) < 1e-6);
    rink_clear(&rink);

    rink_init(&rink, &plain, 0.0); // and nowhere else
    set_times(1e-6, 1e-6);
    ROW_CHECK(kal_timing_race(&rink.timing, rink.plan[0], rink.plan[1], &outcome) ==
              KALLIMA_OK);
    ROW_CHECK(strchr(fake.events, 'c') == NULL);
    rink_clear(&rink);
    ROWS_FINISH();
}

// The budget is kept, but for one execution whose time nobody can know before.
static void budgets_of_seconds_are_kept(void **state)
{
    static const double budgets[] = { 1e-9, 1e-4, 1e-3, 3e-3, 0.02, 0.5, 5.0 };
    static const double times[] = { 1e-7, 1e-5, 1e-3, 0.1, 2.0 };

    (void)state;
    for (size_t i = 0; i < sizeof budgets / sizeof budgets[0]; i++) {
        for (size_t k = 0; k < sizeof times / sizeof times[0]; k++) {
            struct rink rink;
            struct kal_outcome outcome;
            rink_init(&rink, &plain, budgets[i]);
            set_times(times[k], 0.985 * times[k]);
            const double start = fake.clock;
            ROW_CHECK(kal_timing_race(&rink.timing, rink.plan[0], rink.plan[1],
                                      &outcome) == KALLIMA_OK);
            const double spent = fake.clock - start;
            row_ran();
            if (spent > budgets[i] + times[k] + 1e-5)
                row_fail("%.3g s of a budget of %.3g s, with executions of %.3g s", spent,
                         budgets[i], times[k]);
            ROW_CHECK(outcome.is_out_of_time || outcome.ruling == KAL_RULING_FASTER);
            ROW_CHECK(!outcome.is_out_of_time || outcome.ruling == KAL_RULING_OPEN);
            ROW_CHECK(outcome.incumbent.count == outcome.rounds);
            ROW_CHECK(fabs(kal_timing_left(&rink.timing) - (budgets[i] - spent)) < 1e-9);
            rink_clear(&rink);
        }
    }
    ROWS_FINISH();
}

static void one_plan_is_measured_alone(void **state)
{
    struct rink rink;
    struct kal_times times;

    (void)state;
    rink_init(&rink, &plain, 1.0);
    set_times(2e-5, 1.0);
    ROW_CHECK(kal_timing_measure(&rink.timing, rink.plan[0], 7, &times) == KALLIMA_OK);
    ROW_CHECK(times.count == 7 && fabs(times.median / 2e-5 - 1.0) < 1e-6);
    fake.clock += 1.0;
    ROW_CHECK(kal_timing_measure(&rink.timing, rink.plan[0], 7, &times) == KALLIMA_OK);
    ROW_CHECK(times.count == 0 && kal_timing_left(&rink.timing) < 0.0);
    rink_clear(&rink);
    ROWS_FINISH();
}

static void failures_are_passed_on(void **state)
{
    (void)state;
    for (int at = 1; at < 2000; at += 37) {
        struct rink rink;
        struct kal_outcome outcome;
        rink_init(&rink, &plain, 0.0);
        set_times(1e-6, 0.9e-6);
        fake.fail_at = at;
        ROW_CHECK(kal_timing_race(&rink.timing, rink.plan[0], rink.plan[1], &outcome) ==
                  KALLIMA_E_DEVICE);
        rink_clear(&rink);
    }
    ROWS_FINISH();
}

// Devices as they are: nothing is asked of their clocks but that they run.
static void real_devices_are_timed(void **state)
{
    static const char *const selectors[] = { "cpu", "nullopencl", "nullcuda" };
    static const kallima_desc problems[] = {
        { .rank = 1, .n = { 256 }, .batch = 10 },
        { .rank = 1, .n = { 256 }, .kind = KALLIMA_R2C, .placement = KALLIMA_IN_PLACE },
    };
    const struct kal_budget budget = { .bytes = 64 << 20 };
    const kallima_device_options options = { .kernel_cache = "", .threads = 1 };

    (void)state;
    for (int i = 0; i < 6; i++) {
        const kallima_desc *desc = &problems[i % 2];
        kallima_device *device = NULL;
        kallima_plan *plan[2] = { NULL, NULL };
        struct kal_trial *trial = NULL;
        struct kal_timing timing = { 0 };
        struct kal_problem problem;
        struct kal_outcome outcome;

        ROW_CHECK(kallima_device_open(&device, selectors[i / 2], &options) == KALLIMA_OK);
        ROW_CHECK(kal_problem_init(&problem, NULL, desc) == KALLIMA_OK);
        ROW_CHECK(kal_trial_create(&trial, device, &problem, &budget) == KALLIMA_OK);
        for (int k = 0; k < 2; k++)
            ROW_CHECK(kallima_plan_create(&plan[k], device, desc, NULL) == KALLIMA_OK);
        ROW_CHECK(kal_timing_init(&timing, trial, 0.0, NULL) == KALLIMA_OK);
        ROW_CHECK(isinf(kal_timing_left(&timing)));
        ROW_CHECK(kal_timing_race(&timing, plan[0], plan[1], &outcome) == KALLIMA_OK);
        ROW_CHECK(outcome.rounds >= 3 && outcome.rounds <= KAL_RACE_MOST_ROUNDS);
        ROW_CHECK(outcome.incumbent.median > 0.0 && outcome.ratio > 0.0);
        kal_timing_clear(&timing);
        for (int k = 0; k < 2; k++)
            kallima_plan_destroy(&plan[k]);
        kal_trial_destroy(&trial);
        kallima_device_close(&device);
    }
    ROWS_FINISH();
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_are_summarised),
        cmocka_unit_test(equal_candidates_keep_the_incumbent),
        cmocka_unit_test(three_percent_are_found),
        cmocka_unit_test(slower_candidates_never_win),
        cmocka_unit_test(clear_answers_come_early),
        cmocka_unit_test(less_than_the_margin_is_no_gain),
        cmocka_unit_test(times_of_nothing_decide_nothing),
        cmocka_unit_test(limits_are_those_of_order_statistics),
        cmocka_unit_test(three_tunings_agree),
        cmocka_unit_test(races_are_run_and_won),
        cmocka_unit_test(devices_that_were_idle_are_woken),
        cmocka_unit_test(devices_are_woken_until_they_are_awake),
        cmocka_unit_test(samples_are_long_and_interleaved),
        cmocka_unit_test(samples_follow_their_own_plan),
        cmocka_unit_test(overwritten_input_is_fresh),
        cmocka_unit_test(budgets_of_seconds_are_kept),
        cmocka_unit_test(one_plan_is_measured_alone),
        cmocka_unit_test(failures_are_passed_on),
        cmocka_unit_test(real_devices_are_timed),
    };
    return cmocka_run_group_tests_name("tune_timing", tests, NULL, NULL);
}
