// SPDX-License-Identifier: MIT
// Descriptor to problem: one sentence for each broken rule, then the defaults.
#include "problem/problem.h"

#include <math.h>

// Addresses in bytes stay below 2^62, so that no sum of two of them overflows.
static const int64_t MAX_ELEMENTS = (int64_t)1 << 57;

static kallima_status check_enum(const struct kal_host *host, const char *field,
                                 int32_t value, int32_t count)
{
    if (value < 0 || value >= count)
        return kal_fail(host, KALLIMA_E_ARGUMENT, "plan: %s = %d; must be 0 to %d", field,
                        value, count - 1);
    return KALLIMA_OK;
}

static kallima_status check_enums(const struct kal_host *host, const kallima_desc *desc)
{
    KAL_TRY(check_enum(host, "kind", desc->kind, KALLIMA_KIND_COUNT));
    KAL_TRY(check_enum(host, "precision", desc->precision, KALLIMA_PRECISION_COUNT));
    KAL_TRY(check_enum(host, "direction", desc->direction, KALLIMA_DIRECTION_COUNT));
    KAL_TRY(check_enum(host, "placement", desc->placement, KALLIMA_PLACEMENT_COUNT));
    KAL_TRY(check_enum(host, "destroy_input", desc->destroy_input, 2));
    KAL_TRY(check_enum(host, "in.format", desc->in.format, KALLIMA_FORMAT_COUNT));
    KAL_TRY(check_enum(host, "out.format", desc->out.format, KALLIMA_FORMAT_COUNT));
    if (desc->kind == KALLIMA_R2C && desc->direction == KALLIMA_INVERSE)
        return kal_fail(host, KALLIMA_E_ARGUMENT,
                        "plan: direction = inverse; R2C transforms forward only");
    return KALLIMA_OK;
}

static kallima_status check_lengths(const struct kal_host *host, const kallima_desc *desc)
{
    if (desc->rank < 1 || desc->rank > KALLIMA_MAX_RANK)
        return kal_fail(host, KALLIMA_E_ARGUMENT, "plan: rank = %d; must be 1 to %d",
                        desc->rank, KALLIMA_MAX_RANK);
    if (desc->batch < 0)
        return kal_fail(host, KALLIMA_E_ARGUMENT,
                        "plan: batch = %lld; must be at least 1, or 0 for 1",
                        (long long)desc->batch);
    if (!isfinite(desc->scale))
        return kal_fail(host, KALLIMA_E_ARGUMENT,
                        "plan: scale = %g; must be a finite number", desc->scale);

    int64_t points = desc->batch ? desc->batch : 1;
    for (int i = 0; i < desc->rank; i++) {
        if (desc->n[i] < 1)
            return kal_fail(host, KALLIMA_E_ARGUMENT,
                            "plan: n[%d] = %lld; lengths must be at least 1", i,
                            (long long)desc->n[i]);
        if (__builtin_mul_overflow(points, desc->n[i], &points) || points > MAX_ELEMENTS)
            return kal_fail(host, KALLIMA_E_ARGUMENT,
                            "plan: n[%d] = %lld; all lengths times the batch must not "
                            "exceed 2^57 points",
                            i, (long long)desc->n[i]);
    }
    return KALLIMA_OK;
}

static bool is_packed(const kallima_layout *layout, int rank)
{
    for (int i = 0; i < rank; i++) {
        if (layout->stride[i] != 0)
            return false;
    }
    return true;
}

// Fill in packed strides. `padded_last` is the storage of a line: more than n in place.
static void pack(struct kal_array *array, int rank, int64_t padded_last)
{
    int64_t stride = 1;
    for (int i = rank - 1; i >= 0; i--) {
        array->stride[i] = stride;
        stride *= i == rank - 1 ? padded_last : array->n[i];
    }
}

// Distance between neighbours in a packed batch: the largest storage of any axis.
static int64_t packed_batch_stride(const struct kal_array *array, int rank,
                                   int64_t padded_last)
{
    int64_t storage = 1;
    for (int i = 0; i < rank; i++) {
        const int64_t stride = array->stride[i];
        const int64_t n = i == rank - 1 ? padded_last : array->n[i];
        if (stride > MAX_ELEMENTS / n || stride < -MAX_ELEMENTS / n)
            return 0; // check_extent() will name the stride
        storage = kal_max(storage, (stride < 0 ? -stride : stride) * n);
    }
    return storage;
}

// How far the next element would be may be said to be anything where there is one, but is
// multiplied by its reals.
static bool is_beyond(int64_t stride)
{
    return stride > MAX_ELEMENTS || stride < -MAX_ELEMENTS;
}

static void fill_array(struct kal_array *array, const kallima_layout *layout,
                       const struct kal_problem *p, bool is_real, int64_t padded_last)
{
    const int last = p->rank - 1;
    array->is_real = is_real;
    array->is_planar = !is_real && layout->format == KALLIMA_PLANAR;
    array->offset = layout->offset;
    for (int i = 0; i < p->rank; i++) {
        array->n[i] = p->n[i];
        array->stride[i] = layout->stride[i];
    }
    if (p->kind != KALLIMA_C2C && !is_real)
        array->n[last] = p->n[last] / 2 + 1;
    for (int i = 0; i < p->rank; i++) {
        if (array->n[i] == 1 && is_beyond(array->stride[i]))
            array->stride[i] = 1;
    }
    if (is_packed(layout, p->rank))
        pack(array, p->rank, padded_last);
    // Of one array alone, how far the next would be may be said to be anything.
    array->batch_stride = layout->batch_stride && p->batch > 1
                              ? layout->batch_stride
                              : packed_batch_stride(array, p->rank, padded_last);
}

// Add (count - 1) * stride to the lowest or the highest index.
static bool widen(int64_t count, int64_t stride, int64_t *low, int64_t *high)
{
    int64_t span;
    if (__builtin_mul_overflow(count - 1, stride, &span))
        return false;
    int64_t *end = span < 0 ? low : high;
    return !__builtin_add_overflow(*end, span, end) && *low >= -MAX_ELEMENTS &&
           *high <= MAX_ELEMENTS;
}

static kallima_status check_extent(const struct kal_host *host, struct kal_array *array,
                                   const struct kal_problem *p, const char *side)
{
    int64_t low = array->offset, high = array->offset;

    if (array->offset < 0 || array->offset > MAX_ELEMENTS)
        return kal_fail(host, KALLIMA_E_ARGUMENT,
                        "plan: %s.offset = %lld; must be 0 to 2^57 elements", side,
                        (long long)array->offset);
    for (int i = 0; i < p->rank; i++) {
        if (array->stride[i] == 0 && array->n[i] > 1)
            return kal_fail(host, KALLIMA_E_ARGUMENT,
                            "plan: %s.stride[%d] = 0 beside other strides; must not be 0 "
                            "on an axis of %lld elements",
                            side, i, (long long)array->n[i]);
        if (!widen(array->n[i], array->stride[i], &low, &high))
            return kal_fail(host, KALLIMA_E_ARGUMENT,
                            "plan: %s.stride[%d] = %lld; the array must not exceed 2^57 "
                            "elements",
                            side, i, (long long)array->stride[i]);
    }
    if (!widen(p->batch, array->batch_stride, &low, &high))
        return kal_fail(host, KALLIMA_E_ARGUMENT,
                        "plan: %s.batch_stride = %lld; the array must not exceed 2^57 "
                        "elements",
                        side, (long long)array->batch_stride);
    if (low < 0)
        return kal_fail(
            host, KALLIMA_E_ARGUMENT,
            "plan: %s.offset = %lld; negative strides reach element %lld, must "
            "not fall below 0",
            side, (long long)array->offset, (long long)low);
    array->elements = high + 1;
    return KALLIMA_OK;
}

static kallima_status check_distinct(const struct kal_host *host,
                                     const struct kal_problem *p)
{
    int64_t n[KALLIMA_MAX_RANK + 1], stride[KALLIMA_MAX_RANK + 1];

    for (int i = 0; i < p->rank; i++) {
        n[i] = p->out.n[i];
        stride[i] = p->out.stride[i];
    }
    n[p->rank] = p->batch;
    stride[p->rank] = p->out.batch_stride;
    if (kal_strides_distinct(p->rank + 1, n, stride))
        return KALLIMA_OK;

    const int last = p->rank - 1;
    return kal_fail(
        host, KALLIMA_E_ARGUMENT,
        "plan: out.stride[%d] = %lld, out.batch_stride = %lld; output elements "
        "overlap, every index must have an address of its own",
        last, (long long)p->out.stride[last], (long long)p->out.batch_stride);
}

static kallima_status refuse_in_place(const struct kal_host *host, const char *field,
                                      int64_t in, int64_t out, const char *rule)
{
    return kal_fail(host, KALLIMA_E_ARGUMENT,
                    "plan: in.%s = %lld and out.%s = %lld do not fit in place: %s", field,
                    (long long)in, field, (long long)out, rule);
}

// Both sides of a C2C are one array. A real line and its complex line share storage: every
// stride but the last axis's is twice as many reals as complex numbers.
static kallima_status check_in_place(const struct kal_host *host,
                                     const struct kal_problem *p)
{
    const struct kal_array *in = &p->in, *out = &p->out;
    const int64_t in_reals = p->kind == KALLIMA_C2R ? 2 : 1;
    const int64_t out_reals = p->kind == KALLIMA_R2C ? 2 : 1;
    const char *rule = p->kind == KALLIMA_C2C
                           ? "both must be equal"
                           : "the real one must be twice the complex one";
    const int last = p->rank - 1;

    if (in->is_planar != out->is_planar)
        return refuse_in_place(host, "format", in->is_planar, out->is_planar,
                               "both must be equal");
    if (p->kind != KALLIMA_C2C && (in->is_planar || out->is_planar))
        return kal_fail(
            host, KALLIMA_E_ARGUMENT,
            "plan: format = planar does not fit in place: the complex side of "
            "a real transform must be interleaved");
    if (in->offset * in_reals != out->offset * out_reals)
        return refuse_in_place(host, "offset", in->offset, out->offset, rule);
    if (p->batch > 1 && in->batch_stride * in_reals != out->batch_stride * out_reals)
        return refuse_in_place(host, "batch_stride", in->batch_stride, out->batch_stride,
                               rule);
    for (int i = 0; i < p->rank; i++) {
        if (p->n[i] == 1)
            continue;
        const bool is_line = p->kind != KALLIMA_C2C && i == last;
        const bool fits = is_line
                              ? in->stride[i] == 1 && out->stride[i] == 1
                              : in->stride[i] * in_reals == out->stride[i] * out_reals;
        if (!fits)
            return refuse_in_place(host, "stride", in->stride[i], out->stride[i],
                                   is_line ? "both must be 1 on the last axis" : rule);
    }
    return KALLIMA_OK;
}

// In place, the real side of distinct complex lines must be distinct as well.
static kallima_status check_real_input_room(const struct kal_host *host,
                                            const struct kal_problem *p)
{
    const int last = p->rank - 1;
    const struct kal_array *complex = p->kind == KALLIMA_R2C ? &p->out : &p->in;
    int64_t n[KALLIMA_MAX_RANK + 1], stride[KALLIMA_MAX_RANK + 1];

    if (p->kind == KALLIMA_C2C)
        return KALLIMA_OK;
    for (int i = 0; i < p->rank; i++) {
        n[i] = complex->n[i];
        stride[i] = complex->stride[i];
    }
    n[p->rank] = p->batch;
    stride[p->rank] = complex->batch_stride;
    if (kal_strides_distinct(p->rank + 1, n, stride))
        return KALLIMA_OK;
    return kal_fail(
        host, KALLIMA_E_ARGUMENT,
        "plan: n[%d] = %lld does not fit in place: a line needs room for %lld "
        "complex elements",
        last, (long long)p->n[last], (long long)complex->n[last]);
}

kallima_status kal_problem_init(struct kal_problem *p, const struct kal_host *host,
                                const kallima_desc *desc)
{
    KAL_TRY(check_enums(host, desc));
    KAL_TRY(check_lengths(host, desc));

    *p = (struct kal_problem){
        .kind = desc->kind,
        .precision = desc->precision,
        .is_inverse = desc->kind == KALLIMA_C2R || desc->direction == KALLIMA_INVERSE,
        .is_in_place = desc->placement == KALLIMA_IN_PLACE,
        .may_destroy_input = desc->destroy_input != 0,
        .rank = desc->rank,
        .batch = desc->batch ? desc->batch : 1,
        .scale = desc->scale != 0.0 ? desc->scale : 1.0,
    };
    for (int i = 0; i < p->rank; i++)
        p->n[i] = desc->n[i];

    const int64_t last = p->n[p->rank - 1];
    const int64_t half = last / 2 + 1;
    const int64_t real_line = p->is_in_place ? 2 * half : last;
    const bool in_real = p->kind == KALLIMA_R2C, out_real = p->kind == KALLIMA_C2R;
    const int64_t complex_line = p->kind == KALLIMA_C2C ? last : half;
    fill_array(&p->in, &desc->in, p, in_real, in_real ? real_line : complex_line);
    fill_array(&p->out, &desc->out, p, out_real, out_real ? real_line : complex_line);

    KAL_TRY(check_extent(host, &p->in, p, "in"));
    KAL_TRY(check_extent(host, &p->out, p, "out"));
    KAL_TRY(check_distinct(host, p));
    if (p->is_in_place) {
        KAL_TRY(check_in_place(host, p));
        KAL_TRY(check_real_input_room(host, p));
    }
    return KALLIMA_OK;
}
