// SPDX-License-Identifier: MIT
// The operations of a device that takes kernels, without plans.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../jobs.h"
#include "suite.h"

static struct counting counting;

static kallima_device *open_counted(void)
{
    counting = (struct counting){ .live = 0 };
    return suite_open(0, &counting);
}

static void close_counted(kallima_device *device)
{
    kallima_device_close(&device);
    ROW_CHECK(counting.live == 0 && counting.damaged == 0);
}

static const char *api(void)
{
    return suite.device->ops->name;
}

// Of a device, and of what is chosen where none is named.
static void look(const kallima_device *device, const kallima_device_info *info)
{
    const struct kal_caps *caps = &device->caps;
    kallima_device *first = NULL;

    ROW_CHECK(info->name[0] && info->driver[0]);
    ROW_CHECK(caps->language == suite.device->caps.language && caps->processors > 0);
    ROW_CHECK(caps->group_lanes >= JOB_LANES && caps->group_bytes >= 4096);
    ROW_CHECK(!strstr(info->name, "llvmpipe") || info->is_software);
    ROW_CHECK(kallima_device_open(&first, NULL, NULL) == KALLIMA_OK);
    ROW_CHECK(!info->is_software || strcmp(first->ops->name, api()) != 0);
    kallima_device_close(&first);
}

void devices_are_listed_and_described(void **state)
{
    (void)state;
    job_each_device(api(), look);
    ROWS_FINISH();
}

void numbers_beyond_the_list_are_absent(void **state)
{
    kallima_device *device = NULL;
    char selector[32];

    (void)state;
    snprintf(selector, sizeof selector, "%s:999", api());
    ROW_CHECK(kallima_device_open(&device, selector, NULL) == KALLIMA_E_ABSENT);
    ROW_CHECK(device == NULL);
    ROWS_FINISH();
}

void kernels_see_slots_and_offsets(void **state)
{
    kallima_device *device = open_counted();
    (void)state;
    job_check_offsets(device);
    close_counted(device);
    ROWS_FINISH();
}

void groups_have_the_memory_that_is_told(void **state)
{
    enum { GROUPS = 300 };
    static uint32_t x[GROUPS * JOB_LANES];
    kallima_device *device = open_counted();
    struct kal_device_kernel *kernel = job_compile(device, JOB_WHOLE);
    kallima_buffer *a = job_upload(device, x, sizeof x);

    (void)state;
    ROW_CHECK(job_run(kernel, job_at(a, 0), job_at(a, 0), GROUPS) == KALLIMA_OK);
    ROW_CHECK(kallima_buffer_read(a, 0, x, sizeof x) == KALLIMA_OK);
    for (uint32_t i = 0; i < GROUPS * JOB_LANES; i++)
        ROW_CHECK(x[i] == 3 * (JOB_LANES - 1 - i % JOB_LANES));
    device->ops->kernel_destroy(kernel);
    kallima_buffer_destroy(&a);
    close_counted(device);
    ROWS_FINISH();
}

static void check_tally(const struct kal_device_kernel *kernel, int groups)
{
    kallima_device *device = kernel->device;
    const size_t bytes = (size_t)(groups + 1) * sizeof(uint32_t);
    uint32_t *x = calloc(1, bytes);
    kallima_buffer *a = job_upload(device, x, bytes);
    int wrong = 0;

    ROW_CHECK(job_run(kernel, job_at(a, 0), job_at(a, 0), (uint64_t)groups) ==
              KALLIMA_OK);
    ROW_CHECK(kallima_buffer_read(a, 0, x, bytes) == KALLIMA_OK);
    for (int i = 0; i <= groups; i++)
        wrong += x[i] != (i < groups ? (uint32_t)i + 1 : 0);
    ROW_CHECK(wrong == 0);
    kallima_buffer_destroy(&a);
    free(x);
}

// More groups than a row of them can have, which may be few; OpenCL knows of no limit.
static void launch_rows(int32_t row_groups)
{
    kallima_device_options o = job_options(&counting);
    const struct kal_memory none = { 0 };
    kallima_device *device = NULL;

    o.limits.row_groups = row_groups;
    if (kallima_device_open(&device, suite.selector, &o) != KALLIMA_OK)
        fail_msg("%s", kallima_last_error());
    const int told = device->caps.row_groups, width = told ? told : 65535;
    struct kal_device_kernel *kernel = job_compile(device, JOB_TALLY);
    const int counts[] = { 1, width - 1, width, width + 1, 2 * width + 3 };

    ROW_CHECK(told == 0 || told <= row_groups);
    for (size_t k = 0; k < KAL_COUNT(counts); k++)
        check_tally(kernel, counts[k]);
    if (device->caps.language != KAL_LANGUAGE_OPENCL) {
        ROW_CHECK(job_run(kernel, none, none, (uint64_t)1 << 40) ==
                  KALLIMA_E_UNSUPPORTED);
        ROW_CHECK(strstr(kallima_last_error(), "1099511627776 groups"));
    }
    device->ops->kernel_destroy(kernel);
    close_counted(device);
}

void many_groups_are_launched_once_each(void **state)
{
    (void)state;
    launch_rows(65535); // what many drivers have
    if (suite.device->caps.row_groups)
        launch_rows(7);
    ROWS_FINISH();
}

// Only OpenCL has any.
void events_are_refused(void **state)
{
    const struct kal_sync waits = { .wait_count = 1 }, reports = { .event = &counting };
    const struct kal_sync *const syncs[] = { &waits, &reports };
    kallima_device *device = open_counted();
    struct kal_device_kernel *kernel = job_compile(device, JOB_TALLY);
    const struct kal_work work = { .kernel = kernel, .groups = 1 };

    (void)state;
    for (size_t i = 0; i < KAL_COUNT(syncs); i++)
        ROW_CHECK(device->caps.language == KAL_LANGUAGE_OPENCL ||
                  device->ops->enqueue(device, &work, 1, syncs[i]) ==
                      KALLIMA_E_UNSUPPORTED);
    device->ops->kernel_destroy(kernel);
    close_counted(device);
    ROWS_FINISH();
}

void zeros_and_copies_reach_their_range(void **state)
{
    uint32_t x[JOB_NUMBERS], y[JOB_NUMBERS] = { 0 };
    kallima_device *device = open_counted();

    (void)state;
    job_ramp(x, JOB_NUMBERS, 1);
    kallima_buffer *a = job_upload(device, x, sizeof x);
    kallima_buffer *b = job_upload(device, y, sizeof y);
    const struct kal_work zeros = { .slot = { job_at(a, 40) }, .fill_bytes = 80 };
    ROW_CHECK(device->ops->enqueue(device, &zeros, 1, NULL) == KALLIMA_OK);
    ROW_CHECK(kallima_buffer_copy(b, 400, a, 0, 2000) == KALLIMA_OK);
    ROW_CHECK(kallima_buffer_read(b, 0, y, sizeof y) == KALLIMA_OK);
    for (int i = 0; i < JOB_NUMBERS; i++) {
        const int from = i - 100;
        const bool is_zero = from < 0 || from >= 500 || (from >= 10 && from < 30);
        ROW_CHECK(y[i] == (is_zero ? 0 : (uint32_t)from));
    }
    kallima_buffer_destroy(&a);
    kallima_buffer_destroy(&b);
    close_counted(device);
    ROWS_FINISH();
}

void timers_measure_the_device(void **state)
{
    enum { GROUPS = 20000 };
    static uint32_t x[GROUPS * JOB_LANES];
    kallima_device *device = open_counted();
    struct kal_device_kernel *kernel = job_compile(device, JOB_SAXPY);
    kallima_buffer *a = job_upload(device, x, sizeof x);
    kallima_buffer *b = job_upload(device, x, sizeof x);
    kallima_timer *timer = NULL;
    double seconds = -1.0;

    (void)state;
    ROW_CHECK(kallima_timer_create(&timer, device) == KALLIMA_OK);
    ROW_CHECK(kallima_timer_read(timer, &seconds) == KALLIMA_E_DEVICE);
    for (int times = 0; times < 2; times++) {
        ROW_CHECK(kallima_timer_start(timer) == KALLIMA_OK);
        ROW_CHECK(kallima_timer_read(timer, &seconds) == KALLIMA_E_DEVICE);
        ROW_CHECK(job_run(kernel, job_at(a, 0), job_at(b, 0), GROUPS) == KALLIMA_OK);
        ROW_CHECK(kallima_timer_stop(timer) == KALLIMA_OK);
        ROW_CHECK(kallima_timer_read(timer, &seconds) == KALLIMA_OK);
        ROW_CHECK(seconds > 0.0 && seconds < 60.0);
    }
    kallima_timer_destroy(&timer);
    device->ops->kernel_destroy(kernel);
    kallima_buffer_destroy(&a);
    kallima_buffer_destroy(&b);
    close_counted(device);
    ROWS_FINISH();
}

// What each API says of a text without an entry point.
static const char *nameless(void)
{
    static const char *const said[][2] = { { "opencl", "CL_INVALID_KERNEL_NAME" },
                                           { "cuda", "nameless" },
                                           { "opengl", "glLinkProgram" },
                                           { "vulkan", "nameless: glslang: ERROR" },
                                           { "d3d11", "nameless: D3DCompile" } };
    for (size_t i = 0; i < KAL_COUNT(said); i++) {
        if (strcmp(said[i][0], api()) == 0)
            return said[i][1];
    }
    fail_msg("what does %s say?", api());
    return "";
}

void errors_in_a_text_come_with_the_log(void **state)
{
    kallima_device *device = open_counted();
    struct kal_device_kernel *kernel = NULL;
    struct kal_binary made = { NULL, 0 };
    struct job_text job;

    (void)state;
    job_write(&job, device, JOB_BROKEN);
    ROW_CHECK(device->ops->kernel_create(&kernel, device, &job.text, NULL, &made) ==
              KALLIMA_E_COMPILE);
    ROW_CHECK(kernel == NULL && made.data == NULL && made.bytes == 0);
    ROW_CHECK(strstr(kallima_last_error(), "broken"));
    ROW_CHECK(strstr(kallima_last_error(), "no_such_name"));
    job_write(&job, device, JOB_NAMELESS);
    ROW_CHECK(job_try(device, &job.text, NULL) == KALLIMA_E_COMPILE);
    ROW_CHECK(strstr(kallima_last_error(), nameless()));
    close_counted(device);
    ROWS_FINISH();
}

void kernels_beyond_the_limits_are_refused(void **state)
{
    kallima_device *device = open_counted();
    struct job_text job;

    (void)state;
    job_write(&job, device, JOB_SAXPY);
    const struct kal_kernel_text own = job.text;
    job.text.slots = 1000;
    ROW_CHECK(job_try(device, &job.text, NULL) == KALLIMA_E_UNSUPPORTED);
    ROW_CHECK(strstr(kallima_last_error(), "1000 arrays"));
    job.text = own;
    job.text.cluster = 1000;
    ROW_CHECK(job_try(device, &job.text, NULL) == KALLIMA_E_UNSUPPORTED);
    ROW_CHECK(strstr(kallima_last_error(), "1000 groups of a cluster"));
    job.text = own;
    job.text.group_bytes = device->caps.group_bytes + 4;
    ROW_CHECK(job_try(device, &job.text, NULL) == KALLIMA_E_UNSUPPORTED);
    ROW_CHECK(strstr(kallima_last_error(), "bytes of group memory"));
    close_counted(device);
    ROWS_FINISH();
}

static void check_tripled(kallima_device *device, const struct kal_device_kernel *kernel)
{
    uint32_t x[JOB_NUMBERS], y[JOB_NUMBERS];
    job_ramp(x, JOB_NUMBERS, 1);
    kallima_buffer *a = job_upload(device, x, sizeof x);
    kallima_buffer *b = job_upload(device, x, sizeof x);
    ROW_CHECK(job_run(kernel, job_at(a, 0), job_at(b, 0), JOB_NUMBERS / JOB_LANES) ==
              KALLIMA_OK);
    ROW_CHECK(kallima_buffer_read(b, 0, y, sizeof y) == KALLIMA_OK);
    for (uint32_t i = 0; i < JOB_NUMBERS; i++)
        ROW_CHECK(y[i] == 3 * i);
    kallima_buffer_destroy(&a);
    kallima_buffer_destroy(&b);
}

// Each launch has its own, and memory comes back under an address that was in use before.
void launches_take_the_arrays_they_are_given(void **state)
{
    enum { ROUNDS = 20, GROUPS = JOB_NUMBERS / JOB_LANES };
    kallima_device *device = open_counted();
    struct kal_device_kernel *kernel = job_compile(device, JOB_SAXPY);
    uint32_t x[JOB_NUMBERS], y[JOB_NUMBERS];

    (void)state;
    for (uint32_t round = 1; round <= ROUNDS; round++) {
        job_ramp(x, JOB_NUMBERS, round);
        kallima_buffer *a = job_upload(device, x, sizeof x);
        kallima_buffer *b = job_upload(device, x, sizeof x);
        ROW_CHECK(job_run(kernel, job_at(a, 0), job_at(b, 0), GROUPS) == KALLIMA_OK);
        ROW_CHECK(job_run(kernel, job_at(b, 0), job_at(a, 0), GROUPS) == KALLIMA_OK);
        ROW_CHECK(job_run(kernel, job_at(a, 0), job_at(b, 0), GROUPS) == KALLIMA_OK);
        ROW_CHECK(kallima_buffer_read(b, 0, y, sizeof y) == KALLIMA_OK);
        for (uint32_t i = 0; i < JOB_NUMBERS; i++)
            ROW_CHECK(y[i] == 17 * round * i); // a, b: 1, 1; 1, 3; 7, 3; 7, 17
        kallima_buffer_destroy(&a);
        kallima_buffer_destroy(&b);
    }
    device->ops->kernel_destroy(kernel);
    close_counted(device);
    ROWS_FINISH();
}

void binaries_make_the_same_kernel(void **state)
{
    kallima_device *device = open_counted();
    struct kal_device_kernel *kernel = NULL;
    struct kal_binary made = { NULL, 0 };
    struct job_text job;

    (void)state;
    job_write(&job, device, JOB_SAXPY);
    ROW_CHECK(device->ops->kernel_create(&kernel, device, &job.text, NULL, &made) ==
              KALLIMA_OK);
    device->ops->kernel_destroy(kernel);
    kernel = NULL;
    ROW_CHECK(made.data ||
              strcmp(api(), "opengl") == 0); // whose drivers need not give any
    if (made.data) {
        ROW_CHECK(made.bytes > 4);
        ROW_CHECK(device->ops->kernel_create(&kernel, device, &job.text, &made, NULL) ==
                  KALLIMA_OK);
        check_tripled(device, kernel);
        device->ops->kernel_destroy(kernel);
        memset(made.data, 0x5a, made.bytes < 64 ? (size_t)made.bytes : 64);
        ROW_CHECK(job_try(device, &job.text, &made) == KALLIMA_E_COMPILE);
        ROW_CHECK(strstr(kallima_last_error(), "saxpy"));
    }
    kal_free(&device->host, made.data);
    close_counted(device);
    ROWS_FINISH();
}

void keys_name_the_driver(void **state)
{
    char key[512] = "before|", cut[16] = "", start[64];
    kallima_device *device = open_counted();

    (void)state;
    device->ops->kernel_key(device, key, sizeof key);
    snprintf(start, sizeof start, "before|%s|", api());
    ROW_CHECK(strncmp(key, start, strlen(start)) == 0 ||
              device->caps.language == KAL_LANGUAGE_CUDA); // the name of the GPU
    ROW_CHECK(strlen(key) > 30);
    device->ops->kernel_key(device, cut, sizeof cut);
    ROW_CHECK(strlen(cut) == sizeof cut - 1);
    close_counted(device);
    ROWS_FINISH();
}

// Only GLSL, of OpenGL ES too, and HLSL let fma() be a product and a sum.
void rounding_is_found(void **state)
{
    kallima_device *device = open_counted();
    const enum kal_language language = device->caps.language;
    const bool may_round_twice = kal_caps_takes_glsl(&device->caps) ||
                                 language == KAL_LANGUAGE_ESSL ||
                                 language == KAL_LANGUAGE_HLSL;
    int32_t found = 0;

    (void)state;
    for (int i = 0; i < (suite.has_f64 ? 2 : 1); i++) {
        ROW_CHECK(kallima_device_find_rounding(device, i, &found) == KALLIMA_OK);
        ROW_CHECK(found == 1 || (found == 2 && may_round_twice));
    }
    ROW_CHECK(suite.has_f64 || kallima_device_find_rounding(
                                   device, KALLIMA_F64, &found) == KALLIMA_E_UNSUPPORTED);
    ROW_CHECK(kallima_device_find_rounding(device, 2, &found) == KALLIMA_E_ARGUMENT);
    ROW_CHECK(kallima_device_find_rounding(device, 0, NULL) == KALLIMA_E_ARGUMENT);
    ROW_CHECK(kallima_device_find_rounding(NULL, 0, &found) == KALLIMA_E_ARGUMENT);
    close_counted(device);
    ROWS_FINISH();
}

void large_buffers_are_refused_with_the_number(void **state)
{
    kallima_device *device = open_counted();
    kallima_buffer *buffer = NULL;

    (void)state;
    ROW_CHECK(kallima_buffer_create(&buffer, device, (uint64_t)1 << 60) ==
              KALLIMA_E_MEMORY);
    ROW_CHECK(buffer == NULL && strstr(kallima_last_error(), "1152921504606846976"));
    close_counted(device);
    ROWS_FINISH();
}

// Arrays, and scratch, that are longer than what a kernel reaches.
static void check_reach(const kallima_limits *limits)
{
    kallima_device_options o = job_options(&counting);
    const kallima_plan_options without = { .without_workspace = 1 };
    kallima_device *device = NULL;
    kallima_plan *plan = NULL;
    char number[32];

    o.limits = *limits;
    ROW_CHECK(kallima_device_open(&device, suite.selector, &o) == KALLIMA_OK);
    const uint64_t most = device->caps.buffer_bytes;
    const kallima_desc desc = { .rank = 1,
                                .n = { 1024 },
                                .batch = (int64_t)most / 8192 + 1 };
    ROW_CHECK(kallima_plan_create(&plan, device, &desc, &without) ==
              KALLIMA_E_UNSUPPORTED);
    snprintf(number, sizeof number, "%llu", (unsigned long long)most);
    ROW_CHECK(plan == NULL && strstr(kallima_last_error(), number));
    close_counted(device);
}

void plans_out_of_reach_are_refused_with_the_limit(void **state)
{
    const kallima_limits none = { 0 }, lowered = { .buffer_bytes = 1 << 20 };
    (void)state;
    check_reach(&lowered);
    if (suite.device->caps.buffer_bytes)
        check_reach(&none);
    ROWS_FINISH();
}

enum { LIMITS = 4 };

static const char *const limit_names[LIMITS] = { "KALLIMA_GROUP_BYTES",
                                                 "KALLIMA_GROUP_LANES",
                                                 "KALLIMA_BUFFER_BYTES",
                                                 "KALLIMA_ROW_GROUPS" };

static void set_limits(char *const values[LIMITS])
{
    for (int i = 0; i < LIMITS; i++) {
        if (values[i])
            setenv(limit_names[i], values[i], 1);
        else
            unsetenv(limit_names[i]);
    }
}

// Copies of what is set, which the caller frees.
static void keep_limits(char *kept[LIMITS])
{
    for (int i = 0; i < LIMITS; i++) {
        const char *value = getenv(limit_names[i]);
        kept[i] = value ? strdup(value) : NULL;
    }
}

void the_environment_makes_groups_smaller(void **state)
{
    char *kept[LIMITS], *const none[LIMITS] = { NULL };
    char *const small[LIMITS] = { "4096", "16", "65536", "100" };
    char *const senseless[LIMITS] = { "1000000000", "many", "", "-" };
    struct job_text job;

    (void)state;
    keep_limits(kept);
    set_limits(none);
    kallima_device *device = open_counted();
    const struct kal_caps own = device->caps;
    job_write(&job, device, JOB_SAXPY);
    close_counted(device);

    set_limits(small);
    device = open_counted();
    ROW_CHECK(device->caps.group_bytes == 4096 && device->caps.group_lanes == 16);
    ROW_CHECK(device->caps.buffer_bytes == 65536);
    ROW_CHECK(device->caps.row_groups == (own.row_groups ? 100 : 0));
    ROW_CHECK(job_try(device, &job.text, NULL) == KALLIMA_E_UNSUPPORTED);
    ROW_CHECK(strstr(kallima_last_error(), "20 lanes of a group; here it can have 16"));
    close_counted(device);

    set_limits(senseless);
    device = open_counted();
    ROW_CHECK(device->caps.group_bytes == own.group_bytes &&
              device->caps.group_lanes == own.group_lanes);
    ROW_CHECK(device->caps.buffer_bytes == own.buffer_bytes &&
              device->caps.row_groups == own.row_groups);
    close_counted(device);
    set_limits(kept);
    for (int i = 0; i < LIMITS; i++)
        free(kept[i]);
    ROWS_FINISH();
}

void calls_of_threads_are_not_mixed(void **state)
{
    kallima_device *device = open_counted();
    (void)state;
    job_check_callers(device);
    close_counted(device);
    ROWS_FINISH();
}

void exhausted_memory_leaves_nothing(void **state)
{
    (void)state;
    job_check_exhaustion(suite.selector, kallima_device_open);
    ROWS_FINISH();
}

int find_present(const char *name)
{
    kallima_device_info infos[80];
    kallima_device *device = NULL;
    int32_t count = 0, bad = 0;
    char selector[32];

    snprintf(selector, sizeof selector, "%s:0", name);
    bad += kallima_device_list(infos, 80, &count) != KALLIMA_OK;
    for (int i = 0; i < count && i < 80; i++)
        bad += strncmp(infos[i].selector, name, strlen(name)) == 0;
    bad += kallima_device_open(&device, name, NULL) != KALLIMA_E_ABSENT;
    bad += kallima_device_open(&device, selector, NULL) != KALLIMA_E_ABSENT;
    bad += device != NULL;
    return bad;
}
