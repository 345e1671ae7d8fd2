// SPDX-License-Identifier: MIT
#include "exec/program.h"

#include "emit/kernel.h"
#include "exec/kernel_cache.h"
#include "kernel/kernel.h"

#include <stdio.h>
#include <string.h>

// A pass made ready.
struct built_kernel {
    struct kal_kernel *design;
    struct kal_device_kernel *object;
    bool is_shared; // an earlier one with the same text owns the object
    uint64_t hash;  // of the text
};

struct kernel_program {
    struct kal_device_program base;
    const struct kal_program *program;
    bool is_f64;
    int count;
    struct built_kernel *kernel; // in the arena of the plan
    int64_t root_count, map_count;
    kallima_buffer *roots, *map;
};

static const char *const language_names[KAL_LANGUAGE_COUNT] = {
    [KAL_LANGUAGE_OPENCL] = "opencl",
    [KAL_LANGUAGE_CUDA] = "cuda",
};

static const char *const entry_name = "kallima";

static bool is_same_table(const struct kal_table *a, const struct kal_table *b)
{
    return a->kind == b->kind && a->n == b->n && a->size == b->size &&
           a->radix == b->radix && a->powers == b->powers && a->shift == b->shift &&
           a->count == b->count && a->index == b->index && a->is_inverse == b->is_inverse;
}

static const struct kal_table *find_table(const struct kernel_program *p, int kernels,
                                          const struct kal_table *table)
{
    for (int i = 0; i < kernels; i++) {
        const struct kal_kernel *k = p->kernel[i].design;
        for (int j = 0; j < k->table_count; j++) {
            if (is_same_table(&k->table[j], table))
                return &k->table[j];
        }
    }
    return NULL;
}

// Give every table of kernel number `i` a place, that of an equal one if there is one.
static void place_tables(struct kernel_program *p, int i)
{
    struct kal_kernel *k = p->kernel[i].design;
    for (int j = 0; j < k->table_count; j++) {
        struct kal_table *table = &k->table[j];
        const struct kal_table *equal = find_table(p, i, table);
        int64_t *count = table->kind == KAL_TABLE_INDEX ? &p->map_count : &p->root_count;
        table->at = equal ? equal->at : *count;
        if (!equal)
            *count = kal_round_up(*count + table->count, 4);
    }
}

static kallima_status design(struct kernel_program *p, struct kal_arena *arena)
{
    const struct kal_caps *caps = &p->base.device->caps;
    for (int i = 0; i < p->count; i++) {
        KAL_TRY(kal_kernel_design(&p->kernel[i].design, arena, p->program->pass[i], caps,
                                  p->is_f64));
        place_tables(p, i);
    }
    return KALLIMA_OK;
}

static kallima_status fill_tables(const struct kernel_program *p, void *roots,
                                  int32_t *map)
{
    const struct kal_host *host = &p->base.device->host;
    for (int i = 0; i < p->count; i++) {
        const struct kal_kernel *k = p->kernel[i].design;
        for (int j = 0; j < k->table_count; j++) {
            const struct kal_table *table = &k->table[j];
            if (find_table(p, i, table))
                continue;
            if (table->kind == KAL_TABLE_INDEX)
                kal_table_fill_index(table, map + table->at);
            else
                KAL_TRY(kal_table_fill(table, host, p->is_f64,
                                       (char *)roots + table->at * (p->is_f64 ? 16 : 8)));
        }
    }
    return KALLIMA_OK;
}

static kallima_status upload(kallima_buffer **out, kallima_device *device,
                             const void *data, uint64_t bytes)
{
    if (bytes == 0)
        return KALLIMA_OK;
    KAL_TRY(kallima_buffer_create(out, device, bytes));
    return kallima_buffer_write(*out, 0, data, bytes);
}

static kallima_status upload_tables(struct kernel_program *p)
{
    kallima_device *device = p->base.device;
    const struct kal_host *host = &device->host;
    const uint64_t root_bytes = (uint64_t)p->root_count * (p->is_f64 ? 16 : 8);
    const uint64_t map_bytes = (uint64_t)p->map_count * sizeof(int32_t);
    void *memory;

    KAL_TRY(kal_alloc(host, &memory, root_bytes + map_bytes + 1, 1));
    memset(memory, 0, (size_t)(root_bytes + map_bytes));
    void *map = (char *)memory + root_bytes;
    kallima_status status = fill_tables(p, memory, map);
    if (!status)
        status = upload(&p->roots, device, memory, root_bytes);
    if (!status)
        status = upload(&p->map, device, map, map_bytes);
    kal_free(host, memory);
    return status;
}

static void print_kernel(const struct kernel_program *p, int i, struct kal_text *text)
{
    const enum kal_language language = p->base.device->caps.language;
    kal_emit_kernel(text, kal_dialect_find(language_names[language]), p->kernel[i].design,
                    entry_name);
}

static int slot_count(const struct kal_kernel *k)
{
    int count = 0;
    for (int i = 0; i < KAL_SLOT_COUNT; i++)
        count += kal_kernel_uses(k, i);
    return count;
}

// FNV-1a
static uint64_t hash_text(const char *text)
{
    uint64_t hash = 14695981039346656037u;
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * 1099511628211u;
    return hash;
}

// What a compiled kernel depends on beyond its text.
static void describe_key(kallima_device *device, const struct kal_kernel_text *source,
                         char *key, size_t capacity)
{
    const int length =
        snprintf(key, capacity, "lanes %d cluster %d bytes %llu ", source->lanes,
                 source->cluster, (unsigned long long)source->group_bytes);
    device->ops->kernel_key(device, key + length, capacity - (size_t)length);
}

// From the cache if it is there and the driver takes it, else compiled and kept.
static kallima_status create_kernel(struct kal_device_kernel **out,
                                    kallima_device *device,
                                    const struct kal_kernel_text *source)
{
    const struct kal_device_ops *ops = device->ops;
    const struct kal_host *host = &device->host;
    struct kal_binary kept, made = { NULL, 0 };
    char key[512];

    if (!device->kernel_cache)
        return ops->kernel_create(out, device, source, NULL, NULL);
    describe_key(device, source, key, sizeof key);
    KAL_TRY(kal_kernel_cache_load(host, device->kernel_cache, key, source->text, &kept));
    kallima_status status = KALLIMA_E_COMPILE;
    if (kept.data)
        status = ops->kernel_create(out, device, source, &kept, NULL);
    kal_free(host, kept.data);
    if (status != KALLIMA_E_COMPILE)
        return status;
    status = ops->kernel_create(out, device, source, NULL, &made);
    if (!status && made.data)
        kal_kernel_cache_store(host, device->kernel_cache, key, source->text, &made);
    kal_free(host, made.data);
    return status;
}

static kallima_status compile(struct kernel_program *p, int i, const char *text)
{
    struct built_kernel *built = &p->kernel[i];
    kallima_device *device = p->base.device;
    const struct kal_kernel_text source = {
        .name = entry_name,
        .text = text,
        .lanes = built->design->lanes,
        .cluster = 1,
        .group_bytes = device->caps.language == KAL_LANGUAGE_CUDA
                           ? (uint64_t)kal_kernel_group_bytes(built->design)
                           : 0,
        .slots = slot_count(built->design),
    };

    built->hash = hash_text(text);
    for (int j = 0; j < i; j++) {
        if (p->kernel[j].hash == built->hash) {
            built->object = p->kernel[j].object;
            built->is_shared = true;
            return KALLIMA_OK;
        }
    }
    return create_kernel(&built->object, device, &source);
}

static kallima_status build_kernels(struct kernel_program *p)
{
    for (int i = 0; i < p->count; i++) {
        struct kal_text text;
        kal_text_init(&text, &p->base.device->host);
        print_kernel(p, i, &text);
        const kallima_status status =
            text.status ? text.status : compile(p, i, text.data);
        kal_text_clear(&text);
        KAL_TRY(status);
    }
    return KALLIMA_OK;
}

static kallima_status build(struct kernel_program *p, struct kal_arena *arena)
{
    void *memory;
    KAL_TRY(kal_arena_take(arena, &memory, (uint64_t)p->count, sizeof *p->kernel));
    p->kernel = memory;
    KAL_TRY(design(p, arena));
    KAL_TRY(upload_tables(p));
    return build_kernels(p);
}

kallima_status kal_kernel_program_create(struct kal_device_program **out,
                                         kallima_device *device, struct kal_arena *arena,
                                         const struct kal_program *program,
                                         const struct kal_problem *problem)
{
    void *object;

    *out = NULL;
    KAL_TRY(kal_alloc_object(&device->host, &object, sizeof(struct kernel_program)));
    struct kernel_program *p = object;
    p->base.device = device;
    p->program = program;
    p->is_f64 = problem->precision == KALLIMA_F64;
    p->base.workspace_bytes = (uint64_t)program->shared_reals * (p->is_f64 ? 8 : 4);
    p->count = program->pass_count;
    if (p->count > KAL_MAX_LAUNCHES) {
        kal_free(&device->host, p);
        return kal_fail(&device->host, KALLIMA_E_UNSUPPORTED,
                        "plan: %d passes; at most %d are enqueued at once",
                        program->pass_count, KAL_MAX_LAUNCHES);
    }
    const kallima_status status = build(p, arena);
    if (status) {
        kal_kernel_program_destroy(&p->base);
        return status;
    }
    *out = &p->base;
    return KALLIMA_OK;
}

void kal_kernel_program_destroy(struct kal_device_program *base)
{
    struct kernel_program *p = (struct kernel_program *)base;
    kallima_device *device = base->device;

    for (int i = 0; p->kernel && i < p->count; i++) {
        if (p->kernel[i].object && !p->kernel[i].is_shared)
            device->ops->kernel_destroy(p->kernel[i].object);
    }
    kallima_buffer_destroy(&p->roots);
    kallima_buffer_destroy(&p->map);
    kal_free(&device->host, p);
}

static const struct kal_memory *side_memory(const struct kal_side *side,
                                            const struct kal_arguments *arguments)
{
    switch (side->buffer) {
    case KAL_BUFFER_IN: return arguments->in;
    case KAL_BUFFER_OUT: return arguments->out;
    default: return &arguments->workspace;
    }
}

static struct kal_work make_work(const struct kernel_program *p, int i,
                                 const struct kal_arguments *arguments)
{
    const struct kal_kernel *k = p->kernel[i].design;
    const struct kal_memory *in = side_memory(&k->pass->in, arguments);
    const struct kal_memory *out = side_memory(&k->pass->out, arguments);
    struct kal_work work = { .kernel = p->kernel[i].object,
                             .groups = (uint64_t)k->groups };
    int slots = 0;

    for (int slot = 0; slot < KAL_SLOT_COUNT; slot++) {
        if (!kal_kernel_uses(k, slot))
            continue;
        struct kal_memory *to = &work.slot[slots++];
        switch (slot) {
        case KAL_SLOT_IN: *to = in[0]; break;
        case KAL_SLOT_IN_IMAG: *to = in[1]; break;
        case KAL_SLOT_OUT: *to = out[0]; break;
        case KAL_SLOT_OUT_IMAG: *to = out[1]; break;
        case KAL_SLOT_ROOTS: *to = p->roots->memory; break;
        case KAL_SLOT_MAP: *to = p->map->memory; break;
        }
    }
    return work;
}

kallima_status kal_kernel_program_run(const struct kal_device_program *base,
                                      const struct kal_arguments *arguments,
                                      const struct kal_sync *sync)
{
    const struct kernel_program *p = (const struct kernel_program *)base;
    struct kal_work work[KAL_MAX_LAUNCHES];

    for (int i = 0; i < p->count; i++)
        work[i] = make_work(p, i, arguments);
    return base->device->ops->enqueue(base->device, work, p->count, sync);
}

void kal_kernel_program_print(const struct kal_device_program *base,
                              struct kal_text *text)
{
    const struct kernel_program *p = (const struct kernel_program *)base;
    for (int i = 0; i < p->count; i++)
        print_kernel(p, i, text);
}
