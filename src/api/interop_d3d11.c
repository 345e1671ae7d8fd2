// SPDX-License-Identifier: MIT
#include <kallima/interop/d3d11.h>

#include "api/host.h"
#include "device/d3d11/d3d11.h"

kallima_status kallima_d3d11_adopt(kallima_device **out, ID3D11Device *device,
                                   ID3D11DeviceContext *context,
                                   const kallima_device_options *options)
{
    static const kallima_device_options defaults;
    struct kal_host host;

    KAL_REQUIRE(NULL, out);
    *out = NULL;
    KAL_TRY(kal_host_init(&host, options ? options : &defaults));
    KAL_REQUIRE(&host, device);
    KAL_REQUIRE(&host, context);
    KAL_TRY(kal_d3d11_adopt(out, device, context, &host));
    return kal_device_hand_over(out, options);
}

kallima_status kallima_d3d11_wrap(kallima_buffer **out, kallima_device *device,
                                  ID3D11Buffer *memory, uint64_t offset_bytes,
                                  uint64_t bytes)
{
    KAL_REQUIRE(device ? &device->host : NULL, out);
    *out = NULL;
    KAL_REQUIRE(NULL, device);
    KAL_REQUIRE(&device->host, memory);
    if (device->ops != &kal_d3d11_device_ops)
        return kal_fail(&device->host, KALLIMA_E_ARGUMENT,
                        "d3d11: the device is \"%s\"; must be one of Direct3D 11",
                        device->ops->name);
    KAL_TRY(kal_d3d11_wrap(out, device, memory, offset_bytes, bytes));
    kal_device_retain(device);
    return KALLIMA_OK;
}
