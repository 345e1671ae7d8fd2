// SPDX-License-Identifier: MIT
// Usage: test_glslang opengl|opengles|vulkan|vulkan-descriptors|d3d11 [I/N]
// Plan problems of every sort for a GPU that is not there (those numbered I of N), and compile
// their kernels with glslangValidator: for OpenGL and OpenGL ES; to valid SPIR-V, for Vulkan; for
// Direct3D 11. 77: it is not installed.
#include <kallima/kallima.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../problems.h"
#include "../rows.h"
#include "device/null/null.h"
#include "hlsl.h"

enum { SKIPPED = 77, RANDOM_PROBLEMS = 60, RANDOM_POINTS = 1 << 18 };

static const int64_t lengths[] = { 1,    4,    18,   37,   47,   64,    101,  360,
                                   1009, 1025, 4093, 5040, 8192, 16384, 65537 };

static const struct {
    int64_t n, batch;
    const char *recipe;
} with_recipe[] = {
    { 60, 2, "prime-factor(local(4), local(15))" },
    { 101, 3, "rader(local(10.10))" },
    { 73, 5, "rader(local(12.6))" },
    { 47, 3, "bluestein(n=47, local(12.8))" },
    { 96, 3, "four-step(local(8), local(12))" },
    { 120, 2, "four-step(local(4), four-step(local(5), local(6)))" },
    { 85, 2, "four-step(local(5), rader(local(16)))" },
};

#define COMPILER(options)                                          \
    "log=$(glslangValidator --stdin -S comp " options " 2>&1) || " \
    "{ echo \"$log\" >&2; exit 1; }"

static struct {
    int problem, part, parts, kernels;
    char name[300];
} run = { .parts = 1 };

static bool is_accepted_by(const char *command, const char *text)
{
    FILE *compiler = popen(command, "w");
    if (!compiler)
        return false;
    fputs(text, compiler);
    return pclose(compiler) == 0;
}

static bool glsl_is_accepted(const char *text)
{
    return is_accepted_by(COMPILER(""), text);
}

static bool vulkan_is_accepted(const char *text)
{
    return is_accepted_by(COMPILER("-V --target-env vulkan1.1 --spirv-val -o /dev/null"),
                          text);
}

static bool hlsl_is_accepted(const char *text)
{
    return hlsl_compile(text, "/dev/null");
}

static const struct language {
    const char *name, *selector;
    const struct kal_device_ops *ops;
    bool (*is_accepted)(const char *text);
} languages[] = {
    { "opengl", "nullopengl", &kal_null_opengl_device_ops, glsl_is_accepted },
    { "opengles", "nullopengles", &kal_null_opengles_device_ops, glsl_is_accepted },
    { "vulkan", "nullvulkan", &kal_null_vulkan_device_ops, vulkan_is_accepted },
    { "vulkan-descriptors", "nullopengl", &kal_null_opengl_device_ops,
      vulkan_is_accepted },
    { "d3d11", "nulld3d11", &kal_null_d3d11_device_ops, hlsl_is_accepted },
};
static const struct language *language;

// Compile the text on the way to the device that takes anything.
static kallima_status kernel_create(struct kal_device_kernel **out,
                                    kallima_device *device,
                                    const struct kal_kernel_text *text,
                                    const struct kal_binary *binary,
                                    struct kal_binary *made)
{
    run.kernels++;
    row_ran();
    if (!language->is_accepted(text->text))
        row_fail("%s: a kernel is refused", run.name);
    return language->ops->kernel_create(out, device, text, binary, made);
}

static void plan(kallima_device *device, const kallima_desc *wanted, const char *recipe)
{
    const kallima_plan_options options = { .recipe = recipe, .without_workspace = 1 };
    kallima_desc desc = *wanted;
    kallima_plan *made = NULL;
    if (run.problem++ % run.parts != run.part)
        return;
    if (!device->caps.has_f64)
        desc.precision = KALLIMA_F32;
    problem_print(&desc, run.name, sizeof run.name);
    if (kallima_plan_create(&made, device, &desc, &options) != KALLIMA_OK)
        row_fail("%s: %s", run.name, kallima_last_error());
    kallima_plan_destroy(&made);
}

static void plan_lengths(kallima_device *device)
{
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        for (int kind = KALLIMA_C2C; kind <= KALLIMA_C2R; kind++) {
            for (int f64 = 0; f64 < 2; f64++) {
                const int direction = kind == KALLIMA_C2R ? KALLIMA_INVERSE : 0;
                kallima_desc desc = problem_line(kind, f64, direction, lengths[i]);
                desc.batch = 1 + (int64_t)i % 3;
                desc.scale = i % 4 == 0 ? 0.5 : 1.0;
                plan(device, &desc, NULL);
            }
        }
    }
}

static void plan_recipes(kallima_device *device)
{
    for (size_t i = 0; i < sizeof with_recipe / sizeof with_recipe[0]; i++) {
        kallima_desc desc = problem_line(KALLIMA_C2C, (int)i % 2, 0, with_recipe[i].n);
        desc.batch = with_recipe[i].batch;
        plan(device, &desc, with_recipe[i].recipe);
    }
}

static void plan_random(kallima_device *device)
{
    struct random r = { 430 };
    for (int i = 0; i < RANDOM_PROBLEMS; i++) {
        const kallima_desc desc = problem_random(&r, RANDOM_POINTS);
        plan(device, &desc, NULL);
    }
}

static void kernels_are_accepted(void **state)
{
    const kallima_device_options options = { .kernel_cache = "" };
    struct kal_device_ops ops = *language->ops;
    kallima_device *device = NULL;

    (void)state;
    if (kallima_device_open(&device, language->selector, &options) != KALLIMA_OK)
        fail_msg("%s", kallima_last_error());
    ops.kernel_create = kernel_create;
    device->ops = &ops;
    plan_lengths(device);
    plan_recipes(device);
    plan_random(device);
    kallima_device_close(&device);
    printf("%d problems, %d kernels\n", run.problem / run.parts, run.kernels);
    ROWS_FINISH();
}

int main(int argc, char **argv)
{
    static const struct CMUnitTest tests[] = { cmocka_unit_test(kernels_are_accepted) };

    for (size_t i = 0; argc > 1 && i < sizeof languages / sizeof languages[0]; i++) {
        if (strcmp(argv[1], languages[i].name) == 0)
            language = &languages[i];
    }
    if (!language || (argc > 2 && sscanf(argv[2], "%d/%d", &run.part, &run.parts) != 2))
        return 2;
    if (system("glslangValidator --version >/dev/null 2>&1") != 0) {
        fprintf(stderr, "SKIPPED: glslangValidator is not installed: NO kernel "
                        "was compiled. See scripts/install_dependencies.sh check\n");
        return SKIPPED;
    }
    return cmocka_run_group_tests_name("glslang", tests, NULL, NULL);
}
