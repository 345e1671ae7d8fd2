// SPDX-License-Identifier: MIT
// Status codes, and the sentence that explains the last failure.
#ifndef KALLIMA_STATUS_H_
#define KALLIMA_STATUS_H_

#if defined _WIN32
#define KALLIMA_API __declspec(dllexport)
#else
#define KALLIMA_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

// The only list of status codes: the enum, the names and the texts all come from it.
// Numbers are part of the ABI; add at the end.
#define KALLIMA_STATUS_LIST(X)                                                \
    X(OK, 0, "success")                                                       \
    X(E_ARGUMENT, 1, "an argument is outside its documented range")           \
    X(E_MEMORY, 2, "host or device memory is exhausted")                      \
    X(E_UNSUPPORTED, 3, "this device or this build cannot run the transform") \
    X(E_COMPILE, 4, "the device compiler rejected a generated kernel")        \
    X(E_DEVICE, 5, "the device or its driver failed")                         \
    X(E_ABSENT, 6, "no such device is present")                               \
    X(E_RECIPE, 7, "the recipe text is damaged or does not fit the problem")  \
    X(E_WISDOM, 8, "wisdom is missing, damaged, or cannot be read or written")

typedef enum kallima_status {
#define KALLIMA_STATUS_ENUM(name, value, text) KALLIMA_##name = value,
    KALLIMA_STATUS_LIST(KALLIMA_STATUS_ENUM)
#undef KALLIMA_STATUS_ENUM
} kallima_status;

/**
 * Return the name of `status`, such as "E_ARGUMENT", or "unknown".
 *
 * Owner:  static storage; never freed.
 * Thread: any.
 */
KALLIMA_API const char *kallima_status_name(kallima_status status);

/**
 * Return what `status` means, in words, or "unknown status".
 *
 * Owner:  static storage; never freed.
 * Thread: any.
 */
KALLIMA_API const char *kallima_status_text(kallima_status status);

/**
 * Return the sentence of the last failure on this thread: what was asked, and what limit
 * or parameter is the cause. Empty before the first failure; success leaves it as it is.
 *
 * Owner:  thread-local storage; valid until the next failure on this thread.
 * Thread: each thread has its own.
 */
KALLIMA_API const char *kallima_last_error(void);

#ifdef __cplusplus
}
#endif
#endif
