// SPDX-License-Identifier: MIT
// Direct3D 11 compute shaders, loaded at run time: what the rest of the library sees of it.
#ifndef KAL_DEVICE_D3D11_D3D11_H_
#define KAL_DEVICE_D3D11_D3D11_H_

#include "device/device.h"

struct ID3D11Buffer;
struct ID3D11Device;
struct ID3D11DeviceContext;

extern const struct kal_device_ops kal_d3d11_device_ops;

/** As kallima_d3d11_adopt(), with the caller's services already checked. */
kallima_status kal_d3d11_adopt(kallima_device **out, struct ID3D11Device *device,
                               struct ID3D11DeviceContext *context,
                               const struct kal_host *host);

/** As kallima_d3d11_wrap(), on a device of this folder; the caller retains the device. */
kallima_status kal_d3d11_wrap(kallima_buffer **out, kallima_device *device,
                              struct ID3D11Buffer *memory, uint64_t offset_bytes,
                              uint64_t bytes);

#endif
