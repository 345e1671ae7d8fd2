// SPDX-License-Identifier: MIT
// What the files of this folder share: OpenCL's functions, found at run time, and the
// device's own objects.
#ifndef KAL_DEVICE_OPENCL_DRIVER_H_
#define KAL_DEVICE_OPENCL_DRIVER_H_

#define CL_TARGET_OPENCL_VERSION 120

#include <CL/cl.h>
#include <CL/cl_ext.h>
#include <pthread.h>
#include <stdatomic.h>

#include "device/opencl/opencl.h"

// clang-format off
// Everything that is called of OpenCL, without its prefix `cl`; all of it is of version 1.2.
#define OCL_FUNCTIONS(X)                                                                  \
    X(GetPlatformIDs)        X(GetPlatformInfo)           X(GetDeviceIDs)                 \
    X(GetDeviceInfo)         X(CreateContext)             X(RetainContext)                \
    X(ReleaseContext)        X(CreateCommandQueue)        X(RetainCommandQueue)           \
    X(ReleaseCommandQueue)   X(GetCommandQueueInfo)       X(CreateBuffer)                 \
    X(RetainMemObject)       X(ReleaseMemObject)          X(GetMemObjectInfo)             \
    X(CreateProgramWithSource) X(CreateProgramWithBinary) X(BuildProgram)                 \
    X(GetProgramInfo)        X(GetProgramBuildInfo)       X(ReleaseProgram)               \
    X(CreateKernel)          X(ReleaseKernel)             X(SetKernelArg)                 \
    X(GetKernelWorkGroupInfo) X(EnqueueNDRangeKernel)     X(EnqueueFillBuffer)            \
    X(EnqueueWriteBuffer)    X(EnqueueReadBuffer)         X(EnqueueCopyBuffer)            \
    X(EnqueueMarkerWithWaitList) X(EnqueueBarrierWithWaitList) X(WaitForEvents)           \
    X(ReleaseEvent)          X(GetEventProfilingInfo)     X(Flush)                        \
    X(EnqueueMigrateMemObjects) X(Finish)
// clang-format on

struct ocl_api {
#define OCL_MEMBER(name) __typeof__(cl##name) *name;
    OCL_FUNCTIONS(OCL_MEMBER)
#undef OCL_MEMBER
};

enum { OCL_MAX_DEVICES = 64, OCL_MAX_PLATFORMS = 32 };

struct ocl_device {
    struct kallima_device base;
    const struct ocl_api *cl;
    cl_device_id id;
    cl_context context;
    cl_command_queue queue;
    pthread_mutex_t lock;  // held from the first to the last command of one call
    int64_t waiting_lanes; // work that the driver was not yet told to start on
    atomic_uint releases; // of memory objects: a handle may come back as another object's
    bool is_ordered;      // the queue runs commands in the order of their calls
    bool has_profiling;
    int nvidia_sm;         // the compute capability, 90 for 9.0; 0: not of NVIDIA
    uint64_t buffer_bytes; // most bytes of one buffer
};

struct ocl_kernel {
    struct kal_device_kernel base;
    cl_program program;
    cl_kernel handle;
    int slots;
    struct kal_kernel_facts facts;
    struct kal_memory set[KAL_MAX_SLOTS]; // its arguments, under the device's lock
    unsigned set_at;                      // the device's releases when they were set
};

/** Return OpenCL's functions; NULL where it is not installed. Thread: any. */
const struct ocl_api *kal_ocl_api(void);

/** Return CL_SUCCESS as OK; log the failed `call` and translate any other code. */
kallima_status kal_ocl_check(const struct ocl_device *device, cl_int code,
                             const char *call);

/** Return the name of an error code, such as "CL_OUT_OF_RESOURCES". */
const char *kal_ocl_error_name(cl_int code);

/** Return from the caller if a call of OpenCL fails. Only where nothing needs undoing. */
#define OCL_TRY(device, function, ...) \
    KAL_TRY(kal_ocl_check((device), (device)->cl->function(__VA_ARGS__), "cl" #function))

/** List the usable devices of all platforms, GPUs first, CPUs last; return how many. */
int kal_ocl_list(const struct ocl_api *cl, cl_device_id ids[OCL_MAX_DEVICES]);

/** Return a number that a device tells of itself; 0 if it does not. */
uint64_t kal_ocl_number(const struct ocl_api *cl, cl_device_id id, cl_device_info what);

/** Is this a device of version 1.2 or above that compiles OpenCL C? */
bool kal_ocl_is_usable(const struct ocl_api *cl, cl_device_id id);

/** Return the compute capability, 90 for 9.0, of a device of NVIDIA's own driver; else 0. */
int kal_ocl_nvidia_sm(const struct ocl_api *cl, cl_device_id id);

/**
 * Make PTX of PTX: with the number of groups that a processor shall hold; such that no driver
 * has it compiled already; with what the compiler told of it, to be read back. Behind PTX that
 * is taken or given is a zero that does not count. *out stays empty where the PTX is not
 * understood, and is freed with kal_free(). Error: E_MEMORY  exhausted
 */
kallima_status kal_ocl_ptx_for_groups(struct kal_binary *out, const struct kal_host *host,
                                      const struct kal_binary *ptx, int resident);
kallima_status kal_ocl_ptx_afresh(struct kal_binary *out, const struct kal_host *host,
                                  const struct kal_binary *ptx);
kallima_status kal_ocl_ptx_with_facts(struct kal_binary *out, const struct kal_host *host,
                                      const struct kal_binary *ptx,
                                      const struct kal_kernel_facts *facts);
void kal_ocl_ptx_read_facts(const struct kal_binary *binary,
                            struct kal_kernel_facts *facts);

/** Describe a device; `index` is its place in the list, -1 if it is not there. */
void kal_ocl_describe(const struct ocl_api *cl, cl_device_id id, int index,
                      kallima_device_info *info);

/** Say what a device can do. */
struct kal_caps kal_ocl_caps(const struct ocl_api *cl, cl_device_id id);

/** Raise the limit of a group's memory to what a trial shows that there is. */
void kal_ocl_widen(struct ocl_device *device);

/** Append what identifies the device and its driver to a string. */
void kal_ocl_key(const kallima_device *device, char *key, size_t capacity);

/**
 * Make a device of `cl`, `id`, `context` and `queue` in *parts, and take the last two over:
 * on failure they are released.
 */
kallima_status kal_ocl_device_take(kallima_device **out, const struct kal_host *host,
                                   const struct ocl_device *parts);

/** Hold the device's lock and let what comes wait for all that was enqueued before. */
kallima_status kal_ocl_begin(struct ocl_device *device);

/** Have the driver start on what was enqueued, and give the lock back. */
kallima_status kal_ocl_end(struct ocl_device *device, kallima_status status);

/** On a queue without order: let the next command wait for all before it. */
kallima_status kal_ocl_order(const struct ocl_device *device);

kallima_status kal_ocl_buffer_create(kallima_buffer **out, kallima_device *device,
                                     uint64_t bytes);
void kal_ocl_buffer_destroy(kallima_buffer *buffer);
kallima_status kal_ocl_buffer_write(kallima_buffer *buffer, uint64_t offset,
                                    const void *source, uint64_t bytes);
kallima_status kal_ocl_buffer_read(const kallima_buffer *buffer, uint64_t offset,
                                   void *target, uint64_t bytes);
kallima_status kal_ocl_buffer_copy(kallima_buffer *target, uint64_t target_offset,
                                   const kallima_buffer *source, uint64_t source_offset,
                                   uint64_t bytes);

kallima_status kal_ocl_timer_create(kallima_timer **out, kallima_device *device);
void kal_ocl_timer_destroy(kallima_timer *timer);
kallima_status kal_ocl_timer_start(kallima_timer *timer);
kallima_status kal_ocl_timer_stop(kallima_timer *timer);
kallima_status kal_ocl_timer_read(const kallima_timer *timer, double *seconds);

kallima_status kal_ocl_kernel_create(struct kal_device_kernel **out,
                                     kallima_device *device,
                                     const struct kal_kernel_text *text,
                                     const struct kal_binary *binary,
                                     struct kal_binary *made);
void kal_ocl_kernel_destroy(struct kal_device_kernel *kernel);
void kal_ocl_kernel_describe(const struct kal_device_kernel *kernel,
                             struct kal_kernel_facts *facts);

kallima_status kal_ocl_enqueue(kallima_device *device, const struct kal_work *work,
                               int count, const struct kal_sync *sync);

#endif
