// SPDX-License-Identifier: MIT
#include "tune/lesson.h"

#include <math.h>

static bool is_measured(const struct kal_candidate *c)
{
    return c->measured > 0.0 && isfinite(c->predicted);
}

// The rank of a value among all that were measured: the mean of those that are equal.
static double rank_of(const struct kal_search *s, double value, bool of_predicted)
{
    double below = 0.0, equal = 0.0;
    for (int i = 0; i < s->count; i++) {
        const struct kal_candidate *c = &s->candidate[i];
        const double other = of_predicted ? c->predicted : c->measured;
        below += is_measured(c) && other < value;
        equal += is_measured(c) && other == value;
    }
    return below + (equal + 1.0) / 2.0;
}

double kal_search_correlation(const struct kal_search *s)
{
    enum { FEWEST = 3 };
    double count = 0.0, both = 0.0, predicted = 0.0, measured = 0.0;

    for (int i = 0; i < s->count; i++)
        count += is_measured(&s->candidate[i]);
    for (int i = 0; i < s->count; i++) {
        const struct kal_candidate *c = &s->candidate[i];
        if (!is_measured(c))
            continue;
        const double p = rank_of(s, c->predicted, true) - (count + 1.0) / 2.0;
        const double m = rank_of(s, c->measured, false) - (count + 1.0) / 2.0;
        both += p * m;
        predicted += p * p;
        measured += m * m;
    }
    return count < FEWEST || predicted == 0.0 || measured == 0.0
               ? 0.0
               : both / sqrt(predicted * measured);
}

double kal_search_first_choice(const struct kal_search *s)
{
    const struct kal_candidate *choice = NULL;
    double best = INFINITY;

    for (int i = 0; i < s->count; i++) {
        const struct kal_candidate *c = &s->candidate[i];
        if (!is_measured(c))
            continue;
        best = fmin(best, c->measured);
        if (!choice || c->predicted < choice->predicted)
            choice = c;
    }
    return choice ? choice->measured / best : 0.0;
}

double kal_search_parameter_share(const struct kal_search *s, int from)
{
    double all = 0.0, parameters = 0.0; // of logarithms
    for (int i = s->best; i != from && i > 0; i = s->candidate[i].of) {
        const struct kal_candidate *c = &s->candidate[i];
        const double gain = c->gain > 1.0 ? log(c->gain) : 0.0;
        all += gain;
        parameters += c->decision == KAL_DECISION_PARAMETER ? gain : 0.0;
    }
    return all > 0.0 ? parameters / all : 0.0;
}

static kallima_status count_terms(struct kal_terms *terms, const struct kal_host *host,
                                  const struct kal_search *search, const char *text,
                                  const struct kal_caps *caps)
{
    struct kal_recipe *recipe;
    struct kal_arena arena;

    kal_arena_init(&arena, host);
    kallima_status status = kal_recipe_parse(&recipe, &arena, search->problem, text);
    if (!status)
        status = kal_terms_count(terms, &arena, search->problem, recipe, caps);
    kal_arena_clear(&arena);
    return status;
}

// A guess counts as much as one sample whose time is that of this term alone.
struct kal_knowledge kal_knowledge_guess(const struct kal_model *guess)
{
    struct kal_knowledge knowledge = { .model = *guess };
    for (int i = 0; i < KAL_TERM_COUNT; i++)
        knowledge.trust[i] = 1.0 / (guess->cost[i] * guess->cost[i]);
    return knowledge;
}

kallima_status kal_knowledge_extend(struct kal_knowledge *knowledge,
                                    const struct kal_host *host,
                                    const struct kal_search *search,
                                    const struct kal_caps *caps)
{
    struct kal_sample *sample;
    kallima_status status = KALLIMA_OK;
    void *memory;
    int count = 0;

    KAL_TRY(kal_alloc(host, &memory, (uint64_t)search->count, sizeof *sample));
    sample = memory;
    for (int i = 0; i < search->count && !status; i++) {
        const struct kal_candidate *c = &search->candidate[i];
        if (!is_measured(c))
            continue;
        sample[count].seconds = c->measured;
        status = count_terms(&sample[count++].terms, host, search, c->text, caps);
    }
    if (!status) {
        kal_model_fit(&knowledge->model, knowledge->trust, sample, count);
        knowledge->samples += count;
    }
    kal_free(host, memory);
    return status;
}
