// SPDX-License-Identifier: MIT
#include <math.h>
#include <stdlib.h>

#include "commands.h"
#include "plane.h"

static const char help[] =
    "usage: kallima image spectrum IN OUT\n"
    "\n"
    "Show the spectrum of an image as a grey image of the same size and depth, with\n"
    "frequency 0 in the middle, at column width/2 and row height/2, rounded down. The "
    "image\n"
    "types are those of kallima image filter. The spectrum of a colour image is that of "
    "its\n"
    "luma, 0.299 R + 0.587 G + 0.114 B; alpha is ignored.\n"
    "\n"
    "A pixel shows log(1 + |F|), F being the unscaled transform of the samples, times "
    "the\n"
    "factor that makes the largest white.\n";

static double luma(const uint16_t *pixel, int colours)
{
    return colours == 1 ? pixel[0]
                        : 0.299 * pixel[0] + 0.587 * pixel[1] + 0.114 * pixel[2];
}

static double mean_luma(const struct image *image)
{
    const int64_t count = image->width * image->height;
    double sum = 0.0;
    for (int64_t i = 0; i < count; i++)
        sum += luma(image->sample + i * image->channels, image_colours(image));
    return sum / (double)count;
}

// Without its mean, which would drown weak frequencies in its rounding errors.
static void load(struct plane *plane, const struct image *image, double mean)
{
    const uint16_t *pixel = image->sample;
    for (int64_t y = 0; y < image->height; y++) {
        float *row = plane->value + y * plane->pitch;
        for (int64_t x = 0; x < image->width; x++, pixel += image->channels)
            row[x] = (float)(luma(pixel, image_colours(image)) - mean);
    }
}

// log(1 + |F|) of column kx and row ky, of which the plane holds the left half: the
// spectrum of real numbers is the same at (-kx, -ky).
static double logarithm(const struct plane *plane, int64_t kx, int64_t ky)
{
    if (kx > plane->width / 2) {
        kx = plane->width - kx;
        ky = (plane->height - ky) % plane->height;
    }
    const float *f = plane->value + ky * plane->pitch + 2 * kx;
    return log1p(hypot((double)f[0], (double)f[1]));
}

// Draw the spectrum into the one channel of `out`.
static void draw(struct image *out, const struct plane *plane)
{
    const int64_t width = plane->width, height = plane->height;
    double largest = 0.0;
    for (int64_t ky = 0; ky < height; ky++) {
        for (int64_t kx = 0; kx <= width / 2; kx++)
            largest = fmax(largest, logarithm(plane, kx, ky));
    }
    const double scale = largest > 0.0 ? out->maxval / largest : 0.0;
    for (int64_t y = 0; y < height; y++) {
        const int64_t ky = (y + height - height / 2) % height;
        for (int64_t x = 0; x < width; x++) {
            const int64_t kx = (x + width - width / 2) % width;
            out->sample[y * width + x] =
                (uint16_t)lrint(scale * logarithm(plane, kx, ky));
        }
    }
}

static bool show(struct image *out, struct plane *plane, const struct image *image)
{
    struct progress progress;
    progress_begin(&progress, 3, "spectrum");
    const double mean = mean_luma(image);
    load(plane, image, mean);
    progress_step(&progress, 1);
    const bool good = plane_forward(plane);
    progress_step(&progress, 1);
    if (good) {
        plane->value[0] = (float)(mean * (double)(image->width * image->height));
        plane->value[1] = 0.0f;
        draw(out, plane);
    }
    progress_end(&progress);
    return good;
}

static bool spectrum(const struct cli *cli, const struct image *image, const char *name)
{
    struct image out = { .width = image->width,
                         .height = image->height,
                         .channels = 1,
                         .maxval = image->maxval };
    struct plane plane = { 0 };
    kallima_device *device = NULL;
    const bool good = image_can_write(name, &out) && cli_open_device(cli, &device) &&
                      image_allocate(&out, name, SIZE_MAX) &&
                      plane_init(&plane, device, image->width, image->height) &&
                      show(&out, &plane, image) && image_write(&out, name);
    plane_clear(&plane);
    image_clear(&out);
    kallima_device_close(&device);
    return good;
}

int cmd_image_spectrum(const struct cli *cli, int argc, char **argv)
{
    static const struct option options[] = {
        { "help", no_argument, NULL, 'h' },
        { 0 },
    };
    const int code = cli_getopt(cli, argc, argv, options);
    if (code != -1)
        return code == 'h' ? cli_print_help(help) : CLI_USAGE;
    if (argc - optind != 2)
        return cli_usage(cli, "an input and an output are needed, %d names are given",
                         argc - optind);

    struct image image;
    if (!image_read(&image, argv[optind]))
        return CLI_FAILED;
    const bool good = spectrum(cli, &image, argv[optind + 1]);
    image_clear(&image);
    return good ? CLI_OK : CLI_FAILED;
}
