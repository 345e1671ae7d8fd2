// SPDX-License-Identifier: MIT
// Entries as lines of text and back: docs/wisdom-format.md. A table says what the line of
// each kind has; nothing else knows.
#include "wisdom/wisdom.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEAD "kallima-wisdom"

enum field {
    FIELD_END,
    FIELD_DEVICE,
    FIELD_DRIVER,
    FIELD_VERSION,
    FIELD_KEY,
    FIELD_VALUE,
    FIELD_REASON,
    FIELD_NUMBERS, // a value that is numbers
    FIELD_EFFORT,
    FIELD_PREDICTED,
    FIELD_TIME,
    FIELD_SPREAD,
    FIELD_COUNT
};

static const struct {
    const char *name;
    bool value_is_key;
    enum field field[9];
} forms[KALLIMA_WISDOM_KIND_COUNT] = {
    // clang-format off
    [KALLIMA_WISDOM_PLAN] = { "plan", true,
        { FIELD_DEVICE, FIELD_DRIVER, FIELD_VERSION, FIELD_KEY, FIELD_VALUE, FIELD_EFFORT,
          FIELD_TIME, FIELD_SPREAD } },
    [KALLIMA_WISDOM_PASS] = { "pass", false,
        { FIELD_DEVICE, FIELD_DRIVER, FIELD_VERSION, FIELD_KEY, FIELD_TIME, FIELD_SPREAD } },
    [KALLIMA_WISDOM_BAD]  = { "bad", true,
        { FIELD_DEVICE, FIELD_DRIVER, FIELD_VERSION, FIELD_KEY, FIELD_VALUE, FIELD_REASON } },
    [KALLIMA_WISDOM_FACT] = { "fact", false,
        { FIELD_DEVICE, FIELD_DRIVER, FIELD_VERSION, FIELD_KEY, FIELD_NUMBERS,
          FIELD_SPREAD } },
    [KALLIMA_WISDOM_TRIAL] = { "trial", true,
        { FIELD_DEVICE, FIELD_DRIVER, FIELD_VERSION, FIELD_KEY, FIELD_VALUE,
          FIELD_PREDICTED, FIELD_TIME, FIELD_SPREAD } },
    // clang-format on
};

static const struct {
    const char *name;
    size_t offset;  // in kallima_wisdom_entry
    double largest; // of a number
    int decimals;
} fields[FIELD_COUNT] = {
    [FIELD_DEVICE] = { "the device", offsetof(kallima_wisdom_entry, device), 0.0, 0 },
    [FIELD_DRIVER] = { "the driver", offsetof(kallima_wisdom_entry, driver), 0.0, 0 },
    [FIELD_VERSION] = { "the version", offsetof(kallima_wisdom_entry, version), 0.0, 0 },
    [FIELD_KEY] = { "the key", offsetof(kallima_wisdom_entry, key), 0.0, 0 },
    [FIELD_VALUE] = { "the value", offsetof(kallima_wisdom_entry, value), 0.0, 0 },
    [FIELD_REASON] = { "the reason", offsetof(kallima_wisdom_entry, reason), 0.0, 0 },
    [FIELD_NUMBERS] = { "the value", offsetof(kallima_wisdom_entry, value), 0.0, 0 },
    [FIELD_EFFORT] = { "the effort", offsetof(kallima_wisdom_entry, effort), 0.0, 0 },
    [FIELD_PREDICTED] = { "the predicted time",
                          offsetof(kallima_wisdom_entry, predicted_ns),
                          KAL_WISDOM_MAX_TIME_NS, 3 },
    [FIELD_TIME] = { "the time", offsetof(kallima_wisdom_entry, time_ns),
                     KAL_WISDOM_MAX_TIME_NS, 3 },
    [FIELD_SPREAD] = { "the spread", offsetof(kallima_wisdom_entry, spread),
                       KAL_WISDOM_MAX_SPREAD, 4 },
};

static const char *const efforts[KALLIMA_EFFORT_COUNT] = { "estimate", "measure",
                                                           "patient", "exhaustive" };

static bool is_string(enum field field)
{
    return field <= FIELD_NUMBERS;
}

static const char **string_of(kallima_wisdom_entry *entry, enum field field)
{
    return (const char **)(void *)((char *)entry + fields[field].offset);
}

static double *number_of(kallima_wisdom_entry *entry, enum field field)
{
    return (double *)(void *)((char *)entry + fields[field].offset);
}

static bool is_kind(int32_t kind)
{
    return kind > KALLIMA_WISDOM_ANY && kind < KALLIMA_WISDOM_KIND_COUNT;
}

static bool is_effort(int32_t effort)
{
    return effort > KALLIMA_EFFORT_ESTIMATE && effort < KALLIMA_EFFORT_COUNT;
}

bool kal_wisdom_value_is_key(int32_t kind)
{
    return forms[kind].value_is_key;
}

const char *kal_wisdom_kind_name(int32_t kind)
{
    return is_kind(kind) ? forms[kind].name : NULL;
}

const char *kal_wisdom_effort_name(int32_t effort)
{
    return is_effort(effort) ? efforts[effort] : NULL;
}

// --- numbers -----------------------------------------------------------------------------

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static double scale_of(enum field field)
{
    double scale = 1.0;
    for (int i = 0; i < fields[field].decimals; i++)
        scale *= 10.0;
    return scale;
}

// As whole thousandths or the like: exact, as the largest are far below 2^53.
static double round_number(double number, enum field field)
{
    const double scale = scale_of(field);
    return (double)llround(number * scale) / scale;
}

// Without printf()'s decimal point, which is the locale's.
static void print_number(struct kal_text *text, double number, enum field field)
{
    const long long scale = (long long)scale_of(field);
    const long long units = llround(number * (double)scale);
    char decimals[8] = "";

    int count = snprintf(decimals, sizeof decimals, "%0*d", fields[field].decimals,
                         (int)(units % scale));
    while (count > 0 && decimals[count - 1] == '0')
        decimals[--count] = '\0';
    kal_text_add(text, " %lld%s%s", units / scale, count ? "." : "", decimals);
}

// A decimal number: 17 digits count. Returns what follows it, or NULL.
static const char *read_decimal(const char *at, double *number)
{
    long double mantissa = 0.0L;
    int exponent = 0, digits = 0, most = 17;
    const bool is_negative = *at == '-';

    at += is_negative;
    for (bool behind_point = false; is_digit(*at) || (*at == '.' && !behind_point);
         at++) {
        if (*at == '.') {
            behind_point = true;
            continue;
        }
        digits++;
        if (mantissa > 0.0L || *at != '0')
            most--;
        if (most >= 0)
            mantissa = 10.0L * mantissa + (*at - '0');
        exponent += (most < 0) - behind_point;
    }
    if (digits == 0 || digits > 40)
        return NULL;
    if (*at == 'e') {
        const bool is_small = at[1] == '-';
        int power = 0, count = 0;
        for (at += 1 + (is_small || at[1] == '+'); is_digit(*at) && count < 4;
             at++, count++)
            power = 10 * power + (*at - '0');
        if (count == 0 || count == 4)
            return NULL;
        exponent += is_small ? -power : power;
    }
    *number = (double)(mantissa * powl(10.0L, (long double)exponent));
    *number = is_negative ? -*number : *number;
    return isfinite(*number) ? at : NULL;
}

int kal_wisdom_parse_numbers(const char *text, double *numbers, int capacity)
{
    double number;
    int count = 0;

    do {
        text = read_decimal(text, &number);
        if (!text || count == KAL_WISDOM_MAX_STRING)
            return -1;
        if (count < capacity)
            numbers[count] = number;
        count++;
    } while (*text == ' ' && text++);
    return *text == '\0' ? count : -1;
}

void kal_wisdom_print_number(struct kal_text *text, double number)
{
    enum { DIGITS = 9 };
    char digits[32];

    kal_text_add(text, "%s", text->length ? " " : "");
    if (number == 0.0) {
        kal_text_add(text, "0");
        return;
    }
    // The digits and the exponent of "d.dddddddde+ee", without the locale's point.
    snprintf(digits, sizeof digits, "%.*e", DIGITS - 1, fabs(number));
    const int exponent = (int)strtol(strchr(digits, 'e') + 1, NULL, 10);
    const char *decimals = strchr(digits, 'e') - (DIGITS - 1);
    int count = DIGITS - 1;
    while (count > 0 && decimals[count - 1] == '0')
        count--;
    kal_text_add(text, "%s%c%s%.*s", number < 0.0 ? "-" : "", digits[0], count ? "." : "",
                 count, decimals);
    if (exponent)
        kal_text_add(text, "e%d", exponent);
}

// --- what an entry may be ----------------------------------------------------------------

static const char *find_fault_of_string(const char *string, enum field field)
{
    size_t length = 0;

    if (!string || string[0] == '\0')
        return field == FIELD_REASON ? NULL : "a string is missing or empty";
    for (; string[length]; length++) {
        if (string[length] < ' ' || string[length] > '~')
            return "a string holds a character that is not printable ASCII";
        if (length == KAL_WISDOM_MAX_STRING)
            return "a string is longer than 4096 characters";
    }
    if (field == FIELD_NUMBERS && kal_wisdom_parse_numbers(string, NULL, 0) < 0)
        return "the value is no list of decimal numbers with spaces between";
    return NULL;
}

const char *kal_wisdom_find_fault(const kallima_wisdom_entry *entry)
{
    kallima_wisdom_entry copy = *entry;

    if (!is_kind(entry->kind))
        return "the kind is out of range";
    for (const enum field *f = forms[entry->kind].field; *f; f++) {
        const char *fault = NULL;
        if (is_string(*f))
            fault = find_fault_of_string(*string_of(&copy, *f), *f);
        else if (*f == FIELD_EFFORT)
            fault = is_effort(entry->effort) ? NULL : "the effort is out of range";
        else if (!(*number_of(&copy, *f) >= 0.0 &&
                   *number_of(&copy, *f) <= fields[*f].largest))
            fault = "a time or a spread is out of range";
        if (fault)
            return fault;
    }
    return NULL;
}

kallima_wisdom_entry kal_wisdom_normalise(const kallima_wisdom_entry *entry)
{
    kallima_wisdom_entry copy = *entry;
    kallima_wisdom_entry kept = {
        .kind = entry->kind,
        .value = "",
        .reason = "",
    };

    for (const enum field *f = forms[entry->kind].field; *f; f++) {
        if (*f == FIELD_EFFORT)
            kept.effort = entry->effort;
        else if (!is_string(*f))
            *number_of(&kept, *f) = round_number(*number_of(&copy, *f), *f);
        else if (*string_of(&copy, *f))
            *string_of(&kept, *f) = *string_of(&copy, *f);
    }
    return kept;
}

// --- writing -----------------------------------------------------------------------------

static void print_string(struct kal_text *text, const char *string)
{
    kal_text_add(text, " \"");
    while (*string) {
        const size_t plain = strcspn(string, "\"\\");
        kal_text_add(text, "%.*s", (int)plain, string);
        string += plain;
        if (*string)
            kal_text_add(text, "\\%c", *string++);
    }
    kal_text_add(text, "\"");
}

void kal_wisdom_print_head(struct kal_text *text)
{
    kal_text_add(text, HEAD " %d\n", KAL_WISDOM_FORMAT);
}

void kal_wisdom_print_entry(struct kal_text *text, const kallima_wisdom_entry *entry)
{
    kallima_wisdom_entry copy = *entry;

    kal_text_add(text, "%s", forms[entry->kind].name);
    for (const enum field *f = forms[entry->kind].field; *f; f++) {
        if (is_string(*f))
            print_string(text, *string_of(&copy, *f));
        else if (*f == FIELD_EFFORT)
            kal_text_add(text, " %s", efforts[entry->effort]);
        else
            print_number(text, *number_of(&copy, *f), *f);
    }
    kal_text_add(text, "\n");
}

void kal_wisdom_print(struct kal_text *text, const kallima_wisdom *wisdom)
{
    kal_wisdom_print_head(text);
    for (int64_t i = 0; i < wisdom->count; i++)
        kal_wisdom_print_entry(text, &wisdom->record[i]->entry);
}

// --- reading a line ----------------------------------------------------------------------

struct reader {
    const char *start, *at, *end; // of the line; a newline or more stands at `end`
    char *string;                 // where the next string is put
    char *reason;                 // 256 bytes: why the line is refused
};

static bool refuse(struct reader *r, const char *fmt, ...) KAL_PRINTF(2, 3);

static bool refuse(struct reader *r, const char *fmt, ...)
{
    enum { REASON_BYTES = 256 };
    va_list args;

    const int length = snprintf(r->reason, REASON_BYTES,
                                "character %lld: ", (long long)(r->at - r->start) + 1);
    va_start(args, fmt);
    vsnprintf(r->reason + length, REASON_BYTES - (size_t)length, fmt, args);
    va_end(args);
    return false;
}

static bool accept(struct reader *r, char c)
{
    if (r->at == r->end || *r->at != c)
        return false;
    r->at++;
    return true;
}

static bool read_string(struct reader *r, const char **out, const char *name)
{
    size_t length = 0;

    *out = r->string;
    if (!accept(r, '"'))
        return refuse(r, "%s must begin with a quotation mark", name);
    while (!accept(r, '"')) {
        const bool is_escape = accept(r, '\\');
        if (r->at == r->end)
            return refuse(r, "%s has no closing quotation mark", name);
        if (is_escape && *r->at != '"' && *r->at != '\\')
            return refuse(r, "%s: only \" and \\ may stand behind a \\", name);
        if (length++ == KAL_WISDOM_MAX_STRING)
            return refuse(r, "%s is longer than %d characters", name,
                          KAL_WISDOM_MAX_STRING);
        *r->string++ = *r->at++;
    }
    *r->string++ = '\0';
    return true;
}

// Digits, then perhaps a point and a few decimals.
static bool read_number(struct reader *r, double *out, enum field field)
{
    const char *name = fields[field].name;
    double units = 0.0;
    int decimals = 0, digits = 0;

    for (; r->at < r->end && is_digit(*r->at) && digits < 15; r->at++, digits++)
        units = 10.0 * units + (*r->at - '0');
    if (digits == 0)
        return refuse(r, "%s must be a decimal number", name);
    if (accept(r, '.')) {
        for (; r->at < r->end && is_digit(*r->at) && decimals < fields[field].decimals;
             r->at++, decimals++)
            units = 10.0 * units + (*r->at - '0');
        if (decimals == 0)
            return refuse(r, "%s must have digits behind its point", name);
    }
    for (; decimals < fields[field].decimals; decimals++)
        units *= 10.0;
    *out = units / scale_of(field);
    if (*out > fields[field].largest)
        return refuse(r, "%s must be at most %.0f", name, fields[field].largest);
    return true;
}

// A word of letters; its index in `names`, or -1.
static int read_word(struct reader *r, const char *(*name_of)(int32_t), int count)
{
    for (int i = 1; i < count; i++) {
        const size_t length = strlen(name_of(i));
        if ((size_t)(r->end - r->at) >= length &&
            memcmp(r->at, name_of(i), length) == 0 &&
            (r->at + length == r->end || r->at[length] == ' ')) {
            r->at += length;
            return i;
        }
    }
    return -1;
}

static bool read_effort(struct reader *r, kallima_wisdom_entry *entry)
{
    entry->effort = read_word(r, kal_wisdom_effort_name, KALLIMA_EFFORT_COUNT);
    return entry->effort > 0 ||
           refuse(r, "the effort must be measure, patient or exhaustive");
}

static bool read_field(struct reader *r, kallima_wisdom_entry *entry, enum field field)
{
    if (!accept(r, ' '))
        return refuse(r, "%s is missing, behind one space", fields[field].name);
    if (field == FIELD_EFFORT)
        return read_effort(r, entry);
    if (!is_string(field))
        return read_number(r, number_of(entry, field), field);

    const char **string = string_of(entry, field);
    if (!read_string(r, string, fields[field].name))
        return false;
    const char *fault = find_fault_of_string(*string, field);
    return !fault || refuse(r, "%s: %s", fields[field].name, fault);
}

static bool check_characters(struct reader *r)
{
    if (r->end - r->start > KAL_WISDOM_MAX_LINE)
        return refuse(r, "the line is longer than %d bytes", KAL_WISDOM_MAX_LINE);
    for (; r->at < r->end; r->at++) {
        if (*r->at < ' ' || *r->at > '~')
            return refuse(r, "byte 0x%02x is not printable ASCII", (unsigned char)*r->at);
    }
    r->at = r->start;
    return true;
}

static bool read_entry(struct reader *r, kallima_wisdom_entry *entry)
{
    *entry = (kallima_wisdom_entry){ .value = "", .reason = "" };
    if (!check_characters(r))
        return false;
    const int kind = read_word(r, kal_wisdom_kind_name, KALLIMA_WISDOM_KIND_COUNT);
    if (kind < 0)
        return refuse(r, "the line must begin with plan, pass, bad, fact or trial");
    entry->kind = kind;
    for (const enum field *f = forms[kind].field; *f; f++) {
        if (!read_field(r, entry, *f))
            return false;
    }
    return r->at == r->end || refuse(r, "nothing may follow here");
}

// --- reading a text ----------------------------------------------------------------------

struct text_reader {
    kallima_wisdom *wisdom;
    const struct kal_wisdom_source *source;
    struct kal_wisdom_faults *faults;
    char *strings; // of one line
    int64_t line;
};

static void report(struct text_reader *t, int64_t line, const char *reason)
{
    const struct kal_wisdom_source *source = t->source;

    if (t->faults->count++ == 0) {
        t->faults->line = line;
        snprintf(t->faults->reason, sizeof t->faults->reason, "%s", reason);
    }
    if (source->report)
        source->report(source->user, source->place, line, reason);
}

static kallima_status refuse_whole(struct text_reader *t, int64_t line,
                                   const char *reason)
{
    t->faults->is_whole = true;
    report(t, line, reason);
    return KALLIMA_OK;
}

// The first line, which may stand again where texts were put behind each other.
static bool is_head(const char *line, size_t length)
{
    char head[64];
    const int expected = snprintf(head, sizeof head, HEAD " %d", KAL_WISDOM_FORMAT);
    return length == (size_t)expected && memcmp(line, head, length) == 0;
}

static kallima_status refuse_head(struct text_reader *t, const char *line, size_t length)
{
    char reason[128];
    const size_t name = strlen(HEAD " ");
    int digits = 0;

    if (length > name && memcmp(line, HEAD " ", name) == 0) {
        while (digits < 20 && name + (size_t)digits < length &&
               is_digit(line[name + (size_t)digits]))
            digits++;
    }
    if (digits > 0 && name + (size_t)digits == length)
        snprintf(reason, sizeof reason, "its format is %.*s; this library reads %d",
                 digits, line + name, KAL_WISDOM_FORMAT);
    else
        snprintf(reason, sizeof reason,
                 "it is no wisdom: the first line must be " HEAD " %d",
                 KAL_WISDOM_FORMAT);
    return refuse_whole(t, 1, reason);
}

static kallima_status read_line(struct text_reader *t, const char *line, size_t length)
{
    char reason[256];
    struct reader r = { line, line, line + length, t->strings, reason };
    kallima_wisdom_entry entry;

    if (is_head(line, length))
        return KALLIMA_OK;
    if (!read_entry(&r, &entry)) {
        report(t, t->line, reason);
        return KALLIMA_OK;
    }
    kal_wisdom_lock(t->wisdom);
    const kallima_status status =
        kal_wisdom_insert(t->wisdom, &entry, t->source->is_system);
    kal_wisdom_unlock(t->wisdom);
    if (status == KALLIMA_E_WISDOM)
        report(t, t->line, "there is no room for more entries");
    return status == KALLIMA_E_WISDOM ? KALLIMA_OK : status;
}

static kallima_status read_lines(struct text_reader *t)
{
    const char *at = t->source->text, *end = at + t->source->length;

    for (t->line = 1; at < end; t->line++) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        const size_t length = (size_t)((newline ? newline : end) - at);
        if (t->line == 1 && !is_head(at, length))
            return refuse_head(t, at, length);
        if (!newline) {
            report(t, t->line, "the line is cut short: it has no newline at its end");
            return KALLIMA_OK;
        }
        KAL_TRY(read_line(t, at, length));
        at = newline + 1;
    }
    return KALLIMA_OK;
}

kallima_status kal_wisdom_read(kallima_wisdom *wisdom,
                               const struct kal_wisdom_source *source,
                               struct kal_wisdom_faults *faults)
{
    struct text_reader t = { wisdom, source, faults, NULL, 0 };
    void *strings;

    *faults = (struct kal_wisdom_faults){ 0 };
    if (source->length > KAL_WISDOM_MAX_BYTES)
        return refuse_whole(&t, 0, "it is larger than 64 MiB");
    KAL_TRY(kal_alloc(&wisdom->host, &strings, KAL_WISDOM_MAX_LINE + 16, 1));
    t.strings = strings;
    const kallima_status status = read_lines(&t);
    kal_free(&wisdom->host, strings);
    return status;
}

kallima_status kal_wisdom_log_faults(const kallima_wisdom *wisdom, const char *place,
                                     const struct kal_wisdom_faults *faults)
{
    char line[32] = "", more[64] = "";

    if (faults->count == 0)
        return KALLIMA_OK;
    if (faults->line)
        snprintf(line, sizeof line, "line %lld: ", (long long)faults->line);
    if (faults->count > 1)
        snprintf(more, sizeof more, "; %lld lines are refused", (long long)faults->count);
    return kal_fail(&wisdom->host, KALLIMA_E_WISDOM, "wisdom: %.400s: %s%s%s", place,
                    line, faults->reason, more);
}
