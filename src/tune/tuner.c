// SPDX-License-Identifier: MIT
#include "tune/tuner.h"

#include <math.h>

#include "base/clock.h"
#include "tune/builder.h"
#include "wisdom/wisdom.h"

// That an effort takes at most, unless a budget says otherwise; 0: no limit.
static const double effort_seconds[KALLIMA_EFFORT_COUNT] = {
    [KALLIMA_EFFORT_MEASURE] = 1.0,
    [KALLIMA_EFFORT_PATIENT] = 10.0,
};

static const struct kal_reach reaches[KALLIMA_EFFORT_COUNT] = {
    [KALLIMA_EFFORT_ESTIMATE] = { 1.0, 0 },
    [KALLIMA_EFFORT_MEASURE] = { 1.5, 32 },
    [KALLIMA_EFFORT_PATIENT] = { 3.0, 200 },
    [KALLIMA_EFFORT_EXHAUSTIVE] = { INFINITY, 1 << 30 },
};

enum { FIRST_ROUNDS = 9 };

struct tuner {
    const struct kal_tuning_options *options;
    struct kal_tuning *result;
    struct kal_trial *trial;
    struct kal_timing timing;
    struct kal_host quiet;      // for what may fail without harm
    kallima_plan *first, *best; // of those that are right
    int first_number;
    struct kal_builder builder;
    bool is_stopped;
    bool best_is_sure;         // all that it computes was looked at
    double best_seconds;       // what the best takes, on the scale of the first
    struct kal_pass_list list; // what the latest candidate launches
    double end;                // of the time, on the clock
};

static int prepare(void *context, const char *const *text, int count)
{
    struct tuner *t = context;
    return kal_builder_prepare(&t->builder, text, count);
}

static double predict(void *context, const struct kal_recipe *recipe)
{
    struct tuner *t = context;
    struct kal_arena arena;
    struct kal_terms terms;

    kal_arena_init(&arena, &t->quiet);
    const kallima_status status = kal_terms_count(&terms, &arena, &t->trial->problem,
                                                  recipe, &t->trial->device->caps);
    kal_arena_clear(&arena);
    return status ? INFINITY : kal_model_predict(&t->options->knowledge->model, &terms);
}

static bool has_time(void *context)
{
    struct tuner *t = context;
    return !t->is_stopped && kal_timing_left(&t->timing) > 0.0;
}

// Time the passes of a plan one by one where more than one is unknown. Each alone takes a
// little more or less than among the others: what they take together is known.
static kallima_status time_passes(struct tuner *t, const kallima_plan *plan)
{
    enum { ROUNDS = 5 };
    struct kal_times times[KAL_MOST_PLAN_PASSES];
    double sum = 0.0;
    int unknown;

    kal_passes_sum(&t->builder.passes, &t->list, &unknown);
    for (int i = 0; i < t->list.count && unknown > 1; i++) {
        KAL_TRY(kal_timing_measure_launch(&t->timing, plan, i, ROUNDS, &times[i]));
        if (times[i].count == 0) // no time
            return KALLIMA_OK;
        sum += times[i].median;
    }
    for (int i = 0; i < t->list.count && unknown > 1; i++) {
        const double seconds = times[i].median / sum * t->best_seconds;
        KAL_TRY(kal_builder_set_pass(
            &t->builder,
            (struct kal_pass_time){ t->list.key[i], seconds, times[i].spread, true }));
    }
    return KALLIMA_OK;
}

// What the best and its passes take; who is known to take longer is not tried.
static kallima_status set_best(struct tuner *t, const kallima_plan *plan, double seconds)
{
    static const double MARGIN = 1.03; // passes do not quite add up

    t->best_seconds = seconds;
    kal_builder_limit(&t->builder, MARGIN * seconds);
    return time_passes(t, plan);
}

// The first that is right has no rival. What was known of its passes before says by how much
// the machine is slower or faster now.
static kallima_status time_first(struct tuner *t, kallima_plan *plan,
                                 struct kal_candidate *c)
{
    int unknown;

    KAL_TRY(kal_timing_measure(&t->timing, plan, FIRST_ROUNDS, &t->result->first));
    const struct kal_times *first = &t->result->first;
    t->result->best = *first;
    c->measured = first->median;
    c->spread = first->spread;
    c->fate = KAL_FATE_FASTER;
    const double before = kal_passes_sum(&t->builder.passes, &t->list, &unknown);
    if (before > 0.0 && unknown == 0)
        kal_builder_scale(&t->builder, first->median / before);
    KAL_TRY(kal_builder_learn(&t->builder, &t->list, first->median, first->spread));
    return set_best(t, plan, first->median);
}

static kallima_status race_best(struct tuner *t, kallima_plan *plan,
                                struct kal_candidate *c)
{
    struct kal_outcome outcome;
    KAL_TRY(kal_timing_race(&t->timing, t->best, plan, &outcome));
    if (outcome.rounds == 0) { // no time: it waits for ever
        t->is_stopped = true;
        return KALLIMA_OK;
    }
    const double seconds = t->best_seconds * outcome.ratio;
    c->measured = outcome.challenger.median;
    c->spread = outcome.challenger.spread;
    c->rival = t->result->search.best;
    c->gain = outcome.ratio > 0.0 ? 1.0 / outcome.ratio : 0.0;
    c->fate = outcome.ruling == KAL_RULING_FASTER ? KAL_FATE_FASTER : KAL_FATE_SLOWER;
    KAL_TRY(kal_builder_learn(&t->builder, &t->list, seconds, c->spread));
    if (c->fate != KAL_FATE_FASTER)
        return KALLIMA_OK;
    t->result->best = outcome.challenger;
    return set_best(t, plan, seconds);
}

// Remember a recipe that computes wrongly.
static kallima_status remember_wrong(const struct tuner *t, const char *recipe,
                                     const struct kal_verdict *verdict)
{
    const kallima_wisdom_owner *owner = t->options->owner;
    const kallima_wisdom_entry entry = {
        .kind = KALLIMA_WISDOM_BAD,
        .device = owner->device,
        .driver = owner->driver,
        .version = owner->version,
        .key = t->options->key,
        .value = recipe,
        .reason = verdict->reason,
    };
    return kal_wisdom_add(t->trial->device->wisdom, &entry);
}

// The budget counts from the moment on when something that is right can be timed, on a
// device that is awake: whatever it took, there is none without it. As long as its check
// took, that of the winner will take.
static void start_clock(struct tuner *t, double check_seconds)
{
    static const double SEARCH = 0.85; // of the time; the rest is for the confirmation
    static const double LEAST = 0.5;
    const double given = t->options->budget.seconds, start = kal_clock_now();
    const double seconds = given > 0.0 ? given : effort_seconds[t->options->effort];

    if (seconds <= 0.0)
        return;
    t->end = start + seconds;
    t->timing.end = start + fmax(LEAST * seconds, SEARCH * seconds - check_seconds);
}

static kallima_status call_wrong(struct tuner *t, struct kal_candidate *c,
                                 const struct kal_verdict *verdict)
{
    t->result->wrong++;
    c->fate = KAL_FATE_WRONG;
    return remember_wrong(t, c->text, verdict);
}

// All of what the first computes is looked at, before its time counts; of its rivals a part,
// and all if one of them is the fastest in the end.
static kallima_status judge_first(struct tuner *t, kallima_plan *plan,
                                  struct kal_candidate *c)
{
    const double start = kal_clock_now();
    struct kal_verdict verdict;

    KAL_TRY(kal_trial_check(t->trial, plan, &verdict));
    if (!verdict.is_right)
        return call_wrong(t, c, &verdict);
    const double check_seconds = kal_clock_now() - start;
    KAL_TRY(kal_timing_wake(&t->timing, plan));
    start_clock(t, check_seconds);
    t->best_is_sure = true;
    return time_first(t, plan, c);
}

static kallima_status judge_rival(struct tuner *t, kallima_plan *plan,
                                  struct kal_candidate *c)
{
    struct kal_verdict verdict;

    KAL_TRY(kal_trial_glance(t->trial, plan, &verdict));
    if (!verdict.is_right)
        return call_wrong(t, c, &verdict);
    KAL_TRY(race_best(t, plan, c));
    if (c->fate == KAL_FATE_FASTER)
        t->best_is_sure = verdict.is_whole;
    return KALLIMA_OK;
}

// Where there is no memory to run it, it is refused.
static kallima_status judge_plan(struct tuner *t, kallima_plan *plan,
                                 struct kal_candidate *c)
{
    if (kal_trial_reserve(t->trial, plan)) {
        c->fate = KAL_FATE_REFUSED;
        return KALLIMA_OK;
    }
    t->result->tried++;
    return t->best ? judge_rival(t, plan, c) : judge_first(t, plan, c);
}

static void keep_best(struct tuner *t, kallima_plan *plan, int number)
{
    if (t->best != t->first)
        kallima_plan_destroy(&t->best);
    t->best = plan;
    if (!t->first) {
        t->first = plan;
        t->first_number = number;
    }
}

// Build a candidate, and find out about it.
static kallima_status try_candidate(struct tuner *t, struct kal_candidate *c)
{
    struct kal_built built = kal_builder_take(&t->builder, c->text);

    if (built.status == KALLIMA_E_DEVICE)
        return built.status;
    if (!built.plan) { // refused: it wants too much of the device
        c->fate = built.status     ? KAL_FATE_REFUSED
                  : built.is_known ? KAL_FATE_SAME
                                   : KAL_FATE_KNOWN;
        return KALLIMA_OK;
    }
    t->list = built.passes;
    const kallima_status status = judge_plan(t, built.plan, c);
    if (!status && c->fate == KAL_FATE_FASTER)
        keep_best(t, built.plan, (int)(c - t->result->search.candidate));
    else
        kallima_plan_destroy(&built.plan);
    return status;
}

static kallima_status challenge(void *context, struct kal_candidate *c)
{
    struct tuner *t = context;
    kallima_status status = KALLIMA_OK;

    if (kal_wisdom_is_bad(t->trial->device->wisdom, t->options->owner, t->options->key,
                          c->text))
        c->fate = KAL_FATE_WRONG; // as was found before
    else
        status = try_candidate(t, c);
    if (!status && t->options->report && !t->options->report(t->options->user, c))
        t->is_stopped = true;
    return status;
}

static void take_first(struct tuner *t)
{
    t->result->best = t->result->first;
    t->result->search.best = t->first_number;
}

// Is all right that the winner computes? Should an earlier one have written to the input
// unseen, it is fresh the second time.
static kallima_status make_sure(struct tuner *t)
{
    struct kal_search *s = &t->result->search;
    struct kal_verdict verdict = { .is_right = t->best_is_sure };

    for (int i = 0; i < 2 && !verdict.is_right; i++)
        KAL_TRY(kal_trial_check(t->trial, t->best, &verdict));
    if (verdict.is_right)
        return KALLIMA_OK;
    KAL_TRY(call_wrong(t, &s->candidate[s->best], &verdict));
    kallima_plan_destroy(&t->best);
    t->best = t->first;
    take_first(t);
    return KALLIMA_OK;
}

// By how much the best is faster than the first, pairs of samples say, which a machine that slows
// down meanwhile slows both of.
static kallima_status race_first(struct tuner *t, struct kal_outcome *outcome)
{
    struct kal_tuning *r = t->result;

    KAL_TRY(kal_timing_race(&t->timing, t->first, t->best, outcome));
    if (outcome->rounds > 0) { // else what was measured before is all that is known
        r->first = outcome->incumbent;
        r->best = outcome->challenger;
        r->best.median = r->first.median * outcome->ratio;
    }
    return KALLIMA_OK;
}

// The way to the best was long, and its steps were small: is it faster than where it began? On a
// processor also in other pages: those of one trial can lie badly for one of the two.
static kallima_status confirm(struct tuner *t)
{
    struct kal_outcome outcome;

    KAL_TRY(make_sure(t));
    if (t->best == t->first)
        return KALLIMA_OK;
    t->timing.end = t->end;
    KAL_TRY(race_first(t, &outcome));
    bool is_faster = outcome.ruling == KAL_RULING_FASTER;
    if (is_faster && kal_device_is_host(t->trial->device)) {
        KAL_TRY(kal_trial_renew_memory(t->trial));
        KAL_TRY(race_first(t, &outcome));
        is_faster = outcome.ruling == KAL_RULING_FASTER ||
                    (outcome.is_out_of_time && (!outcome.rounds || outcome.ratio < 1.0));
    }
    if (!is_faster)
        take_first(t);
    return KALLIMA_OK;
}

static int count_fate(const struct kal_search *s, enum kal_fate fate)
{
    int count = 0;
    for (int i = 0; i < s->count; i++)
        count += s->candidate[i].fate == fate;
    return count;
}

static kallima_status fail_all(const struct tuner *t)
{
    const int wrong = count_fate(&t->result->search, KAL_FATE_WRONG);
    const int refused = count_fate(&t->result->search, KAL_FATE_REFUSED);
    return kal_fail(
        &t->trial->device->host, KALLIMA_E_DEVICE,
        "tune: of %d recipes that were tried, now or before, none computes the "
        "problem rightly on this device: %d wrong, %d refused",
        wrong + refused, wrong, refused);
}

// What was found for the problem before; NULL: nothing, or nothing that fits.
static kallima_status find_known(struct kal_recipe **out, const struct tuner *t,
                                 const struct kal_planner *planner)
{
    kallima_wisdom_entry entry = { .kind = KALLIMA_WISDOM_ANY };

    *out = NULL;
    KAL_TRY(kal_wisdom_find(t->trial->device->wisdom, KALLIMA_WISDOM_PLAN,
                            t->options->owner, t->options->key, planner->arena, &entry));
    if (!entry.kind)
        return KALLIMA_OK;
    if (kal_recipe_parse(out, planner->arena, &t->trial->problem, entry.value))
        *out = NULL;
    return KALLIMA_OK;
}

static kallima_status search(struct tuner *t, struct kal_arena *arena)
{
    const struct kal_judge judge = { t, predict, prepare, challenge, has_time };
    const struct kal_problem *problem = &t->trial->problem;
    const struct kal_caps caps =
        kal_caps_limit(&t->trial->device->caps, problem->precision == KALLIMA_F64);
    const struct kal_planner planner = { arena, &caps };
    struct kal_search *s = &t->result->search;
    struct kal_recipe *first, *known;

    KAL_TRY(kal_plan_problem(&first, &planner, problem));
    KAL_TRY(find_known(&known, t, &planner));
    KAL_TRY(kal_search_run(s, &planner, problem, first, known, &judge,
                           reaches[t->options->effort]));
    if (!t->best)
        return fail_all(t);
    KAL_TRY(confirm(t));
    KAL_TRY(
        kal_passes_keep(&t->builder.passes, t->trial->device->wisdom, t->options->owner));
    t->result->recipe = s->candidate[s->best].text;
    t->result->first_number = t->first_number;
    t->result->batch = problem->batch;
    t->result->correlation = kal_search_correlation(s);
    t->result->first_choice = kal_search_first_choice(s);
    t->result->parameter_share = kal_search_parameter_share(s, t->first_number);
    t->result->knowledge = *t->options->knowledge;
    return kal_knowledge_extend(&t->result->knowledge, &t->quiet, s,
                                &t->trial->device->caps);
}

static kallima_status tune(struct tuner *t, struct kal_arena *arena,
                           kallima_device *device, const struct kal_problem *problem)
{
    KAL_TRY(kal_trial_create(&t->trial, device, problem, &t->options->budget));
    KAL_TRY(kal_timing_init(&t->timing, t->trial, 0.0, NULL));
    KAL_TRY(kal_builder_init(&t->builder, device, &t->trial->problem));
    KAL_TRY(kal_passes_load(&t->builder.passes, device->wisdom, t->options->owner));
    t->end = INFINITY;
    t->quiet = device->host;
    t->quiet.log = NULL;
    return search(t, arena);
}

kallima_status kal_tune(struct kal_tuning *out, struct kal_arena *arena,
                        kallima_device *device, const struct kal_problem *problem,
                        const struct kal_tuning_options *options)
{
    void *object;

    *out = (struct kal_tuning){ 0 };
    KAL_TRY(kal_alloc_object(&device->host, &object, sizeof(struct tuner)));
    struct tuner *t = object;
    t->options = options;
    t->result = out;
    const kallima_status status = tune(t, arena, device, problem);
    kal_builder_clear(&t->builder);
    if (t->best != t->first)
        kallima_plan_destroy(&t->best);
    kallima_plan_destroy(&t->first);
    kal_timing_clear(&t->timing);
    kal_trial_destroy(&t->trial);
    kal_free(&device->host, t);
    return status;
}
