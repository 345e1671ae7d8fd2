// SPDX-License-Identifier: MIT
// The device itself: a device of Direct3D and its immediate context, one thread at a time.
#include "device/d3d11/driver.h"

static bool d3d_is_complete(void)
{
    return kal_d3d_has_gpu() && kal_d3d_compiler();
}

static bool d3d_find(int index, kallima_device_info *info)
{
    const struct d3d_adapter *adapter = kal_d3d_adapter(index);
    if (adapter)
        *info = adapter->info;
    return adapter != NULL;
}

static void d3d_describe(const kallima_device *base, kallima_device_info *info)
{
    *info = ((const struct d3d_device *)base)->info;
}

// What is still enqueued runs to its end: Direct3D keeps what it needs.
static void d3d_close(kallima_device *base)
{
    struct d3d_device *device = (struct d3d_device *)base;
    const struct kal_host host = base->host;
    if (device->fence)
        ID3D11Query_Release(device->fence);
    if (device->staging)
        ID3D11Buffer_Release(device->staging);
    if (device->constants)
        ID3D11Buffer_Release(device->constants);
    if (device->context)
        ID3D11DeviceContext_Release(device->context);
    if (device->device)
        ID3D11Device_Release(device->device);
    pthread_mutex_destroy(&device->lock);
    kal_free(&host, device);
}

static kallima_status make_objects(struct d3d_device *device)
{
    enum { CONSTANTS_BYTES = 48 };
    const D3D11_BUFFER_DESC constants = {
        .ByteWidth = CONSTANTS_BYTES,
        .Usage = D3D11_USAGE_DYNAMIC,
        .BindFlags = D3D11_BIND_CONSTANT_BUFFER,
        .CPUAccessFlags = D3D11_CPU_ACCESS_WRITE,
    };
    const D3D11_QUERY_DESC fence = { .Query = D3D11_QUERY_EVENT };

    KAL_TRY(kal_d3d_check(
        device,
        ID3D11Device_CreateBuffer(device->device, &constants, NULL, &device->constants),
        "ID3D11Device::CreateBuffer"));
    return kal_d3d_check(device,
                         ID3D11Device_CreateQuery(device->device, &fence, &device->fence),
                         "ID3D11Device::CreateQuery");
}

kallima_status kal_d3d_device_take(kallima_device **out, const struct kal_host *host,
                                   const kallima_device_info *info, ID3D11Device *parent,
                                   ID3D11DeviceContext *context)
{
    void *object;
    kallima_status status = kal_alloc_object(host, &object, sizeof(struct d3d_device));
    if (status) {
        ID3D11DeviceContext_Release(context);
        ID3D11Device_Release(parent);
        return status;
    }
    struct d3d_device *device = object;
    device->base.ops = &kal_d3d11_device_ops;
    device->base.host = *host;
    device->info = *info;
    device->device = parent;
    device->context = context;
    pthread_mutex_init(&device->lock, NULL);
    kal_d3d_fill_caps(device);
    status = make_objects(device);
    if (status) {
        d3d_close(&device->base);
        return status;
    }
    *out = &device->base;
    return KALLIMA_OK;
}

static kallima_status d3d_open(kallima_device **out, int index,
                               const struct kal_host *host,
                               const kallima_device_options *options)
{
    const struct d3d_adapter *adapter = kal_d3d_adapter(index);
    const struct d3d_device nothing = { .base.host = *host };
    ID3D11DeviceContext *context = NULL;
    ID3D11Device *device = NULL;

    (void)options;
    if (!adapter)
        return kal_fail(host, KALLIMA_E_ABSENT, "d3d11: no device %d is present", index);
    KAL_TRY(kal_d3d_check(
        &nothing, kal_d3d_create(kal_d3d_api(), adapter->adapter, &device, &context),
        "D3D11CreateDevice"));
    return kal_d3d_device_take(out, host, &adapter->info, device, context);
}

static kallima_status d3d_finish(kallima_device *base)
{
    struct d3d_device *device = (struct d3d_device *)base;
    pthread_mutex_lock(&device->lock);
    ID3D11DeviceContext_End(device->context, (ID3D11Asynchronous *)device->fence);
    const kallima_status status = kal_d3d_wait(device, device->fence, NULL, 0);
    pthread_mutex_unlock(&device->lock);
    return status;
}

const struct kal_device_ops kal_d3d11_device_ops = {
    .name = "d3d11",
    .compiles_aside = true, // a device of Direct3D is for all threads, as its compiler is
    .find = d3d_find,
    .is_complete = d3d_is_complete,
    .open = d3d_open,
    .close = d3d_close,
    .describe = d3d_describe,
    .buffer_create = kal_d3d_buffer_create,
    .buffer_destroy = kal_d3d_buffer_destroy,
    .buffer_write = kal_d3d_buffer_write,
    .buffer_read = kal_d3d_buffer_read,
    .buffer_copy = kal_d3d_buffer_copy,
    .finish = d3d_finish,
    .timer_create = kal_d3d_timer_create,
    .timer_destroy = kal_d3d_timer_destroy,
    .timer_start = kal_d3d_timer_start,
    .timer_stop = kal_d3d_timer_stop,
    .timer_read = kal_d3d_timer_read,
    .kernel_create = kal_d3d_kernel_create,
    .kernel_destroy = kal_d3d_kernel_destroy,
    .kernel_describe = kal_kernel_describe_nothing,
    .kernel_key = kal_d3d_kernel_key,
    .enqueue = kal_d3d_enqueue,
};
