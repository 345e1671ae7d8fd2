// SPDX-License-Identifier: MIT
// What goes past the caches by way of a copy, since its place does not begin on a line of
// these: some at a time, by whole lines, so that none is written twice.
#ifndef KAL_DEVICE_CPU_STAGE_H_
#define KAL_DEVICE_CPU_STAGE_H_

#include "device/cpu/cpu.h"

#include <string.h>

/**
 * Output that is made one behind the other. `place`, on a line of the caches, has room
 * for what is made at a time, and before it for one such line, of which the last bytes
 * are those `left` from before.
 */
struct cpu_stage {
    const struct cpu_kernels *kernels;
    int64_t real_bytes;
    char *place, *to; // what is there at `place - left` belongs to `to`
    int64_t left;
};

/**
 * So many bytes more are there: they go, but for those of a line of the caches that
 * others will follow on.
 */
static inline void kal_cpu_stage_leave(struct cpu_stage *stage, int64_t bytes,
                                       bool is_last)
{
    const char *from = stage->place - stage->left;
    const int64_t all = stage->left + bytes;
    const int64_t past = -(intptr_t)stage->to & (CPU_LINE_BYTES - 1);

    stage->left = is_last || all < past ? 0 : (all - past) % CPU_LINE_BYTES;
    stage->kernels->stream(stage->to, from, (all - stage->left) / stage->real_bytes);
    memmove(stage->place - stage->left, from + all - stage->left, (size_t)stage->left);
    stage->to += all - stage->left;
}

#endif
