// SPDX-License-Identifier: MIT
// Built instead of this folder's other files where there is no Windows: a device that is never
// present.
#include "device/d3d11/d3d11.h"

static bool stub_find(int index, kallima_device_info *info)
{
    (void)index;
    (void)info;
    return false;
}

static kallima_status refuse(const struct kal_host *host)
{
    return kal_fail(host, KALLIMA_E_UNSUPPORTED,
                    "d3d11: Direct3D is there on Windows only");
}

kallima_status kal_d3d11_adopt(kallima_device **out, struct ID3D11Device *device,
                               struct ID3D11DeviceContext *context,
                               const struct kal_host *host)
{
    (void)out;
    (void)device;
    (void)context;
    return refuse(host);
}

kallima_status kal_d3d11_wrap(kallima_buffer **out, kallima_device *device,
                              struct ID3D11Buffer *memory, uint64_t offset_bytes,
                              uint64_t bytes)
{
    (void)out;
    (void)memory;
    (void)offset_bytes;
    (void)bytes;
    return refuse(&device->host);
}

const struct kal_device_ops kal_d3d11_device_ops = {
    .name = "d3d11",
    .find = stub_find,
};
