// SPDX-License-Identifier: MIT
// What a user may get wrong is refused: with the right status, a sentence that names the
// field, its value and the limit, *out NULL, and nothing left allocated.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "suite.h"

struct refusal {
    const char *words[3]; // that the sentence must hold; NULL: no more
    kallima_desc desc;
};

// A device whose memory is counted.
static struct counting counting;
static kallima_device *device;

static void open_counted(void)
{
    memset(&counting, 0, sizeof counting);
    device = suite_open(1, &counting);
}

static void close_counted(void)
{
    kallima_device_close(&device);
    ROW_CHECK(counting.live == 0 && counting.damaged == 0);
}

static bool holds_words(const char *sentence, const char *const words[3])
{
    for (int i = 0; i < 3 && words[i]; i++) {
        if (!strstr(sentence, words[i]))
            return false;
    }
    return true;
}

static void check_refusal_as(kallima_status wanted, const kallima_desc *d,
                             const char *const words[3])
{
    char problem[400];
    const long long live = counting.live;
    kallima_plan *plan = (kallima_plan *)(void *)&suite;
    const kallima_status status = kallima_plan_create(&plan, device, d, NULL);

    problem_print(d, problem, sizeof problem);
    row_ran();
    if (status != wanted)
        row_fail("%s instead of %s for %s", kallima_status_name(status),
                 kallima_status_name(wanted), problem);
    else if (plan)
        row_fail("*out is not NULL for %s", problem);
    else if (!holds_words(kallima_last_error(), words))
        row_fail("\"%s\" does not name \"%s\", \"%s\", \"%s\"", kallima_last_error(),
                 words[0], words[1] ? words[1] : "", words[2] ? words[2] : "");
    if (counting.live != live)
        row_fail("%lld blocks left allocated for %s", counting.live - live, problem);
    if (status == KALLIMA_OK)
        kallima_plan_destroy(&plan);
}

static void check_refusal(const kallima_desc *d, const char *const words[3])
{
    check_refusal_as(KALLIMA_E_ARGUMENT, d, words);
}

#define LINE(length) .rank = 1, .n = { length }
#define HUGE_NUMBER  ((int64_t)1 << 62)

static const struct refusal refusals[] = {
    { { "kind", "= 3", "0 to 2" }, { LINE(8), .kind = 3 } },
    { { "kind", "= -1" }, { LINE(8), .kind = -1 } },
    { { "precision", "= 2", "0 to 1" }, { LINE(8), .precision = 2 } },
    { { "direction", "= 2", "0 to 1" }, { LINE(8), .direction = 2 } },
    { { "direction", "= -1" }, { LINE(8), .direction = -1 } },
    { { "placement", "= 7", "0 to 1" }, { LINE(8), .placement = 7 } },
    { { "destroy_input", "= 2" }, { LINE(8), .destroy_input = 2 } },
    { { "in.format", "= 2", "0 to 1" }, { LINE(8), .in.format = 2 } },
    { { "out.format", "= -5" }, { LINE(8), .out.format = -5 } },
    { { "rank", "= 0", "1 to 8" }, { .rank = 0, .n = { 8 } } },
    { { "rank", "= 9", "1 to 8" }, { .rank = 9, .n = { 1, 1, 1, 1, 1, 1, 1, 1 } } },
    { { "rank", "= -1" }, { .rank = -1, .n = { 8 } } },
    { { "n[0]", "= 0", "at least 1" }, { LINE(0) } },
    { { "n[0]", "= -4" }, { LINE(-4) } },
    { { "n[2]", "= 0" }, { .rank = 3, .n = { 2, 3, 0 } } },
    { { "n[1]", "-9223372036854775808" }, { .rank = 2, .n = { 2, INT64_MIN } } },
    { { "batch", "= -1" }, { LINE(8), .batch = -1 } },
    { { "batch", "-9223372036854775808" }, { LINE(8), .batch = INT64_MIN } },
    { { "scale", "nan", "finite" }, { LINE(8), .scale = NAN } },
    { { "scale", "inf", "finite" }, { LINE(8), .scale = INFINITY } },
    { { "scale", "-inf" }, { LINE(8), .scale = -INFINITY } },
    { { "direction", "R2C" },
      { LINE(8), .kind = KALLIMA_R2C, .direction = KALLIMA_INVERSE } },
    // Sizes that 64 bits do not hold.
    { { "n[0]", "2^57" }, { LINE(INT64_MAX) } },
    { { "n[1]" }, { .rank = 2, .n = { (int64_t)1 << 32, (int64_t)1 << 32 } } },
    { { "n[0]" }, { LINE((int64_t)1 << 40), .batch = (int64_t)1 << 40 } },
    { { "n[7]" }, { .rank = 8, .n = { 256, 256, 256, 256, 256, 256, 256, 256 } } },
    { { "in.stride[0]", "4611686018427387904" },
      { LINE(8), .in.stride = { HUGE_NUMBER } } },
    { { "out.stride[0]" }, { LINE(8), .out.stride = { HUGE_NUMBER } } },
    { { "in.stride[0]" }, { LINE(3), .in.stride = { INT64_MAX } } },
    { { "in." }, { LINE(3), .in.stride = { INT64_MIN } } },
    { { "out." }, { LINE(3), .out.stride = { INT64_MIN } } },
    { { "in.batch_stride" }, { LINE(8), .batch = 5, .in.batch_stride = INT64_MAX } },
    { { "out.batch_stride" }, { LINE(8), .batch = 5, .out.batch_stride = HUGE_NUMBER } },
    { { "out." }, { LINE(8), .batch = 5, .out.batch_stride = INT64_MIN } },
    { { "in.offset" }, { LINE(8), .in.offset = INT64_MAX } },
    { { "out.offset" }, { LINE(8), .out.offset = INT64_MAX - 3 } },
    // Indices below zero.
    { { "in.offset", "= -1" }, { LINE(8), .in.offset = -1 } },
    { { "out.offset", "= -1" }, { LINE(8), .out.offset = -1 } },
    { { "in.offset", "-7" }, { LINE(8), .in.stride = { -1 } } },
    { { "out.offset", "-1" }, { LINE(8), .out.offset = 6, .out.stride = { -1 } } },
    { { "out.offset" },
      { LINE(8), .batch = 3, .out.offset = 15, .out.batch_stride = -8 } },
    // A stride of 0 beside others.
    { { "in.stride[0]", "= 0" }, { .rank = 2, .n = { 4, 4 }, .in.stride = { 0, 1 } } },
    { { "out.stride[1]", "= 0" }, { .rank = 2, .n = { 4, 4 }, .out.stride = { 4, 0 } } },
    // In place.
    { { "in place", "stride" },
      { LINE(8), .placement = KALLIMA_IN_PLACE, .in.stride = { 2 },
        .out.stride = { 3 } } },
    { { "in place", "stride" },
      { LINE(8), .placement = KALLIMA_IN_PLACE, .in.stride = { 2 } } },
    { { "in place", "offset" },
      { LINE(8), .placement = KALLIMA_IN_PLACE, .in.offset = 2, .out.offset = 1 } },
    { { "in place", "batch_stride" },
      { LINE(8), .placement = KALLIMA_IN_PLACE, .batch = 2, .in.batch_stride = 9 } },
    { { "in place", "format" },
      { LINE(8), .placement = KALLIMA_IN_PLACE, .in.format = KALLIMA_PLANAR } },
    { { "in place" },
      { LINE(8), .kind = KALLIMA_R2C, .placement = KALLIMA_IN_PLACE,
        .out.format = KALLIMA_PLANAR } },
    { { "in place", "stride" },
      { LINE(8), .kind = KALLIMA_R2C, .placement = KALLIMA_IN_PLACE, .in.stride = { 2 },
        .out.stride = { 1 } } },
    { { "in place", "stride" },
      { LINE(8), .kind = KALLIMA_C2R, .placement = KALLIMA_IN_PLACE, .in.stride = { 2 },
        .out.stride = { 2 } } },
    { { "in place", "offset" },
      { LINE(8), .kind = KALLIMA_R2C, .placement = KALLIMA_IN_PLACE, .in.offset = 4,
        .out.offset = 4 } },
    { { "in place", "batch_stride" },
      { LINE(8), .kind = KALLIMA_R2C, .placement = KALLIMA_IN_PLACE, .batch = 2,
        .in.batch_stride = 8, .out.batch_stride = 5 } },
    { { "in place" },
      { .rank = 2,
        .n = { 4, 8 },
        .kind = KALLIMA_R2C,
        .placement = KALLIMA_IN_PLACE,
        .in.stride = { 8, 1 },
        .out.stride = { 5, 1 } } },
    { { "in place" },
      { .rank = 2,
        .n = { 4, 8 },
        .kind = KALLIMA_C2R,
        .placement = KALLIMA_IN_PLACE,
        .in.stride = { 4, 1 },
        .out.stride = { 8, 1 } } },
};

void bad_descriptors_are_refused(void **state)
{
    (void)state;
    open_counted();
    for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++)
        check_refusal(&refusals[i].desc, refusals[i].words);
    close_counted();
    ROWS_FINISH();
}

// Strides of two or three output axes; the last number of a row is the batch's stride.
struct strides {
    int rank;
    int64_t n[3], stride[3], batch, batch_stride;
};

static const struct strides colliding[] = {
    { 2, { 4, 4 }, { 1, 1 }, 0, 0 },
    { 2, { 4, 4 }, { 3, 1 }, 0, 0 },
    { 2, { 4, 3 }, { 2, 3 }, 0, 0 }, // 3 * 2 = 2 * 3
    { 2, { 3, 4 }, { 3, 2 }, 0, 0 },
    { 2, { 4, 3 }, { -2, 3 }, 0, 0 },
    { 2, { 7, 5 }, { 4, 6 }, 0, 0 }, // 3 * 4 = 2 * 6
    { 2, { 1000, 1001 }, { 1000, 999 }, 0, 0 },
    { 3, { 2, 2, 2 }, { 3, 2, 1 }, 0, 0 }, // 3 = 2 + 1
    { 3, { 3, 2, 2 }, { 5, 7, 3 }, 0, 0 }, // 2 * 5 = 7 + 3
    { 1, { 8 }, { 1 }, 2, 7 },
    { 1, { 8 }, { 3 }, 4, 9 },
    { 1, { 8 }, { 2 }, 3, -4 },
    { 2, { 2, 8 }, { 16, 1 }, 3, 8 },
};

static const struct strides distinct[] = {
    { 2, { 3, 2 }, { 2, 3 }, 0, 0 }, // 2a = 3b needs a = 3
    { 2, { 3, 20 }, { 2, 3 }, 0, 0 },
    { 2, { 2, 3 }, { 3, 2 }, 0, 0 },
    { 2, { 3, 9 }, { 4, 6 }, 0, 0 }, // 4a = 6b needs a = 3
    { 2, { 1000, 999 }, { 1000, 999 }, 0, 0 },
    { 3, { 2, 2, 2 }, { 4, 2, 1 }, 0, 0 },
    { 3, { 2, 2, 2 }, { 4, 3, 2 }, 0, 0 },
    { 3, { 1, 4, 1 }, { 1, 1, 1 }, 0, 0 },
    { 2, { 5, 7 }, { 1, 5 }, 0, 0 },
    { 1, { 8 }, { 3 }, 3, 1 },
    { 1, { 8 }, { 3 }, 8, 25 },
    { 1, { 8 }, { 2 }, 2, 1 },
    { 1, { 8 }, { 2 }, 2, -1 },
};

static kallima_desc with_strides(const struct strides *s)
{
    kallima_desc d = { .rank = s->rank, .batch = s->batch };
    for (int i = 0; i < s->rank; i++) {
        d.n[i] = s->n[i];
        d.out.stride[i] = s->stride[i];
        d.out.offset += s->stride[i] < 0 ? -s->stride[i] * (s->n[i] - 1) : 0;
    }
    d.out.batch_stride = s->batch_stride;
    if (s->batch_stride < 0)
        d.out.offset -= s->batch_stride * (s->batch - 1);
    return d;
}

static bool overlaps(const kallima_desc *d)
{
    struct view view;
    return view_build(&view, d, true) && view_overlaps(&view);
}

// Before its tables are made, which would take minutes and the machine's memory.
void scratch_beyond_memory_is_refused(void **state)
{
    static const char *const words[3] = { "scratch", "memory" };
    const kallima_desc desc = { LINE((int64_t)1 << 44) };

    (void)state;
    if (suite.takes_kernels || !suite.computes)
        skip();
    open_counted();
    check_refusal_as(KALLIMA_E_MEMORY, &desc, words);
    close_counted();
    ROWS_FINISH();
}

void colliding_strides_are_refused(void **state)
{
    static const char *const words[3] = { "out.stride", "overlap" };
    (void)state;
    open_counted();
    for (size_t i = 0; i < sizeof colliding / sizeof colliding[0]; i++) {
        const kallima_desc d = with_strides(&colliding[i]);
        ROW_CHECK(overlaps(&d)); // the row itself is right
        check_refusal(&d, words);
    }
    close_counted();
    ROWS_FINISH();
}

void distinct_strides_are_accepted(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof distinct / sizeof distinct[0]; i++) {
        struct trial t = { .desc = with_strides(&distinct[i]), .seed = i };
        ROW_CHECK(!overlaps(&t.desc));
        if (suite.computes)
            suite_check(&t, suite.device);
        else
            ROW_CHECK(trial_hash(&t, suite.device) != 0);
    }
    ROWS_FINISH();
}

void unusual_descriptors_are_accepted(void **state)
{
    static const kallima_desc problems[] = {
        { LINE(8), .kind = KALLIMA_C2R, .direction = KALLIMA_FORWARD },
        { LINE(8), .kind = KALLIMA_C2R, .direction = KALLIMA_INVERSE },
        { LINE(8), .kind = KALLIMA_R2C, .in.format = KALLIMA_PLANAR },
        { LINE(8), .batch = 1, .in.batch_stride = 5, .out.batch_stride = -3 },
        { LINE(1), .in.stride = { -5 }, .out.stride = { 77 } },
        { .rank = 2,
          .n = { 1, 4 },
          .in.stride = { 0, 2 },
          .out.stride = { 0, -1 },
          .out.offset = 3 },
        { LINE(8), .in.stride = { -1 }, .in.offset = 7 },
        { LINE(8), .placement = KALLIMA_IN_PLACE, .in.stride = { 1 } },
        { LINE(7), .kind = KALLIMA_R2C, .placement = KALLIMA_IN_PLACE, .batch = 3 },
        { LINE(8), .destroy_input = 1, .placement = KALLIMA_IN_PLACE },
        { LINE(8), .placement = KALLIMA_IN_PLACE, .in.stride = { -1 }, .in.offset = 7,
          .out.stride = { -1 }, .out.offset = 7 },
    };
    (void)state;
    for (size_t i = 0; i < sizeof problems / sizeof problems[0]; i++) {
        const struct trial t = { .desc = problems[i], .seed = i, .way = WAY_OWNED };
        if (suite.computes)
            suite_check(&t, suite.device);
        else
            ROW_CHECK(trial_hash(&t, suite.device) != 0);
    }
    ROWS_FINISH();
}

void bad_arguments_of_plans_are_refused(void **state)
{
    const kallima_desc d = { LINE(8) };
    kallima_plan_cost cost;
    kallima_plan *plan = (kallima_plan *)(void *)&suite;

    (void)state;
    ROW_CHECK(kallima_plan_create(NULL, suite.device, &d, NULL) == KALLIMA_E_ARGUMENT);
    ROW_CHECK(kallima_plan_create(&plan, NULL, &d, NULL) == KALLIMA_E_ARGUMENT && !plan);
    plan = (kallima_plan *)(void *)&suite;
    ROW_CHECK(kallima_plan_create(&plan, suite.device, NULL, NULL) ==
                  KALLIMA_E_ARGUMENT &&
              !plan);
    ROW_CHECK(strlen(kallima_last_error()) > 0);
    plan = suite_plan(suite.device, &d);
    ROW_CHECK(kallima_plan_get_cost(NULL, &cost) == KALLIMA_E_ARGUMENT);
    ROW_CHECK(kallima_plan_get_cost(plan, NULL) == KALLIMA_E_ARGUMENT);
    kallima_plan_destroy(&plan);
    ROWS_FINISH();
}

static void expect_arrays(const kallima_plan *plan, const kallima_host_arrays *a,
                          const char *what)
{
    row_ran();
    const kallima_status status = kallima_plan_execute_host(plan, a);
    if (status != KALLIMA_E_ARGUMENT || strlen(kallima_last_error()) == 0)
        row_fail("%s: %s instead of E_ARGUMENT", what, kallima_status_name(status));
}

static void check_workspaces(void)
{
    // A transform that needs a workspace.
    const kallima_desc d = { LINE(10007) };
    kallima_plan *plan = suite_plan(suite.device, &d);
    const uint64_t bytes = kallima_plan_get_workspace(plan);
    float *x = (float *)calloc(4 * 10007, sizeof *x);
    char *workspace = (char *)aligned_alloc(64, (size_t)bytes / 64 * 64 + 64);
    kallima_host_arrays a = { .in = { x }, .out = { x + 2 * 10007 } };

    a.workspace = workspace;
    a.workspace_bytes = bytes;
    ROW_CHECK(bytes > 0 || !suite.computes);
    ROW_CHECK(kallima_plan_execute_host(plan, &a) == KALLIMA_OK);
    if (bytes > 0) {
        a.workspace_bytes = bytes - 1;
        expect_arrays(plan, &a, "a workspace one byte too small");
        a.workspace_bytes = 0;
        expect_arrays(plan, &a, "a workspace of no bytes");
    }
    free(workspace);
    free(x);
    kallima_plan_destroy(&plan);
}

static void check_f64_refused(const kallima_desc *d)
{
    kallima_plan *plan = NULL;
    ROW_CHECK(kallima_plan_create(&plan, suite.device, d, NULL) == KALLIMA_E_UNSUPPORTED);
    ROW_CHECK(plan == NULL && strstr(kallima_last_error(), "in f32 only"));
}

void bad_arrays_are_refused(void **state)
{
    kallima_desc d = { LINE(8), .precision = KALLIMA_F64 };
    double x[33] = { 0 }, y[33] = { 0 };
    kallima_host_arrays a = { .in = { x }, .out = { y } };

    (void)state;
    if (!suite.has_f64) {
        check_f64_refused(&d);
        d.precision = KALLIMA_F32;
    }
    kallima_plan *plan = suite_plan(suite.device, &d);
    ROW_CHECK(kallima_plan_run(NULL, x, y) == KALLIMA_E_ARGUMENT);
    ROW_CHECK(kallima_plan_run(plan, NULL, y) == KALLIMA_E_ARGUMENT);
    ROW_CHECK(kallima_plan_run(plan, x, NULL) == KALLIMA_E_ARGUMENT);
    ROW_CHECK(kallima_plan_run(plan, x, x) == KALLIMA_E_ARGUMENT);
    ROW_CHECK(kallima_plan_run(plan, (char *)x + (suite.has_f64 ? 4 : 2), y) ==
              KALLIMA_E_ARGUMENT);
    ROW_CHECK(kallima_plan_run(plan, x, (char *)y + 1) == KALLIMA_E_ARGUMENT);
    ROW_CHECK(kallima_plan_execute_host(plan, NULL) == KALLIMA_E_ARGUMENT);
    ROW_CHECK(kallima_plan_execute_host(NULL, &a) == KALLIMA_E_ARGUMENT);
    a.out[0] = NULL;
    expect_arrays(plan, &a, "no output");
    kallima_plan_destroy(&plan);

    d.in.format = KALLIMA_PLANAR;
    plan = suite_plan(suite.device, &d);
    a = (kallima_host_arrays){ .in = { x }, .out = { y } };
    expect_arrays(plan, &a, "planar input without imaginary parts");
    ROW_CHECK(kallima_plan_run(plan, x, y) == KALLIMA_E_ARGUMENT);
    kallima_plan_destroy(&plan);

    d.in.format = KALLIMA_INTERLEAVED;
    d.placement = KALLIMA_IN_PLACE;
    plan = suite_plan(suite.device, &d);
    ROW_CHECK(kallima_plan_run(plan, x, y) == KALLIMA_E_ARGUMENT);
    kallima_plan_destroy(&plan);
    check_workspaces();
    ROWS_FINISH();
}

static void expect_buffers(const kallima_plan *plan, const kallima_device_arrays *a,
                           const char *what)
{
    row_ran();
    const kallima_status status = kallima_plan_execute(plan, a);
    if (status != KALLIMA_E_ARGUMENT || strlen(kallima_last_error()) == 0)
        row_fail("%s: %s instead of E_ARGUMENT", what, kallima_status_name(status));
}

static void check_workspace_buffer(void)
{
    const kallima_desc d = { LINE(10007) };
    kallima_plan *plan = suite_plan(suite.device, &d);
    const uint64_t bytes = kallima_plan_get_workspace(plan);
    kallima_device_arrays a = { 0 };

    ROW_CHECK(kallima_buffer_create(&a.in[0], suite.device, 8 * 10007) == KALLIMA_OK);
    ROW_CHECK(kallima_buffer_create(&a.out[0], suite.device, 8 * 10007) == KALLIMA_OK);
    if (bytes > 1) {
        ROW_CHECK(kallima_buffer_create(&a.workspace, suite.device, bytes - 1) ==
                  KALLIMA_OK);
        expect_buffers(plan, &a, "a workspace buffer one byte too small");
    }
    kallima_buffer_destroy(&a.in[0]);
    kallima_buffer_destroy(&a.out[0]);
    kallima_buffer_destroy(&a.workspace);
    kallima_plan_destroy(&plan);
}

void bad_buffers_are_refused(void **state)
{
    const kallima_desc d = { LINE(8) };
    kallima_device *other = suite_open(1, NULL);
    kallima_buffer *full = NULL, *also = NULL, *small = NULL, *foreign = NULL;
    kallima_buffer *none = (kallima_buffer *)(void *)&suite;

    (void)state;
    ROW_CHECK(kallima_buffer_create(&full, suite.device, 64) == KALLIMA_OK);
    ROW_CHECK(kallima_buffer_create(&also, suite.device, 64) == KALLIMA_OK);
    ROW_CHECK(kallima_buffer_create(&small, suite.device, 63) == KALLIMA_OK);
    ROW_CHECK(kallima_buffer_create(&foreign, other, 64) == KALLIMA_OK);
    ROW_CHECK(kallima_buffer_create(&none, suite.device, 0) == KALLIMA_E_ARGUMENT);
    ROW_CHECK(none == NULL);
    ROW_CHECK(kallima_buffer_create(&none, NULL, 8) == KALLIMA_E_ARGUMENT);
    ROW_CHECK(kallima_buffer_create(NULL, suite.device, 8) == KALLIMA_E_ARGUMENT);

    kallima_plan *plan = suite_plan(suite.device, &d);
    const kallima_device_arrays good = { .in = { full }, .out = { also } };
    ROW_CHECK(kallima_plan_execute(plan, &good) == KALLIMA_OK);
    ROW_CHECK(kallima_device_finish(suite.device) == KALLIMA_OK);
    ROW_CHECK(kallima_plan_execute(NULL, &good) == KALLIMA_E_ARGUMENT);
    ROW_CHECK(kallima_plan_execute(plan, NULL) == KALLIMA_E_ARGUMENT);
    const struct {
        const char *what;
        kallima_device_arrays arrays;
    } rows[] = {
        { "no input", { .out = { also } } },
        { "no output", { .in = { full } } },
        { "a small input", { .in = { small }, .out = { also } } },
        { "a small output", { .in = { full }, .out = { small } } },
        { "a foreign input", { .in = { foreign }, .out = { also } } },
        { "a foreign output", { .in = { full }, .out = { foreign } } },
        { "one buffer, out of place", { .in = { full }, .out = { full } } },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        expect_buffers(plan, &rows[i].arrays, rows[i].what);

    kallima_plan_destroy(&plan);
    check_workspace_buffer();
    kallima_buffer_destroy(&full);
    kallima_buffer_destroy(&also);
    kallima_buffer_destroy(&small);
    kallima_buffer_destroy(&foreign);
    kallima_device_close(&other);
    ROWS_FINISH();
}

void bad_devices_are_refused(void **state)
{
    static const struct {
        const char *selector;
        kallima_status status;
    } rows[] = {
        { "cpu:1", KALLIMA_E_ABSENT },
        { "cpu:", KALLIMA_E_ARGUMENT },
        { "cpu:x", KALLIMA_E_ARGUMENT },
        { "cpu:-1", KALLIMA_E_ARGUMENT },
        { "CPU", KALLIMA_E_ARGUMENT },
        { "cpu ", KALLIMA_E_ARGUMENT },
        { "toaster", KALLIMA_E_ARGUMENT },
        { ":0", KALLIMA_E_ARGUMENT },
        { "null:99999999999999999999", KALLIMA_E_ARGUMENT },
    };
    struct counting local = { 0 };
    kallima_device_options options = { .allocator = counting_allocator(&local) };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        kallima_device *none = suite.device;
        const kallima_status status =
            kallima_device_open(&none, rows[i].selector, &options);
        row_ran();
        const bool refused =
            status == rows[i].status ||
            (status == KALLIMA_E_ABSENT && rows[i].status == KALLIMA_E_ARGUMENT);
        if (!refused || none || local.live != 0 || strlen(kallima_last_error()) == 0)
            row_fail("\"%s\": %s", rows[i].selector, kallima_status_name(status));
    }
    kallima_device *none = suite.device;
    options.threads = -1;
    ROW_CHECK(kallima_device_open(&none, "cpu", &options) == KALLIMA_E_ARGUMENT);
    ROW_CHECK(none == NULL && strstr(kallima_last_error(), "threads"));
    options.threads = 0;
    options.simd = "mmx";
    ROW_CHECK(kallima_device_open(&none, "cpu", &options) == KALLIMA_E_ARGUMENT);
    ROW_CHECK(none == NULL && strstr(kallima_last_error(), "mmx"));
    ROW_CHECK(kallima_device_open(NULL, "cpu", NULL) == KALLIMA_E_ARGUMENT);
    ROW_CHECK(local.live == 0);
    ROWS_FINISH();
}

void null_pointers_are_harmless(void **state)
{
    kallima_device *none = NULL;
    kallima_plan *plan = NULL;
    kallima_buffer *buffer = NULL;
    kallima_device_info info;
    int32_t count;

    (void)state;
    kallima_device_close(&none);
    kallima_plan_destroy(&plan);
    kallima_buffer_destroy(&buffer);
    ROW_CHECK(kallima_plan_get_workspace(NULL) == 0);
    ROW_CHECK(kallima_device_get_info(NULL, &info) == KALLIMA_E_ARGUMENT);
    ROW_CHECK(kallima_device_get_info(suite.device, NULL) == KALLIMA_E_ARGUMENT);
    ROW_CHECK(kallima_device_finish(NULL) == KALLIMA_E_ARGUMENT);
    ROW_CHECK(kallima_device_finish(suite.device) == KALLIMA_OK);
    ROW_CHECK(kallima_device_list(NULL, 0, NULL) == KALLIMA_E_ARGUMENT);
    ROW_CHECK(kallima_device_list(NULL, 1, &count) == KALLIMA_E_ARGUMENT);
    ROW_CHECK(kallima_device_list(&info, -1, &count) == KALLIMA_E_ARGUMENT);
    ROW_CHECK(kallima_device_list(NULL, 0, &count) == KALLIMA_OK && count >= 2);
    ROW_CHECK(kallima_device_list(&info, 1, &count) == KALLIMA_OK && count >= 2);
    ROW_CHECK(kallima_device_get_info(suite.device, &info) == KALLIMA_OK);
    ROW_CHECK(strcmp(info.selector, suite.selector) == 0);
    ROWS_FINISH();
}
