// SPDX-License-Identifier: MIT
// What is known of a comparison, as it stands in results.jsonl: one record a line. A table of
// fields says how each kind of record is printed, read back and laid out as CSV.
#ifndef KALLIMA_COMPARE_RECORD_H_
#define KALLIMA_COMPARE_RECORD_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "json.h"

enum { RECORD_FORMAT = 1 }; // of the file; one that differs is refused

enum record_kind {
    RECORD_MACHINE, // once, first
    RECORD_GROUP,   // of cases
    RECORD_TECHNOLOGY,
    RECORD_ROW,
    RECORD_KIND_COUNT
};

/** Where and with what it was measured. */
struct machine {
    double format;
    char kallima[32], commit[64], date[32];
    char processor[128], kernel[128], gpu[256];
    char compiler[96]; // of the program
    double processors, memory_gib, load;
    double clock_mhz; // the highest of the processors at the start
};

/** Cases that belong together. */
struct group {
    char id[32], title[160];
    char shows[16]; // what a chart of it has on its horizontal axis: "size" or "variant"
};

/** A way of computing transforms: Kallima on a device, or a peer there. */
struct technology {
    char id[48]; // "kallima cuda:0", "cufft cuda:0"
    char library[32], selector[32], device[128], driver[64];
    char version[128], flags[64];
    double threads, is_software;
    char failed[320]; // why it took no part: it could not be opened
};

/** Return whether a technology is Kallima, not a peer. */
bool technology_is_kallima(const struct technology *technology);

/** What one technology did with one case. Numbers are NaN, and texts empty, where there is none. */
struct row {
    char technology[48], group[32], variant[32];
    char kind[8], precision[8], lengths[256], direction[16], placement[16];
    char layout[64]; // words of a case file; empty: packed and interleaved
    char asked[256]; // the recipe that was asked for
    double batch;
    double plan_ms, replan_ms, first_ms;
    double median_ms, min_ms, spread, samples, executions, beside;
    double gflops, copy_ms, x_copy;
    double write_ms, write_spread, read_ms, read_spread, total_ms, total_spread;
    double bytes, bytes_moved, passes;
    double error, error_bound;
    char error_by[16], used[16], recipe[1024];
    double ok;
    double unsupported; // it failed as there is no plan for such a problem; NaN: unknown
    char failed[320];
    bool is_due; // to be measured again; not in the file
};

/** Set every number to NaN and every text to "". */
void record_clear(enum record_kind kind, void *record);

/** Print a record as one line of JSON. */
void record_print(FILE *file, enum record_kind kind, const void *record);

/**
 * Read the record that `json` is, whose kind is known.
 *
 * Error: returns false and writes one sentence to `why`: a member is missing, unknown, of
 *        another type, too long, or out of range.
 */
bool record_read(enum record_kind kind, void *record, const struct json *json, char *why,
                 size_t capacity);

/** Return the kind that a member "record" names, or -1. */
int record_find(const char *name);

/** Print the names of a row's fields, or a row, as a line of CSV (RFC 4180). */
void row_print_csv_head(FILE *file);
void row_print_csv(FILE *file, const struct row *row);

/** Return whether two rows are of the same case. */
bool row_is_same_case(const struct row *a, const struct row *b);

/** Return the number of points of one transform of a row's case. */
double row_points(const struct row *row);

/** Return whether a row has times of a result that was not found wrong. */
bool row_counts(const struct row *row);

/** Return whether a row failed at a problem that its technology has a plan for. */
bool row_has_failed(const struct row *row);

#endif
