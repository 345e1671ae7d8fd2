// SPDX-License-Identifier: MIT
// Usage: fuzz_kernel_cache [COUNT [SEED]]. Damaged files in the cache of kernels: not found,
// or found with just the bytes that were sealed.
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../counting.h"
#include "../random.h"
#include "../rows.h"
#include "base/hash.h"
#include "exec/kernel_cache.h"

enum { DEFAULT_COUNT = 8000, FILE_BYTES = 4096, BINARY_BYTES = 150, SEAL_BYTES = 40 };

static const char key[] = "pretend, driver 1.2";
static const char text[] = "kernel void pretend() { }";

struct content {
    uint8_t byte[FILE_BYTES];
    size_t count;
};

struct tally {
    long long found, refused;
};

static char folder[PATH_MAX], path[PATH_MAX + 300];
static struct content original;
static size_t label_bytes;

static size_t any(struct random *r, size_t count)
{
    return (size_t)random_between(r, 0, (int64_t)count - 1);
}

static void write_content(const struct content *c)
{
    const int file = open(path, O_WRONLY);
    ROW_CHECK(file >= 0 && write(file, c->byte, c->count) == (ssize_t)c->count);
    ROW_CHECK(ftruncate(file, (off_t)c->count) == 0 && close(file) == 0);
}

static void find_path(void)
{
    DIR *dir = opendir(folder);
    const struct dirent *entry;
    while (dir && (entry = readdir(dir))) {
        if (entry->d_name[0] != '.')
            snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
    }
    if (dir)
        closedir(dir);
}

static void make_original(const struct kal_host *host)
{
    uint8_t data[BINARY_BYTES];
    const struct kal_binary binary = { data, sizeof data };
    const char *temporary = getenv("TMPDIR");

    for (int i = 0; i < BINARY_BYTES; i++)
        data[i] = (uint8_t)(i * i);
    snprintf(folder, sizeof folder, "%s/kallima-XXXXXX", temporary ? temporary : "/tmp");
    assert_non_null(mkdtemp(folder));
    kal_kernel_cache_store(host, folder, key, text, &binary);
    find_path();
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    original.count = fread(original.byte, 1, FILE_BYTES, file);
    fclose(file);
    label_bytes = original.count - BINARY_BYTES - SEAL_BYTES;
    assert_in_range(label_bytes, 100, 1000);
}

// Move the end of the file, or what is behind `at`, by some bytes.
static void resize(struct content *c, struct random *r)
{
    const size_t at = any(r, c->count + 1), shift = any(r, 50);
    if (random_between(r, 0, 1) == 0) {
        c->count = at;
    } else if (random_between(r, 0, 1) == 0 && c->count + shift <= FILE_BYTES) {
        memmove(c->byte + at + shift, c->byte + at, c->count - at);
        c->count += shift;
    } else if (at + shift <= c->count) {
        memmove(c->byte + at, c->byte + at + shift, c->count - at - shift);
        c->count -= shift;
    }
}

static void mutate(struct content *c, struct random *r)
{
    if (c->count == 0)
        return;
    const size_t at = any(r, c->count), most = c->count - at,
                 from = any(r, c->count - most + 1);
    const int64_t choice = random_between(r, 0, 5);

    if (choice == 0)
        c->byte[at] ^= (uint8_t)(1 << any(r, 8));
    else if (choice == 1)
        c->byte[at] = (uint8_t)any(r, 256);
    else if (choice == 2)
        memset(c->byte + at, (int)any(r, 2) * 255, any(r, most) + 1);
    else if (choice == 3)
        memmove(c->byte + at, c->byte + from, any(r, most) + 1);
    else if (choice == 4 && label_bytes < c->count) // the size, or the hash
        c->byte[label_bytes + any(r, SEAL_BYTES) % (c->count - label_bytes)]++;
    else
        resize(c, r);
}

// Make the hash right again, as if a writer had meant it.
static void reseal(struct content *c)
{
    const size_t head = label_bytes + SEAL_BYTES;
    struct kal_hash hash;

    if (c->count < head)
        return;
    kal_hash_init(&hash);
    kal_hash_add(&hash, c->byte, label_bytes + 8);
    kal_hash_add(&hash, c->byte + head, c->count - head);
    kal_hash_finish(&hash, c->byte + label_bytes + 8);
}

// Is it what a writer makes of some binary for this key and text?
static bool is_whole(const struct content *c)
{
    const size_t head = label_bytes + SEAL_BYTES;
    struct content sealed = *c;
    uint64_t bytes = 0;

    if (c->count <= head || memcmp(c->byte, original.byte, label_bytes) != 0)
        return false;
    for (size_t i = 0; i < 8; i++)
        bytes |= (uint64_t)c->byte[label_bytes + i] << (8 * i);
    reseal(&sealed);
    return bytes == c->count - head && memcmp(sealed.byte, c->byte, c->count) == 0;
}

static void check_one(uint64_t seed, const struct kal_host *host, struct tally *tally)
{
    struct random r = { seed };
    struct content c = original;
    struct kal_binary binary;

    for (int64_t left = random_between(&r, 0, 3); left > 0; left--)
        mutate(&c, &r);
    if (random_between(&r, 0, 2) == 0)
        reseal(&c);
    write_content(&c);

    const kallima_status status = kal_kernel_cache_load(host, folder, key, text, &binary);
    const size_t head = label_bytes + SEAL_BYTES;
    const bool whole = is_whole(&c);
    const bool good = whole ? binary.data && binary.bytes == c.count - head &&
                                  memcmp(binary.data, c.byte + head, c.count - head) == 0
                            : !binary.data && binary.bytes == 0;
    row_ran();
    if (status != KALLIMA_OK || !good)
        row_fail("seed %llu: %s, %llu bytes; the file is %s", (unsigned long long)seed,
                 kallima_status_name(status), (unsigned long long)binary.bytes,
                 whole ? "whole" : "damaged");
    tally->found += whole;
    tally->refused += !whole;
    kal_free(host, binary.data);
}

static long long count = DEFAULT_COUNT;
static uint64_t first_seed = 1;

static void damaged_files_are_not_found(void **state)
{
    struct counting counting = { 0 };
    const struct kal_host host = { .allocator = counting_allocator(&counting) };
    struct tally tally = { 0 };

    (void)state;
    make_original(&host);
    for (long long i = 0; i < count; i++)
        check_one(first_seed + (uint64_t)i, &host, &tally);
    unlink(path);
    rmdir(folder);
    fprintf(stderr, "  %lld found, %lld refused\n", tally.found, tally.refused);
    // Both must occur, or nothing was tested.
    ROW_CHECK(tally.found * 10 > count && tally.refused * 3 > count);
    ROW_CHECK(counting.live == 0 && counting.damaged == 0);
    ROWS_FINISH();
}

int main(int argc, char **argv)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(damaged_files_are_not_found),
    };
    if (argc > 1)
        count = atoll(argv[1]);
    if (argc > 2)
        first_seed = strtoull(argv[2], NULL, 10);
    return cmocka_run_group_tests_name("fuzz-kernel-cache", tests, NULL, NULL);
}
