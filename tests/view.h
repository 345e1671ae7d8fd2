// SPDX-License-Identifier: MIT
// How one side of a descriptor lies in memory, worked out here from the public header alone
// and independently of the library.
#ifndef TESTS_VIEW_H_
#define TESTS_VIEW_H_

#include <kallima/plan.h>
#include <stdbool.h>
#include <stdint.h>

enum { VIEW_AXES = KALLIMA_MAX_RANK + 1, VIEW_LIMIT = 1 << 24 };

/** The axes of one side, the batch first, and their strides in elements. */
struct view {
    int axes;
    int64_t n[VIEW_AXES], stride[VIEW_AXES];
    int64_t offset, first, last; // smallest and largest index that is touched
    int64_t count;               // elements
    bool complex_side, planar;
};

/**
 * Work out one side of `desc`. Return false if a length, the number of elements or an index
 * does not fit VIEW_LIMIT: too large for the tests to hold.
 */
bool view_build(struct view *view, const kallima_desc *desc, bool output);

/** Return the index in memory of an element counted row by row. */
int64_t view_index(const struct view *view, int64_t element);

/** Return whether two elements share an index. */
bool view_overlaps(const struct view *view);

/** Return the product of the lengths of one transform of the problem. */
int64_t desc_points(const kallima_desc *desc);

/** Return the number of transforms. */
int64_t desc_batch(const kallima_desc *desc);

#endif
