// SPDX-License-Identifier: MIT
#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/hash.h"
#include "exec/kernel_cache.h"

enum {
    MOST_FILES = 4096,
    MOST_BYTES = 256 << 20,
    ABANDONED_SECONDS = 60 * 60, // no writer takes that long
    NAME_BYTES = KAL_HASH_TEXT_BYTES + sizeof KAL_KERNEL_CACHE_SUFFIX - 1,
    PREFIX_BYTES = sizeof KAL_KERNEL_CACHE_PREFIX - 1,
};

struct kernel {
    struct timespec used;
    uint64_t bytes;
    char name[NAME_BYTES];
};

struct listing {
    const struct kal_host *host;
    struct kernel *kernel;
    size_t count, capacity;
    uint64_t bytes;
};

static bool is_temporary(const char *name)
{
    return strncmp(name, KAL_KERNEL_CACHE_PREFIX, PREFIX_BYTES) == 0 &&
           strlen(name) == PREFIX_BYTES + 6;
}

static bool is_kernel(const char *name)
{
    const size_t digits = strspn(name, "0123456789abcdef");
    return digits == KAL_HASH_TEXT_BYTES - 1 &&
           strcmp(name + digits, KAL_KERNEL_CACHE_SUFFIX) == 0;
}

static bool reserve(struct listing *list)
{
    void *grown;
    if (list->count < list->capacity)
        return true;
    const size_t capacity = list->capacity ? 2 * list->capacity : 64;
    if (kal_alloc(list->host, &grown, capacity, sizeof *list->kernel) != KALLIMA_OK)
        return false;
    if (list->count > 0)
        memcpy(grown, list->kernel, list->count * sizeof *list->kernel);
    kal_free(list->host, list->kernel);
    list->kernel = grown;
    list->capacity = capacity;
    return true;
}

static void add_kernel(struct listing *list, const char *name, const struct stat *about)
{
    if (!reserve(list))
        return; // what is not listed stays
    struct kernel *kernel = &list->kernel[list->count++];
    *kernel = (struct kernel){ about->st_mtim, (uint64_t)about->st_size, "" };
    memcpy(kernel->name, name, NAME_BYTES);
    list->bytes += kernel->bytes;
}

static void look_at(struct listing *list, int folder, const char *name, time_t now)
{
    const bool temporary = is_temporary(name);
    struct stat about;

    if (!temporary && !is_kernel(name))
        return;
    if (fstatat(folder, name, &about, AT_SYMLINK_NOFOLLOW) != 0 ||
        !S_ISREG(about.st_mode))
        return;
    if (!temporary)
        add_kernel(list, name, &about);
    else if (now - about.st_mtim.tv_sec > ABANDONED_SECONDS)
        unlinkat(folder, name, 0);
}

static int compare_age(const void *a, const void *b)
{
    const struct timespec *x = &((const struct kernel *)a)->used;
    const struct timespec *y = &((const struct kernel *)b)->used;
    if (x->tv_sec != y->tv_sec)
        return x->tv_sec < y->tv_sec ? -1 : 1;
    return (x->tv_nsec > y->tv_nsec) - (x->tv_nsec < y->tv_nsec);
}

static bool exceeds(const struct listing *list, size_t files, uint64_t bytes)
{
    return list->count > files || list->bytes > bytes;
}

// Down to three quarters of the limits, so that the next kernels find room.
static void remove_oldest(struct listing *list, int folder)
{
    if (!exceeds(list, MOST_FILES, MOST_BYTES))
        return;
    qsort(list->kernel, list->count, sizeof *list->kernel, compare_age);
    const struct kernel *oldest = list->kernel;
    for (; exceeds(list, MOST_FILES / 4 * 3, MOST_BYTES / 4 * 3); oldest++) {
        unlinkat(folder, oldest->name, 0);
        list->bytes -= oldest->bytes;
        list->count--;
    }
}

void kal_kernel_cache_tidy(const struct kal_host *host, const char *folder)
{
    struct listing list = { .host = host };
    const struct dirent *entry;
    DIR *dir = opendir(folder);

    if (!dir)
        return;
    const time_t now = time(NULL);
    while ((entry = readdir(dir)))
        look_at(&list, dirfd(dir), entry->d_name, now);
    remove_oldest(&list, dirfd(dir));
    closedir(dir);
    kal_free(host, list.kernel);
}
