// SPDX-License-Identifier: MIT
// Strides, offsets, formats, placements, ranks and batches.
#include "codelet/planes.h"
#include "suite.h"

// Lengths that the recipes treat differently, and shapes of up to four axes, some of size 1.
static const kallima_desc shapes[] = {
    { .rank = 1, .n = { 1 }, .batch = 7 },
    { .rank = 1, .n = { 2 }, .batch = 33 },
    { .rank = 1, .n = { 12 }, .batch = 20 },
    { .rank = 1, .n = { 64 }, .batch = 3 },
    { .rank = 1, .n = { 101 }, .batch = 4 },
    { .rank = 1, .n = { 47 }, .batch = 18 },
    { .rank = 1, .n = { 240 }, .batch = 17 },
    { .rank = 1, .n = { 1000 } },
    { .rank = 1, .n = { 1021 }, .batch = 2 },
    { .rank = 2, .n = { 1, 30 } },
    { .rank = 2, .n = { 30, 1 }, .batch = 2 },
    { .rank = 2, .n = { 33, 35 } },
    { .rank = 2, .n = { 64, 64 } },
    { .rank = 2, .n = { 11, 101 }, .batch = 2 },
    { .rank = 2, .n = { 94, 18 } },
    { .rank = 3, .n = { 5, 1, 9 }, .batch = 3 },
    { .rank = 3, .n = { 7, 8, 9 }, .batch = 2 },
    { .rank = 3, .n = { 16, 17, 18 } },
    { .rank = 4, .n = { 3, 5, 4, 7 } },
    { .rank = 4, .n = { 1, 6, 1, 10 }, .batch = 2 },
    { .rank = 2, .n = { 1, 1 }, .batch = 20 }, // copied some at a time, and the rest
    { .rank = 2, .n = { 6, 4 }, .batch = 23 },
    { .rank = 1, .n = { 30 }, .batch = 50 },
    { .rank = 1, .n = { 48 }, .batch = 29 },
};

static const kallima_desc many_axes[] = {
    { .rank = 5, .n = { 2, 3, 1, 4, 5 } },
    { .rank = 6, .n = { 3, 2, 2, 3, 1, 6 }, .batch = 2 },
    { .rank = 7, .n = { 2, 1, 3, 2, 2, 1, 7 } },
    { .rank = 8, .n = { 2, 2, 2, 2, 2, 2, 2, 2 } },
    { .rank = 8, .n = { 1, 3, 1, 2, 1, 5, 1, 3 }, .batch = 3 },
    { .rank = 8, .n = { 1, 1, 1, 1, 1, 1, 1, 1 } },
};

static void check_shape(const kallima_desc *shape, uint64_t seed)
{
    for (int i = 0; i < STYLE_COUNT * KALLIMA_KIND_COUNT * 4; i++) {
        if (!suite_takes(seed * 1000 + (uint64_t)i, 8))
            continue;
        struct random r = { seed * 1000 + (uint64_t)i };
        struct trial t = { .desc = *shape,
                           .seed = r.state,
                           .way = (enum way)(i / 2 % 4) };
        t.desc.kind = i % KALLIMA_KIND_COUNT;
        t.desc.precision = i / 12 % 2;
        t.desc.placement = i / 24 % 2;
        t.desc.direction = t.desc.kind == KALLIMA_C2C && i % 2;
        t.desc.destroy_input = i % 5 == 4;
        problem_lay_out(&t.desc, (enum style)(i / 3 % STYLE_COUNT), &r);
        suite_check(&t, suite.device);
    }
}

void every_style_of_layout_is_computed(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++)
        check_shape(&shapes[i], i + 1);
    ROWS_FINISH();
}

void shapes_of_many_axes_are_computed(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof many_axes / sizeof many_axes[0]; i++)
        check_shape(&many_axes[i], i + 100);
    ROWS_FINISH();
}

void random_problems_are_computed(void **state)
{
    (void)state;
    const int count = suite.is_long ? 20000 : suite.is_brief ? 150 : 500;
    for (int i = 0; i < count; i++) {
        struct random r = { 0x5eed0000u + (uint64_t)i };
        if (!suite_takes((uint64_t)i, 3))
            continue;
        struct trial t = { .desc = problem_random(&r, i % 10 == 0 ? 20000 : 1500) };
        t.seed = r.state;
        t.way = (enum way)random_between(&r, 0, WAY_COUNT - 1);
        suite_check(&t, suite.device);
    }
    ROWS_FINISH();
}

void scales_are_applied(void **state)
{
    static const double scales[] = { 1.0, -1.0, 0.25, 1.0 / 3.0, 1.0 / 640.0, 1e6, 1e-6 };
    static const int64_t lengths[] = { 40, 97, 101, 640, 1009, 4096 };

    (void)state;
    for (size_t i = 0; i < sizeof scales / sizeof scales[0]; i++) {
        for (size_t k = 0; k < sizeof lengths / sizeof lengths[0]; k++) {
            for (int kind = 0; kind < KALLIMA_KIND_COUNT; kind++) {
                struct trial t = { .seed = i * 10 + k };
                if (!suite_takes(t.seed * 3 + (uint64_t)kind, 4))
                    continue;
                t.desc =
                    problem_line(kind, (int)(i + k) % 2, KALLIMA_FORWARD, lengths[k]);
                t.desc.scale = scales[i];
                t.desc.batch = 1 + (int64_t)(k % 2) * 5;
                suite_check(&t, suite.device);
            }
        }
    }
    ROWS_FINISH();
}

// Arrays whose columns push each other out of a CPU's caches where they are written in
// place: near a core, planes of them near a core, and too large for that.
void arrays_that_meet_in_cache_sets_are_computed(void **state)
{
    static const kallima_desc arrays[] = {
        { .rank = 2, .n = { 48, 512 }, .batch = 3 },
        { .rank = 2, .n = { 256, 64 }, .batch = 2 },
        { .rank = 2, .n = { 300, 512 } },
        { .rank = 2, .n = { 1024, 96 }, .batch = 2 },
        { .rank = 3, .n = { 40, 8, 128 } },
        { .rank = 3, .n = { 18, 48, 256 } },
        { .rank = 3, .n = { 2, 320, 256 }, .batch = 2 },
        { .rank = 4, .n = { 3, 17, 4, 512 } },
        { .rank = 4, .n = { 1, 70, 1, 512 } },
    };

    (void)state;
    if (suite.is_brief || suite.takes_kernels)
        skip();
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++) {
        for (int variant = 0; variant < 8; variant++) {
            struct random r = { i * 8 + (uint64_t)variant };
            struct trial t = { .desc = arrays[i],
                               .seed = r.state,
                               .way = (enum way)(variant / 2 % WAY_COUNT) };
            t.desc.precision = variant % 2;
            t.desc.direction = variant / 2 % 2;
            t.desc.placement = variant / 4;
            t.desc.scale = variant % 3 == 1 ? 0.375 : 0.0;
            if (variant % 4 == 3) {
                t.desc.in.format = KALLIMA_PLANAR;
                t.desc.out.format = KALLIMA_PLANAR;
            }
            suite_check(&t, suite.device);
        }
    }
    ROWS_FINISH();
}

// Lines of one codelet or two are scaled in ways of their own: alone, and many that are
// packed or not.
void scales_of_short_lines_are_applied(void **state)
{
    static const int64_t batches[] = { 1, 37, 70 };

    (void)state;
    for (int64_t n = 2; n <= 40; n++) {
        for (int i = 0; i < 3 * KALLIMA_KIND_COUNT * KALLIMA_PRECISION_COUNT; i++) {
            const int kind = i / 3 % KALLIMA_KIND_COUNT,
                      precision = i / 3 / KALLIMA_KIND_COUNT;
            struct trial t = { .seed = (uint64_t)(n * 100 + i) };
            if (!suite_takes(t.seed, 16))
                continue;
            t.desc = problem_line(
                kind, precision,
                kind == KALLIMA_C2C && n % 2 ? KALLIMA_INVERSE : KALLIMA_FORWARD, n);
            t.desc.scale = 1.0 / 3.0;
            t.desc.batch = batches[i % 3];
            if (i % 3 == 2) { // gaps, which must stay as they are
                t.desc.in.stride[0] = t.desc.out.stride[0] = 1;
                t.desc.in.batch_stride = n + 5;
                t.desc.out.batch_stride = n + 7;
            }
            suite_check(&t, suite.device);
        }
    }
    ROWS_FINISH();
}

enum { BATCH_PACKED, BATCH_APART, BATCH_IN_PLACE, BATCH_WAYS };
enum { BATCH_SORTS = BATCH_WAYS * KALLIMA_KIND_COUNT * KALLIMA_PRECISION_COUNT };

// A batch that lies apart: with gaps, which must stay as they are.
struct apart {
    double scale;
    int64_t offset, in_gap, out_gap;
};

// `sort` numbers ways, kinds and precisions.
static void check_batch(int64_t n, int64_t lines, int sort, bool is_inverse,
                        const struct apart *apart, uint64_t seed)
{
    const int way = sort % BATCH_WAYS, kind = sort / BATCH_WAYS % KALLIMA_KIND_COUNT;
    struct trial t = { .seed = seed };

    if (!suite_takes(seed, 16))
        return;
    t.desc = problem_line(
        kind, sort / BATCH_WAYS / KALLIMA_KIND_COUNT,
        kind == KALLIMA_C2C && is_inverse ? KALLIMA_INVERSE : KALLIMA_FORWARD, n);
    t.desc.batch = lines;
    if (way == BATCH_APART) {
        t.desc.scale = apart->scale;
        t.desc.in.offset = apart->offset;
        t.desc.in.stride[0] = t.desc.out.stride[0] = 1;
        t.desc.in.batch_stride = n + apart->in_gap;
        t.desc.out.batch_stride = n + apart->out_gap;
    }
    t.desc.placement = way == BATCH_IN_PLACE ? KALLIMA_IN_PLACE : KALLIMA_OUT_OF_PLACE;
    suite_check(&t, suite.device);
}

// Lines of one codelet fill registers of several widths, and some of them do not: every
// count of lines.
void short_lines_of_every_count_are_computed(void **state)
{
    enum { MOST_LINES = 37 };
    static const int longer[] = { 36, 40, 48, 50, 60, 64 }; // of reals

    (void)state;
    for (int64_t lines = 2; lines <= MOST_LINES; lines++) {
        const struct apart apart = { lines % 3 ? 0.75 : 1.0, 1, 3, 4 };
        for (int i = 0; i < BATCH_SORTS; i++)
            check_batch(2 + (lines * 7 + i) % 31, lines, i, lines % 2, &apart,
                        (uint64_t)(lines * 100 + i));
        for (int i = 0; i < BATCH_SORTS; i++)
            check_batch(longer[(lines + i) % 6], lines, i, lines % 2, &apart,
                        (uint64_t)(lines * 100 + BATCH_SORTS + i));
    }
    ROWS_FINISH();
}

enum { WITH_STRIDES, BESIDE, IN_PLANES, FROM_PLANES, ANY_WAYS };

static void lay_anywhere(kallima_desc *desc, int way)
{
    kallima_layout *in = &desc->in, *out = &desc->out;
    const int64_t n = desc->n[0];

    in->stride[0] = way == BESIDE ? desc->batch + 1 : way == IN_PLANES ? 1 : 3;
    in->batch_stride = way == BESIDE ? 1 : n * in->stride[0] + 1;
    out->stride[0] = way == BESIDE ? desc->batch : way == WITH_STRIDES ? 2 : 1;
    out->batch_stride = way == BESIDE ? 1 : n * out->stride[0] + 2;
    if (way == IN_PLANES || way == FROM_PLANES)
        in->format = KALLIMA_PLANAR;
    if (way == IN_PLANES)
        out->format = KALLIMA_PLANAR;
}

// Each length that has a codelet, and others: one line, few, and more than fill registers.
void short_lines_anywhere_are_computed(void **state)
{
    enum {
        LONGEST = 36,
        BATCHES = 4,
        SORTS = KALLIMA_KIND_COUNT * KALLIMA_PRECISION_COUNT
    };
    static const int64_t batches[BATCHES] = { 1, 2, 5, 23 };

    (void)state;
    for (int64_t n = 1; n <= LONGEST; n++) {
        for (int i = 0; i < BATCHES * ANY_WAYS * SORTS; i++) {
            struct trial t = { .seed = (uint64_t)(n * 1000 + i) };
            const int sort = i / BATCHES / ANY_WAYS, kind = sort % KALLIMA_KIND_COUNT;
            if (!suite_takes(t.seed, 32) || (suite.is_brief && (n + i) % 4))
                continue;
            t.desc = problem_line(
                kind, sort / KALLIMA_KIND_COUNT,
                kind == KALLIMA_C2C && i % 3 ? KALLIMA_INVERSE : KALLIMA_FORWARD, n);
            t.desc.batch = batches[i % BATCHES];
            t.desc.scale = (n + i) % 5 ? 1.0 : 0.75;
            lay_anywhere(&t.desc, i / BATCHES % ANY_WAYS);
            suite_check(&t, suite.device);
        }
    }
    ROWS_FINISH();
}

// Lengths with a prime that is no radix: each prime's by its roots or a chirp, those of
// several factors whole or divided, real ones as halves; by themselves and in tiles.
void convolved_lines_are_computed(void **state)
{
    enum { SORTS = KALLIMA_KIND_COUNT * KALLIMA_PRECISION_COUNT, BATCHES = 4 };
    enum { PACKED_WAYS = BATCH_WAYS, WAYS = PACKED_WAYS + ANY_WAYS };
    static const int64_t lengths[] = { 37,  43,  74,  82,  97,  101,  127,  139, 166,
                                       254, 257, 389, 461, 502, 1031, 1042, 2039 };
    static const int64_t batches[BATCHES] = { 1, 2, 5, 23 };
    const struct apart apart = { 0.75, 1, 3, 4 };

    (void)state;
    for (size_t k = 0; k < sizeof lengths / sizeof lengths[0]; k++) {
        for (int i = 0; i < BATCHES * WAYS * SORTS; i++) {
            const int way = i / BATCHES % WAYS, sort = i / BATCHES / WAYS;
            const int kind = sort % KALLIMA_KIND_COUNT;
            const int64_t lines = batches[i % BATCHES];
            struct trial t = { .seed = (uint64_t)(lengths[k] * 1000 + i) };
            const bool is_left =
                suite.is_brief && !suite.takes_kernels; // but for samples
            if (!suite_takes(t.seed, 32) || (is_left && (k + (size_t)i) % 8))
                continue;
            if (way < PACKED_WAYS) {
                check_batch(lengths[k], lines, sort * BATCH_WAYS + way, i % 3, &apart,
                            t.seed);
                continue;
            }
            t.desc = problem_line(kind, sort / KALLIMA_KIND_COUNT,
                                  kind == KALLIMA_C2C && i % 3 ? KALLIMA_INVERSE
                                                               : KALLIMA_FORWARD,
                                  lengths[k]);
            t.desc.batch = lines;
            t.desc.scale = (k + (size_t)i) % 5 ? 1.0 : 0.75;
            lay_anywhere(&t.desc, way - PACKED_WAYS);
            suite_check(&t, suite.device);
        }
    }
    ROWS_FINISH();
}

// So many that one thread of the CPU writes them past its caches, by way of a copy to
// places that begin no line of these: a seed decides by how many numbers they miss one.
void short_lines_past_the_caches_are_computed(void **state)
{
    enum { EACH = 5 }; // of a precision
    static const struct many {
        int64_t n, lines;
        int direction, seed;
        double scale;
        int64_t in_gap;
    } problems[KALLIMA_PRECISION_COUNT][EACH] = {
        { { 9, 470000, KALLIMA_FORWARD, 1, 1.0, 0 },
          { 16, 260000, KALLIMA_INVERSE, 2, 0.75, 0 },
          { 23, 180000, KALLIMA_FORWARD, 3, 1.0, 1 },
          { 45, 95000, KALLIMA_INVERSE, 1, 1.0, 0 },
          { 48, 90000, KALLIMA_FORWARD, 0, 1.0, 0 } },
        { { 5, 420000, KALLIMA_INVERSE, 1, 1.0, 0 },
          { 16, 130000, KALLIMA_FORWARD, 3, 0.75, 1 },
          { 17, 125000, KALLIMA_FORWARD, 0, 1.0, 0 },
          { 25, 85000, KALLIMA_INVERSE, 2, 1.0, 0 },
          { 28, 76000, KALLIMA_FORWARD, 0, 1.0, 0 } },
    };

    (void)state;
    if (suite.is_brief || suite.takes_kernels)
        skip();
    kallima_device *device = suite_open(1, NULL);
    for (int i = 0; i < EACH * KALLIMA_PRECISION_COUNT; i++) {
        const struct many *p = &problems[i / EACH][i % EACH];
        struct trial t = { .seed = (uint64_t)p->seed, .way = WAY_OWNED };
        t.desc = problem_line(KALLIMA_C2C, i / EACH, p->direction, p->n);
        t.desc.batch = p->lines;
        t.desc.scale = p->scale;
        t.desc.in.stride[0] = t.desc.out.stride[0] = 1;
        t.desc.in.batch_stride = p->n + p->in_gap;
        t.desc.out.batch_stride = p->n;
        suite_check(&t, device);
    }
    kallima_device_close(&device);
    ROWS_FINISH();
}

// Batches of which each line is worked by several steps of its own, and so many that a
// few threads of the CPU write them past its caches: they begin on lines of these or not,
// and so does each thread's share.
void single_lines_past_the_caches_are_computed(void **state)
{
    static const struct far_lines {
        kallima_kind kind;
        kallima_precision precision;
        int64_t n, lines;
        int direction, seed, threads;
        double scale;
    } problems[] = {
        { KALLIMA_C2C, KALLIMA_F32, 100, 7000, KALLIMA_FORWARD, 1, 1, 1.0 },
        { KALLIMA_C2C, KALLIMA_F32, 540, 1600, KALLIMA_INVERSE, 2, 3, 0.75 },
        { KALLIMA_C2C, KALLIMA_F64, 250, 1600, KALLIMA_FORWARD, 1, 3, 1.0 },
        { KALLIMA_C2C, KALLIMA_F64, 729, 500, KALLIMA_INVERSE, 0, 1, 0.75 },
        { KALLIMA_R2C, KALLIMA_F32, 400, 3500, KALLIMA_FORWARD, 3, 1, 1.0 },
        { KALLIMA_R2C, KALLIMA_F64, 232, 3000, KALLIMA_FORWARD, 1, 3, 0.75 },
        { KALLIMA_C2R, KALLIMA_F32, 1008, 1500, KALLIMA_INVERSE, 1, 3, 1.0 },
        { KALLIMA_C2R, KALLIMA_F64, 360, 2000, KALLIMA_INVERSE, 2, 1, 0.75 },
        { KALLIMA_C2C, KALLIMA_F32, 63, 10001, KALLIMA_FORWARD, 1, 3, 1.0 },
        { KALLIMA_C2C, KALLIMA_F64, 50, 7003, KALLIMA_INVERSE, 2, 1, 0.75 },
        { KALLIMA_C2C, KALLIMA_F64, 21, 20003, KALLIMA_FORWARD, 3, 3, 0.75 },
    };

    (void)state;
    if (suite.is_brief || suite.takes_kernels)
        skip();
    for (size_t i = 0; i < sizeof problems / sizeof *problems; i++) {
        const struct far_lines *p = &problems[i];
        struct trial t = { .seed = (uint64_t)p->seed, .way = WAY_OWNED };
        kallima_device *device = suite_open(p->threads, NULL);
        t.desc = problem_line(p->kind, p->precision, p->direction, p->n);
        t.desc.batch = p->lines;
        t.desc.scale = p->scale;
        suite_check(&t, device);
        kallima_device_close(&device);
    }
    ROWS_FINISH();
}

struct line_of_recipe {
    int64_t n, count;
    const char *recipe;
};

// They begin on lines of the caches or not, and are planes or not; output may be where input is.
static void check_lines(const struct line_of_recipe *lines, int count)
{
    // Output on a line of the caches, three reals behind one, and two, which is where
    // numbers may begin.
    static const uint64_t seeds[] = { 5, 6, 4 };
    enum {
        GAP = 3,
        LAYOUTS = 16, // two precisions, placements and formats, with gaps and without
        WAYS = 3 * LAYOUTS
    };

    for (int i = 0; i < WAYS * count; i++) {
        const int64_t n = lines[i / WAYS].n;
        struct trial t = { .seed = seeds[i / LAYOUTS % 3],
                           .recipe = lines[i / WAYS].recipe };
        t.desc = problem_line(KALLIMA_C2C, i & 1, i % 5 == 0, n);
        t.desc.placement = i >> 1 & 1;
        t.desc.batch = lines[i / WAYS].count;
        t.desc.scale = i % 7 ? 1.0 : 0.75;
        if (i >> 2 & 1) {
            t.desc.in.stride[0] = t.desc.out.stride[0] = 1;
            t.desc.in.batch_stride = t.desc.out.batch_stride = n + GAP;
        }
        if (i >> 3 & 1)
            t.desc.in.format = t.desc.out.format = KALLIMA_PLANAR;
        suite_check(&t, suite.device);
    }
}

// Lines that are worked one by one, or two by two, and leave the caches, as the recipes
// say: past them, some of them by way of a copy, or over their input.
void lines_that_leave_the_caches_are_computed(void **state)
{
    static const struct line_of_recipe lines[] = {
        { 64, 41, "four-step(local(8, hints=1), local(8))" },
        { 128, 31, "four-step(local(4.4, hints=1), local(8))" },
        { 512, 3, "four-step(local(4.16, hints=1), local(8))" },
        { 640, 3, "four-step(local(8.16, hints=1), local(5))" },
        { 680, 3, "four-step(local(8.17, hints=1), local(5))" },
        { 4000, 3, "four-step(local(20.20, hints=1), local(10))" },
        { 1000, 3, "four-step(local(5.25, hints=1), local(8))" },
        { 1024, 3, "four-step(local(4.16, hints=1), local(16))" },
        { 2048, 3, "four-step(local(16.16, hints=1), local(8))" },
        { 4096, 3, "four-step(local(16.16, hints=1), local(16))" },
        { 32768, 2, "four-step(local(8.16.8, hints=1), local(32))" },
    };

    (void)state;
    if (suite.takes_kernels)
        skip();
    check_lines(lines, sizeof lines / sizeof lines[0]);
    ROWS_FINISH();
}

// Lines that are worked in their output where their first radix fills one register or
// two, of 2 to 16 lanes, by two steps of columns and more.
void lines_in_their_output_are_computed(void **state)
{
    static const struct line_of_recipe lines[] = {
        { 2048, 2, "four-step(local(16.8), local(16))" },
        { 3840, 1, "four-step(local(16.3.5), local(16))" },
        { 8192, 2, "four-step(local(16.16), local(32))" },
        { 12288, 1, "four-step(local(16.3.2.4), local(32))" },
        { 768, 2, "four-step(local(8.12), local(8))" },
        { 2560, 1, "four-step(local(8.4.5), local(16))" },
        { 768, 2, "four-step(local(16.6), local(8))" },
        { 1536, 2, "four-step(local(16.6), local(16))" },
        { 1536, 1, "four-step(local(16.2.6), local(8))" },
        { 96, 2, "four-step(local(4.6), local(4))" },
        { 480, 1, "four-step(local(4.3.5), local(8))" },
        { 36, 2, "four-step(local(2.9), local(2))" },
        { 120, 1, "four-step(local(2.3.5), local(4))" },
    };

    (void)state;
    if (suite.takes_kernels)
        skip();
    check_lines(lines, sizeof lines / sizeof lines[0]);
    ROWS_FINISH();
}

// Arrays whose axes are one codelet each, or the longest one beside others, with rows
// that fill registers and rows that do not; input in rows so far apart that they meet in
// the sets of a cache, and output past the caches.
void arrays_of_codelets_are_computed(void **state)
{
    static const struct array {
        int rank;
        int64_t n[3], batch;
        int64_t gap; // numbers from a row to the next
        double scale;
        kallima_placement placement;
        int direction;
        bool is_large;
    } arrays[] = {
        { 2, { 32, 32 }, 3, 0, 1.0, KALLIMA_OUT_OF_PLACE, KALLIMA_FORWARD, false },
        { 2, { 25, 13 }, 2, 0, 1.0, KALLIMA_IN_PLACE, KALLIMA_INVERSE, false },
        { 2, { 64, 37 }, 1, 0, 0.5, KALLIMA_OUT_OF_PLACE, KALLIMA_INVERSE, false },
        { 2, { 64, 64 }, 3, 0, 1.0, KALLIMA_IN_PLACE, KALLIMA_FORWARD, false },
        { 2, { 31, 64 }, 2, 0, 1.0, KALLIMA_OUT_OF_PLACE, KALLIMA_FORWARD, false },
        { 2, { 16, 100 }, 2, 0, 1.0, KALLIMA_OUT_OF_PLACE, KALLIMA_INVERSE, false },
        { 2, { 20, 9 }, 2, 2, 1.0, KALLIMA_OUT_OF_PLACE, KALLIMA_FORWARD, false },
        { 2, { 64, 7 }, 1, 505, 1.0, KALLIMA_OUT_OF_PLACE, KALLIMA_FORWARD, false },
        { 2, { 30, 42 }, 3, 0, 0.5, KALLIMA_OUT_OF_PLACE, KALLIMA_FORWARD, false },
        { 2, { 48, 60 }, 2, 0, 1.0, KALLIMA_IN_PLACE, KALLIMA_INVERSE, false },
        { 2, { 11, 26 }, 2, 3, 0.5, KALLIMA_OUT_OF_PLACE, KALLIMA_INVERSE, false },
        { 3, { 5, 7, 3 }, 3, 0, 1.0, KALLIMA_OUT_OF_PLACE, KALLIMA_FORWARD, false },
        { 3, { 7, 5, 33 }, 3, 0, 1.0, KALLIMA_OUT_OF_PLACE, KALLIMA_INVERSE, false },
        { 3, { 16, 16, 16 }, 1, 0, 0.25, KALLIMA_OUT_OF_PLACE, KALLIMA_FORWARD, false },
        { 3, { 32, 32, 32 }, 1, 0, 1.0, KALLIMA_IN_PLACE, KALLIMA_INVERSE, false },
        { 3, { 16, 20, 8 }, 3, 0, 0.5, KALLIMA_OUT_OF_PLACE, KALLIMA_INVERSE, false },
        { 3, { 8, 16, 24 }, 2, 0, 1.0, KALLIMA_IN_PLACE, KALLIMA_FORWARD, false },
        { 2, { 48, 32 }, 2, 0, 1.0, KALLIMA_IN_PLACE, KALLIMA_FORWARD, false },
        { 2, { 48, 64 }, 1, 0, 1.0, KALLIMA_IN_PLACE, KALLIMA_INVERSE, false },
        { 2, { 40, 104 }, 2, 0, 1.0, KALLIMA_OUT_OF_PLACE, KALLIMA_FORWARD, false },
        { 2, { 256, 32 }, 2, 0, 0.5, KALLIMA_OUT_OF_PLACE, KALLIMA_FORWARD, false },
        { 3, { 6, 40, 16 }, 2, 0, 1.0, KALLIMA_OUT_OF_PLACE, KALLIMA_INVERSE, false },
        { 3, { 512, 2, 5 }, 1, 0, 0.5, KALLIMA_OUT_OF_PLACE, KALLIMA_INVERSE, true },
        { 2, { 4, 225 }, 300, 0, 1.0, KALLIMA_OUT_OF_PLACE, KALLIMA_FORWARD, true },
        { 2, { 32, 25 }, 700, 0, 1.0, KALLIMA_OUT_OF_PLACE, KALLIMA_FORWARD, true },
        { 2, { 64, 64 }, 150, 0, 1.0, KALLIMA_OUT_OF_PLACE, KALLIMA_INVERSE, true },
        { 2, { 35, 28 }, 700, 0, 1.0, KALLIMA_OUT_OF_PLACE, KALLIMA_FORWARD, true },
        { 2, { 300, 40 }, 50, 0, 0.5, KALLIMA_OUT_OF_PLACE, KALLIMA_INVERSE, true },
        { 3, { 16, 16, 16 }, 270, 0, 0.5, KALLIMA_OUT_OF_PLACE, KALLIMA_FORWARD, true },
        { 3, { 18, 6, 28 }, 360, 0, 1.0, KALLIMA_OUT_OF_PLACE, KALLIMA_INVERSE, true },
    };

    (void)state;
    kallima_device *device = suite.takes_kernels ? NULL : suite_open(1, NULL);
    for (size_t i = 0; i < 2 * (sizeof arrays / sizeof arrays[0]); i++) {
        const struct array *a = &arrays[i / 2];
        struct trial t = { .seed = i + 1, .way = WAY_OWNED };
        if ((a->is_large && (suite.is_brief || suite.takes_kernels)) ||
            (i > 0 && !suite_takes(i, 1)))
            continue;
        t.desc = (kallima_desc){ .precision = i % 2 ? KALLIMA_F64 : KALLIMA_F32,
                                 .direction = a->direction,
                                 .placement = a->placement,
                                 .rank = a->rank,
                                 .batch = a->batch,
                                 .scale = a->scale };
        for (int axis = 0; axis < a->rank; axis++)
            t.desc.n[axis] = a->n[axis];
        if (a->gap) {
            t.desc.in.stride[1] = 1;
            t.desc.in.stride[0] = a->n[1] + a->gap;
            t.desc.in.batch_stride = a->n[0] * (a->n[1] + a->gap);
        }
        suite_check(&t, a->is_large ? device : suite.device);
    }
    kallima_device_close(&device);
    ROWS_FINISH();
}

struct arrays {
    int kind, precision, rank;
    int64_t n[4], batch, gap; // numbers from an array to the next
    bool is_in_place, has_planes;
    int64_t plane_gap; // numbers behind each small array of all axes but the first
};

// Strides of the output, which has `numbers`, with gaps.
static void set_gaps(kallima_desc *desc, const struct arrays *a, int64_t numbers)
{
    int64_t stride = 1;
    if (a->plane_gap) {
        for (int axis = a->rank - 1; axis > 0; axis--) {
            desc->out.stride[axis] = stride;
            stride *= axis == a->rank - 1 && a->kind == KALLIMA_R2C ? a->n[axis] / 2 + 1
                                                                    : a->n[axis];
        }
        desc->out.stride[0] = stride + a->plane_gap;
        numbers = a->n[0] * desc->out.stride[0];
    }
    if (a->gap || a->plane_gap)
        desc->out.batch_stride = numbers + a->gap;
}

// By one thread and by several.
static void check_arrays(const struct arrays *arrays, size_t count)
{
    static const int threads[] = { 1, 3 };

    if (suite.is_brief || suite.takes_kernels)
        skip();
    for (size_t k = 0; k < sizeof threads / sizeof *threads; k++) {
        kallima_device *device = suite_open(threads[k], NULL);
        for (size_t i = 0; i < count; i++) {
            const struct arrays *a = &arrays[i];
            struct trial t = { .seed = i, .way = (enum way)(i % WAY_COUNT) };
            t.desc = (kallima_desc){ .kind = a->kind,
                                     .direction = a->kind == KALLIMA_C2R ||
                                                  (a->kind == KALLIMA_C2C && i % 3 == 1),
                                     .precision = a->precision,
                                     .placement = a->is_in_place,
                                     .rank = a->rank,
                                     .batch = a->batch,
                                     .scale = i % 2 ? 0.5 : 1.0 };
            int64_t numbers = 1;
            for (int axis = 0; axis < a->rank; axis++) {
                t.desc.n[axis] = a->n[axis];
                numbers *= axis == a->rank - 1 && a->kind == KALLIMA_R2C
                               ? a->n[axis] / 2 + 1
                               : a->n[axis];
            }
            set_gaps(&t.desc, a, numbers);
            if (a->has_planes) {
                t.desc.in.format = a->kind != KALLIMA_R2C;
                t.desc.out.format = a->kind != KALLIMA_C2R;
            }
            suite_check(&t, device);
        }
        kallima_device_close(&device);
    }
    ROWS_FINISH();
}

// Batches of arrays too large for the caches, that go past these as a whole where their
// rows begin on no line of them: worked in chunks or all at once, one behind the other,
// with gaps, and in place.
void arrays_past_the_caches_are_computed(void **state)
{
    static const struct arrays arrays[] = {
        { KALLIMA_C2C, KALLIMA_F64, 2, { 128, 65 }, 60, 0, false, false, 0 },
        { KALLIMA_R2C, KALLIMA_F64, 2, { 128, 128 }, 60, 0, false, false, 0 },
        { KALLIMA_R2C, KALLIMA_F32, 2, { 90, 126 }, 200, 0, false, false, 0 },
        { KALLIMA_C2R, KALLIMA_F64, 2, { 100, 63 }, 150, 0, false, false, 0 },
        { KALLIMA_R2C, KALLIMA_F32, 3, { 20, 24, 50 }, 80, 0, false, false, 0 },
        { KALLIMA_R2C, KALLIMA_F32, 2, { 48, 16 }, 3000, 0, false, false, 0 },
        { KALLIMA_C2C, KALLIMA_F32, 2, { 25, 17 }, 2300, 0, false, false, 0 },
        { KALLIMA_C2R, KALLIMA_F64, 2, { 32, 17 }, 1900, 0, false, false, 0 },
        { KALLIMA_C2C, KALLIMA_F64, 2, { 128, 65 }, 60, 3, false, false, 0 },
        { KALLIMA_R2C, KALLIMA_F64, 2, { 48, 33 }, 700, 1, false, false, 0 },
        { KALLIMA_C2C, KALLIMA_F64, 2, { 33, 17 }, 1000, 0, true, false, 0 },
    };
    (void)state;
    check_arrays(arrays, sizeof arrays / sizeof *arrays);
}

// Rows that are worked as lines alone are, where tiles of columns follow or come before:
// of planes and volumes, alone and in batches.
void arrays_of_rows_alone_are_computed(void **state)
{
    static const struct arrays arrays[] = {
        { KALLIMA_R2C, KALLIMA_F32, 2, { 40, 176 }, 1, 0, false, false, 0 },
        { KALLIMA_R2C, KALLIMA_F64, 2, { 37, 88 }, 3, 0, false, false, 0 },
        { KALLIMA_R2C, KALLIMA_F32, 3, { 6, 35, 300 }, 2, 0, false, false, 0 },
        { KALLIMA_R2C, KALLIMA_F64, 2, { 39, 270 }, 2, 5, false, false, 0 },
        { KALLIMA_R2C, KALLIMA_F32, 2, { 64, 240 }, 2, 0, true, false, 0 },
        { KALLIMA_C2R, KALLIMA_F32, 2, { 40, 560 }, 1, 0, false, false, 0 },
        { KALLIMA_C2R, KALLIMA_F64, 2, { 10, 1024 }, 1, 0, false, false, 0 },
        { KALLIMA_C2R, KALLIMA_F64, 2, { 45, 288 }, 2, 0, false, false, 0 },
        { KALLIMA_C2R, KALLIMA_F64, 2, { 50, 400 }, 1, 0, true, false, 0 },
        { KALLIMA_C2R, KALLIMA_F32, 3, { 5, 66, 600 }, 1, 0, false, false, 0 },
        { KALLIMA_C2C, KALLIMA_F32, 2, { 70, 100 }, 1, 0, false, false, 0 },
        // Of batches that might have a lane of registers each.
        { KALLIMA_R2C, KALLIMA_F32, 2, { 8, 512 }, 17, 0, false, false, 0 },
        { KALLIMA_C2R, KALLIMA_F32, 2, { 7, 1000 }, 20, 0, false, false, 0 },
        { KALLIMA_C2R, KALLIMA_F64, 3, { 9, 6, 96 }, 9, 5, false, false, 0 },
        { KALLIMA_C2C, KALLIMA_F64, 2, { 70, 66 }, 2, 0, false, false, 0 },
        { KALLIMA_C2C, KALLIMA_F32, 2, { 66, 420 }, 1, 7, false, false, 0 },
        { KALLIMA_C2C, KALLIMA_F64, 3, { 5, 40, 128 }, 2, 0, false, false, 0 },
        { KALLIMA_C2C, KALLIMA_F64, 2, { 48, 144 }, 2, 0, true, false, 0 }, // inverse,
        { KALLIMA_C2C, KALLIMA_F64, 2, { 48, 144 }, 2, 0, true, false, 0 }, // and forward
    };
    (void)state;
    check_arrays(arrays, sizeof arrays / sizeof *arrays);
}

// Columns by way of copies: of points, and of the coefficients of two to seven reals. And
// small volumes whose columns have two steps.
void arrays_of_few_columns_are_computed(void **state)
{
    static const struct arrays arrays[] = {
        { KALLIMA_C2C, KALLIMA_F32, 2, { 64, 3 }, 1, 0, false, false, 0 },
        { KALLIMA_C2C, KALLIMA_F64, 2, { 640, 2 }, 1, 0, false, false, 0 },
        { KALLIMA_C2C, KALLIMA_F64, 2, { 2500, 3 }, 1, 0, true, false, 0 },
        { KALLIMA_C2C, KALLIMA_F32, 2, { 1000, 2 }, 3, 0, true, false, 0 },
        { KALLIMA_R2C, KALLIMA_F32, 2, { 64, 2 }, 1, 0, false, false, 0 },
        { KALLIMA_R2C, KALLIMA_F32, 2, { 256, 3 }, 4, 0, false, false, 0 },
        { KALLIMA_R2C, KALLIMA_F32, 2, { 1500, 4 }, 1, 0, true, false, 0 },
        { KALLIMA_R2C, KALLIMA_F64, 2, { 1024, 5 }, 1, 0, false, false, 0 },
        { KALLIMA_R2C, KALLIMA_F32, 2, { 360, 5 }, 2, 5, false, false, 0 },
        { KALLIMA_C2R, KALLIMA_F32, 2, { 96, 2 }, 5, 0, false, false, 0 },
        { KALLIMA_C2R, KALLIMA_F32, 2, { 2500, 3 }, 1, 0, false, false, 0 },
        { KALLIMA_C2R, KALLIMA_F32, 2, { 512, 4 }, 1, 0, true, false, 0 },
        { KALLIMA_C2R, KALLIMA_F64, 2, { 1500, 5 }, 1, 0, false, false, 0 },
        { KALLIMA_C2R, KALLIMA_F32, 2, { 128, 4 }, 3, 7, false, false, 0 },
        { KALLIMA_C2C, KALLIMA_F64, 2, { 66, 3 }, 1, 0, false, false, 0 },
        { KALLIMA_C2C, KALLIMA_F64, 2, { 130, 2 }, 5, 0, false, false, 0 },
        { KALLIMA_C2C, KALLIMA_F32, 2, { 1250, 4 }, 1, 0, false, false, 0 },
        { KALLIMA_C2C, KALLIMA_F32, 2, { 2050, 2 }, 3, 0, true, false, 0 },
        { KALLIMA_C2C, KALLIMA_F32, 2, { 16384, 3 }, 1, 0, false, false, 0 },
        { KALLIMA_C2C, KALLIMA_F64, 2, { 1026, 3 }, 1, 0, true, false, 0 },
        { KALLIMA_R2C, KALLIMA_F32, 2, { 2048, 7 }, 1, 0, false, false, 0 },
        { KALLIMA_R2C, KALLIMA_F64, 2, { 2000, 3 }, 1, 0, true, false, 0 },
        { KALLIMA_C2R, KALLIMA_F64, 2, { 2048, 4 }, 1, 0, false, false, 0 },
        { KALLIMA_C2C, KALLIMA_F64, 2, { 4096, 2 }, 3, 0, false, false, 0 },
        { KALLIMA_C2C, KALLIMA_F64, 2, { 1200, 3 }, 2, 0, false, false, 0 },
        { KALLIMA_C2C, KALLIMA_F64, 3, { 100, 3, 20 }, 1, 0, false, false, 0 },
        { KALLIMA_C2C, KALLIMA_F32, 3, { 81, 16, 10 }, 2, 0, true, false, 0 },
    };
    (void)state;
    check_arrays(arrays, sizeof arrays / sizeof *arrays);
}

// Rows of such arrays whose recipes divide them: passes of their own have a mirrored step
// alone, or a part of the others.
void arrays_of_divided_rows_are_computed(void **state)
{
    static const struct {
        kallima_kind kind;
        int64_t n;
        const char *recipe;
    } rows[] = {
        { KALLIMA_R2C, 512,
          "rank(local(2.25), real-even(four-step(local(32), local(8))))" },
        { KALLIMA_C2R, 512,
          "rank(local(2.25), real-even(four-step(local(32), local(8))))" },
        { KALLIMA_R2C, 300,
          "rank(local(2.25), real-even(four-step(local(10), local(15))))" },
        { KALLIMA_C2R, 576,
          "rank(local(2.25), real-even(four-step(local(16), local(3.6))))" },
        { KALLIMA_C2C, 240, "rank(local(2.25), four-step(local(15), local(16)))" },
        { KALLIMA_C2C, 100, "rank(local(2.25), bluestein(n=100, local(14.15)))" },
    };

    (void)state;
    if (suite.takes_kernels)
        skip();
    for (size_t i = 0; i < 4 * (sizeof rows / sizeof *rows); i++) {
        const struct trial t = {
            .desc = { .kind = rows[i / 4].kind,
                      .direction = rows[i / 4].kind == KALLIMA_C2R,
                      .precision = i % 2,
                      .placement = i / 2 % 2,
                      .rank = 2,
                      .n = { 50, rows[i / 4].n } },
            .seed = i,
            .recipe = rows[i / 4].recipe,
        };
        suite_check(&t, suite.device);
    }
    ROWS_FINISH();
}

// Real lines of which one worker does the mirrored step with the one before it: of one
// register of rows to many, an even and an odd number of them, at each level of SIMD.
void lines_of_packed_reals_are_computed(void **state)
{
    static const struct {
        int64_t n;
        const char *recipe;
    } lines[] = {
        { 64, "real-even(four-step(local(8), local(4)))" },
        { 128, "real-even(four-step(local(8), local(8)))" },
        { 192, "real-even(four-step(local(24), local(4)))" },
        { 384, "real-even(four-step(local(24), local(8)))" },
        { 512, "real-even(four-step(local(16), local(16)))" },
        { 1024, "real-even(four-step(local(8.8), local(8)))" },
        { 1152, "real-even(four-step(local(6.6), local(16)))" },
        { 1280, "real-even(four-step(local(8.5), local(16)))" },
        { 2560, "real-even(four-step(local(16.10), local(8)))" },
        { 4608, "real-even(four-step(local(16.9), local(16)))" },
        { 8192, "real-even(four-step(local(8.16), local(32)))" },
        { 16384, "real-even(four-step(local(8.8.8), local(16)))" },
    };

    (void)state;
    if (suite.takes_kernels)
        skip();
    for (size_t i = 0; i < 8 * (sizeof lines / sizeof *lines); i++) {
        const bool is_back = i / 4 % 2;
        const struct trial t = {
            .desc = { .kind = is_back ? KALLIMA_C2R : KALLIMA_R2C,
                      .direction = is_back,
                      .precision = i % 2,
                      .placement = i / 2 % 2,
                      .rank = 1,
                      .n = { lines[i / 8].n },
                      .batch = 1 + i / 2 % 3,
                      .scale = i % 3 ? 0.0 : 0.75 },
            .seed = i,
            .recipe = lines[i / 8].recipe,
        };
        suite_check(&t, suite.device);
    }
    ROWS_FINISH();
}

// Worked as the small arrays of all axes but the first, and lines of that: alone, and in
// batches of which several threads have an array each, or share each.
void arrays_of_small_arrays_are_computed(void **state)
{
    static const struct arrays arrays[] = {
        { KALLIMA_C2C, KALLIMA_F32, 3, { 30000, 2, 2 }, 1, 0, false, false, 0 },
        { KALLIMA_C2C, KALLIMA_F64, 3, { 2000, 3, 5 }, 5, 0, false, false, 0 },
        { KALLIMA_C2C, KALLIMA_F64, 3, { 1009, 4, 6 }, 3, 7, false, false, 0 },
        { KALLIMA_C2C, KALLIMA_F32, 3, { 4099, 3, 3 }, 2, 0, true, false, 0 },
        { KALLIMA_C2C, KALLIMA_F32, 4, { 100, 8, 9, 10 }, 2, 0, true, false, 0 },
        { KALLIMA_R2C, KALLIMA_F64, 4, { 4620, 2, 2, 2 }, 1, 0, false, false, 0 },
        { KALLIMA_R2C, KALLIMA_F32, 3, { 1500, 9, 7 }, 4, 5, false, false, 0 },
        { KALLIMA_R2C, KALLIMA_F64, 4, { 40, 16, 6, 13 }, 6, 0, false, false, 0 },
        { KALLIMA_C2R, KALLIMA_F64, 3, { 8192, 3, 4 }, 1, 0, false, false, 0 },
        { KALLIMA_C2R, KALLIMA_F32, 3, { 1200, 15, 8 }, 3, 0, false, false, 0 },
        { KALLIMA_C2R, KALLIMA_F64, 4, { 64, 5, 7, 15 }, 5, 0, false, false, 0 },
        { KALLIMA_C2C, KALLIMA_F64, 3, { 2000, 6, 2 }, 2, 0, false, true, 0 },
        { KALLIMA_R2C, KALLIMA_F32, 3, { 1500, 4, 8 }, 2, 3, false, true, 0 },
        { KALLIMA_C2R, KALLIMA_F32, 4, { 300, 7, 4, 6 }, 2, 0, false, true, 0 },
        { KALLIMA_R2C, KALLIMA_F64, 3, { 2860, 4, 5 }, 2, 0, true, false, 0 },
        { KALLIMA_R2C, KALLIMA_F32, 4, { 200, 6, 5, 8 }, 1, 0, true, false, 0 },
        { KALLIMA_C2R, KALLIMA_F64, 3, { 1500, 6, 6 }, 3, 0, true, false, 0 },
        { KALLIMA_C2R, KALLIMA_F32, 3, { 2860, 4, 7 }, 1, 0, true, false, 0 },
        // Whose columns are copied, near one core, with threads of their own, and too
        // long for tiles.
        { KALLIMA_R2C, KALLIMA_F32, 2, { 8192, 10 }, 12, 0, false, false, 0 },
        { KALLIMA_C2C, KALLIMA_F64, 3, { 2100, 3, 3 }, 4, 0, false, false, 0 },
        { KALLIMA_C2C, KALLIMA_F64, 2, { 4096, 9 }, 3, 0, true, false, 0 },
        { KALLIMA_C2C, KALLIMA_F32, 2, { 20000, 20 }, 2, 0, false, false, 0 },
        { KALLIMA_C2R, KALLIMA_F64, 2, { 20000, 12 }, 1, 0, true, false, 0 },
        { KALLIMA_R2C, KALLIMA_F32, 3, { 18000, 5, 6 }, 1, 0, false, false, 0 },
        { KALLIMA_C2C, KALLIMA_F64, 3, { 2000, 3, 4 }, 2, 1, false, false, 3 },
        { KALLIMA_R2C, KALLIMA_F64, 3, { 2000, 3, 8 }, 1, 0, false, false, 2 },
    };
    (void)state;
    check_arrays(arrays, sizeof arrays / sizeof *arrays);
}

static void set_variant(kallima_desc *desc, int variant)
{
    desc->kind = variant % KALLIMA_KIND_COUNT;
    desc->precision = variant / 2 % 2;
    desc->direction = desc->kind == KALLIMA_C2C && variant % 4 == 3;
    desc->scale = variant % 5 == 1 ? 0.375 : 0.0;
}

// All kinds and precisions of `count` problems, laid out in one way or another; of
// kernels one of so many.
static void check_variants(const kallima_desc *arrays, size_t count, int one_of,
                           void (*lay)(kallima_desc *desc, int variant))
{
    for (size_t i = 0; i < count; i++) {
        for (int variant = 0; variant < 4 * KALLIMA_KIND_COUNT; variant++) {
            struct trial t = { .desc = arrays[i],
                               .seed = i * 100 + (uint64_t)variant,
                               .way = (enum way)(variant % WAY_COUNT) };
            if (!suite_takes(t.seed, one_of))
                continue;
            set_variant(&t.desc, variant);
            lay(&t.desc, variant);
            suite_check(&t, suite.device);
        }
    }
}

static void lay_in_groups(kallima_desc *desc, int variant)
{
    desc->placement = variant / KALLIMA_KIND_COUNT % 2;
}

// Several at once, axis by axis, if their number has a divisor, and by themselves.
void groups_of_small_arrays_are_computed(void **state)
{
    static const kallima_desc arrays[] = {
        { .rank = 2, .n = { 5, 7 }, .batch = 12 },
        { .rank = 2, .n = { 9, 3 }, .batch = 40 },
        { .rank = 2, .n = { 4, 5 }, .batch = 41 },
        { .rank = 2, .n = { 8, 10 }, .batch = 6 },
        { .rank = 3, .n = { 3, 5, 7 }, .batch = 28 },
        { .rank = 3, .n = { 1, 11, 9 }, .batch = 10 },
        { .rank = 2, .n = { 33, 2 }, .batch = 21 },
        { .rank = 4, .n = { 2, 3, 2, 5 }, .batch = 8 },
    };

    (void)state;
    if (suite.takes_kernels) // which know no groups
        skip();
    check_variants(arrays, sizeof arrays / sizeof arrays[0], 4, lay_in_groups);
    ROWS_FINISH();
}

// An array of a side with so many elements from one to the next, rows of `row`; returns
// what it takes.
static int64_t lay_apart(kallima_layout *layout, const kallima_desc *desc, int64_t row,
                         int64_t stride)
{
    for (int axis = desc->rank - 1; axis >= 0; axis--) {
        layout->stride[axis] = stride;
        stride *= axis == desc->rank - 1 ? row : desc->n[axis];
    }
    return stride;
}

// Packed arrays of a side, `batch` of them, element by element beside each other.
static void lay_beside(kallima_layout *layout, const kallima_desc *desc, int64_t row)
{
    lay_apart(layout, desc, row, desc->batch);
    layout->batch_stride = 1;
}

static int64_t row_of(const kallima_desc *desc, int half_kind)
{
    const int64_t row = desc->n[desc->rank - 1];
    return desc->kind == half_kind ? row / 2 + 1 : row;
}

static void lay_sides_beside(kallima_desc *desc, int variant)
{
    const bool is_late = variant >= 3 * KALLIMA_KIND_COUNT;
    desc->placement =
        is_late && desc->kind == KALLIMA_C2C ? KALLIMA_IN_PLACE : KALLIMA_OUT_OF_PLACE;
    if (variant / KALLIMA_KIND_COUNT % 2)
        desc->in.format = desc->out.format = KALLIMA_PLANAR;
    lay_beside(&desc->in, desc, row_of(desc, KALLIMA_C2R));
    lay_beside(&desc->out, desc, row_of(desc, KALLIMA_R2C));
}

// As the colours of an image are: few and many of them, of arrays near one core, of which
// rows and planes are, and others.
void arrays_beside_each_other_are_computed(void **state)
{
    static const kallima_desc arrays[] = {
        { .rank = 2, .n = { 12, 10 }, .batch = 3 },
        { .rank = 2, .n = { 9, 21 }, .batch = 2 },
        { .rank = 2, .n = { 64, 64 }, .batch = 16 },
        { .rank = 2, .n = { 50, 100 }, .batch = 4 },
        { .rank = 2, .n = { 101, 36 }, .batch = 9 },
        { .rank = 2, .n = { 256, 320 }, .batch = 3 },
        { .rank = 2, .n = { 1, 48 }, .batch = 5 },
        { .rank = 3, .n = { 5, 6, 7 }, .batch = 2 },
        { .rank = 3, .n = { 40, 48, 36 }, .batch = 2 },
        { .rank = 3, .n = { 7, 11, 64 }, .batch = 10 },
    };

    (void)state;
    check_variants(arrays, sizeof arrays / sizeof arrays[0], 8, lay_sides_beside);
    ROWS_FINISH();
}

// One side lies so, the other one array behind the other.
static void lay_one_side_beside(kallima_desc *desc, int variant)
{
    const bool is_in = variant / KALLIMA_KIND_COUNT % 2 == 0;

    if (variant >= 2 * KALLIMA_KIND_COUNT)
        (is_in ? &desc->out : &desc->in)->format =
            desc->kind == (is_in ? KALLIMA_C2R : KALLIMA_R2C) ? KALLIMA_INTERLEAVED
                                                              : KALLIMA_PLANAR;
    if (is_in)
        lay_beside(&desc->in, desc, row_of(desc, KALLIMA_C2R));
    else
        lay_beside(&desc->out, desc, row_of(desc, KALLIMA_R2C));
}

// Small arrays of axes of one step and several, as many as registers have lanes, more and
// less, that are turned between being one behind the other and element by element.
void arrays_that_are_turned_are_computed(void **state)
{
    static const kallima_desc arrays[] = {
        { .rank = 2, .n = { 4, 6 }, .batch = 16 },
        { .rank = 2, .n = { 52, 2 }, .batch = 17 },
        { .rank = 2, .n = { 3, 40 }, .batch = 8 },
        { .rank = 3, .n = { 52, 1, 2 }, .batch = 16 },
        { .rank = 3, .n = { 52, 2, 2 }, .batch = 8 },
        { .rank = 3, .n = { 18, 1, 18 }, .batch = 16 },
        { .rank = 3, .n = { 30, 3, 1 }, .batch = 32 },
        { .rank = 3, .n = { 1, 64, 2 }, .batch = 16 },
        { .rank = 3, .n = { 2, 3, 100 }, .batch = 4 },
        { .rank = 3, .n = { 4, 21, 5 }, .batch = 24 },
        { .rank = 4, .n = { 26, 2, 1, 3 }, .batch = 16 },
        { .rank = 4, .n = { 2, 22, 2, 2 }, .batch = 8 },
    };

    (void)state;
    check_variants(arrays, sizeof arrays / sizeof arrays[0], 4, lay_one_side_beside);
    ROWS_FINISH();
}

// Columns of wider arrays, so that what lies between them must stay as it is, and of others.
static void lay_columns(kallima_desc *desc, int variant)
{
    const int gap = variant / KALLIMA_KIND_COUNT % 3;

    desc->in.stride[0] = desc->batch + gap;
    desc->out.stride[0] = desc->batch + 2 * gap;
    desc->in.batch_stride = desc->out.batch_stride = 1;
    desc->in.offset = desc->out.offset = gap;
    if (desc->kind == KALLIMA_C2C && variant / KALLIMA_KIND_COUNT % 2) {
        desc->placement = KALLIMA_IN_PLACE;
        desc->out = desc->in;
    }
}

// Of tiles, of some of one, of several and one that they do not fill; long ones, and such
// as are no product of radices. A few, of registers that they fill and not, with other
// columns beside them and without, to and from lines one behind the other.
void columns_are_computed(void **state)
{
    static const kallima_desc columns[] = {
        { .rank = 1, .n = { 36 }, .batch = 9 },
        { .rank = 1, .n = { 60 }, .batch = 33 },
        { .rank = 1, .n = { 100 }, .batch = 3 },
        { .rank = 1, .n = { 101 }, .batch = 5 },
        { .rank = 1, .n = { 128 }, .batch = 4 },
        { .rank = 1, .n = { 250 }, .batch = 12 },
        { .rank = 1, .n = { 512 }, .batch = 17 },
        { .rank = 1, .n = { 1001 }, .batch = 6 },
        { .rank = 1, .n = { 2048 }, .batch = 10 },
        { .rank = 1, .n = { 5000 }, .batch = 7 },
        { .rank = 1, .n = { 20000 }, .batch = 5 },
        { .rank = 1, .n = { 36000 }, .batch = 9 },
    };
    static const kallima_desc few[] = {
        { .rank = 1, .n = { 33 }, .batch = 3 },
        { .rank = 1, .n = { 39 }, .batch = 4 },
        { .rank = 1, .n = { 50 }, .batch = 2 },
        { .rank = 1, .n = { 64 }, .batch = 4 },
        { .rank = 1, .n = { 75 }, .batch = 2 },
        { .rank = 1, .n = { 210 }, .batch = 3 },
        { .rank = 1, .n = { 1008 }, .batch = 2 },
        { .rank = 1, .n = { 1100 }, .batch = 3 },
        { .rank = 1, .n = { 4004 }, .batch = 4 },
        { .rank = 1, .n = { 20000 }, .batch = 3 },
        { .rank = 1, .n = { 24000 }, .batch = 2 },
    };

    (void)state;
    if (suite.takes_kernels) // which copy none
        skip();
    check_variants(columns, sizeof columns / sizeof columns[0], 4, lay_columns);
    check_variants(few, sizeof few / sizeof few[0], 4, lay_columns);
    check_variants(few, sizeof few / sizeof few[0], 4, lay_one_side_beside);
    ROWS_FINISH();
}

static void lay_sides_apart(kallima_desc *desc, int variant)
{
    const int64_t in = 1 + variant / 3, out = 1 + variant % 4;

    desc->in.offset = 3;
    if (variant / KALLIMA_KIND_COUNT == 2)
        desc->in.format = KALLIMA_PLANAR;
    desc->in.batch_stride = lay_apart(&desc->in, desc, row_of(desc, KALLIMA_C2R), in) + 1;
    desc->out.batch_stride = lay_apart(&desc->out, desc, row_of(desc, KALLIMA_R2C), out);
    if (desc->kind == KALLIMA_C2C && variant >= 3 * KALLIMA_KIND_COUNT) {
        desc->placement = KALLIMA_IN_PLACE;
        desc->out = desc->in;
    }
}

// Small ones whose elements lie apart, or in planes, one behind the other, with a gap between them.
void arrays_apart_are_computed(void **state)
{
    static const kallima_desc arrays[] = {
        { .rank = 2, .n = { 8, 6 }, .batch = 2 },
        { .rank = 2, .n = { 40, 15 }, .batch = 3 },
        { .rank = 2, .n = { 64, 64 }, .batch = 1 },
        { .rank = 2, .n = { 24, 86 }, .batch = 2 },
        { .rank = 3, .n = { 9, 11, 12 }, .batch = 1 },
        { .rank = 3, .n = { 25, 5, 4 }, .batch = 20 },
        { .rank = 4, .n = { 2, 3, 2, 5 }, .batch = 1 },
    };
    // By threads together, of which there are two at least, and one by one.
    static const kallima_desc shared[] = {
        { .rank = 3, .n = { 30, 23, 21 }, .batch = 1 },
        { .rank = 2, .n = { 300, 30 }, .batch = 3 },
    };

    (void)state;
    check_variants(arrays, sizeof arrays / sizeof arrays[0], 8, lay_sides_apart);
    if (!suite.takes_kernels && !suite.is_brief)
        check_variants(shared, sizeof shared / sizeof shared[0], 1, lay_sides_apart);
    ROWS_FINISH();
}

// Small arrays, each on a lane of a register: of lanes that they fill and not, packed and not.
static const struct small_array {
    kallima_kind kind;
    int rank;
    int64_t n[4], batch, batch_gap;
    double scale;
    bool is_in_place, is_inverse, is_planar;
} small_arrays[] = {
    { KALLIMA_C2C, 2, { 2, 2 }, 100, 0, 1.0, false, false, false },
    { KALLIMA_C2C, 2, { 8, 8 }, 67, 0, 1.0, true, true, false },
    { KALLIMA_C2C, 2, { 15, 4 }, 33, 5, 0.5, false, true, false },
    { KALLIMA_C2C, 2, { 11, 25 }, 41, 0, 1.0, false, false, true },
    { KALLIMA_C2C, 2, { 18, 33 }, 50, 0, 1.0, false, true, false },
    { KALLIMA_C2C, 2, { 1, 21 }, 64, 0, 1.0, false, false, false },
    { KALLIMA_C2C, 3, { 4, 6, 5 }, 47, 1, 0.25, true, false, false },
    { KALLIMA_C2C, 3, { 10, 13, 12 }, 35, 0, 1.0, false, true, false },
    { KALLIMA_C2C, 3, { 3, 37, 2 }, 40, 0, 1.0, false, false, false },
    { KALLIMA_C2C, 4, { 2, 3, 4, 5 }, 70, 0, 1.0, false, false, false },
    { KALLIMA_C2C, 4, { 5, 2, 2, 7 }, 3001, 0, 1.0, false, true, false },
    { KALLIMA_R2C, 2, { 2, 2 }, 40, 0, 1.0, false, false, false },
    { KALLIMA_C2R, 2, { 2, 2 }, 40, 0, 1.0, false, true, false },
    { KALLIMA_R2C, 2, { 9, 14 }, 75, 0, 0.5, false, false, false },
    { KALLIMA_C2R, 2, { 9, 14 }, 75, 0, 0.5, false, true, false },
    { KALLIMA_R2C, 2, { 20, 2 }, 33, 0, 1.0, false, false, true },
    { KALLIMA_C2R, 2, { 10, 36 }, 51, 0, 1.0, false, true, true },
    { KALLIMA_R2C, 3, { 4, 5, 6 }, 67, 0, 1.0, false, false, false },
    { KALLIMA_C2R, 3, { 4, 5, 6 }, 67, 0, 1.0, false, true, false },
    { KALLIMA_C2R, 3, { 7, 2, 30 }, 47, 0, 1.0, false, true, false },
    { KALLIMA_R2C, 3, { 3, 8, 32 }, 2001, 0, 1.0, false, false, false },
    { KALLIMA_R2C, 2, { 12, 10 }, 40, 0, 1.0, true, false, false },
    { KALLIMA_R2C, 4, { 2, 3, 4, 6 }, 40, 0, 1.0, false, false, false },
    // Alone or nearly so, axis by axis: on one thread, or shared by several.
    { KALLIMA_C2C, 2, { 4, 4 }, 1, 0, 1.0, true, true, false },
    { KALLIMA_C2C, 2, { 3, 16 }, 1, 0, 0.5, false, false, false },
    { KALLIMA_C2C, 2, { 50, 9 }, 3, 7, 1.0, false, true, false },
    { KALLIMA_C2C, 3, { 5, 7, 11 }, 2, 0, 0.25, true, false, false },
    { KALLIMA_C2C, 3, { 20, 24, 30 }, 20, 0, 1.0, false, true, false },
    { KALLIMA_C2C, 4, { 3, 5, 2, 6 }, 1, 0, 1.0, true, false, false },
    { KALLIMA_R2C, 2, { 13, 10 }, 1, 0, 0.5, false, false, false },
    { KALLIMA_C2R, 2, { 13, 10 }, 1, 0, 0.5, false, true, false },
    { KALLIMA_R2C, 2, { 100, 24 }, 1, 0, 1.0, true, false, false },
    { KALLIMA_C2R, 2, { 100, 24 }, 1, 0, 1.0, true, true, false },
    { KALLIMA_R2C, 2, { 36, 70 }, 2, 0, 1.0, false, false, false },
    { KALLIMA_C2R, 2, { 70, 96 }, 2, 0, 0.5, false, true, false },
    { KALLIMA_R2C, 3, { 40, 33, 32 }, 1, 0, 1.0, false, false, false },
    { KALLIMA_C2R, 3, { 33, 32, 40 }, 1, 0, 0.125, false, true, false },
    { KALLIMA_R2C, 4, { 3, 8, 4, 14 }, 1, 0, 1.0, false, false, false },
    { KALLIMA_C2R, 4, { 20, 8, 5, 14 }, 2, 0, 1.0, false, true, false },
};

static kallima_desc small_array_desc(const struct small_array *a)
{
    int64_t points = 1;
    kallima_desc desc = {
        .kind = a->kind,
        .direction = a->is_inverse ? KALLIMA_INVERSE : KALLIMA_FORWARD,
        .placement = a->is_in_place ? KALLIMA_IN_PLACE : KALLIMA_OUT_OF_PLACE,
        .rank = a->rank,
        .batch = a->batch,
        .scale = a->scale,
        .in.format = a->is_planar ? KALLIMA_PLANAR : KALLIMA_INTERLEAVED,
    };
    for (int axis = 0; axis < a->rank; axis++)
        points *= desc.n[axis] = a->n[axis];
    if (a->batch_gap)
        desc.in.batch_stride = desc.out.batch_stride = points + a->batch_gap;
    return desc;
}

void small_arrays_are_computed(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2 * (sizeof small_arrays / sizeof *small_arrays); i++) {
        struct trial t = { .seed = i + 1, .way = WAY_OWNED };
        if (i > 0 && !suite_takes(i, 1))
            continue;
        t.desc = small_array_desc(&small_arrays[i / 2]);
        t.desc.precision = i % 2 ? KALLIMA_F64 : KALLIMA_F32;
        suite_check(&t, suite.device);
    }
    ROWS_FINISH();
}

// Alone, one by one and some at a time, in their own place, with gaps between them, and
// with gaps between rows, which no such function has.
void planes_of_one_function_are_computed(void **state)
{
#define SIDES(a, b) { a, b },
    static const int8_t planes[][2] = { KAL_PLANES_FROM_2(SIDES) KAL_PLANES_FROM_4(
        SIDES) KAL_PLANES_OF_4(SIDES) KAL_PLANES_OF_8(SIDES) KAL_LONG_PLANES(SIDES) };
#undef SIDES
    static const int64_t batches[] = { 1, 2, 7, 24, 130 };
    enum { BATCHES = sizeof batches / sizeof *batches, SORTS = 2 * BATCHES };

    (void)state;
    for (size_t i = 0; i < SORTS * sizeof planes / sizeof *planes; i++) {
        const int8_t *n = planes[i / SORTS];
        struct trial t = { .desc = { .rank = 2,
                                     .n = { n[0], n[1] },
                                     .batch = batches[i % BATCHES],
                                     .precision = i / BATCHES % 2,
                                     .direction = i % 3 == 0,
                                     .placement = i % 4 == 1,
                                     .scale = i % 5 ? 0.0 : 0.5 },
                           .seed = i,
                           .way = (enum way)(i % WAY_COUNT) };
        if (i % 7 == 3)
            t.desc.in.batch_stride = t.desc.out.batch_stride = n[0] * n[1] + 3;
        if (i % 11 == 5) {
            t.desc.in.stride[1] = 1;
            t.desc.in.stride[0] = n[1] + 1;
            t.desc.in.batch_stride = n[0] * (n[1] + 1);
            t.desc.out = t.desc.in;
        }
        if (i == 0 || suite_takes(i, 4))
            suite_check(&t, suite.device);
    }
    ROWS_FINISH();
}

// The same of reals: their rows may have gaps, those of their coefficients not.
void real_planes_of_one_function_are_computed(void **state)
{
#define SIDES(a, b) { a, b },
    static const int8_t planes[][2] = { KAL_REAL_PLANES_FROM_4(
        SIDES) KAL_REAL_PLANES_FROM_8(SIDES) KAL_REAL_PLANES_FROM_16(SIDES) };
#undef SIDES
    static const int64_t batches[] = { 1, 2, 7, 24, 130 };
    enum { BATCHES = sizeof batches / sizeof *batches, SORTS = 2 * BATCHES };

    (void)state;
    for (size_t i = 0; i < 2 * SORTS * sizeof planes / sizeof *planes; i++) {
        const int8_t *n = planes[i / 2 / SORTS];
        const bool is_c2r = i % 2 == 1;
        struct trial t = { .desc = { .rank = 2,
                                     .n = { n[0], n[1] },
                                     .batch = batches[i / 2 % BATCHES],
                                     .kind = is_c2r ? KALLIMA_C2R : KALLIMA_R2C,
                                     .precision = i / 2 / BATCHES % 2,
                                     .direction = is_c2r,
                                     .placement = i % 5 == 1,
                                     .scale = i % 7 < 4 ? 0.0 : 0.5 },
                           .seed = i,
                           .way = (enum way)(i / 2 % WAY_COUNT) };
        kallima_layout *coefficients = is_c2r ? &t.desc.in : &t.desc.out,
                       *reals = is_c2r ? &t.desc.out : &t.desc.in;
        if (!t.desc.placement && i % 9 < 3) {
            reals->stride[1] = 1;
            reals->stride[0] = n[1] + (int64_t)(i % 9);
            reals->batch_stride = n[0] * reals->stride[0] + (int64_t)(i % 4);
        }
        if (!t.desc.placement && i % 9 == 2)
            coefficients->batch_stride = n[0] * (n[1] / 2 + 1) + 3;
        if (i == 0 || suite_takes(i, 4))
            suite_check(&t, suite.device);
    }
    ROWS_FINISH();
}

// The lines of a small batch are worked one by one, each as if it were alone, up to some
// number of them.
void lines_of_small_batches_are_computed(void **state)
{
    static const int64_t lengths[] = { 2,   4,   6,   16,  17,   30,   32,  21,
                                       55,  60,  64,  96,  100,  128,  200, 256,
                                       360, 480, 510, 720, 1000, 1024, 2048 };
    static const struct apart apart = { 0.75, 3, 5, 7 };

    (void)state;
    for (size_t k = 0; k < sizeof lengths / sizeof lengths[0]; k++) {
        for (int i = 0; i < BATCH_SORTS; i++)
            check_batch(lengths[k], 2 + (int64_t)(k + (size_t)i) % 8, i, k % 2, &apart,
                        k * 100 + (uint64_t)i);
    }
    ROWS_FINISH();
}

// A power of two passes through without a trace unless a step leaves the exponent's range:
// Bluestein and Rader multiply by tables, whose scaling must not overflow on the way.
static void check_power(int64_t n, double power)
{
    const kallima_desc d = problem_line(KALLIMA_C2C, KALLIMA_F64, KALLIMA_FORWARD, n);
    double x[2][2 * 128], y[2][2 * 128];
    struct random r = { (uint64_t)n };
    bool same = true;

    kallima_plan *plan = suite_plan(suite.device, &d);
    for (int64_t i = 0; i < 2 * n; i++) {
        x[0][i] = random_real(&r);
        x[1][i] = x[0][i] * power;
    }
    const kallima_status first = kallima_plan_run(plan, x[0], y[0]);
    const kallima_status second = kallima_plan_run(plan, x[1], y[1]);
    for (int64_t i = 0; i < 2 * n; i++)
        same = same && y[1][i] == y[0][i] * power;
    row_ran();
    if (first != KALLIMA_OK || second != KALLIMA_OK || !same)
        row_fail("n=%lld: input times %g does not give output times %g", (long long)n,
                 power, power);
    kallima_plan_destroy(&plan);
}

void tiny_and_huge_values_survive(void **state)
{
    static const int64_t lengths[] = { 1, 2, 7, 16, 31, 47, 60, 101, 128 };

    (void)state;
    if (!suite.has_f64)
        skip();
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        check_power(lengths[i], 0x1p900);
        check_power(lengths[i], 0x1p-900);
    }
    ROWS_FINISH();
}

// Rows of an even and of an odd number of pairs, of one and two; planes alone and several.
void planes_of_reals_are_computed(void **state)
{
    enum { ONE_OF = 7 };
    static const int64_t rows[] = { 2, 3, 5, 8, 21 }, reals[] = { 2, 4, 6, 10, 32, 42 };
    static const struct {
        kallima_kind kind;
        kallima_placement placement;
    } sorts[] = { { KALLIMA_R2C, KALLIMA_OUT_OF_PLACE },
                  { KALLIMA_C2R, KALLIMA_OUT_OF_PLACE },
                  { KALLIMA_R2C, KALLIMA_IN_PLACE },
                  { KALLIMA_C2R, KALLIMA_IN_PLACE } };
    const size_t columns = sizeof reals / sizeof *reals;

    (void)state;
    for (size_t i = 0; i < columns * sizeof rows / sizeof *rows; i++) {
        for (size_t sort = 0; sort < sizeof sorts / sizeof *sorts; sort++) {
            if (!suite_takes(i * sizeof sorts / sizeof *sorts + sort, ONE_OF))
                continue;
            struct trial t = { .desc = { .rank = 2,
                                         .n = { rows[i / columns], reals[i % columns] },
                                         .batch = i % 2 ? 1 : 5,
                                         .kind = sorts[sort].kind,
                                         .placement = sorts[sort].placement },
                               .seed = i + 1,
                               .way = i % 2 ? WAY_BUFFERS : WAY_OWNED };
            if (i % 3 == 0 && suite.has_f64)
                t.desc.precision = KALLIMA_F64;
            suite_check(&t, suite.device);
        }
    }
    ROWS_FINISH();
}

// Columns too long for one pass, whose scratch keeps neighbours side by side or, of few, does not;
// of one plane and of several.
void long_columns_are_computed(void **state)
{
    enum { ONE_OF = 4 };
    static const int64_t lengths[] = { 6000, 8192, 10007, 18432 },
                         columns[] = { 37, 16, 3 };
    enum { WIDTHS = sizeof columns / sizeof *columns, SORTS = 2 * WIDTHS };

    (void)state;
    for (size_t i = 0; i < SORTS * sizeof lengths / sizeof *lengths; i++) {
        const size_t sort = i % SORTS;
        if (i > 0 && !suite_takes(i, ONE_OF))
            continue;
        struct trial t = { .desc = { .rank = 2,
                                     .n = { lengths[i / SORTS], columns[sort / 2] },
                                     .batch = i % 3 ? 1 : 2,
                                     .kind = sort % 2 ? KALLIMA_R2C : KALLIMA_C2C,
                                     .placement = i % 5 ? KALLIMA_OUT_OF_PLACE
                                                        : KALLIMA_IN_PLACE },
                           .seed = i + 1 };
        if (i % 2 == 0 && suite.has_f64)
            t.desc.precision = KALLIMA_F64;
        suite_check(&t, suite.device);
    }
    ROWS_FINISH();
}
