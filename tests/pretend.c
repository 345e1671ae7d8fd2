// SPDX-License-Identifier: MIT
#include "pretend.h"

#include <stdlib.h>
#include <string.h>

#include "rows.h"

const kallima_wisdom_owner pretend_owner = { "cpu Pretend", "avx9, 2 threads", "0.1.0" };

kallima_wisdom *pretend_create(const struct kal_host *host)
{
    kallima_wisdom *wisdom = NULL;
    ROW_CHECK(kal_wisdom_create(&wisdom, host) == KALLIMA_OK && wisdom);
    return wisdom;
}

kallima_wisdom_entry pretend_plan(const char *key, const char *recipe, double time_ns)
{
    return (kallima_wisdom_entry){
        .kind = KALLIMA_WISDOM_PLAN,
        .effort = KALLIMA_EFFORT_MEASURE,
        .device = pretend_owner.device,
        .driver = pretend_owner.driver,
        .version = pretend_owner.version,
        .key = key,
        .value = recipe,
        .time_ns = time_ns,
    };
}

kallima_wisdom_entry pretend_bad(const char *key, const char *recipe)
{
    kallima_wisdom_entry entry = pretend_plan(key, recipe, 0.0);
    entry.kind = KALLIMA_WISDOM_BAD;
    entry.reason = "an error of 1e-3";
    return entry;
}

void pretend_add(kallima_wisdom *wisdom, kallima_wisdom_entry entry)
{
    ROW_CHECK(kal_wisdom_add(wisdom, &entry) == KALLIMA_OK);
}

void pretend_add_plan(kallima_wisdom *wisdom, const char *key, const char *recipe,
                      double time_ns)
{
    pretend_add(wisdom, pretend_plan(key, recipe, time_ns));
}

char *pretend_text(const kallima_wisdom *wisdom)
{
    size_t length = 0;
    ROW_CHECK(kallima_wisdom_export(wisdom, NULL, 0, &length) == KALLIMA_OK);
    char *text = malloc(length + 1);
    assert_non_null(text);
    ROW_CHECK(kallima_wisdom_export(wisdom, text, length + 1, NULL) == KALLIMA_OK);
    ROW_CHECK(strlen(text) == length);
    return text;
}

bool pretend_is_same(const kallima_wisdom *a, const kallima_wisdom *b)
{
    char *x = pretend_text(a), *y = pretend_text(b);
    const bool same = strcmp(x, y) == 0;
    free(x);
    free(y);
    return same;
}

void pretend_merge(kallima_wisdom *wisdom, const kallima_wisdom *other)
{
    char *text = pretend_text(other);
    ROW_CHECK(kallima_wisdom_import(wisdom, text, NULL, NULL) == KALLIMA_OK);
    free(text);
}
