// SPDX-License-Identifier: MIT
// SHA-256: names and checksums for what is kept outside the process.
#ifndef KAL_BASE_HASH_H_
#define KAL_BASE_HASH_H_

#include "base/base.h"

enum { KAL_HASH_BYTES = 32, KAL_HASH_TEXT_BYTES = 2 * KAL_HASH_BYTES + 1 };

struct kal_hash {
    uint32_t state[8];
    uint64_t bytes; // that were added
    uint8_t block[64];
};

/**
 * Prepare the hash of nothing; it owns no memory.
 *
 * Source: NIST, FIPS 180-4 (2015), doi:10.6028/NIST.FIPS.180-4
 */
void kal_hash_init(struct kal_hash *hash);

/** Append bytes to what is hashed. */
void kal_hash_add(struct kal_hash *hash, const void *data, size_t bytes);

/** Give the hash of all that was added; init is needed before the next use. */
void kal_hash_finish(struct kal_hash *hash, uint8_t digest[KAL_HASH_BYTES]);

/** Write a hash as lower-case hexadecimal digits and a NUL. */
void kal_hash_print(const uint8_t digest[KAL_HASH_BYTES], char text[KAL_HASH_TEXT_BYTES]);

#endif
