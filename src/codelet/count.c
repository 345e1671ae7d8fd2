// SPDX-License-Identifier: MIT
#include "codelet/count.h"

static void count_one(enum kal_op op, struct kal_ops *ops)
{
    switch (op) {
    case KAL_OP_NEG:
    case KAL_OP_ADD:
    case KAL_OP_SUB: ops->additions++; break;
    case KAL_OP_MUL: ops->multiplications++; break;
    case KAL_OP_FMA:
    case KAL_OP_FMS:
    case KAL_OP_FNMA: ops->fused++; break;
    default: break;
    }
}

kallima_status kal_network_count(const struct kal_network *net, struct kal_ops *ops)
{
    int32_t *uses;

    *ops = (struct kal_ops){ 0 };
    KAL_TRY(kal_network_count_uses(net, &uses));
    for (int32_t id = 0; id < net->dag.count; id++) {
        if (uses[id] > 0)
            count_one(net->dag.entry[id].op, ops);
    }
    kal_free(net->dag.host, uses);
    return KALLIMA_OK;
}
