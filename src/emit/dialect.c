// SPDX-License-Identifier: MIT
#include "emit/dialect.h"

#include <string.h>

// clang-format off
static const struct kal_dialect dialects[] = {
    {
        .name     = "c",
        .prelude  =
            "// The macros decide on the type: vectors of any width, single or double.\n"
            "// Define V and all others before this text, or get plain doubles.\n"
            "#include <stddef.h>\n"
            "\n"
            "#ifndef V\n"
            "#include <math.h>\n"
            "#define V              double\n"
            "#define R              double\n"
            "#define LOAD(p)        (*(p))\n"
            "#define STORE(p, v)    (*(p) = (v))\n"
            "#define BROADCAST(s)   (s)\n"
            "#define CONSTANT(c)    (c)\n"
            "#define ADD(a, b)      ((a) + (b))\n"
            "#define SUB(a, b)      ((a) - (b))\n"
            "#define MUL(a, b)      ((a) * (b))\n"
            "#define NEG(a)         (-(a))\n"
            "#define FMA(a, b, c)   fma((a), (b), (c))\n"
            "#define FMS(a, b, c)   fma((a), (b), -(c))\n"
            "#define FNMA(a, b, c)  fma(-(a), (b), (c))\n"
            "#endif\n",
        .defaults =
            "// Both parts of a number, `at` elements away from xr and xi or yr and yi,\n"
            "// are loaded and stored together. w holds the twiddle factors 1, 2, ...\n"
            "#ifndef LOAD_PAIR\n"
            "#define LOAD_PAIR(re, im, xr, xi, at) \\\n"
            "    do {                              \\\n"
            "        (re) = LOAD((xr) + (at));     \\\n"
            "        (im) = LOAD((xi) + (at));     \\\n"
            "    } while (0)\n"
            "#endif\n"
            "#ifndef STORE_PAIR\n"
            "#define STORE_PAIR(yr, yi, at, re, im) \\\n"
            "    do {                               \\\n"
            "        STORE((yr) + (at), re);        \\\n"
            "        STORE((yi) + (at), im);        \\\n"
            "    } while (0)\n"
            "#endif\n"
            "#ifndef ROOT_RE\n"
            "#define ROOT_RE(w, k) BROADCAST((w)[2 * (k) - 2])\n"
            "#define ROOT_IM(w, k) BROADCAST((w)[2 * (k) - 1])\n"
            "#endif\n",
        .open     =
            "static inline void $f(const R *xr, const R *xi, ptrdiff_t xs,\n"
            "    R *yr, R *yi, ptrdiff_t ys)\n"
            "{\n",
        .open_twiddled =
            "static inline void $f(const R *xr, const R *xi, ptrdiff_t xs,\n"
            "    R *yr, R *yi, ptrdiff_t ys, const R *w)\n"
            "{\n",
        .close    = "}\n",
        .constant = "    const V $a = CONSTANT($b);\n",
        .value    = "    const V $a = $b;\n",
        .load     = "    V $b, $c; LOAD_PAIR($b, $c, xr, xi, $a * xs);\n",
        .factor   = { "ROOT_RE(w, $a)", "ROOT_IM(w, $a)" },
        .store    = "    STORE_PAIR(yr, yi, $a * ys, $b, $c);\n",
        .op = {
            [KAL_OP_NEG]  = "NEG($a)",
            [KAL_OP_ADD]  = "ADD($a, $b)",
            [KAL_OP_SUB]  = "SUB($a, $b)",
            [KAL_OP_MUL]  = "MUL($a, $b)",
            [KAL_OP_FMA]  = "FMA($a, $b, $c)",
            [KAL_OP_FMS]  = "FMS($a, $b, $c)",
            [KAL_OP_FNMA] = "FNMA($a, $b, $c)",
        },
    },
};
// clang-format on

const struct kal_dialect *kal_dialect_find(const char *name)
{
    for (size_t i = 0; i < KAL_COUNT(dialects); i++) {
        if (strcmp(dialects[i].name, name) == 0)
            return &dialects[i];
    }
    return NULL;
}
