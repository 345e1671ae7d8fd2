// SPDX-License-Identifier: MIT
#include "exec/kernel_program.h"

#include <string.h>

static int64_t root_bytes(const struct kernel_program *p)
{
    return p->is_f64 ? 16 : 8;
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
                                 const struct built_kernel *built,
                                 const struct kal_table *table, void *roots, int32_t *map)
{
    if (!kal_kernel_table_is_first(&built->set, table))
        return KALLIMA_OK;
    if (kal_table_is_index(table->kind)) {
        kal_table_fill_index(table, map + built->first_map + table->at);
        return KALLIMA_OK;
    }
    const int64_t at = built->first_root + table->at;
    return kal_table_fill(table, &p->base.device->host, p->is_f64,
                          (char *)roots + at * root_bytes(p));
}

static kallima_status fill_tables(const struct kernel_program *p, void *roots,
                                  int32_t *map)
{
    for (int i = 0; i < p->count; i++) {
        const struct built_kernel *built = &p->kernel[i];
        for (int j = 0; j < built->set.count && built->has_own_tables; j++) {
            const struct kal_kernel *k = built->set.kernel[j];
            for (int t = 0; t < k->table_count; t++)
                KAL_TRY(fill_table(p, built, &k->table[t], roots, map));
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
    const uint64_t roots = (uint64_t)(p->root_count * root_bytes(p));
    const uint64_t maps = (uint64_t)p->map_count * sizeof(int32_t);
    void *memory;

    KAL_TRY(kal_alloc(host, &memory, roots + maps + 1, 1));
    memset(memory, 0, (size_t)(roots + maps));
    void *map = (char *)memory + roots;
    kallima_status status = fill_tables(p, memory, map);
    if (!status)
        status = upload(&p->roots, device, memory, roots);
    if (!status)
        status = upload(&p->map, device, map, maps);
    kal_free(host, memory);
    return status;
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

// Tables of a launch, its counters of tickets.
static struct kal_memory table_memory(const struct kernel_program *p,
                                      const struct built_kernel *built, int slot,
                                      const struct kal_arguments *arguments)
{
    switch (slot) {
    case KAL_SLOT_ROOTS:
        return offset_memory(p->roots->memory,
                             (uint64_t)(built->first_root * root_bytes(p)));
    case KAL_SLOT_MAP:
        return offset_memory(p->map->memory,
                             (uint64_t)built->first_map * sizeof(int32_t));
    default: return offset_memory(arguments->workspace, p->ticket_offset);
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
            memory[count] = table_memory(p, &p->kernel[i], slot, arguments);
        count++;
    }
    return count;
}

int kal_kernel_program_count_slots(const struct kernel_program *p, int i)
{
    return gather_slots(p, i, NULL, NULL);
}

// A device may reach only so far into an array; the reals of all of them, scratch too.
static kallima_status check_reach(const struct kernel_program *p,
                                  const struct kal_problem *problem)
{
    const kallima_device *device = p->base.device;
    const uint64_t real_bytes = p->is_f64 ? 8 : 4, most = device->caps.buffer_bytes;
    const struct kal_array *in = &problem->in, *out = &problem->out;
    const int64_t arrays =
        kal_max(in->elements * kal_array_reals(in), out->elements * kal_array_reals(out));
    const uint64_t needed =
        (uint64_t)kal_max(arrays, p->program->shared_reals) * real_bytes;
    if (most && needed > most)
        return kal_fail(&device->host, KALLIMA_E_UNSUPPORTED,
                        "plan: an array of %llu bytes; kernels of this device reach %llu",
                        (unsigned long long)needed, (unsigned long long)most);
    return KALLIMA_OK;
}

static kallima_status build(struct kernel_program *p, struct kal_arena *arena)
{
    void *memory;
    KAL_TRY(kal_arena_take(arena, &memory, (uint64_t)p->program->pass_count,
                           sizeof *p->kernel));
    p->kernel = memory;
    KAL_TRY(kal_kernel_program_build(p, arena));
    lay_out_workspace(p);
    return upload_tables(p);
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
    kallima_status status = check_reach(p, problem);
    if (!status)
        status = build(p, arena);
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

// What launch `i` comes to; return how many pieces of work that is.
static int gather_work(const struct kernel_program *p, int i,
                       const struct kal_arguments *arguments, struct kal_work *work)
{
    const struct kal_kernel_set *set = &p->kernel[i].set;
    const int64_t tickets = kal_kernel_ticket_count(set);
    int count = 0;

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
    return count;
}

kallima_status kal_kernel_program_run(const struct kal_device_program *base,
                                      const struct kal_arguments *arguments,
                                      const struct kal_sync *sync)
{
    const struct kernel_program *p = (const struct kernel_program *)base;
    struct kal_work work[KAL_MAX_LAUNCHES];
    int count = 0;

    for (int i = 0; i < p->count; i++)
        count += gather_work(p, i, arguments, &work[count]);
    return base->device->ops->enqueue(base->device, work, count, sync);
}

int kal_kernel_program_launches(const struct kal_device_program *base)
{
    return ((const struct kernel_program *)base)->count;
}

kallima_status kal_kernel_program_run_launch(const struct kal_device_program *base,
                                             const struct kal_arguments *arguments,
                                             int launch)
{
    const struct kernel_program *p = (const struct kernel_program *)base;
    struct kal_work work[2];
    const int count = gather_work(p, launch, arguments, work);
    return base->device->ops->enqueue(base->device, work, count, NULL);
}

uint64_t kal_kernel_program_launch_key(const struct kal_device_program *base, int launch)
{
    const struct built_kernel *built =
        &((const struct kernel_program *)base)->kernel[launch];
    const uint64_t groups = (uint64_t)built->set.groups;
    return (built->hash ^ groups) * 1099511628211u; // a step of FNV-1a more
}

int64_t kal_kernel_program_groups(const struct kal_device_program *base)
{
    const struct kernel_program *p = (const struct kernel_program *)base;
    int64_t groups = 0;
    for (int i = 0; i < p->count; i++)
        groups += p->kernel[i].set.groups;
    return groups;
}

void kal_kernel_program_print(const struct kal_device_program *base,
                              struct kal_text *text)
{
    const struct kernel_program *p = (const struct kernel_program *)base;
    for (int i = 0; i < p->count; i++)
        kal_kernel_program_print_launch(p, i, text);
}
