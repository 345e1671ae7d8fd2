// SPDX-License-Identifier: MIT
// The CUDA device as the rest of the library sees it; nothing here names a type of cuda.h.
#ifndef KAL_DEVICE_CUDA_CUDA_H_
#define KAL_DEVICE_CUDA_CUDA_H_

#include "device/device.h"

struct CUctx_st;
struct CUstream_st;

/** The CUDA driver, loaded at run time; a build without cuda.h finds no device. */
extern const struct kal_device_ops kal_cuda_device_ops;

/**
 * Make a device of a context and a stream of the caller's.
 *
 * Owner: both stay the caller's and outlive the device.
 * Error: E_UNSUPPORTED  this build has no CUDA
 *        E_ABSENT       the driver is missing or does not start
 *        E_ARGUMENT     the stream is of another context
 *        E_DEVICE       the context is not usable
 *        E_MEMORY       host memory is exhausted
 *        On error *out is NULL.
 */
kallima_status kal_cuda_adopt(kallima_device **out, struct CUctx_st *context,
                              struct CUstream_st *stream, const struct kal_host *host);

/** Make a buffer of memory of the caller's. Error: E_MEMORY, *out is NULL. */
kallima_status kal_cuda_wrap(kallima_buffer **out, kallima_device *device,
                             uint64_t address, uint64_t bytes);

/**
 * Compile a kernel with NVRTC, without a driver or a device.
 *
 * Shape: `architecture` is "sm_90" for a cubin, "compute_90" for PTX with its final NUL.
 * Owner: the caller frees cubin->data with kal_free().
 * Error: E_ABSENT       NVRTC is not there
 *        E_UNSUPPORTED  it does not know the architecture, or this build has no CUDA
 *        E_COMPILE      it rejects the text; its log is the sentence
 *        E_MEMORY       memory is exhausted
 *        On error *cubin is empty.
 */
kallima_status kal_cuda_compile(const struct kal_host *host,
                                const struct kal_kernel_text *text,
                                const char *architecture, struct kal_binary *cubin);

#endif
