// SPDX-License-Identifier: MIT
#include "device/cpu/threads.h"

#include "base/platform.h"
#include "device/cpu/copied.h"
#include "device/cpu/distance.h"
#include "device/cpu/facing.h"
#include "device/cpu/line.h"
#include "device/cpu/places.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>

void kal_cpu_meeting_init(struct cpu_meeting *meeting, int parts)
{
    for (int i = 0; i < kal_min(parts, CPU_DOORS); i++)
        atomic_init(&meeting->in[i].count, 0);
    for (int i = 0; i < kal_min(parts, CPU_HANDS); i++)
        atomic_init(&meeting->hand[i].left, 0);
    atomic_init(&meeting->out.count, 0);
}

// Where there are more threads than processors, others are let on.
static void wait_at(struct cpu_door *door, int count)
{
    int patience = 1000;
    while (atomic_load_explicit(&door->count, memory_order_acquire) < count) {
        if (patience > 0) {
            patience--;
            kal_cpu_pause();
        } else {
            kal_yield();
        }
    }
}

// OpenMP's barriers are for all threads, idle ones among them: sixteen of a Xeon take 1.7
// us. Where they count in one place, as these do, they take 1.4; 0.6 where each has its
// own and the first one looks at all. A few look at each other's.
void kal_cpu_meet(struct cpu_worker *worker)
{
    enum { FEW = 3 };
    struct cpu_meeting *m = worker->meeting;
    const int parts = worker->parts;

    if (parts == 1)
        return;
    worker->round++;
    atomic_fetch_add_explicit(&m->in[worker->part % CPU_DOORS].count, 1,
                              memory_order_release);
    if (parts > FEW && worker->part > 0) {
        wait_at(&m->out, worker->round);
        return;
    }
    for (int i = 0; i < kal_min(parts, CPU_DOORS); i++)
        wait_at(&m->in[i], worker->round * ((parts - 1 - i) / CPU_DOORS + 1));
    if (parts > FEW)
        atomic_store_explicit(&m->out.count, worker->round, memory_order_release);
}

struct cpu_chunk kal_cpu_chunk_make(const struct kal_phase *phase, int64_t stage_index,
                                    int64_t number)
{
    const int64_t first = number * phase->chunk;
    return (struct cpu_chunk){
        .stage_index = stage_index,
        .first_line = first,
        .lines = kal_min(phase->chunk, phase->lines - first),
        .lanes_are_lines = phase->lanes_are_lines,
    };
}

int64_t kal_cpu_unit_count(const struct cpu_pass *pass, const struct cpu_chunk *chunk)
{
    if (pass->facing)
        return pass->facing->tiles;
    return pass->line ? kal_cpu_line_count(pass->line, chunk)
                      : kal_cpu_tile_count(pass, chunk);
}

static int64_t chunk_bytes(const struct kal_phase *phase, const struct kal_pass *pass,
                           int real_bytes)
{
    int64_t bytes = 2 * real_bytes * phase->chunk * pass->n;
    for (int i = 0; i < pass->inner_loops; i++)
        bytes *= pass->loops[pass->stage_loops + pass->line_loops + i].count;
    return bytes;
}

// May a tile have fewer lines than lanes, so that each thread has one? Not where lines are
// neighbours, which are moved as registers, nor where what moves them or multiplies by
// twiddles counts on full tiles; nor is it worth it where memory does not take longer than
// codelets.
static bool may_be_spread(const struct cpu_pass *pass)
{
    const struct kal_pass *p = pass->pass;
    if (pass->spread == 0.0 || pass->kernels->lanes == 1 || pass->line ||
        pass->turned.run || pass->beside.run || pass->blocks > 1 || p->out.twiddle_n)
        return false;
    const struct cpu_place step = kal_cpu_step_find(pass, pass->fast_loop);
    return llabs(step.in) > CPU_NEIGHBOUR && llabs(step.out) > CPU_NEIGHBOUR;
}

// The largest part of `units` that one of the workers has.
static double largest_of(int64_t units, int parts)
{
    return (double)(kal_round_up(units, parts) / parts) / (double)units;
}

// Do workers share each line of a chunk, as there are fewer of them?
static bool shares_lines(const struct cpu_pass *pass, int64_t units, int parts)
{
    return units < parts && pass->line && kal_cpu_line_is_shared(pass->line);
}

// The largest part of a pass that one of the workers has.
static double largest_share(const struct cpu_pass *pass, const struct cpu_chunk *chunk,
                            int parts)
{
    const int64_t units = kal_cpu_unit_count(pass, chunk);
    return shares_lines(pass, units, parts) ? 1.0 / parts : largest_of(units, parts);
}

// How many chunks' work a worker has, of a phase whose chunks all of them work one after the other.
static double shared_work(const struct cpu_program *program,
                          const struct kal_phase *phase, int parts)
{
    const struct cpu_chunk chunk = kal_cpu_chunk_make(phase, 0, 0);
    const struct cpu_pass *first = &program->pass[phase->first_pass];
    double shares = 0.0;
    int count = 0;

    for (int j = 0; j < phase->pass_count; j += kal_cpu_passes_of(&first[j]), count++)
        shares += largest_share(&first[j], &chunk, parts);
    return (double)phase->chunks * shares / count;
}

// They wait for each other at every pass, but none is idle while others have a chunk
// more, and of large chunks one at a time is in the caches. On two threads of a Zen 4,
// five chunks of 512 KiB took 1.6 times as long in that way, and three and seven of 8 MiB
// 0.6 to 0.9 times as long.
bool kal_cpu_are_shared(const struct cpu_program *program, const struct kal_phase *phase,
                        int parts)
{
    enum { LARGE = 1 << 20, MANY = 4 };
    const double WORTH_WAITING = 0.75;
    const int64_t chunks = phase->chunks, rounded = kal_round_up(chunks, parts);
    const struct kal_pass *first = program->pass[phase->first_pass].pass;

    if (parts == 1 || chunks == rounded || chunks >= (int64_t)MANY * parts)
        return false;
    const double own = (double)(rounded / parts),
                 shared = shared_work(program, phase, parts);
    return chunk_bytes(phase, first, program->real_bytes) <= LARGE
               ? shared < WORTH_WAITING * own
               : shared <= own;
}

// What a program takes on some threads: the work of the one that has most, and how often
// they wait for each other: at the end, too.
struct cost {
    double work, waits;
};

// Bytes of memory that elements of `unit` reals touch, so many reals apart, as their
// lines are, relative to their own: where neither are neighbours each takes a line of the
// caches.
static double spread_of(int64_t unit, int64_t stride, int64_t step, int64_t real_bytes)
{
    const int64_t apart = llabs(stride);
    if (llabs(step) <= CPU_NEIGHBOUR || apart <= unit)
        return 1.0;
    return (double)kal_min(apart * real_bytes, CPU_LINE_BYTES) /
           (double)(unit * real_bytes);
}

static double spread_of_side(const struct kal_side *side, int64_t step,
                             int64_t real_bytes)
{
    return spread_of(side->imag == 1 ? CPU_NEIGHBOUR : 1, side->stride, step, real_bytes);
}

double kal_cpu_spread_find(const struct cpu_pass *pass, int64_t real_bytes)
{
    if (pass->fast_loop < 0)
        return 0.0;
    const struct cpu_place step = kal_cpu_step_find(pass, pass->fast_loop);
    const double spread = (spread_of_side(&pass->pass->in, step.in, real_bytes) +
                           spread_of_side(&pass->pass->out, step.out, real_bytes)) /
                          2.0;
    return spread > 1.0 ? spread : 0.0;
}

// What a pass computes: bytes that it reads, times its steps, of which lines that
// registers hold have one. For each KiB of these a Zen 4 processor takes 35 ns, a Xeon
// 67, in the nearer caches: means of 160 kinds and lengths of 2048 to 65536 points, which
// scatter about them by factors of 1.3 and 1.4.
static double steps_work(const struct cpu_pass *pass)
{
    const int steps = pass->turned.run ? 1 : pass->pass->step_count;
    return pass->bytes * (double)kal_max(1, steps);
}

// The same, and what it waits for memory.
static double pass_work(const struct cpu_pass *pass)
{
    return steps_work(pass) + pass->bytes * pass->spread;
}

static double phase_work(const struct cpu_program *program, const struct kal_phase *phase)
{
    double work = 0.0;
    for (int i = 0; i < phase->pass_count; i++) {
        const struct cpu_pass *pass = &program->pass[phase->first_pass + i];
        if (!pass->is_done)
            work += pass_work(pass);
    }
    return work;
}

static double all_work(const struct cpu_program *program)
{
    double work = 0.0;
    for (int i = 0; i < program->program->phase_count; i++)
        work += phase_work(program, &program->program->phase[i]);
    return work;
}

// Does a pass read what other threads have written? Beyond the nearer cache that is on
// its way anyhow.
static bool is_exchanged(const struct cpu_program *program, const struct cpu_pass *pass)
{
    return pass->pass->in.buffer != KAL_BUFFER_IN &&
           pass->bytes <= (double)program->base.device->caps.near_bytes;
}

// What it takes some of them to fetch that: what is on its way at once grows with them,
// but not as much.
static double exchange_work(const struct cpu_program *program,
                            const struct cpu_pass *pass, int parts)
{
    return is_exchanged(program, pass)
               ? pass->bytes * program->distance / sqrt(2.0 * parts)
               : 0.0;
}

// Do threads write lines of the caches that others write, too: columns of rows that begin on none?
static bool do_meet(const struct cpu_program *program, const struct kal_pass *p)
{
    const int64_t apart = llabs(p->out.stride) * program->real_bytes;
    return p->in.buffer == KAL_BUFFER_OUT && p->out.buffer == KAL_BUFFER_OUT &&
           apart % CPU_LINE_BYTES != 0;
}

// How often as long they wait.
static double waits_of_pass(const struct cpu_program *program,
                            const struct cpu_pass *pass)
{
    enum { THAT_MEET = 2 };
    return do_meet(program, pass->pass) ? 1.0 + THAT_MEET * program->distance : 1.0;
}

static bool exchanges(const struct cpu_program *program)
{
    if (kal_cpu_copies_meet(program))
        return true;
    for (int i = 0; i < program->program->pass_count; i++) {
        const struct cpu_pass *pass = &program->pass[i];
        if (!pass->is_done &&
            (is_exchanged(program, pass) || do_meet(program, pass->pass)))
            return true;
    }
    return false;
}

// How far threads are from each other: what one of two fetches from the other takes the
// time of so many steps. It is all that of eight and more, measured on sixteen of a Xeon
// by 64 single lines, arrays and small batches, of which what two to sixteen exchange
// takes 1.2 to 0.4 steps. Cores that share a cache in groups, AMD's, are nearer, or as
// far as is found: two of a virtual machine on a Zen 4 processor are at 0.4 to 0.8, or,
// while it has them in two groups, at 1.7 to 2.5, where they take up to twice as long as
// one for what fits the nearer caches. That is asked where they exchange such, and where
// beginning and ending takes a good part of the time.
static double find_distance(const struct cpu_program *program, bool is_short)
{
    enum { FAR = 8 };
    static const double STEP_NS = 5.5, FARTHEST = 2.3; // a line of the caches; elsewhere
    const struct cpu_device *device = kal_cpu_device_of(program);
    const int threads = device->base.caps.threads;
    const double many = fmin(1.0, (double)threads / FAR);

    if (!device->is_zen)
        return FARTHEST * many;
    return is_short || exchanges(program)
               ? fmax(many, kal_cpu_distance_find(threads) / STEP_NS)
               : many;
}

// The largest part of the work of a pass that one of the workers has who share its tiles.
static double largest_work(const struct cpu_program *program, const struct cpu_pass *pass,
                           const struct kal_phase *phase, int64_t units, int parts)
{
    const double tile_share = largest_of(units, parts);
    if (phase->chunks > 1 || !may_be_spread(pass))
        return pass_work(pass) * tile_share + exchange_work(program, pass, parts);
    const int64_t lines = pass->chunk_rows.count * pass->chunk_rows.length;
    return steps_work(pass) * tile_share +
           pass->bytes * pass->spread * largest_of(lines, parts);
}

// Columns and rows of a line that threads share; of fewer tiles the first step of its
// columns by itself.
static double phases_of_line(const struct cpu_line *line, int parts)
{
    return parts > line->alone->tiles && kal_cpu_line_is_divided(line) ? 3.0 : 2.0;
}

// All passes of a phase, of the tiles or lines of each of which workers have their share.
static void add_shared(struct cost *cost, const struct cpu_program *program,
                       const struct kal_phase *phase, int64_t repeats, int parts)
{
    const struct cpu_chunk chunk = kal_cpu_chunk_make(phase, 0, 0);

    const struct cpu_pass *first = &program->pass[phase->first_pass];

    for (const struct cpu_pass *pass = first; pass < first + phase->pass_count;
         pass += kal_cpu_passes_of(pass)) {
        const int64_t units = kal_cpu_unit_count(pass, &chunk);
        const bool are_lines = shares_lines(pass, units, parts);
        const double waits =
            are_lines ? 1.0 + (double)units * (phases_of_line(pass->line, parts) - 1.0)
                      : waits_of_pass(program, pass);
        cost->waits += (double)(repeats * phase->chunks) * waits;
        if (!pass->line) {
            cost->work += largest_work(program, pass, phase, units, parts);
            continue;
        }
        const struct cpu_pass *rows = pass + 1;
        cost->work += (pass_work(pass) + pass_work(rows)) *
                      (are_lines ? 1.0 / parts : largest_of(units, parts));
    }
}

static void add_phase(struct cost *cost, const struct cpu_program *program,
                      const struct kal_phase *phase, int64_t repeats, int parts)
{
    if (program->pass[phase->first_pass].is_done)
        return;
    if (kal_cpu_are_shared(program, phase, parts) ||
        (phase->chunks == 1 && may_be_spread(&program->pass[phase->first_pass]))) {
        add_shared(cost, program, phase, repeats, parts);
        return;
    }
    const double share = largest_of(phase->chunks, parts);
    cost->work += exchange_work(program, &program->pass[phase->first_pass], parts);
    for (int i = 0; i < phase->pass_count; i++)
        cost->work += pass_work(&program->pass[phase->first_pass + i]) * share;
    cost->waits += (double)repeats;
}

// Does each of the threads work repeats of a stage by itself, with scratch of its own,
// while the cache that all of them share holds that? They wait for each other once then.
// Not where other stages use some of that scratch.
// Batches of long lines and arrays of 0.5 to 16 MB each take 0.34 to 1.19 of the time so
// on 2 to 16 threads of a Xeon, 0.93 as a mean of 123. On two of a Zen 5 processor they
// take 0.5 to 1.0 while its cores are far from each other, and 0.85 to 1.27, 1.0 as a
// mean, while they are near: both nearer caches hold what one does not.
static bool are_repeats_own(const struct cpu_program *program,
                            const struct kal_stage *stage, int parts)
{
    return parts > 1 && stage->repeats >= parts && !stage->has_outer_scratch &&
           (uint64_t)parts * program->shared_bytes <=
               program->base.device->caps.shared_bytes;
}

int kal_cpu_scratches_find(const struct cpu_program *program)
{
    const struct kal_program *source = program->program;
    if (program->single)
        return 1;
    for (int i = 0; i < source->stage_count; i++) {
        if (are_repeats_own(program, &source->stage[i], program->threads))
            return program->threads;
    }
    return 1;
}

// The part of its work that one thread has of those repeats, and what is left of them,
// which all work together.
static void add_stage(struct cost *cost, const struct cpu_program *program,
                      const struct kal_stage *stage, int parts)
{
    const struct kal_phase *phase = &program->program->phase[stage->first_phase];
    const int64_t each =
        are_repeats_own(program, stage, parts) ? stage->repeats / parts : 0;
    const int64_t rest = stage->repeats - each * parts;
    struct cost shared = { 0.0, 0.0 };
    double own = 0.0;

    for (int j = 0; j < stage->phase_count; j++) {
        own += phase_work(program, &phase[j]);
        if (rest)
            add_phase(&shared, program, &phase[j], rest, parts);
    }
    cost->work +=
        (own * (double)each + shared.work * (double)rest) / (double)stage->repeats;
    cost->waits += (each > 0) + shared.waits;
}

static struct cost cost_of_phases(const struct cpu_program *program, int parts)
{
    const struct kal_program *source = program->program;
    struct cost cost = { 0.0, 0.0 };

    for (int i = 0; i < source->stage_count; i++)
        add_stage(&cost, program, &source->stage[i], parts);
    return cost;
}

// Registers full of lines.
static int64_t units_of_batch(const struct cpu_batch *batch)
{
    int64_t units = 0;
    for (int i = 0; i < batch->part_count; i++)
        units +=
            (batch->part[i].lines + batch->part[i].at_once - 1) / batch->part[i].at_once;
    return units;
}

static int64_t units_of_apart(const struct cpu_apart *apart)
{
    int64_t units = 0;
    for (int i = 0; i < apart->part_count; i++)
        units += apart->part[i].groups;
    return units;
}

int kal_cpu_single_units(const struct cpu_program *program)
{
    int64_t units = program->lines;
    if (program->single == CPU_SINGLE_SHORT)
        units = units_of_batch(&program->batch);
    else if (program->single == CPU_SINGLE_APART)
        units = units_of_apart(&program->apart);
    else if (program->single == CPU_SINGLE_COPIED)
        units = kal_cpu_copies_meet(program) ? program->program->problem->batch
                                             : program->copied.groups;
    else if (program->single == CPU_SINGLE_ARRAY && !program->array.is_small)
        return INT_MAX;
    return (int)kal_min(units, INT_MAX);
}

// What it takes threads that meet to fetch the copies from each other, and what comes of them.
static double exchanged_copies(const struct cpu_program *program, int parts)
{
    const struct cpu_copied *copied = &program->copied;
    const int64_t bytes = program->program->problem->batch *
                          (copied->in.line_bytes + copied->out.line_bytes);
    return (double)bytes * program->distance / sqrt(2.0 * parts);
}

// A line that threads work together has its columns, for which they wait, and its rows.
// So have arrays their axes.
static struct cost cost_of_single(const struct cpu_program *program, double work,
                                  int parts)
{
    const int64_t lines = program->lines;
    const struct cpu_array *array = &program->array;

    const bool is_line =
        program->single == CPU_SINGLE_LINE && kal_cpu_line_is_shared(program->pass->line);

    if (is_line ||
        (program->single == CPU_SINGLE_ARRAY && !array->is_small && lines < parts)) {
        const double phases = is_line ? phases_of_line(program->pass->line, parts)
                                      : (double)(lines * array->axis_count);
        const double exchanges = is_line ? phases - 1.0 : 1.0;
        return (struct cost){
            .work = work / parts +
                    exchanges * exchange_work(program, &program->pass[1], parts),
            .waits = phases,
        };
    }
    const double largest = work * largest_of(kal_cpu_single_units(program), parts);
    if (!kal_cpu_copies_meet(program))
        return (struct cost){ largest, 1.0 };
    return (struct cost){ largest + exchanged_copies(program, parts), 3.0 };
}

// How long `threads` take to begin and end, in the bytes of pass_work(): sixteen of a
// Xeon, which spin, begin and end a region in 5 us, two of a Zen 4 processor in 0.8 us.
// Some meet and find what others have done in the time of MEETING.
enum { MEETING = 20 << 10 };

static double begin_of(int threads)
{
    enum { ANY = 20 << 10, EACH = 4 << 10 };
    return ANY + EACH * (double)threads;
}

// How often as long it takes threads to begin and end where cores are found to be far
// from each other: on that Zen 4 processor 3 us.
static double farther(const struct cpu_program *program)
{
    static const double NEAR = 0.7;
    const struct cpu_device *device = kal_cpu_device_of(program);
    return device->is_zen ? fmax(1.0, program->distance / NEAR) : 1.0;
}

// Is it worked pass by pass, rather than by programs of its parts?
static bool has_passes(const struct cpu_program *program)
{
    return program->single != CPU_SINGLE_COPIED &&
           program->single != CPU_SINGLE_CONVOLVED;
}

// The most that pay for lines on their own lanes: one for each, or some for one that they
// work together.
static int most_threads(const struct cpu_program *program)
{
    enum { OF_ONE_LINE = 16 };
    const int most = program->most_threads;
    if (!has_passes(program) || program->program->phase_count > 1)
        return most;
    const struct kal_phase *phase = &program->program->phase[0];
    const struct cpu_pass *pass = &program->pass[phase->first_pass];
    const struct cpu_chunk chunk = kal_cpu_chunk_make(phase, 0, 0);
    if (!pass->line)
        return most;
    return (int)kal_min(
        most, kal_max(phase->chunks * kal_cpu_unit_count(pass, &chunk), OF_ONE_LINE));
}

// What copying a side of a line waits for memory, of which neighbours are copied with it.
static double copy_work(const struct cpu_copied_side *side,
                        const struct cpu_user_side *user, int64_t real_bytes)
{
    const int64_t unit = side->is_planar ? 1 : side->reals;
    const double spread =
        spread_of(unit, user->stride, user->line / real_bytes, real_bytes);
    return spread > 1.0 && !side->copy_columns
               ? (double)(side->count * side->reals * real_bytes) * spread / 2.0
               : 0.0;
}

// Lines that are copied: there, two steps at least, and back.
static double copied_work(const struct cpu_program *program)
{
    enum { TIMES = 2 };
    const struct cpu_copied *copied = &program->copied;
    const int64_t lines = program->program->problem->batch,
                  real_bytes = program->real_bytes;
    const int64_t times = (lines + copied->at_once - 1) / copied->at_once;
    return (double)times * (double)kal_cpu_copied_line_bytes(program) * TIMES +
           (double)lines * (copy_work(&copied->in, &program->in, real_bytes) +
                            copy_work(&copied->out, &program->out, real_bytes));
}

// Lines that are convolved: two transforms, of two steps at least each, and what is between.
static double convolved_work(const struct cpu_program *program)
{
    enum { TIMES = 8 };
    const struct cpu_convolved *c = &program->convolved;
    return (double)(program->lines * c->points * 2 * program->real_bytes) * TIMES;
}

static double work_of(const struct cpu_program *program)
{
    return program->single == CPU_SINGLE_COPIED      ? copied_work(program)
           : program->single == CPU_SINGLE_CONVOLVED ? convolved_work(program)
                                                     : all_work(program);
}

int kal_cpu_threads_find(struct cpu_program *program)
{
    enum { STEPS = 8 }; // numbers of threads that are tried between one and its double
    enum { SHORT = 8 }; // times that threads begin and end
    // Of the time of one thread what others have to save: more if they wait more often,
    // which is less sure.
    static const double WORTH = 0.95, WORTH_WAITING = 0.75;
    const int most = most_threads(program);
    const double work = work_of(program);
    double once = begin_of(program->base.device->caps.threads);
    double least = work;
    int best = 1;

    if (work < once || most == 1)
        return 1;
    if (has_passes(program) || kal_cpu_copies_meet(program))
        program->distance = find_distance(program, work < SHORT * once);
    once *= farther(program);
    for (int parts = 2; parts <= most; parts += kal_max(1, parts / STEPS)) {
        const struct cost cost = program->single ? cost_of_single(program, work, parts)
                                                 : cost_of_phases(program, parts);
        const double all = cost.work + once + (cost.waits - 1.0) * MEETING;
        if (all < least && all < (cost.waits > 1.0 ? WORTH_WAITING : WORTH) * work) {
            least = all;
            best = parts;
        }
    }
    return best;
}

// Of a thread's part of so much work: few are not worth the looking at what others have.
static int64_t pieces_of(const struct cpu_program *program, double work)
{
    enum { PIECE = 64 << 10, LEAST = 4, MOST = 32 };
    const double pieces = work / (double)program->threads / PIECE;
    return pieces < LEAST ? 1 : (int64_t)fmin(pieces, MOST);
}

// Chunks that each thread works by itself; of lines by themselves twins stay together.
static void find_pieces_of_chunks(struct cpu_program *program,
                                  const struct kal_phase *phase, double repeats)
{
    struct cpu_pass *pass = &program->pass[phase->first_pass];
    const int64_t width = pass->line ? pass->line->width : 1;

    pass->pieces = pieces_of(program, phase_work(program, phase) / repeats);
    pass->together = kal_max(1, width / phase->chunk);
}

// Lines, or tiles, of which those stay together whose output is joined.
static void find_pieces_of_pass(struct cpu_program *program,
                                const struct kal_phase *phase, struct cpu_pass *pass,
                                double deals)
{
    const struct cpu_chunk chunk = kal_cpu_chunk_make(phase, 0, 0);
    const int64_t units = kal_cpu_unit_count(pass, &chunk);
    const double work = pass_work(pass) + (pass->line ? pass_work(pass + 1) : 0.0);

    if (shares_lines(pass, units, program->threads))
        deals *= 2.0 * (double)units; // columns and rows of each
    pass->pieces = pieces_of(program, work / deals);
    pass->together = pass->line ? pass->line->width : kal_max(1, pass->joined);
}

// Of every pass, as fewer threads may be granted than are asked for, and these may work
// together where more would not.
static void find_pieces(struct cpu_program *program, const struct kal_stage *stage,
                        const struct kal_phase *phase)
{
    struct cpu_pass *pass = &program->pass[phase->first_pass];
    const double repeats = (double)stage->repeats;

    for (int i = 0; i < phase->pass_count; i += kal_cpu_passes_of(&pass[i]))
        find_pieces_of_pass(program, phase, &pass[i], repeats * (double)phase->chunks);
    if (!kal_cpu_are_shared(program, phase, program->threads))
        find_pieces_of_chunks(program, phase, repeats);
}

// Lines, groups of them where they are copied, or, of those that lie in several parts,
// each of which has its own, a share of each.
static void find_pieces_of_single(struct cpu_program *program)
{
    const double deals = kal_cpu_copies_meet(program) ? 3.0 : 1.0;

    program->pieces = pieces_of(program, work_of(program) / deals);
    program->things = program->lines;
    if (program->single == CPU_SINGLE_COPIED)
        program->things = program->copied.groups;
    else if (program->single == CPU_SINGLE_SHORT || program->single == CPU_SINGLE_APART)
        program->things = program->threads * program->pieces;
}

void kal_cpu_pieces_find(struct cpu_program *program)
{
    const struct kal_program *source = program->program;

    if (program->single) {
        find_pieces_of_single(program);
        return;
    }
    for (int i = 0; i < source->stage_count; i++) {
        const struct kal_stage *stage = &source->stage[i];
        for (int j = 0; j < stage->phase_count; j++)
            find_pieces(program, stage, &source->phase[stage->first_phase + j]);
    }
}

void kal_cpu_lines_spread(struct cpu_program *program, const struct kal_phase *phase)
{
    for (int i = 0; i < phase->pass_count && phase->chunks == 1; i++) {
        struct cpu_pass *pass = &program->pass[phase->first_pass + i];
        struct cpu_rows *rows = &pass->chunk_rows;
        if (rows->count * rows->tiles >= program->threads || !may_be_spread(pass))
            continue;
        const int64_t tiles = (program->threads + rows->count - 1) / rows->count;
        pass->tile = (int)((rows->length + tiles - 1) / tiles);
        *rows = kal_cpu_rows_find(pass, phase->chunk, phase->lanes_are_lines);
    }
}
