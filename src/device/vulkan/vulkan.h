// SPDX-License-Identifier: MIT
// Vulkan 1.1 and up, loaded at run time: what the rest of the library sees of it.
#ifndef KAL_DEVICE_VULKAN_VULKAN_H_
#define KAL_DEVICE_VULKAN_VULKAN_H_

#include <kallima/interop/vulkan.h>

#include "device/device.h"

extern const struct kal_device_ops kal_vulkan_device_ops;

/** As kallima_vulkan_adopt(), with the caller's services and handles already checked. */
kallima_status kal_vulkan_adopt(kallima_device **out,
                                const kallima_vulkan_handles *handles,
                                const struct kal_host *host);

/** As kallima_vulkan_wrap(), on a device of this folder; the caller retains the device. */
kallima_status kal_vulkan_wrap(kallima_buffer **out, kallima_device *device,
                               VkBuffer buffer, uint64_t offset_bytes, uint64_t bytes);

#endif
