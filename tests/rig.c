// SPDX-License-Identifier: MIT
#define _POSIX_C_SOURCE 200809L
#include "rig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "random.h"

enum { GUARD = 48 }; // reals in front of each array and behind it

// Signalling NaNs: whoever computes with them spreads NaNs or changes their bits.
static const uint64_t POISON_64 = 0x7ff4dead0badbeefu;
static const uint32_t POISON_32 = 0x7fa4deadu;

static void *take(size_t bytes)
{
    void *memory = malloc(bytes ? bytes : 1);
    if (!memory) {
        fprintf(stderr, "tests: no memory for %zu bytes\n", bytes);
        exit(1);
    }
    return memory;
}

// Reals of one array with both guards, a multiple of 64 bytes.
static int64_t span(const struct store *s)
{
    return (s->count + 2 * GUARD + 31) / 16 * 16;
}

static unsigned char *real_at(const struct store *s, int array, int64_t index)
{
    return s->memory +
           (size_t)(span(s) * array + GUARD + s->shift + index) * (size_t)s->real_bytes;
}

static size_t store_bytes(const struct store *s)
{
    return (size_t)(span(s) * s->arrays) * (size_t)s->real_bytes;
}

static void store_init(struct store *s, int precision, int arrays, int64_t count,
                       int64_t shift)
{
    *s = (struct store){ .real_bytes = precision == KALLIMA_F32 ? 4 : 8,
                         .arrays = arrays,
                         .count = count,
                         .shift = shift };
    void *memory = NULL;
    if (posix_memalign(&memory, 64, store_bytes(s)) != 0)
        exit(1);
    s->memory = (unsigned char *)memory;
    s->kept = (unsigned char *)take(store_bytes(s));
    s->used = (bool *)take((size_t)(span(s) * arrays));
    memset(s->used, 0, (size_t)(span(s) * arrays));
}

static void store_clear(struct store *s)
{
    free(s->memory);
    free(s->kept);
    free(s->used);
    *s = (struct store){ 0 };
}

// The first number, and then as much again as there is: all is a power of two times that, or less.
static void store_poison(struct store *s)
{
    const size_t bytes = store_bytes(s);
    memcpy(s->memory,
           s->real_bytes == 4 ? (const void *)&POISON_32 : (const void *)&POISON_64,
           (size_t)s->real_bytes);
    for (size_t done = (size_t)s->real_bytes; done < bytes; done *= 2)
        memcpy(s->memory + done, s->memory, done < bytes - done ? done : bytes - done);
}

static double get(const struct store *s, int array, int64_t index)
{
    float single;
    double real;
    if (s->real_bytes == 4) {
        memcpy(&single, real_at(s, array, index), sizeof single);
        return single;
    }
    memcpy(&real, real_at(s, array, index), sizeof real);
    return real;
}

static void set(struct store *s, int array, int64_t index, double value)
{
    const float single = (float)value;
    if (s->real_bytes == 4)
        memcpy(real_at(s, array, index), &single, sizeof single);
    else
        memcpy(real_at(s, array, index), &value, sizeof value);
}

// Where the parts of an element, one if it is real, lie: the imaginary one in the array
// `apart`, and `behind` the real one's index.
struct place {
    int64_t index;
    int parts, apart, behind;
};

static struct place place(const struct side *side, int64_t element)
{
    const int64_t i = side->index[element];
    if (!side->view.complex_side)
        return (struct place){ i, 1, 0, 0 };
    return side->view.planar ? (struct place){ i, 2, 1, 0 }
                             : (struct place){ 2 * i, 2, 0, 1 };
}

static void mark(struct store *s, const struct side *side)
{
    bool *const used = s->used + GUARD + s->shift;
    for (int64_t i = 0; i < side->view.count; i++) {
        const struct place at = place(side, i);
        for (int p = 0; p < at.parts; p++)
            used[span(s) * at.apart * p + at.index + at.behind * p] = true;
    }
}

static oracle_complex element(const struct store *s, const struct side *side, int64_t i)
{
    const struct place at = place(side, i);
    double part[2] = { 0.0, 0.0 };
    for (int p = 0; p < at.parts; p++)
        part[p] = get(s, at.apart * p, at.index + at.behind * p);
    return part[0] + part[1] * (oracle_complex)I;
}

static void set_element(struct store *s, const struct side *side, int64_t i,
                        oracle_complex value)
{
    const double part[2] = { (double)creall(value), (double)cimagl(value) };
    const struct place at = place(side, i);
    for (int p = 0; p < at.parts; p++)
        set(s, at.apart * p, at.index + at.behind * p, part[p]);
}

static int64_t reals(const struct view *v)
{
    return (v->last + 1) * (v->complex_side && !v->planar ? 2 : 1);
}

static void init_stores(struct rig *rig)
{
    const kallima_desc *d = &rig->desc;
    const int64_t in = reals(&rig->in.view), out = reals(&rig->out.view);
    const int64_t shift = (int64_t)(rig->seed % 5);

    rig->from = rig->to = &rig->stores[0];
    if (d->placement == KALLIMA_IN_PLACE) {
        store_init(rig->from, d->precision, 1 + rig->in.view.planar, in > out ? in : out,
                   shift);
    } else {
        rig->to = &rig->stores[1];
        store_init(rig->from, d->precision, 1 + rig->in.view.planar, in, shift);
        store_init(rig->to, d->precision, 1 + rig->out.view.planar, out, (shift * 3) % 5);
    }
    mark(rig->from, &rig->in);
    mark(rig->to, &rig->out);
}

void rig_refill(struct rig *rig, uint64_t seed)
{
    struct random r = { seed };

    store_poison(rig->from);
    store_poison(rig->to);
    for (int64_t i = 0; i < rig->in.view.count; i++) {
        const double re = random_real(&r);
        rig->x[i] = re + random_real(&r) * (oracle_complex)I;
    }
    if (rig->desc.kind == KALLIMA_C2R)
        oracle_make_hermitian(&rig->desc, rig->x);
    for (int64_t i = 0; i < rig->in.view.count; i++)
        set_element(rig->from, &rig->in, i, rig->x[i]);
    for (int64_t i = 0; i < rig->in.view.count; i++)
        rig->x[i] = element(rig->from, &rig->in, i);
    rig->is_answered = false;
    memcpy(rig->from->kept, rig->from->memory, store_bytes(rig->from));
    memcpy(rig->to->kept, rig->to->memory, store_bytes(rig->to));
}

static void init_side(struct side *side, const kallima_desc *desc, bool output)
{
    if (!view_build(&side->view, desc, output)) {
        fprintf(stderr, "tests: a rig for a problem that is too large\n");
        exit(1);
    }
    side->index = (int32_t *)take((size_t)side->view.count * sizeof *side->index);
    for (int64_t i = 0; i < side->view.count; i++)
        side->index[i] = (int32_t)view_index(&side->view, i); // within VIEW_LIMIT
}

void rig_init(struct rig *rig, const kallima_desc *desc, uint64_t seed)
{
    *rig = (struct rig){ .desc = *desc, .seed = seed };
    init_side(&rig->in, desc, false);
    init_side(&rig->out, desc, true);
    rig->x = (oracle_complex *)take((size_t)rig->in.view.count * sizeof *rig->x);
    rig->want = (oracle_complex *)take((size_t)rig->out.view.count * sizeof *rig->want);
    init_stores(rig);
    rig_refill(rig, seed);
}

void rig_restore(struct rig *rig)
{
    memcpy(rig->from->memory, rig->from->kept, store_bytes(rig->from));
    memcpy(rig->to->memory, rig->to->kept, store_bytes(rig->to));
}

void rig_clear(struct rig *rig)
{
    store_clear(&rig->stores[0]);
    store_clear(&rig->stores[1]);
    free(rig->in.index);
    free(rig->out.index);
    free(rig->x);
    free(rig->want);
}

kallima_host_arrays rig_arrays(const struct rig *rig)
{
    kallima_host_arrays a = { 0 };
    for (int i = 0; i < rig->from->arrays; i++)
        a.in[i] = real_at(rig->from, i, 0);
    for (int i = 0; i < rig->to->arrays; i++)
        a.out[i] = real_at(rig->to, i, 0);
    return a;
}

// Any alignment that malloc() gives will do.
static kallima_status execute_given(const kallima_plan *plan, kallima_host_arrays *a)
{
    enum { GUARD_BYTES = 128, GUARD_VALUE = 0x5c };
    const size_t bytes = (size_t)kallima_plan_get_workspace(plan);
    unsigned char *memory = (unsigned char *)take(bytes + 2 * GUARD_BYTES);
    memset(memory, GUARD_VALUE, bytes + 2 * GUARD_BYTES);
    memset(memory + GUARD_BYTES, 0xff, bytes); // NaNs

    a->workspace = memory + GUARD_BYTES;
    a->workspace_bytes = bytes;
    kallima_status status = kallima_plan_execute_host(plan, a);
    for (size_t i = 0; i < GUARD_BYTES; i++) {
        if (memory[i] != GUARD_VALUE || memory[GUARD_BYTES + bytes + i] != GUARD_VALUE) {
            fprintf(stderr, "tests: a guard of the workspace was written\n");
            status = KALLIMA_E_DEVICE;
            break;
        }
    }
    free(memory);
    return status;
}

static kallima_status make_array(const struct store *s, kallima_device *device,
                                 uint64_t guard_bytes, kallima_buffer *buffers[2])
{
    const uint64_t bytes = (uint64_t)s->count * (uint64_t)s->real_bytes + guard_bytes;
    for (int i = 0; i < s->arrays; i++) {
        kallima_status status = kallima_buffer_create(&buffers[i], device, bytes);
        if (status == KALLIMA_OK)
            status = kallima_buffer_write(buffers[i], 0, real_at(s, i, 0), bytes);
        if (status != KALLIMA_OK)
            return status;
    }
    return KALLIMA_OK;
}

static kallima_status read_array(const struct store *s, uint64_t guard_bytes,
                                 kallima_buffer *const buffers[2])
{
    const uint64_t bytes = (uint64_t)s->count * (uint64_t)s->real_bytes + guard_bytes;
    for (int i = 0; i < s->arrays; i++) {
        const kallima_status status =
            kallima_buffer_read(buffers[i], 0, real_at(s, i, 0), bytes);
        if (status != KALLIMA_OK)
            return status;
    }
    return KALLIMA_OK;
}

// NaNs, the guard behind among them.
static kallima_status make_workspace(kallima_device *device, uint64_t bytes,
                                     kallima_buffer **out)
{
    const kallima_status status = kallima_buffer_create(out, device, bytes);
    if (status != KALLIMA_OK)
        return status;
    void *content = take((size_t)bytes);
    memset(content, 0xff, (size_t)bytes);
    const kallima_status written = kallima_buffer_write(*out, 0, content, bytes);
    free(content);
    return written;
}

static kallima_status check_workspace(const struct rig_buffers *b)
{
    unsigned char got[GUARD * sizeof(double)];
    const kallima_status status =
        kallima_buffer_read(b->arrays.workspace, b->workspace_bytes, got, b->guard_bytes);
    for (uint64_t i = 0; status == KALLIMA_OK && i < b->guard_bytes; i++) {
        if (got[i] != 0xff) {
            fprintf(stderr, "tests: the guard of the workspace was written\n");
            return KALLIMA_E_DEVICE;
        }
    }
    return status;
}

kallima_status rig_make_buffers(const struct rig *rig, const kallima_plan *plan,
                                kallima_device *device, struct rig_buffers *buffers)
{
    const bool in_place = rig->from == rig->to;
    kallima_device_arrays *a = &buffers->arrays;

    *buffers =
        (struct rig_buffers){ .workspace_bytes = kallima_plan_get_workspace(plan) };
    if (rig->seed % 3 != 0)
        buffers->guard_bytes = (uint64_t)(GUARD * rig->from->real_bytes);
    const uint64_t guard = buffers->guard_bytes;
    kallima_status status = make_array(rig->from, device, guard, a->in);
    if (status == KALLIMA_OK && !in_place)
        status = make_array(rig->to, device, guard, a->out);
    if (in_place)
        memcpy(a->out, a->in, sizeof a->in);
    if (status == KALLIMA_OK && buffers->workspace_bytes > 0)
        status = make_workspace(device, buffers->workspace_bytes + guard, &a->workspace);
    return status;
}

kallima_status rig_read_buffers(struct rig *rig, const struct rig_buffers *buffers)
{
    kallima_status status =
        read_array(rig->from, buffers->guard_bytes, buffers->arrays.in);
    if (status == KALLIMA_OK)
        status = read_array(rig->to, buffers->guard_bytes, buffers->arrays.out);
    if (status == KALLIMA_OK && buffers->arrays.workspace)
        status = check_workspace(buffers);
    return status;
}

void rig_free_buffers(const struct rig *rig, struct rig_buffers *buffers)
{
    kallima_buffer_destroy(&buffers->arrays.workspace);
    for (int i = 0; i < 2; i++) {
        kallima_buffer_destroy(&buffers->arrays.in[i]);
        if (rig->from != rig->to)
            kallima_buffer_destroy(&buffers->arrays.out[i]);
    }
}

static kallima_status execute_buffers(struct rig *rig, const kallima_plan *plan,
                                      kallima_device *device)
{
    struct rig_buffers buffers;
    kallima_status status = rig_make_buffers(rig, plan, device, &buffers);
    kallima_device_arrays arrays = buffers.arrays;
    if (rig->seed % 2 == 0)
        arrays.workspace = NULL; // the plan's own
    if (status == KALLIMA_OK)
        status = kallima_plan_execute(plan, &arrays);
    if (status == KALLIMA_OK)
        status = kallima_device_finish(device);
    if (status == KALLIMA_OK)
        status = rig_read_buffers(rig, &buffers);
    rig_free_buffers(rig, &buffers);
    return status;
}

kallima_status rig_execute(struct rig *rig, const kallima_plan *plan,
                           kallima_device *device, enum way way)
{
    kallima_host_arrays a = rig_arrays(rig);
    const bool planar = rig->in.view.planar || rig->out.view.planar;

    if (way == WAY_RUN && !planar)
        return kallima_plan_run(plan, a.in[0], a.out[0]);
    if (way == WAY_GIVEN)
        return execute_given(plan, &a);
    if (way == WAY_BUFFERS)
        return execute_buffers(rig, plan, device);
    return kallima_plan_execute_host(plan, &a);
}

// Compare with the copy: everything, or only what belongs to no element.
static bool is_unchanged(const struct store *s, bool everything)
{
    const size_t bytes = (size_t)s->real_bytes;
    if (everything)
        return memcmp(s->memory, s->kept, store_bytes(s)) == 0;
    for (int64_t i = 0; i < span(s) * s->arrays; i++) {
        const size_t at = (size_t)i * bytes;
        if (!s->used[i] && memcmp(s->memory + at, s->kept + at, bytes) != 0)
            return false;
    }
    return true;
}

bool rig_is_intact(const struct rig *rig, const char **why)
{
    if (!is_unchanged(rig->to, false)) {
        *why = "a guard around or between outputs was written";
        return false;
    }
    if (rig->from != rig->to && !is_unchanged(rig->from, !rig->desc.destroy_input)) {
        *why = "the input or a guard around it was written";
        return false;
    }
    return true;
}

oracle_complex rig_output(const struct rig *rig, int64_t i)
{
    return element(rig->to, &rig->out, i);
}

void rig_add_error(struct rig *rig, long double *error, long double *power)
{
    if (!rig->is_answered)
        oracle_transform(&rig->desc, rig->x, rig->want);
    rig->is_answered = true;
    for (int64_t i = 0; i < rig->out.view.count; i++) {
        const oracle_complex want = rig->want[i], e = rig_output(rig, i) - want;
        *error += creall(e) * creall(e) + cimagl(e) * cimagl(e);
        *power += creall(want) * creall(want) + cimagl(want) * cimagl(want);
    }
}

uint64_t rig_output_hash(const struct rig *rig)
{
    uint64_t hash = 0xcbf29ce484222325u;
    for (int64_t i = 0; i < rig->out.view.count; i++) {
        const struct place at = place(&rig->out, i);
        for (int p = 0; p < at.parts; p++) {
            uint64_t bits = 0;
            memcpy(&bits, real_at(rig->to, at.apart * p, at.index + at.behind * p),
                   (size_t)rig->to->real_bytes);
            hash = (hash ^ bits) * 0x100000001b3u;
            hash ^= hash >> 29;
        }
    }
    return hash;
}
