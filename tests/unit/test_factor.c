// SPDX-License-Identifier: MIT
#include <string.h>

#include "../rows.h"
#include "codelet/two_steps.h"
#include "factor/alone.h"
#include "factor/convolution.h"
#include "factor/copied.h"
#include "factor/divided.h"
#include "factor/order.h"
#include "factor/radix.h"
#include "factor/rule.h"
#include "factor/together.h"
#include "factor/whole.h"
#include "math/number.h"

static const struct kal_caps kinds_of_caps[] = {
    { .has_f64 = true, .threads = 4, .lanes_f32 = 16, .near_bytes = 1 << 20 },
    { .has_f64 = true,
      .language = KAL_LANGUAGE_OPENCL,
      .group_lanes = 256,
      .group_bytes = 49152 },
    // As an H200 is to OpenGL, and to Vulkan.
    { .has_f64 = true,
      .shared_bytes = 32 << 20,
      .language = KAL_LANGUAGE_GLSL_POINTERS,
      .processors = 132,
      .group_lanes = 1024,
      .group_bytes = 49152,
      .processor_lanes = 2048,
      .processor_bytes = 64 << 10,
      .lane_registers = 255,
      .has_forward_progress = true },
    { .has_f64 = true,
      .shared_bytes = 32 << 20,
      .language = KAL_LANGUAGE_GLSL_ADDRESSES,
      .processors = 132,
      .group_lanes = 1024,
      .group_bytes = 49152,
      .processor_lanes = 2048,
      .processor_bytes = 128 << 10,
      .lane_registers = 255,
      .has_forward_progress = true },
};

// --- what a node may be ------------------------------------------------------------------

static bool local_is_legal(const struct kal_recipe *node)
{
    int64_t product = 1;
    for (int i = 0; i < node->radix_count; i++) {
        if (!kal_radix_is_printed(node->radix[i]))
            return false;
        product *= node->radix[i];
    }
    return product == node->n && product <= KAL_MAX_LOCAL;
}

static bool four_step_is_legal(const struct kal_recipe *node)
{
    return node->child[0]->n > 1 && node->child[1]->n > 1 &&
           node->child[0]->n * node->child[1]->n == node->n;
}

static bool prime_factor_is_legal(const struct kal_recipe *node)
{
    return four_step_is_legal(node) && node->child[0]->rule == KAL_RULE_LOCAL &&
           node->child[1]->rule == KAL_RULE_LOCAL &&
           kal_gcd(node->child[0]->n, node->child[1]->n) == 1;
}

static bool rader_is_legal(const struct kal_recipe *node)
{
    return kal_is_prime(node->n) && node->child[0]->n == node->n - 1;
}

static bool bluestein_is_legal(const struct kal_recipe *node)
{
    return node->child[0]->n >= 2 * node->n - 1;
}

static bool real_even_is_legal(const struct kal_recipe *node)
{
    return node->n == 2 * node->child[0]->n;
}

static bool real_odd_is_legal(const struct kal_recipe *node)
{
    return node->n % 2 == 1 && node->n == node->child[0]->n;
}

static bool rank_is_legal(const struct kal_recipe *node)
{
    int64_t product = 1;
    for (int i = 0; i < node->child_count; i++)
        product *= node->child[i]->n;
    return product == node->n;
}

static bool is_legal(const struct kal_recipe *node)
{
    static bool (*const rules[KAL_RULE_COUNT])(const struct kal_recipe *) = {
        [KAL_RULE_LOCAL] = local_is_legal,
        [KAL_RULE_PRIME_FACTOR] = prime_factor_is_legal,
        [KAL_RULE_FOUR_STEP] = four_step_is_legal,
        [KAL_RULE_RADER] = rader_is_legal,
        [KAL_RULE_BLUESTEIN] = bluestein_is_legal,
        [KAL_RULE_REAL_EVEN] = real_even_is_legal,
        [KAL_RULE_REAL_ODD] = real_odd_is_legal,
        [KAL_RULE_RANK] = rank_is_legal,
    };
    const struct kal_rule *rule = kal_rules[node->rule];

    if (node->child_count < rule->min_children || node->child_count > rule->max_children)
        return false;
    for (int i = 0; i < node->child_count; i++) {
        if (!is_legal(node->child[i]))
            return false;
    }
    return rules[node->rule](node);
}

// --- planned recipes ---------------------------------------------------------------------

typedef void check_function(const struct kal_problem *problem,
                            const struct kal_recipe *recipe, struct kal_arena *arena);

static void check_plan_of(const kallima_desc *desc, const struct kal_caps *device,
                          check_function *check)
{
    const struct kal_caps caps = kal_caps_limit(device, desc->precision == KALLIMA_F64);
    struct kal_problem problem;
    struct kal_recipe *recipe;
    struct kal_arena arena;

    row_ran();
    kal_arena_init(&arena, NULL);
    const struct kal_planner planner = { .arena = &arena, .caps = &caps };
    if (kal_problem_init(&problem, NULL, desc) != KALLIMA_OK ||
        kal_plan_problem(&recipe, &planner, &problem) != KALLIMA_OK)
        row_fail("n=%lld: %s", (long long)desc->n[0], kallima_last_error());
    else
        check(&problem, recipe, &arena);
    kal_arena_clear(&arena);
}

static void check_plan(const kallima_desc *desc, check_function *check)
{
    for (size_t i = 0; i < KAL_COUNT(kinds_of_caps); i++)
        check_plan_of(desc, &kinds_of_caps[i], check);
}

// The kinds, and lines alone, many, and many that are adjacent.
static void check_length(int64_t n, check_function *check)
{
    static const int64_t batches[] = { 1, 20, 20 };
    for (int kind = 0; kind < KALLIMA_KIND_COUNT; kind++) {
        for (size_t i = 0; i < KAL_COUNT(batches); i++) {
            kallima_desc desc = {
                .rank = 1, .n = { n }, .kind = kind, .batch = batches[i]
            };
            if (i == 2) {
                desc.in.stride[0] = desc.out.stride[0] = batches[i];
                desc.in.batch_stride = desc.out.batch_stride = 1;
            }
            check_plan(&desc, check);
        }
    }
}

static void check_all(check_function *check)
{
    static const int64_t large[] = {
        1 << 20,   1 << 14, 1 << 24, 531441, 1000000, 65536,   65537,   99991,
        1000003,   104729,  10403,   720720, 1 << 15, 357911,  1299709, 2 * 99991,
        3 * 65537, 7919,    10000,   15625,  3000,    1594323, 1 << 22, 6000000,
    };
    static const kallima_desc several_axes[] = {
        { .rank = 2, .n = { 64, 64 } },
        { .rank = 2, .n = { 128, 100 }, .batch = 20 },
        { .rank = 2, .n = { 4096, 4096 }, .kind = KALLIMA_R2C },
        { .rank = 2, .n = { 101, 37 }, .kind = KALLIMA_R2C },
        { .rank = 3, .n = { 1, 30, 16 }, .kind = KALLIMA_C2R, .batch = 3 },
        { .rank = 8, .n = { 2, 2, 2, 2, 2, 2, 2, 2 } },
    };
    for (int64_t n = 1; n <= 300; n++)
        check_length(n, check);
    for (size_t i = 0; i < KAL_COUNT(large); i++)
        check_length(large[i], check);
    for (size_t i = 0; i < KAL_COUNT(several_axes); i++)
        check_plan(&several_axes[i], check);
}

static void check_nodes(const struct kal_problem *problem,
                        const struct kal_recipe *recipe, struct kal_arena *arena)
{
    struct kal_text text;
    int64_t n = 1;

    (void)arena;
    for (int i = 0; i < problem->rank; i++)
        n *= problem->n[i];
    kal_text_init(&text, NULL);
    kal_recipe_print(&text, recipe);
    if (recipe->n != n)
        row_fail("n=%lld: %s is of length %lld", (long long)n, text.data,
                 (long long)recipe->n);
    if (!is_legal(recipe))
        row_fail("n=%lld: %s is not legal", (long long)n, text.data);
    kal_text_clear(&text);
}

static void planned_recipes_are_legal_and_of_the_right_length(void **state)
{
    (void)state;
    check_all(check_nodes);
    ROWS_FINISH();
}

static void rows_of_a_line_fit_registers(void **state)
{
    static const struct {
        struct kal_axis axis;
        bool is_f64;
        int lanes_f32;
        int64_t rows;
    } rows[] = {
        { { .n = 1024, .lines = 1000 }, false, 16, 16 },
        { { .n = 64, .lines = 1000 }, false, 8, 8 },
        { { .n = 1024, .lines = 1 }, false, 1, 0 }, // scalar code has no lanes
        { { .n = 32, .lines = 1 }, false, 4, 4 },
        { { .n = 36, .lines = 3 }, false, 16, 4 },
        { { .n = 36, .lines = 4 }, false, 16, 0 },  // many fill wider registers
        { { .n = 300, .lines = 1 }, false, 16, 0 }, // columns fill wider registers
        { { .n = 36, .lines = 1, .is_convolved = true }, false, 16, 0 },
        { { .n = 36, .lines = 1, .mirrors_last = true }, false, 16, 0 },
        { { .n = 36, .lines = 1 }, true, 16, 4 },
        { { .n = 50, .lines = 1 }, true, 16, 0 },
        { { .n = 50, .lines = 2 }, true, 16, 0 },
        { { .n = 8, .lines = 1 }, true, 16, 0 }, // one codelet is faster
        { { .n = 17, .lines = 1 }, true, 16, 0 },
        { { .n = 32768, .lines = 32 }, true, 16, 16 }, // in wide registers
        { { .n = 32768, .lines = 32 }, true, 8, 8 },
        { { .n = 49152, .lines = 16 }, true, 16, 16 }, // many longer ones
        { { .n = 131072, .lines = 16 }, true, 16, 32 },
        { { .n = 131072, .lines = 15 }, true, 16, 0 },
        { { .n = 131072, .lines = 16, .array_bytes = 1 << 25 }, true, 16, 32 },
        { { .n = 131072, .lines = 16, .array_bytes = 1 << 24 }, true, 16, 0 },
        { { .n = 131072, .lines = 16, .mirrors_first = true }, true, 16, 32 },
        { { .n = 131072, .lines = 16, .mirrors_last = true }, true, 16, 0 },
        { { .n = 60000, .lines = 64 }, true, 16, 0 }, // radices of 15 and 25
        { { .n = 262144, .lines = 16 }, false, 16, 32 },
        { { .n = 524288, .lines = 16 }, false, 16, 0 },
    };
    (void)state;
    for (size_t i = 0; i < KAL_COUNT(rows); i++) {
        struct kal_caps caps = kal_caps_limit(&kinds_of_caps[0], rows[i].is_f64);
        caps.lanes_f32 = rows[i].lanes_f32;
        row_ran();
        const int64_t got = kal_line_rows(&rows[i].axis, &caps);
        if (got != rows[i].rows)
            row_fail("row %zu: %lld rows", i, (long long)got);
    }
    ROWS_FINISH();
}

static void lines_of_a_batch_are_alone_where_that_wins(void **state)
{
    static const struct {
        kallima_kind kind;
        bool is_f64;
        int64_t n, lines;
        bool are_alone[3]; // by registers of 16, 32 and 64 bytes
    } rows[] = {
        { KALLIMA_C2C, true, 250, 100, { false, true, true } },
        { KALLIMA_C2C, true, 250, 10000, { false, false, true } }, // past the caches
        { KALLIMA_C2C,
          true,
          128,
          1000,
          { false, true, false } }, // columns of one codelet
        { KALLIMA_C2C, true, 128, 5, { true, true, true } },
        { KALLIMA_C2C, false, 100, 1000, { false, true, true } },
        { KALLIMA_C2C, true, 128, 100, { true, true, true } }, // few points
        { KALLIMA_C2C, false, 96, 100, { false, true, false } },
        { KALLIMA_C2C, false, 64, 10000, { false, false, false } },
        { KALLIMA_C2C, false, 64, 1000, { false, true, true } },
        { KALLIMA_C2C, false, 135, 1000, { false, true, true } }, // both steps at once
        { KALLIMA_C2C, false, 147, 33, { false, true, true } },   // tiles half empty
        { KALLIMA_C2C, false, 147, 31, { false, true, false } },
        { KALLIMA_C2C, true, 65, 11, { false, true, true } },
        { KALLIMA_R2C, false, 50, 8, { false, true, true } }, // of one codelet
        { KALLIMA_R2C, false, 50, 1310, { false, true, true } },
        { KALLIMA_R2C, false, 50, 1311, { false, false, false } },
        { KALLIMA_R2C, false, 180, 11, { false, true, true } },
        { KALLIMA_R2C, false, 180, 12, { false, false, false } },
        { KALLIMA_C2R, false, 200, 12, { false, true, true } },
        { KALLIMA_C2R, true, 182, 10, { false, true, true } },
        { KALLIMA_C2C, false, 66, 1000, { false, true, true } },
        { KALLIMA_C2C, false, 90, 100000, { false, true, true } },
        { KALLIMA_C2C, true, 105, 30000, { false, true, true } },
        { KALLIMA_C2C, false, 144, 1000, { false, true, true } }, // columns of 9
        { KALLIMA_C2C, false, 192, 1000, { false, true, false } },
        { KALLIMA_C2C, false, 768, 100, { false, true, true } },
        { KALLIMA_C2C, false, 768, 10000, { false, false, false } },
        { KALLIMA_C2C, true, 30, 1000, { false, true, true } }, // whole numbers
        { KALLIMA_C2C, true, 30, 10000, { false, false, false } },
        { KALLIMA_C2C, true, 48, 600, { false, true, false } }, // two passes are as fast
        { KALLIMA_C2C, false, 45, 3, { true, true, true } },
        { KALLIMA_C2C, false, 720, 100, { false, true, false } }, // three steps
        { KALLIMA_R2C, true, 512, 10000, { false, true, true } },
        { KALLIMA_R2C, false, 162, 10000, { false, false, false } },
        { KALLIMA_C2R, false, 162, 10000, { false, false, true } },
        { KALLIMA_C2C, true, 15, 100000, { false, false, false } },
        { KALLIMA_C2C, true, 4096, 100, { false, false, false } },
        { KALLIMA_C2C, false, 12800, 40, { true, true, true } },
        { KALLIMA_C2C, false, 12800, 41, { true, true, false } },
    };
    (void)state;
    for (size_t i = 0; i < 3 * KAL_COUNT(rows); i++) {
        const kallima_desc desc = { .kind = rows[i / 3].kind,
                                    .precision = rows[i / 3].is_f64,
                                    .rank = 1,
                                    .n = { rows[i / 3].n },
                                    .batch = rows[i / 3].lines };
        struct kal_caps caps = kinds_of_caps[0];
        struct kal_problem problem;
        caps.lanes_f32 = 4 << i % 3;
        ROW_CHECK(kal_problem_init(&problem, NULL, &desc) == KALLIMA_OK);
        const bool got = kal_lines_are_alone(&problem, &caps);
        if (got != rows[i / 3].are_alone[i % 3])
            row_fail("row %zu, %d lanes: %d", i / 3, caps.lanes_f32, got);
    }
    ROWS_FINISH();
}

static void rows_of_an_array_are_alone_where_that_wins(void **state)
{
    static const struct {
        kallima_kind kind;
        bool is_f64;
        int64_t columns, n, arrays;
        bool are_alone, waits; // for stores past the caches
    } rows[] = {
        { KALLIMA_C2C, false, 15, 100, 1, true, false },
        { KALLIMA_C2C, false, 32, 100, 1, true, false },
        { KALLIMA_C2C, false, 33, 100, 1, false, false }, // columns are no codelet
        { KALLIMA_C2C, false, 2, 48, 1, true, false },
        { KALLIMA_C2C, true, 7, 1024, 1, true, false },
        { KALLIMA_C2C, true, 8, 1024, 1, false, false },
        { KALLIMA_R2C, false, 12, 210, 1, true, false },
        { KALLIMA_C2R, false, 23, 210, 1, true, false },
        { KALLIMA_C2R, false, 24, 210, 1, false, false }, // halves fill no registers
        { KALLIMA_C2R, false, 32, 240, 1, true, false },
        { KALLIMA_R2C, true, 2, 101, 1, false, false },   // odd
        { KALLIMA_C2C, false, 3, 1025, 1, false, false }, // too long
        { KALLIMA_C2C, false, 3, 48, 1, false, false },   // whole numbers
        { KALLIMA_C2C, false, 3, 101, 1, false, false },  // no radix divides them
        { KALLIMA_C2C, false, 4, 128, 100, true, true },
        { KALLIMA_C2C, false, 4, 128, 1000, false, true }, // more than is near
        { KALLIMA_C2C, false, 4, 128, 1000, true, false },
        { KALLIMA_C2C, false, 20, 100, 60, true, true },
        { KALLIMA_C2C, false, 20, 100, 80, false, true },
        { KALLIMA_C2C, false, 20, 100, 80, true, false },
        { KALLIMA_C2R, false, 32, 240, 100, true, false },
    };
    (void)state;
    for (size_t i = 0; i < KAL_COUNT(rows); i++) {
        const kallima_desc desc = { .kind = rows[i].kind,
                                    .precision = rows[i].is_f64,
                                    .rank = 2,
                                    .n = { rows[i].columns, rows[i].n },
                                    .batch = rows[i].arrays };
        struct kal_problem problem;
        ROW_CHECK(kal_problem_init(&problem, NULL, &desc) == KALLIMA_OK);
        struct kal_caps caps = kinds_of_caps[0];
        caps.waits_for_stores = rows[i].waits;
        const bool got = kal_rows_are_alone(&problem, &caps);
        if (got != rows[i].are_alone)
            row_fail("row %zu: %d", i, got);
    }
    ROWS_FINISH();
}

static void rows_are_alone_beside_columns_in_tiles_where_that_wins(void **state)
{
    static const struct {
        kallima_kind kind;
        bool is_f64;
        int64_t columns, n;
        bool are_alone;
    } rows[] = {
        { KALLIMA_R2C, false, 100, 160, false },
        { KALLIMA_R2C, false, 100, 176, true },
        { KALLIMA_R2C, false, 100, 200, false }, // halves fill no registers
        { KALLIMA_R2C, false, 100, 300, true },
        { KALLIMA_R2C, false, 100, 301, false }, // odd
        { KALLIMA_R2C, false, 100, 2048, true },
        { KALLIMA_R2C, false, 100, 2064, false },
        { KALLIMA_R2C, false, 100, 404, false }, // no radix divides them
        { KALLIMA_R2C, true, 100, 88, true },
        { KALLIMA_R2C, true, 100, 92, false },
        { KALLIMA_R2C, true, 2000, 1000, true },
        { KALLIMA_R2C, true, 3000, 1000, false }, // too large
        { KALLIMA_C2R, true, 400, 512, true },
        { KALLIMA_C2R, true, 1000, 512, false }, // past the caches on its own lanes
        { KALLIMA_C2R, true, 1000, 504, true },
        { KALLIMA_C2R, false, 4000, 512, true },
        { KALLIMA_C2C, false, 66, 100, true },
        { KALLIMA_C2C, false, 66, 256, true },
        { KALLIMA_C2C, false, 66, 320, false }, // fill the lanes
        { KALLIMA_C2C, false, 66, 350, true },
        { KALLIMA_C2C, true, 66, 66, true },
        { KALLIMA_C2C, true, 66, 256, false },
        { KALLIMA_C2C, true, 1000, 240, true },
        { KALLIMA_C2C, true, 1100, 240, false }, // may go past the caches
        { KALLIMA_C2C, false, 20, 100, false },  // in turn with its columns
    };
    (void)state;
    for (size_t i = 0; i < 2 * KAL_COUNT(rows); i++) {
        const bool are_dear = i % 2;
        const kallima_desc desc = { .kind = rows[i / 2].kind,
                                    .precision = rows[i / 2].is_f64,
                                    .rank = 2,
                                    .n = { rows[i / 2].columns, rows[i / 2].n } };
        struct kal_problem problem;
        ROW_CHECK(kal_problem_init(&problem, NULL, &desc) == KALLIMA_OK);
        struct kal_caps caps = kinds_of_caps[0];
        caps.steps_are_dear = are_dear;
        const bool got = kal_rows_are_worked_alone(&problem, &caps);
        if (got != (rows[i / 2].are_alone && are_dear))
            row_fail("row %zu: %d", i / 2, got);
    }
    ROWS_FINISH();
}

static void short_real_rows_are_worked_in_turn_where_that_wins(void **state)
{
    static const struct {
        kallima_kind kind;
        bool is_f64;
        int64_t count, n;
        bool are_in_turn;
    } rows[] = {
        { KALLIMA_R2C, false, 12, 50, false },
        { KALLIMA_R2C, false, 7, 50, true },  // few for a codelet
        { KALLIMA_R2C, false, 12, 52, true }, // few
        { KALLIMA_R2C, false, 13, 52, false },
        { KALLIMA_R2C, false, 17, 52, true },
        { KALLIMA_R2C, false, 24, 52, false },
        { KALLIMA_C2R, true, 32, 58, true },
        { KALLIMA_C2R, true, 33, 58, false },
        { KALLIMA_C2R, true, 9, 70, true },
        { KALLIMA_C2R, true, 15, 70, false },
        { KALLIMA_C2C, true, 9, 70, true },
        { KALLIMA_C2R, true, 9, 71, false },
    };
    (void)state;
    for (size_t i = 0; i < KAL_COUNT(rows); i++) {
        const kallima_desc desc = { .kind = rows[i].kind,
                                    .precision = rows[i].is_f64,
                                    .rank = 2,
                                    .n = { rows[i].count, rows[i].n } };
        struct kal_problem problem;
        ROW_CHECK(kal_problem_init(&problem, NULL, &desc) == KALLIMA_OK);
        const bool got = kal_rows_are_worked_in_turn(&problem, &kinds_of_caps[0]);
        if (got != rows[i].are_in_turn)
            row_fail("row %zu: %d", i, got);
    }
    ROWS_FINISH();
}

static void few_columns_are_alone_where_that_wins(void **state)
{
    static const struct {
        int lanes_f32;
        bool is_f64;
        int64_t n, columns, arrays;
        bool are_alone;
    } rows[] = {
        { 16, false, 64, 2, 1, true },
        { 16, false, 63, 2, 1, false }, // short
        { 16, false, 400, 3, 10, true },
        { 16, false, 400, 4, 1, false },
        { 16, false, 1000, 3, 1, true },
        { 16, false, 2048, 3, 1, false }, // for the stack
        { 16, false, 67, 2, 1, false },   // no radix divides them
        { 16, true, 600, 3, 2, true },
        { 16, true, 64, 2, 1, true },
        { 8, true, 64, 3, 2, true },
        { 8, true, 599, 2, 1, false }, // fill registers
        { 8, true, 600, 2, 1, true },
        { 8, true, 600, 2, 2, false },
        { 4, false, 400, 3, 1, false },
    };
    (void)state;
    for (size_t i = 0; i < KAL_COUNT(rows); i++) {
        const kallima_desc desc = { .precision = rows[i].is_f64,
                                    .rank = 2,
                                    .n = { rows[i].n, rows[i].columns },
                                    .batch = rows[i].arrays };
        struct kal_problem problem;
        ROW_CHECK(kal_problem_init(&problem, NULL, &desc) == KALLIMA_OK);
        struct kal_caps caps = kinds_of_caps[0];
        caps.lanes_f32 = rows[i].lanes_f32;
        const bool got = kal_columns_are_alone(&problem, &caps);
        if (got != rows[i].are_alone)
            row_fail("row %zu: %d", i, got);
    }
    ROWS_FINISH();
}

static void arrays_are_divided_where_that_wins(void **state)
{
    static const struct {
        kallima_kind kind;
        bool is_f64;
        int rank;
        int64_t n[4];
        bool are_divided;
    } rows[] = {
        { KALLIMA_C2C, false, 3, { 30000, 2, 2 }, true },
        { KALLIMA_C2C, false, 2, { 30000, 4 }, true }, // too long for tiles
        { KALLIMA_C2C, false, 2, { 30011, 4 }, false },
        { KALLIMA_C2C, false, 2, { 131072, 3 }, true },
        { KALLIMA_C2C, false, 2, { 131220, 3 }, false }, // long ones
        { KALLIMA_C2C, false, 2, { 2048, 2 }, true },
        { KALLIMA_C2C, false, 2, { 2000, 3 }, false }, // by themselves
        { KALLIMA_C2C, false, 2, { 1100, 4 }, true },
        { KALLIMA_C2C, false, 2, { 1080, 4 }, false },
        { KALLIMA_C2C, true, 2, { 1024, 3 }, true },
        { KALLIMA_C2C, true, 2, { 1000, 3 }, false },
        { KALLIMA_C2C, true, 2, { 2048, 4 }, false },
        { KALLIMA_C2C, false, 2, { 5000, 9 }, true }, // are copied
        { KALLIMA_C2C, false, 2, { 5000, 16 }, false },
        { KALLIMA_C2C, false, 2, { 1000, 9 }, false },
        { KALLIMA_R2C, true, 3, { 20000, 30, 30 }, true },
        { KALLIMA_C2C, false, 3, { 1000, 2, 7 }, false }, // 112 KB
        { KALLIMA_C2C, true, 3, { 1000, 2, 7 }, true },
        { KALLIMA_C2C, true, 3, { 1000, 10, 20 }, true },
        { KALLIMA_C2C, true, 3, { 1000, 10, 21 }, false },
        { KALLIMA_R2C, true, 3, { 1000, 16, 32 }, true },
        { KALLIMA_C2R, true, 3, { 1000, 16, 33 }, false },
        { KALLIMA_C2C, false, 4, { 128, 16, 16, 16 }, true },
        { KALLIMA_R2C, false, 4, { 128, 17, 16, 16 }, false },
    };
    (void)state;
    for (size_t i = 0; i < KAL_COUNT(rows); i++) {
        kallima_desc desc = { .kind = rows[i].kind,
                              .precision = rows[i].is_f64,
                              .rank = rows[i].rank };
        for (int axis = 0; axis < 4; axis++)
            desc.n[axis] = rows[i].n[axis];
        struct kal_problem problem;
        ROW_CHECK(kal_problem_init(&problem, NULL, &desc) == KALLIMA_OK);
        const bool got = kal_is_divided(&problem, &kinds_of_caps[0]);
        if (got != rows[i].are_divided)
            row_fail("row %zu: %d", i, got);
    }
    ROWS_FINISH();
}

static void arrays_are_on_lanes_where_that_wins(void **state)
{
    static const struct {
        kallima_kind kind;
        bool is_f64;
        int64_t n[3], arrays;
        bool are_on_lanes;
    } rows[] = {
        { KALLIMA_C2C, false, { 4, 4 }, 1000, false }, // within the nearest caches
        { KALLIMA_C2C, false, { 4, 4 }, 4000, false }, // one function
        { KALLIMA_C2C, false, { 4, 7 }, 4000, true },
        { KALLIMA_C2C, false, { 11, 9 }, 2000, true },
        { KALLIMA_C2C, false, { 4, 4 }, 40000, false },  // past the caches
        { KALLIMA_C2C, false, { 4, 16 }, 40000, false }, // rows that fill registers
        { KALLIMA_C2C, false, { 12, 12 }, 2000, false },
        { KALLIMA_C2C, true, { 6, 6 }, 1000, false },
        { KALLIMA_C2C, true, { 10, 10 }, 40000, false },
        { KALLIMA_R2C, false, { 6, 8 }, 1000, false },
        { KALLIMA_C2R, true, { 16, 16 }, 10000, false },
        { KALLIMA_R2C, false, { 6, 48 }, 1000, true },  // more than a codelet
        { KALLIMA_R2C, false, { 8, 48 }, 1000, false }, // for enough rows, there is one
        { KALLIMA_C2C, false, { 4, 4, 4 }, 50, true },
        { KALLIMA_C2C, false, { 8, 8, 8 }, 50, false },
        { KALLIMA_C2C, true, { 8, 8, 8 }, 50, false },
        { KALLIMA_C2C, true, { 8, 8, 8 }, 4000, false },
        { KALLIMA_C2C, false, { 8, 8, 8 }, 4000, false },
        { KALLIMA_C2C,
          false,
          { 10, 10, 10 },
          2000,
          true }, // rows that fill no half of a register
        { KALLIMA_R2C, true, { 8, 8, 8 }, 4000, false },
        { KALLIMA_R2C, false, { 4, 4, 4 }, 5000, true },
    };
    (void)state;
    for (size_t i = 0; i < KAL_COUNT(rows); i++) {
        const kallima_desc desc = {
            .kind = rows[i].kind,
            .precision = rows[i].is_f64,
            .rank = rows[i].n[2] ? 3 : 2,
            .n = { rows[i].n[0], rows[i].n[1], rows[i].n[2] },
            .batch = rows[i].arrays,
        };
        struct kal_problem problem;
        ROW_CHECK(kal_problem_init(&problem, NULL, &desc) == KALLIMA_OK);
        const bool got = kal_problem_together(&problem, &kinds_of_caps[0]).tile == 0;
        if (got != rows[i].are_on_lanes)
            row_fail("row %zu: %d", i, got);
    }
    ROWS_FINISH();
}

// Lines, and how many of them are copied at once.
static const struct copied_lines {
    kallima_kind kind;
    bool is_f64;
    int64_t n, lines, stride; // 0: in planes
    int64_t at_once;          // 0: they are not copied
} copied_lines[] = {
    { KALLIMA_R2C, false, 99, 5, 1, 1 }, // an odd number of reals
    { KALLIMA_R2C, false, 99, 6, 1, 0 },
    { KALLIMA_C2R, true, 99, 3, 1, 1 },
    { KALLIMA_C2R, true, 99, 4, 1, 0 },
    { KALLIMA_R2C, true, 2205, 1000, 1, 1 },
    { KALLIMA_R2C, false, 27, 1, 1, 0 },    // there is a codelet
    { KALLIMA_R2C, false, 37, 1, 1, 0 },    // no radix divides it
    { KALLIMA_C2R, false, 19683, 1, 1, 0 }, // too long
    { KALLIMA_R2C, false, 100, 1, 1, 0 },
    { KALLIMA_C2C, false, 99, 1, 1, 0 },
    { KALLIMA_C2C, false, 99, 4, 2, 1 },  // lie apart
    { KALLIMA_C2C, false, 99, 64, 2, 1 }, // each by itself is faster
    { KALLIMA_C2C, false, 36, 7, 2, 1 },  // do not fill two tiles
    { KALLIMA_C2C, false, 36, 8, 2, 8 },  // have a codelet where they are packed
    { KALLIMA_C2C, false, 36, 100, 4, 14 },
    { KALLIMA_C2C, false, 36, 100, 5, 0 },
    { KALLIMA_C2C, false, 38, 9, 2, 9 },
    { KALLIMA_C2C, false, 100, 34, 16, 1 }, // of a third tile most lanes would idle
    { KALLIMA_C2C, false, 38, 60, 2, 0 },
    { KALLIMA_C2C, true, 30, 100, 2, 8 },
    { KALLIMA_C2C, true, 30, 100, 3, 0 },
    { KALLIMA_C2C, false, 32, 100, 2, 0 },
    { KALLIMA_R2C, false, 60, 100, 2, 17 },
    { KALLIMA_R2C, false, 30, 100, 2, 0 },
    { KALLIMA_C2C, false, 99, 12, 16, 1 },
    { KALLIMA_C2C, false, 2000, 12, 2, 1 },
    { KALLIMA_C2C, false, 2000, 32, 3, 1 },
    { KALLIMA_C2C, false, 2000, 48, 3, 0 },
    { KALLIMA_C2C, false, 5000, 16, 3, 1 }, // tiles would leave the nearer cache
    { KALLIMA_C2C, true, 99, 4, 2, 1 },
    { KALLIMA_C2C, true, 360, 32, 16, 1 },
    { KALLIMA_C2C, true, 360, 48, 16, 0 },
    { KALLIMA_C2C, true, 512, 64, 2, 1 }, // lines of the cache compete
    { KALLIMA_R2C, true, 512, 64, 2, 1 },
    { KALLIMA_R2C, true, 120, 64, 2, 0 },
    { KALLIMA_R2C, true, 400, 64, 8, 0 },
    { KALLIMA_C2C, false, 64, 1, 0, 0 }, // fills registers
    { KALLIMA_C2C, false, 48, 2, 0, 1 },
    { KALLIMA_C2C, false, 100, 6, 0, 1 }, // does not
    { KALLIMA_C2C, false, 100, 8, 0, 0 },
    { KALLIMA_C2C, false, 1500, 64, 0, 1 },
    { KALLIMA_C2C, false, 5000, 1, 0, 0 },
    { KALLIMA_C2C, true, 90, 3, 0, 1 },
    { KALLIMA_C2C, true, 90, 4, 0, 1 },
    { KALLIMA_C2C, true, 90, 7, 0, 0 },
    { KALLIMA_C2C, false, 64, 8, 0, 1 }, // fills narrower registers than there are
    { KALLIMA_C2C, false, 64, 9, 0, 0 },
    { KALLIMA_C2C, false, 256, 100, 0, 1 },
    { KALLIMA_C2C, true, 64, 8, 0, 1 },
    { KALLIMA_C2C, true, 100, 4, 0, 0 },
    { KALLIMA_R2C, true, 60, 100, 0, 8 }, // have a codelet where they are packed
    { KALLIMA_R2C, false, 60, 100, 0, 0 },
    { KALLIMA_C2C, true, 68, 1, 0, 1 }, // 17
    { KALLIMA_R2C, false, 640, 64, 0, 1 },
    { KALLIMA_R2C, false, 300, 8, 0, 0 },
    { KALLIMA_R2C, false, 300, 3, 0, 1 },
};

static kallima_desc describe_copied(const struct copied_lines *lines)
{
    const bool is_planar = lines->stride == 0;
    const int32_t format = is_planar ? KALLIMA_PLANAR : KALLIMA_INTERLEAVED;
    return (kallima_desc){
        .kind = lines->kind,
        .precision = lines->is_f64,
        .rank = 1,
        .n = { lines->n },
        .batch = lines->lines,
        .in.format = lines->kind == KALLIMA_R2C ? KALLIMA_INTERLEAVED : format,
        .in.stride = { lines->stride },
        .in.batch_stride = lines->n * lines->stride,
        .out.format = lines->kind == KALLIMA_C2R ? KALLIMA_INTERLEAVED : format,
    };
}

static void lines_are_copied_where_that_wins(void **state)
{
    (void)state;
    for (size_t i = 0; i < KAL_COUNT(copied_lines); i++) {
        const struct copied_lines *lines = &copied_lines[i];
        const kallima_desc desc = describe_copied(lines);
        const bool is_widened = lines->kind != KALLIMA_C2C && lines->n % 2 == 1;
        struct kal_problem problem;
        ROW_CHECK(kal_problem_init(&problem, NULL, &desc) == KALLIMA_OK);
        const bool got = kal_is_copied(&problem, &kinds_of_caps[0]);
        if (got != (lines->at_once > 0))
            row_fail("row %zu: %d", i, got);
        if (got) {
            const struct kal_problem copied = kal_problem_copied(&problem);
            if (copied.batch != lines->at_once)
                row_fail("row %zu: %d at once", i, (int)copied.batch);
            ROW_CHECK(copied.in.stride[0] == 1);
            ROW_CHECK(!is_widened || (copied.kind == KALLIMA_C2C && !copied.in.is_real &&
                                      copied.in.elements == lines->n &&
                                      copied.out.elements == lines->n));
        }
    }
    ROWS_FINISH();
}

static void columns_are_copied_where_that_wins(void **state)
{
    static const struct {
        kallima_kind kind;
        bool is_f64;
        int64_t n, lines;
        bool are_copied;
    } rows[] = {
        { KALLIMA_C2C, false, 100, 3, true },
        { KALLIMA_C2C, false, 1000, 8, false }, // fill registers of 32 bytes
        { KALLIMA_C2C, false, 1000, 12, true },
        { KALLIMA_C2C, false, 1000, 14, false },
        { KALLIMA_C2C, false, 1000, 17, true },
        { KALLIMA_C2C, false, 100, 17, false },
        { KALLIMA_C2C, false, 1000, 24, false },
        { KALLIMA_C2C, true, 1000, 7, true },
        { KALLIMA_C2C, true, 1000, 8, false },
        { KALLIMA_C2C, true, 1000, 9, true },
        { KALLIMA_C2C, true, 2187, 9, false },
        { KALLIMA_C2C, true, 1000, 17, false },
        { KALLIMA_C2C, true, 1009, 9, false }, // tiles are better at convolutions
        { KALLIMA_C2C, false, 101, 5, false },
        { KALLIMA_C2C, false, 211, 5, true }, // but at few longer ones
        { KALLIMA_R2C, true, 202, 3, false },
        { KALLIMA_R2C, true, 422, 3, true },
        { KALLIMA_C2C, true, 20000, 64, true },
        { KALLIMA_C2C, true, 20000, 2, true },
        { KALLIMA_R2C, false, 1000, 33, true },
        { KALLIMA_R2C, false, 1000, 49, false },
        { KALLIMA_C2R, true, 32768, 8, false },
        { KALLIMA_C2R, true, 40000, 8, true },
    };
    (void)state;
    for (size_t i = 0; i < KAL_COUNT(rows); i++) {
        const kallima_layout side = { .stride = { rows[i].lines }, .batch_stride = 1 };
        const kallima_desc desc = { .kind = rows[i].kind,
                                    .precision = rows[i].is_f64,
                                    .rank = 1,
                                    .n = { rows[i].n },
                                    .batch = rows[i].lines,
                                    .in = side,
                                    .out = side };
        struct kal_problem problem;
        ROW_CHECK(kal_problem_init(&problem, NULL, &desc) == KALLIMA_OK);
        const bool got = kal_is_copied(&problem, &kinds_of_caps[0]);
        if (got != rows[i].are_copied)
            row_fail("row %zu: %d", i, got);
    }
    ROWS_FINISH();
}

static void large_primes_are_convolved_with_their_cofactors_where_that_wins(void **state)
{
    static const struct {
        int64_t n, lines;
        bool is_f64, is_whole[2]; // by registers of 32 and of 64 bytes
    } rows[] = {
        { 2 * 659, 1, false, { true, true } },    // of few rows most lanes idle
        { 2 * 659, 1000, false, { true, true } }, // tiles of whole lines
        { 2 * 659, 1000, true, { true, true } },
        { 4 * 251, 1, true, { false, false } },
        { 16 * 83, 1, false, { false, false } },
        { 16 * 83, 1000, false, { false, false } },
        { 2 * 67, 1000, false, { true, true } },
        { 1307 * 1318, 1, false, { false, false } },
        { 2 * 31, 1000, false, { false, false } }, // there is a codelet
        { 659, 1000, false, { false, false } },    // nothing to divide
    };
    (void)state;
    for (size_t i = 0; i < 2 * KAL_COUNT(rows); i++) {
        struct kal_caps caps = kal_caps_limit(&kinds_of_caps[0], rows[i / 2].is_f64);
        const struct kal_axis axis = { .n = rows[i / 2].n, .lines = rows[i / 2].lines };
        caps.lanes_f32 = 8 << i % 2;
        row_ran();
        const bool got = kal_whole_beats_division(&axis, &caps);
        if (got != rows[i / 2].is_whole[i % 2])
            row_fail("row %zu, %d lanes: %d", i / 2, caps.lanes_f32, got);
    }
    const struct kal_caps kernels = { .language = KAL_LANGUAGE_CUDA,
                                      .group_bytes = 232448 };
    const struct kal_axis axis = { .n = 2 * 659, .lines = 1 };
    ROW_CHECK(!kal_whole_beats_division(&axis, &kernels));
    ROWS_FINISH();
}

// --- recipes as text ---------------------------------------------------------------------

static void check_round_trip(const struct kal_problem *problem,
                             const struct kal_recipe *recipe, struct kal_arena *arena)
{
    struct kal_text first, second;
    struct kal_recipe *copy;

    kal_text_init(&first, NULL);
    kal_text_init(&second, NULL);
    kal_recipe_print(&first, recipe);
    if (kal_recipe_parse(&copy, arena, problem, first.data) != KALLIMA_OK) {
        row_fail("%s: %s", first.data, kallima_last_error());
    } else {
        kal_recipe_print(&second, copy);
        if (strcmp(first.data, second.data) != 0)
            row_fail("%s becomes %s", first.data, second.data);
    }
    kal_text_clear(&first);
    kal_text_clear(&second);
}

static void text_of_a_recipe_reads_back_as_itself(void **state)
{
    (void)state;
    check_all(check_round_trip);
    ROWS_FINISH();
}

static void every_parameter_reads_back_at_its_limits(void **state)
{
    const kallima_desc desc = { .rank = 1, .n = { 16 } };
    struct kal_problem problem;
    struct kal_arena arena;

    (void)state;
    kal_arena_init(&arena, NULL);
    assert_int_equal(kal_problem_init(&problem, NULL, &desc), KALLIMA_OK);
    for (int i = 0; i < KAL_PARAMETER_COUNT; i++) {
        struct kal_recipe recipe = { .n = 16, .radix_count = 1, .radix = { 16 } };
        recipe.parameters.is_given[i] = true;
        row_ran();
        recipe.parameters.value[i] = kal_parameters[i].least;
        check_round_trip(&problem, &recipe, &arena);
        recipe.parameters.value[i] = kal_parameters[i].most;
        check_round_trip(&problem, &recipe, &arena);
    }
    kal_arena_clear(&arena);
    ROWS_FINISH();
}

static kallima_status parse(const kallima_desc *desc, const char *text,
                            struct kal_arena *arena, struct kal_recipe **out)
{
    struct kal_problem problem;

    KAL_TRY(kal_problem_init(&problem, NULL, desc));
    return kal_recipe_parse(out, arena, &problem, text);
}

static void legal_texts_are_read(void **state)
{
    static const struct {
        kallima_desc desc;
        const char *text;
    } rows[] = {
        { { .rank = 1, .n = { 1 } }, "local(1)" },
        { { .rank = 1, .n = { 16 } }, "local(2.2.2.2)" },
        { { .rank = 1, .n = { 16 } }, "  local\t( 4 . 4 )\n" },
        { { .rank = 1, .n = { 15 } }, "prime-factor(local(5),local(3))" },
        { { .rank = 1, .n = { 36 } },
          "four-step(local(6), four-step(local(2),local(3)))" },
        { { .rank = 1, .n = { 37 } }, "rader(bluestein(n=36, local(9.8)))" },
        { { .rank = 1, .n = { 3 } }, "bluestein( n= 3 , local(5))" },
        { { .rank = 1, .n = { 2 }, .kind = KALLIMA_R2C }, "real-even(local(1))" },
        { { .rank = 1, .n = { 1 }, .kind = KALLIMA_C2R }, "real-odd(local(1))" },
        { { .rank = 2, .n = { 4, 8 }, .kind = KALLIMA_R2C },
          "rank(local(4), real-even(local(4)))" },
        { { .rank = 1, .n = { 16 } }, "local( 4.4 ,lanes = 64, run=0 )" },
        { { .rank = 1, .n = { 1 } }, "local(1, lines=4096)" },
    };
    (void)state;
    for (size_t i = 0; i < KAL_COUNT(rows); i++) {
        struct kal_arena arena;
        struct kal_recipe *recipe;
        row_ran();
        kal_arena_init(&arena, NULL);
        if (parse(&rows[i].desc, rows[i].text, &arena, &recipe) != KALLIMA_OK)
            row_fail("\"%s\": %s", rows[i].text, kallima_last_error());
        else if (!is_legal(recipe))
            row_fail("\"%s\": not legal", rows[i].text);
        kal_arena_clear(&arena);
    }
    ROWS_FINISH();
}

static void check_refused(const kallima_desc *desc, const char *text)
{
    struct kal_arena arena;
    struct kal_recipe *recipe;

    row_ran();
    kal_arena_init(&arena, NULL);
    const kallima_status status = parse(desc, text, &arena, &recipe);
    if (status != KALLIMA_E_RECIPE)
        row_fail("\"%.60s\": status %d", text, (int)status);
    else if (recipe)
        row_fail("\"%.60s\": leaves a recipe", text);
    else if (strncmp(kallima_last_error(), "recipe: ", 8) != 0)
        row_fail("\"%.60s\": says \"%s\"", text, kallima_last_error());
    kal_arena_clear(&arena);
}

static void damaged_texts_are_refused(void **state)
{
    static const struct {
        int64_t n;
        kallima_kind kind;
        const char *text;
    } rows[] = {
        { 8, KALLIMA_C2C, "" },
        { 8, KALLIMA_C2C, "locale(8)" },
        { 8, KALLIMA_C2C, "Local(8)" },
        { 8, KALLIMA_C2C, "local 8)" },
        { 8, KALLIMA_C2C, "local(8" },
        { 8, KALLIMA_C2C, "local()" },
        { 8, KALLIMA_C2C, "local(0)" },
        { 8, KALLIMA_C2C, "local(-8)" },
        { 8, KALLIMA_C2C, "local(08)" },
        { 8, KALLIMA_C2C, "local(4.)" },
        { 8, KALLIMA_C2C, "local(4,2)" },
        { 8, KALLIMA_C2C, "local(8.1)" },
        { 8, KALLIMA_C2C, "local(8) local(8)" },
        { 8, KALLIMA_C2C, "local(8))" },
        { 8, KALLIMA_C2C, "local(4.4)" },
        { 69, KALLIMA_C2C, "local(69)" },
        { 64, KALLIMA_C2C, "local(64)" },
        { 8, KALLIMA_C2C, "local(18446744073709551624)" },
        { 1 << 15, KALLIMA_C2C, "local(32.32.32)" },
        { 12, KALLIMA_C2C, "four-step(local(4), local(4))" },
        { 12, KALLIMA_C2C, "four-step(local(12), local(1))" },
        { 12, KALLIMA_C2C, "four-step(local(12))" },
        { 12, KALLIMA_C2C, "four-step(local(3), local(2), local(2))" },
        { 24, KALLIMA_C2C, "prime-factor(local(4), local(6))" },
        { 30, KALLIMA_C2C, "prime-factor(prime-factor(local(2), local(3)), local(5))" },
        { 9, KALLIMA_C2C, "rader(local(8))" },
        { 2, KALLIMA_C2C, "rader(local(1))" },
        { 7, KALLIMA_C2C, "bluestein(n=7, local(12))" },
        { 7, KALLIMA_C2C, "bluestein(local(16))" },
        { 7, KALLIMA_C2C, "bluestein(n=0, local(16))" },
        { 7, KALLIMA_C2C, "bluestein(n=9223372036854775807, local(16))" },
        { 7, KALLIMA_C2C, "bluestein(n=7, four-step(local(16), local(16)))" },
        { 8, KALLIMA_C2C, "real-even(local(4))" },
        { 8, KALLIMA_R2C, "local(8)" },
        { 8, KALLIMA_R2C, "real-odd(local(8))" },
        { 16, KALLIMA_C2R, "real-even(real-even(local(4)))" },
        { 8, KALLIMA_C2C, "rank(local(8))" },
        { 8, KALLIMA_C2C, "rank(local(2), local(4))" },
        { 8, KALLIMA_C2C, "local(8, lanes)" },
        { 8, KALLIMA_C2C, "local(8, lanes=)" },
        { 8, KALLIMA_C2C, "local(8, lanes=0)" },
        { 8, KALLIMA_C2C, "local(8, lanes=1025)" },
        { 8, KALLIMA_C2C, "local(8, lanes=0000001)" },
        { 8, KALLIMA_C2C, "local(8, lanes=-1)" },
        { 8, KALLIMA_C2C, "local(8, lane=8)" },
        { 8, KALLIMA_C2C, "local(8, lanes=8, run=0, lanes=8)" },
        { 8, KALLIMA_C2C, "local(lanes=8, 8)" },
    };
    (void)state;
    for (size_t i = 0; i < KAL_COUNT(rows); i++) {
        const kallima_desc desc = { .rank = 1, .n = { rows[i].n }, .kind = rows[i].kind };
        check_refused(&desc, rows[i].text);
    }
    ROWS_FINISH();
}

static void recipes_of_other_axes_are_refused(void **state)
{
    static const kallima_desc desc = { .rank = 2, .n = { 4, 8 } };
    static const char *const texts[] = {
        "four-step(local(4), local(8))",
        "rank(local(8), local(4))",
        "rank(local(4), local(4), local(2))",
        "rank(local(4), real-even(local(4)))",
        "rank(local(4), rank(local(4), local(2)))",
    };
    (void)state;
    for (size_t i = 0; i < KAL_COUNT(texts); i++)
        check_refused(&desc, texts[i]);
    ROWS_FINISH();
}

// The opening of a rule with one child left to give, again and again.
static void check_depth(const char *opening, int depth)
{
    static const kallima_desc desc = { .rank = 1, .n = { (int64_t)1 << 40 } };
    struct kal_text text;

    kal_text_init(&text, NULL);
    for (int i = 0; i < depth; i++)
        kal_text_add(&text, "%s", opening);
    kal_text_add(&text, "local(2)");
    for (int i = 0; i < depth; i++)
        kal_text_add(&text, ")");
    check_refused(&desc, text.data);
    kal_text_clear(&text);
}

static void deep_texts_are_refused(void **state)
{
    (void)state;
    check_depth("four-step(local(2), ", 39); // the right length, but too deep
    check_depth("rader(", KAL_MAX_DEPTH);
    check_depth("real-even(", 10000);
    check_depth("rank(", 100000);
    ROWS_FINISH();
}

// --- radices -----------------------------------------------------------------------------

static void check_sequence(int64_t n)
{
    int radix[KAL_MAX_STEPS];
    int64_t product = 1;
    double cost = 0, sum = 0;

    row_ran();
    const int count = kal_radix_sequence(n, radix, &cost);
    if ((count >= 0) != kal_radix_divides(n))
        row_fail("n=%lld: %d radices", (long long)n, count);
    for (int i = 0; i < count; i++) {
        product *= radix[i];
        sum += kal_radix_cost(radix[i]);
        if (!kal_radix_exists(radix[i]) || (i > 0 && radix[i] > radix[i - 1]))
            row_fail("n=%lld: radix %d", (long long)n, radix[i]);
    }
    if (count >= 0 &&
        (product != n || !(sum <= 1.000001 * cost && cost <= 1.000001 * sum)))
        row_fail("n=%lld: product %lld, cost %g of %g", (long long)n, (long long)product,
                 cost, sum);
}

static void product_of_a_radix_sequence_is_the_length(void **state)
{
    (void)state;
    for (int64_t n = 1; n <= 2048; n++)
        check_sequence(n);
    for (int64_t n = 4096; n <= KAL_MAX_LOCAL; n += 1024)
        check_sequence(n);
    ROWS_FINISH();
}

static void lengths_without_a_radix_sequence_are_refused(void **state)
{
    static const int64_t rows[] = {
        -8, 0, 37, 1369, KAL_MAX_LOCAL + 1, 2 * KAL_MAX_LOCAL
    };
    (void)state;
    for (size_t i = 0; i < KAL_COUNT(rows); i++)
        ROW_CHECK(kal_radix_sequence(rows[i], NULL, NULL) == -1);
    ROWS_FINISH();
}

static void check_ordered(int64_t n, const int *radix, int count)
{
    int64_t product = 1;

    row_ran();
    if ((count >= 0) != kal_radix_divides(n))
        row_fail("n=%lld: %d radices", (long long)n, count);
    for (int i = 0; i < count; i++) {
        product *= radix[i];
        if (!kal_radix_exists(radix[i]))
            row_fail("n=%lld: radix %d", (long long)n, radix[i]);
    }
    if (count >= 0 && product != n)
        row_fail("n=%lld: product %lld", (long long)n, (long long)product);
}

static void check_single_sequence(int64_t n, int numbers, int widest)
{
    int radix[KAL_MAX_STEPS];
    check_ordered(n, radix, kal_radix_sequence_single(n, numbers, widest, radix));
}

static void sequences_of_single_lines_fill_registers(void **state)
{
    static const struct {
        int64_t n;
        int numbers, widest, count, radix[3];
    } rows[] = {
        { 1, 4, 4, 0, { 0 } },           { 16, 4, 4, 1, { 16 } },
        { 60, 4, 4, 2, { 4, 15 } },      { 64, 4, 4, 2, { 4, 16 } },
        { 64, 4, 8, 2, { 8, 8 } },       { 64, 2, 2, 2, { 4, 16 } },
        { 65, 4, 4, 2, { 5, 13 } },      { 96, 4, 8, 2, { 12, 8 } },
        { 1000, 4, 8, 3, { 8, 5, 25 } }, { 1024, 2, 2, 2, { 32, 32 } },
        { 37, 4, 4, -1, { 0 } },
    };
    int radix[KAL_MAX_STEPS];

    (void)state;
    for (size_t i = 0; i < KAL_COUNT(rows); i++) {
        ROW_CHECK(kal_radix_sequence_single(rows[i].n, rows[i].numbers, rows[i].widest,
                                            radix) == rows[i].count);
        for (int j = 0; j < rows[i].count; j++)
            ROW_CHECK(radix[j] == rows[i].radix[j]);
    }
    for (int64_t n = 1; n <= 1024; n++) {
        check_single_sequence(n, 2, 2);
        check_single_sequence(n, 4, 8);
    }
    ROWS_FINISH();
}

// The last one of all in the list, for wide registers.
static bool is_last(const int (*rows)[2], size_t count, size_t i)
{
    bool found = false;
    for (size_t j = i + 1; j < count; j++)
        found |= rows[j][0] * rows[j][1] == rows[i][0] * rows[i][1];
    return !found;
}

// Each length has one sequence, besides which wide registers may have one of their own.
static void lines_of_two_steps_are_found_by_their_registers(void **state)
{
#define ROW(first, last) { first, last },
    static const int narrow[][2] = { KAL_TWO_STEPS_FROM_4(ROW) },
                     wide[][2] = { KAL_TWO_STEPS_FROM_8(ROW) };
#undef ROW
    int radix[2];

    (void)state;
    for (size_t i = 0; i < KAL_COUNT(narrow); i++) {
        const int n = narrow[i][0] * narrow[i][1];
        ROW_CHECK(narrow[i][0] >= 4 && narrow[i][1] >= 4);
        ROW_CHECK(kal_radix_find_both(n, 4, 4, radix) == 2 && radix[0] == narrow[i][0] &&
                  radix[1] == narrow[i][1]);
        ROW_CHECK(kal_radix_find_both(n, 1, 1, radix) == 0);
    }
    for (size_t i = 0; i < KAL_COUNT(wide); i++) {
        const int n = wide[i][0] * wide[i][1];
        ROW_CHECK(wide[i][0] >= KAL_TWO_STEPS_NUMBERS &&
                  wide[i][1] >= KAL_TWO_STEPS_NUMBERS);
        ROW_CHECK(kal_radix_find_both(n, 4, KAL_TWO_STEPS_NUMBERS, radix) == 2);
        ROW_CHECK((radix[0] == wide[i][0] && radix[1] == wide[i][1]) ==
                  is_last(wide, KAL_COUNT(wide), i));
    }
    ROW_CHECK(kal_radix_find_both(37, 4, 8, radix) == 0);
    ROW_CHECK(kal_radix_find_both(32, 4, 8, radix) == 2 && radix[0] == 4);
    ROWS_FINISH();
}

// What does not compete for the ways of a cache, from a small radix on.
static void sequences_of_lanes_spread_over_the_cache(void **state)
{
    static const struct {
        int64_t n;
        bool are_steps_dear;
        int count, radix[3];
        int lanes;
    } rows[] = {
        { 1, false, 0, { 0 }, 0 },         { 25, false, 1, { 25 }, 0 },
        { 64, false, 2, { 4, 16 }, 0 },    { 128, false, 2, { 8, 16 }, 0 },
        { 512, false, 3, { 8, 8, 8 }, 0 }, { 512, true, 2, { 32, 16 }, 0 },
        { 512, true, 2, { 16, 32 }, 16 },  { 256, true, 2, { 16, 16 }, 8 },
        { 32, true, 1, { 32 }, 16 },       { 640, false, 2, { 20, 32 }, 0 },
        { 640, true, 2, { 20, 32 }, 16 },  { 768, false, 3, { 4, 12, 16 }, 0 },
        { 768, true, 2, { 24, 32 }, 0 },   { 1024, false, 3, { 8, 16, 8 }, 0 },
        { 1024, true, 2, { 32, 32 }, 0 },  { 1024, true, 2, { 32, 32 }, 8 },
        { 37, true, -1, { 0 }, 0 },
    };
    int radix[KAL_MAX_STEPS];

    (void)state;
    for (size_t i = 0; i < KAL_COUNT(rows); i++) {
        ROW_CHECK(kal_radix_sequence_lanes(rows[i].n, rows[i].are_steps_dear,
                                           rows[i].lanes, radix) == rows[i].count);
        for (int j = 0; j < rows[i].count; j++)
            ROW_CHECK(radix[j] == rows[i].radix[j]);
    }
    for (int64_t n = 1; n <= 4096; n++) {
        for (int dear = 0; dear < 2; dear++)
            check_ordered(n, radix, kal_radix_sequence_lanes(n, dear, 8 * dear, radix));
    }
    ROWS_FINISH();
}

static void columns_are_divided_by_where_they_lie(void **state)
{
    static const struct {
        int64_t n, row_bytes;
        bool are_far;
        int count, radix[KAL_MAX_STEPS];
    } rows[] = {
        { 1, 128, false, 0, { 0 } },           { 25, 128, false, 1, { 25 } },
        { 1024, 128, false, 3, { 8, 16, 8 } }, { 243, 2048, true, 2, { 9, 27 } },
        { 243, 2048, false, 2, { 27, 9 } },    { 37, 128, false, -1, { 0 } },
    };
    int radix[KAL_MAX_STEPS];

    (void)state;
    for (size_t i = 0; i < KAL_COUNT(rows); i++) {
        const struct kal_column_place place = { rows[i].row_bytes, rows[i].row_bytes,
                                                rows[i].are_far };
        ROW_CHECK(kal_radix_sequence_columns(rows[i].n, &place, radix) == rows[i].count);
        for (int j = 0; j < rows[i].count; j++)
            ROW_CHECK(radix[j] == rows[i].radix[j]);
    }
    for (int64_t n = 1; n <= 2048; n++) {
        const struct kal_column_place place = { n * 8, INT64_MAX / n, n % 2 };
        check_ordered(n, radix, kal_radix_sequence_columns(n, &place, radix));
    }
    ROWS_FINISH();
}

static void spilling_radices_come_last(void **state)
{
    static const struct {
        int count, radix[3], ordered[3];
    } rows[] = {
        { 1, { 27 }, { 27 } },         { 2, { 27, 9 }, { 9, 27 } },
        { 2, { 25, 16 }, { 25, 16 } }, // behind a power of two
        { 2, { 32, 27 }, { 32, 27 } }, { 3, { 27, 10, 3 }, { 10, 3, 27 } },
    };

    (void)state;
    for (size_t i = 0; i < KAL_COUNT(rows); i++) {
        struct kal_recipe node = { .radix_count = rows[i].count };
        for (int j = 0; j < rows[i].count; j++)
            node.radix[j] = rows[i].radix[j];
        kal_order_spilling_last(&node);
        for (int j = 0; j < rows[i].count; j++)
            ROW_CHECK(node.radix[j] == rows[i].ordered[j]);
    }
    ROWS_FINISH();
}

// The length of the convolution of `least` points and its radices, or none.
static void check_convolution(int64_t least, const struct kal_caps *caps, bool is_known)
{
    int radix[KAL_MAX_STEPS];
    const int64_t n = kal_convolution_length(least, caps);
    const int count = kal_convolution_radices(n, caps, radix);
    int64_t product = 1;

    ROW_CHECK((n > 0) == is_known && (count > 0) == is_known);
    for (int i = 0; i < count; i++) {
        ROW_CHECK(kal_radix_is_printed(radix[i]));
        product *= radix[i];
    }
    ROW_CHECK(!is_known || (n >= least && product == n));
}

static void convolutions_have_room_and_radices(void **state)
{
    enum { SHORTEST = 641, LONGEST = 16384, FITS = 8192 };
    const struct kal_caps large = { .language = KAL_LANGUAGE_CUDA,
                                    .group_bytes = 232448 };
    const struct kal_caps small = { .language = KAL_LANGUAGE_OPENCL,
                                    .group_bytes = 36864 };
    const struct kal_caps f32 = kal_caps_limit(&large, false);
    const struct kal_caps f64 = kal_caps_limit(&large, true);
    const struct kal_caps narrow = kal_caps_limit(&small, false);

    (void)state;
    assert_int_equal(narrow.split_points, FITS);
    for (int64_t least = 1; least <= LONGEST + 1; least++) {
        const bool is_long = least >= SHORTEST;
        check_convolution(least, &f32, is_long && least <= LONGEST);
        check_convolution(least, &narrow, is_long && least <= FITS);
        check_convolution(least, &f64, false);
        check_convolution(least, &kinds_of_caps[0], false);
    }
    ROWS_FINISH();
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(planned_recipes_are_legal_and_of_the_right_length),
        cmocka_unit_test(rows_of_a_line_fit_registers),
        cmocka_unit_test(lines_of_a_batch_are_alone_where_that_wins),
        cmocka_unit_test(rows_of_an_array_are_alone_where_that_wins),
        cmocka_unit_test(rows_are_alone_beside_columns_in_tiles_where_that_wins),
        cmocka_unit_test(short_real_rows_are_worked_in_turn_where_that_wins),
        cmocka_unit_test(few_columns_are_alone_where_that_wins),
        cmocka_unit_test(arrays_are_divided_where_that_wins),
        cmocka_unit_test(arrays_are_on_lanes_where_that_wins),
        cmocka_unit_test(lines_are_copied_where_that_wins),
        cmocka_unit_test(columns_are_copied_where_that_wins),
        cmocka_unit_test(large_primes_are_convolved_with_their_cofactors_where_that_wins),
        cmocka_unit_test(text_of_a_recipe_reads_back_as_itself),
        cmocka_unit_test(every_parameter_reads_back_at_its_limits),
        cmocka_unit_test(legal_texts_are_read),
        cmocka_unit_test(damaged_texts_are_refused),
        cmocka_unit_test(recipes_of_other_axes_are_refused),
        cmocka_unit_test(deep_texts_are_refused),
        cmocka_unit_test(product_of_a_radix_sequence_is_the_length),
        cmocka_unit_test(lengths_without_a_radix_sequence_are_refused),
        cmocka_unit_test(sequences_of_single_lines_fill_registers),
        cmocka_unit_test(lines_of_two_steps_are_found_by_their_registers),
        cmocka_unit_test(sequences_of_lanes_spread_over_the_cache),
        cmocka_unit_test(columns_are_divided_by_where_they_lie),
        cmocka_unit_test(spilling_radices_come_last),
        cmocka_unit_test(convolutions_have_room_and_radices),
    };
    return cmocka_run_group_tests_name("factor", tests, NULL, NULL);
}
