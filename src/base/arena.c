// SPDX-License-Identifier: MIT
#include "base/arena.h"

#include <string.h>

enum { ALIGNMENT_BYTES = 64, BLOCK_BYTES = 16384 };

struct kal_arena_block {
    _Alignas(ALIGNMENT_BYTES) struct kal_arena_block *next;
    size_t bytes; // behind this header
};

void kal_arena_init(struct kal_arena *arena, const struct kal_host *host)
{
    *arena = (struct kal_arena){ .host = host };
}

void kal_arena_clear(struct kal_arena *arena)
{
    while (arena->blocks) {
        struct kal_arena_block *next = arena->blocks->next;
        kal_free(arena->host, arena->blocks);
        arena->blocks = next;
    }
    arena->used = 0;
}

static kallima_status add_block(struct kal_arena *arena, uint64_t bytes)
{
    void *memory;
    KAL_TRY(kal_alloc(arena->host, &memory, 1, bytes + sizeof(struct kal_arena_block)));
    struct kal_arena_block *block = memory;
    *block = (struct kal_arena_block){ arena->blocks, bytes };
    arena->blocks = block;
    arena->used = 0;
    return KALLIMA_OK;
}

kallima_status kal_arena_take(struct kal_arena *arena, void **out, uint64_t count,
                              uint64_t size)
{
    uint64_t bytes;

    *out = NULL;
    if (__builtin_mul_overflow(count, size, &bytes) || bytes > PTRDIFF_MAX / 2)
        return kal_fail(arena->host, KALLIMA_E_MEMORY,
                        "memory: %llu elements of %llu bytes exceed the address space",
                        (unsigned long long)count, (unsigned long long)size);

    bytes = (bytes + ALIGNMENT_BYTES - 1) / ALIGNMENT_BYTES * ALIGNMENT_BYTES;
    if (!arena->blocks || arena->blocks->bytes - arena->used < bytes)
        KAL_TRY(add_block(arena, bytes > BLOCK_BYTES ? bytes : BLOCK_BYTES));

    *out = (char *)(arena->blocks + 1) + arena->used;
    memset(*out, 0, (size_t)bytes);
    arena->used += (size_t)bytes;
    return KALLIMA_OK;
}
