// SPDX-License-Identifier: MIT
// Lists of problems, from text.
//
//   case := kind precision lengths batch [word]...      one a line, # begins a comment
//   kind      c2c, r2c or c2r
//   precision f32 or f64
//   lengths   64 or 64x32x16, the slowest axis first
//   word      inverse, in-place; of how both sides lie in memory:
//             planar      real and imaginary parts in arrays of their own
//             stride=S    all as far apart as S times packed, neighbours by S elements
//             distance=D  transforms D elements apart: with stride=D the columns of a matrix
//
// Lines that begin with [ are for `kallima compare`, where they begin a group.
#ifndef KALLIMA_BENCH_PROBLEM_H_
#define KALLIMA_BENCH_PROBLEM_H_

#include <stdbool.h>
#include <stddef.h>

#include <kallima/kallima.h>

extern const char *const problem_kinds[KALLIMA_KIND_COUNT];
extern const char *const problem_precisions[KALLIMA_PRECISION_COUNT];

/** A growing list of problems. All zero is empty. */
struct problems {
    kallima_desc *desc;
    int count, capacity;
};

/** Read lengths such as 64x32 into rank and n; false if the text is anything else. */
bool problem_parse_lengths(const char *text, kallima_desc *desc);

/**
 * Read a line of a case file, which is written to; desc->rank is 0 if it has no case.
 *
 * Error: returns false and writes one sentence to `why`.
 */
bool problem_parse(char *line, kallima_desc *desc, char *why, size_t capacity);

/**
 * Append one problem.
 *
 * Error: returns false if memory is exhausted.
 */
bool problems_add(struct problems *problems, const kallima_desc *desc);

/**
 * Append the cases of a file.
 *
 * Error: returns false and writes one sentence to `why`.
 */
bool problems_read(struct problems *problems, const char *path, char *why,
                   size_t capacity);

/** Free what the list holds. */
void problems_clear(struct problems *problems);

/** Write the lengths as 64x32 to `text`, which has room for PROBLEM_TEXT bytes. */
void problem_print_lengths(const kallima_desc *desc, char *text);

/** Write the problem as a line of a case file, likewise. */
void problem_print(const kallima_desc *desc, char *text);

/** Write the words of its layout, likewise: none if it is packed and interleaved. */
void problem_print_layout(const kallima_desc *desc, char *text);

enum { PROBLEM_TEXT = 256 };

#endif
