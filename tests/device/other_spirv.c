// SPDX-License-Identifier: MIT
// A module of another version, as one would be left behind by an older installation.
#include "device/spirv/module/module.h"

extern const char kallima_spirv_version[];
kal_spirv_compile kallima_spirv_compile;

const char kallima_spirv_version[] = "0.0.0";

bool kallima_spirv_compile(const char *text, kal_spirv_allocate *allocate, void *user,
                           uint32_t **words, size_t *bytes, char *log, size_t capacity)
{
    (void)text, (void)allocate, (void)user, (void)bytes, (void)log, (void)capacity;
    *words = NULL;
    return false;
}
