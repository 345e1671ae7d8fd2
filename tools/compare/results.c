// SPDX-License-Identifier: MIT
#include "results.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench_problem.h"
#include "cli.h"

enum { LINE_BYTES = 8192 };

// A record of any kind.
union record {
    struct machine machine;
    struct group group;
    struct technology technology;
    struct row row;
};

// --- what is held -----------------------------------------------------------------------

// Make room for one more; the number is a power of two whenever there is none.
static bool grow(void **array, int count, size_t bytes)
{
    if (count & (count - 1))
        return true;
    void *grown = realloc(*array, (size_t)(count ? 2 * count : 1) * bytes);
    if (grown)
        *array = grown;
    return grown != NULL;
}

// One that took no part before may do so now.
static bool replace_technology(struct results *results, const struct technology *by)
{
    const struct technology *known = results_find_technology(results, by->id);
    if (known)
        results->technology[known - results->technology] = *by;
    return known != NULL;
}

// So may a case that failed, once it is measured again.
static bool replace_row(struct results *results, const struct row *by)
{
    const struct row *known = results_find(results, by->technology, by);
    if (known)
        results->row[known - results->row] = *by;
    return known != NULL;
}

void results_retry_failed(struct results *results)
{
    for (int i = 0; i < results->rows; i++)
        results->row[i].is_due = row_has_failed(&results->row[i]);
}

static bool keep(struct results *results, enum record_kind kind, const void *record)
{
    if (kind == RECORD_MACHINE) {
        results->machine = *(const struct machine *)record;
        results->has_machine = true;
    } else if (kind == RECORD_GROUP) {
        if (!grow((void **)&results->group, results->groups, sizeof *results->group))
            return false;
        results->group[results->groups++] = *(const struct group *)record;
    } else if (kind == RECORD_TECHNOLOGY) {
        if (replace_technology(results, record))
            return true;
        if (!grow((void **)&results->technology, results->technologies,
                  sizeof *results->technology))
            return false;
        results->technology[results->technologies++] = *(const struct technology *)record;
    } else {
        if (replace_row(results, record))
            return true;
        if (!grow((void **)&results->row, results->rows, sizeof *results->row))
            return false;
        results->row[results->rows++] = *(const struct row *)record;
    }
    return true;
}

const struct group *results_find_group(const struct results *results, const char *id)
{
    for (int i = 0; i < results->groups; i++) {
        if (strcmp(results->group[i].id, id) == 0)
            return &results->group[i];
    }
    return NULL;
}

const struct technology *results_find_technology(const struct results *results,
                                                 const char *id)
{
    for (int i = 0; i < results->technologies; i++) {
        if (strcmp(results->technology[i].id, id) == 0)
            return &results->technology[i];
    }
    return NULL;
}

const struct row *results_find(const struct results *results, const char *technology,
                               const struct row *like)
{
    for (int i = 0; i < results->rows; i++) {
        const struct row *row = &results->row[i];
        if (strcmp(row->technology, technology) == 0 && row_is_same_case(row, like))
            return row;
    }
    return NULL;
}

// --- what is refused --------------------------------------------------------------------

static bool fail(char *why, size_t capacity, const char *sentence)
{
    snprintf(why, capacity, "%s", sentence);
    return false;
}

// Names go into pages and into scripts for gnuplot: nothing in them means anything there.
static bool is_plain(const char *name)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                "0123456789 :._+-";
    return *name && name[strspn(name, plain)] == '\0';
}

static bool is_one_of(const char *text, const char *a, const char *b)
{
    return strcmp(text, a) == 0 || strcmp(text, b) == 0;
}

static bool check_problem(const struct row *row, char *why, size_t capacity)
{
    kallima_desc desc = { 0 };
    if (cli_find(row->kind, problem_kinds, KALLIMA_KIND_COUNT) < 0)
        return fail(why, capacity, "kind must be c2c, r2c or c2r");
    if (cli_find(row->precision, problem_precisions, KALLIMA_PRECISION_COUNT) < 0)
        return fail(why, capacity, "precision must be f32 or f64");
    if (!problem_parse_lengths(row->lengths, &desc))
        return fail(why, capacity, "lengths must be such as 1024 or 256x256");
    if (!(row->batch >= 1) || row->batch != floor(row->batch))
        return fail(why, capacity, "batch must be an integer of at least 1");
    if (!is_one_of(row->direction, "forward", "inverse"))
        return fail(why, capacity, "direction must be forward or inverse");
    if (!is_one_of(row->placement, "in-place", "out-of-place"))
        return fail(why, capacity, "placement must be in-place or out-of-place");
    return true;
}

static bool check_row(const struct results *results, const struct row *row, char *why,
                      size_t capacity)
{
    if (!check_problem(row, why, capacity))
        return false;
    if (!results_find_technology(results, row->technology))
        return fail(why, capacity, "a row of a technology that is not listed before it");
    if (!results_find_group(results, row->group))
        return fail(why, capacity, "a row of a group that is not listed before it");
    if (row->variant[0] && !is_plain(row->variant))
        return fail(why, capacity, "the name of a variant has letters it may not have");
    if (!row->failed[0] && !(row->median_ms > 0))
        return fail(why, capacity, "a row has neither a median nor a failure");
    if (!row->failed[0] && row->unsupported > 0)
        return fail(why, capacity, "a row is unsupported, and has no failure");
    const struct row *known = results_find(results, row->technology, row);
    if (known && !row_has_failed(known))
        return fail(why, capacity, "the same case of the same technology twice");
    return true;
}

static bool check(const struct results *results, enum record_kind kind,
                  const union record *record, char *why, size_t capacity)
{
    if (results->has_machine != (kind != RECORD_MACHINE))
        return fail(why, capacity,
                    results->has_machine ? "a second machine"
                                         : "the machine must come first");
    if (kind == RECORD_MACHINE)
        return record->machine.format == RECORD_FORMAT ||
               fail(why, capacity, "a format that this program does not know");
    if (kind == RECORD_GROUP)
        return !is_plain(record->group.id)
                   ? fail(why, capacity,
                          "the name of a group has letters it may not have")
               : !is_one_of(record->group.shows, "size", "variant")
                   ? fail(why, capacity, "shows must be size or variant")
                   : !results_find_group(results, record->group.id) ||
                         fail(why, capacity, "the same group twice");
    if (kind == RECORD_TECHNOLOGY) {
        const struct technology *known =
            results_find_technology(results, record->technology.id);
        return !is_plain(record->technology.id)
                   ? fail(why, capacity,
                          "the name of a technology has letters it may not have")
                   : !known || known->failed[0] ||
                         fail(why, capacity, "the same technology twice");
    }
    return check_row(results, &record->row, why, capacity);
}

// --- the file ---------------------------------------------------------------------------

static bool read_line(struct results *results, char *line, char *why, size_t capacity)
{
    struct json json;
    union record record = { .row = { .is_due = false } };
    if (!json_parse(&json, line, why, capacity))
        return false;
    const int kind = record_find(json_text(&json, "record"));
    if (kind < 0)
        return fail(why, capacity, "no record of a known kind");
    if (!record_read((enum record_kind)kind, &record, &json, why, capacity) ||
        !check(results, (enum record_kind)kind, &record, why, capacity))
        return false;
    return keep(results, (enum record_kind)kind, &record) ||
           fail(why, capacity, "no memory left");
}

// Returns the line's length with its end, 0 at the end of the file; *is_whole: it has one.
static size_t get_line(FILE *file, char *line, bool *is_whole)
{
    size_t length = 0;
    int c = EOF;
    while (length + 1 < LINE_BYTES && (c = getc(file)) != EOF && c != '\n')
        line[length++] = c ? (char)c : '\x01'; // refused, as a control character is
    line[length] = '\0';
    *is_whole = c == '\n';
    return length + *is_whole;
}

bool results_read_file(struct results *results, FILE *file, const char *name, char *why,
                       size_t capacity)
{
    char line[LINE_BYTES], reason[256];
    bool is_whole;
    size_t length;
    for (int number = 1; (length = get_line(file, line, &is_whole)) > 0; number++) {
        if (!is_whole && length + 1 < LINE_BYTES) {
            results->is_cut = true;
            return true;
        }
        if (is_whole ? !read_line(results, line, reason, sizeof reason)
                     : !fail(reason, sizeof reason, "the line is too long")) {
            snprintf(why, capacity, "%s: line %d: %s", name, number, reason);
            return false;
        }
        results->end += (long)length;
    }
    return true;
}

bool results_read(struct results *results, const char *path, char *why, size_t capacity)
{
    *results = (struct results){ 0 };
    FILE *file = fopen(path, "rb");
    if (!file && errno == ENOENT)
        return true;
    if (!file) {
        snprintf(why, capacity, "%s: cannot open: %s", path, strerror(errno));
        return false;
    }
    bool ok = results_read_file(results, file, path, why, capacity);
    if (ok && ferror(file)) {
        snprintf(why, capacity, "%s: cannot read: %s", path, strerror(errno));
        ok = false;
    }
    fclose(file);
    return ok;
}

bool results_open(struct results *results, const char *path, char *why, size_t capacity)
{
    if ((results->is_cut && truncate(path, results->end) != 0) ||
        !(results->file = fopen(path, "ab"))) {
        snprintf(why, capacity, "%s: cannot write: %s", path, strerror(errno));
        return false;
    }
    return true;
}

bool results_add(struct results *results, enum record_kind kind, const void *record)
{
    if (!keep(results, kind, record))
        return false;
    record_print(results->file, kind, record);
    return true;
}

bool results_flush(struct results *results)
{
    return fflush(results->file) == 0 && !ferror(results->file);
}

void results_clear(struct results *results)
{
    if (results->file)
        fclose(results->file);
    free(results->group);
    free(results->technology);
    free(results->row);
    *results = (struct results){ 0 };
}
