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
#include "page.h"
#include "summary.h"
#include "view.h"

// --- the beginning ----------------------------------------------------------------------

static void say_in_page(void *user, const char *heading, const char *sentence)
{
    struct page *page = user;
    if (page->heading != heading) {
        if (page->heading)
            fputs("</ul>\n", page->file);
        html_print_element(page->file, "h3", heading);
        fputs("<ul>\n", page->file);
    }
    page->heading = heading;
    html_print_element(page->file, "li", sentence);
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
    fprintf(file, ", %.0f processors", machine->processors);
    if (machine->clock_mhz > 0)
        fprintf(file, " at %.0f MHz", machine->clock_mhz);
    fprintf(file, ", %.1f GiB; ", machine->memory_gib);
    html_print(file, machine->kernel);
    fprintf(file, "; load %.2f at the start; Kallima ", machine->load);
    html_print(file, machine->kallima);
    fputs(", commit ", file);
    html_print(file, machine->commit);
    if (machine->compiler[0]) {
        fputs(", compiled by ", file);
        html_print(file, machine->compiler);
    }
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
    html_begin_table(page->file, "What was compared", "technologies");
    for (size_t i = 0; i < CLI_COUNT(heads); i++)
        html_print_head(page->file, heads[i], i < CLI_COUNT(heads) - 1);
    html_begin_body(page->file);
    for (int i = 0; i < results->technologies; i++) {
        const struct technology *one = &results->technology[i];
        fputs("<tr>", page->file);
        html_print_cell(page->file, one->id, "text");
        html_print_cell(page->file, one->version, "text");
        html_print_cell(page->file, one->flags, "text");
        html_print_cell(page->file, one->device, "text");
        html_print_cell(page->file,
                        one->failed[0]         ? "took no part"
                        : one->is_software > 0 ? "imitated in software"
                                               : one->driver,
                        "text");
        html_print_number(page->file, one->threads > 0 ? one->threads : NAN, "");
        fputs("</tr>\n", page->file);
    }
    html_end_table(page->file);
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
    "<li>cuFFT's transforms out of place are measured in place, too; the faster one "
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

// --- the groups --------------------------------------------------------------------------

static void print_group(struct page *page, const struct group *group)
{
    page->one_case = calloc((size_t)page->results->rows + 1, sizeof *page->one_case);
    page->cases = page->one_case ? view_cases(page->results, group, page->one_case) : 0;
    if (page->cases > 0) {
        fprintf(page->file, "<section id=\"g-%s\">\n", group->id);
        html_print_element(page->file, "h2", group->title);
        figures_print(page, group);
        tables_print(page, group);
        fputs("</section>\n", page->file);
    }
    free(page->one_case);
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
