// SPDX-License-Identifier: MIT
#include "tune/fill.h"

kallima_status kal_buffer_fill(kallima_buffer *buffer, const void *pattern,
                               uint64_t bytes)
{
    enum { MOST = 8 << 20 }; // at once: caches hold it
    uint64_t done = bytes < buffer->bytes ? bytes : buffer->bytes;

    KAL_TRY(kallima_buffer_write(buffer, 0, pattern, done));
    while (done < buffer->bytes) {
        const int64_t most = kal_min((int64_t)done, MOST);
        const int64_t next = kal_min(most, (int64_t)(buffer->bytes - done));
        KAL_TRY(kallima_buffer_copy(buffer, done, buffer, 0, (uint64_t)next));
        done += (uint64_t)next;
    }
    return KALLIMA_OK;
}
