// SPDX-License-Identifier: MIT
#include "exec/program.h"

kallima_status kal_kernel_program_create(struct kal_device_program **out,
                                         kallima_device *device, struct kal_arena *arena,
                                         const struct kal_program *program,
                                         const struct kal_problem *problem)
{
    (void)arena;
    (void)program;
    (void)problem;
    *out = NULL;
    return kal_fail(&device->host, KALLIMA_E_UNSUPPORTED, "plan: no kernels for %s yet",
                    device->ops->name);
}

void kal_kernel_program_destroy(struct kal_device_program *program)
{
    (void)program;
}

kallima_status kal_kernel_program_run(const struct kal_device_program *program,
                                      const struct kal_arguments *arguments,
                                      const struct kal_sync *sync)
{
    (void)program;
    (void)arguments;
    (void)sync;
    return KALLIMA_E_UNSUPPORTED;
}
