// SPDX-License-Identifier: MIT
#include "chart.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "child.h"
#include "html.h"

// Told apart by people of every sort of colour blindness: M. Okabe, K. Ito, "Color Universal
// Design" (2008), without their black and yellow, then P. Tol, "Colour Schemes" (2021); each as
// it is on light ground, and lighter for dark ground.
const char *const chart_colours[2][CHART_COLOURS] = {
    { "#0072b2", "#d55e00", "#009e73", "#aa4499", "#b8860b", "#56b4e9", "#666666",
      "#882255", "#332288", "#117733" },
    { "#5ab4f0", "#ff8f4d", "#3ad1a5", "#e59ad4", "#f0c040", "#9fd6f7", "#b0b0b0",
      "#e07a9e", "#a99cff", "#6fce80" },
};

// gnuplot's numbers of marks, filled and hollow, and of dashes.
static const int marks[2][9] = { { 4, 8, 12, 10, 6, 14, 1, 2, 3 },
                                 { 7, 5, 9, 13, 11, 15, 7, 5, 9 } };
static const char *const dashes[] = { "2", "4", "5", "3" };

enum {
    MARKS = sizeof marks[0] / sizeof marks[0][0],
    DASHES = sizeof dashes / sizeof dashes[0]
};

// --- the script -------------------------------------------------------------------------

// Within single quotes gnuplot takes everything as it is but the quote itself.
static void print_quoted(FILE *file, const char *text)
{
    putc('\'', file);
    for (; *text; text++)
        fprintf(file, *text == '\'' ? "'%c" : "%c", *text);
    putc('\'', file);
}

// Below a narrow chart; gnuplot leaves no more than that room for two.
static int key_columns(const struct chart *chart)
{
    enum { SHORT_NAME = 14 };
    int columns = 2;
    for (int i = 0; i < chart->count; i++) {
        if (strlen(chart->series[i].name) > SHORT_NAME)
            columns = 1;
    }
    return columns;
}

static void print_frame(FILE *script, const struct chart *chart, bool is_narrow)
{
    fprintf(
        script,
        "set encoding utf8\n"
        "set border 3 lc rgb '" CHART_INK "'\n"
        "set grid lt 1 lw 1 lc rgb '" CHART_GRID "'\n"
        "set tics nomirror textcolor rgb '" CHART_INK "'\n"
        "set xlabel '%s' textcolor rgb '" CHART_INK "'\n"
        "set ylabel '%s' textcolor rgb '" CHART_INK "'\n"
        "set format y '%%g'\n%s%s%s\n",
        chart->x_label, chart->y_label, chart->is_log_x ? "set logscale x 2\n" : "",
        chart->is_log_y ? "set logscale y\n" : "set yrange [0:*]\n",
        is_narrow
            ? "set key below height 1 maxcols 2 Left reverse samplen 3 textcolor rgb "
              "'" CHART_INK "'"
            : "set key outside right top maxcols 1 Left reverse samplen 3 textcolor rgb "
              "'" CHART_INK "'");
}

static void print_ticks(FILE *script, const struct chart *chart, bool is_narrow)
{
    const int most = is_narrow ? 6 : 13;
    const int step = (chart->ticks + most - 1) / most;
    fputs("set xtics (", script);
    for (int i = 0; i < chart->ticks; i += step) {
        fputs(i ? ", " : "", script);
        print_quoted(script, chart->tick_label[i]);
        fprintf(script, " %.17g", chart->tick[i]);
    }
    fputs(")\n", script);
    const double first = chart->tick[0], last = chart->tick[chart->ticks - 1];
    fprintf(script, "set xrange [%.17g:%.17g]\n",
            chart->is_log_x ? first / 1.2 : first - 0.2,
            chart->is_log_x ? last * 1.2 : last + 0.2);
}

static void print_data(FILE *script, const struct chart *chart)
{
    for (int i = 0; i < chart->count; i++) {
        const struct chart_series *series = &chart->series[i];
        fprintf(script, "$d%d << EOD\n", i);
        for (int k = 0; k < series->count; k++)
            fprintf(script, "%.17g %.17g\n", series->x[k], series->y[k]);
        fputs("EOD\n", script);
    }
}

static void print_plot(FILE *script, const struct chart *chart)
{
    fputs("plot ", script);
    if (isfinite(chart->level))
        fprintf(script, "%.17g with lines lw 2 dt 3 lc rgb '" CHART_INK "' notitle, ",
                chart->level);
    for (int i = 0; i < chart->count; i++) {
        const struct chart_series *series = &chart->series[i];
        fprintf(script, "%s$d%d using 1:2 with ", i ? ", " : "", i);
        if (series->is_limit)
            fputs("lines lw 2 dt 3 lc rgb '" CHART_INK "' title ", script);
        else
            fprintf(script, "%s lw 2 dt %s pt %d ps 0.8 lc rgb '%s' title ",
                    chart->has_lines ? "linespoints" : "points",
                    series->is_solid ? "1" : dashes[series->mark % DASHES],
                    marks[series->is_filled][series->mark % MARKS],
                    chart_colours[0][series->colour % CHART_COLOURS]);
        print_quoted(script, series->name);
    }
    fputs("\n", script);
}

// The names stand below a narrow chart, and in one column beside a wide one: two would leave no
// room for the curves, and what does not fit below another is not drawn.
static int height_of(const struct chart *chart, bool is_narrow)
{
    enum { NARROW = 340, NARROW_NAME = 20, WIDE = 420, WIDE_NAME = 25, MARGIN = 60 };
    const int columns = key_columns(chart);
    const int beside = MARGIN + WIDE_NAME * chart->count;
    return is_narrow ? NARROW + NARROW_NAME * ((chart->count + columns - 1) / columns)
           : beside > WIDE ? beside
                           : WIDE;
}

static void print_script(FILE *script, const struct chart *chart, bool is_narrow,
                         const char *target)
{
    fprintf(script,
            "set terminal svg size %d,%d dynamic noenhanced font 'sans-serif,%d'\n",
            is_narrow ? 400 : 900, height_of(chart, is_narrow), is_narrow ? 13 : 15);
    fputs("set output ", script);
    print_quoted(script, target);
    fputs("\n", script);
    print_frame(script, chart, is_narrow);
    print_ticks(script, chart, is_narrow);
    print_data(script, chart);
    print_plot(script, chart);
}

// --- the picture ------------------------------------------------------------------------

// Skip an element that only says who drew it. Returns whether there was one.
static bool skip_element(const char **at, const char *name)
{
    char end[32];
    const size_t length = strlen(name);
    if (strncmp(*at, "<", 1) != 0 || strncmp(*at + 1, name, length) != 0 ||
        (*at)[1 + length] != '>')
        return false;
    snprintf(end, sizeof end, "</%s>", name);
    const char *found = strstr(*at, end);
    if (!found)
        return false;
    *at = found + strlen(end);
    return true;
}

// Skip what is the default, or for gnuplot's own scripts.
static bool skip_words(const char **at)
{
    static const char *const words[] = { " stroke-linecap=\"butt\"",
                                         " stroke-linejoin=\"miter\"",
                                         " class=\"gridline\"", "\t" };
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        const size_t length = strlen(words[i]);
        if (strncmp(*at, words[i], length) == 0) {
            *at += length;
            return true;
        }
    }
    return false;
}

// "rgb(  0, 114, 178)" as "#0072b2", so that a style sheet finds it.
static bool print_colour(const char **at, FILE *page)
{
    int red, green, blue, used = 0;
    if (sscanf(*at, "rgb(%d ,%d ,%d )%n", &red, &green, &blue, &used) != 3 || used == 0)
        return false;
    fprintf(page, "#%02x%02x%02x", red & 255, green & 255, blue & 255);
    *at += used;
    return true;
}

// Names must differ from those of other pictures of the page.
static bool print_name(const char **at, const char *name, FILE *page)
{
    static const char *const openings[] = { " id='", " id=\"", "href='#", "href=\"#" };
    for (size_t i = 0; i < sizeof openings / sizeof openings[0]; i++) {
        const size_t length = strlen(openings[i]);
        if (strncmp(*at, openings[i], length) != 0)
            continue;
        fprintf(page, "%s%s-", openings[i], name);
        *at += length;
        return true;
    }
    return false;
}

static void print_picture(const char *text, const char *name, const char *label,
                          FILE *page)
{
    const char *at = strstr(text, "<svg");
    if (!at)
        return;
    at += 4;
    fputs("<svg role=\"img\" aria-label=\"", page);
    html_print(page, label);
    putc('"', page);
    while (*at) {
        if (!skip_element(&at, "title") && !skip_element(&at, "desc") &&
            !skip_words(&at) && !print_colour(&at, page) && !print_name(&at, name, page))
            putc(*at++, page);
    }
}

static char *read_all(const char *path)
{
    FILE *file = fopen(path, "rb");
    char *text = NULL;
    size_t used = 0, count = 0;
    do {
        char *grown = file ? realloc(text, used + 65537) : NULL;
        if (!grown)
            break;
        text = grown;
        count = fread(text + used, 1, 65536, file);
        used += count;
        text[used] = '\0';
    } while (count > 0);
    if (file)
        fclose(file);
    return text;
}

bool chart_can_draw(void)
{
    char version[64];
    child_read_command("gnuplot --version 2>/dev/null", version, sizeof version);
    return version[0] != '\0';
}

bool chart_draw(const struct chart *chart, bool is_narrow, const char *name,
                const char *label, const char *scratch, FILE *page)
{
    FILE *script = child_open_command("gnuplot >/dev/null 2>&1");
    bool ok = script != NULL;
    if (ok) {
        print_script(script, chart, is_narrow, scratch);
        ok = child_close_command(script);
    }
    char *text = ok ? read_all(scratch) : NULL;
    remove(scratch);
    ok = text && strstr(text, "</svg>");
    if (ok)
        print_picture(text, name, label, page);
    free(text);
    return ok;
}
