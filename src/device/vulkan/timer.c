// SPDX-License-Identifier: MIT
// A timer is two timestamps in the queue.
#include "device/vulkan/driver.h"

struct vk_timer {
    struct kallima_timer base;
    VkQueryPool pool;   // start and stop
    uint64_t number[2]; // the submission of each; 0: not marked
};

kallima_status kal_vk_timer_create(kallima_timer **out, kallima_device *base)
{
    const struct vk_device *device = (const struct vk_device *)base;
    const VkQueryPoolCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
        .queryType = VK_QUERY_TYPE_TIMESTAMP,
        .queryCount = 2,
    };
    void *object;

    if (device->facts.timestamp_bits == 0)
        return kal_fail(&base->host, KALLIMA_E_UNSUPPORTED,
                        "vulkan: queues of family %u keep no times",
                        device->facts.family);
    KAL_TRY(kal_alloc_object(&base->host, &object, sizeof(struct vk_timer)));
    struct vk_timer *timer = object;
    timer->base.device = base;
    const kallima_status status = kal_vk_check(
        device, device->vk.CreateQueryPool(device->device, &info, NULL, &timer->pool),
        "vkCreateQueryPool");
    if (status) {
        kal_free(&base->host, timer);
        return status;
    }
    *out = &timer->base;
    return KALLIMA_OK;
}

void kal_vk_timer_destroy(kallima_timer *base)
{
    struct vk_timer *timer = (struct vk_timer *)base;
    struct vk_device *device = (struct vk_device *)base->device;
    for (int i = 0; i < 2; i++)
        kal_vk_wait(device, timer->number[i]);
    device->vk.DestroyQueryPool(device->device, timer->pool, NULL);
    kal_free(&device->base.host, timer);
}

// Once all before it is done.
static kallima_status set_mark(struct vk_timer *timer, uint32_t which)
{
    struct vk_device *device = (struct vk_device *)timer->base.device;
    struct vk_slot *slot;

    KAL_TRY(kal_vk_begin(device, &slot));
    device->vk.CmdResetQueryPool(slot->commands, timer->pool, which, 1);
    device->vk.CmdWriteTimestamp(slot->commands, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT,
                                 timer->pool, which);
    return kal_vk_end(device, KALLIMA_OK, 0, &timer->number[which]);
}

kallima_status kal_vk_timer_start(kallima_timer *base)
{
    struct vk_timer *timer = (struct vk_timer *)base;
    timer->number[0] = timer->number[1] = 0;
    return set_mark(timer, 0);
}

kallima_status kal_vk_timer_stop(kallima_timer *base)
{
    return set_mark((struct vk_timer *)base, 1);
}

kallima_status kal_vk_timer_read(const kallima_timer *base, double *seconds)
{
    const struct vk_timer *timer = (const struct vk_timer *)base;
    struct vk_device *device = (struct vk_device *)base->device;
    const uint32_t bits = device->facts.timestamp_bits;
    const uint64_t valid = bits < 64 ? ((uint64_t)1 << bits) - 1 : UINT64_MAX;
    uint64_t ticks[2] = { 0, 0 };

    if (timer->number[0] == 0 || timer->number[1] == 0)
        return kal_fail(&base->device->host, KALLIMA_E_DEVICE,
                        "timer: start and stop were not both called");
    KAL_TRY(
        kal_vk_check(device, kal_vk_wait(device, timer->number[1]), "vkWaitForFences"));
    VK_TRY(device, GetQueryPoolResults, device->device, timer->pool, 0, 2, sizeof ticks,
           ticks, sizeof ticks[0], VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT);
    *seconds = device->facts.tick_seconds * (double)((ticks[1] - ticks[0]) & valid);
    return KALLIMA_OK;
}
