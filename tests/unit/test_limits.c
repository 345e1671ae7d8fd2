// SPDX-License-Identifier: MIT
// Devices that are made smaller than they are, by an option and by the environment.
#include <kallima/kallima.h>
#include <stdlib.h>
#include <string.h>

#include "../rows.h"
#include "device/device.h"

// Those that are there are tested.
static const char *const selectors[] = { "nullcuda",     "nullopencl", "nullopengl",
                                         "nullopengles", "cuda",       "opencl",
                                         "opengl",       "vulkan" };

static const struct kal_caps none;

// The limits of a device, all zero if it is absent.
static struct kal_caps caps_of(const char *selector, const kallima_limits *limits)
{
    const kallima_device_options options = { .limits = *limits };
    kallima_device *device = NULL;
    struct kal_caps caps = none;
    const kallima_status status = kallima_device_open(&device, selector, &options);
    ROW_CHECK(status == KALLIMA_OK || status == KALLIMA_E_ABSENT);
    if (device)
        caps = device->caps;
    kallima_device_close(&device);
    return caps;
}

static const kallima_limits small = { .group_bytes = 4096,
                                      .buffer_bytes = 1 << 20,
                                      .group_lanes = 32,
                                      .row_groups = 16,
                                      .cluster_groups = 2 };

static bool is_small(const struct kal_caps *caps, const struct kal_caps *own)
{
    return caps->group_bytes == 4096 && caps->near_bytes <= 4096 &&
           caps->buffer_bytes == 1 << 20 && caps->group_lanes == 32 &&
           caps->row_groups == (own->row_groups ? 16 : 0) &&
           caps->cluster_groups == (own->cluster_groups > 2 ? 2 : own->cluster_groups);
}

static bool is_same(const struct kal_caps *a, const struct kal_caps *b)
{
    return a->group_bytes == b->group_bytes && a->near_bytes == b->near_bytes &&
           a->buffer_bytes == b->buffer_bytes && a->group_lanes == b->group_lanes &&
           a->row_groups == b->row_groups && a->cluster_groups == b->cluster_groups;
}

static void set_environment(const char *const values[5])
{
    static const char *const names[] = { "KALLIMA_GROUP_BYTES", "KALLIMA_BUFFER_BYTES",
                                         "KALLIMA_GROUP_LANES", "KALLIMA_ROW_GROUPS",
                                         "KALLIMA_CLUSTER_GROUPS" };
    for (int i = 0; i < 5; i++) {
        if (values)
            setenv(names[i], values[i], 1);
        else
            unsetenv(names[i]);
    }
}

static void check_device(const char *selector)
{
    static const kallima_limits nothing;
    static const kallima_limits large = { UINT64_MAX, UINT64_MAX - 1, INT32_MAX,
                                          INT32_MAX,  INT32_MAX,      0 };
    const kallima_limits half = { .group_bytes = 4096, .row_groups = 16 };
    const struct kal_caps own = caps_of(selector, &nothing);
    struct kal_caps caps = caps_of(selector, &small);

    if (own.language == KAL_LANGUAGE_NONE)
        return;
    ROW_CHECK(own.group_bytes > 4096 && own.group_lanes > 32);
    ROW_CHECK(is_small(&caps, &own));
    caps = caps_of(selector, &large);
    caps.buffer_bytes = own.buffer_bytes ? caps.buffer_bytes : 0; // none is the largest
    ROW_CHECK(is_same(&caps, &own));

    set_environment((const char *const[]){ "4096", "1048576", "32", "16", "2" });
    caps = caps_of(selector, &nothing);
    ROW_CHECK(is_small(&caps, &own));
    set_environment((const char *const[]){ "8192", "1048576", "32", "99", "2" });
    caps = caps_of(selector, &half);
    ROW_CHECK(is_small(&caps, &own));
    set_environment((const char *const[]){ "-1", "0", "", "many", "-7" });
    caps = caps_of(selector, &nothing);
    ROW_CHECK(is_same(&caps, &own));
    set_environment((const char *const[]){ "4096 bytes", "1e6", " 32",
                                           "-18446744073709551600", "0x2" });
    caps = caps_of(selector, &nothing);
    ROW_CHECK(is_same(&caps, &own));
    set_environment(NULL);
}

static void limits_are_lowered_only(void **state)
{
    (void)state;
    for (size_t i = 0; i < KAL_COUNT(selectors); i++)
        check_device(selectors[i]);
    ROWS_FINISH();
}

static void hosts_have_no_limits(void **state)
{
    static const kallima_limits nothing;
    static const char *const hosts[] = { "cpu", "null" };

    (void)state;
    for (size_t i = 0; i < KAL_COUNT(hosts); i++) {
        const struct kal_caps own = caps_of(hosts[i], &nothing);
        const struct kal_caps caps = caps_of(hosts[i], &small);
        ROW_CHECK(own.near_bytes > 4096 && is_same(&own, &caps));
    }
    ROWS_FINISH();
}

static void negative_limits_are_refused(void **state)
{
    static const kallima_limits rows[] = { { .group_lanes = -1 },
                                           { .row_groups = -1 },
                                           { .cluster_groups = -1 } };
    (void)state;
    for (size_t i = 0; i < KAL_COUNT(rows); i++) {
        const kallima_device_options options = { .limits = rows[i] };
        kallima_device *device = NULL;
        ROW_CHECK(kallima_device_open(&device, "null", &options) == KALLIMA_E_ARGUMENT);
        ROW_CHECK(device == NULL && strstr(kallima_last_error(), "limits."));
    }
    ROWS_FINISH();
}

static void check_tiny(uint64_t group_bytes, const char *said)
{
    const kallima_device_options options = { .limits.group_bytes = group_bytes };
    kallima_device *device = NULL;
    ROW_CHECK(kallima_device_open(&device, "nullopengl", &options) == KALLIMA_E_ARGUMENT);
    ROW_CHECK(device == NULL && strstr(kallima_last_error(), said));
}

// Nothing could be planned for them.
static void groups_without_memory_are_refused(void **state)
{
    (void)state;
    check_tiny(1023, "= 1023; must be at least 1024");
    setenv("KALLIMA_GROUP_BYTES", "8", 1);
    check_tiny(0, "= 8; must be at least 1024");
    unsetenv("KALLIMA_GROUP_BYTES");
    ROWS_FINISH();
}

// What is as small as can be, or nearly, is planned for, or told why not.
static void check_smallest(const char *selector)
{
    static const kallima_limits rows[] = { { .group_bytes = 1024 },
                                           { .group_lanes = 1 },
                                           { .group_bytes = 1024, .group_lanes = 1 },
                                           { .group_bytes = 8192, .group_lanes = 256 },
                                           { .buffer_bytes = 1 },
                                           { .row_groups = 1, .cluster_groups = 1 } };
    static const int64_t lengths[] = { 1, 2, 37, 60, 101, 1000, 4096, 65537, 262144 };
    const kallima_plan_options bare = { .without_workspace = 1 };

    for (size_t i = 0; i < KAL_COUNT(rows) * KAL_COUNT(lengths) * 6; i++) {
        const kallima_device_options options = { .limits = rows[i % KAL_COUNT(rows)] };
        const size_t k = i / KAL_COUNT(rows);
        const kallima_desc desc = { .rank = 1,
                                    .n = { lengths[k % KAL_COUNT(lengths)] },
                                    .kind = (int32_t)(k / KAL_COUNT(lengths) % 3),
                                    .precision = (int32_t)(k / KAL_COUNT(lengths) / 3),
                                    .batch = 4 };
        kallima_device *device = NULL;
        kallima_plan *plan = NULL;
        ROW_CHECK(kallima_device_open(&device, selector, &options) == KALLIMA_OK);
        const kallima_status status = kallima_plan_create(&plan, device, &desc, &bare);
        ROW_CHECK(status == KALLIMA_OK || status == KALLIMA_E_UNSUPPORTED);
        kallima_plan_destroy(&plan);
        kallima_device_close(&device);
    }
}

static void the_smallest_devices_are_planned_for(void **state)
{
    (void)state;
    check_smallest("nullcuda");
    check_smallest("nullvulkan");
    ROWS_FINISH();
}

// What fits one group of the device itself takes two passes of a smaller one's.
static void check_plans(const char *selector)
{
    const kallima_device_options options = { .limits = small };
    const kallima_desc line = { .rank = 1, .n = { 2048 } };
    const kallima_desc long_array = { .rank = 1, .n = { 64 }, .batch = 2049 };
    const kallima_plan_options bare = { .without_workspace = 1 };
    char recipe[2][200] = { "", "" };

    for (int i = 0; i < 2; i++) {
        kallima_device *device = NULL;
        kallima_plan *plan = NULL;
        ROW_CHECK(kallima_device_open(&device, selector, i ? &options : NULL) ==
                  KALLIMA_OK);
        ROW_CHECK(kallima_plan_create(&plan, device, &line, &bare) == KALLIMA_OK);
        kallima_plan_get_recipe(plan, recipe[i], sizeof recipe[i], NULL);
        kallima_plan_destroy(&plan);
        ROW_CHECK(kallima_plan_create(&plan, device, &long_array, &bare) ==
                  (i ? KALLIMA_E_UNSUPPORTED : KALLIMA_OK));
        ROW_CHECK(i == 0 || strstr(kallima_last_error(), "reach 1048576"));
        kallima_plan_destroy(&plan);
        kallima_device_close(&device);
    }
    ROW_CHECK(strncmp(recipe[0], "local", 5) == 0);
    ROW_CHECK(strncmp(recipe[1], "four-step", 9) == 0);
}

static void plans_keep_to_lowered_limits(void **state)
{
    (void)state;
    check_plans("nullcuda");
    check_plans("nullopencl");
    check_plans("nullopengl");
    ROWS_FINISH();
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(limits_are_lowered_only),
        cmocka_unit_test(hosts_have_no_limits),
        cmocka_unit_test(negative_limits_are_refused),
        cmocka_unit_test(groups_without_memory_are_refused),
        cmocka_unit_test(the_smallest_devices_are_planned_for),
        cmocka_unit_test(plans_keep_to_lowered_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
