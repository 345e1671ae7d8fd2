// SPDX-License-Identifier: MIT
// In place of this folder's other files where the build has no cuda.h: finds no device.
#include "device/cuda/cuda.h"

static bool stub_find(int index, kallima_device_info *info)
{
    (void)index;
    (void)info;
    return false;
}

const struct kal_device_ops kal_cuda_device_ops = { .name = "cuda", .find = stub_find };

static kallima_status refuse(const struct kal_host *host)
{
    return kal_fail(host, KALLIMA_E_UNSUPPORTED, "cuda: this build has no CUDA");
}

kallima_status kal_cuda_adopt(kallima_device **out, struct CUctx_st *context,
                              struct CUstream_st *stream, const struct kal_host *host)
{
    (void)context;
    (void)stream;
    *out = NULL;
    return refuse(host);
}

kallima_status kal_cuda_wrap(kallima_buffer **out, kallima_device *device,
                             uint64_t address, uint64_t bytes)
{
    (void)address;
    (void)bytes;
    *out = NULL;
    return refuse(&device->host);
}

kallima_status kal_cuda_compile(const struct kal_host *host,
                                const struct kal_kernel_text *text,
                                const char *architecture, struct kal_binary *cubin)
{
    (void)text;
    (void)architecture;
    *cubin = (struct kal_binary){ NULL, 0 };
    return refuse(host);
}
