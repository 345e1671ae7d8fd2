// SPDX-License-Identifier: MIT
// JSON of one line: an object of texts, numbers and truth values, without nesting. It is what
// results are kept in, and what a measuring process answers with.
#ifndef KALLIMA_COMPARE_JSON_H_
#define KALLIMA_COMPARE_JSON_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum { JSON_MAX_MEMBERS = 64 };

enum json_type { JSON_TEXT, JSON_NUMBER, JSON_TRUTH, JSON_NULL };

struct json_member {
    const char *name;
    enum json_type type;
    const char *text; // of JSON_TEXT
    double number;    // of JSON_NUMBER; 0 or 1 of JSON_TRUTH
};

struct json {
    int count;
    struct json_member member[JSON_MAX_MEMBERS];
};

/**
 * Read one object from `line`, which is written to and holds the texts from then on.
 *
 * Error: returns false and writes one sentence to `why`.
 */
bool json_parse(struct json *json, char *line, char *why, size_t capacity);

/** Return the member `name`, or NULL. */
const struct json_member *json_find(const struct json *json, const char *name);

/** Return the text of a member; "" if there is none. */
const char *json_text(const struct json *json, const char *name);

/** Return the number of a member; NaN if there is none. */
double json_number(const struct json *json, const char *name);

/** Print `"name": "text"`, with ", " before it unless *first, which is false from then on. */
void json_print_text(FILE *file, bool *first, const char *name, const char *text);

/** The same with a number; one that is not finite is left out, as JSON has none. */
void json_print_number(FILE *file, bool *first, const char *name, double number);

/** The same with true or false. */
void json_print_truth(FILE *file, bool *first, const char *name, bool truth);

#endif
