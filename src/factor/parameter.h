// SPDX-License-Identifier: MIT
// Parameters: what a recipe may say of how the kernel of a local node is cut, or of how a
// device that takes passes runs its pass. What it leaves out, the kernel's design or that
// device chooses.
#ifndef KAL_FACTOR_PARAMETER_H_
#define KAL_FACTOR_PARAMETER_H_

#include "base/base.h"

enum kal_parameter_id {
    KAL_PARAMETER_POINTS,   // that a lane holds, if the radices allow it
    KAL_PARAMETER_LINES,    // of a group; passes: of a chunk
    KAL_PARAMETER_LANES,    // of a group; passes: of a SIMD register
    KAL_PARAMETER_RUN,      // bytes; shorter runs of memory pass through the tile
    KAL_PARAMETER_POWERS,   // radix from which twiddles are products of a few powers
    KAL_PARAMETER_RESIDENT, // groups that a processor shall hold at once
    KAL_PARAMETER_HINTS, // 1: arrays of the user stream past a cache that holds scratch;
                         // passes: what the last one writes
    KAL_PARAMETER_LAG,   // lines between two passes of one launch
    KAL_PARAMETER_CLUSTER, // groups of one; 0: none
    KAL_PARAMETER_SPLIT, // 1: real and imaginary parts are exchanged one after the other;
                         // 2: halves of them
    KAL_PARAMETER_THREADS, // that the whole transform uses
    KAL_PARAMETER_ACROSS,  // 1: lanes hold the lines of a chunk; 0: what is within one
    KAL_PARAMETER_LINE,    // 1: a contiguous line is worked by itself, without tiles
    KAL_PARAMETER_FETCH,   // 1: the memory of the next tile is asked for ahead
    KAL_PARAMETER_COUNT
};

/** All zero: none is given. */
struct kal_parameters {
    bool is_given[KAL_PARAMETER_COUNT];
    int value[KAL_PARAMETER_COUNT];
};

/** Devices that a parameter is for: those that take kernels, or passes as they are. */
enum { KAL_FOR_KERNELS = 1, KAL_FOR_PASSES = 2, KAL_FOR_ALL = 3 };

/** A name, which is in recipe texts and never changes, and the values that there are. */
struct kal_parameter {
    const char *name;
    int least, most;
    int devices; // KAL_FOR_...
};

/** The table of parameters, indexed by kal_parameter_id. */
extern const struct kal_parameter kal_parameters[KAL_PARAMETER_COUNT];

/** The value of a parameter, or `otherwise` where none is given. */
static inline int kal_parameter_get(const struct kal_parameters *parameters,
                                    enum kal_parameter_id id, int otherwise)
{
    return parameters->is_given[id] ? parameters->value[id] : otherwise;
}

/** Whether any is given. */
static inline bool kal_parameters_are_given(const struct kal_parameters *parameters)
{
    bool any = false;
    for (int i = 0; i < KAL_PARAMETER_COUNT; i++)
        any = any || parameters->is_given[i];
    return any;
}

#endif
