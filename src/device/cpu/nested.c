// SPDX-License-Identifier: MIT
#include "device/cpu/nested.h"

static kallima_status copy_bare(struct kal_recipe **out, struct kal_arena *arena,
                                const struct kal_recipe *recipe)
{
    void *memory;
    KAL_TRY(kal_arena_take(arena, &memory, 1, sizeof **out));
    *out = memory;
    **out = *recipe;
    (*out)->parameters = (struct kal_parameters){ 0 };
    for (int i = 0; i < recipe->child_count; i++)
        KAL_TRY(copy_bare(&(*out)->child[i], arena, recipe->child[i]));
    return KALLIMA_OK;
}

kallima_status kal_cpu_nested_create(struct kal_device_program **out,
                                     struct cpu_program *parent, struct kal_arena *arena,
                                     const struct kal_recipe *recipe,
                                     const kallima_desc *desc, int most_threads)
{
    kallima_device *device = parent->base.device;
    struct kal_recipe *bare;
    void *memory;

    KAL_TRY(kal_arena_take(arena, &memory, 1, sizeof(struct kal_problem)));
    struct kal_problem *problem = memory;
    KAL_TRY(kal_arena_take(arena, &memory, 1, sizeof(struct kal_program)));
    struct kal_program *source = memory;
    KAL_TRY(copy_bare(&bare, arena, recipe));
    KAL_TRY(kal_problem_init(problem, &device->host, desc));
    KAL_TRY(kal_program_lower(source, arena, problem, bare, &device->caps));
    return kal_cpu_program_make(out, device, parent, source,
                                desc->precision == KALLIMA_F64, most_threads);
}

kallima_status kal_cpu_nested_line(struct kal_device_program **out,
                                   struct cpu_program *parent, int axis,
                                   kallima_placement placement, double scale)
{
    const struct kal_problem *p = parent->program->problem;
    const kallima_desc desc = {
        .kind = axis + 1 < p->rank ? KALLIMA_C2C : p->kind,
        .precision = p->precision,
        .direction =
            p->is_inverse || p->kind == KALLIMA_C2R ? KALLIMA_INVERSE : KALLIMA_FORWARD,
        .placement = placement,
        .rank = 1,
        .n = { p->n[axis] },
        .batch = 1,
        .scale = scale,
    };
    KAL_TRY(kal_cpu_nested_create(out, parent, &parent->arena,
                                  parent->program->recipe->child[axis], &desc, 1));
    if (!(*out)->run_pair) {
        kal_cpu_program_destroy(*out);
        *out = NULL;
    }
    return KALLIMA_OK;
}

struct cpu_user_side kal_cpu_user_side_find(const struct kal_array *array, int rank,
                                            bool is_f64)
{
    const int64_t unit = kal_array_reals(array), bytes = is_f64 ? 8 : 4;
    const int64_t first = array->offset * unit * bytes;
    return (struct cpu_user_side){
        .im_array = array->is_planar,
        .re = first,
        .im = first + (array->is_planar || array->is_real ? 0 : bytes),
        .stride = array->stride[rank - 1] * unit,
        .line = array->batch_stride * unit * bytes,
        .is_planar = array->is_planar,
    };
}
