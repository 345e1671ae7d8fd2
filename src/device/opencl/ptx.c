// SPDX-License-Identifier: MIT
// OpenCL C has no word for how many groups a processor shall hold, by which a compiler knows
// how many registers it may take, and NVIDIA's no option that it heeds. But the binary of a
// program is PTX, which has one.
#include "device/opencl/driver.h"

#include <stdio.h>
#include <string.h>

kallima_status kal_ocl_ptx_for_groups(struct kal_binary *out, const struct kal_host *host,
                                      const struct kal_binary *ptx, int resident)
{
    static const char *const group_size =
        "\n.reqntid "; // of the kernel, of which there is one
    char directive[32];
    void *memory;

    *out = (struct kal_binary){ NULL, 0 };
    KAL_TRY(kal_alloc(host, &memory, ptx->bytes + sizeof directive, 1));
    char *text = memory;
    memcpy(text, ptx->data, ptx->bytes);
    text[ptx->bytes] = '\0';
    char *line = strstr(text, group_size);
    if (!line) {
        kal_free(host, text);
        return KALLIMA_OK;
    }
    const int length =
        snprintf(directive, sizeof directive, "\n.minnctapersm %d", resident);
    memmove(line + length, line, ptx->bytes - (size_t)(line - text));
    memcpy(line, directive, (size_t)length);
    *out = (struct kal_binary){ text, ptx->bytes + (uint64_t)length };
    return KALLIMA_OK;
}
