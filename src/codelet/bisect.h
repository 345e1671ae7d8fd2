// SPDX-License-Identifier: MIT
// The order of the operations alone.
#ifndef KAL_CODELET_BISECT_H_
#define KAL_CODELET_BISECT_H_

#include "codelet/network.h"

/**
 * Write the operations that are used to `order`, operands before what uses them, by
 * recursive bisection.
 *
 * Shape:  `order` holds net->dag.count numbers; *count says how many are written.
 * Error:  E_MEMORY  exhausted
 */
kallima_status kal_bisect(const struct kal_network *net, int32_t *order, int32_t *count);

#endif
