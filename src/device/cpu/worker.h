// SPDX-License-Identifier: MIT
// What one thread of an execution has, and which part of the work is its own.
#ifndef KAL_DEVICE_CPU_WORKER_H_
#define KAL_DEVICE_CPU_WORKER_H_

#include "device/cpu/cpu.h"

#include <stdatomic.h>

enum { CPU_DOORS = 32, CPU_HANDS = 256 };

/** A line of the caches by itself, in which a number grows. */
struct cpu_door {
    _Alignas(CPU_LINE_BYTES) atomic_int count;
};

/** What one worker has left of what is dealt (deal.h), by itself on a line of the caches. */
struct cpu_hand {
    _Alignas(CPU_LINE_BYTES) atomic_uint_least64_t left;
};

/**
 * Where the workers of one execution that have a part wait for each other, and see what
 * others have left.
 */
struct cpu_meeting {
    struct cpu_hand hand[CPU_HANDS];
    struct cpu_door in[CPU_DOORS]; // how often one worker, or each 32nd, has come
    struct cpu_door out;           // how often they were let go
};

/** One thread's view of an execution. */
struct cpu_worker {
    int part, parts; // which one of how many that have a part
    struct cpu_meeting *meeting;
    int round; // of how many meetings
    bool has_begun;
    uint64_t deals; // of several pieces each, that it has taken part in
    int64_t real_bytes;
    char *tile[2];
    char *common_tile;   // the first tile of the first worker, which all of them see
    char *joined;        // a copy of the output of neighbouring tiles
    char *joined_before; // that of the worker before
    char *own_chunk, *common_chunk;
    char *base[KAL_BUFFER_COUNT];   // of each buffer
    char *output;                   // the user's
    char *second[KAL_BUFFER_COUNT]; // imaginary parts of planar user arrays
};

/** Lines of a phase that are worked together. */
struct cpu_chunk {
    int64_t stage_index, first_line, lines;
    bool lanes_are_lines;
};

/** Let a processor rest between two looks at what another one writes. */
static inline void kal_cpu_pause(void)
{
#if defined __x86_64__
    __builtin_ia32_pause();
#elif defined __aarch64__
    __asm__ volatile("yield");
#endif
}

/** Make ready a meeting of so many workers. */
void kal_cpu_meeting_init(struct cpu_meeting *meeting, int parts);

/**
 * Run what is part `part` of a program's work for `parts` workers, no more than the threads
 * that it has, all of which call this with one meeting, made ready for as many.
 */
void kal_cpu_part_run(const struct kal_device_program *program,
                      const struct kal_arguments *arguments, struct cpu_meeting *meeting,
                      int part, int parts);

/** Wait until all workers have come here. */
void kal_cpu_meet(struct cpu_worker *worker);

/** The same before a piece of work that needs what others have done, all but the first. */
static inline void kal_cpu_begin(struct cpu_worker *worker)
{
    if (worker->has_begun)
        kal_cpu_meet(worker);
    worker->has_begun = true;
}

/** Of `count` things in `parts` those of the parts `first` to `last` - 1, which are neighbours. */
static inline void kal_cpu_share_some(int64_t count, int64_t first, int64_t last,
                                      int64_t parts, int64_t *begin, int64_t *end)
{
    const int64_t whole = count / parts, rest = count % parts;
    *begin = whole * first + kal_min(first, rest);
    *end = whole * last + kal_min(last, rest);
}

/** One worker's part of `count` things. */
static inline void kal_cpu_share(int64_t count, int part, int parts, int64_t *begin,
                                 int64_t *end)
{
    kal_cpu_share_some(count, part, part + 1, parts, begin, end);
}

/**
 * The same of things that fill registers of `lanes`, one at least: whole ones, but what
 * is left goes with the last.
 */
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
