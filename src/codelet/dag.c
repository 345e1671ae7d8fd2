// SPDX-License-Identifier: MIT
#include "codelet/dag.h"

#include <math.h>
#include <string.h>

#include "math/root.h"

enum { FIRST_CAPACITY = 512 }; // a power of two, as all capacities

// Constants computed on different ways differ by rounding in extended precision;
// different constants of a codelet never come this near.
static const long double NEARNESS = 1e-17L;

int kal_op_arity(enum kal_op op)
{
    static const int arity[KAL_OP_COUNT] = {
        [KAL_OP_NEG] = 1, [KAL_OP_ADD] = 2, [KAL_OP_SUB] = 2,  [KAL_OP_MUL] = 2,
        [KAL_OP_FMA] = 3, [KAL_OP_FMS] = 3, [KAL_OP_FNMA] = 3,
    };
    return arity[op];
}

// Where in the table of 2 * capacity slots the entry is, or where it belongs.
static int32_t *find(const struct kal_dag *g, const struct kal_dag_entry *e)
{
    const uint32_t mask = 2 * (uint32_t)g->capacity - 1;
    uint32_t h = (uint32_t)e->op;
    h = (h ^ (uint32_t)e->a) * 0x9e3779b1u;
    h = (h ^ (h >> 15) ^ (uint32_t)e->b) * 0x85ebca6bu;
    h = (h ^ (h >> 13) ^ (uint32_t)e->c) * 0xc2b2ae35u;
    for (uint32_t i = h ^ (h >> 16);; i++) {
        int32_t *slot = &g->slot[i & mask];
        const struct kal_dag_entry *have = &g->entry[*slot];
        if (*slot == 0 ||
            (have->op == e->op && have->a == e->a && have->b == e->b && have->c == e->c))
            return slot;
    }
}

// Double the room; constants are not in the table, they have their list.
static bool grow(struct kal_dag *g)
{
    const int32_t capacity = g->capacity ? 2 * g->capacity : FIRST_CAPACITY;
    void *entry, *slot;

    g->status = kal_alloc(g->host, &entry, (uint64_t)capacity, sizeof *g->entry);
    if (g->status)
        return false;
    g->status = kal_alloc(g->host, &slot, 2 * (uint64_t)capacity, sizeof *g->slot);
    if (g->status) {
        kal_free(g->host, entry);
        return false;
    }
    memset(slot, 0, 2 * (size_t)capacity * sizeof *g->slot);
    if (g->count)
        memcpy(entry, g->entry, (size_t)g->count * sizeof *g->entry);

    kal_free(g->host, g->entry);
    kal_free(g->host, g->slot);
    g->entry = entry;
    g->slot = slot;
    g->capacity = capacity;
    for (int32_t id = 1; id < g->count; id++) {
        if (g->entry[id].op != KAL_OP_CONST)
            *find(g, &g->entry[id]) = id;
    }
    return true;
}

// Append `e`. The only place that can fail.
static int32_t append(struct kal_dag *g, const struct kal_dag_entry *e)
{
    if (g->status != KALLIMA_OK || (g->count == g->capacity && !grow(g)))
        return 0;
    g->entry[g->count] = *e;
    return g->count++;
}

// The node equal to `e`, made now if there is none.
static kal_node intern(struct kal_dag *g, struct kal_dag_entry e)
{
    if (g->status != KALLIMA_OK)
        return kal_zero();
    const int32_t known = *find(g, &e);
    if (known)
        return (kal_node){ known };

    const int32_t id = append(g, &e); // may move the table
    if (id)
        *find(g, &e) = id;
    return (kal_node){ id };
}

static kal_node intern_op(struct kal_dag *g, enum kal_op op, kal_node a, kal_node b)
{
    return intern(g, (struct kal_dag_entry){ .op = op, .a = a.id, .b = b.id });
}

void kal_dag_init(struct kal_dag *g, const struct kal_host *host)
{
    *g = (struct kal_dag){ .host = host };
    const struct kal_dag_entry zero = { .op = KAL_OP_CONST };
    append(g, &zero);
    kal_const(g, 1.0L);
}

void kal_dag_clear(struct kal_dag *g)
{
    kal_free(g->host, g->entry);
    kal_free(g->host, g->slot);
    *g = (struct kal_dag){ .host = g->host };
}

static bool is_zero(kal_node a)
{
    return a.id == 0;
}

static bool is_neg(const struct kal_dag *g, kal_node a)
{
    return g->status == KALLIMA_OK && g->entry[a.id].op == KAL_OP_NEG;
}

static bool is_const(const struct kal_dag *g, kal_node a)
{
    return g->status != KALLIMA_OK || g->entry[a.id].op == KAL_OP_CONST;
}

static kal_node operand(const struct kal_dag *g, kal_node a)
{
    return (kal_node){ g->entry[a.id].a };
}

kal_node kal_const(struct kal_dag *g, long double value)
{
    if (g->status != KALLIMA_OK || fabsl(value) <= NEARNESS)
        return kal_zero();
    if (value < 0)
        return kal_neg(g, kal_const(g, -value));

    for (int32_t id = g->last_const; id; id = g->entry[id].a) {
        if (fabsl(g->entry[id].value - value) <= NEARNESS * value)
            return (kal_node){ id };
    }
    const struct kal_dag_entry e = { .op = KAL_OP_CONST,
                                     .a = g->last_const,
                                     .value = value };
    const int32_t id = append(g, &e);
    if (id)
        g->last_const = id;
    return (kal_node){ id };
}

kal_node kal_input(struct kal_dag *g, int32_t index)
{
    return intern(g, (struct kal_dag_entry){ .op = KAL_OP_INPUT, .a = index });
}

kal_node kal_neg(struct kal_dag *g, kal_node a)
{
    if (is_zero(a))
        return a;
    if (is_neg(g, a))
        return operand(g, a);
    return intern_op(g, KAL_OP_NEG, a, kal_zero());
}

// A node as a constant times another node.
struct term {
    long double factor;
    kal_node node;
};

static struct term split_factor(const struct kal_dag *g, kal_node a)
{
    const struct kal_dag_entry *e = &g->entry[a.id];
    if (e->op == KAL_OP_MUL && g->entry[e->a].op == KAL_OP_CONST)
        return (struct term){ g->entry[e->a].value, { e->b } };
    return (struct term){ 1.0L, a };
}

// k*x + l*x = (k+l)*x, and k*x + k*y = k*(x+y); `sign` is that of b. Neither is negated.
static bool add_terms(struct kal_dag *g, kal_node a, kal_node b, int sign, kal_node *sum)
{
    const struct term p = split_factor(g, a), q = split_factor(g, b);
    if (p.node.id == q.node.id) {
        *sum = kal_scale(g, p.factor + sign * q.factor, p.node);
        return true;
    }
    if (p.node.id != a.id && q.node.id != b.id && p.factor == q.factor) {
        const kal_node inner =
            sign > 0 ? kal_add(g, p.node, q.node) : kal_sub(g, p.node, q.node);
        *sum = kal_scale(g, p.factor, inner);
        return true;
    }
    return false;
}

kal_node kal_add(struct kal_dag *g, kal_node a, kal_node b)
{
    kal_node sum;

    if (is_zero(a))
        return b;
    if (is_zero(b))
        return a;
    if (is_neg(g, b))
        return kal_sub(g, a, operand(g, b));
    if (is_neg(g, a))
        return kal_sub(g, b, operand(g, a));
    if (add_terms(g, a, b, 1, &sum))
        return sum;
    return a.id < b.id ? intern_op(g, KAL_OP_ADD, a, b) : intern_op(g, KAL_OP_ADD, b, a);
}

kal_node kal_sub(struct kal_dag *g, kal_node a, kal_node b)
{
    kal_node sum;

    if (is_zero(b))
        return a;
    if (is_zero(a))
        return kal_neg(g, b);
    if (is_neg(g, b))
        return kal_add(g, a, operand(g, b));
    if (is_neg(g, a))
        return kal_neg(g, kal_add(g, operand(g, a), b));
    if (add_terms(g, a, b, -1, &sum))
        return sum;

    // b - a may be there already; then this is its negative.
    const struct kal_dag_entry reverse = { .op = KAL_OP_SUB, .a = b.id, .b = a.id };
    if (*find(g, &reverse))
        return kal_neg(g, (kal_node){ *find(g, &reverse) });
    return intern_op(g, KAL_OP_SUB, a, b);
}

kal_node kal_mul(struct kal_dag *g, kal_node a, kal_node b)
{
    if (is_neg(g, a))
        return kal_neg(g, kal_mul(g, operand(g, a), b));
    if (is_neg(g, b))
        return kal_neg(g, kal_mul(g, a, operand(g, b)));
    if (is_const(g, a))
        return kal_scale(g, g->status ? 0.0L : g->entry[a.id].value, b);
    if (is_const(g, b))
        return kal_scale(g, g->entry[b.id].value, a);
    return a.id < b.id ? intern_op(g, KAL_OP_MUL, a, b) : intern_op(g, KAL_OP_MUL, b, a);
}

kal_node kal_scale(struct kal_dag *g, long double factor, kal_node a)
{
    if (g->status != KALLIMA_OK || is_zero(a))
        return kal_zero();
    if (factor < 0)
        return kal_neg(g, kal_scale(g, -factor, a));
    if (is_neg(g, a))
        return kal_neg(g, kal_scale(g, factor, operand(g, a)));
    if (is_const(g, a))
        return kal_const(g, factor * g->entry[a.id].value);

    const struct term t = split_factor(g, a);
    const kal_node k = kal_const(g, factor * t.factor);
    if (is_zero(k))
        return k;
    if (k.id == 1)
        return t.node;
    return intern_op(g, KAL_OP_MUL, k, t.node);
}

kal_node kal_raw(struct kal_dag *g, enum kal_op op, kal_node a, kal_node b, kal_node c)
{
    return intern(g, (struct kal_dag_entry){ op, a.id, b.id, c.id, 0.0L });
}

struct kal_cx kal_cx_rotate(struct kal_dag *g, struct kal_cx a, int64_t n, int64_t k)
{
    const struct kal_root w = kal_root(n, k);
    return (struct kal_cx){
        kal_sub(g, kal_scale(g, w.re, a.re), kal_scale(g, w.im, a.im)),
        kal_add(g, kal_scale(g, w.im, a.re), kal_scale(g, w.re, a.im)),
    };
}
