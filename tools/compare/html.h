// SPDX-License-Identifier: MIT
#ifndef KALLIMA_COMPARE_HTML_H_
#define KALLIMA_COMPARE_HTML_H_

#include <stdio.h>

/** Print text as content or attribute of an HTML page: nothing in it is markup. */
void html_print(FILE *page, const char *text);

/** The style sheet and the script of the page, which refers to nothing outside itself. */
extern const char html_style[], html_script[];

#endif
