// SPDX-License-Identifier: MIT
// What a pass asks of the caches: what is asked for ahead, and what goes past them.
#include "device/cpu/caches.h"

#include "device/cpu/places.h"
#include "device/cpu/short.h"

#include <math.h>
#include <stdlib.h>

double kal_cpu_pass_bytes(const struct cpu_program *program, const struct kal_pass *pass,
                          int loops)
{
    double bytes = (double)pass->n * (program->is_f64 ? 16.0 : 8.0);
    for (int i = loops; i < kal_pass_loop_count(pass); i++)
        bytes *= (double)pass->loops[i].count;
    return bytes;
}

// Do the arrays that a pass walks through exceed L2? In a stage those of one round, which
// are still near from the pass before, as a chunk is in a phase; but the user's of all
// rounds: 256x256 doubles in batches of 64 take 0.68 of the time on a Zen 5 processor,
// measured in November 2026.
static bool is_far(const struct cpu_program *program, const struct kal_phase *phase,
                   const struct kal_pass *pass)
{
    const bool is_first = pass == program->program->pass[phase->first_pass];
    const double near_bytes = (double)program->base.device->caps.near_bytes;

    if (!is_first && pass->in.buffer != KAL_BUFFER_IN)
        return kal_cpu_pass_bytes(program, pass, pass->stage_loops + pass->line_loops) *
                   (double)phase->chunk >
               near_bytes;
    const int loops = pass->in.buffer == KAL_BUFFER_IN ? 0 : pass->stage_loops;
    return kal_cpu_pass_bytes(program, pass, loops) > near_bytes;
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

// Does the next pass of the same phase read, chunk by chunk, what this one writes? 210
// real planes of 128x128 doubles take 1.4 times as long if that has gone past the caches.
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

// Bytes of output from which on it is stored past the caches: fewer if the scratch that
// it comes from fills them anyhow, more if a later phase reads it there, though not as
// many if it is mirrored there, for which it is read from both ends. Measured on a Zen 4
// processor and on sixteen of a Xeon, by timing problems both ways.
static double far_bytes(const struct cpu_program *program, const struct kal_pass *pass)
{
    const double KEPT_SHARE = 0.75, MIRRORED_SHARE = 0.375, MOST_OF_SCRATCH = 8e6;
    const struct kal_pass *next = next_pass(program->program, pass);
    const struct kal_caps *caps = &program->base.device->caps;

    if (is_read_at_once(program->program, pass))
        return INFINITY;
    if (next && pass->out.buffer == KAL_BUFFER_OUT)
        return (kal_cpu_pass_is_mirrored(next) ? MIRRORED_SHARE : KEPT_SHARE) *
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

// Is what a pass writes not what was read just before, and is still in the caches?
// Scratch of two takings begins at two offsets. Stored past the caches where they have
// been read, batches of 1024 floats in place take twice the time on a Zen 3 processor,
// and 1.5 times on a Xeon; on that, lines of 2 MB take 0.7 of the time.
static bool is_apart(const struct cpu_program *program, const struct kal_pass *pass)
{
    const struct kal_program *source = program->program;
    if (source->is_in_place && pass->out.buffer == KAL_BUFFER_OUT)
        return origin_of(source, pass) == KAL_BUFFER_SHARED ||
               kal_cpu_pass_bytes(program, pass, pass->stage_loops + pass->line_loops) >
                   (double)program->base.device->caps.near_bytes;
    return !pass->is_in_place ||
           (pass->out.buffer == KAL_BUFFER_SHARED && pass->in.offset != pass->out.offset);
}

// Does a pass write at least `times` as much as is stored past the caches elsewhere? All
// that the last one writes counts, of others what one repeat of the stage writes, which is
// read before the next.
static bool leaves_caches(const struct cpu_program *program, const struct kal_pass *pass,
                          double times)
{
    const struct kal_program *source = program->program;
    const bool is_last = pass == source->pass[source->pass_count - 1];
    const double bytes =
        kal_cpu_pass_bytes(program, pass, is_last ? 0 : pass->stage_loops);
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

// On other processors than AMD's several threads' caches hold more of them before that
// pays: on a Xeon 8 to 32 MB of lines of 512 doubles and more take 0.65 to 0.87 of the
// time so on one thread, floats 0.8 to 1.1, but 1 to 1.2 on sixteen, on which 64 MB take
// 0.95 to 1.07.
bool kal_cpu_streams_planes(const struct cpu_program *program,
                            const struct kal_pass *pass)
{
    static const double TIMES = 4.0;
    const struct cpu_device *device = kal_cpu_device_of(program);
    const bool is_alone = device->is_zen || device->base.caps.threads == 1;
    return !pass->out.is_real && pass->out.imag == 0 && is_apart(program, pass) &&
           leaves_caches(program, pass, is_alone ? 1.0 : TIMES);
}

// The same of arrays of a batch, put together near the core: on other processors than
// AMD's several threads' caches hold more of them before that pays, as measured on
// sixteen of a Xeon.
bool kal_cpu_arrays_leave_caches(const struct cpu_program *program,
                                 const struct kal_pass *pass)
{
    enum { TIMES_ZEN = 1, TIMES = 2 };
    const struct cpu_device *device = kal_cpu_device_of(program);
    const double least =
        (double)device->base.caps.far_bytes * (device->is_zen ? TIMES_ZEN : TIMES);
    return !program->program->is_in_place &&
           kal_cpu_pass_bytes(program, pass, 0) >= least &&
           kal_cpu_leaves_caches(program, pass);
}

bool kal_cpu_is_streamed(const struct cpu_program *program, const struct kal_pass *pass)
{
    return is_apart(program, pass) && kal_cpu_leaves_caches(program, pass);
}

// Do lines straddle the registers of 16 bytes that they are stored from? Past the caches
// that takes twice as long: three floats' points, measured on a Zen 4 processor.
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

// The share of the cache that cores of a Zen 5 processor share up to which short lines go
// through it. Past it all of its threads store 43 GB/s, one of them 20 to 30 where lines
// do not begin on those of the caches, through it 60. Measured in November 2026, in turn
// with another library: several doubles of 5 to 18 points of 12 to 32 MB take 0.70 of the
// time so on two threads, 0.89 on one, 33 other batches, of 4.5 to 10 MB, 0.83 and 0.96.
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

// Do short lines that would go past the caches take longer so than through these? Stores
// past them hold up a Zen 4 processor, at 28 GB/s for all its threads; others settle
// behind what comes next. There one thread takes 0.4 to 0.85 of the time through the
// caches, 8 to 134 MB, if lines go past these by way of a copy. Two threads take 0.4 to
// 1, as long as all of it is in the caches, and 0.9 to 1.2 of more, and of short lines
// that go straight 0.65 to 0.85. Lines of more points, which registers do not hold, take
// 0.9 to 2, and so do reals of more than 32 from 7 MB on, but lines of less than 160
// bytes.
static bool are_held_up(const struct cpu_program *program, const struct cpu_pass *pass)
{
    enum { FEWEST = 5, LONGEST_TURNED = 18, LONGEST_F32 = 36, LONGEST_F64 = 32 };
    enum { SHORT_BYTES = 128, LONG_BYTES = 160 };
    const double KEPT_SHARE = 0.75, MOST_OF_LONG = 7e6;
    const struct cpu_device *device = kal_cpu_device_of(program);
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

// Do a processor's own prefetchers follow short lines that go through the caches? On a
// Zen 4 processor these take 0.65 to 1 of the time if nothing is asked for, on a Zen 5
// doubles that need no turning 0.8 to 1; others there take up to twice as long from
// memory.
static bool is_followed(const struct cpu_program *program, const struct cpu_pass *pass)
{
    const struct cpu_device *device = kal_cpu_device_of(program);
    return pass->turned.run && !pass->is_streamed &&
           (device->base.caps.waits_for_stores ||
            (device->is_zen_5 && are_several_doubles(program, pass) &&
             are_kept(program, pass)));
}

// Do threads that share the tiles of a pass end in the middle of their parts: of columns
// beside each other, in the caches? A processor that asks for what lies far ahead of
// where it walks would take lines of the caches from who has the next part: on two
// threads of a Zen 4 processor single lines take 0.83 to 0.95 of the time so, on a Xeon
// 1.01. In place the asking is worth more: columns of 256x256 reals take 1.3 times as
// long.
static bool ends_inside(const struct cpu_program *program, const struct cpu_pass *pass)
{
    const struct cpu_device *device = kal_cpu_device_of(program);

    if (!device->is_zen || pass->is_far || pass->is_streamed || pass->is_blocked ||
        pass->pass->is_in_place || pass->fast_loop < 0)
        return false;
    const struct cpu_place step = kal_cpu_step_find(pass, pass->fast_loop);
    return llabs(step.in) <= CPU_NEIGHBOUR || llabs(step.out) <= CPU_NEIGHBOUR;
}

// May tiles, as wide as lines of the caches or wider, begin with whichever line of a row
// begins on one, as all rows then do?
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

void kal_cpu_caches_find(struct cpu_program *program, const struct kal_phase *phase,
                         struct cpu_pass *pass)
{
    const struct kal_pass *p = pass->pass;
    const bool is_streamed = kal_cpu_is_streamed(program, p);

    program->streams = program->streams || is_streamed;
    pass->is_streamed = is_streamed && (!p->out.is_real || pass->turned.run) &&
                        !straddles_registers(pass, program->is_f64) &&
                        !are_held_up(program, pass);
    pass->is_far = kal_pass_get_parameter(
        p, KAL_PARAMETER_FETCH, is_far(program, phase, p) && !is_followed(program, pass));
    pass->ends_inside = ends_inside(program, pass);
    pass->has_lead = has_lead(pass, program->real_bytes);
}

// Complex lines that are far too many for the caches of all threads are worth a copy: others are as
// fast through these, or faster. Measured on a Zen 4 processor and on a Xeon.
bool kal_cpu_is_staged(const struct cpu_program *program, const struct cpu_pass *pass)
{
    enum { FEWEST_BYTES = 64, MANY_BYTES = 32000000 }; // for each thread
    const int64_t line_bytes = pass->pass->n * 2 * program->real_bytes;

    return pass->is_streamed && pass->turned.run && !pass->turned.is_real &&
           line_bytes >= FEWEST_BYTES &&
           kal_cpu_pass_bytes(program, pass->pass, 0) >=
               (double)MANY_BYTES * (double)program->base.device->caps.threads;
}

// How many neighbouring tiles go past the caches together, by way of a copy; 0: each goes
// by itself. Stores of one line, 512 bytes apart or a multiple of that, are all in the
// same part of memory: on a Zen 3 processor they reach 5 GB/s, of two lines 10, of four
// 14 to 18, and those of one line that are otherwise apart 13 to 18.
int kal_cpu_joined_count(const struct cpu_program *program, const struct cpu_pass *pass)
{
    enum { FAR_APART = 512, WANTED = 4, MOST_BYTES = 352 << 10 };
    const int64_t real_bytes = program->real_bytes;
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
