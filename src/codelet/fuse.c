// SPDX-License-Identifier: MIT
#include "codelet/fuse.h"

#include <math.h>

// factor * node
struct scaled {
    long double factor;
    kal_node node;
};

static const long double NEARNESS = 1e-17L;

static bool is_unit(long double factor)
{
    return fabsl(fabsl(factor) - 1.0L) <= NEARNESS;
}

// Whether the sum keeps the factor c rather than d: 1 is best, for it ends the chain, and
// of two others the larger.
static bool keeps(long double c, long double d)
{
    if (is_unit(c) != is_unit(d))
        return is_unit(c);
    return fabsl(c) >= fabsl(d);
}

static kal_node plus_ratio(struct kal_dag *g, kal_node x, kal_node y, long double ratio)
{
    const long double size = fabsl(ratio);
    if (is_unit(ratio))
        return ratio > 0 ? kal_add(g, x, y) : kal_sub(g, x, y);
    return kal_raw(g, ratio > 0 ? KAL_OP_FMA : KAL_OP_FNMA, kal_const(g, size), y, x);
}

// -x + ratio * y, ratio > 0
static kal_node ratio_minus(struct kal_dag *g, kal_node x, kal_node y, long double ratio)
{
    if (is_unit(ratio))
        return kal_sub(g, y, x);
    return kal_raw(g, KAL_OP_FMS, kal_const(g, ratio), y, x);
}

// p + q, with a positive factor unless both are negative.
static struct scaled sum(struct kal_dag *g, struct scaled p, struct scaled q)
{
    if (!keeps(p.factor, q.factor)) {
        const struct scaled swap = p;
        p = q;
        q = swap;
    }
    const long double ratio = q.factor / p.factor;
    if (p.factor < 0 && q.factor > 0)
        return (struct scaled){ -p.factor, ratio_minus(g, p.node, q.node, -ratio) };
    return (struct scaled){ p.factor, plus_ratio(g, p.node, q.node, ratio) };
}

static struct scaled times(long double factor, struct scaled p)
{
    return (struct scaled){ factor * p.factor, p.node };
}

static struct scaled fuse_entry(struct kal_dag *g, const struct kal_dag *from, int32_t id,
                                const struct scaled *map)
{
    const struct kal_dag_entry *e = &from->entry[id];
    switch (e->op) {
    case KAL_OP_INPUT: return (struct scaled){ 1.0L, kal_input(g, e->a) };
    case KAL_OP_NEG: return times(-1.0L, map[e->a]);
    case KAL_OP_ADD: return sum(g, map[e->a], map[e->b]);
    case KAL_OP_SUB: return sum(g, map[e->a], times(-1.0L, map[e->b]));
    case KAL_OP_MUL: return times(from->entry[e->a].value, map[e->b]);
    default: return (struct scaled){ 1.0L, kal_zero() };
    }
}

void kal_network_fuse(struct kal_network *out, const struct kal_network *net)
{
    struct kal_dag *g = &out->dag;
    void *memory;

    out->outputs = net->outputs;
    for (int o = 0; o < net->outputs; o++)
        out->output[o] = kal_zero();
    if (g->status == KALLIMA_OK)
        g->status = net->dag.status;
    if (g->status == KALLIMA_OK)
        g->status =
            kal_alloc(g->host, &memory, (uint64_t)net->dag.count, sizeof(struct scaled));
    if (g->status != KALLIMA_OK)
        return;

    struct scaled *map = memory;
    for (int32_t id = 0; id < net->dag.count; id++)
        map[id] = fuse_entry(g, &net->dag, id, map);
    for (int o = 0; o < net->outputs; o++) {
        const struct scaled p = map[net->output[o].id];
        out->output[o] = kal_scale(g, p.factor, p.node);
    }
    kal_free(g->host, map);
}
