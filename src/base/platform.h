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

#else

#define KAL_CACHE_VARIABLE "XDG_CACHE_HOME"

static inline bool kal_path_is_absolute(const char *path)
{
    return path[0] == '/';
}

static inline void *kal_alloc_aligned(size_t alignment, size_t bytes)
{
    void *memory = NULL;
    return posix_memalign(&memory, alignment, bytes) == 0 ? memory : NULL;
}

static inline void kal_free_aligned(void *memory)
{
    free(memory);
}
#endif

#endif
