// SPDX-License-Identifier: MIT
#include "bench_sample.h"

#include <stdlib.h>
#include <time.h>

enum {
    FEW_SAMPLES = 3, // taken even if there is no time left
    MAX_SAMPLES = 4096,
    MAX_EXECUTIONS = 1 << 20, // in a sample
    MOST_SAMPLES_LONG =
        16, // what others need makes no sample longer than so many of these
};

// A contender at work.
struct lane {
    const struct contender *contender;
    int64_t executions;
    double *sample;
    int samples;
    double trial_ns; // the last one before the samples
    bool failed;
};

double sample_now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

static double take(struct lane *lane)
{
    const struct contender *contender = lane->contender;
    const double ns =
        lane->failed ? 0 : contender->take(contender->self, lane->executions);
    lane->failed = lane->failed || ns < 0;
    return ns;
}

static bool is_over(const struct lane *lane)
{
    const struct contender *contender = lane->contender;
    return lane->failed || (contender->is_over && contender->is_over(contender->self));
}

// Whether a sample takes long enough, twice: once may be something else that the machine did.
static bool is_long(struct lane *lane, double sample_ns)
{
    for (int i = 0; i < 2 && !is_over(lane); i++) {
        lane->trial_ns = take(lane);
        if (lane->trial_ns * (double)lane->executions < sample_ns)
            return false;
    }
    return true;
}

// Double the executions in a sample until it takes long enough; warms up by that.
static void calibrate(struct lane *lane, double sample_ns)
{
    lane->executions = 1;
    while (!is_long(lane, sample_ns) && !is_over(lane) &&
           lane->executions < MAX_EXECUTIONS)
        lane->executions *= 2;
}

// The first execution of a sample finds in the caches what the others' left, the next
// what it left itself: contenders of nearly the same speed, some with one execution and
// some with two, would not be measured alike. So all take as many as the quickest, but
// those that are so much slower that it makes no difference.
static void take_alike(struct lane *lane, int count, double sample_ns)
{
    int64_t most = 1;
    for (int i = 0; i < count; i++) {
        if (!lane[i].failed && lane[i].executions > most)
            most = lane[i].executions;
    }
    for (int i = 0; i < count; i++) {
        if (lane[i].trial_ns * (double)most <= MOST_SAMPLES_LONG * sample_ns)
            lane[i].executions = most;
    }
}

static bool is_enough(const struct sampling *sampling, int samples, double spent_ns,
                      int count)
{
    if (samples >= MAX_SAMPLES)
        return true;
    if (samples < sampling->min_samples)
        return samples >= FEW_SAMPLES && spent_ns > 1e9 * sampling->max_time_s;
    return spent_ns > 1e9 * sampling->min_time_s * count;
}

static void measure(const struct sampling *sampling, struct lane *lane, int count)
{
    const double start = sample_now_ns();
    bool goes_on = count > 0;
    for (int round = 0;
         goes_on && !is_enough(sampling, round, sample_now_ns() - start, count);
         round++) {
        goes_on = false;
        for (int i = 0; i < count; i++) {
            struct lane *turn = &lane[(i + round) % count];
            if (is_over(turn))
                continue;
            turn->sample[turn->samples++] = take(turn);
            goes_on = true;
        }
    }
}

// Where the time was over before the first sample, the last trial stands for it.
static void summarise(struct lane *lane)
{
    if (!lane->failed && lane->samples == 0 && lane->trial_ns > 0)
        lane->sample[lane->samples++] = lane->trial_ns;
    if (!lane->failed && lane->samples > 0)
        *lane->contender->timing =
            (struct timing){ stats_summarise(lane->sample, lane->samples), lane->samples,
                             lane->executions };
}

void sample_all(const struct sampling *sampling, const struct contender *contender,
                int count)
{
    struct lane lane[SAMPLE_MAX_CONTENDERS];
    for (int i = 0; i < count; i++) {
        *contender[i].timing = (struct timing){ 0 };
        lane[i] = (struct lane){
            .contender = &contender[i],
            .sample = malloc(MAX_SAMPLES * sizeof *lane[i].sample),
        };
        lane[i].failed = !lane[i].sample;
    }
    for (int i = 0; i < count; i++)
        calibrate(&lane[i], sampling->sample_ns);
    take_alike(lane, count, sampling->sample_ns);
    measure(sampling, lane, count);
    for (int i = 0; i < count; i++) {
        summarise(&lane[i]);
        free(lane[i].sample);
    }
}
