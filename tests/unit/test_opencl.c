// SPDX-License-Identifier: MIT
// The OpenCL device on the first device present. `test_opencl absent` is for a machine, or
// an environment, that has no driver.
#include <dlfcn.h>
#include <kallima/interop/opencl.h>
#include <kallima/kallima.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../counting.h"
#include "../rows.h"
#include "device/opencl/driver.h"

enum { COUNT = 1000, LANES = 50 };

static struct counting counting;

// What the library itself has no use for.
static struct {
    cl_event (*create)(cl_context, cl_int *);
    cl_int (*set)(cl_event, cl_int);
    cl_int (*info)(cl_event, cl_event_info, size_t, void *, size_t *);
} events;

static const struct kal_kernel_text SAXPY = {
    .name = "saxpy",
    .text = "__kernel void saxpy(__global char *x, ulong x_bytes, __global char *y,\n"
            "                    ulong y_bytes)\n"
            "{\n"
            "    const size_t i = get_global_id(0);\n"
            "    ((__global float *)(y + y_bytes))[i] +=\n"
            "        2.0f * ((const __global float *)(x + x_bytes))[i];\n"
            "}\n",
    .lanes = LANES,
    .slots = 2,
};

// Writes its number to the end of a list.
static const struct kal_kernel_text APPEND = {
    .name = "append",
    .text = "__kernel void append(__global char *list, ulong list_bytes,\n"
            "                     __global char *number, ulong number_bytes)\n"
            "{\n"
            "    __global int *l = (__global int *)(list + list_bytes);\n"
            "    l[++l[0]] = *(const __global int *)(number + number_bytes);\n"
            "}\n",
    .lanes = 1,
    .slots = 2,
};

// Turns the lanes of a group around, in memory that the launch brings.
static const struct kal_kernel_text REVERSE = {
    .name = "reverse",
    .text =
        "__kernel void reverse(__global char *x, ulong x_bytes, __local float *near)\n"
        "{\n"
        "    __global float *a = (__global float *)(x + x_bytes);\n"
        "    const int i = get_local_id(0), n = get_local_size(0);\n"
        "    const int first = get_group_id(0) * n;\n"
        "    near[i] = a[first + i];\n"
        "    barrier(CLK_LOCAL_MEM_FENCE);\n"
        "    a[first + i] = near[n - 1 - i];\n"
        "}\n",
    .lanes = LANES,
    .group_bytes = LANES * sizeof(float),
    .slots = 1,
};

static const struct kal_kernel_text LARGE = {
    .name = "large",
    .text = "__kernel void large(__global char *x, ulong x_bytes)\n"
            "{\n"
            "    __local float near[2048];\n"
            "    const int i = get_local_id(0);\n"
            "    near[i] = i;\n"
            "    barrier(CLK_LOCAL_MEM_FENCE);\n"
            "    ((__global float *)(x + x_bytes))[i] = near[i ^ 1];\n"
            "}\n",
    .lanes = 8,
    .slots = 1,
};

// Both ends of all the memory that a group can have.
static const char WHOLE[] = "__kernel void whole(__global char *x, ulong x_bytes)\n"
                            "{\n"
                            "    __local int near[%d];\n"
                            "    const int i = get_local_id(0);\n"
                            "    near[i] = i;\n"
                            "    near[%d + i] = 2 * i;\n"
                            "    barrier(CLK_LOCAL_MEM_FENCE);\n"
                            "    ((__global int *)(x + x_bytes))[get_global_id(0)] =\n"
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
    if (kallima_device_open(&device, "opencl", &o) != KALLIMA_OK)
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
        if (strncmp(infos[i].selector, "opencl", 6) != 0)
            continue;
        snprintf(selector, sizeof selector, "opencl:%d", found++);
        ROW_CHECK(strcmp(infos[i].selector, selector) == 0);
        ROW_CHECK(infos[i].name[0] && infos[i].driver[0] && infos[i].memory_bytes > 0);
        kallima_device *device = NULL;
        ROW_CHECK(kallima_device_open(&device, selector, NULL) == KALLIMA_OK);
        ROW_CHECK(kallima_device_get_info(device, &info) == KALLIMA_OK);
        ROW_CHECK(memcmp(&info, &infos[i], sizeof info) == 0);
        const struct kal_caps *caps = &device->caps;
        ROW_CHECK(caps->language == KAL_LANGUAGE_OPENCL && caps->processors > 0);
        ROW_CHECK(caps->group_lanes >= 64 && caps->group_bytes >= 16384);
        ROW_CHECK(!info.is_software ||
                  (caps->group_lanes <= 1024 && caps->group_bytes <= 65536));
        kallima_device_close(&device);
    }
    ROW_CHECK(found > 0);
    ROWS_FINISH();
}

static void numbers_beyond_the_list_are_absent(void **state)
{
    kallima_device *device = NULL;
    (void)state;
    ROW_CHECK(kallima_device_open(&device, "opencl:999", NULL) == KALLIMA_E_ABSENT);
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
    // y[200 + i] += 2 x[300 + i], for 500
    ROW_CHECK(run(kernel, at(a, 1200), at(b, 800), 500 / LANES, NULL) == KALLIMA_OK);
    ROW_CHECK(kallima_buffer_read(b, 0, y, sizeof y) == KALLIMA_OK);
    for (int i = 0; i < COUNT; i++) {
        const float added = i >= 200 && i < 700 ? 2.0f * (float)(i + 100) : 0.0f;
        ROW_CHECK(y[i] == 1000.0f * (float)i + added);
    }
    struct kal_kernel_facts facts;
    device->ops->kernel_describe(kernel, &facts);
    ROW_CHECK(facts.group_bytes == 0 && facts.registers != 0);
    device->ops->kernel_destroy(kernel);
    kallima_buffer_destroy(&a);
    kallima_buffer_destroy(&b);
    kallima_device_close(&device);
    ROW_CHECK(counting.live == 0 && counting.damaged == 0);
    ROWS_FINISH();
}

static void group_memory_comes_with_the_launch(void **state)
{
    float x[COUNT];
    kallima_device *device = open_first();
    struct kal_device_kernel *kernel = compile(device, &REVERSE);
    struct kal_kernel_facts facts;

    (void)state;
    ramp(x, COUNT, 1.0f);
    kallima_buffer *a = upload(device, x, sizeof x);
    for (int times = 0; times < 3; times++)
        ROW_CHECK(run(kernel, at(a, 0), at(a, 0), COUNT / LANES, NULL) == KALLIMA_OK);
    ROW_CHECK(kallima_buffer_read(a, 0, x, sizeof x) == KALLIMA_OK);
    for (int i = 0; i < COUNT; i++)
        ROW_CHECK(x[i] == (float)(i / LANES * LANES + LANES - 1 - i % LANES));
    device->ops->kernel_describe(kernel, &facts);
    ROW_CHECK(facts.group_bytes == LANES * sizeof(float));
    device->ops->kernel_destroy(kernel);
    kallima_buffer_destroy(&a);
    kallima_device_close(&device);
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
        .text =
            "__kernel void broken(__global char *x, ulong o) { x[o] = no_such_name; }",
        .lanes = 1,
        .slots = 1,
    };
    struct kal_kernel_text misnamed = SAXPY, clustered = SAXPY;
    kallima_device *device = open_first();
    struct kal_device_kernel *kernel = NULL;
    struct kal_binary made = { NULL, 0 };

    (void)state;
    ROW_CHECK(device->ops->kernel_create(&kernel, device, &broken, NULL, &made) ==
              KALLIMA_E_COMPILE);
    ROW_CHECK(kernel == NULL && made.data == NULL && made.bytes == 0);
    ROW_CHECK(strstr(kallima_last_error(), "broken"));
    ROW_CHECK(strstr(kallima_last_error(), "no_such_name"));
    misnamed.name = "saxpi";
    ROW_CHECK(device->ops->kernel_create(&kernel, device, &misnamed, NULL, NULL) ==
              KALLIMA_E_COMPILE);
    ROW_CHECK(kernel == NULL && strstr(kallima_last_error(), "CL_INVALID_KERNEL_NAME"));
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
    ROW_CHECK(made.data && made.bytes > 0);
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
    ROW_CHECK(strncmp(key, "before|opencl|", 14) == 0 && strlen(key) > 30);
    device->ops->kernel_key(device, cut, sizeof cut);
    ROW_CHECK(strlen(cut) == sizeof cut - 1);
    kallima_device_close(&device);
    ROWS_FINISH();
}

static void large_buffers_are_refused_with_both_numbers(void **state)
{
    kallima_device *device = open_first();
    const uint64_t most = ((struct ocl_device *)device)->buffer_bytes;
    kallima_buffer *buffer = NULL;
    char number[2][32];

    (void)state;
    ROW_CHECK(kallima_buffer_create(&buffer, device, most + 1) == KALLIMA_E_MEMORY);
    ROW_CHECK(buffer == NULL);
    for (int i = 0; i < 2; i++) {
        snprintf(number[i], sizeof number[i], " %llu ", (unsigned long long)most + i);
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
    ROW_CHECK(device->ops->kernel_create(&kernel, device, &LARGE, NULL, NULL) ==
              KALLIMA_E_COMPILE);
    ROW_CHECK(strstr(kallima_last_error(), "large") &&
              strstr(kallima_last_error(), "bytes of local memory"));
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

// The objects of a caller who uses OpenCL too.
struct own {
    const struct ocl_api *cl;
    cl_device_id id;
    cl_context context;
    cl_command_queue queue;
    bool is_eager; // oclgrind: a flush waits for the work
};

static struct own own_objects(cl_command_queue_properties properties)
{
    struct own own = { .cl = kal_ocl_api() };
    cl_device_id ids[OCL_MAX_DEVICES];
    cl_int code;
    assert_true(kal_ocl_list(own.cl, ids) > 0);
    kallima_device_info info;
    own.id = ids[0];
    kal_ocl_describe(own.cl, own.id, 0, &info);
    own.is_eager = strncmp(info.driver, "Oclgrind", 8) == 0;
    own.context = own.cl->CreateContext(NULL, 1, &own.id, NULL, NULL, &code);
    assert_int_equal(code, CL_SUCCESS);
    own.queue = own.cl->CreateCommandQueue(own.context, own.id, properties, &code);
    assert_int_equal(code, CL_SUCCESS);
    return own;
}

static void release_own(const struct own *own)
{
    own->cl->ReleaseCommandQueue(own->queue);
    own->cl->ReleaseContext(own->context);
}

static cl_uint owners_of_queue(const struct own *own)
{
    cl_uint count = 0;
    own->cl->GetCommandQueueInfo(own->queue, CL_QUEUE_REFERENCE_COUNT, sizeof count,
                                 &count, NULL);
    return count;
}

static cl_uint owners_of_memory(const struct own *own, cl_mem memory)
{
    cl_uint count = 0;
    own->cl->GetMemObjectInfo(memory, CL_MEM_REFERENCE_COUNT, sizeof count, &count, NULL);
    return count;
}

static const cl_command_queue_properties KINDS_OF_QUEUE[] = {
    0, CL_QUEUE_PROFILING_ENABLE, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE,
    CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_PROFILING_ENABLE
};

static void adopted_queues_keep_the_order(void **state)
{
    (void)state;
    for (size_t i = 0; i < KAL_COUNT(KINDS_OF_QUEUE); i++) {
        const struct own own = own_objects(KINDS_OF_QUEUE[i]);
        const bool has_times = KINDS_OF_QUEUE[i] & CL_QUEUE_PROFILING_ENABLE;
        const kallima_device_options o = options();
        kallima_device *device = NULL;
        kallima_timer *timer = NULL;

        ROW_CHECK(kallima_opencl_adopt(&device, own.context, own.queue, &o) ==
                  KALLIMA_OK);
        ROW_CHECK(owners_of_queue(&own) == 2);
        kallima_device_close(&device); // before any work, whose events may keep the queue
        ROW_CHECK(owners_of_queue(&own) == 1);

        ROW_CHECK(kallima_opencl_adopt(&device, own.context, own.queue, &o) ==
                  KALLIMA_OK);
        check_callers(device);
        ROW_CHECK(kallima_timer_create(&timer, device) ==
                  (has_times ? KALLIMA_OK : KALLIMA_E_UNSUPPORTED));
        ROW_CHECK(has_times || strstr(kallima_last_error(), "CL_QUEUE_PROFILING_ENABLE"));
        kallima_timer_destroy(&timer);
        kallima_device_close(&device);
        ROW_CHECK(counting.live == 0);
        release_own(&own);
    }
    ROWS_FINISH();
}

static cl_int state_of(cl_event event)
{
    cl_int code = CL_QUEUED;
    events.info(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof code, &code, NULL);
    return code;
}

// The caller's event holds back all of the work; the event of the work is of its end.
static void check_events(const struct own *own, kallima_device *device,
                         const kallima_buffer *a)
{
    struct kal_device_kernel *kernel = compile(device, &SAXPY);
    cl_int code;
    cl_event gate = events.create(own->context, &code), done = NULL;
    const struct kal_sync sync = { .wait_count = 1, .wait = &gate, .event = &done };
    const struct kal_work work[] = {
        { .slot = { at(a, 0) }, .fill_bytes = LANES * sizeof(float) },
        { .kernel = kernel, .groups = 1, .slot = { at(a, 400), at(a, 0) } },
        { .kernel = kernel, .groups = 1, .slot = { at(a, 400), at(a, 0) } },
    };

    if (own->is_eager)
        events.set(gate, CL_COMPLETE);
    ROW_CHECK(device->ops->enqueue(device, work, 3, &sync) == KALLIMA_OK);
    if (!own->is_eager) {
        ROW_CHECK(done && state_of(done) > CL_COMPLETE);
        ROW_CHECK(events.set(gate, CL_COMPLETE) == CL_SUCCESS);
    }
    ROW_CHECK(own->cl->WaitForEvents(1, &done) == CL_SUCCESS);
    own->cl->ReleaseEvent(done);
    done = NULL;
    ROW_CHECK(device->ops->enqueue(device, NULL, 0, &sync) == KALLIMA_OK);
    ROW_CHECK(done && own->cl->WaitForEvents(1, &done) == CL_SUCCESS);
    own->cl->ReleaseEvent(done);
    own->cl->ReleaseEvent(gate);
    device->ops->kernel_destroy(kernel);
}

static void wrapped_memory_is_used_from_its_offset(void **state)
{
    enum { SHIFT = 20 }; // floats
    (void)state;
    for (size_t k = 0; k < KAL_COUNT(KINDS_OF_QUEUE); k++) {
        const struct own own = own_objects(KINDS_OF_QUEUE[k]);
        const kallima_device_options o = options();
        kallima_device *device = NULL;
        kallima_buffer *buffer = NULL;
        float x[COUNT], y[COUNT];
        cl_int code;

        ramp(x, COUNT, 1.0f);
        const cl_mem memory = own.cl->CreateBuffer(
            own.context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, sizeof x, x, &code);
        ROW_CHECK(kallima_opencl_adopt(&device, own.context, own.queue, &o) ==
                  KALLIMA_OK);
        ROW_CHECK(kallima_opencl_wrap(&buffer, device, memory, 4 * SHIFT,
                                      sizeof x - 4 * SHIFT) == KALLIMA_OK);
        kallima_device_close(&device); // the buffer keeps it
        ROW_CHECK(owners_of_memory(&own, memory) == 2);
        check_events(&own, buffer->device, buffer);
        ROW_CHECK(kallima_buffer_read(buffer, 0, y, sizeof y - 4 * SHIFT) == KALLIMA_OK);
        for (int i = 0; i < COUNT - SHIFT; i++)
            ROW_CHECK(y[i] ==
                      (i < LANES ? 4.0f * (float)(i + 100 + SHIFT) : (float)(i + SHIFT)));
        kallima_buffer_destroy(&buffer);
        ROW_CHECK(counting.live == 0);
        own.cl->ReleaseMemObject(memory);
        release_own(&own);
    }
    ROWS_FINISH();
}

static void foreign_objects_are_refused(void **state)
{
    const struct own own = own_objects(0), other = own_objects(0);
    const kallima_device_options o = options();
    kallima_device *device = NULL, *cpu = NULL;
    kallima_buffer *buffer = NULL;
    kallima_plan *plan = NULL;
    cl_event event = NULL;
    cl_int code;
    const cl_mem mine =
        own.cl->CreateBuffer(own.context, CL_MEM_READ_WRITE, 4096, NULL, &code);
    const cl_mem theirs =
        own.cl->CreateBuffer(other.context, CL_MEM_READ_WRITE, 4096, NULL, &code);

    (void)state;
    ROW_CHECK(kallima_opencl_adopt(NULL, own.context, own.queue, &o) ==
              KALLIMA_E_ARGUMENT);
    ROW_CHECK(kallima_opencl_adopt(&device, NULL, own.queue, &o) == KALLIMA_E_ARGUMENT);
    ROW_CHECK(kallima_opencl_adopt(&device, own.context, NULL, &o) == KALLIMA_E_ARGUMENT);
    ROW_CHECK(kallima_opencl_adopt(&device, own.context, other.queue, &o) ==
              KALLIMA_E_ARGUMENT);
    ROW_CHECK(device == NULL && counting.live == 0);
    ROW_CHECK(kallima_opencl_adopt(&device, own.context, own.queue, &o) == KALLIMA_OK);
    ROW_CHECK(kallima_device_open(&cpu, "cpu", &o) == KALLIMA_OK);

    const struct {
        kallima_device *device;
        cl_mem memory;
        uint64_t offset, bytes;
    } rows[] = {
        { NULL, mine, 0, 64 },      { device, NULL, 0, 64 },
        { cpu, mine, 0, 64 },       { device, theirs, 0, 64 },
        { device, mine, 0, 0 },     { device, mine, 8, 64 },
        { device, mine, 0, 4097 },  { device, mine, 4096, 16 },
        { device, mine, 8192, 16 }, { device, mine, 16, UINT64_MAX },
        { device, mine, 4032, 65 },
    };
    for (size_t i = 0; i < KAL_COUNT(rows); i++) {
        ROW_CHECK(kallima_opencl_wrap(&buffer, rows[i].device, rows[i].memory,
                                      rows[i].offset,
                                      rows[i].bytes) == KALLIMA_E_ARGUMENT);
        ROW_CHECK(buffer == NULL && owners_of_memory(&own, mine) == 1);
    }
    const kallima_desc desc = { .rank = 1, .n = { 8 } };
    const kallima_device_arrays arrays = { 0 };
    ROW_CHECK(kallima_plan_create(&plan, cpu, &desc, NULL) == KALLIMA_OK);
    ROW_CHECK(kallima_opencl_execute(plan, &arrays, 0, NULL, &event) ==
              KALLIMA_E_ARGUMENT);
    ROW_CHECK(kallima_opencl_execute(plan, &arrays, 1, NULL, &event) ==
              KALLIMA_E_ARGUMENT);
    ROW_CHECK(kallima_opencl_execute(NULL, &arrays, 0, NULL, &event) ==
              KALLIMA_E_ARGUMENT);
    kallima_plan_destroy(&plan);
    kallima_device_close(&cpu);
    kallima_device_close(&device);
    ROW_CHECK(counting.live == 0);
    own.cl->ReleaseMemObject(mine);
    own.cl->ReleaseMemObject(theirs);
    release_own(&own);
    release_own(&other);
    ROWS_FINISH();
}

// Every allocation fails once; nothing stays behind.
static void exhausted_memory_leaves_nothing(void **state)
{
    const struct own own = own_objects(CL_QUEUE_PROFILING_ENABLE);
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
        kallima_status status = kallima_opencl_adopt(&device, own.context, own.queue, &o);
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
    release_own(&own);
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
        bad += strncmp(infos[i].selector, "opencl", 6) == 0;
    bad += kallima_device_open(&device, "opencl", NULL) != KALLIMA_E_ABSENT;
    bad += kallima_device_open(&device, "opencl:0", NULL) != KALLIMA_E_ABSENT;
    bad += device != NULL;
    return bad;
}

static bool find_events(void)
{
    void *library = kal_ocl_api() ? dlopen("libOpenCL.so.1", RTLD_LAZY) : NULL;
    if (!library)
        return false;
    *(void **)&events.create = dlsym(library, "clCreateUserEvent");
    *(void **)&events.set = dlsym(library, "clSetUserEventStatus");
    *(void **)&events.info = dlsym(library, "clGetEventInfo");
    return events.create && events.set && events.info;
}

// What NVIDIA's compiler writes, shortened.
static void ptx_tells_the_groups_of_a_processor(void **state)
{
    (void)state;
    static const char ptx[] = ".version 9.0\n.entry k(\n.param .u64 k_0\n)\n"
                              ".reqntid 360, 1, 1\n{\nret;\n}\n";
    static const char limited[] = ".version 9.0\n.entry k(\n.param .u64 k_0\n)\n"
                                  ".minnctapersm 3\n.reqntid 360, 1, 1\n{\nret;\n}\n";
    const struct kal_host host = { .allocator = counting_allocator(&counting) };
    const struct kal_binary whole = { (void *)ptx, sizeof ptx };
    const struct kal_binary foreign = { (void *)"\177ELF\0.reqntid", 14 };
    struct kal_binary out;

    assert_int_equal(kal_ocl_ptx_for_groups(&out, &host, &whole, 3), KALLIMA_OK);
    assert_int_equal(out.bytes, sizeof limited);
    assert_memory_equal(out.data, limited, sizeof limited);
    kal_free(&host, out.data);
    assert_int_equal(kal_ocl_ptx_for_groups(&out, &host, &foreign, 3), KALLIMA_OK);
    assert_null(out.data);
    assert_int_equal(counting.live, 0);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(devices_are_listed_and_described),
        cmocka_unit_test(numbers_beyond_the_list_are_absent),
        cmocka_unit_test(kernels_see_slots_and_offsets),
        cmocka_unit_test(group_memory_comes_with_the_launch),
        cmocka_unit_test(groups_have_the_memory_that_is_told),
        cmocka_unit_test(zeros_and_copies_reach_their_range),
        cmocka_unit_test(timers_measure_the_device),
        cmocka_unit_test(errors_in_a_text_come_with_the_log),
        cmocka_unit_test(binaries_make_the_same_kernel),
        cmocka_unit_test(keys_name_the_driver),
        cmocka_unit_test(ptx_tells_the_groups_of_a_processor),
        cmocka_unit_test(large_buffers_are_refused_with_both_numbers),
        cmocka_unit_test(the_environment_makes_groups_smaller),
        cmocka_unit_test(calls_of_threads_are_not_mixed),
        cmocka_unit_test(adopted_queues_keep_the_order),
        cmocka_unit_test(wrapped_memory_is_used_from_its_offset),
        cmocka_unit_test(foreign_objects_are_refused),
        cmocka_unit_test(exhausted_memory_leaves_nothing),
    };
    cl_device_id ids[OCL_MAX_DEVICES];
    if (argc > 1 && strcmp(argv[1], "absent") == 0)
        return check_absence();
    if (kal_ocl_list(kal_ocl_api(), ids) == 0 || !find_events()) {
        puts("no OpenCL device is present");
        return getenv("CI") ? EXIT_FAILURE : 77;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
