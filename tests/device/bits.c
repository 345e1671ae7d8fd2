// SPDX-License-Identifier: MIT
// The same problem gives the same bits, whoever computes it.
#include <stdio.h>

#include "suite.h"

static const kallima_desc problems[] = {
    { .rank = 1, .n = { 16 }, .batch = 1000 },
    { .rank = 1, .n = { 100 }, .batch = 333, .precision = KALLIMA_F64 },
    { .rank = 1, .n = { 47 }, .batch = 500 },
    { .rank = 1, .n = { 2053 }, .batch = 7 },
    { .rank = 1, .n = { 65536 } },
    { .rank = 1, .n = { 100000 }, .kind = KALLIMA_R2C, .precision = KALLIMA_F64 },
    { .rank = 1, .n = { 100003 } },
    { .rank = 1, .n = { 65537 }, .kind = KALLIMA_C2R },
    { .rank = 2, .n = { 200, 300 }, .placement = KALLIMA_IN_PLACE },
    { .rank = 2, .n = { 257, 130 }, .kind = KALLIMA_R2C },
    { .rank = 2, .n = { 130, 257 }, .kind = KALLIMA_C2R, .in.format = KALLIMA_PLANAR },
    { .rank = 3, .n = { 40, 30, 50 }, .kind = KALLIMA_C2R },
    { .rank = 1, .n = { 100000 }, .batch = 6 }, // many threads work all lines together
    // Lines and arrays of which each thread has some by itself, and all what is left.
    { .rank = 1, .n = { 131072 }, .batch = 7, .precision = KALLIMA_F64 },
    { .rank = 1, .n = { 65537 }, .batch = 17 },
    { .rank = 1, .n = { 262144 }, .batch = 5, .kind = KALLIMA_R2C },
    { .rank = 3, .n = { 64, 64, 60 }, .batch = 17 },
    { .rank = 2, .n = { 512, 500 }, .batch = 4, .kind = KALLIMA_C2R },
    // By planes on one thread, by axes on several.
    { .rank = 3, .n = { 32, 32, 32 } },
    { .rank = 3, .n = { 32, 32, 32 }, .precision = KALLIMA_F64, .scale = 0.5 },
    { .rank = 3, .n = { 36, 36, 36 }, .kind = KALLIMA_R2C },
    { .rank = 3, .n = { 20, 30, 40 }, .kind = KALLIMA_C2R, .precision = KALLIMA_F64 },
    { .rank = 4, .n = { 16, 16, 16, 16 } },
    { .rank = 2, .n = { 64, 64 }, .batch = 256 }, // few threads store past the caches
    { .rank = 1, .n = { 9 }, .batch = 470000 },   // by way of copies
    { .rank = 2,
      .n = { 64, 256 },
      .batch = 48 }, // columns first on any number of threads
    { .rank = 2, .n = { 64, 256 }, .batch = 70 }, // too many for that
    // Arrays that go past the caches of few threads some lines of their last step at a time.
    { .rank = 3, .n = { 16, 16, 16 }, .batch = 300, .scale = 0.5 },
    { .rank = 3, .n = { 14, 20, 18 }, .batch = 400, .kind = KALLIMA_R2C },
    // Arrays of nearly 1 MiB, whose rows begin on lines of the caches or not.
    { .rank = 2, .n = { 200, 200 }, .batch = 14, .precision = KALLIMA_F64 },
    { .rank = 2, .n = { 300, 250 }, .batch = 12 },
    // Axes of one codelet: through scratch if that is stored past the caches.
    { .rank = 2, .n = { 32, 100 }, .batch = 100, .precision = KALLIMA_F64 },
    { .rank = 2, .n = { 25, 17 }, .batch = 1500 },
    { .rank = 3, .n = { 64, 10, 9 }, .batch = 110 },
    { .rank = 3, .n = { 96, 14, 11 }, .batch = 76 },
    { .rank = 2, .n = { 25, 32 }, .batch = 1166, .direction = KALLIMA_INVERSE },
    { .rank = 1, .n = { 64 }, .batch = 1501, .precision = KALLIMA_F64 },
    { .rank = 1, .n = { 24 }, .batch = 13000, .precision = KALLIMA_F64 },
    { .rank = 2, .n = { 512, 512 }, .batch = 2, .precision = KALLIMA_F64 },
    // Line by line, near and past the caches of some threads.
    { .rank = 1, .n = { 12 }, .batch = 24000, .precision = KALLIMA_F64 },
    { .rank = 2, .n = { 256, 16 }, .batch = 80, .precision = KALLIMA_F64 },
    { .rank = 1, .n = { 250 }, .batch = 1200, .precision = KALLIMA_F64 },
    { .rank = 1, .n = { 320 }, .batch = 700, .precision = KALLIMA_F64 },
    { .rank = 1, .n = { 100 }, .batch = 8000 },
    { .rank = 1, .n = { 500 }, .batch = 1500, .kind = KALLIMA_R2C },
    { .rank = 1, .n = { 3 }, .batch = 162713, .precision = KALLIMA_F64 },
    { .rank = 1,
      .n = { 6 },
      .batch = 250000,
      .precision = KALLIMA_F64,
      .kind = KALLIMA_R2C },
    // Short lines that are turned as numbers, and some that are left, and arrays that are
    // worked in the output.
    { .rank = 1, .n = { 45 }, .batch = 3011 },
    { .rank = 1, .n = { 28 }, .batch = 3011, .precision = KALLIMA_F64 },
    { .rank = 3, .n = { 16, 16, 16 }, .batch = 37 },
    { .rank = 2, .n = { 48, 32 }, .batch = 37, .direction = KALLIMA_INVERSE },
    // Lines with products of roots, alone, few and of reals, and long real ones of a batch.
    { .rank = 1, .n = { 48000 } },
    { .rank = 1, .n = { 24000 }, .batch = 3, .precision = KALLIMA_F64 },
    { .rank = 1, .n = { 88200 }, .batch = 2, .kind = KALLIMA_R2C },
    { .rank = 1, .n = { 88200 }, .batch = 3, .kind = KALLIMA_C2R },
    { .rank = 1,
      .n = { 100000 },
      .batch = 3,
      .kind = KALLIMA_R2C,
      .precision = KALLIMA_F64 },
    { .rank = 1,
      .n = { 40960 },
      .batch = 5,
      .kind = KALLIMA_C2R,
      .precision = KALLIMA_F64 },
    // Lines whose passes meet in the output, and real ones that are packed there by one thread.
    { .rank = 1, .n = { 25000 }, .precision = KALLIMA_F64, .kind = KALLIMA_C2R },
    { .rank = 1, .n = { 20000 }, .kind = KALLIMA_C2R },
    { .rank = 1, .n = { 35000 }, .precision = KALLIMA_F64 },
    { .rank = 1, .n = { 72000 }, .direction = KALLIMA_INVERSE },
    { .rank = 1, .n = { 90552 }, .precision = KALLIMA_F64, .kind = KALLIMA_C2R },
    { .rank = 1, .n = { 82944 }, .out.format = KALLIMA_PLANAR },
    // Real lines whose mirrored step one worker does with the one before it, and several
    // behind that.
    { .rank = 1, .n = { 8192 }, .kind = KALLIMA_R2C, .scale = 0.3 },
    { .rank = 1,
      .n = { 16384 },
      .kind = KALLIMA_R2C,
      .batch = 3,
      .precision = KALLIMA_F64 },
    { .rank = 1, .n = { 24576 }, .kind = KALLIMA_R2C, .placement = KALLIMA_IN_PLACE },
    { .rank = 1,
      .n = { 12288 },
      .kind = KALLIMA_C2R,
      .batch = 3,
      .precision = KALLIMA_F64 },
    // Lines that several threads work together, by the registers of their rows.
    { .rank = 1, .n = { 16384 } },
    { .rank = 1, .n = { 24000 }, .precision = KALLIMA_F64, .scale = 0.3 },
    { .rank = 1,
      .n = { 12288 },
      .precision = KALLIMA_F64,
      .in.format = KALLIMA_PLANAR,
      .out.format = KALLIMA_PLANAR },
    { .rank = 1,
      .n = { 17472 },
      .direction = KALLIMA_INVERSE,
      .placement = KALLIMA_IN_PLACE },
    { .rank = 1, .n = { 65536 }, .kind = KALLIMA_R2C },
    { .rank = 1, .n = { 8192 }, .batch = 5 },
    // Arrays axis by axis: one that all work, and several.
    { .rank = 3, .n = { 32, 32, 32 }, .kind = KALLIMA_R2C },
    { .rank = 3,
      .n = { 24, 50, 20 },
      .kind = KALLIMA_C2R,
      .precision = KALLIMA_F64,
      .scale = 0.3 },
    { .rank = 3, .n = { 24, 24, 24 }, .batch = 20 },
    { .rank = 2, .n = { 60, 20 }, .batch = 5, .precision = KALLIMA_F64 },
    // Tiny planes, rows in turn, columns that fall into one set, and small arrays with lines.
    { .rank = 3, .n = { 2000, 3, 5 }, .batch = 5, .precision = KALLIMA_F64 },
    { .rank = 3, .n = { 30000, 2, 2 } },
    { .rank = 4, .n = { 64, 5, 7, 15 }, .kind = KALLIMA_C2R, .batch = 3 },
    { .rank = 3, .n = { 1500, 9, 7 }, .kind = KALLIMA_R2C, .precision = KALLIMA_F64 },
    { .rank = 3, .n = { 1000, 3, 7 }, .precision = KALLIMA_F64 },
    { .rank = 3, .n = { 100, 3, 20 }, .precision = KALLIMA_F64 },
    { .rank = 3, .n = { 81, 16, 10 }, .batch = 3 },
    // Arrays that are copied, each by one thread or by all, whose copies are no whole parts.
    { .rank = 3,
      .n = { 32, 12, 47 },
      .precision = KALLIMA_F64,
      .in = { .stride = { 1128, 94, 2 } },
      .out = { .stride = { 1692, 141, 3 } } },
    { .rank = 2,
      .n = { 100, 130 },
      .batch = 3,
      .in = { .stride = { 520, 4 } },
      .placement = KALLIMA_IN_PLACE,
      .out = { .stride = { 520, 4 } } },
    { .rank = 3,
      .n = { 32, 32, 32 },
      .kind = KALLIMA_R2C,
      .scale = 0.3,
      .in = { .stride = { 3072, 96, 3 } } },
    { .rank = 2,
      .n = { 320, 30 },
      .kind = KALLIMA_C2R,
      .precision = KALLIMA_F64,
      .out = { .stride = { 60, 2 } } },
    { .rank = 2, .n = { 24, 400 }, .batch = 70, .in = { .stride = { 800, 2 } } },
    // Long columns in fewer tiles than threads, which are halved for these.
    { .rank = 2, .n = { 8820, 15 }, .precision = KALLIMA_F64 },
    { .rank = 2, .n = { 9000, 16 } },
    { .rank = 2, .n = { 1500, 90 }, .kind = KALLIMA_R2C, .scale = 0.3 },
    { .rank = 2, .n = { 3000, 24 }, .kind = KALLIMA_C2R, .precision = KALLIMA_F64 },
    { .rank = 1,
      .n = { 1024 },
      .batch = 40,
      .precision = KALLIMA_F64,
      .in = { .stride = { 3 }, .batch_stride = 3072 } },
    // Few columns, copied all at once.
    { .rank = 2, .n = { 2500, 3 } },
    { .rank = 2, .n = { 200, 3 }, .batch = 40, .precision = KALLIMA_F64 },
    { .rank = 1,
      .n = { 6000 },
      .batch = 3,
      .in = { .stride = { 3 }, .batch_stride = 1 },
      .out = { .stride = { 3 }, .batch_stride = 1 } },
    { .rank = 1,
      .n = { 48000 },
      .batch = 2,
      .in = { .stride = { 2 }, .batch_stride = 1 },
      .out = { .stride = { 2 }, .batch_stride = 1 } },
    { .rank = 2, .n = { 15, 400 }, .batch = 8, .precision = KALLIMA_F64 },
    { .rank = 2, .n = { 4, 300 }, .batch = 200 },
    { .rank = 2, .n = { 1536, 1536 } },
    { .rank = 2, .n = { 8192, 10 }, .batch = 12, .kind = KALLIMA_R2C },
    { .rank = 2, .n = { 20000, 9 }, .precision = KALLIMA_F64 },
    // Arrays on the lanes of registers.
    { .rank = 3, .n = { 7, 9, 5 }, .batch = 2001 },
    { .rank = 2, .n = { 10, 13 }, .batch = 5000, .precision = KALLIMA_F64 },
    // Planes of one function, also past the caches of some threads.
    { .rank = 2, .n = { 8, 8 }, .batch = 9001 },
    { .rank = 2, .n = { 6, 6 }, .batch = 8000, .precision = KALLIMA_F64 },
    { .rank = 2, .n = { 4, 4 }, .batch = 3001, .direction = KALLIMA_INVERSE },
    { .rank = 2, .n = { 8, 8 }, .batch = 9001, .kind = KALLIMA_R2C },
    { .rank = 2,
      .n = { 5, 5 },
      .batch = 8001,
      .kind = KALLIMA_C2R,
      .precision = KALLIMA_F64 },
    // Long real lines, the mirrored step on tiles of both ends.
    { .rank = 1, .n = { 262144 }, .kind = KALLIMA_R2C, .precision = KALLIMA_F64 },
    { .rank = 1, .n = { 354294 }, .kind = KALLIMA_R2C, .precision = KALLIMA_F64 },
    { .rank = 1, .n = { 300000 }, .kind = KALLIMA_C2R, .precision = KALLIMA_F64 },
    { .rank = 1, .n = { 530000 }, .kind = KALLIMA_C2R, .scale = 0.3 },
    // Rows of whole numbers, and of doubles by one codelet: through scratch or not, past
    // the caches or not.
    { .rank = 1, .n = { 30 }, .batch = 20000, .precision = KALLIMA_F64 },
    { .rank = 1, .n = { 45 }, .batch = 17001, .scale = 0.3 },
    { .rank = 2, .n = { 33, 32 }, .batch = 331, .precision = KALLIMA_F64 },
    { .rank = 2, .n = { 52, 7 }, .batch = 1420, .precision = KALLIMA_F64 },
    { .rank = 2, .n = { 50, 36 }, .batch = 700 },
    { .rank = 3, .n = { 10, 16, 42 }, .batch = 80, .precision = KALLIMA_F64 },
    // Short lines apart, beside each other, and in planes: registers full of them, and
    // what is left.
    { .rank = 1,
      .n = { 7 },
      .batch = 9001,
      .precision = KALLIMA_F64,
      .in = { .stride = { 3 }, .batch_stride = 21 } },
    { .rank = 1,
      .n = { 12 },
      .batch = 20003,
      .in = { .stride = { 20003 }, .batch_stride = 1 },
      .out = { .stride = { 20003 }, .batch_stride = 1 } },
    { .rank = 1,
      .n = { 20 },
      .batch = 5003,
      .kind = KALLIMA_R2C,
      .out.format = KALLIMA_PLANAR },
    // Small arrays, several at once.
    { .rank = 2,
      .n = { 5, 7 },
      .batch = 4000,
      .kind = KALLIMA_C2R,
      .precision = KALLIMA_F64 },
    { .rank = 2, .n = { 9, 15 }, .batch = 3001, .kind = KALLIMA_R2C },
    // Arrays whose elements lie between each other's: few and many of them.
    { .rank = 2,
      .n = { 300, 200 },
      .batch = 3,
      .in = { .stride = { 600, 3 }, .batch_stride = 1 },
      .out = { .stride = { 600, 3 }, .batch_stride = 1 } },
    { .rank = 2,
      .n = { 64, 60 },
      .batch = 12,
      .precision = KALLIMA_F64,
      .in = { .stride = { 720, 12 }, .batch_stride = 1 },
      .out = { .stride = { 720, 12 }, .batch_stride = 1 } },
    // Longer ones by way of copies, and one of many threads.
    { .rank = 1,
      .n = { 1000 },
      .batch = 3,
      .out = { .stride = { 2 }, .batch_stride = 2000 } },
    { .rank = 1,
      .n = { 8000 },
      .batch = 3,
      .precision = KALLIMA_F64,
      .in = { .stride = { 3 }, .batch_stride = 1 },
      .out = { .stride = { 4 }, .batch_stride = 1 } },
    { .rank = 1,
      .n = { 1024 },
      .batch = 16,
      .in = { .stride = { 64 }, .batch_stride = 65536 } },
    // Columns by way of copies: threads have some of them, meet between the copies and
    // the lines, or share each line.
    { .rank = 1,
      .n = { 512 },
      .batch = 40,
      .in = { .stride = { 40 }, .batch_stride = 1 },
      .out = { .stride = { 40 }, .batch_stride = 1 } },
    { .rank = 1,
      .n = { 2048 },
      .batch = 10,
      .precision = KALLIMA_F64,
      .in = { .stride = { 10 }, .batch_stride = 1 },
      .out = { .stride = { 10 }, .batch_stride = 1 } },
    { .rank = 1,
      .n = { 20000 },
      .batch = 20,
      .in = { .stride = { 20 }, .batch_stride = 1 },
      .out = { .stride = { 24 }, .batch_stride = 1 } },
    { .rank = 1,
      .n = { 70000 },
      .batch = 3,
      .precision = KALLIMA_F64,
      .in = { .stride = { 3 }, .batch_stride = 1 },
      .out = { .stride = { 3 }, .batch_stride = 1 } },
    { .rank = 1,
      .n = { 80000 },
      .batch = 3,
      .kind = KALLIMA_R2C,
      .in = { .stride = { 3 }, .batch_stride = 1 },
      .out = { .stride = { 3 }, .batch_stride = 1 } },
    // Real lines whose numbers are no neighbours, the mirrored step by itself.
    { .rank = 1,
      .n = { 33000 },
      .batch = 4,
      .precision = KALLIMA_F64,
      .kind = KALLIMA_C2R,
      .in = { .stride = { 2 }, .batch_stride = 33002 } },
    { .rank = 1,
      .n = { 65536 },
      .batch = 8,
      .precision = KALLIMA_F64,
      .kind = KALLIMA_R2C,
      .out = { .stride = { 3 }, .batch_stride = 98307 } },
    // Long ones, of which several threads might take two at once.
    { .rank = 1,
      .n = { 262144 },
      .batch = 2,
      .precision = KALLIMA_F64,
      .kind = KALLIMA_C2R },
    { .rank = 1,
      .n = { 285768 },
      .batch = 4,
      .precision = KALLIMA_F64,
      .kind = KALLIMA_R2C },
    // Small batches of short lines, by several kernels each, and fewer arrays and tiles
    // than threads.
    { .rank = 1, .n = { 7 }, .batch = 4681 },
    { .rank = 1, .n = { 16 }, .batch = 2047, .precision = KALLIMA_F64, .scale = 0.3 },
    { .rank = 1, .n = { 60 }, .batch = 541 },
    { .rank = 1,
      .n = { 13 },
      .batch = 2501,
      .kind = KALLIMA_R2C,
      .precision = KALLIMA_F64 },
    { .rank = 1, .n = { 24 }, .batch = 1357, .kind = KALLIMA_C2R, .scale = 0.3 },
    { .rank = 2, .n = { 100, 100 }, .batch = 3, .precision = KALLIMA_F64 },
    { .rank = 3,
      .n = { 16, 16, 16 },
      .batch = 17,
      .kind = KALLIMA_C2R,
      .precision = KALLIMA_F64 },
};

enum { PROBLEMS = sizeof problems / sizeof problems[0] };

// In the brief run, only the smaller problems: the first ones.
static size_t problem_count(void)
{
    return suite.is_brief ? 4 : PROBLEMS;
}

// Most of the problems are the CPU engine's: where plans are compiled a sample will do.
static bool is_taken(size_t problem)
{
    return suite_is_mine(problem) && (suite.is_brief || suite_takes(problem, 1));
}

void bits_do_not_depend_on_threads(void **state)
{
    static const int counts[] = { 1, 2, 3, 16 };
    enum { COUNTS = sizeof counts / sizeof *counts };
    kallima_device *devices[COUNTS];
    struct rig rig;

    (void)state;
    if (suite.takes_kernels && !suite.is_long) // whose devices have no use for threads
        skip();
    for (int k = 0; k < COUNTS; k++)
        devices[k] = suite_open(counts[k], NULL);
    for (size_t i = 0; i < problem_count(); i++) {
        const struct trial t = { .desc = problems[i], .seed = i, .way = WAY_OWNED };
        uint64_t want = 0;
        if (!is_taken(i))
            continue;
        rig_init(&rig, suite_problem(&t.desc), i);
        for (int k = 0; k < COUNTS; k++) {
            const uint64_t got = trial_hash_on(&t, &rig, devices[k]);
            if (k == 0)
                want = got;
            row_ran();
            if (got != want || got == 0)
                row_fail("problem %zu: other bits with %d threads than with 1", i,
                         counts[k]);
        }
        rig_clear(&rig);
    }
    for (int k = 0; k < COUNTS; k++)
        kallima_device_close(&devices[k]);
    ROWS_FINISH();
}

// Lines whose columns have more tiles than there are threads, or fewer, so that these
// share their steps.
void bits_do_not_depend_on_who_shares_a_line(void **state)
{
    static const struct {
        int64_t n;
        int precision;
        const char *columns;
        int rows;
    } lines[] = {
        { 16384, KALLIMA_F32, "8.8.8", 32 },
        { 16384, KALLIMA_F64, "8.8.8", 32 },
        { 8192, KALLIMA_F64, "8.16.8", 8 },
        { 3072, KALLIMA_F64, "8.12", 32 },
        { 17472, KALLIMA_F32, "3.13.14", 32 },
        { 12000, KALLIMA_F64, "5.5.5.3", 32 },
        { 4096, KALLIMA_F32, "16.8", 32 },
        { 32768, KALLIMA_F64, "32.32", 32 },
        // Products of roots, and rows that fill no registers.
        { 24000, KALLIMA_F64, "10.15.5", 32 },
        { 48000, KALLIMA_F32, "12.10.25", 16 },
    };
    // So many that several come by one door of a meeting.
    static const int counts[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 70 };
    enum { MOST_THREADS = 70 };
    char recipe[96];
    struct rig rig;

    (void)state;
    if (suite.is_brief || suite.takes_kernels)
        skip();
    kallima_device *device = suite_open(MOST_THREADS, NULL);
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        struct trial t = { .seed = i, .way = WAY_OWNED, .recipe = recipe };
        uint64_t want = 0;
        t.desc = (kallima_desc){ .rank = 1,
                                 .n = { lines[i].n },
                                 .precision = lines[i].precision };
        rig_init(&rig, &t.desc, i);
        for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
            const int threads = counts[k];
            snprintf(recipe, sizeof recipe, "four-step(local(%s, threads=%d), local(%d))",
                     lines[i].columns, threads, lines[i].rows);
            if (threads == 1)
                suite_check(&t, device);
            const uint64_t got = trial_hash_on(&t, &rig, device);
            if (threads == 1)
                want = got;
            ROW_CHECK(got == want && got != 0);
        }
        rig_clear(&rig);
    }
    kallima_device_close(&device);
    ROWS_FINISH();
}

void bits_do_not_change_between_runs(void **state)
{
    (void)state;
    for (size_t i = 0; i < problem_count(); i++) {
        struct rig rig;
        uint64_t want = 0;
        const kallima_desc *d = suite_problem(&problems[i]);
        if (!is_taken(i))
            continue;
        kallima_plan *plan = suite_plan(suite.device, d);
        rig_init(&rig, d, i);
        for (int run = 0; run < 4; run++) {
            rig_restore(&rig);
            ROW_CHECK(rig_execute(&rig, plan, suite.device, WAY_OWNED) == KALLIMA_OK);
            const uint64_t got = rig_output_hash(&rig);
            if (run == 0)
                want = got;
            ROW_CHECK(got == want);
        }
        rig_clear(&rig);
        kallima_plan_destroy(&plan);
    }
    ROWS_FINISH();
}

// Run, execute_host with and without a workspace, execute on buffers.
void bits_do_not_depend_on_the_way(void **state)
{
    (void)state;
    for (size_t i = 0; i < problem_count(); i++) {
        struct rig rig;
        uint64_t want = 0;
        if (!is_taken(i))
            continue;
        rig_init(&rig, suite_problem(&problems[i]), i);
        for (int way = 0; way < WAY_COUNT; way++) {
            const struct trial t = { .desc = problems[i],
                                     .seed = i,
                                     .way = (enum way)way };
            const uint64_t got = trial_hash_on(&t, &rig, suite.device);
            if (way == 0)
                want = got;
            ROW_CHECK(got == want && got != 0);
        }
        rig_clear(&rig);
    }
    ROWS_FINISH();
}
