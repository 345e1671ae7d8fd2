// SPDX-License-Identifier: MIT
// Passes made ready: a SIMD level and the order of lanes for each, tables, workspace.
#include "device/cpu/apart.h"
#include "device/cpu/array.h"
#include "device/cpu/beside.h"
#include "device/cpu/caches.h"
#include "device/cpu/convolved.h"
#include "device/cpu/copied.h"
#include "device/cpu/cpu.h"
#include "device/cpu/divided.h"
#include "device/cpu/facing.h"
#include "device/cpu/line.h"
#include "device/cpu/nested.h"
#include "device/cpu/packed.h"
#include "device/cpu/piece.h"
#include "device/cpu/places.h"
#include "device/cpu/roots.h"
#include "device/cpu/short.h"
#include "device/cpu/single.h"
#include "device/cpu/threads.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// Of loops begin .. end-1 those longer than one.
static void collect_loops(struct cpu_loops *loops, const struct kal_pass *p, int begin,
                          int end, bool are_lines)
{
    for (int i = begin; i < end; i++) {
        if (p->loops[i].count == 1)
            continue;
        const bool in_chunk = are_lines && p->in.buffer == KAL_BUFFER_CHUNK;
        const bool out_chunk = are_lines && p->out.buffer == KAL_BUFFER_CHUNK;
        loops->loop[loops->count++] =
            (struct cpu_loop){ i, p->loops[i].count, in_chunk ? 0 : p->loops[i].in,
                               out_chunk ? 0 : p->loops[i].out };
    }
}

// Does the index map reach each of elements 0 .. n-1 once?
static kallima_status find_permutation(const struct kal_host *host, const int64_t *index,
                                       int64_t n, bool *is_permutation)
{
    void *memory;

    *is_permutation = false;
    if (!index)
        return KALLIMA_OK;
    KAL_TRY(kal_alloc(host, &memory, (uint64_t)n, 1));
    char *seen = memory;
    memset(seen, 0, (size_t)n);
    int64_t reached = 0;
    for (int64_t i = 0; i < n; i++) {
        if (index[i] < 0 || index[i] >= n || seen[index[i]])
            break;
        seen[index[i]] = 1;
        reached++;
    }
    *is_permutation = reached == n;
    kal_free(host, memory);
    return KALLIMA_OK;
}

// The elements of a line that an index map reaches, from 0 to the last of them; 0 without a map.
static int64_t find_reach(const int64_t *index, int64_t n)
{
    int64_t reach = 0;
    for (int64_t i = 0; index && i < n; i++) {
        const int64_t element = index[i] >= 0 ? index[i] : KAL_INDEX_CONJUGATE - index[i];
        reach = kal_max(reach, element + 1); // that of KAL_INDEX_NONE is -1
    }
    return reach;
}

// Are lines of the loop neighbours on both sides? Then they are moved and worked as
// vectors, but one by one where a tile has some of another round: 105 arrays of three and
// four axes take 0.57 to 1.1 of the time on a Zen 4 processor if tiles end with rounds of
// nine lines and more, not of 64 alone, 0.96 as a mean, measured in November 2026.
static bool are_neighbours(const struct cpu_pass *pass, int loop)
{
    const struct cpu_place step = kal_cpu_step_find(pass, loop);
    return llabs(step.in) <= CPU_NEIGHBOUR && llabs(step.out) <= CPU_NEIGHBOUR;
}

// The loop that neighbouring lanes are on: the innermost that is longer than one.
static void set_lanes(struct cpu_pass *pass, const struct kal_phase *phase)
{
    const struct kal_pass *p = pass->pass;
    const int first_line = p->stage_loops, first_inner = first_line + p->line_loops;
    const bool on_lines = phase->lanes_are_lines;
    const int begin = on_lines ? first_line : first_inner;
    const int end = on_lines ? first_inner : kal_pass_loop_count(p);

    collect_loops(&pass->stage_loops, p, 0, first_line, false);
    collect_loops(&pass->line_loops, p, first_line, first_inner, true);
    collect_loops(&pass->inner_loops, p, first_inner, kal_pass_loop_count(p), false);
    pass->inner = 1;
    for (int i = first_inner; i < kal_pass_loop_count(p); i++)
        pass->inner *= p->loops[i].count;
    pass->fast_loop = -1;
    for (int i = begin; i < end; i++) {
        if (p->loops[i].count > 1)
            pass->fast_loop = i;
    }
    if (pass->fast_loop < 0)
        return;

    // Chunks may begin and end within a round of the lines.
    enum { MANY = 4 * KAL_LANES, MANY_NEIGHBOURS = 9 };
    const bool whole_rounds = !on_lines || phase->chunk == phase->lines;
    const int64_t count = p->loops[pass->fast_loop].count;
    const bool are_many =
        count >= (are_neighbours(pass, pass->fast_loop) ? MANY_NEIGHBOURS : MANY);
    pass->rows_restart = whole_rounds && (are_many || count % KAL_LANES == 0 ||
                                          p->out.twiddle_loop == pass->fast_loop);
}

// Neighbouring lanes that a tile can be filled with.
static int64_t lanes_available(const struct cpu_pass *pass, const struct kal_phase *phase)
{
    const struct kal_pass *p = pass->pass;
    if (pass->fast_loop < 0)
        return 1;
    if (pass->rows_restart)
        return p->loops[pass->fast_loop].count;
    return phase->lanes_are_lines ? phase->chunk : pass->inner;
}

// NULL: the pass wants registers that the device has not.
static const struct cpu_kernels *choose_kernels(const struct cpu_program *program,
                                                const struct cpu_pass *pass,
                                                int64_t lines)
{
    const struct cpu_device *device = kal_cpu_device_of(program);
    const int wanted = kal_pass_get_parameter(pass->pass, KAL_PARAMETER_LANES, 0);
    const struct cpu_kernels *best = NULL;
    double best_cost = 0.0;

    for (int i = 0; i < device->level_count; i++) {
        const struct cpu_kernels *k = device->kernels[program->is_f64][i];
        if (wanted && k->lanes != wanted)
            continue;
        const double cost = kal_cpu_lines_cost(program, pass, k, lines);
        if (!best || cost < best_cost) {
            best = k;
            best_cost = cost;
        }
    }
    return best;
}

// Tiles of the chunk that all threads share, in these registers.
static int64_t count_tiles(struct cpu_pass *pass, const struct kal_phase *phase,
                           const struct cpu_kernels *kernels)
{
    const struct cpu_chunk chunk = kal_cpu_chunk_make(phase, 0, 0);
    pass->tile = kernels->lanes;
    pass->chunk_rows = kal_cpu_rows_find(pass, phase->chunk, phase->lanes_are_lines);
    return kal_cpu_tile_count(pass, &chunk);
}

// Registers half as wide, of fused operations if those are: they give the same bits. NULL:
// there are none.
static const struct cpu_kernels *half_as_wide(const struct cpu_program *program,
                                              const struct cpu_kernels *wide)
{
    const struct cpu_device *device = kal_cpu_device_of(program);

    for (int i = 0; i < device->level_count; i++) {
        const struct cpu_kernels *k = device->kernels[program->is_f64][i];
        if (k->lanes > 1 && 2 * k->lanes == wide->lanes && k->has_fma == wide->has_fma)
            return k;
    }
    return NULL;
}

// Long lines that fill fewer tiles than there are threads are worked in registers half as
// wide, so that more threads have some; one tile only if it leaves the caches near a core,
// as otherwise what its thread has written is fetched by others. Not where there are
// twiddles: they are products with those of a tile's first line. Measured in December
// 2026 on a Xeon with AVX-512, 160 arrays and batches of 500 to 16384 points: the 87 that
// changed on 16 threads take 0.52 to 0.97 of the time but for one, 1.06, 0.79 as a mean;
// 28 on four 0.83, 8 on two 0.84. Single tiles of less than 1 MiB took 1.0 to 1.6, shorter
// columns 0.8 to 1.3, three tiles on two threads 1.05 to 1.8.
static const struct cpu_kernels *share_out(const struct cpu_program *program,
                                           struct cpu_pass *pass,
                                           const struct kal_phase *phase)
{
    enum { LEAST_BYTES = 100000, LEAST_OF_ONE = 1 << 20 };
    static const double HALF = 0.7; // of the time of a tile
    const struct kal_pass *p = pass->pass;
    const struct cpu_kernels *wide = pass->kernels, *half = half_as_wide(program, wide);
    const int threads = program->most_threads;
    const int64_t tile_bytes = p->n * 2 * wide->lanes * program->real_bytes;

    if (!half || threads == 1 || phase->chunks > 1 || p->step_count < 2 ||
        p->out.twiddle_n || kal_pass_get_parameter(p, KAL_PARAMETER_LANES, 0))
        return wide;
    const int64_t tiles = count_tiles(pass, phase, wide),
                  halves = count_tiles(pass, phase, half);
    const int64_t rounds = (tiles + threads - 1) / threads,
                  half_rounds = (halves + threads - 1) / threads;
    return tile_bytes >= (tiles == 1 ? LEAST_OF_ONE : LEAST_BYTES) &&
                   HALF * (double)half_rounds < (double)rounds
               ? half
               : wide;
}

// A long pass without a transform needs no whole line in a tile; nor does a mirrored step
// that works along its line.
static bool can_be_blocked(const struct cpu_pass *pass)
{
    const struct kal_pass *p = pass->pass;
    if (kal_cpu_pass_is_mirrored(p) && pass->kernels->lanes == 1)
        return true;
    if (p->n <= CPU_BLOCK || p->step_count > 1)
        return false;
    return p->step_count == 0 || p->step[0].op != KAL_STEP_DFT;
}

// The step of one line in registers of neighbours, by these kernels; NULL: there is none.
static cpu_dft *group_step(const struct kal_step *step, const struct cpu_group_kernels *k)
{
    if (step->s >= k->numbers)
        return k->later[step->radix];
    return step->s == 1 && step->m >= k->numbers ? k->first[step->radix] : NULL;
}

static cpu_mirror *group_mirror(const struct kal_step *step,
                                const struct cpu_group_kernels *k)
{
    if (step->n / 2 <= k->numbers)
        return NULL;
    return step->op == KAL_STEP_SPLIT ? k->split : k->merge;
}

double kal_cpu_group_cost(const struct cpu_program *program, const struct cpu_kernels *k,
                          int64_t points)
{
    // Measured on a Zen 4 processor; and on a Xeon, by 104 planes of 5 to 26 columns,
    // where those of doubles had better not overlap: of 5 to 12 and 18 to 20 floats, and
    // of 5 and 9 doubles, they take 0.93 of the time by wide registers.
    static const double WIDE_ZEN = 1.7, WIDE = 1.4, OVERLAP_F64 = 0.9;
    const struct cpu_device *device = kal_cpu_device_of(program);
    const int numbers = k->groups->numbers;
    const bool is_wide = k->lanes * program->real_bytes == 64;
    const double registers = (double)((points + numbers - 1) / numbers);

    if (device->is_zen)
        return registers * (is_wide ? WIDE_ZEN : 1.0);
    return registers * (is_wide ? WIDE : 1.0) +
           (program->is_f64 && points % numbers ? OVERLAP_F64 : 0.0);
}

// How a single line's step is worked in registers of neighbours, if it is.
static void find_groups(const struct cpu_program *program, struct cpu_step *out)
{
    const struct cpu_device *device = kal_cpu_device_of(program);
    const struct kal_step *step = out->step;
    const bool is_dft = step->op == KAL_STEP_DFT;
    const int64_t points = !is_dft ? step->n / 4 : step->s == 1 ? step->m : step->s;
    double best = INFINITY;

    for (int i = 0; i < device->level_count; i++) {
        const struct cpu_kernels *k = device->kernels[program->is_f64][i];
        if (!k->groups)
            continue;
        cpu_dft *dft = is_dft ? group_step(step, k->groups) : NULL;
        cpu_mirror *mirror = is_dft ? NULL : group_mirror(step, k->groups);
        const double cost = kal_cpu_group_cost(program, k, points);
        if ((!dft && !mirror) || cost >= best)
            continue;
        best = cost;
        out->groups = dft;
        out->mirror = mirror;
        out->group_numbers = k->groups->numbers;
    }
}

// The functions of a step.
static void prepare_step(const struct cpu_program *program, struct cpu_pass *pass, int i)
{
    struct cpu_step *out = &pass->step[i];
    const struct kal_step *step = &pass->pass->step[i];
    const bool is_single = pass->kernels->lanes == 1 && pass->widest->pairs;
    bool is_forward;

    out->step = step;
    if (step->op == KAL_STEP_DFT) {
        out->dft = pass->kernels->dft[step->radix];
        out->pairs = is_single ? pass->widest->pairs->step[step->radix] : NULL;
    }
    if (out->pairs && step->s == 1 && step->m == 1)
        out->groups = pass->widest->pairs->whole[step->radix];
    else if (out->pairs || (is_single && step->op != KAL_STEP_DFT &&
                            kal_cpu_is_mirrored_line(pass->pass, &is_forward)))
        find_groups(program, out);
}

static kallima_status prepare_pass(struct cpu_program *program,
                                   const struct kal_phase *phase, int index)
{
    struct cpu_pass *pass = &program->pass[index];
    const struct kal_pass *p = program->program->pass[index];

    pass->pass = p;
    pass->scale = p->scale;
    pass->bytes = kal_cpu_pass_bytes(program, p, 0);
    pass->widest = kal_cpu_widest_kernels(program);
    set_lanes(pass, phase);
    pass->spread = kal_cpu_spread_find(pass, program->real_bytes);
    pass->kernels = choose_kernels(program, pass, lanes_available(pass, phase));
    if (!pass->kernels)
        return kal_fail(&program->base.device->host, KALLIMA_E_UNSUPPORTED,
                        "plan: lanes=%d; no SIMD level of this device has so many in "
                        "%s, its widest has %d",
                        kal_pass_get_parameter(p, KAL_PARAMETER_LANES, 0),
                        program->is_f64 ? "f64" : "f32",
                        kal_cpu_widest_kernels(program)->lanes);
    pass->chunk_lines = phase->chunk;
    pass->is_blocked = can_be_blocked(pass);
    pass->is_mirrored = kal_cpu_pass_is_mirrored(p);
    pass->units = pass->is_mirrored ? p->step[0].n / 4 + 1 : p->n;
    pass->blocks = pass->is_blocked ? (pass->units + CPU_BLOCK - 1) / CPU_BLOCK : 1;
    pass->kernels = share_out(program, pass, phase);
    kal_cpu_short_find(&pass->turned, p, pass->kernels);
    if (kal_cpu_prefers_several(program, pass, pass->kernels))
        pass->turned = kal_cpu_several_lines(pass);
    pass->tile = pass->kernels->lanes;
    pass->chunk_rows = kal_cpu_rows_find(pass, phase->chunk, phase->lanes_are_lines);
    kal_cpu_caches_find(program, phase, pass);
    const struct kal_host *host = &program->base.device->host;
    pass->in_reach = find_reach(p->in.index, p->n);
    KAL_TRY(find_permutation(host, p->out.index, p->n, &pass->out_permutes));
    for (int i = 0; i < p->step_count; i++)
        prepare_step(program, pass, i);
    kal_cpu_beside_find(&pass->beside, pass, program->is_f64);
    return KALLIMA_OK;
}

// Does a pass work all of each row, which lies without gaps on both sides?
static bool is_of_rows(const struct kal_problem *p, const struct kal_pass *pass)
{
    enum { PAIR = 2 };
    const int64_t n = p->n[p->rank - 1];
    const bool is_real = p->kind != KALLIMA_C2C;
    return pass->in.stride == PAIR && pass->out.stride == PAIR &&
           (is_real ? n % 2 == 0 && pass->n == n / 2 + 1 && !pass->in.is_swapped
                    : pass->n == n && pass->in.is_swapped == pass->out.is_swapped);
}

// Rows that are planned as lines alone are worked as such, for any number of threads:
// none of them goes past the caches. What has a program of one visit is one pass, which
// is all of a row then.
static kallima_status find_row(struct cpu_program *program, const struct kal_phase *phase,
                               struct cpu_pass *pass)
{
    const struct kal_problem *p = program->program->problem;
    const struct kal_pass *rows = pass->pass;

    if (!program->program->rows_alone || !is_of_rows(p, rows) ||
        kal_pass_get_parameter(rows, KAL_PARAMETER_LANES, 0))
        return KALLIMA_OK;
    KAL_TRY(kal_cpu_nested_line(
        &pass->row, program, p->rank - 1,
        rows->is_in_place ? KALLIMA_IN_PLACE : KALLIMA_OUT_OF_PLACE, rows->scale));
    if (!pass->row)
        return KALLIMA_OK;
    pass->is_streamed = pass->has_lead = false;
    pass->tile = 1;
    pass->chunk_rows = kal_cpu_rows_find(pass, phase->chunk, phase->lanes_are_lines);
    return KALLIMA_OK;
}

static void need_tiles(struct cpu_program *program, uint64_t bytes)
{
    if (bytes > program->tile_bytes)
        program->tile_bytes = bytes;
}

// Tables and tiles of a pass, or of two as one; the number of passes goes to *count.
static kallima_status complete_pass(struct cpu_program *program,
                                    const struct kal_phase *phase, int index, int *count)
{
    struct cpu_pass *pass = &program->pass[index];
    const struct kal_pass *p = pass->pass;
    const uint64_t pair_bytes = 2 * (uint64_t)program->real_bytes;

    *count = 1;
    if (pass->is_done)
        return KALLIMA_OK;
    if (pass->facing) {
        kal_cpu_need_joined(program, (int64_t)kal_cpu_facing_bytes(pass->facing));
        need_tiles(program,
                   2 * (uint64_t)((p->n + 1) * pass->kernels->lanes) * pair_bytes);
        return kal_cpu_facing_tables_build(program, pass->facing);
    }
    if (index + 1 < phase->first_pass + phase->pass_count)
        KAL_TRY(kal_cpu_line_find(&pass->line, program, phase, pass));
    if (pass->line) {
        *count = 2;
        need_tiles(program, 2 * kal_cpu_line_tile_bytes(pass->line));
        if (index + 2 == phase->first_pass + phase->pass_count - 1)
            KAL_TRY(kal_cpu_packed_find(program, pass->line, pass + 2));
        return KALLIMA_OK;
    }
    if (kal_pass_get_parameter(p, KAL_PARAMETER_LINE, 0))
        return kal_fail(&program->base.device->host, KALLIMA_E_UNSUPPORTED,
                        "plan: line=1; its pass and the next one are not the columns and "
                        "rows of contiguous lines, worked line by line, whose rows are "
                        "one codelet of whole registers");
    KAL_TRY(find_row(program, phase, pass));
    pass->joined = kal_cpu_joined_count(program, pass);
    if (pass->joined)
        kal_cpu_need_joined(program, p->n * kal_cpu_joined_pitch(pass->joined));
    pass->is_staged = kal_cpu_is_staged(program, pass);
    if (pass->is_staged || pass->turned.count > 1)
        need_tiles(program, 2 * (2 * CPU_STAGED_BYTES));
    const uint64_t elements = (uint64_t)(pass->is_blocked ? 2 * CPU_BLOCK + 2 : p->n + 1);
    const int64_t lines = kal_max(pass->kernels->lanes,
                                  pass->beside.are_gathered ? pass->beside.at_once : 0);
    need_tiles(program, 2 * elements * (uint64_t)lines * pair_bytes);
    return kal_cpu_tables_build(program, pass);
}

static void find_piece(struct cpu_program *program, const struct kal_phase *phase)
{
    const struct cpu_pass *last =
        &program->pass[phase->first_pass + phase->pass_count - 1];

    kal_cpu_piece_find(program, phase);
    if (last->piece)
        kal_cpu_need_joined(program, kal_cpu_piece_bytes(program, last));
}

// Mirrored steps that are done as rows before them are stored, or columns behind them are read.
static kallima_status find_facing(struct cpu_program *program)
{
    const struct kal_program *source = program->program;

    for (int i = 0; i < source->stage_count; i++) {
        const struct kal_stage *stage = &source->stage[i];
        for (int j = 0; j + 1 < stage->phase_count; j++) {
            const struct kal_phase *phase = &source->phase[stage->first_phase + j];
            if (phase->pass_count == 1 && phase->chunks == 1 &&
                phase[1].pass_count == 1 && phase[1].chunks == 1)
                KAL_TRY(kal_cpu_facing_find(program, &program->pass[phase->first_pass],
                                            &program->pass[phase[1].first_pass]));
        }
    }
    return KALLIMA_OK;
}

static kallima_status choose_threads(struct cpu_program *program)
{
    const int most = program->base.device->caps.threads;
    const int asked =
        kal_program_get_parameter(program->program, KAL_PARAMETER_THREADS, 0);
    program->threads = asked > 0 ? asked : kal_cpu_threads_find(program);
    if (program->threads <= most)
        return KALLIMA_OK;
    return kal_fail(&program->base.device->host, KALLIMA_E_UNSUPPORTED,
                    "plan: threads=%d; this device was opened with %d", program->threads,
                    most);
}

// The scratch of all threads, which a small program has on its stack, and what runs it.
static void find_workspace(struct cpu_program *program, bool needs_none)
{
    const uint64_t bytes = (uint64_t)program->scratches * program->shared_bytes +
                           (uint64_t)program->threads * program->thread_bytes + 64;
    program->is_small = needs_none || (program->threads == 1 && bytes <= CPU_SMALL_BYTES);
    program->base.workspace_bytes = program->is_small ? 0 : bytes;
    kal_cpu_runners_find(program);
}

// Threads share out the lines that are copied, if these are worth it, and do not lie
// between each other in lines of the caches: 6 columns of 512 floats took four times as
// long on six threads of a Xeon as on one.
static void prepare_copied(struct cpu_program *program)
{
    const struct cpu_copied *copied = &program->copied;
    const bool are_apart = llabs(program->out.line) * copied->together >= CPU_LINE_BYTES;

    program->single = CPU_SINGLE_COPIED;
    program->threads = 1;
    if (copied->shares_arrays)
        program->threads = ((const struct cpu_program *)copied->lines)->threads;
    else if ((are_apart || copied->has_meeting) && !copied->are_shared)
        program->threads = kal_cpu_threads_find(program);
    kal_cpu_copied_meeting_find(program);
    kal_cpu_pieces_find(program);
    program->row_scale = 1.0;
    program->tile_bytes = program->thread_bytes =
        kal_cpu_aligned(kal_cpu_copied_bytes(program));
    find_workspace(program, false);
}

static void prepare_divided(struct cpu_program *program)
{
    program->single = CPU_SINGLE_DIVIDED;
    program->things = program->pieces = program->divided.arrays;
    program->row_scale = 1.0;
    program->tile_bytes = program->thread_bytes =
        kal_cpu_aligned(kal_cpu_divided_bytes(program));
    find_workspace(program, false);
}

static void prepare_convolved(struct cpu_program *program)
{
    program->single = CPU_SINGLE_CONVOLVED;
    program->threads = kal_cpu_threads_find(program);
    kal_cpu_pieces_find(program);
    program->row_scale = 1.0;
    program->tile_bytes = program->thread_bytes =
        kal_cpu_aligned(kal_cpu_convolved_bytes(program));
    find_workspace(program, false);
}

// Before tables are made, which take longer, and more memory, the longer a line is.
static kallima_status check_scratch(const struct cpu_program *program)
{
    const uint64_t memory = kal_cpu_device_of(program)->info.memory_bytes,
                   reals = (uint64_t)program->program->shared_reals;

    if (memory == 0 || reals <= memory / (uint64_t)program->real_bytes)
        return KALLIMA_OK;
    return kal_fail(&program->base.device->host, KALLIMA_E_MEMORY,
                    "plan: its scratch of %llu numbers exceeds this machine's memory of "
                    "%llu bytes",
                    (unsigned long long)reals / 2, (unsigned long long)memory);
}

static kallima_status prepare(struct cpu_program *program)
{
    const struct kal_program *source = program->program;
    const uint64_t real_bytes = (uint64_t)program->real_bytes;
    int64_t chunk_reals = 0;
    void *memory;

    KAL_TRY(check_scratch(program));
    KAL_TRY(kal_cpu_copied_find(program));
    if (program->copied.lines) {
        prepare_copied(program);
        return KALLIMA_OK;
    }
    KAL_TRY(kal_cpu_divided_find(program));
    if (program->divided.inner) {
        prepare_divided(program);
        return KALLIMA_OK;
    }
    KAL_TRY(kal_cpu_convolved_find(program));
    if (program->convolved.line) {
        prepare_convolved(program);
        return KALLIMA_OK;
    }
    KAL_TRY(kal_arena_take(&program->arena, &memory, (uint64_t)source->pass_count,
                           sizeof(struct cpu_pass)));
    program->pass = memory;
    for (int i = 0; i < source->phase_count; i++) {
        const struct kal_phase *phase = &source->phase[i];
        chunk_reals = kal_max(chunk_reals, phase->chunk_reals);
        for (int j = 0; j < phase->pass_count; j++)
            KAL_TRY(prepare_pass(program, phase, phase->first_pass + j));
    }
    KAL_TRY(find_facing(program));
    for (int i = 0; i < source->phase_count; i++) {
        const struct kal_phase *phase = &source->phase[i];
        for (int j = 0, count; j < phase->pass_count; j += count)
            KAL_TRY(complete_pass(program, phase, phase->first_pass + j, &count));
        find_piece(program, phase);
    }

    KAL_TRY(kal_cpu_array_find(program));
    need_tiles(program, 2 * kal_cpu_aligned((uint64_t)program->array.tile_bytes));
    kal_cpu_single_find(program);
    program->shared_bytes = kal_cpu_aligned((uint64_t)source->shared_reals * real_bytes);
    KAL_TRY(choose_threads(program));
    kal_cpu_single_share(program);
    program->scratches = kal_cpu_scratches_find(program);
    KAL_TRY(kal_cpu_single_calls_find(program));
    for (int i = 0; i < source->phase_count && program->single == CPU_NOT_SINGLE; i++)
        kal_cpu_lines_spread(program, &source->phase[i]);
    kal_cpu_pieces_find(program);
    // Three cache lines more: the two tiles do not share sets.
    program->tile_bytes = (kal_cpu_aligned(program->tile_bytes / 2) + 192) * 2;
    program->thread_bytes =
        kal_cpu_aligned(program->tile_bytes + (uint64_t)chunk_reals * real_bytes) + 64 +
        program->joined_bytes;
    const bool has_tiles =
        program->single != CPU_SINGLE_REAL && program->single != CPU_SINGLE_SHORT &&
        program->single != CPU_SINGLE_APART &&
        (program->single != CPU_SINGLE_STEPS || program->call_count > 1);
    find_workspace(program, !has_tiles && program->threads == 1);
    return KALLIMA_OK;
}

kallima_status kal_cpu_program_make(struct kal_device_program **out,
                                    kallima_device *device, struct cpu_program *parent,
                                    const struct kal_program *source, bool is_f64,
                                    int most_threads)
{
    void *object;
    KAL_TRY(kal_alloc_object(&device->host, &object, sizeof(struct cpu_program)));
    struct cpu_program *program = object;
    program->base.device = device;
    program->parent = parent;
    program->program = source;
    program->is_f64 = is_f64;
    program->real_bytes = is_f64 ? 8 : 4;
    program->asks_nearest = ((const struct cpu_device *)device)->is_zen_5;
    program->most_threads = most_threads;
    program->scratches = 1;
    kal_arena_init(&program->arena, &device->host);

    const kallima_status status = prepare(program);
    kal_cpu_roots_clear(program);
    program->parent = NULL;
    if (status) {
        kal_cpu_program_destroy(&program->base);
        return status;
    }
    *out = &program->base;
    return KALLIMA_OK;
}

kallima_status kal_cpu_program_create(struct kal_device_program **out,
                                      kallima_device *device,
                                      const struct kal_program *source, bool is_f64)
{
    return kal_cpu_program_make(out, device, NULL, source, is_f64, device->caps.threads);
}

void kal_cpu_program_destroy(struct kal_device_program *base)
{
    struct cpu_program *program = (struct cpu_program *)base;
    const struct kal_host host = base->device->host;
    if (program->divided.inner)
        kal_cpu_program_destroy(program->divided.inner);
    if (program->divided.columns)
        kal_cpu_program_destroy(program->divided.columns);
    if (program->convolved.line)
        kal_cpu_program_destroy(program->convolved.line);
    if (program->copied.lines)
        kal_cpu_program_destroy(program->copied.lines);
    if (program->copied.rest)
        kal_cpu_program_destroy(program->copied.rest);
    for (int i = 0; program->pass && i < program->program->pass_count; i++) {
        if (program->pass[i].row)
            kal_cpu_program_destroy(program->pass[i].row);
    }
    if (program->array.row)
        kal_cpu_program_destroy(program->array.row);
    if (program->array.column)
        kal_cpu_program_destroy(program->array.column);
    kal_arena_clear(&program->arena);
    kal_free(&host, program);
}
