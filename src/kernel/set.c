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
    enum { BESIDES = 32, ODD = 24, WARP_STEP = 8, MOST = 255 };
    const int part = k->is_f64 ? 2 : 1;
    int64_t most = 0, besides = BESIDES * part;
    for (int i = 0; i < k->round_count; i++) {
        const struct kal_round *round = &k->round[i];
        // Units of an element or two have addresses of their own.
        const int address = round->registers <= 2 ? 2 : 0;
        // Between two steps without an exchange both wait for a product.
        const int twice = round->action_count > 2 ? 2 : 1;
        most = kal_max(most, (2 * round->registers * part * twice + address) *
                                 round->lane_units);
        // Odd codelets keep more values alive, and places by odd radices more numbers.
        if (k->is_fused && (round->registers & (round->registers - 1)) != 0)
            besides = (BESIDES + ODD) * part;
    }
    return (int)kal_min(MOST, kal_round_up(most + besides, WARP_STEP));
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

kallima_status kal_kernel_set_design(struct kal_kernel_set *out, struct kal_arena *arena,
                                     const struct kal_program *program,
                                     const struct kal_phase *phase, int first, int count,
                                     const struct kal_caps *caps, bool is_f64)
{
    const bool is_fused = count > 1;
    const int64_t chunk = is_fused ? phase->chunk : 0;

    *out = (struct kal_kernel_set){ .count = count };
    for (int i = 0; i < count; i++) {
        KAL_TRY(kal_kernel_design(&out->kernel[i], arena, program->pass[first + i], caps,
                                  is_f64, chunk, 0));
        out->lanes = (int)kal_max(out->lanes, out->kernel[i]->lanes);
    }
    for (int i = 0; i < count && is_fused; i++)
        KAL_TRY(kal_kernel_design(&out->kernel[i], arena, program->pass[first + i], caps,
                                  is_f64, chunk, out->lanes));
    int registers = 1;
    for (int i = 0; i < count; i++) {
        out->group_bytes =
            kal_max(out->group_bytes, kal_kernel_group_bytes(out->kernel[i]));
        registers = (int)kal_max(registers, lane_registers(out->kernel[i]));
    }
    out->resident = out->kernel[0]->choice.resident;
    if (!out->resident)
        out->resident =
            kal_resident_groups(caps, out->lanes, out->group_bytes, registers);
    out->groups = out->kernel[0]->groups;
    if (is_fused)
        design_ring(out, phase, caps);
    return KALLIMA_OK;
}
