// SPDX-License-Identifier: MIT
#include "malloc.h"

#include <stdlib.h>

const bool malloc_counts_mutexes = false;

void *__real_aligned_alloc(size_t alignment, size_t bytes);
int __real_posix_memalign(void **out, size_t alignment, size_t bytes);

void *__wrap_aligned_alloc(size_t alignment, size_t bytes);
int __wrap_posix_memalign(void **out, size_t alignment, size_t bytes);

void *__wrap_aligned_alloc(size_t alignment, size_t bytes)
{
    malloc_count();
    return __real_aligned_alloc(alignment, bytes);
}

int __wrap_posix_memalign(void **out, size_t alignment, size_t bytes)
{
    malloc_count();
    return __real_posix_memalign(out, alignment, bytes);
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
