// SPDX-License-Identifier: MIT
// What is launched at once: one kernel, or all passes of a phase by tickets.
#include "kernel/design.h"

bool kal_pass_uses_chunk(const struct kal_pass *pass)
{
    return pass->in.buffer == KAL_BUFFER_CHUNK || pass->out.buffer == KAL_BUFFER_CHUNK;
}

int kal_resident_groups(const struct kal_caps *caps, int lanes, int64_t group_bytes,
                        int lane_registers)
{
    // A processor has four parts with registers of their own; a group reserves some memory.
    enum { PARTS = 4, PART_REGISTERS = 16384, WARP = 32, RESERVED = 1024 };
    const int64_t warps = (lanes - 1) / WARP + 1;
    int64_t groups = PART_REGISTERS / (WARP * lane_registers) * PARTS / warps;
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
    enum { BESIDES = 32, WARP_STEP = 8, MOST = 255 };
    const int part = k->is_f64 ? 2 : 1;
    int64_t most = 0;
    for (int i = 0; i < k->round_count; i++) {
        const struct kal_round *round = &k->round[i];
        // Units of an element or two have addresses of their own; those of scratch, whose
        // elements are neighbours, share one.
        const int address = round->registers <= 2 && !k->is_fused ? 2 : 0;
        // Between two steps without an exchange both wait for a product.
        const int twice = round->action_count > 2 ? 2 : 1;
        most = kal_max(most, (2 * round->registers * part * twice + address) *
                                 (round->streams ? 1 : round->lane_units));
    }
    return (int)kal_min(MOST, kal_round_up(most + BESIDES * part, WARP_STEP));
}

// Tickets are handed out line by line. A pass follows the one before it at a distance that
// covers the tickets under way, so that it seldom waits; the ring holds both distances.
static void design_ring(struct kal_kernel_set *set, const struct kal_phase *phase,
                        const struct kal_caps *caps)
{
    int64_t per_line = 0;
    for (int i = 0; i < set->count; i++)
        per_line += set->kernel[i]->groups;

    const int64_t running = set->resident * kal_max(1, caps->processors);
    set->lines = phase->chunks;
    set->slot_reals = phase->chunk_reals;
    set->lag = kal_min(set->lines, (running - 1) / per_line + 1);
    set->slots = kal_min(set->lines, (set->lag + 1) * set->count);
    set->groups = kal_min(running, per_line * set->lines);
}

// All kernels of a set with `lanes` lanes; 0: with those that suit each.
static kallima_status design_kernels(struct kal_kernel_set *set, struct kal_arena *arena,
                                     struct kal_pass *const *pass, int64_t chunk,
                                     const struct kal_caps *caps, bool is_f64, int lanes)
{
    set->lanes = 0;
    for (int i = 0; i < set->count; i++) {
        KAL_TRY(kal_kernel_design(&set->kernel[i], arena, pass[i], caps, is_f64, chunk,
                                  lanes));
        set->lanes = (int)kal_max(set->lanes, set->kernel[i]->lanes);
    }
    return KALLIMA_OK;
}

static int choose_resident(const struct kal_kernel_set *set, const struct kal_caps *caps,
                           const struct kal_kernel_wish *wish)
{
    int registers = 1;
    if (set->kernel[0]->choice.resident)
        return set->kernel[0]->choice.resident;
    for (int i = 0; i < set->count; i++)
        registers = (int)kal_max(registers, lane_registers(set->kernel[i]));
    const int resident =
        kal_resident_groups(caps, set->lanes, set->group_bytes, registers);
    return wish->resident ? (int)kal_min(resident, wish->resident) : resident;
}

kallima_status kal_kernel_set_design(struct kal_kernel_set *out, struct kal_arena *arena,
                                     const struct kal_program *program,
                                     const struct kal_phase *phase, int first, int count,
                                     const struct kal_caps *caps, bool is_f64,
                                     const struct kal_kernel_wish *wish)
{
    const bool is_fused = count > 1;
    const int64_t chunk = is_fused ? phase->chunk : 0;
    struct kal_pass *const *pass = program->pass + first;

    *out = (struct kal_kernel_set){ .count = count };
    KAL_TRY(design_kernels(out, arena, pass, chunk, caps, is_f64, wish->lanes));
    if (is_fused && !wish->lanes) // all with the lanes of the largest
        KAL_TRY(design_kernels(out, arena, pass, chunk, caps, is_f64, out->lanes));
    for (int i = 0; i < count; i++)
        out->group_bytes =
            kal_max(out->group_bytes, kal_kernel_group_bytes(out->kernel[i]));
    out->resident = choose_resident(out, caps, wish);
    out->groups = out->kernel[0]->groups;
    if (is_fused)
        design_ring(out, phase, caps);
    return KALLIMA_OK;
}
