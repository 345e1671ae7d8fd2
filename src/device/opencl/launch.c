// SPDX-License-Identifier: MIT
// Work into the queue: kernels and zeros, one after the other.
#include "device/opencl/driver.h"

// What one command waits for and reports.
struct link {
    cl_uint wait_count;
    const cl_event *wait;
    cl_event *event;
};

// A memory argument is two: the object, and the offset in bytes.
static kallima_status set_slot(const struct ocl_device *device, struct ocl_kernel *kernel,
                               int slot, const struct kal_memory *memory)
{
    const cl_mem object = memory->object;
    const cl_ulong offset = memory->offset;
    const cl_uint first = 2 * (cl_uint)slot;
    kernel->set[slot] = (struct kal_memory){ NULL, 0 };
    OCL_TRY(device, SetKernelArg, kernel->handle, first, sizeof object, &object);
    OCL_TRY(device, SetKernelArg, kernel->handle, first + 1, sizeof offset, &offset);
    kernel->set[slot] = *memory;
    return KALLIMA_OK;
}

// What is as the launch before left it stays, which takes a driver less time.
static kallima_status set_slots(struct ocl_device *device, const struct kal_work *work)
{
    struct ocl_kernel *kernel = (struct ocl_kernel *)work->kernel;
    const unsigned releases = atomic_load(&device->releases);
    for (int i = 0; i < kernel->slots; i++) {
        const struct kal_memory *memory = &work->slot[i], *set = &kernel->set[i];
        if (kernel->set_at != releases || set->object != memory->object ||
            set->offset != memory->offset)
            KAL_TRY(set_slot(device, kernel, i, memory));
    }
    kernel->set_at = releases;
    return KALLIMA_OK;
}

static kallima_status launch(struct ocl_device *device, const struct kal_work *work,
                             const struct link *link)
{
    const struct ocl_kernel *kernel = (const struct ocl_kernel *)work->kernel;
    const size_t lanes = (size_t)kernel->base.lanes;
    const size_t all = (size_t)work->groups * lanes;
    KAL_TRY(set_slots(device, work));
    OCL_TRY(device, EnqueueNDRangeKernel, device->queue, kernel->handle, 1, NULL, &all,
            &lanes, link->wait_count, link->wait, link->event);
    return KALLIMA_OK;
}

static kallima_status fill(const struct ocl_device *device, const struct kal_work *work,
                           const struct link *link)
{
    static const cl_uint zero = 0;
    OCL_TRY(device, EnqueueFillBuffer, device->queue, work->slot[0].object, &zero,
            sizeof zero, (size_t)work->slot[0].offset, (size_t)work->fill_bytes,
            link->wait_count, link->wait, link->event);
    return KALLIMA_OK;
}

// The first command waits for the caller's events, the others for the one before.
static kallima_status enqueue_all(struct ocl_device *device, const struct kal_work *work,
                                  int count, const struct kal_sync *sync)
{
    for (int i = 0; i < count; i++) {
        const struct link link = {
            .wait_count = i == 0 ? sync->wait_count : 0,
            .wait = i == 0 && sync->wait_count ? sync->wait : NULL,
            .event = i == count - 1 ? sync->event : NULL,
        };
        if (i > 0)
            KAL_TRY(kal_ocl_order(device));
        KAL_TRY(work[i].kernel ? launch(device, &work[i], &link)
                               : fill(device, &work[i], &link));
    }
    if (count == 0)
        OCL_TRY(device, EnqueueMarkerWithWaitList, device->queue, sync->wait_count,
                sync->wait_count ? sync->wait : NULL, sync->event);
    return KALLIMA_OK;
}

// Arguments of a kernel are set one by one, so the lock also keeps them together. Little work waits
// for more of it, but never where an event is wanted, which another queue may wait for.
kallima_status kal_ocl_enqueue(kallima_device *base, const struct kal_work *work,
                               int count, const struct kal_sync *sync)
{
    static const struct kal_sync alone;
    struct ocl_device *device = (struct ocl_device *)base;
    if (!sync)
        sync = &alone;
    KAL_TRY(kal_ocl_begin(device));
    const kallima_status status = enqueue_all(device, work, count, sync);
    device->waiting_lanes += kal_work_lanes(work, count);
    if (status || sync->event || device->waiting_lanes >= KAL_ENOUGH_LANES)
        return kal_ocl_end(device, status);
    pthread_mutex_unlock(&device->lock);
    return KALLIMA_OK;
}
