// SPDX-License-Identifier: MIT
// Usage: test_device SELECTOR [SIMD] [--brief | --long] [--group NAME] [--part I/N]
//        [--sample N] [--absent]
// Exit status 77: no such device here. --absent: there must be none of this API. --part: every
// Nth trial, for runs side by side where compilers take most of the time.
#include <stdio.h>
#include <string.h>

#include "suite.h"

enum { SKIPPED = 77 };

struct suite suite = { .selector = "cpu", .computes = true, .parts = 1, .sample = 1 };

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

const kallima_desc *suite_problem(const kallima_desc *desc)
{
    static kallima_desc lowered;
    if (suite.has_f64)
        return desc;
    lowered = *desc;
    lowered.precision = KALLIMA_F32;
    return &lowered;
}

kallima_plan *suite_plan(kallima_device *device, const kallima_desc *desc)
{
    kallima_plan *plan = NULL;
    if (kallima_plan_create(&plan, device, desc, NULL) != KALLIMA_OK)
        fail_msg("%s", kallima_last_error());
    return plan;
}

bool suite_takes(uint64_t row, int one_of)
{
    struct random r = { row };
    one_of *= suite.is_brief ? 4 * suite.sample : suite.sample;
    return !suite.takes_kernels || suite.is_long ||
           random_next(&r) % (uint64_t)one_of == 0;
}

bool suite_is_mine(uint64_t row)
{
    struct random r = { row };
    const bool is_mine = random_next(&r) % (uint64_t)suite.parts == (uint64_t)suite.part;
    if (!is_mine)
        row_left();
    return is_mine;
}

void suite_check(const struct trial *trial, kallima_device *device)
{
    static uint64_t trials;
    if (suite_is_mine(trials++))
        trial_check(trial, device);
}

static int run_api(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(recipes_read_back_to_the_same_plan),
        cmocka_unit_test(damaged_recipes_are_refused),
        cmocka_unit_test(parameters_beyond_the_engine_are_refused),
        cmocka_unit_test(descriptions_name_the_recipe),
        cmocka_unit_test(texts_are_cut_at_the_capacity),
        cmocka_unit_test(costs_are_counted),
        cmocka_unit_test(execution_allocates_nothing),
        cmocka_unit_test(plans_without_a_workspace_need_one),
        cmocka_unit_test(plans_release_what_they_took),
        cmocka_unit_test(plans_keep_their_device_alive),
        cmocka_unit_test(buffers_hold_what_was_written),
        cmocka_unit_test(bad_descriptors_are_refused),
        cmocka_unit_test(scratch_beyond_memory_is_refused),
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

static int run_few(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_few_of_every_sort_are_computed),
    };
    return cmocka_run_group_tests_name("few", tests, NULL, NULL);
}

static int run_lengths(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(oracles_agree),
        cmocka_unit_test(short_lines_lie_anywhere),
        cmocka_unit_test(few_lines_lie_anywhere),
        cmocka_unit_test(lengths_take_turns),
        cmocka_unit_test(lengths_match_the_oracle),
    };
    return cmocka_run_group_tests_name("lengths", tests, NULL, NULL);
}

static int run_large(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(large_lengths_match_the_oracle),
        cmocka_unit_test(long_real_lines_match_the_oracle),
        cmocka_unit_test(convolutions_of_many_lines_are_computed),
        cmocka_unit_test(million_and_three_matches_the_oracle),
    };
    return cmocka_run_group_tests_name("large", tests, NULL, NULL);
}

static int run_layouts(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_style_of_layout_is_computed),
        cmocka_unit_test(shapes_of_many_axes_are_computed),
        cmocka_unit_test(planes_of_reals_are_computed),
        cmocka_unit_test(long_columns_are_computed),
        cmocka_unit_test(arrays_that_meet_in_cache_sets_are_computed),
        cmocka_unit_test(random_problems_are_computed),
        cmocka_unit_test(scales_are_applied),
        cmocka_unit_test(scales_of_short_lines_are_applied),
        cmocka_unit_test(short_lines_of_every_count_are_computed),
        cmocka_unit_test(short_lines_anywhere_are_computed),
        cmocka_unit_test(convolved_lines_are_computed),
        cmocka_unit_test(short_lines_past_the_caches_are_computed),
        cmocka_unit_test(single_lines_past_the_caches_are_computed),
        cmocka_unit_test(lines_that_leave_the_caches_are_computed),
        cmocka_unit_test(lines_in_their_output_are_computed),
        cmocka_unit_test(arrays_of_rows_alone_are_computed),
        cmocka_unit_test(arrays_of_divided_rows_are_computed),
        cmocka_unit_test(arrays_of_few_columns_are_computed),
        cmocka_unit_test(lines_of_packed_reals_are_computed),
        cmocka_unit_test(arrays_of_codelets_are_computed),
        cmocka_unit_test(arrays_past_the_caches_are_computed),
        cmocka_unit_test(arrays_of_small_arrays_are_computed),
        cmocka_unit_test(groups_of_small_arrays_are_computed),
        cmocka_unit_test(arrays_beside_each_other_are_computed),
        cmocka_unit_test(arrays_that_are_turned_are_computed),
        cmocka_unit_test(columns_are_computed),
        cmocka_unit_test(arrays_apart_are_computed),
        cmocka_unit_test(small_arrays_are_computed),
        cmocka_unit_test(planes_of_one_function_are_computed),
        cmocka_unit_test(real_planes_of_one_function_are_computed),
        cmocka_unit_test(lines_of_small_batches_are_computed),
        cmocka_unit_test(tiny_and_huge_values_survive),
    };
    return cmocka_run_group_tests_name("layouts", tests, NULL, NULL);
}

static int run_properties(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(transforms_are_linear),
        cmocka_unit_test(impulses_give_roots_of_unity),
        cmocka_unit_test(shifts_give_phases),
        cmocka_unit_test(energy_is_kept),
        cmocka_unit_test(round_trips_return_the_input),
    };
    return cmocka_run_group_tests_name("properties", tests, NULL, NULL);
}

static int run_recipes(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(written_recipes_are_followed),
        cmocka_unit_test(written_planes_are_followed),
        cmocka_unit_test(bits_do_not_depend_on_threads),
        cmocka_unit_test(bits_do_not_depend_on_who_shares_a_line),
        cmocka_unit_test(bits_do_not_change_between_runs),
        cmocka_unit_test(bits_do_not_depend_on_the_way),
    };
    return cmocka_run_group_tests_name("recipes", tests, NULL, NULL);
}

static int run_operations(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(devices_are_listed_and_described),
        cmocka_unit_test(numbers_beyond_the_list_are_absent),
        cmocka_unit_test(kernels_see_slots_and_offsets),
        cmocka_unit_test(launches_take_the_arrays_they_are_given),
        cmocka_unit_test(groups_have_the_memory_that_is_told),
        cmocka_unit_test(many_groups_are_launched_once_each),
        cmocka_unit_test(events_are_refused),
        cmocka_unit_test(zeros_and_copies_reach_their_range),
        cmocka_unit_test(timers_measure_the_device),
        cmocka_unit_test(errors_in_a_text_come_with_the_log),
        cmocka_unit_test(kernels_beyond_the_limits_are_refused),
        cmocka_unit_test(binaries_make_the_same_kernel),
        cmocka_unit_test(keys_name_the_driver),
        cmocka_unit_test(rounding_is_found),
        cmocka_unit_test(large_buffers_are_refused_with_the_number),
        cmocka_unit_test(plans_out_of_reach_are_refused_with_the_limit),
        cmocka_unit_test(calls_of_threads_are_not_mixed),
        cmocka_unit_test(exhausted_memory_leaves_nothing),
        cmocka_unit_test(the_environment_makes_groups_smaller),
    };
    return cmocka_run_group_tests_name("operations", tests, NULL, NULL);
}

static const struct {
    const char *name;
    int (*run)(void);
    bool has_numbers, has_kernels;
} groups[] = {
    { "api", run_api, false, false },
    { "operations", run_operations, true, true },
    { "few", run_few, true, false },
    { "lengths", run_lengths, true, false },
    { "large", run_large, true, false },
    { "layouts", run_layouts, true, false },
    { "properties", run_properties, true, false },
    { "recipes", run_recipes, true, false },
};

// All groups, or the one that is named.
static int run_groups(const char *name)
{
    int failed = 0, known = 0;
    for (size_t i = 0; i < sizeof groups / sizeof groups[0]; i++) {
        if (name && strcmp(name, groups[i].name) != 0)
            continue;
        known++;
        if ((suite.computes || !groups[i].has_numbers) &&
            (suite.takes_kernels || !groups[i].has_kernels))
            failed += groups[i].run();
    }
    if (!known)
        fprintf(stderr, "--group %s: no such group of tests\n", name);
    return failed + !known;
}

// Return the name of the only group to be run, or NULL.
static const char *read_arguments(int argc, char **argv)
{
    const char *group = NULL;
    int position = 0;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--long") == 0)
            suite.is_long = true;
        else if (strcmp(argv[i], "--brief") == 0)
            suite.is_brief = true;
        else if (strcmp(argv[i], "--absent") == 0)
            suite.is_absent = true;
        else if (strcmp(argv[i], "--group") == 0 && i + 1 < argc)
            group = argv[++i];
        else if (strcmp(argv[i], "--part") == 0 && i + 1 < argc)
            (void)sscanf(argv[++i], "%d/%d", &suite.part, &suite.parts);
        else if (strcmp(argv[i], "--sample") == 0 && i + 1 < argc)
            (void)sscanf(argv[++i], "%d", &suite.sample);
        else if (position++ == 0)
            suite.selector = argv[i];
        else
            suite.simd = argv[i];
    }
    suite.computes = strncmp(suite.selector, "null", 4) != 0;
    return group;
}

static bool has_f64(void)
{
    kallima_device_info info;
    (void)kallima_device_get_info(suite.device, &info);
    return info.has_f64;
}

static bool takes_kernels(void)
{
    const kallima_desc d = problem_line(KALLIMA_C2C, KALLIMA_F32, KALLIMA_FORWARD, 1);
    kallima_plan *plan = NULL;
    (void)kallima_plan_create(&plan, suite.device, &d, NULL);
    const kallima_status status = kallima_plan_get_source(plan, NULL, 0, NULL);
    kallima_plan_destroy(&plan);
    return status == KALLIMA_OK;
}

int main(int argc, char **argv)
{
    const char *group = read_arguments(argc, argv);
    if (suite.is_absent)
        return find_present(suite.selector);
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
    trial_report_crashes();
    suite.has_f64 = has_f64();
    suite.takes_kernels = takes_kernels();
    const bool is_told = oracle_set_device(suite.device);
    if (!is_told)
        fprintf(stderr, "%s\n", kallima_last_error());
    const int failed = run_groups(group) + !is_told;
    kallima_device_close(&suite.device);
    return failed > 0;
}
