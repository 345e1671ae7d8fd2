// SPDX-License-Identifier: MIT
// Charts, drawn by gnuplot as SVG that stands in a page: twice, for wide and for narrow screens.
#ifndef KALLIMA_COMPARE_CHART_H_
#define KALLIMA_COMPARE_CHART_H_

#include <stdbool.h>
#include <stdio.h>

enum { CHART_POINTS = 512, CHART_SERIES = 40, CHART_NAME = 64, CHART_COLOURS = 10 };

/** One line. Colours alone tell nothing apart. */
struct chart_series {
    char name[CHART_NAME];              // letters, digits and any of " :._+-" only
    int colour, mark;                   // from 0
    bool is_filled, is_solid, is_limit; // a limit is dotted, without marks
    int count;
    double x[CHART_POINTS], y[CHART_POINTS];
};

struct chart {
    const char *x_label, *y_label; // of this program, not of a file
    bool is_log_x, is_log_y, has_lines;
    double level; // a line across, such as a limit; NaN: none
    int count;
    struct chart_series series[CHART_SERIES];
    int ticks; // labels of the horizontal axis; fewer are shown where there is no room
    double tick[CHART_POINTS];
    char tick_label[CHART_POINTS][32]; // as names, and raised digits
};

/** The colours on light and on dark ground, as "#rrggbb". */
extern const char *const chart_colours[2][CHART_COLOURS];

/** The colours of text, axes and grids in the SVG, which a page replaces for dark ground. */
#define CHART_INK  "#333333"
#define CHART_GRID "#dddddd"

/** Return whether gnuplot is there. */
bool chart_can_draw(void);

/**
 * Print the chart, as an SVG element whose names begin with `name`. `scratch` is a file that is
 * written and removed. `label` says what it shows to those who do not see it.
 *
 * Error: returns false, and has printed nothing, if gnuplot fails.
 */
bool chart_draw(const struct chart *chart, bool is_narrow, const char *name,
                const char *label, const char *scratch, FILE *page);

#endif
