// SPDX-License-Identifier: MIT
// Which devices there are, and what they can do.
#include "device/processors.h"
#include "device/vulkan/driver.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

// What Vulkan itself does not tell: how many processors there are.
enum { PROCESSORS = 16, REGISTERS_NVIDIA = 255, MAKER_NVIDIA = 0x10DE };

// Of the processor that imitates a GPU.
enum { SOFTWARE_CACHE_BYTES = 16 << 20 };

// All that is read at once. What a device does not know of is left as it is.
struct properties {
    VkPhysicalDeviceProperties2 core;
    VkPhysicalDeviceSubgroupProperties subgroup;
    VkPhysicalDeviceMaintenance3Properties memory;
    VkPhysicalDeviceIDProperties id;
    VkPhysicalDeviceDriverProperties driver;             // since 1.2
    VkPhysicalDeviceShaderSMBuiltinsPropertiesNV nvidia; // of an extension
};

static void chain(struct properties *p, void *next)
{
    VkBaseOutStructure *link = next;
    link->pNext = p->core.pNext;
    p->core.pNext = link;
}

// What a driver offers beyond its version.
struct extensions {
    VkExtensionProperties *list;
    uint32_t count;
};

// None where there is no memory to ask with.
static void list_extensions(struct extensions *e, const struct vk_instance *instance,
                            VkPhysicalDevice handle, const struct kal_host *host)
{
    void *memory;
    *e = (struct extensions){ NULL, 0 };
    instance->EnumerateDeviceExtensionProperties(handle, NULL, &e->count, NULL);
    if (kal_alloc(host, &memory, e->count + 1, sizeof(VkExtensionProperties)) ==
        KALLIMA_OK)
        e->list = memory;
    if (!e->list || instance->EnumerateDeviceExtensionProperties(handle, NULL, &e->count,
                                                                 e->list) < 0)
        e->count = 0;
}

static bool has_extension(const struct extensions *e, const char *name)
{
    bool is_there = false;
    for (uint32_t i = 0; i < e->count && !is_there; i++)
        is_there = strcmp(e->list[i].extensionName, name) == 0;
    return is_there;
}

bool kal_vk_read_family(const struct vk_instance *instance, struct vk_facts *facts,
                        uint32_t first, uint32_t last)
{
    VkQueueFamilyProperties families[VK_MAX_FAMILIES];
    uint32_t count = VK_MAX_FAMILIES;
    bool is_found = false, draws = true;

    instance->GetPhysicalDeviceQueueFamilyProperties(facts->handle, &count, families);
    for (uint32_t i = first; i < count && i <= last && draws; i++) {
        const VkQueueFlags flags = families[i].queueFlags;
        if (!(flags & VK_QUEUE_COMPUTE_BIT) ||
            (is_found && (flags & VK_QUEUE_GRAPHICS_BIT)))
            continue;
        is_found = true;
        draws = flags & VK_QUEUE_GRAPHICS_BIT;
        facts->family = i;
        facts->timestamp_bits = families[i].timestampValidBits;
    }
    if (is_found && facts->warps)
        kal_describe_nvidia(&facts->caps, (int)facts->processors, (int)facts->warps,
                            draws);
    return is_found;
}

static uint64_t local_bytes(const VkPhysicalDeviceMemoryProperties *memory)
{
    uint64_t most = 0;
    for (uint32_t i = 0; i < memory->memoryHeapCount; i++) {
        const VkMemoryHeap *heap = &memory->memoryHeaps[i];
        if ((heap->flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT) && heap->size > most)
            most = heap->size;
    }
    return most;
}

static void describe(const struct properties *p, struct vk_facts *facts)
{
    const VkPhysicalDeviceProperties *core = &p->core.properties;
    kallima_device_info *info = &facts->info;
    char number[16]; // where the driver has no name
    *info = (kallima_device_info){
        .is_software = core->deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU,
        .has_f64 = facts->caps.has_f64,
        .lanes_f32 = facts->caps.lanes_f32,
        .memory_bytes = facts->caps.memory_bytes,
    };
    snprintf(info->name, sizeof info->name, "%.127s", core->deviceName);
    snprintf(number, sizeof number, "0x%08x", core->driverVersion);
    snprintf(info->driver, sizeof info->driver, "Vulkan %u.%u.%u %.14s %.26s",
             VK_API_VERSION_MAJOR(core->apiVersion),
             VK_API_VERSION_MINOR(core->apiVersion),
             VK_API_VERSION_PATCH(core->apiVersion),
             p->driver.driverName[0] ? p->driver.driverName : "driver",
             p->driver.driverInfo[0] ? p->driver.driverInfo : number);
}

static void fill_caps(const struct properties *p, bool has_f64, struct vk_facts *facts)
{
    const VkPhysicalDeviceLimits *limits = &p->core.properties.limits;
    const bool is_software = p->core.properties.deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU;
    const uint32_t width = limits->maxComputeWorkGroupSize[0];
    const uint32_t most = limits->maxComputeWorkGroupInvocations;
    const uint32_t row = limits->maxComputeWorkGroupCount[0];
    const uint32_t slots = limits->maxPerStageDescriptorStorageBuffers;

    facts->caps = (struct kal_caps){
        .has_f64 = has_f64,
        .threads = 1,
        .lanes_f32 = p->subgroup.subgroupSize ? (int)p->subgroup.subgroupSize : 1,
        .near_bytes = limits->maxComputeSharedMemorySize,
        .shared_bytes = is_software ? SOFTWARE_CACHE_BYTES : 0,
        .memory_bytes = local_bytes(&facts->memory),
        .language = KAL_LANGUAGE_GLSL,
        .processors = PROCESSORS,
        .group_lanes = (int)(width < most ? width : most),
        .row_groups = (int)(row < INT_MAX ? row : INT_MAX),
        .kernel_slots = (int)(slots < INT_MAX ? slots : INT_MAX),
        .group_bytes = limits->maxComputeSharedMemorySize,
        .buffer_bytes = limits->maxStorageBufferRange,
        .is_slow_to_wake = !is_software,
        .lane_registers =
            p->core.properties.vendorID == MAKER_NVIDIA ? REGISTERS_NVIDIA : 0,
    };
    facts->processors = p->nvidia.shaderSMCount;
    facts->warps = p->nvidia.shaderWarpsPerSM;
}

// The 64 bytes of numbers that a kernel takes are half of what every device must offer.
static void fill_limits(const struct properties *p, struct vk_facts *facts)
{
    const VkPhysicalDeviceLimits *limits = &p->core.properties.limits;
    facts->tick_seconds = 1e-9 * (double)limits->timestampPeriod;
    facts->most_rows = limits->maxComputeWorkGroupCount[1];
    facts->allocation_bytes = p->memory.maxMemoryAllocationSize;
    facts->offset_bytes = limits->minStorageBufferOffsetAlignment;
    facts->driver_version = p->core.properties.driverVersion;
    memcpy(facts->device_uuid, p->id.deviceUUID, VK_UUID_SIZE);
    memcpy(facts->cache_uuid, p->core.properties.pipelineCacheUUID, VK_UUID_SIZE);
}

bool kal_vk_read_facts(const struct vk_instance *instance, VkPhysicalDevice handle,
                       const struct kal_host *host, struct vk_facts *facts)
{
    struct properties p = {
        .core.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2,
        .subgroup.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_PROPERTIES,
        .memory.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_3_PROPERTIES,
        .id.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ID_PROPERTIES,
        .driver.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES,
        .nvidia.sType =
            VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_SM_BUILTINS_PROPERTIES_NV,
    };
    VkPhysicalDeviceBufferDeviceAddressFeatures addresses = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_BUFFER_DEVICE_ADDRESS_FEATURES,
    };
    VkPhysicalDeviceVulkanMemoryModelFeatures model = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_MEMORY_MODEL_FEATURES,
    };
    VkPhysicalDeviceFeatures2 features = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2,
    };
    struct extensions e;

    *facts = (struct vk_facts){ .handle = handle };
    instance->GetPhysicalDeviceProperties2(handle, &p.core);
    if (p.core.properties.apiVersion < VK_API_VERSION_1_1)
        return false;
    list_extensions(&e, instance, handle, host);
    chain(&p, &p.subgroup);
    chain(&p, &p.memory);
    chain(&p, &p.id);
    if (p.core.properties.apiVersion >= VK_API_VERSION_1_2)
        chain(&p, &p.driver);
    if (has_extension(&e, VK_NV_SHADER_SM_BUILTINS_EXTENSION_NAME))
        chain(&p, &p.nvidia);
    instance->GetPhysicalDeviceProperties2(handle, &p.core);
    if (has_extension(&e, VK_KHR_BUFFER_DEVICE_ADDRESS_EXTENSION_NAME))
        features.pNext = &addresses;
    if (has_extension(&e, VK_KHR_VULKAN_MEMORY_MODEL_EXTENSION_NAME)) {
        model.pNext = features.pNext;
        features.pNext = &model;
    }
    instance->GetPhysicalDeviceFeatures2(handle, &features);
    instance->GetPhysicalDeviceMemoryProperties(handle, &facts->memory);
    facts->has_push_descriptors =
        has_extension(&e, VK_KHR_PUSH_DESCRIPTOR_EXTENSION_NAME);
    facts->exports = has_extension(&e, VK_KHR_EXTERNAL_MEMORY_FD_EXTENSION_NAME);
    kal_free(host, e.list);
    facts->has_addresses = addresses.bufferDeviceAddress;
    facts->has_memory_model =
        model.vulkanMemoryModel && model.vulkanMemoryModelDeviceScope;
    fill_caps(&p, features.features.shaderFloat64, facts);
    fill_limits(&p, facts);
    describe(&p, facts);
    return kal_vk_read_family(instance, facts, 0, VK_MAX_FAMILIES);
}

static struct vk_facts present[VK_MAX_DEVICES];
static int present_count;

// Add the devices that are imitations, or those that are not.
static void add_devices(const struct vk_instance *instance,
                        const VkPhysicalDevice *handles, uint32_t count, bool software)
{
    for (uint32_t i = 0; i < count && present_count < VK_MAX_DEVICES; i++) {
        struct vk_facts *facts = &present[present_count];
        if (!kal_vk_read_facts(instance, handles[i], NULL, facts) ||
            facts->info.is_software != software)
            continue;
        snprintf(facts->info.selector, sizeof facts->info.selector, "vulkan:%d",
                 present_count++);
    }
}

static void list_once(void)
{
    const struct vk_instance *instance = kal_vk_instance();
    VkPhysicalDevice handles[VK_MAX_DEVICES];
    uint32_t count = VK_MAX_DEVICES;
    if (!instance ||
        instance->EnumeratePhysicalDevices(instance->handle, &count, handles) < 0)
        return;
    add_devices(instance, handles, count, false);
    add_devices(instance, handles, count, true);
}

const struct vk_facts *kal_vk_find(int index)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, list_once);
    return index >= 0 && index < present_count ? &present[index] : NULL;
}

// Handles are of their instance: what both have is the driver's number of the device.
void kal_vk_name(struct vk_facts *facts)
{
    const char *selector = "vulkan";
    for (int i = 0; kal_vk_find(i); i++) {
        if (memcmp(facts->device_uuid, kal_vk_find(i)->device_uuid, VK_UUID_SIZE) == 0 &&
            strcmp(facts->info.name, kal_vk_find(i)->info.name) == 0)
            selector = kal_vk_find(i)->info.selector;
    }
    snprintf(facts->info.selector, sizeof facts->info.selector, "%s", selector);
}

// The compiler of the module is of the library's own build, whose version is in every label.
void kal_vk_key(const kallima_device *base, char *key, size_t capacity)
{
    const struct vk_facts *facts = &((const struct vk_device *)base)->facts;
    size_t length = strlen(key);
    length +=
        (size_t)snprintf(key + length, capacity - length, "vulkan|%s|%s|%08x|",
                         facts->info.name, facts->info.driver, facts->driver_version);
    for (size_t i = 0; i < VK_UUID_SIZE && length + 2 < capacity; i++, length += 2)
        snprintf(key + length, capacity - length, "%02x", facts->cache_uuid[i]);
}
