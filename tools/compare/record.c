// SPDX-License-Identifier: MIT
#include "record.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench_problem.h"
#include "cli.h"
#include "serve.h"

enum field_type {
    FIELD_TEXT,
    FIELD_NUMBER, // not below zero
    FIELD_TRUTH,  // 0 or 1
};

struct field {
    const char *name;
    enum field_type type;
    size_t offset, bytes; // bytes: of a text
    bool is_needed;
};

// --- the tables -------------------------------------------------------------------------

#define TEXT(record, name, needed)                                                 \
    {                                                                              \
#name, FIELD_TEXT, offsetof(record, name), sizeof(((record *)NULL)->name), \
            needed                                                                 \
    }
#define NUMBER(record, name, needed)                           \
    {                                                          \
#name, FIELD_NUMBER, offsetof(record, name), 0, needed \
    }
#define TRUTH(record, name, needed)                           \
    {                                                         \
#name, FIELD_TRUTH, offsetof(record, name), 0, needed \
    }

static const struct field machine_fields[] = {
    NUMBER(struct machine, format, true),      TEXT(struct machine, kallima, true),
    TEXT(struct machine, commit, true),        TEXT(struct machine, date, true),
    TEXT(struct machine, processor, true),     NUMBER(struct machine, processors, true),
    NUMBER(struct machine, memory_gib, false), TEXT(struct machine, kernel, true),
    NUMBER(struct machine, load, false),       TEXT(struct machine, gpu, false),
    NUMBER(struct machine, clock_mhz, false),  TEXT(struct machine, compiler, false),
};

static const struct field group_fields[] = {
    TEXT(struct group, id, true),
    TEXT(struct group, title, true),
    TEXT(struct group, shows, true),
};

static const struct field technology_fields[] = {
    TEXT(struct technology, id, true),
    TEXT(struct technology, library, true),
    TEXT(struct technology, selector, true),
    TEXT(struct technology, device, true),
    TEXT(struct technology, driver, true),
    TEXT(struct technology, version, true),
    TEXT(struct technology, flags, false),
    NUMBER(struct technology, threads, false),
    TRUTH(struct technology, is_software, false),
    TEXT(struct technology, failed, false),
};

// clang-format off
static const struct field row_fields[] = {
    TEXT(struct row, technology, true),
    TEXT(struct row, group, true),
    TEXT(struct row, variant, false),
    TEXT(struct row, kind, true),
    TEXT(struct row, precision, true),
    TEXT(struct row, lengths, true),
    NUMBER(struct row, batch, true),
    TEXT(struct row, direction, true),
    TEXT(struct row, placement, true),
    TEXT(struct row, layout, false),
    TEXT(struct row, asked, false),
    NUMBER(struct row, plan_ms, false),
    NUMBER(struct row, replan_ms, false),
    NUMBER(struct row, first_ms, false),
    NUMBER(struct row, median_ms, false),
    NUMBER(struct row, min_ms, false),
    NUMBER(struct row, spread, false),
    NUMBER(struct row, samples, false),
    NUMBER(struct row, executions, false),
    NUMBER(struct row, beside, false),
    NUMBER(struct row, gflops, false),
    NUMBER(struct row, copy_ms, false),
    NUMBER(struct row, x_copy, false),
    NUMBER(struct row, write_ms, false),
    NUMBER(struct row, write_spread, false),
    NUMBER(struct row, read_ms, false),
    NUMBER(struct row, read_spread, false),
    NUMBER(struct row, total_ms, false),
    NUMBER(struct row, total_spread, false),
    NUMBER(struct row, bytes, false),
    NUMBER(struct row, bytes_moved, false),
    NUMBER(struct row, passes, false),
    NUMBER(struct row, error, false),
    NUMBER(struct row, error_bound, false),
    TEXT(struct row, error_by, false),
    TEXT(struct row, used, false),
    TEXT(struct row, recipe, false),
    TRUTH(struct row, ok, true),
    TRUTH(struct row, unsupported, false),
    TEXT(struct row, failed, false),
};
// clang-format on

static const struct {
    const char *name;
    const struct field *field;
    int fields;
} kinds[RECORD_KIND_COUNT] = {
    [RECORD_MACHINE] = { "machine", machine_fields, CLI_COUNT(machine_fields) },
    [RECORD_GROUP] = { "group", group_fields, CLI_COUNT(group_fields) },
    [RECORD_TECHNOLOGY] = { "technology", technology_fields,
                            CLI_COUNT(technology_fields) },
    [RECORD_ROW] = { "row", row_fields, CLI_COUNT(row_fields) },
};

// --- all kinds --------------------------------------------------------------------------

static char *text_of(const struct field *field, void *record)
{
    return (char *)record + field->offset;
}

static double number_of(const struct field *field, const void *record)
{
    double number;
    memcpy(&number, (const char *)record + field->offset, sizeof number);
    return number;
}

static void set_number(const struct field *field, void *record, double number)
{
    memcpy((char *)record + field->offset, &number, sizeof number);
}

void record_clear(enum record_kind kind, void *record)
{
    for (int i = 0; i < kinds[kind].fields; i++) {
        const struct field *field = &kinds[kind].field[i];
        if (field->type == FIELD_TEXT)
            text_of(field, record)[0] = '\0';
        else
            set_number(field, record, NAN);
    }
}

void record_print(FILE *file, enum record_kind kind, const void *record)
{
    bool first = true;
    putc('{', file);
    json_print_text(file, &first, "record", kinds[kind].name);
    for (int i = 0; i < kinds[kind].fields; i++) {
        const struct field *field = &kinds[kind].field[i];
        const char *text = (const char *)record + field->offset;
        if (field->type == FIELD_TEXT && (*text || field->is_needed))
            json_print_text(file, &first, field->name, text);
        else if (field->type == FIELD_NUMBER)
            json_print_number(file, &first, field->name, number_of(field, record));
        else if (field->type == FIELD_TRUTH)
            json_print_truth(file, &first, field->name, number_of(field, record) > 0);
    }
    fputs("}\n", file);
}

int record_find(const char *name)
{
    for (int i = 0; i < RECORD_KIND_COUNT; i++) {
        if (strcmp(kinds[i].name, name) == 0)
            return i;
    }
    return -1;
}

static bool fail(char *why, size_t capacity, const char *name, const char *fault)
{
    snprintf(why, capacity, "member \"%.40s\" %s", name, fault);
    return false;
}

static bool read_member(const struct field *field, void *record,
                        const struct json_member *member, char *why, size_t capacity)
{
    static const enum json_type types[] = {
        [FIELD_TEXT] = JSON_TEXT,
        [FIELD_NUMBER] = JSON_NUMBER,
        [FIELD_TRUTH] = JSON_TRUTH,
    };
    if (member->type != types[field->type])
        return fail(why, capacity, member->name, "has another type than it must have");
    if (field->type != FIELD_TEXT) {
        set_number(field, record, member->number);
        return member->number >= 0 || fail(why, capacity, member->name, "is below zero");
    }
    if (strlen(member->text) >= field->bytes)
        return fail(why, capacity, member->name, "is too long");
    strcpy(text_of(field, record), member->text);
    return true;
}

static const struct field *find_field(enum record_kind kind, const char *name)
{
    for (int i = 0; i < kinds[kind].fields; i++) {
        if (strcmp(kinds[kind].field[i].name, name) == 0)
            return &kinds[kind].field[i];
    }
    return NULL;
}

bool record_read(enum record_kind kind, void *record, const struct json *json, char *why,
                 size_t capacity)
{
    record_clear(kind, record);
    for (int i = 0; i < json->count; i++) {
        const struct json_member *member = &json->member[i];
        const struct field *field = find_field(kind, member->name);
        if (strcmp(member->name, "record") == 0)
            continue;
        if (!field)
            return fail(why, capacity, member->name, "is unknown");
        if (!read_member(field, record, member, why, capacity))
            return false;
    }
    for (int i = 0; i < kinds[kind].fields; i++) {
        const struct field *field = &kinds[kind].field[i];
        if (field->is_needed && !json_find(json, field->name))
            return fail(why, capacity, field->name, "is missing");
    }
    return true;
}

// --- rows -------------------------------------------------------------------------------

void row_print_csv_head(FILE *file)
{
    for (size_t i = 0; i < CLI_COUNT(row_fields); i++)
        fprintf(file, "%s%s", i ? "," : "", row_fields[i].name);
    fputs("\r\n", file);
}

static void print_csv_text(FILE *file, const char *text)
{
    if (!text[strcspn(text, ",\"\r\n")]) {
        fputs(text, file);
        return;
    }
    putc('"', file);
    for (; *text; text++)
        fprintf(file, *text == '"' ? "\"%c" : "%c", *text);
    putc('"', file);
}

void row_print_csv(FILE *file, const struct row *row)
{
    for (size_t i = 0; i < CLI_COUNT(row_fields); i++) {
        const struct field *field = &row_fields[i];
        const double number = field->type == FIELD_TEXT ? NAN : number_of(field, row);
        if (i)
            putc(',', file);
        if (field->type == FIELD_TEXT)
            print_csv_text(file, (const char *)row + field->offset);
        else if (isfinite(number))
            fprintf(file, number == floor(number) && number < 1e15 ? "%.0f" : "%.6g",
                    number);
    }
    fputs("\r\n", file);
}

bool row_is_same_case(const struct row *a, const struct row *b)
{
    return strcmp(a->group, b->group) == 0 && strcmp(a->lengths, b->lengths) == 0 &&
           a->batch == b->batch && strcmp(a->kind, b->kind) == 0 &&
           strcmp(a->precision, b->precision) == 0 &&
           strcmp(a->direction, b->direction) == 0 &&
           strcmp(a->placement, b->placement) == 0 && strcmp(a->layout, b->layout) == 0 &&
           strcmp(a->asked, b->asked) == 0;
}

double row_points(const struct row *row)
{
    kallima_desc desc = { 0 };
    double points = 1;
    if (!problem_parse_lengths(row->lengths, &desc))
        return NAN;
    for (int i = 0; i < desc.rank; i++)
        points *= (double)desc.n[i];
    return points;
}

bool row_counts(const struct row *row)
{
    return !row->failed[0] && row->median_ms > 0;
}

bool row_has_failed(const struct row *row)
{
    return row->failed[0] && !(row->unsupported > 0);
}

bool technology_is_kallima(const struct technology *technology)
{
    return strcmp(technology->library, SERVE_KALLIMA) == 0;
}
