// SPDX-License-Identifier: MIT
// What the system's own file does not count: what every C library has.
#include "malloc.h"

#include <stdatomic.h>

static atomic_llong calls;

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t bytes);
void *__real_realloc(void *memory, size_t bytes);

void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_realloc(void *memory, size_t bytes);

void *__wrap_malloc(size_t bytes)
{
    calls++;
    return __real_malloc(bytes);
}

void *__wrap_calloc(size_t count, size_t bytes)
{
    calls++;
    return __real_calloc(count, bytes);
}

void *__wrap_realloc(void *memory, size_t bytes)
{
    calls++;
    return __real_realloc(memory, bytes);
}

long long malloc_calls(void)
{
    return calls;
}

void malloc_count(void)
{
    calls++;
}
