// SPDX-License-Identifier: MIT
#define _GNU_SOURCE // mkostemp()
#include "exec/kernel_cache.h"

#include <errno.h>
#include <fcntl.h>
#include <kallima/kallima.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/place.h"
#include "base/text.h"

enum {
    FORMAT = 2,                      // of the files
    LARGEST_BYTES = 64 << 20,        // of a file
    SEAL_BYTES = 8 + KAL_HASH_BYTES, // between label and binary
    STORES_PER_TIDY = 32,
    DAY_SECONDS = 24 * 60 * 60,
};

kallima_status kal_kernel_cache_folder(const struct kal_host *host, const char *option,
                                       char **folder)
{
    return kal_place_find(host, option, "KALLIMA_KERNEL_CACHE", "kallima", folder);
}

// --- what a file holds -------------------------------------------------------------------

// A file is the label, the seal and the binary. The reader knows the label it expects, and
// makes the seal from what it reads: nothing in a file is ever interpreted.
struct entry {
    struct kal_text label, path;
};

static void entry_clear(struct entry *entry)
{
    kal_text_clear(&entry->label);
    kal_text_clear(&entry->path);
}

static void hash_text(const void *data, size_t bytes, char text[KAL_HASH_TEXT_BYTES])
{
    uint8_t digest[KAL_HASH_BYTES];
    struct kal_hash hash;

    kal_hash_init(&hash);
    kal_hash_add(&hash, data, bytes);
    kal_hash_finish(&hash, digest);
    kal_hash_print(digest, text);
}

// Whatever happens, the entry is to be cleared.
static kallima_status entry_init(struct entry *entry, const struct kal_host *host,
                                 const char *folder, const char *key, const char *text)
{
    char source[KAL_HASH_TEXT_BYTES], name[KAL_HASH_TEXT_BYTES];

    kal_text_init(&entry->label, host);
    kal_text_init(&entry->path, host);
    hash_text(text, strlen(text), source);
    kal_text_add(&entry->label,
                 "kallima kernel, format %d\nlibrary %s\ndevice %s\nsource %s\n\n",
                 FORMAT, KALLIMA_VERSION, key, source);
    KAL_TRY(entry->label.status);
    hash_text(entry->label.data, entry->label.length, name);
    kal_text_add(&entry->path, "%s/%s" KAL_KERNEL_CACHE_SUFFIX, folder, name);
    return entry->path.status;
}

// The bytes of the binary, lowest first, and the hash of label, those bytes and the binary.
static void make_seal(const struct entry *entry, const struct kal_binary *binary,
                      uint8_t seal[SEAL_BYTES])
{
    struct kal_hash hash;

    for (int i = 0; i < 8; i++)
        seal[i] = (uint8_t)(binary->bytes >> (8 * i));
    kal_hash_init(&hash);
    kal_hash_add(&hash, entry->label.data, entry->label.length);
    kal_hash_add(&hash, seal, 8);
    kal_hash_add(&hash, binary->data, (size_t)binary->bytes);
    kal_hash_finish(&hash, seal + 8);
}

// --- reading -----------------------------------------------------------------------------

// A plain file of moderate size that only this user or root can have written.
static bool is_trusted(const struct stat *about)
{
    return S_ISREG(about->st_mode) && about->st_size <= LARGEST_BYTES &&
           (about->st_uid == geteuid() || about->st_uid == 0) &&
           (about->st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

static int open_trusted(const char *path, struct stat *about)
{
    // Without waiting: a pipe is told by fstat(), not by a writer that never comes.
    const int file =
        open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (file < 0)
        return -1;
    if (fstat(file, about) == 0 && is_trusted(about))
        return file;
    close(file);
    return -1;
}

// Read label and seal into `head`; are they those of this entry, as far as one can tell?
static bool read_head(const struct entry *entry, int file, char *head, uint64_t bytes)
{
    const size_t length = entry->label.length;
    return bytes > length + SEAL_BYTES &&
           kal_file_read(file, head, length + SEAL_BYTES, 0) &&
           memcmp(head, entry->label.data, length) == 0;
}

static kallima_status read_binary(const struct entry *entry, int file, const char *head,
                                  struct kal_binary *binary)
{
    const struct kal_host *host = entry->label.host;
    const size_t length = entry->label.length;
    uint8_t seal[SEAL_BYTES];

    KAL_TRY(kal_alloc(host, &binary->data, binary->bytes, 1));
    if (kal_file_read(file, binary->data, (size_t)binary->bytes, length + SEAL_BYTES)) {
        make_seal(entry, binary, seal);
        if (memcmp(seal, head + length, SEAL_BYTES) == 0)
            return KALLIMA_OK;
    }
    kal_free(host, binary->data);
    binary->data = NULL;
    return KALLIMA_OK;
}

static kallima_status read_entry(const struct entry *entry, int file, uint64_t bytes,
                                 struct kal_binary *out)
{
    const uint64_t head_bytes = entry->label.length + SEAL_BYTES;
    struct kal_binary binary = { NULL, bytes - head_bytes };
    kallima_status status;
    void *head;

    KAL_TRY(kal_alloc(entry->label.host, &head, head_bytes, 1));
    status = read_head(entry, file, head, bytes) ? read_binary(entry, file, head, &binary)
                                                 : KALLIMA_OK;
    kal_free(entry->label.host, head);
    if (binary.data)
        *out = binary;
    return status;
}

// The files that were not used for longest go first; a day's exactness will do.
static void mark_used(int file, const struct stat *about)
{
    if (time(NULL) - about->st_mtim.tv_sec > DAY_SECONDS)
        (void)!futimens(file, NULL);
}

kallima_status kal_kernel_cache_load(const struct kal_host *host, const char *folder,
                                     const char *key, const char *text,
                                     struct kal_binary *out)
{
    struct entry entry;
    struct stat about;

    *out = (struct kal_binary){ 0 };
    if (!folder)
        return KALLIMA_OK;
    kallima_status status = entry_init(&entry, host, folder, key, text);
    const int file = status ? -1 : open_trusted(entry.path.data, &about);
    if (file >= 0) {
        status = read_entry(&entry, file, (uint64_t)about.st_size, out);
        if (out->data)
            mark_used(file, &about);
        close(file);
    }
    entry_clear(&entry);
    return status;
}

// --- writing -----------------------------------------------------------------------------

// Create a file of a new name in `path`, which ends in six X.
static int open_temporary(char *path)
{
    int file = mkostemp(path, O_CLOEXEC);
    if (file < 0 && errno == ENOENT) {
        memset(path + strlen(path) - 6, 'X', 6);
        kal_place_make_folders(path);
        file = mkostemp(path, O_CLOEXEC);
    }
    return file;
}

static bool write_entry(const struct entry *entry, const struct kal_binary *binary,
                        int file)
{
    uint8_t seal[SEAL_BYTES];

    make_seal(entry, binary, seal);
    return fchmod(file, 0600) == 0 &&
           kal_file_write(file, entry->label.data, entry->label.length) &&
           kal_file_write(file, seal, sizeof seal) &&
           kal_file_write(file, binary->data, (size_t)binary->bytes);
}

// Not forced to the disk: what a power failure cuts short is told by its seal.
static void write_file(const struct entry *entry, const struct kal_binary *binary,
                       char *temporary)
{
    const int file = open_temporary(temporary);
    if (file < 0)
        return;
    bool good = write_entry(entry, binary, file);
    good = close(file) == 0 && good; // where a network's disk says that it is full
    if (!good || rename(temporary, entry->path.data) != 0)
        unlink(temporary);
}

// Could the file be loaded, and may the process write that much? Trying would kill it.
static bool is_storable(const struct entry *entry, const struct kal_binary *binary)
{
    const uint64_t head_bytes = entry->label.length + SEAL_BYTES;

    return binary->bytes > 0 && binary->bytes <= LARGEST_BYTES &&
           head_bytes + binary->bytes <= LARGEST_BYTES &&
           kal_place_allows(head_bytes + binary->bytes);
}

void kal_kernel_cache_store(const struct kal_host *host, const char *folder,
                            const char *key, const char *text,
                            const struct kal_binary *binary)
{
    static atomic_uint stores;
    struct kal_host quiet = host ? *host : (struct kal_host){ 0 };
    struct kal_text temporary;
    struct entry entry;

    if (!folder)
        return;
    quiet.log = NULL;
    kal_text_init(&temporary, &quiet);
    kal_text_add(&temporary, "%s/" KAL_KERNEL_CACHE_PREFIX "XXXXXX", folder);
    const kallima_status status = entry_init(&entry, &quiet, folder, key, text);
    if (!status && !temporary.status && is_storable(&entry, binary)) {
        write_file(&entry, binary, temporary.data);
        if (atomic_fetch_add(&stores, 1) % STORES_PER_TIDY == 0)
            kal_kernel_cache_tidy(&quiet, folder);
    }
    entry_clear(&entry);
    kal_text_clear(&temporary);
}
