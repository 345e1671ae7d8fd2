// SPDX-License-Identifier: MIT
// What the module libkallima-spirv.so offers: GLSL to SPIR-V, by glslang. It is a library of its
// own so that no program carries a compiler in C++ that uses none.
#ifndef KAL_DEVICE_SPIRV_MODULE_MODULE_H_
#define KAL_DEVICE_SPIRV_MODULE_MODULE_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KAL_SPIRV_MODULE  "libkallima-spirv.so"
#define KAL_SPIRV_COMPILE "kallima_spirv_compile"
#define KAL_SPIRV_VERSION \
    "kallima_spirv_version" // a string: KALLIMA_VERSION of its build

/** Gives memory for SPIR-V, or NULL. */
typedef void *kal_spirv_allocate(void *user, size_t bytes);

/**
 * Compile a compute shader in the GLSL of Vulkan 1.1.
 *
 * Owner:  *words is what `allocate` returned for *bytes bytes.
 * Thread: any.
 * Error:  the result is false, and *words NULL, where the text has errors: then `log`, of
 *         `capacity` characters, has as much of the compiler's log as fits; or where there is
 *         no memory, with an empty log.
 */
typedef bool kal_spirv_compile(const char *text, kal_spirv_allocate *allocate, void *user,
                               uint32_t **words, size_t *bytes, char *log,
                               size_t capacity);

#endif
