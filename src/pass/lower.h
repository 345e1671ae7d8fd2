// SPDX-License-Identifier: MIT
// Shared by the files that lower one rule each.
#ifndef KAL_PASS_LOWER_H_
#define KAL_PASS_LOWER_H_

#include "pass/pass.h"

enum { KAL_MAX_PASSES = 512 };

/** Lines to transform: both sides and the loops over them, of the stage first. */
struct kal_lines {
    struct kal_side in, out;
    struct kal_loop loops[KAL_MAX_LOOPS];
    int stage_loops, line_loops, inner_loops;
};

/** Return how many loops lines have, of all groups. */
static inline int kal_lines_loop_count(const struct kal_lines *lines)
{
    return lines->stage_loops + lines->line_loops + lines->inner_loops;
}

struct kal_lowering {
    struct kal_arena *arena;
    const struct kal_problem *problem;
    const struct kal_caps *caps;
    struct kal_program *program;
    bool stage_open, phase_open;
    int64_t channels; // arrays between each other's elements: innermost loops; or 1
    int64_t grouped;  // small arrays that are worked at once: outermost loops; or 1
    int64_t shared_used, chunk_used; // reals of scratch in use
};

/** Lower one node: `lines` transforms of node->n points each. */
kallima_status kal_lower(struct kal_lowering *lo, const struct kal_recipe *node,
                         const struct kal_lines *lines);

kallima_status kal_lower_local(struct kal_lowering *lo, const struct kal_recipe *node,
                               const struct kal_lines *lines);
kallima_status kal_lower_prime_factor(struct kal_lowering *lo,
                                      const struct kal_recipe *node,
                                      const struct kal_lines *lines);
kallima_status kal_lower_four_step(struct kal_lowering *lo, const struct kal_recipe *node,
                                   const struct kal_lines *lines);
kallima_status kal_lower_rader(struct kal_lowering *lo, const struct kal_recipe *node,
                               const struct kal_lines *lines);
kallima_status kal_lower_bluestein(struct kal_lowering *lo, const struct kal_recipe *node,
                                   const struct kal_lines *lines);
kallima_status kal_lower_real_even(struct kal_lowering *lo, const struct kal_recipe *node,
                                   const struct kal_lines *lines);
kallima_status kal_lower_real_odd(struct kal_lowering *lo, const struct kal_recipe *node,
                                  const struct kal_lines *lines);
kallima_status kal_lower_rank(struct kal_lowering *lo, const struct kal_recipe *node,
                              const struct kal_lines *lines);

/** Bytes of a line of n complex elements in scratch. */
int64_t kal_line_bytes(const struct kal_lowering *lo, int64_t n);

/**
 * Return the least divisor of `count` that is `wanted` or more and at most `most`, else
 * the largest below.
 */
int64_t kal_near_divisor(int64_t count, int64_t wanted, int64_t most);

/** Number of lines over all loops but the stage's. */
int64_t kal_line_count(const struct kal_lines *lines);

/**
 * Whether lines that need `bytes` of scratch each are worked one by one, each on one thread:
 * where that stays near a core, or where there are lines enough for many cores.
 */
bool kal_lines_stay_apart(const struct kal_lowering *lo, const struct kal_lines *lines,
                          int64_t bytes);

/**
 * Whether, on a device of kernels, several lines that need `bytes` of scratch each fit the
 * cache that all groups share, so that one kernel may work them pass after pass.
 */
bool kal_lines_fit_cache(const struct kal_lowering *lo, const struct kal_lines *lines,
                         int64_t bytes);

/**
 * Lines that one chunk of such a phase takes: where neighbours in the output are elements of
 * neighbouring lines, enough for whole memory transactions.
 */
int64_t kal_chunk_lines(const struct kal_lowering *lo, const struct kal_lines *lines);

/** Whether a side's elements lie at their own index, all of them, without a factor. */
bool kal_side_is_plain(const struct kal_side *side, int64_t n);

/** Whether a node's passes read and write sides that are not plain, without copies. */
bool kal_recipe_takes_maps(const struct kal_lowering *lo, const struct kal_recipe *node);

/**
 * Start a phase whose chunks are `chunk` of these lines; what are inner loops in `lines`
 * become line loops in *inside. kal_phase_end() ends it.
 */
kallima_status kal_phase_begin(struct kal_lowering *lo, const struct kal_lines *lines,
                               int64_t chunk, bool lanes_are_lines,
                               struct kal_lines *inside);
void kal_phase_end(struct kal_lowering *lo);

/**
 * Start a phase of passes near one core, with chunks as the node's parameters say: LINES, and
 * ACROSS, which is `lanes_are_lines` otherwise. A chunk has one line, or fills the lanes.
 */
kallima_status kal_phase_begin_near(struct kal_lowering *lo,
                                    const struct kal_recipe *node,
                                    const struct kal_lines *lines, bool lanes_are_lines,
                                    struct kal_lines *inside);

/**
 * How many lines of a four-step the threads of a CPU shall work together, so that each
 * has several tiles of a pass and seldom waits for the others: a divisor of the count of
 * the last loop. One, where each of four threads and more may have some by itself, which
 * takes 0.85 to 1.04 of the time on 4 to 10 of a Xeon.
 */
int64_t kal_lines_at_once(const struct kal_lowering *lo, const struct kal_recipe *node,
                          const struct kal_lines *lines);

/**
 * Start a stage that repeats for each of these lines, or for `at_once` of them: all loops become
 * the stage's in *inside, but for these lines. kal_stage_end() ends it.
 */
kallima_status kal_stage_begin(struct kal_lowering *lo, const struct kal_lines *lines,
                               int64_t at_once, struct kal_lines *inside);
void kal_stage_end(struct kal_lowering *lo);

/**
 * Take scratch for n complex elements of every line: in the chunk if a phase is open, else
 * shared. Strides for the loops go to loop_stride[]. Scratch is a stack: remember
 * lo->shared_used and lo->chunk_used before, put them back after.
 */
kallima_status kal_scratch_take(struct kal_lowering *lo, const struct kal_lines *lines,
                                int64_t n, struct kal_side *side, int64_t *loop_stride);

/** The same, with both parts of a number side by side wherever it is. */
kallima_status kal_scratch_take_pairs(struct kal_lowering *lo,
                                      const struct kal_lines *lines, int64_t n,
                                      struct kal_side *side, int64_t *loop_stride);

/**
 * Return how many elements rows of n shall be apart in scratch that is taken now: on a
 * CPU an odd number of pieces of 128 bytes, which a tile of the widest registers takes of
 * a row, so that rows do not fall into the same cache sets. `are_pairs`: by
 * kal_scratch_take_pairs().
 */
int64_t kal_scratch_pitch(const struct kal_lowering *lo, int64_t n, bool are_pairs);

/** Make `side` one side of `lines`, with the loops' strides on that side. */
void kal_lines_set_in(struct kal_lines *lines, const struct kal_side *side,
                      const int64_t *loop_stride);
void kal_lines_set_out(struct kal_lines *lines, const struct kal_side *side,
                       const int64_t *loop_stride);

/** Whether a side's numbers, or planes, have nothing between one element and the next. */
bool kal_side_is_contiguous(const struct kal_side *side);

/**
 * Make *scratch the input or output of `lines`, to be a side of others that have the same
 * loops.
 */
void kal_lines_take_side(const struct kal_lines *lines, bool is_in,
                         struct kal_side *scratch, int64_t *loop_stride);

/** Add an innermost loop. */
kallima_status kal_lines_add_loop(struct kal_lines *lines, int64_t count, int64_t in,
                                  int64_t out);

/**
 * On one side lines of n elements become the `parts` parts of each that the innermost loop
 * counts: element e of a part is element e * parts + index of the loop of the line.
 */
void kal_lines_divide(struct kal_lines *lines, bool is_in, int64_t n, int64_t parts);

/** Append a pass over `lines`, in a phase of its own if none is open. */
kallima_status kal_pass_add(struct kal_lowering *lo, const struct kal_lines *lines,
                            int64_t n, const struct kal_step *steps, int step_count);

/**
 * See real lines, the input of a transform forward or the output of one back, as complex ones of
 * half the length: element j is reals 2 j and 2 j + 1. Returns their side, which has all
 * elements that it had.
 */
struct kal_side *kal_view_as_complex(struct kal_lines *lines, bool is_forward);

/** Write the steps of a local recipe, on blocks `inner` elements apart; return how many. */
int kal_local_steps(const struct kal_recipe *local, int64_t inner, int64_t outer,
                    struct kal_step *steps);

/**
 * Route the tile elements of a side through `map`, n entries: element i becomes map[i] of
 * what the side's own index and count say.
 */
kallima_status kal_side_compose(struct kal_lowering *lo, struct kal_side *side,
                                const int64_t *map, int64_t n);

#endif
