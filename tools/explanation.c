// SPDX-License-Identifier: MIT
#include "explanation.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ROWS = 20, MOST_WRONG = 5, MOST_OTHERS = 3 };

enum grade { MEASURED, PREDICTED, WRONG, GRADE_COUNT };

struct explanation {
    kallima_plan_explanation said;
    kallima_wisdom_owner owner;
    kallima_plan_candidate *row; // in the order of the library; strings are its own
    int count, capacity;
    int of_grade[GRADE_COUNT];
    bool is_short_of_memory;
    char other[MOST_OTHERS][700]; // why wisdom of the problem is not used
    int others;                   // how much of it there is
};

static const char *const origins[KALLIMA_ORIGIN_COUNT] = {
    [KALLIMA_ORIGIN_RECIPE] = "recipe",   [KALLIMA_ORIGIN_WISDOM] = "wisdom",
    [KALLIMA_ORIGIN_FIXED] = "fixed",     [KALLIMA_ORIGIN_OFF] = "off",
    [KALLIMA_ORIGIN_UNKNOWN] = "unknown", [KALLIMA_ORIGIN_BAD] = "bad",
    [KALLIMA_ORIGIN_REFUSED] = "refused",
};

#define BY_RULES "the planner's rules: "

static const char *const origin_texts[KALLIMA_ORIGIN_COUNT] = {
    [KALLIMA_ORIGIN_RECIPE] = "the recipe that was given",
    [KALLIMA_ORIGIN_FIXED] = BY_RULES "with fixed planning wisdom is not asked",
    [KALLIMA_ORIGIN_OFF] = BY_RULES "wisdom is off, or kept nowhere",
    [KALLIMA_ORIGIN_UNKNOWN] = BY_RULES "wisdom has no plan of this problem",
    [KALLIMA_ORIGIN_BAD] = BY_RULES "what wisdom has of this problem computed wrongly",
    [KALLIMA_ORIGIN_REFUSED] =
        BY_RULES "what wisdom has of this problem does not fit it, or the device",
};

static const char *const efforts[KALLIMA_EFFORT_COUNT] = { "", "measure", "patient",
                                                           "exhaustive" };

// --- asking ------------------------------------------------------------------------------

static enum grade grade_of(const kallima_plan_candidate *c)
{
    if (c->fault[0])
        return WRONG;
    return c->measured_ns > 0.0 ? MEASURED : PREDICTED;
}

static bool copy_strings(kallima_plan_candidate *to, const kallima_plan_candidate *from)
{
    to->recipe = strdup(from->recipe);
    to->difference = strdup(from->difference);
    to->fault = strdup(from->fault);
    return to->recipe && to->difference && to->fault;
}

static bool grow(struct explanation *e)
{
    const int capacity = e->capacity ? 2 * e->capacity : 64;
    kallima_plan_candidate *row = realloc(e->row, (size_t)capacity * sizeof *row);
    if (!row)
        return false;
    e->row = row;
    e->capacity = capacity;
    return true;
}

static int32_t take(void *user, const kallima_plan_candidate *candidate)
{
    struct explanation *e = user;

    if (e->count == e->capacity && !grow(e)) {
        e->is_short_of_memory = true;
        return 1;
    }
    kallima_plan_candidate *row = &e->row[e->count++];
    *row = *candidate;
    e->is_short_of_memory = !copy_strings(row, candidate);
    e->of_grade[grade_of(candidate)]++;
    return e->is_short_of_memory;
}

// The first line of the description is the problem; NULL: no memory, or the library said why.
static char *find_problem(const kallima_plan *plan)
{
    static const char head[] = "problem  ";
    size_t length = 0;

    if (kallima_plan_describe(plan, NULL, 0, &length) != KALLIMA_OK)
        return NULL;
    char *text = malloc(length + 1);
    if (!text || kallima_plan_describe(plan, text, length + 1, NULL) != KALLIMA_OK) {
        free(text);
        return NULL;
    }
    text[strcspn(text, "\n")] = '\0';
    memmove(text, text + sizeof head - 1, strlen(text) - sizeof head + 2);
    return text;
}

// Say why plans of the same problem that wisdom has are not used.
static bool find_others(struct explanation *e, const kallima_plan *plan,
                        const kallima_wisdom *wisdom)
{
    char *problem = find_problem(plan);
    const kallima_wisdom_filter filter = { .kind = KALLIMA_WISDOM_PLAN, .key = problem };
    char why[sizeof e->other[0]];

    if (!problem)
        return false;
    for (int64_t i = 0; (i = kallima_wisdom_find(wisdom, &filter, i)) >= 0; i++) {
        if (kallima_wisdom_explain(wisdom, i, &e->owner, why, sizeof why, NULL) !=
                KALLIMA_OK ||
            !why[0])
            continue;
        if (e->others < MOST_OTHERS)
            memcpy(e->other[e->others], why, sizeof why);
        e->others++;
    }
    free(problem);
    return true;
}

struct explanation *explanation_create(const kallima_plan *plan, kallima_device *device)
{
    struct explanation *e = calloc(1, sizeof *e);
    if (e && kallima_plan_explain(plan, take, e, &e->said) == KALLIMA_OK &&
        !e->is_short_of_memory &&
        kallima_device_get_owner(device, &e->owner) == KALLIMA_OK &&
        find_others(e, plan, kallima_device_get_wisdom(device)))
        return e;
    cli_fail("no memory to explain the plan");
    explanation_destroy(&e);
    return NULL;
}

void explanation_destroy(struct explanation **explanation)
{
    struct explanation *e = *explanation;

    *explanation = NULL;
    for (int i = 0; e && i < e->count; i++) {
        free((void *)(uintptr_t)e->row[i].recipe);
        free((void *)(uintptr_t)e->row[i].difference);
        free((void *)(uintptr_t)e->row[i].fault);
    }
    if (e)
        free(e->row);
    free(e);
}

// --- why ---------------------------------------------------------------------------------

static const kallima_plan_candidate *find_chosen(const struct explanation *e)
{
    int i = 0;
    while (i < e->count - 1 && !e->row[i].is_chosen)
        i++;
    return &e->row[i];
}

// What was measured comes first, from the fastest on. NULL: nothing else was.
static const kallima_plan_candidate *find_rival(const struct explanation *e)
{
    for (int i = 0; i < e->of_grade[MEASURED]; i++) {
        if (!e->row[i].is_chosen)
            return &e->row[i];
    }
    return NULL;
}

static const kallima_plan_candidate *find_default(const struct explanation *e)
{
    for (int i = 0; i < e->count; i++) {
        if (e->row[i].difference[0] == '\0')
            return &e->row[i];
    }
    return NULL;
}

// The chosen one if none is predicted to be faster. NULL: there is none that is not wrong.
static const kallima_plan_candidate *find_first_choice(const struct explanation *e)
{
    const kallima_plan_candidate *chosen = find_chosen(e),
                                 *choice = chosen->fault[0] ? NULL : chosen;
    for (int i = 0; i < e->count; i++) {
        const kallima_plan_candidate *c = &e->row[i];
        if (!c->fault[0] && c->predicted_ns > 0.0 &&
            (!choice || choice->predicted_ns == 0.0 ||
             c->predicted_ns < choice->predicted_ns))
            choice = c;
    }
    return choice;
}

// How much faster `a` is than `b`, in percent.
static double lead(double a_ns, double b_ns)
{
    return a_ns > 0.0 ? 100.0 * (b_ns / a_ns - 1.0) : 0.0;
}

static void say_foreseen(FILE *out, const struct explanation *e)
{
    const kallima_plan_candidate *chosen = find_chosen(e);
    int count = 0, faster = 0;

    for (int i = 0; i < e->of_grade[MEASURED]; i++) {
        const double foreseen = e->row[i].foreseen_ns;
        count += foreseen > 0.0;
        faster += foreseen > 0.0 && foreseen < chosen->foreseen_ns;
    }
    if (count < 2 || chosen->foreseen_ns == 0.0)
        return;
    if (faster > 0)
        fprintf(out, "; the model had expected %d of them to be faster", faster);
    else
        fputs("; the model had expected none of them to be faster", out);
}

// Among those whose times are kept.
static void say_place(FILE *out, const struct explanation *e,
                      const kallima_plan_candidate *chosen,
                      const kallima_plan_candidate *rival)
{
    const int measured = e->of_grade[MEASURED];
    int faster = 0;

    for (int i = 0; i < measured; i++)
        faster += e->row[i].measured_ns < chosen->measured_ns;
    if (faster == 0) {
        fprintf(out, "it was measured to be the fastest of the %d whose times are kept, ",
                measured);
        fprintf(out, "%.1f %% before the next",
                lead(chosen->measured_ns, rival->measured_ns));
        return;
    }
    fputs("tuning found none that is faster beyond doubt: ", out);
    fprintf(out, "of the %d whose times are kept %d show%s less, by up to %.1f %%, ",
            measured, faster, faster == 1 ? "s" : "",
            lead(rival->measured_ns, chosen->measured_ns));
    fputs("but won no race against it, or had less effort", out);
}

// It won on the device.
static void say_victory(FILE *out, const struct explanation *e)
{
    const kallima_plan_candidate *chosen = find_chosen(e), *rival = find_rival(e),
                                 *standard = find_default(e);

    if (!rival || chosen->measured_ns == 0.0) {
        fputs("tuning found it to be the fastest; no other times are kept", out);
        return;
    }
    say_place(out, e, chosen, rival);
    if (standard == chosen)
        fputs("; it is the default", out);
    else if (standard && standard->measured_ns > 0.0)
        fprintf(out, "; it is %.2f times as fast as the default",
                standard->measured_ns / chosen->measured_ns);
    say_foreseen(out, e);
}

// Nobody asked the device.
static void say_choice(FILE *out, const struct explanation *e)
{
    const kallima_plan_candidate *chosen = find_chosen(e), *rival = find_rival(e),
                                 *first = find_first_choice(e);

    if (e->of_grade[MEASURED] == 0)
        fputs("nothing was measured: ", out);
    fputs(e->said.origin == KALLIMA_ORIGIN_RECIPE
              ? "it was asked for"
              : "it is what the planner's rules choose",
          out);
    if (rival && chosen->measured_ns > 0.0 && rival->measured_ns < chosen->measured_ns)
        fprintf(out, "; %s was measured to be %.1f %% faster", rival->recipe,
                lead(rival->measured_ns, chosen->measured_ns));
    else if (rival && chosen->measured_ns == 0.0)
        fprintf(out, "; the fastest that was measured is %s", rival->recipe);
    if (chosen->fault[0])
        fputs("; it computed wrongly here", out);
    if (first == chosen && first->predicted_ns > 0.0)
        fputs("; it is the model's first choice, too", out);
    else if (first && first != chosen)
        fprintf(out,
                "; the model's first choice would be %s, predicted to be %.1f %% faster",
                first->recipe, lead(first->predicted_ns, chosen->predicted_ns));
}

static void say_why(FILE *out, const struct explanation *e)
{
    (e->said.origin == KALLIMA_ORIGIN_WISDOM ? say_victory : say_choice)(out, e);
}

// --- printing ----------------------------------------------------------------------------

static void print_origin(const struct explanation *e)
{
    const kallima_plan_explanation *said = &e->said;

    if (said->origin == KALLIMA_ORIGIN_WISDOM)
        printf("origin   wisdom of %s, %s, library %s\n"
               "         measured %.4g us, spread %.2f%%, effort %s\n",
               e->owner.device, e->owner.driver, e->owner.version, said->time_ns / 1e3,
               100.0 * said->spread, efforts[said->effort]);
    else
        printf("origin   %s\n", origin_texts[said->origin]);
    if (said->origin <= KALLIMA_ORIGIN_FIXED)
        return;
    for (int i = 0; i < e->others && i < MOST_OTHERS; i++)
        printf("         wisdom not used: %s\n", e->other[i]);
    if (e->others > MOST_OTHERS)
        printf("         and %d more\n", e->others - MOST_OTHERS);
}

static void print_us(double time_ns)
{
    const double time = time_ns / 1e3;
    if (time_ns > 0.0)
        printf("  %12.*f", time < 10.0 ? 3 : time < 1000.0 ? 2 : 0, time);
    else
        printf("  %12s", "-");
}

// Of measured times if there are two, else of predicted ones, with a tilde.
static void print_ratio(const kallima_plan_candidate *c,
                        const kallima_plan_candidate *chosen)
{
    char text[32] = "-";
    if (c->measured_ns > 0.0 && chosen->measured_ns > 0.0)
        snprintf(text, sizeof text, "%.3f", c->measured_ns / chosen->measured_ns);
    else if (c->predicted_ns > 0.0 && chosen->predicted_ns > 0.0)
        snprintf(text, sizeof text, "~%.3f", c->predicted_ns / chosen->predicted_ns);
    printf("  %7s", text);
}

static void print_row(const kallima_plan_candidate *c,
                      const kallima_plan_candidate *chosen)
{
    putchar(c->is_chosen ? '*' : ' ');
    print_us(c->predicted_ns);
    print_us(c->measured_ns);
    print_ratio(c, chosen);
    printf("  %-18s  %s\n", c->difference[0] ? c->difference : "the default", c->recipe);
    if (c->fault[0])
        printf("%41s wrong: %s\n", "", c->fault);
}

// Of what was not chosen and is not the default, only so many rows are shown.
static void print_table(const struct explanation *e, bool all)
{
    int shown[GRADE_COUNT] = { 0 }, left_out = 0;

    printf("\n   predicted us   measured us    ratio  differs in          recipe\n");
    for (int i = 0; i < e->count; i++) {
        const kallima_plan_candidate *c = &e->row[i];
        const enum grade grade = grade_of(c);
        const int rows =
            grade == WRONG ? shown[WRONG] : shown[MEASURED] + shown[PREDICTED];
        if (!all && !c->is_chosen && c->difference[0] &&
            rows >= (grade == WRONG ? MOST_WRONG : MOST_ROWS)) {
            left_out++;
            continue;
        }
        shown[grade]++;
        print_row(c, find_chosen(e));
    }
    if (left_out)
        printf("   and %d more, which --all shows\n", left_out);
    puts("");
}

void explanation_print(const struct explanation *e, bool all)
{
    print_origin(e);
    if (e->said.samples)
        printf("model    fitted to %" PRId32 " measured plans\n", e->said.samples);
    else
        puts("model    guessed from what is known of the device");
    printf("plans    %d considered: %d measured, %d predicted only, %d wrong\n", e->count,
           e->of_grade[MEASURED], e->of_grade[PREDICTED], e->of_grade[WRONG]);
    print_table(e, all);
    fputs("why      ", stdout);
    say_why(stdout, e);
    puts("");
}

// --- JSON --------------------------------------------------------------------------------

static void print_string(const char *name, const char *text)
{
    printf("\"%s\": ", name);
    cli_print_json(text);
    fputs(", ", stdout);
}

static void print_number(const char *name, double number)
{
    printf("\"%s\": ", name);
    if (number > 0.0)
        printf("%.17g, ", number);
    else
        fputs("null, ", stdout);
}

static void print_json_row(const kallima_plan_candidate *c)
{
    fputs("\n  {", stdout);
    print_string("recipe", c->recipe);
    print_string("difference", c->difference);
    print_string("fault", c->fault);
    print_number("predicted_ns", c->predicted_ns);
    print_number("foreseen_ns", c->foreseen_ns);
    print_number("measured_ns", c->measured_ns);
    printf("\"spread\": %.17g, \"chosen\": %s}", c->spread,
           c->is_chosen ? "true" : "false");
}

static void print_json_why(const struct explanation *e)
{
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);

    if (out)
        say_why(out, e);
    if (out)
        fclose(out);
    cli_print_json(text ? text : "");
    free(text);
}

void explanation_print_json(const struct explanation *e)
{
    fputs("{", stdout);
    print_string("origin", origins[e->said.origin]);
    print_string("effort", efforts[e->said.effort]);
    print_number("time_ns", e->said.time_ns);
    printf("\"spread\": %.17g, ", e->said.spread);
    print_string("device", e->owner.device);
    print_string("driver", e->owner.driver);
    print_string("version", e->owner.version);
    fputs("\"not_used\": [", stdout);
    for (int i = 0; i < e->others && i < MOST_OTHERS; i++) {
        fputs(i ? ", " : "", stdout);
        cli_print_json(e->other[i]);
    }
    printf("], \"model_samples\": %" PRId32 ", \"candidates\": [", e->said.samples);
    for (int i = 0; i < e->count; i++) {
        fputs(i ? "," : "", stdout);
        print_json_row(&e->row[i]);
    }
    fputs("], \"why\": ", stdout);
    print_json_why(e);
    fputs("}", stdout);
}
