// SPDX-License-Identifier: MIT
// How many lines a group works at once, by how many lanes, and how these exchange
// numbers: whole, part by part, or in halves of parts.
#include "factor/lanes.h"
#include "kernel/design.h"

// Bytes of memory that are moved at once, at the least and best.
enum { SECTOR = 32, TRANSACTION = 128 };

// Points that the steps of a line transform; its other ones only pass through.
static int64_t transformed_points(const struct kal_pass *pass)
{
    int64_t points = 1;
    for (int i = 0; i < pass->step_count; i++) {
        const struct kal_step *step = &pass->step[i];
        if (step->op == KAL_STEP_DFT)
            points = kal_max(points, step->outer * step->radix * step->m * step->s);
    }
    return points;
}

int64_t kal_pass_mirrored_rows(const struct kal_pass *pass)
{
    for (int i = 0; i < pass->step_count; i++) {
        const struct kal_step *step = &pass->step[i];
        if (kal_step_is_mirrored(step))
            return step->outer;
    }
    return 0;
}

// Is the line a plane of reals, whose tile holds fewer elements than its spectrum has?
static bool is_real_plane(const struct kal_pass *pass)
{
    return kal_pass_mirrored_rows(pass) > 1;
}

// Points of a line that take memory near a group.
int64_t kal_kernel_tile_points(const struct kal_kernel *k)
{
    return is_real_plane(k->pass) ? transformed_points(k->pass) : k->n;
}

// Points of a line that the tile holds at once: of halves those of the codelet that reads most.
static int64_t held_points(const struct kal_kernel *k)
{
    const int64_t points = kal_kernel_tile_points(k);
    int64_t held = 0;
    for (int i = 1; k->is_halved && i < k->pass->step_count; i++) {
        const struct kal_step *step = &k->pass->step[i];
        const int radix = step->op == KAL_STEP_DFT ? step->radix : 2;
        held = kal_max(held, kal_lower_registers(radix) * (points / radix));
    }
    return k->is_halved ? held : points;
}

// Bytes that a line takes near a group, without pads and with them.
static int64_t held_bytes(const struct kal_kernel *k)
{
    return held_points(k) * kal_kernel_exchanged_bytes(k);
}

static int64_t padded_bytes(const struct kal_kernel *k)
{
    return (kal_padded_points(held_points(k)) + 1) * kal_kernel_exchanged_bytes(k);
}

// Lanes of a line: as many as the codelets of the largest radix need, or those of another.
int64_t kal_kernel_lanes_of_line(const struct kal_kernel *k, int largest)
{
    enum { LONG = 1024, TOO_LONG = 4096 };
    // The pairs of a mirrored step of its own are one more than half the points: of a long
    // line, which has a group of its own, one lane more takes the odd one, if that does not
    // cost a processor its second group.
    const int64_t points = transformed_points(k->pass);
    const bool has_odd = kal_kernel_tile_points(k) > points && points >= LONG &&
                         points < TOO_LONG && !kal_rounds_pair(k);
    int radix[KAL_MAX_PASS_STEPS], count = 0;

    if (has_odd)
        return kal_lanes_of_largest(k->n, largest, k->choice.lane_points);
    for (int i = 0; i < k->pass->step_count; i++) {
        if (k->pass->step[i].op == KAL_STEP_DFT)
            radix[count++] = k->pass->step[i].radix;
    }
    const int64_t lanes = kal_lanes_of_largest(points, largest, k->choice.lane_points);
    return kal_lanes_at_work(points, radix, count, lanes);
}

static double lane_use(int64_t lanes)
{
    return (double)lanes / (double)kal_round_up(lanes, 32);
}

// Registers of a lane, guessed from its points: there are no rounds yet that
// kal_kernel_set_design() could count them in.
static int guess_registers(const struct kal_kernel *k, int64_t line_lanes)
{
    enum { BESIDES = 28, MOST = 255 };
    const int64_t points = (kal_kernel_tile_points(k) - 1) / line_lanes + 1;
    return (int)kal_min(MOST, (2 * points + BESIDES) * (k->is_f64 ? 2 : 1));
}

// Is it for want of memory near a processor that parts are exchanged one after the other?
static bool saves_memory(const struct kal_kernel *k, const struct kal_caps *caps)
{
    return k->is_split && kal_caps_is_short_of_memory(caps);
}

// Lanes at work on a processor at once, with groups of `lines` lines: some sizes leave a part
// of its registers to nobody.
static int64_t working_lanes(const struct kal_kernel *k, const struct kal_caps *caps,
                             int64_t lines, int64_t line_lanes)
{
    return lines * line_lanes *
           kal_resident_groups(caps, (int)(lines * line_lanes), lines * held_bytes(k),
                               guess_registers(k, line_lanes));
}

static bool splits(const struct kal_pass *pass)
{
    return pass->step_count > 0 && pass->step[pass->step_count - 1].op == KAL_STEP_SPLIT;
}

// A plane, or more axes, that a group has room for as whole numbers.
static bool is_small_array(const struct kal_kernel *k, const struct kal_caps *caps)
{
    bool has_blocks = false;
    for (int i = 0; i < k->pass->step_count; i++)
        has_blocks = has_blocks || k->pass->step[i].outer > 1;
    return has_blocks && kal_kernel_tile_points(k) * kal_kernel_element_bytes(k) <=
                             (int64_t)caps->group_bytes;
}

static bool is_convolution(const struct kal_pass *pass)
{
    for (int i = 0; i < pass->step_count; i++) {
        if (pass->step[i].op == KAL_STEP_RADER || pass->step[i].op == KAL_STEP_PRODUCT)
            return true;
    }
    return false;
}

// Small planes of reals: the fewer lanes a group has, the more groups are at different
// steps. Measured on an NVIDIA H200 in November 2026: planes of 8x8 to 32x32 take 0.8 to
// 0.96 of the time that they take with groups of 256 lanes.
static int64_t lanes_of_real_plane(const struct kal_kernel *k, int64_t points)
{
    enum { WARP = 32, MOST = 512, MOST_SPLIT_F32 = 256 };
    const bool is_merged = k->pass->step[0].op == KAL_STEP_MERGE;
    const bool is_power = (points & (points - 1)) == 0;
    if (points > (is_merged || k->is_f64 ? MOST : MOST_SPLIT_F32))
        return INT64_MAX;
    return is_merged && is_power && !k->is_f64 ? WARP : 2 * WARP;
}

// Lines of few points, whose lanes wait for those of their own warp or of one more only; but not of
// so few that a GPU is busier with starting groups than they are with their work.
static int64_t lanes_of_short_lines(const struct kal_kernel *k)
{
    enum {
        WARP = 32,
        MOST_F32 = 512,
        MOST_F64 = 64,
        MOST_MIXED = 256,
        MOST_MERGED = 256,
        MOST_SPLIT = 8,
        LEAST_BYTES = 64
    };
    const int64_t points = transformed_points(k->pass);
    const bool is_power = (points & (points - 1)) == 0;
    if (k->is_fused || k->pass->step_count == 0)
        return INT64_MAX;
    if (is_real_plane(k->pass))
        return lanes_of_real_plane(k, points);
    if (k->pass->step[0].op == KAL_STEP_MERGE)
        return points > MOST_MERGED ? INT64_MAX : k->is_f64 ? 2 * WARP : WARP;
    if (splits(k->pass))
        return points > MOST_SPLIT ? INT64_MAX : WARP;
    if (points != k->n || points * kal_kernel_element_bytes(k) < LEAST_BYTES)
        return INT64_MAX;
    if (k->pass->step_count == 1 ||
        (is_power && points <= (k->is_f64 ? MOST_F64 : MOST_F32)))
        return WARP;
    return is_power || points > MOST_MIXED ? INT64_MAX : 2 * WARP;
}

// A group whose lanes need most of their registers has fewer, so that it is not alone on a
// processor; so has one of many rounds, so that fewer wait for each other. Measured on an
// NVIDIA H200 in November 2026, by timing lengths with several sizes.
static int64_t wanted_lanes(const struct kal_kernel *k, const struct kal_caps *caps)
{
    enum { LARGE_RADIX = 32, FEW = 128, WARP = 32 };
    // Through OpenGL 53, 101 and 257 points take 0.86, 0.91 and 0.97 of the time in such
    // small groups.
    if (kal_caps_is_short_of_memory(caps) && kal_pass_has_rader(k->pass))
        return kal_min(WARP, k->choice.wanted_lanes);
    const bool is_convolved = is_convolution(k->pass);
    const bool is_few = is_convolved || kal_pass_largest_radix(k->pass) > LARGE_RADIX;
    const int64_t wanted = is_convolved ? FEW : lanes_of_short_lines(k);
    return kal_min(is_few ? kal_min(wanted, FEW) : wanted, k->choice.wanted_lanes);
}

// Somewhat more lines than `lines` that leave no tile half empty, whole sectors of memory; or
// no more, but fewer where as many tiles are of more even size for it.
static int64_t even_lines(const struct kal_kernel *k, int64_t lines, int64_t sector,
                          int64_t most)
{
    enum { WASTE = 20, LARGEST = 65536 }; // at most a twentieth may be wasted
    const int64_t count = k->loop[0].count;
    const int64_t line_bytes = k->n * kal_kernel_element_bytes(k);

    if ((kal_round_up(count, lines) - count) * WASTE <= count)
        return lines;
    for (int64_t d = lines; d <= kal_min(2 * lines, most); d++) {
        if (count % d == 0 && d % sector == 0 && d * line_bytes <= LARGEST)
            return d;
    }
    if (lines >= count)
        return lines;
    const int64_t groups = (count - 1) / lines + 1;
    return kal_min(lines, kal_round_up((count - 1) / groups + 1, sector));
}

// Fewer lines than `lines`, `least` at least, where groups are too few for all processors.
static int64_t spread_lines(const struct kal_kernel *k, int64_t lines, int64_t least,
                            int processors)
{
    const int64_t all = kal_pass_lines(k->pass);
    while (!k->is_fused && lines >= 2 * least && lines % 2 == 0 &&
           4 * (all / lines) < 3 * (int64_t)processors)
        lines /= 2;
    return lines;
}

// Fewer lines than `lines`, whole sectors, of a pass that reads rows, if three groups of a
// processor have no room else: some store while others load. Measured on an NVIDIA H200 in
// November 2026; lines of 1000 and 2187 points lose by it.
static int64_t narrow_lines(const struct kal_kernel *k, int64_t lines, int64_t sector,
                            const struct kal_caps *caps)
{
    enum { GROUPS = 3, RESERVED = 1024, WARP = 32 };
    const int64_t bytes = held_bytes(k);
    if (k->is_fused || k->n % WARP || kal_side_prefers_lines(k, true) ||
        !caps->processor_bytes)
        return lines;
    while (lines % 2 == 0 && lines >= 2 * sector &&
           GROUPS * (lines * bytes + RESERVED) > (int64_t)caps->processor_bytes)
        lines /= 2;
    return lines;
}

// Fewer lines than `lines`, two sectors of memory wide at least, until a processor has
// room for three groups. Measured through OpenGL on an NVIDIA H200 in November 2026:
// passes of 400 and 512 points by tickets take 0.81 to 0.9 of the time by half as many
// lines, columns of 1024 reals 0.85 by a quarter.
static int64_t roomy_lines(const struct kal_kernel *k, const struct kal_caps *caps,
                           int64_t lines)
{
    enum { GROUPS = 3, RESERVED = 1024 };
    const int64_t least = 2 * SECTOR / kal_kernel_element_bytes(k);
    const int64_t bytes = held_bytes(k);
    while (lines >= 2 * least &&
           GROUPS * (lines * bytes + RESERVED) > (int64_t)caps->processor_bytes)
        lines /= 2;
    return lines;
}

// No more lines than `lines`, so that tiles do not begin in the middle of transactions.
static int64_t align_lines(const struct kal_kernel *k, int64_t lines, int64_t transaction)
{
    if (k->is_fused)
        return lines;
    if (lines >= transaction)
        return lines - lines % transaction;
    while ((lines & (lines - 1)) != 0)
        lines &= lines - 1;
    return lines;
}

static int64_t stride_bytes(const struct kal_kernel *k, const struct kal_side *side)
{
    return kal_magnitude(side->stride * side->map_step) * kal_kernel_element_bytes(k) / 2;
}

// Of columns whose halves are exchanged: a transaction's, two where rows lie in pages of
// their own. Measured through OpenGL on an NVIDIA H200 in November 2026: of 512 points
// that lie 2 MiB apart two take 0.81 to 0.95 of the time, that lie 8 KiB apart 1.1 to
// 1.25.
static int64_t halved_lines(const struct kal_kernel *k)
{
    enum { FAR_BYTES = 1 << 20 };
    const int64_t reals = kal_pass_mirrored_rows(k->pass) ? 2 : 1;
    const int64_t stride =
        kal_max(stride_bytes(k, &k->pass->in), stride_bytes(k, &k->pass->out));
    return reals * TRANSACTION / kal_kernel_element_bytes(k) *
           (stride >= FAR_BYTES ? 2 : 1);
}

// Of others: enough for whole transactions.
static int64_t wide_lines(const struct kal_kernel *k)
{
    enum { WIDE = 16, LARGEST = 131072 };
    const int64_t element = kal_kernel_element_bytes(k);
    // Columns of reals are half as wide in memory, and have one coefficient more than points.
    const bool is_real = splits(k->pass);
    const int64_t wide = is_real && !k->is_f64 ? 2 * WIDE : WIDE;
    const int64_t points = is_real ? k->n - 1 : k->n;
    const int64_t lines = TRANSACTION / element;

    if (wide * points * element <= LARGEST && k->is_fused)
        return wide;
    if (WIDE * points * element <= LARGEST && k->is_fused)
        return WIDE;
    // Two transactions in a row.
    return 2 * lines * k->n * element <= (k->is_f64 ? LARGEST / 2 : LARGEST) ? 2 * lines
                                                                             : lines;
}

// No fewer than `lines`, enough for a group of the wanted size.
static int64_t lines_at_work(const struct kal_kernel *k, int64_t lines,
                             int64_t line_lanes)
{
    enum { LARGEST = 131072 };
    const int64_t element = kal_kernel_element_bytes(k), sector = SECTOR / element;
    const int64_t points = splits(k->pass) ? k->n - 1 : k->n;
    // A ticket's work should outlast the taking of it.
    const int64_t lanes = k->is_fused ? k->choice.wanted_lanes : 128;
    const int64_t bytes = k->is_fused ? 65536 : 32768;

    while (2 * lines * line_lanes <= lanes && 2 * lines * k->n * element <= bytes)
        lines *= 2;
    // Lanes that another pass of the launch wants should not be idle.
    const int64_t served = lanes / line_lanes / sector * sector;
    return k->is_fused && served * points * element <= (k->is_f64 ? bytes : LARGEST)
               ? kal_max(lines, served)
               : lines;
}

// Fewer lines than `lines`, whole sectors, of a pass that reads rows, where a processor
// would have one group of all lanes: 2097152 points take 0.88 of the time by tiles of 4
// rows of 2048 points that they take by tiles of 8.
static int64_t halved_rows(int64_t lines, int64_t sector, int64_t line_lanes)
{
    enum { MANY_LANES = 512 };
    while (lines >= 2 * sector && lines * line_lanes > MANY_LANES)
        lines /= 2;
    return lines;
}

// Of lines that are neighbours in memory, `most` at most.
static int64_t neighbouring_lines(const struct kal_kernel *k, const struct kal_caps *caps,
                                  int64_t line_lanes, int64_t most)
{
    const int64_t sector = SECTOR / kal_kernel_element_bytes(k);
    const bool is_halved = k->is_halved && !k->is_fused;
    int64_t lines = is_halved ? halved_lines(k) : wide_lines(k);

    if (saves_memory(k, caps) && !is_halved && (k->is_fused || splits(k->pass)))
        return even_lines(k, kal_min(roomy_lines(k, caps, lines), most), sector, most);
    if (is_halved)
        lines = kal_side_prefers_lines(k, true)
                    ? lines
                    : halved_rows(kal_min(lines, most), sector, line_lanes);
    else
        lines = narrow_lines(k, lines_at_work(k, lines, line_lanes), sector, caps);
    lines = even_lines(k, kal_min(lines, most), sector, most);
    lines -= lines > sector ? lines % sector : 0;
    lines = align_lines(k, lines, TRANSACTION / kal_kernel_element_bytes(k));
    return spread_lines(k, lines, sector, caps->processors);
}

// The fewest lines whose groups leave a processor nearly as many lanes at work as those
// of `lines` lines: fewer lanes wait for each other at the barriers that exchanging parts
// takes. Measured through OpenGL on an NVIDIA H200 in November 2026: lines of 256 reals
// take 0.74 of the time by groups of one warp that they take by groups of eight, 625
// points 0.88, 1024 and 2048 0.91.
static int64_t fewest_busy_lines(const struct kal_kernel *k, const struct kal_caps *caps,
                                 int64_t line_lanes, int64_t lines)
{
    enum { WARP = 32, ENOUGH_PERCENT = 85 };
    const int64_t most = working_lanes(k, caps, lines, line_lanes);
    int64_t fewest = kal_min(lines, kal_max(1, WARP / line_lanes));
    while (100 * working_lanes(k, caps, fewest, line_lanes) < ENOUGH_PERCENT * most)
        fewest++;
    return fewest;
}

// Of other lines: enough for a group of the wanted size, full warps preferred.
static int64_t separate_lines(const struct kal_kernel *k, const struct kal_caps *caps,
                              int64_t line_lanes, int64_t most)
{
    enum { MANY_POINTS = 16, WARP = 32 };
    const bool saves = saves_memory(k, caps);
    int64_t best = 1;
    for (int64_t lines = 1; lines <= most && lines * line_lanes <= wanted_lanes(k, caps);
         lines++) {
        const bool is_better =
            k->is_fused || saves || (k->n - 1) / line_lanes >= MANY_POINTS
                ? working_lanes(k, caps, lines, line_lanes) >=
                      working_lanes(k, caps, best, line_lanes)
                : lane_use(lines * line_lanes) >= lane_use(best * line_lanes);
        best = is_better ? lines : best;
    }
    if (saves && !k->is_fused)
        best = fewest_busy_lines(k, caps, line_lanes, best);
    return spread_lines(k, best, kal_max(1, WARP / line_lanes), caps->processors);
}

static bool prefers_lines(const struct kal_kernel *k)
{
    return kal_side_prefers_lines(k, true) || kal_side_prefers_lines(k, false);
}

int64_t kal_kernel_choose_lines(const struct kal_kernel *k, const struct kal_caps *caps,
                                int64_t line_lanes)
{
    const int64_t room = (int64_t)caps->group_bytes / padded_bytes(k);
    const int64_t most =
        kal_max(1, kal_min(kal_min(kal_kernel_tile_lines(k), room),
                           caps->group_lanes / kal_min(line_lanes, caps->group_lanes)));

    if (k->cluster > 1)
        return k->loop[0].count / k->cluster;
    if (k->choice.lines)
        return kal_min(k->choice.lines, most);
    return prefers_lines(k) ? neighbouring_lines(k, caps, line_lanes, most)
                            : separate_lines(k, caps, line_lanes, most);
}

bool kal_pass_has_rader(const struct kal_pass *pass)
{
    bool is_there = false;
    for (int i = 0; i < pass->step_count; i++)
        is_there = is_there || pass->step[i].op == KAL_STEP_RADER;
    return is_there;
}

// Lines that a tile should have room for: of neighbours, a sector's.
static int64_t fewest_lines(const struct kal_kernel *k)
{
    return prefers_lines(k) ? SECTOR / kal_kernel_element_bytes(k) : 1;
}

// Are rows written as columns of which each begins with a sector? Narrow tiles of these write no
// sector in two parts.
static bool writes_sectors(const struct kal_kernel *k)
{
    const int64_t reals = 2 * SECTOR / kal_kernel_element_bytes(k);
    const struct kal_side *out = &k->pass->out;
    bool is_whole = out->stride * out->map_step % reals == 0;
    for (int i = 1; i < k->loop_count; i++)
        is_whole =
            is_whole && kal_kernel_line_distance(k, &k->loop[i], false) % reals == 0;
    return is_whole && kal_side_prefers_lines(k, false) &&
           !kal_side_prefers_lines(k, true);
}

// Would groups of so many lines, whole, leave much of a processor idle, for want of
// memory near it and of nothing else?
static bool wants_room(const struct kal_kernel *k, const struct kal_caps *caps,
                       int64_t lines, int64_t line_bytes, int64_t line_lanes)
{
    enum { ENOUGH_LANES = 1024 };
    const int registers = guess_registers(k, line_lanes);
    const int lanes = (int)(lines * line_lanes);
    const int64_t whole = kal_resident_groups(caps, lanes, lines * line_bytes, registers);
    const int64_t split =
        kal_resident_groups(caps, lanes, lines * line_bytes / 2, registers);
    return whole * lanes < ENOUGH_LANES && split > whole;
}

// Then exchanging the parts of numbers one after the other is faster. Measured on an
// NVIDIA H200: through Vulkan 2048 and 4096 points gain 20 and 8 percent, columns 3 to
// 13; those that are written only, in whole sectors, lose 9.
static bool is_crowded(const struct kal_kernel *k, const struct kal_caps *caps,
                       int64_t line_bytes, int64_t line_lanes)
{
    enum { LEAST_POINTS = 1024 };
    const bool is_plain =
        transformed_points(k->pass) == k->n && !is_convolution(k->pass) && !k->is_fused;
    return is_plain && !k->is_f64 && k->n >= LEAST_POINTS && !writes_sectors(k) &&
           wants_room(k, caps, 1, line_bytes, line_lanes);
}

// The same where memory is shorter: all gain, but lines of few points that are no powers
// of two, and those of Rader's that more than a warp works. Measured through OpenGL on
// the same in November 2026: 21 lines of one pass, 125 to 4096 points, take 0.55 to 1 of
// the time, 29 problems of several passes 0.65 to 1.01; lines of 60 and 120 points 1.03
// and 1.10; of Rader's 257 points 0.88, 1009 1.12.
static bool is_pressed(const struct kal_kernel *k, const struct kal_caps *caps,
                       int64_t line_bytes, int64_t line_lanes)
{
    enum { WARP = 32, LEAST = 32, LEAST_UNEVEN = 125 };
    const bool is_even = prefers_lines(k) || (k->n & (k->n - 1)) == 0;
    const bool is_late = line_lanes > WARP && kal_pass_has_rader(k->pass);
    return kal_caps_is_short_of_memory(caps) && !is_late &&
           k->n >= (is_even ? LEAST : LEAST_UNEVEN) &&
           wants_room(k, caps, kal_max(1, WARP / line_lanes), line_bytes, line_lanes);
}

// The most lines of a tile of neighbours, up to those that it is to have, that a group
// has room and lanes for.
static int64_t widest_tile(const struct kal_kernel *k, const struct kal_caps *caps,
                           int64_t line_lanes)
{
    const int64_t bytes = padded_bytes(k);
    int64_t lines = halved_lines(k);
    while (lines > 1 && (lines * bytes > (int64_t)caps->group_bytes ||
                         lines * line_lanes > caps->group_lanes))
        lines /= 2;
    return lines;
}

// Do halves of parts, where memory is short, make tiles wider than parts do, or leave so
// many more lanes at work that the barriers between them are worth it? Registers are
// taken for a few less than guessed: rows of 6561 points have 80, not 82, and with these
// a third group.
static bool makes_room(const struct kal_kernel *k, const struct kal_caps *caps,
                       int64_t line_lanes)
{
    enum {
        WARP = 32,
        FEWER = 4,
        LEAST_ROW = 4096,
        ENOUGH_PERCENT = 125,
        ENOUGH_UNEVEN_PERCENT = 150
    };
    const bool is_column = prefers_lines(k);
    const bool is_uneven = is_column && (k->n & (k->n - 1)) != 0 && !splits(k->pass);
    const int64_t most_lanes =
        kal_kernel_tile_points(k) / kal_pass_largest_radix(k->pass);
    const int registers = guess_registers(k, kal_min(line_lanes, most_lanes)) - FEWER;
    struct kal_kernel tried = *k;
    int64_t lines[2], lanes[2];

    if (!is_column && k->n < LEAST_ROW && !kal_pass_mirrored_rows(k->pass))
        return false;
    for (int i = 0; i < 2; i++) {
        tried.is_halved = i == 1;
        lines[i] = is_column ? widest_tile(&tried, caps, line_lanes)
                             : kal_max(1, WARP / line_lanes);
        lanes[i] = lines[i] * line_lanes *
                   kal_resident_groups(caps, (int)(lines[i] * line_lanes),
                                       lines[i] * held_bytes(&tried), registers);
    }
    return lines[1] > lines[0] ||
           100 * lanes[1] >=
               (is_uneven ? ENOUGH_UNEVEN_PERCENT : ENOUGH_PERCENT) * lanes[0];
}

// Would a group have much memory, as numbers or parts are exchanged else? Rows of lengths
// that are no powers of two keep their parts, and rows of doubles that are written as
// columns.
static bool is_large(const struct kal_kernel *k, const struct kal_caps *caps,
                     int64_t line_lanes)
{
    enum { LEAST_POINTS = 512, LARGE_BYTES = 32 << 10 };
    const int64_t points = transformed_points(k->pass);
    const bool is_even = prefers_lines(k) || (points & (points - 1)) == 0;
    return is_even && points >= LEAST_POINTS && !(k->is_f64 && writes_sectors(k)) &&
           kal_kernel_choose_lines(k, caps, line_lanes) * held_bytes(k) >= LARGE_BYTES;
}

// Measured on an NVIDIA H200 in November 2026, as recipes. Through OpenGL 21 problems
// whose groups find room by it take 0.69 to 0.98 of the time; convolutions 1 to 1.2.
// Through Vulkan 16 whose groups would have 32 KiB and more take 0.75 to 1; rows of 2048
// written as columns 1.04, 5000 points 1.12. Of steps by tickets those of 512 points
// gain, 0.87 and 0.92, and those of a real line, 0.78; 256 lose 1.03 to 1.05, 1024 beside
// 512 1.6. Lines so few that a processor has one group lose 1.03 to 1.05, and planes of
// 64x64, which fit by parts, 1.17.
static bool gains_by_halves(const struct kal_kernel *k, const struct kal_caps *caps,
                            int64_t line_lanes)
{
    enum { TICKETED = 512, FEW_LINES = 8, FEW_ROWS = 2 };
    const int64_t few = prefers_lines(k) ? FEW_LINES : FEW_ROWS;
    const bool is_of_reals = splits(k->pass) || k->pass->out.mirror_n;
    if (!kal_caps_gain_by_halves(caps) || is_convolution(k->pass) ||
        is_small_array(k, caps) || kal_pass_lines(k->pass) < few * caps->processors)
        return false;
    if (k->is_fused)
        return !k->is_f64 && (k->n == TICKETED || (is_of_reals && k->n >= TICKETED));
    return kal_caps_is_short_of_memory(caps)
               ? k->is_split && !k->is_f64 && makes_room(k, caps, line_lanes)
               : is_large(k, caps, line_lanes);
}

static bool is_split(const struct kal_kernel *k, const struct kal_caps *caps,
                     int64_t whole, int64_t line_lanes)
{
    const int64_t needed = k->choice.split == 0 ? whole : whole * fewest_lines(k);
    return k->choice.split > 0 || needed > (int64_t)caps->group_bytes ||
           (k->choice.split != 0 && (is_crowded(k, caps, whole, line_lanes) ||
                                     is_pressed(k, caps, whole, line_lanes)));
}

// How numbers are exchanged: whole, their parts one after the other, or halves of these.
void kal_kernel_choose_exchange(struct kal_kernel *k, const struct kal_caps *caps,
                                int64_t whole, int64_t line_lanes, bool keeps_parts)
{
    enum { HALVES = 2 };
    if (k->cluster > 1)
        return;
    k->is_split = is_split(k, caps, whole, line_lanes);
    k->is_halved =
        kal_rounds_can_halve(k) &&
        (k->choice.split == HALVES ||
         (k->is_split && whole / 2 > (int64_t)caps->group_bytes) ||
         (k->choice.split < 0 && !keeps_parts && gains_by_halves(k, caps, line_lanes)));
    k->is_split = k->is_split || k->is_halved;
}
