// SPDX-License-Identifier: MIT
// Measure in host memory: each library in arrays of its own, by the host's clock.
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#if defined __SSE2__
#include <emmintrin.h>
#endif

#include "bench_job.h"
#include "bench_oracle.h"

enum {
    ALIGNMENT_BYTES = 64,
    PAGE_BYTES = 4096,
    DRAWN_POINTS = 2048, // at least, for the error
};

// --- arrays -------------------------------------------------------------------------

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

// 0xff in every byte is a NaN in both precisions: an output never written is found.
static void poison(void *array, uint64_t bytes)
{
    PARALLEL_FOR(bytes)
    for (uint64_t start = 0; start < bytes; start += PAGE_BYTES)
        memset((char *)array + start, 0xff, least(bytes - start, PAGE_BYTES));
}

static void *allocate(const struct bench_job *job, uint64_t bytes)
{
    const int64_t behind = job->bench->behind_bytes;
    void *memory = NULL;
    if (posix_memalign(&memory, ALIGNMENT_BYTES, bytes + (uint64_t)behind) != 0)
        return NULL;
    poison((char *)memory + behind, bytes);
    return (char *)memory + behind;
}

static void release(const struct bench_job *job, void *array)
{
    if (array)
        free((char *)array - job->bench->behind_bytes);
}

// Of each array of a side: the next one is aligned, too.
static uint64_t array_bytes(const struct side *side)
{
    return (side_bytes(side) + ALIGNMENT_BYTES - 1) / ALIGNMENT_BYTES * ALIGNMENT_BYTES;
}

static uint64_t total_bytes(const struct side *side)
{
    return (uint64_t)side_arrays(side) * array_bytes(side);
}

// All arrays of a side are one allocation.
static void set_arrays(void *array[2], void *memory, const struct side *side)
{
    array[0] = memory;
    array[1] = memory && side->is_planar ? (char *)memory + array_bytes(side) : NULL;
}

static bool allocate_arrays(struct bench_job *job)
{
    const struct side *in = &job->data->in, *out = &job->data->out;
    const bool in_place = job->data->desc->placement == KALLIMA_IN_PLACE;
    const uint64_t in_bytes = total_bytes(in), out_bytes = total_bytes(out);

    void *memory = allocate(job, in_place && out_bytes > in_bytes ? out_bytes : in_bytes);
    set_arrays(job->arrays.in, memory, in);
    set_arrays(job->arrays.out, in_place ? memory : allocate(job, out_bytes), out);
    if (!job->arrays.in[0] || !job->arrays.out[0])
        return outcome_fail(job->outcome, "no memory left for the arrays");
    return true;
}

static bool is_in_place(const struct bench_job *job)
{
    return job->arrays.in[0] == job->arrays.out[0];
}

// --- the input that runs overwrite ----------------------------------------------------

// FFTW destroys the input of inverse real transforms of several axes; all libraries alike find
// theirs freshly written.
static bool overwrites_input(const struct bench_job *job)
{
    return is_in_place(job) || job->data->desc->kind == KALLIMA_C2R;
}

// Drawing the numbers takes so long that the caches hold little else behind it, as behind no
// caller's own work: they are drawn once, and copied.
static bool keep_input(struct bench_job *job)
{
    void *fresh[2];
    if (!overwrites_input(job))
        return true;
    job->fresh = allocate(job, total_bytes(&job->data->in));
    if (!job->fresh)
        return outcome_fail(job->outcome, "no memory left for a copy of the input");
    set_arrays(fresh, job->fresh, &job->data->in);
    data_fill(job->data, fresh);
    return true;
}

static void restore_input(const struct bench_job *job)
{
    const uint64_t bytes = total_bytes(&job->data->in);
    PARALLEL_FOR(bytes)
    for (uint64_t start = 0; start < bytes; start += PAGE_BYTES)
        memcpy((char *)job->arrays.in[0] + start, (const char *)job->fresh + start,
               least(bytes - start, PAGE_BYTES));
}

static void job_clear(struct bench_job *job)
{
    kallima_plan_destroy(&job->plan);
    if (job->peer_plan)
        job->peer->peer->plan_destroy(job->peer_plan);
    if (!is_in_place(job))
        release(job, job->arrays.out[0]);
    release(job, job->arrays.in[0]);
    release(job, job->fresh);
}

static bool execute(const struct bench_job *job)
{
    const struct peer_arrays *arrays = &job->arrays;
    if (job->peer)
        return job->peer->peer->execute(job->peer_plan);
    if (!arrays->in[1] && !arrays->out[1])
        return kallima_plan_run(job->plan, arrays->in[0], arrays->out[0]) == KALLIMA_OK;
    const kallima_host_arrays planar = { .in = { arrays->in[0], arrays->in[1] },
                                         .out = { arrays->out[0], arrays->out[1] } };
    return kallima_plan_execute_host(job->plan, &planar) == KALLIMA_OK;
}

// --- the error ------------------------------------------------------------------------

// One execution on fresh input and poisoned output. Returns the mean square of the errors of
// those transforms that the oracle knows.
static double square_error(const struct bench_job *job, const struct oracle *oracle)
{
    void *const *out = job->arrays.out;
    double sum = 0;
    poison(out[0], total_bytes(&oracle->data->out));
    data_fill(oracle->data, job->arrays.in);
    const double start = sample_now_ns();
    if (!execute(job))
        return NAN;
    if (job->outcome->first_ns == 0)
        job->outcome->first_ns = sample_now_ns() - start;
    for (int i = 0; i < oracle->picks; i++) {
        const uint64_t offset = oracle_offset(oracle, i);
        void *const outputs[2] = { (char *)out[0] + offset,
                                   out[1] ? (char *)out[1] + offset : NULL };
        const double error = oracle_error(oracle, i, outputs);
        sum += error * error / oracle->picks;
    }
    return sum;
}

// Compare with the exact result; tiny transforms several times, as a few roundings are no
// statistic.
static bool check(struct bench_job *job)
{
    const kallima_desc *desc = job->data->desc;
    const int64_t points = desc_points(desc) * desc_batch(desc);
    const int draws = points < DRAWN_POINTS ? (int)(DRAWN_POINTS / points) : 1;
    double sum = 0;

    for (int i = 0; i < draws; i++) {
        struct data drawn;
        struct oracle oracle;
        data_init(&drawn, desc, (uint64_t)i);
        if (!oracle_init(&oracle, &drawn))
            return outcome_fail(job->outcome, "no memory left for the reference");
        job->outcome->method = oracle.method;
        sum += square_error(job, &oracle);
        oracle_clear(&oracle);
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
    const struct bench_job *job = self;
    if (job->fresh)
        restore_input(job);
    const double start = sample_now_ns();
    for (int64_t i = 0; i < executions; i++)
        execute(job);
    return (sample_now_ns() - start) / (double)executions;
}

// Kallima's plan is there already: it refuses what is too large for memory.
static bool prepare(struct bench_job *job)
{
    return allocate_arrays(job) &&
           (!job->peer ||
            outcome_plan_peer(job->outcome, job->bench, job->peer, job->data->desc,
                              &job->arrays, &job->peer_plan)) &&
           check(job) && keep_input(job);
}

// --- one library alone -------------------------------------------------------------------

static bool host_prepare(struct bench_job *job)
{
    return (job->peer ||
            outcome_plan_ours(job->outcome, job->bench, job->data->desc, &job->plan)) &&
           prepare(job);
}

// Up to a page of a copy.
typedef void copy_page(char *to, const char *from, uint64_t bytes);

static void copy_plainly(char *to, const char *from, uint64_t bytes)
{
    memcpy(to, from, bytes);
}

// What is written through the caches is read before: that is half as much again as a transform
// needs that writes past them. Other processors than x86-64 see by themselves what is overwritten.
static void copy_past_caches(char *to, const char *from, uint64_t bytes)
{
    uint64_t at = 0;
#if defined __SSE2__
    for (; at + sizeof(__m128i) <= bytes; at += sizeof(__m128i))
        _mm_stream_si128((__m128i *)(to + at),
                         _mm_loadu_si128((const __m128i *)(from + at)));
#endif
    memcpy(to + at, from + at, bytes - at);
}

static double time_copies(char *to, const char *from, uint64_t bytes, copy_page *copy,
                          int64_t times)
{
    const double start = sample_now_ns();
    for (int64_t k = 0; k < times; k++) {
        PARALLEL_FOR(bytes)
        for (uint64_t at = 0; at < bytes; at += PAGE_BYTES)
            copy(to + at, from + at, least(bytes - at, PAGE_BYTES));
    }
    return (sample_now_ns() - start) / (double)times;
}

// The faster of both. A copy reads and writes the same number of bytes, a real transform not
// quite.
static double take_copy(const struct bench_job *job, int64_t times)
{
    const uint64_t in = side_moved_bytes(&job->data->in);
    const uint64_t out = side_moved_bytes(&job->data->out), bytes = least(in, out);
    const bool in_place = is_in_place(job);
    const char *from = job->arrays.in[0];
    char *to = in_place ? allocate(job, bytes) : job->arrays.out[0];
    if (!to)
        return -1;
    const double ns = fmin(time_copies(to, from, bytes, copy_plainly, times),
                           time_copies(to, from, bytes, copy_past_caches, times));
    if (in_place)
        release(job, to);
    return ns * ((double)in + (double)out) / (2 * (double)bytes);
}

static double host_take(struct bench_job *job, enum bench_step step, int64_t executions)
{
    return step == BENCH_RUN ? take(job, executions) : take_copy(job, executions);
}

const struct bench_way bench_way_host = {
    .has = { [BENCH_RUN] = true, [BENCH_COPY] = true },
    .prepare = host_prepare,
    .take = host_take,
    .clear = job_clear,
};

// --- all in turn -------------------------------------------------------------------------

// All that can compute the problem, in turn.
static void measure(const struct bench *bench, struct bench_job *job, int count)
{
    struct contender contender[1 + BENCH_MAX_PEERS];
    int ready = 0;
    for (int i = 0; i < count; i++) {
        if (prepare(&job[i]))
            contender[ready++] =
                (struct contender){ take, &job[i], &job[i].outcome->timing, NULL };
    }
    sample_all(&bench->sampling, contender, ready);
}

void bench_run_host(const struct bench *bench, struct result *result)
{
    struct bench_job job[1 + BENCH_MAX_PEERS];
    const int count = 1 + bench->peers;
    struct data data;

    for (int i = 0; i < count; i++)
        job[i] = (struct bench_job){
            .bench = bench,
            .outcome = i ? &result->theirs[i - 1] : &result->ours,
            .data = &data,
            .peer = i ? &bench->peer[i - 1] : NULL,
        };
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
