// SPDX-License-Identifier: MIT
#include "plane.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

// A padded image has at most four times the pixels of the image.
static const int64_t max_plane_pixels = 4 * IMAGE_MAX_PIXELS;

// Magnitudes below this share of the full scale are rounding errors, not a result.
static const double least_magnitude = 1e-5;

const char *const pad_names[PAD_COUNT] = {
    [PAD_REFLECT] = "reflect",
    [PAD_ZERO] = "zero",
    [PAD_NONE] = "none",
};

int64_t plane_length(int64_t n, int64_t extra, enum pad pad)
{
    return pad == PAD_NONE ? n : kallima_fast_length(n + extra);
}

static bool make_plan(kallima_plan **out, kallima_device *device, kallima_kind kind,
                      const struct plane *plane)
{
    const double size = (double)plane->width * (double)plane->height;
    const kallima_desc desc = {
        .kind = kind,
        .precision = KALLIMA_F32,
        .direction = kind == KALLIMA_C2R ? KALLIMA_INVERSE : KALLIMA_FORWARD,
        .placement = KALLIMA_IN_PLACE,
        .rank = 2,
        .n = { plane->height, plane->width },
        .scale = kind == KALLIMA_C2R ? 1.0 / size : 1.0,
    };
    if (kallima_plan_create(out, device, &desc, NULL) == KALLIMA_OK)
        return true;
    cli_fail("%s", kallima_last_error());
    return false;
}

bool plane_init(struct plane *plane, kallima_device *device, int64_t width,
                int64_t height)
{
    *plane =
        (struct plane){ .width = width, .height = height, .pitch = 2 * (width / 2 + 1) };
    if (width > max_plane_pixels / height) {
        cli_fail("the image with its padding, %" PRId64 " x %" PRId64
                 ", is above the limit of %" PRId64 " pixels",
                 width, height, max_plane_pixels);
        return false;
    }
    plane->value = malloc((size_t)(plane->pitch * height) * sizeof(float));
    if (!plane->value) {
        cli_fail("no memory for %" PRId64 " x %" PRId64 " pixels", width, height);
        return false;
    }
    return make_plan(&plane->forward, device, KALLIMA_R2C, plane) &&
           make_plan(&plane->inverse, device, KALLIMA_C2R, plane);
}

void plane_clear(struct plane *plane)
{
    kallima_plan_destroy(&plane->forward);
    kallima_plan_destroy(&plane->inverse);
    free(plane->value);
    plane->value = NULL;
}

// Which of n samples stands at `index` of a padded line? -1: none. The first half of the
// padding continues the end of the line, the second half precedes its beginning, for the
// transform is periodic.
static int64_t sample_at(int64_t index, int64_t n, int64_t padded, enum pad pad)
{
    if (index < n)
        return index;
    if (pad != PAD_REFLECT)
        return -1;
    if (index >= n + (padded - n + 1) / 2)
        index -= padded;
    const int64_t fold = ((index % (2 * n)) + 2 * n) % (2 * n);
    return fold < n ? fold : 2 * n - 1 - fold;
}

static void load_row(float *row, const struct plane *plane, const struct image *image,
                     const uint16_t *sample, enum pad pad)
{
    for (int64_t x = 0; x < plane->width; x++) {
        const int64_t from = sample_at(x, image->width, plane->width, pad);
        row[x] = from < 0 ? 0.0f : (float)sample[from * image->channels];
    }
}

void plane_load(struct plane *plane, const struct image *image, int channel, enum pad pad)
{
    const int64_t pitch = image->width * image->channels;
    for (int64_t y = 0; y < plane->height; y++) {
        const int64_t from = sample_at(y, image->height, plane->height, pad);
        float *row = plane->value + y * plane->pitch;
        if (from < 0)
            memset(row, 0, (size_t)plane->width * sizeof *row);
        else
            load_row(row, plane, image, image->sample + from * pitch + channel, pad);
    }
}

static bool run(const kallima_plan *plan, struct plane *plane)
{
    if (kallima_plan_run(plan, plane->value, plane->value) == KALLIMA_OK)
        return true;
    cli_fail("%s", kallima_last_error());
    return false;
}

bool plane_forward(struct plane *plane)
{
    return run(plane->forward, plane);
}

bool plane_inverse(struct plane *plane)
{
    return run(plane->inverse, plane);
}

// The filtered values of all colour channels, interleaved, and their largest magnitude.
struct result {
    float *value;
    double largest;
};

static void keep(struct result *result, const struct plane *plane,
                 const struct image *image, int channel)
{
    const int colours = image_colours(image);
    float *out = result->value + channel;
    for (int64_t y = 0; y < image->height; y++) {
        const float *row = plane->value + y * plane->pitch;
        for (int64_t x = 0; x < image->width; x++, out += colours) {
            *out = row[x];
            result->largest = fmax(result->largest, fabs((double)row[x]));
        }
    }
}

static uint16_t quantise(double value, int maxval)
{
    return (uint16_t)lrint(fmin(fmax(value, 0.0), maxval));
}

// Put the result back into the image, as magnitude or clamped.
static void show(struct image *image, const struct result *result, bool magnitude)
{
    const int colours = image_colours(image);
    const int64_t count = image->width * image->height;
    const bool visible = result->largest > least_magnitude * image->maxval;
    const double scale = visible ? image->maxval / result->largest : 0.0;
    for (int64_t i = 0; i < count; i++) {
        for (int c = 0; c < colours; c++) {
            const double v = result->value[i * colours + c];
            image->sample[i * image->channels + c] =
                quantise(magnitude ? fabs(v) * scale : v, image->maxval);
        }
    }
}

static bool filter_channel(struct plane *plane, const struct filter *filter,
                           struct progress *progress)
{
    progress_step(progress, 1);
    if (!plane_forward(plane))
        return false;
    progress_step(progress, 1);
    filter->multiply(filter->user, plane);
    progress_step(progress, 1);
    return plane_inverse(plane);
}

static bool filter_channels(struct result *result, struct plane *plane,
                            const struct image *image, const struct filter *filter)
{
    const int colours = image_colours(image);
    struct progress progress;
    bool good = true;
    progress_begin(&progress, 4 * colours, filter->label);
    for (int c = 0; c < colours && good; c++) {
        plane_load(plane, image, c, filter->pad);
        good = filter_channel(plane, filter, &progress);
        if (good)
            keep(result, plane, image, c);
        progress_step(&progress, 1);
    }
    progress_end(&progress);
    return good;
}

bool filter_image(struct image *image, const struct filter *filter)
{
    const int64_t width = plane_length(image->width, filter->extra_x, filter->pad);
    const int64_t height = plane_length(image->height, filter->extra_y, filter->pad);
    const int64_t count = image->width * image->height * image_colours(image);
    struct result result = { .value = malloc((size_t)count * sizeof(float)) };
    struct plane plane = { 0 };
    bool good = false;
    if (!result.value)
        cli_fail("no memory for %" PRId64 " samples", count);
    else
        good = plane_init(&plane, filter->device, width, height) &&
               filter_channels(&result, &plane, image, filter);
    if (good)
        show(image, &result, filter->magnitude);
    plane_clear(&plane);
    free(result.value);
    return good;
}
