// SPDX-License-Identifier: MIT
// Running programs of one line, array or batch with nothing to look up: by one thread, by
// several, and, with scratch on the stack, straight from a call.
#include "device/cpu/apart.h"
#include "device/cpu/array.h"
#include "device/cpu/convolved.h"
#include "device/cpu/copied.h"
#include "device/cpu/deal.h"
#include "device/cpu/divided.h"
#include "device/cpu/line.h"
#include "device/cpu/short.h"
#include "device/cpu/single.h"
#include "device/cpu/stage.h"

#include <stdatomic.h>

// Set field by field, as it is used at once.
static inline void place(struct cpu_vectors *vectors, const struct cpu_user_side *side,
                         const void *re, const void *im)
{
    vectors->re = (char *)re + side->re;
    vectors->im = (char *)im + side->im;
    vectors->stride = side->stride;
    vectors->ahead = 0;
}

static inline void place_planes(struct cpu_vectors *vectors,
                                const struct cpu_user_side *side,
                                const void *const array[2])
{
    place(vectors, side, array[side->re_array], array[side->im_array]);
}

static void find_user_vectors(struct cpu_vectors *vectors,
                              const struct cpu_user_side *side,
                              const struct kal_memory array[2])
{
    const void *const address[2] = { kal_memory_address(array[0]),
                                     kal_memory_address(array[1]) };
    place_planes(vectors, side, address);
}

// Numbers of a tile of one lane.
static inline void set_line_tile(struct cpu_vectors *v, char *tile,
                                 const struct cpu_program *program)
{
    const int64_t real_bytes = program->real_bytes;
    v->re = tile + (program->tile_is_swapped ? real_bytes : 0);
    v->im = tile + (program->tile_is_swapped ? 0 : real_bytes);
    v->stride = 2;
    v->ahead = 0;
}

// Where a line is between its steps, by turns: in a tile, and in another one, or where
// the output will be, which is all that one core has to keep near then.
static inline char *tile_at(const struct cpu_program *program,
                            const struct cpu_vectors *y, char *workspace, bool is_other)
{
    if (!is_other)
        return workspace;
    return program->output_is_tile ? kal_cpu_leading(y)
                                   : workspace + program->tile_bytes / 2;
}

// All calls from x to `to`, by way of tiles, the first one that which is said. The output is y.
static inline void run_calls(const struct cpu_program *program,
                             const struct cpu_vectors *x, const struct cpu_vectors *to,
                             const struct cpu_vectors *y, char *workspace,
                             bool first_is_other)
{
    const struct cpu_call *call = program->call, *last = call + program->call_count - 1;
    const struct cpu_vectors *from = x;
    struct cpu_vectors tile[2];

    for (bool which = first_is_other; call < last; call++, which = !which) {
        set_line_tile(&tile[which], tile_at(program, y, workspace, which), program);
        kal_cpu_call(call, from, &tile[which]);
        from = &tile[which];
    }
    kal_cpu_call(call, from, to);
}

// The step before the last one ends in the first tile, as the output cannot be read where
// it is written.
static inline bool is_call_to_other(const struct cpu_program *program)
{
    return program->call_count % 2 != 0;
}

static inline void run_steps(const struct cpu_program *program,
                             const struct cpu_vectors *x, const struct cpu_vectors *y,
                             char *workspace)
{
    run_calls(program, x, y, y, workspace, is_call_to_other(program));
}

static inline struct cpu_row mirrored_row(const struct cpu_step *step,
                                          const struct cpu_vectors *x,
                                          const struct cpu_vectors *y)
{
    return (struct cpu_row){
        .in_re = x->re,
        .in_im = x->im,
        .roots = step->table,
        .out_re = y->re,
        .out_im = y->im,
        .m = step->step->n / 2,
        .scale = 1.0,
    };
}

// Of what begins there, real parts first.
static inline void run_mirror(const struct cpu_step *step, const void *from, void *to)
{
    step->mirror(from, to, step->step->n / 2, step->group_table);
}

static inline void run_split(const struct cpu_program *program,
                             const struct cpu_vectors *x, const struct cpu_vectors *y,
                             char *workspace)
{
    const struct cpu_pass *pass = &program->pass[0];
    const int last = pass->pass->step_count - 1;
    struct cpu_vectors packed;

    set_line_tile(&packed, workspace, program);
    run_calls(program, x, &packed, y, workspace, !is_call_to_other(program));
    if (pass->step[last].mirror) {
        run_mirror(&pass->step[last], packed.re, y->re);
        return;
    }
    const struct cpu_row row = mirrored_row(&pass->step[last], &packed, y);
    pass->widest->rows->split(&row, 0, row.m / 2 + 1);
}

static inline void run_merge(const struct cpu_program *program,
                             const struct cpu_vectors *x, const struct cpu_vectors *y,
                             char *workspace)
{
    const struct cpu_pass *pass = &program->pass[0];
    const bool first_is_other = is_call_to_other(program);
    struct cpu_vectors packed;

    set_line_tile(&packed, tile_at(program, y, workspace, !first_is_other), program);
    if (pass->step[0].mirror) {
        run_mirror(&pass->step[0], x->re, packed.im);
    } else {
        const struct cpu_row row = mirrored_row(&pass->step[0], x, &packed);
        pass->widest->rows->merge(&row, 0, row.m / 2 + 1);
    }
    run_calls(program, &packed, y, y, workspace, first_is_other);
}

static inline void run_real(const struct cpu_program *program,
                            const struct cpu_vectors *x, const struct cpu_vectors *y,
                            char *workspace)
{
    const struct cpu_pass *pass = &program->pass[0];
    (void)workspace;
    pass->turned.run(x, y, 1, pass->pass->scale, false);
}

static inline void run_line(const struct cpu_program *program,
                            const struct cpu_vectors *x, const struct cpu_vectors *y,
                            char *workspace)
{
    const struct cpu_line *line = program->pass[0].line;
    char *const tile[2] = { workspace, workspace + program->tile_bytes / 2 };
    kal_cpu_line_run(line, tile, x, y, line->end, NULL, NULL);
}

// Lines that begin `bytes` behind those of `side`.
static inline struct cpu_vectors lines_from(const struct cpu_vectors *side, int64_t bytes,
                                            int64_t step)
{
    return (struct cpu_vectors){ (char *)side->re + bytes, (char *)side->im + bytes, step,
                                 0 };
}

static void scale_part(const struct cpu_program *program, const struct cpu_part *part,
                       const struct cpu_vectors *y)
{
    char *first = kal_cpu_leading(y);
    const int64_t step_bytes = y->stride * program->real_bytes;

    for (int64_t i = 0; i < part->lines; i++)
        program->pass[0].widest->rows->scale(first + i * step_bytes, part->scale_rest,
                                             program->row_reals);
}

static inline void run_part(const struct cpu_program *program,
                            const struct cpu_part *part, const struct cpu_vectors *x,
                            const struct cpu_vectors *y)
{
    const struct cpu_vectors from = lines_from(x, part->in, program->batch.in_step),
                             to = lines_from(y, part->out, program->batch.out_step);

    part->run(&from, &to, part->count, program->pass[0].pass->scale, false);
    if (part->scale_rest != 1.0)
        scale_part(program, part, &to);
}

static inline void run_short(const struct cpu_program *program,
                             const struct cpu_vectors *x, const struct cpu_vectors *y,
                             char *workspace)
{
    (void)workspace;
    for (int i = 0; i < program->batch.part_count; i++)
        run_part(program, &program->batch.part[i], x, y);
}

// Lines of a batch that threads share: those of the parts `first` to `last` - 1 of `parts`.
static void share_short(const struct cpu_program *program, const struct cpu_vectors *x,
                        const struct cpu_vectors *y, int64_t first, int64_t last,
                        int64_t parts)
{
    const int64_t real_bytes = program->real_bytes;
    for (int i = 0; i < program->batch.part_count; i++) {
        const struct cpu_part share =
            kal_cpu_part_share(&program->batch, i, real_bytes, first, last, parts);
        if (share.lines > 0)
            run_part(program, &share, x, y);
    }
}

// What is left to do when a line has been worked.
static inline void finish_line(const struct cpu_program *program,
                               const struct cpu_vectors *y)
{
    if (program->row_scale != 1.0)
        program->pass[0].widest->rows->scale(kal_cpu_leading(y), program->row_scale,
                                             program->row_reals);
}

typedef void run_one(const struct cpu_program *, const struct cpu_vectors *,
                     const struct cpu_vectors *, char *);

static inline void run_lines(const struct cpu_program *program, run_one *run,
                             struct cpu_vectors *x, struct cpu_vectors *y, int64_t lines,
                             char *workspace)
{
    run(program, x, y, workspace);
    finish_line(program, y);
    for (int64_t i = 1; i < lines; i++) {
        kal_cpu_advance(x, program->in.line);
        kal_cpu_advance(y, program->out.line);
        run(program, x, y, workspace);
        finish_line(program, y);
    }
}

// Have bytes on their way to the nearer cache, or to the nearest.
CPU_INLINE void ask_for(const struct cpu_program *program, const char *from,
                        int64_t bytes)
{
    for (int64_t i = 0; i < bytes; i += CPU_LINE_BYTES)
        kal_cpu_ask(from + i, program->asks_nearest);
}

// The same while lines to come are asked for.
static void run_lines_ahead(const struct cpu_program *program, run_one *run,
                            struct cpu_vectors *x, struct cpu_vectors y, int64_t lines,
                            char *workspace)
{
    enum { AHEAD_BYTES = 8192 };
    for (int64_t i = 0; i < lines; i++) {
        if (program->array.ask_bytes == 0)
            ask_for(program, kal_cpu_leading(x) + AHEAD_BYTES, program->in.line);
        run(program, x, &y, workspace);
        finish_line(program, &y);
        kal_cpu_advance(x, program->in.line);
        kal_cpu_advance(&y, program->out.line);
    }
}

// The same to a copy, some lines at a time, and from there past the caches by whole lines
// of these. What is left of the last one is moved to where the next lines follow it.
static void stream_lines(const struct cpu_program *program, run_one *run,
                         struct cpu_vectors *x, const struct cpu_vectors *y,
                         int64_t lines, char *workspace)
{
    const int64_t bytes = program->out.line, real_bytes = program->real_bytes;
    const int64_t most = kal_max(1, CPU_STREAMED_BYTES / bytes);
    char *const to = kal_cpu_leading(y);
    struct cpu_stage stage = { program->pass[0].widest, real_bytes,
                               kal_cpu_joined_of(program, workspace) + CPU_LINE_BYTES, to,
                               0 };
    struct cpu_vectors place = *y;

    kal_cpu_advance(&place, stage.place - to);
    for (int64_t done = 0, count; done < lines; done += count) {
        count = kal_min(most, lines - done);
        run_lines_ahead(program, run, x, place, count, workspace);
        kal_cpu_stage_leave(&stage, count * bytes, done + count == lines);
    }
    atomic_thread_fence(memory_order_seq_cst);
}

// Arrays past the caches, each while it is made.
static void run_arrays_past(const struct cpu_program *program, struct cpu_vectors *x,
                            struct cpu_vectors *y, int64_t arrays, char *workspace)
{
    for (int64_t i = 0; i < arrays; i++) {
        kal_cpu_array_run_past(program, x, y, workspace,
                               kal_cpu_joined_of(program, workspace));
        kal_cpu_advance(x, program->in.line);
        kal_cpu_advance(y, program->out.line);
    }
    atomic_thread_fence(memory_order_seq_cst);
}

// Some lines, one after the other.
static void run_some_lines(const struct cpu_program *program, const struct cpu_vectors *x,
                           const struct cpu_vectors *y, char *workspace, int64_t begin,
                           int64_t end)
{
    static run_one *const run[CPU_SINGLE_COUNT] = {
        [CPU_SINGLE_STEPS] = run_steps,
        [CPU_SINGLE_SPLIT] = run_split,
        [CPU_SINGLE_MERGE] = run_merge,
        [CPU_SINGLE_REAL] = run_real,
        [CPU_SINGLE_LINE] = run_line,
        [CPU_SINGLE_ARRAY] = kal_cpu_array_run,
        [CPU_SINGLE_CONVOLVED] = kal_cpu_convolved_run,
    };
    struct cpu_vectors from = *x, to = *y;

    kal_cpu_advance(&from, begin * program->in.line);
    kal_cpu_advance(&to, begin * program->out.line);
    if (program->array.leaving_rows > 0)
        run_arrays_past(program, &from, &to, end - begin, workspace);
    else if (program->streams_lines)
        stream_lines(program, run[program->single], &from, &to, end - begin, workspace);
    else
        run_lines(program, run[program->single], &from, &to, end - begin, workspace);
}

// Some of the things that threads share out: arrays, groups of lines, lines, or, where
// these lie in several parts, shares of each.
static void run_things(const struct cpu_program *program, const struct cpu_vectors *x,
                       const struct cpu_vectors *y, char *workspace, int64_t begin,
                       int64_t end)
{
    if (program->single == CPU_SINGLE_APART)
        kal_cpu_apart_share(program, x, y, begin, end, program->things);
    else if (program->single == CPU_SINGLE_DIVIDED)
        kal_cpu_arrays_run(program, x, y, workspace, begin, end);
    else if (program->single == CPU_SINGLE_COPIED)
        kal_cpu_groups_run(program, x, y, workspace, begin, end);
    else if (program->single == CPU_SINGLE_SHORT)
        share_short(program, x, y, begin, end, program->things);
    else
        run_some_lines(program, x, y, workspace, begin, end);
}

void kal_cpu_single_run(const struct cpu_program *program,
                        const struct kal_arguments *arguments, char *workspace)
{
    struct cpu_vectors x, y;

    find_user_vectors(&x, &program->in, arguments->in);
    find_user_vectors(&y, &program->out, arguments->out);
    run_things(program, &x, &y, workspace, 0, program->things);
}

static void share_things(const struct cpu_program *program,
                         const struct kal_arguments *arguments, struct cpu_worker *worker)
{
    struct cpu_deal deal = kal_cpu_deal(worker, program->things, 1, program->pieces);
    struct cpu_vectors x, y;
    struct cpu_taken some;

    find_user_vectors(&x, &program->in, arguments->in);
    find_user_vectors(&y, &program->out, arguments->out);
    while (kal_cpu_take(worker, &deal, &some))
        run_things(program, &x, &y, worker->tile[0], some.begin, some.end);
}

// A worker's share of all arrays, one after the other.
static void share_arrays(const struct cpu_program *program,
                         const struct kal_arguments *arguments, struct cpu_worker *worker)
{
    struct cpu_vectors x, y;
    find_user_vectors(&x, &program->in, arguments->in);
    find_user_vectors(&y, &program->out, arguments->out);
    for (int64_t i = 0; i < program->lines; i++) {
        kal_cpu_array_share(program, &x, &y, worker);
        if (program->row_scale != 1.0) {
            kal_cpu_meet(worker);
            if (worker->part == 0)
                finish_line(program, &y);
        }
        kal_cpu_advance(&x, program->in.line);
        kal_cpu_advance(&y, program->out.line);
    }
}

static void share_copied(const struct cpu_program *program,
                         const struct kal_arguments *arguments, struct cpu_worker *worker)
{
    struct cpu_vectors x, y;
    find_user_vectors(&x, &program->in, arguments->in);
    find_user_vectors(&y, &program->out, arguments->out);
    kal_cpu_copied_meet(program, &x, &y, worker);
}

void kal_cpu_single_part_run(const struct cpu_program *program,
                             const struct kal_arguments *arguments,
                             struct cpu_worker *worker)
{
    if (program->single == CPU_SINGLE_ARRAY && program->lines < worker->parts)
        share_arrays(program, arguments, worker);
    else if (kal_cpu_copies_meet(program))
        share_copied(program, arguments, worker);
    else
        share_things(program, arguments, worker);
}

static inline void run_apart(const struct cpu_program *program,
                             const struct cpu_vectors *x, const struct cpu_vectors *y,
                             char *workspace)
{
    (void)workspace;
    kal_cpu_apart_run(program, x, y);
}

// Lines that one kernel works, all of them.
static inline void run_apart_part(const struct cpu_program *program,
                                  const struct cpu_vectors *x,
                                  const struct cpu_vectors *y, char *workspace)
{
    const struct cpu_apart_part *part = &program->apart.part[0];
    (void)workspace;
    part->run(x->re, x->im, y->re, y->im, part->count, &part->how);
}

// What has no tiles, of one line or of a batch.
static inline void run_bare(const struct cpu_program *program, run_one *run,
                            struct cpu_vectors *x, struct cpu_vectors *y)
{
    run(program, x, y, NULL);
}

// What has them, with the workspace on the stack, of one line or several.
static inline void run_small(const struct cpu_program *program, run_one *run,
                             struct cpu_vectors *x, struct cpu_vectors *y)
{
    _Alignas(64) char workspace[CPU_SMALL_BYTES];
    run_lines(program, run, x, y, program->lines, workspace);
}

// Either between two arrays, and where a side is planar.
#define RUN(name, run, how)                                                        \
    static void name##_pair(const struct kal_device_program *base, const void *in, \
                            void *out)                                             \
    {                                                                              \
        const struct cpu_program *program = (const struct cpu_program *)base;      \
        struct cpu_vectors x, y;                                                   \
        place(&x, &program->in, in, in);                                           \
        place(&y, &program->out, out, out);                                        \
        how(program, run, &x, &y);                                                 \
    }                                                                              \
    static void name##_planes(const struct kal_device_program *base,               \
                              const void *const in[2], void *const out[2])         \
    {                                                                              \
        const struct cpu_program *program = (const struct cpu_program *)base;      \
        struct cpu_vectors x, y;                                                   \
        place_planes(&x, &program->in, in);                                        \
        place_planes(&y, &program->out, (const void *const *)out);                 \
        how(program, run, &x, &y);                                                 \
    }

static inline void run_once(const struct cpu_program *program,
                            const struct cpu_vectors *x, const struct cpu_vectors *y,
                            char *workspace)
{
    (void)workspace;
    kal_cpu_call(program->call, x, y);
    finish_line(program, y);
}

RUN(run_once, run_once, run_bare)
RUN(run_short, run_short, run_bare)
RUN(run_apart, run_apart, run_bare)
RUN(run_apart_part, run_apart_part, run_bare)
RUN(run_real_once, run_real, run_bare)
RUN(run_steps, run_steps, run_small)
RUN(run_split, run_split, run_small)
RUN(run_merge, run_merge, run_small)
RUN(run_real, run_real, run_small)
RUN(run_line, run_line, run_small)
RUN(run_array, kal_cpu_array_run, run_small)
RUN(run_copied, kal_cpu_copied_run, run_small)
RUN(run_convolved, kal_cpu_convolved_run, run_small)

struct runner {
    void (*pair)(const struct kal_device_program *, const void *, void *);
    void (*planes)(const struct kal_device_program *, const void *const[2],
                   void *const[2]);
};

#define RUNNER(name)                \
    {                               \
        name##_pair, name##_planes, \
    }

static struct runner find_runner(const struct cpu_program *program)
{
    static const struct runner once = RUNNER(run_once), real = RUNNER(run_real_once),
                               part = RUNNER(run_apart_part);
    static const struct runner runners[CPU_SINGLE_COUNT] = {
        [CPU_SINGLE_STEPS] = RUNNER(run_steps),
        [CPU_SINGLE_SPLIT] = RUNNER(run_split),
        [CPU_SINGLE_MERGE] = RUNNER(run_merge),
        [CPU_SINGLE_REAL] = RUNNER(run_real),
        [CPU_SINGLE_SHORT] = RUNNER(run_short),
        [CPU_SINGLE_LINE] = RUNNER(run_line),
        [CPU_SINGLE_ARRAY] = RUNNER(run_array),
        [CPU_SINGLE_APART] = RUNNER(run_apart),
        [CPU_SINGLE_COPIED] = RUNNER(run_copied),
        [CPU_SINGLE_CONVOLVED] = RUNNER(run_convolved),
    };
    if (program->lines == 1 && program->single == CPU_SINGLE_STEPS &&
        program->call_count == 1)
        return once;
    if (program->lines == 1 && program->single == CPU_SINGLE_REAL)
        return real;
    if (program->is_small && program->single == CPU_SINGLE_APART &&
        program->apart.part_count == 1 && program->apart.part[0].run)
        return part;
    return program->is_small && !program->streams_lines ? runners[program->single]
                                                        : (struct runner){ 0 };
}

void kal_cpu_runners_find(struct cpu_program *program)
{
    const struct runner runner = find_runner(program);
    const bool is_planar = program->in.is_planar || program->out.is_planar;
    program->base.run_pair = is_planar ? NULL : runner.pair;
    program->base.run_planes = runner.planes;
}
