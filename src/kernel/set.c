// SPDX-License-Identifier: MIT
// What is launched at once: one kernel, or all passes of a phase by tickets.
#include "kernel/design.h"

enum { TRANSACTION = 128 }; // bytes of memory

int kal_phase_launch_passes(const struct kal_program *program,
                            const struct kal_phase *phase)
{
    for (int i = 0; i < phase->pass_count; i++) {
        const struct kal_pass *pass = program->pass[phase->first_pass + i];
        if (pass->in.buffer == KAL_BUFFER_CHUNK || pass->out.buffer == KAL_BUFFER_CHUNK)
            return phase->pass_count;
    }
    return 1;
}

int kal_resident_groups(const struct kal_caps *caps, int lanes, int64_t group_bytes,
                        int lane_registers)
{
    enum { RESERVED = 1024 }; // bytes that a group takes beside its own
    int64_t groups = kal_groups_of_registers(lanes, lane_registers);
    if (caps->processor_lanes)
        groups = kal_min(groups, caps->processor_lanes / kal_round_up(lanes, 32));
    if (caps->processor_bytes)
        groups =
            kal_min(groups, (int64_t)caps->processor_bytes / (group_bytes + RESERVED));
    return (int)kal_max(1, groups);
}

// Registers that a lane needs for its points, what it computes with, and addresses. Counted
// on compiled kernels for an NVIDIA H200 that did not spill.
static int lane_registers(const struct kal_kernel *k)
{
    enum { MANY = 40, BESIDES_FEW = 32, BESIDES_MANY = 24, WARP_STEP = 8, MOST = 255 };
    enum { PAIRED = 72 }; // more groups than two are slower, though they fit
    const int part = k->is_f64 ? 2 : 1;
    int64_t most = 0;
    for (int i = 0; i < k->round_count; i++) {
        const struct kal_round *round = &k->round[i];
        if (round->pair && !k->is_fused)
            most = kal_max(most, PAIRED);
        // Units of an element or two have addresses of their own; those of scratch, whose
        // elements are neighbours, share one.
        const int address = round->registers <= 2 && !k->is_fused ? 2 : 0;
        // Between two steps without an exchange both wait for a product.
        const int twice = round->action_count > 2 || round->pair ? 2 : 1;
        most = kal_max(most, (2 * round->registers * part * twice + address) *
                                 (round->streams ? 1 : round->lane_units));
    }
    // Where a lane holds many points, fewer registers are worth another group.
    const int besides = most >= MANY ? BESIDES_MANY : BESIDES_FEW;
    return (int)kal_min(MOST, kal_round_up(most + besides * part, WARP_STEP));
}

// Lines between two passes: as many as cover the tickets under way, so that they seldom wait,
// or more of them as long as the ring takes but half of the cache.
static int64_t choose_lag(const struct kal_kernel_set *set, const struct kal_caps *caps,
                          int64_t running, int64_t per_line)
{
    enum { MOST = 3 };
    const int64_t least = (running - 1) / per_line + 1;
    const int64_t line_bytes = set->slot_reals * (set->kernel[0]->is_f64 ? 8 : 4);
    const int64_t slots = (int64_t)caps->shared_bytes / 2 / kal_max(1, line_bytes);

    for (int i = 0; i < set->count; i++) {
        if (set->kernel[i]->choice.lag)
            return set->kernel[i]->choice.lag;
    }
    return kal_max(least, kal_min(MOST * least, (slots - 1) / set->count));
}

// Tickets are handed out line by line. A pass follows the one before it at a distance, which
// the ring holds once more, so that the first pass seldom waits for the last one.
static void design_ring(struct kal_kernel_set *set, const struct kal_phase *phase,
                        const struct kal_caps *caps)
{
    int64_t per_line = 0;
    for (int i = 0; i < set->count; i++)
        per_line += set->kernel[i]->groups;

    set->lines = phase->chunks;
    if (set->cluster > 1) {
        set->groups = set->lines * set->cluster;
        return;
    }
    const int64_t running = set->resident * kal_max(1, caps->processors);
    set->slot_reals = phase->chunk_reals;
    set->lag = kal_min(set->lines, choose_lag(set, caps, running, per_line));
    set->slots = kal_min(set->lines, set->lag * set->count + 1);
    set->groups = kal_min(running, per_line * set->lines);
}

// All kernels of a set; where its frame says nothing of lanes, with those that suit each.
static kallima_status design_kernels(struct kal_kernel_set *set, struct kal_arena *arena,
                                     struct kal_pass *const *pass,
                                     const struct kal_caps *caps, bool is_f64,
                                     const struct kal_kernel_frame *frame)
{
    set->lanes = 0;
    for (int i = 0; i < set->count; i++) {
        KAL_TRY(kal_kernel_design(&set->kernel[i], arena, pass[i], caps, is_f64, frame));
        set->kernel[i]->number = set->count > 1 ? i + 1 : 0;
        set->lanes = (int)kal_max(set->lanes, set->kernel[i]->lanes);
    }
    return KALLIMA_OK;
}

// Does each line of the first pass become an element of the second one's lines?
static bool is_transposed(const struct kal_pass *a, const struct kal_pass *b)
{
    if (a->inner_loops != 1 || b->inner_loops != 1)
        return false;
    const struct kal_loop *over_a = &a->loops[a->stage_loops + a->line_loops];
    const struct kal_loop *over_b = &b->loops[b->stage_loops + b->line_loops];
    return a->n == over_b->count && b->n == over_a->count &&
           a->out.stride == over_b->in && over_a->out == b->in.stride &&
           a->out.offset == b->in.offset && !a->out.index && a->out.count >= a->n &&
           a->out.map_step == 1 && b->in.map_step == 1 && !b->in.index &&
           b->in.count >= b->n && !a->out.is_swapped && !b->in.is_swapped;
}

static bool is_power_of_two(int64_t n)
{
    return (n & (n - 1)) == 0;
}

static bool is_line(struct kal_pass *const *pass)
{
    return pass[0]->out.twiddle_n != 0;
}

// May `c` groups share the two passes of a line evenly, with `bytes` each at most?
static bool suits_cluster(struct kal_pass *const *pass, int64_t line_bytes, int c,
                          int64_t bytes)
{
    enum { FEWEST_LINES = 4 };
    return pass[0]->n % c == 0 && pass[1]->n % c == 0 &&
           kal_min(pass[0]->n, pass[1]->n) / c >= FEWEST_LINES && line_bytes / c <= bytes;
}

// Do `c` groups work a line of two passes faster than groups that take tickets? Of 35
// lengths from 18000 to 62500 in f32 and 18 from 12000 to 30720 in f64, each divided in
// up to six ways, tickets take 0.94 and 0.86 of the time as a mean, but for powers of
// two, for columns as wide as a memory transaction and for as many columns as rows:
// measured on an NVIDIA H200 in November 2026.
static bool is_worth_cluster(struct kal_pass *const *pass, int c, bool is_f64)
{
    enum { FEW = 8, SOME = 10, TRANSACTION_LINES = 16 };
    const int64_t columns = pass[0]->n, rows = pass[1]->n;
    if (!is_line(pass)) // of a plane: 168x168 is slower by seven groups
        return c > FEW || c % 2 == 0;
    if (is_power_of_two(columns) && is_power_of_two(rows))
        return true;
    return !is_f64 && ((c <= FEW && rows / c % TRANSACTION_LINES == 0) ||
                       (c <= SOME && rows == columns));
}

// Of the first pass that has another wish than the default.
static int wanted_cluster(struct kal_pass *const *pass, int count,
                          const struct kal_caps *caps, bool is_f64)
{
    int wanted = 1;
    for (int i = 0; i < count && wanted == 1; i++)
        wanted = kal_choice_make(pass[i], caps, is_f64).cluster;
    return wanted;
}

// Groups of a cluster whose memory holds the line between two passes; 1: there is no such
// cluster. Small groups, of which a processor holds several, are better than large ones, but
// clusters of more than eight are slow to start: measured on an NVIDIA H200 in November 2026.
static int choose_cluster(struct kal_pass *const *pass, const struct kal_phase *phase,
                          int count, const struct kal_caps *caps, bool is_f64)
{
    enum { SMALL = 32 << 10, LARGE = 64 << 10, FEW = 8, MANY = 16 };
    const struct {
        int first, last;
        int64_t bytes;
    } tries[] = { { 2, FEW, SMALL },
                  { FEW + 1, is_f64 ? 0 : MANY, SMALL },
                  { 2, FEW, LARGE } };
    const int wanted = wanted_cluster(pass, count, caps, is_f64);

    if (!wanted || count != 2 || phase->chunk != 1 || !is_transposed(pass[0], pass[1]))
        return 1;
    const int64_t bytes = pass[0]->n * pass[1]->n * (is_f64 ? 16 : 8);
    if (wanted > 1)
        return wanted <= caps->cluster_groups && suits_cluster(pass, bytes, wanted, LARGE)
                   ? wanted
                   : 1;
    for (size_t i = 0; i < KAL_COUNT(tries); i++) {
        for (int c = tries[i].first; c <= kal_min(tries[i].last, caps->cluster_groups);
             c++) {
            if (suits_cluster(pass, bytes, c, tries[i].bytes))
                return is_worth_cluster(pass, c, is_f64) ? c : 1;
        }
    }
    return 1;
}

// The most memory and registers that one of the kernels needs.
static void count_needs(struct kal_kernel_set *set)
{
    set->group_bytes = 0;
    set->registers = 1;
    for (int i = 0; i < set->count; i++) {
        set->group_bytes =
            kal_max(set->group_bytes, kal_kernel_group_bytes(set->kernel[i]));
        set->registers = (int)kal_max(set->registers, lane_registers(set->kernel[i]));
    }
}

static int choose_resident(const struct kal_kernel_set *set, const struct kal_caps *caps,
                           const struct kal_kernel_wish *wish)
{
    for (int i = 0; i < set->count; i++) {
        if (set->kernel[i]->choice.resident)
            return set->kernel[i]->choice.resident;
    }
    const int resident =
        kal_resident_groups(caps, set->lanes, set->group_bytes, set->registers);
    return wish->resident ? (int)kal_min(resident, wish->resident) : resident;
}

// Do some exchange whole numbers and others their parts? They share a tile, of the one or
// the other.
static bool is_mixed(const struct kal_kernel_set *set)
{
    int tiled = 0, split = 0;
    for (int i = 0; i < set->count; i++) {
        tiled += set->kernel[i]->tile_elements > 0;
        split += set->kernel[i]->tile_elements > 0 && set->kernel[i]->is_split;
    }
    return split > 0 && split < tiled;
}

// Do some exchange halves of parts, which costs the others more than these gain?
static bool is_partly_halved(const struct kal_kernel_set *set)
{
    int halved = 0;
    for (int i = 0; i < set->count; i++)
        halved += set->kernel[i]->is_halved;
    return halved > 0 && halved < set->count;
}

// All with the lanes of the largest, if they are one launch.
static kallima_status design_together(struct kal_kernel_set *set, struct kal_arena *arena,
                                      struct kal_pass *const *pass,
                                      const struct kal_caps *caps, bool is_f64,
                                      struct kal_kernel_frame *frame)
{
    KAL_TRY(design_kernels(set, arena, pass, caps, is_f64, frame));
    if (set->count == 1 || frame->lanes)
        return KALLIMA_OK;
    frame->lanes = set->lanes;
    return design_kernels(set, arena, pass, caps, is_f64, frame);
}

// Rows of an array and then its columns, of similar length, in one launch, by tickets.
static bool is_plane(const struct kal_kernel_set *set)
{
    const struct kal_kernel *const *k = (const struct kal_kernel *const *)set->kernel;
    return set->count == 2 && set->cluster == 1 && !k[0]->pass->out.twiddle_n &&
           k[0]->n <= 2 * k[1]->n && k[1]->n <= 2 * k[0]->n &&
           !kal_side_prefers_lines(k[0], true) && !kal_side_prefers_lines(k[0], false) &&
           kal_side_prefers_lines(k[1], true) && kal_side_prefers_lines(k[1], false);
}

// As many rows as columns, so that a ticket of the one lasts as long as one of the other:
// a transaction's, or fewer if a processor holds two groups then. Measured on an NVIDIA
// H200 in November 2026: of 20 arrays from 300x300 to 1024x1024 f32 gains up to a third
// by it, f64 up to a half.
static kallima_status design_plane(struct kal_kernel_set *set, struct kal_arena *arena,
                                   struct kal_pass *const *pass,
                                   const struct kal_caps *caps, bool is_f64,
                                   struct kal_kernel_frame *frame)
{
    enum { SECTOR = 32 };
    const struct kal_kernel_frame first = *frame;
    const int element = is_f64 ? 16 : 8;
    int lines = TRANSACTION / element;

    for (bool has_room = false; !has_room; lines /= 2) {
        const bool is_last = lines < SECTOR / element;
        *frame = first;
        frame->lines = is_last ? TRANSACTION / element : lines;
        KAL_TRY(design_together(set, arena, pass, caps, is_f64, frame));
        count_needs(set);
        has_room = is_last || kal_resident_groups(caps, set->lanes, set->group_bytes,
                                                  set->registers) > 1;
    }
    return KALLIMA_OK;
}

enum { EVEN_LINES = 16 }; // a memory transaction's of floats, two of doubles

// Columns and rows of complex lines in one launch, by tickets, where a pass has wide
// tiles that begin within a memory transaction.
static bool is_uneven_line(const struct kal_kernel_set *set, bool is_f64)
{
    const int transaction = TRANSACTION / (is_f64 ? 16 : 8);
    bool is_even = true, is_wide = true, is_real = false;
    for (int i = 0; i < set->count; i++) {
        const struct kal_kernel *k = set->kernel[i];
        is_even = is_even && k->lines % transaction == 0;
        is_wide = is_wide && k->lines >= EVEN_LINES;
        is_real = is_real || kal_pass_mirrored_rows(k->pass) > 0;
    }
    return set->count == 2 && set->cluster == 1 && is_wide && !is_even && !is_real &&
           set->kernel[0]->pass->out.twiddle_n != 0;
}

// Whole transactions of both; twice as many of floats where these would leave groups
// small. Measured on an NVIDIA H200 in November 2026: 25 such lengths of f32 take 0.91 of
// the time as a mean that they took in clusters or other tiles, from 0.77 to 1.22
// (25000), 13 of f64 0.83, from 0.63 to 1.06; of three lengths of small groups twice as
// many lines take 0.96 of that.
static kallima_status design_even_line(struct kal_kernel_set *set,
                                       struct kal_arena *arena,
                                       struct kal_pass *const *pass,
                                       const struct kal_caps *caps, bool is_f64,
                                       struct kal_kernel_frame *frame)
{
    enum { FEW_LANES = 160 };
    const struct kal_kernel_frame asked = *frame;

    frame->lines = EVEN_LINES;
    KAL_TRY(design_together(set, arena, pass, caps, is_f64, frame));
    if (is_f64 || set->lanes > FEW_LANES)
        return KALLIMA_OK;
    *frame = asked;
    frame->lines = 2 * EVEN_LINES;
    return design_together(set, arena, pass, caps, is_f64, frame);
}

static kallima_status design_set(struct kal_kernel_set *set, struct kal_arena *arena,
                                 struct kal_pass *const *pass,
                                 const struct kal_caps *caps, bool is_f64,
                                 const struct kal_kernel_frame *asked)
{
    struct kal_kernel_frame frame = *asked;

    KAL_TRY(design_together(set, arena, pass, caps, is_f64, &frame));
    if (is_plane(set)) {
        frame = *asked;
        KAL_TRY(design_plane(set, arena, pass, caps, is_f64, &frame));
    } else if (is_uneven_line(set, is_f64)) {
        frame = *asked;
        KAL_TRY(design_even_line(set, arena, pass, caps, is_f64, &frame));
    }
    if (!is_mixed(set) || (is_partly_halved(set) && !asked->keeps_parts))
        return KALLIMA_OK;
    frame.is_split = true;
    return design_kernels(set, arena, pass, caps, is_f64, &frame);
}

kallima_status kal_kernel_set_design(struct kal_kernel_set *out, struct kal_arena *arena,
                                     const struct kal_program *program,
                                     const struct kal_phase *phase, int first, int count,
                                     const struct kal_caps *caps, bool is_f64,
                                     const struct kal_kernel_wish *wish)
{
    const bool is_fused = count > 1;
    struct kal_pass *const *pass = program->pass + first;
    struct kal_kernel_frame frame = {
        .lanes = wish->lanes,
        .chunk = is_fused ? phase->chunk : 0,
        .cluster = choose_cluster(pass, phase, count, caps, is_f64),
    };

    *out = (struct kal_kernel_set){ .count = count,
                                    .cluster = frame.cluster,
                                    .reads_late = wish->reads_late };
    KAL_TRY(design_set(out, arena, pass, caps, is_f64, &frame));
    if (is_partly_halved(out)) {
        frame.keeps_parts = true;
        KAL_TRY(design_set(out, arena, pass, caps, is_f64, &frame));
    }
    if (is_mixed(out))
        return kal_fail(arena->host, KALLIMA_E_UNSUPPORTED,
                        "plan: passes of one launch exchange the parts of numbers in "
                        "turn, and one of them cannot");
    if (out->cluster > 1)
        kal_kernel_hand_over(out->kernel[0], out->kernel[1]);
    count_needs(out);
    out->resident = choose_resident(out, caps, wish);
    out->groups = out->kernel[0]->groups;
    if (is_fused)
        design_ring(out, phase, caps);
    return KALLIMA_OK;
}
