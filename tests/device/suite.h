// SPDX-License-Identifier: MIT
// The device suite: one body of tests, run once for each device. main.c lists them.
#ifndef TESTS_DEVICE_SUITE_H_
#define TESTS_DEVICE_SUITE_H_

#include <kallima/kallima.h>
#include <stdbool.h>

#include "../counting.h"
#include "../problems.h"
#include "../rows.h"
#include "../trial.h"

/** What the suite runs on, and how much of it. */
struct suite {
    const char *selector, *simd; // simd: NULL for the device's best
    bool computes; // false: the device runs nothing, outputs stay as they are
    bool has_f64;
    bool takes_kernels; // plans are compiled, which takes long, and arrays are staged
    bool is_long;       // the whole sweep
    bool is_absent;     // there must be no such device
    bool is_brief;      // for emulators and sanitizers: small sizes
    int part, parts;    // of the rows that suite_is_mine() shares out among several runs
    int sample;         // of the rows that suite_takes(), one of so many
    kallima_device *device; // default number of threads
};

extern struct suite suite;

/** Open the suite's device with a number of threads and, unless NULL, an allocator. */
kallima_device *suite_open(int threads, struct counting *counting);

/**
 * Whether row number `row` of a test is run: always, but where plans are compiled and the
 * run is not the long one, one row of `one_of`, or fewer still: of four times as many in a brief
 * run, of as many more as --sample says.
 */
bool suite_takes(uint64_t row, int one_of);

/**
 * Whether row number `row` of a test is this run's, where --part shares the rows out among
 * several runs; if not, it is counted as one that runs elsewhere.
 */
bool suite_is_mine(uint64_t row);

/** trial_check(), where --part leaves this trial to this run: they are numbered as they come. */
void suite_check(const struct trial *trial, kallima_device *device);

/**
 * Return `desc` or, on a device that computes in f32 alone, a copy of it in f32, which the next
 * call overwrites.
 */
const kallima_desc *suite_problem(const kallima_desc *desc);

/** Plan `desc` on `device`; fail the test if that is refused. */
kallima_plan *suite_plan(kallima_device *device, const kallima_desc *desc);

// sweep.c
void lengths_match_the_oracle(void **state);
void short_lines_lie_anywhere(void **state);
void few_lines_lie_anywhere(void **state);
void lengths_take_turns(void **state);
void large_lengths_match_the_oracle(void **state);
void long_real_lines_match_the_oracle(void **state);
void convolutions_of_many_lines_are_computed(void **state);
void million_and_three_matches_the_oracle(void **state);
void oracles_agree(void **state);

// few.c
void a_few_of_every_sort_are_computed(void **state);

// layouts.c
void every_style_of_layout_is_computed(void **state);
void planes_of_reals_are_computed(void **state);
void long_columns_are_computed(void **state);
void shapes_of_many_axes_are_computed(void **state);
void random_problems_are_computed(void **state);
void arrays_that_meet_in_cache_sets_are_computed(void **state);
void scales_are_applied(void **state);
void scales_of_short_lines_are_applied(void **state);
void short_lines_of_every_count_are_computed(void **state);
void short_lines_anywhere_are_computed(void **state);
void convolved_lines_are_computed(void **state);
void short_lines_past_the_caches_are_computed(void **state);
void single_lines_past_the_caches_are_computed(void **state);
void lines_that_leave_the_caches_are_computed(void **state);
void lines_in_their_output_are_computed(void **state);
void arrays_of_rows_alone_are_computed(void **state);
void arrays_of_divided_rows_are_computed(void **state);
void arrays_of_few_columns_are_computed(void **state);
void lines_of_packed_reals_are_computed(void **state);
void arrays_of_codelets_are_computed(void **state);
void arrays_past_the_caches_are_computed(void **state);
void arrays_of_small_arrays_are_computed(void **state);
void groups_of_small_arrays_are_computed(void **state);
void arrays_beside_each_other_are_computed(void **state);
void arrays_that_are_turned_are_computed(void **state);
void columns_are_computed(void **state);
void arrays_apart_are_computed(void **state);
void small_arrays_are_computed(void **state);
void planes_of_one_function_are_computed(void **state);
void real_planes_of_one_function_are_computed(void **state);
void lines_of_small_batches_are_computed(void **state);
void tiny_and_huge_values_survive(void **state);

// properties.c
void transforms_are_linear(void **state);
void impulses_give_roots_of_unity(void **state);
void shifts_give_phases(void **state);
void energy_is_kept(void **state);
void round_trips_return_the_input(void **state);

// recipes.c
void recipes_read_back_to_the_same_plan(void **state);
void written_recipes_are_followed(void **state);
void written_planes_are_followed(void **state);
void damaged_recipes_are_refused(void **state);
void parameters_beyond_the_engine_are_refused(void **state);
void descriptions_name_the_recipe(void **state);
void texts_are_cut_at_the_capacity(void **state);
void costs_are_counted(void **state);

// bits.c
void bits_do_not_depend_on_threads(void **state);
void bits_do_not_depend_on_who_shares_a_line(void **state);
void bits_do_not_change_between_runs(void **state);
void bits_do_not_depend_on_the_way(void **state);

// memory.c
void execution_allocates_nothing(void **state);
void plans_without_a_workspace_need_one(void **state);
void plans_release_what_they_took(void **state);
void plans_keep_their_device_alive(void **state);
void buffers_hold_what_was_written(void **state);

// operations.c
void devices_are_listed_and_described(void **state);
void numbers_beyond_the_list_are_absent(void **state);
void kernels_see_slots_and_offsets(void **state);
void launches_take_the_arrays_they_are_given(void **state);
void groups_have_the_memory_that_is_told(void **state);
void many_groups_are_launched_once_each(void **state);
void events_are_refused(void **state);
void zeros_and_copies_reach_their_range(void **state);
void timers_measure_the_device(void **state);
void errors_in_a_text_come_with_the_log(void **state);
void kernels_beyond_the_limits_are_refused(void **state);
void binaries_make_the_same_kernel(void **state);
void keys_name_the_driver(void **state);
void rounding_is_found(void **state);
void large_buffers_are_refused_with_the_number(void **state);
void plans_out_of_reach_are_refused_with_the_limit(void **state);
void calls_of_threads_are_not_mixed(void **state);
void exhausted_memory_leaves_nothing(void **state);
void the_environment_makes_groups_smaller(void **state);

/** Where an API has no driver its devices are absent, which is no error: count what is not so. */
int find_present(const char *api);

// refusals.c
void bad_descriptors_are_refused(void **state);
void scratch_beyond_memory_is_refused(void **state);
void colliding_strides_are_refused(void **state);
void distinct_strides_are_accepted(void **state);
void unusual_descriptors_are_accepted(void **state);
void bad_arguments_of_plans_are_refused(void **state);
void bad_arrays_are_refused(void **state);
void bad_buffers_are_refused(void **state);
void bad_devices_are_refused(void **state);
void null_pointers_are_harmless(void **state);

#endif
