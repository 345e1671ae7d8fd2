// SPDX-License-Identifier: MIT
#include "problems.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "view.h"

static const char *const kinds[] = { "c2c", "r2c", "c2r" };
static const char *const precisions[] = { "f32", "f64" };

kallima_desc problem_line(int kind, int precision, int direction, int64_t n)
{
    return (kallima_desc){
        .kind = kind,
        .precision = precision,
        .direction = direction,
        .rank = 1,
        .n = { n },
    };
}

// A random order of the axes, outermost first.
static void shuffle(int *order, int count, struct random *r)
{
    for (int i = 0; i < count; i++)
        order[i] = i;
    for (int i = count - 1; i > 0; i--) {
        const int j = (int)random_between(r, 0, i), kept = order[i];
        order[i] = order[j];
        order[j] = kept;
    }
}

static void set_stride(kallima_layout *layout, int axis, int64_t stride)
{
    *(axis == 0 ? &layout->batch_stride : &layout->stride[axis - 1]) = stride;
}

// Axis 0 is the batch. `unit` keeps the last axis innermost, with stride 1.
static void nest(kallima_layout *layout, const struct view *view, enum style style,
                 bool unit, struct random *r)
{
    int order[VIEW_AXES];
    int64_t stride = 1;

    for (int i = 0; i < view->axes; i++)
        order[i] = i;
    if (style >= STYLE_PERMUTED)
        shuffle(order, view->axes - unit, r);
    layout->offset = random_between(r, 0, 9);
    for (int i = view->axes - 1; i >= 0; i--) {
        const int axis = order[i];
        const bool innermost = unit && i == view->axes - 1;
        stride *= innermost ? 1 : random_between(r, 1, 3);
        const bool reversed =
            style == STYLE_REVERSED && !innermost && random_between(r, 0, 1) == 1;
        set_stride(layout, axis, reversed ? -stride : stride);
        if (reversed)
            layout->offset += stride * (view->n[axis] - 1);
        stride = stride * view->n[axis] + random_between(r, 0, 2);
    }
}

// In place, the complex side decides and the real one has twice its strides.
static void lay_out_in_place(kallima_desc *desc, enum style style, struct random *r)
{
    struct view view;
    kallima_layout *complex_side = desc->kind == KALLIMA_C2R ? &desc->in : &desc->out;
    kallima_layout *other = desc->kind == KALLIMA_C2R ? &desc->out : &desc->in;
    const bool real = desc->kind != KALLIMA_C2C;

    (void)view_build(&view, desc, desc->kind != KALLIMA_C2R);
    if (style != STYLE_PACKED)
        nest(complex_side, &view, style, real, r);
    else
        complex_side->offset = random_between(r, 0, 9);
    complex_side->format = real ? KALLIMA_INTERLEAVED : (int32_t)random_between(r, 0, 1);
    *other = *complex_side;
    if (!real)
        return;
    other->offset *= 2;
    other->batch_stride *= 2;
    for (int i = 0; i < desc->rank - 1; i++)
        other->stride[i] *= 2;
}

void problem_lay_out(kallima_desc *desc, enum style style, struct random *r)
{
    kallima_layout *const sides[2] = { &desc->in, &desc->out };
    struct view view;

    if (desc->placement == KALLIMA_IN_PLACE) {
        lay_out_in_place(desc, style, r);
        return;
    }
    for (int i = 0; i < 2; i++) {
        (void)view_build(&view, desc, i == 1);
        sides[i]->format = (int32_t)random_between(r, 0, 1);
        if (style != STYLE_PACKED)
            nest(sides[i], &view, style, false, r);
        else
            sides[i]->offset = random_between(r, 0, 9);
    }
}

static int64_t random_length(struct random *r, int64_t limit)
{
    static const int64_t favourites[] = { 1, 1, 2, 2, 3, 4, 5, 8, 16, 17, 30, 64, 127 };
    const int64_t pick = random_between(r, 0, 2 * (int64_t)(sizeof favourites / 8) - 1);
    const int64_t n = pick < (int64_t)(sizeof favourites / 8)
                          ? favourites[pick]
                          : random_between(r, 1, limit);
    return n < limit ? n : limit;
}

// Gaps on many axes multiply.
static bool is_spacious(const kallima_desc *d)
{
    enum { MOST = 1 << 20 };
    struct view in, out;
    return !view_build(&in, d, false) || !view_build(&out, d, true) || in.last > MOST ||
           out.last > MOST;
}

kallima_desc problem_random(struct random *r, int64_t points)
{
    static const double scales[] = { 0.0, 0.0, 1.0, 0.375, -2.0 };
    // High ranks are rarer.
    const int ranks = random_between(r, 0, 4) == 0 ? KALLIMA_MAX_RANK : 3;
    kallima_desc d = {
        .kind = (int32_t)random_between(r, 0, KALLIMA_KIND_COUNT - 1),
        .precision = (int32_t)random_between(r, 0, 1),
        .direction = (int32_t)random_between(r, 0, 1),
        .placement = (int32_t)random_between(r, 0, 1),
        .rank = (int32_t)random_between(r, 1, ranks),
        .destroy_input = random_between(r, 0, 3) == 0,
        .scale = scales[random_between(r, 0, 4)],
    };
    if (d.kind == KALLIMA_R2C)
        d.direction = KALLIMA_FORWARD;
    int64_t left = points;
    for (int i = d.rank - 1; i >= 0; i--) {
        d.n[i] = random_length(r, left);
        left /= d.n[i];
    }
    d.batch = random_between(r, 0, 1) ? 0 : random_length(r, left < 40 ? left : 40);
    const kallima_desc packed = d;
    problem_lay_out(&d, (enum style)random_between(r, 0, STYLE_COUNT - 1), r);
    return is_spacious(&d) ? packed : d;
}

struct line {
    char *text;
    size_t capacity, length;
};

static void add(struct line *line, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    if (line->length < line->capacity) {
        const int written = vsnprintf(line->text + line->length,
                                      line->capacity - line->length, fmt, args);
        line->length += written > 0 ? (size_t)written : 0;
    }
    va_end(args);
}

static void add_layout(struct line *line, const char *side, const kallima_layout *l,
                       int rank)
{
    add(line, " %s=%s@%lld:%lld", side, l->format == KALLIMA_PLANAR ? "planar" : "plain",
        (long long)l->offset, (long long)l->batch_stride);
    for (int i = 0; i < rank && i < KALLIMA_MAX_RANK; i++)
        add(line, ",%lld", (long long)l->stride[i]);
}

void problem_print(const kallima_desc *d, char *text, size_t capacity)
{
    struct line line = { text, capacity, 0 };

    if (d->kind >= 0 && d->kind < KALLIMA_KIND_COUNT)
        add(&line, "%s", kinds[d->kind]);
    else
        add(&line, "kind=%d", d->kind);
    add(&line, " %s%s%s", d->precision == KALLIMA_F32 ? "f32" : "f64",
        d->direction == KALLIMA_INVERSE ? " inverse" : " forward",
        d->placement == KALLIMA_IN_PLACE ? " in-place" : "");
    for (int i = 0; i < d->rank && i < KALLIMA_MAX_RANK; i++)
        add(&line, "%c%lld", i == 0 ? ' ' : 'x', (long long)d->n[i]);
    add(&line, " batch=%lld scale=%g destroy=%d", (long long)d->batch, d->scale,
        d->destroy_input);
    add_layout(&line, "in", &d->in, d->rank);
    add_layout(&line, "out", &d->out, d->rank);
}

static int find_name(const char *const *names, int count, const char *name)
{
    for (int i = 0; i < count; i++) {
        if (strcmp(names[i], name) == 0)
            return i;
    }
    return -1;
}

bool problem_parse(const char *line, kallima_desc *d, char lengths[PROBLEM_LENGTHS_BYTES])
{
    char kind[8], precision[8];
    long long batch = 0;

    *d = (kallima_desc){ 0 };
    if (sscanf(line, "%7s %7s %31s %lld", kind, precision, lengths, &batch) != 4)
        return false;
    d->kind = find_name(kinds, 3, kind);
    d->precision = find_name(precisions, 2, precision);
    d->batch = batch;
    for (const char *at = lengths; d->rank < KALLIMA_MAX_RANK; at++) {
        char *end;
        d->n[d->rank++] = strtoll(at, &end, 10);
        at = end;
        if (*at != 'x')
            break;
    }
    return d->kind >= 0 && d->precision >= 0;
}
