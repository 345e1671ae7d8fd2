// SPDX-License-Identifier: MIT
// Bounded mutation fuzzing of a reader: the same damaged files in every run.
#ifndef KALLIMA_TESTS_FUZZ_FILES_H_
#define KALLIMA_TESTS_FUZZ_FILES_H_

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "file.h"

enum { FUZZ_MAX_BYTES = 1 << 16 };

/** A valid file to start from. */
struct fuzz_seed {
    const char *name;
    uint8_t byte[FUZZ_MAX_BYTES];
    size_t count;
};

/** Read a file that may be anything; return whether it was accepted. */
typedef int fuzz_reader(struct input *input);

static uint64_t fuzz_state = 1;

// splitmix64: Steele, Lea & Flood, OOPSLA 2014, doi:10.1145/2660193.2660195.
static inline uint64_t fuzz_random(void)
{
    uint64_t z = fuzz_state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

// Flip a bit, set a byte to a telling value, copy a piece elsewhere, or cut the end off.
static inline void fuzz_mutate(uint8_t *byte, size_t *count)
{
    static const uint8_t telling[] = { 0, 1, 127, 128, 255, '0', '9', '-', ' ', '\n' };
    const size_t at = fuzz_random() % *count;
    const size_t rest = *count - at;
    const size_t from = fuzz_random() % *count;
    const size_t most = *count - from < rest ? *count - from : rest;
    switch (fuzz_random() % 8) {
    case 0: *count = at + 1; break;
    case 1: memmove(byte + at, byte + from, fuzz_random() % (most + 1)); break;
    case 2:
    case 3: byte[at] = telling[fuzz_random() % sizeof telling]; break;
    case 4: memset(byte + at, 255, rest < 4 ? rest : 4); break;
    default: byte[at] ^= (uint8_t)(1u << fuzz_random() % 8); break;
    }
}

// Give the reader its own copy, so that a read behind the end is a read behind a block.
static inline int fuzz_try(fuzz_reader *reader, const uint8_t *byte, size_t count)
{
    struct input input = { .name = "fuzz", .byte = malloc(count), .count = count };
    if (!input.byte)
        abort();
    memcpy(input.byte, byte, count);
    const int accepted = reader(&input);
    input_clear(&input);
    return accepted;
}

/**
 * Read the seed, which must be accepted, and `rounds` damaged copies of it. Returns 0 if
 * the seed was accepted; what else can go wrong, the sanitizers see.
 */
static inline int fuzz_run(const struct fuzz_seed *seed, fuzz_reader *reader, int rounds)
{
    static uint8_t byte[FUZZ_MAX_BYTES];
    int accepted = 0;
    if (!fuzz_try(reader, seed->byte, seed->count)) {
        printf("%s: the seed is refused\n", seed->name);
        return 1;
    }
    for (int round = 0; round < rounds; round++) {
        size_t count = seed->count;
        memcpy(byte, seed->byte, count);
        for (uint64_t i = fuzz_random() % 6 + 1; i > 0; i--)
            fuzz_mutate(byte, &count);
        accepted += fuzz_try(reader, byte, count);
    }
    printf("%s: %d of %d damaged files accepted\n", seed->name, accepted, rounds);
    return 0;
}

/** The rounds that the first argument asks for, else `rounds`; silence the refusals. */
static inline int fuzz_begin(int argc, char **argv, int rounds)
{
    FILE *nowhere = fopen("/dev/null", "w");
    if (!nowhere)
        abort();
    stderr = nowhere; // the stream alone: sanitizers write to the descriptor
    return argc > 1 ? atoi(argv[1]) : rounds;
}

#endif
