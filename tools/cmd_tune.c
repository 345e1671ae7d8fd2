// SPDX-License-Identifier: MIT
// kallima tune: find the fastest plans of problems, and keep them for every program.
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "problem_request.h"
#include "progress.h"

static const char help[] =
    "usage: kallima tune [OPTION]... LENGTHS...\n"
    "       kallima tune [OPTION]... --cases FILE\n"
    "\n"
    "Try plans of each problem on the device, check them, and keep the fastest, which "
    "every\n"
    "program on this machine then starts with. LENGTHS is 1024 or 256x256, the slowest "
    "axis\n"
    "first. Ctrl-C ends the work and keeps what was learnt.\n"
    "\n" PROBLEM_OPTION_HELP "\n"
    "Tuning:\n"
    "  --effort E          measure (default), patient or exhaustive\n"
    "  --budget TIME       for each problem at most: 30, 30s or 2m (default: 1s for "
    "measure,\n"
    "                      10s for patient; exhaustive ends by itself)\n"
    "  --memory MIB        of the device and the host together; problems that need more "
    "are\n"
    "                      tuned with fewer transforms at once\n"
    "  --verbose           a line for each plan that is considered, on standard error\n"
    "  --json              one JSON object a line on standard output; the table goes to\n"
    "                      standard error\n"
    "\n"
    "Exit status: 0; 1 if a problem could not be tuned, or what was learnt not be kept; "
    "2 for\n"
    "a usage error; 130 after Ctrl-C.\n";

enum { INTERRUPTED = 130 };

enum option_id {
    OPT_HELP = PROBLEM_OPTION_END,
    OPT_EFFORT,
    OPT_BUDGET,
    OPT_MEMORY,
    OPT_VERBOSE,
    OPT_JSON,
};

static const struct option options[] = {
    { "help", no_argument, NULL, OPT_HELP },
    PROBLEM_OPTION_ROWS,
    { "effort", required_argument, NULL, OPT_EFFORT },
    { "budget", required_argument, NULL, OPT_BUDGET },
    { "memory", required_argument, NULL, OPT_MEMORY },
    { "verbose", no_argument, NULL, OPT_VERBOSE },
    { "json", no_argument, NULL, OPT_JSON },
    { NULL, 0, NULL, 0 },
};

// What the command line asks for.
struct request {
    struct problem_request problems;
    kallima_tune_options tuning;
    bool verbose, json, help;
};

// One problem that was tuned.
struct row {
    char problem[PROBLEM_TEXT];
    int64_t batch;
    char *recipe; // that its plans follow now
    kallima_tune_result result;
};

// The work under way.
struct work {
    const struct request *request;
    kallima_device *device;
    struct progress progress;
    char label[32]; // of the progress
    struct row *row;
    int rows, failed, candidates;
};

static volatile sig_atomic_t is_interrupted;

static void interrupt(int number)
{
    (void)number;
    is_interrupted = 1;
}

// --- the command line --------------------------------------------------------------------

static bool parse_budget(const struct cli *cli, const char *text, double *seconds)
{
    static const struct {
        const char *unit;
        double seconds;
    } units[] = { { "", 1.0 }, { "s", 1.0 }, { "m", 60.0 }, { "h", 3600.0 } };
    const char *end;

    if (cli_parse_number(text, seconds, &end) && *seconds > 0) {
        for (size_t i = 0; i < CLI_COUNT(units); i++) {
            if (strcmp(end, units[i].unit) != 0)
                continue;
            *seconds *= units[i].seconds;
            if (isfinite(*seconds))
                return true;
        }
    }
    cli_usage(cli, "--budget %s: must be a time such as 30, 30s or 2m", text);
    return false;
}

static bool parse_memory(const struct cli *cli, const char *text, uint64_t *bytes)
{
    int64_t mib;
    if (!cli_parse_int64(text, 1, INT64_MAX >> 20, &mib)) {
        cli_usage(cli, "--memory %s: must be a number of MiB of at least 1", text);
        return false;
    }
    *bytes = (uint64_t)mib << 20;
    return true;
}

static bool parse_option(const struct cli *cli, int id, struct request *request)
{
    static const char *const efforts[] = { "measure", "patient", "exhaustive" };
    int effort = 0;

    switch ((enum option_id)id) {
    case OPT_HELP: request->help = true; return true;
    case OPT_EFFORT:
        if (!cli_choose(cli, "--effort", optarg, efforts, CLI_COUNT(efforts), &effort))
            return false;
        request->tuning.effort = KALLIMA_EFFORT_MEASURE + effort;
        return true;
    case OPT_BUDGET: return parse_budget(cli, optarg, &request->tuning.seconds);
    case OPT_MEMORY: return parse_memory(cli, optarg, &request->tuning.bytes);
    case OPT_VERBOSE: request->verbose = true; return true;
    case OPT_JSON: request->json = true; return true;
    }
    return problem_request_take(cli, id, &request->problems);
}

static bool parse_options(const struct cli *cli, int argc, char **argv,
                          struct request *request)
{
    int id;
    while ((id = cli_getopt(cli, argc, argv, options)) != -1) {
        if (id == '?' || !parse_option(cli, id, request))
            return false;
    }
    return true;
}

// --- tuning ------------------------------------------------------------------------------

static int32_t show_candidate(void *user, const kallima_tune_candidate *c)
{
    struct work *work = user;
    if (work->request->verbose) {
        progress_end(&work->progress);
        fprintf(stderr, "  %-9s %-7s predicted %9.4g us", c->decision, c->fate,
                c->predicted_ns / 1e3);
        if (c->measured_ns > 0)
            fprintf(stderr, " measured %9.4g us", c->measured_ns / 1e3);
        fprintf(stderr, "  %s\n", c->recipe);
    }
    snprintf(work->label, sizeof work->label, "tuning, plan %d", ++work->candidates);
    progress_step(&work->progress, 0);
    return is_interrupted;
}

// The recipe that plans of a problem follow now; the caller frees. NULL: no memory.
static char *find_recipe(kallima_device *device, const kallima_desc *desc)
{
    const kallima_plan_options as_tuned = { .without_workspace = 1 };
    kallima_plan *plan = NULL;
    size_t length = 0;
    char *text = NULL;

    if (kallima_plan_create(&plan, device, desc, &as_tuned) == KALLIMA_OK &&
        kallima_plan_get_recipe(plan, NULL, 0, &length) == KALLIMA_OK)
        text = malloc(length + 1);
    if (text)
        kallima_plan_get_recipe(plan, text, length + 1, NULL);
    kallima_plan_destroy(&plan);
    return text;
}

static void print_json(const struct row *row)
{
    const kallima_tune_result *r = &row->result;
    fputs("{\"problem\": ", stdout);
    cli_print_json(row->problem);
    printf(", \"default_ns\": %.17g, \"default_spread\": %.4g, \"tuned_ns\": %.17g, "
           "\"tuned_spread\": %.4g, \"batch\": %" PRId64 ", \"considered\": %" PRId32
           ", \"tried\": %" PRId32 ", \"wrong\": %" PRId32
           ", \"rank_correlation\": %.4g, \"first_choice\": %.4g, \"parameter_gain\": "
           "%.4g, \"recipe\": ",
           r->default_ns, r->default_spread, r->tuned_ns, r->tuned_spread, r->batch,
           r->considered, r->tried, r->wrong, r->rank_correlation, r->first_choice,
           r->parameter_gain);
    cli_print_json(row->recipe ? row->recipe : "");
    puts("}");
    fflush(stdout);
}

static void fail_one(struct work *work, const struct row *row, const char *why)
{
    progress_end(&work->progress);
    cli_fail("%s: %s", row->problem, why);
    work->failed++;
}

// Does wisdom lack what a device is measured for, before anything is tuned on it? Of those that
// compute nothing there is nothing to measure.
static bool is_unmeasured(const struct work *work)
{
    const kallima_wisdom *wisdom = kallima_device_get_wisdom(work->device);
    kallima_wisdom_filter filter = { .kind = KALLIMA_WISDOM_FACT,
                                     .key = "bytes-per-second" };
    kallima_wisdom_owner owner;

    if (kallima_device_get_owner(work->device, &owner) != KALLIMA_OK ||
        strncmp(owner.device, "null", 4) == 0)
        return false;
    filter.device = owner.device;
    filter.driver = owner.driver;
    filter.version = owner.version;
    return kallima_wisdom_find(wisdom, &filter, 0) < 0;
}

static void tell_measuring(struct work *work)
{
    static const char words[] = "measuring the device";
    if (!is_unmeasured(work))
        return;
    if (work->request->verbose)
        fprintf(stderr, "%s\n", words);
    else
        progress_say(&work->progress, words);
}

static void tune_one(struct work *work, const kallima_desc *desc)
{
    struct row *row = &work->row[work->rows];
    kallima_tune_options tuning = work->request->tuning;

    problem_print(desc, row->problem);
    if (work->request->verbose)
        fprintf(stderr, "%s\n", row->problem);
    tuning.report = show_candidate;
    tuning.user = work;
    if (kallima_tune(work->device, desc, &tuning, &row->result) != KALLIMA_OK) {
        fail_one(work, row, kallima_last_error());
        return;
    }
    if (!(row->result.tuned_ns > 0)) {
        fail_one(work, row, "no time was left to measure it");
        return;
    }
    row->batch = desc->batch > 0 ? desc->batch : 1;
    row->recipe = find_recipe(work->device, desc);
    work->rows++;
    if (work->request->json)
        print_json(row);
}

// Nothing is lost if the work ends at any moment.
static bool keep(struct work *work)
{
    kallima_wisdom *wisdom = kallima_device_get_wisdom(work->device);
    if (kallima_wisdom_save(wisdom, NULL) == KALLIMA_OK)
        return true;
    progress_end(&work->progress);
    cli_fail("%s", kallima_last_error());
    return false;
}

// --- the table ---------------------------------------------------------------------------

static void print_row(FILE *out, const struct row *row)
{
    const kallima_tune_result *r = &row->result;

    fprintf(out, "%-36s %12.4g %12.4g %6.2fx  %s", row->problem, r->default_ns / 1e3,
            r->tuned_ns / 1e3, r->default_ns / r->tuned_ns,
            row->recipe ? row->recipe : "");
    if (r->batch < row->batch)
        fprintf(out, " (times of %" PRId64 " transforms)", r->batch);
    fputc('\n', out);
}

static void print_table(FILE *out, const struct work *work)
{
    double sum = 0.0, parameters = 0.0; // of logarithms

    fprintf(out, "%-36s %12s %12s %7s  %s\n", "problem", "default us", "tuned us", "gain",
            "plan");
    for (int i = 0; i < work->rows; i++) {
        const kallima_tune_result *r = &work->row[i].result;
        print_row(out, &work->row[i]);
        sum += log(r->default_ns / r->tuned_ns);
        parameters += log(r->parameter_gain);
    }
    if (work->rows > 1)
        fprintf(out,
                "%-36s %12s %12s %6.2fx  by recipes %.2fx, by parameters "
                "%.2fx\n",
                "geometric mean", "", "", exp(sum / work->rows),
                exp((sum - parameters) / work->rows), exp(parameters / work->rows));
}

static void clear(struct work *work)
{
    for (int i = 0; i < work->rows; i++)
        free(work->row[i].recipe);
    free(work->row);
    kallima_device_close(&work->device);
}

// What a problem takes; 0: unknown.
static double expect_seconds(const kallima_tune_options *tuning)
{
    if (tuning->seconds > 0)
        return tuning->seconds;
    switch (tuning->effort) {
    case KALLIMA_EFFORT_PATIENT: return 10.0;
    case KALLIMA_EFFORT_EXHAUSTIVE: return 0.0;
    }
    return 1.0;
}

static void begin_progress(struct work *work, const struct problems *problems)
{
    snprintf(work->label, sizeof work->label, "tuning");
    progress_begin(&work->progress, problems->count, work->label);
    progress_expect(&work->progress, expect_seconds(&work->request->tuning));
}

static int tune_all(struct work *work, const struct problems *problems)
{
    begin_progress(work, problems);
    bool is_kept = keep(work); // if nothing can be kept, nothing is worth its time
    if (is_kept)
        tell_measuring(work);
    for (int i = 0; i < problems->count && is_kept && !is_interrupted; i++) {
        tune_one(work, &problems->desc[i]);
        is_kept = keep(work);
        progress_step(&work->progress, 1);
    }
    progress_end(&work->progress);
    if (work->rows > 0)
        print_table(work->request->json ? stderr : stdout, work);
    if (is_interrupted) {
        cli_fail("tune: interrupted%s", is_kept ? "; what was learnt is kept" : "");
        return INTERRUPTED;
    }
    return work->failed == 0 && is_kept ? CLI_OK : CLI_FAILED;
}

static void catch_interrupt(void)
{
    // A second Ctrl-C ends at once.
    const struct sigaction action = { .sa_handler = interrupt,
                                      .sa_flags = (int)(SA_RESETHAND | SA_RESTART) };
    struct sigaction before;

    sigaction(SIGINT, NULL, &before);
    if (before.sa_handler != SIG_IGN)
        sigaction(SIGINT, &action, NULL);
}

static int run(const struct cli *cli, const struct request *request,
               const struct problems *problems)
{
    struct work work = { .request = request };

    work.row = calloc((size_t)problems->count, sizeof *work.row);
    if (!work.row)
        return cli_fail("no memory left");
    int status = cli_open_device(cli, &work.device) ? CLI_OK : CLI_FAILED;
    if (status == CLI_OK) {
        catch_interrupt();
        status = tune_all(&work, problems);
    }
    clear(&work);
    return status;
}

int cmd_tune(const struct cli *cli, int argc, char **argv)
{
    struct request request = { 0 };
    struct problems problems = { 0 };

    if (!parse_options(cli, argc, argv, &request))
        return CLI_USAGE;
    if (request.help)
        return cli_print_help(help);
    if (optind == argc && !request.problems.cases)
        return cli_usage(cli, "give lengths such as 1024 or 256x256, or --cases FILE");
    int status = problem_request_collect(cli, &request.problems,
                                         (const char *const *)argv + optind, &problems);
    if (status == CLI_OK)
        status = run(cli, &request, &problems);
    problems_clear(&problems);
    return status;
}
