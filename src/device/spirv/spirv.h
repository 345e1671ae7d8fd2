// SPDX-License-Identifier: MIT
// GLSL to SPIR-V for Vulkan, by glslang, which is in a module of its own.
#ifndef KAL_DEVICE_SPIRV_SPIRV_H_
#define KAL_DEVICE_SPIRV_SPIRV_H_

#include "device/device.h"
#include "device/spirv/module/module.h"

/**
 * Return the compiler of the module, which is loaded the first time; NULL where there is none,
 * and why in *reason. Thread: any.
 */
kal_spirv_compile *kal_spirv_compiler(const char **reason);

/**
 * Compile a kernel's text to SPIR-V.
 *
 * Owner:  the caller frees out->data with kal_free().
 * Thread: any.
 * Error:  E_UNSUPPORTED  there is no module
 *         E_COMPILE      the text has errors, with the compiler's first one
 *         E_MEMORY       exhausted
 */
kallima_status kal_spirv_make(struct kal_binary *out, const struct kal_host *host,
                              const struct kal_kernel_text *text);

#endif
