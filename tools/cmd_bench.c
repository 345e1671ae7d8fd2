// SPDX-License-Identifier: MIT
// kallima bench: how fast transforms are here, alone or beside another library.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bench_json.h"
#include "bench_open.h"
#include "bench_problem.h"
#include "bench_report.h"
#include "bench_run.h"
#include "bench_selector.h"
#include "bench_worker.h"
#include "commands.h"
#include "problem_request.h"

static const char help[] =
    "usage: kallima bench [OPTION]... [LENGTHS]...\n"
    "       kallima bench [OPTION]... --cases FILE\n"
    "\n"
    "Measure the speed of transforms. LENGTHS is 1024 or 256x256, the slowest axis "
    "first\n"
    "(default: a few powers of two). With peers, all libraries are measured in\n"
    "alternation; on a GPU beside a copy of as many bytes, all in the same memory.\n"
    "\n" PROBLEM_OPTION_HELP "\n"
    "Measuring:\n"
    "  --min-time S        seconds of samples of each library for a problem\n"
    "                      (default: 0.25; on a GPU 0.05)\n"
    "  --max-time S        seconds for a problem after which few samples must do\n"
    "                      (default: 10; on a GPU 1)\n"
    "  --behind BYTES      on a CPU, begin arrays so many bytes behind a line of the\n"
    "                      caches, a multiple of 8 (default: 0; malloc() often has 16)\n"
    "  --plan-twice        take the time of planning the same problem again, too\n"
    "  --json              one JSON object a line on standard output; the table goes to\n"
    "                      standard error\n"
    "\n"
    "Other libraries, loaded at run time:\n"
    "  --peer NAME[,NAME]  fftw, mkl and baseline, another build of Kallima, for the "
    "cpu\n"
    "                      device; cufft and vkfft for cuda devices; clfft and vkfft "
    "for\n"
    "                      opencl devices\n"
    "  --fftw-dir DIR      load FFTW from DIR/lib\n"
    "  --mkl-dir DIR       load oneMKL from DIR/lib (default: $MKLROOT)\n"
    "  --baseline-dir DIR  load the other build of Kallima from DIR/lib\n"
    "  --fftw-effort E     measure (default), patient or estimate\n"
    "\n"
    "Exit status: 0; 1 if a transform failed or its error is above the bound; 2 for a "
    "usage\n"
    "error. docs/measuring.md says how the numbers are made.\n";

enum option_id {
    OPT_HELP = PROBLEM_OPTION_END,
    OPT_MIN_TIME,
    OPT_MAX_TIME,
    OPT_BEHIND,
    OPT_PLAN_TWICE,
    OPT_JSON,
    OPT_PEER,
    OPT_FFTW_DIR,
    OPT_MKL_DIR,
    OPT_BASELINE_DIR,
    OPT_FFTW_EFFORT,
};

static const struct option options[] = {
    { "help", no_argument, NULL, OPT_HELP },
    PROBLEM_OPTION_ROWS,
    { "min-time", required_argument, NULL, OPT_MIN_TIME },
    { "max-time", required_argument, NULL, OPT_MAX_TIME },
    { "behind", required_argument, NULL, OPT_BEHIND },
    { "plan-twice", no_argument, NULL, OPT_PLAN_TWICE },
    { "json", no_argument, NULL, OPT_JSON },
    { "peer", required_argument, NULL, OPT_PEER },
    { "fftw-dir", required_argument, NULL, OPT_FFTW_DIR },
    { "mkl-dir", required_argument, NULL, OPT_MKL_DIR },
    { "baseline-dir", required_argument, NULL, OPT_BASELINE_DIR },
    { "fftw-effort", required_argument, NULL, OPT_FFTW_EFFORT },
    { NULL, 0, NULL, 0 },
};

// What the command line asks for.
struct request {
    struct problem_request problems;
    double min_time_s, max_time_s; // negative: the default
    int64_t behind_bytes;
    bool plan_twice, json, help;
    const char *peers; // separated by commas; NULL: none
    struct peer_options peer_options;
};

enum { MOST_SECONDS = 3600, MOST_BEHIND = 4096 };

static bool parse_option(const struct cli *cli, int id, struct request *request)
{
    static const char *const efforts[] = { "measure", "patient", "estimate" };
    int choice = 0;

    switch ((enum option_id)id) {
    case OPT_HELP: request->help = true; return true;
    case OPT_MIN_TIME:
        return cli_parse_seconds(cli, "--min-time", 0, MOST_SECONDS,
                                 &request->min_time_s);
    case OPT_MAX_TIME:
        return cli_parse_seconds(cli, "--max-time", 0, MOST_SECONDS,
                                 &request->max_time_s);
    case OPT_BEHIND:
        if (cli_parse_int64(optarg, 0, MOST_BEHIND, &request->behind_bytes) &&
            request->behind_bytes % (int64_t)sizeof(double) == 0)
            return true;
        cli_usage(cli, "--behind %s: must be a multiple of 8 from 0 to %d", optarg,
                  MOST_BEHIND);
        return false;
    case OPT_PLAN_TWICE: request->plan_twice = true; return true;
    case OPT_JSON: request->json = true; return true;
    case OPT_PEER: request->peers = optarg; return true;
    case OPT_FFTW_DIR: request->peer_options.fftw_directory = optarg; return true;
    case OPT_MKL_DIR: request->peer_options.mkl_directory = optarg; return true;
    case OPT_BASELINE_DIR: request->peer_options.baseline_directory = optarg; return true;
    case OPT_FFTW_EFFORT:
        request->peer_options.effort = optarg;
        return cli_choose(cli, "--fftw-effort", optarg, efforts, CLI_COUNT(efforts),
                          &choice);
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

static int collect(const struct cli *cli, const struct request *request,
                   char *const *text, struct problems *problems)
{
    static const char *const usual[] = { "16",   "64",    "256",     "1024",
                                         "4096", "65536", "1048576", NULL };
    const bool is_named = *text || request->problems.cases;
    return problem_request_collect(
        cli, &request->problems, is_named ? (const char *const *)text : usual, problems);
}

// --- what is measured --------------------------------------------------------------------

// Without peers, as it is; with peers, a GPU with memory that they can share.
static int open_device(const struct cli *cli, const struct request *request,
                       struct bench *bench, struct bench_memory *memory)
{
    const kallima_device_options wanted = { .threads = cli->threads, .simd = cli->simd };
    const struct gpu_module *module = &gpu_alone;
    kallima_device_info info;
    kallima_device *device;
    char why[512], api[32];

    if (!cli_open_device(cli, &device)) // which one is it, if none is named?
        return CLI_FAILED;
    kallima_device_get_info(device, &info);
    kallima_device_close(&device);
    bench_get_api(info.selector, api, sizeof api);
    if (request->peers && !bench_is_host(info.selector))
        module = gpu_find(api, why, sizeof why);
    if (!module ||
        !bench_open(bench, memory, module, info.selector, &wanted, why, sizeof why))
        return cli_fail("%s", why);
    return CLI_OK;
}

// A peer that is not there is told and left out.
static int open_peer(const struct cli *cli, const struct request *request,
                     const char *name, struct bench *bench)
{
    char why[512];
    bool is_known;

    if (bench->peers == BENCH_MAX_PEERS)
        return cli_usage(cli, "--peer: no more than %d at once", BENCH_MAX_PEERS);
    if (bench_open_peer(bench, name, &request->peer_options, &is_known, why, sizeof why))
        return CLI_OK;
    if (!is_known)
        return cli_usage(cli, "--peer %s", why);
    cli_fail("%s", why);
    return CLI_OK;
}

static int open_peers(const struct cli *cli, const struct request *request,
                      struct bench *bench)
{
    int status = CLI_OK;
    char names[256] = "", *rest = names;

    if (!request->peers)
        return CLI_OK;
    snprintf(names, sizeof names, "%s", request->peers);
    for (char *name; status == CLI_OK && (name = strtok_r(rest, ",", &rest));)
        status = open_peer(cli, request, name, bench);
    return status == CLI_OK && bench->peers == 0 ? CLI_FAILED : status;
}

// --- measuring ---------------------------------------------------------------------------

static int run_all(const struct bench *bench, const struct problems *problems, bool json)
{
    struct report report = { .table = json ? stderr : stdout };
    struct bench_record *record = bench->record;

    if (!record->begun)
        report_begin(&report, bench);
    record->begun = true;
    for (int i = 0; i < record->done; i++)
        report_recall(&report, &record->result[i]);
    for (int i = record->done; i < problems->count; i++) {
        struct result result;
        bench_run(bench, &problems->desc[i], &result);
        if (record->lost)
            worker_give_up();
        if (json)
            json_print(bench, &result);
        report_add(&report, bench, &result);
        worker_keep(record, &result);
    }
    report_summarise(&report, bench);
    report_clear(&report);
    return report.bad + report.failed > 0 ? CLI_FAILED : CLI_OK;
}

static struct sampling choose_sampling(const struct request *request, bool is_gpu)
{
    static const struct sampling usual[] = {
        { .sample_ns = 200e3, .min_time_s = 0.25, .max_time_s = 10, .min_samples = 30 },
        { .sample_ns = 300e3, .min_time_s = 0.05, .max_time_s = 1, .min_samples = 11 },
    };
    struct sampling sampling = usual[is_gpu];
    if (request->min_time_s >= 0)
        sampling.min_time_s = request->min_time_s;
    if (request->max_time_s >= 0)
        sampling.max_time_s = request->max_time_s;
    return sampling;
}

static int measure(const struct cli *cli, const struct request *request,
                   const struct problems *problems, struct bench_record *record)
{
    struct bench bench = { .plans_twice = request->plan_twice,
                           .behind_bytes = request->behind_bytes,
                           .record = record };
    struct bench_memory memory;
    int status = open_device(cli, request, &bench, &memory);
    if (status == CLI_OK)
        status = open_peers(cli, request, &bench);
    if (status == CLI_OK && bench.memory && bench.behind_bytes)
        status = cli_fail("--behind is for arrays of a CPU, not of %s", bench.info.name);
    bench.sampling = choose_sampling(request, bench.memory != NULL);
    if (status == CLI_OK)
        status = run_all(&bench, problems, request->json);
    bench_close(&bench);
    return status;
}

// On a GPU, in a process of its own.
static int measure_apart(const struct cli *cli, const struct request *request,
                         const struct problems *problems)
{
    const bool on_host = cli->device && bench_is_host(cli->device);
    struct bench_record *record = worker_record_create(problems->count);
    bool is_worker = on_host;
    int status = CLI_OK;

    if (!record)
        return cli_fail("no memory left");
    if (!on_host)
        status = worker_start(record, &is_worker);
    if (is_worker)
        status = measure(cli, request, problems, record);
    worker_record_destroy(record, problems->count);
    return status;
}

int cmd_bench(const struct cli *cli, int argc, char **argv)
{
    struct request request = { .min_time_s = -1,
                               .max_time_s = -1,
                               .peer_options.simd = cli->simd };
    struct problems problems = { 0 };

    if (!parse_options(cli, argc, argv, &request))
        return CLI_USAGE;
    if (request.help)
        return cli_print_help(help);
    int status = collect(cli, &request, argv + optind, &problems);
    if (status == CLI_OK)
        status = measure_apart(cli, &request, &problems);
    problems_clear(&problems);
    return status;
}
