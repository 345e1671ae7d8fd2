// SPDX-License-Identifier: MIT
#include "counting.h"

#include <string.h>

#include "malloc.h"

enum { HEADER_BYTES = 64, GUARD_BYTES = 64, GUARD_VALUE = 0xa5 };

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

    char *block = malloc_uncounted(HEADER_BYTES + bytes + GUARD_BYTES);
    if (!block)
        return NULL;
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
    malloc_release(block);
}

kallima_allocator counting_allocator(struct counting *counting)
{
    return (kallima_allocator){ allocate, release, counting };
}
