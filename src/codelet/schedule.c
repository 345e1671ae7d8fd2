// SPDX-License-Identifier: MIT
#include "codelet/schedule.h"

#include <string.h>

#include "codelet/bisect.h"
#include "codelet/settle.h"

struct writer {
    const struct kal_network *net;
    struct kal_schedule *out;
    const int32_t *mate;
    int32_t *uses; // uses to come, by node
    bool *present; // loaded or computed, by node
    int early;
    int32_t alive;
};

static void push(struct writer *w, enum kal_step_kind kind, int32_t node, int32_t second,
                 int32_t index)
{
    w->out->step[w->out->count++] = (struct kal_event){ kind, { node, second }, index };
}

static void set_present(struct writer *w, int32_t id)
{
    w->present[id] = true;
    w->alive++;
    w->out->live = (int32_t)kal_max(w->out->live, w->alive);
}

static void load(struct writer *w, int32_t id)
{
    const int32_t index = w->net->dag.entry[id].a, mate = w->mate[id];
    set_present(w, id);
    set_present(w, mate);
    w->alive -= (w->uses[id] == 0) + (w->uses[mate] == 0);
    push(w, KAL_STEP_LOAD, index % 2 ? mate : id, index % 2 ? id : mate, index / 2);
}

static void make_present(struct writer *w, int32_t id)
{
    const struct kal_dag_entry *e = &w->net->dag.entry[id];
    if (w->present[id] || e->op == KAL_OP_CONST)
        return;
    if (e->op == KAL_OP_INPUT && e->a < w->early) {
        load(w, id);
        return;
    }
    set_present(w, id);
    if (e->op == KAL_OP_INPUT)
        push(w, KAL_STEP_FACTOR, id, 0, e->a);
    else
        push(w, KAL_STEP_COMPUTE, id, 0, 0);
}

static void use(struct writer *w, int32_t id)
{
    if (--w->uses[id] == 0 && w->net->dag.entry[id].op != KAL_OP_CONST)
        w->alive--;
}

static void load_rest(struct writer *w)
{
    const struct kal_dag *g = &w->net->dag;
    for (int32_t id = 0; id < g->count; id++) {
        if (g->entry[id].op == KAL_OP_INPUT && g->entry[id].a < w->early &&
            w->uses[id] > 0)
            make_present(w, id);
    }
}

static bool is_there(const struct writer *w, int32_t id)
{
    return w->present[id] || w->net->dag.entry[id].op == KAL_OP_CONST;
}

// Store the numbers that `id` completes.
static void store(struct writer *w, int32_t id)
{
    for (int o = 0; o < w->net->outputs; o += 2) {
        const int32_t re = w->net->output[o].id, im = w->net->output[o + 1].id;
        if ((re != id && im != id) || !is_there(w, re) || !is_there(w, im))
            continue;
        load_rest(w);
        push(w, KAL_STEP_STORE, re, im, o / 2);
        use(w, re);
        use(w, im);
    }
}

static void write_steps(struct writer *w, const int32_t *order, int32_t count)
{
    for (int32_t i = 0; i < count; i++) {
        const int32_t id = order[i];
        const struct kal_dag_entry *e = &w->net->dag.entry[id];
        const int32_t operand[3] = { e->a, e->b, e->c };
        const int arity = kal_op_arity(e->op);
        for (int k = 0; k < arity; k++)
            make_present(w, operand[k]);
        for (int k = 0; k < arity; k++)
            use(w, operand[k]);
        make_present(w, id);
        store(w, id);
    }
}

// The working memory of one schedule.
struct workspace {
    int32_t *uses, *mate;
    void *order, *other, *present;
};

// Order the operations in two ways, inputs from `early` on taking part from the beginning
// or not, and keep the better order.
static kallima_status find_order(const struct kal_network *net, int early,
                                 struct workspace *space, int32_t *count)
{
    int64_t strain, other_strain;

    KAL_TRY(kal_bisect(net, early, space->order, count));
    KAL_TRY(kal_settle(net, space->mate, space->order, *count, &strain));
    if (early == net->inputs)
        return KALLIMA_OK;

    KAL_TRY(kal_bisect(net, net->inputs, space->other, count));
    KAL_TRY(kal_settle(net, space->mate, space->other, *count, &other_strain));
    if (other_strain < strain) {
        void *swap = space->order;
        space->order = space->other;
        space->other = swap;
    }
    return KALLIMA_OK;
}

static kallima_status fill(struct kal_schedule *out, const struct kal_network *net,
                           int early, struct workspace *space)
{
    const struct kal_dag *g = &net->dag;
    const uint64_t nodes = (uint64_t)g->count;
    void *step;
    int32_t count;

    KAL_TRY(kal_network_count_uses(net, &space->uses));
    KAL_TRY(kal_network_find_mates(net, early, &space->mate));
    KAL_TRY(kal_alloc(g->host, &space->order, nodes, sizeof(int32_t)));
    KAL_TRY(kal_alloc(g->host, &space->other, nodes, sizeof(int32_t)));
    KAL_TRY(kal_alloc(g->host, &space->present, nodes, sizeof(bool)));
    KAL_TRY(
        kal_alloc(g->host, &step, nodes + (uint64_t)net->outputs / 2, sizeof *out->step));
    out->step = step;
    KAL_TRY(find_order(net, early, space, &count));

    memset(space->present, 0, (size_t)nodes * sizeof(bool));
    struct writer w = { net, out, space->mate, space->uses, space->present, early, 0 };
    write_steps(&w, space->order, count);
    return KALLIMA_OK;
}

kallima_status kal_schedule_build(struct kal_schedule *out, const struct kal_network *net,
                                  int early)
{
    struct workspace space = { 0 };

    *out = (struct kal_schedule){ .host = net->dag.host };
    const kallima_status status = fill(out, net, early, &space);
    kal_free(out->host, space.uses);
    kal_free(out->host, space.mate);
    kal_free(out->host, space.order);
    kal_free(out->host, space.other);
    kal_free(out->host, space.present);
    return status;
}

void kal_schedule_clear(struct kal_schedule *schedule)
{
    kal_free(schedule->host, schedule->step);
    *schedule = (struct kal_schedule){ .host = schedule->host };
}
