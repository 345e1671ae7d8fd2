// SPDX-License-Identifier: MIT
// kallima good-size: the next length that is transformed in the least time.
#include <inttypes.h>
#include <stdio.h>

#include "commands.h"
#include "problem_request.h"

static const char help[] =
    "usage: kallima good-size [OPTION]... LENGTHS...\n"
    "       kallima good-size [OPTION]... --cases FILE\n"
    "\n"
    "Print, for each of LENGTHS (1024 or 256x256, the slowest axis first), lengths from "
    "these\n"
    "to a quarter more that are transformed in the least time on the device: as tuning "
    "has\n"
    "measured it, else as the cost model predicts. Axis after axis is chosen, the last "
    "one\n"
    "first.\n"
    "\n" PROBLEM_OPTION_HELP;

enum { OPT_HELP = PROBLEM_OPTION_END };

static const struct option options[] = {
    { "help", no_argument, NULL, OPT_HELP },
    PROBLEM_OPTION_ROWS,
    { NULL, 0, NULL, 0 },
};

static int print_good(kallima_device *device, kallima_desc *desc)
{
    char text[PROBLEM_TEXT];

    for (int32_t axis = desc->rank - 1; axis >= 0; axis--) {
        if (kallima_good_length(device, desc, axis, &desc->n[axis]) != KALLIMA_OK)
            return cli_fail("%s", kallima_last_error());
    }
    problem_print_lengths(desc, text);
    puts(text);
    return CLI_OK;
}

static int run(const struct cli *cli, const struct problems *problems)
{
    kallima_device *device = NULL;
    int status = CLI_OK;

    if (!cli_open_device(cli, &device))
        return CLI_FAILED;
    for (int i = 0; i < problems->count && status == CLI_OK; i++)
        status = print_good(device, &problems->desc[i]);
    kallima_device_close(&device);
    return status;
}

int cmd_good_size(const struct cli *cli, int argc, char **argv)
{
    struct problem_request request = { 0 };
    struct problems problems = { 0 };

    for (int id; (id = cli_getopt(cli, argc, argv, options)) != -1;) {
        if (id == OPT_HELP)
            return cli_print_help(help);
        if (id == '?' || !problem_request_take(cli, id, &request))
            return CLI_USAGE;
    }
    if (optind == argc && !request.cases)
        return cli_usage(cli, "give lengths such as 1000 or 250x250, or --cases FILE");
    int status = problem_request_collect(cli, &request,
                                         (const char *const *)argv + optind, &problems);
    if (status == CLI_OK)
        status = run(cli, &problems);
    problems_clear(&problems);
    return status;
}
