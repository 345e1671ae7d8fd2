// SPDX-License-Identifier: MIT
#include "api/knowledge.h"

#include <limits.h>
#include <math.h>

static const char model_name[] = "cost-model"; // samples, the costs, the trusts

kallima_status kal_knowledge_find(kallima_device *device,
                                  const kallima_wisdom_owner *owner,
                                  struct kal_knowledge *out)
{
    double number[1 + 2 * KAL_TERM_COUNT];
    kallima_wisdom_entry entry = { .kind = KALLIMA_WISDOM_ANY };
    const struct kal_model guess = kal_model_guess(&device->caps);
    struct kal_arena arena;

    *out = kal_knowledge_guess(&guess);
    kal_arena_init(&arena, &device->host);
    const kallima_status status = kal_wisdom_find(device->wisdom, KALLIMA_WISDOM_FACT,
                                                  owner, model_name, &arena, &entry);
    if (!status && entry.kind &&
        kal_wisdom_parse_numbers(entry.value, number, (int)KAL_COUNT(number)) ==
            (int)KAL_COUNT(number)) {
        out->samples = (int)fmin(fmax(0.0, number[0]), INT_MAX / 2);
        for (int i = 0; i < KAL_TERM_COUNT; i++) {
            out->model.cost[i] = fmax(0.0, number[1 + i]);
            out->trust[i] = fmax(out->trust[i], number[1 + KAL_TERM_COUNT + i]);
        }
    }
    kal_arena_clear(&arena);
    return status;
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
    const kallima_wisdom_entry entry = {
        .kind = KALLIMA_WISDOM_FACT,
        .device = owner->device,
        .driver = owner->driver,
        .version = owner->version,
        .key = model_name,
        .value = text.data,
        .spread = 1000.0 / knowledge->samples,
    };
    const kallima_status status =
        text.status ? text.status : kal_wisdom_add(device->wisdom, &entry);
    kal_text_clear(&text);
    return status;
}
