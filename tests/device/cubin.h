// SPDX-License-Identifier: MIT
// What NVIDIA's compiler wrote down about the kernels of a cubin, which is an ELF file.
#ifndef TESTS_DEVICE_CUBIN_H_
#define TESTS_DEVICE_CUBIN_H_

#include "device/device.h"

/** Of a lane, of a lane, of a group, of the kernel; -1: unknown. Spills lie on the stack. */
struct cubin_usage {
    int64_t registers, stack_bytes, group_bytes, code_bytes;
};

/** The name of kernel number `index`; NULL: there are no more. Lives as long as `cubin`. */
const char *cubin_kernel_name(const struct kal_binary *cubin, int index);

struct cubin_usage cubin_usage_of(const struct kal_binary *cubin, const char *kernel);

#endif
