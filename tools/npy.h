// SPDX-License-Identifier: MIT
// NumPy's .npy files: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
#ifndef KALLIMA_TOOLS_NPY_H_
#define KALLIMA_TOOLS_NPY_H_

#include <stdbool.h>
#include <stdint.h>

#include "file.h"

enum { NPY_MAX_RANK = 64 };

/** An array of f32 or f64, real or complex, in native byte order. */
struct npy {
    int rank;
    int64_t shape[NPY_MAX_RANK];
    int64_t stride[NPY_MAX_RANK]; // in elements
    int64_t count;                // elements
    bool f64, complex;
    void *data;
    void *owned; // what to free; NULL: `data` lies in the input
};

/** Return the bytes of an element. */
int64_t npy_element_bytes(const struct npy *array);

/**
 * Read an array from the bytes of a file, versions 1 to 3, either memory order. f4, f8, c8
 * and c16 of native byte order stay where they are; everything else that is a number is
 * widened to f8 or converted into a copy. On failure print why.
 *
 * Owner: the caller frees with npy_clear(). The array may point into *input, which is
 *        aligned for that, and must not outlive it.
 */
bool npy_decode(struct npy *array, struct input *input);

/** Set the strides of C order, and count, from the shape; false if that overflows. */
bool npy_pack(struct npy *array);

/** Free what the array owns. */
void npy_clear(struct npy *array);

/** Write a packed array as a file of version 1.0. On failure print why. */
bool npy_write(const struct npy *array, const char *name);

#endif
