// SPDX-License-Identifier: MIT
// Submissions: command buffers and fences in a ring. A fence tells of all submissions before
// its own too, so one number says how far the queue has come. Between two submissions a GPU is
// idle for some microseconds: little work, and what finds it at work, is gathered.
#include "device/vulkan/driver.h"

static struct vk_slot *slot_of(struct vk_device *device, uint64_t number)
{
    return &device->slot[number % VK_SLOTS];
}

// The lock is held, and given up while waiting: other threads go on enqueueing. What could not be
// submitted is not waited for.
static VkResult wait_for(struct vk_device *device, uint64_t number)
{
    struct vk_slot *slot = slot_of(device, number);
    if (number <= device->completed || number > device->submitted)
        return VK_SUCCESS;
    slot->waiters++;
    pthread_mutex_unlock(&device->lock);
    const VkResult code =
        device->vk.WaitForFences(device->device, 1, &slot->fence, VK_TRUE, UINT64_MAX);
    pthread_mutex_lock(&device->lock);
    if (--slot->waiters == 0)
        pthread_cond_broadcast(&device->no_waiter);
    if (code == VK_SUCCESS && number > device->completed)
        device->completed = number;
    return code;
}

// The slot of the next submission, once the last one that had it is done and nobody looks at
// its fence. It may be begun already, or by another thread meanwhile.
static VkResult take_slot(struct vk_device *device, struct vk_slot **slot)
{
    VkResult code = VK_SUCCESS;
    for (;;) {
        const uint64_t number = kal_vk_current(device);
        *slot = slot_of(device, number);
        if (device->gathered > 0)
            return VK_SUCCESS;
        if (number > device->completed + VK_SLOTS)
            code = wait_for(device, number - VK_SLOTS);
        else if ((*slot)->waiters > 0)
            pthread_cond_wait(&device->no_waiter, &device->lock);
        else
            return VK_SUCCESS;
        if (code != VK_SUCCESS)
            return code;
    }
}

static kallima_status begin(struct vk_device *device, struct vk_slot **slot)
{
    const VkCommandBufferBeginInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
        .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT,
    };
    KAL_TRY(kal_vk_check(device, take_slot(device, slot), "vkWaitForFences"));
    if (device->gathered > 0)
        return KALLIMA_OK;
    if ((*slot)->sets)
        VK_TRY(device, ResetDescriptorPool, device->device, (*slot)->sets, 0);
    VK_TRY(device, BeginCommandBuffer, (*slot)->commands, &info);
    return KALLIMA_OK;
}

kallima_status kal_vk_begin(struct vk_device *device, struct vk_slot **slot)
{
    pthread_mutex_lock(&device->lock);
    const kallima_status status = begin(device, slot);
    if (status)
        pthread_mutex_unlock(&device->lock);
    return status;
}

static kallima_status submit(struct vk_device *device, const struct vk_slot *slot)
{
    const VkSubmitInfo info = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
        .commandBufferCount = 1,
        .pCommandBuffers = &slot->commands,
    };
    VK_TRY(device, ResetFences, device->device, 1, &slot->fence);
    VK_TRY(device, QueueSubmit, device->queue, 1, &info, slot->fence);
    device->submitted++;
    return KALLIMA_OK;
}

static kallima_status end(struct vk_device *device, kallima_status status)
{
    const struct vk_slot *slot = slot_of(device, kal_vk_current(device));
    const VkResult code = device->vk.EndCommandBuffer(slot->commands);
    device->gathered = 0;
    device->waiting_lanes = 0;
    if (!status)
        status = kal_vk_check(device, code, "vkEndCommandBuffer");
    return status ? status : submit(device, slot);
}

static bool is_at_work(struct vk_device *device)
{
    const uint64_t number = device->submitted;
    if (number > device->completed &&
        device->vk.GetFenceStatus(device->device, slot_of(device, number)->fence) !=
            VK_NOT_READY)
        device->completed = number;
    return number > device->completed;
}

// May what was recorded wait for more? A caller who shares the queue is to have it there at once;
// and where descriptors are not pushed recording may fail, which would undo what waits.
static bool can_wait(struct vk_device *device)
{
    return !device->is_adopted && kal_vk_needs_no_sets(device) &&
           device->gathered + 1 < VK_GATHERED &&
           (device->waiting_lanes < KAL_ENOUGH_LANES || is_at_work(device));
}

kallima_status kal_vk_end(struct vk_device *device, kallima_status status, int64_t lanes,
                          uint64_t *number)
{
    const bool others_wait = device->gathered > 0;
    device->waiting_lanes += lanes;
    if (!status && !number && can_wait(device))
        device->gathered++;
    else
        status = end(device, status);
    if (!status && number)
        *number = device->submitted;
    const bool loses = status && others_wait;
    if (!status && device->has_lost)
        status = kal_fail(&device->base.host, KALLIMA_E_DEVICE,
                          "vulkan: work of before could not be submitted");
    device->has_lost = loses;
    pthread_mutex_unlock(&device->lock);
    return status;
}

VkResult kal_vk_wait(struct vk_device *device, uint64_t number)
{
    pthread_mutex_lock(&device->lock);
    if (device->gathered > 0 && number > device->submitted && end(device, KALLIMA_OK))
        device->has_lost = true; // and there is nothing to wait for
    const VkResult code = wait_for(device, number);
    pthread_mutex_unlock(&device->lock);
    return code;
}

kallima_status kal_vk_settle(struct vk_device *device)
{
    struct vk_slot *slot;
    uint64_t number;
    KAL_TRY(kal_vk_begin(device, &slot));
    kal_vk_barrier_host(device, slot->commands);
    KAL_TRY(kal_vk_end(device, KALLIMA_OK, 0, &number));
    return kal_vk_check(device, kal_vk_wait(device, number), "vkWaitForFences");
}

// One side of a barrier.
struct scope {
    VkPipelineStageFlags stages;
    VkAccessFlags access;
};

static const struct scope ours = {
    VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT,
    VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_READ_BIT |
        VK_ACCESS_TRANSFER_WRITE_BIT,
};
static const struct scope all = {
    VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
    VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT,
};
static const struct scope host = { VK_PIPELINE_STAGE_HOST_BIT, VK_ACCESS_HOST_READ_BIT };

static void barrier(const struct vk_device *device, VkCommandBuffer commands,
                    const struct scope *from, const struct scope *to)
{
    const VkMemoryBarrier memory = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
        .srcAccessMask = from->access,
        .dstAccessMask = to->access,
    };
    device->vk.CmdPipelineBarrier(commands, from->stages, to->stages, 0, 1, &memory, 0,
                                  NULL, 0, NULL);
}

void kal_vk_barrier(const struct vk_device *device, VkCommandBuffer commands)
{
    barrier(device, commands, &ours, &ours);
}

void kal_vk_barrier_all(const struct vk_device *device, VkCommandBuffer commands)
{
    barrier(device, commands, &all, &all);
}

void kal_vk_barrier_host(const struct vk_device *device, VkCommandBuffer commands)
{
    barrier(device, commands, &all, &host);
}
