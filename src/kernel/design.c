// SPDX-License-Identifier: MIT
// From a pass to a kernel: the loops that groups share out, its tables, and what lines.c
// and rounds.c choose.
#include "kernel/design.h"

#include <limits.h>

// Is the index of a loop used by itself, so that it must stay a loop of its own?
static bool is_counted(const struct kal_pass *pass, int number)
{
    for (int i = 0; i < pass->step_count; i++) {
        if (pass->step[i].rows && pass->step[i].row_loop == number)
            return true;
    }
    return pass->out.twiddle_n && pass->out.twiddle_loop == number;
}

static bool follows(const struct kal_group_loop *last, const struct kal_loop *loop)
{
    return loop->in == last->in * last->count && loop->out == last->out * last->count &&
           loop->in_map == last->in_map * last->count &&
           loop->out_map == last->out_map * last->count;
}

// Add a loop behind those that are faster; what is one loop in memory becomes one.
static void add_loop(const struct kal_pass *pass, struct kal_group_loop *loops,
                     int *count, int number)
{
    const struct kal_loop *loop = &pass->loops[number];
    struct kal_group_loop *last = *count ? &loops[*count - 1] : NULL;

    if (loop->count == 1)
        return;
    if (last && !is_counted(pass, number) && !is_counted(pass, last->number) &&
        follows(last, loop)) {
        last->count *= loop->count;
        return;
    }
    loops[(*count)++] = (struct kal_group_loop){ .number = number,
                                                 .count = loop->count,
                                                 .in = loop->in,
                                                 .out = loop->out,
                                                 .in_map = loop->in_map,
                                                 .out_map = loop->out_map };
}

// The lines of a chunk are a loop of its groups; what is left of their loop is ticketed.
static void split_chunk(struct kal_kernel *k)
{
    const struct kal_pass *pass = k->pass;
    struct kal_group_loop *lines = &k->line_loop[0];
    struct kal_group_loop inside = *lines;

    inside.count = k->chunk;
    if (pass->in.buffer == KAL_BUFFER_CHUNK)
        inside.in = pass->in.line_stride;
    if (pass->out.buffer == KAL_BUFFER_CHUNK)
        inside.out = pass->out.line_stride;
    k->loop[k->loop_count++] = inside;
    lines->count /= k->chunk;
    lines->in *= k->chunk;
    lines->out *= k->chunk;
    lines->in_map *= k->chunk;
    lines->out_map *= k->chunk;
}

int64_t kal_pass_lines(const struct kal_pass *pass)
{
    double lines = 1.0;
    for (int i = 0; i < kal_pass_loop_count(pass); i++)
        lines *= (double)pass->loops[i].count;
    return lines < 1e18 ? (int64_t)lines : INT64_MAX;
}

// Loops longer than one, last fastest.
static void collect_loops(struct kal_kernel *k)
{
    const struct kal_pass *pass = k->pass;
    const int lines = pass->stage_loops + pass->line_loops;

    for (int i = lines + pass->inner_loops - 1; i >= 0; i--) {
        if (k->is_fused && i < lines)
            add_loop(pass, k->line_loop, &k->line_loop_count, i);
        else
            add_loop(pass, k->loop, &k->loop_count, i);
    }
    if (k->is_fused && k->chunk > 1)
        split_chunk(k);
}

static void swap_loops(struct kal_group_loop *a, struct kal_group_loop *b)
{
    const struct kal_group_loop c = *a;
    *a = *b;
    *b = c;
}

// Distance in memory of neighbouring lines of a loop, as far as an index map leaves it.
int64_t kal_kernel_line_distance(const struct kal_kernel *k,
                                 const struct kal_group_loop *loop, bool is_in)
{
    return is_in ? kal_magnitude(loop->in + loop->in_map * k->pass->in.stride)
                 : kal_magnitude(loop->out + loop->out_map * k->pass->out.stride);
}

// Loops in the order of memory: those whose lines are nearest to each other come first.
static int64_t nearness(const struct kal_kernel *k, const struct kal_group_loop *loop)
{
    return kal_min(kal_kernel_line_distance(k, loop, true),
                   kal_kernel_line_distance(k, loop, false));
}

static void sort_loops(struct kal_kernel *k)
{
    for (int i = 0; i < k->loop_count; i++) {
        for (int j = i + 1; j < k->loop_count; j++) {
            if (nearness(k, &k->loop[j]) < nearness(k, &k->loop[i]))
                swap_loops(&k->loop[i], &k->loop[j]);
        }
    }
}

bool kal_side_prefers_lines(const struct kal_kernel *k, bool is_in)
{
    const struct kal_side *side = is_in ? &k->pass->in : &k->pass->out;
    if (k->loop_count == 0)
        return false;
    return kal_kernel_line_distance(k, &k->loop[0], is_in) <
           kal_magnitude(side->stride * side->map_step);
}

static bool is_vector_side(const struct kal_kernel *k, const struct kal_side *side,
                           bool is_in)
{
    if (side->is_real || side->imag != 1 || side->offset % 2 || side->stride % 2)
        return false;
    for (int i = 0; i < k->loop_count; i++) {
        if ((is_in ? k->loop[i].in : k->loop[i].out) % 2)
            return false;
    }
    return true;
}

static int add_table(struct kal_kernel *k, struct kal_table table)
{
    for (int i = 0; i < k->table_count; i++) {
        const struct kal_table *t = &k->table[i];
        if (t->kind == table.kind && t->n == table.n && t->size == table.size &&
            t->radix == table.radix && t->powers == table.powers &&
            t->rows == table.rows && t->index == table.index &&
            t->is_inverse == table.is_inverse)
            return i;
    }
    k->table[k->table_count] = table;
    return k->table_count++;
}

int kal_kernel_add_table(struct kal_kernel *k, enum kal_table_kind kind, int64_t n,
                         int64_t count)
{
    return add_table(k, (struct kal_table){ .kind = kind, .n = n, .count = count });
}

static int root_shift(int64_t n)
{
    int shift = 0;
    while ((int64_t)1 << (2 * shift) < n)
        shift++;
    return shift;
}

// Largest radix of the steps; 0: there is no DFT, so nothing needs a tile.
int kal_pass_largest_radix(const struct kal_pass *pass)
{
    int radix = 0;
    for (int i = 0; i < pass->step_count; i++) {
        if (pass->step[i].op == KAL_STEP_DFT)
            radix = (int)kal_max(radix, pass->step[i].radix);
    }
    return radix;
}

static bool is_permutation(const int64_t *index, int64_t n, bool *seen)
{
    for (int64_t i = 0; i < n; i++)
        seen[i] = false;
    for (int64_t i = 0; i < n; i++) {
        if (index[i] < 0 || index[i] >= n || seen[index[i]])
            return false;
        seen[index[i]] = true;
    }
    return true;
}

static kallima_status describe_index(struct kal_kernel *k, struct kal_arena *arena,
                                     const struct kal_side *side,
                                     struct kal_access *access)
{
    const int64_t n = side->entries;
    void *seen;

    KAL_TRY(kal_arena_take(arena, &seen, (uint64_t)n, sizeof(bool)));
    // An exchange puts elements in order; without one, or where a line is a part of what is
    // mapped, each lane follows the map by itself.
    access->is_permuted = kal_pass_largest_radix(k->pass) > 0 && n == k->pass->n &&
                          side->count >= n && is_permutation(side->index, n, seen);
    for (int64_t i = 0; i < n; i++)
        access->has_gaps = access->has_gaps || side->index[i] < 0;
    access->index = add_table(k, (struct kal_table){ .kind = KAL_TABLE_INDEX,
                                                     .n = n,
                                                     .index = side->index,
                                                     .is_inverse = access->is_permuted,
                                                     .count = n });
    return KALLIMA_OK;
}

// Elements of all that the maps of a side are of.
static int64_t map_elements(const struct kal_pass *pass, bool is_in)
{
    const int loops = kal_pass_loop_count(pass);
    int64_t last = (pass->n - 1) * (is_in ? pass->in : pass->out).map_step;
    for (int i = 0; i < loops; i++)
        last += (pass->loops[i].count - 1) *
                (is_in ? pass->loops[i].in_map : pass->loops[i].out_map);
    return last + 1;
}

static kallima_status describe_side(struct kal_kernel *k, struct kal_arena *arena,
                                    bool is_in)
{
    const struct kal_side *side = is_in ? &k->pass->in : &k->pass->out;
    struct kal_access *access = is_in ? &k->in : &k->out;

    *access = (struct kal_access){
        .index = -1, .chirp = -1, .fine = -1, .coarse = -1, .powers = -1
    };
    access->is_vector = is_vector_side(k, side, is_in);
    access->elements = map_elements(k->pass, is_in);
    access->is_part = access->elements > k->pass->n || side->mirror_n;
    if (side->index)
        KAL_TRY(describe_index(k, arena, side, access));
    if (side->chirp_n)
        access->chirp = kal_kernel_add_table(k, KAL_TABLE_CHIRP, side->chirp_n,
                                             kal_min(side->chirp_n, access->elements));
    if (!side->twiddle_n)
        return KALLIMA_OK;
    const int shift = root_shift(side->twiddle_n);
    struct kal_table table = { .kind = KAL_TABLE_FINE,
                               .n = side->twiddle_n,
                               .shift = shift,
                               .count = (int64_t)1 << shift };
    access->fine = add_table(k, table);
    table.kind = KAL_TABLE_COARSE;
    table.count = ((side->twiddle_n - 1) >> shift) + 1;
    access->coarse = add_table(k, table);
    return KALLIMA_OK;
}

int64_t kal_kernel_element_bytes(const struct kal_kernel *k)
{
    return k->is_f64 ? 16 : 8;
}

int64_t kal_kernel_exchanged_bytes(const struct kal_kernel *k)
{
    return kal_kernel_element_bytes(k) / (k->is_split ? 2 : 1);
}

int64_t kal_kernel_tile_lines(const struct kal_kernel *k)
{
    int64_t lines = 1;
    for (int i = 0; i < kal_min(k->loop_count, KAL_TILE_LOOPS); i++)
        lines *= kal_min(k->loop[i].count, 1 << 20);
    return lines;
}

// Share `lines` lines of a tile out over the first loops.
static void set_tile_loops(struct kal_kernel *k, int64_t lines)
{
    k->lines = 1;
    k->groups = 1;
    k->tile_loops = 0;
    for (int i = 0; i < k->loop_count; i++) {
        struct kal_group_loop *loop = &k->loop[i];
        loop->width = 1;
        if (i < KAL_TILE_LOOPS && lines > 1) {
            loop->width = kal_min(lines, loop->count);
            lines = loop->width < loop->count ? 1 : lines / loop->width;
            k->tile_loops = i + 1;
        }
        loop->blocks = (loop->count - 1) / loop->width + 1;
        k->lines *= loop->width;
    }
}

static kallima_status count_groups(struct kal_kernel *k, const struct kal_host *host)
{
    double groups = 1.0;
    for (int i = 0; i < k->loop_count; i++)
        groups *= (double)k->loop[i].blocks;
    if (groups > (double)INT_MAX)
        return kal_fail(host, KALLIMA_E_UNSUPPORTED,
                        "plan: %.0f groups of a kernel; at most %d can be launched",
                        groups, INT_MAX);
    k->groups = (int64_t)groups;
    return KALLIMA_OK;
}

// No step needs a tile: lanes work elements or pairs, a group as many as keep it busy.
static void design_pointwise(struct kal_kernel *k, const struct kal_caps *caps)
{
    enum { LANES = 256, LANE_UNITS = 4 };
    const bool is_mirrored =
        k->pass->step_count && kal_step_is_mirrored(&k->pass->step[0]);
    const int64_t units = is_mirrored ? (k->n - 1) / 2 + 1 : k->n;
    const bool by_lines =
        kal_side_prefers_lines(k, true) || kal_side_prefers_lines(k, false);
    const int64_t lines = kal_min(kal_kernel_tile_lines(k), by_lines ? 32 : LANES);

    k->lanes = (int)kal_min(LANES, caps->group_lanes);
    k->span = kal_min(units, kal_max(1, k->lanes * LANE_UNITS / lines));
    set_tile_loops(k, kal_min(lines, kal_max(1, k->lanes * LANE_UNITS / k->span)));
    if (k->span < units)
        k->loop[k->loop_count++] =
            (struct kal_group_loop){ .number = -1,
                                     .count = units,
                                     .width = k->span,
                                     .blocks = (units - 1) / k->span + 1 };
}

static kallima_status design_tiled(struct kal_kernel *k, const struct kal_host *host,
                                   const struct kal_caps *caps, int radix,
                                   bool keeps_parts)
{
    const bool can_split = k->cluster == 1;
    const int64_t points = kal_kernel_tile_points(k);
    const int64_t whole = (points + points / 16) * kal_kernel_element_bytes(k);
    const bool can_halve = can_split && kal_rounds_can_halve(k);
    const int64_t least = whole / (can_halve ? 4 : can_split ? 2 : 1);
    if (least > (int64_t)caps->group_bytes)
        return kal_fail(host, KALLIMA_E_UNSUPPORTED,
                        "plan: a line of %lld points needs %lld bytes near a group; the "
                        "device has %llu",
                        (long long)k->n, (long long)least,
                        (unsigned long long)caps->group_bytes);
    const int64_t line_lanes = kal_kernel_lanes_of_line(k, radix);
    kal_kernel_choose_exchange(k, caps, whole, line_lanes, keeps_parts);

    const int64_t lines = kal_kernel_choose_lines(k, caps, line_lanes);
    k->lanes = (int)kal_min(lines * line_lanes, caps->group_lanes);
    k->span = k->n;
    set_tile_loops(k, lines);
    return KALLIMA_OK;
}

kallima_status kal_kernel_design(struct kal_kernel **out, struct kal_arena *arena,
                                 const struct kal_pass *pass, const struct kal_caps *caps,
                                 bool is_f64, const struct kal_kernel_frame *frame)
{
    enum { FEW_LANE_POINTS = 8 }; // where lines are too few for all processors
    const int radix = kal_pass_largest_radix(pass);
    const int lanes = frame->lanes;
    void *memory;

    *out = NULL;
    KAL_TRY(kal_arena_take(arena, &memory, 1, sizeof **out));
    struct kal_kernel *k = memory;
    k->pass = pass;
    k->is_f64 = is_f64;
    k->is_fused = frame->chunk > 0;
    k->chunk = frame->chunk;
    k->cluster = (int)kal_max(1, frame->cluster);
    k->to_cluster = k->cluster > 1 && pass->out.buffer == KAL_BUFFER_CHUNK;
    k->from_cluster = k->cluster > 1 && pass->in.buffer == KAL_BUFFER_CHUNK;
    k->choice = kal_choice_make(pass, caps, is_f64);
    // A cluster's scratch is in no cache that the arrays of the user could spoil.
    if (k->cluster > 1 && !is_f64)
        k->choice.has_hints = kal_pass_get_parameter(pass, KAL_PARAMETER_HINTS, 0);
    if (frame->is_split)
        k->choice.split = 1;
    if (lanes)
        k->choice.wanted_lanes = lanes;
    if (!k->choice.lines)
        k->choice.lines = frame->lines;
    k->n = pass->n;
    k->extra = radix > 0 && kal_pass_has_rader(pass) ? 0 : -1;
    if (kal_pass_lines(pass) < caps->processors)
        k->choice.lane_points = kal_min(k->choice.lane_points, FEW_LANE_POINTS);
    collect_loops(k);
    sort_loops(k);
    KAL_TRY(describe_side(k, arena, true));
    KAL_TRY(describe_side(k, arena, false));

    if (radix == 0)
        design_pointwise(k, caps);
    else
        KAL_TRY(design_tiled(k, arena->host, caps, radix, frame->keeps_parts));
    KAL_TRY(count_groups(k, arena->host));
    k->lanes = lanes ? lanes : k->lanes;
    kal_rounds_design(k, radix > 0);
    *out = k;
    return KALLIMA_OK;
}

int64_t kal_kernel_group_bytes(const struct kal_kernel *kernel)
{
    return kernel->tile_elements * kal_kernel_exchanged_bytes(kernel);
}
