// SPDX-License-Identifier: MIT
// A device that runs what Direct3D 11 would get, where there is none: "nulld3d11", whose texts
// glslang makes SPIR-V of, on the first device of Vulkan, such as Mesa's lavapipe.
#ifndef KAL_TESTS_DEVICE_HLSL_DEVICE_H_
#define KAL_TESTS_DEVICE_HLSL_DEVICE_H_

#include <kallima/device.h>

/**
 * Open the device; *out is NULL where there is no Vulkan. A call of Vulkan that fails ends the
 * program: what is tested here are the texts.
 *
 * Owner:  *out is closed with kallima_device_close()
 * Thread: one plan is made or executed at a time
 */
void hlsl_device_open(kallima_device **out);

#endif
