// SPDX-License-Identifier: MIT
#ifndef KALLIMA_COMPARE_HTML_H_
#define KALLIMA_COMPARE_HTML_H_

#include <stdbool.h>
#include <stdio.h>

/** Print text as content or attribute of an HTML page: nothing in it is markup. */
void html_print(FILE *page, const char *text);

/** Print an element that holds a text. */
void html_print_element(FILE *page, const char *name, const char *text);

/**
 * Print a table that sorts by its columns: begin, a head for each, the body, rows, the end. `about`
 * and `what` say what it shows to those who do not see where it stands.
 */
void html_begin_table(FILE *page, const char *about, const char *what);
void html_print_head(FILE *page, const char *text, bool is_text);
void html_begin_body(FILE *page);
void html_end_table(FILE *page);

/** Print a cell with a number, empty if it is not finite; `class` is an attribute or "". */
void html_print_number(FILE *page, double value, const char *class);

/** Print a cell with a text, of the class `class`. */
void html_print_cell(FILE *page, const char *text, const char *class);

/** The style sheet and the script of the page, which refers to nothing outside itself. */
extern const char html_style[], html_script[];

#endif
