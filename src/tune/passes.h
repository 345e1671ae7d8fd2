// SPDX-License-Identifier: MIT
// Times of what plans launch: a pass, or several that one launch works. What was measured in
// one plan is known for every plan that launches the same, of this problem or another, today
// or later: so of passes in a row each is measured once, and not each combination.
#ifndef KAL_TUNE_PASSES_H_
#define KAL_TUNE_PASSES_H_

#include <kallima/wisdom.h>

#include "base/base.h"

enum { KAL_MOST_PLAN_PASSES = 8 }; // of plans that are taken apart

/** What one plan launches, by kal_kernel_program_launch_key(). */
struct kal_pass_list {
    int count; // 0: not known, or too many
    uint64_t key[KAL_MOST_PLAN_PASSES];
};

struct kal_pass_time {
    uint64_t key;
    double seconds, spread;
    bool is_new; // measured since kal_passes_init()
};

struct kal_passes {
    const struct kal_host *host;
    struct kal_pass_time *time;
    int count, capacity;
};

/** Owner: the caller frees it with kal_passes_clear(); `host` outlives it. */
void kal_passes_init(struct kal_passes *passes, const struct kal_host *host);

/** Free what it holds; all zero is fine. */
void kal_passes_clear(struct kal_passes *passes);

/** Remember the time of one pass, in place of an earlier one. Error: E_MEMORY  exhausted */
kallima_status kal_passes_set(struct kal_passes *passes, struct kal_pass_time time);

/**
 * Return the times of a plan's passes added up; *unknown: how many have none.
 *
 * Unit: seconds, of those that are known.
 */
double kal_passes_sum(const struct kal_passes *passes, const struct kal_pass_list *list,
                      int *unknown);

/**
 * Learn from a plan that took `seconds` in all: if one of its passes is unknown, that is what
 * the others leave.
 *
 * Error: E_MEMORY  exhausted
 */
kallima_status kal_passes_learn(struct kal_passes *passes,
                                const struct kal_pass_list *list, double seconds,
                                double spread);

/** Take over what wisdom has of an owner's passes. Error: E_MEMORY  exhausted */
kallima_status kal_passes_load(struct kal_passes *passes, const kallima_wisdom *wisdom,
                               const kallima_wisdom_owner *owner);

/**
 * Add what is new to wisdom. Where it has no room, as the log then says, the rest is left out:
 * times of passes only save time.
 *
 * Error: E_MEMORY  exhausted
 */
kallima_status kal_passes_keep(const struct kal_passes *passes, kallima_wisdom *wisdom,
                               const kallima_wisdom_owner *owner);

#endif
