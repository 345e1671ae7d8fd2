// SPDX-License-Identifier: MIT
#include "kernel/choice.h"

static int chosen(const struct kal_pass *pass, enum kal_parameter_id id, int otherwise)
{
    return pass->parameters ? kal_parameter_get(pass->parameters, id, otherwise)
                            : otherwise;
}

struct kal_choice kal_choice_make(const struct kal_pass *pass,
                                  const struct kal_caps *caps, bool is_f64)
{
    return (struct kal_choice){
        .lane_points = chosen(pass, KAL_PARAMETER_POINTS, is_f64 ? 8 : 16),
        .lines = chosen(pass, KAL_PARAMETER_LINES, 0),
        .wanted_lanes = chosen(pass, KAL_PARAMETER_LANES, 256),
        .run_bytes = chosen(pass, KAL_PARAMETER_RUN, 128),
        .powers_from = chosen(pass, KAL_PARAMETER_POWERS, 7),
        .resident = chosen(pass, KAL_PARAMETER_RESIDENT, 0),
        .has_hints = chosen(pass, KAL_PARAMETER_HINTS, caps->has_nvidia_ptx),
        .lag = chosen(pass, KAL_PARAMETER_LAG, 0),
        .cluster = chosen(pass, KAL_PARAMETER_CLUSTER, 1),
        .split = chosen(pass, KAL_PARAMETER_SPLIT, -1),
    };
}
