// SPDX-License-Identifier: MIT
#include "kernel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "image.h"

enum { MAX_ARGUMENTS = 2 };
static const double max_reach = 4096.0; // of a named kernel, in pixels
static const double degree = 0.017453292519943295;

const char kernel_help[] =
    "  gaussian:SIGMA     normal distribution, cut off at 4 SIGMA\n"
    "  box:N              mean of N x N pixels, N odd\n"
    "  disk:R             mean of the pixels within R of the centre\n"
    "  motion:LEN:ANGLE   mean along a line of LEN pixels, ANGLE degrees up from the "
    "right\n"
    "  sharpen            5 in the middle, -1 at its four neighbours\n"
    "  laplacian          -4 in the middle, 1 at its four neighbours\n"
    "  sobel-x, sobel-y   derivative to the right, downwards\n"
    "  prewitt-x, prewitt-y\n"
    "                     likewise, without weights\n";

static bool allocate(struct kernel *kernel, int64_t width, int64_t height)
{
    kernel->width = width;
    kernel->height = height;
    kernel->value = calloc((size_t)(width * height), sizeof(double));
    if (!kernel->value)
        cli_fail("no memory for a kernel");
    return kernel->value;
}

static bool normalise(struct kernel *kernel, const char *name)
{
    const int64_t count = kernel->width * kernel->height;
    double sum = 0.0;
    for (int64_t i = 0; i < count; i++)
        sum += kernel->value[i];
    if (sum == 0.0) {
        cli_fail("%s: a kernel must not be all black", name);
        return false;
    }
    for (int64_t i = 0; i < count; i++)
        kernel->value[i] /= sum;
    return true;
}

typedef double weight(const double *argument, double x, double y);

static double gaussian(const double *argument, double x, double y)
{
    return exp(-0.5 * (x * x + y * y) / (argument[0] * argument[0]));
}

static double disk(const double *argument, double x, double y)
{
    return hypot(x, y) <= argument[0] ? 1.0 : 0.0;
}

static double box(const double *argument, double x, double y)
{
    (void)argument;
    (void)x;
    (void)y;
    return 1.0;
}

// A line one pixel thick with soft edges. y grows downwards.
static double motion(const double *argument, double x, double y)
{
    const double c = cos(argument[1] * degree), s = sin(argument[1] * degree);
    const double along = fabs(x * c - y * s), across = fabs(x * s + y * c);
    const double end = argument[0] / 2.0 + 0.5 - along;
    return fmax(0.0, 1.0 - across) * fmin(fmax(end, 0.0), 1.0);
}

// Kernels that are a function of the distance from the centre. `reach` is how many pixels
// they go in each direction: arguments[0] * scale, rounded up, plus `more`.
static const struct {
    const char *name;
    int arguments;
    double least; // the first argument
    double scale, more;
    bool odd;
    weight *weight;
} formulas[] = {
    { "gaussian", 1, 0.01, 4.0, 0.0, false, gaussian },
    { "box", 1, 1.0, 0.5, -1.0, true, box },
    { "disk", 1, 0.0, 1.0, 0.0, false, disk },
    { "motion", 2, 1.0, 0.5, 1.0, false, motion },
};

// Kernels of nine numbers, as the convolution has them: mirrored against a correlation.
static const struct {
    const char *name;
    bool sums_to_zero;
    double value[9];
} matrices[] = {
    { "sharpen", false, { 0, -1, 0, -1, 5, -1, 0, -1, 0 } },
    { "laplacian", true, { 0, 1, 0, 1, -4, 1, 0, 1, 0 } },
    { "sobel-x", true, { 1, 0, -1, 2, 0, -2, 1, 0, -1 } },
    { "sobel-y", true, { 1, 2, 1, 0, 0, 0, -1, -2, -1 } },
    { "prewitt-x", true, { 1, 0, -1, 1, 0, -1, 1, 0, -1 } },
    { "prewitt-y", true, { 1, 1, 1, 0, 0, 0, -1, -1, -1 } },
};

// Fill the kernel from formula `index`, with `text` its arguments, ":8" or ":9:45".
static bool from_formula(struct kernel *kernel, size_t index, const char *name,
                         const char *text)
{
    double argument[MAX_ARGUMENTS] = { 0 };
    bool good = true;
    for (int i = 0; i < formulas[index].arguments && good; i++)
        good = *text == ':' && cli_parse_number(text + 1, &argument[i], &text);
    if (!good || *text != '\0' || argument[0] < formulas[index].least ||
        argument[0] * formulas[index].scale > max_reach ||
        (formulas[index].odd && fmod(argument[0], 2.0) != 1.0)) {
        cli_fail("kernel %s: bad or missing numbers; see kallima image convolve --help",
                 name);
        return false;
    }
    const int64_t reach =
        (int64_t)(ceil(argument[0] * formulas[index].scale) + formulas[index].more);
    if (!allocate(kernel, 2 * reach + 1, 2 * reach + 1))
        return false;
    double *value = kernel->value;
    for (int64_t y = -reach; y <= reach; y++) {
        for (int64_t x = -reach; x <= reach; x++)
            *value++ = formulas[index].weight(argument, (double)x, (double)y);
    }
    return normalise(kernel, name);
}

// The mean of the colours of each pixel, divided by the sum of all.
static bool from_image(struct kernel *kernel, const char *name)
{
    struct image image;
    if (!image_read(&image, name))
        return false;
    const int colours = image_colours(&image);
    bool good = allocate(kernel, image.width, image.height);
    for (int64_t i = 0; good && i < image.width * image.height; i++) {
        for (int c = 0; c < colours; c++)
            kernel->value[i] += image.sample[i * image.channels + c];
    }
    good = good && normalise(kernel, name);
    image_clear(&image);
    return good;
}

bool kernel_init(struct kernel *kernel, const char *text)
{
    const size_t length = strcspn(text, ":");
    *kernel = (struct kernel){ 0 };
    for (size_t i = 0; i < CLI_COUNT(matrices); i++) {
        if (strcmp(matrices[i].name, text) == 0) {
            if (!allocate(kernel, 3, 3))
                return false;
            memcpy(kernel->value, matrices[i].value, sizeof matrices[i].value);
            kernel->sums_to_zero = matrices[i].sums_to_zero;
            return true;
        }
    }
    for (size_t i = 0; i < CLI_COUNT(formulas); i++) {
        if (strlen(formulas[i].name) == length &&
            strncmp(formulas[i].name, text, length) == 0)
            return from_formula(kernel, i, text, text + length);
    }
    return from_image(kernel, text);
}

void kernel_clear(struct kernel *kernel)
{
    free(kernel->value);
    kernel->value = NULL;
}
