// SPDX-License-Identifier: MIT
// Blocks of long lines, which threads share out: of one step, pointwise or mirrored, or of none.
#include "device/cpu/tile_run.h"

// Elements of a side one behind the other, parts in their order: what row kernels take.
static bool is_row(const struct cpu_run *run, const struct cpu_memory *side, int64_t unit)
{
    const char *re = side->re, *im = side->im;
    return re && im && side->stride == unit && !side->index &&
           (unit == 1 || im == re + run->worker->real_bytes);
}

// A mirrored step along a line, pairs begin .. end-1.
static bool run_mirrored_row(const struct cpu_run *run, int64_t begin, int64_t end)
{
    const struct cpu_pass *pass = run->pass;
    const struct cpu_step *step = &pass->step[0];
    const struct cpu_row_kernels *rows = pass->widest->rows;

    if (pass->kernels->lanes > 1 || !is_row(run, &run->in, run->in_unit) ||
        !is_row(run, &run->out, run->out_unit))
        return false;
    const struct cpu_vectors x = kal_cpu_memory_vectors(run, &run->in);
    const struct cpu_vectors y = kal_cpu_memory_vectors(run, &run->out);
    const struct cpu_row row = {
        .in_re = x.re,
        .in_im = x.im,
        .roots = step->table,
        .out_re = y.re,
        .out_im = y.im,
        .m = step->step->n / 2,
        .scale = pass->scale,
    };
    (step->step->op == KAL_STEP_SPLIT ? rows->split : rows->merge)(&row, begin, end);
    return true;
}

// A block of a long mirrored step: elements k and m - k for k = begin .. end-1.
static void run_mirrored_block(const struct cpu_run *run, int64_t begin, int64_t end)
{
    const struct cpu_worker *worker = run->worker;
    const struct cpu_pass *pass = run->pass;
    const struct cpu_step *step = &pass->step[0];
    const struct cpu_kernels *k = pass->kernels;
    const int64_t m = step->step->n / 2, count = end - begin;
    const bool is_split = step->step->op == KAL_STEP_SPLIT;
    const struct cpu_memory in = run->in, out = run->out;
    struct cpu_memory in_high = in, out_high = out;
    const int64_t skip = begin == 0;
    char *low = worker->tile[0], *high = worker->tile[1];

    in_high.re = (char *)in.re + m * in.stride * worker->real_bytes;
    in_high.im = (char *)in.im + m * in.stride * worker->real_bytes;
    in_high.stride = -in.stride;
    out_high.re = (char *)out.re + m * out.stride * worker->real_bytes;
    out_high.im = (char *)out.im + m * out.stride * worker->real_bytes;
    out_high.stride = -out.stride;

    k->load_any(low, &in, begin, count);
    // Element m of a packed transform is element 0.
    if (is_split && skip)
        k->load_any(high, &in, 0, 1);
    const int64_t first = is_split ? skip : 0;
    k->load_any(high + first * kal_cpu_pair_bytes(worker, pass), &in_high, begin + first,
                count - first);
    if (!is_split && skip) {
        kal_cpu_imaginary_clear(worker, pass, low, 0);
        kal_cpu_imaginary_clear(worker, pass, high, 0);
    }

    const struct cpu_vectors l = kal_cpu_tile_vectors(worker, pass, low, 0, 1);
    const struct cpu_vectors h = kal_cpu_tile_vectors(worker, pass, high, 0, 1);
    const char *w = (const char *)step->table + 2 * begin * worker->real_bytes;
    (is_split ? k->split : k->merge)(&l, &h, &l, &h, w, count);

    if (pass->scale != 1.0) {
        k->scale(low, pass->scale, count);
        k->scale(high, pass->scale, count);
    }
    const int64_t stored = is_split ? 0 : skip; // MERGE: element m is none
    k->store_any(low, &out, begin, count);
    k->store_any(high + stored * kal_cpu_pair_bytes(worker, pass), &out_high,
                 begin + stored, count - stored);
}

// A block of a long pointwise pass: elements begin .. end-1.
static void run_pointwise_block(const struct cpu_run *run, int64_t begin, int64_t end)
{
    const struct cpu_worker *worker = run->worker;
    const struct cpu_pass *pass = run->pass;
    const struct kal_pass *p = pass->pass;
    const struct cpu_step *step = p->step_count ? &pass->step[0] : NULL;
    const bool is_rader = step && step->step->op == KAL_STEP_RADER;
    // Element n - 1 of Rader's, x[0], goes with block 0.
    const int64_t n = kal_min(end, is_rader ? p->n - 1 : p->n) - begin;
    char *tile = worker->tile[0], *spare = worker->tile[1];

    kal_cpu_tile_load(run, tile, spare, begin, n);
    if (step) {
        const char *table = (const char *)step->table + 2 * begin * worker->real_bytes;
        if (is_rader && begin == 0) {
            kal_cpu_tile_load(run, spare, spare + kal_cpu_pair_bytes(worker, pass),
                              p->n - 1, 1);
            pass->kernels->rader(tile, spare, spare, table, n);
            kal_cpu_tile_store(run, spare, spare + kal_cpu_pair_bytes(worker, pass),
                               p->n - 1, 1);
        } else {
            kal_cpu_tile_multiply(run, tile, table, n, true);
        }
    }
    kal_cpu_tile_store(run, tile, spare, begin, n);
}

void kal_cpu_block_run(const struct cpu_run *run, int64_t number)
{
    const struct cpu_pass *pass = run->pass;
    const int64_t begin = number * CPU_BLOCK,
                  end = kal_min(begin + CPU_BLOCK, pass->units);

    if (pass->is_mirrored && run_mirrored_row(run, begin, end))
        return;
    (pass->is_mirrored ? run_mirrored_block : run_pointwise_block)(run, begin, end);
}
