// SPDX-License-Identifier: MIT
#include "exec/program.h"

#include "emit/kernel.h"
#include "exec/kernel_cache.h"
#include "kernel/kernel.h"

#include <stdio.h>
#include <string.h>

// One launch made ready.
struct built_kernel {
    struct kal_kernel_set set;
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
    uint64_t ring_offset, ticket_offset; // bytes of the workspace
};

static const char *const language_names[KAL_LANGUAGE_COUNT] = {
    [KAL_LANGUAGE_OPENCL] = "opencl",
    [KAL_LANGUAGE_CUDA] = "cuda",
};

static const char *const entry_name = "kallima";

static bool is_same_table(const struct kal_table *a, const struct kal_table *b)
{
    return a->kind == b->kind && a->n == b->n && a->size == b->size &&
           a->rows == b->rows && a->radix == b->radix && a->powers == b->powers &&
           a->shift == b->shift && a->count == b->count && a->index == b->index &&
           a->is_inverse == b->is_inverse;
}

// The first table that equals `table`, in the order of kernels and their passes.
static struct kal_table *find_table(const struct kernel_program *p,
                                    const struct kal_table *table)
{
    for (int i = 0; i < p->count; i++) {
        for (int j = 0; j < p->kernel[i].set.count; j++) {
            struct kal_kernel *k = p->kernel[i].set.kernel[j];
            for (int t = 0; t < k->table_count; t++) {
                if (is_same_table(&k->table[t], table))
                    return &k->table[t];
            }
        }
    }
    return NULL;
}

// Give every table of a kernel a place, that of an equal one if there is one.
static void place_tables(struct kernel_program *p, struct kal_kernel *k)
{
    for (int j = 0; j < k->table_count; j++) {
        struct kal_table *table = &k->table[j];
        const struct kal_table *first = find_table(p, table);
        int64_t *count = table->kind == KAL_TABLE_INDEX ? &p->map_count : &p->root_count;
        table->at = first == table ? *count : first->at;
        if (first == table)
            *count = kal_round_up(*count + table->count, 4);
    }
}

static bool is_fused(const struct kernel_program *p, const struct kal_phase *phase)
{
    for (int i = 0; i < phase->pass_count; i++) {
        if (kal_pass_uses_chunk(p->program->pass[phase->first_pass + i]))
            return true;
    }
    return false;
}

static kallima_status design_set(struct kernel_program *p, struct kal_arena *arena,
                                 const struct kal_phase *phase, int first, int count)
{
    struct kal_kernel_set *set = &p->kernel[p->count].set;
    KAL_TRY(kal_kernel_set_design(set, arena, p->program, phase, first, count,
                                  &p->base.device->caps, p->is_f64));
    p->count++;
    for (int i = 0; i < set->count; i++)
        place_tables(p, set->kernel[i]);
    return KALLIMA_OK;
}

// A phase whose passes meet in the scratch of a chunk is one launch, else each pass is.
static kallima_status design(struct kernel_program *p, struct kal_arena *arena)
{
    for (int i = 0; i < p->program->phase_count; i++) {
        const struct kal_phase *phase = &p->program->phase[i];
        if (is_fused(p, phase)) {
            KAL_TRY(design_set(p, arena, phase, phase->first_pass, phase->pass_count));
            continue;
        }
        for (int j = 0; j < phase->pass_count; j++)
            KAL_TRY(design_set(p, arena, phase, phase->first_pass + j, 1));
    }
    return KALLIMA_OK;
}

// Scratch, the ring of slots, the tickets: the largest that a launch needs of each.
static void lay_out_workspace(struct kernel_program *p)
{
    enum { ALIGNMENT = 256 };
    const int64_t real_bytes = p->is_f64 ? 8 : 4;
    int64_t ring = 0, tickets = 0;

    for (int i = 0; i < p->count; i++) {
        const struct kal_kernel_set *set = &p->kernel[i].set;
        ring = kal_max(ring, set->slots * set->slot_reals * real_bytes);
        tickets = kal_max(tickets, kal_kernel_ticket_count(set) * 4);
    }
    const int64_t scratch =
        kal_round_up(p->program->shared_reals * real_bytes, ALIGNMENT);
    p->ring_offset = (uint64_t)scratch;
    p->ticket_offset = (uint64_t)(scratch + kal_round_up(ring, ALIGNMENT));
    p->base.workspace_bytes = p->ticket_offset + (uint64_t)tickets;
}

static kallima_status fill_table(const struct kernel_program *p,
                                 const struct kal_table *table, void *roots, int32_t *map)
{
    if (find_table(p, table) != table)
        return KALLIMA_OK;
    if (table->kind == KAL_TABLE_INDEX) {
        kal_table_fill_index(table, map + table->at);
        return KALLIMA_OK;
    }
    return kal_table_fill(table, &p->base.device->host, p->is_f64,
                          (char *)roots + table->at * (p->is_f64 ? 16 : 8));
}

static kallima_status fill_tables(const struct kernel_program *p, void *roots,
                                  int32_t *map)
{
    for (int i = 0; i < p->count; i++) {
        for (int j = 0; j < p->kernel[i].set.count; j++) {
            const struct kal_kernel *k = p->kernel[i].set.kernel[j];
            for (int t = 0; t < k->table_count; t++)
                KAL_TRY(fill_table(p, &k->table[t], roots, map));
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
    kal_emit_kernel(text, kal_dialect_find(language_names[language]), &p->kernel[i].set,
                    entry_name);
}

static struct kal_memory offset_memory(struct kal_memory memory, uint64_t bytes)
{
    memory.offset += bytes;
    return memory;
}

static struct kal_memory side_memory(const struct kernel_program *p,
                                     const struct kal_side *side, int part,
                                     const struct kal_arguments *arguments)
{
    switch (side->buffer) {
    case KAL_BUFFER_IN: return arguments->in[part];
    case KAL_BUFFER_OUT: return arguments->out[part];
    case KAL_BUFFER_CHUNK: return offset_memory(arguments->workspace, p->ring_offset);
    default: return arguments->workspace;
    }
}

// The memory of launch `i` in the order of its arguments, and how many there are. Only the
// number is wanted where `arguments` is NULL.
static int gather_slots(const struct kernel_program *p, int i,
                        const struct kal_arguments *arguments, struct kal_memory *memory)
{
    const struct kal_kernel_set *set = &p->kernel[i].set;
    int count = 0;

    for (int j = 0; j < set->count; j++) {
        const struct kal_pass *pass = set->kernel[j]->pass;
        for (int slot = KAL_SLOT_IN; slot <= KAL_SLOT_OUT_IMAG; slot++) {
            if (!kal_kernel_takes_side(set, j, slot))
                continue;
            if (arguments)
                memory[count] = side_memory(
                    p, slot <= KAL_SLOT_IN_IMAG ? &pass->in : &pass->out,
                    slot == KAL_SLOT_IN_IMAG || slot == KAL_SLOT_OUT_IMAG, arguments);
            count++;
        }
    }
    for (int slot = KAL_SLOT_ROOTS; slot < KAL_SLOT_COUNT; slot++) {
        if (!kal_kernel_takes_table(set, slot))
            continue;
        if (arguments)
            memory[count] = slot == KAL_SLOT_ROOTS ? p->roots->memory
                            : slot == KAL_SLOT_MAP
                                ? p->map->memory
                                : offset_memory(arguments->workspace, p->ticket_offset);
        count++;
    }
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
        .lanes = built->set.lanes,
        .cluster = 1,
        .group_bytes = device->caps.language == KAL_LANGUAGE_CUDA
                           ? (uint64_t)built->set.group_bytes
                           : 0,
        .slots = gather_slots(p, i, NULL, NULL),
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
    KAL_TRY(kal_arena_take(arena, &memory, (uint64_t)p->program->pass_count,
                           sizeof *p->kernel));
    p->kernel = memory;
    KAL_TRY(design(p, arena));
    lay_out_workspace(p);
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
    if (2 * program->pass_count > KAL_MAX_LAUNCHES) {
        kal_free(&device->host, p);
        return kal_fail(&device->host, KALLIMA_E_UNSUPPORTED,
                        "plan: %d passes; at most %d are enqueued at once",
                        program->pass_count, KAL_MAX_LAUNCHES / 2);
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

kallima_status kal_kernel_program_run(const struct kal_device_program *base,
                                      const struct kal_arguments *arguments,
                                      const struct kal_sync *sync)
{
    const struct kernel_program *p = (const struct kernel_program *)base;
    struct kal_work work[KAL_MAX_LAUNCHES];
    int count = 0;

    for (int i = 0; i < p->count; i++) {
        const struct kal_kernel_set *set = &p->kernel[i].set;
        const int64_t tickets = kal_kernel_ticket_count(set);
        if (tickets) {
            work[count++] = (struct kal_work){
                .slot[0] = offset_memory(arguments->workspace, p->ticket_offset),
                .fill_bytes = (uint64_t)tickets * 4,
            };
        }
        struct kal_work *launch = &work[count++];
        *launch = (struct kal_work){ .kernel = p->kernel[i].object,
                                     .groups = (uint64_t)set->groups };
        gather_slots(p, i, arguments, launch->slot);
    }
    return base->device->ops->enqueue(base->device, work, count, sync);
}

void kal_kernel_program_print(const struct kal_device_program *base,
                              struct kal_text *text)
{
    const struct kernel_program *p = (const struct kernel_program *)base;
    for (int i = 0; i < p->count; i++)
        print_kernel(p, i, text);
}
