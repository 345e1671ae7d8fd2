// SPDX-License-Identifier: MIT
// kallima compare: technologies and libraries side by side, and a report of it.
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "commands.h"
#include "compare/conduct.h"
#include "compare/machine.h"
#include "compare/report.h"
#include "compare/serve.h"
#include "file.h"

static const char help[] =
    "usage: kallima compare [OPTION]...\n"
    "\n"
    "Measure transforms on every device, and with every other library, that is here: "
    "each\n"
    "in a process of its own, their repeats in turn, results checked before they are "
    "timed.\n"
    "Started again with the same --out, it goes on where it was stopped.\n"
    "\n"
    "  --preset NAME       quick (default: a minute or two), standard or paper\n"
    "  --cases FILE        one a line: kind precision lengths batch [inverse] "
    "[in-place]\n"
    "                      [planar] [stride=S] [distance=D] [recipe=TEXT]; a line\n"
    "                      [name] Title begins a group\n"
    "  --devices LIST      such as cpu,cuda:0; all (default) leaves out what is "
    "imitated\n"
    "                      in software\n"
    "  --peers LIST        such as fftw,cufft; all (default), without baseline, or none\n"
    "  --out DIR           folder of results.jsonl, results.csv, report.html and "
    "log.txt\n"
    "                      (default: kallima-compare)\n"
    "  --budget S          seconds after which no case begins; the most important come\n"
    "                      first\n"
    "  --time-limit S      seconds that one answer may take: planning and checking, or "
    "a\n"
    "                      repeat; a technology whose answers to a case took as long in\n"
    "                      all has no further ones (default: 60)\n"
    "  --min-time S        seconds of repeats of each technology (default: 0.05)\n"
    "  --max-time S        seconds of repeats of a case after which few must do\n"
    "                      (default: 2)\n"
    "  --retry-failed      measure again what failed before, but for what is not "
    "supported\n"
    "  --report-only       measure nothing; draw the report of DIR/results.jsonl again\n"
    "  --fftw-dir DIR      load FFTW from DIR/lib\n"
    "  --mkl-dir DIR       load oneMKL from DIR/lib (default: $MKLROOT)\n"
    "  --baseline-dir DIR  load the other build of Kallima from DIR/lib\n"
    "  --fftw-effort E     measure (default), patient or estimate\n"
    "\n"
    "Exit status: 0; 1 if there is no result, if it was interrupted, or if a transform "
    "of\n"
    "Kallima failed or its error is above the bound; what a device does not support, "
    "such\n"
    "as f64, is no failure; 2 for a usage error.\n"
    "docs/measuring.md says how the numbers are made. Charts are drawn by gnuplot.\n";

enum option_id {
    OPT_HELP = 1,
    OPT_PRESET,
    OPT_CASES,
    OPT_DEVICES,
    OPT_PEERS,
    OPT_OUT,
    OPT_BUDGET,
    OPT_TIME_LIMIT,
    OPT_MIN_TIME,
    OPT_MAX_TIME,
    OPT_RETRY_FAILED,
    OPT_REPORT_ONLY,
    OPT_FFTW_DIR,
    OPT_MKL_DIR,
    OPT_BASELINE_DIR,
    OPT_FFTW_EFFORT,
    OPT_WORKER, // how the program starts itself
};

static const struct option options[] = {
    { "help", no_argument, NULL, OPT_HELP },
    { "preset", required_argument, NULL, OPT_PRESET },
    { "cases", required_argument, NULL, OPT_CASES },
    { "devices", required_argument, NULL, OPT_DEVICES },
    { "peers", required_argument, NULL, OPT_PEERS },
    { "out", required_argument, NULL, OPT_OUT },
    { "budget", required_argument, NULL, OPT_BUDGET },
    { "time-limit", required_argument, NULL, OPT_TIME_LIMIT },
    { "min-time", required_argument, NULL, OPT_MIN_TIME },
    { "max-time", required_argument, NULL, OPT_MAX_TIME },
    { "retry-failed", no_argument, NULL, OPT_RETRY_FAILED },
    { "report-only", no_argument, NULL, OPT_REPORT_ONLY },
    { "fftw-dir", required_argument, NULL, OPT_FFTW_DIR },
    { "mkl-dir", required_argument, NULL, OPT_MKL_DIR },
    { "baseline-dir", required_argument, NULL, OPT_BASELINE_DIR },
    { "fftw-effort", required_argument, NULL, OPT_FFTW_EFFORT },
    { "worker", required_argument, NULL, OPT_WORKER },
    { NULL, 0, NULL, 0 },
};

// What the command line asks for.
struct request {
    bool help, retry_failed, report_only;
    int preset;
    const char *cases, *devices, *peers, *out, *worker;
    const char *measuring; // the last option that says what to measure or how; NULL: none
    double budget_s, limit_s, min_time_s, max_time_s;
    struct peer_options peer_options;
};

// Files of the folder.
struct paths {
    char results[PATH_MAX], csv[PATH_MAX], report[PATH_MAX], log[PATH_MAX];
};

// --- the command line -------------------------------------------------------------------

enum { MOST_SECONDS = 1000000 };

static bool parse_option(const struct cli *cli, int id, struct request *request)
{
    static const char *const efforts[] = { "measure", "patient", "estimate" };
    int choice = 0;

    switch ((enum option_id)id) {
    case OPT_HELP: request->help = true; return true;
    case OPT_PRESET:
        return cli_choose(cli, "--preset", optarg, preset_names, PRESET_COUNT,
                          &request->preset);
    case OPT_CASES: request->cases = optarg; return true;
    case OPT_DEVICES: request->devices = optarg; return true;
    case OPT_PEERS: request->peers = optarg; return true;
    case OPT_OUT: request->out = optarg; return true;
    case OPT_BUDGET:
        return cli_parse_seconds(cli, "--budget", 1, MOST_SECONDS, &request->budget_s);
    case OPT_TIME_LIMIT:
        return cli_parse_seconds(cli, "--time-limit", 0.1, MOST_SECONDS,
                                 &request->limit_s);
    case OPT_MIN_TIME:
        return cli_parse_seconds(cli, "--min-time", 0, MOST_SECONDS,
                                 &request->min_time_s);
    case OPT_MAX_TIME:
        return cli_parse_seconds(cli, "--max-time", 0, MOST_SECONDS,
                                 &request->max_time_s);
    case OPT_RETRY_FAILED: request->retry_failed = true; return true;
    case OPT_REPORT_ONLY: request->report_only = true; return true;
    case OPT_FFTW_DIR: request->peer_options.fftw_directory = optarg; return true;
    case OPT_MKL_DIR: request->peer_options.mkl_directory = optarg; return true;
    case OPT_BASELINE_DIR: request->peer_options.baseline_directory = optarg; return true;
    case OPT_FFTW_EFFORT:
        request->peer_options.effort = optarg;
        return cli_choose(cli, "--fftw-effort", optarg, efforts, CLI_COUNT(efforts),
                          &choice);
    case OPT_WORKER: request->worker = optarg; return true;
    }
    return false;
}

// All options say what to measure or how, but these.
static void note_measuring(int id, struct request *request)
{
    if (id == OPT_HELP || id == OPT_OUT || id == OPT_REPORT_ONLY || id == OPT_WORKER)
        return;
    for (const struct option *one = options; one->name; one++) {
        if (one->val == id)
            request->measuring = one->name;
    }
}

// Returns false, and has told why, if the options contradict each other.
static bool check_options(const struct cli *cli, const struct request *request)
{
    if (cli->device && !request->worker) {
        cli_usage(cli, "--device: use --devices, as there may be several");
        return false;
    }
    if (request->cases && request->preset >= 0) {
        cli_usage(cli, "give --preset or --cases, not both");
        return false;
    }
    if (request->report_only && request->measuring) {
        cli_usage(cli, "--%s: --report-only measures nothing", request->measuring);
        return false;
    }
    return true;
}

static bool parse_options(const struct cli *cli, int argc, char **argv,
                          struct request *request)
{
    int id;
    while ((id = cli_getopt(cli, argc, argv, options)) != -1) {
        if (id == '?' || !parse_option(cli, id, request))
            return false;
        note_measuring(id, request);
    }
    if (optind < argc) {
        cli_usage(cli, "%s is one argument too many", argv[optind]);
        return false;
    }
    return check_options(cli, request);
}

static bool set_paths(struct paths *paths, const char *folder)
{
    const struct {
        char *path;
        const char *name;
    } files[] = { { paths->results, "results.jsonl" },
                  { paths->csv, "results.csv" },
                  { paths->report, "report.html" },
                  { paths->log, "log.txt" } };
    for (size_t i = 0; i < CLI_COUNT(files); i++) {
        if (snprintf(files[i].path, PATH_MAX, "%s/%s", folder, files[i].name) >= PATH_MAX)
            return false;
    }
    return true;
}

// --- measuring --------------------------------------------------------------------------

static int collect(const struct request *request, struct cases *cases)
{
    char why[512];
    if (request->cases ? !cases_read(cases, request->cases, why, sizeof why)
                       : !cases_add_preset(cases, request->preset < 0 ? PRESET_QUICK
                                                                      : request->preset))
        return cli_fail("%s", request->cases ? why : "no memory left");
    cases_sort(cases);
    return CLI_OK;
}

// Results of another machine or program are not mixed with those of this one.
static int open_results(struct results *results, const struct paths *paths)
{
    struct machine here;
    char why[PATH_MAX + 512];
    machine_describe(&here);
    if (results->has_machine && !machine_is_same(&results->machine, &here))
        return cli_fail("%s: is of kallima %s, commit %s, on %s, %s; this is another: "
                        "choose another --out",
                        paths->results, results->machine.kallima, results->machine.commit,
                        results->machine.processor, results->machine.kernel);
    if (!results_open(results, paths->results, why, sizeof why))
        return cli_fail("%s", why);
    if (!child_lock(results->file))
        return cli_fail("%s: another process measures into it", paths->results);
    if (!results->has_machine && !results_add(results, RECORD_MACHINE, &here))
        return cli_fail("no memory left");
    return CLI_OK;
}

static int tell_end(enum conduct_end end, int left)
{
    if (end == CONDUCT_FAILED || end == CONDUCT_DONE)
        return end == CONDUCT_DONE ? CLI_OK : CLI_FAILED;
    fprintf(stderr, "kallima: %s with %d cases left; start it again to go on\n",
            end == CONDUCT_OVER ? "the time is over" : "interrupted", left);
    return end == CONDUCT_OVER ? CLI_OK : CLI_FAILED;
}

static int measure(const struct request *request, struct contest *contest,
                   const struct cases *cases, struct results *results)
{
    struct conducting conducting = {
        .contest = contest,
        .cases = cases,
        .results = results,
        .sampling = { .sample_ns = 300e3,
                      .min_time_s = request->min_time_s,
                      .max_time_s = request->max_time_s,
                      .min_samples = 11 },
        .transfers = { .sample_ns = 0,
                       .min_time_s = request->min_time_s / 5,
                       .max_time_s = request->max_time_s / 5,
                       .min_samples = 7 },
        .budget_s = request->budget_s,
    };
    int left = 0;
    char caches[PATH_MAX];
    child_make_caches(caches, sizeof caches);
    const enum conduct_end end = conduct(&conducting, &left);
    child_remove_caches(caches);
    output_catch_signals(); // as before
    return tell_end(end, left);
}

static int compare(const struct cli *cli, const struct request *request,
                   const char *program, const struct paths *paths,
                   struct results *results)
{
    static struct contest contest; // too large for a stack
    struct cases cases = { 0 };
    contest = (struct contest){ .cli = cli,
                                .program = program,
                                .log = paths->log,
                                .peer_options = request->peer_options,
                                .limit_s = request->limit_s };
    if (child_refusal())
        return cli_fail("%s", child_refusal());
    int status = collect(request, &cases);
    if (status == CLI_OK && mkdir(request->out, 0777) != 0 && errno != EEXIST)
        status = cli_fail("%s: cannot be made: %s", request->out, strerror(errno));
    if (status == CLI_OK)
        status = contest_fill(&contest, request->devices, request->peers);
    if (status == CLI_OK)
        status = open_results(results, paths);
    if (request->retry_failed)
        results_retry_failed(results);
    if (status == CLI_OK)
        status = measure(request, &contest, &cases, results);
    cases_clear(&cases);
    return status;
}

// --- the report -------------------------------------------------------------------------

static bool write_csv(const struct results *results, const char *path)
{
    struct output output;
    if (!output_open(&output, path))
        return false;
    row_print_csv_head(output.file);
    for (int i = 0; i < results->rows; i++)
        row_print_csv(output.file, &results->row[i]);
    return output_commit(&output);
}

static int report(const struct results *results, const struct paths *paths)
{
    if (results->rows == 0)
        return cli_fail("%s: there is no result", paths->results);
    const bool has_csv = write_csv(results, paths->csv);
    const bool ok = report_write(results, paths->report) && has_csv;
    report_print_summary(results, stdout);
    if (ok)
        printf("\n%s\n", paths->report);
    return ok ? CLI_OK : CLI_FAILED;
}

static bool is_good(const struct results *results)
{
    bool good = true;
    for (int i = 0; i < results->rows; i++) {
        const struct row *row = &results->row[i];
        const bool ours =
            strncmp(row->technology, SERVE_KALLIMA " ", sizeof SERVE_KALLIMA) == 0;
        good = good && (!ours || row->ok > 0 || row->unsupported > 0);
    }
    return good;
}

static int run(const struct cli *cli, const struct request *request, const char *program)
{
    struct results results = { 0 };
    struct paths paths;
    char why[PATH_MAX + 512];
    if (!set_paths(&paths, request->out))
        return cli_usage(cli, "--out: the name is too long");
    if (!results_read(&results, paths.results, why, sizeof why)) {
        results_clear(&results);
        return cli_fail("%s", why);
    }
    int status =
        request->report_only ? CLI_OK : compare(cli, request, program, &paths, &results);
    const bool drawn = request->report_only || results.file;
    if (drawn && report(&results, &paths) != CLI_OK)
        status = CLI_FAILED;
    if (status == CLI_OK && !is_good(&results))
        status = CLI_FAILED;
    results_clear(&results);
    return status;
}

int cmd_compare(const struct cli *cli, int argc, char **argv)
{
    struct request request = { .preset = -1,
                               .devices = "all",
                               .peers = "all",
                               .out = "kallima-compare",
                               .limit_s = 60,
                               .min_time_s = 0.05,
                               .max_time_s = 2 };
    if (!parse_options(cli, argc, argv, &request))
        return CLI_USAGE;
    if (request.help)
        return cli_print_help(help);
    // A plan is made twice, and its result checked, within the time for an answer.
    request.peer_options.plan_seconds = request.limit_s / 3;
    request.peer_options.simd = cli->simd;
    if (request.worker)
        return serve(cli, request.worker, &request.peer_options);
    return run(cli, &request, "kallima");
}
