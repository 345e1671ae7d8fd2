// SPDX-License-Identifier: MIT
// A disk that fails when told to: write() of the whole program, in place of the C library's.
// For programs of their own only.
#ifndef TESTS_DISK_H_
#define TESTS_DISK_H_

#include <stddef.h>

enum disk_way {
    DISK_SOUND,
    DISK_FULL,        // after `left` bytes
    DISK_KILLING,     // the process, after as many
    DISK_INTERRUPTED, // every other call; the rest write a few bytes each
};

struct disk {
    enum disk_way way;
    size_t left; // bytes until it fails
    int calls;   // while it interrupts
};

extern struct disk disk;

#endif
