// SPDX-License-Identifier: MIT
// What is not the same in POSIX and on Windows. The calls of POSIX that Windows lacks are in
// windows/; no other file asks which system it is.
#ifndef KAL_BASE_PLATFORM_H_
#define KAL_BASE_PLATFORM_H_

#include <stdbool.h>
#include <stdlib.h>

#ifdef _WIN32
#include <malloc.h>

/** The variable that names the folder of caches. */
#define KAL_CACHE_VARIABLE "LOCALAPPDATA"

/** Whether a path begins at a root: C:\ or \\server, with either slash. */
static inline bool kal_path_is_absolute(const char *path)
{
    return path[0] == '/' || path[0] == '\\' || (path[0] && path[1] == ':');
}

/** Allocate, or NULL; freed with kal_free_aligned(). */
static inline void *kal_alloc_aligned(size_t alignment, size_t bytes)
{
    return _aligned_malloc(bytes, alignment);
}

static inline void kal_free_aligned(void *memory)
{
    _aligned_free(memory);
}

__declspec(dllimport) int __stdcall SwitchToThread(void);

/** Let another thread have this processor. */
static inline void kal_yield(void)
{
    (void)SwitchToThread();
}

#else
#include <sched.h>
#include <sys/mman.h>

#define KAL_CACHE_VARIABLE "XDG_CACHE_HOME"

static inline void kal_yield(void)
{
    (void)sched_yield();
}

static inline bool kal_path_is_absolute(const char *path)
{
    return path[0] == '/';
}

/**
 * The same; blocks of 1 MiB and more are whole huge pages, if the system has them to
 * give: what is written there by columns finds its places sooner, and plans of long
 * convolutions, half of whose time went to new pages, take half of it. AddressSanitizer
 * would see less of rounded blocks.
 */
static inline void *kal_alloc_aligned(size_t alignment, size_t bytes)
{
    void *memory = NULL;
#if defined MADV_HUGEPAGE && !defined __SANITIZE_ADDRESS__
    enum { HUGE_PAGE = 2 << 20 };
    if (bytes >= HUGE_PAGE / 2) {
        bytes = (bytes + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
        if (posix_memalign(&memory, HUGE_PAGE, bytes) != 0)
            return NULL;
        (void)madvise(memory, bytes, MADV_HUGEPAGE);
        return memory;
    }
#endif
    return posix_memalign(&memory, alignment, bytes) == 0 ? memory : NULL;
}

static inline void kal_free_aligned(void *memory)
{
    free(memory);
}
#endif

#endif
