// SPDX-License-Identifier: MIT
#include "device/cpu/divided.h"

#include "device/cpu/nested.h"
#include "device/cpu/worker.h"

#include <string.h>

// The recipe of all axes but the first.
static struct kal_recipe without_first(const struct kal_recipe *recipe)
{
    struct kal_recipe inner = *recipe;
    inner.child_count--;
    inner.n /= recipe->child[0]->n;
    memmove(inner.child, recipe->child + 1,
            (size_t)inner.child_count * sizeof recipe->child[0]);
    return inner;
}

static kallima_status create_nested(struct kal_device_program **out,
                                    struct cpu_program *program,
                                    const struct kal_recipe *recipe,
                                    const struct kal_problem *problem)
{
    const kallima_desc desc = kal_problem_describe(problem);
    return kal_cpu_nested_create(out, program, &program->arena, recipe, &desc,
                                 program->threads > 1 ? 1 : program->most_threads);
}

// Several threads have an array each, if these stay near their cores; else they share each of them.
static int count_threads(const struct cpu_program *program, double array_bytes)
{
    const struct kal_caps *caps = &program->base.device->caps;
    return 2.0 * array_bytes <= (double)caps->near_bytes
               ? (int)kal_min(program->program->problem->batch, program->most_threads)
               : 1;
}

kallima_status kal_cpu_divided_find(struct cpu_program *program)
{
    const struct kal_program *source = program->program;
    const struct kal_problem *p = source->problem, *lines = source->columns;
    struct cpu_divided *divided = &program->divided;

    if (!source->inner)
        return KALLIMA_OK;
    const struct kal_recipe inner = without_first(source->recipe);
    const int64_t bytes = lines->n[0] * lines->batch * 2 * program->real_bytes;
    program->threads = count_threads(program, (double)bytes);
    KAL_TRY(create_nested(&divided->inner, program, &inner, source->inner));
    KAL_TRY(create_nested(&divided->columns, program, source->recipe->child[0], lines));
    divided->arrays = p->batch;
    divided->scratch =
        p->kind == KALLIMA_C2R ? kal_round_up(bytes, 2 * CPU_LINE_BYTES) : 0;
    program->lines = 1;
    program->in = kal_cpu_user_side_find(&p->in, p->rank, program->is_f64);
    program->out = kal_cpu_user_side_find(&p->out, p->rank, program->is_f64);
    return KALLIMA_OK;
}

uint64_t kal_cpu_divided_bytes(const struct cpu_program *program)
{
    const struct cpu_divided *divided = &program->divided;
    return (uint64_t)divided->scratch +
           kal_max(divided->inner->workspace_bytes, divided->columns->workspace_bytes);
}

// The arrays of a side, as a caller has them: of reals and of numbers one.
struct arrays {
    char *part[2];
};

static struct arrays arrays_at(const struct cpu_vectors *v,
                               const struct cpu_user_side *side, int64_t number)
{
    const int64_t bytes = number * side->line;
    return (struct arrays){ { v->re + bytes, side->is_planar ? v->im + bytes : NULL } };
}

static void run(const struct kal_device_program *nested, struct arrays from,
                struct arrays to, char *workspace)
{
    const struct kal_arguments arguments = {
        .in = { { .object = from.part[0] }, { .object = from.part[1] } },
        .out = { { .object = to.part[0] }, { .object = to.part[1] } },
        .workspace.object = workspace,
    };
    kal_cpu_program_run(nested, &arguments); // which cannot fail
}

void kal_cpu_arrays_run(const struct cpu_program *program, const struct cpu_vectors *x,
                        const struct cpu_vectors *y, char *scratch, int64_t begin,
                        int64_t end)
{
    const struct cpu_divided *divided = &program->divided;
    const struct arrays between = { { scratch, scratch + divided->scratch / 2 } };
    char *workspace = scratch + divided->scratch;

    for (int64_t i = begin; i < end; i++) {
        const struct arrays from = arrays_at(x, &program->in, i),
                            to = arrays_at(y, &program->out, i);
        if (divided->scratch > 0) {
            run(divided->columns, from, between, workspace);
            run(divided->inner, between, to, workspace);
        } else {
            run(divided->inner, from, to, workspace);
            run(divided->columns, to, to, workspace);
        }
    }
}
