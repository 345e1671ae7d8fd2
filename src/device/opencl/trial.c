// SPDX-License-Identifier: MIT
// NVIDIA's driver tells of 48 KiB for a group, and gives a kernel that declares more all that
// the processor has (driver 580 on sm_90: 227 KiB less one word). Nothing promises that, so a
// kernel of that size is run once, on a queue of its own.
#include "device/opencl/driver.h"

#include <stdio.h>

enum { TRIAL_LANES = 64 };

struct trial {
    cl_program program;
    cl_kernel kernel;
    cl_command_queue queue;
    cl_mem memory;
};

// Both ends of the group's memory are written by one lane and read by another.
static bool prepare(const struct ocl_device *device, uint64_t bytes, struct trial *trial)
{
    char text[640];
    const char *lines = text;
    const struct ocl_api *cl = device->cl;
    cl_int code;

    snprintf(text, sizeof text,
             "__kernel void trial(__global int *x)\n"
             "{\n"
             "    __local int near[%d];\n"
             "    const int i = get_local_id(0);\n"
             "    near[i] = i;\n"
             "    near[%d - i] = 3 * i;\n"
             "    barrier(CLK_LOCAL_MEM_FENCE);\n"
             "    x[i] = near[%d - i] + near[%d + i];\n"
             "}\n",
             (int)(bytes / 4), (int)(bytes / 4) - 1, TRIAL_LANES - 1,
             (int)(bytes / 4) - TRIAL_LANES);
    trial->program = cl->CreateProgramWithSource(device->context, 1, &lines, NULL, &code);
    if (code != CL_SUCCESS || cl->BuildProgram(trial->program, 1, &device->id,
                                               "-cl-std=CL1.2", NULL, NULL) != CL_SUCCESS)
        return false;
    trial->kernel = cl->CreateKernel(trial->program, "trial", &code);
    if (code != CL_SUCCESS)
        return false;
    trial->queue = cl->CreateCommandQueue(device->context, device->id, 0, &code);
    if (code != CL_SUCCESS)
        return false;
    trial->memory = cl->CreateBuffer(device->context, CL_MEM_READ_WRITE,
                                     TRIAL_LANES * sizeof(cl_int), NULL, &code);
    return code == CL_SUCCESS;
}

static bool run(const struct ocl_api *cl, const struct trial *trial)
{
    const size_t lanes = TRIAL_LANES;
    cl_int x[TRIAL_LANES] = { 0 };
    bool is_right = true;

    if (cl->SetKernelArg(trial->kernel, 0, sizeof trial->memory, &trial->memory) !=
            CL_SUCCESS ||
        cl->EnqueueNDRangeKernel(trial->queue, trial->kernel, 1, NULL, &lanes, &lanes, 0,
                                 NULL, NULL) != CL_SUCCESS ||
        cl->EnqueueReadBuffer(trial->queue, trial->memory, CL_TRUE, 0, sizeof x, x, 0,
                              NULL, NULL) != CL_SUCCESS)
        return false;
    for (int i = 0; i < TRIAL_LANES; i++)
        is_right &= x[i] == 4 * (TRIAL_LANES - 1 - i);
    return is_right;
}

static void clear(const struct ocl_api *cl, const struct trial *trial)
{
    if (trial->memory)
        cl->ReleaseMemObject(trial->memory);
    if (trial->queue)
        cl->ReleaseCommandQueue(trial->queue);
    if (trial->kernel)
        cl->ReleaseKernel(trial->kernel);
    if (trial->program)
        cl->ReleaseProgram(trial->program);
}

void kal_ocl_widen(struct ocl_device *device)
{
    enum { KEPT_BYTES = 2048 }; // of a processor's memory, by the system and the driver
    struct kal_caps *caps = &device->base.caps;
    struct trial trial = { 0 };

    if (!device->nvidia_sm || caps->processor_bytes <= KEPT_BYTES)
        return;
    const uint64_t bytes = caps->processor_bytes - KEPT_BYTES;
    if (bytes <= caps->group_bytes)
        return;
    if (prepare(device, bytes, &trial) && run(device->cl, &trial))
        caps->group_bytes = caps->near_bytes = bytes;
    clear(device->cl, &trial);
}
