// SPDX-License-Identifier: MIT
#include "contestant.h"

#include <stdlib.h>
#include <string.h>

#include "bench_selector.h"
#include "serve.h"

enum { MAX_ARGUMENTS = 24, MIN_START_SECONDS = 60 };

// --- processes --------------------------------------------------------------------------

// The rest of an option of two words; without a value none of it.
static const char **set_option(const char **to, const char *name, const char *value)
{
    if (value) {
        *to++ = name;
        *to++ = value;
    }
    return to;
}

// Common options first, as kallima-measure wants them.
static void set_arguments(const struct contest *contest, const char *selector,
                          const char *role, const char **to)
{
    const struct cli *cli = contest->cli;
    const struct peer_options *options = &contest->peer_options;
    static char threads[16], limit[32];
    snprintf(threads, sizeof threads, "%d", (int)cli->threads);
    snprintf(limit, sizeof limit, "%g", contest->limit_s);
    *to++ = contest->program;
    to = set_option(to, "--device", selector);
    to = set_option(to, "--threads", cli->threads > 0 ? threads : NULL);
    to = set_option(to, "--simd", cli->simd);
    *to++ = cli->command;
    to = set_option(to, "--worker", role);
    to = set_option(to, "--time-limit", limit);
    to = set_option(to, "--fftw-dir", options->fftw_directory);
    to = set_option(to, "--mkl-dir", options->mkl_directory);
    to = set_option(to, "--baseline-dir", options->baseline_directory);
    to = set_option(to, "--fftw-effort", options->effort);
    *to = NULL;
}

static bool start(const struct contest *contest, const char *selector, const char *role,
                  struct child *child, char *why, size_t capacity)
{
    const char *arguments[MAX_ARGUMENTS];
    const bool is_host = selector && bench_is_host(selector);
    set_arguments(contest, selector, role, arguments);
    return child_start(child, (char *const *)arguments, is_host, contest->log, why,
                       capacity);
}

static bool read_answer(struct child *child, char *answer, struct json *json, char *why,
                        size_t capacity)
{
    char fault[128];
    if (!json_parse(json, answer, fault, sizeof fault)) {
        child_end(child);
        snprintf(why, capacity, "an answer that cannot be read: %s", fault);
        return false;
    }
    if (!json_find(json, "failed"))
        return true;
    snprintf(why, capacity, "%s", json_text(json, "failed"));
    if (json_find(json, "lost"))
        child_end(child);
    return false;
}

bool contestant_ask(const struct contest *contest, struct contestant *one,
                    const char *question, struct json *json, char *why, size_t capacity)
{
    char *answer;
    json->count = 0;
    if (!one->child.pid) {
        snprintf(why, capacity, "its process has ended");
        return false;
    }
    return child_ask(&one->child, question, contest->limit_s, &answer, why, capacity) &&
           read_answer(&one->child, answer, json, why, capacity);
}

static void set_about(struct contestant *one, const struct json *json)
{
    struct technology *about = &one->about;
    snprintf(about->device, sizeof about->device, "%s", json_text(json, "device"));
    snprintf(about->driver, sizeof about->driver, "%s", json_text(json, "driver"));
    snprintf(about->version, sizeof about->version, "%s", json_text(json, "version"));
    snprintf(about->flags, sizeof about->flags, "%s", json_text(json, "flags"));
    about->threads = json_number(json, "threads");
    const struct json_member *software = json_find(json, "is_software");
    about->is_software = software ? software->number : 0;
    one->has_answered = true;
}

bool contestant_start(struct contest *contest, struct contestant *one, char *why,
                      size_t capacity)
{
    const struct technology *about = &one->about;
    const double usual_s = contest->limit_s;
    struct json json;
    if (one->child.pid)
        return true;
    if (!start(contest, about->selector, about->library, &one->child, why, capacity))
        return false;
    if (contest->limit_s < MIN_START_SECONDS) // drivers take their time
        contest->limit_s = MIN_START_SECONDS;
    const bool ok = contestant_ask(contest, one, NULL, &json, why, capacity);
    contest->limit_s = usual_s;
    if (ok) {
        set_about(one, &json);
        return true;
    }
    child_end(&one->child);
    one->is_out = !one->has_answered && !child_is_end_asked();
    return false;
}

void contest_end(struct contest *contest)
{
    for (int i = 0; i < contest->count; i++)
        child_end(&contest->one[i].child);
}

// --- who takes part ---------------------------------------------------------------------

bool contestant_is_kallima(const struct contestant *one)
{
    return technology_is_kallima(&one->about);
}

static bool add(struct contest *contest, const char *library, const char *selector)
{
    struct contestant one = { .is_out = false };
    struct technology *about = &one.about;
    record_clear(RECORD_TECHNOLOGY, about);
    snprintf(about->library, sizeof about->library, "%s", library);
    snprintf(about->selector, sizeof about->selector, "%s", selector);
    snprintf(about->id, sizeof about->id, "%.20s %.24s", library, selector);
    for (int i = 0; i < contest->count; i++) {
        if (strcmp(contest->one[i].about.id, about->id) == 0)
            return true;
    }
    if (contest->count == MAX_CONTESTANTS)
        return false;
    contest->one[contest->count++] = one;
    return true;
}

// Every peer that there is for the device, or those of the list.
static bool add_peers(struct contest *contest, const char *selector, const char *peers)
{
    char api[32], names[256];
    const char *name;
    bool ok = true;
    bench_get_api(selector, api, sizeof api);
    if (strcmp(peers, "none") == 0)
        return true;
    if (strcmp(peers, "all") == 0) {
        for (int i = 0; ok && (name = peer_list(api, i)); i++)
            ok = add(contest, name, selector);
        return ok;
    }
    snprintf(names, sizeof names, "%s", peers);
    for (char *rest = names, *next; ok && (next = strtok_r(rest, ",", &rest));) {
        if (peer_is_known(next, api))
            ok = add(contest, next, selector);
    }
    return ok;
}

static int refuse_many(const struct contest *contest)
{
    return cli_usage(contest->cli, "no more than %d devices and peers at once",
                     MAX_CONTESTANTS);
}

static int add_named(struct contest *contest, const char *devices, const char *peers)
{
    char names[512];
    if (strlen(devices) >= sizeof names)
        return cli_usage(contest->cli, "--devices: the list is too long");
    snprintf(names, sizeof names, "%s", devices);
    for (char *rest = names, *next; (next = strtok_r(rest, ",", &rest));) {
        if (strlen(next) >= sizeof contest->one->about.selector ||
            next[strspn(next, "abcdefghijklmnopqrstuvwxyz0123456789:")])
            return cli_usage(contest->cli, "--devices %s: must be such as cpu or cuda:0",
                             next);
        if (!add(contest, SERVE_KALLIMA, next) || !add_peers(contest, next, peers))
            return refuse_many(contest);
    }
    return CLI_OK;
}

// Add what a process lists: the devices of one interface, or of all (NULL). Returns false if the
// process fails.
static bool add_listed(struct contest *contest, const char *api, const char *peers,
                       int *status, char *why, size_t capacity)
{
    struct child child;
    struct json json;
    char *answer;
    bool ok = start(contest, api, SERVE_LIST, &child, why, capacity);
    while (ok && *status == CLI_OK) {
        ok = child_ask(&child, NULL, MIN_START_SECONDS, &answer, why, capacity) &&
             read_answer(&child, answer, &json, why, capacity);
        const char *selector = ok ? json_text(&json, "selector") : "";
        if (!*selector)
            break;
        const struct json_member *software = json_find(&json, "is_software");
        if (software && software->number > 0)
            continue;
        if (!add(contest, SERVE_KALLIMA, selector) ||
            !add_peers(contest, selector, peers))
            *status = refuse_many(contest);
    }
    child_end(&child);
    return ok;
}

// Drivers are looked for by another process, too. Where one of them is its end, each interface
// has a process of its own; what ends that, too, takes part by its name, and fails.
static int add_present(struct contest *contest, const char *peers)
{
    static const char *const apis[] = { "cpu",    "cuda",   "opencl",
                                        "vulkan", "opengl", "d3d11" };
    char why[512];
    int status = CLI_OK;
    if (add_listed(contest, NULL, peers, &status, why, sizeof why))
        return status;
    for (size_t i = 0; status == CLI_OK && i < CLI_COUNT(apis); i++) {
        if (!add_listed(contest, apis[i], peers, &status, why, sizeof why) &&
            !add(contest, SERVE_KALLIMA, apis[i]))
            status = refuse_many(contest);
    }
    return status;
}

// A peer that is named must be one of some device.
static int check_peers(const struct contest *contest, const char *peers)
{
    char names[256];
    if (strcmp(peers, "all") == 0 || strcmp(peers, "none") == 0)
        return CLI_OK;
    if (strlen(peers) >= sizeof names)
        return cli_usage(contest->cli, "--peers: the list is too long");
    if (!peers[strspn(peers, ",")])
        return cli_usage(contest->cli, "--peers: none is named; \"none\" means none");
    snprintf(names, sizeof names, "%s", peers);
    for (char *rest = names, *next; (next = strtok_r(rest, ",", &rest));) {
        bool is_there = false;
        for (int i = 0; i < contest->count; i++) {
            const struct technology *about = &contest->one[i].about;
            is_there = is_there || strcmp(about->library, next) == 0;
        }
        if (!is_there)
            return cli_usage(contest->cli, "--peers %s: no such peer of these devices",
                             next);
    }
    return CLI_OK;
}

int contest_fill(struct contest *contest, const char *devices, const char *peers)
{
    const int status = strcmp(devices, "all") == 0 ? add_present(contest, peers)
                                                   : add_named(contest, devices, peers);
    if (status != CLI_OK)
        return status;
    return contest->count > 0 ? check_peers(contest, peers)
                              : cli_usage(contest->cli, "--devices: none is named");
}
