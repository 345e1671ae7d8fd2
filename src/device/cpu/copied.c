// SPDX-License-Identifier: MIT
#include "device/cpu/copied.h"

#include "device/cpu/beside.h"
#include "device/cpu/nested.h"
#include "math/number.h"

// What is copied on one side, of `count` elements.
static struct cpu_copied_side find_side(const struct kal_array *array, int rank,
                                        int64_t count, bool is_f64)
{
    const int reals = array->is_real ? 1 : 2;
    return (struct cpu_copied_side){
        .count = count,
        .reals = reals,
        .is_planar = array->is_planar,
        .is_contiguous = array->stride[rank - 1] == 1 && !array->is_planar,
        .bytes = (uint64_t)kal_round_up(count * reals * (is_f64 ? 8 : 4), CPU_LINE_BYTES),
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
    const struct kal_recipe *recipe = program->program->recipe;
    struct cpu_copied *copied = &program->copied;

    if (!program->program->is_copied)
        return KALLIMA_OK;
    const struct kal_problem packed = kal_problem_packed(p);
    const kallima_desc desc = kal_problem_describe(&packed);
    struct kal_device_program *line;
    KAL_TRY(kal_cpu_nested_create(&line, program, &program->arena, recipe, &desc));
    ((struct cpu_program *)line)->threads = 1;
    copied->line = line;
    copied->in = find_side(&p->in, p->rank, packed.in.elements, program->is_f64);
    copied->out = find_side(&p->out, p->rank, packed.out.elements, program->is_f64);
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
static void copy(const struct cpu_copied_side *side, const struct cpu_vectors *v,
                 char *line, int64_t real_bytes, bool is_input)
{
    const int parts = side->is_planar ? 2 : 1;
    const int64_t bytes = side->reals * real_bytes, apart = v->stride * real_bytes;

    for (int part = 0; part < parts; part++) {
        char *at = part ? v->im : v->re, *near = line + part * real_bytes;
        if (is_input)
            kal_cpu_move(near, bytes, at, apart, side->count, bytes / parts);
        else
            kal_cpu_move(at, apart, near, bytes, side->count, bytes / parts);
    }
}

void kal_cpu_copied_run(const struct cpu_program *program, const struct cpu_vectors *x,
                        const struct cpu_vectors *y, char *scratch)
{
    const struct cpu_copied *copied = &program->copied;
    const int64_t real_bytes = program->is_f64 ? 8 : 4;
    char *const from = copied->in.is_contiguous ? x->re : scratch;
    char *const to = copied->out.is_contiguous ? y->re : scratch + copied->in.bytes;

    if (!copied->in.is_contiguous)
        copy(&copied->in, x, from, real_bytes, true);
    run_line(copied->line, from, to, scratch + copied->in.bytes + copied->out.bytes);
    if (!copied->out.is_contiguous)
        copy(&copied->out, y, to, real_bytes, false);
}
