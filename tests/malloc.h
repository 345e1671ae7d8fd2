// SPDX-License-Identifier: MIT
// The C library's allocator under observation: the linker sends its callers to a file of the
// system's own, which counts. malloc.c is for POSIX, windows/malloc.c for Windows.
#ifndef TESTS_MALLOC_H_
#define TESTS_MALLOC_H_

#include <stdbool.h>
#include <stddef.h>

/** How often the whole program has called malloc() or one of its kin. Thread: any. */
long long malloc_calls(void);

/** Whether that counts what pthread_mutex_init() asks for: a library that is linked in. */
extern const bool malloc_counts_mutexes;

/** Allocate aligned to 64 bytes without being counted, NULL if there is no memory; and free. */
void *malloc_uncounted(size_t bytes);
void malloc_release(void *memory);

#endif
