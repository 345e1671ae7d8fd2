// SPDX-License-Identifier: MIT
// Mirrored butterflies: the mirrored step of a real transform on the registers of two codelets.
// Element k of n/2 meets element n/2 - k. The elements of a codelet are equally far apart, from
// element `low` on; those that mirror them are another codelet's, from element `high` on, the
// other way round. Elements 0 and half the distance start codelets that mirror themselves.
#include "emit/printer.h"

#include <stdio.h>

struct pair {
    struct kal_printer *p;
    const struct kal_round *round;
    int number, radix;
    char v[2][32]; // registers of both codelets
    const struct kal_action *transform, *mirrored;
};

static bool is_split(const struct pair *pair)
{
    return pair->mirrored->step->op == KAL_STEP_SPLIT;
}

// A codelet of neighbours is alone.
static int codelets(const struct pair *pair)
{
    return pair->round->pair > 1 ? 2 : 1;
}

// Is the second codelet of unit 0 one that is not there?
static bool is_odd(const struct pair *pair)
{
    return pair->round->pair % 2 == 1;
}

// One element and the one that mirrors it, to coefficients or back; `v` and `w` are registers.
static void print_meeting(const struct pair *pair, const char *v, const char *w,
                          const char *index)
{
    kal_line(pair->p, "MEET(%s, %s, %s, %lld + %s)", is_split(pair) ? "split" : "merge",
             v, w, (long long)kal_table_at(pair->p->k, pair->mirrored->table), index);
}

static const char *root_text(char *text, size_t capacity, const char *first, int64_t more)
{
    snprintf(text, capacity, "%s + %lld", first, (long long)more);
    return text;
}

static void print_meetings_of(const struct pair *pair, int a, const char *first,
                              int count)
{
    const int b = 1 - a;
    for (int j = 0; j < count; j++) {
        char v[48], w[48], root[64];
        snprintf(v, sizeof v, "%s[%d]", pair->v[a], j);
        snprintf(w, sizeof w, "%s[%d]", pair->v[b], pair->radix - 1 - j);
        print_meeting(pair, v, w,
                      root_text(root, sizeof root, first, j * pair->round->pair));
    }
}

// A codelet that mirrors itself: register j meets register last - j.
static void print_own_meetings(const struct pair *pair, int a, int from, int last,
                               int64_t first)
{
    for (int j = from; 2 * j <= last; j++) {
        char v[48], w[48], root[64];
        snprintf(v, sizeof v, "%s[%d]", pair->v[a], j);
        snprintf(w, sizeof w, "%s[%d]", pair->v[a], last - j);
        if (2 * j == last)
            snprintf(w, sizeof w, "own");
        print_meeting(pair, v, w,
                      root_text(root, sizeof root, "0", first + j * pair->round->pair));
    }
}

// Element 0 meets the last one, which is kept apart.
static void print_first_unit(const struct pair *pair)
{
    char first[48];

    snprintf(first, sizeof first, "%s[0]", pair->v[0]);
    kal_line(pair->p, "C own = %s;", first);
    if (is_split(pair)) {
        kal_line(pair->p, "last = %s;", first);
    } else { // both are real, whatever is there
        kal_line(pair->p, "%s.y = last.y = ZERO;", first);
    }
    print_meeting(pair, first, "last", "0");
    if (pair->radix % 2 == 0)
        kal_line(pair->p, "own = %s[%d];", pair->v[0], pair->radix / 2);
    print_own_meetings(pair, 0, 1, pair->radix, 0);
    if (is_odd(pair))
        return;
    if (pair->radix % 2 == 1)
        kal_line(pair->p, "own = %s[%d];", pair->v[1], pair->radix / 2);
    print_own_meetings(pair, 1, 0, pair->radix - 1, pair->round->pair / 2);
}

static void print_mirror(const struct pair *pair)
{
    const int half = pair->radix / 2;

    kal_open(pair->p, codelets(pair) > 1 ? "if (low == 0) " : "");
    print_first_unit(pair);
    kal_close(pair->p);
    if (codelets(pair) == 1)
        return;
    kal_open(pair->p, "else ");
    print_meetings_of(pair, 0, "low", pair->radix - half);
    print_meetings_of(pair, 1, "high", half);
    kal_close(pair->p);
}

static void print_transform(const struct pair *pair)
{
    static const char *const first[] = { "low", "high" };
    for (int i = 0; i < codelets(pair); i++) {
        kal_open(pair->p, "");
        kal_line(pair->p, "dft%d(%s);", pair->radix, pair->v[i]);
        if (pair->transform->table >= 0) {
            kal_line(pair->p, "const int turn = %s;", first[i]);
            kal_print_step_twiddle(pair->p, pair->v[i],
                                   &pair->p->k->table[pair->transform->table]);
        }
        kal_close(pair->p);
    }
}

static void open_registers(const struct pair *pair)
{
    char head[96];
    snprintf(head, sizeof head, "UNROLL for (int j = 0; j < %d; j++) ", pair->radix);
    kal_open(pair->p, head);
}

// Element e between memory and `v`.
static void print_element(struct kal_printer *p, const char *v, bool is_load)
{
    if (is_load) {
        kal_print_load_element(p);
        kal_line(p, "%s = x;", v);
    } else {
        kal_line(p, "C x = %s;", v);
        kal_print_store_element(p);
    }
}

// A codelet's elements between registers and memory.
static void print_elements(const struct pair *pair, int i, bool is_load)
{
    static const char *const first[] = { "low", "high" };
    char v[48];

    snprintf(v, sizeof v, "%s[j]", pair->v[i]);
    if (i == 1 && is_odd(pair))
        kal_open(pair->p, "if (low > 0) ");
    open_registers(pair);
    kal_line(pair->p, "const int e = %s + j * %lld;", first[i],
             (long long)pair->round->pair);
    print_element(pair->p, v, is_load);
    kal_close(pair->p);
    if (i == 1 && is_odd(pair))
        kal_close(pair->p);
}

// The same for both, and the last coefficient.
static void print_memory(const struct pair *pair, bool is_load)
{
    struct kal_printer *p = pair->p;
    bool is_bounded;

    kal_open(p, "");
    kal_open_bounds(p, pair->round, &is_bounded);
    if (!is_load)
        kal_print_start(p, false);
    kal_print_line_start(p, pair->round, is_load);
    for (int i = 0; i < codelets(pair); i++)
        print_elements(pair, i, is_load);
    if (is_load != is_split(pair)) {
        kal_open(p, "if (low == 0) ");
        kal_line(p, "const int e = %lld;", (long long)pair->mirrored->step->n / 2);
        print_element(p, "last", is_load);
        kal_close(p);
    }
    if (is_bounded)
        kal_close(p);
    kal_close(p);
}

// Both codelets' elements between registers and the tile.
static void print_tile(const struct pair *pair, const struct kal_layout *layout,
                       bool is_write)
{
    static const char *const first[] = { "low", "high" };
    const struct kal_action *transform = pair->transform;
    const int64_t weight = is_write && !is_split(pair) ? pair->radix : 1;
    const int64_t step =
        is_write ? transform->register_after : transform->register_before;

    for (int i = 0; i < codelets(pair); i++) {
        struct kal_sum s = { "", 0 };
        char tile[64];
        kal_sum_add(&s, first[i], kal_layout_index(layout, weight) * layout->element);
        kal_add_line_terms(pair->p->k, pair->round, layout, &s);
        kal_open(pair->p, i == 1 && is_odd(pair) ? "if (low > 0) " : "");
        kal_line(pair->p, "const int at = %s;", kal_sum_text(&s));
        open_registers(pair);
        snprintf(tile, sizeof tile, "tile[at + j * %lld]",
                 (long long)(kal_layout_index(layout, step) * layout->element));
        if (is_write)
            kal_line(pair->p, "%s = %s[j];", tile, pair->v[i]);
        else
            kal_line(pair->p, "%s[j] = %s;", pair->v[i], tile);
        kal_close(pair->p);
        kal_close(pair->p);
    }
}

// Where the second codelet of unit 0 is not there it is worked, on what it is given here.
static void print_places(const struct pair *pair)
{
    const long long distance = pair->round->pair;

    kal_line(pair->p, "const int low = %s;",
             pair->round->digit_count && distance > 2 ? "element" : "0");
    if (codelets(pair) > 1)
        kal_line(pair->p, "const int high = low > 0 ? %lld - low : %lld;", distance,
                 distance % 2 ? 0 : distance / 2);
    kal_line(pair->p, "C v%d[%d][%d];", pair->number, codelets(pair), pair->radix);
    kal_line(pair->p, "C last = MAKE(ZERO, ZERO);");
    if (codelets(pair) > 1)
        kal_line(pair->p, "UNROLL for (int j = 0; j < %d; j++) %s[j] = %s[j] = last;",
                 pair->radix, pair->v[0], pair->v[1]);
    else
        kal_line(pair->p, "UNROLL for (int j = 0; j < %d; j++) %s[j] = last;",
                 pair->radix, pair->v[0]);
}

void kal_print_pair(struct kal_printer *p, int number)
{
    const struct kal_round *round = &p->k->round[number];
    const bool splits = round->action[1].step->op == KAL_STEP_SPLIT;
    struct pair pair = { .p = p,
                         .round = round,
                         .number = number,
                         .radix = round->registers,
                         .transform = &round->action[splits ? 0 : 1],
                         .mirrored = &round->action[splits ? 1 : 0] };

    for (int i = 0; i < 2; i++)
        snprintf(pair.v[i], sizeof pair.v[i], "v%d[%d]", number, i);
    kal_open_units(p, round);
    print_places(&pair);
    if (round->from_memory)
        print_memory(&pair, true);
    else
        print_tile(&pair, &p->k->round[number - 1].layout, false);
    if (!splits)
        print_mirror(&pair);
    print_transform(&pair);
    if (splits)
        print_mirror(&pair);
    if (round->to_memory)
        print_memory(&pair, false);
    else
        print_tile(&pair, &round->layout, true);
    kal_close_units(p, round);
}
