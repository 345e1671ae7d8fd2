// SPDX-License-Identifier: MIT
// The codelet compiler: short transforms as straight-line code, and what they cost.
#ifndef KALLIMA_CODELET_H_
#define KALLIMA_CODELET_H_

#include <kallima/status.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { KALLIMA_MAX_CODELET = 64 };

/** Real operations of a complex codelet, forward. */
typedef struct kallima_codelet_ops {
    int32_t additions;           // plain form, fewest additions + multiplications
    int32_t multiplications;     //
    int32_t live;                // most values alive at once, plain form
    int32_t fma_additions;       // FMA form, fewest instructions
    int32_t fma_multiplications; //
    int32_t fma_fused;           //
    int32_t fma_live;            // most values alive at once, FMA form
    int32_t reserved;            // zero
} kallima_codelet_ops;

/**
 * Count the operations of the codelet of length `n`.
 *
 * Thread: any.
 * Error:  E_ARGUMENT  `n` is outside 2 .. KALLIMA_MAX_CODELET, or `ops` is NULL
 *         E_MEMORY    host memory is exhausted
 */
KALLIMA_API kallima_status kallima_codelet_count(int32_t n, kallima_codelet_ops *ops);

/**
 * Write the source of the codelet of length `n` in `dialect` ("c").
 *
 * Shape:  as kallima_plan_get_recipe(): at most `capacity` bytes with the final NUL.
 * Thread: any.
 * Error:  E_ARGUMENT  `n` is outside 2 .. KALLIMA_MAX_CODELET, the dialect is unknown, or a
 *                     pointer is NULL that must not be
 *         E_MEMORY    host memory is exhausted
 */
KALLIMA_API kallima_status kallima_codelet_source(int32_t n, const char *dialect,
                                                  char *text, size_t capacity,
                                                  size_t *length);

#ifdef __cplusplus
}
#endif
#endif
