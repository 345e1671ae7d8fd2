// SPDX-License-Identifier: MIT
#include "problem/problem.h"

static const char *const kind_names[] = { "c2c", "r2c", "c2r" };
static const char *const precision_names[] = { "f32", "f64" };

static void print_lengths(struct kal_text *text, const struct kal_problem *p)
{
    kal_text_add(text, " n=%lld", (long long)p->n[0]);
    for (int i = 1; i < p->rank; i++)
        kal_text_add(text, "x%lld", (long long)p->n[i]);
}

static void print_array(struct kal_text *text, const char *side, int rank,
                        const struct kal_array *array)
{
    kal_text_add(text, " %s=%s", side,
                 array->is_real     ? "real"
                 : array->is_planar ? "planar"
                                    : "interleaved");
    kal_text_add(text, "@%lld", (long long)array->offset);
    kal_text_add(text, ":%lld", (long long)array->batch_stride);
    for (int i = 0; i < rank; i++)
        kal_text_add(text, ",%lld", (long long)array->stride[i]);
}

void kal_problem_print(struct kal_text *text, const struct kal_problem *p)
{
    kal_text_add(text, "%s %s", kind_names[p->kind], precision_names[p->precision]);
    print_lengths(text, p);
    kal_text_add(text, " batch=%lld %s %s", (long long)p->batch,
                 p->is_inverse ? "inverse" : "forward",
                 p->is_in_place ? "in-place" : "out-of-place");
    if (p->may_destroy_input)
        kal_text_add(text, " destroy-input");
    if (p->scale != 1.0)
        kal_text_add(text, " scale=%.17g", p->scale);
    print_array(text, "in", p->rank, &p->in);
    print_array(text, "out", p->rank, &p->out);
}

static kallima_layout describe_array(const struct kal_array *array, int rank)
{
    kallima_layout layout = {
        .format = array->is_planar ? KALLIMA_PLANAR : KALLIMA_INTERLEAVED,
        .offset = array->offset,
        .batch_stride = array->batch_stride,
    };
    for (int i = 0; i < rank; i++)
        layout.stride[i] = array->stride[i];
    return layout;
}

kallima_desc kal_problem_describe(const struct kal_problem *p)
{
    kallima_desc desc = {
        .kind = p->kind,
        .precision = p->precision,
        .direction = p->is_inverse ? KALLIMA_INVERSE : KALLIMA_FORWARD,
        .placement = p->is_in_place ? KALLIMA_IN_PLACE : KALLIMA_OUT_OF_PLACE,
        .rank = p->rank,
        .destroy_input = p->may_destroy_input,
        .batch = p->batch,
        .scale = p->scale,
        .in = describe_array(&p->in, p->rank),
        .out = describe_array(&p->out, p->rank),
    };
    for (int i = 0; i < p->rank; i++)
        desc.n[i] = p->n[i];
    return desc;
}

static void pack(struct kal_array *array, int rank)
{
    int64_t elements = 1;

    for (int i = rank - 1; i >= 0; i--) {
        array->stride[i] = elements;
        elements *= array->n[i];
    }
    array->is_planar = false;
    array->offset = 0;
    array->batch_stride = array->elements = elements;
}

struct kal_problem kal_problem_packed(const struct kal_problem *p)
{
    struct kal_problem packed = *p;

    packed.is_in_place = packed.may_destroy_input = false;
    packed.batch = 1;
    pack(&packed.in, p->rank);
    pack(&packed.out, p->rank);
    return packed;
}

double kal_problem_points(const struct kal_problem *p)
{
    double points = (double)p->batch;
    for (int i = 0; i < p->rank; i++)
        points *= (double)p->n[i];
    return points;
}
