// SPDX-License-Identifier: MIT
#include "kernel/choice.h"

struct kal_choice kal_choice_make(const struct kal_pass *pass,
                                  const struct kal_caps *caps, bool is_f64)
{
    return (struct kal_choice){
        .lane_points =
            kal_pass_get_parameter(pass, KAL_PARAMETER_POINTS, is_f64 ? 8 : 16),
        .lines = kal_pass_get_parameter(pass, KAL_PARAMETER_LINES, 0),
        .wanted_lanes = kal_pass_get_parameter(pass, KAL_PARAMETER_LANES, 256),
        .run_bytes = kal_pass_get_parameter(pass, KAL_PARAMETER_RUN, 128),
        .powers_from = kal_pass_get_parameter(pass, KAL_PARAMETER_POWERS, 7),
        .resident = kal_pass_get_parameter(pass, KAL_PARAMETER_RESIDENT, 0),
        .has_hints =
            kal_pass_get_parameter(pass, KAL_PARAMETER_HINTS, caps->has_nvidia_ptx),
        .lag = kal_pass_get_parameter(pass, KAL_PARAMETER_LAG, 0),
        .cluster = kal_pass_get_parameter(pass, KAL_PARAMETER_CLUSTER, 1),
        .split = kal_pass_get_parameter(pass, KAL_PARAMETER_SPLIT, -1),
    };
}
