// SPDX-License-Identifier: MIT
// One element between memory and `x`: where it is, and what is done to it on the way.
#include "emit/kernel.h"
#include "emit/printer.h"

#include <limits.h>
#include <stdio.h>

const struct kal_side *kal_side_of(const struct kal_kernel *k, bool is_in)
{
    return is_in ? &k->pass->in : &k->pass->out;
}

const struct kal_access *kal_access_of(const struct kal_kernel *k, bool is_in)
{
    return is_in ? &k->in : &k->out;
}

// Reals in one entry of the array as the kernel sees it.
int64_t kal_access_unit(const struct kal_kernel *k, bool is_in)
{
    return kal_access_of(k, is_in)->is_vector ? 2 : 1;
}

static int64_t loop_map(const struct kal_group_loop *loop, bool is_in)
{
    return is_in ? loop->in_map : loop->out_map;
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
const char *kal_load_text(const struct kal_kernel *k, char *text, size_t capacity,
                          const char *at)
{
    const struct kal_side *side = &k->pass->in;
    const char *load = access_name(k, side, true);
    char in[KAL_SLOT_NAME], in_imag[KAL_SLOT_NAME];

    kal_slot_name(in, KAL_SLOT_IN, k->number);
    kal_slot_name(in_imag, KAL_SLOT_IN_IMAG, k->number);
    if (k->in.is_vector)
        snprintf(text, capacity, "%s(%s, %s)", load, in, at);
    else if (side->is_real)
        snprintf(text, capacity, "MAKE(%s(%s, %s), ZERO)", load, in, at);
    else if (side->imag)
        snprintf(text, capacity, "MAKE(%s(%s, %s), %s(%s, %s + %lld))", load, in, at,
                 load, in, at, (long long)side->imag);
    else
        snprintf(text, capacity, "MAKE(%s(%s, %s), %s(%s, %s))", load, in, at, load,
                 in_imag, at);
    return text;
}

void kal_print_store(struct kal_printer *p, const char *at, const char *value)
{
    const struct kal_side *side = &p->k->pass->out;
    const char *store = access_name(p->k, side, false);
    char out[KAL_SLOT_NAME], out_imag[KAL_SLOT_NAME];

    kal_slot_name(out, KAL_SLOT_OUT, p->k->number);
    kal_slot_name(out_imag, KAL_SLOT_OUT_IMAG, p->k->number);
    if (p->k->out.is_vector) {
        kal_line(p, "%s(%s, %s, %s);", store, out, at, value);
        return;
    }
    kal_line(p, "%s(%s, %s, %s.x);", store, out, at, value);
    if (side->is_real)
        return;
    if (side->imag)
        kal_line(p, "%s(%s, %s + %lld, %s.y);", store, out, at, (long long)side->imag,
                 value);
    else
        kal_line(p, "%s(%s, %s, %s.y);", store, out_imag, at, value);
}

// Address in memory of the element called `element`, which the index map may move.
void kal_print_address(struct kal_printer *p, bool is_in, const char *element)
{
    const struct kal_kernel *k = p->k;
    const int64_t stride = kal_side_of(k, is_in)->stride / kal_access_unit(k, is_in);
    kal_line(p, "const INDEX at = %s_line + CAST(INDEX, %s) * %lld;",
             is_in ? "in" : "out", element, (long long)stride);
}

const char *kal_loop_text(const struct kal_kernel *k, int i, char *text, size_t capacity)
{
    const struct kal_group_loop *loop = &k->loop[i];
    if (loop->width > 1)
        snprintf(text, capacity, "(group%d * %lld + line%s)", i, (long long)loop->width,
                 i ? "2" : "");
    else
        snprintf(text, capacity, "group%d", i);
    return text;
}

static int find_loop(const struct kal_group_loop *loops, int count, int number)
{
    int i = 0;
    while (i < count && loops[i].number != number)
        i++;
    return i;
}

// A loop may be one of the group's, or of the lines that are handed out, or both: those of a
// chunk are the group's.
const char *kal_numbered_loop_text(const struct kal_kernel *k, int number, char *text,
                                   size_t capacity)
{
    const int i = find_loop(k->loop, k->loop_count, number);
    const int row = find_loop(k->line_loop, k->line_loop_count, number);
    char own[48];

    if (row == k->line_loop_count && i < k->loop_count)
        return kal_loop_text(k, i, text, capacity);
    if (row == k->line_loop_count)
        snprintf(text, capacity, "0"); // a loop of one step
    else if (i == k->loop_count)
        snprintf(text, capacity, "row%d", row);
    else
        snprintf(text, capacity, "(row%d * %lld + %s)", row, (long long)k->chunk,
                 kal_loop_text(k, i, own, sizeof own));
    return text;
}

// Twice an entry must fit too.
static const char *entry_type(int64_t entries)
{
    return entries > INT_MAX / 2 ? "INDEX" : "int";
}

// The name that tile element `e` has in the maps of its side.
const char *kal_print_entry(struct kal_printer *p, bool is_in)
{
    const struct kal_kernel *k = p->k;
    const struct kal_access *access = kal_access_of(k, is_in);
    const char *type = entry_type(access->elements);
    struct kal_sum s = { "", 0 };
    char name[64], index[48];

    if (!access->is_part)
        return "e";
    snprintf(name, sizeof name, "CAST(%s, e)", type);
    kal_sum_add(&s, name, kal_side_of(k, is_in)->map_step);
    for (int i = 0; i < k->line_loop_count; i++) {
        snprintf(name, sizeof name, "CAST(%s, row%d)", type, i);
        kal_sum_add(&s, name, loop_map(&k->line_loop[i], is_in));
    }
    for (int i = 0; i < k->loop_count; i++) {
        snprintf(name, sizeof name, "CAST(%s, %s)", type,
                 kal_loop_text(k, i, index, sizeof index));
        kal_sum_add(&s, name, loop_map(&k->loop[i], is_in));
    }
    kal_line(p, "const %s entry = %s;", type, kal_sum_text(&s));
    return "entry";
}

// Where the entry is kept: itself, or what mirrors it, or behind the gaps between rows.
static const char *print_place(struct kal_printer *p, const struct kal_side *side,
                               const char *entry)
{
    if (side->gap) {
        const char *type =
            entry_type((p->k->n / side->row + 1) * (side->row + side->gap));
        kal_line(p, "const %s place = %s + CAST(%s, %s / %lld) * %lld;", type, entry,
                 type, entry, (long long)side->row, (long long)side->gap);
        return "place";
    }
    if (!side->mirror_n)
        return entry;
    const long long n = side->mirror_n;
    kal_line(p, "const bool is_mirrored = entry > %lld;", n / 2);
    kal_line(p, "const %s place = is_mirrored ? %lld - entry : entry;", entry_type(n), n);
    return "place";
}

// Entries behind the last one are zeros: leave them out, or read the last one in their place.
static const char *print_present(struct kal_printer *p, const char *entry, int *opened)
{
    const long long count = p->k->pass->in.count;
    char head[64];

    if (p->dialect->loads_always) {
        kal_line(p, "const %s present = min(%s, %lld);", entry_type(count), entry,
                 count - 1);
        return "present";
    }
    snprintf(head, sizeof head, "if (%s < %lld) ", entry, count);
    kal_open(p, head);
    ++*opened;
    return entry;
}

// Read tile element `e` (an int) to x.
void kal_print_load_element(struct kal_printer *p)
{
    const struct kal_kernel *k = p->k;
    const struct kal_side *side = &k->pass->in;
    const bool is_gathered = k->in.index >= 0 && !k->in.is_permuted;
    char text[256];
    int opened = 0;

    kal_line(p, "C x = MAKE(ZERO, ZERO);");
    const char *known = kal_print_entry(p, true), *entry = known;
    if (side->count < k->in.elements)
        entry = print_present(p, known, &opened);
    const char *place = entry;
    if (is_gathered) {
        kal_line(p, "const int i = MAP(%lld + %s);",
                 (long long)kal_table_at(k, k->in.index), entry);
        if (k->in.has_gaps) {
            kal_open(p, "if (i != -1) ");
            opened++;
        }
        kal_line(p, "const int place = %s;", k->in.has_gaps ? "i < 0 ? -2 - i : i" : "i");
        place = "place";
    } else {
        place = print_place(p, side, entry);
    }
    kal_print_address(p, true, place);
    kal_line(p, "x = %s;", kal_load_text(k, text, sizeof text, "at"));
    if (is_gathered && k->in.has_gaps)
        kal_line(p, "if (i < 0) x.y = -x.y;");
    if (side->mirror_n) { // the first and the middle one are real, whatever is there
        kal_line(p, "if (is_mirrored) x.y = -x.y;");
        kal_line(p, "if (entry == 0 || 2 * entry == %lld) x.y = ZERO;",
                 (long long)side->mirror_n);
    }
    if (side->is_swapped)
        kal_line(p, "x = exchange(x);");
    if (side->chirp_n)
        kal_line(p, "x = multiply(x, ROOT(%lld + %s));",
                 (long long)kal_table_at(k, k->in.chirp), entry);
    if (entry != known)
        kal_line(p, "if (%s != %s) x = MAKE(ZERO, ZERO);", entry, known);
    while (opened--)
        kal_close(p);
}

static void print_twiddle(struct kal_printer *p, const char *element)
{
    const struct kal_kernel *k = p->k;
    const struct kal_table *fine = &k->table[k->out.fine];
    const char *type = k->pass->out.twiddle_n > INT_MAX ? "ULONG" : "uint";
    char index[96];

    kal_numbered_loop_text(k, k->pass->out.twiddle_loop, index, sizeof index);
    kal_line(p, "const %s turn = CAST(%s, %s) * CAST(%s, %s);", type, type, element, type,
             index);
    kal_line(p,
             "const C root = multiply(ROOT(%lldu + (turn >> %d)), ROOT(%lldu + (turn & "
             "%lldu)));",
             (long long)kal_table_at(k, k->out.coarse), fine->shift, (long long)fine->at,
             (long long)((1ll << fine->shift) - 1));
    kal_line(p, "x = %s(x, root);",
             k->pass->out.twiddle_is_conjugate ? "multiply_conjugate" : "multiply");
}

void kal_print_scale(struct kal_printer *p)
{
    const double scale = p->k->pass->scale;
    const char *suffix = p->dialect->suffix[p->k->is_f64];
    if (scale != 1.0)
        kal_line(p, "x = MAKE(x.x * LITERAL(%.17e%s), x.y * LITERAL(%.17e%s));", scale,
                 suffix, scale, suffix);
}

// Write x, tile element `e`, into the tile of a group of the cluster.
void kal_print_cluster_store(struct kal_printer *p)
{
    const struct kal_kernel *k = p->k;
    char line[64];
    kal_line(p,
             "CLUSTER_STORE(CAST(uint, e) / %lldu, e %% %lld * %lld + (%s) * %lld, x);",
             (long long)k->cluster_lines, (long long)k->cluster_lines,
             (long long)k->cluster_layout.line, kal_loop_text(k, 0, line, sizeof line),
             (long long)k->cluster_layout.element);
}

// Open the conditions under which element `entry` is stored, and find its place. `opened`
// counts them.
static const char *open_place(struct kal_printer *p, const char *entry, int *opened)
{
    const struct kal_kernel *k = p->k;
    const struct kal_side *side = &k->pass->out;
    char head[96];

    if (side->count < k->out.elements) {
        snprintf(head, sizeof head, "if (%s < %lld) ", entry, (long long)side->count);
        kal_open(p, head);
        ++*opened;
    }
    if (k->out.index >= 0 && !k->out.is_permuted) {
        kal_line(p, "const int place = MAP(%lld + %s);",
                 (long long)kal_table_at(k, k->out.index), entry);
        if (k->out.has_gaps) {
            kal_open(p, "if (place >= 0) ");
            ++*opened;
        }
        return "place";
    }
    const char *place = print_place(p, side, entry);
    if (side->mirror_n) {
        snprintf(head, sizeof head, "if (!is_mirrored || 2 * entry %% %lld != 0) ",
                 (long long)side->mirror_period);
        kal_open(p, head);
        ++*opened;
        kal_line(p, "if (is_mirrored) x.y = -x.y;");
    }
    return place;
}

// Write x to the place of tile element `e`.
void kal_print_store_element(struct kal_printer *p)
{
    const struct kal_kernel *k = p->k;
    const struct kal_side *side = &k->pass->out;
    int opened = 0;

    kal_print_scale(p);
    const char *entry = kal_print_entry(p, false);
    const char *place = open_place(p, entry, &opened);
    if (side->chirp_n) // entries from chirp_n on have been left out
        kal_line(p, "x = multiply_conjugate(x, ROOT(%lld + %s));",
                 (long long)kal_table_at(k, k->out.chirp), entry);
    if (side->twiddle_n)
        print_twiddle(p, place);
    if (side->is_swapped)
        kal_line(p, "x = exchange(x);");
    if (k->to_cluster) {
        kal_print_cluster_store(p);
    } else {
        kal_print_address(p, false, place);
        kal_print_store(p, "at", "x");
    }
    while (opened--)
        kal_close(p);
}
