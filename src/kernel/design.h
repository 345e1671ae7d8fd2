// SPDX-License-Identifier: MIT
// Shared by the files that design a kernel.
#ifndef KAL_KERNEL_DESIGN_H_
#define KAL_KERNEL_DESIGN_H_

#include "kernel/kernel.h"

/** Whether a line has an element of its own beside the others. */
bool kal_pass_has_rader(const struct kal_pass *pass);

/** Rows that the mirrored step of a pass works together, 1 of a single line; 0: it has none. */
int64_t kal_pass_mirrored_rows(const struct kal_pass *pass);

/** Bytes of a complex number of the kernel. */
int64_t kal_kernel_element_bytes(const struct kal_kernel *k);

/**
 * Of these, what the tile holds of one at once: half, if parts are exchanged one after
 * the other.
 */
int64_t kal_kernel_exchanged_bytes(const struct kal_kernel *k);

/** Whether neighbouring lines are nearer in memory than neighbouring elements. */
bool kal_side_prefers_lines(const struct kal_kernel *k, bool is_in);

static inline int64_t kal_magnitude(int64_t a)
{
    return a < 0 ? -a : a;
}

/** Lines of a pass, INT64_MAX if they are more. */
int64_t kal_pass_lines(const struct kal_pass *pass);

/** Largest radix of the steps; 0: there is no DFT, so nothing needs a tile. */
int kal_pass_largest_radix(const struct kal_pass *pass);

/** Distance in memory of neighbouring lines of a loop, as far as an index map leaves it. */
int64_t kal_kernel_line_distance(const struct kal_kernel *k,
                                 const struct kal_group_loop *loop, bool is_in);

/** Lines that could share a tile, or enough for any. */
int64_t kal_kernel_tile_lines(const struct kal_kernel *k);

/** Points of a line that take memory near a group. */
int64_t kal_kernel_tile_points(const struct kal_kernel *k);

/** Lanes of a line: as many as the codelets of the largest radix need, or those of another. */
int64_t kal_kernel_lanes_of_line(const struct kal_kernel *k, int largest);

/**
 * Set how numbers are exchanged. `whole`: bytes of a line with some pads; `keeps_parts`:
 * halves of parts only where they must be.
 */
void kal_kernel_choose_exchange(struct kal_kernel *k, const struct kal_caps *caps,
                                int64_t whole, int64_t line_lanes, bool keeps_parts);

/** Lines of a tile, where it is known how numbers are exchanged. */
int64_t kal_kernel_choose_lines(const struct kal_kernel *k, const struct kal_caps *caps,
                                int64_t line_lanes);

/** Points of a line with the pads that a tile may put between them. */
static inline int64_t kal_padded_points(int64_t n)
{
    return n + n / 8;
}

/** Number of a table, added if there is none like it. */
int kal_kernel_add_table(struct kal_kernel *k, enum kal_table_kind kind, int64_t n,
                         int64_t count);

/** Whether a mirrored step of the pass is done on the registers of pairs of codelets. */
bool kal_rounds_pair(const struct kal_kernel *k);

/**
 * Whether the elements of each exchange fall into halves of which a lane knows in which
 * registers they are: all steps are of whole lines, and none passes memory's order
 * through the tile.
 */
bool kal_rounds_can_halve(const struct kal_kernel *k);

/** Find whether the first or the last round is flat, and add the table of its places. */
void kal_round_flatten(struct kal_kernel *k, bool is_in);

/** Fill in the rounds of a kernel whose lanes and lines are set, and the tile's size. */
void kal_rounds_design(struct kal_kernel *k, bool has_tile);

#endif
