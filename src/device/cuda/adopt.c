// SPDX-License-Identifier: MIT
// A device of the caller's own context and stream.
#include "device/cuda/driver.h"

// Calls that need the adopted context, before there is a device: their result goes through
// a device that has nothing but a driver and a host.
static kallima_status examine(const struct cuda_device *probe, CUdevice *ordinal)
{
    CUcontext owner = probe->context;

    KAL_TRY(kal_cuda_check(probe, probe->driver->CtxGetDevice(ordinal),
                           "find the device of the context"));
    if (probe->stream)
        KAL_TRY(kal_cuda_check(probe, probe->driver->StreamGetCtx(probe->stream, &owner),
                               "find the context of the stream"));
    if (owner != probe->context)
        return kal_fail(&probe->base.host, KALLIMA_E_ARGUMENT,
                        "cuda: the stream to adopt is of another context");
    return KALLIMA_OK;
}

kallima_status kal_cuda_adopt(kallima_device **out, CUcontext context, CUstream stream,
                              const struct kal_host *host)
{
    const struct cuda_driver *driver = kal_cuda_driver_find();
    const struct cuda_device probe = {
        .base.host = *host, .driver = driver, .context = context, .stream = stream
    };
    CUdevice ordinal;

    *out = NULL;
    if (!driver)
        return kal_fail(host, KALLIMA_E_ABSENT, "cuda: no driver is present");
    KAL_TRY(kal_cuda_enter(&probe));
    const kallima_status status = examine(&probe, &ordinal);
    kal_cuda_leave(&probe);
    KAL_TRY(status);
    return kal_cuda_device_create(out, driver, ordinal, context, stream, host);
}
