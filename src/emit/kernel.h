// SPDX-License-Identifier: MIT
// The printer: a kernel as text.
#ifndef KAL_EMIT_KERNEL_H_
#define KAL_EMIT_KERNEL_H_

#include "base/text.h"
#include "emit/dialect.h"
#include "kernel/kernel.h"

/** Memory that a kernel takes: both sides of each pass, in their order, then these tables. */
enum kal_slot {
    KAL_SLOT_IN,
    KAL_SLOT_IN_IMAG,
    KAL_SLOT_OUT,
    KAL_SLOT_OUT_IMAG,
    KAL_SLOT_ROOTS,
    KAL_SLOT_MAP,
    KAL_SLOT_TICKETS,
    KAL_SLOT_COUNT
};

enum { KAL_SLOT_NAME = 16 }; // bytes, for kal_slot_name()

/** The name of a slot in a kernel; a side's is followed by the number of its pass, if not 0. */
void kal_slot_name(char name[KAL_SLOT_NAME], enum kal_slot slot, int pass);

/** Return whether pass `pass` of a set takes a side, up to KAL_SLOT_OUT_IMAG. */
bool kal_kernel_takes_side(const struct kal_kernel_set *set, int pass,
                           enum kal_slot slot);

/** Return whether a set takes a table, from KAL_SLOT_ROOTS on. */
bool kal_kernel_takes_table(const struct kal_kernel_set *set, enum kal_slot slot);

/** Return what pass `pass` of a set does with a slot that it takes. */
enum kal_slot_use kal_kernel_slot_use(const struct kal_kernel_set *set,
                                      const struct kal_dialect *dialect, int pass,
                                      enum kal_slot slot);

/** Return how many 32-bit counters a fused set needs, zero before each launch. */
int64_t kal_kernel_ticket_count(const struct kal_kernel_set *set);

/**
 * Append the kernel of a set as a text that compiles by itself, with an entry point called `name`.
 * Its tables must have their places.
 *
 * Error: sticky, in `text`
 */
void kal_emit_kernel(struct kal_text *text, const struct kal_dialect *dialect,
                     const struct kal_kernel_set *set, const char *name);

#endif
