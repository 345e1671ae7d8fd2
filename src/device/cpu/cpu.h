// SPDX-License-Identifier: MIT
// The CPU engine: takes passes as they are and runs them with codelets compiled ahead.
#ifndef KAL_DEVICE_CPU_CPU_H_
#define KAL_DEVICE_CPU_CPU_H_

#include "device/cpu/kernels.h"
#include "device/device.h"
#include "pass/pass.h"

extern const struct kal_device_ops kal_cpu_device_ops;

enum { CPU_MAX_LEVELS = 4 };

struct cpu_device {
    kallima_device base;
    kallima_device_info info; // every plan asks; a virtual machine finds it in 30 us
    bool is_zen;     // asks for lines far ahead, and cores share caches in groups
    bool is_zen_5;   // whose threads share 43 GB/s past the caches
    int level_count; // least first
    const struct cpu_kernels *kernels[2][CPU_MAX_LEVELS]; // of f32, and of f64
};

/** A step made ready: its function and its table. */
struct cpu_step {
    const struct kal_step *step;
    cpu_dft *dft;
    cpu_dft *pairs;  // the same of interleaved numbers; NULL: there is more than one lane
    cpu_dft *groups; // the same of neighbours, whole or in groups; NULL: they are too few
    cpu_mirror *mirror; // of a mirrored step of one such line; NULL: it is none
    int group_numbers;  // of a register of these
    const void *table, *group_table;
};

/** Roots exp(-2*pi*i * k / n) in double from two tables, for any k below n. */
struct cpu_roots {
    int shift;
    const double *fine, *coarse;
};

/** A loop that is longer than one, and which of the pass's loops it is. */
struct cpu_loop {
    int number;
    int64_t count, in, out; // as in struct kal_loop; 0 on a side in the chunk's scratch
};

/** The loops of one group (stage, lines, inner) that are longer than one, last fastest. */
struct cpu_loops {
    int count;
    struct cpu_loop loop[KAL_MAX_LOOPS];
};

/** Lines of a chunk come in rows that tiles do not cross: a round of the fast loop, or all. */
struct cpu_rows {
    int64_t count, length, tiles; // rows, lines of a row, tiles of a row
    int tile; // lines of a tile: all lanes, or fewer, for all threads to have some
};

/** Lines that are turned in registers, on their way to one codelet and back. */
struct cpu_short_lines {
    cpu_short *run; // NULL: they are not
    int64_t n;      // numbers, or reals, of a transform
    int64_t reals;  // of a line of the output
    int64_t count;  // what `run` is told of each tile: 1, or its lanes
    bool is_real;   // x and y begin where their lines do, whichever part leads
    // Of fewer than a tile, by way of a copy: it counts lines; NULL: there is none.
    cpu_short *rest;
};

/** Lines that are worked beside each other, in registers of numbers. */
struct cpu_beside_lines {
    cpu_beside *run;   // NULL: they are not
    bool are_gathered; // they go to a tile before
    int64_t at_once;   // lines of such a tile
};

struct cpu_line;
struct cpu_facing;

struct cpu_pass {
    const struct kal_pass *pass;
    struct cpu_line *line;     // this pass and the next one as one, or NULL
    struct cpu_facing *facing; // this pass with that of the phase behind it, or NULL
    bool is_done;              // by the one of the phase before
    // Owned: of one of its lines, which all of them are worked by; or NULL.
    struct kal_device_program *row;
    const struct cpu_kernels *kernels; // for its lines, and
    const struct cpu_kernels *widest;  // for work along one line
    struct cpu_loops stage_loops, line_loops, inner_loops;
    struct cpu_step step[KAL_MAX_PASS_STEPS];
    struct cpu_short_lines turned;
    const void *chirp_in, *chirp_out; // complex tables, or NULL
    // Twiddles of lanes on consecutive indices: whole tiles, or vectors times scalars.
    const void *twiddle_tiles, *twiddle_lanes, *twiddle_rows;
    double bytes;               // of all its lines
    double spread;              // of these in memory: kal_cpu_spread_find()
    double scale;               // of the pass, if those tiles do not have it in them
    struct cpu_roots roots;     // twiddles of any lanes
    int64_t inner;              // lines of the inner loops
    int64_t blocks;             // of a line, where lines are worked in blocks; else 1
    int tile;                   // as of struct cpu_rows
    int64_t chunk_lines;        // of a whole chunk,
    struct cpu_rows chunk_rows; // and its rows
    int fast_loop;     // the loop that neighbouring lanes are on; -1: there is one line
    bool rows_restart; // a tile never holds lanes of two rounds of the fast loop
    bool is_blocked;   // long and pointwise: worked in blocks of elements
    bool is_mirrored;  // one step, on pairs of elements
    int64_t pieces;    // of each thread's part of it, while others can take some,
    int64_t together;  // which have so many lines or tiles, or times as many
    int64_t units;     // of a line that blocks share out: elements, or pairs
    bool is_streamed;  // its output goes past the caches, where its place allows it
    bool has_lead;     // where it does not allow it tiles may begin there
    bool is_staged;    // so do short lines whose place does not, by way of a copy
    struct cpu_beside_lines beside;
    int joined;        // neighbouring tiles whose output goes there together; 0: none do
    int64_t piece;     // reals of a phase's chunk that do, of its last pass; 0: none
    bool is_far;       // its lines do not fit near the core: a tile to come is asked for
    bool ends_inside;  // threads that share it end in the middle of their parts
    int64_t in_reach;  // elements of a line that its index map is of; 0: there is none
    bool out_permutes; // the index map is a permutation of a tile's elements
};

/** How a program is run that needs no look-ups, in place of pass by pass. */
enum cpu_single {
    CPU_NOT_SINGLE = 0,
    CPU_SINGLE_STEPS, // codelets, of which the first one reads it and the last one writes it
    CPU_SINGLE_SPLIT,     // such codelets, the last one to a tile, and a mirrored step
    CPU_SINGLE_MERGE,     // the reverse
    CPU_SINGLE_REAL,      // one codelet of reals
    CPU_SINGLE_SHORT,     // several lines of one codelet
    CPU_SINGLE_LINE,      // worked on its own lanes
    CPU_SINGLE_ARRAY,     // an array, axis by axis
    CPU_SINGLE_APART,     // short lines wherever they are
    CPU_SINGLE_COPIED,    // a few longer ones, by way of copies
    CPU_SINGLE_DIVIDED,   // arrays as two problems
    CPU_SINGLE_CONVOLVED, // lines that are convolved, one by one
    CPU_SINGLE_COUNT
};

/**
 * Where a line's parts begin, exchanged as its pass has them: in which of the user's
 * arrays, and how many bytes behind its beginning; reals between its elements, and bytes
 * to the next line.
 */
struct cpu_user_side {
    int re_array, im_array;
    int64_t re, im, stride, line;
    bool is_planar, is_swapped;
};

/** A step of a single line as it is called, or both of its steps. */
struct cpu_call {
    cpu_dft *dft;
    const void *table;
    int64_t m, s;
};

/** Some lines of a batch of short ones: kernels for them, and what these are told. */
struct cpu_part {
    cpu_short *run;
    int64_t count; // of what the kernels count: lines, or registers full of them
    int64_t lines, at_once;
    int64_t in, out;   // bytes to the first one
    double scale_rest; // of what is not scaled yet
};

enum { CPU_MAX_PARTS = 2 * CPU_MAX_LEVELS };

/** A batch of short lines with nothing to look up, and reals from line to line. */
struct cpu_batch {
    int part_count;
    struct cpu_part part[CPU_MAX_PARTS];
    int64_t in_step, out_step;
    bool is_real; // as of struct cpu_short_lines
};

/**
 * Lines from `first` on, `groups` times `lanes` of them, `lines` in all: by the one of two
 * kernels that is there. What counts lines, not groups, may take fewer in the last group.
 */
struct cpu_apart_part {
    cpu_apart_run *run;
    cpu_beside *beside; // counts lines
    bool counts_lines;
    const char *level;
    int lanes;
    int64_t first, groups, lines;
    int64_t count;              // of lines or groups
    int64_t in, out;            // bytes to the first one
    struct cpu_apart_lines how; // what `run` is told
};

/** Short lines wherever they are. */
struct cpu_apart {
    int part_count;
    struct cpu_apart_part part[CPU_MAX_LEVELS];
    int64_t lines;
    struct cpu_apart_side in, out;
};

/** One side of a line that is copied: its elements, of so many reals. */
enum cpu_copy {
    CPU_COPY_NONE,  // none: this side is packed already, and is worked where it is
    CPU_COPY_PLAIN, // of elements as they are
    CPU_COPY_REALS, // of the real parts of complex numbers, the others being zero
    CPU_COPY_HALF,  // of the conjugate of a whole spectrum, of which half is stored
};

/** One side of a line that is copied. */
struct cpu_copied_side {
    enum cpu_copy copy;
    int64_t count; // elements that the user's memory has
    int reals;     // of each
    bool is_planar;
    cpu_copy_line *copy_line; // copies them as they are; NULL: none is for how they lie
    cpu_copy_columns
        *copy_columns; // copies several lines that are neighbours; NULL: they are not
    cpu_copy_dense *copy_dense; // copies all of those, if there is nothing between them
    bool is_far;                // these go past the caches
    int64_t line_bytes;         // from a line's copy to the next one's
};

/** Lines or arrays that are copied to where they are packed, and back. */
struct cpu_copied {
    // Owned: transform as many as are copied at once, and the rest. NULL: none are
    // copied; there is no rest.
    struct kal_device_program *lines, *rest;
    int64_t at_once;            // lines that are transformed,
    int64_t together;           // and that are copied
    int64_t groups, rest_lines; // of so many together, and those that are left
    bool are_shared;            // all threads work each line, and its copies
    bool has_meeting;     // they share the copies of all lines, and the lines between
    bool shares_arrays;   // so, but array by array, each of which all of them work
    bool is_in_place;     // what transforms lines, where both sides are copied
    bool asks_for_output; // before it is written
    int64_t output, meeting, workspace; // where in the scratch these begin
    struct cpu_copied_side in, out;
    const struct cpu_kernels *widest;
};

enum { CPU_MAX_AXES = 16 };

/** One step of all lines of an axis, from the input or one tile to the other tile or the output. */
struct cpu_axis {
    struct cpu_batch rows; // one behind the other, if neither of these is there
    const struct kal_device_program *row; // of one row or column, which all are worked by
    cpu_copy_dense *part, *join;          // columns to where that has them, and back
    cpu_beside *beside;                   // the step of lines beside each other,
    const void *table;
    int64_t m, s, lines;           // of which there are so many
    int numbers;                   // of a register
    int64_t in_stride, out_stride; // reals from element to element, or from row to row
    int64_t groups, in_group, out_group; // of all these lines, and bytes between them
    int64_t times, in_time, out_time;    // of all groups
    bool is_swapped;                     // the imaginary part leads on both sides
    bool is_in_place;                    // its input may be its output
    bool joins_next; // a few lines are worked by this step and the next one at a time
};

/** Where a call reads or writes: the arrays of the caller, and tiles between them. */
enum cpu_array_place {
    CPU_ARRAY_IN,
    CPU_ARRAY_TILE,
    CPU_ARRAY_OTHER_TILE,
    CPU_ARRAY_OUT,
    CPU_ARRAY_PLACES
};

/** A step of some lines of an axis as it is called: rows, or lines beside each other. */
struct cpu_array_call {
    cpu_short *rows; // NULL: it is `beside`
    cpu_beside *beside;
    const void *table;
    int64_t m, s, lines; // or what `rows` counts
    enum cpu_array_place from, to;
    int64_t in, out; // bytes from there
    int64_t in_stride, out_stride;
};

/**
 * Steps of an array that are done one after the other on a part of it, which the nearest
 * cache holds, then on the next.
 */
struct cpu_array_blocks {
    int64_t count;         // of parts; 0: each step is done on the whole array
    int first, end;        // steps first .. end-1,
    struct cpu_axis *axis; // each of one part
    // Bytes from a part to the next one, of the first step's input and of the last one's output.
    int64_t in_step, out_step;
};

/** An array of interleaved numbers near one core: its steps; 0 of them: it is something else. */
struct cpu_array {
    int axis_count;
    struct cpu_axis *axis;
    struct cpu_array_blocks blocks;
    int call_count; // all that is called, where that is little; 0: it is more
    struct cpu_array_call *call;
    int64_t re, im; // bytes of the parts from where numbers begin, in calls
    // Owned: of one row, and of one column, where these are worked one by one; or NULL.
    struct kal_device_program *row, *column;
    int64_t tile_bytes;   // of each of two tiles, and of columns behind it
    int64_t column_at;    // where these begin, and
    int64_t column_bytes; // from one to the next
    int64_t out_reals;
    int64_t in_bytes;  // of the next array, of which
    int64_t ask_bytes; // so many are asked for with each few lines; 0: nothing is
    bool is_small;     // not worth several threads
    bool is_in_place;  // all steps but the first work in the output, or in the first tile
    // Rows of the last step's output, which goes past the caches some lines at a time; 0:
    // as a whole, if it does at all.
    int64_t leaving_rows;
};

/** Arrays as two problems. */
struct cpu_divided {
    // Owned: of the small arrays of one, and of its lines along the first axis. NULL: it
    // is something else.
    struct kal_device_program *inner, *columns;
    int64_t arrays;
    int64_t scratch; // bytes between both; 0: the lines are worked in place
};

/** What a line that is convolved is on both its sides. */
enum cpu_convolved_kind {
    CPU_CONVOLVED_NUMBERS, // complex on both
    CPU_CONVOLVED_REALS,   // reals, of an odd number, and half of their spectrum
    CPU_CONVOLVED_HALF,    // the reverse
    CPU_CONVOLVED_SPLIT,   // an even number of reals, as half as many numbers
    CPU_CONVOLVED_MERGED,  // the reverse
    CPU_CONVOLVED_COUNT
};

/** Lines that are convolved one by one, with a chirp or, by Rader's algorithm, with roots. */
struct cpu_convolved {
    struct kal_device_program *line; // Owned: its transform, packed; NULL: there are none
    enum cpu_convolved_kind kind;
    int64_t n, points;             // numbers of a line, and of the convolution
    const void *chirp, *chirp_out; // of a chirp; the second one is scaled
    // Of Rader's: the convolution's number i is number in[i] of the line, and number k
    // of what comes of it is the convolution's number out[k - 1].
    const int64_t *in, *out;
    const void *spectrum;
    const void *roots; // of a mirrored step
    double scale;      // of Rader's first number
    int64_t other;     // bytes from one of both arrays in the scratch to the other one
    const struct cpu_kernels *widest;
};

struct cpu_roots_kept;

struct cpu_program {
    struct kal_device_program base;
    const struct kal_program *program;
    struct kal_arena arena;     // tables
    struct cpu_program *parent; // while it is made: the one that it is a part of, or NULL
    struct cpu_roots_kept *roots_kept; // meanwhile; a part's are its parent's
    struct cpu_pass *pass;
    bool is_f64;
    int real_bytes;
    // Lines ask for memory to come in the nearest cache, not in the one behind it. On a
    // Zen 5 processor the latter is as if nothing had been asked for with some places of
    // the input, of 64 floats in 67 MB most: 2.6 or 8 ms; others take 0.8 to 1.04 of the
    // time. On a Xeon the former takes up to 1.16 of it.
    bool asks_nearest;
    enum cpu_single single;
    struct cpu_user_side in, out; // of a single one
    int64_t lines;                // that are single, one after the other,
    bool streams_lines;           // and go past the caches by way of a copy
    bool streams;                 // a pass of others may store its output there
    struct cpu_call *call;        // its steps that are no mirrored ones
    int call_count;
    bool tile_is_swapped;       // the imaginary part leads in what is between them
    bool output_is_tile;        // and every second time that is where the output will be
    struct cpu_batch batch;     // of CPU_SINGLE_SHORT
    struct cpu_array array;     // of CPU_SINGLE_ARRAY
    struct cpu_apart apart;     // of CPU_SINGLE_APART
    struct cpu_copied copied;   // of CPU_SINGLE_COPIED
    struct cpu_divided divided; // of CPU_SINGLE_DIVIDED
    struct cpu_convolved convolved; // of CPU_SINGLE_CONVOLVED
    double row_scale; // what the reals of its output are multiplied by at its end
    int64_t row_reals;
    bool is_small; // one thread, whose scratch is on its stack
    int threads, most_threads;
    int64_t things;        // that they share out of a single one,
    int64_t pieces;        // each its part in so many
    double distance;       // of threads from each other, as their model has it
    uint64_t tile_bytes;   // two tiles of a thread
    uint64_t joined_bytes; // a thread's copy of neighbouring tiles
    uint64_t thread_bytes; // all that, and the scratch of a chunk
    uint64_t shared_bytes; // scratch that all threads see,
    // Of which there is one, or one for each thread, which works repeats of stages by
    // itself.
    int scratches;
};

/** Return the device that a program is for. */
static inline const struct cpu_device *kal_cpu_device_of(
    const struct cpu_program *program)
{
    return (const struct cpu_device *)program->base.device;
}

/** Return the kernels of its highest level. */
static inline const struct cpu_kernels *kal_cpu_widest_kernels(
    const struct cpu_program *program)
{
    const struct cpu_device *device = kal_cpu_device_of(program);
    return device->kernels[program->is_f64][device->level_count - 1];
}

/** Return whether a program is one pass over lines of one loop at most. */
static inline bool kal_cpu_is_one_pass(const struct cpu_program *program)
{
    const struct cpu_pass *pass = &program->pass[0];
    return program->program->pass_count == 1 && pass->inner == 1 &&
           pass->stage_loops.count == 0 && pass->line_loops.count <= 1;
}

/** Return how many passes are run where one is met: two that are lines on their own lanes. */
static inline int kal_cpu_passes_of(const struct cpu_pass *pass)
{
    return pass->line ? 2 : 1;
}

/** A line of the caches: what goes past them begins on one, so that each is stored whole. */
enum { CPU_LINE_BYTES = 64 };

/** Is a pass one mirrored step? */
static inline bool kal_cpu_pass_is_mirrored(const struct kal_pass *pass)
{
    return pass->step_count == 1 && kal_step_is_mirrored(&pass->step[0]);
}

/** Round up to whole lines of the caches. */
static inline uint64_t kal_cpu_aligned(uint64_t bytes)
{
    return (bytes + CPU_LINE_BYTES - 1) / CPU_LINE_BYTES * CPU_LINE_BYTES;
}

/**
 * Return how many of things of so many bytes, one behind the other from `first` on, come
 * before the first one that begins on a line of the caches; 0 also if none does.
 */
static inline int64_t kal_cpu_count_before_line(const void *first, int64_t bytes)
{
    const int64_t past = -(intptr_t)first & (CPU_LINE_BYTES - 1);
    return past % bytes == 0 ? past / bytes : 0;
}

/** Let each thread have so many bytes for copies at least. */
static inline void kal_cpu_need_joined(struct cpu_program *program, int64_t bytes)
{
    program->joined_bytes = (uint64_t)kal_max((int64_t)program->joined_bytes, bytes);
}

/** Are the numbers of both sides interleaved, with the same part first? */
static inline bool kal_cpu_are_pairs(const struct cpu_vectors *x,
                                     const struct cpu_vectors *y, int64_t real_bytes)
{
    const int64_t in = (const char *)x->im - (const char *)x->re,
                  out = (const char *)y->im - (const char *)y->re;
    return in == out && (in == real_bytes || in == -real_bytes);
}

/**
 * How a step is called that is `dft` unless it has a function for interleaved numbers, of
 * which both sides are pairs, and neighbours on their line.
 */
static inline struct cpu_call kal_cpu_step_call(const struct cpu_step *step, cpu_dft *dft,
                                                bool are_pairs, bool are_neighbours)
{
    struct cpu_call call = { dft, step->table, step->step->m, step->step->s };

    if (step->pairs && are_pairs) {
        const bool has_groups = step->groups && are_neighbours;
        call.dft = has_groups ? step->groups : step->pairs;
        call.table = has_groups ? step->group_table : step->table;
    }
    return call;
}

/** Call it. */
static inline void kal_cpu_call(const struct cpu_call *call, const struct cpu_vectors *x,
                                const struct cpu_vectors *y)
{
    call->dft(x, y, call->m, call->s, call->table);
}

/** A step of one line, or of the lanes that `dft` has. */
static inline void kal_cpu_step_run(const struct cpu_step *step, cpu_dft *dft,
                                    const struct cpu_vectors *x,
                                    const struct cpu_vectors *y, int64_t real_bytes)
{
    const struct cpu_call call = kal_cpu_step_call(
        step, dft, kal_cpu_are_pairs(x, y, real_bytes), x->stride == 2 && y->stride == 2);
    kal_cpu_call(&call, x, y);
}

/** Scratch that a call has room for on its stack. */
enum { CPU_SMALL_BYTES = 34 << 10 };

/**
 * Bytes from one element to the next in a copy of neighbouring tiles, each of which has a
 * line of the caches of it: an odd number of these, so that elements do not meet in the
 * same sets.
 */
static inline int64_t kal_cpu_joined_pitch(int tiles)
{
    return (tiles + 1) * CPU_LINE_BYTES;
}

// Short lines on their way past the caches, if none of these begins where they do. A Zen
// 5 processor, which goes from one to the other slowly, writes doubles of 5 to 20 points
// at 20 to 27 GB/s by 2 KiB, at 25 to 31 by 6 and 22 to 28 by 8; a Xeon as fast.
enum { CPU_STAGED_BYTES = 6144 };

// Lines of several steps on their way there, if several are as short as that.
enum { CPU_STREAMED_BYTES = 4096 };

/** Elements of a block of a long pointwise pass. */
enum { CPU_BLOCK = 2048 };

/**
 * Return what registers of the kernels cost that `points` numbers fill, neighbours, in
 * narrow ones: wide ones take longer, and more of them overlap where they do not divide
 * what there is.
 */
double kal_cpu_group_cost(const struct cpu_program *program,
                          const struct cpu_kernels *kernels, int64_t points);

/** Fill in the tables of a pass whose geometry is set. Error: E_MEMORY  exhausted */
kallima_status kal_cpu_tables_build(struct cpu_program *program, struct cpu_pass *pass);

/**
 * Fill in the tables of rows that face each other, but those of their steps. Error:
 * E_MEMORY  exhausted
 */
kallima_status kal_cpu_facing_tables_build(struct cpu_program *program,
                                           struct cpu_facing *facing);

/** Fill in the tables of two passes that are worked as one. Error: E_MEMORY  exhausted */
kallima_status kal_cpu_line_tables_build(struct cpu_program *program,
                                         struct cpu_line *line);

/**
 * Fill in the tables of lines that are convolved, by a recipe. Error: E_MEMORY
 * exhausted
 */
kallima_status kal_cpu_convolved_tables_build(struct cpu_program *program,
                                              const struct kal_recipe *convolution);

/**
 * Make the roots of the mirrored step behind a line, as struct cpu_line_mirror has them.
 * Error: E_MEMORY  exhausted
 */
kallima_status kal_cpu_packed_roots_build(struct cpu_program *program,
                                          const struct cpu_line *line, const void **out);

/**
 * As kal_cpu_program_create(), as a part of `parent`, which is being made, or NULL: roots
 * and tables that this has serve both. It has so many threads at most.
 *
 * Owner:  the caller frees it with kal_cpu_program_destroy(), before `parent`.
 */
kallima_status kal_cpu_program_make(struct kal_device_program **out,
                                    kallima_device *device, struct cpu_program *parent,
                                    const struct kal_program *program, bool is_f64,
                                    int most_threads);

kallima_status kal_cpu_program_create(struct kal_device_program **out,
                                      kallima_device *device,
                                      const struct kal_program *program, bool is_f64);
void kal_cpu_program_destroy(struct kal_device_program *program);
void kal_cpu_program_describe(const struct kal_device_program *program,
                              struct kal_text *text);
kallima_status kal_cpu_program_run(const struct kal_device_program *program,
                                   const struct kal_arguments *arguments);

#endif
