// SPDX-License-Identifier: MIT
// The printer: a kernel as text.
#ifndef KAL_EMIT_KERNEL_H_
#define KAL_EMIT_KERNEL_H_

#include "base/text.h"
#include "emit/dialect.h"
#include "kernel/kernel.h"

/** Memory that a kernel takes, in the order of its arguments. */
enum kal_slot {
    KAL_SLOT_IN,
    KAL_SLOT_IN_IMAG,
    KAL_SLOT_OUT,
    KAL_SLOT_OUT_IMAG,
    KAL_SLOT_ROOTS,
    KAL_SLOT_MAP,
    KAL_SLOT_COUNT
};

/** Return whether a kernel takes the slot; it takes those that it uses. */
bool kal_kernel_uses(const struct kal_kernel *kernel, enum kal_slot slot);

/**
 * Append the kernel as a text that compiles by itself, with an entry point called `name`.
 * The tables of the kernel must have their places.
 *
 * Error: sticky, in `text`
 */
void kal_emit_kernel(struct kal_text *text, const struct kal_dialect *dialect,
                     const struct kal_kernel *kernel, const char *name);

#endif
