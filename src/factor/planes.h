// SPDX-License-Identifier: MIT
// Which lines in planes a CPU copies to where they are interleaved.
#ifndef KAL_FACTOR_PLANES_H_
#define KAL_FACTOR_PLANES_H_

#include "base/caps.h"
#include "problem/problem.h"

/**
 * Return whether lines of neighbours, complex numbers of which are in planes, are faster
 * by way of copies.
 */
bool kal_planes_are_copied(const struct kal_problem *problem,
                           const struct kal_caps *caps);

#endif
