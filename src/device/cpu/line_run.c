// SPDX-License-Identifier: MIT
// Running lines that fill the lanes by themselves: one thread's, and one that several
// threads work together.
#include "device/cpu/deal.h"
#include "device/cpu/line.h"
#include "device/cpu/places.h"
#include "device/cpu/stage.h"

#include <string.h>

// Columns of tile `number`: from memory, to and fro so that the last step ends in its place.
// Places are set field by field: what is copied as a whole waits until its stores have settled.
static void run_columns(const struct cpu_line *line, char *const tile[2],
                        const struct cpu_vectors *from, int64_t number)
{
    const struct kal_pass *p = line->columns->pass;
    const int64_t skip = number * line->m * 2 * line->plane_bytes;
    const void *tile_roots = (const char *)line->roots + skip;
    struct cpu_vectors place[2];

    for (int i = 0; i < p->step_count; i++) {
        const int side = (p->step_count - 1 - i) % 2;
        struct cpu_vectors *to = &place[side];
        to->re = side ? tile[1] : tile[0] + skip;
        to->im = (char *)to->re + line->plane_bytes;
        to->stride = 2 * line->kernels->lanes;
        line->step[i](from, to, p->step[i].m, p->step[i].s,
                      line->has_roots ? tile_roots : line->columns->step[i].table);
        from = to;
    }
}

// Those of tiles begin .. end-1.
static void run_tiles(const struct cpu_line *line, char *const tile[2],
                      const struct cpu_vectors *x, int64_t begin, int64_t end)
{
    const int64_t next =
        line->in == CPU_PLANAR ? line->plane_bytes : 2 * line->plane_bytes;

    for (int64_t i = begin; i < end; i++) {
        const struct cpu_vectors from = { (char *)x->re + i * next,
                                          (char *)x->im + i * next, x->stride, 0 };
        run_columns(line, tile, &from, i);
    }
}

static struct cpu_vectors tile_at(const struct cpu_line *line, char *at)
{
    return (struct cpu_vectors){ at, at + line->plane_bytes, 2 * line->kernels->lanes,
                                 0 };
}

// The steps behind the first, of what that left of one of its outputs: from its place to
// spare ones, and at last back.
static void run_folded_row(const struct cpu_line *line, const struct cpu_vectors *place,
                           char *spare)
{
    const struct kal_pass *p = line->columns->pass;
    const int64_t bytes = p->step[0].m * 2 * line->plane_bytes;
    struct cpu_vectors from = *place, to;

    for (int i = 1; i < p->step_count; i++) {
        to = i + 1 == p->step_count ? *place : tile_at(line, spare + (i - 1) * bytes);
        line->step[i](&from, &to, p->step[i].m, p->step[i].s / p->step[0].radix,
                      line->columns->step[i].table);
        from = to;
    }
}

// Those of all outputs of a tile.
static void run_folded_rows(const struct cpu_line *line, char *tile, char *spare)
{
    const struct kal_pass *p = line->columns->pass;
    const struct cpu_kernels *k = line->kernels;
    const int64_t element = 2 * line->plane_bytes, width = p->step[0].radix / k->lanes;
    struct cpu_vectors place = tile_at(line, tile);

    if (p->step_count == 2) {
        k->dft_rows[p->step[1].radix](&place, &place, width, k->lanes, NULL);
        return;
    }
    place.stride *= width;
    for (int64_t i = 0; i < p->step[0].radix; i++) {
        run_folded_row(line, &place, spare);
        kal_cpu_advance(&place, (i + 1) % width
                                    ? element
                                    : (p->step[0].m * width - width + 1) * element);
    }
}

// All columns, to folded tiles from `place` on.
static void run_folded(const struct cpu_line *line, char *place, char *spare,
                       const struct cpu_vectors *x)
{
    const struct kal_step *first = &line->columns->pass->step[0];
    struct cpu_vectors from = *x;

    for (int64_t i = 0; i < line->tiles; i++) {
        const struct cpu_vectors to = tile_at(line, place);
        line->kernels->fused->folded[first->radix](&from, &to, first->m, 1,
                                                   line->columns->step[0].table);
        run_folded_rows(line, place, spare);
        place += line->m * 2 * line->plane_bytes;
        kal_cpu_advance(&from, 2 * line->plane_bytes);
    }
}

// Can folded tiles be where the output will be? Registers do not begin between lines of
// the caches there, and the input is elsewhere, or the first step leaves each codelet's
// output where its input was.
static bool can_hold_tiles(const struct cpu_line *line, const struct cpu_vectors *x,
                           const struct cpu_vectors *y)
{
    const char *from = kal_cpu_leading(x), *to = kal_cpu_leading(y);
    const bool is_apart = from + line->line_bytes <= to || to + line->line_bytes <= from;
    const bool keeps_places =
        line->tiles == 1 && line->columns->pass->step[0].radix == line->kernels->lanes;
    return (uintptr_t)to % (uintptr_t)line->plane_bytes == 0 &&
           (is_apart || (from == to && keeps_places));
}

char *kal_cpu_line_columns_run(const struct cpu_line *line, bool are_folded,
                               char *const tile[2], const struct cpu_vectors *x,
                               const struct cpu_vectors *y)
{
    if (!are_folded) {
        run_columns(line, tile, x, 0);
        run_tiles(line, tile, x, 1, line->tiles);
        return tile[0];
    }
    char *place = can_hold_tiles(line, x, y) ? kal_cpu_leading(y) : tile[0];
    run_folded(line, place, tile[place != tile[1]], x);
    return place;
}

void kal_cpu_line_run(const struct cpu_line *line, char *const tile[2],
                      const struct cpu_vectors *x, const struct cpu_vectors *y,
                      cpu_line_end *end, const void *ahead, struct cpu_edge *edge)
{
    const char *place =
        kal_cpu_line_columns_run(line, line->is_folded && end == line->end, tile, x, y);
    end(place, y, line->m, line->m, line->has_roots ? NULL : line->roots, line->fine,
        ahead, line->asks_nearest, edge);
}

// Does each line of the output begin on a line of the caches, and so its codelets? Of
// planes in both.
static bool is_aligned(const struct cpu_worker *worker, const struct cpu_line *line)
{
    const struct kal_pass *p = line->rows->pass;
    const char *second = line->out == CPU_PLANAR ? worker->second[p->out.buffer] : NULL;
    int64_t all = p->out.offset | p->out.stride;

    for (int i = 0; i < kal_pass_loop_count(p) - 1; i++)
        all |= p->loops[i].count > 1 ? p->loops[i].out : 0;
    return (all * worker->real_bytes) % CPU_LINE_BYTES == 0 &&
           ((uintptr_t)worker->base[p->out.buffer] | (uintptr_t)second) %
                   CPU_LINE_BYTES ==
               0;
}

// How the lines of one call come and go.
struct route {
    const struct cpu_worker *worker;
    const struct cpu_line *line;
    cpu_line_end *end;
    bool is_staged;   // to a tile, and from there past the caches
    bool are_shifted; // rows are put together on their way past them
    struct cpu_memory in, out;
};

static bool streams_planes(const struct cpu_worker *worker, const struct cpu_line *line)
{
    return line->streams_planes &&
           kal_cpu_line_last_step(line, line->kernels, CPU_STREAMED_PLANES) &&
           is_aligned(worker, line);
}

// Can rows that begin between lines of the caches be put together to such lines? By way
// of a copy of what is made at a time lines of 4 KiB and more take 1.0 to 1.5 times as
// long on a Zen 5 processor, measured in November 2026, those of 1 and 2 KiB 0.95 to
// 1.17, rows of one such line 0.85 to 0.95.
static bool can_be_shifted(const struct cpu_worker *worker, const struct cpu_line *line)
{
    const int64_t row_bytes = 2 * line->m * worker->real_bytes;

    return kal_cpu_line_last_step(line, line->kernels, CPU_SHIFTED) &&
           !is_aligned(worker, line) && line->rows->pass->out.stride == 2 * line->m &&
           line->out_step * worker->real_bytes == line->line_bytes &&
           line->m % (line->kernels->lanes / line->width) == 0 &&
           row_bytes % CPU_LINE_BYTES == 0 && row_bytes > CPU_LINE_BYTES;
}

static void init_route(struct route *route, const struct cpu_worker *worker,
                       const struct cpu_line *line)
{
    const bool is_direct = line->is_streamed && !line->is_spread;
    const bool is_streamed = is_direct && is_aligned(worker, line);

    route->worker = worker;
    route->line = line;
    route->are_shifted = is_direct && can_be_shifted(worker, line);
    const enum cpu_layout past = is_streamed                    ? CPU_STREAMED
                                 : route->are_shifted           ? CPU_SHIFTED
                                 : streams_planes(worker, line) ? CPU_STREAMED_PLANES
                                                                : line->out;
    route->end =
        past == line->out ? line->end : kal_cpu_line_last_step(line, line->kernels, past);
    route->is_staged = line->is_streamed && !is_streamed && !route->are_shifted;
    kal_cpu_memory_find(&route->in, worker, &line->columns->pass->in);
    kal_cpu_memory_find(&route->out, worker, &line->rows->pass->out);
}

static char *leading(const struct cpu_memory *memory)
{
    return memory->re < memory->im ? memory->re : memory->im;
}

// One line, or two that are `step` reals apart, with the first one at `first`: its leading part,
// or for planes its real part.
static struct cpu_vectors line_vectors(const struct route *route,
                                       const struct cpu_memory *memory, char *first,
                                       int64_t step)
{
    const bool is_swapped = memory->re > memory->im;
    const int64_t apart = route->line->width == 2
                              ? step * route->worker->real_bytes
                              : (char *)memory->im - (char *)memory->re;
    char *second = first + (apart < 0 ? -apart : apart);
    return is_swapped ? (struct cpu_vectors){ second, first, memory->stride, 0 }
                      : (struct cpu_vectors){ first, second, memory->stride, 0 };
}

// From a tile past the caches.
static void stream_lines(const struct route *route, char *to, const char *from)
{
    const struct cpu_line *line = route->line;
    const int64_t reals = line->line_bytes / route->worker->real_bytes;

    for (int i = 0; i < line->width; i++)
        line->kernels->stream(to + i * line->out_step * route->worker->real_bytes,
                              from + i * line->line_bytes, reals);
}

// One line, or two, at these offsets, while memory `ahead` of it is asked for.
static void run_route(const struct route *route, int64_t in, int64_t out,
                      const void *ahead, struct cpu_edge *edge)
{
    const struct cpu_line *line = route->line;
    const int64_t real_bytes = route->worker->real_bytes;
    char *const *tile = route->worker->tile;
    char *from = leading(&route->in) + in * real_bytes;
    char *to = leading(&route->out) + out * real_bytes;
    const struct cpu_vectors x = line_vectors(route, &route->in, from, line->in_step);
    const struct cpu_vectors y =
        route->is_staged
            ? line_vectors(route, &route->out, tile[1], line->line_bytes / real_bytes)
            : line_vectors(route, &route->out, to, line->out_step);

    kal_cpu_line_run(line, tile, &x, &y, route->end, ahead, edge);
    if (route->is_staged)
        stream_lines(route, to, tile[1]);
}

// Lines of one step whose columns are one tile: from one to the next nothing but its
// places changes.
static bool is_short(const struct route *route)
{
    return route->line->columns->pass->step_count == 1 && route->line->tiles == 1 &&
           !route->is_staged;
}

// Are lines staged one behind the other?
static bool are_staged_together(const struct route *route)
{
    return route->is_staged &&
           route->line->out_step * route->worker->real_bytes == route->line->line_bytes;
}

// As many of `count` such lines as are full pairs of them, or all that come one by one;
// memory `ahead` of the first is asked for with it. Return how many.
static int64_t run_short(const struct route *route, int64_t in, int64_t out,
                         int64_t count, const char *ahead, struct cpu_edge *edge)
{
    const struct cpu_line *line = route->line;
    const int64_t real_bytes = route->worker->real_bytes;
    const int64_t in_bytes = line->width * line->in_step * real_bytes;
    const int64_t out_bytes = line->width * line->out_step * real_bytes;
    const struct kal_step *step = &line->columns->pass->step[0];
    const void *roots = line->has_roots ? line->roots : line->columns->step[0].table;
    const void *end_roots = line->has_roots ? NULL : line->roots;
    char *tile = route->worker->tile[0];
    const struct cpu_vectors between = { tile, tile + line->plane_bytes,
                                         2 * line->kernels->lanes, 0 };
    struct cpu_vectors x = line_vectors(
        route, &route->in, leading(&route->in) + in * real_bytes, line->in_step);
    struct cpu_vectors y = line_vectors(
        route, &route->out, leading(&route->out) + out * real_bytes, line->out_step);
    int64_t i;

    for (i = 0; i + line->width <= count; i += line->width) {
        line->step[0](&x, &between, step->m, step->s, roots);
        route->end(tile, &y, line->m, line->m, end_roots, NULL, ahead, line->asks_nearest,
                   edge);
        kal_cpu_advance(&x, in_bytes);
        kal_cpu_advance(&y, out_bytes);
        ahead = ahead ? ahead + in_bytes : NULL;
    }
    return i;
}

// How many lines ahead memory is asked for. What is asked for nearer keeps a processor's
// own prefetchers from arrays that its caches do not keep, and what is asked for farther
// is slower where they do. Measured on a Zen 4 processor and on a Xeon.
static int64_t lines_ahead(const struct cpu_line *line)
{
    enum { NEAR_BYTES = 4096, FAR_BYTES = 8192 };
    return kal_max(line->width,
                   (line->leaves_caches ? FAR_BYTES : NEAR_BYTES) / line->line_bytes);
}

// Store what is left of lines that end there.
static void store_edge(struct cpu_edge *edge, char *end)
{
    const size_t left = (uintptr_t)end % sizeof edge->last;

    if (edge->is_left)
        memcpy(end - left, edge->last + sizeof edge->last - left, left);
    edge->is_left = false;
}

// `count` lines that are one round's, from these offsets on. What lies behind the last one is
// asked for, too: it is the next chunk's, or nobody's, and no harm done.
static void run_round(const struct route route[2], int64_t in, int64_t out, int64_t count)
{
    const struct cpu_line *line = route[0].line;
    const int64_t ahead = lines_ahead(line);
    const char *from = leading(&route[0].in) + in * route[0].worker->real_bytes;
    char *const to = leading(&route[0].out) + out * route[0].worker->real_bytes;
    const int64_t out_bytes = line->out_step * route[0].worker->real_bytes;
    struct cpu_edge edge;
    const int64_t step_bytes = line->in_step * route[0].worker->real_bytes;
    const bool looks_ahead = line->in == CPU_INTERLEAVED && step_bytes != 0 &&
                             line->columns->pass->in.buffer != KAL_BUFFER_CHUNK;

    // Set as a whole, which GCC does by `rep stos`, it would wait until all stores before
    // have settled.
    edge.is_left = false;
    int64_t i = is_short(&route[0])
                    ? run_short(&route[0], in, out, count,
                                looks_ahead ? from + ahead * step_bytes : NULL, &edge)
                    : 0;
    while (i < count) {
        const struct route *now = &route[count - i < line->width];
        if (!now->are_shifted)
            store_edge(&edge, to + i * out_bytes);
        run_route(now, in + i * line->in_step, out + i * line->out_step,
                  looks_ahead ? from + (i + ahead) * step_bytes : NULL, &edge);
        i += now->line->width;
    }
    store_edge(&edge, to + i * out_bytes);
}

// The same one behind the other, past the caches by way of a copy.
static void stage_round(const struct route route[2], int64_t in, int64_t out,
                        int64_t count)
{
    const struct cpu_line *line = route[0].line;
    const struct cpu_worker *worker = route[0].worker;
    struct route copied[2];
    struct cpu_stage stage = { line->kernels, worker->real_bytes,
                               worker->tile[1] + line->staged_at,
                               leading(&route[0].out) + out * worker->real_bytes, 0 };

    for (int i = 0; i < line->width; i++) {
        const bool is_swapped = route[i].out.re > route[i].out.im;
        copied[i] = route[i];
        copied[i].is_staged = false;
        copied[i].out.re = stage.place + (is_swapped ? worker->real_bytes : 0);
        copied[i].out.im = stage.place + (is_swapped ? 0 : worker->real_bytes);
    }
    for (int64_t done = 0, some; done < count; done += some) {
        some = kal_min(line->staged_lines, count - done);
        run_round(copied, in + done * line->in_step, 0, some);
        kal_cpu_stage_leave(&stage, some * line->line_bytes, done + some == count);
    }
}

void kal_cpu_lines_run(struct cpu_worker *worker, const struct cpu_line *line,
                       const struct cpu_chunk *chunk, int64_t begin, int64_t end)
{
    struct route route[2]; // of two lines, and of one that has no twin

    init_route(&route[0], worker, line);
    if (line->width > 1)
        init_route(&route[1], worker, line->alone);
    while (begin < end) {
        const struct cpu_place from =
            kal_cpu_place_find(line->columns, chunk, begin * line->radix, line->loop);
        const struct cpu_place to =
            kal_cpu_place_find(line->rows, chunk, begin * line->m, line->loop);
        const int64_t count = kal_min(end - begin, line->round - from.fast);
        (are_staged_together(&route[0]) ? stage_round : run_round)(route, from.in, to.out,
                                                                   count);
        begin += count;
    }
}

// Where the columns of a tile are behind a step, of which the last one ends in the first
// of two places.
static struct cpu_vectors step_place(const struct cpu_line *line, char *const tile[2],
                                     int64_t number, int step)
{
    const bool side = (line->columns->pass->step_count - 1 - step) % 2;
    return tile_at(line, tile[side] + number * line->m * 2 * line->plane_bytes);
}

// A worker's share of the first step of all columns: codelets of it, those of a tile
// behind those of another.
static void share_first_step(const struct cpu_worker *worker, const struct cpu_line *line,
                             char *const tile[2], const struct cpu_vectors *x)
{
    const struct kal_step *step = &line->columns->pass->step[0];
    cpu_dft_part *run = line->kernels->fused->part[step->radix];
    int64_t begin, end;

    kal_cpu_share(line->tiles * step->m, worker->part, worker->parts, &begin, &end);
    for (int64_t i = begin / step->m; i * step->m < end; i++) {
        const int64_t first = i * step->m, next = 2 * i * line->plane_bytes;
        const struct cpu_vectors from = { (char *)x->re + next, (char *)x->im + next,
                                          x->stride, 0 };
        const struct cpu_vectors to = step_place(line, tile, i, 0);
        run(&from, &to, step->m, kal_max(begin - first, 0), kal_min(end - first, step->m),
            line->columns->step[0].table);
    }
}

// The steps behind it of what is left of one output of its codelets: transforms of m
// vectors, a radix apart.
static void run_later_steps(const struct cpu_line *line, char *const tile[2],
                            int64_t number, int64_t output)
{
    const struct kal_pass *p = line->columns->pass;
    const int64_t radix = p->step[0].radix;
    struct cpu_vectors from = step_place(line, tile, number, 0);

    kal_cpu_advance(&from, output * 2 * line->plane_bytes);
    from.stride *= radix;
    for (int i = 1; i < p->step_count; i++) {
        struct cpu_vectors to = step_place(line, tile, number, i);
        kal_cpu_advance(&to, output * 2 * line->plane_bytes);
        to.stride *= radix;
        line->step[i](&from, &to, p->step[i].m, p->step[i].s / radix,
                      line->columns->step[i].table);
        from = to;
    }
}

// Columns of fewer tiles than there are workers: their first step, and what is left of
// each of its outputs.
static void divide_columns(struct cpu_worker *worker, const struct cpu_line *line,
                           const struct cpu_vectors *x)
{
    char *const tile[2] = { worker->common_tile,
                            worker->common_tile + (worker->tile[1] - worker->tile[0]) };
    const int64_t radix = line->columns->pass->step[0].radix;
    int64_t begin, end;

    share_first_step(worker, line, tile, x);
    kal_cpu_meet(worker);
    kal_cpu_share(line->tiles * radix, worker->part, worker->parts, &begin, &end);
    for (int64_t i = begin; i < end; i++)
        run_later_steps(line, tile, i / radix, i % radix);
}

// A worker's share of the columns, to the tile that all see: none needs what others compute.
static void share_columns(struct cpu_worker *worker, const struct cpu_line *line,
                          const struct cpu_vectors *x)
{
    char *const tile[2] = { worker->common_tile, worker->tile[1] };
    struct cpu_taken some;

    if (worker->parts > line->tiles && kal_cpu_line_is_divided(line)) {
        divide_columns(worker, line, x);
        return;
    }
    struct cpu_deal deal = kal_cpu_deal(worker, line->tiles, 1, line->columns->pieces);
    while (kal_cpu_take(worker, &deal, &some))
        run_tiles(line, tile, x, some.begin, some.end);
}

static void run_rows(const struct route *route, const struct cpu_vectors *y,
                     int64_t begin, int64_t end)
{
    const struct cpu_line *line = route->line;
    const struct cpu_worker *worker = route->worker;
    const int64_t unit = line->out == CPU_PLANAR ? 1 : 2;
    const int64_t lanes = line->kernels->lanes, element = 2 * line->plane_bytes;
    const int64_t skip = begin * element;
    const int64_t passed =
        line->fine ? kal_round_up(begin, lanes) / lanes * element : skip;
    const char *roots = line->has_roots ? NULL : (const char *)line->roots + passed;
    struct cpu_vectors to = *y;

    kal_cpu_advance(&to, begin * unit * worker->real_bytes);
    route->end(worker->common_tile + skip, &to, line->m, end - begin, roots, line->fine,
               NULL, false, NULL);
}

// Registers of rows, from both ends to the middle where that is said. The last one may
// overlap the one before: it comes behind that, as on one thread, since products of roots
// are not rounded alike in both.
static void run_registers(const struct route *route, const struct cpu_vectors *y,
                          int64_t begin, int64_t end, bool ends_inside)
{
    const int64_t lanes = route->line->kernels->lanes;
    const int64_t middle = ends_inside ? begin + (end - begin) / lanes / 2 * lanes : end;

    if (begin < middle)
        run_rows(route, y, begin, middle);
    const int64_t whole = middle + (end - middle) / lanes * lanes;
    for (int64_t last = whole; last > middle; last -= lanes)
        run_rows(route, y, last - lanes, last);
    if (whole < end)
        run_rows(route, y, end - lanes, end);
}

// A worker's share of the rows, by whole registers of them, but what is left goes with the last.
static void share_rows(struct cpu_worker *worker, const struct route *route,
                       const struct cpu_vectors *y)
{
    const struct cpu_line *line = route->line;
    const int64_t lanes = line->kernels->lanes, registers = line->m / lanes;
    struct cpu_deal deal = kal_cpu_deal(worker, registers, 1, line->columns->pieces);
    struct cpu_taken some;

    while (kal_cpu_take(worker, &deal, &some)) {
        const int64_t end = some.end == registers ? line->m : some.end * lanes;
        run_registers(route, y, some.begin * lanes, end,
                      line->ends_inside && some.end == some.part_end);
    }
}

void kal_cpu_lines_share(struct cpu_worker *worker, const struct cpu_line *lines,
                         const struct cpu_chunk *chunk)
{
    const struct cpu_line *line = lines->alone;
    const int64_t count = kal_cpu_line_count(line, chunk);
    struct route route;

    init_route(&route, worker, line);
    if (route.is_staged || route.are_shifted || route.end == line->end)
        route.end = kal_cpu_line_last_step(line, line->kernels, line->out);
    for (int64_t i = 0; i < count; i++) {
        const int64_t in =
            kal_cpu_place_find(line->columns, chunk, i * line->radix, line->loop).in;
        const int64_t out =
            kal_cpu_place_find(line->rows, chunk, i * line->m, line->loop).out;
        const struct cpu_vectors x = line_vectors(
            &route, &route.in, leading(&route.in) + in * worker->real_bytes, 0);
        const struct cpu_vectors y = line_vectors(
            &route, &route.out, leading(&route.out) + out * worker->real_bytes, 0);
        if (i > 0)
            kal_cpu_meet(worker);
        share_columns(worker, line, &x);
        kal_cpu_meet(worker);
        share_rows(worker, &route, &y);
    }
}
