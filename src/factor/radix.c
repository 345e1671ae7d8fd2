// SPDX-License-Identifier: MIT
#include "factor/radix.h"

#include "base/base.h"
#include "factor/recipe.h"

struct radix {
    int radix;
    int plain;   // real additions + multiplications
    int twiddle; // instructions in FMA form, twiddles included
};

// The codelets that kallima-gen writes, with the counts that `kallima codelet N --ops` gives.
// clang-format off
static const struct radix radices[] = {
    {  2,   4,   8 }, {  3,  16,  20 }, {  4,  16,  28 }, {  5,  44,  48 },
    {  6,  44,  56 }, {  7,  96,  84 }, {  8,  56,  80 }, {  9, 120, 112 },
    { 10, 108, 120 }, { 11, 240, 180 }, { 12, 112, 140 }, { 13, 244, 224 },
    { 14, 220, 204 }, { 15, 212, 212 }, { 16, 168, 204 }, { 17, 412, 360 },
    { 19, 656, 468 }, { 20, 256, 284 }, { 23, 900, 660 }, { 24, 296, 344 },
    { 25, 536, 448 }, { 27, 600, 484 }, { 29, 1156, 870 }, { 31, 1144, 920 },
    { 32, 456, 496 },
};
// clang-format on

// Loads, stores and address arithmetic of one point in one step, in instructions.
static const double TRAFFIC = 5.0;

static const struct radix *find_radix(int64_t r)
{
    for (size_t i = 0; i < KAL_COUNT(radices); i++) {
        if (radices[i].radix == r)
            return &radices[i];
    }
    return NULL;
}

bool kal_radix_exists(int64_t r)
{
    return find_radix(r) != NULL;
}

bool kal_radix_divides(int64_t n)
{
    static const int primes[] = { 2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31 };
    for (size_t i = 0; i < KAL_COUNT(primes); i++) {
        while (n % primes[i] == 0)
            n /= primes[i];
    }
    return n == 1;
}

double kal_radix_cost(int r)
{
    const struct radix *entry = find_radix(r);
    // Beyond 20 points values spill from 32 registers.
    const double spills = r > 20 ? 1.5 : 0.0;
    return entry ? (double)entry->twiddle / r + TRAFFIC + spills : 0.0;
}

int kal_radix_operations(int r)
{
    const struct radix *entry = find_radix(r);
    return entry ? entry->plain : 0;
}

// Best sequence with radices no larger than radices[last]: so each multiset is tried once.
static double search(int64_t n, int last, int *radix, int room, int *count)
{
    double best = -1.0;
    int trial[KAL_MAX_STEPS];

    *count = -1;
    if (n == 1) {
        *count = 0;
        return 0.0;
    }
    if (room == 0)
        return best;
    for (int i = last; i >= 0; i--) {
        if (n % radices[i].radix != 0)
            continue;
        int tail;
        const double rest = search(n / radices[i].radix, i, trial + 1, room - 1, &tail);
        const double cost = rest + kal_radix_cost(radices[i].radix);
        if (tail < 0 || (best >= 0.0 && cost >= best))
            continue;
        best = cost;
        trial[0] = radices[i].radix;
        *count = tail + 1;
        for (int j = 0; j < *count; j++)
            radix[j] = trial[j];
    }
    return best;
}

int kal_radix_sequence(int64_t n, int *radix, double *cost)
{
    int count, chosen[KAL_MAX_STEPS];
    if (n < 1 || n > KAL_MAX_LOCAL || !kal_radix_divides(n))
        return -1;
    const double best = search(n, KAL_COUNT(radices) - 1, chosen, 16, &count);
    for (int i = 0; radix && i < count; i++)
        radix[i] = chosen[i];
    if (cost)
        *cost = best;
    return count;
}
