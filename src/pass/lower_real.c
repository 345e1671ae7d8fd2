// SPDX-License-Identifier: MIT
// Real transforms: even lengths as complex ones of half the length, odd ones in full.
#include "pass/lower.h"

struct kal_side *kal_view_as_complex(struct kal_lines *lines, bool is_forward)
{
    struct kal_side *side = is_forward ? &lines->in : &lines->out;
    side->is_real = false;
    side->imag = side->stride;
    side->stride *= 2;
    side->is_swapped = !is_forward;
    return side;
}

static kallima_status even_local(struct kal_lowering *lo, const struct kal_recipe *node,
                                 const struct kal_lines *lines, bool is_forward)
{
    struct kal_step steps[KAL_MAX_STEPS + 1];
    const struct kal_recipe *child = node->child[0];
    int count = 0;

    if (!is_forward)
        steps[count++] =
            (struct kal_step){ .op = KAL_STEP_MERGE, .outer = 1, .n = node->n };
    count += kal_local_steps(child, 1, 1, steps + count);
    if (is_forward)
        steps[count++] =
            (struct kal_step){ .op = KAL_STEP_SPLIT, .outer = 1, .n = node->n };
    return kal_pass_add(lo, lines, child->n + 1, steps, count);
}

// Of the n/2 + 1 tile elements the packed side has n/2.
static void limit_packed(struct kal_lines *lines, int64_t m, bool is_forward)
{
    struct kal_side *packed = is_forward ? &lines->in : &lines->out;
    packed->count = m;
}

// Where a line's packed numbers may be, rather than in scratch: where it will be, for the
// mirrored step to work in place, or on the way back in an input that need not be kept,
// else where it will be if it is a chunk's four-step, whose columns all leave before its
// rows come; of one thread, as two would take each other's lines of the caches twice.
// NULL: nowhere. Of several short lines, and of all on the way back, scratch is near from
// one to the next, and numbers that are no neighbours are walked through as seldom as can
// be. One array less takes 0.81 to 0.9 of the time of 10000 to 32768 reals, in doubles,
// on a Xeon, and of batches of lines of 256 KiB and more 0.6 to 0.95. Longer lines whose
// halves are visited twice, of 256 to 512 KiB, take 0.93 on the way back, also by one
// thread alone.
static const struct kal_side *packed_side(const struct kal_lowering *lo,
                                          const struct kal_recipe *node,
                                          const struct kal_lines *lines, bool is_forward)
{
    enum { LONG_BYTES = 256 << 10, VISITED_TWICE_BYTES = 512 << 10 };
    const struct kal_problem *p = lo->problem;
    const uint64_t bytes = (uint64_t)kal_line_bytes(lo, node->n / 2);
    const bool is_kept = !is_forward && !p->is_in_place && !p->may_destroy_input;
    const bool is_four_step = node->child[0]->rule == KAL_RULE_FOUR_STEP;
    const bool is_visited_twice =
        is_four_step && lo->caps->threads == 1 && bytes <= VISITED_TWICE_BYTES;
    const struct kal_side *side = is_forward || is_kept ? &lines->out : &lines->in;

    if (p->rank > 1 || (p->batch > 1 && !(is_forward && bytes >= LONG_BYTES)) ||
        bytes >= lo->caps->in_place_bytes || !kal_side_is_contiguous(side))
        return NULL;
    if (lo->phase_open)
        return is_four_step && (is_forward || lo->caps->threads == 1) ? side : NULL;
    return is_kept && !is_visited_twice ? NULL : side;
}

// Where packed numbers are between the mirrored step and the transform.
static kallima_status take_packed(struct kal_lowering *lo, const struct kal_recipe *node,
                                  const struct kal_lines *lines, bool is_forward,
                                  struct kal_side *packed, int64_t *loop_stride)
{
    const struct kal_side *side = packed_side(lo, node, lines, is_forward);
    // Pairs, where lines of these are worked in their output: batches take 0.93 of the
    // time so on a Xeon, back.
    const bool are_pairs = !is_forward && lo->caps->steps_are_dear &&
                           node->child[0]->rule == KAL_RULE_FOUR_STEP;
    if (!side)
        return (are_pairs ? kal_scratch_take_pairs : kal_scratch_take)(
            lo, lines, node->n / 2, packed, loop_stride);
    kal_lines_take_side(lines, side == &lines->in, packed, loop_stride);
    packed->is_swapped = is_forward ? side->is_swapped : lines->in.is_swapped;
    return KALLIMA_OK;
}

static kallima_status even_through_scratch(struct kal_lowering *lo,
                                           const struct kal_recipe *node,
                                           const struct kal_lines *lines, bool is_forward)
{
    const struct kal_step step = { .op = is_forward ? KAL_STEP_SPLIT : KAL_STEP_MERGE,
                                   .outer = 1,
                                   .n = node->n };
    const int64_t m = node->n / 2;
    const int64_t shared_used = lo->shared_used, chunk_used = lo->chunk_used;
    struct kal_lines first = *lines, second = *lines;
    struct kal_side packed;
    int64_t loop_stride[KAL_MAX_LOOPS];

    KAL_TRY(take_packed(lo, node, lines, is_forward, &packed, loop_stride));
    kal_lines_set_out(&first, &packed, loop_stride);
    kal_lines_set_in(&second, &packed, loop_stride);
    if (is_forward) {
        KAL_TRY(kal_lower(lo, node->child[0], &first));
        limit_packed(&second, m, true);
        KAL_TRY(kal_pass_add(lo, &second, m + 1, &step, 1));
    } else {
        limit_packed(&first, m, false);
        KAL_TRY(kal_pass_add(lo, &first, m + 1, &step, 1));
        KAL_TRY(kal_lower(lo, node->child[0], &second));
    }
    lo->shared_used = shared_used;
    lo->chunk_used = chunk_used;
    return KALLIMA_OK;
}

// A four-step fills lanes from within one line; what is worked in tiles needs several lines.
static bool needs_several_lines(const struct kal_recipe *half)
{
    const bool is_convolved =
        half->rule == KAL_RULE_RADER || half->rule == KAL_RULE_BLUESTEIN;
    return is_convolved ? half->child[0]->rule == KAL_RULE_LOCAL
                        : half->rule != KAL_RULE_FOUR_STEP;
}

// Is each of the lines one thread's, all steps of it? One line, whose threads would have
// nothing else, only near the core; several, which all threads would walk through one
// after the other, take 0.3 to 0.5 of the time on two where a line has 256 to 512 KiB,
// forward, when what is packed lies in the output, 0.5 to 1.0 up to 2 MiB, and on one
// thread 0.95 to 1.1.
static bool are_apart(const struct kal_lowering *lo, const struct kal_lines *lines,
                      int64_t line_bytes, bool is_forward)
{
    enum { LONGEST_BYTES = 2 << 20, LONGEST_BACK_BYTES = 512 << 10 };
    return kal_lines_stay_apart(lo, lines, 4 * line_bytes) ||
           (kal_line_count(lines) > 1 &&
            line_bytes <= (is_forward ? LONGEST_BYTES : LONGEST_BACK_BYTES));
}

kallima_status kal_lower_real_even(struct kal_lowering *lo, const struct kal_recipe *node,
                                   const struct kal_lines *lines)
{
    const bool is_forward = lo->problem->kind == KALLIMA_R2C;
    struct kal_lines view = *lines, inside;
    kallima_status status;

    kal_view_as_complex(&view, is_forward);
    if (node->child[0]->rule == KAL_RULE_LOCAL) {
        limit_packed(&view, node->n / 2, is_forward);
        return even_local(lo, node, &view, is_forward);
    }
    if (lo->phase_open || lo->caps->language)
        return even_through_scratch(lo, node, &view, is_forward);

    if (are_apart(lo, &view, kal_line_bytes(lo, node->n / 2), is_forward)) {
        const bool on_lanes =
            kal_line_count(&view) >= 4 && needs_several_lines(node->child[0]);
        KAL_TRY(kal_phase_begin_near(lo, node, &view, on_lanes, &inside));
        status = even_through_scratch(lo, node, &inside, is_forward);
        kal_phase_end(lo);
        return status;
    }
    if (lo->stage_open)
        return even_through_scratch(lo, node, &view, is_forward);
    // Line by line: the mirrored step of one is not rounded as that of several, which
    // threads must not decide.
    KAL_TRY(kal_stage_begin(lo, &view, 1, &inside));
    status = even_through_scratch(lo, node, &inside, is_forward);
    kal_stage_end(lo);
    return status;
}

// The result is real, so it is the forward transform of the conjugate spectrum; what the
// complex side does not store is the conjugate of what it does.
static kallima_status extend(struct kal_lowering *lo, struct kal_side *side, int64_t n)
{
    void *memory;
    KAL_TRY(kal_arena_take(lo->arena, &memory, (uint64_t)n, sizeof(int64_t)));
    int64_t *index = memory;
    for (int64_t k = 0; k < n; k++)
        index[k] = k <= n / 2 ? KAL_INDEX_CONJUGATE - k : n - k;
    side->index = index;
    side->entries = n;
    return KALLIMA_OK;
}

kallima_status kal_lower_real_odd(struct kal_lowering *lo, const struct kal_recipe *node,
                                  const struct kal_lines *lines)
{
    struct kal_lines routed = *lines;

    if (lo->problem->kind == KALLIMA_R2C) {
        routed.out.count = node->n / 2 + 1;
    } else {
        KAL_TRY(extend(lo, &routed.in, node->n));
    }
    return kal_lower(lo, node->child[0], &routed);
}
