// SPDX-License-Identifier: MIT
#include "faulty.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exec/kernel_program.h"

const char *const fault_names[FAULT_COUNT] = {
    [FAULT_NONE] = "none",         [FAULT_ELEMENT] = "element",
    [FAULT_SLIGHT] = "slight",     [FAULT_NAN] = "nan",
    [FAULT_INFINITY] = "infinity", [FAULT_SWAP] = "swap",
    [FAULT_EXCHANGE] = "exchange", [FAULT_UNWRITTEN] = "unwritten",
    [FAULT_BEHIND] = "behind",     [FAULT_BEFORE] = "before",
    [FAULT_GAP] = "gap",           [FAULT_INPUT] = "input",
    [FAULT_BESIDE] = "beside",
};

// A table of operations has no place for more: one device at a time.
static struct {
    const struct kal_device_ops *below;
    struct kal_device_ops ops;
    struct kal_trial *trial;
    const kallima_plan *victim;
    enum fault fault;
    int64_t transform, distance; // aimed at
    int count;
    const char *from, *to;
} faulty;

// --- what is spoiled ---------------------------------------------------------------------

// One side's memory of the trial, the last of its arrays.
struct place {
    const struct kal_array *array;
    struct kallima_buffer *buffer; // without the guards
    int real_bytes;
};

static struct place make_place(const struct kal_array *array,
                               struct kal_trial_array arrays[2])
{
    return (struct place){ array, &arrays[kal_array_parts(array) - 1].inside,
                           faulty.trial->problem.precision == KALLIMA_F64 ? 8 : 4 };
}

static struct place output(void)
{
    struct kal_trial *t = faulty.trial;
    return make_place(&t->problem.out, t->problem.is_in_place ? t->in : t->out);
}

// The place in memory, in reals, of an element counted row by row.
static int64_t locate(const struct kal_array *array, int64_t element)
{
    const int rank = faulty.trial->problem.rank;
    const int64_t line = array->n[rank - 1];
    const int64_t index = kal_array_find_row(array, rank, element / line) +
                          element % line * array->stride[rank - 1];
    return index * kal_array_reals(array);
}

static int64_t elements(const struct kal_array *array)
{
    return kal_array_points(array, faulty.trial->problem.rank) *
           faulty.trial->problem.batch;
}

static int64_t aimed(void)
{
    const int64_t batch = faulty.trial->problem.batch;
    return faulty.transform < 0 ? batch - 1 : faulty.transform;
}

// The first element of the transform that is aimed at.
static int64_t begin(const struct kal_array *array)
{
    return kal_array_points(array, faulty.trial->problem.rank) * aimed();
}

// Its last one.
static int64_t last(const struct kal_array *array)
{
    return begin(array) + kal_array_points(array, faulty.trial->problem.rank) - 1;
}

// Bytes around a buffer too: the guards belong to the buffer below.
static void move(const struct place *place, int64_t offset, void *data, size_t bytes,
                 bool writes)
{
    struct kallima_buffer around = *place->buffer;
    around.memory.offset -= KAL_GUARD_BYTES;
    const uint64_t at = (uint64_t)(offset + KAL_GUARD_BYTES);
    const kallima_status status =
        writes ? faulty.below->buffer_write(&around, at, data, bytes)
               : faulty.below->buffer_read(&around, at, data, bytes);
    if (status != KALLIMA_OK)
        abort();
}

static double get(const struct place *place, int64_t real)
{
    double value;
    float single;
    if (place->real_bytes == 8) {
        move(place, real * 8, &value, sizeof value, false);
        return value;
    }
    move(place, real * 4, &single, sizeof single, false);
    return single;
}

static void set(const struct place *place, int64_t real, double value)
{
    float single = (float)value;
    if (place->real_bytes == 8)
        move(place, real * 8, &value, sizeof value, true);
    else
        move(place, real * 4, &single, sizeof single, true);
}

static void touch(const struct place *place, int64_t byte)
{
    unsigned char value;
    move(place, byte, &value, 1, false);
    value ^= 1;
    move(place, byte, &value, 1, true);
}

// A real of the output's arrays that belongs to no element of either side; -1: none.
static int64_t find_gap(const struct kal_problem *p)
{
    const struct kal_array *array = &p->out;
    const int64_t reals = array->elements * kal_array_reals(array);
    const int64_t points = kal_array_points(array, p->rank) * p->batch;
    bool *used = (bool *)calloc((size_t)reals, sizeof *used);
    int64_t gap = -1;

    for (int64_t i = 0; i < points; i++) {
        const int64_t line = array->n[p->rank - 1];
        const int64_t index = kal_array_find_row(array, p->rank, i / line) +
                              i % line * array->stride[p->rank - 1];
        for (int part = 0; part < kal_array_reals(array); part++)
            used[index * kal_array_reals(array) + part] = true;
    }
    for (int64_t i = 0; i < reals && gap < 0; i++)
        gap = used[i] ? -1 : i;
    free(used);
    return gap;
}

bool faulty_applies(const struct kal_problem *p, enum fault fault)
{
    const bool shares_lines = p->is_in_place && p->kind != KALLIMA_C2C;
    if (fault == FAULT_SWAP)
        return kal_array_points(&p->out, p->rank) * p->batch > 1;
    if (fault == FAULT_EXCHANGE)
        return p->batch > 1;
    if (fault == FAULT_GAP)
        return !shares_lines && find_gap(p) >= 0;
    if (fault == FAULT_INPUT)
        return !p->is_in_place && !p->may_destroy_input;
    if (fault == FAULT_BESIDE)
        return !p->is_in_place;
    return true;
}

static void swap_elements(const struct place *out, int64_t one, int64_t other)
{
    const int64_t a = locate(out->array, one), b = locate(out->array, other);
    for (int part = 0; part < kal_array_reals(out->array); part++) {
        const double x = get(out, a + part), y = get(out, b + part);
        set(out, a + part, y);
        set(out, b + part, x);
    }
}

static void swap(const struct place *out)
{
    const int64_t at = (begin(out->array) + last(out->array)) / 2;
    swap_elements(out, at, at > 0 ? at - 1 : at + 1);
}

static void exchange(const struct place *out)
{
    const int64_t points = last(out->array) - begin(out->array) + 1;
    for (int64_t i = begin(out->array); i <= last(out->array); i++)
        swap_elements(out, i, i - faulty.distance * points);
}

static void spoil_all(const struct place *out)
{
    const double factor = 1.0 + 50.0 * (out->real_bytes == 8 ? 0x1p-53 : 0x1p-24);
    for (int64_t i = 0; i < elements(out->array); i++) {
        const int64_t at = locate(out->array, i);
        for (int part = 0; part < kal_array_reals(out->array); part++)
            set(out, at + part, get(out, at + part) * factor);
    }
}

// The sign of the largest of a few: a small number would be no difference.
static void flip(const struct place *out)
{
    const int64_t first = begin(out->array);
    int64_t largest = locate(out->array, first);
    for (int64_t i = first; i < first + 8 && i <= last(out->array); i++) {
        if (fabs(get(out, locate(out->array, i))) > fabs(get(out, largest)))
            largest = locate(out->array, i);
    }
    set(out, largest, -get(out, largest));
}

static void unwrite(const struct place *out)
{
    uint64_t poison = 0x7ff4dead7ff4deadu;
    const int64_t at = locate(out->array, last(out->array));
    move(out, at * out->real_bytes, &poison, (size_t)out->real_bytes, true);
}

// The first byte behind the arrays; in place, behind both sides.
static int64_t end(const struct place *out)
{
    const struct kal_array *in = &faulty.trial->problem.in, *array = out->array;
    const int64_t reals = array->elements * kal_array_reals(array);
    const int64_t others = in->elements * kal_array_reals(in);
    return (faulty.trial->problem.is_in_place ? kal_max(reals, others) : reals) *
           out->real_bytes;
}

static void spoil(void)
{
    const struct place out = output();
    const struct place in = make_place(&faulty.trial->problem.in, faulty.trial->in);
    const int64_t end_of_aimed = locate(out.array, last(out.array));

    faulty.count++;
    switch (faulty.fault) {
    case FAULT_ELEMENT: flip(&out); break;
    case FAULT_SLIGHT: spoil_all(&out); break;
    case FAULT_NAN: set(&out, end_of_aimed, NAN); break;
    case FAULT_INFINITY: set(&out, end_of_aimed, INFINITY); break;
    case FAULT_SWAP: swap(&out); break;
    case FAULT_EXCHANGE: exchange(&out); break;
    case FAULT_UNWRITTEN: unwrite(&out); break;
    case FAULT_BEHIND: touch(&out, end(&out)); break;
    case FAULT_BEFORE: touch(&out, -1); break;
    case FAULT_GAP: touch(&out, find_gap(&faulty.trial->problem) * out.real_bytes); break;
    case FAULT_INPUT:
        touch(&in, locate(in.array, begin(in.array)) * in.real_bytes);
        break;
    case FAULT_BESIDE: touch(&in, -1); break;
    default: faulty.count--;
    }
}

// --- the operations ----------------------------------------------------------------------

static kallima_status run(const struct kal_device_program *program,
                          const struct kal_arguments *arguments)
{
    KAL_TRY(faulty.below->program_run(program, arguments));
    if (faulty.victim && faulty.victim->built == program)
        spoil();
    return KALLIMA_OK;
}

static bool is_victims(const struct kal_work *work, int count)
{
    if (!faulty.victim)
        return false;
    const struct kernel_program *p = (const struct kernel_program *)faulty.victim->built;
    return count > 0 && p->kernel[p->count - 1].object == work[count - 1].kernel;
}

static kallima_status enqueue(kallima_device *device, const struct kal_work *work,
                              int count, const struct kal_sync *sync)
{
    KAL_TRY(faulty.below->enqueue(device, work, count, sync));
    if (is_victims(work, count)) {
        KAL_TRY(faulty.below->finish(device));
        spoil();
    }
    return KALLIMA_OK;
}

static kallima_status compile(struct kal_device_kernel **out, kallima_device *device,
                              const struct kal_kernel_text *text,
                              const struct kal_binary *binary, struct kal_binary *made)
{
    struct kal_kernel_text spoiled = *text;
    char *copy = strdup(text->text);
    char *at = copy && faulty.from ? strstr(copy, faulty.from) : NULL;

    if (at) {
        memmove(at + strlen(faulty.to), at + strlen(faulty.from),
                strlen(at + strlen(faulty.from)) + 1);
        memcpy(at, faulty.to, strlen(faulty.to));
        faulty.count++;
    }
    spoiled.text = copy;
    const kallima_status status =
        faulty.below->kernel_create(out, device, &spoiled, binary, made);
    free(copy);
    return status;
}

void faulty_wrap(kallima_device *device)
{
    faulty.below = device->ops;
    faulty.ops = *device->ops;
    if (faulty.ops.program_run)
        faulty.ops.program_run = run;
    if (faulty.ops.enqueue)
        faulty.ops.enqueue = enqueue;
    if (faulty.ops.kernel_create)
        faulty.ops.kernel_create = compile;
    device->ops = &faulty.ops;
    faulty_set(NULL, NULL, FAULT_NONE);
    faulty_aim(-1, 1);
    faulty_miscompile(NULL, NULL);
}

void faulty_set(struct kal_trial *trial, const kallima_plan *victim, enum fault fault)
{
    faulty.trial = trial;
    faulty.victim = victim;
    faulty.fault = fault;
    faulty.count = 0;
}

void faulty_aim(int64_t transform, int64_t distance)
{
    faulty.transform = transform;
    faulty.distance = distance;
}

void faulty_miscompile(const char *from, const char *to)
{
    faulty.from = from;
    faulty.to = to;
    faulty.count = 0;
}

int faulty_count(void)
{
    return faulty.count;
}
