// SPDX-License-Identifier: MIT
// A rule: one algorithm that turns the transform of an axis into smaller ones.
#ifndef KAL_FACTOR_RULE_H_
#define KAL_FACTOR_RULE_H_

#include "base/caps.h"
#include "factor/recipe.h"

/** `lines` transforms of length `n`, as the planner sees them. */
struct kal_axis {
    int64_t n, lines;
    double array_bytes; // of an array of several axes that it is one of; else 0
    int64_t
        array_lines; // of these in one such array, if it stays near a core of a CPU; else 0
    int64_t in_row_bytes, out_row_bytes; // of adjacent lines that are no steps, else 0
    bool is_real;                        // one side is real: R2C or C2R
    bool is_of_real_array;               // of several axes, R2C or C2R
    bool is_of_numbers;                  // rows that one codelet takes as whole numbers
    bool is_planar;                      // on a side of the user's
    bool is_only;                        // one complex line is all there is
    bool lines_are_adjacent;             // neighbouring lines are neighbours in memory
    bool elements_are_apart;             // of lines that are not adjacent either
    bool is_first_step;                  // columns of a four-step
    bool is_second_step;                 // rows of a four-step, in scratch
    bool fills_lanes;      // columns or rows of one line that is worked on its own lanes
    bool shares_tile;      // other steps are worked on the tile of its lines too
    bool shares_cache;     // other axes are worked on what the cache still holds
    bool shares_launch;    // with them, by groups that take tickets
    bool is_launched_tile; // on a tile that is one of several passes of a launch
    bool is_clustered;     // of a plane that a cluster of groups works
    bool is_convolved;     // of Rader or Bluestein: transformed twice
    bool is_of_rader;      // and of the former
    bool is_step_of_convolution; // columns or rows of such a one
    bool is_backward;            // C2R
    bool is_of_real_plane;       // shares the tile of a plane of reals
    bool is_odd_real;            // of an odd number of reals, of which half is stored
    bool mirrors_first,
        mirrors_last; // half of a real line: a mirrored step is at that end
};

enum { KAL_MOST_DIVIDED = 2 }; // children that an axis is divided into

struct kal_planner {
    struct kal_arena *arena;
    const struct kal_caps *caps;
};

/**
 * What the planner may choose. No entry allocates or needs a device. `choose` writes the
 * radices of a local node, or the lengths of the children of another; `divide` describes
 * children of these lengths as axes. `complete` checks a node that was read from text,
 * children first, and sets its length (Bluestein's comes with the text).
 */
struct kal_rule {
    const char *name; // stable: it is in recipe texts, never renamed
    int min_children, max_children;
    bool (*applies)(const struct kal_axis *axis, const struct kal_caps *caps);
    void (*choose)(const struct kal_axis *axis, const struct kal_caps *caps,
                   struct kal_recipe *node, int64_t n[KAL_MOST_DIVIDED]);
    void (*divide)(const struct kal_axis *axis, const struct kal_caps *caps,
                   const int64_t n[KAL_MOST_DIVIDED],
                   struct kal_axis child[KAL_MOST_DIVIDED]);
    bool (*complete)(struct kal_recipe *node);
};

/**
 * Whether a real axis becomes real columns and complex rows: where its half does not fit one
 * pass, on a device of kernels.
 */
bool kal_real_is_divided(const struct kal_axis *axis, const struct kal_caps *caps);

/**
 * Where the CPU engine works a line on its own lanes: the rows r of a four-step n = m r. 0: it
 * would not, for the lines' place or for want of a fitting r.
 */
int64_t kal_line_rows(const struct kal_axis *axis, const struct kal_caps *caps);

/** Return whether lines of elements that lie apart are enough for a tile, on a CPU. */
bool kal_line_fills_tiles(const struct kal_axis *axis, const struct kal_caps *caps);

/**
 * Find the radices of a line that is worked alone, as kal_radix_sequence_single() does,
 * from limited caps.
 */
int kal_line_find_single(int64_t n, const struct kal_caps *caps, int *radix);

/**
 * Whether the CPU engine works a line alone in one visit, its neighbours in registers,
 * from limited caps.
 */
bool kal_line_is_visited_once(const struct kal_axis *axis, const struct kal_caps *caps);

/**
 * The longest line whose tile has about half the lines of a tile with lines of `points`: an
 * eighth more than twice `points`, so that 3^7 is among the lengths.
 */
int64_t kal_longest_of_half_tiles(int64_t points);

/** The longest line of a kernel that is the second pass of two, from limited caps. */
int64_t kal_longest_second_step(const struct kal_caps *caps);

/** The same where that gains by exchanging halves of its parts; 0: it does not. */
int64_t kal_longest_row_of_halves(const struct kal_caps *caps);

/**
 * The longest line of neighbours, from limited caps, that is worth a tile a sector of memory wide
 * whose parts are exchanged one after the other.
 */
int64_t kal_longest_of_sectors(const struct kal_caps *caps);

/** The limits of a device in one precision: split_points is how long a local line may be. */
struct kal_caps kal_caps_limit(const struct kal_caps *caps, bool is_f64);

/** Whether several of `lines` lines of `bytes` stay in a device's cache from pass to pass. */
bool kal_caps_cache_lines(const struct kal_caps *caps, double lines, double bytes);

/** Whether a pass of `points` points gains by tickets, where a device has them. */
bool kal_caps_suit_tickets(const struct kal_caps *caps, int64_t points);

/** Of limited caps: whether they are those of f64. */
bool kal_caps_is_f64(const struct kal_caps *caps);

/** Of limited caps: how many of their reals the widest register of a CPU holds. */
int kal_caps_lanes(const struct kal_caps *caps);

/** Whether a lane is known to have registers for long codelets. */
bool kal_caps_has_registers(const struct kal_caps *caps);

/** The largest prime that is a radix of its kernels, from limited caps. */
int kal_caps_largest_prime(const struct kal_caps *caps);

/** The table of rules, indexed by kal_rule_id; kal_rule_order is the order of preference. */
extern const struct kal_rule *const kal_rules[KAL_RULE_COUNT];
extern const struct kal_rule kal_rule_local, kal_rule_prime_factor, kal_rule_four_step,
    kal_rule_rader, kal_rule_bluestein, kal_rule_real_even, kal_rule_real_odd,
    kal_rule_rank;

/**
 * Choose a recipe for one axis: the first rule in order of preference that applies.
 *
 * Owner: *out lives in the planner's arena.
 * Error: E_MEMORY  exhausted
 */
kallima_status kal_plan_axis(struct kal_recipe **out, const struct kal_planner *planner,
                             const struct kal_axis *axis);

/**
 * As kal_plan_axis(), by a given rule that applies. Its children have the lengths `n`; NULL:
 * those that the rule chooses.
 */
kallima_status kal_plan_axis_by(struct kal_recipe **out,
                                const struct kal_planner *planner,
                                const struct kal_axis *axis, enum kal_rule_id rule,
                                const int64_t *n);

/** Axis number `i` of a problem, as the planner sees it. */
struct kal_axis kal_problem_axis(const struct kal_problem *problem, int i,
                                 const struct kal_caps *caps);

/**
 * Choose a recipe for a whole problem.
 *
 * Owner: *out lives in the planner's arena.
 * Error: E_MEMORY  exhausted
 */
kallima_status kal_plan_problem(struct kal_recipe **out,
                                const struct kal_planner *planner,
                                const struct kal_problem *problem);

#endif
