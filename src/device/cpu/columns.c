// SPDX-License-Identifier: MIT
#include "device/cpu/columns.h"

#include "device/cpu/worker.h"

#include <omp.h>
#include <stdatomic.h>

// So many of a column at a time stay in the nearest cache while others beside them are copied.
enum { ELEMENTS = 64 };

// NULL: there is something between them, or there are more than kernels are for. Those
// that fill a register are transposed faster.
static cpu_copy_dense *find_dense(const struct kal_array *array, int rank, int64_t lines,
                                  const struct cpu_kernels *widest, bool is_input)
{
    const int reals = array->is_real ? 1 : 2;
    if (array->stride[rank - 1] != lines || lines > CPU_MOST_APART ||
        lines * reals == widest->lanes)
        return NULL;
    return (is_input ? widest->copies->part : widest->copies->join)[reals][lines];
}

// Fewer than fill a register, whose elements lie near each other, are copied one after
// the other, but long ones.
void kal_cpu_columns_find(const struct cpu_program *program, struct cpu_copied_side *side,
                          bool is_input)
{
    const struct kal_problem *p = program->program->problem;
    const struct kal_array *array = is_input ? &p->in : &p->out;
    const struct cpu_kernels *widest = program->copied.widest;
    cpu_copy_dense *const dense = find_dense(array, p->rank, p->batch, widest, is_input);
    const bool are_worth_it = !side->copy_line || dense ||
                              p->batch * side->reals >= widest->lanes ||
                              program->program->has_long_columns;

    if (side->copy == CPU_COPY_PLAIN && p->batch > 1 && array->batch_stride == 1 &&
        !array->is_planar && are_worth_it)
        side->copy_columns = (is_input ? widest->copies->collect_columns
                                       : widest->copies->spread_columns)[side->reals];
    if (side->copy_columns)
        side->copy_dense = dense;
}

// Lines that are neighbours and are copied with what else lies in two lines of the
// caches, as far as so many copies stay near, at least in one. Copies do not compete for
// lines of the nearest cache.
static void find_together(struct cpu_program *program)
{
    struct cpu_copied *copied = &program->copied;
    struct cpu_copied_side *const side[] = { &copied->in, &copied->out };
    const int64_t batch = program->program->problem->batch;
    const int64_t near_bytes = (int64_t)program->base.device->caps.near_bytes;

    copied->together = copied->at_once;
    for (int i = 0; i < 2 && copied->at_once == 1; i++) {
        const int64_t bytes = side[i]->reals * program->real_bytes;
        const int64_t line = CPU_LINE_BYTES / bytes;
        const int64_t near = near_bytes / side[i]->line_bytes;
        side[i]->line_bytes =
            kal_round_up(side[i]->line_bytes, 2 * CPU_LINE_BYTES) + CPU_LINE_BYTES;
        if (side[i]->copy_columns)
            copied->together = kal_max(
                copied->together, kal_min(batch, kal_max(line, kal_min(2 * line, near))));
    }
    copied->rest_lines = batch % copied->together;
    copied->groups = batch / copied->together + (copied->rest_lines > 0);
}

// Do all threads on each line take less time than each on some of them? With every line
// they begin and meet.
static bool are_faster_shared(const struct cpu_program *program)
{
    enum { BEGIN = 12000 }; // in points of a line's time
    const struct kal_problem *p = program->program->problem;
    const int64_t threads = program->most_threads, lines = p->batch;
    return threads > 1 && lines * (p->n[0] / threads + BEGIN) <
                              (lines + threads - 1) / threads * p->n[0];
}

// Are both sides of a line copied to so little that with its scratch, its roots and what it is
// copied from and to it leaves the nearest cache unless both copies are one? Measured on a Xeon
// in December 2026, one line and 16 with strides of 2 and 3: 256 to 2048 complex floats take 0.64
// to 1.39 of the time so, 0.92 as a mean, 360 to 1024 doubles 0.66 to 1.07, 0.81 as a mean, longer
// ones up to 1.15.
static bool are_near_copies(const struct cpu_program *program)
{
    enum { MOST_BYTES = 16 << 10 };
    const struct kal_problem *p = program->program->problem;
    const struct cpu_copied *copied = &program->copied;
    return p->rank == 1 && copied->at_once == 1 && copied->in.copy == CPU_COPY_PLAIN &&
           copied->out.copy == CPU_COPY_PLAIN &&
           p->n[0] * copied->in.reals * program->real_bytes <= MOST_BYTES;
}

void kal_cpu_columns_share_out(struct cpu_program *program)
{
    struct cpu_copied *copied = &program->copied;
    const bool has_columns = copied->in.copy_columns && copied->out.copy_columns;
    const bool is_long = has_columns && program->program->has_long_columns;

    find_together(program);
    copied->are_shared = is_long && are_faster_shared(program);
    copied->has_meeting = has_columns && copied->at_once == 1 && !copied->are_shared;
    copied->is_in_place = (is_long || are_near_copies(program)) &&
                          copied->in.line_bytes == copied->out.line_bytes &&
                          copied->in.reals == copied->out.reals;
}

bool kal_cpu_columns_are_streamed(const struct cpu_program *program)
{
    const struct cpu_user_side *side = &program->out;
    const int64_t real_bytes = program->real_bytes;
    const struct kal_problem *p = program->program->problem;
    return program->copied.out.copy_columns &&
           program->copied.widest->lanes * real_bytes == CPU_LINE_BYTES &&
           side->stride * real_bytes % CPU_LINE_BYTES == 0 &&
           (double)p->batch * (double)side->line * (double)p->out.n[0] >
               (double)program->base.device->caps.far_bytes;
}

// Elements first .. end - 1 of lines with nothing between them, to copies or back.
static void copy_dense(const struct cpu_program *program,
                       const struct cpu_copied_side *side, const struct cpu_vectors *v,
                       char *copies, int64_t first, int64_t end)
{
    const int64_t real_bytes = program->real_bytes;
    const int64_t pitch = side->line_bytes / real_bytes;
    char *columns = (char *)v->re + first * v->stride * real_bytes;

    copies += first * side->reals * real_bytes;
    if (side == &program->copied.in)
        side->copy_dense(copies, columns, pitch, end - first);
    else
        side->copy_dense(columns, copies, pitch, end - first);
}

// Elements first .. end - 1 of lines that are neighbours, a few at a time, to copies or back.
static void copy_elements(const struct cpu_program *program,
                          const struct cpu_copied_side *side, const struct cpu_vectors *v,
                          char *copies, int64_t lines, int64_t first, int64_t end)
{
    const bool is_input = side == &program->copied.in;
    const int64_t real_bytes = program->real_bytes, bytes = side->reals * real_bytes;
    const int64_t pitch = side->line_bytes / real_bytes, stride = v->stride;
    const int64_t at_once = program->copied.widest->lanes / side->reals;

    for (int64_t e = first; e < end; e += ELEMENTS) {
        const int64_t elements = kal_min(ELEMENTS, end - e);
        char *column = (char *)v->re + e * stride * real_bytes,
             *copy = copies + e * bytes;
        for (int64_t i = 0; i < lines; i += at_once) {
            const int count = (int)kal_min(at_once, lines - i);
            const bool is_far = side->is_far && (uintptr_t)column % CPU_LINE_BYTES == 0;
            if (is_input)
                side->copy_columns(copy, pitch, column, stride, elements, count, false);
            else
                side->copy_columns(column, stride, copy, pitch, elements, count, is_far);
            column += at_once * bytes;
            copy += at_once * side->line_bytes;
        }
    }
}

int64_t kal_cpu_columns_count(const struct cpu_copied_side *side)
{
    return (side->count + ELEMENTS - 1) / ELEMENTS;
}

void kal_cpu_columns_run(const struct cpu_program *program,
                         const struct cpu_copied_side *side, const struct cpu_vectors *v,
                         char *copies, int64_t lines, int64_t begin, int64_t end)
{
    const int64_t first = begin * ELEMENTS, last = kal_min(end * ELEMENTS, side->count);

    if (side->copy_dense && !side->is_far)
        copy_dense(program, side, v, copies, first, last);
    else
        copy_elements(program, side, v, copies, lines, first, last);
    if (side->is_far)
        atomic_thread_fence(memory_order_seq_cst);
}

void kal_cpu_columns_copy(const struct cpu_program *program,
                          const struct cpu_copied_side *side, const struct cpu_vectors *v,
                          char *copies, int64_t lines)
{
    const int64_t count = kal_cpu_columns_count(side);

    if (!program->copied.are_shared) {
        kal_cpu_columns_run(program, side, v, copies, lines, 0, count);
        return;
    }
#pragma omp parallel num_threads(program->base.device->caps.threads)
    {
        int64_t begin, end;
        kal_cpu_share(count, omp_get_thread_num(), omp_get_num_threads(), &begin, &end);
        kal_cpu_columns_run(program, side, v, copies, lines, begin, end);
    }
}
