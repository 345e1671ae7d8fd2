// SPDX-License-Identifier: MIT
#include "factor/parameter.h"

const struct kal_parameter kal_parameters[KAL_PARAMETER_COUNT] = {
    [KAL_PARAMETER_POINTS] = { "points", 1, 64 },
    [KAL_PARAMETER_LINES] = { "lines", 1, 4096 },
    [KAL_PARAMETER_LANES] = { "lanes", 1, 1024 },
    [KAL_PARAMETER_RUN] = { "run", 0, 4096 },
    [KAL_PARAMETER_POWERS] = { "powers", 2, 1024 },
    [KAL_PARAMETER_RESIDENT] = { "resident", 1, 32 },
    [KAL_PARAMETER_HINTS] = { "hints", 0, 1 },
    [KAL_PARAMETER_LAG] = { "lag", 1, 4096 },
    [KAL_PARAMETER_CLUSTER] = { "cluster", 0, 16 },
    [KAL_PARAMETER_SPLIT] = { "split", 0, 1 },
};
