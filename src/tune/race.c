// SPDX-License-Identifier: MIT
#include "tune/race.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const double kal_race_margin = 0.01;

// How sure a limit of the median is, in one look at it. A win is looked for after each round,
// and many challengers race, so a false one must be rare; a challenger that is given up too
// early costs at most what it is faster by.
static const double WIN_RISK = 0.002, LOSS_RISK = 0.1;

// A challenger whose first rounds were all slower by this much is not worth the time.
enum { FEW_ROUNDS = 3 };
static const double MUCH_SLOWER = 1.15;

static int compare(const void *left, const void *right)
{
    const double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static double median_of(double *value, int count)
{
    qsort(value, (size_t)count, sizeof *value, compare);
    return 0.5 * (value[(count - 1) / 2] + value[count / 2]);
}

struct kal_times kal_times_summarise(const double *sample, int count, double *scratch)
{
    memcpy(scratch, sample, (size_t)count * sizeof *scratch);
    const double median = median_of(scratch, count);
    for (int i = 0; i < count; i++)
        scratch[i] = fabs(sample[i] - median);
    const double distance = median_of(scratch, count);
    return (struct kal_times){ .median = median,
                               .spread = median > 0.0 ? distance / median : 0.0,
                               .count = count };
}

// How many values at one end of `count` sorted ones lie beyond the median with no more than
// `risk` of error: the largest k with P(Binomial(count, 1/2) < k) <= risk.
static int beyond(int count, double risk)
{
    double term = ldexp(1.0, -count), sum = term;
    int k = 0;
    while (sum <= risk && k < count) {
        k++;
        term *= (double)(count - k + 1) / k;
        sum += term;
    }
    return k;
}

static bool is_much_slower(const double *sorted, int rounds)
{
    return rounds >= FEW_ROUNDS && sorted[0] > log(MUCH_SLOWER);
}

enum kal_ruling kal_race_rule(const double *incumbent, const double *challenger,
                              int rounds)
{
    double ratio[KAL_RACE_MOST_ROUNDS]; // logarithms: symmetric about no difference
    const double margin = log1p(-kal_race_margin);

    rounds = (int)kal_min(rounds, KAL_RACE_MOST_ROUNDS);
    if (rounds < FEW_ROUNDS)
        return KAL_RULING_OPEN;
    for (int i = 0; i < rounds; i++)
        ratio[i] = incumbent[i] > 0.0 && challenger[i] > 0.0
                       ? log(challenger[i] / incumbent[i])
                       : 0.0; // a time too short for the clock says nothing
    const double median = median_of(ratio, rounds);
    const int win = beyond(rounds, WIN_RISK), loss = beyond(rounds, LOSS_RISK);
    if (is_much_slower(ratio, rounds))
        return KAL_RULING_NOT_FASTER;
    if (rounds >= KAL_RACE_LEAST_ROUNDS && win > 0 && median < margin &&
        ratio[rounds - win] < 0.0)
        return KAL_RULING_FASTER;
    if (rounds >= KAL_RACE_LEAST_ROUNDS && loss > 0 && ratio[loss - 1] > margin)
        return KAL_RULING_NOT_FASTER;
    return KAL_RULING_OPEN;
}
