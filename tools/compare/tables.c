// SPDX-License-Identifier: MIT
// The tables of a group of cases.
#include <math.h>
#include <string.h>

#include "cli.h"
#include "html.h"
#include "page.h"
#include "view.h"

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
                        const struct row *like, row_value *value)
{
    const struct results *results = page->results;
    const struct row *best = view_fastest(results, like, value, NULL, NULL);
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
            fprintf(page->file, "<td>%s</td>",
                    row_has_failed(row) ? "failed" : "unsupported");
        else
            html_print_number(page->file, row ? value(row) : NAN,
                              row && row == best ? " class=\"best\"" : "");
    }
    fputs("</tr>\n", page->file);
}

static void print_group_table(struct page *page, const struct group *group,
                              const char *title, row_value *value)
{
    const struct results *results = page->results;
    html_print_element(page->file, "h3", title);
    html_begin_table(page->file, group->title, title);
    html_print_head(page->file, "case", true);
    for (int i = 0; i < results->technologies; i++) {
        if (takes_part(results, group, &results->technology[i]))
            html_print_head(page->file, results->technology[i].id, false);
    }
    html_begin_body(page->file);
    for (int i = 0; i < page->cases; i++)
        print_times(page, group, page->one_case[i], value);
    html_end_table(page->file);
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

static void print_row(struct page *page, const struct row *row)
{
    char what[512];
    view_print_case(row, what, sizeof what);
    fprintf(page->file, "<tr><td data-value=\"%.0f\">", row_points(row));
    html_print(page->file, what);
    fputs("</td>", page->file);
    html_print_cell(page->file, row->technology, "text");
    for (size_t k = 0; k < CLI_COUNT(columns); k++)
        html_print_number(page->file, columns[k].value(row), "");
    html_print_cell(page->file,
                    row->failed[0]   ? row->failed
                    : row->recipe[0] ? row->recipe
                                     : row->used,
                    "long");
    fputs("</tr>\n", page->file);
}

// In the order of the other tables, not of the measuring.
static void print_everything(struct page *page, const struct group *group)
{
    static const char title[] = "Everything that was measured";
    const struct results *results = page->results;
    fprintf(page->file, "<details><summary>%s</summary>\n", title);
    html_begin_table(page->file, group->title, title);
    html_print_head(page->file, "case", true);
    html_print_head(page->file, "technology", true);
    for (size_t i = 0; i < CLI_COUNT(columns); i++)
        html_print_head(page->file, columns[i].head, false);
    html_print_head(page->file, "remark", true);
    html_begin_body(page->file);
    for (int i = 0; i < page->cases; i++) {
        for (int k = 0; k < results->technologies; k++) {
            const struct row *row =
                results_find(results, results->technology[k].id, page->one_case[i]);
            if (row)
                print_row(page, row);
        }
    }
    html_end_table(page->file);
    fputs("</details>\n", page->file);
}

void tables_print(struct page *page, const struct group *group)
{
    print_group_table(page, group, "Median times in milliseconds", view_median);
    if (view_has(page->results, group, view_total))
        print_group_table(page, group, "Median times with transfers in milliseconds",
                          view_whole);
    print_everything(page, group);
}
