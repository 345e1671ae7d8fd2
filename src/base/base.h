// SPDX-License-Identifier: MIT
// What every module uses: status propagation, the host's services, small helpers.
#ifndef KAL_BASE_BASE_H_
#define KAL_BASE_BASE_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <kallima/device.h>

#define KAL_COUNT(array)        (sizeof(array) / sizeof((array)[0]))
#define KAL_PRINTF(text, first) __attribute__((format(printf, text, first)))

/** What the library takes from its caller: a log and memory. Travels with the device. */
struct kal_host {
    kallima_log_callback log;
    void *log_user;
    kallima_allocator allocator;
};

/** Log one sentence and return `status`, so that a failure is one statement. NULL: silent. */
kallima_status kal_fail(const struct kal_host *host, kallima_status status,
                        const char *fmt, ...) KAL_PRINTF(3, 4);

/** Return from the caller if `expr` fails. Only where nothing needs undoing. */
#define KAL_TRY(expr)                           \
    do {                                        \
        const kallima_status kal_try_ = (expr); \
        if (kal_try_ != KALLIMA_OK)             \
            return kal_try_;                    \
    } while (0)

/** Check an argument at a module boundary; log the expression if it is false. */
#define KAL_REQUIRE(host, cond)                                                       \
    do {                                                                              \
        if (!(cond))                                                                  \
            return kal_fail((host), KALLIMA_E_ARGUMENT, "%s: required: %s", __func__, \
                            #cond);                                                   \
    } while (0)

/**
 * Allocate `count` times `size` bytes, aligned to 64, undefined content. NULL host: malloc.
 *
 * Owner: the caller frees *out with kal_free() on the same host.
 * Error: E_MEMORY  exhausted, or the product overflows; *out is NULL
 */
kallima_status kal_alloc(const struct kal_host *host, void **out, uint64_t count,
                         uint64_t size);

/** Free what kal_alloc() returned; NULL is fine. */
void kal_free(const struct kal_host *host, void *memory);

/** As kal_alloc(), zeroed, for one object of a struct type. */
kallima_status kal_alloc_object(const struct kal_host *host, void **out, uint64_t bytes);

static inline int64_t kal_min(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static inline int64_t kal_max(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static inline int64_t kal_round_up(int64_t n, int64_t multiple)
{
    return (n + multiple - 1) / multiple * multiple;
}

#endif
