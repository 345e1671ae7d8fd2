// SPDX-License-Identifier: MIT
#include "emit/probe.h"
#include "emit/emit.h"

void kal_emit_fma_probe(struct kal_text *text, const struct kal_dialect *dialect,
                        bool is_f64, const char *name)
{
    const char *bytes = is_f64 ? "8" : "4";

    kal_text_add(text, "%s%s\n", dialect->precision[is_f64], dialect->prelude);
    if (kal_dialect_is_global(dialect)) {
        kal_emit_pattern(
            text, dialect->slot[KAL_SLOT_READ],
            &(struct kal_operands){ .a = "in", .b = "R", .c = bytes, .n = "0" });
        kal_emit_pattern(
            text, dialect->slot[KAL_SLOT_WRITTEN],
            &(struct kal_operands){ .a = "out", .b = "R", .c = bytes, .n = "1" });
        kal_text_add(text, "KERNEL(%s, 1, 0)\n{\n", name);
    } else {
        kal_text_add(text,
                     "KERNEL(%s, 1, 0)(MEMORY(const R, in), MEMORY(R, out))\n{\n"
                     "    BIND(const R, in)\n    BIND(R, out)\n",
                     name);
    }
    kal_text_add(text, "    const R a = LOAD(in, 0), b = LOAD(in, 1), c = LOAD(in, 2);\n"
                       "    EXACT const R d = FMA(a, b, c);\n"
                       "    STORE(out, 0, d);\n"
                       "}\n");
}
