// SPDX-License-Identifier: MIT
// The devices of this build.
#include "device/cpu/cpu.h"
#include "device/cuda/cuda.h"
#include "device/d3d11/d3d11.h"
#include "device/null/null.h"
#include "device/opencl/opencl.h"
#include "device/opengl/opengl.h"
#include "device/vulkan/vulkan.h"

// In order of preference: what a NULL selector opens is the first one present.
const struct kal_device_ops *const kal_devices[] = {
    &kal_cuda_device_ops,
    &kal_opencl_device_ops, // its GPUs: what runs on a CPU there is never chosen
    &kal_vulkan_device_ops,      &kal_opengl_device_ops,
    &kal_d3d11_device_ops,       &kal_cpu_device_ops,
    &kal_null_device_ops,        &kal_null_cuda_device_ops,
    &kal_null_opencl_device_ops, &kal_null_vulkan_device_ops,
    &kal_null_opengl_device_ops, &kal_null_opengles_device_ops,
    &kal_null_d3d11_device_ops,
};
const int kal_device_count = KAL_COUNT(kal_devices);
