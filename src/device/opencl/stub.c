// SPDX-License-Identifier: MIT
// Built instead of this folder's other files where OpenCL's headers are missing: a device
// that is never present.
#include "device/opencl/opencl.h"

static bool stub_find(int index, kallima_device_info *info)
{
    (void)index;
    (void)info;
    return false;
}

static kallima_status refuse(const struct kal_host *host)
{
    return kal_fail(host, KALLIMA_E_UNSUPPORTED,
                    "opencl: this library was built without OpenCL's headers");
}

kallima_status kal_opencl_adopt(kallima_device **out, struct _cl_context *context,
                                struct _cl_command_queue *queue,
                                const struct kal_host *host)
{
    (void)out;
    (void)context;
    (void)queue;
    return refuse(host);
}

kallima_status kal_opencl_wrap(kallima_buffer **out, kallima_device *device,
                               struct _cl_mem *memory, uint64_t offset_bytes,
                               uint64_t bytes)
{
    (void)out;
    (void)memory;
    (void)offset_bytes;
    (void)bytes;
    return refuse(&device->host);
}

const struct kal_device_ops kal_opencl_device_ops = {
    .name = "opencl",
    .find = stub_find,
};
