// SPDX-License-Identifier: MIT
#include <kallima/interop/vulkan.h>

#include "api/host.h"
#include "device/vulkan/vulkan.h"
#include "exec/plan.h"

kallima_status kallima_vulkan_adopt(kallima_device **out,
                                    const kallima_vulkan_handles *handles,
                                    const kallima_device_options *options)
{
    static const kallima_device_options defaults;
    struct kal_host host;

    KAL_REQUIRE(NULL, out);
    *out = NULL;
    KAL_TRY(kal_host_init(&host, options ? options : &defaults));
    KAL_REQUIRE(&host, handles);
    KAL_REQUIRE(&host, handles->instance);
    KAL_REQUIRE(&host, handles->physical_device);
    KAL_REQUIRE(&host, handles->device);
    KAL_REQUIRE(&host, handles->queue);
    KAL_TRY(kal_vulkan_adopt(out, handles, &host));
    return kal_device_hand_over(out, options);
}

static kallima_status check_device(const kallima_device *device)
{
    if (device->ops != &kal_vulkan_device_ops)
        return kal_fail(&device->host, KALLIMA_E_ARGUMENT,
                        "vulkan: the device is \"%s\"; must be one of Vulkan",
                        device->ops->name);
    return KALLIMA_OK;
}

kallima_status kallima_vulkan_wrap(kallima_buffer **out, kallima_device *device,
                                   VkBuffer buffer, uint64_t offset_bytes, uint64_t bytes)
{
    KAL_REQUIRE(device ? &device->host : NULL, out);
    *out = NULL;
    KAL_REQUIRE(NULL, device);
    KAL_REQUIRE(&device->host, buffer);
    KAL_REQUIRE(&device->host, bytes > 0);
    KAL_TRY(check_device(device));
    KAL_TRY(kal_vulkan_wrap(out, device, buffer, offset_bytes, bytes));
    kal_device_retain(device);
    return KALLIMA_OK;
}

kallima_status kallima_vulkan_record(const kallima_plan *plan,
                                     const kallima_device_arrays *arrays,
                                     VkCommandBuffer commands)
{
    KAL_REQUIRE(NULL, plan);
    KAL_REQUIRE(&plan->device->host, arrays);
    KAL_REQUIRE(&plan->device->host, commands);
    KAL_TRY(check_device(plan->device));
    const struct kal_sync sync = { .commands = commands };
    return kal_plan_execute(plan, arrays, &sync);
}
