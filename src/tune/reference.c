// SPDX-License-Identifier: MIT
#include "tune/reference.h"

#include "math/number.h"

#include <kallima/kallima.h>
#include <math.h>

enum {
    BLOCK_POINTS = 1 << 16
}; // transformed at once, or one transform if that is longer

// Source: G. L. Steele, D. Lea, C. H. Flood, OOPSLA 2014, 453-472 (splitmix64).
static uint64_t mix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

// Variance 1. The irrational factor puts all bits of the mantissa to use.
static double uniform(uint64_t seed, uint64_t number)
{
    const double root3 = 1.7320508075688772;
    return root3 * ((double)(mix(seed + number) >> 11) * 0x1p-52 - 1.0);
}

// The element whose conjugate element `i` of a half spectrum is: of the same transform, in
// rows of `line` elements, which must be stored.
static int64_t mirror(const struct kal_problem *p, int64_t i, int64_t line, int64_t k)
{
    const int last = p->rank - 1;
    int64_t result = (p->n[last] - k) % p->n[last], weight = line;
    for (int axis = last - 1; axis >= 0; axis--) {
        const int64_t n = p->n[axis];
        result += (n - i % n) % n * weight;
        weight *= n;
        i /= n;
    }
    return result;
}

// --- input -------------------------------------------------------------------------------

// The number that decides an element's random parts, and the sign of the imaginary one. Where
// a column of a half spectrum is its own mirror image, the earlier of two elements decides.
static int64_t decide(const struct kal_problem *p, int64_t i, double *sign)
{
    const int64_t n = p->n[p->rank - 1], line = p->in.n[p->rank - 1], k = i % line;

    *sign = 1.0;
    if (p->kind != KALLIMA_C2R || (k != 0 && 2 * k != n))
        return i;
    const int64_t other = mirror(p, i / line, line, k);
    *sign = other == i ? 0.0 : other < i ? -1.0 : 1.0;
    return kal_min(i, other);
}

void kal_reference_fill(struct kal_image *input, const struct kal_problem *p,
                        uint64_t seed)
{
    const struct kal_array *in = &p->in;
    const int64_t points = kal_array_points(in, p->rank), line = in->n[p->rank - 1];
    const int64_t stride = in->stride[p->rank - 1], rows = points / line;

    for (int64_t row = 0; row < rows * p->batch; row++) {
        const uint64_t first = (uint64_t)(row / rows) * (uint64_t)points;
        int64_t index = kal_array_find_row(in, p->rank, row);
        for (int64_t i = 0; i < line; i++, index += stride) {
            double sign;
            const uint64_t number =
                2 * (first + (uint64_t)decide(p, row % rows * line + i, &sign));
            kal_image_set(input, in, index, 0, uniform(mix(seed), number));
            if (!in->is_real)
                kal_image_set(input, in, index, 1, sign * uniform(mix(seed), number + 1));
        }
    }
}

// --- one block ---------------------------------------------------------------------------

struct work {
    const struct kal_problem *problem;
    const struct kal_image *input;
    int64_t points, block; // of a whole complex transform; transforms of a block
    kallima_device *cpu;
    kallima_plan *plan;
    double *x; // a block
    struct kal_probe probe;
    struct kal_root *sums; // of a block's inputs
};

static void get_input(const struct work *w, int64_t index, double *x)
{
    const struct kal_array *in = &w->problem->in;
    x[0] = kal_image_get(w->input, in, index, 0);
    x[1] = in->is_real ? 0.0 : kal_image_get(w->input, in, index, 1);
}

static int64_t find_element(const struct kal_array *array, int rank, int64_t element)
{
    const int64_t line = array->n[rank - 1];
    return kal_array_find_row(array, rank, element / line) +
           element % line * array->stride[rank - 1];
}

// The part of a spectrum of real data that is not stored: conjugates of what is.
static void complete(const struct work *w, int64_t transform, double *x)
{
    const struct kal_problem *p = w->problem;
    const int64_t n = p->n[p->rank - 1], line = p->in.n[p->rank - 1];
    const int64_t stored = kal_array_points(&p->in, p->rank);

    for (int64_t i = 0; i < w->points; i++) {
        if (i % n < line)
            continue;
        const int64_t other = mirror(p, i / n, line, i % n);
        get_input(w, find_element(&p->in, p->rank, transform * stored + other),
                  x + 2 * i);
        x[2 * i + 1] = -x[2 * i + 1];
    }
}

// One transform's input to a dense complex array.
static void gather(const struct work *w, int64_t transform, double *x)
{
    const struct kal_problem *p = w->problem;
    const int64_t n = p->n[p->rank - 1], line = p->in.n[p->rank - 1];
    const int64_t rows = w->points / n, stride = p->in.stride[p->rank - 1];

    for (int64_t row = 0; row < rows; row++) {
        int64_t index = kal_array_find_row(&p->in, p->rank, transform * rows + row);
        for (int64_t i = 0; i < line; i++, index += stride)
            get_input(w, index, x + 2 * (row * n + i));
    }
    if (p->kind == KALLIMA_C2R)
        complete(w, transform, x);
}

// What of one transform is stored, scaled, to *want, which moves behind it.
static void keep(const struct work *w, const double *x, double **want, double *power)
{
    const struct kal_problem *p = w->problem;
    const int64_t n = p->n[p->rank - 1], line = p->out.n[p->rank - 1];

    for (int64_t i = 0; i < w->points; i++) {
        if (i % n >= line)
            continue;
        for (int part = 0; part <= !p->out.is_real; part++) {
            const double value = x[2 * i + part] * p->scale;
            *power += value * value;
            *(*want)++ = value;
        }
    }
}

// --- the definition ----------------------------------------------------------------------

bool kal_reference_agrees(const struct kal_probe *probe, const struct kal_root *inputs,
                          const double *outputs, int64_t count, double bound)
{
    enum { FAR = 32 }; // times what rounding errors add to: more is another result
    int64_t points = 1;
    for (int i = 0; i < probe->rank; i++)
        points *= probe->axis[i].n;

    for (int64_t t = 0; t < count; t++, outputs += 2 * points) {
        const struct kal_root sum = kal_probe_outputs(probe, outputs);
        long double power = 0.0L;
        for (int64_t i = 0; i < 2 * points; i++)
            power += (long double)outputs[i] * outputs[i];
        const long double most = FAR * bound * sqrtl(power);
        // Also false where one of them is no number.
        if (!(hypotl(sum.re - inputs[t].re, sum.im - inputs[t].im) <= most))
            return false;
    }
    return true;
}

// The first block is compared with the definition; the others are the same plan's.
static kallima_status prove(const struct work *w, const struct kal_host *host,
                            int64_t count)
{
    if (kal_reference_agrees(&w->probe, w->sums, w->x, count,
                             kal_reference_bound(w->problem, true)))
        return KALLIMA_OK;
    return kal_fail(
        host, KALLIMA_E_DEVICE,
        "tune: the reference differs from the definition: the CPU's result in "
        "f64 is wrong");
}

static kallima_status run_block(const struct work *w, const struct kal_host *host,
                                int64_t first, struct kal_reference *reference,
                                double **want)
{
    const int64_t count = kal_min(w->block, w->problem->batch - first);
    for (int64_t t = 0; t < w->block; t++) { // the last block may repeat transforms
        double *x = w->x + 2 * t * w->points;
        gather(w, first + t % count, x);
        if (first == 0)
            w->sums[t] = kal_probe_inputs(&w->probe, x);
    }
    KAL_TRY(kallima_plan_run(w->plan, w->x, w->x));
    if (first == 0)
        KAL_TRY(prove(w, host, w->block));
    for (int64_t t = 0; t < count; t++)
        keep(w, w->x + 2 * t * w->points, want, &reference->power);
    return KALLIMA_OK;
}

// --- all of it ---------------------------------------------------------------------------

static int64_t block_of(const struct kal_problem *p)
{
    const double points = kal_problem_points(p) / (double)p->batch;
    return kal_max(1, kal_min(p->batch, (int64_t)(BLOCK_POINTS / points)));
}

static uint64_t want_bytes(const struct kal_problem *p)
{
    const int64_t points = kal_array_points(&p->out, p->rank);
    return (uint64_t)(points * p->batch) * (p->out.is_real ? 8 : 16);
}

uint64_t kal_reference_bytes(const struct kal_problem *p)
{
    enum {
        AT_WORK = 3 * 16
    }; // a point of a block: itself, the plan's scratch and tables
    const double points = kal_problem_points(p) / (double)p->batch;
    return want_bytes(p) + (uint64_t)((double)block_of(p) * points * AT_WORK);
}

static kallima_status open_cpu(struct work *w, const struct kal_host *host,
                               bool is_scalar)
{
    const kallima_device_options options = {
        .log = host->log,
        .log_user = host->log_user,
        .allocator = host->allocator,
        .simd = is_scalar ? "scalar" : NULL,
    };
    return kallima_device_open(&w->cpu, "cpu", &options);
}

static kallima_status plan(struct work *w)
{
    const struct kal_problem *p = w->problem;
    kallima_desc desc = {
        .kind = KALLIMA_C2C,
        .precision = KALLIMA_F64,
        .direction = p->is_inverse ? KALLIMA_INVERSE : KALLIMA_FORWARD,
        .placement = KALLIMA_IN_PLACE,
        .rank = p->rank,
        .batch = w->block,
    };
    for (int i = 0; i < p->rank; i++)
        desc.n[i] = p->n[i];
    return kallima_plan_create(&w->plan, w->cpu, &desc, NULL);
}

static kallima_status prepare(struct work *w, const struct kal_host *host, bool is_scalar)
{
    enum { SEED = 2718281 };
    void *memory;
    KAL_TRY(open_cpu(w, host, is_scalar));
    KAL_TRY(plan(w));
    KAL_TRY(kal_alloc(host, &memory, (uint64_t)w->block,
                      (uint64_t)w->points * 2 * sizeof *w->x));
    w->x = memory;
    KAL_TRY(kal_alloc(host, &memory, (uint64_t)w->block, sizeof *w->sums));
    w->sums = memory;
    return kal_probe_init(&w->probe, host, w->problem->rank, w->problem->n,
                          w->problem->is_inverse, SEED);
}

static void clear(struct work *w, const struct kal_host *host)
{
    kal_probe_clear(&w->probe);
    kal_free(host, w->sums);
    kal_free(host, w->x);
    kallima_plan_destroy(&w->plan);
    kallima_device_close(&w->cpu);
}

static kallima_status transform(struct kal_reference *reference, struct work *w,
                                const struct kal_host *host, bool is_scalar)
{
    void *memory;
    KAL_TRY(kal_alloc(host, &memory, 1, want_bytes(w->problem)));
    reference->want = memory;
    KAL_TRY(prepare(w, host, is_scalar));
    double *want = reference->want;
    for (int64_t first = 0; first < w->problem->batch; first += w->block)
        KAL_TRY(run_block(w, host, first, reference, &want));
    return KALLIMA_OK;
}

kallima_status kal_reference_init(struct kal_reference *reference,
                                  const struct kal_host *host,
                                  const struct kal_problem *problem,
                                  const struct kal_image *input, bool is_scalar)
{
    struct work w = {
        .problem = problem,
        .input = input,
        .points = (int64_t)(kal_problem_points(problem) / (double)problem->batch),
        .block = block_of(problem),
    };

    *reference = (struct kal_reference){ 0 };
    const kallima_status status = transform(reference, &w, host, is_scalar);
    clear(&w, host);
    if (status)
        kal_reference_clear(reference, host);
    return status;
}

void kal_reference_clear(struct kal_reference *reference, const struct kal_host *host)
{
    kal_free(host, reference->want);
    *reference = (struct kal_reference){ 0 };
}

double kal_reference_bound(const struct kal_problem *p, bool is_f64)
{
    const double points = kal_problem_points(p) / (double)p->batch;
    double factor = 0.75;
    for (int i = 0; i < p->rank; i++) {
        if (kal_greatest_prime(p->n[i]) > 13)
            factor = 1.5;
    }
    return factor * (is_f64 ? 0x1p-53 : 0x1p-24) * sqrt(fmax(1.0, log2(points)));
}
