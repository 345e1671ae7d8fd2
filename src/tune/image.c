// SPDX-License-Identifier: MIT
#include "tune/image.h"

#include <string.h>

// A NaN in f32, and twice the same one in f64.
static const uint32_t POISON = 0x7ff4deadu;

enum {
    CHUNK = 1 << 18, // bytes that one thread takes at once
    MANY = 2 << 20,  // that are worth waiting for other threads
};

int64_t kal_array_points(const struct kal_array *array, int rank)
{
    int64_t points = 1;
    for (int i = 0; i < rank; i++)
        points *= array->n[i];
    return points;
}

uint64_t kal_array_guarded_bytes(const struct kal_array *array, bool is_f64)
{
    const int64_t bytes = array->elements * kal_array_reals(array) * (is_f64 ? 8 : 4);
    return (uint64_t)kal_round_up(bytes, KAL_GUARD_BYTES) + 2 * KAL_GUARD_BYTES;
}

bool kal_array_is_distinct(const struct kal_array *array, int rank, int64_t batch)
{
    int64_t n[KALLIMA_MAX_RANK + 1], stride[KALLIMA_MAX_RANK + 1];
    for (int i = 0; i < rank; i++) {
        n[i] = array->n[i];
        stride[i] = array->stride[i];
    }
    n[rank] = batch;
    stride[rank] = array->batch_stride;
    return kal_strides_distinct(rank + 1, n, stride);
}

uint64_t kal_array_solid_bytes(const struct kal_array *array, int rank, int64_t batch,
                               bool is_f64)
{
    if (array->elements != kal_array_points(array, rank) * batch ||
        !kal_array_is_distinct(array, rank, batch))
        return 0;
    return (uint64_t)(array->elements * kal_array_reals(array) * (is_f64 ? 8 : 4));
}

int64_t kal_array_find_line(const struct kal_array *array, int outer, int64_t line)
{
    int64_t index = array->offset;
    for (int i = outer - 1; i >= 0; i--) {
        index += line % array->n[i] * array->stride[i];
        line /= array->n[i];
    }
    return index + line * array->batch_stride;
}

int64_t kal_array_find_row(const struct kal_array *array, int rank, int64_t row)
{
    return kal_array_find_line(array, rank - 1, row);
}

kallima_status kal_image_init(struct kal_image *image, const struct kal_host *host,
                              bool is_f64, int parts, uint64_t bytes)
{
    void *memory;
    *image = (struct kal_image){ .is_f64 = is_f64, .parts = parts, .bytes = bytes };
    KAL_TRY(kal_alloc(host, &memory, (uint64_t)parts, bytes));
    for (int i = 0; i < parts; i++)
        image->array[i] = (unsigned char *)memory + (uint64_t)i * bytes;
    return KALLIMA_OK;
}

void kal_image_clear(struct kal_image *image, const struct kal_host *host)
{
    kal_free(host, image->array[0]);
    *image = (struct kal_image){ 0 };
}

// --- ranges of bytes ---------------------------------------------------------------------

void kal_poison_fill(void *target, uint64_t bytes)
{
    unsigned char *at = target;
    for (uint64_t i = 0; i < bytes; i += sizeof POISON)
        memcpy(at + i, &POISON, sizeof POISON);
}

static void fill_chunks(unsigned char *at, uint64_t bytes)
{
#pragma omp parallel for schedule(static) if (bytes > MANY)
    for (uint64_t i = 0; i < bytes; i += CHUNK)
        kal_poison_fill(at + i, bytes - i < CHUNK ? bytes - i : CHUNK);
}

static bool is_poison(const unsigned char *at, uint64_t bytes)
{
    uint32_t difference = 0;
    for (uint64_t i = 0; i < bytes; i += sizeof POISON) {
        uint32_t word;
        memcpy(&word, at + i, sizeof word);
        difference |= word ^ POISON;
    }
    return difference == 0;
}

static int64_t count_spoiled(const unsigned char *at, uint64_t bytes)
{
    int64_t spoiled = 0;
#pragma omp parallel for schedule(static) reduction(+ : spoiled) if (bytes > MANY)
    for (uint64_t i = 0; i < bytes; i += CHUNK)
        spoiled += !is_poison(at + i, bytes - i < CHUNK ? bytes - i : CHUNK);
    return spoiled;
}

static int64_t count_differing(const unsigned char *a, const unsigned char *b,
                               uint64_t bytes)
{
    int64_t differing = 0;
#pragma omp parallel for schedule(static) reduction(+ : differing) if (bytes > MANY)
    for (uint64_t i = 0; i < bytes; i += CHUNK)
        differing += memcmp(a + i, b + i, bytes - i < CHUNK ? bytes - i : CHUNK) != 0;
    return differing;
}

// --- images ------------------------------------------------------------------------------

void kal_image_poison(struct kal_image *image, uint64_t solid)
{
    const uint64_t behind = KAL_GUARD_BYTES + solid;
    for (int i = 0; i < image->parts; i++) {
        kal_poison_fill(image->array[i], KAL_GUARD_BYTES);
        fill_chunks(image->array[i] + behind, image->bytes - behind);
    }
}

bool kal_image_is_poison(const struct kal_image *image, uint64_t solid)
{
    const uint64_t behind = KAL_GUARD_BYTES + solid;
    for (int i = 0; i < image->parts; i++) {
        if (count_spoiled(image->array[i], KAL_GUARD_BYTES) +
                count_spoiled(image->array[i] + behind, image->bytes - behind) >
            0)
            return false;
    }
    return true;
}

bool kal_image_equals(const struct kal_image *image, const struct kal_image *other)
{
    for (int i = 0; i < image->parts; i++) {
        if (count_differing(image->array[i], other->array[i], image->bytes) > 0)
            return false;
    }
    return true;
}

// --- elements ----------------------------------------------------------------------------

static void read_f32(const unsigned char *at, int64_t stride, int64_t count, double *x,
                     int64_t step)
{
    for (int64_t i = 0; i < count; i++) {
        float value;
        memcpy(&value, at + i * stride * (int64_t)sizeof value, sizeof value);
        x[i * step] = value;
    }
}

static void read_f64(const unsigned char *at, int64_t stride, int64_t count, double *x,
                     int64_t step)
{
    for (int64_t i = 0; i < count; i++)
        memcpy(&x[i * step], at + i * stride * (int64_t)sizeof *x, sizeof *x);
}

void kal_image_read(const struct kal_image *image, const struct kal_array *array,
                    int64_t index, int64_t stride, int part, int64_t count, double *x,
                    int64_t step)
{
    const unsigned char *at = kal_image_at(image, array, index, part);
    const int64_t reals = stride * kal_array_reals(array);
    if (image->is_f64)
        read_f64(at, reals, count, x, step);
    else
        read_f32(at, reals, count, x, step);
}

double kal_image_get(const struct kal_image *image, const struct kal_array *array,
                     int64_t index, int part)
{
    const unsigned char *at = kal_image_at(image, array, index, part);
    double value;
    float single;
    if (image->is_f64) {
        memcpy(&value, at, sizeof value);
        return value;
    }
    memcpy(&single, at, sizeof single);
    return single;
}

void kal_image_set(struct kal_image *image, const struct kal_array *array, int64_t index,
                   int part, double value)
{
    unsigned char *at = kal_image_at(image, array, index, part);
    const float single = (float)value;
    if (image->is_f64)
        memcpy(at, &value, sizeof value);
    else
        memcpy(at, &single, sizeof single);
}
