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
    // Below, less padding is faster than the first row. Through OpenGL, where memory near
    // a processor is short, 4099 points take 0.9 of the time by the row behind 8400 that
    // they take by it.
    enum { SHORTEST = 641, SLOW_WHERE_SHORT = 8400 };
    const bool is_short = kal_caps_is_short_of_memory(caps);
    if (!has_rows(caps) || least < SHORTEST)
        return 0;
    for (size_t i = 0; i < KAL_COUNT(rows); i++) {
        if (rows[i].n >= least && !(is_short && rows[i].n == SLOW_WHERE_SHORT))
            return rows[i].n <= caps->split_points ? rows[i].n : 0;
    }
    return 0;
}

static int find_radices(const struct row *row, size_t row_count, int64_t n, int radix[])
{
    int count = 0;
    for (size_t i = 0; i < row_count && count == 0; i++) {
        while (row[i].n == n && count < MOST_RADICES && row[i].radix[count]) {
            radix[count] = row[i].radix[count];
            count++;
        }
    }
    return count;
}

// Where GLSL is faster by others: through Vulkan on that GPU 509 points take 0.75 of the
// time that they take by 32 and 32, 1487 points 0.79; of 2039 and more the rows above
// were faster. Through OpenGL, where memory is short, 509 points take 1.14.
static const struct row glsl_rows[] = {
    { 1024, { 16, 8, 8 } },
    { 3072, { 16, 16, 12 } },
};

int kal_convolution_radices(int64_t n, const struct kal_caps *caps, int radix[])
{
    const bool is_glsl = kal_caps_takes_glsl(caps) && !kal_caps_is_short_of_memory(caps);
    if (!has_rows(caps))
        return 0;
    const int count =
        is_glsl ? find_radices(glsl_rows, KAL_COUNT(glsl_rows), n, radix) : 0;
    return count ? count : find_radices(rows, KAL_COUNT(rows), n, radix);
}

// The same for convolutions of two passes, whose columns and rows these are, and what a
// point takes, in hundredths of a picosecond: measured there, too, some 450 convolutions
// of 50 primes. Short columns leave room for several groups of a processor, and most of
// the fused passes wait for one.
static const struct pair {
    int columns, rows, cost;
} pairs[] = {
    { 128, 160, 990 },   { 64, 384, 1080 },    { 64, 512, 1065 },   { 180, 192, 1138 },
    { 64, 640, 1166 },   { 128, 384, 1149 },   { 200, 256, 1283 },  { 128, 512, 1106 },
    { 200, 384, 1163 },  { 400, 256, 1192 },   { 64, 2048, 1093 },  { 64, 2304, 1100 },
    { 400, 384, 1096 },  { 64, 2560, 1071 },   { 400, 432, 1210 },  { 400, 512, 1146 },
    { 512, 512, 1001 },  { 240, 1280, 1193 },  { 64, 5120, 1125 },  { 240, 1920, 1119 },
    { 320, 1920, 1232 }, { 320, 2048, 1196 },  { 400, 2048, 1238 }, { 200, 5120, 1323 },
    { 512, 2048, 1684 }, { 1024, 1536, 1311 }, { 256, 8192, 1313 }, { 1024, 2048, 1363 },
    { 512, 5120, 1504 }, { 512, 8192, 1508 },
};

// Of the lengths above, the radices that they were measured with.
static const struct row factors[] = {
    { 64, { 8, 8 } },         { 128, { 8, 16 } },       { 160, { 16, 10 } },
    { 180, { 15, 12 } },      { 192, { 16, 12 } },      { 200, { 20, 10 } },
    { 240, { 16, 15 } },      { 256, { 16, 16 } },      { 320, { 20, 16 } },
    { 384, { 24, 16 } },      { 400, { 20, 20 } },      { 432, { 27, 16 } },
    { 512, { 32, 16 } },      { 640, { 32, 20 } },      { 1024, { 32, 32 } },
    { 1280, { 16, 10, 8 } },  { 1536, { 24, 8, 8 } },   { 1920, { 16, 12, 10 } },
    { 2048, { 16, 16, 8 } },  { 2304, { 16, 16, 9 } },  { 2560, { 16, 16, 10 } },
    { 5120, { 20, 16, 16 } }, { 8192, { 32, 16, 16 } },
};

// Of doubles, rows that leave no room for a second group are slower than longer columns.
static bool fits(const struct pair *pair, const struct kal_caps *caps)
{
    const int64_t longest = caps->local_points / (kal_caps_is_f64(caps) ? 4 : 1);
    return pair->columns * caps->transaction_lines <= caps->local_points &&
           pair->rows <= longest;
}

int64_t kal_convolution_columns(int64_t least, const struct kal_caps *caps,
                                int64_t *length)
{
    enum { SHORTEST = 16385 }; // up to there one pass does, or less padding
    const struct pair *best = NULL;
    double least_cost = 0.0;

    for (size_t i = 0; i < KAL_COUNT(pairs) && least >= SHORTEST; i++) {
        const struct pair *pair = &pairs[i];
        const int64_t n = (int64_t)pair->columns * pair->rows;
        const double cost = (double)n * pair->cost;
        if (n < least || !fits(pair, caps) || (best && cost >= least_cost))
            continue;
        best = pair;
        least_cost = cost;
    }
    *length = best ? (int64_t)best->columns * best->rows : 0;
    return best ? best->columns : 0;
}

int kal_convolution_step_radices(int64_t n, int radix[])
{
    return find_radices(factors, KAL_COUNT(factors), n, radix);
}

bool kal_convolution_beats_rader(const struct kal_axis *axis, const struct kal_caps *caps)
{
    // Measured there, too, for 20 primes from 257 to 8191.
    enum { LONGEST = 1100, LARGEST_PRIME = 13 };
    return kal_convolution_length(2 * axis->n - 1, caps) > 0 &&
           (axis->n > LONGEST || kal_greatest_prime(axis->n - 1) > LARGEST_PRIME);
}

bool kal_convolution_beats_division(const struct kal_axis *axis,
                                    const struct kal_caps *caps)
{
    const int64_t least = 2 * axis->n - 1;
    int64_t length;

    if (!caps->language || axis->is_real || axis->lines_are_adjacent ||
        axis->is_first_step || axis->is_second_step)
        return false;
    const struct kal_axis prime = { .n = kal_greatest_prime(axis->n),
                                    .lines = axis->lines };
    if (prime.n <= kal_caps_largest_prime(caps))
        return false;
    return kal_convolution_length(least, caps) > 0 ||
           (kal_convolution_columns(least, caps, &length) > 0 &&
            (!kal_rule_rader.applies(&prime, caps) ||
             kal_convolution_beats_rader(&prime, caps)));
}
