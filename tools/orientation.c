// SPDX-License-Identifier: MIT
#include "orientation.h"

#include <stdlib.h>
#include <string.h>

enum { ORIENTATION_TAG = 0x0112, ENTRY_BYTES = 12, UPRIGHT = 1 };

/** A piece of the file in the byte order of its first two bytes. */
struct block {
    const uint8_t *byte;
    size_t count;
    bool little;
};

// The unsigned number of 2 or 4 bytes at `at`; 0 behind the end.
static size_t number(const struct block *block, size_t at, size_t bytes)
{
    size_t value = 0;
    if (at > block->count || bytes > block->count - at)
        return 0;
    for (size_t i = 0; i < bytes; i++)
        value = value << 8 | block->byte[at + (block->little ? bytes - 1 - i : i)];
    return value;
}

// Look for the tag in the first directory of a TIFF block.
static int find_tag(struct block tiff)
{
    tiff.little = tiff.count > 0 && tiff.byte[0] == 'I';
    const size_t start = number(&tiff, 4, 4);
    const size_t entries = number(&tiff, start, 2);
    for (size_t i = 0; i < entries; i++) {
        const size_t entry = start + 2 + i * ENTRY_BYTES;
        const size_t value = number(&tiff, entry + 8, 2);
        if (number(&tiff, entry, 2) == ORIENTATION_TAG)
            return value >= 1 && value <= 8 ? (int)value : UPRIGHT;
    }
    return UPRIGHT;
}

int orientation_find(const struct input *input)
{
    static const char exif[] = "Exif\0"; // and the NUL at its end
    const struct block file = { input->byte, input->count, false };
    for (size_t at = 2; number(&file, at, 1) == 0xff;) {
        const size_t marker = number(&file, at + 1, 1);
        const size_t length = number(&file, at + 2, 2);
        if (marker == 0xda || length < 2 || length > file.count - at - 2)
            break;
        if (marker == 0xe1 && length > 2 + sizeof exif &&
            memcmp(file.byte + at + 4, exif, sizeof exif) == 0)
            return find_tag((struct block){ file.byte + at + 4 + sizeof exif,
                                            length - 2 - sizeof exif, false });
        at += 2 + length;
    }
    return UPRIGHT;
}

bool orientation_apply(struct image *image, int orientation)
{
    // Where the pixel (x, y) of the upright image is: swap x and y, then count from the end.
    static const struct {
        bool swap, flip_x, flip_y;
    } turns[] = {
        [1] = { false, false, false }, [2] = { false, true, false },
        [3] = { false, true, true },   [4] = { false, false, true },
        [5] = { true, false, false },  [6] = { true, false, true },
        [7] = { true, true, true },    [8] = { true, true, false },
    };
    const bool swap = turns[orientation].swap;
    const int64_t width = swap ? image->height : image->width;
    const int64_t height = swap ? image->width : image->height;
    const size_t pixel = (size_t)image->channels * sizeof(uint16_t);
    if (orientation == UPRIGHT)
        return true;
    uint16_t *upright = malloc((size_t)(width * height) * pixel);
    if (!upright)
        return false;
    uint16_t *next = upright;
    for (int64_t y = 0; y < height; y++) {
        for (int64_t x = 0; x < width; x++, next += image->channels) {
            int64_t from_x = swap ? y : x, from_y = swap ? x : y;
            from_x = turns[orientation].flip_x ? image->width - 1 - from_x : from_x;
            from_y = turns[orientation].flip_y ? image->height - 1 - from_y : from_y;
            memcpy(next,
                   image->sample + (from_y * image->width + from_x) * image->channels,
                   pixel);
        }
    }
    free(image->sample);
    image->sample = upright;
    image->width = width;
    image->height = height;
    return true;
}
