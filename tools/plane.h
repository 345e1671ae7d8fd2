// SPDX-License-Identifier: MIT
// One channel of an image as real numbers, padded, and its spectrum in the same memory.
#ifndef KALLIMA_TOOLS_PLANE_H_
#define KALLIMA_TOOLS_PLANE_H_

#include <stdbool.h>
#include <stdint.h>

#include <kallima/kallima.h>

#include "image.h"
#include "progress.h"

/** What surrounds an image: its mirror image, zeros, or (periodic) the image itself. */
enum pad { PAD_REFLECT, PAD_ZERO, PAD_NONE, PAD_COUNT };
extern const char *const pad_names[PAD_COUNT];

/**
 * A real plane of height x width; after plane_forward() the width/2+1 complex coefficients
 * of each row in the same place.
 */
struct plane {
    int64_t width, height;
    int64_t pitch; // floats from row to row: 2 * (width/2 + 1)
    float *value;
    kallima_plan *forward, *inverse;
};

/** Return the length that holds `n` samples and at least `extra` more for the padding. */
int64_t plane_length(int64_t n, int64_t extra, enum pad pad);

/** Allocate and plan; on failure print why. The caller clears the plane either way. */
bool plane_init(struct plane *plane, kallima_device *device, int64_t width,
                int64_t height);

/** Free what the plane holds. */
void plane_clear(struct plane *plane);

/** Fill the plane with a channel of the image and its padding. */
void plane_load(struct plane *plane, const struct image *image, int channel,
                enum pad pad);

/** Transform in place; unscaled. On failure print why. */
bool plane_forward(struct plane *plane);

/** Transform back in place, divided by width * height. On failure print why. */
bool plane_inverse(struct plane *plane);

/** How filter_image() filters. */
struct filter {
    kallima_device *device;
    enum pad pad;
    int64_t extra_x, extra_y; // padding at least, columns and rows
    bool magnitude;           // show |v|, scaled to its largest; else clamp v
    const char *label;        // of the progress bar
    void (*multiply)(const void *user, struct plane *spectrum);
    const void *user;
};

/**
 * Transform each grey or colour channel of the image, multiply its spectrum, transform
 * back, and replace the channel; alpha stays. On failure print why.
 */
bool filter_image(struct image *image, const struct filter *filter);

#endif
