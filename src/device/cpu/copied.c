// SPDX-License-Identifier: MIT
#include "device/cpu/copied.h"

#include "device/cpu/beside.h"
#include "device/cpu/columns.h"
#include "device/cpu/deal.h"
#include "device/cpu/nested.h"
#include "math/number.h"

#include <string.h>

// Of `count` elements.
static enum cpu_copy find_copy(const struct kal_array *array,
                               const struct kal_array *copy, int64_t count,
                               bool lies_packed, bool is_input)
{
    if (array->is_real != copy->is_real)
        return CPU_COPY_REALS;
    if (count < copy->elements)
        return is_input ? CPU_COPY_HALF : CPU_COPY_PLAIN;
    return lies_packed ? CPU_COPY_NONE : CPU_COPY_PLAIN;
}

// For elements, parts one behind the other, that lie as far apart as kernels are for;
// NULL: there is none.
static cpu_copy_line *find_kernel(const struct kal_array *array, int rank,
                                  const struct cpu_copy_kernels *kernels, bool is_input)
{
    const int64_t apart = array->stride[rank - 1];
    if (array->is_planar || apart < 1 || apart > CPU_MOST_APART)
        return NULL;
    return (is_input ? kernels->collect : kernels->spread)[array->is_real ? 1 : 2][apart];
}

static struct cpu_copied_side find_side(const struct cpu_program *program, bool is_input)
{
    const struct kal_problem *p = program->program->problem,
                             *packed = program->program->copied;
    const struct kal_array *array = is_input ? &p->in : &p->out,
                           *copy = is_input ? &packed->in : &packed->out;
    const int64_t count = p->rank == 1 ? array->n[0] : copy->elements;
    const bool lies_packed =
        kal_array_is_contiguous(array, p->rank) &&
        (packed->batch == 1 || array->batch_stride == copy->batch_stride);
    struct cpu_copied_side side = {
        .copy = find_copy(array, copy, count, lies_packed, is_input),
        .count = count,
        .reals = array->is_real ? 1 : 2,
        .is_planar = array->is_planar,
        .copy_line =
            find_kernel(array, p->rank, program->copied.widest->copies, is_input),
        .line_bytes = copy->elements * (copy->is_real ? 1 : 2) * program->real_bytes,
    };
    kal_cpu_columns_find(program, &side, is_input);
    return side;
}

// Do all threads on each array take less time than each on some of them? With every array
// they meet.
static bool are_arrays_shared(const struct cpu_program *program)
{
    enum { MEET = 5000 }; // in points of an array's time
    const struct kal_problem *p = program->program->problem;
    const int64_t threads = program->most_threads, points = program->copied.in.count;
    return p->rank > 1 && threads > 1 && program->copied.at_once == 1 &&
           p->batch * (points / threads + MEET) <
               (p->batch + threads - 1) / threads * points;
}

static kallima_status create_nested(struct kal_device_program **out,
                                    struct cpu_program *program,
                                    const struct kal_recipe *recipe, int64_t lines)
{
    kallima_desc desc = kal_problem_describe(program->program->copied);
    desc.batch = lines;
    if (program->copied.is_in_place)
        desc.placement = KALLIMA_IN_PLACE;
    const bool are_shared = program->copied.are_shared || program->copied.shares_arrays;
    return kal_cpu_nested_create(out, program, &program->arena, recipe, &desc,
                                 are_shared ? program->most_threads : 1);
}

// Lines one behind the other that do not fit the nearer cache, elements that share lines of it.
static bool is_far(const struct cpu_program *program, const struct cpu_user_side *side)
{
    const int64_t real_bytes = program->real_bytes;
    return !side->is_planar && side->line > 0 && side->stride * real_bytes > 0 &&
           side->stride * real_bytes <= CPU_LINE_BYTES &&
           side->line * program->program->problem->batch >
               (int64_t)program->base.device->caps.near_bytes;
}

kallima_status kal_cpu_copied_find(struct cpu_program *program)
{
    const struct kal_problem *p = program->program->problem;
    const struct kal_problem *copy = program->program->copied;
    const struct kal_recipe *recipe = program->program->recipe;
    struct cpu_copied *copied = &program->copied;

    if (!copy)
        return KALLIMA_OK;
    if (copy->kind != p->kind) // of reals that are copied to complex numbers
        recipe = recipe->child[0];
    copied->widest = kal_cpu_widest_kernels(program);
    copied->in = find_side(program, true);
    copied->out = find_side(program, false);
    copied->at_once = copy->batch;
    kal_cpu_columns_share_out(program);
    copied->shares_arrays = are_arrays_shared(program);
    if (!copied->is_in_place)
        copied->output =
            kal_round_up(copied->together * copied->in.line_bytes, CPU_LINE_BYTES);
    copied->workspace =
        copied->output +
        kal_round_up(copied->together * copied->out.line_bytes, CPU_LINE_BYTES);
    KAL_TRY(create_nested(&copied->lines, program, recipe, copied->at_once));
    copied->shares_arrays =
        copied->shares_arrays && ((const struct cpu_program *)copied->lines)->threads > 1;
    if (copied->rest_lines % copied->at_once)
        KAL_TRY(create_nested(&copied->rest, program, recipe, copied->rest_lines));
    program->lines = 1;
    program->in = kal_cpu_user_side_find(&p->in, p->rank, program->is_f64);
    program->out = kal_cpu_user_side_find(&p->out, p->rank, program->is_f64);
    copied->asks_for_output = is_far(program, &program->out);
    copied->out.is_far = kal_cpu_columns_are_streamed(program);
    return KALLIMA_OK;
}

static uint64_t nested_bytes(const struct cpu_copied *copied)
{
    const uint64_t lines = copied->lines->workspace_bytes,
                   rest = copied->rest ? copied->rest->workspace_bytes : 0;
    return lines > rest ? lines : rest;
}

uint64_t kal_cpu_copied_bytes(const struct cpu_program *program)
{
    if (program->copied.shares_arrays) // all of which is shared
        return 0;
    return (uint64_t)program->copied.workspace + nested_bytes(&program->copied);
}

uint64_t kal_cpu_copied_line_bytes(const struct cpu_program *program)
{
    const struct cpu_copied *copied = &program->copied;
    return (uint64_t)(copied->at_once *
                      (copied->in.line_bytes + copied->out.line_bytes)) +
           nested_bytes(copied);
}

// The elements of one side to `line`, where they are contiguous, or back.
static void copy_plain(const struct cpu_kernels *widest,
                       const struct cpu_copied_side *side, const struct cpu_vectors *v,
                       char *line, int64_t real_bytes, bool is_input)
{
    enum { PAIR = 2 };
    const int parts = side->is_planar ? 2 : 1;
    const int64_t bytes = side->reals * real_bytes, apart = v->stride * real_bytes;
    if (side->copy_line) {
        side->copy_line(is_input ? line : v->re, is_input ? v->re : line, side->count);
        return;
    }
    if (parts == 2 && v->stride == 1) {
        if (is_input)
            widest->rows->load(line, v->re, v->im, side->count);
        else
            widest->rows->store(line, v->re, v->im, side->count);
        return;
    }
    if (parts == 1 && bytes == apart) {
        memcpy(is_input ? line : v->re, is_input ? v->re : line,
               (size_t)(side->count * bytes));
        return;
    }
    for (int part = 0; part < parts; part++) {
        char *at = part ? v->im : v->re, *near = line + part * real_bytes;
        if (is_input)
            kal_cpu_move(near, bytes, at, apart, side->count, bytes / parts);
        else
            kal_cpu_move(at, apart, near, bytes, side->count, bytes / parts);
    }
}

static void copy_to(const struct cpu_kernels *widest, const struct cpu_copied_side *side,
                    const struct cpu_vectors *v, char *line, int64_t real_bytes)
{
    if (side->copy == CPU_COPY_REALS)
        widest->copies->widen(v, line, side->count);
    else if (side->copy == CPU_COPY_HALF)
        widest->copies->extend(v, line, side->count);
    else
        copy_plain(widest, side, v, line, real_bytes, true);
}

static void copy_back(const struct cpu_kernels *widest,
                      const struct cpu_copied_side *side, const struct cpu_vectors *v,
                      char *line, int64_t real_bytes)
{
    if (side->copy == CPU_COPY_REALS)
        widest->copies->narrow(v, line, side->count);
    else
        copy_plain(widest, side, v, line, real_bytes, false);
}

// Have what is soon written on its way to the nearest cache.
static void ask_for_lines(const char *to, int64_t bytes)
{
    for (int64_t i = 0; i < bytes; i += CPU_LINE_BYTES)
        __builtin_prefetch(to + i, 1, 3);
}

// What one line's copy is done by.
typedef void copy_one(const struct cpu_kernels *, const struct cpu_copied_side *,
                      const struct cpu_vectors *, char *, int64_t);

// So many lines of a side, the first one at v. Vectors that were written field by field
// just before are not copied where there is no more than one.
CPU_INLINE void copy_lines(const struct cpu_program *program, bool is_input,
                           const struct cpu_vectors *v, char *copies, int64_t lines)
{
    const struct cpu_kernels *widest = program->copied.widest;
    const struct cpu_copied_side *side =
        is_input ? &program->copied.in : &program->copied.out;
    const struct cpu_user_side *user = is_input ? &program->in : &program->out;
    copy_one *const copy = is_input ? copy_to : copy_back;
    const int64_t real_bytes = program->real_bytes;

    if (side->copy_columns && lines > 1) {
        kal_cpu_columns_copy(program, side, v, copies, lines);
        return;
    }
    copy(widest, side, v, copies, real_bytes);
    if (lines == 1)
        return;
    struct cpu_vectors line = *v;
    for (int64_t i = 1; i < lines; i++) {
        kal_cpu_advance(&line, user->line);
        copies += side->line_bytes;
        copy(widest, side, &line, copies, real_bytes);
    }
}

// A group of lines that begin at x and y.
static void run_group(const struct cpu_program *program, const struct cpu_vectors *x,
                      const struct cpu_vectors *y, bool is_rest, char *scratch)
{
    const struct cpu_copied *copied = &program->copied;
    const int64_t lines = is_rest ? copied->rest_lines : copied->together;
    char *from = x->re, *to = y->re;
    int64_t from_step = program->in.line, to_step = program->out.line;

    if (copied->in.copy != CPU_COPY_NONE) {
        from = scratch;
        from_step = copied->in.line_bytes;
        copy_lines(program, true, x, from, lines);
    }
    if (copied->asks_for_output)
        ask_for_lines(kal_cpu_leading(y), lines * program->out.line);
    if (copied->out.copy != CPU_COPY_NONE) {
        to = scratch + copied->output;
        to_step = copied->out.line_bytes;
    }
    for (int64_t i = 0; i < lines; i += copied->at_once)
        kal_cpu_nested_run(lines - i < copied->at_once ? copied->rest : copied->lines,
                           from + i * from_step, to + i * to_step,
                           scratch + copied->workspace);
    if (copied->out.copy != CPU_COPY_NONE)
        copy_lines(program, false, y, scratch + copied->output, lines);
}

void kal_cpu_groups_run(const struct cpu_program *program, const struct cpu_vectors *x,
                        const struct cpu_vectors *y, char *scratch, int64_t begin,
                        int64_t end)
{
    const struct cpu_copied *copied = &program->copied;
    const int64_t whole = copied->groups - (copied->rest_lines > 0);
    struct cpu_vectors in = *x, out = *y;

    kal_cpu_advance(&in, begin * copied->together * program->in.line);
    kal_cpu_advance(&out, begin * copied->together * program->out.line);
    for (int64_t i = begin; i < end; i++) {
        run_group(program, &in, &out, i == whole, scratch);
        kal_cpu_advance(&in, copied->together * program->in.line);
        kal_cpu_advance(&out, copied->together * program->out.line);
    }
}

// What all threads see of one array: both copies, where they meet while they transform it,
// and what that needs.
static void find_shared_array(struct cpu_program *program)
{
    struct cpu_copied *copied = &program->copied;

    copied->has_meeting = true;
    copied->output = kal_round_up(copied->in.line_bytes, CPU_LINE_BYTES);
    copied->meeting =
        copied->output + kal_round_up(copied->out.line_bytes, CPU_LINE_BYTES);
    copied->workspace =
        copied->meeting + (int64_t)kal_cpu_aligned(sizeof(struct cpu_meeting));
    program->shared_bytes = (uint64_t)copied->workspace + nested_bytes(copied);
}

void kal_cpu_copied_meeting_find(struct cpu_program *program)
{
    struct cpu_copied *copied = &program->copied;
    if (copied->shares_arrays) {
        find_shared_array(program);
        return;
    }
    const int64_t threads = program->threads, batch = program->program->problem->batch;
    const int64_t most = (batch + threads - 1) / threads;
    const int64_t most_groups = (copied->groups + threads - 1) / threads;

    copied->has_meeting = copied->has_meeting && threads > 1 &&
                          4 * most_groups * copied->together > 5 * most;
    if (!copied->has_meeting)
        return;
    copied->output = copied->is_in_place ? 0 : batch * copied->in.line_bytes;
    copied->workspace = 0;
    program->shared_bytes = (uint64_t)(copied->output + batch * copied->out.line_bytes);
}

// A worker's part of all elements.
static void share_columns(const struct cpu_program *program,
                          const struct cpu_copied_side *side, const struct cpu_vectors *v,
                          char *copies, struct cpu_worker *worker)
{
    struct cpu_deal deal =
        kal_cpu_deal(worker, kal_cpu_columns_count(side), 1, program->pieces);
    struct cpu_taken some;

    while (kal_cpu_take(worker, &deal, &some))
        kal_cpu_columns_run(program, side, v, copies, program->program->problem->batch,
                            some.begin, some.end);
}

// Its part of the lines between them.
static void share_lines(const struct cpu_program *program, char *from, char *to,
                        struct cpu_worker *worker)
{
    const struct cpu_copied *copied = &program->copied;
    struct cpu_deal deal =
        kal_cpu_deal(worker, program->program->problem->batch, 1, program->pieces);
    struct cpu_taken some;

    while (kal_cpu_take(worker, &deal, &some)) {
        for (int64_t i = some.begin; i < some.end; i++)
            kal_cpu_nested_run(copied->lines, from + i * copied->in.line_bytes,
                               to + i * copied->out.line_bytes, worker->tile[0]);
    }
}

// A worker's part of an array's elements, to its copy or back.
static void share_copy(const struct cpu_program *program, bool is_input,
                       const struct cpu_vectors *v, char *copy,
                       const struct cpu_worker *worker)
{
    enum { ELEMENTS = 64 };
    struct cpu_copied_side side = is_input ? program->copied.in : program->copied.out;
    struct cpu_vectors part = *v;
    int64_t begin, end;

    kal_cpu_share_registers(side.count, ELEMENTS, worker->part, worker->parts, &begin,
                            &end);
    side.count = end - begin;
    kal_cpu_advance(&part, begin * v->stride * program->real_bytes);
    if (side.count > 0)
        copy_plain(program->copied.widest, &side, &part,
                   copy + begin * side.reals * program->real_bytes, program->real_bytes,
                   is_input);
}

// Array by array: all workers copy it, transform it as they would a caller's, and copy it back.
static void meet_arrays(const struct cpu_program *program, const struct cpu_vectors *x,
                        const struct cpu_vectors *y, struct cpu_worker *worker)
{
    const struct cpu_copied *copied = &program->copied;
    char *const shared = worker->base[KAL_BUFFER_SHARED];
    struct cpu_meeting *meeting = (struct cpu_meeting *)(shared + copied->meeting);
    const struct cpu_program *array = (const struct cpu_program *)copied->lines;
    const int parts = (int)kal_min(array->threads, worker->parts);
    struct cpu_vectors in = *x, out = *y;

    for (int64_t i = 0; i < program->program->problem->batch; i++) {
        const struct kal_arguments arguments = {
            .in[0].object = copied->in.copy == CPU_COPY_NONE ? in.re : shared,
            .out[0].object =
                copied->out.copy == CPU_COPY_NONE ? out.re : shared + copied->output,
            .workspace.object = shared + copied->workspace,
        };
        if (worker->part == 0)
            kal_cpu_meeting_init(meeting, parts);
        if (copied->in.copy != CPU_COPY_NONE)
            share_copy(program, true, &in, shared, worker);
        kal_cpu_meet(worker);
        if (worker->part < parts)
            kal_cpu_part_run(copied->lines, &arguments, meeting, worker->part, parts);
        kal_cpu_meet(worker);
        if (copied->out.copy != CPU_COPY_NONE)
            share_copy(program, false, &out, shared + copied->output, worker);
        kal_cpu_advance(&in, program->in.line);
        kal_cpu_advance(&out, program->out.line);
    }
}

void kal_cpu_copied_meet(const struct cpu_program *program, const struct cpu_vectors *x,
                         const struct cpu_vectors *y, struct cpu_worker *worker)
{
    if (program->copied.shares_arrays) {
        meet_arrays(program, x, y, worker);
        return;
    }
    char *from = worker->base[KAL_BUFFER_SHARED], *to = from + program->copied.output;

    share_columns(program, &program->copied.in, x, from, worker);
    kal_cpu_meet(worker);
    share_lines(program, from, to, worker);
    kal_cpu_meet(worker);
    share_columns(program, &program->copied.out, y, to, worker);
}

void kal_cpu_copied_run(const struct cpu_program *program, const struct cpu_vectors *x,
                        const struct cpu_vectors *y, char *scratch)
{
    run_group(program, x, y, false, scratch);
    if (program->copied.groups > 1)
        kal_cpu_groups_run(program, x, y, scratch, 1, program->copied.groups);
}
