// SPDX-License-Identifier: MIT
// Passes made ready: a SIMD level and the order of lanes for each, tables, workspace.
#include "device/cpu/apart.h"
#include "device/cpu/array.h"
#include "device/cpu/beside.h"
#include "device/cpu/copied.h"
#include "device/cpu/cpu.h"
#include "device/cpu/divided.h"
#include "device/cpu/facing.h"
#include "device/cpu/line.h"
#include "device/cpu/piece.h"
#include "device/cpu/places.h"
#include "device/cpu/roots.h"
#include "device/cpu/short.h"
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

// Are lines of the loop neighbours on both sides? Then they are moved and worked as vectors, but one by one where a tile
// has some of another round: 105 arrays of three and four axes take 0.57 to 1.1 of the time on a Zen 4 processor if tiles
// end with rounds of nine lines and more, not of 64 alone, 0.96 as a mean, measured in November 2026.
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

static const struct cpu_kernels *widest_kernels(const struct cpu_program *program)
{
    const struct cpu_device *device = (const struct cpu_device *)program->base.device;
    return kal_cpu_kernels_find(device->level[device->level_count - 1], program->is_f64);
}

// NULL: the pass wants registers that the device has not.
static const struct cpu_kernels *choose_kernels(const struct cpu_program *program,
                                                const struct cpu_pass *pass,
                                                int64_t lines)
{
    const struct cpu_device *device = (const struct cpu_device *)program->base.device;
    const int wanted = kal_pass_get_parameter(pass->pass, KAL_PARAMETER_LANES, 0);
    const struct cpu_kernels *best = NULL;
    double best_cost = 0.0;

    for (int i = 0; i < device->level_count; i++) {
        const struct cpu_kernels *k =
            kal_cpu_kernels_find(device->level[i], program->is_f64);
        if (wanted && k->lanes != wanted)
            continue;
        const double cost = kal_cpu_lines_cost(pass, k, lines, program->is_f64);
        if (!best || cost < best_cost) {
            best = k;
            best_cost = cost;
        }
    }
    return best;
}

static bool is_mirrored(const struct kal_pass *p)
{
    return p->step_count == 1 &&
           (p->step[0].op == KAL_STEP_SPLIT || p->step[0].op == KAL_STEP_MERGE);
}

// A long pass without a transform needs no whole line in a tile; nor does a mirrored step
// that works along its line.
static bool can_be_blocked(const struct cpu_pass *pass)
{
    const struct kal_pass *p = pass->pass;
    if (is_mirrored(p) && pass->kernels->lanes == 1)
        return true;
    if (p->n <= CPU_BLOCK || p->step_count > 1)
        return false;
    return p->step_count == 0 || p->step[0].op != KAL_STEP_DFT;
}

// What all lines of a pass take, or those of one round of the first `loops` loops.
static double pass_bytes(const struct cpu_program *program, const struct kal_pass *pass,
                         int loops)
{
    double bytes = (double)pass->n * (program->is_f64 ? 16.0 : 8.0);
    for (int i = loops; i < kal_pass_loop_count(pass); i++)
        bytes *= (double)pass->loops[i].count;
    return bytes;
}

// Do the arrays that a pass walks through exceed L2? In a stage those of one round, which are still near from
// the pass before, as a chunk is in a phase; but the user's of all rounds: 256x256 doubles in batches of 64 take 0.68
// of the time on a Zen 5 processor, measured in November 2026.
static bool is_far(const struct cpu_program *program, const struct kal_phase *phase,
                   int index)
{
    const struct kal_pass *pass = program->program->pass[index];
    const double near_bytes = (double)program->base.device->caps.near_bytes;

    if (index > phase->first_pass && pass->in.buffer != KAL_BUFFER_IN)
        return pass_bytes(program, pass, pass->stage_loops + pass->line_loops) *
                   (double)phase->chunk >
               near_bytes;
    const int loops = pass->in.buffer == KAL_BUFFER_IN ? 0 : pass->stage_loops;
    return pass_bytes(program, pass, loops) > near_bytes;
}

static int index_of(const struct kal_program *source, const struct kal_pass *pass)
{
    int i = 0;
    while (source->pass[i] != pass)
        i++;
    return i;
}

// The pass behind this one; NULL: it is the last.
static const struct kal_pass *next_pass(const struct kal_program *source,
                                        const struct kal_pass *pass)
{
    const int next = index_of(source, pass) + 1;
    return next < source->pass_count ? source->pass[next] : NULL;
}

// Does the next pass of the same phase read, chunk by chunk, what this one writes? 210 real planes of 128x128 doubles take
// 1.4 times as long if that has gone past the caches.
static bool is_read_at_once(const struct kal_program *source, const struct kal_pass *pass)
{
    const int next = index_of(source, pass) + 1;

    for (int i = 0; i < source->phase_count; i++) {
        const struct kal_phase *phase = &source->phase[i];
        if (phase->first_pass < next && next < phase->first_pass + phase->pass_count)
            return source->pass[next]->in.buffer == pass->out.buffer;
    }
    return false;
}

// Bytes of output from which on it is stored past the caches: fewer if the scratch that it comes from
// fills them anyhow, more if a later phase reads it there, though not as many if it is mirrored there, for which it is
// read from both ends. Measured on a Zen 4 processor and on sixteen of a Xeon, by timing problems both ways.
static double far_bytes(const struct cpu_program *program, const struct kal_pass *pass)
{
    const double KEPT_SHARE = 0.75, MIRRORED_SHARE = 0.375, MOST_OF_SCRATCH = 8e6;
    const struct kal_pass *next = next_pass(program->program, pass);
    const struct kal_caps *caps = &program->base.device->caps;

    if (is_read_at_once(program->program, pass))
        return INFINITY;
    if (next && pass->out.buffer == KAL_BUFFER_OUT)
        return (is_mirrored(next) ? MIRRORED_SHARE : KEPT_SHARE) *
               (double)caps->shared_bytes;
    return pass->in.buffer == KAL_BUFFER_SHARED
               ? fmin((double)caps->far_bytes, MOST_OF_SCRATCH)
               : (double)caps->far_bytes;
}

// Where the lines that a pass works came from: what the first one of its chunk reads.
static enum kal_buffer_id origin_of(const struct kal_program *source,
                                    const struct kal_pass *pass)
{
    int i = index_of(source, pass);
    while (source->pass[i]->in.buffer == KAL_BUFFER_CHUNK)
        i--;
    return source->pass[i]->in.buffer;
}

// Is what a pass writes not what was read just before, and is still in the caches? Scratch of two takings begins
// at two offsets. Stored past the caches where they have been read, batches of 1024 floats in place take twice the
// time on a Zen 3 processor, and 1.5 times on a Xeon; on that, lines of 2 MB take 0.7 of the time.
static bool is_apart(const struct cpu_program *program, const struct kal_pass *pass)
{
    const struct kal_program *source = program->program;
    if (source->is_in_place && pass->out.buffer == KAL_BUFFER_OUT)
        return origin_of(source, pass) == KAL_BUFFER_SHARED ||
               pass_bytes(program, pass, pass->stage_loops + pass->line_loops) >
                   (double)program->base.device->caps.near_bytes;
    return !pass->is_in_place ||
           (pass->out.buffer == KAL_BUFFER_SHARED && pass->in.offset != pass->out.offset);
}

// Much output that nothing reads again, or that drives itself from the caches until it is read, as that of all lines of a stage
// does: so many times as much as is stored past them elsewhere.
static bool leaves_caches(const struct cpu_program *program, const struct kal_pass *pass,
                          double times)
{
    const struct kal_program *source = program->program;
    const bool is_last = pass == source->pass[source->pass_count - 1];
    const double bytes = pass_bytes(program, pass, is_last ? 0 : pass->stage_loops);
    return pass->out.buffer != KAL_BUFFER_CHUNK &&
           kal_program_get_parameter(source, KAL_PARAMETER_HINTS,
                                     bytes >= times * far_bytes(program, pass));
}

bool kal_cpu_leaves_caches(const struct cpu_program *program, const struct kal_pass *pass)
{
    const bool is_whole =
        pass->out.is_real || pass->out.imag == 1; // numbers' parts together
    return is_whole && leaves_caches(program, pass, 1.0);
}

// On other processors than AMD's several threads' caches hold more of them before that pays: on a Xeon 8 to 32 MB of lines of
// 512 doubles and more take 0.65 to 0.87 of the time so on one thread, floats 0.8 to 1.1, but 1 to 1.2 on sixteen, on which 64 MB
// take 0.95 to 1.07.
bool kal_cpu_streams_planes(const struct cpu_program *program,
                            const struct kal_pass *pass)
{
    static const double TIMES = 4.0;
    const struct cpu_device *device = (const struct cpu_device *)program->base.device;
    const bool is_alone = device->is_zen || device->base.caps.threads == 1;
    return !pass->out.is_real && pass->out.imag == 0 && is_apart(program, pass) &&
           leaves_caches(program, pass, is_alone ? 1.0 : TIMES);
}

// The same of arrays of a batch, put together near the core: on other processors than AMD's several threads' caches hold more of
// them before that pays, as measured on sixteen of a Xeon.
bool kal_cpu_arrays_leave_caches(const struct cpu_program *program,
                                 const struct kal_pass *pass)
{
    enum { TIMES_ZEN = 1, TIMES = 2 };
    const struct cpu_device *device = (const struct cpu_device *)program->base.device;
    const double least =
        (double)device->base.caps.far_bytes * (device->is_zen ? TIMES_ZEN : TIMES);
    return !program->program->is_in_place && pass_bytes(program, pass, 0) >= least &&
           kal_cpu_leaves_caches(program, pass);
}

bool kal_cpu_is_streamed(const struct cpu_program *program, const struct kal_pass *pass)
{
    return is_apart(program, pass) && kal_cpu_leaves_caches(program, pass);
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

double kal_cpu_group_cost(const struct cpu_kernels *k, int64_t points, bool is_f64)
{
    static const double WIDE = 1.7; // of 64 bytes, measured on a Zen 4 processor
    const int numbers = k->groups->numbers;
    const bool is_wide = k->lanes * (is_f64 ? 8 : 4) == 64;
    return (double)((points + numbers - 1) / numbers) * (is_wide ? WIDE : 1.0);
}

// How a single line's step is worked in registers of neighbours, if it is.
static void find_groups(const struct cpu_program *program, struct cpu_step *out)
{
    const struct cpu_device *device = (const struct cpu_device *)program->base.device;
    const struct kal_step *step = out->step;
    const bool is_dft = step->op == KAL_STEP_DFT;
    const int64_t points = !is_dft ? step->n / 4 : step->s == 1 ? step->m : step->s;
    double best = INFINITY;

    for (int i = 0; i < device->level_count; i++) {
        const struct cpu_kernels *k =
            kal_cpu_kernels_find(device->level[i], program->is_f64);
        if (!k->groups)
            continue;
        cpu_dft *dft = is_dft ? group_step(step, k->groups) : NULL;
        cpu_mirror *mirror = is_dft ? NULL : group_mirror(step, k->groups);
        const double cost = kal_cpu_group_cost(k, points, program->is_f64);
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

// Do lines straddle the registers of 16 bytes that they are stored from? Past the caches that takes twice as
// long: three floats' points, measured on a Zen 4 processor.
static bool straddles_registers(const struct cpu_pass *pass, bool is_f64)
{
    enum { REGISTER = 4, POINTS = 2 }; // of 16 bytes, in f32
    return pass->turned.run && !pass->turned.is_real && !is_f64 &&
           pass->kernels->lanes == REGISTER && pass->pass->n % POINTS != 0;
}

static double output_bytes(const struct cpu_program *program, const struct cpu_pass *pass)
{
    const double real_bytes = program->is_f64 ? 8.0 : 4.0;
    return pass->bytes / ((double)pass->pass->n * 2.0 * real_bytes) *
           (double)pass->turned.reals * real_bytes;
}

// Doubles whose registers hold a number of each of several lines.
static bool are_several_doubles(const struct cpu_program *program,
                                const struct cpu_pass *pass)
{
    return program->is_f64 && pass->turned.count > 1;
}

// The share of the cache that cores of a Zen 5 processor share up to which short lines go through it. Past it all of its threads
// store 43 GB/s, one of them 20 to 30 where lines do not begin on those of the caches, through it 60. Measured in November 2026,
// in turn with another library: several doubles of 5 to 18 points of 12 to 32 MB take 0.70 of the time so on two threads, 0.89 on
// one, 33 other batches, of 4.5 to 10 MB, 0.83 and 0.96.
static double kept_share(const struct cpu_program *program, const struct cpu_pass *pass)
{
    enum { SHORT = 5, LONG = 18, LONGEST = 20 };
    static const double WHOLE = 1.0, HALF = 0.51, THIRD = 0.32, REALS_ALONE = 0.2;
    const struct cpu_short_lines *turned = &pass->turned;
    const bool is_alone = program->base.device->caps.threads == 1;

    if (turned->n > (program->is_f64 || turned->is_real ? LONGEST : LONG))
        return 0.0;
    if (are_several_doubles(program, pass))
        return turned->n >= SHORT && turned->n <= LONG ? WHOLE : HALF;
    if (!is_alone)
        return THIRD;
    return turned->is_real ? REALS_ALONE : 0.0;
}

static bool are_kept(const struct cpu_program *program, const struct cpu_pass *pass)
{
    return output_bytes(program, pass) <=
           kept_share(program, pass) * (double)program->base.device->caps.shared_bytes;
}

// Do short lines that would go past the caches take longer so than through these? Stores past them hold up a Zen 4
// processor, at 28 GB/s for all its threads; others settle behind what comes next. There one thread takes 0.4 to 0.85 of
// the time through the caches, 8 to 134 MB, if lines go past these by way of a copy. Two threads take 0.4 to 1, as long as all
// of it is in the caches, and 0.9 to 1.2 of more, and of short lines that go straight 0.65 to 0.85. Lines of more points,
// which registers do not hold, take 0.9 to 2, and so do reals of more than 32 from 7 MB on, but lines of less than 160 bytes.
static bool are_held_up(const struct cpu_program *program, const struct cpu_pass *pass)
{
    enum { FEWEST = 5, LONGEST_TURNED = 18, LONGEST_F32 = 36, LONGEST_F64 = 32 };
    enum { SHORT_BYTES = 128, LONG_BYTES = 160 };
    const double KEPT_SHARE = 0.75, MOST_OF_LONG = 7e6;
    const struct cpu_device *device = (const struct cpu_device *)program->base.device;
    const struct kal_caps *caps = &device->base.caps;
    const struct cpu_short_lines *turned = &pass->turned;
    const bool is_f64 = program->is_f64, has_threads = caps->threads > 1;
    const int real_bytes = is_f64 ? 8 : 4;

    if (!turned->run)
        return false;
    if (device->is_zen_5)
        return are_kept(program, pass);
    const double bytes = output_bytes(program, pass);
    if (!caps->waits_for_stores ||
        (has_threads && bytes > KEPT_SHARE * (double)caps->shared_bytes))
        return false;
    if (kal_cpu_is_long_real(turned))
        return bytes < MOST_OF_LONG || turned->reals * real_bytes < LONG_BYTES;
    if (turned->count > 1)
        return turned->n <= (is_f64 ? LONGEST_F64 : LONGEST_F32);
    if (kal_cpu_goes_straight((int)turned->reals, pass->kernels->lanes, real_bytes))
        return has_threads &&
               (turned->is_real || turned->reals * real_bytes <= SHORT_BYTES);
    return turned->is_real ||
           ((has_threads || turned->n >= FEWEST) && turned->n <= LONGEST_TURNED);
}

// Do a processor's own prefetchers follow short lines that go through the caches? On a Zen 4 processor these take 0.65 to
// 1 of the time if nothing is asked for, on a Zen 5 doubles that need no turning 0.8 to 1; others there take up to twice as long
// from memory.
static bool is_followed(const struct cpu_program *program, const struct cpu_pass *pass)
{
    const struct cpu_device *device = (const struct cpu_device *)program->base.device;
    return pass->turned.run && !pass->is_streamed &&
           (device->base.caps.waits_for_stores ||
            (device->is_zen_5 && are_several_doubles(program, pass) &&
             are_kept(program, pass)));
}

// Do threads that share the tiles of a pass end in the middle of their parts: of columns beside each other, in the caches? A
// processor that asks for what lies far ahead of where it walks would take lines of the caches from who has the next part:
// on two threads of a Zen 4 processor single lines take 0.83 to 0.95 of the time so, on a Xeon 1.01. In place the asking is
// worth more: columns of 256x256 reals take 1.3 times as long.
static bool ends_inside(const struct cpu_program *program, const struct cpu_pass *pass)
{
    const struct cpu_device *device = (const struct cpu_device *)program->base.device;

    if (!device->is_zen || pass->is_far || pass->is_streamed || pass->is_blocked ||
        pass->pass->is_in_place || pass->fast_loop < 0)
        return false;
    const struct cpu_place step = kal_cpu_step_find(pass, pass->fast_loop);
    return llabs(step.in) <= CPU_NEIGHBOUR || llabs(step.out) <= CPU_NEIGHBOUR;
}

// May tiles, as wide as lines of the caches or wider, begin with whichever line of a row begins on one, as all rows then do?
static bool has_lead(const struct cpu_pass *pass, int64_t real_bytes)
{
    enum { PAIR = 2 };
    const struct kal_pass *p = pass->pass;
    int64_t all = p->out.stride;

    if (PAIR * pass->kernels->lanes * real_bytes < CPU_LINE_BYTES || !pass->is_streamed ||
        pass->is_blocked || pass->fast_loop < 0 || pass->turned.run ||
        !pass->kernels->stream_lanes || p->out.index || p->out.twiddle_n ||
        p->out.imag != 1 || kal_cpu_step_find(pass, pass->fast_loop).out != PAIR)
        return false;
    for (int i = 0; i < kal_pass_loop_count(p); i++)
        all |= i != pass->fast_loop && p->loops[i].count > 1 ? p->loops[i].out : 0;
    return all * real_bytes % CPU_LINE_BYTES == 0;
}

static kallima_status prepare_pass(struct cpu_program *program,
                                   const struct kal_phase *phase, int index)
{
    struct cpu_pass *pass = &program->pass[index];
    const struct kal_pass *p = program->program->pass[index];

    pass->pass = p;
    pass->scale = p->scale;
    pass->is_streamed = kal_cpu_is_streamed(program, p);
    program->streams = program->streams || pass->is_streamed;
    pass->bytes = pass_bytes(program, p, 0);
    pass->widest = widest_kernels(program);
    set_lanes(pass, phase);
    pass->spread = kal_cpu_spread_find(pass, program->is_f64 ? 8 : 4);
    pass->kernels = choose_kernels(program, pass, lanes_available(pass, phase));
    if (!pass->kernels)
        return kal_fail(&program->base.device->host, KALLIMA_E_UNSUPPORTED,
                        "plan: lanes=%d; no SIMD level of this device has so many in "
                        "%s, its widest has %d",
                        kal_pass_get_parameter(p, KAL_PARAMETER_LANES, 0),
                        program->is_f64 ? "f64" : "f32", widest_kernels(program)->lanes);
    kal_cpu_short_find(&pass->turned, p, pass->kernels);
    if ((p->out.is_real && !pass->turned.run) ||
        straddles_registers(pass, program->is_f64))
        pass->is_streamed = false;
    if (kal_cpu_prefers_several(pass, pass->kernels, program->is_f64))
        pass->turned = kal_cpu_several_lines(pass);
    if (are_held_up(program, pass))
        pass->is_streamed = false;
    pass->is_blocked = can_be_blocked(pass);
    pass->is_mirrored = is_mirrored(p);
    pass->units = pass->is_mirrored ? p->step[0].n / 4 + 1 : p->n;
    pass->blocks = pass->is_blocked ? (pass->units + CPU_BLOCK - 1) / CPU_BLOCK : 1;
    pass->is_far = kal_pass_get_parameter(p, KAL_PARAMETER_FETCH,
                                          is_far(program, phase, index) &&
                                              !is_followed(program, pass));
    pass->ends_inside = ends_inside(program, pass);
    pass->tile = pass->kernels->lanes;
    pass->chunk_lines = phase->chunk;
    pass->chunk_rows = kal_cpu_rows_find(pass, phase->chunk, phase->lanes_are_lines);
    pass->has_lead = has_lead(pass, program->is_f64 ? 8 : 4);
    const struct kal_host *host = &program->base.device->host;
    pass->in_reach = find_reach(p->in.index, p->n);
    KAL_TRY(find_permutation(host, p->out.index, p->n, &pass->out_permutes));
    for (int i = 0; i < p->step_count; i++)
        prepare_step(program, pass, i);
    kal_cpu_beside_find(&pass->beside, pass, program->is_f64);
    return KALLIMA_OK;
}

static void need_tiles(struct cpu_program *program, uint64_t bytes)
{
    if (bytes > program->tile_bytes)
        program->tile_bytes = bytes;
}

static void need_joined(struct cpu_program *program, int64_t bytes)
{
    if ((uint64_t)bytes > program->joined_bytes)
        program->joined_bytes = (uint64_t)bytes;
}

// Complex lines that are far too many for the caches of all threads are worth a copy: others are as
// fast through these, or faster. Measured on a Zen 4 processor and on a Xeon.
static bool is_staged(const struct cpu_program *program, const struct cpu_pass *pass)
{
    enum { FEWEST_BYTES = 64, MANY_BYTES = 32000000 }; // for each thread
    const int64_t line_bytes = pass->pass->n * (program->is_f64 ? 16 : 8);

    return pass->is_streamed && pass->turned.run && !pass->turned.is_real &&
           line_bytes >= FEWEST_BYTES &&
           pass_bytes(program, pass->pass, 0) >=
               (double)MANY_BYTES * (double)program->base.device->caps.threads;
}

// How many neighbouring tiles go past the caches together, by way of a copy; 0: each goes by itself. Stores of
// one line, 512 bytes apart or a multiple of that, are all in the same part of memory: on a Zen 3 processor they
// reach 5 GB/s, of two lines 10, of four 14 to 18, and those of one line that are otherwise apart 13 to 18.
static int count_joined(const struct cpu_program *program, const struct cpu_pass *pass)
{
    enum { FAR_APART = 512, WANTED = 4, MOST_BYTES = 352 << 10 };
    const int64_t real_bytes = program->is_f64 ? 8 : 4;
    const int64_t piece = 2 * pass->kernels->lanes * real_bytes;
    int tiles = WANTED;

    if (!pass->is_streamed || piece != CPU_LINE_BYTES || pass->turned.run ||
        pass->is_blocked ||
        (!pass->beside.run && pass->pass->out.stride * real_bytes % FAR_APART != 0))
        return 0;
    while (tiles > 1 && pass->pass->n * kal_cpu_joined_pitch(tiles) > MOST_BYTES)
        tiles /= 2;
    return tiles > 1 ? tiles : 0;
}

// Tables and tiles of a pass, or of two as one; the number of passes goes to *count.
static kallima_status complete_pass(struct cpu_program *program,
                                    const struct kal_phase *phase, int index, int *count)
{
    struct cpu_pass *pass = &program->pass[index];
    const struct kal_pass *p = pass->pass;
    const uint64_t pair_bytes = program->is_f64 ? 16 : 8;

    *count = 1;
    if (pass->is_done)
        return KALLIMA_OK;
    if (pass->facing) {
        need_joined(program, (int64_t)kal_cpu_facing_bytes(pass->facing));
        need_tiles(program,
                   2 * (uint64_t)((p->n + 1) * pass->kernels->lanes) * pair_bytes);
        return kal_cpu_facing_tables_build(program, pass->facing);
    }
    if (index + 1 < phase->first_pass + phase->pass_count)
        KAL_TRY(kal_cpu_line_find(&pass->line, program, phase, pass));
    if (pass->line) {
        *count = 2;
        need_tiles(program, 2 * kal_cpu_line_tile_bytes(pass->line));
        return KALLIMA_OK;
    }
    if (kal_pass_get_parameter(p, KAL_PARAMETER_LINE, 0))
        return kal_fail(&program->base.device->host, KALLIMA_E_UNSUPPORTED,
                        "plan: line=1; its pass and the next one are not the columns and "
                        "rows of contiguous lines, worked line by line, whose rows are "
                        "one codelet of whole registers");
    pass->joined = count_joined(program, pass);
    if (pass->joined)
        need_joined(program, p->n * kal_cpu_joined_pitch(pass->joined));
    pass->is_staged = is_staged(program, pass);
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
        need_joined(program, kal_cpu_piece_bytes(program, last));
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
    program->threads = kal_program_get_parameter(program->program, KAL_PARAMETER_THREADS,
                                                 kal_cpu_threads_find(program));
    if (program->threads <= most)
        return KALLIMA_OK;
    return kal_fail(&program->base.device->host, KALLIMA_E_UNSUPPORTED,
                    "plan: threads=%d; this device was opened with %d", program->threads,
                    most);
}

static bool is_single_pass(const struct cpu_program *program)
{
    const struct cpu_pass *pass = &program->pass[0];
    return program->program->pass_count == 1 && pass->kernels->lanes == 1 &&
           pass->fast_loop < 0 && pass->inner == 1 && pass->stage_loops.count == 0 &&
           pass->line_loops.count <= 1 && program->program->phase[0].chunk == 1;
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
    const int64_t bytes = program->is_f64 ? 8 : 4;
    return (struct cpu_user_side){
        .re = side->offset * bytes,
        .im = (side->offset + side->imag) * bytes,
        .stride = side->stride,
        .line = line * bytes,
        .is_planar = side->imag == 0 && !side->is_real,
        .is_swapped = side->is_swapped && !has_real_lines(program),
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
    const int64_t imag = side->im - side->re, real_bytes = program->is_f64 ? 8 : 4;
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

// Both steps at once, in the registers that the first one has its table for; NULL: there is no such function.
static cpu_dft *find_both(const struct cpu_program *program, const struct cpu_step *first)
{
    const struct cpu_device *device = (const struct cpu_device *)program->base.device;

    for (int i = 0; i < device->level_count; i++) {
        const struct cpu_group_kernels *k =
            kal_cpu_kernels_find(device->level[i], program->is_f64)->groups;
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

// Is the output a tile meanwhile, so that the nearest cache has one array less to hold? Measured on a Xeon: real lines of 1024 to
// 2048 points take 0.76 to 0.9 of the time so, alone and in batches forward; back, in batches, 1.0 to 1.25, as the first
// step then writes to where nothing is near yet.
static bool is_output_tile(const struct cpu_program *program, const struct between *out)
{
    return !program->program->is_in_place && out->is_interleaved && out->are_neighbours &&
           (program->single != CPU_SINGLE_MERGE || program->lines == 1);
}

// How the steps of a single line are called, which depends on what each is between.
static kallima_status find_calls(struct cpu_program *program)
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

static void find_single(struct cpu_program *program)
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
}

static uint64_t aligned(uint64_t bytes)
{
    return (bytes + 63) / 64 * 64;
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

// Does what a single line or array writes go past the caches? Arrays do not by themselves. Measured on a Zen 4 processor, batches
// of 8 to 16 MB: arrays of 1.1 KiB and more each way, 130 shapes, take 0.5 to 0.9 of the time if they do, those of 1 KiB and less,
// of which several are one, 1 to 1.5. On a Xeon these take 0.6 to 0.75.
static bool leaves_alone(const struct cpu_program *program, int64_t bytes)
{
    enum { LEAST_BYTES_ZEN = 2200, LEAST_BYTES = 2048, SHARE = 4 };
    const struct cpu_device *device = (const struct cpu_device *)program->base.device;
    const int64_t most = (int64_t)device->base.caps.near_bytes / SHARE;
    const int64_t arrays = program->program->problem->batch / program->lines; // in one
    const int64_t both = llabs(program->in.line) + bytes;
    const struct cpu_pass *last = &program->pass[program->program->pass_count - 1];

    if (program->single != CPU_SINGLE_ARRAY)
        return last->is_streamed;
    return (device->is_zen ? both >= LEAST_BYTES_ZEN * arrays : bytes >= LEAST_BYTES) &&
           bytes <= most && kal_cpu_arrays_leave_caches(program, last->pass);
}

// Lines or arrays one behind the other, of several steps each, that go past the caches, do so by way of a copy. While an array is
// worked the next one is asked for, bit by bit: 22 shapes of 8 and 16 MB take 0.76 of the time on a Zen 4 processor, 0.89 on two
// threads, 21 on a Xeon 0.92. Smaller ones, of which several are near at once, do not gain by it.
static void find_streamed_lines(struct cpu_program *program)
{
    enum { LEAST_ASKED = 4096 };
    const int64_t bytes = single_reals(program) * (program->is_f64 ? 8 : 4);
    const int64_t in_bytes = kal_min(llabs(program->in.line), 2 * bytes);

    if (bytes == 0 || program->lines == 1 || bytes != program->out.line ||
        !leaves_alone(program, bytes))
        return;
    program->streams_lines = true;
    if (program->single == CPU_SINGLE_ARRAY && in_bytes >= LEAST_ASKED)
        kal_cpu_array_ask(&program->array, in_bytes);
    need_joined(program, (int64_t)aligned((uint64_t)kal_max(bytes, CPU_STREAMED_BYTES) +
                                          2 * CPU_LINE_BYTES));
}

// A single line is one thread's, but for those that several work together: then there is something to look up.
static void share_single(struct cpu_program *program)
{
    if (program->single == CPU_SINGLE_LINE && program->threads > 1 &&
        kal_cpu_line_is_shared(program->pass[0].line))
        program->single = CPU_NOT_SINGLE;
    if (program->single)
        program->threads = (int)kal_min(program->threads, kal_cpu_single_units(program));
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

// Threads share out the lines that are copied, if these are worth it, and do not lie between each other in lines of the
// caches: 6 columns of 512 floats took four times as long on six threads of a Xeon as on one.
static void prepare_copied(struct cpu_program *program)
{
    const struct cpu_copied *copied = &program->copied;
    const bool are_apart = llabs(program->out.line) * copied->together >= CPU_LINE_BYTES;

    program->single = CPU_SINGLE_COPIED;
    program->threads = (are_apart || copied->has_meeting) && !copied->are_shared
                           ? kal_cpu_threads_find(program)
                           : 1;
    kal_cpu_copied_meeting_find(program);
    program->row_scale = 1.0;
    program->tile_bytes = program->thread_bytes = aligned(kal_cpu_copied_bytes(program));
    find_workspace(program, false);
}

static void prepare_divided(struct cpu_program *program)
{
    program->single = CPU_SINGLE_DIVIDED;
    program->row_scale = 1.0;
    program->tile_bytes = program->thread_bytes = aligned(kal_cpu_divided_bytes(program));
    find_workspace(program, false);
}

static kallima_status prepare(struct cpu_program *program)
{
    const struct kal_program *source = program->program;
    const uint64_t real_bytes = program->is_f64 ? 8 : 4;
    int64_t chunk_reals = 0;
    void *memory;

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
    need_tiles(program, 2 * aligned((uint64_t)program->array.tile_bytes));
    find_single(program);
    find_streamed_lines(program);
    program->shared_bytes = aligned((uint64_t)source->shared_reals * real_bytes);
    KAL_TRY(choose_threads(program));
    share_single(program);
    program->scratches = kal_cpu_scratches_find(program);
    KAL_TRY(find_calls(program));
    for (int i = 0; i < source->phase_count && program->single == CPU_NOT_SINGLE; i++)
        kal_cpu_lines_spread(program, &source->phase[i]);
    // Three cache lines more: the two tiles do not share sets.
    program->tile_bytes = (aligned(program->tile_bytes / 2) + 192) * 2;
    program->thread_bytes =
        aligned(program->tile_bytes + (uint64_t)chunk_reals * real_bytes) + 64 +
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

static bool has_groups(const struct cpu_pass *pass)
{
    for (int i = 0; i < pass->pass->step_count; i++) {
        if (pass->step[i].groups)
            return true;
    }
    return false;
}

// The level of a pass, and what its lines are to that.
static const char *describe_level(const struct cpu_pass *pass, const char **way)
{
    const bool has_pairs = pass->step[0].pairs && !pass->turned.run;

    *way = "";
    if (pass->line) {
        *way = ", line by line";
        return pass->line->kernels->level;
    }
    if (pass->facing)
        *way = pass->facing->is_split ? ", mirrored as it is stored"
                                      : ", mirrored as it is read";
    else if (pass->is_done)
        *way = ", by a neighbour";
    else if (pass->beside.run || pass->turned.count > 1)
        *way = ", a number of several lines in each register";
    else if (pass->turned.run && pass->kernels->lanes > 1)
        *way = ", turned in registers";
    else if (has_pairs)
        *way = has_groups(pass) ? ", neighbours of a line in each register"
                                : ", a number in each register";
    return has_pairs ? pass->widest->level : pass->kernels->level;
}

static void describe_copies(const struct cpu_copied *copied, struct kal_text *text)
{
    kal_text_add(text, "copies   of lines, %lld at once", (long long)copied->at_once);
    if (copied->together > copied->at_once)
        kal_text_add(text, ", %lld copied together%s", (long long)copied->together,
                     copied->are_shared    ? ", each worked by all threads"
                     : copied->has_meeting ? ", threads meet between"
                                           : "");
    kal_text_add(text, ":\n");
}

void kal_cpu_program_describe(const struct kal_device_program *base,
                              struct kal_text *text)
{
    const struct cpu_program *program = (const struct cpu_program *)base;

    if (program->single == CPU_SINGLE_DIVIDED) {
        kal_text_add(text, "arrays   of all axes but the first:\n");
        kal_cpu_program_describe(program->divided.inner, text);
        kal_text_add(text, "columns  of that one:\n");
        kal_cpu_program_describe(program->divided.columns, text);
        return;
    }
    kal_text_add(text, "threads %d\n", program->threads);
    if (program->single == CPU_SINGLE_ARRAY) {
        kal_text_add(text, "axes     %s, numbers in registers, from tile to tile\n",
                     program->pass[0].widest->level);
        return;
    }
    if (program->single == CPU_SINGLE_COPIED) {
        describe_copies(&program->copied, text);
        kal_cpu_program_describe(program->copied.lines, text);
        return;
    }
    if (program->single == CPU_SINGLE_APART) {
        kal_text_add(text, "lines    %s first, where they lie\n",
                     program->apart.part[0].level);
        return;
    }
    for (int i = 0; i < program->program->pass_count; i++) {
        const struct cpu_pass *pass = &program->pass[i];
        const char *way, *level = describe_level(pass, &way);
        kal_text_add(text, "pass %-3d %s%s", i, level, way);
        if (!program->single) // one line has nothing to fetch, and nothing to drive out
            kal_text_add(text, "%s%s",
                         pass->is_far && !pass->line ? ", fetched ahead" : "",
                         pass->is_streamed ? ", stored past the caches" : "");
        kal_text_add(text, "\n");
        i += pass->line != NULL;
    }
}

void kal_cpu_program_destroy(struct kal_device_program *base)
{
    struct cpu_program *program = (struct cpu_program *)base;
    const struct kal_host host = base->device->host;
    if (program->divided.inner)
        kal_cpu_program_destroy(program->divided.inner);
    if (program->divided.columns)
        kal_cpu_program_destroy(program->divided.columns);
    if (program->copied.lines)
        kal_cpu_program_destroy(program->copied.lines);
    if (program->copied.rest)
        kal_cpu_program_destroy(program->copied.rest);
    if (program->array.row)
        kal_cpu_program_destroy(program->array.row);
    if (program->array.column)
        kal_cpu_program_destroy(program->array.column);
    kal_arena_clear(&program->arena);
    kal_free(&host, program);
}
