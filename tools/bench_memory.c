// SPDX-License-Identifier: MIT
#include "bench_memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { POISON_BYTES = 1 << 20, OCCUPYING_BYTES = 32 << 20 };

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

bool bench_memory_open(struct bench_memory *memory, const struct gpu_module *module,
                       const char *selector, const kallima_device_options *options,
                       kallima_device **device, char *why, size_t capacity)
{
    *memory = (struct bench_memory){ .module = module };
    memory->gpu = module->open(selector, options, device, why, capacity);
    if (!memory->gpu)
        return false;
    if (kallima_timer_create(&memory->timer, *device) == KALLIMA_OK)
        return true;
    snprintf(why, capacity, "%s", kallima_last_error());
    bench_memory_close(memory, device);
    return false;
}

static void release(struct bench_memory *memory, struct gpu_memory *one)
{
    if (one->buffer)
        memory->module->memory_destroy(memory->gpu, one);
}

// Free all inputs but `kept`, which may be NULL.
static void release_inputs(struct bench_memory *memory, const struct bench_input *kept)
{
    for (int i = 0; i < KALLIMA_KIND_COUNT * KALLIMA_PRECISION_COUNT; i++) {
        struct bench_input *input =
            &memory->input[i / KALLIMA_PRECISION_COUNT][i % KALLIMA_PRECISION_COUNT];
        if (input == kept)
            continue;
        release(memory, &input->memory);
        *input = (struct bench_input){ 0 };
    }
}

void bench_memory_close(struct bench_memory *memory, kallima_device **device)
{
    kallima_device_finish(*device);
    kallima_timer_destroy(&memory->timer);
    release_inputs(memory, NULL);
    release(memory, &memory->result);
    release(memory, &memory->overwritten);
    release(memory, &memory->poison);
    kallima_device_close(device);
    memory->module->close(memory->gpu);
    *memory = (struct bench_memory){ 0 };
}

// --- making room ------------------------------------------------------------------------

// Grow one allocation; if there is no room, at the cost of other inputs.
static bool make_room(struct bench_memory *memory, struct gpu_memory *one, uint64_t bytes,
                      const struct bench_input *kept, char *why, size_t capacity)
{
    if (one->bytes >= bytes)
        return true;
    const uint64_t rounded =
        (bytes + GPU_MEMORY_STEP - 1) / GPU_MEMORY_STEP * GPU_MEMORY_STEP;
    release(memory, one);
    if (memory->module->memory_create(memory->gpu, one, rounded, why, capacity))
        return true;
    release_inputs(memory, kept);
    return memory->module->memory_create(memory->gpu, one, rounded, why, capacity);
}

// 0xff in every byte is a NaN in both precisions. A little comes from the host, the rest by
// doubling.
static bool fill_poison(struct gpu_memory *poison)
{
    const uint64_t first = least(POISON_BYTES, poison->bytes);
    void *host = malloc(first);
    bool ok = host != NULL;
    if (ok) {
        memset(host, 0xff, first);
        ok = kallima_buffer_write(poison->buffer, 0, host, first) == KALLIMA_OK;
    }
    for (uint64_t done = first; ok && done < poison->bytes;) {
        const uint64_t bytes = least(done, poison->bytes - done);
        ok = kallima_buffer_copy(poison->buffer, done, poison->buffer, 0, bytes) ==
             KALLIMA_OK;
        done += bytes;
    }
    free(host);
    return ok;
}

static bool make_poison(struct bench_memory *memory, const struct bench_input *kept,
                        char *why, size_t capacity)
{
    if (memory->poison.bytes >= memory->out_bytes)
        return true;
    if (!make_room(memory, &memory->poison, memory->out_bytes, kept, why, capacity))
        return false;
    if (fill_poison(&memory->poison))
        return true;
    snprintf(why, capacity, "the memory cannot be filled: %s", kallima_last_error());
    release(memory, &memory->poison);
    return false;
}

// --- the input --------------------------------------------------------------------------

// Whether a longer input begins with a shorter one, so that one serves all lengths.
static bool is_prefix(const struct data *data)
{
    const kallima_desc *desc = data->desc;
    return side_bytes(&data->in) == side_moved_bytes(&data->in) && // without gaps
           (desc->kind == KALLIMA_C2C ||
            (desc->kind == KALLIMA_R2C && desc->placement == KALLIMA_OUT_OF_PLACE));
}

static bool fill_input(struct bench_input *input, const struct data *data, uint64_t bytes,
                       char *why, size_t capacity)
{
    if (is_prefix(data) && input->seed == data->seed && input->bytes >= bytes)
        return true;
    void *const host[2] = { calloc(1, bytes), NULL };
    if (!host[0]) {
        snprintf(why, capacity, "no memory left for the input");
        return false;
    }
    data_fill(data, host);
    const bool ok =
        kallima_buffer_write(input->memory.buffer, 0, host[0], bytes) == KALLIMA_OK;
    if (!ok)
        snprintf(why, capacity, "%s", kallima_last_error());
    free(host[0]);
    input->bytes = ok && is_prefix(data) ? bytes : 0;
    input->seed = data->seed;
    return ok;
}

bool bench_memory_load(struct bench_memory *memory, const struct data *data, char *why,
                       size_t capacity)
{
    const kallima_desc *desc = data->desc;
    const bool in_place = desc->placement == KALLIMA_IN_PLACE;
    const bool overwrites = !in_place && desc->kind == KALLIMA_C2R;
    struct bench_input *input = &memory->input[desc->kind][desc->precision];

    if (data->in.is_planar || data->out.is_planar) {
        snprintf(why, capacity, "planar arrays are measured on the cpu device only");
        return false;
    }
    memory->in_bytes = side_bytes(&data->in);
    memory->out_bytes = side_bytes(&data->out);
    if (in_place && memory->out_bytes < memory->in_bytes)
        memory->out_bytes = memory->in_bytes;
    if (input->memory.bytes < memory->in_bytes)
        input->bytes = 0;
    if (!make_room(memory, &input->memory, memory->in_bytes, input, why, capacity) ||
        !make_room(memory, &memory->result, memory->out_bytes, input, why, capacity) ||
        (overwrites && !make_room(memory, &memory->overwritten, memory->in_bytes, input,
                                  why, capacity)) ||
        !make_poison(memory, input, why, capacity) ||
        !fill_input(input, data, memory->in_bytes, why, capacity))
        return false;
    memory->at_work_ns = -INFINITY;
    memory->source = &input->memory;
    memory->out = &memory->result;
    memory->in = in_place     ? &memory->result
                 : overwrites ? &memory->overwritten
                              : &input->memory;
    return true;
}

bool bench_memory_restore(const struct bench_memory *memory)
{
    return memory->in == memory->source ||
           kallima_buffer_copy(memory->in->buffer, 0, memory->source->buffer, 0,
                               memory->in_bytes) == KALLIMA_OK;
}

bool bench_memory_poison(const struct bench_memory *memory)
{
    return kallima_buffer_copy(memory->out->buffer, 0, memory->poison.buffer, 0,
                               memory->out_bytes) == KALLIMA_OK &&
           bench_memory_restore(memory);
}

bool bench_memory_occupy(const struct bench_memory *memory)
{
    if (memory->in != memory->source)
        return bench_memory_restore(memory);
    const uint64_t bytes =
        least(OCCUPYING_BYTES, least(memory->in_bytes, memory->out_bytes));
    return kallima_buffer_copy(memory->out->buffer, 0, memory->source->buffer, 0,
                               bytes) == KALLIMA_OK;
}
