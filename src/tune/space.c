// SPDX-License-Identifier: MIT
// The tree is changed in place, node by node, shown, and put back.
#include "tune/space.h"

#include <string.h>

#include "codelet/lengths.h"
#include "factor/radix.h"
#include "math/number.h"
#include "pass/pass.h"

const char *const kal_decision_names[KAL_DECISION_COUNT] = {
    [KAL_DECISION_ALGORITHM] = "algorithm", [KAL_DECISION_SPLIT] = "split",
    [KAL_DECISION_PADDING] = "padding",     [KAL_DECISION_RADICES] = "radices",
    [KAL_DECISION_PARAMETER] = "parameter",
};

struct walk {
    const struct kal_planner *planner;
    const struct kal_problem *problem;
    struct kal_recipe **root;
    kal_space_visit *visit;
    void *context;
    bool has_chunks; // of lines that several passes share, on a device that takes passes
};

// A place of the tree, and the axis that the node there transforms.
struct place {
    struct walk *walk;
    struct kal_axis axis;
    const struct kal_recipe *axis_root; // of the problem's axis that it is below
    struct kal_recipe **slot;
};

// What a node may be depends on those above it, too.
static kallima_status show(const struct place *at, enum kal_decision decision)
{
    const struct walk *walk = at->walk;
    return kal_recipe_fits(*walk->root, walk->problem)
               ? walk->visit(walk->context, *walk->root, decision)
               : KALLIMA_OK;
}

// Show the tree with the axis done by another rule, or by the same on other lengths.
static kallima_status show_planned(const struct place *at, enum kal_rule_id rule,
                                   const int64_t *n, enum kal_decision decision)
{
    struct kal_recipe *const node = *at->slot;
    struct kal_recipe *other;

    KAL_TRY(kal_plan_axis_by(&other, at->walk->planner, &at->axis, rule, n));
    *at->slot = other;
    const kallima_status status = show(at, decision);
    *at->slot = node;
    return status;
}

// Are all steps of the axis codelets?
static bool is_divided_by_radices(const struct place *at)
{
    const struct kal_caps *caps = at->walk->planner->caps;
    return caps->language
               ? kal_radix_divides_kernel(at->axis.n, kal_caps_largest_prime(caps))
               : kal_radix_divides(at->axis.n);
}

static kallima_status visit_algorithms(const struct place *at)
{
    static const enum kal_rule_id rules[] = { KAL_RULE_LOCAL, KAL_RULE_PRIME_FACTOR,
                                              KAL_RULE_FOUR_STEP, KAL_RULE_RADER,
                                              KAL_RULE_BLUESTEIN };
    for (size_t i = 0; i < KAL_COUNT(rules) && !at->axis.is_real; i++) {
        if (rules[i] == (*at->slot)->rule ||
            !kal_rules[rules[i]]->applies(&at->axis, at->walk->planner->caps) ||
            (rules[i] == KAL_RULE_BLUESTEIN && is_divided_by_radices(at)))
            continue;
        KAL_TRY(show_planned(at, rules[i], NULL, KAL_DECISION_ALGORITHM));
    }
    return KALLIMA_OK;
}

static bool is_one_pass(const struct kal_axis *axis, const struct kal_caps *caps)
{
    struct kal_axis complex_axis = *axis;
    if (axis->is_real) {
        complex_axis.is_real = false;
        complex_axis.n = axis->n % 2 ? axis->n : axis->n / 2;
    }
    return kal_rule_local.applies(&complex_axis, caps) ||
           kal_rule_rader.applies(&complex_axis, caps);
}

// How many children of a split are one pass each; 0 too where the split cannot be.
static int one_pass_children(const struct place *at, const int64_t *n)
{
    const struct kal_caps *caps = at->walk->planner->caps;
    struct kal_axis child[KAL_MOST_DIVIDED];

    if (at->axis.is_real && at->axis.n % 2 != n[0] % 2)
        return 0; // columns of real numbers are even where the line is
    kal_rule_four_step.divide(&at->axis, caps, n, child);
    return is_one_pass(&child[0], caps) + is_one_pass(&child[1], caps);
}

// Splits into two passes, if there are any, else those with one pass on a side.
static kallima_status visit_splits(const struct place *at)
{
    const struct kal_recipe *node = *at->slot;
    for (int passes = 2; passes > 0; passes--) {
        bool any = false;
        for (int64_t d = 2; d <= node->n / 2; d++) {
            const int64_t n[] = { d, node->n / d };
            if (node->n % d != 0 || one_pass_children(at, n) < passes)
                continue;
            any = true;
            if (d != node->child[0]->n)
                KAL_TRY(show_planned(at, KAL_RULE_FOUR_STEP, n, KAL_DECISION_SPLIT));
        }
        if (any)
            return KALLIMA_OK;
    }
    return KALLIMA_OK;
}

// The next smooth lengths, up to a quarter longer than need be.
static kallima_status visit_paddings(const struct place *at)
{
    enum { MOST = 10, LARGEST_PRIME = 7, SHARE = 4 };
    const struct kal_recipe *node = *at->slot;
    const int64_t least = 2 * node->n - 1;
    int64_t m = least - 1;

    for (int i = 0; i < MOST; i++) {
        m = kal_smooth_length(m + 1, LARGEST_PRIME);
        if (m == 0 || m > least + least / SHARE)
            return KALLIMA_OK;
        if (m != node->child[0]->n)
            KAL_TRY(show_planned(at, KAL_RULE_BLUESTEIN, &m, KAL_DECISION_PADDING));
    }
    return KALLIMA_OK;
}

// Sequences of radices, each in every order.
struct sequences {
    const struct place *at;
    int radix[KAL_MAX_STEPS], count;
    int most_steps, largest;
    bool for_kernel;
};

static bool is_radix(const struct sequences *s, int64_t r)
{
    return s->for_kernel ? r <= s->largest && kal_radix_is_printed(r)
                         : kal_radix_exists(r);
}

static kallima_status show_radices(const struct sequences *s)
{
    struct kal_recipe *node = *s->at->slot;
    const struct kal_recipe saved = *node;

    if (s->count == node->radix_count &&
        memcmp(s->radix, node->radix, (size_t)s->count * sizeof *s->radix) == 0)
        return KALLIMA_OK;
    node->radix_count = s->count;
    memcpy(node->radix, s->radix, sizeof s->radix);
    const kallima_status status = show(s->at, KAL_DECISION_RADICES);
    *node = saved;
    return status;
}

static kallima_status visit_sequences(struct sequences *s, int64_t n)
{
    if (n == 1)
        return show_radices(s);
    if (s->count == s->most_steps)
        return KALLIMA_OK;
    for (int64_t r = 2; r <= kal_min(n, KAL_CODELET_MAX); r++) {
        if (n % r != 0 || !is_radix(s, r))
            continue;
        s->radix[s->count++] = (int)r;
        KAL_TRY(visit_sequences(s, n / r));
        s->count--;
    }
    return KALLIMA_OK;
}

// Steps of the shortest sequence.
static int fewest_steps(const struct sequences *s, int64_t n)
{
    int radix[KAL_MAX_STEPS], count = 0;
    if (s->for_kernel)
        return kal_radix_sequence_kernel(n, s->largest, true, radix);
    while (n > 1 && count < KAL_MAX_STEPS) { // greedy: a bound is all that is wanted
        int64_t r = KAL_CODELET_MAX;
        while (r > 1 && (n % r != 0 || !is_radix(s, r)))
            r--;
        if (r == 1)
            return KAL_MAX_STEPS;
        n /= r;
        count++;
    }
    return count;
}

// With as few steps as can be, or one more.
static kallima_status visit_radices(const struct place *at)
{
    const struct kal_caps *caps = at->walk->planner->caps;
    struct sequences s = { .at = at,
                           .largest = (int)kal_max(kal_caps_largest_prime(caps),
                                                   KAL_TWIDDLED_MAX),
                           .for_kernel = caps->language != KAL_LANGUAGE_NONE };
    s.most_steps = (int)kal_min(KAL_MAX_STEPS, fewest_steps(&s, at->axis.n) + 1);
    return visit_sequences(&s, at->axis.n);
}

// Values that are worth a trial, on devices of kernels and on those that take passes.
static const struct values {
    int count, value[8];
} kernel_values[KAL_PARAMETER_COUNT] = {
    [KAL_PARAMETER_POINTS] = { 4, { 4, 8, 16, 32 } },
    [KAL_PARAMETER_LINES] = { 7, { 1, 2, 4, 8, 16, 32, 64 } },
    [KAL_PARAMETER_LANES] = { 6, { 32, 64, 128, 256, 512, 1024 } },
    [KAL_PARAMETER_RUN] = { 3, { 0, 128, 4096 } },
    [KAL_PARAMETER_POWERS] = { 3, { 4, 8, 1024 } },
    [KAL_PARAMETER_RESIDENT] = { 6, { 1, 2, 3, 4, 6, 8 } },
    [KAL_PARAMETER_HINTS] = { 2, { 0, 1 } },
    [KAL_PARAMETER_LAG] = { 5, { 1, 2, 4, 8, 16 } },
    [KAL_PARAMETER_CLUSTER] = { 5, { 0, 2, 4, 8, 16 } },
    [KAL_PARAMETER_SPLIT] = { 3, { 0, 1, 2 } },
}, pass_values[KAL_PARAMETER_COUNT] = {
    [KAL_PARAMETER_LINES] = { 7, { 1, 2, 4, 8, 16, 32, 64 } },
    [KAL_PARAMETER_LANES] = { 5, { 1, 2, 4, 8, 16 } },
    [KAL_PARAMETER_HINTS] = { 2, { 0, 1 } },
    [KAL_PARAMETER_THREADS] = { 8, { 1, 2, 4, 8, 16, 32, 64, 128 } },
    [KAL_PARAMETER_ACROSS] = { 2, { 0, 1 } },
    [KAL_PARAMETER_LINE] = { 1, { 0 } }, // where it can be, it is
    [KAL_PARAMETER_FETCH] = { 2, { 0, 1 } },
};

static bool is_allowed(const struct walk *walk, enum kal_parameter_id id, int value)
{
    const struct kal_caps *caps = walk->planner->caps;
    switch (id) {
    case KAL_PARAMETER_LANES:
        return caps->language ? value <= caps->group_lanes
                              : kal_caps_has_lanes(
                                    caps, value, walk->problem->precision == KALLIMA_F64);
    case KAL_PARAMETER_CLUSTER: return value <= caps->cluster_groups;
    case KAL_PARAMETER_THREADS: return value <= caps->threads;
    default: return value <= kal_parameters[id].most;
    }
}

static kallima_status visit_values(const struct place *at, enum kal_parameter_id id)
{
    const bool has_kernels = at->walk->planner->caps->language != KAL_LANGUAGE_NONE;
    const struct values *tried = &(has_kernels ? kernel_values : pass_values)[id];
    struct kal_parameters *parameters = &(*at->slot)->parameters;
    const struct kal_parameters saved = *parameters;
    kallima_status status = KALLIMA_OK;

    for (int i = 0; i < tried->count && !status; i++) {
        const int value = tried->value[i];
        if (!is_allowed(at->walk, id, value) ||
            (saved.is_given[id] && saved.value[id] == value))
            continue;
        parameters->is_given[id] = true;
        parameters->value[id] = value;
        status = show(at, KAL_DECISION_PARAMETER);
    }
    if (saved.is_given[id] && !status) {
        parameters->is_given[id] = false;
        parameters->value[id] = 0;
        status = show(at, KAL_DECISION_PARAMETER);
    }
    *parameters = saved;
    return status;
}

// Is it a parameter of the node itself, or of all passes, or those of a chunk, for which the
// first node speaks?
static bool is_of_node(const struct place *at, enum kal_parameter_id id)
{
    struct walk *walk = at->walk;
    const bool is_first = kal_recipe_find_local(*walk->root) == *at->slot;
    switch (id) {
    case KAL_PARAMETER_CLUSTER: return walk->planner->caps->cluster_groups > 1;
    case KAL_PARAMETER_THREADS: return is_first;
    case KAL_PARAMETER_HINTS: return is_first || walk->planner->caps->language;
    case KAL_PARAMETER_LINES:
    case KAL_PARAMETER_ACROSS:
        return walk->planner->caps->language ||
               (walk->has_chunks && kal_recipe_find_local(at->axis_root) == *at->slot);
    default: return true;
    }
}

static kallima_status visit_parameters(const struct place *at)
{
    for (int id = 0; id < KAL_PARAMETER_COUNT; id++) {
        if (is_of_node(at, (enum kal_parameter_id)id))
            KAL_TRY(visit_values(at, (enum kal_parameter_id)id));
    }
    return KALLIMA_OK;
}

static kallima_status visit_local(const struct place *at)
{
    KAL_TRY(visit_radices(at));
    return visit_parameters(at);
}

typedef kallima_status visit_decisions(const struct place *at);

// What there is to decide at a node beside its rule.
static visit_decisions *const decisions[KAL_RULE_COUNT] = {
    [KAL_RULE_LOCAL] = visit_local,
    [KAL_RULE_FOUR_STEP] = visit_splits,
    [KAL_RULE_BLUESTEIN] = visit_paddings,
};

static kallima_status visit_node(const struct place *at)
{
    struct kal_recipe *node = *at->slot;
    const struct kal_rule *rule = kal_rules[node->rule];
    struct kal_axis child[KAL_MOST_DIVIDED];
    int64_t n[KAL_MOST_DIVIDED] = { 0 };

    KAL_TRY(visit_algorithms(at));
    if (decisions[node->rule])
        KAL_TRY(decisions[node->rule](at));
    for (int i = 0; i < node->child_count; i++)
        n[i] = node->child[i]->n;
    if (rule->divide)
        rule->divide(&at->axis, at->walk->planner->caps, n, child);
    for (int i = 0; i < node->child_count; i++) {
        const struct place below = { at->walk, child[i], at->axis_root, &node->child[i] };
        KAL_TRY(visit_node(&below));
    }
    return KALLIMA_OK;
}

// A recipe that cannot be passes has none.
static kallima_status find_chunks(struct walk *walk)
{
    struct kal_program program;
    const kallima_status status = kal_program_lower(
        &program, walk->planner->arena, walk->problem, *walk->root, walk->planner->caps);
    walk->has_chunks = !status && kal_program_has_chunks(&program);
    return status == KALLIMA_E_MEMORY ? status : KALLIMA_OK;
}

kallima_status kal_space_neighbours(const struct kal_planner *planner,
                                    const struct kal_problem *problem,
                                    struct kal_recipe *recipe, kal_space_visit *visit,
                                    void *context)
{
    struct walk walk = { planner, problem, &recipe, visit, context, false };

    if (!planner->caps->language)
        KAL_TRY(find_chunks(&walk));
    for (int i = 0; i < problem->rank; i++) {
        const struct place at = {
            .walk = &walk,
            .axis = kal_problem_axis(problem, i, planner->caps),
            .axis_root = problem->rank == 1 ? recipe : recipe->child[i],
            .slot = problem->rank == 1 ? &recipe : &recipe->child[i],
        };
        KAL_TRY(visit_node(&at));
    }
    return KALLIMA_OK;
}

// --- differences -------------------------------------------------------------------------

static unsigned set_of(enum kal_decision decision, bool differs)
{
    return differs ? 1u << decision : 0u;
}

static bool has_parameters_of(const struct kal_parameters *a,
                              const struct kal_parameters *b)
{
    for (int id = 0; id < KAL_PARAMETER_COUNT; id++) {
        if (a->is_given[id] != b->is_given[id] ||
            (a->is_given[id] && a->value[id] != b->value[id]))
            return false;
    }
    return true;
}

static bool has_radices_of(const struct kal_recipe *a, const struct kal_recipe *b)
{
    return a->radix_count == b->radix_count &&
           memcmp(a->radix, b->radix, (size_t)a->radix_count * sizeof *a->radix) == 0;
}

unsigned kal_space_differences(const struct kal_recipe *a, const struct kal_recipe *b)
{
    if (a->rule != b->rule || a->child_count != b->child_count)
        return set_of(KAL_DECISION_ALGORITHM, true);
    unsigned set = set_of(KAL_DECISION_RADICES, !has_radices_of(a, b)) |
                   set_of(KAL_DECISION_PARAMETER,
                          !has_parameters_of(&a->parameters, &b->parameters));
    for (int i = 0; i < a->child_count; i++) {
        if (a->child[i]->n != b->child[i]->n)
            return set_of(a->rule == KAL_RULE_BLUESTEIN ? KAL_DECISION_PADDING
                                                        : KAL_DECISION_SPLIT,
                          true);
        set |= kal_space_differences(a->child[i], b->child[i]);
    }
    return set;
}
