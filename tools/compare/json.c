// SPDX-License-Identifier: MIT
#include "json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// A line under way.
struct reader {
    char *at;
    const char *fault; // NULL: none so far
};

static bool fail(struct reader *reader, const char *fault)
{
    if (!reader->fault)
        reader->fault = fault;
    return false;
}

static void skip_blanks(struct reader *reader)
{
    reader->at += strspn(reader->at, " \t");
}

static bool take(struct reader *reader, char wanted)
{
    skip_blanks(reader);
    if (*reader->at != wanted)
        return false;
    reader->at++;
    return true;
}

// --- texts ------------------------------------------------------------------------------

// A code point below 0x10000 as UTF-8.
static char *put_code(char *to, unsigned code)
{
    if (code < 0x80) {
        *to++ = (char)code;
    } else if (code < 0x800) {
        *to++ = (char)(0xc0 | code >> 6);
        *to++ = (char)(0x80 | (code & 0x3f));
    } else {
        *to++ = (char)(0xe0 | code >> 12);
        *to++ = (char)(0x80 | (code >> 6 & 0x3f));
        *to++ = (char)(0x80 | (code & 0x3f));
    }
    return to;
}

// Reads what follows a backslash; NULL: it is no escape.
static char *take_escape(struct reader *reader, char *to)
{
    static const char names[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
    const char letter = *reader->at;
    const char *found = letter ? strchr(names, letter) : NULL;
    if (found) {
        reader->at++;
        *to = values[found - names];
        return to + 1;
    }
    if (letter != 'u' || strspn(reader->at + 1, "0123456789abcdefABCDEF") < 4)
        return NULL;
    char digits[5] = "";
    memcpy(digits, reader->at + 1, 4);
    const unsigned code = (unsigned)strtoul(digits, NULL, 16);
    if (code == 0 || (code >= 0xd800 && code < 0xe000))
        return NULL; // no end of a text inside it, and no halves of a pair
    reader->at += 5;
    return put_code(to, code);
}

// In place: what is read is never longer than what it is read from.
static const char *take_text(struct reader *reader)
{
    if (!take(reader, '"')) {
        fail(reader, "a text in quotation marks is missing");
        return NULL;
    }
    const char *text = reader->at;
    char *to = reader->at;
    while (*reader->at != '"') {
        const unsigned char c = (unsigned char)*reader->at;
        if (c < 0x20) {
            fail(reader, c ? "a control character in a text" : "a text does not end");
            return NULL;
        }
        reader->at++;
        if (c != '\\') {
            *to++ = (char)c;
        } else if (!(to = take_escape(reader, to))) {
            fail(reader, "an escape that is none");
            return NULL;
        }
    }
    reader->at++;
    *to = '\0';
    return text;
}

// --- values -----------------------------------------------------------------------------

static bool take_word(struct reader *reader, const char *word)
{
    const size_t length = strlen(word);
    if (strncmp(reader->at, word, length) != 0)
        return false;
    reader->at += length;
    return true;
}

static bool take_number(struct reader *reader, double *number)
{
    char *end;
    if (strspn(reader->at, "-0123456789") == 0)
        return fail(reader, "a value that is no text, number, true, false or null");
    *number = strtod(reader->at, &end);
    if (end == reader->at || !isfinite(*number) ||
        strspn(reader->at, "-+.eE0123456789") != (size_t)(end - reader->at))
        return fail(reader, "a number that is none");
    reader->at = end;
    return true;
}

static bool take_value(struct reader *reader, struct json_member *member)
{
    skip_blanks(reader);
    if (*reader->at == '"') {
        member->type = JSON_TEXT;
        return (member->text = take_text(reader)) != NULL;
    }
    member->type = JSON_TRUTH;
    member->number = *reader->at == 't';
    if (take_word(reader, "true") || take_word(reader, "false"))
        return true;
    member->type = JSON_NULL;
    if (take_word(reader, "null"))
        return true;
    member->type = JSON_NUMBER;
    return take_number(reader, &member->number);
}

static bool take_member(struct reader *reader, struct json *json)
{
    struct json_member member = { .name = take_text(reader) };
    if (!member.name)
        return false;
    if (!take(reader, ':'))
        return fail(reader, "a colon is missing");
    if (!take_value(reader, &member))
        return false;
    if (json->count == JSON_MAX_MEMBERS)
        return fail(reader, "too many members");
    if (json_find(json, member.name))
        return fail(reader, "a member twice");
    json->member[json->count++] = member;
    return true;
}

static bool take_object(struct reader *reader, struct json *json)
{
    if (!take(reader, '{'))
        return fail(reader, "no object");
    if (take(reader, '}'))
        return true;
    do {
        if (!take_member(reader, json))
            return false;
    } while (take(reader, ','));
    return take(reader, '}') || fail(reader, "the object does not end");
}

bool json_parse(struct json *json, char *line, char *why, size_t capacity)
{
    struct reader reader = { .at = line };
    json->count = 0;
    if (take_object(&reader, json)) {
        skip_blanks(&reader);
        if (*reader.at == '\0')
            return true;
        fail(&reader, "more than an object");
    }
    snprintf(why, capacity, "%s", reader.fault);
    return false;
}

const struct json_member *json_find(const struct json *json, const char *name)
{
    for (int i = 0; i < json->count; i++) {
        if (strcmp(json->member[i].name, name) == 0)
            return &json->member[i];
    }
    return NULL;
}

const char *json_text(const struct json *json, const char *name)
{
    const struct json_member *member = json_find(json, name);
    return member && member->type == JSON_TEXT ? member->text : "";
}

double json_number(const struct json *json, const char *name)
{
    const struct json_member *member = json_find(json, name);
    return member && member->type == JSON_NUMBER ? member->number : NAN;
}

// --- printing ---------------------------------------------------------------------------

static void print_quoted(FILE *file, const char *text)
{
    putc('"', file);
    for (; *text; text++) {
        const unsigned char c = (unsigned char)*text;
        if (c < 0x20)
            fprintf(file, "\\u%04x", c);
        else
            fprintf(file, c == '"' || c == '\\' ? "\\%c" : "%c", c);
    }
    putc('"', file);
}

static void print_name(FILE *file, bool *first, const char *name)
{
    fprintf(file, "%s\"%s\": ", *first ? "" : ", ", name);
    *first = false;
}

void json_print_text(FILE *file, bool *first, const char *name, const char *text)
{
    print_name(file, first, name);
    print_quoted(file, text);
}

void json_print_number(FILE *file, bool *first, const char *name, double number)
{
    if (!isfinite(number))
        return;
    print_name(file, first, name);
    const bool is_whole = number == floor(number) && fabs(number) < 1e15;
    fprintf(file, is_whole ? "%.0f" : "%.6g", number);
}

void json_print_truth(FILE *file, bool *first, const char *name, bool truth)
{
    print_name(file, first, name);
    fputs(truth ? "true" : "false", file);
}
