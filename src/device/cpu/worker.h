// SPDX-License-Identifier: MIT
// What one thread of an execution has, and which part of the work is its own.
#ifndef KAL_DEVICE_CPU_WORKER_H_
#define KAL_DEVICE_CPU_WORKER_H_

#include "device/cpu/cpu.h"

/** One thread's view of an execution. */
struct cpu_worker {
    int part,
        parts; // which thread of how many; those from `parts` on are idle, and wait with the others
    int64_t real_bytes;
    char *tile[2];
    char *common_tile; // the first tile of the first worker, which all of them see
    char *joined;      // a copy of the output of neighbouring tiles
    char *own_chunk, *common_chunk;
    char *base[KAL_BUFFER_COUNT];   // of each buffer
    char *second[KAL_BUFFER_COUNT]; // imaginary parts of planar user arrays
};

/** Lines of a phase that are worked together. */
struct cpu_chunk {
    int64_t stage_index, first_line, lines;
    bool lanes_are_lines;
};

/** One worker's part of `count` things; none of those that are no part. */
static inline void kal_cpu_share(int64_t count, int part, int parts, int64_t *begin,
                                 int64_t *end)
{
    const int64_t whole = count / parts, rest = count % parts;
    const int64_t before = kal_min(part, parts);
    *begin = whole * before + kal_min(before, rest);
    *end = part < parts ? *begin + whole + (part < rest) : *begin;
}

/** The same of things that fill registers of `lanes`, one at least: whole ones, but what is left goes with the last. */
static inline void kal_cpu_share_registers(int64_t count, int64_t lanes, int part,
                                           int parts, int64_t *begin, int64_t *end)
{
    const int64_t registers = count / lanes;
    kal_cpu_share(registers, part, parts, begin, end);
    const bool has_last = *end == registers && *begin < *end;
    *begin *= lanes;
    *end = has_last ? count : *end * lanes;
}

#endif
