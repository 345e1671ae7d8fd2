// SPDX-License-Identifier: MIT
// OpenCL 1.2 and up, loaded at run time: what the rest of the library sees of it.
#ifndef KAL_DEVICE_OPENCL_OPENCL_H_
#define KAL_DEVICE_OPENCL_OPENCL_H_

#include "device/device.h"

struct _cl_command_queue;
struct _cl_context;
struct _cl_mem;

extern const struct kal_device_ops kal_opencl_device_ops;

/** As kallima_opencl_adopt(), with the caller's services already checked. */
kallima_status kal_opencl_adopt(kallima_device **out, struct _cl_context *context,
                                struct _cl_command_queue *queue,
                                const struct kal_host *host);

/** As kallima_opencl_wrap(), on a device of this folder; the caller retains the device. */
kallima_status kal_opencl_wrap(kallima_buffer **out, kallima_device *device,
                               struct _cl_mem *memory, uint64_t offset_bytes,
                               uint64_t bytes);

#endif
