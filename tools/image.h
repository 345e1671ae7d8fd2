// SPDX-License-Identifier: MIT
// Images in memory, and the file formats that hold them.
#ifndef KALLIMA_TOOLS_IMAGE_H_
#define KALLIMA_TOOLS_IMAGE_H_

#include <stdbool.h>
#include <stdint.h>

#include "file.h"

/** The most pixels that an image may have: 2^28, such as 16384 x 16384. */
#define IMAGE_MAX_PIXELS (INT64_C(1) << 28)

/** Samples of 0 .. maxval, interleaved, rows from top to bottom without gaps. */
struct image {
    int64_t width, height;
    int channels; // 1: grey, 2: grey and alpha, 3: colour, 4: colour and alpha
    int maxval;   // 1 .. 65535
    uint16_t *sample;
};

/** Return how many of the channels are not alpha: 1 or 3. */
int image_colours(const struct image *image);

/**
 * Allocate the samples of an image whose other fields are set. On failure print why, with
 * `name` as the image's; `bytes` is the size of its file.
 *
 * Error: no pixels, more than IMAGE_MAX_PIXELS, more than `bytes` bytes can hold, no memory
 */
bool image_allocate(struct image *image, const char *name, size_t bytes);

/** Free the samples. */
void image_clear(struct image *image);

/** Decode a PNG, JPEG, PBM, PGM, PPM or PAM file by its magic bytes; else print why not. */
bool image_decode(struct image *image, const struct input *input);

/** As image_decode(), from a file. */
bool image_read(struct image *image, const char *name);

/** Return whether image_write() knows the type of `name` by its extension; else say so. */
bool image_can_write(const char *name, const struct image *image);

/** Write the image as the type that the extension of `name` says; else print why not. */
bool image_write(const struct image *image, const char *name);

/** A file format. `encode` has opened nothing and closes nothing; both print failures. */
struct image_format {
    const char *name;
    bool (*decode)(struct image *image, const struct input *input);
    bool (*encode)(const struct image *image, struct output *output);
};

extern const struct image_format image_png, image_jpeg, image_pam, image_pgm, image_ppm,
    image_pnm;

/** Return `value`, of 0 .. from, on the scale 0 .. to. */
static inline int image_scale(int value, int from, int to)
{
    return from == to ? value : (int)(((int64_t)value * to + from / 2) / from);
}

#endif
