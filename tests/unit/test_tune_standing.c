// SPDX-License-Identifier: MIT
// How plans stand to each other, from races that are made up.
#include <math.h>
#include <string.h>

#include "../rows.h"
#include "tune/standing.h"

static struct kal_tuning make_tuning(struct kal_candidate *candidate, int count,
                                     int first, int best, double first_s, double best_s)
{
    return (struct kal_tuning){
        .search = { .candidate = candidate, .count = count, .best = best },
        .first_number = first,
        .first = { first_s, 0.01, 9 },
        .best = { best_s, 0.02, 9 },
    };
}

static void check_standing(const struct kal_standing *standing, const char *text,
                           double seconds, double spread)
{
    row_ran();
    if (strcmp(standing->candidate->text, text) != 0 ||
        fabs(standing->seconds - seconds) > 1e-12 * seconds || standing->spread != spread)
        row_fail("%s: %s, %g, %g", text, standing->candidate->text, standing->seconds,
                 standing->spread);
}

// The machine became twice as slow on the way: races are not fooled, and nor is the list.
static void ratios_count_and_not_times(void **state)
{
    struct kal_candidate candidate[] = {
        { .text = "default", .measured = 8.0 },
        { .text = "better", .measured = 4.0, .gain = 2.0, .spread = 0.1 },
        { .text = "slow", .measured = 9.0, .gain = 0.5, .rival = 1, .spread = 0.2 },
        { .text = "best", .measured = 4.0, .gain = 2.0, .rival = 1, .spread = 0.3 },
        { .text = "near", .measured = 4.4, .gain = 1.0 / 1.1, .rival = 3, .spread = 0.4 },
        { .text = "waiting" },
        { .text = "wrong", .fate = KAL_FATE_WRONG },
        { .text = "wrong at last",
          .measured = 1.0,
          .gain = 4.0,
          .rival = 3,
          .fate = KAL_FATE_WRONG },
    };
    struct kal_tuning tuning =
        make_tuning(candidate, KAL_COUNT(candidate), 0, 3, 16.0, 4.0);
    struct kal_standing standing[KAL_MOST_STANDINGS];

    (void)state;
    assert_int_equal(kal_tuning_rank(&tuning, standing), 5);
    check_standing(&standing[0], "default", 16.0, 0.01);
    check_standing(&standing[1], "best", 4.0, 0.02);
    check_standing(&standing[2], "near", 4.4, 0.4);
    check_standing(&standing[3], "better", 8.0, 0.1);
    check_standing(&standing[4], "slow", 16.0, 0.2);

    // The second race took its victory back.
    tuning = make_tuning(candidate, KAL_COUNT(candidate), 0, 0, 16.0, 16.0);
    assert_int_equal(kal_tuning_rank(&tuning, standing), 5);
    check_standing(&standing[0], "default", 16.0, 0.01);
    check_standing(&standing[1], "best", 4.0, 0.3);
    ROWS_FINISH();
}

// The planner's recipe was wrong; another stands for it.
static void the_first_may_be_any(void **state)
{
    struct kal_candidate candidate[] = {
        { .text = "wrong", .fate = KAL_FATE_WRONG },
        { .text = "first", .measured = 3.0 },
        { .text = "other", .measured = 6.0, .gain = 0.5, .rival = 1 },
    };
    const struct kal_tuning tuning = make_tuning(candidate, 3, 1, 1, 3.0, 3.0);
    struct kal_standing standing[KAL_MOST_STANDINGS];

    (void)state;
    assert_int_equal(kal_tuning_rank(&tuning, standing), 2);
    check_standing(&standing[0], "first", 3.0, 0.01);
    check_standing(&standing[1], "other", 6.0, 0.0);
    ROWS_FINISH();
}

// Of many the fastest are listed, whatever the order, and the first with them.
static void slow_ones_are_left_out(void **state)
{
    enum { COUNT = 50 };
    struct kal_candidate candidate[COUNT] = { { .text = "default", .measured = 1.0 } };
    struct kal_standing standing[KAL_MOST_STANDINGS];

    (void)state;
    for (int i = 1; i < COUNT; i++)
        candidate[i] = (struct kal_candidate){ .text = "other",
                                               .measured = 1.0,
                                               .gain = 1.0 / (2.0 + i * 7 % COUNT) };
    const struct kal_tuning tuning = make_tuning(candidate, COUNT, 0, 0, 1.0, 1.0);
    assert_int_equal(kal_tuning_rank(&tuning, standing), KAL_MOST_STANDINGS);
    check_standing(&standing[0], "default", 1.0, 0.01);
    for (int i = 1; i < KAL_MOST_STANDINGS; i++)
        check_standing(&standing[i], "other", 2.0 + i, 0.0);
    ROWS_FINISH();
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(ratios_count_and_not_times),
        cmocka_unit_test(the_first_may_be_any),
        cmocka_unit_test(slow_ones_are_left_out),
    };
    return cmocka_run_group_tests_name("tune-standing", tests, NULL, NULL);
}
