// SPDX-License-Identifier: MIT
#include "factor/parameter.h"

const struct kal_parameter kal_parameters[KAL_PARAMETER_COUNT] = {
    [KAL_PARAMETER_POINTS] = { "points", 1, 64, KAL_FOR_KERNELS },
    [KAL_PARAMETER_LINES] = { "lines", 1, 4096, KAL_FOR_ALL },
    [KAL_PARAMETER_LANES] = { "lanes", 1, 1024, KAL_FOR_ALL },
    [KAL_PARAMETER_RUN] = { "run", 0, 4096, KAL_FOR_KERNELS },
    [KAL_PARAMETER_POWERS] = { "powers", 2, 1024, KAL_FOR_KERNELS },
    [KAL_PARAMETER_RESIDENT] = { "resident", 1, 32, KAL_FOR_KERNELS },
    [KAL_PARAMETER_HINTS] = { "hints", 0, 1, KAL_FOR_ALL },
    [KAL_PARAMETER_LAG] = { "lag", 1, 4096, KAL_FOR_KERNELS },
    [KAL_PARAMETER_CLUSTER] = { "cluster", 0, 16, KAL_FOR_KERNELS },
    [KAL_PARAMETER_SPLIT] = { "split", 0, 2, KAL_FOR_KERNELS },
    [KAL_PARAMETER_THREADS] = { "threads", 1, 4096, KAL_FOR_PASSES },
    [KAL_PARAMETER_ACROSS] = { "across", 0, 1, KAL_FOR_PASSES },
    [KAL_PARAMETER_LINE] = { "line", 0, 1, KAL_FOR_PASSES },
    [KAL_PARAMETER_FETCH] = { "fetch", 0, 1, KAL_FOR_PASSES },
};
