// SPDX-License-Identifier: MIT
// The cost model of a device, kept in its wisdom as a fact.
#ifndef KAL_API_KNOWLEDGE_H_
#define KAL_API_KNOWLEDGE_H_

#include "device/device.h"
#include "tune/lesson.h"
#include "wisdom/wisdom.h"

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
