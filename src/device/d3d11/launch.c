// SPDX-License-Identifier: MIT
// Work into the context: kernels and zeros, one after the other. Direct3D itself sees to it that
// each sees what the one before it wrote.
#include "device/d3d11/driver.h"

#include <string.h>

/** As the kernels declare it. */
struct constants {
    uint32_t offset[D3D_MOST_SLOTS];
    uint32_t first_group, unused[3];
};

static const struct d3d_memory *memory_of(const struct kal_work *work, uint32_t slot)
{
    return work->slot[slot].object;
}

static kallima_status dispatch(const struct d3d_device *device,
                               struct constants *constants,
                               const struct kal_groups *groups)
{
    ID3D11Resource *resource = (ID3D11Resource *)device->constants;
    D3D11_MAPPED_SUBRESOURCE mapped;

    constants->first_group = groups->first;
    KAL_TRY(kal_d3d_check(device,
                          ID3D11DeviceContext_Map(device->context, resource, 0,
                                                  D3D11_MAP_WRITE_DISCARD, 0, &mapped),
                          "ID3D11DeviceContext::Map"));
    memcpy(mapped.pData, constants, sizeof *constants);
    ID3D11DeviceContext_Unmap(device->context, resource, 0);
    ID3D11DeviceContext_Dispatch(device->context, groups->width, groups->rows, 1);
    return KALLIMA_OK;
}

static kallima_status dispatch_all(const struct d3d_device *device,
                                   struct constants *constants, uint64_t groups)
{
    struct kal_groups parts[2];
    const int count = kal_split_groups(parts, groups, D3D_MOST_GROUPS);
    for (int i = 0; i < count; i++)
        KAL_TRY(dispatch(device, constants, &parts[i]));
    return KALLIMA_OK;
}

// What is bound to be written cannot be bound to be read: the old views go first.
static void bind(const struct d3d_device *device,
                 ID3D11ShaderResourceView *const read[D3D_MOST_SLOTS],
                 ID3D11UnorderedAccessView *const written[D3D_MOST_SLOTS])
{
    static ID3D11UnorderedAccessView *const none[D3D_MOST_SLOTS];
    ID3D11DeviceContext_CSSetUnorderedAccessViews(device->context, 0, D3D_MOST_SLOTS,
                                                  none, NULL);
    ID3D11DeviceContext_CSSetShaderResources(device->context, 0, D3D_MOST_SLOTS, read);
    ID3D11DeviceContext_CSSetUnorderedAccessViews(device->context, 0, D3D_MOST_SLOTS,
                                                  written, NULL);
}

static void unbind(const struct d3d_device *device)
{
    static ID3D11ShaderResourceView *const read[D3D_MOST_SLOTS];
    static ID3D11UnorderedAccessView *const written[D3D_MOST_SLOTS];
    ID3D11Buffer *const none = NULL;
    bind(device, read, written);
    ID3D11DeviceContext_CSSetConstantBuffers(device->context, 0, 1, &none);
    ID3D11DeviceContext_CSSetShader(device->context, NULL, NULL, 0);
}

static kallima_status launch(const struct d3d_device *device, const struct kal_work *work)
{
    const struct d3d_kernel *kernel = (const struct d3d_kernel *)work->kernel;
    ID3D11ShaderResourceView *read[D3D_MOST_SLOTS] = { NULL };
    ID3D11UnorderedAccessView *written[D3D_MOST_SLOTS] = { NULL };
    struct constants constants = { { 0 }, 0, { 0 } };

    for (uint32_t i = 0; i < kernel->slots; i++) {
        constants.offset[i] = (uint32_t)work->slot[i].offset;
        if (kernel->written >> i & 1)
            written[i] = memory_of(work, i)->written;
        else if (kernel->named >> i & 1)
            read[i] = memory_of(work, i)->read;
    }
    bind(device, read, written);
    ID3D11DeviceContext_CSSetShader(device->context, kernel->shader, NULL, 0);
    ID3D11DeviceContext_CSSetConstantBuffers(device->context, 0, 1, &device->constants);
    return dispatch_all(device, &constants, work->groups);
}

static kallima_status fill(const struct d3d_device *device, const struct kal_work *work)
{
    static const char zeros[4096];
    const uint64_t first = work->slot[0].offset;

    for (uint64_t done = 0; done < work->fill_bytes; done += sizeof zeros) {
        const int64_t rest = (int64_t)(work->fill_bytes - done);
        const D3D11_BOX to = { .left = (UINT)(first + done),
                               .right = (UINT)(first + done) +
                                        (UINT)kal_min(rest, sizeof zeros),
                               .bottom = 1,
                               .back = 1 };
        ID3D11DeviceContext_UpdateSubresource(
            device->context, (ID3D11Resource *)memory_of(work, 0)->buffer, 0, &to, zeros,
            0, 0);
    }
    return KALLIMA_OK;
}

// Slot i of a launch, and whether the kernel names it.
static bool is_named(const struct kal_work *work, uint32_t i)
{
    const struct d3d_kernel *kernel = (const struct d3d_kernel *)work->kernel;
    return (kernel->named >> i & 1) && work->slot[i].object;
}

// A buffer that is written is bound once: Direct3D would silently drop a second view.
static bool is_bound_twice(const struct kal_work *work)
{
    const struct d3d_kernel *kernel = (const struct d3d_kernel *)work->kernel;
    for (uint32_t i = 0; i < kernel->slots; i++) {
        for (uint32_t j = 0; j < i; j++) {
            if (is_named(work, i) && is_named(work, j) &&
                memory_of(work, i)->buffer == memory_of(work, j)->buffer &&
                ((kernel->written >> i | kernel->written >> j) & 1))
                return true;
        }
    }
    return false;
}

static kallima_status check_buffers(const struct d3d_device *device,
                                    const struct kal_work *work, int count)
{
    for (int i = 0; i < count; i++) {
        if (work[i].kernel && is_bound_twice(&work[i]))
            return kal_fail(
                &device->base.host, KALLIMA_E_UNSUPPORTED,
                "d3d11: arrays of one execution are parts of one ID3D11Buffer, "
                "which Direct3D binds once: each needs its own, but in place");
    }
    return KALLIMA_OK;
}

kallima_status kal_d3d_enqueue(kallima_device *base, const struct kal_work *work,
                               int count, const struct kal_sync *sync)
{
    struct d3d_device *device = (struct d3d_device *)base;
    kallima_status status = KALLIMA_OK;

    KAL_TRY(kal_events_refuse(base, sync));
    KAL_TRY(kal_work_check(base, work, count,
                           kal_most_groups(D3D_MOST_GROUPS, D3D_MOST_GROUPS)));
    KAL_TRY(check_buffers(device, work, count));
    pthread_mutex_lock(&device->lock);
    for (int i = 0; i < count && !status; i++)
        status = (work[i].kernel ? launch : fill)(device, &work[i]);
    unbind(device);
    ID3D11DeviceContext_Flush(device->context);
    pthread_mutex_unlock(&device->lock);
    return status;
}
