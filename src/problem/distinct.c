// SPDX-License-Identifier: MIT
// Do strides send two indices to one address? They do if and only if some difference vector
// d, not all zero, |d[i]| < n[i], has sum(d[i] * stride[i]) = 0.
#include "problem/problem.h"

enum { MAX_AXES = KALLIMA_MAX_RANK + 1, MAX_STEPS = 1000000 };

struct search {
    int count;
    int64_t n[MAX_AXES], stride[MAX_AXES]; // stride >= 0, descending
    __int128 reach[MAX_AXES + 1];          // the most that axes i and up can add
    int64_t steps;
};

static int64_t magnitude(int64_t a)
{
    return a < 0 ? -a : a;
}

// Insert an axis, keeping strides in descending order.
static void insert_axis(struct search *s, int64_t n, int64_t stride)
{
    int i = s->count++;
    for (; i > 0 && s->stride[i - 1] < stride; i--) {
        s->n[i] = s->n[i - 1];
        s->stride[i] = s->stride[i - 1];
    }
    s->n[i] = n;
    s->stride[i] = stride;
}

// Is there a choice of d on axes `axis` and up whose sum is -sum? Not all zero, unless some
// d before was not.
static bool meets(struct search *s, int axis, __int128 sum, bool nonzero)
{
    if (++s->steps > MAX_STEPS)
        return true;
    if (sum > s->reach[axis] || -sum > s->reach[axis])
        return false;
    if (axis == s->count)
        return nonzero; // the sum is 0

    // Only d near -sum / stride can be repaired by the axes behind.
    const __int128 stride = s->stride[axis], rest = s->reach[axis + 1];
    __int128 low = (-sum - rest) / stride - 1, high = (-sum + rest) / stride + 1;
    if (low < 1 - s->n[axis])
        low = 1 - s->n[axis];
    if (high > s->n[axis] - 1)
        high = s->n[axis] - 1;
    if (!nonzero && low < 0)
        low = 0; // d and -d are the same collision
    for (__int128 d = low; d <= high; d++) {
        if (meets(s, axis + 1, sum + d * stride, nonzero || d != 0))
            return true;
    }
    return false;
}

bool kal_strides_distinct(int rank, const int64_t *n, const int64_t *stride)
{
    struct search s = { 0 };

    for (int i = 0; i < rank; i++) {
        if (n[i] == 1)
            continue;
        if (stride[i] == 0)
            return false;
        insert_axis(&s, n[i], magnitude(stride[i]));
    }

    bool nested = true; // each stride steps over all that the smaller ones span
    for (int i = s.count - 1; i >= 0; i--) {
        nested = nested && s.stride[i] > s.reach[i + 1];
        s.reach[i] = s.reach[i + 1] + (__int128)(s.n[i] - 1) * s.stride[i];
    }
    return nested || !meets(&s, 0, 0, false);
}
