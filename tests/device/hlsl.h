// SPDX-License-Identifier: MIT
// HLSL through glslang's front end, for tests.
#ifndef KAL_TESTS_DEVICE_HLSL_H_
#define KAL_TESTS_DEVICE_HLSL_H_

#include <stdbool.h>

/**
 * Compile a kernel to SPIR-V with glslangValidator, into the file `path`; slot i is binding i,
 * the offsets are binding 15. What it refuses is told on stderr.
 */
bool hlsl_compile(const char *text, const char *path);

#endif
