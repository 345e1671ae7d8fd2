// SPDX-License-Identifier: MIT
// Which GPUs there are, and what they can do.
#include "device/cuda/driver.h"
#include "device/cuda/nvrtc.h"

#include <stdio.h>

// Facts of a device, as the driver names them.
struct facts {
    int major, minor, warp, processors;
    int group_lanes, group_bytes, processor_lanes, processor_bytes, cache_bytes;
};

static const struct {
    CUdevice_attribute attribute;
    size_t place;
} questions[] = {
    { CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, offsetof(struct facts, major) },
    { CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, offsetof(struct facts, minor) },
    { CU_DEVICE_ATTRIBUTE_WARP_SIZE, offsetof(struct facts, warp) },
    { CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, offsetof(struct facts, processors) },
    { CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, offsetof(struct facts, group_lanes) },
    { CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN,
      offsetof(struct facts, group_bytes) },
    { CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR,
      offsetof(struct facts, processor_lanes) },
    { CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR,
      offsetof(struct facts, processor_bytes) },
    { CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, offsetof(struct facts, cache_bytes) },
};

static CUresult ask_facts(const struct cuda_driver *driver, CUdevice ordinal,
                          struct facts *facts)
{
    CUresult result = CUDA_SUCCESS;
    for (size_t i = 0; i < KAL_COUNT(questions) && result == CUDA_SUCCESS; i++)
        result = driver->DeviceGetAttribute((int *)((char *)facts + questions[i].place),
                                            questions[i].attribute, ordinal);
    return result;
}

static CUresult fill_info(const struct cuda_driver *driver, CUdevice ordinal,
                          kallima_device_info *info)
{
    struct facts facts = { 0 };
    size_t memory_bytes = 0;
    int version = 0;

    *info = (kallima_device_info){ .has_f64 = 1 };
    snprintf(info->selector, sizeof info->selector, "cuda:%d", (int)ordinal);
    CUresult result = driver->DeviceGetName(info->name, sizeof info->name, ordinal);
    if (result == CUDA_SUCCESS)
        result = driver->DeviceTotalMem(&memory_bytes, ordinal);
    if (result == CUDA_SUCCESS)
        result = driver->DriverGetVersion(&version);
    if (result == CUDA_SUCCESS)
        result = ask_facts(driver, ordinal, &facts);
    snprintf(info->driver, sizeof info->driver, "CUDA %d.%d, sm_%d%d", version / 1000,
             version % 1000 / 10, facts.major, facts.minor);
    info->lanes_f32 = facts.warp;
    info->memory_bytes = memory_bytes;
    return result;
}

static bool find_ordinal(const struct cuda_driver *driver, int index, CUdevice *ordinal)
{
    int count = 0;
    return driver->DeviceGetCount(&count) == CUDA_SUCCESS && index < count &&
           driver->DeviceGet(ordinal, index) == CUDA_SUCCESS;
}

static bool cuda_is_complete(void)
{
    return kal_cuda_nvrtc_find() != NULL;
}

static bool cuda_find(int index, kallima_device_info *info)
{
    const struct cuda_driver *driver = kal_cuda_driver_find();
    CUdevice ordinal;
    return driver && find_ordinal(driver, index, &ordinal) &&
           fill_info(driver, ordinal, info) == CUDA_SUCCESS;
}

static void cuda_describe(const kallima_device *base, kallima_device_info *info)
{
    const struct cuda_device *device = kal_cuda_device(base);
    fill_info(device->driver, device->ordinal, info);
}

// Groups of a cluster: eight are portable, sixteen this architecture's limit when a kernel
// asks for them; whether they fit is known when the kernel is.
static int most_cluster_groups(const struct cuda_driver *driver,
                               const struct facts *facts)
{
    const bool has_clusters =
        facts->major >= 9 && driver->LaunchKernelEx && driver->OccupancyMaxActiveClusters;
    return has_clusters ? 16 : 1;
}

static void fill_caps(struct cuda_device *device, const struct facts *facts,
                      uint64_t memory_bytes)
{
    device->major = facts->major;
    device->minor = facts->minor;
    device->base.caps = (struct kal_caps){
        .has_f64 = true,
        .threads = 1,
        .lanes_f32 = facts->warp,
        .near_bytes = (uint64_t)facts->group_bytes,
        .shared_bytes = (uint64_t)facts->cache_bytes,
        .memory_bytes = memory_bytes,
        .language = KAL_LANGUAGE_CUDA,
        .processors = facts->processors,
        .group_lanes = facts->group_lanes,
        .group_bytes = (uint64_t)facts->group_bytes,
        .processor_lanes = facts->processor_lanes,
        .processor_bytes = (uint64_t)facts->processor_bytes,
        .lane_registers = 255,
        .cluster_groups = most_cluster_groups(device->driver, facts),
        .has_forward_progress = true,
        .has_nvidia_ptx = true,
    };
}

static kallima_status describe_limits(struct cuda_device *device)
{
    struct facts facts = { 0 };
    size_t memory_bytes = 0;

    KAL_TRY(kal_cuda_check(device, ask_facts(device->driver, device->ordinal, &facts),
                           "read the attributes of device %d", (int)device->ordinal));
    KAL_TRY(kal_cuda_check(device,
                           device->driver->DeviceTotalMem(&memory_bytes, device->ordinal),
                           "read the memory size of device %d", (int)device->ordinal));
    fill_caps(device, &facts, memory_bytes);
    return KALLIMA_OK;
}

// A stream of our own, that does not wait for the default one.
static kallima_status create_stream(struct cuda_device *device)
{
    KAL_TRY(kal_cuda_enter(device));
    const kallima_status status = kal_cuda_check(
        device, device->driver->StreamCreate(&device->stream, CU_STREAM_NON_BLOCKING),
        "create a stream");
    device->is_stream_own = status == KALLIMA_OK;
    kal_cuda_leave(device);
    return status;
}

static kallima_status retain_context(struct cuda_device *device)
{
    KAL_TRY(kal_cuda_check(
        device, device->driver->DevicePrimaryCtxRetain(&device->context, device->ordinal),
        "retain the primary context of device %d", (int)device->ordinal));
    device->is_retained = true;
    return create_stream(device);
}

static void cuda_close(kallima_device *base)
{
    struct cuda_device *device = kal_cuda_device(base);
    const struct kal_host host = base->host;

    if (device->is_stream_own && device->driver->CtxPushCurrent(device->context) == 0) {
        device->driver->StreamDestroy(device->stream);
        kal_cuda_leave(device);
    }
    if (device->is_retained)
        device->driver->DevicePrimaryCtxRelease(device->ordinal);
    pthread_mutex_destroy(&device->lock);
    kal_free(&host, device);
}

kallima_status kal_cuda_device_create(kallima_device **out,
                                      const struct cuda_driver *driver, CUdevice ordinal,
                                      CUcontext context, CUstream stream,
                                      const struct kal_host *host)
{
    void *object;
    KAL_TRY(kal_alloc_object(host, &object, sizeof(struct cuda_device)));

    struct cuda_device *device = object;
    device->base.ops = &kal_cuda_device_ops;
    device->base.host = *host;
    device->driver = driver;
    device->ordinal = ordinal;
    device->context = context;
    device->stream = stream;
    pthread_mutex_init(&device->lock, NULL);

    kallima_status status = describe_limits(device);
    if (status == KALLIMA_OK && !context)
        status = retain_context(device);
    if (status != KALLIMA_OK) {
        cuda_close(&device->base);
        return status;
    }
    *out = &device->base;
    return KALLIMA_OK;
}

static kallima_status cuda_open(kallima_device **out, int index,
                                const struct kal_host *host,
                                const kallima_device_options *options)
{
    (void)options;
    const struct cuda_driver *driver = kal_cuda_driver_find();
    CUdevice ordinal;
    if (!driver || !find_ordinal(driver, index, &ordinal))
        return kal_fail(host, KALLIMA_E_ABSENT, "cuda: device %d is not present", index);
    return kal_cuda_device_create(out, driver, ordinal, NULL, NULL, host);
}

static kallima_status cuda_finish(kallima_device *base)
{
    struct cuda_device *device = kal_cuda_device(base);
    KAL_TRY(kal_cuda_enter(device));
    const kallima_status status = kal_cuda_check(
        device, device->driver->StreamSynchronize(device->stream), "wait for the stream");
    kal_cuda_leave(device);
    return status;
}

const struct kal_device_ops kal_cuda_device_ops = {
    .name = "cuda",
    .compiles_aside = true,
    .find = cuda_find,
    .is_complete = cuda_is_complete,
    .open = cuda_open,
    .close = cuda_close,
    .describe = cuda_describe,
    .buffer_create = kal_cuda_buffer_create,
    .buffer_destroy = kal_cuda_buffer_destroy,
    .buffer_write = kal_cuda_buffer_write,
    .buffer_read = kal_cuda_buffer_read,
    .buffer_copy = kal_cuda_buffer_copy,
    .finish = cuda_finish,
    .timer_create = kal_cuda_timer_create,
    .timer_destroy = kal_cuda_timer_destroy,
    .timer_start = kal_cuda_timer_start,
    .timer_stop = kal_cuda_timer_stop,
    .timer_read = kal_cuda_timer_read,
    .kernel_create = kal_cuda_kernel_create,
    .kernel_destroy = kal_cuda_kernel_destroy,
    .kernel_describe = kal_cuda_kernel_describe,
    .kernel_key = kal_cuda_kernel_key,
    .enqueue = kal_cuda_enqueue,
};
