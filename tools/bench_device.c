// SPDX-License-Identifier: MIT
// Measure in a device's memory: all libraries in the same arrays, by the events of the
// device, beside a copy of as many bytes.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench_job.h"
#include "bench_memory.h"
#include "bench_oracle.h"
#include "bench_selector.h"
#include "bench_worker.h"

enum {
    DRAWN_POINTS = 2048, // at least, for the error
    MAX_DRAWS = 64,
    COPY_TRIALS = 5,
};

static bool fail(const struct bench_job *job)
{
    return outcome_fail(job->outcome,
                        job->peer ? "the execution failed" : kallima_last_error());
}

// The job is the one to blame for what happens from here on.
static void begin(const struct bench_job *job)
{
    job->bench->record->at_work = job->number;
}

// Wait for what the job enqueued. If the device does not answer, it has broken it.
static void end(const struct bench_job *job)
{
    struct bench_record *record = job->bench->record;
    if (kallima_device_finish(job->bench->device) != KALLIMA_OK)
        worker_lose(record, job->number, kallima_last_error());
    record->at_work = -1;
}

static bool is_out(const struct bench_job *job)
{
    return job->bench->record->lost || job->outcome->why[0];
}

static bool plan(struct bench_job *job, const kallima_desc *desc)
{
    const struct bench_memory *memory = job->bench->memory;
    if (job->peer)
        return outcome_plan_peer(
            job->outcome, job->bench, job->peer, desc,
            &(struct peer_arrays){ { memory->in->native }, { memory->out->native } },
            &job->peer_plan);
    return outcome_plan_ours(job->outcome, job->bench, desc, &job->plan);
}

static bool execute(const struct bench_job *job)
{
    const struct bench_memory *memory = job->bench->memory;
    if (job->peer)
        return job->peer->peer->execute(job->peer_plan);
    const kallima_device_arrays arrays = {
        .in = { memory->in->buffer },
        .out = { memory->out->buffer },
    };
    return kallima_plan_execute(job->plan, &arrays) == KALLIMA_OK;
}

static void job_clear(struct bench_job *job)
{
    kallima_plan_destroy(&job->plan);
    if (job->peer_plan)
        job->peer->peer->plan_destroy(job->peer_plan);
    free(job->arrays.out[0]);
    free(job->arrays.in[0]);
}

// --- the error ------------------------------------------------------------------------

// Mean square of the errors of those transforms that the oracle knows.
static bool add_squares(struct bench_job *job, const struct oracle *oracle, void *host)
{
    const kallima_buffer *out = job->bench->memory->out->buffer;
    for (int i = 0; i < oracle->picks; i++) {
        if (kallima_buffer_read(out, oracle_offset(oracle, i), host,
                                oracle_bytes(oracle)) != KALLIMA_OK)
            return outcome_fail(job->outcome, kallima_last_error());
        const double error = oracle_error(oracle, i, (void *const[2]){ host });
        job->squares += error * error / oracle->picks;
    }
    return true;
}

// One execution by the host's clock, until it is done; negative: it failed.
static double time_execution(const struct bench_job *job)
{
    kallima_device *device = job->bench->device;
    if (kallima_device_finish(device) != KALLIMA_OK)
        return -1;
    const double start = sample_now_ns();
    const bool ok = execute(job) && kallima_device_finish(device) == KALLIMA_OK;
    return ok ? sample_now_ns() - start : -1;
}

// One execution on fresh input and poisoned output.
static bool check(struct bench_job *job, const struct oracle *oracle, void *host)
{
    job->outcome->method = oracle->method;
    const double ns = bench_memory_poison(job->bench->memory) ? time_execution(job) : -1;
    if (ns < 0)
        return fail(job);
    if (job->outcome->first_ns == 0)
        job->outcome->first_ns = ns;
    return add_squares(job, oracle, host);
}

static bool check_draw(struct bench_job *job, int count, const struct data *data)
{
    struct oracle oracle;
    char why[256] = "no memory left";
    void *host = NULL;
    bool ok = bench_memory_load(job->bench->memory, data, why, sizeof why) &&
              oracle_init(&oracle, data);

    if (ok) {
        host = malloc(oracle_bytes(&oracle));
        for (int i = 0; i < count; i++) {
            if (!host || is_out(&job[i]))
                continue;
            begin(&job[i]);
            check(&job[i], &oracle, host);
            end(&job[i]);
        }
        oracle_clear(&oracle);
        ok = host != NULL;
    }
    for (int i = 0; !ok && i < count; i++)
        outcome_fail(job[i].outcome, why);
    free(host);
    return ok;
}

// Tiny problems are drawn several times, as a few roundings are no statistic.
static void check_all(struct bench_job *job, int count, const kallima_desc *desc)
{
    const int64_t points = desc_points(desc) * desc_batch(desc);
    const int64_t wanted = points < DRAWN_POINTS ? DRAWN_POINTS / points : 1;
    const int draws = wanted < MAX_DRAWS ? (int)wanted : MAX_DRAWS;
    for (int i = 0; i < draws; i++) {
        struct data data;
        data_init(&data, desc, (uint64_t)i);
        if (!check_draw(job, count, &data))
            break;
    }
    for (int i = 0; i < count; i++)
        job[i].outcome->error = sqrt(job[i].squares / draws);
}

// --- the time -------------------------------------------------------------------------

// The host's time of a step with what comes before it, as a mean over about `ns`; negative:
// one failed.
static double work_for(const struct bench *bench, bool (*step)(const void *),
                       const void *self, double ns)
{
    const double start = sample_now_ns();
    int64_t times = 0;
    bool ok = true;

    do {
        ok = bench_memory_occupy(bench->memory) && step(self) &&
             kallima_device_finish(bench->device) == KALLIMA_OK;
        times++;
        bench->memory->at_work_ns = sample_now_ns();
    } while (ok && bench->memory->at_work_ns - start < ns);
    return ok ? (bench->memory->at_work_ns - start) / (double)times : -1;
}

// GPUs lower their clocks when they are idle, and raise them slowly: an NVIDIA H200 in use
// through Vulkan was at 345 of 1980 MHz after two seconds, the clock falling from 1.2 s on, and for
// tenths of a second of work, in which two parts take the same time.
// Copies alone do not raise them. Through CUDA and OpenCL that was not seen.
static bool wake(const struct bench *bench, bool (*step)(const void *), const void *self)
{
    static const double idle_ns = 1e9, part_ns = 2e8, least_gain = 0.02;
    enum { LEAST_PARTS = 4, MOST_PARTS = 15 };
    char api[32];

    bench_get_api(bench->info.selector, api, sizeof api);
    if (!strcmp(api, "cuda") || !strcmp(api, "opencl") ||
        sample_now_ns() - bench->memory->at_work_ns < idle_ns)
        return true;
    double before, now = work_for(bench, step, self, part_ns);
    for (int i = 1; i < MOST_PARTS && now >= 0; i++) {
        before = now;
        now = work_for(bench, step, self, part_ns);
        if (i >= LEAST_PARTS - 1 && now > (1 - least_gain) * before)
            break;
    }
    return now >= 0;
}

// Time what `step` enqueues, `times` times; negative: it failed.
static double take(const struct bench *bench, bool (*step)(const void *),
                   const void *self, int64_t times)
{
    struct bench_memory *memory = bench->memory;
    double seconds = 0;
    bool ok = wake(bench, step, self) && bench_memory_occupy(memory) &&
              kallima_timer_start(memory->timer) == KALLIMA_OK;
    for (int64_t i = 0; ok && i < times; i++)
        ok = step(self);
    ok = ok && kallima_timer_stop(memory->timer) == KALLIMA_OK &&
         kallima_timer_read(memory->timer, &seconds) == KALLIMA_OK;
    memory->at_work_ns = sample_now_ns();
    return ok ? 1e9 * seconds / (double)times : -1;
}

static bool step_job(const void *self)
{
    return execute(self);
}

static double take_job(void *self, int64_t executions)
{
    const struct bench_job *job = self;
    if (job->bench->record->lost)
        return -1;
    begin(job);
    const double ns = take(job->bench, step_job, job, executions);
    if (ns < 0) {
        fail(job);
        end(job);
    }
    return ns;
}

static bool step_copy(const void *self)
{
    const struct bench_copy *copying = self;
    const struct bench_memory *memory = copying->bench->memory;
    if (copying->by_kernel)
        return memory->module->copy(memory->gpu, memory->out, memory->source,
                                    copying->bytes);
    return kallima_buffer_copy(memory->out->buffer, 0, memory->source->buffer, 0,
                               copying->bytes) == KALLIMA_OK;
}

static double take_copy(void *self, int64_t executions)
{
    const struct bench_copy *copying = self;
    return take(copying->bench, step_copy, copying, executions) / copying->share;
}

// The shortest of a few trials.
static double try_copy(struct bench_copy *copying, bool by_kernel)
{
    double best = INFINITY;
    copying->by_kernel = by_kernel;
    for (int i = 0; i < COPY_TRIALS; i++) {
        const double ns = take_copy(copying, 1);
        if (ns >= 0 && ns < best)
            best = ns;
    }
    return best;
}

// A copy reads and writes the same number of bytes, a real transform not quite.
static void prepare_copy(struct bench_copy *copying, const struct data *data)
{
    const struct bench_memory *memory = copying->bench->memory;
    const uint64_t in = side_moved_bytes(&data->in), out = side_moved_bytes(&data->out);
    copying->bytes = in < out ? in : out;
    copying->share = 2 * (double)copying->bytes / ((double)in + (double)out);
    if (memory->module->copy) {
        const double by_api = try_copy(copying, false);
        copying->by_kernel = try_copy(copying, true) < by_api;
    }
}

static void measure(const struct bench *bench, struct result *result,
                    struct bench_job *job, int count, const struct data *data)
{
    struct contender contender[2 + BENCH_MAX_PEERS];
    struct bench_copy copying = { .bench = bench };
    int ready = 0;

    if (!is_out(&job[0]))
        take_job(&job[0], 1); // as a copy does not wake the device
    prepare_copy(&copying, data);
    contender[ready++] = (struct contender){ take_copy, &copying, &result->copy, NULL };
    for (int i = 0; i < count; i++) {
        if (outcome_is_wrong(result, job[i].outcome) || is_out(&job[i]))
            continue;
        contender[ready++] =
            (struct contender){ take_job, &job[i], &job[i].outcome->timing, NULL };
    }
    sample_all(&bench->sampling, contender, ready);
    result->copied_with = copying.by_kernel ? "kernel" : "api";
}

// A library that broke the device or ended the process at this case takes no part in it.
static void plan_all(struct bench_job *job, int count, const kallima_desc *desc)
{
    for (int i = 0; i < count; i++) {
        struct outcome *outcome = job[i].outcome;
        const char *broke = job[i].bench->record->broke[job[i].number];
        if (broke[0])
            snprintf(outcome->why, sizeof outcome->why, "%s %s",
                     job[i].peer ? job[i].peer->peer->name : "kallima", broke);
        if (is_out(&job[i]))
            continue;
        begin(&job[i]);
        plan(&job[i], desc);
        end(&job[i]);
    }
}

// --- one library alone ------------------------------------------------------------------

static bool device_prepare(struct bench_job *job)
{
    char why[256];
    if (!bench_memory_load(job->bench->memory, job->data, why, sizeof why))
        return outcome_fail(job->outcome, why);
    plan_all(job, 1, job->data->desc);
    check_all(job, 1, job->data->desc);
    return !is_out(job);
}

// The input as it is on the device, and room for the output.
static bool prepare_host(struct bench_job *job)
{
    const struct bench_memory *memory = job->bench->memory;
    void **in = &job->arrays.in[0], **out = &job->arrays.out[0];
    if (*in && *out)
        return true;
    *in = malloc(memory->in_bytes);
    *out = calloc(1, memory->out_bytes);
    return *in && *out &&
           kallima_buffer_read(memory->source->buffer, 0, *in, memory->in_bytes) ==
               KALLIMA_OK;
}

static bool step_write(const struct bench_job *job)
{
    const struct bench_memory *memory = job->bench->memory;
    return kallima_buffer_write(memory->in->buffer, 0, job->arrays.in[0],
                                memory->in_bytes) == KALLIMA_OK;
}

static bool step_read(const struct bench_job *job)
{
    const struct bench_memory *memory = job->bench->memory;
    return kallima_buffer_read(memory->out->buffer, 0, job->arrays.out[0],
                               memory->out_bytes) == KALLIMA_OK;
}

static bool step_total(const struct bench_job *job)
{
    return step_write(job) && execute(job) && step_read(job);
}

// By the host's clock, from an idle device until it is idle again.
static double take_on_host(struct bench_job *job, enum bench_step step,
                           int64_t executions)
{
    static bool (*const steps[BENCH_STEP_COUNT])(const struct bench_job *job) = {
        [BENCH_WRITE] = step_write,
        [BENCH_READ] = step_read,
        [BENCH_TOTAL] = step_total,
    };
    kallima_device *device = job->bench->device;
    bool ok = prepare_host(job) && kallima_device_finish(device) == KALLIMA_OK;
    const double start = sample_now_ns();
    for (int64_t i = 0; ok && i < executions; i++)
        ok = steps[step](job) && kallima_device_finish(device) == KALLIMA_OK;
    return ok ? (sample_now_ns() - start) / (double)executions : -1;
}

static double device_take(struct bench_job *job, enum bench_step step, int64_t executions)
{
    if (step == BENCH_RUN)
        return take_job(job, executions);
    if (step != BENCH_COPY)
        return take_on_host(job, step, executions);
    if (!job->copy.bench) {
        job->copy.bench = job->bench;
        prepare_copy(&job->copy, job->data);
    }
    return take_copy(&job->copy, executions);
}

static void device_clear(struct bench_job *job)
{
    kallima_device_finish(job->bench->device);
    if (!job->bench->record->lost)
        job_clear(job);
}

const struct bench_way bench_way_device = {
    .has = { true, true, true, true, true },
    .prepare = device_prepare,
    .take = device_take,
    .clear = device_clear,
};

// --- all in turn ------------------------------------------------------------------------

void bench_run_device(const struct bench *bench, struct result *result)
{
    struct bench_job job[1 + BENCH_MAX_PEERS];
    const int count = 1 + bench->peers;
    struct data data;
    char why[256];

    for (int i = 0; i < count; i++)
        job[i] = (struct bench_job){
            .bench = bench,
            .data = &data,
            .outcome = i ? &result->theirs[i - 1] : &result->ours,
            .number = i,
            .peer = i ? &bench->peer[i - 1] : NULL,
        };
    data_init(&data, result->desc, 0);
    if (bench_memory_load(bench->memory, &data, why, sizeof why)) {
        plan_all(job, count, result->desc);
        check_all(job, count, result->desc);
        measure(bench, result, job, count, &data);
    } else {
        for (int i = 0; i < count; i++)
            outcome_fail(job[i].outcome, why);
    }
    kallima_device_finish(bench->device);
    for (int i = 0; i < count && !bench->record->lost; i++)
        job_clear(&job[i]);
}
