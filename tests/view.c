// SPDX-License-Identifier: MIT
#include "view.h"

#include <stdlib.h>

int64_t desc_batch(const kallima_desc *desc)
{
    return desc->batch == 0 ? 1 : desc->batch;
}

int64_t desc_points(const kallima_desc *desc)
{
    int64_t points = 1;
    for (int i = 0; i < desc->rank; i++)
        points *= desc->n[i];
    return points;
}

static bool is_packed(const kallima_layout *layout, int rank)
{
    for (int i = 0; i < rank; i++) {
        if (layout->stride[i] != 0)
            return false;
    }
    return true;
}

// The length that the last axis occupies when packed: padded when real lines share their
// storage with n/2+1 complex ones.
static int64_t packed_line(const kallima_desc *desc, const struct view *view)
{
    const int64_t n = view->n[view->axes - 1];
    const bool padded = desc->placement == KALLIMA_IN_PLACE &&
                        desc->kind != KALLIMA_C2C && !view->complex_side;
    return padded ? 2 * (n / 2 + 1) : n;
}

// A batch without a stride of its own lies behind the largest storage of any axis.
static __int128 storage(const struct view *view, int64_t line)
{
    __int128 most = 1;
    for (int i = 1; i < view->axes; i++) {
        const __int128 n = i == view->axes - 1 ? line : view->n[i];
        const __int128 stride = view->stride[i] < 0 ? -view->stride[i] : view->stride[i];
        if (stride * n > most)
            most = stride * n;
    }
    return most;
}

static void set_strides(struct view *view, const kallima_desc *desc,
                        const kallima_layout *layout)
{
    const int64_t line = packed_line(desc, view);
    __int128 stride = 1;
    const bool is_default = is_packed(layout, desc->rank);
    for (int i = view->axes - 1; i >= 1; i--) {
        view->stride[i] = is_default ? (int64_t)stride : layout->stride[i - 1];
        stride *= i == view->axes - 1 ? line : view->n[i];
        if (stride > VIEW_LIMIT)
            stride = VIEW_LIMIT + 1; // refused by set_range() or without effect
    }
    view->stride[0] = layout->batch_stride;
    if (layout->batch_stride == 0) {
        const __int128 behind = storage(view, line);
        view->stride[0] = behind > INT64_MAX ? INT64_MAX : (int64_t)behind;
    }
}

static bool set_range(struct view *view)
{
    __int128 first = view->offset, last = view->offset, count = 1;
    for (int i = 0; i < view->axes; i++) {
        const __int128 step = (__int128)view->stride[i] * (view->n[i] - 1);
        *(step < 0 ? &first : &last) += step;
        count *= view->n[i];
        if (first < -VIEW_LIMIT || last > VIEW_LIMIT || count > VIEW_LIMIT)
            return false;
    }
    view->first = (int64_t)first;
    view->last = (int64_t)last;
    view->count = (int64_t)count;
    return true;
}

bool view_build(struct view *view, const kallima_desc *desc, bool output)
{
    const kallima_layout *layout = output ? &desc->out : &desc->in;

    *view = (struct view){ .axes = desc->rank + 1, .offset = layout->offset };
    view->complex_side =
        desc->kind == KALLIMA_C2C || (desc->kind == KALLIMA_R2C) == output;
    view->planar = view->complex_side && layout->format == KALLIMA_PLANAR;
    view->n[0] = desc_batch(desc);
    if (view->n[0] < 1 || view->n[0] > VIEW_LIMIT)
        return false;
    for (int i = 0; i < desc->rank; i++) {
        if (desc->n[i] < 1 || desc->n[i] > VIEW_LIMIT)
            return false;
        view->n[i + 1] = desc->n[i];
    }
    if (view->complex_side && desc->kind != KALLIMA_C2C)
        view->n[desc->rank] = desc->n[desc->rank - 1] / 2 + 1;
    for (int i = 1; i < view->axes; i++) {
        if (layout->stride[i - 1] == INT64_MIN)
            return false;
    }
    set_strides(view, desc, layout);
    return set_range(view);
}

int64_t view_index(const struct view *view, int64_t element)
{
    int64_t index = view->offset;
    for (int i = view->axes - 1; i > 0; i--) {
        index += element % view->n[i] * view->stride[i];
        element /= view->n[i];
    }
    return index + element * view->stride[0];
}

bool view_overlaps(const struct view *view)
{
    bool *seen = (bool *)calloc((size_t)(view->last - view->first + 1), sizeof *seen);
    bool overlaps = false;
    for (int64_t i = 0; i < view->count && !overlaps; i++) {
        bool *mark = &seen[view_index(view, i) - view->first];
        overlaps = *mark;
        *mark = true;
    }
    free(seen);
    return overlaps;
}
