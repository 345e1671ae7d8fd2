// SPDX-License-Identifier: MIT
// A kernel that tells how a device rounds.
#ifndef KAL_EMIT_PROBE_H_
#define KAL_EMIT_PROBE_H_

#include "base/text.h"
#include "emit/dialect.h"

/**
 * Append a kernel for one lane that reads a, b and c from its first array and writes FMA(a, b, c)
 * to its second.
 *
 * Error: sticky, in `text`
 */
void kal_emit_fma_probe(struct kal_text *text, const struct kal_dialect *dialect,
                        bool is_f64, const char *name);

#endif
