// SPDX-License-Identifier: MIT
// Single outputs of a large transform by the definition: a sum over all inputs in extended
// precision, for lengths at which the whole transform in quad precision takes too long.
#include <math.h>
#include <stdlib.h>

#include "bench_data.h"

enum { BLOCK = 1024 };

struct wide {
    long double re, im;
};

static struct wide mul(struct wide a, struct wide b)
{
    return (struct wide){ a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re };
}

static struct wide add(struct wide a, struct wide b)
{
    return (struct wide){ a.re + b.re, a.im + b.im };
}

// The roots of one output: exp(sign * 2*pi*i * j * k / n) on every axis. The last axis is
// split in blocks: fine within a block, coarse from block to block.
struct sample {
    const struct data *data;
    int64_t batch;
    struct wide fine[BLOCK];
    struct wide *axis[KALLIMA_MAX_RANK];
};

static void sample_clear(struct sample *sample)
{
    for (int i = 0; i < KALLIMA_MAX_RANK; i++)
        free(sample->axis[i]);
}

// exp(sign * 2*pi*i * j * step * k / n) for j = 0 .. count-1
static void fill_roots(struct wide *root, int64_t count, int64_t n, int64_t k,
                       int64_t step)
{
    const int64_t first = (int64_t)((__int128)k * step % n);
    for (int64_t j = 0; j < count; j++) {
        const struct quad_complex w =
            reference_root(n, (int64_t)((__int128)first * j % n));
        root[j] = (struct wide){ (long double)w.re, (long double)w.im };
    }
}

static int sample_init(struct sample *sample, const struct data *data, int64_t batch,
                       int64_t index)
{
    const struct side *in = &data->in, *out = &data->out;
    const bool forward =
        data->desc->kind != KALLIMA_C2R && data->desc->direction == KALLIMA_FORWARD;

    *sample = (struct sample){ .data = data, .batch = batch };
    for (int i = in->rank - 1; i >= 0; i--) {
        const int64_t n = data->desc->n[i];
        const int64_t k = forward ? (n - index % out->n[i]) % n : index % out->n[i];
        const bool is_last = i == in->rank - 1;
        const int64_t count = is_last ? (in->n[i] + BLOCK - 1) / BLOCK : in->n[i];
        index /= out->n[i];
        sample->axis[i] = malloc((size_t)count * sizeof *sample->axis[i]);
        if (!sample->axis[i])
            return -1;
        fill_roots(sample->axis[i], count, n, k, is_last ? BLOCK : 1);
        if (is_last)
            fill_roots(sample->fine, in->n[i] < BLOCK ? in->n[i] : BLOCK, n, k, 1);
    }
    return 0;
}

// Half of a real transform stands for both halves: inner coefficients count twice.
static long double weight(const struct data *data, int64_t j)
{
    const int64_t n = data->desc->n[data->in.rank - 1];
    return data->desc->kind != KALLIMA_C2R || j == 0 || 2 * j == n ? 1 : 2;
}

// The sum along one line of the last axis.
static struct wide sum_line(const struct sample *sample, int64_t line)
{
    const struct side *in = &sample->data->in;
    const int64_t length = in->n[in->rank - 1];
    struct wide total = { 0, 0 };

    for (int64_t start = 0; start < length; start += BLOCK) {
        struct wide sum = { 0, 0 };
        for (int64_t j = start; j < start + BLOCK && j < length; j++) {
            const struct quad_complex q =
                data_input(sample->data, sample->batch, line * length + j);
            const long double w = weight(sample->data, j);
            const struct wide x = { w * (double)q.re, w * (double)q.im };
            sum = add(sum, mul(x, sample->fine[j - start]));
        }
        total = add(total, mul(sum, sample->axis[in->rank - 1][start / BLOCK]));
    }
    return total;
}

// The root that a line is multiplied by: one factor from every axis but the last.
static struct wide line_root(const struct sample *sample, int64_t line)
{
    const struct side *in = &sample->data->in;
    struct wide root = { 1, 0 };
    for (int i = in->rank - 2; i >= 0; i--) {
        root = mul(root, sample->axis[i][line % in->n[i]]);
        line /= in->n[i];
    }
    return root;
}

static struct quad_complex sum_all(const struct sample *sample)
{
    const struct side *in = &sample->data->in;
    struct wide total = { 0, 0 };
    for (int64_t line = 0; line < in->count / in->n[in->rank - 1]; line++)
        total = add(total, mul(sum_line(sample, line), line_root(sample, line)));
    const bool is_real = sample->data->desc->kind == KALLIMA_C2R;
    return (struct quad_complex){ total.re, is_real ? 0 : total.im };
}

int data_sample(const struct data *data, int64_t batch, int count, const int64_t *index,
                struct quad_complex *want)
{
    int failed = 0;
    PARALLEL_FOR(count * data->in.count)
    for (int i = 0; i < count; i++) {
        struct sample sample;
        if (sample_init(&sample, data, batch, index[i])) {
#if defined _OPENMP
#pragma omp atomic write
#endif
            failed = 1;
        } else {
            want[i] = sum_all(&sample);
        }
        sample_clear(&sample);
    }
    return failed ? -1 : 0;
}
