// SPDX-License-Identifier: MIT
// The OpenGL device on the first device present. `test_opengl absent` is for a machine, or an
// environment, that has no driver.
#include <kallima/interop/opengl.h>
#include <kallima/kallima.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../counting.h"
#include "../rows.h"
#include "device/opengl/driver.h"

enum { COUNT = 1000, LANES = 50 };

static struct counting counting;

#define HEAD(lanes)                           \
    "#version 430\n"                          \
    "layout(local_size_x = " #lanes ") in;\n" \
    "layout(location = 15) uniform uint first;\n"
#define ARRAY(type, name, slot)                                                   \
    "layout(std430, binding = " #slot ") buffer name" #slot " { " #type " " #name \
    "[]; };\n"                                                                    \
    "layout(location = " #slot ") uniform uint " #name "_bytes;\n"

static const struct kal_kernel_text SAXPY = {
    .name = "saxpy",
    .text = HEAD(50) ARRAY(float, x, 0) ARRAY(
        float, y,
        1) "void main()\n"
           "{\n"
           "    uint i = (first + gl_WorkGroupID.x) * 50 + gl_LocalInvocationIndex;\n"
           "    y[y_bytes / 4 + i] += 2.0 * x[x_bytes / 4 + i];\n"
           "}\n",
    .lanes = LANES,
    .slots = 2,
};

// Writes its number to the end of a list.
static const struct kal_kernel_text APPEND = {
    .name = "append",
    .text = HEAD(1) ARRAY(int, list, 0) ARRAY(
        int, number, 1) "void main()\n"
                        "{\n"
                        "    list[++list[list_bytes / 4]] = number[number_bytes / 4];\n"
                        "}\n",
    .lanes = 1,
    .slots = 2,
};

// Every group counts itself.
static const struct kal_kernel_text TALLY = {
    .name = "tally",
    .text = HEAD(1)
        ARRAY(uint, count,
              0) "void main()\n"
                 "{\n"
                 "    uint group = first + gl_WorkGroupID.y * gl_NumWorkGroups.x +\n"
                 "                 gl_WorkGroupID.x;\n"
                 "    atomicAdd(count[count_bytes / 4 + group], group + 1u);\n"
                 "}\n",
    .lanes = 1,
    .slots = 1,
};

// Both ends of all the memory that a group can have.
static const char WHOLE[] = HEAD(50)
    ARRAY(int, x, 0) "shared int near[%d];\n"
                     "void main()\n"
                     "{\n"
                     "    int i = int(gl_LocalInvocationIndex);\n"
                     "    near[i] = i;\n"
                     "    near[%d + i] = 2 * i;\n"
                     "    memoryBarrierShared();\n"
                     "    barrier();\n"
                     "    x[x_bytes / 4 + (first + gl_WorkGroupID.x) * 50 + i] =\n"
                     "        near[%d - i] + near[%d - i];\n"
                     "}\n";

static kallima_device_options options(void)
{
    return (kallima_device_options){ .allocator = counting_allocator(&counting) };
}

static kallima_device *open_first(void)
{
    const kallima_device_options o = options();
    kallima_device *device = NULL;
    if (kallima_device_open(&device, "opengl", &o) != KALLIMA_OK)
        fail_msg("%s", kallima_last_error());
    return device;
}

static struct kal_device_kernel *compile(kallima_device *device,
                                         const struct kal_kernel_text *text)
{
    struct kal_device_kernel *kernel = NULL;
    if (device->ops->kernel_create(&kernel, device, text, NULL, NULL) != KALLIMA_OK)
        fail_msg("%s", kallima_last_error());
    return kernel;
}

static kallima_buffer *upload(kallima_device *device, const void *data, uint64_t bytes)
{
    kallima_buffer *buffer = NULL;
    if (kallima_buffer_create(&buffer, device, bytes) != KALLIMA_OK ||
        kallima_buffer_write(buffer, 0, data, bytes) != KALLIMA_OK)
        fail_msg("%s", kallima_last_error());
    return buffer;
}

static struct kal_memory at(const kallima_buffer *buffer, uint64_t bytes)
{
    return (struct kal_memory){ buffer->memory.object, buffer->memory.offset + bytes };
}

static kallima_status run(const struct kal_device_kernel *kernel, struct kal_memory first,
                          struct kal_memory second, uint64_t groups,
                          const struct kal_sync *sync)
{
    const struct kal_work work = { .kernel = kernel,
                                   .groups = groups,
                                   .slot = { first, second } };
    return kernel->device->ops->enqueue(kernel->device, &work, 1, sync);
}

static void ramp(float *x, int count, float slope)
{
    for (int i = 0; i < count; i++)
        x[i] = slope * (float)i;
}

static void devices_are_listed_and_described(void **state)
{
    kallima_device_info infos[80], info;
    int32_t count = 0, found = 0;

    (void)state;
    ROW_CHECK(kallima_device_list(infos, 80, &count) == KALLIMA_OK);
    for (int i = 0; i < count && i < 80; i++) {
        char selector[32];
        if (strncmp(infos[i].selector, "opengl", 6) != 0)
            continue;
        snprintf(selector, sizeof selector, "opengl:%d", found++);
        ROW_CHECK(strcmp(infos[i].selector, selector) == 0);
        ROW_CHECK(infos[i].name[0] && infos[i].driver[0]);
        kallima_device *device = NULL;
        ROW_CHECK(kallima_device_open(&device, selector, NULL) == KALLIMA_OK);
        ROW_CHECK(kallima_device_get_info(device, &info) == KALLIMA_OK);
        ROW_CHECK(memcmp(&info, &infos[i], sizeof info) == 0);
        const struct kal_caps *caps = &device->caps;
        ROW_CHECK(caps->language == KAL_LANGUAGE_GLSL && caps->processors > 0);
        ROW_CHECK(caps->group_lanes >= 64 && caps->group_bytes >= 16384);
        ROW_CHECK(caps->has_f64 == info.has_f64 && caps->buffer_bytes >= 1u << 24);
        ROW_CHECK(!strstr(info.name, "llvmpipe") == !info.is_software);
        kallima_device_close(&device);
    }
    ROW_CHECK(found > 0);
    ROWS_FINISH();
}

static void numbers_beyond_the_list_are_absent(void **state)
{
    kallima_device *device = NULL;
    (void)state;
    ROW_CHECK(kallima_device_open(&device, "opengl:999", NULL) == KALLIMA_E_ABSENT);
    ROW_CHECK(device == NULL);
    ROWS_FINISH();
}

static void kernels_see_slots_and_offsets(void **state)
{
    float x[COUNT], y[COUNT];
    kallima_device *device = open_first();
    struct kal_device_kernel *kernel = compile(device, &SAXPY);

    (void)state;
    ramp(x, COUNT, 1.0f);
    ramp(y, COUNT, 1000.0f);
    kallima_buffer *a = upload(device, x, sizeof x), *b = upload(device, y, sizeof y);
    // y[202 + i] += 2 x[301 + i], for 500: no offset is one that OpenGL can bind
    ROW_CHECK(run(kernel, at(a, 1204), at(b, 808), 500 / LANES, NULL) == KALLIMA_OK);
    ROW_CHECK(kallima_buffer_read(b, 0, y, sizeof y) == KALLIMA_OK);
    for (int i = 0; i < COUNT; i++) {
        const float added = i >= 202 && i < 702 ? 2.0f * (float)(i + 99) : 0.0f;
        ROW_CHECK(y[i] == 1000.0f * (float)i + added);
    }
    struct kal_kernel_facts facts;
    device->ops->kernel_describe(kernel, &facts);
    ROW_CHECK(facts.group_bytes == -1 && facts.registers == -1);
    device->ops->kernel_destroy(kernel);
    kallima_buffer_destroy(&a);
    kallima_buffer_destroy(&b);
    kallima_device_close(&device);
    ROW_CHECK(counting.live == 0 && counting.damaged == 0);
    ROWS_FINISH();
}

static void groups_have_the_memory_that_is_told(void **state)
{
    enum { GROUPS = 300 };
    static int x[GROUPS * LANES];
    char text[1024];
    kallima_device *device = open_first();
    const int words = (int)(device->caps.group_bytes / 4);
    const struct kal_kernel_text whole = {
        .name = "whole", .text = text, .lanes = LANES, .slots = 1
    };

    (void)state;
    snprintf(text, sizeof text, WHOLE, words, words - LANES, LANES - 1, words - 1);
    struct kal_device_kernel *kernel = compile(device, &whole);
    kallima_buffer *a = upload(device, x, sizeof x);
    ROW_CHECK(run(kernel, at(a, 0), at(a, 0), GROUPS, NULL) == KALLIMA_OK);
    ROW_CHECK(kallima_buffer_read(a, 0, x, sizeof x) == KALLIMA_OK);
    for (int i = 0; i < GROUPS * LANES; i++)
        ROW_CHECK(x[i] == 3 * (LANES - 1 - i % LANES));
    device->ops->kernel_destroy(kernel);
    kallima_buffer_destroy(&a);
    kallima_device_close(&device);
    ROWS_FINISH();
}

static void zeros_and_copies_reach_their_range(void **state)
{
    float x[COUNT], y[COUNT];
    kallima_device *device = open_first();

    (void)state;
    ramp(x, COUNT, 1.0f);
    memset(y, 0, sizeof y);
    kallima_buffer *a = upload(device, x, sizeof x), *b = upload(device, y, sizeof y);
    const struct kal_work zeros = { .slot = { at(a, 40) }, .fill_bytes = 80 };
    ROW_CHECK(device->ops->enqueue(device, &zeros, 1, NULL) == KALLIMA_OK);
    ROW_CHECK(kallima_buffer_copy(b, 400, a, 0, 2000) == KALLIMA_OK);
    ROW_CHECK(kallima_buffer_read(b, 0, y, sizeof y) == KALLIMA_OK);
    for (int i = 0; i < COUNT; i++) {
        const int from = i - 100;
        const bool is_zero = from < 0 || from >= 500 || (from >= 10 && from < 30);
        ROW_CHECK(y[i] == (is_zero ? 0.0f : (float)from));
    }
    kallima_buffer_destroy(&a);
    kallima_buffer_destroy(&b);
    kallima_device_close(&device);
    ROWS_FINISH();
}

static void timers_measure_the_device(void **state)
{
    static float x[1 << 20];
    kallima_device *device = open_first();
    struct kal_device_kernel *kernel = compile(device, &SAXPY);
    kallima_buffer *a = upload(device, x, sizeof x);
    kallima_timer *timer = NULL;
    double seconds = -1.0;

    (void)state;
    ROW_CHECK(kallima_timer_create(&timer, device) == KALLIMA_OK);
    ROW_CHECK(kallima_timer_read(timer, &seconds) == KALLIMA_E_DEVICE);
    for (int times = 0; times < 2; times++) {
        ROW_CHECK(kallima_timer_start(timer) == KALLIMA_OK);
        ROW_CHECK(kallima_timer_read(timer, &seconds) == KALLIMA_E_DEVICE);
        ROW_CHECK(run(kernel, at(a, 0), at(a, 0), COUNT, NULL) == KALLIMA_OK);
        ROW_CHECK(kallima_timer_stop(timer) == KALLIMA_OK);
        ROW_CHECK(kallima_timer_read(timer, &seconds) == KALLIMA_OK);
        ROW_CHECK(seconds > 0.0 && seconds < 60.0);
    }
    kallima_timer_destroy(&timer);
    device->ops->kernel_destroy(kernel);
    kallima_buffer_destroy(&a);
    kallima_device_close(&device);
    ROW_CHECK(counting.live == 0);
    ROWS_FINISH();
}

static void errors_in_a_text_come_with_the_log(void **state)
{
    const struct kal_kernel_text broken = {
        .name = "broken",
        .text = HEAD(1) ARRAY(int, x, 0) "void main() { x[0] = no_such_name; }\n",
        .lanes = 1,
        .slots = 1,
    };
    struct kal_kernel_text mainless = SAXPY, clustered = SAXPY, crowded = SAXPY;
    kallima_device *device = open_first();
    struct kal_device_kernel *kernel = NULL;
    struct kal_binary made = { NULL, 0 };

    (void)state;
    ROW_CHECK(device->ops->kernel_create(&kernel, device, &broken, NULL, &made) ==
              KALLIMA_E_COMPILE);
    ROW_CHECK(kernel == NULL && made.data == NULL && made.bytes == 0);
    ROW_CHECK(strstr(kallima_last_error(), "broken"));
    ROW_CHECK(strstr(kallima_last_error(), "no_such_name"));
    mainless.text = HEAD(1) "void other() {}\n";
    ROW_CHECK(device->ops->kernel_create(&kernel, device, &mainless, NULL, NULL) ==
              KALLIMA_E_COMPILE);
    ROW_CHECK(kernel == NULL && strstr(kallima_last_error(), "glLinkProgram"));
    crowded.slots = 1000;
    ROW_CHECK(device->ops->kernel_create(&kernel, device, &crowded, NULL, NULL) ==
              KALLIMA_E_COMPILE);
    ROW_CHECK(strstr(kallima_last_error(), "1000 arrays"));
    clustered.cluster = 2;
    ROW_CHECK(device->ops->kernel_create(&kernel, device, &clustered, NULL, NULL) ==
              KALLIMA_E_UNSUPPORTED);
    kallima_device_close(&device);
    ROW_CHECK(counting.live == 0);
    ROWS_FINISH();
}

static void binaries_make_the_same_kernel(void **state)
{
    float x[COUNT], y[COUNT];
    kallima_device *device = open_first();
    struct kal_device_kernel *kernel = NULL;
    struct kal_binary made = { NULL, 0 };

    (void)state;
    ROW_CHECK(device->ops->kernel_create(&kernel, device, &SAXPY, NULL, &made) ==
              KALLIMA_OK);
    if (!made.data) { // a driver need not give any
        device->ops->kernel_destroy(kernel);
        kallima_device_close(&device);
        skip();
    }
    ROW_CHECK(made.bytes > 4);
    device->ops->kernel_destroy(kernel);
    kernel = NULL;
    ROW_CHECK(device->ops->kernel_create(&kernel, device, &SAXPY, &made, NULL) ==
              KALLIMA_OK);
    ramp(x, COUNT, 1.0f);
    ramp(y, COUNT, 1.0f);
    kallima_buffer *a = upload(device, x, sizeof x), *b = upload(device, y, sizeof y);
    ROW_CHECK(run(kernel, at(a, 0), at(b, 0), COUNT / LANES, NULL) == KALLIMA_OK);
    ROW_CHECK(kallima_buffer_read(b, 0, y, sizeof y) == KALLIMA_OK);
    for (int i = 0; i < COUNT; i++)
        ROW_CHECK(y[i] == 3.0f * (float)i);
    device->ops->kernel_destroy(kernel);
    kernel = NULL;

    memset(made.data, 0x5a, made.bytes < 64 ? (size_t)made.bytes : 64);
    ROW_CHECK(device->ops->kernel_create(&kernel, device, &SAXPY, &made, NULL) ==
              KALLIMA_E_COMPILE);
    ROW_CHECK(kernel == NULL && strstr(kallima_last_error(), "saxpy"));
    kal_free(&device->host, made.data);
    kallima_buffer_destroy(&a);
    kallima_buffer_destroy(&b);
    kallima_device_close(&device);
    ROW_CHECK(counting.live == 0);
    ROWS_FINISH();
}

static void keys_name_the_driver(void **state)
{
    char key[512] = "before|", cut[16] = "";
    kallima_device *device = open_first();

    (void)state;
    device->ops->kernel_key(device, key, sizeof key);
    ROW_CHECK(strncmp(key, "before|opengl|", 14) == 0 && strlen(key) > 30);
    device->ops->kernel_key(device, cut, sizeof cut);
    ROW_CHECK(strlen(cut) == sizeof cut - 1);
    kallima_device_close(&device);
    ROWS_FINISH();
}

static void large_buffers_are_refused_with_both_numbers(void **state)
{
    kallima_device *device = open_first();
    const uint64_t most = device->caps.buffer_bytes;
    kallima_buffer *buffer = NULL;
    char number[2][32];

    (void)state;
    ROW_CHECK(kallima_buffer_create(&buffer, device, most + 1) == KALLIMA_E_MEMORY);
    ROW_CHECK(buffer == NULL);
    for (int i = 0; i < 2; i++) {
        snprintf(number[i], sizeof number[i], "%llu", (unsigned long long)most + i);
        ROW_CHECK(strstr(kallima_last_error(), number[i]));
    }
    kallima_device_close(&device);
    ROW_CHECK(counting.live == 0);
    ROWS_FINISH();
}

static void the_environment_makes_groups_smaller(void **state)
{
    struct kal_device_kernel *kernel = NULL;
    kallima_device *device = open_first();
    const struct kal_caps own = device->caps;

    (void)state;
    kallima_device_close(&device);
    setenv("KALLIMA_GROUP_BYTES", "4096", 1);
    setenv("KALLIMA_GROUP_LANES", "32", 1);
    device = open_first();
    ROW_CHECK(device->caps.group_bytes == 4096 && device->caps.group_lanes == 32);
    ROW_CHECK(device->ops->kernel_create(&kernel, device, &SAXPY, NULL, NULL) ==
              KALLIMA_E_COMPILE);
    ROW_CHECK(strstr(kallima_last_error(), "can have 32"));
    kallima_device_close(&device);

    setenv("KALLIMA_GROUP_BYTES", "1000000000", 1);
    setenv("KALLIMA_GROUP_LANES", "many", 1);
    device = open_first();
    ROW_CHECK(device->caps.group_bytes == own.group_bytes &&
              device->caps.group_lanes == own.group_lanes);
    kallima_device_close(&device);
    unsetenv("KALLIMA_GROUP_BYTES");
    unsetenv("KALLIMA_GROUP_LANES");
    ROW_CHECK(counting.live == 0);
    ROWS_FINISH();
}

// One call after the other, each of RUN numbers that are all the caller's own.
enum { CALLS = 40, RUN = 5, CALLERS = 2 };

struct caller {
    pthread_t thread;
    const struct kal_device_kernel *kernel;
    struct kal_memory list, number;
    int failures;
};

static void *call(void *user)
{
    struct caller *caller = user;
    kallima_device *device = caller->kernel->device;
    struct kal_work work[RUN];
    for (int i = 0; i < RUN; i++)
        work[i] = (struct kal_work){ .kernel = caller->kernel,
                                     .groups = 1,
                                     .slot = { caller->list, caller->number } };
    for (int i = 0; i < CALLS; i++)
        caller->failures += device->ops->enqueue(device, work, RUN, NULL) != KALLIMA_OK;
    return NULL;
}

static void check_callers(kallima_device *device)
{
    static int list[1 + CALLERS * CALLS * RUN];
    int seen[CALLERS] = { 0 };
    struct caller caller[CALLERS];
    struct kal_device_kernel *kernel = compile(device, &APPEND);
    memset(list, 0, sizeof list);
    kallima_buffer *a = upload(device, list, sizeof list);
    kallima_buffer *b = upload(device, (const int[CALLERS]){ 0, 1 }, sizeof seen);

    for (int i = 0; i < CALLERS; i++) {
        caller[i] = (struct caller){ .kernel = kernel,
                                     .list = at(a, 0),
                                     .number = at(b, (uint64_t)i * sizeof(int)) };
        pthread_create(&caller[i].thread, NULL, call, &caller[i]);
    }
    for (int i = 0; i < CALLERS; i++) {
        pthread_join(caller[i].thread, NULL);
        ROW_CHECK(caller[i].failures == 0);
    }
    ROW_CHECK(kallima_buffer_read(a, 0, list, sizeof list) == KALLIMA_OK);
    ROW_CHECK(list[0] == CALLERS * CALLS * RUN);
    for (int i = 0; i < CALLERS * CALLS * RUN; i++) {
        const int who = list[1 + i];
        ROW_CHECK(who == list[1 + i / RUN * RUN] && who >= 0 && who < CALLERS);
        seen[who != 0]++;
    }
    ROW_CHECK(seen[0] == seen[1]);
    device->ops->kernel_destroy(kernel);
    kallima_buffer_destroy(&a);
    kallima_buffer_destroy(&b);
}

static void calls_of_threads_are_not_mixed(void **state)
{
    kallima_device *device = open_first();
    (void)state;
    check_callers(device);
    kallima_device_close(&device);
    ROW_CHECK(counting.live == 0);
    ROWS_FINISH();
}

// More groups than a row of them can have, which may be few.
static void launch_rows(int32_t row_groups)
{
    kallima_device_options o = options();
    kallima_device *device = NULL;

    o.limits.row_groups = row_groups;
    if (kallima_device_open(&device, "opengl", &o) != KALLIMA_OK)
        fail_msg("%s", kallima_last_error());
    const int width = device->caps.row_groups;
    struct kal_device_kernel *kernel = compile(device, &TALLY);
    const int counts[] = { 1, width - 1, width, width + 1, 2 * width + 3 };

    ROW_CHECK(width == row_groups || row_groups > 1000);
    for (size_t k = 0; k < KAL_COUNT(counts); k++) {
        const size_t bytes = (size_t)(counts[k] + 1) * sizeof(unsigned);
        unsigned *x = calloc(1, bytes);
        kallima_buffer *a = upload(device, x, bytes);
        int wrong = 0;
        ROW_CHECK(run(kernel, at(a, 0), at(a, 0), (uint64_t)counts[k], NULL) ==
                  KALLIMA_OK);
        ROW_CHECK(kallima_buffer_read(a, 0, x, bytes) == KALLIMA_OK);
        for (int i = 0; i <= counts[k]; i++)
            wrong += x[i] != (i < counts[k] ? (unsigned)i + 1 : 0);
        ROW_CHECK(wrong == 0);
        kallima_buffer_destroy(&a);
        free(x);
    }
    ROW_CHECK(run(kernel, (struct kal_memory){ 0 }, (struct kal_memory){ 0 },
                  (uint64_t)1 << 40, NULL) == KALLIMA_E_UNSUPPORTED);
    ROW_CHECK(strstr(kallima_last_error(), "1099511627776 groups"));
    device->ops->kernel_destroy(kernel);
    kallima_device_close(&device);
    ROW_CHECK(counting.live == 0);
}

static void many_groups_are_launched_once_each(void **state)
{
    (void)state;
    launch_rows(65535); // what many drivers have
    launch_rows(7);
    ROWS_FINISH();
}

static void events_are_refused(void **state)
{
    kallima_device *device = open_first();
    struct kal_device_kernel *kernel = compile(device, &TALLY);
    const struct kal_sync waits = { .wait_count = 1 }, reports = { .event = &counting };
    const struct kal_memory none = { 0 };

    (void)state;
    ROW_CHECK(run(kernel, none, none, 1, &waits) == KALLIMA_E_UNSUPPORTED);
    ROW_CHECK(run(kernel, none, none, 1, &reports) == KALLIMA_E_UNSUPPORTED);
    device->ops->kernel_destroy(kernel);
    kallima_device_close(&device);
    ROWS_FINISH();
}

// A program that draws has a context of its own, on the same thread.
static void the_callers_context_stays_current(void **state)
{
    const struct gl_api *gl = kal_gl_api();
    kallima_device *device = open_first();
    void *display = ((struct gl_device *)device)->display;
    void *own = kal_gl_context_create(gl, display);
    struct gl_caller before;
    float x[COUNT];

    (void)state;
    ROW_CHECK(gl->egl.GetCurrentContext() == NULL);
    ROW_CHECK(own && kal_gl_enter(gl, display, own, &before));
    ramp(x, COUNT, 1.0f);
    kallima_buffer *a = upload(device, x, sizeof x);
    ROW_CHECK(gl->egl.GetCurrentContext() == own);
    ROW_CHECK(kallima_device_finish(device) == KALLIMA_OK);
    kallima_buffer_destroy(&a);
    ROW_CHECK(gl->egl.GetCurrentContext() == own);
    kallima_device_close(&device);
    ROW_CHECK(gl->egl.GetCurrentContext() == own);
    kal_gl_leave(gl, display, &before);
    ROW_CHECK(gl->egl.GetCurrentContext() == NULL);
    gl->egl.DestroyContext(display, own);
    ROWS_FINISH();
}

// A context of the caller's, current on this thread.
struct own {
    const struct gl_api *gl;
    void *display, *context;
    struct gl_caller before;
};

static void own_start(struct own *own)
{
    kallima_device_info info;
    own->gl = kal_gl_api();
    assert_true(kal_gl_find(0, &info, &own->display));
    own->context = kal_gl_context_create(own->gl, own->display);
    assert_true(own->context != NULL &&
                kal_gl_enter(own->gl, own->display, own->context, &own->before));
}

static void own_stop(struct own *own)
{
    ROW_CHECK(own->gl->egl.GetCurrentContext() == own->context);
    kal_gl_leave(own->gl, own->display, &own->before);
    own->gl->egl.DestroyContext(own->display, own->context);
}

static kallima_device *adopt(void)
{
    const kallima_device_options o = options();
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
    own.gl->GetBufferSubData(GL_COPY_READ_BUFFER, 0, sizeof got, got);
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
    float x[COUNT], y[COUNT];
    struct own own;

    (void)state;
    own_start(&own);
    kallima_device *device = adopt();
    ramp(x, COUNT, 1.0f);
    const unsigned name = make_object(own.gl, x, sizeof x);
    kallima_buffer *a = wrap(device, name, 400, 2000), *b = NULL;
    ROW_CHECK(kallima_buffer_create(&b, device, 2000) == KALLIMA_OK);
    ROW_CHECK(kallima_buffer_write(a, 40, x, 80) == KALLIMA_OK);
    ROW_CHECK(kallima_buffer_copy(b, 0, a, 0, 2000) == KALLIMA_OK);
    ROW_CHECK(kallima_buffer_read(b, 0, y, 2000) == KALLIMA_OK);
    for (int i = 0; i < 500; i++)
        ROW_CHECK(y[i] == (float)(i >= 10 && i < 30 ? i - 10 : i + 100));
    const struct kal_work zeros = { .slot = { at(a, 1600) }, .fill_bytes = 400 };
    ROW_CHECK(device->ops->enqueue(device, &zeros, 1, NULL) == KALLIMA_OK);
    ROW_CHECK(kallima_buffer_read(a, 1200, y, 800) == KALLIMA_OK);
    for (int i = 0; i < 200; i++)
        ROW_CHECK(y[i] == (i < 100 ? (float)(i + 400) : 0.0f));
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
    float x[COUNT] = { 0 };
    kallima_buffer *buffer = NULL;
    kallima_device *separate = open_first(), *device;

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
    kallima_buffer *a = upload(device, x, sizeof x);
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

// Arrays, and scratch, that are longer than what a kernel reaches.
static void plans_out_of_reach_are_refused_with_the_limit(void **state)
{
    kallima_device *device = open_first();
    const uint64_t most = device->caps.buffer_bytes;
    const kallima_plan_options o = { .without_workspace = 1 };
    const kallima_desc desc = { .rank = 1,
                                .n = { 1024 },
                                .batch = (int64_t)most / 8192 + 1 };
    kallima_plan *plan = NULL;
    char number[32];

    (void)state;
    ROW_CHECK(kallima_plan_create(&plan, device, &desc, &o) == KALLIMA_E_UNSUPPORTED);
    snprintf(number, sizeof number, "%llu", (unsigned long long)most);
    ROW_CHECK(plan == NULL && strstr(kallima_last_error(), number));
    kallima_device_close(&device);
    ROW_CHECK(counting.live == 0);
    ROWS_FINISH();
}

// Every allocation fails once; nothing stays behind.
static void exhausted_memory_leaves_nothing(void **state)
{
    (void)state;
    for (long long k = 1, is_done = 0; !is_done; k++) {
        const kallima_device_options o = options();
        kallima_device *device = NULL;
        kallima_buffer *buffer = NULL;
        kallima_timer *timer = NULL;
        struct kal_device_kernel *kernel = NULL;
        struct kal_binary made = { NULL, 0 };

        memset(&counting, 0, sizeof counting);
        counting.fail_at = k;
        kallima_status status = kallima_device_open(&device, "opengl", &o);
        if (status == KALLIMA_OK)
            status = kallima_buffer_create(&buffer, device, 64);
        if (status == KALLIMA_OK)
            status = kallima_timer_create(&timer, device);
        if (status == KALLIMA_OK)
            status = device->ops->kernel_create(&kernel, device, &SAXPY, NULL, &made);
        ROW_CHECK(status == KALLIMA_OK || status == KALLIMA_E_MEMORY);
        is_done = status == KALLIMA_OK;
        if (kernel)
            device->ops->kernel_destroy(kernel);
        if (device)
            kal_free(&device->host, made.data);
        kallima_timer_destroy(&timer);
        kallima_buffer_destroy(&buffer);
        kallima_device_close(&device);
        ROW_CHECK(counting.live == 0);
    }
    ROWS_FINISH();
}

// Where there is no driver, the device is absent, which is no error.
static int check_absence(void)
{
    kallima_device_info infos[16];
    kallima_device *device = NULL;
    int32_t count = 0, bad = 0;
    bad += kallima_device_list(infos, 16, &count) != KALLIMA_OK;
    for (int i = 0; i < count && i < 16; i++)
        bad += strncmp(infos[i].selector, "opengl", 6) == 0;
    bad += kallima_device_open(&device, "opengl", NULL) != KALLIMA_E_ABSENT;
    bad += kallima_device_open(&device, "opengl:0", NULL) != KALLIMA_E_ABSENT;
    bad += device != NULL;
    return bad;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(devices_are_listed_and_described),
        cmocka_unit_test(numbers_beyond_the_list_are_absent),
        cmocka_unit_test(kernels_see_slots_and_offsets),
        cmocka_unit_test(groups_have_the_memory_that_is_told),
        cmocka_unit_test(many_groups_are_launched_once_each),
        cmocka_unit_test(zeros_and_copies_reach_their_range),
        cmocka_unit_test(timers_measure_the_device),
        cmocka_unit_test(errors_in_a_text_come_with_the_log),
        cmocka_unit_test(binaries_make_the_same_kernel),
        cmocka_unit_test(keys_name_the_driver),
        cmocka_unit_test(large_buffers_are_refused_with_both_numbers),
        cmocka_unit_test(plans_out_of_reach_are_refused_with_the_limit),
        cmocka_unit_test(the_environment_makes_groups_smaller),
        cmocka_unit_test(calls_of_threads_are_not_mixed),
        cmocka_unit_test(events_are_refused),
        cmocka_unit_test(the_callers_context_stays_current),
        cmocka_unit_test(wrapped_buffers_are_transformed),
        cmocka_unit_test(wrapped_buffers_are_read_and_written),
        cmocka_unit_test(wrong_objects_are_refused),
        cmocka_unit_test(the_callers_errors_are_told),
        cmocka_unit_test(contexts_that_are_not_current_are_refused),
        cmocka_unit_test(exhausted_memory_leaves_nothing),
    };
    kallima_device_info info;
    void *display;
    if (argc > 1 && strcmp(argv[1], "absent") == 0)
        return check_absence();
    if (!kal_gl_find(0, &info, &display)) {
        puts("no OpenGL device is present");
        return getenv("CI") ? EXIT_FAILURE : 77;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
