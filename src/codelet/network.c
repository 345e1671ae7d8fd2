// SPDX-License-Identifier: MIT
#include "codelet/network.h"

#include <string.h>

void kal_network_init(struct kal_network *net, const struct kal_host *host, int inputs)
{
    kal_dag_init(&net->dag, host);
    net->inputs = inputs;
    net->outputs = 0;
}

void kal_network_clear(struct kal_network *net)
{
    kal_dag_clear(&net->dag);
    net->outputs = 0;
}

kallima_status kal_network_count_uses(const struct kal_network *net, int32_t **uses)
{
    const struct kal_dag *g = &net->dag;
    void *memory;

    *uses = NULL;
    KAL_TRY(g->status);
    KAL_TRY(kal_alloc(g->host, &memory, (uint64_t)g->count, sizeof **uses));
    int32_t *use = memory;
    memset(use, 0, (size_t)g->count * sizeof *use);
    for (int o = 0; o < net->outputs; o++)
        use[net->output[o].id]++;
    for (int32_t id = g->count - 1; id >= 0; id--) {
        const struct kal_dag_entry *e = &g->entry[id];
        const int32_t operand[3] = { e->a, e->b, e->c };
        for (int i = 0; use[id] > 0 && i < kal_op_arity(e->op); i++)
            use[operand[i]]++;
    }
    *uses = use;
    return KALLIMA_OK;
}

kallima_status kal_network_find_mates(const struct kal_network *net, int early,
                                      int32_t **mate)
{
    const struct kal_dag *g = &net->dag;
    int32_t input[KAL_NETWORK_MAX] = { 0 };
    void *memory;

    *mate = NULL;
    KAL_TRY(kal_alloc(g->host, &memory, (uint64_t)g->count, sizeof **mate));
    *mate = memory;
    memset(memory, 0, (size_t)g->count * sizeof **mate);
    for (int32_t id = 0; id < g->count; id++) {
        if (g->entry[id].op == KAL_OP_INPUT && g->entry[id].a < early)
            input[g->entry[id].a] = id;
    }
    for (int i = 0; i < early; i++)
        (*mate)[input[i]] = input[i ^ 1];
    for (int o = 0; o < net->outputs; o++)
        (*mate)[net->output[o].id] = net->output[o ^ 1].id;
    (*mate)[0] = 0; // some outputs of real transforms are 0
    return KALLIMA_OK;
}

static void list_users(const struct kal_dag *g, struct kal_users *out)
{
    memset(out->first, 0, ((size_t)g->count + 2) * sizeof *out->first);
    for (int pass = 0; pass < 2; pass++) {
        for (int32_t id = 0; id < g->count; id++) {
            const struct kal_dag_entry *e = &g->entry[id];
            const int32_t operand[3] = { e->a, e->b, e->c };
            for (int i = out->uses[id] ? kal_op_arity(e->op) : 0; i-- > 0;) {
                if (pass == 0)
                    out->first[operand[i] + 2]++;
                else
                    out->user[out->first[operand[i] + 1]++] = id;
            }
        }
        for (int32_t id = 0; pass == 0 && id < g->count; id++)
            out->first[id + 2] += out->first[id + 1];
    }
}

kallima_status kal_users_build(struct kal_users *out, const struct kal_network *net)
{
    const struct kal_dag *g = &net->dag;
    const uint64_t count = (uint64_t)g->count;
    void *memory = NULL;

    *out = (struct kal_users){ .host = g->host };
    KAL_TRY(kal_network_count_uses(net, &out->uses));
    const kallima_status status =
        kal_alloc(g->host, &memory, 4 * count + 2, sizeof(int32_t));
    if (status) {
        kal_users_clear(out);
        return status;
    }
    out->first = memory;
    out->user = out->first + count + 2; // at most three operands each
    list_users(g, out);
    return KALLIMA_OK;
}

void kal_users_clear(struct kal_users *users)
{
    kal_free(users->host, users->uses);
    kal_free(users->host, users->first);
    *users = (struct kal_users){ .host = users->host };
}

kal_node *kal_network_take_map(struct kal_dag *g, const struct kal_network *net)
{
    void *map = NULL;

    if (g->status == KALLIMA_OK)
        g->status = net->dag.status;
    if (g->status == KALLIMA_OK)
        g->status = kal_alloc(g->host, &map, (uint64_t)net->dag.count, sizeof(kal_node));
    if (map)
        memset(map, 0, (size_t)net->dag.count * sizeof(kal_node));
    return map;
}

static kal_node copy_entry(struct kal_dag *g, const struct kal_dag_entry *e,
                           const kal_node *input, const kal_node *map)
{
    const kal_node a =
        e->op == KAL_OP_CONST || e->op == KAL_OP_INPUT ? kal_zero() : map[e->a];
    switch (e->op) {
    case KAL_OP_CONST: return kal_const(g, e->value);
    case KAL_OP_INPUT: return input[e->a];
    case KAL_OP_NEG: return kal_neg(g, a);
    case KAL_OP_ADD: return kal_add(g, a, map[e->b]);
    case KAL_OP_SUB: return kal_sub(g, a, map[e->b]);
    default: return kal_mul(g, a, map[e->b]);
    }
}

void kal_network_copy(struct kal_dag *g, const struct kal_network *net,
                      const kal_node *input, kal_node *result)
{
    for (int o = 0; o < net->outputs; o++)
        result[o] = kal_zero();
    kal_node *map = kal_network_take_map(g, net);
    if (!map)
        return;
    for (int32_t id = 0; id < net->dag.count; id++)
        map[id] = copy_entry(g, &net->dag.entry[id], input, map);
    for (int o = 0; o < net->outputs; o++)
        result[o] = map[net->output[o].id];
    kal_free(g->host, map);
}

static void accumulate(struct kal_dag *g, kal_node *sum, int32_t at, kal_node term)
{
    sum[at] = kal_add(g, sum[at], term);
}

// Hand what arrives at one node on to its operands.
static void pass_on(struct kal_dag *g, const struct kal_dag *from, int32_t id,
                    kal_node *sum, kal_node *result)
{
    const struct kal_dag_entry *e = &from->entry[id];
    const kal_node here = sum[id];
    switch (e->op) {
    case KAL_OP_INPUT: result[e->a] = here; break;
    case KAL_OP_NEG: accumulate(g, sum, e->a, kal_neg(g, here)); break;
    case KAL_OP_ADD:
        accumulate(g, sum, e->a, here);
        accumulate(g, sum, e->b, here);
        break;
    case KAL_OP_SUB:
        accumulate(g, sum, e->a, here);
        accumulate(g, sum, e->b, kal_neg(g, here));
        break;
    case KAL_OP_MUL:
        accumulate(g, sum, e->b, kal_scale(g, from->entry[e->a].value, here));
        break;
    default: break;
    }
}

void kal_network_transpose(struct kal_dag *g, const struct kal_network *net,
                           const kal_node *seed, kal_node *result)
{
    for (int i = 0; i < net->inputs; i++)
        result[i] = kal_zero();
    kal_node *sum = kal_network_take_map(g, net);
    if (!sum)
        return;
    for (int o = 0; o < net->outputs; o++)
        accumulate(g, sum, net->output[o].id, seed[o]);
    for (int32_t id = net->dag.count - 1; id > 0; id--)
        pass_on(g, &net->dag, id, sum, result);
    kal_free(g->host, sum);
}
