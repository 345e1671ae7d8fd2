// SPDX-License-Identifier: MIT
#include "bench_json.h"

#include <math.h>
#include <stdio.h>

#include "bench_problem.h"
#include "cli.h"

static void print_string(const char *key, const char *text)
{
    printf("\"%s\": ", key);
    cli_print_json(text);
    printf(", ");
}

// JSON has no NaN and no infinity.
static void print_number(const char *key, double value)
{
    if (isfinite(value))
        printf("\"%s\": %.6g, ", key, value);
    else
        printf("\"%s\": null, ", key);
}

static void print_problem(const struct bench *bench, const kallima_desc *desc)
{
    char layout[PROBLEM_TEXT];
    print_string("device", bench->info.name);
    if (bench->memory) {
        print_string("selector", bench->info.selector);
        print_string("driver", bench->info.driver);
    }
    print_string("kind", problem_kinds[desc->kind]);
    print_string("precision", problem_precisions[desc->precision]);
    printf("\"lengths\": [");
    for (int i = 0; i < desc->rank; i++)
        printf("%s%lld", i ? ", " : "", (long long)desc->n[i]);
    printf("], \"batch\": %lld, ", (long long)desc_batch(desc));
    const bool inverse = desc->kind == KALLIMA_C2R || desc->direction == KALLIMA_INVERSE;
    print_string("direction", inverse ? "inverse" : "forward");
    print_string("placement",
                 desc->placement == KALLIMA_IN_PLACE ? "in-place" : "out-of-place");
    problem_print_layout(desc, layout);
    if (layout[0])
        print_string("layout", layout + 1);
    printf("\"threads\": %d, ", bench->info.threads);
    if (bench->behind_bytes)
        printf("\"behind_bytes\": %lld, ", (long long)bench->behind_bytes);
}

static void print_timing(const struct timing *timing)
{
    print_number("median_ms", 1e-6 * timing->stats.median);
    print_number("min_ms", 1e-6 * timing->stats.min);
    print_number("spread", timing->stats.spread);
    printf("\"samples\": %d, \"executions\": %lld, ", timing->samples,
           (long long)timing->executions);
}

static void print_outcome(const struct result *result, const struct outcome *outcome)
{
    if (outcome->why[0]) {
        print_string("failed", outcome->why);
        return;
    }
    print_number("plan_ms", 1e-6 * outcome->plan_ns);
    if (outcome->replan_ns > 0)
        print_number("replan_ms", 1e-6 * outcome->replan_ns);
    print_number("first_ms", 1e-6 * outcome->first_ns);
    if (outcome->timing.samples > 0) {
        print_timing(&outcome->timing);
        print_number("gflops", result_gflops(result, outcome));
    }
    if (result_copy_share(result, outcome) > 0) {
        print_number("copy_ms", 1e-6 * result->copy.stats.median);
        print_string("copied_with", result->copied_with);
        print_number("x_copy", result_copy_share(result, outcome));
    }
    print_number("error", outcome->error);
    print_number("error_bound", result->bound);
    print_string("error_by", error_method_names[outcome->method]);
}

// The last member of an object has no comma behind it: here always a short one.
static void print_ours(const struct bench *bench, const struct result *result)
{
    const int best = result_best_peer(result);
    printf("{");
    print_string("library", "kallima");
    print_string("version", kallima_version());
    print_string("flags", bench->info.driver);
    print_problem(bench, result->desc);
    print_outcome(result, &result->ours);
    print_string("recipe", result->ours.recipe);
    if (best >= 0 && result_ratio(result, best) > 0) {
        print_number("ratio", result_ratio(result, best));
        print_string("ratio_to", bench->peer[best].peer->name);
    }
    printf("\"ok\": %s}\n", result_is_good(result) ? "true" : "false");
}

static void print_theirs(const struct bench *bench, const struct result *result, int peer)
{
    const struct outcome *outcome = &result->theirs[peer];
    const bool ok = !outcome->why[0] && !outcome_is_wrong(result, outcome);
    printf("{");
    print_string("library", bench->peer[peer].peer->name);
    print_string("version", outcome->info.version);
    print_string("flags", outcome->info.flags);
    print_problem(bench, result->desc);
    print_outcome(result, outcome);
    printf("\"ok\": %s}\n", ok ? "true" : "false");
}

void json_print(const struct bench *bench, const struct result *result)
{
    print_ours(bench, result);
    for (int i = 0; i < result->peers; i++)
        print_theirs(bench, result, i);
    fflush(stdout);
}
