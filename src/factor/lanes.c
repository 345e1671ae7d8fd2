// SPDX-License-Identifier: MIT
#include "factor/lanes.h"

#include "base/base.h"

int64_t kal_lanes_of_largest(int64_t points, int largest, int lane_points)
{
    enum { FEW = 128, FULL = 384, MANY = 512 };
    int64_t units = kal_max(1, lane_points / largest);
    if (points / largest > FEW && points / largest <= FULL)
        units = 1;
    while (points / (largest * units) > MANY && largest * (units + 1) <= 2 * lane_points)
        units++;
    return kal_max(1, (points - 1) / (largest * units) + 1);
}

// Registers that `lanes` lanes go through in all steps, those that idle too.
static int64_t work_of(int64_t points, const int *radix, int count, int64_t lanes)
{
    int64_t work = 0;
    for (int i = 0; i < count; i++)
        work += kal_round_up(points / radix[i], lanes) * radix[i];
    return work;
}

int64_t kal_lanes_at_work(int64_t points, const int *radix, int count, int64_t lanes)
{
    enum { GAIN = 10 }; // at least a tenth
    const int64_t work = work_of(points, radix, count, lanes);
    int64_t best = lanes, least = work;

    for (int i = 0; i < count; i++) {
        const int64_t units = points / radix[i];
        if (units <= lanes || units >= 2 * lanes)
            continue;
        const int64_t needed = work_of(points, radix, count, units);
        best = needed < least ? units : best;
        least = kal_min(least, needed);
    }
    return work - least >= work / GAIN ? best : lanes;
}

bool kal_tiles_are_left_empty(int64_t lines, int64_t lanes, int percent)
{
    enum { ALL = 100 };
    return (double)kal_round_up(lines, lanes) * ALL >= (double)lines * percent;
}
