// SPDX-License-Identifier: MIT
// What rounds do to registers, and how these change lanes through the tile.
#include "emit/printer.h"

#include <stdio.h>
#include <string.h>

// Products with roots: all of them from the table, or those of a few powers.
void kal_print_step_twiddle(struct kal_printer *p, const char *v,
                            const struct kal_table *table)
{
    const int64_t m = table->n / table->radix;
    enum { LOW = 4 };

    if (!table->powers) {
        kal_line(p, "UNROLL for (int j = 1; j < %d; j++)", table->radix);
        kal_line(p, "    %s[j] = multiply(%s[j], ROOT(%lld + (j - 1) * %lld + turn));", v,
                 v, (long long)table->at, (long long)m);
        return;
    }
    for (int i = 0; i < table->powers; i += 2)
        kal_line(p, "TWO_ROOTS(w%d, w%d, %lld + turn * 2)", kal_table_power(i),
                 kal_table_power(i + 1), (long long)(table->at + i * m));
    for (int j = 1; j < table->radix; j++) {
        const int high = j / LOW * LOW, low = j % LOW;
        if (high && low)
            kal_line(p, "%s[%d] = multiply(%s[%d], multiply(w%d, w%d));", v, j, v, j,
                     high, low);
        else
            kal_line(p, "%s[%d] = multiply(%s[%d], w%d);", v, j, v, j, j);
    }
}

static void print_turn(struct kal_printer *p, const struct kal_round *round,
                       const struct kal_action *action)
{
    struct kal_sum s = { "", 0 };
    for (int i = 0; i < round->digit_count; i++)
        kal_sum_add(&s, kal_digit_names[round->digit[i].role], action->exponent[i]);
    kal_line(p, "const int turn = %s;", kal_sum_text(&s));
}

static void print_product(struct kal_printer *p, int number,
                          const struct kal_round *round, const struct kal_action *action,
                          const char *element)
{
    const struct kal_table *table = &p->k->table[action->table];
    const char *u = kal_unit_name(round);
    char row[128] = "", loop[96];

    if (table->rows > 1)
        snprintf(row, sizeof row, " + %s * %lld",
                 kal_numbered_loop_text(p->k, action->step->row_loop, loop, sizeof loop),
                 (long long)(table->size / table->rows));
    kal_line(p, "UNROLL for (int j = 0; j < %d; j++)", round->registers);
    kal_line(
        p,
        "    v%d[%s][j] = exchange(multiply(v%d[%s][j], ROOT(%lld%s + %s + j * %lld)));",
        number, u, number, u, (long long)table->at, row, element,
        (long long)action->register_before);
}

// Element n-1, and the sum of all in its place; its parts lie apart in a tile of parts.
static void print_first(struct kal_printer *p, int number, const char *u)
{
    const long long lines = p->k->lines;
    if (!p->k->is_split) {
        kal_line(p, "first = tile[at];");
        kal_line(p, "tile[at] = exchange(add(first, v%d[%s][0]));", number, u);
        return;
    }
    kal_line(p, "first = MAKE(tile[at], tile[at + %lld]);", lines);
    kal_line(p, "const C sum = exchange(add(first, v%d[%s][0]));", number, u);
    kal_line(p, "tile[at] = sum.x;");
    kal_line(p, "tile[at + %lld] = sum.y;", lines);
}

// The sum of all elements goes to element n-1, element n-1 into all.
static void print_rader(struct kal_printer *p, int number, const struct kal_round *round,
                        const struct kal_action *action, const char *element)
{
    const struct kal_kernel *k = p->k;
    const char *u = kal_unit_name(round);

    kal_line(p, "C first = MAKE(ZERO, ZERO);");
    if (k->extra_span) {
        char bounds[256], at[64], text[256];
        kal_bounds_text(k, round, bounds, sizeof bounds);
        snprintf(at, sizeof at, "in_line + %lld",
                 (long long)((k->n - 1) * k->pass->in.stride / kal_access_unit(k, true)));
        kal_line(p, "if (%s == 0%s%s) {", element, bounds[0] ? " && " : "", bounds);
        p->depth++;
        kal_print_line_start(p, round, true);
        kal_print_line_start(p, round, false);
        kal_line(p, "first = %s;", kal_load_text(k, text, sizeof text, at));
        kal_line(p, "const C x = exchange(add(first, v%d[%s][0]));", number, u);
        snprintf(
            at, sizeof at, "out_line + %lld",
            (long long)((k->n - 1) * k->pass->out.stride / kal_access_unit(k, false)));
        kal_print_store(p, at, "x");
        kal_close(p);
    } else {
        struct kal_sum lines = { "", 0 };
        for (int i = 0; i < round->digit_count; i++) {
            if (kal_digit_is_line(&round->digit[i]))
                kal_sum_add(&lines, kal_digit_names[round->digit[i].role],
                            kal_digit_lines(k, &round->digit[i]));
        }
        kal_line(p, "if (%s == 0) {", element);
        p->depth++;
        kal_line(p, "const int at = %lld + %s;", (long long)k->extra,
                 kal_sum_text(&lines));
        print_first(p, number, u);
        kal_close(p);
    }
    print_product(p, number, round, action, element);
    kal_line(p, "v%d[%s][0] = add(v%d[%s][0], exchange(first));", number, u, number, u);
}

static void print_mirror(struct kal_printer *p, int number, const struct kal_round *round,
                         const struct kal_action *action)
{
    const char *u = kal_unit_name(round);
    kal_line(p, "const C root = ROOT(%lld + %s);",
             (long long)p->k->table[action->table].at, kal_mirror_name(round));
    // Coefficients 0 and n/2 of a line are real, whatever is there.
    if (!kal_round_is_split(round) && round->rows == 1)
        kal_line(p, "if (element_index == 0) v%d[%s][0].y = v%d[%s][1].y = ZERO;", number,
                 u, number, u);
    kal_line(p, "%s(v%d[%s], root);", kal_round_is_split(round) ? "split" : "merge",
             number, u);
}

static void print_action(struct kal_printer *p, int number, int i)
{
    const struct kal_round *round = &p->k->round[number];
    const struct kal_action *action = &round->action[i];
    const char *u = kal_unit_name(round);
    char element[520], v[32];

    if (!action->step)
        return;
    const struct kal_sum s = kal_element_sum(p->k, round, action->before);
    snprintf(element, sizeof element, "(%s)", kal_sum_text(&s));
    kal_open(p, "");
    switch (action->step->op) {
    case KAL_STEP_DFT:
        snprintf(v, sizeof v, "v%d[%s]", number, u);
        kal_line(p, "dft%d(%s);", action->step->radix, v);
        if (action->table >= 0) {
            print_turn(p, round, action);
            kal_print_step_twiddle(p, v, &p->k->table[action->table]);
        }
        break;
    case KAL_STEP_PRODUCT: print_product(p, number, round, action, element); break;
    case KAL_STEP_RADER: print_rader(p, number, round, action, element); break;
    case KAL_STEP_SPLIT:
    case KAL_STEP_MERGE:
        kal_print_element_index(p, round, action->before);
        print_mirror(p, number, round, action);
        break;
    }
    kal_close(p);
}

static bool has_idle_lanes(const struct kal_kernel *k)
{
    bool has = false;
    for (int i = 0; i < k->round_count; i++)
        has = has || k->round[i].units % k->lanes != 0;
    return has;
}

// NVIDIA's compiler, where it sees a branch further on, loads numbers just before they are used, so
// that a lane waits for one after the other. Measured on an NVIDIA H200 in November 2026, by
// timing lengths with and without the condition: where all lanes always work, and between tickets,
// it costs more than it gains; elsewhere lines take down to half of the time.
static bool awaits_loads(const struct kal_kernel *k, const struct kal_round *round)
{
    return round->from_memory && !k->is_fused && has_idle_lanes(k);
}

static void print_actions(struct kal_printer *p, int number)
{
    const struct kal_round *round = &p->k->round[number];
    const bool awaits = awaits_loads(p->k, round);
    bool acts = false;
    for (int i = 0; i < round->action_count; i++)
        acts = acts || round->action[i].step;
    if (!acts)
        return;
    if (awaits)
        kal_open(p, "WHEN_LOADED ");
    kal_open_units(p, round);
    // A pair or a Rader product beyond the last line or element must not be worked.
    bool is_bounded = false;
    if (p->k->extra_span)
        kal_print_element_index(p, round, round->action[0].before);
    if (p->k->extra_span)
        kal_open_bounds(p, round, &is_bounded);
    for (int i = 0; i < round->action_count; i++)
        print_action(p, number, i);
    if (is_bounded)
        kal_close(p);
    kal_close_units(p, round);
    if (awaits)
        kal_close(p);
}

void kal_add_line_terms(const struct kal_kernel *k, const struct kal_round *round,
                        const struct kal_layout *layout, struct kal_sum *s)
{
    for (int i = 0; i < round->digit_count; i++) {
        if (kal_digit_is_line(&round->digit[i]))
            kal_sum_add(s, kal_digit_names[round->digit[i].role],
                        kal_digit_lines(k, &round->digit[i]) * layout->line);
    }
}

// Address in the tile of element e, for rounds whose elements are no linear form.
static void print_tile_place(struct kal_printer *p, const struct kal_round *round,
                             const struct kal_layout *layout)
{
    const struct kal_kernel *k = p->k;
    struct kal_sum s = { "", 0 };
    char e[96] = "e";

    if (layout->pad)
        snprintf(e, sizeof e, "(e + e / %lld * %lld)", (long long)layout->block,
                 (long long)layout->pad);
    kal_sum_add(&s, e, layout->element);
    kal_add_line_terms(k, round, layout, &s);
    if (k->extra < 0) {
        kal_line(p, "const int at = %s;", kal_sum_text(&s));
        return;
    }
    struct kal_sum lines = { "", 0 };
    const struct kal_layout extra = { .block = 1, .element = 1, .line = 1 };
    kal_add_line_terms(k, round, &extra, &lines);
    kal_line(p, "const int at = e == %lld ? %lld + %s : %s;", (long long)k->n - 1,
             (long long)k->extra, kal_sum_text(&lines), kal_sum_text(&s));
}

// Where a number of a tile is, `at` being its place: the second part of element n-1 of
// Rader's, which stays while others are exchanged, is behind the first parts of these.
static void write_tile_place(const struct kal_kernel *k, const char *part, char *out,
                             size_t capacity)
{
    if (k->extra >= 0 && strcmp(part, ".y") == 0)
        snprintf(out, capacity, "tile[at < %lld ? at : at + %lld]", (long long)k->extra,
                 (long long)k->lines);
    else
        snprintf(out, capacity, "tile[at]");
}

enum half { BOTH_HALVES, LOWER_HALF, UPPER_HALF };

// What is exchanged at once: numbers or parts of them, of all elements of lines or of half of them.
struct turn {
    const char *part; // "", ".x" or ".y"
    enum half half;
    // LOWER_HALF, UPPER_HALF: the first element of the upper half, among those of each `whole`.
    int64_t bound, whole;
};

static const struct turn all_at_once = { "", BOTH_HALVES, 0, 0 };

static void print_exchanged(struct kal_printer *p, const char *tile, int number,
                            bool is_write, const struct turn *turn)
{
    char value[64];
    snprintf(value, sizeof value, "v%d[%s][j]%s", number,
             kal_unit_name(&p->k->round[number]), turn->part);
    kal_line(p, "%s = %s;", is_write ? tile : value, is_write ? value : tile);
}

// Where a unit writes, counted from the first of `whole` elements.
static struct kal_sum sum_within(const struct kal_round *round, int64_t whole)
{
    const int64_t *weights = kal_round_last_action(round)->after;
    struct kal_sum s = { "", 0 };
    for (int i = 0; i < round->digit_count; i++) {
        if (!kal_digit_is_line(&round->digit[i]) && weights[i] % whole)
            kal_sum_add(&s, kal_digit_names[round->digit[i].role], weights[i]);
    }
    return s;
}

// Of the registers of a codelet those of the half, which are a part of all where each
// unit has some: where they are read, and where the mirrored step reads them. Else all
// are of the half that the unit is in.
static void open_half(struct kal_printer *p, int number, bool is_write,
                      const struct turn *turn)
{
    const struct kal_round *round = &p->k->round[number];
    const bool is_part = !is_write || p->k->round[number + 1].mirror;
    const bool is_upper = turn->half == UPPER_HALF;
    const int lower = kal_lower_registers(round->registers);
    char head[640];

    if (is_part) {
        snprintf(head, sizeof head, "UNROLL for (int j = %d; j < %d; j++) ",
                 is_upper ? lower : 0, is_upper ? round->registers : lower);
    } else {
        const struct kal_sum s = sum_within(round, turn->whole);
        snprintf(head, sizeof head,
                 "if (%s %s %lld) UNROLL for (int j = 0; j < %d; j++) ", kal_sum_text(&s),
                 is_upper ? ">=" : "<", (long long)turn->bound, round->registers);
    }
    kal_open(p, head);
}

// Place of the first element of the half in the tile of all.
static int64_t first_place(const struct kal_layout *layout, const struct turn *turn)
{
    return turn->half == UPPER_HALF
               ? kal_layout_index(layout, turn->bound) * layout->element
               : 0;
}

static void print_codelets(struct kal_printer *p, int number,
                           const struct kal_layout *layout, bool is_write,
                           const struct turn *turn)
{
    const struct kal_kernel *k = p->k;
    const struct kal_round *round = &k->round[number];
    const struct kal_action *action =
        is_write ? kal_round_last_action(round) : &round->action[0];
    const int64_t *weights = is_write ? action->after : action->before;
    const int64_t step = is_write ? action->register_after : action->register_before;
    const int64_t first = first_place(layout, turn);
    struct kal_sum s = { "", 0 };
    char tile[96], less[32] = "";

    for (int i = 0; i < round->digit_count; i++) {
        if (!kal_digit_is_line(&round->digit[i]))
            kal_sum_add(&s, kal_digit_names[round->digit[i].role],
                        kal_layout_index(layout, weights[i]) * layout->element);
    }
    kal_add_line_terms(k, round, layout, &s);
    if (first)
        snprintf(less, sizeof less, " - %lld", (long long)first);
    kal_line(p, "const int at = %s%s;", kal_sum_text(&s), less);
    if (turn->half == BOTH_HALVES)
        kal_open_registers(p, round);
    else
        open_half(p, number, is_write, turn);
    snprintf(tile, sizeof tile, "tile[at + j * %lld]",
             (long long)(kal_layout_index(layout, step) * layout->element));
    print_exchanged(p, tile, number, is_write, turn);
    kal_close(p);
}

// An element is in the lower half, the one that mirrors it in the upper one; but those
// that mirror themselves are both of one. Numbers are loaded under no condition, as some
// compilers keep in memory what is.
static void print_mirrored_half(struct kal_printer *p, int number,
                                const struct kal_layout *layout, const struct turn *turn)
{
    const struct kal_round *round = &p->k->round[number];
    const char *u = kal_unit_name(round);
    const long long bound = turn->bound;

    kal_print_element_index(p, round, round->action[0].before);
    if (turn->half == LOWER_HALF) {
        kal_line(p, "const int e = element_index < %lld ? element_index : 0;", bound);
        print_tile_place(p, round, layout);
        kal_line(p, "v%d[%s][0]%s = tile[at];", number, u, turn->part);
        return;
    }
    kal_line(p, "const int e = element_index > 0 ? %lld - element_index : %lld;",
             (long long)round->mirror, bound);
    print_tile_place(p, round, layout);
    kal_line(p, "const R part = tile[at - %lld];", (long long)first_place(layout, turn));
    kal_line(p, "v%d[%s][1]%s = element_index > 0 ? part : v%d[%s][0]%s;", number, u,
             turn->part, number, u, turn->part);
    kal_line(p, "v%d[%s][0]%s = element_index < %lld ? v%d[%s][0]%s : part;", number, u,
             turn->part, bound, number, u, turn->part);
}

// Of the elements that a mirrored step writes those of the half.
static bool open_written(struct kal_printer *p, const struct turn *turn)
{
    char head[64];
    if (turn->half == BOTH_HALVES)
        return false;
    snprintf(head, sizeof head, "if (e %s %lld) ", turn->half == UPPER_HALF ? ">=" : "<",
             (long long)turn->bound);
    kal_open(p, head);
    return true;
}

// An element a unit, or two that mirror each other.
static void print_elements(struct kal_printer *p, int number,
                           const struct kal_layout *layout, bool is_write,
                           const struct turn *turn)
{
    const struct kal_kernel *k = p->k;
    const struct kal_round *round = &k->round[number];
    const bool is_permuted = is_write ? k->in.is_permuted : k->out.is_permuted;
    char tile[80];

    if (!is_write && turn->half != BOTH_HALVES) {
        print_mirrored_half(p, number, layout, turn);
        return;
    }
    kal_print_element_index(p, round,
                            is_write ? kal_round_last_action(round)->after
                                     : round->action[0].before);
    kal_open_registers(p, round);
    if (round->mirror)
        kal_print_mirrored_element(p, round, true);
    else if (is_permuted)
        kal_line(p, "const int e = MAP(%lld + element_index);",
                 (long long)kal_table_at(k, is_write ? k->in.index : k->out.index));
    else
        kal_line(p, "const int e = element_index;");
    print_tile_place(p, round, layout);
    if (turn->half == UPPER_HALF)
        snprintf(tile, sizeof tile, "tile[at - %lld]",
                 (long long)first_place(layout, turn));
    else
        write_tile_place(k, turn->part, tile, sizeof tile);
    const bool is_open = is_write && round->mirror && kal_open_mirrored(p, round);
    const bool is_half = open_written(p, turn);
    print_exchanged(p, tile, number, is_write, turn);
    if (is_half)
        kal_close(p);
    if (is_open)
        kal_close(p);
    kal_close(p);
}

static void print_flat(struct kal_printer *p, int number, bool is_write,
                       const struct turn *turn)
{
    const struct kal_round *round = &p->k->round[number];
    char tile[80];

    kal_line(p, "const int at = MAP(%lldu + unit);",
             (long long)kal_table_at(p->k, round->place));
    kal_open_registers(p, round);
    write_tile_place(p->k, turn->part, tile, sizeof tile);
    print_exchanged(p, tile, number, is_write, turn);
    kal_close(p);
}

// Write registers to the tile or read them.
static void print_tile_access(struct kal_printer *p, int number,
                              const struct kal_layout *layout, bool is_write,
                              const struct turn *turn)
{
    const struct kal_round *round = &p->k->round[number];

    kal_open_units(p, round);
    if (round->place >= 0)
        print_flat(p, number, is_write, turn);
    else if (round->registers == 1 || round->mirror)
        print_elements(p, number, layout, is_write, turn);
    else
        print_codelets(p, number, layout, is_write, turn);
    kal_close_units(p, round);
}

static int list_turns(const struct kal_kernel *k, const struct kal_layout *layout,
                      struct turn turn[4])
{
    static const char *const parts[] = { ".x", ".y" };
    int count = 0;

    if (!k->is_split) {
        turn[count++] = all_at_once;
        return count;
    }
    for (int i = 0; i < 2; i++) {
        if (!k->is_halved) {
            turn[count++] = (struct turn){ parts[i], BOTH_HALVES, 0, 0 };
            continue;
        }
        turn[count++] =
            (struct turn){ parts[i], LOWER_HALF, layout->held, layout->whole };
        turn[count++] =
            (struct turn){ parts[i], UPPER_HALF, layout->held, layout->whole };
    }
    return count;
}

static void print_exchange(struct kal_printer *p, int number)
{
    const struct kal_kernel *k = p->k;
    const struct kal_layout *layout = &k->round[number].layout;
    struct turn turn[4];
    const int count = list_turns(k, layout, turn);

    for (int i = 0; i < count; i++) {
        if (number > 0 || i > 0 || k->from_cluster)
            kal_line(p, "BARRIER;");
        if (!k->round[number].streams)
            print_tile_access(p, number, layout, true, &turn[i]);
        // What other lanes have read, from here on any lane may overwrite.
        kal_line(p, k->pass->is_in_place && number == 0 && i == 0 ? "BARRIER_ALL;"
                                                                  : "BARRIER;");
        if (!k->round[number + 1].streams)
            print_tile_access(p, number + 1, layout, false, &turn[i]);
    }
}

static void print_round_comment(struct kal_printer *p, int number)
{
    const struct kal_round *round = &p->k->round[number];
    static const char *const names[] = { "radix", "Rader", "product", "split", "merge" };
    struct kal_sum s = { "", 0 };

    for (int i = 0; i < round->action_count; i++) {
        const struct kal_step *step = round->action[i].step;
        char name[48];
        if (!step)
            continue;
        if (step->op == KAL_STEP_DFT)
            snprintf(name, sizeof name, "radix %d", step->radix);
        else
            snprintf(name, sizeof name, "%s", names[step->op]);
        kal_sum_add(&s, name, 1);
    }
    kal_line(p, "// Round %d: %s%s%s", number + 1, round->from_memory ? "memory -> " : "",
             s.length ? s.data : "copy", round->to_memory ? " -> memory" : "");
}

// A register that not every lane sets seems to be kept from the start of the kernel, or in the
// loop over tickets from the one before: it would be nobody else's in between.
static bool needs_zero(const struct kal_printer *p, const struct kal_round *round)
{
    const struct kal_kernel *k = p->k;
    char bounds[256];

    if (round->is_flat && round->from_memory && p->dialect->loads_always)
        return false;
    kal_bounds_text(k, round, bounds, sizeof bounds);
    return (k->is_fused || round->is_flat) &&
           ((round->from_memory && bounds[0]) ||
            round->units < (int64_t)round->lane_units * k->lanes);
}

static void print_registers(struct kal_printer *p, int number)
{
    const struct kal_round *round = &p->k->round[number];
    const int units = round->streams ? 1 : round->lane_units;

    kal_line(p, "C v%d[%d][%d];", number, units, round->registers);
    if (!needs_zero(p, round))
        return;
    kal_line(p, "UNROLL for (int j = 0; j < %d; j++)", units * round->registers);
    kal_line(p, "    v%d[j / %d][j %% %d] = MAKE(ZERO, ZERO);", number, round->registers,
             round->registers);
}

// All that is done to a unit in one loop, up to the exchange.
static void print_stream(struct kal_printer *p, int number)
{
    const struct kal_kernel *k = p->k;
    const struct kal_round *round = &k->round[number];

    kal_open_units(p, round);
    p->is_in_units = true;
    print_registers(p, number);
    if (round->from_memory)
        kal_print_load(p, number);
    else
        print_tile_access(p, number, &k->round[number - 1].layout, false, &all_at_once);
    print_actions(p, number);
    if (round->to_memory)
        kal_print_memory_store(p, number);
    else
        print_tile_access(p, number, &round->layout, true, &all_at_once);
    p->is_in_units = false;
    kal_close_units(p, round);
}

static void print_round(struct kal_printer *p, int number)
{
    const struct kal_round *round = &p->k->round[number];
    if (round->pair) {
        kal_print_pair(p, number);
        return;
    }
    if (round->streams) {
        print_stream(p, number);
        return;
    }
    if (round->from_memory) {
        print_registers(p, number);
        if (p->k->from_cluster)
            print_tile_access(p, number, &p->k->cluster_layout, false, &all_at_once);
        else
            kal_print_load(p, number);
    }
    print_actions(p, number);
    if (round->to_memory)
        kal_print_memory_store(p, number);
}

void kal_print_body(struct kal_printer *p)
{
    const struct kal_kernel *k = p->k;
    for (int i = 0; i < k->round_count; i++) {
        kal_text_add(p->text, "\n");
        print_round_comment(p, i);
        if (k->round[i].to_memory)
            kal_print_next_ticket(p);
        print_round(p, i);
        if (k->round[i].to_memory)
            continue;
        if (!k->round[i + 1].streams)
            print_registers(p, i + 1);
        print_exchange(p, i);
    }
}
