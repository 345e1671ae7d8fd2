// SPDX-License-Identifier: MIT
// Damaged .npy files: the reader accepts or refuses them, and an array that it accepts has
// all the elements that it promises.
#include "fuzz_files.h"
#include "npy.h"

// Visit every element by its strides, so that a sanitizer sees one that is not there.
static int read_array(struct input *input)
{
    struct npy array;
    if (!npy_decode(&array, input)) {
        npy_clear(&array);
        return 0;
    }
    volatile uint8_t sink = 0;
    const int64_t bytes = npy_element_bytes(&array);
    for (int64_t i = 0; i < array.count; i++) {
        int64_t offset = 0, index = i;
        for (int axis = array.rank - 1; axis >= 0; axis--) {
            offset += index % array.shape[axis] * array.stride[axis];
            index /= array.shape[axis];
        }
        const uint8_t *element = (const uint8_t *)array.data + offset * bytes;
        sink = (uint8_t)(sink + element[0] + element[bytes - 1]);
    }
    npy_clear(&array);
    return 1;
}

// Make a file of this version whose header is `text`, with `bytes` bytes of data.
static void make_seed(struct fuzz_seed *seed, int version, const char *text, size_t bytes)
{
    const size_t length = strlen(text);
    const size_t start = version == 1 ? 10 : 12;
    seed->name = text;
    memset(seed->byte, 0, start);
    memcpy(seed->byte, "\x93NUMPY", 6);
    seed->byte[6] = (uint8_t)version;
    seed->byte[8] = (uint8_t)length;
    memcpy(seed->byte + start, text, length);
    for (size_t i = 0; i < bytes; i++)
        seed->byte[start + length + i] = (uint8_t)fuzz_random();
    seed->count = start + length + bytes;
}

int main(int argc, char **argv)
{
    static const struct {
        int version;
        const char *header;
        size_t bytes;
    } files[] = {
        { 1, "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }\n", 96 },
        { 1, "{'descr': '>c8', 'fortran_order': True, 'shape': (2, 3, 4), }\n", 192 },
        { 2, "{'descr': '|u1', 'fortran_order': False, 'shape': (17,), }\n", 17 },
        { 3, "{'descr': '<f2', 'fortran_order': True, 'shape': (5, 1, 2), }\n", 20 },
        { 1, "{'shape': (4L,), 'descr': \"=i4\", 'fortran_order': False}", 16 },
        { 1, "{'descr': '<c16', 'fortran_order': False, 'shape': (), }\n", 16 },
    };
    static struct fuzz_seed seed;
    const int rounds = fuzz_begin(argc, argv, 20000);
    int failures = 0;
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        make_seed(&seed, files[i].version, files[i].header, files[i].bytes);
        failures += fuzz_run(&seed, read_array, rounds);
    }
    return failures ? 1 : 0;
}
