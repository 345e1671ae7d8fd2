// SPDX-License-Identifier: MIT
// The CUDA device on a driver that is imagined (device/fake_libcuda.c): what it asks of the
// driver, what it refuses, and that whatever fails nothing is left behind.
#include <elf.h>
#include <kallima/interop/cuda.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../counting.h"
#include "../device/fake_libcuda.h"
#include "../rows.h"
#include "device/cuda/cuda.h"
#include "device/cuda/nvrtc.h"

static char ptx[] = "// PTX";
static const struct kal_binary binary = { ptx, sizeof ptx };
static const struct kal_kernel_text plain = {
    .name = "plain", .text = "", .lanes = 256, .cluster = 1, .group_bytes = 0, .slots = 3
};
static const struct kal_kernel_text clustered = {
    .name = "clustered", .lanes = 512, .cluster = 16, .group_bytes = 200000, .slots = 2
};

static struct counting counting;

static kallima_device *open_device(void)
{
    const kallima_device_options options = { .allocator = counting_allocator(&counting) };
    kallima_device *device = NULL;
    fake_cuda_reset();
    ROW_CHECK(kallima_device_open(&device, "cuda:1", &options) == KALLIMA_OK);
    return device;
}

static bool nothing_lives(void)
{
    return fake_cuda.buffers == 0 && fake_cuda.events == 0 && fake_cuda.streams == 0 &&
           fake_cuda.modules == 0 && fake_cuda.retained == 0 && fake_cuda_depth() == 0 &&
           counting.live == 0 && counting.damaged == 0;
}

static bool says(const char *word)
{
    return strstr(kallima_last_error(), word) != NULL;
}

static void devices_are_listed(void **state)
{
    kallima_device_info infos[8];
    int32_t count = 0;

    (void)state;
    fake_cuda_reset();
    ROW_CHECK(kallima_device_list(infos, 8, &count) == KALLIMA_OK && count >= 2);
    for (int i = 0; i < 2; i++) {
        char selector[32], name[64];
        snprintf(selector, sizeof selector, "cuda:%d", i);
        snprintf(name, sizeof name, "Imagined GPU %d", i);
        ROW_CHECK(strcmp(infos[i].selector, selector) == 0);
        ROW_CHECK(strcmp(infos[i].name, name) == 0);
        ROW_CHECK(strcmp(infos[i].driver, "CUDA 13.2, sm_90") == 0);
        ROW_CHECK(!infos[i].is_software && infos[i].has_f64 && infos[i].lanes_f32 == 32);
        ROW_CHECK(infos[i].memory_bytes == (uint64_t)141 << 30);
    }
    fake_cuda.devices = 0;
    ROW_CHECK(!kal_cuda_device_ops.find(0, &infos[0]));
    kallima_device *device = NULL;
    ROW_CHECK(kallima_device_open(&device, "cuda:0", NULL) == KALLIMA_E_ABSENT &&
              !device);
    fake_cuda_reset();
    ROW_CHECK(kallima_device_open(&device, "cuda:2", NULL) == KALLIMA_E_ABSENT &&
              !device);
    ROWS_FINISH();
}

// Without the compiler a GPU must be named.
static void best_device_has_a_compiler(void **state)
{
    (void)state;
    fake_cuda_reset();
    unsetenv("KALLIMA_DEVICE");
    kallima_device *device = NULL;
    kallima_device_info info;
    ROW_CHECK(kallima_device_open(&device, NULL, NULL) == KALLIMA_OK);
    ROW_CHECK(kallima_device_get_info(device, &info) == KALLIMA_OK);
    ROW_CHECK((strncmp(info.selector, "cuda", 4) == 0) ==
              (kal_cuda_nvrtc_find() != NULL));
    kallima_device_close(&device);
    ROWS_FINISH();
}

static void limits_are_the_drivers(void **state)
{
    (void)state;
    kallima_device *device = open_device();
    const struct kal_caps *caps = &device->caps;
    kallima_device_info info;

    ROW_CHECK(caps->language == KAL_LANGUAGE_CUDA && caps->processors == 132);
    ROW_CHECK(caps->group_lanes == 1024 && caps->processor_lanes == 2048);
    ROW_CHECK(caps->group_bytes == 232448 && caps->processor_bytes == 233472);
    ROW_CHECK(caps->lane_registers == 255 && caps->lanes_f32 == 32);
    ROW_CHECK(caps->cluster_groups == 16 && caps->shared_bytes == 62914560);
    ROW_CHECK(caps->has_f64 && caps->has_nvidia_ptx && caps->has_forward_progress);
    ROW_CHECK(caps->memory_bytes == (uint64_t)141 << 30);
    ROW_CHECK(kallima_device_get_info(device, &info) == KALLIMA_OK);
    ROW_CHECK(strcmp(info.selector, "cuda:1") == 0);
    ROW_CHECK(fake_cuda.retained == 1 && fake_cuda.streams == 1);
    ROW_CHECK(fake_cuda_depth() == 0);
    kallima_device_close(&device);
    ROW_CHECK(nothing_lives());

    fake_cuda_reset();
    fake_cuda.major = 8;
    ROW_CHECK(kallima_device_open(&device, "cuda", NULL) == KALLIMA_OK);
    ROW_CHECK(device->caps.cluster_groups == 1);
    kallima_device_close(&device);
    ROWS_FINISH();
}

static void limits_can_be_lowered_only(void **state)
{
    static const struct {
        const char *bytes, *lanes, *groups;
        uint64_t group_bytes;
        int group_lanes, cluster_groups;
    } rows[] = {
        { "49152", "256", "8", 49152, 256, 8 },
        { "999999", "4096", "32", 232448, 1024, 16 },
        { "0", "", "none", 232448, 1024, 16 },
        { "-1", "-5", "1", 232448, 1024, 1 },
    };
    (void)state;
    for (size_t i = 0; i < KAL_COUNT(rows); i++) {
        setenv("KALLIMA_GROUP_BYTES", rows[i].bytes, 1);
        setenv("KALLIMA_GROUP_LANES", rows[i].lanes, 1);
        setenv("KALLIMA_CLUSTER_GROUPS", rows[i].groups, 1);
        kallima_device *device = open_device();
        ROW_CHECK(device->caps.group_bytes == rows[i].group_bytes);
        ROW_CHECK(device->caps.group_lanes == rows[i].group_lanes);
        ROW_CHECK(device->caps.cluster_groups == rows[i].cluster_groups);
        kallima_device_close(&device);
    }
    unsetenv("KALLIMA_GROUP_BYTES");
    unsetenv("KALLIMA_GROUP_LANES");
    unsetenv("KALLIMA_CLUSTER_GROUPS");
    ROW_CHECK(nothing_lives());
    ROWS_FINISH();
}

static void buffers_hold_what_is_written(void **state)
{
    unsigned char source[1000], target[1000];
    kallima_buffer *a = NULL, *b = NULL;

    (void)state;
    kallima_device *device = open_device();
    for (int i = 0; i < 1000; i++)
        source[i] = (unsigned char)(i * 7);
    ROW_CHECK(kallima_buffer_create(&a, device, 1000) == KALLIMA_OK);
    ROW_CHECK(kallima_buffer_create(&b, device, 2000) == KALLIMA_OK);
    ROW_CHECK(fake_cuda.buffers == 2);
    ROW_CHECK(kallima_buffer_write(a, 0, source, 1000) == KALLIMA_OK);
    ROW_CHECK(kallima_buffer_copy(b, 1000, a, 100, 900) == KALLIMA_OK);
    ROW_CHECK(kallima_buffer_read(b, 1000, target, 900) == KALLIMA_OK);
    ROW_CHECK(memcmp(source + 100, target, 900) == 0);
    ROW_CHECK(kallima_device_finish(device) == KALLIMA_OK);

    fake_cuda.is_capturing = true; // a copy on the device only enqueues
    ROW_CHECK(kallima_buffer_copy(b, 0, a, 0, 500) == KALLIMA_OK);
    ROW_CHECK(kallima_buffer_read(b, 0, target, 500) == KALLIMA_E_DEVICE);
    fake_cuda.is_capturing = false;
    kallima_device_close(&device);
    kallima_buffer_destroy(&a);
    kallima_buffer_destroy(&b);
    ROW_CHECK(nothing_lives());
    ROWS_FINISH();
}

static void memory_that_is_exhausted_is_said(void **state)
{
    kallima_buffer *buffer = NULL;

    (void)state;
    kallima_device *device = open_device();
    fake_cuda.fail_at = fake_cuda.calls + 2;
    fake_cuda.fail_with = CUDA_ERROR_OUT_OF_MEMORY;
    ROW_CHECK(kallima_buffer_create(&buffer, device, 12345) == KALLIMA_E_MEMORY);
    ROW_CHECK(!buffer && says("CUDA_ERROR_OUT_OF_MEMORY") && says("12345"));
    ROW_CHECK(strcmp(fake_cuda.failed, "cuMemAlloc_v2") == 0);
    kallima_device_close(&device);
    ROW_CHECK(nothing_lives());
    ROWS_FINISH();
}

static void timers_read_what_lies_between(void **state)
{
    kallima_timer *timer = NULL;
    double seconds = 0.0;

    (void)state;
    kallima_device *device = open_device();
    ROW_CHECK(kallima_timer_create(&timer, device) == KALLIMA_OK);
    ROW_CHECK(kallima_timer_read(timer, &seconds) == KALLIMA_E_DEVICE);
    ROW_CHECK(kallima_timer_start(timer) == KALLIMA_OK);
    ROW_CHECK(kallima_timer_read(timer, &seconds) == KALLIMA_E_DEVICE);
    ROW_CHECK(kallima_timer_stop(timer) == KALLIMA_OK);
    ROW_CHECK(kallima_timer_read(timer, &seconds) == KALLIMA_OK);
    ROW_CHECK(seconds > 0.00199 && seconds < 0.00201);
    ROW_CHECK(kallima_timer_start(timer) == KALLIMA_OK);
    ROW_CHECK(kallima_timer_read(timer, &seconds) == KALLIMA_E_DEVICE);
    kallima_timer_destroy(&timer);
    kallima_device_close(&device);
    ROW_CHECK(nothing_lives());
    ROWS_FINISH();
}

static struct kal_device_kernel *load(kallima_device *device,
                                      const struct kal_kernel_text *text)
{
    struct kal_device_kernel *kernel = NULL;
    ROW_CHECK(device->ops->kernel_create(&kernel, device, text, &binary, NULL) ==
              KALLIMA_OK);
    return kernel;
}

static void kernels_are_described(void **state)
{
    struct kal_kernel_facts facts;
    struct kal_device_kernel *kernel;

    (void)state;
    kallima_device *device = open_device();
    kernel = load(device, &plain);
    device->ops->kernel_describe(kernel, &facts);
    ROW_CHECK(facts.registers == 96 && facts.spill_bytes == 24);
    ROW_CHECK(facts.group_bytes == 512 && facts.groups_per_processor == 2);
    ROW_CHECK(fake_cuda.dynamic_bytes == 0 && fake_cuda.carveout == 0);
    ROW_CHECK(!fake_cuda.large_clusters);
    device->ops->kernel_destroy(kernel);

    kernel = load(device, &clustered); // eight clusters of sixteen on 132 processors
    device->ops->kernel_describe(kernel, &facts);
    ROW_CHECK(facts.group_bytes == 200512 && facts.groups_per_processor == 1);
    ROW_CHECK(fake_cuda.dynamic_bytes == 200000 && fake_cuda.large_clusters == 1);
    device->ops->kernel_destroy(kernel);
    kallima_device_close(&device);
    ROW_CHECK(nothing_lives());
    ROWS_FINISH();
}

// clang-format off
static const struct {
    struct kal_kernel_text text;
    int clusters, blocks, most_lanes, refused_bytes;
    kallima_status status;
    const char *word;
} unfit[] = {
    { { .name = "k", .lanes = 2048, .cluster = 1 }, 1, 1, 1024, 0, KALLIMA_E_UNSUPPORTED, "2048 lanes" },
    { { .name = "k", .lanes = 1024, .cluster = 1 }, 1, 1, 640, 0, KALLIMA_E_UNSUPPORTED, "640" },
    { { .name = "k", .lanes = 32, .cluster = 32 }, 1, 1, 1024, 0, KALLIMA_E_UNSUPPORTED, "32 groups" },
    { { .name = "k", .lanes = 32, .cluster = 16 }, 0, 1, 1024, 0, KALLIMA_E_UNSUPPORTED, "do not fit" },
    { { .name = "k", .lanes = 32, .cluster = 1 }, 1, 0, 1024, 0, KALLIMA_E_UNSUPPORTED, "do not fit" },
    { { .name = "k", .lanes = 32, .cluster = 1, .group_bytes = 300000 },
      1, 1, 1024, 0, KALLIMA_E_UNSUPPORTED, "300000" },
    { { .name = "k", .lanes = 32, .cluster = 1, .group_bytes = 232448 },
      1, 1, 1024, 232000, KALLIMA_E_UNSUPPORTED, "232448" },
    { { .name = "nothing", .lanes = 32, .cluster = 1 }, 1, 1, 1024, 0, KALLIMA_E_COMPILE, "nothing" },
};
// clang-format on

static void kernels_that_do_not_fit_are_refused(void **state)
{
    (void)state;
    kallima_device *device = open_device();
    for (size_t i = 0; i < KAL_COUNT(unfit); i++) {
        struct kal_device_kernel *kernel = (struct kal_device_kernel *)(void *)&counting;
        fake_cuda.clusters = unfit[i].clusters;
        fake_cuda.blocks = unfit[i].blocks;
        fake_cuda.most_lanes = unfit[i].most_lanes;
        fake_cuda.refused_bytes = unfit[i].refused_bytes;
        const kallima_status status =
            device->ops->kernel_create(&kernel, device, &unfit[i].text, &binary, NULL);
        if (status != unfit[i].status || kernel || !says(unfit[i].word))
            row_fail("row %zu: %s: %s", i, kallima_status_name(status),
                     kallima_last_error());
        row_ran();
        ROW_CHECK(fake_cuda.modules == 0 && fake_cuda_depth() == 0);
    }
    kallima_device_close(&device);
    ROW_CHECK(nothing_lives());
    ROWS_FINISH();
}

static bool accepts(kallima_device *device, const void *data, uint64_t bytes)
{
    const struct kal_binary candidate = { (void *)data, bytes };
    struct kal_device_kernel *kernel = NULL;
    const kallima_status status =
        device->ops->kernel_create(&kernel, device, &plain, &candidate, NULL);
    if (status == KALLIMA_OK)
        device->ops->kernel_destroy(kernel);
    else
        ROW_CHECK(status == KALLIMA_E_COMPILE && !kernel);
    return status == KALLIMA_OK;
}

// An ELF file of one section of 40 bytes, as far as its frame goes.
struct frame {
    Elf64_Ehdr header;
    unsigned char content[40];
    Elf64_Shdr section;
};

static void damaged_binaries_are_refused(void **state)
{
    struct frame frame = {
        .header.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64 },
        .header.e_shoff = offsetof(struct frame, section),
        .header.e_shentsize = sizeof(Elf64_Shdr),
        .header.e_shnum = 1,
        .section.sh_type = SHT_PROGBITS,
        .section.sh_offset = offsetof(struct frame, content),
        .section.sh_size = sizeof frame.content,
    };
    (void)state;
    kallima_device *device = open_device();
    ROW_CHECK(accepts(device, &frame, sizeof frame));
    for (size_t bytes = 0; bytes < sizeof frame; bytes++) {
        if (bytes == 0 || ((const char *)&frame)[bytes - 1] != '\0' || bytes > 4)
            ROW_CHECK(!accepts(device, &frame, bytes));
    }
    frame.section.sh_size = 4000;
    ROW_CHECK(!accepts(device, &frame, sizeof frame));
    frame.section.sh_type = SHT_NOBITS;
    ROW_CHECK(accepts(device, &frame, sizeof frame));
    frame.header.e_shoff = UINT64_MAX;
    ROW_CHECK(!accepts(device, &frame, sizeof frame));
    ROW_CHECK(accepts(device, ptx, sizeof ptx));
    ROW_CHECK(!accepts(device, ptx, sizeof ptx - 1));
    ROW_CHECK(!accepts(device, NULL, 0));
    kallima_device_close(&device);
    ROW_CHECK(nothing_lives());
    ROWS_FINISH();
}

static void work_is_launched_as_it_is(void **state)
{
    static char memory[400];
    (void)state;
    kallima_device *device = open_device();
    struct kal_device_kernel *kernels[] = { load(device, &plain),
                                            load(device, &clustered) };
    const struct kal_work work[] = {
        { .kernel = kernels[0],
          .groups = 2147483647,
          .slot = { { memory, 0 }, { memory, 48 }, { NULL, 0 } } },
        { .slot = { { memory, 4 } }, .fill_bytes = 64 },
        { .kernel = kernels[1],
          .groups = 160,
          .slot = { { memory, 16 }, { memory, 8 } } },
        { .slot = { { memory, 101 } }, .fill_bytes = 7 },
        { .slot = { { memory, 0 } }, .fill_bytes = 0 },
        { .kernel = kernels[0], .groups = 0 },
    };
    const CUdeviceptr base = (CUdeviceptr)(uintptr_t)memory;

    memset(memory, 1, sizeof memory);
    fake_cuda.is_capturing = true; // nothing may wait or allocate
    fake_cuda.parameters = 2;
    const long calls = fake_cuda.calls;
    ROW_CHECK(device->ops->enqueue(device, work, KAL_COUNT(work), NULL) == KALLIMA_OK);
    ROW_CHECK(fake_cuda.calls == calls + 6); // push, four, pop
    ROW_CHECK(fake_cuda.notes == 4);
    const struct fake_note *note = fake_cuda.note;
    ROW_CHECK(note[0].groups == 2147483647 && note[0].lanes == 256);
    ROW_CHECK(note[0].group_bytes == 0 && note[0].cluster == 1);
    ROW_CHECK(note[0].parameters[0] == base && note[0].parameters[1] == base + 48);
    ROW_CHECK(note[1].fill_width == 4 && note[3].fill_width == 1);
    ROW_CHECK(memory[3] == 1 && memory[4] == 0 && memory[67] == 0 && memory[68] == 1);
    ROW_CHECK(memory[100] == 1 && memory[101] == 0 && memory[107] == 0 &&
              memory[108] == 1);
    ROW_CHECK(note[2].groups == 160 && note[2].lanes == 512 && note[2].cluster == 16);
    ROW_CHECK(note[2].group_bytes == 200000 && note[2].parameters[1] == base + 8);
    ROW_CHECK(note[0].stream && note[0].stream == note[3].stream);
    fake_cuda.is_capturing = false;
    for (int i = 0; i < 2; i++)
        device->ops->kernel_destroy(kernels[i]);
    kallima_device_close(&device);
    ROW_CHECK(nothing_lives());
    ROWS_FINISH();
}

static void work_beyond_the_limits_is_refused(void **state)
{
    (void)state;
    kallima_device *device = open_device();
    struct kal_device_kernel *kernel = load(device, &plain);
    const struct kal_work work[] = { { .kernel = kernel, .groups = 1 },
                                     { .kernel = kernel, .groups = (uint64_t)1 << 31 } };
    const struct kal_sync waits = { .wait_count = 1 }, reports = { .event = &kernel };
    const struct kal_sync neither = { 0 };

    fake_cuda.parameters = 3;
    ROW_CHECK(device->ops->enqueue(device, work, 2, NULL) == KALLIMA_E_UNSUPPORTED);
    ROW_CHECK(fake_cuda.notes == 0 && says("2147483648"));
    ROW_CHECK(device->ops->enqueue(device, work, 1, &waits) == KALLIMA_E_UNSUPPORTED);
    ROW_CHECK(device->ops->enqueue(device, work, 1, &reports) == KALLIMA_E_UNSUPPORTED);
    ROW_CHECK(fake_cuda.notes == 0);
    ROW_CHECK(device->ops->enqueue(device, work, 1, &neither) == KALLIMA_OK);
    ROW_CHECK(fake_cuda.notes == 1);
    device->ops->kernel_destroy(kernel);
    kallima_device_close(&device);
    ROW_CHECK(nothing_lives());
    ROWS_FINISH();
}

enum { THREADS = 4, TURNS = 50, LAUNCHES = 5 };

struct turn {
    kallima_device *device;
    const struct kal_device_kernel *kernel;
    uintptr_t number;
};

static void *take_turns(void *user)
{
    const struct turn *turn = user;
    struct kal_work work[LAUNCHES];
    for (int i = 0; i < LAUNCHES; i++)
        work[i] = (struct kal_work){ .kernel = turn->kernel,
                                     .groups = (uint64_t)i + 1,
                                     .slot = { { NULL, turn->number } } };
    for (int i = 0; i < TURNS; i++) {
        if (turn->device->ops->enqueue(turn->device, work, LAUNCHES, NULL))
            return user;
    }
    return NULL;
}

static void threads_do_not_mix(void **state)
{
    struct turn turns[THREADS];
    pthread_t threads[THREADS];

    (void)state;
    kallima_device *device = open_device();
    struct kal_device_kernel *kernel = load(device, &plain);
    fake_cuda.parameters = 1;
    for (int i = 0; i < THREADS; i++) {
        turns[i] = (struct turn){ device, kernel, (uintptr_t)i };
        ROW_CHECK(pthread_create(&threads[i], NULL, take_turns, &turns[i]) == 0);
    }
    for (int i = 0; i < THREADS; i++) {
        void *failed = &turns;
        ROW_CHECK(pthread_join(threads[i], &failed) == 0 && !failed);
    }
    ROW_CHECK(fake_cuda.notes == THREADS * TURNS * LAUNCHES);
    for (int i = 0; i < fake_cuda.notes; i++) {
        const struct fake_note *note = &fake_cuda.note[i];
        ROW_CHECK(note->groups == (unsigned)(i % LAUNCHES + 1));
        ROW_CHECK(note->parameters[0] ==
                  fake_cuda.note[i / LAUNCHES * LAUNCHES].parameters[0]);
    }
    device->ops->kernel_destroy(kernel);
    kallima_device_close(&device);
    ROW_CHECK(nothing_lives());
    ROWS_FINISH();
}

static void contexts_are_adopted(void **state)
{
    const kallima_device_options options = { .allocator = counting_allocator(&counting) };
    kallima_device *device = NULL;
    kallima_device_info info;
    kallima_buffer *buffer = NULL, *wrapped = NULL;
    static char memory[64] __attribute__((aligned(16)));
    const unsigned long long address = (uintptr_t)memory;
    char text[6];

    (void)state;
    fake_cuda_reset();
    ROW_CHECK(kallima_cuda_adopt(&device, fake_cuda_context(), fake_cuda_stream(0),
                                 &options) == KALLIMA_OK);
    ROW_CHECK(kallima_device_get_info(device, &info) == KALLIMA_OK);
    ROW_CHECK(strcmp(info.selector, "cuda:1") == 0);
    ROW_CHECK(fake_cuda.retained == 0 && fake_cuda.streams == 0);
    ROW_CHECK(kallima_cuda_wrap(&wrapped, device, address, 64) == KALLIMA_OK);
    ROW_CHECK(kallima_buffer_create(&buffer, device, 64) == KALLIMA_OK);
    ROW_CHECK(kallima_buffer_write(buffer, 10, "hello", 6) == KALLIMA_OK);
    ROW_CHECK(kallima_buffer_copy(wrapped, 20, buffer, 10, 6) == KALLIMA_OK);
    ROW_CHECK(strcmp(memory + 20, "hello") == 0);
    ROW_CHECK(kallima_buffer_read(wrapped, 20, text, 6) == KALLIMA_OK);
    ROW_CHECK(strcmp(text, "hello") == 0);

    struct kal_device_kernel *kernel = load(device, &plain);
    const struct kal_work work = { .kernel = kernel, .groups = 1 };
    ROW_CHECK(device->ops->enqueue(device, &work, 1, NULL) == KALLIMA_OK);
    ROW_CHECK(fake_cuda.note[0].stream == fake_cuda_stream(0));
    device->ops->kernel_destroy(kernel);
    kallima_device_close(&device);
    kallima_buffer_destroy(&wrapped);
    kallima_buffer_destroy(&buffer);
    ROW_CHECK(nothing_lives());

    ROW_CHECK(kallima_cuda_adopt(&device, fake_cuda_context(), NULL, NULL) == KALLIMA_OK);
    kallima_device_close(&device);
    ROW_CHECK(nothing_lives());
    ROWS_FINISH();
}

static void release_nothing(void *user, void *memory)
{
    (void)user;
    (void)memory;
}

static void adopting_nonsense_is_refused(void **state)
{
    kallima_device *device = (kallima_device *)(void *)&counting, *other = NULL;
    kallima_buffer *buffer = (kallima_buffer *)(void *)&counting;
    const kallima_device_options half = { .allocator.release = release_nothing };

    (void)state;
    fake_cuda_reset();
    ROW_CHECK(kallima_cuda_adopt(NULL, fake_cuda_context(), NULL, NULL) ==
              KALLIMA_E_ARGUMENT);
    ROW_CHECK(kallima_cuda_adopt(&device, NULL, NULL, NULL) == KALLIMA_E_ARGUMENT);
    ROW_CHECK(!device);
    ROW_CHECK(kallima_cuda_adopt(&device, fake_cuda_context(), fake_cuda_stream(1),
                                 NULL) == KALLIMA_E_ARGUMENT);
    ROW_CHECK(!device && says("another context"));
    ROW_CHECK(kallima_cuda_adopt(&device, fake_cuda_context(), NULL, &half) ==
              KALLIMA_E_ARGUMENT);
    fake_cuda.devices = 0;
    ROW_CHECK(kallima_cuda_adopt(&device, fake_cuda_context(), NULL, NULL) ==
              KALLIMA_E_ABSENT);

    device = open_device();
    ROW_CHECK(kallima_device_open(&other, "null", NULL) == KALLIMA_OK);
    ROW_CHECK(kallima_cuda_wrap(NULL, device, 4096, 64) == KALLIMA_E_ARGUMENT);
    ROW_CHECK(kallima_cuda_wrap(&buffer, NULL, 4096, 64) == KALLIMA_E_ARGUMENT);
    ROW_CHECK(!buffer);
    ROW_CHECK(kallima_cuda_wrap(&buffer, device, 4104, 64) == KALLIMA_E_ARGUMENT);
    ROW_CHECK(says("0x1008"));
    ROW_CHECK(kallima_cuda_wrap(&buffer, device, 0, 64) == KALLIMA_E_ARGUMENT);
    ROW_CHECK(kallima_cuda_wrap(&buffer, device, 4096, 0) == KALLIMA_E_ARGUMENT);
    ROW_CHECK(kallima_cuda_wrap(&buffer, other, 4096, 64) == KALLIMA_E_ARGUMENT);
    ROW_CHECK(!buffer && says("null"));
    kallima_device_close(&other);
    kallima_device_close(&device);
    ROW_CHECK(nothing_lives());
    ROWS_FINISH();
}

// What a scenario makes; all of it may be half made.
struct made {
    kallima_device *device, *adopted;
    kallima_buffer *buffer, *other;
    kallima_timer *timer;
    struct kal_device_kernel *kernels[2];
};

static kallima_status use_memory(struct made *m)
{
    char bytes[64] = "bytes";
    double seconds;
    KAL_TRY(kallima_buffer_create(&m->buffer, m->device, 64));
    KAL_TRY(kallima_buffer_create(&m->other, m->adopted, 64));
    KAL_TRY(kallima_buffer_write(m->buffer, 0, bytes, 64));
    KAL_TRY(kallima_timer_create(&m->timer, m->device));
    KAL_TRY(kallima_timer_start(m->timer));
    KAL_TRY(kallima_buffer_copy(m->buffer, 0, m->buffer, 32, 32));
    KAL_TRY(kallima_timer_stop(m->timer));
    KAL_TRY(kallima_timer_read(m->timer, &seconds));
    KAL_TRY(kallima_buffer_read(m->buffer, 0, bytes, 64));
    return kallima_device_finish(m->device);
}

static kallima_status use_all(struct made *m)
{
    const kallima_device_options options = { .allocator = counting_allocator(&counting) };
    KAL_TRY(kallima_device_open(&m->device, "cuda:1", &options));
    KAL_TRY(kallima_cuda_adopt(&m->adopted, fake_cuda_context(), fake_cuda_stream(0),
                               &options));
    KAL_TRY(use_memory(m));
    const struct kal_device_ops *ops = m->device->ops;
    KAL_TRY(ops->kernel_create(&m->kernels[0], m->device, &plain, &binary, NULL));
    KAL_TRY(ops->kernel_create(&m->kernels[1], m->device, &clustered, &binary, NULL));
    const struct kal_work work[] = {
        { .kernel = m->kernels[0], .groups = 4 },
        { .slot = { m->buffer->memory }, .fill_bytes = 64 },
        { .kernel = m->kernels[1], .groups = 16 },
    };
    return ops->enqueue(m->device, work, KAL_COUNT(work), NULL);
}

// Every error is said; the objects that failed are NULL; nothing else is disturbed.
static void destroy_all(struct made *m)
{
    for (int i = 0; i < 2; i++) {
        if (m->kernels[i])
            m->device->ops->kernel_destroy(m->kernels[i]);
    }
    kallima_timer_destroy(&m->timer);
    kallima_buffer_destroy(&m->buffer);
    kallima_buffer_destroy(&m->other);
    kallima_device_close(&m->adopted);
    kallima_device_close(&m->device);
}

// A context that was not left would be found on the stack. Calls that cannot fail the whole
// (a context left, an error named, a device listed) end in success or another sentence.
static void every_call_may_fail(void **state)
{
    bool is_over = false;
    int failures = 0;

    (void)state;
    for (long k = 1; !is_over && k < 1000; k++) {
        struct made made = { 0 };
        fake_cuda_reset();
        fake_cuda.fail_at = k;
        fake_cuda.fail_with = CUDA_ERROR_LAUNCH_FAILED;
        const kallima_status status = use_all(&made);
        const bool has_named = says("CUDA_ERROR_LAUNCH_FAILED");
        const char *failed = fake_cuda.failed;
        if (status != KALLIMA_OK && status != KALLIMA_E_DEVICE &&
            status != KALLIMA_E_ABSENT)
            row_fail("call %ld, %s: %s", k, failed, kallima_status_name(status));
        if (status == KALLIMA_E_DEVICE && !has_named)
            row_fail("call %ld, %s: \"%s\"", k, failed, kallima_last_error());
        if (status == KALLIMA_OK && failed && strcmp(failed, "cuCtxPopCurrent_v2") != 0)
            row_fail("call %ld, %s: nothing said", k, failed);
        failures += status != KALLIMA_OK;
        is_over = !failed;
        fake_cuda.fail_at = 0;
        destroy_all(&made);
        row_ran();
        if (!nothing_lives())
            row_fail("call %ld, %s: something is left", k, failed ? failed : "none");
    }
    ROW_CHECK(is_over && failures > 40);
    ROWS_FINISH();
}

// Releases go on whatever the driver says.
static void releases_may_fail(void **state)
{
    (void)state;
    for (long k = 1; k < 40; k++) {
        struct made made = { 0 };
        fake_cuda_reset();
        ROW_CHECK(use_all(&made) == KALLIMA_OK);
        fake_cuda.fail_at = fake_cuda.calls + k;
        fake_cuda.fail_with = CUDA_ERROR_LAUNCH_FAILED;
        destroy_all(&made);
        // Where a context cannot be entered, what lives in it stays: it has died.
        if (fake_cuda.failed && strcmp(fake_cuda.failed, "cuCtxPushCurrent_v2") == 0)
            fake_cuda_bury();
        ROW_CHECK(nothing_lives());
    }
    ROWS_FINISH();
}

static void every_allocation_may_fail(void **state)
{
    kallima_status status = KALLIMA_E_MEMORY;

    (void)state;
    for (long long k = 1; status != KALLIMA_OK && k < 1000; k++) {
        struct made made = { 0 };
        fake_cuda_reset();
        counting.fail_at = counting.calls + k;
        status = use_all(&made);
        counting.fail_at = 0;
        ROW_CHECK(status == KALLIMA_OK || status == KALLIMA_E_MEMORY);
        destroy_all(&made);
        ROW_CHECK(nothing_lives());
    }
    ROW_CHECK(status == KALLIMA_OK);
    ROWS_FINISH();
}

static const struct kal_kernel_text source = {
    .name = "double_it",
    .text = "extern \"C\" __global__ void double_it(float *x)\n"
            "{ x[threadIdx.x] *= 2.0f; }\n",
    .lanes = 32,
    .cluster = 1,
    .slots = 1,
};

// With the real compiler, where there is one.
static void texts_are_compiled(void **state)
{
    struct kal_device_kernel *kernel = NULL;
    struct kal_binary made = { ptx, 1 };
    struct kal_kernel_text wrong = source;

    (void)state;
    kallima_device *device = open_device();
    const kallima_status status =
        device->ops->kernel_create(&kernel, device, &source, NULL, &made);
    if (status == KALLIMA_E_ABSENT) {
        ROW_CHECK(says("NVRTC") && !kernel && !made.data);
        kallima_device_close(&device);
        skip();
    }
    ROW_CHECK(status == KALLIMA_OK && made.bytes > 4);
    ROW_CHECK(memcmp(made.data, ELFMAG, SELFMAG) == 0);
    device->ops->kernel_destroy(kernel);
    ROW_CHECK(device->ops->kernel_create(&kernel, device, &source, &made, NULL) ==
              KALLIMA_OK);
    device->ops->kernel_destroy(kernel);
    for (uint64_t bytes = 0; bytes < made.bytes; bytes += made.bytes / 7)
        ROW_CHECK(!accepts(device, made.data, bytes));
    kal_free(&device->host, made.data);

    wrong.text = "extern \"C\" __global__ void double_it(flot *x) {}";
    ROW_CHECK(device->ops->kernel_create(&kernel, device, &wrong, NULL, &made) ==
              KALLIMA_E_COMPILE);
    ROW_CHECK(!kernel && !made.data && says("flot") && says("double_it"));
    kallima_device_close(&device);
    ROW_CHECK(nothing_lives());
    ROWS_FINISH();
}

// A device that the compiler does not know yet, and one that it knows no more.
static void strange_architectures_are_served(void **state)
{
    struct kal_device_kernel *kernel = NULL;
    struct kal_binary made;
    kallima_device *device = NULL;

    (void)state;
    fake_cuda_reset();
    fake_cuda.major = 99;
    ROW_CHECK(kallima_device_open(&device, "cuda:0", NULL) == KALLIMA_OK);
    const kallima_status status =
        device->ops->kernel_create(&kernel, device, &source, NULL, &made);
    if (status == KALLIMA_E_ABSENT) {
        kallima_device_close(&device);
        skip();
    }
    ROW_CHECK(status == KALLIMA_OK && strstr(made.data, ".entry double_it"));
    ROW_CHECK(((const char *)made.data)[made.bytes - 1] == '\0');
    kal_free(&device->host, made.data);
    device->ops->kernel_destroy(kernel);
    kallima_device_close(&device);

    fake_cuda.major = 2;
    ROW_CHECK(kallima_device_open(&device, "cuda:0", NULL) == KALLIMA_OK);
    ROW_CHECK(device->ops->kernel_create(&kernel, device, &source, NULL, NULL) ==
              KALLIMA_E_UNSUPPORTED);
    ROW_CHECK(!kernel && says("sm_20"));
    kallima_device_close(&device);
    ROW_CHECK(nothing_lives());
    ROWS_FINISH();
}

static void keys_name_all_that_counts(void **state)
{
    char key[300] = "before: ", cut[20] = "x";
    (void)state;
    kallima_device *device = open_device();
    device->ops->kernel_key(device, key, sizeof key);
    ROW_CHECK(strncmp(key, "before: ", 8) == 0 && strstr(key, "Imagined GPU 1"));
    ROW_CHECK(strstr(key, "sm_90") && strstr(key, "13020") && strstr(key, "NVRTC"));
    device->ops->kernel_key(device, cut, sizeof cut);
    ROW_CHECK(strlen(cut) == sizeof cut - 1);
    kallima_device_close(&device);
    ROW_CHECK(nothing_lives());
    ROWS_FINISH();
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(devices_are_listed),
        cmocka_unit_test(best_device_has_a_compiler),
        cmocka_unit_test(limits_are_the_drivers),
        cmocka_unit_test(limits_can_be_lowered_only),
        cmocka_unit_test(buffers_hold_what_is_written),
        cmocka_unit_test(memory_that_is_exhausted_is_said),
        cmocka_unit_test(timers_read_what_lies_between),
        cmocka_unit_test(kernels_are_described),
        cmocka_unit_test(kernels_that_do_not_fit_are_refused),
        cmocka_unit_test(damaged_binaries_are_refused),
        cmocka_unit_test(work_is_launched_as_it_is),
        cmocka_unit_test(work_beyond_the_limits_is_refused),
        cmocka_unit_test(threads_do_not_mix),
        cmocka_unit_test(contexts_are_adopted),
        cmocka_unit_test(adopting_nonsense_is_refused),
        cmocka_unit_test(every_call_may_fail),
        cmocka_unit_test(releases_may_fail),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(texts_are_compiled),
        cmocka_unit_test(strange_architectures_are_served),
        cmocka_unit_test(keys_name_all_that_counts),
    };
    return cmocka_run_group_tests_name("cuda", tests, NULL, NULL);
}
