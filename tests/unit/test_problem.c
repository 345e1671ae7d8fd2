// SPDX-License-Identifier: MIT
#include <stdlib.h>
#include <string.h>

#include "../problems.h"
#include "../random.h"
#include "../rows.h"
#include "problem/problem.h"

// Count the addresses by marking them.
static bool distinct_by_marking(int rank, const int64_t *n, const int64_t *stride)
{
    int64_t low = 0, high = 0, total = 1;
    for (int i = 0; i < rank; i++) {
        const int64_t step = (n[i] - 1) * stride[i];
        *(step < 0 ? &low : &high) += step;
        total *= n[i];
    }
    char *seen = (char *)calloc((size_t)(high - low + 1), 1);
    bool distinct = true;
    for (int64_t i = 0; i < total && distinct; i++) {
        int64_t rest = i, address = -low;
        for (int k = 0; k < rank; k++) {
            address += rest % n[k] * stride[k];
            rest /= n[k];
        }
        distinct = !seen[address];
        seen[address] = 1;
    }
    free(seen);
    return distinct;
}

static void strides_are_distinct_if_no_address_repeats(void **state)
{
    int answers[2] = { 0 };

    (void)state;
    for (uint64_t seed = 0; seed < 20000; seed++) {
        struct random r = { seed };
        const int rank = (int)random_between(&r, 1, 4);
        int64_t n[4], stride[4];
        for (int i = 0; i < rank; i++) {
            n[i] = random_between(&r, 1, 6);
            stride[i] = random_between(&r, -30, 30);
        }
        const bool want = distinct_by_marking(rank, n, stride);
        answers[want]++;
        row_ran();
        if (kal_strides_distinct(rank, n, stride) != want)
            row_fail("seed %llu: not %s", (unsigned long long)seed,
                     want ? "distinct" : "colliding");
    }
    ROW_CHECK(answers[0] > 1000 && answers[1] > 1000);
    ROWS_FINISH();
}

static void check_text(const kallima_desc *d, const char *want)
{
    struct kal_problem problem;
    struct kal_text text;

    kal_text_init(&text, NULL);
    row_ran();
    if (kal_problem_init(&problem, NULL, d) != KALLIMA_OK) {
        row_fail("\"%s\": %s", want, kallima_last_error());
        return;
    }
    kal_problem_print(&text, &problem);
    if (!text.data || strcmp(text.data, want) != 0)
        row_fail("\n       is  \"%s\"\n       not \"%s\"", text.data, want);
    kal_text_clear(&text);
}

static void defaults_are_filled_in(void **state)
{
    static const struct {
        kallima_desc desc;
        const char *text;
    } rows[] = {
        { { .rank = 1, .n = { 8 } },
          "c2c f32 n=8 batch=1 forward out-of-place in=interleaved@0:8,1 "
          "out=interleaved@0:8,1" },
        { { .rank = 2,
            .n = { 3, 4 },
            .batch = 5,
            .precision = KALLIMA_F64,
            .direction = KALLIMA_INVERSE,
            .in.format = KALLIMA_PLANAR },
          "c2c f64 n=3x4 batch=5 inverse out-of-place in=planar@0:12,4,1 "
          "out=interleaved@0:12,4,1" },
        { { .rank = 2, .n = { 3, 7 }, .kind = KALLIMA_R2C },
          "r2c f32 n=3x7 batch=1 forward out-of-place in=real@0:21,7,1 "
          "out=interleaved@0:12,4,1" },
        { { .rank = 2,
            .n = { 3, 7 },
            .kind = KALLIMA_C2R,
            .placement = KALLIMA_IN_PLACE },
          "c2r f32 n=3x7 batch=1 inverse in-place in=interleaved@0:12,4,1 "
          "out=real@0:24,8,1" },
    };
    (void)state;
    for (size_t i = 0; i < KAL_COUNT(rows); i++)
        check_text(&rows[i].desc, rows[i].text);
    ROWS_FINISH();
}

static void check_description(const kallima_desc *desc)
{
    struct kal_problem problem, again;
    struct kal_text text, text_again;

    row_ran();
    kal_text_init(&text, NULL);
    kal_text_init(&text_again, NULL);
    assert_int_equal(kal_problem_init(&problem, NULL, desc), KALLIMA_OK);
    kal_problem_print(&text, &problem);
    const kallima_desc described = kal_problem_describe(&problem);
    if (kal_problem_init(&again, NULL, &described) != KALLIMA_OK) {
        row_fail("%s: %s", text.data, kallima_last_error());
    } else {
        kal_problem_print(&text_again, &again);
        if (strcmp(text.data, text_again.data) != 0 ||
            problem.in.elements != again.in.elements ||
            problem.out.elements != again.out.elements)
            row_fail("%s becomes %s", text.data, text_again.data);
    }
    kal_text_clear(&text);
    kal_text_clear(&text_again);
}

static void a_description_makes_the_same_problem(void **state)
{
    struct random r = { 1 };

    (void)state;
    for (int i = 0; i < 2000; i++) {
        kallima_desc desc = problem_random(&r, 1000);
        desc.destroy_input = i % 3 == 0;
        desc.scale = i % 2 ? 0.1 * i : 0.0;
        check_description(&desc);
    }
    ROWS_FINISH();
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(strides_are_distinct_if_no_address_repeats),
        cmocka_unit_test(defaults_are_filled_in),
        cmocka_unit_test(a_description_makes_the_same_problem),
    };
    return cmocka_run_group_tests_name("problem", tests, NULL, NULL);
}
