// SPDX-License-Identifier: MIT
// Tiles one after the other, and what spans several: short lines, lines beside each
// other, joined output, and memory that is asked for ahead.
#include "device/cpu/tile.h"

#include <string.h>

#include "device/cpu/beside.h"
#include "device/cpu/stage.h"
#include "device/cpu/tile_run.h"

// Lines or groups of them, as the pass counts what it works in registers. What takes
// several lines at once does not scale: that is done behind it, while they are near.
static void run_turned(const struct cpu_run *run, struct cpu_vectors x,
                       struct cpu_vectors y, int64_t count, bool is_streamed)
{
    enum { NEAR_BYTES = 16 << 10 };
    const struct cpu_pass *pass = run->pass;
    const double scale = pass->pass->scale;
    const int64_t real_bytes = run->worker->real_bytes, reals = pass->turned.reals;
    const int64_t most = kal_max(1, NEAR_BYTES / (reals * real_bytes));

    if (scale == 1.0 || pass->turned.count == 1) {
        pass->turned.run(&x, &y, count, scale, is_streamed);
        return;
    }
    for (int64_t n; count > 0; count -= n) {
        n = kal_min(most, count);
        pass->turned.run(&x, &y, n, scale, is_streamed);
        for (int64_t i = 0; i < n; i++)
            pass->widest->rows->scale(kal_cpu_leading(&y) + i * y.stride * real_bytes,
                                      scale, reals);
        kal_cpu_vectors_move(&x, n * x.stride * real_bytes);
        kal_cpu_vectors_move(&y, n * y.stride * real_bytes);
    }
}

// Tiles that do not begin on a line of the caches: to a copy, and from there past these by whole
// lines. What is left of the last one is moved to where the next tiles follow it.
static void stage_short(const struct cpu_run *run, struct cpu_vectors x,
                        const struct cpu_vectors *y, int64_t tiles)
{
    const struct cpu_pass *pass = run->pass;
    const int64_t lanes = pass->kernels->lanes, real_bytes = run->worker->real_bytes;
    const int64_t bytes = lanes * pass->turned.reals * real_bytes;
    const int64_t most = kal_max(1, CPU_STAGED_BYTES / bytes);
    char *const to = kal_cpu_first_find(run, &run->out);
    struct cpu_stage stage = { pass->widest, real_bytes,
                               run->worker->tile[0] + CPU_LINE_BYTES, to, 0 };
    struct cpu_vectors copy = *y;

    copy.ahead = 0;
    kal_cpu_vectors_move(&copy, stage.place - to);
    for (int64_t done = 0, count; done < tiles; done += count) {
        count = kal_min(most, tiles - done);
        run_turned(run, x, copy, count * pass->turned.count, false);
        kal_cpu_stage_leave(&stage, count * bytes, done + count == tiles);
        kal_cpu_vectors_move(&x, count * lanes * run->step.in * real_bytes);
    }
}

static struct cpu_vectors line_vectors(const struct cpu_run *run,
                                       const struct cpu_memory *side, int64_t step)
{
    struct cpu_vectors lines = { kal_cpu_first_find(run, side), NULL, step, 0 };

    if (!run->pass->turned.is_real) {
        lines = kal_cpu_memory_vectors(run, side);
        lines.stride = step;
    }
    return lines;
}

// Short lines from the present tile on, `most` tiles at most: returns how many these are.
static int64_t run_short(const struct cpu_run *run, int64_t first, int64_t most)
{
    const struct cpu_pass *pass = run->pass;
    const int64_t lines = kal_min(run->rows.length - first, run->round - run->tile.fast);
    const int64_t tiles = kal_min(lines / pass->kernels->lanes, most);
    struct cpu_vectors x = line_vectors(run, &run->in, run->step.in);
    struct cpu_vectors y = line_vectors(run, &run->out, run->step.out);

    if (tiles <= 0)
        return tiles;
    const bool is_far = pass->is_streamed && run->step.out == run->pass->turned.reals;
    const bool is_aligned =
        (uintptr_t)kal_cpu_first_find(run, &run->out) % CPU_LINE_BYTES == 0;
    y.ahead = is_far && !is_aligned;
    x.ahead = pass->is_far;
    if (is_far && (pass->turned.count > 1 || (!is_aligned && pass->is_staged)))
        stage_short(run, x, &y, tiles);
    else
        run_turned(run, x, y, tiles * pass->turned.count, is_far && is_aligned);
    return tiles;
}

// Reals from one element to the next in the copy of neighbouring tiles.
static int64_t joined_pitch(const struct cpu_run *run)
{
    return kal_cpu_joined_pitch(run->pass->joined) / run->worker->real_bytes;
}

// Lines beside each other past the caches: tiles of them to a copy, and from there by
// whole lines of the caches.
static void stream_beside(const struct cpu_run *run, struct cpu_vectors x, int64_t tiles)
{
    const struct cpu_pass *pass = run->pass;
    const int64_t lanes = pass->kernels->lanes,
                  bytes = kal_cpu_pair_bytes(run->worker, pass);
    const int64_t pitch = joined_pitch(run);
    const struct cpu_memory copy =
        kal_cpu_copy_of_output(run, run->worker->joined, pitch, NULL);
    const struct cpu_vectors y = { copy.re, copy.im, pitch, 0 };
    char *to = kal_cpu_first_find(run, &run->out);

    for (int64_t done = 0, count; done < tiles; done += count) {
        count = kal_min(pass->joined, tiles - done);
        kal_cpu_beside_run(run->worker, pass, &x, &y, count * lanes);
        pass->kernels->stream_pieces(to, run->out.stride, run->worker->joined, pitch,
                                     count * lanes * run->out_unit, pass->pass->n);
        kal_cpu_vectors_move(&x, count * bytes);
        to += count * bytes;
    }
}

// Such lines from the present tile on, `most` tiles at most: returns how many these are.
static int64_t run_beside(const struct cpu_run *run, int64_t first, int64_t most)
{
    const struct cpu_pass *pass = run->pass;
    const int64_t lines = kal_min(run->rows.length - first, run->round - run->tile.fast);
    const int64_t tiles = kal_min(lines / pass->kernels->lanes, most);
    const struct cpu_vectors x = kal_cpu_memory_vectors(run, &run->in);
    const struct cpu_vectors y = kal_cpu_memory_vectors(run, &run->out);

    if (tiles <= 0)
        return tiles;
    if (pass->joined && kal_cpu_can_stream_lanes(run))
        stream_beside(run, x, tiles);
    else
        kal_cpu_beside_run(run->worker, pass, &x, &y, tiles * pass->kernels->lanes);
    return tiles;
}

// Lines from the present tile on that are worked without tiles of parts: returns how many tiles of
// them; 0: none.
static int64_t run_without_tiles(const struct cpu_run *run, int64_t first, int64_t most)
{
    if (run->pass->turned.run)
        return run_short(run, first, most);
    return run->pass->beside.run ? run_beside(run, first, most)
                                 : kal_cpu_codelets_run(run, first, most);
}

// Several lines that do not fill a tile, each as it would be worked among others.
static void run_one_by_one(const struct cpu_run *run)
{
    const int64_t real_bytes = run->worker->real_bytes;

    for (int i = 0; i < run->tile.lanes; i++) {
        struct cpu_vectors x = line_vectors(run, &run->in, 0);
        struct cpu_vectors y = line_vectors(run, &run->out, 0);
        kal_cpu_vectors_move(&x, (run->tile.in[i] - run->tile.in[0]) * real_bytes);
        kal_cpu_vectors_move(&y, (run->tile.out[i] - run->tile.out[0]) * real_bytes);
        run_turned(run, x, y, 1, false);
    }
}

// A tile that lines do not fill, or of lines from two rounds.
static bool run_few(const struct cpu_run *run)
{
    const struct cpu_pass *pass = run->pass;

    if (pass->turned.count > 1)
        run_one_by_one(run);
    else if (pass->beside.run)
        kal_cpu_beside_run_few(run->worker, pass, &run->in, &run->out);
    else
        return false;
    return true;
}

// What is in that copy goes to its place.
static void leave_joined(struct cpu_run *run)
{
    const struct cpu_pass *pass = run->pass;

    if (run->joined > 0)
        pass->kernels->stream_pieces(run->joined_to, run->out.stride, run->worker->joined,
                                     joined_pitch(run),
                                     (int64_t)run->joined * 2 * pass->kernels->lanes,
                                     kal_min(pass->pass->n, pass->pass->out.count));
    run->joined = 0;
}

// A tile to that copy, beside those in it if it is their neighbour.
static void join_tile(struct cpu_run *run)
{
    const struct cpu_memory out = run->out;
    const int64_t bytes = kal_cpu_pair_bytes(run->worker, run->pass);
    char *to = kal_cpu_first_find(run, &out);

    if (run->joined == run->pass->joined || to != run->joined_to + run->joined * bytes)
        leave_joined(run);
    if (run->joined == 0)
        run->joined_to = to;
    run->out = kal_cpu_copy_of_output(run, run->worker->joined + run->joined * bytes,
                                      joined_pitch(run), run->staged);
    run->is_joining = true;
    kal_cpu_tile_run(run);
    run->is_joining = false;
    run->out = out;
    run->joined++;
}

enum { AHEAD_BYTES = 16384 };

// Lines of the caches that hold so many bytes, but for the first one that holds a
// neighbour's last ones, too.
CPU_INLINE void ask_for(const char *from, int64_t bytes, bool is_write)
{
    for (int64_t i = 0; i < bytes; i += CPU_LINE_BYTES) {
        const char *last = from + kal_min(i + CPU_LINE_BYTES, bytes) - 1;
        if (is_write)
            __builtin_prefetch(last, 1, 2);
        else
            __builtin_prefetch(last, 0, 2);
    }
}

// One side of the tile that lies `ahead` reals behind this one, at once.
CPU_INLINE void ask_for_side(const struct cpu_run *run, const struct cpu_memory *memory,
                             int64_t unit, int64_t step, int64_t ahead, bool is_write)
{
    const int64_t real_bytes = run->worker->real_bytes, lanes = run->tile.lanes;
    const bool is_columns = step == unit;
    const int64_t n = run->pass->pass->n;
    const int64_t pieces = is_columns ? n : lanes;
    const int64_t skip = is_columns ? memory->stride : step;
    const int64_t piece = (is_columns ? lanes : n) * unit;
    char *const part[] = { memory->re, unit == 1 ? memory->im : NULL };

    if (memory->index || (!is_columns && memory->stride != unit))
        return;
    for (int k = 0; k < 2 && part[k]; k++) {
        const char *at = part[k] + (memory->lane_offset[0] + ahead) * real_bytes;
        for (int64_t i = 0; i < pieces; i++)
            ask_for(at + i * skip * real_bytes, piece * real_bytes, is_write);
    }
}

// How many tiles behind this one the one is whose memory is asked for; 0: there is none. Lines one
// behind the other go on behind their row, and behind the last one no harm is done.
static int64_t tiles_ahead(const struct cpu_run *run, int64_t first, int64_t tiles)
{
    const struct cpu_pass *pass = run->pass;
    const int64_t bytes = pass->pass->n * kal_cpu_pair_bytes(run->worker, pass);
    const int64_t enough = kal_max(1, AHEAD_BYTES / bytes);
    const int64_t whole = kal_min((run->rows.length - first) / run->rows.tile, tiles);

    if (run->step.in == pass->pass->n * run->in_unit)
        return enough;
    const int64_t ahead = kal_min(enough, kal_max(1, run->rows.tiles / 2));
    return ahead < whole ? ahead : 0;
}

// Columns that do not begin on lines of the caches lie in one more of these, the first of
// which their neighbours have, too: how many reals behind their first one they are asked
// for.
static int64_t reals_of_neighbours(const struct cpu_run *run)
{
    const int64_t real_bytes = run->worker->real_bytes;
    const bool are_aligned =
        (uintptr_t)kal_cpu_first_find(run, &run->in) % CPU_LINE_BYTES == 0 &&
        run->in.stride * real_bytes % CPU_LINE_BYTES == 0;
    return are_aligned ? 0 : CPU_LINE_BYTES / real_bytes - 1;
}

// Which memory is asked for while this tile is worked: that of one to come, among the
// `tiles` that are this thread's. `first` is the line of its row that the present one
// begins with. The processor's own prefetchers follow neither rows in turn nor long
// strides. Input that is interleaved, or contiguous, is asked for on the way to the tile,
// which hides most of it. Output is asked for where it would go past the caches but for
// its place: 1000 columns of 125 doubles take 1.1 to 1.3 times as long if theirs is.
static void look_ahead(struct cpu_run *run, int64_t first, int64_t tiles)
{
    const struct cpu_pass *pass = run->pass;
    const struct kal_pass *p = pass->pass;
    const int64_t ahead =
        run->tile.is_affine ? tiles_ahead(run, first, tiles) * run->rows.tile : 0;

    run->in.ahead = ahead * run->step.in;
    if (ahead == 0)
        return;
    if (run->in_unit == 1 && run->step.in == 1) {
        if (p->in.buffer != KAL_BUFFER_CHUNK)
            ask_for_side(run, &run->in, 1, 1, run->in.ahead, false);
        run->in.ahead = 0;
    } else if (run->step.in == run->in_unit) {
        run->in.ahead += reals_of_neighbours(run);
    }
    if (pass->is_streamed && p->out.buffer != KAL_BUFFER_CHUNK &&
        run->out.re != run->in.re && !kal_cpu_can_stream_lanes(run))
        ask_for_side(run, &run->out, run->out_unit, run->step.out, ahead * run->step.out,
                     true);
}

// Lines that have a program of their own, from this one on; returns how many.
static int64_t run_rows(const struct cpu_run *run, int64_t first, int64_t most)
{
    const struct kal_device_program *row = run->pass->row;
    const int64_t real_bytes = run->worker->real_bytes;
    const int64_t count =
        kal_min(kal_min(run->rows.length - first, run->round - run->tile.fast), most);
    const struct cpu_vectors in = { run->in.re, run->in.im, 0, 0 },
                             out = { run->out.re, run->out.im, 0, 0 };
    const char *from = kal_cpu_leading(&in) + run->tile.in[0] * real_bytes;
    char *to = kal_cpu_leading(&out) + run->tile.out[0] * real_bytes;

    for (int64_t i = 0; i < count; i++) {
        row->run_pair(row, from, to);
        from += run->step.in * real_bytes;
        to += run->step.out * real_bytes;
    }
    return count;
}

// Lines of a row from this one on, and of those behind as many as are worked with them:
// returns how many of the `most` tiles that are this thread's these are. `block` is that
// of the first one; so many tiles are `left` of the thread's part.
static int64_t run_some(struct cpu_run *run, int64_t row, int64_t first, int64_t most,
                        int64_t left, int64_t block)
{
    const struct cpu_pass *pass = run->pass;

    kal_cpu_lanes_find(run, row, first);
    if (pass->row)
        return run_rows(run, first, most);
    const int64_t tiles = first < run->lead ? 0 : run_without_tiles(run, first, most);
    if (tiles > 0)
        return tiles;
    if (run_few(run))
        return 1;
    if (pass->is_far && pass->blocks == 1)
        look_ahead(run, first, left);
    if (pass->is_blocked)
        kal_cpu_block_run(run, block);
    else if (pass->joined && kal_cpu_can_stream_lanes(run))
        join_tile(run);
    else
        kal_cpu_tile_run(run);
    return 1;
}

// With a lead the first tile of a row has its lines, and the last one is followed by what
// others leave.
static void run_tiles(struct cpu_run *run, int64_t begin, int64_t end)
{
    const struct cpu_rows *rows = &run->rows;
    const int64_t blocks = run->pass->blocks;
    const int64_t back = run->lead ? rows->tile - run->lead : 0;

    for (int64_t i = begin, tiles; i < end; i += tiles) {
        const int64_t number = blocks == 1 ? i : i / blocks;
        const int64_t row = rows->count == 1 ? 0 : number / rows->tiles;
        const int64_t tile = number - row * rows->tiles;
        const int64_t first = kal_max(0, tile * rows->tile - back);
        tiles = run_some(run, row, first, end - i, run->part_end - i, i % blocks);
        const int64_t rest = (tile + tiles) * rows->tile - back;
        if (back && tile + tiles == rows->tiles && rest < rows->length)
            run_some(run, row, rest, 1, 1, 0);
    }
    leave_joined(run);
}

// The lead of a call's rows, of which this thread has so many tiles: each has several.
static int64_t find_lead(struct cpu_run *run, int64_t tiles)
{
    enum { FEWEST = 4 };
    const struct cpu_worker *worker = run->worker;
    const int64_t all = run->rows.count * run->rows.tiles;

    if (!run->pass->has_lead || worker->base[KAL_BUFFER_OUT] != worker->output ||
        (tiles < all && all < FEWEST * worker->parts))
        return 0;
    kal_cpu_lanes_find(run, 0, 0);
    return kal_cpu_lead_find(run->pass, &run->rows, kal_cpu_first_find(run, &run->out),
                             worker->real_bytes);
}

void kal_cpu_tiles_run(struct cpu_worker *worker, const struct cpu_pass *pass,
                       const struct cpu_chunk *chunk, int64_t begin, int64_t end)
{
    struct cpu_run run;
    kal_cpu_run_init(&run, worker, pass, chunk);
    run.lead = find_lead(&run, end - begin);
    run.part_end = end;
    run_tiles(&run, begin, end);
}

void kal_cpu_tiles_share(struct cpu_worker *worker, const struct cpu_pass *pass,
                         const struct cpu_chunk *chunk, int64_t begin, int64_t end,
                         int64_t part_end)
{
    struct cpu_run run;
    kal_cpu_run_init(&run, worker, pass, chunk);
    run.lead = find_lead(&run, end - begin);
    run.part_end = part_end;
    const bool ends_inside = pass->ends_inside && end == part_end;
    const int64_t middle = ends_inside ? begin + (end - begin) / 2 : end;

    run_tiles(&run, begin, middle);
    for (int64_t i = end - 1; i >= middle; i--)
        run_tiles(&run, i, i + 1);
}
