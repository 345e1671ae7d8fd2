// SPDX-License-Identifier: MIT
// Lengths that are fast: within their limits, and as wisdom has it measured.
#include <kallima/kallima.h>
#include <stdio.h>
#include <stdlib.h>

#include "../pretend.h"
#include "../rows.h"
#include "device/device.h"
#include "math/number.h"
#include "problem/problem.h"

static kallima_device *open_device(const char *selector)
{
    const kallima_device_options options = { .threads = 1, .wisdom = "" };
    kallima_device *device = NULL;
    assert_int_equal(kallima_device_open(&device, selector, &options), KALLIMA_OK);
    return device;
}

static void lengths_are_near_and_never_shorter(void **state)
{
    static const char *const selectors[] = { "cpu",        "nullcuda",   "nullopencl",
                                             "nullvulkan", "nullopengl", "nullopengles",
                                             "nulld3d11" };
    static const int64_t lengths[] = { 1,    2,    3,     7,      16,      97,     1000,
                                       1021, 4099, 65537, 100003, 1000003, 1 << 25 };
    (void)state;
    for (size_t i = 0; i < KAL_COUNT(selectors); i++) {
        kallima_device *device = open_device(selectors[i]);
        for (size_t j = 0; j < KAL_COUNT(lengths); j++) {
            const kallima_desc desc = { .rank = 1, .n = { lengths[j] }, .batch = 10 };
            int64_t n = 0;
            row_ran();
            if (kallima_good_length(device, &desc, 0, &n) != KALLIMA_OK)
                row_fail("%s: %s", selectors[i], kallima_last_error());
            if (n < lengths[j] || n > lengths[j] + lengths[j] / 4)
                row_fail("%s: %lld for %lld", selectors[i], (long long)n,
                         (long long)lengths[j]);
            // A long prime is never faster than what is near.
            if (lengths[j] > 1000 && kal_is_prime(n))
                row_fail("%s: %lld is prime", selectors[i], (long long)n);
        }
        kallima_device_close(&device);
    }
    ROWS_FINISH();
}

// Pretend that transforms of n points were measured to take `time_ns`.
static void measure(kallima_device *device, int64_t n, double time_ns)
{
    const kallima_desc desc = { .rank = 1, .n = { n } };
    struct kal_problem problem;
    kallima_wisdom_owner owner;
    struct kal_text key;

    assert_int_equal(kallima_device_get_owner(device, &owner), KALLIMA_OK);
    assert_int_equal(kal_problem_init(&problem, NULL, &desc), KALLIMA_OK);
    kal_text_init(&key, NULL);
    kal_problem_print(&key, &problem);
    kallima_wisdom_entry entry = pretend_plan(key.data, "local(2)", time_ns);
    entry.device = owner.device;
    entry.driver = owner.driver;
    entry.version = owner.version;
    pretend_add(kallima_device_get_wisdom(device), entry);
    kal_text_clear(&key);
}

static void what_was_measured_decides(void **state)
{
    const kallima_desc desc = { .rank = 1, .n = { 1000 } };
    kallima_device *device = open_device("cpu");
    int64_t n = 0;

    (void)state;
    // All that is known takes as long as predicted, but for one length.
    measure(device, 1001, 1.0);
    assert_int_equal(kallima_good_length(device, &desc, 0, &n), KALLIMA_OK);
    measure(device, 1000, 1e6);
    measure(device, 1024, 1e6);
    assert_int_equal(kallima_good_length(device, &desc, 0, &n), KALLIMA_OK);
    assert_int_equal(n, 1001);
    measure(device, 1040, 0.5);
    assert_int_equal(kallima_good_length(device, &desc, 0, &n), KALLIMA_OK);
    assert_int_equal(n, 1040);
    kallima_device_close(&device);
}

static void each_axis_can_be_asked_about(void **state)
{
    const kallima_desc desc = { .rank = 2, .n = { 1021, 64 }, .kind = KALLIMA_R2C };
    kallima_device *device = open_device("cpu");
    int64_t n = 0;

    (void)state;
    assert_int_equal(kallima_good_length(device, &desc, 0, &n), KALLIMA_OK);
    assert_true(n > 1021 && n <= 1276);
    assert_int_equal(kallima_good_length(device, &desc, 1, &n), KALLIMA_OK);
    assert_true(n >= 64 && n <= 80);
    kallima_device_close(&device);
}

// Lengths next to it would be refused.
static void largest_problems_have_lengths(void **state)
{
    const kallima_desc desc = { .rank = 1, .n = { 127 }, .batch = (int64_t)1 << 50 };
    kallima_device *device = open_device("cpu");
    int64_t n = 0;

    (void)state;
    assert_int_equal(kallima_good_length(device, &desc, 0, &n), KALLIMA_OK);
    assert_true(n == 127 || n == 128);
    kallima_device_close(&device);
}

static void bad_arguments_are_refused(void **state)
{
    const kallima_desc desc = { .rank = 1, .n = { 10 } }, nonsense = { .rank = 9 };
    kallima_device *device = open_device("cpu");
    int64_t n = 0;

    (void)state;
    assert_int_equal(kallima_good_length(NULL, &desc, 0, &n), KALLIMA_E_ARGUMENT);
    assert_int_equal(kallima_good_length(device, NULL, 0, &n), KALLIMA_E_ARGUMENT);
    assert_int_equal(kallima_good_length(device, &desc, 0, NULL), KALLIMA_E_ARGUMENT);
    assert_int_equal(kallima_good_length(device, &desc, 1, &n), KALLIMA_E_ARGUMENT);
    assert_int_equal(kallima_good_length(device, &desc, -1, &n), KALLIMA_E_ARGUMENT);
    assert_int_equal(kallima_good_length(device, &nonsense, 0, &n), KALLIMA_E_ARGUMENT);
    kallima_device_close(&device);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(lengths_are_near_and_never_shorter),
        cmocka_unit_test(what_was_measured_decides),
        cmocka_unit_test(each_axis_can_be_asked_about),
        cmocka_unit_test(largest_problems_have_lengths),
        cmocka_unit_test(bad_arguments_are_refused),
    };
    return cmocka_run_group_tests_name("good-length", tests, NULL, NULL);
}
