// SPDX-License-Identifier: MIT
#include "conduct.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "bench_job.h"
#include "bench_selector.h"
#include "progress.h"

// A contestant at work on the case at hand.
struct entrant {
    struct conducting *conducting;
    struct contestant *one;
    struct progress *progress;
    struct row row;
    struct timing timing[BENCH_STEP_COUNT];
    double spent_ns; // by its answers
    bool is_ready;
};

// One step of it as a contender of bench_sample.h.
struct lane {
    struct entrant *entrant;
    enum bench_step step;
};

// The case at hand.
struct bout {
    const struct compare_case *one;
    struct progress progress;
    struct entrant entrant[MAX_CONTESTANTS];
    int count;
};

enum { LANES = 3 * MAX_CONTESTANTS };
_Static_assert((int)LANES <= (int)SAMPLE_MAX_CONTENDERS, "all steps of all take turns");

// --- rows -------------------------------------------------------------------------------

static void set_case(struct row *row, const struct cases *cases,
                     const struct compare_case *one)
{
    const kallima_desc *desc = &one->desc;
    const bool inverse = desc->kind == KALLIMA_C2R || desc->direction == KALLIMA_INVERSE;
    char layout[PROBLEM_TEXT];
    record_clear(RECORD_ROW, row);
    strcpy(row->group, cases->group[one->group].id);
    strcpy(row->variant, one->variant);
    strcpy(row->asked, one->recipe);
    strcpy(row->kind, problem_kinds[desc->kind]);
    strcpy(row->precision, problem_precisions[desc->precision]);
    problem_print_lengths(desc, row->lengths);
    strcpy(row->direction, inverse ? "inverse" : "forward");
    strcpy(row->placement,
           desc->placement == KALLIMA_IN_PLACE ? "in-place" : "out-of-place");
    problem_print_layout(desc, layout);
    snprintf(row->layout, sizeof row->layout, "%.60s", layout[0] ? layout + 1 : "");
    row->batch = (double)desc_batch(desc);
    row->ok = 0;
    row->unsupported = 0;
}

static void fail_row(struct row *row, const char *why)
{
    if (!row->failed[0])
        snprintf(row->failed, sizeof row->failed, "%.300s", why);
}

static void set_prepared(struct row *row, const struct json *json)
{
    row->plan_ms = json_number(json, "plan_ms");
    row->replan_ms = json_number(json, "replan_ms");
    row->first_ms = json_number(json, "first_ms");
    row->bytes = json_number(json, "bytes");
    row->bytes_moved = json_number(json, "bytes_moved");
    row->passes = json_number(json, "passes");
    row->error = json_number(json, "error");
    row->error_bound = json_number(json, "error_bound");
    snprintf(row->error_by, sizeof row->error_by, "%s", json_text(json, "error_by"));
    snprintf(row->used, sizeof row->used, "%s", json_text(json, "used"));
    snprintf(row->recipe, sizeof row->recipe, "%s", json_text(json, "recipe"));
}

static double median_ms(const struct timing *timing)
{
    return timing->samples > 0 ? 1e-6 * timing->stats.median : NAN;
}

static double spread_of(const struct timing *timing)
{
    return timing->samples > 0 ? timing->stats.spread : NAN;
}

static void set_times(struct entrant *entrant, const struct bout *bout)
{
    const struct timing *timing = entrant->timing, *run = &timing[BENCH_RUN];
    struct row *row = &entrant->row;
    if (run->samples == 0)
        return;
    row->median_ms = median_ms(run);
    row->min_ms = 1e-6 * run->stats.min;
    row->spread = run->stats.spread;
    row->samples = run->samples;
    row->executions = (double)run->executions;
    row->beside = bout->count;
    row->gflops = desc_gflops(&bout->one->desc, run->stats.median);
    row->write_ms = median_ms(&timing[BENCH_WRITE]);
    row->write_spread = spread_of(&timing[BENCH_WRITE]);
    row->read_ms = median_ms(&timing[BENCH_READ]);
    row->read_spread = spread_of(&timing[BENCH_READ]);
    row->total_ms = median_ms(&timing[BENCH_TOTAL]);
    row->total_spread = spread_of(&timing[BENCH_TOTAL]);
    row->ok = !row->failed[0] &&
              (!contestant_is_kallima(entrant->one) || row->error <= row->error_bound);
}

// Some interfaces add their own to the name: "NVIDIA H200/PCIe/SSE2".
static bool is_same_device(const struct entrant *a, const struct entrant *b)
{
    const char *one = a->one->about.device, *other = b->one->about.device;
    const size_t length = strcspn(one, "/");
    return length == strcspn(other, "/") && strncmp(one, other, length) == 0;
}

// A copy is the device's, whoever made it: of several interfaces' the fastest.
static void set_copies(struct bout *bout)
{
    for (int i = 0; i < bout->count; i++) {
        struct row *row = &bout->entrant[i].row;
        for (int k = 0; k < bout->count; k++) {
            const struct entrant *other = &bout->entrant[k];
            if (other->timing[BENCH_COPY].samples > 0 &&
                is_same_device(other, &bout->entrant[i]))
                row->copy_ms = fmin(row->copy_ms, median_ms(&other->timing[BENCH_COPY]));
        }
        row->x_copy = row->copy_ms / row->median_ms;
    }
}

// --- one case ---------------------------------------------------------------------------

// Recipes are for Kallima's kernels.
static bool applies(const struct contestant *one, const struct compare_case *what)
{
    return !one->is_out &&
           (!what->recipe[0] ||
            (contestant_is_kallima(one) && strcmp(one->about.selector, "cpu") != 0));
}

// Whether it has no row of the case yet, or one that is due again.
static bool lacks_row(const struct results *results, const struct row *row)
{
    const struct row *known = results_find(results, row->technology, row);
    return !known || known->is_due;
}

// Who has to measure the case.
static void fill_bout(struct conducting *conducting, struct bout *bout,
                      const struct compare_case *one)
{
    bout->one = one;
    bout->count = 0;
    for (int i = 0; i < conducting->contest->count; i++) {
        struct contestant *contestant = &conducting->contest->one[i];
        struct entrant *entrant = &bout->entrant[bout->count];
        *entrant = (struct entrant){ .conducting = conducting,
                                     .one = contestant,
                                     .progress = &bout->progress };
        set_case(&entrant->row, conducting->cases, one);
        strcpy(entrant->row.technology, contestant->about.id);
        if (applies(contestant, one) && lacks_row(conducting->results, &entrant->row))
            bout->count++;
    }
}

static bool is_same_technology(const struct technology *a, const struct technology *b)
{
    return strcmp(a->device, b->device) == 0 && strcmp(a->driver, b->driver) == 0 &&
           strcmp(a->version, b->version) == 0 && strcmp(a->flags, b->flags) == 0 &&
           (a->threads == b->threads || !(a->threads > 0));
}

// Its first answer goes into the results; what is there already must be of the same.
static bool introduce(struct conducting *conducting, const struct technology *about)
{
    struct results *results = conducting->results;
    const struct technology *known = results_find_technology(results, about->id);
    const bool is_new = !known || known->failed[0];
    if (is_new && !results_add(results, RECORD_TECHNOLOGY, about)) {
        cli_fail("no memory left");
        return false;
    }
    if (is_new || is_same_technology(known, about))
        return true;
    cli_fail("the results there are of another %s (%s, %s, %s): choose another --out",
             about->id, known->driver, known->version, known->flags);
    return false;
}

// What takes no part is told, and stands in the results.
static bool leave_out(struct conducting *conducting, const struct contestant *one,
                      const char *why)
{
    struct technology about = one->about;
    cli_fail("%s is left out: %s", about.id, why);
    if (results_find_technology(conducting->results, about.id))
        return true;
    snprintf(about.failed, sizeof about.failed, "%.300s", why);
    return introduce(conducting, &about);
}

static bool ask(struct entrant *entrant, const char *question, struct json *json,
                char *why, size_t capacity)
{
    const double start = sample_now_ns();
    const bool ok = contestant_ask(entrant->conducting->contest, entrant->one, question,
                                   json, why, capacity);
    entrant->spent_ns += sample_now_ns() - start;
    return ok;
}

// All of its answers together took as long as one may.
static bool has_no_time(const struct entrant *entrant)
{
    return entrant->spent_ns >= 1e9 * entrant->conducting->contest->limit_s;
}

// Returns false if the comparison cannot go on.
static bool prepare(struct entrant *entrant, const char *question)
{
    struct conducting *conducting = entrant->conducting;
    struct contestant *one = entrant->one;
    const bool is_new = !one->has_answered;
    struct json json;
    char why[512];

    if (!contestant_start(conducting->contest, one, why, sizeof why)) {
        fail_row(&entrant->row, why);
        return !one->is_out || leave_out(conducting, one, why);
    }
    if (is_new && !introduce(conducting, &one->about))
        return false;
    entrant->is_ready = ask(entrant, question, &json, why, sizeof why);
    if (entrant->is_ready) {
        set_prepared(&entrant->row, &json);
    } else {
        fail_row(&entrant->row, why);
        entrant->row.unsupported = json_find(&json, "unsupported") != NULL;
    }
    return true;
}

static double take(void *self, int64_t executions)
{
    const struct lane *lane = self;
    struct entrant *entrant = lane->entrant;
    struct json json;
    char question[64], why[512];
    if (!entrant->is_ready)
        return -1;
    progress_step(entrant->progress, 0);
    snprintf(question, sizeof question, "sample %s %lld", bench_step_names[lane->step],
             (long long)executions);
    if (ask(entrant, question, &json, why, sizeof why)) {
        const double ns = json_number(&json, "ns");
        return ns >= 0 ? ns : -1;
    }
    if (lane->step == BENCH_RUN || !entrant->one->child.pid) {
        fail_row(&entrant->row, why);
        entrant->is_ready = false;
    }
    return -1;
}

static bool is_over(void *self)
{
    const struct lane *lane = self;
    return has_no_time(lane->entrant);
}

// The copy is made by one of each device; the processor has no transfers.
static bool takes_step(const struct entrant *entrant, enum bench_step step)
{
    if (step == BENCH_RUN || !entrant->is_ready)
        return entrant->is_ready;
    if (has_no_time(entrant))
        return false;
    return step == BENCH_COPY ? contestant_is_kallima(entrant->one)
                              : !bench_is_host(entrant->one->about.selector);
}

// Those steps of all that are ready, in turn.
static void sample(struct bout *bout, const struct sampling *sampling,
                   const enum bench_step *step, int steps)
{
    struct lane lane[LANES];
    struct contender contender[LANES];
    int count = 0;
    for (int i = 0; i < bout->count * steps; i++) {
        struct entrant *entrant = &bout->entrant[i / steps];
        const enum bench_step one = step[i % steps];
        if (!takes_step(entrant, one))
            continue;
        lane[count] = (struct lane){ entrant, one };
        contender[count] =
            (struct contender){ take, &lane[count], &entrant->timing[one], is_over };
        count++;
    }
    sample_all(sampling, contender, count);
}

static void measure(struct conducting *conducting, struct bout *bout)
{
    static const enum bench_step on_device[] = { BENCH_RUN, BENCH_COPY };
    static const enum bench_step on_host[] = { BENCH_WRITE, BENCH_READ, BENCH_TOTAL };
    sample(bout, &conducting->sampling, on_device, 2);
    if (!bout->one->recipe[0])
        sample(bout, &conducting->transfers, on_host, 3);
    for (int i = 0; i < bout->count; i++)
        set_times(&bout->entrant[i], bout);
    set_copies(bout);
}

// Whoever cannot give back what it holds is started again with the next case.
static void end_case(struct conducting *conducting, struct bout *bout)
{
    struct json json;
    char why[512];
    for (int i = 0; i < bout->count; i++)
        contestant_ask(conducting->contest, bout->entrant[i].one, "end", &json, why,
                       sizeof why);
}

static bool write_rows(struct conducting *conducting, struct bout *bout)
{
    struct results *results = conducting->results;
    const struct group *group = &conducting->cases->group[bout->one->group];
    bool ok = results_find_group(results, group->id) ||
              results_add(results, RECORD_GROUP, group);
    for (int i = 0; ok && i < bout->count; i++) {
        struct entrant *entrant = &bout->entrant[i];
        if (!row_counts(&entrant->row))
            fail_row(&entrant->row, "no time was taken");
        if (entrant->one->has_answered)
            ok = results_add(results, RECORD_ROW, &entrant->row);
    }
    if (!ok)
        cli_fail("no memory left");
    else if (!(ok = results_flush(results)))
        cli_fail("the results cannot be written: %s", strerror(errno));
    return ok;
}

// What a measuring process is asked.
static void print_question(const struct compare_case *one, char *text, size_t capacity)
{
    char problem[PROBLEM_TEXT];
    problem_print(&one->desc, problem);
    snprintf(text, capacity, "case %s%s%s", problem, one->recipe[0] ? " recipe=" : "",
             one->recipe);
}

static bool run_case(struct conducting *conducting, struct bout *bout)
{
    char question[1024];
    print_question(bout->one, question, sizeof question);
    for (int i = 0; i < bout->count && !child_is_end_asked(); i++) {
        if (!prepare(&bout->entrant[i], question))
            return false;
    }
    if (!child_is_end_asked())
        measure(conducting, bout);
    end_case(conducting, bout);
    child_forget_references();
    return child_is_end_asked() || write_rows(conducting, bout);
}

// --- all cases --------------------------------------------------------------------------

static int count_left(struct conducting *conducting, struct bout *bout)
{
    int left = 0;
    for (int i = 0; i < conducting->cases->count; i++) {
        fill_bout(conducting, bout, &conducting->cases->one[i]);
        left += bout->count > 0;
    }
    return left;
}

enum conduct_end conduct(struct conducting *conducting, int *left)
{
    static struct bout bout; // too large for a stack
    const double start_ns = sample_now_ns();
    enum conduct_end end = CONDUCT_DONE;

    child_catch_end();
    *left = count_left(conducting, &bout);
    progress_begin(&bout.progress, *left, "comparing");
    for (int i = 0; end == CONDUCT_DONE && i < conducting->cases->count; i++) {
        fill_bout(conducting, &bout, &conducting->cases->one[i]);
        if (bout.count == 0)
            continue;
        if (child_is_end_asked()) {
            end = CONDUCT_INTERRUPTED;
        } else if (conducting->budget_s > 0 &&
                   1e-9 * (sample_now_ns() - start_ns) > conducting->budget_s) {
            end = CONDUCT_OVER;
        } else if (!run_case(conducting, &bout)) {
            end = CONDUCT_FAILED;
        } else if (!child_is_end_asked()) {
            *left -= 1;
            progress_step(&bout.progress, 1);
        }
    }
    if (end == CONDUCT_DONE && child_is_end_asked())
        end = CONDUCT_INTERRUPTED;
    progress_end(&bout.progress);
    contest_end(conducting->contest);
    *left = end == CONDUCT_FAILED ? *left : count_left(conducting, &bout);
    return end;
}
