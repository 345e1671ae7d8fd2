// SPDX-License-Identifier: MIT
#include "tune/trial.h"

#include "factor/recipe.h"
#include "tune/fill.h"
#include "tune/lines.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// --- memory ------------------------------------------------------------------------------

static bool is_f64(const struct kal_problem *p)
{
    return p->precision == KALLIMA_F64;
}

static bool overwrites(const struct kal_problem *p)
{
    return p->is_in_place || p->may_destroy_input;
}

// Bytes of each array of a side; in place both sides lie in the same ones.
static uint64_t side_bytes(const struct kal_problem *p, const struct kal_array *array)
{
    const uint64_t in = kal_array_guarded_bytes(&p->in, is_f64(p));
    const uint64_t out = kal_array_guarded_bytes(&p->out, is_f64(p));
    if (p->is_in_place)
        return in > out ? in : out;
    return array == &p->in ? in : out;
}

static uint64_t solid_bytes(const struct kal_problem *p, const struct kal_array *array)
{
    return kal_array_solid_bytes(array, p->rank, p->batch, is_f64(p));
}

// What the elements of a side reach up to, in place those of both.
static uint64_t reach_bytes(const struct kal_problem *p, const struct kal_array *array)
{
    const int64_t own = array->elements * kal_array_reals(array);
    const int64_t in = p->is_in_place ? p->in.elements * kal_array_reals(&p->in) : 0;
    return (uint64_t)(kal_max(own, in) * (is_f64(p) ? 8 : 4));
}

static uint64_t all_bytes(const struct kal_problem *p)
{
    const uint64_t in = side_bytes(p, &p->in) * (uint64_t)kal_array_parts(&p->in);
    const uint64_t out = side_bytes(p, &p->out) * (uint64_t)kal_array_parts(&p->out);
    const uint64_t device = in + (p->is_in_place ? 0 : out) + (overwrites(p) ? in : 0);
    const uint64_t host = in + (in > out ? in : out) + kal_reference_bytes(p);
    return device + host;
}

// The elements that an array of fewer transforms reaches up to.
static int64_t count_elements(const struct kal_array *array, int rank, int64_t batch)
{
    int64_t highest = array->offset + kal_max(0, (batch - 1) * array->batch_stride);
    for (int i = 0; i < rank; i++)
        highest += kal_max(0, (array->n[i] - 1) * array->stride[i]);
    return highest + 1;
}

static struct kal_problem with_batch(const struct kal_problem *problem, int64_t batch)
{
    struct kal_problem p = *problem;
    p.batch = batch;
    p.in.elements = count_elements(&p.in, p.rank, batch);
    p.out.elements = count_elements(&p.out, p.rank, batch);
    return p;
}

static bool fits(const struct kal_problem *problem, int64_t batch, uint64_t limit)
{
    const struct kal_problem p = with_batch(problem, batch);
    return limit == 0 || all_bytes(&p) <= limit;
}

static uint64_t choose_limit(const kallima_device *device,
                             const struct kal_budget *budget)
{
    kallima_device_info info = { .memory_bytes = 0 };
    if (budget->bytes > 0)
        return budget->bytes;
    device->ops->describe(device, &info);
    return info.memory_bytes / 2;
}

// The largest part of the batch that fits.
static kallima_status choose_batch(struct kal_trial *trial,
                                   const struct kal_problem *problem, uint64_t limit)
{
    int64_t low = 1, high = problem->batch;

    const struct kal_problem one = with_batch(problem, 1);
    if (!fits(problem, 1, limit))
        return kal_fail(
            &trial->device->host, KALLIMA_E_MEMORY,
            "tune: budget of %llu bytes; trying one transform of this problem "
            "takes %llu on the device and the host together",
            (unsigned long long)limit, (unsigned long long)all_bytes(&one));
    while (low < high) {
        const int64_t middle = low + (high - low + 1) / 2;
        if (fits(problem, middle, limit))
            low = middle;
        else
            high = middle - 1;
    }
    trial->problem = with_batch(problem, low);
    trial->left_out = problem->batch - low;
    trial->bytes = all_bytes(&trial->problem);
    return KALLIMA_OK;
}

static kallima_status create_arrays(struct kal_trial *trial,
                                    const struct kal_array *array,
                                    struct kal_trial_array *made)
{
    const uint64_t bytes = side_bytes(&trial->problem, array);
    for (int i = 0; i < kal_array_parts(array); i++) {
        KAL_TRY(kallima_buffer_create(&made[i].whole, trial->device, bytes));
        made[i].inside = *made[i].whole;
        made[i].inside.memory.offset += KAL_GUARD_BYTES;
        made[i].inside.bytes -= 2 * KAL_GUARD_BYTES;
    }
    return KALLIMA_OK;
}

// To where executions read it, and from there to where it is kept.
static kallima_status write_input(struct kal_trial *trial)
{
    const uint64_t bytes = trial->input.bytes;
    for (int i = 0; i < trial->input.parts; i++) {
        kallima_buffer *in = trial->in[i].whole, *kept = trial->kept[i];
        KAL_TRY(kallima_buffer_write(in, 0, trial->input.array[i], bytes));
        if (kept)
            KAL_TRY(kallima_buffer_copy(kept, 0, in, 0, bytes));
    }
    trial->is_overwritten = false;
    return KALLIMA_OK;
}

static kallima_status create_kept(struct kal_trial *trial)
{
    for (int i = 0; i < trial->input.parts && overwrites(&trial->problem); i++)
        KAL_TRY(
            kallima_buffer_create(&trial->kept[i], trial->device, trial->input.bytes));
    return KALLIMA_OK;
}

static kallima_status create_images(struct kal_trial *trial)
{
    const struct kal_problem *p = &trial->problem;
    const struct kal_host *host = &trial->device->host;
    const uint64_t in = side_bytes(p, &p->in), out = side_bytes(p, &p->out);
    const int in_parts = kal_array_parts(&p->in), out_parts = kal_array_parts(&p->out);
    const bool in_is_more = in * (uint64_t)in_parts > out * (uint64_t)out_parts;

    KAL_TRY(kal_image_init(&trial->input, host, is_f64(p), in_parts, in));
    // Room for either side: use_as() says for which.
    return kal_image_init(&trial->seen, host, is_f64(p),
                          in_is_more ? in_parts : out_parts, in_is_more ? in : out);
}

static kallima_status create_memory(struct kal_trial *trial)
{
    const struct kal_problem *p = &trial->problem;

    KAL_TRY(create_arrays(trial, &p->in, trial->in));
    if (!p->is_in_place)
        KAL_TRY(create_arrays(trial, &p->out, trial->out));
    return create_kept(trial);
}

static void destroy_memory(struct kal_trial *trial)
{
    for (int i = 0; i < 2; i++) {
        kallima_buffer_destroy(&trial->in[i].whole);
        kallima_buffer_destroy(&trial->out[i].whole);
        kallima_buffer_destroy(&trial->kept[i]);
    }
}

static kallima_status prepare(struct kal_trial *trial, const struct kal_problem *problem,
                              const struct kal_budget *budget)
{
    enum { SEED = 31415926 };
    const struct kal_host *host = &trial->device->host;
    const struct kal_problem *p = &trial->problem;

    KAL_TRY(choose_batch(trial, problem, choose_limit(trial->device, budget)));
    KAL_TRY(create_images(trial));
    KAL_TRY(create_memory(trial));
    kal_image_poison(&trial->input, solid_bytes(p, &p->in));
    kal_reference_fill(&trial->input, p, SEED);
    KAL_TRY(write_input(trial));
    return kal_reference_init(&trial->reference, host, p, &trial->input,
                              kal_device_is_host(trial->device) && is_f64(p));
}

kallima_status kal_trial_create(struct kal_trial **out, kallima_device *device,
                                const struct kal_problem *problem,
                                const struct kal_budget *budget)
{
    void *object;

    *out = NULL;
    KAL_TRY(kal_alloc_object(&device->host, &object, sizeof **out));
    *out = object;
    kal_device_retain(device);
    (*out)->device = device;
    const kallima_status status = prepare(*out, problem, budget);
    if (status)
        kal_trial_destroy(out);
    return status;
}

void kal_trial_destroy(struct kal_trial **out)
{
    struct kal_trial *trial = *out;

    *out = NULL;
    if (!trial)
        return;
    kallima_device *device = trial->device;
    destroy_memory(trial);
    kallima_buffer_destroy(&trial->workspace);
    kal_reference_clear(&trial->reference, &device->host);
    kal_image_clear(&trial->input, &device->host);
    kal_image_clear(&trial->seen, &device->host);
    kal_free(&device->host, trial);
    kal_device_release(device);
}

kallima_status kal_trial_renew_memory(struct kal_trial *trial)
{
    KAL_TRY(kallima_device_finish(trial->device));
    destroy_memory(trial);
    KAL_TRY(create_memory(trial));
    return write_input(trial);
}

// --- running -----------------------------------------------------------------------------

static struct kal_trial_array *outputs(struct kal_trial *trial)
{
    return trial->problem.is_in_place ? trial->in : trial->out;
}

kallima_status kal_trial_reserve(struct kal_trial *trial, const kallima_plan *candidate)
{
    const uint64_t bytes = candidate->built->workspace_bytes;
    const uint64_t has = trial->workspace ? trial->workspace->bytes : 0;

    if (kal_device_is_host(trial->device) || candidate->workspace || bytes <= has)
        return KALLIMA_OK;
    KAL_TRY(kallima_device_finish(trial->device));
    kallima_buffer_destroy(&trial->workspace);
    return kallima_buffer_create(&trial->workspace, trial->device, bytes);
}

static kallima_status gather_arrays(struct kal_trial *trial,
                                    const kallima_plan *candidate,
                                    kallima_device_arrays *arrays)
{
    struct kal_trial_array *in = trial->in, *out = outputs(trial);

    KAL_TRY(kal_trial_reserve(trial, candidate));
    *arrays = (kallima_device_arrays){ 0 };
    arrays->workspace = candidate->workspace ? NULL : trial->workspace;
    trial->is_overwritten = overwrites(&trial->problem);
    for (int i = 0; i < 2; i++) {
        arrays->in[i] = in[i].whole ? &in[i].inside : NULL;
        arrays->out[i] = out[i].whole ? &out[i].inside : NULL;
    }
    return KALLIMA_OK;
}

kallima_status kal_trial_run(struct kal_trial *trial, const kallima_plan *candidate)
{
    kallima_device_arrays arrays;
    KAL_TRY(gather_arrays(trial, candidate, &arrays));
    return kal_plan_execute(candidate, &arrays, NULL);
}

kallima_status kal_trial_run_launch(struct kal_trial *trial,
                                    const kallima_plan *candidate, int launch)
{
    kallima_device_arrays arrays;
    KAL_TRY(gather_arrays(trial, candidate, &arrays));
    return kal_plan_execute_launch(candidate, &arrays, launch);
}

bool kal_trial_overwrites(const struct kal_trial *trial)
{
    return overwrites(&trial->problem);
}

kallima_status kal_trial_restore(struct kal_trial *trial)
{
    for (int i = 0; i < 2; i++) {
        if (trial->kept[i])
            KAL_TRY(kallima_buffer_copy(trial->in[i].whole, 0, trial->kept[i], 0,
                                        trial->input.bytes));
    }
    trial->is_overwritten = false;
    return KALLIMA_OK;
}

int64_t kal_trial_most_runs(const struct kal_trial *trial)
{
    const struct kal_problem *p = &trial->problem;
    const double range = is_f64(p) ? 250.0 : 25.0; // decades up or down
    const double points = kal_problem_points(p) / (double)p->batch;
    const double decades = fabs(log10(fabs(p->scale) * sqrt(points)));

    if (!overwrites(p) || decades < 1e-9)
        return INT64_MAX;
    return kal_max(1, (int64_t)fmin(range / decades, 1e15));
}

// --- checking ----------------------------------------------------------------------------

// Of results that are multiplied by a scale: half an epsilon at most as a mean, and what the
// scale itself is rounded by.
static double scaling_error(const struct kal_problem *p, double epsilon)
{
    const double rounded = is_f64(p) ? p->scale : (double)(float)p->scale;
    return p->scale == 1.0 ? 0.0 : hypot(epsilon / 2.0, rounded / p->scale - 1.0);
}

// Both precisions err, and so does a scale; then four standard deviations of a root of a
// mean over so many numbers.
static double error_bound(const struct kal_problem *p)
{
    const double epsilon = is_f64(p) ? 0x1p-53 : 0x1p-24;
    const double own = kal_reference_bound(p, is_f64(p));
    const double scaled = hypot(own, scaling_error(p, epsilon));
    const double numbers = (double)kal_array_points(&p->out, p->rank) *
                           (double)kal_reference_period(p) * (p->out.is_real ? 1.0 : 2.0);
    return (scaled + kal_reference_bound(p, true)) * (1.0 + 4.0 / sqrt(2.0 * numbers));
}

static struct kal_lines lines_of(const struct kal_trial *trial,
                                 const struct kal_array *array)
{
    const struct kal_problem *p = &trial->problem;
    struct kal_lines lines;
    kal_lines_init(&lines, &trial->seen, array, p->rank, p->batch,
                   trial->reference.period);
    return lines;
}

static double measure_error(const struct kal_trial *trial)
{
    const struct kal_lines lines = lines_of(trial, &trial->problem.out);
    return sqrt(kal_lines_squares(&lines, trial->reference.want) /
                trial->reference.power);
}

// Make the image that of one side: as many arrays, as large.
static void use_as(struct kal_trial *trial, const struct kal_array *array)
{
    struct kal_image *image = &trial->seen;
    image->parts = kal_array_parts(array);
    image->bytes = side_bytes(&trial->problem, array);
    image->array[1] = image->parts == 2 ? image->array[0] + image->bytes : NULL;
}

static kallima_status poison_buffer(kallima_buffer *buffer)
{
    uint32_t poison[4096];

    kal_poison_fill(poison, sizeof poison);
    return kal_buffer_fill(buffer, poison, sizeof poison);
}

static kallima_status poison_output(struct kal_trial *trial)
{
    for (int i = 0; i < 2; i++) {
        if (trial->out[i].whole)
            KAL_TRY(poison_buffer(trial->out[i].whole));
    }
    return KALLIMA_OK;
}

static kallima_status read_back(struct kal_trial *trial, const struct kal_array *array,
                                struct kal_trial_array from[2])
{
    use_as(trial, array);
    for (int i = 0; i < trial->seen.parts; i++)
        KAL_TRY(kallima_buffer_read(from[i].whole, 0, trial->seen.array[i],
                                    trial->seen.bytes));
    return KALLIMA_OK;
}

static void refuse(struct kal_verdict *verdict, const char *reason)
{
    verdict->is_right = false;
    snprintf(verdict->reason, sizeof verdict->reason, "%s", reason);
}

static void poison_elements(const struct kal_trial *trial, const struct kal_array *array)
{
    const struct kal_lines lines = lines_of(trial, array);
    kal_lines_poison(&lines);
}

// Everything but the elements of a side, in place of both, must be poison. If they lie between
// others they become poison first.
static bool is_clean(struct kal_trial *trial, const struct kal_array *array)
{
    const struct kal_problem *p = &trial->problem;
    uint64_t solid = solid_bytes(p, array);

    if (p->is_in_place && solid_bytes(p, &p->in) > solid)
        solid = solid_bytes(p, &p->in);
    if (solid < reach_bytes(p, array)) {
        solid = 0;
        poison_elements(trial, array);
        if (p->is_in_place)
            poison_elements(trial, &p->in);
    }
    return kal_image_is_poison(&trial->seen, solid);
}

static void judge_output(struct kal_trial *trial, struct kal_verdict *verdict)
{
    verdict->error = measure_error(trial);
    if (!is_clean(trial, &trial->problem.out)) {
        refuse(verdict,
               "memory around or between the elements of the output was written");
    } else if (!isfinite(verdict->error)) {
        refuse(verdict,
               "an element of the output is no finite number, or was not written");
    } else if (!(verdict->error <= verdict->bound)) {
        verdict->is_right = false;
        snprintf(verdict->reason, sizeof verdict->reason,
                 "the relative error is %.3g, its bound %.3g", verdict->error,
                 verdict->bound);
    }
}

static void judge_input(struct kal_trial *trial, struct kal_verdict *verdict)
{
    const bool must_keep = !trial->problem.may_destroy_input;
    if (must_keep && !kal_image_equals(&trial->seen, &trial->input))
        refuse(verdict,
               "the input, or memory around or between its elements, was written");
    if (!must_keep && !is_clean(trial, &trial->problem.in))
        refuse(verdict, "memory around or between the elements of the input was written");
}

static void log_wrong(const struct kal_trial *trial, const kallima_plan *candidate,
                      const struct kal_verdict *verdict)
{
    const struct kal_host *host = &trial->device->host;
    struct kal_text text;

    kal_text_init(&text, host);
    kal_recipe_print(&text, candidate->recipe);
    kal_text_add(&text, ", for ");
    kal_problem_print(&text, &trial->problem);
    kal_fail(host, KALLIMA_E_DEVICE, "tune: a candidate is wrong on this device: %s: %s",
             verdict->reason, text.status ? "no memory for its recipe" : text.data);
    kal_text_clear(&text);
}

static kallima_status run_once(struct kal_trial *trial, const kallima_plan *candidate)
{
    if (trial->is_overwritten)
        KAL_TRY(kal_trial_restore(trial));
    KAL_TRY(poison_output(trial));
    KAL_TRY(kal_trial_run(trial, candidate));
    return kallima_device_finish(trial->device);
}

// Whoever is next finds the input whole.
static kallima_status leave(struct kal_trial *trial, const kallima_plan *candidate,
                            const struct kal_verdict *verdict)
{
    if (verdict->is_right)
        return kal_trial_restore(trial);
    log_wrong(trial, candidate, verdict);
    return write_input(trial);
}

static bool is_for(const struct kal_problem *p, const kallima_plan *candidate)
{
    const struct kal_problem *q = &candidate->problem;
    return q->kind == p->kind && q->precision == p->precision &&
           q->is_inverse == p->is_inverse && q->is_in_place == p->is_in_place &&
           q->rank == p->rank && memcmp(q->n, p->n, sizeof q->n) == 0 &&
           q->batch == p->batch && q->in.elements == p->in.elements &&
           q->out.elements == p->out.elements;
}

kallima_status kal_trial_check(struct kal_trial *trial, const kallima_plan *candidate,
                               struct kal_verdict *verdict)
{
    const struct kal_problem *p = &trial->problem;
    const struct kal_host *host = &trial->device->host;

    KAL_REQUIRE(host, candidate->device == trial->device);
    KAL_REQUIRE(host, is_for(p, candidate));
    *verdict = (struct kal_verdict){ .is_right = true,
                                     .is_whole = true,
                                     .bound = error_bound(p) };
    KAL_TRY(run_once(trial, candidate));
    KAL_TRY(read_back(trial, &p->out, outputs(trial)));
    judge_output(trial, verdict);
    if (verdict->is_right && !p->is_in_place) {
        KAL_TRY(read_back(trial, &p->in, trial->in));
        judge_input(trial, verdict);
    }
    return leave(trial, candidate, verdict);
}

// --- glancing ----------------------------------------------------------------------------

enum {
    FEW_BYTES = 32 << 20, // of the output, which are checked as fast as a sample of them
    PIECES = 64,
};

// The first, the last that is not empty, and others by chance.
static int64_t choose_piece(const struct kal_lines *lines, int i)
{
    const uint64_t chance = (uint64_t)i * 0x9e3779b97f4a7c15u >> 16;
    struct kal_stretch stretch[2];
    int64_t last = lines->pieces - 1;

    if (i != 1)
        return i == 0 ? 0 : (int64_t)(chance % (uint64_t)lines->pieces);
    while (last > 0 && kal_lines_stretch(lines, last, stretch) == 0)
        last--;
    return last;
}

static kallima_status read_piece(struct kal_trial *trial, const struct kal_lines *lines,
                                 int64_t piece)
{
    struct kal_stretch stretch[2];
    const int count = kal_lines_stretch(lines, piece, stretch);

    for (int i = 0; i < count; i++)
        KAL_TRY(kallima_buffer_read(
            outputs(trial)[stretch[i].array].whole, stretch[i].offset,
            trial->seen.array[stretch[i].array] + stretch[i].offset, stretch[i].bytes));
    return KALLIMA_OK;
}

// The error of a sample, as if all elements had the mean power.
static kallima_status sample_error(struct kal_trial *trial, double *error)
{
    const struct kal_lines lines = lines_of(trial, &trial->problem.out);
    double squares = 0.0;
    int64_t count = 0;

    for (int i = 0; i < PIECES; i++) {
        const int64_t piece = choose_piece(&lines, i);
        KAL_TRY(read_piece(trial, &lines, piece));
        squares += kal_lines_squares_of(&lines, piece, trial->reference.want, &count);
    }
    *error = sqrt(squares / trial->reference.power * (double)lines.elements /
                  (double)kal_max(1, count));
    return KALLIMA_OK;
}

static bool is_worth_a_glance(const struct kal_trial *trial)
{
    const struct kal_problem *p = &trial->problem;
    const struct kal_lines lines = lines_of(trial, &p->out);
    return kal_lines_are_dense(&lines) && reach_bytes(p, &p->out) > FEW_BYTES;
}

kallima_status kal_trial_glance(struct kal_trial *trial, const kallima_plan *candidate,
                                struct kal_verdict *verdict)
{
    static const double UNEVEN = 2.0; // errors and powers of a sample are not the mean's
    const struct kal_problem *p = &trial->problem;

    KAL_REQUIRE(&trial->device->host, candidate->device == trial->device);
    KAL_REQUIRE(&trial->device->host, is_for(p, candidate));
    if (!is_worth_a_glance(trial))
        return kal_trial_check(trial, candidate, verdict);
    *verdict = (struct kal_verdict){ .bound = UNEVEN * error_bound(p) };
    use_as(trial, &p->out);
    KAL_TRY(run_once(trial, candidate));
    KAL_TRY(sample_error(trial, &verdict->error));
    verdict->is_right = verdict->error <= verdict->bound;
    if (verdict->is_right)
        return kal_trial_restore(trial);
    KAL_TRY(write_input(trial)); // an earlier one may have written there, unseen
    return kal_trial_check(trial, candidate, verdict);
}
