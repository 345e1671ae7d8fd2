// SPDX-License-Identifier: MIT
// Time is the place in the order; moment t is the one after order[t]. An input is alive
// from its first use on, a computed value from its operation on, both until the last use.
// An output is stored at once.
#include "codelet/settle.h"

#include <string.h>

enum { MAX_ROUNDS = 8, NEVER = INT32_MAX };

struct settling {
    const struct kal_dag *g;
    struct kal_users users;
    int32_t *order, count;
    int32_t *time;  // by node, of operations
    int32_t *alive; // by time
    int32_t *trial; // by time: what `alive` would become
};

// An operand as the operation sees it that is about to move.
struct operand {
    int32_t first_other, last_other; // times of its other uses; NEVER and -1: none
    bool computed;
};

struct mover {
    struct operand operand[3];
    int operands;
    int32_t first_user; // NEVER: none
    int32_t ready;      // the time of the last operand; -1: none is computed
};

static int64_t cost(int32_t alive)
{
    return (int64_t)alive * alive;
}

static void add_operand(const struct settling *s, struct mover *m, int32_t id,
                        int32_t self)
{
    struct operand o = { NEVER, -1, kal_op_computes(s->g->entry[id].op) };
    for (int32_t i = s->users.first[id]; i < s->users.first[id + 1]; i++) {
        const int32_t t = s->time[s->users.user[i]];
        if (s->users.user[i] == self)
            continue;
        o.first_other = (int32_t)kal_min(o.first_other, t);
        o.last_other = (int32_t)kal_max(o.last_other, t);
    }
    if (o.computed)
        m->ready = (int32_t)kal_max(m->ready, s->time[id]);
    m->operand[m->operands++] = o;
}

static struct mover look_at(const struct settling *s, int32_t id)
{
    const struct kal_dag_entry *e = &s->g->entry[id];
    const int32_t operand[3] = { e->a, e->b, e->c };
    struct mover m = { .first_user = NEVER, .ready = -1 };

    for (int k = 0; k < kal_op_arity(e->op); k++) {
        const bool repeated = k > 0 && operand[k] == operand[k - 1];
        if (s->g->entry[operand[k]].op != KAL_OP_CONST && !repeated)
            add_operand(s, &m, operand[k], id);
    }
    for (int32_t i = s->users.first[id]; i < s->users.first[id + 1]; i++)
        m.first_user = (int32_t)kal_min(m.first_user, s->time[s->users.user[i]]);
    return m;
}

// How many more values are alive at moment t if the operation is already done by then,
// than if it is still to come.
static int32_t difference_if_done(const struct mover *m, int32_t t)
{
    int32_t more = m->first_user == NEVER ? 0 : 1;
    for (int k = 0; k < m->operands; k++) {
        const struct operand *o = &m->operand[k];
        const bool waiting = o->computed || o->first_other <= t;
        more += (o->last_other > t) - waiting;
    }
    return more;
}

static void move(struct settling *s, int32_t from, int32_t to)
{
    const int32_t id = s->order[from], step = from < to ? 1 : -1;
    for (int32_t t = from; t != to; t += step) {
        s->order[t] = s->order[t + step];
        s->time[s->order[t]] = t;
    }
    s->order[to] = id;
    s->time[id] = to;
}

// Try all later places; return whether one is better.
static bool move_later(struct settling *s, int32_t from)
{
    const struct mover m = look_at(s, s->order[from]);
    const int32_t end = m.first_user == NEVER ? s->count : m.first_user;
    int64_t change = 0, best_change = 0;
    int32_t best = from;

    for (int32_t t = from + 1; t < end; t++) {
        s->trial[t - 1] = s->alive[t] - difference_if_done(&m, t);
        change += cost(s->trial[t - 1]) - cost(s->alive[t - 1]);
        if (change < best_change) {
            best_change = change;
            best = t;
        }
    }
    memcpy(s->alive + from, s->trial + from, (size_t)(best - from) * sizeof *s->alive);
    move(s, from, best);
    return best != from;
}

// Try all earlier places; return whether one is better.
static bool move_earlier(struct settling *s, int32_t from)
{
    const struct mover m = look_at(s, s->order[from]);
    int64_t change = 0, best_change = 0;
    int32_t best = from;

    for (int32_t t = from - 1; t > m.ready; t--) {
        const int32_t before = t == 0 ? 0 : s->alive[t - 1];
        s->trial[t] = before + difference_if_done(&m, t - 1);
        change += cost(s->trial[t]) - cost(s->alive[t]);
        if (change < best_change) {
            best_change = change;
            best = t;
        }
    }
    memcpy(s->alive + best, s->trial + best, (size_t)(from - best) * sizeof *s->alive);
    move(s, from, best);
    return best != from;
}

// Count what is alive, from the first moment of each value to the one before its last.
static void count_alive(struct settling *s)
{
    for (int32_t t = 0; t < s->count; t++)
        s->alive[t] = 0;
    for (int32_t id = 0; id < s->g->count; id++) {
        const enum kal_op op = s->g->entry[id].op;
        if (op == KAL_OP_CONST || s->users.uses[id] == 0)
            continue;
        int32_t first = kal_op_computes(op) ? s->time[id] : NEVER, last = -1;
        for (int32_t i = s->users.first[id]; i < s->users.first[id + 1]; i++) {
            const int32_t t = s->time[s->users.user[i]];
            first = (int32_t)kal_min(first, t);
            last = (int32_t)kal_max(last, t);
        }
        for (int32_t t = first; t < last; t++)
            s->alive[t]++;
    }
}

static void settle(struct settling *s)
{
    for (int32_t t = 0; t < s->count; t++)
        s->time[s->order[t]] = t;
    count_alive(s);

    bool moved = true;
    for (int round = 0; moved && round < MAX_ROUNDS; round++) {
        moved = false;
        for (int32_t t = s->count - 1; t >= 0; t--)
            moved |= move_later(s, t);
        for (int32_t t = 0; t < s->count; t++)
            moved |= move_earlier(s, t);
    }
}

kallima_status kal_settle(const struct kal_network *net, int32_t *order, int32_t count,
                          int64_t *strain)
{
    const struct kal_dag *g = &net->dag;
    const uint64_t size = (uint64_t)g->count;
    struct settling s = { .g = g, .order = order, .count = count };
    void *memory;

    *strain = 0;
    KAL_TRY(kal_users_build(&s.users, net));
    const kallima_status status = kal_alloc(g->host, &memory, 3 * size, sizeof(int32_t));
    if (status == KALLIMA_OK) {
        s.time = memory;
        s.alive = s.time + size;
        s.trial = s.alive + size;
        settle(&s);
        for (int32_t t = 0; t < count; t++)
            *strain += cost(s.alive[t]);
        kal_free(g->host, memory);
    }
    kal_users_clear(&s.users);
    return status;
}
