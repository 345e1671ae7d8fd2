// SPDX-License-Identifier: MIT
// The file results.jsonl: read whole, then appended to.
#ifndef KALLIMA_COMPARE_RESULTS_H_
#define KALLIMA_COMPARE_RESULTS_H_

#include "record.h"

/** What the file holds. All zero is empty; free with results_clear(). */
struct results {
    struct machine machine;
    bool has_machine;
    struct group *group;
    struct technology *technology;
    struct row *row;
    int groups, technologies, rows;
    long end;    // of the last whole line, in bytes
    bool is_cut; // a line behind it has no end, as its writer was ended: it is not read
    FILE *file;  // open to append to; NULL: it is not
};

/**
 * Read the file `path`; one that is not there is empty.
 *
 * Error: returns false and writes one sentence to `why`, with the line and what is wrong with
 *        it.
 */
bool results_read(struct results *results, const char *path, char *why, size_t capacity);

/** The same from an open file, called `name`, into results that are empty. */
bool results_read_file(struct results *results, FILE *file, const char *name, char *why,
                       size_t capacity);

/**
 * Open the file to append to. What lies behind the last whole line is cut off.
 *
 * Error: returns false and writes one sentence to `why`.
 */
bool results_open(struct results *results, const char *path, char *why, size_t capacity);

/**
 * Add a record, in memory and to the file. It is in the file when results_flush() returns.
 *
 * Error: returns false if memory is exhausted.
 */
bool results_add(struct results *results, enum record_kind kind, const void *record);

/** Write what was added; false, with the cause in errno: it cannot be written. */
bool results_flush(struct results *results);

/** Let all rows that failed, but for what is unsupported, be due: to be measured again. */
void results_retry_failed(struct results *results);

/** Return the row of a technology for the case of `like`, or NULL. */
const struct row *results_find(const struct results *results, const char *technology,
                               const struct row *like);

/** Return a group or a technology by its name, or NULL. */
const struct group *results_find_group(const struct results *results, const char *id);
const struct technology *results_find_technology(const struct results *results,
                                                 const char *id);

void results_clear(struct results *results);

#endif
