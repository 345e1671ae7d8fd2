// SPDX-License-Identifier: MIT
#include "simulate.h"

#include <string.h>

#include "device/null/null.h"

struct simulate_plant simulate_plant;

struct simulated_kernel {
    struct kal_device_kernel base;
    struct simulate_code code;
    uint64_t group_bytes;
    int lanes, cluster, slots;
};

static kallima_status kernel_create(struct kal_device_kernel **out,
                                    kallima_device *device,
                                    const struct kal_kernel_text *text,
                                    const struct kal_binary *binary,
                                    struct kal_binary *made)
{
    void *object;
    (void)binary;
    (void)made;
    KAL_TRY(kal_alloc_object(&device->host, &object, sizeof(struct simulated_kernel)));
    struct simulated_kernel *kernel = object;
    kernel->base.device = device;
    kernel->group_bytes = text->group_bytes;
    kernel->lanes = text->lanes;
    kernel->cluster = text->cluster > 1 ? text->cluster : 1;
    kernel->slots = text->slots;
    const kallima_status status =
        simulate_compile(&kernel->code, text, simulate_plant.before, simulate_plant.after,
                         &simulate_plant.places);
    if (status) {
        kal_free(&device->host, kernel);
        return status;
    }
    *out = &kernel->base;
    return KALLIMA_OK;
}

static void kernel_destroy(struct kal_device_kernel *base)
{
    struct simulated_kernel *kernel = (struct simulated_kernel *)base;
    const struct kal_host host = base->device->host;
    simulate_release(&kernel->code);
    kal_free(&host, kernel);
}

// An array of the device knows its size, which stands in front of it.
enum { SIZE_BYTES = 64 };

static struct simulate_slot slot_of(struct kal_memory memory)
{
    const uint64_t *bytes = memory.object;
    return (struct simulate_slot){
        kal_memory_address(memory),
        (long long)(SIZE_BYTES + *bytes - memory.offset),
    };
}

static kallima_status launch(const struct kal_work *work)
{
    const struct simulated_kernel *kernel = (const struct simulated_kernel *)work->kernel;
    struct simulate_launch l = {
        .code = &kernel->code,
        .groups = work->groups,
        .group_bytes = kernel->group_bytes,
        .lanes = kernel->lanes,
        .cluster = kernel->cluster,
    };
    for (int i = 0; i < kernel->slots; i++)
        l.slots[i] = slot_of(work->slot[i]);
    return simulate_run(&l);
}

static kallima_status enqueue(kallima_device *device, const struct kal_work *work,
                              int count, const struct kal_sync *sync)
{
    (void)device;
    (void)sync;
    for (int i = 0; i < count; i++) {
        if (work[i].kernel)
            KAL_TRY(launch(&work[i]));
        else
            memset(kal_memory_address(work[i].slot[0]), 0, (size_t)work[i].fill_bytes);
    }
    return KALLIMA_OK;
}

static kallima_status buffer_create(kallima_buffer **out, kallima_device *device,
                                    uint64_t bytes)
{
    KAL_TRY(kal_host_buffer_create(out, device, SIZE_BYTES + bytes));
    kallima_buffer *buffer = *out;
    memset(buffer->memory.object, 0xff, (size_t)(SIZE_BYTES + bytes));
    memcpy(buffer->memory.object, &bytes, sizeof bytes);
    buffer->memory.offset = SIZE_BYTES;
    buffer->bytes = bytes;
    return KALLIMA_OK;
}

static void close(kallima_device *device)
{
    simulate_clear();
    kal_null_cuda_device_ops.close(device);
}

kallima_status simulate_open(kallima_device **out)
{
    static struct kal_device_ops ops;
    const kallima_device_options options = { .kernel_cache = "" };

    KAL_TRY(kallima_device_open(out, "nullcuda", &options));
    ops = kal_null_cuda_device_ops;
    ops.close = close;
    ops.buffer_create = buffer_create;
    ops.kernel_create = kernel_create;
    ops.kernel_destroy = kernel_destroy;
    ops.enqueue = enqueue;
    (*out)->ops = &ops;
    return KALLIMA_OK;
}
