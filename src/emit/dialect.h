// SPDX-License-Identifier: MIT
// The languages that codelets are written in. A language is one row of patterns; the
// printer knows none of them.
#ifndef KAL_EMIT_DIALECT_H_
#define KAL_EMIT_DIALECT_H_

#include "codelet/dag.h"

/** What a kernel does with an array. */
enum kal_slot_use {
    KAL_SLOT_READ,
    KAL_SLOT_WRITTEN, // and perhaps read
    KAL_SLOT_SHARED,  // written by the name of the input, whose memory it is
    KAL_SLOT_BETWEEN, // written by some groups of a launch and read by others
    KAL_SLOT_USE_COUNT
};

/**
 * Patterns are copied but for $a, $b, $c, which stand for operands in the order of enum
 * kal_op, and for those that each field names.
 */
struct kal_dialect {
    const char *name;
    const char *precision[2];      // before the prelude of kernels: f32, f64; NULL: none
    const char *keeps_loops;       // behind that where unrolled ones go wrong; NULL: none
    const char *for_tickets;       // likewise where passes share a launch; NULL: none
    const char *prelude;           // before functions that stand alone
    const char *suffix[2];         // behind the literals of a kernel: f32, f64
    bool group_bytes_are_launched; // a kernel's tile is as large as its launch says
    bool loads_always;             // rather than under a condition, where both can be
    bool rounds_twice;             // FMA may: codelets do without
    const char *defaults;          // before any functions: what they use, if not defined
    const char *open;              // $f: the function's name, $n: the length
    const char *open_twiddled;     // likewise
    const char *close;             //
    const char *constant;          // $a: the variable, $b: the literal, $c: its suffix
    const char *value;             // $a: the variable, $b: the expression
    const char *load;              // declare $b and $c, the parts of x[$a]
    const char *factor[2];         // expression of either part of w[$a]
    const char *store;             // $b and $c into y[$a]
    const char *alone[2];          // the same of $b, the last of an odd number of reals
    const char *coefficient[2];    // $b, or $b and $c, as coefficient $a of $n reals
    const char *op[KAL_OP_COUNT];  // expressions; NULL for what is not computed

    // Arrays that are declared, as the tile, ahead of the entry point; NULL: it has arguments.
    // $a: the name, $b: the entries' type, $c: their bytes, $n: the number of the slot,
    // $f: the input whose memory it is. SHARED is NULL where a pass in place binds it twice,
    // BETWEEN where no passes share a launch, or no other access is needed.
    const char *slot[KAL_SLOT_USE_COUNT];
};

/** Return whether entry points take no arguments. */
static inline bool kal_dialect_is_global(const struct kal_dialect *dialect)
{
    return dialect->slot[KAL_SLOT_READ] != NULL;
}

/** Return the dialect of that name, NULL if there is none. */
const struct kal_dialect *kal_dialect_find(const char *name);

#endif
