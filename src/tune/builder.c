// SPDX-License-Identifier: MIT
#define _DEFAULT_SOURCE // sysconf()
#include "tune/builder.h"

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

static kallima_status create_plan(const struct kal_builder *b, kallima_device *device,
                                  const char *text, kallima_plan **out)
{
    const kallima_plan_options options = { .recipe = text, .without_workspace = true };
    return kallima_plan_create(out, device, &b->desc, &options);
}

// Its passes, and what the device decided about them.
static void print_passes(const kallima_plan *plan, struct kal_text *text)
{
    const struct kal_device_ops *ops = plan->device->ops;
    kal_program_print(text, &plan->program);
    if (ops->program_describe)
        ops->program_describe(plan->built, text);
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
        print_passes(plan, &text);
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

// The lock is held.
static bool is_known(const struct kal_builder *b, const uint8_t digest[KAL_HASH_BYTES])
{
    for (int i = 0; i < b->known_count; i++) {
        if (memcmp(b->known[i], digest, KAL_HASH_BYTES) == 0)
            return true;
    }
    return false;
}

static bool ask_whether_known(struct kal_builder *b, const uint8_t digest[KAL_HASH_BYTES])
{
    pthread_mutex_lock(&b->lock);
    const bool known = is_known(b, digest);
    pthread_mutex_unlock(&b->lock);
    return known;
}

static struct kal_pass_list list_passes(const kallima_plan *plan)
{
    const int count = kal_kernel_program_launches(plan->built);
    struct kal_pass_list list = { .count = count <= KAL_MOST_PLAN_PASSES ? count : 0 };
    for (int i = 0; i < list.count; i++)
        list.key[i] = kal_kernel_program_launch_key(plan->built, i);
    return list;
}

// Are all its passes known to take too long together?
static bool ask_whether_slow(struct kal_builder *b, const struct kal_pass_list *list)
{
    int unknown;
    pthread_mutex_lock(&b->lock);
    const double seconds = kal_passes_sum(&b->passes, list, &unknown);
    const bool slow = list->count > 0 && unknown == 0 && b->most_seconds > 0.0 &&
                      seconds > b->most_seconds;
    pthread_mutex_unlock(&b->lock);
    return slow;
}

// What the twin would run, before the device's compiler is asked.
static kallima_status look_ahead(struct kal_builder *b, const char *text,
                                 struct kal_built *built)
{
    kallima_plan *plan = NULL;
    kallima_status status = create_plan(b, b->twin, text, &plan);
    if (!status)
        status = find_digest(plan, built->digest);
    if (!status) {
        built->passes = list_passes(plan);
        built->is_known = ask_whether_known(b, built->digest);
        built->is_slow = ask_whether_slow(b, &built->passes);
    }
    kallima_plan_destroy(&plan);
    return status;
}

static struct kal_built build(struct kal_builder *b, const char *text)
{
    struct kal_built built = { .plan = NULL };

    if (b->twin)
        built.status = look_ahead(b, text, &built);
    if (built.status || built.is_known || built.is_slow)
        return built;
    built.status = create_plan(b, b->device, text, &built.plan);
    if (!built.status && !b->twin) {
        built.status = find_digest(built.plan, built.digest);
        built.is_known = !built.status && ask_whether_known(b, built.digest);
    }
    if (built.status || built.is_known)
        kallima_plan_destroy(&built.plan);
    return built;
}

// --- ahead -------------------------------------------------------------------------------

// What should be built next; NULL: nothing is asked for. The lock is held.
static struct kal_build *find_next(struct kal_builder *b)
{
    struct kal_build *next = NULL;
    for (size_t i = 0; i < KAL_COUNT(b->build); i++) {
        struct kal_build *one = &b->build[i];
        if (one->state == KAL_BUILD_ASKED && (!next || one->turn < next->turn))
            next = one;
    }
    return next;
}

// Build what is asked for, the lock held but for that.
static void build_next(struct kal_builder *b, struct kal_build *one)
{
    one->state = KAL_BUILD_UNDER_WAY;
    pthread_mutex_unlock(&b->lock);
    struct kal_built built = build(b, one->text);
    pthread_mutex_lock(&b->lock);
    const bool is_wanted = one->state == KAL_BUILD_UNDER_WAY;
    if (!is_wanted)
        kallima_plan_destroy(&built.plan);
    one->built = built;
    one->state = is_wanted ? KAL_BUILD_DONE : KAL_BUILD_FREE;
    pthread_cond_broadcast(&b->done);
}

static void *run_thread(void *user)
{
    struct kal_builder *b = user;
    pthread_mutex_lock(&b->lock);
    while (!b->ends) {
        struct kal_build *next = find_next(b);
        if (next)
            build_next(b, next);
        else
            pthread_cond_wait(&b->asked, &b->lock);
    }
    pthread_mutex_unlock(&b->lock);
    return NULL;
}

// One processor is left for who times candidates.
static void start_threads(struct kal_builder *b)
{
    const int64_t spare = (int64_t)sysconf(_SC_NPROCESSORS_ONLN) - 1;
    while (b->threads < kal_min(spare, KAL_MOST_BUILDERS)) {
        if (pthread_create(&b->thread[b->threads], NULL, run_thread, b) != 0)
            return;
        b->threads++;
    }
}

static void end_threads(struct kal_builder *b)
{
    pthread_mutex_lock(&b->lock);
    b->ends = true;
    pthread_cond_broadcast(&b->asked);
    pthread_mutex_unlock(&b->lock);
    for (int i = 0; i < b->threads; i++)
        pthread_join(b->thread[i], NULL);
}

// Of those that somebody may want; NULL: it is not there. The lock is held.
static struct kal_build *find_build(struct kal_builder *b, const char *text)
{
    for (size_t i = 0; i < KAL_COUNT(b->build); i++) {
        struct kal_build *one = &b->build[i];
        if (one->state != KAL_BUILD_FREE && one->state != KAL_BUILD_UNWANTED &&
            strcmp(one->text, text) == 0)
            return one;
    }
    return NULL;
}

static struct kal_build *find_free(struct kal_builder *b)
{
    for (size_t i = 0; i < KAL_COUNT(b->build); i++) {
        if (b->build[i].state == KAL_BUILD_FREE)
            return &b->build[i];
    }
    return NULL;
}

// The lock is held.
static void drop(struct kal_build *one)
{
    static const enum kal_build_state becomes[] = {
        [KAL_BUILD_FREE] = KAL_BUILD_FREE,
        [KAL_BUILD_ASKED] = KAL_BUILD_FREE,
        [KAL_BUILD_UNDER_WAY] = KAL_BUILD_UNWANTED,
        [KAL_BUILD_UNWANTED] = KAL_BUILD_UNWANTED,
        [KAL_BUILD_DONE] = KAL_BUILD_FREE,
    };
    if (one->state == KAL_BUILD_DONE)
        kallima_plan_destroy(&one->built.plan);
    one->state = becomes[one->state];
}

// The lock is held.
static void ask(struct kal_builder *b, const char *const *text, int count)
{
    for (size_t i = 0; i < KAL_COUNT(b->build); i++)
        b->build[i].turn = -1;
    for (int i = 0; i < count; i++) {
        struct kal_build *one = find_build(b, text[i]);
        if (one)
            one->turn = i;
    }
    for (size_t i = 0; i < KAL_COUNT(b->build); i++) {
        if (b->build[i].turn < 0)
            drop(&b->build[i]);
    }
    for (int i = 0; i < count; i++) {
        struct kal_build *one = find_build(b, text[i]) ? NULL : find_free(b);
        if (one)
            *one = (struct kal_build){ KAL_BUILD_ASKED, text[i], i, { .plan = NULL } };
    }
    pthread_cond_broadcast(&b->asked);
}

// The first in turn that is built; -1: none is. The lock is held.
static int find_ready(const struct kal_builder *b)
{
    int ready = -1;
    for (size_t i = 0; i < KAL_COUNT(b->build); i++) {
        const struct kal_build *one = &b->build[i];
        if (one->state == KAL_BUILD_DONE && (ready < 0 || one->turn < ready))
            ready = one->turn;
    }
    return ready;
}

static int wait_for_one(struct kal_builder *b)
{
    int ready;
    while ((ready = find_ready(b)) < 0)
        pthread_cond_wait(&b->done, &b->lock);
    return ready;
}

int kal_builder_prepare(struct kal_builder *b, const char *const *text, int count)
{
    if (b->device->ops->compiles_aside && b->threads == 0)
        start_threads(b);
    if (b->threads == 0)
        return 0;
    pthread_mutex_lock(&b->lock);
    ask(b, text, (int)kal_min(count, KAL_MOST_AHEAD));
    const int ready = wait_for_one(b);
    pthread_mutex_unlock(&b->lock);
    return ready;
}

// --- taking ------------------------------------------------------------------------------

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

// What was built ahead, or is being built; false: nothing was.
static bool take_build(struct kal_builder *b, const char *text, struct kal_built *built)
{
    pthread_mutex_lock(&b->lock);
    struct kal_build *one = find_build(b, text);
    while (one && one->state == KAL_BUILD_UNDER_WAY)
        pthread_cond_wait(&b->done, &b->lock);
    const bool is_done = one && one->state == KAL_BUILD_DONE;
    if (is_done)
        *built = one->built;
    if (one)
        one->state = KAL_BUILD_FREE;
    pthread_mutex_unlock(&b->lock);
    return is_done;
}

struct kal_built kal_builder_take(struct kal_builder *b, const char *text)
{
    struct kal_built built;

    if (!take_build(b, text, &built))
        built = build(b, text);
    pthread_mutex_lock(&b->lock);
    // Of two that were built at once the second is known only now.
    built.is_known = built.is_known || (!built.status && is_known(b, built.digest));
    if (built.plan && !built.is_known)
        built.status = remember(b, built.digest);
    pthread_mutex_unlock(&b->lock);
    if (built.status || built.is_known)
        kallima_plan_destroy(&built.plan);
    return built;
}

kallima_status kal_builder_set_pass(struct kal_builder *b, struct kal_pass_time time)
{
    pthread_mutex_lock(&b->lock);
    const kallima_status status = kal_passes_set(&b->passes, time);
    pthread_mutex_unlock(&b->lock);
    return status;
}

kallima_status kal_builder_learn(struct kal_builder *b, const struct kal_pass_list *list,
                                 double seconds, double spread)
{
    pthread_mutex_lock(&b->lock);
    const kallima_status status = kal_passes_learn(&b->passes, list, seconds, spread);
    pthread_mutex_unlock(&b->lock);
    return status;
}

void kal_builder_scale(struct kal_builder *b, double factor)
{
    pthread_mutex_lock(&b->lock);
    for (int i = 0; i < b->passes.count; i++) {
        if (!b->passes.time[i].is_new)
            b->passes.time[i].seconds *= factor;
    }
    pthread_mutex_unlock(&b->lock);
}

void kal_builder_limit(struct kal_builder *b, double seconds)
{
    pthread_mutex_lock(&b->lock);
    b->most_seconds = seconds;
    pthread_mutex_unlock(&b->lock);
}

// --- life --------------------------------------------------------------------------------

kallima_status kal_builder_init(struct kal_builder *b, kallima_device *device,
                                const struct kal_problem *problem)
{
    *b = (struct kal_builder){ .device = device, .desc = kal_problem_describe(problem) };
    pthread_mutex_init(&b->lock, NULL);
    pthread_cond_init(&b->asked, NULL);
    pthread_cond_init(&b->done, NULL);
    kal_passes_init(&b->passes, &device->host);
    return device->ops->kernel_create ? open_twin(&b->twin, device) : KALLIMA_OK;
}

void kal_builder_clear(struct kal_builder *b)
{
    if (!b->device)
        return;
    end_threads(b);
    for (size_t i = 0; i < KAL_COUNT(b->build); i++)
        drop(&b->build[i]);
    kallima_device_close(&b->twin);
    kal_free(&b->device->host, b->known);
    kal_passes_clear(&b->passes);
    pthread_cond_destroy(&b->done);
    pthread_cond_destroy(&b->asked);
    pthread_mutex_destroy(&b->lock);
    *b = (struct kal_builder){ .device = NULL };
}
