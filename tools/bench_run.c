// SPDX-License-Identifier: MIT
// What both ways of measuring share, and what came of it.
#include "bench_job.h"

#include <math.h>
#include <stdio.h>

#include "bench_problem.h"

// A result this many bounds off is no longer a matter of rounding.
static const double WRONG_BOUNDS = 32;

const char *const bench_step_names[] = {
    [BENCH_RUN] = "run",   [BENCH_COPY] = "copy",   [BENCH_WRITE] = "write",
    [BENCH_READ] = "read", [BENCH_TOTAL] = "total",
};

void bench_begin(const struct bench *bench, const kallima_desc *desc,
                 struct result *result)
{
    *result = (struct result){ .desc = desc, .peers = bench->peers };
    for (int i = 0; i < bench->peers; i++) {
        const struct bench_peer *peer = &bench->peer[i];
        result->theirs[i].info = peer->peer->get_info(peer->session, desc->precision);
    }
    result->bound = reference_bound(desc->rank, desc->n,
                                    desc->precision == KALLIMA_F64 ? 0x1p-53 : 0x1p-24);
}

void bench_run(const struct bench *bench, const kallima_desc *desc, struct result *result)
{
    bench_begin(bench, desc, result);
    (bench->memory ? bench_run_device : bench_run_host)(bench, result);
}

bool outcome_fail(struct outcome *outcome, const char *sentence)
{
    snprintf(outcome->why, sizeof outcome->why, "%s", sentence);
    return false;
}

bool outcome_plan_ours(struct outcome *outcome, const struct bench *bench,
                       const kallima_desc *desc, kallima_plan **plan)
{
    const kallima_plan_options options = { .recipe = bench->recipe };
    for (int i = 0; i <= bench->plans_twice; i++) {
        kallima_plan_destroy(plan);
        const double start = sample_now_ns();
        const kallima_status status =
            kallima_plan_create(plan, bench->device, desc, &options);
        outcome->is_unsupported = status == KALLIMA_E_UNSUPPORTED;
        if (status != KALLIMA_OK)
            return outcome_fail(outcome, kallima_last_error());
        *(i ? &outcome->replan_ns : &outcome->plan_ns) = sample_now_ns() - start;
    }
    kallima_plan_get_recipe(*plan, outcome->recipe, sizeof outcome->recipe, NULL);
    return true;
}

bool outcome_plan_peer(struct outcome *outcome, const struct bench *bench,
                       const struct bench_peer *peer, const kallima_desc *desc,
                       const struct peer_arrays *arrays, struct peer_plan **plan)
{
    char layout[PROBLEM_TEXT];
    *plan = NULL;
    problem_print_layout(desc, layout);
    outcome->is_unsupported = layout[0] && !peer->peer->any_layout;
    if (outcome->is_unsupported)
        return outcome_fail(outcome, "measured with packed, interleaved arrays only");
    for (int i = 0; i <= bench->plans_twice; i++) {
        if (*plan)
            peer->peer->plan_destroy(*plan);
        const double start = sample_now_ns();
        *plan = peer->peer->plan(peer->session, desc, arrays, outcome->why,
                                 sizeof outcome->why);
        outcome->is_unsupported = !*plan && i == 0; // what it planned once it can plan
        if (!*plan)
            return false;
        *(i ? &outcome->replan_ns : &outcome->plan_ns) = sample_now_ns() - start;
    }
    return true;
}

// --- what came of it ---------------------------------------------------------------------

bool outcome_is_wrong(const struct result *result, const struct outcome *outcome)
{
    return !outcome->why[0] && !(outcome->error <= WRONG_BOUNDS * result->bound);
}

bool outcome_counts(const struct result *result, const struct outcome *outcome)
{
    return !outcome->why[0] && outcome->timing.samples > 0 &&
           !outcome_is_wrong(result, outcome);
}

double result_ratio(const struct result *result, int peer)
{
    const struct outcome *ours = &result->ours, *theirs = &result->theirs[peer];
    if (!outcome_counts(result, ours) || !outcome_counts(result, theirs))
        return 0;
    return theirs->timing.stats.median / ours->timing.stats.median;
}

int result_best_peer(const struct result *result)
{
    int best = -1;
    for (int i = 0; i < result->peers; i++) {
        const struct outcome *outcome = &result->theirs[i];
        if (outcome_counts(result, outcome) &&
            (best < 0 ||
             outcome->timing.stats.median < result->theirs[best].timing.stats.median))
            best = i;
    }
    return best;
}

double result_copy_share(const struct result *result, const struct outcome *outcome)
{
    if (result->copy.samples == 0 || !outcome_counts(result, outcome))
        return 0;
    return result->copy.stats.median / outcome->timing.stats.median;
}

bool result_is_good(const struct result *result)
{
    return !result->ours.why[0] && result->ours.error <= result->bound;
}

double desc_gflops(const kallima_desc *desc, double ns)
{
    const double points = (double)desc_points(desc);
    const double factor = desc->kind == KALLIMA_C2C ? 5 : 2.5;
    return factor * points * log2(points) * (double)desc_batch(desc) / ns;
}

double result_gflops(const struct result *result, const struct outcome *outcome)
{
    return desc_gflops(result->desc, outcome->timing.stats.median);
}
