// SPDX-License-Identifier: MIT
#include "npy.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

static const char magic[] = "\x93NUMPY";
enum { MAGIC_BYTES = 6, ALIGNMENT = 64, MAX_HEADER_BYTES = 1 << 20 };

#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
static const char native_order = '>';
#else
static const char native_order = '<';
#endif

// clang-format off
#define WIDEN(name, type)                                                 \
    static double widen_##name(const uint8_t *byte)                       \
    {                                                                     \
        type value;                                                       \
        memcpy(&value, byte, sizeof value);                               \
        return (double)value;                                             \
    }
WIDEN(i1, int8_t) WIDEN(i2, int16_t) WIDEN(i4, int32_t) WIDEN(i8, int64_t)
WIDEN(u1, uint8_t) WIDEN(u2, uint16_t) WIDEN(u4, uint32_t) WIDEN(u8, uint64_t)
    // clang-format on

    static double widen_b1(const uint8_t *byte)
{
    return *byte != 0;
}

static double widen_f2(const uint8_t *byte)
{
    uint16_t bits;
    memcpy(&bits, byte, sizeof bits);
    const int exponent = bits >> 10 & 31, fraction = bits & 1023;
    double value;
    if (exponent == 31)
        value = fraction ? NAN : INFINITY;
    else if (exponent == 0)
        value = ldexp(fraction, -24);
    else
        value = ldexp(fraction + 1024, exponent - 25);
    return bits & 0x8000 ? -value : value;
}

// The element types that are read. Those without `widen` are computed with as they are.
static const struct type {
    const char *name; // without the byte order
    int bytes;        // of a real number
    bool f64, complex;
    double (*widen)(const uint8_t *byte);
} types[] = {
    { "f4", 4, false, false, NULL },    { "f8", 8, true, false, NULL },
    { "c8", 4, false, true, NULL },     { "c16", 8, true, true, NULL },
    { "f2", 2, true, false, widen_f2 }, { "b1", 1, true, false, widen_b1 },
    { "i1", 1, true, false, widen_i1 }, { "i2", 2, true, false, widen_i2 },
    { "i4", 4, true, false, widen_i4 }, { "i8", 8, true, false, widen_i8 },
    { "u1", 1, true, false, widen_u1 }, { "u2", 2, true, false, widen_u2 },
    { "u4", 4, true, false, widen_u4 }, { "u8", 8, true, false, widen_u8 },
};

/** What the header of a file says. */
struct header {
    const struct type *type;
    bool swapped, fortran;
    uint8_t *data; // behind the header
    size_t bytes;  // of the file behind the header
};

static bool refuse(const struct input *input, const char *cause)
{
    cli_fail("%s: cannot read as .npy: %s", input->name, cause);
    return false;
}

// Find the value of `key` in the Python dictionary of the header; NULL if it is missing.
static const char *find_value(const char *text, const char *key)
{
    const size_t length = strlen(key);
    for (const char *at = text; (at = strstr(at, key)) != NULL; at += length) {
        if (at == text || (at[-1] != '\'' && at[-1] != '"') || at[length] != at[-1])
            continue;
        const char *colon = at + length + 1 + strspn(at + length + 1, " \t");
        if (*colon == ':')
            return colon + 1 + strspn(colon + 1, " \t");
    }
    return NULL;
}

static bool parse_type(struct header *header, const struct input *input, const char *text)
{
    const char quote = text ? *text : '\0';
    char name[32];
    if (quote == '[')
        return refuse(input, "records (structured types) are not supported");
    const char *end = quote == '\'' || quote == '"' ? strchr(text + 1, quote) : NULL;
    if (!end || end - text - 1 < 2 || end - text - 1 >= (ptrdiff_t)sizeof name)
        return refuse(input, "the header has no valid 'descr'");
    memcpy(name, text + 1, (size_t)(end - text - 1));
    name[end - text - 1] = '\0';
    const bool has_order = strchr("<>|=", name[0]);
    const char order = has_order ? name[0] : '=';
    for (size_t i = 0; i < CLI_COUNT(types); i++) {
        if (strcmp(types[i].name, name + has_order) != 0)
            continue;
        header->type = &types[i];
        header->swapped = (order == '<' || order == '>') && order != native_order;
        return true;
    }
    cli_fail("%s: elements of type %s are not supported, only f2, f4, f8, c8, c16, "
             "integers and bool",
             input->name, name);
    return false;
}

static bool parse_order(struct header *header, const struct input *input,
                        const char *text)
{
    if (!text || (strncmp(text, "True", 4) != 0 && strncmp(text, "False", 5) != 0))
        return refuse(input, "the header has no valid 'fortran_order'");
    header->fortran = *text == 'T';
    return true;
}

static bool parse_shape(struct npy *array, const struct input *input, const char *text)
{
    if (!text || *text++ != '(')
        return refuse(input, "the header has no valid 'shape'");
    for (;;) {
        text += strspn(text, " \t");
        if (*text == ')')
            return true;
        char *end;
        errno = 0;
        const long long n = isdigit((unsigned char)*text) ? strtoll(text, &end, 10) : -1;
        if (n < 0 || errno != 0)
            return refuse(input, "the header has no valid 'shape'");
        if (array->rank == NPY_MAX_RANK)
            return refuse(input, "the array has more than 64 axes");
        array->shape[array->rank++] = n;
        text = end + strspn(end, "L \t");
        if (*text == ',')
            text++;
        else if (*text != ')')
            return refuse(input, "the header has no valid 'shape'");
    }
}

// Cut the file into header and data. The caller frees *text, the header as a string.
static bool split(struct header *header, const struct input *input, char **text)
{
    const uint8_t *byte = input->byte;
    *text = NULL;
    if (input->count < MAGIC_BYTES || memcmp(byte, magic, MAGIC_BYTES) != 0)
        return refuse(input, "it is not an .npy file");
    if (input->count < 12)
        return refuse(input, "the file is truncated");
    if (byte[6] < 1 || byte[6] > 3)
        return refuse(input, "the version of the format is not 1, 2 or 3");
    const size_t start = byte[6] == 1 ? 10 : 12;
    size_t length = byte[8] | (size_t)byte[9] << 8;
    if (byte[6] > 1)
        length |= (size_t)byte[10] << 16 | (size_t)byte[11] << 24;
    if (length > MAX_HEADER_BYTES)
        return refuse(input, "the header is longer than 1 MiB");
    if (length > input->count - start)
        return refuse(input, "the file is truncated");
    *text = strndup((const char *)byte + start, length);
    if (!*text)
        return refuse(input, "no memory for the header");
    header->data = input->byte + start + length;
    header->bytes = input->count - start - length;
    return true;
}

int64_t npy_element_bytes(const struct npy *array)
{
    return (array->f64 ? 8 : 4) * (array->complex ? 2 : 1);
}

bool npy_pack(struct npy *array)
{
    array->count = 1;
    for (int i = array->rank - 1; i >= 0; i--) {
        array->stride[i] = array->count;
        if (__builtin_mul_overflow(array->count, array->shape[i], &array->count))
            return false;
    }
    return array->count <= INT64_MAX / 16;
}

// Fortran order: the first axis is the fastest.
static void transpose(struct npy *array)
{
    int64_t stride = 1;
    for (int i = 0; i < array->rank; i++) {
        array->stride[i] = stride;
        stride *= array->shape[i];
    }
}

static bool check_size(const struct npy *array, const struct input *input,
                       const struct header *header)
{
    const struct type *type = header->type;
    const uint64_t bytes =
        (uint64_t)array->count * (uint64_t)type->bytes * (type->complex ? 2 : 1);
    if (bytes <= header->bytes)
        return true;
    cli_fail("%s: the file is truncated: its shape needs %" PRIu64 " bytes, it holds %zu",
             input->name, bytes, header->bytes);
    return false;
}

static void swap_bytes(uint8_t *value, int64_t count, int bytes)
{
    for (int64_t i = 0; i < count; i++, value += bytes) {
        for (int k = 0; k < bytes / 2; k++) {
            const uint8_t byte = value[k];
            value[k] = value[bytes - 1 - k];
            value[bytes - 1 - k] = byte;
        }
    }
}

// Make the data native, aligned, and of a type that the library computes with.
static bool convert(struct npy *array, const struct input *input, struct header *header)
{
    const struct type *type = header->type;
    const int64_t reals = array->count * (type->complex ? 2 : 1);
    if (header->swapped)
        swap_bytes(header->data, reals, type->bytes);
    if (!type->widen) {
        const size_t skew = (uintptr_t)header->data % 8;
        array->data = header->data - skew; // the header leaves that much room
        if (skew)
            memmove(array->data, header->data, (size_t)(reals * type->bytes));
        return true;
    }
    double *wide = malloc((size_t)reals * sizeof *wide + 1);
    if (!wide)
        return refuse(input, "no memory to widen the elements");
    for (int64_t i = 0; i < reals; i++)
        wide[i] = type->widen(header->data + i * type->bytes);
    array->data = array->owned = wide;
    return true;
}

bool npy_decode(struct npy *array, struct input *input)
{
    struct header header = { 0 };
    char *text;
    *array = (struct npy){ 0 };
    bool good = split(&header, input, &text);
    good = good && parse_type(&header, input, find_value(text, "descr"));
    good = good && parse_order(&header, input, find_value(text, "fortran_order"));
    good = good && parse_shape(array, input, find_value(text, "shape"));
    free(text);
    if (!good)
        return false;
    if (!npy_pack(array))
        return refuse(input, "the shape is too large");
    if (array->count == 0)
        return refuse(input, "the array has no elements");
    if (header.fortran)
        transpose(array);
    array->f64 = header.type->f64;
    array->complex = header.type->complex;
    return check_size(array, input, &header) && convert(array, input, &header);
}

void npy_clear(struct npy *array)
{
    free(array->owned);
    array->data = array->owned = NULL;
}

// The header, padded with spaces so that the data is aligned. Returns its length.
static size_t make_header(const struct npy *array, char *text, size_t capacity)
{
    const int bytes = (int)npy_element_bytes(array);
    size_t used = (size_t)snprintf(
        text, capacity,
        "%.6s%c%c%c%c{'descr': '%c%c%d', 'fortran_order': False, 'shape': (", magic, 1, 0,
        0, 0, native_order, array->complex ? 'c' : 'f', bytes);
    for (int i = 0; i < array->rank; i++)
        used += (size_t)snprintf(text + used, capacity - used, "%" PRId64 ", ",
                                 array->shape[i]);
    if (array->rank > 0)
        used -= array->rank == 1 ? 1 : 2; // (3,) but (3, 4)
    used += (size_t)snprintf(text + used, capacity - used, "), }");
    const size_t total = (used + 1 + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    memset(text + used, ' ', total - used);
    text[total - 1] = '\n';
    text[8] = (char)((total - 10) & 255);
    text[9] = (char)((total - 10) >> 8);
    return total;
}

bool npy_write(const struct npy *array, const char *name)
{
    char header[128 + NPY_MAX_RANK * 24];
    struct output output;
    if (!output_open(&output, name))
        return false;
    const size_t length = make_header(array, header, sizeof header - ALIGNMENT);
    const size_t bytes = (size_t)(array->count * npy_element_bytes(array));
    errno = 0;
    if (fwrite(header, 1, length, output.file) == length &&
        fwrite(array->data, 1, bytes, output.file) == bytes)
        return output_commit(&output);
    output_fail(&output);
    output_discard(&output);
    return false;
}
