// SPDX-License-Identifier: MIT
#include <stdio.h>
#include <string.h>

#include "commands.h"
#include "kernel.h"
#include "plane.h"

static const char help[] =
    "usage: kallima image convolve IN KERNEL OUT [OPTION]...\n"
    "\n"
    "Convolve an image with a kernel: another image, which is divided by the sum of its\n"
    "samples (the mean of its colours counts), or one of those below. The centre of the\n"
    "kernel is column width/2 and row height/2, rounded down. OUT has the size of IN. "
    "The\n"
    "image types are those of kallima image filter. Each colour channel is convolved "
    "alone;\n"
    "alpha stays as it is.\n"
    "\n";

static const char more_help[] =
    "\n"
    "  --pad PAD          what surrounds the image: its mirror image (reflect, the\n"
    "                     default), zeros (zero), or the image itself, repeated (none)\n"
    "\n"
    "The result v is rounded and clamped to the image's range. That of the laplacian, "
    "sobel\n"
    "and prewitt kernels, which has both signs, is shown as |v| times one factor for "
    "all\n"
    "channels that makes the largest |v| white; it is black if no |v| reaches a 100000th "
    "of\n"
    "white.\n";

// Multiply the spectrum by that of the kernel.
static void multiply(const void *user, struct plane *spectrum)
{
    const struct plane *kernel = user;
    for (int64_t y = 0; y < spectrum->height; y++) {
        float *a = spectrum->value + y * spectrum->pitch;
        const float *b = kernel->value + y * kernel->pitch;
        for (int64_t x = 0; x < spectrum->pitch; x += 2) {
            const float re = a[x] * b[x] - a[x + 1] * b[x + 1];
            const float im = a[x] * b[x + 1] + a[x + 1] * b[x];
            a[x] = re;
            a[x + 1] = im;
        }
    }
}

// Place the kernel with its centre at the origin, around which everything wraps.
static void place(struct plane *plane, const struct kernel *kernel)
{
    memset(plane->value, 0, (size_t)(plane->pitch * plane->height) * sizeof(float));
    for (int64_t j = 0; j < kernel->height; j++) {
        const int64_t dy = j - kernel->height / 2;
        const int64_t y = ((dy % plane->height) + plane->height) % plane->height;
        for (int64_t i = 0; i < kernel->width; i++) {
            const int64_t dx = i - kernel->width / 2;
            const int64_t x = ((dx % plane->width) + plane->width) % plane->width;
            plane->value[y * plane->pitch + x] +=
                (float)kernel->value[j * kernel->width + i];
        }
    }
}

static bool convolve(struct image *image, const struct kernel *kernel, enum pad pad,
                     kallima_device *device)
{
    struct plane plane = { 0 };
    const struct filter job = {
        .device = device,
        .pad = pad,
        .extra_x = kernel->width - 1,
        .extra_y = kernel->height - 1,
        .magnitude = kernel->sums_to_zero,
        .label = "convolving",
        .multiply = multiply,
        .user = &plane,
    };
    bool good = plane_init(&plane, device, plane_length(image->width, job.extra_x, pad),
                           plane_length(image->height, job.extra_y, pad));
    if (good) {
        place(&plane, kernel);
        good = plane_forward(&plane) && filter_image(image, &job);
    }
    plane_clear(&plane);
    return good;
}

static int run(const struct cli *cli, char **names, enum pad pad)
{
    struct image image = { 0 };
    struct kernel kernel = { 0 };
    kallima_device *device = NULL;
    const bool good =
        image_read(&image, names[0]) && kernel_init(&kernel, names[1]) &&
        image_can_write(names[2], &image) && cli_open_device(cli, &device) &&
        convolve(&image, &kernel, pad, device) && image_write(&image, names[2]);
    kallima_device_close(&device);
    kernel_clear(&kernel);
    image_clear(&image);
    return good ? CLI_OK : CLI_FAILED;
}

int cmd_image_convolve(const struct cli *cli, int argc, char **argv)
{
    static const struct option options[] = {
        { "help", no_argument, NULL, 'h' },
        { "pad", required_argument, NULL, 'p' },
        { 0 },
    };
    int pad = PAD_REFLECT;
    for (int code; (code = cli_getopt(cli, argc, argv, options)) != -1;) {
        if (code == 'h') {
            printf("%s%s", help, kernel_help);
            return cli_print_help(more_help);
        }
        if (code == '?' || !cli_choose(cli, "--pad", optarg, pad_names, PAD_COUNT, &pad))
            return CLI_USAGE;
    }
    if (argc - optind != 3)
        return cli_usage(
            cli, "an input, a kernel and an output are needed, %d names are given",
            argc - optind);
    return run(cli, argv + optind, (enum pad)pad);
}
