// SPDX-License-Identifier: MIT
// The only place that takes memory from the process.
#include "base/base.h"

#include <string.h>

#include "base/platform.h"

enum { ALIGNMENT_BYTES = 64 };

kallima_status kal_alloc(const struct kal_host *host, void **out, uint64_t count,
                         uint64_t size)
{
    uint64_t bytes;

    *out = NULL;
    if (__builtin_mul_overflow(count, size, &bytes) || bytes > PTRDIFF_MAX)
        return kal_fail(host, KALLIMA_E_MEMORY,
                        "memory: %llu elements of %llu bytes exceed the address space",
                        (unsigned long long)count, (unsigned long long)size);
    if (bytes == 0)
        bytes = 1;

    *out = host && host->allocator.allocate
               ? host->allocator.allocate(host->allocator.user, (size_t)bytes)
               : kal_alloc_aligned(ALIGNMENT_BYTES, (size_t)bytes);
    if (!*out)
        return kal_fail(host, KALLIMA_E_MEMORY, "memory: no %llu bytes left",
                        (unsigned long long)bytes);
    return KALLIMA_OK;
}

void kal_free(const struct kal_host *host, void *memory)
{
    if (!memory)
        return;
    if (host && host->allocator.release)
        host->allocator.release(host->allocator.user, memory);
    else
        kal_free_aligned(memory);
}

kallima_status kal_alloc_object(const struct kal_host *host, void **out, uint64_t bytes)
{
    KAL_TRY(kal_alloc(host, out, 1, bytes));
    memset(*out, 0, (size_t)bytes);
    return KALLIMA_OK;
}
