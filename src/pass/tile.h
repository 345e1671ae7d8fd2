// SPDX-License-Identifier: MIT
// The last axes of an array, worked on one tile: which steps, in which order.
#ifndef KAL_PASS_TILE_H_
#define KAL_PASS_TILE_H_

#include "pass/lower.h"

/** The axes from `first` on: those of real lines are half as long on the tile. */
struct kal_tile {
    int first, rank;
    const struct kal_recipe *axis[KALLIMA_MAX_RANK];
    int64_t points;
    int steps;
    bool is_local; // every axis is steps on a tile
};

/** Describe the axes of a rank's node from `first` on; without axes it has no steps. */
struct kal_tile kal_tile_of(const struct kal_recipe *node, int first);

/** The same, but without axes where they are not all steps, or too many for a pass. */
struct kal_tile kal_tile_choose(const struct kal_recipe *node, int first,
                                const struct kal_problem *p);

/** Write the steps of a pass over the tile, at most KAL_MAX_PASS_STEPS; return how many. */
int kal_tile_steps(const struct kal_tile *t, const struct kal_problem *p,
                   struct kal_step *steps);

#endif
