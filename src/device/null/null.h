// SPDX-License-Identifier: MIT
// A device that accepts everything and runs nothing: for tests of all that is above it.
#ifndef KAL_DEVICE_NULL_NULL_H_
#define KAL_DEVICE_NULL_NULL_H_

#include "device/device.h"

extern const struct kal_device_ops kal_null_device_ops, kal_null_cuda_device_ops,
    kal_null_opencl_device_ops, kal_null_vulkan_device_ops, kal_null_opengl_device_ops,
    kal_null_opengles_device_ops, kal_null_d3d11_device_ops;

#endif
