// SPDX-License-Identifier: MIT
#include "tune/search.h"

#include <stdlib.h>
#include <string.h>

enum { AHEAD = 16 }; // candidates that are prepared while another one is tried

const char *const kal_fate_names[KAL_FATE_COUNT] = {
    [KAL_FATE_WAITING] = "untried", [KAL_FATE_PRUNED] = "pruned",
    [KAL_FATE_SAME] = "same",       [KAL_FATE_KNOWN] = "known",
    [KAL_FATE_REFUSED] = "refused", [KAL_FATE_WRONG] = "wrong",
    [KAL_FATE_SLOWER] = "slower",   [KAL_FATE_FASTER] = "faster",
};

static kallima_status grow(struct kal_search *s)
{
    enum { FIRST_CAPACITY = 256 };
    const int capacity = s->capacity ? 2 * s->capacity : FIRST_CAPACITY;
    void *memory;

    KAL_TRY(kal_arena_take(s->planner.arena, &memory, (uint64_t)capacity,
                           sizeof *s->candidate));
    if (s->count)
        memcpy(memory, s->candidate, (size_t)s->count * sizeof *s->candidate);
    s->candidate = memory;
    s->capacity = capacity;
    return KALLIMA_OK;
}

// The recipe as text in the arena; NULL: it is known.
static kallima_status new_text(struct kal_search *s, const struct kal_recipe *recipe,
                               const char **out)
{
    struct kal_text text;
    void *memory = NULL;

    *out = NULL;
    kal_text_init(&text, s->planner.arena->host);
    kal_recipe_print(&text, recipe);
    kallima_status status = text.status;
    bool is_known = false;
    for (int i = 0; i < s->count && !status && !is_known; i++)
        is_known = strcmp(s->candidate[i].text, text.data) == 0;
    if (!status && !is_known)
        status = kal_arena_take(s->planner.arena, &memory, text.length + 1, 1);
    if (memory)
        memcpy(memory, text.data, text.length + 1);
    kal_text_clear(&text);
    *out = memory;
    return status;
}

static kallima_status add(void *context, const struct kal_recipe *recipe,
                          enum kal_decision decision)
{
    struct kal_search *s = context;
    const char *text;

    KAL_TRY(new_text(s, recipe, &text));
    if (!text)
        return KALLIMA_OK;
    if (s->count == s->capacity)
        KAL_TRY(grow(s));
    s->candidate[s->count++] = (struct kal_candidate){
        .text = text,
        .decision = decision,
        .predicted = s->judge->predict(s->judge->context, recipe),
    };
    return KALLIMA_OK;
}

// Does candidate i come before j? Neighbours of the latest best before those of earlier ones,
// then what is predicted to be faster, then what came up first.
static bool comes_before(const struct kal_search *s, int i, int j)
{
    const struct kal_candidate *a = &s->candidate[i], *b = &s->candidate[j];
    if (a->of != b->of)
        return a->of > b->of;
    return a->predicted < b->predicted || (a->predicted == b->predicted && i < j);
}

// The numbers of the next candidates in their order; return how many there are.
static int choose_next(const struct kal_search *s, int *next)
{
    int count = 0;
    for (int i = 0; i < s->count; i++) {
        if (s->candidate[i].fate != KAL_FATE_WAITING)
            continue;
        int at = count < AHEAD ? count++ : AHEAD;
        for (; at > 0 && comes_before(s, i, next[at - 1]); at--) {
            if (at < AHEAD)
                next[at] = next[at - 1];
        }
        if (at < AHEAD)
            next[at] = i;
    }
    return count;
}

static void prune(struct kal_search *s)
{
    const double most = s->reach.most_predicted * s->candidate[s->best].predicted;
    for (int i = 0; i < s->count; i++) {
        struct kal_candidate *c = &s->candidate[i];
        if (c->fate == KAL_FATE_WAITING && !(c->predicted <= most))
            c->fate = KAL_FATE_PRUNED;
    }
}

// All that differ from the best in one decision, and are not known yet.
static kallima_status look_around(struct kal_search *s)
{
    struct kal_recipe *recipe;

    KAL_TRY(kal_recipe_parse(&recipe, s->planner.arena, s->problem,
                             s->candidate[s->best].text));
    const int first = s->count;
    KAL_TRY(kal_space_neighbours(&s->planner, s->problem, recipe, add, s));
    for (int i = first; i < s->count; i++)
        s->candidate[i].of = s->best;
    prune(s);
    return KALLIMA_OK;
}

static kallima_status challenge(struct kal_search *s, int i)
{
    KAL_TRY(s->judge->challenge(s->judge->context, &s->candidate[i]));
    if (s->candidate[i].fate == KAL_FATE_FASTER)
        s->best = i;
    return KALLIMA_OK;
}

// Return which of the next candidates to challenge.
static int prepare(const struct kal_search *s, const int *next, int count)
{
    const char *text[AHEAD];

    if (!s->judge->prepare)
        return 0;
    for (int i = 0; i < count; i++)
        text[i] = s->candidate[next[i]].text;
    return s->judge->prepare(s->judge->context, text, count);
}

// May another candidate be tried?
static bool goes_on(const struct kal_search *s, int failures)
{
    return failures < s->reach.most_failures && s->judge->has_time(s->judge->context);
}

// What did not run is none.
static bool is_failure(const struct kal_candidate *c)
{
    return c->fate != KAL_FATE_SAME && c->fate != KAL_FATE_KNOWN;
}

// Try candidates until one is faster: true. False: none is left, or no time.
static kallima_status improve(struct kal_search *s, int *failures, bool *has_improved)
{
    int next[AHEAD], count;

    *has_improved = false;
    while (goes_on(s, *failures) && (count = choose_next(s, next)) > 0) {
        count = (int)kal_min(count, s->reach.most_failures - *failures);
        const int chosen = next[prepare(s, next, count)];
        KAL_TRY(challenge(s, chosen));
        *has_improved = s->best == chosen;
        *failures = *has_improved ? 0 : *failures + is_failure(&s->candidate[chosen]);
        if (*has_improved)
            break;
    }
    return KALLIMA_OK;
}

// The coarsest decision in which two recipes differ.
static enum kal_decision find_decision(const struct kal_recipe *a,
                                       const struct kal_recipe *b)
{
    const unsigned differences = kal_space_differences(a, b);
    int decision = 0;
    while (decision < KAL_DECISION_COUNT - 1 && !(differences >> decision & 1))
        decision++;
    return (enum kal_decision)decision;
}

kallima_status kal_search_run(struct kal_search *s, const struct kal_planner *planner,
                              const struct kal_problem *problem, struct kal_recipe *first,
                              struct kal_recipe *known, const struct kal_judge *judge,
                              struct kal_reach reach)
{
    bool has_improved = true;
    int failures = 0;

    *s = (struct kal_search){
        .planner = *planner, .problem = problem, .judge = judge, .reach = reach
    };
    KAL_TRY(add(s, first, KAL_DECISION_ALGORITHM));
    KAL_TRY(challenge(s, 0));
    if (known)
        KAL_TRY(add(s, known, find_decision(first, known)));
    if (s->count > 1 && judge->has_time(judge->context))
        KAL_TRY(challenge(s, 1));
    while (has_improved && judge->has_time(judge->context)) {
        KAL_TRY(look_around(s));
        KAL_TRY(improve(s, &failures, &has_improved));
    }
    return KALLIMA_OK;
}
