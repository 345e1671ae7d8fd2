// SPDX-License-Identifier: MIT
#include <kallima/interop/cuda.h>

#include "api/host.h"
#include "device/cuda/cuda.h"

enum { ALIGNMENT_BYTES = 16 };

kallima_status kallima_cuda_adopt(kallima_device **out, struct CUctx_st *context,
                                  struct CUstream_st *stream,
                                  const kallima_device_options *options)
{
    static const kallima_device_options defaults;
    struct kal_host host;

    KAL_REQUIRE(NULL, out);
    *out = NULL;
    KAL_TRY(kal_host_init(&host, options ? options : &defaults));
    KAL_REQUIRE(&host, context);
    KAL_TRY(kal_cuda_adopt(out, context, stream, &host));
    return kal_device_hand_over(out, options);
}

kallima_status kallima_cuda_wrap(kallima_buffer **out, kallima_device *device,
                                 unsigned long long address, uint64_t bytes)
{
    KAL_REQUIRE(device ? &device->host : NULL, out);
    *out = NULL;
    KAL_REQUIRE(NULL, device);
    const struct kal_host *host = &device->host;
    if (device->ops != &kal_cuda_device_ops)
        return kal_fail(host, KALLIMA_E_ARGUMENT,
                        "buffer: memory of CUDA for a device \"%s\"", device->ops->name);
    if (address == 0 || address % ALIGNMENT_BYTES != 0)
        return kal_fail(host, KALLIMA_E_ARGUMENT,
                        "buffer: address = 0x%llx; must be a multiple of %d, not 0",
                        address, ALIGNMENT_BYTES);
    KAL_REQUIRE(host, bytes > 0);
    KAL_TRY(kal_cuda_wrap(out, device, address, bytes));
    kal_device_retain(device);
    return KALLIMA_OK;
}
