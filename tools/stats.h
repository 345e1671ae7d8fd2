// SPDX-License-Identifier: MIT
// Order statistics of repeated measurements.
#ifndef KALLIMA_STATS_H_
#define KALLIMA_STATS_H_

struct stats {
    double median, min;
    double spread; // (90th - 10th percentile) / median
};

/** Sort `count` >= 1 samples in place and summarise them. */
struct stats stats_summarise(double *sample, int count);

/** Return the quantile 0 <= q <= 1 of sorted samples, linear between neighbours. */
double stats_quantile(const double *sorted, int count, double q);

/** Return the geometric mean of `count` positive numbers; 0 if there are none. */
double stats_geometric_mean(const double *value, int count);

#endif
