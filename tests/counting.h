// SPDX-License-Identifier: MIT
// An allocator that counts, and that fails when told to.
#ifndef TESTS_COUNTING_H_
#define TESTS_COUNTING_H_

#include <kallima/device.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct counting {
    atomic_llong calls;   // allocations asked for
    atomic_llong live;    // blocks not yet released
    atomic_llong bytes;   // bytes in those blocks
    atomic_llong damaged; // blocks whose guard had changed on release
    long long fail_at;    // the call that fails, counted from 1; 0: none
    bool fail_after;      // every later call fails too
};

/** Return an allocator that counts in `counting`, which must outlive it. */
kallima_allocator counting_allocator(struct counting *counting);

#endif
