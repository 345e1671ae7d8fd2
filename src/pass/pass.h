// SPDX-License-Identifier: MIT
// Passes: what is done to memory, as plain data. Each pass reads lines, transforms them near
// the core and writes them. Every transform here is forward: an inverse one exchanges real
// and imaginary parts on both sides.
//
//   program = stages; a stage repeats its phases for each of its lines
//   phase   = a set of lines, worked in chunks; all passes run on a chunk before the next
//   pass    = load map, steps, store map, over the lines of the chunk times inner loops
#ifndef KAL_PASS_PASS_H_
#define KAL_PASS_PASS_H_

#include "base/arena.h"
#include "base/caps.h"
#include "base/text.h"
#include "factor/parameter.h"
#include "factor/recipe.h"
#include "problem/problem.h"

enum {
    KAL_MAX_LOOPS = 24,
    KAL_MAX_PASS_STEPS = 2 * KAL_MAX_STEPS + 4,
    KAL_LANES = 16, // lines that planning assumes a tile holds
};

enum kal_buffer_id {
    KAL_BUFFER_IN,
    KAL_BUFFER_OUT,
    KAL_BUFFER_SHARED, // scratch that all threads see
    KAL_BUFFER_CHUNK,  // scratch of one chunk
    KAL_BUFFER_COUNT
};

/**
 * One side of a pass. Element e of a line is at offset + e * stride, in reals, plus the
 * loops' strides. Where `index` is given, tile element i is line element index[i]; a value
 * of KAL_INDEX_NONE reads zero and writes nothing; KAL_INDEX_CONJUGATE - e is the conjugate
 * of element e. Loads of elements from `count` on give zero, stores of them are dropped.
 *
 * `chirp_n` multiplies tile element i by exp(-pi*i * i^2 / chirp_n), conjugate on the way
 * out, where parts are exchanged. `twiddle_n`, on the way out, multiplies element e by
 * exp(-2*pi*i * e * index of loop twiddle_loop / twiddle_n). 0: none.
 *
 * Where a line is only a part of what the maps (index, count, chirp, twiddle, mirror) are of,
 * its element e is theirs e * map_step + sum(index of a loop * map of that loop), and the
 * loops that have a map have no stride. Kernels only, and so are rows with gaps between them:
 * element e is at (e + e / row * gap) * stride then.
 */
struct kal_side {
    enum kal_buffer_id buffer;
    bool is_swapped; // real and imaginary part change places
    bool is_real;    // the imaginary part is zero, or dropped
    int64_t imag;    // from a real part to its imaginary part, in reals; 0: second array
    int64_t offset, stride;
    int64_t line_stride; // KAL_BUFFER_CHUNK: between the lines of a chunk
    int64_t count;
    const int64_t *index; // `entries` of them
    int64_t entries;
    int64_t chirp_n, twiddle_n;
    int twiddle_loop;
    bool twiddle_is_conjugate; // the tile's parts are exchanged when the twiddle comes
    int64_t map_step;          // 1: a line is the whole
    // Elements above mirror_n / 2 are the conjugates of mirror_n - element. Those that are 0
    // or half of mirror_period modulo it are there twice, so are not stored as conjugates.
    // 0: none is.
    int64_t mirror_n, mirror_period;
    int64_t row,
        gap; // `gap` elements behind each `row` are none of the line's; 0: there is no gap
};

enum { KAL_INDEX_NONE = -1, KAL_INDEX_CONJUGATE = -2 };

/** Strides in reals. On a side in KAL_BUFFER_CHUNK those of line loops are not used. */
struct kal_loop {
    int64_t count, in, out;
    int64_t in_map, out_map; // in the maps of the sides
};

enum kal_step_op {
    KAL_STEP_DFT,     // one Stockham step of a codelet
    KAL_STEP_RADER,   // product with the spectrum of the roots; n - 1 elements and x[0]
    KAL_STEP_PRODUCT, // product with the spectrum of the chirp; n and m
    KAL_STEP_SPLIT,   // n/2 elements of packed real lines to n/2 + 1 coefficients
    KAL_STEP_MERGE,   // the reverse, parts exchanged
};

/**
 * A step on a tile. DFT: `outer` blocks of radix * m * s elements; x[q + s (p + m j)] goes
 * to y[q + s (radix p + k)] times exp(-2 pi i p k / (radix m)). RADER and PRODUCT leave the
 * parts exchanged, ready for the transform back. SPLIT and MERGE work `outer` rows, in planes of
 * m, of n/2 elements each on the one side and of n/2 + 1 on the other: element k of row r of
 * plane p meets element n/2 - k of row m - r of plane outer/m - p, 0 meeting 0.
 */
struct kal_step {
    enum kal_step_op op;
    int radix;
    int64_t m, s, outer;
    int64_t n; // RADER: the prime; PRODUCT: Bluestein's n; SPLIT, MERGE: the real length
    int64_t size; // PRODUCT: length of the convolution
    int64_t
        rows; // PRODUCT: lines that share it; row `index of loop row_loop`, element e, is
    int row_loop; // coefficient row + rows * e; 0: the line is all of it
    const struct kal_recipe
        *transform; // RADER, PRODUCT: what stands before it and behind it
    const struct kal_parameters *parameters; // of its node of the recipe; NULL: none
};

struct kal_pass {
    struct kal_side in, out;
    struct kal_loop
        loops[KAL_MAX_LOOPS]; // of the stage, of the lines, inner; last fastest
    int stage_loops, line_loops, inner_loops;
    int64_t n; // tile elements that are loaded (in.count of them) and, or, stored
    int step_count;
    struct kal_step step[KAL_MAX_PASS_STEPS];
    double scale;
    bool is_in_place;                        // both sides are in the same buffer
    const struct kal_parameters *parameters; // of its recipe; NULL: none are given
};

/** Return whether a step pairs elements: SPLIT or MERGE. */
static inline bool kal_step_is_mirrored(const struct kal_step *step)
{
    return step->op == KAL_STEP_SPLIT || step->op == KAL_STEP_MERGE;
}

/** Return how many loops a pass has, of all groups. */
static inline int kal_pass_loop_count(const struct kal_pass *pass)
{
    return pass->stage_loops + pass->line_loops + pass->inner_loops;
}

/** Return a parameter of a pass, or `otherwise`. */
static inline int kal_pass_get_parameter(const struct kal_pass *pass,
                                         enum kal_parameter_id id, int otherwise)
{
    return pass->parameters ? kal_parameter_get(pass->parameters, id, otherwise)
                            : otherwise;
}

struct kal_phase {
    int64_t lines, chunk, chunks; // lines in all, of a chunk; chunks
    bool lanes_are_lines; // neighbouring lanes hold lines of the chunk, not inner indices
    int first_pass, pass_count;
    int64_t chunk_reals; // scratch of one chunk
};

struct kal_stage {
    int64_t repeats;
    int first_phase, phase_count;
    bool has_outer_scratch; // there is shared scratch that other stages use, too
};

struct kal_program {
    int pass_count, phase_count, stage_count;
    struct kal_pass **pass;
    struct kal_phase *phase;
    struct kal_stage *stage;
    int64_t shared_reals;              // scratch that all threads see
    bool is_in_place;                  // the user's output is where the input was
    const struct kal_problem *problem; // what it was lowered from; both outlive it
    const struct kal_recipe *recipe;
    // What a CPU transforms of a copy; NULL: it makes none.
    const struct kal_problem *copied;
    const struct kal_recipe *convolved; // by which it works each line alone; NULL: none
    bool has_long_columns;              // these are too long for tiles of several
    // What it transforms one after the other in place of the whole; NULL: that.
    const struct kal_problem *inner, *columns;
    // It works rows of an array that do not fill registers one by one, and so its few columns.
    bool rows_in_turn, columns_in_turn;
    bool rows_alone; // rows of others one by one, too, and their columns in tiles
};

/**
 * Turn a recipe into passes.
 *
 * Owner: everything in *out lives in the arena, but the problem and the recipe, which it refers to.
 * Error: E_MEMORY       exhausted
 *        E_UNSUPPORTED  the recipe nests deeper than passes can express
 */
kallima_status kal_program_lower(struct kal_program *out, struct kal_arena *arena,
                                 const struct kal_problem *problem,
                                 const struct kal_recipe *recipe,
                                 const struct kal_caps *caps);

/** Return whether several passes work a chunk of lines, one after the other. */
bool kal_program_has_chunks(const struct kal_program *program);

/** Return a parameter of the first pass that has it, or `otherwise`. */
int kal_program_get_parameter(const struct kal_program *program, enum kal_parameter_id id,
                              int otherwise);

/** Append a line for each pass, for people. */
void kal_program_print(struct kal_text *text, const struct kal_program *program);

/** What a program costs, counted. */
struct kal_cost {
    double bytes, operations;
};

/** Return the real operations of all lines of a pass. */
double kal_pass_operations(const struct kal_pass *pass);

/** Count bytes moved and real operations. */
struct kal_cost kal_program_count(const struct kal_program *program,
                                  const struct kal_problem *problem);

#endif
