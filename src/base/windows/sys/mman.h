// SPDX-License-Identifier: MIT
// Memory that a process would share with those that it starts, of which there are none.
#ifndef KAL_BASE_WINDOWS_SYS_MMAN_H_
#define KAL_BASE_WINDOWS_SYS_MMAN_H_

#include <stdlib.h>

#define PROT_READ     0
#define PROT_WRITE    0
#define MAP_SHARED    0
#define MAP_ANONYMOUS 0
#define MAP_FAILED    NULL

#define mmap(address, bytes, protection, flags, file, offset) calloc(1, bytes)
#define munmap(memory, bytes)                                 ((void)(bytes), free(memory))

#endif
