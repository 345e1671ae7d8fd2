// SPDX-License-Identifier: MIT
#include "factor/whole.h"

#include "factor/convolved.h"
#include "factor/radix.h"
#include "math/number.h"

static int lanes_of(const struct kal_caps *caps)
{
    return (int)kal_max(1, kal_caps_lanes(caps));
}

// The longest of two and three lines that share a tile, whose other lanes idle. Measured
// there, 43 primes and their doubles from 37 to 541, complex and real: as a mean a tile
// takes 0.7 of the time of two lines one by one, 0.5 of that of three. Two lines of
// floats lose where a codelet spills.
static bool shares_tile(int64_t points, int64_t lines, bool is_f64)
{
    enum { PAIR = 2, LARGEST_PRIME = 19 };
    static const int longest[2][2] = { { 130, 330 },
                                       { 300, 640 } }; // by precision and lines
    return lines >= PAIR && points <= longest[is_f64][lines - PAIR] &&
           (is_f64 || lines > PAIR || kal_greatest_prime(points) <= LARGEST_PRIME);
}

// Lines of up to NEAR points share tiles from a few of them on; longer ones, whose tiles
// leave the cache near a core, where they fill as many as give several threads work: how
// many there are may not be asked, since bits shall not depend on it. Measured on a Zen 4
// processor in November 2026, primes in batches: of 2600 to 10200 points padded full
// tiles take 0.33 to 0.96 of the time so, 8 lines of floats up to twice the time; 64
// lines up to four times on 16 threads.
bool kal_convolution_fills_lanes(int64_t points, int64_t lines,
                                 const struct kal_caps *caps)
{
    enum { NEAR = 2048, LONGEST = 10240, MANY_TILES = 16 };
    if (lines < KAL_TILE_LINES && !caps->language)
        return shares_tile(points, lines, kal_caps_is_f64(caps));
    return (points <= NEAR && lines >= KAL_TILE_LINES) ||
           (!caps->language && points <= LONGEST && lines >= MANY_TILES * lanes_of(caps));
}

// Times as of kal_radix_sequence(), of a tile with all lanes: by timing 204 lengths alone
// and 84 in batches on a Zen 4 processor in November 2026, held to AVX2 as well.
static const double LINE_LANES = 1.6;   // that a line alone is worth, of those of a tile
static const double HALF_TILE = 0.6;    // a tile of half the lanes of 64 bytes
static const double OF_RADER = 1.25;    // its elements are collected by an index
static const double OF_DIVISION = 1100; // a division of a line, besides
static const double OF_LINE = 750; // a convolution of a line alone, or of a tile, besides

// What one by itself takes of that where its transforms are packed lines: 50 lengths of 74
// to 22439 with a prime of 37 to 2297, measured on a Xeon in December 2026, 0.45 to 0.9.
static const double ALONE = 0.57;

// A point of a convolution, there and back.
static double point_cost(int64_t points)
{
    double cost = 0.0;
    // Lines that no tile holds are divided.
    while (points > 1 && kal_radix_sequence(points, NULL, &cost) < 0)
        points /= kal_least_prime(points);
    return cost + 10.0;
}

double kal_convolution_tiles(int64_t lines, const struct kal_caps *caps)
{
    const int lanes = lanes_of(caps);
    const int64_t rest = lines % lanes;
    const bool is_half = caps->lanes_f32 > KAL_LANES_OF_32_BYTES && 2 * rest <= lanes;
    return (double)(lines / lanes) + (rest == 0 ? 0.0 : is_half ? HALF_TILE : 1.0);
}

// The convolution of a prime, or of any length.
struct convolution {
    int64_t points;
    double cost; // of a tile of them
};

static struct convolution find_convolution(int64_t n, const struct kal_caps *caps)
{
    const struct kal_axis axis = { .n = n, .lines = 1 };
    const bool is_rader = kal_rule_rader.applies(&axis, caps);
    int64_t points[KAL_MOST_DIVIDED];

    (is_rader ? kal_rule_rader : kal_rule_bluestein).choose(&axis, caps, NULL, points);
    const double cost =
        (double)points[0] * point_cost(points[0]) * (is_rader ? OF_RADER : 1.0);
    return (struct convolution){ points[0], cost };
}

// A line of `rows` rows of a prime: those of the lines that are worked together share
// tiles, or are worked one by one, where some lanes of what is behind each other idle.
static double division_cost(int64_t prime, int64_t rows, int64_t together,
                            const struct kal_caps *caps)
{
    enum { IDLE_OF = 8, LEAST_ROWS = 4 }; // which is what a division says that it has
    const struct convolution c = find_convolution(prime, caps);
    const int lanes = lanes_of(caps);

    if (kal_convolution_fills_lanes(c.points, kal_max(rows, LEAST_ROWS), caps))
        return (OF_DIVISION + kal_convolution_tiles(rows * together, caps) * c.cost) /
               (double)together;
    return OF_DIVISION + ((double)rows + (double)lanes / IDLE_OF) *
                             (c.cost * LINE_LANES / lanes + OF_LINE);
}

// A line of an axis, of which so many, if not all, are worked together.
static double whole_cost(const struct kal_axis *axis, int64_t together,
                         const struct kal_caps *caps)
{
    const struct convolution c = find_convolution(axis->n, caps);
    const double one = c.cost * LINE_LANES / lanes_of(caps) + OF_LINE;

    if (kal_axis_is_convolved_alone(axis, c.points, caps))
        return one * ALONE;
    return kal_convolution_fills_lanes(c.points, axis->lines, caps)
               ? kal_convolution_tiles(together, caps) * (c.cost + OF_LINE) /
                     (double)together
               : one;
}

bool kal_whole_beats_division(const struct kal_axis *axis, const struct kal_caps *caps)
{
    enum { SHARED = 4096 }; // points of a line whose division several threads would share
    static const double WORTH = 1.25;
    if (caps->language || axis->is_real)
        return false;
    const int64_t prime = kal_greatest_prime(axis->n), rows = axis->n / prime;
    const int64_t near = axis->array_lines;
    if (kal_radix_exists(prime) || rows == 1)
        return false;
    const double whole = whole_cost(axis, near ? near : axis->lines, caps);
    return whole * (axis->n >= SHARED ? WORTH : 1.0) <
           division_cost(prime, rows, near ? near : 1, caps);
}

// Measured on a Zen 4 processor in November 2026, single primes up to 3000 whose
// predecessor has no such factor: floats take 0.31 to 1.04 of the time so, doubles of up
// to 277 points 0.39 to 0.96; longer ones 0.72 to 0.88 where Rader's has codelets of 29
// and 31, else 0.92 to 1.22. 7297 floats take 1.3 times as long on a Xeon.
bool kal_padding_beats_rader(const struct kal_axis *axis, const struct kal_caps *caps)
{
    enum { LONGEST = 3000, SHORT_F64 = 400, LARGEST_PRIME_F64 = 23 };
    const struct kal_axis rader = { .n = axis->n - 1, .lines = 1, .is_convolved = true };

    if (kal_axis_is_convolved_alone(axis, rader.n, caps))
        return kal_padding_is_faster_alone(axis, caps);
    if (caps->language || caps->lanes_f32 == 1 || axis->n > LONGEST ||
        kal_convolution_fills_lanes(rader.n, axis->lines, caps) ||
        kal_line_rows(&rader, caps) > 0)
        return false;
    return !kal_caps_is_f64(caps) || axis->n < SHORT_F64 ||
           kal_greatest_prime(rader.n) > LARGEST_PRIME_F64;
}
