// SPDX-License-Identifier: MIT
#include "tune/passes.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "wisdom/wisdom.h"

void kal_passes_init(struct kal_passes *passes, const struct kal_host *host)
{
    *passes = (struct kal_passes){ .host = host };
}

void kal_passes_clear(struct kal_passes *passes)
{
    if (passes->host)
        kal_free(passes->host, passes->time);
    *passes = (struct kal_passes){ .host = NULL };
}

static struct kal_pass_time *find(const struct kal_passes *passes, uint64_t key)
{
    for (int i = 0; i < passes->count; i++) {
        if (passes->time[i].key == key)
            return &passes->time[i];
    }
    return NULL;
}

static kallima_status grow(struct kal_passes *passes)
{
    enum { FIRST_CAPACITY = 64 };
    const int capacity = passes->capacity ? 2 * passes->capacity : FIRST_CAPACITY;
    void *memory;

    KAL_TRY(kal_alloc(passes->host, &memory, (uint64_t)capacity, sizeof *passes->time));
    if (passes->count)
        memcpy(memory, passes->time, (size_t)passes->count * sizeof *passes->time);
    kal_free(passes->host, passes->time);
    passes->time = memory;
    passes->capacity = capacity;
    return KALLIMA_OK;
}

kallima_status kal_passes_set(struct kal_passes *passes, struct kal_pass_time time)
{
    struct kal_pass_time *known = find(passes, time.key);

    if (known) {
        *known = time;
        return KALLIMA_OK;
    }
    if (passes->count == passes->capacity)
        KAL_TRY(grow(passes));
    passes->time[passes->count++] = time;
    return KALLIMA_OK;
}

double kal_passes_sum(const struct kal_passes *passes, const struct kal_pass_list *list,
                      int *unknown)
{
    double seconds = 0.0;

    *unknown = 0;
    for (int i = 0; i < list->count; i++) {
        const struct kal_pass_time *known = find(passes, list->key[i]);
        seconds += known ? known->seconds : 0.0;
        *unknown += !known;
    }
    return seconds;
}

kallima_status kal_passes_learn(struct kal_passes *passes,
                                const struct kal_pass_list *list, double seconds,
                                double spread)
{
    int unknown;
    const double rest = seconds - kal_passes_sum(passes, list, &unknown);

    for (int i = 0; i < list->count && unknown == 1 && rest > 0.0; i++) {
        if (!find(passes, list->key[i]))
            return kal_passes_set(
                passes, (struct kal_pass_time){ list->key[i], rest, spread, true });
    }
    return KALLIMA_OK;
}

// --- wisdom ------------------------------------------------------------------------------

kallima_status kal_passes_load(struct kal_passes *passes, const kallima_wisdom *wisdom,
                               const kallima_wisdom_owner *owner)
{
    const kallima_wisdom_filter filter = { .kind = KALLIMA_WISDOM_PASS,
                                           .device = owner->device,
                                           .driver = owner->driver,
                                           .version = owner->version };
    for (int64_t i = 0; (i = kallima_wisdom_find(wisdom, &filter, i)) >= 0; i++) {
        kallima_wisdom_entry entry;
        KAL_TRY(kallima_wisdom_get_entry(wisdom, i, &entry));
        KAL_TRY(kal_passes_set(
            passes, (struct kal_pass_time){ strtoull(entry.key, NULL, 16),
                                            entry.time_ns * 1e-9, entry.spread, false }));
    }
    return KALLIMA_OK;
}

static kallima_status keep(const struct kal_pass_time *time, kallima_wisdom *wisdom,
                           const kallima_wisdom_owner *owner)
{
    char key[2 * sizeof time->key + 1];
    const kallima_wisdom_entry entry = { .kind = KALLIMA_WISDOM_PASS,
                                         .device = owner->device,
                                         .driver = owner->driver,
                                         .version = owner->version,
                                         .key = key,
                                         .time_ns = time->seconds * 1e9,
                                         .spread = time->spread };
    snprintf(key, sizeof key, "%016" PRIx64, time->key);
    return kal_wisdom_add(wisdom, &entry);
}

kallima_status kal_passes_keep(const struct kal_passes *passes, kallima_wisdom *wisdom,
                               const kallima_wisdom_owner *owner)
{
    kallima_status status = KALLIMA_OK;
    for (int i = 0; i < passes->count && !status; i++) {
        if (passes->time[i].is_new)
            status = keep(&passes->time[i], wisdom, owner);
    }
    return status == KALLIMA_E_WISDOM ? KALLIMA_OK : status;
}
