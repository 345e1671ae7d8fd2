// SPDX-License-Identifier: MIT
// How many executions a sample has: of contenders that say themselves how long they take.
#include "../../tools/bench_sample.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

struct fake {
    double ns;    // of one execution; negative: it fails
    int64_t last; // executions that the last sample had
    struct timing timing;
};

static double take(void *self, int64_t executions)
{
    struct fake *fake = (struct fake *)self;
    fake->last = executions;
    return fake->ns;
}

static void run(struct fake *fake, int count)
{
    const struct sampling sampling = { .sample_ns = 200e3,
                                       .max_time_s = 10,
                                       .min_samples = 5 };
    struct contender contender[SAMPLE_MAX_CONTENDERS];
    for (int i = 0; i < count; i++)
        contender[i] = (struct contender){ take, &fake[i], &fake[i].timing, NULL };
    sample_all(&sampling, contender, count);
}

static void near_ones_execute_alike(void **state)
{
    (void)state;
    struct fake fake[] = { { .ns = 250e3 }, { .ns = 150e3 }, { .ns = 60e3 } };
    run(fake, 3);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(fake[i].timing.executions, 4);
        assert_int_equal(fake[i].last, 4);
        assert_true(fake[i].timing.samples >= 5);
        assert_true(fake[i].timing.stats.median == fake[i].ns);
    }
}

static void slow_ones_take_no_longer(void **state)
{
    (void)state;
    struct fake fake[] = { { .ns = 2e6 }, { .ns = 100e3 }, { .ns = 1e3 } };
    run(fake, 3);
    assert_int_equal(fake[0].timing.executions, 1);
    assert_int_equal(fake[1].timing.executions, 2);
    assert_int_equal(fake[2].timing.executions, 256);
}

static void failures_decide_nothing(void **state)
{
    (void)state;
    struct fake fake[] = { { .ns = -1 }, { .ns = 150e3 } };
    run(fake, 2);
    assert_int_equal(fake[0].timing.samples, 0);
    assert_int_equal(fake[1].timing.executions, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(near_ones_execute_alike),
        cmocka_unit_test(slow_ones_take_no_longer),
        cmocka_unit_test(failures_decide_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
