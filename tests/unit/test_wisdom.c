// SPDX-License-Identifier: MIT
// Wisdom: the set of entries and its text.
#include <kallima/kallima.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../counting.h"
#include "../pretend.h"
#include "../random.h"
#include "../rows.h"

static struct counting counting;
static struct kal_host host;

static int count_memory(void **state)
{
    (void)state;
    memset(&counting, 0, sizeof counting);
    host = (struct kal_host){ .allocator = counting_allocator(&counting) };
    return 0;
}

static int check_memory(void **state)
{
    (void)state;
    return counting.live == 0 && counting.damaged == 0 ? 0 : -1;
}

static kallima_wisdom *create(void)
{
    return pretend_create(&host);
}

// --- random wisdom -----------------------------------------------------------------------

static const char *pick(struct random *r, const char *const *words, int count)
{
    return words[random_between(r, 0, count - 1)];
}

#define PICK(r, words) pick((r), (words), KAL_COUNT(words))

// From so few words that entries about the same thing are frequent.
static kallima_wisdom_entry random_entry(struct random *r)
{
    static const char *const devices[] = { "cpu A", "cuda \"quoted\" \\ B" };
    static const char *const drivers[] = { "1", "2" };
    static const char *const versions[] = { "0.1.0", "0.2.0" };
    static const char *const keys[] = { "c2c f32 n=64", "c2c f64 n=64", "x" };
    static const char *const values[] = { "local(8.8)", "local(64)", "1e10 2.5" };
    static const char *const reasons[] = { "", "wrong", "an error of \"1e-3\"" };
    kallima_wisdom_entry entry = {
        .kind = (int32_t)random_between(r, 1, KALLIMA_WISDOM_KIND_COUNT - 1),
        .effort = (int32_t)random_between(r, 1, KALLIMA_EFFORT_COUNT - 1),
        .device = PICK(r, devices),
        .driver = PICK(r, drivers),
        .version = PICK(r, versions),
        .key = PICK(r, keys),
        .value = PICK(r, values),
        .reason = PICK(r, reasons),
        .time_ns = (double)random_between(r, 0, 3) * 0.75,
        .spread = (double)random_between(r, 0, 3) * 0.125,
        .predicted_ns = (double)random_between(r, 0, 3) * 1.5,
    };
    if (entry.kind == KALLIMA_WISDOM_FACT)
        entry.value = random_between(r, 0, 1) ? "1e10 2.5" : "-3";
    return entry;
}

static kallima_wisdom *random_wisdom(struct random *r, int count)
{
    kallima_wisdom *wisdom = create();
    for (int i = 0; i < count; i++)
        pretend_add(wisdom, random_entry(r));
    return wisdom;
}

// --- the text ----------------------------------------------------------------------------

#define PLAN  "plan \"d\" \"r\" \"v\" \"k\" \"x\" "
#define TRIAL "trial \"d\" \"r\" \"v\" \"k\" \"x\""
#define FIRST "kallima-wisdom 1\n"

static void texts_read_back_to_the_same_wisdom(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        struct random r = { seed };
        kallima_wisdom *first = random_wisdom(&r, (int)random_between(&r, 0, 60));
        kallima_wisdom *second = create();
        pretend_merge(second, first);
        ROW_CHECK(pretend_is_same(first, second));
        ROW_CHECK(kallima_wisdom_get_count(first) == kallima_wisdom_get_count(second));
        pretend_merge(first, second); // what is known already changes nothing
        ROW_CHECK(pretend_is_same(first, second));
        kallima_wisdom_destroy(&first);
        kallima_wisdom_destroy(&second);
    }
    ROWS_FINISH();
}

static void an_entry_is_one_line(void **state)
{
    kallima_wisdom *wisdom = create();

    (void)state;
    kallima_wisdom_entry entry = pretend_plan("c2c \"n\"", "local(8.8)", 812.50049);
    entry.spread = 0.01236;
    pretend_add(wisdom, entry);
    pretend_add(wisdom, pretend_bad("p", "r\\s"));
    entry.kind = KALLIMA_WISDOM_PASS;
    entry.time_ns = 1e12;
    pretend_add(wisdom, entry);
    entry.kind = KALLIMA_WISDOM_FACT;
    entry.value = "3.35e12 -0.5";
    entry.spread = 0.0;
    pretend_add(wisdom, entry);
    entry.kind = KALLIMA_WISDOM_TRIAL;
    entry.value = "local(8.8)";
    entry.time_ns = 900.0;
    entry.predicted_ns = 1234.56789;
    pretend_add(wisdom, entry);
    char *text = pretend_text(wisdom);
    const char *expected =
        "kallima-wisdom 1\n"
        "plan \"cpu Pretend\" \"avx9, 2 threads\" \"0.1.0\" \"c2c \\\"n\\\"\" "
        "\"local(8.8)\" measure 812.5 0.0124\n"
        "pass \"cpu Pretend\" \"avx9, 2 threads\" \"0.1.0\" \"c2c \\\"n\\\"\" "
        "1000000000000 0.0124\n"
        "bad \"cpu Pretend\" \"avx9, 2 threads\" \"0.1.0\" \"p\" \"r\\\\s\" "
        "\"an error of 1e-3\"\n"
        "fact \"cpu Pretend\" \"avx9, 2 threads\" \"0.1.0\" \"c2c \\\"n\\\"\" "
        "\"3.35e12 -0.5\" 0\n"
        "trial \"cpu Pretend\" \"avx9, 2 threads\" \"0.1.0\" \"c2c \\\"n\\\"\" "
        "\"local(8.8)\" 1234.568 900 0\n";
    ROW_CHECK(strcmp(text, expected) == 0);
    free(text);
    kallima_wisdom_destroy(&wisdom);
    ROWS_FINISH();
}

// The largest entry there can be is read back.
static void long_strings_fit_a_line(void **state)
{
    static char longest[KAL_WISDOM_MAX_STRING + 2];
    kallima_wisdom *wisdom = create(), *copy = create();

    (void)state;
    memset(longest, '"', KAL_WISDOM_MAX_STRING);
    kallima_wisdom_entry entry = { KALLIMA_WISDOM_BAD,
                                   0,
                                   longest,
                                   longest,
                                   longest,
                                   longest,
                                   longest,
                                   longest,
                                   0.0,
                                   0.0,
                                   0.0 };
    pretend_add(wisdom, entry);
    pretend_merge(copy, wisdom);
    ROW_CHECK(pretend_is_same(wisdom, copy) && kallima_wisdom_get_count(copy) == 1);

    longest[KAL_WISDOM_MAX_STRING] = '"';
    entry.reason = "";
    ROW_CHECK(kal_wisdom_add(wisdom, &entry) == KALLIMA_E_ARGUMENT);
    entry.reason = longest; // is cut
    entry.device = entry.driver = entry.version = entry.key = entry.value = "x";
    ROW_CHECK(kal_wisdom_add(wisdom, &entry) == KALLIMA_OK);
    ROW_CHECK(kallima_wisdom_get_count(wisdom) == 2);
    kallima_wisdom_destroy(&wisdom);
    kallima_wisdom_destroy(&copy);
    ROWS_FINISH();
}

/** What is reported of a text. */
struct heard {
    int64_t count, line;
    char reason[300], place[100];
};

static void hear(void *user, const char *from, int64_t line, const char *reason)
{
    struct heard *heard = user;
    if (heard->count++ == 0) {
        heard->line = line;
        snprintf(heard->reason, sizeof heard->reason, "%s", reason);
        snprintf(heard->place, sizeof heard->place, "%s", from);
    }
}

// clang-format off
static const struct {
    const char *line, *words; // that the reason holds
} refused_lines[] = {
    { "", "begin with plan, pass, bad, fact or trial" },
    { " " PLAN "measure 1 1", "character 1: the line must begin" },
    { "# a comment", "must begin" },
    { "plans \"d\"", "must begin" },
    { "plan", "character 5: the device is missing" },
    { "plan  \"d\"", "character 6: the device must begin with a quotation mark" },
    { "plan\t\"d\"", "0x09 is not printable" },
    { "plan d", "the device must begin" },
    { "plan \"d", "the device has no closing quotation mark" },
    { "plan \"d\\", "the device has no closing quotation mark" },
    { "plan \"d\\n\" \"r\"", "only \" and \\ may stand behind a \\" },
    { "plan \"\" \"r\" \"v\" \"k\" \"x\" measure 1 1", "empty" },
    { "plan \"d\"", "the driver is missing" },
    { "plan \"d\"\"r\"", "the driver is missing" },
    { "plan \"d\" \"r\"", "the version is missing" },
    { "plan \"d\" \"r\" \"v\"", "the key is missing" },
    { "plan \"d\" \"r\" \"v\" \"k\"", "the value is missing" },
    { "plan \"d\" \"r\" \"v\" \"k\" \"x\"", "the effort is missing" },
    { PLAN "1 1", "the effort must be measure, patient or exhaustive" },
    { PLAN "estimate 1 1", "the effort must be" },
    { PLAN "measured 1 1", "the effort must be" },
    { PLAN "measure", "the time is missing" },
    { PLAN "measure x 1", "the time must be a decimal number" },
    { PLAN "measure -1 1", "the time must be a decimal number" },
    { PLAN "measure +1 1", "the time must be a decimal number" },
    { PLAN "measure nan 1", "the time must be a decimal number" },
    { PLAN "measure .5 1", "the time must be a decimal number" },
    { PLAN "measure 1. 1", "digits behind its point" },
    { PLAN "measure 1,5 1", "the spread is missing" },
    { PLAN "measure 1e9 1", "the spread is missing" },
    { PLAN "measure 1.2345 1", "the spread is missing" },
    { PLAN "measure 1000000000001 1", "the time must be at most 1000000000000" },
    { PLAN "measure 999999999999999 1", "at most 1000000000000" },
    { PLAN "measure 1000000000000.001 1", "at most 1000000000000" },
    { PLAN "measure 99999999999999999999999999999999 1", "at most 1000000000000" },
    { PLAN "measure 1", "the spread is missing" },
    { PLAN "measure 1 1000001", "the spread must be at most 1000000" },
    { PLAN "measure 1 1 ", "nothing may follow here" },
    { PLAN "measure 1 1 1", "nothing may follow here" },
    { PLAN "measure 1 1\r", "0x0d is not printable" },
    { PLAN "measure 1 1\x80", "0x80 is not printable" },
    { "plan \"d\x1b[31m\"", "0x1b is not printable" },
    { "pass \"d\" \"r\" \"v\" \"k\" \"x\" 1 1", "the time must be a decimal number" },
    { "bad \"d\" \"r\" \"v\" \"k\" \"x\"", "the reason is missing" },
    { "fact \"d\" \"r\" \"v\" \"k\" \"\" 0", "empty" },
    { "fact \"d\" \"r\" \"v\" \"k\" \"fast\" 0", "no list of decimal numbers" },
    { "fact \"d\" \"r\" \"v\" \"k\" \"1  2\" 0", "no list of decimal numbers" },
    { "fact \"d\" \"r\" \"v\" \"k\" \"1 2 \" 0", "no list of decimal numbers" },
    { "fact \"d\" \"r\" \"v\" \"k\" \"inf\" 0", "no list of decimal numbers" },
    { "fact \"d\" \"r\" \"v\" \"k\" \"0x10\" 0", "no list of decimal numbers" },
    { "fact \"d\" \"r\" \"v\" \"k\" \"1e999\" 0", "no list of decimal numbers" },
    { "fact \"d\" \"r\" \"v\" \"k\" \"1e\" 0", "no list of decimal numbers" },
    { "fact \"d\" \"r\" \"v\" \"k\" \".\" 0", "no list of decimal numbers" },
    { "fact \"d\" \"r\" \"v\" \"k\" \"1.2.3\" 0", "no list of decimal numbers" },
    { "trial", "the device is missing" },
    { "trials \"d\"", "must begin" },
    { TRIAL, "the predicted time is missing" },
    { TRIAL " measure 1 1 0", "the predicted time must be a decimal number" },
    { TRIAL " -1 1 0", "the predicted time must be a decimal number" },
    { TRIAL " inf 1 0", "the predicted time must be a decimal number" },
    { TRIAL " 1000000000001 1 0", "the predicted time must be at most 1000000000000" },
    { TRIAL " 1.2345 1 0", "the time is missing" },
    { TRIAL " 1", "the time is missing" },
    { TRIAL " 1 nan 0", "the time must be a decimal number" },
    { TRIAL " 1 1000000000001 0", "the time must be at most 1000000000000" },
    { TRIAL " 1 1", "the spread is missing" },
    { TRIAL " 1 1 0 0", "nothing may follow here" },
    { "trial \"d\" \"r\" \"v\" \"k\" \"\" 1 1 0", "empty" },
    { "kallima-wisdom 2", "must begin" },
    { "kallima-wisdom 1 ", "must begin" },
};
// clang-format on

// Of a refused line the number and the reason are told, and its neighbours are taken.
static void every_refused_line_has_its_reason(void **state)
{
    char text[2000];

    (void)state;
    for (size_t i = 0; i < KAL_COUNT(refused_lines); i++) {
        kallima_wisdom *wisdom = create();
        struct heard heard = { 0 };
        kallima_wisdom_entry entry;

        snprintf(text, sizeof text, FIRST PLAN "measure 1 0.5\n%s\n" PLAN "patient 2 1\n",
                 refused_lines[i].line);
        const kallima_status status = kallima_wisdom_import(wisdom, text, hear, &heard);
        row_ran();
        if (status != KALLIMA_E_WISDOM || heard.count != 1 || heard.line != 3 ||
            !strstr(heard.reason, refused_lines[i].words) ||
            strcmp(heard.place, "text") != 0)
            row_fail("\"%s\": %s, line %lld: %s", refused_lines[i].line,
                     kallima_status_name(status), (long long)heard.line, heard.reason);
        ROW_CHECK(strstr(kallima_last_error(), "text: line 3: "));
        ROW_CHECK(strstr(kallima_last_error(), heard.reason));
        ROW_CHECK(kallima_wisdom_get_count(wisdom) == 1);
        ROW_CHECK(kallima_wisdom_get_entry(wisdom, 0, &entry) == KALLIMA_OK &&
                  entry.effort == KALLIMA_EFFORT_PATIENT);
        kallima_wisdom_destroy(&wisdom);
    }
    ROWS_FINISH();
}

static void long_lines_are_refused(void **state)
{
    static char text[3 * KAL_WISDOM_MAX_LINE];
    kallima_wisdom *wisdom = create();
    struct heard heard = { 0 };

    (void)state;
    snprintf(text, sizeof text, FIRST "plan \"%0*d\n" PLAN "measure 1 1\n",
             KAL_WISDOM_MAX_LINE, 0);
    ROW_CHECK(kallima_wisdom_import(wisdom, text, hear, &heard) == KALLIMA_E_WISDOM);
    ROW_CHECK(heard.line == 2 && strstr(heard.reason, "longer than 65536 bytes"));
    ROW_CHECK(kallima_wisdom_get_count(wisdom) == 1);
    memset(&heard, 0, sizeof heard);
    snprintf(text, sizeof text, FIRST "plan \"%0*d\n", KAL_WISDOM_MAX_STRING + 1, 0);
    ROW_CHECK(kallima_wisdom_import(wisdom, text, hear, &heard) == KALLIMA_E_WISDOM);
    ROW_CHECK(heard.line == 2 && strstr(heard.reason, "longer than 4096 characters"));
    kallima_wisdom_destroy(&wisdom);
    ROWS_FINISH();
}

static void several_refused_lines_are_counted(void **state)
{
    kallima_wisdom *wisdom = create();
    struct heard heard = { 0 };

    (void)state;
    ROW_CHECK(kallima_wisdom_import(wisdom, FIRST "a\n" PLAN "measure 1 1\nb\nc\n", hear,
                                    &heard) == KALLIMA_E_WISDOM);
    ROW_CHECK(heard.count == 3 && heard.line == 2);
    ROW_CHECK(strstr(kallima_last_error(), "line 2: "));
    ROW_CHECK(strstr(kallima_last_error(), "; 3 lines are refused"));
    ROW_CHECK(kallima_wisdom_get_count(wisdom) == 1);
    kallima_wisdom_destroy(&wisdom);
    ROWS_FINISH();
}

static void other_formats_are_refused_whole(void **state)
{
    static const struct {
        const char *text, *words;
    } texts[] = {
        { "kallima-wisdom 2\n" PLAN "measure 1 1\n",
          "its format is 2; this library reads 1" },
        { "kallima-wisdom 10\n", "its format is 10;" },
        { "kallima-wisdom 11111111111111111111111111\n", "it is no wisdom" },
        { "kallima-wisdom\n", "it is no wisdom" },
        { "kallima-wisdom one\n", "it is no wisdom" },
        { "\n" FIRST, "it is no wisdom" },
        { " " FIRST, "it is no wisdom" },
        { PLAN "measure 1 1\n", "it is no wisdom" },
        { "(fftw-3.3.10 fftw_wisdom #x3c273403\n", "it is no wisdom" },
        { "nonsense without an end", "it is no wisdom" },
    };
    (void)state;
    for (size_t i = 0; i < KAL_COUNT(texts); i++) {
        kallima_wisdom *wisdom = create();
        struct heard heard = { 0 };
        const kallima_status status =
            kallima_wisdom_import(wisdom, texts[i].text, hear, &heard);
        row_ran();
        if (status != KALLIMA_E_WISDOM || heard.count != 1 || heard.line != 1 ||
            !strstr(heard.reason, texts[i].words) ||
            kallima_wisdom_get_count(wisdom) != 0)
            row_fail("row %zu: %s, line %lld: %s", i, kallima_status_name(status),
                     (long long)heard.line, heard.reason);
        kallima_wisdom_destroy(&wisdom);
    }
    ROWS_FINISH();
}

// Cut anywhere: the entry is not taken. Nothing at all is no damage.
static void texts_may_be_cut_short(void **state)
{
    static const char line[] = FIRST PLAN "measure 1 0.5\n";
    char text[400];

    (void)state;
    for (size_t cut = 0; cut <= sizeof line - 1; cut++) {
        kallima_wisdom *wisdom = create();
        struct heard heard = { 0 };
        snprintf(text, sizeof text, "%.*s", (int)cut, line);
        const kallima_status status = kallima_wisdom_import(wisdom, text, hear, &heard);
        const bool whole = cut == sizeof line - 1;
        const bool good = cut == 0 || cut == sizeof FIRST - 1 || whole;
        row_ran();
        if (status != (good ? KALLIMA_OK : KALLIMA_E_WISDOM) || heard.count != !good ||
            kallima_wisdom_get_count(wisdom) != whole)
            row_fail("%zu bytes: %s: %s", cut, kallima_status_name(status), heard.reason);
        kallima_wisdom_destroy(&wisdom);
    }
    ROWS_FINISH();
}

static void texts_may_stand_behind_each_other(void **state)
{
    kallima_wisdom *wisdom = create();

    (void)state;
    ROW_CHECK(kallima_wisdom_import(
                  wisdom, FIRST PLAN "measure 1 0.5\n" FIRST FIRST PLAN "patient 3 0\n",
                  NULL, NULL) == KALLIMA_OK);
    ROW_CHECK(kallima_wisdom_get_count(wisdom) == 1);
    kallima_wisdom_destroy(&wisdom);
    ROWS_FINISH();
}

static void impossible_entries_are_not_added(void **state)
{
    kallima_wisdom_entry entry[15];
    kallima_wisdom *wisdom = create();

    (void)state;
    for (size_t i = 0; i < KAL_COUNT(entry); i++)
        entry[i] = pretend_plan("k", "x", 1.0);
    entry[0].kind = 0;
    entry[1].kind = KALLIMA_WISDOM_KIND_COUNT;
    entry[2].effort = KALLIMA_EFFORT_ESTIMATE;
    entry[3].effort = KALLIMA_EFFORT_COUNT;
    entry[4].key = NULL;
    entry[5].key = "";
    entry[6].value = "line\nline";
    entry[7].device = "caf\xc3\xa9";
    entry[8].time_ns = -1.0;
    entry[9].time_ns = NAN;
    entry[10].time_ns = INFINITY;
    entry[11].spread = 2e6;
    for (int i = 12; i < 15; i++)
        entry[i].kind = KALLIMA_WISDOM_TRIAL;
    entry[12].predicted_ns = INFINITY;
    entry[13].predicted_ns = -1.0;
    entry[14].value = "";
    for (size_t i = 0; i < KAL_COUNT(entry); i++) {
        row_ran();
        if (kal_wisdom_add(wisdom, &entry[i]) != KALLIMA_E_ARGUMENT)
            row_fail("row %zu", i);
    }
    ROW_CHECK(kallima_wisdom_get_count(wisdom) == 0);

    kallima_wisdom_entry bad = pretend_bad("k", "x");
    bad.reason = "two\nlines, caf\xc3\xa9"; // from anywhere: made printable
    pretend_add(wisdom, bad);
    ROW_CHECK(kallima_wisdom_get_entry(wisdom, 0, &bad) == KALLIMA_OK);
    ROW_CHECK(strcmp(bad.reason, "two?lines, caf??") == 0);
    kallima_wisdom_destroy(&wisdom);
    ROWS_FINISH();
}

static void numbers_of_facts_are_read_and_written(void **state)
{
    static const struct {
        double number;
        const char *text;
    } numbers[] = {
        { 0.0, "0" },
        { 1.0, "1" },
        { -1.0, "-1" },
        { 0.5, "5e-1" },
        { 3.35e12, "3.35e12" },
        { 1e-300, "1e-300" },
        { -12345678.9, "-1.23456789e7" },
        { 1.0 / 3.0, "3.33333333e-1" },
        { 1e300, "1e300" },
    };
    double read[4];

    (void)state;
    for (size_t i = 0; i < KAL_COUNT(numbers); i++) {
        struct kal_text text;
        kal_text_init(&text, &host);
        kal_wisdom_print_number(&text, numbers[i].number);
        row_ran();
        if (strcmp(text.data, numbers[i].text) != 0)
            row_fail("row %zu: %s", i, text.data);
        ROW_CHECK(kal_wisdom_parse_numbers(text.data, read, 4) == 1);
        ROW_CHECK(fabs(read[0] - numbers[i].number) <= 5e-9 * fabs(numbers[i].number));
        kal_wisdom_print_number(&text, 2.0);
        ROW_CHECK(kal_wisdom_parse_numbers(text.data, read, 4) == 2 && read[1] == 2.0);
        kal_text_clear(&text);
    }
    ROW_CHECK(kal_wisdom_parse_numbers("1 -2.5 0.001 1e3 7", read, 4) == 5);
    ROW_CHECK(read[1] == -2.5 && read[2] == 0.001 && read[3] == 1000.0);
    ROW_CHECK(kal_wisdom_parse_numbers("", read, 4) == -1);
    ROWS_FINISH();
}

// --- merging -----------------------------------------------------------------------------

// In any order, in any groups, any number of times: the same.
static void merging_is_a_union(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        struct random r = { seed };
        kallima_wisdom *a = random_wisdom(&r, 25), *b = random_wisdom(&r, 25),
                       *c = random_wisdom(&r, 25);
        kallima_wisdom *x = create(), *y = create(), *bc = create();
        pretend_merge(x, a); // (a + b) + c
        pretend_merge(x, b);
        pretend_merge(x, c);
        pretend_merge(bc, c); // (c + b) + a + (c + b)
        pretend_merge(bc, b);
        pretend_merge(y, bc);
        pretend_merge(y, a);
        pretend_merge(y, bc);
        row_ran();
        if (!pretend_is_same(x, y))
            row_fail("seed %llu", (unsigned long long)seed);
        ROW_CHECK(kallima_wisdom_get_count(x) > kallima_wisdom_get_count(a));
        kallima_wisdom *all[] = { a, b, c, x, y, bc };
        for (size_t i = 0; i < KAL_COUNT(all); i++)
            kallima_wisdom_destroy(&all[i]);
    }
    ROWS_FINISH();
}

static void the_better_entry_stays(void **state)
{
    // Each is better than those behind it.
    static const struct {
        int effort;
        double time, spread;
    } order[] = {
        { KALLIMA_EFFORT_EXHAUSTIVE, 9.0, 0.5 }, { KALLIMA_EFFORT_PATIENT, 2.0, 0.0 },
        { KALLIMA_EFFORT_PATIENT, 3.0, 0.0 },    { KALLIMA_EFFORT_MEASURE, 1.0, 0.1 },
        { KALLIMA_EFFORT_MEASURE, 1.0, 0.2 },    { KALLIMA_EFFORT_MEASURE, 1.5, 0.0 },
    };
    (void)state;
    for (size_t i = 0; i < KAL_COUNT(order); i++) {
        for (size_t j = 0; j < KAL_COUNT(order); j++) {
            const size_t best = i < j ? i : j, both[] = { i, j };
            kallima_wisdom *wisdom = create();
            kallima_wisdom_entry kept;
            for (int k = 0; k < 2; k++) {
                kallima_wisdom_entry entry = pretend_plan("k", "x", order[both[k]].time);
                entry.effort = order[both[k]].effort;
                entry.spread = order[both[k]].spread;
                pretend_add(wisdom, entry);
            }
            ROW_CHECK(kallima_wisdom_get_count(wisdom) == 1);
            ROW_CHECK(kallima_wisdom_get_entry(wisdom, 0, &kept) == KALLIMA_OK);
            ROW_CHECK(kept.effort == order[best].effort &&
                      kept.time_ns == order[best].time &&
                      kept.spread == order[best].spread);
            kallima_wisdom_destroy(&wisdom);
        }
    }
    ROWS_FINISH();
}

// --- finding -----------------------------------------------------------------------------

static const char *found_recipe(const kallima_wisdom *wisdom, const char *key)
{
    static char recipe[100];
    struct kal_arena arena;
    kallima_wisdom_entry entry;

    kal_arena_init(&arena, &host);
    ROW_CHECK(kal_wisdom_find(wisdom, KALLIMA_WISDOM_PLAN, &pretend_owner, key, &arena,
                              &entry) == KALLIMA_OK);
    snprintf(recipe, sizeof recipe, "%s", entry.kind ? entry.value : "none");
    kal_arena_clear(&arena);
    return recipe;
}

static void the_best_plan_that_is_not_bad_is_found(void **state)
{
    kallima_wisdom *wisdom = create();

    (void)state;
    ROW_CHECK(strcmp(found_recipe(wisdom, "k"), "none") == 0);
    pretend_add_plan(wisdom, "k", "slow", 30.0);
    pretend_add_plan(wisdom, "k", "middle", 20.0);
    pretend_add_plan(wisdom, "k", "fast", 10.0);
    pretend_add_plan(wisdom, "kk", "other", 1.0);
    pretend_add_plan(wisdom, "j", "other", 1.0);
    kallima_wisdom_entry foreign = pretend_plan("k", "foreign", 1.0);
    foreign.version = "0.0.1";
    pretend_add(wisdom, foreign);
    foreign = pretend_plan("k", "foreign", 1.0);
    foreign.driver = "avx9, 3 threads";
    pretend_add(wisdom, foreign);
    ROW_CHECK(strcmp(found_recipe(wisdom, "k"), "fast") == 0);
    pretend_add(wisdom, pretend_bad("k", "fast"));
    ROW_CHECK(strcmp(found_recipe(wisdom, "k"), "middle") == 0);
    ROW_CHECK(kal_wisdom_is_bad(wisdom, &pretend_owner, "k", "fast"));
    ROW_CHECK(!kal_wisdom_is_bad(wisdom, &pretend_owner, "k", "slow"));
    ROW_CHECK(!kal_wisdom_is_bad(wisdom, &pretend_owner, "kk", "fast"));
    pretend_add(wisdom, pretend_bad("k", "slow"));
    pretend_add(wisdom, pretend_bad("k", "middle"));
    ROW_CHECK(strcmp(found_recipe(wisdom, "k"), "none") == 0);
    kallima_wisdom_entry patient = pretend_plan("k", "sure", 100.0);
    patient.effort = KALLIMA_EFFORT_PATIENT;
    pretend_add(wisdom, patient);
    pretend_add_plan(wisdom, "k", "quick", 5.0);
    ROW_CHECK(strcmp(found_recipe(wisdom, "k"), "sure") == 0);
    kallima_wisdom_destroy(&wisdom);
    ROWS_FINISH();
}

static void passes_and_facts_are_found(void **state)
{
    kallima_wisdom *wisdom = create();
    kallima_wisdom_entry entry = pretend_plan("3f2a", "", 12.5), found;
    struct kal_arena arena;

    (void)state;
    entry.kind = KALLIMA_WISDOM_PASS;
    pretend_add(wisdom, entry);
    entry.time_ns = 11.0;
    pretend_add(wisdom, entry);
    ROW_CHECK(kal_wisdom_find(wisdom, KALLIMA_WISDOM_PASS, &pretend_owner, "3f2a", NULL,
                              &found) == KALLIMA_OK);
    ROW_CHECK(found.kind == KALLIMA_WISDOM_PASS && found.time_ns == 11.0 && !found.key);
    ROW_CHECK(kal_wisdom_find(wisdom, KALLIMA_WISDOM_PLAN, &pretend_owner, "3f2a", NULL,
                              &found) == KALLIMA_OK);
    ROW_CHECK(found.kind == KALLIMA_WISDOM_ANY);
    entry.kind = KALLIMA_WISDOM_FACT;
    entry.value = "2 3";
    entry.spread = 0.5;
    pretend_add(wisdom, entry);
    entry.value = "4 5";
    entry.spread = 0.25;
    pretend_add(wisdom, entry);
    entry.spread = 0.75;
    pretend_add(wisdom, entry);
    kal_arena_init(&arena, &host);
    ROW_CHECK(kal_wisdom_find(wisdom, KALLIMA_WISDOM_FACT, &pretend_owner, "3f2a", &arena,
                              &found) == KALLIMA_OK);
    ROW_CHECK(found.kind && strcmp(found.value, "4 5") == 0 &&
              strcmp(found.key, "3f2a") == 0);
    kal_arena_clear(&arena);
    ROW_CHECK(kallima_wisdom_get_count(wisdom) == 2);
    kallima_wisdom_destroy(&wisdom);
    ROWS_FINISH();
}

static kallima_status append_value(void *context, const kallima_wisdom_entry *entry)
{
    char *values = context;
    snprintf(values + strlen(values), 100 - strlen(values), "%s ", entry->value);
    return strcmp(entry->value, "stop") == 0 ? KALLIMA_E_RECIPE : KALLIMA_OK;
}

static kallima_wisdom_entry trial(const char *key, const char *recipe, double time_ns)
{
    kallima_wisdom_entry entry = pretend_plan(key, recipe, time_ns);
    entry.kind = KALLIMA_WISDOM_TRIAL;
    entry.predicted_ns = 2.0 * time_ns;
    return entry;
}

// What was measured is shown, and followed by no plan.
static void trials_are_visited_and_forgotten(void **state)
{
    const kallima_wisdom_filter trials = { .kind = KALLIMA_WISDOM_TRIAL };
    kallima_wisdom *wisdom = create();
    kallima_wisdom_entry entry;
    char values[100] = "";
    int64_t count;

    (void)state;
    pretend_add(wisdom, trial("k", "b", 1.0));
    pretend_add(wisdom, trial("k", "a", 2.0));
    pretend_add(wisdom, trial("kk", "other", 1.0));
    pretend_add(wisdom, trial("j", "other", 1.0));
    pretend_add(wisdom, trial("k", "a", 3.0)); // it took longer
    entry = trial("k", "foreign", 1.0);
    entry.driver = "avx9, 3 threads";
    pretend_add(wisdom, entry);
    ROW_CHECK(strcmp(found_recipe(wisdom, "k"), "none") == 0);
    pretend_add_plan(wisdom, "k", "planned", 9.0);
    ROW_CHECK(strcmp(found_recipe(wisdom, "k"), "planned") == 0);
    ROW_CHECK(kal_wisdom_visit_key(wisdom, KALLIMA_WISDOM_TRIAL, &pretend_owner, "k",
                                   append_value, values) == KALLIMA_OK);
    ROW_CHECK(strcmp(values, "a b ") == 0);
    pretend_add(wisdom, trial("k", "stop", 1.0));
    pretend_add(wisdom, trial("k", "z", 1.0));
    values[0] = '\0';
    ROW_CHECK(kal_wisdom_visit_key(wisdom, KALLIMA_WISDOM_TRIAL, &pretend_owner, "k",
                                   append_value, values) == KALLIMA_E_RECIPE);
    ROW_CHECK(strcmp(values, "a b stop ") == 0);
    const int64_t first = kallima_wisdom_find(wisdom, &trials, 0);
    ROW_CHECK(kallima_wisdom_get_entry(wisdom, first + 1, &entry) == KALLIMA_OK);
    ROW_CHECK(entry.time_ns == 2.0 && entry.predicted_ns == 4.0 && entry.effort == 0);
    ROW_CHECK(kallima_wisdom_forget(wisdom, &trials, &count) == KALLIMA_OK && count == 7);
    ROW_CHECK(kallima_wisdom_get_count(wisdom) == 1);
    kallima_wisdom_destroy(&wisdom);
    ROWS_FINISH();
}

static void owners_name_api_device_and_driver(void **state)
{
    kallima_device_info info = { .selector = "cuda:3",
                                 .name = "NVIDIA H200",
                                 .driver = "12.4" };
    kallima_wisdom_owner made;

    (void)state;
    kal_wisdom_owner_init(&made, &info);
    ROW_CHECK(strcmp(made.device, "cuda NVIDIA H200") == 0);
    ROW_CHECK(strcmp(made.driver, "12.4") == 0);
    ROW_CHECK(strcmp(made.version, kallima_version()) == 0);
    info =
        (kallima_device_info){ .selector = "cpu", .name = "caf\xc3\xa9\n", .threads = 2 };
    kal_wisdom_owner_init(&made, &info);
    ROW_CHECK(strcmp(made.device, "cpu caf%c3%a9%0a") == 0);
    ROW_CHECK(strcmp(made.driver, "-, 2 threads") == 0);
    memset(info.name, 0xff, sizeof info.name);
    info.name[sizeof info.name - 1] = '\0';
    kal_wisdom_owner_init(&made, &info); // too long: cut
    ROW_CHECK(strlen(made.device) < sizeof made.device);
    ROWS_FINISH();
}

static void entries_that_are_not_used_say_why(void **state)
{
    static const char *const words[] = {
        "another device",
        "another version",
        "a better recipe",
        "",
        "computed wrongly",
        "another driver",
        "",
    };
    kallima_wisdom *wisdom = create();
    char why[700];
    size_t length;

    (void)state;
    kallima_wisdom_entry entry = pretend_plan("k", "x", 1.0);
    entry.device = "a";
    pretend_add(wisdom, entry);
    entry = pretend_plan("k", "x", 1.0);
    entry.driver = "z";
    pretend_add(wisdom, entry);
    entry = pretend_plan("k", "x", 1.0);
    entry.version = "0.0.9";
    pretend_add(wisdom, entry);
    pretend_add_plan(wisdom, "k", "r1", 2.0);
    pretend_add_plan(wisdom, "k", "r2", 1.0);
    pretend_add_plan(wisdom, "k", "r3", 0.5);
    pretend_add(wisdom, pretend_bad("k", "r3"));
    ROW_CHECK(kallima_wisdom_get_count(wisdom) == KAL_COUNT(words));
    for (size_t i = 0; i < KAL_COUNT(words); i++) {
        ROW_CHECK(kallima_wisdom_explain(wisdom, (int64_t)i, &pretend_owner, why,
                                         sizeof why, &length) == KALLIMA_OK);
        row_ran();
        if (words[i][0] ? !strstr(why, words[i]) : why[0] != '\0' || length != 0)
            row_fail("entry %zu: %s", i, why);
    }
    ROW_CHECK(kallima_wisdom_explain(wisdom, 7, &pretend_owner, why, sizeof why, NULL) ==
              KALLIMA_E_ARGUMENT);
    kallima_wisdom_destroy(&wisdom);
    ROWS_FINISH();
}

// --- forgetting --------------------------------------------------------------------------

static const struct {
    kallima_wisdom_filter filter;
    const char *left; // keys that stay
} forgetting[] = {
    { { 0 }, "" },
    { { .kind = KALLIMA_WISDOM_PLAN }, "n=8" },
    { { .kind = KALLIMA_WISDOM_FACT }, "n=64 n=640 n=8" },
    { { .key = "n=64" }, "n=640 n=8" },
    { { .key = "n=64*" }, "n=8" },
    { { .key = "*=*0" }, "n=64 n=8" },
    { { .key = "*6*4*" }, "n=8" },
    { { .key = "*" }, "" },
    { { .key = "**" }, "" },
    { { .key = "" }, "n=64 n=640 n=8" },
    { { .key = "=64" }, "n=64 n=640 n=8" },
    { { .key = "n=6400*" }, "n=64 n=640 n=8" },
    { { .device = "cpu *" }, "" },
    { { .device = "cuda *" }, "n=64 n=640 n=8" },
    { { .driver = "*2 threads", .version = "0.1.0", .key = "n=8" }, "n=64 n=640" },
    { { .version = "0.1.1" }, "n=64 n=640 n=8" },
};

static void patterns_select_what_is_forgotten(void **state)
{
    (void)state;
    for (size_t i = 0; i < KAL_COUNT(forgetting); i++) {
        const kallima_wisdom_filter *filter = &forgetting[i].filter;
        kallima_wisdom *wisdom = create();
        kallima_wisdom_entry entry;
        char left[100] = "";
        int64_t count = -1;
        pretend_add_plan(wisdom, "n=64", "x", 1.0);
        pretend_add_plan(wisdom, "n=640", "x", 1.0);
        pretend_add(wisdom, pretend_bad("n=8", "x"));
        ROW_CHECK(kallima_wisdom_find(wisdom, filter, 3) == -1);
        const bool any = kallima_wisdom_find(wisdom, filter, 0) >= 0;
        ROW_CHECK(kallima_wisdom_forget(wisdom, filter, &count) == KALLIMA_OK);
        ROW_CHECK(any == (count > 0) && count == 3 - kallima_wisdom_get_count(wisdom));
        for (int64_t k = 0; k < kallima_wisdom_get_count(wisdom); k++) {
            ROW_CHECK(kallima_wisdom_get_entry(wisdom, k, &entry) == KALLIMA_OK);
            snprintf(left + strlen(left), sizeof left - strlen(left), "%s%s",
                     k ? " " : "", entry.key);
        }
        row_ran();
        if (strcmp(left, forgetting[i].left) != 0)
            row_fail("row %zu: \"%s\" is left", i, left);
        kallima_wisdom_destroy(&wisdom);
    }
    ROWS_FINISH();
}

static void there_is_an_end_to_entries(void **state)
{
    kallima_wisdom *wisdom = create();
    struct heard heard = { 0 };
    char key[32];

    (void)state;
    for (int i = 0; i < KAL_WISDOM_MAX_ENTRIES; i++) {
        snprintf(key, sizeof key, "k%07d", i);
        const kallima_wisdom_entry entry = pretend_plan(key, "x", 2.0);
        if (kal_wisdom_add(wisdom, &entry) != KALLIMA_OK)
            row_fail("entry %d", i);
    }
    const kallima_wisdom_entry more = pretend_plan("more", "x", 1.0);
    ROW_CHECK(kal_wisdom_add(wisdom, &more) == KALLIMA_E_WISDOM);
    ROW_CHECK(strstr(kallima_last_error(), "no room for more than 65536"));
    pretend_add_plan(wisdom, "k0000000", "x", 1.0); // a better one takes no room
    ROW_CHECK(kallima_wisdom_import(wisdom, FIRST PLAN "measure 1 1\n", hear, &heard) ==
              KALLIMA_E_WISDOM);
    ROW_CHECK(heard.line == 2 && strstr(heard.reason, "no room"));
    ROW_CHECK(kallima_wisdom_get_count(wisdom) == KAL_WISDOM_MAX_ENTRIES);
    kallima_wisdom_destroy(&wisdom);
    ROWS_FINISH();
}

// --- threads and memory ------------------------------------------------------------------

enum { THREADS = 4, ENTRIES = 1500 };

struct worker {
    pthread_t thread;
    pthread_barrier_t *start; // NULL: alone
    kallima_wisdom *wisdom;
    int number;
    bool ok;
};

// What thread `number` adds as entry `i`, and finds at once: its own, or a better one.
static bool add_and_find_one(const struct worker *w, int i)
{
    kallima_wisdom_entry found;
    struct kal_arena arena;
    char key[32];

    snprintf(key, sizeof key, "k%d", i * (i % 3 ? 1 : w->number + 1));
    const kallima_wisdom_entry entry = pretend_plan(key, "x", 10.0 - w->number);
    kal_arena_init(&arena, &host);
    const bool ok = kal_wisdom_add(w->wisdom, &entry) == KALLIMA_OK &&
                    kal_wisdom_find(w->wisdom, KALLIMA_WISDOM_PLAN, &pretend_owner, key,
                                    &arena, &found) == KALLIMA_OK &&
                    found.kind == KALLIMA_WISDOM_PLAN && strcmp(found.key, key) == 0 &&
                    found.time_ns <= 10.0 - w->number &&
                    kallima_wisdom_get_count(w->wisdom) > 0;
    kal_arena_clear(&arena);
    return ok;
}

static void *add_and_find(void *argument)
{
    struct worker *w = argument;
    char text[200];

    w->ok = true;
    if (w->start)
        pthread_barrier_wait(w->start);
    for (int i = 0; i < ENTRIES && w->ok; i++) {
        w->ok = add_and_find_one(w, i);
        if (i % 100 == w->number)
            w->ok = w->ok && kallima_wisdom_export(w->wisdom, text, sizeof text, NULL) ==
                                 KALLIMA_OK;
    }
    return NULL;
}

static void threads_share_a_wisdom(void **state)
{
    struct worker worker[THREADS];
    kallima_wisdom *wisdom = create(), *expected = create();
    pthread_barrier_t start;

    (void)state;
    pthread_barrier_init(&start, NULL, THREADS);
    for (int i = 0; i < THREADS; i++) {
        worker[i] = (struct worker){ .start = &start, .wisdom = wisdom, .number = i };
        assert_int_equal(
            pthread_create(&worker[i].thread, NULL, add_and_find, &worker[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(worker[i].thread, NULL);
        ROW_CHECK(worker[i].ok);
    }
    pthread_barrier_destroy(&start);
    for (int i = 0; i < THREADS; i++) {
        worker[i].start = NULL;
        worker[i].wisdom = expected;
        add_and_find(&worker[i]);
    }
    ROW_CHECK(kallima_wisdom_get_count(wisdom) > ENTRIES);
    ROW_CHECK(pretend_is_same(wisdom, expected));
    kallima_wisdom_destroy(&wisdom);
    kallima_wisdom_destroy(&expected);
    ROWS_FINISH();
}

// Everything that allocates.
static bool works(kallima_wisdom **wisdom, struct kal_arena *arena)
{
    const kallima_wisdom_filter filter = { .key = "j" };
    const kallima_wisdom_entry entry = pretend_plan("j", "y", 1.0);
    kallima_wisdom_entry found;
    char text[100];

    return kal_wisdom_create(wisdom, &host) == KALLIMA_OK &&
           kallima_wisdom_import(*wisdom, FIRST PLAN "measure 1 1\n", NULL, NULL) ==
               KALLIMA_OK &&
           kal_wisdom_add(*wisdom, &entry) == KALLIMA_OK &&
           kal_wisdom_find(*wisdom, KALLIMA_WISDOM_PLAN, &pretend_owner, "j", arena,
                           &found) == KALLIMA_OK &&
           kallima_wisdom_explain(*wisdom, 1, &pretend_owner, text, sizeof text, NULL) ==
               KALLIMA_OK &&
           kallima_wisdom_export(*wisdom, text, sizeof text, NULL) == KALLIMA_OK &&
           kallima_wisdom_forget(*wisdom, &filter, NULL) == KALLIMA_OK;
}

static void memory_may_run_out(void **state)
{
    (void)state;
    for (int after = 0; after < 2; after++) {
        long long k = 0;
        for (bool done = false; !done;) {
            kallima_wisdom *wisdom = NULL;
            struct kal_arena arena;
            kal_arena_init(&arena, &host);
            counting = (struct counting){ .fail_at = ++k, .fail_after = after };
            done = works(&wisdom, &arena);
            ROW_CHECK(done == (counting.calls < k));
            if (!done)
                ROW_CHECK(strstr(kallima_last_error(), "memory"));
            kallima_wisdom_destroy(&wisdom);
            kal_arena_clear(&arena);
            ROW_CHECK(counting.live == 0);
        }
        ROW_CHECK(k > 10);
    }
    ROWS_FINISH();
}

static void arguments_are_checked(void **state)
{
    kallima_wisdom *wisdom = create(), *out = wisdom;
    const kallima_wisdom_filter filter = { .kind = 9 }, any = { 0 };
    const kallima_device_options half = { .allocator.allocate = host.allocator.allocate };
    kallima_wisdom_entry entry;
    kallima_wisdom_owner owner;
    char text[10];
    size_t length;

    (void)state;
    ROW_CHECK(kallima_wisdom_create(NULL, NULL) == KALLIMA_E_ARGUMENT);
    ROW_CHECK(kallima_wisdom_create(&out, &half) == KALLIMA_E_ARGUMENT && !out);
    ROW_CHECK(kallima_wisdom_import(NULL, "", NULL, NULL) == KALLIMA_E_ARGUMENT);
    ROW_CHECK(kallima_wisdom_import(wisdom, NULL, NULL, NULL) == KALLIMA_E_ARGUMENT);
    ROW_CHECK(kallima_wisdom_import(wisdom, "", NULL, NULL) == KALLIMA_OK);
    ROW_CHECK(kallima_wisdom_export(NULL, text, 10, NULL) == KALLIMA_E_ARGUMENT);
    ROW_CHECK(kallima_wisdom_export(wisdom, NULL, 10, NULL) == KALLIMA_E_ARGUMENT);
    ROW_CHECK(kallima_wisdom_export(wisdom, text, 10, &length) == KALLIMA_OK);
    ROW_CHECK(length == strlen(FIRST) && strcmp(text, "kallima-w") == 0);
    ROW_CHECK(kallima_wisdom_load(NULL, "x", NULL, NULL) == KALLIMA_E_ARGUMENT);
    ROW_CHECK(kallima_wisdom_save(NULL, "x") == KALLIMA_E_ARGUMENT);
    ROW_CHECK(kallima_wisdom_get_place(NULL, text, 10, NULL) == KALLIMA_E_ARGUMENT);
    ROW_CHECK(kallima_wisdom_forget(NULL, &any, NULL) == KALLIMA_E_ARGUMENT);
    ROW_CHECK(kallima_wisdom_forget(wisdom, NULL, NULL) == KALLIMA_E_ARGUMENT);
    ROW_CHECK(kallima_wisdom_forget(wisdom, &filter, NULL) == KALLIMA_E_ARGUMENT);
    ROW_CHECK(kallima_wisdom_get_entry(NULL, 0, &entry) == KALLIMA_E_ARGUMENT);
    ROW_CHECK(kallima_wisdom_get_entry(wisdom, 0, NULL) == KALLIMA_E_ARGUMENT);
    ROW_CHECK(kallima_wisdom_get_entry(wisdom, 0, &entry) == KALLIMA_E_ARGUMENT);
    ROW_CHECK(kallima_wisdom_get_entry(wisdom, -1, &entry) == KALLIMA_E_ARGUMENT);
    ROW_CHECK(kallima_wisdom_find(NULL, NULL, 0) == -1);
    ROW_CHECK(kallima_wisdom_find(wisdom, NULL, -7) == -1);
    ROW_CHECK(kallima_wisdom_get_count(NULL) == 0);
    ROW_CHECK(kallima_device_get_wisdom(NULL) == NULL);
    ROW_CHECK(kallima_device_get_owner(NULL, &owner) == KALLIMA_E_ARGUMENT);
    kallima_wisdom_destroy(&wisdom);
    kallima_wisdom_destroy(&wisdom);
    ROWS_FINISH();
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, count_memory, check_memory)

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST(texts_read_back_to_the_same_wisdom),
        TEST(an_entry_is_one_line),
        TEST(long_strings_fit_a_line),
        TEST(every_refused_line_has_its_reason),
        TEST(long_lines_are_refused),
        TEST(several_refused_lines_are_counted),
        TEST(other_formats_are_refused_whole),
        TEST(texts_may_be_cut_short),
        TEST(texts_may_stand_behind_each_other),
        TEST(impossible_entries_are_not_added),
        TEST(numbers_of_facts_are_read_and_written),
        TEST(merging_is_a_union),
        TEST(the_better_entry_stays),
        TEST(the_best_plan_that_is_not_bad_is_found),
        TEST(passes_and_facts_are_found),
        TEST(trials_are_visited_and_forgotten),
        TEST(owners_name_api_device_and_driver),
        TEST(entries_that_are_not_used_say_why),
        TEST(patterns_select_what_is_forgotten),
        TEST(there_is_an_end_to_entries),
        TEST(threads_share_a_wisdom),
        TEST(memory_may_run_out),
        TEST(arguments_are_checked),
    };
    return cmocka_run_group_tests_name("wisdom", tests, NULL, NULL);
}
