// SPDX-License-Identifier: MIT
#define _GNU_SOURCE // syscall()
#include "disk.h"

#include <errno.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

struct disk disk;

ssize_t write(int file, const void *data, size_t bytes)
{
    enum { FEW = 7 };

    if (disk.way == DISK_INTERRUPTED) {
        if (disk.calls++ % 2 == 0) {
            errno = EINTR;
            return -1;
        }
        bytes = bytes < FEW ? bytes : FEW;
    } else if (disk.way != DISK_SOUND) {
        bytes = bytes < disk.left ? bytes : disk.left;
        disk.left -= bytes;
        if (bytes == 0 && disk.way == DISK_KILLING)
            raise(SIGKILL);
        if (bytes == 0) {
            errno = ENOSPC;
            return -1;
        }
    }
    return syscall(SYS_write, file, data, bytes);
}
