// SPDX-License-Identifier: MIT
// Recipe to passes: the table of rules, and what all rules share.
#include "pass/lower.h"

#include "factor/alone.h"
#include "factor/convolved.h"
#include "factor/copied.h"
#include "factor/divided.h"
#include "factor/radix.h"
#include "factor/rule.h"

#include <stdlib.h>
#include <string.h>

typedef kallima_status lower_function(struct kal_lowering *lo,
                                      const struct kal_recipe *node,
                                      const struct kal_lines *lines);

static lower_function *const lower_rule[KAL_RULE_COUNT] = {
    [KAL_RULE_LOCAL] = kal_lower_local,
    [KAL_RULE_PRIME_FACTOR] = kal_lower_prime_factor,
    [KAL_RULE_FOUR_STEP] = kal_lower_four_step,
    [KAL_RULE_RADER] = kal_lower_rader,
    [KAL_RULE_BLUESTEIN] = kal_lower_bluestein,
    [KAL_RULE_REAL_EVEN] = kal_lower_real_even,
    [KAL_RULE_REAL_ODD] = kal_lower_real_odd,
    [KAL_RULE_RANK] = kal_lower_rank,
};

kallima_status kal_lower(struct kal_lowering *lo, const struct kal_recipe *node,
                         const struct kal_lines *lines)
{
    return lower_rule[node->rule](lo, node, lines);
}

int64_t kal_line_bytes(const struct kal_lowering *lo, int64_t n)
{
    return n * (lo->problem->precision == KALLIMA_F64 ? 16 : 8);
}

int64_t kal_line_count(const struct kal_lines *lines)
{
    int64_t count = 1;
    for (int i = lines->stage_loops;
         i < lines->stage_loops + lines->line_loops + lines->inner_loops; i++)
        count *= lines->loops[i].count;
    return count;
}

bool kal_lines_stay_apart(const struct kal_lowering *lo, const struct kal_lines *lines,
                          int64_t bytes)
{
    enum { MANY_LINES = 16, MOST_TIMES_NEAR = 16 };
    const int64_t near = (int64_t)lo->caps->near_bytes;
    return bytes <= near ||
           (kal_line_count(lines) >= MANY_LINES && bytes <= MOST_TIMES_NEAR * near);
}

bool kal_lines_fit_cache(const struct kal_lowering *lo, const struct kal_lines *lines,
                         int64_t bytes)
{
    return !lo->phase_open &&
           kal_caps_cache_lines(lo->caps, kal_line_count(lines), (double)bytes);
}

bool kal_side_is_plain(const struct kal_side *side, int64_t n)
{
    return !side->index && side->count >= n && side->chirp_n == 0 &&
           side->twiddle_n == 0 && side->map_step == 1 && side->mirror_n == 0;
}

bool kal_side_is_contiguous(const struct kal_side *side)
{
    return side->stride == (side->imag == 1 ? 2 : 1);
}

void kal_lines_take_side(const struct kal_lines *lines, bool is_in,
                         struct kal_side *scratch, int64_t *loop_stride)
{
    *scratch = is_in ? lines->in : lines->out;
    for (int i = 0; i < KAL_MAX_LOOPS; i++)
        loop_stride[i] = is_in ? lines->loops[i].in : lines->loops[i].out;
}

bool kal_recipe_takes_maps(const struct kal_lowering *lo, const struct kal_recipe *node)
{
    if (node->rule == KAL_RULE_FOUR_STEP)
        return kal_recipe_takes_maps(lo, node->child[0]) &&
               kal_recipe_takes_maps(lo, node->child[1]);
    return lo->caps->language && node->rule == KAL_RULE_LOCAL;
}

kallima_status kal_phase_begin(struct kal_lowering *lo, const struct kal_lines *lines,
                               int64_t chunk, bool lanes_are_lines,
                               struct kal_lines *inside)
{
    struct kal_program *program = lo->program;

    if (program->phase_count == KAL_MAX_PASSES)
        return kal_fail(lo->arena->host, KALLIMA_E_UNSUPPORTED,
                        "plan: the recipe needs more than %d phases", KAL_MAX_PASSES);
    if (!lo->stage_open)
        program->stage[program->stage_count++] =
            (struct kal_stage){ .repeats = 1, .first_phase = program->phase_count };
    program->stage[program->stage_count - 1].phase_count++;

    *inside = *lines;
    inside->line_loops += inside->inner_loops;
    inside->inner_loops = 0;
    program->phase[program->phase_count++] = (struct kal_phase){
        .lines = kal_line_count(inside),
        .chunk = chunk,
        .chunks = (kal_line_count(inside) - 1) / chunk + 1,
        .lanes_are_lines = lanes_are_lines,
        .first_pass = program->pass_count,
    };
    lo->phase_open = true;
    lo->chunk_used = 0;
    return KALLIMA_OK;
}

void kal_phase_end(struct kal_lowering *lo)
{
    lo->phase_open = false;
}

kallima_status kal_phase_begin_near(struct kal_lowering *lo,
                                    const struct kal_recipe *node,
                                    const struct kal_lines *lines, bool lanes_are_lines,
                                    struct kal_lines *inside)
{
    const bool across =
        kal_recipe_get_parameter(node, KAL_PARAMETER_ACROSS, lanes_are_lines);
    const int wanted = kal_recipe_get_parameter(node, KAL_PARAMETER_LINES, 0);
    const int64_t chunk = wanted   ? kal_min(wanted, kal_line_count(lines))
                          : across ? KAL_LANES
                                   : 1;
    return kal_phase_begin(lo, lines, chunk, across, inside);
}

int64_t kal_near_divisor(int64_t count, int64_t wanted, int64_t most)
{
    int64_t best = 1;
    for (int64_t d = 1; d <= kal_min(count, most) && best < wanted; d++)
        best = count % d == 0 ? d : best;
    return best;
}

int64_t kal_lines_at_once(const struct kal_lowering *lo, const struct kal_recipe *node,
                          const struct kal_lines *lines)
{
    enum { THREAD_TILES = 8, MOST_TIMES_NEAR = 2, SEVERAL_THREADS = 4 };
    const int threads = lo->caps->threads, last = kal_lines_loop_count(lines) - 1;
    if (lo->caps->language || node->rule != KAL_RULE_FOUR_STEP || threads < 2 || last < 0)
        return 1;
    const int64_t count = lines->loops[last].count,
                  line_bytes = kal_line_bytes(lo, node->n);
    if (threads >= SEVERAL_THREADS && count >= threads &&
        line_bytes <= MOST_TIMES_NEAR * (int64_t)lo->caps->near_bytes)
        return 1; // each of them may have some by itself
    const int64_t tiles = kal_min(node->child[0]->n, node->child[1]->n) / KAL_LANES + 1;
    const int64_t near = MOST_TIMES_NEAR * threads * (int64_t)lo->caps->near_bytes;
    return kal_near_divisor(count, (int64_t)THREAD_TILES * threads / tiles,
                            near / line_bytes);
}

// The last `at_once` steps of the last loop become a loop of their own.
static void split_last_loop(struct kal_lines *lines, int64_t at_once)
{
    struct kal_loop *last = &lines->loops[kal_lines_loop_count(lines) - 1];
    last[1] = *last;
    last[1].count = at_once;
    last->count /= at_once;
    last->in *= at_once;
    last->out *= at_once;
    last->in_map *= at_once;
    last->out_map *= at_once;
}

kallima_status kal_stage_begin(struct kal_lowering *lo, const struct kal_lines *lines,
                               int64_t at_once, struct kal_lines *inside)
{
    struct kal_program *program = lo->program;

    if (program->stage_count == KAL_MAX_PASSES)
        return kal_fail(lo->arena->host, KALLIMA_E_UNSUPPORTED,
                        "plan: the recipe needs more than %d stages", KAL_MAX_PASSES);
    const bool is_split = at_once > 1 && kal_lines_loop_count(lines) < KAL_MAX_LOOPS;
    *inside = *lines;
    program->stage[program->stage_count++] =
        (struct kal_stage){ .repeats = kal_line_count(lines) / (is_split ? at_once : 1),
                            .first_phase = program->phase_count,
                            .has_outer_scratch = lo->shared_used > 0 };
    if (is_split)
        split_last_loop(inside, at_once);
    inside->stage_loops += inside->line_loops + inside->inner_loops;
    inside->line_loops = is_split;
    inside->inner_loops = 0;
    lo->stage_open = true;
    return KALLIMA_OK;
}

void kal_stage_end(struct kal_lowering *lo)
{
    lo->stage_open = false;
}

// Are lines of a loop nearer to each other in memory than their elements, on both sides?
static bool are_neighbours(const struct kal_lines *lines, const struct kal_loop *loop)
{
    return llabs(loop->in) < llabs(lines->in.stride) &&
           llabs(loop->out) < llabs(lines->out.stride);
}

// From element to element where lines stand side by side: they share a tile, on a CPU, or
// are neighbours before and after, in kernels. 0: they stand one behind the other.
static int64_t chunk_pitch(const struct kal_lowering *lo, const struct kal_phase *phase,
                           const struct kal_lines *lines)
{
    const struct kal_loop *loop =
        &lines->loops[lines->stage_loops + lines->line_loops - 1];
    if (phase->lanes_are_lines)
        return kal_round_up(phase->chunk, KAL_LANES);
    return lo->caps->language && phase->chunk > 1 && are_neighbours(lines, loop)
               ? phase->chunk
               : 0;
}

static int64_t chunk_layout(const struct kal_lowering *lo, const struct kal_lines *lines,
                            int64_t n, struct kal_side *side, int64_t *loop_stride)
{
    const struct kal_phase *phase = &lo->program->phase[lo->program->phase_count - 1];
    const int64_t pitch = chunk_pitch(lo, phase, lines);
    int64_t stride = kal_max(1, pitch);

    side->stride = stride;
    stride *= n;
    for (int i = kal_lines_loop_count(lines) - 1;
         i >= lines->stage_loops + lines->line_loops; i--) {
        loop_stride[i] = stride;
        stride *= lines->loops[i].count;
    }
    side->line_stride = pitch ? 1 : stride;
    return pitch ? stride : stride * phase->chunk;
}

// Columns of an array stand side by side in the scratch of kernels, too, if they fill transactions:
// a tile of them is read and written in whole ones. Other lines stand one behind the other.
static bool stand_side_by_side(const struct kal_lowering *lo,
                               const struct kal_lines *lines)
{
    if (!lo->caps->language || kal_lines_loop_count(lines) == lines->stage_loops)
        return false;
    const struct kal_loop *last = &lines->loops[kal_lines_loop_count(lines) - 1];
    return last->in && last->out && last->count >= lo->caps->transaction_lines &&
           are_neighbours(lines, last);
}

static int64_t shared_layout(const struct kal_lowering *lo, const struct kal_lines *lines,
                             int64_t n, struct kal_side *side, int64_t *loop_stride)
{
    int last = kal_lines_loop_count(lines) - 1;
    int64_t stride = n;

    side->stride = 1;
    if (stand_side_by_side(lo, lines)) {
        loop_stride[last] = 1;
        side->stride = lines->loops[last].count;
        stride *= side->stride;
        last--;
    }
    for (int i = last; i >= lines->stage_loops; i--) {
        loop_stride[i] = stride;
        stride *= lines->loops[i].count;
    }
    return stride;
}

// Are both parts of a number side by side in scratch that is taken now? Always where all
// threads see it.
static bool is_interleaved(const struct kal_lowering *lo, bool are_pairs)
{
    return are_pairs || lo->caps->language || !lo->phase_open;
}

int64_t kal_scratch_pitch(const struct kal_lowering *lo, int64_t n, bool are_pairs)
{
    enum { LEAST = 64, PIECE_BYTES = 128 };
    const int real_bytes = lo->problem->precision == KALLIMA_F64 ? 8 : 4;
    const int64_t fill =
        PIECE_BYTES / (is_interleaved(lo, are_pairs) ? 2 * real_bytes : real_bytes);

    if (lo->caps->language || n < LEAST)
        return n;
    return ((n + fill - 1) / fill | 1) * fill;
}

// Remember the most scratch that was in use at once.
static void note_scratch(struct kal_lowering *lo, int64_t used)
{
    struct kal_program *program = lo->program;
    int64_t *most = lo->phase_open ? &program->phase[program->phase_count - 1].chunk_reals
                                   : &program->shared_reals;
    *most = kal_max(*most, used);
}

// Both parts of a number side by side, for devices that move pairs.
static void interleave(struct kal_side *side, int64_t *loop_stride)
{
    side->imag = 1;
    side->stride *= 2;
    side->line_stride *= 2;
    for (int i = 0; i < KAL_MAX_LOOPS; i++)
        loop_stride[i] *= 2;
}

static kallima_status take_scratch(struct kal_lowering *lo, const struct kal_lines *lines,
                                   int64_t n, bool are_pairs, struct kal_side *side,
                                   int64_t *loop_stride)
{
    int64_t *used = lo->phase_open ? &lo->chunk_used : &lo->shared_used;

    *side = (struct kal_side){
        .buffer = lo->phase_open ? KAL_BUFFER_CHUNK : KAL_BUFFER_SHARED,
        .offset = *used,
        .count = INT64_MAX,
        .map_step = 1,
    };
    memset(loop_stride, 0, KAL_MAX_LOOPS * sizeof *loop_stride);
    const int64_t plane = lo->phase_open ? chunk_layout(lo, lines, n, side, loop_stride)
                                         : shared_layout(lo, lines, n, side, loop_stride);
    if (is_interleaved(lo, are_pairs)) {
        interleave(side, loop_stride);
        *used += kal_round_up(2 * plane, 32);
        note_scratch(lo, *used);
        return KALLIMA_OK;
    }

    // An odd number of cache lines between the planes, so that they do not share sets.
    side->imag = kal_round_up(plane, 32) + 16;
    *used += kal_round_up(2 * side->imag, 32);
    note_scratch(lo, *used);
    return KALLIMA_OK;
}

kallima_status kal_scratch_take(struct kal_lowering *lo, const struct kal_lines *lines,
                                int64_t n, struct kal_side *side, int64_t *loop_stride)
{
    return take_scratch(lo, lines, n, false, side, loop_stride);
}

kallima_status kal_scratch_take_pairs(struct kal_lowering *lo,
                                      const struct kal_lines *lines, int64_t n,
                                      struct kal_side *side, int64_t *loop_stride)
{
    return take_scratch(lo, lines, n, true, side, loop_stride);
}

void kal_lines_set_in(struct kal_lines *lines, const struct kal_side *side,
                      const int64_t *loop_stride)
{
    lines->in = *side;
    for (int i = 0; i < kal_lines_loop_count(lines); i++) {
        lines->loops[i].in = loop_stride[i];
        lines->loops[i].in_map = 0;
    }
}

void kal_lines_set_out(struct kal_lines *lines, const struct kal_side *side,
                       const int64_t *loop_stride)
{
    lines->out = *side;
    for (int i = 0; i < kal_lines_loop_count(lines); i++) {
        lines->loops[i].out = loop_stride[i];
        lines->loops[i].out_map = 0;
    }
}

void kal_lines_divide(struct kal_lines *lines, bool is_in, int64_t n, int64_t parts)
{
    struct kal_side *side = is_in ? &lines->in : &lines->out;
    struct kal_loop *loop = &lines->loops[kal_lines_loop_count(lines) - 1];
    const bool is_plain = kal_side_is_plain(side, n);

    *(is_in ? &loop->in : &loop->out) = is_plain ? side->stride : 0;
    *(is_in ? &loop->in_map : &loop->out_map) = is_plain ? 0 : side->map_step;
    *(is_plain ? &side->stride : &side->map_step) *= parts;
}

kallima_status kal_lines_add_loop(struct kal_lines *lines, int64_t count, int64_t in,
                                  int64_t out)
{
    const int i = kal_lines_loop_count(lines);
    if (i == KAL_MAX_LOOPS)
        return kal_fail(NULL, KALLIMA_E_UNSUPPORTED,
                        "plan: the recipe needs more than %d nested loops",
                        KAL_MAX_LOOPS);
    lines->loops[i] = (struct kal_loop){ .count = count, .in = in, .out = out };
    lines->inner_loops++;
    return KALLIMA_OK;
}

static enum kal_buffer_id buffer_of(const struct kal_lowering *lo,
                                    const struct kal_side *side)
{
    const bool is_same = lo->problem->is_in_place && side->buffer == KAL_BUFFER_OUT;
    return is_same ? KAL_BUFFER_IN : side->buffer;
}

// Of a pass that several nodes share, the first that has any.
static const struct kal_parameters *find_parameters(const struct kal_step *steps,
                                                    int step_count)
{
    for (int i = 0; i < step_count; i++) {
        if (steps[i].parameters)
            return steps[i].parameters;
    }
    return NULL;
}

static kallima_status check_parameters(const struct kal_lowering *lo,
                                       const struct kal_parameters *parameters)
{
    const int here = lo->caps->language ? KAL_FOR_KERNELS : KAL_FOR_PASSES;
    for (int id = 0; id < KAL_PARAMETER_COUNT; id++) {
        if (parameters->is_given[id] && !(kal_parameters[id].devices & here))
            return kal_fail(lo->arena->host, KALLIMA_E_UNSUPPORTED,
                            "plan: the recipe has the parameter \"%s\", which is for %s "
                            "only",
                            kal_parameters[id].name,
                            lo->caps->language ? "the CPU" : "devices of kernels");
    }
    return KALLIMA_OK;
}

// What only the other kind of devices can do.
static kallima_status check_steps(const struct kal_lowering *lo,
                                  const struct kal_step *steps, int step_count)
{
    for (int i = 0; i < step_count; i++) {
        if (steps[i].parameters)
            KAL_TRY(check_parameters(lo, steps[i].parameters));
    }
    for (int i = 0; i < step_count && !lo->caps->language; i++) {
        if (steps[i].op == KAL_STEP_DFT && !kal_radix_exists(steps[i].radix))
            return kal_fail(lo->arena->host, KALLIMA_E_UNSUPPORTED,
                            "plan: radix %d is for devices of kernels only",
                            steps[i].radix);
    }
    return KALLIMA_OK;
}

kallima_status kal_pass_add(struct kal_lowering *lo, const struct kal_lines *lines,
                            int64_t n, const struct kal_step *steps, int step_count)
{
    struct kal_program *program = lo->program;

    if (!lo->phase_open) {
        struct kal_lines inside;
        const bool are_alone = kal_lines_are_alone(lo->problem, lo->caps);
        KAL_TRY(kal_phase_begin(lo, lines, are_alone ? 1 : kal_line_count(lines),
                                !are_alone, &inside));
        const kallima_status status = kal_pass_add(lo, &inside, n, steps, step_count);
        kal_phase_end(lo);
        return status;
    }
    if (program->pass_count == KAL_MAX_PASSES)
        return kal_fail(lo->arena->host, KALLIMA_E_UNSUPPORTED,
                        "plan: the recipe needs more than %d passes", KAL_MAX_PASSES);
    KAL_TRY(check_steps(lo, steps, step_count));

    void *memory;
    KAL_TRY(kal_arena_take(lo->arena, &memory, 1, sizeof(struct kal_pass)));
    struct kal_pass *pass = memory;
    *pass = (struct kal_pass){
        .in = lines->in,
        .out = lines->out,
        .stage_loops = lines->stage_loops,
        .line_loops = lines->line_loops,
        .inner_loops = lines->inner_loops,
        .n = n,
        .step_count = step_count,
        .scale = 1.0,
        .is_in_place = buffer_of(lo, &lines->in) == buffer_of(lo, &lines->out),
        .parameters = find_parameters(steps, step_count),
    };
    memcpy(pass->loops, lines->loops, sizeof pass->loops);
    if (step_count > 0)
        memcpy(pass->step, steps, (size_t)step_count * sizeof *steps);
    program->pass[program->pass_count++] = pass;
    program->phase[program->phase_count - 1].pass_count++;
    return KALLIMA_OK;
}

kallima_status kal_side_compose(struct kal_lowering *lo, struct kal_side *side,
                                const int64_t *map, int64_t n)
{
    void *memory;
    KAL_TRY(kal_arena_take(lo->arena, &memory, (uint64_t)n, sizeof(int64_t)));
    int64_t *index = memory;
    for (int64_t i = 0; i < n; i++) {
        const int64_t e = map[i];
        index[i] = e < 0              ? e
                   : e >= side->count ? KAL_INDEX_NONE
                   : side->index      ? side->index[e]
                                      : e;
    }
    side->index = index;
    side->entries = n;
    side->count = INT64_MAX;
    return KALLIMA_OK;
}

// One side of the whole problem along `axis`; strides of the other axes go to loops.
static struct kal_side user_side(const struct kal_problem *p,
                                 const struct kal_array *array, enum kal_buffer_id buffer,
                                 int axis)
{
    const int64_t unit = kal_array_reals(array);
    return (struct kal_side){
        .buffer = buffer,
        .is_real = array->is_real,
        .imag = array->is_planar ? 0 : 1,
        .offset = array->offset * unit,
        .stride = array->stride[axis] * unit,
        .is_swapped = p->is_inverse && p->kind == KALLIMA_C2C,
        .count = INT64_MAX,
        .map_step = 1,
    };
}

bool kal_program_has_chunks(const struct kal_program *program)
{
    bool has_chunks = false;
    for (int i = 0; i < program->phase_count; i++)
        has_chunks = has_chunks || program->phase[i].pass_count > 1;
    return has_chunks;
}

static kallima_status check_chunks(const struct kal_lowering *lo,
                                   const struct kal_recipe *recipe)
{
    if (lo->caps->language || kal_program_has_chunks(lo->program) ||
        (kal_recipe_get_parameter(recipe, KAL_PARAMETER_LINES, 0) == 0 &&
         kal_recipe_get_parameter(recipe, KAL_PARAMETER_ACROSS, -1) < 0))
        return KALLIMA_OK;
    return kal_fail(lo->arena->host, KALLIMA_E_UNSUPPORTED,
                    "plan: the recipe has the parameter \"lines\" or \"across\", and no "
                    "passes that share chunks of lines");
}

int kal_program_get_parameter(const struct kal_program *program, enum kal_parameter_id id,
                              int otherwise)
{
    enum { NONE = -1 };
    int value = NONE;
    for (int i = 0; i < program->pass_count && value == NONE; i++) {
        const struct kal_pass *pass = program->pass[i];
        for (int k = 0; k < pass->step_count && value == NONE; k++) {
            if (pass->step[k].parameters)
                value = kal_parameter_get(pass->step[k].parameters, id, NONE);
        }
    }
    return value == NONE ? otherwise : value;
}

static bool has_rader(const struct kal_program *program)
{
    for (int i = 0; i < program->pass_count; i++) {
        for (int j = 0; j < program->pass[i]->step_count; j++) {
            if (program->pass[i]->step[j].op == KAL_STEP_RADER)
                return true;
        }
    }
    return false;
}

// The pass that scales: the last one, or on the CPU the last one with twiddles, which have the
// scale in them. Rader's x[0] goes past those of its convolution.
static struct kal_pass *scaled_pass(const struct kal_program *program,
                                    const struct kal_caps *caps)
{
    struct kal_pass *const last = program->pass[program->pass_count - 1];

    if (caps->language || has_rader(program))
        return last;
    for (int i = program->pass_count - 1; i >= 0; i--) {
        if (program->pass[i]->out.twiddle_n)
            return program->pass[i];
    }
    return last;
}

static kallima_status take_problem(const struct kal_problem **out,
                                   struct kal_arena *arena, struct kal_problem problem)
{
    void *memory;
    KAL_TRY(kal_arena_take(arena, &memory, 1, sizeof problem));
    *(struct kal_problem *)memory = problem;
    *out = memory;
    return KALLIMA_OK;
}

// What a CPU transforms in place of the problem, if no recipe says how.
static kallima_status take_others(struct kal_program *out, struct kal_arena *arena,
                                  const struct kal_problem *problem,
                                  const struct kal_caps *caps)
{
    out->has_long_columns = kal_columns_are_long(problem);
    out->convolved = kal_recipe_find_convolved(out->recipe, problem, caps);
    if (kal_is_copied(problem, caps))
        return take_problem(&out->copied, arena, kal_problem_copied(problem));
    if (!kal_is_divided(problem, caps))
        return KALLIMA_OK;
    KAL_TRY(take_problem(&out->inner, arena, kal_problem_inner(problem)));
    return take_problem(&out->columns, arena, kal_problem_columns(problem));
}

kallima_status kal_program_lower(struct kal_program *out, struct kal_arena *arena,
                                 const struct kal_problem *problem,
                                 const struct kal_recipe *recipe,
                                 const struct kal_caps *caps)
{
    void *passes, *phases, *stages;
    KAL_TRY(kal_arena_take(arena, &passes, KAL_MAX_PASSES, sizeof(struct kal_pass *)));
    KAL_TRY(kal_arena_take(arena, &phases, KAL_MAX_PASSES, sizeof(struct kal_phase)));
    KAL_TRY(kal_arena_take(arena, &stages, KAL_MAX_PASSES, sizeof(struct kal_stage)));
    *out = (struct kal_program){
        .pass = passes,
        .phase = phases,
        .stage = stages,
        .is_in_place = problem->is_in_place,
        .problem = problem,
        .recipe = recipe,
    };
    out->rows_in_turn = kal_rows_are_worked_in_turn(problem, caps);
    out->rows_alone = kal_rows_are_worked_alone(problem, caps);
    out->columns_in_turn = kal_columns_are_alone(problem, caps);
    if (!kal_recipe_has_parameters(recipe))
        KAL_TRY(take_others(out, arena, problem, caps));

    struct kal_caps limits = *caps;
    struct kal_lowering lo = {
        .arena = arena,
        .problem = problem,
        .caps = &limits,
        .program = out,
        .channels = 1,
        .grouped = 1,
    };
    // Where a pass is a kernel, all lines are worked at once: one stage, no chunks.
    if (caps->language) {
        limits = kal_caps_limit(caps, problem->precision == KALLIMA_F64);
        limits.near_bytes = 0;
        out->stage[out->stage_count++] = (struct kal_stage){ .repeats = 1 };
        lo.stage_open = true;
    }
    const int last = problem->rank - 1;
    struct kal_lines lines = {
        .in = user_side(problem, &problem->in, KAL_BUFFER_IN, last),
        .out = user_side(problem, &problem->out, KAL_BUFFER_OUT, last),
    };
    KAL_TRY(kal_lines_add_loop(
        &lines, problem->batch, problem->in.batch_stride * kal_array_reals(&problem->in),
        problem->out.batch_stride * kal_array_reals(&problem->out)));
    KAL_TRY(kal_lower(&lo, recipe, &lines));
    scaled_pass(out, caps)->scale = problem->scale;
    return check_chunks(&lo, recipe);
}
