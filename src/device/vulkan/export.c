// SPDX-License-Identifier: MIT
// Memory for others: allocated here, and theirs as soon as they have its file.
#include "device/vulkan/export.h"
#include "device/vulkan/driver.h"

#include <string.h>

struct kal_vk_exporter {
    struct kal_host host;
    const struct vk_facts *facts;
    struct vk_api vk;
    PFN_vkGetMemoryFdKHR get_file;
    VkDevice device;
};

static const VkExternalMemoryHandleTypeFlagBits KIND =
    VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT;

static const struct vk_facts *find_device(const uint8_t uuid[KAL_VK_UUID_BYTES])
{
    const struct vk_facts *facts = kal_vk_find(0);
    for (int i = 1; facts && memcmp(facts->device_uuid, uuid, VK_UUID_SIZE) != 0; i++)
        facts = kal_vk_find(i);
    return facts && facts->exports ? facts : NULL;
}

static bool create_device(struct kal_vk_exporter *exporter)
{
    static const char *const extension = VK_KHR_EXTERNAL_MEMORY_FD_EXTENSION_NAME;
    static const float priority = 1.0f;
    const struct vk_instance *instance = kal_vk_instance();
    const VkDeviceQueueCreateInfo queue = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
        .queueFamilyIndex = exporter->facts->family,
        .queueCount = 1,
        .pQueuePriorities = &priority,
    };
    const VkDeviceCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
        .queueCreateInfoCount = 1,
        .pQueueCreateInfos = &queue,
        .enabledExtensionCount = 1,
        .ppEnabledExtensionNames = &extension,
    };
    if (instance->CreateDevice(exporter->facts->handle, &info, NULL, &exporter->device) !=
        VK_SUCCESS)
        return false;
    exporter->get_file = (PFN_vkGetMemoryFdKHR)instance->GetDeviceProcAddr(
        exporter->device, "vkGetMemoryFdKHR");
    return kal_vk_api_load(&exporter->vk, instance, exporter->device) &&
           exporter->get_file;
}

struct kal_vk_exporter *kal_vk_exporter_open(const struct kal_host *host,
                                             const uint8_t uuid[KAL_VK_UUID_BYTES])
{
    const struct vk_facts *facts = find_device(uuid);
    void *object;

    if (!facts || kal_alloc_object(host, &object, sizeof(struct kal_vk_exporter)))
        return NULL;
    struct kal_vk_exporter *exporter = object;
    exporter->host = *host;
    exporter->facts = facts;
    if (create_device(exporter))
        return exporter;
    kal_vk_exporter_close(exporter);
    return NULL;
}

void kal_vk_exporter_close(struct kal_vk_exporter *exporter)
{
    if (!exporter)
        return;
    const struct kal_host host = exporter->host;
    if (exporter->vk.DestroyDevice)
        exporter->vk.DestroyDevice(exporter->device, NULL);
    kal_free(&host, exporter);
}

// What a buffer of that size needs, that is of the kind.
static VkResult find_needs(const struct kal_vk_exporter *exporter, uint64_t bytes,
                           VkMemoryRequirements *needs)
{
    const VkExternalMemoryBufferCreateInfo external = {
        .sType = VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO,
        .handleTypes = KIND,
    };
    const VkBufferCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
        .pNext = &external,
        .size = bytes,
        .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
                 VK_BUFFER_USAGE_TRANSFER_DST_BIT,
    };
    VkBuffer buffer;
    const VkResult code =
        exporter->vk.CreateBuffer(exporter->device, &info, NULL, &buffer);
    if (code == VK_SUCCESS) {
        exporter->vk.GetBufferMemoryRequirements(exporter->device, buffer, needs);
        exporter->vk.DestroyBuffer(exporter->device, buffer, NULL);
    }
    return code;
}

static VkResult allocate(const struct kal_vk_exporter *exporter,
                         const VkMemoryRequirements *needs, VkDeviceMemory *memory)
{
    const int type = kal_vk_find_type(&exporter->facts->memory, needs->memoryTypeBits,
                                      VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT);
    const VkExportMemoryAllocateInfo external = {
        .sType = VK_STRUCTURE_TYPE_EXPORT_MEMORY_ALLOCATE_INFO,
        .handleTypes = KIND,
    };
    const VkMemoryAllocateInfo info = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
        .pNext = &external,
        .allocationSize = needs->size,
        .memoryTypeIndex = (uint32_t)type,
    };
    return type < 0 ? VK_ERROR_OUT_OF_DEVICE_MEMORY
                    : exporter->vk.AllocateMemory(exporter->device, &info, NULL, memory);
}

static VkResult give(const struct kal_vk_exporter *exporter, VkDeviceMemory memory,
                     int *descriptor)
{
    const VkMemoryGetFdInfoKHR info = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_GET_FD_INFO_KHR,
        .memory = memory,
        .handleType = KIND,
    };
    const VkResult code = exporter->get_file(exporter->device, &info, descriptor);
    exporter->vk.FreeMemory(exporter->device, memory, NULL);
    return code;
}

kallima_status kal_vk_export(struct kal_vk_memory_file *file,
                             const struct kal_vk_exporter *exporter, uint64_t bytes)
{
    VkMemoryRequirements needs;
    VkDeviceMemory memory;
    VkResult code = find_needs(exporter, bytes, &needs);

    if (code == VK_SUCCESS)
        code = allocate(exporter, &needs, &memory);
    if (code == VK_SUCCESS)
        code = give(exporter, memory, &file->descriptor);
    if (code == VK_SUCCESS) {
        file->bytes = needs.size;
        return KALLIMA_OK;
    }
    return kal_fail(&exporter->host, KALLIMA_E_MEMORY,
                    "vulkan: memory of %llu bytes for another interface: %s (%d)",
                    (unsigned long long)bytes, kal_vk_error_name(code), code);
}
