// SPDX-License-Identifier: MIT
// Groups of lanes, run on one thread of the host.
#ifndef TESTS_SIMULATE_GROUPS_H_
#define TESTS_SIMULATE_GROUPS_H_

#include "simulate_compile.h"

/** A launch: `cluster` divides `groups`. */
struct simulate_launch {
    const struct simulate_code *code;
    struct simulate_slot slots[KAL_MAX_SLOTS];
    uint64_t groups, group_bytes;
    int lanes, cluster;
};

/** What launches had in them so far. */
struct simulate_counts {
    uint64_t groups, barriers, cluster_stores;
    uint64_t waits; // that something was not there yet
};
extern struct simulate_counts simulate_counts;

/**
 * Run a launch to its end. Lanes run one at a time, in an order that changes, each until it
 * waits; several groups are under way at once, and some fall behind.
 *
 * Thread: one launch at a time.
 * Error:  E_MEMORY  no memory for the lanes
 *         E_DEVICE  a lane ended while others wait for it at a barrier, or waits at another
 *                   one than they do; nobody can go on; an array, a table or the group's
 *                   memory was read or written outside of it; the memory of a
 *                   cluster's group was written when it must not be
 */
kallima_status simulate_run(const struct simulate_launch *launch);

/** Free what launches keep for the next one. */
void simulate_clear(void);

#endif
