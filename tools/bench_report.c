// SPDX-License-Identifier: MIT
#include "bench_report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench_problem.h"
#include "cli.h"

enum { WORST_CASES = 5 };

struct ratio {
    double value;
    char problem[PROBLEM_TEXT];
};

// --- JSON ---------------------------------------------------------------------------

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
    print_string("device", bench->info.name);
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
    printf("\"threads\": %d, ", bench->info.threads);
}

static void print_outcome(const struct result *result, const struct outcome *outcome)
{
    if (outcome->why[0]) {
        print_string("failed", outcome->why);
        return;
    }
    print_number("plan_ms", 1e-6 * outcome->plan_ns);
    print_number("median_ms", 1e-6 * outcome->time.median);
    print_number("min_ms", 1e-6 * outcome->time.min);
    print_number("spread", outcome->time.spread);
    printf("\"samples\": %d, ", outcome->samples);
    print_number("gflops", result_gflops(result, outcome));
    print_number("error", outcome->error);
    print_number("error_bound", result->bound);
    print_string("error_by", error_method_names[outcome->method]);
}

// The last member has no comma behind it: here always a short number.
static void print_objects(const struct bench *bench, const struct result *result)
{
    printf("{");
    print_string("library", "kallima");
    print_string("version", kallima_version());
    print_string("flags", bench->info.driver);
    print_problem(bench, result->desc);
    print_outcome(result, &result->ours);
    print_string("recipe", result->ours.recipe);
    if (result_has_ratio(result))
        print_number("ratio", result_ratio(result));
    printf("\"ok\": %s}\n", result_is_good(result) ? "true" : "false");
    if (result->has_peer) {
        printf("{");
        print_string("library", bench->peer->name);
        print_string("version", result->peer_info.version);
        print_string("flags", result->peer_info.flags);
        print_problem(bench, result->desc);
        print_outcome(result, &result->theirs);
        printf("\"ok\": %s}\n", result->theirs.why[0] ? "false" : "true");
    }
    fflush(stdout);
}

// --- the table -------------------------------------------------------------------------

static void print_peer(FILE *table, const struct bench *bench)
{
    fprintf(table, "%s:", bench->peer->name);
    for (int i = 0; i < KALLIMA_PRECISION_COUNT; i++) {
        const struct peer_info info = bench->peer->get_info(bench->session, i);
        fprintf(table, " %s %s %s;", problem_precisions[i], info.version, info.flags);
    }
    fprintf(table, "\n");
}

void report_begin(struct report *report, const struct bench *bench)
{
    fprintf(report->table, "%s, %s, threads: %d\n", bench->info.name, bench->info.driver,
            bench->info.threads);
    if (bench->peer)
        print_peer(report->table, bench);
    fprintf(report->table, "%-32s %9s %11s %8s %7s %10s", "problem", "plan ms",
            "median us", "GFLOP/s", "spread", "error");
    if (bench->peer)
        fprintf(report->table, " | %9s %11s %8s %7s %10s | %6s", bench->peer->name,
                "median us", "GFLOP/s", "spread", "error", "ratio");
    fprintf(report->table, "\n");
}

static void print_cells(FILE *table, const struct result *result,
                        const struct outcome *outcome)
{
    if (outcome->why[0]) {
        fprintf(table, " %49s", "failed");
        return;
    }
    fprintf(table, " %9.3f %11.3f %8.2f %6.1f%% %10.2e", 1e-6 * outcome->plan_ns,
            1e-3 * outcome->time.median, result_gflops(result, outcome),
            100 * outcome->time.spread, outcome->error);
}

static void print_row(FILE *table, const struct result *result)
{
    char problem[PROBLEM_TEXT];
    problem_print(result->desc, problem);
    fprintf(table, "%-32s", problem);
    print_cells(table, result, &result->ours);
    if (result->has_peer) {
        fprintf(table, " |");
        print_cells(table, result, &result->theirs);
    }
    if (result_has_ratio(result))
        fprintf(table, " | %6.3f", result_ratio(result));
    if (!result->ours.why[0] && !result_is_good(result))
        fprintf(table, "  error above %.2e", result->bound);
    if (result->ours.why[0])
        fprintf(table, "  %s", result->ours.why);
    if (result->theirs.why[0])
        fprintf(table, "  %s", result->theirs.why);
    fprintf(table, "\n");
    fflush(table);
}

static void remember(struct report *report, const struct result *result)
{
    if (report->count == report->capacity) {
        const int capacity = report->capacity ? 2 * report->capacity : 64;
        struct ratio *grown =
            realloc(report->ratio, (size_t)capacity * sizeof *report->ratio);
        if (!grown)
            return; // the rows are printed already; only the summary lacks this one
        report->ratio = grown;
        report->capacity = capacity;
    }
    struct ratio *ratio = &report->ratio[report->count++];
    ratio->value = result_ratio(result);
    problem_print(result->desc, ratio->problem);
}

void report_add(struct report *report, const struct bench *bench,
                const struct result *result)
{
    if (report->json)
        print_objects(bench, result);
    print_row(report->table, result);
    report->cases++;
    report->failed += result->ours.why[0] != '\0';
    report->bad += !result->ours.why[0] && !result_is_good(result);
    if (result_has_ratio(result))
        remember(report, result);
}

// --- the summary ------------------------------------------------------------------------

static int compare(const void *left, const void *right)
{
    const double a = ((const struct ratio *)left)->value;
    const double b = ((const struct ratio *)right)->value;
    return (a > b) - (a < b);
}

static int count_below(const struct report *report, double limit)
{
    int count = 0;
    for (int i = 0; i < report->count; i++)
        count += report->ratio[i].value < limit;
    return count;
}

static double geometric_mean(const struct report *report)
{
    double *value = malloc((size_t)report->count * sizeof *value);
    double mean = NAN;
    for (int i = 0; value && i < report->count; i++)
        value[i] = report->ratio[i].value;
    if (value)
        mean = stats_geometric_mean(value, report->count);
    free(value);
    return mean;
}

void report_summarise(const struct report *report, const struct bench *bench)
{
    FILE *table = report->table;
    fprintf(table, "\n%d cases, %d failed, %d with an error above the bound\n",
            report->cases, report->failed, report->bad);
    if (report->count == 0)
        return;
    qsort(report->ratio, (size_t)report->count, sizeof *report->ratio, compare);
    fprintf(table,
            "ratio (%s median / kallima median; above 1 kallima is faster) of %d cases:\n"
            "  geometric mean %.3f, below 0.25: %d, below 1: %d\n  worst:\n",
            bench->peer->name, report->count, geometric_mean(report),
            count_below(report, 0.25), count_below(report, 1));
    for (int i = 0; i < report->count && i < WORST_CASES; i++)
        fprintf(table, "    %6.3f  %s\n", report->ratio[i].value,
                report->ratio[i].problem);
}

void report_clear(struct report *report)
{
    free(report->ratio);
}
