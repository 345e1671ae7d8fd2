// SPDX-License-Identifier: MIT
#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void kal_text_init(struct kal_text *text, const struct kal_host *host)
{
    *text = (struct kal_text){ .host = host };
}

void kal_text_clear(struct kal_text *text)
{
    kal_free(text->host, text->data);
    kal_text_init(text, text->host);
}

static bool reserve(struct kal_text *text, size_t extra)
{
    if (text->length + extra + 1 <= text->capacity)
        return true;

    const size_t capacity = 2 * (text->length + extra + 1);
    void *data;
    text->status = kal_alloc(text->host, &data, capacity, 1);
    if (text->status)
        return false;
    if (text->data)
        memcpy(data, text->data, text->length);
    kal_free(text->host, text->data);
    text->data = data;
    text->capacity = capacity;
    return true;
}

void kal_text_add(struct kal_text *text, const char *fmt, ...)
{
    if (text->status)
        return;

    va_list args;
    va_start(args, fmt);
    const int extra = vsnprintf(NULL, 0, fmt, args);
    va_end(args);
    if (extra < 0 || !reserve(text, (size_t)extra))
        return;

    va_start(args, fmt);
    vsnprintf(text->data + text->length, (size_t)extra + 1, fmt, args);
    va_end(args);
    text->length += (size_t)extra;
}

kallima_status kal_text_export(const struct kal_text *text, char *out, size_t capacity,
                               size_t *length)
{
    KAL_TRY(text->status);
    KAL_REQUIRE(text->host, out || capacity == 0);
    if (length)
        *length = text->length;
    if (capacity == 0)
        return KALLIMA_OK;

    const size_t kept = text->length < capacity ? text->length : capacity - 1;
    if (kept)
        memcpy(out, text->data, kept);
    out[kept] = '\0';
    return KALLIMA_OK;
}
