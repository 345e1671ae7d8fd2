// SPDX-License-Identifier: MIT
#include "malloc.h"

#include <stdatomic.h>
#include <stdlib.h>

const bool malloc_counts_mutexes = false;

static atomic_llong calls;

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t bytes);
void *__real_realloc(void *memory, size_t bytes);
void *__real_aligned_alloc(size_t alignment, size_t bytes);
int __real_posix_memalign(void **out, size_t alignment, size_t bytes);

void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_realloc(void *memory, size_t bytes);
void *__wrap_aligned_alloc(size_t alignment, size_t bytes);
int __wrap_posix_memalign(void **out, size_t alignment, size_t bytes);

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

void *__wrap_aligned_alloc(size_t alignment, size_t bytes)
{
    calls++;
    return __real_aligned_alloc(alignment, bytes);
}

int __wrap_posix_memalign(void **out, size_t alignment, size_t bytes)
{
    calls++;
    return __real_posix_memalign(out, alignment, bytes);
}

long long malloc_calls(void)
{
    return calls;
}

void *malloc_uncounted(size_t bytes)
{
    void *memory = NULL;
    return __real_posix_memalign(&memory, 64, bytes) == 0 ? memory : NULL;
}

void malloc_release(void *memory)
{
    free(memory);
}
