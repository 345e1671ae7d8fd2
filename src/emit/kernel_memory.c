// SPDX-License-Identifier: MIT
// The first and the last round: elements from memory to registers and back.
#include "emit/printer.h"

#include <limits.h>
#include <stdio.h>

static int64_t loop_stride(const struct kal_group_loop *loop, bool is_in)
{
    return is_in ? loop->in : loop->out;
}

// A side whose elements need more than an address.
static bool is_plain(const struct kal_kernel *k, bool is_in, int64_t elements)
{
    const struct kal_side *side = kal_side_of(k, is_in);
    return !side->index && side->count >= elements && !side->chirp_n &&
           !side->twiddle_n && !side->gap && !kal_access_of(k, is_in)->is_part &&
           !(k->to_cluster && !is_in);
}

// The first element of the group's tile on one side: `in_start` or `out_start`.
void kal_print_start(struct kal_printer *p, bool is_in)
{
    const struct kal_kernel *k = p->k;
    const struct kal_side *side = kal_side_of(k, is_in);
    const int64_t unit = kal_access_unit(k, is_in);
    struct kal_sum s = { "", 0 };
    char name[48];

    snprintf(name, sizeof name, "CAST(INDEX, %lld)", (long long)(side->offset / unit));
    kal_sum_add(&s, name, 1);
    if (side->buffer == KAL_BUFFER_CHUNK)
        kal_sum_add(&s, "CAST(INDEX, slot)", p->set->slot_reals / unit);
    for (int i = 0; i < k->line_loop_count && side->buffer != KAL_BUFFER_CHUNK; i++) {
        snprintf(name, sizeof name, "CAST(INDEX, row%d)", i);
        kal_sum_add(&s, name, loop_stride(&k->line_loop[i], is_in) / unit);
    }
    for (int i = 0; i < k->loop_count; i++) {
        if (k->loop[i].number < 0)
            continue;
        snprintf(name, sizeof name, "CAST(INDEX, group%d)", i);
        kal_sum_add(&s, name, loop_stride(&k->loop[i], is_in) / unit * k->loop[i].width);
    }
    kal_line(p, "const INDEX %s_start = %s;", is_in ? "in" : "out", kal_sum_text(&s));
}

// Where the unit's line starts, as `NAME_line`.
void kal_print_line_start(struct kal_printer *p, const struct kal_round *round,
                          bool is_in)
{
    const struct kal_kernel *k = p->k;
    const char *name = is_in ? "in" : "out";
    struct kal_sum s = { "", 0 };
    char base[32];

    snprintf(base, sizeof base, "%s_start", name);
    kal_sum_add(&s, base, 1);
    for (int i = 0; i < round->digit_count; i++) {
        const struct kal_digit *digit = &round->digit[i];
        char term[48];
        if (!kal_digit_is_line(digit))
            continue;
        snprintf(term, sizeof term, "CAST(INDEX, %s)", kal_digit_names[digit->role]);
        kal_sum_add(&s, term,
                    loop_stride(kal_digit_loop(k, digit), is_in) /
                        kal_access_unit(k, is_in));
    }
    kal_line(p, "const INDEX %s_line = %s;", name, kal_sum_text(&s));
}

// Address in memory of the unit's elements: those of register 0.
static void print_unit_address(struct kal_printer *p, bool is_in)
{
    const struct kal_kernel *k = p->k;
    const int64_t stride = kal_side_of(k, is_in)->stride / kal_access_unit(k, is_in);
    const char *name = is_in ? "in" : "out";
    kal_line(p, "const INDEX at = %s_line + CAST(INDEX, element_index) * %lld;", name,
             (long long)stride);
}

static void print_element(struct kal_printer *p, const struct kal_round *round,
                          bool is_in)
{
    const struct kal_action *action =
        is_in ? &round->action[0] : kal_round_last_action(round);
    if (round->mirror)
        kal_print_mirrored_element(p, round, is_in == kal_round_is_split(round));
    else
        kal_line(p, "const int e = element_index + j * %lld;",
                 (long long)(is_in ? action->register_before : action->register_after));
}

static int64_t side_elements(const struct kal_kernel *k, const struct kal_round *round)
{
    return round->mirror || k->extra_span ? k->n
                                          : round->units / k->lines * round->registers;
}

// Registers of a unit of which some element is below the side's count.
static int present_registers(const struct kal_kernel *k, const struct kal_round *round,
                             bool is_in)
{
    const struct kal_side *side = kal_side_of(k, is_in);
    const int64_t step =
        side->map_step * (is_in ? round->action[0].register_before
                                : kal_round_last_action(round)->register_after);
    if (round->mirror || step == 0 || side->count / step >= round->registers)
        return round->registers;
    return (int)((side->count - 1) / step + 1);
}

static void open_present(struct kal_printer *p, int present)
{
    char head[96];
    snprintf(head, sizeof head, "UNROLL for (int j = 0; j < %d; j++) ", present);
    kal_open(p, head);
}

// Units of a flat round: as many as there are elements, fewer in the last group.
static void print_flat_limit(struct kal_printer *p, const struct kal_round *round)
{
    const struct kal_group_loop *loop = &p->k->loop[0];
    const int64_t rest = p->k->loop_count ? loop->count % loop->width : 0;

    if (rest)
        kal_line(p, "const uint limit = group0 == %lld ? %lldu : %lldu;",
                 (long long)loop->blocks - 1, (long long)(rest * p->k->n),
                 (long long)round->units);
    else
        kal_line(p, "const uint limit = %lldu;", (long long)round->units);
}

// A lane's unit, and a condition that it exists; or the last one in place of those behind it.
static bool open_flat_unit(struct kal_printer *p, bool is_in)
{
    const int lanes = p->k->lanes;
    if (is_in && p->dialect->loads_always) {
        kal_line(p, "const uint unit = min(lane + CAST(uint, u) * %du, limit - 1u);",
                 lanes);
        return false;
    }
    kal_line(p, "const uint unit = lane + CAST(uint, u) * %du;", lanes);
    kal_open(p, "if (unit < limit) ");
    return true;
}

static void print_flat(struct kal_printer *p, int number, bool is_in)
{
    const struct kal_kernel *k = p->k;
    const struct kal_round *round = &k->round[number];
    const struct kal_side *side = kal_side_of(k, is_in);
    const char *u = kal_unit_name(round);
    char text[256];

    kal_open(p, "");
    if (!is_in)
        kal_print_start(p, false);
    print_flat_limit(p, round);
    snprintf(text, sizeof text, "UNROLL for (int u = 0; u < %d; u++) ",
             round->lane_units);
    kal_open(p, text);
    const bool is_open = open_flat_unit(p, is_in);
    kal_line(p, "const INDEX at = %s_start + CAST(INDEX, unit) * %lld;",
             is_in ? "in" : "out", (long long)(side->stride / kal_access_unit(k, is_in)));
    if (is_in) {
        kal_load_text(k, text, sizeof text, "at");
        kal_line(p, side->is_swapped ? "v%d[%s][0] = exchange(%s);" : "v%d[%s][0] = %s;",
                 number, u, text);
    } else {
        kal_line(p,
                 side->is_swapped ? "C x = exchange(v%d[%s][0]);" : "C x = v%d[%s][0];",
                 number, u);
        kal_print_scale(p);
        kal_print_store(p, "at", "x");
    }
    if (is_open)
        kal_close(p);
    kal_close(p);
    kal_close(p);
}

void kal_print_load(struct kal_printer *p, int number)
{
    if (p->k->round[number].is_flat) {
        print_flat(p, number, true);
        return;
    }

    const struct kal_kernel *k = p->k;
    const struct kal_round *round = &k->round[number];
    const struct kal_action *action = &round->action[0];
    const char *u = kal_unit_name(round);
    char text[256];
    bool is_bounded;

    kal_open_units(p, round);
    kal_print_element_index(p, round, action->before);
    kal_open_bounds(p, round, &is_bounded);
    kal_print_line_start(p, round, true);
    if (!round->mirror && is_plain(k, true, side_elements(k, round))) {
        const int64_t stride = k->pass->in.stride / kal_access_unit(k, true);
        print_unit_address(p, true);
        kal_open_registers(p, round);
        char at[64];
        snprintf(at, sizeof at, "at + CAST(INDEX, j) * %lld",
                 (long long)(action->register_before * stride));
        kal_load_text(k, text, sizeof text, round->registers > 1 ? at : "at");
        kal_line(
            p, k->pass->in.is_swapped ? "v%d[%s][j] = exchange(%s);" : "v%d[%s][j] = %s;",
            number, u, text);
        kal_close(p);
    } else if (kal_mirror_is_halved(k, round, true)) {
        kal_print_halved_load(p, number);
    } else {
        const int present = present_registers(k, round, true);
        open_present(p, present);
        print_element(p, round, true);
        kal_print_load_element(p);
        kal_line(p, "v%d[%s][j] = x;", number, u);
        kal_close(p);
        if (present < round->registers)
            kal_line(
                p, "UNROLL for (int j = %d; j < %d; j++) v%d[%s][j] = MAKE(ZERO, ZERO);",
                present, round->registers, number, u);
    }
    if (is_bounded)
        kal_close(p);
    kal_close_units(p, round);
}

// Roots of a unit's registers: r0 is that of element_index, and from register to register the
// angle grows by the same step.
static void print_first_roots(struct kal_printer *p)
{
    const struct kal_kernel *k = p->k;
    const struct kal_table *powers = &k->table[k->out.powers];
    const struct kal_table *fine = &k->table[k->out.fine];
    const int64_t turns = powers->count / kal_round_up(powers->powers, 2);
    const char *type = k->pass->out.twiddle_n > INT_MAX ? "ULONG" : "uint";
    char index[96];

    kal_numbered_loop_text(k, k->pass->out.twiddle_loop, index, sizeof index);
    kal_line(p, "const %s turn = CAST(%s, element_index) * CAST(%s, %s);", type, type,
             type, index);
    kal_line(p,
             "const C r0 = multiply(ROOT(%lldu + (turn >> %d)), ROOT(%lldu + (turn & "
             "%lldu)));",
             (long long)kal_table_at(k, k->out.coarse), fine->shift, (long long)fine->at,
             (long long)((1ll << fine->shift) - 1));
    for (int i = 0; i < powers->powers; i += 2)
        kal_line(p, "TWO_ROOTS(w%d, w%d, %lld + %s * 2)", kal_table_power(i),
                 kal_table_power(i + 1), (long long)(powers->at + i * turns), index);
}

static void print_next_root(struct kal_printer *p, int j)
{
    enum { LOW = 4 };
    const int low = j % LOW, high = j - low;
    if (low)
        kal_line(p, "const C r%d = multiply(r%d, w%d);", j, high, low);
    else if (j)
        kal_line(p, "const C r%d = multiply(r0, w%d);", j, j);
}

// Write x, which is register j.
static void print_register_store(struct kal_printer *p, const struct kal_action *action,
                                 int j)
{
    const struct kal_kernel *k = p->k;
    const int64_t stride = k->pass->out.stride / kal_access_unit(k, false);
    char at[64];

    if (k->to_cluster) {
        kal_line(p, "const int e = element_index + %lld;",
                 (long long)(j * action->register_after));
        kal_print_cluster_store(p);
        return;
    }
    snprintf(at, sizeof at, "at + %lld",
             (long long)(j * action->register_after * stride));
    kal_print_store(p, at, "x");
}

// Each register has its own root, so each has its own statements.
static void print_turned_store(struct kal_printer *p, int number,
                               const struct kal_round *round,
                               const struct kal_action *action)
{
    const struct kal_side *side = &p->k->pass->out;

    print_first_roots(p);
    if (!p->k->to_cluster)
        kal_print_address(p, false, "element_index");
    for (int j = 0; j < round->registers; j++) {
        print_next_root(p, j);
        kal_open(p, "");
        kal_line(p, "C x = %s(v%d[%s][%d], r%d);",
                 side->twiddle_is_conjugate ? "multiply_conjugate" : "multiply", number,
                 kal_unit_name(round), j, j);
        kal_print_scale(p);
        if (side->is_swapped)
            kal_line(p, "x = exchange(x);");
        print_register_store(p, action, j);
        kal_close(p);
    }
}

static void print_plain_store(struct kal_printer *p, int number,
                              const struct kal_round *round,
                              const struct kal_action *action)
{
    const struct kal_kernel *k = p->k;
    const int64_t stride = k->pass->out.stride / kal_access_unit(k, false);
    char at[64];

    print_unit_address(p, false);
    kal_open_registers(p, round);
    snprintf(at, sizeof at, "at + CAST(INDEX, j) * %lld",
             (long long)(action->register_after * stride));
    kal_line(
        p, k->pass->out.is_swapped ? "C x = exchange(v%d[%s][j]);" : "C x = v%d[%s][j];",
        number, kal_unit_name(round));
    kal_print_scale(p);
    kal_print_store(p, round->registers > 1 ? at : "at", "x");
    kal_close(p);
}

static void print_element_store(struct kal_printer *p, int number,
                                const struct kal_round *round)
{
    open_present(p, present_registers(p->k, round, false));
    print_element(p, round, false);
    kal_line(p, "C x = v%d[%s][j];", number, kal_unit_name(round));
    const bool is_open = round->mirror && kal_open_mirrored(p, round);
    kal_print_store_element(p);
    if (is_open)
        kal_close(p);
    kal_close(p);
}

void kal_print_memory_store(struct kal_printer *p, int number)
{
    const struct kal_kernel *k = p->k;
    const struct kal_round *round = &k->round[number];
    const struct kal_action *action = kal_round_last_action(round);
    const int64_t elements = side_elements(k, round);
    bool is_bounded;

    if (round->is_flat) {
        print_flat(p, number, false);
        return;
    }
    if (k->to_cluster) // all have read what is overwritten now
        kal_line(p, "CLUSTER_HAS_READ;");
    kal_open_units(p, round);
    kal_print_element_index(p, round, action->after);
    kal_open_bounds(p, round, &is_bounded);
    if (!k->extra_span && !k->to_cluster)
        kal_print_start(p, false);
    if (!k->to_cluster)
        kal_print_line_start(p, round, false);
    if (k->out.powers >= 0 && k->pass->out.count >= elements)
        print_turned_store(p, number, round, action);
    else if (!round->mirror && is_plain(k, false, elements))
        print_plain_store(p, number, round, action);
    else if (kal_mirror_is_halved(k, round, false))
        kal_print_halved_store(p, number);
    else
        print_element_store(p, number, round);
    if (is_bounded)
        kal_close(p);
    kal_close_units(p, round);
    if (k->to_cluster)
        kal_line(p, "CLUSTER_BARRIER;");
}
