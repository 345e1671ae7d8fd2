// SPDX-License-Identifier: MIT
// Who allocates, when, and who releases.
#include <stdlib.h>
#include <string.h>

#include "../malloc.h"
#include "suite.h"

static const kallima_desc problems[] = {
    { .rank = 1, .n = { 1 } },
    { .rank = 1, .n = { 64 }, .batch = 50 },
    { .rank = 1, .n = { 1009 } },
    { .rank = 1, .n = { 47 }, .batch = 20, .precision = KALLIMA_F64 },
    { .rank = 1, .n = { 4096 }, .kind = KALLIMA_R2C },
    { .rank = 1, .n = { 4097 }, .kind = KALLIMA_C2R },
    { .rank = 1, .n = { 100000 } },
    { .rank = 1, .n = { 10007 }, .placement = KALLIMA_IN_PLACE },
    { .rank = 2, .n = { 100, 101 }, .in.format = KALLIMA_PLANAR },
    { .rank = 3, .n = { 20, 30, 40 }, .kind = KALLIMA_C2R, .precision = KALLIMA_F64 },
    { .rank = 1,
      .n = { 60 },
      .batch = 32,
      .in.stride = { 32 },
      .in.batch_stride = 1,
      .out.stride = { 32 },
      .out.batch_stride = 1 },
};

// Two executions that allocate nothing, in a workspace that is given.
static void execute_uncounted(const kallima_plan *plan, const struct counting *counting,
                              const kallima_host_arrays *host,
                              const kallima_device_arrays *buffers)
{
    for (int run = 0; run < 2; run++) {
        const long long calls = counting->calls, mallocs = malloc_calls();
        const kallima_status status = buffers ? kallima_plan_execute(plan, buffers)
                                              : kallima_plan_execute_host(plan, host);
        ROW_CHECK(status == KALLIMA_OK);
        ROW_CHECK(counting->calls == calls);
        ROW_CHECK(malloc_calls() == mallocs);
    }
}

static void check_on_host(const kallima_desc *d, const kallima_plan *plan,
                          const struct counting *counting)
{
    struct rig rig;
    rig_init(&rig, d, 5);
    kallima_host_arrays a = rig_arrays(&rig);
    a.workspace_bytes = kallima_plan_get_workspace(plan);
    void *memory = malloc((size_t)a.workspace_bytes + 64);
    a.workspace = (void *)(((uintptr_t)memory + 63) / 64 * 64);
    execute_uncounted(plan, counting, &a, NULL);
    free(memory);
    rig_clear(&rig);
}

// Host arrays are staged in buffers that are allocated: only work on buffers is not.
static void check_on_buffers(const kallima_desc *d, const kallima_plan *plan,
                             kallima_device *device, const struct counting *counting)
{
    struct rig rig;
    struct rig_buffers buffers;
    rig_init(&rig, d, 5);
    ROW_CHECK(rig_make_buffers(&rig, plan, device, &buffers) == KALLIMA_OK);
    execute_uncounted(plan, counting, NULL, &buffers.arrays);
    ROW_CHECK(kallima_device_finish(device) == KALLIMA_OK); // nothing in use may be freed
    rig_free_buffers(&rig, &buffers);
    rig_clear(&rig);
}

static void check_given_workspace(const kallima_desc *d, int threads)
{
    struct counting counting = { 0 };
    kallima_device *device = suite_open(threads, &counting);
    kallima_plan *plan = suite_plan(device, d);

    if (!suite.takes_kernels)
        check_on_host(d, plan, &counting);
    check_on_buffers(d, plan, device, &counting);
    kallima_plan_destroy(&plan);
    kallima_device_close(&device);
    ROW_CHECK(counting.live == 0 && counting.damaged == 0);
}

void execution_allocates_nothing(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof problems / sizeof problems[0]; i++) {
        if (suite_takes(i, 1))
            check_given_workspace(suite_problem(&problems[i]), 1);
        if (!suite.takes_kernels)
            check_given_workspace(suite_problem(&problems[i]), 3);
    }
    ROWS_FINISH();
}

// Such a plan refuses to run on a device's buffers alone.
static void check_without_workspace(const kallima_desc *d)
{
    const kallima_plan_options options = { .without_workspace = 1 };
    kallima_plan *plan = NULL;
    struct rig_buffers buffers;
    struct rig rig;

    ROW_CHECK(kallima_plan_create(&plan, suite.device, d, &options) == KALLIMA_OK);
    rig_init(&rig, d, 7);
    ROW_CHECK(rig_make_buffers(&rig, plan, suite.device, &buffers) == KALLIMA_OK);
    kallima_device_arrays bare = buffers.arrays;
    bare.workspace = NULL;
    const bool is_refused = suite.takes_kernels && buffers.workspace_bytes > 0;
    ROW_CHECK(kallima_plan_execute(plan, &bare) ==
              (is_refused ? KALLIMA_E_ARGUMENT : KALLIMA_OK));
    ROW_CHECK(kallima_plan_execute(plan, &buffers.arrays) == KALLIMA_OK);
    ROW_CHECK(rig_read_buffers(&rig, &buffers) == KALLIMA_OK);
    rig_free_buffers(&rig, &buffers);
    // Host arrays bring no buffers, and need none.
    ROW_CHECK(rig_execute(&rig, plan, suite.device, WAY_OWNED) == KALLIMA_OK);
    rig_clear(&rig);
    kallima_plan_destroy(&plan);
}

void plans_without_a_workspace_need_one(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof problems / sizeof problems[0]; i++) {
        if (suite_takes(i, 1))
            check_without_workspace(suite_problem(&problems[i]));
    }
    ROWS_FINISH();
}

// Everything comes from the allocator given, nothing from malloc(), and all goes back.
static void check_release(const kallima_desc *d)
{
    struct counting counting = { 0 };
    struct rig rig;

    rig_init(&rig, d, 6);
    const kallima_host_arrays a = rig_arrays(&rig);
    const long long mallocs = malloc_calls();
    kallima_device *device = suite_open(2, &counting);
    const long long of_device = counting.live;
    kallima_plan *plan = suite_plan(device, d);
    ROW_CHECK(counting.live > of_device);
    const long long of_plan = counting.live;
    ROW_CHECK(kallima_plan_execute_host(plan, &a) == KALLIMA_OK);
    const long long after_first = counting.live;
    for (int run = 0; run < 3; run++)
        ROW_CHECK(kallima_plan_execute_host(plan, &a) == KALLIMA_OK);
    ROW_CHECK(counting.live == after_first && after_first >= of_plan);
    kallima_plan_destroy(&plan);
    ROW_CHECK(plan == NULL && counting.live == of_device);
    kallima_device_close(&device);
    ROW_CHECK(device == NULL && counting.live == 0 && counting.damaged == 0);
    ROW_CHECK(malloc_calls() == mallocs || malloc_counts_mutexes);
    rig_clear(&rig);
}

void plans_release_what_they_took(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof problems / sizeof problems[0]; i++)
        check_release(suite_problem(&problems[i]));
    ROWS_FINISH();
}

void plans_keep_their_device_alive(void **state)
{
    struct counting counting = { 0 };
    const kallima_desc d = problem_line(KALLIMA_C2C, KALLIMA_F32, KALLIMA_FORWARD, 4);
    const float x[8] = { 1.0f };
    float y[8] = { 0.0f };

    (void)state;
    kallima_device *device = suite_open(1, &counting);
    kallima_plan *plan = suite_plan(device, &d);
    kallima_buffer *buffer = NULL;
    ROW_CHECK(kallima_buffer_create(&buffer, device, 64) == KALLIMA_OK);
    kallima_device_close(&device);
    ROW_CHECK(device == NULL && counting.live > 0);
    ROW_CHECK(kallima_plan_run(plan, x, y) == KALLIMA_OK);
    ROW_CHECK(!suite.computes || (y[0] == 1.0f && y[6] == 1.0f && y[7] == 0.0f));
    kallima_plan_destroy(&plan);
    ROW_CHECK(kallima_buffer_write(buffer, 0, x, sizeof x) == KALLIMA_OK);
    kallima_buffer_destroy(&buffer);
    ROW_CHECK(buffer == NULL && counting.live == 0);
    ROWS_FINISH();
}

void buffers_hold_what_was_written(void **state)
{
    enum { BYTES = 1000 };
    unsigned char in[BYTES], out[BYTES];
    kallima_buffer *buffer = NULL;

    (void)state;
    for (int i = 0; i < BYTES; i++)
        in[i] = (unsigned char)(i * 7 + 3);
    memset(out, 0, sizeof out);
    ROW_CHECK(kallima_buffer_create(&buffer, suite.device, BYTES) == KALLIMA_OK);
    ROW_CHECK(kallima_buffer_write(buffer, 0, in, BYTES) == KALLIMA_OK);
    ROW_CHECK(kallima_buffer_read(buffer, 0, out, BYTES) == KALLIMA_OK);
    ROW_CHECK(!suite.computes || memcmp(in, out, BYTES) == 0);
    ROW_CHECK(kallima_buffer_write(buffer, 990, in, 10) == KALLIMA_OK);
    ROW_CHECK(kallima_buffer_read(buffer, 985, out, 15) == KALLIMA_OK);
    ROW_CHECK(!suite.computes ||
              (memcmp(out, in + 985, 5) == 0 && memcmp(out + 5, in, 10) == 0));
    ROW_CHECK(kallima_buffer_write(buffer, 991, in, 10) == KALLIMA_E_ARGUMENT);
    ROW_CHECK(kallima_buffer_read(buffer, 1001, out, 0) == KALLIMA_E_ARGUMENT);
    ROW_CHECK(kallima_buffer_read(buffer, UINT64_MAX, out, 2) == KALLIMA_E_ARGUMENT);
    ROW_CHECK(kallima_buffer_write(buffer, 0, NULL, 10) == KALLIMA_E_ARGUMENT);
    ROW_CHECK(kallima_buffer_write(NULL, 0, in, 10) == KALLIMA_E_ARGUMENT);
    kallima_buffer_destroy(&buffer);
    ROWS_FINISH();
}
