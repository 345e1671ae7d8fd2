// SPDX-License-Identifier: MIT
#include "device/cpu/beside.h"

#include <string.h>

#include "device/cpu/line.h"
#include "device/cpu/places.h"
#include "device/cpu/short.h"
#include "math/number.h"

enum { PAIR = 2 }; // reals of a number

// The same part of the numbers of both sides leads, and the next line is the next number.
static bool are_beside(const struct cpu_pass *pass)
{
    const struct kal_pass *p = pass->pass;
    const struct cpu_place step = kal_cpu_step_find(pass, pass->fast_loop);

    return p->in.imag == 1 && p->out.imag == 1 && p->in.is_swapped == p->out.is_swapped &&
           kal_cpu_side_is_plain(&p->in, p->n) && kal_cpu_side_is_plain(&p->out, p->n) &&
           step.in == PAIR && step.out == PAIR;
}

// A line of the caches has numbers of several groups of lines, and a codelet takes one
// group. Do `count` such lines, of a codelet's input, fall on so few sets of the nearest
// cache that they push each other out before the next group is worked?
static bool are_crowded(int64_t count, int64_t bytes_between)
{
    enum { PERIOD = 4096, WAYS = 8 };
    return count * kal_gcd(bytes_between, PERIOD) > (int64_t)WAYS * PERIOD;
}

// As many as fill a part of the nearest cache.
static int64_t lines_at_once(const struct cpu_pass *pass, int64_t pair_bytes)
{
    enum { BYTES = 16 << 10 };
    const int64_t lanes = pass->kernels->lanes;
    return kal_max(1, BYTES / (pass->pass->n * lanes * pair_bytes)) * lanes;
}

// In registers of 32 bytes, if there are no wider ones: scratch between axes is
// interleaved for them, so that a pass is worked in the same way whether it takes that or
// the caller's arrays. Of those of 64 bytes there are enough for parts of numbers.
void kal_cpu_beside_find(struct cpu_beside_lines *out, const struct cpu_pass *pass,
                         bool is_f64)
{
    const struct cpu_group_kernels *groups = pass->kernels->groups;
    const int64_t pair_bytes = is_f64 ? 16 : 8;
    const int64_t points = kal_cpu_codelet_find(pass->pass);

    *out = (struct cpu_beside_lines){ 0 };
    if (!points || !groups || pass->kernels != pass->widest ||
        pass->kernels->lanes * pair_bytes != CPU_LINE_BYTES || !are_beside(pass))
        return;
    out->run = groups->beside[points];
    out->at_once = lines_at_once(pass, pair_bytes);
    out->are_gathered = are_crowded(points, pass->pass->in.stride * pair_bytes / PAIR);
}

// Where numbers of a side begin, whichever part leads.
static char *find_first(const void *re, const void *im)
{
    return (char *)(im < re ? im : re);
}

// A tile of so many lines, parts in the order of those that begin there.
static struct cpu_vectors tile_vectors(char *tile, const void *re, const void *im,
                                       int64_t lines)
{
    const char *first = find_first(re, im);
    return (struct cpu_vectors){ tile + ((const char *)re - first),
                                 tile + ((const char *)im - first), PAIR * lines, 0 };
}

static void gather(const struct cpu_worker *worker, const struct cpu_pass *pass,
                   struct cpu_vectors *x, int64_t lines)
{
    char *tile = worker->tile[1];
    pass->kernels->copy_pieces(tile, PAIR * lines, find_first(x->re, x->im), x->stride,
                               PAIR * lines, pass->pass->n, pass->is_far);
    *x = tile_vectors(tile, x->re, x->im, lines);
}

static void scale(const struct cpu_worker *worker, const struct cpu_pass *pass,
                  const struct cpu_vectors *y, int64_t lines)
{
    char *row = find_first(y->re, y->im);
    for (int64_t e = 0; e < pass->pass->n; e++, row += y->stride * worker->real_bytes)
        pass->widest->rows->scale(row, pass->scale, PAIR * lines);
}

void kal_cpu_beside_run(const struct cpu_worker *worker, const struct cpu_pass *pass,
                        const struct cpu_vectors *x, const struct cpu_vectors *y,
                        int64_t lines)
{
    const struct cpu_beside_lines *beside = &pass->beside;
    struct cpu_vectors from = *x, to = *y;

    if (!beside->are_gathered && pass->scale == 1.0) {
        beside->run(x, y, 1, 1, lines, NULL);
        return;
    }
    for (int64_t count; lines > 0; lines -= count) {
        struct cpu_vectors input = from;
        count = kal_min(lines, beside->at_once);
        if (beside->are_gathered)
            gather(worker, pass, &input, count);
        beside->run(&input, &to, 1, 1, count, NULL);
        if (pass->scale != 1.0)
            scale(worker, pass, &to, count);
        kal_cpu_advance(&from, count * PAIR * worker->real_bytes);
        kal_cpu_advance(&to, count * PAIR * worker->real_bytes);
    }
}

// Whose size is a constant where it is called, so that memcpy() is a move.
CPU_INLINE void move_each(char *to, int64_t to_step, const char *from, int64_t from_step,
                          int64_t n, size_t bytes)
{
    for (int64_t e = 0; e < n; e++)
        memcpy(to + e * to_step, from + e * from_step, bytes);
}

void kal_cpu_move(char *to, int64_t to_step, const char *from, int64_t from_step,
                  int64_t n, int64_t bytes)
{
    if (bytes == 4)
        move_each(to, to_step, from, from_step, n, 4);
    else if (bytes == 8)
        move_each(to, to_step, from, from_step, n, 8);
    else
        move_each(to, to_step, from, from_step, n, 16);
}

// The lines of one side to a tile of all lanes, or back.
static void move_few(const struct cpu_memory *side, char *tile, int lanes, int64_t n,
                     int64_t real_bytes, bool is_input)
{
    const int64_t step = side->stride * real_bytes, row = PAIR * lanes * real_bytes;
    for (int i = 0; i < side->lanes; i++) {
        char *line = find_first(side->re, side->im) + side->lane_offset[i] * real_bytes;
        char *lane = tile + i * PAIR * real_bytes;
        if (is_input)
            kal_cpu_move(lane, row, line, step, n, PAIR * real_bytes);
        else
            kal_cpu_move(line, step, lane, row, n, PAIR * real_bytes);
    }
}

void kal_cpu_beside_run_few(const struct cpu_worker *worker, const struct cpu_pass *pass,
                            const struct cpu_memory *x, const struct cpu_memory *y)
{
    const int64_t n = pass->pass->n, real_bytes = worker->real_bytes;
    const int lanes = pass->kernels->lanes;
    char *const in = worker->tile[1], *const out = worker->tile[0];
    const struct cpu_vectors from = tile_vectors(in, x->re, x->im, lanes);
    const struct cpu_vectors to = tile_vectors(out, y->re, y->im, lanes);

    memset(in, 0, (size_t)(n * lanes * PAIR * real_bytes));
    move_few(x, in, lanes, n, real_bytes, true);
    pass->beside.run(&from, &to, 1, 1, lanes, NULL);
    if (pass->scale != 1.0)
        scale(worker, pass, &to, lanes);
    move_few(y, out, lanes, n, real_bytes, false);
}
