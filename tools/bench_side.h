// SPDX-License-Identifier: MIT
// One side of a transform as the descriptor lays it out: where each element is in memory,
// worked out from the documented meaning of the descriptor and not from the library.
#ifndef KALLIMA_BENCH_SIDE_H_
#define KALLIMA_BENCH_SIDE_H_

#include <stdbool.h>
#include <stdint.h>

#include <kallima/kallima.h>

#include "reference.h"

/** The input or the output of a problem. */
struct side {
    bool is_real, is_planar, is_f64;
    int rank;
    int64_t n[KALLIMA_MAX_RANK]; // elements on each axis
    int64_t count;               // elements of one transform
    int64_t batch;
    int64_t offset, stride[KALLIMA_MAX_RANK], batch_stride; // in elements
};

/**
 * Describe the input or the output of `desc`, packed layouts spelt out. Strides that are
 * not packed need an explicit batch stride.
 */
void side_init(struct side *side, const kallima_desc *desc, bool is_input);

/** Return the position of element `index` (row major) of transform `batch`, in elements. */
int64_t side_locate(const struct side *side, int64_t batch, int64_t index);

/** Return the number of arrays: 2 if planar, else 1. */
int side_arrays(const struct side *side);

/** Return the bytes that each array must have. */
uint64_t side_bytes(const struct side *side);

/** Return the bytes of all elements, without what lies between them. */
uint64_t side_moved_bytes(const struct side *side);

/** Return the bytes of an element in one array. */
uint64_t side_element_bytes(const struct side *side);

/** Write one element, rounded to the side's precision. */
void side_store(const struct side *side, void *const array[2], int64_t position,
                double re, double im);

/** Read one element; exact. */
struct quad_complex side_load(const struct side *side, void *const array[2],
                              int64_t position);

/** Return the number of points of one transform: the product of the lengths. */
int64_t desc_points(const kallima_desc *desc);

/** Return the number of transforms, at least 1. */
int64_t desc_batch(const kallima_desc *desc);

#endif
