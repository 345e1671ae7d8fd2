// SPDX-License-Identifier: MIT
// Work into a command buffer, ours or the caller's: kernels and zeros, one after the other.
#include "device/vulkan/driver.h"

#include <string.h>

// What a launch is recorded with; `slot` is NULL in a command buffer of the caller's.
struct target {
    const struct vk_device *device;
    VkCommandBuffer commands;
    struct vk_slot *slot;
};

// Where the arrays of a launch are: by address, or by a descriptor each and what its offset
// leaves over; and the number of the first group behind that.
struct places {
    VkDescriptorBufferInfo buffer[KAL_MAX_SLOTS];
    uint32_t numbers[2 * VK_PLACES + 1];
};

static void place_descriptor(const struct vk_facts *facts, const struct kal_memory *slot,
                             VkDescriptorBufferInfo *buffer, uint32_t *offset)
{
    const struct vk_memory *memory = kal_vk_memory(*slot);
    const uint64_t most = facts->caps.buffer_bytes;
    *offset = (uint32_t)(slot->offset % facts->offset_bytes);
    const uint64_t first = slot->offset - *offset, rest = memory->bytes - first;
    *buffer =
        (VkDescriptorBufferInfo){ memory->buffer, first, rest < most ? rest : most };
}

static void place(const struct vk_device *device, struct places *places, uint32_t i,
                  const struct kal_memory *slot)
{
    const uint64_t address = kal_vk_memory(*slot)->device_address + slot->offset;
    if (kal_vk_takes_addresses(device))
        memcpy(&places->numbers[2 * i], &address, sizeof address);
    else
        place_descriptor(&device->facts, slot, &places->buffer[i], &places->numbers[i]);
}

static kallima_status bind(const struct target *target, const struct vk_kernel *kernel,
                           const struct places *places)
{
    const struct vk_device *device = target->device;
    const struct vk_api *vk = &device->vk;
    // Of one write, descriptors run on from binding to binding.
    VkWriteDescriptorSet write = {
        .sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
        .descriptorCount = kernel->slots,
        .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
        .pBufferInfo = places->buffer,
    };

    vk->CmdBindPipeline(target->commands, VK_PIPELINE_BIND_POINT_COMPUTE,
                        kernel->pipeline);
    if (kal_vk_takes_addresses(device))
        return KALLIMA_OK;
    if (vk->CmdPushDescriptorSetKHR) {
        vk->CmdPushDescriptorSetKHR(target->commands, VK_PIPELINE_BIND_POINT_COMPUTE,
                                    kernel->layout, 0, 1, &write);
        return KALLIMA_OK;
    }
    const VkDescriptorSetAllocateInfo info = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
        .descriptorPool = target->slot->sets,
        .descriptorSetCount = 1,
        .pSetLayouts = &kernel->slots_layout,
    };
    VK_TRY(device, AllocateDescriptorSets, device->device, &info, &write.dstSet);
    vk->UpdateDescriptorSets(device->device, 1, &write, 0, NULL);
    vk->CmdBindDescriptorSets(target->commands, VK_PIPELINE_BIND_POINT_COMPUTE,
                              kernel->layout, 0, 1, &write.dstSet, 0, NULL);
    return KALLIMA_OK;
}

static void dispatch(const struct target *target, const struct vk_kernel *kernel,
                     struct places *places, const struct kal_groups *groups)
{
    const struct vk_api *vk = &target->device->vk;
    const uint32_t bytes = kal_vk_launch_bytes(target->device);
    places->numbers[bytes / sizeof(uint32_t) - 1] = groups->first;
    vk->CmdPushConstants(target->commands, kernel->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0,
                         bytes, places->numbers);
    vk->CmdDispatch(target->commands, groups->width, groups->rows, 1);
}

static kallima_status launch(const struct target *target, const struct kal_work *work)
{
    struct vk_kernel *kernel = (struct vk_kernel *)work->kernel;
    struct places places = { .numbers = { 0 } };
    struct kal_groups parts[2];
    const int count =
        kal_split_groups(parts, work->groups, target->device->base.caps.row_groups);

    for (uint32_t i = 0; i < kernel->slots; i++)
        place(target->device, &places, i, &work->slot[i]);
    KAL_TRY(bind(target, kernel, &places));
    for (int i = 0; i < count; i++)
        dispatch(target, kernel, &places, &parts[i]);
    return KALLIMA_OK;
}

static kallima_status fill(const struct target *target, const struct kal_work *work)
{
    if (work->fill_bytes > 0)
        target->device->vk.CmdFillBuffer(target->commands,
                                         kal_vk_memory(work->slot[0])->buffer,
                                         work->slot[0].offset, work->fill_bytes, 0);
    return KALLIMA_OK;
}

// Each sees what the one before it wrote. Around them may be work of the caller's, in whose command
// buffer or queue they are.
static kallima_status record(const struct target *target, const struct kal_work *work,
                             int count)
{
    const bool is_alone = target->slot && !target->device->is_adopted;
    (is_alone ? kal_vk_barrier : kal_vk_barrier_all)(target->device, target->commands);
    for (int i = 0; i < count; i++) {
        if (i > 0)
            kal_vk_barrier(target->device, target->commands);
        KAL_TRY((work[i].kernel ? launch : fill)(target, &work[i]));
    }
    if (!is_alone)
        kal_vk_barrier_all(target->device, target->commands);
    return KALLIMA_OK;
}

// Remember what the next submission uses, so that it is not destroyed before. The lock is
// held.
static void mark_used(const struct vk_device *device, const struct kal_work *work,
                      int count)
{
    for (int i = 0; i < count; i++) {
        struct vk_kernel *kernel = (struct vk_kernel *)work[i].kernel;
        const uint32_t slots = kernel ? kernel->slots : 1;
        if (kernel)
            kernel->last = kal_vk_current(device);
        for (uint32_t k = 0; k < slots; k++)
            kal_vk_memory(work[i].slot[k])->last = kal_vk_current(device);
    }
}

static kallima_status append(const struct vk_device *device, void *commands,
                             const struct kal_work *work, int count)
{
    const struct target target = { device, commands, NULL };
    if (!kal_vk_needs_no_sets(device))
        return kal_fail(&device->base.host, KALLIMA_E_UNSUPPORTED,
                        "vulkan: recording into a command buffer needs "
                        "VK_KHR_push_descriptor, which the device was made without");
    return record(&target, work, count);
}

kallima_status kal_vk_enqueue(kallima_device *base, const struct kal_work *work,
                              int count, const struct kal_sync *sync)
{
    struct vk_device *device = (struct vk_device *)base;
    struct vk_slot *slot;

    KAL_TRY(kal_events_refuse(base, sync));
    KAL_TRY(kal_work_check(
        base, work, count,
        kal_most_groups((uint64_t)base->caps.row_groups, device->facts.most_rows)));
    if (sync && sync->commands)
        return append(device, sync->commands, work, count);
    KAL_TRY(kal_vk_begin(device, &slot));
    const struct target target = { device, slot->commands, slot };
    mark_used(device, work, count);
    return kal_vk_end(device, record(&target, work, count), kal_work_lanes(work, count),
                      NULL);
}
