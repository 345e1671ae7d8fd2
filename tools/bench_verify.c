// SPDX-License-Identifier: MIT
#include "bench_verify.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench_data.h"

enum {
    ALIGNMENT_BYTES = 64,
    GUARD_BYTES = 256,   // before and behind each array
    DRAWN_POINTS = 2048, // at least: tiny transforms are drawn again
};

// The arrays of one side, with guard zones and a copy of everything to compare with.
struct block {
    int count;
    uint64_t bytes; // of each array with its guard zones
    unsigned char *memory[2], *before[2];
};

static bool block_init(struct block *block, int count, uint64_t array_bytes)
{
    *block = (struct block){ .count = count, .bytes = array_bytes + 2 * GUARD_BYTES };
    for (int i = 0; i < count; i++) {
        void *memory = NULL;
        if (posix_memalign(&memory, ALIGNMENT_BYTES, block->bytes) != 0)
            return false;
        block->memory[i] = memory;
        block->before[i] = malloc(block->bytes);
        if (!block->before[i])
            return false;
    }
    return true;
}

static void block_clear(struct block *block)
{
    for (int i = 0; i < 2; i++) {
        free(block->memory[i]);
        free(block->before[i]);
    }
}

// 0xff in every byte is a NaN in every precision.
static void block_poison(struct block *block)
{
    for (int i = 0; i < block->count; i++)
        memset(block->memory[i], 0xff, block->bytes);
}

static void block_remember(struct block *block)
{
    for (int i = 0; i < block->count; i++)
        memcpy(block->before[i], block->memory[i], block->bytes);
}

static void *block_array(const struct block *block, int i)
{
    return block->memory[i] ? block->memory[i] + GUARD_BYTES : NULL;
}

// Put back what the elements of `side` were before.
static void block_restore(struct block *block, const struct side *side)
{
    const uint64_t bytes = side_element_bytes(side);
    for (int64_t i = 0; i < side->batch * side->count; i++) {
        const int64_t at = side_locate(side, i / side->count, i % side->count);
        const uint64_t offset = GUARD_BYTES + (uint64_t)at * bytes;
        for (int k = 0; k < block->count; k++)
            memcpy(block->memory[k] + offset, block->before[k] + offset, bytes);
    }
}

static bool block_is_unchanged(const struct block *block)
{
    for (int i = 0; i < block->count; i++) {
        if (memcmp(block->memory[i], block->before[i], block->bytes) != 0)
            return false;
    }
    return true;
}

// One problem under test. In place, `in` is the only block.
struct trial {
    struct data data;
    struct block in, out;
    kallima_plan *plan;
    char *why;
    size_t capacity;
};

static bool fail(struct trial *trial, const char *sentence)
{
    snprintf(trial->why, trial->capacity, "%s", sentence);
    return false;
}

static bool is_in_place(const struct trial *trial)
{
    return trial->data.desc->placement == KALLIMA_IN_PLACE;
}

static struct block *output(struct trial *trial)
{
    return is_in_place(trial) ? &trial->in : &trial->out;
}

static bool prepare(struct trial *trial, kallima_device *device)
{
    const struct side *in = &trial->data.in, *out = &trial->data.out;
    if (kallima_plan_create(&trial->plan, device, trial->data.desc, NULL) != KALLIMA_OK)
        return fail(trial, kallima_last_error());

    const uint64_t in_bytes = side_bytes(in), out_bytes = side_bytes(out);
    const bool shared = is_in_place(trial) && out_bytes > in_bytes;
    if (!block_init(&trial->in, side_arrays(in), shared ? out_bytes : in_bytes) ||
        (!is_in_place(trial) && !block_init(&trial->out, side_arrays(out), out_bytes)))
        return fail(trial, "no memory left");
    return true;
}

// Fresh input, poison everywhere else.
static void fill(struct trial *trial)
{
    block_poison(&trial->in);
    block_poison(&trial->out);
    void *const array[2] = { block_array(&trial->in, 0), block_array(&trial->in, 1) };
    data_fill(&trial->data, array);
    block_remember(&trial->in);
    block_remember(&trial->out);
}

// Problems with an odd number of points bring a workspace of their own, the others do not.
static bool execute(struct trial *trial)
{
    const uint64_t bytes = kallima_plan_get_workspace(trial->plan);
    const bool brings = bytes > 0 && desc_points(trial->data.desc) % 2 == 1;
    struct block workspace = { 0 };
    const struct block *out = output(trial);
    kallima_host_arrays arrays = {
        .in = { block_array(&trial->in, 0), block_array(&trial->in, 1) },
        .out = { block_array(out, 0), block_array(out, 1) },
    };

    bool ok = true;
    if (brings) {
        ok = block_init(&workspace, 1, bytes) || fail(trial, "no memory left");
        if (ok)
            block_poison(&workspace);
        arrays.workspace = block_array(&workspace, 0);
        arrays.workspace_bytes = bytes;
    }
    if (ok && kallima_plan_execute_host(trial->plan, &arrays) != KALLIMA_OK)
        ok = fail(trial, kallima_last_error());
    for (uint64_t i = 0; ok && brings && i < GUARD_BYTES; i++) {
        if (workspace.memory[0][i] != 0xff ||
            workspace.memory[0][workspace.bytes - 1 - i] != 0xff)
            ok = fail(trial, "memory around the workspace was written");
    }
    block_clear(&workspace);
    return ok;
}

// The squares of the relative errors of all transforms of the batch, added up.
static double sum_squares(struct trial *trial)
{
    const struct block *out = output(trial);
    void *const array[2] = { block_array(out, 0), block_array(out, 1) };
    double sum = 0;
    for (int64_t i = 0; i < trial->data.out.batch; i++) {
        const double error = data_error(&trial->data, i, array, ERROR_REFERENCE);
        sum += error * error;
    }
    return sum;
}

// Only output may have changed, and the input where that is allowed.
static bool check_memory(struct trial *trial)
{
    block_restore(output(trial), &trial->data.out);
    if (is_in_place(trial) || trial->data.desc->destroy_input)
        block_restore(&trial->in, &trial->data.in);
    if (!block_is_unchanged(output(trial)))
        return fail(trial, "memory that is not output was written");
    if (!block_is_unchanged(&trial->in))
        return fail(trial, "the input was written");
    return true;
}

bool verify_problem(kallima_device *device, const kallima_desc *desc, double *error,
                    char *why, size_t capacity)
{
    struct trial trial = { .why = why, .capacity = capacity };
    const int64_t points = desc_points(desc) * desc_batch(desc);
    const int draws = points < DRAWN_POINTS ? (int)(DRAWN_POINTS / points) : 1;
    double sum = 0;

    *error = NAN;
    data_init(&trial.data, desc, 0);
    bool ok = prepare(&trial, device);
    for (int i = 0; ok && i < draws; i++) {
        data_init(&trial.data, desc, (uint64_t)i);
        fill(&trial);
        ok = execute(&trial);
        if (ok) {
            sum += sum_squares(&trial);
            ok = check_memory(&trial);
        }
    }
    if (ok)
        *error = sqrt(sum / (double)(draws * desc_batch(desc)));
    kallima_plan_destroy(&trial.plan);
    block_clear(&trial.in);
    block_clear(&trial.out);
    return ok;
}
