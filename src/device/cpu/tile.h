// SPDX-License-Identifier: MIT
// One pass over some tiles of a chunk, on one thread.
#ifndef KAL_DEVICE_CPU_TILE_H_
#define KAL_DEVICE_CPU_TILE_H_

#include "device/cpu/cpu.h"

/** One thread's view of an execution. */
struct cpu_worker {
    int part, parts; // which thread of how many
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

/** One worker's part of `count` things. */
static inline void kal_cpu_share(int64_t count, int part, int parts, int64_t *begin,
                                 int64_t *end)
{
    const int64_t whole = count / parts, rest = count % parts;
    *begin = whole * part + kal_min(part, rest);
    *end = *begin + whole + (part < rest);
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

/** Run tiles begin .. end-1. */
void kal_cpu_tiles_run(struct cpu_worker *worker, const struct cpu_pass *pass,
                       const struct cpu_chunk *chunk, int64_t begin, int64_t end);

#endif
