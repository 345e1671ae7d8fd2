// SPDX-License-Identifier: MIT
// Timed are a copy, which leaves the caches, and three plans: a tiny one, and two with work for
// all processors, of which one exchanges much and one computes much. On the host one thread
// works these, as other load may stop one of several; its cores have what they need to
// themselves, so that all threads do as many times as much. By the model they take
//
//     copying     t0 = 2 * bytes / b
//     tiny        t1 = l
//     exchanging  t2 = l + E2 / x + C2 / o
//     computing   t3 = l + E3 / x + C3 / o
//
// seconds, where b, l, x and o are the constants, and E and C what the model counts of
// exchanges and operations. As E2 / C2 is some ten times E3 / C3,
//
//     1 / x = ((t2 - l) * C3 - (t3 - l) * C2) / (E2 * C3 - E3 * C2)
//     1 / o = ((t3 - l) * E2 - (t2 - l) * E3) / (E2 * C3 - E3 * C2)
//
// separates them. The two read and write once what mostly lies in caches, which counts for x
// and o; and what hides behind the other is seen as faster than it is. Both are so on all
// devices, and the constants of one are compared with those of another.
#include "tune/calibrate.h"

#include <math.h>
#include <string.h>

#include "exec/plan.h"
#include "tune/fill.h"
#include "tune/race.h"

const char *const kal_constant_names[KAL_CONSTANT_COUNT] = {
    [KAL_CONSTANT_BYTES] = "bytes-per-second",
    [KAL_CONSTANT_LAUNCH] = "launch-seconds",
    [KAL_CONSTANT_EXCHANGE] = "exchange-bytes-per-second",
    [KAL_CONSTANT_OPERATIONS] = "operations-per-second",
};

enum probe_id { COPYING, TINY, EXCHANGING, COMPUTING, PROBE_COUNT };

// In f32, complex, out of place.
static const struct probe {
    int64_t n;
    const char *recipe; // NULL: a copy
    bool has_one_line;
} probes[PROBE_COUNT] = {
    [COPYING] = { 0, NULL, false },
    [TINY] = { 2, "local(2)", true },
    [EXCHANGING] = { 1024, "local(2.2.2.2.2.2.2.2.2.2)", false },
    [COMPUTING] = { 2197, "local(13.13.13)", false },
};

static const double SAMPLE_SECONDS = 300e-6; // far above the resolution of events
static const double ALL_SECONDS = 0.06;      // of the samples of a probe

enum {
    MOST_SAMPLES = 25,
    MOST_EXECUTIONS = 1 << 16, // of one sample
    POINT_BYTES = 8,
    PROCESSOR_POINTS = 32768, // of all lines
    HOST_POINTS = 16384,      // so few that one thread works them
};

// What probes run in.
struct bench {
    kallima_device *device;
    kallima_timer *timer;
    uint64_t bytes; // of each buffer
    kallima_buffer *from, *to;
    kallima_plan *plan; // of the probe under way; NULL: a copy
};

// What was found.
struct finding {
    bool is_there;  // else the device cannot
    double seconds; // of an execution
    double spread;  // of all samples
    struct kal_terms terms;
};

// --- memory ------------------------------------------------------------------------------

// More than caches hold, as far as there is room; 0: there is none for a copy that tells.
static uint64_t choose_bytes(const kallima_device *device, uint64_t budget)
{
    static const double LEAST = 16 << 20, USUAL = 64 << 20, MOST = 256 << 20;
    static const double OF_MEMORY = 1.0 / 16.0,
                        OF_BUDGET = 7.0 / 16.0; // tables have the rest
    kallima_device_info info = { .memory_bytes = 0 };
    double bytes = 2.0 * (double)device->caps.shared_bytes;

    device->ops->describe(device, &info);
    bytes = fmin(fmax(bytes, USUAL), MOST);
    if (info.memory_bytes > 0)
        bytes = fmin(bytes, (double)info.memory_bytes * OF_MEMORY);
    if (budget > 0)
        bytes = fmin(bytes, (double)budget * OF_BUDGET);
    return bytes < LEAST ? 0 : (uint64_t)bytes / 4096 * 4096;
}

// Numbers from -1 to 1.
static kallima_status fill(kallima_buffer *buffer)
{
    float number[4096];

    for (size_t i = 0; i < KAL_COUNT(number); i++)
        number[i] = (float)(i * 2654435761u % 1999) / 999.0f - 1.0f;
    return kal_buffer_fill(buffer, number, sizeof number);
}

static kallima_status prepare(struct bench *b)
{
    KAL_TRY(kallima_timer_create(&b->timer, b->device));
    KAL_TRY(kallima_buffer_create(&b->from, b->device, b->bytes));
    KAL_TRY(kallima_buffer_create(&b->to, b->device, b->bytes));
    return fill(b->from);
}

static void clear(struct bench *b)
{
    kallima_device_finish(b->device);
    kallima_buffer_destroy(&b->from);
    kallima_buffer_destroy(&b->to);
    kallima_timer_destroy(&b->timer);
}

// --- times -------------------------------------------------------------------------------

// All threads copy, as all of them work a pass.
static void copy_on_host(const struct bench *b)
{
    const int threads = (int)kal_max(1, b->device->caps.threads);
    const char *from = kal_memory_address(b->from->memory);
    char *to = kal_memory_address(b->to->memory);
    const size_t part = (size_t)b->bytes / (size_t)threads;

#pragma omp parallel for schedule(static) num_threads(threads)
    for (int i = 0; i < threads; i++)
        memcpy(to + (size_t)i * part, from + (size_t)i * part, part);
}

static kallima_status run(const struct bench *b)
{
    const kallima_device_arrays arrays = { .in = { b->from }, .out = { b->to } };

    if (b->plan)
        return kal_plan_execute(b->plan, &arrays, NULL);
    if (!kal_device_is_host(b->device))
        return kallima_buffer_copy(b->to, 0, b->from, 0, b->bytes);
    copy_on_host(b);
    return KALLIMA_OK;
}

static kallima_status take(const struct bench *b, int executions, double *seconds)
{
    KAL_TRY(kallima_timer_start(b->timer));
    for (int i = 0; i < executions; i++)
        KAL_TRY(run(b));
    KAL_TRY(kallima_timer_stop(b->timer));
    return kallima_timer_read(b->timer, seconds);
}

// The shorter of two samples: other load makes one longer, now and then.
static kallima_status take_shorter(const struct bench *b, int executions, double *seconds)
{
    double other;
    KAL_TRY(take(b, executions, seconds));
    KAL_TRY(take(b, executions, &other));
    *seconds = fmin(*seconds, other);
    return KALLIMA_OK;
}

// The first execution loads what it needs; then samples are made long enough. What counts is the
// fastest: other load only makes samples longer, and what is found now is kept.
static kallima_status measure(const struct bench *b, struct finding *found)
{
    double sample[MOST_SAMPLES], scratch[MOST_SAMPLES], seconds, all = 0.0;
    int executions = 1, count = 0;

    KAL_TRY(take(b, executions, &seconds));
    KAL_TRY(take_shorter(b, executions, &seconds));
    while (seconds < SAMPLE_SECONDS && executions < MOST_EXECUTIONS) {
        executions *= 2;
        KAL_TRY(take_shorter(b, executions, &seconds));
    }
    found->seconds = INFINITY;
    while (count < MOST_SAMPLES && all < ALL_SECONDS) {
        KAL_TRY(take(b, executions, &seconds));
        all += seconds;
        sample[count] = seconds / executions;
        found->seconds = fmin(found->seconds, sample[count++]);
    }
    found->spread = kal_times_summarise(sample, count, scratch).spread;
    found->is_there = true;
    return KALLIMA_OK;
}

// --- probes ------------------------------------------------------------------------------

static kallima_desc describe(const struct bench *b, const struct probe *probe)
{
    const int64_t processors = kal_max(1, b->device->caps.processors);
    const int64_t room = (int64_t)(b->bytes / POINT_BYTES);
    const int64_t points = kal_device_is_host(b->device)
                               ? HOST_POINTS
                               : kal_min(processors * PROCESSOR_POINTS, room);
    const int64_t lines = probe->has_one_line ? 1 : points / probe->n;

    return (kallima_desc){ .rank = 1, .n = { probe->n }, .batch = lines };
}

static kallima_status find_with_plan(struct bench *b, struct finding *found)
{
    KAL_TRY(kal_terms_count(&found->terms, &b->plan->arena, &b->plan->problem,
                            b->plan->recipe, &b->device->caps));
    return measure(b, found);
}

static kallima_status find(struct bench *b, const struct probe *probe,
                           struct finding *found)
{
    const kallima_plan_options options = { .recipe = probe->recipe };

    if (!probe->recipe)
        return measure(b, found);
    const kallima_desc desc = describe(b, probe);
    KAL_TRY(kallima_plan_create(&b->plan, b->device, &desc, &options));
    const kallima_status status = find_with_plan(b, found);
    kallima_plan_destroy(&b->plan);
    return status;
}

// That a plan is refused is no failure.
static kallima_status find_all(struct bench *b, struct finding found[PROBE_COUNT])
{
    for (int i = 0; i < PROBE_COUNT; i++) {
        const kallima_status status = find(b, &probes[i], &found[i]);
        if (status == KALLIMA_E_DEVICE || status == KALLIMA_E_MEMORY)
            return status;
    }
    return KALLIMA_OK;
}

// --- constants ---------------------------------------------------------------------------

static void set(struct kal_calibration *out, enum kal_constant constant, double value,
                double spread)
{
    if (!(value > 0.0) || isinf(value))
        return;
    out->constants.value[constant] = value;
    out->spread[constant] = spread;
}

// Without launching it; where that is much of the time, the rest says little.
static double net_seconds(const struct finding *found, const struct finding *tiny)
{
    return fmax(found->seconds - tiny->seconds, found->seconds / 2.0);
}

// Each takes a quarter of the time at least of the plan that has most of it: noise does not
// make it free.
static void separate(struct kal_calibration *out, const struct finding found[PROBE_COUNT],
                     double workers)
{
    static const double LEAST = 0.25;
    const struct finding *two = &found[EXCHANGING], *three = &found[COMPUTING];
    const double e2 = two->terms.amount[KAL_TERM_EXCHANGE];
    const double c2 = two->terms.amount[KAL_TERM_COMPUTE];
    const double e3 = three->terms.amount[KAL_TERM_EXCHANGE];
    const double c3 = three->terms.amount[KAL_TERM_COMPUTE];
    const double t2 = net_seconds(two, &found[TINY]);
    const double t3 = net_seconds(three, &found[TINY]);
    const double determinant = e2 * c3 - e3 * c2;
    const double spread = fmax(two->spread, three->spread);

    if (!two->is_there || !three->is_there || !(determinant > 0.0))
        return;
    const double byte = (t2 * c3 - t3 * c2) / determinant;
    const double operation = (t3 * e2 - t2 * e3) / determinant;
    set(out, KAL_CONSTANT_EXCHANGE, workers / fmax(byte, LEAST * t2 / e2), spread);
    set(out, KAL_CONSTANT_OPERATIONS, workers / fmax(operation, LEAST * t3 / c3), spread);
}

static void conclude(struct kal_calibration *out, const struct bench *b,
                     const struct finding found[PROBE_COUNT])
{
    const double threads = kal_device_is_host(b->device) ? b->device->caps.threads : 1;
    const struct finding *copying = &found[COPYING], *tiny = &found[TINY];

    if (copying->is_there)
        set(out, KAL_CONSTANT_BYTES, 2.0 * (double)b->bytes / copying->seconds,
            copying->spread);
    if (tiny->is_there)
        set(out, KAL_CONSTANT_LAUNCH, tiny->seconds, tiny->spread);
    separate(out, found, fmax(1.0, threads));
}

kallima_status kal_calibrate(struct kal_calibration *out, kallima_device *device,
                             uint64_t bytes)
{
    struct bench b = { .device = device, .bytes = choose_bytes(device, bytes) };
    struct finding found[PROBE_COUNT] = { { .is_there = false } };

    *out = (struct kal_calibration){ .spread = { 0.0 } };
    if (b.bytes == 0)
        return KALLIMA_OK;
    kallima_status status = prepare(&b);
    if (!status)
        status = find_all(&b, found);
    conclude(out, &b, found);
    clear(&b);
    return status;
}
