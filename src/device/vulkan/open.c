// SPDX-License-Identifier: MIT
// The device itself: one queue, and what submissions to it need.
#include "base/place.h"
#include "device/spirv/spirv.h"
#include "device/vulkan/driver.h"

#include <kallima/plan.h>
#include <string.h>

enum { MOST_LAUNCHES = 64 }; // of one submission

static bool vk_find(int index, kallima_device_info *info)
{
    const struct vk_facts *facts = kal_vk_find(index);
    if (facts)
        *info = facts->info;
    return facts != NULL;
}

// Kernels need the compiler of the module, but for those that are in the cache.
static bool vk_is_complete(void)
{
    const struct vk_facts *facts = kal_vk_find(0);
    const char *reason;
    return facts && !facts->info.is_software && kal_spirv_compiler(&reason);
}

static void vk_describe(const kallima_device *base, kallima_device_info *info)
{
    *info = ((const struct vk_device *)base)->facts.info;
}

static kallima_status make_slot(struct vk_device *device, struct vk_slot *slot)
{
    const VkCommandBufferAllocateInfo commands = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = device->pool,
        .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
        .commandBufferCount = 1,
    };
    const VkFenceCreateInfo fence = { .sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO };
    const VkDescriptorPoolSize size = { VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                        MOST_LAUNCHES * KAL_MAX_SLOTS };
    const VkDescriptorPoolCreateInfo sets = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
        .maxSets = MOST_LAUNCHES,
        .poolSizeCount = 1,
        .pPoolSizes = &size,
    };
    VK_TRY(device, AllocateCommandBuffers, device->device, &commands, &slot->commands);
    VK_TRY(device, CreateFence, device->device, &fence, NULL, &slot->fence);
    if (!kal_vk_needs_no_sets(device))
        VK_TRY(device, CreateDescriptorPool, device->device, &sets, NULL, &slot->sets);
    return KALLIMA_OK;
}

kallima_status kal_vk_device_start(struct vk_device *device)
{
    const VkCommandPoolCreateInfo pool = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
        .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
        .queueFamilyIndex = device->facts.family,
    };
    VK_TRY(device, CreateCommandPool, device->device, &pool, NULL, &device->pool);
    for (int i = 0; i < VK_SLOTS; i++)
        KAL_TRY(make_slot(device, &device->slot[i]));
    return kal_vk_memory_init(&device->staging, device, 2 * VK_STAGING_BYTES, true);
}

// With what it offers of what kernels can use.
static kallima_status create_device(struct vk_device *device)
{
    const char *extensions[3];
    uint32_t count = 0;
    static const float priority = 1.0f;
    const struct vk_instance *instance = kal_vk_instance();
    const VkDeviceQueueCreateInfo queue = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
        .queueFamilyIndex = device->facts.family,
        .queueCount = 1,
        .pQueuePriorities = &priority,
    };
    const VkPhysicalDeviceFeatures features = { .shaderFloat64 =
                                                    device->facts.caps.has_f64 };
    VkPhysicalDeviceBufferDeviceAddressFeatures addresses = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_BUFFER_DEVICE_ADDRESS_FEATURES,
        .bufferDeviceAddress = VK_TRUE,
    };
    VkPhysicalDeviceVulkanMemoryModelFeatures model = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_MEMORY_MODEL_FEATURES,
        .vulkanMemoryModel = VK_TRUE,
        .vulkanMemoryModelDeviceScope = VK_TRUE,
    };
    if (device->base.caps.has_forward_progress) {
        extensions[count++] = VK_KHR_VULKAN_MEMORY_MODEL_EXTENSION_NAME;
        addresses.pNext = &model;
    }
    if (device->facts.has_push_descriptors)
        extensions[count++] = VK_KHR_PUSH_DESCRIPTOR_EXTENSION_NAME;
    if (kal_vk_takes_addresses(device))
        extensions[count++] = VK_KHR_BUFFER_DEVICE_ADDRESS_EXTENSION_NAME;
    const VkDeviceCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
        .pNext = kal_vk_takes_addresses(device) ? &addresses : NULL,
        .queueCreateInfoCount = 1,
        .pQueueCreateInfos = &queue,
        .enabledExtensionCount = count,
        .ppEnabledExtensionNames = extensions,
        .pEnabledFeatures = &features,
    };
    KAL_TRY(kal_vk_check(
        device,
        instance->CreateDevice(device->facts.handle, &info, NULL, &device->device),
        "vkCreateDevice"));
    if (!kal_vk_api_load(&device->vk, instance, device->device))
        return kal_fail(&device->base.host, KALLIMA_E_DEVICE,
                        "vulkan: %s lacks functions of Vulkan 1.1",
                        device->facts.info.name);
    device->vk.GetDeviceQueue(device->device, device->facts.family, 0, &device->queue);
    return kal_vk_device_start(device);
}

static void vk_close(kallima_device *base)
{
    struct vk_device *device = (struct vk_device *)base;
    const struct kal_host host = base->host;
    const struct vk_api *vk = &device->vk;

    if (device->queue) {
        kal_vk_wait(device, kal_vk_current(device));
        kal_vk_memory_clear(&device->staging, device);
        for (int i = 0; i < VK_SLOTS; i++) {
            vk->DestroyFence(device->device, device->slot[i].fence, NULL);
            vk->DestroyDescriptorPool(device->device, device->slot[i].sets, NULL);
        }
        vk->DestroyCommandPool(device->device, device->pool, NULL);
    }
    if (vk->DestroyDevice && !device->is_adopted)
        vk->DestroyDevice(device->device, NULL);
    pthread_cond_destroy(&device->no_waiter);
    pthread_mutex_destroy(&device->staging_lock);
    pthread_mutex_destroy(&device->lock);
    kal_free(&host, device);
}

kallima_status kal_vk_device_create(struct vk_device **out, const struct kal_host *host,
                                    const struct vk_facts *facts)
{
    void *object;
    KAL_TRY(kal_alloc_object(host, &object, sizeof(struct vk_device)));
    struct vk_device *device = object;
    device->base.ops = &kal_vulkan_device_ops;
    device->base.host = *host;
    device->base.caps = facts->caps;
    device->facts = *facts;
    pthread_mutex_init(&device->lock, NULL);
    pthread_mutex_init(&device->staging_lock, NULL);
    pthread_cond_init(&device->no_waiter, NULL);
    *out = device;
    return KALLIMA_OK;
}

// Vulkan promises nobody that a group goes on while others wait for it; NVIDIA's GPUs do. Mesa's
// lavapipe has a thread for each group under way, but leaves a kernel's loops behind 65535 turns of
// all together, and goes on as if nobody had waited.
void kal_vk_offer_addresses(struct vk_device *device, bool are_offered, bool has_model)
{
    const struct vk_facts *facts = &device->facts;
    if (!are_offered || !facts->has_addresses)
        return;
    device->base.caps.language = KAL_LANGUAGE_GLSL_ADDRESSES;
    device->base.caps.has_forward_progress =
        has_model && facts->has_memory_model &&
        (facts->processors > 0 || kal_switch_is_on("KALLIMA_VULKAN_PROGRESS"));
}

static kallima_status vk_open(kallima_device **out, int index,
                              const struct kal_host *host,
                              const kallima_device_options *options)
{
    const struct vk_facts *found = kal_vk_find(index);
    struct vk_device *device;

    (void)options;
    if (!found)
        return kal_fail(host, KALLIMA_E_ABSENT, "vulkan: no device %d is present", index);
    KAL_TRY(kal_vk_device_create(&device, host, found));
    kal_vk_offer_addresses(device, !kal_switch_is_on("KALLIMA_VULKAN_DESCRIPTORS"), true);
    const kallima_status status = create_device(device);
    if (status) {
        vk_close(&device->base);
        return status;
    }
    *out = &device->base;
    return KALLIMA_OK;
}

static kallima_status vk_finish(kallima_device *base)
{
    return kal_vk_settle((struct vk_device *)base);
}

const struct kal_device_ops kal_vulkan_device_ops = {
    .name = "vulkan",
    .compiles_aside = true,
    .find = vk_find,
    .is_complete = vk_is_complete,
    .open = vk_open,
    .close = vk_close,
    .describe = vk_describe,
    .buffer_create = kal_vk_buffer_create,
    .buffer_destroy = kal_vk_buffer_destroy,
    .buffer_write = kal_vk_buffer_write,
    .buffer_read = kal_vk_buffer_read,
    .buffer_copy = kal_vk_buffer_copy,
    .finish = vk_finish,
    .timer_create = kal_vk_timer_create,
    .timer_destroy = kal_vk_timer_destroy,
    .timer_start = kal_vk_timer_start,
    .timer_stop = kal_vk_timer_stop,
    .timer_read = kal_vk_timer_read,
    .kernel_create = kal_vk_kernel_create,
    .kernel_destroy = kal_vk_kernel_destroy,
    .kernel_describe = kal_kernel_describe_nothing,
    .kernel_key = kal_vk_key,
    .enqueue = kal_vk_enqueue,
};
