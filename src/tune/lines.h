// SPDX-License-Identifier: MIT
// The elements of one side as lines in an image: elements that follow each other, as far as
// the layout has them the same distance apart, over axes and, where transforms touch, over
// transforms. So dense arrays are walked as a few long lines, and what is neighbours in one of
// them takes plain loops, shared out over threads.
//
// Transforms repeat with a period: the first ones are given, the others are equal to them.
#ifndef KAL_TUNE_LINES_H_
#define KAL_TUNE_LINES_H_

#include "tune/image.h"

struct kal_lines {
    const struct kal_image *image;
    const struct kal_array *array;
    int outer;               // axes that a line is found by
    int64_t length, stride;  // elements of a line; the distance between neighbours
    int64_t line_stride;     // between lines where no axis is left; else 0
    int64_t period_elements; // of the transforms that the others repeat
    int64_t elements;        // of all transforms
    bool is_shared; // out over threads: there are many elements, each in its own place
    int64_t pieces_per_line, pieces_per_period, pieces;
};

/** Describe `batch` transforms of a side in an image; `period` of them differ. */
void kal_lines_init(struct kal_lines *lines, const struct kal_image *image,
                    const struct kal_array *array, int rank, int64_t batch,
                    int64_t period);

/**
 * Make every transform behind the first period equal to the one a period ahead of it.
 *
 * Shape: no two elements share memory.
 */
void kal_lines_repeat(const struct kal_lines *lines);

/** Put poison where the elements are. */
void kal_lines_poison(const struct kal_lines *lines);

/**
 * Return the sum of the squares of all differences from `want`.
 *
 * Shape: one period of dense elements, in the arrangement of the side: interleaved, or all
 *        real parts ahead of all imaginary ones, or real.
 */
double kal_lines_squares(const struct kal_lines *lines, const double *want);

/** Part of an array of an image: all real numbers of some elements, one behind the other. */
struct kal_stretch {
    int array;
    uint64_t offset, bytes;
};

/** Return whether neighbours are neighbours in memory, so that pieces are stretches. */
bool kal_lines_are_dense(const struct kal_lines *lines);

/**
 * Return how many stretches one piece of all lines->pieces is: 1, or 2 of planar elements; 0
 * if nothing is left for it. They are where kal_lines_squares_of() looks.
 *
 * Shape: dense lines.
 */
int kal_lines_stretch(const struct kal_lines *lines, int64_t piece,
                      struct kal_stretch stretch[2]);

/** Return the sum of kal_lines_squares() over one piece; its elements are added to *count. */
double kal_lines_squares_of(const struct kal_lines *lines, int64_t piece,
                            const double *want, int64_t *count);

#endif
