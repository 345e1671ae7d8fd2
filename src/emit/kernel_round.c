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
    const struct kal_layout extra = { 1, 0, 1, 1 };
    kal_add_line_terms(k, round, &extra, &lines);
    kal_line(p, "const int at = e == %lld ? %lld + %s : %s;", (long long)k->n - 1,
             (long long)k->extra, kal_sum_text(&lines), kal_sum_text(&s));
}

// Where a number of a tile is, `at` being its place: the second part of element n-1 of Rader's, which
// stays while others are exchanged, is behind the first parts of these.
static void write_tile_place(const struct kal_kernel *k, const char *part, char *out,
                             size_t capacity)
{
    if (k->extra >= 0 && strcmp(part, ".y") == 0)
        snprintf(out, capacity, "tile[at < %lld ? at : at + %lld]", (long long)k->extra,
                 (long long)k->lines);
    else
        snprintf(out, capacity, "tile[at]");
}

// Write registers to the tile or read them; `part` is "", ".x" or ".y".
static void print_tile_access(struct kal_printer *p, int number,
                              const struct kal_layout *layout, bool is_write,
                              const char *part)
{
    const struct kal_kernel *k = p->k;
    const struct kal_round *round = &k->round[number];
    const struct kal_action *action =
        is_write ? kal_round_last_action(round) : &round->action[0];
    const int64_t *weights = is_write ? action->after : action->before;
    const char *u = kal_unit_name(round);
    char tile[80], value[64];

    kal_open_units(p, round);
    if (round->place >= 0) {
        kal_line(p, "const int at = MAP(%lldu + unit);",
                 (long long)kal_table_at(k, round->place));
        kal_open_registers(p, round);
        write_tile_place(k, part, tile, sizeof tile);
    } else if (round->registers == 1 || round->mirror) {
        const bool is_permuted = is_write ? k->in.is_permuted : k->out.is_permuted;
        kal_print_element_index(p, round, weights);
        kal_open_registers(p, round);
        if (round->mirror)
            kal_print_mirrored_element(p, round, true);
        else if (is_permuted)
            kal_line(p, "const int e = MAP(%lld + element_index);",
                     (long long)kal_table_at(k, is_write ? k->in.index : k->out.index));
        else
            kal_line(p, "const int e = element_index;");
        print_tile_place(p, round, layout);
        write_tile_place(k, part, tile, sizeof tile);
    } else {
        struct kal_sum s = { "", 0 };
        for (int i = 0; i < round->digit_count; i++) {
            if (!kal_digit_is_line(&round->digit[i]))
                kal_sum_add(&s, kal_digit_names[round->digit[i].role],
                            kal_layout_index(layout, weights[i]) * layout->element);
        }
        kal_add_line_terms(k, round, layout, &s);
        kal_line(p, "const int at = %s;", kal_sum_text(&s));
        kal_open_registers(p, round);
        snprintf(
            tile, sizeof tile, "tile[at + j * %lld]",
            (long long)(kal_layout_index(layout, is_write ? action->register_after
                                                          : action->register_before) *
                        layout->element));
    }
    snprintf(value, sizeof value, "v%d[%s][j]%s", number, u, part);
    const bool is_open = is_write && round->mirror && kal_open_mirrored(p, round);
    kal_line(p, "%s = %s;", is_write ? tile : value, is_write ? value : tile);
    if (is_open)
        kal_close(p);
    kal_close(p);
    kal_close_units(p, round);
}

static void print_exchange(struct kal_printer *p, int number)
{
    static const char *const whole[] = { "" }, *const parts[] = { ".x", ".y" };
    const struct kal_kernel *k = p->k;
    const struct kal_layout *layout = &k->round[number].layout;
    const char *const *part = k->is_split ? parts : whole;
    const int count = k->is_split ? 2 : 1;

    for (int i = 0; i < count; i++) {
        if (number > 0 || i > 0 || k->from_cluster)
            kal_line(p, "BARRIER;");
        if (!k->round[number].streams)
            print_tile_access(p, number, layout, true, part[i]);
        // What other lanes have read, from here on any lane may overwrite.
        kal_line(p, k->pass->is_in_place && number == 0 && i == 0 ? "BARRIER_ALL;"
                                                                  : "BARRIER;");
        if (!k->round[number + 1].streams)
            print_tile_access(p, number + 1, layout, false, part[i]);
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
        print_tile_access(p, number, &k->round[number - 1].layout, false, "");
    print_actions(p, number);
    if (round->to_memory)
        kal_print_memory_store(p, number);
    else
        print_tile_access(p, number, &round->layout, true, "");
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
            print_tile_access(p, number, &p->k->cluster_layout, false, "");
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
