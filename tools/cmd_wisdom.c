// SPDX-License-Identifier: MIT
// The commands for wisdom: each loads files, and some save one.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"

#define FILTER_HELP                                                                \
    "  --kind KIND        plan, pass, bad, fact or trial\n"                        \
    "  --problem PATTERN  entries whose problem, word or name matches; * stands\n" \
    "                     for any characters: '* n=1024 *'\n"                      \
    "  --owner PATTERN    entries of devices whose name matches: 'cuda *'\n"       \
    "  --device SELECTOR  entries of this device\n"
#define FILE_HELP                                                            \
    "  --file FILE        this file instead of those that a device reads:\n" \
    "                     $KALLIMA_WISDOM, else the system's and the user's\n"

static const char list_help[] =
    "usage: kallima wisdom list [OPTION]...\n"
    "\n"
    "List what tuning learnt: a line for each entry.\n"
    "\n" FILE_HELP FILTER_HELP "  --json             one JSON array\n";

static const char show_help[] =
    "usage: kallima wisdom show [LENGTHS] [OPTION]...\n"
    "\n"
    "Show entries whole, and why the device that is chosen does not use them, if it\n"
    "does not. LENGTHS, such as 1024x1024, selects problems by their lengths.\n"
    "\n" FILE_HELP "  --kind KIND        plan, pass, bad, fact or trial\n"
    "  --problem PATTERN  entries whose problem, word or name matches; * stands\n"
    "                     for any characters\n"
    "  --owner PATTERN    entries of devices whose name matches: 'cuda *'\n"
    "  --json             one JSON array\n";

static const char merge_help[] =
    "usage: kallima wisdom merge INTO FILE...\n"
    "\n"
    "Merge files of wisdom into one, which need not be there. Of two entries about the\n"
    "same thing the better one stays. Lines that are refused are said; the others are\n"
    "merged.\n";

static const char forget_help[] =
    "usage: kallima wisdom forget (--all | FILTER...) [--file FILE]\n"
    "\n"
    "Take the entries that match all filters out of a file of wisdom.\n"
    "\n"
    "  --file FILE        this file instead of $KALLIMA_WISDOM or the user's\n"
    "  --all              all entries\n" FILTER_HELP;

static const char check_help[] = "usage: kallima wisdom check [FILE]... [OPTION]...\n"
                                 "\n"
                                 "Say which lines of the files are refused, and whose "
                                 "entries are not used by this\n"
                                 "version of the library or, with --device, on this "
                                 "device. Without a FILE: those that\n"
                                 "a device reads.\n";

static const char *const kinds[] = { "any", "plan", "pass", "bad", "fact", "trial" };
static const char *const efforts[] = { "", "measure", "patient", "exhaustive" };

/** What the command line asks for. */
struct request {
    const char *file; // NULL: what a device reads
    kallima_wisdom_filter filter;
    kallima_wisdom_owner owner; // of the device that was opened
    bool all, json, has_filter;
};

/** What was said about lines that are refused. */
struct refusals {
    FILE *stream;
    const char *prefix;
    int64_t count;
};

static void say_refusal(void *user, const char *place, int64_t line, const char *reason)
{
    struct refusals *refusals = user;
    refusals->count++;
    fprintf(refusals->stream, "%s%s: ", refusals->prefix, place);
    if (line)
        fprintf(refusals->stream, "line %" PRId64 ": ", line);
    fprintf(refusals->stream, "%s\n", reason);
}

static int fail_last(void)
{
    return cli_fail("%s", kallima_last_error());
}

static bool read_owner(const struct cli *cli, kallima_wisdom_owner *owner)
{
    kallima_device *device = NULL;
    if (!cli_open_device(cli, &device))
        return false;
    const kallima_status status = kallima_device_get_owner(device, owner);
    kallima_device_close(&device);
    return status == KALLIMA_OK || (fail_last(), false);
}

// Create a wisdom and load `file` (NULL: what a device reads). A line that is refused is
// said, and is no reason not to show the others. NULL: the error is said.
static kallima_wisdom *load(const char *file, struct refusals *refusals)
{
    kallima_wisdom *wisdom = NULL;
    const kallima_status status =
        kallima_wisdom_create(&wisdom, NULL) == KALLIMA_OK
            ? kallima_wisdom_load(wisdom, file, say_refusal, refusals)
            : KALLIMA_E_MEMORY;
    if (status == KALLIMA_OK || (status == KALLIMA_E_WISDOM && refusals->count > 0))
        return wisdom;
    fail_last();
    kallima_wisdom_destroy(&wisdom);
    return NULL;
}

// --- options -----------------------------------------------------------------------------

static int take_option(const struct cli *cli, int code, struct request *request)
{
    int kind = 0;
    switch (code) {
    case 'f': request->file = optarg; return CLI_OK;
    case 'a': request->all = true; return CLI_OK;
    case 'j': request->json = true; return CLI_OK;
    case 'p': request->filter.key = optarg; break;
    case 'o': request->filter.device = optarg; break;
    case 'k':
        if (!cli_choose(cli, "--kind", optarg, kinds + 1, CLI_COUNT(kinds) - 1, &kind))
            return CLI_USAGE;
        request->filter.kind = kind + 1;
        break;
    default: return CLI_USAGE;
    }
    request->has_filter = true;
    return CLI_OK;
}

static const struct option filter_options[] = {
    { "help", no_argument, NULL, 'h' },
    { "file", required_argument, NULL, 'f' },
    { "kind", required_argument, NULL, 'k' },
    { "problem", required_argument, NULL, 'p' },
    { "owner", required_argument, NULL, 'o' },
    { "json", no_argument, NULL, 'j' },
    { 0 },
};

// Read the options of a command. Returns CLI_OK, CLI_USAGE, or -1 if the help was printed.
static int read_options(const struct cli *cli, int argc, char **argv,
                        const struct option *options, const char *help,
                        struct request *request)
{
    *request = (struct request){ 0 };
    for (int code; (code = cli_getopt(cli, argc, argv, options)) != -1;) {
        if (code == 'h') {
            cli_print_help(help);
            return -1;
        }
        if (take_option(cli, code, request) != CLI_OK)
            return CLI_USAGE;
    }
    return CLI_OK;
}

// Where --device is given, entries of that device are meant. Returns CLI_OK or another status.
static int select_device(const struct cli *cli, struct request *request)
{
    if (!cli->device)
        return CLI_OK;
    if (request->filter.device)
        return cli_usage(cli, "--owner and --device exclude each other");
    if (!read_owner(cli, &request->owner))
        return CLI_FAILED;
    request->filter.device = request->owner.device;
    request->has_filter = true;
    return CLI_OK;
}

// --- printing ----------------------------------------------------------------------------

static void print_ns(double time, char *text, size_t capacity)
{
    static const char *const units[] = { "ns", "us", "ms", "s" };
    size_t unit = 0;

    for (; time >= 1000.0 && unit + 1 < CLI_COUNT(units); unit++)
        time /= 1000.0;
    snprintf(text, capacity, "%.4g %s", time, units[unit]);
}

static void print_time(const kallima_wisdom_entry *entry, char *text, size_t capacity)
{
    static const bool has_time[KALLIMA_WISDOM_KIND_COUNT] = {
        [KALLIMA_WISDOM_PLAN] = true,
        [KALLIMA_WISDOM_PASS] = true,
        [KALLIMA_WISDOM_TRIAL] = true,
    };
    text[0] = '\0';
    if (has_time[entry->kind])
        print_ns(entry->time_ns, text, capacity);
}

// The time, or what a fact of one number is; else nothing.
static void print_measured(const kallima_wisdom_entry *entry, char *text, size_t capacity)
{
    const char *end;
    double number;

    print_time(entry, text, capacity);
    if (entry->kind == KALLIMA_WISDOM_FACT &&
        cli_parse_number(entry->value, &number, &end) && *end == '\0')
        snprintf(text, capacity, "%.4g", number);
}

static bool has_same_owner(const kallima_wisdom_entry *a, const kallima_wisdom_entry *b)
{
    return a->device && b->device && strcmp(a->device, b->device) == 0 &&
           strcmp(a->driver, b->driver) == 0 && strcmp(a->version, b->version) == 0;
}

/** One entry to print. */
struct row {
    kallima_wisdom_entry entry, before; // `before` of the first has no device
    const kallima_wisdom_owner *owner;  // NULL: it is not asked what is used
    char why[700];                      // it is not used; "": it is
};

static void print_line(const struct row *row)
{
    const kallima_wisdom_entry *e = &row->entry;
    char measured[32];

    if (!has_same_owner(e, &row->before))
        printf("%s, %s, library %s\n", e->device, e->driver, e->version);
    print_measured(e, measured, sizeof measured);
    printf("  %-5s %-10s %10s  %s\n", kinds[e->kind], efforts[e->effort], measured,
           e->key);
}

static void print_paragraph(const struct row *row)
{
    const kallima_wisdom_entry *e = &row->entry;
    char time[32];

    if (row->before.device)
        puts("");
    printf("%-8s %s\n", kinds[e->kind], e->key);
    printf("owner    %s, %s, library %s\n", e->device, e->driver, e->version);
    if (e->value[0])
        printf("%-8s %s\n", e->kind == KALLIMA_WISDOM_FACT ? "value" : "recipe",
               e->value);
    if (e->reason[0])
        printf("reason   %s\n", e->reason);
    print_time(e, time, sizeof time);
    if (time[0])
        printf("time     %s, spread %.2f%%\n", time, 100.0 * e->spread);
    if (e->predicted_ns > 0.0) {
        print_ns(e->predicted_ns, time, sizeof time);
        printf("foreseen %s\n", time);
    }
    if (e->effort)
        printf("effort   %s\n", efforts[e->effort]);
    printf("used     %s%s\n", row->why[0] ? "no: " : "yes", row->why);
}

static void print_string(const char *name, const char *text)
{
    printf("\"%s\": ", name);
    cli_print_json(text);
    fputs(", ", stdout);
}

static void print_json(const struct row *row)
{
    const kallima_wisdom_entry *e = &row->entry;

    fputs(row->before.device ? ",\n  {" : "\n  {", stdout);
    print_string("kind", kinds[e->kind]);
    print_string("device", e->device);
    print_string("driver", e->driver);
    print_string("version", e->version);
    print_string("key", e->key);
    print_string("value", e->value);
    print_string("reason", e->reason);
    print_string("effort", efforts[e->effort]);
    if (row->owner)
        print_string("not_used", row->why);
    printf("\"time_ns\": %.17g, \"spread\": %.17g, \"predicted_ns\": %.17g}", e->time_ns,
           e->spread, e->predicted_ns);
}

// Print the entries that are asked for. Returns CLI_OK or CLI_FAILED.
static int print_entries(const kallima_wisdom *wisdom, const struct request *request,
                         const kallima_wisdom_owner *owner,
                         void (*print)(const struct row *))
{
    struct row row = { .owner = owner };

    if (request->json)
        fputs("[", stdout);
    for (int64_t i = 0; (i = kallima_wisdom_find(wisdom, &request->filter, i)) >= 0;
         i++) {
        if (kallima_wisdom_get_entry(wisdom, i, &row.entry) != KALLIMA_OK ||
            (owner && kallima_wisdom_explain(wisdom, i, owner, row.why, sizeof row.why,
                                             NULL) != KALLIMA_OK))
            return fail_last();
        (request->json ? print_json : print)(&row);
        row.before = row.entry;
    }
    if (request->json)
        puts(row.before.device ? "\n]" : "]");
    return CLI_OK;
}

// Load what the request names, print it, and fail if lines were refused.
static int print_file(const struct request *request, const kallima_wisdom_owner *owner,
                      void (*print)(const struct row *))
{
    struct refusals refusals = { stderr, "kallima: wisdom: ", 0 };
    kallima_wisdom *wisdom = load(request->file, &refusals);
    if (!wisdom)
        return CLI_FAILED;
    const int status = print_entries(wisdom, request, owner, print);
    kallima_wisdom_destroy(&wisdom);
    return refusals.count ? CLI_FAILED : status;
}

int cmd_wisdom_list(const struct cli *cli, int argc, char **argv)
{
    struct request request;
    int status = read_options(cli, argc, argv, filter_options, list_help, &request);
    if (status != CLI_OK)
        return status < 0 ? CLI_OK : status;
    if (optind < argc)
        return cli_usage(cli, "%s is one argument too many", argv[optind]);
    status = select_device(cli, &request);
    return status != CLI_OK ? status : print_file(&request, NULL, print_line);
}

// "1024x1024" -> "* n=1024x1024 *"
static bool take_lengths(const char *text, char *pattern, size_t capacity)
{
    return text[strspn(text, "0123456789x")] == '\0' && text[0] != '\0' &&
           (size_t)snprintf(pattern, capacity, "* n=%s *", text) < capacity;
}

int cmd_wisdom_show(const struct cli *cli, int argc, char **argv)
{
    struct request request;
    char pattern[256];
    const int status = read_options(cli, argc, argv, filter_options, show_help, &request);
    if (status != CLI_OK)
        return status < 0 ? CLI_OK : status;
    if (argc - optind > 1)
        return cli_usage(cli, "%s is one argument too many", argv[optind + 1]);
    if (optind < argc && request.filter.key)
        return cli_usage(cli, "lengths and --problem exclude each other");
    if (optind < argc && !take_lengths(argv[optind], pattern, sizeof pattern))
        return cli_usage(cli, "%s: must be lengths with x between them", argv[optind]);
    if (optind < argc)
        request.filter.key = pattern;
    if (!read_owner(cli, &request.owner))
        return CLI_FAILED;
    return print_file(&request, &request.owner, print_paragraph);
}

// --- changing ----------------------------------------------------------------------------

static int merge(const char *into, char **files)
{
    struct refusals refusals = { stderr, "kallima: wisdom: ", 0 };
    kallima_wisdom *wisdom = NULL;
    int status = CLI_OK;

    if (kallima_wisdom_create(&wisdom, NULL) != KALLIMA_OK)
        return fail_last();
    for (; *files && status == CLI_OK; files++) {
        const int64_t before = refusals.count;
        if (kallima_wisdom_load(wisdom, *files, say_refusal, &refusals) != KALLIMA_OK &&
            refusals.count == before)
            status = fail_last();
    }
    if (status == CLI_OK && kallima_wisdom_save(wisdom, into) != KALLIMA_OK)
        status = fail_last();
    kallima_wisdom_destroy(&wisdom);
    return refusals.count ? CLI_FAILED : status;
}

int cmd_wisdom_merge(const struct cli *cli, int argc, char **argv)
{
    static const struct option options[] = {
        { "help", no_argument, NULL, 'h' },
        { 0 },
    };
    struct request request;
    const int status = read_options(cli, argc, argv, options, merge_help, &request);
    if (status != CLI_OK)
        return status < 0 ? CLI_OK : status;
    if (argc - optind < 2)
        return cli_usage(cli, "a file to merge into and files to merge are needed");
    return merge(argv[optind], argv + optind + 1);
}

static int forget(const struct request *request)
{
    struct refusals refusals = { stderr, "kallima: wisdom: ", 0 };
    kallima_wisdom *wisdom = load(request->file, &refusals);
    int64_t count = 0;

    if (!wisdom)
        return CLI_FAILED;
    int status = CLI_OK;
    if (kallima_wisdom_forget(wisdom, &request->filter, &count) != KALLIMA_OK ||
        kallima_wisdom_save(wisdom, request->file) != KALLIMA_OK)
        status = fail_last();
    else
        printf("%" PRId64 " entr%s forgotten\n", count, count == 1 ? "y" : "ies");
    kallima_wisdom_destroy(&wisdom);
    return refusals.count ? CLI_FAILED : status;
}

int cmd_wisdom_forget(const struct cli *cli, int argc, char **argv)
{
    static const struct option options[] = {
        { "help", no_argument, NULL, 'h' },
        { "file", required_argument, NULL, 'f' },
        { "all", no_argument, NULL, 'a' },
        { "kind", required_argument, NULL, 'k' },
        { "problem", required_argument, NULL, 'p' },
        { "owner", required_argument, NULL, 'o' },
        { 0 },
    };
    struct request request;
    int status = read_options(cli, argc, argv, options, forget_help, &request);
    if (status != CLI_OK)
        return status < 0 ? CLI_OK : status;
    if (optind < argc)
        return cli_usage(cli, "%s is one argument too many", argv[optind]);
    status = select_device(cli, &request);
    if (status != CLI_OK)
        return status;
    if (request.all == request.has_filter)
        return cli_usage(cli, "either --all or filters are needed");
    return forget(&request);
}

// --- checking ----------------------------------------------------------------------------

// The owner that decides whether entries like this one are used: the device's, else
// whoever's it is, with this version of the library.
static kallima_wisdom_owner judge(const kallima_wisdom_entry *entry,
                                  const kallima_wisdom_owner *device)
{
    kallima_wisdom_owner owner;
    if (device)
        return *device;
    snprintf(owner.device, sizeof owner.device, "%s", entry->device);
    snprintf(owner.driver, sizeof owner.driver, "%s", entry->driver);
    snprintf(owner.version, sizeof owner.version, "%s", kallima_version());
    return owner;
}

// Say of how many entries in a row kind and owner agree, and whether they are used.
static int print_owners(const kallima_wisdom *wisdom, const kallima_wisdom_owner *device)
{
    const int64_t count = kallima_wisdom_get_count(wisdom);
    kallima_wisdom_entry entry, next;
    char why[700];

    for (int64_t i = 0, end; i < count; i = end) {
        if (kallima_wisdom_get_entry(wisdom, i, &entry) != KALLIMA_OK)
            return fail_last();
        const kallima_wisdom_owner owner = judge(&entry, device);
        for (end = i + 1; end < count; end++) {
            if (kallima_wisdom_get_entry(wisdom, end, &next) != KALLIMA_OK ||
                next.kind != entry.kind || !has_same_owner(&entry, &next))
                break;
        }
        if (kallima_wisdom_explain(wisdom, i, &owner, why, sizeof why, NULL) !=
            KALLIMA_OK)
            return fail_last();
        const bool is_of_owner = strncmp(why, "it is of ", 9) == 0;
        printf("%" PRId64 " %s %s of %s, %s, library %s%s%s\n", end - i,
               kinds[entry.kind], end - i == 1 ? "entry" : "entries", entry.device,
               entry.driver, entry.version, is_of_owner ? "; not used: " : "",
               is_of_owner ? why : "");
    }
    return CLI_OK;
}

static int check(char **files, const kallima_wisdom_owner *device)
{
    struct refusals refusals = { stdout, "", 0 };
    kallima_wisdom *wisdom = NULL;
    int status = CLI_OK;
    int loads = 0;

    if (kallima_wisdom_create(&wisdom, NULL) != KALLIMA_OK)
        return fail_last();
    do {
        const int64_t before = refusals.count;
        if (kallima_wisdom_load(wisdom, files[loads], say_refusal, &refusals) !=
                KALLIMA_OK &&
            refusals.count == before)
            status = fail_last();
    } while (files[loads] && files[++loads]);
    const int printed = print_owners(wisdom, device);
    kallima_wisdom_destroy(&wisdom);
    if (refusals.count)
        cli_fail("wisdom: %" PRId64 " line%s refused", refusals.count,
                 refusals.count == 1 ? " is" : "s are");
    return refusals.count || status ? CLI_FAILED : printed;
}

int cmd_wisdom_check(const struct cli *cli, int argc, char **argv)
{
    static const struct option options[] = {
        { "help", no_argument, NULL, 'h' },
        { 0 },
    };
    struct request request;
    const int status = read_options(cli, argc, argv, options, check_help, &request);
    if (status != CLI_OK)
        return status < 0 ? CLI_OK : status;
    if (cli->device && !read_owner(cli, &request.owner))
        return CLI_FAILED;
    return check(argv + optind, cli->device ? &request.owner : NULL);
}
