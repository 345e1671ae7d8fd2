// SPDX-License-Identifier: MIT
// Measure in host memory: each library in arrays of its own, by the host's clock.
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "bench_run.h"

enum {
    ALIGNMENT_BYTES = 64,
    DRAWN_POINTS = 2048,            // at least, for the error
    MAX_REFERENCE_POINTS = 1 << 16, // larger ones: in extended precision
};

// One library at work on one problem.
struct job {
    struct outcome *outcome;
    const struct data *data;
    void *in, *out; // the same array in place
    kallima_plan *plan;
    const struct bench_peer *peer; // NULL: Kallima
    struct peer_plan *peer_plan;
};

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

static bool allocate_arrays(struct job *job)
{
    const struct data *data = job->data;
    const bool in_place = data->desc->placement == KALLIMA_IN_PLACE;
    const uint64_t in = side_bytes(&data->in), out = side_bytes(&data->out);

    job->in = allocate(in_place && out > in ? out : in);
    job->out = in_place ? job->in : allocate(out);
    if (!job->in || !job->out)
        return outcome_fail(job->outcome, "no memory left for the arrays");
    return true;
}

static void job_clear(struct job *job)
{
    kallima_plan_destroy(&job->plan);
    if (job->peer_plan)
        job->peer->peer->plan_destroy(job->peer_plan);
    if (job->out != job->in)
        free(job->out);
    free(job->in);
}

static bool execute(const struct job *job)
{
    if (job->peer)
        return job->peer->peer->execute(job->peer_plan);
    return kallima_plan_run(job->plan, job->in, job->out) == KALLIMA_OK;
}

// --- the error ------------------------------------------------------------------------

static void fill(const struct job *job, const struct data *data)
{
    void *const in[2] = { job->in, NULL };
    data_fill(data, in);
}

// One execution on fresh input and poisoned output. Returns the mean square of the errors
// of the first and the last transform of the batch.
static double square_error(const struct job *job, const struct data *data)
{
    void *const out[2] = { job->out, NULL };
    const int64_t last = data->out.batch - 1;

    poison(job->out, side_bytes(&data->out));
    fill(job, data);
    if (!execute(job))
        return NAN;
    const double first_error = data_error(data, 0, out, job->outcome->method);
    if (last == 0)
        return first_error * first_error;
    const double last_error = data_error(data, last, out, job->outcome->method);
    return (first_error * first_error + last_error * last_error) / 2;
}

// Compare with the exact result; tiny transforms several times, as a few roundings are no
// statistic.
static bool check(struct job *job)
{
    const kallima_desc *desc = job->data->desc;
    const int64_t points = desc_points(desc);
    const int draws = points < DRAWN_POINTS ? (int)(DRAWN_POINTS / points) : 1;
    double sum = 0;

    job->outcome->method =
        points <= MAX_REFERENCE_POINTS ? ERROR_REFERENCE : ERROR_EXTENDED;
    for (int i = 0; i < draws; i++) {
        struct data drawn;
        data_init(&drawn, desc, (uint64_t)i);
        sum += square_error(job, &drawn);
    }
    job->outcome->error = sqrt(sum / draws);
    if (!execute(job))
        return outcome_fail(job->outcome,
                            job->peer ? "the execution failed" : kallima_last_error());
    return true;
}

// --- the time -------------------------------------------------------------------------

static double take(void *self, int64_t executions)
{
    const struct job *job = self;
    const kallima_desc *desc = job->data->desc;
    if (desc->placement == KALLIMA_IN_PLACE || desc->kind == KALLIMA_C2R)
        fill(job, job->data); // the last sample has overwritten the input
    const double start = sample_now_ns();
    for (int64_t i = 0; i < executions; i++)
        execute(job);
    return (sample_now_ns() - start) / (double)executions;
}

static bool prepare(struct job *job, const struct bench *bench)
{
    return allocate_arrays(job) &&
           (!job->peer ||
            outcome_plan_peer(job->outcome, bench, job->peer, job->data->desc, job->in,
                              job->out, &job->peer_plan)) &&
           check(job);
}

// All that can compute the problem, in turn.
static void measure(const struct bench *bench, struct job *job, int count)
{
    struct contender contender[1 + BENCH_MAX_PEERS];
    int ready = 0;
    for (int i = 0; i < count; i++) {
        if (prepare(&job[i], bench))
            contender[ready++] =
                (struct contender){ take, &job[i], &job[i].outcome->timing };
    }
    sample_all(&bench->sampling, contender, ready);
}

void bench_run_host(const struct bench *bench, struct result *result)
{
    struct job job[1 + BENCH_MAX_PEERS];
    const int count = 1 + bench->peers;
    struct data data;

    for (int i = 0; i < count; i++)
        job[i] = (struct job){
            .outcome = i ? &result->theirs[i - 1] : &result->ours,
            .data = &data,
            .peer = i ? &bench->peer[i - 1] : NULL,
        };
    // Kallima refuses what is too large for memory.
    if (outcome_plan_ours(&result->ours, bench, result->desc, &job[0].plan)) {
        data_init(&data, result->desc, 1);
        measure(bench, job, count);
    } else {
        for (int i = 0; i < bench->peers; i++)
            outcome_fail(&result->theirs[i], "not measured, as kallima has no plan");
    }
    for (int i = 0; i < count; i++)
        job_clear(&job[i]);
}
