// SPDX-License-Identifier: MIT
// The order of a local node's radices.
#ifndef KAL_FACTOR_ORDER_H_
#define KAL_FACTOR_ORDER_H_

#include "factor/recipe.h"

/** Even radices and then odd ones, smaller ones first. */
void kal_order_ascending(struct kal_recipe *node);

/** From the smallest on. */
void kal_order_rising(struct kal_recipe *node);

/**
 * A radix of 25 or 27 points, whose values spill on a processor, last in place of first.
 * Measured on a Zen 5 processor in November 2026: 162 to 540 points, by 27, take 0.85 to
 * 0.97 of the time so, but what has a power of two beside it takes 0.97 to 1.05.
 */
void kal_order_spilling_last(struct kal_recipe *node);

/** A large odd radix first or last, where a line is one pass or its points are wide. */
void kal_order_odd_aside(struct kal_recipe *node);

/** The radix last whose codelets take most registers of a lane: of a line of n points, one pass. */
void kal_order_by_shares(struct kal_recipe *node, int64_t n, bool is_f64);

/** The radix at `end`, 0 or the last place, that a mirrored step beside it suits best. */
void kal_order_mirrored(struct kal_recipe *node, int end, bool is_f64);

#endif
