// SPDX-License-Identifier: MIT
// The caller's own objects of Direct3D 11: device, context and buffers. Include it with d3d11.h,
// before or after.
#ifndef KALLIMA_INTEROP_D3D11_H_
#define KALLIMA_INTEROP_D3D11_H_

#include <kallima/plan.h>

#ifdef __cplusplus
extern "C" {
#endif

// As d3d11.h has them, so that this header needs no other.
typedef struct ID3D11Buffer ID3D11Buffer;
typedef struct ID3D11Device ID3D11Device;
typedef struct ID3D11DeviceContext ID3D11DeviceContext;

/**
 * Open the caller's device. All that the library does on it goes into its immediate context,
 * between what the caller does there; of the compute stage, shader, views and constant buffer are
 * unbound when a call returns. The device must be of feature level 11_0 or above, and not be
 * made with D3D11_CREATE_DEVICE_SINGLETHREADED.
 *
 * Owner:  the caller owns *out and frees it with kallima_device_close(). The device retains
 *         both objects. `options` (NULL: the default) is as in kallima_device_open().
 * Thread: any; but a context is for one thread at a time: the caller does not use it while the
 *         library does.
 * Error:  E_ARGUMENT     an argument but `options` is NULL, the context is deferred or of another
 *                        device, or one of the allocator's two functions is missing
 *         E_UNSUPPORTED  the device is below 11_0 or for a single thread, or the library was not
 *                        built for Windows
 *         E_MEMORY       host memory is exhausted
 *         E_DEVICE       Direct3D refused an object
 *         On error *out is NULL and nothing is retained.
 */
KALLIMA_API kallima_status kallima_d3d11_adopt(kallima_device **out, ID3D11Device *device,
                                               ID3D11DeviceContext *context,
                                               const kallima_device_options *options);

/**
 * Make a buffer of a part of the caller's buffer. Nothing is copied. Direct3D binds a buffer
 * once, so arrays of one execution that are parts of the same one are E_UNSUPPORTED, but for
 * input and output in place.
 *
 * Shape:  bytes `offset_bytes` to `offset_bytes` + `bytes` of the buffer, which was made with
 *         D3D11_BIND_SHADER_RESOURCE, D3D11_BIND_UNORDERED_ACCESS and
 *         D3D11_RESOURCE_MISC_BUFFER_ALLOW_RAW_VIEWS; `offset_bytes` is a multiple of 16,
 *         `bytes` is at least 1.
 * Owner:  the caller owns *out and frees it with kallima_buffer_destroy(). The buffer
 *         retains the object.
 * Thread: any.
 * Error:  E_ARGUMENT  a pointer is NULL, `device` is none of Direct3D 11, the buffer is of another
 *                     device or was made without what is said above, or the range is outside it
 *                     or misaligned
 *         E_MEMORY    host memory is exhausted
 *         E_DEVICE    Direct3D refused a view
 *         On error *out is NULL and nothing is retained.
 */
KALLIMA_API kallima_status kallima_d3d11_wrap(kallima_buffer **out,
                                              kallima_device *device,
                                              ID3D11Buffer *memory, uint64_t offset_bytes,
                                              uint64_t bytes);

#ifdef __cplusplus
}
#endif
#endif
