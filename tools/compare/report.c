// SPDX-License-Identifier: MIT
#include "report.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "chart.h"
#include "cli.h"
#include "file.h"
#include "html.h"
#include "summary.h"
#include "view.h"

// A page under way.
struct page {
    FILE *file;
    const struct results *results;
    const char *scratch; // for gnuplot
    bool can_draw;
    int charts;
    const char *heading; // of the summary, that was printed last
};

// --- small parts ------------------------------------------------------------------------

static void print_element(FILE *file, const char *name, const char *text)
{
    fprintf(file, "<%s>", name);
    html_print(file, text);
    fprintf(file, "</%s>\n", name);
}

// Four digits, as a spread is seldom smaller; the whole value is what is sorted by.
static void print_number(FILE *file, double value, const char *class)
{
    if (!isfinite(value)) {
        fputs("<td></td>", file);
        return;
    }
    const double size = fabs(value);
    const int before = size >= 1 ? (int)floor(log10(size)) + 1 : 1;
    const bool is_whole = value == floor(value) && size < 1e15;
    fprintf(file, "<td%s data-value=\"%.9g\">", class, value);
    if (is_whole || (size >= 1e-3 && size < 1e6))
        fprintf(file, "%.*f", is_whole || before > 4 ? 0 : 4 - before, value);
    else
        fprintf(file, "%.2e", value);
    fputs("</td>", file);
}

static void print_text(FILE *file, const char *text, const char *class)
{
    fprintf(file, "<td class=\"%s\">", class);
    html_print(file, text);
    fputs("</td>", file);
}

static void begin_table(FILE *file)
{
    fputs("<div class=\"scroll\" tabindex=\"0\" role=\"region\" "
          "aria-label=\"table\"><table><thead><tr>",
          file);
}

static void print_head(FILE *file, const char *text, bool is_text)
{
    fprintf(file, "<th scope=\"col\"%s><button type=\"button\">",
            is_text ? " class=\"text\"" : "");
    html_print(file, text);
    fputs("</button></th>", file);
}

static void begin_body(FILE *file)
{
    fputs("</tr></thead><tbody>\n", file);
}

static void end_table(FILE *file)
{
    fputs("</tbody></table></div>\n", file);
}

// --- technologies in charts -------------------------------------------------------------

// Which of its sort a technology is: of Kallima's devices, or of the peers.
static int number_of(const struct results *results, const struct technology *technology)
{
    int number = 0;
    for (const struct technology *one = results->technology; one < technology; one++)
        number += view_is_kallima(one) == view_is_kallima(technology);
    return number;
}

static struct chart_series *add_series(struct chart *chart, const struct results *results,
                                       const struct technology *technology)
{
    struct chart_series *series = &chart->series[chart->count++];
    *series = (struct chart_series){
        .colour = (int)(technology - results->technology),
        .mark = number_of(results, technology),
        .is_filled = view_is_kallima(technology),
        .is_solid = view_is_kallima(technology),
    };
    snprintf(series->name, sizeof series->name, "%s", technology->id);
    return series;
}

static void add_tick(struct chart *chart, double x, const struct row *row, bool by_size)
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
    if (by_size)
        view_print_length(row, chart->tick_label[place], sizeof chart->tick_label[place]);
    else
        snprintf(chart->tick_label[place], sizeof chart->tick_label[place], "%.31s",
                 row->variant);
    chart->ticks++;
}

static void add_curve(struct chart *chart, const struct results *results,
                      const struct curve *curve, bool by_size, const char *suffix,
                      bool is_broken)
{
    if (curve->count == 0 || chart->count == CHART_SERIES)
        return;
    struct chart_series *series = add_series(chart, results, curve->technology);
    const size_t used = strlen(series->name);
    snprintf(series->name + used, sizeof series->name - used, "%s", suffix);
    series->is_solid = series->is_solid && !is_broken;
    for (int i = 0; i < curve->count; i++) {
        const double x = by_size ? row_points(curve->row[i]) : i + 1;
        series->x[series->count] = x;
        series->y[series->count++] = curve->value[i];
        add_tick(chart, x, curve->row[i], by_size);
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
    print_element(page->file, "h3", title);
    fputs("<figure>\n", page->file);
    for (int i = 0; ok && i < 2; i++) {
        snprintf(name, sizeof name, "c%d%c", page->charts, widths[i][0]);
        fprintf(page->file, "<div class=\"%s\">", widths[i]);
        ok = chart_draw(chart, i == 1, name, title, page->scratch, page->file);
        fputs("</div>\n", page->file);
    }
    print_element(page->file, "figcaption",
                  ok ? caption : "gnuplot could not draw this chart.");
    fputs("</figure>\n", page->file);
    page->charts++;
}

static struct chart *new_chart(const struct group *group, const char *y_label)
{
    static struct chart chart; // too large for a stack
    const bool by_size = strcmp(group->shows, "size") == 0;
    chart = (struct chart){
        .x_label = by_size ? "length (k = 1024, M = 1024 k)" : "variant",
        .y_label = y_label,
        .is_log_x = by_size,
        .is_log_y = true,
        .has_lines = true,
        .level = NAN,
    };
    return &chart;
}

static struct chart *chart_of(const struct page *page, const struct group *group,
                              row_value *value, const char *y_label)
{
    struct chart *chart = new_chart(group, y_label);
    struct curve curve;
    for (int i = 0; i < page->results->technologies; i++) {
        view_curve(&curve, page->results, group, &page->results->technology[i], value);
        add_curve(chart, page->results, &curve, strcmp(group->shows, "size") == 0, "",
                  false);
    }
    return chart;
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
    struct chart *chart = new_chart(group, "milliseconds");
    struct curve curve;
    if (!view_has(page->results, group, view_total) ||
        !view_is_single(page->results, group))
        return;
    for (int i = 0; i < page->results->technologies; i++) {
        const struct technology *technology = &page->results->technology[i];
        view_curve(&curve, page->results, group, technology, view_total);
        if (curve.count > 0)
            add_curve(chart, page->results, &curve, true, " with transfers", false);
        view_curve(&curve, page->results, group, technology, view_median);
        add_curve(chart, page->results, &curve, true, "",
                  curve.count > 0 && !view_is_host(technology));
    }
    print_titled(
        page, chart, group, "time with and without transfers",
        "Medians. Without the words: the transform alone, by the device's clock. With "
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
    struct chart *chart = new_chart(group, "speed of the fastest = 1");
    struct curve curve;
    chart->is_log_y = false;
    for (int i = 0; i < page->results->technologies; i++) {
        view_curve(&curve, page->results, group, &page->results->technology[i],
                   view_median);
        for (int k = 0; k < curve.count; k++)
            curve.value[k] = part_of_fastest(page, curve.row[k]);
        add_curve(chart, page->results, &curve, true, "", false);
    }
    if (chart->count > 1)
        print_titled(
            page, chart, group, "part of the speed of the fastest",
            "Of each length, the median time of the fastest technology over each "
            "one's, on the device alone; the repeats of all were taken in turn. "
            "Higher is better.");
}

static void print_charts(struct page *page, const struct group *group)
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
    print_titled(
        page, chart_of(page, group, view_gflops, "nominal GFLOPS"), group, "speed",
        "Nominal operations, 5 N log2 N of a complex transform of N points and half "
        "of it of a real one, over the median time on the device; the repeats of "
        "all technologies were taken in turn. Higher is better.");
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
            "transform. No transform that is larger than the caches can be above "
            "the dotted line. Higher is better.");
    }
}

// --- tables -----------------------------------------------------------------------------

// One line for each case of a group, from whichever technology has it.
static bool is_first_of_case(const struct results *results, int index)
{
    for (int i = 0; i < index; i++) {
        if (row_is_same_case(&results->row[i], &results->row[index]))
            return false;
    }
    return true;
}

static int collect_cases(const struct results *results, const struct group *group,
                         const struct row **list)
{
    const bool by_size = strcmp(group->shows, "size") == 0;
    int count = 0;
    for (int i = 0; i < results->rows; i++) {
        const struct row *row = &results->row[i];
        if (strcmp(row->group, group->id) != 0 || !is_first_of_case(results, i))
            continue;
        int place = count++;
        for (; by_size && place > 0 && row_points(list[place - 1]) > row_points(row);
             place--)
            list[place] = list[place - 1];
        list[place] = row;
    }
    return count;
}

static bool takes_part(const struct results *results, const struct group *group,
                       const struct technology *technology)
{
    for (int i = 0; i < results->rows; i++) {
        if (strcmp(results->row[i].group, group->id) == 0 &&
            strcmp(results->row[i].technology, technology->id) == 0)
            return true;
    }
    return false;
}

static void print_times(struct page *page, const struct group *group,
                        const struct row *like)
{
    const struct results *results = page->results;
    const struct row *best = view_fastest(results, like, view_median, NULL, NULL);
    char what[512];
    view_print_case(like, what, sizeof what);
    fprintf(page->file, "<tr><td data-value=\"%.0f\">", row_points(like));
    html_print(page->file, what);
    fputs("</td>", page->file);
    for (int i = 0; i < results->technologies; i++) {
        const struct technology *technology = &results->technology[i];
        if (!takes_part(results, group, technology))
            continue;
        const struct row *row = results_find(results, technology->id, like);
        if (row && !row_counts(row))
            fputs("<td>failed</td>", page->file);
        else
            print_number(page->file, row ? row->median_ms : NAN,
                         row && row == best ? " class=\"best\"" : "");
    }
    fputs("</tr>\n", page->file);
}

static void print_group_table(struct page *page, const struct group *group,
                              const struct row **list, int count)
{
    const struct results *results = page->results;
    print_element(page->file, "h3", "Median times in milliseconds");
    begin_table(page->file);
    print_head(page->file, "case", true);
    for (int i = 0; i < results->technologies; i++) {
        if (takes_part(results, group, &results->technology[i]))
            print_head(page->file, results->technology[i].id, false);
    }
    begin_body(page->file);
    for (int i = 0; i < count; i++)
        print_times(page, group, list[i]);
    end_table(page->file);
}

static const struct {
    const char *head;
    row_value *value;
} columns[] = {
    { "median ms", view_median },     { "spread", view_spread },
    { "GFLOPS", view_gflops },        { "part of copy", view_x_copy },
    { "to device ms", view_write },   { "back ms", view_read },
    { "total ms", view_total },       { "plan cold ms", view_plan },
    { "plan warm ms", view_replan },  { "first run ms", view_first },
    { "bytes at least", view_bytes }, { "bytes moved", view_bytes_moved },
    { "error", view_error },          { "bound", view_bound },
};

static void print_everything(struct page *page, const struct group *group)
{
    const struct results *results = page->results;
    fputs("<details><summary>Everything that was measured</summary>\n", page->file);
    begin_table(page->file);
    print_head(page->file, "case", true);
    print_head(page->file, "technology", true);
    for (size_t i = 0; i < CLI_COUNT(columns); i++)
        print_head(page->file, columns[i].head, false);
    print_head(page->file, "remark", true);
    begin_body(page->file);
    for (int i = 0; i < results->rows; i++) {
        const struct row *row = &results->row[i];
        char what[512];
        if (strcmp(row->group, group->id) != 0)
            continue;
        view_print_case(row, what, sizeof what);
        fprintf(page->file, "<tr><td data-value=\"%.0f\">", row_points(row));
        html_print(page->file, what);
        fputs("</td>", page->file);
        print_text(page->file, row->technology, "text");
        for (size_t k = 0; k < CLI_COUNT(columns); k++)
            print_number(page->file, columns[k].value(row), "");
        print_text(page->file,
                   row->failed[0]   ? row->failed
                   : row->recipe[0] ? row->recipe
                                    : row->used,
                   "long");
        fputs("</tr>\n", page->file);
    }
    end_table(page->file);
    fputs("</details>\n", page->file);
}

static void print_group(struct page *page, const struct group *group)
{
    const struct results *results = page->results;
    const struct row **list = calloc((size_t)results->rows + 1, sizeof *list);
    const int count = list ? collect_cases(results, group, list) : 0;
    if (count > 0) {
        fprintf(page->file, "<section id=\"g-%s\">\n", group->id);
        print_element(page->file, "h2", group->title);
        print_charts(page, group);
        print_group_table(page, group, list, count);
        print_everything(page, group);
        fputs("</section>\n", page->file);
    }
    free(list);
}

// --- the beginning ----------------------------------------------------------------------

static void say_in_page(void *user, const char *heading, const char *sentence)
{
    struct page *page = user;
    if (page->heading != heading) {
        if (page->heading)
            fputs("</ul>\n", page->file);
        print_element(page->file, "h3", heading);
        fputs("<ul>\n", page->file);
    }
    page->heading = heading;
    print_element(page->file, "li", sentence);
}

static void print_summary(struct page *page)
{
    fputs("<section id=\"summary\">\n<h2>Summary</h2>\n", page->file);
    summary_tell(page->results, say_in_page, page);
    if (page->heading)
        fputs("</ul>\n", page->file);
    fputs("</section>\n", page->file);
}

static void print_machine(struct page *page)
{
    const struct machine *machine = &page->results->machine;
    FILE *file = page->file;
    fputs("<p class=\"note\">", file);
    html_print(file, machine->processor);
    fprintf(file, ", %.0f processors, %.1f GiB; ", machine->processors,
            machine->memory_gib);
    html_print(file, machine->kernel);
    fprintf(file, "; load %.2f at the start; Kallima ", machine->load);
    html_print(file, machine->kallima);
    fputs(", commit ", file);
    html_print(file, machine->commit);
    fputs("; begun ", file);
    html_print(file, machine->date);
    if (machine->gpu[0]) {
        fputs("; GPU (name, driver, clock, highest clocks, power limit): ", file);
        html_print(file, machine->gpu);
    }
    fputs("</p>\n", file);
}

static void print_technologies(struct page *page)
{
    static const char *const heads[] = { "technology", "version", "settings",
                                         "device",     "driver",  "threads" };
    const struct results *results = page->results;
    fputs("<section id=\"who\">\n<h2>What was compared</h2>\n", page->file);
    begin_table(page->file);
    for (size_t i = 0; i < CLI_COUNT(heads); i++)
        print_head(page->file, heads[i], i < CLI_COUNT(heads) - 1);
    begin_body(page->file);
    for (int i = 0; i < results->technologies; i++) {
        const struct technology *one = &results->technology[i];
        fputs("<tr>", page->file);
        print_text(page->file, one->id, "text");
        print_text(page->file, one->version, "text");
        print_text(page->file, one->flags, "text");
        print_text(page->file, one->device, "text");
        print_text(page->file,
                   one->is_software > 0 ? "imitated in software" : one->driver, "text");
        print_number(page->file, one->threads > 0 ? one->threads : NAN, "");
        fputs("</tr>\n", page->file);
    }
    end_table(page->file);
    fputs("</section>\n", page->file);
}

static const char method[] =
    "<section id=\"how\">\n<h2>How it was measured</h2>\n<ul>\n"
    "<li>Each technology ran in a process of its own; the repeats of all of them were "
    "taken "
    "in turn, so that other load, clocks and temperature fall on all alike. What crashed "
    "or "
    "did not answer has a row that says so.</li>\n"
    "<li>Every result was compared with a reference of higher precision before its time "
    "was "
    "taken; what is 32 times the bound off has no time.</li>\n"
    "<li>Times are medians; the spread is the 90th less the 10th percentile, over the "
    "median. Two times differ by more than the spread if their ratio is further from 1 "
    "than "
    "half the sum of both spreads.</li>\n"
    "<li>Caches are warm: a problem is repeated in the same arrays.</li>\n"
    "<li>Plan cold is the first plan of a problem; the caches of compiled kernels, of "
    "Kallima and of drivers, were empty when the comparison was started. Plan warm is "
    "the same "
    "again in the same process.</li>\n"
    "<li>The first run is the first execution after planning, by the host's clock.</li>\n"
    "<li>Bytes at least are those that the transform must read and write; bytes moved "
    "are "
    "what Kallima's passes read and write by their count.</li>\n"
    "<li>cuFFT's complex transforms out of place are measured in place, too; the faster "
    "one "
    "counts, and the remark says which one.</li>\n"
    "<li>Operations are nominal: no library does just as many.</li>\n"
    "</ul>\n</section>\n";

static void print_contents(struct page *page)
{
    fputs("<nav aria-label=\"Contents\"><ul>\n"
          "<li><a href=\"#summary\">Summary</a></li>\n"
          "<li><a href=\"#who\">What was compared</a></li>\n",
          page->file);
    for (int i = 0; i < page->results->groups; i++) {
        fprintf(page->file, "<li><a href=\"#g-%s\">", page->results->group[i].id);
        html_print(page->file, page->results->group[i].title);
        fputs("</a></li>\n", page->file);
    }
    fputs("<li><a href=\"#how\">How it was measured</a></li>\n</ul></nav>\n", page->file);
}

// On dark ground the colours of the charts are others.
static void print_style(FILE *file)
{
    static const char *const attributes[] = { "stroke", "fill", "color" };
    fputs("<style>\n", file);
    fputs(html_style, file);
    fputs("@media screen and (prefers-color-scheme:dark){\n", file);
    for (int i = 0; i < CHART_COLOURS; i++) {
        for (int k = 0; k < 3; k++)
            fprintf(file, "svg [%s=\"%s\"],svg [%s='%s']{%s:%s}\n", attributes[k],
                    chart_colours[0][i], attributes[k], chart_colours[0][i],
                    attributes[k], chart_colours[1][i]);
    }
    fputs("}\n"
          "svg [fill=\"" CHART_INK "\"]{fill:var(--ink)}\n"
          "svg [stroke=\"" CHART_INK "\"],svg [stroke='" CHART_INK
          "']{stroke:var(--soft)}\n"
          "svg [stroke=\"" CHART_GRID "\"],svg [stroke='" CHART_GRID
          "']{stroke:var(--line)}\n"
          "</style>\n",
          file);
}

// --- the page ---------------------------------------------------------------------------

static void print_page(struct page *page)
{
    FILE *file = page->file;
    fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
          "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
          "<meta name=\"color-scheme\" content=\"light dark\">\n"
          "<link rel=\"icon\" href=\"data:,\">\n"
          "<title>Fourier transforms compared</title>\n",
          file);
    print_style(file);
    fputs("</head>\n<body>\n<header>\n<h1>Fourier transforms compared</h1>\n", file);
    print_machine(page);
    if (!page->can_draw)
        fputs("<p>There are no charts, as gnuplot was not there to draw them.</p>\n",
              file);
    fputs("</header>\n", file);
    print_contents(page);
    fputs("<main>\n", file);
    print_summary(page);
    print_technologies(page);
    for (int i = 0; i < page->results->groups; i++)
        print_group(page, &page->results->group[i]);
    fputs(method, file);
    fputs("</main>\n<script>\n", file);
    fputs(html_script, file);
    fputs("</script>\n</body>\n</html>\n", file);
}

bool report_write(const struct results *results, const char *path)
{
    struct output output;
    char scratch[PATH_MAX];
    struct page page = { .results = results, .can_draw = chart_can_draw() };
    if (snprintf(scratch, sizeof scratch, "%s.svg", path) >= (int)sizeof scratch ||
        strchr(scratch, '\n'))
        page.can_draw = false;
    if (!page.can_draw)
        fputs(
            "kallima: the report has tables but no charts, as gnuplot is not installed\n",
            stderr);
    if (!output_open(&output, path))
        return false;
    page.file = output.file;
    page.scratch = scratch;
    print_page(&page);
    return output_commit(&output);
}

// --- plain text -------------------------------------------------------------------------

// Listens with the heading that was printed last.
struct printer {
    FILE *file;
    const char *heading;
};

static void say_in_text(void *user, const char *heading, const char *sentence)
{
    struct printer *printer = user;
    if (printer->heading != heading)
        fprintf(printer->file, "%s%s\n", printer->heading ? "\n" : "", heading);
    printer->heading = heading;
    fprintf(printer->file, "  %s\n", sentence);
}

void report_print_summary(const struct results *results, FILE *file)
{
    struct printer printer = { file, NULL };
    summary_tell(results, say_in_text, &printer);
}
