// SPDX-License-Identifier: MIT
// The expressions of a codelet: a graph in which equal expressions are one node. The
// builders simplify as they go, so that a formula written for the general case costs no
// more than the special one.
#ifndef KAL_CODELET_DAG_H_
#define KAL_CODELET_DAG_H_

#include <kallima/codelet.h>

#include "base/base.h"

#ifdef __FAST_MATH__
#error "constant folding relies on IEEE arithmetic: compile without -ffast-math"
#endif

enum { KAL_CODELET_MAX = 113 }; // the longest that is printed into kernels

enum kal_op {
    KAL_OP_CONST = 0,
    KAL_OP_INPUT, // value number `a` of what the codelet reads
    KAL_OP_NEG,   // -a
    KAL_OP_ADD,   // a + b
    KAL_OP_SUB,   // a - b
    KAL_OP_MUL,   // a * b; a constant comes first
    KAL_OP_FMA,   // a * b + c, rounded once
    KAL_OP_FMS,   // a * b - c
    KAL_OP_FNMA,  // c - a * b
    KAL_OP_COUNT
};

/** A node, by its place in the graph. Operands come before what uses them. */
typedef struct kal_node {
    int32_t id;
} kal_node;

/** A complex number of nodes. */
struct kal_cx {
    kal_node re, im;
};

struct kal_dag_entry {
    enum kal_op op;
    int32_t a, b, c;   // operands; 0 where there is none
    long double value; // of a constant, never negative
};

/** A graph with a sticky status: after a failure every builder returns the constant 0. */
struct kal_dag {
    const struct kal_host *host;
    struct kal_dag_entry *entry; // entry[0] is the constant 0
    int32_t *slot;               // hash table of ids; 0: free
    int32_t count, capacity;     // entries
    int32_t last_const;          // constants are a list, linked by `a`
    kallima_status status;
};

/** Prepare a graph that holds the constants 0 and 1. */
void kal_dag_init(struct kal_dag *g, const struct kal_host *host);

/** Free what the graph holds. */
void kal_dag_clear(struct kal_dag *g);

/** How many operands an operation has. */
int kal_op_arity(enum kal_op op);

/** Return whether `op` computes: neither a constant nor an input. */
static inline bool kal_op_computes(enum kal_op op)
{
    return op > KAL_OP_INPUT;
}

/** The constant 0. */
static inline kal_node kal_zero(void)
{
    return (kal_node){ 0 };
}

/** A constant. One nearer to an earlier one than rounding explains is that one. */
kal_node kal_const(struct kal_dag *g, long double value);

/** The input number `index`. */
kal_node kal_input(struct kal_dag *g, int32_t index);

/** -a */
kal_node kal_neg(struct kal_dag *g, kal_node a);

/** a + b */
kal_node kal_add(struct kal_dag *g, kal_node a, kal_node b);

/** a - b */
kal_node kal_sub(struct kal_dag *g, kal_node a, kal_node b);

/** a * b */
kal_node kal_mul(struct kal_dag *g, kal_node a, kal_node b);

/** factor * a */
kal_node kal_scale(struct kal_dag *g, long double factor, kal_node a);

/** The operation `op` of as many of a, b and c as it has operands, not simplified. */
kal_node kal_raw(struct kal_dag *g, enum kal_op op, kal_node a, kal_node b, kal_node c);

static inline struct kal_cx kal_cx_add(struct kal_dag *g, struct kal_cx a,
                                       struct kal_cx b)
{
    return (struct kal_cx){ kal_add(g, a.re, b.re), kal_add(g, a.im, b.im) };
}

static inline struct kal_cx kal_cx_sub(struct kal_dag *g, struct kal_cx a,
                                       struct kal_cx b)
{
    return (struct kal_cx){ kal_sub(g, a.re, b.re), kal_sub(g, a.im, b.im) };
}

/** a * exp(-2*pi*i * k / n) */
struct kal_cx kal_cx_rotate(struct kal_dag *g, struct kal_cx a, int64_t n, int64_t k);

#endif
