// SPDX-License-Identifier: MIT
#include "device/cpu/spectrum.h"

#include "device/cpu/nested.h"
#include "device/cpu/roots.h"
#include "math/dft.h"
#include "math/number.h"

int64_t kal_cpu_spectrum_length(const struct kal_step *step)
{
    return step->op == KAL_STEP_RADER ? step->n - 1 : step->size;
}

// Numbers before their transform: of one of both kinds.
struct signal {
    struct kal_root *exact;
    double *rounded;
};

static void put(const struct signal *x, int64_t i, struct kal_root value)
{
    if (x->exact) {
        x->exact[i] = value;
    } else {
        x->rounded[2 * i] = (double)value.re;
        x->rounded[2 * i + 1] = (double)value.im;
    }
}

// The conjugate of a root that is kept as sums, of which a double is the first part.
static void put_conjugate(const struct signal *x, int64_t i, struct kal_root_sum sum)
{
    if (x->exact) {
        const struct kal_root root = kal_root_of_sum(sum);
        x->exact[i] = (struct kal_root){ root.re, -root.im };
    } else {
        x->rounded[2 * i] = sum.re;
        x->rounded[2 * i + 1] = -sum.im;
    }
}

// The roots exp(-2 pi i g^-q / p) for q = 0 .. p-2
static kallima_status fill_rader(struct cpu_program *program, const struct kal_step *step,
                                 const struct signal *x)
{
    const int64_t p = step->n, h = kal_inverse_mod(kal_primitive_root(p), p);
    const struct kal_root_table *roots;

    KAL_TRY(kal_cpu_roots_find(program, p, &roots));
    int64_t power = 1;
    for (int64_t q = 0; q < p - 1; q++) {
        put(x, q, kal_root_table_get(roots, power));
        power = kal_mul_mod(power, h, p);
    }
    return KALLIMA_OK;
}

// The chirp exp(+pi i j^2 / n) for |j| < n, cyclic of length m
static kallima_status fill_chirp(struct cpu_program *program, const struct kal_step *step,
                                 const struct signal *x)
{
    const int64_t n = step->n, m = step->size;
    const struct kal_root_sum *chirp;

    KAL_TRY(kal_cpu_chirp_find(program, n, &chirp));
    for (int64_t j = n; j <= m - n; j++)
        put(x, j, (struct kal_root){ 0.0L, 0.0L });
    for (int64_t j = 0; j < n; j++) {
        put_conjugate(x, j, chirp[j]);
        put_conjugate(x, j ? m - j : 0, chirp[j]);
    }
    return KALLIMA_OK;
}

static kallima_status fill(struct cpu_program *program, const struct kal_step *step,
                           const struct signal *x)
{
    return (step->op == KAL_STEP_RADER ? fill_rader : fill_chirp)(program, step, x);
}

// In extended precision, rounded once.
static kallima_status make_exact(struct cpu_program *program, const struct kal_step *step,
                                 double *spectrum)
{
    const struct kal_host *host = &program->base.device->host;
    const int64_t length = kal_cpu_spectrum_length(step);
    void *memory;

    KAL_TRY(kal_alloc(host, &memory, (uint64_t)length, sizeof(struct kal_root)));
    struct kal_root *x = memory;
    kallima_status status = fill(program, step, &(struct signal){ .exact = x });
    if (!status)
        status = kal_dft(host, x, length);
    for (int64_t i = 0; i < length && !status; i++) {
        spectrum[2 * i] = (double)(x[i].re / (long double)length);
        spectrum[2 * i + 1] = (double)(x[i].im / (long double)length);
    }
    kal_free(host, memory);
    return status;
}

static kallima_status run(struct cpu_program *program, double *x)
{
    const struct kal_host *host = &program->base.device->host;
    void *workspace;

    KAL_TRY(kal_alloc(host, &workspace, program->base.workspace_bytes, 1));
    const struct kal_arguments arguments = { .in[0].object = x,
                                             .out[0].object = x,
                                             .workspace.object = workspace };
    const kallima_status status = kal_cpu_program_run(&program->base, &arguments);
    kal_free(host, workspace);
    return status;
}

static kallima_status transform(struct cpu_program *parent, struct kal_arena *arena,
                                const struct kal_recipe *recipe, double *x)
{
    const kallima_desc desc = {
        .precision = KALLIMA_F64,
        .placement = KALLIMA_IN_PLACE,
        .rank = 1,
        .n = { recipe->n },
    };
    struct kal_device_program *program;

    KAL_TRY(kal_cpu_nested_create(&program, parent, arena, recipe, &desc, 1));
    const kallima_status status = run((struct cpu_program *)program, x);
    kal_cpu_program_destroy(program);
    return status;
}

// In doubles, by the engine itself.
static kallima_status make_fast(struct cpu_program *program, const struct kal_step *step,
                                double *spectrum)
{
    const int64_t length = kal_cpu_spectrum_length(step);
    const double scale = 1.0 / (double)length;
    struct kal_arena arena;

    KAL_TRY(fill(program, step, &(struct signal){ .rounded = spectrum }));
    kal_arena_init(&arena, &program->base.device->host);
    const kallima_status status = transform(program, &arena, step->transform, spectrum);
    kal_arena_clear(&arena);
    for (int64_t i = 0; i < 2 * length; i++)
        spectrum[i] *= scale;
    return status;
}

// Extended precision took two thirds of the 30 ms of a plan with 2^17 numbers, of which a
// run takes 0.4; by that the error of lines of doubles grows by a fifth, so that shorter
// ones are exact, which takes up to 0.5 ms. The shortest of floats are ready sooner than
// a program for them: 101 points are planned in 0.09 ms, not 0.13.
kallima_status kal_cpu_spectrum_make(struct cpu_program *program,
                                     const struct kal_step *step, double *spectrum)
{
    enum { MOST_EXACT_F32 = 256, MOST_EXACT_F64 = 4096 };
    const bool is_exact = kal_cpu_spectrum_length(step) <=
                          (program->is_f64 ? MOST_EXACT_F64 : MOST_EXACT_F32);
    return (is_exact ? make_exact : make_fast)(program, step, spectrum);
}
