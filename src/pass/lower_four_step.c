// SPDX-License-Identifier: MIT
// four-step: columns to scratch, or to the output, with the twiddle, rows from there to
// their place.
#include "factor/rule.h"
#include "pass/lower.h"

// Copy lines from one side to the other: what other rules cannot read or write directly.
static kallima_status copy(struct kal_lowering *lo, const struct kal_lines *lines,
                           int64_t n)
{
    return kal_pass_add(lo, lines, n, NULL, 0);
}

static bool is_real(const struct kal_recipe *node)
{
    return node->child[0]->rule == KAL_RULE_REAL_EVEN ||
           node->child[0]->rule == KAL_RULE_REAL_ODD;
}

// Where the numbers are between both sets of passes: that of column c and row r is at c *
// column + r * row.
struct between {
    struct kal_side side;
    int64_t column, row;
    int64_t loop_stride[KAL_MAX_LOOPS];
};

// Long real lines of a batch, forward, whose packed numbers are in the output anyhow, for
// the mirrored step behind it: so are those between columns and rows. 70000 to 100000
// doubles and 140000 to 200000 floats take 0.65 to 0.95 of the time so on one thread of a
// Xeon and on two.
static bool is_packed_between(const struct kal_lowering *lo,
                              const struct kal_recipe *node)
{
    enum { LEAST_BYTES = 512 << 10 };
    const uint64_t bytes = (uint64_t)kal_line_bytes(lo, node->n);
    return lo->problem->kind == KALLIMA_R2C && lo->problem->rank == 1 &&
           bytes >= LEAST_BYTES && bytes < lo->caps->between_bytes;
}

// May that be the output, columns as they will be read, so that rows are worked in place?
// Two arrays are nearer a core than three: 36000 to 200000 doubles on one thread of a
// Xeon take 0.67 to 0.9 of the time so, 65536 to 262144 floats 0.8 to 1.0; what is stored
// past the caches anyhow up to 1.5 times as long. On sixteen threads, each of which has a
// small part near whatever is done, lines of 0.5 to 2 MB take 1.04 times as long, longer
// ones 0.92, reals, which are mirrored behind it where they are, 0.88. What is left of
// lines that do not fill registers is not rounded alike in both ways, which threads must
// not decide. Planes of floats take 0.86 of the time on one thread, 1.13 on four and 1.3
// on sixteen: they keep scratch.
static bool is_output_between(const struct kal_lowering *lo,
                              const struct kal_recipe *node,
                              const struct kal_lines *lines)
{
    const struct kal_problem *p = lo->problem;
    const struct kal_side *out = &lines->out;
    const enum kal_buffer_id in = lines->in.buffer;
    const uint64_t bytes = (uint64_t)p->out.elements * // of the whole batch
                           (uint64_t)kal_line_bytes(lo, 1) / (p->out.is_real ? 2 : 1);
    const bool are_planes = out->imag == 0 && p->precision == KALLIMA_F32;

    return !lo->caps->language &&
           (is_packed_between(lo, node) ||
            (!lo->phase_open && bytes < lo->caps->between_bytes)) &&
           out->buffer == KAL_BUFFER_OUT && in != KAL_BUFFER_OUT &&
           !(in == KAL_BUFFER_IN && p->is_in_place) && !out->is_real && !are_planes &&
           kal_side_is_contiguous(out) && kal_side_is_plain(out, node->n);
}

static kallima_status take_between(struct kal_lowering *lo, const struct kal_recipe *node,
                                   const struct kal_lines *lines, struct between *between)
{
    const int64_t n1 = node->child[0]->n, n2 = node->child[1]->n;
    const int64_t pitch = kal_scratch_pitch(lo, n2, false);

    if (is_output_between(lo, node, lines)) {
        kal_lines_take_side(lines, false, &between->side, between->loop_stride);
        between->side.is_swapped = false;
        between->row = lines->out.stride;
        between->column = n1 * lines->out.stride;
        return KALLIMA_OK;
    }
    KAL_TRY(
        kal_scratch_take(lo, lines, n1 * pitch, &between->side, between->loop_stride));
    between->column = between->side.stride;
    between->row = between->side.stride * pitch;
    return KALLIMA_OK;
}

// The sides are plain, or the children take maps: the two sets of passes.
static kallima_status lower_direct(struct kal_lowering *lo, const struct kal_recipe *node,
                                   const struct kal_lines *lines)
{
    const int64_t n1 = node->child[0]->n, n2 = node->child[1]->n;
    const int64_t shared_used = lo->shared_used, chunk_used = lo->chunk_used;
    struct between between;
    KAL_TRY(take_between(lo, node, lines, &between));

    struct kal_lines columns = *lines;
    struct kal_side side = between.side;
    side.stride = between.row;
    side.twiddle_n = node->n;
    side.twiddle_loop = kal_lines_loop_count(lines);
    kal_lines_set_out(&columns, &side, between.loop_stride);
    KAL_TRY(kal_lines_add_loop(&columns, n2, 0, between.column));
    kal_lines_divide(&columns, true, node->n, n2);
    KAL_TRY(kal_lower(lo, node->child[0], &columns));

    struct kal_lines rows = *lines;
    side = between.side;
    side.stride = between.column;
    kal_lines_set_in(&rows, &side, between.loop_stride);
    KAL_TRY(kal_lines_add_loop(&rows, n1, between.row, 0));
    kal_lines_divide(&rows, false, node->n, n1);
    KAL_TRY(kal_lower(lo, node->child[1], &rows));

    lo->shared_used = shared_used;
    lo->chunk_used = chunk_used;
    return KALLIMA_OK;
}

// Real lines as n1 x n2: of the columns' coefficients n1 / 2 + 1 are kept, a row each. The
// rows that are not are conjugates: X[n - k] = conj X[k] of row n1 - k1.
struct real_division {
    int64_t n1, n2, kept;
    struct kal_side scratch; // for kept x n2 elements
    int64_t loop_stride[KAL_MAX_LOOPS];
};

static kallima_status lower_real_forward(struct kal_lowering *lo,
                                         const struct kal_recipe *node,
                                         const struct kal_lines *lines,
                                         const struct real_division *d)
{
    struct kal_lines columns = *lines, rows = *lines;

    kal_lines_set_out(&columns, &d->scratch, d->loop_stride);
    columns.out.stride *= d->n2;
    columns.out.twiddle_n = node->n;
    columns.out.twiddle_loop = kal_lines_loop_count(lines);
    KAL_TRY(kal_lines_add_loop(&columns, d->n2, 0, d->scratch.stride));
    kal_lines_divide(&columns, true, node->n, d->n2);
    KAL_TRY(kal_lower(lo, node->child[0], &columns));

    kal_lines_set_in(&rows, &d->scratch, d->loop_stride);
    rows.out.mirror_n = node->n;
    rows.out.mirror_period = d->n1;
    KAL_TRY(kal_lines_add_loop(&rows, d->kept, d->n2 * d->scratch.stride, 0));
    kal_lines_divide(&rows, false, node->n, d->n1);
    return kal_lower(lo, node->child[1], &rows);
}

// The reverse: rows of what is there and of its conjugates, then columns to reals.
static kallima_status lower_real_backward(struct kal_lowering *lo,
                                          const struct kal_recipe *node,
                                          const struct kal_lines *lines,
                                          const struct real_division *d)
{
    struct kal_lines columns = *lines, rows = *lines;

    kal_lines_set_out(&rows, &d->scratch, d->loop_stride);
    rows.in.is_swapped = rows.out.is_swapped = true;
    rows.in.mirror_n = node->n;
    rows.in.mirror_period = d->n1;
    rows.out.twiddle_n = node->n;
    rows.out.twiddle_loop = kal_lines_loop_count(lines);
    KAL_TRY(kal_lines_add_loop(&rows, d->kept, 0, d->n2 * d->scratch.stride));
    kal_lines_divide(&rows, true, node->n, d->n1);
    KAL_TRY(kal_lower(lo, node->child[1], &rows));

    kal_lines_set_in(&columns, &d->scratch, d->loop_stride);
    columns.in.stride *= d->n2;
    KAL_TRY(kal_lines_add_loop(&columns, d->n2, d->scratch.stride, 0));
    kal_lines_divide(&columns, false, node->n, d->n2);
    return kal_lower(lo, node->child[0], &columns);
}

static kallima_status lower_real(struct kal_lowering *lo, const struct kal_recipe *node,
                                 const struct kal_lines *lines)
{
    const int64_t shared_used = lo->shared_used, chunk_used = lo->chunk_used;
    struct real_division d = { .n1 = node->child[0]->n, .n2 = node->child[1]->n };

    if (!lo->caps->language)
        return kal_fail(lo->arena->host, KALLIMA_E_UNSUPPORTED,
                        "plan: a four-step of real lines needs a device of kernels");
    d.kept = d.n1 / 2 + 1;
    KAL_TRY(kal_scratch_take(lo, lines, d.kept * d.n2, &d.scratch, d.loop_stride));
    KAL_TRY((lo->problem->kind == KALLIMA_R2C ? lower_real_forward : lower_real_backward)(
        lo, node, lines, &d));
    lo->shared_used = shared_used;
    lo->chunk_used = chunk_used;
    return KALLIMA_OK;
}

// A phase or a stage is open, or need not be: make both sides plain by copies where they must
// be.
static kallima_status lower_sides(struct kal_lowering *lo, const struct kal_recipe *node,
                                  const struct kal_lines *lines)
{
    const bool in_plain = kal_side_is_plain(&lines->in, node->n);
    const bool out_plain = kal_side_is_plain(&lines->out, node->n);
    const int64_t shared_used = lo->shared_used, chunk_used = lo->chunk_used;
    struct kal_lines middle = *lines;
    struct kal_side scratch;
    int64_t loop_stride[KAL_MAX_LOOPS];

    if (is_real(node))
        return lower_real(lo, node, lines);
    if ((in_plain && out_plain) || kal_recipe_takes_maps(lo, node))
        return lower_direct(lo, node, lines);

    KAL_TRY(kal_scratch_take(lo, lines, node->n, &scratch, loop_stride));
    if (!in_plain) {
        struct kal_lines load = *lines;
        kal_lines_set_out(&load, &scratch, loop_stride);
        KAL_TRY(copy(lo, &load, node->n));
        kal_lines_set_in(&middle, &scratch, loop_stride);
    }
    if (!out_plain)
        kal_lines_set_out(&middle, &scratch, loop_stride);
    KAL_TRY(lower_direct(lo, node, &middle));
    if (!out_plain) {
        struct kal_lines store = *lines;
        kal_lines_set_in(&store, &scratch, loop_stride);
        KAL_TRY(copy(lo, &store, node->n));
    }
    lo->shared_used = shared_used;
    lo->chunk_used = chunk_used;
    return KALLIMA_OK;
}

static bool is_two_passes(const struct kal_recipe *node)
{
    const struct kal_recipe *first = node->child[0];
    return (is_real(node) ? first->child[0] : first)->rule == KAL_RULE_LOCAL &&
           node->child[1]->rule == KAL_RULE_LOCAL;
}

static const struct kal_loop *last_loop(const struct kal_lines *lines)
{
    return &lines->loops[lines->stage_loops + lines->line_loops + lines->inner_loops - 1];
}

// Are lines nearer to each other in memory than their elements?
static bool lines_are_near(const struct kal_lines *lines)
{
    const int64_t step = last_loop(lines)->out, stride = lines->out.stride;
    return (step < 0 ? -step : step) < (stride < 0 ? -stride : stride);
}

int64_t kal_chunk_lines(const struct kal_lowering *lo, const struct kal_lines *lines)
{
    const struct kal_loop *loop = last_loop(lines);
    int64_t chunk = 1;

    if (!lines_are_near(lines))
        return 1;
    for (int64_t d = 2; d <= 2 * lo->caps->transaction_lines; d++) {
        const bool is_enough = chunk >= lo->caps->transaction_lines;
        if (loop->count % d == 0 && !is_enough)
            chunk = d;
    }
    return chunk;
}

// May lines take tickets by chunks? Of neighbours a chunk must be two sectors of memory
// wide: 2049 columns divide into chunks of three.
static bool suits_tickets(const struct kal_lowering *lo, const struct kal_recipe *node,
                          const struct kal_lines *lines, int64_t chunk)
{
    const int64_t scratch = is_real(node) ? node->n / 2 : node->n;
    return is_two_passes(node) && kal_caps_suit_tickets(lo->caps, node->child[0]->n) &&
           kal_caps_suit_tickets(lo->caps, node->child[1]->n) &&
           (chunk > 1 ? 2 * chunk >= lo->caps->transaction_lines
                      : !lines_are_near(lines)) &&
           kal_lines_fit_cache(lo, lines, chunk * kal_line_bytes(lo, scratch));
}

kallima_status kal_lower_four_step(struct kal_lowering *lo, const struct kal_recipe *node,
                                   const struct kal_lines *lines)
{
    struct kal_lines inside;
    kallima_status status;

    if (lo->phase_open)
        return lower_sides(lo, node, lines);
    const int64_t chunk = kal_chunk_lines(lo, lines);
    if (suits_tickets(lo, node, lines, chunk)) {
        KAL_TRY(kal_phase_begin(lo, lines, chunk, false, &inside));
        status = lower_sides(lo, node, &inside);
        kal_phase_end(lo);
        return status;
    }

    // A line and its scratch near one core: line by line, each on one thread.
    if (kal_lines_stay_apart(lo, lines, 2 * kal_line_bytes(lo, node->n))) {
        KAL_TRY(kal_phase_begin_near(lo, node, lines, false, &inside));
        status = lower_sides(lo, node, &inside);
        kal_phase_end(lo);
        return status;
    }
    if (lo->stage_open)
        return lower_sides(lo, node, lines);

    KAL_TRY(kal_stage_begin(lo, lines, kal_lines_at_once(lo, node, lines), &inside));
    status = lower_sides(lo, node, &inside);
    kal_stage_end(lo);
    return status;
}
