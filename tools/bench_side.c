// SPDX-License-Identifier: MIT
#include "bench_side.h"

int64_t desc_points(const kallima_desc *desc)
{
    int64_t points = 1;
    for (int i = 0; i < desc->rank; i++)
        points *= desc->n[i];
    return points;
}

int64_t desc_batch(const kallima_desc *desc)
{
    return desc->batch > 0 ? desc->batch : 1;
}

// Packed strides; in place, the lines of a real array are padded to share their storage
// with the complex ones.
static void pack(struct side *side, const kallima_desc *desc)
{
    const bool padded = side->is_real && desc->placement == KALLIMA_IN_PLACE;
    const int last = side->rank - 1;
    int64_t stride = 1;
    for (int i = last; i >= 0; i--) {
        side->stride[i] = stride;
        stride *= i == last && padded ? 2 * (side->n[i] / 2 + 1) : side->n[i];
    }
}

// Elements from one packed transform to the next one.
static int64_t packed_batch_stride(const struct side *side, const kallima_desc *desc)
{
    if (side->is_real && desc->placement == KALLIMA_IN_PLACE)
        return side->count / side->n[side->rank - 1] * 2 *
               (side->n[side->rank - 1] / 2 + 1);
    return side->count;
}

void side_init(struct side *side, const kallima_desc *desc, bool is_input)
{
    const kallima_layout *layout = is_input ? &desc->in : &desc->out;
    const int real_kind = is_input ? KALLIMA_R2C : KALLIMA_C2R;
    const bool is_real = desc->kind == real_kind;
    const int last = desc->rank - 1;

    *side = (struct side){
        .is_real = is_real,
        .is_planar = !is_real && layout->format == KALLIMA_PLANAR,
        .is_f64 = desc->precision == KALLIMA_F64,
        .rank = desc->rank,
        .count = 1,
        .batch = desc_batch(desc),
        .offset = layout->offset,
    };
    bool is_packed = true;
    for (int i = 0; i <= last; i++) {
        const bool halved = i == last && desc->kind != KALLIMA_C2C && !is_real;
        side->n[i] = halved ? desc->n[i] / 2 + 1 : desc->n[i];
        side->count *= side->n[i];
        side->stride[i] = layout->stride[i];
        is_packed = is_packed && layout->stride[i] == 0;
    }
    if (is_packed)
        pack(side, desc);
    side->batch_stride =
        layout->batch_stride ? layout->batch_stride : packed_batch_stride(side, desc);
}

int64_t side_locate(const struct side *side, int64_t batch, int64_t index)
{
    int64_t position = side->offset + batch * side->batch_stride;
    for (int i = side->rank - 1; i >= 0; i--) {
        position += index % side->n[i] * side->stride[i];
        index /= side->n[i];
    }
    return position;
}

int side_arrays(const struct side *side)
{
    return side->is_planar ? 2 : 1;
}

uint64_t side_element_bytes(const struct side *side)
{
    const uint64_t real_bytes = side->is_f64 ? sizeof(double) : sizeof(float);
    return side->is_real || side->is_planar ? real_bytes : 2 * real_bytes;
}

uint64_t side_bytes(const struct side *side)
{
    int64_t highest = side->offset;
    if (side->batch_stride > 0)
        highest += (side->batch - 1) * side->batch_stride;
    for (int i = 0; i < side->rank; i++) {
        if (side->stride[i] > 0)
            highest += (side->n[i] - 1) * side->stride[i];
    }
    return (uint64_t)(highest + 1) * side_element_bytes(side);
}

uint64_t side_moved_bytes(const struct side *side)
{
    return (uint64_t)(side->batch * side->count) * (uint64_t)side_arrays(side) *
           side_element_bytes(side);
}

static void store(bool is_f64, void *array, int64_t slot, double value)
{
    if (is_f64)
        ((double *)array)[slot] = value;
    else
        ((float *)array)[slot] = (float)value;
}

static quad load(bool is_f64, const void *array, int64_t slot)
{
    return is_f64 ? (quad)((const double *)array)[slot]
                  : (quad)((const float *)array)[slot];
}

void side_store(const struct side *side, void *const array[2], int64_t position,
                double re, double im)
{
    const bool is_interleaved = !side->is_real && !side->is_planar;
    store(side->is_f64, array[0], is_interleaved ? 2 * position : position, re);
    if (is_interleaved)
        store(side->is_f64, array[0], 2 * position + 1, im);
    else if (side->is_planar)
        store(side->is_f64, array[1], position, im);
}

struct quad_complex side_load(const struct side *side, void *const array[2],
                              int64_t position)
{
    const bool wide = side->is_f64;
    if (side->is_real)
        return (struct quad_complex){ load(wide, array[0], position), 0 };
    if (side->is_planar)
        return (struct quad_complex){ load(wide, array[0], position),
                                      load(wide, array[1], position) };
    return (struct quad_complex){ load(wide, array[0], 2 * position),
                                  load(wide, array[0], 2 * position + 1) };
}
