// SPDX-License-Identifier: MIT
// Usage: test_device SELECTOR [SIMD] [--brief | --long]. Exit status 77: no such device here.
#include <stdio.h>
#include <string.h>

#include "suite.h"

enum { SKIPPED = 77 };

struct suite suite = { .selector = "cpu", .computes = true };

kallima_device *suite_open(int threads, struct counting *counting)
{
    kallima_device_options options = { .threads = threads, .simd = suite.simd };
    kallima_device *device = NULL;
    if (counting)
        options.allocator = counting_allocator(counting);
    if (kallima_device_open(&device, suite.selector, &options) != KALLIMA_OK)
        fail_msg("%s", kallima_last_error());
    return device;
}

kallima_plan *suite_plan(kallima_device *device, const kallima_desc *desc)
{
    kallima_plan *plan = NULL;
    if (kallima_plan_create(&plan, device, desc, NULL) != KALLIMA_OK)
        fail_msg("%s", kallima_last_error());
    return plan;
}

static int run_api(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(recipes_read_back_to_the_same_plan),
        cmocka_unit_test(damaged_recipes_are_refused),
        cmocka_unit_test(descriptions_name_the_recipe),
        cmocka_unit_test(texts_are_cut_at_the_capacity),
        cmocka_unit_test(costs_are_counted),
        cmocka_unit_test(execution_allocates_nothing),
        cmocka_unit_test(plans_release_what_they_took),
        cmocka_unit_test(plans_keep_their_device_alive),
        cmocka_unit_test(buffers_hold_what_was_written),
        cmocka_unit_test(bad_descriptors_are_refused),
        cmocka_unit_test(colliding_strides_are_refused),
        cmocka_unit_test(distinct_strides_are_accepted),
        cmocka_unit_test(unusual_descriptors_are_accepted),
        cmocka_unit_test(bad_arguments_of_plans_are_refused),
        cmocka_unit_test(bad_arrays_are_refused),
        cmocka_unit_test(bad_buffers_are_refused),
        cmocka_unit_test(bad_devices_are_refused),
        cmocka_unit_test(null_pointers_are_harmless),
    };
    return cmocka_run_group_tests_name("api", tests, NULL, NULL);
}

static int run_numbers(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(oracles_agree),
        cmocka_unit_test(lengths_match_the_oracle),
        cmocka_unit_test(large_lengths_match_the_oracle),
        cmocka_unit_test(million_and_three_matches_the_oracle),
        cmocka_unit_test(every_style_of_layout_is_computed),
        cmocka_unit_test(shapes_of_many_axes_are_computed),
        cmocka_unit_test(random_problems_are_computed),
        cmocka_unit_test(scales_are_applied),
        cmocka_unit_test(tiny_and_huge_values_survive),
        cmocka_unit_test(transforms_are_linear),
        cmocka_unit_test(impulses_give_roots_of_unity),
        cmocka_unit_test(shifts_give_phases),
        cmocka_unit_test(energy_is_kept),
        cmocka_unit_test(round_trips_return_the_input),
        cmocka_unit_test(written_recipes_are_followed),
        cmocka_unit_test(bits_do_not_depend_on_threads),
        cmocka_unit_test(bits_do_not_change_between_runs),
        cmocka_unit_test(bits_do_not_depend_on_the_way),
    };
    return cmocka_run_group_tests_name("numbers", tests, NULL, NULL);
}

static void read_arguments(int argc, char **argv)
{
    int position = 0;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--long") == 0)
            suite.is_long = true;
        else if (strcmp(argv[i], "--brief") == 0)
            suite.is_brief = true;
        else if (position++ == 0)
            suite.selector = argv[i];
        else
            suite.simd = argv[i];
    }
    suite.computes = strcmp(suite.selector, "null") != 0;
}

int main(int argc, char **argv)
{
    read_arguments(argc, argv);
    const kallima_device_options options = { .simd = suite.simd };
    const kallima_status status =
        kallima_device_open(&suite.device, suite.selector, &options);
    if (status == KALLIMA_E_ABSENT || status == KALLIMA_E_UNSUPPORTED) {
        fprintf(stderr, "skipped: %s\n", kallima_last_error());
        return SKIPPED;
    }
    if (status != KALLIMA_OK) {
        fprintf(stderr, "%s\n", kallima_last_error());
        return 1;
    }
    int failed = run_api();
    if (suite.computes)
        failed += run_numbers();
    kallima_device_close(&suite.device);
    return failed > 0;
}
