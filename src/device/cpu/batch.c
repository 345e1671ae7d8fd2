// SPDX-License-Identifier: MIT
// Small batches of short lines: which kernels take how many of them.
#include "device/cpu/line.h"
#include "device/cpu/short.h"
#include "device/cpu/worker.h"

#include <math.h>

enum { MAX_KERNELS = 3 * CPU_MAX_LEVELS };

// Kernels that may take some of the lines, `lines` of them at once and what that costs.
struct choice {
    cpu_short *run;
    int lines;
    bool takes_fewer; // the last of them at once, too: it counts lines
    bool is_real;
    double cost, once; // of each time, and of all together besides
    double scale_rest;
};

struct choices {
    int count;
    struct choice of[MAX_KERNELS];
};

static void add(struct choices *choices, struct choice choice)
{
    if (choice.run && choice.cost < INFINITY)
        choices->of[choices->count++] = choice;
}

// What registers full of lines cost, relative to one of 16 bytes that holds one number
// each of its lines, or of reals to a line in scalar code: those that turn complex lines
// in narrow registers are slower than what takes numbers as they are, in f64 in wide
// ones, too, where they are not full. Reals wait for the turning of the first ones.
// Measured on a Zen 4 processor in the caches, by timing 150 kinds, lengths and batches
// with each, 84 of long reals.
static double reals_cost(int bytes, int64_t n, bool is_f64)
{
    enum { SHORT = 8, LONG_F32 = 16 };
    if (n > CPU_MAX_REAL)
        return is_f64 ? (bytes == 32 ? 2.4 : 3.9) : bytes == 32 ? 1.9 : 4.1;
    if (is_f64)
        return bytes == 16 ? 2.1 : bytes == 32 ? 2.6 : 5.4;
    return bytes == 16   ? (n < SHORT ? 2.3 : 2.9)
           : bytes == 32 ? 3.7
                         : (n < LONG_F32 ? 5.2 : 7.6);
}

static double turned_cost(const struct cpu_program *program, const struct kal_pass *p,
                          int bytes)
{
    enum { LONGEST_F64 = 16, QUAD = 4 };
    if (program->is_f64 && bytes == 64 && kal_cpu_turns(program, p))
        return 4.0;
    if (program->is_f64)
        return bytes == 64 && p->n <= LONGEST_F64 && p->n % QUAD == 0 ? 5.0 : INFINITY;
    return bytes == 16 ? INFINITY : bytes == 32 ? 3.0 : 4.2;
}

static double several_cost(int bytes, int64_t n, bool is_f64)
{
    enum { SHORT = 4 };
    return bytes == 16 ? 1.0 : !is_f64 ? 1.7 : n <= SHORT ? 2.0 : 1.3;
}

static struct choice turned_choice(const struct cpu_program *program,
                                   const struct kal_pass *p,
                                   const struct cpu_short_lines *turned, int lanes)
{
    static const double TURNING = 12.0;
    const bool is_f64 = program->is_f64;
    const int bytes = lanes * (is_f64 ? 8 : 4);
    struct choice choice = {
        .run = turned->run,
        .lines = lanes,
        .is_real = turned->is_real,
        .cost = 1.0,
        .scale_rest = 1.0,
    };
    if (lanes == 1)
        return choice;
    if (turned->is_real) {
        choice.cost = reals_cost(bytes, turned->n, is_f64);
        choice.once = TURNING / (double)turned->n;
    } else {
        choice.cost = turned_cost(program, p, bytes);
    }
    return choice;
}

// Long lines of reals are worth it from a few on. Fewer of them than a register holds are
// copied to one.
static void add_turned(struct choices *choices, const struct cpu_program *program,
                       const struct cpu_kernels *k, const struct kal_pass *p,
                       int64_t lines)
{
    enum { FEWEST_LONG = 8 };
    static const double TIMES = 1.6, COPIES = 0.3;
    struct cpu_short_lines turned;

    kal_cpu_short_find_any(&turned, p, k);
    if (kal_cpu_is_long_real(&turned) &&
        (lines < FEWEST_LONG || !kal_caps_has_32_bytes(&program->base.device->caps)))
        return;
    struct choice choice = turned_choice(program, p, &turned, k->lanes);
    add(choices, choice);
    choice.run = turned.rest;
    choice.takes_fewer = true;
    choice.cost = TIMES * choice.cost + COPIES;
    add(choices, choice);
}

static struct choice several_choice(const struct cpu_kernels *k, const struct kal_pass *p,
                                    bool is_f64)
{
    return (struct choice){
        .run = kal_cpu_several_find(p, k),
        .lines = k->lanes / 2,
        .takes_fewer = true,
        .cost = several_cost(k->lanes * (is_f64 ? 8 : 4), p->n, is_f64),
        .scale_rest = p->scale,
    };
}

// The longest codelet is for doubles in the widest registers: 2 and 3 lines of 64 floats
// take 1.2 and 1.35 times as long by it as one after the other on a Zen 3 processor, of
// doubles 0.71 and 0.93. So do those of 44 floats and more, up to 1.4 times, on a Zen 4
// and on a Xeon, where one line after the other has steps of its own.
static bool fills_several(const struct kal_pass *p, int64_t lines, bool is_f64,
                          bool are_widest)
{
    enum { LONG = 44, QUAD = 4 };
    if (p->n == CPU_LONGEST)
        return is_f64 && are_widest;
    return is_f64 || p->step_count == 1 || p->n < LONG || lines >= QUAD;
}

static void find_choices(struct choices *choices, const struct cpu_program *program,
                         const struct kal_pass *p, int64_t lines)
{
    const struct cpu_device *device = kal_cpu_device_of(program);
    const int wanted = kal_pass_get_parameter(p, KAL_PARAMETER_LANES, 0);

    choices->count = 0;
    for (int i = 0; i < device->level_count; i++) {
        const struct cpu_kernels *k = device->kernels[program->is_f64][i];
        if (!wanted || k->lanes == wanted || k->lanes == 1)
            add_turned(choices, program, k, p, lines);
        if (fills_several(p, lines, program->is_f64, i == device->level_count - 1))
            add(choices, several_choice(k, p, program->is_f64));
    }
}

// What takes the first of so many lines where all of them cost least, and the others in
// the same way; -1: there are none.
static double find_first(const struct choices *choices, int64_t lines, int *first)
{
    double best = INFINITY;
    int ignored;

    *first = -1;
    if (lines == 0)
        return 0.0;
    for (int i = 0; i < choices->count; i++) {
        const struct choice *c = &choices->of[i];
        const int64_t times =
            c->takes_fewer ? (lines + c->lines - 1) / c->lines : lines / c->lines;
        const int64_t rest = c->takes_fewer ? 0 : lines % c->lines;
        if (times == 0)
            continue;
        const double cost =
            c->once + (double)times * c->cost + find_first(choices, rest, &ignored);
        if (cost < best) {
            best = cost;
            *first = i;
        }
    }
    return best;
}

bool kal_cpu_rows_are_found(struct cpu_batch *batch, const struct cpu_program *program,
                            const struct kal_pass *p, int64_t lines, int64_t in_step,
                            int64_t out_step)
{
    const int64_t real_bytes = program->real_bytes;
    struct choices choices;

    find_choices(&choices, program, p, lines);
    *batch = (struct cpu_batch){ .in_step = in_step, .out_step = out_step };
    for (int64_t done = 0; done < lines;) {
        int i;
        find_first(&choices, lines - done, &i);
        if (i < 0 || batch->part_count == CPU_MAX_PARTS)
            return false;
        const struct choice *c = &choices.of[i];
        const int64_t taken =
            c->takes_fewer ? lines - done : (lines - done) / c->lines * c->lines;
        batch->part[batch->part_count++] = (struct cpu_part){
            .run = c->run,
            .count = c->takes_fewer ? taken : taken / c->lines,
            .lines = taken,
            .at_once = c->lines,
            .in = done * in_step * real_bytes,
            .out = done * out_step * real_bytes,
            .scale_rest = c->scale_rest,
        };
        batch->is_real = c->is_real;
        done += taken;
    }
    return true;
}

struct cpu_part kal_cpu_part_share(const struct cpu_batch *batch, int number,
                                   int64_t real_bytes, int64_t first, int64_t last,
                                   int64_t parts)
{
    const struct cpu_part *part = &batch->part[number];
    const int64_t at_once = part->at_once;
    struct cpu_part share = *part;
    int64_t begin, end;

    kal_cpu_share_some((part->lines + at_once - 1) / at_once, first, last, parts, &begin,
                       &end);
    begin *= at_once;
    share.lines = kal_max(0, kal_min(end * at_once, part->lines) - begin);
    share.count = part->count == part->lines ? share.lines : share.lines / at_once;
    share.in += begin * batch->in_step * real_bytes;
    share.out += begin * batch->out_step * real_bytes;
    return share;
}

static bool is_batch(const struct cpu_program *program)
{
    const struct kal_phase *phase = &program->program->phase[0];
    return kal_cpu_is_one_pass(program) && program->pass[0].line_loops.count == 1 &&
           phase->lines > 1 && phase->chunk == 1 && !phase->lanes_are_lines;
}

// Fewer lines of floats than a register of 64 bytes turns, whose rows fill such a one, or
// half of it: in turn, by steps of their own, they are faster than what takes several,
// 1.1 to 1.8 times on a Zen 4 processor.
static bool are_faster_in_turn(const struct cpu_program *program)
{
    enum { LANES = 16, QUAD = 4, SHORTEST = 40 };
    const struct kal_pass *p = program->pass[0].pass;
    return kal_caps_has_64_bytes(&program->base.device->caps) && !program->is_f64 &&
           p->step_count == 2 && p->n >= SHORTEST && p->n < CPU_LONGEST &&
           p->n % QUAD == 0 && program->program->phase[0].lines < LANES;
}

bool kal_cpu_batch_find(struct cpu_program *program)
{
    const struct cpu_pass *pass = &program->pass[0];
    const struct cpu_loop *loop = &pass->line_loops.loop[0];
    return is_batch(program) && !are_faster_in_turn(program) &&
           kal_cpu_rows_are_found(&program->batch, program, pass->pass,
                                  program->program->phase[0].lines, loop->in, loop->out);
}
