// SPDX-License-Identifier: MIT
// A tile to and from memory, each side in the best way there is, and what it is
// multiplied by on that way.
#include "device/cpu/tile_run.h"

#include <stdlib.h>
#include <string.h>

// Rows one behind the other, to a copy of them and from there past the caches.
static void stream_rows(const struct cpu_run *run, const char *tile, char *spare,
                        int64_t n)
{
    const struct cpu_memory *to = &run->out;
    const int64_t skip = run->tile.out[0] * run->worker->real_bytes;
    const bool is_swapped = to->re > to->im;
    const struct cpu_memory copy =
        kal_cpu_copy_of_output(run, spare, to->stride, run->staged);
    run->pass->kernels->store_rows(tile, &copy, 0, n);
    run->pass->kernels->stream((char *)(is_swapped ? to->im : to->re) + skip, spare,
                               to->lanes * n * run->out_unit);
}

enum access {
    ACCESS_LINE,
    ACCESS_LANES,
    ACCESS_LANES_APART,
    ACCESS_ROWS,
    ACCESS_MAPPED_ROWS,
    ACCESS_ANY
};

// Elements farther apart are moved one by one. Measured on a Zen 5 processor in November
// 2026: collected in registers, lines take 0.35 to 0.9 of the time with strides of 16 to
// 64 bytes, 0.6 to 1.1 up to this one, 0.9 to 1.3 from 2 KiB on.
enum { FAR_APART = 1024 };

// The best way to move n elements of a tile: of one lane along its line, as vectors, as rows,
// whose elements may lie apart, or one by one. Rows under an index map, of `reach` elements, go
// by way of another tile.
static enum access choose_access(const struct cpu_run *run,
                                 const struct cpu_memory *memory, int64_t unit,
                                 int64_t step, int64_t reach, int64_t n)
{
    const int lanes = run->pass->kernels->lanes;
    const int64_t row = memory->index ? reach : n;
    const int64_t bytes = llabs(memory->stride) * run->worker->real_bytes;

    if (lanes == 1 && memory->stride == unit && !memory->index)
        return ACCESS_LINE;
    if (run->tile.is_affine && step == unit)
        return ACCESS_LANES;
    if (run->tile.is_affine && run->tile.lanes == lanes && lanes > 1 && step != 0 &&
        llabs(step) < llabs(memory->stride) &&
        llabs(step) * run->worker->real_bytes <= FAR_APART)
        return ACCESS_LANES_APART;
    const bool are_apart = memory->stride != unit;
    if (lanes == 1 || row == 0 || row * unit * 2 < lanes ||
        (are_apart && (row * unit < lanes || bytes > FAR_APART)))
        return ACCESS_ANY;
    if (!memory->index)
        return ACCESS_ROWS;
    return reach <= n && n == run->pass->pass->n ? ACCESS_MAPPED_ROWS : ACCESS_ANY;
}

static void zero_fill(const struct cpu_worker *worker, const struct cpu_pass *pass,
                      char *tile, int64_t from, int64_t to)
{
    const int64_t bytes = kal_cpu_pair_bytes(worker, pass);
    if (from < to)
        memset(tile + from * bytes, 0, (size_t)((to - from) * bytes));
}

// How many of n elements from `first` on the chirp reaches.
static int64_t chirped(const struct kal_side *side, int64_t first, int64_t n)
{
    return kal_max(0, kal_min(n, side->chirp_n - first));
}

// A part of one line from element `first` on; NULL: there is none.
static char *line_part(const struct cpu_run *run, const struct cpu_memory *memory,
                       char *part, int64_t first)
{
    const int64_t at = memory->lane_offset[0] + first * memory->stride;
    return part ? part + at * run->worker->real_bytes : NULL;
}

void kal_cpu_tile_multiply(const struct cpu_run *run, char *tile, const void *table,
                           int64_t n, bool exchange)
{
    const struct cpu_pass *pass = run->pass;
    char *const imag = tile + run->worker->real_bytes;

    if (pass->kernels->lanes == 1)
        pass->widest->rows->product(exchange ? imag : tile, exchange ? tile : imag, tile,
                                    imag, table, n);
    else
        pass->kernels->multiply(tile, table, n, exchange);
}

void kal_cpu_tile_load(const struct cpu_run *run, char *tile, char *spare, int64_t first,
                       int64_t n)
{
    const struct cpu_worker *worker = run->worker;
    const struct cpu_pass *pass = run->pass;
    const struct cpu_kernels *k = pass->kernels;
    const struct cpu_memory *memory = &run->in;
    const int64_t present = kal_max(0, kal_min(n, pass->pass->in.count - first));

    switch (
        choose_access(run, memory, run->in_unit, run->step.in, pass->in_reach, present)) {
    case ACCESS_LINE:
        pass->widest->rows->load(tile, line_part(run, memory, memory->re, first),
                                 line_part(run, memory, memory->im, first), present);
        break;
    case ACCESS_LANES: k->load_lanes(tile, memory, first, present); break;
    case ACCESS_LANES_APART: k->load_lanes_apart(tile, memory, first, present); break;
    case ACCESS_ROWS: k->load_rows(tile, memory, first, present); break;
    case ACCESS_MAPPED_ROWS:
        k->load_rows(spare, memory, 0, pass->in_reach);
        k->gather(tile, spare, memory->index, present);
        break;
    case ACCESS_ANY: k->load_any(tile, memory, first, present); break;
    }
    zero_fill(worker, pass, tile, present, n);
    if (pass->chirp_in)
        kal_cpu_tile_multiply(
            run, tile, (const char *)pass->chirp_in + 2 * first * worker->real_bytes,
            chirped(&pass->pass->in, first, present), false);
}

// exp(-2 pi i k / n) from the two tables of `roots`.
static void find_root(const struct cpu_roots *roots, int64_t k, double *re, double *im)
{
    const double *a = roots->coarse + 2 * (k >> roots->shift);
    const double *b = roots->fine + 2 * (k & (((int64_t)1 << roots->shift) - 1));
    *re = a[0] * b[0] - a[1] * b[1];
    *im = a[0] * b[1] + a[1] * b[0];
}

// Roots for any lanes: lane by lane into a tile.
static void fill_roots(const struct cpu_worker *worker, const struct cpu_pass *pass,
                       const struct cpu_tile *t, char *tile, int64_t first, int64_t n)
{
    const struct kal_side *side = &pass->pass->out;
    const int lanes = pass->kernels->lanes;
    const double sign = side->twiddle_is_conjugate ? -1.0 : 1.0;

    for (int64_t e = 0; e < n; e++) {
        const int64_t k = side->index ? side->index[first + e] : first + e;
        for (int lane = 0; lane < lanes; lane++) {
            double re, im;
            find_root(&pass->roots, k * t->twiddle[lane < t->lanes ? lane : 0], &re, &im);
            im *= sign;
            const int64_t at = 2 * e * lanes + lane;
            if (worker->real_bytes == 8) {
                ((double *)tile)[at] = re;
                ((double *)tile)[at + lanes] = im;
            } else {
                ((float *)tile)[at] = (float)re;
                ((float *)tile)[at + lanes] = (float)im;
            }
        }
    }
}

static void twiddle_tile(const struct cpu_run *run, char *tile, char *spare,
                         int64_t first, int64_t n)
{
    const struct cpu_worker *worker = run->worker;
    const struct cpu_pass *pass = run->pass;
    const struct cpu_kernels *k = pass->kernels;
    const int64_t skip = first * kal_cpu_pair_bytes(worker, pass);

    if (pass->twiddle_tiles) {
        k->multiply_tile(tile, kal_cpu_twiddle_row(run) + skip, n);
    } else if (pass->twiddle_lanes) {
        k->twiddle(tile, (const char *)pass->twiddle_lanes + skip,
                   kal_cpu_twiddle_scalars(run) + 2 * first * worker->real_bytes, n);
    } else {
        fill_roots(worker, pass, &run->tile, spare, first, n);
        k->multiply_tile(tile, spare, n);
    }
}

bool kal_cpu_can_stream_lanes(const struct cpu_run *run)
{
    const struct cpu_kernels *k = run->pass->kernels;
    return run->pass->is_streamed && !run->is_joining && k->stream_lanes &&
           run->tile.is_affine && run->step.out == run->out_unit &&
           run->tile.lanes == k->lanes && run->out_unit == 2 && !run->out.index &&
           (uintptr_t)kal_cpu_first_find(run, &run->out) % CPU_LINE_BYTES == 0 &&
           run->out.stride * run->worker->real_bytes % CPU_LINE_BYTES == 0;
}

void kal_cpu_tile_store(const struct cpu_run *run, char *tile, char *spare, int64_t first,
                        int64_t n)
{
    const struct cpu_worker *worker = run->worker;
    const struct cpu_pass *pass = run->pass;
    const struct cpu_kernels *k = pass->kernels;
    const struct cpu_memory *memory = &run->out;
    const int64_t present = kal_max(0, kal_min(n, pass->pass->out.count - first));

    if (pass->chirp_out)
        kal_cpu_tile_multiply(
            run, tile, (const char *)pass->chirp_out + 2 * first * worker->real_bytes,
            chirped(&pass->pass->out, first, present), false);
    if (pass->pass->out.twiddle_n)
        twiddle_tile(run, tile, spare, first, present);
    if (pass->scale != 1.0)
        k->scale(tile, pass->scale, present);
    switch (choose_access(run, memory, run->out_unit, run->step.out,
                          pass->out_permutes ? pass->pass->n : 0, present)) {
    case ACCESS_LINE:
        pass->widest->rows->store(tile, line_part(run, memory, memory->re, first),
                                  line_part(run, memory, memory->im, first), present);
        break;
    case ACCESS_LANES:
        (kal_cpu_can_stream_lanes(run) ? k->stream_lanes
                                       : k->store_lanes)(tile, memory, first, present);
        break;
    case ACCESS_LANES_APART: k->store_lanes_apart(tile, memory, first, present); break;
    case ACCESS_ROWS:
        if (run->is_streamed && run->tile.is_affine && memory->stride == run->out_unit)
            stream_rows(run, tile, spare, present);
        else
            k->store_rows(tile, memory, first, present);
        break;
    case ACCESS_MAPPED_ROWS:
        k->scatter(spare, tile, memory->index, present);
        k->store_rows(spare, memory, 0, present);
        break;
    case ACCESS_ANY: k->store_any(tile, memory, first, present); break;
    }
}
