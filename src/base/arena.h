// SPDX-License-Identifier: MIT
// The memory of one planning: objects are taken one by one and go in one call.
#ifndef KAL_BASE_ARENA_H_
#define KAL_BASE_ARENA_H_

#include "base/base.h"

struct kal_arena_block;

struct kal_arena {
    const struct kal_host *host;
    struct kal_arena_block *blocks; // newest first
    size_t used;                    // bytes of the newest block
};

/** Prepare an empty arena whose memory comes from `host`. */
void kal_arena_init(struct kal_arena *arena, const struct kal_host *host);

/** Free everything that was taken from the arena. */
void kal_arena_clear(struct kal_arena *arena);

/**
 * Take `count` times `size` zeroed bytes, aligned to 64.
 *
 * Owner: the arena.
 * Error: E_MEMORY  exhausted, or the product overflows; *out is NULL
 */
kallima_status kal_arena_take(struct kal_arena *arena, void **out, uint64_t count,
                              uint64_t size);

#endif
