// SPDX-License-Identifier: MIT
#include "factor/alone.h"

#include "codelet/lengths.h"
#include "factor/lanes.h"
#include "factor/radix.h"
#include "factor/rule.h"

#include <limits.h>

// All of a batch: as many points as one thread works.
enum { ALL = 32767 };

// The most lines, of complex points `least` and more, multiples of `multiple`; the first
// row counts that fits. Measured on a Zen 4 processor in November 2026, by timing 136
// lengths and kinds in batches of 2 to 256 both ways: the lines of a batch of two take
// down to a quarter of the time.
static const struct row {
    bool is_real, is_f64;
    int least, multiple, most_lines;
} rows[] = {
    { false, false, 256, 32, ALL }, { false, false, 512, 8, 1 },
    { false, false, 48, 1, 8 },     { false, false, 1, 1, 7 },
    { false, true, 64, 32, ALL },   { false, true, 64, 24, ALL },
    { false, true, 64, 1, 8 },      { false, true, 1, 1, 7 },
    { true, false, 256, 8, ALL },   { true, false, 40, 1, 8 },
    { true, false, 24, 1, 6 },      { true, false, 16, 1, 3 },
    { true, false, 1, 1, 7 },       { true, true, 240, 8, ALL },
    { true, true, 40, 1, 8 },       { true, true, 24, 1, 4 },
    { true, true, 16, 1, 3 },       { true, true, 1, 1, 7 },
};

static int most_lines(bool is_real, bool is_f64, int64_t points)
{
    for (size_t i = 0; i < KAL_COUNT(rows); i++) {
        if (rows[i].is_real == is_real && rows[i].is_f64 == is_f64 &&
            points >= rows[i].least && points % rows[i].multiple == 0)
            return rows[i].most_lines;
    }
    return 0; // there is none
}

// Of batches of any size: lines whose steps find neighbours in registers. Other ways move
// each number once more, and hold parts in twice the registers, so that longer codelets
// spill. Of complex lines, columns of one codelet are faster in registers of 64 bytes,
// and past the caches lines that fill lanes are. A row lets those through that have all
// it says. Measured in November 2026 by timing 104 complex and 74 real lengths up to 1024
// points both ways, in batches of 0.2 to 12 MB: with this table they take, as means of
// the lengths, those that it leaves as they were among them, 0.94 to 0.98 of the time
// (complex) and 0.65 to 0.98 (real) on a Zen 4 processor, 0.86 to 0.98 and 0.64 to 0.95
// on a Xeon; on the former, held to registers of 32 bytes, complex ones of up to 1.5 MB
// 0.87 to 0.91. Since both steps of shorter lines are one function, those of 64 to 500
// points, and reals of 66 to 512, were timed anew on the former. So were doubles of 65 to
// 83 points past the caches, that go past these by way of a copy since: they take 0.5 to
// 0.9 of the time.
enum { NARROW = 8, WIDE = 16 }; // lanes of floats, in registers of 32 and 64 bytes
enum { IS_NEAR = 1, IS_FAR = 2 };
enum { COMPLEX = 1, R2C = 2, C2R = 4, REAL = R2C | C2R };
enum { ANY = 32767 };

static const struct win {
    int lanes;
    bool is_f64;
    int kinds, places;
    int least, most, multiple; // points
    int most_steps,
        most_rows; // when worked alone, and of the other way: 0 if it has tiles of lines
} wins[] = {
    { NARROW, true, COMPLEX, IS_NEAR, 33, ANY, 1, ANY, ANY },
    { NARROW, false, COMPLEX, IS_NEAR, 33, ANY, 4, ANY, ANY },
    { NARROW, false, COMPLEX, IS_NEAR, 65, ANY, 1, 2, ANY },
    { NARROW, false, COMPLEX, IS_NEAR, 140, ANY, 1, ANY, ANY },
    { NARROW, false, COMPLEX, IS_FAR, 65, 432, 1, 2, ANY },
    { NARROW, true, COMPLEX, IS_FAR, 65, 220, 1, 2, ANY },
    { NARROW, true, REAL, IS_NEAR, 36, ANY, 1, ANY, ANY },
    { NARROW, true, REAL, IS_FAR, 36, ANY, 4, ANY, ANY },
    { NARROW, true, C2R, IS_FAR, 36, ANY, 1, ANY, ANY },
    { NARROW, true, R2C, IS_FAR, 40, 162, 1, 2, ANY },
    { NARROW, false, REAL, IS_NEAR | IS_FAR, 40, ANY, 4, ANY, ANY },
    { NARROW, false, REAL, IS_FAR, 100, ANY, 1, 2, ANY },
    { WIDE, true, COMPLEX, IS_NEAR, 65, ANY, 1, 2, ANY },
    { WIDE, true, COMPLEX, IS_NEAR, 66, ANY, 1, ANY, 4 },
    { WIDE, true, COMPLEX, IS_FAR, 65, ANY, 1, 2, 0 },
    { WIDE, true, COMPLEX, IS_FAR, 65, 90, 1, 2, 4 },
    { WIDE, false, COMPLEX, IS_NEAR | IS_FAR, 76, ANY, 4, ANY, 0 },
    { WIDE, false, COMPLEX, IS_NEAR, 66, 169, 2, 2, 0 },
    { WIDE, false, COMPLEX, IS_FAR, 65, 169, 1, 2, 0 },
    { WIDE, false, COMPLEX, IS_NEAR | IS_FAR, 170, ANY, 1, 2, 0 },
    { WIDE, false, COMPLEX, IS_NEAR | IS_FAR, 170, ANY, 2, ANY, 0 },
    { WIDE, false, COMPLEX, IS_NEAR, 66, 142, 1, 2, ANY },
    { WIDE, false, COMPLEX, IS_NEAR, 144, 512, 1, 2, ANY },
    { WIDE, false, COMPLEX, IS_NEAR, 256, ANY, 192, 2, ANY },
    { WIDE, false, COMPLEX, IS_NEAR, 256, ANY, 512, 2, ANY },
    { WIDE, true, REAL, IS_NEAR | IS_FAR, 36, ANY, 4, ANY, ANY },
    { WIDE, true, REAL, IS_NEAR | IS_FAR, 66, ANY, 2, ANY, ANY },
    { WIDE, true, REAL, IS_NEAR | IS_FAR, 105, ANY, 1, 2, ANY },
    { WIDE, true, R2C, IS_FAR, 40, 80, 1, 2, ANY },
    { WIDE, true, C2R, IS_FAR, 36, ANY, 1, ANY, ANY },
    { WIDE, false, REAL, IS_NEAR | IS_FAR, 64, 80, 16, ANY, ANY },
    { WIDE, false, REAL, IS_NEAR | IS_FAR, 96, ANY, 8, ANY, ANY },
    { WIDE, false, R2C, IS_FAR, 40, 64, 4, 2, ANY },
    { WIDE, false, REAL, IS_NEAR | IS_FAR, 180, ANY, 4, ANY, ANY },
    { WIDE, false, R2C, IS_FAR, 96, ANY, 4, ANY, ANY },
    { WIDE, false, C2R, IS_FAR, 36, ANY, 1, ANY, ANY },
};

// What a row is asked about.
struct batch {
    bool is_f64;
    int lanes, kind, place;
    int64_t points;
    int steps, rows;
    bool has_short_columns; // of the other way
};

// Up to how many bytes a batch is near a core. Where steps are dear, doubles whose other
// way has rows of four, and floats that are a multiple of 96, take 0.86 to 1.14 of the
// time alone up to three times as many on one thread of a Xeon, 0.99 as a mean, and on
// sixteen, whose caches hold that, 0.61 to 1.02, 0.76 as a mean; most others take 1.1 to
// 1.4 on one.
static int64_t most_near_bytes(const struct batch *batch, const struct kal_caps *caps)
{
    enum { NEAR = 4 << 20, DEAR = 12 << 20, ROWS_F64 = 4, MULTIPLE_F32 = 96 };
    const bool is_as_fast =
        batch->is_f64 ? batch->rows == ROWS_F64 : batch->points % MULTIPLE_F32 == 0;
    return caps->steps_are_dear && batch->kind == COMPLEX && is_as_fast ? DEAR : NEAR;
}

static void init_batch(struct batch *batch, const struct kal_problem *p,
                       const struct kal_caps *caps, int64_t points)
{
    const bool is_f64 = p->precision == KALLIMA_F64, is_complex = p->kind == KALLIMA_C2C;
    const struct kal_caps limited = kal_caps_limit(caps, is_f64);
    const struct kal_axis axis = { .n = points,
                                   .lines = p->batch,
                                   .mirrors_first = p->kind == KALLIMA_C2R,
                                   .mirrors_last = p->kind == KALLIMA_R2C };
    int radix[KAL_MAX_STEPS];

    *batch = (struct batch){
        .is_f64 = is_f64,
        .lanes = caps->lanes_f32,
        .kind = is_complex               ? COMPLEX
                : p->kind == KALLIMA_R2C ? R2C
                                         : C2R,
        .points = points,
        .steps = kal_line_find_single(points, &limited, radix),
        .rows = (int)kal_line_rows(&axis, &limited),
    };
    const int64_t most_lines_near =
        most_near_bytes(batch, caps) / (is_f64 ? 16 : 8) / points;
    batch->place = p->batch <= most_lines_near ? IS_NEAR : IS_FAR;
    batch->has_short_columns =
        is_complex && batch->rows > 0 && kal_radix_exists(points / batch->rows);
}

static bool is_won(const struct batch *batch, const struct win *win)
{
    return win->lanes == batch->lanes && win->is_f64 == batch->is_f64 &&
           (win->kinds & batch->kind) && (win->places & batch->place) &&
           batch->points >= win->least && batch->points <= win->most &&
           batch->points % win->multiple == 0 && batch->steps <= win->most_steps &&
           batch->rows <= win->most_rows;
}

static bool are_many_alone(const struct batch *batch)
{
    for (size_t i = 0; i < KAL_COUNT(wins); i++) {
        if (is_won(batch, &wins[i]))
            return true;
    }
    return false;
}

// Complex lines of floats whose rows fill registers of 64 bytes, or half of these, and
// whose columns have odd codelets or 14 points: they are faster by two steps at once, in
// batches of 0.2 to 24 MB by 1.02 to 1.5 on a Zen 4 processor.
static bool are_faster_by_two_steps(const struct batch *batch)
{
    static const int points[] = { 72, 80, 144, 176, 208, 224, 240 };
    bool is_one = false;
    for (size_t i = 0; i < KAL_COUNT(points); i++)
        is_one |= batch->points == points[i];
    return is_one && batch->lanes == WIDE && !batch->is_f64 && batch->kind == COMPLEX;
}

// But on a Zen 5 two lines of half a register each are faster: 33 lines and more take
// 0.74 to 0.92 of the time, eight 0.99 and 1.1; on a Xeon 1.0 to 1.15, and 0.9 of more
// than 50 MB.
static bool are_faster_by_twos(const struct batch *batch, const struct kal_caps *caps)
{
    enum { SHORT = 72, LONG = 80 };
    return (batch->points == SHORT || batch->points == LONG) && batch->lanes == WIDE &&
           !batch->is_f64 && batch->kind == COMPLEX && kal_caps_has_fast_twins(caps);
}

// Percents of the lanes that lines fill, from which on they are faster one after the
// other than in tiles that leave the rest of them empty. Measured as those by columns
// below: on the way to the next whole tile lines take up to half of the time.
static int most_lanes(const struct batch *batch)
{
    enum { QUAD = 4 };
    if (batch->kind == COMPLEX)
        return batch->is_f64 ? 130 : 110;
    return batch->is_f64 || batch->points % QUAD == 0 ? 120 : 140;
}

static bool are_tiles_left_empty(const struct batch *batch, int64_t lines)
{
    const int64_t tile = batch->lanes / (batch->is_f64 ? 2 : 1);
    return batch->rows == 0 && kal_tiles_are_left_empty(lines, tile, most_lanes(batch));
}

// Complex lines of two steps that are worked as one function, where the other way fills
// lanes with columns of one codelet. Near the core that way takes 1.0 to 1.6 times as
// long in batches of 8 to 33 lines of 33 lengths from 64 to 504 points on a Zen 4
// processor, 0.9 to 1.3 on a Xeon; in larger ones most lines are as fast either way.
static bool are_faster_than_columns(const struct batch *batch, int64_t lines)
{
    enum { MOST_STEPS = 2, MOST_POINTS = 16384, SLOW = 96, SLOWER = 200 };
    static const int fast_f32[] = { 64, 104 }, fast_f64[] = { 108, 256 };
    bool is_fast = lines * batch->points <= MOST_POINTS && batch->points % SLOW != 0 &&
                   batch->points != SLOWER;

    for (int i = 0; i < 2; i++)
        is_fast |= batch->points == (batch->is_f64 ? fast_f64 : fast_f32)[i];
    return is_fast && batch->place == IS_NEAR && batch->steps <= MOST_STEPS;
}

static double count_rows(const struct kal_problem *p)
{
    double count = 1.0;
    for (int i = 0; i + 1 < p->rank; i++)
        count *= (double)p->n[i];
    return count;
}

// Doubles in registers of 64 bytes that are as fast or faster by two passes, in batches
// beyond the nearest caches: by 48 points in 3 to 12 MB in 0.7 to 0.9 of the time on a
// Zen 4 processor and on a Xeon, by 44 and 52 0.85 to 1.1.
static bool are_faster_in_passes(int64_t n)
{
    enum { QUAD = 4, FROM = 44, TO = 52 };
    return n >= FROM && n <= TO && n % QUAD == 0;
}

bool kal_rows_are_of_numbers(const struct kal_problem *p, const struct kal_caps *caps)
{
    enum { LEAST_F32 = 3, LEAST_F64 = 2, MOST_LINES = 512, MOST_ROWS = 32 };
    const bool is_f64 = p->precision == KALLIMA_F64;
    const int last = p->rank - 1;
    const double count = count_rows(p), lines = count * (double)p->batch;

    if (is_f64 && !kal_caps_holds_numbers(caps) && are_faster_in_passes(p->n[last]) &&
        (lines > MOST_LINES || count > MOST_ROWS))
        return false;
    return kal_caps_has_32_bytes(caps) && p->kind == KALLIMA_C2C &&
           kal_array_is_contiguous(&p->in, p->rank) &&
           kal_array_is_contiguous(&p->out, p->rank) &&
           lines >= (is_f64 ? LEAST_F64 : LEAST_F32) && p->n[last] != KAL_NUMBERS_MAX &&
           kal_length_is_of_numbers(p->n[last]);
}

static double bytes_of(const struct kal_problem *p)
{
    return kal_problem_points(p) * (p->precision == KALLIMA_F64 ? 16 : 8);
}

// What an array leaves in the cache of a core: one after the other takes its place where
// stores past the caches cost nothing.
static double bytes_in_turn(const struct kal_problem *p, const struct kal_caps *caps)
{
    return bytes_of(p) / (caps->waits_for_stores ? 1.0 : (double)p->batch);
}

// So few that they leave lanes of tiles empty, of real ones a quarter. Measured on a Zen
// 4 processor in November 2026, 27 lengths from 64 to 1024 points and 2 to 12 rows,
// against tiles of rows and passes of four-step: these take 1.1 to 8.5 times as long; for
// batches that leave the cache of a core 0.5 to 1.1, but on a Xeon 1.0 to 2.1.
static bool are_few_rows(const struct kal_problem *p, const struct kal_caps *caps)
{
    const int lanes = kal_caps_lanes_of(caps, p->precision == KALLIMA_F64);
    const double count = count_rows(p);
    return bytes_in_turn(p, caps) <= (double)caps->near_bytes &&
           (p->kind != KALLIMA_C2C ? count * 4 <= lanes * 3 : count < lanes);
}

// More of them, in arrays that several threads do not share with more gain than that,
// whose columns are codelets. Measured there, too, and on a Xeon, 51 lengths of 8 to 64
// rows and 13 of volumes: tiles take 1.1 to 2.2 times as long, but for most halves of
// real rows that do not fill registers, and short ones; in 150 batches of 2 to 400, on a
// Xeon, 0.93 to 2.4. There complex arrays with columns of 33 to 64 points, too, of 200 KB
// in all: 13 shapes of floats take 0.85 to 1.03 of the time alone, 0.92 as a mean, 100 of
// them 0.9 to 2.6.
static int64_t longest_column(const struct kal_problem *p, const struct kal_caps *caps)
{
    enum { COLUMN = 32, OF_FEW = 64, FEW_BYTES = 200000 };
    return caps->steps_are_dear && p->kind == KALLIMA_C2C &&
                   p->precision == KALLIMA_F32 && bytes_of(p) <= FEW_BYTES
               ? OF_FEW
               : COLUMN;
}

static bool are_faster_in_turn(const struct kal_problem *p, const struct kal_caps *caps)
{
    enum { LONGEST = 1000, SHORTEST_REAL = 80, FEWEST_LANES = 4 };
    enum { FILL_F32 = 16, FILL_F64 = 8, SHORTEST_UNEVEN = 112, MOST_UNEVEN = 24 };
    const bool is_f64 = p->precision == KALLIMA_F64, is_real = p->kind != KALLIMA_C2C;
    const int64_t n = p->n[p->rank - 1];
    const bool fill = n % (is_f64 ? FILL_F64 : FILL_F32) == 0;

    for (int i = 0; i + 1 < p->rank; i++) {
        if (p->n[i] > longest_column(p, caps))
            return false;
    }
    return kal_caps_lanes_of(caps, is_f64) >= FEWEST_LANES && n <= LONGEST &&
           (is_real ? 2.0 : 4.0) * bytes_of(p) <
               (double)p->batch * (double)caps->near_bytes &&
           bytes_in_turn(p, caps) <= (double)caps->near_bytes &&
           (!is_real || (fill ? n >= SHORTEST_REAL
                              : n >= SHORTEST_UNEVEN && count_rows(p) < MOST_UNEVEN));
}

// Measured there, 384 batches of 36 to 64 reals: 8 and more lines by it take 0.35 to 0.9
// of the time, 10 MB of 64 doubles 1.15, fewer lines 1 to 2.
bool kal_rows_are_long_reals(const struct kal_problem *p, const struct kal_caps *caps)
{
    enum { FEWEST = 8 };
    const int64_t n = p->n[p->rank - 1];
    return kal_caps_has_32_bytes(caps) && p->kind != KALLIMA_C2C && n > KAL_REAL_MAX &&
           kal_real_row_is_compiled(n) &&
           (p->rank == 1 ? p->batch : p->n[p->rank - 2]) >= FEWEST;
}

// Shorter rows are whole numbers, if they are enough for these: two of 36 to 60 floats
// take 0.25 to 0.5 of the time so.
static bool are_alone_in_turn(const struct kal_problem *p, const struct kal_caps *caps)
{
    enum { SHORTEST = 33, SHORTEST_REAL = 64, LONGEST = 1024 };
    const bool is_real = p->kind != KALLIMA_C2C;
    const int64_t n = p->n[p->rank - 1];

    return !caps->language && p->rank > 1 && n >= (is_real ? SHORTEST_REAL : SHORTEST) &&
           n <= LONGEST && (!is_real || n % 2 == 0) &&
           !kal_rows_are_of_numbers(p, caps) && !kal_rows_are_long_reals(p, caps) &&
           (are_few_rows(p, caps) || are_faster_in_turn(p, caps)) &&
           kal_array_is_contiguous(&p->in, p->rank) &&
           kal_array_is_contiguous(&p->out, p->rank) &&
           kal_radix_divides(is_real ? n / 2 : n);
}

// Real rows that are longer than a codelet, and shorter than those above: where tiles of
// them would have lanes idle, and up to a length all of doubles. Measured there, 25
// lengths and 4 to 32 rows: tiles take 0.8 to 2.3 times as long.
static bool are_short_and_in_turn(const struct kal_problem *p,
                                  const struct kal_caps *caps)
{
    enum { LONGEST = 110, ANY_LONGEST = 64, MOST = 32 };
    enum { FEWEST_LANES = 2, MANY_LANES = 16 };
    enum { IDLE = 130, IDLE_OF_MANY = 150 }; // percents of lanes that are filled
    const bool is_f64 = p->precision == KALLIMA_F64;
    const int lanes = kal_caps_lanes_of(caps, is_f64);
    const int64_t n = p->n[p->rank - 1];
    const double count = count_rows(p);

    if (lanes < FEWEST_LANES || p->rank < 2 || p->kind == KALLIMA_C2C || n % 2 != 0 ||
        n > LONGEST || count > MOST || 2.0 * bytes_of(p) >= (double)caps->near_bytes)
        return false;
    return (lanes < MANY_LANES && is_f64 && n <= ANY_LONGEST) ||
           kal_tiles_are_left_empty((int64_t)count, lanes,
                                    lanes < MANY_LANES ? IDLE : IDLE_OF_MANY);
}

bool kal_rows_are_worked_in_turn(const struct kal_problem *p, const struct kal_caps *caps)
{
    return !caps->language && !kal_rows_are_long_reals(p, caps) &&
           (are_few_rows(p, caps) || are_alone_in_turn(p, caps) ||
            are_short_and_in_turn(p, caps));
}

// Do rows, or their halves, fill the lanes by themselves where they are not worked alone?
static bool fill_lanes(const struct kal_problem *p, const struct kal_caps *caps)
{
    const struct kal_caps limited = kal_caps_limit(caps, p->precision == KALLIMA_F64);
    const int64_t n = p->n[p->rank - 1];
    const struct kal_axis row = { .n = p->kind == KALLIMA_C2C ? n : n / 2,
                                  .lines = INT_MAX,
                                  .array_bytes = bytes_of(p),
                                  .mirrors_first = p->kind == KALLIMA_C2R,
                                  .mirrors_last = p->kind == KALLIMA_R2C };
    return kal_line_rows(&row, &limited) > 0;
}

// Real rows by steps whose registers their neighbours fill, and longer ones. Of large
// arrays tiles are asked for ahead, and doubles whose halves fill the lanes go past the
// caches.
bool kal_rows_are_fast_reals(const struct kal_problem *p, const struct kal_caps *caps)
{
    enum { LONGEST = 2048, FILL_F32 = 16, FILL_F64 = 8 };
    enum { FILLED_F32 = 176, FILLED_F64 = 88, ANY_F32 = 300, ANY_F64 = 270 };
    const double MOST_BYTES = 20e6, MOST_PAST = 4e6;
    const bool is_f64 = p->precision == KALLIMA_F64;
    const int64_t n = p->n[p->rank - 1];
    const int shortest = n % (is_f64 ? FILL_F64 : FILL_F32) == 0
                             ? (is_f64 ? FILLED_F64 : FILLED_F32)
                             : (is_f64 ? ANY_F64 : ANY_F32);
    const bool go_past = is_f64 && p->kind == KALLIMA_C2R && fill_lanes(p, caps);
    return n % 2 == 0 && n >= shortest && n <= LONGEST && kal_radix_divides(n / 2) &&
           bytes_of(p) / 2 <= (go_past ? MOST_PAST : MOST_BYTES);
}

// Complex ones up to where lines fill the lanes by themselves, or beyond that where they
// cannot. Arrays that are larger go past the caches, in tiles.
static bool are_fast_numbers(const struct kal_problem *p, const struct kal_caps *caps)
{
    enum { SHORTEST_F32 = 84, SHORTEST_F64 = 66, LONGEST = 1024 };
    enum { FILLING_F32 = 256, FILLING_F64 = 250 };
    const double MOST_BYTES = 4e6;
    const bool is_f64 = p->precision == KALLIMA_F64;
    const int64_t n = p->n[p->rank - 1];
    const int longest = !fill_lanes(p, caps) ? LONGEST
                        : is_f64             ? FILLING_F64
                                             : FILLING_F32;
    return n >= (is_f64 ? SHORTEST_F64 : SHORTEST_F32) && n <= longest &&
           bytes_of(p) <= MOST_BYTES && kal_radix_divides(n);
}

// Loading and storing tiles of rows, which turns them, took a third of r2c 256x256 and
// 512x512. Measured in November 2026 on Xeons with AVX-512, against tiles of rows and
// lines on their own lanes: 222 planes, volumes and batches with rows of 64 to 2048
// points, those that this leaves as they were too, take 0.94 of the time on one thread,
// squares of 320 to 512 real floats 0.70 to 0.90; 60 of them 0.94 on sixteen, complex
// squares of 256 and 320 doubles, which are left since, 1.1.
bool kal_rows_are_worked_alone(const struct kal_problem *p, const struct kal_caps *caps)
{
    return !caps->language && caps->steps_are_dear && p->rank > 1 &&
           kal_array_is_contiguous(&p->in, p->rank) &&
           kal_array_is_contiguous(&p->out, p->rank) &&
           !kal_rows_are_worked_in_turn(p, caps) && !kal_rows_are_long_reals(p, caps) &&
           !kal_rows_are_of_numbers(p, caps) &&
           (p->kind == KALLIMA_C2C ? are_fast_numbers(p, caps)
                                   : kal_rows_are_fast_reals(p, caps));
}

bool kal_rows_are_alone(const struct kal_problem *p, const struct kal_caps *caps)
{
    return are_alone_in_turn(p, caps) || kal_rows_are_worked_alone(p, caps);
}

// Bytes of columns that are shorter than that. Where steps are dear doubles of up to 2500
// points take 0.6 to 0.95 of the time alone, real ones back 0.3 to 0.95, such floats of
// up to 3000 points 0.54 to 1.0, other floats of 2500 and 3000 points 0.99 to 1.3.
static int64_t longest_column_alone(const struct kal_problem *p,
                                    const struct kal_caps *caps)
{
    enum { ON_STACK = 16 << 10, DEAR_F64 = 41 << 10, DEAR_BACK = 24 << 10 };
    if (!caps->steps_are_dear)
        return ON_STACK;
    if (p->precision == KALLIMA_F64)
        return DEAR_F64;
    return p->kind == KALLIMA_C2R ? DEAR_BACK : ON_STACK;
}

// Two and three, of one visit, whose program mostly needs no more than the stack.
// Measured there, too, 31 lengths alone and in batches: of floats those by which
// registers are filled take 1.3 to 2.3 times as long. Those of two to five real floats, 64
// to 2000 rows, alone and in batches, take 0.54 of the time on a Xeon. On Xeons in December
// 2026, where all columns are copied at once, doubles of 64 to 600 points, alone and 30 of
// them, take 0.71 to 1.07 of the time with AVX-512, three of them 0.88 to 1.06 held to
// AVX2; two that fill a register are 1.1 to 1.5 there, and four floats 0.83 to 1.5.
bool kal_columns_are_alone(const struct kal_problem *p, const struct kal_caps *caps)
{
    enum { FEWEST = 2, MOST = 3, SHORTEST = 64, SHORTEST_FULL = 600 };
    enum { FEWEST_LANES = 8 };
    const bool is_f64 = p->precision == KALLIMA_F64;
    const int64_t columns = p->kind == KALLIMA_C2C ? p->n[1] : p->n[1] / 2 + 1;
    const bool are_full = 2 * columns == kal_caps_lanes_of(caps, is_f64);

    if (caps->language || p->rank != 2 || columns < FEWEST || columns > MOST ||
        p->n[0] < (are_full ? SHORTEST_FULL : SHORTEST) || (are_full && p->batch > 1) ||
        caps->lanes_f32 < FEWEST_LANES ||
        p->n[0] * (is_f64 ? 16 : 8) >= longest_column_alone(p, caps))
        return false;
    const struct kal_caps limited = kal_caps_limit(caps, is_f64);
    const struct kal_axis column = { .n = p->n[0], .lines = 1 };
    return kal_array_is_contiguous(&p->in, p->rank) &&
           kal_array_is_contiguous(&p->out, p->rank) &&
           kal_line_is_visited_once(&column, &limited);
}

// Most reals in lines of one codelet: of more, what is looked up besides is a small part.
// Measured there, 468 batches: those of 512 to 65536 reals take 0.4 to 0.95 of the time,
// larger ones 0.98 to 1.02.
enum { MOST_REALS = 65536 };

// Lines of one codelet, of points or of reals.
static bool are_short(const struct kal_problem *p)
{
    return p->kind == KALLIMA_C2C ? kal_radix_exists(p->n[0])
                                  : kal_real_length_is_compiled(p->n[0]);
}

// Long lines that no register divides, of which a single one is worked in one visit: of
// more than some bytes, others are stored past the caches. Measured there, 124 batches of
// up to 6 MB: they take 0.75 of the time as a mean; complex doubles of multiples of four
// points as much as before. Floats that registers divide do so up to fewer bytes in those
// of 64 bytes: 60 lines of 9600 to 16128 points take 0.72 to 1.06 of the time in other
// ways on a Zen 5 processor, 0.88 as a mean, on a Xeon 0.78 to 0.99, on its sixteen
// threads 0.9 to 1.2.
static bool are_uneven(const struct kal_problem *p, const struct kal_caps *caps,
                       int64_t points)
{
    enum { MOST_BYTES = 8 << 20, MOST_OF_ROWS = 4 << 20, FEWEST_DOUBLES = 4 };
    const bool is_f64 = p->precision == KALLIMA_F64;
    const struct kal_caps limited = kal_caps_limit(caps, is_f64);
    const struct kal_axis line = { .n = points, .lines = 1 };
    const struct kal_axis half = { .n = points,
                                   .lines = 1,
                                   .mirrors_first = p->kind == KALLIMA_C2R,
                                   .mirrors_last = p->kind == KALLIMA_R2C };
    const bool is_visited_once = kal_line_is_visited_once(&line, &limited) ||
                                 (p->kind != KALLIMA_C2C && caps->steps_are_dear &&
                                  kal_line_is_visited_once(&half, &limited));
    const bool has_rows = kal_caps_has_64_bytes(caps) && !caps->waits_for_stores &&
                          p->kind == KALLIMA_C2C && kal_line_rows(&line, &limited) > 0;

    return (p->kind != KALLIMA_C2C || !is_f64 || points % FEWEST_DOUBLES != 0) &&
           is_visited_once &&
           p->batch <=
               (has_rows ? MOST_OF_ROWS : MOST_BYTES) / (is_f64 ? 16 : 8) / points;
}

// Halves of real lines that are worked in their output, and split before they are stored:
// batches of two to 1000 take 0.71 to 1.01 of the time so on a Xeon, 0.87 as a mean,
// measured in November 2026.
static bool are_split_there(const struct kal_problem *p, const struct kal_caps *caps,
                            int64_t points)
{
    enum { DOUBLES = 896, FLOATS = 2048 };
    const bool is_f64 = p->precision == KALLIMA_F64;
    const struct kal_caps limited = kal_caps_limit(caps, is_f64);
    const struct kal_axis half = { .n = points, .lines = p->batch, .mirrors_last = true };

    if (!caps->steps_are_dear || p->kind != KALLIMA_R2C ||
        points < (is_f64 ? DOUBLES : FLOATS))
        return false;
    const int64_t length = kal_line_rows(&half, &limited);
    return length > 0 &&
           kal_radix_folds_in_two(points / length, kal_caps_lanes(&limited));
}

bool kal_lines_are_alone(const struct kal_problem *p, const struct kal_caps *caps)
{
    enum { LONGEST = 1024, FEW_LINES = 7 };
    const bool is_real = p->kind != KALLIMA_C2C;
    const int64_t points = is_real ? p->n[0] / 2 : p->n[0];

    if (caps->language || caps->lanes_f32 == 1 || p->rank != 1 || p->batch == 1 ||
        !kal_array_is_contiguous(&p->in, p->rank) ||
        !kal_array_is_contiguous(&p->out, p->rank))
        return false;
    if (are_short(p) || kal_rows_are_long_reals(p, caps) ||
        kal_rows_are_of_numbers(p, caps))
        return p->batch <= (is_real ? MOST_REALS : ALL) / p->n[0];
    if (points < 1 || (is_real && p->n[0] % 2) || !kal_radix_divides(points))
        return false;
    if (are_split_there(p, caps, points))
        return false;
    if (points > LONGEST)
        return are_uneven(p, caps, points);
    struct batch batch;
    init_batch(&batch, p, caps, points);
    if (are_faster_by_twos(&batch, caps))
        return p->batch <= FEW_LINES;
    if (are_faster_by_two_steps(&batch) || are_tiles_left_empty(&batch, p->batch))
        return true;
    if (batch.lanes == WIDE && batch.has_short_columns && p->batch > FEW_LINES)
        return are_faster_than_columns(&batch, p->batch);
    return (p->batch <= most_lines(is_real, batch.is_f64, points) &&
            p->batch <= ALL / points) ||
           are_many_alone(&batch);
}
