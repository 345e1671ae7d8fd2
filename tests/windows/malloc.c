// SPDX-License-Identifier: MIT
// The C library's _aligned_malloc() is called through a pointer that the linker would take from
// the library of imports: ours comes first.
#include "../malloc.h"

#include <windows.h>

#include <stdatomic.h>

const bool malloc_counts_mutexes = true;

typedef void *aligned_malloc(size_t bytes, size_t alignment);
extern aligned_malloc *__imp__aligned_malloc;

static void *allocate(size_t bytes, size_t alignment)
{
    static _Atomic(aligned_malloc *) real;
    if (!real)
        real = (aligned_malloc *)(void *)GetProcAddress(GetModuleHandleA("msvcrt.dll"),
                                                        "_aligned_malloc");
    return real(bytes, alignment);
}

static void *counted(size_t bytes, size_t alignment)
{
    malloc_count();
    return allocate(bytes, alignment);
}

aligned_malloc *__imp__aligned_malloc = counted;

void *malloc_uncounted(size_t bytes)
{
    return allocate(bytes, 64);
}

void malloc_release(void *memory)
{
    _aligned_free(memory);
}
