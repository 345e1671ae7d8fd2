// SPDX-License-Identifier: MIT
#include "cases.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

const char *const preset_names[] = { "quick", "standard", "paper" };

// --- the presets ------------------------------------------------------------------------

// Lengths of each preset, and how many points a batch has at least; 0: single transforms.
struct sweep {
    const char *id, *title;
    int kind, precision, placement;
    int64_t points[PRESET_COUNT];
    const char *lengths[PRESET_COUNT]; // NULL: the preset has none of it
};

#define POWERS_TO_262144 \
    "2 4 8 16 32 64 128 256 512 1024 2048 4096 8192 16384 32768 65536 131072 262144"
#define POWERS_TO_16777216 \
    POWERS_TO_262144 " 524288 1048576 2097152 4194304 8388608 16777216"
#define SQUARES_TO_2048 "64x64 128x128 256x256 512x512 1024x1024 2048x2048"
#define CUBES           "32x32x32 64x64x64 128x128x128 256x256x256"
#define OTHER_CUBES     "60x60x60 100x100x100 168x168x168 200x200x200 243x243x243 300x300x300"
#define FEW_POWERS      "16 64 256 1024 4096 16384 65536 262144 1048576"
#define MIXED           "12 15 30 60 100 120 243 360 625 1000 1536 3000 10000 15625 100000"
#define PRIMES          "17 31 53 101 257 1009 4099 10007 65537"
#define POINTS(q, s, p)                                         \
    {                                                           \
        INT64_C(1) << (q), INT64_C(1) << (s), INT64_C(1) << (p) \
    }

enum { F32 = KALLIMA_F32, F64 = KALLIMA_F64, C2C = KALLIMA_C2C, R2C = KALLIMA_R2C };
enum { APART = KALLIMA_OUT_OF_PLACE, WITHIN = KALLIMA_IN_PLACE };

#define WORK_SIZES "1 16 32 64 128 256 512"
// 16 x 16 x 16 points: the lines of a group in the first step and in the others, whose passes may
// share a launch; runs of memory shorter than `run` bytes pass through local memory.
#define THREE_STEPS(first, others, run)                                                  \
    "four-step(local(16, lines=" first ", run=" run ", cluster=0), four-step(local(16, " \
    "lines=" others ", run=" run "), local(16, lines=" others ", run=" run ")))"

// clang-format off
// In the order of their importance. Batched and single transforms of one dimension and squares
// are what tables of the literature have; the others are where libraries differ.
static const struct sweep sweeps[] = {
    { "1d-batch", "1D powers of two in batches, f32", C2C, F32, APART, POINTS(18, 24, 26),
      { "16 64 256 1024 4096 16384 65536 262144", POWERS_TO_16777216, POWERS_TO_16777216 " 33554432 67108864" } },
    { "2d", "2D images, one at a time, f32", C2C, F32, APART, { 0 },
      { "64x64 256x256 512x512 1024x1024", SQUARES_TO_2048 " 4096x4096", SQUARES_TO_2048 " 4096x4096 8192x8192" } },
    { "1d", "1D powers of two, one at a time, f32", C2C, F32, APART, { 0 },
      { "16 64 256 1024 4096 16384 65536 262144 1048576", POWERS_TO_16777216, POWERS_TO_16777216 " 33554432 67108864" } },
    { "3d", "3D powers of two, one at a time, f32", C2C, F32, APART, { 0 },
      { "32x32x32 64x64x64", CUBES, CUBES " 512x512x512" } },
    { "1d-mixed", "1D lengths of several factors in batches, f32", C2C, F32, APART, POINTS(17, 23, 26),
      { "15 60 100 1000 10000", MIXED, MIXED } },
    { "1d-f64", "1D powers of two in batches, f64", C2C, F64, APART, POINTS(17, 23, 25),
      { "64 1024 16384", FEW_POWERS, POWERS_TO_16777216 } },
    { "1d-real", "1D real powers of two in batches, f32", R2C, F32, APART, POINTS(18, 24, 26),
      { "256 4096 65536", FEW_POWERS, POWERS_TO_16777216 } },
    { "1d-prime", "1D prime lengths in batches, f32", C2C, F32, APART, POINTS(18, 22, 24),
      { "17 101 1009", PRIMES, PRIMES " 1000003" } },
    { "1d-in-place", "1D powers of two in batches in place, f32", C2C, F32, WITHIN, POINTS(18, 24, 26),
      { "1024 65536", FEW_POWERS, POWERS_TO_16777216 } },
    { "3d-other", "3D, lengths that are no powers of two, one at a time, f32", C2C, F32, APART, { 0 },
      { NULL, "60x60x60 100x100x100 168x168x168 200x200x200", OTHER_CUBES } },
    { "2d-f64", "2D images, one at a time, f64", C2C, F64, APART, { 0 },
      { NULL, "256x256 1024x1024 2048x2048", SQUARES_TO_2048 " 4096x4096" } },
    { "3d-f64", "3D powers of two, one at a time, f64", C2C, F64, APART, { 0 },
      { NULL, "64x64x64 128x128x128", CUBES } },
    { "3d-real", "3D real, one at a time, f32", R2C, F32, APART, { 0 },
      { NULL, "64x64x64 128x128x128", CUBES " 60x60x60 100x100x100 200x200x200" } },
};

// What one choice is worth: a case in variants, of kernels alone.
struct choice {
    const char *id, *title;
    int from; // the first preset that has it
    int64_t n;
    const char *pattern; // of a recipe; the value stands at each @
    const char *values;  // NULL: `pattern` has the variants, as name=recipe, by semicolons
};

static const struct choice choices[] = {
    { "work-size-16", "Size of a work-group: one step of 16 points a work-item, without exchange, 2^24 points",
      PRESET_STANDARD, 16, "local(16, points=16, lines=@, run=0)", WORK_SIZES },
    { "work-size-8", "Size of a work-group: one step of 8 points a work-item, without exchange, 2^24 points",
      PRESET_STANDARD, 8, "local(8, points=8, lines=@, run=0)", WORK_SIZES },
    { "work-size-first", "Size of a work-group in the first of three steps: 4096 points, 2^24 in all",
      PRESET_PAPER, 4096, THREE_STEPS("@", "64", "0"), WORK_SIZES },
    { "work-size-rest", "Size of a work-group in the second and third of three steps: 4096 points, 2^24 in all",
      PRESET_PAPER, 4096, THREE_STEPS("64", "@", "0"), "1 16 32 64 128 256" },
    { "registers-256", "Registers alone or local memory between steps: 256 points, 2^24 in all", PRESET_STANDARD, 256,
      "local=local(16.16);registers=four-step(local(16, run=0, cluster=0), local(16, run=0))", NULL },
    { "registers-4096", "Registers alone or local memory between steps: 4096 points, 2^24 in all", PRESET_STANDARD, 4096,
      "local=local(16.16.16);"
      "registers=four-step(local(16, run=0, cluster=0), four-step(local(16, run=0), local(16, run=0)))", NULL },
    { "registers-65536", "Registers alone or local memory between steps: 65536 points, 2^24 in all", PRESET_STANDARD, 65536,
      "local=four-step(local(16.16, cluster=0), local(16.16));"
      "registers=four-step(local(16, run=0, cluster=0), four-step(local(16, run=0), "
      "four-step(local(16, run=0), local(16, run=0))))", NULL },
    { "transpose-65536", "Transposition between passes: lines of a tile, 65536 points, 2^24 in all", PRESET_STANDARD, 65536,
      "four-step(local(16.16, lines=@, cluster=0), local(16.16, lines=@))", "1 2 4 8 16" },
    { "transpose-way", "Transposition between passes: how, 4096 points in three steps, 2^24 in all", PRESET_STANDARD, 4096,
      "elements=" THREE_STEPS("1", "1", "0") ";tiles=" THREE_STEPS("16", "16", "0") ";"
      "local-memory=" THREE_STEPS("16", "16", "4096") ";none=local(16.16.16)", NULL },
};
// clang-format on

enum { CHOICE_POINTS = 1 << 24, CHOICE_LEVEL = 2 };

// --- the list ---------------------------------------------------------------------------

static bool add_group(struct cases *cases, const char *id, const char *title,
                      const char *shows)
{
    struct group *grown =
        realloc(cases->group, ((size_t)cases->groups + 1) * sizeof *cases->group);
    if (!grown)
        return false;
    cases->group = grown;
    struct group *group = &cases->group[cases->groups++];
    record_clear(RECORD_GROUP, group);
    snprintf(group->id, sizeof group->id, "%s", id);
    snprintf(group->title, sizeof group->title, "%s", title);
    snprintf(group->shows, sizeof group->shows, "%s", shows);
    return true;
}

// To the last group.
static struct compare_case *add_case(struct cases *cases)
{
    struct compare_case *grown =
        realloc(cases->one, ((size_t)cases->count + 1) * sizeof *cases->one);
    if (!grown)
        return NULL;
    cases->one = grown;
    struct compare_case *one = &cases->one[cases->count++];
    *one = (struct compare_case){ .group = cases->groups - 1 };
    return one;
}

// How coarse a picture needs item `i` of `count`: 0 for the ends, 1 for the middle, ...
static int level_of(int i, int count)
{
    int stride = 1, level = 0;
    if (i == 0 || i == count - 1)
        return 0;
    while (stride < count)
        stride *= 2;
    for (; i % stride != 0; stride /= 2)
        level++;
    return level;
}

// The last group's cases are spread over levels as they stand.
static void set_levels(struct cases *cases, int least)
{
    int first = cases->count;
    while (first > 0 && cases->one[first - 1].group == cases->groups - 1)
        first--;
    for (int i = first; i < cases->count; i++)
        cases->one[i].level = least + level_of(i - first, cases->count - first);
}

void cases_clear(struct cases *cases)
{
    free(cases->one);
    free(cases->group);
    *cases = (struct cases){ 0 };
}

void cases_sort(struct cases *cases)
{
    // Insertion keeps equal ones in their order, and the list is short.
    for (int i = 1; i < cases->count; i++) {
        const struct compare_case one = cases->one[i];
        int to = i;
        for (; to > 0 && (cases->one[to - 1].level > one.level ||
                          (cases->one[to - 1].level == one.level &&
                           cases->one[to - 1].group > one.group));
             to--)
            cases->one[to] = cases->one[to - 1];
        cases->one[to] = one;
    }
}

// --- filling it -------------------------------------------------------------------------

static bool add_length(struct cases *cases, const struct sweep *sweep, const char *text,
                       int64_t points)
{
    struct compare_case *one = add_case(cases);
    if (!one)
        return false;
    int64_t n = 1;
    problem_parse_lengths(text, &one->desc);
    for (int i = 0; i < one->desc.rank; i++)
        n *= one->desc.n[i];
    one->desc.kind = sweep->kind;
    one->desc.precision = sweep->precision;
    one->desc.placement = sweep->placement;
    one->desc.batch = points > n ? points / n : 1;
    return true;
}

static bool add_sweep(struct cases *cases, const struct sweep *sweep, int preset)
{
    char text[512];
    if (!sweep->lengths[preset])
        return true;
    if (!add_group(cases, sweep->id, sweep->title, "size"))
        return false;
    snprintf(text, sizeof text, "%s", sweep->lengths[preset]);
    for (char *rest = text, *next; (next = strtok_r(rest, " ", &rest));) {
        if (!add_length(cases, sweep, next, sweep->points[preset]))
            return false;
    }
    set_levels(cases, 0);
    return true;
}

static bool add_variant(struct cases *cases, const struct choice *choice,
                        const char *name, const char *pattern)
{
    struct compare_case *one = add_case(cases);
    size_t used = 0;
    if (!one)
        return false;
    one->desc.rank = 1;
    one->desc.n[0] = choice->n;
    one->desc.batch = CHOICE_POINTS / choice->n;
    one->level = CHOICE_LEVEL;
    snprintf(one->variant, sizeof one->variant, "%s", name);
    for (; *pattern && used + 1 < sizeof one->recipe; pattern++) {
        if (*pattern == '@')
            used += (size_t)snprintf(one->recipe + used, sizeof one->recipe - used, "%s",
                                     name);
        else
            one->recipe[used++] = *pattern;
    }
    return true;
}

static bool add_choice(struct cases *cases, const struct choice *choice)
{
    char text[512];
    bool ok = add_group(cases, choice->id, choice->title, "variant");
    snprintf(text, sizeof text, "%s", choice->values ? choice->values : choice->pattern);
    for (char *rest = text, *next;
         ok && (next = strtok_r(rest, choice->values ? " " : ";", &rest));) {
        char *recipe = choice->values ? NULL : strchr(next, '=');
        if (recipe)
            *recipe++ = '\0';
        ok = add_variant(cases, choice, next, recipe ? recipe : choice->pattern);
    }
    return ok;
}

bool cases_add_preset(struct cases *cases, int preset)
{
    bool ok = true;
    for (size_t i = 0; ok && i < CLI_COUNT(sweeps); i++)
        ok = add_sweep(cases, &sweeps[i], preset);
    for (size_t i = 0; ok && i < CLI_COUNT(choices); i++)
        ok = preset < choices[i].from || add_choice(cases, &choices[i]);
    return ok;
}

// --- files ------------------------------------------------------------------------------

static bool fail(char *why, size_t capacity, const char *sentence)
{
    snprintf(why, capacity, "%s", sentence);
    return false;
}

static char *trim(char *text)
{
    text += strspn(text, " \t\r\n");
    size_t length = strlen(text);
    while (length > 0 && strchr(" \t\r\n", text[length - 1]))
        text[--length] = '\0';
    return text;
}

// "[name] Title"
static bool read_heading(struct cases *cases, char *line, char *why, size_t capacity)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                "0123456789:._+-";
    const size_t length = strspn(line + 1, plain);
    if (length == 0 || length >= sizeof cases->group->id || line[1 + length] != ']')
        return fail(why, capacity,
                    "a group is: [name] Title; a name has up to 31 letters, digits, and "
                    "any of :._+-");
    line[1 + length] = '\0';
    for (int i = 0; i < cases->groups; i++) {
        if (strcmp(cases->group[i].id, line + 1) == 0)
            return fail(why, capacity, "the same group twice");
    }
    const char *title = trim(line + length + 2);
    return add_group(cases, line + 1, *title ? title : line + 1, "size") ||
           fail(why, capacity, "no memory left");
}

static bool read_case(struct cases *cases, char *line, char *why, size_t capacity)
{
    static const char word[] = "recipe=";
    kallima_desc desc;
    char *comment = strchr(line, '#');
    if (comment)
        *comment = '\0';
    char *recipe = strstr(line, word);
    if (recipe) {
        *recipe = '\0';
        recipe = trim(recipe + sizeof word - 1);
    }
    if (!problem_parse(line, &desc, why, capacity))
        return false;
    if (desc.rank == 0)
        return !recipe || fail(why, capacity, "a recipe without a case");
    if (recipe && strlen(recipe) >= sizeof cases->one->recipe)
        return fail(why, capacity, "the recipe is too long");
    if (cases->groups == 0 && !add_group(cases, "cases", "Cases", "size"))
        return fail(why, capacity, "no memory left");
    struct compare_case *one = add_case(cases);
    if (!one)
        return fail(why, capacity, "no memory left");
    one->desc = desc;
    snprintf(one->recipe, sizeof one->recipe, "%s", recipe ? recipe : "");
    return true;
}

static bool read_lines(struct cases *cases, FILE *file, const char *path, char *why,
                       size_t capacity)
{
    char line[1024], reason[256];
    for (int number = 1; fgets(line, sizeof line, file); number++) {
        char *text = trim(line);
        if (!(*text == '[' ? read_heading : read_case)(cases, text, reason,
                                                       sizeof reason)) {
            snprintf(why, capacity, "%s: line %d: %s", path, number, reason);
            return false;
        }
    }
    if (!ferror(file))
        return true;
    snprintf(why, capacity, "%s: %s", path, strerror(errno));
    return false;
}

bool cases_read(struct cases *cases, const char *path, char *why, size_t capacity)
{
    FILE *file = fopen(path, "r");
    if (!file) {
        snprintf(why, capacity, "%s: %s", path, strerror(errno));
        return false;
    }
    bool ok = read_lines(cases, file, path, why, capacity);
    fclose(file);
    if (ok && cases->count == 0) {
        snprintf(why, capacity, "%s: no cases", path);
        ok = false;
    }
    return ok;
}
