// SPDX-License-Identifier: MIT
// JPEG, through TurboJPEG.
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <turbojpeg.h>

#include "cli.h"
#include "image.h"
#include "orientation.h"

enum { QUALITY = 95 };

static bool refuse(const struct input *input, const char *cause)
{
    cli_fail("%s: cannot read as JPEG: %s", input->name, cause);
    return false;
}

// Cameras write stray bytes between markers, which harm nothing; other warnings mean that
// pixels are missing.
static bool is_harmless(tjhandle codec)
{
    return tjGetErrorCode(codec) == TJERR_WARNING &&
           strstr(tjGetErrorStr2(codec), "extraneous bytes");
}

static bool read_header(tjhandle codec, struct image *image, const struct input *input)
{
    // A file that ends before its picture counts as tables alone, and leaves these as they are.
    int width = 0, height = 0, sampling = 0, space = 0;
    if (tjDecompressHeader3(codec, input->byte, input->count, &width, &height, &sampling,
                            &space) != 0 &&
        !is_harmless(codec))
        return refuse(input, tjGetErrorStr2(codec));
    if (width < 1 || height < 1)
        return refuse(input, "the file is truncated before the picture");
    if (space == TJCS_CMYK || space == TJCS_YCCK)
        return refuse(input, "CMYK is not supported");
    image->width = width;
    image->height = height;
    image->channels = space == TJCS_GRAY ? 1 : 3;
    image->maxval = 255;
    return true;
}

static bool read_pixels(tjhandle codec, struct image *image, const struct input *input)
{
    const int64_t count = image->width * image->height * image->channels;
    const int format = image->channels == 1 ? TJPF_GRAY : TJPF_RGB;
    uint8_t *pixels = malloc((size_t)count);
    if (!pixels)
        return refuse(input, "no memory for the pixels");

    const bool good =
        tjDecompress2(codec, input->byte, input->count, pixels, (int)image->width, 0,
                      (int)image->height, format, TJFLAG_ACCURATEDCT) == 0 ||
        is_harmless(codec);
    if (!good)
        refuse(input, tjGetErrorStr2(codec));
    for (int64_t i = 0; good && i < count; i++)
        image->sample[i] = pixels[i];
    free(pixels);
    return good;
}

static bool decode(struct image *image, const struct input *input)
{
    tjhandle codec = tjInitDecompress();
    if (!codec)
        return refuse(input, tjGetErrorStr2(NULL));
    const bool good = read_header(codec, image, input) &&
                      image_allocate(image, input->name, input->count) &&
                      read_pixels(codec, image, input) &&
                      (orientation_apply(image, orientation_find(input)) ||
                       refuse(input, "no memory to turn it upright"));
    tjDestroy(codec);
    return good;
}

// The grey or colour samples as bytes, without alpha; the caller frees.
static uint8_t *to_bytes(const struct image *image)
{
    const int colours = image_colours(image);
    const int64_t count = image->width * image->height;
    uint8_t *pixels = malloc((size_t)(count * colours));
    for (int64_t i = 0; pixels && i < count; i++) {
        for (int c = 0; c < colours; c++) {
            const int sample = image->sample[i * image->channels + c];
            pixels[i * colours + c] = (uint8_t)image_scale(sample, image->maxval, 255);
        }
    }
    return pixels;
}

static bool compress(tjhandle codec, const struct image *image, const uint8_t *pixels,
                     struct output *output)
{
    const bool grey = image_colours(image) == 1;
    unsigned char *bytes = NULL;
    unsigned long count = 0;
    if (tjCompress2(codec, pixels, (int)image->width, 0, (int)image->height,
                    grey ? TJPF_GRAY : TJPF_RGB, &bytes, &count,
                    grey ? TJSAMP_GRAY : TJSAMP_444, QUALITY, TJFLAG_ACCURATEDCT) != 0) {
        cli_fail("%s: cannot write as JPEG: %s", output->name, tjGetErrorStr2(codec));
        tjFree(bytes);
        return false;
    }
    errno = 0;
    const bool good = fwrite(bytes, 1, count, output->file) == count;
    tjFree(bytes);
    return good || output_fail(output);
}

static bool encode(const struct image *image, struct output *output)
{
    tjhandle codec = tjInitCompress();
    uint8_t *pixels = to_bytes(image);
    bool good = false;
    if (codec && pixels)
        good = compress(codec, image, pixels, output);
    else
        cli_fail("%s: no memory for a JPEG encoder", output->name);
    free(pixels);
    if (codec)
        tjDestroy(codec);
    return good;
}

const struct image_format image_jpeg = { "JPEG", decode, encode };
