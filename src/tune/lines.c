// SPDX-License-Identifier: MIT
#include "tune/lines.h"

#include <string.h>

enum {
    PIECE = 1 << 14, // elements of a line that one thread takes at once
    MANY = 1 << 18,  // elements that are worth waiting for other threads
    SUMS = 8,        // that are added up side by side
};

void kal_lines_init(struct kal_lines *l, const struct kal_image *image,
                    const struct kal_array *array, int rank, int64_t batch,
                    int64_t period)
{
    const int64_t points = kal_array_points(array, rank);

    *l = (struct kal_lines){
        .image = image,
        .array = array,
        .outer = rank - 1,
        .length = array->n[rank - 1],
        .stride = array->stride[rank - 1],
        .period_elements = points * period,
        .elements = points * batch,
        .is_shared = points * batch > MANY && kal_array_is_distinct(array, rank, batch),
    };
    while (l->outer > 0 && array->stride[l->outer - 1] == l->stride * l->length)
        l->length *= array->n[--l->outer];
    if (l->outer == 0 && array->batch_stride == l->stride * l->length)
        l->length *= period;
    if (l->outer == 0)
        l->line_stride = array->batch_stride * (l->length / points);
    l->pieces_per_line = (l->length - 1) / PIECE + 1;
    l->pieces_per_period = l->period_elements / l->length * l->pieces_per_line;
    l->pieces = ((l->elements - 1) / l->length + 1) * l->pieces_per_line;
}

// --- pieces and runs ---------------------------------------------------------------------

// A piece of a line.
struct piece {
    int64_t index; // in memory, of the first element
    int64_t first; // which one that is of its period
    int64_t count; // none where the last period ends early
};

static struct piece get_piece(const struct kal_lines *l, int64_t number)
{
    const int64_t line = number / l->pieces_per_line;
    const int64_t at = number % l->pieces_per_line * PIECE;
    const int64_t first = line * l->length + at;
    const int64_t begin = l->outer > 0 ? kal_array_find_line(l->array, l->outer, line)
                                       : l->array->offset + line * l->line_stride;
    return (struct piece){
        .index = begin + at * l->stride,
        .first = first % l->period_elements,
        .count = kal_min(kal_min(PIECE, l->length - at), l->elements - first),
    };
}

// Real numbers of a piece, the same distance apart; so are those of a dense period that they
// correspond to.
struct run {
    unsigned char *at;
    int64_t stride, dense, dense_stride, count;
};

static bool is_whole(const struct kal_lines *l)
{
    return l->stride == 1 && !l->array->is_planar;
}

// One where neighbours are neighbours in memory with both of their parts.
static int count_runs(const struct kal_lines *l)
{
    return is_whole(l) || l->array->is_real ? 1 : 2;
}

static struct run get_run(const struct kal_lines *l, const struct piece *piece, int part)
{
    const int64_t reals = kal_array_reals(l->array);
    const bool whole = is_whole(l);
    return (struct run){
        .at = kal_image_at(l->image, l->array, piece->index, part),
        .stride = whole ? 1 : l->stride * reals,
        .dense = l->array->is_planar ? part * l->period_elements + piece->first
                                     : reals * piece->first + part,
        .dense_stride = whole ? 1 : reals,
        .count = whole ? piece->count * reals : piece->count,
    };
}

// --- one run -----------------------------------------------------------------------------

static double add_up(const double sum[SUMS])
{
    double all = 0.0;
    for (int i = 0; i < SUMS; i++)
        all += sum[i];
    return all;
}

static inline double get_f32(const unsigned char *at, int64_t real)
{
    float value;
    memcpy(&value, at + real * (int64_t)sizeof value, sizeof value);
    return value;
}

static inline double get_f64(const unsigned char *at, int64_t real)
{
    double value;
    memcpy(&value, at + real * (int64_t)sizeof value, sizeof value);
    return value;
}

static inline double square(double a)
{
    return a * a;
}

// Several sums: the additions of one wait for each other. A maximum would hide a NaN.
typedef double squares(const struct run *run, const double *want);

static double squares_f32(const struct run *run, const double *want)
{
    const unsigned char *at = run->at;
    const bool is_dense = run->stride == 1 && run->dense_stride == 1;
    double sum[SUMS] = { 0.0 };
    int64_t i = 0;

    for (; is_dense && i + SUMS <= run->count; i += SUMS) {
        for (int j = 0; j < SUMS; j++)
            sum[j] += square(get_f32(at, i + j) - want[i + j]);
    }
    for (; i < run->count; i++)
        sum[0] += square(get_f32(at, i * run->stride) - want[i * run->dense_stride]);
    return add_up(sum);
}

static double squares_f64(const struct run *run, const double *want)
{
    const unsigned char *at = run->at;
    const bool is_dense = run->stride == 1 && run->dense_stride == 1;
    double sum[SUMS] = { 0.0 };
    int64_t i = 0;

    for (; is_dense && i + SUMS <= run->count; i += SUMS) {
        for (int j = 0; j < SUMS; j++)
            sum[j] += square(get_f64(at, i + j) - want[i + j]);
    }
    for (; i < run->count; i++)
        sum[0] += square(get_f64(at, i * run->stride) - want[i * run->dense_stride]);
    return add_up(sum);
}

static squares *const squares_of[2] = { [false] = squares_f32, [true] = squares_f64 };

static void copy_run(const struct run *to, const struct run *from, int64_t real_bytes)
{
    if (to->stride == 1) {
        memcpy(to->at, from->at, (size_t)(to->count * real_bytes));
        return;
    }
    for (int64_t i = 0; i < to->count; i++) {
        const int64_t at = i * to->stride * real_bytes;
        memcpy(to->at + at, from->at + at, (size_t)real_bytes);
    }
}

static void poison_run(const struct run *run, int64_t real_bytes)
{
    if (run->stride == 1) {
        kal_poison_fill(run->at, (uint64_t)(run->count * real_bytes));
        return;
    }
    for (int64_t i = 0; i < run->count; i++)
        kal_poison_fill(run->at + i * run->stride * real_bytes, (uint64_t)real_bytes);
}

// --- all of them -------------------------------------------------------------------------

static int64_t real_bytes_of(const struct kal_lines *l)
{
    return l->image->is_f64 ? 8 : 4;
}

void kal_lines_repeat(const struct kal_lines *l)
{
#pragma omp parallel for schedule(static) if (l->is_shared)
    for (int64_t i = l->pieces_per_period; i < l->pieces; i++) {
        const struct piece to = get_piece(l, i);
        const struct piece from = get_piece(l, i % l->pieces_per_period);
        for (int part = 0; part < count_runs(l); part++) {
            const struct run target = get_run(l, &to, part);
            const struct run source = get_run(l, &from, part);
            if (to.count > 0)
                copy_run(&target, &source, real_bytes_of(l));
        }
    }
}

void kal_lines_poison(const struct kal_lines *l)
{
#pragma omp parallel for schedule(static) if (l->is_shared)
    for (int64_t i = 0; i < l->pieces; i++) {
        const struct piece piece = get_piece(l, i);
        for (int part = 0; part < count_runs(l); part++) {
            const struct run run = get_run(l, &piece, part);
            if (piece.count > 0)
                poison_run(&run, real_bytes_of(l));
        }
    }
}

bool kal_lines_are_dense(const struct kal_lines *l)
{
    return l->stride == 1;
}

int kal_lines_stretch(const struct kal_lines *l, int64_t number,
                      struct kal_stretch stretch[2])
{
    const struct piece piece = get_piece(l, number);
    const int runs = piece.count > 0 ? count_runs(l) : 0;
    for (int part = 0; part < runs; part++) {
        const struct run run = get_run(l, &piece, part);
        const int array = l->array->is_planar ? part : 0;
        stretch[part] = (struct kal_stretch){
            .array = array,
            .offset = (uint64_t)(run.at - l->image->array[array]),
            .bytes = (uint64_t)(run.count * real_bytes_of(l)),
        };
    }
    return runs;
}

double kal_lines_squares_of(const struct kal_lines *l, int64_t number, const double *want,
                            int64_t *count)
{
    const struct piece piece = get_piece(l, number);
    double sum = 0.0;
    for (int part = 0; part < count_runs(l); part++) {
        const struct run run = get_run(l, &piece, part);
        sum += squares_of[l->image->is_f64](&run, want + run.dense);
    }
    *count += kal_max(0, piece.count);
    return sum;
}

double kal_lines_squares(const struct kal_lines *l, const double *want)
{
    double sum = 0.0;
#pragma omp parallel for schedule(static) reduction(+ : sum) if (l->is_shared)
    for (int64_t i = 0; i < l->pieces; i++) {
        int64_t count = 0;
        sum += kal_lines_squares_of(l, i, want, &count);
    }
    return sum;
}
