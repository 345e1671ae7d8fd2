// SPDX-License-Identifier: MIT
#include "codelet/bisect.h"

#include <string.h>

// A set of nodes is a range of the list that becomes the order. `set` says in which set a
// node is: edges that leave the set do not count.
struct bisection {
    const struct kal_dag *g;
    struct kal_users users;
    int32_t *scratch; // as long as the list
    int32_t *set;     // by node
    int32_t *mark;    // by node: part of a component, or colour
    int32_t *late;    // by node: 1 if it is to be placed after the others
    int32_t sets;
};

enum colour { WHITE = 0, RED, BLUE };

static int operands(const struct bisection *b, int32_t id, int32_t operand[3])
{
    const struct kal_dag_entry *e = &b->g->entry[id];
    operand[0] = e->a;
    operand[1] = e->b;
    operand[2] = e->c;
    return kal_op_arity(e->op);
}

// Whether all neighbours of `id` in its set, on the side of its operands or on that of
// its users, have the colour.
static bool all_operands(const struct bisection *b, int32_t id, int32_t colour)
{
    int32_t operand[3];
    for (int i = operands(b, id, operand); i-- > 0;) {
        if (b->set[operand[i]] == b->set[id] && b->mark[operand[i]] != colour)
            return false;
    }
    return true;
}

static bool all_users(const struct bisection *b, int32_t id, int32_t colour)
{
    for (int32_t i = b->users.first[id]; i < b->users.first[id + 1]; i++) {
        if (b->set[b->users.user[i]] == b->set[id] && b->mark[b->users.user[i]] != colour)
            return false;
    }
    return true;
}

// Give one more layer of white nodes the colour; return how many.
static int32_t grow_colour(struct bisection *b, const int32_t *list, int32_t count,
                           enum colour colour)
{
    int32_t found = 0;
    for (int32_t i = 0; i < count; i++) {
        const bool next =
            b->mark[list[i]] == WHITE &&
            (colour == RED ? all_operands(b, list[i], RED) : all_users(b, list[i], BLUE));
        if (next)
            b->scratch[found++] = list[i];
    }
    for (int32_t i = 0; i < found; i++)
        b->mark[b->scratch[i]] = colour;
    return found;
}

// Move the nodes with the mark to the front, in their order; return how many.
static int32_t partition(struct bisection *b, int32_t *list, int32_t count, int32_t mark)
{
    int32_t front = 0, back = 0;
    for (int32_t i = 0; i < count; i++) {
        if (b->mark[list[i]] == mark)
            list[front++] = list[i];
        else
            b->scratch[back++] = list[i];
    }
    memcpy(list + front, b->scratch, (size_t)back * sizeof *list);
    return front;
}

static void visit(struct bisection *b, int32_t id, int32_t like, int32_t *queue,
                  int32_t *tail)
{
    if (b->set[id] != b->set[like] || b->mark[id] == 1)
        return;
    b->mark[id] = 1;
    queue[(*tail)++] = id;
}

// Move all nodes that are connected with the first one to the front; return how many.
static int32_t split_component(struct bisection *b, int32_t *list, int32_t count)
{
    int32_t *queue = b->scratch, head = 0, tail = 0, operand[3];

    for (int32_t i = 0; i < count; i++)
        b->mark[list[i]] = 0;
    visit(b, list[0], list[0], queue, &tail);
    while (head < tail) {
        const int32_t id = queue[head++];
        for (int i = operands(b, id, operand); i-- > 0;)
            visit(b, operand[i], id, queue, &tail);
        for (int32_t i = b->users.first[id]; i < b->users.first[id + 1]; i++)
            visit(b, b->users.user[i], id, queue, &tail);
    }
    return partition(b, list, count, 1);
}

// Halve a connected set: layers from its inputs and from its outputs meet in the middle.
static int32_t split_middle(struct bisection *b, int32_t *list, int32_t count)
{
    for (int32_t i = 0; i < count; i++)
        b->mark[list[i]] = WHITE;
    for (int32_t left = count; left > 0;) {
        left -= grow_colour(b, list, count, RED);
        left -= grow_colour(b, list, count, BLUE);
    }
    return partition(b, list, count, RED);
}

static void order_set(struct bisection *b, int32_t *list, int32_t count)
{
    if (count <= 1)
        return;
    b->sets++;
    for (int32_t i = 0; i < count; i++)
        b->set[list[i]] = b->sets;

    int32_t front = split_component(b, list, count);
    if (front == count)
        front = split_middle(b, list, count);
    order_set(b, list, front);
    order_set(b, list + front, count - front);
}

// What depends on an input from `early` on is late.
static void find_late(struct bisection *b, int early)
{
    int32_t operand[3];
    for (int32_t id = 0; id < b->g->count; id++) {
        const struct kal_dag_entry *e = &b->g->entry[id];
        b->late[id] = e->op == KAL_OP_INPUT && e->a >= early;
        for (int i = operands(b, id, operand); i-- > 0;)
            b->late[id] |= b->late[operand[i]];
    }
}

// Order what is not late. Inputs take part, to hold the sets together.
static int32_t order_core(struct bisection *b, int32_t *order)
{
    int32_t count = 0, kept = 0;
    for (int32_t id = 0; id < b->g->count; id++) {
        if (b->users.uses[id] > 0 && !b->late[id] && b->g->entry[id].op != KAL_OP_CONST)
            order[count++] = id;
    }
    order_set(b, order, count);
    for (int32_t i = 0; i < count; i++) {
        if (kal_op_computes(b->g->entry[order[i]].op))
            order[kept++] = order[i];
    }
    return kept;
}

// Whether a late operation is to be placed and has all its operands; mark 1: placed.
static bool is_due(const struct bisection *b, int32_t id)
{
    int32_t operand[3];
    if (!b->late[id] || b->mark[id] == 1 || b->users.uses[id] == 0 ||
        !kal_op_computes(b->g->entry[id].op))
        return false;
    for (int i = operands(b, id, operand); i-- > 0;) {
        if (kal_op_computes(b->g->entry[operand[i]].op) && b->mark[operand[i]] != 1)
            return false;
    }
    return true;
}

// Place the late operations, each as soon as its operands are there.
static int32_t insert_late(struct bisection *b, int32_t *order, int32_t core)
{
    const int32_t nodes = b->g->count;
    int32_t count = 0;

    memcpy(b->scratch, order, (size_t)core * sizeof *order);
    memset(b->mark, 0, (size_t)nodes * sizeof *b->mark);
    for (int32_t i = 0; i < core; i++) {
        order[count++] = b->scratch[i];
        b->mark[b->scratch[i]] = 1;
        for (int32_t id = b->scratch[i] + 1; id < nodes; id++) {
            if (!is_due(b, id))
                continue;
            order[count++] = id;
            b->mark[id] = 1;
        }
    }
    return count;
}

kallima_status kal_bisect(const struct kal_network *net, int early, int32_t *order,
                          int32_t *count)
{
    const struct kal_dag *g = &net->dag;
    const uint64_t size = (uint64_t)g->count;
    struct bisection b = { .g = g };
    void *memory;

    *count = 0;
    KAL_TRY(kal_users_build(&b.users, net));
    const kallima_status status = kal_alloc(g->host, &memory, 4 * size, sizeof(int32_t));
    if (status == KALLIMA_OK) {
        memset(memory, 0, 4 * (size_t)size * sizeof(int32_t));
        b.scratch = memory;
        b.set = b.scratch + size;
        b.mark = b.set + size;
        b.late = b.mark + size;
        find_late(&b, early);
        *count = insert_late(&b, order, order_core(&b, order));
        kal_free(g->host, memory);
    }
    kal_users_clear(&b.users);
    return status;
}
