// SPDX-License-Identifier: MIT
#include "tune/probe.h"

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
    return KALLIMA_OK;
}

void kal_probe_clear(struct kal_probe *probe)
{
    for (int i = 0; i < probe->rank; i++)
        kal_root_table_clear(&probe->axis[i].roots);
}

// A factor of one index on one axis.
typedef struct kal_root factor(const struct kal_probe_axis *axis, bool is_inverse,
                               int64_t index);

static struct kal_root output_factor(const struct kal_probe_axis *axis, bool is_inverse,
                                     int64_t k)
{
    (void)is_inverse;
    // k and first are below 2^57 and 2^58; their product need not fit 64 bits.
    const __int128 turn = (__int128)2 * k * axis->first % (4 * axis->n);
    return kal_root_table_get(&axis->roots, (int64_t)turn);
}

// 1 - i * cot. Next to the pole the table's roots err by about sqrt(n) times as much as others,
// of what long double resolves: far less than f64 does.
static struct kal_root input_factor(const struct kal_probe_axis *axis, bool is_inverse,
                                    int64_t j)
{
    const int64_t n = axis->n,
                  t = (axis->first + (is_inverse ? -2 * j : 2 * j)) % (2 * n);
    const struct kal_root r = kal_root_table_get(&axis->roots, t < 0 ? t + 2 * n : t);
    return (struct kal_root){ 1.0L, r.re / r.im };
}

// The sum over the axes from `axis` on; *x moves behind what was read.
static struct kal_root fold(const struct kal_probe *probe, int axis, const double **x,
                            factor *get)
{
    struct kal_root sum = { 0.0L, 0.0L };
    if (axis == probe->rank) {
        sum = (struct kal_root){ (*x)[0], (*x)[1] };
        *x += 2;
        return sum;
    }
    for (int64_t i = 0; i < probe->axis[axis].n; i++) {
        const struct kal_root f = get(&probe->axis[axis], probe->is_inverse, i);
        const struct kal_root v = fold(probe, axis + 1, x, get);
        sum.re += f.re * v.re - f.im * v.im;
        sum.im += f.re * v.im + f.im * v.re;
    }
    return sum;
}

struct kal_root kal_probe_inputs(const struct kal_probe *probe, const double *x)
{
    return fold(probe, 0, &x, input_factor);
}

struct kal_root kal_probe_outputs(const struct kal_probe *probe, const double *x)
{
    return fold(probe, 0, &x, output_factor);
}
