// SPDX-License-Identifier: MIT
// The order in which a network is computed.
#ifndef KAL_CODELET_SCHEDULE_H_
#define KAL_CODELET_SCHEDULE_H_

#include "codelet/network.h"

enum kal_step_kind {
    KAL_STEP_LOAD = 0, // read the inputs 2*index and 2*index+1 as both nodes
    KAL_STEP_FACTOR,   // read the input `index` as node[0]
    KAL_STEP_COMPUTE,  // compute node[0]
    KAL_STEP_STORE     // write both nodes to the outputs 2*index and 2*index+1
};

struct kal_event {
    enum kal_step_kind kind;
    int32_t node[2], index;
};

struct kal_schedule {
    const struct kal_host *host;
    struct kal_event *step;
    int32_t count;
    int32_t live; // most values alive at once, constants not counted
};

/**
 * Order the work of a network so that few values are alive at once, whatever the number
 * of registers: the graph is halved between inputs and outputs until the pieces are
 * single operations. Both parts of a number are loaded just before the first use of one
 * and stored as soon as both are there, but no load comes after a store. Inputs from
 * `early` on are factors: they are read one by one, and after a store too.
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
