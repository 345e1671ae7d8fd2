// SPDX-License-Identifier: MIT
// Work for the stream. Nothing here allocates or waits, so a graph can capture it.
#include "device/cuda/driver.h"

#include <limits.h>

static CUresult fill(const struct cuda_device *device, const struct kal_work *work)
{
    const CUdeviceptr target = kal_cuda_address(work->slot[0]);
    const uint64_t bytes = work->fill_bytes;
    if (bytes == 0)
        return CUDA_SUCCESS;
    if ((target | bytes) % sizeof(uint32_t) == 0)
        return device->driver->MemsetD32Async(target, 0, bytes / sizeof(uint32_t),
                                              device->stream);
    return device->driver->MemsetD8Async(target, 0, bytes, device->stream);
}

static CUresult launch_clusters(const struct cuda_device *device,
                                const struct cuda_kernel *kernel, unsigned groups,
                                void **parameters)
{
    CUlaunchAttribute cluster = { .id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION };
    cluster.value.clusterDim.x = (unsigned)kernel->cluster;
    cluster.value.clusterDim.y = 1;
    cluster.value.clusterDim.z = 1;
    const CUlaunchConfig config = {
        .gridDimX = groups,
        .gridDimY = 1,
        .gridDimZ = 1,
        .blockDimX = (unsigned)kernel->base.lanes,
        .blockDimY = 1,
        .blockDimZ = 1,
        .sharedMemBytes = kernel->group_bytes,
        .hStream = device->stream,
        .attrs = &cluster,
        .numAttrs = 1,
    };
    return device->driver->LaunchKernelEx(&config, kernel->function, parameters, NULL);
}

static CUresult launch(const struct cuda_device *device, const struct kal_work *work)
{
    const struct cuda_kernel *kernel = (const struct cuda_kernel *)work->kernel;
    const unsigned groups = (unsigned)work->groups;
    CUdeviceptr address[KAL_MAX_SLOTS];
    void *parameters[KAL_MAX_SLOTS];

    if (groups == 0)
        return CUDA_SUCCESS;
    for (int i = 0; i < kernel->slots; i++) {
        address[i] = kal_cuda_address(work->slot[i]);
        parameters[i] = &address[i];
    }
    if (kernel->cluster > 1)
        return launch_clusters(device, kernel, groups, parameters);
    return device->driver->LaunchKernel(
        kernel->function, groups, 1, 1, (unsigned)kernel->base.lanes, 1, 1,
        kernel->group_bytes, device->stream, parameters, NULL);
}

static kallima_status enqueue_all(const struct cuda_device *device,
                                  const struct kal_work *work, int count)
{
    for (int i = 0; i < count; i++) {
        if (work[i].kernel)
            KAL_TRY(kal_cuda_check(device, launch(device, &work[i]),
                                   "launch %llu groups of kernel %d of %d",
                                   (unsigned long long)work[i].groups, i + 1, count));
        else
            KAL_TRY(kal_cuda_check(device, fill(device, &work[i]), "fill %llu bytes",
                                   (unsigned long long)work[i].fill_bytes));
    }
    return KALLIMA_OK;
}

kallima_status kal_cuda_enqueue(kallima_device *base, const struct kal_work *work,
                                int count, const struct kal_sync *sync)
{
    struct cuda_device *device = kal_cuda_device(base);
    kallima_status status;

    KAL_TRY(kal_events_refuse(base, sync));
    KAL_TRY(kal_work_check(base, work, count, INT_MAX));
    pthread_mutex_lock(&device->lock);
    status = kal_cuda_enter(device);
    if (status == KALLIMA_OK) {
        status = enqueue_all(device, work, count);
        kal_cuda_leave(device);
    }
    pthread_mutex_unlock(&device->lock);
    return status;
}
