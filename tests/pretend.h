// SPDX-License-Identifier: MIT
// Wisdom that nobody measured, for tests of how it is kept.
#ifndef TESTS_PRETEND_H_
#define TESTS_PRETEND_H_

#include "wisdom/wisdom.h"

/** Whose it is. */
extern const kallima_wisdom_owner pretend_owner;

/** Return an empty wisdom that is kept nowhere; freed with kallima_wisdom_destroy(). */
kallima_wisdom *pretend_create(const struct kal_host *host);

/** Return a measured plan, or a recipe that computed wrongly. The strings are borrowed. */
kallima_wisdom_entry pretend_plan(const char *key, const char *recipe, double time_ns);
kallima_wisdom_entry pretend_bad(const char *key, const char *recipe);

/** Add an entry, or a plan, which must succeed. */
void pretend_add(kallima_wisdom *wisdom, kallima_wisdom_entry entry);
void pretend_add_plan(kallima_wisdom *wisdom, const char *key, const char *recipe,
                      double time_ns);

/** Return all of a wisdom as text; freed with free(). */
char *pretend_text(const kallima_wisdom *wisdom);

/** Whether two wisdoms have the same text. */
bool pretend_is_same(const kallima_wisdom *a, const kallima_wisdom *b);

/** Merge `other` into a wisdom, through text. */
void pretend_merge(kallima_wisdom *wisdom, const kallima_wisdom *other);

#endif
