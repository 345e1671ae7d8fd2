// SPDX-License-Identifier: MIT
// Candidates are built ahead of their turn by threads of their own, while others are timed,
// where the device's compiler is for several threads; and none that runs what another one ran:
// what a device would run is known before anything is compiled, from a twin of it that compiles
// nothing.
#ifndef KAL_TUNE_BUILDER_H_
#define KAL_TUNE_BUILDER_H_

#include <pthread.h>

#include "base/hash.h"
#include "exec/plan.h"
#include "tune/passes.h"

enum {
    KAL_MOST_AHEAD = 16, // candidates that wait for their turn
    KAL_MOST_BUILDERS = 16,
};

/** A candidate that was built, or not. */
struct kal_built {
    kallima_plan *plan;    // the owner's of this struct; NULL: there is none
    kallima_status status; // why not
    bool is_known;         // it runs what an earlier one ran, so it was not built
    bool is_slow;          // its passes are known to take longer, so it was not built
    struct kal_pass_list passes;
    uint8_t digest[KAL_HASH_BYTES]; // of what it runs
};

enum kal_build_state {
    KAL_BUILD_FREE,
    KAL_BUILD_ASKED,
    KAL_BUILD_UNDER_WAY,
    KAL_BUILD_UNWANTED, // under way, and nobody will take it
    KAL_BUILD_DONE,
};

/** A candidate ahead of its turn. */
struct kal_build {
    enum kal_build_state state;
    const char *text;
    int turn; // the smallest is built first
    struct kal_built built;
};

struct kal_builder {
    kallima_device *device, *twin; // twin: NULL where plans are cheap to build
    kallima_desc desc;
    pthread_mutex_t lock; // of all that follows
    pthread_cond_t asked, done;
    struct kal_build build[KAL_MOST_AHEAD + KAL_MOST_BUILDERS];
    struct kal_passes passes;         // that were timed
    double most_seconds;              // that a plan may take by them; 0: any
    uint8_t (*known)[KAL_HASH_BYTES]; // what ran
    int known_count, known_capacity;
    pthread_t thread[KAL_MOST_BUILDERS];
    int threads;
    bool ends;
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
 * Say whose turn comes next, the first KAL_MOST_AHEAD of these recipes, so that they are built
 * meanwhile; what was asked for before and is not among them is dropped. Texts live until the
 * builder is cleared. Wait until one is built and return its number; 0 where none is built
 * ahead.
 */
int kal_builder_prepare(struct kal_builder *builder, const char *const *text, int count);

/**
 * Give the candidate with this text, built ahead or now, without a workspace of its own. What
 * it runs is known from now on.
 *
 * Owner: the caller destroys built.plan.
 * Error: in built.status: as kallima_plan_create()
 */
struct kal_built kal_builder_take(struct kal_builder *builder, const char *text);

/** Remember the time of a pass. Error: E_MEMORY  exhausted */
kallima_status kal_builder_set_pass(struct kal_builder *builder,
                                    struct kal_pass_time time);

/** Learn from what a plan took: kal_passes_learn(). Error: E_MEMORY  exhausted */
kallima_status kal_builder_learn(struct kal_builder *builder,
                                 const struct kal_pass_list *passes, double seconds,
                                 double spread);

/** Take all times that are not new that many times: the machine was slower or faster. */
void kal_builder_scale(struct kal_builder *builder, double factor);

/** Do not build what takes longer, by the times of its passes; 0: build all. */
void kal_builder_limit(struct kal_builder *builder, double seconds);

#endif
