// SPDX-License-Identifier: MIT
// CUDA: plans on the caller's context, stream and memory. Needs no header of CUDA: the types
// are those of cuda.h (CUcontext, CUstream, CUdeviceptr) under the names they come from, and a
// cudaStream_t of the runtime is a CUstream.
#ifndef KALLIMA_INTEROP_CUDA_H_
#define KALLIMA_INTEROP_CUDA_H_

#include <kallima/device.h>

#ifdef __cplusplus
extern "C" {
#endif

struct CUctx_st;
struct CUstream_st;

/**
 * Make a device of the caller's context and stream. All work of its plans, buffers and
 * timers goes to `stream`, in order with what else the caller enqueues there; NULL is the
 * default stream. The context that a thread has current is left as it is.
 *
 * kallima_plan_execute() on buffers, with a workspace given or none needed, only enqueues
 * kernels and fills: it can be captured from `stream` into a CUDA graph
 * (cuStreamBeginCapture) and replayed as long as the plan and the memory live. Opening,
 * planning, and reading or writing buffers allocate or wait and cannot be captured.
 *
 * Owner:  the caller owns *out and frees it with kallima_device_close(). `context` and
 *         `stream` stay the caller's and must outlive the device, its plans, buffers and
 *         timers. `options` as for kallima_device_open().
 * Thread: any.
 * Error:  E_ARGUMENT     `out` or `context` is NULL, the stream is of another context, or
 *                        the options are not sound
 *         E_ABSENT       the CUDA driver is missing or does not start
 *         E_UNSUPPORTED  the library was built without CUDA
 *         E_DEVICE       the context cannot be used
 *         E_MEMORY       host memory is exhausted
 *         On error *out is NULL.
 */
KALLIMA_API kallima_status kallima_cuda_adopt(kallima_device **out,
                                              struct CUctx_st *context,
                                              struct CUstream_st *stream,
                                              const kallima_device_options *options);

/**
 * Make a buffer of device memory that the caller has: a CUdeviceptr, or a pointer from
 * cudaMalloc() as an integer.
 *
 * Shape:  `bytes` bytes from `address` on, which is a multiple of 16. Memory that the device
 *         can address of another's (managed, peer, mapped host memory) is as good.
 * Owner:  the caller owns *out and frees it with kallima_buffer_destroy(), which leaves the
 *         memory alone. The memory must outlive the buffer and the work that uses it.
 * Thread: any.
 * Error:  E_ARGUMENT  `out` or `device` is NULL, the device is not of CUDA, `address` is 0
 *                     or not a multiple of 16, or `bytes` is 0
 *         E_MEMORY    host memory is exhausted
 *         On error *out is NULL.
 */
KALLIMA_API kallima_status kallima_cuda_wrap(kallima_buffer **out, kallima_device *device,
                                             unsigned long long address, uint64_t bytes);

#ifdef __cplusplus
}
#endif
#endif
