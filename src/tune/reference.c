// SPDX-License-Identifier: MIT
#include "tune/reference.h"

#include "math/number.h"
#include "tune/lines.h"

#include <kallima/kallima.h>
#include <math.h>

enum {
    BLOCK_POINTS = 1 << 16, // transformed at once, or one transform if that is longer
    PERIOD_POINTS = 100000, // that a period has at least, if the batch does
    PIECE = 1 << 14,        // points of a row that one thread takes at once
    MANY = 1 << 17,         // that are worth waiting for other threads: more than a block
};

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

// The row whose conjugates row `row` of a spectrum of real data holds, in reverse.
static int64_t mirror_row(const struct kal_problem *p, int64_t row)
{
    int64_t result = 0, weight = 1;
    for (int axis = p->rank - 2; axis >= 0; axis--) {
        const int64_t n = p->n[axis];
        result += (n - row % n) % n * weight;
        weight *= n;
        row /= n;
    }
    return result;
}

// Below powers of two, and no divisors of 65535.
int64_t kal_reference_period(const struct kal_problem *p)
{
    static const int primes[] = { 7,    13,   31,   61,    127,   251,   509,   1021,
                                  2039, 4093, 8191, 16381, 32749, 65521, 131071 };
    const double points = kal_problem_points(p) / (double)p->batch;
    size_t i = 0;

    while (i + 1 < KAL_COUNT(primes) && primes[i] * points < PERIOD_POINTS)
        i++;
    return p->batch <= primes[i] || !kal_array_is_distinct(&p->in, p->rank, p->batch)
               ? p->batch
               : primes[i];
}

// --- rows, cut for threads ---------------------------------------------------------------

// Elements of one row.
struct span {
    int64_t row, begin, end;
};

// Rows in spans that threads share out, if that is worth while.
struct cut {
    int64_t line, per_row, count;
    bool is_shared;
};

static struct cut make_cut(int64_t rows, int64_t line)
{
    const int64_t per_row = (line - 1) / PIECE + 1;
    return (struct cut){ line, per_row, rows * per_row, rows * line > MANY };
}

static struct span get_span(const struct cut *cut, int64_t number)
{
    const int64_t begin = number % cut->per_row * PIECE;
    return (struct span){ number / cut->per_row, begin,
                          kal_min(begin + PIECE, cut->line) };
}

// --- input -------------------------------------------------------------------------------

// The number that decides an element's random parts, and the sign of the imaginary one. Where
// a column of a half spectrum is its own mirror image, the earlier of two elements decides.
static int64_t decide(const struct kal_problem *p, int64_t row, int64_t k, double *sign)
{
    const int64_t n = p->n[p->rank - 1], line = p->in.n[p->rank - 1], i = row * line + k;

    *sign = 1.0;
    if (p->kind != KALLIMA_C2R || (k != 0 && 2 * k != n))
        return i;
    const int64_t other = mirror_row(p, row) * line + k;
    *sign = other == i ? 0.0 : other < i ? -1.0 : 1.0;
    return kal_min(i, other);
}

static void fill_span(struct kal_image *input, const struct kal_problem *p,
                      const struct span *span, uint64_t seed)
{
    const struct kal_array *in = &p->in;
    const int64_t rows = kal_array_points(in, p->rank) / in->n[p->rank - 1];
    const int64_t stride = in->stride[p->rank - 1];
    const uint64_t first =
        (uint64_t)(span->row / rows) * (uint64_t)kal_array_points(in, p->rank);
    int64_t index = kal_array_find_row(in, p->rank, span->row) + span->begin * stride;

    for (int64_t k = span->begin; k < span->end; k++, index += stride) {
        double sign;
        const uint64_t number =
            2 * (first + (uint64_t)decide(p, span->row % rows, k, &sign));
        kal_image_set(input, in, index, 0, uniform(seed, number));
        if (!in->is_real)
            kal_image_set(input, in, index, 1, sign * uniform(seed, number + 1));
    }
}

void kal_reference_fill(struct kal_image *input, const struct kal_problem *p,
                        uint64_t seed)
{
    const int64_t period = kal_reference_period(p), line = p->in.n[p->rank - 1];
    const struct cut cut =
        make_cut(kal_array_points(&p->in, p->rank) / line * period, line);
    struct kal_lines lines;

    // Where elements share memory, the last one written stays: in the order of one thread.
    const bool is_shared =
        cut.is_shared && kal_array_is_distinct(&p->in, p->rank, p->batch);
#pragma omp parallel for schedule(static) if (is_shared)
    for (int64_t i = 0; i < cut.count; i++) {
        const struct span span = get_span(&cut, i);
        fill_span(input, p, &span, mix(seed));
    }
    kal_lines_init(&lines, input, &p->in, p->rank, p->batch, period);
    kal_lines_repeat(&lines);
}

// --- one block ---------------------------------------------------------------------------

struct work {
    const struct kal_problem *problem;
    const struct kal_image *input;
    int64_t points, period, block; // of a whole complex transform; transforms of a block
    kallima_device *cpu;
    kallima_plan *plan;
    double *x; // a block
    struct kal_probe probe;
    struct kal_root *sums; // of a block's inputs
};

// Rows of a transform, of which spans count those of a block.
static int64_t count_rows(const struct work *w)
{
    return w->points / w->problem->n[w->problem->rank - 1];
}

// Input to dense complex rows, from row `row` of all transforms.
static void gather_span(const struct work *w, int64_t row, const struct span *span)
{
    const struct kal_problem *p = w->problem;
    const int64_t stride = p->in.stride[p->rank - 1], count = span->end - span->begin;
    const int64_t index = kal_array_find_row(&p->in, p->rank, row) + span->begin * stride;
    double *x = w->x + 2 * (span->row * p->n[p->rank - 1] + span->begin);

    kal_image_read(w->input, &p->in, index, stride, 0, count, x, 2);
    if (!p->in.is_real)
        kal_image_read(w->input, &p->in, index, stride, 1, count, x + 1, 2);
    for (int64_t i = 0; i < count && p->in.is_real; i++)
        x[2 * i + 1] = 0.0;
}

// The last block may repeat transforms.
static void gather_block(const struct work *w, int64_t first, int64_t count)
{
    const int64_t rows = count_rows(w);
    const struct cut cut =
        make_cut(rows * w->block, w->problem->in.n[w->problem->rank - 1]);

#pragma omp parallel for schedule(static) if (cut.is_shared)
    for (int64_t i = 0; i < cut.count; i++) {
        const struct span span = get_span(&cut, i);
        gather_span(w, first * rows + span.row % (rows * count), &span);
    }
}

// The part of a spectrum of real data that is not stored: conjugates of what is.
static void complete_row(const struct work *w, int64_t row)
{
    const int64_t n = w->problem->n[w->problem->rank - 1], rows = count_rows(w);
    const int64_t other = row / rows * rows + mirror_row(w->problem, row % rows);
    const double *from = w->x + 2 * n * other;
    double *to = w->x + 2 * n * row;

    for (int64_t k = n / 2 + 1; k < n; k++) {
        to[2 * k] = from[2 * (n - k)];
        to[2 * k + 1] = -from[2 * (n - k) + 1];
    }
}

static void complete_block(const struct work *w)
{
    const int64_t rows = count_rows(w) * w->block;
#pragma omp parallel for schedule(static) if (w->points * w->block > MANY)
    for (int64_t row = 0; row < rows; row++)
        complete_row(w, row);
}

// What of a span is stored, scaled, as that of transform `first` on; the sum of its squares.
static double keep_span(const struct work *w, int64_t first, const struct span *span,
                        double *want)
{
    const struct kal_problem *p = w->problem;
    const int64_t line = p->out.n[p->rank - 1], step = kal_array_reals(&p->out);
    const int64_t rows = count_rows(w);
    const int64_t part_reals = p->out.is_planar ? rows * line * w->period : 1;
    const double *x = w->x + 2 * (span->row * p->n[p->rank - 1] + span->begin);
    double power = 0.0;

    want += ((first * rows + span->row) * line + span->begin) * step;
    for (int part = 0; part <= !p->out.is_real; part++) {
        for (int64_t i = 0; i < span->end - span->begin; i++) {
            const double value = x[2 * i + part] * p->scale;
            power += value * value;
            want[i * step + part * part_reals] = value;
        }
    }
    return power;
}

// Power counts as often as the batch has a transform.
static double keep_block(const struct work *w, int64_t first, int64_t count, double *want)
{
    const struct kal_problem *p = w->problem;
    const int64_t rows = count_rows(w);
    const struct cut cut = make_cut(rows * count, p->out.n[p->rank - 1]);
    double power = 0.0;

#pragma omp parallel for schedule(static) reduction(+ : power) if (cut.is_shared)
    for (int64_t i = 0; i < cut.count; i++) {
        const struct span span = get_span(&cut, i);
        const int64_t transform = first + span.row / rows;
        const int64_t times = (p->batch - 1 - transform) / w->period + 1;
        power += (double)times * keep_span(w, first, &span, want);
    }
    return power;
}

// --- the definition ----------------------------------------------------------------------

static bool agrees(const struct kal_probe *probe, const struct kal_root *input,
                   const double *output, double bound)
{
    enum { FAR = 32 }; // times what rounding errors add to: more is another result
    double power = 0.0;
    const struct kal_root sum = kal_probe_outputs(probe, output, &power);
    const long double most = FAR * bound * sqrtl(power);
    // Also false where one of them is no number.
    return hypotl(sum.re - input->re, sum.im - input->im) <= most;
}

bool kal_reference_agrees(const struct kal_probe *probe, const struct kal_root *inputs,
                          const double *outputs, int64_t count, double bound)
{
    const int64_t points = kal_probe_points(probe);
    for (int64_t t = 0; t < count; t++) {
        if (!agrees(probe, &inputs[t], outputs + 2 * t * points, bound))
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

static void probe_block(const struct work *w)
{
    for (int64_t t = 0; t < w->block; t++)
        w->sums[t] = kal_probe_inputs(&w->probe, w->x + 2 * t * w->points);
}

static kallima_status run_block(const struct work *w, const struct kal_host *host,
                                int64_t first, struct kal_reference *reference)
{
    const int64_t count = kal_min(w->block, w->period - first);

    gather_block(w, first, count);
    if (w->problem->kind == KALLIMA_C2R)
        complete_block(w);
    if (first == 0)
        probe_block(w);
    KAL_TRY(kallima_plan_run(w->plan, w->x, w->x));
    if (first == 0)
        KAL_TRY(prove(w, host, w->block));
    reference->power += keep_block(w, first, count, reference->want);
    return KALLIMA_OK;
}

// --- all of it ---------------------------------------------------------------------------

static int64_t block_of(const struct kal_problem *p)
{
    const double points = kal_problem_points(p) / (double)p->batch;
    return kal_max(1, kal_min(kal_reference_period(p), (int64_t)(BLOCK_POINTS / points)));
}

static uint64_t want_bytes(const struct kal_problem *p)
{
    const int64_t points = kal_array_points(&p->out, p->rank);
    return (uint64_t)(points * kal_reference_period(p)) * (p->out.is_real ? 8 : 16);
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
        .wisdom = "", // the estimate's plan, whatever was learnt
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
    for (int64_t first = 0; first < w->period; first += w->block)
        KAL_TRY(run_block(w, host, first, reference));
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
        .period = kal_reference_period(problem),
        .block = block_of(problem),
    };

    *reference = (struct kal_reference){ .period = w.period };
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
