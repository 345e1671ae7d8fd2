// SPDX-License-Identifier: MIT
// The constants and the cost model of a device, kept in its wisdom as facts.
#ifndef KAL_API_KNOWLEDGE_H_
#define KAL_API_KNOWLEDGE_H_

#include "device/device.h"
#include "tune/lesson.h"
#include "wisdom/wisdom.h"

/**
 * Measure the constants of a device that computes, with at most `bytes` of memory (0: as
 * kal_calibrate()), and put them into its wisdom, unless that has some. Where that fails the
 * log says why, and costs stay a guess.
 *
 * Error: E_UNSUPPORTED  the device keeps no times
 *        E_MEMORY       exhausted, for the wisdom
 */
kallima_status kal_knowledge_measure(kallima_device *device,
                                     const kallima_wisdom_owner *owner, uint64_t bytes);

/**
 * Find what is known of the costs of a device; a guess where nothing is.
 *
 * Error: E_MEMORY  exhausted
 */
kallima_status kal_knowledge_find(kallima_device *device,
                                  const kallima_wisdom_owner *owner,
                                  struct kal_knowledge *out);

/**
 * Put it into the device's wisdom, where what rests on more samples stays.
 *
 * Error: as kal_wisdom_add()
 */
kallima_status kal_knowledge_keep(kallima_device *device,
                                  const kallima_wisdom_owner *owner,
                                  const struct kal_knowledge *knowledge);

#endif
