// SPDX-License-Identifier: MIT
#include "tune/image.h"

#include <string.h>

// A NaN in f64, and twice a NaN in f32.
static const uint64_t POISON = 0x7ff4dead7ff4deadu;

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

int64_t kal_array_find_row(const struct kal_array *array, int rank, int64_t row)
{
    int64_t index = array->offset;
    for (int i = rank - 2; i >= 0; i--) {
        index += row % array->n[i] * array->stride[i];
        row /= array->n[i];
    }
    return index + row * array->batch_stride;
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

void kal_image_poison(struct kal_image *image)
{
    for (int i = 0; i < image->parts; i++) {
        for (uint64_t at = 0; at < image->bytes; at += sizeof POISON)
            memcpy(image->array[i] + at, &POISON, sizeof POISON);
    }
}

void kal_image_poison_elements(struct kal_image *image, const struct kal_array *array,
                               int rank, int64_t batch)
{
    const int64_t line = array->n[rank - 1], stride = array->stride[rank - 1];
    const int64_t rows = kal_array_points(array, rank) / line * batch;
    const size_t real_bytes = image->is_f64 ? 8 : 4;

    for (int64_t row = 0; row < rows; row++) {
        int64_t index = kal_array_find_row(array, rank, row);
        for (int64_t i = 0; i < line; i++, index += stride) {
            for (int part = 0; part <= !array->is_real; part++)
                memcpy(kal_image_at(image, array, index, part), &POISON, real_bytes);
        }
    }
}

bool kal_image_is_poison(const struct kal_image *image)
{
    uint64_t difference = 0, word;
    for (int i = 0; i < image->parts; i++) {
        for (uint64_t at = 0; at < image->bytes; at += sizeof word) {
            memcpy(&word, image->array[i] + at, sizeof word);
            difference |= word ^ POISON;
        }
    }
    return difference == 0;
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
