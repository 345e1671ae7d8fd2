// SPDX-License-Identifier: MIT
#include "device/processors.h"

void kal_describe_nvidia(struct kal_caps *caps, int processors, int warps, bool draws)
{
    // Counted by groups under way on an NVIDIA H200, driver 580, November 2026; through CUDA
    // its processors give 228 KiB. Assumed of all that keep as many warps and have many
    // processors; of others nothing is.
    enum {
        WARP = 32,
        LARGE_WARPS = 64,
        LARGE_PROCESSORS = 92,
        DRAW_KIB = 64,
        COMPUTE_KIB = 128,
        CACHE_MIB = 32, // of 40 and more: what streams past takes the rest
    };

    caps->processors = processors;
    caps->processor_lanes = WARP * warps;
    if (warps == LARGE_WARPS && processors >= LARGE_PROCESSORS) {
        caps->processor_bytes = (uint64_t)(draws ? DRAW_KIB : COMPUTE_KIB) << 10;
        caps->shared_bytes = (uint64_t)CACHE_MIB << 20;
    }
}
