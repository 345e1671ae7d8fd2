// SPDX-License-Identifier: MIT
// Results looked at as curves: one number of one technology over the cases of one group.
#ifndef KALLIMA_COMPARE_VIEW_H_
#define KALLIMA_COMPARE_VIEW_H_

#include "results.h"

enum { VIEW_POINTS = 512 };

/**
 * What a transform reads and writes together at the least, to stand beside a copy: more than twice
 * the largest cache of a GPU (50 MB of an NVIDIA H200), as in place both are the same array.
 */
enum { VIEW_LARGE_BYTES = 128 << 20 };
#define VIEW_LARGE "128 MiB"

/** A curve. Its points ascend with the size of a transform, or stand as variants came. */
struct curve {
    const struct technology *technology;
    int count;
    const struct row *row[VIEW_POINTS];
    double value[VIEW_POINTS];
};

/** A number of a row: NaN where there is none. The part of a copy is of large problems alone. */
typedef double row_value(const struct row *row);

row_value view_median, view_gflops, view_x_copy, view_total, view_write, view_read,
    view_spread, view_plan, view_replan, view_first, view_bytes, view_bytes_moved,
    view_error, view_bound, view_error_share;

/** GFLOPS of a transform that takes as long as a copy; NaN as that of a copy's part. */
row_value view_copy_gflops;

/** The time with transfers, if any are needed. */
row_value view_whole;

/** Return whether a technology computes in host memory, with no transfers. */
bool view_is_host(const struct technology *technology);

/** Collect a curve of those rows that count and have the number. */
void view_curve(struct curve *curve, const struct results *results,
                const struct group *group, const struct technology *technology,
                row_value *value);

/**
 * Collect a row of each case of a group, by size or as variants came, in a list of as many rows as
 * there are results. Returns how many.
 */
int view_cases(const struct results *results, const struct group *group,
               const struct row **list);

/**
 * Return whether the cases of a group differ in size, so that it stands for them: not where they
 * are variants, or differ in their batch, too.
 */
bool view_is_by_size(const struct results *results, const struct group *group);

/** Return whether any row of the group has the number. */
bool view_has(const struct results *results, const struct group *group, row_value *value);

/** Return whether all rows of the group are single transforms. */
bool view_is_single(const struct results *results, const struct group *group);

/**
 * Return the fastest row of the case of `like`, of those technologies that `wanted` (NULL: all)
 * says yes to, by the number `value`; NULL: there is none.
 */
const struct row *view_fastest(const struct results *results, const struct row *like,
                               row_value *value,
                               bool (*wanted)(const struct technology *technology,
                                              const char *selector),
                               const char *selector);

/**
 * Return whether two rows differ in a time, view_median or view_whole, by more than the spreads:
 * whether the ratio is further from 1 than half the sum of both.
 */
bool view_differ(const struct row *a, const struct row *b, row_value *value);

/** Return whether the planner of a row's library was told to end before it had. */
bool view_is_cut(const struct row *row);

/** Write a length as it is on an axis: 4096 as 4k, 64x64 as 64 with a raised 2. */
void view_print_length(const struct row *row, char *text, size_t capacity);

/** Write a case for people: "c2c f32 4096, batch 100, in place". */
void view_print_case(const struct row *row, char *text, size_t capacity);

#endif
