// SPDX-License-Identifier: MIT
// What may be chosen: from any recipe of a problem, those that differ in one decision. All of
// them, and theirs in turn, are the space that a search walks. No device is needed.
#ifndef KAL_TUNE_SPACE_H_
#define KAL_TUNE_SPACE_H_

#include "factor/rule.h"

enum kal_decision {
    KAL_DECISION_ALGORITHM, // another rule for a node
    KAL_DECISION_SPLIT,     // other lengths of a four-step
    KAL_DECISION_PADDING,   // another length of Bluestein's convolution
    KAL_DECISION_RADICES,   // of a local node, and their order
    KAL_DECISION_PARAMETER, // of the kernel of a local node, or of its pass
    KAL_DECISION_COUNT
};

/** What a decision is about, in one word. */
extern const char *const kal_decision_names[KAL_DECISION_COUNT];

/**
 * Return the decisions in which two recipes of a problem differ, as a sum of 1 << decision. Of
 * nodes that do another thing, or divide their length otherwise, those below do not count.
 */
unsigned kal_space_differences(const struct kal_recipe *a, const struct kal_recipe *b);

/**
 * Takes a recipe that differs from the one that was asked about in one decision. It is good
 * for the call only. Any status but OK ends the visits and is passed on.
 */
typedef kallima_status kal_space_visit(void *context, const struct kal_recipe *recipe,
                                       enum kal_decision decision);

/**
 * Visit every recipe of `problem` that differs from `recipe` in one decision: its nodes from
 * the outside inwards, the decisions of a node in the order of kal_decision.
 *
 * Owner:  `recipe` is as it was when the call ends; what the visits need lives in the
 *         planner's arena, whose limits are those of kal_caps_limit().
 * Thread: one call on a recipe at a time.
 * Error:  E_MEMORY  exhausted; else what `visit` returned
 */
kallima_status kal_space_neighbours(const struct kal_planner *planner,
                                    const struct kal_problem *problem,
                                    struct kal_recipe *recipe, kal_space_visit *visit,
                                    void *context);

#endif
