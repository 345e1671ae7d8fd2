// SPDX-License-Identifier: MIT
// Lines, blocks, sums, and the units of a round: what all parts of a kernel are printed with.
#include "emit/printer.h"

#include <stdarg.h>
#include <stdio.h>

const char *const kal_digit_names[] = { "done",    "todo", "block",
                                        "element", "line", "line2" };

KAL_PRINTF(2, 3) void kal_line(struct kal_printer *p, const char *fmt, ...)
{
    char buffer[1024];
    va_list args;
    va_start(args, fmt);
    vsnprintf(buffer, sizeof buffer, fmt, args);
    va_end(args);
    kal_text_add(p->text, "%*s%s\n", 4 * p->depth, "", buffer);
}

void kal_open(struct kal_printer *p, const char *head)
{
    kal_line(p, "%s{", head);
    p->depth++;
}

void kal_close(struct kal_printer *p)
{
    p->depth--;
    kal_line(p, "}");
}

void kal_sum_add(struct kal_sum *s, const char *name, int64_t weight)
{
    if (weight == 0 || s->length >= sizeof s->data - 64)
        return;
    const char *plus = s->length ? " + " : "";
    const int n = weight == 1 ? snprintf(s->data + s->length, sizeof s->data - s->length,
                                         "%s%s", plus, name)
                              : snprintf(s->data + s->length, sizeof s->data - s->length,
                                         "%s%s * %lld", plus, name, (long long)weight);
    s->length += (size_t)n;
}

const char *kal_sum_text(const struct kal_sum *s)
{
    return s->length ? s->data : "0";
}

bool kal_digit_is_line(const struct kal_digit *digit)
{
    return digit->role >= KAL_DIGIT_LINE;
}

const struct kal_group_loop *kal_digit_loop(const struct kal_kernel *k,
                                            const struct kal_digit *digit)
{
    return &k->loop[digit->role - KAL_DIGIT_LINE];
}

int64_t kal_digit_lines(const struct kal_kernel *k, const struct kal_digit *digit)
{
    return digit->role == KAL_DIGIT_LINE ? 1 : k->loop[0].width;
}

const struct kal_action *kal_round_last_action(const struct kal_round *round)
{
    return &round->action[round->action_count - 1];
}

// "u" or, where a lane has one unit only, "0".
const char *kal_unit_name(const struct kal_round *round)
{
    return round->lane_units > 1 && !round->streams ? "u" : "0";
}

void kal_open_units(struct kal_printer *p, const struct kal_round *round)
{
    const struct kal_kernel *k = p->k;
    char head[96];

    if (p->is_in_units) {
        kal_open(p, "");
        return;
    }
    if (round->lane_units > 1) {
        snprintf(head, sizeof head, "UNROLL for (int u = 0; u < %d; u++) ",
                 round->lane_units);
        kal_open(p, head);
        kal_line(p, "const uint unit = lane + CAST(uint, u) * %du;", k->lanes);
    } else {
        kal_open(p, "");
        kal_line(p, "const uint unit = lane;");
    }
    if (round->units < (int64_t)round->lane_units * k->lanes) {
        snprintf(head, sizeof head, "if (unit < %lldu) ", (long long)round->units);
        kal_open(p, head);
    }
    int64_t divisor = 1;
    for (int i = 0; i < round->digit_count; i++) {
        const int64_t radix = round->digit[i].radix;
        char quotient[64] = "unit", rest[32] = "";
        if (divisor > 1)
            snprintf(quotient, sizeof quotient, "unit / %lldu", (long long)divisor);
        if (i + 1 < round->digit_count)
            snprintf(rest, sizeof rest, " %% %lldu", (long long)radix);
        kal_line(p, "const int %s = CAST(int, %s%s);",
                 kal_digit_names[round->digit[i].role], quotient, rest);
        divisor *= radix;
    }
}

void kal_close_units(struct kal_printer *p, const struct kal_round *round)
{
    if (p->is_in_units) {
        kal_close(p);
        return;
    }
    if (round->units < (int64_t)round->lane_units * p->k->lanes)
        kal_close(p);
    kal_close(p);
}

// Index in its line of the element in register 0, before the first or after the last
// action: the part that the unit's digits decide.
struct kal_sum kal_element_sum(const struct kal_kernel *k, const struct kal_round *round,
                               const int64_t *weights)
{
    struct kal_sum s = { "", 0 };
    for (int i = 0; i < round->digit_count; i++) {
        if (!kal_digit_is_line(&round->digit[i]))
            kal_sum_add(&s, kal_digit_names[round->digit[i].role], weights[i]);
    }
    if (k->loop_count && k->loop[k->loop_count - 1].number < 0) {
        char name[32];
        snprintf(name, sizeof name, "group%d", k->loop_count - 1);
        kal_sum_add(&s, name, k->span);
    }
    return s;
}

// What must hold for the unit's line, and element, to exist; "" if it always does.
void kal_bounds_text(const struct kal_kernel *k, const struct kal_round *round,
                     char *text, size_t capacity)
{
    size_t length = 0;
    text[0] = '\0';
    for (int i = 0; i < k->loop_count; i++) {
        const struct kal_group_loop *loop = &k->loop[i];
        const char *name = i == 0 ? "line" : "line2";
        if (loop->count % loop->width == 0)
            continue;
        if (loop->number < 0)
            name = "element";
        length +=
            (size_t)snprintf(text + length, capacity - length,
                             "%sgroup%d * %lld + %s < %lld", length ? " && " : "", i,
                             (long long)loop->width, name, (long long)loop->count);
    }
    const bool skips_last = k->extra_span && round->action_count > 1 &&
                            kal_round_last_action(round)->step->op == KAL_STEP_RADER;
    if (skips_last)
        snprintf(text + length, capacity - length, "%selement_index < %lld",
                 length ? " && " : "", (long long)k->n - 1);
}

void kal_open_registers(struct kal_printer *p, const struct kal_round *round)
{
    char head[96];
    snprintf(head, sizeof head, "UNROLL for (int j = 0; j < %d; j++) ", round->registers);
    kal_open(p, head);
}

// Which one of its row register 0 of a mirrored unit holds.
const char *kal_mirror_name(const struct kal_round *round)
{
    if (round->rows == 1)
        return "element_index";
    return round->mirror > 1 ? "element" : "0";
}

static void print_mirrored_row(struct kal_printer *p, const struct kal_round *round)
{
    const long long m = round->plane_rows, planes = round->rows / m;
    if (planes == 1) {
        kal_line(p, "const int row = block > 0 ? %lld - block : 0;", m);
        return;
    }
    kal_line(p, "const int plane = block / %lld, line_of_plane = block %% %lld;", m, m);
    kal_line(p,
             "const int row = (plane > 0 ? %lld - plane : 0) * %lld + (line_of_plane > 0 "
             "? %lld - line_of_plane : 0);",
             planes, m, m);
}

static void print_mirrored_in_plane(struct kal_printer *p, const struct kal_round *round,
                                    bool wraps)
{
    const long long m = round->mirror, pitch = wraps ? m : m + 1;
    const char *name = kal_mirror_name(round);

    print_mirrored_row(p, round);
    if (wraps)
        kal_line(
            p,
            "const int e = j == 0 ? element_index : row * %lld + (%s > 0 ? %lld - %s "
            ": 0);",
            pitch, name, m, name);
    else
        kal_line(p, "const int e = j == 0 ? element_index : row * %lld + %lld - %s;",
                 pitch, m, name);
}

// The element of register j of a mirrored unit. `wraps`: there is no element `mirror`.
void kal_print_mirrored_element(struct kal_printer *p, const struct kal_round *round,
                                bool wraps)
{
    if (round->rows > 1)
        print_mirrored_in_plane(p, round, wraps);
    else if (wraps)
        kal_line(p,
                 "const int e = j == 0 || element_index == 0 ? element_index : %lld - "
                 "element_index;",
                 (long long)round->mirror);
    else
        kal_line(p, "const int e = j == 0 ? element_index : %lld - element_index;",
                 (long long)round->mirror);
}

bool kal_round_is_split(const struct kal_round *round)
{
    return round->mirror && round->action[0].step->op == KAL_STEP_SPLIT;
}

// Of packed elements there is no element `mirror`; in the middle of a plane's rows another unit
// has the element of register 1 in its register 0.
bool kal_open_mirrored(struct kal_printer *p, const struct kal_round *round)
{
    const char *name = kal_mirror_name(round);
    const bool has_middle = round->rows > 1 && round->mirror % 2 == 0;
    const bool is_split = kal_round_is_split(round);
    const long long m = round->mirror;
    char head[128];

    if (is_split && !has_middle)
        return false;
    if (is_split)
        snprintf(head, sizeof head, "if (j == 0 || 2 * %s != %lld) ", name, m);
    else if (has_middle)
        snprintf(head, sizeof head, "if (j == 0 || (%s > 0 && 2 * %s != %lld)) ", name,
                 name, m);
    else
        snprintf(head, sizeof head, "if (j == 0 || %s > 0) ", name);
    kal_open(p, head);
    return true;
}

void kal_print_element_index(struct kal_printer *p, const struct kal_round *round,
                             const int64_t *weights)
{
    const struct kal_sum s = kal_element_sum(p->k, round, weights);
    kal_line(p, "const int element_index = %s;", kal_sum_text(&s));
}

void kal_open_bounds(struct kal_printer *p, const struct kal_round *round, bool *is_open)
{
    char bounds[256], head[288];
    kal_bounds_text(p->k, round, bounds, sizeof bounds);
    *is_open = bounds[0] != '\0';
    if (!*is_open)
        return;
    snprintf(head, sizeof head, "if (%s) ", bounds);
    kal_open(p, head);
}

int64_t kal_table_at(const struct kal_kernel *k, int table)
{
    return k->table[table].at;
}
