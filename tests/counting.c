// SPDX-License-Identifier: MIT
#define _POSIX_C_SOURCE 200809L
#include "counting.h"

#include <stdlib.h>
#include <string.h>

enum { HEADER_BYTES = 64, GUARD_BYTES = 64, GUARD_VALUE = 0xa5 };

static atomic_llong malloc_calls;

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
    malloc_calls++;
    return __real_malloc(bytes);
}

void *__wrap_calloc(size_t count, size_t bytes)
{
    malloc_calls++;
    return __real_calloc(count, bytes);
}

void *__wrap_realloc(void *memory, size_t bytes)
{
    malloc_calls++;
    return __real_realloc(memory, bytes);
}

void *__wrap_aligned_alloc(size_t alignment, size_t bytes)
{
    malloc_calls++;
    return __real_aligned_alloc(alignment, bytes);
}

int __wrap_posix_memalign(void **out, size_t alignment, size_t bytes)
{
    malloc_calls++;
    return __real_posix_memalign(out, alignment, bytes);
}

long long counting_malloc_calls(void)
{
    return malloc_calls;
}

// A block is a header that holds its size, the caller's bytes, and a guard. The content is
// poisoned: whoever relies on zeroes sees all-ones, which as a float is a NaN.
static void *allocate(void *user, size_t bytes)
{
    struct counting *c = (struct counting *)user;
    const long long call = ++c->calls;
    if (c->fail_at > 0 && (call == c->fail_at || (c->fail_after && call > c->fail_at)))
        return NULL;
    if (bytes > SIZE_MAX / 4)
        return NULL;

    void *memory = NULL;
    if (__real_posix_memalign(&memory, 64, HEADER_BYTES + bytes + GUARD_BYTES) != 0)
        return NULL;
    char *block = (char *)memory;
    memcpy(block, &bytes, sizeof bytes);
    memset(block + HEADER_BYTES, 0xff, bytes < 4096 ? bytes : 4096);
    memset(block + HEADER_BYTES + bytes, GUARD_VALUE, GUARD_BYTES);
    c->live++;
    c->bytes += (long long)bytes;
    return block + HEADER_BYTES;
}

static void release(void *user, void *memory)
{
    struct counting *c = (struct counting *)user;
    unsigned char *block = (unsigned char *)memory - HEADER_BYTES;
    size_t bytes;
    memcpy(&bytes, block, sizeof bytes);
    for (int i = 0; i < GUARD_BYTES; i++) {
        if (block[HEADER_BYTES + bytes + (size_t)i] != GUARD_VALUE) {
            c->damaged++;
            break;
        }
    }
    c->live--;
    c->bytes -= (long long)bytes;
    free(block);
}

kallima_allocator counting_allocator(struct counting *counting)
{
    return (kallima_allocator){ allocate, release, counting };
}
