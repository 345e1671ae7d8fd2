// SPDX-License-Identifier: MIT
// Which processor this is, and what it can do.
#include "device/cpu/cpu.h"

#include <omp.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#if defined __x86_64__
#include <cpuid.h>
#endif

// Plans are made for this much memory near a core, whatever the processor's cache is, so
// that one problem has one plan; 1 MiB is what Zen 4 has and half of Sapphire Rapids'.
static const uint64_t NEAR_BYTES = 1 << 20;

// Output of as many bytes drives the input from the caches, and takes their place in
// vain: less is copied faster through them. Many threads have more of them. Measured on
// one and two threads of a Zen 5 processor and on sixteen of a Xeon.
enum { FAR_BYTES_ALONE = 4000000 };

static uint64_t far_bytes(int threads)
{
    enum { FEW_THREADS = 6000000, THREAD_BYTES = 750000 };
    const uint64_t least = threads == 1 ? FAR_BYTES_ALONE : FEW_THREADS;
    return kal_max(least, (uint64_t)threads * THREAD_BYTES);
}

// A real line's mirrored step in place saves scratch, and walks through the output from
// both ends. Measured in November 2026: one thread of a Xeon takes 1.03 to 1.2 times as
// long so from 8 MB on, sixteen 0.94, one and two of a Zen 4 processor 0.95 and 0.89.
static uint64_t in_place_bytes(int threads, bool is_zen)
{
    enum { ONE_THREAD = 8000000 };
    return threads > 1 || is_zen ? UINT64_MAX : ONE_THREAD;
}

// Lines of two passes need no scratch if the second one works where the first one left
// them, which pays until they go past the caches, or face each other there, as real ones
// do on AMD's processors from 2 MiB on.
static uint64_t between_bytes(bool is_zen)
{
    enum { ZEN = 2 << 20 };
    return is_zen ? ZEN : FAR_BYTES_ALONE;
}

// The kernel knows what cores share; of a Zen 5 processor with 32 MiB sysconf() says 384,
// as glibc 2.36 has it.
static uint64_t shared_bytes(void)
{
    unsigned long kib = 0;
    FILE *file = fopen("/sys/devices/system/cpu/cpu0/cache/index3/size", "r");

    const bool is_read = file && fscanf(file, "%luK", &kib) == 1 && kib > 0;
    if (file)
        fclose(file);
    return is_read ? (uint64_t)kib << 10 : (uint64_t)32 << 20;
}

static bool always(void)
{
    return true;
}

#if defined __x86_64__
static bool has_avx2(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}

static bool has_avx512(void)
{
    return has_avx2() && __builtin_cpu_supports("avx512f") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}

static bool is_zen(void)
{
    return __builtin_cpu_is("amd") && has_avx2();
}

// AMD's family 25 that has registers of 64 bytes; Zen 3 has none.
static bool is_zen_4(void)
{
    return __builtin_cpu_is("amdfam19h") && has_avx512();
}

// AMD's family 26, of which gcc 12 does not know the name.
static bool is_zen_5(void)
{
    enum { BASE = 0xf, EXTENDED = 0xb };
    unsigned a = 0, b, c, d;
    return is_zen() && __get_cpuid(1, &a, &b, &c, &d) && (a >> 8 & 0xf) == BASE &&
           (a >> 20 & 0xff) == EXTENDED;
}
#else
static bool is_zen(void)
{
    return false;
}

static bool is_zen_4(void)
{
    return false;
}

static bool is_zen_5(void)
{
    return false;
}
#endif

// Least first; a device uses all levels up to the one it was opened with.
static const struct {
    const char *name;
    bool (*is_present)(void);
} levels[] = {
    { "scalar", always },
#if defined __x86_64__
    { "sse2", always },
    { "avx2", has_avx2 },
    { "avx512", has_avx512 },
#elif defined __aarch64__
    { "neon", always },
#endif
};

static int best_level(void)
{
    int best = 0;
    for (int i = 0; i < (int)KAL_COUNT(levels); i++) {
        if (levels[i].is_present() && kal_cpu_kernels_find(levels[i].name, false))
            best = i;
    }
    return best;
}

static void processor_name(char *name, size_t capacity)
{
#if defined __x86_64__
    unsigned brand[12] = { 0 };
    if ((unsigned)__get_cpuid_max(0x80000000u, NULL) >= 0x80000004u) {
        for (unsigned i = 0; i < 3; i++)
            __get_cpuid(0x80000002u + i, &brand[4 * i], &brand[4 * i + 1],
                        &brand[4 * i + 2], &brand[4 * i + 3]);
        snprintf(name, capacity, "%.48s", (const char *)brand);
        for (size_t i = strlen(name); i > 0 && name[i - 1] == ' '; i--)
            name[i - 1] = '\0';
        return;
    }
#endif
    snprintf(name, capacity, "CPU");
}

static void fill_info(kallima_device_info *info, int level, int threads)
{
    const struct cpu_kernels *kernels = kal_cpu_kernels_find(levels[level].name, false);
    const long pages = sysconf(_SC_PHYS_PAGES), page_bytes = sysconf(_SC_PAGESIZE);

    *info = (kallima_device_info){
        .has_f64 = 1,
        .threads = threads,
        .lanes_f32 = kernels->lanes,
        .memory_bytes =
            pages > 0 && page_bytes > 0 ? (uint64_t)pages * (uint64_t)page_bytes : 0,
    };
    snprintf(info->selector, sizeof info->selector, "cpu");
    processor_name(info->name, sizeof info->name);
    snprintf(info->driver, sizeof info->driver, "%s, OpenMP", levels[level].name);
}

static bool cpu_find(int index, kallima_device_info *info)
{
    if (index > 0)
        return false;
    fill_info(info, best_level(), omp_get_max_threads());
    return true;
}

static void cpu_describe(const kallima_device *base, kallima_device_info *info)
{
    *info = ((const struct cpu_device *)base)->info;
}

static kallima_status choose_level(const struct kal_host *host, const char *name,
                                   int *level)
{
    *level = best_level();
    if (!name)
        return KALLIMA_OK;
    for (int i = 0; i < (int)KAL_COUNT(levels); i++) {
        if (strcmp(levels[i].name, name) != 0 || !levels[i].is_present() ||
            !kal_cpu_kernels_find(name, false))
            continue;
        *level = i;
        return KALLIMA_OK;
    }
    static const char *const known[] = { "sse2", "avx2", "avx512", "neon" };
    for (size_t i = 0; i < KAL_COUNT(known); i++) {
        if (strcmp(known[i], name) == 0)
            return kal_fail(
                host, KALLIMA_E_UNSUPPORTED,
                "cpu: simd = \"%s\"; this processor lacks it, its best level is "
                "\"%s\"",
                name, levels[*level].name);
    }
    return kal_fail(host, KALLIMA_E_ARGUMENT,
                    "cpu: simd = \"%.40s\"; must be scalar, sse2, avx2, avx512 or neon",
                    name);
}

static kallima_status cpu_open(kallima_device **out, int index,
                               const struct kal_host *host,
                               const kallima_device_options *options)
{
    (void)index;
    enum { MAX_THREADS = 4096 };
    int level;
    void *object;

    if (options->threads < 0 || options->threads > MAX_THREADS)
        return kal_fail(host, KALLIMA_E_ARGUMENT,
                        "cpu: threads = %d; must be 1 to %d, or 0 for all",
                        options->threads, MAX_THREADS);
    KAL_TRY(choose_level(host, options->simd, &level));
    KAL_TRY(kal_alloc_object(host, &object, sizeof(struct cpu_device)));

    const int lanes = kal_cpu_kernels_find(levels[level].name, false)->lanes;
    struct cpu_device *device = object;
    device->base.ops = &kal_cpu_device_ops;
    device->base.host = *host;
    device->base.caps = (struct kal_caps){
        .has_f64 = true,
        .threads = options->threads ? options->threads : omp_get_max_threads(),
        .lanes_f32 = lanes,
        .halves_wide = lanes > KAL_LANES_OF_32_BYTES && is_zen_4(),
        .steps_are_dear = lanes > KAL_LANES_OF_32_BYTES && !is_zen(),
        .waits_for_stores = is_zen_4(),
        .near_bytes = NEAR_BYTES,
        .shared_bytes = shared_bytes(),
    };
    device->is_zen = is_zen();
    device->is_zen_5 = is_zen_5();
    device->base.caps.far_bytes = far_bytes(device->base.caps.threads);
    device->base.caps.in_place_bytes =
        in_place_bytes(device->base.caps.threads, device->is_zen);
    device->base.caps.between_bytes = between_bytes(device->is_zen);
    fill_info(&device->info, level, device->base.caps.threads);
    for (int i = 0; i <= level; i++) {
        for (int is_f64 = 0; is_f64 < 2; is_f64++)
            device->kernels[is_f64][device->level_count] =
                kal_cpu_kernels_find(levels[i].name, is_f64);
        device->base.caps.lane_counts |=
            (unsigned)device->kernels[false][device->level_count++]->lanes;
    }
    *out = &device->base;
    return KALLIMA_OK;
}

static void cpu_close(kallima_device *device)
{
    const struct kal_host host = device->host;
    kal_free(&host, device);
}

static kallima_status cpu_finish(kallima_device *device)
{
    (void)device;
    return KALLIMA_OK;
}

const struct kal_device_ops kal_cpu_device_ops = {
    .name = "cpu",
    .find = cpu_find,
    .open = cpu_open,
    .close = cpu_close,
    .describe = cpu_describe,
    .buffer_create = kal_host_buffer_create,
    .buffer_destroy = kal_host_buffer_destroy,
    .buffer_write = kal_host_buffer_write,
    .buffer_read = kal_host_buffer_read,
    .buffer_copy = kal_host_buffer_copy,
    .finish = cpu_finish,
    .timer_create = kal_host_timer_create,
    .timer_destroy = kal_host_timer_destroy,
    .timer_start = kal_host_timer_start,
    .timer_stop = kal_host_timer_stop,
    .timer_read = kal_host_timer_read,
    .program_create = kal_cpu_program_create,
    .program_destroy = kal_cpu_program_destroy,
    .program_describe = kal_cpu_program_describe,
    .program_run = kal_cpu_program_run,
};
