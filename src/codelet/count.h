// SPDX-License-Identifier: MIT
// What a network costs.
#ifndef KAL_CODELET_COUNT_H_
#define KAL_CODELET_COUNT_H_

#include "codelet/network.h"

/** Real operations. A negation that is left over counts as an addition. */
struct kal_ops {
    int32_t additions, multiplications, fused;
};

/**
 * Count the operations that the outputs of a network need.
 *
 * Error: E_MEMORY  exhausted, now or when the network was built; *ops is all 0
 */
kallima_status kal_network_count(const struct kal_network *net, struct kal_ops *ops);

/** All of them together: the instructions of a machine. */
static inline int32_t kal_ops_total(const struct kal_ops *ops)
{
    return ops->additions + ops->multiplications + ops->fused;
}

#endif
