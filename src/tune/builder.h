// SPDX-License-Identifier: MIT
// Candidates are built ahead of their turn, several at once, and none that runs what another
// one ran: what a device would run is known before anything is compiled, from a twin of it
// that compiles nothing.
#ifndef KAL_TUNE_BUILDER_H_
#define KAL_TUNE_BUILDER_H_

#include "base/hash.h"
#include "exec/plan.h"

enum { KAL_MOST_AHEAD = 8 };

/** A candidate that was built, or not. */
struct kal_built {
    kallima_plan *plan;    // the owner's of this struct; NULL: there is none
    kallima_status status; // why not
    bool is_known;         // it runs what an earlier one ran, so it was not built
    uint8_t digest[KAL_HASH_BYTES]; // of what it runs
};

struct kal_builder {
    kallima_device *device, *twin; // twin: NULL where plans are cheap to build
    kallima_desc desc;
    struct {
        const char *text; // NULL: the place is free
        struct kal_built built;
    } ahead[KAL_MOST_AHEAD];
    uint8_t (*known)[KAL_HASH_BYTES]; // what ran
    int known_count, known_capacity;
};

/**
 * Prepare to build candidates for `problem`, which is borrowed for the call.
 *
 * Owner: the caller frees it with kal_builder_clear(); `device` outlives it.
 * Error: E_MEMORY  exhausted
 */
kallima_status kal_builder_init(struct kal_builder *builder, kallima_device *device,
                                const struct kal_problem *problem);

/** Free what the builder holds, plans that nobody took included; all zero is fine. */
void kal_builder_clear(struct kal_builder *builder);

/**
 * Build the first of these recipes, as many as there are processors for, and drop what was
 * built before and not taken. The texts must live until they are taken or dropped.
 */
void kal_builder_prepare(struct kal_builder *builder, const char *const *text, int count);

/**
 * Give the candidate with this text, built ahead or now. What it runs is known from now on.
 *
 * Owner: the caller destroys built.plan.
 * Error: in built.status: as kallima_plan_create()
 */
struct kal_built kal_builder_take(struct kal_builder *builder, const char *text);

#endif
