// SPDX-License-Identifier: MIT
// Why a plan is as it is: what kallima plan --explain prints behind the plan.
#ifndef KALLIMA_TOOLS_EXPLANATION_H_
#define KALLIMA_TOOLS_EXPLANATION_H_

#include "cli.h"

/** All that is known of a plan and of those that were not chosen. */
struct explanation;

/**
 * Ask the library about a plan. NULL: the error is told.
 *
 * Owner: the caller frees the result with explanation_destroy().
 */
struct explanation *explanation_create(const kallima_plan *plan, kallima_device *device);

/** Free *explanation and set it to NULL; *explanation may be NULL. */
void explanation_destroy(struct explanation **explanation);

/** Print it for people: with `all`, every candidate. */
void explanation_print(const struct explanation *explanation, bool all);

/** Print it as a JSON object, with every candidate. */
void explanation_print_json(const struct explanation *explanation);

#endif
