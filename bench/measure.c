// SPDX-License-Identifier: MIT
// kallima-measure: the measuring commands without the rest of the program kallima.
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "commands.h"

static const char help[] =
    "usage: kallima-measure [--device SELECTOR] [--threads N] [--simd LEVEL] "
    "verify|bench|compare|tune\n"
    "                       [OPTION]...\n"
    "As kallima verify, bench, compare and tune; the common options come first.\n";

static const struct {
    const char *name;
    command *run;
} commands[] = {
    { "verify", cmd_verify },
    { "bench", cmd_bench },
    { "compare", cmd_compare },
    { "tune", cmd_tune },
};

// Take the common options off the front. Returns how many arguments that is, or -1.
static int take_common(struct cli *cli, int argc, char **argv)
{
    int i = 1;
    for (; i + 1 < argc && strncmp(argv[i], "--", 2) == 0; i += 2) {
        int64_t threads;
        if (strcmp(argv[i], "--device") == 0)
            cli->device = argv[i + 1];
        else if (strcmp(argv[i], "--simd") == 0)
            cli->simd = argv[i + 1];
        else if (strcmp(argv[i], "--threads") == 0 &&
                 cli_parse_int64(argv[i + 1], 1, 4096, &threads))
            cli->threads = (int32_t)threads;
        else
            return -1;
    }
    return i;
}

int main(int argc, char **argv)
{
    struct cli cli = { .command = "" };
    const int taken = take_common(&cli, argc, argv);
    for (size_t i = 0; taken > 0 && taken < argc && i < CLI_COUNT(commands); i++) {
        if (strcmp(argv[taken], commands[i].name) == 0) {
            cli.command = commands[i].name;
            return commands[i].run(&cli, argc - taken, argv + taken);
        }
    }
    fputs(help, stderr);
    return CLI_USAGE;
}
