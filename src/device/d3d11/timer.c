// SPDX-License-Identifier: MIT
// A timer is two queries of the device's clock, and one that says whether its frequency held
// between them.
#include "device/d3d11/driver.h"

enum { START, STOP, FREQUENCY, QUERIES };

struct d3d_timer {
    struct kallima_timer base;
    ID3D11Query *query[QUERIES];
    bool is_marked[2];
};

static struct d3d_device *device_of(const struct d3d_timer *timer)
{
    return (struct d3d_device *)timer->base.device;
}

kallima_status kal_d3d_timer_create(kallima_timer **out, kallima_device *base)
{
    static const D3D11_QUERY_DESC descs[QUERIES] = {
        [START] = { .Query = D3D11_QUERY_TIMESTAMP },
        [STOP] = { .Query = D3D11_QUERY_TIMESTAMP },
        [FREQUENCY] = { .Query = D3D11_QUERY_TIMESTAMP_DISJOINT },
    };
    const struct d3d_device *device = (const struct d3d_device *)base;
    void *object;

    KAL_TRY(kal_alloc_object(&base->host, &object, sizeof(struct d3d_timer)));
    struct d3d_timer *timer = object;
    timer->base.device = base;
    for (int i = 0; i < QUERIES; i++) {
        const kallima_status status = kal_d3d_check(
            device, ID3D11Device_CreateQuery(device->device, &descs[i], &timer->query[i]),
            "ID3D11Device::CreateQuery");
        if (status) {
            kal_d3d_timer_destroy(&timer->base);
            return status;
        }
    }
    *out = &timer->base;
    return KALLIMA_OK;
}

void kal_d3d_timer_destroy(kallima_timer *base)
{
    struct d3d_timer *timer = (struct d3d_timer *)base;
    for (int i = 0; i < QUERIES; i++) {
        if (timer->query[i])
            ID3D11Query_Release(timer->query[i]);
    }
    kal_free(&base->device->host, timer);
}

static void end(const struct d3d_timer *timer, int which)
{
    ID3D11DeviceContext_End(device_of(timer)->context,
                            (ID3D11Asynchronous *)timer->query[which]);
}

kallima_status kal_d3d_timer_start(kallima_timer *base)
{
    struct d3d_timer *timer = (struct d3d_timer *)base;
    struct d3d_device *device = device_of(timer);

    pthread_mutex_lock(&device->lock);
    if (timer->is_marked[START] && !timer->is_marked[STOP])
        end(timer, FREQUENCY); // started again: what was begun is ended
    ID3D11DeviceContext_Begin(device->context,
                              (ID3D11Asynchronous *)timer->query[FREQUENCY]);
    end(timer, START);
    pthread_mutex_unlock(&device->lock);
    timer->is_marked[START] = true;
    timer->is_marked[STOP] = false;
    return KALLIMA_OK;
}

kallima_status kal_d3d_timer_stop(kallima_timer *base)
{
    struct d3d_timer *timer = (struct d3d_timer *)base;
    struct d3d_device *device = device_of(timer);

    if (timer->is_marked[STOP] || !timer->is_marked[START])
        return KALLIMA_OK; // reading it says so
    pthread_mutex_lock(&device->lock);
    end(timer, STOP);
    end(timer, FREQUENCY);
    pthread_mutex_unlock(&device->lock);
    timer->is_marked[STOP] = true;
    return KALLIMA_OK;
}

kallima_status kal_d3d_timer_read(const kallima_timer *base, double *seconds)
{
    const struct d3d_timer *timer = (const struct d3d_timer *)base;
    struct d3d_device *device = device_of(timer);
    D3D11_QUERY_DATA_TIMESTAMP_DISJOINT clock = { 0 };
    UINT64 time[2] = { 0, 0 };

    if (!timer->is_marked[START] || !timer->is_marked[STOP])
        return kal_fail(&base->device->host, KALLIMA_E_DEVICE,
                        "timer: start and stop were not both called");
    pthread_mutex_lock(&device->lock);
    kallima_status status =
        kal_d3d_wait(device, timer->query[FREQUENCY], &clock, sizeof clock);
    for (int i = START; i <= STOP && !status; i++)
        status = kal_d3d_wait(device, timer->query[i], &time[i], sizeof time[i]);
    pthread_mutex_unlock(&device->lock);
    KAL_TRY(status);
    if (clock.Disjoint || clock.Frequency == 0)
        return kal_fail(&base->device->host, KALLIMA_E_DEVICE,
                        "timer: the device's clock changed its frequency meanwhile");
    *seconds = time[STOP] > time[START]
                   ? (double)(time[STOP] - time[START]) / (double)clock.Frequency
                   : 0.0;
    return KALLIMA_OK;
}
