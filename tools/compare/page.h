// SPDX-License-Identifier: MIT
// A page of the report under way, and its parts.
#ifndef KALLIMA_COMPARE_PAGE_H_
#define KALLIMA_COMPARE_PAGE_H_

#include "results.h"

struct page {
    FILE *file;
    const struct results *results;
    const char *scratch; // for gnuplot
    bool can_draw;
    int charts;                  // that are drawn already
    const char *heading;         // of the summary, that was printed last
    const struct row **one_case; // of the group at hand: a row of each, in their order
    int cases;
};

/** Print the charts of a group, if they can be drawn. */
void figures_print(struct page *page, const struct group *group);

/** Print the tables of a group: the medians of all technologies, and everything. */
void tables_print(struct page *page, const struct group *group);

#endif
