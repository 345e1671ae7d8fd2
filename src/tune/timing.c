// SPDX-License-Identifier: MIT
#include "tune/timing.h"

#include "base/clock.h"

#include <math.h>

// Times of the host's clock, and of events, whose resolution is about a microsecond.
static const double HOST_SAMPLE_SECONDS = 200e-6, DEVICE_SAMPLE_SECONDS = 300e-6;

enum {
    MOST_EXECUTIONS = 1 << 20, // of one sample
    OCCUPYING_BYTES = 32 << 20,
    FEW_EXECUTIONS = 8, // of a sample, whose time the one before it can change
};

enum { WHOLE = -1 };

// One plan at work.
struct lane {
    const kallima_plan *plan;
    int launch;         // the one that is timed; WHOLE: all
    int64_t executions; // of a sample
    double taken;       // by the last sample, all in all, on the host's clock
    double sample[KAL_RACE_MOST_ROUNDS];
    int count;
};

kallima_status kal_timing_init(struct kal_timing *timing, struct kal_trial *trial,
                               double seconds, double (*now)(void))
{
    *timing = (struct kal_timing){ .trial = trial, .now = now ? now : kal_clock_now };
    timing->end = seconds > 0.0 ? timing->now() + seconds : INFINITY;
    timing->at_work = -INFINITY;
    return kallima_timer_create(&timing->timer, trial->device);
}

void kal_timing_clear(struct kal_timing *timing)
{
    kallima_timer_destroy(&timing->timer);
    *timing = (struct kal_timing){ 0 };
}

double kal_timing_left(const struct kal_timing *timing)
{
    return timing->end - timing->now();
}

// A copy ahead, so that executions are enqueued before the device is free: that of the input
// where it must be fresh, else one of no consequence.
static kallima_status occupy(struct kal_trial *trial)
{
    const kallima_buffer *in = trial->in[0].whole;
    kallima_buffer *out = trial->out[0].whole;
    if (kal_trial_overwrites(trial))
        return kal_trial_restore(trial);
    if (kal_device_is_host(trial->device))
        return KALLIMA_OK;
    const uint64_t less = in->bytes < out->bytes ? in->bytes : out->bytes;
    return kallima_buffer_copy(out, 0, in, 0,
                               less < OCCUPYING_BYTES ? less : OCCUPYING_BYTES);
}

static kallima_status run(const struct kal_timing *timing, const struct lane *lane)
{
    return lane->launch == WHOLE
               ? kal_trial_run(timing->trial, lane->plan)
               : kal_trial_run_launch(timing->trial, lane->plan, lane->launch);
}

// The host's seconds of a run with what comes before it, as a mean over a fifth of a second.
static kallima_status work(struct kal_timing *timing, const struct lane *lane,
                           double *seconds)
{
    static const double PART_SECONDS = 0.2;
    const double start = timing->now();
    int count = 0;

    do {
        KAL_TRY(occupy(timing->trial));
        KAL_TRY(run(timing, lane));
        KAL_TRY(kallima_device_finish(timing->trial->device));
        timing->at_work = timing->now();
        count++;
    } while (timing->at_work - start < PART_SECONDS);
    *seconds = (timing->at_work - start) / count;
    return KALLIMA_OK;
}

// An NVIDIA H200 in use through Vulkan was at 345 of 1980 MHz after two seconds in which
// it was idle, the clock falling from 1.2 s on, and for the first tenths of a second of
// work, in which two parts take the same time; copies alone did not raise its clock.
static kallima_status wake(struct kal_timing *timing, const struct lane *lane)
{
    static const double IDLE_SECONDS = 1.0, LEAST_GAIN = 0.02;
    enum { LEAST_PARTS = 4, MOST_PARTS = 15 };
    double before, seconds;

    if (!timing->trial->device->caps.is_slow_to_wake ||
        timing->now() - timing->at_work < IDLE_SECONDS)
        return KALLIMA_OK;
    KAL_TRY(work(timing, lane, &seconds));
    for (int i = 1; i < MOST_PARTS && kal_timing_left(timing) > 0; i++) {
        before = seconds;
        KAL_TRY(work(timing, lane, &seconds));
        if (i >= LEAST_PARTS - 1 && seconds > (1 - LEAST_GAIN) * before)
            break;
    }
    return KALLIMA_OK;
}

kallima_status kal_timing_wake(struct kal_timing *timing, const kallima_plan *plan)
{
    const struct lane lane = { .plan = plan, .launch = WHOLE };
    return wake(timing, &lane);
}

// Time executions that follow each other.
static kallima_status take_run(struct kal_timing *timing, const struct lane *lane,
                               int64_t count, double *seconds)
{
    struct kal_trial *trial = timing->trial;

    KAL_TRY(wake(timing, lane));
    KAL_TRY(occupy(trial));
    KAL_TRY(kallima_timer_start(timing->timer));
    for (int64_t i = 0; i < count; i++)
        KAL_TRY(run(timing, lane));
    KAL_TRY(kallima_timer_stop(timing->timer));
    const kallima_status status = kallima_timer_read(timing->timer, seconds);
    timing->at_work = timing->now();
    return status;
}

// Time one sample: in several runs if numbers would leave their range in one.
static kallima_status take(struct kal_timing *timing, struct lane *lane, double *seconds)
{
    const int64_t most = kal_trial_most_runs(timing->trial);
    const double start = timing->now();

    *seconds = 0.0;
    for (int64_t left = lane->executions; left > 0; left -= kal_min(left, most)) {
        double part;
        KAL_TRY(take_run(timing, lane, kal_min(left, most), &part));
        *seconds += part;
    }
    lane->taken = timing->now() - start;
    return KALLIMA_OK;
}

// Does what would take so long end in time?
static bool has_time(const struct kal_timing *timing, double seconds)
{
    return timing->now() + seconds < timing->end;
}

// Warm up with one execution, whose time may be that of loading what it needs, then double the
// executions of a sample until it is long enough. Without time left the lane has none.
static kallima_status calibrate(struct kal_timing *timing, struct lane *lane)
{
    const double enough = kal_device_is_host(timing->trial->device)
                              ? HOST_SAMPLE_SECONDS
                              : DEVICE_SAMPLE_SECONDS;
    double seconds;

    if (!has_time(timing, 0.0))
        return KALLIMA_OK;
    lane->executions = 1;
    KAL_TRY(take(timing, lane, &seconds));
    if (!has_time(timing, lane->taken))
        return KALLIMA_OK;
    KAL_TRY(take(timing, lane, &seconds));
    while (seconds < enough && lane->executions < MOST_EXECUTIONS &&
           has_time(timing, 2.0 * lane->taken)) {
        lane->executions *= 2;
        KAL_TRY(take(timing, lane, &seconds));
    }
    return KALLIMA_OK;
}

static kallima_status add_sample(struct kal_timing *timing, struct lane *lane)
{
    double seconds;
    KAL_TRY(take(timing, lane, &seconds));
    lane->sample[lane->count++] = seconds / (double)lane->executions;
    return KALLIMA_OK;
}

static struct kal_times summarise(const struct lane *lane, int count)
{
    double scratch[KAL_RACE_MOST_ROUNDS];
    return count > 0 ? kal_times_summarise(lane->sample, count, scratch)
                     : (struct kal_times){ 0 };
}

static kallima_status measure(struct kal_timing *timing, struct lane *lane, int rounds,
                              struct kal_times *times)
{
    *times = (struct kal_times){ 0 };
    KAL_TRY(calibrate(timing, lane));
    while (lane->executions > 0 && lane->count < rounds &&
           lane->count < KAL_RACE_MOST_ROUNDS && has_time(timing, lane->taken))
        KAL_TRY(add_sample(timing, lane));
    *times = summarise(lane, lane->count);
    return KALLIMA_OK;
}

kallima_status kal_timing_measure(struct kal_timing *timing, const kallima_plan *plan,
                                  int rounds, struct kal_times *times)
{
    struct lane lane = { .plan = plan, .launch = WHOLE };
    return measure(timing, &lane, rounds, times);
}

kallima_status kal_timing_measure_launch(struct kal_timing *timing,
                                         const kallima_plan *plan, int launch, int rounds,
                                         struct kal_times *times)
{
    struct lane lane = { .plan = plan, .launch = launch };
    return measure(timing, &lane, rounds, times);
}

// On a processor what the other plan left in the caches would count: 4096 lines of 256
// doubles, which take 0.65 ms one after the other, took 0.77 after those of another plan.
static bool needs_settling(const struct kal_timing *timing, const struct lane *lane)
{
    return lane->executions < FEW_EXECUTIONS &&
           kal_device_is_host(timing->trial->device) &&
           !kal_trial_overwrites(timing->trial);
}

static kallima_status add_settled_sample(struct kal_timing *timing, struct lane *lane)
{
    const double start = timing->now();
    if (needs_settling(timing, lane))
        KAL_TRY(run(timing, lane));
    KAL_TRY(add_sample(timing, lane));
    lane->taken = timing->now() - start;
    return KALLIMA_OK;
}

// That a sample takes with the execution ahead of it.
static double settled_seconds(const struct kal_timing *timing, const struct lane *lane)
{
    return needs_settling(timing, lane)
               ? lane->taken * (1.0 + 1.0 / (double)lane->executions)
               : lane->taken;
}

// Who is first, by chance: a pattern could meet one of the machine's own.
static int toss(struct kal_timing *timing)
{
    timing->order = timing->order * 6364136223846793005u + 1442695040888963407u;
    return (int)(timing->order >> 63);
}

static kallima_status run_round(struct kal_timing *timing, struct lane lane[2])
{
    const int first = toss(timing);
    KAL_TRY(add_settled_sample(timing, &lane[first]));
    return add_settled_sample(timing, &lane[1 - first]);
}

static kallima_status run_rounds(struct kal_timing *timing, struct lane lane[2],
                                 struct kal_outcome *outcome)
{
    while (outcome->ruling == KAL_RULING_OPEN && outcome->rounds < KAL_RACE_MOST_ROUNDS) {
        if (!has_time(timing, settled_seconds(timing, &lane[0]) +
                                  settled_seconds(timing, &lane[1]))) {
            outcome->is_out_of_time = true;
            break;
        }
        KAL_TRY(run_round(timing, lane));
        outcome->rounds++;
        outcome->ruling = kal_race_rule(lane[0].sample, lane[1].sample, outcome->rounds);
    }
    return KALLIMA_OK;
}

static double median_ratio(const struct lane lane[2], int rounds)
{
    double ratio[KAL_RACE_MOST_ROUNDS], scratch[KAL_RACE_MOST_ROUNDS];
    int count = 0;
    for (int i = 0; i < rounds; i++) {
        if (lane[0].sample[i] > 0.0)
            ratio[count++] = lane[1].sample[i] / lane[0].sample[i];
    }
    return count > 0 ? kal_times_summarise(ratio, count, scratch).median : 0.0;
}

kallima_status kal_timing_race(struct kal_timing *timing, const kallima_plan *incumbent,
                               const kallima_plan *challenger,
                               struct kal_outcome *outcome)
{
    struct lane lane[2] = { { .plan = incumbent, .launch = WHOLE },
                            { .plan = challenger, .launch = WHOLE } };

    *outcome = (struct kal_outcome){ .ruling = KAL_RULING_OPEN };
    for (int i = 0; i < 2; i++)
        KAL_TRY(calibrate(timing, &lane[i]));
    if (lane[0].executions > 0 && lane[1].executions > 0)
        KAL_TRY(run_rounds(timing, lane, outcome));
    else
        outcome->is_out_of_time = true;
    outcome->incumbent = summarise(&lane[0], outcome->rounds);
    outcome->challenger = summarise(&lane[1], outcome->rounds);
    outcome->ratio = median_ratio(lane, outcome->rounds);
    return KALLIMA_OK;
}
