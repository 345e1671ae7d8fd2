// SPDX-License-Identifier: MIT
// The public face of the codelet compiler.
#include <kallima/codelet.h>

#include <stdio.h>

#include "codelet/codelet.h"
#include "emit/emit.h"

enum { NAME_BYTES = 32 };

static kallima_status check_length(int32_t n)
{
    if (n >= 2 && n <= KALLIMA_MAX_CODELET)
        return KALLIMA_OK;
    return kal_fail(NULL, KALLIMA_E_ARGUMENT, "codelet: n = %d; lengths must be 2 .. %d",
                    (int)n, (int)KALLIMA_MAX_CODELET);
}

static kallima_status count(int32_t n, enum kal_flavour flavour, struct kal_ops *ops,
                            int32_t *live)
{
    const struct kal_codelet_spec spec = { .n = n, .flavour = flavour };
    struct kal_codelet codelet;

    const kallima_status status = kal_codelet_build(&codelet, NULL, &spec);
    *ops = codelet.ops;
    *live = codelet.schedule.live;
    kal_codelet_clear(&codelet);
    return status;
}

kallima_status kallima_codelet_count(int32_t n, kallima_codelet_ops *ops)
{
    struct kal_ops plain, fma;
    int32_t live, fma_live;

    KAL_TRY(check_length(n));
    if (!ops)
        return kal_fail(NULL, KALLIMA_E_ARGUMENT, "codelet: ops is NULL");
    KAL_TRY(count(n, KAL_PLAIN, &plain, &live));
    KAL_TRY(count(n, KAL_FMA, &fma, &fma_live));
    *ops = (kallima_codelet_ops){
        .additions = plain.additions,
        .multiplications = plain.multiplications,
        .live = live,
        .fma_additions = fma.additions,
        .fma_multiplications = fma.multiplications,
        .fma_fused = fma.fused,
        .fma_live = fma_live,
    };
    return KALLIMA_OK;
}

// Append the function of one flavour to the text, whose status says how it went.
static void add_function(struct kal_text *text, const struct kal_dialect *dialect,
                         int32_t n, enum kal_flavour flavour)
{
    const struct kal_codelet_spec spec = { .n = n, .flavour = flavour };
    struct kal_codelet codelet;
    char name[NAME_BYTES];

    snprintf(name, sizeof name, "dft_%d%s", (int)n, flavour == KAL_FMA ? "_fma" : "");
    kal_text_add(text, "\n");
    const kallima_status status = kal_codelet_build(&codelet, text->host, &spec);
    if (status == KALLIMA_OK)
        kal_emit_codelet(text, dialect, &codelet, false, name);
    else if (text->status == KALLIMA_OK)
        text->status = status;
    kal_codelet_clear(&codelet);
}

kallima_status kallima_codelet_source(int32_t n, const char *dialect, char *text,
                                      size_t capacity, size_t *length)
{
    struct kal_text source;

    KAL_TRY(check_length(n));
    if (!dialect || (!text && capacity > 0))
        return kal_fail(NULL, KALLIMA_E_ARGUMENT, "codelet: %s is NULL",
                        dialect ? "text" : "dialect");
    const struct kal_dialect *row = kal_dialect_find(dialect);
    if (!row || !row->defaults) // those of kernels use what only kernels define
        return kal_fail(NULL, KALLIMA_E_ARGUMENT,
                        "codelet: no dialect is called \"%.32s\"; there is: c", dialect);

    kal_text_init(&source, NULL);
    kal_text_add(
        &source,
        "// y[k] = sum over j of x[j] * exp(-2*pi*i * j * k / %d): dft_%d in plain "
        "operations,\n"
        "// dft_%d_fma with fused ones. Neighbours are xs and ys elements apart; y "
        "may be x.\n"
        "%s%s",
        (int)n, (int)n, (int)n, row->prelude, row->defaults);
    add_function(&source, row, n, KAL_PLAIN);
    add_function(&source, row, n, KAL_FMA);
    const kallima_status status = kal_text_export(&source, text, capacity, length);
    kal_text_clear(&source);
    return status;
}
