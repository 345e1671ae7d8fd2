// SPDX-License-Identifier: MIT
#include <kallima/interop/opencl.h>

#include "api/host.h"
#include "device/opencl/opencl.h"
#include "exec/plan.h"

kallima_status kallima_opencl_adopt(kallima_device **out, cl_context context,
                                    cl_command_queue queue,
                                    const kallima_device_options *options)
{
    static const kallima_device_options defaults;
    struct kal_host host;

    KAL_REQUIRE(NULL, out);
    *out = NULL;
    KAL_TRY(kal_host_init(&host, options ? options : &defaults));
    KAL_REQUIRE(&host, context);
    KAL_REQUIRE(&host, queue);
    KAL_TRY(kal_opencl_adopt(out, context, queue, &host));
    return kal_device_hand_over(out, options);
}

static kallima_status check_device(const kallima_device *device)
{
    if (device->ops != &kal_opencl_device_ops)
        return kal_fail(&device->host, KALLIMA_E_ARGUMENT,
                        "opencl: the device is \"%s\"; must be one of OpenCL",
                        device->ops->name);
    return KALLIMA_OK;
}

kallima_status kallima_opencl_wrap(kallima_buffer **out, kallima_device *device,
                                   cl_mem memory, uint64_t offset_bytes, uint64_t bytes)
{
    KAL_REQUIRE(device ? &device->host : NULL, out);
    *out = NULL;
    KAL_REQUIRE(NULL, device);
    KAL_REQUIRE(&device->host, memory);
    KAL_TRY(check_device(device));
    KAL_TRY(kal_opencl_wrap(out, device, memory, offset_bytes, bytes));
    kal_device_retain(device);
    return KALLIMA_OK;
}

kallima_status kallima_opencl_execute(const kallima_plan *plan,
                                      const kallima_device_arrays *arrays,
                                      uint32_t wait_count, const cl_event *wait,
                                      cl_event *event)
{
    if (event)
        *event = NULL;
    KAL_REQUIRE(NULL, plan);
    KAL_REQUIRE(&plan->device->host, arrays);
    KAL_REQUIRE(&plan->device->host, (wait != NULL) == (wait_count > 0));
    KAL_TRY(check_device(plan->device));
    const struct kal_sync sync = { .wait_count = wait_count,
                                   .wait = wait,
                                   .event = event };
    return kal_plan_execute(plan, arrays, &sync);
}
