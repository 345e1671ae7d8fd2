// SPDX-License-Identifier: MIT
// The caller's own objects: a device and its queue, and buffers.
#include "device/vulkan/driver.h"

static kallima_status read_facts(struct vk_facts *facts,
                                 const struct vk_instance *instance,
                                 const kallima_vulkan_handles *handles,
                                 const struct kal_host *host)
{
    if (!kal_vk_read_facts(instance, handles->physical_device, host, facts))
        return kal_fail(host, KALLIMA_E_UNSUPPORTED,
                        "vulkan: the physical device is below version 1.1, or has no "
                        "queues that compute");
    if (!kal_vk_read_family(instance, facts, handles->queue_family,
                            handles->queue_family))
        return kal_fail(host, KALLIMA_E_ARGUMENT,
                        "vulkan: queue_family = %u; there are none, or no queues that "
                        "compute",
                        handles->queue_family);
    facts->caps.has_f64 = facts->caps.has_f64 && handles->has_f64;
    facts->info.has_f64 = facts->caps.has_f64;
    kal_vk_name(facts);
    return KALLIMA_OK;
}

static kallima_status start(struct vk_device *device, const struct vk_instance *instance,
                            const kallima_vulkan_handles *handles)
{
    device->is_adopted = true;
    device->device = handles->device;
    if (!kal_vk_api_load(&device->vk, instance, handles->device))
        return kal_fail(&device->base.host, KALLIMA_E_UNSUPPORTED,
                        "vulkan: the device lacks functions of Vulkan 1.1");
    device->queue = handles->queue;
    kal_vk_offer_addresses(
        device, handles->has_buffer_addresses && device->vk.GetBufferDeviceAddress,
        handles->has_memory_model);
    return kal_vk_device_start(device);
}

kallima_status kal_vulkan_adopt(kallima_device **out,
                                const kallima_vulkan_handles *handles,
                                const struct kal_host *host)
{
    struct vk_instance instance;
    struct vk_facts facts;
    struct vk_device *device;

    if (!kal_vk_is_loaded())
        return kal_fail(host, KALLIMA_E_ABSENT,
                        "vulkan: libvulkan.so.1 cannot be loaded");
    if (!kal_vk_instance_load(&instance, handles->instance))
        return kal_fail(host, KALLIMA_E_UNSUPPORTED,
                        "vulkan: the instance lacks functions of Vulkan 1.1");
    KAL_TRY(read_facts(&facts, &instance, handles, host));
    KAL_TRY(kal_vk_device_create(&device, host, &facts));
    const kallima_status status = start(device, &instance, handles);
    if (status) {
        device->base.ops->close(&device->base);
        return status;
    }
    *out = &device->base;
    return KALLIMA_OK;
}

// One object for all buffers of a VkBuffer. The lock is held.
static kallima_status find_memory(struct vk_memory **out, struct vk_device *device,
                                  VkBuffer buffer)
{
    void *object;
    struct vk_memory *memory = device->wrapped;
    while (memory && memory->buffer != buffer)
        memory = memory->next;
    if (!memory) {
        KAL_TRY(kal_alloc_object(&device->base.host, &object, sizeof *memory));
        memory = object;
        memory->buffer = buffer;
        memory->device_address = kal_vk_address_of(device, buffer);
        memory->next = device->wrapped;
        device->wrapped = memory;
    }
    memory->references++;
    *out = memory;
    return KALLIMA_OK;
}

static kallima_status take_memory(struct vk_memory **out, struct vk_device *device,
                                  VkBuffer buffer, uint64_t end)
{
    pthread_mutex_lock(&device->lock);
    const kallima_status status = find_memory(out, device, buffer);
    if (!status && (*out)->bytes < end)
        (*out)->bytes = end;
    pthread_mutex_unlock(&device->lock);
    return status;
}

kallima_status kal_vulkan_wrap(kallima_buffer **out, kallima_device *base,
                               VkBuffer buffer, uint64_t offset_bytes, uint64_t bytes)
{
    struct vk_device *device = (struct vk_device *)base;
    struct vk_memory *memory;
    void *object;

    KAL_TRY(kal_range_check(base, "VkBuffer", UINT64_MAX, offset_bytes, bytes));
    KAL_TRY(kal_reach_check(base, device->facts.offset_bytes, offset_bytes, bytes));
    KAL_TRY(kal_alloc_object(&base->host, &object, sizeof(kallima_buffer)));
    const kallima_status status =
        take_memory(&memory, device, buffer, offset_bytes + bytes);
    if (status) {
        kal_free(&base->host, object);
        return status;
    }
    *out = object;
    **out = (kallima_buffer){ .device = base,
                              .bytes = bytes,
                              .memory = { memory, offset_bytes } };
    return KALLIMA_OK;
}
