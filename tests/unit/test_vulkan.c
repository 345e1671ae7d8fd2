// SPDX-License-Identifier: MIT
// The Vulkan device on the first device present. `test_vulkan absent` is for a machine, or an
// environment, that has no driver; `test_vulkan without REASON` for one whose module with the
// compiler cannot be used; `test_vulkan offend` breaks a rule, for the validation layer to find.
#include <kallima/kallima.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../counting.h"
#include "../rows.h"
#include "device/vulkan/driver.h"

enum { COUNT = 1000, LANES = 50 };

static struct counting counting;

#define HEAD(lanes)                           \
    "#version 450\n"                          \
    "layout(local_size_x = " #lanes ") in;\n" \
    "layout(push_constant) uniform launch { uint offsets[15], first; };\n"
#define ARRAY(type, name, slot)                                                   \
    "layout(std430, binding = " #slot ") buffer name" #slot " { " #type " " #name \
    "[]; };\n"                                                                    \
    "uint " #name "_bytes = offsets[" #slot "];\n"

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
    if (kallima_device_open(&device, "vulkan", &o) != KALLIMA_OK)
        fail_msg("%s", kallima_last_error());
    return device;
}

// The name of the API that is chosen where none is named.
static const char *open_default(void)
{
    kallima_device *device = NULL;
    if (kallima_device_open(&device, NULL, NULL) != KALLIMA_OK)
        fail_msg("%s", kallima_last_error());
    const char *name = device->ops->name;
    kallima_device_close(&device);
    return name;
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
        if (strncmp(infos[i].selector, "vulkan", 6) != 0)
            continue;
        snprintf(selector, sizeof selector, "vulkan:%d", found++);
        ROW_CHECK(strcmp(infos[i].selector, selector) == 0);
        ROW_CHECK(infos[i].name[0] && infos[i].driver[0]);
        kallima_device *device = NULL;
        ROW_CHECK(kallima_device_open(&device, selector, NULL) == KALLIMA_OK);
        ROW_CHECK(kallima_device_get_info(device, &info) == KALLIMA_OK);
        ROW_CHECK(memcmp(&info, &infos[i], sizeof info) == 0);
        const struct kal_caps *caps = &device->caps;
        ROW_CHECK(caps->language == KAL_LANGUAGE_GLSL && caps->processors > 0);
        ROW_CHECK(caps->group_lanes >= 64 && caps->group_bytes >= 16384);
        ROW_CHECK(caps->buffer_bytes >= 1u << 27 && caps->memory_bytes > 0);
        ROW_CHECK(!strstr(info.name, "llvmpipe") == !info.is_software);
        ROW_CHECK(!info.is_software || strcmp(open_default(), "vulkan") != 0);
        kallima_device_close(&device);
    }
    ROW_CHECK(found > 0);
    ROWS_FINISH();
}

static void numbers_beyond_the_list_are_absent(void **state)
{
    kallima_device *device = NULL;
    (void)state;
    ROW_CHECK(kallima_device_open(&device, "vulkan:999", NULL) == KALLIMA_E_ABSENT);
    ROW_CHECK(device == NULL);
    ROWS_FINISH();
}

// y[skip + i] += 2 x[skip + 100 + i], for 500; the device lets no array begin at the odd skips.
static void check_offsets(kallima_device *device)
{
    struct kal_device_kernel *kernel = compile(device, &SAXPY);
    for (int skip = 197; skip < 203; skip++) {
        float x[COUNT], y[COUNT];
        ramp(x, COUNT, 1.0f);
        ramp(y, COUNT, 1000.0f);
        kallima_buffer *a = upload(device, x, sizeof x), *b = upload(device, y, sizeof y);
        ROW_CHECK(run(kernel, at(a, 4 * (uint64_t)skip + 400), at(b, 4 * (uint64_t)skip),
                      500 / LANES, NULL) == KALLIMA_OK);
        ROW_CHECK(kallima_buffer_read(b, 0, y, sizeof y) == KALLIMA_OK);
        for (int i = 0; i < COUNT; i++) {
            const bool is_in = i >= skip && i < skip + 500;
            ROW_CHECK(y[i] == 1000.0f * (float)i + (is_in ? 2.0f * (float)(i + 100) : 0));
        }
        kallima_buffer_destroy(&a);
        kallima_buffer_destroy(&b);
    }
    device->ops->kernel_destroy(kernel);
}

static void kernels_see_slots_and_offsets(void **state)
{
    kallima_device *device = open_first();
    (void)state;
    check_offsets(device);
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
    ROW_CHECK(kernel == NULL && strstr(kallima_last_error(), "saxpy: glslang: ERROR"));
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
    ROW_CHECK(made.bytes > 100);
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

    for (uint64_t bytes = 0; bytes < 64; bytes++) { // cut short
        const struct kal_binary cut = { made.data, bytes };
        ROW_CHECK(device->ops->kernel_create(&kernel, device, &SAXPY, &cut, NULL) ==
                  KALLIMA_E_COMPILE);
    }
    for (int i = 0; i < 4; i++) { // of the head: what it is, and how long
        unsigned char *byte = (unsigned char *)made.data + 2 * i + 1;
        *byte ^= 0xa5;
        ROW_CHECK(device->ops->kernel_create(&kernel, device, &SAXPY, &made, NULL) ==
                  KALLIMA_E_COMPILE);
        ROW_CHECK(kernel == NULL && strstr(kallima_last_error(), "saxpy"));
        *byte ^= 0xa5;
    }
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
    ROW_CHECK(strncmp(key, "before|vulkan|", 14) == 0 && strlen(key) > 30);
    device->ops->kernel_key(device, cut, sizeof cut);
    ROW_CHECK(strlen(cut) == sizeof cut - 1);
    kallima_device_close(&device);
    ROWS_FINISH();
}

static void large_buffers_are_refused_with_both_numbers(void **state)
{
    kallima_device *device = open_first();
    const uint64_t most = ((struct vk_device *)device)->facts.allocation_bytes;
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
    setenv("KALLIMA_BUFFER_BYTES", "65536", 1);
    setenv("KALLIMA_ROW_GROUPS", "100", 1);
    device = open_first();
    ROW_CHECK(device->caps.group_bytes == 4096 && device->caps.group_lanes == 32);
    ROW_CHECK(device->caps.buffer_bytes == 65536);
    ROW_CHECK(device->caps.row_groups == 100);
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
    unsetenv("KALLIMA_BUFFER_BYTES");
    unsetenv("KALLIMA_ROW_GROUPS");
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

// More groups than a row of them can have.
static void many_groups_are_launched_once_each(void **state)
{
    kallima_device *device = open_first();
    struct kal_device_kernel *kernel = compile(device, &TALLY);

    (void)state;
    device->caps.row_groups = 65535; // the least that there may be
    ((struct vk_device *)device)->facts.most_rows = 65535;
    const int width = 65535, counts[] = { 1, width - 1, width, width + 1, 2 * width + 3 };
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

// Memory that the host does not reach, as that of most GPUs.
static void transfers_go_through_staging_memory(void **state)
{
    enum { WORDS = (5 * VK_STAGING_BYTES / 2) / 4 + 3 };
    kallima_device *device = open_first();
    VkPhysicalDeviceMemoryProperties *memory =
        &((struct vk_device *)device)->facts.memory;
    uint32_t *x = malloc(4 * WORDS), *y = malloc(4 * WORDS);

    (void)state;
    for (uint32_t i = 0; i < memory->memoryTypeCount; i++)
        memory->memoryTypes[i].propertyFlags &=
            ~(uint32_t)VK_MEMORY_PROPERTY_HOST_CACHED_BIT;
    for (uint32_t i = 0; i < WORDS; i++)
        x[i] = i * 2654435761u;
    memset(y, 0, 4 * WORDS);
    kallima_buffer *a = upload(device, x, 4 * WORDS), *b = upload(device, y, 4 * WORDS);
    ROW_CHECK(kal_vk_memory(a->memory)->address == NULL);
    ROW_CHECK(kallima_buffer_copy(b, 4, a, 0, 4 * WORDS - 4) == KALLIMA_OK);
    ROW_CHECK(kallima_buffer_write(b, 12, x, 8) == KALLIMA_OK);
    ROW_CHECK(kallima_buffer_read(b, 4, y, 4 * WORDS - 4) == KALLIMA_OK);
    ROW_CHECK(y[2] == x[0] && y[3] == x[1]);
    y[2] = x[2];
    y[3] = x[3];
    ROW_CHECK(memcmp(x, y, 4 * WORDS - 4) == 0);
    kallima_buffer_destroy(&a);
    kallima_buffer_destroy(&b);
    check_offsets(device);
    kallima_device_close(&device);
    ROW_CHECK(counting.live == 0);
    free(x);
    free(y);
    ROWS_FINISH();
}

// --- what a driver may answer ---------------------------------------------------------------

static VkResult lose_submit(VkQueue queue, uint32_t count, const VkSubmitInfo *info,
                            VkFence fence)
{
    (void)queue, (void)count, (void)info, (void)fence;
    return VK_ERROR_DEVICE_LOST;
}

static VkResult lose_fence(VkDevice device, uint32_t count, const VkFence *fences,
                           VkBool32 all, uint64_t timeout)
{
    (void)device, (void)count, (void)fences, (void)all, (void)timeout;
    return VK_ERROR_DEVICE_LOST;
}

static VkResult deny_memory(VkDevice device, const VkMemoryAllocateInfo *info,
                            const VkAllocationCallbacks *callbacks,
                            VkDeviceMemory *memory)
{
    (void)device, (void)info, (void)callbacks, (void)memory;
    return VK_ERROR_OUT_OF_DEVICE_MEMORY;
}

static VkResult deny_pipeline(VkDevice device, VkPipelineCache cache, uint32_t count,
                              const VkComputePipelineCreateInfo *info,
                              const VkAllocationCallbacks *callbacks,
                              VkPipeline *pipeline)
{
    (void)device, (void)cache, (void)count, (void)info, (void)callbacks, (void)pipeline;
    return VK_ERROR_INITIALIZATION_FAILED;
}

static void a_lost_device_is_told(void **state)
{
    float x[COUNT] = { 0 };
    kallima_device *device = open_first();
    struct vk_api *vk = &((struct vk_device *)device)->vk;
    struct kal_device_kernel *kernel = compile(device, &SAXPY);
    kallima_buffer *a = upload(device, x, sizeof x);
    const struct vk_api own = *vk;

    (void)state;
    vk->QueueSubmit = lose_submit;
    ROW_CHECK(run(kernel, at(a, 0), at(a, 0), 1, NULL) == KALLIMA_E_DEVICE);
    ROW_CHECK(strstr(kallima_last_error(), "vkQueueSubmit: VK_ERROR_DEVICE_LOST"));
    device->ops->kernel_destroy(kernel); // which does not wait for what was not submitted
    ROW_CHECK(kallima_device_finish(device) == KALLIMA_E_DEVICE);
    ROW_CHECK(kallima_buffer_read(a, 0, x, sizeof x) == KALLIMA_E_DEVICE);
    vk->QueueSubmit = own.QueueSubmit;
    vk->WaitForFences = lose_fence;
    ROW_CHECK(kallima_device_finish(device) == KALLIMA_E_DEVICE);
    ROW_CHECK(strstr(kallima_last_error(), "vkWaitForFences: VK_ERROR_DEVICE_LOST"));
    vk->WaitForFences = own.WaitForFences;
    ROW_CHECK(kallima_device_finish(device) == KALLIMA_OK);
    kallima_buffer_destroy(&a);
    kallima_device_close(&device);
    ROW_CHECK(counting.live == 0);
    ROWS_FINISH();
}

static void a_driver_out_of_memory_is_told(void **state)
{
    kallima_device *device = open_first();
    struct vk_api *vk = &((struct vk_device *)device)->vk;
    const struct vk_api own = *vk;
    kallima_buffer *buffer = NULL;
    struct kal_device_kernel *kernel = NULL;

    (void)state;
    vk->AllocateMemory = deny_memory;
    ROW_CHECK(kallima_buffer_create(&buffer, device, 12345) == KALLIMA_E_MEMORY);
    ROW_CHECK(buffer == NULL && strstr(kallima_last_error(), "12345 bytes"));
    ROW_CHECK(strstr(kallima_last_error(), "VK_ERROR_OUT_OF_DEVICE_MEMORY"));
    vk->AllocateMemory = own.AllocateMemory;
    vk->CreateComputePipelines = deny_pipeline;
    ROW_CHECK(device->ops->kernel_create(&kernel, device, &SAXPY, NULL, NULL) ==
              KALLIMA_E_COMPILE);
    ROW_CHECK(kernel == NULL && strstr(kallima_last_error(), "kernel saxpy"));
    kallima_device_close(&device);
    ROW_CHECK(counting.live == 0);
    ROWS_FINISH();
}

// --- the caller's own objects ---------------------------------------------------------------

struct own {
    kallima_vulkan_handles handles;
    struct vk_instance instance;
    struct vk_api vk;
};

// A device of the test's own, with or without the extension that recording needs.
static void own_init(struct own *own, bool has_push)
{
    static const char *const push = VK_KHR_PUSH_DESCRIPTOR_EXTENSION_NAME;
    static const float priority = 1.0f;
    const struct vk_facts *facts = kal_vk_find(0);
    const VkDeviceQueueCreateInfo queue = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
        .queueFamilyIndex = facts->family,
        .queueCount = 1,
        .pQueuePriorities = &priority,
    };
    const VkDeviceCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
        .queueCreateInfoCount = 1,
        .pQueueCreateInfos = &queue,
        .enabledExtensionCount = has_push,
        .ppEnabledExtensionNames = &push,
    };
    own->instance = *kal_vk_instance();
    own->handles = (kallima_vulkan_handles){ .instance = own->instance.handle,
                                             .physical_device = facts->handle,
                                             .queue_family = facts->family };
    assert_int_equal(
        own->instance.CreateDevice(facts->handle, &info, NULL, &own->handles.device), 0);
    assert_true(kal_vk_api_load(&own->vk, &own->instance, own->handles.device));
    own->vk.GetDeviceQueue(own->handles.device, facts->family, 0, &own->handles.queue);
}

static void own_clear(struct own *own)
{
    own->vk.DestroyDevice(own->handles.device, NULL);
}

static kallima_device *adopt(const struct own *own)
{
    const kallima_device_options o = options();
    kallima_device *device = NULL;
    if (kallima_vulkan_adopt(&device, &own->handles, &o) != KALLIMA_OK)
        fail_msg("%s", kallima_last_error());
    return device;
}

static void adopted_devices_compute(void **state)
{
    (void)state;
    for (int has_push = 0; has_push < 2; has_push++) {
        struct own own;
        own_init(&own, has_push);
        kallima_device *device = adopt(&own);
        ROW_CHECK(!((struct vk_device *)device)->vk.CmdPushDescriptorSetKHR == !has_push);
        ROW_CHECK(!device->caps.has_f64);
        check_offsets(device);
        check_callers(device);
        kallima_device_close(&device);
        ROW_CHECK(counting.live == 0);
        own_clear(&own);
    }
    ROWS_FINISH();
}

static void handles_that_do_not_fit_are_refused(void **state)
{
    struct own own;
    kallima_device *device = NULL;

    (void)state;
    own_init(&own, true);
    kallima_vulkan_handles missing[4] = { own.handles, own.handles, own.handles,
                                          own.handles };
    missing[0].instance = NULL;
    missing[1].physical_device = NULL;
    missing[2].device = NULL;
    missing[3].queue = NULL;
    for (int i = 0; i < 4; i++)
        ROW_CHECK(kallima_vulkan_adopt(&device, &missing[i], NULL) == KALLIMA_E_ARGUMENT);
    kallima_vulkan_handles stranger = own.handles;
    stranger.queue_family = 77;
    ROW_CHECK(kallima_vulkan_adopt(&device, &stranger, NULL) == KALLIMA_E_ARGUMENT);
    ROW_CHECK(strstr(kallima_last_error(), "queue_family = 77"));
    ROW_CHECK(kallima_vulkan_adopt(NULL, &own.handles, NULL) == KALLIMA_E_ARGUMENT);
    ROW_CHECK(kallima_vulkan_adopt(&device, NULL, NULL) == KALLIMA_E_ARGUMENT);
    ROW_CHECK(device == NULL);
    own_clear(&own);
    ROWS_FINISH();
}

// Two buffers behind each other in one VkBuffer are two places in one memory.
static void wrapped_ranges_are_of_one_memory(void **state)
{
    float x[COUNT], y[COUNT];
    struct own own;
    kallima_buffer *part[3] = { NULL };

    (void)state;
    own_init(&own, true);
    kallima_device *device = adopt(&own), *null = NULL;
    kallima_buffer *whole = NULL;
    ROW_CHECK(kallima_buffer_create(&whole, device, 2 * sizeof x) == KALLIMA_OK);
    const VkBuffer buffer = kal_vk_memory(whole->memory)->buffer;
    ROW_CHECK(kallima_vulkan_wrap(&part[0], device, buffer, 0, 4000) == KALLIMA_OK);
    ROW_CHECK(kallima_vulkan_wrap(&part[1], device, buffer, 4000, 4000) == KALLIMA_OK);
    ROW_CHECK(kallima_vulkan_wrap(&part[2], device, buffer, 0, 8000) == KALLIMA_OK);
    ROW_CHECK(part[0]->memory.object == part[1]->memory.object);
    ROW_CHECK(part[0]->memory.object == part[2]->memory.object);
    ramp(x, COUNT, 1.0f);
    ROW_CHECK(kallima_buffer_write(part[1], 0, x, sizeof x) == KALLIMA_OK);
    ROW_CHECK(kallima_buffer_copy(part[0], 0, part[1], 0, sizeof x) == KALLIMA_OK);
    struct kal_device_kernel *kernel = compile(device, &SAXPY);
    ROW_CHECK(run(kernel, at(part[0], 0), at(part[1], 0), COUNT / LANES, NULL) ==
              KALLIMA_OK);
    ROW_CHECK(kallima_buffer_read(part[2], 4000, y, sizeof y) == KALLIMA_OK);
    for (int i = 0; i < COUNT; i++)
        ROW_CHECK(y[i] == 3.0f * (float)i);
    device->ops->kernel_destroy(kernel);

    kallima_buffer *none = NULL;
    ROW_CHECK(kallima_vulkan_wrap(&none, device, buffer, 8, 16) == KALLIMA_E_ARGUMENT);
    ROW_CHECK(strstr(kallima_last_error(), "offset_bytes = 8"));
    ROW_CHECK(kallima_vulkan_wrap(&none, device, buffer, 0, 0) == KALLIMA_E_ARGUMENT);
    ROW_CHECK(kallima_vulkan_wrap(&none, device, 0, 0, 16) == KALLIMA_E_ARGUMENT);
    ROW_CHECK(kallima_device_open(&null, "null", NULL) == KALLIMA_OK);
    ROW_CHECK(kallima_vulkan_wrap(&none, null, buffer, 0, 16) == KALLIMA_E_ARGUMENT);
    ROW_CHECK(strstr(kallima_last_error(), "\"null\""));
    kallima_device_close(&null);
    // Reach is counted from a multiple of what the device demands.
    ((struct vk_device *)device)->facts.offset_bytes = 256;
    ROW_CHECK(kallima_vulkan_wrap(&none, device, buffer, 16, device->caps.buffer_bytes) ==
              KALLIMA_E_UNSUPPORTED);
    ROW_CHECK(none == NULL);
    for (int i = 0; i < 3; i++)
        kallima_buffer_destroy(&part[i]);
    kallima_buffer_destroy(&whole);
    kallima_device_close(&device);
    ROW_CHECK(counting.live == 0);
    own_clear(&own);
    ROWS_FINISH();
}

// A plan of two launches, and the arrays that it transforms.
struct recorded {
    kallima_plan *plan;
    kallima_device_arrays arrays;
};

enum { POINTS = 64 };

static struct recorded make_recorded(kallima_device *device)
{
    const kallima_desc desc = { .rank = 1, .n = { POINTS } };
    const kallima_plan_options o = { .recipe = "four-step(local(8), local(8))" };
    struct recorded r = { NULL, { .workspace = NULL } };
    float x[POINTS][2] = { { 0 } };

    x[1][0] = 1.0f;
    if (kallima_plan_create(&r.plan, device, &desc, &o) != KALLIMA_OK)
        fail_msg("%s", kallima_last_error());
    r.arrays.in[0] = upload(device, x, sizeof x);
    r.arrays.out[0] = upload(device, x, sizeof x);
    return r;
}

static void clear_recorded(struct recorded *r)
{
    kallima_buffer_destroy(&r->arrays.in[0]);
    kallima_buffer_destroy(&r->arrays.out[0]);
    kallima_plan_destroy(&r->plan);
}

// Of element 1 alone the transform is exp(-2 pi i k / n).
static int count_wrong(const kallima_buffer *out)
{
    float y[POINTS][2];
    int wrong = 0;
    ROW_CHECK(kallima_buffer_read(out, 0, y, sizeof y) == KALLIMA_OK);
    for (int k = 0; k < POINTS; k++) {
        const double angle = -6.283185307179586 * k / POINTS;
        wrong += !(hypot(y[k][0] - cos(angle), y[k][1] - sin(angle)) < 1e-6);
    }
    return wrong;
}

// Recorded once and submitted twice, between fills of the caller's in the same commands.
static void plans_are_recorded_into_the_callers_commands(void **state)
{
    struct own own;
    (void)state;
    own_init(&own, true);
    kallima_device *device = adopt(&own);
    struct vk_device *vk = (struct vk_device *)device;
    struct recorded r = make_recorded(device);
    const VkCommandBufferBeginInfo begin = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO
    };
    const VkCommandBufferAllocateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = vk->pool,
        .commandBufferCount = 1,
    };
    VkCommandBuffer commands;
    const float poison[2] = { 7.0f, 7.0f };

    ROW_CHECK(own.vk.AllocateCommandBuffers(own.handles.device, &info, &commands) == 0);
    ROW_CHECK(own.vk.BeginCommandBuffer(commands, &begin) == 0);
    own.vk.CmdFillBuffer(commands, kal_vk_memory(r.arrays.in[0]->memory)->buffer, 0,
                         VK_WHOLE_SIZE, 0);
    own.vk.CmdFillBuffer(commands, kal_vk_memory(r.arrays.out[0]->memory)->buffer, 0,
                         VK_WHOLE_SIZE, 0x7fc00000);
    kal_vk_barrier_all(vk, commands);
    own.vk.CmdFillBuffer(commands, kal_vk_memory(r.arrays.in[0]->memory)->buffer, 8, 4,
                         0x3f800000); // 1.0f
    ROW_CHECK(kallima_vulkan_record(r.plan, &r.arrays, commands) == KALLIMA_OK);
    own.vk.CmdFillBuffer(commands, kal_vk_memory(r.arrays.in[0]->memory)->buffer, 0,
                         VK_WHOLE_SIZE, 0x7fc00000);
    ROW_CHECK(own.vk.EndCommandBuffer(commands) == 0);
    for (int i = 0; i < 2; i++) {
        const VkSubmitInfo submit = { .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                                      .commandBufferCount = 1,
                                      .pCommandBuffers = &commands };
        ROW_CHECK(own.vk.QueueSubmit(own.handles.queue, 1, &submit, VK_NULL_HANDLE) == 0);
        ROW_CHECK(count_wrong(r.arrays.out[0]) == 0);
        ROW_CHECK(kallima_buffer_write(r.arrays.out[0], 0, poison, 8) == KALLIMA_OK);
    }
    ROW_CHECK(kallima_vulkan_record(NULL, &r.arrays, commands) == KALLIMA_E_ARGUMENT);
    ROW_CHECK(kallima_vulkan_record(r.plan, NULL, commands) == KALLIMA_E_ARGUMENT);
    ROW_CHECK(kallima_vulkan_record(r.plan, &r.arrays, NULL) == KALLIMA_E_ARGUMENT);
    clear_recorded(&r);
    kallima_device_close(&device); // with its pool the command buffer
    ROW_CHECK(counting.live == 0);
    own_clear(&own);
    ROWS_FINISH();
}

static void recording_without_the_extension_is_refused(void **state)
{
    struct own own;
    (void)state;
    own_init(&own, false);
    kallima_device *device = adopt(&own);
    struct recorded r = make_recorded(device);
    VkCommandBuffer commands = ((struct vk_device *)device)->slot[0].commands;
    ROW_CHECK(kallima_plan_execute(r.plan, &r.arrays) == KALLIMA_OK);
    ROW_CHECK(count_wrong(r.arrays.out[0]) == 0);
    ROW_CHECK(kallima_vulkan_record(r.plan, &r.arrays, commands) ==
              KALLIMA_E_UNSUPPORTED);
    ROW_CHECK(strstr(kallima_last_error(), "VK_KHR_push_descriptor"));
    clear_recorded(&r);
    kallima_device_close(&device);
    ROW_CHECK(counting.live == 0);
    own_clear(&own);
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
        kallima_status status = kallima_device_open(&device, "vulkan", &o);
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
        bad += strncmp(infos[i].selector, "vulkan", 6) == 0;
    bad += kallima_device_open(&device, "vulkan", NULL) != KALLIMA_E_ABSENT;
    bad += kallima_device_open(&device, "vulkan:0", NULL) != KALLIMA_E_ABSENT;
    bad += device != NULL;
    return bad;
}

// Where the module cannot be used kernels are refused with the reason, and the device is never
// chosen by default.
static int check_module(const char *reason)
{
    kallima_device *device = NULL;
    struct kal_device_kernel *kernel = NULL;
    int bad = 0;
    if (kallima_device_open(&device, "vulkan", NULL) != KALLIMA_OK)
        return 1;
    bad += device->ops->kernel_create(&kernel, device, &SAXPY, NULL, NULL) !=
           KALLIMA_E_UNSUPPORTED;
    bad += kernel != NULL || !strstr(kallima_last_error(), reason);
    bad += device->ops->is_complete();
    if (bad)
        puts(kallima_last_error());
    kallima_device_close(&device);
    return bad;
}

// What the validation layer must find: a length that is not a multiple of 4.
static int offend(void)
{
    kallima_device *device = open_first();
    kallima_buffer *buffer = NULL;
    struct vk_device *vk = (struct vk_device *)device;
    struct vk_slot *slot;
    int bad = kallima_buffer_create(&buffer, device, 64) != KALLIMA_OK ||
              kal_vk_begin(vk, &slot) != KALLIMA_OK;
    if (!bad) {
        vk->vk.CmdFillBuffer(slot->commands, kal_vk_memory(buffer->memory)->buffer, 0, 3,
                             0);
        kal_vk_end(vk, KALLIMA_E_ARGUMENT, NULL);
    }
    kallima_buffer_destroy(&buffer);
    kallima_device_close(&device);
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
        cmocka_unit_test(transfers_go_through_staging_memory),
        cmocka_unit_test(a_lost_device_is_told),
        cmocka_unit_test(a_driver_out_of_memory_is_told),
        cmocka_unit_test(adopted_devices_compute),
        cmocka_unit_test(handles_that_do_not_fit_are_refused),
        cmocka_unit_test(wrapped_ranges_are_of_one_memory),
        cmocka_unit_test(plans_are_recorded_into_the_callers_commands),
        cmocka_unit_test(recording_without_the_extension_is_refused),
        cmocka_unit_test(exhausted_memory_leaves_nothing),
    };
    if (argc > 1 && strcmp(argv[1], "absent") == 0)
        return check_absence();
    if (argc > 2 && strcmp(argv[1], "without") == 0)
        return kal_vk_find(0) ? check_module(argv[2]) : 77;
    if (!kal_vk_find(0)) {
        puts("no Vulkan device is present");
        return getenv("CI") ? EXIT_FAILURE : 77;
    }
    if (argc > 1 && strcmp(argv[1], "offend") == 0)
        return offend();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
