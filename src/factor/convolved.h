// SPDX-License-Identifier: MIT
// Convolutions as the planner sees them, and which lines a CPU convolves one by one, each by two
// transforms of a packed line.
#ifndef KAL_FACTOR_CONVOLVED_H_
#define KAL_FACTOR_CONVOLVED_H_

#include "factor/rule.h"

/**
 * Whether a CPU works the lines of an axis so, in convolutions of `points`: where they are all
 * there is, each is one thread's, and they are too few for tiles, or long. From limited caps.
 */
bool kal_axis_is_convolved_alone(const struct kal_axis *axis, int64_t points,
                                 const struct kal_caps *caps);

/**
 * Return what a convolution of `points` transforms, there and back, for the lines of an axis:
 * packed lines, if these are worked so, else what shares a tile with its product.
 */
struct kal_axis kal_convolution_axis(const struct kal_axis *axis, int64_t points,
                                     const struct kal_caps *caps);

/** Return a length of at least `least` points, 64 at least, of which such a transform is fast. */
int64_t kal_convolution_length_alone(int64_t least);

/** Whether one of these is faster than Rader's, of such lines. From limited caps. */
bool kal_padding_is_faster_alone(const struct kal_axis *axis,
                                 const struct kal_caps *caps);

/**
 * Return the node of a recipe that convolves each of the problem's lines so, all of it or
 * what transforms its reals; NULL: none does. From caps that are not limited.
 */
const struct kal_recipe *kal_recipe_find_convolved(const struct kal_recipe *recipe,
                                                   const struct kal_problem *problem,
                                                   const struct kal_caps *caps);

#endif
