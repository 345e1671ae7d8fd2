// SPDX-License-Identifier: MIT
// How a device rounds, by trial.
#ifndef KAL_EXEC_ROUNDING_H_
#define KAL_EXEC_ROUNDING_H_

#include "device/device.h"

/** As kallima_device_find_rounding(), with its arguments checked. */
kallima_status kal_rounding_find(kallima_device *device, bool is_f64, int *fma_roundings);

#endif
