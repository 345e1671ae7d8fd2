// SPDX-License-Identifier: MIT
// Kernels as text: their heads, what a group works on, tickets. What differs between languages
// is behind the macros of their prelude.
#include "emit/kernel.h"
#include "codelet/lengths.h"
#include "emit/emit.h"
#include "emit/printer.h"

#include <stdio.h>

// The mixed-radix digits of a number, fastest first.
static void print_digits(struct kal_printer *p, const char *number, const char *digit,
                         const struct kal_group_loop *loops, int count, bool of_blocks)
{
    int64_t divisor = 1;
    for (int i = 0; i < count; i++) {
        const int64_t radix = of_blocks ? loops[i].blocks : loops[i].count;
        if (i + 1 < count)
            kal_line(p, "const int %s%d = CAST(int, %s / %lldu %% %lldu);", digit, i,
                     number, (long long)divisor, (long long)radix);
        else
            kal_line(p, "const int %s%d = CAST(int, %s / %lldu);", digit, i, number,
                     (long long)divisor);
        divisor *= radix;
    }
}

static void print_groups(struct kal_printer *p)
{
    const struct kal_kernel *k = p->k;
    print_digits(p, "group", "group", k->loop, k->loop_count, true);
    if (k->is_fused) {
        print_digits(p, "number", "row", k->line_loop, k->line_loop_count, false);
        if (k->cluster == 1)
            kal_line(p, "const uint slot = number %% %lldu;", (long long)p->set->slots);
    }
    if (!k->from_cluster)
        kal_print_start(p, true);
    if (k->extra_span) // Rader's sum is stored while its product is taken
        kal_print_start(p, false);
}

bool kal_kernel_takes_side(const struct kal_kernel_set *set, int pass, enum kal_slot slot)
{
    const struct kal_kernel *k = set->kernel[pass];
    const struct kal_pass *p = k->pass;
    if (slot <= KAL_SLOT_IN_IMAG ? k->from_cluster : k->to_cluster)
        return false;
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
            const bool is_index = kal_table_is_index(set->kernel[j]->table[i].kind);
            roots = roots || !is_index;
            map = map || is_index;
        }
    }
    return slot == KAL_SLOT_ROOTS ? roots
           : slot == KAL_SLOT_MAP ? map
                                  : kal_kernel_ticket_count(set) > 0;
}

int64_t kal_kernel_ticket_count(const struct kal_kernel_set *set)
{
    return set->count > 1 && set->cluster == 1 ? 1 + set->count * set->lines : 0;
}

static const char *const slot_names[] = { "in",    "in_imag", "out",    "out_imag",
                                          "roots", "map",     "tickets" };

void kal_slot_name(char name[KAL_SLOT_NAME], enum kal_slot slot, int pass)
{
    if (pass)
        snprintf(name, KAL_SLOT_NAME, "%s_%d", slot_names[slot], pass);
    else
        snprintf(name, KAL_SLOT_NAME, "%s", slot_names[slot]);
}

// An array of reals, pairs or integers; "const" comes before it where nothing writes it.
static const char *slot_type(const struct kal_kernel *k, enum kal_slot slot)
{
    switch (slot) {
    case KAL_SLOT_IN: return k->in.is_vector ? "C" : "R";
    case KAL_SLOT_OUT: return k->out.is_vector ? "C" : "R";
    case KAL_SLOT_ROOTS: return "C";
    case KAL_SLOT_MAP: return "int";
    case KAL_SLOT_TICKETS: return "uint";
    default: return "R";
    }
}

static bool is_written(enum kal_slot slot)
{
    return slot == KAL_SLOT_OUT || slot == KAL_SLOT_OUT_IMAG || slot == KAL_SLOT_TICKETS;
}

// Is it scratch between the passes of a launch, or its tickets?
static bool is_between_groups(const struct kal_kernel_set *set, int pass,
                              enum kal_slot slot)
{
    const struct kal_pass *p = set->kernel[pass]->pass;
    const bool is_in = slot == KAL_SLOT_IN || slot == KAL_SLOT_IN_IMAG;
    const bool is_out = slot == KAL_SLOT_OUT || slot == KAL_SLOT_OUT_IMAG;
    return set->count > 1 &&
           (slot == KAL_SLOT_TICKETS || (is_in && p->in.buffer == KAL_BUFFER_CHUNK) ||
            (is_out && p->out.buffer == KAL_BUFFER_CHUNK));
}

enum kal_slot_use kal_kernel_slot_use(const struct kal_kernel_set *set,
                                      const struct kal_dialect *dialect, int pass,
                                      enum kal_slot slot)
{
    const bool is_shared = dialect->slot[KAL_SLOT_SHARED] && slot <= KAL_SLOT_OUT_IMAG &&
                           set->kernel[pass]->pass->is_in_place;
    if (dialect->slot[KAL_SLOT_BETWEEN] && is_between_groups(set, pass, slot))
        return KAL_SLOT_BETWEEN;
    if (is_shared)
        return is_written(slot) ? KAL_SLOT_SHARED : KAL_SLOT_WRITTEN;
    return is_written(slot) ? KAL_SLOT_WRITTEN : KAL_SLOT_READ;
}

/** One argument of a kernel, of its pass `pass`. */
struct parameter {
    enum kal_slot slot;
    const char *type, *name;
    int number, pass;
};

// Call `print` for every slot that the set takes, with its name in the kernel's head.
static void each_slot(struct kal_printer *p,
                      void (*print)(struct kal_printer *p, const struct parameter *a))
{
    const struct kal_kernel_set *set = p->set;
    char name[KAL_SLOT_NAME];
    struct parameter a = { .name = name };
    for (int i = 0; i < set->count; i++) {
        for (a.slot = KAL_SLOT_IN; a.slot <= KAL_SLOT_OUT_IMAG; a.slot++) {
            if (!kal_kernel_takes_side(set, i, a.slot))
                continue;
            kal_slot_name(name, a.slot, set->kernel[i]->number);
            a.type = slot_type(set->kernel[i], a.slot);
            a.pass = i;
            print(p, &a);
            a.number++;
        }
    }
    for (a.slot = KAL_SLOT_ROOTS; a.slot < KAL_SLOT_COUNT; a.slot++) {
        if (!kal_kernel_takes_table(set, a.slot))
            continue;
        a.name = slot_names[a.slot];
        a.type = slot_type(set->kernel[0], a.slot);
        print(p, &a);
        a.number++;
    }
}

static const char *constness(enum kal_slot slot)
{
    return is_written(slot) ? "" : "const ";
}

static void print_parameter(struct kal_printer *p, const struct parameter *a)
{
    const bool is_table =
        (a->slot == KAL_SLOT_ROOTS || a->slot == KAL_SLOT_MAP) && !p->set->reads_late;
    kal_text_add(p->text, "%s%s(%s%s, %s)", a->number ? ", " : "",
                 is_table ? "TABLE" : "MEMORY", constness(a->slot), a->type, a->name);
}

static int entry_bytes(const struct kal_kernel *k, const char *type)
{
    const int real_bytes = k->is_f64 ? 8 : 4;
    return type[0] == 'C' ? 2 * real_bytes : type[0] == 'R' ? real_bytes : 4;
}

static void print_declaration(struct kal_printer *p, const struct parameter *a)
{
    const enum kal_slot_use use =
        kal_kernel_slot_use(p->set, p->dialect, a->pass, a->slot);
    char bytes[16], number[16];

    snprintf(bytes, sizeof bytes, "%d", entry_bytes(p->k, a->type));
    snprintf(number, sizeof number, "%d", a->number);
    kal_emit_pattern(
        p->text, p->dialect->slot[use],
        &(struct kal_operands){ .a = a->name,
                                .b = a->type,
                                .c = bytes,
                                .f = a->slot == KAL_SLOT_OUT_IMAG ? "in_imag" : "in",
                                .n = number });
}

static void print_binding(struct kal_printer *p, const struct parameter *a)
{
    kal_line(p, "BIND(%s%s, %s)", constness(a->slot), a->type, a->name);
}

// What a group shares: the tile of the pass that needs most, and tickets.
static void print_tile(struct kal_printer *p)
{
    const struct kal_kernel_set *set = p->set;
    int64_t tile = 0;
    bool is_split = false;

    for (int i = 0; i < set->count; i++) {
        const struct kal_kernel *k = set->kernel[i];
        is_split = is_split || k->is_split;
        tile = kal_max(tile, kal_kernel_group_bytes(k));
    }
    const int64_t bytes = (set->kernel[0]->is_f64 ? 16 : 8) / (is_split ? 2 : 1);
    if (tile)
        kal_line(p, "TILE(%s, tile, %lld)", is_split ? "R" : "C",
                 (long long)(tile / bytes));
    if (kal_kernel_ticket_count(set))
        kal_line(p, "SHARED(uint, ticket, 2) // this and the next, by turns");
}

static void print_head(struct kal_printer *p, const char *name)
{
    const struct kal_kernel_set *set = p->set;
    const bool is_global = kal_dialect_is_global(p->dialect);

    p->depth = 0;
    if (is_global) {
        each_slot(p, print_declaration);
        print_tile(p);
    }
    kal_text_add(p->text, "KERNEL(%s, %d, %d)", name, set->lanes, set->resident);
    if (!is_global) {
        kal_text_add(p->text, "(");
        each_slot(p, print_parameter);
        kal_text_add(p->text, ")");
    }
    kal_text_add(p->text, "\n{\n");
    p->depth = 1;
    if (!is_global) {
        each_slot(p, print_binding);
        print_tile(p);
    }
    kal_line(p, "const uint lane = LANE;");
}

static void print_comment(struct kal_printer *p)
{
    for (int i = 0; i < p->set->count; i++) {
        const struct kal_kernel *k = p->set->kernel[i];
        kal_text_add(
            p->text,
            "// %lld lines of %lld points a group: %d lanes, %lld bytes of group "
            "memory; %lld groups%s.\n",
            (long long)k->lines, (long long)k->n, k->lanes,
            (long long)kal_kernel_group_bytes(k), (long long)k->groups,
            k->cluster > 1 ? " a cluster"
            : k->is_fused  ? " a ticketed line"
                           : "");
    }
}

static void print_codelets(struct kal_printer *p)
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
        const enum kal_flavour flavour = p->dialect->rounds_twice ? KAL_PLAIN : KAL_FMA;
        const struct kal_codelet_spec spec = kal_length_spec(step->radix, flavour, false);
        snprintf(name, sizeof name, "dft%d", step->radix);
        const kallima_status status = kal_codelet_build(&codelet, host, &spec);
        if (status)
            p->text->status = status;
        else
            kal_emit_codelet(p->text, p->dialect, &codelet, p->set->kernel[0]->is_f64,
                             name);
        kal_codelet_clear(&codelet);
        kal_text_add(p->text, "\n");
    }
}

// Groups of a line ahead of those of pass `i`; of all passes: those of the line.
static int64_t groups_before(const struct kal_kernel_set *set, int i)
{
    int64_t groups = 0;
    while (i--)
        groups += set->kernel[i]->groups;
    return groups;
}

// When pass `i` works at a ticket, which is `step`, which counts lines, and `part`, which
// counts the groups of all passes of a line.
static const char *ticket_condition(const struct kal_kernel_set *set, int i, char *text,
                                    size_t bytes)
{
    snprintf(text, bytes,
             "if (part >= %lldu && part < %lldu && step >= %lldu && step < %lldu)",
             (long long)groups_before(set, i), (long long)groups_before(set, i + 1),
             (long long)(i * set->lag), (long long)(i * set->lag + set->lines));
    return text;
}

static void print_parts(struct kal_printer *p)
{
    const long long per_line = groups_before(p->set, p->set->count);
    kal_line(p, "const uint step = now / %lldu;", per_line);
    kal_line(p, "const uint part = now %% %lldu;", per_line);
}

// A pass waits for the one before it; the first one for the last one of the line whose slot
// it overwrites.
static void print_awaited(struct kal_printer *p)
{
    const struct kal_kernel_set *set = p->set;
    const int last = set->count - 1;
    char head[160];

    kal_text_add(p->text, "// The counter that a ticket waits for; 0: for none.\n"
                          "FUNCTION uint awaited(uint now)\n{\n");
    p->depth = 1;
    print_parts(p);
    for (int i = 0; i < set->count; i++) {
        const int64_t back = i > 0 ? i * set->lag : set->slots;
        if (i == 0 && set->slots >= set->lines)
            continue;
        kal_line(p, "%s", ticket_condition(set, i, head, sizeof head));
        if (i > 0)
            kal_line(p, "    return 1u + (step - %lldu) * %du + %du;", (long long)back,
                     set->count, i - 1);
        else
            kal_line(p, "    return step < %lldu ? 0u : 1u + (step - %lldu) * %du + %du;",
                     (long long)back, (long long)back, set->count, last);
    }
    kal_line(p, "return 0u;");
    kal_text_add(p->text, "}\n\n// What the counter comes to.\n"
                          "FUNCTION uint target(uint counter)\n{\n");
    for (int i = 0; i < set->count; i++)
        kal_line(p, "if (counter > 0u && (counter - 1u) %% %du == %du) return %lldu;",
                 set->count, i, (long long)set->kernel[i]->groups);
    kal_line(p, "return 0u;");
    kal_text_add(p->text, "}\n\n");
}

void kal_print_next_ticket(struct kal_printer *p)
{
    if (kal_kernel_ticket_count(p->set))
        kal_line(p, "if (lane == 0u) next = TAKE(tickets, 0);");
}

// One flat condition: PoCL 3.1 miscompiles barriers in nested or alternative ones.
static void print_ticketed_pass(struct kal_printer *p, int i)
{
    const struct kal_kernel_set *set = p->set;
    char head[160];

    p->k = set->kernel[i];
    kal_line(p, "%s", ticket_condition(set, i, head, sizeof head));
    kal_open(p, "");
    kal_line(p, "const uint group = part - %lldu;", (long long)groups_before(set, i));
    kal_line(p, "const uint number = step - %lldu;", (long long)(i * set->lag));
    print_groups(p);
    kal_print_body(p);
    kal_line(p, "done = 1u + number * %du + %du;", set->count, i);
    kal_close(p);
}

// The next ticket is taken ahead of the last round, so that it is there when that is done.
// While one lane says that a ticket is done, which waits for all that was stored, another one
// looks at what the next ticket waits for. Nobody waits who has not said what is done: a
// ticket waits for earlier ones, so that there is always one that can go on.
static void print_tickets(struct kal_printer *p)
{
    const struct kal_kernel_set *set = p->set;
    const long long end =
        (set->lines + (set->count - 1) * set->lag) * groups_before(set, set->count);

    kal_line(p, "uint side = 0u, seen = 0u;");
    kal_line(p, "if (lane == 0u) ticket[0] = TAKE(tickets, 0);");
    kal_line(p, "BARRIER;");
    kal_line(p, "uint now = ticket[0];");
    kal_open(p, "do ");
    kal_line(p, "uint next = 0u, done = 0u;");
    kal_open(p, "if (lane == 0u) ");
    kal_line(p, "const uint counter = awaited(now);");
    kal_line(p, "while (seen < target(counter)) seen = PEEK(tickets, counter);");
    kal_line(p, "ACQUIRE;");
    kal_close(p);
    kal_line(p, "BARRIER_ACQUIRED;");
    print_parts(p);
    for (int i = 0; i < set->count; i++)
        print_ticketed_pass(p, i);
    kal_open(p, "if (lane == 0u) ");
    kal_line(p, "if (next == 0u) next = TAKE(tickets, 0); // there was no pass");
    kal_line(p, "seen = PEEK(tickets, awaited(next));");
    kal_line(p, "ticket[1u - side] = next;");
    kal_close(p);
    kal_line(p, "BARRIER_ALL;");
    kal_line(p, "if (lane == %du && done > 0u) { RELEASE(tickets, done); }",
             set->lanes - 1);
    kal_line(p, "side = 1u - side;");
    kal_line(p, "now = ticket[side];");
    p->depth--;
    kal_line(p, "} while (now < %lldu);", end);
}

// All passes of a line, each group its part of each.
static void print_cluster(struct kal_printer *p)
{
    const struct kal_kernel_set *set = p->set;

    kal_line(p, "const uint number = GROUP / %du;", set->cluster);
    kal_line(p, "const uint group = GROUP %% %du;", set->cluster);
    for (int i = 0; i < set->count; i++) {
        p->k = set->kernel[i];
        kal_open(p, "");
        print_groups(p);
        kal_print_body(p);
        kal_close(p);
    }
}

static bool has_planar_side(const struct kal_kernel_set *set)
{
    bool found = false;
    for (int i = 0; i < set->count; i++)
        found = found || kal_kernel_takes_side(set, i, KAL_SLOT_IN_IMAG) ||
                kal_kernel_takes_side(set, i, KAL_SLOT_OUT_IMAG);
    return found;
}

static bool has_product(const struct kal_kernel_set *set)
{
    bool found = false;
    for (int i = 0; i < set->count; i++) {
        const struct kal_pass *pass = set->kernel[i]->pass;
        for (int j = 0; j < pass->step_count; j++)
            found = found || pass->step[j].op == KAL_STEP_PRODUCT;
    }
    return found;
}

void kal_emit_kernel(struct kal_text *text, const struct kal_dialect *dialect,
                     const struct kal_kernel_set *set, const char *name)
{
    const struct kal_kernel *k = set->kernel[0];
    struct kal_printer p = { text, dialect, set, k, 0, false };
    const bool keeps_loops =
        dialect->keeps_loops && (has_planar_side(set) || has_product(set));

    const bool has_tickets = dialect->for_tickets && kal_kernel_ticket_count(set);

    kal_text_add(text, "%s%s%s%s\n", dialect->precision[k->is_f64],
                 keeps_loops ? dialect->keeps_loops : "",
                 has_tickets ? dialect->for_tickets : "", dialect->prelude);
    print_codelets(&p);
    if (kal_kernel_ticket_count(set))
        print_awaited(&p);
    print_comment(&p);
    print_head(&p, name);
    if (set->cluster > 1) {
        print_cluster(&p);
    } else if (set->count > 1) {
        print_tickets(&p);
    } else {
        kal_line(&p, "const uint group = GROUP;");
        print_groups(&p);
        kal_print_body(&p);
    }
    kal_text_add(text, "}\n");
}
