// SPDX-License-Identifier: MIT
// The caller's own objects: a device and its context as a device, a buffer as a buffer.
#include "device/d3d11/driver.h"

static kallima_status check_pair(const struct kal_host *host, ID3D11Device *device,
                                 ID3D11DeviceContext *context)
{
    ID3D11Device *owner = NULL;

    ID3D11DeviceContext_GetDevice(context, &owner);
    const bool is_own = owner == device;
    if (owner)
        ID3D11Device_Release(owner);
    if (!is_own)
        return kal_fail(host, KALLIMA_E_ARGUMENT,
                        "d3d11: the context belongs to another device");
    if (ID3D11DeviceContext_GetType(context) != D3D11_DEVICE_CONTEXT_IMMEDIATE)
        return kal_fail(host, KALLIMA_E_ARGUMENT,
                        "d3d11: the context is deferred; must be the immediate one");
    if (ID3D11Device_GetFeatureLevel(device) < D3D_FEATURE_LEVEL_11_0)
        return kal_fail(host, KALLIMA_E_UNSUPPORTED,
                        "d3d11: the device is of a feature level below 11_0");
    if (ID3D11Device_GetCreationFlags(device) & D3D11_CREATE_DEVICE_SINGLETHREADED)
        return kal_fail(
            host, KALLIMA_E_UNSUPPORTED,
            "d3d11: the device was made with D3D11_CREATE_DEVICE_SINGLETHREADED");
    return KALLIMA_OK;
}

kallima_status kal_d3d11_adopt(kallima_device **out, ID3D11Device *device,
                               ID3D11DeviceContext *context, const struct kal_host *host)
{
    kallima_device_info info;

    KAL_TRY(check_pair(host, device, context));
    kal_d3d_describe_device(device, &info);
    ID3D11Device_AddRef(device);
    ID3D11DeviceContext_AddRef(context);
    return kal_d3d_device_take(out, host, &info, device, context);
}

static kallima_status check_memory(const struct d3d_device *device, ID3D11Buffer *memory,
                                   uint64_t offset_bytes, uint64_t bytes)
{
    const struct kal_host *host = &device->base.host;
    const UINT views = D3D11_BIND_SHADER_RESOURCE | D3D11_BIND_UNORDERED_ACCESS;
    ID3D11Device *owner = NULL;
    D3D11_BUFFER_DESC desc;

    ID3D11Buffer_GetDevice(memory, &owner);
    const bool is_own = owner == device->device;
    if (owner)
        ID3D11Device_Release(owner);
    ID3D11Buffer_GetDesc(memory, &desc);
    if (!is_own)
        return kal_fail(host, KALLIMA_E_ARGUMENT,
                        "d3d11: the buffer belongs to another device");
    if ((desc.BindFlags & views) != views ||
        !(desc.MiscFlags & D3D11_RESOURCE_MISC_BUFFER_ALLOW_RAW_VIEWS))
        return kal_fail(host, KALLIMA_E_ARGUMENT,
                        "d3d11: the buffer lacks D3D11_BIND_SHADER_RESOURCE, "
                        "D3D11_BIND_UNORDERED_ACCESS or "
                        "D3D11_RESOURCE_MISC_BUFFER_ALLOW_RAW_VIEWS");
    return kal_range_check(&device->base, "buffer", desc.ByteWidth, offset_bytes, bytes);
}

kallima_status kal_d3d11_wrap(kallima_buffer **out, kallima_device *base,
                              ID3D11Buffer *memory, uint64_t offset_bytes, uint64_t bytes)
{
    struct d3d_device *device = (struct d3d_device *)base;

    KAL_TRY(check_memory(device, memory, offset_bytes, bytes));
    ID3D11Buffer_AddRef(memory);
    return kal_d3d_buffer_take(out, device, memory, offset_bytes, bytes);
}
