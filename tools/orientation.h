// SPDX-License-Identifier: MIT
// The way up of a photograph: cameras store pictures as the sensor lies and note the turn.
#ifndef KALLIMA_TOOLS_ORIENTATION_H_
#define KALLIMA_TOOLS_ORIENTATION_H_

#include "image.h"

/**
 * Return the orientation that the Exif data of a JPEG file notes, 1 to 8; 1, upright, if
 * there is none.
 *
 * Source: CIPA DC-008 (Exif 2.32), 4.5 and 4.6.4, tag 0x0112.
 */
int orientation_find(const struct input *input);

/** Turn the image upright. False if there is no memory for that; it is then unchanged. */
bool orientation_apply(struct image *image, int orientation);

#endif
