// SPDX-License-Identifier: MIT
// Usage: test_opengl [es]
// What is special to OpenGL, on the first device present, which must be one of OpenGL ES if that
// is said. Its operations: device/operations.c.
#include <kallima/interop/opengl.h>
#include <kallima/kallima.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../jobs.h"
#include "../rows.h"
#include "device/opengl/driver.h"

static struct counting counting;

static void look(const kallima_device *device, const kallima_device_info *info)
{
    const struct kal_caps *caps = &device->caps;
    const bool is_es = kal_gl_is_es(info);
    ROW_CHECK(is_es ? caps->language == KAL_LANGUAGE_ESSL : kal_caps_takes_glsl(caps));
    ROW_CHECK(caps->group_lanes >= (is_es ? 128 : 1024));
    ROW_CHECK(caps->group_bytes >= (is_es ? 16384 : 32768));
    ROW_CHECK(caps->buffer_bytes >= (is_es ? 1u << 27 : 1u << 24));
    ROW_CHECK(caps->kernel_slots >= (is_es ? 4 : 8) && !(is_es && info->has_f64));
    ROW_CHECK(!strstr(info->name, "llvmpipe") == !info->is_software);
}

static void limits_are_what_the_version_promises(void **state)
{
    (void)state;
    job_each_device("opengl", look);
    ROWS_FINISH();
}

static void kernels_do_not_tell_what_they_take(void **state)
{
    (void)state;
    job_check_no_facts("opengl");
    ROWS_FINISH();
}

static uint64_t most_bytes(const kallima_device *device)
{
    return device->caps.buffer_bytes;
}

static void large_buffers_are_refused_with_both_numbers(void **state)
{
    (void)state;
    job_check_largest("opengl", most_bytes);
    ROWS_FINISH();
}

// A program that draws has a context of its own, on the same thread.
static void the_callers_context_stays_current(void **state)
{
    const struct gl_api *gl = kal_gl_api();
    kallima_device *device = job_open("opengl", &counting);
    const struct gl_display display = ((struct gl_device *)device)->display;
    void *own = kal_gl_context_create(gl, &display);
    struct gl_caller before;
    uint32_t x[JOB_NUMBERS];

    (void)state;
    ROW_CHECK(gl->egl.GetCurrentContext() == NULL);
    ROW_CHECK(own && kal_gl_enter(gl, &display, own, &before));
    job_ramp(x, JOB_NUMBERS, 1);
    kallima_buffer *a = job_upload(device, x, sizeof x);
    ROW_CHECK(gl->egl.GetCurrentContext() == own);
    const struct kal_work zeros = { .slot = { job_at(a, 0) }, .fill_bytes = sizeof x };
    ROW_CHECK(device->ops->enqueue(device, &zeros, 1, NULL) == KALLIMA_OK);
    ROW_CHECK(gl->egl.GetCurrentContext() == own);
    ROW_CHECK(kallima_device_finish(device) == KALLIMA_OK);
    ROW_CHECK(gl->egl.GetCurrentContext() == own);
    kallima_buffer_destroy(&a);
    ROW_CHECK(gl->egl.GetCurrentContext() == own);
    kallima_device_close(&device);
    ROW_CHECK(gl->egl.GetCurrentContext() == own);
    kal_gl_leave(gl, &display, &before);
    ROW_CHECK(gl->egl.GetCurrentContext() == NULL);
    gl->egl.DestroyContext(display.handle, own);
    ROWS_FINISH();
}

// A context of the caller's, current on this thread.
struct own {
    const struct gl_api *gl;
    struct gl_display display;
    void *context;
    struct gl_caller before;
};

static void own_start(struct own *own)
{
    kallima_device_info info;
    own->gl = kal_gl_api();
    assert_true(kal_gl_find(0, &info, &own->display));
    own->context = kal_gl_context_create(own->gl, &own->display);
    assert_true(own->context != NULL &&
                kal_gl_enter(own->gl, &own->display, own->context, &own->before));
}

static void own_stop(struct own *own)
{
    ROW_CHECK(own->gl->egl.GetCurrentContext() == own->context);
    kal_gl_leave(own->gl, &own->display, &own->before);
    own->gl->egl.DestroyContext(own->display.handle, own->context);
}

static kallima_device *adopt(void)
{
    const kallima_device_options o = job_options(&counting);
    kallima_device *device = NULL;
    if (kallima_opengl_adopt(&device, &o) != KALLIMA_OK)
        fail_msg("%s", kallima_last_error());
    return device;
}

static unsigned make_object(const struct gl_api *gl, const void *data, size_t bytes)
{
    unsigned name = 0;
    gl->GenBuffers(1, &name);
    gl->BindBuffer(GL_COPY_WRITE_BUFFER, name);
    gl->BufferData(GL_COPY_WRITE_BUFFER, (ptrdiff_t)bytes, data, GL_DYNAMIC_COPY);
    return name;
}

static kallima_buffer *wrap(kallima_device *device, unsigned name, uint64_t offset,
                            uint64_t bytes)
{
    kallima_buffer *buffer = NULL;
    if (kallima_opengl_wrap(&buffer, device, name, offset, bytes) != KALLIMA_OK)
        fail_msg("%s", kallima_last_error());
    return buffer;
}

// An impulse in one part of the caller's object becomes ones in another; the rest stays.
static void wrapped_buffers_are_transformed(void **state)
{
    enum {
        N = 240,
        BEFORE = 36,
        BETWEEN = 12,
        WHOLE_OBJECT = BEFORE + 2 * N + BETWEEN + 7
    };
    enum { OUT = BEFORE + N + BETWEEN };
    static float data[WHOLE_OBJECT][2], got[WHOLE_OBJECT][2];
    const kallima_desc desc = { .rank = 1, .n = { N } };
    struct own own;
    kallima_plan *plan = NULL;

    (void)state;
    own_start(&own);
    kallima_device *device = adopt();
    for (int i = 0; i < WHOLE_OBJECT; i++)
        data[i][0] = data[i][1] = -5.0f;
    memset(data[BEFORE], 0, N * sizeof data[0]);
    data[BEFORE][0] = 1.0f;
    const unsigned name = make_object(own.gl, data, sizeof data);
    kallima_device_arrays arrays = { .workspace = NULL };
    arrays.in[0] = wrap(device, name, BEFORE * 8, N * 8);
    arrays.out[0] = wrap(device, name, OUT * 8, N * 8);
    ROW_CHECK(kallima_plan_create(&plan, device, &desc, NULL) == KALLIMA_OK);
    ROW_CHECK(kallima_plan_execute(plan, &arrays) == KALLIMA_OK);
    own.gl->BindBuffer(GL_COPY_READ_BUFFER, name);
    const void *mapped =
        own.gl->MapBufferRange(GL_COPY_READ_BUFFER, 0, sizeof got, GL_MAP_READ_BIT);
    assert_non_null(mapped);
    memcpy(got, mapped, sizeof got);
    ROW_CHECK(own.gl->UnmapBuffer(GL_COPY_READ_BUFFER));
    for (int i = 0; i < WHOLE_OBJECT; i++) {
        const bool is_out = i >= OUT && i < OUT + N;
        ROW_CHECK(got[i][0] == (is_out ? 1.0f : data[i][0]));
        ROW_CHECK(got[i][1] == (is_out ? 0.0f : data[i][1]));
    }
    kallima_plan_destroy(&plan);
    kallima_buffer_destroy(&arrays.in[0]);
    kallima_buffer_destroy(&arrays.out[0]);
    kallima_device_close(&device);
    ROW_CHECK(own.gl->IsBuffer(name) && counting.live == 0);
    own.gl->DeleteBuffers(1, &name);
    own_stop(&own);
    ROWS_FINISH();
}

// Ranges within a buffer are from the start of what is wrapped.
static void wrapped_buffers_are_read_and_written(void **state)
{
    uint32_t x[JOB_NUMBERS], y[JOB_NUMBERS];
    struct own own;

    (void)state;
    own_start(&own);
    kallima_device *device = adopt();
    job_ramp(x, JOB_NUMBERS, 1);
    const unsigned name = make_object(own.gl, x, sizeof x);
    kallima_buffer *a = wrap(device, name, 400, 2000), *b = NULL;
    ROW_CHECK(kallima_buffer_create(&b, device, 2000) == KALLIMA_OK);
    ROW_CHECK(kallima_buffer_write(a, 40, x, 80) == KALLIMA_OK);
    ROW_CHECK(kallima_buffer_copy(b, 0, a, 0, 2000) == KALLIMA_OK);
    ROW_CHECK(kallima_buffer_read(b, 0, y, 2000) == KALLIMA_OK);
    for (int i = 0; i < 500; i++)
        ROW_CHECK(y[i] == (uint32_t)(i >= 10 && i < 30 ? i - 10 : i + 100));
    const struct kal_work zeros = { .slot = { job_at(a, 1600) }, .fill_bytes = 400 };
    ROW_CHECK(device->ops->enqueue(device, &zeros, 1, NULL) == KALLIMA_OK);
    ROW_CHECK(kallima_buffer_read(a, 1200, y, 800) == KALLIMA_OK);
    for (int i = 0; i < 200; i++)
        ROW_CHECK(y[i] == (i < 100 ? (uint32_t)i + 400 : 0));
    kallima_buffer_destroy(&a);
    kallima_buffer_destroy(&b);
    kallima_device_close(&device);
    own.gl->DeleteBuffers(1, &name);
    own_stop(&own);
    ROW_CHECK(counting.live == 0);
    ROWS_FINISH();
}

static void wrong_objects_are_refused(void **state)
{
    static const struct {
        uint64_t offset, bytes;
        const char *said;
    } rows[] = {
        { 8, 64, "offset_bytes = 8" },    { 0, 0, "0 bytes from 0" },
        { 0, 4001, "4001 bytes from 0" }, { 4016, 1, "has 4000" },
        { 16, UINT64_MAX, "from 16" },
    };
    struct own own;
    uint32_t x[JOB_NUMBERS] = { 0 };
    kallima_buffer *buffer = NULL;
    kallima_device *separate = job_open("opengl", &counting), *device;

    (void)state;
    ROW_CHECK(kallima_opengl_adopt(NULL, NULL) == KALLIMA_E_ARGUMENT);
    ROW_CHECK(kallima_opengl_adopt(&device, NULL) == KALLIMA_E_ARGUMENT);
    ROW_CHECK(device == NULL && strstr(kallima_last_error(), "no context of EGL"));
    own_start(&own);
    device = adopt();
    const unsigned name = make_object(own.gl, x, sizeof x);
    for (size_t i = 0; i < KAL_COUNT(rows); i++) {
        ROW_CHECK(kallima_opengl_wrap(&buffer, device, name, rows[i].offset,
                                      rows[i].bytes) == KALLIMA_E_ARGUMENT);
        ROW_CHECK(buffer == NULL && strstr(kallima_last_error(), rows[i].said));
    }
    ROW_CHECK(kallima_opengl_wrap(&buffer, device, 0, 0, 64) == KALLIMA_E_ARGUMENT);
    ROW_CHECK(kallima_opengl_wrap(&buffer, device, 4711, 0, 64) == KALLIMA_E_ARGUMENT);
    ROW_CHECK(strstr(kallima_last_error(), "4711 is no buffer"));
    // Reach is counted from a multiple of what the device demands.
    ((struct gl_device *)device)->bound_offset = 256;
    device->caps.buffer_bytes = 1024;
    ROW_CHECK(kallima_opengl_wrap(&buffer, device, name, 16, 1024) ==
              KALLIMA_E_UNSUPPORTED);
    ROW_CHECK(buffer == NULL &&
              strstr(kallima_last_error(), "reach 1024 from a multiple"));
    ROW_CHECK(kallima_opengl_wrap(&buffer, separate, name, 0, 64) == KALLIMA_E_ARGUMENT);
    ROW_CHECK(strstr(kallima_last_error(), "context of its own"));
    ROW_CHECK(kallima_opengl_wrap(NULL, device, name, 0, 64) == KALLIMA_E_ARGUMENT);
    ROW_CHECK(kallima_opengl_wrap(&buffer, NULL, name, 0, 64) == KALLIMA_E_ARGUMENT);
    kallima_device_close(&separate);
    ROW_CHECK(kallima_device_open(&separate, "cpu", NULL) == KALLIMA_OK);
    ROW_CHECK(kallima_opengl_wrap(&buffer, separate, name, 0, 64) == KALLIMA_E_ARGUMENT);
    ROW_CHECK(strstr(kallima_last_error(), "\"cpu\""));
    kallima_device_close(&separate);
    kallima_device_close(&device);
    own.gl->DeleteBuffers(1, &name);
    own_stop(&own);
    ROW_CHECK(counting.live == 0);
    ROWS_FINISH();
}

// OpenGL ES promises four.
static void kernels_of_more_arrays_than_there_are_are_refused(void **state)
{
    const kallima_desc planar = {
        .rank = 1, .n = { 101 }, .in.format = KALLIMA_PLANAR, .out.format = KALLIMA_PLANAR
    };
    const kallima_desc interleaved = { .rank = 1, .n = { 101 } };
    const kallima_plan_options by_rader = { .recipe = "rader(local(10.10))" };
    kallima_device *device = job_open("opengl", &counting);
    kallima_plan *plan = NULL;

    (void)state;
    device->caps.kernel_slots = 4;
    ROW_CHECK(kallima_plan_create(&plan, device, &planar, &by_rader) ==
              KALLIMA_E_UNSUPPORTED);
    ROW_CHECK(plan == NULL &&
              strstr(kallima_last_error(), "6 arrays; here it can have 4"));
    ROW_CHECK(kallima_plan_create(&plan, device, &interleaved, &by_rader) == KALLIMA_OK);
    kallima_plan_destroy(&plan);
    kallima_device_close(&device);
    ROW_CHECK(counting.live == 0);
    ROWS_FINISH();
}

// Of OpenGL ES 1.1, with which a call may not even ask for the version by number.
static void contexts_of_old_versions_are_refused(void **state)
{
    static const int32_t version[] = { EGL_CONTEXT_MAJOR_VERSION, 1, EGL_NONE };
    const struct gl_api *gl = kal_gl_api();
    struct gl_display display;
    struct gl_caller before;
    kallima_device_info info;
    kallima_device *device;

    (void)state;
    assert_true(kal_gl_find(0, &info, &display));
    display.is_es = true;
    gl->egl.BindAPI(EGL_OPENGL_ES_API);
    void *old = gl->egl.CreateContext(display.handle, NULL, NULL, version);
    if (!old)
        skip(); // the driver has none
    assert_true(kal_gl_enter(gl, &display, old, &before));
    ROW_CHECK(kallima_opengl_adopt(&device, NULL) == KALLIMA_E_UNSUPPORTED);
    ROW_CHECK(device == NULL && strstr(kallima_last_error(), "OpenGL ES-CM 1.1"));
    ROW_CHECK(strstr(kallima_last_error(), "OpenGL ES 3.1"));
    ROW_CHECK(gl->GetError() == 0);
    kal_gl_leave(gl, &display, &before);
    gl->egl.DestroyContext(display.handle, old);
    ROWS_FINISH();
}

static void timers_are_refused_without_a_clock(void **state)
{
    kallima_device *device = job_open("opengl", &counting);
    kallima_timer *timer = NULL;

    (void)state;
    ROW_CHECK(kallima_timer_create(&timer, device) == KALLIMA_OK);
    kallima_timer_destroy(&timer);
    ((struct gl_device *)device)->has_clock = false;
    ROW_CHECK(kallima_timer_create(&timer, device) == KALLIMA_E_UNSUPPORTED);
    ROW_CHECK(timer == NULL && strstr(kallima_last_error(), "keeps no times"));
    kallima_device_close(&device);
    ROW_CHECK(counting.live == 0);
    ROWS_FINISH();
}

static void say_disjoint(unsigned what, int *value)
{
    kal_gl_api()->GetIntegerv(what, value);
    if (what == GL_GPU_DISJOINT_EXT)
        *value = 1;
}

// OpenGL ES alone tells of it.
static void times_of_a_disturbed_clock_are_refused(void **state)
{
    struct gl_api disturbed = *kal_gl_api();
    kallima_device *base = job_open("opengl", &counting);
    struct gl_device *device = (struct gl_device *)base;
    const bool is_es = device->display.is_es;
    kallima_timer *timer = NULL;
    double seconds = -1.0;

    (void)state;
    ROW_CHECK(kallima_timer_create(&timer, base) == KALLIMA_OK);
    ROW_CHECK(kallima_timer_start(timer) == KALLIMA_OK);
    ROW_CHECK(kallima_timer_stop(timer) == KALLIMA_OK);
    ROW_CHECK(kallima_device_finish(base) ==
              KALLIMA_OK); // both marks have their functions
    disturbed.GetIntegerv = say_disjoint;
    device->gl = &disturbed;
    ROW_CHECK(kallima_timer_read(timer, &seconds) ==
              (is_es ? KALLIMA_E_DEVICE : KALLIMA_OK));
    ROW_CHECK(!is_es || (seconds == -1.0 && strstr(kallima_last_error(), "disturbed")));
    device->gl = kal_gl_api();
    ROW_CHECK(kallima_timer_read(timer, &seconds) == KALLIMA_OK && seconds >= 0.0);
    kallima_timer_destroy(&timer);
    kallima_device_close(&base);
    ROW_CHECK(counting.live == 0);
    ROWS_FINISH();
}

static unsigned say_lost(void)
{
    return GL_CONTEXT_LOST;
}

// For ever, whatever is asked.
static void a_lost_context_is_told(void **state)
{
    const kallima_desc desc = { .rank = 1, .n = { 24 } };
    struct gl_api lost = *kal_gl_api();
    kallima_device *device = job_open("opengl", &counting);
    kallima_buffer *buffer = NULL, *none = NULL;
    kallima_timer *timer = NULL, *no_timer = NULL;
    kallima_plan *plan = NULL;
    uint32_t x[4] = { 0 };

    (void)state;
    lost.GetError = say_lost;
    ROW_CHECK(kallima_buffer_create(&buffer, device, sizeof x) == KALLIMA_OK);
    ROW_CHECK(kallima_timer_create(&timer, device) == KALLIMA_OK);
    ((struct gl_device *)device)->gl = &lost;
    ROW_CHECK(kallima_device_finish(device) == KALLIMA_E_DEVICE);
    ROW_CHECK(strstr(kallima_last_error(), "glFinish: GL_CONTEXT_LOST"));
    ROW_CHECK(kallima_buffer_create(&none, device, sizeof x) == KALLIMA_E_DEVICE);
    ROW_CHECK(kallima_buffer_write(buffer, 0, x, sizeof x) == KALLIMA_E_DEVICE);
    ROW_CHECK(kallima_buffer_read(buffer, 0, x, sizeof x) == KALLIMA_E_DEVICE);
    ROW_CHECK(kallima_buffer_copy(buffer, 0, buffer, 8, 8) == KALLIMA_E_DEVICE);
    ROW_CHECK(kallima_timer_create(&no_timer, device) == KALLIMA_E_DEVICE);
    ROW_CHECK(kallima_timer_start(timer) == KALLIMA_OK); // which a later call will tell
    ROW_CHECK(kallima_device_finish(device) == KALLIMA_E_DEVICE);
    ROW_CHECK(strstr(kallima_last_error(), "GL_CONTEXT_LOST (0x0507), in work enqueued"));
    ROW_CHECK(kallima_plan_create(&plan, device, &desc, NULL) == KALLIMA_E_DEVICE);
    ROW_CHECK(!none && !no_timer && !plan);
    kallima_timer_destroy(&timer);
    kallima_buffer_destroy(&buffer);
    kallima_device_close(&device);
    ROW_CHECK(counting.live == 0);
    ROWS_FINISH();
}

// The caller's mistake, which OpenGL finds.
static void objects_that_are_mapped_are_refused(void **state)
{
    uint32_t x[JOB_NUMBERS] = { 0 };
    struct own own;

    (void)state;
    own_start(&own);
    kallima_device *device = adopt();
    const unsigned name = make_object(own.gl, x, sizeof x);
    kallima_buffer *a = wrap(device, name, 0, sizeof x);
    own.gl->BindBuffer(GL_COPY_WRITE_BUFFER, name);
    assert_non_null(
        own.gl->MapBufferRange(GL_COPY_WRITE_BUFFER, 0, sizeof x, GL_MAP_READ_BIT));
    ROW_CHECK(kallima_buffer_read(a, 0, x, sizeof x) == KALLIMA_E_DEVICE);
    ROW_CHECK(strstr(kallima_last_error(), "GL_INVALID_OPERATION"));
    ROW_CHECK(kallima_buffer_write(a, 0, x, sizeof x) == KALLIMA_E_DEVICE);
    ROW_CHECK(own.gl->UnmapBuffer(GL_COPY_WRITE_BUFFER));
    ROW_CHECK(kallima_buffer_read(a, 0, x, sizeof x) == KALLIMA_OK);
    kallima_buffer_destroy(&a);
    kallima_device_close(&device);
    own.gl->DeleteBuffers(1, &name);
    own_stop(&own);
    ROW_CHECK(counting.live == 0);
    ROWS_FINISH();
}

static void remember(void *user, kallima_status status, const char *sentence)
{
    (void)status;
    snprintf(user, 200, "%s", sentence);
}

// What the caller did wrong before is told, and is no failure of ours.
static void the_callers_errors_are_told(void **state)
{
    char told[200] = "";
    const kallima_device_options o = { .log = remember, .log_user = told };
    kallima_device *device = NULL;
    struct own own;

    (void)state;
    own_start(&own);
    ROW_CHECK(kallima_opengl_adopt(&device, &o) == KALLIMA_OK && told[0] == '\0');
    own.gl->UseProgram(4711);
    ROW_CHECK(kallima_device_finish(device) == KALLIMA_OK);
    ROW_CHECK(strstr(told, "before this call") && strstr(told, "GL_INVALID_VALUE"));
    ROW_CHECK(own.gl->GetError() == 0);
    kallima_device_close(&device);
    own_stop(&own);
    ROWS_FINISH();
}

static void contexts_that_are_not_current_are_refused(void **state)
{
    struct own own, other;
    float x[4] = { 0 };

    (void)state;
    own_start(&own);
    kallima_device *device = adopt();
    kallima_buffer *a = job_upload(device, x, sizeof x);
    own_start(&other);
    ROW_CHECK(kallima_device_finish(device) == KALLIMA_E_DEVICE);
    ROW_CHECK(strstr(kallima_last_error(), "not current"));
    ROW_CHECK(kallima_buffer_read(a, 0, x, sizeof x) == KALLIMA_E_DEVICE);
    own_stop(&other);
    ROW_CHECK(kallima_device_finish(device) == KALLIMA_OK);
    kallima_buffer_destroy(&a);
    kallima_device_close(&device);
    own_stop(&own);
    ROW_CHECK(counting.live == 0);
    ROWS_FINISH();
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(limits_are_what_the_version_promises),
        cmocka_unit_test(kernels_do_not_tell_what_they_take),
        cmocka_unit_test(large_buffers_are_refused_with_both_numbers),
        cmocka_unit_test(the_callers_context_stays_current),
        cmocka_unit_test(wrapped_buffers_are_transformed),
        cmocka_unit_test(wrapped_buffers_are_read_and_written),
        cmocka_unit_test(wrong_objects_are_refused),
        cmocka_unit_test(kernels_of_more_arrays_than_there_are_are_refused),
        cmocka_unit_test(contexts_of_old_versions_are_refused),
        cmocka_unit_test(timers_are_refused_without_a_clock),
        cmocka_unit_test(times_of_a_disturbed_clock_are_refused),
        cmocka_unit_test(a_lost_context_is_told),
        cmocka_unit_test(objects_that_are_mapped_are_refused),
        cmocka_unit_test(the_callers_errors_are_told),
        cmocka_unit_test(contexts_that_are_not_current_are_refused),
    };
    kallima_device_info info;
    struct gl_display display;
    if (!kal_gl_find(0, &info, &display)) {
        puts("no OpenGL device is present");
        return getenv("CI") ? EXIT_FAILURE : 77;
    }
    if (argc > 1 && strcmp(argv[1], "es") == 0 && !kal_gl_is_es(&info)) {
        printf("the device is of \"%s\"\n", info.driver);
        return EXIT_FAILURE;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
