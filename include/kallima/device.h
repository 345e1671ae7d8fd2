// SPDX-License-Identifier: MIT
// Devices: list, open by selector, close; buffers in a device's memory.
#ifndef KALLIMA_DEVICE_H_
#define KALLIMA_DEVICE_H_

#include <kallima/status.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct kallima_device kallima_device;
typedef struct kallima_buffer kallima_buffer;
typedef struct kallima_timer kallima_timer;
typedef struct kallima_wisdom kallima_wisdom; // wisdom.h

/** Receives one sentence a failure. `user` is the pointer given with the callback. */
typedef void (*kallima_log_callback)(void *user, kallima_status status,
                                     const char *sentence);

/**
 * Where the library takes host memory from. All zero means malloc() and free().
 *
 * `allocate` returns `bytes` bytes aligned to at least 64, or NULL; `release` takes what
 * `allocate` returned, never NULL.
 *
 * Thread: both may be called from several threads at once.
 */
typedef struct kallima_allocator {
    void *(*allocate)(void *user, size_t bytes);
    void (*release)(void *user, void *memory);
    void *user;
} kallima_allocator;

/**
 * What a GPU shall have at most, to see what a smaller one would get; 0: what it has. A limit
 * above what the device has changes nothing. Devices that compute on the host, `cpu` and `null`,
 * have no such limits and leave these out of account. The environment can say the same, and
 * where both do the lower one counts.
 */
typedef struct kallima_limits {
    uint64_t
        group_bytes; // memory that a work-group shares, 1024 or more: KALLIMA_GROUP_BYTES
    uint64_t buffer_bytes;  // of an array that a kernel reaches: KALLIMA_BUFFER_BYTES
    int32_t group_lanes;    // work-items, or threads, of a group: KALLIMA_GROUP_LANES
    int32_t row_groups;     // of a row of a launch (opengl, vulkan): KALLIMA_ROW_GROUPS
    int32_t cluster_groups; // cuda: groups of a cluster: KALLIMA_CLUSTER_GROUPS
    int32_t reserved;       // zero
} kallima_limits;

/** How to open a device. All zero is the default. */
typedef struct kallima_device_options {
    kallima_log_callback log;    // NULL: silent; kallima_last_error() always works
    void *log_user;              // handed to `log`
    kallima_allocator allocator; // host memory of the device and of its plans
    int32_t threads;             // cpu: threads a transform may use; 0: OMP_NUM_THREADS,
                                 // else every processor
    int32_t reserved;            // zero
    const char *simd; // cpu: "scalar", "sse2", "avx2", "avx512", "neon"; NULL: the best
    const char
        *kernel_cache;  // folder where compiled kernels are kept; "": nowhere; NULL:
                        // KALLIMA_KERNEL_CACHE, else kallima/ in XDG_CACHE_HOME
    const char *wisdom; // file of what tuning learnt; "": none; NULL: KALLIMA_WISDOM,
                        // else the system's and the user's (docs/wisdom-format.md), but
                        // none of devices that compute nothing
    int32_t wisdom_read_only; // 1: that file is not written; 0: KALLIMA_WISDOM_READ_ONLY
    kallima_limits limits;    // to be lowered
} kallima_device_options;

/** What is known of a device. */
typedef struct kallima_device_info {
    char selector[32];     // text that opens it: "cpu", "opencl:0", "cuda:0", "null"
    char name[128];        // the maker's name, such as the processor's
    char driver[64];       // what runs it: SIMD level, driver version
    int32_t is_software;   // 1: an API imitated on the CPU; never chosen by default
    int32_t has_f64;       // 1: computes in double precision
    int32_t threads;       // cpu: threads a transform may use; 0 elsewhere
    int32_t lanes_f32;     // f32 values a SIMD register or a warp holds
    uint64_t memory_bytes; // memory of the device; 0: unknown
} kallima_device_info;

/**
 * List the devices that are present, best first. An API whose driver is missing lists
 * nothing.
 *
 * Shape:  writes at most `capacity` entries to `infos` (NULL if `capacity` is 0) and the
 *         number of devices present to *count.
 * Owner:  the caller's array.
 * Thread: any.
 * Error:  E_ARGUMENT  `count` is NULL, `capacity` is negative, or `infos` is NULL while
 *                     `capacity` is positive
 */
KALLIMA_API kallima_status kallima_device_list(kallima_device_info *infos,
                                               int32_t capacity, int32_t *count);

/**
 * Open the device that `selector` names: "cpu", "cuda:0", "opencl:1", "null", or "" or NULL
 * for the environment variable KALLIMA_DEVICE, else the best device present that is not
 * imitated in software. "cuda" is "cuda:0".
 *
 * Its wisdom is read now. A file that is damaged or cannot be read is no error: one sentence
 * about it goes to the log.
 *
 * Owner:  the caller owns *out and frees it with kallima_device_close(). `options` (NULL:
 *         the default) and its strings need only live for the call; the log and the
 *         allocator must outlive the device and its plans and buffers.
 * Thread: any.
 * Error:  E_ARGUMENT     `out` is NULL, the selector is malformed, `threads` or a limit is
 *                        negative, or `simd` names no level
 *         E_ABSENT       no such device is present
 *         E_UNSUPPORTED  this processor lacks the SIMD level asked for
 *         E_MEMORY       host memory is exhausted
 *         On error *out is NULL.
 */
KALLIMA_API kallima_status kallima_device_open(kallima_device **out, const char *selector,
                                               const kallima_device_options *options);

/**
 * Close *device and set it to NULL. *device may be NULL. Plans and buffers keep the device
 * alive until they are destroyed, so the order does not matter.
 */
KALLIMA_API void kallima_device_close(kallima_device **device);

/**
 * Describe an open device.
 *
 * Thread: any.
 * Error:  E_ARGUMENT  an argument is NULL
 */
KALLIMA_API kallima_status kallima_device_get_info(const kallima_device *device,
                                                   kallima_device_info *info);

/**
 * Find out by trial how often fma() of a device's kernels rounds: *fma_roundings is 1, or 2 where
 * the language lets it be a product and a sum, and the driver makes it so. Then errors may be
 * larger by a factor of sqrt(4/3) (docs/numerics.md). A small kernel is compiled and run. Devices
 * that take no kernels, or run nothing, answer 1.
 *
 * Thread: any.
 * Error:  E_ARGUMENT     a pointer is NULL, or `precision` is out of range
 *         E_UNSUPPORTED  the device does not compute in that precision
 *         E_COMPILE      the driver rejects the kernel
 *         E_MEMORY       host or device memory is exhausted
 *         E_DEVICE       the driver failed
 */
KALLIMA_API kallima_status kallima_device_find_rounding(kallima_device *device,
                                                        int32_t precision,
                                                        int32_t *fma_roundings);

/**
 * Wait until all work enqueued on the device is done.
 *
 * Thread: any.
 * Error:  E_ARGUMENT  `device` is NULL
 *         E_DEVICE    the device failed
 */
KALLIMA_API kallima_status kallima_device_finish(kallima_device *device);

/**
 * Create a buffer of `bytes` bytes in the device's memory. Its content is undefined.
 *
 * Owner:  the caller owns *out and frees it with kallima_buffer_destroy().
 * Thread: any.
 * Error:  E_ARGUMENT  `out` or `device` is NULL, or `bytes` is 0
 *         E_MEMORY    memory is exhausted
 *         On error *out is NULL.
 */
KALLIMA_API kallima_status kallima_buffer_create(kallima_buffer **out,
                                                 kallima_device *device, uint64_t bytes);

/** Destroy *buffer and set it to NULL. *buffer may be NULL. No work may still use it. */
KALLIMA_API void kallima_buffer_destroy(kallima_buffer **buffer);

/**
 * Copy `bytes` bytes from `source` to the buffer, starting at byte `offset`; return when
 * `source` may be reused.
 *
 * Shape:  offset + bytes may not exceed the buffer's size.
 * Thread: one call on a buffer at a time.
 * Error:  E_ARGUMENT  a pointer is NULL or the range is outside the buffer
 *         E_DEVICE    the device failed
 */
KALLIMA_API kallima_status kallima_buffer_write(kallima_buffer *buffer, uint64_t offset,
                                                const void *source, uint64_t bytes);

/**
 * Wait for the work that uses the buffer, then copy `bytes` bytes from byte `offset` on to
 * `target`.
 *
 * Shape:  offset + bytes may not exceed the buffer's size.
 * Thread: one call on a buffer at a time.
 * Error:  E_ARGUMENT  a pointer is NULL or the range is outside the buffer
 *         E_DEVICE    the device failed
 */
KALLIMA_API kallima_status kallima_buffer_read(const kallima_buffer *buffer,
                                               uint64_t offset, void *target,
                                               uint64_t bytes);

/**
 * Enqueue a copy of `bytes` bytes between two buffers of one device.
 *
 * Shape:  both ranges lie inside their buffers and do not overlap.
 * Thread: any.
 * Error:  E_ARGUMENT  a pointer is NULL, a range is outside its buffer, the ranges overlap,
 *                     or the buffers are of different devices
 *         E_DEVICE    the device failed
 */
KALLIMA_API kallima_status kallima_buffer_copy(kallima_buffer *target,
                                               uint64_t target_offset,
                                               const kallima_buffer *source,
                                               uint64_t source_offset, uint64_t bytes);

/**
 * Create a timer for work that is enqueued on the device: events where the API has them, the
 * clock of the host on the CPU.
 *
 * Owner:  the caller owns *out and frees it with kallima_timer_destroy().
 * Thread: any.
 * Error:  E_ARGUMENT     an argument is NULL
 *         E_UNSUPPORTED  the caller's queue keeps no times (interop/opencl.h)
 *         E_MEMORY       memory is exhausted
 *         E_DEVICE       the device failed
 *         On error *out is NULL.
 */
KALLIMA_API kallima_status kallima_timer_create(kallima_timer **out,
                                                kallima_device *device);

/** Destroy *timer and set it to NULL. *timer may be NULL. */
KALLIMA_API void kallima_timer_destroy(kallima_timer **timer);

/**
 * Mark the point of the queue from which time is taken.
 *
 * Thread: one call on a timer at a time.
 * Error:  E_ARGUMENT  `timer` is NULL
 *         E_DEVICE    the device failed
 */
KALLIMA_API kallima_status kallima_timer_start(kallima_timer *timer);

/**
 * Mark the point of the queue up to which time is taken; nothing is waited for.
 *
 * Thread: one call on a timer at a time.
 * Error:  E_ARGUMENT  `timer` is NULL
 *         E_DEVICE    the device failed
 */
KALLIMA_API kallima_status kallima_timer_stop(kallima_timer *timer);

/**
 * Wait for the work before the second mark, then give the time between both in seconds.
 *
 * Thread: one call on a timer at a time.
 * Error:  E_ARGUMENT  an argument is NULL
 *         E_DEVICE    the device failed, or there are no two marks
 */
KALLIMA_API kallima_status kallima_timer_read(const kallima_timer *timer,
                                              double *seconds);

#ifdef __cplusplus
}
#endif
#endif
