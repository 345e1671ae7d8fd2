// SPDX-License-Identifier: MIT
// Results of measurements for people: a table and a summary.
#ifndef KALLIMA_BENCH_REPORT_H_
#define KALLIMA_BENCH_REPORT_H_

#include <stdio.h>

#include "bench_run.h"

/** What the summary is made of. All zero is empty; free with report_clear(). */
struct report {
    FILE *table; // where the table and the summary go
    struct row *row;
    int rows, capacity;
    int cases, bad, failed;
};

/** Write the headings of the table. */
void report_begin(struct report *report, const struct bench *bench);

/** Remember a result that is written already for the summary. */
void report_recall(struct report *report, const struct result *result);

/** Write one result at once, and remember it. */
void report_add(struct report *report, const struct bench *bench,
                const struct result *result);

/** Write the geometric means of the ratios and the worst of them. */
void report_summarise(const struct report *report, const struct bench *bench);

/** Free what the report holds. */
void report_clear(struct report *report);

#endif
