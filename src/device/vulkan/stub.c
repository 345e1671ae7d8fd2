// SPDX-License-Identifier: MIT
// Built instead of this folder's other files where Vulkan's headers are missing: a device that
// is never present.
#include "device/vulkan/export.h"
#include "device/vulkan/vulkan.h"

static bool stub_find(int index, kallima_device_info *info)
{
    (void)index;
    (void)info;
    return false;
}

static kallima_status refuse(const struct kal_host *host)
{
    return kal_fail(host, KALLIMA_E_UNSUPPORTED,
                    "vulkan: this library was built without Vulkan's headers");
}

kallima_status kal_vulkan_adopt(kallima_device **out,
                                const kallima_vulkan_handles *handles,
                                const struct kal_host *host)
{
    (void)out;
    (void)handles;
    return refuse(host);
}

kallima_status kal_vulkan_wrap(kallima_buffer **out, kallima_device *device,
                               VkBuffer buffer, uint64_t offset_bytes, uint64_t bytes)
{
    (void)out;
    (void)buffer;
    (void)offset_bytes;
    (void)bytes;
    return refuse(&device->host);
}

struct kal_vk_exporter *kal_vk_exporter_open(const struct kal_host *host,
                                             const uint8_t uuid[KAL_VK_UUID_BYTES])
{
    (void)host;
    (void)uuid;
    return NULL;
}

void kal_vk_exporter_close(struct kal_vk_exporter *exporter)
{
    (void)exporter;
}

kallima_status kal_vk_export(struct kal_vk_memory_file *file,
                             const struct kal_vk_exporter *exporter, uint64_t bytes)
{
    (void)file;
    (void)exporter;
    (void)bytes;
    return KALLIMA_E_UNSUPPORTED;
}

const struct kal_device_ops kal_vulkan_device_ops = {
    .name = "vulkan",
    .find = stub_find,
};
