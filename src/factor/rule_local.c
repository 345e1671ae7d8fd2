// SPDX-License-Identifier: MIT
// n = r1 * r2 * ...: all steps in memory near the core, a codelet each (mixed radix).
#include "factor/convolution.h"
#include "factor/half.h"
#include "factor/order.h"
#include "factor/radix.h"
#include "math/number.h"

// Points of a line for which one visit beats the two of four-step. Adjacent lines:
// always, as far as it goes, since nothing else moves their pieces of memory as well.
// Rows, which are transposed to tiles on the way in and out: about half of L2. Rows of a
// four-step are visited once more whatever is done. A few lines leave most lanes idle;
// the steps of a single one fill registers with its neighbours, or hold each number in
// one. Measured on a Zen 4 processor in November 2026, by timing one problem with each
// recipe.
enum {
    ADJACENT_LIMIT = KAL_MAX_LOCAL,
    ROW_LIMIT = 1024,
    APART_LIMIT = 4096,
    SECOND_STEP_LIMIT = KAL_MAX_LOCAL,
    SINGLE_LIMIT = 1024,
    SINGLE_LIMIT_OF_NUMBERS = 256, // one of which fills a register
    FEW_LIMIT = 32,
    FEW_PLANAR_LIMIT = 64,
    FEW_COLUMNS_LIMIT = 512,
    FEW_LINES = 4,
};

enum { NARROW = 4 }; // tiles have this part of a memory transaction's lines: a sector's

// Do neighbouring lines lie apart in memory?
static bool is_row(const struct kal_axis *axis)
{
    return !axis->lines_are_adjacent && !axis->is_second_step;
}

// Is there no mirrored step and no product beside the DFT?
static bool is_dft_alone(const struct kal_axis *axis)
{
    return !axis->mirrors_first && !axis->mirrors_last && !axis->is_convolved;
}

// A tile of neighbours, floats in GLSL, a sector wide, whose parts are exchanged in
// halves; 0: there is none.
static int64_t longest_in_halves(const struct kal_caps *caps)
{
    enum { LONGEST = 4096 };
    return kal_caps_takes_glsl(caps) && !kal_caps_is_f64(caps)
               ? kal_min(LONGEST, caps->halved_points * NARROW / caps->transaction_lines)
               : 0;
}

// Half spectra, whose rows are no power of two apart. Measured on an NVIDIA H200 in
// November 2026: 4096x4096 reals take 0.91 of the time through OpenGL and 0.83 through
// Vulkan by columns of one pass, exchanged in halves.
static int64_t longest_column_of_reals(const struct kal_caps *caps)
{
    return kal_max(longest_in_halves(caps), kal_longest_of_sectors(caps));
}

// Kernels: a tile of neighbouring lines is as wide as memory transactions want, or a part of
// it where a second pass over memory would be the alternative.
static int64_t longest_line(const struct kal_axis *axis, const struct kal_caps *caps)
{
    enum { SHORTEST = 64 };
    const bool is_plain = !axis->shares_tile && is_dft_alone(axis);
    if (axis->shares_tile || is_row(axis))
        return is_plain ? caps->halved_points : caps->split_points;
    if (axis->is_second_step &&
        axis->is_step_of_convolution) // whose tile is written as rows
        return caps->local_points;
    const int64_t whole = axis->is_second_step
                              ? kal_longest_second_step(caps)
                              : caps->local_points * NARROW / caps->transaction_lines;
    const int64_t sectors =
        is_plain && axis->is_of_real_array ? longest_column_of_reals(caps)
        : is_plain && axis->is_second_step
            ? kal_max(kal_longest_row_of_halves(caps), kal_longest_of_sectors(caps))
            : kal_longest_of_sectors(caps);
    return kal_max(SHORTEST, kal_max(whole, sectors));
}

int64_t kal_longest_of_sectors(const struct kal_caps *caps)
{
    // Two passes, of 2048 points and of fewer, are faster than three shorter ones, two of
    // 2048 slower, by 5 percent in f32 and 10 in f64: measured through Vulkan on an
    // NVIDIA H200 in November 2026. Through OpenGL 1594323 points take 0.87 of the time
    // by 729 and 2187.
    enum { LONGEST = 2048, LONGEST_PRESSED = 2304 };
    const bool is_pressed = kal_caps_is_short_of_memory(caps);
    return kal_min(is_pressed ? LONGEST_PRESSED : LONGEST,
                   caps->split_points * NARROW / caps->transaction_lines);
}

int64_t kal_longest_row_of_halves(const struct kal_caps *caps)
{
    return kal_caps_gain_by_halves(caps) ? longest_in_halves(caps) : 0;
}

int64_t kal_longest_of_half_tiles(int64_t points)
{
    return 9 * points / 4;
}

int64_t kal_longest_second_step(const struct kal_caps *caps)
{
    // So that tiles have runs of 32 bytes in f32, 64 in f64.
    const int64_t widest = caps->local_points / caps->transaction_lines;
    return kal_longest_of_half_tiles(kal_caps_is_f64(caps) ? widest : 2 * widest);
}

// Does a convolution beat the codelet of a prime? In GLSL that has fewer registers:
// measured through Vulkan on an NVIDIA H200 in November 2026, 71 and 113 points gain 9
// and 44 percent, 61 lose 15.
static bool is_convolved_faster(int64_t n, const struct kal_caps *caps)
{
    enum { LONGEST = 61, LARGEST = 16 };
    return kal_caps_takes_glsl(caps) && n > LONGEST &&
           kal_radix_divides_kernel(n - 1, LARGEST);
}

// A prime whose values are nearly all registers of a lane: all steps of a line, or its
// first one. Twice a prime from 67 to 113, and up to 64 times, take a half to a third of
// the time that Rader's algorithm in two passes takes: measured on an NVIDIA H200 in
// November 2026.
static bool has_codelet(const struct kal_axis *axis, const struct kal_caps *caps)
{
    enum { LARGEST_BESIDE = 31 };
    const int64_t p = kal_greatest_prime(axis->n);
    const bool is_alone = p == axis->n;
    if (!kal_caps_has_registers(caps) || kal_caps_is_f64(caps) ||
        axis->lines_are_adjacent || axis->is_second_step || axis->shares_tile ||
        !kal_radix_is_printed(p) || is_convolved_faster(p, caps))
        return false;
    return is_alone || (p > kal_caps_largest_prime(caps) && !axis->shares_cache &&
                        !axis->mirrors_first && !axis->mirrors_last &&
                        kal_radix_divides_kernel(axis->n / p, LARGEST_BESIDE));
}

// Lines that are worked alone, by the steps of one pass: of those whose parts lie apart
// short halves of real ones, the others' registers would hold a number each. Measured on
// a Zen 4 processor in November 2026: planar lines of 64 to 1024 points take 0.08 to 0.6
// of the time otherwise.
static bool is_single(const struct kal_axis *axis, const struct kal_caps *caps)
{
    enum { LONGEST_HALF = 512 };
    const bool is_half = axis->mirrors_first || axis->mirrors_last;
    return axis->lines == 1 && !axis->is_convolved &&
           (!axis->is_planar ||
            (is_half && axis->n <= LONGEST_HALF && kal_line_rows(axis, caps) == 0));
}

// Its points that fill a register, the widest one, and one of up to 32 bytes.
static int widest_numbers(const struct kal_caps *caps)
{
    return (int)kal_max(1, kal_caps_lanes(caps) / 2);
}

static int single_numbers(const struct kal_caps *caps)
{
    enum { MOST_F32 = 4, MOST_F64 = 2 };
    return (int)kal_min(widest_numbers(caps),
                        kal_caps_is_f64(caps) ? MOST_F64 : MOST_F32);
}

// Rows of eight doubles on columns of eights take less than all steps in registers of
// neighbours where steps are dear, but of 24 and 32: 704 to 1024 points alone 0.82 to
// 0.94 of the time, 2, 3 and 16 lines 0.83 to 1.05 by the least of nine processes, halves
// of 960 and 1024 0.97 and 0.92, back those of 896 and 960 0.90 and 0.95, by medians;
// other halves 0.74 to 1.34. Measured on a Xeon in December 2026.
static bool is_of_eights(const struct kal_axis *axis, const struct kal_caps *caps)
{
    enum {
        EIGHTS = 64,
        LEAST = 704,
        LEAST_HALF = 960,
        LEAST_BACK = 896,
        MOST_BACK = 960
    };
    enum { TWO_STEPS = 24 * 32 };
    if (!caps->steps_are_dear || !kal_caps_is_f64(caps) || axis->n % EIGHTS != 0 ||
        axis->n == TWO_STEPS)
        return false;
    return axis->mirrors_first  ? axis->n >= LEAST_BACK && axis->n <= MOST_BACK
           : axis->mirrors_last ? axis->n >= LEAST_HALF
                                : axis->n >= LEAST;
}

// By rows that fill registers, on columns of two steps, lines are faster in two visits.
// Measured on a Zen 4 processor in November 2026, by timing lines with both recipes: 44
// lines of 1029 to 7500 points without such rows take 0.70 of the time as a mean in one
// visit, eight with columns of three steps 0.93. Longer ones are left to several threads.
// Floats are faster in one visit where registers of 64 bytes are worked by halves, 72
// lines of 1152 to 16000 points 1.09 times as fast as a mean on a Zen 4 processor, and
// with AVX2 alone up to 4000 points, 29 lines 1.14 times on it and 1.11 on a Xeon. With
// AVX-512 that has 0.93 of the speed by it from 4096 points on, and since one step of
// three ends where the output will be 1.1 times below, 75 lines and halves of real ones;
// 40 lines, real and in eights among them, up to 10080 that are no powers of two 1.06
// times on the former (7168 points 0.91). Where steps are dear lines of floats that are
// worked in their output take less in two visits: by one eight of 1280 to 3584 points
// take 1.05 to 1.16 times as long, 1.10 as a mean, of 768 and 1024 0.79 and 0.86, halves
// of 1280 to 2048 0.8 to 1.0; on the way back 2048 take 0.83 to 0.95 of the time in two,
// since what is merged is worked in the output, too.
static int64_t single_limit(const struct kal_axis *axis, const struct kal_caps *caps)
{
    enum { FEW_STEPS = 2, LONG_COLUMNS = 8192, UNEVEN_BYTES = 128 << 10 };
    enum { FLOATS = 16383, NARROW_FLOATS = 4095, MIXED_FLOATS = 10239 };
    enum { FOLDED_HALF = 2048, FOLDED_BACK = 2047 };
    const bool is_mixed = (axis->n & (axis->n - 1)) != 0; // no power of two
    const bool is_f64 = kal_caps_is_f64(caps);
    const bool is_half = axis->mirrors_first || axis->mirrors_last;
    const int64_t most_floats = is_half ? LONG_COLUMNS : FLOATS;
    if (single_numbers(caps) == 1)
        return SINGLE_LIMIT_OF_NUMBERS;
    const int64_t rows = kal_line_rows(axis, caps);
    if (rows < kal_caps_lanes(caps))
        return UNEVEN_BYTES / (is_f64 ? 16 : 8);
    if (is_of_eights(axis, caps))
        return 0;
    if (kal_radix_sequence(axis->n / rows, NULL, NULL) > FEW_STEPS)
        return is_f64 ? LONG_COLUMNS : most_floats;
    if (is_f64)
        return SINGLE_LIMIT;
    if (caps->steps_are_dear &&
        kal_radix_folds_in_two(axis->n / rows, kal_caps_lanes(caps)))
        return axis->mirrors_last    ? FOLDED_HALF
               : axis->mirrors_first ? FOLDED_BACK
                                     : SINGLE_LIMIT;
    if (caps->halves_wide)
        return most_floats;
    if (!kal_caps_holds_numbers(caps))
        return NARROW_FLOATS;
    return is_mixed ? MIXED_FLOATS : NARROW_FLOATS;
}

// Do its neighbours fill the registers of each step?
static bool fills_registers(const struct kal_axis *axis, const struct kal_caps *caps)
{
    return is_single(axis, caps) && single_numbers(caps) > 1 &&
           axis->n <= single_limit(axis, caps);
}

int kal_line_find_single(int64_t n, const struct kal_caps *caps, int *radix)
{
    return kal_radix_sequence_single(n, single_numbers(caps), widest_numbers(caps),
                                     radix);
}

bool kal_line_is_visited_once(const struct kal_axis *axis, const struct kal_caps *caps)
{
    return fills_registers(axis, caps) && kal_radix_divides(axis->n);
}

// Two or three columns of an array, whose steps fill registers with their neighbours.
static bool are_few_columns(const struct kal_axis *axis)
{
    return axis->array_bytes > 0.0 && axis->lines > 1 && axis->lines < FEW_LINES &&
           (axis->lines_are_adjacent || axis->elements_are_apart);
}

// The longest of two and three lines. Odd reals are no lines on their own lanes: on a
// tile of few lanes 80 problems of 35 to 4725 points take 0.24 to 1.1 of the time of a
// four-step, measured on a Zen 4 processor in November 2026. Nor are rows of an array
// that no register divides: 139 of 33 to 450 points take 0.11 to 1.1 so, those of less
// than 64, all, by whole numbers.
static int64_t few_limit(const struct kal_axis *axis, const struct kal_caps *caps)
{
    enum { OF_REGISTER = 16, LONG = 64 };
    static const int64_t odd[2][2] = { { 224, 512 }, { 448, 5000 } }; // f64; of three
    static const int64_t rows[2][2] = { { 135, 300 }, { 210, 450 } };
    const bool is_f64 = kal_caps_is_f64(caps), are_three = axis->lines == FEW_LINES - 1;
    if (axis->is_odd_real)
        return odd[is_f64][are_three];
    if (axis->array_bytes > 0.0 && (axis->n % OF_REGISTER != 0 || axis->n < LONG))
        return rows[is_f64][are_three];
    return axis->is_planar ? FEW_PLANAR_LIMIT : FEW_LIMIT;
}

static bool applies(const struct kal_axis *axis, const struct kal_caps *caps)
{
    if (axis->is_real)
        return false;
    if (caps->language)
        return axis->n <= longest_line(axis, caps) &&
               (has_codelet(axis, caps) ||
                kal_radix_divides_kernel(axis->n, kal_caps_largest_prime(caps)));
    const bool is_in_array = axis->array_bytes > 0.0;
    // Columns of a line that is worked on its own lanes lie in its tiles, however many.
    const int64_t limit = axis->fills_lanes                  ? KAL_MAX_LOCAL
                          : are_few_columns(axis)            ? FEW_COLUMNS_LIMIT
                          : axis->is_second_step             ? SECOND_STEP_LIMIT
                          : is_single(axis, caps)            ? single_limit(axis, caps)
                          : axis->lines < FEW_LINES          ? few_limit(axis, caps)
                          : axis->lines_are_adjacent         ? ADJACENT_LIMIT
                          : kal_line_fills_tiles(axis, caps) ? APART_LIMIT
                                                             : ROW_LIMIT;
    // Few lines of one codelet would not fill the lanes otherwise.
    const bool is_line = kal_line_rows(axis, caps) > 0;
    if (kal_radix_exists(axis->n) || axis->n == 1)
        return !is_line || is_in_array || is_single(axis, caps) ||
               axis->lines >= FEW_LINES;
    if (is_line && !fills_registers(axis, caps))
        return false;
    return axis->n <= limit && kal_radix_divides(axis->n);
}

// What decides on the largest radix.
enum {
    IS_WIDE = 1,  // a tile of neighbouring lines
    IS_MIXED = 2, // no power of two
    IS_SHARED =
        4,      // a power of two with other steps: of a convolution, of a cluster's plane
    IS_FEW = 8, // lines too few for all processors
    IS_MIRRORED = 16,
    IS_ODD = 32,
    IS_RANK = 64, // an axis of several
    IS_COLUMN_OF_REALS = 128,
    IS_MERGED = 256,   // mirrored first
    IS_LAUNCHED = 512, // with the other axes
    IS_OF_REAL_PLANE = 1024,
    IS_LAUNCHED_TILE = 2048,
    IS_PRESSED =
        4096, // on a tile with other steps, where memory near a processor is short
};

static int features(const struct kal_axis *axis, const struct kal_caps *caps)
{
    const bool is_wide = axis->lines_are_adjacent || axis->is_second_step;
    const bool is_mixed = (axis->n & (axis->n - 1)) != 0;
    const bool is_shared = !is_mixed && (axis->is_convolved || axis->is_clustered);
    const bool is_few = !is_wide && !axis->shares_tile && axis->lines < caps->processors;
    return (is_wide ? IS_WIDE : 0) | (is_mixed ? IS_MIXED : 0) |
           (is_shared ? IS_SHARED : 0) | (is_few ? IS_FEW : 0) |
           (axis->mirrors_first || axis->mirrors_last ? IS_MIRRORED : 0) |
           (axis->n % 2 ? IS_ODD : 0) | (axis->shares_cache ? IS_RANK : 0) |
           (axis->is_first_step && axis->mirrors_last ? IS_COLUMN_OF_REALS : 0) |
           (axis->mirrors_first ? IS_MERGED : 0) |
           (axis->shares_launch ? IS_LAUNCHED : 0) |
           (axis->is_of_real_plane ? IS_OF_REAL_PLANE : 0) |
           (axis->is_of_real_plane && axis->is_backward ? IS_MERGED : 0) |
           (axis->is_launched_tile ? IS_LAUNCHED_TILE : 0) |
           (axis->shares_tile && kal_caps_is_short_of_memory(caps) ? IS_PRESSED : 0);
}

static bool is_step(const struct kal_axis *axis)
{
    return axis->is_first_step || axis->is_second_step;
}

// Does this step of a line share a launch with the other one, of up to `most` points?
static bool is_beside(const struct kal_axis *axis, const struct kal_caps *caps,
                      int64_t most)
{
    return is_step(axis) && axis->lines <= most && caps->has_forward_progress;
}

// Doubles in GLSL. Where its loops are not unrolled, lines of 128 points take a third of
// the time by 8, 4, 4 that they take by 16, 8; else 4096 points take 0.88 of the time by
// 16.16.16 that they take by 8.8.8.8, 1024 columns of 1024 points 0.94 by 32.32 that they
// take by 16.16.4, and lines of 15625 and 59049 points 0.69 and 0.61 by 25 and 27. Beside
// a step of 64 or 512 points, whose codelets are of 8, 131072 points take 0.79 by such
// codelets, too. Measured through Vulkan on an NVIDIA H200 in November 2026.
static int most_radix_of_doubles(const struct kal_axis *axis, const struct kal_caps *caps)
{
    enum {
        OF_LOOPS = 10,
        MOST = 16,
        OF_ODD_STEPS = 27,
        OF_LONG_COLUMNS = 32,
        LONG = 1024
    };
    if (caps->language != KAL_LANGUAGE_GLSL_ADDRESSES)
        return OF_LOOPS;
    if (is_step(axis) && axis->n % 2)
        return OF_ODD_STEPS;
    if ((axis->lines_are_adjacent || axis->is_second_step) && axis->n >= LONG)
        return OF_LONG_COLUMNS;
    return is_beside(axis, caps, INT64_MAX) && (axis->lines == 64 || axis->lines == 512)
               ? OF_LOOPS
               : MOST;
}

static int most_radix(const struct kal_axis *axis, const struct kal_caps *caps)
{
    enum { MOST = 32 };
    return kal_caps_takes_glsl(caps) && kal_caps_is_f64(caps)
               ? most_radix_of_doubles(axis, caps)
               : MOST;
}

// The same of a step of a line whose other step, in the same launch, takes 256 lanes:
// GLSL cannot bound the registers of a lane, and those of a codelet of 32 points leave a
// processor of NVIDIA's one such group, as of 16 lines of 256 points with 16 to a lane,
// if it has memory for more. Measured through Vulkan on an NVIDIA H200 in November 2026:
// 131072 points take 0.70 of the time by 16.16 and 8.8.8 that they take by 16.16 and
// 32.16, 524288 points 0.95 by 16.32 and 16.8.8 that they take by 16.32 and 32.32.
static int most_radix_beside(const struct kal_axis *axis, const struct kal_caps *caps)
{
    enum { MOST = 27, MANY_LANES = 256, LONG = 1024 };
    const int64_t lanes = axis->is_second_step && axis->n >= LONG ? LONG / 2 : MANY_LANES;
    const int most = most_radix(axis, caps);
    const bool is_bounded = kal_caps_takes_glsl(caps) && is_beside(axis, caps, lanes) &&
                            !kal_caps_is_short_of_memory(caps);
    return is_bounded ? kal_min(MOST, most) : most;
}

// Largest radix of a kernel's steps: larger ones need fewer exchanges and more registers, so
// that fewer groups overlap. Measured on an NVIDIA H200 in November 2026, by timing one
// problem with several recipes. The first row counts whose features an axis of up to n points
// has.
static int largest_radix(const struct kal_axis *axis, const struct kal_caps *caps)
{
    // clang-format off
    static const struct {
        int features;
        int64_t n;
        int f32, f64;
    } rows[] = {
        // An exchange less: their passes wait for each other.
        { IS_LAUNCHED,           1024,      32, 32 },
        // Beside tickets a codelet of 32 points takes all registers: 32x32x32 takes 0.69 by others.
        { IS_LAUNCHED_TILE,      32,        27, 27 },
        // Fewer lanes to a tile leave more of a processor idle: 32x32x32 takes 0.9 by others.
        { IS_PRESSED,            32,        27, 27 },
        // The mirrored step holds two points of a lane: others should not hold many.
        { IS_OF_REAL_PLANE | IS_MIXED | IS_WIDE, 4096, 16, 20 },
        { IS_OF_REAL_PLANE | IS_MERGED, 4096, 16, 16 },
        // Columns of 125, 175 and 375 doubles by 25 take 0.77 to 0.92 of the time through OpenCL.
        { IS_WIDE | IS_ODD,      INT64_MAX, 27, 27 },
        // Twiddles of a store meet the values of a large odd codelet: together they spill.
        { IS_WIDE | IS_MIXED,    INT64_MAX, 27, 20 },
        { IS_SHARED,             4096,      16, 16 },
        // They wait for each codelet: short ones end sooner.
        { IS_FEW,                4096,      16, 16 },
        { IS_COLUMN_OF_REALS,    256,       16, 16 },
        { IS_COLUMN_OF_REALS,    512,       32, 32 },
        { IS_WIDE | IS_MIRRORED, INT64_MAX, 16, 16 },
        { IS_WIDE,               INT64_MAX, 32, 32 },
        // A mirrored step beside one codelet alone takes up to three times as long as beside two.
        { IS_MERGED,             4,         2,  2 },
        { IS_MERGED,             8,         4,  4 },
        { IS_MIRRORED,           8,         8,  8 },
        { IS_MIRRORED,           16,        8,  4 },
        { IS_MIRRORED,           128,       16, 16 },
        { IS_MERGED,             256,       16, 10 },
        { IS_ODD,                128,       32, 32 }, // 5^3
        { 0,                     128,       16, 16 },
        // An exchange less: their passes wait for each other.
        { IS_RANK,               512,       16, 16 },
        // Two steps: lines of 140 to 240 points take 0.92 to 1 of the time of three, 210
        // alone 1.04.
        { IS_MIXED,              250,       20, 10 },
        { 0,                     512,       10, 10 },
        { IS_MIRRORED,           INT64_MAX, 16, 16 },
        { 0,                     4096,      32, 16 },
        { 0,                     INT64_MAX, 32, 32 },
    };
    // clang-format on
    const int has = features(axis, caps);
    int i = 0;
    while ((rows[i].features & ~has) || axis->n > rows[i].n)
        i++;
    return kal_min(kal_caps_is_f64(caps) ? rows[i].f64 : rows[i].f32,
                   most_radix_beside(axis, caps));
}

// A prime that is no radix elsewhere, then the others in few steps.
static bool choose_codelet_first(const struct kal_axis *axis, const struct kal_caps *caps,
                                 struct kal_recipe *node)
{
    const int64_t p = kal_greatest_prime(axis->n);
    if (p <= kal_caps_largest_prime(caps) || !has_codelet(axis, caps))
        return false;
    node->radix[0] = (int)p;
    node->radix_count = 1 + kal_radix_sequence_kernel(axis->n / p, most_radix(axis, caps),
                                                      true, node->radix + 1);
    return node->radix_count > 0;
}

// Half of a real line of floats whose mirrored step comes first, in one pass.
static bool is_merged_line(const struct kal_axis *axis, const struct kal_caps *caps)
{
    return axis->mirrors_first && !kal_caps_is_f64(caps) && !axis->lines_are_adjacent &&
           !axis->is_second_step;
}

// A half of a real line of floats whose radices were timed.
static bool choose_half(const struct kal_axis *axis, const struct kal_caps *caps,
                        struct kal_recipe *node)
{
    if (!(axis->mirrors_first || axis->mirrors_last) || kal_caps_is_f64(caps) ||
        axis->lines_are_adjacent || axis->is_first_step || axis->is_second_step ||
        axis->shares_cache)
        return false;
    node->radix_count = kal_half_radices(axis->n, axis->mirrors_first, node->radix);
    return node->radix_count > 0;
}

// Such a line: twice as many pairs of codelets of five points as lanes leave none idle.
// Measured on an NVIDIA H200 in November 2026: lines of 800 to 2400 reals take 0.73 to
// 0.85 of the time, back from their spectrum.
static bool choose_merged(const struct kal_axis *axis, const struct kal_caps *caps,
                          struct kal_recipe *node)
{
    enum { FIRST = 5, SECOND = 20, LEAST = 4, MOST = 12 };
    const int64_t third = axis->n / (FIRST * SECOND);
    if (!is_merged_line(axis, caps) || axis->n % (FIRST * SECOND) != 0 || third < LEAST ||
        third > MOST || !kal_radix_is_printed(third))
        return false;
    node->radix[0] = FIRST;
    node->radix[1] = SECOND;
    node->radix[2] = (int)third;
    node->radix_count = 3;
    return true;
}

// Longer ones: a first codelet that a lane pairs with the one that mirrors it, and two
// large ones. Measured there, as recipes: 8192 reals take 0.84 of the time by 8.32.16
// that they take by 16.16.16, 16000 0.76 by 10.32.25, not by 20.20.20.
static bool choose_long_merged(const struct kal_axis *axis, const struct kal_caps *caps,
                               struct kal_recipe *node)
{
    enum { LEAST = 4000, MOST = 8000, FIRST = 10, LAST_FIRST = 8 };
    if (!is_merged_line(axis, caps) || axis->n < LEAST || axis->n > MOST)
        return false;
    for (int first = FIRST; first >= LAST_FIRST; first--) {
        if (axis->n % first == 0 &&
            kal_radix_sequence_kernel(axis->n / first, most_radix(axis, caps), true,
                                      node->radix + 1) == 2) {
            node->radix[0] = first;
            node->radix_count = 3;
            return true;
        }
    }
    return false;
}

// Columns or rows of a line of doubles that would take three steps: by 27 they take two,
// or round less in three. Lines of six steps of 13 to 3 points went past the bound of the
// error by up to a tenth. Measured on an NVIDIA H200 in November 2026: eight batches of
// lines from 59049 to 531441 points take 0.75 to 0.97 of the time where both passes have
// two steps, six 0.99 to 1.14 where only one has; 59049 points alone 1.15.
static bool choose_by_27(const struct kal_axis *axis, const struct kal_caps *caps,
                         struct kal_recipe *node)
{
    enum { RADIX = 27, STEPS = 3 };
    if (!is_step(axis) || !kal_caps_is_f64(caps) || most_radix(axis, caps) < RADIX ||
        axis->mirrors_first || axis->mirrors_last || axis->n % RADIX != 0 ||
        kal_radix_sequence_kernel(axis->n, largest_radix(axis, caps), true,
                                  node->radix) != STEPS)
        return false;
    node->radix_count =
        kal_radix_sequence_kernel(axis->n / RADIX, RADIX, true, node->radix);
    if (node->radix_count < 1 || node->radix_count >= STEPS)
        return false;
    node->radix[node->radix_count++] = RADIX;
    kal_order_ascending(node);
    return true;
}

// Of doubles in GLSL of addresses. Measured through Vulkan on an NVIDIA H200 in November
// 2026: of 13 primes from 97 to 2017 nine take 0.58 to 0.73 of the time with the smallest
// radix first, four up to 1.08; 241 takes 0.48 by 15 and 16.
static bool is_rader_of_doubles(const struct kal_axis *axis, const struct kal_caps *caps)
{
    return axis->is_of_rader && kal_caps_is_f64(caps) &&
           caps->language == KAL_LANGUAGE_GLSL_ADDRESSES;
}

static void order_for_rader(struct kal_recipe *node, int64_t n)
{
    enum { LARGEST = 16, FEW = 2 };
    struct kal_recipe few = *node;
    few.radix_count = kal_radix_sequence_kernel(n, LARGEST, true, few.radix);
    if (few.radix_count == FEW)
        *node = few;
    kal_order_rising(node);
}

// Short lines by four lanes, or two, where memory near a processor is short. Measured
// through OpenGL on an NVIDIA H200 in November 2026: 30, 36, 40, 48, 56 and 60 points
// take 0.90 to 0.97 of the time.
static bool choose_for_few_lanes(const struct kal_axis *axis, const struct kal_caps *caps,
                                 struct kal_recipe *node)
{
    enum { LEAST = 30, MOST = 60, LARGEST = 16 };
    const int lanes = axis->n % 4 == 0 ? 4 : 2;
    if (!is_row(axis) || !is_dft_alone(axis) || !kal_caps_is_short_of_memory(caps) ||
        axis->n < LEAST || axis->n > MOST || axis->n % lanes != 0 ||
        (axis->n & (axis->n - 1)) == 0 || axis->n / lanes > LARGEST ||
        !kal_radix_is_printed(axis->n / lanes))
        return false;
    node->radix[0] = (int)(axis->n / lanes);
    node->radix[1] = lanes;
    node->radix_count = 2;
    return true;
}

// Long lines of small codelets have few registers, so that a processor holds two groups
// where halves leave room for them. Measured there, too: 10000 points take 0.86 of the
// time by 10.10.10.10 that they take by 20.20.25.
static bool choose_for_two_groups(const struct kal_axis *axis,
                                  const struct kal_caps *caps, struct kal_recipe *node)
{
    enum { LONGER_THAN = 8192, LARGEST = 10, STEPS = 4 };
    if (!kal_caps_is_short_of_memory(caps) || axis->n <= LONGER_THAN || !is_row(axis) ||
        !is_dft_alone(axis) || axis->shares_tile ||
        kal_radix_sequence_kernel(axis->n, LARGEST, true, node->radix) != STEPS)
        return false;
    node->radix_count = STEPS;
    return true;
}

// Where memory near a processor is short, lines of three steps begin with the smallest.
// Measured there, too: 3000, 4000, 5000 and 6000 points take 0.93, 1.02, 0.95 and 0.95 of
// the time, 12000 1.01.
static bool is_rising(const struct kal_axis *axis, const struct kal_caps *caps,
                      const struct kal_recipe *node)
{
    enum { STEPS = 3, LEAST = 2561, MOST = 6000 };
    return kal_caps_is_short_of_memory(caps) && node->radix_count == STEPS &&
           axis->n % 2 == 0 && (axis->n & (axis->n - 1)) != 0 && axis->n >= LEAST &&
           axis->n <= MOST;
}

static void choose_for_kernel(const struct kal_axis *axis, const struct kal_caps *caps,
                              struct kal_recipe *node)
{
    // Few steps need few lanes, of which fewer wait for each other: measured on an NVIDIA H200
    // in November 2026.
    enum {
        SMALL = 512,
        LARGE = 2560,
        LARGE_PRESSED = 2048,
        MANY_STEPS = 3,
        LONG = 16384
    };
    const int64_t n = axis->n;
    const int64_t large = kal_caps_is_short_of_memory(caps) ? LARGE_PRESSED : LARGE;
    const bool is_wide = axis->lines_are_adjacent || axis->is_second_step;
    const bool is_short = is_wide || axis->shares_tile || axis->shares_launch ||
                          n <= SMALL || n > large || (n & (n - 1)) == 0;

    node->radix_count = axis->is_convolved ? kal_convolution_radices(n, caps, node->radix)
                        : axis->is_step_of_convolution
                            ? kal_convolution_step_radices(n, node->radix)
                            : 0;
    if (node->radix_count > 0 || choose_half(axis, caps, node) ||
        choose_codelet_first(axis, caps, node) || choose_merged(axis, caps, node) ||
        choose_long_merged(axis, caps, node) || choose_by_27(axis, caps, node) ||
        choose_for_few_lanes(axis, caps, node) || choose_for_two_groups(axis, caps, node))
        return;
    node->radix_count =
        kal_radix_sequence_kernel(n, largest_radix(axis, caps), is_short, node->radix);
    if (node->radix_count < 0 || node->radix_count > MANY_STEPS)
        node->radix_count =
            kal_radix_sequence_kernel(n, most_radix(axis, caps), is_short, node->radix);
    if (node->radix_count < 0)
        node->radix_count = kal_radix_sequence_kernel(n, kal_caps_largest_prime(caps),
                                                      is_short, node->radix);
    if (node->radix_count < 0)
        node->radix[(node->radix_count = 1) - 1] = (int)n;
    // Measured there, too; through OpenCL a line of 16384 points is better otherwise.
    const bool is_long = n == LONG && caps->language == KAL_LANGUAGE_CUDA;
    if ((axis->is_first_step || is_long) && (n & (n - 1)) == 0)
        kal_order_ascending(node);
    else if ((!is_wide || kal_caps_is_f64(caps)) && !axis->shares_launch)
        kal_order_odd_aside(node);
    else if (axis->is_second_step && n % 2)
        kal_order_ascending(node);
    const bool is_alone = !is_wide && !axis->shares_tile && !axis->shares_cache &&
                          !axis->mirrors_last && !axis->mirrors_first;
    if (is_alone && is_rising(axis, caps, node))
        kal_order_ascending(node);
    else if (is_alone)
        kal_order_by_shares(node, n, kal_caps_is_f64(caps));
    if (is_rader_of_doubles(axis, caps))
        order_for_rader(node, n);
    if (axis->mirrors_first)
        kal_order_mirrored(node, 0, kal_caps_is_f64(caps));
    // A column of reals with a large codelet leaves the mirrored step to the tile.
    if (axis->mirrors_last &&
        !(axis->is_first_step && node->radix[node->radix_count - 1] > KAL_PAIRED_F32))
        kal_order_mirrored(node, node->radix_count - 1, kal_caps_is_f64(caps));
}

// Columns that come from memory and go there, not from one visit of a core to the next.
// Measured on a Zen 4 processor in November 2026, by timing 271 problems of several axes
// and 56 long lines both ways.
static bool are_far_columns(const struct kal_axis *axis)
{
    enum { NEAR_BYTES = 1 << 18 };
    return axis->lines_are_adjacent && !axis->fills_lanes &&
           (axis->is_first_step || axis->array_bytes >= NEAR_BYTES);
}

static bool are_columns(const struct kal_axis *axis)
{
    return axis->in_row_bytes > 0 && axis->out_row_bytes > 0;
}

static int choose_for_columns(const struct kal_axis *axis, const struct kal_caps *caps,
                              int *radix)
{
    const double bytes = (double)axis->in_row_bytes + (double)axis->out_row_bytes;
    const struct kal_column_place place = {
        .in_row_bytes = axis->in_row_bytes,
        .out_row_bytes = axis->out_row_bytes,
        .are_far = bytes * (double)axis->n >= (double)caps->near_bytes,
    };
    return kal_radix_sequence_columns(axis->n, &place, radix);
}

// Columns that two steps of 32 would work, whose vectors lie 4 KiB apart. Measured on a
// Zen 5 processor in November 2026: 20 arrays with an axis of these take 0.73 to 1.05 of
// the time in three steps, 0.88 as a mean; half spectra, whose rows are no power of two
// apart, up to 1.15.
static bool are_crowded(const struct kal_axis *axis)
{
    enum { CROWDED = 32 * 32 };
    return axis->lines_are_adjacent && !axis->is_of_real_array && axis->n == CROWDED;
}

// A contiguous line of one codelet that is all there is goes through two shorter ones, if
// that is faster.
static int find_for_registers(const struct kal_axis *axis, const struct kal_caps *caps,
                              int *radix)
{
    const bool is_whole = axis->is_only && !axis->elements_are_apart;
    const int count = is_whole ? kal_radix_find_both(axis->n, single_numbers(caps),
                                                     widest_numbers(caps), radix)
                               : 0;
    return count > 0 ? count : kal_line_find_single(axis->n, caps, radix);
}

static bool is_first_of_line(const struct kal_axis *axis)
{
    return axis->fills_lanes && axis->is_first_step;
}

static int choose_for_lanes(const struct kal_axis *axis, const struct kal_caps *caps,
                            int *radix)
{
    const bool is_dear = is_first_of_line(axis) && caps->steps_are_dear;
    return kal_radix_sequence_lanes(axis->n, is_dear, is_dear ? kal_caps_lanes(caps) : 0,
                                    radix);
}

static void choose_for_tile(const struct kal_axis *axis, const struct kal_caps *caps,
                            struct kal_recipe *node)
{
    if (fills_registers(axis, caps))
        node->radix_count = find_for_registers(axis, caps, node->radix);
    else if (are_columns(axis))
        node->radix_count = choose_for_columns(axis, caps, node->radix);
    else if (is_first_of_line(axis) || kal_line_fills_tiles(axis, caps) ||
             are_crowded(axis))
        node->radix_count = choose_for_lanes(axis, caps, node->radix);
    else {
        node->radix_count = kal_radix_sequence(axis->n, node->radix, NULL);
        (are_far_columns(axis) ? kal_order_rising : kal_order_spilling_last)(node);
    }
}

static void choose(const struct kal_axis *axis, const struct kal_caps *caps,
                   struct kal_recipe *node, int64_t n[KAL_MOST_DIVIDED])
{
    (void)n;
    (caps->language ? choose_for_kernel : choose_for_tile)(axis, caps, node);
}

static bool complete(struct kal_recipe *node)
{
    node->n = 1;
    for (int i = 0; i < node->radix_count; i++) {
        if (!kal_radix_is_printed(node->radix[i]) ||
            node->n > KAL_MAX_LOCAL / node->radix[i])
            return false;
        node->n *= node->radix[i];
    }
    return true;
}

const struct kal_rule kal_rule_local = { "local", 0, 0, applies, choose, NULL, complete };
