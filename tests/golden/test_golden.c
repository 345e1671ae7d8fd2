// SPDX-License-Identifier: MIT
// Usage: test_golden FOLDER [--update]. Texts that change only when someone means them
// to:
// the plans of some problems on one thread of the scalar engine, kernels in every
// language, and names that are stable for ever. With --update the files in FOLDER are
// written instead of compared.
#include <kallima/kallima.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../problems.h"
#include "../rows.h"
#include "factor/rule.h"

static const char *folder = ".";
static bool update;

// clang-format off
static const kallima_desc problems[] = {
    { .rank = 1, .n = { 1 } },
    { .rank = 1, .n = { 2 } },
    { .rank = 1, .n = { 7 }, .batch = 100 },
    { .rank = 1, .n = { 16 }, .batch = 16, .direction = KALLIMA_INVERSE },
    { .rank = 1, .n = { 73 } },
    { .rank = 1, .n = { 47 } },
    { .rank = 1, .n = { 64 }, .precision = KALLIMA_F64 },
    { .rank = 1, .n = { 60 }, .batch = 32, .in.stride = { 32 }, .in.batch_stride = 1,
      .out.stride = { 32 }, .out.batch_stride = 1 },
    { .rank = 1, .n = { 101 }, .batch = 8 },
    { .rank = 1, .n = { 127 }, .in.format = KALLIMA_PLANAR },
    { .rank = 1, .n = { 360 }, .scale = 0.5 },
    { .rank = 1, .n = { 1000 }, .placement = KALLIMA_IN_PLACE },
    { .rank = 1, .n = { 1009 } },
    { .rank = 1, .n = { 1024 }, .batch = 64 },
    { .rank = 1, .n = { 1024 }, .kind = KALLIMA_R2C },
    { .rank = 1, .n = { 1024 }, .kind = KALLIMA_C2R, .precision = KALLIMA_F64 },
    { .rank = 1, .n = { 1025 }, .kind = KALLIMA_R2C },
    { .rank = 1, .n = { 2187 } },
    { .rank = 1, .n = { 4093 } },
    { .rank = 1, .n = { 5040 }, .in.offset = 3, .out.stride = { 2 } },
    { .rank = 1, .n = { 65536 } },
    { .rank = 1, .n = { 65537 } },
    { .rank = 1, .n = { 100003 } },
    { .rank = 1, .n = { 1048576 }, .precision = KALLIMA_F64 },
    { .rank = 1, .n = { 1000003 } },
    { .rank = 2, .n = { 1, 16 } },
    { .rank = 2, .n = { 64, 64 }, .batch = 4 },
    { .rank = 2, .n = { 512, 606 }, .kind = KALLIMA_R2C },
    { .rank = 2, .n = { 512, 606 }, .kind = KALLIMA_C2R, .placement = KALLIMA_IN_PLACE },
    { .rank = 2, .n = { 101, 240 }, .destroy_input = 1 },
    { .rank = 3, .n = { 32, 33, 35 } },
    { .rank = 3, .n = { 100, 100, 100 }, .kind = KALLIMA_R2C, .precision = KALLIMA_F64 },
    { .rank = 4, .n = { 3, 1, 5, 9 }, .batch = 2, .out.format = KALLIMA_PLANAR },
    { .rank = 8, .n = { 2, 2, 2, 2, 2, 2, 2, 2 } },
};
// clang-format on

enum { TEXT_BYTES = 1 << 19 };

struct document {
    char text[TEXT_BYTES];
    size_t length;
};

static struct document now, before;

static void add(const char *text)
{
    const size_t length = strlen(text);
    if (now.length + length >= TEXT_BYTES)
        fail_msg("the golden text is too long");
    memcpy(now.text + now.length, text, length + 1);
    now.length += length;
}

static bool read_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    before.length = file ? fread(before.text, 1, TEXT_BYTES - 1, file) : 0;
    before.text[before.length] = '\0';
    if (file)
        fclose(file);
    return file != NULL;
}

static void write_file(const char *path)
{
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(now.text, 1, now.length, file) != now.length || fclose(file) != 0)
        fail_msg("cannot write %s", path);
}

// Print the first line that differs.
static void show_difference(const char *path)
{
    size_t start = 0, line = 1;
    for (size_t i = 0; now.text[i] && now.text[i] == before.text[i]; i++) {
        if (now.text[i] == '\n') {
            start = i + 1;
            line++;
        }
    }
    row_fail("%s:%zu\n       was %.*s\n       is  %.*s", path, line,
             (int)strcspn(before.text + start, "\n"), before.text + start,
             (int)strcspn(now.text + start, "\n"), now.text + start);
}

static void compare(const char *name)
{
    char path[1000];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    if (update)
        write_file(path);
    row_ran();
    if (!read_file(path))
        row_fail("%s: cannot be read", path);
    else if (strcmp(now.text, before.text) != 0)
        show_difference(path);
}

static void plans_are_as_they_were(void **state)
{
    kallima_device *device = NULL;

    (void)state;
    now.length = 0;
    assert_int_equal(kallima_device_open(&device, "null", NULL), KALLIMA_OK);
    for (size_t i = 0; i < sizeof problems / sizeof problems[0]; i++) {
        char text[16384];
        kallima_plan *plan = NULL;
        if (kallima_plan_create(&plan, device, &problems[i], NULL) != KALLIMA_OK)
            fail_msg("%s", kallima_last_error());
        assert_int_equal(kallima_plan_describe(plan, text, sizeof text, NULL),
                         KALLIMA_OK);
        add(text);
        add("\n");
        kallima_plan_destroy(&plan);
    }
    kallima_device_close(&device);
    compare("plans.txt");
    ROWS_FINISH();
}

// Those of the first problems are written down, of the others only what tells that they
// changed.
enum { KERNELS_IN_FULL = 2 };

static const kallima_desc kernel_problems[] = {
    { .rank = 1, .n = { 4 }, .batch = 5 },
    { .rank = 1, .n = { 18 }, .kind = KALLIMA_R2C, .precision = KALLIMA_F64 },
    { .rank = 1, .n = { 60 }, .batch = 7, .placement = KALLIMA_IN_PLACE },
    { .rank = 1, .n = { 101 }, .in.format = KALLIMA_PLANAR },
    { .rank = 1, .n = { 1024 }, .batch = 64, .direction = KALLIMA_INVERSE },
    { .rank = 1, .n = { 99 }, .kind = KALLIMA_C2R, .scale = 0.5 },
    { .rank = 2, .n = { 48, 32 }, .precision = KALLIMA_F64 },
    // By 59: the long double roots of mingw-w64 differ from those of glibc by a last bit
    // here and there, which shows in constants of 61.
    { .rank = 1, .n = { 708 } },
    { .rank = 1, .n = { 1048576 } },
};

static void add_kernels(const kallima_plan *plan, bool in_full)
{
    static char source[TEXT_BYTES];
    uint64_t hash = 0xcbf29ce484222325u;
    size_t lines = 0, length = 0;
    char line[100];

    if (kallima_plan_get_source(plan, source, sizeof source, &length) != KALLIMA_OK ||
        length >= sizeof source)
        fail_msg("the source cannot be had: %s", kallima_last_error());
    for (const char *at = source; *at; at++) {
        hash = (hash ^ (unsigned char)*at) * 0x100000001b3u;
        lines += *at == '\n';
    }
    snprintf(line, sizeof line, "source   %zu lines, hash %016llx\n", lines,
             (unsigned long long)hash);
    add(line);
    if (in_full)
        add(source);
    add("\n");
}

static bool has_precision(const kallima_device *device, const kallima_desc *desc)
{
    kallima_device_info info;
    assert_int_equal(kallima_device_get_info(device, &info), KALLIMA_OK);
    return desc->precision == KALLIMA_F32 || info.has_f64;
}

static void check_kernels(const char *selector, const char *file)
{
    kallima_device *device = NULL;

    now.length = 0;
    assert_int_equal(kallima_device_open(&device, selector, NULL), KALLIMA_OK);
    for (int i = 0; i < (int)(sizeof kernel_problems / sizeof kernel_problems[0]); i++) {
        char text[16384];
        kallima_plan *plan = NULL;
        if (!has_precision(device, &kernel_problems[i]))
            continue;
        if (kallima_plan_create(&plan, device, &kernel_problems[i], NULL) != KALLIMA_OK)
            fail_msg("%s", kallima_last_error());
        assert_int_equal(kallima_plan_describe(plan, text, sizeof text, NULL),
                         KALLIMA_OK);
        add(text);
        add_kernels(plan, i < KERNELS_IN_FULL);
        kallima_plan_destroy(&plan);
    }
    kallima_device_close(&device);
    compare(file);
}

static void kernels_are_as_they_were(void **state)
{
    (void)state;
    check_kernels("nullopencl", "kernels_opencl.txt");
    check_kernels("nullcuda", "kernels_cuda.txt");
    check_kernels("nullvulkan", "kernels_vulkan.txt");
    check_kernels("nullopengl", "kernels_opengl.txt");
    check_kernels("nullopengles", "kernels_opengles.txt");
    check_kernels("nulld3d11", "kernels_d3d11.txt");
    ROWS_FINISH();
}

static bool is_software_api(const char *selector)
{
    return strcmp(selector, "cpu") == 0 || strcmp(selector, "null") == 0;
}

// Rules are written to recipes, devices to scripts, status numbers to programs.
static void names_never_change(void **state)
{
    kallima_device_info infos[32];
    int32_t count = 0;
    char line[200];

    (void)state;
    now.length = 0;
    now.text[0] = '\0';
    for (int i = 0; i < KAL_RULE_COUNT; i++) {
        snprintf(line, sizeof line, "rule %.80s\n", kal_rules[i]->name);
        add(line);
    }
    for (int i = 0; i < KAL_PARAMETER_COUNT; i++) {
        snprintf(line, sizeof line, "parameter %.80s\n", kal_parameters[i].name);
        add(line);
    }
    assert_int_equal(kallima_device_list(infos, 32, &count), KALLIMA_OK);
    for (int i = 0; i < count && i < 32; i++) {
        snprintf(line, sizeof line, "device %.80s\n", infos[i].selector);
        if (is_software_api(infos[i].selector)) // the others depend on the machine
            add(line);
    }
#define ADD_STATUS(name, value, sentence)                          \
    snprintf(line, sizeof line, "status %d %s\n", KALLIMA_##name,  \
             kallima_status_name((kallima_status)KALLIMA_##name)); \
    add(line);
    KALLIMA_STATUS_LIST(ADD_STATUS)
    compare("names.txt");
    ROWS_FINISH();
}

int main(int argc, char **argv)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(plans_are_as_they_were),
        cmocka_unit_test(kernels_are_as_they_were),
        cmocka_unit_test(names_never_change),
    };
    if (argc > 1)
        folder = argv[1];
    update = argc > 2 && strcmp(argv[2], "--update") == 0;
    return cmocka_run_group_tests_name("golden", tests, NULL, NULL);
}
