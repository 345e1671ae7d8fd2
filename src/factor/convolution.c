// SPDX-License-Identifier: MIT
#include "factor/convolution.h"

#include "math/number.h"

enum { MOST_RADICES = 3 };

struct row {
    int n, radix[MOST_RADICES];
};

// Measured on an NVIDIA H200 in November 2026, f32, 1 GiB of lines whose length is the longest
// prime that a convolution serves: of 107 sequences of radices those that no longer one is as
// fast as, 3.5 ns a line of the first to 94 of the last. What makes a sequence fast: a unit for
// each lane, no lane with more than 32 points, no more registers than there are, no two strides
// in the same banks; ten per cent less padding is not worth any of these.
static const struct row rows[] = {
    { 1024, { 32, 32 } },      { 1331, { 11, 11, 11 } },  { 1536, { 24, 8, 8 } },
    { 1600, { 20, 20, 4 } },   { 2048, { 8, 16, 16 } },   { 2304, { 16, 16, 9 } },
    { 2560, { 16, 16, 10 } },  { 2744, { 14, 14, 14 } },  { 3072, { 32, 32, 3 } },
    { 3375, { 15, 15, 15 } },  { 4096, { 32, 32, 4 } },   { 4352, { 16, 16, 17 } },
    { 5120, { 20, 16, 16 } },  { 6250, { 25, 25, 10 } },  { 6400, { 25, 16, 16 } },
    { 6912, { 24, 24, 12 } },  { 8192, { 16, 32, 16 } },  { 8400, { 25, 24, 14 } },
    { 9216, { 24, 24, 16 } },  { 9375, { 25, 25, 15 } },  { 10000, { 25, 20, 20 } },
    { 10240, { 32, 32, 10 } }, { 12288, { 16, 32, 24 } }, { 14400, { 25, 24, 24 } },
    { 16384, { 16, 32, 32 } },
};

static bool has_rows(const struct kal_caps *caps)
{
    return caps->language && !kal_caps_is_f64(caps);
}

int64_t kal_convolution_length(int64_t least, const struct kal_caps *caps)
{
    enum { SHORTEST = 641 }; // below, less padding is faster than the first row
    if (!has_rows(caps) || least < SHORTEST)
        return 0;
    for (size_t i = 0; i < KAL_COUNT(rows); i++) {
        if (rows[i].n >= least)
            return rows[i].n <= caps->split_points ? rows[i].n : 0;
    }
    return 0;
}

int kal_convolution_radices(int64_t n, const struct kal_caps *caps, int radix[])
{
    for (size_t i = 0; has_rows(caps) && i < KAL_COUNT(rows); i++) {
        int count = 0;
        while (rows[i].n == n && count < MOST_RADICES && rows[i].radix[count]) {
            radix[count] = rows[i].radix[count];
            count++;
        }
        if (count > 0)
            return count;
    }
    return 0;
}

bool kal_convolution_beats_rader(const struct kal_axis *axis, const struct kal_caps *caps)
{
    // Measured there, too, for 20 primes from 257 to 8191.
    enum { LONGEST = 1100, LARGEST_PRIME = 13 };
    return kal_convolution_length(2 * axis->n - 1, caps) > 0 &&
           (axis->n > LONGEST || kal_greatest_prime(axis->n - 1) > LARGEST_PRIME);
}
