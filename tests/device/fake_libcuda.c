// SPDX-License-Identifier: MIT
#include "fake_libcuda.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#undef cuEventElapsedTime // the symbol that every driver has
CUresult CUDAAPI cuEventElapsedTime(float *milliseconds, CUevent start, CUevent stop);

struct fake_cuda fake_cuda;

struct CUctx_st {
    CUdevice device;
};

struct CUstream_st {
    CUcontext context;
};

struct CUevent_st {
    int time;
};

struct CUmod_st {
    int unused;
};

static struct CUctx_st primary[FAKE_DEVICES] = { { 0 }, { 1 } };
static struct CUctx_st own_context = { 1 };
static struct CUstream_st own_streams[2] = { { &own_context }, { &primary[0] } };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

enum { MOST_DEPTH = 8 };
static _Thread_local CUcontext stack[MOST_DEPTH];
static _Thread_local int depth;

// What was handed out and not taken back.
enum { MOST_OBJECTS = 256 };
static void *objects[MOST_OBJECTS];

static void *hand_out(size_t bytes)
{
    void *memory = NULL;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < MOST_OBJECTS && !memory; i++) {
        if (!objects[i])
            memory = objects[i] = calloc(1, bytes);
    }
    pthread_mutex_unlock(&lock);
    return memory;
}

static void take_back(void *object)
{
    pthread_mutex_lock(&lock);
    for (int i = 0; i < MOST_OBJECTS; i++) {
        if (object && objects[i] == object) {
            free(object);
            objects[i] = NULL;
        }
    }
    pthread_mutex_unlock(&lock);
}

void fake_cuda_bury(void)
{
    for (int i = 0; i < MOST_OBJECTS; i++)
        take_back(objects[i]);
    fake_cuda.buffers = fake_cuda.events = fake_cuda.streams = fake_cuda.modules = 0;
}

void fake_cuda_reset(void)
{
    const struct fake_cuda old = fake_cuda;
    fake_cuda = (struct fake_cuda){
        .devices = FAKE_DEVICES,
        .major = 9,
        .clusters = 8,
        .blocks = 2,
        .most_lanes = 1024,
        .buffers = old.buffers,
        .events = old.events,
        .streams = old.streams,
        .modules = old.modules,
        .retained = old.retained,
    };
}

int fake_cuda_depth(void)
{
    return depth;
}

CUcontext fake_cuda_context(void)
{
    return &own_context;
}

CUstream fake_cuda_stream(int which)
{
    return &own_streams[which];
}

// What a call needs besides its arguments.
enum { ANYWHERE = 0, IN_CONTEXT = 1, NOT_CAPTURED = 2 };

// Count a call; whether it is the one that fails.
static CUresult enter(const char *name, int needs)
{
    CUresult result = CUDA_SUCCESS;
    pthread_mutex_lock(&lock);
    if (++fake_cuda.calls == fake_cuda.fail_at) {
        fake_cuda.failed = name;
        result = fake_cuda.fail_with;
    } else if ((needs & IN_CONTEXT) && depth == 0) {
        result = CUDA_ERROR_INVALID_CONTEXT;
    } else if ((needs & NOT_CAPTURED) && fake_cuda.is_capturing) {
        result = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    }
    pthread_mutex_unlock(&lock);
    return result;
}

#define ENTER(needs)                                     \
    do {                                                 \
        const CUresult entered = enter(__func__, needs); \
        if (entered != CUDA_SUCCESS)                     \
            return entered;                              \
    } while (0)

CUresult cuInit(unsigned flags)
{
    (void)flags;
    ENTER(ANYWHERE);
    return fake_cuda.devices > 0 ? CUDA_SUCCESS : CUDA_ERROR_NO_DEVICE;
}

// NVRTC looks whether the driver has something for it, and takes no for an answer.
CUresult cuGetExportTable(const void **table, const CUuuid *id)
{
    (void)id;
    *table = NULL;
    return CUDA_ERROR_NOT_FOUND;
}

CUresult cuDriverGetVersion(int *version)
{
    ENTER(ANYWHERE);
    *version = 13020;
    return CUDA_SUCCESS;
}

CUresult cuGetErrorName(CUresult error, const char **name)
{
    static const struct {
        CUresult error;
        const char *name;
    } names[] = {
        { CUDA_ERROR_INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE" },
        { CUDA_ERROR_OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY" },
        { CUDA_ERROR_INVALID_CONTEXT, "CUDA_ERROR_INVALID_CONTEXT" },
        { CUDA_ERROR_NO_BINARY_FOR_GPU, "CUDA_ERROR_NO_BINARY_FOR_GPU" },
        { CUDA_ERROR_LAUNCH_FAILED, "CUDA_ERROR_LAUNCH_FAILED" },
        { CUDA_ERROR_NOT_SUPPORTED, "CUDA_ERROR_NOT_SUPPORTED" },
    };
    *name = NULL;
    ENTER(ANYWHERE);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (names[i].error == error)
            *name = names[i].name;
    }
    return *name ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuDeviceGetCount(int *count)
{
    ENTER(ANYWHERE);
    *count = fake_cuda.devices;
    return CUDA_SUCCESS;
}

CUresult cuDeviceGet(CUdevice *device, int ordinal)
{
    ENTER(ANYWHERE);
    *device = ordinal;
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetName(char *name, int length, CUdevice device)
{
    ENTER(ANYWHERE);
    snprintf(name, (size_t)length, "Imagined GPU %d", device);
    return CUDA_SUCCESS;
}

CUresult cuDeviceTotalMem(size_t *bytes, CUdevice device)
{
    (void)device;
    ENTER(ANYWHERE);
    *bytes = (size_t)141 << 30;
    return CUDA_SUCCESS;
}

// The numbers of an H200.
CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device)
{
    static const struct {
        CUdevice_attribute attribute;
        int value;
    } values[] = {
        { CU_DEVICE_ATTRIBUTE_WARP_SIZE, 32 },
        { CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 132 },
        { CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 1024 },
        { CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, 232448 },
        { CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, 2048 },
        { CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, 233472 },
        { CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, 62914560 },
    };
    (void)device;
    ENTER(ANYWHERE);
    *value =
        attribute == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR ? fake_cuda.major : 0;
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        if (values[i].attribute == attribute)
            *value = values[i].value;
    }
    return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device)
{
    ENTER(NOT_CAPTURED);
    fake_cuda.retained++;
    *context = &primary[device];
    return CUDA_SUCCESS;
}

// What releases does so even where it fails.
CUresult cuDevicePrimaryCtxRelease(CUdevice device)
{
    (void)device;
    fake_cuda.retained--;
    ENTER(ANYWHERE);
    return CUDA_SUCCESS;
}

CUresult cuCtxPushCurrent(CUcontext context)
{
    ENTER(ANYWHERE);
    if (depth == MOST_DEPTH)
        return CUDA_ERROR_INVALID_CONTEXT;
    stack[depth++] = context;
    return CUDA_SUCCESS;
}

CUresult cuCtxPopCurrent(CUcontext *context)
{
    if (depth == 0)
        return CUDA_ERROR_INVALID_CONTEXT;
    *context = stack[--depth];
    ENTER(ANYWHERE);
    return CUDA_SUCCESS;
}

CUresult cuCtxGetDevice(CUdevice *device)
{
    ENTER(IN_CONTEXT);
    *device = stack[depth - 1]->device;
    return CUDA_SUCCESS;
}

CUresult cuStreamCreate(CUstream *stream, unsigned flags)
{
    ENTER(IN_CONTEXT | NOT_CAPTURED);
    if (flags != CU_STREAM_NON_BLOCKING)
        return CUDA_ERROR_INVALID_VALUE;
    *stream = hand_out(sizeof **stream);
    (*stream)->context = stack[depth - 1];
    fake_cuda.streams++;
    return CUDA_SUCCESS;
}

CUresult cuStreamDestroy(CUstream stream)
{
    take_back(stream);
    fake_cuda.streams--;
    ENTER(IN_CONTEXT);
    return CUDA_SUCCESS;
}

CUresult cuStreamGetCtx(CUstream stream, CUcontext *context)
{
    ENTER(IN_CONTEXT);
    *context = stream->context;
    return CUDA_SUCCESS;
}

CUresult cuStreamSynchronize(CUstream stream)
{
    (void)stream;
    ENTER(IN_CONTEXT | NOT_CAPTURED);
    return CUDA_SUCCESS;
}

CUresult cuMemAlloc(CUdeviceptr *address, size_t bytes)
{
    ENTER(IN_CONTEXT | NOT_CAPTURED);
    void *memory = hand_out(bytes);
    if (!memory)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *address = (CUdeviceptr)(uintptr_t)memory;
    fake_cuda.buffers++;
    return CUDA_SUCCESS;
}

CUresult cuMemFree(CUdeviceptr address)
{
    take_back((void *)(uintptr_t)address);
    fake_cuda.buffers--;
    ENTER(IN_CONTEXT);
    return CUDA_SUCCESS;
}

CUresult cuMemcpyHtoDAsync(CUdeviceptr target, const void *source, size_t bytes,
                           CUstream stream)
{
    (void)stream;
    ENTER(IN_CONTEXT | NOT_CAPTURED);
    memcpy((void *)(uintptr_t)target, source, bytes);
    return CUDA_SUCCESS;
}

CUresult cuMemcpyDtoHAsync(void *target, CUdeviceptr source, size_t bytes,
                           CUstream stream)
{
    (void)stream;
    ENTER(IN_CONTEXT | NOT_CAPTURED);
    memcpy(target, (void *)(uintptr_t)source, bytes);
    return CUDA_SUCCESS;
}

CUresult cuMemcpyDtoDAsync(CUdeviceptr target, CUdeviceptr source, size_t bytes,
                           CUstream stream)
{
    (void)stream;
    ENTER(IN_CONTEXT);
    memmove((void *)(uintptr_t)target, (void *)(uintptr_t)source, bytes);
    return CUDA_SUCCESS;
}

static struct fake_note *add_note(CUstream stream)
{
    pthread_mutex_lock(&lock);
    struct fake_note *note = &fake_cuda.note[fake_cuda.notes++ % FAKE_NOTES];
    pthread_mutex_unlock(&lock);
    *note = (struct fake_note){ .stream = stream };
    return note;
}

CUresult cuMemsetD8Async(CUdeviceptr target, unsigned char value, size_t count,
                         CUstream stream)
{
    ENTER(IN_CONTEXT);
    memset((void *)(uintptr_t)target, value, count);
    add_note(stream)->fill_width = 1;
    return CUDA_SUCCESS;
}

CUresult cuMemsetD32Async(CUdeviceptr target, unsigned value, size_t count,
                          CUstream stream)
{
    ENTER(IN_CONTEXT);
    if (target % 4 != 0 || value != 0)
        return CUDA_ERROR_INVALID_VALUE;
    memset((void *)(uintptr_t)target, 0, 4 * count);
    add_note(stream)->fill_width = 4;
    return CUDA_SUCCESS;
}

CUresult cuEventCreate(CUevent *event, unsigned flags)
{
    (void)flags;
    ENTER(IN_CONTEXT | NOT_CAPTURED);
    *event = hand_out(sizeof **event);
    fake_cuda.events++;
    return CUDA_SUCCESS;
}

CUresult cuEventDestroy(CUevent event)
{
    take_back(event);
    fake_cuda.events--;
    ENTER(IN_CONTEXT);
    return CUDA_SUCCESS;
}

// Time passes by two milliseconds from one record to the next.
CUresult cuEventRecord(CUevent event, CUstream stream)
{
    static int time;
    (void)stream;
    ENTER(IN_CONTEXT);
    event->time = time += 2;
    return CUDA_SUCCESS;
}

CUresult cuEventSynchronize(CUevent event)
{
    (void)event;
    ENTER(IN_CONTEXT | NOT_CAPTURED);
    return CUDA_SUCCESS;
}

CUresult cuEventElapsedTime(float *milliseconds, CUevent start, CUevent stop)
{
    ENTER(IN_CONTEXT);
    *milliseconds = (float)(stop->time - start->time);
    return CUDA_SUCCESS;
}

CUresult cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned count,
                            CUjit_option *options, void **values)
{
    (void)image, (void)count, (void)options, (void)values;
    ENTER(IN_CONTEXT | NOT_CAPTURED);
    *module = hand_out(sizeof **module);
    fake_cuda.modules++;
    return CUDA_SUCCESS;
}

CUresult cuModuleUnload(CUmodule module)
{
    take_back(module);
    fake_cuda.modules--;
    ENTER(IN_CONTEXT);
    return CUDA_SUCCESS;
}

// A function is its module under another name.
CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name)
{
    ENTER(IN_CONTEXT);
    if (strcmp(name, "nothing") == 0)
        return CUDA_ERROR_NOT_FOUND;
    *function = (CUfunction)(void *)module;
    return CUDA_SUCCESS;
}

CUresult cuFuncGetAttribute(int *value, CUfunction_attribute attribute,
                            CUfunction function)
{
    (void)function;
    ENTER(IN_CONTEXT);
    *value = attribute == CU_FUNC_ATTRIBUTE_NUM_REGS                ? 96
             : attribute == CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES      ? 24
             : attribute == CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES     ? 512
             : attribute == CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK ? fake_cuda.most_lanes
                                                                    : -1;
    return CUDA_SUCCESS;
}

CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute,
                            int value)
{
    (void)function;
    ENTER(IN_CONTEXT);
    if (attribute == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES) {
        if (fake_cuda.refused_bytes && value >= fake_cuda.refused_bytes)
            return CUDA_ERROR_INVALID_VALUE;
        fake_cuda.dynamic_bytes = value;
    } else if (attribute == CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT) {
        fake_cuda.carveout = value;
    } else if (attribute == CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED) {
        fake_cuda.large_clusters = value;
    }
    return CUDA_SUCCESS;
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *count, CUfunction function,
                                                     int lanes, size_t bytes)
{
    (void)function, (void)lanes, (void)bytes;
    ENTER(IN_CONTEXT);
    *count = fake_cuda.blocks;
    return CUDA_SUCCESS;
}

CUresult cuOccupancyMaxActiveClusters(int *count, CUfunction function,
                                      const CUlaunchConfig *config)
{
    (void)function;
    ENTER(IN_CONTEXT);
    if (config->numAttrs != 1 || config->gridDimX == 0)
        return CUDA_ERROR_INVALID_VALUE;
    *count = fake_cuda.clusters;
    return CUDA_SUCCESS;
}

static void take_parameters(struct fake_note *note, void **parameters)
{
    for (int i = 0; i < fake_cuda.parameters; i++)
        memcpy(&note->parameters[i], parameters[i], sizeof note->parameters[i]);
}

CUresult cuLaunchKernel(CUfunction function, unsigned x, unsigned y, unsigned z,
                        unsigned lanes, unsigned lanes_y, unsigned lanes_z,
                        unsigned group_bytes, CUstream stream, void **parameters,
                        void **extra)
{
    ENTER(IN_CONTEXT);
    if (y != 1 || z != 1 || lanes_y != 1 || lanes_z != 1 || extra)
        return CUDA_ERROR_INVALID_VALUE;
    struct fake_note *note = add_note(stream);
    note->function = function;
    note->groups = x;
    note->lanes = lanes;
    note->group_bytes = group_bytes;
    note->cluster = 1;
    take_parameters(note, parameters);
    return CUDA_SUCCESS;
}

CUresult cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction function,
                          void **parameters, void **extra)
{
    ENTER(IN_CONTEXT);
    if (config->numAttrs != 1 || extra ||
        config->attrs[0].id != CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION)
        return CUDA_ERROR_INVALID_VALUE;
    struct fake_note *note = add_note(config->hStream);
    note->function = function;
    note->groups = config->gridDimX;
    note->lanes = config->blockDimX;
    note->group_bytes = config->sharedMemBytes;
    note->cluster = config->attrs[0].value.clusterDim.x;
    take_parameters(note, parameters);
    return CUDA_SUCCESS;
}
