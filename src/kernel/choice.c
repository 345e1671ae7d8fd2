// SPDX-License-Identifier: MIT
// What may be chosen freely in a kernel: defaults, and an environment variable to try others.
#include "kernel/choice.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    size_t offset;
} fields[] = {
    { "points", offsetof(struct kal_choice, lane_points) },
    { "lines", offsetof(struct kal_choice, lines) },
    { "lanes", offsetof(struct kal_choice, wanted_lanes) },
    { "run", offsetof(struct kal_choice, run_bytes) },
    { "powers", offsetof(struct kal_choice, powers_from) },
    { "resident", offsetof(struct kal_choice, resident) },
    { "hints", offsetof(struct kal_choice, has_hints) },
    { "lag", offsetof(struct kal_choice, lag) },
    { "cluster", offsetof(struct kal_choice, cluster) },
};

// "name=number,name=number"
static void read_text(struct kal_choice *choice, const char *text)
{
    while (text && *text) {
        for (size_t i = 0; i < KAL_COUNT(fields); i++) {
            const size_t length = strlen(fields[i].name);
            if (strncmp(text, fields[i].name, length) == 0 && text[length] == '=')
                *(int *)(void *)((char *)choice + fields[i].offset) =
                    atoi(text + length + 1);
        }
        text = strchr(text, ',');
        text = text ? text + 1 : NULL;
    }
}

struct kal_choice kal_choice_make(const struct kal_caps *caps, bool is_f64)
{
    struct kal_choice choice = {
        .lane_points = is_f64 ? 8 : 16,
        .wanted_lanes = 256,
        .run_bytes = 128,
        .powers_from = 8,
        .has_hints = caps->has_nvidia_ptx,
        .cluster = 1,
    };
    read_text(&choice, getenv("KALLIMA_KERNEL"));
    return choice;
}
