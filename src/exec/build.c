// SPDX-License-Identifier: MIT
// From phases to compiled kernels.
#include "exec/kernel_cache.h"
#include "exec/kernel_program.h"

#include <stdio.h>
#include <string.h>

static const char *const language_names[KAL_LANGUAGE_COUNT] = {
    [KAL_LANGUAGE_OPENCL] = "opencl",
    [KAL_LANGUAGE_CUDA] = "cuda",
    [KAL_LANGUAGE_GLSL] = "glsl",
    [KAL_LANGUAGE_HLSL] = "hlsl",
    [KAL_LANGUAGE_ESSL] = "essl",
    [KAL_LANGUAGE_GLSL_ADDRESSES] = "glsl-addresses",
    [KAL_LANGUAGE_GLSL_POINTERS] = "glsl-pointers",
};

static const char *const entry_name = "kallima";

const struct kal_dialect *kal_device_dialect(const kallima_device *device)
{
    return kal_dialect_find(language_names[device->caps.language]);
}

static const struct kal_dialect *dialect_of(const struct kernel_program *p)
{
    return kal_device_dialect(p->base.device);
}

static bool is_same_table(const struct kal_table *a, const struct kal_table *b)
{
    return a->kind == b->kind && a->n == b->n && a->size == b->size &&
           a->rows == b->rows && a->radix == b->radix && a->powers == b->powers &&
           a->shift == b->shift && a->count == b->count && a->index == b->index &&
           a->is_inverse == b->is_inverse && a->lines == b->lines &&
           a->extra == b->extra && memcmp(&a->layout, &b->layout, sizeof a->layout) == 0;
}

// The first table that equals `table`, in the order of passes.
static struct kal_table *find_table(const struct kal_kernel_set *set,
                                    const struct kal_table *table)
{
    for (int i = 0; i < set->count; i++) {
        struct kal_kernel *k = set->kernel[i];
        for (int t = 0; t < k->table_count; t++) {
            if (is_same_table(&k->table[t], table))
                return &k->table[t];
        }
    }
    return NULL;
}

bool kal_kernel_table_is_first(const struct kal_kernel_set *set,
                               const struct kal_table *table)
{
    return find_table(set, table) == table;
}

// How far tables reach.
struct extent {
    int64_t roots, maps;
};

// Give every table of a kernel a place, that of an equal one if there is one.
static void place_tables_of(const struct kal_kernel_set *set, struct kal_kernel *k,
                            struct extent *used)
{
    for (int j = 0; j < k->table_count; j++) {
        struct kal_table *table = &k->table[j];
        const struct kal_table *first = find_table(set, table);
        int64_t *count = kal_table_is_index(table->kind) ? &used->maps : &used->roots;
        table->at = first == table ? *count : first->at;
        if (first == table)
            *count = kal_round_up(*count + table->count, 4);
    }
}

static struct extent place_tables(const struct kal_kernel_set *set)
{
    struct extent used = { 0, 0 };
    for (int i = 0; i < set->count; i++)
        place_tables_of(set, set->kernel[i], &used);
    return used;
}

// Are the tables of two launches the same, one after the other?
static bool has_same_tables(const struct kal_kernel_set *a,
                            const struct kal_kernel_set *b)
{
    if (a->count != b->count)
        return false;
    for (int i = 0; i < a->count; i++) {
        const struct kal_kernel *k = a->kernel[i], *other = b->kernel[i];
        if (k->table_count != other->table_count)
            return false;
        for (int t = 0; t < k->table_count; t++) {
            if (!is_same_table(&k->table[t], &other->table[t]))
                return false;
        }
    }
    return true;
}

// Tables of a launch behind those of the launches before it, or where the same ones are.
static void place_launch(struct kernel_program *p, int number)
{
    enum { APART = 64 }; // entries: no two launches share a line of a cache
    struct built_kernel *built = &p->kernel[number];
    const struct extent used = place_tables(&built->set);

    for (int i = 0; i < number; i++) {
        if (has_same_tables(&p->kernel[i].set, &built->set)) {
            built->first_root = p->kernel[i].first_root;
            built->first_map = p->kernel[i].first_map;
            return;
        }
    }
    built->has_own_tables = true;
    built->first_root = p->root_count;
    built->first_map = p->map_count;
    p->root_count = kal_round_up(p->root_count + used.roots, APART);
    p->map_count = kal_round_up(p->map_count + used.maps, APART);
}

void kal_kernel_program_print_launch(const struct kernel_program *p, int i,
                                     struct kal_text *text)
{
    kal_emit_kernel(text, dialect_of(p), &p->kernel[i].set, entry_name);
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

// What the text does with each slot, in the order of gather_slots().
static void mark_slots(const struct kernel_program *p, int i,
                       struct kal_kernel_text *source)
{
    const struct kal_kernel_set *set = &p->kernel[i].set;
    int number = 0;

    for (int j = 0; j < set->count; j++) {
        for (int slot = KAL_SLOT_IN; slot < KAL_SLOT_COUNT; slot++) {
            const bool is_table = slot >= KAL_SLOT_ROOTS;
            if (is_table ? j + 1 < set->count || !kal_kernel_takes_table(set, slot)
                         : !kal_kernel_takes_side(set, j, slot))
                continue;
            const enum kal_slot_use use =
                kal_kernel_slot_use(set, dialect_of(p), j, slot);
            source->named |= (uint32_t)(use != KAL_SLOT_SHARED) << number;
            source->written |=
                (uint32_t)(use == KAL_SLOT_WRITTEN || use == KAL_SLOT_BETWEEN) << number;
            number++;
        }
    }
}

static kallima_status compile(struct kernel_program *p, int i, const char *text)
{
    struct built_kernel *built = &p->kernel[i];
    kallima_device *device = p->base.device;
    struct kal_kernel_text source = {
        .name = entry_name,
        .text = text,
        .lanes = built->set.lanes,
        .cluster = built->set.cluster,
        .resident = built->set.resident,
        .group_bytes = dialect_of(p)->group_bytes_are_launched
                           ? (uint64_t)built->set.group_bytes
                           : 0,
        .slots = kal_kernel_program_count_slots(p, i),
    };

    for (int j = 0; j < i; j++) {
        if (p->kernel[j].hash == built->hash) {
            built->object = p->kernel[j].object;
            built->is_shared = true;
            return KALLIMA_OK;
        }
    }
    mark_slots(p, i, &source);
    return create_kernel(&built->object, device, &source);
}

// The passes that one launch works.
struct launch_passes {
    const struct kal_phase *phase;
    int first, count;
};

static void give_up(const struct kernel_program *p, struct built_kernel *built)
{
    if (built->object && !built->is_shared)
        p->base.device->ops->kernel_destroy(built->object);
    built->object = NULL;
}

// Bytes of a lane's registers that the compiler keeps in memory; 0 too where it does not say.
static int spilled_bytes(const struct kernel_program *p, const struct built_kernel *built)
{
    struct kal_kernel_facts facts;
    p->base.device->ops->kernel_describe(built->object, &facts);
    return facts.registers > 0 ? (int)kal_max(0, facts.spill_bytes) : 0;
}

// Bytes that cost less than to leave a processor to a single group.
static int tolerated_bytes(const struct kernel_program *p,
                           const struct kal_kernel_set *set)
{
    enum { FEW = 64 };
    return p->is_f64 && set->resident == 2 && set->reads_late ? FEW : 0;
}

// Has a lane all registers that there are?
static bool has_all_registers(const struct kernel_program *p,
                              const struct built_kernel *built)
{
    struct kal_kernel_facts facts;
    p->base.device->ops->kernel_describe(built->object, &facts);
    return facts.registers >= p->base.device->caps.lane_registers;
}

// Roots that are not read ahead, then fewer groups of a processor, then fewer lanes of a group,
// whole warps for each of the processor's parts: more registers for each lane.
static bool ease(struct kal_kernel_wish *wish, const struct kal_kernel_set *set)
{
    enum { FEW_LANES = 256, PARTS_LANES = 4 * 32 };
    if (!wish->reads_late) {
        wish->reads_late = true;
        return true;
    }
    if (set->resident > 1) {
        wish->resident = set->resident - 1;
        return true;
    }
    if (set->lanes <= FEW_LANES)
        return false;
    wish->lanes = set->lanes % PARTS_LANES
                      ? set->lanes / PARTS_LANES * PARTS_LANES
                      : (int)kal_round_up(set->lanes / 2, PARTS_LANES);
    wish->resident = 0;
    return true;
}

// Design the last launch as `wish` says, and compile it unless its text is that of `tried`.
static kallima_status try_launch(struct kernel_program *p, struct kal_arena *arena,
                                 const struct launch_passes *passes,
                                 const struct kal_kernel_wish *wish, uint64_t tried)
{
    const int i = p->count - 1;
    struct built_kernel *built = &p->kernel[i];
    struct kal_text text;

    *built = (struct built_kernel){ .object = NULL };
    KAL_TRY(kal_kernel_set_design(&built->set, arena, p->program, passes->phase,
                                  passes->first, passes->count, &p->base.device->caps,
                                  p->is_f64, wish));
    place_tables(&built->set);
    kal_text_init(&text, &p->base.device->host);
    kal_kernel_program_print_launch(p, i, &text);
    kallima_status status = text.status;
    if (!status) {
        built->hash = hash_text(text.data);
        if (built->hash != tried)
            status = compile(p, i, text.data);
    }
    kal_text_clear(&text);
    return status;
}

// Keep the better one of two in *best, the first of equals.
static void keep_better(const struct kernel_program *p, struct built_kernel *best,
                        int *least, struct built_kernel *built)
{
    const int spilled = spilled_bytes(p, built);
    if (spilled < *least) {
        give_up(p, best);
        *best = *built;
        *least = spilled;
    } else {
        give_up(p, built);
    }
}

// Of all tries the one that spills least. One that the device refuses ends them.
static kallima_status build_launch(struct kernel_program *p, struct kal_arena *arena,
                                   const struct launch_passes *passes)
{
    enum { MOST_TRIES = 5 };
    struct built_kernel *built = &p->kernel[p->count++];
    struct kal_kernel_wish wish = { 0, 0, false };
    kallima_status status;

    KAL_TRY(try_launch(p, arena, passes, &wish, 0));
    struct built_kernel best = *built;
    int least = spilled_bytes(p, &best);
    const bool is_full = has_all_registers(p, &best);
    for (int i = 1; i < MOST_TRIES && least > tolerated_bytes(p, &built->set) &&
                    !is_full && ease(&wish, &built->set);
         i++) {
        status = try_launch(p, arena, passes, &wish, best.hash);
        if (status == KALLIMA_E_UNSUPPORTED || status == KALLIMA_E_COMPILE)
            break;
        if (status) {
            *built = best;
            return status;
        }
        if (built->object)
            keep_better(p, &best, &least, built);
    }
    *built = best;
    place_launch(p, p->count - 1);
    return KALLIMA_OK;
}

kallima_status kal_kernel_program_build(struct kernel_program *p, struct kal_arena *arena)
{
    for (int i = 0; i < p->program->phase_count; i++) {
        const struct kal_phase *phase = &p->program->phase[i];
        const int step = kal_phase_launch_passes(p->program, phase);
        for (int j = 0; j < phase->pass_count; j += step) {
            const struct launch_passes passes = { phase, phase->first_pass + j, step };
            KAL_TRY(build_launch(p, arena, &passes));
        }
    }
    return KALLIMA_OK;
}
