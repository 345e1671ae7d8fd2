// SPDX-License-Identifier: MIT
// The rounds of a kernel: which lane holds which elements at each step.
#include "factor/radix.h"
#include "kernel/design.h"

static int64_t unit_lines(const struct kal_kernel *k, enum kal_digit_role role)
{
    const int i = role == KAL_DIGIT_LINE ? 0 : 1;
    return i < k->tile_loops ? k->loop[i].width : 1;
}

static void add_digit(struct kal_round *round, enum kal_digit_role role, int64_t radix)
{
    if (radix > 1)
        round->digit[round->digit_count++] = (struct kal_digit){ role, radix };
}

static void add_line_digits(const struct kal_kernel *k, struct kal_round *round)
{
    add_digit(round, KAL_DIGIT_LINE, unit_lines(k, KAL_DIGIT_LINE));
    add_digit(round, KAL_DIGIT_LINE_SLOW, unit_lines(k, KAL_DIGIT_LINE_SLOW));
}

static void count_units(const struct kal_kernel *k, struct kal_round *round)
{
    round->units = 1;
    for (int i = 0; i < round->digit_count; i++)
        round->units *= round->digit[i].radix;
    round->lane_units = (int)((round->units - 1) / k->lanes + 1);
}

static struct kal_round *add_round(struct kal_kernel *k)
{
    struct kal_round *round = &k->round[k->round_count++];
    round->from_memory = k->round_count == 1;
    round->place = -1;
    return round;
}

static void set_weights(const struct kal_round *round, struct kal_action *action,
                        enum kal_digit_role role, int64_t before, int64_t after,
                        int64_t exponent)
{
    for (int i = 0; i < round->digit_count; i++) {
        if (round->digit[i].role != role)
            continue;
        action->before[i] = before;
        action->after[i] = after;
        action->exponent[i] = exponent;
    }
}

// A round whose units are elements of `rows` rows.
static struct kal_round *add_unit_round(struct kal_kernel *k, int64_t elements,
                                        int64_t rows, bool lines_first,
                                        const struct kal_step *step)
{
    struct kal_round *round = add_round(k);
    round->registers = 1;
    if (lines_first)
        add_line_digits(k, round);
    add_digit(round, KAL_DIGIT_ELEMENT, elements);
    add_digit(round, KAL_DIGIT_BLOCK, rows);
    if (!lines_first)
        add_line_digits(k, round);
    count_units(k, round);

    struct kal_action *action = &round->action[round->action_count++];
    *action = (struct kal_action){ .step = step, .table = -1 };
    set_weights(round, action, KAL_DIGIT_ELEMENT, 1, 1, 0);
    return round;
}

static void add_element_round(struct kal_kernel *k, int64_t elements, bool lines_first)
{
    add_unit_round(k, elements, 1, lines_first, NULL);
}

// A round whose units are an element and the one that mirrors it.
static void add_mirrored_round(struct kal_kernel *k, const struct kal_step *step)
{
    const bool is_split = step->op == KAL_STEP_SPLIT;
    const int64_t m = step->n / 2;
    struct kal_round *round =
        add_unit_round(k, k->extra_span ? k->span : m / 2 + 1, step->outer,
                       kal_side_prefers_lines(k, !is_split), step);
    struct kal_action *action = &round->action[0];

    round->registers = 2;
    round->mirror = m;
    round->rows = step->outer;
    round->plane_rows = step->m;
    set_weights(round, action, KAL_DIGIT_BLOCK, is_split ? m : m + 1,
                is_split ? m + 1 : m, 0);
    action->table = kal_kernel_add_table(k, KAL_TABLE_MIRROR, step->n, step->n / 4 + 1);
}

static struct kal_round *add_dft_round(struct kal_kernel *k, const struct kal_step *step,
                                       bool lines_first)
{
    struct kal_round *round = add_round(k);
    round->registers = step->radix;
    if (lines_first)
        add_line_digits(k, round);
    add_digit(round, KAL_DIGIT_DONE, step->s);
    add_digit(round, KAL_DIGIT_TO_DO, step->m);
    add_digit(round, KAL_DIGIT_BLOCK, step->outer);
    if (!lines_first)
        add_line_digits(k, round);
    count_units(k, round);
    return round;
}

// Factors of few powers are read; the others are products of two of them.
static int step_table(struct kal_kernel *k, const struct kal_step *step)
{
    if (step->m == 1)
        return -1;
    const int powers =
        step->radix >= k->choice.powers_from ? kal_table_powers(step->radix) : 0;
    struct kal_table table = {
        .kind = KAL_TABLE_STEP,
        .n = step->radix * step->m,
        .radix = step->radix,
        .powers = powers,
        .count = step->m * (powers ? kal_round_up(powers, 2) : step->radix - 1),
    };
    for (int i = 0; i < k->table_count; i++) {
        const struct kal_table *t = &k->table[i];
        if (t->kind == table.kind && t->n == table.n && t->radix == table.radix)
            return i;
    }
    k->table[k->table_count] = table;
    return k->table_count++;
}

static struct kal_action dft_action(struct kal_kernel *k, const struct kal_round *round,
                                    const struct kal_step *step)
{
    const int64_t size = step->radix * step->m * step->s;
    struct kal_action action = { .step = step,
                                 .register_before = step->s * step->m,
                                 .register_after = step->s,
                                 .table = step_table(k, step) };
    set_weights(round, &action, KAL_DIGIT_DONE, 1, 1, 0);
    set_weights(round, &action, KAL_DIGIT_TO_DO, step->s, step->s * step->radix, 1);
    set_weights(round, &action, KAL_DIGIT_BLOCK, size, size, 0);
    return action;
}

// Does the step find its elements where the last action of the round left them? Then the
// digits that are done in one are to do in the other.
static bool continues(const struct kal_round *round, const struct kal_step *step)
{
    const struct kal_step *last = NULL;
    for (int i = 0; i < round->action_count; i++) {
        const struct kal_step *s = round->action[i].step;
        last = s && s->op == KAL_STEP_DFT ? s : last;
    }
    return last && round->action_count < KAL_MAX_ACTIONS && last->radix == step->radix &&
           last->m == 1 && step->s == 1 && last->s == step->m &&
           last->outer == step->outer;
}

static struct kal_action continued_action(struct kal_kernel *k,
                                          const struct kal_round *round,
                                          const struct kal_step *step)
{
    const int64_t size = step->radix * step->m;
    struct kal_action action = { .step = step,
                                 .register_before = step->m,
                                 .register_after = 1,
                                 .table = step_table(k, step) };
    set_weights(round, &action, KAL_DIGIT_DONE, 1, step->radix, 1);
    set_weights(round, &action, KAL_DIGIT_BLOCK, size, size, 0);
    return action;
}

// May a mirrored step be done to the registers of a codelet and of the one that mirrors it?
// Neighbouring lanes then touch runs of half the distance of the registers, which must be long.
static bool can_pair(const struct kal_kernel *k, const struct kal_step *dft,
                     const struct kal_step *mirror)
{
    const int64_t run = dft->m * dft->s / 2 * kal_kernel_element_bytes(k);
    return dft->op == KAL_STEP_DFT && dft->outer == 1 && mirror->outer == 1 &&
           !k->is_split && run >= 2 * k->choice.run_bytes &&
           dft->radix <= (k->is_f64 ? KAL_PAIRED_F64 : KAL_PAIRED_F32) &&
           mirror->n == 2 * dft->radix * dft->m * dft->s;
}

static void add_pair_round(struct kal_kernel *k, const struct kal_step *dft,
                           const struct kal_step *mirror)
{
    const bool is_split = mirror->op == KAL_STEP_SPLIT;
    const int64_t distance = dft->m * dft->s; // one of them is 1
    struct kal_round *round = add_round(k);
    struct kal_action *transform = &round->action[is_split ? 0 : 1];
    struct kal_action *mirrored = &round->action[is_split ? 1 : 0];

    round->registers = dft->radix;
    round->pair = distance;
    round->streams = true;
    const bool lines_first = kal_side_prefers_lines(k, !is_split);
    if (lines_first)
        add_line_digits(k, round);
    add_digit(round, KAL_DIGIT_ELEMENT, distance / 2 + distance % 2);
    if (!lines_first)
        add_line_digits(k, round);
    count_units(k, round);

    *transform = (struct kal_action){ .step = dft,
                                      .register_before = distance,
                                      .register_after = is_split ? distance : 1,
                                      .table = step_table(k, dft) };
    set_weights(round, transform, KAL_DIGIT_ELEMENT, 1, is_split ? 1 : dft->radix, 1);
    *mirrored =
        (struct kal_action){ .step = mirror,
                             .register_before = distance,
                             .register_after = distance,
                             .table = kal_kernel_add_table(k, KAL_TABLE_MIRROR, mirror->n,
                                                           mirror->n / 4 + 1) };
    set_weights(round, mirrored, KAL_DIGIT_ELEMENT, 1, 1, 0);
    round->action_count = 2;
}

// Lines that the tile of the last group has beyond the last one of a loop.
static int64_t lines_beyond(const struct kal_kernel *k, int number)
{
    for (int i = 0; i < k->loop_count; i++) {
        const struct kal_group_loop *loop = &k->loop[i];
        if (loop->number == number)
            return loop->blocks * loop->width - loop->count;
    }
    return 0;
}

// The product is taken where the elements are, and of lines that are not there too: rows of
// the table for them cost a lane nothing, where a test or a limit of the index would.
static void add_product(struct kal_kernel *k, const struct kal_step *step)
{
    struct kal_round *round = &k->round[k->round_count - 1];
    const struct kal_action *last = &round->action[round->action_count - 1];
    struct kal_action *action = &round->action[round->action_count++];
    const bool is_rader = step->op == KAL_STEP_RADER;
    const int64_t rows = kal_max(1, step->rows);
    const int64_t beyond = step->rows ? lines_beyond(k, step->row_loop) : 0;
    struct kal_table table = { .kind = is_rader ? KAL_TABLE_RADER : KAL_TABLE_PRODUCT,
                               .n = step->n,
                               .size = is_rader ? step->n - 1 : step->size,
                               .rows = rows };
    table.count = table.size / rows * (rows + beyond);

    *action = (struct kal_action){ .step = step,
                                   .register_before = last->register_after,
                                   .register_after = last->register_after,
                                   .table = k->table_count };
    for (int i = 0; i < round->digit_count; i++)
        action->before[i] = action->after[i] = last->after[i];
    k->table[k->table_count++] = table;
}

// Bytes of memory in one piece that neighbouring lanes of the first or last step touch.
static int64_t run_bytes(const struct kal_kernel *k, const struct kal_step *step,
                         bool is_in)
{
    const int64_t run = is_in ? step->m * step->s : step->s;
    return run * kal_kernel_element_bytes(k);
}

// Shorter runs pass through the tile. In a launch of several passes short ones need not: from
// scratch, which the cache holds, and from the user's arrays where lines are no powers of two.
// Measured on an NVIDIA H200 in November 2026, by timing cubes with and without.
static int64_t least_run(const struct kal_kernel *k, const struct kal_side *side)
{
    enum { CACHE_RUN = 80, SECTOR = 32 };
    const bool is_power = (k->n & (k->n - 1)) == 0;
    const int64_t run = k->choice.run_bytes;
    if (k->is_fused && side->buffer == KAL_BUFFER_CHUNK)
        return kal_min(CACHE_RUN, run);
    return k->is_fused && !is_power ? kal_min(SECTOR, run) : run;
}

static bool needs_staging(const struct kal_kernel *k, bool is_in)
{
    const struct kal_pass *p = k->pass;
    const struct kal_step *step = &p->step[is_in ? 0 : p->step_count - 1];
    const struct kal_side *side = is_in ? &p->in : &p->out;
    const int64_t unit = (is_in ? k->in : k->out).is_vector ? 2 : 1;

    if (is_in ? k->from_cluster : k->to_cluster)
        return false;
    if (step->op != KAL_STEP_DFT || kal_pass_mirrored_rows(p) == 1)
        return false;
    if (k->extra >= 0 || (is_in ? k->in : k->out).is_permuted)
        return true;
    if (kal_side_prefers_lines(k, is_in) || (side->stride != unit && side->stride != 2))
        return false;
    return run_bytes(k, step, is_in) < least_run(k, side);
}

static int64_t dft_size(const struct kal_step *step)
{
    return step->outer * step->radix * step->m * step->s;
}

// Elements from one codelet's first on whose lower ones are a half, and how many these
// are, where the step reads.
static int64_t lower_elements(const struct kal_step *reader)
{
    return kal_lower_registers(reader->radix) * reader->m * reader->s;
}

// Are all registers of a codelet of `a` elements of the same half of those that a codelet
// of `b` reads?
static bool keeps_halves(const struct kal_step *a, const struct kal_step *b)
{
    const int64_t whole = b->radix * b->m * b->s, span = a->s * a->radix;
    return (a->s % whole == 0 && span % whole == 0) ||
           (a->outer == b->outer && lower_elements(b) % span == 0) ||
           (b->outer == 1 && lower_elements(b) % span == 0);
}

bool kal_rounds_can_halve(const struct kal_kernel *k)
{
    const struct kal_pass *pass = k->pass;
    const struct kal_step *last = NULL;
    for (int i = 0; i < pass->step_count; i++) {
        const struct kal_step *step = &pass->step[i];
        const struct kal_step *dft = step->op == KAL_STEP_SPLIT ? step - 1 : step + 1;
        const bool is_mirrored = kal_step_is_mirrored(step);
        const bool is_known =
            step->op == KAL_STEP_PRODUCT ||
            (step->op == KAL_STEP_DFT && (!last || keeps_halves(last, step))) ||
            (is_mirrored && step->outer == 1 && dft->outer == 1 && dft->radix % 2 == 0);
        if (!is_known)
            return false;
        last = step->op == KAL_STEP_DFT ? step : NULL;
    }
    return pass->step_count > 1 && !needs_staging(k, true) && !needs_staging(k, false);
}

static void add_step(struct kal_kernel *k, const struct kal_step *step, bool is_last)
{
    struct kal_round *round = k->round_count ? &k->round[k->round_count - 1] : NULL;
    const bool by_lines = k->lines_are_fast;

    switch (step->op) {
    case KAL_STEP_DFT:
        if (round && !round->to_memory && continues(round, step)) {
            struct kal_action action = continued_action(k, round, step);
            round->action[round->action_count++] = action;
            return;
        }
        round = add_dft_round(k, step,
                              round == NULL ? kal_side_prefers_lines(k, true)
                              : is_last     ? kal_side_prefers_lines(k, false)
                                            : by_lines);
        round->action[0] = dft_action(k, round, step);
        round->action_count = 1;
        return;
    case KAL_STEP_RADER:
    case KAL_STEP_PRODUCT:
        if (!round)
            add_element_round(k, k->span, kal_side_prefers_lines(k, true));
        add_product(k, step);
        return;
    case KAL_STEP_SPLIT:
    case KAL_STEP_MERGE: add_mirrored_round(k, step); return;
    }
}

// Address of register 0 of unit b, as the round writes or reads it.
static int64_t unit_address(const struct kal_kernel *k, const struct kal_round *round,
                            const struct kal_layout *layout, bool is_write, int64_t b)
{
    const struct kal_action *action =
        &round->action[is_write ? round->action_count - 1 : 0];
    int64_t e = 0, line = 0;
    for (int i = 0; i < round->digit_count; i++) {
        const int64_t d = b % round->digit[i].radix;
        b /= round->digit[i].radix;
        e += d * (is_write ? action->after[i] : action->before[i]);
        if (round->digit[i].role >= KAL_DIGIT_LINE)
            line += d * (round->digit[i].role == KAL_DIGIT_LINE
                             ? 1
                             : unit_lines(k, KAL_DIGIT_LINE));
    }
    return kal_layout_index(layout, e) * layout->element + line * layout->line;
}

enum { BANK_BYTES = 128, BANK_LANES = 64 }; // of all banks; lanes that are looked at

static int count_banks(const struct kal_kernel *k)
{
    return BANK_BYTES / (int)kal_kernel_exchanged_bytes(k);
}

// How often the busiest bank is hit, over the first warps.
static int bank_conflicts(const struct kal_kernel *k, const struct kal_round *round,
                          const struct kal_layout *layout, bool is_write)
{
    enum { MOST_BANKS = 32 };
    const int banks = count_banks(k);
    int total = 0;

    for (int64_t first = 0; first < kal_min(BANK_LANES, kal_min(round->units, k->lanes));
         first += banks) {
        int hits[MOST_BANKS] = { 0 }, most = 0;
        for (int64_t b = first; b < kal_min(first + banks, round->units); b++) {
            const int64_t address = unit_address(k, round, layout, is_write, b);
            const int bank = (int)(address % banks);
            hits[bank]++;
            most = (int)kal_max(most, hits[bank]);
        }
        total += most;
    }
    return total;
}

// The same without conflicts.
static int bank_windows(const struct kal_kernel *k, const struct kal_round *round)
{
    const int64_t units = kal_min(BANK_LANES, kal_min(round->units, k->lanes));
    return (int)((units - 1) / count_banks(k) + 1);
}

double kal_kernel_exchange_turns(const struct kal_kernel *k)
{
    double turns = 0.0;
    for (int i = 0; i + 1 < k->round_count; i++) {
        const struct kal_round *writer = &k->round[i], *reader = &k->round[i + 1];
        turns += (double)bank_conflicts(k, writer, &writer->layout, true) /
                 bank_windows(k, writer);
        turns += (double)bank_conflicts(k, reader, &writer->layout, false) /
                 bank_windows(k, reader);
    }
    return turns;
}

// Addresses of the tile that a layout needs.
static int64_t layout_size(const struct kal_kernel *k, const struct kal_layout *layout,
                           int64_t elements)
{
    const int64_t last = elements - 1 - layout->whole + layout->held;
    return kal_layout_index(layout, last) * layout->element +
           (k->lines - 1) * layout->line + 1;
}

static int64_t held_elements(const struct kal_layout *layout, int64_t elements)
{
    return layout->whole ? elements / layout->whole * layout->held : elements;
}

// Pads may take an eighth of what they are put between: so much is counted on.
static bool fits(const struct kal_kernel *k, const struct kal_layout *layout,
                 int64_t elements)
{
    return layout_size(k, layout, elements) <=
           kal_padded_points(held_elements(layout, elements)) * k->lines;
}

// Better pads than those of `best`, if they stand every `block`; 0: nowhere.
static void try_pads(const struct kal_kernel *k, const struct kal_round *writer,
                     const struct kal_round *reader, int64_t elements, int64_t block,
                     struct kal_layout *best, int *least_cost)
{
    enum { MOST_PAD = 16 };

    for (int pad = 0; pad <= (block ? MOST_PAD : 0); pad++) {
        for (int line_pad = 0; line_pad <= (k->lines > 1 ? MOST_PAD : 0); line_pad++) {
            struct kal_layout layout = *best;
            layout.block = block ? block : elements;
            layout.pad = pad;
            layout.element = 1;
            layout.line = 0;
            const int64_t length = layout_size(k, &layout, elements);
            layout.element = k->lines_are_fast ? k->lines + line_pad : 1;
            layout.line = k->lines_are_fast ? 1 : length + line_pad;
            if (!fits(k, &layout, elements))
                continue;
            const int cost = 64 * (bank_conflicts(k, writer, &layout, true) +
                                   bank_conflicts(k, reader, &layout, false)) +
                             pad + line_pad;
            if (*least_cost < 0 || cost < *least_cost) {
                *best = layout;
                *least_cost = cost;
            }
        }
    }
}

// Do the digits of a unit's elements stay within blocks of `block`, or go by whole blocks? Then
// addresses stay linear in them with a pad between blocks. Those of a plane's mirrored step are
// found one by one.
static bool keeps_blocks(const struct kal_round *round, bool is_writer,
                         const struct kal_layout *halves, int64_t block)
{
    if (round->mirror)
        return true;
    const struct kal_action *action =
        &round->action[is_writer ? round->action_count - 1 : 0];
    const int64_t step = kal_layout_index(halves, is_writer ? action->register_after
                                                            : action->register_before);
    int64_t within = step % block ? step * (round->registers - 1) : 0;

    for (int i = 0; i < round->digit_count; i++) {
        const int64_t weight =
            kal_layout_index(halves, is_writer ? action->after[i] : action->before[i]);
        if (round->digit[i].role < KAL_DIGIT_LINE && weight % block)
            within += weight * (round->digit[i].radix - 1);
    }
    return within < block;
}

// Elements between which the pad of an exchange may stand so that addresses stay linear in
// the digits of both rounds, from the largest on below `most`; 0: there is no such place.
static int64_t next_pad_block(const struct kal_round *writer,
                              const struct kal_round *reader,
                              const struct kal_layout *halves, int64_t most)
{
    const struct kal_step *a = writer->action[writer->action_count - 1].step;
    const struct kal_step *b = reader->action[0].step;
    const bool is_plane = writer->rows > 1 || reader->rows > 1;
    if (!a || !b || (!is_plane && (a->op != KAL_STEP_DFT || b->op != KAL_STEP_DFT)))
        return 0;
    if (!is_plane && a->outer == b->outer) // of one line
        return b->s == a->s * a->radix && b->s < most ? b->s : 0;
    int64_t block = kal_min(most, dft_size(b->op == KAL_STEP_DFT ? b : a)) - 1;
    while (block > 1 && !(keeps_blocks(writer, true, halves, block) &&
                          keeps_blocks(reader, false, halves, block)))
        block--;
    return block > 1 ? block : 0;
}

// The lower half of the elements that `reader` reads, if halves are exchanged.
static struct kal_layout halve(const struct kal_kernel *k, const struct kal_round *reader)
{
    struct kal_layout layout = { .block = INT64_MAX };
    if (!k->is_halved)
        return layout;
    layout.whole = reader->mirror ? reader->mirror : dft_size(reader->action[0].step);
    if (!reader->mirror)
        layout.whole /= reader->action[0].step->outer;
    layout.held =
        reader->mirror ? reader->mirror / 2 : lower_elements(reader->action[0].step);
    return layout;
}

// The pads with the fewest conflicts on both sides of an exchange.
static struct kal_layout choose_layout(const struct kal_kernel *k,
                                       const struct kal_round *writer,
                                       const struct kal_round *reader, int64_t elements)
{
    const struct kal_layout halves = halve(k, reader);
    struct kal_layout best = halves;
    int least_cost = -1;
    int64_t block = next_pad_block(writer, reader, &halves, INT64_MAX);

    try_pads(k, writer, reader, elements, block, &best, &least_cost);
    while ((block = next_pad_block(writer, reader, &halves, block)) > 0)
        try_pads(k, writer, reader, elements, block, &best, &least_cost);
    return best;
}

static void design_layouts(struct kal_kernel *k, int64_t elements)
{
    for (int i = 0; i + 1 < k->round_count; i++) {
        struct kal_round *writer = &k->round[i], *reader = &k->round[i + 1];
        writer->layout = choose_layout(k, writer, reader, elements);
        k->tile_elements =
            kal_max(k->tile_elements, layout_size(k, &writer->layout, elements));
    }
}

// A four-step twiddle goes from register to register by equal angles, so that those of a
// unit are products of its first one and of a few powers.
static void add_store_powers(struct kal_kernel *k)
{
    enum { FEW = 4 };
    const struct kal_pass *pass = k->pass;
    const struct kal_round *round = &k->round[k->round_count - 1];
    const struct kal_action *action = &round->action[round->action_count - 1];

    if (!pass->out.twiddle_n || pass->out.index || k->out.is_part || round->mirror ||
        round->pair || round->registers <= FEW)
        return;
    const int powers = kal_table_powers(round->registers);
    const int64_t turns = pass->loops[pass->out.twiddle_loop].count;
    k->out.powers = k->table_count;
    k->table[k->table_count++] =
        (struct kal_table){ .kind = KAL_TABLE_POWERS,
                            .n = pass->out.twiddle_n,
                            .size = action->register_after,
                            .powers = powers,
                            .count = turns * kal_round_up(powers, 2) };
}

// Has a lane several codelets of a last round? One is written while the next one is read, where
// all would be worked first, and written last: measured on an NVIDIA H200 in November 2026, lines
// take up to a quarter less. Passes that take tickets were not tried.
static bool ends_in_codelets(const struct kal_kernel *k, const struct kal_round *round)
{
    const struct kal_step *step = round->action[0].step;
    return round->to_memory && !round->from_memory && !k->is_fused && step &&
           step->op == KAL_STEP_DFT;
}

// Units of a first or last round wait for none of their lane. Pairs of a mirrored step,
// of which a lane has many, each with roots and two places, then need few registers.
// Those that a plane is read in are loaded at once: measured on an NVIDIA H200 in
// November 2026, 46 planes take 0.85 of the time.
static bool is_streamed(const struct kal_kernel *k, const struct kal_round *round)
{
    const bool loads_plane = round->from_memory && round->rows > 1;
    const bool is_mirrored =
        round->mirror && (round->from_memory || round->to_memory) && !loads_plane;
    return round->pair || (round->lane_units > 1 && !k->is_split &&
                           (is_mirrored || ends_in_codelets(k, round)));
}

static void choose_streams(struct kal_kernel *k)
{
    for (int i = 0; i < k->round_count; i++)
        k->round[i].streams = is_streamed(k, &k->round[i]);
}

// Are steps i and i + 1 the first codelet and the mirrored step ahead of it, or the last one
// and the mirrored step behind it?
static bool is_pair(const struct kal_kernel *k, int i)
{
    const struct kal_pass *p = k->pass;
    if (k->extra_span || i + 1 >= p->step_count)
        return false;
    const struct kal_step *a = &p->step[i], *b = &p->step[i + 1];
    return (a->op == KAL_STEP_MERGE && can_pair(k, b, a)) ||
           (b->op == KAL_STEP_SPLIT && can_pair(k, a, b));
}

bool kal_rounds_pair(const struct kal_kernel *k)
{
    for (int i = 0; i < k->pass->step_count; i++) {
        if (is_pair(k, i))
            return true;
    }
    return false;
}

static void add_pair_of_steps(struct kal_kernel *k, int i)
{
    const struct kal_step *a = &k->pass->step[i], *b = &k->pass->step[i + 1];
    if (a->op == KAL_STEP_MERGE)
        add_pair_round(k, b, a);
    else
        add_pair_round(k, a, b);
}

void kal_rounds_design(struct kal_kernel *k, bool has_tile)
{
    const struct kal_pass *p = k->pass;
    const struct kal_step *last = p->step_count ? &p->step[p->step_count - 1] : NULL;
    int64_t elements = k->n;

    k->extra_span = !has_tile;
    k->lines_are_fast =
        kal_side_prefers_lines(k, true) || kal_side_prefers_lines(k, false);
    if (has_tile) {
        elements = 0;
        for (int i = 0; i < p->step_count; i++) {
            if (p->step[i].op == KAL_STEP_DFT)
                elements = kal_max(elements, dft_size(&p->step[i]));
        }
    }

    const int64_t staged = elements + (k->extra >= 0);
    if (!last)
        add_element_round(k, k->span, kal_side_prefers_lines(k, true));
    if (last && needs_staging(k, true))
        add_element_round(k, staged, kal_side_prefers_lines(k, true));
    const bool stage_out = last && needs_staging(k, false);
    for (int i = 0; i < p->step_count; i++) {
        if (is_pair(k, i))
            add_pair_of_steps(k, i++);
        else
            add_step(k, &p->step[i], i == p->step_count - 1 && !stage_out);
    }
    if (stage_out)
        add_element_round(k, staged, kal_side_prefers_lines(k, false));
    k->round[k->round_count - 1].to_memory = true;

    choose_streams(k);
    add_store_powers(k);
    design_layouts(k, elements);
    if (k->extra >= 0) {
        k->extra = k->tile_elements;
        k->tile_elements += k->lines * (k->is_split ? 2 : 1);
    }
    if (has_tile && k->round_count > 1) {
        kal_round_flatten(k, true);
        kal_round_flatten(k, false);
    }
}

void kal_kernel_hand_over(struct kal_kernel *from, struct kal_kernel *to)
{
    enum { MOST_PAD = 16 };
    int least = -1;

    // Neighbouring lanes write neighbouring lines, which are elements there, or the reverse:
    // they shall write neighbouring places.
    const bool by_lines = kal_side_prefers_lines(from, false);
    for (int pad = 0; pad <= MOST_PAD; pad++) {
        struct kal_layout layout = { .block = to->n, .element = 1, .line = to->n + pad };
        if (!by_lines)
            layout = (struct kal_layout){ .block = to->n,
                                          .element = to->lines + pad,
                                          .line = 1 };
        const int conflicts = bank_conflicts(to, &to->round[0], &layout, false);
        if (!fits(to, &layout, to->n) || (least >= 0 && conflicts >= least))
            continue;
        least = conflicts;
        to->cluster_layout = layout;
    }
    to->tile_elements =
        kal_max(to->tile_elements, layout_size(to, &to->cluster_layout, to->n));
    from->cluster_layout = to->cluster_layout;
    from->cluster_lines = to->lines;
}
