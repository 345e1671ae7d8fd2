// SPDX-License-Identifier: MIT
// Kernels as text. What differs between languages is behind the macros of their prelude.
#include "emit/kernel.h"

#include "codelet/lengths.h"
#include "emit/emit.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct printer {
    struct kal_text *text;
    const struct kal_dialect *dialect;
    const struct kal_kernel_set *set;
    const struct kal_kernel *k; // the pass that is being printed
    int depth;                  // of indentation
};

KAL_PRINTF(2, 3) static void line(struct printer *p, const char *fmt, ...)
{
    char buffer[1024];
    va_list args;
    va_start(args, fmt);
    vsnprintf(buffer, sizeof buffer, fmt, args);
    va_end(args);
    kal_text_add(p->text, "%*s%s\n", 4 * p->depth, "", buffer);
}

static void open(struct printer *p, const char *head)
{
    line(p, "%s{", head);
    p->depth++;
}

static void close(struct printer *p)
{
    p->depth--;
    line(p, "}");
}

// A sum of products, printed as it grows.
struct sum {
    char data[512];
    size_t length;
};

static void add_term(struct sum *s, const char *name, int64_t weight)
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

static const char *sum_text(const struct sum *s)
{
    return s->length ? s->data : "0";
}

static const char *const digit_names[] = { "done",    "todo", "block",
                                           "element", "line", "line2" };

static bool is_line(const struct kal_digit *digit)
{
    return digit->role >= KAL_DIGIT_LINE;
}

static const struct kal_group_loop *tile_loop(const struct kal_kernel *k,
                                              const struct kal_digit *digit)
{
    return &k->loop[digit->role - KAL_DIGIT_LINE];
}

static int64_t line_weight(const struct kal_kernel *k, const struct kal_digit *digit)
{
    return digit->role == KAL_DIGIT_LINE ? 1 : k->loop[0].width;
}

static const struct kal_action *last_action(const struct kal_round *round)
{
    return &round->action[round->action_count - 1];
}

// "u" or, where a lane has one unit only, "0".
static const char *unit_name(const struct kal_round *round)
{
    return round->lane_units > 1 ? "u" : "0";
}

static void open_units(struct printer *p, const struct kal_round *round)
{
    const struct kal_kernel *k = p->k;
    char head[96];

    if (round->lane_units > 1) {
        snprintf(head, sizeof head, "UNROLL for (int u = 0; u < %d; u++) ",
                 round->lane_units);
        open(p, head);
        line(p, "const uint unit = lane + (uint)u * %du;", k->lanes);
    } else {
        open(p, "");
        line(p, "const uint unit = lane;");
    }
    if (round->units < (int64_t)round->lane_units * k->lanes) {
        snprintf(head, sizeof head, "if (unit < %lldu) ", (long long)round->units);
        open(p, head);
    }
    int64_t divisor = 1;
    for (int i = 0; i < round->digit_count; i++) {
        const int64_t radix = round->digit[i].radix;
        char quotient[64] = "unit", rest[32] = "";
        if (divisor > 1)
            snprintf(quotient, sizeof quotient, "unit / %lldu", (long long)divisor);
        if (i + 1 < round->digit_count)
            snprintf(rest, sizeof rest, " %% %lldu", (long long)radix);
        line(p, "const int %s = (int)(%s%s);", digit_names[round->digit[i].role],
             quotient, rest);
        divisor *= radix;
    }
}

static void close_units(struct printer *p, const struct kal_round *round)
{
    if (round->units < (int64_t)round->lane_units * p->k->lanes)
        close(p);
    close(p);
}

// Index in its line of the element in register 0, before the first or after the last
// action: the part that the unit's digits decide.
static struct sum element_sum(const struct kal_kernel *k, const struct kal_round *round,
                              const int64_t *weights)
{
    struct sum s = { "", 0 };
    for (int i = 0; i < round->digit_count; i++) {
        if (!is_line(&round->digit[i]))
            add_term(&s, digit_names[round->digit[i].role], weights[i]);
    }
    if (k->loop_count && k->loop[k->loop_count - 1].number < 0) {
        char name[32];
        snprintf(name, sizeof name, "group%d", k->loop_count - 1);
        add_term(&s, name, k->span);
    }
    return s;
}

// What must hold for the unit's line, and element, to exist; "" if it always does.
static void bounds_text(const struct kal_kernel *k, const struct kal_round *round,
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
                            last_action(round)->step->op == KAL_STEP_RADER;
    if (skips_last)
        snprintf(text + length, capacity - length, "%selement_index < %lld",
                 length ? " && " : "", (long long)k->n - 1);
}

static const struct kal_side *side_of(const struct kal_kernel *k, bool is_in)
{
    return is_in ? &k->pass->in : &k->pass->out;
}

static const struct kal_access *access_of(const struct kal_kernel *k, bool is_in)
{
    return is_in ? &k->in : &k->out;
}

// Reals in one entry of the array as the kernel sees it.
static int64_t unit_of(const struct kal_kernel *k, bool is_in)
{
    return access_of(k, is_in)->is_vector ? 2 : 1;
}

static int64_t loop_stride(const struct kal_group_loop *loop, bool is_in)
{
    return is_in ? loop->in : loop->out;
}

// A side whose elements need more than an address.
static bool is_plain(const struct kal_kernel *k, bool is_in, int64_t elements)
{
    const struct kal_side *side = side_of(k, is_in);
    return !side->index && side->count >= elements && !side->chirp_n && !side->twiddle_n;
}

// The first element of the group's tile on one side: `in_start` or `out_start`.
static void print_start(struct printer *p, bool is_in)
{
    const struct kal_kernel *k = p->k;
    const struct kal_side *side = side_of(k, is_in);
    const int64_t unit = unit_of(k, is_in);
    struct sum s = { "", 0 };
    char name[48];

    snprintf(name, sizeof name, "(INDEX)%lld", (long long)(side->offset / unit));
    add_term(&s, name, 1);
    if (side->buffer == KAL_BUFFER_CHUNK)
        add_term(&s, "(INDEX)slot", p->set->slot_reals / unit);
    for (int i = 0; i < k->line_loop_count && side->buffer != KAL_BUFFER_CHUNK; i++) {
        snprintf(name, sizeof name, "(INDEX)row%d", i);
        add_term(&s, name, loop_stride(&k->line_loop[i], is_in) / unit);
    }
    for (int i = 0; i < k->loop_count; i++) {
        if (k->loop[i].number < 0)
            continue;
        snprintf(name, sizeof name, "(INDEX)group%d", i);
        add_term(&s, name, loop_stride(&k->loop[i], is_in) / unit * k->loop[i].width);
    }
    line(p, "const INDEX %s_start = %s;", is_in ? "in" : "out", sum_text(&s));
}

// Are the units of an element round numbered as their elements lie in memory?
static bool is_linear(const struct kal_kernel *k, const struct kal_round *round,
                      bool is_in)
{
    const struct kal_side *side = side_of(k, is_in);
    int64_t stride = side->stride;

    if (round->registers != 1 || round->mirror || k->extra_span ||
        !is_plain(k, is_in, round->units / k->lines))
        return false;
    for (int i = 0; i < round->digit_count; i++) {
        const struct kal_digit *digit = &round->digit[i];
        if (is_line(digit) && loop_stride(tile_loop(k, digit), is_in) != stride)
            return false;
        stride *= digit->radix;
    }
    return true;
}

// Where the unit's line starts, as `NAME_line`.
static void print_line_start(struct printer *p, const struct kal_round *round, bool is_in)
{
    const struct kal_kernel *k = p->k;
    const char *name = is_in ? "in" : "out";
    struct sum s = { "", 0 };
    char base[32];

    snprintf(base, sizeof base, "%s_start", name);
    add_term(&s, base, 1);
    for (int i = 0; i < round->digit_count; i++) {
        const struct kal_digit *digit = &round->digit[i];
        char term[48];
        if (!is_line(digit))
            continue;
        snprintf(term, sizeof term, "(INDEX)%s", digit_names[digit->role]);
        add_term(&s, term, loop_stride(tile_loop(k, digit), is_in) / unit_of(k, is_in));
    }
    line(p, "const INDEX %s_line = %s;", name, sum_text(&s));
}

// Arrays of the user are touched once by a pass; scratch is better kept in the cache, and
// what another group of the same launch wrote must not come from an older copy.
static const char *access_name(const struct kal_kernel *k, const struct kal_side *side,
                               bool is_load)
{
    if (side->buffer == KAL_BUFFER_CHUNK)
        return is_load ? "LOAD_SHARED" : "STORE_SHARED";
    if (side->buffer == KAL_BUFFER_SHARED || !k->choice.has_hints || !k->is_fused)
        return is_load ? "LOAD" : "STORE";
    return is_load ? "LOAD_ONCE" : "STORE_ONCE";
}

// The expression that reads an element at index `at`.
static const char *load_text(const struct kal_kernel *k, char *text, size_t capacity,
                             const char *at)
{
    const struct kal_side *side = &k->pass->in;
    const char *load = access_name(k, side, true);
    if (k->in.is_vector)
        snprintf(text, capacity, "%s(in, %s)", load, at);
    else if (side->is_real)
        snprintf(text, capacity, "MAKE(%s(in, %s), ZERO)", load, at);
    else if (side->imag)
        snprintf(text, capacity, "MAKE(%s(in, %s), %s(in, %s + %lld))", load, at, load,
                 at, (long long)side->imag);
    else
        snprintf(text, capacity, "MAKE(%s(in, %s), %s(in_imag, %s))", load, at, load, at);
    return text;
}

static void print_store(struct printer *p, const char *at, const char *value)
{
    const struct kal_side *side = &p->k->pass->out;
    const char *store = access_name(p->k, side, false);
    if (p->k->out.is_vector) {
        line(p, "%s(out, %s, %s);", store, at, value);
        return;
    }
    line(p, "%s(out, %s, %s.x);", store, at, value);
    if (side->is_real)
        return;
    if (side->imag)
        line(p, "%s(out, %s + %lld, %s.y);", store, at, (long long)side->imag, value);
    else
        line(p, "%s(out_imag, %s, %s.y);", store, at, value);
}

// Address in memory of the unit's elements: those of register 0.
static void print_unit_address(struct printer *p, const struct kal_round *round,
                               bool is_in)
{
    const struct kal_kernel *k = p->k;
    const int64_t stride = side_of(k, is_in)->stride / unit_of(k, is_in);
    const char *name = is_in ? "in" : "out";
    if (is_linear(k, round, is_in))
        line(p, "const INDEX at = %s_start + (INDEX)unit * %lld;", name,
             (long long)stride);
    else
        line(p, "const INDEX at = %s_line + (INDEX)element_index * %lld;", name,
             (long long)stride);
}

// Address in memory of the element called `element`, which the index map may move.
static void print_address(struct printer *p, bool is_in, const char *element)
{
    const struct kal_kernel *k = p->k;
    const int64_t stride = side_of(k, is_in)->stride / unit_of(k, is_in);
    line(p, "const INDEX at = %s_line + (INDEX)%s * %lld;", is_in ? "in" : "out", element,
         (long long)stride);
}

static int64_t table_at(const struct kal_kernel *k, int table)
{
    return k->table[table].at;
}

// Read tile element `e` (an int) to x.
static void print_load_element(struct printer *p)
{
    const struct kal_kernel *k = p->k;
    const struct kal_side *side = &k->pass->in;
    const bool is_gathered = k->in.index >= 0 && !k->in.is_permuted;
    char text[256], head[64];
    int opened = 0;

    line(p, "C x = MAKE(ZERO, ZERO);");
    if (side->count < k->n) {
        snprintf(head, sizeof head, "if (e < %lld) ", (long long)side->count);
        open(p, head);
        opened++;
    }
    if (is_gathered) {
        line(p, "const int i = MAP(%lld + e);", (long long)table_at(k, k->in.index));
        if (k->in.has_gaps) {
            open(p, "if (i != -1) ");
            opened++;
        }
        line(p, "const int place = %s;", k->in.has_gaps ? "i < 0 ? -2 - i : i" : "i");
    }
    print_address(p, true, is_gathered ? "place" : "e");
    line(p, "x = %s;", load_text(k, text, sizeof text, "at"));
    if (is_gathered && k->in.has_gaps)
        line(p, "if (i < 0) x.y = -x.y;");
    while (opened--)
        close(p);
    if (side->is_swapped)
        line(p, "x = exchange(x);");
    if (side->chirp_n)
        line(p, "x = multiply(x, ROOT(%lld + (e < %lld ? e : 0)));",
             (long long)table_at(k, k->in.chirp), (long long)side->chirp_n);
}

// The index of the twiddle's loop for the unit's line.
static void twiddle_loop_text(const struct kal_kernel *k, char *text, size_t capacity)
{
    snprintf(text, capacity, "0");
    for (int i = 0; i < k->loop_count; i++) {
        if (k->loop[i].number != k->pass->out.twiddle_loop)
            continue;
        if (k->loop[i].width > 1)
            snprintf(text, capacity, "(group%d * %lld + line%s)", i,
                     (long long)k->loop[i].width, i ? "2" : "");
        else
            snprintf(text, capacity, "group%d", i);
    }
}

static void print_twiddle(struct printer *p, const char *element)
{
    const struct kal_kernel *k = p->k;
    const struct kal_table *fine = &k->table[k->out.fine];
    const char *type = k->pass->out.twiddle_n > INT_MAX ? "ULONG" : "uint";
    char index[64];

    twiddle_loop_text(k, index, sizeof index);
    line(p, "const %s turn = (%s)%s * (%s)%s;", type, type, element, type, index);
    line(p,
         "const C root = multiply(ROOT(%lld + (turn >> %d)), ROOT(%lld + (turn & "
         "%lldu)));",
         (long long)table_at(k, k->out.coarse), fine->shift, (long long)fine->at,
         (long long)((1ll << fine->shift) - 1));
    line(p, "x = %s(x, root);",
         k->pass->out.twiddle_is_conjugate ? "multiply_conjugate" : "multiply");
}

static void print_scale(struct printer *p)
{
    if (p->k->pass->scale != 1.0)
        line(p, "x = MAKE(x.x * LITERAL(%.17e), x.y * LITERAL(%.17e));",
             p->k->pass->scale, p->k->pass->scale);
}

// Write x to the place of tile element `e`.
static void print_store_element(struct printer *p)
{
    const struct kal_kernel *k = p->k;
    const struct kal_side *side = &k->pass->out;
    const bool is_scattered = k->out.index >= 0 && !k->out.is_permuted;
    const char *element = "e";
    char head[64];
    int opened = 0;

    print_scale(p);
    if (side->chirp_n)
        line(p, "x = multiply_conjugate(x, ROOT(%lld + (e < %lld ? e : 0)));",
             (long long)table_at(k, k->out.chirp), (long long)side->chirp_n);
    if (side->count < k->n) {
        snprintf(head, sizeof head, "if (e < %lld) ", (long long)side->count);
        open(p, head);
        opened++;
    }
    if (is_scattered) {
        line(p, "const int place = MAP(%lld + e);", (long long)table_at(k, k->out.index));
        element = "place";
        if (k->out.has_gaps) {
            open(p, "if (place >= 0) ");
            opened++;
        }
    }
    if (side->twiddle_n)
        print_twiddle(p, element);
    if (side->is_swapped)
        line(p, "x = exchange(x);");
    print_address(p, false, element);
    print_store(p, "at", "x");
    while (opened--)
        close(p);
}

static void open_registers(struct printer *p, const struct kal_round *round)
{
    char head[96];
    snprintf(head, sizeof head, "UNROLL for (int j = 0; j < %d; j++) ", round->registers);
    open(p, head);
}

// The element of register j of a mirrored unit. `wraps`: there is no element `mirror`.
static void print_mirrored_element(struct printer *p, const struct kal_round *round,
                                   bool wraps)
{
    if (wraps)
        line(p,
             "const int e = j == 0 || element_index == 0 ? element_index : %lld - "
             "element_index;",
             (long long)round->mirror);
    else
        line(p, "const int e = j == 0 ? element_index : %lld - element_index;",
             (long long)round->mirror);
}

static bool is_split_step(const struct kal_round *round)
{
    return round->mirror && round->action[0].step->op == KAL_STEP_SPLIT;
}

static void print_element(struct printer *p, const struct kal_round *round, bool is_in)
{
    const struct kal_action *action = is_in ? &round->action[0] : last_action(round);
    if (round->mirror)
        print_mirrored_element(p, round, is_in == is_split_step(round));
    else
        line(p, "const int e = element_index + j * %lld;",
             (long long)(is_in ? action->register_before : action->register_after));
}

static void print_element_index(struct printer *p, const struct kal_round *round,
                                const int64_t *weights)
{
    const struct sum s = element_sum(p->k, round, weights);
    line(p, "const int element_index = %s;", sum_text(&s));
}

static int64_t side_elements(const struct kal_kernel *k, const struct kal_round *round)
{
    return round->mirror || k->extra_span ? k->n
                                          : round->units / k->lines * round->registers;
}

static void open_bounds(struct printer *p, const struct kal_round *round, bool *is_open)
{
    char bounds[256], head[288];
    bounds_text(p->k, round, bounds, sizeof bounds);
    *is_open = bounds[0] != '\0';
    if (!*is_open)
        return;
    snprintf(head, sizeof head, "if (%s) ", bounds);
    open(p, head);
}

static void print_load(struct printer *p, int number)
{
    const struct kal_kernel *k = p->k;
    const struct kal_round *round = &k->round[number];
    const struct kal_action *action = &round->action[0];
    const char *u = unit_name(round);
    char text[256];
    bool is_bounded;

    open_units(p, round);
    print_element_index(p, round, action->before);
    open_bounds(p, round, &is_bounded);
    print_line_start(p, round, true);
    if (!round->mirror && is_plain(k, true, side_elements(k, round))) {
        const int64_t stride = k->pass->in.stride / unit_of(k, true);
        print_unit_address(p, round, true);
        open_registers(p, round);
        char at[64];
        snprintf(at, sizeof at, "at + (INDEX)j * %lld",
                 (long long)(action->register_before * stride));
        load_text(k, text, sizeof text, round->registers > 1 ? at : "at");
        line(p,
             k->pass->in.is_swapped ? "v%d[%s][j] = exchange(%s);" : "v%d[%s][j] = %s;",
             number, u, text);
        close(p);
    } else {
        open_registers(p, round);
        print_element(p, round, true);
        print_load_element(p);
        line(p, "v%d[%s][j] = x;", number, u);
        close(p);
    }
    if (is_bounded)
        close(p);
    close_units(p, round);
}

// Roots of a unit's registers: r0 is that of element_index, and from register to register the
// angle grows by the same step.
static void print_first_roots(struct printer *p)
{
    const struct kal_kernel *k = p->k;
    const struct kal_table *powers = &k->table[k->out.powers];
    const struct kal_table *fine = &k->table[k->out.fine];
    const char *type = k->pass->out.twiddle_n > INT_MAX ? "ULONG" : "uint";
    char index[64];

    twiddle_loop_text(k, index, sizeof index);
    line(p, "const %s turn = (%s)element_index * (%s)%s;", type, type, type, index);
    line(p,
         "const C r0 = multiply(ROOT(%lld + (turn >> %d)), ROOT(%lld + (turn & "
         "%lldu)));",
         (long long)table_at(k, k->out.coarse), fine->shift, (long long)fine->at,
         (long long)((1ll << fine->shift) - 1));
    for (int i = 0; i < powers->powers; i += 2)
        line(p, "TWO_ROOTS(w%d, w%d, %lld + %s * %d)", kal_table_power(i),
             kal_table_power(i + 1), (long long)powers->at + i, index,
             (int)kal_round_up(powers->powers, 2));
}

static void print_next_root(struct printer *p, int j)
{
    enum { LOW = 4 };
    const int low = j % LOW, high = j - low;
    if (low)
        line(p, "const C r%d = multiply(r%d, w%d);", j, high, low);
    else if (j)
        line(p, "const C r%d = multiply(r0, w%d);", j, j);
}

// Each register has its own root, so each has its own statements.
static void print_turned_store(struct printer *p, int number,
                               const struct kal_round *round,
                               const struct kal_action *action)
{
    const struct kal_kernel *k = p->k;
    const struct kal_side *side = &k->pass->out;
    const int64_t stride = side->stride / unit_of(k, false);

    print_first_roots(p);
    print_address(p, false, "element_index");
    for (int j = 0; j < round->registers; j++) {
        char at[64];
        print_next_root(p, j);
        open(p, "");
        line(p, "C x = %s(v%d[%s][%d], r%d);",
             side->twiddle_is_conjugate ? "multiply_conjugate" : "multiply", number,
             unit_name(round), j, j);
        print_scale(p);
        if (side->is_swapped)
            line(p, "x = exchange(x);");
        snprintf(at, sizeof at, "at + %lld",
                 (long long)(j * action->register_after * stride));
        print_store(p, at, "x");
        close(p);
    }
}

static void print_memory_store(struct printer *p, int number)
{
    const struct kal_kernel *k = p->k;
    const struct kal_round *round = &k->round[number];
    const struct kal_action *action = last_action(round);
    const char *u = unit_name(round);
    bool is_bounded;

    open_units(p, round);
    print_element_index(p, round, action->after);
    open_bounds(p, round, &is_bounded);
    if (!k->extra_span)
        print_start(p, false);
    print_line_start(p, round, false);
    if (k->out.powers >= 0 && k->pass->out.count >= side_elements(k, round)) {
        print_turned_store(p, number, round, action);
    } else if (!round->mirror && is_plain(k, false, side_elements(k, round))) {
        const int64_t stride = k->pass->out.stride / unit_of(k, false);
        char at[64];
        print_unit_address(p, round, false);
        open_registers(p, round);
        snprintf(at, sizeof at, "at + (INDEX)j * %lld",
                 (long long)(action->register_after * stride));
        line(p,
             k->pass->out.is_swapped ? "C x = exchange(v%d[%s][j]);"
                                     : "C x = v%d[%s][j];",
             number, u);
        print_scale(p);
        print_store(p, round->registers > 1 ? at : "at", "x");
        close(p);
    } else {
        open_registers(p, round);
        print_element(p, round, false);
        line(p, "C x = v%d[%s][j];", number, u);
        if (round->mirror && !is_split_step(round))
            open(p, "if (j == 0 || element_index > 0) ");
        print_store_element(p);
        if (round->mirror && !is_split_step(round))
            close(p);
        close(p);
    }
    if (is_bounded)
        close(p);
    close_units(p, round);
}

// Products with roots: all of them from the table, or those of a few powers.
static void print_step_twiddle(struct printer *p, int number,
                               const struct kal_round *round,
                               const struct kal_action *action)
{
    const struct kal_table *table = &p->k->table[action->table];
    const char *u = unit_name(round);
    const int64_t m = table->n / table->radix;
    struct sum s = { "", 0 };
    enum { LOW = 4 };

    for (int i = 0; i < round->digit_count; i++)
        add_term(&s, digit_names[round->digit[i].role], action->exponent[i]);
    line(p, "const int turn = %s;", sum_text(&s));
    if (!table->powers) {
        line(p, "UNROLL for (int j = 1; j < %d; j++)", table->radix);
        line(p,
             "    v%d[%s][j] = multiply(v%d[%s][j], ROOT(%lld + (j - 1) * %lld + turn));",
             number, u, number, u, (long long)table->at, (long long)m);
        return;
    }
    for (int i = 0; i < table->powers; i += 2)
        line(p, "TWO_ROOTS(w%d, w%d, %lld + turn * %d)", kal_table_power(i),
             kal_table_power(i + 1), (long long)table->at + i,
             (int)kal_round_up(table->powers, 2));
    for (int j = 1; j < table->radix; j++) {
        const int high = j / LOW * LOW, low = j % LOW;
        if (high && low)
            line(p, "v%d[%s][%d] = multiply(v%d[%s][%d], multiply(w%d, w%d));", number, u,
                 j, number, u, j, high, low);
        else
            line(p, "v%d[%s][%d] = multiply(v%d[%s][%d], w%d);", number, u, j, number, u,
                 j, j);
    }
}

static void print_product(struct printer *p, int number, const struct kal_round *round,
                          const struct kal_action *action, const char *element)
{
    const char *u = unit_name(round);
    line(p, "UNROLL for (int j = 0; j < %d; j++)", round->registers);
    line(p,
         "    v%d[%s][j] = exchange(multiply(v%d[%s][j], ROOT(%lld + %s + j * %lld)));",
         number, u, number, u, (long long)p->k->table[action->table].at, element,
         (long long)action->register_before);
}

// The sum of all elements goes to element n-1, element n-1 into all.
static void print_rader(struct printer *p, int number, const struct kal_round *round,
                        const struct kal_action *action, const char *element)
{
    const struct kal_kernel *k = p->k;
    const char *u = unit_name(round);

    line(p, "C first = MAKE(ZERO, ZERO);");
    if (k->extra_span) {
        char bounds[256], at[64], text[256];
        bounds_text(k, round, bounds, sizeof bounds);
        snprintf(at, sizeof at, "in_line + %lld",
                 (long long)((k->n - 1) * k->pass->in.stride / unit_of(k, true)));
        line(p, "if (%s == 0%s%s) {", element, bounds[0] ? " && " : "", bounds);
        p->depth++;
        print_line_start(p, round, true);
        print_line_start(p, round, false);
        line(p, "first = %s;", load_text(k, text, sizeof text, at));
        line(p, "const C x = exchange(add(first, v%d[%s][0]));", number, u);
        snprintf(at, sizeof at, "out_line + %lld",
                 (long long)((k->n - 1) * k->pass->out.stride / unit_of(k, false)));
        print_store(p, at, "x");
        close(p);
    } else {
        struct sum lines = { "", 0 };
        for (int i = 0; i < round->digit_count; i++) {
            if (is_line(&round->digit[i]))
                add_term(&lines, digit_names[round->digit[i].role],
                         line_weight(k, &round->digit[i]));
        }
        line(p, "if (%s == 0) {", element);
        p->depth++;
        line(p, "first = EXTRA(%s);", sum_text(&lines));
        line(p, "EXTRA(%s) = exchange(add(first, v%d[%s][0]));", sum_text(&lines), number,
             u);
        close(p);
    }
    print_product(p, number, round, action, element);
    line(p, "v%d[%s][0] = add(v%d[%s][0], exchange(first));", number, u, number, u);
}

static void print_mirror(struct printer *p, int number, const struct kal_round *round,
                         const struct kal_action *action)
{
    const char *u = unit_name(round);
    line(p, "const C root = ROOT(%lld + element_index);",
         (long long)p->k->table[action->table].at);
    if (!is_split_step(round)) // coefficients 0 and n/2 are real, whatever is there
        line(p, "if (element_index == 0) v%d[%s][0].y = v%d[%s][1].y = ZERO;", number, u,
             number, u);
    line(p, "%s(v%d[%s], root);", is_split_step(round) ? "split" : "merge", number, u);
}

static void print_action(struct printer *p, int number, int i)
{
    const struct kal_round *round = &p->k->round[number];
    const struct kal_action *action = &round->action[i];
    const char *u = unit_name(round);
    char element[520];

    if (!action->step)
        return;
    const struct sum s = element_sum(p->k, round, action->before);
    snprintf(element, sizeof element, "(%s)", sum_text(&s));
    open(p, "");
    switch (action->step->op) {
    case KAL_STEP_DFT:
        line(p, "dft%d(v%d[%s]);", action->step->radix, number, u);
        if (action->table >= 0)
            print_step_twiddle(p, number, round, action);
        break;
    case KAL_STEP_PRODUCT: print_product(p, number, round, action, element); break;
    case KAL_STEP_RADER: print_rader(p, number, round, action, element); break;
    case KAL_STEP_SPLIT:
    case KAL_STEP_MERGE:
        print_element_index(p, round, action->before);
        print_mirror(p, number, round, action);
        break;
    }
    close(p);
}

static void print_actions(struct printer *p, int number)
{
    const struct kal_round *round = &p->k->round[number];
    bool acts = false;
    for (int i = 0; i < round->action_count; i++)
        acts = acts || round->action[i].step;
    if (!acts)
        return;
    open_units(p, round);
    // A pair or a Rader product beyond the last line or element must not be worked.
    bool is_bounded = false;
    if (p->k->extra_span)
        print_element_index(p, round, round->action[0].before);
    if (p->k->extra_span)
        open_bounds(p, round, &is_bounded);
    for (int i = 0; i < round->action_count; i++)
        print_action(p, number, i);
    if (is_bounded)
        close(p);
    close_units(p, round);
}

static int64_t layout_index(const struct kal_layout *layout, int64_t e)
{
    return e + e / layout->block * layout->pad;
}

static void add_line_terms(const struct kal_kernel *k, const struct kal_round *round,
                           const struct kal_layout *layout, struct sum *s)
{
    for (int i = 0; i < round->digit_count; i++) {
        if (is_line(&round->digit[i]))
            add_term(s, digit_names[round->digit[i].role],
                     line_weight(k, &round->digit[i]) * layout->line);
    }
}

// Address in the tile of element e, for rounds whose elements are no linear form.
static void print_tile_place(struct printer *p, const struct kal_round *round,
                             const struct kal_layout *layout)
{
    const struct kal_kernel *k = p->k;
    struct sum s = { "", 0 };
    char e[96] = "e";

    if (layout->pad)
        snprintf(e, sizeof e, "(e + e / %lld * %lld)", (long long)layout->block,
                 (long long)layout->pad);
    add_term(&s, e, layout->element);
    add_line_terms(k, round, layout, &s);
    if (k->extra < 0) {
        line(p, "const int at = %s;", sum_text(&s));
        return;
    }
    struct sum lines = { "", 0 };
    const struct kal_layout extra = { 1, 0, 1, 1 };
    add_line_terms(k, round, &extra, &lines);
    line(p, "const int at = e == %lld ? %lld + %s : %s;", (long long)k->n - 1,
         (long long)k->extra, sum_text(&lines), sum_text(&s));
}

// Write registers to the tile or read them; `part` is "", ".x" or ".y".
static void print_tile_access(struct printer *p, int number,
                              const struct kal_layout *layout, bool is_write,
                              const char *part)
{
    const struct kal_kernel *k = p->k;
    const struct kal_round *round = &k->round[number];
    const struct kal_action *action = is_write ? last_action(round) : &round->action[0];
    const int64_t *weights = is_write ? action->after : action->before;
    const char *u = unit_name(round);
    char tile[64], value[64];

    open_units(p, round);
    if (round->registers == 1 || round->mirror) {
        const bool is_permuted = is_write ? k->in.is_permuted : k->out.is_permuted;
        print_element_index(p, round, weights);
        open_registers(p, round);
        if (round->mirror)
            print_mirrored_element(p, round, true);
        else if (is_permuted)
            line(p, "const int e = MAP(%lld + element_index);",
                 (long long)table_at(k, is_write ? k->in.index : k->out.index));
        else
            line(p, "const int e = element_index;");
        print_tile_place(p, round, layout);
        snprintf(tile, sizeof tile, "tile[at]");
    } else {
        struct sum s = { "", 0 };
        for (int i = 0; i < round->digit_count; i++) {
            if (!is_line(&round->digit[i]))
                add_term(&s, digit_names[round->digit[i].role],
                         layout_index(layout, weights[i]) * layout->element);
        }
        add_line_terms(k, round, layout, &s);
        line(p, "const int at = %s;", sum_text(&s));
        open_registers(p, round);
        snprintf(tile, sizeof tile, "tile[at + j * %lld]",
                 (long long)(layout_index(layout, is_write ? action->register_after
                                                           : action->register_before) *
                             layout->element));
    }
    snprintf(value, sizeof value, "v%d[%s][j]%s", number, u, part);
    if (is_write && round->mirror) // there is no element `mirror`
        line(p, "if (j == 0 || element_index > 0)");
    if (is_write)
        line(p, "%s%s = %s;", round->mirror ? "    " : "", tile, value);
    else
        line(p, "%s = %s;", value, tile);
    close(p);
    close_units(p, round);
}

static void print_exchange(struct printer *p, int number)
{
    static const char *const whole[] = { "" }, *const parts[] = { ".x", ".y" };
    const struct kal_kernel *k = p->k;
    const struct kal_layout *layout = &k->round[number].layout;
    const char *const *part = k->is_split ? parts : whole;
    const int count = k->is_split ? 2 : 1;

    for (int i = 0; i < count; i++) {
        if (number > 0 || i > 0)
            line(p, "BARRIER;");
        print_tile_access(p, number, layout, true, part[i]);
        // What other lanes have read, from here on any lane may overwrite.
        line(p,
             k->pass->is_in_place && number == 0 && i == 0 ? "BARRIER_ALL;" : "BARRIER;");
        print_tile_access(p, number + 1, layout, false, part[i]);
    }
}

static void print_round_comment(struct printer *p, int number)
{
    const struct kal_round *round = &p->k->round[number];
    static const char *const names[] = { "radix", "Rader", "product", "split", "merge" };
    struct sum s = { "", 0 };

    for (int i = 0; i < round->action_count; i++) {
        const struct kal_step *step = round->action[i].step;
        char name[48];
        if (!step)
            continue;
        if (step->op == KAL_STEP_DFT)
            snprintf(name, sizeof name, "radix %d", step->radix);
        else
            snprintf(name, sizeof name, "%s", names[step->op]);
        add_term(&s, name, 1);
    }
    line(p, "// Round %d: %s%s%s", number + 1, round->from_memory ? "memory -> " : "",
         s.length ? s.data : "copy", round->to_memory ? " -> memory" : "");
}

// The mixed-radix digits of a number, fastest first.
static void print_digits(struct printer *p, const char *number, const char *digit,
                         const struct kal_group_loop *loops, int count, bool of_blocks)
{
    int64_t divisor = 1;
    for (int i = 0; i < count; i++) {
        const int64_t radix = of_blocks ? loops[i].blocks : loops[i].count;
        if (i + 1 < count)
            line(p, "const int %s%d = (int)(%s / %lldu %% %lldu);", digit, i, number,
                 (long long)divisor, (long long)radix);
        else
            line(p, "const int %s%d = (int)(%s / %lldu);", digit, i, number,
                 (long long)divisor);
        divisor *= radix;
    }
}

static void print_groups(struct printer *p)
{
    const struct kal_kernel *k = p->k;
    print_digits(p, "group", "group", k->loop, k->loop_count, true);
    if (k->is_fused) {
        print_digits(p, "number", "row", k->line_loop, k->line_loop_count, false);
        line(p, "const uint slot = number %% %lldu;", (long long)p->set->slots);
    }
    print_start(p, true);
    if (k->extra_span) // Rader's sum is stored while its product is taken
        print_start(p, false);
}

static void print_body(struct printer *p)
{
    const struct kal_kernel *k = p->k;
    for (int i = 0; i < k->round_count; i++) {
        kal_text_add(p->text, "\n");
        print_round_comment(p, i);
        if (i == 0) {
            line(p, "C v0[%d][%d];", k->round[0].lane_units, k->round[0].registers);
            print_load(p, 0);
        }
        print_actions(p, i);
        if (k->round[i].to_memory) {
            print_memory_store(p, i);
        } else {
            line(p, "C v%d[%d][%d];", i + 1, k->round[i + 1].lane_units,
                 k->round[i + 1].registers);
            print_exchange(p, i);
        }
    }
}

bool kal_kernel_takes_side(const struct kal_kernel_set *set, int pass, enum kal_slot slot)
{
    const struct kal_pass *p = set->kernel[pass]->pass;
    if (slot == KAL_SLOT_IN_IMAG)
        return !p->in.is_real && !p->in.imag;
    if (slot == KAL_SLOT_OUT_IMAG)
        return !p->out.is_real && !p->out.imag;
    return true;
}

bool kal_kernel_takes_table(const struct kal_kernel_set *set, enum kal_slot slot)
{
    bool roots = false, map = false;
    for (int j = 0; j < set->count; j++) {
        for (int i = 0; i < set->kernel[j]->table_count; i++) {
            const bool is_index = set->kernel[j]->table[i].kind == KAL_TABLE_INDEX;
            roots = roots || !is_index;
            map = map || is_index;
        }
    }
    return slot == KAL_SLOT_ROOTS ? roots : slot == KAL_SLOT_MAP ? map : set->count > 1;
}

int64_t kal_kernel_ticket_count(const struct kal_kernel_set *set)
{
    return set->count > 1 ? 1 + set->count * set->lines : 0;
}

static const char *const slot_names[] = { "in",    "in_imag", "out",    "out_imag",
                                          "roots", "map",     "tickets" };

static const char *slot_type(const struct kal_kernel *k, enum kal_slot slot)
{
    switch (slot) {
    case KAL_SLOT_IN: return k->in.is_vector ? "const C" : "const R";
    case KAL_SLOT_IN_IMAG: return "const R";
    case KAL_SLOT_OUT: return k->out.is_vector ? "C" : "R";
    case KAL_SLOT_OUT_IMAG: return "R";
    case KAL_SLOT_ROOTS: return "const C";
    case KAL_SLOT_MAP: return "const int";
    default: return "uint";
    }
}

// Call `print` for every slot that the set takes, with its name in the kernel's head.
static void each_slot(struct printer *p,
                      void (*print)(struct printer *p, enum kal_slot slot,
                                    const char *type, const char *name))
{
    char name[32];
    for (int i = 0; i < p->set->count; i++) {
        for (int slot = KAL_SLOT_IN; slot <= KAL_SLOT_OUT_IMAG; slot++) {
            if (!kal_kernel_takes_side(p->set, i, slot))
                continue;
            if (p->set->count > 1)
                snprintf(name, sizeof name, "%s_%d", slot_names[slot], i + 1);
            else
                snprintf(name, sizeof name, "%s", slot_names[slot]);
            print(p, slot, slot_type(p->set->kernel[i], slot), name);
        }
    }
    for (int slot = KAL_SLOT_ROOTS; slot < KAL_SLOT_COUNT; slot++) {
        if (kal_kernel_takes_table(p->set, slot))
            print(p, slot, slot_type(p->set->kernel[0], slot), slot_names[slot]);
    }
}

static void print_parameter(struct printer *p, enum kal_slot slot, const char *type,
                            const char *name)
{
    const bool is_table = slot == KAL_SLOT_ROOTS || slot == KAL_SLOT_MAP;
    kal_text_add(p->text, "%s%s(%s, %s)", p->depth++ ? ", " : "",
                 is_table ? "TABLE" : "MEMORY", type, name);
}

static void print_binding(struct printer *p, enum kal_slot slot, const char *type,
                          const char *name)
{
    (void)slot;
    line(p, "BIND(%s, %s)", type, name);
}

static void print_head(struct printer *p, const char *name)
{
    const struct kal_kernel_set *set = p->set;
    int64_t tile = 0;
    bool is_split = false;

    kal_text_add(p->text, "KERNEL(%s, %d, %d)(", name, set->lanes, set->resident);
    p->depth = 0;
    each_slot(p, print_parameter);
    kal_text_add(p->text, ")\n{\n");
    p->depth = 1;
    each_slot(p, print_binding);
    for (int i = 0; i < set->count; i++) {
        const struct kal_kernel *k = set->kernel[i];
        is_split = is_split || k->is_split;
        tile = kal_max(tile, kal_kernel_group_bytes(k));
    }
    const int64_t bytes = (set->kernel[0]->is_f64 ? 16 : 8) / (is_split ? 2 : 1);
    if (tile)
        line(p, "TILE(%s, tile, %lld)", is_split ? "R" : "C", (long long)(tile / bytes));
    line(p, "const uint lane = LANE;");
}

static void print_comment(struct printer *p)
{
    for (int i = 0; i < p->set->count; i++) {
        const struct kal_kernel *k = p->set->kernel[i];
        kal_text_add(
            p->text,
            "// %lld lines of %lld points a group: %d lanes, %lld bytes of group "
            "memory; %lld groups%s.\n",
            (long long)k->lines, (long long)k->n, k->lanes,
            (long long)kal_kernel_group_bytes(k), (long long)k->groups,
            k->is_fused ? " a ticketed line" : "");
    }
}

static void print_codelets(struct printer *p)
{
    const struct kal_host *host = p->text->host;
    bool done[KAL_CODELET_MAX + 1] = { false };

    for (int j = 0; j < p->set->count * KAL_MAX_PASS_STEPS; j++) {
        const struct kal_pass *pass = p->set->kernel[j / KAL_MAX_PASS_STEPS]->pass;
        const int i = j % KAL_MAX_PASS_STEPS;
        if (i >= pass->step_count)
            continue;
        const struct kal_step *step = &pass->step[i];
        struct kal_codelet codelet;
        char name[32];
        if (step->op != KAL_STEP_DFT || done[step->radix])
            continue;
        done[step->radix] = true;
        const struct kal_codelet_spec spec = kal_length_spec(step->radix, KAL_FMA, false);
        snprintf(name, sizeof name, "dft%d", step->radix);
        const kallima_status status = kal_codelet_build(&codelet, host, &spec);
        if (status)
            p->text->status = status;
        else
            kal_emit_codelet(p->text, p->dialect, &codelet, name);
        kal_codelet_clear(&codelet);
        kal_text_add(p->text, "\n");
    }
}

// The arrays of pass `i` by the names that its statements use.
static void print_aliases(struct printer *p, int i)
{
    for (int slot = KAL_SLOT_IN; slot <= KAL_SLOT_OUT_IMAG; slot++) {
        if (kal_kernel_takes_side(p->set, i, slot))
            line(p, "ALIAS(%s, %s, %s_%d)", slot_type(p->set->kernel[i], slot),
                 slot_names[slot], slot_names[slot], i + 1);
    }
}

// Wait until all groups of pass `i` have finished line `of`.
static void print_wait(struct printer *p, int i, const char *of)
{
    line(p, "if (lane == 0u) {");
    line(p, "    while (PEEK(tickets, 1u + (%s) * %du + %du) < %lldu) { }", of,
         p->set->count, i, (long long)p->set->kernel[i]->groups);
    line(p, "    FENCE;");
    line(p, "}");
}

// A ticket is `step`, which counts lines, and `part`, which counts the groups of all passes
// of a line. One flat condition: PoCL 3.1 miscompiles barriers in nested or alternative ones.
static void print_ticketed_pass(struct printer *p, int i, int64_t first_group)
{
    const struct kal_kernel_set *set = p->set;
    const int64_t lag = i * set->lag;
    char head[160];

    p->k = set->kernel[i];
    snprintf(head, sizeof head,
             "if (part >= %lldu && part < %lldu && step >= %lldu && step < %lldu) ",
             (long long)first_group, (long long)(first_group + p->k->groups),
             (long long)lag, (long long)(lag + set->lines));
    open(p, head);
    line(p, "const uint group = part - %lldu;", (long long)first_group);
    line(p, "const uint number = step - %lldu;", (long long)lag);
    print_aliases(p, i);
    if (i > 0) {
        print_wait(p, i - 1, "number");
    } else if (set->slots < set->lines) {
        snprintf(head, sizeof head, "if (number >= %lldu) ", (long long)set->slots);
        open(p, head);
        snprintf(head, sizeof head, "number - %lldu", (long long)set->slots);
        print_wait(p, set->count - 1, head);
        close(p);
    }
    line(p, "BARRIER_ALL;");
    open(p, "");
    print_groups(p);
    print_body(p);
    close(p);
    line(p, "BARRIER_ALL;");
    line(p, "if (lane == 0u) {");
    line(p, "    FENCE;");
    line(p, "    TAKE(tickets, 1u + number * %du + %du);", set->count, i);
    line(p, "}");
    close(p);
}

static void print_tickets(struct printer *p)
{
    const struct kal_kernel_set *set = p->set;
    int64_t per_line = 0, first = 0;

    for (int i = 0; i < set->count; i++)
        per_line += set->kernel[i]->groups;
    line(p, "SHARED(uint, ticket, 1)");
    open(p, "do ");
    line(p, "BARRIER;");
    line(p, "if (lane == 0u) ticket[0] = TAKE(tickets, 0);");
    line(p, "BARRIER;");
    line(p, "const uint step = ticket[0] / %lldu;", (long long)per_line);
    line(p, "const uint part = ticket[0] %% %lldu;", (long long)per_line);
    for (int i = 0; i < set->count; i++) {
        print_ticketed_pass(p, i, first);
        first += set->kernel[i]->groups;
    }
    p->depth--;
    line(p, "} while (ticket[0] < %lldu);",
         (long long)((set->lines + (set->count - 1) * set->lag) * per_line));
}

void kal_emit_kernel(struct kal_text *text, const struct kal_dialect *dialect,
                     const struct kal_kernel_set *set, const char *name)
{
    const struct kal_kernel *k = set->kernel[0];
    struct printer p = { text, dialect, set, k, 0 };

    kal_text_add(text, "%s%s", dialect->precision[k->is_f64], dialect->prelude);
    if (k->extra >= 0)
        kal_text_add(text, "#define EXTRA(line) tile[%lld + (line)]\n",
                     (long long)k->extra);
    kal_text_add(text, "\n");
    print_codelets(&p);
    print_comment(&p);
    print_head(&p, name);
    if (set->count > 1) {
        print_tickets(&p);
    } else {
        line(&p, "const uint group = GROUP;");
        print_groups(&p);
        print_body(&p);
    }
    kal_text_add(text, "}\n");
}
