// SPDX-License-Identifier: MIT
#include "api/knowledge.h"

#include <limits.h>
#include <math.h>

#include "tune/calibrate.h"

static const char model_name[] = "cost-model"; // samples, the costs, the trusts

// --- facts -------------------------------------------------------------------------------

// Read the numbers of a fact: none unless there are just so many.
static kallima_status find_fact(kallima_device *device, const kallima_wisdom_owner *owner,
                                const char *name, double *number, int count,
                                bool *is_known)
{
    kallima_wisdom_entry entry = { .kind = KALLIMA_WISDOM_ANY };
    struct kal_arena arena;

    kal_arena_init(&arena, &device->host);
    const kallima_status status =
        kal_wisdom_find(device->wisdom, KALLIMA_WISDOM_FACT, owner, name, &arena, &entry);
    *is_known = !status && entry.kind &&
                kal_wisdom_parse_numbers(entry.value, number, count) == count;
    kal_arena_clear(&arena);
    return status;
}

static kallima_status keep_fact(kallima_device *device, const kallima_wisdom_owner *owner,
                                const char *name, const struct kal_text *numbers,
                                double spread)
{
    const kallima_wisdom_entry entry = {
        .kind = KALLIMA_WISDOM_FACT,
        .device = owner->device,
        .driver = owner->driver,
        .version = owner->version,
        .key = name,
        .value = numbers->data,
        .spread = spread,
    };
    return numbers->status ? numbers->status : kal_wisdom_add(device->wisdom, &entry);
}

// --- constants ---------------------------------------------------------------------------

static kallima_status find_constants(kallima_device *device,
                                     const kallima_wisdom_owner *owner,
                                     struct kal_constants *out, int *count)
{
    *out = (struct kal_constants){ { 0.0 } };
    *count = 0;
    for (int i = 0; i < KAL_CONSTANT_COUNT; i++) {
        double number = 0.0;
        bool is_known;
        KAL_TRY(find_fact(device, owner, kal_constant_names[i], &number, 1, &is_known));
        if (!is_known || !(number > 0.0))
            continue;
        out->value[i] = number;
        (*count)++;
    }
    return KALLIMA_OK;
}

static kallima_status keep_constants(kallima_device *device,
                                     const kallima_wisdom_owner *owner,
                                     const struct kal_calibration *calibration)
{
    for (int i = 0; i < KAL_CONSTANT_COUNT; i++) {
        const double value = calibration->constants.value[i];
        struct kal_text text;

        if (value == 0.0)
            continue;
        kal_text_init(&text, &device->host);
        kal_wisdom_print_number(&text, value);
        const kallima_status status = keep_fact(device, owner, kal_constant_names[i],
                                                &text, calibration->spread[i]);
        kal_text_clear(&text);
        KAL_TRY(status);
    }
    return KALLIMA_OK;
}

kallima_status kal_knowledge_measure(kallima_device *device,
                                     const kallima_wisdom_owner *owner, uint64_t bytes)
{
    struct kal_constants constants;
    struct kal_calibration calibration;
    int known;

    if (device->ops->is_pretended)
        return KALLIMA_OK;
    KAL_TRY(find_constants(device, owner, &constants, &known));
    if (known > 0)
        return KALLIMA_OK;
    kallima_status status = kal_calibrate(&calibration, device, bytes);
    if (status == KALLIMA_E_UNSUPPORTED)
        return status;
    status = keep_constants(device, owner, &calibration);
    return status == KALLIMA_E_WISDOM ? KALLIMA_OK : status; // the log says: no room
}

// --- the model ---------------------------------------------------------------------------

kallima_status kal_knowledge_find(kallima_device *device,
                                  const kallima_wisdom_owner *owner,
                                  struct kal_knowledge *out)
{
    double number[1 + 2 * KAL_TERM_COUNT];
    struct kal_constants constants;
    bool is_known;
    int count;

    KAL_TRY(find_constants(device, owner, &constants, &count));
    const struct kal_model guess = kal_model_guess(&device->caps, &constants);
    *out = kal_knowledge_guess(&guess);
    KAL_TRY(
        find_fact(device, owner, model_name, number, (int)KAL_COUNT(number), &is_known));
    if (!is_known)
        return KALLIMA_OK;
    out->samples = (int)fmin(fmax(0.0, number[0]), INT_MAX / 2);
    for (int i = 0; i < KAL_TERM_COUNT; i++) {
        out->model.cost[i] = fmax(0.0, number[1 + i]);
        out->trust[i] = fmax(out->trust[i], number[1 + KAL_TERM_COUNT + i]);
    }
    return KALLIMA_OK;
}

// Of two models that rests on more samples stays: it has the lower spread.
kallima_status kal_knowledge_keep(kallima_device *device,
                                  const kallima_wisdom_owner *owner,
                                  const struct kal_knowledge *knowledge)
{
    struct kal_text text;

    if (knowledge->samples == 0)
        return KALLIMA_OK;
    kal_text_init(&text, &device->host);
    kal_wisdom_print_number(&text, knowledge->samples);
    for (int i = 0; i < KAL_TERM_COUNT; i++)
        kal_wisdom_print_number(&text, knowledge->model.cost[i]);
    for (int i = 0; i < KAL_TERM_COUNT; i++)
        kal_wisdom_print_number(&text, knowledge->trust[i]);
    const kallima_status status =
        keep_fact(device, owner, model_name, &text, 1000.0 / knowledge->samples);
    kal_text_clear(&text);
    return status;
}
