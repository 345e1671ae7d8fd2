// SPDX-License-Identifier: MIT
#include "jobs.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "rows.h"

// --- the languages: a slot is an array of numbers, reached by GET, PUT and ADD ---------------

static const char OPENCL[] =
    "#define SLOT(a) __global char *a##_object, ulong a##_bytes\n"
    "#define KERNEL1(name, lanes, a) __kernel void name(SLOT(a))\n"
    "#define KERNEL2(name, lanes, a, b) __kernel void name(SLOT(a), SLOT(b))\n"
    "#define TILE(name, count)\n"
    "#define OWN_TILE(name, count) __local uint name[count];\n"
    "#define GET(a, i) ((__global uint *)(a##_object + a##_bytes))[i]\n"
    "#define PUT(a, i, value) GET(a, i) = value\n"
    "#define ADD(a, i, value) atomic_add(&GET(a, i), value)\n"
    "#define LANE (uint)get_local_id(0)\n"
    "#define GROUP (uint)get_group_id(0)\n"
    "#define BARRIER barrier(CLK_LOCAL_MEM_FENCE)\n";

static const char CUDA[] =
    "typedef unsigned int uint;\n"
    "#define KERNEL1(name, lanes, a) extern \"C\" __global__ void name(uint *a)\n"
    "#define KERNEL2(name, lanes, a, b) \\\n"
    "    extern \"C\" __global__ void name(uint *a, uint *b)\n"
    "#define TILE(name, count) extern __shared__ uint name[];\n"
    "#define OWN_TILE(name, count)\n"
    "#define GET(a, i) a[i]\n"
    "#define PUT(a, i, value) a[i] = value\n"
    "#define ADD(a, i, value) atomicAdd(&a[i], value)\n"
    "#define LANE threadIdx.x\n"
    "#define GROUP blockIdx.x\n"
    "#define BARRIER __syncthreads()\n";

#define GLSL_COMMON                                                   \
    "#define TILE(name, count) shared uint name[count];\n"            \
    "#define OWN_TILE(name, count)\n"                                 \
    "#define GET(a, i) a(i)\n"                                        \
    "#define PUT(a, i, value) a(i) = value\n"                         \
    "#define LANE gl_LocalInvocationIndex\n"                          \
    "#define GROUP (first + gl_WorkGroupID.y * gl_NumWorkGroups.x + " \
    "gl_WorkGroupID.x)\n"                                             \
    "#define BARRIER memoryBarrierShared(); barrier()\n"

#define GLSL_ADD "#define ADD(a, i, value) atomicAdd(a(i), value)\n"

// OpenGL ES cannot paste names, so that the arrays have theirs here.
#define GLSL(version)                                                                    \
    version "#ifdef VULKAN\n"                                                            \
            "layout(push_constant) uniform launch { uint offsets[15], first; };\n"       \
            "#define OFFSET(name, slot) uint name = offsets[slot];\n"                    \
            "#else\n"                                                                    \
            "layout(location = 15) uniform uint first;\n"                                \
            "#define OFFSET(name, slot) layout(location = slot) uniform uint name;\n"    \
            "#endif\n"                                                                   \
            "#define SLOT(slot, block, object, bytes) \\\n"                              \
            "    layout(std430, binding = slot) buffer block { uint object[]; }; \\\n"   \
            "    OFFSET(bytes, slot)\n"                                                  \
            "#define a(i) a_object[a_bytes / 4u + (i)]\n"                                \
            "#define b(i) b_object[b_bytes / 4u + (i)]\n"                                \
            "#define KERNEL(lanes) layout(local_size_x = lanes) in; void main()\n"       \
            "#define KERNEL1(name, lanes, a) \\\n"                                       \
            "    SLOT(0, a_block, a_object, a_bytes) KERNEL(lanes)\n"                    \
            "#define KERNEL2(name, lanes, a, b) \\\n"                                    \
            "    SLOT(1, b_block, b_object, b_bytes) KERNEL1(name, lanes, a)\n" GLSL_ADD \
                GLSL_COMMON

static const char GLSL_ADDRESSES[] =
    "#version 450\n"
    "#extension GL_EXT_buffer_reference : require\n"
    "#extension GL_EXT_buffer_reference_uvec2 : require\n"
    "layout(push_constant) uniform launch { uvec2 addresses[15]; uint first; };\n"
    "layout(std430, buffer_reference, buffer_reference_align = 4)\n"
    "buffer block { uint object[]; };\n"
    "#define a(i) block(addresses[0]).object[i]\n"
    "#define b(i) block(addresses[1]).object[i]\n"
    "#define KERNEL1(name, lanes, a) layout(local_size_x = lanes) in; void main()\n"
    "#define KERNEL2(name, lanes, a, b) KERNEL1(name, lanes, a)\n" GLSL_ADD GLSL_COMMON;

// NVIDIA's compiler adds to no pointer at once; each group has a number of its own.
static const char GLSL_POINTERS[] =
    "#version 430\n"
    "#extension GL_NV_gpu_shader5 : require\n"
    "#extension GL_NV_shader_buffer_load : require\n"
    "layout(location = 15) uniform uint first;\n"
    "#define a(i) a_at[int(i)]\n"
    "#define b(i) b_at[int(i)]\n"
    "#define KERNEL(lanes) layout(local_size_x = lanes) in; void main()\n"
    "#define KERNEL1(name, lanes, a) \\\n"
    "    layout(location = 0) uniform uint *a_at; KERNEL(lanes)\n"
    "#define KERNEL2(name, lanes, a, b) \\\n"
    "    layout(location = 1) uniform uint *b_at; KERNEL1(name, lanes, a)\n"
    "#define ADD(a, i, value) a(i) += value\n" GLSL_COMMON;

static const char HLSL[] =
    "cbuffer launch : register(b0)\n"
    "{\n"
    "    uint offset0, offset1, offset2, offset3, offset4, offset5, offset6, offset7;\n"
    "    uint first;\n"
    "};\n"
    "uint read(RWByteAddressBuffer memory, uint at) { return memory.Load(at); }\n"
    "void add(RWByteAddressBuffer memory, uint at, uint value)\n"
    "{\n"
    "    memory.InterlockedAdd(at, value);\n"
    "}\n"
    "#define SLOT(a, slot) \\\n"
    "    RWByteAddressBuffer a##_object : register(u##slot); \\\n"
    "    uint a##_at(uint i) { return offset##slot + 4u * i; }\n"
    "#define KERNEL(name, lanes) \\\n"
    "    [numthreads(lanes, 1, 1)] \\\n"
    "    void name(uint own_lane : SV_GroupIndex, uint3 own_group : SV_GroupID)\n"
    "#define KERNEL1(name, lanes, a) SLOT(a, 0) KERNEL(name, lanes)\n"
    "#define KERNEL2(name, lanes, a, b) SLOT(a, 0) SLOT(b, 1) KERNEL(name, lanes)\n"
    "#define TILE(name, count) groupshared uint name[count];\n"
    "#define OWN_TILE(name, count)\n"
    "#define GET(a, i) read(a##_object, a##_at(i))\n"
    "#define PUT(a, i, value) a##_object.Store(a##_at(i), value)\n"
    "#define ADD(a, i, value) add(a##_object, a##_at(i), value)\n"
    "#define LANE own_lane\n"
    "#define GROUP (first + own_group.y * 65535u + own_group.x)\n"
    "#define BARRIER GroupMemoryBarrierWithGroupSync()\n";

static const char *const languages[KAL_LANGUAGE_COUNT] = {
    [KAL_LANGUAGE_OPENCL] = OPENCL,
    [KAL_LANGUAGE_CUDA] = CUDA,
    [KAL_LANGUAGE_GLSL] = GLSL("#version 430\n"),
    [KAL_LANGUAGE_GLSL_ADDRESSES] = GLSL_ADDRESSES,
    [KAL_LANGUAGE_GLSL_POINTERS] = GLSL_POINTERS,
    [KAL_LANGUAGE_HLSL] = HLSL,
    [KAL_LANGUAGE_ESSL] = GLSL("#version 310 es\n"
                               "#define const // for what the compiler can compute\n"),
};

// --- the jobs; LANES and WORDS are JOB_LANES and a group's memory; arrays are called a and b --

static const struct {
    const char *name, *body;
    int lanes, slots;
    bool has_tile;
} jobs[JOB_COUNT] = {
    [JOB_SAXPY] = { "saxpy",
                    "KERNEL2(saxpy, LANES, a, b)\n"
                    "{\n"
                    "    const uint i = GROUP * LANES + LANE;\n"
                    "    PUT(b, i, GET(b, i) + 2u * GET(a, i));\n"
                    "}\n",
                    JOB_LANES, 2, false },
    [JOB_APPEND] = { "append",
                     "KERNEL2(append, 1, a, b)\n"
                     "{\n"
                     "    const uint at = GET(a, 0u) + 1u;\n"
                     "    PUT(a, 0u, at);\n"
                     "    PUT(a, at, GET(b, 0u));\n"
                     "}\n",
                     1, 2, false },
    [JOB_TALLY] = { "tally",
                    "KERNEL1(tally, 1, a)\n"
                    "{\n"
                    "    const uint group = GROUP;\n"
                    "    ADD(a, group, group + 1u);\n"
                    "}\n",
                    1, 1, false },
    [JOB_WHOLE] = { "whole",
                    "TILE(tile, WORDS)\n"
                    "KERNEL1(whole, LANES, a)\n"
                    "{\n"
                    "    OWN_TILE(tile, WORDS)\n"
                    "    const uint i = LANE;\n"
                    "    tile[i] = i;\n"
                    "    tile[WORDS - LANES + i] = 2u * i;\n"
                    "    BARRIER;\n"
                    "    PUT(a, GROUP * LANES + i, tile[LANES - 1u - i] +\n"
                    "        tile[WORDS - 1u - i]);\n"
                    "}\n",
                    JOB_LANES, 1, true },
    [JOB_BROKEN] = { "broken",
                     "KERNEL1(broken, 1, a)\n"
                     "{\n"
                     "    PUT(a, 0u, no_such_name);\n"
                     "}\n",
                     1, 1, false },
    [JOB_NAMELESS] = { "nameless", "void other() {}\n", 1, 1, false },
};

void job_write(struct job_text *out, const kallima_device *device, enum job job)
{
    const struct kal_caps *caps = &device->caps;
    const bool is_launched = jobs[job].has_tile && caps->language == KAL_LANGUAGE_CUDA;
    const uint32_t all = (1u << jobs[job].slots) - 1;

    snprintf(out->characters, sizeof out->characters,
             "%s#define LANES %du\n#define WORDS %lluu\n%s", languages[caps->language],
             (int)JOB_LANES, (unsigned long long)caps->group_bytes / 4, jobs[job].body);
    out->text = (struct kal_kernel_text){
        .name = jobs[job].name,
        .text = out->characters,
        .lanes = jobs[job].lanes,
        .cluster = 1,
        .group_bytes = is_launched ? caps->group_bytes : 0,
        .slots = jobs[job].slots,
        .named = all,
        .written = all,
    };
}

kallima_device_options job_options(struct counting *counting)
{
    return (kallima_device_options){ .allocator = counting_allocator(counting) };
}

kallima_device *job_open(const char *selector, struct counting *counting)
{
    const kallima_device_options options = job_options(counting);
    kallima_device *device = NULL;
    if (kallima_device_open(&device, selector, &options) != KALLIMA_OK)
        fail_msg("%s", kallima_last_error());
    return device;
}

struct kal_device_kernel *job_compile_text(kallima_device *device,
                                           const struct kal_kernel_text *text)
{
    struct kal_device_kernel *kernel = NULL;
    if (device->ops->kernel_create(&kernel, device, text, NULL, NULL) != KALLIMA_OK)
        fail_msg("%s", kallima_last_error());
    return kernel;
}

struct kal_device_kernel *job_compile(kallima_device *device, enum job job)
{
    struct job_text text;
    job_write(&text, device, job);
    return job_compile_text(device, &text.text);
}

kallima_status job_try(kallima_device *device, const struct kal_kernel_text *text,
                       const struct kal_binary *binary)
{
    struct kal_device_kernel *kernel = NULL;
    const kallima_status status =
        device->ops->kernel_create(&kernel, device, text, binary, NULL);
    ROW_CHECK((status == KALLIMA_OK) == (kernel != NULL));
    if (kernel)
        device->ops->kernel_destroy(kernel);
    return status;
}

kallima_buffer *job_upload(kallima_device *device, const void *data, uint64_t bytes)
{
    kallima_buffer *buffer = NULL;
    if (kallima_buffer_create(&buffer, device, bytes) != KALLIMA_OK ||
        kallima_buffer_write(buffer, 0, data, bytes) != KALLIMA_OK)
        fail_msg("%s", kallima_last_error());
    return buffer;
}

struct kal_memory job_at(const kallima_buffer *buffer, uint64_t bytes)
{
    return (struct kal_memory){ buffer->memory.object, buffer->memory.offset + bytes };
}

kallima_status job_run(const struct kal_device_kernel *kernel, struct kal_memory first,
                       struct kal_memory second, uint64_t groups)
{
    const struct kal_work work = { .kernel = kernel,
                                   .groups = groups,
                                   .slot = { first, second } };
    return kernel->device->ops->enqueue(kernel->device, &work, 1, NULL);
}

void job_ramp(uint32_t *x, int count, uint32_t slope)
{
    for (int i = 0; i < count; i++)
        x[i] = slope * (uint32_t)i;
}

// --- checks ----------------------------------------------------------------------------------

// y[skip + i] += 2 x[skip + 100 + i], for 500
static void check_offset(const struct kal_device_kernel *kernel, int skip)
{
    kallima_device *device = kernel->device;
    uint32_t x[JOB_NUMBERS], y[JOB_NUMBERS];

    job_ramp(x, JOB_NUMBERS, 1);
    job_ramp(y, JOB_NUMBERS, 1000);
    kallima_buffer *a = job_upload(device, x, sizeof x);
    kallima_buffer *b = job_upload(device, y, sizeof y);
    ROW_CHECK(job_run(kernel, job_at(a, 4 * (uint64_t)skip + 400),
                      job_at(b, 4 * (uint64_t)skip), 500 / JOB_LANES) == KALLIMA_OK);
    ROW_CHECK(kallima_buffer_read(b, 0, y, sizeof y) == KALLIMA_OK);
    for (int i = 0; i < JOB_NUMBERS; i++) {
        const bool is_in = i >= skip && i < skip + 500;
        ROW_CHECK(y[i] == 1000 * (uint32_t)i + (is_in ? 2 * (uint32_t)(i + 100) : 0));
    }
    kallima_buffer_destroy(&a);
    kallima_buffer_destroy(&b);
}

// At most of these many devices let no array begin.
void job_check_offsets(kallima_device *device)
{
    struct kal_device_kernel *kernel = job_compile(device, JOB_SAXPY);
    for (int skip = 197; skip < 203; skip++)
        check_offset(kernel, skip);
    device->ops->kernel_destroy(kernel);
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

void job_check_callers(kallima_device *device)
{
    static uint32_t list[1 + CALLERS * CALLS * RUN];
    static const uint32_t numbers[CALLERS] = { 0, 1 };
    struct caller caller[CALLERS];
    int seen[CALLERS] = { 0 };
    struct kal_device_kernel *kernel = job_compile(device, JOB_APPEND);

    memset(list, 0, sizeof list);
    kallima_buffer *a = job_upload(device, list, sizeof list);
    kallima_buffer *b = job_upload(device, numbers, sizeof numbers);
    for (int i = 0; i < CALLERS; i++) {
        caller[i] = (struct caller){ .kernel = kernel,
                                     .list = job_at(a, 0),
                                     .number = job_at(b, 4 * (uint64_t)i) };
        pthread_create(&caller[i].thread, NULL, call, &caller[i]);
    }
    for (int i = 0; i < CALLERS; i++) {
        pthread_join(caller[i].thread, NULL);
        ROW_CHECK(caller[i].failures == 0);
    }
    ROW_CHECK(kallima_buffer_read(a, 0, list, sizeof list) == KALLIMA_OK);
    ROW_CHECK(list[0] == CALLERS * CALLS * RUN);
    for (int i = 0; i < CALLERS * CALLS * RUN; i++) {
        const uint32_t who = list[1 + i];
        ROW_CHECK(who == list[1 + i / RUN * RUN] && who < CALLERS);
        seen[who != 0]++;
    }
    ROW_CHECK(seen[0] == seen[1]);
    device->ops->kernel_destroy(kernel);
    kallima_buffer_destroy(&a);
    kallima_buffer_destroy(&b);
}

void job_check_largest(const char *selector, uint64_t (*most)(const kallima_device *))
{
    struct counting counting = { .live = 0 };
    kallima_device *device = job_open(selector, &counting);
    const uint64_t bytes = most(device);
    kallima_buffer *buffer = NULL;
    char number[32];

    ROW_CHECK(kallima_buffer_create(&buffer, device, bytes + 1) == KALLIMA_E_MEMORY);
    ROW_CHECK(buffer == NULL);
    for (uint64_t i = 0; i < 2; i++) {
        snprintf(number, sizeof number, " %llu", (unsigned long long)(bytes + i));
        ROW_CHECK(strstr(kallima_last_error(), number));
    }
    kallima_device_close(&device);
    ROW_CHECK(counting.live == 0);
}

void job_check_no_facts(const char *selector)
{
    struct counting counting = { .live = 0 };
    kallima_device *device = job_open(selector, &counting);
    struct kal_device_kernel *kernel = job_compile(device, JOB_SAXPY);
    struct kal_kernel_facts facts;

    device->ops->kernel_describe(kernel, &facts);
    ROW_CHECK(facts.group_bytes == -1 && facts.registers == -1);
    device->ops->kernel_destroy(kernel);
    kallima_device_close(&device);
}

static bool survive(const char *selector, job_opener *open, struct counting *counting)
{
    const kallima_device_options o = job_options(counting);
    kallima_device *device = NULL;
    kallima_buffer *buffer = NULL;
    kallima_timer *timer = NULL;
    struct kal_device_kernel *kernel = NULL;
    struct kal_binary made = { NULL, 0 };
    struct job_text text;

    kallima_status status = open(&device, selector, &o);
    if (status == KALLIMA_OK)
        status = kallima_buffer_create(&buffer, device, 64);
    if (status == KALLIMA_OK)
        status = kallima_timer_create(&timer, device);
    if (status == KALLIMA_OK) {
        job_write(&text, device, JOB_SAXPY);
        status = device->ops->kernel_create(&kernel, device, &text.text, NULL, &made);
    }
    ROW_CHECK(status == KALLIMA_OK || status == KALLIMA_E_MEMORY);
    if (kernel)
        device->ops->kernel_destroy(kernel);
    if (device)
        kal_free(&device->host, made.data);
    kallima_timer_destroy(&timer);
    kallima_buffer_destroy(&buffer);
    kallima_device_close(&device);
    return status != KALLIMA_E_MEMORY;
}

void job_check_exhaustion(const char *selector, job_opener *open)
{
    bool is_done = false;
    for (long long k = 1; !is_done; k++) {
        struct counting counting = { .fail_at = k };
        is_done = survive(selector, open, &counting);
        ROW_CHECK(counting.live == 0);
    }
}

void job_each_device(const char *api, job_look *check)
{
    kallima_device_info infos[80], info;
    int32_t count = 0, found = 0;

    ROW_CHECK(kallima_device_list(infos, 80, &count) == KALLIMA_OK);
    for (int i = 0; i < count && i < 80; i++) {
        char selector[32];
        if (strncmp(infos[i].selector, api, strlen(api)) != 0)
            continue;
        snprintf(selector, sizeof selector, "%s:%d", api, found++);
        ROW_CHECK(strcmp(infos[i].selector, selector) == 0);
        kallima_device *device = NULL;
        ROW_CHECK(kallima_device_open(&device, selector, NULL) == KALLIMA_OK);
        ROW_CHECK(kallima_device_get_info(device, &info) == KALLIMA_OK);
        ROW_CHECK(memcmp(&info, &infos[i], sizeof info) == 0);
        check(device, &info);
        kallima_device_close(&device);
    }
    ROW_CHECK(found > 0);
}
