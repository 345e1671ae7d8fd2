// SPDX-License-Identifier: MIT
#include "device/cpu/copied.h"

#include "device/cpu/beside.h"
#include "device/cpu/nested.h"
#include "math/number.h"

#include <string.h>

// Of `count` elements.
static enum cpu_copy find_copy(const struct kal_array *array, int rank,
                               const struct kal_array *copy, int64_t count, bool is_input)
{
    if (array->is_real != copy->is_real)
        return CPU_COPY_REALS;
    if (count < copy->elements)
        return is_input ? CPU_COPY_HALF : CPU_COPY_PLAIN;
    return kal_array_is_contiguous(array, rank) ? CPU_COPY_NONE : CPU_COPY_PLAIN;
}

// For elements, parts one behind the other, that lie as far apart as kernels are for; NULL: there is none.
static cpu_copy_line *find_kernel(const struct kal_array *array, int rank,
                                  const struct cpu_copy_kernels *kernels, bool is_input)
{
    const int64_t apart = array->stride[rank - 1];
    if (array->is_planar || apart < 1 || apart > CPU_MOST_APART)
        return NULL;
    return (is_input ? kernels->collect : kernels->spread)[array->is_real ? 1 : 2][apart];
}

// One side of `array`, of which there is `copy`.
static struct cpu_copied_side find_side(const struct kal_array *array, int rank,
                                        const struct kal_array *copy, bool is_input,
                                        const struct cpu_kernels *widest, bool is_f64)
{
    const int64_t count = rank == 1 ? array->n[0] : copy->elements;
    const int64_t bytes = copy->elements * (copy->is_real ? 1 : 2) * (is_f64 ? 8 : 4);
    return (struct cpu_copied_side){
        .copy = find_copy(array, rank, copy, count, is_input),
        .count = count,
        .reals = array->is_real ? 1 : 2,
        .is_planar = array->is_planar,
        .copy_line = find_kernel(array, rank, widest->copies, is_input),
        .bytes = (uint64_t)kal_round_up(bytes, CPU_LINE_BYTES),
    };
}

static struct cpu_user_side find_user_side(const struct kal_array *array, int rank,
                                           bool is_f64)
{
    const int64_t unit = kal_array_reals(array), bytes = is_f64 ? 8 : 4;
    const int64_t first = array->offset * unit * bytes;
    return (struct cpu_user_side){
        .re = first,
        .im = first + (array->is_planar || array->is_real ? 0 : bytes),
        .stride = array->stride[rank - 1] * unit,
        .line = array->batch_stride * unit * bytes,
        .is_planar = array->is_planar,
    };
}

kallima_status kal_cpu_copied_find(struct cpu_program *program)
{
    const struct kal_problem *p = program->program->problem;
    const struct kal_problem *copy = program->program->copied;
    const struct kal_recipe *recipe = program->program->recipe;
    const struct cpu_device *device = (const struct cpu_device *)program->base.device;
    struct cpu_copied *copied = &program->copied;

    if (!copy)
        return KALLIMA_OK;
    if (copy->kind != p->kind) // of reals that are copied to complex numbers
        recipe = recipe->child[0];
    const kallima_desc desc = kal_problem_describe(copy);
    struct kal_device_program *line;
    KAL_TRY(kal_cpu_nested_create(&line, program, &program->arena, recipe, &desc));
    ((struct cpu_program *)line)->threads = 1;
    copied->line = line;
    copied->widest =
        kal_cpu_kernels_find(device->level[device->level_count - 1], program->is_f64);
    copied->in =
        find_side(&p->in, p->rank, &copy->in, true, copied->widest, program->is_f64);
    copied->out =
        find_side(&p->out, p->rank, &copy->out, false, copied->widest, program->is_f64);
    program->lines = p->batch;
    program->in = find_user_side(&p->in, p->rank, program->is_f64);
    program->out = find_user_side(&p->out, p->rank, program->is_f64);
    return KALLIMA_OK;
}

uint64_t kal_cpu_copied_bytes(const struct cpu_program *program)
{
    const struct cpu_copied *copied = &program->copied;
    return copied->in.bytes + copied->out.bytes + copied->line->workspace_bytes;
}

// One line, whose workspace, if it needs any, is there.
static void run_line(const struct kal_device_program *line, const char *from, char *to,
                     char *workspace)
{
    if (line->run_pair) {
        line->run_pair(line, from, to);
        return;
    }
    const struct kal_arguments arguments = { .in[0].object = (char *)from,
                                             .out[0].object = to,
                                             .workspace.object = workspace };
    kal_cpu_program_run(line, &arguments); // which cannot fail
}

// The elements of one side to `line`, where they are contiguous, or back.
static void copy_plain(const struct cpu_kernels *widest,
                       const struct cpu_copied_side *side, const struct cpu_vectors *v,
                       char *line, int64_t real_bytes, bool is_input)
{
    enum { PAIR = 2 };
    const int parts = side->is_planar ? 2 : 1;
    const int64_t bytes = side->reals * real_bytes, apart = v->stride * real_bytes;
    if (side->copy_line) {
        side->copy_line(is_input ? line : v->re, is_input ? v->re : line, side->count);
        return;
    }
    if (parts == 2 && v->stride == 1) {
        if (is_input)
            widest->rows->load(line, v->re, v->im, side->count);
        else
            widest->rows->store(line, v->re, v->im, side->count);
        return;
    }
    if (parts == 1 && bytes == apart) {
        memcpy(is_input ? line : v->re, is_input ? v->re : line,
               (size_t)(side->count * bytes));
        return;
    }
    for (int part = 0; part < parts; part++) {
        char *at = part ? v->im : v->re, *near = line + part * real_bytes;
        if (is_input)
            kal_cpu_move(near, bytes, at, apart, side->count, bytes / parts);
        else
            kal_cpu_move(at, apart, near, bytes, side->count, bytes / parts);
    }
}

// Reals from or to the real parts of `line`, and a spectrum of odd length, whose second half is the conjugate of the first.
// `apart` is 1 or 2 where that is known, for compilers to fill registers.
#define COPIES_OF(real)                                                                 \
    CPU_INLINE void widen_by_##real(const real *from, int64_t apart, real *to,          \
                                    int64_t n)                                          \
    {                                                                                   \
        for (int64_t i = 0; i < n; i++) {                                               \
            to[2 * i] = from[i * apart];                                                \
            to[2 * i + 1] = 0;                                                          \
        }                                                                               \
    }                                                                                   \
    static void widen_##real(const struct cpu_vectors *v, char *line, int64_t n)        \
    {                                                                                   \
        const real *from = (const real *)v->re;                                         \
        if (v->stride == 1)                                                             \
            widen_by_##real(from, 1, (real *)line, n);                                  \
        else                                                                            \
            widen_by_##real(from, v->stride, (real *)line, n);                          \
    }                                                                                   \
    CPU_INLINE void narrow_by_##real(const real *from, real *to, int64_t apart,         \
                                     int64_t n)                                         \
    {                                                                                   \
        for (int64_t i = 0; i < n; i++)                                                 \
            to[i * apart] = from[2 * i];                                                \
    }                                                                                   \
    static void narrow_##real(const struct cpu_vectors *v, const char *line, int64_t n) \
    {                                                                                   \
        real *to = (real *)v->re;                                                       \
        if (v->stride == 1)                                                             \
            narrow_by_##real((const real *)line, to, 1, n);                             \
        else                                                                            \
            narrow_by_##real((const real *)line, to, v->stride, n);                     \
    }                                                                                   \
    CPU_INLINE void extend_by_##real(const real *re, const real *im, int64_t apart,     \
                                     real *to, int64_t half)                            \
    {                                                                                   \
        real *back = to + 2 * (2 * half - 1);                                           \
        for (int64_t k = 0; k < half; k++) {                                            \
            to[2 * k] = re[k * apart];                                                  \
            to[2 * k + 1] = -im[k * apart];                                             \
        }                                                                               \
        for (int64_t k = 1; k < half; k++) {                                            \
            back[-2 * k] = re[k * apart];                                               \
            back[-2 * k + 1] = im[k * apart];                                           \
        }                                                                               \
    }                                                                                   \
    static void extend_##real(const struct cpu_vectors *v, char *line, int64_t half)    \
    {                                                                                   \
        const real *re = (const real *)v->re, *im = (const real *)v->im;                \
        if (v->stride == 2)                                                             \
            extend_by_##real(re, im, 2, (real *)line, half);                            \
        else                                                                            \
            extend_by_##real(re, im, v->stride, (real *)line, half);                    \
    }

COPIES_OF(float)
COPIES_OF(double)

static void copy_to(const struct cpu_kernels *widest, const struct cpu_copied_side *side,
                    const struct cpu_vectors *v, char *line, int64_t real_bytes)
{
    const bool is_f64 = real_bytes == sizeof(double);

    if (side->copy == CPU_COPY_REALS)
        (is_f64 ? widen_double : widen_float)(v, line, side->count);
    else if (side->copy == CPU_COPY_HALF)
        (is_f64 ? extend_double : extend_float)(v, line, side->count);
    else
        copy_plain(widest, side, v, line, real_bytes, true);
}

static void copy_back(const struct cpu_kernels *widest,
                      const struct cpu_copied_side *side, const struct cpu_vectors *v,
                      char *line, int64_t real_bytes)
{
    const bool is_f64 = real_bytes == sizeof(double);

    if (side->copy == CPU_COPY_REALS)
        (is_f64 ? narrow_double : narrow_float)(v, line, side->count);
    else
        copy_plain(widest, side, v, line, real_bytes, false);
}

void kal_cpu_copied_run(const struct cpu_program *program, const struct cpu_vectors *x,
                        const struct cpu_vectors *y, char *scratch)
{
    const struct cpu_copied *copied = &program->copied;
    const int64_t real_bytes = program->is_f64 ? 8 : 4;
    const bool takes_input = copied->in.copy == CPU_COPY_NONE,
               leaves_output = copied->out.copy == CPU_COPY_NONE;
    char *const from = takes_input ? x->re : scratch;
    char *const to = leaves_output ? y->re : scratch + copied->in.bytes;

    if (!takes_input)
        copy_to(copied->widest, &copied->in, x, from, real_bytes);
    run_line(copied->line, from, to, scratch + copied->in.bytes + copied->out.bytes);
    if (!leaves_output)
        copy_back(copied->widest, &copied->out, y, to, real_bytes);
}
