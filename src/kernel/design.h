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

/** Of these, what the tile holds at once: half, if parts are exchanged one after the other. */
int64_t kal_kernel_exchanged_bytes(const struct kal_kernel *k);

/** Whether neighbouring lines are nearer in memory than neighbouring elements. */
bool kal_side_prefers_lines(const struct kal_kernel *k, bool is_in);

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
 * Whether the elements of each exchange fall into halves of which a lane knows in which registers they
 * are: all steps are of whole lines, and none passes memory's order through the tile.
 */
bool kal_rounds_can_halve(const struct kal_kernel *k);

/** Find whether the first or the last round is flat, and add the table of its places. */
void kal_round_flatten(struct kal_kernel *k, bool is_in);

/** Fill in the rounds of a kernel whose lanes and lines are set, and the tile's size. */
void kal_rounds_design(struct kal_kernel *k, bool has_tile);

#endif
