// SPDX-License-Identifier: MIT
#include <kallima/kallima.h>

#include <math.h>

#include "api/knowledge.h"
#include "tune/standing.h"
#include "wisdom/wisdom.h"

// The caller's report, and what it is told.
struct reporter {
    kallima_tune_report report;
    void *user;
};

static bool report(void *user, const struct kal_candidate *c)
{
    const struct reporter *r = user;
    const kallima_tune_candidate candidate = {
        .recipe = c->text,
        .decision = kal_decision_names[c->decision],
        .fate = kal_fate_names[c->fate],
        .predicted_ns = c->predicted * 1e9,
        .measured_ns = c->measured * 1e9,
    };
    return r->report(r->user, &candidate) == 0;
}

static kallima_status check_options(const struct kal_host *host,
                                    const kallima_tune_options *options)
{
    if (options->effort < 0 || options->effort >= KALLIMA_EFFORT_COUNT)
        return kal_fail(host, KALLIMA_E_ARGUMENT, "tune: effort = %d; must be 0 to %d",
                        (int)options->effort, KALLIMA_EFFORT_COUNT - 1);
    if (!(options->seconds >= 0.0) || isinf(options->seconds))
        return kal_fail(host, KALLIMA_E_ARGUMENT,
                        "tune: seconds = %g; must be a number of at least 0",
                        options->seconds);
    return KALLIMA_OK;
}

// What of a tuning becomes wisdom.
struct record {
    kallima_device *device;
    const struct kal_tuning_options *how;
    const struct kal_tuning *tuning;
    double batches; // times a time of wisdom is one that was measured
};

// A time in wisdom is of the whole batch, whatever part of it there was memory for: of two
// times the shorter stays.
static double whole_ns(const struct record *record, double seconds)
{
    return seconds * 1e9 * record->batches;
}

static kallima_wisdom_entry start_entry(const struct record *record, int32_t kind,
                                        const char *recipe)
{
    const kallima_wisdom_owner *owner = record->how->owner;
    return (kallima_wisdom_entry){
        .kind = kind,
        .device = owner->device,
        .driver = owner->driver,
        .version = owner->version,
        .key = record->how->key,
        .value = recipe,
    };
}

static kallima_status keep_plan(const struct record *record)
{
    const struct kal_tuning *tuning = record->tuning;
    kallima_wisdom_entry entry = start_entry(record, KALLIMA_WISDOM_PLAN, tuning->recipe);
    entry.effort = record->how->effort;
    entry.time_ns = whole_ns(record, tuning->best.median);
    entry.spread = tuning->best.spread;
    return kal_wisdom_add(record->device->wisdom, &entry);
}

static kallima_status keep_trial(const struct record *record,
                                 const struct kal_standing *standing)
{
    const double predicted = whole_ns(record, standing->candidate->predicted);
    kallima_wisdom_entry entry =
        start_entry(record, KALLIMA_WISDOM_TRIAL, standing->candidate->text);
    entry.predicted_ns = predicted <= KAL_WISDOM_MAX_TIME_NS ? predicted : 0.0;
    entry.time_ns = whole_ns(record, standing->seconds);
    entry.spread = standing->spread;
    return kal_wisdom_add(record->device->wisdom, &entry);
}

// Trials only explain: a wisdom that has no room for them, as the log says, is no failure.
static kallima_status keep_trials(const struct record *record)
{
    struct kal_standing standing[KAL_MOST_STANDINGS];
    kallima_status status = KALLIMA_OK;

    const int count = kal_tuning_rank(record->tuning, standing);
    for (int i = 0; i < count && !status; i++)
        status = keep_trial(record, &standing[i]);
    return status == KALLIMA_E_WISDOM ? KALLIMA_OK : status;
}

static kallima_status keep(kallima_device *device, const struct kal_problem *problem,
                           const struct kal_tuning_options *how,
                           const struct kal_tuning *tuning)
{
    const struct record record = { device, how, tuning,
                                   (double)problem->batch / (double)tuning->batch };
    if (tuning->best.count == 0)
        return KALLIMA_OK;
    KAL_TRY(keep_plan(&record));
    return keep_trials(&record);
}

static void fill_result(kallima_tune_result *result, const struct kal_tuning *tuning)
{
    *result = (kallima_tune_result){
        .default_ns = tuning->first.median * 1e9,
        .tuned_ns = tuning->best.median * 1e9,
        .default_spread = tuning->first.spread,
        .tuned_spread = tuning->best.spread,
        .batch = tuning->batch,
        .considered = tuning->search.count,
        .tried = tuning->tried,
        .wrong = tuning->wrong,
        .rank_correlation = tuning->correlation,
        .first_choice = tuning->first_choice,
        .parameter_gain =
            tuning->best.median > 0.0
                ? pow(tuning->first.median / tuning->best.median, tuning->parameter_share)
                : 1.0,
    };
}

static kallima_status tune(kallima_device *device, const struct kal_problem *problem,
                           const char *key, const kallima_tune_options *options,
                           kallima_tune_result *result)
{
    const int effort = options->effort ? options->effort : KALLIMA_EFFORT_MEASURE;
    struct reporter reporter = { options->report, options->user };
    kallima_wisdom_owner owner;
    struct kal_tuning tuning;
    struct kal_knowledge knowledge;
    struct kal_arena arena;

    KAL_TRY(kallima_device_get_owner(device, &owner));
    KAL_TRY(kal_knowledge_measure(device, &owner, options->bytes));
    KAL_TRY(kal_knowledge_find(device, &owner, &knowledge));
    const struct kal_tuning_options how = {
        .effort = effort,
        .budget = { options->seconds, options->bytes },
        .knowledge = &knowledge,
        .owner = &owner,
        .key = key,
        .report = options->report ? report : NULL,
        .user = &reporter,
    };
    kal_arena_init(&arena, &device->host);
    kallima_status status = kal_tune(&tuning, &arena, device, problem, &how);
    if (!status)
        status = keep(device, problem, &how, &tuning);
    if (!status)
        status = kal_knowledge_keep(device, &owner, &tuning.knowledge);
    if (!status && result)
        fill_result(result, &tuning);
    kal_arena_clear(&arena);
    return status;
}

kallima_status kallima_tune(kallima_device *device, const kallima_desc *desc,
                            const kallima_tune_options *options,
                            kallima_tune_result *result)
{
    static const kallima_tune_options defaults;
    struct kal_problem problem;
    struct kal_text key;

    KAL_REQUIRE(NULL, device);
    const struct kal_host *host = &device->host;
    KAL_REQUIRE(host, desc);
    if (!options)
        options = &defaults;
    if (result)
        *result = (kallima_tune_result){ 0 };
    KAL_TRY(check_options(host, options));
    KAL_TRY(kal_problem_init(&problem, host, desc));
    if (problem.precision == KALLIMA_F64 && !device->caps.has_f64)
        return kal_fail(host, KALLIMA_E_UNSUPPORTED,
                        "tune: precision = f64; this device computes in f32 only");
    kal_text_init(&key, host);
    kal_problem_print(&key, &problem);
    const kallima_status status =
        key.status ? key.status : tune(device, &problem, key.data, options, result);
    kal_text_clear(&key);
    return status;
}
