// SPDX-License-Identifier: MIT
// A few small problems of every sort, for simulators that look at each access to memory.
#include "suite.h"

#define LINE(length) .rank = 1, .n = { length }
#define COLUMNS(many)                                                                   \
    .batch = many, .in.stride = { many }, .in.batch_stride = 1, .out.stride = { many }, \
    .out.batch_stride = 1
#define IN_PLACE .placement = KALLIMA_IN_PLACE
#define F64      .precision = KALLIMA_F64

// clang-format off
static const struct {
    kallima_desc desc;
    const char *recipe; // NULL: the planner's
} few[] = {
    { { LINE(64), .batch = 3 }, NULL },
    { { LINE(60), .batch = 2, F64, .direction = KALLIMA_INVERSE, IN_PLACE }, NULL },
    { { LINE(240), COLUMNS(17) }, NULL },
    { { LINE(360), .in.format = KALLIMA_PLANAR, .in.offset = 3, .out.stride = { 2 } }, NULL },
    { { LINE(1009), F64, IN_PLACE }, NULL },
    { { LINE(60), .batch = 2 }, "prime-factor(local(4), local(15))" },
    { { LINE(101), .batch = 3 }, "rader(local(10.10))" },
    { { LINE(73), COLUMNS(5), .scale = 0.5 }, "rader(local(12.6))" },
    { { LINE(47), .batch = 3, F64 }, "bluestein(n=47, local(12.8))" },
    { { LINE(53), COLUMNS(4), .direction = KALLIMA_INVERSE }, "bluestein(n=53, local(16.7))" },
    { { LINE(96), .batch = 3 }, "four-step(local(8), local(12))" },
    { { LINE(256), .batch = 8 }, "four-step(local(16), local(16))" }, // in one launch
    { { LINE(120), .batch = 2, IN_PLACE }, "four-step(local(4), four-step(local(5), local(6)))" },
    { { LINE(85), .batch = 2 }, "four-step(local(5), rader(local(16)))" },
    { { LINE(6000) }, NULL }, // f32 and f64: a line nearly fills 48 KiB
    { { LINE(3000), F64 }, NULL },
    { { LINE(16384) }, NULL }, // several passes
    { { LINE(100), .kind = KALLIMA_R2C, .batch = 3 }, NULL },
    { { LINE(101), .kind = KALLIMA_R2C, .batch = 3 }, NULL },
    { { LINE(511), .kind = KALLIMA_R2C, .batch = 5 }, NULL },
    { { LINE(96), .kind = KALLIMA_C2R, .batch = 3, IN_PLACE }, NULL },
    { { LINE(99), .kind = KALLIMA_C2R, .batch = 3, F64 }, NULL },
    { { .rank = 2, .n = { 20, 24 }, .batch = 2 }, NULL },
    { { .rank = 2, .n = { 18, 34 }, .kind = KALLIMA_R2C, IN_PLACE }, NULL },
    { { .rank = 2, .n = { 18, 34 }, .kind = KALLIMA_R2C, .batch = 2 }, NULL },
    { { .rank = 2, .n = { 15, 32 }, .kind = KALLIMA_C2R, .batch = 2 }, NULL },
    { { .rank = 3, .n = { 6, 5, 9 }, .kind = KALLIMA_C2R }, NULL },
};
// clang-format on

void a_few_of_every_sort_are_computed(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof few / sizeof few[0]; i++) {
        const struct trial t = { .desc = few[i].desc,
                                 .seed = i + 1,
                                 .way = i % 2 ? WAY_BUFFERS : WAY_OWNED,
                                 .recipe = few[i].recipe };
        suite_check(&t, suite.device);
    }
    ROWS_FINISH();
}
