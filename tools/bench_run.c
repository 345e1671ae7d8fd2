// SPDX-License-Identifier: MIT
#include "bench_run.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    ALIGNMENT_BYTES = 64,
    MIN_SAMPLES = 30,
    FEW_SAMPLES = 3, // taken even if there is no time left
    MAX_SAMPLES = 4096,
    DRAWN_POINTS = 2048,            // at least, for the error
    MAX_REFERENCE_POINTS = 1 << 16, // larger ones: in extended precision
};

static const double SAMPLE_NS = 200e3; // the least time of one sample

// One library at work on one problem, in arrays of its own.
struct contender {
    struct outcome *outcome;
    void *in, *out; // the same array in place
    kallima_plan *plan;
    const struct peer *peer; // NULL: Kallima
    struct peer_plan *peer_plan;
    int64_t inner; // executions in a sample
    double *sample;
};

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

static bool fail(struct contender *c, const char *sentence)
{
    snprintf(c->outcome->why, sizeof c->outcome->why, "%s", sentence);
    return false;
}

// --- arrays -------------------------------------------------------------------------

// 0xff in every byte is a NaN in both precisions: an output never written is found.
static void poison(void *array, uint64_t bytes)
{
    enum { PAGE = 4096 };
    PARALLEL_FOR(bytes)
    for (uint64_t start = 0; start < bytes; start += PAGE)
        memset((char *)array + start, 0xff, bytes - start < PAGE ? bytes - start : PAGE);
}

static void *allocate(uint64_t bytes)
{
    void *array = NULL;
    if (posix_memalign(&array, ALIGNMENT_BYTES, bytes) != 0)
        return NULL;
    poison(array, bytes);
    return array;
}

static bool allocate_arrays(struct contender *c, const struct data *data)
{
    const bool in_place = data->desc->placement == KALLIMA_IN_PLACE;
    const uint64_t in = side_bytes(&data->in), out = side_bytes(&data->out);

    c->in = allocate(in_place && out > in ? out : in);
    c->out = in_place ? c->in : allocate(out);
    c->sample = malloc(MAX_SAMPLES * sizeof *c->sample);
    if (!c->in || !c->out || !c->sample)
        return fail(c, "no memory left for the arrays");
    return true;
}

static void contender_clear(struct contender *c)
{
    kallima_plan_destroy(&c->plan);
    if (c->peer_plan)
        c->peer->plan_destroy(c->peer_plan);
    if (c->out != c->in)
        free(c->out);
    free(c->in);
    free(c->sample);
}

// --- planning and executing -----------------------------------------------------------

static bool plan_ours(struct contender *c, const struct bench *bench,
                      const kallima_desc *desc)
{
    const double start = now_ns();
    if (kallima_plan_create(&c->plan, bench->device, desc, NULL) != KALLIMA_OK)
        return fail(c, kallima_last_error());
    c->outcome->plan_ns = now_ns() - start;
    struct outcome *outcome = c->outcome;
    kallima_plan_get_recipe(c->plan, outcome->recipe, sizeof outcome->recipe, NULL);
    return true;
}

static bool plan_peer(struct contender *c, const struct bench *bench,
                      const kallima_desc *desc)
{
    struct outcome *outcome = c->outcome;
    const double start = now_ns();
    c->peer_plan = bench->peer->plan(bench->session, desc, c->in, c->out, outcome->why,
                                     sizeof outcome->why);
    outcome->plan_ns = now_ns() - start;
    return c->peer_plan != NULL;
}

static bool execute(const struct contender *c)
{
    if (c->peer) {
        c->peer->execute(c->peer_plan);
        return true;
    }
    return kallima_plan_run(c->plan, c->in, c->out) == KALLIMA_OK;
}

// --- the error ------------------------------------------------------------------------

static void fill(const struct contender *c, const struct data *data)
{
    void *const in[2] = { c->in, NULL };
    data_fill(data, in);
}

// One execution on fresh input and poisoned output. Returns the mean square of the errors
// of the first and the last transform of the batch.
static double square_error(const struct contender *c, const struct data *data)
{
    void *const out[2] = { c->out, NULL };
    const int64_t last = data->out.batch - 1;

    poison(c->out, side_bytes(&data->out));
    fill(c, data);
    if (!execute(c))
        return NAN;
    const double first_error = data_error(data, 0, out, c->outcome->method);
    if (last == 0)
        return first_error * first_error;
    const double last_error = data_error(data, last, out, c->outcome->method);
    return (first_error * first_error + last_error * last_error) / 2;
}

// Compare with the exact result; tiny transforms several times, as a few roundings are no
// statistic.
static bool check(struct contender *c, const struct data *data)
{
    const int64_t points = desc_points(data->desc);
    const int draws = points < DRAWN_POINTS ? (int)(DRAWN_POINTS / points) : 1;
    double sum = 0;

    c->outcome->method =
        points <= MAX_REFERENCE_POINTS ? ERROR_REFERENCE : ERROR_EXTENDED;
    for (int i = 0; i < draws; i++) {
        struct data drawn;
        data_init(&drawn, data->desc, (uint64_t)i);
        sum += square_error(c, &drawn);
    }
    c->outcome->error = sqrt(sum / draws);
    if (!execute(c))
        return fail(c, kallima_last_error());
    return true;
}

// --- the time -------------------------------------------------------------------------

// Return ns of one execution, the mean of a sample.
static double take_sample(const struct contender *c, const struct data *data)
{
    const kallima_desc *desc = data->desc;
    if (desc->placement == KALLIMA_IN_PLACE || desc->kind == KALLIMA_C2R)
        fill(c, data); // the last sample has overwritten the input
    const double start = now_ns();
    for (int64_t i = 0; i < c->inner; i++)
        execute(c);
    return (now_ns() - start) / (double)c->inner;
}

// Double the executions in a sample until it takes long enough.
static void calibrate(struct contender *c, const struct data *data)
{
    c->inner = 1;
    while (take_sample(c, data) * (double)c->inner < SAMPLE_NS)
        c->inner *= 2;
}

static bool is_enough(const struct bench *bench, int samples, double spent_ns,
                      int contenders)
{
    if (samples >= MAX_SAMPLES)
        return true;
    if (samples < MIN_SAMPLES)
        return samples >= FEW_SAMPLES && spent_ns > 1e9 * bench->max_time_s;
    return spent_ns > 1e9 * bench->min_time_s * contenders;
}

// Alternate between the contenders, the first one of each round in turn, so that what else
// the machine does falls on all alike.
static void measure(const struct bench *bench, const struct data *data,
                    struct contender *const *contender, int count)
{
    for (int i = 0; i < count; i++)
        calibrate(contender[i], data);

    int samples = 0;
    const double start = now_ns();
    while (!is_enough(bench, samples, now_ns() - start, count)) {
        for (int i = 0; i < count; i++) {
            struct contender *c = contender[(i + samples) % count];
            c->sample[samples] = take_sample(c, data);
        }
        samples++;
    }
    for (int i = 0; i < count; i++) {
        contender[i]->outcome->samples = samples;
        contender[i]->outcome->time = stats_summarise(contender[i]->sample, samples);
    }
}

void bench_run(const struct bench *bench, const kallima_desc *desc, struct result *result)
{
    struct contender ours = { .outcome = &result->ours }, *ready[2];
    struct contender theirs = { .outcome = &result->theirs, .peer = bench->peer };
    struct data data;
    int count = 0;

    *result = (struct result){ .desc = desc, .has_peer = bench->peer != NULL };
    if (bench->peer)
        result->peer_info = bench->peer->get_info(bench->session, desc->precision);
    result->bound = reference_bound(desc->rank, desc->n,
                                    desc->precision == KALLIMA_F64 ? 0x1p-53 : 0x1p-24);
    if (plan_ours(&ours, bench, desc)) { // refuses what is too large for memory
        data_init(&data, desc, 1);
        if (allocate_arrays(&ours, &data) && check(&ours, &data))
            ready[count++] = &ours;
        if (bench->peer && allocate_arrays(&theirs, &data) &&
            plan_peer(&theirs, bench, desc) && check(&theirs, &data))
            ready[count++] = &theirs;
        if (count > 0)
            measure(bench, &data, ready, count);
    } else {
        fail(&theirs, "not measured, as kallima has no plan");
    }
    contender_clear(&ours);
    contender_clear(&theirs);
}

// --- what came of it ---------------------------------------------------------------------

bool result_has_ratio(const struct result *result)
{
    return result->has_peer && !result->ours.why[0] && !result->theirs.why[0];
}

double result_ratio(const struct result *result)
{
    return result->theirs.time.median / result->ours.time.median;
}

bool result_is_good(const struct result *result)
{
    return !result->ours.why[0] && result->ours.error <= result->bound;
}

double result_gflops(const struct result *result, const struct outcome *outcome)
{
    const double points = (double)desc_points(result->desc);
    const double factor = result->desc->kind == KALLIMA_C2C ? 5 : 2.5;
    return factor * points * log2(points) * (double)desc_batch(result->desc) /
           outcome->time.median;
}
