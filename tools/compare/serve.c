// SPDX-License-Identifier: MIT
#include "serve.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench_job.h"
#include "bench_open.h"
#include "bench_problem.h"
#include "bench_selector.h"
#include "bench_worker.h"
#include "json.h"

// What is at hand.
struct service {
    struct bench bench;
    struct bench_memory memory;
    const struct bench_way *way;
    FILE *answers;
    double plan_seconds; // after which a peer is told to end planning
    bool is_open;        // a case is
    kallima_desc desc;
    char recipe[512];
    struct data data;
    struct result result;
    struct bench_job job;
};

static const double WARMED_BELOW_NS = 20e6;

// --- answers ----------------------------------------------------------------------------

// A device that is lost refuses everything: that says nothing of the problem.
static void answer_failed(struct service *service, const char *why)
{
    const struct bench_record *record = service->bench.record;
    const struct outcome *outcome = service->job.outcome;
    const bool is_lost = record && record->lost;
    bool first = true;
    putc('{', service->answers);
    json_print_text(service->answers, &first, "failed", why);
    if (is_lost)
        json_print_truth(service->answers, &first, "lost", true);
    else if (outcome && outcome->is_unsupported)
        json_print_truth(service->answers, &first, "unsupported", true);
    fputs("}\n", service->answers);
    fflush(service->answers);
    if (is_lost)
        worker_give_up();
}

static void answer_ns(struct service *service, double ns)
{
    bool first = true;
    putc('{', service->answers);
    json_print_number(service->answers, &first, "ns", ns);
    fputs("}\n", service->answers);
    fflush(service->answers);
}

// Versions of both precisions where they differ.
static void print_peer(const struct service *service, FILE *file, bool *first)
{
    const struct bench_peer *peer = &service->bench.peer[0];
    const struct peer_info f32 = peer->peer->get_info(peer->session, KALLIMA_F32);
    const struct peer_info f64 = peer->peer->get_info(peer->session, KALLIMA_F64);
    char both[128];
    snprintf(both, sizeof both, "%s", f32.version);
    if (strcmp(f32.version, f64.version) != 0)
        snprintf(both, sizeof both, "f32 %.50s; f64 %.50s", f32.version, f64.version);
    json_print_text(file, first, "version", both);
    json_print_text(file, first, "flags", f32.flags);
}

// Whose plans Kallima follows.
static void print_ours(const struct service *service, FILE *file, bool *first)
{
    char flags[64] = "no wisdom";
    const int64_t count =
        kallima_wisdom_get_count(kallima_device_get_wisdom(service->bench.device));
    if (count > 0)
        snprintf(flags, sizeof flags, "wisdom of %lld entries", (long long)count);
    json_print_text(file, first, "version", kallima_version());
    json_print_text(file, first, "flags", flags);
}

static void answer_technology(struct service *service)
{
    const kallima_device_info *info = &service->bench.info;
    FILE *file = service->answers;
    bool first = true;
    putc('{', file);
    json_print_text(file, &first, "device", info->name);
    json_print_text(file, &first, "driver", info->driver);
    json_print_number(file, &first, "threads", info->threads);
    json_print_truth(file, &first, "is_software", info->is_software);
    if (service->bench.peers > 0)
        print_peer(service, file, &first);
    else
        print_ours(service, file, &first);
    fputs("}\n", file);
    fflush(file);
}

// Which placement, or that the planner had not come to its end; "" if there is nothing to say.
static const char *get_used(const struct service *service)
{
    const struct peer *peer = service->job.peer ? service->job.peer->peer : NULL;
    const double most_ns = 1e9 * service->plan_seconds;
    if (!peer)
        return "";
    if (peer->ends_planning && most_ns > 0 && service->job.outcome->plan_ns >= most_ns)
        return SERVE_CUT;
    return !peer->either_placement                       ? ""
           : service->desc.placement == KALLIMA_IN_PLACE ? "in-place"
                                                         : "out-of-place";
}

static void answer_case(struct service *service)
{
    const struct outcome *outcome = service->job.outcome;
    FILE *file = service->answers;
    kallima_plan_cost cost;
    bool first = true;
    putc('{', file);
    json_print_number(file, &first, "plan_ms", 1e-6 * outcome->plan_ns);
    json_print_number(file, &first, "replan_ms", 1e-6 * outcome->replan_ns);
    json_print_number(file, &first, "first_ms", 1e-6 * outcome->first_ns);
    json_print_number(file, &first, "bytes",
                      (double)(side_moved_bytes(&service->data.in) +
                               side_moved_bytes(&service->data.out)));
    if (service->job.plan &&
        kallima_plan_get_cost(service->job.plan, &cost) == KALLIMA_OK) {
        json_print_number(file, &first, "bytes_moved", (double)cost.bytes);
        json_print_number(file, &first, "passes", cost.passes);
    }
    json_print_number(file, &first, "error", outcome->error);
    json_print_number(file, &first, "error_bound", service->result.bound);
    json_print_text(file, &first, "error_by", error_method_names[outcome->method]);
    if (*get_used(service))
        json_print_text(file, &first, "used", get_used(service));
    json_print_text(file, &first, "recipe", outcome->recipe);
    fputs("}\n", file);
    fflush(file);
}

// --- questions --------------------------------------------------------------------------

static void end_case(struct service *service)
{
    if (service->is_open)
        service->way->clear(&service->job);
    service->is_open = false;
}

// "c2c f32 1024 1 in-place recipe=..."
static bool read_case(struct service *service, char *line, char *why, size_t capacity)
{
    char *recipe = strstr(line, "recipe=");
    service->recipe[0] = '\0';
    if (recipe) {
        *recipe = '\0';
        snprintf(service->recipe, sizeof service->recipe, "%s",
                 strchr(recipe + 1, '=') + 1);
    }
    if (!problem_parse(line, &service->desc, why, capacity))
        return false;
    if (service->desc.rank > 0)
        return true;
    snprintf(why, capacity, "no case");
    return false;
}

static void tell_wrong(const struct service *service, char *why, size_t capacity)
{
    const double error = service->job.outcome->error;
    if (isfinite(error))
        snprintf(why, capacity, "wrong: relative error %.2g, and %.2g is the bound",
                 error, service->result.bound);
    else
        snprintf(why, capacity, "wrong: the result is not a number, or was not written");
}

// Prepare the case as `desc` has it. On failure `why` says why.
static bool prepare(struct service *service, char *why, size_t capacity)
{
    struct bench *bench = &service->bench;
    const bool is_peer = bench->peers > 0;
    data_init(&service->data, &service->desc, 0);
    bench_begin(bench, &service->desc, &service->result);
    service->job = (struct bench_job){
        .bench = bench,
        .data = &service->data,
        .outcome = is_peer ? &service->result.theirs[0] : &service->result.ours,
        .number = is_peer,
        .peer = is_peer ? &bench->peer[0] : NULL,
    };
    service->is_open = true;
    if (!service->way->prepare(&service->job)) {
        snprintf(why, capacity, "%s", service->job.outcome->why);
        return false;
    }
    if (!outcome_is_wrong(&service->result, service->job.outcome))
        return true;
    tell_wrong(service, why, capacity);
    return false;
}

// The least of a few times of the case at hand.
static double try_times(struct service *service)
{
    enum { TRIALS = 5 };
    double best = INFINITY;
    for (int i = 0; i < TRIALS; i++) {
        const double ns = service->way->take(&service->job, BENCH_RUN, 1);
        if (ns >= 0 && ns < best)
            best = ns;
    }
    return best;
}

// Returns whether the case is open with the better placement. What the first plan took, and the
// first execution, stays: later ones find what these have loaded and compiled.
static bool choose_placement(struct service *service, char *why, size_t capacity)
{
    char unused[512];
    const double plan_ns = service->job.outcome->plan_ns;
    const double first_ns = service->job.outcome->first_ns;
    const double apart_ns = try_times(service);
    end_case(service);
    service->desc.placement = KALLIMA_IN_PLACE;
    if (!prepare(service, unused, sizeof unused) || try_times(service) >= apart_ns) {
        end_case(service);
        service->desc.placement = KALLIMA_OUT_OF_PLACE;
        if (!prepare(service, why, capacity))
            return false;
    }
    service->job.outcome->plan_ns = plan_ns;
    service->job.outcome->first_ns = first_ns;
    return true;
}

static void begin_case(struct service *service, char *line)
{
    struct bench *bench = &service->bench;
    char why[512];
    end_case(service);
    bool ok = read_case(service, line, why, sizeof why);
    const bool is_free = ok && bench->peers > 0 &&
                         bench->peer[0].peer->either_placement &&
                         service->desc.placement == KALLIMA_OUT_OF_PLACE;
    bench->recipe = service->recipe[0] ? service->recipe : NULL;
    ok = ok && prepare(service, why, sizeof why) &&
         (!is_free || choose_placement(service, why, sizeof why));
    if (ok)
        answer_case(service);
    else
        answer_failed(service, why);
}

// Others were at work meanwhile: caches and clocks are not what they were. So what is short
// runs once before its time is taken; what is long needs no such run.
static double take(struct service *service, enum bench_step step, int64_t times)
{
    const struct bench_way *way = service->way;
    if (step == BENCH_RUN) {
        const double ns = way->take(&service->job, BENCH_RUN, 1);
        if (ns < 0 || (ns >= WARMED_BELOW_NS && times == 1))
            return ns;
    }
    return way->take(&service->job, step, times);
}

static void take_sample(struct service *service, const char *line)
{
    char name[16] = "";
    long long times = 0;
    const int read = sscanf(line, "%15s %lld", name, &times);
    const int step = cli_find(name, bench_step_names, BENCH_STEP_COUNT);
    double ns = -1;

    if (read == 2 && step >= 0 && times > 0 && service->is_open &&
        service->way->has[step])
        ns = take(service, (enum bench_step)step, times);
    if (ns >= 0)
        answer_ns(service, ns);
    else
        answer_failed(service, service->job.outcome && service->job.outcome->why[0]
                                   ? service->job.outcome->why
                                   : "the step failed");
}

static void answer_end(struct service *service)
{
    end_case(service);
    fputs("{}\n", service->answers);
    fflush(service->answers);
}

static void answer_all(struct service *service)
{
    char line[SERVE_LINE];
    while (fgets(line, sizeof line, stdin)) {
        line[strcspn(line, "\n")] = '\0';
        if (strncmp(line, "case ", 5) == 0)
            begin_case(service, line + 5);
        else if (strncmp(line, "sample ", 7) == 0)
            take_sample(service, line + 7);
        else
            answer_end(service);
    }
    end_case(service);
}

// --- the process ------------------------------------------------------------------------

static bool open_all(struct service *service, const struct cli *cli, const char *role,
                     const struct peer_options *options, char *why, size_t capacity)
{
    const kallima_device_options wanted = { .threads = cli->threads, .simd = cli->simd };
    const bool is_peer = strcmp(role, SERVE_KALLIMA) != 0;
    const char *selector = cli->device ? cli->device : "cpu";
    const struct gpu_module *module = &gpu_alone;
    char api[32];
    bool is_known;

    bench_get_api(selector, api, sizeof api);
    if (is_peer && !bench_is_host(selector))
        module = gpu_find(api, why, capacity);
    return module &&
           bench_open(&service->bench, &service->memory, module, selector, &wanted, why,
                      capacity) &&
           (!is_peer ||
            bench_open_peer(&service->bench, role, options, &is_known, why, capacity));
}

static void answer_device(FILE *answers, const kallima_device_info *info)
{
    bool first = true;
    putc('{', answers);
    json_print_text(answers, &first, "selector", info->selector);
    json_print_truth(answers, &first, "is_software", info->is_software);
    fputs("}\n", answers);
}

static bool list_all(FILE *answers)
{
    kallima_device_info infos[64];
    int32_t count = 0;
    if (kallima_device_list(infos, (int32_t)CLI_COUNT(infos), &count) != KALLIMA_OK)
        return false;
    for (int32_t i = 0; i < count && i < (int32_t)CLI_COUNT(infos); i++)
        answer_device(answers, &infos[i]);
    return true;
}

// Those of one interface, which is not asked of another.
static void list_some(FILE *answers, const char *api)
{
    char selector[64];
    kallima_device *device;
    kallima_device_info info;
    for (int i = 0; i < 64; i++) {
        snprintf(selector, sizeof selector, "%.32s:%d", api, i);
        if (kallima_device_open(&device, selector, NULL) != KALLIMA_OK)
            return;
        if (kallima_device_get_info(device, &info) == KALLIMA_OK)
            answer_device(answers, &info);
        kallima_device_close(&device);
    }
}

static int list_devices(FILE *answers, const char *api)
{
    if (api)
        list_some(answers, api);
    else if (!list_all(answers))
        return CLI_FAILED;
    fputs("{}\n", answers);
    return fflush(answers) == 0 ? CLI_OK : CLI_FAILED;
}

int serve(const struct cli *cli, const char *role, const struct peer_options *options)
{
    static struct service service; // too large for a stack
    char why[512] = "no memory left";

    service.answers = fdopen(SERVE_ANSWERS, "w");
    if (!service.answers)
        return cli_usage(cli, "--worker is for the program itself");
    if (strcmp(role, SERVE_LIST) == 0)
        return list_devices(service.answers, cli->device);
    struct bench_record *record = worker_record_create(0);
    const bool ok = record && open_all(&service, cli, role, options, why, sizeof why);
    if (ok) {
        service.bench.record = record;
        service.bench.plans_twice = true;
        service.plan_seconds = options->plan_seconds;
        service.way = service.bench.memory ? &bench_way_device : &bench_way_host;
        answer_technology(&service);
        answer_all(&service);
    } else {
        answer_failed(&service, why);
    }
    bench_close(&service.bench);
    return ok ? CLI_OK : CLI_FAILED;
}
