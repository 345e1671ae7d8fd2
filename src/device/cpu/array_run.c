// SPDX-License-Identifier: MIT
// Running arrays: steps one after the other or part by part, while the next array is
// asked for and what is done leaves the caches.
#include "device/cpu/array.h"

#include "device/cpu/line.h"
#include "device/cpu/short.h"

enum { PAIR = 2 }; // reals of a number
// Lines that are worked while something is asked for: a multiple of what registers hold.
enum { ASKING_LINES = 16 };

// Field by field, as it is used at once.
static inline void set_parts(struct cpu_vectors *v, char *re, char *im, int64_t stride)
{
    v->re = re;
    v->im = im;
    v->stride = stride;
    v->ahead = 0;
}

// One side of an axis, from `first` on.
static inline void set_vectors(struct cpu_vectors *v, const struct cpu_axis *axis,
                               char *first, int64_t stride, int64_t part_bytes)
{
    set_parts(v, first + (axis->is_swapped ? part_bytes : 0),
              first + (axis->is_swapped ? 0 : part_bytes), stride);
}

// What of the next array is asked for with each few lines of an axis.
struct asking {
    const char *at, *end;
    int64_t bytes;
    bool asks_nearest;
};

static inline struct asking ask_for_next(const struct cpu_program *program,
                                         const char *array)
{
    const char *next = array + program->in.line;
    return (struct asking){ next, next + program->array.in_bytes,
                            program->array.ask_bytes, program->asks_nearest };
}

static inline void ask(struct asking *a)
{
    for (int64_t i = 0; i < a->bytes && a->at < a->end; i += CPU_LINE_BYTES) {
        kal_cpu_ask(a->at, a->asks_nearest);
        a->at += CPU_LINE_BYTES;
    }
}

// Lines that each of what `run` counts is, and how many of these are worked at a time
// while something is asked for.
static inline int64_t lines_of_one(const struct cpu_part *part)
{
    return part->count == part->lines ? 1 : part->at_once;
}

static inline int64_t rows_at_a_time(const struct cpu_part *part)
{
    return kal_max(1, ASKING_LINES / lines_of_one(part));
}

// All at once, where nothing is asked for, which `a` is NULL for.
static inline void run_rows(const struct cpu_axis *axis, char *from, char *to,
                            int64_t part_bytes, struct asking *a)
{
    struct cpu_vectors x, y;

    for (int i = 0; i < axis->rows.part_count; i++) {
        const struct cpu_part *part = &axis->rows.part[i];
        const int64_t most = a ? rows_at_a_time(part) : part->count,
                      step = a ? lines_of_one(part) * part_bytes : 0;
        for (int64_t done = 0; done < part->count; done += most) {
            if (a)
                ask(a);
            set_vectors(&x, axis, from + part->in + done * step * axis->in_stride,
                        axis->in_stride, part_bytes);
            set_vectors(&y, axis, to + part->out + done * step * axis->out_stride,
                        axis->out_stride, part_bytes);
            part->run(&x, &y, kal_min(most, part->count - done), 1.0, false);
        }
    }
}

// How many of many lines come before the first one that begins on a line of the caches,
// as it then does in all rows. Stored from there on 32 arrays of 32x32x32 doubles take
// 0.72 of the time on a Zen 5 processor, measured in November 2026. Some lines are worked
// twice then, which cannot be in place.
static inline int64_t find_lead(const struct cpu_axis *axis, const char *to,
                                int64_t part_bytes)
{
    enum { MANY_LINES = 64 };
    return !axis->is_in_place && axis->lines >= MANY_LINES &&
                   axis->out_stride * part_bytes % CPU_LINE_BYTES == 0
               ? kal_cpu_count_before_line(to, PAIR * part_bytes)
               : 0;
}

// Some of the lines, from and to rows that are so many reals apart.
static inline void work_beside(const struct cpu_axis *axis, char *from, int64_t in_stride,
                               char *to, int64_t out_stride, int64_t lines,
                               int64_t part_bytes)
{
    struct cpu_vectors x, y;

    set_vectors(&x, axis, from, in_stride, part_bytes);
    set_vectors(&y, axis, to, out_stride, part_bytes);
    axis->beside(&x, &y, axis->m, axis->s, lines, axis->table);
}

static inline void run_beside(const struct cpu_axis *axis, char *from, char *to,
                              int64_t part_bytes, struct asking *a)
{
    const int64_t lead = find_lead(axis, to, part_bytes), pair_bytes = PAIR * part_bytes;

    for (int64_t done = 0, lines, step; done < axis->lines; done += step) {
        const int64_t left = axis->lines - done;
        const bool is_lead = done == 0 && lead > 0;
        if (is_lead)
            lines = kal_max(lead, axis->numbers); // those behind it are worked twice
        else
            lines = !a || left < 2 * ASKING_LINES ? left : ASKING_LINES;
        step = is_lead ? lead : lines;
        if (a)
            ask(a);
        work_beside(axis, from + done * pair_bytes, axis->in_stride,
                    to + done * pair_bytes, axis->out_stride, lines, part_bytes);
    }
}

// Lines by one step and the next one, a few at a time by way of `tile`: what is read may
// be what is written.
static void run_joined(const struct cpu_axis *axis, char *from, char *to, char *tile,
                       int64_t part_bytes, struct asking *a)
{
    const struct cpu_axis *next = axis + 1;
    const int64_t pair_bytes = PAIR * part_bytes,
                  pitch = PAIR * kal_min(ASKING_LINES, axis->lines);

    for (int64_t g = 0; g < axis->groups * axis->times; g++) {
        char *x =
            from + g % axis->groups * axis->in_group + g / axis->groups * axis->in_time;
        char *y =
            to + g % axis->groups * next->out_group + g / axis->groups * next->out_time;
        for (int64_t done = 0, lines; done < axis->lines; done += lines) {
            lines = kal_min(ASKING_LINES, axis->lines - done);
            if (a) {
                ask(a);
                ask(a);
            }
            work_beside(axis, x + done * pair_bytes, axis->in_stride, tile, pitch, lines,
                        part_bytes);
            work_beside(next, tile, pitch, y + done * pair_bytes, next->out_stride, lines,
                        part_bytes);
        }
    }
}

// Groups of columns that have nothing between them, by way of copies.
static void run_columns(const struct cpu_program *program, const struct cpu_axis *axis,
                        const char *from, char *to, char *copies, struct asking *a)
{
    const int64_t step = program->array.column_bytes, pitch = step / program->real_bytes;

    for (int64_t i = 0; i < axis->groups; i++) {
        axis->part(copies, from, pitch, axis->m);
        for (int64_t k = 0; k < axis->lines; k++) {
            if (a)
                ask(a);
            axis->row->run_pair(axis->row, copies + k * step, copies + k * step);
        }
        axis->join(to, copies, pitch, axis->m);
        from += axis->in_group;
        to += axis->out_group;
    }
}

// Groups of rows that are worked one by one.
static inline void run_lines(const struct cpu_axis *axis, char *from, char *to,
                             int64_t real_bytes, struct asking *a)
{
    const int64_t in_bytes = axis->in_stride * real_bytes,
                  out_bytes = axis->out_stride * real_bytes;

    for (int64_t i = 0; i < axis->groups; i++) {
        const char *line = from + i * axis->in_group;
        char *out = to + i * axis->out_group;
        for (int64_t k = 0; k < axis->lines; k++, line += in_bytes, out += out_bytes) {
            if (a)
                ask(a);
            axis->row->run_pair(axis->row, line, out);
        }
    }
}

static inline void run_groups(const struct cpu_axis *axis, char *from, char *to,
                              int64_t part_bytes, struct asking *a)
{
    for (int64_t i = 0; i < axis->groups; i++) {
        (axis->beside ? run_beside : run_rows)(axis, from, to, part_bytes, a);
        from += axis->in_group;
        to += axis->out_group;
    }
}

static inline void run_axis(const struct cpu_program *program,
                            const struct cpu_axis *axis, char *from, char *to,
                            char *copies, struct asking *a)
{
    const int64_t part_bytes = program->real_bytes;

    for (int64_t i = 0; i < axis->times; i++) {
        if (axis->part)
            run_columns(program, axis, from, to, copies, a);
        else if (axis->row)
            run_lines(axis, from, to, part_bytes, a);
        else
            run_groups(axis, from, to, part_bytes, a);
        from += axis->in_time;
        to += axis->out_time;
    }
}

// Steps part by part. What is between them is where the first part would be, in tiles by
// turns: it has been read by then.
static inline char *run_blocks(const struct cpu_program *program, char *from, char *to,
                               char *const tile[2], struct asking *a)
{
    const struct cpu_array *array = &program->array;
    const struct cpu_array_blocks *blocks = &array->blocks;
    const int last = blocks->end - 1;
    char *out = last + 1 == array->axis_count ? to : tile[last % 2];

    for (int64_t b = 0; b < blocks->count; b++) {
        char *at = from + b * blocks->in_step;
        for (int i = blocks->first; i <= last; i++) {
            char *next = i == last ? out + b * blocks->out_step : tile[i % 2];
            run_axis(program, &blocks->axis[i - blocks->first], at, next, NULL, a);
            at = next;
        }
    }
    return out;
}

// The first `count` steps. Returns where they end: in `to` if they are all or work in
// place, else in a tile.
static inline char *run_axes(const struct cpu_program *program, int count, char *from,
                             char *to, char *const tile[2], struct asking *a)
{
    const struct cpu_array *array = &program->array;
    char *const copies = tile[0] + array->column_at;

    for (int i = 0; i < count; i++) {
        char *next = array->is_in_place || i + 1 == array->axis_count ? to : tile[i % 2];
        if (array->blocks.count > 0 && i == array->blocks.first) {
            from = run_blocks(program, from, to, tile, a);
            i = array->blocks.end - 1;
            continue;
        }
        if (array->axis[i].joins_next) {
            next =
                array->is_in_place || i + 2 == array->axis_count ? to : tile[(i + 1) % 2];
            run_joined(&array->axis[i], from, next, tile[i % 2], program->real_bytes, a);
            from = next;
            i++;
            continue;
        }
        run_axis(program, &array->axis[i], from, next, copies, a);
        from = next;
    }
    return from;
}

static int64_t count_asks(const struct cpu_axis *axis)
{
    const int64_t groups = axis->groups * axis->times;
    int64_t count = 0;

    if (axis->row)
        return groups * axis->lines;
    if (axis->beside)
        return groups * kal_max(1, axis->lines / ASKING_LINES);
    for (int i = 0; i < axis->rows.part_count; i++) {
        const struct cpu_part *part = &axis->rows.part[i];
        count += (part->count + rows_at_a_time(part) - 1) / rows_at_a_time(part);
    }
    return groups * count;
}

void kal_cpu_array_ask(struct cpu_array *array, int64_t bytes)
{
    int64_t count = 0;
    for (int i = 0; i < array->axis_count; i++)
        count += count_asks(&array->axis[i]);
    array->call_count = 0;
    array->in_bytes = bytes;
    array->ask_bytes = kal_round_up((bytes + count - 1) / count, CPU_LINE_BYTES);
}

static inline void run_calls(const struct cpu_array *array, char *const place[])
{
    struct cpu_vectors x, y;

    for (const struct cpu_array_call *call = array->call, *end = call + array->call_count;
         call < end; call++) {
        char *from = place[call->from] + call->in, *to = place[call->to] + call->out;
        set_parts(&x, from + array->re, from + array->im, call->in_stride);
        set_parts(&y, to + array->re, to + array->im, call->out_stride);
        if (call->rows)
            call->rows(&x, &y, call->lines, 1.0, false);
        else
            call->beside(&x, &y, call->m, call->s, call->lines, call->table);
    }
}

// From one tile to the other, so that no axis writes what it reads, if registers overlap
// as lines do not fill them.
void kal_cpu_array_run(const struct cpu_program *program, const struct cpu_vectors *x,
                       const struct cpu_vectors *y, char *workspace)
{
    const struct cpu_array *array = &program->array;
    const int count = array->axis_count;
    char *const tile[2] = { workspace, workspace + program->tile_bytes / 2 };
    char *from = kal_cpu_leading(x), *to = kal_cpu_leading(y);

    if (array->call_count > 0) {
        char *const place[CPU_ARRAY_PLACES] = {
            [CPU_ARRAY_IN] = from,
            [CPU_ARRAY_TILE] = tile[0],
            [CPU_ARRAY_OTHER_TILE] = tile[1],
            [CPU_ARRAY_OUT] = to,
        };
        run_calls(array, place);
    } else if (array->ask_bytes > 0) {
        struct asking a = ask_for_next(program, from);
        run_axes(program, count, from, to, tile, &a);
    } else {
        run_axes(program, count, from, to, tile, NULL);
    }
}

// Reals from a row of the copy to the next one: there is room before what begins on no
// line of the caches, and for more lines than these, in front of such a line and where
// too few to fill a register would be left.
static int64_t copy_pitch(const struct cpu_program *program)
{
    enum { LINES_MORE = 3 }; // of the caches
    return PAIR * ASKING_LINES + LINES_MORE * CPU_LINE_BYTES / program->real_bytes;
}

int64_t kal_cpu_array_copy_bytes(const struct cpu_program *program)
{
    return copy_pitch(program) * program->array.leaving_rows * program->real_bytes;
}

// Some lines of the last step from the copy to where they belong.
static void leave_lines(const struct cpu_program *program, char *to, char *copy,
                        int64_t lines)
{
    const struct cpu_array *array = &program->array;
    const struct cpu_kernels *kernels = program->pass[0].widest;
    const int64_t real_bytes = program->real_bytes, reals = PAIR * lines;
    const int64_t stride = array->axis[array->axis_count - 1].out_stride,
                  pitch = copy_pitch(program), rows = array->leaving_rows;

    if (program->row_scale != 1.0) {
        for (int64_t e = 0; e < rows; e++)
            kernels->rows->scale(copy + e * pitch * real_bytes, program->row_scale,
                                 reals);
    }
    if (((uintptr_t)to | (uintptr_t)(reals * real_bytes)) % CPU_LINE_BYTES == 0) {
        kernels->stream_pieces(to, stride, copy, pitch, reals, rows);
        return;
    }
    for (int64_t e = 0; e < rows; e++)
        kernels->stream(to + e * stride * real_bytes, copy + e * pitch * real_bytes,
                        reals);
}

static bool joins_last(const struct cpu_array *array)
{
    return array->axis_count > 1 && array->axis[array->axis_count - 2].joins_next;
}

// The last step, or two that are joined by way of `between`, some lines at a time, of
// which all but the first begin on lines of the caches, if numbers do.
static void run_leaving(const struct cpu_program *program, char *from, char *to,
                        char *copy, char *between, struct asking *a)
{
    const struct cpu_array *array = &program->array;
    const struct cpu_axis *axis = &array->axis[array->axis_count - 1];
    const struct cpu_axis *before = joins_last(array) ? axis - 1 : NULL;
    const int64_t part_bytes = program->real_bytes, pair_bytes = PAIR * part_bytes;
    const int64_t lead = kal_cpu_count_before_line(to, pair_bytes);
    const int64_t pitch = before ? PAIR * 2 * ASKING_LINES : axis->in_stride;

    for (int64_t done = 0, lines; done < axis->lines; done += lines) {
        char *x = from + done * pair_bytes, *y = to + done * pair_bytes,
             *first = copy + (uintptr_t)y % CPU_LINE_BYTES;
        lines = ASKING_LINES + (done == 0 ? lead : 0);
        if (axis->lines - done - lines < axis->numbers)
            lines = axis->lines - done;
        ask(a);
        if (before) {
            ask(a);
            work_beside(before, x, before->in_stride, between, pitch, lines, part_bytes);
            x = between;
        }
        work_beside(axis, x, pitch, first, copy_pitch(program), lines, part_bytes);
        leave_lines(program, y, first, lines);
    }
}

void kal_cpu_array_run_past(const struct cpu_program *program,
                            const struct cpu_vectors *x, const struct cpu_vectors *y,
                            char *workspace, char *copy)
{
    const struct cpu_array *array = &program->array;
    const int count = array->axis_count - 1 - joins_last(array);
    char *const tile[2] = { workspace, workspace + program->tile_bytes / 2 };
    char *from = kal_cpu_leading(x), *to = kal_cpu_leading(y);
    struct asking a = ask_for_next(program, from);

    from = run_axes(program, count, from, tile[0], tile, &a);
    run_leaving(program, from, to, copy, from == tile[0] ? tile[1] : tile[0], &a);
}

// A worker's share of rows.
static void share_rows(struct cpu_batch *rows, const struct cpu_worker *worker)
{
    for (int i = 0; i < rows->part_count; i++)
        rows->part[i] = kal_cpu_part_share(rows, i, worker->real_bytes, worker->part,
                                           worker->part + 1, worker->parts);
}

// Its share of lines beside each other.
static void share_lines(struct cpu_axis *axis, const struct cpu_worker *worker,
                        char **from, char **to)
{
    int64_t begin, end;

    kal_cpu_share_registers(axis->lines, axis->numbers, worker->part, worker->parts,
                            &begin, &end);
    *from += begin * PAIR * worker->real_bytes;
    *to += begin * PAIR * worker->real_bytes;
    axis->lines = end - begin;
    if (begin == end)
        axis->groups = 0;
}

// Its share of rows that are worked one by one.
static void share_single_rows(struct cpu_axis *axis, const struct cpu_worker *worker,
                              char **from, char **to)
{
    int64_t begin, end;

    kal_cpu_share(axis->lines, worker->part, worker->parts, &begin, &end);
    *from += begin * axis->in_stride * worker->real_bytes;
    *to += begin * axis->out_stride * worker->real_bytes;
    axis->lines = end - begin;
}

// A worker's share of an axis: of its groups, if they are enough, or of the lines of each.
static void share_axis(struct cpu_axis *axis, const struct cpu_worker *worker,
                       char **from, char **to)
{
    int64_t begin, end;

    if (axis->groups < worker->parts && axis->beside) {
        share_lines(axis, worker, from, to);
    } else if (axis->groups < worker->parts && axis->row) {
        share_single_rows(axis, worker, from, to);
    } else if (axis->groups < worker->parts) {
        share_rows(&axis->rows, worker);
    } else {
        kal_cpu_share(axis->groups, worker->part, worker->parts, &begin, &end);
        *from += begin * axis->in_group;
        *to += begin * axis->out_group;
        axis->groups = end - begin;
    }
}

void kal_cpu_array_share(const struct cpu_program *program, const struct cpu_vectors *x,
                         const struct cpu_vectors *y, struct cpu_worker *worker)
{
    const struct cpu_array *array = &program->array;
    const int last = array->axis_count - 1;
    char *const tile[2] = { worker->common_tile,
                            worker->common_tile + program->tile_bytes / 2 };

    for (int i = 0; i <= last; i++) {
        struct cpu_axis axis = array->axis[i];
        char *from = i == 0 ? kal_cpu_leading(x) : tile[(i - 1) % 2];
        char *to = i == last ? kal_cpu_leading(y) : tile[i % 2];
        kal_cpu_begin(worker);
        share_axis(&axis, worker, &from, &to);
        run_axis(program, &axis, from, to, NULL, NULL); // no columns by way of copies
    }
}
