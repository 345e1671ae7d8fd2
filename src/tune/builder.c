// SPDX-License-Identifier: MIT
#define _DEFAULT_SOURCE // sysconf()
#include "tune/builder.h"

#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "exec/program.h"

// The same limits, and no compiler.
static kallima_status open_twin(kallima_device **out, const kallima_device *device)
{
    const kallima_device_options options = { .allocator = device->host.allocator,
                                             .kernel_cache = "",
                                             .wisdom = "" };
    KAL_TRY(kallima_device_open(out, "nullcuda", &options));
    (*out)->caps = device->caps;
    return KALLIMA_OK;
}

kallima_status kal_builder_init(struct kal_builder *b, kallima_device *device,
                                const struct kal_problem *problem)
{
    *b = (struct kal_builder){ .device = device, .desc = kal_problem_describe(problem) };
    return device->ops->kernel_create ? open_twin(&b->twin, device) : KALLIMA_OK;
}

static void drop(struct kal_builder *b)
{
    for (int i = 0; i < KAL_MOST_AHEAD; i++) {
        b->ahead[i].text = NULL;
        kallima_plan_destroy(&b->ahead[i].built.plan);
    }
}

void kal_builder_clear(struct kal_builder *b)
{
    drop(b);
    kallima_device_close(&b->twin);
    if (b->device)
        kal_free(&b->device->host, b->known);
    *b = (struct kal_builder){ .device = NULL };
}

static kallima_status create_plan(const struct kal_builder *b, kallima_device *device,
                                  const char *text, kallima_plan **out)
{
    const kallima_plan_options options = { .recipe = text,
                                           .without_workspace = device == b->twin };
    return kallima_plan_create(out, device, &b->desc, &options);
}

// What a plan runs: its kernels and their groups, or its passes, in words.
static kallima_status find_digest(const kallima_plan *plan,
                                  uint8_t digest[KAL_HASH_BYTES])
{
    const bool is_host = kal_device_is_host(plan->device);
    const int64_t groups = is_host ? 0 : kal_kernel_program_groups(plan->built);
    struct kal_hash hash;
    struct kal_text text;

    kal_text_init(&text, &plan->device->host);
    if (is_host)
        kal_program_print(&text, &plan->program);
    else
        kal_kernel_program_print(plan->built, &text);
    const kallima_status status = text.status;
    if (!status) {
        kal_hash_init(&hash);
        kal_hash_add(&hash, &groups, sizeof groups);
        kal_hash_add(&hash, text.data, text.length);
        kal_hash_finish(&hash, digest);
    }
    kal_text_clear(&text);
    return status;
}

static bool is_known(const struct kal_builder *b, const uint8_t digest[KAL_HASH_BYTES])
{
    for (int i = 0; i < b->known_count; i++) {
        if (memcmp(b->known[i], digest, KAL_HASH_BYTES) == 0)
            return true;
    }
    return false;
}

// What the twin would run, before the device's compiler is asked.
static kallima_status look_ahead(const struct kal_builder *b, const char *text,
                                 struct kal_built *built)
{
    kallima_plan *plan = NULL;
    kallima_status status = create_plan(b, b->twin, text, &plan);
    if (!status)
        status = find_digest(plan, built->digest);
    built->is_known = !status && is_known(b, built->digest);
    kallima_plan_destroy(&plan);
    return status;
}

// Reads of the builder only what does not change while others do the same.
static struct kal_built build(const struct kal_builder *b, const char *text)
{
    struct kal_built built = { .plan = NULL };

    if (b->twin)
        built.status = look_ahead(b, text, &built);
    if (built.status || built.is_known)
        return built;
    built.status = create_plan(b, b->device, text, &built.plan);
    if (!built.status && !b->twin) {
        built.status = find_digest(built.plan, built.digest);
        built.is_known = !built.status && is_known(b, built.digest);
    }
    if (built.status || built.is_known)
        kallima_plan_destroy(&built.plan);
    return built;
}

// One candidate of several that are built at once.
struct job {
    struct kal_builder *builder;
    int place;
    pthread_t thread;
    bool is_running;
};

static void *run_job(void *user)
{
    const struct job *job = user;
    struct kal_builder *b = job->builder;
    b->ahead[job->place].built = build(b, b->ahead[job->place].text);
    return NULL;
}

void kal_builder_prepare(struct kal_builder *b, const char *const *text, int count)
{
    const int processors = (int)sysconf(_SC_NPROCESSORS_ONLN);
    struct job job[KAL_MOST_AHEAD];

    drop(b);
    if (!b->twin || processors < 2)
        return;
    count = (int)kal_min(count, kal_min(processors, KAL_MOST_AHEAD));
    for (int i = 0; i < count; i++) {
        job[i] = (struct job){ .builder = b, .place = i };
        b->ahead[i].text = text[i];
        job[i].is_running = pthread_create(&job[i].thread, NULL, run_job, &job[i]) == 0;
    }
    for (int i = 0; i < count; i++) {
        if (job[i].is_running)
            pthread_join(job[i].thread, NULL);
        else
            b->ahead[i].text = NULL;
    }
}

static kallima_status remember(struct kal_builder *b,
                               const uint8_t digest[KAL_HASH_BYTES])
{
    enum { FIRST_CAPACITY = 64 };

    if (b->known_count == b->known_capacity) {
        const int capacity = b->known_capacity ? 2 * b->known_capacity : FIRST_CAPACITY;
        void *memory;
        KAL_TRY(kal_alloc(&b->device->host, &memory, (uint64_t)capacity, KAL_HASH_BYTES));
        if (b->known_count)
            memcpy(memory, b->known, (size_t)b->known_count * KAL_HASH_BYTES);
        kal_free(&b->device->host, b->known);
        b->known = memory;
        b->known_capacity = capacity;
    }
    memcpy(b->known[b->known_count++], digest, KAL_HASH_BYTES);
    return KALLIMA_OK;
}

static struct kal_built find_ahead(struct kal_builder *b, const char *text)
{
    for (int i = 0; i < KAL_MOST_AHEAD; i++) {
        if (!b->ahead[i].text || strcmp(b->ahead[i].text, text) != 0)
            continue;
        const struct kal_built built = b->ahead[i].built;
        b->ahead[i].text = NULL;
        b->ahead[i].built.plan = NULL;
        return built;
    }
    return build(b, text);
}

struct kal_built kal_builder_take(struct kal_builder *b, const char *text)
{
    struct kal_built built = find_ahead(b, text);

    // Of two that were built at once the second is known only now.
    built.is_known = built.is_known || (!built.status && is_known(b, built.digest));
    if (!built.status && !built.is_known)
        built.status = remember(b, built.digest);
    if (built.status || built.is_known)
        kallima_plan_destroy(&built.plan);
    return built;
}
