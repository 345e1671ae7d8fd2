// SPDX-License-Identifier: MIT
// The order in which a network is computed.
#ifndef KAL_CODELET_SCHEDULE_H_
#define KAL_CODELET_SCHEDULE_H_

#include "codelet/network.h"

enum kal_step_kind {
    KAL_STEP_LOAD = 0, // read input `index`, node `node`
    KAL_STEP_COMPUTE,  // compute `node`
    KAL_STEP_STORE     // write `node` to output `index`
};

struct kal_step {
    enum kal_step_kind kind;
    int32_t node, index;
};

struct kal_schedule {
    const struct kal_host *host;
    struct kal_step *step;
    int32_t count;
    int32_t live; // most values alive at once, constants not counted
};

/**
 * Order the work of a network so that few values are alive at once, whatever the number
 * of registers: the graph is halved between inputs and outputs until the pieces are
 * single operations. A value is loaded just before its first use and stored as soon as
 * it is there, but no load of an input below `early` comes after a store.
 *
 * Owner:  the caller frees what `out` holds with kal_schedule_clear(), on failure too.
 * Error:  E_MEMORY  exhausted
 * Source: recursive bisection: Frigo, PLDI 1999, 169-180, doi:10.1145/301618.301661
 */
kallima_status kal_schedule_build(struct kal_schedule *out, const struct kal_network *net,
                                  int early);

/** Free what the schedule holds. */
void kal_schedule_clear(struct kal_schedule *schedule);

#endif
