// SPDX-License-Identifier: MIT
// Small kernels, each written once for all languages, and what tests do with them: to test a
// device's operations without plans. Numbers are of 32 bits, without a sign.
#ifndef TESTS_JOBS_H_
#define TESTS_JOBS_H_

#include "counting.h"
#include "device/device.h"

enum job {
    JOB_SAXPY,  // of x and y: y += 2 x; JOB_LANES of each in a group
    JOB_APPEND, // of a list and a number: count the list's first up, put the number there
    JOB_TALLY,  // of an array: each group adds its number and 1 at its number
    JOB_WHOLE,  // of an array: uses both ends of all the memory that a group can have
    JOB_BROKEN, // has the error `no_such_name`
    JOB_NAMELESS, // lacks its entry point
    JOB_COUNT
};

enum { JOB_LANES = 20, JOB_NUMBERS = 1000 };

/** A kernel's text and what belongs to it, in the language of a device. */
struct job_text {
    struct kal_kernel_text text;
    char characters[3000];
};

/** Write a job for `device`. `out->text` points into `out`. */
void job_write(struct job_text *out, const kallima_device *device, enum job job);

/** Options of a device with counted memory. */
kallima_device_options job_options(struct counting *counting);

/** Open a device with counted memory; compile; fill a buffer: or fail the test. */
kallima_device *job_open(const char *selector, struct counting *counting);
struct kal_device_kernel *job_compile_text(kallima_device *device,
                                           const struct kal_kernel_text *text);
struct kal_device_kernel *job_compile(kallima_device *device, enum job job);
kallima_buffer *job_upload(kallima_device *device, const void *data, uint64_t bytes);

/** Try to compile a text, from `binary` unless NULL; a kernel is destroyed again. */
kallima_status job_try(kallima_device *device, const struct kal_kernel_text *text,
                       const struct kal_binary *binary);

/** The memory of a buffer from a byte on. */
struct kal_memory job_at(const kallima_buffer *buffer, uint64_t bytes);

/** Enqueue one launch on two places in memory. */
kallima_status job_run(const struct kal_device_kernel *kernel, struct kal_memory first,
                       struct kal_memory second, uint64_t groups);

/** Set x[i] = slope i. */
void job_ramp(uint32_t *x, int count, uint32_t slope);

/** Run JOB_SAXPY on parts of arrays that begin anywhere. */
void job_check_offsets(kallima_device *device);

/** Have two threads enqueue at once; each call's work must stay together. */
void job_check_callers(kallima_device *device);

/** Of a device, open it: a buffer of a byte more than it allows is refused, with both numbers. */
void job_check_largest(const char *selector, uint64_t (*most)(const kallima_device *));

/** A kernel is said to take nothing that is known. */
void job_check_no_facts(const char *selector);

/**
 * Let every allocation fail once, from `open`, which opens `selector`, to a compiled kernel;
 * nothing may stay behind.
 */
typedef kallima_status job_opener(kallima_device **out, const char *selector,
                                  const kallima_device_options *options);
void job_check_exhaustion(const char *selector, job_opener *open);

/** Open all listed devices of an API, of which there must be one, and show them to `check`. */
typedef void job_look(const kallima_device *device, const kallima_device_info *info);
void job_each_device(const char *api, job_look *check);

#endif
