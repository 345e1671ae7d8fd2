// SPDX-License-Identifier: MIT
// What the files of this folder share: the driver's symbols and the device's own structs.
#ifndef KAL_DEVICE_CUDA_DRIVER_H_
#define KAL_DEVICE_CUDA_DRIVER_H_

#include <cuda.h>
#include <pthread.h>

#include "device/cuda/cuda.h"

// Every function of the driver that is called: its name without "cu", the suffix of the
// exported symbol, and whether a driver without it cannot be used. LaunchKernelEx and
// OccupancyMaxActiveClusters came with 11.8.
// clang-format off
#define KAL_CUDA_SYMBOLS(X)                            \
    X(Init, , true)                                    \
    X(DriverGetVersion, , true)                        \
    X(GetErrorName, , true)                            \
    X(DeviceGetCount, , true)                          \
    X(DeviceGet, , true)                               \
    X(DeviceGetName, , true)                           \
    X(DeviceTotalMem, _v2, true)                       \
    X(DeviceGetAttribute, , true)                      \
    X(DevicePrimaryCtxRetain, , true)                  \
    X(DevicePrimaryCtxRelease, _v2, true)              \
    X(CtxPushCurrent, _v2, true)                       \
    X(CtxPopCurrent, _v2, true)                        \
    X(CtxGetDevice, , true)                            \
    X(StreamCreate, , true)                            \
    X(StreamDestroy, _v2, true)                        \
    X(StreamGetCtx, , true)                            \
    X(StreamSynchronize, , true)                       \
    X(MemAlloc, _v2, true)                             \
    X(MemFree, _v2, true)                              \
    X(MemcpyHtoDAsync, _v2, true)                      \
    X(MemcpyDtoHAsync, _v2, true)                      \
    X(MemcpyDtoDAsync, _v2, true)                      \
    X(MemsetD8Async, , true)                           \
    X(MemsetD32Async, , true)                          \
    X(EventCreate, , true)                             \
    X(EventDestroy, _v2, true)                         \
    X(EventRecord, , true)                             \
    X(EventSynchronize, , true)                        \
    X(EventElapsedTime, , true)                        \
    X(ModuleLoadDataEx, , true)                        \
    X(ModuleUnload, , true)                            \
    X(ModuleGetFunction, , true)                       \
    X(FuncGetAttribute, , true)                        \
    X(FuncSetAttribute, , true)                        \
    X(LaunchKernel, , true)                            \
    X(OccupancyMaxActiveBlocksPerMultiprocessor, , true) \
    X(LaunchKernelEx, , false)                         \
    X(OccupancyMaxActiveClusters, , false)
// clang-format on

struct cuda_driver {
#define KAL_CUDA_MEMBER(name, suffix, is_needed) __typeof__(cu##name##suffix) *name;
    KAL_CUDA_SYMBOLS(KAL_CUDA_MEMBER)
#undef KAL_CUDA_MEMBER
};

/**
 * Load and start the driver; NULL where there is none. What it returns lasts for ever.
 *
 * Thread: any.
 */
const struct cuda_driver *kal_cuda_driver_find(void);

struct cuda_device {
    kallima_device base;
    const struct cuda_driver *driver;
    CUdevice ordinal;
    CUcontext context;
    CUstream stream;
    bool is_retained; // the context is the device's primary one, retained by us
    bool is_stream_own;
    int major, minor;     // compute capability
    pthread_mutex_t lock; // of enqueue()
};

struct cuda_buffer {
    kallima_buffer base;
    bool is_borrowed;
};

struct cuda_kernel {
    struct kal_device_kernel base;
    CUmodule module;
    CUfunction function;
    int cluster, slots;
    unsigned group_bytes;
    struct kal_kernel_facts facts;
};

static inline struct cuda_device *kal_cuda_device(const kallima_device *device)
{
    return (struct cuda_device *)device;
}

static inline CUdeviceptr kal_cuda_address(struct kal_memory memory)
{
    return (CUdeviceptr)(uintptr_t)memory.object + memory.offset;
}

/** Return OK for success; else log what was asked, with CUDA's name of the error. */
kallima_status kal_cuda_check(const struct cuda_device *device, CUresult result,
                              const char *fmt, ...) KAL_PRINTF(3, 4);

/**
 * Make the device's context the thread's current one, until kal_cuda_leave() restores what
 * was current before. Error: E_DEVICE, nothing to leave.
 */
kallima_status kal_cuda_enter(const struct cuda_device *device);
void kal_cuda_leave(const struct cuda_device *device);

/** Make a device: of the primary context where `context` is NULL, else of the caller's. */
kallima_status kal_cuda_device_create(kallima_device **out,
                                      const struct cuda_driver *driver, CUdevice ordinal,
                                      CUcontext context, CUstream stream,
                                      const struct kal_host *host);

/**
 * Write the architecture to compile for, as kal_cuda_compile() takes it: a device's own or,
 * for a device newer than NVRTC, PTX of the newest that NVRTC knows.
 *
 * Error: E_ABSENT       NVRTC is not there
 *        E_UNSUPPORTED  it no longer compiles for a device this old
 */
kallima_status kal_cuda_architecture(const struct kal_host *host, int major, int minor,
                                     char *architecture, size_t capacity);

/** NVRTC's version times 1000 plus ten times the minor one, as CUDA counts; 0: absent. */
int kal_cuda_compiler_version(void);

kallima_status kal_cuda_buffer_create(kallima_buffer **out, kallima_device *device,
                                      uint64_t bytes);
void kal_cuda_buffer_destroy(kallima_buffer *buffer);
kallima_status kal_cuda_buffer_write(kallima_buffer *buffer, uint64_t offset,
                                     const void *source, uint64_t bytes);
kallima_status kal_cuda_buffer_read(const kallima_buffer *buffer, uint64_t offset,
                                    void *target, uint64_t bytes);
kallima_status kal_cuda_buffer_copy(kallima_buffer *target, uint64_t target_offset,
                                    const kallima_buffer *source, uint64_t source_offset,
                                    uint64_t bytes);

kallima_status kal_cuda_timer_create(kallima_timer **out, kallima_device *device);
void kal_cuda_timer_destroy(kallima_timer *timer);
kallima_status kal_cuda_timer_start(kallima_timer *timer);
kallima_status kal_cuda_timer_stop(kallima_timer *timer);
kallima_status kal_cuda_timer_read(const kallima_timer *timer, double *seconds);

kallima_status kal_cuda_kernel_create(struct kal_device_kernel **out,
                                      kallima_device *device,
                                      const struct kal_kernel_text *text,
                                      const struct kal_binary *binary,
                                      struct kal_binary *made);
void kal_cuda_kernel_destroy(struct kal_device_kernel *kernel);
void kal_cuda_kernel_describe(const struct kal_device_kernel *kernel,
                              struct kal_kernel_facts *facts);
void kal_cuda_kernel_key(const kallima_device *device, char *key, size_t capacity);
kallima_status kal_cuda_enqueue(kallima_device *device, const struct kal_work *work,
                                int count, const struct kal_sync *sync);

#endif
