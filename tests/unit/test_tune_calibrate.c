// SPDX-License-Identifier: MIT
// The constants of a device: what comes of times that are numbers, on a device that computes
// nothing; what costs are guessed from them; and that the CPU's are measured once, and kept.
#include "tune/calibrate.h"

#include <kallima/kallima.h>
#include <math.h>
#include <string.h>

#include "../counting.h"
#include "../rows.h"
#include "pass/pass.h"
#include "wisdom/wisdom.h"

enum { PLANS = 3 };

// The plans that are timed, in this order, each one kernel: for 132 processors.
static const struct {
    int64_t n, batch;
    const char *recipe;
} plans[PLANS] = {
    { 2, 1, "local(2)" },
    { 1024, 132 * 32768 / 1024, "local(2.2.2.2.2.2.2.2.2.2)" },
    { 2197, 132 * 32768 / 2197, "local(13.13.13)" },
};

// A device whose times follow from its constants.
static struct {
    const struct kal_device_ops *below;
    struct kal_device_ops ops;
    struct kallima_timer timer;
    double clock, mark[2];
    double bytes_per_second;
    double seconds[PLANS]; // of an execution of each
    int plan;              // that was compiled last; PLANS: none
    int refused;           // that is not compiled
    int copies, fail_at;   // which copy fails; 0: none
    uint64_t bytes;        // of all buffers
    kallima_status timer_status;
} fake;

static struct counting counting;

static kallima_status fake_buffer_create(kallima_buffer **out, kallima_device *device,
                                         uint64_t bytes)
{
    fake.bytes += bytes;
    return fake.below->buffer_create(out, device, bytes);
}

static kallima_status fake_copy(kallima_buffer *target, uint64_t target_offset,
                                const kallima_buffer *source, uint64_t source_offset,
                                uint64_t bytes)
{
    (void)target;
    (void)target_offset;
    (void)source;
    (void)source_offset;
    fake.clock += 2.0 * (double)bytes / fake.bytes_per_second;
    return ++fake.copies == fake.fail_at ? KALLIMA_E_DEVICE : KALLIMA_OK;
}

static kallima_status fake_kernel_create(struct kal_device_kernel **out,
                                         kallima_device *device,
                                         const struct kal_kernel_text *text,
                                         const struct kal_binary *binary,
                                         struct kal_binary *made)
{
    fake.plan++;
    if (fake.plan == fake.refused) {
        *out = NULL;
        return kal_fail(&device->host, KALLIMA_E_COMPILE, "refused");
    }
    return fake.below->kernel_create(out, device, text, binary, made);
}

static kallima_status fake_enqueue(kallima_device *device, const struct kal_work *work,
                                   int count, const struct kal_sync *sync)
{
    (void)device;
    (void)work;
    (void)sync;
    assert_int_equal(count, 1);
    fake.clock += fake.seconds[fake.plan];
    return KALLIMA_OK;
}

static kallima_status fake_timer_create(kallima_timer **out, kallima_device *device)
{
    if (fake.timer_status)
        return kal_fail(&device->host, fake.timer_status, "no times");
    fake.timer.device = device;
    *out = &fake.timer;
    return KALLIMA_OK;
}

static void fake_timer_destroy(kallima_timer *timer)
{
    (void)timer;
}

static kallima_status fake_timer_start(kallima_timer *timer)
{
    (void)timer;
    fake.mark[0] = fake.clock;
    return KALLIMA_OK;
}

static kallima_status fake_timer_stop(kallima_timer *timer)
{
    (void)timer;
    fake.mark[1] = fake.clock;
    return KALLIMA_OK;
}

static kallima_status fake_timer_read(const kallima_timer *timer, double *seconds)
{
    (void)timer;
    *seconds = fake.mark[1] - fake.mark[0];
    return KALLIMA_OK;
}

static void fake_ops(kallima_device *device)
{
    memset(&fake, 0, sizeof fake);
    fake.below = device->ops;
    fake.ops = *fake.below;
    fake.ops.is_pretended = false;
    fake.ops.buffer_create = fake_buffer_create;
    fake.ops.buffer_copy = fake_copy;
    fake.ops.kernel_create = fake_kernel_create;
    fake.ops.enqueue = fake_enqueue;
    fake.ops.timer_create = fake_timer_create;
    fake.ops.timer_destroy = fake_timer_destroy;
    fake.ops.timer_start = fake_timer_start;
    fake.ops.timer_stop = fake_timer_stop;
    fake.ops.timer_read = fake_timer_read;
    fake.plan = -1;
    fake.refused = PLANS;
    device->ops = &fake.ops;
}

static struct kal_terms count_terms(const kallima_device *device, int plan)
{
    const kallima_desc desc = { .rank = 1,
                                .n = { plans[plan].n },
                                .batch = plans[plan].batch };
    struct kal_problem problem;
    struct kal_recipe *recipe;
    struct kal_terms terms;
    struct kal_arena arena;

    kal_arena_init(&arena, NULL);
    assert_int_equal(kal_problem_init(&problem, NULL, &desc), KALLIMA_OK);
    assert_int_equal(kal_recipe_parse(&recipe, &arena, &problem, plans[plan].recipe),
                     KALLIMA_OK);
    assert_int_equal(kal_terms_count(&terms, &arena, &problem, recipe, &device->caps),
                     KALLIMA_OK);
    kal_arena_clear(&arena);
    return terms;
}

static const struct kal_constants some = { { [KAL_CONSTANT_BYTES] = 1e12,
                                             [KAL_CONSTANT_LAUNCH] = 5e-6,
                                             [KAL_CONSTANT_EXCHANGE] = 3e12,
                                             [KAL_CONSTANT_OPERATIONS] = 4e12 } };

static kallima_device *open_fake(const struct kal_constants *constants)
{
    const kallima_device_options options = { .allocator = counting_allocator(&counting),
                                             .kernel_cache = "",
                                             .wisdom = "" };
    const double *value = constants->value;
    kallima_device *device = NULL;

    assert_int_equal(kallima_device_open(&device, "nullcuda", &options), KALLIMA_OK);
    fake_ops(device);
    fake.bytes_per_second = value[KAL_CONSTANT_BYTES];
    for (int i = 0; i < PLANS; i++) {
        const struct kal_terms terms = count_terms(device, i);
        fake.seconds[i] = value[KAL_CONSTANT_LAUNCH];
        if (i > 0)
            fake.seconds[i] +=
                terms.amount[KAL_TERM_EXCHANGE] / value[KAL_CONSTANT_EXCHANGE] +
                terms.amount[KAL_TERM_COMPUTE] / value[KAL_CONSTANT_OPERATIONS];
    }
    return device;
}

static void close_fake(kallima_device *device)
{
    device->ops = fake.below;
    kallima_device_close(&device);
    assert_int_equal(counting.live, 0);
    assert_int_equal(counting.damaged, 0);
}

// --- constants ---------------------------------------------------------------------------

static void constants_follow_from_times(void **state)
{
    static const struct kal_constants rows[] = {
        { { 4e12, 2.5e-6, 15e12, 30e12 } },
        { { 2e10, 2e-5, 1.5e10, 1e10 } },
        { { 1e11, 1e-4, 3e12, 1e12 } },
    };
    struct kal_calibration found;

    (void)state;
    for (size_t i = 0; i < KAL_COUNT(rows); i++) {
        kallima_device *device = open_fake(&rows[i]);
        row_ran();
        ROW_CHECK(kal_calibrate(&found, device, 0) == KALLIMA_OK);
        for (int j = 0; j < KAL_CONSTANT_COUNT; j++) {
            const double ratio = found.constants.value[j] / rows[i].value[j];
            if (!(fabs(ratio - 1.0) < 1e-6) || !(found.spread[j] < 1e-6))
                row_fail("row %zu: %s = %g, spread %g", i, kal_constant_names[j],
                         found.constants.value[j], found.spread[j]);
        }
        close_fake(device);
    }
    ROWS_FINISH();
}

// Times that no constants explain still give some.
static void noise_makes_nothing_free(void **state)
{
    static const double factors[][PLANS] = {
        { 1, 100, 1 }, { 1, 1, 100 }, { 100, 1, 1 }, { 1, 0, 0 }, { 0, 0, 0 }
    };
    struct kal_calibration found;

    (void)state;
    for (size_t i = 0; i < KAL_COUNT(factors); i++) {
        kallima_device *device = open_fake(&some);
        for (int j = 0; j < PLANS; j++)
            fake.seconds[j] *= factors[i][j];
        row_ran();
        ROW_CHECK(kal_calibrate(&found, device, 0) == KALLIMA_OK);
        for (int j = 0; j < KAL_CONSTANT_COUNT; j++) {
            const double value = found.constants.value[j];
            if (!(value >= 0.0) || isinf(value) || !(found.spread[j] >= 0.0))
                row_fail("row %zu: %s = %g, spread %g", i, kal_constant_names[j], value,
                         found.spread[j]);
        }
        close_fake(device);
    }
    ROWS_FINISH();
}

static bool knows(const struct kal_calibration *found, enum kal_constant constant)
{
    return found->constants.value[constant] > 0.0;
}

static void what_is_refused_is_unknown(void **state)
{
    struct kal_calibration found;
    (void)state;
    for (int i = 0; i < PLANS; i++) {
        kallima_device *device = open_fake(&some);
        fake.refused = i;
        row_ran();
        ROW_CHECK(kal_calibrate(&found, device, 0) == KALLIMA_OK);
        ROW_CHECK(knows(&found, KAL_CONSTANT_BYTES));
        ROW_CHECK(knows(&found, KAL_CONSTANT_LAUNCH) == (i != 0));
        ROW_CHECK(knows(&found, KAL_CONSTANT_EXCHANGE) == (i == 0));
        ROW_CHECK(knows(&found, KAL_CONSTANT_OPERATIONS) == (i == 0));
        close_fake(device);
    }
    ROWS_FINISH();
}

static void failures_end_it(void **state)
{
    struct kal_calibration found;
    kallima_device *device = open_fake(&some);

    (void)state;
    fake.fail_at = 30;
    assert_int_equal(kal_calibrate(&found, device, 0), KALLIMA_E_DEVICE);
    assert_false(knows(&found, KAL_CONSTANT_BYTES));
    assert_false(knows(&found, KAL_CONSTANT_LAUNCH));
    close_fake(device);

    device = open_fake(&some);
    fake.timer_status = KALLIMA_E_UNSUPPORTED;
    assert_int_equal(kal_calibrate(&found, device, 0), KALLIMA_E_UNSUPPORTED);
    assert_string_equal(kallima_last_error(), "no times");
    assert_false(knows(&found, KAL_CONSTANT_BYTES));
    close_fake(device);
}

static void memory_is_kept_to(void **state)
{
    enum { ENOUGH = 48 << 20, FEW = 1 << 20 };
    struct kal_calibration found;
    kallima_device *device = open_fake(&some);

    (void)state;
    assert_int_equal(kal_calibrate(&found, device, ENOUGH), KALLIMA_OK);
    assert_true(fake.bytes > 0 && fake.bytes <= ENOUGH);
    for (int i = 0; i < KAL_CONSTANT_COUNT; i++)
        assert_true(knows(&found, i));
    close_fake(device);

    device = open_fake(&some);
    assert_int_equal(kal_calibrate(&found, device, FEW), KALLIMA_OK);
    assert_int_equal(fake.bytes, 0);
    for (int i = 0; i < KAL_CONSTANT_COUNT; i++)
        assert_false(knows(&found, i));
    close_fake(device);
}

static void every_allocation_may_fail(void **state)
{
    static const struct kal_constants slow = { { 1e6, 1.0, 1e6, 1e6 } };
    struct kal_calibration found;
    kallima_status status = KALLIMA_E_MEMORY;

    (void)state;
    for (long long skip = 1; status != KALLIMA_OK; skip += 1 + skip / 16) {
        kallima_device *device = open_fake(&slow);
        counting.fail_at = counting.calls + skip;
        counting.fail_after = true;
        status = kal_calibrate(&found, device, 40 << 20);
        counting.fail_at = 0;
        assert_true(status == KALLIMA_OK || status == KALLIMA_E_MEMORY);
        close_fake(device);
    }
    assert_true(knows(&found, KAL_CONSTANT_OPERATIONS));
}

// --- the guess ---------------------------------------------------------------------------

static struct kal_caps caps_of(const char *selector)
{
    const kallima_device_options options = { .wisdom = "" };
    kallima_device *device = NULL;
    assert_int_equal(kallima_device_open(&device, selector, &options), KALLIMA_OK);
    const struct kal_caps caps = device->caps;
    kallima_device_close(&device);
    return caps;
}

static const char *const selectors[] = { "cpu", "nullcuda", "nullopencl" };

static bool is_near(double a, double b)
{
    return fabs(a / b - 1.0) < 1e-9;
}

static void without_constants_costs_are_as_before(void **state)
{
    const struct kal_constants none = { { 0 } };
    (void)state;
    for (size_t i = 0; i < KAL_COUNT(selectors); i++) {
        const struct kal_caps caps = caps_of(selectors[i]);
        const struct kal_model a = kal_model_guess(&caps, NULL);
        const struct kal_model b = kal_model_guess(&caps, &none);
        assert_memory_equal(&a, &b, sizeof a);
    }
}

// A device that is slower in all by one factor has costs that are higher by it, but for what
// goes by nothing that was measured.
static void costs_are_in_proportion(void **state)
{
    static const double SLOWER = 7.0;
    struct kal_constants slow = some;

    (void)state;
    for (int i = 0; i < KAL_CONSTANT_COUNT; i++)
        slow.value[i] *= i == KAL_CONSTANT_LAUNCH ? SLOWER : 1.0 / SLOWER;
    for (size_t i = 0; i < KAL_COUNT(selectors); i++) {
        const struct kal_caps caps = caps_of(selectors[i]);
        const struct kal_model a = kal_model_guess(&caps, &some);
        const struct kal_model b = kal_model_guess(&caps, &slow);
        for (int j = 0; j < KAL_TERM_COUNT; j++) {
            row_ran();
            const bool has_none = j == KAL_TERM_WAIT;
            if (!is_near(b.cost[j] / a.cost[j], has_none ? 1.0 : SLOWER))
                row_fail("%s: %s: %g, then %g", selectors[i], kal_term_names[j],
                         a.cost[j], b.cost[j]);
        }
    }
    ROWS_FINISH();
}

// Where the costs of kernels were fitted they are what they are without constants.
static void known_constants_change_nothing_where_costs_were_fitted(void **state)
{
    const struct kal_constants h200 = { { [KAL_CONSTANT_BYTES] = 4.1e12,
                                          [KAL_CONSTANT_LAUNCH] = 3.0e-6,
                                          [KAL_CONSTANT_EXCHANGE] = 28e12,
                                          [KAL_CONSTANT_OPERATIONS] = 30e12 } };
    const struct kal_caps caps = caps_of("nullcuda");
    const struct kal_model a = kal_model_guess(&caps, NULL);
    const struct kal_model b = kal_model_guess(&caps, &h200);

    (void)state;
    for (int i = 0; i < KAL_TERM_COUNT; i++)
        assert_true(is_near(a.cost[i], b.cost[i]));
}

// Exchanges and operations hide behind bytes on a GPU, but not where they are slower than these.
static void what_cannot_hide_has_its_cost(void **state)
{
    static const double EIGHT = 8.0; // times as much as bytes, as on GPUs
    struct kal_constants quick = some;
    const struct kal_caps caps = caps_of("nullcuda");

    (void)state;
    quick.value[KAL_CONSTANT_EXCHANGE] = EIGHT * some.value[KAL_CONSTANT_BYTES];
    quick.value[KAL_CONSTANT_OPERATIONS] = EIGHT * some.value[KAL_CONSTANT_BYTES];
    struct kal_constants slow = quick;
    const struct kal_model fast = kal_model_guess(&caps, &quick);
    slow.value[KAL_CONSTANT_EXCHANGE] = slow.value[KAL_CONSTANT_OPERATIONS] = 1e10;
    const struct kal_model model = kal_model_guess(&caps, &slow);
    assert_true(fast.cost[KAL_TERM_EXCHANGE] < 0.1 / quick.value[KAL_CONSTANT_EXCHANGE]);
    assert_true(fast.cost[KAL_TERM_COMPUTE] < 0.1 / quick.value[KAL_CONSTANT_OPERATIONS]);
    assert_true(model.cost[KAL_TERM_EXCHANGE] > 0.9e-10);
    assert_true(model.cost[KAL_TERM_COMPUTE] > 0.9e-10);
    assert_true(model.cost[KAL_TERM_MEMORY] == fast.cost[KAL_TERM_MEMORY]);
    slow.value[KAL_CONSTANT_BYTES] = 0.0; // nothing to compare with
    const struct kal_model blind = kal_model_guess(&caps, &slow);
    assert_true(blind.cost[KAL_TERM_EXCHANGE] < 0.1e-10);
}

// --- in tuning ---------------------------------------------------------------------------

// A CPU that counts how often the plan is made that shows how fast it computes.
static struct {
    const struct kal_device_ops *below;
    struct kal_device_ops ops;
    int count;
} counted;

static kallima_status count_program(struct kal_device_program **out,
                                    kallima_device *device,
                                    const struct kal_program *program, bool is_f64)
{
    const struct kal_pass *pass = program->pass[0];
    counted.count += pass->n == plans[PLANS - 1].n;
    return counted.below->program_create(out, device, program, is_f64);
}

static kallima_device *open_cpu(void)
{
    const kallima_device_options options = { .allocator = counting_allocator(&counting),
                                             .threads = 1,
                                             .wisdom = "" };
    kallima_device *device = NULL;

    assert_int_equal(kallima_device_open(&device, "cpu", &options), KALLIMA_OK);
    memset(&counted, 0, sizeof counted);
    counted.below = device->ops;
    counted.ops = *device->ops;
    counted.ops.program_create = count_program;
    device->ops = &counted.ops;
    return device;
}

static void close_cpu(kallima_device *device)
{
    kallima_device_close(&device);
    assert_int_equal(counting.live, 0);
    assert_int_equal(counting.damaged, 0);
}

static double get_fact(kallima_device *device, const char *name)
{
    const kallima_wisdom_filter filter = { .kind = KALLIMA_WISDOM_FACT, .key = name };
    const kallima_wisdom *wisdom = kallima_device_get_wisdom(device);
    const int64_t i = kallima_wisdom_find(wisdom, &filter, 0);
    kallima_wisdom_entry entry;
    double number = 0.0;

    if (i < 0)
        return 0.0;
    assert_int_equal(kallima_wisdom_get_entry(wisdom, i, &entry), KALLIMA_OK);
    assert_int_equal(kal_wisdom_parse_numbers(entry.value, &number, 1), 1);
    return number;
}

static const kallima_desc problem = { .rank = 1, .n = { 240 } };
static const kallima_tune_options shortly = { .seconds = 0.05 };

static void tuning_measures_a_device_once(void **state)
{
    static const struct {
        double least, most;
    } orders[KAL_CONSTANT_COUNT] = {
        [KAL_CONSTANT_BYTES] = { 1e7, 1e14 },
        [KAL_CONSTANT_LAUNCH] = { 1e-9, 1e-1 },
        [KAL_CONSTANT_EXCHANGE] = { 1e6, 1e14 },
        [KAL_CONSTANT_OPERATIONS] = { 1e6, 1e14 },
    };
    kallima_device *device = open_cpu();
    double known[KAL_CONSTANT_COUNT];

    (void)state;
    assert_int_equal(kallima_tune(device, &problem, &shortly, NULL), KALLIMA_OK);
    assert_int_equal(counted.count, 1);
    for (int i = 0; i < KAL_CONSTANT_COUNT; i++) {
        known[i] = get_fact(device, kal_constant_names[i]);
        row_ran();
        if (!(known[i] >= orders[i].least && known[i] <= orders[i].most))
            row_fail("%s = %g", kal_constant_names[i], known[i]);
    }
    assert_int_equal(kallima_tune(device, &problem, &shortly, NULL), KALLIMA_OK);
    assert_int_equal(counted.count, 1);
    for (int i = 0; i < KAL_CONSTANT_COUNT; i++)
        ROW_CHECK(get_fact(device, kal_constant_names[i]) == known[i]);
    close_cpu(device);
    ROWS_FINISH();
}

static void what_is_known_is_not_measured(void **state)
{
    kallima_device *device = open_cpu();
    kallima_wisdom_owner owner;
    kallima_plan *plan = NULL;

    (void)state;
    assert_int_equal(kallima_plan_create(&plan, device, &problem, NULL), KALLIMA_OK);
    kallima_plan_destroy(&plan);
    assert_int_equal(counted.count, 0);
    assert_int_equal(kallima_device_get_owner(device, &owner), KALLIMA_OK);
    const kallima_wisdom_entry entry = { .kind = KALLIMA_WISDOM_FACT,
                                         .device = owner.device,
                                         .driver = owner.driver,
                                         .version = owner.version,
                                         .key = "bytes-per-second",
                                         .value = "1e9",
                                         .spread = 1000.0 };
    assert_int_equal(kal_wisdom_add(kallima_device_get_wisdom(device), &entry),
                     KALLIMA_OK);
    assert_int_equal(kallima_tune(device, &problem, &shortly, NULL), KALLIMA_OK);
    assert_int_equal(counted.count, 0);
    assert_true(get_fact(device, "bytes-per-second") == 1e9);
    close_cpu(device);
}

static void too_little_memory_measures_nothing(void **state)
{
    const kallima_tune_options few = { .seconds = 0.05, .bytes = 1 << 20 };
    kallima_device *device = open_cpu();

    (void)state;
    assert_int_equal(kallima_tune(device, &problem, &few, NULL), KALLIMA_OK);
    assert_int_equal(counted.count, 0);
    assert_true(get_fact(device, "bytes-per-second") == 0.0);
    close_cpu(device);
}

static void devices_that_compute_nothing_are_not_measured(void **state)
{
    static const char *const pretended[] = { "null", "nullcuda", "nullopencl" };
    const kallima_device_options options = { .kernel_cache = "", .wisdom = "" };

    (void)state;
    for (size_t i = 0; i < KAL_COUNT(pretended); i++) {
        kallima_device *device = NULL;
        assert_int_equal(kallima_device_open(&device, pretended[i], &options),
                         KALLIMA_OK);
        assert_int_equal(kallima_tune(device, &problem, &shortly, NULL),
                         KALLIMA_E_DEVICE);
        assert_true(get_fact(device, "bytes-per-second") == 0.0);
        kallima_device_close(&device);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(constants_follow_from_times),
        cmocka_unit_test(noise_makes_nothing_free),
        cmocka_unit_test(what_is_refused_is_unknown),
        cmocka_unit_test(failures_end_it),
        cmocka_unit_test(memory_is_kept_to),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(without_constants_costs_are_as_before),
        cmocka_unit_test(costs_are_in_proportion),
        cmocka_unit_test(known_constants_change_nothing_where_costs_were_fitted),
        cmocka_unit_test(what_cannot_hide_has_its_cost),
        cmocka_unit_test(tuning_measures_a_device_once),
        cmocka_unit_test(what_is_known_is_not_measured),
        cmocka_unit_test(too_little_memory_measures_nothing),
        cmocka_unit_test(devices_that_compute_nothing_are_not_measured),
    };
    return cmocka_run_group_tests_name("tune-calibrate", tests, NULL, NULL);
}
