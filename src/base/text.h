// SPDX-License-Identifier: MIT
// A string that grows, with a sticky status: the owner checks once, at the end.
#ifndef KAL_BASE_TEXT_H_
#define KAL_BASE_TEXT_H_

#include "base/base.h"

struct kal_text {
    const struct kal_host *host;
    char *data; // always NUL-terminated once anything was added; NULL before
    size_t length, capacity;
    kallima_status status;
};

/** Prepare an empty text whose memory comes from `host`. */
void kal_text_init(struct kal_text *text, const struct kal_host *host);

/** Free what the text holds and make it empty. */
void kal_text_clear(struct kal_text *text);

/** Append as printf() would. After a failure, do nothing. */
void kal_text_add(struct kal_text *text, const char *fmt, ...) KAL_PRINTF(2, 3);

/**
 * Copy the text to a caller's array, the way the public functions that write text promise.
 *
 * Shape: at most `capacity` bytes with the final NUL; *length (may be NULL) is the whole
 *        length.
 * Error: the text's sticky status
 *        E_ARGUMENT  `out` is NULL while `capacity` is positive
 */
kallima_status kal_text_export(const struct kal_text *text, char *out, size_t capacity,
                               size_t *length);

#endif
