// SPDX-License-Identifier: MIT
#include "bench_problem.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench_side.h"
#include "cli.h"

const char *const problem_kinds[] = { "c2c", "r2c", "c2r" };
const char *const problem_precisions[] = { "f32", "f64" };

enum { MAX_WORDS = 9, MAX_STRIDE = 1 << 24 };

bool problem_parse_lengths(const char *text, kallima_desc *desc)
{
    int rank = 0;
    for (;; text++) {
        char *end;
        errno = 0;
        const long long n = strtoll(text, &end, 10);
        if (rank == KALLIMA_MAX_RANK || end == text || *text == '+' || *text == ' ' ||
            errno != 0 || n < 1)
            return false;
        desc->n[rank++] = n;
        text = end;
        if (*text != 'x')
            break;
    }
    desc->rank = rank;
    return *text == '\0';
}

bool problems_add(struct problems *problems, const kallima_desc *desc)
{
    if (problems->count == problems->capacity) {
        const int capacity = problems->capacity ? 2 * problems->capacity : 64;
        kallima_desc *grown =
            realloc(problems->desc, (size_t)capacity * sizeof *problems->desc);
        if (!grown)
            return false;
        problems->desc = grown;
        problems->capacity = capacity;
    }
    problems->desc[problems->count++] = *desc;
    return true;
}

void problems_clear(struct problems *problems)
{
    free(problems->desc);
    *problems = (struct problems){ 0 };
}

// How both sides lie in memory. Zero: packed.
struct spacing {
    int64_t stride, distance;
};

// The number behind "name="; false: it is another word, or no number.
static bool parse_spacing(const char *word, const char *name, int64_t *number)
{
    const size_t length = strlen(name);
    return strncmp(word, name, length) == 0 &&
           cli_parse_int64(word + length, 1, MAX_STRIDE, number);
}

static bool parse_word(const char *word, kallima_desc *desc, struct spacing *spacing)
{
    if (strcmp(word, "inverse") == 0 && desc->kind != KALLIMA_R2C)
        desc->direction = KALLIMA_INVERSE;
    else if (strcmp(word, "in-place") == 0)
        desc->placement = KALLIMA_IN_PLACE;
    else if (strcmp(word, "planar") == 0)
        desc->in.format = desc->out.format = KALLIMA_PLANAR;
    else
        return parse_spacing(word, "stride=", &spacing->stride) ||
               parse_spacing(word, "distance=", &spacing->distance);
    return true;
}

// Spread out what `side` says of a packed side.
static void spread(kallima_layout *layout, const struct side *side,
                   const struct spacing *spacing)
{
    const int64_t stride = spacing->stride ? spacing->stride : 1;
    for (int i = 0; i < side->rank; i++)
        layout->stride[i] = side->stride[i] * stride;
    layout->batch_stride =
        spacing->distance ? spacing->distance : side->batch_stride * stride;
}

static void set_spacing(kallima_desc *desc, const struct spacing *spacing)
{
    struct side in, out;
    if (spacing->stride == 0 && spacing->distance == 0)
        return;
    side_init(&in, desc, true);
    side_init(&out, desc, false);
    spread(&desc->in, &in, spacing);
    spread(&desc->out, &out, spacing);
}

// Returns NULL, or the word that cannot be read.
static const char *parse_words(char *const *word, int count, kallima_desc *desc)
{
    struct spacing spacing = { 0 };
    int64_t batch;
    const int kind = cli_find(word[0], problem_kinds, KALLIMA_KIND_COUNT);
    const int precision = cli_find(word[1], problem_precisions, KALLIMA_PRECISION_COUNT);

    if (kind < 0)
        return word[0];
    if (precision < 0)
        return word[1];
    if (!problem_parse_lengths(word[2], desc))
        return word[2];
    if (!cli_parse_int64(word[3], 1, INT64_MAX, &batch))
        return word[3];
    desc->kind = kind;
    desc->precision = precision;
    desc->batch = batch;
    if (kind == KALLIMA_C2R)
        desc->direction = KALLIMA_INVERSE;
    for (int i = 4; i < count; i++) {
        if (!parse_word(word[i], desc, &spacing))
            return word[i];
    }
    set_spacing(desc, &spacing);
    return NULL;
}

static int split(char *line, char **word)
{
    int count = 0;
    line[strcspn(line, "#")] = '\0';
    for (char *rest = line, *next; (next = strtok_r(rest, " \t\r\n", &rest));) {
        if (count == MAX_WORDS)
            return MAX_WORDS + 1;
        word[count++] = next;
    }
    return count;
}

bool problem_parse(char *line, kallima_desc *desc, char *why, size_t capacity)
{
    char *word[MAX_WORDS] = { NULL };
    const int count = split(line, word);

    *desc = (kallima_desc){ 0 };
    if (count == 0)
        return true;
    if (count < 4 || count > MAX_WORDS) {
        snprintf(why, capacity, "a case is: kind precision lengths batch");
        return false;
    }
    const char *bad = parse_words(word, count, desc);
    if (bad)
        snprintf(why, capacity, "cannot read \"%s\"", bad);
    return !bad;
}

static bool read_line(struct problems *problems, char *line, char *why, size_t capacity)
{
    kallima_desc desc;
    if (line[0] == '[')
        return true;
    if (!problem_parse(line, &desc, why, capacity))
        return false;
    if (desc.rank == 0 || problems_add(problems, &desc))
        return true;
    snprintf(why, capacity, "no memory left");
    return false;
}

bool problems_read(struct problems *problems, const char *path, char *why,
                   size_t capacity)
{
    char line[512], reason[256];
    FILE *file = fopen(path, "r");
    if (!file) {
        snprintf(why, capacity, "%s: %s", path, strerror(errno));
        return false;
    }
    bool ok = true;
    for (int number = 1; ok && fgets(line, sizeof line, file); number++) {
        ok = read_line(problems, line, reason, sizeof reason);
        if (!ok)
            snprintf(why, capacity, "%s: line %d: %s", path, number, reason);
    }
    if (ok && ferror(file)) {
        snprintf(why, capacity, "%s: %s", path, strerror(errno));
        ok = false;
    }
    fclose(file);
    return ok;
}

void problem_print_lengths(const kallima_desc *desc, char *text)
{
    int used = snprintf(text, PROBLEM_TEXT, "%lld", (long long)desc->n[0]);
    for (int i = 1; i < desc->rank; i++)
        used += snprintf(text + used, (size_t)(PROBLEM_TEXT - used), "x%lld",
                         (long long)desc->n[i]);
}

void problem_print_layout(const kallima_desc *desc, char *text)
{
    kallima_desc packed = *desc;
    struct side in, apart;
    memset(&packed.in, 0, sizeof packed.in);
    side_init(&in, desc, true);
    side_init(&apart, &packed, true);
    const int64_t stride = in.stride[in.rank - 1];
    const bool has_distance =
        in.batch > 1 && in.batch_stride != stride * apart.batch_stride;
    int used = snprintf(text, PROBLEM_TEXT, "%s",
                        desc->in.format == KALLIMA_PLANAR ? " planar" : "");
    if (stride != 1)
        used += snprintf(text + used, (size_t)(PROBLEM_TEXT - used), " stride=%lld",
                         (long long)stride);
    if (has_distance)
        snprintf(text + used, (size_t)(PROBLEM_TEXT - used), " distance=%lld",
                 (long long)in.batch_stride);
}

void problem_print(const kallima_desc *desc, char *text)
{
    char lengths[PROBLEM_TEXT], layout[PROBLEM_TEXT];
    const bool inverse = desc->kind == KALLIMA_C2C && desc->direction == KALLIMA_INVERSE;
    problem_print_lengths(desc, lengths);
    problem_print_layout(desc, layout);
    snprintf(text, PROBLEM_TEXT, "%s %s %.150s %lld%s%s%.48s", problem_kinds[desc->kind],
             problem_precisions[desc->precision], lengths,
             (long long)(desc->batch ? desc->batch : 1), inverse ? " inverse" : "",
             desc->placement == KALLIMA_IN_PLACE ? " in-place" : "", layout);
}
