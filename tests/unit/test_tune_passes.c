// SPDX-License-Identifier: MIT
// Times of passes: what is learnt from plans that share them.
#include "tune/passes.h"

#include <string.h>

#include "../rows.h"
#include "wisdom/wisdom.h"

static const struct kal_host host; // the C library's memory, no log

static double time_of(const struct kal_passes *passes, uint64_t key)
{
    const struct kal_pass_list list = { 1, { key } };
    int unknown;
    const double seconds = kal_passes_sum(passes, &list, &unknown);
    return unknown ? -1.0 : seconds;
}

static void one_unknown_pass_takes_the_rest(void **state)
{
    struct kal_passes passes;
    const struct kal_pass_list both = { 2, { 1, 2 } }, other = { 2, { 1, 3 } };
    const struct kal_pass_list new_ones = { 3, { 1, 4, 5 } }, alone = { 1, { 6 } };
    int unknown;

    (void)state;
    kal_passes_init(&passes, &host);
    assert_int_equal(kal_passes_learn(&passes, &both, 5.0, 0.1), KALLIMA_OK);
    assert_int_equal(passes.count, 0); // which of the two took what is not known
    assert_int_equal(kal_passes_set(&passes, (struct kal_pass_time){ 1, 2.0, 0.1, true }),
                     KALLIMA_OK);
    assert_int_equal(kal_passes_learn(&passes, &both, 5.0, 0.1), KALLIMA_OK);
    assert_int_equal(kal_passes_learn(&passes, &other, 2.5, 0.1), KALLIMA_OK);
    assert_int_equal(kal_passes_learn(&passes, &new_ones, 9.0, 0.1), KALLIMA_OK);
    assert_int_equal(kal_passes_learn(&passes, &alone, 7.0, 0.1), KALLIMA_OK);
    assert_true(time_of(&passes, 2) == 3.0 && time_of(&passes, 3) == 0.5);
    assert_true(time_of(&passes, 4) < 0.0 && time_of(&passes, 5) < 0.0);
    assert_true(time_of(&passes, 6) == 7.0);
    assert_true(kal_passes_sum(&passes, &both, &unknown) == 5.0 && unknown == 0);
    assert_true(kal_passes_sum(&passes, &new_ones, &unknown) == 2.0 && unknown == 2);
    // Less than the known ones took: noise, of which nothing is learnt.
    const struct kal_pass_list noise = { 2, { 2, 7 } };
    assert_int_equal(kal_passes_learn(&passes, &noise, 2.9, 0.1), KALLIMA_OK);
    assert_true(time_of(&passes, 7) < 0.0);
    kal_passes_clear(&passes);
}

static void wisdom_keeps_what_is_new(void **state)
{
    enum { MANY = 200 };
    static const kallima_wisdom_owner mine = { "cuda A", "driver 1", "0.1.0" };
    static const kallima_wisdom_owner other = { "cuda B", "driver 1", "0.1.0" };
    const kallima_device_options options = { .wisdom = "" };
    struct kal_passes passes;
    kallima_wisdom *wisdom = NULL;

    (void)state;
    assert_int_equal(kallima_wisdom_create(&wisdom, &options), KALLIMA_OK);
    kal_passes_init(&passes, &host);
    for (uint64_t i = 0; i < MANY; i++)
        assert_int_equal(
            kal_passes_set(&passes, (struct kal_pass_time){ i << 50 | i, 1e-6 * (double)i,
                                                            0.01, i % 2 == 1 }),
            KALLIMA_OK);
    assert_int_equal(kal_passes_keep(&passes, wisdom, &mine), KALLIMA_OK);
    assert_int_equal(kallima_wisdom_get_count(wisdom), MANY / 2);
    kal_passes_clear(&passes);

    kal_passes_init(&passes, &host);
    assert_int_equal(kal_passes_load(&passes, wisdom, &other), KALLIMA_OK);
    assert_int_equal(passes.count, 0);
    assert_int_equal(kal_passes_load(&passes, wisdom, &mine), KALLIMA_OK);
    assert_int_equal(passes.count, MANY / 2);
    for (uint64_t i = 1; i < MANY; i += 2) {
        const double seconds = time_of(&passes, i << 50 | i);
        assert_true(seconds > 0.999e-6 * (double)i && seconds < 1.001e-6 * (double)i);
    }
    // Nothing of it is new.
    kallima_wisdom *second = NULL;
    assert_int_equal(kallima_wisdom_create(&second, &options), KALLIMA_OK);
    assert_int_equal(kal_passes_keep(&passes, second, &mine), KALLIMA_OK);
    assert_int_equal(kallima_wisdom_get_count(second), 0);
    kal_passes_clear(&passes);
    kallima_wisdom_destroy(&second);
    kallima_wisdom_destroy(&wisdom);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_unknown_pass_takes_the_rest),
        cmocka_unit_test(wisdom_keeps_what_is_new),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
