// SPDX-License-Identifier: MIT
// Rader and Bluestein: load through a map, transform, multiply, transform back, store
// through a map. One pass where the transforms are local; on a device of kernels three where
// they are two passes; else through scratch.
#include "pass/lower.h"

#include "math/number.h"

enum { LANES_LIMIT = 2048 }; // longest convolution of which a tile of lines is kept near

// The transform back runs on exchanged parts: undone by the store, allowed for by factors.
static void exchange_out(struct kal_lines *lines)
{
    lines->out.is_swapped = !lines->out.is_swapped;
    lines->out.twiddle_is_conjugate = !lines->out.twiddle_is_conjugate;
}

// Steps of child, the product, child: all on one tile. Back in the opposite order: its first
// step takes what the last one left together.
static int there_and_back(const struct kal_recipe *child, const struct kal_step *product,
                          struct kal_step *steps)
{
    int count = kal_local_steps(child, 1, 1, steps);
    steps[count++] = *product;
    struct kal_recipe back = *child;
    back.parameters = (struct kal_parameters){ 0 }; // the steps there have them
    for (int i = 0; i < child->radix_count; i++)
        back.radix[i] = child->radix[child->radix_count - 1 - i];
    return count + kal_local_steps(&back, 1, 1, steps + count);
}

static kallima_status lower_fused(struct kal_lowering *lo, const struct kal_recipe *child,
                                  const struct kal_lines *lines, int64_t n,
                                  const struct kal_step *product)
{
    struct kal_step steps[KAL_MAX_PASS_STEPS];
    const int count = there_and_back(child, product, steps);
    struct kal_lines swapped = *lines;
    exchange_out(&swapped);
    return kal_pass_add(lo, &swapped, n, steps, count);
}

// Columns, then rows there and back with the product between them, then columns. Coefficients
// stay where the columns left them: number k1 + n1 k2 is element k2 of row k1.
static kallima_status lower_three_passes(struct kal_lowering *lo,
                                         const struct kal_recipe *child,
                                         const struct kal_lines *lines,
                                         const struct kal_step *product)
{
    const int64_t m = child->n, n1 = child->child[0]->n, n2 = child->child[1]->n;
    const int64_t shared_used = lo->shared_used, chunk_used = lo->chunk_used;
    const int inner_loop = lines->stage_loops + lines->line_loops + lines->inner_loops;
    struct kal_lines columns = *lines, rows = *lines, back = *lines;
    struct kal_side scratch, turned;
    int64_t loop_stride[KAL_MAX_LOOPS];

    KAL_TRY(kal_scratch_take(lo, lines, m, &scratch, loop_stride));
    turned = scratch;
    turned.twiddle_n = m;
    turned.twiddle_loop = inner_loop;

    kal_lines_set_out(&columns, &turned, loop_stride);
    columns.out.stride *= n2;
    KAL_TRY(kal_lines_add_loop(&columns, n2, 0, scratch.stride));
    kal_lines_divide(&columns, true, m, n2);
    KAL_TRY(kal_lower(lo, child->child[0], &columns));

    struct kal_step row_product = *product;
    row_product.rows = n1;
    row_product.row_loop = inner_loop;
    kal_lines_set_in(&rows, &scratch, loop_stride);
    kal_lines_set_out(&rows, &turned, loop_stride);
    KAL_TRY(kal_lines_add_loop(&rows, n1, n2 * scratch.stride, n2 * scratch.stride));
    struct kal_step steps[KAL_MAX_PASS_STEPS];
    const int count = there_and_back(child->child[1], &row_product, steps);
    KAL_TRY(kal_pass_add(lo, &rows, n2, steps, count));

    kal_lines_set_in(&back, &scratch, loop_stride);
    exchange_out(&back);
    back.in.stride *= n2;
    KAL_TRY(kal_lines_add_loop(&back, n2, scratch.stride, 0));
    kal_lines_divide(&back, false, m, n2);
    KAL_TRY(kal_lower(lo, child->child[0], &back));
    lo->shared_used = shared_used;
    lo->chunk_used = chunk_used;
    return KALLIMA_OK;
}

static kallima_status lower_through_scratch(struct kal_lowering *lo,
                                            const struct kal_recipe *child,
                                            const struct kal_lines *lines, int64_t n,
                                            const struct kal_step *product)
{
    const int64_t shared_used = lo->shared_used, chunk_used = lo->chunk_used;
    struct kal_lines load = *lines, middle = *lines, store = *lines;
    struct kal_side scratch;
    int64_t loop_stride[KAL_MAX_LOOPS];

    KAL_TRY(kal_scratch_take(lo, lines, n, &scratch, loop_stride));
    kal_lines_set_out(&load, &scratch, loop_stride);
    kal_lines_set_in(&middle, &scratch, loop_stride);
    kal_lines_set_out(&middle, &scratch, loop_stride);
    kal_lines_set_in(&store, &scratch, loop_stride);
    exchange_out(&store);

    // The element of Rader's that only passes through needs the copies.
    const bool takes_maps =
        product->op == KAL_STEP_PRODUCT && kal_recipe_takes_maps(lo, child);
    if (!takes_maps)
        KAL_TRY(kal_pass_add(lo, &load, n, NULL, 0));
    KAL_TRY(kal_lower(lo, child, takes_maps ? &load : &middle));
    KAL_TRY(kal_pass_add(lo, &middle, n, product, 1));
    KAL_TRY(kal_lower(lo, child, takes_maps ? &store : &middle));
    if (!takes_maps)
        KAL_TRY(kal_pass_add(lo, &store, n, NULL, 0));
    lo->shared_used = shared_used;
    lo->chunk_used = chunk_used;
    return KALLIMA_OK;
}

// Rader's product has an element besides, which no row holds.
static bool is_three_passes(const struct kal_lowering *lo, const struct kal_recipe *child,
                            const struct kal_step *product)
{
    return product->op == KAL_STEP_PRODUCT && child->rule == KAL_RULE_FOUR_STEP &&
           kal_recipe_takes_maps(lo, child) && child->child[0]->rule == KAL_RULE_LOCAL &&
           child->child[1]->rule == KAL_RULE_LOCAL;
}

static kallima_status lower_convolution(struct kal_lowering *lo,
                                        const struct kal_recipe *child,
                                        const struct kal_lines *lines, int64_t n,
                                        const struct kal_step *product)
{
    struct kal_lines inside;
    kallima_status status;

    if (child->rule == KAL_RULE_LOCAL)
        return lower_fused(lo, child, lines, n, product);
    if (is_three_passes(lo, child, product)) {
        const int64_t chunk = kal_chunk_lines(lo, lines);
        if (!kal_lines_fit_cache(lo, lines, chunk * kal_line_bytes(lo, n)))
            return lower_three_passes(lo, child, lines, product);
        KAL_TRY(kal_phase_begin(lo, lines, chunk, false, &inside));
        status = lower_three_passes(lo, child, &inside, product);
        kal_phase_end(lo);
        return status;
    }
    if (lo->phase_open || lo->caps->language)
        return lower_through_scratch(lo, child, lines, n, product);

    if (n <= LANES_LIMIT || kal_lines_stay_apart(lo, lines, 6 * kal_line_bytes(lo, n))) {
        const bool on_lanes = n <= LANES_LIMIT && kal_line_count(lines) >= 4;
        KAL_TRY(kal_phase_begin_near(lo, child, lines, on_lanes, &inside));
        status = lower_through_scratch(lo, child, &inside, n, product);
        kal_phase_end(lo);
        return status;
    }
    if (lo->stage_open)
        return lower_through_scratch(lo, child, lines, n, product);
    KAL_TRY(kal_stage_begin(lo, lines, 1, &inside));
    status = lower_through_scratch(lo, child, &inside, n, product);
    kal_stage_end(lo);
    return status;
}

// Tile element i < p - 1 is input g^i and output g^-i; the last one is element 0.
kallima_status kal_lower_rader(struct kal_lowering *lo, const struct kal_recipe *node,
                               const struct kal_lines *lines)
{
    const int64_t p = node->n, g = kal_primitive_root(p), h = kal_inverse_mod(g, p);
    void *memory;
    KAL_TRY(kal_arena_take(lo->arena, &memory, 2 * (uint64_t)p, sizeof(int64_t)));
    int64_t *in = memory, *out = in + p;

    int64_t power = 1, inverse = 1;
    for (int64_t i = 0; i < p - 1; i++) {
        in[i] = power;
        out[i] = inverse;
        power = kal_mul_mod(power, g, p);
        inverse = kal_mul_mod(inverse, h, p);
    }
    in[p - 1] = out[p - 1] = 0;

    struct kal_lines routed = *lines;
    KAL_TRY(kal_side_compose(lo, &routed.in, in, p));
    KAL_TRY(kal_side_compose(lo, &routed.out, out, p));
    const struct kal_step product = { .op = KAL_STEP_RADER,
                                      .n = p,
                                      .transform = node->child[0] };
    return lower_convolution(lo, node->child[0], &routed, p, &product);
}

static kallima_status keep_first(struct kal_lowering *lo, struct kal_side *side,
                                 int64_t n, int64_t m)
{
    if (!side->index) {
        side->count = kal_min(side->count, n);
        return KALLIMA_OK;
    }
    void *memory;
    KAL_TRY(kal_arena_take(lo->arena, &memory, (uint64_t)m, sizeof(int64_t)));
    int64_t *map = memory;
    for (int64_t i = 0; i < m; i++)
        map[i] = i < n ? i : KAL_INDEX_NONE;
    return kal_side_compose(lo, side, map, m);
}

kallima_status kal_lower_bluestein(struct kal_lowering *lo, const struct kal_recipe *node,
                                   const struct kal_lines *lines)
{
    const int64_t n = node->n, m = node->child[0]->n;
    const struct kal_step product = {
        .op = KAL_STEP_PRODUCT, .n = n, .size = m, .transform = node->child[0]
    };
    struct kal_lines routed = *lines;

    KAL_TRY(keep_first(lo, &routed.in, n, m));
    KAL_TRY(keep_first(lo, &routed.out, n, m));
    routed.in.chirp_n = routed.out.chirp_n = n;
    return lower_convolution(lo, node->child[0], &routed, m, &product);
}
