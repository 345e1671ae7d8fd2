// SPDX-License-Identifier: MIT
// n = n1 * n2: transforms of length n1 down the columns of an n1 x n2 array, a twiddle,
// transforms of length n2 along the rows, the result read down the columns. Of a real line the
// columns are real, and half of the rows are the conjugates of others.
// Source: W. M. Gentleman and G. Sande, AFIPS Proc. 29 (1966) 563-578.
#include "codelet/lengths.h"
#include "factor/convolution.h"
#include "factor/radix.h"
#include "math/number.h"

#include <limits.h>
#include <math.h>

// A column pass is one tile of 16 columns; a row pass transposes rows to tiles. Up to NEAR_LIMIT
// points these stay near the core; where that does not do, longer ones beat a third pass: measured
// on a Zen 4 processor in November 2026, 2^23 to 2^27 points took 0.26 to 0.52 of the time.
enum { NEAR_LIMIT = 2048, COLUMN_LIMIT = 8192, ROW_LIMIT = KAL_MAX_LOCAL, LANES = 16 };

static bool applies(const struct kal_axis *axis, const struct kal_caps *caps)
{
    if (axis->is_real)
        return kal_real_is_divided(axis, caps);
    return axis->n >= 4 && !kal_is_prime(axis->n);
}

// Lanes that compute nothing make `lines` lines this many times dearer.
static double waste(int64_t lines)
{
    return (double)kal_round_up(lines, LANES) / (double)lines;
}

enum { FEW_LINES = 3 };

static int64_t pair_bytes(const struct kal_caps *caps)
{
    return kal_caps_is_f64(caps) ? 16 : 8;
}

static bool takes_two_steps(int64_t n)
{
    for (int64_t r = 2; r * r <= n; r++) {
        if (n % r == 0 && kal_radix_exists(r) && kal_radix_exists(n / r))
            return true;
    }
    return false;
}

// As many as kal_lines_stay_apart() lets threads have by themselves; rows of fewer in an
// array are worked by all, array by array.
static bool are_many(const struct kal_axis *axis, int64_t line_bytes)
{
    enum { MANY_LINES = 16 };
    return axis->lines >= MANY_LINES &&
           (axis->array_bytes == 0.0 ||
            axis->array_bytes >= (double)(MANY_LINES * line_bytes));
}

// Longer lines that one thread works beside others, each while it is near: of which the
// engine has that many to share out. Elsewhere each step of theirs is a pass through the
// cache behind. Measured in November 2026, 16 and 64 lines: of 40960 to 65536 doubles and
// 81920 to 131072 floats 10 lengths take 0.65 to 1.0 of the time so on a Zen 5 processor,
// 0.77 to 1.02 on a Xeon, 0.61 to 1.11 on its sixteen threads, 0.82 as a mean; doubles
// twice as long 0.65 to 1.05, 0.87 to 1.0 and 0.68 to 0.8, floats 0.77 to 0.99 on the
// former, 1.0 to 1.13 on the latter. Columns that no power of two divides need radices of
// 15 and 25, and lose by it. Rows of arrays of as many take 0.76 to 0.88 on the former,
// of four 1.0 to 1.16, halves of real lines mirrored before 0.86 to 0.95, behind 0.88 to
// 1.14; on the latter these were not timed.
static bool is_one_of_many(const struct kal_axis *axis, const struct kal_caps *caps)
{
    enum { MULTIPLE = 64, NEAR_BYTES = 512 << 10 };
    enum { LONGEST_BYTES = 2 << 20, LONGEST_DEAR_F32 = 1 << 20 };
    const int64_t bytes = axis->n * pair_bytes(caps);
    const bool are_dear = caps->steps_are_dear;
    const bool is_dear_f32 = are_dear && !kal_caps_is_f64(caps);
    const bool is_plain = axis->array_bytes == 0.0 && !axis->mirrors_first;

    if (!kal_caps_has_64_bytes(caps) || caps->waits_for_stores || axis->is_convolved ||
        axis->mirrors_last || (are_dear && !is_plain))
        return false;
    return are_many(axis, bytes) && axis->n % MULTIPLE == 0 && bytes > NEAR_BYTES &&
           bytes <= (is_dear_f32 ? LONGEST_DEAR_F32 : LONGEST_BYTES);
}

// Doubles take rows of 16 on a Zen 5 processor, whatever their columns take: 20480 to
// 32768 points, 4 to 128 lines, 0.71 to 0.95 of the time of rows of 8.
static bool fills_with_doubles(const struct kal_axis *axis, const struct kal_caps *caps)
{
    return kal_caps_is_f64(caps) && kal_caps_has_64_bytes(caps) &&
           kal_caps_has_fast_twins(caps) && !axis->is_convolved;
}

// Rows of a line whose roots the engine has as products, since a table of all takes a
// good part of the cache that holds the line: columns fill registers then, and more than
// a few lines, and those of convolutions, need rows of several registers only where these
// leave one step less. Measured in November 2026 by timing 210 lines of 256 to 512 KiB,
// one to 16 at once, with both: by rows of 16 they take 0.94 of the time of 32 on a Zen 5
// processor, powers of two 0.65 to 0.9, but 1.02 on a Xeon, few doubles of 256 KiB 1.2.
// Longer ones take those of 32 from where tiles of columns leave the nearer cache.
static int64_t rows_of_products(const struct kal_axis *axis, const struct kal_caps *caps)
{
    enum { LEAST_BYTES = 256 << 10, MOST_COLUMNS = 3072 };
    static const int rows[] = { 32, 16 };
    const bool is_longer = is_one_of_many(axis, caps);
    const bool is_any = is_longer || fills_with_doubles(axis, caps) ||
                        (axis->lines <= FEW_LINES && !axis->is_convolved);
    const bool takes_32 =
        is_longer ? axis->n / rows[1] > MOST_COLUMNS : caps->steps_are_dear;

    if (axis->n * pair_bytes(caps) < LEAST_BYTES)
        return 0;
    for (size_t i = takes_32 ? 0 : 1; i < KAL_COUNT(rows); i++) {
        if (axis->n % rows[i] == 0 && (is_any || takes_two_steps(axis->n / rows[i])))
            return rows[i];
    }
    return 0;
}

// The longest line that is worked on its own lanes: with its scratch it stays near a
// core. A few longer ones with all of their roots are left to several threads, but for
// those of a convolution, which one thread works. Measured on a Zen 4 processor and on a
// Xeon in November 2026, by timing lines with both recipes. Halves of 512 KiB that are a
// power of two and mirrored behind take 0.65 to 0.72 of the time in tiles on a Zen 5
// processor, on a Xeon 0.85, on its sixteen threads 0.27 and 0.7.
static int64_t longest_line(const struct kal_axis *axis, const struct kal_caps *caps)
{
    enum { LONGEST_BYTES = 512 << 10, FEW_BYTES = 256 << 10, LONGEST_ALONE = 32768 };
    if (is_one_of_many(axis, caps))
        return axis->n;
    if (axis->lines <= FEW_LINES && axis->mirrors_last && (axis->n & (axis->n - 1)) == 0)
        return FEW_BYTES / pair_bytes(caps);
    if (axis->lines > FEW_LINES || axis->is_convolved || rows_of_products(axis, caps) > 0)
        return LONGEST_BYTES / pair_bytes(caps);
    return axis->lines == 1 ? LONGEST_ALONE : FEW_BYTES / pair_bytes(caps);
}

// Half of a short real line, of many, is better in a tile with its mirrored step.
static bool is_short_half(const struct kal_axis *axis, bool is_f64)
{
    enum { SHORT_F32 = 256, SHORT_F64 = 128, MANY_LINES = 16 };
    return (axis->mirrors_first || axis->mirrors_last) && axis->lines >= MANY_LINES &&
           axis->n <= (is_f64 ? SHORT_F64 : SHORT_F32);
}

// Do the rows of a line fill one register, and a small part of a second one? Then tiles are
// faster, if there are lines to fill them with. Not so on a Zen 5 processor if registers hold
// two lines: 72 floats take 0.75 to 0.96 of the time by rows.
static bool is_better_in_tiles(const struct kal_axis *axis, int64_t rows, int64_t lanes,
                               const struct kal_caps *caps)
{
    const bool are_twins_fast = kal_caps_has_fast_twins(caps) && !kal_caps_is_f64(caps) &&
                                2 * lanes == caps->lanes_f32;
    return axis->lines >= LANES && rows > lanes && rows * 8 <= lanes * 9 &&
           !are_twins_fast;
}

// Rows of a line that fill registers: as long as these have lanes, or half of that, on
// columns at least as many. Registers of 16 bytes are left to lines too few and too short
// for wider ones. Rows that fill several divide the columns of a long line among threads,
// if it comes from the user. Measured on a Zen 4 processor and on a Xeon, by timing lines
// with both recipes.
struct width {
    int rows;
    bool is_f64;
    bool takes_merged, takes_split;    // halves of real lines, mirrored before, behind
    int most_lines, shortest, longest; // that it is for; 0: any
};

static bool fits_width(const struct kal_axis *axis, const struct width *width)
{
    const bool is_limited = width->longest > 0;

    if (is_limited && (axis->is_convolved || axis->lines > width->most_lines ||
                       axis->n < width->shortest || axis->n > width->longest))
        return false;
    return (width->takes_merged || !axis->mirrors_first) &&
           (width->takes_split || !axis->mirrors_last) && axis->n % width->rows == 0 &&
           axis->n / width->rows >= width->rows;
}

// Rows of half the lanes, of two lines at once: where arrays leave the nearer cache they
// are faster, though not for the rows of arrays of doubles, nor of powers of two.
// Measured on a Zen 5 processor in November 2026: in batches of 1 to 16 MB 29 lengths of
// floats take 0.65 to 0.95 of the time so, 19 of doubles 0.7 to 1.03. 1024 floats take as
// long by either, more doubles up to 1.2 times as long, halves of real lines up to 1.4.
static int64_t narrow_rows(const struct kal_axis *axis, bool is_f64)
{
    enum { FLOATS = 8, FLOATS_FROM = 256, FLOATS_TO = 1024 };
    enum { DOUBLES = 4, DOUBLES_FROM = 64, DOUBLES_TO = 256 };
    const int64_t n = axis->n, rows = is_f64 ? DOUBLES : FLOATS;
    const bool is_kept_wide = axis->array_bytes > 0.0 && (is_f64 || (n & (n - 1)) == 0);

    if (axis->lines < 2 || axis->mirrors_first || axis->mirrors_last || is_kept_wide ||
        n % rows != 0 || n < (is_f64 ? DOUBLES_FROM : FLOATS_FROM) ||
        n >= (is_f64 ? DOUBLES_TO : FLOATS_TO))
        return 0;
    return rows;
}

// Lines of elements that lie apart are collected for tiles, if they are enough for one:
// two passes would collect them twice. Measured on a Zen 5 processor in November 2026: of
// 64 to 4096 points 16 and more take 0.44 to 1.02 of the time so, these and up to seven
// 0.4 to 1.1, two and three 1.1 to 6.
bool kal_line_fills_tiles(const struct kal_axis *axis, const struct kal_caps *caps)
{
    enum { LEAST_F32 = 6, LEAST_F64 = 4 };
    return axis->elements_are_apart &&
           axis->lines >= (kal_caps_is_f64(caps) ? LEAST_F64 : LEAST_F32);
}

// Lines of one codelet of numbers, several of which a register of 32 bytes holds: rows of
// arrays, and doubles that do not go past the caches. Measured on a Zen 3 processor in
// November 2026: 4 to 2048 lines of 64 doubles take 0.67 to 0.84 of the time so, 4096 1.6
// times as long, and of floats 0.8 to 2.3 times.
static bool is_longest_codelet(const struct kal_axis *axis, const struct kal_caps *caps)
{
    enum { PAIR_BYTES = 16, MOST_BYTES = 4 << 20 };
    const bool is_near = kal_caps_is_f64(caps) && axis->lines > 3 &&
                         axis->lines * axis->n * PAIR_BYTES < MOST_BYTES;
    return kal_caps_holds_numbers(caps) && axis->n == KAL_NUMBERS_MAX &&
           (axis->array_bytes > 0.0 || is_near) && !axis->mirrors_first &&
           !axis->mirrors_last;
}

// One codelet reads elements wherever they are, and takes a tenth of the time of two steps.
static bool is_codelet_apart(const struct kal_axis *axis)
{
    const bool is_half = axis->mirrors_first || axis->mirrors_last;
    return axis->elements_are_apart &&
           axis->n <= (is_half ? KAL_REAL_MAX / 2 : KAL_TWIDDLED_MAX) &&
           kal_length_is_compiled(axis->n, false);
}

// Rows of two registers where those leave two steps of columns by which the line is
// worked in its output, and rows of one do not: 12288 floats take 0.89 of the time so on
// a Xeon, 8192 doubles 0.96.
static bool folds_by_two_registers(const struct kal_axis *axis,
                                   const struct kal_caps *caps)
{
    const int lanes = kal_caps_lanes(caps);
    return caps->steps_are_dear && axis->lines == 1 && !axis->mirrors_first &&
           !axis->is_convolved && axis->n % (2 * lanes) == 0 &&
           !kal_radix_exists(axis->n / lanes) &&
           !kal_radix_folds_in_two(axis->n / lanes, lanes) &&
           kal_radix_folds_in_two(axis->n / (2 * lanes), lanes);
}

// The engine turns such rows in registers. Longer lines would leave the caches near a core.
int64_t kal_line_rows(const struct kal_axis *axis, const struct kal_caps *caps)
{
    enum { LARGEST_PRIME = 13 };
    static const struct width widths[] = {
        { 32, false, false, true, 1, 16384, INT_MAX },
        { 16, false, true, true, 0, 0, 0 },
        { 8, false, true, true, 0, 0, 0 },
        { 4, false, false, false, FEW_LINES, 16, 256 },
        { 32, true, false, true, 1, 8193, INT_MAX },
        { 16, true, false, true, 1, 8193, INT_MAX },
        { 8, true, true, true, 0, 0, 0 },
        { 4, true, false, false, 0, 0, 0 },
    };
    const bool is_f64 = kal_caps_is_f64(caps);

    if (caps->language || caps->lanes_f32 == 1 || axis->is_real || axis->is_second_step ||
        axis->lines_are_adjacent || kal_line_fills_tiles(axis, caps) ||
        (axis->array_bytes > 0.0 && axis->elements_are_apart) || is_codelet_apart(axis) ||
        is_short_half(axis, is_f64) || is_longest_codelet(axis, caps) ||
        axis->is_of_numbers || (axis->shares_tile && !axis->is_convolved) ||
        axis->n > longest_line(axis, caps) ||
        !kal_radix_divides_kernel(axis->n, LARGEST_PRIME))
        return 0;
    const int64_t narrow = narrow_rows(axis, is_f64);
    if (narrow > 0)
        return narrow;
    if (folds_by_two_registers(axis, caps))
        return 2 * kal_caps_lanes(caps);
    const int64_t long_rows = rows_of_products(axis, caps);
    if (long_rows > 0)
        return long_rows;
    for (size_t i = 0; i < KAL_COUNT(widths); i++) {
        if (widths[i].is_f64 == is_f64 && fits_width(axis, &widths[i])) {
            const int64_t r = widths[i].rows;
            return is_better_in_tiles(axis, axis->n / r, r, caps) ? 0 : r;
        }
    }
    return 0;
}

// Relative cost of a pass over lines of length n, `lines` at a time.
static double pass_cost(int64_t n, int64_t lines, int64_t limit)
{
    double cost;
    if (n > limit || kal_radix_sequence(n, NULL, &cost) < 0)
        cost = 60.0 * (1.0 + log2((double)n)); // further passes
    return (cost + 10.0) * waste(lines);
}

// On a CPU columns are read in pieces of neighbours, as far apart as a row is long, and
// long rows are written side by side, as far apart as there are rows: pieces begin on
// lines of the caches where as many numbers fill such lines, of which one has `filling`;
// 1: no matter. Others touch a line more, and cannot go past the caches, which on a Xeon
// costs more than the other, on a Zen 4 processor less. Measured in November 2026: 66
// lines of 33000 to 4 million points that are no powers of two and have other lengths
// since both count take 0.94 of the time on the latter, 0.98 on the former and on 16
// threads of it.
static double misplacement(int64_t n, int64_t columns, int filling)
{
    enum { SHORTEST = 16384 };
    static const double READ = 6.0, WRITTEN = 8.0; // as of pass_cost()
    if (n < SHORTEST)
        return 0.0;
    return (n / columns % filling ? READ : 0.0) + (columns % filling ? WRITTEN : 0.0);
}

// On a CPU tiles of longer lines leave the nearest cache between all their steps, where
// shorter ones of the same line need not, and are too few for several threads. Measured
// on a Xeon in November 2026, 70 lengths of 8910 to 67914 points take 0.59 of the time so
// on 16 threads, 0.99 on one. Of longer lines passes of no more than 1024 points take as
// long as others.
static double remoteness(int64_t n, int64_t columns, int filling)
{
    enum { LONGEST = 65536, MOST_NEAR = 512 };
    static const double FAR = 8.0; // as of pass_cost()
    return filling > 1 && n <= LONGEST && kal_max(columns, n / columns) > MOST_NEAR ? FAR
                                                                                    : 0.0;
}

// On a CPU results that are written 4 KiB apart all fall on the same sets of each cache.
// Measured in November 2026, 65536, 98304 and 131072 doubles take 0.75, 0.80 and 0.86 of
// the time by other columns than 256 on a Zen 5 processor, 1.0, 0.86 and 0.87 on a Xeon;
// longer ones as long.
static double crowding(int64_t n, int64_t columns, int filling)
{
    enum { PAGE_LINES = 64, LONGEST_LINES = 32768 };
    static const double CROWDED = 16.0; // as of pass_cost()
    return filling > 1 && n <= (int64_t)LONGEST_LINES * filling &&
                   columns % ((int64_t)PAGE_LINES * filling) == 0
               ? CROWDED
               : 0.0;
}

// The shorter side is sought up to a length beyond which no memory holds the line.
static int64_t cheapest_columns(int64_t n, int64_t columns, int64_t rows, int filling)
{
    enum { LONGEST_SIDE = 1 << 21 };
    int64_t best = 0;
    double best_cost = 0.0;

    for (int64_t d = 2; d <= kal_min(n / d, LONGEST_SIDE); d++) {
        if (n % d != 0)
            continue;
        const int64_t split[2] = { d, n / d };
        for (int i = 0; i < 2; i++) {
            const int64_t n1 = split[i], n2 = n / n1;
            const double cost = pass_cost(n1, n2, columns) + pass_cost(n2, n1, rows) +
                                misplacement(n, n1, filling) +
                                remoteness(n, n1, filling) + crowding(n, n1, filling);
            if (best == 0 || cost < best_cost) {
                best = n1;
                best_cost = cost;
            }
        }
    }
    return best;
}

static bool is_one_pass(int64_t n, int64_t limit)
{
    return n <= limit && kal_radix_divides(n);
}

// Of the lowest limits at which two passes do, that of columns first; if none does, the
// planner divides further. Tiles of longer columns do not stay in L2. On a Zen 5
// processor, November 2026, 29 lines of 9 million to 2^26 points take 0.94 of the time by
// columns of up to 2048 points and longer rows, from 0.78 to 1.12, ten on two threads
// 0.88.
static int64_t best_columns(int64_t n, int filling)
{
    for (int64_t columns = NEAR_LIMIT; columns <= COLUMN_LIMIT; columns *= 2) {
        for (int64_t rows = columns; rows <= ROW_LIMIT; rows *= 2) {
            const int64_t best = cheapest_columns(n, columns, rows, filling);
            if (is_one_pass(best, columns) && is_one_pass(n / best, rows))
                return best;
        }
    }
    return cheapest_columns(n, NEAR_LIMIT, NEAR_LIMIT, filling);
}

// Longest line of which a tile of neighbours, wide enough for whole memory transactions,
// leaves room for a second group on a processor.
static int64_t longest_column(const struct kal_caps *caps)
{
    enum { SHORTEST = 64 };
    return kal_max(SHORTEST, caps->local_points / caps->transaction_lines);
}

// The shorter one, up to `most`, of two lengths whose product is n, with radices for both.
static int64_t balanced_columns(int64_t n, int64_t most, int64_t most_rows, int largest)
{
    int64_t best = 0;
    for (int64_t d = 2; d <= kal_min(n / d, most); d++) {
        if (n % d == 0 && n / d <= most_rows && kal_radix_divides_kernel(n, largest))
            best = d;
    }
    return best;
}

// Somewhat shorter columns than `best` where these take three steps, for want of
// registers, and others take two. Measured on an NVIDIA H200 in November 2026, as a
// recipe: 20000 points of f64 take 0.58 of the time by 20.5 and 20.10 that they take by
// 5.5.5 and 16.10.
static int64_t few_steps_columns(int64_t n, int64_t best, int64_t most_rows)
{
    enum { MOST_RADIX_F64 = 20, FEW = 2, LONGEST = 200 }; // longer ones were not timed
    int radix[KAL_MAX_STEPS];
    if (!best || best > LONGEST ||
        kal_radix_sequence_kernel(best, MOST_RADIX_F64, true, radix) <= FEW)
        return best;
    for (int64_t d = best - 1; 3 * d >= 2 * best; d--) {
        if (n % d == 0 && n / d <= most_rows &&
            kal_radix_sequence_kernel(d, MOST_RADIX_F64, true, radix) == FEW &&
            kal_radix_sequence_kernel(n / d, MOST_RADIX_F64, true, radix) == FEW)
            return d;
    }
    return best;
}

// How far lines of so many points are from those that two passes do best, in powers of
// two. Where memory near a processor is short these are of one length. Measured through
// OpenGL on an NVIDIA H200 in November 2026: 8388608 points take 0.84 of the time by 128,
// 256 and 256 that they take by 256, 256 and 128, 1594323 by 243, 81 and 81 0.85; 4194304
// by 128, 128 and 256 1.04 of that by 256, 128 and 128.
static double distance_of_two(int64_t n, const struct kal_caps *caps)
{
    enum { NEAR_TWO_PASSES = 16384 };
    const double unequal = 1.5;
    const double root = round(sqrt((double)n));
    const double distance = fabs(log2((double)n / NEAR_TWO_PASSES));
    return kal_caps_is_short_of_memory(caps) && root * root != (double)n
               ? distance + unequal
               : distance;
}

// Of three passes the first, whose columns have up to `most_first` points; the other two,
// up to `most` and `most_rows`, are over what stays in the cache. 0: there is none.
static int64_t first_of_three(int64_t n, int64_t most_first, int64_t most,
                              int64_t most_rows, const struct kal_caps *caps)
{
    const int largest = kal_caps_largest_prime(caps);
    int64_t best = 0;
    double best_distance = 0.0;

    for (int64_t d = 2; d <= most_first; d++) {
        if (n % d != 0 || !kal_radix_divides_kernel(d, largest) ||
            !balanced_columns(n / d, most, most_rows, largest))
            continue;
        const double distance = distance_of_two(n / d, caps);
        if (best && distance >= best_distance)
            continue;
        best = d;
        best_distance = distance;
    }
    return best;
}

// Two passes over lines of up to `most` points, both as long only where tickets leave
// scratch in the cache. Through Vulkan on an NVIDIA H200 4194304 doubles take 0.85 of the
// time by three passes. In GLSL rows are exchanged in halves, and longer: there 4194304
// points take 0.75 of the time through OpenGL, 0.83 through Vulkan, by 1024 columns and
// 4096 rows that they take by three passes, 8388608 by 2048 and 4096 0.94 and 0.98. Of
// lengths that are no powers of two 6000000 takes 0.80 through OpenGL, 1594323, by 729
// and 2187, 0.87; but 1.22 through Vulkan.
static int64_t long_columns(int64_t n, int64_t most, int largest,
                            const struct kal_caps *caps)
{
    const bool is_power = (n & (n - 1)) == 0;
    const int64_t rows = is_power || kal_caps_is_short_of_memory(caps)
                             ? kal_longest_row_of_halves(caps)
                             : 0;
    if (caps->has_forward_progress && !kal_caps_takes_glsl(caps))
        return balanced_columns(n, most, most, largest);
    int64_t best = balanced_columns(n, most / 2, most, largest);
    for (int64_t columns = most / 2; !best && rows > 0 && columns <= most; columns *= 2)
        best = balanced_columns(n, columns, rows, largest);
    return best;
}

// Kernels: two passes of similar length; of longer lines, three.
static int64_t kernel_columns(int64_t n, bool long_first, const struct kal_caps *caps)
{
    const int64_t most = longest_column(caps);
    const int64_t narrow = kal_longest_of_half_tiles(most);
    const int64_t narrowest = kal_longest_second_step(caps);
    const int64_t sectors = kal_longest_of_sectors(caps);
    const int largest = kal_caps_largest_prime(caps);
    int64_t best = balanced_columns(n, most, narrow, largest);

    if (kal_caps_is_f64(caps))
        best = few_steps_columns(n, best, narrow);
    // Long columns first, where tiles of them are wide and leave no tile half empty.
    if (long_first && best && n / best <= most && best % caps->transaction_lines == 0)
        return n / best;
    if (!best && narrow < narrowest) // rather than a third pass
        best = balanced_columns(n, narrow, narrowest, largest);
    if (!best)
        best = long_columns(n, sectors, largest, caps);
    if (!best)
        best = first_of_three(n, most, most, narrow, caps);
    if (!best) // rather than a fourth pass
        best = first_of_three(n, narrow, narrow, narrowest, caps);
    return best ? best : best_columns(n, 1);
}

static int64_t choose_columns(const struct kal_axis *axis, const struct kal_caps *caps)
{
    if (!caps->language)
        return kal_line_rows(axis, caps)
                   ? axis->n / kal_line_rows(axis, caps)
                   : best_columns(axis->n, kal_caps_is_f64(caps) ? 4 : 8);
    int64_t length;
    const int64_t convolved =
        axis->is_convolved ? kal_convolution_columns(axis->n, caps, &length) : 0;
    if (convolved && length == axis->n)
        return convolved;
    // Two reals take the place of a complex point.
    const int reals = axis->is_real && axis->n % 2 == 0 ? 2 : 1;
    const bool long_first = !axis->is_real && !axis->is_convolved;
    const int64_t columns = kernel_columns(axis->n / reals, long_first, caps);
    // Columns of so many pairs fill a wide tile of the lanes that they have.
    enum { FILLING = 512 };
    const bool fills = reals == 2 && !axis->is_backward && !kal_caps_is_f64(caps) &&
                       columns * FILLING == axis->n / reals && columns == FILLING / 2 &&
                       FILLING <= kal_longest_of_sectors(caps);
    return reals * (fills ? FILLING : columns);
}

static void choose(const struct kal_axis *axis, const struct kal_caps *caps,
                   struct kal_recipe *node, int64_t n[KAL_MOST_DIVIDED])
{
    (void)node;
    n[0] = choose_columns(axis, caps);
    n[1] = axis->n / n[0];
}

static void divide(const struct kal_axis *axis, const struct kal_caps *caps,
                   const int64_t n[KAL_MOST_DIVIDED],
                   struct kal_axis child[KAL_MOST_DIVIDED])
{
    const bool fills_lanes = kal_line_rows(axis, caps) == n[1];

    child[0] = (struct kal_axis){ .n = n[0],
                                  .lines = kal_max(n[1], 4),
                                  .is_real = axis->is_real,
                                  .is_backward = axis->is_backward,
                                  .lines_are_adjacent = true,
                                  .is_first_step = true,
                                  .is_step_of_convolution = axis->is_convolved,
                                  .fills_lanes = fills_lanes };
    child[1] = (struct kal_axis){ .n = n[1],
                                  .lines = kal_max(n[0], 4),
                                  .is_second_step = true,
                                  .is_step_of_convolution = axis->is_convolved,
                                  .fills_lanes = fills_lanes };
}

static bool complete(struct kal_recipe *node)
{
    return !__builtin_mul_overflow(node->child[0]->n, node->child[1]->n, &node->n) &&
           node->child[0]->n > 1 && node->child[1]->n > 1;
}

const struct kal_rule kal_rule_four_step = { "four-step", 2,      2,       applies,
                                             choose,      divide, complete };
