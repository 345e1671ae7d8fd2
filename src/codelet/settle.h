// SPDX-License-Identifier: MIT
// Local improvement of an order of operations.
#ifndef KAL_CODELET_SETTLE_H_
#define KAL_CODELET_SETTLE_H_

#include "codelet/network.h"

/**
 * Move single operations of an order nearer to their operands or to their users, wherever
 * that lowers the sum over time of the squared number of values alive. The sum that
 * is reached is written to *strain; it compares orders of one network.
 *
 * Shape:  `mate` as of kal_network_find_mates(); `order` holds `count` nodes, operations
 *         only, operands before what uses them.
 * Error:  E_MEMORY  exhausted; the order is valid all the same
 */
kallima_status kal_settle(const struct kal_network *net, const int32_t *mate,
                          int32_t *order, int32_t count, int64_t *strain);

#endif
