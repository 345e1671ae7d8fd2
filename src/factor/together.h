// SPDX-License-Identifier: MIT
// Which axes of an array a device of kernels works together: the last ones, as many as
// fit. A CPU works all axes of small ones together, each array on a lane.
#ifndef KAL_FACTOR_TOGETHER_H_
#define KAL_FACTOR_TOGETHER_H_

#include "base/caps.h"
#include "problem/problem.h"

/** The first of such axes; the rank: there are none. */
struct kal_together {
    int tile;   // on one tile, two axes at least: a launch reads and writes all of them
    int launch; // in one launch, pass after pass through the cache; the tile's are one pass
};

/**
 * Return that of a problem, from limited caps. Of recipes with other than local axes less
 * is true.
 */
struct kal_together kal_problem_together(const struct kal_problem *problem,
                                         const struct kal_caps *caps);

/**
 * Return the complex points of the axes from `first` on, as they lie on a tile: reals are
 * half as many.
 */
double kal_points_from(const struct kal_problem *problem, int first);

#endif
