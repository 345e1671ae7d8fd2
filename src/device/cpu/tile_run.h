// SPDX-License-Identifier: MIT
// A run of tiles, and what the files that work one share: places, moves, steps and blocks.
#ifndef KAL_DEVICE_CPU_TILE_RUN_H_
#define KAL_DEVICE_CPU_TILE_RUN_H_

#include "device/cpu/places.h"

/** The lines of one tile. */
struct cpu_tile {
    int lanes;
    int64_t number; // of its first line in the chunk
    bool is_affine; // offsets grow by the run's steps from lane to lane
    int64_t fast;   // index of the first lane on the fast loop
    int64_t in[CPU_MAX_LANES], out[CPU_MAX_LANES];
    int64_t twiddle[CPU_MAX_LANES]; // index on the twiddle's loop
};

/**
 * How a step reaches memory: not at all, as vectors, or as interleaved adjacent lines,
 * and these past the caches.
 */
enum cpu_reach {
    CPU_REACH_NONE,
    CPU_REACH_VECTORS,
    CPU_REACH_INTERLEAVED,
    CPU_REACH_STREAMED
};

/**
 * How a tile goes through its steps: what these reach, and the functions of the first and
 * of the last one.
 */
struct cpu_way {
    enum cpu_reach in, out;
    cpu_dft *first, *last;
};

/** What all tiles of one call share. */
struct cpu_run {
    const struct cpu_worker *worker;
    const struct cpu_pass *pass;
    const struct cpu_chunk *chunk;
    int64_t part_end; // of the thread's part: tiles before it are the thread's own next
    struct cpu_rows rows;
    int64_t round;             // lines on the fast loop
    struct cpu_memory in, out; // of the tile's lanes
    int64_t in_unit, out_unit; // reals from a line to an adjacent one: 2 if interleaved
    struct cpu_place step;     // from lane to lane on the fast loop
    // Lines of each row before the first one that begins on a line of the caches, if those
    // are a tile of their own.
    int64_t lead;
    int64_t staged[CPU_MAX_LANES]; // lanes of a copy of the output, before it is streamed
    bool is_streamed;              // a tile's output is one piece
    int joined;                    // tiles whose output is in the copy of neighbours,
    char *joined_to;               // and where the first of these belongs
    bool is_joining;               // the present one goes there
    bool has_way;                  // whole tiles all go this way
    struct cpu_way way;
    struct cpu_tile tile; // the one that is being worked
};

/** Prepare a run of tiles of a chunk; the lanes of each are still to be found. */
void kal_cpu_run_init(struct cpu_run *run, const struct cpu_worker *worker,
                      const struct cpu_pass *pass, const struct cpu_chunk *chunk);

/** Find the lanes of the tile that begins with line `first` of a row. */
void kal_cpu_lanes_find(struct cpu_run *run, int64_t row, int64_t first);

/** Bytes from one tile element to the next. */
static inline int64_t kal_cpu_pair_bytes(const struct cpu_worker *worker,
                                         const struct cpu_pass *pass)
{
    return 2 * pass->kernels->lanes * worker->real_bytes;
}

/** Where the first number of a tile begins: with the part that leads if it is interleaved. */
static inline char *kal_cpu_first_find(const struct cpu_run *run,
                                       const struct cpu_memory *side)
{
    char *re = side->re, *im = side->im;
    return (im && (!re || im < re) ? im : re) +
           side->lane_offset[0] * run->worker->real_bytes;
}

/** A copy of the interleaved output, parts in the same order. */
static inline struct cpu_memory kal_cpu_copy_of_output(const struct cpu_run *run,
                                                       char *at, int64_t stride,
                                                       const int64_t *lane_offset)
{
    const struct cpu_memory *to = &run->out;
    const bool is_swapped = to->re > to->im;
    return (struct cpu_memory){
        .re = is_swapped ? at + run->worker->real_bytes : at,
        .im = is_swapped ? at : at + run->worker->real_bytes,
        .stride = stride,
        .lane_offset = lane_offset,
        .lanes = to->lanes,
    };
}

/** Elements of a tile as vectors: from `element` on, each `step` behind the one before. */
static inline struct cpu_vectors kal_cpu_tile_vectors(const struct cpu_worker *worker,
                                                      const struct cpu_pass *pass,
                                                      char *tile, int64_t element,
                                                      int64_t step)
{
    char *at = tile + element * kal_cpu_pair_bytes(worker, pass);
    return (struct cpu_vectors){ at, at + kal_cpu_pair_bytes(worker, pass) / 2,
                                 step * 2 * pass->kernels->lanes, 0 };
}

/** One side as vectors, from the first lane on. */
static inline struct cpu_vectors kal_cpu_memory_vectors(const struct cpu_run *run,
                                                        const struct cpu_memory *side)
{
    const int64_t bytes = side->lane_offset[0] * run->worker->real_bytes;
    return (struct cpu_vectors){ (char *)side->re + bytes, (char *)side->im + bytes,
                                 side->stride, side->ahead };
}

/** Move on, both parts, by bytes. */
static inline void kal_cpu_vectors_move(struct cpu_vectors *lines, int64_t bytes)
{
    lines->re = (char *)lines->re + bytes;
    if (lines->im)
        lines->im = (char *)lines->im + bytes;
}

/** The whole tile of twiddles for the lanes of this one. */
static inline const char *kal_cpu_twiddle_row(const struct cpu_run *run)
{
    const struct cpu_pass *pass = run->pass;
    const int64_t row = run->tile.twiddle[0] / pass->kernels->lanes;
    return (const char *)pass->twiddle_tiles +
           row * pass->pass->n * kal_cpu_pair_bytes(run->worker, pass);
}

/** The roots that the vectors of this tile's twiddles are multiplied by. */
static inline const char *kal_cpu_twiddle_scalars(const struct cpu_run *run)
{
    const struct cpu_pass *pass = run->pass;
    const int64_t row = run->tile.twiddle[0] / pass->kernels->lanes;
    return (const char *)pass->twiddle_rows +
           2 * row * pass->pass->n * run->worker->real_bytes;
}

/** Do vectors of a tile's output go past the caches, each to a line's place? */
bool kal_cpu_can_stream_lanes(const struct cpu_run *run);

/** Elements times those of a table; a tile of one lane is as wide as it is long. */
void kal_cpu_tile_multiply(const struct cpu_run *run, char *tile, const void *table,
                           int64_t n, bool exchange);

/** Elements first .. first+n-1 of the lines to a tile, chirped. */
void kal_cpu_tile_load(const struct cpu_run *run, char *tile, char *spare, int64_t first,
                       int64_t n);

/** A tile to elements first .. first+n-1 of the lines: factors, scale, store. */
void kal_cpu_tile_store(const struct cpu_run *run, char *tile, char *spare, int64_t first,
                        int64_t n);

/**
 * Clear the imaginary part of an element. Coefficients 0 and n/2 of real data are real,
 * whatever the caller's array says.
 */
void kal_cpu_imaginary_clear(const struct cpu_worker *worker, const struct cpu_pass *pass,
                             char *tile, int64_t element);

/**
 * Run the present tile and those behind it in its row, `most` at most, if they are whole,
 * have one codelet, and go from memory to memory with nothing else to do: return how
 * many; 0: none.
 */
int64_t kal_cpu_codelets_run(const struct cpu_run *run, int64_t first, int64_t most);

/** Run the steps of the present tile, from memory to memory. */
void kal_cpu_tile_run(struct cpu_run *run);

/** Run block `number` of the lines of the present tile. */
void kal_cpu_block_run(const struct cpu_run *run, int64_t number);

#endif
