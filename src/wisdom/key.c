// SPDX-License-Identifier: MIT
// Whose an entry is, and whether it is followed.
#include "wisdom/wisdom.h"

#include <kallima/kallima.h>
#include <stdio.h>
#include <string.h>

// Append text whose characters are all printable; what does not fit is left out.
static void append(char *out, size_t capacity, const char *text)
{
    size_t length = strlen(out);
    for (; *text; text++) {
        const bool is_printable = *text >= ' ' && *text <= '~';
        const size_t count = is_printable ? 1 : 3;
        if (length + count >= capacity)
            return;
        if (is_printable)
            out[length] = *text;
        else
            snprintf(out + length, capacity - length, "%%%02x", (unsigned char)*text);
        length += count;
        out[length] = '\0';
    }
}

void kal_wisdom_owner_init(kallima_wisdom_owner *owner, const kallima_device_info *info)
{
    char api[sizeof info->selector], threads[32];

    *owner = (kallima_wisdom_owner){ .version = KALLIMA_VERSION };
    snprintf(api, sizeof api, "%.*s", (int)strcspn(info->selector, ":"), info->selector);
    append(owner->device, sizeof owner->device, api);
    append(owner->device, sizeof owner->device, " ");
    append(owner->device, sizeof owner->device, info->name);
    append(owner->driver, sizeof owner->driver, info->driver[0] ? info->driver : "-");
    if (info->threads > 0) {
        snprintf(threads, sizeof threads, ", %d thread%s", (int)info->threads,
                 info->threads == 1 ? "" : "s");
        append(owner->driver, sizeof owner->driver, threads);
    }
}

static bool explain_owner(const kallima_wisdom_entry *entry,
                          const kallima_wisdom_owner *owner, struct kal_text *text)
{
    const struct {
        const char *what, *entry, *owner;
    } part[] = {
        { "another device", entry->device, owner->device },
        { "another driver", entry->driver, owner->driver },
        { "another version of the library", entry->version, owner->version },
    };
    for (size_t i = 0; i < KAL_COUNT(part); i++) {
        if (strcmp(part[i].entry, part[i].owner) == 0)
            continue;
        kal_text_add(text, "it is of %s: \"%s\" instead of \"%s\"", part[i].what,
                     part[i].entry, part[i].owner);
        return true;
    }
    return false;
}

void kal_wisdom_explain(const kallima_wisdom *wisdom,
                        const struct kal_wisdom_record *record,
                        const kallima_wisdom_owner *owner, struct kal_text *text)
{
    const kallima_wisdom_entry *entry = &record->entry;

    if (explain_owner(entry, owner, text) || entry->kind != KALLIMA_WISDOM_PLAN)
        return;
    kallima_wisdom_entry bad = *entry;
    bad.kind = KALLIMA_WISDOM_BAD;
    if (kal_wisdom_knows(wisdom, &bad))
        kal_text_add(text, "its recipe computed wrongly here");
    else if (kal_wisdom_best(wisdom, KALLIMA_WISDOM_PLAN, owner, entry->key) != record)
        kal_text_add(text, "a better recipe of the problem is known");
}

kallima_status kal_wisdom_find_plan(const kallima_wisdom *wisdom,
                                    const kallima_wisdom_owner *owner,
                                    const struct kal_problem *problem,
                                    struct kal_arena *arena, kallima_wisdom_entry *out)
{
    struct kal_text key;

    *out = (kallima_wisdom_entry){ .kind = KALLIMA_WISDOM_ANY };
    kal_text_init(&key, &wisdom->host);
    kal_problem_print(&key, problem);
    const kallima_status status =
        key.status
            ? key.status
            : kal_wisdom_find(wisdom, KALLIMA_WISDOM_PLAN, owner, key.data, arena, out);
    kal_text_clear(&key);
    return status;
}
