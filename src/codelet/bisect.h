// SPDX-License-Identifier: MIT
// The order of the operations alone.
#ifndef KAL_CODELET_BISECT_H_
#define KAL_CODELET_BISECT_H_

#include "codelet/network.h"

/**
 * Write the operations that are used to `order`, operands before what uses them, by
 * recursive bisection. What depends on an input from `early` on, as twiddle factors are,
 * does not take part: it follows its operands.
 *
 * Shape:  `order` holds net->dag.count numbers; *count says how many are written.
 * Error:  E_MEMORY  exhausted
 */
kallima_status kal_bisect(const struct kal_network *net, int early, int32_t *order,
                          int32_t *count);

#endif
