// SPDX-License-Identifier: MIT
#include <kallima/interop/opengl.h>

#include "api/host.h"
#include "device/opengl/opengl.h"

kallima_status kallima_opengl_adopt(kallima_device **out,
                                    const kallima_device_options *options)
{
    static const kallima_device_options defaults;
    struct kal_host host;

    KAL_REQUIRE(NULL, out);
    *out = NULL;
    KAL_TRY(kal_host_init(&host, options ? options : &defaults));
    KAL_TRY(kal_opengl_adopt(out, &host));
    return kal_device_hand_over(out, options);
}

kallima_status kallima_opengl_wrap(kallima_buffer **out, kallima_device *device,
                                   unsigned buffer, uint64_t offset_bytes, uint64_t bytes)
{
    KAL_REQUIRE(device ? &device->host : NULL, out);
    *out = NULL;
    KAL_REQUIRE(NULL, device);
    if (device->ops != &kal_opengl_device_ops)
        return kal_fail(&device->host, KALLIMA_E_ARGUMENT,
                        "opengl: the device is \"%s\"; must be one of OpenGL",
                        device->ops->name);
    KAL_TRY(kal_opengl_wrap(out, device, buffer, offset_bytes, bytes));
    kal_device_retain(device);
    return KALLIMA_OK;
}
