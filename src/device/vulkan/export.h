// SPDX-License-Identifier: MIT
// Memory of Vulkan's that another interface imports.
#ifndef KAL_DEVICE_VULKAN_EXPORT_H_
#define KAL_DEVICE_VULKAN_EXPORT_H_

#include "device/device.h"

enum { KAL_VK_UUID_BYTES = 16 };

/** A device of Vulkan's that gives memory away. */
struct kal_vk_exporter;

/** Memory as a file, which lives as long as the descriptor or whoever imported it. */
struct kal_vk_memory_file {
    int descriptor; // the caller's to close, or to give away
    uint64_t bytes; // at least as many as were asked for
};

/**
 * Open the device of that UUID; NULL where there is none, or it gives no memory away.
 * Thread: any.
 */
struct kal_vk_exporter *kal_vk_exporter_open(const struct kal_host *host,
                                             const uint8_t uuid[KAL_VK_UUID_BYTES]);

/** Close it; what it gave stays. NULL is fine. */
void kal_vk_exporter_close(struct kal_vk_exporter *exporter);

/** Allocate memory of the device for an array of `bytes` bytes. Thread: any. */
kallima_status kal_vk_export(struct kal_vk_memory_file *file,
                             const struct kal_vk_exporter *exporter, uint64_t bytes);

#endif
