// SPDX-License-Identifier: MIT
// Convolution kernels: by name, or from an image.
#ifndef KALLIMA_TOOLS_KERNEL_H_
#define KALLIMA_TOOLS_KERNEL_H_

#include <stdbool.h>
#include <stdint.h>

/** A kernel; its centre is column width/2, row height/2, rounded down. */
struct kernel {
    int64_t width, height;
    double *value;
    bool
        sums_to_zero; // its sum is 0: the result has both signs and is shown as magnitude
};

/** What the names of kernels are, for a help text. */
extern const char kernel_help[];

/**
 * Make the kernel that `text` names, such as "gaussian:8"; else read the image file of that
 * name and divide it by its sum. On failure print why.
 *
 * Owner: the caller frees with kernel_clear().
 */
bool kernel_init(struct kernel *kernel, const char *text);

/** Free what the kernel holds. */
void kernel_clear(struct kernel *kernel);

#endif
