// SPDX-License-Identifier: MIT
// Damaged images of every type: the readers accept or refuse them, and touch no memory that
// is not theirs.
#include <unistd.h>

#include "fuzz_files.h"
#include "image.h"

// libnetpbm forgets the comments of a PAM header that it refuses.
__attribute__((visibility("default"))) const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:libnetpbm\n";
}

// Sum all samples, so that a sanitizer sees one that was never written.
static int read_image(struct input *input)
{
    struct image image;
    if (!image_decode(&image, input))
        return 0;
    uint64_t sum = 0;
    const int64_t count = image.width * image.height * image.channels;
    for (int64_t i = 0; i < count; i++)
        sum += image.sample[i] <= image.maxval ? image.sample[i] : UINT64_MAX / 2;
    image_clear(&image);
    return sum < UINT64_MAX / 2;
}

static bool make_image(struct image *image, int channels, int maxval)
{
    *image = (struct image){
        .width = 13, .height = 9, .channels = channels, .maxval = maxval
    };
    if (!image_allocate(image, "seed", SIZE_MAX))
        return false;
    for (int i = 0; i < 13 * 9 * channels; i++)
        image->sample[i] = (uint16_t)(fuzz_random() % ((uint64_t)maxval + 1));
    return true;
}

// Let the program's own writer make a valid file, and read it back as bytes.
static bool write_seed(struct fuzz_seed *seed, const char *extension, int channels,
                       int maxval)
{
    char name[64];
    struct image image;
    snprintf(name, sizeof name, "fuzz-images-%ld%s", (long)getpid(), extension);
    if (!make_image(&image, channels, maxval))
        return false;
    const bool written = image_write(&image, name);
    image_clear(&image);
    struct input input;
    if (!written || !input_read(&input, name))
        return false;
    unlink(name);
    seed->name = extension;
    seed->count = input.count;
    if (seed->count <= FUZZ_MAX_BYTES)
        memcpy(seed->byte, input.byte, seed->count);
    input_clear(&input);
    return seed->count <= FUZZ_MAX_BYTES;
}

// Behind the first marker of a JPEG file: Exif data that note a turn.
static void insert_exif(struct fuzz_seed *seed)
{
    static const char exif[] = "\xff\xe1\0\x22"
                               "Exif\0\0II*\0\x08\0\0\0\1\0"
                               "\x12\1\3\0\1\0\0\0\6\0\0\0\0\0\0";
    memmove(seed->byte + 2 + sizeof exif, seed->byte + 2, seed->count - 2);
    memcpy(seed->byte + 2, exif, sizeof exif);
    seed->count += sizeof exif;
    seed->name = ".jpg with Exif";
}

// Formats that the program reads but does not write.
static const char *const texts[][2] = {
    { "plain PBM", "P1\n# bilevel\n5 3\n0 1 0 1 1\n1 1 1 0 0\n0 0 0 1 1\n" },
    { "plain PGM", "P2\n4 2\n300\n0 1 2 300\n17 18 19 20\n" },
    { "plain PPM", "P3\n2 2\n255\n1 2 3 4 5 6\n7 8 9 10 11 12\n" },
    { "raw PBM", "P4\n10 2\n\xaa\x80\x55\x40" },
    { "PAM with alpha", "P7\nWIDTH 2\nHEIGHT 2\nDEPTH 2\nMAXVAL 255\nTUPLTYPE "
                        "GRAYSCALE_ALPHA\nENDHDR\nabcdefgh" },
};

int main(int argc, char **argv)
{
    static const struct {
        const char *extension;
        int channels, maxval;
    } kinds[] = {
        { ".png", 1, 255 },   { ".png", 2, 65535 }, { ".png", 3, 65535 },
        { ".png", 4, 255 },   { ".jpg", 1, 255 },   { ".jpg", 3, 255 },
        { ".pgm", 1, 255 },   { ".pgm", 1, 999 },   { ".ppm", 3, 255 },
        { ".pam", 4, 65535 },
    };
    static struct fuzz_seed seed;
    const int rounds = fuzz_begin(argc, argv, 3000);
    int failures = 0;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (write_seed(&seed, kinds[i].extension, kinds[i].channels, kinds[i].maxval))
            failures += fuzz_run(&seed, read_image, rounds);
        else
            failures++;
    }
    if (!write_seed(&seed, ".jpg", 3, 255))
        return 1;
    insert_exif(&seed);
    failures += fuzz_run(&seed, read_image, rounds);
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        seed.name = texts[i][0];
        seed.count = strlen(texts[i][1]);
        memcpy(seed.byte, texts[i][1], seed.count);
        failures += fuzz_run(&seed, read_image, rounds);
    }
    return failures ? 1 : 0;
}
