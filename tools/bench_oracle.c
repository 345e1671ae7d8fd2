// SPDX-License-Identifier: MIT
#include "bench_oracle.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "bench_extended.h"
#include "bench_problem.h"

enum {
    CHECKED_POINTS = 2048, // at least, where the batch has them
    FEW_PICKS = 4,         // of transforms that are cheap to check
    CHEAP_POINTS = 1 << 12,
    MAX_REFERENCE_POINTS = 1 << 16, // larger ones: in extended precision
    MAX_EXTENDED_POINTS = 1 << 18,  // larger ones: sampled, if the first axis divides
    MAX_TWO_PICKS = 1 << 24,        // larger ones: the last transform alone
    MAX_STEP = 1 << 12,
    PATH_BYTES = 4096,
};

// --- choosing ---------------------------------------------------------------------------

static int count_picks(int64_t points, int64_t batch)
{
    int64_t picks = CHECKED_POINTS / points;
    if (points <= CHEAP_POINTS && picks < FEW_PICKS)
        picks = FEW_PICKS;
    if (picks < 2)
        picks = points <= MAX_TWO_PICKS ? 2 : 1;
    if (picks > ORACLE_MAX_PICKS)
        picks = ORACLE_MAX_PICKS;
    return (int)(picks < batch ? picks : batch);
}

static void choose_transforms(struct oracle *oracle)
{
    const int64_t batch = oracle->data->out.batch;
    oracle->picks = count_picks(desc_points(oracle->data->desc), batch);
    for (int i = 0; i < oracle->picks; i++)
        oracle->batch[i] =
            oracle->picks == 1 ? batch - 1 : i * (batch - 1) / (oracle->picks - 1);
}

// The smallest divisor of the first axis that leaves little enough; 1: there is none.
static int64_t choose_step(const kallima_desc *desc)
{
    const int64_t points = desc_points(desc);
    for (int64_t step = 2; step <= desc->n[0] && step <= MAX_STEP; step++) {
        if (desc->n[0] % step == 0 && points / step <= MAX_EXTENDED_POINTS)
            return step;
    }
    return 1;
}

static void choose_outputs(struct oracle *oracle)
{
    const kallima_desc *desc = oracle->data->desc;
    const int64_t points = desc_points(desc);
    oracle->step = 1;
    oracle->first = 0;
    oracle->count = oracle->data->out.count;
    oracle->method = points <= MAX_REFERENCE_POINTS ? ERROR_REFERENCE : ERROR_EXTENDED;
    if (points > MAX_EXTENDED_POINTS && desc->kind != KALLIMA_C2R)
        oracle->step = choose_step(desc);
    if (oracle->step > 1) {
        oracle->method = ERROR_SAMPLED;
        oracle->first = 1 + points % 61 % (oracle->step - 1);
        oracle->count = points / oracle->step;
    }
}

// --- computing --------------------------------------------------------------------------

struct input {
    const struct data *data;
    int64_t batch;
};

static struct quad_complex get_input(const void *context, int64_t index)
{
    const struct input *input = context;
    return data_input(input->data, input->batch, index);
}

static int compute(const struct oracle *oracle, int pick)
{
    const kallima_desc *desc = oracle->data->desc;
    struct quad_complex *want = oracle->want + pick * oracle->count;
    const struct input input = { oracle->data, oracle->batch[pick] };
    const int sign = desc->direction == KALLIMA_INVERSE ? 1 : -1;

    if (oracle->method != ERROR_SAMPLED)
        return data_expect(oracle->data, input.batch, oracle->method, want);
    return extended_part(desc->rank, desc->n, sign, oracle->step, oracle->first,
                         get_input, &input, want);
}

// Short transforms side by side; a long one shares out its own work.
static bool compute_all(const struct oracle *oracle)
{
    int status = 0;
#if defined _OPENMP
#pragma omp parallel for schedule(dynamic) \
    reduction(|                            \
              : status) if (oracle->method != ERROR_SAMPLED)
#endif
    for (int i = 0; i < oracle->picks; i++)
        status |= compute(oracle, i);
    return status == 0;
}

// --- keeping it for other processes ------------------------------------------------------

static size_t want_count(const struct oracle *oracle)
{
    return (size_t)(oracle->picks * oracle->count);
}

// A name of the problem, which is the same in place, and of its data. False: nothing is kept.
static bool find_path(const struct oracle *oracle, char *path, size_t capacity)
{
    const char *folder = getenv("KALLIMA_COMPARE_REFERENCES");
    kallima_desc desc = *oracle->data->desc;
    char name[PROBLEM_TEXT];

    if (!folder || !*folder)
        return false;
    desc.placement = KALLIMA_OUT_OF_PLACE;
    problem_print(&desc, name);
    for (char *c = name; *c; c++)
        *c = *c == ' ' ? '-' : *c;
    const int length = snprintf(path, capacity, "%s/%s-%016llx", folder, name,
                                (unsigned long long)oracle->data->seed);
    return length > 0 && (size_t)length < capacity;
}

static bool read_kept(const struct oracle *oracle, const char *path)
{
    const size_t count = want_count(oracle);
    char more;
    FILE *file = fopen(path, "rb");
    if (!file)
        return false;
    const bool ok = fread(oracle->want, sizeof *oracle->want, count, file) == count &&
                    fread(&more, 1, 1, file) == 0 && !ferror(file);
    fclose(file);
    return ok;
}

// Whole or not at all, as another process may read it meanwhile. What cannot be kept is not.
static void keep(const struct oracle *oracle, const char *path)
{
    const size_t count = want_count(oracle);
    char temporary[PATH_BYTES + 32];
    snprintf(temporary, sizeof temporary, "%s.%ld", path, (long)getpid());
    FILE *file = fopen(temporary, "wb");
    if (!file)
        return;
    bool ok = fwrite(oracle->want, sizeof *oracle->want, count, file) == count;
    ok = fclose(file) == 0 && ok;
    if (!ok || rename(temporary, path) != 0)
        remove(temporary);
}

bool oracle_init(struct oracle *oracle, const struct data *data)
{
    char path[PATH_BYTES];

    *oracle = (struct oracle){ .data = data };
    choose_transforms(oracle);
    choose_outputs(oracle);
    const bool is_kept = find_path(oracle, path, sizeof path);
    oracle->want = malloc(want_count(oracle) * sizeof *oracle->want);
    if (oracle->want && is_kept && read_kept(oracle, path))
        return true;
    if (oracle->want && compute_all(oracle)) {
        if (is_kept)
            keep(oracle, path);
        return true;
    }
    oracle_clear(oracle);
    return false;
}

void oracle_clear(struct oracle *oracle)
{
    free(oracle->want);
    *oracle = (struct oracle){ 0 };
}

// --- comparing --------------------------------------------------------------------------

uint64_t oracle_bytes(const struct oracle *oracle)
{
    const struct side *out = &oracle->data->out;
    const int64_t elements = side_locate(out, 0, out->count - 1) + 1;
    return (uint64_t)elements * side_element_bytes(out);
}

uint64_t oracle_offset(const struct oracle *oracle, int pick)
{
    const struct side *out = &oracle->data->out;
    return (uint64_t)side_locate(out, oracle->batch[pick], 0) * side_element_bytes(out);
}

// Which output an expected one is; -1: the half that a real input makes superfluous.
static int64_t find_output(const struct oracle *oracle, int64_t index)
{
    const kallima_desc *desc = oracle->data->desc;
    const struct side *out = &oracle->data->out;
    if (oracle->method != ERROR_SAMPLED)
        return index;

    const int last = desc->rank - 1;
    const int64_t rest = desc_points(desc) / desc->n[0];
    const int64_t full =
        (oracle->first + oracle->step * (index / rest)) * rest + index % rest;
    const int64_t column = full % desc->n[last];
    return column < out->n[last] ? full / desc->n[last] * out->n[last] + column : -1;
}

double oracle_error(const struct oracle *oracle, int pick, void *const outputs[2])
{
    const struct quad_complex *expected = oracle->want + pick * oracle->count;
    const struct side *out = &oracle->data->out;
    struct quad_complex *want = malloc((size_t)oracle->count * sizeof *want);
    struct quad_complex *got = malloc((size_t)oracle->count * sizeof *got);
    int64_t count = 0;

    for (int64_t i = 0; want && got && i < oracle->count; i++) {
        const int64_t index = find_output(oracle, i);
        if (index < 0)
            continue;
        got[count] = side_load(out, outputs, side_locate(out, 0, index));
        want[count++] = expected[i];
    }
    const double error = count > 0 ? reference_error(count, want, got) : NAN;
    free(want);
    free(got);
    return error;
}
