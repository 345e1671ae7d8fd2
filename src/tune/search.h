// SPDX-License-Identifier: MIT
// From the planner's recipe to a faster one, decision by decision. Whoever measures is asked
// through a table, so that a search can be tested without a device or a clock.
#ifndef KAL_TUNE_SEARCH_H_
#define KAL_TUNE_SEARCH_H_

#include "tune/space.h"

/** What came of a candidate. */
enum kal_fate {
    KAL_FATE_WAITING, // for its turn, which may not come
    KAL_FATE_PRUNED,  // predicted to be too slow
    KAL_FATE_SAME,    // what runs is what ran for another recipe
    KAL_FATE_KNOWN,   // its passes were timed before, and take longer
    KAL_FATE_REFUSED, // the device cannot run it
    KAL_FATE_WRONG,   // it computes wrongly
    KAL_FATE_SLOWER,  // than the best so far, or no faster beyond doubt
    KAL_FATE_FASTER,
    KAL_FATE_COUNT
};

/** What became of it, in one word. */
extern const char *const kal_fate_names[KAL_FATE_COUNT];

/** One recipe that was considered. */
struct kal_candidate {
    const char *text;
    int of;                     // number of the one that was best when it came up
    enum kal_decision decision; // in which it differs from that
    double predicted;           // seconds
    double measured, spread;    // seconds, and relative; 0: it was not
    double gain; // times faster than the best, in the same race; 0: no race
    int rival;   // number of the one that was the best in that race
    enum kal_fate fate;
};

/** What a search asks of a device, or of a test in its place. */
struct kal_judge {
    void *context;
    /** Seconds that a recipe should take, by the model; infinite: it cannot run. */
    double (*predict)(void *context, const struct kal_recipe *recipe);
    /**
     * The next candidates, so that they can be built meanwhile, in the order in which they are
     * wanted. Return which of them to challenge now. NULL: not wanted, the first.
     */
    int (*prepare)(void *context, const char *const *text, int count);
    /**
     * Measure a candidate against the best so far and fill in `measured` and `fate`;
     * FASTER makes it the best. The first candidate of all has no rival. Any status but OK
     * ends the search.
     */
    kallima_status (*challenge)(void *context, struct kal_candidate *candidate);
    /** Whether there is time for another candidate. */
    bool (*has_time)(void *context);
};

/** How far a search goes. */
struct kal_reach {
    double most_predicted; // times the prediction of the best: others are pruned
    int most_failures;     // candidates in a row that are not faster
};

struct kal_search {
    struct kal_planner planner;
    const struct kal_problem *problem;
    const struct kal_judge *judge;
    struct kal_reach reach;
    struct kal_candidate *candidate; // all, in the order in which they came up
    int count, capacity;
    int best; // number of the fastest
};

/**
 * Walk from `first` to the fastest recipe within reach: of the neighbours of the best the one
 * that is predicted to be fastest is tried first; one that is faster becomes the best. `known`,
 * a recipe that was fast before (NULL: there is none), is tried second.
 *
 * Owner: what the search holds lives in the planner's arena.
 * Error: E_MEMORY  exhausted; else what the judge returned, with the best so far
 */
kallima_status kal_search_run(struct kal_search *search,
                              const struct kal_planner *planner,
                              const struct kal_problem *problem, struct kal_recipe *first,
                              struct kal_recipe *known, const struct kal_judge *judge,
                              struct kal_reach reach);

#endif
