// SPDX-License-Identifier: MIT
// Buffers: memory of the device. The host reaches it directly where the memory is both's, else
// through two halves of staging memory, of which one is copied while the other one moves.
#include "device/vulkan/driver.h"

#include <string.h>

enum {
    OF_HOST = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT,
    // Without its cache the host would read the device's memory word by word.
    OF_BOTH = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT | OF_HOST |
              VK_MEMORY_PROPERTY_HOST_CACHED_BIT,
};

// What is wished, best first.
static const VkMemoryPropertyFlags staging_wishes[] = {
    OF_HOST | VK_MEMORY_PROPERTY_HOST_CACHED_BIT, OF_HOST
};
static const VkMemoryPropertyFlags buffer_wishes[] = {
    OF_BOTH, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, 0
};

int kal_vk_find_type(const VkPhysicalDeviceMemoryProperties *memory, uint32_t types,
                     VkMemoryPropertyFlags wish)
{
    for (uint32_t i = 0; i < memory->memoryTypeCount; i++) {
        if ((types >> i & 1) && (memory->memoryTypes[i].propertyFlags & wish) == wish)
            return (int)i;
    }
    return -1;
}

static int choose_type(const struct vk_device *device, uint32_t types, bool is_staging)
{
    const VkMemoryPropertyFlags *wishes = is_staging ? staging_wishes : buffer_wishes;
    const size_t count =
        is_staging ? KAL_COUNT(staging_wishes) : KAL_COUNT(buffer_wishes);
    int type = -1;
    for (size_t i = 0; i < count && type < 0; i++)
        type = kal_vk_find_type(&device->facts.memory, types, wishes[i]);
    return type;
}

static VkResult allocate(struct vk_memory *memory, const struct vk_device *device,
                         bool is_staging)
{
    const struct vk_api *vk = &device->vk;
    VkMemoryRequirements needed;

    vk->GetBufferMemoryRequirements(device->device, memory->buffer, &needed);
    const int type = choose_type(device, needed.memoryTypeBits, is_staging);
    const VkMemoryAllocateFlagsInfo with_address = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO,
        .flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT,
    };
    const VkMemoryAllocateInfo info = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
        .pNext = kal_vk_takes_addresses(device) ? &with_address : NULL,
        .allocationSize = needed.size,
        .memoryTypeIndex = (uint32_t)type,
    };
    if (type < 0)
        return VK_ERROR_OUT_OF_DEVICE_MEMORY;
    VkResult code = vk->AllocateMemory(device->device, &info, NULL, &memory->memory);
    if (code == VK_SUCCESS)
        code = vk->BindBufferMemory(device->device, memory->buffer, memory->memory, 0);
    const VkMemoryPropertyFlags flags =
        device->facts.memory.memoryTypes[type].propertyFlags;
    if (code == VK_SUCCESS && (is_staging || (flags & OF_BOTH) == OF_BOTH))
        code = vk->MapMemory(device->device, memory->memory, 0, VK_WHOLE_SIZE, 0,
                             &memory->address);
    return code;
}

uint64_t kal_vk_address_of(const struct vk_device *device, VkBuffer buffer)
{
    const VkBufferDeviceAddressInfo info = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO,
        .buffer = buffer,
    };
    return kal_vk_takes_addresses(device)
               ? device->vk.GetBufferDeviceAddress(device->device, &info)
               : 0;
}

kallima_status kal_vk_memory_init(struct vk_memory *memory, struct vk_device *device,
                                  uint64_t bytes, bool is_staging)
{
    const VkBufferCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
        .size = (bytes + 3) / 4 * 4,
        .usage =
            VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
            VK_BUFFER_USAGE_TRANSFER_DST_BIT |
            (kal_vk_takes_addresses(device) ? VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT
                                            : 0u),
    };

    *memory = (struct vk_memory){ .bytes = info.size, .references = 1 };
    VkResult code = device->vk.CreateBuffer(device->device, &info, NULL, &memory->buffer);
    if (code == VK_SUCCESS)
        code = allocate(memory, device, is_staging);
    if (code == VK_SUCCESS) {
        memory->device_address = kal_vk_address_of(device, memory->buffer);
        return KALLIMA_OK;
    }
    return kal_fail(&device->base.host, KALLIMA_E_MEMORY,
                    "vulkan: a buffer of %llu bytes: %s (%d)", (unsigned long long)bytes,
                    kal_vk_error_name(code), code);
}

void kal_vk_memory_clear(struct vk_memory *memory, struct vk_device *device)
{
    device->vk.DestroyBuffer(device->device, memory->buffer, NULL);
    device->vk.FreeMemory(device->device, memory->memory, NULL);
}

static kallima_status create(kallima_buffer *buffer, struct vk_device *device,
                             uint64_t bytes)
{
    const struct kal_host *host = &device->base.host;
    KAL_TRY(kal_alloc_object(host, &buffer->memory.object, sizeof(struct vk_memory)));
    struct vk_memory *memory = buffer->memory.object;
    const kallima_status status = kal_vk_memory_init(memory, device, bytes, false);
    if (status) {
        kal_vk_memory_clear(memory, device);
        kal_free(host, memory);
    }
    return status;
}

kallima_status kal_vk_buffer_create(kallima_buffer **out, kallima_device *base,
                                    uint64_t bytes)
{
    struct vk_device *device = (struct vk_device *)base;
    void *object;

    if (bytes > device->facts.allocation_bytes)
        return kal_fail(&base->host, KALLIMA_E_MEMORY,
                        "vulkan: a buffer of %llu bytes; this device gives at most %llu "
                        "at once",
                        (unsigned long long)bytes,
                        (unsigned long long)device->facts.allocation_bytes);
    KAL_TRY(kal_alloc_object(&base->host, &object, sizeof(kallima_buffer)));
    kallima_buffer *buffer = object;
    buffer->device = base;
    buffer->bytes = bytes;
    const kallima_status status = create(buffer, device, bytes);
    if (status) {
        kal_free(&base->host, buffer);
        return status;
    }
    *out = buffer;
    return KALLIMA_OK;
}

// Take memory of the caller's from the list once no buffer lies in it.
static bool release(struct vk_memory *memory, struct vk_device *device)
{
    pthread_mutex_lock(&device->lock);
    const bool is_last = --memory->references == 0;
    struct vk_memory **link = &device->wrapped;
    while (is_last && *link && *link != memory)
        link = &(*link)->next;
    if (is_last && *link)
        *link = memory->next;
    pthread_mutex_unlock(&device->lock);
    return is_last;
}

void kal_vk_buffer_destroy(kallima_buffer *buffer)
{
    struct vk_device *device = (struct vk_device *)buffer->device;
    struct vk_memory *memory = kal_vk_memory(buffer->memory);
    if (release(memory, device)) {
        kal_vk_wait(device, memory->last);
        if (memory->memory)
            kal_vk_memory_clear(memory, device);
        kal_free(&device->base.host, memory);
    }
    kal_free(&device->base.host, buffer);
}

// A range of a buffer, as bytes of the driver's object.
struct range {
    struct vk_memory *memory;
    uint64_t offset;
};

static struct range range_of(const kallima_buffer *buffer, uint64_t offset)
{
    return (struct range){ kal_vk_memory(buffer->memory),
                           buffer->memory.offset + offset };
}

// Enqueue a copy; the host is to see it if `for_host`.
static kallima_status copy(struct vk_device *device, struct range to, struct range from,
                           uint64_t bytes, bool for_host, uint64_t *number)
{
    enum { LANE_BYTES = 16 };
    const VkBufferCopy region = { from.offset, to.offset, bytes };
    struct vk_slot *slot;

    KAL_TRY(kal_vk_begin(device, &slot));
    kal_vk_barrier_all(device, slot->commands);
    device->vk.CmdCopyBuffer(slot->commands, from.memory->buffer, to.memory->buffer, 1,
                             &region);
    if (for_host)
        kal_vk_barrier_host(device, slot->commands);
    else if (device->is_adopted)
        kal_vk_barrier_all(device, slot->commands);
    from.memory->last = to.memory->last = kal_vk_current(device);
    return kal_vk_end(device, KALLIMA_OK, (int64_t)(bytes / LANE_BYTES), number);
}

// Part `i` of a transfer and the half of the staging memory that it goes through.
struct part {
    uint64_t at, bytes;
    struct range staging;
    uint64_t *number;
    void *address;
};

static struct part part_of(struct vk_device *device, uint64_t i, uint64_t bytes)
{
    const uint64_t at = i * VK_STAGING_BYTES, rest = bytes - at;
    const uint64_t half = i % 2 * VK_STAGING_BYTES;
    return (struct part){
        .at = at,
        .bytes = rest < VK_STAGING_BYTES ? rest : VK_STAGING_BYTES,
        .staging = { &device->staging, half },
        .number = &device->staging_number[i % 2],
        .address = (char *)device->staging.address + half,
    };
}

static uint64_t count_parts(uint64_t bytes)
{
    return (bytes + VK_STAGING_BYTES - 1) / VK_STAGING_BYTES;
}

static kallima_status wait_for(struct vk_device *device, const struct part *part)
{
    return kal_vk_check(device, kal_vk_wait(device, *part->number), "vkWaitForFences");
}

static kallima_status write_staged(struct vk_device *device, struct range to,
                                   const char *source, uint64_t bytes)
{
    for (uint64_t i = 0; i < count_parts(bytes); i++) {
        const struct part part = part_of(device, i, bytes);
        const struct range target = { to.memory, to.offset + part.at };
        KAL_TRY(wait_for(device, &part));
        memcpy(part.address, source + part.at, (size_t)part.bytes);
        KAL_TRY(copy(device, target, part.staging, part.bytes, false, part.number));
    }
    return KALLIMA_OK;
}

// Each part is taken once the next one is under way.
static kallima_status read_staged(struct vk_device *device, struct range from,
                                  char *target, uint64_t bytes)
{
    for (uint64_t i = 0, count = count_parts(bytes); i <= count; i++) {
        if (i < count) {
            const struct part part = part_of(device, i, bytes);
            const struct range source = { from.memory, from.offset + part.at };
            KAL_TRY(copy(device, part.staging, source, part.bytes, true, part.number));
        }
        if (i > 0) {
            const struct part part = part_of(device, i - 1, bytes);
            KAL_TRY(wait_for(device, &part));
            memcpy(target + part.at, part.address, (size_t)part.bytes);
        }
    }
    return KALLIMA_OK;
}

kallima_status kal_vk_buffer_write(kallima_buffer *buffer, uint64_t offset,
                                   const void *source, uint64_t bytes)
{
    struct vk_device *device = (struct vk_device *)buffer->device;
    const struct range to = range_of(buffer, offset);

    if (to.memory->address) {
        KAL_TRY(kal_vk_settle(device));
        memcpy((char *)to.memory->address + to.offset, source, (size_t)bytes);
        return KALLIMA_OK;
    }
    pthread_mutex_lock(&device->staging_lock);
    const kallima_status status = write_staged(device, to, source, bytes);
    pthread_mutex_unlock(&device->staging_lock);
    return status;
}

kallima_status kal_vk_buffer_read(const kallima_buffer *buffer, uint64_t offset,
                                  void *target, uint64_t bytes)
{
    struct vk_device *device = (struct vk_device *)buffer->device;
    const struct range from = range_of(buffer, offset);

    if (from.memory->address) {
        KAL_TRY(kal_vk_settle(device));
        memcpy(target, (const char *)from.memory->address + from.offset, (size_t)bytes);
        return KALLIMA_OK;
    }
    pthread_mutex_lock(&device->staging_lock);
    const kallima_status status = read_staged(device, from, target, bytes);
    pthread_mutex_unlock(&device->staging_lock);
    return status;
}

kallima_status kal_vk_buffer_copy(kallima_buffer *target, uint64_t target_offset,
                                  const kallima_buffer *source, uint64_t source_offset,
                                  uint64_t bytes)
{
    return copy((struct vk_device *)target->device, range_of(target, target_offset),
                range_of(source, source_offset), bytes, false, NULL);
}
