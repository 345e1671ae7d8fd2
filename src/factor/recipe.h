// SPDX-License-Identifier: MIT
// A recipe: which algorithm computes each axis, as a tree with a text form.
//
//   recipe := name "(" arguments ")"
//   local(16.16.4)            radices of codelets, in the order of the steps; behind them
//                             parameters: local(16.16.4, lanes=128)
//   four-step(A, B)           n = A.n * B.n: A on the columns, twiddles, B on the rows; of a
//                             real line A is real
//   prime-factor(A, B)        as four-step for coprime lengths, without twiddles
//   rader(A)                  n = A.n + 1 is prime
//   bluestein(n=101, A)       a convolution of length A.n >= 2 n - 1
//   real-even(A)              n = 2 A.n real numbers through complex ones
//   real-odd(A)               n = A.n
//   rank(A, B, ...)           one for each axis of the problem, slowest first
#ifndef KAL_FACTOR_RECIPE_H_
#define KAL_FACTOR_RECIPE_H_

#include "base/arena.h"
#include "base/text.h"
#include "factor/parameter.h"
#include "problem/problem.h"

enum {
    KAL_MAX_STEPS = 32,    // radices of one local recipe
    KAL_MAX_LOCAL = 16384, // points of one local recipe
    KAL_MAX_DEPTH = 24,    // of the tree
};

enum kal_rule_id {
    KAL_RULE_LOCAL,
    KAL_RULE_PRIME_FACTOR,
    KAL_RULE_FOUR_STEP,
    KAL_RULE_RADER,
    KAL_RULE_BLUESTEIN,
    KAL_RULE_REAL_EVEN,
    KAL_RULE_REAL_ODD,
    KAL_RULE_RANK,
    KAL_RULE_COUNT
};

struct kal_recipe {
    enum kal_rule_id rule;
    int64_t n; // length that it transforms; of a rank: the product
    int radix_count;
    int radix[KAL_MAX_STEPS];
    struct kal_parameters parameters; // of a local node
    int child_count;
    struct kal_recipe *child[KALLIMA_MAX_RANK];
};

/** Append the recipe as one line without a newline. */
void kal_recipe_print(struct kal_text *text, const struct kal_recipe *recipe);

/** Return the first local node below, or NULL. */
const struct kal_recipe *kal_recipe_find_local(const struct kal_recipe *recipe);

/** Return a parameter of the first local node below that has it, or `otherwise`. */
int kal_recipe_get_parameter(const struct kal_recipe *recipe, enum kal_parameter_id id,
                             int otherwise);

/** Return whether any node has parameters. */
bool kal_recipe_has_parameters(const struct kal_recipe *recipe);

/**
 * Return whether a recipe that was put together obeys all rules and computes the problem, as
 * one that was read does; sets the lengths of its nodes.
 */
bool kal_recipe_fits(struct kal_recipe *recipe, const struct kal_problem *problem);

/**
 * Return whether one codelet of the CPU engine can do all of a node: of reals, or of
 * whole numbers.
 */
bool kal_recipe_is_codelet(const struct kal_recipe *recipe);

/**
 * Return whether it is one whose rows a CPU may work as whole numbers, by a codelet, for
 * all its radices.
 */
bool kal_recipe_is_of_numbers(const struct kal_recipe *recipe);

/**
 * Read a recipe for `problem` from text.
 *
 * Owner: *out lives in the arena.
 * Error: E_RECIPE  the text is damaged, breaks a rule, or does not fit the problem
 *        E_MEMORY  exhausted
 */
kallima_status kal_recipe_parse(struct kal_recipe **out, struct kal_arena *arena,
                                const struct kal_problem *problem, const char *text);

#endif
