// SPDX-License-Identifier: MIT
// PBM, PGM, PPM and PAM, through libnetpbm. Left to itself it prints its errors and ends the
// process; here they come back by longjmp().
#include <errno.h>
#include <pam.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "image.h"

// All that must survive a longjmp().
struct pnm_job {
    struct pam pam;
    tuple *row;
    FILE *file;
    jmp_buf failed;
};

// libnetpbm hands its callbacks nothing of ours: the sentence waits here.
static char complaint[256];

// Keep the first sentence of what libnetpbm has to say.
static void on_error(const char *message)
{
    snprintf(complaint, sizeof complaint, "%s", message);
    complaint[strcspn(complaint, "\n")] = '\0';
    const size_t length = strlen(complaint);
    if (length > 0 && complaint[length - 1] == '.')
        complaint[length - 1] = '\0';
}

static void on_message(const char *message)
{
    (void)message;
}

static void listen_to(struct pnm_job *job)
{
    complaint[0] = '\0';
    pm_setusererrormsgfn(on_error);
    pm_setusermessagefn(on_message);
    pm_setjmpbuf(&job->failed);
}

static void finish(struct pnm_job *job)
{
    pm_setjmpbuf(NULL);
    if (job->row)
        pnm_freepamrow(job->row);
}

// Set the image's fields from the header. Bilevel images become grey of 0 .. 255.
static bool take_header(struct image *image, const struct pam *pam,
                        const struct input *input)
{
    if (pam->depth < 1 || pam->depth > 4) {
        cli_fail("%s: %u channels are not supported, only 1 to 4", input->name,
                 pam->depth);
        return false;
    }
    image->width = pam->width;
    image->height = pam->height;
    image->channels = (int)pam->depth;
    image->maxval = pam->maxval == 1 ? 255 : (int)pam->maxval;
    return image_allocate(image, input->name, input->count);
}

static void take_row(struct image *image, const struct pam *pam, const tuple *row,
                     int64_t y)
{
    uint16_t *next = image->sample + y * image->width * image->channels;
    for (int64_t x = 0; x < image->width; x++) {
        for (int c = 0; c < image->channels; c++) {
            const int value = (int)(row[x][c] < pam->maxval ? row[x][c] : pam->maxval);
            *next++ = (uint16_t)image_scale(value, (int)pam->maxval, image->maxval);
        }
    }
}

static bool decode_steps(struct pnm_job *job, struct image *image,
                         const struct input *input)
{
    pnm_readpaminit(job->file, &job->pam, PAM_STRUCT_SIZE(tuple_type));
    if (!take_header(image, &job->pam, input))
        return false;
    job->row = pnm_allocpamrow(&job->pam);
    for (int64_t y = 0; y < image->height; y++) {
        pnm_readpamrow(&job->pam, job->row);
        take_row(image, &job->pam, job->row, y);
    }
    return true;
}

static bool guarded_decode(struct pnm_job *job, struct image *image,
                           const struct input *input)
{
    listen_to(job);
    if (setjmp(job->failed) == 0)
        return decode_steps(job, image, input);
    cli_fail("%s: cannot read as PNM: %s", input->name, complaint);
    return false;
}

static bool decode(struct image *image, const struct input *input)
{
    struct pnm_job job = { .file = fmemopen(input->byte, input->count, "rb") };
    if (!job.file) {
        cli_fail("%s: cannot read: %s", input->name, strerror(errno));
        return false;
    }
    const bool good = guarded_decode(&job, image, input);
    finish(&job);
    fclose(job.file);
    return good;
}

// Channel `c` of `depth` to write is which channel of the image? Grey written as colour
// repeats; alpha that the format cannot hold is left out.
static int source_channel(const struct image *image, int depth, int c)
{
    return depth == image->channels || image_colours(image) == 3 ? c : 0;
}

static void put_rows(struct pnm_job *job, const struct image *image)
{
    const int depth = (int)job->pam.depth;
    for (int64_t y = 0; y < image->height; y++) {
        for (int64_t x = 0; x < image->width; x++) {
            const uint16_t *pixel =
                image->sample + (y * image->width + x) * image->channels;
            for (int c = 0; c < depth; c++)
                job->row[x][c] = pixel[source_channel(image, depth, c)];
        }
        pnm_writepamrow(&job->pam, job->row);
    }
}

static bool guarded_encode(struct pnm_job *job, const struct image *image)
{
    errno = 0;
    listen_to(job);
    if (setjmp(job->failed) != 0)
        return false;
    pnm_writepaminit(&job->pam);
    job->row = pnm_allocpamrow(&job->pam);
    put_rows(job, image);
    return true;
}

static bool encode_as(const struct image *image, struct output *output, int format,
                      int depth)
{
    static const char *const types[] = { "", "GRAYSCALE", "GRAYSCALE_ALPHA", "RGB",
                                         "RGB_ALPHA" };
    struct pnm_job job = { .pam = {
                               .size = sizeof(struct pam),
                               .len = PAM_STRUCT_SIZE(tuple_type),
                               .file = output->file,
                               .format = format,
                               .width = (int)image->width,
                               .height = (int)image->height,
                               .depth = (unsigned)depth,
                               .maxval = (sample)image->maxval,
                               .bytes_per_sample = image->maxval > 255 ? 2 : 1,
                           } };
    strcpy(job.pam.tuple_type, types[depth]);
    const bool good = guarded_encode(&job, image) || output_fail(output);
    finish(&job);
    return good;
}

static bool encode_pgm(const struct image *image, struct output *output)
{
    return encode_as(image, output, RPGM_FORMAT, 1);
}

static bool encode_ppm(const struct image *image, struct output *output)
{
    return encode_as(image, output, RPPM_FORMAT, 3);
}

static bool encode_pnm(const struct image *image, struct output *output)
{
    return image_colours(image) == 1 ? encode_pgm(image, output)
                                     : encode_ppm(image, output);
}

static bool encode_pam(const struct image *image, struct output *output)
{
    return encode_as(image, output, PAM_FORMAT, image->channels);
}

const struct image_format image_pam = { "PAM", decode, encode_pam };
const struct image_format image_pgm = { "PGM", decode, encode_pgm };
const struct image_format image_ppm = { "PPM", decode, encode_ppm };
const struct image_format image_pnm = { "PNM", decode, encode_pnm };
