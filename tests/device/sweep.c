// SPDX-License-Identifier: MIT
// Every length, kind, precision and direction, on lines that lie in the three ways that the
// planner tells apart: one line, a few rows, many adjacent columns.
#include <math.h>
#include <stdlib.h>

#include "suite.h"

enum { TURNS = 1024 };  // lengths that lengths_take_turns() tests,
enum { CODELETS = 64 }; // and those of which all are, but in a brief run

enum lines { LINES_ONE, LINES_ROWS, LINES_COLUMNS, LINES_COUNT };

static void set_lines(kallima_desc *d, enum lines lines)
{
    enum { ROWS = 5, COLUMNS = 19 };
    if (lines == LINES_ROWS)
        d->batch = ROWS;
    if (lines != LINES_COLUMNS)
        return;
    d->batch = COLUMNS;
    d->in.stride[0] = d->out.stride[0] = COLUMNS;
    d->in.batch_stride = d->out.batch_stride = 1;
}

static void check_line(int kind, int precision, int direction, int64_t n,
                       enum lines lines)
{
    struct trial t = { .desc = problem_line(kind, precision, direction, n),
                       .seed = (uint64_t)n * 1009 + (uint64_t)lines };
    set_lines(&t.desc, lines);
    t.way = (enum way)((n + kind + precision) % WAY_COUNT);
    suite_check(&t, suite.device);
}

static void check_sampled(int kind, int precision, int direction, int64_t n,
                          enum lines lines)
{
    const int row = ((kind * 2 + precision) * 2 + direction) * LINES_COUNT + (int)lines;
    if (suite_takes((uint64_t)(n * 100 + row), n < 4000 ? 10 : suite.is_brief ? 1 : 2))
        check_line(kind, precision, direction, n, lines);
}

// All kinds and directions of one length and precision.
static void check_length(int64_t n, int precision, enum lines lines)
{
    check_sampled(KALLIMA_C2C, precision, KALLIMA_FORWARD, n, lines);
    check_sampled(KALLIMA_C2C, precision, KALLIMA_INVERSE, n, lines);
    check_sampled(KALLIMA_R2C, precision, KALLIMA_FORWARD, n, lines);
    check_sampled(KALLIMA_C2R, precision, KALLIMA_INVERSE, n, lines);
}

// Where every plan is compiled, each length is planned once: what else may differ takes
// turns, at random.
static struct trial take_turn(int kind, int precision, int64_t n)
{
    struct random r = { (uint64_t)(n * 10 + kind * 2 + precision) };
    const int direction = kind == KALLIMA_C2C ? (int)random_between(&r, 0, 1) : 0;
    const enum lines lines = (enum lines)random_between(&r, 0, LINES_COUNT - 1);
    struct trial t = { .desc = problem_line(kind, precision, direction, n),
                       .seed = (uint64_t)n,
                       .way = (enum way)random_between(&r, 0, WAY_COUNT - 1) };

    set_lines(&t.desc, lines);
    if (kind == KALLIMA_C2C || lines != LINES_COLUMNS)
        t.desc.placement = (int32_t)random_between(&r, 0, 1);
    if (kind == KALLIMA_C2C && random_between(&r, 0, 3) == 0)
        t.desc.in.format = t.desc.out.format = KALLIMA_PLANAR;
    return t;
}

// Every length in f32; a sample of them otherwise.
static void check_turns(int64_t n)
{
    static const struct {
        int kind, precision;
    } others[] = {
        { KALLIMA_C2C, KALLIMA_F64 }, { KALLIMA_R2C, KALLIMA_F32 },
        { KALLIMA_C2R, KALLIMA_F64 }, { KALLIMA_R2C, KALLIMA_F64 },
        { KALLIMA_C2R, KALLIMA_F32 },
    };
    struct trial t = take_turn(KALLIMA_C2C, KALLIMA_F32, n);
    suite_check(&t, suite.device);
    for (int i = 0; i < 5; i++) {
        t = take_turn(others[i].kind, others[i].precision, n);
        if (suite_takes((uint64_t)(n * 5 + i), n <= 64 ? 5 : 20))
            suite_check(&t, suite.device);
    }
}

void lengths_take_turns(void **state)
{
    (void)state;
    for (int64_t n = 1; n <= TURNS; n++) {
        const bool is_codelet = n <= CODELETS && !suite.is_brief;
        if (is_codelet || suite_takes((uint64_t)n, suite.is_brief ? 2 : 1))
            check_turns(n);
    }
    ROWS_FINISH();
}

// How short lines lie: apart on one side or on both, beside each other, in planes, in
// their own place.
enum places { APART, APART_IN, BESIDE, PLANES, PLANES_IN, OWN_PLACE, PLACES_COUNT };

static void set_side(kallima_layout *side, int64_t stride, int64_t batch_stride,
                     int32_t format)
{
    side->stride[0] = stride;
    side->batch_stride = batch_stride;
    side->format = format;
}

static void set_places(kallima_desc *d, enum places places)
{
    const int64_t n = d->n[0], half = n / 2 + 1, b = d->batch;
    const int64_t in = d->kind == KALLIMA_C2R ? half : n;
    const int64_t out = d->kind == KALLIMA_R2C ? half : n;

    d->in.offset = 1;
    switch (places) {
    case APART:
        set_side(&d->in, 2, 2 * in + 1, KALLIMA_INTERLEAVED);
        set_side(&d->out, 3, 3 * out, KALLIMA_INTERLEAVED);
        break;
    case APART_IN: set_side(&d->in, 5, 5 * in, KALLIMA_INTERLEAVED); break;
    case BESIDE:
        set_side(&d->in, b, 1, KALLIMA_INTERLEAVED);
        set_side(&d->out, b + 1, 1, KALLIMA_INTERLEAVED);
        break;
    case PLANES:
        set_side(&d->in, 1, in, KALLIMA_PLANAR);
        set_side(&d->out, 1, out + 2, KALLIMA_PLANAR);
        break;
    case PLANES_IN:
        set_side(&d->in, 3, 3 * in, KALLIMA_PLANAR);
        set_side(&d->out, b, 1, KALLIMA_INTERLEAVED);
        break;
    default: // reals and their coefficients share memory where both are one behind the other
        d->placement = KALLIMA_IN_PLACE;
        d->in.offset = 0;
        if (d->kind == KALLIMA_C2C) {
            set_side(&d->in, 3, 3 * n, KALLIMA_INTERLEAVED);
            d->out = d->in;
        }
    }
}

// All kinds and precisions of one length, in one of the places: suite_takes() one of so many.
static void check_places(int64_t n, enum places places, const int64_t *batches, int count,
                         int one_of, uint64_t *row)
{
    for (int i = 0; i < KALLIMA_PRECISION_COUNT * KALLIMA_KIND_COUNT; i++, ++*row) {
        const int kind = i / KALLIMA_PRECISION_COUNT,
                  precision = i % KALLIMA_PRECISION_COUNT;
        const bool is_inverse = kind == KALLIMA_C2R || (kind == KALLIMA_C2C && *row % 2);
        struct trial t = { .desc = problem_line(kind, precision, is_inverse, n),
                           .seed = *row + 1,
                           .way = (enum way)(*row % WAY_COUNT) };
        t.desc.batch = batches[*row % (uint64_t)count];
        t.desc.scale = *row % 3 == 0 ? 0.5 : 0.0;
        set_places(&t.desc, places);
        if (suite_takes(*row, one_of))
            suite_check(&t, suite.device);
    }
}

// All codelets, and what lies between them, wherever their lines are, in batches that
// fill registers and do not.
void short_lines_lie_anywhere(void **state)
{
    enum { LONGEST = 33 };
    static const int64_t batches[] = { 1, 2, 3, 4, 5, 7, 8, 9, 16, 19, 33 };
    uint64_t row = 0;

    (void)state;
    for (int64_t n = 1; n <= LONGEST; n++) {
        for (int places = 0; places < PLACES_COUNT; places++)
            check_places(n, (enum places)places, batches,
                         sizeof batches / sizeof *batches, 3, &row);
    }
    ROWS_FINISH();
}

// Longer ones, in batches of few, of which some are copied.
void few_lines_lie_anywhere(void **state)
{
    static const int64_t batches[] = { 1, 2, 3, 4, 5 };
    static const int64_t lengths[] = { 34,  36,  49,   77,   100,  128,
                                       250, 509, 1000, 1024, 4095, 8191 };
    uint64_t row = 0;

    (void)state;
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        const int64_t n = lengths[i];
        for (int places = 0; places < PLACES_COUNT && !(suite.is_brief && n > 300);
             places++)
            check_places(n, (enum places)places, batches,
                         sizeof batches / sizeof *batches, suite.is_brief ? 1 : 3, &row);
    }
    ROWS_FINISH();
}

// Lengths with a large prime factor, in as many lines as share tiles though these leave
// the nearer cache.
void convolutions_of_many_lines_are_computed(void **state)
{
    static const int64_t batches[] = { 65, 257 };
    static const int64_t lengths[] = { 134, 502, 1318, 1307, 2614, 3001, 2503, 5003 };
    uint64_t row = 0;

    (void)state;
    for (size_t i = 0; i < (suite.is_brief ? 3 : sizeof lengths / sizeof *lengths); i++)
        check_places(lengths[i], (enum places)(i % PLACES_COUNT), batches,
                     sizeof batches / sizeof *batches, suite.is_brief ? 1 : 3, &row);
    ROWS_FINISH();
}

// Every length up to 130; above, every one in the long run, else one of 61, plus those that
// tend to be special.
static bool is_chosen(int64_t n)
{
    const bool took_turns = suite.takes_kernels && !suite.is_long && n <= TURNS;
    static const int64_t special[] = { 144,  169,  240,  243,  255,  256,  257,  343,
                                       347,  360,  384,  511,  512,  513,  625,  768,
                                       1000, 1009, 1021, 1023, 1024, 1025, 1331, 1536,
                                       1920, 2047, 2048, 2039, 2049, 2050 };
    if (took_turns)
        return false;
    if (suite.is_long || n <= (suite.is_brief ? 40 : 130) ||
        (n % 61 == 0 && !suite.is_brief))
        return true;
    for (size_t i = 0; i < sizeof special / sizeof special[0]; i++) {
        if (special[i] == n)
            return true;
    }
    return false;
}

void lengths_match_the_oracle(void **state)
{
    (void)state;
    for (int64_t n = 1; n <= 2050; n++) {
        if (!is_chosen(n))
            continue;
        for (int lines = 0; lines < LINES_COUNT; lines++) {
            // In the quick run the precisions take turns on long lines.
            for (int precision = 0; precision < KALLIMA_PRECISION_COUNT; precision++) {
                if (suite.is_long || n <= (suite.is_brief ? 16 : 64) ||
                    (n + lines) % 2 == precision)
                    check_length(n, precision, (enum lines)lines);
            }
        }
    }
    ROWS_FINISH();
}

// One row in the quick run, the whole table in the long one.
// clang-format off
static const struct {
    int64_t n;
    bool quick;
} large[] = {
    { 4095, true },     { 4096, true },    { 4097, false },   { 8191, true },
    { 8192, false },    { 8193, false },   { 16383, false },  { 16384, true },
    { 16385, false },   { 32767, false },  { 32768, true },   { 32769, false },
    { 65535, false },   { 65536, true },   { 65537, true },   { 131071, false },
    { 131072, true },   { 131073, false }, { 262143, false }, { 262144, false },
    { 262145, false },  { 524287, false }, { 524288, false }, { 1048575, false },
    { 1048576, false }, { 1048577, false },{ 2097152, false },
    { 2187, false },    { 6561, true },    { 19683, false },  { 59049, true },
    { 177147, false },  { 531441, false },
    { 3125, true },     { 15625, false },  { 78125, true },   { 390625, false },
    { 2401, false },    { 16807, true },   { 117649, false }, { 823543, false },
    { 14641, true },    { 161051, false }, { 2197, true },    { 28561, false },
    { 371293, false },  { 3000, false },   { 5040, true },    { 10000, false },
    { 27720, true },    { 30030, true },   { 100000, true },  { 720720, false },
    { 1000000, false },
    { 2053, true },     { 2081, false },   { 3001, false },   { 4093, false },
    { 5003, true },     { 7919, false },   { 10007, true },   { 12289, false },
    { 16381, false },   { 20011, false },  { 32749, false },  { 40961, true },
    { 50021, false },   { 65521, false },  { 75011, false },  { 99991, false },
    { 100003, true },   { 2 * 2053, true },{ 3 * 10007, false }, { 17 * 19 * 23, true },
    { 37 * 41 * 43, false }, { 257 * 257, true }, { 509 * 64, true }, { 1009 * 997, false },
};
// clang-format on

void large_lengths_match_the_oracle(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof large / sizeof large[0]; i++) {
        if (!suite.is_long && (!large[i].quick || (suite.is_brief && large[i].n > 11000)))
            continue;
        for (int precision = 0; precision < KALLIMA_PRECISION_COUNT; precision++) {
            if (suite.is_long)
                check_length(large[i].n, precision, LINES_ONE);
            else if ((int)(i % 2) == precision)
                check_sampled(KALLIMA_C2C, precision, (int)(i / 2 % 2), large[i].n,
                              LINES_ONE);
            else
                check_sampled((i / 2) % 2 ? KALLIMA_R2C : KALLIMA_C2R, precision,
                              KALLIMA_FORWARD, large[i].n, LINES_ONE);
            if (large[i].n < 40000 && (suite.is_long || precision == 0))
                check_sampled(KALLIMA_C2C, precision, KALLIMA_FORWARD, large[i].n,
                              i % 2 ? LINES_ROWS : LINES_COLUMNS);
        }
    }
    ROWS_FINISH();
}

// Lines so long that the mirrored step is done on tiles of their rows, or of their
// columns: some of an odd number of these, or of one that no tiles divide, one after the
// other, in place.
void long_real_lines_match_the_oracle(void **state)
{
    static const struct {
        int64_t n, batch;
        int precision;
        double scale;
        kallima_placement placement;
    } lines[] = {
        { 262144, 1, KALLIMA_F64, 1.0, KALLIMA_OUT_OF_PLACE },
        { 524288, 1, KALLIMA_F32, 0.5, KALLIMA_IN_PLACE },
        { 354294, 2, KALLIMA_F64, 0.3, KALLIMA_OUT_OF_PLACE },
        { 600250, 1, KALLIMA_F32, 1.0, KALLIMA_OUT_OF_PLACE },
        { 300000, 3, KALLIMA_F64, 1.0, KALLIMA_IN_PLACE },
        // Each of one thread, those of the second one at a time in the output.
        { 88200, 3, KALLIMA_F32, 0.5, KALLIMA_OUT_OF_PLACE },
        { 100000, 5, KALLIMA_F64, 1.0, KALLIMA_OUT_OF_PLACE },
        { 48000, 2, KALLIMA_F64, 1.0, KALLIMA_IN_PLACE },
    };

    (void)state;
    if (suite.is_brief || suite.takes_kernels)
        skip();
    for (size_t i = 0; i < 2 * (sizeof lines / sizeof lines[0]); i++) {
        struct trial t = { .seed = i + 1, .way = (enum way)(i % WAY_COUNT) };
        t.desc = (kallima_desc){ .kind = i % 2 ? KALLIMA_C2R : KALLIMA_R2C,
                                 .direction = i % 2 ? KALLIMA_INVERSE : KALLIMA_FORWARD,
                                 .precision = lines[i / 2].precision,
                                 .placement = lines[i / 2].placement,
                                 .rank = 1,
                                 .n = { lines[i / 2].n },
                                 .batch = lines[i / 2].batch,
                                 .scale = lines[i / 2].scale };
        suite_check(&t, suite.device);
    }
    ROWS_FINISH();
}

void million_and_three_matches_the_oracle(void **state)
{
    (void)state;
    if (suite.is_brief)
        skip();
    check_line(KALLIMA_C2C, KALLIMA_F64, KALLIMA_FORWARD, 1000003, LINES_ONE);
    if (suite.is_long) {
        check_length(1000003, KALLIMA_F32, LINES_ONE);
        check_length(1000003, KALLIMA_F64, LINES_ONE);
    }
    ROWS_FINISH();
}

static long double oracle_distance(const kallima_desc *d, uint64_t seed)
{
    struct random r = { seed };
    oracle_complex in[512], a[512], b[512];
    long double error = 0.0L, power = 0.0L;

    for (int i = 0; i < 512; i++) {
        const double re = random_real(&r);
        in[i] = re + random_real(&r) * (oracle_complex)I;
    }
    if (d->kind == KALLIMA_C2R)
        oracle_make_hermitian(d, in);
    for (int i = 0; i < 512 && d->kind == KALLIMA_R2C; i++)
        in[i] = creall(in[i]);
    oracle_by_definition(d, in, a);
    oracle_by_fftw(d, in, b);
    const int64_t last = d->n[d->rank - 1];
    const int64_t line = d->kind == KALLIMA_R2C ? last / 2 + 1 : last;
    for (int64_t i = 0; i < desc_points(d) / last * line * desc_batch(d); i++) {
        error += powl(cabsl(a[i] - b[i]), 2);
        power += powl(cabsl(a[i]), 2);
    }
    return sqrtl(error / power);
}

// The judges are judged: two ways that share no code agree to the precision of long double.
void oracles_agree(void **state)
{
    static const kallima_desc problems[] = {
        { .rank = 1, .n = { 1 } },
        { .rank = 1, .n = { 12 }, .batch = 3, .scale = 0.5 },
        { .rank = 1, .n = { 97 }, .direction = KALLIMA_INVERSE },
        { .rank = 3, .n = { 3, 4, 5 }, .batch = 2 },
        { .rank = 2, .n = { 6, 9 }, .kind = KALLIMA_R2C },
        { .rank = 3, .n = { 4, 3, 8 }, .kind = KALLIMA_C2R, .batch = 2 },
        { .rank = 2, .n = { 5, 7 }, .kind = KALLIMA_C2R },
    };
    (void)state;
    if (!oracle_has_fftw)
        skip();
    for (size_t i = 0; i < sizeof problems / sizeof problems[0]; i++)
        ROW_CHECK(oracle_distance(&problems[i], i + 1) < 1e-17L);
    ROWS_FINISH();
}
