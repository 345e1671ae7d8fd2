// SPDX-License-Identifier: MIT
// What every way to open a device does first and last.
#ifndef KAL_API_HOST_H_
#define KAL_API_HOST_H_

#include "base/base.h"

/**
 * Take the caller's services, log and memory, from `options`.
 *
 * Error: E_ARGUMENT  only one of the allocator's two functions is given, or a limit is negative
 */
kallima_status kal_host_init(struct kal_host *host,
                             const kallima_device_options *options);

/**
 * Make an opened device its caller's: count the one owner, lower its limits, read its wisdom,
 * find where its kernels are kept. `options` may be NULL.
 *
 * Error: E_MEMORY  exhausted; the device is closed and *device is NULL
 */
kallima_status kal_device_hand_over(kallima_device **device,
                                    const kallima_device_options *options);

#endif
