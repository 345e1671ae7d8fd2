// SPDX-License-Identifier: MIT
// Usage: test_hlsl [I/N]
// Kernels in HLSL, f32 and f64, compiled by glslang and run on Vulkan (those numbered I of N),
// compared with the oracle. 77: there is no Vulkan, or no glslang.
#include <kallima/kallima.h>
#include <stdio.h>
#include <stdlib.h>

#include "../problems.h"
#include "../rows.h"
#include "../trial.h"
#include "base/base.h"
#include "hlsl_device.h"

enum { SKIPPED = 77, RANDOM_PROBLEMS = 12, RANDOM_POINTS = 1 << 11 };

static struct {
    kallima_device *device;
    int part, parts, row;
} run = { .parts = 1 };

#define LINE(length) .rank = 1, .n = { length }
#define PLANAR       .in.format = KALLIMA_PLANAR, .out.format = KALLIMA_PLANAR
#define INVERSE      .direction = KALLIMA_INVERSE
#define IN_PLACE     .placement = KALLIMA_IN_PLACE
#define F64          .precision = KALLIMA_F64
#define R2C          .kind = KALLIMA_R2C
#define C2R          .kind = KALLIMA_C2R

// Every sort of pass, in f64 unless that is too large for a group.
static const struct {
    kallima_desc desc;
    const char *recipe; // NULL: the planner's
} rows[] = {
    { { LINE(1), .batch = 5, F64 }, NULL },
    { { LINE(60), .batch = 33, F64, IN_PLACE }, NULL },
    { { LINE(61), .batch = 9, F64, INVERSE }, NULL },
    { { LINE(4), .batch = 70000, .scale = 0.25 }, "local(4, lines=1)" }, // groups in rows
    { { LINE(1000), .batch = 3, F64, PLANAR }, NULL },
    { { LINE(360), .batch = 5, F64, PLANAR, IN_PLACE }, NULL },
    { { LINE(625), .batch = 3 }, NULL },
    { { LINE(1024), .batch = 4, F64 }, NULL },
    { { LINE(2187), .batch = 2, INVERSE }, NULL },
    { { LINE(8192), .batch = 2, F64, IN_PLACE }, NULL },
    { { LINE(65536), .batch = 1, F64 }, NULL },
    { { LINE(101), .batch = 7, F64 }, NULL },
    { { LINE(1009), .batch = 2, F64, IN_PLACE, INVERSE }, NULL },
    { { LINE(10007), .batch = 1 }, NULL },
    { { LINE(47), .batch = 6, F64 }, "bluestein(n=47, local(12.8))" },
    { { LINE(60), .batch = 8, F64 }, "prime-factor(local(4), local(15))" },
    { { LINE(120), .batch = 6, F64, IN_PLACE },
      "four-step(local(4), four-step(local(5), local(6)))" },
    { { LINE(100), .batch = 13, R2C, F64 }, NULL },
    { { LINE(96), .batch = 13, C2R, IN_PLACE, F64 }, NULL },
    { { LINE(99), .batch = 5, C2R, F64 }, NULL },
    { { LINE(511), .batch = 5, R2C, F64 }, NULL },
    { { LINE(8192), .batch = 3, R2C, F64 }, NULL },
    { { LINE(8192), .batch = 2, C2R, F64 }, NULL },
    { { .rank = 2, .n = { 20, 24 }, .batch = 5, F64 }, NULL },
    { { .rank = 2, .n = { 64, 64 }, .batch = 3, F64, IN_PLACE }, NULL },
    { { .rank = 2, .n = { 18, 34 }, .batch = 4, R2C, IN_PLACE, F64 }, NULL },
    { { .rank = 3, .n = { 12, 10, 9 }, .batch = 2, F64 }, NULL },
    { { .rank = 3, .n = { 30, 32, 36 }, .batch = 1, C2R }, NULL },
};

static void check(const kallima_desc *desc, const char *recipe)
{
    const int row = run.row++;
    const struct trial t = { .desc = *desc,
                             .seed = 3 * ((uint64_t)row + 1),
                             .way = row % 2 ? WAY_BUFFERS : WAY_OWNED,
                             .recipe = recipe };
    if (row % run.parts == run.part)
        trial_check(&t, run.device);
}

static void kernels_match_the_oracle(void **state)
{
    struct random r = { 430 };
    (void)state;
    for (size_t i = 0; i < KAL_COUNT(rows); i++)
        check(&rows[i].desc, rows[i].recipe);
    for (int i = 0; i < RANDOM_PROBLEMS; i++) {
        const kallima_desc desc = problem_random(&r, RANDOM_POINTS);
        check(&desc, NULL);
    }
    ROWS_FINISH();
}

int main(int argc, char **argv)
{
    static const struct CMUnitTest tests[] = { cmocka_unit_test(
        kernels_match_the_oracle) };

    if (argc > 1 && sscanf(argv[1], "%d/%d", &run.part, &run.parts) != 2)
        return 2;
    if (system("glslangValidator --version >/dev/null 2>&1") == 0)
        hlsl_device_open(&run.device);
    if (!run.device) {
        fprintf(stderr,
                "SKIPPED: glslangValidator or a Vulkan driver is not installed: NO "
                "kernel in HLSL was run. See scripts/install_dependencies.sh check\n");
        return SKIPPED;
    }
    const int failed = cmocka_run_group_tests_name("hlsl", tests, NULL, NULL);
    kallima_device_close(&run.device);
    return failed;
}
