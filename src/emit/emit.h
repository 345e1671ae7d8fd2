// SPDX-License-Identifier: MIT
// The printer: a codelet as text.
#ifndef KAL_EMIT_EMIT_H_
#define KAL_EMIT_EMIT_H_

#include "base/text.h"
#include "codelet/codelet.h"
#include "emit/dialect.h"

/** What $a, $b, $c, $f and $n stand for in a pattern. */
struct kal_operands {
    const char *a, *b, *c, *f, *n;
};

/** Append a pattern of a dialect. Error: sticky, in `text` */
void kal_emit_pattern(struct kal_text *text, const char *pattern,
                      const struct kal_operands *operands);

/**
 * Append the codelet as a function called `name`, with a comment that says what it costs.
 * `is_f64` decides on the suffix of literals, where the language has them.
 *
 * Error: sticky, in `text`
 */
void kal_emit_codelet(struct kal_text *text, const struct kal_dialect *dialect,
                      const struct kal_codelet *codelet, bool is_f64, const char *name);

#endif
