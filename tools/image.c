// SPDX-License-Identifier: MIT
#include "image.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cli.h"

// No format that is read here stores more pixels in a byte: deflate packs at most 1032
// bytes into one, JPEG at best some 1024 samples.
enum { MOST_PIXELS_PER_BYTE = 8 * 1032 };

int image_colours(const struct image *image)
{
    return image->channels >= 3 ? 3 : 1;
}

bool image_allocate(struct image *image, const char *name, size_t bytes)
{
    const int64_t width = image->width, height = image->height;
    if (width < 1 || height < 1) {
        cli_fail("%s: the image has no pixels: %" PRId64 " x %" PRId64, name, width,
                 height);
        return false;
    }
    if (width > IMAGE_MAX_PIXELS / height) {
        cli_fail("%s: %" PRId64 " x %" PRId64 " is above the limit of %" PRId64 " pixels",
                 name, width, height, IMAGE_MAX_PIXELS);
        return false;
    }
    if ((uint64_t)(width * height) / MOST_PIXELS_PER_BYTE > bytes) {
        cli_fail("%s: truncated: %zu bytes cannot hold %" PRId64 " x %" PRId64 " pixels",
                 name, bytes, width, height);
        return false;
    }
    image->sample = calloc((size_t)(width * height * image->channels), sizeof(uint16_t));
    if (!image->sample) {
        cli_fail("%s: no memory for %" PRId64 " x %" PRId64 " pixels", name, width,
                 height);
        return false;
    }
    return true;
}

void image_clear(struct image *image)
{
    free(image->sample);
    image->sample = NULL;
}

// What a file begins with.
static const struct {
    const char *magic;
    size_t length;
    const struct image_format *format;
} magics[] = {
    { "\x89PNG\r\n\x1a\n", 8, &image_png },
    { "\xff\xd8\xff", 3, &image_jpeg },
    { "P1", 2, &image_pam },
    { "P2", 2, &image_pam },
    { "P3", 2, &image_pam },
    { "P4", 2, &image_pam },
    { "P5", 2, &image_pam },
    { "P6", 2, &image_pam },
    { "P7", 2, &image_pam },
};

static const struct {
    const char *extension;
    const struct image_format *format;
} extensions[] = {
    { ".png", &image_png }, { ".jpg", &image_jpeg }, { ".jpeg", &image_jpeg },
    { ".pgm", &image_pgm }, { ".ppm", &image_ppm },  { ".pnm", &image_pnm },
    { ".pam", &image_pam },
};

bool image_decode(struct image *image, const struct input *input)
{
    *image = (struct image){ 0 };
    for (size_t i = 0; i < CLI_COUNT(magics); i++) {
        if (input->count < magics[i].length ||
            memcmp(input->byte, magics[i].magic, magics[i].length) != 0)
            continue;
        if (magics[i].format->decode(image, input))
            return true;
        image_clear(image);
        return false;
    }
    cli_fail("%s: not a PNG, JPEG, PBM, PGM, PPM or PAM image", input->name);
    return false;
}

bool image_read(struct image *image, const char *name)
{
    struct input input;
    *image = (struct image){ 0 };
    if (!input_read(&input, name))
        return false;
    const bool good = image_decode(image, &input);
    input_clear(&input);
    return good;
}

static const struct image_format *format_of(const char *name)
{
    const char *dot = strrchr(name, '.');
    for (size_t i = 0; dot && i < CLI_COUNT(extensions); i++) {
        if (strcasecmp(dot, extensions[i].extension) == 0)
            return extensions[i].format;
    }
    return NULL;
}

bool image_can_write(const char *name, const struct image *image)
{
    const struct image_format *format = format_of(name);
    if (!format) {
        cli_fail(
            "%s: the type of the output is unknown: the name must end in .png, .jpg, "
            ".jpeg, .pgm, .ppm, .pnm or .pam",
            name);
        return false;
    }
    if (format == &image_pgm && image_colours(image) == 3) {
        cli_fail("%s: PGM cannot hold colour; use .ppm, .pnm or .png", name);
        return false;
    }
    return true;
}

bool image_write(const struct image *image, const char *name)
{
    struct output output;
    if (!image_can_write(name, image) || !output_open(&output, name))
        return false;
    if (format_of(name)->encode(image, &output))
        return output_commit(&output);
    output_discard(&output);
    return false;
}
