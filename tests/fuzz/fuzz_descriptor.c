// SPDX-License-Identifier: MIT
// Usage: fuzz_descriptor [COUNT [SEED]]. Descriptors of valid problems with up to three
// fields replaced. A model of the rules, written from the public header and by brute force,
// says which are valid: the library must agree, name a reason when it refuses, and compute
// the right result within its guards when it accepts.
#include <kallima/kallima.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../counting.h"
#include "../problems.h"
#include "../rows.h"
#include "../trial.h"

// Unjudged: too large to hold, or a half spectrum that cannot be one of real data because
// elements of the input share an address.
enum verdict { VALID, INVALID, UNJUDGED };

enum { MODEL_POINTS = 1 << 14, MODEL_ELEMENTS = 1 << 20, DEFAULT_COUNT = 4000 };

static const int64_t interesting[] = {
    0,
    1,
    2,
    3,
    4,
    5,
    7,
    8,
    9,
    16,
    17,
    31,
    64,
    100,
    1000,
    65536,
    -1,
    -2,
    -3,
    -8,
    -64,
    INT32_MAX,
    INT32_MIN,
    (int64_t)1 << 31,
    (int64_t)1 << 32,
    (int64_t)1 << 57,
    ((int64_t)1 << 57) + 1,
    (int64_t)1 << 62,
    INT64_MAX,
    INT64_MAX - 1,
    INT64_MIN,
    INT64_MIN + 1,
};

enum { INTERESTING = sizeof interesting / sizeof interesting[0] };

static int64_t pick(struct random *r)
{
    return interesting[random_between(r, 0, INTERESTING - 1)];
}

// Mostly the small ones.
static int64_t pick_near(struct random *r)
{
    return interesting[random_between(r, 0,
                                      random_between(r, 0, 3) ? 20 : INTERESTING - 1)];
}

static double pick_scale(struct random *r)
{
    static const double scales[] = { 0.0, 1.0, -0.5, INFINITY, NAN, 4.0 };
    return scales[random_between(r, 0, 5)];
}

// Move a number a little, wrapping round.
static void nudge(int64_t *number, struct random *r)
{
    *number = (int64_t)((uint64_t)*number + (uint64_t)random_between(r, -2, 2));
}

static void mutate_layout(kallima_layout *layout, int rank, struct random *r)
{
    const int axis = (int)random_between(r, 0, rank > 0 && rank <= 8 ? rank - 1 : 7);
    switch (random_between(r, 0, 5)) {
    case 0: layout->format = (int32_t)random_between(r, -1, 2); break;
    case 1: layout->offset = pick_near(r); break;
    case 2: layout->batch_stride = pick_near(r); break;
    case 3: nudge(&layout->stride[axis], r); break;
    case 4: nudge(&layout->batch_stride, r); break;
    default: layout->stride[axis] = pick_near(r); break;
    }
}

static void mutate(kallima_desc *d, struct random *r)
{
    switch (random_between(r, 0, 14)) {
    case 0: d->kind = (int32_t)random_between(r, -1, 3); break;
    case 1: d->precision = (int32_t)random_between(r, -1, 2); break;
    case 2: d->direction = (int32_t)random_between(r, -1, 2); break;
    case 3: d->placement = (int32_t)random_between(r, -1, 2); break;
    case 4: d->destroy_input = (int32_t)random_between(r, 0, 2); break;
    case 5: d->rank = (int32_t)random_between(r, -1, 10); break;
    case 6: d->batch = pick(r); break;
    case 7: d->n[random_between(r, 0, 7)] = pick(r); break;
    case 8: d->scale = pick_scale(r); break;
    case 9:
    case 10:
    case 11: mutate_layout(&d->in, d->rank, r); break;
    default: mutate_layout(&d->out, d->rank, r); break;
    }
}

static bool fields_are_valid(const kallima_desc *d)
{
    if (d->kind < 0 || d->kind > 2 || d->precision < 0 || d->precision > 1)
        return false;
    if (d->direction < 0 || d->direction > 1 || d->placement < 0 || d->placement > 1)
        return false;
    if (d->destroy_input < 0 || d->destroy_input > 1 || d->batch < 0)
        return false;
    if (d->in.format < 0 || d->in.format > 1 || d->out.format < 0 || d->out.format > 1)
        return false;
    if (d->kind == KALLIMA_R2C && d->direction == KALLIMA_INVERSE)
        return false;
    if (d->rank < 1 || d->rank > KALLIMA_MAX_RANK || !isfinite(d->scale))
        return false;
    for (int i = 0; i < d->rank; i++) {
        if (d->n[i] < 1)
            return false;
    }
    return true;
}

// A stride of 0 on an axis of several elements gives none of them an address of its own.
static bool strides_are_valid(const struct view *v)
{
    for (int i = 0; i < v->axes; i++) {
        if (v->stride[i] == 0 && v->n[i] > 1)
            return false;
    }
    return v->offset >= 0 && v->first >= 0;
}

static bool same_storage(const struct view *a, const struct view *b, int64_t a_reals,
                         int64_t b_reals, bool real_kind)
{
    if (a->planar != b->planar || a->offset * a_reals != b->offset * b_reals)
        return false;
    for (int i = 0; i < a->axes; i++) {
        const bool line = real_kind && i == a->axes - 1;
        if (a->n[i] == 1 && b->n[i] == 1)
            continue;
        if (line ? a->stride[i] != 1 || (b->n[i] > 1 && b->stride[i] != 1)
                 : a->stride[i] * a_reals != b->stride[i] * b_reals)
            return false;
    }
    return true;
}

static enum verdict judge(const kallima_desc *d)
{
    struct view in, out;

    if (!fields_are_valid(d))
        return INVALID;
    if (!view_build(&in, d, false) || !view_build(&out, d, true) ||
        in.count > MODEL_POINTS || out.count > MODEL_POINTS || in.last > MODEL_ELEMENTS ||
        out.last > MODEL_ELEMENTS)
        return UNJUDGED;
    if (!strides_are_valid(&in) || !strides_are_valid(&out) || view_overlaps(&out))
        return INVALID;
    if (d->placement == KALLIMA_OUT_OF_PLACE)
        return d->kind == KALLIMA_C2R && view_overlaps(&in) ? UNJUDGED : VALID;
    if (!same_storage(&in, &out, d->kind == KALLIMA_C2R ? 2 : 1,
                      d->kind == KALLIMA_R2C ? 2 : 1, d->kind != KALLIMA_C2C))
        return INVALID;
    return view_overlaps(&in) ? INVALID : VALID;
}

static void report(const kallima_desc *d, uint64_t seed, const char *what)
{
    char text[600];
    problem_print(d, text, sizeof text);
    row_fail("%s (%s)\n       problem %s\n       seed %llu", what, kallima_last_error(),
             text, (unsigned long long)seed);
}

static void check_one(const kallima_desc *d, uint64_t seed, kallima_device *device,
                      struct counting *counting)
{
    const enum verdict verdict = judge(d);
    const long long live = counting->live;
    kallima_plan *plan = (kallima_plan *)(void *)counting;

    row_ran();
    if (verdict == VALID) {
        const struct trial t = { .desc = *d, .seed = seed, .way = (enum way)(seed % 4) };
        trial_check(&t, device);
        plan = NULL;
    } else {
        const kallima_status status = kallima_plan_create(&plan, device, d, NULL);
        if (verdict == INVALID && status == KALLIMA_OK)
            report(d, seed, "an invalid descriptor is accepted");
        if (status != KALLIMA_OK && plan)
            report(d, seed, "*out is not NULL after a refusal");
        if (status == KALLIMA_OK)
            kallima_plan_destroy(&plan);
        else if (status != KALLIMA_E_ARGUMENT && status != KALLIMA_E_MEMORY)
            report(d, seed, "a refusal with an unexpected status");
        else if (strncmp(kallima_last_error(), "plan: ", 6) != 0 &&
                 status == KALLIMA_E_ARGUMENT)
            report(d, seed, "a refusal without a sentence");
    }
    if (counting->live != live || counting->damaged != 0)
        report(d, seed, "memory is left allocated or damaged");
}

static kallima_desc make(uint64_t seed)
{
    struct random r = { seed };
    kallima_desc d = problem_random(&r, 300);
    for (int64_t left = random_between(&r, 0, 3); left > 0; left--)
        mutate(&d, &r);
    return d;
}

// Too large to hold, yet perhaps valid: planning would make tables as large as the memory
// of the machine. The allocator refuses them.
static void *allocate_bounded(void *user, size_t bytes)
{
    const kallima_allocator inner = counting_allocator((struct counting *)user);
    return bytes > ((size_t)1 << 25) ? NULL : inner.allocate(user, bytes);
}

static long long count = DEFAULT_COUNT;
static uint64_t first_seed = 1;

static void descriptors_are_refused_or_computed(void **state)
{
    struct counting counting = { 0 };
    kallima_device_options options = { .threads = 1 };
    kallima_device *device = NULL;

    (void)state;
    options.allocator = counting_allocator(&counting);
    options.allocator.allocate = allocate_bounded;
    assert_int_equal(kallima_device_open(&device, "cpu", &options), KALLIMA_OK);
    for (long long i = 0; i < count; i++) {
        const uint64_t seed = first_seed + (uint64_t)i;
        const kallima_desc d = make(seed);
        check_one(&d, seed, device, &counting);
    }
    kallima_device_close(&device);
    ROW_CHECK(counting.live == 0);
    ROWS_FINISH();
}

// The fuzzer itself must reach all cases, or it cannot fail.
static void every_verdict_occurs(void **state)
{
    long long seen[3] = { 0 };

    (void)state;
    for (long long i = 0; i < count; i++) {
        const kallima_desc d = make(first_seed + (uint64_t)i);
        seen[judge(&d)]++;
    }
    fprintf(stderr, "  %lld valid, %lld invalid, %lld unjudged\n", seen[VALID],
            seen[INVALID], seen[UNJUDGED]);
    ROW_CHECK(seen[VALID] * 5 > count && seen[INVALID] * 10 > count &&
              seen[UNJUDGED] > 0);
    ROWS_FINISH();
}

int main(int argc, char **argv)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_verdict_occurs),
        cmocka_unit_test(descriptors_are_refused_or_computed),
    };
    if (argc > 1)
        count = atoll(argv[1]);
    if (argc > 2)
        first_seed = strtoull(argv[2], NULL, 10);
    return cmocka_run_group_tests_name("fuzz-descriptor", tests, NULL, NULL);
}
