// SPDX-License-Identifier: MIT
// What every program must satisfy, whatever recipe it was lowered from: counts add up, and
// no pass reaches outside its arrays and scratch.
#include <stdlib.h>

#include "../rows.h"
#include "device/device.h"
#include "factor/rule.h"
#include "kernel/kernel.h"
#include "pass/pass.h"

// One program under test, and the sentence that names it.
struct subject {
    const struct kal_problem *problem;
    const struct kal_program *program;
    const char *recipe;
    uint64_t near_bytes;
};

#define CHECK(subject, i, cond)                                                  \
    do {                                                                         \
        if (!(cond))                                                             \
            row_fail("%s, %llu bytes near, %d: required: %s", (subject)->recipe, \
                     (unsigned long long)(subject)->near_bytes, (i), #cond);     \
    } while (0)

static int64_t loop_product(const struct kal_loop *loops, int count)
{
    int64_t product = 1;
    for (int i = 0; i < count; i++)
        product *= loops[i].count;
    return product;
}

// --- counts ------------------------------------------------------------------------------

// Is no shared scratch of a stage that is repeated what another one wrote or reads?
static bool has_own_scratch(const struct kal_program *program,
                            const struct kal_stage *stage)
{
    const struct kal_phase *first = &program->phase[stage->first_phase],
                           *last = first + stage->phase_count - 1;
    return stage->has_outer_scratch ||
           (program->pass[first->first_pass]->in.buffer != KAL_BUFFER_SHARED &&
            program->pass[last->first_pass + last->pass_count - 1]->out.buffer !=
                KAL_BUFFER_SHARED);
}

static void check_stages(const struct subject *s)
{
    const struct kal_program *program = s->program;
    int phases = 0, passes = 0;

    for (int i = 0; i < program->stage_count; i++) {
        const struct kal_stage *stage = &program->stage[i];
        CHECK(s, i, stage->first_phase == phases);
        CHECK(s, i, stage->phase_count > 0);
        CHECK(s, i, stage->repeats >= 1);
        CHECK(s, i, stage->repeats == 1 || has_own_scratch(program, stage));
        phases += stage->phase_count;
    }
    CHECK(s, phases, phases == program->phase_count);
    for (int i = 0; i < program->phase_count; i++) {
        const struct kal_phase *phase = &program->phase[i];
        CHECK(s, i, phase->first_pass == passes);
        CHECK(s, i, phase->pass_count > 0);
        passes += phase->pass_count;
    }
    CHECK(s, passes, passes == program->pass_count);
}

// A chunk may be a tile of which the lines fill only a part.
static void check_chunks(const struct subject *s, const struct kal_phase *phase, int i)
{
    const int64_t most =
        phase->lanes_are_lines ? kal_round_up(phase->lines, KAL_LANES) : phase->lines;
    CHECK(s, i, phase->chunk >= 1 && phase->chunk <= most);
    CHECK(s, i, phase->chunks * phase->chunk >= phase->lines);
    CHECK(s, i, (phase->chunks - 1) * phase->chunk < phase->lines);
}

static void check_loops(const struct subject *s, const struct kal_stage *stage,
                        const struct kal_phase *phase, int i)
{
    const struct kal_pass *pass = s->program->pass[i];
    CHECK(s, i,
          pass->stage_loops + pass->line_loops + pass->inner_loops <= KAL_MAX_LOOPS);
    CHECK(s, i, loop_product(pass->loops, pass->stage_loops) == stage->repeats);
    CHECK(s, i,
          loop_product(pass->loops + pass->stage_loops, pass->line_loops) ==
              phase->lines);
}

// --- steps -------------------------------------------------------------------------------

// The elements of a tile that codelets work on: all, but for one that goes along.
static int64_t worked_length(const struct kal_pass *pass)
{
    for (int i = 0; i < pass->step_count; i++) {
        const enum kal_step_op op = pass->step[i].op;
        if (op == KAL_STEP_RADER)
            return pass->n - 1;
        if (op == KAL_STEP_SPLIT || op == KAL_STEP_MERGE)
            return pass->n - pass->step[i].outer;
    }
    return pass->n;
}

static void check_step(const struct subject *s, const struct kal_pass *pass,
                       const struct kal_step *step, int i)
{
    switch (step->op) {
    case KAL_STEP_DFT:
        CHECK(s, i, step->radix * step->m * step->s * step->outer == worked_length(pass));
        break;
    case KAL_STEP_RADER: CHECK(s, i, step->n == pass->n); break;
    case KAL_STEP_PRODUCT:
        CHECK(s, i, step->size == pass->n && step->size >= 2 * step->n - 1);
        break;
    case KAL_STEP_SPLIT:
    case KAL_STEP_MERGE: CHECK(s, i, step->outer * (step->n + 2) == 2 * pass->n); break;
    }
}

// Radices multiply to the length, or for a transform and the one back to its square.
static void check_steps(const struct subject *s, int i)
{
    const struct kal_pass *pass = s->program->pass[i];
    int64_t radices = 1, want = worked_length(pass);
    int codelets = 0;

    CHECK(s, i, pass->step_count <= KAL_MAX_PASS_STEPS);
    for (int k = 0; k < pass->step_count; k++) {
        const struct kal_step *step = &pass->step[k];
        check_step(s, pass, step, i);
        if (step->op == KAL_STEP_DFT) {
            codelets++;
            radices *= step->radix;
        } else if (step->op == KAL_STEP_RADER || step->op == KAL_STEP_PRODUCT) {
            want *= worked_length(pass);
        }
    }
    CHECK(s, i, codelets == 0 || radices == want);
}

// --- addresses ---------------------------------------------------------------------------

struct range {
    int64_t low, high;
};

static void range_add(struct range *range, int64_t count, int64_t stride)
{
    *(stride < 0 ? &range->low : &range->high) += (count - 1) * stride;
}

// The line elements that a side touches; false if there are none.
static bool touched_elements(const struct kal_side *side, int64_t n, struct range *range)
{
    if (!side->index) {
        const int64_t last = kal_min(n, side->count) - 1;
        *range = (struct range){ 0, last };
        range->high += side->gap ? last / side->row * side->gap : 0;
        return last >= 0;
    }
    *range = (struct range){ INT64_MAX, INT64_MIN };
    for (int64_t i = 0; i < kal_min(n, side->count); i++) {
        int64_t e = side->index[i];
        if (e == KAL_INDEX_NONE)
            continue;
        e = e <= KAL_INDEX_CONJUGATE ? KAL_INDEX_CONJUGATE - e : e;
        range->low = kal_min(range->low, e);
        range->high = kal_max(range->high, e);
    }
    return range->low <= range->high;
}

static int64_t array_reals(const struct kal_array *array)
{
    return array->elements * (array->is_real || array->is_planar ? 1 : 2);
}

static int64_t buffer_reals(const struct subject *s, const struct kal_phase *phase,
                            enum kal_buffer_id buffer)
{
    switch (buffer) {
    case KAL_BUFFER_IN: return array_reals(&s->problem->in);
    case KAL_BUFFER_OUT: return array_reals(&s->problem->out);
    case KAL_BUFFER_SHARED: return s->program->shared_reals;
    case KAL_BUFFER_CHUNK: return phase->chunk_reals;
    case KAL_BUFFER_COUNT: break;
    }
    return -1;
}

// In scratch of a chunk its lines are apart by the line stride, not by their loops'.
static void add_loops(struct range *range, const struct kal_pass *pass,
                      const struct kal_phase *phase, bool is_in)
{
    const struct kal_side *side = is_in ? &pass->in : &pass->out;
    const bool in_chunk = side->buffer == KAL_BUFFER_CHUNK;
    const int inner = pass->stage_loops + pass->line_loops;

    if (in_chunk)
        range_add(range, phase->chunk, side->line_stride);
    for (int i = in_chunk ? inner : 0; i < inner + pass->inner_loops; i++)
        range_add(range, pass->loops[i].count,
                  is_in ? pass->loops[i].in : pass->loops[i].out);
}

static void check_side(const struct subject *s, const struct kal_phase *phase, int i,
                       bool is_in)
{
    const struct kal_pass *pass = s->program->pass[i];
    const struct kal_side *side = is_in ? &pass->in : &pass->out;
    struct range e;

    CHECK(s, i, side->count >= 1);
    if (!touched_elements(side, pass->n, &e)) {
        CHECK(s, i, !"a side without elements");
        return;
    }
    CHECK(s, i, e.low >= 0);
    struct range reals = { side->offset + e.low * side->stride,
                           side->offset + e.low * side->stride };
    range_add(&reals, e.high - e.low + 1, side->stride);
    add_loops(&reals, pass, phase, is_in);
    if (!side->is_real)
        range_add(&reals, 2, side->imag);
    CHECK(s, i, reals.low >= 0);
    CHECK(s, i, reals.high < buffer_reals(s, phase, side->buffer));
}

// No element of a line is stored twice.
static void check_stores(const struct subject *s, int i)
{
    const struct kal_pass *pass = s->program->pass[i];
    struct range e;

    if (!pass->out.index || !touched_elements(&pass->out, pass->n, &e))
        return;
    char *stored = (char *)calloc((size_t)(e.high + 1), 1);
    for (int64_t k = 0; k < kal_min(pass->n, pass->out.count); k++) {
        const int64_t element = pass->out.index[k];
        if (element == KAL_INDEX_NONE)
            continue;
        CHECK(s, i, element >= 0 && !stored[element]);
        if (element >= 0)
            stored[element] = 1;
    }
    free(stored);
}

static void check_twiddles(const struct subject *s, int i)
{
    const struct kal_pass *pass = s->program->pass[i];
    const int loops = pass->stage_loops + pass->line_loops + pass->inner_loops;

    CHECK(s, i, pass->in.twiddle_n == 0);
    if (pass->out.twiddle_n == 0)
        return;
    CHECK(s, i, pass->out.twiddle_loop >= 0 && pass->out.twiddle_loop < loops);
    CHECK(s, i, pass->out.twiddle_n % pass->loops[pass->out.twiddle_loop].count == 0);
}

// --- programs ----------------------------------------------------------------------------

static void check_phase(const struct subject *s, const struct kal_stage *stage, int i)
{
    const struct kal_phase *phase = &s->program->phase[i];

    check_chunks(s, phase, i);
    for (int k = 0; k < phase->pass_count; k++) {
        const int pass = phase->first_pass + k;
        check_loops(s, stage, phase, pass);
        check_steps(s, pass);
        check_side(s, phase, pass, true);
        check_side(s, phase, pass, false);
        check_stores(s, pass);
        check_twiddles(s, pass);
    }
}

static bool has_rader(const struct kal_program *program)
{
    for (int i = 0; i < program->pass_count; i++) {
        for (int k = 0; k < program->pass[i]->step_count; k++) {
            if (program->pass[i]->step[k].op == KAL_STEP_RADER)
                return true;
        }
    }
    return false;
}

// One pass scales: the last one, or one with twiddles, which all numbers go through.
static void check_ends(const struct subject *s)
{
    const struct kal_program *program = s->program;
    const int last = program->pass_count - 1;

    int scaled = 0;
    for (int i = 0; i <= last; i++) {
        const struct kal_pass *pass = program->pass[i];
        if (pass->scale == 1.0)
            continue;
        scaled++;
        CHECK(s, i, pass->scale == s->problem->scale);
        CHECK(s, i, i == last || (pass->out.twiddle_n && !has_rader(program)));
    }
    CHECK(s, last, scaled == 1);
    CHECK(s, 0, program->pass[0]->in.buffer == KAL_BUFFER_IN);
    CHECK(s, last, program->pass[last]->out.buffer == KAL_BUFFER_OUT);
}

// Mark the reals that one line of the last pass stores; return how many are new.
static int64_t mark_line(const struct kal_pass *pass, int64_t offset, char *stored,
                         int64_t reals)
{
    const struct kal_side *side = &pass->out;
    const int parts = side->is_real || side->imag == 0 ? 1 : 2;
    int64_t count = 0;

    for (int64_t i = 0; i < kal_min(pass->n, side->count); i++) {
        const int64_t e = side->index ? side->index[i] : i;
        for (int part = 0; part < parts && e >= 0; part++) {
            const int64_t at = offset + e * side->stride + part * side->imag;
            if (at >= 0 && at < reals && !stored[at]) {
                stored[at] = 1;
                count++;
            }
        }
    }
    return count;
}

// The last pass stores every real of the result. Of planar ones, the real parts are seen.
static void check_result(const struct subject *s)
{
    const struct kal_pass *pass = s->program->pass[s->program->pass_count - 1];
    const struct kal_array *array = &s->problem->out;
    const int loops = pass->stage_loops + pass->line_loops + pass->inner_loops;
    const int64_t lines = loop_product(pass->loops, loops), reals = array_reals(array);
    int64_t want = s->problem->batch * (array->is_real || array->is_planar ? 1 : 2);
    int64_t count = 0;
    char *stored = (char *)calloc((size_t)reals, 1);

    for (int i = 0; i < s->problem->rank; i++)
        want *= array->n[i];
    for (int64_t line = 0; line < lines; line++) {
        int64_t rest = line, offset = pass->out.offset;
        for (int i = 0; i < loops; i++) {
            offset += rest % pass->loops[i].count * pass->loops[i].out;
            rest /= pass->loops[i].count;
        }
        count += mark_line(pass, offset, stored, reals);
    }
    CHECK(s, s->program->pass_count - 1, count == want);
    free(stored);
}

static void check_program(const struct subject *s)
{
    check_stages(s);
    for (int i = 0; i < s->program->stage_count; i++) {
        const struct kal_stage *stage = &s->program->stage[i];
        for (int k = 0; k < stage->phase_count; k++)
            check_phase(s, stage, stage->first_phase + k);
    }
    check_ends(s);
    check_result(s);
}

// What there is near a core, and what is worked in the output.
struct room {
    uint64_t near_bytes, between_bytes;
};

static kallima_status lower(struct kal_arena *arena, const struct kal_problem *problem,
                            const char *text, const struct room *room,
                            struct kal_program *out)
{
    const struct kal_caps caps = { .has_f64 = true,
                                   .threads = 4,
                                   .lanes_f32 = 16,
                                   .near_bytes = room->near_bytes,
                                   .between_bytes = room->between_bytes };
    const struct kal_planner planner = { .arena = arena, .caps = &caps };
    struct kal_recipe *recipe;

    if (text)
        KAL_TRY(kal_recipe_parse(&recipe, arena, problem, text));
    else
        KAL_TRY(kal_plan_problem(&recipe, &planner, problem));
    return kal_program_lower(out, arena, problem, recipe, &caps);
}

// With much memory near a core lines stay apart; with little they are stages, by way of
// scratch or of the output.
static void check_recipe(const kallima_desc *desc, const char *text)
{
    static const struct room rooms[] = {
        { 1 << 20, 0 }, { 1 << 14, 0 }, { 256, 0 }, { 256, 4000000 }
    };
    kallima_desc scaled = *desc;
    struct kal_problem problem;
    struct kal_program program;

    scaled.scale = 0.5;
    for (size_t i = 0; i < KAL_COUNT(rooms); i++) {
        const struct subject s = { &problem, &program, text ? text : "planned",
                                   rooms[i].near_bytes };
        struct kal_arena arena;
        row_ran();
        kal_arena_init(&arena, NULL);
        if (kal_problem_init(&problem, NULL, &scaled) != KALLIMA_OK ||
            lower(&arena, &problem, text, &rooms[i], &program) != KALLIMA_OK)
            row_fail("%s: %s", s.recipe, kallima_last_error());
        else
            check_program(&s);
        kal_arena_clear(&arena);
    }
}

static void programs_are_consistent(void **state)
{
    static const struct {
        kallima_desc desc;
        const char *recipe;
    } rows[] = {
        { { .rank = 1, .n = { 1 } }, "local(1)" },
        { { .rank = 1, .n = { 64 }, .batch = 5 }, "local(16.4)" },
        { { .rank = 1, .n = { 15 }, .batch = 20 }, "prime-factor(local(3), local(5))" },
        { { .rank = 1, .n = { 60 }, .direction = KALLIMA_INVERSE },
          "four-step(prime-factor(local(3), local(4)), local(5))" },
        { { .rank = 1, .n = { 4096 }, .batch = 20, .in.format = KALLIMA_PLANAR },
          "four-step(local(16), four-step(local(16), local(16)))" },
        { { .rank = 1, .n = { 4096 }, .placement = KALLIMA_IN_PLACE },
          "four-step(four-step(local(8), local(8)), four-step(local(8), local(8)))" },
        { { .rank = 1, .n = { 17 }, .batch = 33 }, "rader(local(16))" },
        { { .rank = 1, .n = { 37 }, .batch = 3 },
          "rader(four-step(local(6), local(6)))" },
        { { .rank = 1, .n = { 2311 }, .batch = 40 },
          "rader(four-step(local(11.3), four-step(local(10), local(7))))" },
        { { .rank = 1, .n = { 47 } }, "rader(four-step(local(2), rader(local(11.2))))" },
        { { .rank = 1, .n = { 100 }, .batch = 17 }, "bluestein(n=100, local(25.8))" },
        { { .rank = 1, .n = { 2053 }, .batch = 2 },
          "bluestein(n=2053, four-step(local(32.2), local(13.5)))" },
        { { .rank = 1, .n = { 7 } }, "bluestein(n=7, bluestein(n=13, local(25)))" },
        { { .rank = 1, .n = { 37 } }, "rader(bluestein(n=36, local(9.8)))" },
        { { .rank = 1, .n = { 629 }, .batch = 2 },
          "four-step(rader(local(16)), rader(four-step(local(6), local(6))))" },
        { { .rank = 1, .n = { 30 }, .kind = KALLIMA_R2C, .batch = 20 },
          "real-even(prime-factor(local(3), local(5)))" },
        { { .rank = 1, .n = { 64 }, .kind = KALLIMA_R2C, .placement = KALLIMA_IN_PLACE },
          "real-even(local(32))" },
        { { .rank = 1, .n = { 2048 }, .kind = KALLIMA_C2R, .batch = 20 },
          "real-even(four-step(local(32), local(32)))" },
        { { .rank = 1, .n = { 74 }, .kind = KALLIMA_C2R },
          "real-even(rader(local(6.6)))" },
        { { .rank = 1, .n = { 37 }, .kind = KALLIMA_R2C, .batch = 2 },
          "real-odd(rader(local(6.6)))" },
        { { .rank = 1, .n = { 37 }, .kind = KALLIMA_C2R },
          "real-odd(rader(local(6.6)))" },
        { { .rank = 1, .n = { 15 }, .kind = KALLIMA_C2R, .batch = 3 },
          "real-odd(bluestein(n=15, local(32)))" },
        { { .rank = 1, .n = { 45 }, .kind = KALLIMA_R2C },
          "real-odd(four-step(local(5), local(9)))" },
        { { .rank = 2, .n = { 64, 64 }, .placement = KALLIMA_IN_PLACE },
          "rank(local(8.8), four-step(local(8), local(8)))" },
        { { .rank = 3, .n = { 5, 1, 6 }, .kind = KALLIMA_R2C, .batch = 2 },
          "rank(rader(local(4)), local(1), real-even(local(3)))" },
        { { .rank = 2, .n = { 37, 45 }, .kind = KALLIMA_C2R, .batch = 2 },
          "rank(rader(four-step(local(6), local(6))), "
          "real-odd(bluestein(n=45, four-step(local(10), local(10)))))" },
    };
    (void)state;
    for (size_t i = 0; i < KAL_COUNT(rows); i++)
        check_recipe(&rows[i].desc, rows[i].recipe);
    ROWS_FINISH();
}

static void planned_programs_are_consistent(void **state)
{
    static const int64_t lengths[] = { 1,    2,    7,    30,   32,    37,    64,
                                       101,  128,  210,  625,  1024,  2053,  4096,
                                       5040, 9999, 6561, 8191, 10007, 16384, 65536 };
    static const int64_t batches[] = { 1, 20 };
    static const kallima_desc arrays[] = {
        { .rank = 2, .n = { 64, 256 }, .batch = 2 },
        { .rank = 2, .n = { 300, 512 }, .placement = KALLIMA_IN_PLACE },
        { .rank = 3, .n = { 40, 8, 128 }, .out.format = KALLIMA_PLANAR },
        { .rank = 4, .n = { 3, 17, 4, 512 }, .direction = KALLIMA_INVERSE },
        { .rank = 2, .n = { 64, 256 }, .kind = KALLIMA_R2C },
        { .rank = 3, .n = { 12, 64, 256 }, .kind = KALLIMA_C2R },
        { .rank = 2, .n = { 100003, 8 } },
    };
    (void)state;
    for (size_t i = 0; i < KAL_COUNT(lengths); i++) {
        for (int kind = 0; kind < KALLIMA_KIND_COUNT; kind++) {
            for (size_t k = 0; k < KAL_COUNT(batches); k++) {
                const kallima_desc desc = {
                    .rank = 1, .n = { lengths[i] }, .kind = kind, .batch = batches[k]
                };
                check_recipe(&desc, NULL);
            }
        }
    }
    for (size_t i = 0; i < KAL_COUNT(arrays); i++)
        check_recipe(&arrays[i], NULL);
    ROWS_FINISH();
}

// --- accesses of kernels -----------------------------------------------------------------

// Each pass of a launch of its own.
static kallima_status check_accesses(struct kal_arena *arena, const struct kal_caps *caps,
                                     const kallima_desc *desc)
{
    const bool is_f64 = desc->precision == KALLIMA_F64;
    const struct kal_caps limited = kal_caps_limit(caps, is_f64);
    const struct kal_planner planner = { .arena = arena, .caps = &limited };
    struct kal_problem problem;
    struct kal_recipe *recipe;
    struct kal_program program;

    KAL_TRY(kal_problem_init(&problem, NULL, desc));
    KAL_TRY(kal_plan_problem(&recipe, &planner, &problem));
    KAL_TRY(kal_program_lower(&program, arena, &problem, recipe, caps));
    for (int i = 0; i < program.pass_count; i++) {
        const struct kal_kernel_frame frame = { 0 };
        struct kal_kernel *kernel;
        KAL_TRY(kal_kernel_design(&kernel, arena, program.pass[i], caps, is_f64, &frame));
        for (int is_in = 0; is_in < 2; is_in++) {
            if (kal_kernel_sectors(kernel, is_in) > 1.0)
                row_fail("%lldx%lld, pass %d, %s: %g times the sectors",
                         (long long)desc->n[0], (long long)desc->n[1], i,
                         is_in ? "in" : "out", kal_kernel_sectors(kernel, is_in));
        }
    }
    return KALLIMA_OK;
}

// Whether they are one pass, two with scratch between them, or three.
static void columns_are_accessed_in_whole_sectors(void **state)
{
    static const kallima_desc rows[] = {
        { .rank = 2, .n = { 256, 128 } },
        { .rank = 2, .n = { 4096, 64 } },
        { .rank = 2, .n = { 8192, 4096 } },
        { .rank = 2, .n = { 6000, 64 }, .batch = 3, .precision = KALLIMA_F64 },
        { .rank = 2, .n = { 131072, 32 }, .placement = KALLIMA_IN_PLACE },
        { .rank = 1, .n = { 1 << 24 } },
        { .rank = 1, .n = { 1 << 24 }, .precision = KALLIMA_F64 },
    };
    kallima_device *gpu; // a small one

    (void)state;
    assert_int_equal(kallima_device_open(&gpu, "nullopengl", NULL), KALLIMA_OK);
    for (size_t i = 0; i < KAL_COUNT(rows); i++) {
        struct kal_arena arena;
        row_ran();
        kal_arena_init(&arena, NULL);
        if (check_accesses(&arena, &gpu->caps, &rows[i]) != KALLIMA_OK)
            row_fail("%s", kallima_last_error());
        kal_arena_clear(&arena);
    }
    kallima_device_close(&gpu);
    ROWS_FINISH();
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(programs_are_consistent),
        cmocka_unit_test(planned_programs_are_consistent),
        cmocka_unit_test(columns_are_accessed_in_whole_sectors),
    };
    return cmocka_run_group_tests_name("pass", tests, NULL, NULL);
}
