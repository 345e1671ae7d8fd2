// SPDX-License-Identifier: MIT
// A device without a GPU that runs the kernels that a GPU would get: "nullcuda", whose texts
// are compiled for the host and whose groups are simulated.
#ifndef TESTS_SIMULATE_H_
#define TESTS_SIMULATE_H_

#include "simulate_groups.h"

/** A fault to be planted in every text: `after` for `before`; NULL: none. */
struct simulate_plant {
    const char *before, *after;
    int places; // where it was, so far
};
extern struct simulate_plant simulate_plant;

/**
 * Open the device. Buffers are made full of what is not a number.
 *
 * Owner:  *out is closed with kallima_device_close()
 * Thread: one plan is made or executed at a time
 * Error:  those of kallima_device_open(); of plans, those of simulate_compile(); of
 *         executions, those of simulate_run()
 */
kallima_status simulate_open(kallima_device **out);

#endif
