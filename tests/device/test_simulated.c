// SPDX-License-Identifier: MIT
// Usage: test_simulated [I/N]
// Kernels for a GPU, computed without one (those numbered I of N) and compared with the
// oracle: tiles, barriers, tickets, clusters; none may read or write outside of an array or a
// table. Last, faults planted in them are found (again, those numbered I of N).
#include <kallima/kallima.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "../rows.h"
#include "../trial.h"
#include "simulate.h"

static struct {
    kallima_device *device;
    int processors;
    int part, parts;
} run = { .parts = 1 };

struct row {
    kallima_desc desc;
    const char *recipe; // NULL: the planner's
    int processors;     // fewer give shorter rings of slots; 0: those of an H200
};

#define LINE(length)  .rank = 1, .n = { length }
#define PLANE(n0, n1) .rank = 2, .n = { n0, n1 }
#define CUBE(a, b, c) .rank = 3, .n = { a, b, c }
#define COLUMNS(many)                                                                   \
    .batch = many, .in.stride = { many }, .in.batch_stride = 1, .out.stride = { many }, \
    .out.batch_stride = 1
#define PLANAR     .in.format = KALLIMA_PLANAR, .out.format = KALLIMA_PLANAR
#define PLANAR_IN  .in.format = KALLIMA_PLANAR
#define PLANAR_OUT .out.format = KALLIMA_PLANAR
#define INVERSE    .direction = KALLIMA_INVERSE
#define IN_PLACE   .placement = KALLIMA_IN_PLACE
#define F64        .precision = KALLIMA_F64
#define R2C        .kind = KALLIMA_R2C
#define C2R        .kind = KALLIMA_C2R

// clang-format off
static const struct row rows[] = {
    // One pass, one round or more.
    { { LINE(1), .batch = 5 }, NULL, 0 },
    { { LINE(8), .batch = 70 }, NULL, 0 },
    { { LINE(61), .batch = 9, F64, INVERSE }, NULL, 0 },
    { { LINE(53), .batch = 9 }, NULL, 0 },
    { { LINE(67), .batch = 7, IN_PLACE }, NULL, 0 },
    { { LINE(113), .batch = 5, INVERSE }, NULL, 0 },
    { { LINE(122), COLUMNS(6) }, NULL, 0 },
    { { LINE(64), .batch = 37, .scale = 0.25 }, NULL, 0 },
    { { LINE(60), .batch = 33, F64, IN_PLACE }, NULL, 0 },
    { { LINE(1000), .batch = 3, PLANAR }, NULL, 0 },
    { { LINE(2187), .batch = 2, INVERSE }, NULL, 0 },
    { { LINE(4096), .batch = 4 }, NULL, 0 },
    { { LINE(4096), .batch = 4, F64 }, NULL, 0 },
    { { LINE(16384), .batch = 4 }, NULL, 0 },
    // Lines of doubles whose steps are as many, and as small, as can be: the most roundings.
    { { LINE(59049), .batch = 2, F64 }, NULL, 0 },
    { { LINE(177147), F64 }, NULL, 0 },
    { { LINE(236196), F64, INVERSE }, NULL, 0 },
    { { LINE(352836), F64 }, NULL, 0 },
    { { LINE(531441), F64 }, NULL, 0 },
    { { LINE(240), COLUMNS(17) }, NULL, 0 },
    { { LINE(360), COLUMNS(50), F64, PLANAR, IN_PLACE }, NULL, 0 },
    { { LINE(360), .in.format = KALLIMA_PLANAR, .in.offset = 3, .out.stride = { 2 } }, NULL, 0 },
    { { LINE(202), .batch = 9, PLANAR }, NULL, 0 },
    { { LINE(6464), .batch = 3, INVERSE }, NULL, 0 },
    { { LINE(7000), .batch = 3 }, NULL, 0 },
    { { LINE(3500), .batch = 3, F64, IN_PLACE }, NULL, 0 },
    { { LINE(64), .batch = 21 }, "local(2.2.2.2.2.2)", 0 },
    { { LINE(16), .batch = 64 }, "local(4.4, points=4, lines=16, run=0)", 0 },
    { { LINE(256), .batch = 5 }, "local(4.4.4.4, points=4, lines=1)", 0 },
    { { LINE(60), .batch = 8 }, "prime-factor(local(4), local(15))", 0 },

    // Parameters that no design would choose.
    { { LINE(64), .batch = 37 }, "local(8.8, points=1, lines=3, lanes=33, run=4096)", 0 },
    { { LINE(1000), .batch = 7, F64 }, "local(10.10.10, points=64, lines=2, powers=2)", 0 },
    { { LINE(243), .batch = 11, IN_PLACE }, "local(3.3.3.3.3, lanes=1, lines=7)", 0 },
    { { LINE(360), COLUMNS(50) }, "local(15.24, lines=5, lanes=1024, powers=1024)", 0 },
    { { LINE(4096), .batch = 8 },
      "four-step(local(8.8, cluster=0, lines=3, lag=7, hints=0), local(8.8, lanes=48))", 0 },
    { { LINE(4096), .batch = 8 },
      "four-step(local(8.8, resident=1, lanes=64, lag=1), local(8.8, points=2, cluster=0))", 1 },
    { { PLANE(20, 24), .batch = 5 }, "rank(local(5.4, lanes=40), local(8.3, lines=2))", 0 },
    { { LINE(101), .batch = 7 }, "rader(local(10.10, lines=4, points=10))", 0 },

    // Convolutions.
    { { LINE(101), .batch = 7 }, "rader(local(10.10))", 0 },
    { { LINE(73), COLUMNS(5), .scale = 0.5 }, "rader(local(12.6))", 0 },
    { { LINE(1009), .batch = 3, F64 }, NULL, 0 },
    { { LINE(1009), IN_PLACE, INVERSE }, NULL, 0 },
    { { LINE(10007), .batch = 4 }, NULL, 0 },
    { { LINE(10007), .batch = 2 }, "bluestein(n=10007, four-step(local(16.8), local(16.10)))", 0 },
    { { LINE(1823), .batch = 5, F64, INVERSE }, "bluestein(n=1823, four-step(local(10.6), local(8.8, lines=5)))", 0 },
    { { LINE(307), .batch = 40 }, "bluestein(n=307, four-step(local(25, cluster=0), local(5.5)))", 1 },
    { { LINE(2003), COLUMNS(3) }, "rader(four-step(local(14), local(13.11)))", 0 },
    { { LINE(47), .batch = 6, F64 }, "bluestein(n=47, local(12.8))", 0 },
    { { LINE(53), COLUMNS(4), INVERSE }, "bluestein(n=53, local(16.7))", 0 },
    { { LINE(101), .batch = 9 }, "bluestein(n=101, four-step(local(16), local(13)))", 0 },
    { { LINE(101), .batch = 5, F64, INVERSE, IN_PLACE }, "bluestein(n=101, four-step(local(16), local(13)))", 0 },
    { { LINE(85), .batch = 5 }, "four-step(local(5), rader(local(16)))", 0 },
    { { LINE(1018), .batch = 5, IN_PLACE }, NULL, 0 },
    { { LINE(10006), .batch = 4, INVERSE }, NULL, 0 },
    { { LINE(20011), .batch = 4 }, NULL, 0 },
    { { LINE(33013), .batch = 4, F64 }, NULL, 0 },

    // Long lines: passes that meet in one launch.
    { { LINE(96), .batch = 11 }, "four-step(local(8, cluster=0), local(12))", 0 },
    { { LINE(120), .batch = 6, IN_PLACE }, "four-step(local(4, cluster=0), four-step(local(5), local(6)))", 0 },
    { { LINE(4096), .batch = 8, F64, INVERSE }, "four-step(local(8.8, cluster=0), local(8.8))", 0 },
    { { LINE(4096), .batch = 6, PLANAR }, "four-step(local(32, cluster=0), local(16.8))", 0 },
    { { LINE(32768), .batch = 4 }, "four-step(local(16.16, cluster=0), local(16.8))", 0 },
    { { LINE(32768), .batch = 4, F64 }, "four-step(local(16.16, cluster=0), local(16.8))", 0 },
    { { LINE(65536), .batch = 4, IN_PLACE }, "four-step(local(16.16, cluster=0), local(16.16))", 0 },
    { { LINE(65536) }, "four-step(local(16.16, cluster=0), local(16.16))", 0 },
    { { LINE(65536), .batch = 4 }, "four-step(local(16.16, cluster=0), local(16.16))", 0 },
    { { LINE(256), .batch = 6 }, "four-step(local(16, cluster=0), four-step(local(4), local(4)))", 0 },
    { { LINE(256), COLUMNS(4), F64, INVERSE }, "four-step(four-step(local(4, cluster=0), local(4)), local(16))", 0 },

    // The same on so few processors that lines wait for a slot.
    { { LINE(1024), .batch = 40 }, "four-step(local(16, cluster=0), local(8.8))", 1 },
    { { LINE(1024), COLUMNS(70), F64 }, "four-step(local(16, cluster=0), local(8.8))", 1 },
    { { LINE(101), .batch = 90 }, "bluestein(n=101, four-step(local(16, cluster=0), local(13)))", 1 },
    { { LINE(32768), .batch = 16 }, "four-step(local(16.16, cluster=0), local(16.8))", 1 },
    { { PLANE(128, 160), .batch = 12 }, "rank(local(16.8, cluster=0), local(8.5.4))", 1 },
    { { LINE(1024), .batch = 40, R2C, F64 }, "real-even(four-step(local(16, cluster=0), local(8.4)))", 1 },

    // Passes that meet in the memory of a cluster.
    { { LINE(65536), .batch = 4 }, "four-step(local(16.16, cluster=8), local(16.16))", 0 },
    { { LINE(32768), .batch = 4, F64, INVERSE }, "four-step(local(16.16, cluster=8), local(16.8))", 0 },
    { { LINE(65536), .batch = 4, IN_PLACE }, "four-step(local(16.16, cluster=16), local(16.16))", 0 },
    { { LINE(4096), .batch = 4, F64 }, "four-step(local(8.8, cluster=2), local(8.8))", 0 },
    { { .rank = 2, .n = { 128, 256 }, .batch = 3 }, "rank(local(16.8, cluster=8), local(16.16))", 0 },
    { { LINE(4096), COLUMNS(16) }, "four-step(local(8.8, cluster=4), local(8.8))", 0 },
    { { LINE(1024), .batch = 4, PLANAR, .scale = 0.5 }, "four-step(local(16, cluster=4), local(8.8))", 0 },
    { { LINE(8192), .batch = 4, R2C }, "real-even(four-step(local(8.8, cluster=4), local(8.8)))", 0 },
    { { LINE(8192), .batch = 4, C2R, F64 }, "real-even(four-step(local(8.8, cluster=2), local(8.8)))", 0 },

    // Real numbers.
    { { LINE(100), .batch = 13, R2C }, NULL, 0 },
    { { LINE(96), .batch = 13, C2R, IN_PLACE }, NULL, 0 },
    { { LINE(99), .batch = 5, C2R, F64 }, NULL, 0 },
    { { LINE(511), .batch = 5, R2C }, NULL, 0 },
    { { LINE(907), .batch = 7, C2R }, "real-odd(bluestein(n=907, four-step(local(8.5), local(8.6))))", 0 },
    { { LINE(8192), .batch = 3, R2C, F64 }, NULL, 0 },
    { { LINE(8192), .batch = 4, C2R }, NULL, 0 },
    { { LINE(32), .batch = 9, R2C }, "four-step(real-even(local(4)), local(4))", 0 },
    { { LINE(32), .batch = 9, C2R }, "four-step(real-even(local(4)), local(4))", 0 },
    { { LINE(45), .batch = 6, R2C, F64 }, "four-step(real-odd(local(9)), local(5))", 0 },
    { { LINE(480), .batch = 6, R2C }, "four-step(real-even(local(4)), four-step(local(5), local(12)))", 0 },
    { { LINE(480), .batch = 6, C2R, F64 }, "four-step(real-even(local(4)), four-step(local(5), local(12)))", 0 },
    { { LINE(65536), .batch = 4, R2C }, NULL, 0 },
    { { LINE(65536), .batch = 4, C2R }, NULL, 0 },

    // Several axes, in one tile or not.
    { { PLANE(20, 24), .batch = 5 }, NULL, 0 },
    { { PLANE(64, 64), .batch = 3, F64, IN_PLACE }, NULL, 0 },
    { { PLANE(18, 34), .batch = 4, R2C, IN_PLACE }, NULL, 0 },
    { { PLANE(18, 35), .batch = 4, C2R }, NULL, 0 },
    { { PLANE(18, 34), .batch = 4, C2R, IN_PLACE }, NULL, 0 },
    { { PLANE(64, 64), .batch = 5, R2C, F64, IN_PLACE }, NULL, 0 },
    { { PLANE(20, 24), .batch = 5, .in.stride = { 77, 3 }, .in.batch_stride = 1540, .out.stride = { 25, 1 } }, NULL, 0 },
    { { PLANE(15, 20), .batch = 5, C2R, .in.stride = { 12, 1 }, .out.stride = { 66, 3 }, .out.batch_stride = 1000 }, NULL, 0 },
    { { CUBE(5, 6, 4), .batch = 5, .in.stride = { 30, 5, 1 }, .in.batch_stride = 150 }, NULL, 0 },
    { { CUBE(4, 6, 10), .batch = 5, R2C, IN_PLACE }, NULL, 0 },
    { { CUBE(12, 16, 20), .batch = 3, C2R, F64 }, NULL, 0 },
    { { CUBE(3, 1, 2), .batch = 30, R2C }, NULL, 0 },
    { { CUBE(1, 5, 12), .batch = 7, C2R }, NULL, 0 },
    { { PLANE(2, 2), .batch = 9, R2C }, NULL, 0 },
    { { PLANE(3, 2), .batch = 9, C2R }, NULL, 0 },
    { { PLANE(64, 64), .batch = 5, R2C }, NULL, 0 },
    { { PLANE(64, 64), .batch = 5, C2R, F64 }, NULL, 0 },
    { { PLANE(33, 60), .batch = 3, R2C, F64, .scale = 0.5 }, NULL, 0 },
    { { PLANE(20, 54), .batch = 3, C2R, .scale = 0.5 }, NULL, 0 },
    { { PLANE(128, 128), .batch = 20, R2C, PLANAR_OUT }, NULL, 0 },
    { { PLANE(31, 14), .batch = 20, C2R, PLANAR_IN }, NULL, 0 },
    { { PLANE(24, 20), .batch = 5, R2C }, "rank(local(4.6), real-even(local(10, lines=3)))", 0 },
    { { PLANE(24, 20), .batch = 5, C2R }, "rank(local(24), real-even(local(2.5, lanes=40)))", 0 },
    { { PLANE(128, 160), .batch = 5 }, NULL, 0 },
    { { PLANE(256, 96), .batch = 4, R2C }, NULL, 0 },
    { { PLANE(101, 60), .batch = 3, F64 }, NULL, 0 },
    { { PLANE(300, 320), .batch = 4 }, NULL, 0 },
    { { PLANE(320, 500), .batch = 5, PLANAR, INVERSE }, NULL, 2 },
    { { PLANE(250, 320), .batch = 4, F64, IN_PLACE }, NULL, 0 },
    { { PLANE(202, 40), .batch = 4 }, NULL, 0 },
    { { PLANE(8192, 20) }, "rank(four-step(local(8.16), local(8.8)), local(20))", 0 },
    { { PLANE(3600, 33), F64, IN_PLACE, INVERSE }, "rank(four-step(local(10.6), local(6.10)), local(11.3))", 0 },
    { { PLANE(3000, 40), R2C }, "rank(bluestein(n=3000, four-step(local(10.8), local(8.10))), real-even(local(20)))", 0 },
    { { CUBE(12, 10, 9), .batch = 6 }, NULL, 0 },
    { { CUBE(32, 24, 40), .batch = 4, F64 }, NULL, 0 },
    { { CUBE(30, 32, 36), .batch = 4, C2R }, NULL, 0 },

    // Planes of a volume on one tile each, or in one launch.
    { { CUBE(30, 32, 36), .batch = 2, R2C }, NULL, 0 },
    { { CUBE(40, 64, 64), .batch = 1, C2R, IN_PLACE }, NULL, 0 },
    { { CUBE(17, 72, 64), .batch = 1, R2C, F64, PLANAR_OUT, .scale = 0.5 }, NULL, 0 },
    { { CUBE(20, 64, 72), .batch = 5, INVERSE }, NULL, 0 },
    { { CUBE(20, 64, 72), .batch = 9, F64, IN_PLACE }, NULL, 1 },
    { { CUBE(40, 64, 100), .batch = 1, PLANAR, IN_PLACE }, NULL, 0 },
    { { CUBE(18, 96, 96), .batch = 1, .in.stride = { 9800, 100, 1 }, .out.stride = { 9312, 97, 1 } }, NULL, 0 },
    { { CUBE(18, 64, 80), .batch = 1, C2R, .destroy_input = 1 }, NULL, 0 },
    { { CUBE(5, 256, 256) }, NULL, 0 },
    { { CUBE(6, 200, 250), INVERSE, .scale = 2 }, NULL, 1 },
    { { CUBE(4, 128, 128), F64, IN_PLACE }, NULL, 0 },
    { { CUBE(5, 200, 256), R2C }, NULL, 1 },
    { { CUBE(5, 160, 256), C2R, .scale = 0.5 }, NULL, 0 },
    { { CUBE(4, 200, 180), C2R, F64, IN_PLACE }, NULL, 1 },
    { { CUBE(4, 150, 192), R2C, F64, IN_PLACE }, NULL, 0 },
    { { PLANE(130, 160), .batch = 128, R2C, F64, PLANAR_OUT }, NULL, 1 },
    { { PLANE(130, 160), .batch = 128, C2R, F64, IN_PLACE }, NULL, 0 },
    { { PLANE(250, 320), .batch = 5, R2C, PLANAR_OUT }, NULL, 1 },
    { { PLANE(300, 240), .batch = 4, C2R, .in.stride = { 125, 1 } }, NULL, 0 },
    { { CUBE(24, 64, 60), .batch = 4, C2R, PLANAR_IN }, NULL, 1 },
    { { .rank = 4, .n = { 3, 6, 64, 80 } }, NULL, 0 },
    { { .rank = 4, .n = { 3, 7, 64, 60 }, .batch = 3, C2R, F64 }, NULL, 0 },
    { { .rank = 4, .n = { 20, 1, 64, 90 }, R2C }, NULL, 0 },
};
// clang-format on

static void use_processors(int processors)
{
    run.device->caps.processors = processors ? processors : run.processors;
}

static void kernels_match_the_oracle(void **state)
{
    (void)state;
    for (size_t i = (size_t)run.part; i < KAL_COUNT(rows); i += (size_t)run.parts) {
        const struct trial t = { .desc = rows[i].desc,
                                 .seed = 3 * (i + 1), // arrays have no guards behind them
                                 .way = i % 2 ? WAY_BUFFERS : WAY_OWNED,
                                 .recipe = rows[i].recipe };
        use_processors(rows[i].processors);
        trial_check(&t, run.device);
    }
    use_processors(0);
    ROW_CHECK(simulate_counts.groups > 0 && simulate_counts.barriers > 0);
    // Else tickets and clusters were not put to the test.
    ROW_CHECK(simulate_counts.waits > 0 && simulate_counts.cluster_stores > 0);
    ROWS_FINISH();
}

static const struct fault {
    struct row row;
    const char *before, *after;
} faults[] = {
    // clang-format off
    { { { LINE(1000), .batch = 3 }, NULL, 0 }, "    BARRIER;", "" },
    { { { LINE(1000), .batch = 3 }, NULL, 0 }, " BARRIER;", " if (lane > 0u) BARRIER;" },
    { { { LINE(1000), .batch = 3 }, NULL, 0 },
      " BARRIER;", " if (lane > 0u) BARRIER;\n else BARRIER_ALL;" },
    { { { LINE(1000), .batch = 3 }, NULL, 0 },
      " = LANE;", " = LANE; tile[-1] = MAKE(ZERO, ZERO);" },
    { { { LINE(1000), .batch = 3 }, NULL, 0 }, " = LANE;", " = LANE; (void)LOAD(in, 3000);" },
    { { { LINE(1000), .batch = 3 }, NULL, 0 }, " = LANE;", " = LANE; (void)LOAD(in, -1);" },
    { { { LINE(1000), .batch = 3 }, NULL, 0 }, " = LANE;", " = LANE; (void)ROOT(0 + 200);" },
    { { { LINE(96), .batch = 2000 }, "four-step(local(8, cluster=0), local(12))", 1 },
      "while (seen", "while (false && seen" },
    { { { LINE(96), .batch = 2000 }, "four-step(local(8, cluster=0), local(12))", 1 },
      "done = 1u + number", "done = 0u * number" },
    { { { LINE(96), .batch = 2000 }, "four-step(local(8, cluster=0), local(12))", 1 },
      "BARRIER_ALL;\n        if (lane", "if (lane" },
    { { { LINE(65536), .batch = 4 }, "four-step(local(16.16, cluster=8), local(16.16))", 0 },
      "CLUSTER_HAS_READ;", "" },
    { { { LINE(65536), .batch = 4 }, "four-step(local(16.16, cluster=8), local(16.16))", 0 },
      "CLUSTER_HAS_READ;", "BARRIER;" },
    // clang-format on
};

// Infinite if the execution fails.
static double planted_error(const struct fault *fault, const kallima_plan *plan)
{
    const kallima_desc *desc = &fault->row.desc;
    long double error = 0, power = 0;
    const char *why = NULL;
    struct rig rig;

    rig_init(&rig, desc, 1);
    if (rig_execute(&rig, plan, run.device, WAY_OWNED) == KALLIMA_OK &&
        rig_is_intact(&rig, &why))
        rig_add_error(&rig, &error, &power);
    else
        fprintf(stderr, "  found: %s\n", why ? why : kallima_last_error());
    rig_clear(&rig);
    return power > 0 ? (double)sqrtl(error / power) : INFINITY;
}

static void check_fault(const struct fault *fault)
{
    const kallima_plan_options options = { .recipe = fault->row.recipe };
    kallima_plan *plan = NULL;

    row_ran();
    use_processors(fault->row.processors);
    simulate_plant = (struct simulate_plant){ fault->before, fault->after, 0 };
    const kallima_status status =
        kallima_plan_create(&plan, run.device, &fault->row.desc, &options);
    const int places = simulate_plant.places;
    simulate_plant = (struct simulate_plant){ 0 };
    use_processors(0);
    if (status != KALLIMA_OK)
        row_fail("\"%s\": %s", fault->after, kallima_last_error());
    else if (places == 0)
        row_fail("\"%s\" is not in the text", fault->before);
    else if (planted_error(fault, plan) <= oracle_bound(&fault->row.desc))
        row_fail("\"%s\" for \"%s\" does no harm", fault->after, fault->before);
    kallima_plan_destroy(&plan);
}

static void planted_faults_are_found(void **state)
{
    (void)state;
    for (size_t i = (size_t)run.part; i < KAL_COUNT(faults); i += (size_t)run.parts)
        check_fault(&faults[i]);
    ROWS_FINISH();
}

int main(int argc, char **argv)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_match_the_oracle),
        cmocka_unit_test(planted_faults_are_found),
    };
    if (argc > 1 && sscanf(argv[1], "%d/%d", &run.part, &run.parts) != 2)
        return 2;
    trial_report_crashes();
    if (simulate_open(&run.device) != KALLIMA_OK) {
        fprintf(stderr, "%s\n", kallima_last_error());
        return 1;
    }
    run.processors = run.device->caps.processors;
    const int failed = cmocka_run_group_tests_name("simulated", tests, NULL, NULL);
    kallima_device_close(&run.device);
    return failed != 0;
}
