// SPDX-License-Identifier: MIT
// Lines that fill the lanes by themselves: the two passes of a four-step n = m r in one,
// where r is the radix of one codelet and a multiple of the lanes. Number a r + b of a
// line is element a, lane b of its tiles, as it lies in memory; transforms of m, a
// codelet each step, come first, and then those of r, of which the lanes are transposed
// in registers. Where r is half of the lanes, two lines are worked at once: they are
// twins. Where the first step allows it the output is the tiles: 132 lines of 896 to
// 65536 points and halves of such take 0.95 of the time on a Xeon since this is done, and
// steps are chosen for it, those of 4096 floats 0.82 to 0.88. On AMD's processors it was
// not measured, and is not done.
#ifndef KAL_DEVICE_CPU_LINE_H_
#define KAL_DEVICE_CPU_LINE_H_

#include "device/cpu/cpu.h"
#include "device/cpu/tile.h"

struct cpu_line {
    struct cpu_pass *columns, *rows;
    const struct cpu_kernels *kernels;
    int width;                    // lines that are worked at once: 1, or 2
    const struct cpu_line *alone; // what works one that has no twin; itself if width is 1
    int64_t plane_bytes;          // of a register
    int radix;                    // r
    int64_t tiles;                // of a line, or of two
    int64_t m;                    // of which columns->pass has the steps:
    cpu_dft *step[KAL_MAX_PASS_STEPS]; // the first from memory
    cpu_line_end *end;                 // the last one, through the caches
    bool folds;                        // if it can be,
    bool is_folded;                    // of tiles that are
    double scale;
    bool has_roots;    // between: those of the last step, else of the end
    const void *roots; // tiles, times the scale
    const void *fine;  // or NULL; if not, roots are of one element of each register
    enum cpu_layout in, out;
    int64_t line_bytes;
    int loop;                  // that neighbouring lines are on; -1: there is one line
    int64_t round;             // its count
    int64_t in_step, out_step; // from line to line on it
    bool leaves_caches;        // the output does, and
    bool is_streamed;          // is stored past them,
    bool is_spread; // by way of a copy, or else where lines begin on lines of the caches
    int64_t staged_lines, staged_at; // of a copy: how many, how far in the second tile
    bool streams_planes; // as is_streamed of planes, only where lines begin on such lines
    bool ends_inside;    // as of struct cpu_pass, rows that threads share
    bool asks_nearest;   // as of struct cpu_program
    // What works it with the mirrored step behind it; NULL: nothing does.
    const struct cpu_packed *packed;
};

/** Return whether all steps of a pass are codelets over whole tiles, one at least. */
bool kal_cpu_steps_are_plain(const struct kal_pass *pass);

/**
 * Return whether the elements of a side are interleaved numbers, one behind the other,
 * either part first.
 */
bool kal_cpu_side_is_interleaved(const struct kal_side *side);

/** Return whether a side has n complex elements as they are: no map, no chirp, none absent. */
bool kal_cpu_side_is_plain(const struct kal_side *side, int64_t n);

/**
 * Make the passes `columns` and the one behind it one, *out, if they can be; else *out = NULL.
 *
 * Error: E_MEMORY  exhausted
 */
kallima_status kal_cpu_line_find(struct cpu_line **out, struct cpu_program *program,
                                 const struct kal_phase *phase, struct cpu_pass *columns);

/** Return the last step to output that lies in memory so; NULL where there is none. */
cpu_line_end *kal_cpu_line_last_step(const struct cpu_line *line,
                                     const struct cpu_kernels *k, enum cpu_layout out);

/** Return whether the columns of one line can be worked in folded tiles, at its level of SIMD. */
bool kal_cpu_line_can_be_folded(const struct cpu_line *line);

/**
 * Run all columns from x to tiles, which are folded where that is said, and return where
 * they are: tile[0], or y if that can hold folded ones.
 */
char *kal_cpu_line_columns_run(const struct cpu_line *line, bool are_folded,
                               char *const tile[2], const struct cpu_vectors *x,
                               const struct cpu_vectors *y);

/**
 * Run one line, or two, from x to y by the last step `end`, which asks for memory from `ahead`
 * on and takes `edge`; tile[] as in struct cpu_worker.
 */
void kal_cpu_line_run(const struct cpu_line *line, char *const tile[2],
                      const struct cpu_vectors *x, const struct cpu_vectors *y,
                      cpu_line_end *end, const void *ahead, struct cpu_edge *edge);

/** Return the bytes of tile[0] and of tile[1]. */
uint64_t kal_cpu_line_tile_bytes(const struct cpu_line *line);

/** Return how many lines a chunk has. */
int64_t kal_cpu_line_count(const struct cpu_line *line, const struct cpu_chunk *chunk);

/** Run lines begin .. end-1 of a chunk. */
void kal_cpu_lines_run(struct cpu_worker *worker, const struct cpu_line *line,
                       const struct cpu_chunk *chunk, int64_t begin, int64_t end);

/** Return whether threads that are more than its tiles share the steps of a line's columns. */
bool kal_cpu_line_is_divided(const struct cpu_line *line);

/**
 * Return whether several threads work one line together: it has several tiles, or is
 * divided, and comes from the user.
 */
bool kal_cpu_line_is_shared(const struct cpu_line *line);

/**
 * Run a worker's share of all lines of a chunk, one after the other. All workers call it,
 * and wait for each other on the way, but not at the end of the last line.
 */
void kal_cpu_lines_share(struct cpu_worker *worker, const struct cpu_line *line,
                         const struct cpu_chunk *chunk);

#endif
