// SPDX-License-Identifier: MIT
// The C library's allocator under observation: the linker sends its callers to malloc.c, which
// counts, and to a file of the system's own, malloc_posix.c or windows/malloc.c.
#ifndef TESTS_MALLOC_H_
#define TESTS_MALLOC_H_

#include <stdbool.h>
#include <stddef.h>

/** How often the whole program has called malloc() or one of its kin. Thread: any. */
long long malloc_calls(void);

/** Count one more call, of what only one system has. */
void malloc_count(void);

/** Whether that counts what pthread_mutex_init() asks for: a library that is linked in. */
extern const bool malloc_counts_mutexes;

/** Allocate aligned to 64 bytes without being counted, NULL if there is no memory; and free. */
void *malloc_uncounted(size_t bytes);
void malloc_release(void *memory);

#endif
