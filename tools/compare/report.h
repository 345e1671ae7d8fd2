// SPDX-License-Identifier: MIT
// What results say, for people: sentences, and one page that holds everything.
#ifndef KALLIMA_COMPARE_REPORT_H_
#define KALLIMA_COMPARE_REPORT_H_

#include "results.h"

/**
 * Write the page. Without gnuplot there are no charts, which is told.
 *
 * Error: returns false if it cannot be written, and has told why.
 */
bool report_write(const struct results *results, const char *path);

/** Print the summary as plain text. */
void report_print_summary(const struct results *results, FILE *file);

#endif
