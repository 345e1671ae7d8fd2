// SPDX-License-Identifier: MIT
// PNG, through libpng. Its errors come back by longjmp() to the one setjmp() of a call.
#include <errno.h>
#include <png.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "image.h"

// All that must survive a longjmp().
struct png_job {
    const struct input *input;
    size_t taken;
    struct output *output;
    png_structp png;
    png_infop info;
    png_bytep row;
    jmp_buf failed;
};

static void on_error(png_structp png, png_const_charp message)
{
    struct png_job *job = png_get_error_ptr(png);
    if (job->input)
        cli_fail("%s: cannot read as PNG: %s", job->input->name, message);
    else
        output_fail(job->output);
    longjmp(job->failed, 1);
}

static void on_warning(png_structp png, png_const_charp message)
{
    (void)png;
    (void)message;
}

static void on_read(png_structp png, png_bytep data, size_t count)
{
    struct png_job *job = png_get_io_ptr(png);
    if (count > job->input->count - job->taken)
        png_error(png, "the file is truncated");
    memcpy(data, job->input->byte + job->taken, count);
    job->taken += count;
}

// Make rows of any PNG 8 or 16 bits a sample, big-endian, without a palette.
static void expand(struct png_job *job)
{
    png_set_expand(job->png);
    if (png_get_interlace_type(job->png, job->info) != PNG_INTERLACE_NONE)
        png_set_interlace_handling(job->png);
    png_read_update_info(job->png, job->info);
}

static void unpack(struct image *image, const png_byte *row, int64_t y)
{
    const int64_t count = image->width * image->channels;
    uint16_t *sample = image->sample + y * count;
    if (image->maxval == 255) {
        for (int64_t i = 0; i < count; i++)
            sample[i] = row[i];
    } else {
        for (int64_t i = 0; i < count; i++)
            sample[i] = (uint16_t)(row[2 * i] << 8 | row[2 * i + 1]);
    }
}

static void pack(const struct image *image, png_byte *row, int64_t y, int maxval)
{
    const int64_t count = image->width * image->channels;
    const uint16_t *sample = image->sample + y * count;
    for (int64_t i = 0; i < count; i++) {
        const int value = image_scale(sample[i], image->maxval, maxval);
        if (maxval == 255) {
            row[i] = (png_byte)value;
        } else {
            row[2 * i] = (png_byte)(value >> 8);
            row[2 * i + 1] = (png_byte)value;
        }
    }
}

// An interlaced PNG comes in seven passes, each of which adds to the rows of the last.
static void repack(const struct image *image, png_byte *row, int64_t y, int pass)
{
    if (pass > 0)
        pack(image, row, y, image->maxval);
}

static bool read_rows(struct png_job *job, struct image *image)
{
    const int passes =
        png_get_interlace_type(job->png, job->info) == PNG_INTERLACE_NONE ? 1 : 7;
    job->row = malloc(png_get_rowbytes(job->png, job->info));
    if (!job->row) {
        cli_fail("%s: no memory for a row", job->input->name);
        return false;
    }
    for (int pass = 0; pass < passes; pass++) {
        for (int64_t y = 0; y < image->height; y++) {
            repack(image, job->row, y, pass);
            png_read_row(job->png, job->row, NULL);
            unpack(image, job->row, y);
        }
    }
    png_read_end(job->png, NULL);
    return true;
}

static bool decode_steps(struct png_job *job, struct image *image)
{
    job->png = png_create_read_struct(PNG_LIBPNG_VER_STRING, job, on_error, on_warning);
    job->info = job->png ? png_create_info_struct(job->png) : NULL;
    if (!job->info) {
        cli_fail("%s: no memory for libpng", job->input->name);
        return false;
    }
    png_set_read_fn(job->png, job, on_read);
    png_set_user_limits(job->png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
    png_read_info(job->png, job->info);
    expand(job);
    image->width = png_get_image_width(job->png, job->info);
    image->height = png_get_image_height(job->png, job->info);
    image->channels = png_get_channels(job->png, job->info);
    image->maxval = png_get_bit_depth(job->png, job->info) == 16 ? 65535 : 255;
    return image_allocate(image, job->input->name, job->input->count) &&
           read_rows(job, image);
}

static bool guarded_decode(struct png_job *job, struct image *image)
{
    return setjmp(job->failed) == 0 && decode_steps(job, image);
}

static bool decode(struct image *image, const struct input *input)
{
    struct png_job job = { .input = input };
    const bool good = guarded_decode(&job, image);
    free(job.row);
    png_destroy_read_struct(&job.png, &job.info, NULL);
    return good;
}

static bool encode_steps(struct png_job *job, const struct image *image)
{
    static const int types[] = { 0, PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA,
                                 PNG_COLOR_TYPE_RGB, PNG_COLOR_TYPE_RGB_ALPHA };
    const int maxval = image->maxval > 255 ? 65535 : 255;

    job->png = png_create_write_struct(PNG_LIBPNG_VER_STRING, job, on_error, on_warning);
    job->info = job->png ? png_create_info_struct(job->png) : NULL;
    job->row = malloc((size_t)(image->width * image->channels) * sizeof(uint16_t));
    if (!job->info || !job->row) {
        errno = ENOMEM;
        return output_fail(job->output);
    }
    errno = 0;
    png_init_io(job->png, job->output->file);
    png_set_user_limits(job->png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
    png_set_IHDR(job->png, job->info, (png_uint_32)image->width,
                 (png_uint_32)image->height, maxval == 255 ? 8 : 16,
                 types[image->channels], PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_BASE,
                 PNG_FILTER_TYPE_BASE);
    png_write_info(job->png, job->info);
    for (int64_t y = 0; y < image->height; y++) {
        pack(image, job->row, y, maxval);
        png_write_row(job->png, job->row);
    }
    png_write_end(job->png, NULL);
    return true;
}

static bool guarded_encode(struct png_job *job, const struct image *image)
{
    return setjmp(job->failed) == 0 && encode_steps(job, image);
}

static bool encode(const struct image *image, struct output *output)
{
    struct png_job job = { .output = output };
    const bool good = guarded_encode(&job, image);
    free(job.row);
    png_destroy_write_struct(&job.png, &job.info);
    return good;
}

const struct image_format image_png = { "PNG", decode, encode };
