// SPDX-License-Identifier: MIT
// Buffers: an object of Direct3D, and where in it ours begins. Kernels see it whole, as raw
// memory, through a view that reads or one that writes too.
#include "device/d3d11/driver.h"

#include <string.h>

enum { STAGING_BYTES = 4 << 20, WORD_BYTES = 4 };

static void clear_memory(struct d3d_memory *memory)
{
    if (memory->written)
        ID3D11UnorderedAccessView_Release(memory->written);
    if (memory->read)
        ID3D11ShaderResourceView_Release(memory->read);
    ID3D11Buffer_Release(memory->buffer);
}

static kallima_status make_views(const struct d3d_device *device,
                                 struct d3d_memory *memory)
{
    ID3D11Resource *resource = (ID3D11Resource *)memory->buffer;
    D3D11_BUFFER_DESC desc;

    ID3D11Buffer_GetDesc(memory->buffer, &desc);
    const D3D11_SHADER_RESOURCE_VIEW_DESC read = {
        .Format = DXGI_FORMAT_R32_TYPELESS,
        .ViewDimension = D3D11_SRV_DIMENSION_BUFFEREX,
        .BufferEx = { .NumElements = desc.ByteWidth / WORD_BYTES,
                      .Flags = D3D11_BUFFEREX_SRV_FLAG_RAW },
    };
    const D3D11_UNORDERED_ACCESS_VIEW_DESC written = {
        .Format = DXGI_FORMAT_R32_TYPELESS,
        .ViewDimension = D3D11_UAV_DIMENSION_BUFFER,
        .Buffer = { .NumElements = desc.ByteWidth / WORD_BYTES,
                    .Flags = D3D11_BUFFER_UAV_FLAG_RAW },
    };
    KAL_TRY(kal_d3d_check(device,
                          ID3D11Device_CreateShaderResourceView(device->device, resource,
                                                                &read, &memory->read),
                          "ID3D11Device::CreateShaderResourceView"));
    return kal_d3d_check(device,
                         ID3D11Device_CreateUnorderedAccessView(
                             device->device, resource, &written, &memory->written),
                         "ID3D11Device::CreateUnorderedAccessView");
}

/** A buffer and its memory, which are one allocation. */
struct d3d_buffer {
    kallima_buffer base;
    struct d3d_memory memory;
};

kallima_status kal_d3d_buffer_take(kallima_buffer **out, struct d3d_device *device,
                                   ID3D11Buffer *object, uint64_t offset_bytes,
                                   uint64_t bytes)
{
    void *allocated;
    kallima_status status =
        kal_alloc_object(&device->base.host, &allocated, sizeof(struct d3d_buffer));
    if (status) {
        ID3D11Buffer_Release(object);
        return status;
    }
    struct d3d_buffer *buffer = allocated;
    buffer->memory.buffer = object;
    status = make_views(device, &buffer->memory);
    if (status) {
        clear_memory(&buffer->memory);
        kal_free(&device->base.host, buffer);
        return status;
    }
    buffer->base = (kallima_buffer){ .device = &device->base,
                                     .bytes = bytes,
                                     .memory = { &buffer->memory, offset_bytes } };
    *out = &buffer->base;
    return KALLIMA_OK;
}

kallima_status kal_d3d_buffer_create(kallima_buffer **out, kallima_device *base,
                                     uint64_t bytes)
{
    struct d3d_device *device = (struct d3d_device *)base;
    ID3D11Buffer *object = NULL;

    if (bytes > base->caps.buffer_bytes)
        return kal_fail(
            &base->host, KALLIMA_E_MEMORY,
            "d3d11: a buffer of %llu bytes; kernels of this device reach %llu",
            (unsigned long long)bytes, (unsigned long long)base->caps.buffer_bytes);
    const D3D11_BUFFER_DESC desc = {
        .ByteWidth = (UINT)kal_round_up((int64_t)bytes, WORD_BYTES),
        .Usage = D3D11_USAGE_DEFAULT,
        .BindFlags = D3D11_BIND_SHADER_RESOURCE | D3D11_BIND_UNORDERED_ACCESS,
        .MiscFlags = D3D11_RESOURCE_MISC_BUFFER_ALLOW_RAW_VIEWS,
    };
    KAL_TRY(kal_d3d_check(device,
                          ID3D11Device_CreateBuffer(device->device, &desc, NULL, &object),
                          "ID3D11Device::CreateBuffer"));
    return kal_d3d_buffer_take(out, device, object, 0, bytes);
}

void kal_d3d_buffer_destroy(kallima_buffer *base)
{
    struct d3d_buffer *buffer = (struct d3d_buffer *)base;
    clear_memory(&buffer->memory);
    kal_free(&base->device->host, buffer);
}

static ID3D11Resource *resource_of(const kallima_buffer *buffer)
{
    return (ID3D11Resource *)((const struct d3d_memory *)buffer->memory.object)->buffer;
}

static D3D11_BOX range(uint64_t first, uint64_t bytes)
{
    return (D3D11_BOX){
        .left = (UINT)first, .right = (UINT)(first + bytes), .bottom = 1, .back = 1
    };
}

kallima_status kal_d3d_buffer_write(kallima_buffer *buffer, uint64_t offset,
                                    const void *source, uint64_t bytes)
{
    struct d3d_device *device = (struct d3d_device *)buffer->device;
    const D3D11_BOX to = range(buffer->memory.offset + offset, bytes);

    pthread_mutex_lock(&device->lock);
    ID3D11DeviceContext_UpdateSubresource(device->context, resource_of(buffer), 0, &to,
                                          source, 0, 0);
    pthread_mutex_unlock(&device->lock);
    return KALLIMA_OK;
}

static kallima_status need_staging(struct d3d_device *device)
{
    const D3D11_BUFFER_DESC desc = { .ByteWidth = STAGING_BYTES,
                                     .Usage = D3D11_USAGE_STAGING,
                                     .CPUAccessFlags = D3D11_CPU_ACCESS_READ };
    if (device->staging)
        return KALLIMA_OK;
    return kal_d3d_check(
        device, ID3D11Device_CreateBuffer(device->device, &desc, NULL, &device->staging),
        "ID3D11Device::CreateBuffer");
}

// A piece as large as what the host can read from.
static kallima_status read_piece(struct d3d_device *device, const kallima_buffer *buffer,
                                 uint64_t first, void *target, uint64_t bytes)
{
    ID3D11Resource *staging = (ID3D11Resource *)device->staging;
    const D3D11_BOX from = range(first, bytes);
    D3D11_MAPPED_SUBRESOURCE mapped;

    ID3D11DeviceContext_CopySubresourceRegion(device->context, staging, 0, 0, 0, 0,
                                              resource_of(buffer), 0, &from);
    KAL_TRY(kal_d3d_check(
        device,
        ID3D11DeviceContext_Map(device->context, staging, 0, D3D11_MAP_READ, 0, &mapped),
        "ID3D11DeviceContext::Map"));
    memcpy(target, mapped.pData, (size_t)bytes);
    ID3D11DeviceContext_Unmap(device->context, staging, 0);
    return KALLIMA_OK;
}

kallima_status kal_d3d_buffer_read(const kallima_buffer *buffer, uint64_t offset,
                                   void *target, uint64_t bytes)
{
    struct d3d_device *device = (struct d3d_device *)buffer->device;

    pthread_mutex_lock(&device->lock);
    kallima_status status = need_staging(device);
    for (uint64_t done = 0; !status && done < bytes; done += STAGING_BYTES)
        status = read_piece(device, buffer, buffer->memory.offset + offset + done,
                            (char *)target + done,
                            (uint64_t)kal_min((int64_t)(bytes - done), STAGING_BYTES));
    pthread_mutex_unlock(&device->lock);
    return status;
}

static void copy(const struct d3d_device *device, ID3D11Resource *target, uint64_t to,
                 ID3D11Resource *source, uint64_t first, uint64_t bytes)
{
    const D3D11_BOX from = range(first, bytes);
    ID3D11DeviceContext_CopySubresourceRegion(device->context, target, 0, (UINT)to, 0, 0,
                                              source, 0, &from);
}

// Direct3D copies nothing within one object: such a copy goes by way of another one.
static kallima_status copy_within(struct d3d_device *device, ID3D11Resource *object,
                                  uint64_t to, uint64_t first, uint64_t bytes)
{
    KAL_TRY(need_staging(device));
    ID3D11Resource *staging = (ID3D11Resource *)device->staging;
    for (uint64_t done = 0; done < bytes; done += STAGING_BYTES) {
        const uint64_t piece = (uint64_t)kal_min((int64_t)(bytes - done), STAGING_BYTES);
        copy(device, staging, 0, object, first + done, piece);
        copy(device, object, to + done, staging, 0, piece);
    }
    return KALLIMA_OK;
}

kallima_status kal_d3d_buffer_copy(kallima_buffer *target, uint64_t target_offset,
                                   const kallima_buffer *source, uint64_t source_offset,
                                   uint64_t bytes)
{
    struct d3d_device *device = (struct d3d_device *)target->device;
    const uint64_t to = target->memory.offset + target_offset;
    const uint64_t first = source->memory.offset + source_offset;
    kallima_status status = KALLIMA_OK;

    pthread_mutex_lock(&device->lock);
    if (resource_of(target) == resource_of(source))
        status = copy_within(device, resource_of(target), to, first, bytes);
    else
        copy(device, resource_of(target), to, resource_of(source), first, bytes);
    pthread_mutex_unlock(&device->lock);
    return status;
}
