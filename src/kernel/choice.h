// SPDX-License-Identifier: MIT
// What may be chosen freely in a kernel.
#ifndef KAL_KERNEL_CHOICE_H_
#define KAL_KERNEL_CHOICE_H_

#include "base/caps.h"
#include "pass/pass.h"

struct kal_choice {
    int lane_points;  // points that a lane holds, if the radices allow it
    int lines;        // of a group; 0: as many as make the wanted lanes
    int wanted_lanes; // of a group
    int run_bytes;    // shorter runs of memory pass through the tile
    int powers_from;  // radix from which twiddles are products of a few powers
    int resident;     // groups that a processor shall hold at once; 0: any
    int has_hints;    // arrays of the user stream past a cache that holds scratch
    int lag;          // lines between two passes of one launch; 0: as it seems best
    int cluster;      // groups of one; 1: as suits it; 0: none
    int split; // 1: parts are exchanged one after the other; 2: halves of them; -1: as suits it
};

/** The defaults for a device and a precision, changed by what the pass's recipe says. */
struct kal_choice kal_choice_make(const struct kal_pass *pass,
                                  const struct kal_caps *caps, bool is_f64);

#endif
