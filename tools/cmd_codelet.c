// SPDX-License-Identifier: MIT
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "commands.h"

static const char help[] =
    "usage: kallima codelet N [--ops] [--source c]\n"
    "\n"
    "The complex transform of length N, 2 to 64, as straight-line code.\n"
    "\n"
    "  --ops              count its real operations (the default)\n"
    "  --source c         print its source in this language\n";

static int print_ops(int32_t n)
{
    kallima_codelet_ops ops;
    if (kallima_codelet_count(n, &ops) != KALLIMA_OK)
        return cli_fail("%s", kallima_last_error());
    printf("%-8s %10s %10s %16s %10s %10s\n", "form", "total", "additions",
           "multiplications", "fused", "most live");
    printf("%-8s %10" PRId32 " %10" PRId32 " %16" PRId32 " %10d %10" PRId32 "\n", "plain",
           ops.additions + ops.multiplications, ops.additions, ops.multiplications, 0,
           ops.live);
    printf("%-8s %10" PRId32 " %10" PRId32 " %16" PRId32 " %10" PRId32 " %10" PRId32 "\n",
           "fma", ops.fma_additions + ops.fma_multiplications + ops.fma_fused,
           ops.fma_additions, ops.fma_multiplications, ops.fma_fused, ops.fma_live);
    return CLI_OK;
}

static int print_source(int32_t n, const char *dialect)
{
    size_t length = 0;
    if (kallima_codelet_source(n, dialect, NULL, 0, &length) != KALLIMA_OK)
        return cli_fail("%s", kallima_last_error());
    char *text = malloc(length + 1);
    if (!text)
        return cli_fail("no memory for the source of codelet %" PRId32, n);
    const kallima_status status =
        kallima_codelet_source(n, dialect, text, length + 1, NULL);
    if (status == KALLIMA_OK)
        fputs(text, stdout);
    free(text);
    return status == KALLIMA_OK ? CLI_OK : cli_fail("%s", kallima_last_error());
}

int cmd_codelet(const struct cli *cli, int argc, char **argv)
{
    static const struct option options[] = {
        { "help", no_argument, NULL, 'h' },
        { "ops", no_argument, NULL, 'o' },
        { "source", required_argument, NULL, 's' },
        { 0 },
    };
    bool ops = false;
    const char *dialect = NULL;
    int64_t n;
    for (int code; (code = cli_getopt(cli, argc, argv, options)) != -1;) {
        if (code == 'h')
            return cli_print_help(help);
        if (code == '?')
            return CLI_USAGE;
        if (code == 's')
            dialect = optarg;
        else
            ops = true;
    }
    if (argc - optind != 1)
        return cli_usage(cli, "one length is needed, %d are given", argc - optind);
    if (!cli_parse_int64(argv[optind], 2, KALLIMA_MAX_CODELET, &n))
        return cli_usage(cli, "%s: the length must be an integer from 2 to %d",
                         argv[optind], KALLIMA_MAX_CODELET);

    const int status = ops || !dialect ? print_ops((int32_t)n) : CLI_OK;
    return status == CLI_OK && dialect ? print_source((int32_t)n, dialect) : status;
}
