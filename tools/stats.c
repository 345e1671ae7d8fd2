// SPDX-License-Identifier: MIT
#include "stats.h"

#include <math.h>
#include <stdlib.h>

static int compare(const void *left, const void *right)
{
    const double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

double stats_quantile(const double *sorted, int count, double q)
{
    const double position = q * (count - 1);
    const int below = (int)position;
    const int above = below + 1 < count ? below + 1 : below;
    return sorted[below] + (position - below) * (sorted[above] - sorted[below]);
}

struct stats stats_summarise(double *sample, int count)
{
    qsort(sample, (size_t)count, sizeof *sample, compare);
    const double median = stats_quantile(sample, count, 0.5);
    const double range =
        stats_quantile(sample, count, 0.9) - stats_quantile(sample, count, 0.1);
    return (struct stats){
        .median = median,
        .min = sample[0],
        .spread = median > 0 ? range / median : 0,
    };
}

double stats_geometric_mean(const double *value, int count)
{
    double sum = 0;
    for (int i = 0; i < count; i++)
        sum += log(value[i]);
    return count > 0 ? exp(sum / count) : 0;
}
