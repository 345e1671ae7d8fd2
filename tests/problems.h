// SPDX-License-Identifier: MIT
// The problems that the tests share: short ways to write a descriptor, random layouts.
#ifndef TESTS_PROBLEMS_H_
#define TESTS_PROBLEMS_H_

#include <kallima/plan.h>
#include <stdbool.h>
#include <stddef.h>

#include "random.h"

/** Return the packed problem of one axis. */
kallima_desc problem_line(int kind, int precision, int direction, int64_t n);

/** How the elements of both sides lie in memory. */
enum style {
    STYLE_PACKED = 0, // whatever else: random offset, formats
    STYLE_SPREAD,     // axes in order, gaps between elements and lines
    STYLE_PERMUTED,   // axes in a random order of nesting, gaps
    STYLE_REVERSED,   // the same with negative strides
    STYLE_COUNT
};

/** Lay out both sides of `desc` at random; in place if the descriptor says so. */
void problem_lay_out(kallima_desc *desc, enum style style, struct random *r);

/** Return a random valid problem of at most about `points` points in all. */
kallima_desc problem_random(struct random *r, int64_t points);

/** Write the descriptor as one line, for the report of a failing row. */
void problem_print(const kallima_desc *desc, char *text, size_t capacity);

enum { PROBLEM_LENGTHS_BYTES = 32 };

/** Read a packed problem, such as "c2c f32 1024x1024 128"; keep its lengths as text. */
bool problem_parse(const char *line, kallima_desc *desc,
                   char lengths[PROBLEM_LENGTHS_BYTES]);

#endif
