// SPDX-License-Identifier: MIT
#include "base/hash.h"

#include <string.h>

enum { BLOCK_BYTES = 64, ROUNDS = 64 };

// The first 32 bits of the fractions of the cube roots of the first 64 primes.
static const uint32_t round_constant[ROUNDS] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4,
    0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe,
    0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f,
    0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7,
    0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc,
    0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
    0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116,
    0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
    0xc67178f2,
};

void kal_hash_init(struct kal_hash *hash)
{
    // The same of the square roots of the first 8 primes.
    *hash =
        (struct kal_hash){ .state = { 0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19 } };
}

static uint32_t rotate(uint32_t x, int count)
{
    return x >> count | x << (32 - count);
}

// The words that the rounds take in: those of the block, then mixtures of earlier ones.
static void expand(uint32_t word[ROUNDS], const uint8_t block[BLOCK_BYTES])
{
    for (int i = 0; i < 16; i++, block += 4)
        word[i] = (uint32_t)block[0] << 24 | (uint32_t)block[1] << 16 |
                  (uint32_t)block[2] << 8 | block[3];
    for (int i = 16; i < ROUNDS; i++) {
        const uint32_t a = word[i - 15], b = word[i - 2];
        word[i] = word[i - 16] + (rotate(a, 7) ^ rotate(a, 18) ^ a >> 3) + word[i - 7] +
                  (rotate(b, 17) ^ rotate(b, 19) ^ b >> 10);
    }
}

// One round: what stands at `at` counts as the first of the eight words, and so on around.
static inline void mix(uint32_t s[8], unsigned at, uint32_t input)
{
    const uint32_t a = s[at & 7], b = s[(at + 1) & 7], c = s[(at + 2) & 7];
    const uint32_t e = s[(at + 4) & 7], f = s[(at + 5) & 7], g = s[(at + 6) & 7];
    const uint32_t first = s[(at + 7) & 7] + input + ((e & f) ^ (~e & g)) +
                           (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25));
    s[(at + 3) & 7] += first;
    s[(at + 7) & 7] = first + ((a & b) ^ (a & c) ^ (b & c)) +
                      (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22));
}

static void add_block(struct kal_hash *hash, const uint8_t block[BLOCK_BYTES])
{
    uint32_t word[ROUNDS], s[8];

    expand(word, block);
    memcpy(s, hash->state, sizeof s);
    // Instead of moving all words on by one, the start moves back by one.
    for (unsigned i = 0; i < ROUNDS; i += 8) {
        for (unsigned k = 0; k < 8; k++)
            mix(s, 8 - k, round_constant[i + k] + word[i + k]);
    }
    for (int i = 0; i < 8; i++)
        hash->state[i] += s[i];
}

void kal_hash_add(struct kal_hash *hash, const void *data, size_t bytes)
{
    const uint8_t *next = data;
    size_t filled = (size_t)(hash->bytes % BLOCK_BYTES);

    hash->bytes += bytes;
    while (bytes > 0) {
        const size_t taken = bytes < BLOCK_BYTES - filled ? bytes : BLOCK_BYTES - filled;
        memcpy(hash->block + filled, next, taken);
        next += taken;
        bytes -= taken;
        filled += taken;
        if (filled == BLOCK_BYTES) {
            add_block(hash, hash->block);
            filled = 0;
        }
    }
}

void kal_hash_finish(struct kal_hash *hash, uint8_t digest[KAL_HASH_BYTES])
{
    static const uint8_t padding[BLOCK_BYTES] = { 0x80 };
    const uint64_t bits = hash->bytes * 8;
    uint8_t length[8];

    for (int i = 0; i < 8; i++)
        length[i] = (uint8_t)(bits >> (56 - 8 * i));
    // Up to eight bytes before the end of a block: at least one, the 0x80.
    kal_hash_add(hash, padding,
                 1 + (2 * BLOCK_BYTES - 9 - hash->bytes % BLOCK_BYTES) % BLOCK_BYTES);
    kal_hash_add(hash, length, sizeof length);
    for (int i = 0; i < KAL_HASH_BYTES; i++)
        digest[i] = (uint8_t)(hash->state[i / 4] >> (24 - 8 * (i % 4)));
}

void kal_hash_print(const uint8_t digest[KAL_HASH_BYTES], char text[KAL_HASH_TEXT_BYTES])
{
    static const char digits[] = "0123456789abcdef";
    for (int i = 0; i < KAL_HASH_BYTES; i++) {
        text[2 * i] = digits[digest[i] >> 4];
        text[2 * i + 1] = digits[digest[i] & 15];
    }
    text[KAL_HASH_TEXT_BYTES - 1] = '\0';
}
