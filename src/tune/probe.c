// SPDX-License-Identifier: MIT
#include "tune/probe.h"

#include <stdatomic.h>

enum {
    BLOCK = 1 << 10,
    MANY = 1 << 17, // points that are worth waiting for other threads
};

// The exponent, of a root of order 4 n, that indices on an axis add: 2 k first of outputs, and
// 2 s j of inputs, s the sign.
static int64_t output_turn(const struct kal_probe_axis *axis, int64_t k)
{
    // k and first are below 2^57 and 2^58; their product need not fit 64 bits.
    return (int64_t)((__int128)2 * k * axis->first % (4 * axis->n));
}

static int64_t input_turn(const struct kal_probe_axis *axis, bool is_inverse, int64_t j)
{
    return is_inverse && j > 0 ? 4 * axis->n - 2 * j : 2 * j;
}

static kallima_status make_block(struct kal_probe *probe, const struct kal_host *host)
{
    const struct kal_probe_axis *last = &probe->axis[probe->rank - 1];
    void *memory;

    probe->block = kal_min(BLOCK, last->n);
    KAL_TRY(kal_alloc(host, &memory, 2 * (uint64_t)probe->block, sizeof *probe->input));
    probe->input = memory;
    probe->output = probe->input + probe->block;
    for (int64_t i = 0; i < probe->block; i++) {
        probe->input[i] =
            kal_root_table_get(&last->roots, input_turn(last, probe->is_inverse, i));
        probe->output[i] = kal_root_table_get(&last->roots, output_turn(last, i));
    }
    return KALLIMA_OK;
}

kallima_status kal_probe_init(struct kal_probe *probe, const struct kal_host *host,
                              int rank, const int64_t *n, bool is_inverse, uint64_t seed)
{
    *probe = (struct kal_probe){ .rank = rank, .is_inverse = is_inverse };
    for (int i = 0; i < rank; i++) {
        struct kal_probe_axis *axis = &probe->axis[i];
        axis->n = n[i];
        axis->first = 2 * (int64_t)(seed % (uint64_t)n[i]) + 1;
        KAL_TRY(kal_root_table_init(&axis->roots, host, 4 * n[i]));
    }
    return make_block(probe, host);
}

void kal_probe_clear(struct kal_probe *probe)
{
    for (int i = 0; i < probe->rank; i++)
        kal_root_table_clear(&probe->axis[i].roots);
    if (probe->rank > 0)
        kal_free(probe->axis[0].roots.host, probe->input);
    probe->input = probe->output = NULL;
}

int64_t kal_probe_points(const struct kal_probe *probe)
{
    int64_t points = 1;
    for (int i = 0; i < probe->rank; i++)
        points *= probe->axis[i].n;
    return points;
}

static struct kal_root multiply(struct kal_root a, struct kal_root b)
{
    return (struct kal_root){ a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re };
}

// 1 - i * cot of a root of odd exponent. Next to the pole roots err by about sqrt(n) times as
// much as others, of what long double resolves: far less than f64 does.
static struct kal_root cotangent(struct kal_root r)
{
    return (struct kal_root){ 1.0L, r.re / r.im };
}

// --- one block ---------------------------------------------------------------------------

// Points of one row, from one on.
struct stretch {
    int64_t row, begin, count;
    const double *x;
};

static struct stretch get_stretch(const struct kal_probe *probe, int64_t per_row,
                                  int64_t number, const double *x)
{
    const int64_t n = probe->axis[probe->rank - 1].n;
    const int64_t row = number / per_row, begin = number % per_row * probe->block;
    return (struct stretch){ row, begin, kal_min(probe->block, n - begin),
                             x + 2 * (row * n + begin) };
}

static struct kal_root input_root(const struct kal_probe_axis *axis, bool is_inverse,
                                  int64_t j)
{
    const int64_t turn = axis->first + input_turn(axis, is_inverse, j);
    return kal_root_table_get(&axis->roots, turn % (4 * axis->n));
}

// The factor that a row has by its indices on the other axes.
static struct kal_root row_factor(const struct kal_probe *probe, int64_t row,
                                  bool is_output)
{
    struct kal_root factor = { 1.0L, 0.0L };
    for (int i = probe->rank - 2; i >= 0; i--) {
        const struct kal_probe_axis *axis = &probe->axis[i];
        const int64_t k = row % axis->n;
        factor = multiply(
            factor, is_output ? kal_root_table_get(&axis->roots, output_turn(axis, k))
                              : cotangent(input_root(axis, probe->is_inverse, k)));
        row /= axis->n;
    }
    return factor;
}

struct total {
    long double re, im;
    double power;
};

// What one stretch adds to the sum, as inputs or outputs have it.
typedef struct total sum_stretch(const struct kal_probe *probe, const struct stretch *s);

static struct total sum_inputs(const struct kal_probe *probe, const struct stretch *s)
{
    const struct kal_probe_axis *last = &probe->axis[probe->rank - 1];
    const struct kal_root base = input_root(last, probe->is_inverse, s->begin);
    struct kal_root sum = { 0.0L, 0.0L };

    for (int64_t i = 0; i < s->count; i++) {
        const struct kal_root f = cotangent(multiply(base, probe->input[i]));
        sum.re += s->x[2 * i] - f.im * s->x[2 * i + 1];
        sum.im += s->x[2 * i + 1] + f.im * s->x[2 * i];
    }
    sum = multiply(sum, row_factor(probe, s->row, false));
    return (struct total){ sum.re, sum.im, 0.0 };
}

static struct total sum_outputs(const struct kal_probe *probe, const struct stretch *s)
{
    const struct kal_probe_axis *last = &probe->axis[probe->rank - 1];
    const struct kal_root base =
        kal_root_table_get(&last->roots, output_turn(last, s->begin));
    struct kal_root sum = { 0.0L, 0.0L };
    double power = 0.0;

    for (int64_t i = 0; i < s->count; i++) {
        const double re = s->x[2 * i], im = s->x[2 * i + 1];
        const struct kal_root f = probe->output[i];
        sum.re += f.re * re - f.im * im;
        sum.im += f.re * im + f.im * re;
        power += re * re + im * im;
    }
    sum = multiply(multiply(sum, base), row_factor(probe, s->row, true));
    return (struct total){ sum.re, sum.im, power };
}

// --- all of them -------------------------------------------------------------------------

static void add_total(struct total *sum, struct total more)
{
    sum->re += more.re;
    sum->im += more.im;
    sum->power += more.power;
}

static struct total sum_all(const struct kal_probe *probe, const double *x,
                            sum_stretch *get)
{
    const int64_t n = probe->axis[probe->rank - 1].n;
    const int64_t points = kal_probe_points(probe), per_row = (n - 1) / probe->block + 1;
    const int64_t count = points / n * per_row;
    struct total all = { 0 };

    if (count == 1) { // even asking for no other threads would cost as much
        const struct stretch s = get_stretch(probe, per_row, 0, x);
        return get(probe, &s);
    }
    // No reduction: of long double clang would make calls of libatomic; and a critical
    // section has a global name.
    atomic_flag is_adding = ATOMIC_FLAG_INIT;
#pragma omp parallel if (points > MANY)
    {
        struct total own = { 0 };
#pragma omp for schedule(static) nowait
        for (int64_t i = 0; i < count; i++) {
            const struct stretch s = get_stretch(probe, per_row, i, x);
            add_total(&own, get(probe, &s));
        }
        while (atomic_flag_test_and_set_explicit(&is_adding, memory_order_acquire))
            ;
        add_total(&all, own);
        atomic_flag_clear_explicit(&is_adding, memory_order_release);
    }
    return all;
}

struct kal_root kal_probe_inputs(const struct kal_probe *probe, const double *x)
{
    const struct total sum = sum_all(probe, x, sum_inputs);
    return (struct kal_root){ sum.re, sum.im };
}

struct kal_root kal_probe_outputs(const struct kal_probe *probe, const double *x,
                                  double *power)
{
    const struct total sum = sum_all(probe, x, sum_outputs);
    *power = sum.power;
    return (struct kal_root){ sum.re, sum.im };
}
