// SPDX-License-Identifier: MIT
#include "bench_selector.h"

#include <stdio.h>
#include <string.h>

bool bench_is_host(const char *selector)
{
    return strcmp(selector, "cpu") == 0 || strncmp(selector, "null", 4) == 0;
}

void bench_get_api(const char *selector, char *api, size_t capacity)
{
    snprintf(api, capacity, "%.*s", (int)strcspn(selector, ":"), selector);
}
