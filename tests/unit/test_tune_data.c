// SPDX-License-Identifier: MIT
// Usage: test_tune_data [--verbose] [FILE]
// How well the cost model ranks plans that were measured on a GPU, before it is fitted and
// after. --verbose: print them all, with what the built-in model predicts, in the form of
// `kallima tune --verbose`. FILE: others, of which the scores are printed, and none is asked for.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../problems.h"
#include "../rows.h"
#include "device/device.h"
#include "tune/lesson.h"

enum { MOST_PROBLEMS = 256, MOST_PLANS = 8192, MOST_BYTES = 1 << 19 };

// The file; candidate and terms of the same number belong together.
static struct {
    char text[MOST_BYTES];
    const char *name[MOST_PROBLEMS];
    struct kal_problem problem[MOST_PROBLEMS];
    struct kal_search search[MOST_PROBLEMS];
    struct kal_candidate candidate[MOST_PLANS];
    struct kal_terms terms[MOST_PLANS];
    int problems, plans;
    struct kal_caps caps;
} data;

// --- reading -----------------------------------------------------------------------------

static bool add_problem(const char *line)
{
    char lengths[PROBLEM_LENGTHS_BYTES];
    const int i = data.problems++;
    kallima_desc desc;

    data.name[i] = line;
    data.search[i].problem = &data.problem[i];
    data.search[i].candidate = &data.candidate[data.plans];
    return data.problems <= MOST_PROBLEMS && problem_parse(line, &desc, lengths) &&
           kal_problem_init(&data.problem[i], NULL, &desc) == KALLIMA_OK;
}

// A plan that the library would not make any more is left out, unless it was the default.
static bool add_plan(const char *line)
{
    struct kal_search *s = &data.search[data.problems - 1];
    const int i = data.plans++;
    struct kal_recipe *recipe;
    struct kal_arena arena;
    char *end;

    if (data.problems == 0 || data.plans > MOST_PLANS)
        return false;
    s->count++;
    data.candidate[i].measured = strtod(line, &end) * 1e-6;
    data.candidate[i].text = end + 1;
    kal_arena_init(&arena, NULL);
    kallima_status status = kal_recipe_parse(&recipe, &arena, s->problem, end + 1);
    if (!status)
        status = kal_terms_count(&data.terms[i], &arena, s->problem, recipe, &data.caps);
    kal_arena_clear(&arena);
    if (status == KALLIMA_E_UNSUPPORTED && s->count > 1) {
        s->count--;
        data.plans--;
        return true;
    }
    return status == KALLIMA_OK;
}

static bool add_line(const char *line)
{
    if (*line == '#')
        return true;
    return *line == ' ' ? add_plan(line) : add_problem(line);
}

static const char *path = TUNE_DATA;

static int load(void **state)
{
    const kallima_device_options options = { .threads = 1 };
    kallima_device *device = NULL;
    FILE *file = fopen(path, "r");

    (void)state;
    if (!file || kallima_device_open(&device, "nullcuda", &options) != KALLIMA_OK)
        return -1;
    data.caps = device->caps;
    kallima_device_close(&device);
    data.text[fread(data.text, 1, sizeof data.text - 1, file)] = '\0';
    fclose(file);
    for (char *line = strtok(data.text, "\n"); line; line = strtok(NULL, "\n")) {
        if (!add_line(line)) {
            fprintf(stderr, "%s: %s\n", line, kallima_last_error());
            return -1;
        }
    }
    return 0;
}

// --- scores ------------------------------------------------------------------------------

enum { EVEN, ODD, ALL }; // problems, by their numbers

// Means over problems; of factors, geometric ones.
struct score {
    double order;        // pairs of plans that are clearly not equal, and ranked rightly
    double correlation;  // of ranks, where three plans were measured
    double first_choice; // how many times slower than the fastest it is
    double off;          // by what factor the default's prediction is wrong
};

// Of pairs whose times differ by more than a tenth, the share that is ranked rightly; -1:
// there are none.
static double find_order(const struct kal_search *s)
{
    static const double CLEARLY = 1.1;
    double right = 0.0, pairs = 0.0;

    for (int i = 0; i < s->count; i++) {
        for (int j = 0; j < s->count; j++) {
            const struct kal_candidate *a = &s->candidate[i], *b = &s->candidate[j];
            if (!(a->measured > CLEARLY * b->measured))
                continue;
            pairs += 1.0;
            right += a->predicted > b->predicted    ? 1.0
                     : a->predicted == b->predicted ? 0.5
                                                    : 0.0;
        }
    }
    return pairs > 0.0 ? right / pairs : -1.0;
}

static void predict(const struct kal_model *model)
{
    for (int i = 0; i < data.plans; i++)
        data.candidate[i].predicted = kal_model_predict(model, &data.terms[i]);
}

static struct score find_score(const struct kal_model *model, int which)
{
    struct score sum = { 0 };
    double problems = 0.0, ranked = 0.0, ordered = 0.0;

    predict(model);
    for (int i = 0; i < data.problems; i++) {
        const struct kal_search *s = &data.search[i];
        const struct kal_candidate *first = &s->candidate[0];
        if (which != ALL && i % 2 != which)
            continue;
        const double order = find_order(s);
        problems += 1.0;
        ordered += order >= 0.0;
        ranked += s->count >= 3;
        sum.order += fmax(0.0, order);
        sum.correlation += kal_search_correlation(s);
        sum.first_choice += log(kal_search_first_choice(s));
        sum.off += fabs(log(first->predicted / first->measured));
    }
    return (struct score){ sum.order / ordered, sum.correlation / ranked,
                           exp(sum.first_choice / problems), exp(sum.off / problems) };
}

static void print_score(const char *what, struct score s)
{
    printf("| %-48s | %.1f %% | %.3f | %.1f %% | %.2f |\n", what, 100.0 * s.order,
           s.correlation, 100.0 * (s.first_choice - 1.0), s.off);
}

// --- what is known before ----------------------------------------------------------------

// How many times slower than the fastest the plans are that were the defaults.
static double default_loss(void)
{
    double sum = 0.0;
    for (int i = 0; i < data.problems; i++) {
        double best = INFINITY;
        for (int j = 0; j < data.search[i].count; j++)
            best = fmin(best, data.search[i].candidate[j].measured);
        sum += log(data.search[i].candidate[0].measured / best);
    }
    return exp(sum / data.problems);
}

static double print_guess(struct score *score)
{
    const struct kal_model guess = kal_model_guess(&data.caps, NULL);
    struct kal_model unruled = guess; // that does not know what the planner's rules say
    unruled.cost[KAL_TERM_DEPART] = 0.0;
    const double loss = default_loss();

    *score = find_score(&guess, ALL);
    printf("%d problems, %d plans; the defaults are %.1f %% slower than the fastest\n",
           data.problems, data.plans, 100.0 * (loss - 1.0));
    print_score("guess", *score);
    print_score("guess, without departures from the rules", find_score(&unruled, ALL));
    return loss;
}

// The costs are fitted to these plans: this says what the terms can tell, not what they would
// of another GPU.
static void the_guess_ranks(void **state)
{
    struct score score;
    const double loss = print_guess(&score);

    (void)state;
    assert_true(data.problems >= 100 && data.plans >= 2000);
    assert_true(loss < 1.04);
    assert_true(score.order > 0.70);
    assert_true(score.correlation > 0.22);
    assert_true(score.first_choice < 1.05);
    assert_true(score.off < 1.3);
}

// --- what is learnt ----------------------------------------------------------------------

enum { SEEDS = 4 };

// Costs of a CPU; or the guess's, each wrong by a chance factor.
static struct kal_model bad_prior(double most_factor, uint64_t seed)
{
    struct kal_caps caps = data.caps;
    struct random r = { seed };

    caps.language = most_factor > 0.0 ? caps.language : KAL_LANGUAGE_NONE;
    struct kal_model prior = kal_model_guess(&caps, NULL);
    for (int i = 0; i < KAL_TERM_COUNT && most_factor > 0.0; i++)
        prior.cost[i] *= pow(most_factor, random_real(&r));
    return prior;
}

// What tuning one half of the problems after the other makes of a prior.
static struct kal_model learn(const struct kal_model *prior, int half)
{
    struct kal_knowledge knowledge = kal_knowledge_guess(prior);
    predict(prior);
    for (int i = half; i < data.problems; i += 2)
        assert_int_equal(
            kal_knowledge_extend(&knowledge, NULL, &data.search[i], &data.caps),
            KALLIMA_OK);
    return knowledge.model;
}

static void add_score(struct score *mean, struct score s, double share)
{
    mean->order += share * s.order;
    mean->correlation += share * s.correlation;
    mean->first_choice += share * s.first_choice;
    mean->off += share * s.off;
}

struct lesson {
    struct score prior, taught, held_out;
};

// Each half is taught once, and the other one is held out.
static struct lesson find_lesson(double most_factor, int seeds)
{
    const double share = 0.5 / seeds;
    struct lesson lesson = { .prior = { 0 } };

    for (int i = 0; i < 2 * seeds; i++) {
        const int half = i % 2;
        const struct kal_model prior = bad_prior(most_factor, (uint64_t)(i / 2));
        const struct kal_model model = learn(&prior, half);
        add_score(&lesson.prior, find_score(&prior, half), share);
        add_score(&lesson.taught, find_score(&model, half), share);
        add_score(&lesson.held_out, find_score(&model, 1 - half), share);
    }
    return lesson;
}

static void print_lesson(const char *what, const struct lesson *l)
{
    static const char *const rows[] = { "before", "after, problems it was fitted to",
                                        "after, problems held out" };
    const struct score score[] = { l->prior, l->taught, l->held_out };
    for (int i = 0; i < 3; i++) {
        char text[80];
        snprintf(text, sizeof text, "%s: %s", what, rows[i]);
        print_score(text, score[i]);
    }
}

static void a_fit_ranks_what_it_has_not_seen(void **state)
{
    static const struct {
        const char *what;
        double most_factor; // 0: the costs of a CPU
        int seeds;
        double order, correlation, first_choice, off; // that are gained at least
    } rows[] = {
        { "guess", 1.0, 1, -0.01, -0.02, 0.99, 0.95 },
        { "off by up to 4", 4.0, SEEDS, -0.005, -0.02, 0.99, 1.4 },
        { "off by up to 16", 16.0, SEEDS, 0.015, 0.01, 1.005, 1.8 },
        { "CPU", 0.0, 1, 0.01, 0.0, 0.99, 100.0 },
    };
    (void)state;
    for (size_t i = 0; i < KAL_COUNT(rows); i++) {
        const struct lesson l = find_lesson(rows[i].most_factor, rows[i].seeds);
        const struct score *before = &l.prior, *after = &l.held_out;
        row_ran();
        print_lesson(rows[i].what, &l);
        if (!(after->order - before->order >= rows[i].order) ||
            !(after->correlation - before->correlation >= rows[i].correlation) ||
            !(before->first_choice / after->first_choice >= rows[i].first_choice) ||
            !(before->off / after->off >= rows[i].off))
            row_fail("%s: the fit does not do what it did", rows[i].what);
    }
    ROWS_FINISH();
}

// --- for the plot ------------------------------------------------------------------------

static void print_all(void)
{
    const struct kal_model guess = kal_model_guess(&data.caps, NULL);
    predict(&guess);
    for (int i = 0; i < data.problems; i++) {
        puts(data.name[i]);
        for (int j = 0; j < data.search[i].count; j++) {
            const struct kal_candidate *c = &data.search[i].candidate[j];
            printf("  %-17s predicted %9.4g us measured %9.4g us  %s\n",
                   j == 0 ? "default" : "other", 1e6 * c->predicted, 1e6 * c->measured,
                   c->text);
        }
    }
}

static int print_scores(void)
{
    struct score score;
    const bool is_loaded = load(NULL) == 0;
    if (is_loaded)
        (void)print_guess(&score);
    else
        fprintf(stderr, "test_tune_data: cannot read plans from %s\n", path);
    return is_loaded ? 0 : 1;
}

int main(int argc, char **argv)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_guess_ranks),
        cmocka_unit_test(a_fit_ranks_what_it_has_not_seen),
    };
    const bool is_verbose = argc > 1 && strcmp(argv[1], "--verbose") == 0;
    if (argc > 1 + is_verbose)
        path = argv[1 + is_verbose];
    if (argc == 2 && !is_verbose)
        return print_scores();
    if (is_verbose) {
        const int status = load(NULL);
        print_all();
        return status == 0 ? 0 : 1;
    }
    return cmocka_run_group_tests_name("tune-data", tests, load, NULL);
}
