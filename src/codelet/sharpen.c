// SPDX-License-Identifier: MIT
#include "codelet/sharpen.h"

#include <math.h>

// In unit roundoffs, relative; 2/3 is the largest possible from 3/4 to 1.
static const long double LARGE_ERROR = 0.4L;

static bool is_rounded_badly(long double c)
{
    const long double single = fabsl((long double)(float)c - c) / c;
    const long double full = fabsl((long double)(double)c - c) / c;
    return c >= 0.75L && c < 1.0L &&
           (single > LARGE_ERROR * 0x1p-24L || full > LARGE_ERROR * 0x1p-53L);
}

static kal_node sharpen_entry(struct kal_dag *g, const struct kal_dag *from, int32_t id,
                              const kal_node *map)
{
    const struct kal_dag_entry *e = &from->entry[id];
    if (e->op == KAL_OP_CONST)
        return kal_const(g, e->value);
    if (e->op == KAL_OP_INPUT)
        return kal_input(g, e->a);
    const kal_node a = map[e->a];
    if (kal_op_arity(e->op) == 1)
        return kal_raw(g, e->op, a, kal_zero(), kal_zero());
    const kal_node b = map[e->b];
    if (e->op != KAL_OP_MUL || !is_rounded_badly(from->entry[e->a].value))
        return kal_raw(g, e->op, a, b, kal_zero());
    const kal_node rest = kal_const(g, 1.0L - from->entry[e->a].value);
    return kal_raw(g, KAL_OP_SUB, b, kal_raw(g, KAL_OP_MUL, rest, b, kal_zero()),
                   kal_zero());
}

void kal_network_sharpen(struct kal_network *out, const struct kal_network *net)
{
    kal_node *map = kal_network_take_map(&out->dag, net);

    out->outputs = net->outputs;
    for (int32_t id = 0; map && id < net->dag.count; id++)
        map[id] = sharpen_entry(&out->dag, &net->dag, id, map);
    for (int o = 0; o < net->outputs; o++)
        out->output[o] = map ? map[net->output[o].id] : kal_zero();
    kal_free(out->dag.host, map);
}
