// SPDX-License-Identifier: MIT
// The canonical problem: a checked descriptor with every default filled in.
#ifndef KAL_PROBLEM_PROBLEM_H_
#define KAL_PROBLEM_PROBLEM_H_

#include <kallima/plan.h>

#include "base/base.h"
#include "base/text.h"

/** One array of the problem. Offset and strides count elements, complex or real. */
struct kal_array {
    bool is_real, is_planar;
    int64_t n[KALLIMA_MAX_RANK];      // elements on each axis
    int64_t stride[KALLIMA_MAX_RANK]; // between neighbours on each axis
    int64_t batch_stride;
    int64_t offset;   // of element 0
    int64_t elements; // that the memory behind the user's pointer holds, offset included
};

/** Return the reals between neighbouring elements of an array, in each of its parts. */
static inline int64_t kal_array_reals(const struct kal_array *array)
{
    return array->is_real || array->is_planar ? 1 : 2;
}

/** Return how many arrays hold one side: two if it is planar. */
static inline int kal_array_parts(const struct kal_array *array)
{
    return array->is_planar ? 2 : 1;
}

/** Return whether the elements of the last axis stand one behind the other, parts together. */
static inline bool kal_array_is_contiguous(const struct kal_array *array, int rank)
{
    return array->stride[rank - 1] == 1 && !array->is_planar;
}

/**
 * Return whether an array of several axes follows on itself without gaps, element behind
 * element.
 */
static inline bool kal_array_follows_itself(const struct kal_array *array, int rank)
{
    for (int i = rank - 1; i > 0; i--) {
        if (array->stride[i - 1] != array->stride[i] * array->n[i])
            return false;
    }
    return true;
}

struct kal_problem {
    int kind, precision; // kallima_kind, kallima_precision
    bool is_inverse, is_in_place, may_destroy_input;
    int rank;
    int64_t n[KALLIMA_MAX_RANK]; // logical lengths
    int64_t batch;
    double scale; // never 0
    struct kal_array in, out;
};

/**
 * Check `desc` and fill in what it leaves to default.
 *
 * Error:  E_ARGUMENT  a field is out of range; the sentence names it, its value, the limit
 */
kallima_status kal_problem_init(struct kal_problem *problem, const struct kal_host *host,
                                const kallima_desc *desc);

/** Return a descriptor of which kal_problem_init() makes the same problem. */
kallima_desc kal_problem_describe(const struct kal_problem *problem);

/**
 * Return one transform of a problem as it would be between packed interleaved arrays, out
 * of place.
 */
struct kal_problem kal_problem_packed(const struct kal_problem *problem);

/** Append the problem as one line of text without a newline. */
void kal_problem_print(struct kal_text *text, const struct kal_problem *problem);

/** Return the product of the lengths and the batch: a double, so that it cannot overflow. */
double kal_problem_points(const struct kal_problem *problem);

/**
 * Return whether no two index tuples (0 <= i[d] < n[d]) share an address sum(i[d] *
 * stride[d]). Exact, unless proving it would take very long; then false.
 */
bool kal_strides_distinct(int rank, const int64_t *n, const int64_t *stride);

#endif
