// SPDX-License-Identifier: MIT
// Usage: test_nvrtc_kernels FILE [I/N]
// Plan the problems of a file of bench/cases (those numbered I of N) for an NVIDIA GPU that
// is not there, compile their kernels, and print what each takes. A kernel that needs more
// registers than a lane has, and so keeps some in memory, is a failure
// unless the plan gives it up for another. 77: no NVRTC.
#include <kallima/kallima.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../problems.h"
#include "cubin.h"
#include "device/cuda/cuda.h"
#include "device/null/null.h"

enum { SKIPPED = 77, NAME_BYTES = 64 };

#define ARCHITECTURE "sm_90"

static const char *const kinds[] = { "c2c", "r2c", "c2r" };
static const char *const precisions[] = { "f32", "f64" };

static struct {
    char problem[NAME_BYTES];
    int kernel; // of the problem
    int compiled, refused, spilled;
    struct cubin_usage usage; // of the last one
    bool is_planning;
} run;

// A kernel that spills may be given up for one that does not.
enum { MOST_KERNELS = 64 };
static struct {
    const struct kal_device_kernel *kernel;
    bool is_spilled;
} made_kernels[MOST_KERNELS];

static bool *find_kernel(const struct kal_device_kernel *kernel)
{
    for (int i = 0; i < MOST_KERNELS; i++) {
        if (made_kernels[i].kernel == kernel)
            return &made_kernels[i].is_spilled;
    }
    return NULL;
}

static void note_kernel(const struct kal_device_kernel *kernel, bool is_spilled)
{
    for (int i = 0; i < MOST_KERNELS; i++) {
        if (made_kernels[i].kernel)
            continue;
        made_kernels[i].kernel = kernel;
        made_kernels[i].is_spilled = is_spilled;
        return;
    }
}

static void kernel_describe(const struct kal_device_kernel *kernel,
                            struct kal_kernel_facts *facts)
{
    kal_null_cuda_device_ops.kernel_describe(kernel, facts);
    facts->registers = (int)run.usage.registers;
    facts->spill_bytes = (int)run.usage.stack_bytes;
}

static void kernel_destroy(struct kal_device_kernel *kernel)
{
    const bool *is_spilled = find_kernel(kernel);
    if (run.is_planning && is_spilled && *is_spilled) {
        printf("%-30s    one kernel is given up\n", run.problem);
        run.spilled--;
    }
    for (int i = 0; i < MOST_KERNELS; i++) {
        if (made_kernels[i].kernel == kernel)
            made_kernels[i].kernel = NULL;
    }
    kal_null_cuda_device_ops.kernel_destroy(kernel);
}

// Compile the text on the way to the device that takes anything.
static kallima_status kernel_create(struct kal_device_kernel **out,
                                    kallima_device *device,
                                    const struct kal_kernel_text *text,
                                    const struct kal_binary *binary,
                                    struct kal_binary *made)
{
    struct kal_binary cubin = { NULL, 0 };
    bool is_spilled = false;
    if (kal_cuda_compile(NULL, text, ARCHITECTURE, &cubin) != KALLIMA_OK) {
        fprintf(stderr, "%s: kernel %d: %s\n", run.problem, run.kernel,
                kallima_last_error());
        run.refused++;
    } else {
        const struct cubin_usage usage = cubin_usage_of(&cubin, text->name);
        run.usage = usage;
        is_spilled = usage.stack_bytes > 0;
        printf("%-30s %2d %5d lanes %3lld registers %6llu bytes of group memory %7lld of "
               "code%s\n",
               run.problem, run.kernel, text->lanes, (long long)usage.registers,
               (unsigned long long)text->group_bytes + (uint64_t)usage.group_bytes,
               (long long)usage.code_bytes, is_spilled ? " SPILLS" : "");
        run.compiled++;
        run.spilled += is_spilled;
    }
    kal_free(NULL, cubin.data);
    run.kernel++;
    const kallima_status status =
        kal_null_cuda_device_ops.kernel_create(out, device, text, binary, made);
    if (!status)
        note_kernel(*out, is_spilled);
    return status;
}

static bool plan(kallima_device *device, const kallima_desc *d, const char *lengths)
{
    const kallima_plan_options options = { .without_workspace = 1 };
    kallima_plan *made = NULL;

    snprintf(run.problem, sizeof run.problem, "%s %s %s", kinds[d->kind],
             precisions[d->precision], lengths);
    run.kernel = 0;
    run.is_planning = true;
    const kallima_status status = kallima_plan_create(&made, device, d, &options);
    run.is_planning = false;
    if (status != KALLIMA_OK) {
        fprintf(stderr, "%s: %s\n", run.problem, kallima_last_error());
        return false;
    }
    kallima_plan_destroy(&made);
    return true;
}

// Real transforms in both directions and precisions.
static bool plan_line(kallima_device *device, const char *line)
{
    char lengths[PROBLEM_LENGTHS_BYTES];
    kallima_desc d;
    bool ok = true;
    if (!problem_parse(line, &d, lengths)) {
        fprintf(stderr, "not a problem: %s", line);
        return false;
    }
    if (d.kind == KALLIMA_C2C)
        return plan(device, &d, lengths);
    for (int i = 0; i < 4; i++) {
        d.kind = i % 2 ? KALLIMA_C2R : KALLIMA_R2C;
        d.precision = i / 2;
        ok = plan(device, &d, lengths) && ok;
    }
    return ok;
}

static bool plan_file(kallima_device *device, const char *path, int part, int parts)
{
    char line[200];
    bool ok = true;
    int number = 0;
    FILE *file = fopen(path, "r");
    if (!file) {
        fprintf(stderr, "%s: cannot be read\n", path);
        return false;
    }
    while (fgets(line, sizeof line, file)) {
        if (line[0] != '#' && line[0] != '\n' && number++ % parts == part)
            ok = plan_line(device, line) && ok;
    }
    fclose(file);
    return ok;
}

static bool has_nvrtc(void)
{
    const struct kal_kernel_text text = { .name = "empty",
                                          .text = "extern \"C\" __global__ void empty() "
                                                  "{}\n" };
    struct kal_binary cubin = { NULL, 0 };
    const kallima_status status = kal_cuda_compile(NULL, &text, ARCHITECTURE, &cubin);
    kal_free(NULL, cubin.data);
    return status != KALLIMA_E_ABSENT;
}

int main(int argc, char **argv)
{
    const kallima_device_options options = { .kernel_cache = "" };
    struct kal_device_ops ops = kal_null_cuda_device_ops;
    kallima_device *device = NULL;
    int part = 0, parts = 1;

    if (argc < 2 || (argc > 2 && sscanf(argv[2], "%d/%d", &part, &parts) != 2))
        return 2;
    if (!has_nvrtc()) {
        fprintf(stderr, "%s\n", kallima_last_error());
        return SKIPPED;
    }
    setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
    if (kallima_device_open(&device, "nullcuda", &options) != KALLIMA_OK) {
        fprintf(stderr, "%s\n", kallima_last_error());
        return 1;
    }
    ops.kernel_create = kernel_create;
    ops.kernel_describe = kernel_describe;
    ops.kernel_destroy = kernel_destroy;
    device->ops = &ops;
    const bool ok = plan_file(device, argv[1], part, parts);
    kallima_device_close(&device);
    printf("%d kernels compiled, %d refused, %d spill\n", run.compiled, run.refused,
           run.spilled);
    return ok && run.compiled > 0 && run.refused == 0 && run.spilled == 0 ? 0 : 1;
}
