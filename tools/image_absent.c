// SPDX-License-Identifier: MIT
// Built instead of the other files of image formats where their libraries are missing: images
// are recognised and refused.
#include "cli.h"
#include "image.h"

static bool refuse(const char *name)
{
    cli_fail(
        "%s: this program was built without libpng, TurboJPEG and netpbm: it reads and "
        "writes no images",
        name);
    return false;
}

static bool decode(struct image *image, const struct input *input)
{
    (void)image;
    return refuse(input->name);
}

static bool encode(const struct image *image, struct output *output)
{
    (void)image;
    return refuse(output->name);
}

const struct image_format image_png = { "PNG", decode, encode };
const struct image_format image_jpeg = { "JPEG", decode, encode };
const struct image_format image_pam = { "PAM", decode, encode };
const struct image_format image_pgm = { "PGM", decode, encode };
const struct image_format image_ppm = { "PPM", decode, encode };
const struct image_format image_pnm = { "PNM", decode, encode };
