// SPDX-License-Identifier: MIT
// The tree as text and back.
#include "factor/recipe.h"

#include "codelet/lengths.h"
#include "factor/rule.h"

#include <string.h>

bool kal_recipe_is_codelet(const struct kal_recipe *node)
{
    return node->rule == KAL_RULE_LOCAL &&
           (node->radix_count == 1 || node->n == KAL_NUMBERS_MAX);
}

bool kal_recipe_is_of_numbers(const struct kal_recipe *node)
{
    return node->rule == KAL_RULE_LOCAL && kal_length_is_of_numbers(node->n);
}

void kal_recipe_print(struct kal_text *text, const struct kal_recipe *node)
{
    kal_text_add(text, "%s(", kal_rules[node->rule]->name);
    if (node->rule == KAL_RULE_BLUESTEIN)
        kal_text_add(text, "n=%lld, ", (long long)node->n);
    if (node->rule == KAL_RULE_LOCAL && node->radix_count == 0)
        kal_text_add(text, "1");
    for (int i = 0; i < node->radix_count; i++)
        kal_text_add(text, "%s%d", i ? "." : "", node->radix[i]);
    for (int i = 0; i < KAL_PARAMETER_COUNT; i++) {
        if (node->parameters.is_given[i])
            kal_text_add(text, ", %s=%d", kal_parameters[i].name,
                         node->parameters.value[i]);
    }
    for (int i = 0; i < node->child_count; i++) {
        kal_text_add(text, "%s", i ? ", " : "");
        kal_recipe_print(text, node->child[i]);
    }
    kal_text_add(text, ")");
}

const struct kal_recipe *kal_recipe_find_local(const struct kal_recipe *node)
{
    const struct kal_recipe *local = node->rule == KAL_RULE_LOCAL ? node : NULL;
    for (int i = 0; i < node->child_count && !local; i++)
        local = kal_recipe_find_local(node->child[i]);
    return local;
}

int kal_recipe_get_parameter(const struct kal_recipe *node, enum kal_parameter_id id,
                             int otherwise)
{
    enum { NONE = -1 };
    int value = kal_parameter_get(&node->parameters, id, NONE);
    for (int i = 0; i < node->child_count && value == NONE; i++)
        value = kal_recipe_get_parameter(node->child[i], id, NONE);
    return value == NONE ? otherwise : value;
}

bool kal_recipe_has_parameters(const struct kal_recipe *node)
{
    bool is_found = false;
    for (int i = 0; i < KAL_PARAMETER_COUNT; i++)
        is_found = is_found || node->parameters.is_given[i];
    for (int i = 0; i < node->child_count; i++)
        is_found = is_found || kal_recipe_has_parameters(node->child[i]);
    return is_found;
}

// A convolution may be this many times longer than the line that it serves.
enum { MAX_PADDING = 16 };

struct reader {
    struct kal_arena *arena;
    const char *start, *at;
    int depth;
    int64_t longest; // that any node of a recipe for the problem can be
};

static kallima_status damaged(const struct reader *r, const char *expected)
{
    return kal_fail(r->arena->host, KALLIMA_E_RECIPE,
                    "recipe: at character %lld: expected %s",
                    (long long)(r->at - r->start) + 1, expected);
}

static void skip_spaces(struct reader *r)
{
    r->at += strspn(r->at, " \t\n");
}

static bool accept(struct reader *r, const char *token)
{
    skip_spaces(r);
    const size_t length = strlen(token);
    if (strncmp(r->at, token, length) != 0)
        return false;
    r->at += length;
    return true;
}

// A positive decimal number below 10^18.
static kallima_status read_number(struct reader *r, int64_t *out)
{
    skip_spaces(r);
    const size_t digits = strspn(r->at, "0123456789");
    if (digits == 0 || digits > 18 || r->at[0] == '0')
        return damaged(r, "a positive number");
    *out = 0;
    for (size_t i = 0; i < digits; i++)
        *out = *out * 10 + (r->at[i] - '0');
    r->at += digits;
    return KALLIMA_OK;
}

static kallima_status read_rule(struct reader *r, enum kal_rule_id *rule)
{
    skip_spaces(r);
    const size_t length = strspn(r->at, "abcdefghijklmnopqrstuvwxyz-");
    for (int i = 0; i < KAL_RULE_COUNT; i++) {
        const char *name = kal_rules[i]->name;
        if (strlen(name) == length && strncmp(r->at, name, length) == 0) {
            r->at += length;
            *rule = (enum kal_rule_id)i;
            return KALLIMA_OK;
        }
    }
    return damaged(r, "the name of a rule");
}

static kallima_status read_radices(struct reader *r, struct kal_recipe *node)
{
    do {
        int64_t radix = 0;
        KAL_TRY(read_number(r, &radix));
        if (radix == 1 && node->radix_count == 0)
            return KALLIMA_OK;
        if (node->radix_count == KAL_MAX_STEPS || radix > KAL_MAX_LOCAL)
            return damaged(r, "radices of codelets");
        node->radix[node->radix_count++] = (int)radix;
    } while (accept(r, "."));
    return KALLIMA_OK;
}

// A decimal number of a few digits; zero too.
static kallima_status read_value(struct reader *r, int least, int most, int *out)
{
    enum { MOST_DIGITS = 6 };
    skip_spaces(r);
    const size_t digits = strspn(r->at, "0123456789");
    int value = 0;
    for (size_t i = 0; i < digits && i < MOST_DIGITS; i++)
        value = 10 * value + (r->at[i] - '0');
    if (digits == 0 || digits > MOST_DIGITS || value < least || value > most)
        return kal_fail(r->arena->host, KALLIMA_E_RECIPE,
                        "recipe: at character %lld: expected a number from %d to %d",
                        (long long)(r->at - r->start) + 1, least, most);
    r->at += digits;
    *out = value;
    return KALLIMA_OK;
}

static kallima_status read_parameter(struct reader *r, struct kal_parameters *parameters)
{
    skip_spaces(r);
    const size_t length = strspn(r->at, "abcdefghijklmnopqrstuvwxyz");
    for (int i = 0; i < KAL_PARAMETER_COUNT; i++) {
        const struct kal_parameter *p = &kal_parameters[i];
        if (strlen(p->name) != length || strncmp(r->at, p->name, length) != 0 ||
            parameters->is_given[i])
            continue;
        r->at += length;
        if (!accept(r, "="))
            return damaged(r, "\"=\"");
        parameters->is_given[i] = true;
        return read_value(r, p->least, p->most, &parameters->value[i]);
    }
    return damaged(r, "the name of a parameter that is not given yet");
}

static kallima_status read_local(struct reader *r, struct kal_recipe *node)
{
    KAL_TRY(read_radices(r, node));
    while (accept(r, ","))
        KAL_TRY(read_parameter(r, &node->parameters));
    return KALLIMA_OK;
}

static kallima_status read_node(struct reader *r, struct kal_recipe **out);

static kallima_status read_children(struct reader *r, struct kal_recipe *node)
{
    do {
        if (node->child_count == kal_rules[node->rule]->max_children)
            return damaged(r, "\")\"");
        KAL_TRY(read_node(r, &node->child[node->child_count]));
        node->child_count++;
    } while (accept(r, ","));
    if (node->child_count < kal_rules[node->rule]->min_children)
        return damaged(r, "another recipe");
    return KALLIMA_OK;
}

static kallima_status read_node(struct reader *r, struct kal_recipe **out)
{
    void *memory;

    if (r->depth == KAL_MAX_DEPTH)
        return damaged(r, "no deeper nesting");
    KAL_TRY(kal_arena_take(r->arena, &memory, 1, sizeof **out));
    struct kal_recipe *node = memory;
    KAL_TRY(read_rule(r, &node->rule));
    if (!accept(r, "("))
        return damaged(r, "\"(\"");
    if (node->rule == KAL_RULE_BLUESTEIN) {
        if (!accept(r, "n="))
            return damaged(r, "\"n=\"");
        KAL_TRY(read_number(r, &node->n));
        if (!accept(r, ","))
            return damaged(r, "\",\"");
    }

    r->depth++;
    KAL_TRY(node->rule == KAL_RULE_LOCAL ? read_local(r, node) : read_children(r, node));
    r->depth--;
    if (!accept(r, ")"))
        return damaged(r, "\")\"");
    if (!kal_rules[node->rule]->complete(node) || node->n > r->longest)
        return damaged(r, "arguments that the rule before and the problem allow");
    *out = node;
    return KALLIMA_OK;
}

static bool is_complex(const struct kal_recipe *node)
{
    if (node->rule >= KAL_RULE_REAL_EVEN)
        return false;
    for (int i = 0; i < node->child_count; i++) {
        if (!is_complex(node->child[i]))
            return false;
    }
    return true;
}

static bool is_real_rule(const struct kal_recipe *node)
{
    return node->rule == KAL_RULE_REAL_EVEN || node->rule == KAL_RULE_REAL_ODD;
}

static bool is_local_real(const struct kal_recipe *node)
{
    return is_real_rule(node) && node->child[0]->rule == KAL_RULE_LOCAL;
}

// Nothing but lines that are one pass each, on any number of levels.
static bool is_local(const struct kal_recipe *node)
{
    if (node->rule == KAL_RULE_FOUR_STEP)
        return is_local(node->child[0]) && is_local(node->child[1]);
    return node->rule == KAL_RULE_LOCAL;
}

static bool fits_axis(const struct kal_recipe *node, int64_t n, bool is_real)
{
    if (node->n != n)
        return false;
    if (!is_real)
        return is_complex(node);
    if (node->rule == KAL_RULE_FOUR_STEP)
        return is_local_real(node->child[0]) && is_local(node->child[1]);
    return is_real_rule(node) && is_complex(node->child[0]);
}

static bool fits_problem(const struct kal_recipe *node, const struct kal_problem *p)
{
    const bool is_real = p->kind != KALLIMA_C2C;
    if (p->rank == 1)
        return fits_axis(node, p->n[0], is_real);
    if (node->rule != KAL_RULE_RANK || node->child_count != p->rank)
        return false;
    for (int i = 0; i < p->rank; i++) {
        if (!fits_axis(node->child[i], p->n[i], is_real && i == p->rank - 1))
            return false;
    }
    return true;
}

static bool is_complete(struct kal_recipe *node)
{
    for (int i = 0; i < node->child_count; i++) {
        if (!is_complete(node->child[i]))
            return false;
    }
    return kal_rules[node->rule]->complete(node);
}

bool kal_recipe_fits(struct kal_recipe *recipe, const struct kal_problem *problem)
{
    return is_complete(recipe) && fits_problem(recipe, problem);
}

kallima_status kal_recipe_parse(struct kal_recipe **out, struct kal_arena *arena,
                                const struct kal_problem *problem, const char *text)
{
    struct reader r = { .arena = arena, .start = text, .at = text, .longest = 1 };

    *out = NULL;
    for (int i = 0; i < problem->rank; i++)
        r.longest *= problem->n[i]; // below 2^57, as the problem was checked
    r.longest = MAX_PADDING * r.longest;
    struct kal_recipe *node;
    KAL_TRY(read_node(&r, &node));
    skip_spaces(&r);
    if (*r.at != '\0')
        return damaged(&r, "the end");
    if (!fits_problem(node, problem))
        return kal_fail(
            arena->host, KALLIMA_E_RECIPE,
            "recipe: \"%.200s\" does not compute this problem: its lengths or "
            "kinds differ",
            text);
    *out = node;
    return KALLIMA_OK;
}
