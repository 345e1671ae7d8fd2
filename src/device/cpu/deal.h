// SPDX-License-Identifier: MIT
// Threads share work out as they come to it: each has its part in pieces, and who is done
// takes of what others have left.
#ifndef KAL_DEVICE_CPU_DEAL_H_
#define KAL_DEVICE_CPU_DEAL_H_

#include "device/cpu/worker.h"

/** One worker's view of `count` things that all workers share out. */
struct cpu_deal {
    int64_t count;
    int64_t
        together; // that a piece has so many of, or times as many, but for the last one of a part
    int64_t pieces;  // of each worker's part; 1: each does its own
    uint64_t number; // of this deal among those of an execution
    bool is_done;    // where each does its own: it has been taken
};

/** What a worker does next: neighbours begin .. end-1 of a part that ends before `part_end`. */
struct cpu_taken {
    int64_t begin, end, part_end;
};

/**
 * Begin to share out `count` things, of which each worker's part has up to `pieces` of
 * `together` things, 1 at least. All workers come here with the same numbers and in the
 * same order, and have met since they last shared anything out.
 */
struct cpu_deal kal_cpu_deal(struct cpu_worker *worker, int64_t count, int64_t together,
                             int64_t pieces);

/** Take what a worker does next. Return false if there is nothing left. */
bool kal_cpu_take(const struct cpu_worker *worker, struct cpu_deal *deal,
                  struct cpu_taken *taken);

#endif
