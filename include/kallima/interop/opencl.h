// SPDX-License-Identifier: MIT
// The caller's own OpenCL objects: context, queue, memory and events. Include it with
// CL/cl.h, before or after.
#ifndef KALLIMA_INTEROP_OPENCL_H_
#define KALLIMA_INTEROP_OPENCL_H_

#include <kallima/plan.h>

#ifdef __cplusplus
extern "C" {
#endif

// As CL/cl.h has them, so that this header needs no other.
typedef struct _cl_command_queue *cl_command_queue;
typedef struct _cl_context *cl_context;
typedef struct _cl_event *cl_event;
typedef struct _cl_mem *cl_mem;

/**
 * Open the device of the caller's queue. All that the library does on it goes into this
 * queue: an in-order queue runs it in place, one without order gets barriers before each
 * command. The queue's device must be of OpenCL 1.2 or above, with a compiler.
 *
 * A queue made without CL_QUEUE_PROFILING_ENABLE has no times: on its device
 * kallima_timer_create() is E_UNSUPPORTED.
 *
 * Owner:  the caller owns *out and frees it with kallima_device_close(). The device retains
 *         both objects. `options` (NULL: the default) is as in kallima_device_open().
 * Thread: any. The caller may go on using the queue, also while the library does.
 * Error:  E_ARGUMENT     an argument but `options` is NULL, the queue belongs to another
 *                        context, or one of the allocator's two functions is missing
 *         E_UNSUPPORTED  the device is too old or has no compiler, or the library was built
 *                        without OpenCL
 *         E_ABSENT       the library cannot load libOpenCL.so.1
 *         E_MEMORY       host memory is exhausted
 *         E_DEVICE       OpenCL refused an object
 *         On error *out is NULL and nothing is retained.
 */
KALLIMA_API kallima_status kallima_opencl_adopt(kallima_device **out, cl_context context,
                                                cl_command_queue queue,
                                                const kallima_device_options *options);

/**
 * Make a buffer of a part of the caller's memory object. Nothing is copied.
 *
 * Shape:  bytes `offset_bytes` to `offset_bytes` + `bytes` of the object, a buffer of the
 *         device's context; `offset_bytes` is a multiple of 16, `bytes` is at least 1.
 * Owner:  the caller owns *out and frees it with kallima_buffer_destroy(). The buffer
 *         retains the object.
 * Thread: any.
 * Error:  E_ARGUMENT  a pointer is NULL, `device` is none of OpenCL, the object is an image
 *                     or of another context, or the range is outside it or misaligned
 *         E_MEMORY    host memory is exhausted
 *         E_DEVICE    OpenCL refused the object
 *         On error *out is NULL and nothing is retained.
 */
KALLIMA_API kallima_status kallima_opencl_wrap(kallima_buffer **out,
                                               kallima_device *device, cl_mem memory,
                                               uint64_t offset_bytes, uint64_t bytes);

/**
 * Enqueue one execution that starts when `wait_count` events are complete, and return. Its
 * commands are next to each other in the queue; nothing is allocated or compiled, and
 * nothing is waited for. Where no event is wanted, whoever waits in another queue first calls
 * clFlush() on this one.
 *
 * Shape:  as kallima_plan_execute(). `wait` has `wait_count` events of the device's context,
 *         and is NULL if that is 0.
 * Owner:  *event (`event` may be NULL) completes with the execution; the caller releases it
 *         with clReleaseEvent(). The events of `wait` are borrowed for the call.
 * Thread: as kallima_plan_execute().
 * Error:  as kallima_plan_execute(); E_ARGUMENT also if the plan's device is none of OpenCL
 *         or `wait` does not fit `wait_count`. On error *event is NULL.
 */
KALLIMA_API kallima_status kallima_opencl_execute(const kallima_plan *plan,
                                                  const kallima_device_arrays *arrays,
                                                  uint32_t wait_count,
                                                  const cl_event *wait, cl_event *event);

#ifdef __cplusplus
}
#endif
#endif
