// SPDX-License-Identifier: MIT
// The memory of one side of a problem as the host sees it: elements where the layout puts
// them, poison everywhere else, guards in front and behind.
#ifndef KAL_TUNE_IMAGE_H_
#define KAL_TUNE_IMAGE_H_

#include "problem/problem.h"

enum { KAL_GUARD_BYTES = 256 }; // a multiple of what any device aligns to

struct kal_image {
    bool is_f64;
    int parts;               // arrays: 2 of a planar side
    uint64_t bytes;          // of each, with both guards
    unsigned char *array[2]; // the first is the allocation
};

/** Return the elements of one transform of a side. */
int64_t kal_array_points(const struct kal_array *array, int rank);

/** Return the bytes of each array of a side, with both guards. */
uint64_t kal_array_guarded_bytes(const struct kal_array *array, bool is_f64);

/** Return whether no two elements share memory: inputs may. False if that is hard to say. */
bool kal_array_is_distinct(const struct kal_array *array, int rank, int64_t batch);

/**
 * Return the bytes at the beginning of each array of a side that are its elements and nothing
 * else: all that it reaches up to, or none where anything lies before or between them.
 */
uint64_t kal_array_solid_bytes(const struct kal_array *array, int rank, int64_t batch,
                               bool is_f64);

/**
 * Return the index in memory of the first element of line `line` of all transforms, where
 * lines are all that lies behind the first `outer` axes.
 */
int64_t kal_array_find_line(const struct kal_array *array, int outer, int64_t line);

/** Return the same of row `row`: lines along the last axis. */
int64_t kal_array_find_row(const struct kal_array *array, int rank, int64_t row);

/**
 * Take memory for `parts` arrays of `bytes` bytes, guards included; the content is undefined.
 *
 * Owner: the caller frees it with kal_image_clear() on the same host.
 * Error: E_MEMORY  exhausted
 */
kallima_status kal_image_init(struct kal_image *image, const struct kal_host *host,
                              bool is_f64, int parts, uint64_t bytes);

/** Free what the image holds; all zero is fine. */
void kal_image_clear(struct kal_image *image, const struct kal_host *host);

/** Fill `bytes` bytes, a multiple of 4, with NaNs that no computation gives. */
void kal_poison_fill(void *target, uint64_t bytes);

/** Fill all of each array with poison, but for `solid` bytes behind the guard in front. */
void kal_image_poison(struct kal_image *image, uint64_t solid);

/** Return whether there is nothing but poison outside these bytes. */
bool kal_image_is_poison(const struct kal_image *image, uint64_t solid);

/** Return whether two images of as many arrays, as large, are the same, byte by byte. */
bool kal_image_equals(const struct kal_image *image, const struct kal_image *other);

/** Where part 0 (real) or 1 (imaginary) of the element at `index` lies. */
static inline unsigned char *kal_image_at(const struct kal_image *image,
                                          const struct kal_array *array, int64_t index,
                                          int part)
{
    const int64_t real = index * kal_array_reals(array) + (array->is_planar ? 0 : part);
    return image->array[array->is_planar ? part : 0] + KAL_GUARD_BYTES +
           real * (image->is_f64 ? 8 : 4);
}

/** Read one part of an element. */
double kal_image_get(const struct kal_image *image, const struct kal_array *array,
                     int64_t index, int part);

/**
 * Read one part of `count` elements, the first at `index` and `stride` apart, to every
 * `step`-th number of `x`.
 */
void kal_image_read(const struct kal_image *image, const struct kal_array *array,
                    int64_t index, int64_t stride, int part, int64_t count, double *x,
                    int64_t step);

/** Write one part of an element, rounded to the image's precision. */
void kal_image_set(struct kal_image *image, const struct kal_array *array, int64_t index,
                   int part, double value);

#endif
