// SPDX-License-Identifier: MIT
// Programs of one line or array with nothing to look up when they run: what kind each is,
// and how its steps are called.
#include "device/cpu/single.h"

#include "device/cpu/apart.h"
#include "device/cpu/array.h"
#include "device/cpu/caches.h"
#include "device/cpu/line.h"
#include "device/cpu/short.h"
#include "device/cpu/threads.h"

#include <stdlib.h>

static bool is_single_pass(const struct cpu_program *program)
{
    const struct cpu_pass *pass = &program->pass[0];
    return kal_cpu_is_one_pass(program) && pass->kernels->lanes == 1 &&
           pass->fast_loop < 0 && program->program->phase[0].chunk == 1;
}

static bool is_single_steps(const struct cpu_program *program)
{
    const struct kal_pass *p = program->pass[0].pass;
    return is_single_pass(program) && kal_cpu_steps_are_plain(p) &&
           kal_cpu_side_is_plain(&p->in, p->n) && kal_cpu_side_is_plain(&p->out, p->n) &&
           p->out.twiddle_n == 0 &&
           (p->scale == 1.0 || (p->out.stride == 2 && p->out.imag == 1));
}

static bool is_single_real(const struct cpu_program *program)
{
    const struct cpu_short_lines *turned = &program->pass[0].turned;
    return is_single_pass(program) && turned->run && turned->is_real;
}

static bool is_single_line(const struct cpu_program *program)
{
    const struct cpu_line *line = program->pass[0].line;
    return line && program->program->pass_count == 2 && line->loop < 0 &&
           !line->columns->pass->stage_loops && program->program->phase[0].lines == 1;
}

static bool has_real_lines(const struct cpu_program *program)
{
    const struct cpu_apart *apart = &program->apart;
    return program->single == CPU_SINGLE_REAL ||
           (program->single == CPU_SINGLE_SHORT && program->batch.is_real) ||
           (program->single == CPU_SINGLE_APART &&
            (apart->in.is_real || apart->out.is_real));
}

// A line of reals begins where it does, whichever part leads.
static struct cpu_user_side find_user_side(const struct cpu_program *program,
                                           const struct kal_side *side, int64_t line)
{
    const int64_t bytes = program->real_bytes;
    const bool is_planar = side->imag == 0 && !side->is_real;
    const bool is_swapped = side->is_swapped && !has_real_lines(program);
    return (struct cpu_user_side){
        .re_array = is_planar && is_swapped,
        .im_array = is_planar && !is_swapped,
        .re = (side->offset + (is_swapped ? side->imag : 0)) * bytes,
        .im = (side->offset + (is_swapped ? 0 : side->imag)) * bytes,
        .stride = side->stride,
        .line = line * bytes,
        .is_planar = is_planar,
        .is_swapped = is_swapped,
    };
}

static enum cpu_single find_single_kind(struct cpu_program *program)
{
    bool is_forward;

    if (program->array.axis_count > 0)
        return CPU_SINGLE_ARRAY;
    if (kal_cpu_batch_find(program))
        return CPU_SINGLE_SHORT;
    kal_cpu_apart_find(program);
    if (program->apart.part_count > 0)
        return CPU_SINGLE_APART;

    if (is_single_steps(program))
        return CPU_SINGLE_STEPS;
    if (is_single_real(program))
        return CPU_SINGLE_REAL;
    if (is_single_line(program))
        return CPU_SINGLE_LINE;
    if (!is_single_pass(program) ||
        !kal_cpu_is_mirrored_line(program->pass[0].pass, &is_forward))
        return CPU_NOT_SINGLE;
    return is_forward ? CPU_SINGLE_SPLIT : CPU_SINGLE_MERGE;
}

// What is scaled when all else is done; others scale as they store.
static void find_scale(struct cpu_program *program)
{
    const struct cpu_pass *pass = &program->pass[0];
    const bool is_merged = program->single == CPU_SINGLE_MERGE;
    const bool scales_itself =
        program->single == CPU_SINGLE_LINE || program->single == CPU_SINGLE_REAL ||
        program->single == CPU_SINGLE_SHORT || program->single == CPU_SINGLE_APART;

    program->row_scale = scales_itself ? 1.0 : pass->pass->scale;
    program->row_reals = is_merged ? pass->step[0].step->n : 2 * pass->pass->n;
    if (program->single == CPU_SINGLE_ARRAY) {
        program->row_scale = pass[program->program->pass_count - 1].pass->scale;
        program->row_reals = program->array.out_reals;
    }
}

// One side of a step of a single line.
struct between {
    bool is_interleaved, is_swapped, are_neighbours;
};

static struct between user_side(const struct cpu_program *program,
                                const struct cpu_user_side *side)
{
    const int64_t imag = side->im - side->re, real_bytes = program->real_bytes;
    return (struct between){ !side->is_planar &&
                                 (imag == real_bytes || imag == -real_bytes),
                             side->is_swapped, side->stride == 2 };
}

static struct cpu_call make_call(const struct cpu_step *step, const struct between *x,
                                 const struct between *y)
{
    return kal_cpu_step_call(step, step->dft,
                             x->is_interleaved && y->is_interleaved &&
                                 x->is_swapped == y->is_swapped,
                             x->are_neighbours && y->are_neighbours);
}

// Both steps at once, in the registers that the first one has its table for; NULL: there
// is no such function.
static cpu_dft *find_both(const struct cpu_program *program, const struct cpu_step *first)
{
    const struct cpu_device *device = kal_cpu_device_of(program);

    for (int i = 0; i < device->level_count; i++) {
        const struct cpu_group_kernels *k = device->kernels[program->is_f64][i]->groups;
        if (!k || k->numbers != first->group_numbers)
            continue;
        for (int j = 0; j < KAL_TWO_STEPS_COUNT && k->both[j].dft; j++) {
            if (k->both[j].first == first->step->radix &&
                k->both[j].last == first->step->m)
                return k->both[j].dft;
        }
    }
    return NULL;
}

static void join_calls(struct cpu_program *program, const struct cpu_step *step)
{
    struct cpu_call *call = program->call;

    if (program->call_count != 2 || !step[0].groups || call[0].dft != step[0].groups ||
        !step[1].groups || call[1].dft != step[1].groups)
        return;
    cpu_dft *both = find_both(program, step);
    if (both) {
        call[0].dft = both;
        program->call_count = 1;
    }
}

// Is the output a tile meanwhile, so that the nearest cache has one array less to hold?
// Measured on a Xeon: real lines of 1024 to 2048 points take 0.76 to 0.9 of the time so,
// alone and in batches forward; back, in batches, 1.0 to 1.25, as the first step then
// writes to where nothing is near yet.
static bool is_output_tile(const struct cpu_program *program, const struct between *out)
{
    return !program->program->is_in_place && out->is_interleaved && out->are_neighbours &&
           (program->single != CPU_SINGLE_MERGE || program->lines == 1);
}

// How the steps of a single line are called, which depends on what each is between.
kallima_status kal_cpu_single_calls_find(struct cpu_program *program)
{
    const struct cpu_pass *pass = &program->pass[0];
    const int first = program->single == CPU_SINGLE_MERGE;
    const int end = pass->pass->step_count - (program->single == CPU_SINGLE_SPLIT);
    const struct between in = user_side(program, &program->in),
                         out = user_side(program, &program->out);
    void *memory;

    if (program->single != CPU_SINGLE_STEPS && program->single != CPU_SINGLE_SPLIT &&
        program->single != CPU_SINGLE_MERGE)
        return KALLIMA_OK;
    KAL_TRY(kal_arena_take(&program->arena, &memory, (uint64_t)(end - first),
                           sizeof(struct cpu_call)));
    program->call = memory;
    program->call_count = end - first;
    program->tile_is_swapped = program->single == CPU_SINGLE_SPLIT || !out.is_interleaved
                                   ? in.is_swapped
                                   : out.is_swapped;
    program->output_is_tile = is_output_tile(program, &out);
    const struct between tile = { true, program->tile_is_swapped, true };
    for (int i = first; i < end; i++) {
        const bool reads = i == 0, writes = i == pass->pass->step_count - 1;
        program->call[i - first] =
            make_call(&pass->step[i], reads ? &in : &tile, writes ? &out : &tile);
    }
    join_calls(program, &pass->step[first]);
    return KALLIMA_OK;
}

// Reals of one line of the output, if it is a single one of several steps; else 0.
static int64_t single_reals(const struct cpu_program *program)
{
    const struct kal_pass *p = program->pass[0].pass;
    switch (program->single) {
    case CPU_SINGLE_STEPS: return 2 * p->n;
    case CPU_SINGLE_SPLIT: return p->step[p->step_count - 1].n + 2;
    case CPU_SINGLE_MERGE: return p->step[0].n;
    case CPU_SINGLE_ARRAY: return program->array.out_reals;
    default: return 0;
    }
}

// Real lines of a kilobyte take longer past the caches of one thread until they are a
// little more than all others are that leave these. Measured in November 2026 on Xeons
// with 1.25 and 2 MiB of L2: floats of 128 to 256 points in 4.5 and 6 MB take 0.95 to
// 1.26 and 1.03 to 1.17 of the time past them, in 8.5 MB 0.87 to 1.03 and 0.97 to 1.16;
// of 512 points and more 0.6 to 1.
static bool stays_near(const struct cpu_program *program, int64_t bytes)
{
    enum { MOST_BYTES = 1100 };
    static const double MOST_TIMES = 1.6; // of all lines
    const struct cpu_device *device = kal_cpu_device_of(program);
    const struct kal_caps *caps = &device->base.caps;
    const bool is_mirrored =
        program->single == CPU_SINGLE_SPLIT || program->single == CPU_SINGLE_MERGE;

    return is_mirrored && !device->is_zen && caps->threads == 1 && bytes <= MOST_BYTES &&
           (double)(bytes * program->lines) <= MOST_TIMES * (double)caps->far_bytes;
}

// Planes whose columns are several steps take longer past the caches of one thread, as
// these steps are called for a few lines at a time then, with what is asked for. Measured
// in November 2026 on Xeons with 1.25 and 2 MiB of L2: f64 96x32 1.08 to 1.18 and 1.23 to
// 1.36 of the time, 60x60 1.0 to 1.15 and 1.1 to 1.34, on the former 200x40 floats 1.1 to
// 1.16, 300x36 doubles 1.25 to 1.36; of less 0.8 to 1.1.
static bool have_long_columns(const struct cpu_program *program, int64_t bytes)
{
    enum { LEAST_BYTES = 40 << 10 };
    const struct cpu_device *device = kal_cpu_device_of(program);
    const struct cpu_pass *last = &program->pass[program->program->pass_count - 1];
    return !device->is_zen && device->base.caps.threads == 1 && bytes > LEAST_BYTES &&
           program->program->problem->rank == 2 && last->pass->step_count > 1;
}

// Does what a single line or array writes go past the caches? Arrays do not by
// themselves. Measured on a Zen 4 processor, batches of 8 to 16 MB: arrays of 1.1 KiB and
// more each way, 130 shapes, take 0.5 to 0.9 of the time if they do, those of 1 KiB and
// less, of which several are one, 1 to 1.5. On a Xeon these take 0.6 to 0.75.
static bool leaves_alone(const struct cpu_program *program, int64_t bytes)
{
    enum { LEAST_BYTES_ZEN = 2200, LEAST_BYTES = 2048, SHARE = 4 };
    const struct cpu_device *device = kal_cpu_device_of(program);
    const int64_t most = (int64_t)device->base.caps.near_bytes / SHARE;
    const int64_t arrays = program->program->problem->batch / program->lines; // in one
    const int64_t both = llabs(program->in.line) + bytes;
    const struct cpu_pass *last = &program->pass[program->program->pass_count - 1];

    if (program->single != CPU_SINGLE_ARRAY)
        return last->is_streamed && !stays_near(program, bytes);
    return (device->is_zen ? both >= LEAST_BYTES_ZEN * arrays : bytes >= LEAST_BYTES) &&
           bytes <= most && !have_long_columns(program, bytes) &&
           kal_cpu_arrays_leave_caches(program, last->pass);
}

// Lines or arrays one behind the other, of several steps each, that go past the caches,
// do so by way of a copy. While an array is worked the next one is asked for, bit by bit:
// 22 shapes of 8 and 16 MB take 0.76 of the time on a Zen 4 processor, 0.89 on two
// threads, 21 on a Xeon 0.92. Smaller ones, of which several are near at once, do not
// gain by it.
static void find_streamed_lines(struct cpu_program *program)
{
    enum { LEAST_ASKED = 4096 };
    const int64_t bytes = single_reals(program) * program->real_bytes;
    const int64_t in_bytes = kal_min(llabs(program->in.line), 2 * bytes);

    if (bytes == 0 || program->lines == 1 || bytes != program->out.line ||
        !leaves_alone(program, bytes))
        return;
    program->streams_lines = true;
    if (program->single == CPU_SINGLE_ARRAY && in_bytes >= LEAST_ASKED) {
        kal_cpu_array_ask(&program->array, in_bytes);
        kal_cpu_array_leaving_find(program);
    }
    const int64_t copy = program->array.leaving_rows > 0
                             ? kal_cpu_array_copy_bytes(program)
                             : kal_max(bytes, CPU_STREAMED_BYTES);
    kal_cpu_need_joined(program,
                        (int64_t)kal_cpu_aligned((uint64_t)copy + 2 * CPU_LINE_BYTES));
}

void kal_cpu_single_find(struct cpu_program *program)
{
    const struct cpu_pass *first = &program->pass[0];
    const struct cpu_pass *last = first->line ? first->line->rows : first;

    program->single = find_single_kind(program);
    if (program->single == CPU_SINGLE_ARRAY)
        last = &program->pass[program->program->pass_count - 1];
    find_scale(program);
    program->lines =
        program->single == CPU_SINGLE_SHORT ? 1 : program->program->phase[0].lines;
    const struct cpu_loop *loop = program->lines > 1 ? &first->line_loops.loop[0] : NULL;
    program->in = find_user_side(program, &first->pass->in, loop ? loop->in : 0);
    program->out = find_user_side(program, &last->pass->out,
                                  loop ? last->line_loops.loop[0].out : 0);
    find_streamed_lines(program);
}

// A single line is one thread's, but for those that several work together: then there is
// something to look up.
void kal_cpu_single_share(struct cpu_program *program)
{
    if (program->single == CPU_SINGLE_LINE && program->threads > 1 &&
        kal_cpu_line_is_shared(program->pass[0].line))
        program->single = CPU_NOT_SINGLE;
    if (program->single)
        program->threads = (int)kal_min(program->threads, kal_cpu_single_units(program));
}
