// SPDX-License-Identifier: MIT
// Much memory of a device from a little of the host's.
#ifndef KAL_TUNE_FILL_H_
#define KAL_TUNE_FILL_H_

#include "device/device.h"

/**
 * Fill a buffer with `bytes` bytes over and over: they are written once, then more and more of
 * them are copied on the device.
 *
 * Error: E_DEVICE  the device failed
 */
kallima_status kal_buffer_fill(kallima_buffer *buffer, const void *pattern,
                               uint64_t bytes);

#endif
