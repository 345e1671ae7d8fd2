// SPDX-License-Identifier: MIT
// Time is the place in the order; moment t is the one after order[t]. An input is alive
// from the first use of either part on, a computed value from its operation on, both
// until the last use. An output is stored as soon as both parts are there.
#include "codelet/settle.h"

#include <string.h>

enum { MAX_ROUNDS = 8, NEVER = INT32_MAX };

struct settling {
    const struct kal_dag *g;
    struct kal_users users;
    const int32_t *mate;
    int32_t *order, count;
    int32_t *time;  // by node, of operations
    int32_t *alive; // by time
    int32_t *trial; // by time: what `alive` would become
};

// An operand as the operation sees it that is about to move, or the other part of one.
struct operand {
    int32_t first_other; // when something else calls for it; NEVER: nothing does
    int32_t last_other;  // its last other use; -1: none
    bool computed, is_used;
};

struct mover {
    struct operand operand[6];
    int operands;
    int32_t first_user; // NEVER: none
    int32_t ready;      // the time of the last operand; -1: none is computed
    int32_t mate;       // the time of the other part of an output; NEVER: none
    int32_t mate_user;  // the last user of that part; -1: none
};

static int64_t cost(int32_t alive)
{
    return (int64_t)alive * alive;
}

// When something other than `self` uses a value; NEVER and -1: nothing does.
struct span {
    int32_t first, last;
};

static struct span find_span(const struct settling *s, int32_t id, int32_t self)
{
    struct span span = { NEVER, -1 };
    for (int32_t i = s->users.first[id]; i < s->users.first[id + 1]; i++) {
        const int32_t t = s->time[s->users.user[i]];
        if (s->users.user[i] == self)
            continue;
        span.first = (int32_t)kal_min(span.first, t);
        span.last = (int32_t)kal_max(span.last, t);
    }
    return span;
}

static bool is_used_by(const struct kal_dag_entry *e, int32_t id)
{
    const int32_t operand[3] = { e->a, e->b, e->c };
    for (int k = 0; k < kal_op_arity(e->op); k++) {
        if (operand[k] == id)
            return true;
    }
    return false;
}

static void add_computed(const struct settling *s, struct mover *m, int32_t id,
                         int32_t self)
{
    const struct span span = find_span(s, id, self);
    const int32_t stored = s->mate[id] ? s->time[s->mate[id]] : -1;
    m->ready = (int32_t)kal_max(m->ready, s->time[id]);
    m->operand[m->operands++] =
        (struct operand){ span.first, (int32_t)kal_max(span.last, stored), true, true };
}

// Both parts of the number are loaded when one is called for.
static void add_input(const struct settling *s, struct mover *m, int32_t id, int32_t self)
{
    const int32_t mate = s->mate[id];
    const struct span own = find_span(s, id, self);
    if (!mate) {
        m->operand[m->operands++] = (struct operand){ own.first, own.last, false, true };
        return;
    }
    const struct span other = find_span(s, mate, self);
    const int32_t first = (int32_t)kal_min(own.first, other.first);
    m->operand[m->operands++] = (struct operand){ first, own.last, false, true };
    if (!is_used_by(&s->g->entry[self], mate))
        m->operand[m->operands++] = (struct operand){ first, other.last, false, false };
}

static struct mover look_at(const struct settling *s, int32_t id)
{
    const struct kal_dag_entry *e = &s->g->entry[id];
    const int32_t operand[3] = { e->a, e->b, e->c }, mate = s->mate[id];
    struct mover m = { .first_user = find_span(s, id, id).first,
                       .ready = -1,
                       .mate = mate ? s->time[mate] : NEVER,
                       .mate_user = mate ? find_span(s, mate, id).last : -1 };

    for (int k = 0; k < kal_op_arity(e->op); k++) {
        const enum kal_op op = s->g->entry[operand[k]].op;
        if (op == KAL_OP_CONST || (k > 0 && operand[k] == operand[k - 1]))
            continue;
        if (op == KAL_OP_INPUT)
            add_input(s, &m, operand[k], id);
        else
            add_computed(s, &m, operand[k], id);
    }
    return m;
}

// How many more values are alive at moment t if the operation is already done by then,
// than if it is still to come.
static int32_t difference_if_done(const struct mover *m, int32_t t)
{
    const bool waits = m->mate != NEVER && m->mate > t;
    int32_t more = m->first_user != NEVER || waits;
    if (m->mate <= t && m->mate_user <= t)
        more--;
    for (int k = 0; k < m->operands; k++) {
        const struct operand *o = &m->operand[k];
        const bool is_alive = o->last_other > t, is_called = o->first_other <= t;
        more +=
            is_alive - (o->is_used ? o->computed || is_called : is_alive && is_called);
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
        const int32_t mate = s->mate[id];
        struct span span = find_span(s, id, 0);
        if (kal_op_computes(op)) {
            span.first = s->time[id];
            span.last = (int32_t)kal_max(span.last, mate ? s->time[mate] : -1);
        } else if (mate) {
            span.first = (int32_t)kal_min(span.first, find_span(s, mate, 0).first);
        }
        for (int32_t t = span.first; t < span.last; t++)
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

kallima_status kal_settle(const struct kal_network *net, const int32_t *mate,
                          int32_t *order, int32_t count, int64_t *strain)
{
    const struct kal_dag *g = &net->dag;
    const uint64_t size = (uint64_t)g->count;
    struct settling s = { .g = g, .mate = mate, .order = order, .count = count };
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
