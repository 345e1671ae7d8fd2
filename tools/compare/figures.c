// SPDX-License-Identifier: MIT
// The charts of a group of cases.
#include <math.h>
#include <string.h>

#include "chart.h"
#include "html.h"
#include "page.h"
#include "view.h"

// --- technologies in charts -------------------------------------------------------------

// Which of its sort a technology is: of Kallima's devices, or of the peers.
static int number_of(const struct results *results, const struct technology *technology)
{
    int number = 0;
    for (const struct technology *one = results->technology; one < technology; one++)
        number += technology_is_kallima(one) == technology_is_kallima(technology);
    return number;
}

static struct chart_series *add_series(struct chart *chart, const struct results *results,
                                       const struct technology *technology)
{
    struct chart_series *series = &chart->series[chart->count++];
    *series = (struct chart_series){
        .colour = (int)(technology - results->technology),
        .mark = number_of(results, technology),
        .is_filled = technology_is_kallima(technology),
        .is_solid = technology_is_kallima(technology),
    };
    snprintf(series->name, sizeof series->name, "%s", technology->id);
    return series;
}

static void add_tick(struct chart *chart, double x, const struct row *row)
{
    int place = 0;
    while (place < chart->ticks && chart->tick[place] < x)
        place++;
    if ((place < chart->ticks && chart->tick[place] == x) || chart->ticks == CHART_POINTS)
        return;
    for (int i = chart->ticks; i > place; i--) {
        chart->tick[i] = chart->tick[i - 1];
        strcpy(chart->tick_label[i], chart->tick_label[i - 1]);
    }
    chart->tick[place] = x;
    if (row->variant[0])
        snprintf(chart->tick_label[place], sizeof chart->tick_label[place], "%.31s",
                 row->variant);
    else
        view_print_length(row, chart->tick_label[place], sizeof chart->tick_label[place]);
    chart->ticks++;
}

// Where a case stands among those of its group, from 1: a technology may lack some of them.
static int place_of(const struct page *page, const struct row *row)
{
    int i = 0;
    while (i < page->cases && !row_is_same_case(page->one_case[i], row))
        i++;
    return i + 1;
}

static void add_curve(struct chart *chart, const struct page *page,
                      const struct curve *curve, const char *suffix, bool is_broken)
{
    if (curve->count == 0 || chart->count == CHART_SERIES)
        return;
    struct chart_series *series = add_series(chart, page->results, curve->technology);
    const size_t used = strlen(series->name);
    snprintf(series->name + used, sizeof series->name - used, "%s", suffix);
    series->is_solid = series->is_solid && !is_broken;
    for (int i = 0; i < curve->count; i++) {
        const struct row *row = curve->row[i];
        const double x = chart->is_log_x ? row_points(row) : place_of(page, row);
        series->x[series->count] = x;
        series->y[series->count++] = curve->value[i];
        add_tick(chart, x, row);
    }
}

// --- figures ----------------------------------------------------------------------------

static void print_figure(struct page *page, const struct chart *chart, const char *title,
                         const char *caption)
{
    static const char *const widths[] = { "wide", "narrow" };
    char name[32];
    bool ok = page->can_draw && chart->count > 0 && chart->ticks > 1;
    if (!ok)
        return;
    html_print_element(page->file, "h3", title);
    fputs("<figure>\n", page->file);
    for (int i = 0; ok && i < 2; i++) {
        snprintf(name, sizeof name, "c%d%c", page->charts, widths[i][0]);
        fprintf(page->file, "<div class=\"%s\">", widths[i]);
        ok = chart_draw(chart, i == 1, name, title, page->scratch, page->file);
        fputs("</div>\n", page->file);
    }
    html_print_element(page->file, "figcaption",
                       ok ? caption : "gnuplot could not draw this chart.");
    fputs("</figure>\n", page->file);
    page->charts++;
}

// Points that differ in more than their size are not joined.
static struct chart *new_chart(const struct page *page, const struct group *group,
                               const char *y_label)
{
    static struct chart chart; // too large for a stack
    const bool by_size = view_is_by_size(page->results, group);
    const bool has_variants = strcmp(group->shows, "variant") == 0;
    chart = (struct chart){
        .x_label = by_size        ? "length (k = 1024, M = 1024 k)"
                   : has_variants ? "variant"
                                  : "length of each case, in the order of the table",
        .y_label = y_label,
        .is_log_x = by_size,
        .is_log_y = true,
        .has_lines = by_size || has_variants,
        .level = NAN,
    };
    return &chart;
}

static struct chart *chart_of(const struct page *page, const struct group *group,
                              row_value *value, const char *y_label)
{
    struct chart *chart = new_chart(page, group, y_label);
    struct curve curve;
    for (int i = 0; i < page->results->technologies; i++) {
        view_curve(&curve, page->results, group, &page->results->technology[i], value);
        add_curve(chart, page, &curve, "", false);
    }
    return chart;
}

static bool are_equal(const struct chart_series *a, const struct chart_series *b)
{
    enum { TENTHS_OF_PERCENT = 1000 };
    bool ok = a->count == b->count;
    for (int i = 0; ok && i < a->count; i++)
        ok = a->x[i] == b->x[i] && fabs(a->y[i] - b->y[i]) * TENTHS_OF_PERCENT < a->y[i];
    return ok;
}

// What a copy would reach, once for each device, however many interfaces it has.
static void add_limits(struct chart *chart, const struct page *page,
                       const struct group *group)
{
    const int curves = chart->count;
    struct curve curve;
    for (int i = 0; chart->has_lines && i < page->results->technologies; i++) {
        const struct technology *technology = &page->results->technology[i];
        const int count = chart->count;
        view_curve(&curve, page->results, group, technology, view_copy_gflops);
        add_curve(chart, page, &curve, "", false);
        if (chart->count == count || curve.count < 2) {
            chart->count = count;
            continue;
        }
        struct chart_series *limit = &chart->series[count];
        limit->is_limit = true;
        snprintf(limit->name, sizeof limit->name, "a copy on %.40s",
                 technology->selector);
        for (int k = curves; k < count; k++) {
            if (are_equal(&chart->series[k], limit))
                chart->count = count;
        }
    }
}

static void print_titled(struct page *page, const struct chart *chart,
                         const struct group *group, const char *what, const char *caption)
{
    char title[320];
    snprintf(title, sizeof title, "%s: %s", group->title, what);
    print_figure(page, chart, title, caption);
}

// The transform alone beside the transform with its transfers.
static void print_transfers(struct page *page, const struct group *group)
{
    struct chart *chart = new_chart(page, group, "milliseconds");
    struct curve curve;
    if (!view_has(page->results, group, view_total) ||
        !view_is_single(page->results, group))
        return;
    for (int i = 0; i < page->results->technologies; i++) {
        const struct technology *technology = &page->results->technology[i];
        view_curve(&curve, page->results, group, technology, view_total);
        if (curve.count > 0)
            add_curve(chart, page, &curve, " with transfers", false);
        view_curve(&curve, page->results, group, technology, view_median);
        add_curve(chart, page, &curve, "", curve.count > 0 && !view_is_host(technology));
    }
    print_titled(
        page, chart, group, "time with and without transfers",
        "Medians. By name alone: the transform alone, by the device's clock. With "
        "transfers: the input from pageable host memory to the device, the "
        "transform, and the output back, by the host's clock from an idle device "
        "to an idle device. Lower is better. The processor has no transfers.");
}

// Of the fastest row of each case, on the device alone.
static double part_of_fastest(const struct page *page, const struct row *row)
{
    const struct row *best = view_fastest(page->results, row, view_median, NULL, NULL);
    return best->median_ms / row->median_ms;
}

static void print_parts(struct page *page, const struct group *group)
{
    struct chart *chart = new_chart(page, group, "speed of the fastest = 1");
    struct curve curve;
    chart->is_log_y = false;
    for (int i = 0; i < page->results->technologies; i++) {
        view_curve(&curve, page->results, group, &page->results->technology[i],
                   view_median);
        for (int k = 0; k < curve.count; k++)
            curve.value[k] = part_of_fastest(page, curve.row[k]);
        add_curve(chart, page, &curve, "", false);
    }
    if (chart->count > 1)
        print_titled(
            page, chart, group, "part of the speed of the fastest",
            "Of each length, the median time of the fastest technology over each "
            "one's, on the device alone; the repeats of all were taken in turn. "
            "Higher is better.");
}

void figures_print(struct page *page, const struct group *group)
{
    const bool by_size = strcmp(group->shows, "size") == 0;
    if (!by_size) {
        print_titled(
            page, chart_of(page, group, view_median, "milliseconds"), group,
            "time of each variant",
            "Median time of all transforms of the batch on the device. A variant is "
            "what the recipe asks for; a kernel takes of it what the device allows. "
            "Lower is better.");
        return;
    }
    struct chart *speed = chart_of(page, group, view_gflops, "nominal GFLOPS");
    add_limits(speed, page, group);
    print_titled(
        page, speed, group, "speed",
        "Nominal operations, 5 N log2 N of a complex transform of N points and half "
        "of it of a real one, over the median time on the device; the repeats of "
        "all technologies were taken in turn. Dotted: what a transform would reach in "
        "the time of "
        "a copy of as many bytes as it reads and writes, of those of at least " VIEW_LARGE
        ". Higher is better.");
    print_parts(page, group);
    print_transfers(page, group);
    if (view_has(page->results, group, view_x_copy)) {
        struct chart *chart = chart_of(page, group, view_x_copy, "speed of a copy = 1");
        chart->level = 1;
        chart->is_log_y = false;
        print_titled(
            page, chart, group, "part of the speed of a copy",
            "Median time of a copy of as many bytes as the transform reads and "
            "writes, in the device's own memory, over the median time of the "
            "transform; only of those that read and write at least " VIEW_LARGE
            " together, as smaller ones may lie in a cache; a processor's may be larger "
            "still. The dotted line is the speed of the copy. Higher is better.");
    }
}
