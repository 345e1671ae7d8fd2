// SPDX-License-Identifier: MIT
// A few constants of a device, measured once: how fast it copies, launches, exchanges and
// computes.
#ifndef KAL_TUNE_CALIBRATE_H_
#define KAL_TUNE_CALIBRATE_H_

#include "device/device.h"
#include "tune/model.h"

/** What the constants are called, in the files that keep them. */
extern const char *const kal_constant_names[KAL_CONSTANT_COUNT];

/** Constants as they were measured. */
struct kal_calibration {
    struct kal_constants constants;
    double spread[KAL_CONSTANT_COUNT]; // relative, of the times that they come from
};

/**
 * Measure the constants of a device. Those that cannot be measured are 0: of plans that the
 * device refuses, as the log says, or all of them if `bytes` are too few for a copy that tells.
 *
 * Unit:   takes `bytes` of the device's memory at most, 0: what it needs, which is a small
 *         part of the device's; and some tenths of a second, with the compiler's time.
 * Thread: nothing else should use the device.
 * Error:  E_UNSUPPORTED  the device keeps no times
 *         E_MEMORY       exhausted
 *         E_DEVICE       the device failed
 *         What was measured before the failure is there.
 */
kallima_status kal_calibrate(struct kal_calibration *out, kallima_device *device,
                             uint64_t bytes);

#endif
