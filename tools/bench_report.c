// SPDX-License-Identifier: MIT
#include "bench_report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench_problem.h"

enum { WORST_CASES = 5 };

// What the summary needs of a result. 0: there is none.
struct row {
    double best;                            // ratio to the fastest peer
    double ratio[BENCH_MAX_PEERS];          // to each peer
    double copy_share[1 + BENCH_MAX_PEERS]; // of Kallima, then of each peer
    char problem[PROBLEM_TEXT];
};

// --- the table -------------------------------------------------------------------------

static void print_peer(FILE *table, const struct bench_peer *peer)
{
    fprintf(table, "%s:", peer->peer->name);
    for (int i = 0; i < KALLIMA_PRECISION_COUNT; i++) {
        const struct peer_info info = peer->peer->get_info(peer->session, i);
        fprintf(table, " %s %s %s;", problem_precisions[i], info.version, info.flags);
    }
    fprintf(table, "\n");
}

static void print_headings(FILE *table, const struct bench *bench)
{
    fprintf(table, "%-32s", "problem");
    fprintf(table, bench->memory ? " %9s %11s %6s %7s %10s" : " %9s %11s %8s %7s %10s",
            "plan ms", "median us", bench->memory ? "x-copy" : "GFLOP/s", "spread",
            "error");
    for (int i = 0; i < bench->peers; i++)
        fprintf(table,
                bench->memory ? " | %9s %11s %6s %7s %10s" : " | %9s %11s %8s %7s %10s",
                bench->peer[i].peer->name, "median us",
                bench->memory ? "x-copy" : "GFLOP/s", "spread", "error");
    if (bench->peers > 0)
        fprintf(table, " | %6s", "ratio");
    fprintf(table, "%s\n", bench->memory ? "  recipe" : "");
}

void report_begin(struct report *report, const struct bench *bench)
{
    fprintf(report->table, "%s, %s, threads: %d\n", bench->info.name, bench->info.driver,
            bench->info.threads);
    for (int i = 0; i < bench->peers; i++)
        print_peer(report->table, &bench->peer[i]);
    print_headings(report->table, bench);
    fflush(report->table);
}

static void print_cells(FILE *table, const struct bench *bench,
                        const struct result *result, const struct outcome *outcome)
{
    const int width = bench->memory ? 47 : 49;
    if (outcome->why[0] || outcome->timing.samples == 0) {
        fprintf(table, " %*s", width,
                outcome_is_wrong(result, outcome) ? "wrong" : "failed");
        return;
    }
    fprintf(table, " %9.3f %11.3f ", 1e-6 * outcome->plan_ns,
            1e-3 * outcome->timing.stats.median);
    if (bench->memory)
        fprintf(table, "%6.3f", result_copy_share(result, outcome));
    else
        fprintf(table, "%8.2f", result_gflops(result, outcome));
    fprintf(table, " %6.1f%% %10.2e", 100 * outcome->timing.stats.spread, outcome->error);
}

static void print_remarks(FILE *table, const struct bench *bench,
                          const struct result *result)
{
    if (bench->memory && !result->ours.why[0])
        fprintf(table, "  %s", result->ours.recipe);
    if (!result->ours.why[0] && !result_is_good(result))
        fprintf(table, "  error %.2e above %.2e", result->ours.error, result->bound);
    if (result->ours.why[0])
        fprintf(table, "  %s", result->ours.why);
    for (int i = 0; i < result->peers; i++) {
        const struct outcome *outcome = &result->theirs[i];
        if (outcome->why[0])
            fprintf(table, "  %s", outcome->why);
        else if (outcome_is_wrong(result, outcome))
            fprintf(table, "  %s: wrong, error %.2e", bench->peer[i].peer->name,
                    outcome->error);
    }
}

static void print_row(FILE *table, const struct bench *bench, const struct result *result)
{
    const int best = result_best_peer(result);
    char problem[PROBLEM_TEXT];
    problem_print(result->desc, problem);
    fprintf(table, "%-32s", problem);
    print_cells(table, bench, result, &result->ours);
    for (int i = 0; i < result->peers; i++) {
        fprintf(table, " |");
        print_cells(table, bench, result, &result->theirs[i]);
    }
    if (best >= 0 && result_ratio(result, best) > 0)
        fprintf(table, " | %6.3f", result_ratio(result, best));
    print_remarks(table, bench, result);
    fprintf(table, "\n");
    fflush(table);
}

static void remember(struct report *report, const struct result *result)
{
    const int best = result_best_peer(result);
    if (report->rows == report->capacity) {
        const int capacity = report->capacity ? 2 * report->capacity : 64;
        struct row *grown = realloc(report->row, (size_t)capacity * sizeof *report->row);
        if (!grown)
            return; // the rows are printed already; only the summary lacks this one
        report->row = grown;
        report->capacity = capacity;
    }
    struct row *row = &report->row[report->rows++];
    *row = (struct row){ .best = best >= 0 ? result_ratio(result, best) : 0 };
    row->copy_share[0] = result_copy_share(result, &result->ours);
    for (int i = 0; i < result->peers; i++) {
        row->ratio[i] = result_ratio(result, i);
        row->copy_share[1 + i] = result_copy_share(result, &result->theirs[i]);
    }
    problem_print(result->desc, row->problem);
}

void report_recall(struct report *report, const struct result *result)
{
    report->cases++;
    report->failed += result->ours.why[0] != '\0';
    report->bad += !result->ours.why[0] && !result_is_good(result);
    remember(report, result);
}

void report_add(struct report *report, const struct bench *bench,
                const struct result *result)
{
    print_row(report->table, bench, result);
    report_recall(report, result);
}

// --- the summary ------------------------------------------------------------------------

static int compare(const void *left, const void *right)
{
    const double a = ((const struct row *)left)->best;
    const double b = ((const struct row *)right)->best;
    return (a > b) - (a < b);
}

// Mean, and how many rows it is of and how many are low, of one number of the rows.
struct column {
    double mean;
    int count, below_quarter, below_one;
};

// The numbers of one column of all rows lie sizeof(struct row) apart; 0 does not count.
static struct column summarise(const struct report *report, const double *first)
{
    struct column column = { 0 };
    double sum = 0;
    for (int i = 0; i < report->rows; i++) {
        const double value =
            *(const double *)((const char *)first + (size_t)i * sizeof(struct row));
        if (!(value > 0))
            continue;
        sum += log(value);
        column.count++;
        column.below_quarter += value < 0.25;
        column.below_one += value < 1;
    }
    column.mean = column.count > 0 ? exp(sum / column.count) : 0;
    return column;
}

static void print_ratio(FILE *table, const char *name, struct column column)
{
    if (column.count == 0)
        return;
    fprintf(table,
            "ratio (%s median / kallima median; above 1 kallima is faster) of %d cases:\n"
            "  geometric mean %.3f, below 0.25: %d, below 1: %d\n",
            name, column.count, column.mean, column.below_quarter, column.below_one);
}

static void print_worst(const struct report *report)
{
    int shown = 0;
    fprintf(report->table, "  worst:\n");
    for (int i = 0; i < report->rows && shown < WORST_CASES; i++) {
        if (!(report->row[i].best > 0))
            continue;
        fprintf(report->table, "    %6.3f  %s\n", report->row[i].best,
                report->row[i].problem);
        shown++;
    }
}

static void print_copy_share(FILE *table, const char *name, struct column column)
{
    if (column.count > 0)
        fprintf(table, "x-copy of %s: geometric mean %.3f of %d cases\n", name,
                column.mean, column.count);
}

void report_summarise(const struct report *report, const struct bench *bench)
{
    FILE *table = report->table;
    fprintf(table, "\n%d cases, %d failed, %d with an error above the bound\n",
            report->cases, report->failed, report->bad);
    if (report->rows == 0)
        return;
    qsort(report->row, (size_t)report->rows, sizeof *report->row, compare);
    print_copy_share(table, "kallima", summarise(report, &report->row->copy_share[0]));
    for (int i = 0; i < bench->peers; i++)
        print_copy_share(table, bench->peer[i].peer->name,
                         summarise(report, &report->row->copy_share[1 + i]));
    for (int i = 0; bench->peers > 1 && i < bench->peers; i++)
        print_ratio(table, bench->peer[i].peer->name,
                    summarise(report, &report->row->ratio[i]));
    const struct column best = summarise(report, &report->row->best);
    if (best.count == 0)
        return;
    print_ratio(table, bench->peers > 1 ? "best peer" : bench->peer[0].peer->name, best);
    print_worst(report);
}

void report_clear(struct report *report)
{
    free(report->row);
}
