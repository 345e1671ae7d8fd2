// SPDX-License-Identifier: MIT
#include "device/cpu/apart.h"

#include "device/cpu/line.h"
#include "device/cpu/short.h"
#include "device/cpu/tile.h"
#include "math/number.h"

// Both sides of a real transform as if their elements were one behind the other.
static void make_contiguous(struct kal_side *side)
{
    if (side->is_real) {
        side->stride = 1;
    } else {
        side->stride = 2;
        side->imag = 1;
    }
}

// The side of the reals: their stride if they are evenly apart, else 0.
static int64_t find_real_stride(const struct kal_side *side)
{
    if (side->is_real)
        return side->stride;
    return side->stride == 2 * side->imag ? side->imag : 0;
}

// The length of a pass that is a real transform wherever its elements are, in one
// codelet; 0: it is none.
static int64_t find_real_length(const struct kal_pass *p, bool *is_forward)
{
    struct kal_pass contiguous = *p;
    make_contiguous(&contiguous.in);
    make_contiguous(&contiguous.out);
    const int64_t n = kal_cpu_real_length(&contiguous, is_forward);
    return n && n <= CPU_MAX_REAL && find_real_stride(*is_forward ? &p->in : &p->out) > 0
               ? n
               : 0;
}

static void set_real_codelet(struct cpu_apart_lines *how,
                             const struct cpu_apart_kernels *k, int64_t n,
                             bool is_forward)
{
    const int reals = (int)n, numbers = (int)n / 2 + 1;
    how->in = is_forward ? reals : numbers;
    how->out = is_forward ? numbers : reals;
    how->dft = (is_forward ? k->r2c : k->c2r)[n];
}

static void set_codelet(struct cpu_apart_lines *how, const struct cpu_kernels *k, int n)
{
    how->in = how->out = n;
    how->dft = k->dft[n];
}

// Whole lines of complex numbers, in one codelet.
static bool is_complex(const struct kal_pass *p)
{
    return p->n <= CPU_MAX_RADIX && p->step_count == 1 && kal_cpu_steps_are_plain(p) &&
           kal_cpu_side_is_plain(&p->in, p->n) && kal_cpu_side_is_plain(&p->out, p->n) &&
           !p->out.twiddle_n;
}

// Up to how many lines in planes of so many complex points are collected faster than
// turned in registers: of elements that lie apart, and of neighbours, which are turned by
// quads. Measured on a Xeon, by timing 324 problems of up to 30000 lines both ways, and
// 128 of neighbours: 4 to 12 of these take 0.25 to 1.0 of the time, longer ones 0.4 to
// 1.0 up to so many lines.
static const struct {
    int longest;
    int64_t apart, f32, f64;
} collected[] = {
    { 12, INT64_MAX, INT64_MAX, INT64_MAX },
    { 15, 24, INT64_MAX, 24 },
    { 20, 8, INT64_MAX, 24 },
    { 24, 0, INT64_MAX, 8 },
    { 32, 0, 40, 8 },
};

// Planes that are faster turned in registers than collected. Those of reals are not: 8 to
// 32 take 0.2 to 1.05 of the time.
static bool are_turned_planes(const struct cpu_program *program, const struct kal_pass *p,
                              int64_t real_length, int64_t lines)
{
    enum { LONG = 20, LANES = 4 }; // lines that are left over are dear
    const bool is_planar =
        (!p->in.is_real && p->in.imag == 0) || (!p->out.is_real && p->out.imag == 0);
    const bool are_neighbours = p->in.stride == 1 && p->out.stride == 1;
    if (real_length || !is_planar)
        return false;
    for (size_t i = 0; i < KAL_COUNT(collected); i++) {
        const int64_t most = !are_neighbours   ? collected[i].apart
                             : program->is_f64 ? collected[i].f64
                                               : collected[i].f32;
        if (p->n <= collected[i].longest && lines <= most)
            return p->n > LONG && lines % LANES > 1;
    }
    return true;
}

// Lines that are turned in registers, or worked as numbers of several, have kernels of their own.
static bool is_contiguous(const struct kal_pass *p)
{
    bool is_forward;
    return kal_cpu_real_length(p, &is_forward) ||
           (p->in.imag == 1 && p->in.stride == 2 && p->out.imag == 1 &&
            p->out.stride == 2);
}

// One line of reals, one behind the other, that is faster by fused operations than by the
// kernels that packed lines have, which are those of one lane: measured on a Xeon, 7 to
// 14 of these take 0.62 to 0.97 of the time, 15 0.83 to 1.16, 17 to 32 0.67 to 1.05,
// others 0.9 to 1.2.
static bool is_fused_alone(const struct cpu_program *program, int64_t real_length)
{
    enum { LONG = 17 };
    static const bool gains[LONG] = {
        [7] = true, [11] = true, [13] = true, [14] = true, [15] = true
    };
    return real_length && program->program->phase[0].lines == 1 &&
           kal_cpu_widest_kernels(program)->narrow &&
           (real_length >= LONG || gains[real_length]);
}

// Are `groups` of `lanes` lines faster through tiles than one after the other? A line,
// the first tile and each of them take besides their elements as long as so many of
// these, measured on a Zen 4 processor, and on a Xeon where lines alone have fused
// operations: five of 9 to 12 reals take 0.64 to 0.97 of the time alone.
static bool is_worth_tiles(int64_t groups, int lanes, int64_t elements, bool are_fused)
{
    enum { LINE = 3, FIRST = 24, FIRST_OF_FUSED = 44, EACH = 6 };
    return groups * lanes * (elements + LINE) >
           (are_fused ? FIRST_OF_FUSED : FIRST) + groups * (elements + EACH);
}

// The loop of these kernels with the codelet in it; NULL: there is none.
static cpu_apart_run *find_loop(const struct cpu_apart_kernels *k, int64_t n,
                                int64_t real_length, bool is_forward)
{
    const int64_t length = real_length ? real_length : n;
    if (length > CPU_LONGEST_ALONE)
        return NULL;
    return !real_length ? k->c2c_alone[length]
           : is_forward ? k->r2c_alone[length]
                        : k->c2r_alone[length];
}

// Is the next line of a side the next element?
static bool is_beside(const struct cpu_apart_side *side, const struct kal_side *elements)
{
    return side->line == (!side->is_real && elements->imag == 1 ? 2 : 1);
}

// Are lines so short that those that are no neighbours are faster one after the other?
// Registers are filled with them number by number, and these take as many loads and
// stores as all that has to be done. Measured in November 2026, by timing lengths up to
// 16, in planes and with strides of 2 and 16, both ways, on a Zen 4 processor: 1.0 to 2.7
// times as fast; and with fused operations, in 5 to 300 lines, on a Xeon: 9 and 10 reals
// with strides take 0.64 to 0.99 of the time so, planes of 5 and 6 complex floats 0.60 to
// 1.08, of 7 to 10 doubles 0.71 to 1.02.
static bool are_faster_alone(const struct cpu_program *program, int64_t real_length)
{
    // Fused; one behind the other; real; f64.
    static const int longest[2][2][2][2] = {
        {
            { { 6, 7 }, { 8, 16 } },
            { { 4, 6 }, { 8, 16 } },
        },
        {
            { { 6, 7 }, { 10, 16 } },
            { { 6, 10 }, { 8, 16 } },
        },
    };
    const bool are_fused = kal_cpu_widest_kernels(program)->narrow != NULL;
    const struct kal_pass *p = program->pass[0].pass;
    const struct cpu_apart *apart = &program->apart;
    const bool are_rows = apart->in.stride == 1 && apart->out.stride == 1;
    return (real_length ? real_length : p->n) <=
               longest[are_fused][are_rows][real_length > 0][program->is_f64] &&
           !is_beside(&apart->in, &p->in) && !is_beside(&apart->out, &p->out);
}

// As many of the lines as fill registers of these kernels, through tiles.
static void add_tiles(struct cpu_program *program, const struct cpu_kernels *k,
                      int64_t real_length, bool is_forward, int64_t *done)
{
    struct cpu_apart *apart = &program->apart;
    const struct cpu_pass *pass = &program->pass[0];
    const struct cpu_kernels *widest = kal_cpu_widest_kernels(program);
    const struct cpu_apart_kernels *kernels =
        k->lanes == 1 && widest->narrow ? widest->narrow->alone : k->apart;
    const int64_t groups = (apart->lines - *done) / k->lanes;
    const int64_t elements = real_length ? real_length : 2 * pass->pass->n;

    if (groups == 0 || (k->lanes > 1 && !is_worth_tiles(groups, k->lanes, elements,
                                                        widest->narrow != NULL)))
        return;
    struct cpu_apart_part *part = &apart->part[apart->part_count++];
    *part = (struct cpu_apart_part){
        .run = kernels->run,
        .level = k->level,
        .lanes = k->lanes,
        .first = *done,
        .groups = groups,
        .lines = groups * k->lanes,
        .how = { .x = apart->in, .y = apart->out, .scale = pass->pass->scale },
    };
    if (real_length)
        set_real_codelet(&part->how, kernels, real_length, is_forward);
    else
        set_codelet(&part->how, k, (int)pass->pass->n);
    cpu_apart_run *loop = find_loop(kernels, pass->pass->n, real_length, is_forward);
    if (loop)
        part->run = loop;
    *done += part->lines;
}

// One codelet from interleaved numbers to such ones, which is not scaled.
static bool is_of_numbers(const struct kal_pass *p)
{
    return p->in.imag == 1 && p->out.imag == 1 && p->in.is_swapped == p->out.is_swapped &&
           p->scale == 1.0;
}

// A complex line alone is faster by its step: interleaved, if no fused operations take numbers
// that fill a register of 16 bytes, or too long for a loop with the codelet in it.
static bool is_step_alone(const struct cpu_program *program, int64_t real_length)
{
    const struct kal_pass *p = program->pass[0].pass;
    const bool is_slow_number =
        !program->is_f64 || !kal_cpu_widest_kernels(program)->narrow;
    return program->program->phase[0].lines == 1 && !real_length &&
           (is_of_numbers(p) ? is_slow_number : p->n > CPU_LONGEST_ALONE);
}

enum { PAIR = 2, NARROW_BYTES = 16 };

static bool are_columns(const struct cpu_program *program)
{
    return program->apart.in.line == PAIR && program->apart.out.line == PAIR;
}

// Are lines that are no neighbours faster by fused operations on registers of 16 bytes,
// which hold one number or two, than by wider ones, which are put together and taken apart
// by more shuffles than there are loads and stores? Measured on a Xeon in December 2026,
// 502 batches of 2 to 32 points, 2 to 3000 lines, strides of 2, 3 and 16: floats take 0.60
// to 1.35 of the time so, 0.93 as a mean; doubles of two and three points 0.47 to 1.06, of
// four 0.86 to 1.04 up to 30 lines and up to 1.36 from 300 on, of more up to 1.56, 1.15 as
// a mean. AMD's processors were not measured.
static bool are_gathered_narrow(const struct cpu_program *program, int radix,
                                int64_t lines)
{
    enum { LONGEST_F64 = 4, FEW = 100 };
    if (kal_cpu_device_of(program)->is_zen || !kal_cpu_widest_kernels(program)->narrow ||
        are_columns(program))
        return false;
    return !program->is_f64 || radix < LONGEST_F64 ||
           (radix == LONGEST_F64 && lines < FEW);
}

// Numbers of several lines in a register: the widest ones that the lines fill by more than half.
static const struct cpu_kernels *find_strided(const struct cpu_program *program,
                                              int radix, int64_t lines)
{
    const struct cpu_device *device = kal_cpu_device_of(program);
    const bool are_narrow = are_gathered_narrow(program, radix, lines);
    const struct cpu_kernels *found = NULL;

    for (int i = 0; i < device->level_count; i++) {
        const struct cpu_kernels *k = device->kernels[program->is_f64][i];
        if (k->strided && k->strided[radix] &&
            (!found || (!are_narrow && lines > k->lanes / 4)))
            found = k;
    }
    return found;
}

// By fused operations if there are any.
static cpu_apart_run *find_gathering(const struct cpu_program *program,
                                     const struct cpu_kernels *k, int radix)
{
    const struct cpu_narrow_kernels *narrow = kal_cpu_widest_kernels(program)->narrow;
    return narrow && k->lanes * program->real_bytes == NARROW_BYTES
               ? narrow->strided[radix]
               : k->strided[radix];
}

// Lines beside each other by registers of neighbours, others by gathering.
static void add_numbers(struct cpu_program *program, const struct cpu_kernels *k)
{
    struct cpu_apart *apart = &program->apart;
    const int radix = program->pass[0].pass->step[0].radix, numbers = k->lanes / PAIR;
    const bool are_beside = k->groups && are_columns(program);
    const int64_t beside = are_beside ? apart->lines / numbers : 0;
    const int64_t done = beside * numbers, left = apart->lines - done;

    if (beside)
        apart->part[apart->part_count++] = (struct cpu_apart_part){
            .beside = k->groups->beside[radix],
            .counts_lines = true,
            .level = k->level,
            .lanes = numbers,
            .groups = beside,
            .lines = done,
            .how = { .x = apart->in, .y = apart->out },
        };
    if (left)
        apart->part[apart->part_count++] = (struct cpu_apart_part){
            .run = find_gathering(program, k, radix),
            .counts_lines = true,
            .level = k->level,
            .lanes = numbers,
            .first = done,
            .groups = (left + numbers - 1) / numbers,
            .lines = left,
            .how = { .x = apart->in, .y = apart->out },
        };
}

static void find_parts(struct cpu_program *program, int64_t real_length, bool is_forward)
{
    const struct cpu_device *device = kal_cpu_device_of(program);
    const struct kal_pass *p = program->pass[0].pass;
    int64_t done = 0;

    if (!real_length && is_of_numbers(p)) {
        const struct cpu_kernels *k =
            find_strided(program, p->step[0].radix, program->apart.lines);
        if (k) {
            add_numbers(program, k);
            return;
        }
    }
    const int widest =
        are_faster_alone(program, real_length) ? 0 : device->level_count - 1;
    for (int i = widest; i >= 0; i--) {
        const struct cpu_kernels *k = device->kernels[program->is_f64][i];
        if (k->apart)
            add_tiles(program, k, real_length, is_forward, &done);
    }
}

// `is_real`: of a real transform's reals, which may lie as complex numbers do. Lines one
// behind the other in so much memory are asked for.
static struct cpu_apart_side find_side(const struct cpu_program *program,
                                       const struct kal_side *side, int64_t line,
                                       bool is_real)
{
    enum { MANY_BYTES = 1 << 20 };
    const int64_t lines = program->program->phase[0].lines,
                  real_bytes = program->real_bytes;
    return (struct cpu_apart_side){
        .line = line,
        .stride = is_real ? find_real_stride(side) : side->stride,
        .is_real = is_real,
        .is_far = line > side->stride && side->stride * real_bytes <= CPU_LINE_BYTES &&
                  lines * line * real_bytes > MANY_BYTES,
    };
}

// Where the lines of each part begin, and how many of what there are.
static void place_parts(struct cpu_program *program)
{
    const int64_t real_bytes = program->real_bytes;
    struct cpu_apart *apart = &program->apart;

    for (int i = 0; i < apart->part_count; i++) {
        struct cpu_apart_part *p = &apart->part[i];
        p->count = p->counts_lines ? p->lines : p->groups;
        p->in = p->first * apart->in.line * real_bytes;
        p->out = p->first * apart->out.line * real_bytes;
    }
}

void kal_cpu_apart_find(struct cpu_program *program)
{
    const struct cpu_pass *pass = &program->pass[0];
    const struct kal_pass *p = pass->pass;
    struct cpu_apart *apart = &program->apart;
    bool is_forward = false;

    *apart = (struct cpu_apart){ 0 };
    if (!kal_cpu_is_one_pass(program))
        return;
    const int64_t n = find_real_length(p, &is_forward);
    const int64_t lines = program->program->phase[0].lines;
    if ((!n && !is_complex(p)) || (is_contiguous(p) && !is_fused_alone(program, n)) ||
        is_step_alone(program, n) || are_turned_planes(program, p, n, lines))
        return;
    const struct cpu_loop *loop = &pass->line_loops.loop[0];
    const bool is_batch = pass->line_loops.count > 0;
    apart->lines = lines;
    const bool is_r2c = n && is_forward, is_c2r = n && !is_forward;
    apart->in = find_side(program, &p->in, is_batch ? loop->in : 0, is_r2c);
    apart->out = find_side(program, &p->out, is_batch ? loop->out : 0, is_c2r);
    find_parts(program, n, is_forward);
    place_parts(program);
}

void kal_cpu_apart_share(const struct cpu_program *program, const struct cpu_vectors *x,
                         const struct cpu_vectors *y, int64_t first, int64_t last,
                         int64_t parts)
{
    const struct cpu_apart *apart = &program->apart;
    const int64_t real_bytes = program->real_bytes;

    for (int i = 0; i < apart->part_count; i++) {
        const struct cpu_apart_part *p = &apart->part[i];
        int64_t begin, end;
        kal_cpu_share_some(p->groups, first, last, parts, &begin, &end);
        if (begin == end)
            continue;
        const int64_t line = begin * p->lanes, bytes = line * real_bytes;
        const int64_t in = p->in + bytes * apart->in.line,
                      out = p->out + bytes * apart->out.line;
        kal_cpu_apart_part_run(p, (char *)x->re + in, (char *)x->im + in,
                               (char *)y->re + out, (char *)y->im + out,
                               p->counts_lines ? kal_min(end * p->lanes, p->lines) - line
                                               : end - begin);
    }
}
